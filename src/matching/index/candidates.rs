//! Where in a text a needle may begin: what the first look at each word and mark tells.

use super::super::{CLASS, WORD};
use super::hash::{chunk, first_look};
use smallvec::SmallVec;
use wide::u8x16;

/// What the first look at a word tells of it: a few bits for each value of a hash.
#[derive(Debug)]
pub(super) struct Looks {
    kinds: Box<[u8; 1 << Self::BITS]>,
    /// [`Self::NUMBER`] for each digit that a number begins with.
    digits: Box<[u8; 256]>,
}

impl Default for Looks {
    fn default() -> Self {
        Self { kinds: Box::new([0; 1 << Self::BITS]), digits: Box::new([0; 256]) }
    }
}

impl Looks {
    const BITS: u32 = 14;
    /// Of a needle.
    pub(super) const WORD: u8 = 1;
    /// Begins a phrase.
    pub(super) const BEGINS: u8 = 1 << 1;
    /// Announces a sentence.
    pub(super) const ANNOUNCES: u8 = 1 << 6;
    /// First word of the last component of a suffix.
    const NAME: u8 = 1 << 2;
    /// Likewise, where the component goes on with a dot.
    const DOTTED: u8 = 1 << 4;
    /// Likewise, with a dash.
    const DASHED: u8 = 1 << 5;
    /// First word of the last component of a suffix, however it goes on.
    pub(super) const NAMES: u8 = Self::NAME | Self::DOTTED | Self::DASHED;
    /// Begins like a number that is looked for.
    pub(super) const NUMBER: u8 = 1 << 3;

    pub(super) fn add(&mut self, word: &[u8], kind: u8) {
        let look = first_look(chunk(word, 0, word.len()), word.len());
        self.kinds[(look >> (64 - Self::BITS)) as usize] |= kind;
    }

    /// Adds the last component of a suffix. One without a word is never looked for.
    pub(super) fn add_name(&mut self, name: &[u8]) {
        let is_word = |byte: &u8| CLASS[*byte as usize] == WORD;
        let Some(start) = name.iter().position(is_word) else { return };
        let from = name.get(start..).unwrap_or_default();
        let (word, behind) = from.split_at(from.iter().position(|byte| !is_word(byte)).unwrap_or(from.len()));
        let kind = match behind.first() {
            Some(b'.') => Self::DOTTED,
            Some(b'-') => Self::DASHED,
            _ => Self::NAME,
        };
        self.add(word, kind);
    }

    /// Numbers that begin with this digit, in ASCII, are looked for.
    pub(super) fn add_digit(&mut self, digit: u8) {
        self.digits[usize::from(digit)] = Self::NUMBER;
    }

    /// Could the word of a needle stand here?
    #[inline]
    pub(super) fn may_be_word(&self, bytes: &[u8], start: usize, end: usize) -> bool {
        let look = first_look(chunk(bytes, start, bytes.len()), end - start);
        self.kinds[(look >> (64 - Self::BITS)) as usize] & Self::WORD != 0
    }

    #[inline]
    fn kinds(&self, look: u64, first: u8) -> u8 {
        self.kinds[(look >> (64 - Self::BITS)) as usize] | self.digits[usize::from(first)]
    }
}

/// Something may begin here: a word that a needle begins with, a number, a mark. Most of a text is none of it. The place,
/// and in the lowest byte the needles for which the word is right, as far as the first look tells.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Candidate(u64);

impl Candidate {
    #[inline]
    fn new(at: usize, kinds: u8) -> Self {
        Self((at as u64) << 8 | u64::from(kinds))
    }

    /// May the last component of a suffix begin with the word, with this behind it? What ends with the word may be followed
    /// by anything: a dot may end the sentence.
    #[inline]
    pub(super) fn may_name(self, behind: Option<&u8>) -> bool {
        let kinds = match behind {
            Some(b'.') => Looks::NAME | Looks::DOTTED,
            Some(b'-') => Looks::NAME | Looks::DASHED,
            _ => Looks::NAME,
        };
        self.kinds() & kinds != 0
    }

    #[inline]
    pub(super) fn at(self) -> usize {
        (self.0 >> 8) as usize
    }

    #[inline]
    pub(super) fn kinds(self) -> u8 {
        self.0 as u8
    }
}

/// A mark, not a word.
pub(super) const MARK: u8 = 1 << 7;

/// What a first look at a text finds, kept between texts for its memory.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Ordered by position; behind the first [`Self::count`] of them stands what earlier texts left.
    candidates: Vec<Candidate>,
    count: usize,
    /// Of each 64 bytes.
    pub(super) blocks: Vec<Bits>,
    /// There are bits in [`Bits::wide`].
    pub(super) any_wide: bool,
    /// A bit for each line end.
    pub(super) line_ends: Vec<u64>,
}

/// A bit for each of 64 bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bits {
    /// Bytes beyond ASCII; later only the first ones of letters and digits.
    pub(super) wide: u64,
    /// Bytes of words.
    words: u64,
    /// Marks that are looked for.
    marks: u64,
}

impl Seen {
    /// The candidate with a number, in order of position.
    #[inline]
    pub(super) fn candidate(&self, number: usize) -> Option<Candidate> {
        self.candidates.get(..self.count)?.get(number).copied()
    }

    /// The first byte of a word at a place or behind it, before an end.
    #[inline]
    pub(super) fn next_word(&self, at: usize, end: usize) -> Option<usize> {
        next_set(&self.blocks, at, end, |block| block.words)
    }

    /// Does a letter or digit beyond ASCII begin between two places?
    #[inline]
    pub(super) fn has_wide(&self, start: usize, end: usize) -> bool {
        next_set(&self.blocks, start, end, |block| block.wide).is_some()
    }

    /// End of the run of ASCII letters, digits and `_` that begins at a place.
    #[inline]
    pub(super) fn word_end(&self, at: usize) -> usize {
        let mut end = at;
        loop {
            let length = match self.blocks.get(end / 64..end / 64 + 2) {
                Some([Bits { words: here, .. }, Bits { words: next, .. }]) => {
                    let bit = end % 64;
                    (!(here >> bit | next << 1 << (63 - bit))).trailing_zeros() as usize
                }
                _ => 0,
            };
            end += length;
            if length < 64 {
                return end;
            }
        }
    }
}

/// The first bit from a place on.
pub(super) fn next_bit(bits: &[u64], from: usize) -> Option<usize> {
    next_set(bits, from, bits.len() * 64, |bits| *bits)
}

/// The first bit from a place on and before an end, where each 64 bits stand in something.
#[inline]
fn next_set<T>(blocks: &[T], from: usize, end: usize, bits: impl Fn(&T) -> u64) -> Option<usize> {
    let mut block = from / 64;
    let mut ahead = bits(blocks.get(block)?) >> (from % 64) << (from % 64);
    while ahead == 0 {
        block += 1;
        if block * 64 >= end {
            return None;
        }
        ahead = bits(blocks.get(block)?);
    }
    let place = block * 64 + ahead.trailing_zeros() as usize;
    (place < end).then_some(place)
}

/// Finds the candidates of a text. Has no branch for each word; the tests of a block of 64 bytes are made on all of them
/// at once, by vector instructions.
pub(super) fn candidates(bytes: &[u8], looks: &Looks, wanted: u8, marks: &[u8], seen: &mut Seen) {
    let Seen { candidates: out, count, blocks, any_wide, line_ends } = seen;
    blocks.clear();
    line_ends.clear();
    let marks: SmallVec<[u8x16; 8]> = marks.iter().map(|mark| u8x16::splat(*mark)).collect();
    let (whole, rest) = bytes.as_chunks::<64>();
    let mut padded = [b' '; 64];
    padded[..rest.len()].copy_from_slice(rest);
    let all = whole.iter().chain((!rest.is_empty()).then_some(&padded)).map(Block::new);
    line_ends.reserve(whole.len() + 1);
    blocks.extend(all.map(|block| {
        line_ends.push(block.line_ends());
        block.bits(&marks)
    }));
    *any_wide = blocks.iter().fold(0, |any, block| any | block.wide) != 0;
    // A word may reach into the next block.
    blocks.push(Bits::default());
    // Each block is given room for all it may hold: to write without asking is faster than to append.
    *count = 0;
    let mut last = 0;
    for (number, pair) in blocks.windows(2).enumerate() {
        let &[Bits { words: here, marks, .. }, Bits { words: next, .. }] = pair else { continue };
        let mut events = here & !(here << 1 | last) | marks;
        last = here >> 63;
        if out.len() < *count + 64 {
            out.resize(out.len() * 2 + 256, Candidate::default());
        }
        let Some(room) = out.get_mut(*count..*count + 64) else { break };
        let mut found = 0;
        while events != 0 {
            let bit = events.trailing_zeros() as usize;
            events &= events - 1;
            let at = number * 64 + bit;
            let length = (!(here >> bit | next << 1 << (63 - bit))).trailing_zeros() as usize;
            let chunk = chunk(bytes, at, bytes.len());
            let mark = ((marks >> bit) as u8) << 7;
            let kinds = looks.kinds(first_look(chunk, length), chunk as u8) & wanted | mark;
            room[found & 63] = Candidate::new(at, kinds);
            found += usize::from(kinds != 0);
        }
        *count += found;
    }
}

/// 64 bytes of a text. Each test gives a bit for each byte.
struct Block([u8x16; 4]);

impl Block {
    #[inline]
    fn new(bytes: &[u8; 64]) -> Self {
        let (quarters, _) = bytes.as_chunks::<16>();
        Self(std::array::from_fn(|at| quarters.get(at).map_or(u8x16::ZERO, |quarter| u8x16::new(*quarter))))
    }

    #[inline]
    fn line_ends(&self) -> u64 {
        self.each(|bytes| bytes.simd_eq(u8x16::splat(b'\n'))).mask()
    }

    #[inline]
    fn bits(&self, marks: &[u8x16]) -> Bits {
        let each = u8x16::splat;
        let words = self.each(|bytes| {
            let at_most = |bytes: u8x16, most| bytes.min(each(most)).simd_eq(bytes);
            let letters = at_most((bytes | each(0x20)) - each(b'a'), 25);
            let digits = at_most(bytes - each(b'0'), 9);
            letters | digits | bytes.simd_eq(each(b'_'))
        });
        let mut begins = Self([u8x16::ZERO; 4]);
        for mark in marks {
            let [a, b, c, d] = self.each(|bytes| bytes.simd_eq(*mark)).0;
            let [to_a, to_b, to_c, to_d] = begins.0;
            begins = Self([to_a | a, to_b | b, to_c | c, to_d | d]);
        }
        Bits { wide: self.mask(), words: words.mask(), marks: begins.mask() }
    }

    /// A test made of each 16 bytes.
    #[inline]
    fn each(&self, test: impl Fn(u8x16) -> u8x16) -> Self {
        let [a, b, c, d] = self.0;
        Self([test(a), test(b), test(c), test(d)])
    }

    /// The highest bit of each byte.
    #[inline]
    fn mask(&self) -> u64 {
        let [a, b, c, d] = &self.0;
        let bits = |bytes: &u8x16| u64::from(bytes.to_bitmask());
        bits(a) | bits(b) << 16 | bits(c) << 32 | bits(d) << 48
    }
}
