//! A search over 48 combinations against one replay of one of them, in CPU time, reading included.
//!
//! `cargo bench --bench tune -- [PATH]...`; without a path it takes `fixtures/`. On one thread. The kinds
//! of pass take turns, so that a disturbance meets them alike; each figure is the median of five rounds after one to warm up.
//! The search may take twelve times as long as the replay: then reading, counting and facts are shared.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "support/inputs.rs"]
mod inputs;
#[path = "support/rounds.rs"]
mod rounds;
#[path = "support/timing.rs"]
mod timing;

use compactor::aggregate::{Metric, aggregate};
use compactor::discover::{Discovered, discover};
use compactor::profile::Profile;
use compactor::replay::ScheduleMode;
use compactor::run::{RunSettings, Windows, run};
use compactor::strategy::Strategy;
use compactor::summarize::extractive::Extractive;
use compactor::tokens::Tokenizer;
use compactor::tune::grid::Grid;
use compactor::tune::search::Search;
use compactor::tune::space::{Base, Space};
use compactor::tune::{TuneSettings, tune};
use inputs::logs;
use rounds::medians;
use std::time::Duration;
use timing::timed;

const ROUNDS: usize = 5;

/// Most that the search may take, in replays.
const MOST: f64 = 12.0;

const GRID: &str = "\
trigger.limit.share = [0.65, 0.75, 0.8, 0.85]
keep.tokens = [\"4k\", \"8k\", \"20k\"]
summary_tokens = [\"1k\", \"2k\"]
strategy = [\"structured\", \"narrative\"]
";

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let found = discover(&logs());
    let table = Profile::table_of("standard").expect("an embedded profile");
    let base = Base { name: "standard".to_owned(), table, embedded: true };
    let grid = Grid::parse("grid", GRID).expect("a grid");
    let space = Space::new(&grid, vec![base], 5).expect("combinations");
    let mut rounds: Vec<[Duration; 4]> = Vec::new();
    for round in 0..=ROUNDS {
        let times = [
            timed(|| replay(&found, Windows::Cycles(5))).0,
            timed(|| replay(&found, Windows::Shared(5))).0,
            timed(|| search(&found, &space, Search::Grid)).0,
            timed(|| search(&found, &space, Search::Halving)).0,
        ];
        if round > 0 {
            rounds.push(times);
        }
    }
    let [one, shared, all, halving] = medians(&rounds);
    let ratio = |time: Duration| time.as_secs_f64() / one.as_secs_f64();
    println!("files {}  combinations {}", found.sources.len(), space.in_grid);
    println!("one replay             {:>8.3} s", one.as_secs_f64());
    println!("  at shared windows    {:>8.3} s  {:>6.2} replays", shared.as_secs_f64(), ratio(shared));
    println!(
        "search, grid           {:>8.3} s  {:>6.2} replays (at most {MOST})",
        all.as_secs_f64(),
        ratio(all)
    );
    println!("search, halving        {:>8.3} s  {:>6.2} replays", halving.as_secs_f64(), ratio(halving));
    assert!(ratio(all) <= MOST, "the search takes more than {MOST} replays");
}

fn replay(found: &Discovered, windows: Windows) {
    let settings = RunSettings::replay(&[Strategy::Structured], windows);
    let output = run(found, &settings, &Extractive, &|_, _| {}).expect("a pool of one thread");
    assert!(!aggregate(&output).summary.is_empty(), "something was replayed");
}

fn search(found: &Discovered, space: &Space, search: Search) {
    let settings = TuneSettings {
        objective: Metric::Needed,
        max_tokens: None,
        held_out: 0.3,
        search,
        schedule: ScheduleMode::Locked,
        tokenizer: Tokenizer::O200k,
        jobs: 1,
        writer: None,
    };
    let tuning = tune(found, space, &settings, &Extractive, &|_, _| {}).expect("a pool of one thread");
    assert_eq!(tuning.candidates.len(), space.combinations.len());
}
