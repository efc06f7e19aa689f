//! The whole run against its floor, in CPU time: reading, parsing and counting the tokens of the same files once.
//!
//! `cargo bench --bench whole_run -- [PATH]...`; without a path it takes `fixtures/`. One thread, so that CPU time is
//! time; each figure is the best of five passes after one to warm up.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use compactor::discover::{Discovered, discover, read};
use compactor::ingest::ingest;
use compactor::profile::Profile;
use compactor::replay::{Mode, ScheduleMode};
use compactor::run::{RunSettings, Windows, run};
use compactor::strategy::Strategy;
use compactor::summarize::extractive::Extractive;
use compactor::tokens::{TokenIndex, Tokenizer};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const PASSES: usize = 5;

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let paths: Vec<PathBuf> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).map(PathBuf::from).collect();
    let paths = if paths.is_empty() { vec![PathBuf::from("fixtures")] } else { paths };
    let found = discover(&paths);
    let bytes: u64 = found.sources.iter().map(|source| source.bytes).sum();
    let (parse, _) = best(|| floor(&found, None));
    let (floor, tokens) = best(|| floor(&found, Some(Tokenizer::O200k)));
    let (whole_time, cycles) = best(|| whole(&found, false));
    let (logged, _) = best(|| whole(&found, true));
    let speed = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    println!("files {}  bytes {bytes}  tokens {tokens}  cycles {cycles}", found.sources.len());
    println!("read + parse           {:>8.3} s  {:>7.1} MB/s", parse.as_secs_f64(), speed(parse));
    println!(
        "read + parse + count   {:>8.3} s  {:>7.1} MB/s  (the floor)",
        floor.as_secs_f64(),
        speed(floor)
    );
    println!("whole run              {:>8.3} s  {:>7.1} MB/s", whole_time.as_secs_f64(), speed(whole_time));
    println!("  with --log-facts     {:>8.3} s  {:>7.1} MB/s", logged.as_secs_f64(), speed(logged));
    println!("whole run / floor      {:>8.2}", whole_time.as_secs_f64() / floor.as_secs_f64());
}

fn best(mut pass: impl FnMut() -> u64) -> (Duration, u64) {
    let mut result = pass();
    let mut least = Duration::MAX;
    for _ in 0..PASSES {
        let start = clock();
        result = pass();
        least = least.min(start.elapsed());
    }
    (least, result)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn clock() -> Instant {
    Instant::now()
}

fn floor(found: &Discovered, tokenizer: Option<Tokenizer>) -> u64 {
    let mut total = 0;
    for source in &found.sources {
        let Ok(bytes) = read(source) else { continue };
        for session in ingest(&bytes, &source.label).sessions {
            total += tokenizer.map_or(1, |tokenizer| TokenIndex::new(&session, tokenizer).total());
        }
    }
    total
}

fn whole(found: &Discovered, log_facts: bool) -> u64 {
    let settings = RunSettings {
        profiles: vec![Profile::standard()],
        strategies: vec![Strategy::Structured, Strategy::Narrative, Strategy::Truncate, Strategy::Emergency],
        windows: Windows::Cycles(5),
        summary_tokens: None,
        schedule: ScheduleMode::Locked,
        mode: Mode::Grow,
        tokenizer: Tokenizer::O200k,
        jobs: 1,
        log_facts,
    };
    let output = run(found, &settings, &Extractive, &|_, _| {}).expect("a pool of one thread");
    output.cycles.len() as u64
}
