//! Where the agents keep their logs, and what lies there. Only names, sizes and times are looked at, no file is opened. Links are
//! followed, and what cannot be looked at is named, as where the directory itself is an input.
//!
//! A variable that an agent reads for its directory goes before the usual places. Agents that keep their log in the directory
//! they work in are looked for in the one given.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rustc_hash::FxHashSet;
use walkdir::WalkDir;

use super::names::PACKED;
use super::{identity, missing, walk_cause};

/// A place in which logs of an agent lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// Name of the format, or of the agent where it has none of its own.
    pub agent: &'static str,
    /// The directory, or the one file.
    pub path: PathBuf,
    /// Files that look like logs by their names.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When the newest was written, in milliseconds since 1970-01-01 UTC.
    pub newest: Option<i64>,
}

/// What was found in all places.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Homes {
    /// Those that hold files.
    pub places: Vec<Home>,
    /// What could not be looked at: path, and cause with what to do; each path once.
    pub problems: Vec<(String, String)>,
}

/// What the paths of a place go from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    /// The home directory.
    Home,
    /// `$XDG_DATA_HOME`, else `~/.local/share`, on every system.
    Share,
    /// Where the system keeps the data of programs: the same on Linux, `~/Library/Application Support`, `%LOCALAPPDATA%`.
    Data,
    /// Where it keeps their settings: `$XDG_CONFIG_HOME` or `~/.config`, `~/Library/Application Support`, `%APPDATA%`.
    Config,
    /// Settings of each editor that is made of VS Code.
    Editors,
    /// The directory of a variable.
    Variable(&'static str),
    /// The directory that the user works in.
    Here,
}

/// A row: the agent, where to look, and the ends of the names of its logs.
struct Place(&'static str, &'static [(Base, &'static str)], &'static [&'static str]);

/// Editors that keep the storage of extensions: directories of settings, and whole ones of servers in the home.
const EDITORS: [&str; 7] =
    ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf", "Kiro", "Antigravity"];
const SERVERS: [&str; 4] =
    [".vscode-server/data", ".vscode-server-insiders/data", ".cursor-server/data", ".windsurf-server/data"];

use Base::{Config, Data, Editors, Here, Home as InHome, Share, Variable};

#[rustfmt::skip]
const PLACES: &[Place] = &[
    Place("claude-code", &[(Variable("CLAUDE_CONFIG_DIR"), "projects"), (InHome, ".claude/projects"), (InHome, ".config/claude/projects")], &[".jsonl"]),
    Place("codex", &[(Variable("CODEX_HOME"), "sessions"), (Variable("CODEX_HOME"), "archived_sessions"),
        (InHome, ".codex/sessions"), (InHome, ".codex/archived_sessions")], &[".jsonl"]),
    Place("pi", &[(Variable("PI_CODING_AGENT_DIR"), "sessions"), (InHome, ".pi/agent/sessions")], &[".jsonl"]),
    Place("openclaw", &[(Variable("OPENCLAW_STATE_DIR"), "agents"), (InHome, ".openclaw/agents"), (InHome, ".clawdbot/agents")], &[".jsonl"]),
    Place("opencode", &[(Share, "opencode/storage")], &[".json"]),
    Place("opencode", &[(Share, "opencode")], &["opencode.db"]),
    Place("goose", &[(Share, "goose/sessions"), (Config, "Block/goose/data/sessions")], &[".jsonl", "sessions.db"]),
    Place("gemini-cli", &[(Variable("GEMINI_CLI_HOME"), ".gemini/tmp"), (InHome, ".gemini/tmp")], &[".json", ".jsonl"]),
    Place("antigravity", &[(InHome, ".gemini/antigravity"), (InHome, ".gemini/antigravity-cli")], &[".jsonl"]),
    Place("qwen-code", &[(InHome, ".qwen/projects"), (InHome, ".qwen/tmp")], &[".jsonl", ".json"]),
    Place("cline", &[(Editors, "saoudrizwan.claude-dev/tasks"), (Editors, "rooveterinaryinc.roo-cline/tasks"),
        (Editors, "kilocode.kilo-code/tasks"), (Variable("CLINE_DIR"), "data"), (InHome, ".cline/data")],
        &["api_conversation_history.json", "ui_messages.json"]),
    Place("copilot-cli", &[(Variable("COPILOT_HOME"), "session-state"), (InHome, ".copilot/session-state"),
        (InHome, ".copilot/history-session-state")], &[".jsonl", ".json"]),
    Place("cursor", &[(InHome, ".cursor/projects")], &[".jsonl"]),
    Place("cursor", &[(InHome, ".cursor/chats")], &["store.db"]),
    Place("cursor", &[(Config, "Cursor/User/globalStorage"), (Config, "Cursor/User/workspaceStorage")], &["state.vscdb"]),
    Place("amp", &[(Share, "amp/threads")], &[".json"]),
    Place("droid", &[(InHome, ".factory/sessions")], &[".jsonl"]),
    Place("kimi", &[(Variable("KIMI_SHARE_DIR"), "sessions"), (InHome, ".kimi/sessions"), (InHome, ".kimi-code/sessions")], &[".jsonl"]),
    Place("grok", &[(InHome, ".grok/sessions")], &[".jsonl", ".json"]),
    Place("crush", &[(Here, ".crush")], &["crush.db"]),
    Place("continue", &[(Variable("CONTINUE_GLOBAL_DIR"), "sessions"), (InHome, ".continue/sessions")], &[".json"]),
    Place("kiro", &[(Variable("KIRO_HOME"), "sessions"), (InHome, ".kiro/sessions")], &[".jsonl", ".json"]),
    Place("kiro", &[(Data, "kiro-cli"), (Data, "amazon-q")], &["data.sqlite3"]),
    Place("kiro", &[(Config, "Kiro/User/globalStorage/kiro.kiroagent/workspace-sessions")], &[".json"]),
    Place("sven", &[(Data, "sven/chats")], &[".yaml"]),
    Place("hermes", &[(Variable("HERMES_HOME"), "sessions"), (InHome, ".hermes/sessions")], &[".json", ".jsonl"]),
    Place("openhands", &[(InHome, ".openhands")], &[".json"]),
    Place("mini-swe-agent", &[(Config, "mini-swe-agent")], &[".traj.json"]),
    Place("vibe", &[(Variable("VIBE_HOME"), "logs"), (InHome, ".vibe/logs")], &[".json", ".jsonl"]),
    Place("specstory-md", &[(Here, ".specstory/history")], &[".md"]),
    Place("aider", &[(Here, ".aider.chat.history.md"), (InHome, ".aider.chat.history.md")], &[".aider.chat.history.md"]),
];

/// What the environment says, as far as it is needed here.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The variables.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// The directory that the user works in.
    pub here: &'a Path,
}

impl Surroundings<'_> {
    fn path(&self, name: &str) -> Option<PathBuf> {
        (self.variable)(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    fn home(&self) -> Option<PathBuf> {
        self.path("HOME").or_else(|| self.path("USERPROFILE"))
    }

    fn share(&self) -> Option<PathBuf> {
        self.path("XDG_DATA_HOME").or_else(|| Some(self.home()?.join(".local/share")))
    }

    fn config(&self) -> Option<PathBuf> {
        match System::THIS {
            System::Linux => self.path("XDG_CONFIG_HOME").or_else(|| Some(self.home()?.join(".config"))),
            System::Mac => Some(self.home()?.join("Library/Application Support")),
            System::Windows => self.path("APPDATA"),
        }
    }

    /// The directories that a base stands for.
    fn of(&self, base: Base) -> Vec<PathBuf> {
        let one = match base {
            Base::Home => self.home(),
            Base::Share => self.share(),
            Base::Data => match System::THIS {
                System::Linux => self.share(),
                System::Mac => self.config(),
                System::Windows => self.path("LOCALAPPDATA"),
            },
            Base::Config => self.config(),
            Base::Variable(name) => self.path(name),
            Base::Here => Some(self.here.to_owned()),
            Base::Editors => {
                let editors =
                    self.config().into_iter().flat_map(|all| EDITORS.map(|editor| all.join(editor)));
                let servers = self.home().into_iter().flat_map(|all| SERVERS.map(|server| all.join(server)));
                return editors.chain(servers).map(|at| at.join("User/globalStorage")).collect();
            }
        };
        one.into_iter().collect()
    }
}

/// Systems that keep files in different places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    Linux,
    Mac,
    Windows,
}

impl System {
    const THIS: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::Mac
    } else {
        Self::Linux
    };
}

/// The places of the table that are there and hold files, in its order; each once.
pub fn homes(surroundings: Surroundings<'_>) -> Homes {
    let mut seen = FxHashSet::default();
    let mut found = Homes::default();
    for Place(agent, places, ends) in PLACES {
        for (base, below) in *places {
            for directory in surroundings.of(*base) {
                let path = below.split('/').fold(directory, |path, part| path.join(part));
                if !seen.insert((ends, path.clone())) {
                    continue;
                }
                let home = look(agent, path, ends, &mut found.problems);
                found.places.extend(home);
            }
        }
    }
    let mut named = FxHashSet::default();
    found.problems.retain(|(path, _)| named.insert(path.clone()));
    found
}

/// What lies in a place; `None` when that is nothing.
fn look(
    agent: &'static str,
    path: PathBuf,
    ends: &[&str],
    problems: &mut Vec<(String, String)>,
) -> Option<Home> {
    let mut home = Home { agent, path, files: 0, bytes: 0, newest: None };
    let mut known = FxHashSet::default();
    for entry in WalkDir::new(&home.path).follow_links(true).sort_by_file_name() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                problems.extend(problem(&home.path, &error));
                continue;
            }
        };
        if !entry.file_type().is_file() || !is_wanted(entry.path(), ends) {
            continue;
        }
        let metadata = match entry.metadata() {
            Ok(metadata) => metadata,
            Err(error) => {
                problems.extend(problem(&home.path, &error));
                continue;
            }
        };
        if !known.insert(identity(entry.path(), &metadata)) {
            continue;
        }
        home.files += 1;
        home.bytes += metadata.len();
        let age = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let written = age.and_then(|age| i64::try_from(age.as_millis()).ok());
        home.newest = home.newest.max(written);
    }
    (home.files > 0).then_some(home)
}

/// What is said of an error: nothing of a place that is not there, save where a link should lead to it.
fn problem(place: &Path, error: &walkdir::Error) -> Option<(String, String)> {
    let path = error.path().unwrap_or(place);
    let kind = error.io_error().map(io::Error::kind);
    if error.depth() > 0 || !matches!(kind, Some(io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)) {
        return Some((path.display().to_string(), walk_cause(path, error)));
    }
    let there = path.ancestors().find(|above| above.symlink_metadata().is_ok())?;
    let error = there.metadata().err()?;
    Some((there.display().to_string(), missing(there, &error)))
}

/// True for a name with one of the ends, packed or not.
fn is_wanted(path: &Path, ends: &[&str]) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let plain = PACKED.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    ends.iter().any(|end| plain.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes its inputs")]
    fn what_is_there_is_listed_once() {
        let root = tempfile::tempdir().unwrap();
        let files = [
            "home/.claude/projects/-w/a.jsonl",
            "home/.claude/projects/-w/notes.txt",
            "other/sessions/2026/r.jsonl.zst",
            "home/.codex/history.jsonl",
            "share/amp/threads/T-1.json",
            "work/.aider.chat.history.md",
        ];
        for file in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "1234").unwrap();
        }
        let variable = |name: &str| {
            let path = match name {
                "HOME" => "home",
                "CODEX_HOME" => "other",
                "XDG_DATA_HOME" => "share",
                _ => return None,
            };
            Some(root.path().join(path).into_os_string())
        };
        let here = root.path().join("work");
        let found = homes(Surroundings { variable: &variable, here: &here });
        assert_eq!(found.problems, []);
        let short: Vec<_> = found
            .places
            .iter()
            .map(|home| {
                let path = home.path.strip_prefix(root.path()).unwrap().to_string_lossy().into_owned();
                (home.agent, path, home.files, home.bytes, home.newest.is_some())
            })
            .collect();
        let expected = [
            ("claude-code", "home/.claude/projects"),
            ("codex", "other/sessions"),
            ("amp", "share/amp/threads"),
            ("aider", "work/.aider.chat.history.md"),
        ];
        assert_eq!(short, expected.map(|(agent, path)| (agent, path.to_owned(), 1, 4, true)));
    }

    #[cfg(unix)]
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes its inputs")]
    fn what_cannot_be_looked_at_is_named_once() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for directory in [".claude", ".config", ".codex/sessions", ".pi/agent/sessions", "elsewhere"] {
            std::fs::create_dir_all(at(directory)).unwrap();
        }
        std::fs::write(at("elsewhere/a.jsonl"), "1234").unwrap();
        std::fs::write(at(".kimi"), "no directory").unwrap();
        symlink("nowhere", at(".claude/projects")).unwrap();
        symlink("gone", at(".gemini")).unwrap();
        symlink(at("elsewhere"), at(".pi/agent/sessions/linked")).unwrap();
        symlink(at("elsewhere/a.jsonl"), at(".pi/agent/sessions/same.jsonl")).unwrap();
        symlink(at(".pi/agent/sessions"), at(".pi/agent/sessions/loop")).unwrap();
        std::fs::set_permissions(at(".codex/sessions"), std::fs::Permissions::from_mode(0o000)).unwrap();
        let locked = std::fs::read_dir(at(".codex/sessions")).is_err();
        let variable = |name: &str| (name == "HOME").then(|| root.path().as_os_str().to_owned());
        let found = homes(Surroundings { variable: &variable, here: root.path() });
        std::fs::set_permissions(at(".codex/sessions"), std::fs::Permissions::from_mode(0o700)).unwrap();
        let sizes: Vec<_> = found.places.iter().map(|home| (home.agent, home.files, home.bytes)).collect();
        assert_eq!(sizes, [("pi", 1, 4)]);
        let mut expected = vec![
            (".claude/projects", "a link to nowhere, which is not there"),
            (".codex/sessions", "permission denied"),
            (".pi/agent/sessions/loop", "a symbolic link that leads back"),
            (".gemini", "a link to gone, which is not there"),
        ];
        expected.retain(|(path, _)| locked || *path != ".codex/sessions");
        let named: Vec<_> = found
            .problems
            .iter()
            .map(|(path, _)| Path::new(path).strip_prefix(root.path()).unwrap().to_str().unwrap())
            .collect();
        assert_eq!(named, expected.iter().map(|(path, _)| *path).collect::<Vec<_>>());
        for ((_, cause), (_, begins)) in found.problems.iter().zip(expected) {
            assert!(cause.starts_with(begins), "{cause}");
        }
    }
}
