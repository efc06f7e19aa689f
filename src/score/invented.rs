//! Invented content: paths, identifiers and quoted user lines in generated text that occur nowhere in the prefix.
//!
//! A token is looked for where it must come from: among the paths of the file ledger (a text may spell a path another
//! way than the log did), else verbatim in the text of the prefix. Answers are kept per session, so the same line or token
//! in a later cycle or another strategy costs a map look-up.

use crate::facts::FactSet;
use crate::texts::Texts;
use crate::transcript::{MessageIdx, Part, Transcript};
use memchr::memmem;
use rustc_hash::FxHashMap;
use std::cell::{Cell, LazyCell, RefCell};
use std::ops::Range;

/// First occurrence of tokens in a session.
#[derive(Debug)]
pub struct Occurrences<'a> {
    transcript: &'a Transcript,
    /// Every end of every ledger path, with the message that first touched it.
    paths: FxHashMap<&'a str, MessageIdx>,
    /// Per message, does it hold a backslash? As far as tokens were looked for.
    backslashes: RefCell<Vec<bool>>,
    /// The lines looked at so far.
    known: RefCell<Known>,
}

/// Lines of generated texts, and what they name.
#[derive(Debug, Default)]
struct Known {
    /// Per line, the numbers of its tokens: where they stand in `of_lines`.
    lines: Texts<Range<usize>>,
    of_lines: Vec<u32>,
    /// Numbers of tokens.
    numbers: Texts<u32>,
    /// By number.
    tokens: Vec<Token>,
}

/// A token of a line.
#[derive(Debug)]
struct Token {
    text: Box<str>,
    /// The message that first touched a file with this end.
    path: Option<MessageIdx>,
    /// What is known of the messages that hold it verbatim; they are looked at where the path does not tell.
    held: Cell<Held>,
}

/// Which messages hold a token, as far as they were looked at.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    /// The first of those that were found.
    by: Option<usize>,
    /// So many messages at the start do not.
    not_by: usize,
}

impl<'a> Occurrences<'a> {
    /// Prepares look-ups.
    pub fn new(transcript: &'a Transcript, facts: &'a FactSet) -> Self {
        let mut paths: FxHashMap<&'a str, MessageIdx> = FxHashMap::default();
        for fact in facts.facts.iter().filter(|fact| fact.class.is_file()) {
            let mut rest = fact.value.as_str();
            loop {
                let first = paths.entry(rest).or_insert(fact.birth);
                *first = (*first).min(fact.birth);
                match rest.split_once('/') {
                    Some((_, end)) if !end.is_empty() => rest = end,
                    _ => break,
                }
            }
        }
        Self { transcript, paths, backslashes: RefCell::default(), known: RefCell::default() }
    }

    /// How many distinct tokens in the lines of a generated text are invented.
    pub fn invented(&self, lines: &[&str], prefix_end: MessageIdx) -> u64 {
        self.unknown(lines.iter().copied(), prefix_end, |unknown| unknown.len() as u64)
    }

    /// These tokens of a text, sorted.
    pub fn items(&self, text: &str, prefix_end: MessageIdx) -> Vec<String> {
        self.unknown(text.lines(), prefix_end, |unknown| {
            let mut items: Vec<String> = unknown.iter().map(|token| token.text.to_string()).collect();
            items.sort_unstable();
            items
        })
    }

    /// The distinct tokens of lines that stand nowhere before `prefix_end`.
    fn unknown<'t, R>(
        &self,
        text: impl Iterator<Item = &'t str>,
        prefix_end: MessageIdx,
        take: impl FnOnce(&[&Token]) -> R,
    ) -> R {
        let Known { lines, of_lines, numbers, tokens } = &mut *self.known.borrow_mut();
        let mut candidates: Vec<&str> = Vec::new();
        let mut unknown: Vec<u32> = Vec::new();
        for line in text {
            let of_line = lines.get_or_insert_with(line, || {
                let start = of_lines.len();
                take_candidates(line, &mut candidates);
                of_lines.extend(self.tokens(candidates.drain(..), numbers, tokens));
                start..of_lines.len()
            });
            unknown.extend(of_lines.get(of_line.clone()).into_iter().flatten().filter(|number| {
                tokens.get(**number as usize).is_some_and(|token| !self.occurs(token, prefix_end))
            }));
        }
        unknown.sort_unstable();
        unknown.dedup();
        let unknown: Vec<&Token> = unknown.iter().filter_map(|number| tokens.get(*number as usize)).collect();
        take(&unknown)
    }

    /// The numbers of tokens that may be unknown.
    fn tokens<'t>(
        &self,
        candidates: impl Iterator<Item = &'t str>,
        numbers: &mut Texts<u32>,
        tokens: &mut Vec<Token>,
    ) -> impl Iterator<Item = u32> {
        // Harnesses tell where the log itself lies.
        let own = |token: &str| !self.transcript.id.is_empty() && bare(token).contains(&self.transcript.id);
        candidates.filter(move |token| !own(token)).map(|token| {
            *numbers.get_or_insert_with(token, || {
                let path = self.paths.get(bare(token)).copied();
                tokens.push(Token { text: token.into(), path, held: Cell::default() });
                tokens.len() as u32 - 1
            })
        })
    }

    fn occurs(&self, token: &Token, prefix_end: MessageIdx) -> bool {
        if token.path.is_some_and(|first| first < prefix_end) {
            return true;
        }
        let end = prefix_end.get().min(self.transcript.messages.len());
        let Held { by, not_by } = token.held.get();
        if by.is_some_and(|by| by < end) {
            return true;
        }
        if not_by >= end {
            return false;
        }
        let found = self.search(bare(&token.text), not_by..end);
        token.held.set(if found.is_some() { Held { by: found, not_by } } else { Held { by, not_by: end } });
        found.is_some()
    }

    /// The last of these messages that holds a token verbatim: what a summary names new stands in what it is made of.
    fn search(&self, token: &str, messages: Range<usize>) -> Option<usize> {
        let plain = memmem::Finder::new(token.as_bytes());
        // A Windows path may stand with single or, inside JSON, doubled backslashes.
        let windows = LazyCell::new(|| {
            ["\\", "\\\\"].map(|mark| memmem::Finder::new(&token.replace('/', mark)).into_owned())
        });
        let is_path = token.contains('/');
        let mut backslashes = self.backslashes.borrow_mut();
        messages.rev().find(|at| {
            let backslash = is_path && has_backslash(&mut backslashes, self.transcript, *at);
            let holds = |text: &str| {
                let text = text.as_bytes();
                plain.find(text).is_some()
                    || backslash && windows.iter().any(|form| form.find(text).is_some())
            };
            self.transcript
                .messages
                .get(*at)
                .is_some_and(|message| message.parts.iter().flat_map(texts).any(holds))
        })
    }
}

/// Does a message hold a backslash? `known` tells it of the first messages, as many as were asked for.
fn has_backslash(known: &mut Vec<bool>, transcript: &Transcript, at: usize) -> bool {
    let holds = |text: &str| memchr::memchr(b'\\', text.as_bytes()).is_some();
    let unknown = transcript.messages.iter().take(at + 1).skip(known.len());
    known.extend(unknown.map(|message| message.parts.iter().flat_map(texts).any(holds)));
    known.get(at).copied().unwrap_or_default()
}

/// A path without its way from here.
pub(super) fn bare(mut token: &str) -> &str {
    while let Some(rest) = token.strip_prefix("./") {
        token = rest;
    }
    token
}

/// Texts of a part.
fn texts(part: &Part) -> [&str; 2] {
    match part {
        Part::Text(text) => [&text.text, ""],
        Part::Thinking(text) => [text, ""],
        Part::Call(call) => [&call.arguments, &call.name],
        Part::Result(result) => [&result.text, ""],
        Part::Image { .. } | Part::Opaque { .. } => ["", ""],
    }
}

/// Classes of bytes, as bits. Those between tokens: white space, quotes, brackets, list marks, and all that is no ASCII.
const SEPARATES: u8 = 1;
const SLASH: u8 = 1 << 1;
/// May stand in a hexadecimal identifier, or behind one.
const HEX: u8 = 1 << 2;
const OTHER: u8 = 1 << 3;

const CLASS: [u8; 256] = {
    let mut table = [OTHER; 256];
    let mut wide = 0x80;
    while wide < table.len() {
        table[wide] = SEPARATES;
        wide += 1;
    }
    let mut at = 0;
    let hex = b"0123456789abcdefABCDEF-.:!?";
    while at < hex.len() {
        table[hex[at] as usize] = HEX;
        at += 1;
    }
    let marks = b" \t\n\r\x0b\x0c\"'`<>()[]{},;|*";
    at = 0;
    while at < marks.len() {
        table[marks[at] as usize] = SEPARATES;
        at += 1;
    }
    table[b'/' as usize] = SLASH;
    table
};

/// Adds the tokens of a line that claim to name something: paths, URLs, hexadecimal identifiers, quoted user lines.
fn take_candidates<'t>(line: &'t str, out: &mut impl Extend<&'t str>) {
    let line = line.trim();
    if let Some(quoted) = line.strip_prefix("> ") {
        let quoted = quoted.trim().trim_end_matches('…');
        out.extend(Some(quoted).filter(|quoted| quoted.chars().count() >= 8));
        return;
    }
    // Paths and URLs have a slash, hexadecimal numbers a digit. Looked for without a branch for each byte.
    let telling = |byte: u8| u8::from(byte == b'/') | u8::from(byte.is_ascii_digit());
    if line.bytes().fold(0, |any, byte| any | telling(byte)) == 0 {
        return;
    }
    let told = tokens(line).filter_map(|(token, classes)| {
        // What names something has a slash or is a hexadecimal number.
        let hex = classes & (SLASH | OTHER) == 0 && token.len() >= HEX_DIGITS;
        if classes & SLASH == 0 && !hex {
            return None;
        }
        let token = token.trim_end_matches(['.', ':', '!', '?']);
        let url = || memmem::find(token.as_bytes(), b"://").is_some();
        (is_path(token) || is_hex(token) || url()).then_some(token)
    });
    out.extend(told);
}

/// The pieces of a line between bytes that separate, each with the classes of its bytes.
fn tokens(line: &str) -> impl Iterator<Item = (&str, u8)> {
    let bytes = line.as_bytes();
    let class = move |at: usize| bytes.get(at).map(|byte| CLASS[*byte as usize]);
    let mut at = 0;
    std::iter::from_fn(move || {
        while class(at)? == SEPARATES {
            at += 1;
        }
        let from = at;
        let mut classes = 0;
        while let Some(class) = class(at).filter(|class| *class != SEPARATES) {
            classes |= class;
            at += 1;
        }
        Some((line.get(from..at)?, classes))
    })
}

/// A token that can only be a path: it has a directory and a file name with an extension, or begins at a root.
fn is_path(token: &str) -> bool {
    let Some((directory, name)) = token.rsplit_once('/') else { return false };
    if name.is_empty() || memmem::find(token.as_bytes(), b"://").is_some() {
        return false;
    }
    let extension = name.rsplit_once('.').is_some_and(|(stem, end)| {
        !stem.is_empty()
            && (1..=5).contains(&end.len())
            && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && end.bytes().any(|byte| byte.is_ascii_alphabetic())
    });
    extension || (token.starts_with('/') && directory.len() > 1 && name.len() > 1)
}

/// Least digits of a hexadecimal identifier.
const HEX_DIGITS: usize = 8;

/// Eight or more hexadecimal digits with a letter and a digit (commit, UUID).
fn is_hex(token: &str) -> bool {
    token.len() >= HEX_DIGITS
        && token.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        && token.bytes().any(|byte| byte.is_ascii_digit())
        && token.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !token.contains("--")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_candidates(line: &str, expect: &[&str]) {
        let mut found = Vec::new();
        take_candidates(line, &mut found);
        assert_eq!(found, expect, "{line}");
    }

    #[test]
    fn only_tokens_that_name_something_are_candidates() {
        check_candidates("Edited `src/a.rs`, and/or more; see /etc/hosts.", &["src/a.rs", "/etc/hosts"]);
        check_candidates("commit 3fa8c61d, 12345678, deadbeef, v1/v2, TCP/IP", &["3fa8c61d"]);
        check_candidates("see https://example.com/x?y=1.", &["https://example.com/x?y=1"]);
        check_candidates("> never touch the generated files", &["never touch the generated files"]);
        check_candidates("</read-files>", &[]);
        check_candidates("at 12ab34cd-0001-a2b3: see 12ab34cg, abc-123", &["12ab34cd-0001-a2b3"]);
        check_candidates("3/4 done, 10:30, e.g. this", &[]);
    }
}
