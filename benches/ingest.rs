//! Reading logs into sessions against `serde_json` parsing the same bytes into typed records, which links nothing, repairs
//! nothing and follows no tree.
//!
//! `cargo bench --bench ingest -- [PATH]...`; without a path it takes `fixtures/`. Files of the four formats that have types here
//! ([`typed`]) are read into memory; then the two passes take turns file by file, on one thread, so that a disturbance meets
//! them alike. Each figure is the fastest of the rounds.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "support/inputs.rs"]
mod inputs;
#[path = "support/timing.rs"]
mod timing;
#[path = "ingest/typed.rs"]
mod typed;

use compactor::discover::{discover, read};
use compactor::ingest::ingest;
use inputs::logs;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;
use timing::timed;

const ROUNDS: usize = 15;

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What one format took, summed over its files.
#[derive(Default)]
struct Times {
    files: usize,
    bytes: usize,
    typed: Duration,
    ingest: Duration,
}

fn main() {
    let mut formats: BTreeMap<&str, Times> = BTreeMap::new();
    for source in &discover(&logs()).sources {
        let Ok(contents) = read(source) else { continue };
        let bytes = contents.bytes;
        let Some(format) = ingest(&bytes, &source.label).format else { continue };
        let Some(parse) = typed::parser(format) else { continue };
        let best = fastest(&bytes, &source.label, parse);
        for name in [format.name(), "all"] {
            let times = formats.entry(name).or_default();
            times.files += 1;
            times.bytes += bytes.len();
            times.typed += best[0];
            times.ingest += best[1];
        }
    }
    println!("format              files      bytes   typed MB/s  ingest MB/s  ingest / typed");
    for (name, times) in formats {
        let speed = |time: Duration| times.bytes as f64 / 1e6 / time.as_secs_f64();
        let (typed, ingest) = (speed(times.typed), speed(times.ingest));
        println!(
            "{name:<18} {:>6} {:>10} {typed:>12.0} {ingest:>12.0} {:>15.2}",
            times.files,
            times.bytes,
            ingest / typed
        );
    }
}

/// The fastest round of each pass over one file.
fn fastest(bytes: &[u8], label: &str, parse: fn(&[u8]) -> usize) -> [Duration; 2] {
    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        let took = [
            timed(|| black_box(parse(black_box(bytes)))).0,
            timed(|| black_box(ingest(black_box(bytes), label))).0,
        ];
        for (best, took) in best.iter_mut().zip(took) {
            *best = (*best).min(took);
        }
    }
    best
}
