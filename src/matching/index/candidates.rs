//! Where in a text a needle may begin: what the first look at each word and mark tells.

use super::hash::{chunk, first_look};

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

/// Something may begin here: a word that a needle begins with, a number, a mark. Most of a text is none of it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Candidate {
    pub(super) at: usize,
    /// Needles for which the word is right, as far as the first look tells.
    pub(super) kinds: u8,
}

/// A mark, not a word.
pub(super) const MARK: u8 = 1 << 7;

/// What a first look at a text finds, kept between texts for its memory.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Ordered by position.
    pub(super) candidates: Vec<Candidate>,
    /// A bit for each byte beyond ASCII.
    pub(super) wide: Vec<u64>,
    /// Likewise for those of words, and for marks that are looked for.
    words: Vec<u64>,
    marks: Vec<u64>,
}

/// Finds the candidates of a text. Has no branch for each word; the tests of a block of 64 bytes are made on all of them
/// at once, by vector instructions where there are any.
pub(super) fn candidates(bytes: &[u8], looks: &Looks, wanted: u8, marks: &[u8], seen: &mut Seen) {
    let Seen { candidates: out, wide, words, marks: begins } = seen;
    out.clear();
    for bits in [&mut *wide, &mut *words, &mut *begins] {
        bits.clear();
        bits.reserve(bytes.len() / 64 + 2);
    }
    let mut add = |bytes: &[u8; 64]| {
        words.push(bits(bytes, |byte| {
            (byte | 0x20).wrapping_sub(b'a') < 26 || byte.wrapping_sub(b'0') < 10 || byte == b'_'
        }));
        wide.push(bits(bytes, |byte| byte >= 0x80));
        begins.push(marks.iter().fold(0, |all, mark| all | bits(bytes, |byte| byte == *mark)));
    };
    let (whole, rest) = bytes.as_chunks::<64>();
    whole.iter().for_each(&mut add);
    if !rest.is_empty() {
        let mut padded = [b' '; 64];
        padded[..rest.len()].copy_from_slice(rest);
        add(&padded);
    }
    words.push(0);
    let mut found = [Candidate::default(); 64];
    let mut last = 0;
    for (number, (pair, marks)) in words.windows(2).zip(&*begins).enumerate() {
        let &[here, next] = pair else { continue };
        let mut events = here & !(here << 1 | last) | marks;
        last = here >> 63;
        let mut count = 0;
        while events != 0 {
            let bit = events.trailing_zeros() as usize;
            events &= events - 1;
            let at = number * 64 + bit;
            let length = (!(here >> bit | next << 1 << (63 - bit))).trailing_zeros() as usize;
            let chunk = chunk(bytes, at, bytes.len());
            let mark = u8::from(marks >> bit & 1 != 0) * MARK;
            let kinds = looks.kinds(first_look(chunk, length), chunk as u8) & wanted | mark;
            found[count & 63] = Candidate { at, kinds };
            count += usize::from(kinds != 0);
        }
        out.extend_from_slice(found.get(..count).unwrap_or_default());
    }
}

/// A bit for each byte that passes the test.
#[inline]
fn bits(bytes: &[u8; 64], test: impl Fn(u8) -> bool) -> u64 {
    let flags = bytes.map(|byte| u8::from(test(byte)));
    let (eights, _) = flags.as_chunks::<8>();
    // The product moves the lowest bit of each of eight bytes into the highest byte.
    eights
        .iter()
        .rev()
        .fold(0, |all, eight| all << 8 | u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56)
}
