//! A compactor of the user's own: what it is asked, what it may reply, and what it costs when it fails.

use crate::prompts::session;
use crate::support::{Ran, Sandbox, fixture};
use serde_json::Value;
use std::collections::BTreeMap;

fn script(name: &str) -> String {
    format!("{}/scripts/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A program in Python that answers each request by this expression, in which `r` is the request and `n` its number.
fn program(sandbox: &Sandbox, name: &str, reply: &str) -> String {
    let text = format!(
        "import json, os, sys, time\nfor n, line in enumerate(sys.stdin):\n    r = json.loads(line)\n    \
         open('asked-{name}.jsonl', 'a').write(line)\n    print({reply}, flush=True)\n"
    );
    sandbox.file(&format!("{name}.py"), text);
    format!("exec:python3 {name}.py")
}

struct Replayed {
    sandbox: Sandbox,
    ran: Ran,
}

impl Replayed {
    fn rows(&self, file: &str) -> Vec<BTreeMap<String, String>> {
        let mut reader = csv::Reader::from_path(self.sandbox.path("out").join(file)).expect("a table");
        reader.deserialize().map(|row| row.expect("a row")).collect()
    }

    fn asked(&self, name: &str) -> Vec<Value> {
        let text =
            std::fs::read_to_string(self.sandbox.path(&format!("asked-{name}.jsonl"))).expect("requests");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

/// Replays the session under a program that answers so.
fn replay(reply: &str, more: &[&str]) -> Replayed {
    let sandbox = Sandbox::new();
    let strategy = program(&sandbox, "mine", reply);
    let log = session();
    let all: Vec<&str> =
        ["replay", &log, "-w", "900", "--strategy", &strategy, "--out", "out", "--exec-timeout", "20"]
            .into_iter()
            .chain(more.iter().copied())
            .collect();
    let ran = sandbox.run_in(&all, &[("PATH", &std::env::var("PATH").unwrap_or_default())]);
    Replayed { sandbox, ran }
}

#[test]
fn a_program_is_handed_what_leaves_and_its_own_summary_and_its_text_stands_in_the_context() {
    let done = replay(
        "json.dumps({'id': r['id'], 'summary': 'Summary %d: never touch db/schema.sql' % n})",
        &["--jobs", "1"],
    );
    assert_eq!(done.ran.code, 0, "{}", done.ran.stderr);
    let asked = done.asked("mine");
    assert!(asked.len() >= 3, "{}", asked.len());
    for (number, request) in asked.iter().enumerate() {
        assert_eq!(request["protocol"], 1);
        assert_eq!(request["profile"], "standard");
        assert_eq!(request["window"], 900);
        assert_eq!(request["tokenizer"], "o200k");
        assert_eq!(request["budget"], 225);
        let expect = match number {
            0 => Value::Null,
            _ => format!("Summary {}: never touch db/schema.sql", number - 1).into(),
        };
        assert_eq!(request["previous"], expect);
        let indexes: Vec<u64> = request["messages"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|it| it["index"].as_u64().expect("a number"))
            .collect();
        assert!(indexes.windows(2).all(|two| two[1] == two[0] + 1), "{indexes:?}");
    }
    let first = &asked[0]["messages"];
    assert_eq!((&first[0]["role"], &first[0]["index"]), (&"user".into(), &1.into()));
    assert!(first[0]["content"].as_str().is_some_and(|text| text.contains("nightly import")));
    let calls = first.as_array().expect("a list").iter().find(|it| it["calls"].is_array()).expect("a call");
    assert!(
        calls["calls"][0]["arguments"].as_str().is_some_and(|text| text.contains("src/import.py")),
        "{calls}"
    );
    assert!(asked.last().expect("one")["files"]["modified"].to_string().contains("config.py"));
    let rows = done.rows("cycles.csv");
    for row in &rows {
        assert_eq!(
            (row["strategy"].as_str(), row["strategy_used"].as_str()),
            ("exec:python3 mine.py", "exec:python3 mine.py")
        );
        assert_eq!((row["summary_degraded"].as_str(), row["orphan_results"].as_str()), ("false", "0"));
    }
    assert!(rows[0]["facts_in_summary"].parse::<u64>().expect("a number") > 0);
}

#[test]
fn a_list_of_messages_takes_the_place_and_is_checked_like_any_context() {
    // The user's messages stay, and a text stands between them.
    let done = replay(
        "json.dumps({'id': r['id'], 'messages': [{'role': 'assistant', 'content': 'Go on.'}] + \
         [{'index': m['index']} for m in r['messages'] if m.get('index') is not None and m['role'] == 'user']})",
        &["--jobs", "1", "--format", "json"],
    );
    assert_eq!(done.ran.code, 0, "{}", done.ran.stderr);
    let asked = done.asked("mine");
    // What it wrote comes back among the messages, and what it kept with its number.
    let second = asked[1]["messages"].as_array().expect("a list");
    assert_eq!((&second[0]["content"], second[0].get("index")), (&"Go on.".into(), None));
    assert_eq!((&second[1]["index"], &second[1]["role"]), (&1.into(), &"user".into()));
    assert_eq!(asked[1]["previous"], Value::Null);
    let rows = done.rows("cycles.csv");
    let number = |row: &BTreeMap<String, String>, column: &str| row[column].parse::<u64>().expect("a number");
    for row in &rows {
        assert_eq!(
            (row["orphan_results"].as_str(), row["orphan_calls"].as_str(), row["request_absent"].as_str()),
            ("0", "0", "false")
        );
        assert!(number(row, "tokens_after") > number(row, "tokens_summary"));
    }
    // Kept messages are in the context: what they say is at no risk.
    let none =
        replay("json.dumps({'id': r['id'], 'messages': [{'role': 'user', 'content': 'Go on.'}]})", &[]);
    let (kept, none) = (&rows[0], &none.rows("cycles.csv")[0]);
    assert!(number(kept, "facts_in_context") > number(none, "facts_in_context"));
    assert!(number(kept, "facts_at_risk") < number(none, "facts_at_risk"));
    assert!(number(kept, "tokens_after") > number(none, "tokens_after"));
    // A result without its call breaks a rule, which is told.
    let broken = replay(
        "json.dumps({'id': r['id'], 'messages': [{'index': m['index']} for m in r['messages'] if 'results' in m] or \
         [{'role': 'user', 'content': 'Go on.'}]})",
        &[],
    );
    let orphans: u64 = broken.rows("cycles.csv").iter().map(|row| number(row, "orphan_results")).sum();
    assert!(orphans > 0);
    assert!(broken.ran.stdout.contains("rules broken"), "{}", broken.ran.stdout);
}

#[test]
fn a_summary_over_its_budget_is_told_and_not_cut() {
    let done = replay("json.dumps({'id': r['id'], 'summary': 'All of it again. ' * 200})", &[]);
    assert_eq!(done.ran.code, 0, "{}", done.ran.stderr);
    let row = &done.rows("cycles.csv")[0];
    assert!(row["tokens_summary"].parse::<u64>().expect("a number") > 800);
    assert_eq!(row["over_budget"], "true");
}

#[test]
fn a_compaction_that_is_cancelled_is_skipped_and_counted() {
    let reply = "json.dumps({'id': r['id'], 'cancel': True, 'reason': 'too early'} if n % 2 == 0 else {'id': r['id'], 'summary': 'Go on.'})";
    let done = replay(reply, &["--jobs", "1"]);
    assert_eq!(done.ran.code, 0, "{}", done.ran.stderr);
    let rows = done.rows("cycles.csv");
    let fates: Vec<(&str, &str)> =
        rows.iter().map(|row| (row["strategy_used"].as_str(), row["cancelled"].as_str())).collect();
    assert_eq!((fates[0], fates[1]), (("none", "true"), ("exec:python3 mine.py", "false")));
    assert!(rows[0]["fallback_reason"].contains("too early"), "{:?}", rows[0]);
    let cancelled = rows.iter().filter(|row| row["cancelled"] == "true").count();
    assert_eq!(done.rows("summary.csv")[0]["cancelled"], cancelled.to_string());
}

#[test]
fn a_program_that_fails_costs_its_session_and_no_other() {
    let sandbox = Sandbox::new();
    let log = fixture("pi");
    let environment = [("PATH", std::env::var("PATH").unwrap_or_default())];
    let environment: Vec<(&str, &str)> =
        environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    // It fails in one session, at its second compaction.
    let check = |failure: &str, expect: &[&str]| {
        let text = format!(
            "import json, os, sys, time\nhits = 0\nfor line in sys.stdin:\n    r = json.loads(line)\n    \
             bad = 'orchard' in line and r['previous'] is not None\n    \
             print('note', file=sys.stderr, flush=True)\n    if bad:\n        {failure}\n    \
             print(json.dumps({{'id': r['id'], 'summary': 'Go on.'}}), flush=True)\n"
        );
        sandbox.file("mine.py", text);
        let ran = sandbox.run_in(
            &[
                "replay",
                &log,
                "--strategy",
                "truncate,exec:python3 mine.py",
                "--out",
                "out",
                "--exec-timeout",
                "3",
            ],
            &environment,
        );
        assert_eq!(ran.code, 3, "{failure}: {}", ran.stderr);
        let mut reader = csv::Reader::from_path(sandbox.path("out/sessions.csv")).expect("a table");
        let rows: Vec<BTreeMap<String, String>> =
            reader.deserialize().map(|row| row.expect("a row")).collect();
        let failed: Vec<&BTreeMap<String, String>> =
            rows.iter().filter(|row| !row["error"].is_empty()).collect();
        assert_eq!((rows.len(), failed.len()), (6, 1), "{failure}");
        assert!(failed[0]["source"].contains("orchard") && failed[0]["strategy"].starts_with("exec:"));
        for text in ["python3 mine.py"].iter().chain(expect) {
            assert!(failed[0]["error"].contains(text), "{failure}: {}", failed[0]["error"]);
        }
    };
    check("sys.exit(7)", &["ended without a reply", "exit status: 7", "note"]);
    check("raise ValueError('no such luck')", &["ValueError: no such luck"]);
    check("time.sleep(60)", &["--exec-timeout"]);
    check("print('not JSON', flush=True); continue", &["no JSON of the protocol"]);
    check("print(json.dumps({'id': r['id'] + 1, 'summary': 'x'}), flush=True); continue", &["not to"]);
    check("print(json.dumps({'id': r['id']}), flush=True); continue", &["neither summary nor messages"]);
    check("print(json.dumps({'id': r['id'], 'summary': ' '}), flush=True); continue", &["empty"]);
    check(
        "print(json.dumps({'id': r['id'], 'summary': 'x', 'cancel': True}), flush=True); continue",
        &["more than one"],
    );
    check(
        "print(json.dumps({'id': r['id'], 'messages': [{'index': 9999}]}), flush=True); continue",
        &["9999", "not sent"],
    );
    check(
        "print(json.dumps({'id': r['id'], 'messages': [{'role': 'tool', 'content': 'x'}]}), flush=True); continue",
        &["role tool"],
    );
    check(
        "print(json.dumps({'id': r['id'], 'error': 'out of luck'}), flush=True); continue",
        &["out of luck"],
    );
    check("sys.stdout.buffer.write(b'\\xff\\xfe\\n'); sys.stdout.flush(); continue", &["not UTF-8"]);
    // However much it says beside its replies, the last of it is told and none of it is waited for.
    check(
        "[print('x' * 500, file=sys.stderr) for _ in range(20000)]; print('the last word', file=sys.stderr, flush=True); os._exit(1)",
        &["the last word"],
    );
}

#[test]
fn programs_that_cannot_run_are_told() {
    let sandbox = Sandbox::new();
    let log = session();
    let ran = sandbox.run_in(
        &["replay", &log, "-w", "900", "--strategy", "exec:/no/such/program --x"],
        &[("PATH", "/bin:/usr/bin")],
    );
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(ran.stderr.contains("/no/such/program"), "{}", ran.stderr);
    let ran = sandbox.run(&["replay", &log, "--strategy", "exec: "]);
    assert!(ran.code == 2 && ran.stderr.contains("names no command"), "{}", ran.stderr);
}

#[test]
fn the_examples_of_the_readme_compact_and_give_the_same_bytes_on_any_number_of_threads() {
    let log = fixture("pi");
    let environment = [("PATH", std::env::var("PATH").unwrap_or_default())];
    let environment: Vec<(&str, &str)> =
        environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let python = format!("exec:python3 {}", script("exec_example.py"));
    let shell = format!("exec:{}", script("exec_example.sh"));
    let run = |jobs: &str| {
        let sandbox = Sandbox::new();
        let ran = sandbox.run_in(
            &[
                "replay",
                &log,
                "--strategy",
                &python,
                "--strategy",
                &shell,
                "--jobs",
                jobs,
                "--format",
                "json",
            ],
            &environment,
        );
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stdout
    };
    let one = run("1");
    assert_eq!(one, run("4"));
    let told: Value = serde_json::from_str(&one).expect("a document");
    let summary = told["summary"].as_array().expect("rows");
    assert_eq!(summary.len(), 2);
    for row in summary {
        assert!(row["files_modified"].as_f64().is_some_and(|share| share > 0.9), "{row}");
        assert_eq!((&row["orphan_results"], &row["over_budget"]), (&0.into(), &0.into()), "{row}");
    }
}
