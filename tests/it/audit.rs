//! `compactor audit` and `compactor show` end to end: what they say of the fixtures, and that they agree with the rows.

use crate::support::{Sandbox, fixture};
use serde_json::Value;
use std::collections::BTreeMap;

/// Rows of a CSV file, by column.
fn rows(sandbox: &Sandbox, path: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(sandbox.path(path)).expect("a CSV file");
    reader.deserialize().map(|row| row.expect("a row")).collect()
}

#[test]
fn the_fixtures_hold_four_compactions_of_which_one_cannot_be_read() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["audit", &fixture(""), "--out", "out", "--log-facts"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("4 recorded compactions in 4 sessions"), "{}", ran.stdout);
    for part in
        ["In the summary", "What the agent did next", "by hand", "No compaction recorded", "encrypted"]
    {
        assert!(ran.stdout.contains(part), "{part}\n{}", ran.stdout);
    }
    let audits = rows(&sandbox, "out/audit.csv");
    assert_eq!(audits.len(), 4);
    let opaque: Vec<&str> =
        audits.iter().filter(|row| row["opaque"] == "true").map(|row| row["format"].as_str()).collect();
    assert_eq!(opaque, ["codex"]);
    let cycles = rows(&sandbox, "out/cycles.csv");
    for cycle in &cycles {
        assert_eq!(cycle["strategy"], "recorded");
        assert_eq!(cycle["profile"], cycle["format"], "the policy that ran is the agent's own");
        assert_eq!(cycle["budget"], "", "nobody set one");
        if cycle["opaque"] == "true" {
            let empty = ["summary_survival", "context_survival", "structural_survival", "reduction"];
            assert!(empty.iter().all(|column| cycle[*column].is_empty()), "{cycle:?}");
            assert_eq!(cycle["facts_at_risk"], "0");
            assert_ne!(cycle["facts_opaque"], "0");
        }
    }
    // The facts add up to the counts of their cycle.
    let facts = rows(&sandbox, "out/facts.csv");
    for cycle in &cycles {
        let here: Vec<_> = facts.iter().filter(|fact| fact["session"] == cycle["session"]).collect();
        let at = |location: &str| here.iter().filter(|fact| fact["location"] == location).count().to_string();
        assert_eq!(at("opaque"), cycle["facts_opaque"]);
        assert_eq!(at("summary"), cycle["facts_in_summary"]);
    }
}

#[test]
fn any_number_of_threads_gives_equal_bytes() {
    let sandbox = Sandbox::new();
    for (jobs, out) in [("1", "one"), ("2", "two"), ("5", "five")] {
        let ran = sandbox.run(&["audit", &fixture(""), "--out", out, "--log-facts", "--jobs", jobs]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    for entry in std::fs::read_dir(sandbox.path("one")).expect("results") {
        let name = entry.expect("a file").file_name();
        let read = |dir: &str| std::fs::read(sandbox.path(dir).join(&name)).expect("a file");
        assert_eq!(read("one"), read("two"), "{}", name.display());
        assert_eq!(read("one"), read("five"), "{}", name.display());
    }
}

#[test]
fn without_a_compaction_the_way_to_replay_is_told() {
    let sandbox = Sandbox::new();
    let none = fixture("openai-chat");
    let ran = sandbox.run(&["audit", &none]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.contains("none of 4 sessions holds a compaction with messages before it"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("compactor replay"), "{}", ran.stderr);
    let listed = ran.stderr.lines().filter(|line| line.starts_with("no compaction recorded: ")).count();
    assert_eq!(listed, 2, "the files that hold them: {}", ran.stderr);
    let ran = sandbox.run(&["audit", "absent.jsonl"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("absent.jsonl"), "{}", ran.stderr);
    // One of both: the compaction is audited, the other file is listed.
    let one = fixture("pi/v1-linkprobe-timeouts-retries.jsonl");
    let ran = sandbox.run(&["audit", &none, &one, "absent.jsonl"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stdout.contains("No compaction recorded"), "{}", ran.stdout);
}

/// A log of each format that begins with its only compaction.
#[test]
fn a_log_that_begins_with_its_summary_is_named_as_that() {
    let claude = [
        r#"{"type":"system","subtype":"compact_boundary","uuid":"a","sessionId":"s","compactMetadata":{"trigger":"auto"}}"#,
        r#"{"type":"user","isCompactSummary":true,"uuid":"b","parentUuid":"a","sessionId":"s","message":{"role":"user","content":"what was before"}}"#,
        r#"{"type":"user","uuid":"c","parentUuid":"b","sessionId":"s","message":{"role":"user","content":"go on"}}"#,
    ];
    let codex = [
        r#"{"type":"session_meta","payload":{"id":"s","cwd":"/w"}}"#,
        r#"{"type":"compacted","payload":{"message":"what was before"}}"#,
        r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}]}}"#,
    ];
    let pi = [
        r#"{"type":"session","id":"s","version":3,"cwd":"/w"}"#,
        r#"{"type":"compaction","id":"a","parentId":null,"summary":"what was before","firstKeptEntryId":"z","tokensBefore":9}"#,
        r#"{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":"go on"}}"#,
    ];
    let one = fixture("pi/v1-linkprobe-timeouts-retries.jsonl");
    for log in [claude, codex, pi] {
        let sandbox = Sandbox::new();
        sandbox.file("begun.jsonl", log.join("\n"));
        let ran = sandbox.run(&["audit", "begun.jsonl"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
        let says = "begun.jsonl: 1 session; the log begins with its summary (line 2), no message before it";
        assert!(ran.stderr.contains(says) && ran.stderr.contains("compactor replay"), "{}", ran.stderr);
        // Beside one that was compacted it is listed in the report.
        let ran = sandbox.run(&["audit", "begun.jsonl", &one]);
        let flat = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(ran.code == 0 && flat.contains(says), "{}", ran.stdout);
    }
}

#[test]
fn a_compaction_that_cannot_be_scored_is_counted_and_named() {
    let text = std::fs::read_to_string(fixture("pi/v1-linkprobe-timeouts-retries.jsonl")).expect("a fixture");
    let line = 1 + text.lines().position(|line| line.contains("firstKeptEntryIndex")).expect("a compaction");
    let digits = regex::Regex::new("\"(firstKeptEntryIndex|tokensBefore)\": ?[0-9]+").expect("a pattern");
    let sandbox = Sandbox::new();
    sandbox.file("bad.jsonl", digits.replace_all(&text, "\"$1\":1e300").into_owned());
    let ran = sandbox.run(&["audit", "bad.jsonl", "--out", "out"]);
    assert!(ran.stdout.contains("of their summaries 0 can be scored, 1"), "{}", ran.stdout);
    assert!(
        ran.stderr.contains(&format!("bad.jsonl:{line}: firstKeptEntryIndex is 1e+300, no position: ")),
        "{}",
        ran.stderr
    );
    let audits = rows(&sandbox, "out/audit.csv");
    let columns = ["opaque", "messages_kept", "recorded_before"].map(|column| audits[0][column].as_str());
    assert_eq!(columns, ["true", "", ""]);
}

/// How often the agent brought a fact up can be told from the rows of the facts, also behind a summary that cannot be read.
#[test]
fn used_facts_of_an_audit_add_up() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["audit", &fixture(""), "--out", "out", "--log-facts"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let facts = rows(&sandbox, "out/facts.csv");
    for audit in rows(&sandbox, "out/audit.csv") {
        let gone = |location: &str| ["summary", "lost", "opaque"].contains(&location);
        let used = facts.iter().filter(|fact| {
            fact["session"] == audit["session"]
                && fact["cycle"] == audit["cycle"]
                && fact["need"] == "used"
                && gone(&fact["location"])
        });
        assert_eq!(used.count().to_string(), audit["used"], "{audit:?}");
    }
}

/// A fact row and a shown fact, in what they share.
fn check_shown(
    sandbox: &Sandbox,
    file: &str,
    row: &BTreeMap<String, String>,
    facts: &[BTreeMap<String, String>],
) {
    let (strategy, cycle, session) = (&row["strategy"], &row["cycle"], &row["session"]);
    let ran = sandbox.run(&[
        "show",
        file,
        "--strategy",
        strategy,
        "--cycle",
        cycle,
        "--session",
        session,
        "--format",
        "json",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let shown: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(shown["tokens_after"].to_string(), row["tokens_after"], "{file} {strategy} {cycle}");
    assert_eq!(shown["cut"]["message"].to_string(), row["cut_message"], "{file} {strategy} {cycle}");
    let invented = shown["invented"].as_array().map_or(0, Vec::len).to_string();
    let stale = shown["stale"].as_array().map_or(0, Vec::len).to_string();
    assert_eq!((&invented, &stale), (&row["invented"], &row["stale"]), "{file} {strategy} {cycle}");
    let texts = shown["summary"].as_array().expect("texts");
    let text = texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n\n");
    let shown = shown["facts"].as_array().expect("facts");
    assert_eq!(shown.len(), facts.len(), "{file} {strategy} {cycle}");
    for (fact, row) in shown.iter().zip(facts) {
        for column in ["class", "location", "tier", "need"] {
            assert_eq!(fact[column], row[column].as_str(), "{file} {strategy} {cycle}: {fact}");
        }
        assert_eq!(fact["birth_line"].to_string(), row["birth_line"]);
        // Evidence stands where it says.
        let line = fact["evidence_line"].as_u64().expect("a number") as usize;
        if let Some(line) = line.checked_sub(1) {
            let start = fact["evidence"].as_str().and_then(|text| text.lines().next()).expect("a piece");
            assert!(text.lines().nth(line).is_some_and(|text| text.contains(start)), "{fact}");
        }
    }
}

#[test]
fn show_agrees_with_every_row_of_a_replay_and_of_an_audit() {
    let sandbox = Sandbox::new();
    let file = fixture("pi/v1-linkprobe-timeouts-retries.jsonl");
    for (verb, out) in [("replay", "replayed"), ("audit", "audited")] {
        let ran = sandbox.run(&[verb, &file, "--out", out, "--log-facts"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let facts = rows(&sandbox, &format!("{out}/facts.csv"));
        let cycles = rows(&sandbox, &format!("{out}/cycles.csv"));
        assert!(!cycles.is_empty());
        for row in &cycles {
            let same = |fact: &&BTreeMap<String, String>| {
                ["session", "strategy", "cycle"].iter().all(|column| fact[*column] == row[*column])
            };
            let facts: Vec<_> = facts.iter().filter(same).cloned().collect();
            check_shown(&sandbox, &file, row, &facts);
        }
    }
}

#[test]
fn show_says_why_there_is_nothing_to_show() {
    let file = fixture("pi/v1-linkprobe-timeouts-retries.jsonl");
    for (arguments, says) in [
        (&["show", &file, "--cycle", "9"][..], &["has only 5 cycles", "smaller --cycle"][..]),
        (&["show", &file, "--session", "zzz"], &["no such session", "b7c41e0a", "--session"]),
        (&["show", &file, "--strategy", "structred"], &["did you mean `structured`"]),
        (&["show", &fixture("codex/legacy-single-document.json"), "-s", "recorded"], &["no compaction"]),
        (&["show", &fixture("pi")], &["holds 3 files", "show takes one file"]),
        (&["show", "absent.jsonl"], &["absent.jsonl"]),
        (&["show", &file, "--window", "900k"], &["never compacted", "smaller --window"]),
    ] {
        let ran = Sandbox::new().run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}: {}", ran.stderr);
        for part in says {
            assert!(ran.stderr.contains(part), "{arguments:?} should say {part}: {}", ran.stderr);
        }
    }
}

#[test]
fn one_of_several_sessions_is_shown_and_said_so() {
    let file = fixture("openai-chat/three-conversations-xml-chinese-parts.jsonl");
    let ran = Sandbox::new().run(&["show", &file]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("3 sessions in the log"), "{}", ran.stderr);
    // Nothing in the log may reach a terminal raw.
    assert!(!ran.stdout.contains('\u{1b}'));
}

#[test]
fn the_line_where_a_fact_comes_back_holds_it() {
    let file = fixture("claude-code/retry-after-and-scheduler-rename.jsonl");
    let ran = Sandbox::new().run(&["show", &file, "-s", "recorded", "--format", "json"]);
    let shown: Value = serde_json::from_str(&ran.stdout).expect("a document");
    let log = std::fs::read_to_string(&file).expect("a fixture");
    let mut looked = 0;
    for fact in shown["facts"].as_array().expect("facts") {
        let class = fact["class"].as_str().expect("a class");
        let line = fact["need_line"].as_u64().expect("a number") as usize;
        if line == 0 || !(class == "identifier" || class.starts_with("file.")) {
            continue;
        }
        let value = fact["value"].as_str().expect("a value");
        let name = value.rsplit('/').next().unwrap_or(value);
        let text = log.lines().nth(line - 1).expect("a line of the log");
        assert!(text.contains(name), "{class} {value} at line {line}");
        looked += 1;
    }
    assert!(looked >= 5, "{looked}");
}
