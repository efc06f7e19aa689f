//! What results say about operations that calls alone leave open: which part of a failed script happened, and
//! whether a file that was written for the first time had been there before.
//!
//! Both are read from lines that programs print in a fixed form (`cat: x: No such file or directory`, the hits of a
//! search, the lines of `git status`), never from prose or from the contents of files.

use super::super::Step;
use crate::fileops::{CallEffect, OpKind, ToolKind};
use crate::paths;
use crate::scan;
use crate::transcript::{MessageIdx, Outcome, ToolResult};
use aho_corasick::{AhoCorasick, MatchKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::sync::LazyLock;

/// For each operation of a call, whether it happened.
///
/// * A tool that failed did nothing; a script that was refused or broken off did nothing.
/// * An operation that the output complains about did not happen, nor did what follows it after `&&`.
/// * Of a script that failed, the last simple command is what failed, unless the output names another culprit;
///   redirections happen before their program runs.
pub(super) fn happened(effect: &CallEffect, result: &ToolResult) -> SmallVec<[bool; 16]> {
    let failed = result.outcome == Outcome::Failed;
    if effect.command.is_none() {
        return smallvec![!failed; effect.ops.len()];
    }
    if failed && result.exit_code.is_none() && never_ran(&result.text) {
        return smallvec![false; effect.ops.len()];
    }
    let complaints = complaints(&result.text);
    if complaints.is_empty() && !failed {
        return smallvec![true; effect.ops.len()];
    }
    let blamed: Vec<bool> =
        effect.ops.iter().map(|op| complaints.iter().any(|line| names(line, &op.path))).collect();
    let last = effect.steps.max(1) - 1;
    let last_has_culprit = effect.ops.iter().zip(&blamed).any(|(op, blamed)| *blamed && op.step >= last);
    effect
        .ops
        .iter()
        .zip(&blamed)
        .map(|(op, is_blamed)| {
            let stopped = effect.ops.iter().zip(&blamed).any(|(before, blamed)| {
                *blamed && !before.marks.piped && before.step < op.step && op.chain <= before.step
            });
            let failed_here =
                failed && op.step >= last && !last_has_culprit && !op.marks.redirected && !op.marks.piped;
            // `cp a b` that cannot find `a` makes no `b`.
            let sources = || {
                effect
                    .ops
                    .iter()
                    .zip(&blamed)
                    .filter(|(other, _)| other.step == op.step && other.kind == OpKind::Read)
            };
            // What is redirected or piped is written by the shell or by another program.
            let starved = op.kind != OpKind::Read
                && !op.marks.redirected
                && !op.marks.piped
                && sources().next().is_some()
                && sources().all(|(_, blamed)| *blamed);
            !is_blamed && !stopped && !failed_here && !starved
        })
        .collect()
}

/// Does a failed result say that the command never ran or was broken off?
fn never_ran(result: &str) -> bool {
    let head: String = result.trim_start().chars().take(240).collect::<String>().to_lowercase();
    [
        "doesn't want to",
        "does not want to",
        "rejected",
        "declined",
        "refused",
        "denied by",
        "user denied",
        "permission to use",
        "not allowed",
        "not permitted",
        "requires approval",
        "was blocked",
        "cancelled",
        "canceled",
        "aborted",
        "interrupted",
    ]
    .iter()
    .any(|words| head.contains(words))
}

/// Lines with which programs say that they could not do something to a file; bounded.
fn complaints(result: &str) -> Vec<&str> {
    const PHRASES: [&str; 14] = [
        "No such file",
        "no such file",
        "cannot ",
        "can't ",
        "did not match",
        "not a directory",
        "Not a directory",
        "s a directory",
        "ermission denied",
        "not under version control",
        "bad source",
        "failed to ",
        "Read-only file system",
        "not found",
    ];
    // Of this kind, so few phrases are found by vectors.
    static FINDER: LazyLock<Option<AhoCorasick>> =
        LazyLock::new(|| AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(PHRASES).ok());
    const MOST: usize = 64;
    let starts_like_one = |line: &&str| {
        let mut words = line.split_whitespace();
        line.len() < 600 && words.next().is_some_and(|word| word.ends_with(':') && word.len() > 1)
    };
    let Some(finder) = FINDER.as_ref() else { return Vec::new() };
    lines_with(finder, result).filter(starts_like_one).take(MOST).collect()
}

/// The lines that hold one of some phrases, in order. None of the phrases holds a line end.
fn lines_with<'t>(phrases: &AhoCorasick, text: &'t str) -> impl Iterator<Item = &'t str> {
    let mut done = 0;
    phrases.find_iter(text).filter_map(move |found| {
        let at = found.start();
        if at < done {
            return None;
        }
        let start = text.get(..at)?.rfind('\n').map_or(0, |before| before + 1);
        let line = text.get(start..)?.lines().next()?;
        done = start + line.len();
        Some(line)
    })
}

/// Does a line name this path, as a whole, in any spelling that ends like it?
fn names(line: &str, path: &str) -> bool {
    let base = paths::basename(path);
    if !line.contains(base) {
        return false;
    }
    line.split(|c: char| c.is_whitespace() || "'\"`\u{2018}\u{2019},;()".contains(c))
        .map(|word| word.trim_end_matches([':', '.']))
        .any(|word| ends_like(path, word))
}

/// Whether `word` is the path or its end, component by component.
fn ends_like(path: &str, word: &str) -> bool {
    let word = word.trim_start_matches("./");
    let below = word.rsplit("../").next().unwrap_or(word);
    !below.is_empty()
        && path
            .strip_suffix(below)
            .is_some_and(|before| before.is_empty() || before.ends_with('/') && !below.starts_with('/'))
}

/// Where listings first showed the files that the session wrote or removed without having read them.
#[derive(Debug, Default)]
pub(super) struct Seen {
    first: FxHashMap<String, MessageIdx>,
}

impl Seen {
    /// Looks for the paths in question, all at once.
    pub(super) fn in_results(steps: &[Step<'_>]) -> Self {
        let mut wanted: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
        let mut asked: FxHashSet<&str> = FxHashSet::default();
        for op in steps.iter().flat_map(|step| &step.effect.ops) {
            let may_ask =
                matches!(op.kind, OpKind::Write | OpKind::Create) || op.marks.forced || op.marks.appends;
            if asked.insert(&op.path) && may_ask {
                wanted.entry(paths::basename(&op.path)).or_default().push(&op.path);
            }
        }
        let mut seen = Self::default();
        if wanted.is_empty() {
            return seen;
        }
        // Names that hold none of the signs between them stand where those do.
        let is_plain = |name: &&&str| !name.is_empty() && !name.contains(ends_part);
        let (plain, mut others): (Vec<&str>, Vec<&str>) = wanted.keys().partition(is_plain);
        let mut last_bytes = [false; 256];
        for last in plain.iter().filter_map(|name| name.bytes().next_back()) {
            last_bytes[usize::from(last)] = true;
        }
        others.sort_unstable();
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&others).ok();
        let finder = finder.filter(|_| !others.is_empty());
        for step in steps {
            let (Some(result), Some(at)) = (step.result, step.result_at) else { continue };
            if !matches!(step.effect.kind, ToolKind::Search | ToolKind::Shell) {
                continue;
            }
            let text = result.text.as_str();
            let directory = step.effect.directory.as_deref();
            let mut look = |start: usize, end: usize| {
                let Some(paths) = text.get(start..end).and_then(|name| wanted.get(name)) else { return };
                let Some(word) = listed(text, start, end) else { return };
                for path in paths {
                    let is_it = if word.contains('/') {
                        ends_like(path, word)
                    } else {
                        paths::resolve(word, directory) == **path
                    };
                    if is_it {
                        let first = seen.first.entry((*path).to_owned()).or_insert(at);
                        *first = at.min(*first);
                    }
                }
            };
            for end in ends_in_listing(text) {
                let last = end.checked_sub(1).and_then(|last| text.as_bytes().get(last));
                if last.is_some_and(|last| last_bytes[usize::from(*last)])
                    && text.get(end..).is_some_and(ends_name)
                {
                    look(start_of_name(text, end), end);
                }
            }
            for found in finder.iter().flat_map(|finder| finder.find_iter(text)) {
                look(found.start(), found.end());
            }
        }
        seen
    }

    /// Was the path in a listing before the result at `at`?
    pub(super) fn before(&self, path: &str, at: MessageIdx) -> bool {
        self.first.get(path).is_some_and(|first| *first < at)
    }

    /// The same, that result included.
    pub(super) fn until(&self, path: &str, at: MessageIdx) -> bool {
        self.first.get(path).is_some_and(|first| *first <= at)
    }
}

/// Where names may end that [`listed`] takes.
fn ends_in_listing(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let signs = scan::places(bytes, [b'\n', b':', b'|']).chain([bytes.len()]);
    let ends = signs.map(|at| match bytes.get(at) {
        Some(b'|') => text.get(..at).unwrap_or("").trim_end_matches(' ').len(),
        _ => at,
    });
    ends.chain(memchr::memchr_iter(b'\r', bytes))
}

/// What may be a name that ends there: it holds no white space, slash or colon.
fn start_of_name(text: &str, end: usize) -> usize {
    let before = text.get(..end).unwrap_or("");
    let name = before.rsplit(ends_part).next().unwrap_or("");
    end - name.len()
}

/// Stands a character between parts of the paths of a listing?
fn ends_part(c: char) -> bool {
    matches!(c, '/' | ':') || c.is_whitespace()
}

/// May a path have ended before this text, in a line of a listing?
fn ends_name(after: &str) -> bool {
    let mut next = after.chars();
    match next.next() {
        None | Some('\n' | '\r') => true,
        Some(':') => next.next().is_some_and(|c| c.is_ascii_digit() || c == ':'),
        Some(' ') => after.trim_start_matches(' ').starts_with("| "),
        _ => false,
    }
}

/// The whole path around a name, when it opens a line of a listing: a line of `find`, a hit of a search, a line of
/// `git status` (not of a removed file) or of `git diff --stat`.
fn listed(text: &str, start: usize, end: usize) -> Option<&str> {
    const LONGEST: usize = 512;
    let line_start = text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
    if start - line_start > LONGEST {
        return None;
    }
    let before = text.get(line_start..start)?;
    let after = text.get(end..)?;
    if !ends_name(after) {
        return None;
    }
    let (status, has_status) = match before.get(..3) {
        Some(status @ ("?? " | " M " | "M  " | "MM " | "A  " | "AM " | "!! " | "R  " | "RM ")) => {
            (status, true)
        }
        _ => ("", false),
    };
    let begin = before.strip_prefix(status)?.trim_start();
    if begin.contains(char::is_whitespace) || !(begin.is_empty() || begin.ends_with('/')) {
        return None;
    }
    let begin_at = start - begin.len();
    let word = text.get(begin_at..end)?;
    // A bare name in a listing may stand in any directory.
    let is_hit = after.starts_with(':') || after.starts_with(' ');
    (word.contains('/') || has_status || is_hit).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_with_phrases_are_found() {
        let finder = AhoCorasick::new(["ab", "no b"]).expect("an automaton");
        for text in ["", "ab", "x\n", "x ab ab\nno b\r\n\nno\n b\na\nab: no b", "abab\nb\r\nno bab"] {
            let found: Vec<&str> = lines_with(&finder, text).collect();
            let expected: Vec<&str> =
                text.lines().filter(|line| line.contains("ab") || line.contains("no b")).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn names_that_listings_show_are_found(
            text in "(a|b|ab|/| |  |\n|\r\n|:|:1|::|é|\t|\u{3000}|\\?\\? | M |  \\| ){0,20}",
            name in "a|b|ab|aé|M|aa",
        ) {
            let whole = |start: usize| Some((start, listed(&text, start, start + name.len())?));
            let mut found: Vec<(usize, &str)> = ends_in_listing(&text)
                .map(|end| (start_of_name(&text, end), end))
                .filter(|(start, end)| text.get(*start..*end) == Some(name.as_str()))
                .filter_map(|(start, _)| whole(start))
                .collect();
            let expected: Vec<(usize, &str)> =
                text.match_indices(&name).filter_map(|(start, _)| whole(start)).collect();
            found.sort_unstable();
            found.dedup();
            prop_assert_eq!(found, expected);
        }
    }
}
