//! How often a 95 % interval of the mean holds the truth, on sessions as survival makes them: some keep nothing, some
//! keep everything, the rest lie between. `cargo bench --bench coverage`.
//!
//! The interval that is printed with every mean stands beside the two that were considered and not taken. Then the same for
//! differences between two strategies that are equally good, most of whose sessions tie: how often a difference is seen.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use compactor::stats::{Interval, SplitMix64, bootstrap_mean, mean, paired, quantile};
use rayon::prelude::*;

const RUNS: u64 = 4_000;
const RESAMPLES: usize = 2_000;

/// A population of sessions: shares that keep nothing and everything, and the range of the others, who are spread evenly.
struct Shape {
    none: f64,
    all: f64,
    between: (f64, f64),
}

const SHAPES: [Shape; 6] = [
    Shape { none: 0.0, all: 0.0, between: (0.0, 1.0) },
    Shape { none: 0.2, all: 0.2, between: (0.0, 1.0) },
    Shape { none: 0.1, all: 0.5, between: (0.3, 1.0) },
    Shape { none: 0.5, all: 0.1, between: (0.0, 0.6) },
    Shape { none: 0.6, all: 0.3, between: (0.0, 1.0) },
    Shape { none: 0.05, all: 0.85, between: (0.2, 1.0) },
];

fn main() {
    println!(
        "{:<38} {:>4} {:>8} {:>11} {:>10}",
        "sessions that keep", "n", "printed", "percentile", "Student t"
    );
    for shape in &SHAPES {
        for n in [10, 20, 50, 200] {
            let held = total((0..RUNS).into_par_iter().map(|run| held(shape, n, run)));
            let [printed, percentile, student] = held.map(|held| held as f64 / RUNS as f64);
            let name = format!(
                "nothing {:.2}, all {:.2}, else {:.1}-{:.1}",
                shape.none, shape.all, shape.between.0, shape.between.1
            );
            println!("{name:<38} {n:>4} {printed:>8.3} {percentile:>11.3} {student:>10.3}");
        }
    }
    differences();
}

/// How often two equally good strategies are told apart, of which so many sessions tie.
fn differences() {
    println!(
        "\n{:<38} {:>4} {:>8} {:>11} {:>10}",
        "no difference, of which tie", "n", "printed", "percentile", "BCa"
    );
    for ties in [0.4, 0.6, 0.8] {
        for n in [10, 15, 37, 56, 200] {
            let seen = total((0..RUNS).into_par_iter().map(|run| {
                let mut random = SplitMix64::new(run * 1_000 + n as u64);
                let mut uniform = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
                // Small differences are common, large ones rare, on both sides alike.
                let values: Vec<f64> = (0..n)
                    .map(|_| if uniform() < ties { 0.0 } else { (uniform() * 2.0 - 1.0).powi(3) })
                    .collect();
                let decided = paired(&values).p.is_some_and(|p| p <= 0.05);
                let apart =
                    |interval: Option<Interval>| interval.is_some_and(|it| 0.0 < it.low || it.high < 0.0);
                [decided, apart(percentile(&values, run)), apart(bootstrap_mean(&values, run))].map(u64::from)
            }));
            let [printed, percentile, corrected] = seen.map(|seen| seen as f64 / RUNS as f64);
            let name = format!("{:.0} %", ties * 100.0);
            println!("{name:<38} {n:>4} {printed:>8.3} {percentile:>11.3} {corrected:>10.3}");
        }
    }
}

fn total(counts: impl ParallelIterator<Item = [u64; 3]>) -> [u64; 3] {
    counts.reduce(
        || [0; 3],
        |mut left, right| {
            left.iter_mut().zip(right).for_each(|(left, right)| *left += right);
            left
        },
    )
}

/// Which of the intervals of one sample hold the truth.
fn held(shape: &Shape, n: usize, run: u64) -> [u64; 3] {
    let mut random = SplitMix64::new(run * 1_000 + n as u64);
    let mut uniform = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let (low, high) = shape.between;
    let values: Vec<f64> = (0..n)
        .map(|_| match uniform() {
            at if at < shape.none => 0.0,
            at if at < shape.none + shape.all => 1.0,
            _ => low + (high - low) * uniform(),
        })
        .collect();
    let truth = shape.all + (1.0 - shape.none - shape.all) * f64::midpoint(low, high);
    [bootstrap_mean(&values, run), percentile(&values, run), student(&values)].map(|interval| {
        u64::from(interval.is_some_and(|interval| interval.low <= truth && truth <= interval.high))
    })
}

fn percentile(values: &[f64], seed: u64) -> Option<Interval> {
    let mut random = SplitMix64::new(seed);
    let means: Vec<f64> = (0..RESAMPLES)
        .map(|_| values.iter().map(|_| values[random.below(values.len())]).sum::<f64>() / values.len() as f64)
        .collect();
    Some(Interval { low: quantile(&means, 0.025)?, high: quantile(&means, 0.975)? })
}

fn student(values: &[f64]) -> Option<Interval> {
    let n = values.len() as f64;
    let centre = mean(values)?;
    let variance = values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / (n - 1.0);
    // Quantile of the t distribution, from that of the normal one (Cornish and Fisher).
    let (z, v) = (1.959_964_f64, n - 1.0);
    let t = z
        + (z.powi(3) + z) / (4.0 * v)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * v * v)
        + (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / (384.0 * v.powi(3));
    let half = t * (variance / n).sqrt();
    Some(Interval { low: centre - half, high: centre + half })
}
