//! Two runs of the same sessions: what changed for each contender that both have.

use super::{Group, Metric, counts, groups, kept};
use crate::results::{CLASSES, RunOutput};
use crate::stats::{holm, mean, paired};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One metric of one contender in two runs, over sessions that have a value in both: the second run minus the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeRow {
    /// Profile name.
    pub profile: String,
    /// Strategy that was asked for.
    pub strategy: String,
    /// Window in tokens, `auto`, or `cycles` when it was searched for per session.
    pub window: String,
    /// Column of a session row, `survival.` and a class of facts, or an amount that differs.
    pub metric: String,
    /// Mean over the sessions in the first run, 0 to 1; of an amount the sum over them.
    pub before: Option<f64>,
    /// In the second.
    pub after: Option<f64>,
    /// Mean of the per-session differences, -1 to 1; of an amount in its unit.
    pub mean: Option<f64>,
    /// Lower end of its 95 % interval by Student's t; empty below 10 sessions.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Sessions with a value in both.
    pub n: u64,
    /// Of those, better in the second run.
    pub better: u64,
    /// Worse in it.
    pub worse: u64,
    /// Neither.
    pub ties: u64,
    /// Two-sided p of the sign test; empty where all sessions tie.
    pub sign_p: Option<f64>,
    /// Two-sided p of the test that decides: Student's t from 10 sessions on, the sign test below.
    pub p: Option<f64>,
    /// The same, corrected by Holm: of a headline over the headlines of all contenders, of a class over the classes of its
    /// contender; empty for amounts, whose differences are exact.
    pub p_holm: Option<f64>,
}

/// One metric of one session in two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionChange {
    /// Profile name.
    pub profile: String,
    /// Strategy.
    pub strategy: String,
    /// Window.
    pub window: String,
    /// Session id.
    pub session: String,
    /// File.
    pub source: String,
    /// Column of a session row.
    pub metric: String,
    /// Mean over cycles in the first run, 0 to 1.
    pub before: f64,
    /// In the second.
    pub after: f64,
    /// The second minus the first.
    pub difference: f64,
}

/// What changed between two runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Changes {
    /// By contender, then metric.
    pub rows: Vec<ChangeRow>,
    /// Sessions with another value; the largest loss first.
    pub sessions: Vec<SessionChange>,
}

/// Metrics of two runs, contender by contender. Only sessions that count in both are compared.
pub fn changes(before: &RunOutput, after: &RunOutput) -> Changes {
    let (ours, theirs) = (groups(before), groups(after));
    let mut changes = Changes::default();
    for first in &ours {
        let same = |other: &&Group<'_>| {
            (first.profile, &first.window, first.strategy) == (other.profile, &other.window, other.strategy)
        };
        let Some(second) = theirs.iter().find(same) else { continue };
        for metric in Metric::ALL {
            let (ours, theirs) = (values(first, metric), values(second, metric));
            changes.rows.push(change(first, metric.name(), &ours, &theirs));
            changes.sessions.extend(moved(first, metric.name(), &ours, &theirs));
        }
        changes.rows.extend(classes(first, second));
    }
    correct(changes.rows.iter_mut().filter(|row| row.is_headline()).collect());
    // Of equals the order of contenders and metrics.
    changes.sessions.sort_by(|a, b| a.difference.total_cmp(&b.difference));
    changes
}

fn values<'a>(group: &Group<'a>, metric: Metric) -> BTreeMap<&'a str, f64> {
    let counting = group.sessions.iter().filter(|session| counts(session));
    counting.filter_map(|session| Some((session.session.as_str(), metric.of_session(session)?))).collect()
}

/// One family of tests, corrected by Holm.
fn classes(first: &Group<'_>, second: &Group<'_>) -> Vec<ChangeRow> {
    let mut rows: Vec<ChangeRow> = CLASSES
        .iter()
        .map(|class| {
            let (ours, theirs) = (kept::by_session(first, class), kept::by_session(second, class));
            change(first, &format!("survival.{class}"), &ours, &theirs)
        })
        .filter(|row| row.n > 0)
        .collect();
    correct(rows.iter_mut().collect());
    rows
}

/// Corrects the tests of one family.
fn correct(rows: Vec<&mut ChangeRow>) {
    let corrected = holm(&rows.iter().filter_map(|row| row.p).collect::<Vec<_>>());
    for (row, p) in rows.into_iter().filter(|row| row.p.is_some()).zip(corrected) {
        row.p_holm = Some(p);
    }
}

impl ChangeRow {
    /// Is it a share of all facts, not of one class of them?
    pub fn is_headline(&self) -> bool {
        !self.metric.starts_with("survival.")
    }
}

fn change(
    group: &Group<'_>,
    metric: &str,
    ours: &BTreeMap<&str, f64>,
    theirs: &BTreeMap<&str, f64>,
) -> ChangeRow {
    let both: Vec<(f64, f64)> =
        ours.iter().filter_map(|(session, value)| Some((*value, *theirs.get(session)?))).collect();
    let differences: Vec<f64> = both.iter().map(|(before, after)| after - before).collect();
    let paired = paired(&differences);
    ChangeRow {
        profile: group.profile.to_owned(),
        strategy: group.strategy.to_owned(),
        window: group.window.clone(),
        metric: metric.to_owned(),
        before: mean(&both.iter().map(|(before, _)| *before).collect::<Vec<_>>()),
        after: mean(&both.iter().map(|(_, after)| *after).collect::<Vec<_>>()),
        mean: paired.difference.mean,
        low: paired.difference.low,
        high: paired.difference.high,
        n: paired.difference.n,
        better: paired.positive,
        worse: paired.negative,
        ties: paired.ties,
        sign_p: paired.sign_p,
        p: paired.p,
        p_holm: None,
    }
}

fn moved(
    group: &Group<'_>,
    metric: &str,
    ours: &BTreeMap<&str, f64>,
    theirs: &BTreeMap<&str, f64>,
) -> Vec<SessionChange> {
    let of = |session: &&crate::results::SessionRow| {
        let (before, after) = (*ours.get(session.session.as_str())?, *theirs.get(session.session.as_str())?);
        (before.total_cmp(&after).is_ne()).then(|| SessionChange {
            profile: group.profile.to_owned(),
            strategy: group.strategy.to_owned(),
            window: group.window.clone(),
            session: session.session.to_string(),
            source: session.source.to_string(),
            metric: metric.to_owned(),
            before,
            after,
            difference: after - before,
        })
    };
    group.sessions.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::files::sample;

    #[test]
    fn a_run_against_itself_is_an_exact_zero() {
        let run = sample::run(12);
        let changes = changes(&run, &run);
        assert!(changes.sessions.is_empty());
        assert!(!changes.rows.is_empty());
        for row in changes.rows.iter().filter(|row| row.n > 0) {
            assert_eq!(
                (row.mean, row.low, row.high, row.better, row.worse),
                (Some(0.0), Some(0.0), Some(0.0), 0, 0)
            );
            assert_eq!((row.before, row.p), (row.after, Some(1.0)));
        }
    }

    #[test]
    fn what_became_worse_comes_first() {
        let before = sample::run(12);
        let mut after = before.clone();
        let own = |row: &&mut crate::results::SessionRow| row.strategy == "structured" && row.exercised;
        for (at, row) in after.sessions.iter_mut().filter(own).enumerate() {
            row.lexical_survival =
                row.lexical_survival.map(|value| if at < 3 { value - 0.1 } else { value + 0.05 });
        }
        let changes = changes(&before, &after);
        let row = changes
            .rows
            .iter()
            .find(|row| (row.strategy.as_str(), row.metric.as_str()) == ("structured", "lexical_survival"))
            .unwrap();
        assert_eq!((row.n, row.better, row.worse, row.ties), (12, 9, 3, 0));
        assert!((row.mean.unwrap() - 0.0125).abs() < 1e-12 && row.low.unwrap() < 0.0);
        assert_eq!(changes.sessions.len(), 12);
        assert!((changes.sessions[0].difference + 0.1).abs() < 1e-12);
        assert!(changes.rows.iter().filter(|row| row.strategy != "structured").all(|row| row.worse == 0));
    }

    #[test]
    fn only_contenders_and_sessions_of_both_are_compared() {
        let before = sample::run(12);
        let mut after = sample::run(10);
        after.sessions.retain(|row| row.strategy != "narrative");
        let changes = changes(&before, &after);
        assert!(changes.rows.iter().all(|row| row.strategy != "narrative" && row.n <= 10));
    }
}
