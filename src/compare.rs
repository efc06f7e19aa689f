//! Two runs side by side: what changed, by how much, in which sessions, and what is newly lost.
//!
//! Pure: rows in, a comparison out. Differences are paired by session, the second run minus the first. Whoever compares must have
//! seen to it that the runs are comparable ([`crate::gate::compared`]).

mod direction;
mod losses;

use crate::aggregate::across::{ChangeRow, SessionChange, changes};
use crate::aggregate::scores::{AMOUNTS, Contender, INVARIANTS, Score, State};
use crate::gate::{EMBEDDED, Fingerprint, Side, Verdict};
use crate::results::{LossRow, Name, RunOutput, SessionRow, Settings, WriterSettings};
use losses::ScoredInBoth;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What the difference of one contender comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Every count and amount is the same.
    Identical,
    /// Figures differ, and chance alone may make that.
    WithinChance,
    /// Figures differ, and so few sessions could not tell that from chance whatever they show.
    TooFewSessions,
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
            Self::WithinChance => "differs, within chance",
            Self::TooFewSessions => "too few sessions to tell",
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
    /// Headlines that are measurably worse, and hard invariants that are broken more often: those are counts, no chance is in them.
    pub worse: Vec<String>,
    /// Headlines that differ in so few sessions that no test could tell.
    pub too_few: Vec<String>,
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
    /// A hard invariant.
    pub invariant: bool,
    /// Sessions of both.
    pub n: u64,
    /// Of those, with less of it in the second run.
    pub better: u64,
    /// With more.
    pub worse: u64,
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
    /// Both runs are of the embedded summarizer, which gives equal figures for equal input: a difference is one, and p and interval say
    /// how far it holds for other sessions.
    pub exact: bool,
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
    /// Sessions that came further in one run than in the other, or have no row there under one of the contenders.
    pub states_changed: Vec<String>,
    /// Sessions of both whose window was searched for and came out another: other messages left the context, so that other facts
    /// were at risk.
    pub windows_changed: u64,
}

/// Compares two runs. Where each has a single profile, those are compared with each other, whatever their names.
pub fn compare(before: &RunOutput, after: &RunOutput) -> Comparison {
    let mut after = after.clone();
    let mut differs = Vec::new();
    if let Some((ours, theirs)) = single_profiles(before, &after) {
        differs.push(format!("profile: {ours} before, {theirs} now"));
        rename(&mut after, &ours);
    }
    let mut first = Side::new(before);
    let mut second = Side::new(&after);
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
    let scored = ScoredInBoth::of(&first.scores, &second.scores);
    let (mut new_losses, all_losses) = losses::new(before, &after, &scored);
    if !all_losses {
        // The worst of two runs are ranked against each other: only what a session lost is new.
        let fell = |loss: &LossRow| {
            sessions.iter().any(|change| {
                change.difference < 0.0 && change.session == loss.session && change.strategy == loss.strategy
            })
        };
        new_losses.retain(fell);
    }
    let amounts = amounts(&first, &second);
    Comparison {
        identical: left_out == 0 && first.scores == second.scores && sessions.is_empty(),
        exact: [before, &after].iter().all(|run| run.manifest.settings.summarizer == EMBEDDED),
        before: old,
        after: new,
        differs,
        findings: direction::findings(&changes.rows, &amounts, &unequal(&first.scores, &second.scores)),
        rows: changes.rows,
        amounts,
        sessions,
        new_losses,
        all_losses,
        unmatched,
        left_out,
        states_changed: states_changed(&first, &second),
        windows_changed: windows_changed(before, &after, &common),
    }
}

/// Contenders of which a session has other counts in the two runs; one that was not scored in both tells nothing.
fn unequal(before: &[Score], after: &[Score]) -> BTreeSet<Contender> {
    let known: BTreeMap<_, _> =
        before.iter().map(|score| ((&score.contender, &score.session), score)).collect();
    let differs = |score: &&Score| {
        let old = known.get(&(&score.contender, &score.session));
        old.is_some_and(|old| old.state == score.state && old != score)
    };
    after.iter().filter(differs).map(|score| score.contender.clone()).collect()
}

/// Sessions under the same plan whose searched windows differ.
fn windows_changed(before: &RunOutput, after: &RunOutput, common: &BTreeSet<String>) -> u64 {
    let key = |row: &SessionRow| (row.session.clone(), row.profile.clone(), row.strategy.clone());
    let searched = |row: &&SessionRow| row.window_source == "cycles" && common.contains(row.session.as_str());
    let known: BTreeMap<_, u64> =
        before.sessions.iter().filter(searched).map(|row| (key(row), row.window)).collect();
    let other = |row: &&SessionRow| known.get(&key(row)).is_some_and(|window| *window != row.window);
    let changed: BTreeSet<&str> =
        after.sessions.iter().filter(searched).filter(other).map(|row| row.session.as_str()).collect();
    changed.len() as u64
}

impl AmountChange {
    /// As a row beside those of the shares.
    pub fn row(&self) -> ChangeRow {
        let difference = self.after as f64 - self.before as f64;
        ChangeRow {
            profile: self.profile.clone(),
            strategy: self.strategy.clone(),
            window: self.window.clone(),
            metric: self.amount.clone(),
            before: Some(self.before as f64),
            after: Some(self.after as f64),
            mean: (self.n > 0).then(|| difference / self.n as f64),
            low: None,
            high: None,
            n: self.n,
            better: self.better,
            worse: self.worse,
            ties: self.n - self.better - self.worse,
            sign_p: None,
            p: None,
            p_holm: None,
        }
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
        sessions: run
            .sessions
            .iter()
            .filter(|row| sessions.contains(row.session.as_str()))
            .cloned()
            .collect(),
        cycles: run.cycles.iter().filter(|row| sessions.contains(row.session.as_str())).cloned().collect(),
        classes: run.classes.iter().filter(|row| sessions.contains(row.session.as_str())).cloned().collect(),
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
    let shared = Name::from(name);
    run.sessions.iter_mut().for_each(|row| row.profile = shared.clone());
    run.cycles.iter_mut().for_each(|row| row.profile = shared.clone());
    run.classes.iter_mut().for_each(|row| row.profile = shared.clone());
    run.spells.iter_mut().for_each(|row| row.profile = shared.clone());
    run.facts.iter_mut().for_each(|row| row.profile = shared.clone());
    run.manifest.worst_losses.iter_mut().for_each(|row| name.clone_into(&mut row.profile));
}

/// Settings that may differ, and do.
fn settings(before: &RunOutput, after: &RunOutput) -> Vec<String> {
    let (ours, theirs) = (&before.manifest, &after.manifest);
    let budget =
        |tokens: Option<u64>| tokens.map_or("of the profile".to_owned(), |tokens| format!("{tokens} tokens"));
    let model = |settings: &Settings| {
        let line = settings.writer.as_ref().map(WriterSettings::line).unwrap_or_default();
        if line.is_empty() { "nothing said".to_owned() } else { line }
    };
    let pairs = [
        ("version", ours.version.clone(), theirs.version.clone()),
        ("summarizer", ours.settings.summarizer.clone(), theirs.settings.summarizer.clone()),
        ("model", model(&ours.settings), model(&theirs.settings)),
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

/// What one amount comes to over sessions.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    before: u64,
    after: u64,
    n: u64,
    better: u64,
    worse: u64,
}

/// Amounts that differ, of contenders that both have, over sessions that failed in neither.
fn amounts(before: &Side, after: &Side) -> Vec<AmountChange> {
    let known: BTreeMap<_, _> =
        before.scores.iter().map(|score| ((&score.contender, &score.session), score)).collect();
    let mut sums: BTreeMap<&Contender, Vec<Sum>> = BTreeMap::new();
    for score in after.scores.iter().filter(|score| score.state != State::Failed) {
        let Some(old) = known.get(&(&score.contender, &score.session)) else { continue };
        if old.state == State::Failed {
            continue;
        }
        let sums = sums.entry(&score.contender).or_insert_with(|| vec![Sum::default(); AMOUNTS.len()]);
        for (sum, (was, is)) in sums.iter_mut().zip(old.amounts.iter().zip(&score.amounts)) {
            sum.before = sum.before.saturating_add(*was);
            sum.after = sum.after.saturating_add(*is);
            sum.n += 1;
            sum.better += u64::from(is < was);
            sum.worse += u64::from(was < is);
        }
    }
    let rows = sums.into_iter().flat_map(|(contender, sums)| {
        let differ = sums.into_iter().zip(AMOUNTS).enumerate();
        let differ = differ.filter(|(_, (sum, _))| sum.better + sum.worse > 0);
        differ.map(|(at, (sum, (amount, _)))| AmountChange {
            profile: contender.profile.clone(),
            strategy: contender.strategy.clone(),
            window: contender.window.clone(),
            amount: amount.to_owned(),
            before: sum.before,
            after: sum.after,
            invariant: at < INVARIANTS,
            n: sum.n,
            better: sum.better,
            worse: sum.worse,
        })
    });
    rows.collect()
}

/// Sessions in another state in the second run, or with a row in one run alone.
fn states_changed(before: &Side, after: &Side) -> Vec<String> {
    let states = |side: &'_ Side| -> BTreeMap<(Contender, String), State> {
        let rows = side.scores.iter();
        rows.map(|score| ((score.contender.clone(), score.session.clone()), score.state)).collect()
    };
    let (was, is) = (states(before), states(after));
    let of = |side: &'_ Side| -> BTreeSet<Contender> {
        side.scores.iter().map(|score| score.contender.clone()).collect()
    };
    let (ours, theirs) = (of(before), of(after));
    let contenders: BTreeSet<&Contender> = ours.intersection(&theirs).collect();
    let mut changed: BTreeMap<(&str, Option<State>, Option<State>), Vec<String>> = BTreeMap::new();
    for key in was.keys().chain(is.keys()).filter(|key| contenders.contains(&key.0)).collect::<BTreeSet<_>>()
    {
        let (was, is) = (was.get(key).copied(), is.get(key).copied());
        if was != is {
            changed.entry((&key.1, was, is)).or_default().push(crate::gate::name(&key.0));
        }
    }
    let word = |state: Option<State>| state.map_or("without a row", State::name);
    let text = |((session, was, is), whom): ((&str, _, _), Vec<String>)| {
        format!("session {session}: {} before, {} now, under {}", word(was), word(is), whom.join(", "))
    };
    changed.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests;
