//! `compactor gate`, `compare`, `columns` and `schema` end to end: what a build sees, and what must never be green.

use crate::support::{Ran, Sandbox, fixture};
use serde_json::Value;

/// Replays the fixtures into `out`.
fn replayed(sandbox: &Sandbox, out: &str, more: &[&str]) {
    let mut arguments = vec!["replay", "--quiet", "--out", out];
    arguments.extend(more);
    let logs = fixture("");
    arguments.push(&logs);
    let ran = sandbox.run(&arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

/// A run and its baseline.
fn with_baseline() -> Sandbox {
    let sandbox = Sandbox::new();
    replayed(&sandbox, "run", &[]);
    let ran = sandbox.run(&["gate", "run", "--baseline", "base", "--accept"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "accepted: a first baseline of 68 lines\n"),
        "{}",
        ran.stderr
    );
    sandbox
}

fn check(ran: &Ran, code: i32, stdout: &str, stderr: &str) {
    assert_eq!(ran.code, code, "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains(stdout), "{}", ran.stdout);
    assert!(ran.stderr.contains(stderr), "{}", ran.stderr);
}

#[test]
fn a_run_against_its_own_baseline_is_an_exact_zero() {
    let sandbox = with_baseline();
    replayed(&sandbox, "again", &["--jobs", "2"]);
    let ran = sandbox.run(&["gate", "again", "--baseline", "base"]);
    check(&ran, 0, "gate: pass: 38 of 38 checks hold\nevery count is that of the baseline\n", "");
    let prints: Vec<&str> =
        ran.stdout.lines().filter_map(|line| line.split_once("scores ")?.1.split(' ').next()).collect();
    assert_eq!(prints.len(), 2, "both fingerprints are shown");
    assert_eq!(prints[0], prints[1]);
    let compared = sandbox.run(&["compare", "run", "again", "--format", "csv"]);
    let mut reader = csv::Reader::from_reader(compared.stdout.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    let header = reader.headers().expect("a header").clone();
    let at = |name: &str| header.iter().position(|column| column == name).expect("a column");
    assert!(rows.len() > 60);
    for row in &rows {
        assert!(
            ["0", ""].contains(&&row[at("mean")]) && &row[at("better")] == "0" && &row[at("worse")] == "0",
            "{row:?}"
        );
    }
    check(
        &sandbox.run(&["compare", "run", "again"]),
        0,
        "compare: identical: every count of every session is the same",
        "",
    );
}

#[test]
fn a_worse_summarizer_turns_the_gate_red_with_the_reason() {
    let sandbox = with_baseline();
    replayed(&sandbox, "worse", &["--summary-tokens", "300"]);
    let arguments =
        ["gate", "worse", "--baseline", "base", "--junit", "gate.xml", "--step-summary", "summary.md"];
    check(&sandbox.run(&arguments), 1, "needed_survival drop <= 0: fell", "exit code 1");
    let junit = std::fs::read_to_string(sandbox.path("gate.xml")).expect("JUnit XML");
    assert!(
        junit.starts_with("<?xml") && junit.contains("failures=") && junit.contains("needed_survival"),
        "{junit}"
    );
    let summary = std::fs::read_to_string(sandbox.path("summary.md")).expect("a summary");
    assert!(
        summary.starts_with("## gate: fail") && summary.contains("| fail | standard/structured/cycles |"),
        "{summary}"
    );
    // A build may run several gates: each adds to the summary, and renews its own file.
    check(&sandbox.run(&arguments), 1, "", "");
    let twice = std::fs::read_to_string(sandbox.path("summary.md")).expect("a summary");
    assert_eq!(twice.matches("## gate: fail").count(), 2);
    let github = sandbox.run(&["gate", "worse", "--baseline", "base", "--format", "github"]);
    assert_eq!(github.code, 1);
    assert!(github.stdout.lines().count() <= 10, "{}", github.stdout);
    assert!(github.stdout.lines().all(|line| line.starts_with("::")), "{}", github.stdout);
    assert!(github.stdout.contains(".jsonl,line="), "{}", github.stdout);
    let json = sandbox.run(&["gate", "worse", "--baseline", "base", "--format", "json"]);
    let document: Value = serde_json::from_str(&json.stdout).expect("stdout holds the document alone");
    assert_eq!(document["verdict"], "fail");
    check(&sandbox.run(&["compare", "run", "worse"]), 0, "worse: structural_survival, lexical_survival", "");
    // One session is compacted only now: no figure of the baseline holds for it, and that is said.
    let said = "no figure of 1 session is compared: 1 newly exercised";
    check(&sandbox.run(&["gate", "worse", "--baseline", "base"]), 1, said, "");
    let compared =
        document["checks"].as_array().expect("checks").iter().find(|it| it["metric"] == "compared");
    assert_eq!(
        (&document["not_compared"], &compared.expect("a check")["verdict"]),
        (&1.into(), &"pass".into())
    );
}

#[test]
fn a_summarizer_without_its_file_lists_is_named_for_that() {
    let sandbox = with_baseline();
    sandbox.file("mine.toml", "extends = \"standard\"\nname = \"mine\"\n[summary]\nlists = \"none\"\n");
    replayed(&sandbox, "worse", &["--profile", &sandbox.path("mine.toml").to_string_lossy()]);
    let ran = sandbox.run(&["gate", "worse", "--baseline", "base"]);
    check(
        &ran,
        1,
        "fail: mine/structured/cycles: files_modified drop <= 0: fell",
        "judged by what standard was",
    );
    check(&sandbox.run(&["compare", "run", "worse"]), 0, "differs: profile: standard before, mine now", "");
}

#[test]
fn a_policy_decides_and_its_mistakes_are_named() {
    let sandbox = with_baseline();
    let policy = |text: &str| {
        sandbox.file("gate.toml", text);
        sandbox.run(&["gate", "run", "--baseline", "base", "--policy", "gate.toml"])
    };
    check(
        &policy("[[rule]]\nmetric = \"files_modified\"\nstrategy = \"structured\"\nmin = 1.0\n"),
        0,
        "gate: pass",
        "",
    );
    check(
        &policy("[[rule]]\nmetric = \"files_modified\"\nmin = 1.0\n"),
        1,
        "fail: standard/emergency/cycles",
        "",
    );
    check(
        &policy("min_sessions = 99\n[[rule]]\nmetric = \"files_read\"\nmin = 0\n"),
        2,
        "inconclusive",
        "exit code 2",
    );
    check(
        &policy("[[rule]]\nmetric = \"files_red\"\nmin = 1\n"),
        2,
        "",
        "gate.toml: line 1: rule 1: unknown metric `files_red`; did you mean `files_read`?",
    );
    check(&policy("[[rule]]\nmetric = \"files_read\"\nminimum = 1\n"), 2, "", "unknown field `minimum`");
    check(&policy("[[rule]\n"), 2, "", "gate.toml: line 1");
    check(
        &policy("[[rule]]\nmetric = \"files_read\"\nstrategy = \"structuerd\"\nmin = 0\n"),
        2,
        "not exercised",
        "",
    );
    check(&sandbox.run(&["gate", "run", "--policy", "none.toml"]), 2, "", "none.toml: cannot read the file");
    check(&sandbox.run(&["gate", "run"]), 2, "", "there is nothing to judge the run by");
}

#[test]
fn a_gate_is_shown_to_turn_red() {
    let sandbox = with_baseline();
    check(
        &sandbox.run(&["gate", "run", "--baseline", "base", "--self-test"]),
        0,
        " damages were noticed",
        "",
    );
    sandbox.file("void.toml", "[[rule]]\nmetric = \"files_modified\"\nmax_drop = 1\n");
    let ran = sandbox.run(&["gate", "run", "--baseline", "base", "--policy", "void.toml", "--self-test"]);
    check(&ran, 1, "MISSED: files_modified", "");
    check(
        &sandbox.run(&["gate", "run", "--baseline", "run"]),
        2,
        "",
        "is the run itself: it would always pass",
    );
}

#[test]
fn what_measured_nothing_is_never_green() {
    let sandbox = with_baseline();
    check(&sandbox.run(&["gate", "run", "--baseline", "nowhere"]), 2, "", "gate RUN --baseline DIR --accept");
    check(&sandbox.run(&["gate", "nowhere", "--baseline", "base"]), 2, "", "run.json: cannot read the file");
    // Too short to compact.
    sandbox.file(
        "short.jsonl",
        "{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"assistant\",\"content\":\"hello\"}\n",
    );
    let ran = sandbox.run(&["replay", "short.jsonl", "--out", "short", "--quiet"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    sandbox.file("floor.toml", "[[rule]]\nmetric = \"files_modified\"\nmin = 0\n");
    let ran = sandbox.run(&["gate", "short", "--policy", "floor.toml"]);
    assert_eq!(ran.code, 2, "{}\n{}", ran.stdout, ran.stderr);
    let ran = sandbox.run(&["gate", "short", "--baseline", "other", "--accept"]);
    check(&ran, 2, "", "");
    assert!(!sandbox.path("other").exists());
}

#[test]
fn a_failed_input_is_neither_clean_nor_a_regression() {
    let sandbox = Sandbox::new();
    for name in ["a", "b", "c"] {
        let log = std::fs::read(fixture("pi/v3-orchard-cache-branch.jsonl")).expect("a fixture");
        let log = String::from_utf8(log).expect("text").replace("\"id\":\"", &format!("\"id\":\"{name}-"));
        sandbox.file(&format!("logs/{name}.jsonl"), log);
    }
    sandbox.file(
        "floor.toml",
        "min_sessions = 3\n[[rule]]\nmetric = \"summary_survival\"\nstrategy = \"structured\"\nmin = 0.1\n",
    );
    let ran = sandbox.run(&["replay", "logs", "--out", "good", "--quiet"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    check(&sandbox.run(&["gate", "good", "--policy", "floor.toml"]), 0, "gate: pass", "");
    sandbox.file("logs/d.jsonl", [0x1f, 0x8b, 0x08, 0x00, 0xff, 0xff]);
    let ran = sandbox.run(&["replay", "logs", "--out", "partial", "--quiet"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let ran = sandbox.run(&["gate", "partial", "--policy", "floor.toml", "--format", "json"]);
    assert_eq!(ran.code, 3, "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("logs/d.jsonl"), "{}", ran.stdout);
    let ran = sandbox.run(&["gate", "partial", "--baseline", "base", "--accept"]);
    check(&ran, 2, "", "could not be measured: it is no baseline");
    sandbox.file("allowed.toml", "max_unscored = 1\nmin_sessions = 3\n[[rule]]\nmetric = \"summary_survival\"\nstrategy = \"structured\"\nmin = 0.1\n");
    check(&sandbox.run(&["gate", "partial", "--policy", "allowed.toml"]), 0, "gate: pass", "");
}

#[test]
fn what_cannot_be_compared_is_refused_with_a_way_out() {
    let sandbox = with_baseline();
    replayed(&sandbox, "other", &["--tokenizer", "cl100k"]);
    check(
        &sandbox.run(&["gate", "other", "--baseline", "base"]),
        2,
        "",
        "tokenizer: o200k before, cl100k now",
    );
    check(&sandbox.run(&["compare", "run", "other"]), 2, "", "tokenizer: o200k before, cl100k now");
    let ran = sandbox.run(&["replay", &fixture("pi"), "--out", "pi", "--quiet"]);
    assert_eq!(ran.code, 0);
    check(
        &sandbox.run(&["compare", "run", "pi"]),
        2,
        "",
        "--intersection compares the sessions that both have",
    );
    check(
        &sandbox.run(&["compare", "run", "pi", "--intersection"]),
        0,
        "that only one run has, left out",
        "",
    );
    let ran = sandbox.run(&["gate", "pi", "--baseline", "base", "--intersection"]);
    check(&ran, 2, "that only one of the two has, left out", "");
    // A newer version, an unfinished run, a damaged baseline.
    let manifest = std::fs::read_to_string(sandbox.path("pi/run.json")).expect("a manifest");
    sandbox.file("pi/run.json", manifest.replacen("\"schema_version\": ", "\"schema_version\": 9", 1));
    check(&sandbox.run(&["compare", "run", "pi"]), 2, "", "this program knows versions up to");
    std::fs::remove_file(sandbox.path("other/cycles.csv")).expect("a file");
    check(&sandbox.run(&["gate", "other", "--baseline", "base"]), 2, "", "the directory is not complete");
    let rows = std::fs::read_to_string(sandbox.path("base/baseline.csv")).expect("a baseline");
    sandbox.file("base/baseline.csv", rows.replacen(" of ", " off ", 1));
    check(
        &sandbox.run(&["gate", "run", "--baseline", "base"]),
        2,
        "",
        "baseline.csv:2: column `files_modified`",
    );
}

#[test]
fn a_file_of_another_kind_stays() {
    let sandbox = with_baseline();
    sandbox.file("mine.xml", "not yours");
    let ran = sandbox.run(&["gate", "run", "--baseline", "base", "--junit", "mine.xml"]);
    check(&ran, 2, "", "mine.xml: is there already and is no report of this kind");
    assert_eq!(std::fs::read_to_string(sandbox.path("mine.xml")).expect("a file"), "not yours");
}

#[test]
fn every_column_of_a_run_is_in_the_dictionary() {
    let sandbox = Sandbox::new();
    replayed(&sandbox, "run", &["--log-facts", "--events"]);
    let ran = sandbox.run(&["columns", "--format", "csv"]);
    assert_eq!(ran.code, 0);
    let mut reader = csv::Reader::from_reader(ran.stdout.as_bytes());
    let known: Vec<(String, String)> = reader
        .records()
        .map(|row| row.expect("a row"))
        .map(|row| (row[0].to_owned(), row[1].to_owned()))
        .collect();
    let mut files = 0;
    for entry in std::fs::read_dir(sandbox.path("run")).expect("results") {
        let path = entry.expect("a file").path();
        if path.extension().is_some_and(|ext| ext == "csv") {
            files += 1;
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let mut reader = csv::Reader::from_path(&path).expect("CSV");
            let header: Vec<String> = reader.headers().expect("a header").iter().map(str::to_owned).collect();
            let explained: Vec<String> =
                known.iter().filter(|(file, _)| *file == name).map(|(_, column)| column.clone()).collect();
            assert_eq!(header, explained, "{name}");
        }
    }
    assert!(files >= 11, "{files}");
    let of = |name: &str| -> Vec<String> {
        known.iter().filter(|(file, _)| file == name).map(|(_, column)| column.clone()).collect()
    };
    let header = |text: &str| -> Vec<String> {
        text.lines()
            .next()
            .unwrap_or("")
            .split(',')
            .filter(|name| *name != "keep.tokens")
            .map(str::to_owned)
            .collect()
    };
    let tuned =
        sandbox.run(&["tune", &fixture("pi"), "--set", "keep.tokens=8k", "--out", "tuned", "--quiet"]);
    assert_eq!(tuned.code, 0, "{}", tuned.stderr);
    assert_eq!(
        header(&std::fs::read_to_string(sandbox.path("tuned/tuning.csv")).expect("a table")),
        of("tuning")
    );
    assert_eq!(header(&sandbox.run(&["report", "run", "--csv", "-"]).stdout), of("report"));
    check(&sandbox.run(&["columns", "cycels"]), 2, "", "did you mean `cycles`?");
    check(&sandbox.run(&["schema", "replay"]), 0, "\"$schema\"", "");
    check(&sandbox.run(&["schema"]), 0, "compactor gate --format json", "");
    check(&sandbox.run(&["schema", "rplay"]), 2, "", "did you mean `replay`?");
}

/// Changes a text of a file of a copied directory.
fn edited(sandbox: &Sandbox, from: &str, to: &str, file: &str, change: impl Fn(String) -> String) {
    std::fs::create_dir_all(sandbox.path(to)).expect("a directory");
    for entry in std::fs::read_dir(sandbox.path(from)).expect("results") {
        let path = entry.expect("a file").path();
        let name = path.file_name().expect("a name").to_owned();
        std::fs::copy(&path, sandbox.path(to).join(name)).expect("a copy");
    }
    let path = sandbox.path(to).join(file);
    let text = std::fs::read_to_string(&path).expect("a text");
    let changed = change(text.clone());
    assert_ne!(text, changed);
    std::fs::write(path, changed).expect("written");
}

/// The text without the lines that hold this.
fn without(text: &str, what: &str) -> String {
    text.lines().filter(|line| !line.contains(what)).flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn rows_that_are_missing_or_too_many_are_never_green() {
    const SESSION: &str = "tinyq-segment-checksums";
    let sandbox = with_baseline();
    let gate = |run: &str, base: &str| sandbox.run(&["gate", run, "--baseline", base]);
    edited(&sandbox, "run", "less", "sessions.csv", |text| without(&text, SESSION));
    check(&gate("less", "base"), 2, "1 session of the baseline not in the run", "");
    edited(&sandbox, "base", "small", "baseline.csv", |text| without(&text, SESSION));
    check(&gate("run", "small"), 2, "1 session of the run not in the baseline", "");
    let doubled = |text: String| {
        let line = text.lines().find(|line| line.contains(SESSION)).expect("a line").to_owned();
        text + &line + "\n"
    };
    edited(&sandbox, "base", "double", "baseline.csv", doubled);
    check(&gate("run", "double"), 2, "", "session tinyq-segment-checksums stands here a second time");
    edited(&sandbox, "run", "twice", "sessions.csv", doubled);
    check(&gate("twice", "base"), 2, "", "stands twice in sessions.csv");
    edited(&sandbox, "run", "short", "cycles.csv", |text| {
        let lines: Vec<&str> = text.lines().collect();
        lines[..lines.len() - 3].join("\n") + "\n"
    });
    check(&gate("short", "base"), 2, "", "cycles in sessions.csv and ");
    check(&sandbox.run(&["compare", "run", "short"]), 2, "", "do not belong together");
    edited(&sandbox, "run", "bare", "classes.csv", |text| {
        text.lines().next().unwrap_or("").to_owned() + "\n"
    });
    check(&sandbox.run(&["compare", "run", "bare"]), 2, "", "0 facts at risk in classes.csv");
}

#[test]
fn a_policy_without_rules_holds_what_none_would() {
    let sandbox = with_baseline();
    replayed(&sandbox, "worse", &["--summary-tokens", "300"]);
    sandbox.file("empty.toml", "min_sessions = 10\n");
    let gate = |more: &[&str]| {
        let mut arguments = vec!["gate", "worse", "--policy", "empty.toml"];
        arguments.extend(more);
        sandbox.run(&arguments)
    };
    check(&gate(&["--baseline", "base"]), 1, "needed_survival drop <= 0", "");
    check(&gate(&[]), 0, "hard invariants broken", "");
    sandbox.file("empty.toml", "min_sessions = 99\n");
    check(&gate(&[]), 2, "0 broken in 16 sessions, 99 are needed", "");
    sandbox.file(
        "typo.toml",
        "[[rule]]\nmetric = \"files_read\"\nstrategy = [\"structured\", \"narative\"]\nmin = 0.5\n",
    );
    let arguments = ["gate", "run", "--policy", "typo.toml"];
    check(&sandbox.run(&arguments), 2, "no strategy `narative`; did you mean `narrative`?", "");
    check(
        &sandbox.run(&[&arguments[..], &["--self-test"]].concat()),
        1,
        "MISSED: files_read: nothing to damage",
        "",
    );
}

#[test]
fn a_github_step_has_its_summary_and_no_other_verb_minds() {
    let sandbox = with_baseline();
    let run = |more: &[&str], file: &str| {
        let mut command = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("compactor"));
        let path =
            if file.is_empty() { String::new() } else { sandbox.path(file).to_string_lossy().into_owned() };
        command.current_dir(sandbox.path("")).env("GITHUB_STEP_SUMMARY", path);
        command.args(["gate", "run", "--baseline", "base"]).args(more).assert()
    };
    run(&[], "step.md").code(0);
    let summary = std::fs::read_to_string(sandbox.path("step.md")).expect("a summary");
    assert!(summary.starts_with("## gate: pass"), "{summary}");
    run(&["--self-test"], "step.md").code(0);
    run(&["--accept"], "step.md").code(0);
    run(&[], "").code(0);
    // The verdict is there, and what could not be written is said.
    let ran = run(&[], "no/such/step.md").code(2);
    let output = ran.get_output();
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("gate: pass"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("step.md: cannot write to the file"));
}

#[test]
fn a_refusal_leaves_no_older_verdict_behind() {
    let sandbox = with_baseline();
    check(&sandbox.run(&["gate", "run", "--baseline", "base", "--junit", "gate.xml"]), 0, "", "");
    check(&sandbox.run(&["gate", "run", "--baseline", "nowhere", "--junit", "gate.xml"]), 2, "", "");
    let github = sandbox.run(&["gate", "run", "--baseline", "nowhere", "--format", "github"]);
    check(&github, 2, "::error title=compactor gate::not judged: nowhere", "nowhere");
    let junit = std::fs::read_to_string(sandbox.path("gate.xml")).expect("JUnit XML");
    assert!(junit.contains("errors=\"1\"") && junit.contains("nowhere"), "{junit}");
}

#[test]
fn a_baseline_replaces_nothing_else() {
    let sandbox = with_baseline();
    check(
        &sandbox.run(&["gate", "run", "--baseline", "run", "--accept"]),
        2,
        "",
        "holds the results of a run",
    );
    sandbox.file("mine/baseline.csv", "a,b\n1,2\n");
    check(
        &sandbox.run(&["gate", "run", "--baseline", "mine", "--accept"]),
        2,
        "",
        "is no baseline of compactor",
    );
    assert_eq!(std::fs::read_to_string(sandbox.path("mine/baseline.csv")).expect("a file"), "a,b\n1,2\n");
}

#[test]
fn new_losses_are_those_of_a_fact_whatever_window_was_found() {
    let sandbox = Sandbox::new();
    replayed(&sandbox, "run", &["--log-facts"]);
    replayed(&sandbox, "worse", &["--log-facts", "--summary-tokens", "300"]);
    let ran = sandbox.run(&["compare", "run", "worse", "--format", "json"]);
    let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let losses = document["new_losses"].as_array().expect("losses");
    // By hand: facts first lost in the second run and in no cycle of the first, by session, strategy and number; of sessions that
    // were compacted in both.
    let scored = |dir: &str| -> std::collections::BTreeSet<(String, String)> {
        let mut reader = csv::Reader::from_path(sandbox.path(dir).join("sessions.csv")).expect("sessions");
        let header = reader.headers().expect("a header").clone();
        let at = |name: &str| header.iter().position(|column| column == name).expect("a column");
        let (session, strategy, exercised) = (at("session"), at("strategy"), at("exercised"));
        let rows = reader.records().map(|row| row.expect("a row")).filter(|row| &row[exercised] == "true");
        rows.map(|row| (row[session].to_owned(), row[strategy].to_owned())).collect()
    };
    let (before, now) = (scored("run"), scored("worse"));
    assert!(before.len() < now.len(), "a session is compacted in the second run alone");
    let lost = |dir: &str| -> std::collections::BTreeSet<(String, String, String)> {
        let mut reader = csv::Reader::from_path(sandbox.path(dir).join("facts.csv")).expect("facts");
        let header = reader.headers().expect("a header").clone();
        let at = |name: &str| header.iter().position(|column| column == name).expect("a column");
        let (session, strategy, fact, first) = (at("session"), at("strategy"), at("fact"), at("first_loss"));
        let rows = reader.records().map(|row| row.expect("a row"));
        rows.filter(|row| &row[first] == "true")
            .map(|row| (row[session].to_owned(), row[strategy].to_owned(), row[fact].to_owned()))
            .collect()
    };
    let of_both = |(session, strategy, _): &&(String, String, String)| {
        let key = (session.clone(), strategy.clone());
        before.contains(&key) && now.contains(&key)
    };
    let new = lost("worse").difference(&lost("run")).filter(of_both).count();
    assert_eq!(losses.len(), new);
    assert!(0 < new);
    let report = sandbox.run(&["gate", "worse", "--baseline", "run"]);
    assert_eq!(report.code, 1);
    let page = sandbox.run(&["report", "worse", "--baseline", "run", "--markdown", "-"]);
    assert!(page.code == 1 && page.stdout.contains("gate: fail"), "{}\n{}", page.stdout, page.stderr);
    let page = sandbox.run(&["report", "worse", "--baseline", "run", "--markdown", "-", "--redact"]);
    assert!(page.stdout.contains("structured/cycles: needed"), "{}", page.stdout);
    assert!(!page.stdout.contains("tinyq-segment"), "{}", page.stdout);
}

#[test]
fn facts_that_were_recorded_and_are_gone_are_missed() {
    let sandbox = Sandbox::new();
    replayed(&sandbox, "run", &["--log-facts"]);
    let path = sandbox.path("run/facts.csv");
    let whole = std::fs::read_to_string(&path).expect("facts");
    let both = [&["report", "run"][..], &["compare", "run", "run"]];
    for arguments in both {
        let ran = sandbox.run(arguments);
        assert!(ran.code == 0 && !ran.stderr.contains("facts.csv"), "{ran:?}");
    }
    // What lost its end is no run.
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    std::fs::write(&path, lines[..lines.len() - 1].concat()).expect("facts");
    for arguments in both {
        check(&sandbox.run(arguments), 2, "", "run.json tells of");
    }
    // A file that is gone may have been too large to keep: the rest is read, and that is said.
    std::fs::remove_file(&path).expect("facts");
    for arguments in both {
        check(
            &sandbox.run(arguments),
            0,
            "",
            "run: facts.csv is missing, though the run was recorded with --log-facts",
        );
    }
    check(&sandbox.run(&["gate", "run", "--baseline", "base", "--accept"]), 0, "accepted", "");
    let head = std::fs::read_to_string(sandbox.path("base/baseline.json")).expect("a baseline");
    assert!(!head.contains("\"facts\""), "a baseline is the same with and without facts: {head}");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_result_is_not_waited_for() {
    let sandbox = with_baseline();
    let pipe = |name: &str| {
        let path = sandbox.path(name);
        std::fs::remove_file(&path).ok();
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("mkfifo").success());
    };
    let gate = ["gate", "run", "--baseline", "base"];
    pipe("base/baseline.csv");
    check(&sandbox.run(&gate), 2, "", "baseline.csv: cannot read the file: is no regular file");
    check(&sandbox.run(&["gate", "run", "--baseline", "base", "--accept"]), 2, "", "baseline.csv");
    for name in ["audit.csv", "cycles.csv", "run.json"] {
        pipe(&format!("run/{name}"));
        let message = format!("{name}: cannot read the file: is no regular file");
        check(&sandbox.run(&gate), 2, "", &message);
        check(&sandbox.run(&["report", "run"]), 2, "", &message);
    }
    let logs = fixture("pi");
    check(&sandbox.run(&["replay", &logs, "--out", "run"]), 2, "", "holds files that are not results");
}

#[test]
fn what_cannot_be_read_back_is_never_called_a_first_baseline() {
    let sandbox = with_baseline();
    let accept = |base: &str| sandbox.run(&["gate", "run", "--baseline", base, "--accept"]);
    let version = |by: i64| {
        move |text: String| {
            let mut head: Value = serde_json::from_str(&text).expect("JSON");
            let version = head["schema_version"].as_i64().expect("a version") + by;
            head["schema_version"] = version.into();
            head.to_string()
        }
    };
    edited(&sandbox, "base", "old", "baseline.json", version(-1));
    check(&accept("old"), 0, "the baseline that was there is replaced and could not be compared:", "");
    check(&accept("old"), 0, "accepted: 68 lines, 0 changed, 0 new, 0 gone", "");
    edited(&sandbox, "base", "ill", "baseline.csv", |text| text.replacen(" of ", " off ", 1));
    check(&accept("ill"), 0, "is replaced and could not be compared: ill/baseline.csv:2:", "");
    edited(&sandbox, "base", "new", "baseline.json", version(1));
    let before = std::fs::read_to_string(sandbox.path("new/baseline.json")).expect("a head");
    check(&accept("new"), 2, "", "use the version of compactor that wrote it");
    assert_eq!(std::fs::read_to_string(sandbox.path("new/baseline.json")).expect("a head"), before);
    std::fs::remove_file(sandbox.path("ill/baseline.csv")).expect("a file");
    check(&accept("ill"), 0, "is replaced and could not be compared", "");
}

#[test]
fn a_format_that_is_not_printed_is_refused() {
    let sandbox = with_baseline();
    let gate = |more: &[&str]| sandbox.run(&[&["gate", "run", "--baseline", "base"], more].concat());
    check(&gate(&["--accept", "--format", "json"]), 2, "", "--accept prints text");
    for format in ["junit", "github", "markdown"] {
        let ran = gate(&["--self-test", "--format", format]);
        check(&ran, 2, "", "--self-test prints text or JSON");
        assert_eq!(ran.stdout, "");
    }
    check(&gate(&["--self-test", "--format", "json"]), 0, "\"damage\"", "");
    check(&gate(&["--accept", "--format", "text"]), 0, "accepted", "");
}

#[test]
fn hints_name_what_is_at_hand() {
    let sandbox = with_baseline();
    let gate = |more: &[&str]| sandbox.run(&[&["gate", "run", "--baseline", "base"], more].concat());
    let ran = gate(&["--policy", "none.toml"]);
    check(&ran, 2, "", "none.toml: cannot read the file");
    assert!(!ran.stderr.contains("room"), "{}", ran.stderr);
    std::fs::remove_file(sandbox.path("run/cycles.csv")).expect("a file");
    check(&gate(&[]), 2, "", "the directory is not complete");
    std::fs::create_dir(sandbox.path("run/cycles.csv")).expect("a directory");
    check(&gate(&[]), 2, "", "check that you may read it and that it is a file of its kind");
    sandbox.file("base/baseline.json", "{\"schema_version\": ");
    std::fs::remove_dir(sandbox.path("run/cycles.csv")).expect("a directory");
    replayed(&sandbox, "run", &[]);
    let ran = gate(&[]);
    check(&ran, 2, "", "gate RUN --baseline DIR --accept");
    assert!(!ran.stderr.contains("replay --out"), "{}", ran.stderr);
}

#[test]
fn a_comparison_says_what_few_sessions_and_other_windows_mean() {
    let sandbox = Sandbox::new();
    let logs = [fixture("pi"), fixture("codex")];
    let run = |out: &str, more: &[&str]| {
        let arguments = [&["replay", "--quiet", "--log-facts", "--out", out, &logs[0]], more].concat();
        assert_eq!(sandbox.run(&arguments).code, 0);
    };
    run("a", &[]);
    run("b", &["--summary-tokens", "200"]);
    let ran = sandbox.run(&["compare", "a", "b"]);
    check(&ran, 0, "too few sessions to tell: ", "");
    assert!(
        !ran.stdout.contains("no measurable") && ran.stdout.contains("needed_survival"),
        "{}",
        ran.stdout
    );
    sandbox.file("cut.toml", "extends = \"standard\"\nname = \"cut\"\n[keep]\ntokens = 2000\n");
    run("c", &["--profile", &sandbox.path("cut.toml").to_string_lossy()]);
    check(&sandbox.run(&["compare", "a", "c"]), 0, "another window was found for ", "");
}

#[test]
fn a_comparison_refuses_figures_that_no_run_has() {
    let sandbox = Sandbox::new();
    replayed(&sandbox, "run", &[]);
    let set = |to: &str, column: &str, value: &str| {
        edited(&sandbox, "run", to, "sessions.csv", |text| {
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let header = reader.headers().expect("a header").clone();
            let at = header.iter().position(|name| name == column).expect("a column");
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record(&header).expect("written");
            let exercised = header.iter().position(|name| name == "exercised").expect("a column");
            let mut done = false;
            for row in reader.records() {
                let row = row.expect("a row");
                let change = !done && &row[exercised] == "true";
                done |= change;
                let cells = row.iter().enumerate();
                let cells = cells.map(|(cell, text)| if change && cell == at { value } else { text });
                writer.write_record(cells).expect("written");
            }
            String::from_utf8(writer.into_inner().expect("bytes")).expect("text")
        });
        sandbox.run(&["compare", "run", to])
    };
    check(&set("nan", "needed_survival", "NaN"), 2, "", "needed_survival is NaN, no share");
    check(&set("two", "needed_survival", "2"), 2, "", "needed_survival is 2, no share");
    check(&set("huge", "prompt_tokens", "99999999999"), 2, "", "prompt_tokens");
    check(&set("cost", "cost_units", "-1"), 2, "", "cost_units is -1");
    check(
        &set("other", "needed_survival", "0.0123"),
        2,
        "",
        "needed_survival is 0.0123 in sessions.csv and ",
    );
    check(&set("none", "needed_survival", ""), 2, "", "needed_survival");
}
