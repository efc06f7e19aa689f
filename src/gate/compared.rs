//! Whether two runs may be compared, and what of them.
//!
//! Profiles, summarizers and budgets may differ: they are what is compared. What decides where sessions are cut, what counts as a
//! fact and how it is found in a text may not.

use super::Side;
use crate::aggregate::scores::State;
use crate::results::Manifest;
use std::collections::{BTreeMap, BTreeSet};

/// Why two runs cannot be compared; empty when they can. Runs of other logs can where only common sessions count.
pub fn mismatches(before: &Manifest, now: &Manifest, common_only: bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |what: &str, before: String, now: String| {
        if before != now {
            found.push(format!("{what}: {before} before, {now} now"));
        }
    };
    let (ours, theirs) = (&before.settings, &now.settings);
    check("schema version", before.schema_version.to_string(), now.schema_version.to_string());
    check("scorer version", before.scorer_version.to_string(), now.scorer_version.to_string());
    check("tokenizer", ours.tokenizer.clone(), theirs.tokenizer.clone());
    check("cycles", ours.cycles.to_string(), theirs.cycles.to_string());
    check("schedule", ours.schedule.clone(), theirs.schedule.clone());
    check("same window", ours.same_window.to_string(), theirs.same_window.to_string());
    check("mode", ours.mode.clone(), theirs.mode.clone());
    check("horizon in calls", ours.horizon_calls.to_string(), theirs.horizon_calls.to_string());
    check("recorded commands followed", ours.follow_recorded.to_string(), theirs.follow_recorded.to_string());
    check("compact-at", listed(&ours.compact_at), listed(&theirs.compact_at));
    if !common_only {
        let short = |hash: &str| hash.chars().take(12).collect::<String>();
        check("logs", short(&before.corpus_hash), short(&now.corpus_hash));
    }
    found
}

fn listed(items: &[String]) -> String {
    if items.is_empty() { "none".to_owned() } else { items.join(" ") }
}

/// Where each side has a single profile, gives the first the name of the second's: a changed policy is compared with what it was,
/// whatever it is called. The two names, where they differ.
pub fn align_profiles(before: &mut Side, now: &Side) -> Option<(String, String)> {
    let single = |side: &Side| match side.manifest.settings.profiles.as_slice() {
        [name] => Some(name.clone()),
        _ => None,
    };
    let (old, new) = (single(before)?, single(now)?);
    if old == new {
        return None;
    }
    before.scores.iter_mut().for_each(|score| new.clone_into(&mut score.contender.profile));
    Some((old, new))
}

/// Leaves in both only the sessions that both have, the same to the token. How many are left out.
pub fn keep_common(before: &mut Side, now: &mut Side) -> u64 {
    let sessions = |side: &Side| -> BTreeSet<(String, u64)> {
        side.scores.iter().map(|score| (score.session.clone(), score.tokens)).collect()
    };
    let (ours, theirs) = (sessions(before), sessions(now));
    let common: BTreeSet<(String, u64)> = ours.intersection(&theirs).cloned().collect();
    for side in [&mut *before, &mut *now] {
        side.scores.retain(|score| common.contains(&(score.session.clone(), score.tokens)));
    }
    let all: BTreeSet<&String> = ours.union(&theirs).map(|(session, _)| session).collect();
    (all.len() - common.len()) as u64
}

/// How many sessions a side has in each state, over all contenders.
pub fn states(side: &Side) -> BTreeMap<State, u64> {
    let mut states = BTreeMap::new();
    for score in &side.scores {
        *states.entry(score.state).or_default() += 1;
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::files::sample;

    #[test]
    fn what_decides_where_and_how_is_compared_must_be_equal() {
        let run = sample::run(3).manifest;
        let check = |change: fn(&mut Manifest), expected: &[&str]| {
            let mut other = run.clone();
            change(&mut other);
            let found = mismatches(&run, &other, false);
            assert_eq!(found.len(), expected.len(), "{found:?}");
            assert!(
                found.iter().zip(expected).all(|(found, expected)| found.starts_with(expected)),
                "{found:?}"
            );
        };
        check(|_| {}, &[]);
        check(|it| it.settings.profile_hash = "other".to_owned(), &[]);
        check(|it| it.settings.summarizer = "model".to_owned(), &[]);
        check(|it| it.settings.summary_tokens = Some(500), &[]);
        check(|it| it.schema_version += 1, &["schema version"]);
        check(|it| it.scorer_version += 1, &["scorer version"]);
        check(|it| it.settings.tokenizer = "cl100k".to_owned(), &["tokenizer"]);
        check(|it| it.settings.mode = "repeat".to_owned(), &["mode"]);
        check(|it| it.settings.cycles += 1, &["cycles"]);
        check(|it| it.settings.compact_at = vec!["40".to_owned()], &["compact-at: none before, 40 now"]);
        check(|it| it.corpus_hash = "other".to_owned(), &["logs"]);
        let mut other = run.clone();
        other.corpus_hash = "other".to_owned();
        assert!(mismatches(&run, &other, true).is_empty());
    }

    #[test]
    fn single_profiles_are_one_contender_whatever_they_are_called() {
        let run = sample::run(3);
        let now = Side::new(&run);
        let mut before = now.clone();
        assert_eq!(align_profiles(&mut before, &now), None);
        before.manifest.settings.profiles = vec!["old".to_owned()];
        before.scores.iter_mut().for_each(|score| score.contender.profile = "old".to_owned());
        assert_eq!(align_profiles(&mut before, &now), Some(("old".to_owned(), "standard".to_owned())));
        assert_eq!(before.scores, now.scores);
        before.manifest.settings.profiles.push("second".to_owned());
        assert_eq!(align_profiles(&mut before, &now), None);
    }

    #[test]
    fn common_sessions_are_those_of_both() {
        let side = |n| Side::new(&sample::run(n));
        let (mut before, mut now) = (side(12), side(9));
        assert_eq!(keep_common(&mut before, &mut now), 3);
        assert_eq!(before.scores.len(), now.scores.len());
        assert_eq!(states(&before)[&State::NotExercised], 4);
        // A session that went on is another one.
        let (mut before, mut now) = (side(12), side(12));
        now.scores.iter_mut().filter(|score| score.session == "s03").for_each(|score| score.tokens += 1);
        assert_eq!(keep_common(&mut before, &mut now), 1);
        assert!(before.scores.iter().all(|score| score.session != "s03"));
    }
}
