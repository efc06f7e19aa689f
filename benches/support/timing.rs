//! The clock of a benchmark.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// What a pass gives, and the time that the processors spent on it, so that what else the machine does counts little.
pub(crate) fn timed<T>(pass: impl FnOnce() -> T) -> (Duration, T) {
    let start = spent();
    let result = pass();
    (spent().saturating_sub(start), result)
}

/// What the process has spent so far, in all of its threads.
fn spent() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().expect("no process runs for less than nothing")
}
