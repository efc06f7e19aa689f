//! Which combination is best, and how sure that is: the one rule behind every recommendation.
//!
//! A combination is judged against the present setting over the sessions in which both have a value of the objective, so that
//! a setting under which fewer sessions are compacted is not judged on others. Both figures are means over these sessions;
//! combinations are ranked by how much more they have there.

use super::measure::Measured;
use crate::aggregate::Metric;
use crate::stats::{Paired, mean, paired};
use std::cmp::Ordering;

/// Differences smaller than this are rounding.
const TIE: f64 = 1e-9;

/// Below this p a difference is told apart from chance.
const LEVEL: f64 = 0.05;

/// Below this many sessions no test tells a difference from chance at [`LEVEL`]: the sign test of five that all say the same has
/// a p of 0.0625.
pub const LEAST_TELLING: usize = 6;

/// Least share of the sessions of the present setting in which a combination needs a value to be judged at all.
const LEAST_SHARE: f64 = 0.5;

/// A combination over the sessions that it shares with the present setting.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Score {
    /// Its mean of the objective.
    pub value: Option<f64>,
    /// That of the present setting on the same sessions.
    pub present: Option<f64>,
    /// Prompt tokens per request, mean over the same sessions.
    pub tokens: Option<f64>,
    /// Those of the present setting.
    pub present_tokens: Option<f64>,
    /// Sessions in which both have a value.
    pub n: usize,
    /// Hard invariants broken, in all sessions.
    pub violations: u64,
    /// Sessions that failed.
    pub failed: u64,
}

impl Score {
    /// How much more of the objective it has than the present setting.
    pub fn gained(&self) -> Option<f64> {
        Some(self.value? - self.present?)
    }

    /// How many more tokens it takes.
    pub fn more_tokens(&self) -> Option<f64> {
        Some(self.tokens? - self.present_tokens?)
    }
}

/// Sessions under a combination, one place each; nothing where it was not run.
pub type Sessions<'a> = Vec<Option<&'a Measured>>;

/// Scores a combination against the present setting.
pub fn score(own: &Sessions<'_>, present: &Sessions<'_>, objective: Metric) -> Score {
    let values: Vec<(f64, f64)> = own
        .iter()
        .zip(present)
        .filter_map(|(own, present)| Some(((*own)?.metric(objective)?, (*present)?.metric(objective)?)))
        .collect();
    let tokens: Vec<(f64, f64)> = own
        .iter()
        .zip(present)
        .filter_map(|(own, present)| {
            let (own, present) = ((*own)?, (*present)?);
            own.metric(objective).and(present.metric(objective))?;
            Some((own.tokens?, present.tokens?))
        })
        .collect();
    let of = |pairs: &[(f64, f64)], pick: fn(&(f64, f64)) -> f64| {
        mean(&pairs.iter().map(pick).collect::<Vec<_>>())
    };
    let ran = || own.iter().flatten();
    Score {
        value: of(&values, |pair| pair.0),
        present: of(&values, |pair| pair.1),
        tokens: of(&tokens, |pair| pair.0),
        present_tokens: of(&tokens, |pair| pair.1),
        n: values.len(),
        violations: ran().map(|one| one.violations).sum(),
        failed: ran().filter(|one| one.failed).count() as u64,
    }
}

/// Why a combination cannot win.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bar {
    /// It breaks hard invariants.
    Breaks,
    /// It failed on a session.
    Failed,
    /// It has a value in too few of the sessions in which the present setting has one, or in too few to tell anything.
    Few,
    /// It takes more tokens per request than allowed.
    Dear,
    /// The search dropped it on a share of the sessions.
    Dropped,
}

impl Bar {
    /// Name as written in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Breaks => "breaks-rules",
            Self::Failed => "failed",
            Self::Few => "too-few-sessions",
            Self::Dear => "too-many-tokens",
            Self::Dropped => "dropped",
        }
    }
}

/// What bars a combination from winning. `present` is the score of the present setting, `least` the sessions that a combination
/// needs, half of those of the present setting apart.
pub fn bar(score: &Score, present: &Score, max_tokens: Option<u64>, least: usize) -> Option<Bar> {
    if score.failed > present.failed {
        return Some(Bar::Failed);
    }
    if score.violations > 0 {
        return Some(Bar::Breaks);
    }
    if score.n < least.max(1) || (score.n as f64) < present.n as f64 * LEAST_SHARE {
        return Some(Bar::Few);
    }
    let dear = max_tokens.is_some_and(|most| score.tokens.is_none_or(|tokens| tokens > most as f64 + TIE));
    dear.then_some(Bar::Dear)
}

/// Larger gains first, of equal ones fewer tokens, then the smaller number.
pub fn better(left: (usize, &Score), right: (usize, &Score)) -> Ordering {
    let steps = |value: Option<f64>| value.map_or(i64::MIN, |value| (value / TIE).round() as i64);
    let tokens = |score: &Score| score.more_tokens().map_or(i64::MAX, |value| (value / TIE).round() as i64);
    steps(right.1.gained())
        .cmp(&steps(left.1.gained()))
        .then(tokens(left.1).cmp(&tokens(right.1)))
        .then(left.0.cmp(&right.0))
}

/// Places of the combinations that may win, the best first.
pub fn ranked(scores: &[Score], bars: &[Option<Bar>]) -> Vec<usize> {
    let mut places: Vec<(usize, &Score)> = scores
        .iter()
        .zip(bars)
        .enumerate()
        .filter(|(_, (_, bar))| bar.is_none())
        .map(|(at, (score, _))| (at, score))
        .collect();
    places.sort_by(|left, right| better(*left, *right));
    places.into_iter().map(|(at, _)| at).collect()
}

/// Places of those for which no other has as much of the objective for as few tokens, and more of one, each by its difference
/// from the present setting: by tokens, the cheapest first. Of equal ones the first stands for all. What costs too many tokens to win can still be among them.
pub fn frontier(scores: &[Score], bars: &[Option<Bar>]) -> Vec<usize> {
    let takes_part = |bar: Option<Bar>| bar.is_none_or(|bar| bar == Bar::Dear);
    let mut points: Vec<(usize, f64, f64)> = scores
        .iter()
        .zip(bars)
        .enumerate()
        .filter(|(_, (_, bar))| takes_part(**bar))
        .filter_map(|(at, (score, _))| Some((at, score.more_tokens()?, score.gained()?)))
        .collect();
    points.sort_by(|left, right| {
        left.1.total_cmp(&right.1).then(right.2.total_cmp(&left.2)).then(left.0.cmp(&right.0))
    });
    let mut best = f64::NEG_INFINITY;
    let mut front = Vec::new();
    for (at, _, value) in points {
        if value > best + TIE {
            best = value;
            front.push(at);
        }
    }
    front
}

/// The difference of two settings over the sessions in which both have a value: the first minus the second.
pub fn difference(first: &Sessions<'_>, second: &Sessions<'_>, objective: Metric) -> Paired {
    let differences: Vec<f64> = first
        .iter()
        .zip(second)
        .filter_map(|(first, second)| Some((*first)?.metric(objective)? - (*second)?.metric(objective)?))
        .collect();
    paired(&differences)
}

/// What held-out sessions say of the combination that was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No combination is better than the present setting where it was chosen.
    PresentIsBest,
    /// It is better, and that is not chance.
    Better,
    /// No difference that these sessions can tell from chance.
    NoDifference,
    /// It is worse, and that is not chance.
    Worse,
    /// It breaks hard invariants in held-out sessions, or fails there.
    Breaks,
    /// There is no held-out session in which both have a value.
    Untested,
    /// There are such sessions, too few for any test to tell a difference from chance.
    Few,
    /// The present setting has a value in too few dev sessions to choose by.
    FewToChoose,
    /// The present setting may not win itself: it breaks hard invariants, or takes more tokens than allowed.
    PresentIsBarred,
    /// Nothing may win.
    NothingFits,
}

impl Verdict {
    /// Name as written in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::PresentIsBest => "present-is-best",
            Self::Better => "better",
            Self::NoDifference => "no-measurable-difference",
            Self::Worse => "worse",
            Self::Breaks => "breaks-rules",
            Self::Untested => "untested",
            Self::Few => "too-few-held-out-sessions",
            Self::FewToChoose => "too-few-dev-sessions",
            Self::PresentIsBarred => "present-cannot-win",
            Self::NothingFits => "nothing-fits",
        }
    }

    /// The combination that was chosen is recommended, and not the present setting.
    pub fn recommends(self) -> bool {
        matches!(self, Self::Better | Self::PresentIsBarred)
    }
}

/// The verdict on the best combination, given its difference from the present setting in held-out sessions. `barred` says that
/// the present setting may not win, `breaks` that the best one breaks hard invariants or fails in held-out sessions.
pub fn verdict(chosen: Option<usize>, barred: bool, breaks: bool, held_out: &Paired) -> Verdict {
    match chosen {
        None => Verdict::NothingFits,
        Some(0) => Verdict::PresentIsBest,
        Some(_) if breaks => Verdict::Breaks,
        Some(_) if barred => Verdict::PresentIsBarred,
        Some(_) => match (held_out.difference.mean, held_out.p) {
            (None, _) => Verdict::Untested,
            _ if held_out.difference.n < LEAST_TELLING as u64 => Verdict::Few,
            (Some(mean), Some(p)) if p < LEVEL && mean > 0.0 => Verdict::Better,
            (Some(mean), Some(p)) if p < LEVEL && mean < 0.0 => Verdict::Worse,
            _ => Verdict::NoDifference,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::SplitMix64;

    fn point(value: f64, tokens: f64) -> Score {
        let present = (Some(0.0), Some(0.0));
        Score {
            value: Some(value),
            tokens: Some(tokens),
            present: present.0,
            present_tokens: present.1,
            n: 10,
            ..Score::default()
        }
    }

    fn measured(value: Option<f64>, tokens: f64) -> Measured {
        let mut metrics = [None; Metric::ALL.len()];
        metrics[5] = value;
        Measured { counts: value.is_some(), metrics, tokens: Some(tokens), ..Measured::default() }
    }

    /// By the definition: nobody is as good in both and better in one, and no equal one stands before it.
    fn by_definition(scores: &[Score], bars: &[Option<Bar>]) -> Vec<usize> {
        let of = |at: usize| (scores[at].tokens.unwrap(), scores[at].value.unwrap());
        let part = |at: &usize| bars[*at].is_none_or(|bar| bar == Bar::Dear);
        let mut front: Vec<usize> = (0..scores.len())
            .filter(part)
            .filter(|at| {
                let (tokens, value) = of(*at);
                !(0..scores.len()).filter(part).any(|other| {
                    let (less, more) = of(other);
                    less <= tokens && more >= value && (less < tokens || more > value || other < *at)
                })
            })
            .collect();
        front.sort_by(|a, b| of(*a).0.total_cmp(&of(*b).0));
        front
    }

    #[test]
    fn the_frontier_is_what_its_definition_says() {
        let mut random = SplitMix64::new(7);
        for _ in 0..500 {
            let n = random.below(12);
            // Few values, so that many are equal.
            let scores: Vec<Score> =
                (0..n).map(|_| point(random.below(5) as f64 / 4.0, random.below(6) as f64 * 100.0)).collect();
            let bars: Vec<Option<Bar>> = (0..n)
                .map(|_| [None, None, Some(Bar::Dear), Some(Bar::Breaks), Some(Bar::Few)][random.below(5)])
                .collect();
            assert_eq!(frontier(&scores, &bars), by_definition(&scores, &bars), "{scores:?} {bars:?}");
        }
    }

    #[test]
    fn the_best_has_most_and_of_equal_ones_takes_fewest_tokens() {
        let scores = [
            point(0.5, 100.0),
            point(0.7, 300.0),
            point(0.7 + 1e-13, 400.0),
            point(0.9, 50.0),
            point(0.7, 300.0),
        ];
        let bars = [None, None, None, Some(Bar::Breaks), None];
        assert_eq!(ranked(&scores, &bars), [1, 4, 2, 0]);
    }

    #[test]
    fn settings_are_compared_on_the_sessions_both_have() {
        let present: Vec<Measured> = [0.2, 0.4, 0.6].map(|value| measured(Some(value), 1_000.0)).to_vec();
        // It is not compacted in the session that goes worst.
        let other = [measured(None, 5_000.0), measured(Some(0.5), 1_100.0), measured(Some(0.7), 1_300.0)];
        let some = |list: &'static [Measured]| list.iter().map(Some).collect::<Vec<_>>();
        let (present, other) = (some(present.leak()), some(Box::leak(Box::new(other))));
        let scored = score(&other, &present, Metric::Needed);
        assert_eq!(scored.n, 2);
        // The means over the two sessions, of both.
        assert!((scored.value.unwrap() - 0.6).abs() < 1e-12, "{scored:?}");
        assert!((scored.present.unwrap() - 0.5).abs() < 1e-12, "{scored:?}");
        assert!((scored.gained().unwrap() - 0.1).abs() < 1e-12, "{scored:?}");
        assert!((scored.tokens.unwrap() - 1_200.0).abs() < 1e-9, "{scored:?}");
        let own = score(&present, &present, Metric::Needed);
        assert_eq!((own.n, own.tokens), (3, Some(1_000.0)));
        let barred = |score: &Score, most: Option<u64>| bar(score, &own, most, 1);
        assert_eq!(barred(&scored, None), None);
        assert_eq!(barred(&scored, Some(1_199)), Some(Bar::Dear));
        assert_eq!(barred(&Score { n: 1, ..scored.clone() }, None), Some(Bar::Few));
        assert_eq!(bar(&scored, &own, None, LEAST_TELLING), Some(Bar::Few), "two sessions tell nothing");
        assert_eq!(barred(&Score { violations: 1, ..scored.clone() }, None), Some(Bar::Breaks));
        assert_eq!(barred(&Score { failed: 1, ..scored }, None), Some(Bar::Failed));
        assert_eq!(
            bar(&Score::default(), &Score::default(), None, 0),
            Some(Bar::Few),
            "nothing was measured"
        );
    }

    #[test]
    fn a_share_stays_one_whatever_sessions_are_shared() {
        // The present setting is best where the other one has no value, and the other one gains where it has.
        let present = [measured(Some(1.0), 900.0), measured(Some(0.9), 900.0)];
        let other = [measured(None, 900.0), measured(Some(1.0), 900.0)];
        let scored =
            score(&other.iter().map(Some).collect(), &present.iter().map(Some).collect(), Metric::Needed);
        assert_eq!((scored.value, scored.present, scored.n), (Some(1.0), Some(0.9), 1));
    }

    #[test]
    fn a_verdict_needs_a_difference_that_is_no_chance() {
        let (fine, broken) = (false, true);
        let by = |differences: &[f64]| paired(differences);
        let clear: Vec<f64> = (0..12).map(|at| 0.1 + f64::from(at) / 1_000.0).collect();
        let worse: Vec<f64> = clear.iter().map(|it| -it).collect();
        for (chosen, barred, differences, breaks, wanted) in [
            (None, false, &[][..], fine, Verdict::NothingFits),
            (Some(0), false, &[], fine, Verdict::PresentIsBest),
            (Some(3), false, &[], fine, Verdict::Untested),
            (Some(3), false, &[0.5], fine, Verdict::Few),
            // All five say the same, and no test can.
            (Some(3), false, &[0.5; 5], fine, Verdict::Few),
            (Some(3), false, &[0.5; 6], fine, Verdict::Better),
            (Some(3), false, &[0.0; 12], fine, Verdict::NoDifference),
            (Some(3), false, &clear, fine, Verdict::Better),
            (Some(3), false, &worse, fine, Verdict::Worse),
            (Some(3), false, &clear, broken, Verdict::Breaks),
            (Some(3), true, &[], fine, Verdict::PresentIsBarred),
        ] {
            assert_eq!(
                verdict(chosen, barred, breaks, &by(differences)),
                wanted,
                "{chosen:?} {differences:?}"
            );
        }
    }
}
