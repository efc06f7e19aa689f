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
    /// Mean of the per-session differences and its interval, by Student's t.
    pub difference: Estimate,
    /// Sessions with a positive difference.
    pub positive: u64,
    /// Sessions with a negative one.
    pub negative: u64,
    /// Sessions without one.
    pub ties: u64,
    /// Two-sided p of the sign test; `None` where all sessions tie, and with more than 1,000.
    pub sign_p: Option<f64>,
    /// Two-sided p that decides: of Student's t test, below [`MIN_SESSIONS`] sessions of the sign test.
    pub p: Option<f64>,
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

/// Mean over sessions with a bootstrap interval: sessions are drawn with replacement [`RESAMPLES`] times.
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

/// The 95 % interval of a share that is 0, or 1, in every one of `n` sessions, by Clopper and Pearson; `None` for other shares and
/// below [`MIN_SESSIONS`] sessions.
///
/// Every resample of such sessions is alike, so that a bootstrap would be certain of what ten sessions say. No mean of shares
/// makes a run of so many zeros (or ones) likelier than that of sessions which keep all or nothing, so the bound holds
/// whatever the shares of other sessions are.
pub fn extreme(n: usize, share: f64) -> Option<Interval> {
    if n < MIN_SESSIONS {
        return None;
    }
    let far = libm::pow((1.0 - CONFIDENCE) / 2.0, 1.0 / n as f64);
    match share {
        share if share.abs() < TIE => Some(Interval { low: 0.0, high: 1.0 - far }),
        share if (share - 1.0).abs() < TIE => Some(Interval { low: far, high: 1.0 }),
        _ => None,
    }
}

/// The 95 % interval of the mean over sessions; `None` below [`MIN_SESSIONS`]. Where all values are 0, or all are 1, they are
/// taken for shares ([`extreme`]).
pub fn bootstrap_mean(values: &[f64], seed: u64) -> Option<Interval> {
    let values = numbers(values);
    if let Some(first) = values.first()
        && values.iter().all(|value| (value - first).abs() < TIE)
        && let Some(interval) = extreme(values.len(), *first)
    {
        return Some(interval);
    }
    let weighted_mean = |weights: &[u32], out: &mut [f64]| {
        let total: f64 = values.iter().zip(weights).map(|(value, weight)| value * f64::from(*weight)).sum();
        let count: u32 = weights.iter().sum();
        if let Some(out) = out.first_mut() {
            *out = total / f64::from(count);
        }
    };
    bootstrap(values.len(), 1, seed, weighted_mean).first().copied().flatten()
}

/// The 95 % intervals of several figures of the same `n` sessions; `None` below [`MIN_SESSIONS`] sessions, and for a
/// figure that most resamples do not have.
///
/// `figures` gets how often each session is drawn and fills in the figures (NaN for one that these sessions do not have).
/// Sessions are drawn with replacement [`RESAMPLES`] times.
///
/// Bias-corrected and accelerated (Efron 1987). Survival is bounded and often all or nothing; of percentile, BCa and
/// Student's t this one came closest to its promise on such sessions (`cargo bench --bench coverage`).
pub fn bootstrap(
    n: usize,
    count: usize,
    seed: u64,
    figures: impl Fn(&[u32], &mut [f64]),
) -> Vec<Option<Interval>> {
    if n < MIN_SESSIONS {
        return vec![None; count];
    }
    let mut weights = vec![1_u32; n];
    let mut out = vec![f64::NAN; count];
    figures(&weights, &mut out);
    let observed = out.clone();
    let mut random = SplitMix64::new(seed);
    let mut resampled = vec![Vec::with_capacity(RESAMPLES); count];
    let mut take = |weights: &[u32], into: &mut [Vec<f64>]| {
        out.fill(f64::NAN);
        figures(weights, &mut out);
        for (list, value) in into.iter_mut().zip(&out) {
            list.extend(Some(*value).filter(|value| !value.is_nan()));
        }
    };
    for _ in 0..RESAMPLES {
        weights.fill(0);
        for _ in 0..n {
            if let Some(weight) = weights.get_mut(random.below(n)) {
                *weight += 1;
            }
        }
        take(&weights, &mut resampled);
    }
    // Each session left out once.
    let mut without = vec![Vec::with_capacity(n); count];
    weights.fill(1);
    for left_out in 0..n {
        weights.iter_mut().skip(left_out).take(1).for_each(|weight| *weight = 0);
        take(&weights, &mut without);
        weights.fill(1);
    }
    let each = observed.into_iter().zip(resampled).zip(without);
    each.map(|((observed, mut values), without)| {
        values.sort_by(f64::total_cmp);
        corrected(observed, &values, &without)
    })
    .collect()
}

/// The interval of a figure from its sorted resamples and its jackknife values.
fn corrected(observed: f64, values: &[f64], without: &[f64]) -> Option<Interval> {
    if observed.is_nan() || values.len() < RESAMPLES / 2 {
        return None;
    }
    let tie = TIE * observed.abs().max(1.0);
    let below = values.partition_point(|value| *value < observed - tie);
    let level = values.partition_point(|value| *value <= observed + tie) - below;
    // Half of the ties are below; the ends of the scale are no more certain than one resample tells.
    let share = (below as f64 + level as f64 / 2.0) / values.len() as f64;
    let end = 0.5 / values.len() as f64;
    let bias = normal_quantile(share.clamp(end, 1.0 - end));
    let acceleration = acceleration(without);
    let at = |z: f64| {
        let shifted = bias + z;
        normal(bias + shifted / (1.0 - acceleration * shifted))
    };
    let outside = normal_quantile((1.0 - CONFIDENCE) / 2.0);
    let low = quantile_of_sorted(values, at(outside))?;
    let high = quantile_of_sorted(values, at(-outside))?;
    Some(Interval { low, high })
}

/// How the error of a figure changes with the figure: a sixth of the skewness of its jackknife values. 0 where all are
/// equal. No sample makes it large enough to turn an interval round.
fn acceleration(without: &[f64]) -> f64 {
    let Some(centre) = mean(without) else { return 0.0 };
    let moment = |power: i32| without.iter().map(|value| (centre - value).powi(power)).sum::<f64>();
    let squares = moment(2);
    if squares > TIE * TIE { moment(3) / (6.0 * squares * squares.sqrt()) } else { 0.0 }
}

/// Share of a standard normal distribution below `z`.
fn normal(z: f64) -> f64 {
    0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
}

/// The `z` below which a share of a standard normal distribution lies, for shares between 1e-15 and its complement.
fn normal_quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-8.0_f64, 8.0_f64);
    // Halved as often as a double can tell.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if normal(middle) < share { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// Compares two contenders on the sessions both have: `differences` holds one value a session, first minus second.
///
/// The interval and the test are Student's. Most sessions tie, so that the bootstrap sees few that differ and takes two or
/// three on one side for a rule; t keeps its promise there (`cargo bench --bench coverage`).
pub fn paired(differences: &[f64]) -> Paired {
    let differences: Vec<f64> =
        numbers(differences).into_iter().map(|value| if value.abs() < TIE { 0.0 } else { value }).collect();
    let count =
        |sign: Ordering| differences.iter().filter(|value| value.total_cmp(&0.0) == sign).count() as u64;
    let (positive, negative) = (count(Ordering::Greater), count(Ordering::Less));
    let sign_p = sign_test(positive, negative);
    let student = student(&differences);
    Paired {
        difference: Estimate {
            mean: mean(&differences),
            low: student.map(|(interval, _)| interval.low),
            high: student.map(|(interval, _)| interval.high),
            n: differences.len() as u64,
        },
        positive,
        negative,
        ties: count(Ordering::Equal),
        sign_p,
        p: student.map_or(sign_p, |(_, p)| Some(p)),
    }
}

/// The 95 % interval of a mean by Student's t, and the two-sided p of its being 0; `None` below [`MIN_SESSIONS`] values.
fn student(values: &[f64]) -> Option<(Interval, f64)> {
    if values.len() < MIN_SESSIONS {
        return None;
    }
    let centre = mean(values)?;
    let freedom = (values.len() - 1) as f64;
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    let error = (squares / freedom / values.len() as f64).sqrt();
    // Values that are all the same leave no doubt.
    if error < TIE {
        return Some((Interval { low: centre, high: centre }, if centre.abs() < TIE { 1.0 } else { 0.0 }));
    }
    let half = error * student_quantile(freedom);
    Some((Interval { low: centre - half, high: centre + half }, student_p(centre / error, freedom)))
}

/// Two-sided p of a value of Student's t distribution.
fn student_p(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// The value that Student's t distribution stays within with [`CONFIDENCE`].
fn student_quantile(freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1_000.0_f64);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if student_p(middle, freedom) > 1.0 - CONFIDENCE { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// Regularised incomplete beta function, by its continued fraction.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges fast on one side only; the other follows by symmetry.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = libm::exp(
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log(1.0 - x),
    ) / a;
    let near_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    // Numerator and denominator of the convergents, each by the one before (Lentz).
    let (mut upper, mut lower) = (1.0, 1.0 / near_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = lower;
    for step in 1..500 {
        let step = f64::from(step);
        let even = step * (b - step) * x / ((a + 2.0 * step - 1.0) * (a + 2.0 * step));
        let odd = -(a + step) * (a + b + step) * x / ((a + 2.0 * step) * (a + 2.0 * step + 1.0));
        for term in [even, odd] {
            lower = 1.0 / near_zero(1.0 + term * lower);
            upper = near_zero(1.0 + term / upper);
            fraction *= upper * lower;
        }
        if (upper * lower - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
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

/// One step of a survival curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Rounds.
    pub age: u32,
    /// Lives observed for at least so many rounds.
    pub at_risk: u64,
    /// Of those, ended in this round.
    pub lost: u64,
    /// Estimated share of lives that outlast the round, 0 to 1.
    pub survival: f64,
}

/// Survival by age (Kaplan and Meier 1958). For each age from 1: the lives that were last seen at it, lost or not
/// (censored), and of those the ones that were lost. What does not outlive its first round has age 1.
pub fn kaplan_meier(ended: &[(u64, u64)]) -> Vec<Step> {
    let mut at_risk: u64 = ended.iter().map(|(all, _)| all).sum();
    let mut survival = 1.0;
    (1..)
        .zip(ended)
        .map(|(age, (all, lost))| {
            if at_risk > 0 {
                survival *= (at_risk - lost) as f64 / at_risk as f64;
            }
            let step = Step { age, at_risk, lost: *lost, survival };
            at_risk -= all;
            step
        })
        .collect()
}

/// The first age that no more than half outlast; `None` when the curve ends above.
pub fn half_life(curve: &[Step]) -> Option<u32> {
    // A product of ratios may miss an exact half by its last digit.
    curve.iter().find(|step| step.survival <= 0.5 + TIE).map(|step| step.age)
}

/// The p-values of several tests, each so large that the chance of any false alarm among them stays what it was for one
/// (Holm 1979). In the order given.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut highest = 0.0_f64;
    for (rank, at) in order.into_iter().enumerate() {
        highest = highest.max(((p_values.len() - rank) as f64 * p_values[at]).min(1.0));
        adjusted[at] = highest;
    }
    adjusted
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
mod tests;
