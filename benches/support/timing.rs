//! The clock of a benchmark.

use std::time::{Duration, Instant};

/// What a pass gives, and how long it took.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
pub(crate) fn timed<T>(pass: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = pass();
    (start.elapsed(), result)
}
