//! Checks of a run as a whole: what could not be measured, and which sessions are compared with the baseline.

use super::policy::Policy;
use super::{Check, Side, Verdict, name, open};
use crate::aggregate::scores::{Contender, Score, State, shares};
use crate::report::text::count;
use std::collections::{BTreeMap, BTreeSet};

/// Sessions and files that could not be measured, named in a check.
const NAMED: usize = 3;

fn failed(run: &Side) -> BTreeSet<&str> {
    let failed = run.scores.iter().filter(|score| score.state == State::Failed);
    failed.map(|score| score.session.as_str()).collect()
}

fn sessions_failed(run: &Side) -> u64 {
    run.manifest.sessions_failed.max(failed(run).len() as u64)
}

pub(super) fn count_unscored(run: &Side) -> u64 {
    run.manifest.files_failed + sessions_failed(run)
}

/// How many files and sessions could not be measured, and the first of them with the reason; `None` when there are none.
pub fn unmeasured(run: &Side) -> Option<(String, String)> {
    let (files, sessions) = (run.manifest.files_failed, sessions_failed(run));
    let what = match (files, sessions) {
        (0, 0) => return None,
        (0, _) => count(sessions, "session"),
        (_, 0) => count(files, "file"),
        (..) => format!("{} and {}", count(files, "file"), count(sessions, "session")),
    };
    let reason = |session: &str| match run.errors.get(session) {
        Some(error) => format!("session {session}: {error}"),
        None => format!("session {session}"),
    };
    let mut named: Vec<String> = failed(run).into_iter().map(reason).collect();
    let lost = run.manifest.problems.iter().filter(|problem| problem.severity == "lost");
    named.extend(lost.map(|problem| format!("{}: {}", problem.source, problem.text)));
    named.truncate(NAMED);
    let more = count_unscored(run).saturating_sub(named.len() as u64);
    if more > 0 && !named.is_empty() {
        named.push(format!("and {more} more"));
    }
    Some((what, named.join("; ")))
}

/// What could not be measured may be what became worse.
pub(super) fn unscored(run: &Side, policy: &Policy) -> Check {
    let unscored = count_unscored(run);
    let verdict = if unscored <= policy.max_unscored { Verdict::Pass } else { Verdict::Inconclusive };
    let text = match unmeasured(run) {
        None => "all sessions and files were measured".to_owned(),
        Some((what, named)) if named.is_empty() => format!("{what} could not be measured"),
        Some((what, named)) => format!("{what} could not be measured: {named}"),
    };
    let limit = format!("<= {}", policy.max_unscored);
    Check { now: Some(unscored as f64), ..open("", "unscored", &limit, verdict, &text) }
}

/// Sessions that both have under a contender of both, and only one of the two scored.
#[derive(Debug, Default)]
pub(super) struct OnlyOneScored(BTreeMap<(State, State), BTreeSet<String>>);

pub(super) fn only_one_scored(run: &Side, baseline: &Side) -> OnlyOneScored {
    let known: BTreeMap<_, State> =
        baseline.scores.iter().map(|score| ((&score.contender, &score.session), score.state)).collect();
    let mut changed = BTreeMap::<_, BTreeSet<String>>::new();
    for score in &run.scores {
        let Some(was) = known.get(&(&score.contender, &score.session)) else { continue };
        if (*was == State::Scored) != (score.state == State::Scored) {
            changed.entry((*was, score.state)).or_default().insert(score.session.clone());
        }
    }
    OnlyOneScored(changed)
}

impl OnlyOneScored {
    pub(super) fn sessions(&self) -> u64 {
        self.0.values().flatten().collect::<BTreeSet<_>>().len() as u64
    }

    /// Tells them. That a session is no longer compacted, or failed, is judged by checks of their own.
    pub(super) fn check(&self) -> Option<Check> {
        let said = |((was, is), sessions): (&(State, State), &BTreeSet<String>)| {
            let first = sessions.first()?;
            let how = match (was, is) {
                (State::NotExercised, _) => "newly exercised".to_owned(),
                (State::Failed, _) => "failed before".to_owned(),
                (State::Scored, is) => format!("{} now", is.name()),
            };
            Some(format!("{} {how} (first {first})", sessions.len()))
        };
        let parts: Vec<String> = self.0.iter().filter_map(said).collect();
        let sessions = self.sessions();
        let text = format!("no figure of {} is compared: {}", count(sessions, "session"), parts.join(", "));
        let check = open("", "compared", "scored in both", Verdict::Pass, &text);
        (sessions > 0).then_some(Check { now: Some(sessions as f64), sessions, ..check })
    }
}

/// Equal logs have equal sessions: one that is missing may be the one that became worse.
pub(super) fn same_sessions(run: &Side, baseline: &Side) -> Check {
    let rows = |side: &Side| -> BTreeSet<(Contender, String)> {
        side.scores.iter().map(|score| (score.contender.clone(), score.session.clone())).collect()
    };
    let (now, before) = (rows(run), rows(baseline));
    let shared: BTreeSet<&Contender> = now.iter().map(|(contender, _)| contender).collect();
    let shared: BTreeSet<&Contender> = before
        .iter()
        .map(|(contender, _)| contender)
        .filter(|contender| shared.contains(contender))
        .collect();
    let only =
        |ours: &BTreeSet<(Contender, String)>, theirs: &BTreeSet<(Contender, String)>| -> BTreeSet<String> {
            let missing = ours.difference(theirs).filter(|(contender, _)| shared.contains(contender));
            missing.map(|(_, session)| session.clone()).collect()
        };
    let (gone, new) = (only(&before, &now), only(&now, &before));
    let said = |sessions: &BTreeSet<String>, what: &str| {
        let first = sessions.first()?;
        Some(format!("{} {what} (first {first})", count(sessions.len() as u64, "session")))
    };
    let parts: Vec<String> =
        [said(&gone, "of the baseline not in the run"), said(&new, "of the run not in the baseline")]
            .into_iter()
            .flatten()
            .collect();
    let verdict = if parts.is_empty() { Verdict::Pass } else { Verdict::Inconclusive };
    let text = if parts.is_empty() { "the same in both".to_owned() } else { parts.join("; ") };
    let sessions = before.iter().map(|(_, session)| session).collect::<BTreeSet<_>>().len() as u64;
    Check { sessions, ..open("", "sessions", "those of the baseline", verdict, &text) }
}

/// A contender that compacts less often loses less: that is no gain.
pub(super) fn still_compacted(run: &Side, baseline: &Side, contender: &Contender) -> Option<Check> {
    let states: BTreeMap<&str, State> =
        run.of(contender).map(|score| (score.session.as_str(), score.state)).collect();
    let was: BTreeSet<&str> = baseline
        .of(contender)
        .filter(|score| score.state == State::Scored)
        .map(|score| score.session.as_str())
        .filter(|session| states.contains_key(session))
        .collect();
    if was.is_empty() {
        return None;
    }
    let gone: Vec<&str> =
        was.iter().copied().filter(|session| states.get(session) == Some(&State::NotExercised)).collect();
    let verdict = if gone.is_empty() { Verdict::Pass } else { Verdict::Fail };
    let text = match gone.first() {
        None => format!("{} compacted as before", count(was.len() as u64, "session")),
        Some(first) => {
            format!("{} of {} sessions are no longer compacted (first {first})", gone.len(), was.len())
        }
    };
    Some(Check {
        now: Some((was.len() - gone.len()) as f64),
        before: Some(was.len() as f64),
        sessions: was.len() as u64,
        excess: gone.len() as f64 / was.len() as f64,
        ..open(&name(contender), "exercised", "as before", verdict, &text)
    })
}

/// Another window, trigger or profile moves what leaves the context: then the facts that can be lost are others, and every figure is
/// of others. That is told, where it is so.
pub(super) fn others_at_risk(run: &Side, baseline: &Side) -> Option<Check> {
    let at = shares().iter().position(|name| name == "summary_survival")?;
    let at_risk = |score: &Score| score.shares.get(at).map_or(0, |share| share.total);
    let scored = |side: &'_ Side| -> BTreeMap<(Contender, String), u64> {
        let scored = side.scores.iter().filter(|score| score.state == State::Scored);
        scored.map(|score| ((score.contender.clone(), score.session.clone()), at_risk(score))).collect()
    };
    let (before, now) = (scored(baseline), scored(run));
    let both = now.iter().filter_map(|(key, now)| Some((&key.1, *now, *before.get(key)?)));
    let all: BTreeSet<&String> = both.clone().map(|(session, ..)| session).collect();
    let others: BTreeSet<&String> =
        both.filter(|(_, now, before)| now != before).map(|(session, ..)| session).collect();
    let (n, first) = (others.len() as u64, others.first()?);
    let text = format!(
        "in {n} of {} other facts left the context than in the baseline (first {first}): another window, trigger or profile moves that",
        count(all.len() as u64, "session")
    );
    let check = open("", "at_risk", "told", Verdict::Pass, &text);
    Some(Check { now: Some(n as f64), sessions: n, ..check })
}
