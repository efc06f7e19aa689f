//! Texts for tests that compare a quick look with the slow rule it stands before.

/// So many texts of up to `most` pieces each, the same ones each time.
pub(super) fn samples(pieces: &[&str], most: usize, count: usize) -> Vec<String> {
    let mut state = 1_u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    (0..count).map(|_| (0..=below(most)).map(|_| pieces[below(pieces.len())]).collect()).collect()
}
