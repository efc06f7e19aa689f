//! Counts of generated text, remembered by line, and by what lines have in common.

use super::Tokenizer;
use crate::texts::Texts;
use std::sync::{Mutex, PoisonError};

/// Counts texts that share most of their lines: drafts of one summary, and the summaries of one session.
///
/// A pure memo keyed by the text of a line. No piece that the encodings merge crosses the places at which [`lines`]
/// parts a text, so the counts of its lines add up to the count of the whole. The same holds of [`core()`]: a sentence
/// that stands with another mark before it or another stop behind it is not counted anew.
#[derive(Debug)]
pub struct Counter {
    tokenizer: Tokenizer,
    known: Mutex<Counts>,
}

impl Counter {
    /// A counter that knows no line yet.
    pub fn new(tokenizer: Tokenizer) -> Self {
        Self { tokenizer, known: Mutex::default() }
    }

    /// What it counts with, for texts that are not worth remembering.
    pub fn tokenizer(&self) -> Tokenizer {
        self.tokenizer
    }

    /// Tokens of a text: what [`Tokenizer::count`] gives.
    pub fn count(&self, text: &str) -> u64 {
        if self.tokenizer == Tokenizer::Heuristic {
            // Its rounding does not add up, and it costs nothing.
            return self.tokenizer.count(text);
        }
        // The shape that is not counted plainly is none of ASCII, and these texts are short: that is soon told.
        let tokens = |text: &str| {
            if text.is_ascii() { self.tokenizer.count_plain(text) } else { self.tokenizer.count(text) }
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut total = 0;
        for line in lines(text) {
            total += u64::from(remembered(&mut known, line, |known| {
                let Some((before, core, behind)) = core(line) else {
                    return tokens(line) as u32;
                };
                let ends = tokens(before) + tokens(behind);
                ends as u32 + remembered(known, core, |_| tokens(core) as u32)
            }));
        }
        total
    }
}

/// About so many pieces the texts of a short session are made of.
const FEW: usize = 256;

type Counts = Texts<u32>;

/// The count of a piece of text, made when it is asked for the first time.
fn remembered(known: &mut Counts, text: &str, count: impl FnOnce(&mut Counts) -> u32) -> u32 {
    if let Some(count) = known.get(text) {
        return *count;
    }
    let count = count(known);
    if known.is_empty() {
        known.reserve(FEW);
    }
    *known.get_or_insert_with(text, || count)
}

/// A line without its first words and without its last ones, between these. A line is parted only before the blank of a
/// word of ASCII letters, where one of ASCII letters or digits ends: the patterns of the encodings take a single blank
/// together with the letters behind it, and look at nothing before it.
fn core(line: &str) -> Option<(&str, &str, &str)> {
    const SHORTEST: usize = 24;
    if line.len() < SHORTEST * 2 {
        return None;
    }
    let parts = |window: &[u8]| matches!(window, [end, b' ', first] if end.is_ascii_alphanumeric() && first.is_ascii_alphabetic());
    let mut places = line.as_bytes().windows(3);
    let start = places.position(parts)? + 1;
    let end = start + places.rposition(parts)? + 1;
    if end < start + SHORTEST {
        return None;
    }
    let (before, rest) = line.split_at_checked(start)?;
    let (core, behind) = rest.split_at_checked(end - start)?;
    Some((before, core, behind))
}

/// The lines of a text with their ends. A text is parted only before a graphic ASCII character: the patterns of the
/// encodings take line ends together with what stands before them, and with blanks or slashes behind them.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let parts = |byte: u8| byte.is_ascii_graphic() && byte != b'/';
    let bytes = text.as_bytes();
    let mut ends = memchr::memchr_iter(b'\n', bytes).map(|at| at + 1);
    let mut start = 0;
    std::iter::from_fn(move || {
        let end = ends.find(|end| bytes.get(*end).copied().is_some_and(parts)).unwrap_or(text.len());
        let line = text.get(start..end).filter(|line| !line.is_empty())?;
        start = end;
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Tokenizer; 3] = [Tokenizer::O200k, Tokenizer::Cl100k, Tokenizer::Heuristic];

    fn check(text: &str) {
        for tokenizer in ALL {
            let counter = Counter::new(tokenizer);
            for _ in 0..2 {
                assert_eq!(counter.count(text), tokenizer.count(text), "{tokenizer}: {text:?}");
            }
        }
    }

    #[test]
    fn line_ends_between_any_two_characters() {
        let ends = ["\n", "\r\n", "\n\r", "\n\n", " \n", "\n ", "/\n", "\n/", ".\n\n", "'\n", "\n'"];
        for end in ends {
            for before in ' '..='~' {
                for behind in ' '..='~' {
                    check(&format!("a{before}{end}{behind}s"));
                }
            }
        }
    }

    #[test]
    fn words_around_a_core() {
        assert_eq!(
            core("- Asked: port the parser, then the 2 writers, and test (both) of them."),
            Some(("- Asked: port", " the parser, then the 2 writers, and test (both) of", " them."))
        );
        for (before, behind) in [("a", "b"), ("9", "Z"), ("don't", "it's"), ("x_1", "y-2"), ("1234", "a1b2")]
        {
            for stop in ["", ".", "\n", ".\n", " \n", "'s", "/\n"] {
                let line = format!(
                    "- {before} {behind} of the longer lines that such a text may hold {before} {behind}{stop}"
                );
                assert!(core(&line).is_some());
                check(&line);
            }
        }
    }

    proptest! {
        #[test]
        fn counts_with_a_core_are_those_of_the_whole(text in "([-a-zA-Z0-9'.,ſé_\u{a0} ]{0,12}( [a-z]|[0-9a-z] | |\n)){4,16}") {
            check(&text);
        }

        #[test]
        fn counts_are_those_of_the_whole(text in "(?s)([ -~]{0,6}[\r\n]{0,2}){0,8}|([.'/a-z0-9 \u{17f}\t…é\u{a0}]{0,4}\n){0,8}|.{0,40}") {
            check(&text);
        }
    }
}
