//! Real models, as they were recorded (`scripts/record_models.sh`): nothing here looks at their words, only at what they come to.

use super::rows;
use crate::support::{Sandbox, fixture};

/// The fixtures whose summaries were recorded.
const LOGS: [&str; 4] = [
    "anthropic-messages/tidegate-cache-request.jsonl",
    "claude-code/price-split-and-mobile-layout.jsonl",
    "codex/cpp-tiles-nodata-compacted.jsonl",
    "pi/v3-orchard-cache-branch.jsonl",
];

/// Structural and lexical survival of the recorded sessions, and the texts that were none.
fn measured(more: &[&str]) -> (f64, f64, u64) {
    let sandbox = Sandbox::new();
    let logs = LOGS.map(fixture);
    let logs: Vec<&str> = logs.iter().map(String::as_str).collect();
    let fixed = ["--cycles", "2", "--strategy", "structured", "--out", "out"];
    let ran = sandbox.run(&[&["replay"], &logs[..], &fixed, more].concat());
    assert_eq!(ran.code, 0, "{more:?}: {}", ran.stderr);
    let row = rows(&sandbox.path("out"), "summary.csv").remove(0);
    let number = |column: &str| row[column].parse::<f64>().expect("a number");
    (number("structural_survival"), number("lexical_survival"), number("summary_degraded") as u64)
}

fn model(name: &str) -> (f64, f64, u64) {
    let tapes = format!("{}/tests/data/cassettes", env!("CARGO_MANIFEST_DIR"));
    measured(&["--summarizer", "llm", "--model", name, "--cassettes", &tapes, "--cassette-mode", "replay"])
}

#[test]
fn models_are_ranked_as_a_careful_reader_ranks_their_summaries() {
    let (own, qwen15, qwen05, smollm2) = (measured(&[]), model("qwen15"), model("qwen05"), model("smollm2"));
    // The larger one writes summaries that miss most of it; the smaller ones run on until they are cut off, nearly always.
    assert!(own.1 > qwen15.1 && qwen15.1 > qwen05.1, "{own:?} {qwen15:?} {qwen05:?}");
    assert!(own.0 > qwen15.0 && qwen15.0 >= qwen05.0, "{own:?} {qwen15:?} {qwen05:?}");
    assert!(qwen05.1 >= smollm2.1 && qwen05.0 >= smollm2.0, "{qwen05:?} {smollm2:?}");
    assert_eq!((own.2, qwen15.2, qwen05.2, smollm2.2), (0, 1, 6, 7));
}
