//! Where in a text a needle may begin: what the first look at each word and mark tells.

use super::hash::{chunk, first_look};
use wide::u8x16;

/// What the first look at a word tells of it: a few bits for each value of a hash.
#[derive(Debug)]
pub(super) struct Looks {
    kinds: Box<[u8; 1 << Self::BITS]>,
    /// A bit for each digit that a number begins with.
    pub(super) digits: u16,
}

impl Default for Looks {
    fn default() -> Self {
        Self { kinds: Box::new([0; 1 << Self::BITS]), digits: 0 }
    }
}

impl Looks {
    const BITS: u32 = 14;
    /// Of a needle.
    pub(super) const WORD: u8 = 1;
    /// Begins a phrase or announces a sentence.
    pub(super) const BEGINS: u8 = 1 << 1;
    /// First word of the last component of a suffix.
    pub(super) const NAME: u8 = 1 << 2;
    /// Begins like a number that is looked for.
    pub(super) const NUMBER: u8 = 1 << 3;

    pub(super) fn add(&mut self, word: &[u8], kind: u8) {
        let look = first_look(chunk(word, 0, word.len()), word.len());
        self.kinds[(look >> (64 - Self::BITS)) as usize] |= kind;
    }

    #[inline]
    fn kinds(&self, look: u64, first: u8) -> u8 {
        let number = self.digits >> first.wrapping_sub(b'0').min(15) & 1;
        self.kinds[(look >> (64 - Self::BITS)) as usize] | (number as u8) << 3
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
    /// Ordered by position.
    pub(super) candidates: Vec<Candidate>,
    /// A bit for each byte beyond ASCII; nothing where there is none.
    pub(super) wide: Vec<u64>,
    /// Likewise for line ends, which are always told.
    pub(super) line_ends: Vec<u64>,
    /// Likewise for those of words, and for marks that are looked for.
    words: Vec<u64>,
    marks: Vec<u64>,
}

/// The first bit from a place on.
pub(super) fn next_bit(bits: &[u64], from: usize) -> Option<usize> {
    let mut block = from / 64;
    let mut ahead = bits.get(block)? >> (from % 64) << (from % 64);
    while ahead == 0 {
        block += 1;
        ahead = *bits.get(block)?;
    }
    Some(block * 64 + ahead.trailing_zeros() as usize)
}

/// Finds the candidates of a text. Has no branch for each word; the tests of a block of 64 bytes are made on all of them
/// at once, by vector instructions.
pub(super) fn candidates(bytes: &[u8], looks: &Looks, wanted: u8, marks: &[u8], seen: &mut Seen) {
    let Seen { candidates: out, wide, line_ends, words, marks: begins } = seen;
    for bits in [&mut *wide, &mut *line_ends, &mut *words, &mut *begins] {
        bits.clear();
        bits.reserve(bytes.len() / 64 + 2);
    }
    let mut any_wide = 0;
    let mut add = |bytes: &[u8; 64]| {
        let block = Block::new(bytes);
        let beyond = block.wide();
        any_wide |= beyond;
        wide.push(beyond);
        line_ends.push(block.line_ends());
        words.push(block.words());
        begins.push(block.marks(marks));
    };
    let (whole, rest) = bytes.as_chunks::<64>();
    whole.iter().for_each(&mut add);
    if !rest.is_empty() {
        let mut padded = [b' '; 64];
        padded[..rest.len()].copy_from_slice(rest);
        add(&padded);
    }
    if any_wide == 0 {
        wide.clear();
    }
    words.push(0);
    // Each block is given room for all it may hold: to write without asking is faster than to append.
    let mut count = 0;
    let mut last = 0;
    for (number, (pair, marks)) in words.windows(2).zip(&*begins).enumerate() {
        let &[here, next] = pair else { continue };
        let mut events = here & !(here << 1 | last) | marks;
        last = here >> 63;
        if out.len() < count + 64 {
            out.resize(out.len() * 2 + 256, Candidate::default());
        }
        let Some(room) = out.get_mut(count..count + 64) else { break };
        let mut found = 0;
        while events != 0 {
            let bit = events.trailing_zeros() as usize;
            events &= events - 1;
            let at = number * 64 + bit;
            let length = (!(here >> bit | next << 1 << (63 - bit))).trailing_zeros() as usize;
            let chunk = chunk(bytes, at, bytes.len());
            let mark = u8::from(marks >> bit & 1 != 0) * MARK;
            let kinds = looks.kinds(first_look(chunk, length), chunk as u8) & wanted | mark;
            room[found & 63] = Candidate::new(at, kinds);
            found += usize::from(kinds != 0);
        }
        count += found;
    }
    out.truncate(count);
}

/// 64 bytes of a text. Each test gives a bit for each byte.
struct Block([u8x16; 4]);

impl Block {
    #[inline]
    fn new(bytes: &[u8; 64]) -> Self {
        let (quarters, _) = bytes.as_chunks::<16>();
        Self(std::array::from_fn(|at| quarters.get(at).map_or(u8x16::ZERO, |quarter| u8x16::new(*quarter))))
    }

    /// Bytes that are letters, digits or `_`.
    #[inline]
    fn words(&self) -> u64 {
        let each = u8x16::splat;
        self.bits(|bytes| {
            let at_most = |bytes: u8x16, most| bytes.min(each(most)).simd_eq(bytes);
            let letters = at_most((bytes | each(0x20)) - each(b'a'), 25);
            let digits = at_most(bytes - each(b'0'), 9);
            letters | digits | bytes.simd_eq(each(b'_'))
        })
    }

    /// Bytes beyond ASCII.
    #[inline]
    fn wide(&self) -> u64 {
        self.bits(|bytes| bytes)
    }

    #[inline]
    fn line_ends(&self) -> u64 {
        self.bits(|bytes| bytes.simd_eq(u8x16::splat(b'\n')))
    }

    /// Bytes that are one of the marks.
    #[inline]
    fn marks(&self, marks: &[u8]) -> u64 {
        self.bits(|bytes| {
            marks.iter().fold(u8x16::ZERO, |all, mark| all | bytes.simd_eq(u8x16::splat(*mark)))
        })
    }

    /// The highest bit of each byte that the test makes of each.
    #[inline]
    fn bits(&self, test: impl Fn(u8x16) -> u8x16) -> u64 {
        let [a, b, c, d] = self.0.map(|bytes| u64::from(test(bytes).to_bitmask()));
        a | b << 16 | c << 32 | d << 48
    }
}
