//! Fuzzing of the readers: small logs of every format, changed at random, and what must hold of whatever is read of them.
//!
//! Every family of readers is a test of its own. An ordinary run tries a small number of cases each. With
//! `COMPACTOR_FUZZ_SECONDS` set they go on for that long, all families together:
//!
//! ```text
//! COMPACTOR_FUZZ_SECONDS=3600 cargo test --test fuzz -- --test-threads=1
//! ```
//!
//! `COMPACTOR_FUZZ_SEED` makes such a run another one. What breaks is made smaller and printed, each kind once, and the run goes
//! on; at its end each family says how many inputs it read and how long the slowest took.
//!
//! A change is made from one number ([`mutate`]), so a case is a seed and a list of numbers; proptest makes that list shorter in
//! ordinary runs. Nothing here depends on how numbers come about: a fuzzer led by coverage could give them just as well.
//! `cargo-fuzz` is not used: it needs a nightly compiler and a crate of its own with its dependencies, where this needs nothing
//! that the tests do not have anyway.
#![expect(clippy::disallowed_methods, reason = "fuzzing reads its seeds, the clock and how long it may take")]

mod chance;
mod check;
mod mutate;
mod seeds;

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Once;
use std::time::{Duration, Instant};

use chance::Chance;
use check::{Findings, Input, check};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use seeds::{FAMILIES, Seeds, seeds};

/// Cases of each family in an ordinary run.
const CASES: u32 = 300;

/// Changes to one seed.
const CHANGES: usize = 8;

/// Readings spent on making an input that breaks something smaller.
const REDUCTIONS: usize = 3000;

/// A log of a family, changed.
fn case(seeds: &Seeds, family: usize, at: usize, steps: &[u64]) -> Option<Input> {
    let inputs = seeds.of.get(family)?;
    let mut input = inputs.get(at % inputs.len())?.clone();
    let name = FAMILIES.get(family)?.name;
    for step in steps {
        let mut chance = Chance::new(*step);
        match &mut input {
            Input::File(bytes) if compactor::ingest::is_database(bytes) => {
                database(bytes, &mut chance, seeds);
            }
            Input::File(bytes) if name == "whole" && chance.once_in(4) => mutate::bytes(bytes, &mut chance),
            Input::File(bytes) if name == "whole" && chance.once_in(12) => {
                // Another log behind it.
                if let Some(Input::File(other)) = chance.pick(inputs) {
                    bytes.extend_from_slice(other);
                }
            }
            Input::File(bytes) => mutate::change(bytes, *step, &seeds.stock),
            Input::Tree(files) => tree(files, &mut chance, seeds),
        }
    }
    Some(input)
}

/// Changes a directory.
fn tree(files: &mut Vec<(String, Vec<u8>)>, chance: &mut Chance, seeds: &Seeds) {
    if files.is_empty() {
        return;
    }
    let (one, other) = (chance.below(files.len()), chance.below(files.len()));
    match chance.below(12) {
        0 => {
            files.remove(one);
        }
        1 => {
            let taken = files.get(other).map(|(_, bytes)| bytes.clone()).unwrap_or_default();
            if let Some((_, bytes)) = files.get_mut(one) {
                *bytes = taken;
            }
        }
        2 => {
            let copy = files.get(one).map(|(path, bytes)| (path.replace(".json", "2.json"), bytes.clone()));
            files.extend(copy);
        }
        3 => {
            let taken = files.get(other).map(|(path, _)| path.clone()).unwrap_or_default();
            if let Some((path, _)) = files.get_mut(one) {
                let name = path.rsplit('/').next().unwrap_or_default().to_owned();
                let directory = taken.rsplit_once('/').map_or("", |(directory, _)| directory);
                *path = format!("{directory}/{name}");
            }
        }
        4 => files.swap(one, other),
        _ => {
            if let Some((_, bytes)) = files.get_mut(one) {
                mutate::change(bytes, chance.any(), &seeds.stock);
            }
        }
    }
}

/// Changes a database: its bytes, or a value in one of its rows.
#[cfg(feature = "sqlite")]
fn database(bytes: &mut Vec<u8>, chance: &mut Chance, seeds: &Seeds) {
    if chance.once_in(3) || changed_row(bytes, chance, seeds).is_none() {
        for _ in 0..=chance.below(4) {
            mutate::bytes(bytes, chance);
        }
    }
}

#[cfg(not(feature = "sqlite"))]
fn database(bytes: &mut Vec<u8>, chance: &mut Chance, _: &Seeds) {
    mutate::bytes(bytes, chance);
}

#[cfg(feature = "sqlite")]
fn changed_row(bytes: &mut Vec<u8>, chance: &mut Chance, seeds: &Seeds) -> Option<()> {
    let mut connection = rusqlite::Connection::open_in_memory().ok()?;
    connection.deserialize_read_exact("main", bytes.as_slice(), bytes.len(), false).ok()?;
    let sql = "SELECT m.name, p.name FROM sqlite_master AS m, pragma_table_info(m.name) AS p WHERE m.type = 'table'";
    let mut statement = connection.prepare(sql).ok()?;
    let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).ok()?;
    let columns: Vec<(String, String)> = found.filter_map(Result::ok).collect();
    drop(statement);
    let (table, column) = chance.pick(&columns)?;
    let sql = format!("SELECT rowid, CAST(\"{column}\" AS BLOB) FROM \"{table}\"");
    let mut statement = connection.prepare(&sql).ok()?;
    let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).ok()?;
    let rows: Vec<(i64, Vec<u8>)> = found.filter_map(Result::ok).collect();
    drop(statement);
    let (row, mut value) = chance.pick(&rows)?.clone();
    mutate::change(&mut value, chance.any(), &seeds.stock);
    let sql = format!("UPDATE \"{table}\" SET \"{column}\" = ?1 WHERE rowid = ?2");
    match String::from_utf8(value) {
        Ok(text) => connection.execute(&sql, rusqlite::params![text, row]),
        Err(error) => connection.execute(&sql, rusqlite::params![error.into_bytes(), row]),
    }
    .ok()?;
    *bytes = connection.serialize("main").ok()?.to_vec();
    Some(())
}

/// What a family did.
#[derive(Debug, Default)]
struct Tally {
    executions: u64,
    slowest: Duration,
    /// Inputs that break something, by what it is.
    broken: BTreeMap<String, String>,
}

impl Tally {
    fn add(&mut self, findings: &Findings) {
        self.executions += 1;
        self.slowest = self.slowest.max(findings.took);
    }

    fn say(&self, family: &str) {
        // Not the macro: what it prints is only shown when a test fails.
        let _ = writeln!(
            std::io::stderr().lock(),
            "fuzz {family}: {} executions, the slowest {} ms, {} kinds of fault",
            self.executions,
            self.slowest.as_millis(),
            self.broken.len(),
        );
    }
}

/// What kind of problem it is: its words without numbers.
fn kind(problem: &str) -> String {
    problem.chars().filter(|it| !it.is_ascii_digit()).take(90).collect()
}

/// A smaller input with a problem of the same kind.
fn reduced(input: &Input, wanted: &str) -> Input {
    let mut best = input.clone();
    let mut left = REDUCTIONS;
    let mut keep = |next: Input, best: &mut Input| {
        left = left.saturating_sub(1);
        let breaks = left > 0 && check(&next).problems.iter().any(|problem| kind(problem) == wanted);
        if breaks {
            *best = next;
        }
        breaks
    };
    if let Input::Tree(files) = &best {
        for at in (0..files.len()).rev() {
            let Input::Tree(mut fewer) = best.clone() else { break };
            fewer.remove(at);
            keep(Input::Tree(fewer), &mut best);
        }
    }
    let parts = if let Input::Tree(files) = &best { files.len() } else { 1 };
    for part in 0..parts {
        for lines in [true, false] {
            let length = |input: &Input| pieces(input, part, lines).len();
            let mut size = length(&best).div_ceil(2).max(1);
            loop {
                let mut at = 0;
                while at < length(&best) {
                    let mut all = pieces(&best, part, lines);
                    let end = (at + size).min(all.len());
                    all.drain(at..end);
                    let next = with(&best, part, all.concat());
                    if !keep(next, &mut best) {
                        at += size;
                    }
                }
                if size == 1 {
                    break;
                }
                size = size.div_ceil(2);
            }
        }
    }
    best
}

/// Lines or bytes of a file.
fn pieces(input: &Input, part: usize, lines: bool) -> Vec<Vec<u8>> {
    let bytes = match input {
        Input::File(bytes) => bytes.as_slice(),
        Input::Tree(files) => files.get(part).map(|(_, bytes)| bytes.as_slice()).unwrap_or_default(),
    };
    if lines {
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    } else {
        bytes.iter().map(|byte| vec![*byte]).collect()
    }
}

fn with(input: &Input, part: usize, changed: Vec<u8>) -> Input {
    match input {
        Input::File(_) => Input::File(changed),
        Input::Tree(files) => {
            let mut files = files.clone();
            if let Some((_, bytes)) = files.get_mut(part) {
                *bytes = changed;
            }
            Input::Tree(files)
        }
    }
}

fn shown(input: &Input) -> String {
    match input {
        Input::File(bytes) => format!("b\"{}\"", bytes.escape_ascii()),
        Input::Tree(files) => {
            let file = |(path, bytes): &(String, Vec<u8>)| format!("  {path}: b\"{}\"", bytes.escape_ascii());
            files.iter().map(file).collect::<Vec<String>>().join("\n")
        }
    }
}

/// Panics are findings; what they print in between is noise.
fn quiet() {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if panic.location().is_none_or(|at| at.file().contains("fuzz")) {
                usual(panic);
            }
        }));
    });
}

/// A family for as long as it may take.
fn long(family: usize, time: Duration) -> Tally {
    let seeds = seeds();
    let first = std::env::var("COMPACTOR_FUZZ_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1u64);
    let mut chance = Chance::new(first.wrapping_mul(0x1000_0000_01b3) ^ family as u64);
    let mut tally = Tally::default();
    let begun = Instant::now();
    while begun.elapsed() < time {
        let at = chance.below(usize::MAX);
        let steps: Vec<u64> = (0..chance.below(CHANGES + 1)).map(|_| chance.any()).collect();
        let Some(input) = case(seeds, family, at, &steps) else { break };
        let findings = check(&input);
        tally.add(&findings);
        for problem in &findings.problems {
            let kind = kind(problem);
            if !tally.broken.contains_key(&kind) && tally.broken.len() < 30 {
                let small = shown(&reduced(&input, &kind));
                let family = FAMILIES.get(family).map_or("", |it| it.name);
                let _ = writeln!(std::io::stderr().lock(), "fuzz {family}: {problem}: {small}");
                tally.broken.insert(kind, small);
            }
        }
    }
    tally
}

/// A family in an ordinary run.
fn bounded(family: usize) -> Tally {
    let seeds = seeds();
    let mut tally = Tally::default();
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    // The same cases every time: what only a long run finds is no matter of luck here.
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let strategy = (any::<usize>(), prop::collection::vec(any::<u64>(), 0..=CHANGES));
    let counted = std::cell::RefCell::new(&mut tally);
    let result = runner.run(&strategy, |(at, steps)| {
        let Some(input) = case(seeds, family, at, &steps) else { return Ok(()) };
        let findings = check(&input);
        counted.borrow_mut().add(&findings);
        prop_assert!(findings.problems.is_empty(), "{:?}: {}", findings.problems, shown(&input));
        Ok(())
    });
    if let Err(error) = result {
        tally.broken.insert(error.to_string(), String::new());
    }
    tally
}

fn run(name: &str) {
    quiet();
    let family = FAMILIES.iter().position(|family| family.name == name).expect("a family");
    let seconds = std::env::var("COMPACTOR_FUZZ_SECONDS").ok().and_then(|text| text.parse::<u64>().ok());
    let tally = match seconds {
        Some(seconds) => {
            long(family, Duration::from_secs(seconds) / u32::try_from(FAMILIES.len()).unwrap_or(1))
        }
        None => bounded(family),
    };
    tally.say(name);
    let broken: Vec<&String> = tally.broken.keys().collect();
    assert!(broken.is_empty(), "{name}: {broken:#?}");
}

/// Every seed is read as it stands.
#[test]
fn seeds_are_read() {
    quiet();
    let seeds = seeds();
    for (family, inputs) in FAMILIES.iter().zip(&seeds.of).take(FAMILIES.len() - 1) {
        for input in inputs {
            let problems = check(input).problems;
            assert_eq!(problems, Vec::<String>::new(), "{}: {}", family.name, shown(input));
        }
    }
}

macro_rules! families {
    ($($test:ident $name:literal)*) => { $(
        #[test]
        fn $test() {
            run($name);
        }
    )* };
}

families! {
    claude_code "claude-code"
    codex "codex"
    pi "pi"
    chat "chat"
    gemini "gemini"
    stores "stores"
    events "events"
    trajectories "trajectories"
    exports "exports"
    texts "texts"
    databases "databases"
    canonical "canonical"
    whole "whole"
}
