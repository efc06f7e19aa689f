//! Runs side by side: what the documents (HTML, Markdown, CSV) start from.
//!
//! A contender is a profile, a strategy and a window of one run. Everything here is pooled by `aggregate`; the rows of single
//! sessions are joined to the contender that they belong to.

use super::rank::{Place, sure_places};
use super::text::{sanitize, thousands};
use crate::aggregate::curves::CurveRow;
use crate::aggregate::kept::KeptRow;
use crate::aggregate::{Aggregate, DifferenceRow, SummaryRow, aggregate, window_label};
use crate::gate;
use crate::results::files::decimal;
use crate::results::{CycleRow, RunOutput, SessionRow};
use crate::strategy::Strategy;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};

/// Contenders that one chart can hold.
const ONE_CHART: usize = 6;

/// One run and what its rows say together.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Name of its directory.
    pub label: String,
    /// Its rows.
    pub output: RunOutput,
    /// The rows pooled.
    pub aggregate: Aggregate,
}

impl Run {
    /// Pools the rows of a run.
    pub fn new(label: String, output: RunOutput) -> Self {
        let aggregate = aggregate(&output);
        Self { label, output, aggregate }
    }
}

/// A name for each directory: its last part, and with as much in front as tells it from the others.
pub fn labels(directories: &[PathBuf]) -> Vec<String> {
    let parts = |path: &Path| -> Vec<String> {
        let normal = path.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        });
        normal.collect()
    };
    let all: Vec<Vec<String>> = directories.iter().map(|path| parts(path)).collect();
    let tail = |parts: &[String], n: usize| -> String {
        parts.get(parts.len().saturating_sub(n)..).unwrap_or_default().join("/")
    };
    let deepest = all.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let distinct =
        |n: &usize| all.iter().map(|parts| tail(parts, *n)).collect::<BTreeSet<_>>().len() == all.len();
    let depth = (1..=deepest).find(distinct).unwrap_or(1);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    all.iter()
        .map(|parts| {
            let name = tail(parts, depth);
            let name = if name.is_empty() { "run".to_owned() } else { name };
            let n = seen.entry(name.clone()).or_default();
            *n += 1;
            if *n == 1 { name } else { format!("{name} ({n})") }
        })
        .collect()
}

/// Why these runs may not stand in one report; `None` where they may.
pub fn unlike(runs: &[Run]) -> Option<String> {
    let [first, rest @ ..] = runs else { return None };
    let (one, rules) = (&first.output.manifest, |run: &Run| run.output.manifest.scorer_version);
    rest.iter().find_map(|run| {
        let other = &run.output.manifest;
        if rules(run) != rules(first) {
            return Some(format!(
                "{} was scored by version {} of the rules, {} by version {}: their numbers do not compare",
                first.label, one.scorer_version, run.label, other.scorer_version
            ));
        }
        let (ours, theirs) = (&one.settings.tokenizer, &other.settings.tokenizer);
        (ours != theirs).then(|| {
            format!(
                "{} counts tokens with {ours}, {} with {theirs}: their windows and budgets do not compare",
                first.label, run.label
            )
        })
    })
}

/// One contender of a report.
#[derive(Debug, Clone)]
pub struct Contender<'a> {
    /// Its place among the runs.
    pub run: usize,
    /// Its numbers.
    pub row: &'a SummaryRow,
    /// What tells it from all others, ready to be shown: strategy, and profile, window and run where these differ.
    pub name: String,
    /// What tells it from the others of its chart.
    pub short: String,
    /// Its colour and mark in the charts.
    pub series: usize,
    /// Its place by the mean of its ranks among the strategies of its profile and window.
    pub place: Place,
}

impl Contender<'_> {
    /// The control that never compacts: its cycles are places where the others did.
    pub fn never_compacts(&self) -> bool {
        self.row.strategy == Strategy::None.name()
    }

    /// Compactions that it made.
    pub fn compactions(&self) -> u64 {
        if self.never_compacts() { 0 } else { self.row.n_cycles }
    }

    /// Hard rules that its compactions broke.
    pub fn violations(&self) -> u64 {
        if self.never_compacts() { 0 } else { self.row.violations }
    }

    /// How often its compactions broke one rule.
    pub fn broke(&self, rule: fn(&SummaryRow) -> u64) -> u64 {
        if self.never_compacts() { 0 } else { rule(self.row) }
    }

    /// A floor that keeps nothing on purpose, or a ceiling that never compacts: no rival.
    pub fn is_control(&self) -> bool {
        [Strategy::Emergency.name(), Strategy::None.name()].contains(&self.row.strategy.as_str())
    }
}

/// Contenders that share a chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panel {
    /// What they have in common; empty where there is but one panel.
    pub title: String,
    /// Their places among the contenders.
    pub members: Vec<usize>,
}

/// Runs as a report shows them.
#[derive(Debug)]
pub struct View<'a> {
    /// The runs.
    pub runs: &'a [Run],
    /// All contenders, run by run.
    pub contenders: Vec<Contender<'a>>,
    /// Which of them share charts.
    pub panels: Vec<Panel>,
    /// Of each run, profile and window the one contender that the report looks at more closely: the best that is told apart, else
    /// the first with a value; never a control where there is another.
    pub leads: Vec<usize>,
    plans: HashMap<Plan<'a>, Vec<usize>>,
}

/// Place of the run, session, profile, strategy, window in tokens.
type Plan<'a> = (usize, &'a str, &'a str, &'a str, u64);

impl<'a> View<'a> {
    /// Names and orders what stands in the runs.
    pub fn new(runs: &'a [Run]) -> Self {
        let rows: Vec<(usize, &SummaryRow)> = runs
            .iter()
            .enumerate()
            .flat_map(|(at, run)| run.aggregate.summary.iter().map(move |row| (at, row)))
            .collect();
        let differ = |of: fn(&SummaryRow) -> &str| {
            rows.iter().map(|(_, row)| of(row)).collect::<BTreeSet<_>>().len() > 1
        };
        let (profiles, windows) = (differ(|row| &row.profile), differ(|row| &row.window));
        let shared = |at: usize, row: &SummaryRow| -> String {
            let mut parts = Vec::new();
            if runs.len() > 1 {
                parts.extend(runs.get(at).map(|run| sanitize(&run.label)));
            }
            if profiles {
                parts.push(sanitize(&row.profile));
            }
            if windows {
                parts.push(window_name(&row.window));
            }
            parts.join(" · ")
        };
        let together = rows.len() <= ONE_CHART;
        let mut contenders: Vec<Contender<'a>> = Vec::new();
        let mut panels: Vec<Panel> = Vec::new();
        let mut leads = Vec::new();
        let same = |a: &(usize, &SummaryRow), b: &(usize, &SummaryRow)| {
            (a.0, &a.1.profile, &a.1.window) == (b.0, &b.1.profile, &b.1.window)
        };
        for block in rows.chunk_by(same) {
            let first = contenders.len();
            let places = sure_places(&block.iter().map(|(_, row)| *row).collect::<Vec<_>>());
            for ((run, row), place) in block.iter().zip(places) {
                let (common, strategy) = (shared(*run, row), sanitize(&row.strategy));
                let name =
                    if common.is_empty() { strategy.clone() } else { format!("{common} · {strategy}") };
                let short = if together { name.clone() } else { strategy };
                let series = if together { contenders.len() } else { contenders.len() - first };
                contenders.push(Contender { run: *run, row, name, short, series, place });
            }
            let members: Vec<usize> = (first..contenders.len()).collect();
            leads.extend(lead(&contenders, &members));
            if let Some(panel) = panels.first_mut().filter(|_| together) {
                panel.members.extend(members);
            } else {
                let title = block.first().filter(|_| !together).map(|(run, row)| shared(*run, row));
                panels.push(Panel { title: title.unwrap_or_default(), members });
            }
        }
        let mut view = Self { runs, contenders, panels, leads, plans: HashMap::new() };
        view.plans = view.join();
        view
    }

    /// Which contender each plan of a session belongs to. A window that was given and one that was found can be the same number
    /// of tokens: then a plan has two.
    fn join(&self) -> HashMap<Plan<'a>, Vec<usize>> {
        let of: HashMap<(usize, &str, &str, &str), usize> = (0..)
            .zip(&self.contenders)
            .map(|(at, it)| {
                let row = it.row;
                ((it.run, row.profile.as_str(), row.window.as_str(), &*row.strategy), at)
            })
            .collect();
        let mut plans: HashMap<Plan<'a>, Vec<usize>> = HashMap::new();
        for (run, rows) in (0..).zip(self.runs) {
            for row in &rows.output.sessions {
                let window = window_label(row);
                if let Some(at) = of.get(&(run, row.profile.as_str(), window.as_str(), &*row.strategy)) {
                    plans
                        .entry((run, &row.session, &row.profile, &row.strategy, row.window))
                        .or_default()
                        .push(*at);
                }
            }
        }
        plans
    }

    /// The first contender that a row of these keys belongs to.
    pub fn contender_of(
        &self,
        run: usize,
        session: &str,
        profile: &str,
        strategy: &str,
        window: u64,
    ) -> Option<usize> {
        self.plans.get(&(run, session, profile, strategy, window)).and_then(|plans| plans.first()).copied()
    }

    /// Session rows of a run with their contenders.
    pub fn sessions(&self, run: usize) -> impl Iterator<Item = (usize, &'a SessionRow)> {
        let rows = self.runs.get(run).map_or(&[][..], |run| &run.output.sessions);
        let mut seen: HashMap<Plan<'a>, usize> = HashMap::new();
        rows.iter().filter_map(move |row| {
            let plan = (run, row.session.as_str(), row.profile.as_str(), &*row.strategy, row.window);
            let turn = seen.entry(plan).or_default();
            *turn += 1;
            Some((*self.plans.get(&plan)?.get(*turn - 1)?, row))
        })
    }

    /// Cycles of a run without an error, with their contenders.
    pub fn cycles(&self, run: usize) -> impl Iterator<Item = (usize, &'a CycleRow)> {
        let rows = self.runs.get(run).map_or(&[][..], |run| &run.output.cycles);
        let mut seen: HashMap<(Plan<'a>, u32), usize> = HashMap::new();
        rows.iter().filter_map(move |row| {
            let plan = (run, row.session.as_str(), row.profile.as_str(), &*row.strategy, row.window);
            let turn = seen.entry((plan, row.cycle)).or_default();
            *turn += 1;
            let at = *self.plans.get(&plan)?.get(*turn - 1)?;
            row.error.is_empty().then_some((at, row))
        })
    }

    /// The curve of a contender for a class or a pool of classes.
    pub fn curve(&self, contender: &Contender<'a>, class: &str) -> Vec<&'a CurveRow> {
        let Some(run) = self.runs.get(contender.run) else { return Vec::new() };
        let row = contender.row;
        let ours = |curve: &&CurveRow| {
            (&curve.profile, &curve.window, &curve.strategy) == (&row.profile, &row.window, &row.strategy)
                && curve.class == class
        };
        run.aggregate.curves.iter().filter(ours).collect()
    }

    /// What a contender's summaries kept, class by class and group by group, over all cycles.
    pub fn kept(&self, contender: &Contender<'a>) -> Vec<&'a KeptRow> {
        let Some(run) = self.runs.get(contender.run) else { return Vec::new() };
        let row = contender.row;
        let ours = |kept: &&KeptRow| {
            (&kept.profile, &kept.window, &kept.strategy) == (&row.profile, &row.window, &row.strategy)
                && kept.cycle.is_none()
        };
        run.aggregate.kept.iter().filter(ours).collect()
    }

    /// The two contenders of a difference.
    pub fn pair(&self, run: usize, row: &DifferenceRow) -> Option<(&Contender<'a>, &Contender<'a>)> {
        let find = |strategy: &str| {
            self.contenders.iter().find(|it| {
                it.run == run
                    && (it.row.profile.as_str(), it.row.window.as_str(), it.row.strategy.as_str())
                        == (row.profile.as_str(), row.window.as_str(), strategy)
            })
        };
        Some((find(&row.strategy_a)?, find(&row.strategy_b)?))
    }

    /// A contender by its place.
    pub fn get(&self, at: usize) -> Option<&Contender<'a>> {
        self.contenders.get(at)
    }

    /// Contenders of a panel.
    pub fn of<'v>(&'v self, panel: &'v Panel) -> impl Iterator<Item = &'v Contender<'a>> + Clone {
        panel.members.iter().filter_map(|at| self.contenders.get(*at))
    }

    /// Sessions with at least one compaction that counts, summed over the runs.
    pub fn exercised(&self) -> u64 {
        self.runs.iter().map(|run| run.output.manifest.sessions_exercised).sum()
    }

    /// Compactions of all runs.
    pub fn compactions(&self) -> u64 {
        self.contenders.iter().map(Contender::compactions).sum()
    }

    /// Hard rules broken in all runs.
    pub fn violations(&self) -> u64 {
        self.contenders.iter().map(Contender::violations).sum()
    }
}

/// The contender of a block that is looked at more closely.
fn lead(contenders: &[Contender<'_>], members: &[usize]) -> Option<usize> {
    let of = |at: &&usize| contenders.get(**at);
    let valued = |at: &&usize| of(at).is_some_and(|it| it.row.summary_survival.is_some());
    let best = members.iter().find(|at| of(at).is_some_and(|it| matches!(it.place, Place::Best(_))));
    let first = members.iter().find(|at| valued(at) && of(at).is_some_and(|it| !it.is_control()));
    best.or(first).or_else(|| members.iter().find(valued)).copied()
}

/// A window as text: `8,000 tokens`, or how it was found.
pub fn window_name(window: &str) -> String {
    match window {
        "cycles" => "window searched for".to_owned(),
        "auto" => "window of the model".to_owned(),
        given => {
            given.parse().map_or_else(|_| sanitize(given), |tokens| format!("{} tokens", thousands(tokens)))
        }
    }
}

/// What people call a class of facts.
pub fn class_name(class: &str) -> String {
    let name = match class {
        "file.modified" => "modified files",
        "file.created" => "created files",
        "file.renamed" => "renamed files",
        "file.deleted" => "deleted files",
        "file.read" => "files only read",
        "files.changed" => "all changed files",
        "files" => "all live files",
        "command" => "commands",
        "check" => "checks with outcome",
        "todo" => "todos",
        "error" => "errors",
        "identifier" => "identifiers",
        "value" => "values",
        "constraint" => "constraints",
        "decision" => "decisions",
        "request" => "requests",
        "structural" => "structural facts",
        "lexical" => "lexical facts",
        other => return sanitize(other),
    };
    name.to_owned()
}

/// Classes in the order in which they are shown, structural ones first. Those that it does not know come last.
pub const CLASSES: [&str; 14] = [
    "file.modified",
    "file.created",
    "file.renamed",
    "file.deleted",
    "file.read",
    "command",
    "check",
    "todo",
    "error",
    "identifier",
    "value",
    "constraint",
    "decision",
    "request",
];

/// True for pools of classes.
pub fn is_group(class: &str) -> bool {
    ["files.changed", "files", "structural", "lexical"].contains(&class)
}

/// True for what follows from calls; other classes are said in words.
pub fn is_structural(class: &str) -> bool {
    class.starts_with("file.") || ["command", "check", "todo"].contains(&class)
}

/// Kinds of broken rules, and how to count them.
pub const RULES: [(&str, fn(&SummaryRow) -> u64); 11] = [
    ("tool result without its call", |row| row.orphan_results),
    ("call without its result", |row| row.orphan_calls),
    ("second result of one call", |row| row.duplicate_results),
    ("empty block", |row| row.empty_blocks),
    ("no user message", |row| row.no_user_message),
    ("newest request absent", |row| row.request_absent),
    ("summary after the tail", |row| row.summary_after_tail),
    ("summary over budget", |row| row.over_budget),
    ("context not smaller", |row| row.no_gain),
    ("no progress in two cycles", |row| row.stuck),
    ("fact of a kept message gone", |row| row.tail_lost),
];

/// What the surroundings know of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// All that was asked for holds.
    Pass,
    /// Something does not.
    Fail,
    /// The sessions do not tell.
    Inconclusive,
    /// Nothing was compacted.
    NotExercised,
}

impl State {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Inconclusive => "inconclusive",
            Self::NotExercised => "not exercised",
        }
    }
}

/// What a policy says about the runs; a report shows it first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The judgement.
    pub state: State,
    /// One sentence.
    pub headline: String,
    /// What it rests on, the weightiest first.
    pub reasons: Vec<String>,
}

/// Checks that do not hold, named in a report.
const REASONS: usize = 20;

impl Verdict {
    /// The verdict of a gate: what does not hold, the worst first.
    pub fn of(outcome: &gate::Outcome) -> Self {
        Self::with(outcome, super::gate::sentence)
    }

    /// The same without the words of anybody: figures alone, and who is meant by strategy and window.
    pub fn without_names(outcome: &gate::Outcome) -> Self {
        Self::with(outcome, |check| {
            let whom = check.contender.split_once('/').map_or("run", |(_, whom)| whom);
            // A profile may have a slash in its name: strategy and window are the last two.
            let parts: Vec<&str> = whom.rsplitn(3, '/').take(2).collect();
            let whom = parts.into_iter().rev().collect::<Vec<_>>().join("/");
            let figure = |value: Option<f64>| value.map_or_else(|| "n/a".to_owned(), decimal);
            let (before, now) = (figure(check.before), figure(check.now));
            let sessions = super::text::count(check.sessions, "session");
            format!("{whom}: {} {}: {before} before, {now} now, {sessions}", check.metric, check.limit)
        })
    }

    fn with(outcome: &gate::Outcome, reason: impl Fn(&gate::Check) -> String) -> Self {
        let open: Vec<&gate::Check> =
            outcome.checks.iter().filter(|check| check.verdict != gate::Verdict::Pass).collect();
        let mut reasons: Vec<String> = open.iter().take(REASONS).map(|check| reason(check)).collect();
        // The findings stand below: thousands of rules must not push them out of sight.
        if open.len() > reasons.len() {
            let more = super::text::count((open.len() - reasons.len()) as u64, "check");
            reasons.push(format!("and {more} more, which compactor gate names"));
        }
        Self {
            state: match outcome.verdict {
                gate::Verdict::Pass => State::Pass,
                gate::Verdict::Fail => State::Fail,
                gate::Verdict::Inconclusive => State::Inconclusive,
                gate::Verdict::NotExercised => State::NotExercised,
            },
            headline: super::gate::headline(outcome),
            reasons,
        }
    }
}

/// Where no policy was given: what can be said without one.
pub fn without_policy(view: &View<'_>) -> (Option<State>, String) {
    if view.exercised() == 0 {
        return (Some(State::NotExercised), "Nothing was measured: no session was compacted".to_owned());
    }
    (None, "No policy given, so nothing passed and nothing failed".to_owned())
}

#[cfg(test)]
mod tests;
