//! `inspect` end to end: what is told of logs, in every form, and the exit codes.

use crate::support::{Sandbox, fixture};
use serde_json::Value;

fn json(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let mut all = vec!["inspect", "--format", "json", "--tokenizer", "heuristic"];
    all.extend(arguments);
    serde_json::from_str(&sandbox.run(&all).stdout).expect("a document")
}

const CLEAN: &str =
    "{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"assistant\",\"content\":\"hello\"}\n";

#[test]
fn a_log_is_told_in_full() {
    let log = fixture("claude-code/retry-after-and-scheduler-rename.jsonl");
    let sandbox = Sandbox::new();
    let document = json(&sandbox, &[&log]);
    let file = &document["files"][0];
    assert_eq!(file["format"], "claude-code");
    let sum = |names: &[&str]| names.iter().map(|name| file[*name].as_u64().expect("a count")).sum::<u64>();
    assert_eq!(sum(&["bytes_read", "bytes_skipped", "bytes_between"]), sum(&["bytes"]));
    assert_eq!(sum(&["bytes"]), std::fs::metadata(&log).expect("a file").len());
    let session = &file["sessions"][0];
    let calls: u64 = session["tools"].as_object().expect("tools").values().filter_map(Value::as_u64).sum();
    assert_eq!(Some(calls), session["tool_calls"].as_u64());
    assert!(session["files"]["modified"].as_u64() > Some(0), "{session}");
    let table = sandbox.run(&["inspect", &log]);
    assert_eq!(table.code, 0, "{table:?}");
    for word in ["claude-code", "messages", "tool calls", "tokens", "changed", "compactions", "\nall "] {
        assert!(table.stdout.contains(word), "{word}: {}", table.stdout);
    }
}

#[test]
fn csv_has_a_row_for_each_file() {
    let sandbox = Sandbox::new();
    sandbox.file("a.jsonl", CLEAN);
    sandbox.file("b, c.jsonl", "{\"role\":\"user\",\"content\":\"hi\"}\nbroken\n");
    let ran = sandbox.run(&["inspect", ".", "--format", "csv"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut reader = csv::Reader::from_reader(ran.stdout.as_bytes());
    let head = reader.headers().expect("a header").clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    let cell = |row: usize, name: &str| {
        let column = head.iter().position(|it| it == name).expect("a column");
        rows[row].get(column).expect("a cell").to_owned()
    };
    assert_eq!(rows.len(), 2);
    assert_eq!((cell(0, "messages"), cell(0, "damage")), ("2".to_owned(), "0".to_owned()));
    assert_eq!(
        (cell(1, "messages"), cell(1, "damage"), cell(1, "bytes_skipped")),
        ("1".to_owned(), "1".to_owned(), "6".to_owned())
    );
    assert_eq!(cell(1, "remarks"), "bad-json=1@2");
}

#[test]
fn remarks_end_in_three_where_they_are_not_wanted() {
    let check = |content: &str, plain: i32, strict: i32| {
        let sandbox = Sandbox::new();
        sandbox.file("log.jsonl", content);
        assert_eq!(sandbox.run(&["inspect", "log.jsonl"]).code, plain, "{content}");
        let ran = sandbox.run(&["inspect", "log.jsonl", "--strict"]);
        assert_eq!(ran.code, strict, "{content}: {ran:?}");
        assert!(ran.stdout.contains("log.jsonl"), "the report is there all the same: {ran:?}");
    };
    check(CLEAN, 0, 0);
    check(&format!("{CLEAN}{{\"odd\":1}}\n"), 0, 3);
    check(&format!("{CLEAN}broken\n"), 0, 3);
    check("{\"odd\":1}\n", 2, 2);
    check("", 2, 2);
}

#[test]
fn what_cannot_be_read_is_named() {
    let sandbox = Sandbox::new();
    sandbox.file("log.jsonl", CLEAN);
    let ran = sandbox.run(&["inspect", "log.jsonl", "gone.jsonl"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stdout.contains("gone.jsonl") && ran.stderr.contains("gone.jsonl"), "{ran:?}");
    let ran = sandbox.run(&["inspect", "gone.jsonl"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let ran = sandbox.run(&["inspect"]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn copied_history_counts_once_in_all() {
    let line = |id: &str, session: &str, parent: &str, kind: &str, text: &str| {
        format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"{id}\",\"parentUuid\":{parent},\"sessionId\":\"{session}\",\"timestamp\":\"2026-01-02T03:04:05Z\",\"message\":{{\"role\":\"{kind}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
        )
    };
    let history = |session: &str| {
        line("u1", session, "null", "user", "fix it") + &line("u2", session, "\"u1\"", "assistant", "fixed")
    };
    let sandbox = Sandbox::new();
    sandbox.file("one.jsonl", history("one"));
    sandbox.file("two.jsonl", history("two") + &line("u3", "two", "\"u2\"", "user", "and more"));
    let document = json(&sandbox, &["."]);
    let all = document["formats"].as_array().expect("formats").last().expect("all")["sums"].clone();
    assert_eq!(
        (all["user"].as_u64(), all["assistant"].as_u64(), all["copied"].as_u64()),
        (Some(3), Some(2), Some(2))
    );
    let table = sandbox.run(&["inspect", "."]).stdout;
    let row = table.lines().find(|line| line.starts_with("all ")).expect("a row of all").to_owned();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[..4], ["all", "2", "2", "3"], "{row}");
}

#[test]
fn homes_are_listed_and_only_read() {
    let sandbox = Sandbox::new();
    sandbox.file(".pi/agent/sessions/p/a.jsonl", CLEAN);
    let ran = sandbox.run(&["inspect", "--discover", "--format", "csv"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let row = ran.stdout.lines().find(|line| line.starts_with("pi,")).expect("the sessions of pi");
    assert!(row.contains(&format!(",1,{},", CLEAN.len())), "{row}");
    let refused = sandbox.run(&["inspect", "--discover", "x.jsonl"]);
    assert_eq!(refused.code, 2);
}

#[cfg(unix)]
#[test]
fn homes_that_cannot_be_read_are_named() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path(".claude")).expect("a directory");
    std::os::unix::fs::symlink("nowhere", sandbox.path(".claude/projects")).expect("a link");
    for format in ["table", "csv"] {
        let ran = sandbox.run(&["inspect", "--discover", "--format", format]);
        assert_eq!((ran.code, ran.stdout.contains("claude")), (2, false), "{ran:?}");
        assert!(ran.stderr.contains(".claude/projects: a link to nowhere, which is not there"), "{ran:?}");
        assert!(ran.stderr.contains("nothing was listed"), "{ran:?}");
    }
    sandbox.file(".pi/agent/sessions/p/a.jsonl", CLEAN);
    let ran = sandbox.run(&["inspect", "--discover"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stdout.contains(".pi/agent/sessions"), "{ran:?}");
    assert!(ran.stderr.contains(".claude/projects: a link to nowhere"), "{ran:?}");
    assert!(ran.stderr.contains("(exit code 3)"), "{ran:?}");
}
