//! Several stretches of a text searched at once: a step of an automaton waits for the step before it, but not for those
//! in another stretch.

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::noncontiguous::NFA;
use rustc_hash::FxHashMap;

/// Words and what each tells, as a table by which a text is walked byte by byte. It is the automaton that the crate
/// builds, laid out so that a step is a look into the table and nothing else.
pub(super) struct Words {
    /// The column of each byte: bytes of no word share one.
    columns: [u8; 256],
    /// By row and column, where the row begins that follows, with [`Words::END`] where words end there. Its length is a
    /// power of two.
    next: Vec<u32>,
    /// Rows from this place on are those where words end.
    ends: u32,
    /// Rows have so many columns, as a power of two.
    width: u32,
    /// What the words tell that end there, of each of these rows.
    told: Vec<u32>,
    longest: usize,
}

impl Words {
    /// Marks a row where words end.
    const END: u32 = 1 << 31;

    /// Words with the bits that each tells, found in any case of their ASCII letters where that is asked for.
    pub(super) fn new(words: &[(&str, u32)], any_case: bool) -> Option<Self> {
        let texts = || words.iter().map(|(word, _)| word);
        let automaton = NFA::builder().ascii_case_insensitive(any_case).build(texts()).ok()?;
        // No text holds the last byte: it stands for all that no word holds.
        let mut bytes = vec![u8::MAX];
        for byte in texts().flat_map(|word| word.bytes()) {
            bytes.push(byte);
            if any_case {
                bytes.extend([byte.to_ascii_lowercase(), byte.to_ascii_uppercase()]);
            }
        }
        bytes.sort_unstable_by_key(|byte| u8::MAX - byte);
        bytes.dedup();
        let mut columns = [0; 256];
        for (column, byte) in bytes.iter().enumerate() {
            columns[usize::from(*byte)] = column as u8;
        }
        // All states that a text may lead to, and the ones that follow each.
        let start = automaton.start_state(Anchored::No).ok()?;
        let mut states = vec![start];
        let mut follow: Vec<StateID> = Vec::new();
        let mut rows: FxHashMap<StateID, u32> = FxHashMap::from_iter([(start, 0)]);
        let mut done = 0;
        while let Some(state) = states.get(done).copied() {
            done += 1;
            for byte in &bytes {
                let next = automaton.next_state(Anchored::No, state, *byte);
                // Most steps lead back to the start.
                if next != start && rows.insert(next, 0).is_none() {
                    states.push(next);
                }
                follow.push(next);
            }
        }
        // Those where words end stand last.
        let ends = states.iter().filter(|state| !automaton.is_match(**state)).count();
        let width = bytes.len().next_power_of_two().ilog2();
        let (mut plain, mut end) = (0..ends as u32, ends as u32..);
        for state in &states {
            let row = if automaton.is_match(*state) {
                end.next().map(|row| row << width | Self::END)
            } else {
                plain.next().map(|row| row << width)
            };
            rows.extend(row.map(|row| (*state, row)));
        }
        let row_of = |state: &StateID| rows.get(state).copied().unwrap_or_default();
        let mut next = vec![0; (states.len() << width).next_power_of_two()];
        for (state, follow) in states.iter().zip(follow.chunks(bytes.len())) {
            let row = (row_of(state) & !Self::END) as usize;
            for (place, state) in next.iter_mut().skip(row).zip(follow) {
                *place = row_of(state);
            }
        }
        let tells = |state: &StateID| {
            (0..automaton.match_len(*state))
                .filter_map(|at| words.get(automaton.match_pattern(*state, at).as_usize()))
                .fold(0, |all, (_, bits)| all | bits)
        };
        let told = states.iter().filter(|state| automaton.is_match(**state)).map(tells).collect();
        let longest = automaton.max_pattern_len();
        Some(Self { columns, next, ends: (ends as u32) << width, width, told, longest })
    }

    /// Bytes of the longest word.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// Walks each of the stretches by itself. `found` is told the number of the stretch, the place of the last byte of
    /// what was found there, and the bits of all words that end with it; places of one stretch come in order.
    #[expect(clippy::needless_range_loop, reason = "one place of several stretches at once")]
    pub(super) fn walk<const LANES: usize>(
        &self,
        stretches: [&[u8]; LANES],
        mut found: impl FnMut(usize, usize, u32),
    ) {
        const BLOCK: usize = 16;
        // Known to lie within the table, so that a step need not ask.
        let Some(mask) = self.next.len().checked_sub(1) else { return };
        let next = self.next.as_slice();
        let step = |row: u32, byte: u8| {
            let column = u32::from(self.columns[usize::from(byte)]);
            next[(row | column) as usize & mask]
        };
        let told = |row: u32| {
            let place = ((row & !Self::END) - self.ends) >> self.width;
            self.told.get(place as usize).copied().unwrap_or_default()
        };
        let together = stretches.iter().map(|stretch| stretch.len() / BLOCK).min().unwrap_or_default();
        let blocks = stretches.map(|stretch| stretch.as_chunks::<BLOCK>().0);
        let mut rows = [0; LANES];
        for block in 0..together {
            let bytes: [&[u8; BLOCK]; LANES] = std::array::from_fn(|lane| &blocks[lane][block]);
            for at in 0..BLOCK {
                for lane in 0..LANES {
                    rows[lane] = step(rows[lane], bytes[lane][at]);
                }
                if rows.iter().fold(0, |any, row| any | row) & Self::END != 0 {
                    for (lane, row) in rows.iter().enumerate().filter(|(_, row)| **row & Self::END != 0) {
                        found(lane, block * BLOCK + at, told(*row));
                    }
                }
            }
        }
        for (lane, (mut row, stretch)) in rows.into_iter().zip(stretches).enumerate() {
            for (at, byte) in stretch.iter().enumerate().skip(together * BLOCK) {
                row = step(row, *byte);
                if row & Self::END != 0 {
                    found(lane, at, told(row));
                }
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

    fn words(any_case: bool) -> Words {
        let words: Vec<(&str, u32)> = WORDS.into_iter().zip([1, 2, 4, 8]).collect();
        Words::new(&words, any_case).expect("an automaton")
    }

    /// The words that stand in the stretches.
    fn check_words<const LANES: usize>(text: &str, stretches: [&[u8]; LANES], any_case: bool) {
        let mut held = 0;
        words(any_case).walk(stretches, |_, _, bits| held |= bits);
        let text = if any_case { text.to_ascii_lowercase() } else { text.to_owned() };
        let expected = WORDS.into_iter().zip([1, 2, 4, 8]).filter(|(word, _)| text.contains(word));
        assert_eq!(held, expected.fold(0, |all, (_, bit)| all | bit), "{text:?}");
    }

    proptest! {
        #[test]
        fn stretches_hold_what_the_text_holds(
            text in "[abcC\nxé]{0,200}|[abAB]{0,60}|(abb|bbb|ab|c|\n){0,40}",
            any_case in proptest::bool::ANY,
        ) {
            let bytes = text.as_bytes();
            let longest = words(any_case).longest();
            prop_assert_eq!(longest, 5);
            check_words::<1>(&text, overlapping(bytes, longest - 1), any_case);
            check_words::<3>(&text, overlapping(bytes, longest - 1), any_case);
            check_words::<4>(&text, overlapping(bytes, longest - 1), any_case);
            check_words::<4>(&text, by_lines::<4>(bytes).map(|(_, stretch)| stretch), any_case);
            let starts = by_lines::<4>(bytes).map(|(start, _)| start);
            prop_assert!(starts.iter().all(|start| *start == 0 || bytes[*start - 1] == b'\n' || *start == bytes.len()));
            prop_assert_eq!(by_lines::<4>(bytes).map(|(_, stretch)| stretch).concat(), bytes);
        }

        #[test]
        fn places_are_those_of_last_bytes(text in "[abcx]{0,100}") {
            let mut found = vec![0; text.len()];
            words(false).walk([text.as_bytes()], |_, at, bits| found[at] = bits);
            for (at, bits) in found.iter().enumerate() {
                let expected = WORDS.into_iter().zip([1, 2, 4, 8]).filter(|(word, _)| text.as_bytes()[..=at].ends_with(word.as_bytes()));
                prop_assert_eq!(*bits, expected.fold(0, |all, (_, bit)| all | bit));
            }
        }
    }
}
