//! Many plans over sessions that are prepared once, of which only a fold of the rows is kept: what a search over settings needs.

use super::assemble::manifest;
use super::{Ears, PlanAt, PoolError, Progress, RunSettings, SessionOutcome, each_file, under_plans};
use crate::discover::Discovered;
use crate::results::{ClassRow, CycleRow, Manifest, SessionRow};
use crate::summarize::Summarizer;
use crate::transcript::{Origin, Transcript};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The rows of one session under one plan.
#[derive(Debug, Clone, Copy)]
pub struct PlanRows<'a> {
    /// Its row.
    pub session: &'a SessionRow,
    /// Its cycles.
    pub cycles: &'a [CycleRow],
    /// What became of each class at each of them.
    pub classes: &'a [ClassRow],
}

/// What is kept of one session.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept<T> {
    /// Id that the log gives; sessions of several files can have the same.
    pub id: String,
    /// See [`family`].
    pub family: String,
    /// Log.
    pub source: String,
    /// The program itself failed on it.
    pub failed: bool,
    /// In the order in which they were replayed.
    pub plans: Vec<(PlanAt, T)>,
}

/// What a run over many plans gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Folded<T> {
    /// What was run on what; whether a session was exercised depends on the plan and is not counted.
    pub manifest: Manifest,
    /// In input order; only those for which some plan was wanted.
    pub sessions: Vec<Kept<T>>,
}

/// Which plans to run, and what to keep of each.
pub struct Fold<'a, T> {
    /// Is a plan wanted for the sessions of a family?
    pub wanted: &'a (dyn Fn(&str, PlanAt) -> bool + Sync),
    /// What to keep of its rows.
    pub keep: &'a (dyn Fn(PlanRows<'_>) -> T + Sync),
}

impl<T> std::fmt::Debug for Fold<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fold").finish_non_exhaustive()
    }
}

/// What a session belongs to, as far as its id tells: a sub-agent whose id ends with `/` and its own name belongs to the session
/// in front of it, since both tell of the same work; any other session to itself.
pub fn family(transcript: &Transcript) -> &str {
    let id = transcript.id.as_str();
    let of = match transcript.origin {
        Origin::Sidechain(_) => id.rsplit_once('/').map(|(session, _)| session),
        Origin::Main => None,
    };
    of.filter(|session| !session.is_empty()).unwrap_or(id)
}

/// Runs the wanted plans of the settings on every session. A session for which no plan is wanted costs no more than reading it.
pub fn fold<T: Send>(
    discovered: &Discovered,
    settings: &RunSettings,
    summarizer: &dyn Summarizer,
    progress: Progress<'_>,
    fold: &Fold<'_, T>,
) -> Result<Folded<T>, PoolError> {
    let windows = match &settings.windows {
        super::Windows::Given(choices) => choices.len(),
        super::Windows::Cycles(_) | super::Windows::Shared(_) => 1,
    };
    let places: Vec<PlanAt> = (0..settings.profiles.len())
        .flat_map(|profile| (0..windows).map(move |window| (profile, window)))
        .flat_map(|(profile, window)| {
            (0..settings.strategies.len()).map(move |strategy| PlanAt { profile, window, strategy })
        })
        .collect();
    let outcomes = each_file(discovered, settings.jobs, progress, &|transcript, place| {
        let family = family(transcript);
        let wanted = |at: PlanAt| (fold.wanted)(family, at);
        let kept = |failed, plans| Kept {
            id: transcript.id.clone(),
            family: family.to_owned(),
            source: place.source.to_owned(),
            failed,
            plans,
        };
        if !places.iter().any(|at| wanted(*at)) {
            return None;
        }
        let work = || {
            let mut plans = Vec::new();
            let mut outcome = SessionOutcome { id: transcript.id.clone(), ..SessionOutcome::default() };
            let mut take = |at: PlanAt, outcome: &mut SessionOutcome| {
                if let Some(session) = outcome.sessions.pop() {
                    let (cycles, classes) = (&outcome.cycles, &outcome.classes);
                    plans.push((at, (fold.keep)(PlanRows { session: &session, cycles, classes })));
                }
                outcome.cycles.clear();
                outcome.classes.clear();
                outcome.spells.clear();
                outcome.losses.clear();
                outcome.lost.clear();
            };
            let ears = &mut Ears { cycle: &mut |_, _| {}, plan: &mut take };
            under_plans(transcript, place, settings, summarizer, &wanted, &mut outcome, ears);
            plans
        };
        let plans = catch_unwind(AssertUnwindSafe(work)).ok();
        Some(kept(plans.is_none(), plans.unwrap_or_default()))
    })?;
    let mut folded =
        Folded { manifest: manifest(discovered, settings, summarizer, &outcomes), sessions: Vec::new() };
    for session in outcomes.into_iter().flat_map(|outcome| outcome.sessions) {
        folded.manifest.sessions += 1;
        folded.manifest.sessions_failed += u64::from(session.as_ref().is_some_and(|session| session.failed));
        folded.sessions.extend(session);
    }
    Ok(folded)
}
