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
        for (end, safe) in safe.iter().enumerate().skip(1) {
            if *safe {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::transcript;
    use crate::tokens::Tokenizer;

    /// `safe` marks the places of the notation, before each message and at the end, where a cut may fall.
    fn check_units(notation: &str, safe: &str) {
        let transcript = transcript(notation);
        let tokens = TokenIndex::new(&transcript, Tokenizer::Heuristic);
        let units = Units::new(&transcript, &tokens);
        let found: String =
            (0..=transcript.messages.len()).map(|at| if units.safe(at) { '|' } else { '.' }).collect();
        assert_eq!(found, safe, "{notation}");
    }

    #[test]
    fn a_parallel_batch_is_one_unit() {
        check_units("U: go\nA{a,b}:\nT(a): x\nT(b): y\nA: done", "||..||");
    }

    #[test]
    fn calls_in_a_row_before_their_results_are_one_unit() {
        check_units("U: go\nA{a}:\nA{b}:\nT(a): x\nT(b): y", "||...|");
    }

    #[test]
    fn results_out_of_order_around_user_text_hold_it_together() {
        check_units("A{t1,t2}:\nT(t2): late\nU: wait\nT(t1): first\nU: next", "|...||");
    }

    #[test]
    fn an_unanswered_call_binds_nothing() {
        check_units("U: go\nA{a}:\nU: hello\nA: yes", "|||||");
    }

    #[test]
    fn one_id_for_every_call_pairs_by_occurrence() {
        check_units("U: go\nA{x}:\nT(x): 1\nA{x}:\nT(x): 2", "||.|.|");
    }

    #[test]
    fn nothing_at_all_has_one_place() {
        check_units("", "|");
    }
}
