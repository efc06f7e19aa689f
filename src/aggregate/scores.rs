//! What each session scored, in whole numbers: the part of a run that a gate looks at and a baseline keeps.
//!
//! A share is facts kept of facts at risk over the cycles of a session, an amount is a count over them. Both are added up
//! from the same rows as the micro columns of the summary, so that a verdict and a report never disagree; and since they are
//! counts, a value on a threshold is on it on every machine.

use super::{counts, groups};
use crate::results::{CLASSES, CycleRow, RunOutput};
use std::collections::BTreeMap;

/// Facts kept of those at risk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Share {
    /// Kept.
    pub kept: u64,
    /// At risk; 0 where there was nothing to lose.
    pub total: u64,
}

impl Share {
    /// `kept / total`; `None` where there was nothing to lose.
    pub fn value(self) -> Option<f64> {
        crate::results::ratio(self.kept, self.total)
    }

    /// Both counts added.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { kept: self.kept.saturating_add(other.kept), total: self.total.saturating_add(other.total) }
    }
}

/// How far a session came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Compacted at least once with a reduction of 1 % or more: its figures count.
    Scored,
    /// Too short to compact, or nothing was gained: it tells nothing.
    NotExercised,
    /// It could not be measured.
    Failed,
}

impl State {
    const ALL: [Self; 3] = [Self::Scored, Self::NotExercised, Self::Failed];

    /// Name in a baseline.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scored => "scored",
            Self::NotExercised => "not exercised",
            Self::Failed => "failed",
        }
    }

    /// The state of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// Whom the figures are about: profile x strategy x window.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Contender {
    /// Profile name.
    pub profile: String,
    /// Strategy that was asked for.
    pub strategy: String,
    /// Window in tokens, `auto`, or `cycles` when it was searched for per session.
    pub window: String,
}

/// One session under one contender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Score {
    /// Whom it is about.
    pub contender: Contender,
    /// Session id, unique in the run.
    pub session: String,
    /// How far it came.
    pub state: State,
    /// Tokens of the whole session: what tells it from another one of its name.
    pub tokens: u64,
    /// By position in [`shares`]; all zero unless scored.
    pub shares: Vec<Share>,
    /// By position in [`AMOUNTS`].
    pub amounts: Vec<u64>,
}

/// Shares of the whole session: name, and the counts of a cycle. Better when larger.
type ShareOf = fn(&CycleRow) -> Share;

const OF_CYCLE: [(&str, ShareOf); 7] = [
    ("files_modified", |row| Share { kept: row.files_modified_kept, total: row.files_modified_total }),
    ("files_read", |row| Share { kept: row.files_read_kept, total: row.files_read_total }),
    ("structural_survival", |row| Share { kept: row.structural_in_summary, total: row.structural_at_risk }),
    ("lexical_survival", |row| Share { kept: row.lexical_in_summary, total: row.lexical_at_risk }),
    ("summary_survival", |row| Share { kept: row.facts_in_summary, total: row.facts_at_risk }),
    ("needed_survival", |row| {
        let known = Share { kept: row.facts_needed_in_summary, total: row.facts_needed };
        if row.needed_biased { Share::default() } else { known }
    }),
    ("context_survival", |row| Share { kept: row.facts_in_context, total: row.facts_total }),
];

/// Start of the name of the share of one class.
const OF_CLASS: &str = "survival.";

/// A count of a cycle.
type AmountOf = fn(&CycleRow) -> u64;

/// Amounts over the cycles of a session. Better when smaller. The first ones, [`INVARIANTS`] of them, are the hard invariants.
pub const AMOUNTS: [(&str, AmountOf); 23] = [
    ("orphan_results", |row| row.orphan_results),
    ("orphan_calls", |row| row.orphan_calls),
    ("duplicate_results", |row| row.duplicate_results),
    ("empty_blocks", |row| row.empty_blocks),
    ("no_user_message", |row| u64::from(row.no_user_message)),
    ("request_absent", |row| u64::from(row.request_absent)),
    ("summary_after_tail", |row| u64::from(row.summary_after_tail)),
    ("over_budget", |row| u64::from(row.over_budget)),
    ("no_gain", |row| u64::from(row.no_gain)),
    ("stuck", |row| u64::from(row.stuck)),
    ("tail_lost", |row| row.tail_facts.saturating_sub(row.tail_facts_in_context)),
    ("unfit", |row| u64::from(row.unfit)),
    ("uncut", |row| u64::from(row.uncut)),
    ("summary_degraded", |row| u64::from(row.summary_degraded)),
    ("late_triggers", |row| u64::from(row.late_trigger)),
    ("invented", |row| row.invented),
    ("quotes_fabricated", |row| row.quotes_fabricated),
    ("misclassified", |row| row.misclassified.unwrap_or(0)),
    ("stale", |row| row.stale),
    ("contradicted", |row| row.contradicted),
    ("tokens_summary", |row| row.tokens_summary),
    ("requests", |row| row.requests),
    ("prompt_tokens", |row| row.prompt_tokens),
];

/// So many of the [`AMOUNTS`] are hard invariants.
pub const INVARIANTS: usize = 11;

/// Names of the shares, in order.
pub fn shares() -> Vec<String> {
    let of_cycle = OF_CYCLE.iter().map(|(name, _)| (*name).to_owned());
    of_cycle.chain(CLASSES.iter().map(|class| format!("{OF_CLASS}{class}"))).collect()
}

/// What every session of a run scored, by contender and session.
pub fn scores(output: &RunOutput) -> Vec<Score> {
    let mut scores = Vec::new();
    for group in groups(output) {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for session in &group.sessions {
            places.insert(&session.session, scores.len());
            scores.push(Score {
                contender: Contender {
                    profile: group.profile.to_owned(),
                    strategy: group.strategy.to_owned(),
                    window: group.window.clone(),
                },
                session: session.session.to_string(),
                state: match (session.error.is_empty(), counts(session)) {
                    (false, _) => State::Failed,
                    (true, false) => State::NotExercised,
                    (true, true) => State::Scored,
                },
                tokens: session.tokens,
                shares: vec![Share::default(); OF_CYCLE.len() + CLASSES.len()],
                amounts: vec![0; AMOUNTS.len()],
            });
        }
        for (cycle, counts) in &group.cycles {
            let Some(score) = places.get(cycle.session.as_str()).and_then(|at| scores.get_mut(*at)) else {
                continue;
            };
            for (amount, (_, of)) in score.amounts.iter_mut().zip(AMOUNTS) {
                *amount = amount.saturating_add(of(cycle));
            }
            if *counts && !cycle.opaque {
                for (share, (_, of)) in score.shares.iter_mut().zip(OF_CYCLE) {
                    *share = share.plus(of(cycle));
                }
            }
        }
        for row in &group.classes {
            let at = CLASSES.iter().position(|class| *class == row.class);
            let score = places.get(row.session.as_str()).and_then(|at| scores.get_mut(*at));
            let share = at.zip(score).and_then(|(at, score)| score.shares.get_mut(OF_CYCLE.len() + at));
            if let Some(share) = share {
                *share = share.plus(Share { kept: row.in_summary, total: row.at_risk });
            }
        }
    }
    scores.sort_by(|a, b| (&a.contender, &a.session).cmp(&(&b.contender, &b.session)));
    scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::aggregate;
    use crate::results::files::sample;

    #[test]
    fn sums_over_sessions_are_those_of_the_summary() {
        let run = sample::run(12);
        let scores = scores(&run);
        for row in aggregate(&run).summary {
            let own = |score: &&Score| {
                (&score.contender.profile, &score.contender.strategy) == (&row.profile, &row.strategy)
            };
            let sum = |name: &str| {
                let at = shares().iter().position(|share| share == name).unwrap();
                scores.iter().filter(own).map(|score| score.shares[at]).fold(Share::default(), Share::plus)
            };
            let expected =
                |kept: u64, total: u64| if total == 0 { Share::default() } else { Share { kept, total } };
            assert_eq!(sum("files_modified"), expected(row.files_modified_kept, row.files_modified_total));
            assert_eq!(sum("lexical_survival"), expected(row.lexical_in_summary, row.lexical_at_risk));
            assert_eq!(sum("needed_survival"), expected(row.facts_needed_in_summary, row.facts_needed));
            assert_eq!(sum("context_survival"), expected(row.facts_in_context, row.facts_total));
            let amount = |name: &str| {
                let at = AMOUNTS.iter().position(|(amount, _)| *amount == name).unwrap();
                scores.iter().filter(own).map(|score| score.amounts[at]).sum::<u64>()
            };
            let broken: u64 = AMOUNTS.iter().take(INVARIANTS).map(|(name, _)| amount(name)).sum();
            assert_eq!((broken, amount("prompt_tokens")), (row.violations, row.prompt_tokens));
        }
    }

    #[test]
    fn names_are_told_apart() {
        let mut names: Vec<String> = shares();
        names.extend(AMOUNTS.iter().map(|(name, _)| (*name).to_owned()));
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(State::ALL.iter().all(|state| State::of_name(state.name()) == Some(*state)));
    }
}
