//! `compactor replay` end to end on the shipped fixtures: outputs, options, determinism.

use crate::support::{Sandbox, fixture};
use std::collections::BTreeMap;
use std::path::Path;

fn all() -> String {
    fixture("")
}

/// Every file of a directory with its bytes.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(dir)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            (
                path.file_name().expect("a name").to_string_lossy().into_owned(),
                std::fs::read(&path).expect("a file"),
            )
        })
        .collect()
}

#[test]
fn the_table_names_every_strategy_best_worst_and_losses() {
    let ran = Sandbox::new().run(&["replay", &all()]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for part in [
        "structured",
        "narrative",
        "truncate",
        "emergency",
        "best",
        "worst",
        "most damaging losses",
        "needed",
    ] {
        assert!(ran.stdout.contains(part), "{part}\n{}", ran.stdout);
    }
    // Only a path, which cannot be broken, may be wider than the terminal.
    let wide = |line: &&str| line.chars().count() > 100 && !line.contains("fixtures/");
    assert_eq!(ran.stdout.lines().find(wide), None, "{}", ran.stdout);
}

#[test]
fn one_thread_and_many_give_equal_bytes_and_so_do_two_runs() {
    let sandbox = Sandbox::new();
    for (name, jobs) in [("one", "1"), ("two", "2"), ("eight", "8"), ("again", "8")] {
        let ran = sandbox.run(&["replay", &all(), "--jobs", jobs, "--log-facts", "--out", name, "-q"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    }
    let first = files(&sandbox.path("one"));
    assert_eq!(
        first.keys().map(String::as_str).collect::<Vec<_>>(),
        [
            "classes.csv",
            "curves.csv",
            "cycles.csv",
            "differences.csv",
            "distributions.csv",
            "facts.csv",
            "kept.csv",
            "run.json",
            "sessions.csv",
            "spells.csv",
            "summary.csv"
        ]
    );
    for name in ["two", "eight", "again"] {
        for (file, bytes) in files(&sandbox.path(name)) {
            assert!(first.get(&file) == Some(&bytes), "{name}/{file} differs");
        }
    }
}

#[test]
fn every_cycle_of_every_strategy_keeps_the_invariants() {
    let sandbox = Sandbox::new();
    for extra in [
        &["--schedule", "locked"][..],
        &["--schedule", "free"],
        &["--mode", "repeat"],
        &["--window", "6k,20k"],
    ] {
        let mut arguments = vec![
            "replay",
            "-q",
            "--strategy",
            "structured,narrative,truncate,emergency,none",
            "--out",
            "out",
        ];
        let all = all();
        arguments.push(&all);
        arguments.extend_from_slice(extra);
        let ran = sandbox.run(&arguments);
        assert_eq!(ran.code, 0, "{extra:?} {}", ran.stderr);
        let mut reader = csv::Reader::from_path(sandbox.path("out/cycles.csv")).expect("cycles");
        let header = reader.headers().expect("a header").clone();
        let at = |name: &str| header.iter().position(|column| column == name).expect(name);
        let mut rows = 0;
        for row in reader.records() {
            let row = row.expect("a row");
            rows += 1;
            for name in ["orphan_results", "orphan_calls", "duplicate_results", "empty_blocks"] {
                assert_eq!(&row[at(name)], "0", "{name} {extra:?} {row:?}");
            }
            for name in ["no_user_message", "request_absent", "summary_after_tail", "over_budget"] {
                assert_eq!(&row[at(name)], "false", "{name} {extra:?} {row:?}");
            }
            assert_eq!(&row[at("tail_facts")], &row[at("tail_facts_in_context")], "{row:?}");
            // A session of six messages may not be worth compacting even once: its first cycle may say so.
            if extra.contains(&"repeat") && &row[at("cycle")] != "1" {
                assert_eq!(&row[at("no_gain")], "false", "compacting again is not meant to gain: {row:?}");
            }
            if &row[at("strategy")] == "none" {
                assert_eq!(&row[at("facts_total")], &row[at("facts_in_context")], "identity {row:?}");
                assert_eq!(&row[at("summary_survival")], "", "{row:?}");
            }
            if &row[at("strategy")] == "emergency" {
                assert_eq!(&row[at("files_modified_kept")], "0");
                assert_eq!(&row[at("list_modified_precision")], "");
            }
        }
        assert!(rows > 50, "{rows} rows {extra:?}");
    }
}

#[test]
fn csv_and_json_are_the_product_alone() {
    let sandbox = Sandbox::new();
    let all = all();
    let csv = sandbox.run(&["replay", &all, "--format", "csv"]);
    let mut reader = csv::Reader::from_reader(csv.stdout.as_bytes());
    assert_eq!(reader.records().count(), 4);
    let json = sandbox.run(&["replay", &all, "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&json.stdout).expect("one document");
    assert_eq!(document["summary"].as_array().map(Vec::len), Some(4));
    assert_eq!(document["manifest"]["settings"]["tokenizer"], "o200k");
}

#[test]
fn a_session_comes_from_stdin() {
    let file = fixture("pi/v1-linkprobe-timeouts-retries.jsonl");
    let text = std::fs::read_to_string(file).expect("a fixture");
    let ran = Sandbox::new().run_with(&["replay", "-", "--format", "json"], &text);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).expect("one document");
    assert_eq!(document["manifest"]["sessions_exercised"], 1);
}

#[test]
fn cycles_are_what_was_asked_for() {
    let sandbox = Sandbox::new();
    let file = fixture("pi/v1-linkprobe-timeouts-retries.jsonl");
    for cycles in ["1", "2", "3"] {
        let ran = sandbox.run(&[
            "replay",
            &file,
            "--cycles",
            cycles,
            "--strategy",
            "structured",
            "--out",
            "out",
            "-q",
        ]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let rows = csv::Reader::from_path(sandbox.path("out/cycles.csv")).expect("cycles").records().count();
        assert_eq!(rows.to_string(), cycles);
    }
}

#[test]
fn a_profile_file_changes_the_policy() {
    let sandbox = Sandbox::new();
    let standard = include_str!("../../src/profile/standard.toml");
    let mine = standard
        .replace("name = \"standard\"", "name = \"mine\"")
        .replace("summaries = 1", "summaries = 2")
        .replace("six-sections", "goal-progress")
        .replace("pin_request = true ", "pin_request = false");
    sandbox.file("mine.toml", mine);
    let ran = sandbox.run(&[
        "replay",
        &all(),
        "--profile",
        "standard,mine.toml",
        "--out",
        "out",
        "-q",
        "-s",
        "structured",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let text = std::fs::read_to_string(sandbox.path("out/summary.csv")).expect("summary");
    assert!(text.contains("\nstandard,structured") && text.contains("\nmine,structured"), "{text}");
}

#[test]
fn results_among_the_logs_are_no_logs() {
    let sandbox = Sandbox::new();
    let log = std::fs::read(fixture("pi/v1-linkprobe-timeouts-retries.jsonl")).expect("a fixture");
    sandbox.file("in/a.jsonl", log);
    for _ in 0..2 {
        let ran = sandbox.run(&["replay", "in", "--out", "in/results", "-q"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    }
}
