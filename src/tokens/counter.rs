//! Counts of generated text, remembered by line.

use super::Tokenizer;
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

/// Counts texts that share most of their lines: drafts of one summary, and the summaries of one session.
///
/// A pure memo keyed by the text of a line. No piece that the encodings merge crosses the places at which [`lines`]
/// parts a text, so the counts of its lines add up to the count of the whole.
#[derive(Debug)]
pub struct Counter {
    tokenizer: Tokenizer,
    known: Mutex<FxHashMap<Box<str>, u32>>,
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
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut total = 0;
        for line in lines(text) {
            total += u64::from(known.get(line).copied().unwrap_or_else(|| {
                let count = self.tokenizer.count(line) as u32;
                known.insert(line.into(), count);
                count
            }));
        }
        total
    }
}

/// The lines of a text with their ends. A text is parted only before a graphic ASCII character: the patterns of the
/// encodings take line ends together with what stands before them, and with blanks or slashes behind them.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let parts = |byte: &u8| byte.is_ascii_graphic() && *byte != b'/';
    let mut rest = text;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let end = memchr::memchr_iter(b'\n', bytes)
            .map(|at| at + 1)
            .find(|end| bytes.get(*end).is_some_and(parts))
            .unwrap_or(rest.len());
        let (line, behind) = rest.split_at_checked(end)?;
        rest = behind;
        (!line.is_empty()).then_some(line)
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

    proptest! {
        #[test]
        fn counts_are_those_of_the_whole(text in "(?s)([ -~]{0,6}[\r\n]{0,2}){0,8}|([.'/a-z0-9 \u{17f}\t…é\u{a0}]{0,4}\n){0,8}|.{0,40}") {
            check(&text);
        }
    }
}
