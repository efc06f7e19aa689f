//! Several stretches of a text searched at once: a step of an automaton waits for the step before it, but not for those
//! in another stretch.

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::noncontiguous::NFA;
use rustc_hash::FxHashMap;

/// Words and what each tells, as a table by which a text is walked byte by byte. It is the automaton that the crate
/// builds, laid out so that a step is a look into the table and nothing else, and so small that the rows which most texts
/// lead through stay at hand.
pub(crate) struct Words {
    /// The column of each byte: bytes that lead the same way from every row share one.
    columns: [u8; 256],
    /// By row and column, where the row begins that follows, in grains. Rows where words end stand last.
    next: Vec<u16>,
    /// Where these begin.
    ends: usize,
    /// A row has so many columns, a multiple of [`Words::GRAIN`].
    width: usize,
    /// What the words tell that end there, of each of these rows.
    told: Vec<u32>,
    longest: usize,
}

impl Words {
    /// Rows begin at multiples of so many places.
    const GRAIN: usize = 8;

    /// Words with the bits that each tells, found in any case of their ASCII letters where that is asked for.
    pub(crate) fn new(words: &[(&str, u32)], any_case: bool) -> Option<Self> {
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
        // All states that a text may lead to, the nearest first, and the ones that follow each.
        let start = automaton.start_state(Anchored::No).ok()?;
        let mut states = vec![start];
        let mut follow: Vec<StateID> = Vec::new();
        let mut rows: FxHashMap<StateID, u16> = FxHashMap::from_iter([(start, 0)]);
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
        let mut columns = [0; 256];
        let mut ways: FxHashMap<Vec<StateID>, u8> = FxHashMap::default();
        for (at, byte) in bytes.iter().enumerate() {
            let way = follow.iter().skip(at).step_by(bytes.len()).copied().collect();
            let column = ways.len() as u8;
            columns[usize::from(*byte)] = *ways.entry(way).or_insert(column);
        }
        let width = ways.len().next_multiple_of(Self::GRAIN);
        // Those where words end stand last.
        let plain = states.iter().filter(|state| !automaton.is_match(**state));
        let end = || states.iter().filter(|state| automaton.is_match(**state));
        let ends = plain.clone().count() * width;
        for (row, state) in plain.chain(end()).enumerate() {
            rows.insert(*state, u16::try_from(row * width / Self::GRAIN).ok()?);
        }
        let row_of = |state: &StateID| rows.get(state).copied().unwrap_or_default();
        let mut next = vec![0; states.len() * width];
        for (state, follow) in states.iter().zip(follow.chunks(bytes.len())) {
            let row = usize::from(row_of(state)) * Self::GRAIN;
            let Some(row) = next.get_mut(row..row + width) else { continue };
            for (byte, state) in bytes.iter().zip(follow) {
                if let Some(place) = row.get_mut(usize::from(columns[usize::from(*byte)])) {
                    *place = row_of(state);
                }
            }
        }
        let tells = |state: &StateID| {
            (0..automaton.match_len(*state))
                .filter_map(|at| words.get(automaton.match_pattern(*state, at).as_usize()))
                .fold(0, |all, (_, bits)| all | bits)
        };
        let told = end().map(tells).collect();
        let longest = automaton.max_pattern_len();
        Some(Self { columns, next, ends, width, told, longest })
    }

    /// Bytes of the longest word.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Walks each of the stretches by itself. `found` is told the number of the stretch, the place of the last byte of
    /// what was found there, and the bits of all words that end with it; places of one stretch come in order.
    #[expect(clippy::needless_range_loop, reason = "one place of several stretches at once")]
    pub(crate) fn walk<const LANES: usize>(
        &self,
        stretches: [&[u8]; LANES],
        mut found: impl FnMut(usize, usize, u32),
    ) {
        const BLOCK: usize = 8;
        // Where no word ends, which is nearly everywhere, the place itself tells so.
        let plain = self.next.get(..self.ends).unwrap_or_default();
        let together = stretches.iter().map(|stretch| stretch.len() / BLOCK).min().unwrap_or_default();
        let blocks =
            stretches.map(|stretch| stretch.as_chunks::<BLOCK>().0.get(..together).unwrap_or_default());
        let mut rows = [0usize; LANES];
        let mut step = |row: usize, byte: u8, lane: usize, at: usize| {
            let column = self.columns[usize::from(byte)];
            let place = row * Self::GRAIN + usize::from(column);
            if let Some(row) = plain.get(place) {
                return usize::from(*row);
            }
            let (row, told) = self.behind(place);
            // It was the byte before that led here.
            found(lane, at.wrapping_sub(1), told);
            usize::from(row)
        };
        let mut bytes = [[0; BLOCK]; LANES];
        for block in 0..together {
            for lane in 0..LANES {
                if let Some(block) = blocks[lane].get(block) {
                    bytes[lane] = *block;
                }
            }
            for at in 0..BLOCK {
                for lane in 0..LANES {
                    rows[lane] = step(rows[lane], bytes[lane][at], lane, block * BLOCK + at);
                }
            }
        }
        for (lane, (mut row, stretch)) in rows.into_iter().zip(stretches).enumerate() {
            for (at, byte) in stretch.iter().enumerate().skip(together * BLOCK) {
                row = step(row, *byte, lane, at);
            }
            if row * Self::GRAIN >= self.ends {
                step(row, 0, lane, stretch.len());
            }
        }
    }

    /// The row that follows one where words end, and what they tell.
    #[cold]
    #[inline(never)]
    fn behind(&self, place: usize) -> (u16, u32) {
        let row = place.saturating_sub(self.ends).checked_div(self.width);
        let told = row.and_then(|row| self.told.get(row)).copied().unwrap_or_default();
        (self.next.get(place).copied().unwrap_or_default(), told)
    }
}

/// Parts a text into stretches of the same length that have so many bytes in common with the next: what is no longer
/// than one more stands whole in one of them. What gains little by it is left in one piece.
pub(crate) fn overlapping<const LANES: usize>(bytes: &[u8], common: usize) -> [&[u8]; LANES] {
    placed(bytes, common).map(|(_, stretch)| stretch)
}

/// The same, each with the place where it begins.
pub(crate) fn placed<const LANES: usize>(bytes: &[u8], common: usize) -> [(usize, &[u8]); LANES] {
    let short = bytes.len() <= 2 * common;
    let step = if short { bytes.len() } else { (bytes.len() - common).div_ceil(LANES) };
    std::array::from_fn(|lane| {
        let start = (step * lane).min(bytes.len());
        let end = (start + step + common).min(bytes.len());
        (start, bytes.get(start..end).unwrap_or_default())
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
            for (start, stretch) in placed::<4>(bytes, longest - 1) {
                prop_assert!(bytes[start..].starts_with(stretch));
            }
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
