//! Words and paths as numbers: read and hashed eight bytes at a time.

use std::num::NonZeroU64;

/// Which bits of a chunk belong to a word, by its length.
const OF_WORD: [u64; 65] = {
    let mut masks = [u64::MAX; 65];
    let mut length = 0;
    while length < 8 {
        masks[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    masks
};

/// First letters and length of a word or a mark, which tell most words apart.
#[inline]
pub(super) fn first_look(chunk: u64, length: usize) -> u64 {
    let length = length.min(64);
    ((chunk | FOLD) & OF_WORD[length] ^ length as u64).wrapping_mul(SEED)
}

/// Every byte of a chunk set to `byte`.
pub(super) const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

const SEED: u64 = 0x51_7c_c1_b7_27_22_0a_95;

/// Folds the case of ASCII letters in a hash.
pub(super) const FOLD: u64 = each(0x20);

/// A word as it is looked up, with ASCII case folded away.
#[derive(Debug, Clone, Copy)]
pub(super) struct Folded {
    /// Other distinctions than case may be lost: they are left to the comparison that follows.
    pub(super) hash: u64,
    /// A word of ASCII with up to [`CHUNK`] bytes, as a number; it tells such words apart.
    pub(super) short: Option<NonZeroU64>,
}

#[inline]
pub(super) fn fold(bytes: &[u8], start: usize, end: usize) -> Folded {
    let length = end - start;
    if !(1..=CHUNK).contains(&length) {
        return Folded { hash: hash_chunks::<FOLD>(bytes, start, end), short: None };
    }
    let word = (chunk(bytes, start, bytes.len()) | FOLD) & OF_WORD[length];
    let short = if word & each(0x80) == 0 { NonZeroU64::new(word) } else { None };
    Folded { hash: finish(mix::<FOLD>(0, word, length), length), short }
}

/// Bytes that are taken at once.
pub(super) const CHUNK: usize = 8;

/// The first bytes of a word as they stand, up to [`CHUNK`].
#[inline]
pub(super) fn opening(bytes: &[u8], start: usize, end: usize) -> u64 {
    chunk(bytes, start, bytes.len()) & OF_WORD[(end - start).min(CHUNK)]
}

/// How a token begins, its length, and what stands behind it: which of these phrases begin with is kept in a filter.
#[inline]
pub(super) fn hash_beginning(opening: u64, length: usize, behind: u8) -> u64 {
    let token = opening.wrapping_mul(SEED).rotate_left(24) ^ (length as u64) << 8;
    (token ^ u64::from(behind)).wrapping_mul(SEED)
}

/// Number of a token at a node: no two have the same, since nothing of them is lost.
#[inline]
pub(super) fn hash_step(node: u32, token: u32) -> u64 {
    let hash = (u64::from(node) << 32 | u64::from(token)).wrapping_mul(SEED);
    hash ^ hash >> 29
}

pub(super) fn hash_path(bytes: &[u8]) -> u64 {
    hash_chunks::<0>(bytes, 0, bytes.len())
}

#[inline]
pub(super) fn hash_chunks<const FOLD: u64>(bytes: &[u8], start: usize, end: usize) -> u64 {
    let mut hash = 0;
    let mut at = start;
    while at < end {
        hash = mix::<FOLD>(hash, chunk(bytes, at, end), (end - at).min(8));
        at += 8;
    }
    finish(hash, end - start)
}

/// Up to eight bytes from `at` on; what follows `end` may be among them.
#[inline]
pub(super) fn chunk(bytes: &[u8], at: usize, end: usize) -> u64 {
    if let Some(eight) = bytes.get(at..at + 8).and_then(|eight| <[u8; 8]>::try_from(eight).ok()) {
        return u64::from_le_bytes(eight);
    }
    let rest = bytes.get(at..end).unwrap_or_default();
    rest.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// Takes the first `length` bytes (1 to 8) of a chunk into a hash.
#[inline]
fn mix<const FOLD: u64>(hash: u64, chunk: u64, length: usize) -> u64 {
    let mask = u64::MAX >> (64 - 8 * length);
    (hash.rotate_left(5) ^ (chunk | FOLD) & mask).wrapping_mul(SEED)
}

#[inline]
fn finish(hash: u64, length: usize) -> u64 {
    let hash = (hash ^ length as u64).wrapping_mul(SEED);
    hash ^ hash >> 29
}
