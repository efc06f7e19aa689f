//! Errors: class and head of message.

mod forms;
mod prose;

use super::{CallEffect, LazyLock, Regex, lanes};
use crate::fileops::OpKind;
use forms::{
    BRACKETED, CODED, DENIED, ERRNO, EXAMPLES, EXCEPTION, FAILING, GO, GO_PANIC, HINTS, LINT, LISTED,
    MISSING, NATIVE, NESTED, NPM, PANIC, PLAIN, PROGRAM, PYTEST, RAISED, REASON, REFUSED, RUNNERS, TEST,
    TOOLS,
};
pub(in crate::facts) use prose::in_prose;
use regex::Captures;
use std::cell::LazyCell;

/// An error in text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::facts) struct Found {
    /// `class: head`, or the name of a failing test.
    pub(in crate::facts) value: String,
    /// Other surface forms that name it as well.
    pub(in crate::facts) other: Vec<String>,
    /// The class alone, where it says less than the whole.
    pub(in crate::facts) label: Option<String>,
    /// It is the name of a failing test.
    pub(in crate::facts) test: bool,
}

/// Longest head of a message, in characters.
const HEAD_CHARS: usize = 100;

/// The groups of a pattern that matches a line. Most do not, and whether one does is told faster than its groups.
fn captures<'l>(rule: &LazyLock<Option<Regex>>, line: &'l str) -> Option<Captures<'l>> {
    rule.as_ref().filter(|rule| rule.is_match(line))?.captures(line)
}

/// The same, unless a look at the line tells that it cannot match: what a pattern needs is found faster than it.
fn captures_if<'l>(may: bool, rule: &LazyLock<Option<Regex>>, line: &'l str) -> Option<Captures<'l>> {
    if may { captures(rule, line) } else { None }
}

/// What a line says from a group on. Where a pattern takes the rest of a line whatever that is, it ends with what shows
/// that there is one: the groups of a short match are told sooner.
fn from_group<'l>(found: &Captures<'_>, group: usize, line: &'l str) -> Option<&'l str> {
    line.get(found.get(group)?.start()..)?.split('\n').next()
}

/// How [`PYTEST`] begins.
const SHORT_FAILED: &str = "FAILED ";

fn holds_any(line: &str, marks: &[&str]) -> bool {
    marks.iter().any(|mark| line.contains(mark))
}

fn begins_with_any(line: &str, marks: &[&str]) -> bool {
    let Some(first) = line.as_bytes().first() else { return false };
    // Most differ in the first byte, which is told faster than by a call.
    marks.iter().any(|mark| mark.as_bytes().first() == Some(first) && line.starts_with(mark))
}

/// Lines that only count or repeat other errors.
fn is_total(message: &str) -> bool {
    let lower = message.to_lowercase();
    [
        "aborting due to",
        "could not compile",
        "test failed",
        "previous error",
        "recipe for target",
        "process completed",
        "for more information",
        "some tests failed",
        "run with `rust_backtrace",
        "build failed",
        "compilation failed",
        "exit code",
        "exited with",
        "exit status",
        "test run failed",
        "errors generated",
        "errors were emitted",
        "please commit",
        "test result:",
        ": *** [",
        "] error ",
    ]
    .iter()
    .any(|total| lower.contains(total))
        // It names what failed before the code.
        && !lower.contains("did not complete successfully")
        || lower.starts_with("found ") && (lower.ends_with(" error") || lower.ends_with(" errors"))
}

/// Programs that show files, listings, history: what they print is not theirs.
const SHOWS: &[&str] = &[
    "cat", "head", "tail", "sed", "awk", "grep", "rg", "ag", "ack", "egrep", "fgrep", "ls", "find", "fd",
    "tree", "nl", "bat", "less", "more", "wc", "diff", "echo", "printf", "pwd", "jq", "sort", "uniq", "cut",
    "tr", "xxd", "hexdump", "strings", "file", "stat", "which", "cd", "export", "mkdir", "sleep", "date",
    "xargs", "true", "column", "tee",
];

/// Does a script only show content? Then errors in its output are text of files.
pub(in crate::facts) fn only_shows(script: &str, effect: &CallEffect) -> bool {
    if effect.ops.iter().any(|op| matches!(op.kind, OpKind::Delete | OpKind::Rename { .. })) {
        return false;
    }
    script.split(['|', ';', '\n', '&']).map(str::trim).filter(|part| !part.is_empty()).all(|part| {
        let mut words = part.split_whitespace();
        let first = words.next().unwrap_or("");
        let second = words.find(|word| !word.starts_with('-')).unwrap_or("");
        match first {
            "git" => matches!(
                second,
                "log" | "show" | "diff" | "blame" | "grep" | "status" | "branch" | "ls-files" | "cat-file"
            ),
            "gh" => true,
            "[" | "fi" | "done" | "do" | "then" | "if" | "for" | "1" | ">1" => true,
            _ => {
                SHOWS.contains(&first)
                    || first.starts_with('#')
                    || first.starts_with('>')
                    || first.bytes().all(|b| b.is_ascii_digit())
            }
        }
    })
}

/// Starts of the lines that hold one of the [`HINTS`].
pub(in crate::facts) fn hinted_lines(text: &str) -> Vec<usize> {
    const LANES: usize = 4;
    let mut starts = Vec::new();
    let Some(hints) = HINTS.as_ref() else { return starts };
    let bytes = text.as_bytes();
    let stretches = lanes::placed::<LANES>(bytes, hints.longest().saturating_sub(1));
    // Per stretch, where the line ends that is known to hold one.
    let mut done = [0; LANES];
    hints.walk(stretches.map(|(_, stretch)| stretch), |lane, at, _| {
        let (Some(done), Some((from, _))) = (done.get_mut(lane), stretches.get(lane)) else { return };
        let at = from + at;
        if at < *done {
            return;
        }
        let behind = bytes.get(at..).and_then(|behind| memchr::memchr(b'\n', behind));
        *done = behind.map_or(bytes.len(), |length| at + length);
        let before = bytes.get(..at).and_then(|before| memchr::memrchr(b'\n', before));
        starts.push(before.map_or(0, |at| at + 1));
    });
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// Errors in the output of something that ran.
pub(in crate::facts) fn in_output(text: &str) -> Vec<Found> {
    in_lines(text, &hinted_lines(text))
}

/// The same, where the [`hinted_lines`] are known.
pub(in crate::facts) fn in_lines(text: &str, hinted: &[usize]) -> Vec<Found> {
    let mut out: Vec<Found> = Vec::new();
    for start in hinted.iter().copied() {
        let mut lines = text.get(start..).unwrap_or("").split('\n');
        let line = lines.next().unwrap_or("");
        if line.len() > 2_000 {
            continue;
        }
        let next = lines.next().unwrap_or("");
        let line = strip_ansi(line);
        let line = without_clock(without_box(&line));
        // A traceback of Python ends with the exception, whatever that is called.
        if line.ends_with("Traceback (most recent call last):") {
            if let Some(found) = raised(text.get(start..).unwrap_or(""))
                && !out.contains(&found)
            {
                out.push(found);
            }
            continue;
        }
        // The summary line of pytest names the test and its exception.
        if let Some(found) =
            captures_if(line.starts_with(SHORT_FAILED), &PYTEST, line).and_then(|it| it.get(2))
            && let Some(found) = strong(found.as_str())
            && !out.iter().any(|known| known.value.starts_with(found.value.trim_end_matches("...")))
        {
            out.push(found);
        }
        if let Some(found) = read_line(line.trim_end(), &strip_ansi(next))
            && !out.contains(&found)
        {
            out.push(found);
        }
    }
    out
}

/// The exception at the end of a traceback: its first line that is not set in.
fn raised(traceback: &str) -> Option<Found> {
    const MOST_LINES: usize = 200;
    let line = traceback
        .lines()
        .skip(1)
        .take(MOST_LINES)
        .find(|line| !line.starts_with([' ', '\t']) && !line.is_empty())?;
    let line = line.trim_end();
    let found = captures(&RAISED, line)?;
    classed(found.get(1)?.as_str(), from_group(&found, 2, line)?)
}

/// What a command that failed gives as the reason, where [`in_output`] knows no line of it: linters' codes, else the
/// last line of the form `program: reason`.
pub(in crate::facts) fn reasons(output: &str) -> Vec<Found> {
    let mut out: Vec<Found> = Vec::new();
    let mut last = None;
    for line in output.lines().filter(|line| line.len() <= 500 && !is_header(line)) {
        let line = strip_ansi(line);
        let line = line.trim();
        if let Some(found) = captures(&LINT, line)
            && let (Some(code), Some(message)) = (found.get(1), from_group(&found, 2, line))
        {
            let found = classed(code.as_str(), message);
            out.extend(found.filter(|found| !out.contains(found)));
        } else if let Some(reason) = captures(&REASON, line).and_then(|it| from_group(&it, 1, line)) {
            last = Some(reason.to_owned());
        }
    }
    if out.is_empty() {
        match last {
            Some(reason) if !is_total(&reason) && !declined(&reason) => out.push(whole(&reason)),
            Some(_) => {}
            // A harness that refuses a command says so in a line or two.
            None if output.lines().count() <= 3 => out.extend(refusal(output)),
            None => {}
        }
    }
    out
}

/// The message of a call that the agent's own tool refused or failed.
pub(in crate::facts) fn refusal(text: &str) -> Option<Found> {
    let mut line = text.lines().map(str::trim).find(|line| !line.is_empty() && !is_header(line))?;
    for tag in ["<tool_use_error>", "<error>"] {
        line = line.strip_prefix(tag).unwrap_or(line);
    }
    let line = line.trim_end_matches("</tool_use_error>").trim_end_matches("</error>").trim();
    let line = line.strip_prefix("Error: ").or_else(|| line.strip_prefix("error: ")).unwrap_or(line);
    // What the user declines is no failure; an exit code alone says nothing.
    let says = !line.starts_with(['{', '[', '(']) && !declined(line) && !is_total(line);
    ((6..=500).contains(&line.len()) && says).then(|| whole(line))
}

/// What a harness puts before the output of a command.
fn is_header(line: &str) -> bool {
    ["Chunk ID:", "Wall time:", "Exit code", "Process exited", "Output:", "Original token", "Total output"]
        .iter()
        .any(|start| line.starts_with(start))
}

/// A call that the user did not want is no failure.
pub(in crate::facts) fn declined(line: &str) -> bool {
    line.starts_with("The user ") || line.contains("rejected by user") || line.contains("declined by user")
}

/// Takes out of one output what another of its errors says: the short name of a failing test beside the long one, the
/// panic of a failing test.
pub(in crate::facts) fn merge(found: &mut Vec<Found>) {
    let names: Vec<String> = found.iter().map(|error| error.value.clone()).collect();
    let tests: Vec<String> =
        found.iter().filter(|error| error.test).map(|error| error.value.clone()).collect();
    let failing = !tests.is_empty();
    let mut at = 0;
    found.retain(|error| {
        let place = at;
        at += 1;
        // What a panic of Rust says stands beside its name, too.
        // What the runtime says is no assertion of the test.
        let said = error.value.strip_prefix("panic: ");
        let asserts = said.is_some_and(|said| !RUNTIME.iter().any(|words| said.starts_with(words)));
        if failing && asserts && !error.other.is_empty() {
            return false;
        }
        // "error: -[Suite testName] : failed", and a file beside the names of its tests.
        if failing
            && (!error.test
                && error.value.starts_with("error: ")
                && tests.iter().any(|name| name.len() > 8 && error.value.contains(name.as_str()))
                || error.test && is_test_file(&error.value) && tests.iter().any(|name| name.contains(" › ")))
        {
            return false;
        }
        // `file > suite > name` and `suite > name`, `file::name` and `name`: the longer one stays.
        !names.iter().enumerate().any(|(other, name)| {
            other != place
                && name
                    .strip_suffix(error.value.as_str())
                    .is_some_and(|head| head.ends_with("::") || head.ends_with(" > ") || head.ends_with("› "))
        })
    });
}

/// How panics of Rust's runtime and standard library begin.
const RUNTIME: &[&str] = &[
    "attempt to ",
    "byte index",
    "index out of bounds",
    "called `",
    "slice index",
    "range ",
    "already ",
    "capacity overflow",
    "explicit panic",
    "not implemented",
    "not yet implemented",
    "internal error",
    "misaligned",
    "null pointer",
    "out of ",
    "begin <= end",
    "source slice length",
    "end byte index",
    "start byte index",
    "mid > len",
    "removal index",
];

/// The whole file of some tests.
fn is_test_file(value: &str) -> bool {
    !value.contains([' ', '>']) && [".test.", ".spec."].iter().any(|mark| value.contains(mark))
}

/// An error that is its message.
fn whole(message: &str) -> Found {
    let head = head(message);
    Found { value: head, other: Vec::new(), label: None, test: false }
}

/// Lines of the form `prog: error: message` among the [`hinted_lines`] of a run that failed.
pub(in crate::facts) fn named_lines(output: &str, hinted: &[usize]) -> Vec<Found> {
    hinted
        .iter()
        .filter_map(|start| output.get(*start..)?.lines().next())
        .filter(|line| !line.starts_with("npm "))
        .filter_map(|line| named(strip_ansi(line).trim_end()))
        .collect()
}

/// `prog: error: message` and what the agent's own tools say when they refuse: named as errors wherever they stand alone.
fn named(line: &str) -> Option<Found> {
    if let Some(found) = captures(&REFUSED, line) {
        return Some(whole(found.get(1)?.as_str()));
    }
    let found = captures(&PROGRAM, line)?;
    let message = found.iter().skip(1).flatten().next()?.as_str();
    (!is_total(message) && message.len() >= 12).then(|| whole(message))
}

/// Compiler code or exception, each with its message, anywhere in a line.
fn strong(line: &str) -> Option<Found> {
    if let Some(found) = captures_if(holds_any(line, &["error[", "error "]), &CODED, line) {
        let code = found.get(1).or_else(|| found.get(2))?.as_str();
        return coded(code, from_group(&found, 3, line)?);
    }
    if let Some(found) = captures_if(line.contains(": "), &EXCEPTION, line) {
        let class = found.get(1)?;
        let mut message = from_group(&found, 3, line)?;
        // In a code span it ends with the span.
        if line.get(..class.start()).is_some_and(|before| before.ends_with('`')) {
            message = message.split('`').next().unwrap_or(message);
        }
        let class = class.as_str();
        // Code that mentions one: `raise ValueError: x`, `catch (e: TypeError)`.
        if message.starts_with(['{', '}']) || line.contains("=>") && line.contains('{') {
            return None;
        }
        return classed(class, message);
    }
    None
}

fn coded(code: &str, message: &str) -> Option<Found> {
    let head = head(message);
    if head.is_empty() {
        return None;
    }
    let value = format!("{code}: {head}");
    // rustc writes `error[E0502]: m`, others quote `E0502: m` or the message alone beside the code.
    let other = vec![format!("{code}]: {head}")];
    Some(Found { value, other, label: Some(code.to_owned()), test: false })
}

fn classed(class: &str, message: &str) -> Option<Found> {
    let head = head(message);
    if head.len() < 3 || is_total(message) {
        return None;
    }
    Some(Found {
        value: format!("{class}: {head}"),
        other: Vec::new(),
        label: Some(class.to_owned()),
        test: false,
    })
}

/// How lines that [`TEST`] matches begin, behind blanks.
const TEST_OPENINGS: &[&str] = &["test ", "FAIL", "--- FAIL", "✕", "✗", "×", "not ok ", "ERROR", "●", "____"];

/// An error that stands on a line of output.
fn read_line(line: &str, next: &str) -> Option<Found> {
    let bare = line.trim_start();
    let set_in = bare.len() < line.len();
    let numbered = bare.starts_with(|c: char| c.is_ascii_digit());
    if let Some(found) = captures_if(line.starts_with(SHORT_FAILED), &PYTEST, line) {
        return Some(test(found.get(1)?.as_str()));
    }
    // rspec says below what failed which example that was.
    if let Some((_, name)) = bare.strip_prefix("rspec ./").and_then(|rest| rest.split_once(" # ")) {
        return Some(test(name.trim()));
    }
    if let Some(found) = captures_if(begins_with_any(bare, &["FAIL", "❯", "×"]), &FAILING, line) {
        return Some(test(found.get(1)?.as_str().trim()));
    }
    let formed = LazyCell::new(|| forms::formed(line));
    if let Some(found) = captures_if(formed.runners, &RUNNERS, line) {
        let name = found.iter().skip(1).flatten().next()?.as_str();
        // "2 tests FAILED" counts.
        return name.bytes().any(|byte| byte.is_ascii_alphabetic()).then(|| test(name.trim()));
    }
    let native =
        || holds_any(line, &["Sanitizer: ", "Assertion ", "terminate called", "undefined reference"]);
    if let Some(found) = captures_if(native(), &NATIVE, line) {
        return Some(whole(found.iter().skip(1).flatten().next()?.as_str()));
    }
    if let Some(found) = captures_if(set_in && (numbered || bare.starts_with('❯')), &NESTED, line) {
        let name = found.get(1).or_else(|| found.get(2))?.as_str();
        return Some(test(name.trim()));
    }
    if let Some(found) = captures_if(line.contains(".go:"), &GO, line) {
        let value: String = found.get(1)?.as_str().chars().take(HEAD_CHARS).collect();
        return Some(Found { value, other: Vec::new(), label: None, test: false });
    }
    if let Some(found) = captures_if(line.ends_with(": Permission denied"), &DENIED, line) {
        let value = format!("{}: Permission denied", found.get(1)?.as_str());
        return Some(Found { value, other: Vec::new(), label: None, test: false });
    }
    if let Some(found) = captures_if(begins_with_any(bare, TEST_OPENINGS), &TEST, line) {
        let name = found.iter().skip(1).flatten().next()?.as_str();
        return Some(test(name.trim()));
    }
    if let Some(found) = captures_if(line.starts_with("thread '"), &PANIC, line) {
        let message = found.get(1).map_or(next, |message| message.as_str());
        return classed("panicked", message.trim()).map(|mut found| {
            // A report of it rarely keeps the word of the runtime.
            if let Some(head) = found.value.strip_prefix("panicked: ") {
                let head = head.to_owned();
                found.value = format!("panic: {head}");
                found.other = vec![head];
            }
            found.label = None;
            found
        });
    }
    if let Some(found) = captures_if(line.starts_with("panic: "), &GO_PANIC, line) {
        return classed("panic", found.get(1)?.as_str()).map(|found| Found { label: None, ..found });
    }
    let raised = line.strip_prefix("E  ").map(str::trim_start);
    if let Some(found) = strong(raised.unwrap_or(line)) {
        return Some(found);
    }
    // Pytest marks what was raised, whatever its class is called.
    if let Some(raised) = raised.filter(|it| it.contains('.'))
        && let Some(found) = captures(&RAISED, raised)
    {
        let class = found.get(1)?.as_str();
        return class.contains('.').then(|| classed(class, from_group(&found, 2, raised)?)).flatten();
    }
    if let Some(found) = captures_if(set_in && numbered, &LISTED, line) {
        return Some(whole(found.get(1)?.as_str()));
    }
    if let Some(found) = captures_if(line.starts_with("npm "), &NPM, line) {
        let code = found.get(1)?.as_str();
        return Some(Found {
            value: format!("npm {code}"),
            other: vec![format!("code {code}"), code.to_owned()],
            label: None,
            test: false,
        });
    }
    if let Some(found) = captures_if(line.contains("not found"), &MISSING, line) {
        let name = found.iter().skip(1).flatten().next()?.as_str().trim_end_matches(':');
        return Some(Found {
            value: format!("{name}: command not found"),
            other: vec![format!("command not found: {name}"), format!("{name} not found")],
            label: None,
            test: false,
        });
    }
    if let Some(found) = captures_if(bare.starts_with("** (") || line.contains(".rb:"), &BRACKETED, line) {
        let class = found.get(1).or_else(|| found.get(4))?.as_str();
        return classed(class, found.get(2).or_else(|| found.get(3))?.as_str());
    }
    if let Some(found) = captures_if(formed.examples, &EXAMPLES, line) {
        let name = found.iter().skip(1).flatten().next()?.as_str().trim();
        let suite = ["Console", "Test suite failed", "Cannot log"].iter().any(|it| name.starts_with(it));
        return (!suite).then(|| test(name));
    }
    if let Some(found) = captures_if(formed.tools, &TOOLS, line) {
        let message = found.iter().skip(1).flatten().next()?.as_str();
        return (!is_total(message)).then(|| whole(message));
    }
    // CMake and GHC say on the next line what it is.
    let told = line.starts_with("CMake Error at ") && line.ends_with(':')
        || line.ends_with(": error:")
        || line.contains(": error: [GHC-");
    if told && next.trim().len() >= 6 {
        return Some(whole(next.trim().trim_start_matches('•').trim_start()));
    }
    if let Some(found) = captures_if(forms::may_be_errno(line), &ERRNO, line) {
        return classed(found.get(1)?.as_str(), from_group(&found, 2, line)?);
    }
    if let Some(found) = captures_if(formed.plain, &PLAIN, line) {
        let message = from_group(&found, 2, line)?;
        if is_total(message) {
            return None;
        }
        let head = head(message);
        if head.len() < 6 {
            return None;
        }
        let class = found.get(1)?.as_str();
        // `ERROR` and `Error` are one class, `Error from server (NotFound)` is one of its own.
        let class = if class.contains(['(', '"']) { class.to_owned() } else { class.to_lowercase() };
        // The class of these is only the word "error": the message alone names it.
        return Some(Found {
            value: format!("{class}: {head}"),
            other: vec![head],
            label: None,
            test: false,
        });
    }
    (line.contains("Segmentation fault")).then(|| Found {
        value: "Segmentation fault".to_owned(),
        other: vec!["segmentation fault".to_owned(), "segfault".to_owned(), "SIGSEGV".to_owned()],
        label: None,
        test: false,
    })
}

/// A failing test: its full id, and its own name where that is telling enough.
fn test(id: &str) -> Found {
    let name = id.rsplit("::").next().unwrap_or(id);
    let name = name.split('[').next().unwrap_or(name);
    let other =
        if name != id && name.len() >= 8 && name.contains('_') { vec![name.to_owned()] } else { Vec::new() };
    Found { value: id.to_owned(), other, label: None, test: true }
}

/// Head of a message: its first line up to the end of the first sentence, at most 100 characters, cut at a word.
fn head(message: &str) -> String {
    let message = message.trim().trim_end_matches(['`', '*', '"']);
    let mut end = message.len();
    for stop in [". ", "; ", " (see ", " at /", " (file:"] {
        if let Some(at) = message.find(stop)
            && at > 10
            && message.get(..at).is_some_and(balanced)
        {
            end = end.min(at);
        }
    }
    let head = message.get(..end).unwrap_or(message);
    let mut cut = head.len();
    if let Some((limit, _)) = head.char_indices().nth(HEAD_CHARS) {
        cut = head.get(..limit).and_then(|short| short.rfind(' ')).unwrap_or(limit);
    }
    let head = head.get(..cut).unwrap_or(head).trim_end_matches(['.', ',', ':', ' ', ';']);
    // The closing mark of a code span that opened before the message.
    let head = if head.matches('`').count() % 2 == 1 { head.strip_suffix('`').unwrap_or(head) } else { head };
    head.to_owned()
}

/// No brace or double quote is open: a stop after it ends the sentence, not a piece of quoted code.
fn balanced(text: &str) -> bool {
    text.matches('{').count() == text.matches('}').count() && text.matches('"').count().is_multiple_of(2)
}

/// A line without the step and seconds that a builder puts before it: `#12 0.412 /bin/sh: ...`.
fn without_clock(line: &str) -> &str {
    let step = line.strip_prefix('#').map_or(line, |rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(' ').unwrap_or(line)
    });
    let seconds = step.trim_start_matches(|c: char| c.is_ascii_digit());
    match seconds.strip_prefix('.').map(|rest| (rest, rest.trim_start_matches(|c: char| c.is_ascii_digit())))
    {
        Some((all, rest)) if rest.len() < all.len() && seconds.len() < step.len() => {
            rest.strip_prefix(' ').unwrap_or(line)
        }
        _ => line,
    }
}

/// A line without the frame that some programs draw on the left of what they report.
fn without_box(line: &str) -> &str {
    match line.strip_prefix(['│', '┃']) {
        Some(rest) => rest.trim_start(),
        None => line,
    }
}

/// A text without terminal colour sequences.
pub(in crate::facts) fn strip_ansi(line: &str) -> std::borrow::Cow<'_, str> {
    if !line.contains('\u{1b}') {
        return line.into();
    }
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            if chars.peek() == Some(&'[') {
                chars.next();
                while chars.next().is_some_and(|c| !c.is_ascii_alphabetic()) {}
            }
        } else {
            out.push(c);
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::super::super::Author;
    use super::super::samples::samples;
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = in_output(text).into_iter().map(|found| found.value).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn tools_say_what_failed_in_ways_of_their_own() {
        check(
            "Error from server (NotFound): deployments.apps \"x\" not found",
            &["Error from server (NotFound): deployments.apps \"x\" not found"],
        );
        check("ERROR:  column \"sku\" already exists", &["error: column \"sku\" already exists"]);
        check(
            "  12:7  error  'count' is assigned a value but never used  no-unused-vars",
            &["'count' is assigned a value but never used"],
        );
        check("#12 0.412 /bin/sh: pnpm: not found", &["pnpm: command not found"]);
        check("12.5 files per second", &[]);
        check(
            "CONFLICT (content): Merge conflict in src/a.rs",
            &["CONFLICT (content): Merge conflict in src/a.rs"],
        );
        check(
            "psycopg2.errors.UniqueViolation: duplicate key",
            &["psycopg2.errors.UniqueViolation: duplicate key"],
        );
        // Go's panic in a test is not what the test asserts.
        let mut found = in_output("--- FAIL: TestRelay (0.01s)\npanic: send on closed channel");
        merge(&mut found);
        assert!(found.iter().any(|error| error.value == "panic: send on closed channel"), "{found:?}");
    }

    #[test]
    fn output_yields_class_and_head() {
        check(
            "error[E0502]: cannot borrow `x` as mutable\n --> src/a.rs:1:2",
            &["E0502: cannot borrow `x` as mutable"],
        );
        check(
            "src/a.ts(12,5): error TS2345: Argument of type 'a' is bad.",
            &["TS2345: Argument of type 'a' is bad"],
        );
        check(
            "Traceback (most recent call last):\n  File \"a.py\"\nValueError: bad thing 42",
            &["ValueError: bad thing 42"],
        );
        check(
            "thread 'main' panicked at src/a.rs:5:9:\nindex out of bounds: the len is 3",
            &["panic: index out of bounds: the len is 3"],
        );
        check("test store::keeps_order ... FAILED", &["store::keeps_order"]);
        check(
            "FAILED tests/test_a.py::test_x - AssertionError: 1 != 2",
            &["AssertionError: 1 != 2", "tests/test_a.py::test_x"],
        );
        check("--- FAIL: TestParse (0.00s)", &["TestParse"]);
        check("a.c:12:5: error: expected ';' before 'x'", &["error: expected ';' before 'x'"]);
        check("fatal: not a git repository", &["fatal: not a git repository"]);
        check("bash: foo: command not found", &["foo: command not found"]);
        check("[  FAILED  ] TileTest.Nodata (0 ms)", &["TileTest.Nodata"]);
        check("  3 - tile_test (Failed)", &["tile_test"]);
        check("PriceTest > sharesAddUp() FAILED", &["PriceTest > sharesAddUp"]);
        check("a.out: a.c:3: main: Assertion `x > 0' failed.", &["Assertion `x > 0' failed"]);
        check(
            "==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x1",
            &["AddressSanitizer: heap-use-after-free"],
        );
        check("error: found 2 errors", &[]);
        check(
            "a.ts(1,2): error TS2322: Type '{ a: number; b: string }' is bad. See it.",
            &["TS2322: Type '{ a: number; b: string }' is bad"],
        );
        check(
            "Error: ENOENT: no such file or directory, open 'x'",
            &["ENOENT: no such file or directory, open 'x'"],
        );
        check("\u{1b}[31mTypeError: x is not a function\u{1b}[0m", &["TypeError: x is not a function"]);
    }

    #[test]
    fn what_is_pasted_into_prose_is_output() {
        let found = |text: &str| -> Vec<String> {
            in_prose(text, &super::super::fences(text), Author::Agent)
                .into_iter()
                .map(|found| found.value)
                .collect()
        };
        for (text, expected) in [
            ("It stops:\n\n```\nError: bucket \"a\" not found\n```\n", "error: bucket \"a\" not found"),
            ("```\n│ Error: Invalid index value\n│\n```", "error: Invalid index value"),
            ("```console\n$ ls x\nls: x: No such file or directory\n```", "ls: x: No such file or directory"),
            ("```\na.py:3:1: F401 `os` imported but unused\n```", "F401: `os` imported but unused"),
            ("Got this:\n\nERROR:  relation \"t\" is missing\n", "error: relation \"t\" is missing"),
            ("- ninja: error: 'a.o', needed by 'b', missing", "error: 'a.o', needed by 'b', missing"),
            (
                "The edit failed: `String to replace not found in file`.",
                "String to replace not found in file",
            ),
            ("```\n--- FAIL: TestLease (0.01s)\n```", "TestLease"),
            ("```\nrspec ./spec/a_spec.rb:7 # Cart adds up\n```", "Cart adds up"),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
        for text in [
            "```yaml\nerror: page not found\n```",
            "```python\nraise Gone('x')  # error: gone\n```",
            "```\nname: value\nother: thing\n```",
            "✗ not done yet",
            "No error: all is well",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn tools_have_forms_of_their_own() {
        for (line, expected) in [
            ("e: file:///a/B.kt:3:5 Unresolved reference: x", "Unresolved reference: x"),
            (
                "ERROR 1045 (28000): Access denied for user 'a'",
                "ERROR 1045 (28000): Access denied for user 'a'",
            ),
            ("curl: (7) Failed to connect to h port 80", "curl: (7) Failed to connect to h port 80"),
            (
                " ! [rejected]        main -> main (fetch first)",
                "[rejected]        main -> main (fetch first)",
            ),
            ("** (ArgumentError) no such key", "ArgumentError: no such key"),
            ("a.rb:3:in `b': undefined method `c' (NoMethodError)", "NoMethodError: undefined method `c'"),
            ("CartTest#test_adds_up [a_test.rb:9]:", "CartTest#test_adds_up"),
            ("std::logic_error: no lease", "std::logic_error: no lease"),
            ("ORA-00942: table or view does not exist", "ORA-00942: table or view does not exist"),
            ("a.c:3:5: runtime error: shift of 9", "runtime error: shift of 9"),
            ("\u{2009}ERR_PNPM_NO_LOCKFILE\u{2009} No lockfile", "ERR_PNPM_NO_LOCKFILE\u{2009} No lockfile"),
            (" ERR_PNPM_NO_LOCKFILE  No lockfile", "ERR_PNPM_NO_LOCKFILE  No lockfile"),
        ] {
            check(line, &[expected]);
        }
        check(
            "Traceback (most recent call last):\n  File \"a.py\", line 3\n    f()\nstore.lease.Expired: lease 7 is over",
            &["store.lease.Expired: lease 7 is over"],
        );
        check(
            "CMake Error at CMakeLists.txt:3 (find_package):\n  Could not find Zlib",
            &["Could not find Zlib"],
        );
    }

    #[test]
    fn hinted_lines_are_all_lines_with_a_hint() {
        const PIECES: &[&str] = &[
            "error", "FAIL", "FAILED", "Err", "or", "ERR!", "× ", "panic:", ") [", "x", " ", "\n", "\r\n",
            "Error",
        ];
        for text in samples(PIECES, 12, 5_000) {
            let found: Vec<&str> = hinted_lines(&text)
                .into_iter()
                .filter_map(|start| text.get(start..)?.split('\n').next())
                .collect();
            let hints = ["error", "FAIL", "ERR!", "× ", "panic:", ") [", "Error"];
            let expected: Vec<&str> =
                text.split('\n').filter(|line| hints.iter().any(|hint| line.contains(hint))).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn totals_and_denials_are_no_errors() {
        check("error: aborting due to 2 previous errors", &[]);
        check("error: could not compile `x` (lib) due to 1 previous error", &[]);
        check("0 errors, 0 failed", &[]);
        check("test result: ok. 5 passed; 0 failed", &[]);
        assert_eq!(in_prose("No errors were found: ValueError: x is gone", &[], Author::Agent), vec![]);
        assert_eq!(in_prose("It fails somewhere with an error", &[], Author::User), vec![]);
    }
}
