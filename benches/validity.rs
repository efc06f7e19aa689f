//! Does what the measure calls lost matter to the agent? On compactions that logs hold: are files whose path the summary
//! lost read again more often than files it kept, and do compactions that lost more of what was needed lead to more reads?
//!
//! `cargo bench --bench validity -- LOGS...`. Intervals are over sessions (drawn with replacement), whatever they show.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "support/inputs.rs"]
mod inputs;

use compactor::discover::discover;
use compactor::results::{FactRow, RunOutput};
use compactor::run::{RunSettings, run};
use compactor::stats::{Interval, SEED, bootstrap};
use compactor::summarize::extractive::Extractive;
use compactor::tokens::Tokenizer;
use inputs::logs;
use std::collections::BTreeMap;

/// Files of one session behind one state of their path: how many, and how many of them were read again.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    files: f64,
    read: f64,
}

/// One compaction: what was needed and lost, files read again, tool calls looked at.
#[derive(Debug, Clone, Copy, Default)]
struct Compaction {
    lost: f64,
    rereads: f64,
    calls: f64,
}

/// One session: its files whose path the summary kept and lost, its compactions.
#[derive(Debug, Default)]
struct Session {
    kept: Group,
    lost: Group,
    compactions: BTreeMap<u32, Compaction>,
}

fn main() {
    let settings = RunSettings::audit(Tokenizer::O200k, 0, true);
    let Ok(output) = run(&discover(&logs()), &settings, &Extractive, &|_, _| {}) else { return };
    let sessions: Vec<Session> = sessions(&output).into_values().collect();
    let compactions: usize = sessions.iter().map(|session| session.compactions.len()).sum();
    println!("{} sessions, {compactions} compactions with a readable summary", sessions.len());

    let sum = |of: fn(&Session) -> Group| {
        sessions.iter().map(of).fold(Group::default(), |all, one| Group {
            files: all.files + one.files,
            read: all.read + one.read,
        })
    };
    for (name, group) in [("kept", sum(|it| it.kept)), ("lost", sum(|it| it.lost))] {
        let share = 100.0 * group.read / group.files;
        println!("path {name}: {} files, {} read again ({share:.1} %)", group.files, group.read);
    }
    let figures = bootstrap(sessions.len(), 3, SEED, |weights, out| {
        for (out, value) in out.iter_mut().zip(figures(&sessions, weights)) {
            *out = value;
        }
    });
    let ones = vec![1; sessions.len()];
    let names = [
        "read again when lost minus when kept (share of files)",
        "lost and needed (files aside) with files read again, by compaction (Spearman)",
        "the same per tool call looked at (Spearman)",
    ];
    for ((name, value), interval) in names.iter().zip(self::figures(&sessions, &ones)).zip(figures) {
        println!("{name}: {value:+.3} {}", shown(interval));
    }
}

fn shown(interval: Option<Interval>) -> String {
    interval.map_or_else(
        || "(fewer than 10 sessions: no interval)".to_owned(),
        |interval| format!("[{:+.3}, {:+.3}]", interval.low, interval.high),
    )
}

/// Sessions with a readable summary, by id.
fn sessions(output: &RunOutput) -> BTreeMap<&str, Session> {
    let mut sessions: BTreeMap<&str, Session> = BTreeMap::new();
    for row in output.audits.iter().filter(|row| !row.opaque && row.calls > 0) {
        let session = sessions.entry(&row.session).or_default();
        let compaction = Compaction { lost: 0.0, rereads: row.rereads as f64, calls: row.calls as f64 };
        session.compactions.insert(row.cycle, compaction);
    }
    for fact in &output.facts {
        let Some(session) = sessions.get_mut(fact.session.as_str()) else { continue };
        let Some(compaction) = session.compactions.get_mut(&fact.cycle) else { continue };
        let kept = ["exact", "resolvable"].contains(&fact.tier.as_ref());
        if !is_at_risk(fact) {
            continue;
        }
        if fact.class.starts_with("file.") {
            let group = if kept { &mut session.kept } else { &mut session.lost };
            group.files += 1.0;
            group.read += f64::from(u8::from(fact.reread));
        } else if fact.needed && !kept {
            compaction.lost += 1.0;
        }
    }
    sessions
}

fn is_at_risk(fact: &FactRow) -> bool {
    ["summary", "lost"].contains(&fact.location.as_ref())
}

/// The three figures of sessions that are counted so many times each.
fn figures(sessions: &[Session], weights: &[u32]) -> [f64; 3] {
    let (mut kept, mut lost) = (Group::default(), Group::default());
    let mut points: Vec<Compaction> = Vec::new();
    for (session, weight) in sessions.iter().zip(weights) {
        let times = f64::from(*weight);
        kept.files += times * session.kept.files;
        kept.read += times * session.kept.read;
        lost.files += times * session.lost.files;
        lost.read += times * session.lost.read;
        for _ in 0..*weight {
            points.extend(session.compactions.values());
        }
    }
    let spearman = |of: fn(&Compaction) -> (f64, f64)| {
        let (left, right): (Vec<f64>, Vec<f64>) = points.iter().map(of).unzip();
        correlation(&ranks(&left), &ranks(&right))
    };
    [
        lost.read / lost.files - kept.read / kept.files,
        spearman(|one| (one.lost, one.rereads)),
        spearman(|one| (one.lost / one.calls, one.rereads / one.calls)),
    ]
}

/// Ranks from 1, equal values sharing theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |value: f64| values.iter().filter(|other| **other < value).count() as f64;
    let equal = |value: f64| values.iter().filter(|other| other.total_cmp(&value).is_eq()).count() as f64;
    values.iter().map(|value| below(*value) + f64::midpoint(equal(*value), 1.0)).collect()
}

/// Pearson's correlation; NaN where one of them does not vary.
fn correlation(left: &[f64], right: &[f64]) -> f64 {
    let n = left.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n;
    let (a, b) = (mean(left), mean(right));
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| left.iter().zip(right).map(|(x, y)| of(x - a, y - b)).sum::<f64>();
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}
