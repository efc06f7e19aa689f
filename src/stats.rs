//! Statistics over sessions: means, bootstrap intervals, paired differences, an exact sign test.
//!
//! Separate because it knows nothing of compaction: slices of `f64` in, numbers out. One value stands for one session,
//! so that resampling values resamples sessions (facts of one session are not independent of each other). Everything
//! is serial and seeded: equal input gives equal bits. NaN is a caller's mistake: a debug build stops, a release build
//! leaves it out.

use std::cmp::Ordering;

/// Resamples of one bootstrap.
pub const RESAMPLES: usize = 2_000;

/// Below this many sessions no interval is given: it would promise more than it knows.
pub const MIN_SESSIONS: usize = 10;

/// Share of resamples inside an interval.
pub const CONFIDENCE: f64 = 0.95;

/// Start of the random numbers behind every interval; fixed, so that equal runs have equal intervals.
pub const SEED: u64 = 0x636f_6d70_6163_7421;

/// Differences smaller than this are rounding noise and count as ties.
const TIE: f64 = 1e-12;

/// Steele, Lea and Flood's generator: tiny, good enough for resampling, and the same on every machine and in every
/// version of this program (a test pins its values).
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator that starts at `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A random index below `bound`; 0 when `bound` is 0. The bias of at most `bound / 2^64` does not matter here.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }
}

/// An interval that holds the value with [`CONFIDENCE`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A mean over sessions with what is known about its error.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Estimate {
    /// Mean; `None` without sessions.
    pub mean: Option<f64>,
    /// Lower end of the 95 % interval; `None` below [`MIN_SESSIONS`] sessions.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Sessions with a value.
    pub n: u64,
}

/// What paired sessions say about two contenders.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paired {
    /// Mean of the per-session differences and its interval.
    pub difference: Estimate,
    /// Sessions with a positive difference.
    pub positive: u64,
    /// Sessions with a negative one.
    pub negative: u64,
    /// Sessions without one.
    pub ties: u64,
    /// Two-sided p of the sign test; only below [`MIN_SESSIONS`] sessions, where there is no interval.
    pub sign_p: Option<f64>,
}

/// Arithmetic mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    let values = numbers(values);
    (!values.is_empty()).then(|| sum(&values) / values.len() as f64)
}

/// The value below which a share `at` (0 to 1, clamped) of the values lies, interpolated between neighbours.
pub fn quantile(values: &[f64], at: f64) -> Option<f64> {
    let mut values = numbers(values);
    values.sort_by(f64::total_cmp);
    quantile_of_sorted(&values, at)
}

/// The middle value; the mean of the two middle ones for an even number.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Mean over sessions with a percentile bootstrap interval: sessions are drawn with replacement [`RESAMPLES`] times.
pub fn estimate(values: &[f64], seed: u64) -> Estimate {
    let values = numbers(values);
    let interval = bootstrap_mean(&values, seed);
    Estimate {
        mean: mean(&values),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        n: values.len() as u64,
    }
}

/// The 95 % percentile interval of the mean over sessions; `None` below [`MIN_SESSIONS`].
pub fn bootstrap_mean(values: &[f64], seed: u64) -> Option<Interval> {
    let values = numbers(values);
    if values.len() < MIN_SESSIONS {
        return None;
    }
    let mut random = SplitMix64::new(seed);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let total: f64 = (0..values.len())
                .map(|_| values.get(random.below(values.len())).copied().unwrap_or(0.0))
                .sum();
            total / values.len() as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let outside = (1.0 - CONFIDENCE) / 2.0;
    let low = quantile_of_sorted(&means, outside)?;
    let high = quantile_of_sorted(&means, 1.0 - outside)?;
    Some(Interval { low, high })
}

/// Compares two contenders on the sessions both have: `differences` holds one value a session, first minus second.
pub fn paired(differences: &[f64], seed: u64) -> Paired {
    let differences: Vec<f64> =
        numbers(differences).into_iter().map(|value| if value.abs() < TIE { 0.0 } else { value }).collect();
    let count =
        |sign: Ordering| differences.iter().filter(|value| value.total_cmp(&0.0) == sign).count() as u64;
    let (positive, negative) = (count(Ordering::Greater), count(Ordering::Less));
    let few = differences.len() < MIN_SESSIONS;
    Paired {
        difference: estimate(&differences, seed),
        positive,
        negative,
        ties: count(Ordering::Equal),
        sign_p: if few { sign_test(positive, negative) } else { None },
    }
}

/// Exact two-sided sign test: how likely a split at least this uneven is when both contenders are equally good. Ties
/// are left out beforehand. `None` when nothing is left, or with more than 1,000 sessions, which have an interval.
pub fn sign_test(positive: u64, negative: u64) -> Option<f64> {
    let n = positive + negative;
    if n == 0 || 1_000 < n {
        return None;
    }
    let rarer = positive.min(negative);
    let half_to_n = 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let mut ways = 1.0;
    let mut tail = 0.0;
    for k in 0..=rarer {
        tail += ways;
        ways = ways * (n - k) as f64 / (k + 1) as f64;
    }
    Some((2.0 * tail * half_to_n).min(1.0))
}

/// The values without NaN. Infinities are values: they are visible in any result.
fn numbers(values: &[f64]) -> Vec<f64> {
    debug_assert!(
        values.iter().all(|value| !value.is_nan()),
        "a ratio without a denominator is None, never NaN"
    );
    values.iter().copied().filter(|value| !value.is_nan()).collect()
}

/// Sum with Neumaier's correction, so that the mean of equal values is that value.
fn sum(values: &[f64]) -> f64 {
    let (mut total, mut lost) = (0.0_f64, 0.0_f64);
    for value in values {
        let next = total + value;
        lost += if total.abs() >= value.abs() { (total - next) + value } else { (value - next) + total };
        total = next;
    }
    if lost.is_finite() { total + lost } else { total }
}

fn quantile_of_sorted(sorted: &[f64], at: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = at.clamp(0.0, 1.0) * last as f64;
    let below = *sorted.get(position.floor() as usize)?;
    let above = *sorted.get(position.ceil() as usize)?;
    Some(if below.total_cmp(&above).is_eq() { below } else { below + (above - below) * position.fract() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9
    }

    #[test]
    fn the_generator_keeps_its_published_values() {
        // The first outputs for seed 1234567 of the reference implementation.
        let mut random = SplitMix64::new(1_234_567);
        let first: Vec<u64> = (0..5).map(|_| random.next_u64()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
        assert_eq!(SplitMix64::new(1).below(0), 0);
        assert!((0..1_000).all(|_| random.below(7) < 7));
    }

    #[test]
    fn means_and_quantiles() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[0.1; 10]), Some(0.1));
        assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(quantile(&[10.0, 20.0, 30.0, 40.0, 50.0], 0.25), Some(20.0));
        assert_eq!(quantile(&[1.0], 0.975), Some(1.0));
        assert_eq!(quantile(&[1.0, 2.0], 7.0), Some(2.0));
    }

    #[test]
    fn the_sign_test_matches_the_binomial_table() {
        for (positive, negative, p) in [
            (0, 0, None),
            (1, 0, Some(1.0)),
            (5, 0, Some(0.0625)),
            (6, 0, Some(0.03125)),
            (0, 9, Some(0.003_906_25)),
            (7, 1, Some(0.070_312_5)),
            (8, 1, Some(0.039_062_5)),
            (4, 4, Some(1.0)),
        ] {
            assert_eq!(sign_test(positive, negative), p, "{positive} to {negative}");
        }
    }

    #[test]
    fn below_ten_sessions_there_is_a_mean_and_no_interval() {
        let nine = estimate(&[0.5; 9], SEED);
        assert_eq!((nine.mean, nine.low, nine.n), (Some(0.5), None, 9));
        let ten = estimate(&[0.5; 10], SEED);
        assert!(ten.low.is_some_and(|low| close(low, 0.5)) && ten.high.is_some_and(|high| close(high, 0.5)));
        assert_eq!(estimate(&[], SEED), Estimate::default());
    }

    #[test]
    fn an_interval_agrees_with_the_normal_approximation() {
        // 400 values, half 0 and half 1: the standard error of the mean is 0.025.
        let values: Vec<f64> = (0..400).map(|i| f64::from(i % 2)).collect();
        let interval = bootstrap_mean(&values, SEED).unwrap();
        assert!((interval.low - 0.451).abs() < 0.006, "{interval:?}");
        assert!((interval.high - 0.549).abs() < 0.006, "{interval:?}");
        assert_eq!(bootstrap_mean(&values, SEED), Some(interval));
        assert_ne!(bootstrap_mean(&values, SEED + 1), Some(interval));
    }

    #[test]
    fn the_interval_covers_the_truth_about_as_often_as_it_says() {
        // Means of 20 uniform values, truth 0.5. The percentile interval is known to be a little short for few values.
        let mut random = SplitMix64::new(7);
        let runs = 200;
        let covered = (0..runs)
            .filter(|run| {
                let values: Vec<f64> = (0..20).map(|_| random.below(1_000_001) as f64 / 1e6).collect();
                bootstrap_mean(&values, SEED + run).is_some_and(|i| i.low <= 0.5 && 0.5 <= i.high)
            })
            .count();
        assert!((178..=200).contains(&covered), "{covered} of {runs}");
    }

    #[test]
    fn a_run_against_itself_differs_by_exactly_nothing() {
        let same = paired(&[0.0; 12], SEED);
        assert_eq!(same.difference, Estimate { mean: Some(0.0), low: Some(0.0), high: Some(0.0), n: 12 });
        assert_eq!((same.positive, same.negative, same.ties, same.sign_p), (0, 0, 12, None));
    }

    #[test]
    fn paired_sessions_are_counted_by_sign_and_noise_is_a_tie() {
        let few = paired(&[0.25, 0.5, -0.25, 1e-16, 0.1 + 0.2 - 0.3], SEED);
        assert_eq!((few.positive, few.negative, few.ties), (2, 1, 2));
        assert_eq!(few.difference.mean, Some(0.1));
        assert_eq!((few.difference.low, few.sign_p), (None, Some(1.0)));
        let many = paired(&[0.25; 10], SEED);
        assert_eq!((many.positive, many.sign_p), (10, None));
        assert_eq!(many.difference.low, Some(0.25));
    }

    proptest! {
        #[test]
        fn an_interval_stays_within_the_values(values in prop::collection::vec(-1e6..1e6_f64, 10..40), seed: u64) {
            let interval = bootstrap_mean(&values, seed).unwrap();
            let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
            let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(smallest - 1e-6 <= interval.low);
            prop_assert!(interval.low <= interval.high);
            prop_assert!(interval.high <= largest + 1e-6);
        }

        #[test]
        fn the_sign_test_is_a_probability_and_has_no_side(a in 0_u64..500, b in 0_u64..500) {
            if let Some(p) = sign_test(a, b) {
                prop_assert!((0.0..=1.0).contains(&p));
                prop_assert_eq!(sign_test(b, a), Some(p));
            }
        }
    }
}
