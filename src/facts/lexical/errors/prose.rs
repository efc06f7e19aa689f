//! Errors that the user or the agent tells: pasted, quoted or named in a sentence.

use super::super::super::Author;
use super::forms::{LINT, PYTEST, REASON, TELLING};
use super::{
    Found, SHORT_FAILED, captures, captures_if, classed, from_group, hinted_lines, in_output, is_total,
    merge, named, raised, read_line, strip_ansi, strong, test, whole,
};

/// Errors in prose: what is pasted, in a fence or on a line of its own, is read like output; inside a sentence exception
/// and message must be named. `fences` are those of the text.
pub(in crate::facts) fn in_prose(text: &str, fences: &[(usize, usize)], author: Author) -> Vec<Found> {
    let mut out: Vec<Found> = Vec::new();
    let mut push = |found: Found| {
        if !out.contains(&found) {
            out.push(found);
        }
    };
    let fences: Vec<(usize, usize, bool)> = fences
        .iter()
        .map(|(start, end)| (*start, *end, shows_output(text.get(*start..*end).unwrap_or(""))))
        .collect();
    for (start, end, _) in fences.iter().filter(|(_, _, shows)| *shows) {
        pasted(text.get(*start..*end).unwrap_or("")).into_iter().for_each(&mut push);
    }
    for start in hinted_lines(text) {
        let fence = fences.iter().find(|(from, to, _)| (*from..*to).contains(&start));
        if fence.is_some_and(|(_, _, shows)| *shows) {
            continue;
        }
        let mut lines = text.get(start..).unwrap_or("").lines();
        let line = lines.next().unwrap_or("");
        if line.len() > 2_000 {
            continue;
        }
        let next = lines.next().unwrap_or("");
        let bare = line.trim().trim_start_matches(['-', '>', ' ']).trim_start_matches("* ").trim_matches('`');
        let bare = bare
            .strip_prefix("**")
            .filter(|rest| !rest.starts_with('*'))
            .map_or(bare, |rest| rest.trim_end_matches('*'));
        if line.ends_with("Traceback (most recent call last):") {
            raised(text.get(start..).unwrap_or("")).into_iter().for_each(&mut push);
            continue;
        }
        if let Some(found) = captures_if(bare.starts_with(SHORT_FAILED), &PYTEST, bare)
            .and_then(|it| it.get(2))
            .and_then(|it| strong(it.as_str()))
        {
            push(found);
        }
        let own = read_line(line, next).or_else(|| read_line(bare, next)).or_else(|| named(bare));
        let found = match author {
            _ if fence.is_some() && author != Author::User => strong(line),
            Author::User => own.or_else(|| strong(line)),
            // Marks of its own lists are no failing tests.
            _ => own
                .filter(|found| {
                    !found.test || ["FAIL", "rspec ", " › ", "#test_"].iter().any(|mark| line.contains(mark))
                })
                .or_else(|| strong(line)),
        };
        let found = found.or_else(|| {
            spans(line)
                .find_map(|span| read_line(span, "").or_else(|| named(span)).filter(|found| !found.test))
        });
        let found = found
            .or_else(|| fence.is_none().then(|| told_test(line)).flatten())
            .or_else(|| fence.is_none().then(|| quoted(line)).flatten());
        if let Some(found) = found
            && !denies(line)
        {
            push(found);
        }
    }
    out
}

/// "`IslandTest.WakesOnContact` fails": a test that somebody says is failing.
fn told_test(line: &str) -> Option<Found> {
    if !line.contains("` ") && !line.contains("`, red") {
        return None;
    }
    let at = TELLING.iter().filter_map(|telling| line.find(telling)).min()?;
    let before = line.get(..at)?;
    let (told, name) = before.rsplit_once('`')?;
    let supposed = told.to_lowercase();
    let supposed = supposed.trim_end();
    let open = ["if", "when", "until", "once", "wenn", "falls", "bis", "si", "quand", "unless", "that"];
    let named =
        !name.contains([' ', '/', '(']) && name.len() >= 6 && (name.contains("est") || name.contains("spec"));
    (named && !open.iter().any(|word| supposed.ends_with(word)) && !name.ends_with("test"))
        .then(|| test(name))
}

/// What a program said, in quotation marks inside a sentence.
fn quoted(line: &str) -> Option<Found> {
    line.split('"').skip(1).step_by(2).filter(|span| span.len() >= 12 && span.contains(": ")).find_map(named)
}

/// Does a fenced block show what a program printed? One that names a language of programs or data shows content.
fn shows_output(block: &str) -> bool {
    let mark = block.lines().next().unwrap_or("").trim().trim_start_matches(['`', '~']).to_ascii_lowercase();
    matches!(
        mark.split([' ', '{']).next().unwrap_or(""),
        "" | "text"
            | "txt"
            | "console"
            | "log"
            | "output"
            | "sh"
            | "bash"
            | "zsh"
            | "shell"
            | "shell-session"
            | "terminal"
            | "plain"
            | "plaintext"
            | "ansi"
            | "powershell"
            | "pytb"
    )
}

/// Errors in a block of output that somebody pastes. How the run ended is not known, so a reason without the word
/// "error" counts only where its words tell a failure.
fn pasted(block: &str) -> Vec<Found> {
    let mut out = in_output(block);
    for line in block.lines().filter(|line| line.len() <= 500) {
        let line = strip_ansi(line);
        let line = line.trim();
        let lint = captures(&LINT, line)
            .filter(|_| line.contains(": "))
            .and_then(|found| classed(found.get(1)?.as_str(), from_group(&found, 2, line)?));
        let found = lint.or_else(|| named(line));
        let known = |found: &Found| out.iter().any(|other| other.value.contains(&found.value));
        if let Some(found) = found.filter(|found| !known(found)) {
            out.push(found);
        }
    }
    if out.is_empty() {
        out.extend(
            block
                .lines()
                .filter(|line| line.len() <= 500 && FAILURES.iter().any(|words| line.contains(words)))
                .map(str::trim)
                .filter_map(|line| Some(from_group(&captures(&REASON, line)?, 1, line)?.to_owned()))
                .filter(|reason| !is_total(reason))
                .map(|reason| whole(&reason))
                .next(),
        );
    }
    merge(&mut out);
    out
}

/// Words of a reason that tell that something failed.
const FAILURES: &[&str] = &[
    "No such file",
    "annot ",
    "ould not ",
    "nable to ",
    "denied",
    "refused",
    "not found",
    "not permitted",
    "does not exist",
    "doesn't exist",
    "timed out",
    "nvalid ",
    "in use",
    "already exists",
    "unreachable",
    "not recognized",
    "unrecognized",
    "unknown option",
    "illegal option",
    "disk full",
    "No space left",
    "ermission",
    "failed",
];

/// Code spans of a line that are long enough to be a message with its class.
fn spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2).filter(|span| span.len() >= 12 && span.contains(' '))
}

/// "no errors were found", "without errors", "0 errors".
fn denies(line: &str) -> bool {
    let lower = line.to_lowercase();
    [
        "no error",
        "0 error",
        "no failure",
        "without error",
        "zero error",
        "if you see",
        "e.g.",
        "for example",
        "such as",
        "would throw",
        "would raise",
        "should raise",
        "should throw",
        "might throw",
        "would get",
        "would fail with",
    ]
    .iter()
    .any(|words| lower.contains(words))
}
