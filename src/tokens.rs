//! Token counts: exact by default, one count per part, prefix sums over messages.

use crate::transcript::{Message, MessageIdx, Part, PartRef, Transcript};
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::OnceLock;

mod counter;

pub use counter::Counter;

/// Tokens a chat format spends on each message beyond its content: role and delimiters.
pub const MESSAGE_OVERHEAD: u64 = 4;

/// Tokens one image costs; the logs do not hold sizes, so this is a flat rate (4,800 characters at 4 per token, the
/// figure pi uses).
pub const IMAGE_TOKENS: u64 = 1_200;

/// How text is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tokenizer {
    /// `o200k_base`, exact.
    O200k,
    /// `cl100k_base`, exact.
    Cl100k,
    /// One token per four bytes, rounded up. An estimate, never a count.
    Heuristic,
}

impl Tokenizer {
    /// Name as written in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::O200k => "o200k",
            Self::Cl100k => "cl100k",
            Self::Heuristic => "heuristic",
        }
    }

    /// The longest beginning of a text within a budget of tokens, cut between words and marked with `…`; `None` when not even
    /// a word fits.
    pub fn cut(self, text: &str, budget: u64) -> Option<String> {
        if self.count(text) <= budget {
            return Some(text.to_owned()).filter(|text| !text.trim().is_empty());
        }
        let ends: Vec<usize> =
            text.char_indices().filter(|(_, c)| c.is_whitespace()).map(|(at, _)| at).collect();
        let cut = |count: usize| {
            let at = count.checked_sub(1).and_then(|index| ends.get(index)).copied()?;
            let head = text.get(..at)?.trim_end();
            (!head.is_empty()).then(|| format!("{head}…"))
        };
        let (mut low, mut high) = (0, ends.len());
        while low < high {
            let middle = (low + high).div_ceil(2);
            if cut(middle).is_some_and(|text| self.count(&text) <= budget) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        cut(low).filter(|text| self.count(text) <= budget)
    }

    /// Tokens of a text, 0 for an empty one. Special-token spellings (`<|endoftext|>`) are ordinary text.
    ///
    /// Exact counts come from the crate `tiktoken`, which tests prove equal to tiktoken-rs; the one text shape it is
    /// known to miscount goes to tiktoken-rs itself, by the call that cannot panic.
    pub fn count(self, text: &str) -> u64 {
        if self == Self::O200k
            && text.contains(LONG_S_CONTRACTION)
            && let Some(count) = self.count_reference(text)
        {
            return count;
        }
        self.count_plain(text)
    }

    /// The same, of a text that does not hold that shape.
    fn count_plain(self, text: &str) -> u64 {
        static O200K: OnceLock<Option<&'static tiktoken::CoreBpe>> = OnceLock::new();
        static CL100K: OnceLock<Option<&'static tiktoken::CoreBpe>> = OnceLock::new();
        let fast = match self {
            Self::O200k => O200K.get_or_init(|| tiktoken::get_encoding("o200k_base")),
            Self::Cl100k => CL100K.get_or_init(|| tiktoken::get_encoding("cl100k_base")),
            Self::Heuristic => &None,
        };
        match fast {
            Some(bpe) => bpe.count(text) as u64,
            None => (text.len() as u64).div_ceil(4),
        }
    }

    /// The reference count by tiktoken-rs; `None` for the heuristic, and for text its regular expression gives up on
    /// (a million blanks in a row). Slow: the oracle of the tests and the way out for one text shape.
    pub fn count_reference(self, text: &str) -> Option<u64> {
        let bpe = match self {
            Self::O200k => tiktoken_rs::o200k_base_singleton(),
            Self::Cl100k => tiktoken_rs::cl100k_base_singleton(),
            Self::Heuristic => return None,
        };
        let (tokens, _) = bpe.encode(text, &HashSet::new()).ok()?;
        Some(tokens.len() as u64)
    }
}

/// An apostrophe before U+017F (long s), which folds to `'s` in the o200k contraction rule: `tiktoken` 4.1.2 does not
/// fold it.
const LONG_S_CONTRACTION: &str = "'\u{17f}";

impl fmt::Display for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Tokenizer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "o200k" | "o200k_base" => Ok(Self::O200k),
            "cl100k" | "cl100k_base" => Ok(Self::Cl100k),
            "heuristic" => Ok(Self::Heuristic),
            _ => Err(format!("unknown tokenizer `{text}`; use o200k, cl100k or heuristic")),
        }
    }
}

/// Token counts of one session, computed once.
#[derive(Debug, Clone)]
pub struct TokenIndex {
    parts: Vec<u64>,
    first_part: Vec<u32>,
    prefix: Vec<u64>,
}

impl TokenIndex {
    /// Counts every part of a session.
    pub fn new(transcript: &Transcript, tokenizer: Tokenizer) -> Self {
        Self::counted(transcript, |_, part| part_tokens(part, tokenizer))
    }

    /// Counts of a session that differs from the counted one in some parts only, sorted.
    #[must_use]
    pub fn recounted(&self, transcript: &Transcript, changed: &[PartRef], tokenizer: Tokenizer) -> Self {
        Self::counted(transcript, |at, part| match changed.binary_search(&at) {
            Ok(_) => part_tokens(part, tokenizer),
            Err(_) => self.part(at),
        })
    }

    fn counted(transcript: &Transcript, count: impl Fn(PartRef, &Part) -> u64) -> Self {
        let mut parts =
            Vec::with_capacity(transcript.messages.iter().map(|message| message.parts.len()).sum());
        let mut first_part = Vec::with_capacity(transcript.messages.len() + 1);
        let mut prefix = Vec::with_capacity(transcript.messages.len() + 1);
        let mut total = 0;
        prefix.push(total);
        for (index, message) in transcript.messages.iter().enumerate() {
            first_part.push(parts.len() as u32);
            total += MESSAGE_OVERHEAD;
            for (position, part) in message.parts.iter().enumerate() {
                let at = PartRef { message: MessageIdx::new(index), part: position as u32 };
                let count = count(at, part);
                total += count;
                parts.push(count);
            }
            prefix.push(total);
        }
        first_part.push(parts.len() as u32);
        Self { parts, first_part, prefix }
    }

    /// Tokens of one part, without message overhead; 0 when there is no such part.
    pub fn part(&self, at: PartRef) -> u64 {
        self.first_part
            .get(at.message.get())
            .and_then(|first| self.parts.get(*first as usize + at.part as usize))
            .copied()
            .unwrap_or(0)
    }

    /// Tokens of one message, overhead included.
    pub fn message(&self, at: MessageIdx) -> u64 {
        self.range(at.get()..at.get() + 1)
    }

    /// Tokens of a run of messages, overhead included. Ranges past the end count what exists.
    pub fn range(&self, range: Range<usize>) -> u64 {
        let last = self.prefix.len() - 1;
        let (start, end) = (range.start.min(last), range.end.min(last));
        if end <= start { 0 } else { self.prefix[end] - self.prefix[start] }
    }

    /// Tokens of the whole session.
    pub fn total(&self) -> u64 {
        self.prefix.last().copied().unwrap_or(0)
    }

    /// Number of messages counted.
    pub fn len(&self) -> usize {
        self.prefix.len() - 1
    }

    /// True for a session without messages.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Tokens of one part. Opaque content counts 0: its size in tokens cannot be known.
pub fn part_tokens(part: &Part, tokenizer: Tokenizer) -> u64 {
    match part {
        Part::Text(text) => tokenizer.count(&text.text),
        Part::Thinking(text) => tokenizer.count(text),
        Part::Call(call) => tokenizer.count(&call.name) + tokenizer.count(&call.arguments),
        Part::Result(result) => tokenizer.count(&result.text) + u64::from(result.images) * IMAGE_TOKENS,
        Part::Image { .. } => IMAGE_TOKENS,
        Part::Opaque { .. } => 0,
    }
}

/// Tokens of one message that is not part of a session's index.
pub fn message_tokens(message: &Message, tokenizer: Tokenizer) -> u64 {
    MESSAGE_OVERHEAD + message.parts.iter().map(|part| part_tokens(part, tokenizer)).sum::<u64>()
}

#[cfg(test)]
mod tests;
