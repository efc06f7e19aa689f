//! The harness' cumulative file lists: what a compactor itself knows about files from the calls it compacts.
//!
//! Not the answer key: this follows the profile's [`FileRules`], faults included, and sees only messages that left the
//! context. The ground truth is extracted independently by `facts`.

use crate::fileops::{CallEffect, Confidence, FileOp, OpKind};
use crate::paths;
use crate::profile::FileRules;
use crate::summarize::FileLists;
use crate::transcript::{Outcome, Transcript};
use arcstr::ArcStr;
use rustc_hash::FxHashMap;
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Read,
    Modified,
    Deleted,
}

/// Cumulative state of every file that a compacted call touched.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    files: FxHashMap<ArcStr, (State, u64)>,
    /// When each file came up first.
    first: FxHashMap<ArcStr, u64>,
    clock: u64,
    next_link: usize,
}

impl Ledger {
    /// Begins anew before a message: calls before it count no more.
    pub fn begin(&mut self, transcript: &Transcript, at: usize) {
        let next_link = transcript.links.partition_point(|link| link.call.message.get() < at);
        *self = Self { next_link, ..Self::default() };
    }

    /// Applies the calls of the messages in `range`. Ranges must ascend from call to call.
    pub fn apply(
        &mut self,
        transcript: &Transcript,
        effects: &[CallEffect],
        range: Range<usize>,
        rules: FileRules,
    ) {
        while let (Some(link), Some(effect)) =
            (transcript.links.get(self.next_link), effects.get(self.next_link))
        {
            let at = link.call.message.get();
            if at >= range.end {
                break;
            }
            self.next_link += 1;
            if at < range.start || effect.ops.is_empty() {
                continue;
            }
            let result = transcript.result(link);
            // Without an exit status it was refused or broken off: no part of the script counts.
            let ran = || result.is_some_and(|result| result.exit_code.is_some() || states_exit(&result.text));
            for op in &effect.ops {
                if op.confidence == Confidence::Shell && !rules.shell {
                    continue;
                }
                let last_step = op.confidence == Confidence::Tool || op.step + 1 >= effect.steps;
                let happened = match result.map(|result| result.outcome) {
                    Some(Outcome::Ok | Outcome::Unknown) => true,
                    Some(Outcome::Failed) => (!last_step || op.marks.redirected || op.marks.piped) && ran(),
                    None => false,
                };
                if happened || rules.failed {
                    self.record(op);
                }
            }
        }
    }

    /// The lists now.
    pub fn lists(&self) -> FileLists {
        self.by(|_, last| last)
    }

    /// The lists by first mention, the oldest first.
    pub fn lists_by_first(&self) -> FileLists {
        self.by(|path, last| self.first.get(path).copied().unwrap_or(last))
    }

    fn by(&self, place: impl Fn(&str, u64) -> u64) -> FileLists {
        let mut all: Vec<(u64, &ArcStr, State)> =
            self.files.iter().map(|(path, (state, last))| (place(path, *last), path, *state)).collect();
        all.sort_unstable_by_key(|(last, _, _)| *last);
        let mut lists = FileLists::default();
        for (_, path, state) in all {
            let list = match state {
                State::Read => &mut lists.read,
                State::Modified => &mut lists.modified,
                State::Deleted => &mut lists.deleted,
            };
            list.push(path.clone());
        }
        lists
    }

    fn record(&mut self, op: &FileOp) {
        self.clock += 1;
        let now = self.clock;
        let path = if let Some((known, _)) = self.first.get_key_value(op.path.as_str()) {
            known.clone()
        } else {
            let path = ArcStr::from(op.path.as_str());
            self.first.insert(path.clone(), now);
            path
        };
        let path = &path;
        match &op.kind {
            OpKind::Read => {
                let known = self.files.get(path).map_or(State::Read, |(state, _)| *state);
                let state = if known == State::Deleted { State::Read } else { known };
                self.set(path, (state, now));
            }
            OpKind::Write | OpKind::Create | OpKind::Edit => self.set(path, (State::Modified, now)),
            OpKind::Delete | OpKind::Rename { .. } if self.is_unknown_directory(op) => {}
            OpKind::Delete => self.remove(path, now),
            OpKind::Rename { to } => {
                let below = self.under(path);
                self.remove(path, now);
                if below.is_empty() {
                    self.clock += 1;
                    self.files.insert(ArcStr::from(to.as_str()), (State::Modified, self.clock));
                }
                for (old, state) in below {
                    let Some(rest) = old.strip_prefix(path.as_str()) else { continue };
                    self.clock += 1;
                    if state != State::Deleted {
                        self.files.insert(arcstr::format!("{to}{rest}"), (State::Modified, self.clock));
                    }
                }
            }
        }
    }

    fn set(&mut self, path: &ArcStr, entry: (State, u64)) {
        match self.files.get_mut(path) {
            Some(known) => *known = entry,
            None => {
                self.files.insert(path.clone(), entry);
            }
        }
    }

    /// A name without an extension that only a shell command moves or removes is most likely a directory, and the
    /// lists hold files.
    fn is_unknown_directory(&self, op: &FileOp) -> bool {
        let name = paths::basename(&op.path);
        op.confidence == Confidence::Shell
            && !name.trim_start_matches('.').contains('.')
            && !self.files.contains_key(op.path.as_str())
            && self.under(&op.path).is_empty()
    }

    /// Marks a file, or everything under a directory, as deleted.
    fn remove(&mut self, path: &ArcStr, now: u64) {
        let below = self.under(path);
        if below.is_empty() {
            self.files.insert(path.clone(), (State::Deleted, now));
        }
        for (old, _) in below {
            self.files.insert(old, (State::Deleted, now));
        }
    }

    /// Known live files strictly under a directory, sorted.
    fn under(&self, directory: &str) -> Vec<(ArcStr, State)> {
        let mut below: Vec<(ArcStr, State)> = self
            .files
            .iter()
            .filter(|(path, (state, _))| {
                *state != State::Deleted
                    && path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
            })
            .map(|(path, (state, _))| (path.clone(), *state))
            .collect();
        below.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        below
    }
}

/// Does a result begin or end with the exit status of a command?
fn states_exit(text: &str) -> bool {
    let text = text.trim();
    let last = text.rsplit('\n').next().unwrap_or(text).to_ascii_lowercase();
    text.starts_with("Exit code") || last.contains("exited with code") || last.contains("exit code")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{FactClass, FactSet};
    use crate::fileops;
    use crate::ingest::ingest;
    use crate::transcript::MessageIdx;

    const ALL: FileRules = FileRules { shell: true, failed: false };

    /// A session of shell calls: each script with the status it ends with.
    fn session(scripts: &[(&str, i32)]) -> Transcript {
        let mut lines = String::new();
        for (at, (script, exit)) in scripts.iter().enumerate() {
            let arguments = serde_json::json!({ "command": script }).to_string();
            let id = format!("call{at}");
            let call = serde_json::json!({ "role": "assistant", "content": null, "tool_calls": [
                { "id": id, "type": "function", "function": { "name": "bash", "arguments": arguments } }] });
            let result = serde_json::json!({ "role": "tool", "tool_call_id": id, "content": format!("Exit code {exit}\n") });
            let ask = serde_json::json!({ "role": "user", "content": "go" });
            for line in [ask, call, result] {
                lines.push_str(&line.to_string());
                lines.push('\n');
            }
        }
        ingest(lines.as_bytes(), "s.jsonl").sessions.remove(0)
    }

    fn effects(transcript: &Transcript) -> Vec<CallEffect> {
        let effect = |link| {
            let call = transcript.call(link).expect("a call");
            fileops::of_call(&call.name, &call.arguments, Some("/w"))
        };
        transcript.links.iter().map(effect).collect()
    }

    fn check_lists(
        scripts: &[(&str, i32)],
        rules: FileRules,
        read: &[&str],
        modified: &[&str],
        deleted: &[&str],
    ) {
        let transcript = session(scripts);
        let mut ledger = Ledger::default();
        ledger.apply(&transcript, &effects(&transcript), 0..transcript.messages.len(), rules);
        let lists = ledger.lists();
        assert_eq!(lists.read, read, "read in {scripts:?}");
        assert_eq!(lists.modified, modified, "modified in {scripts:?}");
        assert_eq!(lists.deleted, deleted, "deleted in {scripts:?}");
    }

    #[test]
    fn what_calls_leave_behind() {
        check_lists(&[("cat a.rs; cat b.rs", 0)], ALL, &["/w/a.rs", "/w/b.rs"], &[], &[]);
        check_lists(&[("cat a.rs; sed -i s/a/b/ a.rs; cat a.rs", 0)], ALL, &[], &["/w/a.rs"], &[]);
        check_lists(&[("cat a.rs", 0), ("rm a.rs", 0)], ALL, &[], &[], &["/w/a.rs"]);
        check_lists(&[("cat d/a.rs d/b.rs", 0), ("rm -r d", 0)], ALL, &[], &[], &["/w/d/a.rs", "/w/d/b.rs"]);
        check_lists(&[("cat d/a.rs", 0), ("git mv d e", 0)], ALL, &[], &["/w/e/a.rs"], &["/w/d/a.rs"]);
        check_lists(&[("mv a.rs b.rs", 0)], ALL, &[], &["/w/b.rs"], &["/w/a.rs"]);
        check_lists(&[("rm a.rs", 0), ("echo > a.rs", 0)], ALL, &[], &["/w/a.rs"], &[]);
    }

    #[test]
    fn failed_calls_and_rules() {
        check_lists(&[("rm a.rs", 1)], ALL, &[], &[], &[]);
        check_lists(&[("sed -i s/a/b/ a.rs && make", 2)], ALL, &[], &["/w/a.rs"], &[]);
        check_lists(&[("make > a.log", 2)], ALL, &[], &["/w/a.log"], &[]);
        let careless = FileRules { failed: true, ..ALL };
        check_lists(&[("rm a.rs", 1)], careless, &[], &[], &["/w/a.rs"]);
        let tools_only = FileRules { shell: false, ..ALL };
        check_lists(&[("cat a.rs; echo > b.rs", 0)], tools_only, &[], &[], &[]);
    }

    #[test]
    fn ranges_are_applied_once() {
        let transcript = session(&[("cat a.rs", 0), ("echo > a.rs", 0), ("cat b.rs", 0)]);
        let effects = effects(&transcript);
        let mut ledger = Ledger::default();
        ledger.apply(&transcript, &effects, 0..4, ALL);
        assert_eq!(ledger.lists().read, ["/w/a.rs"]);
        ledger.apply(&transcript, &effects, 4..9, ALL);
        let lists = ledger.lists();
        assert_eq!((lists.read, lists.modified), (vec!["/w/b.rs".into()], vec!["/w/a.rs".into()]));
    }

    /// With rules that leave nothing out, the lists say the same as the answer key, which is built apart from them.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the fixtures are files")]
    fn agrees_with_the_answer_key_on_the_fixtures() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        let (mut files, mut apart) = (0, Vec::new());
        for format in ["claude-code", "codex", "pi", "openai-chat", "anthropic-messages"] {
            for entry in std::fs::read_dir(root.join(format)).expect("fixtures") {
                let path = entry.expect("an entry").path();
                // The sessions that are kept for the last measurement stay out of here: a failure would show them.
                let kept = ["tide-gauge", "cpp-tiles", "v3-orchard", "tinyq"];
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if name.ends_with(".toml") || kept.iter().any(|kept| name.starts_with(kept)) {
                    continue;
                }
                let bytes = std::fs::read(&path).expect("a fixture");
                for transcript in ingest(&bytes, "s").sessions {
                    let effects = super::super::effects(&transcript);
                    let mut ledger = Ledger::default();
                    ledger.apply(&transcript, &effects, 0..transcript.messages.len(), ALL);
                    let mut lists = ledger.lists();
                    lists.read.sort();
                    lists.modified.sort();
                    let key = FactSet::extract(&transcript, &crate::replay::effects(&transcript)).ledger;
                    let end = MessageIdx::new(transcript.messages.len());
                    files += key.files.len();
                    for (ours, theirs) in
                        [(&lists.read, key.read_at(end)), (&lists.modified, key.modified_at(end))]
                    {
                        let differs = ours.iter().map(ArcStr::as_str).ne(theirs.iter().copied());
                        if differs {
                            apart.push(format!("{}: {ours:?} {theirs:?}", path.display()));
                        }
                    }
                    let gone = key.paths_at(end, &[FactClass::FileDeleted]);
                    for path in gone.iter().filter(|path| !lists.deleted.iter().any(|it| it == *path)) {
                        apart.push(format!("{path} is not deleted"));
                    }
                }
            }
        }
        assert!(files > 150, "{files}");
        assert_eq!(apart, Vec::<String>::new());
    }
}
