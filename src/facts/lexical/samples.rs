//! Texts for tests that compare a quick look with the slow rule it stands before.

use super::{LazyLock, Regex};

/// So many texts of up to `most` pieces each, the same ones each time.
pub(super) fn samples(pieces: &[&str], most: usize, count: usize) -> Vec<String> {
    let mut state = 1_u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    (0..count).map(|_| (0..=below(most)).map(|_| pieces[below(pieces.len())]).collect()).collect()
}

/// Each text that a pattern matches passes the look before it, and each pattern matches some.
pub(super) fn check_looks<const N: usize>(
    pieces: &[&str],
    most: usize,
    count: usize,
    rules: [(fn(&str) -> bool, &LazyLock<Option<Regex>>); N],
) {
    let mut matches = [0; N];
    for text in samples(pieces, most, count) {
        for ((may, rule), matches) in rules.iter().zip(&mut matches) {
            if rule.as_ref().is_some_and(|rule| rule.is_match(&text)) {
                *matches += 1;
                assert!(may(&text), "{text}");
            }
        }
    }
    assert!(matches.iter().all(|count| *count > 20), "{matches:?}");
}
