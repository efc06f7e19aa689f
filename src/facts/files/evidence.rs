//! What results say about operations that calls alone leave open: which part of a failed script happened, and
//! whether a file that was written for the first time had been there before.
//!
//! Both are read from lines that programs print in a fixed form (`cat: x: No such file or directory`, the hits of a
//! search, the lines of `git status`), never from prose or from the contents of files.

use super::super::Step;
use crate::fileops::{CallEffect, OpKind, ToolKind};
use crate::paths;
use crate::transcript::{MessageIdx, Outcome, ToolResult};
use aho_corasick::{AhoCorasick, MatchKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::LazyLock;

/// For each operation of a call, whether it happened.
///
/// * A tool that failed did nothing; a script that was refused or broken off did nothing.
/// * An operation that the output complains about did not happen, nor did what follows it after `&&`.
/// * Of a script that failed, the last simple command is what failed, unless the output names another culprit;
///   redirections happen before their program runs.
pub(super) fn happened(effect: &CallEffect, result: &ToolResult) -> Vec<bool> {
    let failed = result.outcome == Outcome::Failed;
    if effect.command.is_none() {
        return vec![!failed; effect.ops.len()];
    }
    if failed && result.exit_code.is_none() && never_ran(&result.text) {
        return vec![false; effect.ops.len()];
    }
    let complaints = complaints(&result.text);
    if complaints.is_empty() && !failed {
        return vec![true; effect.ops.len()];
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
    static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(PHRASES).ok());
    const MOST: usize = 64;
    let starts_like_one = |line: &str| {
        let mut words = line.split_whitespace();
        words.next().is_some_and(|word| word.ends_with(':') && word.len() > 1)
    };
    lines_with_colon_word(result)
        .filter(|line| line.len() < 600 && starts_like_one(line))
        .filter(|line| FINDER.as_ref().is_some_and(|phrases| phrases.is_match(line)))
        .take(MOST)
        .collect()
}

/// The lines in which a word may end with a colon, in order: those with a colon before white space or at the end.
fn lines_with_colon_word(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut done = 0;
    memchr::memchr_iter(b':', bytes).filter_map(move |at| {
        let ends_word = bytes.get(at + 1).is_none_or(|next| *next <= b' ' || !next.is_ascii());
        if at < done || !ends_word {
            return None;
        }
        let start = memchr::memrchr(b'\n', bytes.get(..at)?).map_or(0, |before| before + 1);
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
        let mut names: Vec<&str> = wanted.keys().copied().collect();
        names.sort_unstable();
        let mut seen = Self::default();
        let Ok(finder) = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&names) else {
            return seen;
        };
        if names.is_empty() {
            return seen;
        }
        for step in steps {
            let (Some(result), Some(at)) = (step.result, step.result_at) else { continue };
            if !matches!(step.effect.kind, ToolKind::Search | ToolKind::Shell) {
                continue;
            }
            let directory = step.effect.directory.as_deref();
            for found in finder.find_iter(&result.text) {
                let Some(name) = names.get(found.pattern().as_usize()) else { continue };
                let Some(word) = listed(&result.text, found.start(), found.end()) else { continue };
                for path in wanted.get(name).into_iter().flatten() {
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
    let mut next = after.chars();
    let ends = match next.next() {
        None | Some('\n' | '\r') => true,
        Some(':') => next.next().is_some_and(|c| c.is_ascii_digit() || c == ':'),
        Some(' ') => after.trim_start_matches(' ').starts_with("| "),
        _ => false,
    };
    if !ends {
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

    #[test]
    fn lines_whose_first_word_ends_with_a_colon_are_looked_at() {
        for text in
            ["", ":", "a:", "a: b", "a:b\n c:\tx\r\n\nd", "x\ncat: y: z\nw :", "a:\u{3000}b", "é:\r\n:\n: x"]
        {
            let starts = |line: &&str| line.split_whitespace().next().is_some_and(|word| word.ends_with(':'));
            let found: Vec<&str> = lines_with_colon_word(text).filter(starts).collect();
            let expected: Vec<&str> = text.lines().filter(starts).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
