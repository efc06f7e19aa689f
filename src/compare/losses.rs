//! What is newly lost: facts that the second run loses and the first does not, of sessions that both measured.

use crate::aggregate::scores::{Contender, Score, State};
use crate::aggregate::window_label;
use crate::results::{FactRow, LossRow, RunOutput, SessionRow};
use std::collections::{BTreeMap, BTreeSet};

/// Sessions that both runs scored, contender by contender: what one of them did not measure was not lost by the other.
pub(super) struct ScoredInBoth(BTreeSet<(Contender, String)>);

impl ScoredInBoth {
    pub(super) fn of(before: &[Score], after: &[Score]) -> Self {
        let scored = |scores: &[Score]| -> BTreeSet<(Contender, String)> {
            let scored = scores.iter().filter(|score| score.state == State::Scored);
            scored.map(|score| (score.contender.clone(), score.session.clone())).collect()
        };
        Self(scored(before).intersection(&scored(after)).cloned().collect())
    }

    /// At this window, or at any where none is known.
    fn has(&self, session: &str, profile: &str, strategy: &str, window: Option<&str>) -> bool {
        self.0.iter().any(|(contender, own)| {
            own == session
                && contender.profile == profile
                && contender.strategy == strategy
                && window.is_none_or(|window| contender.window == window)
        })
    }
}

/// Facts that the second run loses and the first does not, and whether they are all there are.
pub(super) fn new(before: &RunOutput, after: &RunOutput, scored: &ScoredInBoth) -> (Vec<LossRow>, bool) {
    if !before.facts.is_empty() && !after.facts.is_empty() {
        return (fates(before, after, scored), true);
    }
    let key = |row: &LossRow| {
        let whose = (row.session.clone(), row.profile.clone(), row.strategy.clone());
        (whose, row.class.clone(), row.value.clone())
    };
    let known: BTreeSet<_> = before.manifest.worst_losses.iter().map(key).collect();
    let of_both = |row: &&LossRow| scored.has(&row.session, &row.profile, &row.strategy, None);
    let new = after.manifest.worst_losses.iter().filter(|row| !known.contains(&key(row))).filter(of_both);
    (new.cloned().collect(), false)
}

/// The window of each plan as it was asked for: one that was searched for differs between runs.
type Labels<'a> = BTreeMap<(&'a str, &'a str, &'a str, u64), String>;

fn labels(run: &RunOutput) -> Labels<'_> {
    let plan = |row: &'_ SessionRow| (row.window, window_label(row));
    let keys = run.sessions.iter().map(|row| (row.session.as_str(), row.profile.as_str(), &*row.strategy));
    let plans = run.sessions.iter().map(plan);
    keys.zip(plans)
        .map(|((session, profile, strategy), (window, label))| ((session, profile, strategy, window), label))
        .collect()
}

/// One fact under one contender.
fn key<'a>(row: &'a FactRow, labels: &Labels<'_>) -> (&'a str, &'a str, &'a str, String, u64) {
    let plan = (row.session.as_str(), row.profile.as_str(), &*row.strategy, row.window);
    let window = labels.get(&plan).cloned().unwrap_or_else(|| row.window.to_string());
    (plan.0, plan.1, plan.2, window, row.fact)
}

/// From the fates of all facts. A fact is one thing under one contender, however often it is lost.
fn fates(before: &RunOutput, after: &RunOutput, scored: &ScoredInBoth) -> Vec<LossRow> {
    let (ours, theirs) = (labels(before), labels(after));
    let mut plans: BTreeMap<(&str, &str, &str, u64), bool> = BTreeMap::new();
    let lost: BTreeSet<_> =
        before.facts.iter().filter(|row| row.first_loss).map(|row| key(row, &ours)).collect();
    let sources: BTreeMap<&str, &str> =
        after.sessions.iter().map(|row| (row.session.as_str(), row.source.as_str())).collect();
    let biased: BTreeSet<_> = after
        .cycles
        .iter()
        .filter(|row| row.needed_biased)
        .map(|row| ((row.session.as_str(), row.profile.as_str(), &*row.strategy, row.window), row.cycle))
        .collect();
    let mut new: Vec<(bool, LossRow)> = Vec::new();
    let mut seen = BTreeSet::new();
    for row in after.facts.iter().filter(|row| row.first_loss && !lost.contains(&key(row, &theirs))) {
        let plan = (row.session.as_str(), row.profile.as_str(), &*row.strategy, row.window);
        let of_both = *plans.entry(plan).or_insert_with(|| {
            let window = theirs.get(&plan).cloned().unwrap_or_else(|| row.window.to_string());
            scored.has(plan.0, plan.1, plan.2, Some(&window))
        });
        if !of_both || !seen.insert(key(row, &theirs)) {
            continue;
        }
        let damage = match &*row.tier {
            damage @ ("contradicted" | "mutated") => damage,
            _ => "lost",
        };
        let loss = LossRow {
            session: row.session.to_string(),
            source: sources.get(row.session.as_str()).copied().unwrap_or_default().to_owned(),
            line: row.birth_line,
            profile: row.profile.to_string(),
            strategy: row.strategy.to_string(),
            cycle: row.cycle,
            class: row.class.to_string(),
            value: row.value.clone(),
            damage: damage.to_owned(),
            mentions_later: row.mentions_later,
            needed: row.needed && !biased.contains(&(plan, row.cycle)),
            also: Vec::new(),
        };
        new.push((row.needed, loss));
    }
    new.sort_by(|(a_needed, a), (b_needed, b)| {
        b_needed.cmp(a_needed).then(b.mentions_later.cmp(&a.mentions_later))
    });
    new.into_iter().map(|(_, loss)| loss).collect()
}
