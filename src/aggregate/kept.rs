//! What summaries kept, class by class and cycle by cycle: the drill-down behind the two shares of the summary rows.
//!
//! The unit is the session: a share is the mean over a session's cycles, then over sessions. A cycle in which nothing of a
//! class was at risk has no share of it, and neither has a recorded compaction whose summary the log does not show.

use super::{DifferenceRow, Group, difference_row};
use crate::results::{ClassRow, ratio};
use crate::stats::{SEED, estimate, holm, mean};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One class of facts under one contender.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct KeptRow {
    /// Profile name; for recorded compactions the agent, by the format of its logs.
    pub profile: String,
    /// Strategy that was asked for.
    pub strategy: String,
    /// Window in tokens, `auto`, or `cycles` when it was searched for per session.
    pub window: String,
    /// A class of facts, or one of the groups `files.changed` (modified, created, renamed), `files` (these and those only
    /// read), `structural`, `lexical`.
    pub class: String,
    /// Number of the cycle, for `structural` and `lexical`; empty for all.
    pub cycle: Option<u32>,
    /// At-risk facts present in the summary, 0 to 1: mean over sessions.
    pub survival: Option<f64>,
    /// Lower end of its 95 % interval; empty below 10 sessions.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Sessions with a value.
    pub sessions: u64,
    /// Cycles with a value.
    pub cycles: u64,
    /// `in_summary / at_risk`.
    pub micro: Option<f64>,
    /// Facts in summaries.
    pub in_summary: u64,
    /// Facts that no kept message mentions.
    pub at_risk: u64,
}

/// Groups that a class belongs to.
fn groups_of(class: &str) -> Vec<&'static str> {
    let mut groups = Vec::new();
    let changed = ["file.modified", "file.created", "file.renamed"].contains(&class);
    if changed {
        groups.push("files.changed");
    }
    if changed || class == "file.read" {
        groups.push("files");
    }
    let structural = class.starts_with("file.") || ["command", "check", "todo"].contains(&class);
    groups.push(if structural { "structural" } else { "lexical" });
    groups
}

/// Facts of one kind.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    kept: u64,
    at_risk: u64,
}

/// Facts of one kind per session and cycle.
#[derive(Debug, Default)]
struct Shares<'a>(BTreeMap<(&'a str, u32), Share>);

impl<'a> Shares<'a> {
    fn add(&mut self, row: &'a ClassRow) {
        let share = self.0.entry((row.session.as_str(), row.cycle)).or_default();
        share.kept += row.in_summary;
        share.at_risk += row.at_risk;
    }

    /// The mean over its cycles, for each session that has one.
    fn by_session(&self) -> BTreeMap<&'a str, f64> {
        let mut sessions: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for ((session, _), share) in &self.0 {
            if let Some(value) = ratio(share.kept, share.at_risk) {
                sessions.entry(session).or_default().push(value);
            }
        }
        sessions.into_iter().filter_map(|(session, values)| Some((session, mean(&values)?))).collect()
    }
}

/// By class, then by group, then by cycle.
pub(super) fn kept(group: &Group<'_>) -> Vec<KeptRow> {
    let mut shares: BTreeMap<(&str, Option<u32>), Shares<'_>> = BTreeMap::new();
    for row in &group.classes {
        shares.entry((&*row.class, None)).or_default().add(row);
        for name in groups_of(&row.class) {
            shares.entry((name, None)).or_default().add(row);
            if name == "structural" || name == "lexical" {
                shares.entry((name, Some(row.cycle))).or_default().add(row);
            }
        }
    }
    shares.iter().map(|((class, cycle), shares)| kept_row(group, class, *cycle, shares)).collect()
}

fn kept_row(group: &Group<'_>, class: &str, cycle: Option<u32>, shares: &Shares<'_>) -> KeptRow {
    let values: Vec<f64> = shares.by_session().into_values().collect();
    let value = estimate(&values, SEED);
    let sum = |of: fn(&Share) -> u64| shares.0.values().map(of).sum::<u64>();
    let (kept, at_risk) = (sum(|share| share.kept), sum(|share| share.at_risk));
    KeptRow {
        profile: group.profile.to_owned(),
        strategy: group.strategy.to_owned(),
        window: group.window.clone(),
        class: class.to_owned(),
        cycle,
        survival: value.mean,
        low: value.low,
        high: value.high,
        sessions: value.n,
        cycles: shares.0.values().filter(|share| share.at_risk > 0).count() as u64,
        micro: ratio(kept, at_risk),
        in_summary: kept,
        at_risk,
    }
}

/// The share of one class for each session that has one: the mean over its cycles.
pub(super) fn by_session<'a>(group: &Group<'a>, class: &str) -> BTreeMap<&'a str, f64> {
    let mut shares = Shares::default();
    group.classes.iter().copied().filter(|row| row.class == class).for_each(|row| shares.add(row));
    shares.by_session()
}

/// Differences of two contenders class by class: one family of tests, corrected by Holm.
pub(super) fn differences(first: &Group<'_>, second: &Group<'_>) -> Vec<DifferenceRow> {
    let values = |group: &Group<'_>, class: &str| {
        by_session(group, class).into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    };
    let classes: BTreeSet<&str> =
        first.classes.iter().chain(&second.classes).map(|row| &*row.class).collect();
    let mut rows: Vec<DifferenceRow> = classes
        .into_iter()
        .map(|class| {
            let (ours, theirs) = (values(first, class), values(second, class));
            difference_row(first, second, &format!("survival.{class}"), &ours, &theirs)
        })
        .collect();
    let tested: Vec<usize> = (0..rows.len()).filter(|at| rows[*at].p.is_some()).collect();
    let corrected = holm(&tested.iter().filter_map(|at| rows[*at].p).collect::<Vec<_>>());
    for (at, p) in tested.into_iter().zip(corrected) {
        rows[at].p_holm = Some(p);
    }
    rows
}

#[cfg(test)]
mod tests;
