//! The whole run against its floor, in CPU time: reading, parsing and counting the tokens of the same files once.
//!
//! `cargo bench --bench whole_run -- [PATH]...`; without a path it takes `fixtures/`. Each pass has a pool of
//! one thread of its own, as a run has, so that all begin with the same empty heap. The kinds of pass take turns, so that a
//! disturbance meets them alike; each figure is the median of seven rounds after one to warm up.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "support/inputs.rs"]
mod inputs;
#[path = "support/rounds.rs"]
mod rounds;
#[path = "support/timing.rs"]
mod timing;

use compactor::discover::{Contents, Discovered, discover, read};
use compactor::ingest::ingest;
use compactor::run::{RunSettings, Windows, run};
use compactor::strategy::Strategy;
use compactor::summarize::extractive::Extractive;
use compactor::tokens::{TokenIndex, Tokenizer};
use inputs::logs;
use rounds::medians;
use std::time::Duration;
use timing::timed;

const ROUNDS: usize = 7;

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let found = discover(&logs());
    let bytes: u64 = found.sources.iter().map(|source| source.bytes).sum();
    let mut tokens = 0;
    let mut cycles = 0;
    let mut rounds: Vec<[Duration; 4]> = Vec::new();
    for round in 0..=ROUNDS {
        let (parse, _) = timed(|| in_a_pool(|| floor(&found, None)));
        let (count, told) = timed(|| in_a_pool(|| floor(&found, Some(Tokenizer::O200k))));
        let (run, seen) = timed(|| whole(&found, false));
        let (logged, _) = timed(|| whole(&found, true));
        (tokens, cycles) = (told, seen);
        if round > 0 {
            rounds.push([parse, count, run, logged]);
        }
    }
    let [parse, floor, whole_time, logged] = medians(&rounds);
    let mut ratios: Vec<f64> =
        rounds.iter().map(|[_, floor, whole, _]| whole.as_secs_f64() / floor.as_secs_f64()).collect();
    ratios.sort_unstable_by(f64::total_cmp);
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
    println!(
        "whole run / floor      {:>8.2}  (median of the rounds, {:.2} to {:.2})",
        ratios.get(ratios.len() / 2).copied().unwrap_or_default(),
        ratios.first().copied().unwrap_or_default(),
        ratios.last().copied().unwrap_or_default()
    );
}

fn in_a_pool(pass: impl FnOnce() -> u64 + Send) -> u64 {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread").install(pass)
}

fn floor(found: &Discovered, tokenizer: Option<Tokenizer>) -> u64 {
    let mut total = 0;
    for source in &found.sources {
        let Ok(Contents { bytes, .. }) = read(source) else { continue };
        for session in ingest(&bytes, &source.label).sessions {
            total += tokenizer.map_or(1, |tokenizer| TokenIndex::new(&session, tokenizer).total());
        }
    }
    total
}

fn whole(found: &Discovered, log_facts: bool) -> u64 {
    let strategies = [Strategy::Structured, Strategy::Narrative, Strategy::Truncate, Strategy::Emergency];
    let settings = RunSettings { log_facts, ..RunSettings::replay(&strategies, Windows::Cycles(5)) };
    let output = run(found, &settings, &Extractive, &|_, _| {}).expect("a pool of one thread");
    output.cycles.len() as u64
}
