//! Two runs side by side: what changed, by how much, in which sessions, and what is newly lost.
//!
//! Pure: rows in, a comparison out. Differences are paired by session, the second run minus the first. Whoever compares must have
//! seen to it that the runs are comparable ([`crate::gate::compared`]).

use crate::aggregate::across::{ChangeRow, SessionChange, changes};
use crate::aggregate::scores::{AMOUNTS, Contender, State, scores};
use crate::aggregate::window_label;
use crate::gate::{Fingerprint, Side, Verdict};
use crate::results::{FactRow, LossRow, RunOutput, SessionRow};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What the difference of one contender comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Every figure is the same.
    Identical,
    /// Some figures differ; chance alone may make that.
    NoMeasurableDifference,
    /// At least one headline is measurably better, none worse.
    Better,
    /// At least one headline is measurably worse, none better.
    Worse,
    /// Some are better, others worse.
    Mixed,
    /// No session has a value in both runs.
    NotMeasured,
}

impl Direction {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identical => "identical",
            Self::NoMeasurableDifference => "no measurable difference",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Mixed => "better in some, worse in others",
            Self::NotMeasured => "not measured in both",
        }
    }
}

/// What the comparison of one contender comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// Profile name.
    pub profile: String,
    /// Strategy.
    pub strategy: String,
    /// Window.
    pub window: String,
    /// Which way.
    pub direction: Direction,
    /// Headlines that are measurably better.
    pub better: Vec<String>,
    /// Headlines that are measurably worse.
    pub worse: Vec<String>,
}

/// An amount of one contender in two runs, over the sessions of both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AmountChange {
    /// Profile name.
    pub profile: String,
    /// Strategy.
    pub strategy: String,
    /// Window.
    pub window: String,
    /// As a metric of a gate.
    pub amount: String,
    /// In the first run.
    pub before: u64,
    /// In the second.
    pub after: u64,
}

/// Two runs compared.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// The first run.
    pub before: Fingerprint,
    /// The second.
    pub after: Fingerprint,
    /// Every count is the same.
    pub identical: bool,
    /// What differs in how they were run, and is compared.
    pub differs: Vec<String>,
    /// By contender.
    pub findings: Vec<Finding>,
    /// By contender and metric.
    pub rows: Vec<ChangeRow>,
    /// Amounts over the sessions of both, where they differ.
    pub amounts: Vec<AmountChange>,
    /// Sessions whose figures differ, the largest loss first.
    pub sessions: Vec<SessionChange>,
    /// Facts lost in the second run and not in the first, the most needed first.
    pub new_losses: Vec<LossRow>,
    /// Whether `new_losses` are all: both runs say the fate of every fact. Else they are those among the worst of each run.
    pub all_losses: bool,
    /// Contenders that only one of the runs has.
    pub unmatched: Vec<String>,
    /// Sessions that only one of the runs has, left out.
    pub left_out: u64,
    /// Sessions that were scored in one run and not in the other.
    pub states_changed: Vec<String>,
}

/// A difference counts as measurable below this chance of being none.
const ALPHA: f64 = 0.05;

/// Compares two runs. Where each has a single profile, those are compared with each other, whatever their names.
pub fn compare(before: &RunOutput, after: &RunOutput) -> Comparison {
    let mut after = after.clone();
    let mut differs = Vec::new();
    if let Some((ours, theirs)) = single_profiles(before, &after) {
        differs.push(format!("profile: {ours} before, {theirs} now"));
        rename(&mut after, &ours);
    }
    let mut first = Side { manifest: before.manifest.clone(), scores: scores(before) };
    let mut second = Side { manifest: after.manifest.clone(), scores: scores(&after) };
    let (old, new) = (first.fingerprint(), second.fingerprint());
    differs.extend(settings(before, &after));
    let left_out = crate::gate::compared::keep_common(&mut first, &mut second);
    let common: BTreeSet<String> = first.scores.iter().map(|score| score.session.clone()).collect();
    // A session that went on under its name is another one.
    let (ours, theirs) = (only(before, &common), only(&after, &common));
    let changes = changes(&ours, &theirs);
    let names = |side: &Side| -> BTreeSet<String> {
        side.scores.iter().map(|score| crate::gate::name(&score.contender)).collect()
    };
    let (ours, theirs) = (names(&first), names(&second));
    let lacking = |ours: &BTreeSet<String>, theirs: &BTreeSet<String>, when: &str| -> Vec<String> {
        ours.difference(theirs).map(|name| format!("{name} (only {when})")).collect()
    };
    let mut unmatched = lacking(&ours, &theirs, "before");
    unmatched.extend(lacking(&theirs, &ours, "now"));
    let mut sessions = changes.sessions;
    sessions.retain(|change| common.contains(&change.session));
    let (mut new_losses, all_losses) = new_losses(before, &after, &common);
    if !all_losses {
        // The worst of two runs are ranked against each other: only what a session lost is new.
        let fell = |loss: &LossRow| {
            sessions.iter().any(|change| {
                change.difference < 0.0 && change.session == loss.session && change.strategy == loss.strategy
            })
        };
        new_losses.retain(fell);
    }
    Comparison {
        identical: left_out == 0 && first.scores == second.scores && sessions.is_empty(),
        before: old,
        after: new,
        differs,
        findings: findings(&changes.rows),
        rows: changes.rows,
        amounts: amounts(&first, &second),
        sessions,
        new_losses,
        all_losses,
        unmatched,
        left_out,
        states_changed: states_changed(&first, &second),
    }
}

impl Comparison {
    /// Nothing that both runs measured is in it.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|row| row.n == 0)
    }

    /// As the verdict of a gate would put it, for a headline.
    pub fn verdict(&self) -> Verdict {
        let worse = |finding: &Finding| matches!(finding.direction, Direction::Worse | Direction::Mixed);
        match (self.is_empty(), self.findings.iter().any(worse)) {
            (true, _) => Verdict::NotExercised,
            (false, true) => Verdict::Fail,
            (false, false) => Verdict::Pass,
        }
    }
}

/// The rows of these sessions that a comparison looks at.
fn only(run: &RunOutput, sessions: &BTreeSet<String>) -> RunOutput {
    RunOutput {
        manifest: run.manifest.clone(),
        sessions: run.sessions.iter().filter(|row| sessions.contains(&row.session)).cloned().collect(),
        cycles: run.cycles.iter().filter(|row| sessions.contains(&row.session)).cloned().collect(),
        classes: run.classes.iter().filter(|row| sessions.contains(&row.session)).cloned().collect(),
        ..RunOutput::default()
    }
}

/// The profiles of two runs that have one each, of different names.
fn single_profiles(before: &RunOutput, after: &RunOutput) -> Option<(String, String)> {
    match (before.manifest.settings.profiles.as_slice(), after.manifest.settings.profiles.as_slice()) {
        ([ours], [theirs]) if ours != theirs => Some((ours.clone(), theirs.clone())),
        _ => None,
    }
}

/// Gives every row the profile's other name.
fn rename(run: &mut RunOutput, name: &str) {
    run.manifest.settings.profiles = vec![name.to_owned()];
    run.sessions.iter_mut().for_each(|row| name.clone_into(&mut row.profile));
    run.cycles.iter_mut().for_each(|row| name.clone_into(&mut row.profile));
    run.classes.iter_mut().for_each(|row| name.clone_into(&mut row.profile));
    run.spells.iter_mut().for_each(|row| name.clone_into(&mut row.profile));
    run.facts.iter_mut().for_each(|row| name.clone_into(&mut row.profile));
    run.manifest.worst_losses.iter_mut().for_each(|row| name.clone_into(&mut row.profile));
}

/// Settings that may differ, and do.
fn settings(before: &RunOutput, after: &RunOutput) -> Vec<String> {
    let (ours, theirs) = (&before.manifest, &after.manifest);
    let budget =
        |tokens: Option<u64>| tokens.map_or("of the profile".to_owned(), |tokens| format!("{tokens} tokens"));
    let pairs = [
        ("version", ours.version.clone(), theirs.version.clone()),
        ("summarizer", ours.settings.summarizer.clone(), theirs.settings.summarizer.clone()),
        ("budget", budget(ours.settings.summary_tokens), budget(theirs.settings.summary_tokens)),
    ];
    let mut differs: Vec<String> = pairs
        .into_iter()
        .filter(|(_, ours, theirs)| ours != theirs)
        .map(|(what, ours, theirs)| format!("{what}: {ours} before, {theirs} now"))
        .collect();
    if ours.settings.profile_hash != theirs.settings.profile_hash {
        differs.push("the contents of the profiles".to_owned());
    }
    differs
}

/// Metrics that a direction is made of: the classes are shown, and decide nothing.
fn findings(rows: &[ChangeRow]) -> Vec<Finding> {
    let mut by_contender: BTreeMap<(usize, &str, &str, &str), Vec<&ChangeRow>> = BTreeMap::new();
    let mut order: Vec<(&str, &str, &str)> = Vec::new();
    for row in rows {
        let key = (row.profile.as_str(), row.strategy.as_str(), row.window.as_str());
        let at = order.iter().position(|known| *known == key).unwrap_or_else(|| {
            order.push(key);
            order.len() - 1
        });
        by_contender.entry((at, key.0, key.1, key.2)).or_default().push(row);
    }
    by_contender
        .into_iter()
        .map(|((_, profile, strategy, window), rows)| {
            let headline = |row: &&&ChangeRow| !row.metric.starts_with("survival.");
            let measurable = |row: &&&ChangeRow| row.p.is_some_and(|p| p < ALPHA);
            let of_sign = |up: bool| -> Vec<String> {
                let rows = rows.iter().filter(headline).filter(measurable);
                let rows =
                    rows.filter(|row| row.mean.is_some_and(|mean| if up { mean > 0.0 } else { mean < 0.0 }));
                rows.map(|row| row.metric.clone()).collect()
            };
            let (better, worse) = (of_sign(true), of_sign(false));
            let moved = rows.iter().any(|row| row.better + row.worse > 0);
            let measured = rows.iter().any(|row| row.n > 0);
            let direction = match (better.is_empty(), worse.is_empty(), moved) {
                _ if !measured => Direction::NotMeasured,
                (true, true, false) => Direction::Identical,
                (true, true, true) => Direction::NoMeasurableDifference,
                (false, true, _) => Direction::Better,
                (true, false, _) => Direction::Worse,
                (false, false, _) => Direction::Mixed,
            };
            Finding {
                profile: profile.to_owned(),
                strategy: strategy.to_owned(),
                window: window.to_owned(),
                direction,
                better,
                worse,
            }
        })
        .collect()
}

/// Facts that the second run loses and the first does not, and whether they are all there are.
fn new_losses(before: &RunOutput, after: &RunOutput, common: &BTreeSet<String>) -> (Vec<LossRow>, bool) {
    let (mut losses, all) = if before.facts.is_empty() || after.facts.is_empty() {
        let key = |row: &LossRow| {
            (
                row.session.clone(),
                row.profile.clone(),
                row.strategy.clone(),
                row.class.clone(),
                row.value.clone(),
            )
        };
        let known: BTreeSet<_> = before.manifest.worst_losses.iter().map(key).collect();
        let new = after.manifest.worst_losses.iter().filter(|row| !known.contains(&key(row)));
        (new.cloned().collect(), false)
    } else {
        (fates(before, after), true)
    };
    losses.retain(|loss: &LossRow| common.contains(&loss.session));
    (losses, all)
}

/// The window of each plan as it was asked for: one that was searched for differs between runs.
type Labels<'a> = BTreeMap<(&'a str, &'a str, &'a str, u64), String>;

fn labels(run: &RunOutput) -> Labels<'_> {
    let plan = |row: &'_ SessionRow| (row.window, window_label(row));
    let keys =
        run.sessions.iter().map(|row| (row.session.as_str(), row.profile.as_str(), row.strategy.as_str()));
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
fn fates(before: &RunOutput, after: &RunOutput) -> Vec<LossRow> {
    let (ours, theirs) = (labels(before), labels(after));
    let lost: BTreeSet<_> =
        before.facts.iter().filter(|row| row.first_loss).map(|row| key(row, &ours)).collect();
    let sources: BTreeMap<&str, &str> =
        after.sessions.iter().map(|row| (row.session.as_str(), row.source.as_str())).collect();
    let mut new: Vec<(bool, LossRow)> = Vec::new();
    let mut seen = BTreeSet::new();
    for row in after.facts.iter().filter(|row| row.first_loss && !lost.contains(&key(row, &theirs))) {
        if !seen.insert(key(row, &theirs)) {
            continue;
        }
        let damage = match &*row.tier {
            damage @ ("contradicted" | "mutated") => damage,
            _ => "lost",
        };
        let loss = LossRow {
            session: row.session.clone(),
            source: sources.get(row.session.as_str()).copied().unwrap_or_default().to_owned(),
            line: row.birth_line,
            profile: row.profile.clone(),
            strategy: row.strategy.to_string(),
            cycle: row.cycle,
            class: row.class.to_string(),
            value: row.value.clone(),
            damage: damage.to_owned(),
            mentions_later: row.mentions_later,
            also: Vec::new(),
        };
        new.push((row.needed, loss));
    }
    new.sort_by(|(a_needed, a), (b_needed, b)| {
        b_needed.cmp(a_needed).then(b.mentions_later.cmp(&a.mentions_later))
    });
    new.into_iter().map(|(_, loss)| loss).collect()
}

/// Amounts that differ, of contenders that both have, over sessions that failed in neither.
fn amounts(before: &Side, after: &Side) -> Vec<AmountChange> {
    let known: BTreeMap<_, _> =
        before.scores.iter().map(|score| ((&score.contender, &score.session), score)).collect();
    let mut sums: BTreeMap<&Contender, Vec<(u64, u64)>> = BTreeMap::new();
    for score in after.scores.iter().filter(|score| score.state != State::Failed) {
        let Some(old) = known.get(&(&score.contender, &score.session)) else { continue };
        if old.state == State::Failed {
            continue;
        }
        let sums = sums.entry(&score.contender).or_insert_with(|| vec![(0, 0); AMOUNTS.len()]);
        for (sum, (was, is)) in sums.iter_mut().zip(old.amounts.iter().zip(&score.amounts)) {
            *sum = (sum.0 + was, sum.1 + is);
        }
    }
    let rows = sums.into_iter().flat_map(|(contender, sums)| {
        let differ = sums.into_iter().zip(AMOUNTS).filter(|((was, is), _)| was != is);
        differ.map(|((before, after), (amount, _))| AmountChange {
            profile: contender.profile.clone(),
            strategy: contender.strategy.clone(),
            window: contender.window.clone(),
            amount: amount.to_owned(),
            before,
            after,
        })
    });
    rows.collect()
}

/// Sessions that were scored in one run alone.
fn states_changed(before: &Side, after: &Side) -> Vec<String> {
    let states: BTreeMap<_, _> =
        before.scores.iter().map(|score| ((&score.contender, &score.session), score.state)).collect();
    let mut changed: BTreeMap<(&str, State, State), Vec<String>> = BTreeMap::new();
    for score in &after.scores {
        let was = states.get(&(&score.contender, &score.session)).filter(|was| **was != score.state);
        if let Some(was) = was {
            let whom = crate::gate::name(&score.contender);
            changed.entry((&score.session, *was, score.state)).or_default().push(whom);
        }
    }
    let text = |((session, was, is), whom): ((&str, State, State), Vec<String>)| {
        format!("session {session}: {} before, {} now, under {}", was.name(), is.name(), whom.join(", "))
    };
    changed.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::files::sample;

    #[test]
    fn a_run_against_itself_is_identical() {
        let run = sample::run(12);
        let compared = compare(&run, &run);
        assert!(compared.identical && compared.sessions.is_empty() && compared.new_losses.is_empty());
        assert!(compared.findings.iter().all(|finding| finding.direction == Direction::Identical));
        assert_eq!((compared.verdict(), compared.findings.len()), (Verdict::Pass, 4));
    }

    /// Changes the lexical survival of the structured sessions and expects a direction for them.
    fn check(change: fn(usize, f64) -> f64, direction: Direction) {
        let before = sample::run(12);
        let mut after = before.clone();
        let own = after.sessions.iter_mut().filter(|row| row.strategy == "structured" && row.exercised);
        for (at, row) in own.enumerate() {
            row.lexical_survival = row.lexical_survival.map(|value| change(at, value));
        }
        let compared = compare(&before, &after);
        let finding = compared.findings.iter().find(|finding| finding.strategy == "structured").unwrap();
        assert_eq!(finding.direction, direction);
        assert!(
            compared
                .findings
                .iter()
                .filter(|it| it.strategy != "structured")
                .all(|it| it.direction == Direction::Identical)
        );
    }

    #[test]
    fn directions_need_more_than_chance() {
        check(|_, value| value, Direction::Identical);
        check(|_, value| value - 0.1, Direction::Worse);
        check(|_, value| value + 0.1, Direction::Better);
        check(
            |at, value| if at % 2 == 0 { value + 0.1 } else { value - 0.09 },
            Direction::NoMeasurableDifference,
        );
    }

    #[test]
    fn single_profiles_are_compared_whatever_their_names() {
        let before = sample::run(12);
        let mut after = before.clone();
        rename(&mut after, "mine");
        let compared = compare(&before, &after);
        assert_eq!(compared.differs, ["profile: standard before, mine now"]);
        assert!(compared.unmatched.is_empty() && !compared.is_empty());
    }

    #[test]
    fn what_is_newly_lost_is_named_with_its_line() {
        let mut before = sample::run(12);
        let fact = |number, lost, needed| FactRow {
            session: "s01".to_owned(),
            profile: "standard".to_owned(),
            strategy: "structured".into(),
            window: 20_000,
            cycle: 1,
            fact: number,
            class: "constraint".into(),
            value: format!("fact {number}"),
            birth_line: 10 + number,
            tier: "absent".into(),
            first_loss: lost,
            needed,
            ..FactRow::default()
        };
        before.facts = vec![fact(1, true, true), fact(2, false, false), fact(3, false, true)];
        let mut after = before.clone();
        after.facts = vec![fact(1, true, true), fact(2, true, false), fact(3, true, true)];
        let compared = compare(&before, &after);
        let lost: Vec<(&str, u64)> =
            compared.new_losses.iter().map(|loss| (loss.value.as_str(), loss.line)).collect();
        assert_eq!(lost, [("fact 3", 13), ("fact 2", 12)]);
        assert!(compared.all_losses && compared.new_losses[0].source == "logs/s01.jsonl");
    }

    #[test]
    fn sessions_of_one_run_alone_are_left_out() {
        let (before, after) = (sample::run(12), sample::run(10));
        let compared = compare(&before, &after);
        assert_eq!((compared.left_out, compared.identical), (2, false));
        assert!(compared.rows.iter().all(|row| row.n <= 10));
        let mut after = before.clone();
        after.sessions.iter_mut().filter(|row| row.session == "s03").for_each(|row| row.exercised = false);
        let changed = compare(&before, &after).states_changed;
        assert!(
            changed.len() == 1
                && changed[0].starts_with("session s03: scored before, not exercised now, under ")
        );
    }
}
