//! Which contender did best and which worst, by one stated rule.
//!
//! Structural and lexical facts are never pooled into one number: a contender's place is the mean of its two ranks, by
//! structural and by lexical survival (macro means). Equal values share a rank, equal mean ranks share a place.

use crate::aggregate::{Metric, SummaryRow};
use crate::stats::MIN_SESSIONS;

/// What the mean rank is taken over.
pub const JUDGED_BY: [Metric; 2] = [Metric::Structural, Metric::Lexical];

/// Values closer than this are equal.
const EQUAL: f64 = 1e-9;

/// A contender's place among those that can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Smallest mean rank; `true` when it is shared.
    Best(bool),
    /// Largest mean rank; `true` when it is shared.
    Worst(bool),
    /// In between.
    Between,
    /// All contenders have the same mean rank.
    AllTied,
    /// No value to judge by, or nobody to compare with.
    Unjudged,
}

/// The place of each row, in the order given.
pub fn places(rows: &[&SummaryRow]) -> Vec<Place> {
    places_by(rows, 0)
}

/// The same for marks that stand without a word on chance: a mean over fewer than [`MIN_SESSIONS`] sessions judges nobody.
pub fn sure_places(rows: &[&SummaryRow]) -> Vec<Place> {
    places_by(rows, MIN_SESSIONS as u64)
}

fn places_by(rows: &[&SummaryRow], least: u64) -> Vec<Place> {
    let value = |row: &SummaryRow, metric: Metric| {
        let estimate = metric.of_summary(row);
        estimate.mean.filter(|_| estimate.n >= least)
    };
    let metrics: Vec<Metric> =
        JUDGED_BY.into_iter().filter(|metric| rows.iter().any(|row| value(row, *metric).is_some())).collect();
    let judged: Vec<Option<Vec<f64>>> =
        rows.iter().map(|row| metrics.iter().map(|metric| value(row, *metric)).collect()).collect();
    let contenders: Vec<&Vec<f64>> = judged.iter().flatten().collect();
    if metrics.is_empty() || contenders.len() < 2 {
        return vec![Place::Unjudged; rows.len()];
    }
    // Sum of ranks, doubled so that shared ranks stay whole numbers: 2 for each better rival, 1 for each equal one.
    let score = |own: &Vec<f64>| -> u64 {
        contenders
            .iter()
            .flat_map(|rival| rival.iter().zip(own))
            .map(|(rival, own)| if EQUAL < rival - own { 2 } else { u64::from((rival - own).abs() <= EQUAL) })
            .sum()
    };
    let scores: Vec<Option<u64>> = judged.iter().map(|values| values.as_ref().map(score)).collect();
    let known: Vec<u64> = scores.iter().copied().flatten().collect();
    let best = known.iter().copied().min().unwrap_or(0);
    let worst = known.iter().copied().max().unwrap_or(0);
    let shared = |place: u64| 1 < known.iter().filter(|score| **score == place).count();
    scores
        .into_iter()
        .map(|score| match score {
            None => Place::Unjudged,
            Some(_) if best == worst => Place::AllTied,
            Some(score) if score == best => Place::Best(shared(best)),
            Some(score) if score == worst => Place::Worst(shared(worst)),
            Some(_) => Place::Between,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Place::{AllTied, Best, Between, Unjudged, Worst};

    fn check_places(values: &[(Option<f64>, Option<f64>)], expect: &[Place]) {
        let rows: Vec<SummaryRow> = values
            .iter()
            .map(|(structural_survival, lexical_survival)| SummaryRow {
                structural_survival: *structural_survival,
                lexical_survival: *lexical_survival,
                structural_survival_n: MIN_SESSIONS as u64,
                lexical_survival_n: MIN_SESSIONS as u64,
                ..SummaryRow::default()
            })
            .collect();
        assert_eq!(places(&rows.iter().collect::<Vec<_>>()), expect, "{values:?}");
    }

    #[test]
    fn places_follow_the_mean_rank() {
        let both = |structural, lexical| (Some(structural), Some(lexical));
        check_places(
            &[both(0.9, 0.9), both(0.5, 0.5), both(0.1, 0.1)],
            &[Best(false), Between, Worst(false)],
        );
        // A huge lead in one kind does not outweigh the other: ranks, not values.
        check_places(&[both(1.0, 0.4), both(0.1, 0.5)], &[AllTied, AllTied]);
        check_places(
            &[both(0.9, 0.5), both(0.5, 0.9), both(0.1, 0.1)],
            &[Best(true), Best(true), Worst(false)],
        );
        check_places(
            &[both(0.5, 0.5), both(0.1, 0.1), both(0.1, 0.1)],
            &[Best(false), Worst(true), Worst(true)],
        );
        check_places(&[both(0.1 + 0.2, 0.5), both(0.3, 0.5)], &[AllTied, AllTied]);
        // Who has no value is not judged; a kind that nobody has is not used.
        check_places(&[both(0.9, 0.5), (None, None), both(0.5, 0.4)], &[Best(false), Unjudged, Worst(false)]);
        check_places(&[(None, Some(0.1)), (None, Some(0.2))], &[Worst(false), Best(false)]);
        check_places(&[(Some(0.1), None), (None, Some(0.2))], &[Unjudged, Unjudged]);
        check_places(&[both(0.9, 0.9)], &[Unjudged]);
        check_places(&[], &[]);
    }

    #[test]
    fn few_sessions_judge_nobody() {
        let row = |structural: f64, n: u64| SummaryRow {
            structural_survival: Some(structural),
            structural_survival_n: n,
            ..SummaryRow::default()
        };
        for (n, expected) in [(9, [Unjudged, Unjudged]), (10, [Best(false), Worst(false)])] {
            let rows = [row(0.9, n), row(0.1, n)];
            let rows: Vec<&SummaryRow> = rows.iter().collect();
            assert_eq!(sure_places(&rows), expected, "{n} sessions");
            assert_eq!(places(&rows), [Best(false), Worst(false)], "who says so beside it may");
        }
    }
}
