//! What a report says first: at most three findings, by one stated rule.
//!
//! A finding is a sentence that the sessions bear out. Five kinds are looked for, at most one of each is shown:
//!
//! 1. *Broken*: hard rules that a compaction broke. Counted, not estimated: any number is a finding, and it comes first.
//! 2. *Difference*: two strategies of one run on the same sessions, by structural, lexical or needed facts or modified files. The
//!    controls (`emergency`, `none`) are no rivals where there are two others.
//! 3. *Repetition*: the share of at-risk facts in the summary, the last compaction of a session against its first.
//! 4. *Class*: the class of facts of which a leading contender's summaries keep least, if the interval of the class ends below
//!    the mean over all facts.
//! 5. *Needed*: what the work came back to and the summary had lost, if the interval ends below all of it.
//!
//! Kinds 2 to 5 need [`MIN_SESSIONS`] sessions with a value; 2 and 3 are tests, together one family, and count from
//! [`LEVEL`] after Holm's correction. Within a kind, and behind broken rules, the larger effect in percentage points comes first. A
//! kind that has nothing to say says why.

use super::runs::{Contender, RULES, View, class_name, is_group};
use super::text::{count, thousands};
use crate::aggregate::{DifferenceRow, Metric, counts};
use crate::stats::{Estimate, MIN_SESSIONS, Paired, holm, paired};
use std::collections::BTreeMap;

/// Findings shown.
pub const SHOWN: usize = 3;

/// Chance of any false alarm among the tests.
pub const LEVEL: f64 = 0.05;

/// Metrics whose differences are looked at.
const TESTED: [(Metric, &str); 4] = [
    (Metric::Structural, "structural facts"),
    (Metric::Lexical, "lexical facts"),
    (Metric::Needed, "facts that the work came back to"),
    (Metric::FilesModified, "modified files"),
];

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Hard rules were broken.
    Broken,
    /// One strategy keeps more than another.
    Difference,
    /// The last summaries hold less than the first.
    Repetition,
    /// One class is kept worst.
    Class,
    /// What was needed was lost.
    Needed,
}

/// One finding.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What it is about.
    pub kind: Kind,
    /// The sentence.
    pub headline: String,
    /// What it rests on: interval, sessions, test, counts.
    pub detail: String,
    /// Its size: points between 0 and 1; for broken rules their number.
    pub size: f64,
}

/// What there is to say, and what could not be said.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Findings {
    /// The weightiest, at most [`SHOWN`].
    pub shown: Vec<Finding>,
    /// Kinds without a finding, and why.
    pub silent: Vec<String>,
}

/// Findings of all runs together.
pub fn findings(view: &View<'_>) -> Findings {
    if view.exercised() == 0 {
        return Findings {
            shown: broken(view).into_iter().collect(),
            silent: vec!["no session was compacted".to_owned()],
        };
    }
    let mut family = Family::new(view);
    family.correct();
    let mut told = vec![broken(view)];
    let mut silent = Vec::new();
    for (found, why) in [family.difference(), family.repetition(), class(view), needed(view)] {
        if found.is_none() {
            silent.push(why);
        }
        told.push(found);
    }
    let mut shown: Vec<Finding> = told.into_iter().flatten().collect();
    shown.sort_by(|a, b| {
        let first = |it: &Finding| it.kind != Kind::Broken;
        first(a).cmp(&first(b)).then(b.size.total_cmp(&a.size)).then(a.kind.cmp(&b.kind))
    });
    shown.truncate(SHOWN);
    Findings { shown, silent }
}

fn broken(view: &View<'_>) -> Option<Finding> {
    let total = view.violations();
    let most = view.contenders.iter().map(Contender::violations).max().filter(|_| total > 0)?;
    let worst: Vec<&str> =
        view.contenders.iter().filter(|it| it.violations() == most).map(|it| it.name.as_str()).collect();
    let under = match worst.as_slice() {
        [one] => format!("{one} ({})", thousands(most)),
        [one, other] => format!("{one} and {other} ({} each)", thousands(most)),
        [one, rest @ ..] => format!("{one} and {} others ({} each)", rest.len(), thousands(most)),
        [] => return None,
    };
    let kinds: Vec<String> = RULES
        .iter()
        .map(|(name, of)| (name, view.contenders.iter().map(|it| it.broke(*of)).sum::<u64>()))
        .filter(|(_, n)| *n > 0)
        .map(|(name, n)| format!("{name} {}×", thousands(n)))
        .collect();
    Some(Finding {
        kind: Kind::Broken,
        headline: format!("Compactions broke hard rules {}", times(total)),
        detail: format!(
            "{}; most under {under}; {} in all",
            kinds.join(", "),
            count(view.compactions(), "compaction")
        ),
        size: total as f64,
    })
}

fn times(n: u64) -> String {
    if n == 1 { "once".to_owned() } else { format!("{} times", thousands(n)) }
}

/// A test of one of the two kinds that are tests.
struct Test<'v, 'a> {
    p: f64,
    corrected: f64,
    size: f64,
    about: About<'v, 'a>,
}

enum About<'v, 'a> {
    Pair { row: &'a DifferenceRow, ours: &'v Contender<'a>, theirs: &'v Contender<'a>, noun: &'static str },
    Rounds { contender: &'v Contender<'a>, first: f64, last: f64, paired: Paired },
}

/// All tests of a report: one family.
struct Family<'v, 'a> {
    members: Vec<Test<'v, 'a>>,
    /// Pairs and replays there were, whatever became of them, and the most sessions one of them had.
    pairs: (usize, u64),
    rounds: (usize, u64),
}

impl<'v, 'a> Family<'v, 'a> {
    fn new(view: &'v View<'a>) -> Self {
        let mut all = Self { members: Vec::new(), pairs: (0, 0), rounds: (0, 0) };
        let rivals = |run: usize, row: &DifferenceRow| {
            view.contenders
                .iter()
                .filter(|it| !it.is_control() && it.run == run)
                .filter(|it| (&it.row.profile, &it.row.window) == (&row.profile, &row.window))
                .count()
        };
        for (at, run) in view.runs.iter().enumerate() {
            for row in &run.aggregate.differences {
                let Some((_, noun)) = TESTED.iter().find(|(metric, _)| metric.name() == row.metric) else {
                    continue;
                };
                let Some((ours, theirs)) = view.pair(at, row) else { continue };
                if (ours.is_control() || theirs.is_control()) && rivals(at, row) > 1 {
                    continue;
                }
                all.pairs = (all.pairs.0 + 1, all.pairs.1.max(row.n));
                if let (Some(p), Some(mean), true) = (row.p, row.mean, row.n >= MIN_SESSIONS as u64) {
                    let about = About::Pair { row, ours, theirs, noun };
                    all.members.push(Test { p, corrected: p, size: mean.abs(), about });
                }
            }
        }
        for (at, sessions) in rounds(view) {
            let Some(contender) = view.get(at).filter(|it| !it.is_control()) else { continue };
            let n = sessions.len() as u64;
            all.rounds = (all.rounds.0 + 1, all.rounds.1.max(n));
            let differences: Vec<f64> = sessions.iter().map(|(first, last)| last - first).collect();
            let paired = paired(&differences);
            if let (Some(p), Some(mean), true) = (paired.p, paired.difference.mean, n >= MIN_SESSIONS as u64)
            {
                let of = |pick: fn(&(f64, f64)) -> f64| sessions.iter().map(pick).sum::<f64>() / n as f64;
                let (first, last) = (of(|pair| pair.0), of(|pair| pair.1));
                let about = About::Rounds { contender, first, last, paired };
                all.members.push(Test { p, corrected: p, size: -mean, about });
            }
        }
        all
    }

    fn correct(&mut self) {
        let corrected = holm(&self.members.iter().map(|test| test.p).collect::<Vec<_>>());
        self.members.iter_mut().zip(corrected).for_each(|(test, p)| test.corrected = p);
    }

    /// The largest effect of one kind that passes.
    fn largest(&self, pairs: bool) -> Option<&Test<'v, 'a>> {
        let passing = self.members.iter().filter(|test| {
            matches!(test.about, About::Pair { .. }) == pairs && test.corrected <= LEVEL && test.size > 0.0
        });
        passing.rev().max_by(|a, b| a.size.total_cmp(&b.size))
    }

    fn difference(&self) -> (Option<Finding>, String) {
        let found = self.largest(true).and_then(|test| {
            let About::Pair { row, ours, theirs, noun } = &test.about else { return None };
            let (more, less) = if row.mean? > 0.0 { (ours, theirs) } else { (theirs, ours) };
            let (low, high) = if row.mean? > 0.0 { (row.low?, row.high?) } else { (-row.high?, -row.low?) };
            let (better, worse) = if row.mean? > 0.0 { (row.n_a, row.n_b) } else { (row.n_b, row.n_a) };
            Some(Finding {
                kind: Kind::Difference,
                headline: format!(
                    "{} keeps {} more of the {noun} than {}",
                    more.name,
                    points(test.size),
                    less.name
                ),
                detail: format!(
                    "95 % interval {} to {}; better in {better} of {}, worse in {worse}; {}",
                    points(low),
                    points(high),
                    count(row.n, "session"),
                    self.chance(test)
                ),
                size: test.size,
            })
        });
        (found, self.silence("difference between strategies", "pair of strategies", self.pairs))
    }

    fn repetition(&self) -> (Option<Finding>, String) {
        let found = self.largest(false).and_then(|test| {
            let About::Rounds { contender, first, last, paired } = &test.about else { return None };
            let (low, high) = (-paired.difference.high?, -paired.difference.low?);
            let row = contender.row;
            let still = match row.held_survival_micro {
                Some(share) => format!(
                    "; of what the summary before held, {} still stood in the next ({} of {} facts)",
                    percent(share),
                    thousands(row.facts_held_still),
                    thousands(row.facts_held)
                ),
                None => String::new(),
            };
            Some(Finding {
                kind: Kind::Repetition,
                headline: format!(
                    "From the first to the last compaction {} falls from {} to {} of what only its summary can hold",
                    contender.name,
                    percent(*first),
                    percent(*last)
                ),
                detail: format!(
                    "{} less, 95 % interval {} to {}; {}; {}{still}",
                    points(test.size),
                    points(low),
                    points(high),
                    count(paired.difference.n, "session"),
                    self.chance(test)
                ),
                size: test.size,
            })
        });
        (found, self.silence("loss by repetition", "strategy with several compactions", self.rounds))
    }

    fn chance(&self, test: &Test<'_, '_>) -> String {
        let p = if test.corrected < 0.001 { "< 0.001".to_owned() } else { format!("{:.3}", test.corrected) };
        format!("p {p} after Holm over {}", count(self.members.len() as u64, "test"))
    }

    fn silence(&self, what: &str, noun: &str, (tried, sessions): (usize, u64)) -> String {
        if tried == 0 {
            format!("{what}: no {noun} to look at")
        } else if sessions < MIN_SESSIONS as u64 {
            format!(
                "{what}: {} at the most, and {MIN_SESSIONS} are needed to tell",
                count(sessions, "session")
            )
        } else {
            format!(
                "{what}: none that these sessions tell apart from chance (5 % level, Holm over {})",
                self.members.len()
            )
        }
    }
}

/// Summary survival of each session that counts, at its first compaction and at its last, by contender.
fn rounds(view: &View<'_>) -> BTreeMap<usize, Vec<(f64, f64)>> {
    let mut all: BTreeMap<usize, Vec<(f64, f64)>> = BTreeMap::new();
    for run in 0..view.runs.len() {
        let counted: std::collections::BTreeSet<(usize, &str)> = view
            .sessions(run)
            .filter(|(_, row)| counts(row))
            .map(|(at, row)| (at, row.session.as_str()))
            .collect();
        let mut ends: BTreeMap<(usize, &str), [Option<(u32, f64)>; 2]> = BTreeMap::new();
        for (at, row) in view.cycles(run).filter(|(_, row)| !row.opaque) {
            let (Some(value), true) = (row.summary_survival, counted.contains(&(at, row.session.as_str())))
            else {
                continue;
            };
            let [first, last] = ends.entry((at, &row.session)).or_default();
            if row.cycle == 1 {
                *first = Some((1, value));
            } else if last.is_none_or(|(cycle, _)| cycle < row.cycle) {
                *last = Some((row.cycle, value));
            }
        }
        for ((at, _), ends) in ends {
            if let [Some((_, first)), Some((_, last))] = ends {
                all.entry(at).or_default().push((first, last));
            }
        }
    }
    all
}

fn class(view: &View<'_>) -> (Option<Finding>, String) {
    let mut worst: Option<Finding> = None;
    let mut sessions = 0;
    for contender in view.leads.iter().filter_map(|at| view.get(*at)) {
        let Some(mean) = contender.row.summary_survival else { continue };
        for row in view.kept(contender).into_iter().filter(|row| !is_group(&row.class)) {
            sessions = sessions.max(row.sessions);
            let (Some(value), Some(low), Some(high)) = (row.survival, row.low, row.high) else { continue };
            if high >= mean || worst.as_ref().is_some_and(|worst| worst.size >= mean - value) {
                continue;
            }
            worst = Some(Finding {
                kind: Kind::Class,
                headline: format!(
                    "Of {} the summaries of {} keep {}, the least of all classes",
                    class_name(&row.class),
                    contender.name,
                    percent(value)
                ),
                detail: format!(
                    "95 % interval {} to {}, over {}; {} of {} facts; all facts together {}",
                    percent(low),
                    percent(high),
                    count(row.sessions, "session"),
                    thousands(row.in_summary),
                    thousands(row.at_risk),
                    percent(mean)
                ),
                size: mean - value,
            });
        }
    }
    (worst, missing("worst class", sessions, "none whose interval ends below the mean over all facts"))
}

fn needed(view: &View<'_>) -> (Option<Finding>, String) {
    let mut worst: Option<Finding> = None;
    let mut sessions = 0;
    for contender in view.leads.iter().filter_map(|at| view.get(*at)) {
        let Estimate { mean, low, high, n } = Metric::Needed.of_summary(contender.row);
        sessions = sessions.max(n);
        let (Some(mean), Some(low), Some(high)) = (mean, low, high) else { continue };
        if high >= 1.0 || worst.as_ref().is_some_and(|worst| worst.size >= 1.0 - mean) {
            continue;
        }
        let row = contender.row;
        worst = Some(Finding {
            kind: Kind::Needed,
            headline: format!(
                "{} lost {} of what the work came back to",
                contender.name,
                percent(1.0 - mean)
            ),
            detail: format!(
                "95 % interval {} to {}, over {}; {} of {} facts",
                percent(1.0 - high),
                percent(1.0 - low),
                count(n, "session"),
                thousands(row.facts_needed - row.facts_needed_in_summary.min(row.facts_needed)),
                thousands(row.facts_needed),
            ),
            size: 1.0 - mean,
        });
    }
    (worst, missing("needed facts", sessions, "the interval reaches all of them"))
}

/// Why there is no finding of a kind: too few sessions tell, or something else.
fn missing(kind: &str, sessions: u64, else_for: &str) -> String {
    if sessions < MIN_SESSIONS as u64 {
        format!("{kind}: {} at the most, and {MIN_SESSIONS} are needed to tell", count(sessions, "session"))
    } else {
        format!("{kind}: {else_for}")
    }
}

/// `12.3 %`.
pub fn percent(share: f64) -> String {
    let tenths = (share * 1_000.0).round() / 10.0;
    format!("{:.1} %", if tenths == 0.0 { 0.0 } else { tenths })
}

fn points(share: f64) -> String {
    let tenths = (share * 1_000.0).round() / 10.0;
    format!("{:.1} points", if tenths == 0.0 { 0.0 } else { tenths })
}

#[cfg(test)]
mod tests;
