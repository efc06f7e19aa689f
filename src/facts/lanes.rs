//! Several stretches of a text searched at once: a step of an automaton waits for the step before it, but not for those
//! in another stretch.

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;

/// Walks an automaton over each of the stretches by itself. `found` is told the number of the stretch, the place of the
/// last byte of what matches there, and the state; places of one stretch come in order.
pub(super) fn walk<const LANES: usize>(
    automaton: &DFA,
    stretches: [&[u8]; LANES],
    mut found: impl FnMut(usize, usize, StateID),
) {
    let Ok(start) = automaton.start_state(Anchored::No) else { return };
    let together = stretches.iter().map(|stretch| stretch.len()).min().unwrap_or_default();
    let heads = stretches.map(|stretch| stretch.get(..together).unwrap_or_default());
    let mut states = [start; LANES];
    for at in 0..together {
        states = std::array::from_fn(|lane| {
            let byte = heads[lane].get(at).copied().unwrap_or_default();
            automaton.next_state(Anchored::No, states[lane], byte)
        });
        if states.iter().fold(false, |special, state| special | automaton.is_special(*state)) {
            for (lane, state) in states.iter().enumerate().filter(|(_, state)| automaton.is_match(**state)) {
                found(lane, at, *state);
            }
        }
    }
    for (lane, (mut state, stretch)) in states.into_iter().zip(stretches).enumerate() {
        for (at, byte) in stretch.iter().enumerate().skip(together) {
            state = automaton.next_state(Anchored::No, state, *byte);
            if automaton.is_special(state) && automaton.is_match(state) {
                found(lane, at, state);
            }
        }
    }
}

/// Parts a text into stretches of about the same length, each of which but the first begins behind a line end. What holds
/// no line end stands in one of them.
pub(super) fn by_lines<const LANES: usize>(bytes: &[u8]) -> [(usize, &[u8]); LANES] {
    let mut start = 0;
    std::array::from_fn(|lane| {
        let wanted = (bytes.len() * (lane + 1) / LANES).max(start);
        let ahead = bytes.get(wanted..).unwrap_or_default();
        let end = match memchr::memchr(b'\n', ahead) {
            Some(at) if lane + 1 < LANES => wanted + at + 1,
            _ => bytes.len(),
        };
        let stretch = (start, bytes.get(start..end).unwrap_or_default());
        start = end;
        stretch
    })
}

/// Parts a text into stretches of the same length that have so many bytes in common with the next: what is no longer
/// than one more stands whole in one of them. What gains little by it is left in one piece.
pub(super) fn overlapping<const LANES: usize>(bytes: &[u8], common: usize) -> [&[u8]; LANES] {
    let short = bytes.len() <= 2 * common;
    let step = if short { bytes.len() } else { (bytes.len() - common).div_ceil(LANES) };
    std::array::from_fn(|lane| {
        let start = (step * lane).min(bytes.len());
        let end = (start + step + common).min(bytes.len());
        bytes.get(start..end).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WORDS: [&str; 4] = ["ab", "abba", "c", "bbbbb"];

    fn automaton() -> DFA {
        DFA::builder().prefilter(false).build(WORDS).expect("an automaton")
    }

    /// The words that stand in the stretches.
    fn check_words<const LANES: usize>(text: &str, stretches: [&[u8]; LANES]) {
        let automaton = automaton();
        let mut held = [false; WORDS.len()];
        walk(&automaton, stretches, |_, _, state| {
            for at in 0..automaton.match_len(state) {
                held[automaton.match_pattern(state, at).as_usize()] = true;
            }
        });
        assert_eq!(held, WORDS.map(|word| text.contains(word)), "{text:?}");
    }

    proptest! {
        #[test]
        fn stretches_hold_what_the_text_holds(text in "[abc\n]{0,60}|[ab]{0,20}") {
            let bytes = text.as_bytes();
            let longest = WORDS.map(str::len).into_iter().max().expect("a word");
            check_words::<1>(&text, overlapping(bytes, longest - 1));
            check_words::<3>(&text, overlapping(bytes, longest - 1));
            check_words::<4>(&text, overlapping(bytes, longest - 1));
            check_words::<4>(&text, by_lines::<4>(bytes).map(|(_, stretch)| stretch));
            let starts = by_lines::<4>(bytes).map(|(start, _)| start);
            prop_assert!(starts.iter().all(|start| *start == 0 || bytes[*start - 1] == b'\n' || *start == bytes.len()));
            prop_assert_eq!(by_lines::<4>(bytes).map(|(_, stretch)| stretch).concat(), bytes);
        }
    }
}
