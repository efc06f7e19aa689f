//! What a tool result is worth: commands that matter and how they ended, commits, answers of the user.

use super::item::{Item, Kind};
use super::lines;
use super::words::{self, look};
use crate::fileops;
use crate::lanes::{self, Words};
use crate::transcript::{Outcome, ToolResult};
use aho_corasick::AhoCorasick;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Longest command written, in characters.
const COMMAND: usize = 90;
/// Longest head of an error, in characters.
const HEAD: usize = 220;
/// Bytes looked at from the start and from the end of a result.
const WINDOW: usize = 12 << 10;

/// Programs whose outcome is worth a line even when it is good.
const CHECKS: &str = "test tests pytest jest vitest mocha ava rspec phpunit ctest check clippy lint eslint build tsc mypy \
    pyright ruff flake8 make cmake ninja bazel gradle gradlew mvn compile vet deploy migrate install publish benchmark bench \
    typecheck format fmt tox nox playwright cypress xcodebuild swift dotnet ci e2e verify validate";

/// Hashes of these, sorted.
static CHECK_HASHES: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let mut hashes: Vec<u32> = CHECKS.split_whitespace().map(words::hash).collect();
    hashes.sort_unstable();
    hashes
});

fn is_name_of_check(word: &str) -> bool {
    CHECK_HASHES.binary_search(&words::hash(word)).is_ok()
}

/// Marks of a line that says what went wrong, best first, with the worth of each.
const TROUBLE: &[(&str, u8)] = &[
    ("error[", 9),
    ("panicked at", 9),
    ("error:", 8),
    ("exception:", 8),
    ("fatal:", 8),
    ("error ts", 8),
    ("test result: failed", 7),
    ("assertion", 6),
    ("--- fail", 7),
    ("fail ", 5),
    ("failed", 5),
    ("undefined", 5),
    ("not found", 5),
    ("no such file", 6),
    ("cannot ", 5),
    ("denied", 5),
    ("timed out", 6),
    ("timeout", 4),
    ("err!", 5),
    ("error", 4),
    ("expected", 3),
    ("unexpected", 4),
    ("invalid", 4),
    ("missing", 3),
    ("refused", 5),
];

/// Each of these marks with the bit of its worth.
static TROUBLE_FINDER: LazyLock<Option<Words>> = LazyLock::new(|| {
    let marks: Vec<(&str, u32)> = TROUBLE.iter().map(|(mark, worth)| (*mark, 1 << worth)).collect();
    Words::new(&marks, true)
});

/// Marks of the line that sums a check up.
const VERDICTS: &[&str] =
    &["passed", "failed", "test result", "tests:", "warning", "finished", " ok", "success", "built in"];

static VERDICT_FINDER: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(VERDICTS).ok());

/// Arguments of a tool that runs commands, under the names in use.
#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow, alias = "cmd", alias = "script", alias = "input", alias = "CommandLine")]
    command: Option<&'a RawValue>,
}

/// The command in the arguments of a shell tool.
pub(super) fn command_of(arguments: &str) -> Option<Cow<'_, str>> {
    if !arguments.trim_start().starts_with('{') {
        return Some(Cow::Borrowed(arguments)).filter(|text| !text.trim().is_empty());
    }
    let command = serde_json::from_str::<Arguments<'_>>(arguments).ok()?.command?.get();
    if command.starts_with('"') {
        return fileops::decoded(command);
    }
    let Ok(Value::Array(words)) = serde_json::from_str(command) else { return None };
    match words.iter().map(Value::as_str).collect::<Option<Vec<&str>>>()?.as_slice() {
        [shell, flag, script, ..] if shell.ends_with("sh") && flag.starts_with('-') => {
            Some(Cow::Owned((*script).to_owned()))
        }
        words => Some(Cow::Owned(words.join(" "))),
    }
}

/// A command without what does not matter for telling it from others: the way to its directory, redirections, pagers.
pub(super) fn short_command(command: &str) -> String {
    let first =
        command.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or("");
    let segments = || {
        pieces(first, "&&")
            .flat_map(|part| pieces(part, "; "))
            .map(|part| pieces(part, " | ").next().unwrap_or(part).trim())
            .filter(|part| !part.is_empty())
    };
    let is_telling = segments().any(|part| !is_housekeeping(part));
    let told = segments().filter(|part| !is_telling || !is_housekeeping(part));
    let mut kept = String::with_capacity(first.len());
    for (at, part) in told.enumerate() {
        let mut keep = |words: &str| {
            if !kept.is_empty() {
                kept.push(' ');
            }
            kept.push_str(words);
        };
        if at > 0 {
            keep("&&");
        }
        // Most parts redirect nothing and have single blanks.
        if !part.contains('>') && lines::is_clean(part) {
            keep(part);
            continue;
        }
        for word in words::chunks(part).map(|chunk| chunk.text) {
            if !matches!(word, "2>&1" | ">/dev/null" | "2>/dev/null") {
                keep(word);
            }
        }
    }
    let changed = match lines::clean_cut(&kept, COMMAND) {
        Cow::Borrowed(all) if all.len() == kept.len() => None,
        short => Some(short.into_owned()),
    };
    let short = changed.unwrap_or(kept);
    if short.contains('`') { short.replace('`', "'") } else { short }
}

/// Key of a short command: its last part that checks something, so that `fmt && lint` and `lint` are one.
pub(super) fn command_key(short: &str) -> u64 {
    let parts = || pieces(short, "&&").map(str::trim);
    let alone = parts().nth(1).is_none();
    let checking = || parts().filter(|part| is_check(part)).last();
    let part = if alone { None } else { checking() };
    words::key(part.or_else(|| parts().last()).unwrap_or(short)) ^ 0x5eed
}

/// What stands between two `mark`s of ASCII: `split`, without the search that it prepares for each text.
fn pieces<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = &'a str> {
    // Blanks are many.
    let (place, telling) = mark.bytes().enumerate().find(|(_, byte)| *byte != b' ').unwrap_or_default();
    let mut start = Some(0);
    std::iter::from_fn(move || {
        let from = start?;
        let rest = text.as_bytes().get(from..)?;
        let marks = |at: &usize| rest.get(*at..).is_some_and(|rest| rest.starts_with(mark.as_bytes()));
        let places = memchr::memchr_iter(telling, rest).filter_map(|at| at.checked_sub(place));
        let end = places.into_iter().find(marks).map(|at| from + at);
        start = end.map(|end| end + mark.len());
        text.get(from..end.unwrap_or(text.len()))
    })
}

/// Parts of a command line that only prepare the rest.
fn is_housekeeping(segment: &str) -> bool {
    let program = segment.split_whitespace().next().unwrap_or("");
    matches!(
        program,
        "cd" | "rm"
            | "mkdir"
            | "chmod"
            | "echo"
            | "sleep"
            | "export"
            | "source"
            | "set"
            | "pushd"
            | "popd"
            | "touch"
            | "kill"
            | "pkill"
            | "true"
    )
}

/// Programs whose arguments are no names of checks.
#[rustfmt::skip]
fn is_printer(name: &str) -> bool {
    matches!(
        name,
        "chmod" | "rm" | "touch" | "cd" | "which" | "ps" | "kill" | "sleep" | "export" | "curl" | "jq" | "tree" | "stat"
            | "file" | "diff" | "cat" | "ls" | "grep" | "rg" | "find" | "sed" | "head" | "tail" | "echo" | "git" | "awk"
            | "wc" | "cp" | "mv" | "mkdir"
    )
}

/// True for commands that check, build or deliver.
fn is_check(command: &str) -> bool {
    let mut at_start = true;
    let mut printer = false;
    for word in words::chunks(command).map(|chunk| chunk.text) {
        if matches!(word, "&&" | "||" | ";" | "|") {
            at_start = true;
            continue;
        }
        if at_start {
            if word.contains('=') || matches!(word, "sudo" | "time" | "env" | "timeout") {
                continue;
            }
            let name = word.rsplit('/').next().unwrap_or(word).trim_end_matches(';');
            printer = is_printer(name);
            at_start = word.ends_with(';');
            if !printer && (name.contains("test") || is_name_of_check(name)) {
                return true;
            }
            continue;
        }
        if !printer
            && !word.starts_with('-')
            && !word.contains(['/', '='])
            && word.trim_end_matches(';').split([':', '_', '-', '.']).any(is_name_of_check)
        {
            return true;
        }
    }
    false
}

/// The items a shell command and its result are worth.
pub(super) fn of_command(command: &str, result: &ToolResult, message: u32, out: &mut Vec<Item>) {
    let short = short_command(command);
    if short.is_empty() {
        return;
    }
    if command.contains("git commit") || command.contains("gh pr create") {
        commits(&result.text, message, out);
    }
    let line = command.lines().next().unwrap_or("");
    let check = is_check(&short) || (line != short && is_check(line));
    let head = if check || result.outcome == Outcome::Failed { trouble(&result.text, check) } else { None };
    // A pipe hides the exit status; the text does not.
    let failed = result.outcome == Outcome::Failed
        || (check && result.exit_code != Some(0) && head.as_ref().is_some_and(|(worth, _)| *worth >= 7))
        || (check && head.as_ref().is_some_and(|(worth, _)| *worth >= 8) && command.contains('|'));
    let key = command_key(&short);
    if failed {
        let exit = result
            .exit_code
            .filter(|code| *code != 0)
            .map(|code| format!(" (exit {code})"))
            .unwrap_or_default();
        let mark = if head.is_some() { ": " } else { "" };
        let head = head.map_or(String::new(), |(_, text)| text);
        let text = ["`", &short, "`", &exit, mark, &head].concat();
        let weight = if check {
            1.2
        } else if mark.is_empty() {
            0.15
        } else {
            0.5
        };
        out.push(Item::read(Kind::Failure, &text, message, weight).keyed(key));
    } else if check {
        let verdict = verdict(&result.text);
        let mark = if verdict.is_some() { ": " } else { "" };
        let text = ["`", &short, "` ok", mark, verdict.as_deref().unwrap_or("")].concat();
        out.push(Item::read(Kind::Check, &text, message, 1.0).keyed(key));
    } else {
        // A command that worked at last clears its failure and says nothing itself.
        let seen = look(&short);
        let text = ["`", &short, "` ok"].concat();
        out.push(Item::new(Kind::Check, &text, message, 0.0, seen).keyed(key));
    }
}

/// A failed call of another tool.
pub(super) fn of_failed_tool(name: &str, result: &ToolResult, message: u32, out: &mut Vec<Item>) {
    if let Some((_, head)) = trouble(&result.text, false).filter(|(worth, _)| *worth >= 6) {
        let text = format!("{}: {head}", lines::clean(name));
        out.push(Item::read(Kind::Failure, &text, message, 0.25));
    }
}

/// Words of a person inside a tool result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said<'a> {
    /// A message to the agent.
    Words(&'a str),
    /// Questions of the agent with their answers.
    Answers(&'a str),
}

/// What stands before answers to questions.
const ANSWERS: &[&str] = &["answered your questions:", "user's answer:", "user answered:"];

/// What stands before a message.
const WORDS: &[&str] =
    &["user said:", "user feedback:", "following feedback:", "user responded:", "<feedback>"];

static SAID_FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().ascii_case_insensitive(true).build(ANSWERS.iter().chain(WORDS)).ok()
});

/// What a person said inside a tool result: a refusal with a reason, or answers to questions of the agent.
pub(super) fn said_by_user(text: &str) -> Option<Said<'_>> {
    let head = lines::head(text, 400);
    if !names_user(head.as_bytes()) {
        return None;
    }
    // A way through somebody's home names a user, too.
    if SAID_FINDER.as_ref().is_some_and(|finder| !finder.is_match(head)) {
        return None;
    }
    let lower = head.to_ascii_lowercase();
    let behind = |mark: &&str| lower.find(*mark).and_then(|at| text.get(at + mark.len()..));
    let filled = |said: &&str| !said.trim().is_empty();
    if let Some(said) = ANSWERS.iter().find_map(behind).filter(filled) {
        return Some(Said::Answers(said.trim()));
    }
    WORDS.iter().find_map(behind).filter(filled).map(|said| Said::Words(said.trim()))
}

/// Does a text hold `user`, in any case? Without a branch for each byte.
fn names_user(text: &[u8]) -> bool {
    let from = |at: usize| text.get(at..).unwrap_or_default().iter();
    // Nothing is left of a letter that is met.
    let less = |byte: &u8, letter: u8| (byte | 0x20) ^ letter;
    let words = from(0).zip(from(1)).zip(from(2).zip(from(3)));
    let rests = words.map(|((u, s), (e, r))| less(u, b'u') | less(s, b's') | less(e, b'e') | less(r, b'r'));
    rests.fold(u8::MAX, u8::min) == 0
}

/// Commits and pull requests named in the output of a command.
fn commits(text: &str, message: u32, out: &mut Vec<Item>) {
    for line in lines::head(text, WINDOW).lines() {
        let line = line.trim();
        if let Some((place, subject)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] "))
            && let Some((branch, hash)) = place.rsplit_once(' ')
            && hash.len() >= 6
            && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            let branch = branch.trim_end_matches(" (root-commit)");
            let text = format!("Committed {hash} on {branch}: {subject}");
            let text = lines::clean(&text);
            out.push(Item::read(Kind::Done, &text, message, 1.3));
        } else if line.starts_with("https://") && line.contains("/pull/") && line.len() < 200 {
            let text = format!("Opened {line}");
            let text = lines::clean(&text);
            out.push(Item::read(Kind::Done, &text, message, 1.5));
        }
    }
}

/// Head and tail of a long text, cut on line boundaries where there are any.
fn ends(text: &str) -> (&str, &str) {
    if text.len() <= 2 * WINDOW {
        return (text, "");
    }
    (lines::head(text, WINDOW), lines::tail(text, WINDOW))
}

/// The line that says best what went wrong, with its worth, and a second one that adds to it.
fn trouble(text: &str, check: bool) -> Option<(u8, String)> {
    let finder = TROUBLE_FINDER.as_ref()?;
    let (head, tail) = ends(text);
    let mut best: Option<(u8, &str)> = None;
    let mut verdict: Option<&str> = None;
    let mut lower = String::new();
    for (line, mut worth) in marked_lines(finder, head).chain(marked_lines(finder, tail)) {
        if line.len() > 2_000 {
            continue;
        }
        if worth == 0 && !(check && is_located(line.trim_start())) {
            continue;
        }
        lower.clear();
        lower.push_str(line.trim_start());
        lower.make_ascii_lowercase();
        // `0 failed`, `no errors`: not trouble. Source lines with line numbers in front: hardly.
        if lower.contains("0 failed") || lower.contains("0 error") || lower.contains("no error") {
            continue;
        }
        if lower.starts_with("error") || lower.starts_with("fatal") || lower.starts_with("e   ") {
            worth += 1;
        }
        if is_located(line.trim_start()) {
            worth += 4;
        }
        if lower.starts_with("warning") || lower.starts_with("//") || lower.starts_with('#') {
            worth = worth.saturating_sub(4);
        }
        if lower.starts_with("traceback") {
            continue;
        }
        if lower.contains(" failed") && lower.bytes().any(|byte| byte.is_ascii_digit()) {
            verdict = Some(line);
        }
        // Of equal lines the first, but the last of Python's, whose error line ends the trace.
        let later = worth >= 8 && lower.contains("error: ") && !lower.starts_with("error");
        if best.is_none_or(|(high, _)| worth > high || (worth == high && later)) {
            best = Some((worth, line));
        }
    }
    let (worth, line) = best?;
    let mut out = lines::clean_cut(line, HEAD).into_owned();
    if let Some(verdict) = verdict.filter(|verdict| *verdict != line) {
        let verdict = lines::clean(verdict.trim_matches(['=', ' ', '-']));
        if verdict.chars().count() <= 90 {
            out.push_str("; ");
            out.push_str(&verdict);
        }
    }
    Some((worth, out))
}

/// The lines of a text, each with the worth of the best mark in it, 0 without one. No mark reaches over a line end, so
/// one search serves all lines.
fn marked_lines<'a>(finder: &Words, text: &'a str) -> impl Iterator<Item = (&'a str, u8)> {
    const LANES: usize = 4;
    let stretches = lanes::placed::<LANES>(text.as_bytes(), finder.longest().saturating_sub(1));
    // The last byte of each mark, and what it is worth.
    let mut marks: Vec<(usize, u32)> = Vec::new();
    finder.walk(stretches.map(|(_, stretch)| stretch), |lane, at, worth| {
        marks.extend(stretches.get(lane).map(|(from, _)| (from + at, worth)));
    });
    marks.sort_unstable();
    let mut marks = marks.into_iter().peekable();
    lines::ended(text).map(move |(end, line)| {
        let mut worth = 0;
        while let Some((_, more)) = marks.next_if(|(at, _)| *at < end) {
            worth |= more;
        }
        (line, worth.checked_ilog2().unwrap_or(0) as u8)
    })
}

/// `src/a.rs:12:3: …`: how compilers and linters begin a complaint.
fn is_located(line: &str) -> bool {
    let Some(colon) = memchr::memchr(b':', line.as_bytes()) else { return false };
    let behind = line.as_bytes().get(colon + 1..).unwrap_or_default();
    let digits = behind.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let path = line.get(..colon).unwrap_or("");
    digits > 0
        && behind.get(digits) == Some(&b':')
        && path.contains('.')
        && !path.contains(char::is_whitespace)
}

/// The last line that sums a check up.
fn verdict(text: &str) -> Option<String> {
    let finder = VERDICT_FINDER.as_ref()?;
    let (head, tail) = ends(text);
    let part = if tail.is_empty() { head } else { tail };
    let line = part
        .lines()
        .rev()
        .take(60)
        .filter(|line| line.len() < 300 && line.bytes().any(|byte| byte.is_ascii_digit()))
        .find(|line| finder.is_match(*line))?;
    let line = lines::clean(line.trim_matches(['=', ' ', '-']));
    Some(lines::cut(&line, 110).into_owned()).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_mark_reaches_over_a_line_end() {
        assert!(TROUBLE.iter().all(|(mark, _)| !mark.contains(['\n', '\r'])));
    }

    #[test]
    fn commands_are_read_however_they_are_written() {
        let command = |value: &str| {
            let arguments = format!(r#"{{"timeout": 5, "cmd": {value}, "more": [1]}}"#);
            command_of(&arguments).map(Cow::into_owned)
        };
        assert_eq!(command(r#""ls -l \"a\"""#).as_deref(), Some("ls -l \"a\""));
        assert_eq!(command(r#"["bash", "-lc", "ls -l"]"#).as_deref(), Some("ls -l"));
        assert_eq!(command(r#"["ls", "-l"]"#).as_deref(), Some("ls -l"));
        for other in
            [r#"["ls", 1, "-l"]"#, "[[]]", r#"{"a": {"b": [1, "c"]}}"#, "1", "-1", "1.5", "true", "null"]
        {
            assert_eq!(command(other), None, "{other}");
        }
        assert_eq!(command("[").as_deref(), None);
    }

    proptest! {
        #[test]
        fn pieces_are_those_of_split(text in "(a|&|; | \\| | |é){0,12}") {
            for mark in ["&&", "; ", " | "] {
                prop_assert!(pieces(&text, mark).eq(text.split(mark)));
            }
        }

        #[test]
        fn clean_parts_are_their_words(part in "(a|b |>|\\*|`|\t|é|\u{a0}| ){0,9}") {
            let words: Vec<&str> = words::chunks(&part).map(|chunk| chunk.text).collect();
            prop_assert!(!lines::is_clean(part.trim()) || words.join(" ") == part.trim());
        }

        #[test]
        fn users_are_found_in_any_case(text in "[userUSERU5\u{15}é]{0,40}|[ -~]{0,20}([uU][sS][eE][rR])?[ -~]{0,20}") {
            prop_assert_eq!(names_user(text.as_bytes()), text.to_ascii_lowercase().contains("user"));
        }

        #[test]
        fn places_stand_before_a_complaint(line in "[a-z. é]{0,4}:?[0-9x]{0,2}:?[a-z]{0,2}:?") {
            let pieces: Vec<&str> = line.split(':').collect();
            let located = matches!(pieces.as_slice(), [path, number, _, ..] if path.contains('.')
                && !path.contains(char::is_whitespace)
                && !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit()));
            prop_assert_eq!(is_located(&line), located);
        }

        #[test]
        fn one_search_serves_all_lines(text in "(error(:|\\[| TS)?|FAIL |failed|un|expected|a|é| |\r|\r?\n){0,20}") {
            let finder = TROUBLE_FINDER.as_ref().expect("marks");
            let worth = |line: &str| {
                let line = line.to_ascii_lowercase();
                TROUBLE.iter().filter(|(mark, _)| line.contains(mark)).map(|(_, worth)| *worth).max().unwrap_or(0)
            };
            prop_assert!(marked_lines(finder, &text).eq(text.lines().map(|line| (line, worth(line)))));
        }
    }
}
