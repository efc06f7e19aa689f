//! Where a cut may fall: nowhere between a call and its results.

use crate::tokens::TokenIndex;
use crate::transcript::Transcript;

/// The cut places of one session.
#[derive(Debug, Clone)]
pub struct Units {
    safe: Vec<bool>,
    largest: u64,
}

impl Units {
    /// Finds them. Pairing is by link, so a batch of parallel calls, results out of order and user text between a
    /// call and its result all make one unit.
    pub fn new(transcript: &Transcript, tokens: &TokenIndex) -> Self {
        let count = transcript.messages.len();
        let mut open = vec![0i64; count + 2];
        for link in &transcript.links {
            if let Some(result) = link.result {
                open[link.call.message.get() + 1] += 1;
                open[result.message.get() + 1] -= 1;
            }
        }
        let mut safe = Vec::with_capacity(count + 1);
        let mut pending = 0;
        for change in open.iter().take(count + 1) {
            pending += change;
            safe.push(pending == 0);
        }
        let (mut largest, mut start) = (0, 0);
        for end in 1..=count {
            if safe[end] {
                largest = largest.max(tokens.range(start..end));
                start = end;
            }
        }
        Self { safe, largest }
    }

    /// True when a cut before message `index` parts no call from its result.
    pub fn safe(&self, index: usize) -> bool {
        self.safe.get(index).copied().unwrap_or(false)
    }

    /// Tokens of the largest indivisible run of messages.
    pub fn largest(&self) -> u64 {
        self.largest
    }
}
