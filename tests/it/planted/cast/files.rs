//! Files: what becomes of them, and under which names a summary has them.

use super::super::log::Action;
use super::super::plant::Fate;
use super::super::story::{FileTruth, Plan, Story, live};
use super::super::words;
use super::{Zone, fill_in, tell};
use compactor::facts::{FactClass, Match};

/// A path under the working directory: relative, and whole.
fn path_at(story: &Story, relative: &str) -> String {
    format!("{}/{relative}", story.cwd.replace('\\', "/"))
}

fn directory(story: &mut Story) -> String {
    let top = story.dice.word(words::TOPS);
    let below = story.dice.word(words::DIRS);
    if story.dice.chance(25) { top.to_owned() } else { format!("{top}/{below}") }
}

fn file_name(story: &mut Story) -> String {
    let stem = story.dice.take(&mut story.stems);
    let extension =
        if story.dice.chance(75) { *story.dice.pick(story.language) } else { story.dice.word(words::OTHERS) };
    format!("{stem}.{extension}")
}

/// All suffixes of a path with at least so many components, the path itself first.
fn suffixes(path: &str, least: usize) -> Vec<String> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    (0..=parts.len().saturating_sub(least)).map(|from| parts[from..].join("/")).collect()
}

/// How a summary names a file with a name to itself: the text, and how the file stands there then.
fn naming(story: &mut Story, path: &str, relative: &str) -> (String, Match, &'static str) {
    let (directory, name) = relative.rsplit_once('/').unwrap_or(("", relative));
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    match story.dice.range(0, 14) {
        0 | 1 => {
            let native = story.cwd.contains('\\') && story.dice.chance(50);
            let text = if native { path.replace('/', "\\") } else { path.to_owned() };
            (text, Match::Exact, "absolute")
        }
        2 | 3 => (relative.to_owned(), Match::Exact, "relative"),
        4..=6 if relative.contains('/') => {
            let mut shorter = suffixes(relative, 1);
            shorter.remove(0);
            (story.dice.pick(&shorter).clone(), Match::Resolvable, "suffix")
        }
        4..=6 => (relative.to_owned(), Match::Exact, "relative"),
        7 | 8 => (String::new(), Match::Absent, "nothing"),
        9 => {
            let wrong = format!("{}{}", story.dice.pick(&["legacy/", "vendor/old/", "attic/src/"]), name);
            (wrong, Match::Mutated, "wrong directory")
        }
        10 => (format!("{directory}/{stem}.{extension}x"), Match::Absent, "longer extension"),
        11 => (format!("{directory}/data{name}"), Match::Absent, "longer stem"),
        12 => (format!("{stem}_old.{extension}"), Match::Absent, "other stem"),
        _ => (stem.to_owned(), Match::Absent, "stem only"),
    }
}

/// Says in the tail that a file is there: by a sentence, by what a search finds, or by an operation.
fn restate_file(story: &mut Story, path: &str, spellings: &[String], readable: bool) {
    let place = story.kept();
    let spelling = story.dice.pick(spellings).clone();
    match story.dice.range(0, 3) {
        0 if readable => {
            story.call(place, Action::Read(path.to_owned()));
        }
        1 => {
            let word = story.word();
            let script = format!("rg -n {word}");
            let output = format!("{spelling}:12:    // one line\n");
            story.call(place, Action::Shell { script, output, code: 0 });
        }
        _ => {
            let template = *story.dice.pick(&[
                "Back to {p} for a moment.",
                "So `{p}` is next.",
                "I left {p}, it is fine.",
            ]);
            let text = fill_in(template, "{p}", &spelling);
            story.agent(place, &text);
        }
    }
}

/// Plants a file fact that is in the log already.
#[expect(clippy::too_many_arguments, reason = "each tells one thing about the fact")]
fn plan_file(
    story: &mut Story,
    path: &str,
    said: &str,
    class: FactClass,
    birth: usize,
    spellings: Vec<String>,
    fate: Fate,
    summary: &str,
    trap: &'static str,
) {
    story.plans.push(Plan {
        class,
        value: path.to_owned(),
        said: said.to_owned(),
        spellings,
        birth: (birth, false),
        fate,
        summary: summary.to_owned(),
        trap,
    });
    story.files.push(FileTruth { path: path.to_owned(), state: class, from: None });
}

/// A line of a summary about a file.
fn file_line(story: &mut Story, naming: &str) -> String {
    if naming.is_empty() {
        return String::new();
    }
    let template = story.dice.word(words::OF_FILES);
    fill_in(template, "{p}", naming)
}

pub(super) fn single_file(story: &mut Story) {
    let directory = directory(story);
    let name = file_name(story);
    let outside = story.dice.chance(8);
    let (relative, path) = if outside {
        let path = format!("/etc/agents/{name}");
        (path.clone(), path)
    } else if story.dice.chance(10) {
        (name.clone(), path_at(story, &name))
    } else {
        let relative = format!("{directory}/{name}");
        let path = path_at(story, &relative);
        (relative, path)
    };
    let zone = Zone::any(story);
    let place = zone.place(story);
    let (class, birth, mut later) = life(story, zone, place, &path, &relative);
    let now = later.pop().unwrap_or(relative.clone());
    let moved = now != relative;
    let path_now = if moved { path_at(story, &now) } else { path.clone() };
    let mut spellings = suffixes(&path_now, 1);
    spellings.push(path_now.clone());
    if zone == Zone::Restated {
        restate_file(story, &path_now, &spellings, class != FactClass::FileDeleted);
    }
    if zone == Zone::Head
        && class == FactClass::FileRead
        && let Some(after) = story.after()
    {
        // What happens behind the prefix changes nothing before it.
        story.call(after, Action::Edit(path.clone()));
    }
    let (text, tier, trap) = if moved && story.dice.chance(40) {
        // The former name of a file does not tell where it is.
        (relative.clone(), Match::Degraded, "former name")
    } else if outside && story.dice.chance(50) {
        (format!("agents/{name}"), Match::Resolvable, "outside the project")
    } else if outside {
        (path.clone(), Match::Exact, "outside the project")
    } else {
        naming(story, &path_now, &now)
    };
    let line = file_line(story, &text);
    tell(story, &line);
    let fate = live(zone.in_tail(), tier);
    plan_file(story, &path_now, &relative, class, birth, spellings, fate, &line, trap);
    if moved && let Some(file) = story.files.last_mut() {
        file.from = Some(path);
    }
}

/// What becomes of one file before the cycle: its class, the act that begins it, and the name it has at last if that is
/// another one.
fn life(
    story: &mut Story,
    zone: Zone,
    place: usize,
    path: &str,
    relative: &str,
) -> (FactClass, usize, Vec<String>) {
    let file = path.to_owned();
    let shell = |script: String| Action::Shell { script, output: String::new(), code: 0 };
    if zone == Zone::Tail || path.starts_with("/etc/") {
        return (FactClass::FileRead, story.call(place, Action::Read(file)), Vec::new());
    }
    let [one, two, three] = story.in_order();
    let birth = story.call(one, Action::Read(file.clone()));
    match story.dice.range(0, 12) {
        0 => {
            story.call(two, Action::Edit(file.clone()));
            story.call(three, Action::Read(file));
            (FactClass::FileModified, birth, Vec::new())
        }
        1 => {
            let script = story.dice.word(&[
                "sed -i 's/one/a/' {p}",
                "perl -pi -e 's/one/a/' {p}",
                "echo '// more' >> {p}",
            ]);
            story.call(two, shell(fill_in(script, "{p}", relative)));
            (FactClass::FileModified, birth, Vec::new())
        }
        2 => {
            refused_edit(story, two, file);
            (FactClass::FileRead, birth, Vec::new())
        }
        3 => {
            story.call(two, Action::Delete(file));
            (FactClass::FileDeleted, birth, Vec::new())
        }
        4 => {
            let script = story.dice.word(&["rm -f {p}", "rm {p}", "git rm --quiet {p}"]);
            story.call(two, shell(fill_in(script, "{p}", relative)));
            (FactClass::FileDeleted, birth, Vec::new())
        }
        5 | 6 => {
            let directory = directory(story);
            let name = file_name(story);
            let target = format!("{directory}/{name}");
            let to = path_at(story, &target);
            let by_tool = story.dice.chance(50);
            let action =
                if by_tool { Action::Move(file, to) } else { shell(format!("mv {relative} {target}")) };
            story.call(two, action);
            (FactClass::FileRenamed, birth, vec![target])
        }
        7 => {
            let script = story.dice.word(&[
                "cat {p} | head -n 40",
                "nl -ba {p}",
                "head -n 20 {p} && pwd",
                "sed -n 4,9p {p}",
            ]);
            story.call(two, shell(fill_in(script, "{p}", relative)));
            (FactClass::FileRead, birth, Vec::new())
        }
        8 | 9 => {
            // Not read but made.
            story.undo(birth);
            let birth = story.call(one, Action::Create(file.clone()));
            story.call(two, Action::Edit(file));
            (FactClass::FileCreated, birth, Vec::new())
        }
        10 => {
            story.undo(birth);
            let script = story.dice.word(&[
                "cat > {p} <<'EOF'\n// one line\nEOF",
                "touch {p}",
                "printf 'one\\n' | tee {p}",
                "echo one > {p}",
            ]);
            let birth = story.call(one, shell(fill_in(script, "{p}", relative)));
            (FactClass::FileCreated, birth, Vec::new())
        }
        _ => (FactClass::FileRead, birth, Vec::new()),
    }
}

/// An edit that the tool refuses: it changes no file, and what the tool says is an error.
fn refused_edit(story: &mut Story, place: usize, file: String) {
    let said = format!("No match for the text {} in this file", story.word());
    let birth = story.call(place, Action::FailedEdit(file, said.clone()));
    story.plans.push(Plan {
        class: FactClass::Error,
        value: said.clone(),
        said: said.clone(),
        spellings: vec![said],
        birth: (birth, true),
        fate: live(false, Match::Absent),
        summary: String::new(),
        trap: "refused edit",
    });
}

/// Files of one name in several directories.
pub(super) fn twins(story: &mut Story, nested: bool) {
    let name = if story.dice.chance(30) { "README.md".to_owned() } else { file_name(story) };
    let outside = story.dice.chance(20);
    let top = if outside { "/data" } else { story.dice.word(words::TOPS) };
    let mut directories: Vec<String> = Vec::new();
    let first = story.dice.word(words::DIRS);
    directories.push(first.to_owned());
    // `b/x.ts` is no end of `ab/x.ts`.
    directories.push(if nested { format!("data{first}") } else { format!("{first}-v2") });
    if story.dice.chance(40) {
        directories.push("fixtures".to_owned());
    }
    let bare = story.dice.chance(50);
    if bare {
        let line = file_line(story, &name);
        tell(story, &line);
    }
    for directory in directories {
        let relative = format!("{top}/{directory}/{name}");
        let path = if outside { relative.clone() } else { path_at(story, &relative) };
        let place = story.before();
        let birth = story.call(place, Action::Read(path.clone()));
        let in_tail = story.dice.chance(20);
        let mut spellings = suffixes(&path, 2);
        spellings.push(path.clone());
        if in_tail {
            restate_file(story, &path, &spellings, true);
        }
        let (text, tier, trap) = match story.dice.range(0, 5) {
            0 => (path.clone(), Match::Exact, "twin, absolute"),
            1 => (relative.clone(), Match::Exact, "twin, relative"),
            2 => (format!("{directory}/{name}"), Match::Resolvable, "twin, suffix"),
            _ if bare => (String::new(), Match::Ambiguous, "twin, shared name"),
            _ => (String::new(), Match::Absent, "twin, nothing"),
        };
        let line = file_line(story, &text);
        tell(story, &line);
        let fate = live(in_tail, tier);
        plan_file(story, &path, &relative, FactClass::FileRead, birth, spellings, fate, &line, trap);
    }
    // The shared name alone mentions neither. All are read by then.
    let place = story.kept();
    story.agent(place, &format!("There is more than one {name}, mind."));
}

/// Files whose names hold one another: `a.rs` and `data_a.rs`, `foo.ts` and `foo.tsx`.
pub(super) fn neighbours(story: &mut Story) {
    let stem = story.dice.take(&mut story.stems);
    let directory = directory(story);
    let names = if story.dice.chance(50) {
        [format!("{stem}.ts"), format!("{stem}.tsx")]
    } else {
        let extension = *story.dice.pick(story.language);
        [format!("{stem}.{extension}"), format!("re{stem}.{extension}")]
    };
    let named = story.dice.range(0, 3);
    for (at, name) in names.iter().enumerate() {
        let relative = format!("{directory}/{name}");
        let path = path_at(story, &relative);
        let place = story.before();
        let birth = story.call(place, Action::Edit(path.clone()));
        let spellings = suffixes(&path, 1);
        let text = match (named == at, story.dice.chance(50)) {
            (true, true) => name.clone(),
            (true, false) => relative.clone(),
            _ => String::new(),
        };
        let tier = match (named == at, text == *name) {
            (true, true) => Match::Resolvable,
            (true, false) => Match::Exact,
            _ => Match::Absent,
        };
        let line = file_line(story, &text);
        tell(story, &line);
        let fate = live(false, tier);
        let class = FactClass::FileModified;
        plan_file(story, &path, &relative, class, birth, spellings, fate, &line, "name within a name");
    }
}

/// A file at the root and one of the same name below: the bare name is the path of the first.
pub(super) fn readme(story: &mut Story) {
    let name = (*story.dice.pick(&["README.md", "index.ts", "CHANGELOG.md", "package.json"])).to_owned();
    let below = format!("{}/{name}", story.dice.pick(words::DIRS));
    let bare = story.dice.chance(60);
    for relative in [name.clone(), below] {
        let path = path_at(story, &relative);
        let place = story.before();
        let birth = story.call(place, Action::Edit(path.clone()));
        let top = relative == name;
        let spellings = vec![path.clone(), relative.clone()];
        let (text, tier) = match (top, bare) {
            (true, true) => (name.clone(), Match::Exact),
            (true, false) => (String::new(), Match::Absent),
            (false, true) => (String::new(), Match::Ambiguous),
            (false, false) if story.dice.chance(50) => (relative.clone(), Match::Exact),
            (false, false) => (String::new(), Match::Absent),
        };
        let line = file_line(story, &text);
        tell(story, &line);
        let fate = live(false, tier);
        let class = FactClass::FileModified;
        plan_file(story, &path, &relative, class, birth, spellings, fate, &line, "root and below");
    }
}

/// A name without a dot is a word, but for backticks and lists.
pub(super) fn bare_name(story: &mut Story) {
    let name = (*story.dice.pick(&["Makefile", "Dockerfile", "Procfile", "Justfile"])).to_owned();
    let path = path_at(story, &name);
    let place = story.before();
    let birth = story.call(place, Action::Edit(path.clone()));
    let (line, tier) = match story.dice.range(0, 4) {
        0 => (format!("The {name} was mentioned in passing."), Match::Ambiguous),
        1 => (format!("- The `{name}` was changed a bit."), Match::Exact),
        2 => (format!("- {name}"), Match::Exact),
        _ => (format!("Changed {path} a bit."), Match::Exact),
    };
    tell(story, &line);
    let place = story.kept();
    let spellings = vec![path.clone(), format!("`{name}`")];
    story.agent(place, &format!("The {name} can wait."));
    let fate = live(false, tier);
    plan_file(story, &path, &name, FactClass::FileModified, birth, spellings, fate, &line, "bare word");
}

/// A file is moved, and a new one takes its old name.
pub(super) fn taken_name(story: &mut Story) {
    let directory = directory(story);
    let (old, new) =
        (format!("{directory}/{}", file_name(story)), format!("{directory}/{}", file_name(story)));
    let (from, to) = (path_at(story, &old), path_at(story, &new));
    let [one, two, three] = story.in_order();
    let moved = story.call(one, Action::Read(from.clone()));
    story.call(two, Action::Move(from.clone(), to.clone()));
    let made = story.call(three, Action::Create(from.clone()));
    let named = story.dice.range(0, 3);
    let text = match named {
        0 => old.clone(),
        1 => new.clone(),
        _ => String::new(),
    };
    let line = file_line(story, &text);
    tell(story, &line);
    let (of_moved, of_made) = match named {
        0 => (Match::Degraded, Match::Exact),
        1 => (Match::Exact, Match::Absent),
        _ => (Match::Absent, Match::Absent),
    };
    let trap = "name taken over";
    let spellings = suffixes(&to, 1);
    plan_file(story, &to, &old, FactClass::FileRenamed, moved, spellings, live(false, of_moved), &line, trap);
    if let Some(file) = story.files.last_mut() {
        file.from = Some(from.clone());
    }
    let spellings = suffixes(&from, 1);
    plan_file(story, &from, &old, FactClass::FileCreated, made, spellings, live(false, of_made), &line, trap);
}
