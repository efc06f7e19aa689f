//! Passes that take turns, so that a disturbance meets all kinds alike.

use std::time::Duration;

/// The median of each kind of pass over the rounds.
pub(crate) fn medians<const N: usize>(rounds: &[[Duration; N]]) -> [Duration; N] {
    std::array::from_fn(|kind| {
        let mut times: Vec<Duration> = rounds.iter().filter_map(|round| round.get(kind).copied()).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    })
}
