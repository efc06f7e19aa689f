//! Spells of sessions -> survival curves by class: how many cycles a fact lasts once only generated text holds it.

use super::Group;
use crate::results::SpellRow;
use crate::stats::{MIN_SESSIONS, SEED, Step, bootstrap, extreme, half_life, kaplan_meier};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One step of one curve: contender x class x age. Spells of all sessions are pooled; the interval is over sessions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CurveRow {
    /// Profile name.
    pub profile: String,
    /// Strategy that was asked for.
    pub strategy: String,
    /// Window in tokens, `auto`, or `cycles` when it was searched for per session.
    pub window: String,
    /// Class when the spell began; `structural`, `lexical` and `all` pool classes.
    pub class: String,
    /// Cycles since the spell began, from 1.
    pub age: u32,
    /// Sessions with a spell of the class.
    pub n_sessions: u64,
    /// Of those, with a spell seen for at least so many cycles.
    pub sessions_at_risk: u64,
    /// Spells seen for at least so many cycles.
    pub at_risk: u64,
    /// Of those, lost in this one.
    pub lost: u64,
    /// Share of spells that outlast this age, 0 to 1, by Kaplan and Meier.
    pub survival: f64,
    /// Lower end of its 95 % interval; empty where fewer than 10 sessions have a spell at risk.
    pub survival_low: Option<f64>,
    /// Upper end.
    pub survival_high: Option<f64>,
    /// First age that no more than half outlast; empty when more than half outlast all ages seen.
    pub half_life: Option<u32>,
}

/// The curves of one contender: class by class, those of structural facts first, then the pools.
pub(super) fn curves(group: &Group<'_>) -> Vec<CurveRow> {
    let mut classes: Vec<(bool, &str)> =
        group.spells.iter().map(|row| (row.kind != "structural", &*row.class)).collect();
    classes.sort_unstable();
    classes.dedup();
    let of = |name: &str, holds: &dyn Fn(&SpellRow) -> bool| {
        let spells: Vec<&SpellRow> = group.spells.iter().copied().filter(|row| holds(row)).collect();
        curve(group, name, &spells)
    };
    let mut rows: Vec<CurveRow> =
        classes.into_iter().flat_map(|(_, class)| of(class, &|row| row.class == class)).collect();
    for kind in ["structural", "lexical"] {
        rows.extend(of(kind, &|row| row.kind == kind));
    }
    rows.extend(of("all", &|_| true));
    rows
}

/// Spells of one session that ended at each age, from 1: in all, and in loss.
type Ends = Vec<(u64, u64)>;

fn curve(group: &Group<'_>, class: &str, spells: &[&SpellRow]) -> Vec<CurveRow> {
    let mut sessions: BTreeMap<&str, Ends> = BTreeMap::new();
    let longest = spells.iter().map(|row| row.age).max().unwrap_or(0) as usize;
    for row in spells {
        let ends = sessions.entry(&row.session).or_insert_with(|| vec![(0, 0); longest]);
        if let Some((all, lost)) = (row.age as usize).checked_sub(1).and_then(|at| ends.get_mut(at)) {
            *all += row.lost + row.censored;
            *lost += row.lost;
        }
    }
    let sessions: Vec<Ends> = sessions.into_values().collect();
    let steps = pooled(&sessions, longest, |_| 1);
    let intervals = bootstrap(sessions.len(), longest, SEED, |weights, out| {
        let steps = pooled(&sessions, longest, |at| weights.get(at).copied().unwrap_or(0));
        // What nobody drawn was seen to reach, these sessions do not tell.
        for (out, step) in out.iter_mut().zip(&steps).filter(|(_, step)| step.at_risk > 0) {
            *out = step.survival;
        }
    });
    let half_life = half_life(&steps);
    steps
        .iter()
        .zip(intervals)
        .map(|(step, interval)| {
            let reached = |ends: &&Ends| ends.iter().skip(step.age as usize - 1).any(|(all, _)| *all > 0);
            let sessions_at_risk = sessions.iter().filter(reached).count() as u64;
            // All lost, or nothing: no resample tells anything else.
            let interval = extreme(sessions_at_risk as usize, step.survival).or(interval);
            (step, interval.filter(|_| sessions_at_risk >= MIN_SESSIONS as u64), sessions_at_risk)
        })
        .map(|(step, interval, sessions_at_risk)| CurveRow {
            profile: group.profile.to_owned(),
            strategy: group.strategy.to_owned(),
            window: group.window.clone(),
            class: class.to_owned(),
            age: step.age,
            n_sessions: sessions.len() as u64,
            sessions_at_risk,
            at_risk: step.at_risk,
            lost: step.lost,
            survival: step.survival,
            survival_low: interval.map(|interval| interval.low),
            survival_high: interval.map(|interval| interval.high),
            half_life,
        })
        .collect()
}

/// The curve of all sessions, each counted so many times.
fn pooled(sessions: &[Ends], longest: usize, weight: impl Fn(usize) -> u32) -> Vec<Step> {
    let mut ends = vec![(0, 0); longest];
    for (at, session) in sessions.iter().enumerate() {
        let weight = u64::from(weight(at));
        for ((all, lost), (more, more_lost)) in ends.iter_mut().zip(session) {
            *all += weight * more;
            *lost += weight * more_lost;
        }
    }
    kaplan_meier(&ends)
}

#[cfg(test)]
mod tests;
