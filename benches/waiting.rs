//! Sessions behind a slow server: the wall time of a run against the least that the delay of the server allows.
//!
//! `cargo bench --bench waiting`: 32 sessions, a server on this machine that takes 200 ms for a reply, 16 requests at once. The least is
//! the time of all delays, 16 at a time; what the run takes beyond it is its own work and the time in which it did not ask.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[expect(dead_code, reason = "it serves the tests too")]
#[path = "../tests/it/llm/server.rs"]
mod server;

use compactor::discover::discover;
use compactor::run::{RunSettings, Windows, run};
use compactor::strategy::Strategy;
use compactor::summarize::llm::{Model, ModelRules, ModelSettings, Ways};
use server::{Server, model};
use std::io::Write;
use std::time::Duration;

const SESSIONS: usize = 32;
const AT_ONCE: usize = 16;
const DELAY: Duration = Duration::from_millis(200);
const ROUNDS: usize = 3;

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn main() {
    let mut log = tempfile::Builder::new().suffix(".jsonl").tempfile().expect("a file");
    for session in 0..SESSIONS {
        let mut messages = Vec::new();
        for turn in 0..8 {
            let text = format!(
                "Session {session}: change src/part_{turn}.rs so that the limit is {turn}{session} MB. "
            );
            messages.push(serde_json::json!({"role": "user", "content": text.repeat(6)}));
            let text = format!("Changed src/part_{turn}.rs. ").repeat(20);
            messages.push(serde_json::json!({"role": "assistant", "content": text}));
        }
        writeln!(log, "{}", serde_json::json!({"messages": messages})).expect("room");
    }
    let found = discover(&[log.path().to_owned()]);
    let server = Server::start(|seen, number| {
        std::thread::sleep(DELAY);
        model(seen, number)
    });
    for round in 0..ROUNDS {
        let rules = ModelRules {
            base_url: Some(server.url()),
            model: Some(format!("round-{round}")),
            ..ModelRules::UNSAID
        };
        let settings = ModelSettings { rules, concurrency: AT_ONCE, ..ModelSettings::default() };
        let ways = Ways { timeout: Duration::from_mins(1), ..Ways::default() };
        let writer = Model::new(settings, ways).expect("a model");
        let plan =
            RunSettings { jobs: AT_ONCE, ..RunSettings::replay(&[Strategy::Structured], Windows::Cycles(3)) };
        let start = std::time::Instant::now();
        let output = run(&found, &plan, &writer, &|_, _| {}).expect("threads");
        let took = start.elapsed();
        let requests = writer.spent().requests;
        let least = DELAY * requests.div_ceil(AT_ONCE as u64) as u32;
        println!(
            "{} sessions, {requests} requests, {} cycles: {:.3} s, least {:.3} s, {:.2} of it",
            output.manifest.sessions,
            output.cycles.len(),
            took.as_secs_f64(),
            least.as_secs_f64(),
            took.as_secs_f64() / least.as_secs_f64()
        );
    }
}
