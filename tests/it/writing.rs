//! `compactor convert` and `compactor compact`, end to end.

use crate::logs::{agent, long_work, pi, step, user};
use crate::support::{Ran, Sandbox, fixture};
use compactor::export::anthropic::check_anthropic;
use compactor::export::openai::check_openai;
use compactor::ingest::{Format, ingest};
use compactor::profile::Profile;
use compactor::transcript::MessageIdx;
use serde_json::Value;

const CLAUDE: &str = "claude-code/retry-after-and-scheduler-rename.jsonl";
const CODEX: &str = "codex/rust-pantry-fullwidth-and-lock.jsonl";
const PI: &str = "pi/v3-orchard-cache-branch.jsonl";
const CHAT: &str = "openai-chat/three-conversations-xml-chinese-parts.jsonl";

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).expect("a fixture")
}

fn json(sandbox: &Sandbox, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(sandbox.path(name)).expect(name)).expect("JSON")
}

/// Names of what lies in a directory of the sandbox.
fn names(sandbox: &Sandbox, dir: &str) -> Vec<String> {
    let entries = std::fs::read_dir(sandbox.path(dir)).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The run ended so, said these things, and printed nothing when it failed.
fn check_ran(ran: &Ran, code: i32, says: &[&str]) {
    assert_eq!(ran.code, code, "{ran:?}");
    for says in says {
        assert!(ran.stderr.contains(says), "{says:?} in {}", ran.stderr);
    }
    assert!(code != 2 || ran.stdout.is_empty(), "{}", ran.stdout);
}

#[test]
fn a_log_goes_to_stdout_and_reads_back() {
    let sandbox = Sandbox::new();
    for name in [CLAUDE, CODEX, PI, CHAT] {
        let first = sandbox.run(&["convert", &fixture(name)]);
        check_ran(&first, 0, &[]);
        assert_eq!(first.stderr, "", "{name}");
        let (log, read) = (ingest(&bytes(name), name), ingest(first.stdout.as_bytes(), "x"));
        assert_eq!((read.format, &read.sessions), (Some(Format::Canonical), &log.sessions), "{name}");
        // The same bytes once more, from stdin.
        let again = sandbox.run_with(&["convert", "-"], &first.stdout);
        assert!(again.stdout == first.stdout, "{name}");
    }
}

#[test]
fn a_canonical_log_is_replayed_like_the_one_it_was_made_of() {
    let sandbox = Sandbox::new();
    let log = fixture(CODEX);
    check_ran(&sandbox.run(&["convert", &log, "--out", "x.jsonl"]), 0, &["x.jsonl: 1 session of"]);
    let figures =
        |path: &str| sandbox.run(&["replay", path, "-q", "--format", "csv", "-s", "truncate"]).stdout;
    assert_eq!(figures(&log), figures("x.jsonl"));
    let told = |path: &str| {
        let ran = sandbox.run(&["show", path, "--format", "json", "-s", "structured"]);
        let mut shown: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        shown["source"].take();
        shown["format"].take();
        shown
    };
    assert_eq!(told(&log), told("x.jsonl"));
}

#[test]
fn a_converted_log_is_audited_under_the_name_of_its_agent() {
    let sandbox = Sandbox::new();
    let log = fixture("claude-code/retry-after-and-scheduler-rename.jsonl");
    check_ran(&sandbox.run(&["compact", &log, "--out", "logs"]), 0, &[]);
    let converted = sandbox.run(&["convert", "logs/retry-after-and-scheduler-rename.jsonl"]);
    sandbox.file("converted.jsonl", &converted.stdout);
    let audited = |log: &str| sandbox.run(&["audit", log]).stdout;
    let heading = |text: &str| text.lines().find(|line| line.contains("claude-code")).map(str::to_owned);
    let (before, after) = (audited("logs"), audited("converted.jsonl"));
    assert!(heading(&after).is_some(), "{after}");
    assert!(!after.contains("canonical:"), "{before}\n{after}");
}

#[test]
fn several_logs_go_to_a_directory() {
    let sandbox = Sandbox::new();
    let (one, two) = (fixture(CLAUDE), fixture(PI));
    check_ran(&sandbox.run(&["convert", &one, &two]), 2, &["2 files do not go to stdout", "--out"]);
    check_ran(&sandbox.run(&["convert", &one, &two, "--out", "out"]), 0, &[]);
    let made = names(&sandbox, "out");
    assert_eq!(
        made,
        ["retry-after-and-scheduler-rename.canonical.jsonl", "v3-orchard-cache-branch.canonical.jsonl"]
    );
    // Nothing is replaced unasked, and the rest goes on.
    std::fs::remove_file(sandbox.path("out").join(&made[0])).expect("removed");
    let ran = sandbox.run(&["convert", &one, &two, "--out", "out"]);
    check_ran(&ran, 3, &["orchard-cache-branch.canonical.jsonl: exists already", "--force"]);
    check_ran(
        &sandbox.run(&["convert", &one, &two, "--out", "out"]),
        2,
        &["exists already", "nothing was written"],
    );
    check_ran(&sandbox.run(&["convert", &one, &two, "--out", "out", "--force"]), 0, &[]);
    assert_eq!(names(&sandbox, "out"), made, "no temporary file is left");
}

#[test]
fn logs_of_one_name_are_written_under_names_of_their_directories() {
    let sandbox = Sandbox::new();
    sandbox.file("state/aaa/events.jsonl", bytes(PI));
    sandbox.file("state/bbb/events.jsonl", bytes(CODEX));
    sandbox.file("state/bbb/other.jsonl", bytes(CLAUDE));
    let ran = sandbox.run(&["convert", "state", "--out", "out"]);
    check_ran(&ran, 0, &["aaa-events.canonical.jsonl: 1 session of state/aaa/events.jsonl"]);
    assert_eq!(
        names(&sandbox, "out"),
        ["aaa-events.canonical.jsonl", "bbb-events.canonical.jsonl", "other.canonical.jsonl"]
    );
    let ran = sandbox.run(&["compact", "state", "--out", "same", "--window", "8k"]);
    check_ran(&ran, 0, &[]);
    let reports = ["aaa-events.report.json", "bbb-events.report.json", "other.report.json"];
    assert_eq!(
        names(&sandbox, "same"),
        ["aaa-events.jsonl", reports[0], "bbb-events.jsonl", reports[1], "other.jsonl", reports[2]]
    );
    for (name, of) in [("aaa-events", "aaa/events"), ("bbb-events", "bbb/events"), ("other", "bbb/other")] {
        let report = json(&sandbox, &format!("same/{name}.report.json"));
        assert_eq!(report["source"], format!("state/{of}.jsonl"));
        assert_eq!(report["output"], format!("{name}.jsonl"));
        let log = std::fs::read(sandbox.path(&format!("state/{of}.jsonl"))).expect("a log");
        assert!(
            std::fs::read(sandbox.path(&format!("same/{name}.jsonl"))).expect("a copy").starts_with(&log)
        );
    }
    check_ran(&sandbox.run(&["compact", "state", "--out", "chat", "--to", "openai"]), 0, &[]);
    let written = names(&sandbox, "chat");
    assert_eq!(written.len(), 6, "{written:?}");
    let report = json(&sandbox, "chat/bbb-events.openai.report.json");
    assert_eq!(
        (&report["source"], &report["output"]),
        (&"state/bbb/events.jsonl".into(), &"bbb-events.openai.json".into())
    );
}

#[test]
fn what_cannot_be_converted_is_named() {
    let sandbox = Sandbox::new();
    sandbox.file("a/x.jsonl", bytes(PI));
    sandbox.file("b/x.jsonl", bytes(CLAUDE));
    sandbox.file("empty.jsonl", "");
    let ran = sandbox.run(&["convert", "a", "b", "empty.jsonl", "gone.jsonl", "--out", "out"]);
    check_ran(&ran, 3, &["empty.jsonl: the file is empty", "gone.jsonl: no such file"]);
    assert_eq!(names(&sandbox, "out"), ["a-x.canonical.jsonl", "b-x.canonical.jsonl"]);
    check_ran(&sandbox.run(&["convert", "empty.jsonl"]), 2, &["the file is empty", "nothing was written"]);
    // A file where a directory is needed, and a log in place of itself.
    check_ran(&sandbox.run(&["convert", "a", "--out", "empty.jsonl"]), 2, &["is a file, not a directory"]);
    check_ran(
        &sandbox.run(&["convert", "a/x.jsonl", "--out", "empty.jsonl/y"]),
        2,
        &["cannot write the file"],
    );
    let itself = ["convert", "a/x.jsonl", "--out", "a/../a/x.jsonl", "--force"];
    check_ran(&sandbox.run(&itself), 2, &["is a log that is read here"]);
    assert_eq!(std::fs::read(sandbox.path("a/x.jsonl")).expect("a file"), bytes(PI));
}

#[cfg(unix)]
#[test]
fn a_directory_that_may_not_be_written_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("locked")).expect("a directory");
    std::fs::set_permissions(sandbox.path("locked"), std::fs::Permissions::from_mode(0o500)).expect("a mode");
    if std::fs::write(sandbox.path("locked/probe"), "").is_ok() {
        eprintln!("skipped: this user may write anywhere");
        return;
    }
    for arguments in [
        ["convert", &fixture(PI), "--out", "locked/x.jsonl"],
        ["compact", &fixture(PI), "--out", "locked"],
        ["compact", &fixture(PI), "--out", "locked/deeper"],
    ] {
        check_ran(&sandbox.run(&arguments), 2, &["ermission denied", "may write there"]);
    }
}

#[test]
fn the_own_record_stands_behind_the_unchanged_log() {
    for name in [CLAUDE, CODEX, PI] {
        let sandbox = Sandbox::new();
        let log = fixture(name);
        let ran = sandbox.run(&["compact", &log, "--out", "out"]);
        check_ran(&ran, 0, &[]);
        assert!(ran.stdout.starts_with("1 session compacted, written to out\n"), "{}", ran.stdout);
        let file = name.rsplit('/').next().expect("a name");
        let base = file.strip_suffix(".jsonl").expect("an extension");
        assert_eq!(names(&sandbox, "out"), [file.to_owned(), format!("{base}.report.json")]);
        let written = std::fs::read(sandbox.path("out").join(file)).expect("a file");
        let before = bytes(name);
        assert!(written.starts_with(&before) && written.len() > before.len(), "{name}");
        let (before, after) = (ingest(&before, name), ingest(&written, name));
        assert_eq!(before.sessions[0].messages, after.sessions[0].messages, "{name}");
        assert_eq!(before.sessions[0].recorded.len() + 1, after.sessions[0].recorded.len(), "{name}");
        // An audit counts it like any other, and the report is no log.
        let audit = sandbox.run(&["audit", "out", "--format", "json"]);
        check_ran(&audit, 0, &[]);
        let report = json(&sandbox, &format!("out/{base}.report.json"));
        assert_eq!((&report["report"], &report["output"]), (&"compactor-compact".into(), &file.into()));
        // Equal logs give equal bytes.
        check_ran(&sandbox.run(&["compact", &log, "--out", "again"]), 0, &[]);
        assert_eq!(std::fs::read(sandbox.path("again").join(file)).expect("a file"), written, "{name}");
    }
}

#[test]
fn a_log_gone_on_with_holds_no_result_without_its_call_under_any_policy() {
    let mut left_out = 0;
    for name in [CLAUDE, CODEX, PI] {
        for policy in Profile::names() {
            for window in ["2k", "4k", "8k"] {
                let sandbox = Sandbox::new();
                let ran =
                    sandbox.run(&["compact", &fixture(name), "--out", "out", "-p", policy, "-w", window]);
                let at = format!("{name} {policy} {window}");
                if ran.code == 2 {
                    assert!(
                        ["nothing can leave", "no gain"].iter().any(|why| ran.stderr.contains(why)),
                        "{at}"
                    );
                    continue;
                }
                assert_eq!(ran.code, 0, "{at}: {}", ran.stderr);
                let file = name.rsplit('/').next().expect("a name");
                let read = ingest(&std::fs::read(sandbox.path("out").join(file)).expect("a file"), file);
                let session = &read.sessions[0];
                let newest = session.recorded.last().expect("a compaction");
                let kept = |at: MessageIdx| newest.kept.contains(at);
                let mut links =
                    session.links.iter().filter(|link| link.result.is_some_and(|it| kept(it.message)));
                assert!(links.all(|link| kept(link.call.message)), "{at}");
                let report = json(
                    &sandbox,
                    &format!("out/{}.report.json", file.strip_suffix(".jsonl").expect("a log")),
                );
                let notes = report["notes"].to_string();
                left_out += usize::from(notes.contains("of tool results left with the calls"));
            }
        }
    }
    assert!(left_out > 0, "policies that part calls from results are among these");
}

#[test]
fn results_that_the_policy_cuts_are_told_and_counted_as_they_are_written() {
    let sandbox = Sandbox::new();
    let mut entries = long_work(60);
    let output = "a line of the output\n".repeat(4_000);
    entries.extend(step("big", "bash", &serde_json::json!({"command": "cat all.log"}), &output));
    entries.extend([agent("Read it.")]);
    sandbox.file("log.jsonl", pi(&entries));
    let compacted = |to: &str| {
        let run = ["compact", "log.jsonl", "--out", to, "--to", to, "-p", "sven", "-w", "40k"];
        let ran = sandbox.run(&run);
        assert_eq!(ran.code, 0, "{ran:?}");
        let name = if to == "same" { "log.report.json".to_owned() } else { format!("log.{to}.report.json") };
        (json(&sandbox, &format!("{to}/{name}")), ran)
    };
    let (request, ran) = compacted("openai");
    assert_eq!(request["results_cut"], 1);
    assert!(ran.stdout.contains("1 tool result in them as short as the policy makes them"), "{}", ran.stdout);
    let (log, ran) = compacted("same");
    assert_eq!(log["results_cut"], 0);
    assert!(ran.stdout.contains("1 tool result that the policy would cut short or clear"), "{}", ran.stdout);
    let tokens = |report: &Value| report["tokens_after"].as_u64().expect("a number");
    assert!(tokens(&log) > tokens(&request) + 10_000, "{log} {request}");
    // What the log says of itself is what an audit counts.
    check_ran(&sandbox.run(&["audit", "same", "--out", "audit"]), 0, &[]);
    let rows = std::fs::read(sandbox.path("audit/cycles.csv")).expect("rows");
    let mut rows = csv::Reader::from_reader(rows.as_slice());
    let at =
        rows.headers().expect("a header").iter().position(|name| name == "tokens_after").expect("a column");
    let counted: Vec<u64> =
        rows.records().map(|row| row.expect("a row")[at].parse().expect("a number")).collect();
    assert_eq!(counted, [tokens(&log)]);
}

#[test]
fn a_window_that_is_assumed_is_said_to_be_though_the_session_does_not_fill_it() {
    let sandbox = Sandbox::new();
    let mut reply = agent("All done.");
    reply["message"]["model"] = "foo-bar-9".into();
    let mut entries = long_work(12);
    entries.push(reply);
    sandbox.file("log.jsonl", pi(&entries));
    let ran = sandbox.run(&["compact", "log.jsonl", "--out", "out"]);
    check_ran(&ran, 0, &["model `foo-bar-9` is unknown", "128000 tokens is assumed"]);
    let report = json(&sandbox, "out/log.report.json");
    assert_eq!((&report["window_source"], &report["window_assumed"]), (&"whole".into(), &true.into()));
}

#[test]
fn a_request_holds_a_word_of_the_user_though_all_of_theirs_left() {
    let sandbox = Sandbox::new();
    let mut entries = vec![user("Sort the list.")];
    for n in 0..40 {
        let output = "word ".repeat(60);
        entries.extend(step(&format!("c{n}"), "bash", &serde_json::json!({"command": "ls"}), &output));
        entries.push(agent(&format!("Looked {n} times.")));
    }
    sandbox.file("log.jsonl", pi(&entries));
    for to in ["openai", "anthropic"] {
        let run =
            ["compact", "log.jsonl", "--out", to, "--to", to, "-p", "sven", "-s", "emergency", "-w", "8k"];
        let ran = sandbox.run(&run);
        assert_eq!(ran.code, 0, "{ran:?}");
        let request = json(&sandbox, &format!("{to}/log.{to}.json"));
        let messages = request["messages"].as_array().expect("messages");
        assert!(messages.iter().any(|message| message["role"] == "user"), "{to}: {request}");
        assert!(ran.stdout.contains("no message of the user is left"), "{to}: {}", ran.stdout);
    }
}

#[test]
fn requests_are_valid_under_every_strategy() {
    let sandbox = Sandbox::new();
    for strategy in ["structured", "narrative", "truncate", "emergency"] {
        for (to, check) in
            [("openai", check_openai as fn(&Value) -> Vec<String>), ("anthropic", check_anthropic)]
        {
            let out = format!("{strategy}-{to}");
            let log = fixture(CHAT);
            check_ran(&sandbox.run(&["compact", &log, "--out", &out, "--to", to, "-s", strategy]), 0, &[]);
            for number in 1..=3 {
                let name = format!("{out}/three-conversations-xml-chinese-parts-{number}.{to}");
                assert_eq!(check(&json(&sandbox, &format!("{name}.json"))), Vec::<String>::new(), "{name}");
                let report = json(&sandbox, &format!("{name}.report.json"));
                assert_eq!(report["strategy_used"], strategy);
                let dropped = report["dropped"].as_array().expect("a list");
                assert_eq!(report["messages_dropped"], dropped.len(), "{name}");
                assert!(dropped.iter().all(|it| it["line"] == number), "{name}");
            }
        }
    }
}

#[test]
fn a_compacted_session_can_be_compacted_again() {
    let sandbox = Sandbox::new();
    check_ran(&sandbox.run(&["compact", &fixture(PI), "--out", "one", "--to", "canonical"]), 0, &[]);
    let name = "v3-orchard-cache-branch.canonical.jsonl";
    let once = ingest(&std::fs::read(sandbox.path("one").join(name)).expect("a file"), name);
    assert!(once.sessions[0].starts_compacted);
    let again = ["compact", "one", "--out", "two", "--to", "anthropic", "-s", "truncate"];
    check_ran(&sandbox.run(&again), 0, &[]);
    assert_eq!(
        check_anthropic(&json(&sandbox, "two/v3-orchard-cache-branch.anthropic.json")),
        Vec::<String>::new()
    );
}

#[test]
fn what_cannot_be_compacted_is_named() {
    let sandbox = Sandbox::new();
    let chat = fixture(CHAT);
    check_ran(
        &sandbox.run(&["compact", &chat, "--out", "o"]),
        2,
        &["openai-chat has no record", "--to openai"],
    );
    // The rest goes on.
    let ran = sandbox.run(&["compact", &chat, &fixture(PI), "--out", "o"]);
    check_ran(&ran, 3, &["session three-conversations-xml-chinese-parts#2: openai-chat has no record"]);
    assert!(ran.stdout.contains("v3-orchard-cache-branch.jsonl"), "{}", ran.stdout);
    check_ran(&sandbox.run(&["compact", &fixture(PI), "--out", "o"]), 2, &["exists already", "--force"]);
    check_ran(&sandbox.run(&["compact", &fixture(PI), "--out", "o", "--force"]), 0, &[]);
    sandbox.file("short.jsonl", "{\"role\":\"user\",\"content\":\"hello\"}\n");
    let short = ["compact", "short.jsonl", "--out", "o", "--to", "openai"];
    check_ran(
        &sandbox.run(&short),
        2,
        &["short.jsonl: session short: nothing can leave", "nothing was compacted"],
    );
    let document = fixture("codex/legacy-single-document.json");
    check_ran(
        &sandbox.run(&["compact", &document, "--out", "o"]),
        2,
        &["a single document", "--to canonical"],
    );
    // A log and its report are written both or not at all.
    sandbox.file("half/three-conversations-xml-chinese-parts-1.openai.report.json", "mine");
    let ran = sandbox.run(&["compact", &chat, "--out", "half", "--to", "openai"]);
    let written = names(&sandbox, "half");
    assert_eq!((ran.code, written.len()), (3, 5), "{ran:?} {written:?}");
    assert!(written.iter().all(|name| !name.ends_with("-1.openai.json")), "{written:?}");
    // The log itself is never replaced.
    sandbox.file("logs/x.jsonl", bytes(PI));
    let itself = ["compact", "logs/x.jsonl", "--out", "logs", "--force"];
    check_ran(&sandbox.run(&itself), 2, &["is a log that is read here", "give another --out"]);
    assert_eq!(std::fs::read(sandbox.path("logs/x.jsonl")).expect("a file"), bytes(PI));
}

#[test]
fn one_session_of_several_is_taken() {
    let sandbox = Sandbox::new();
    let log = fixture("claude-code/price-split-and-mobile-layout.jsonl");
    check_ran(&sandbox.run(&["compact", &log, "--out", "all"]), 0, &["1 session of sub-agents left out"]);
    let third = ["compact", &fixture(CHAT), "--out", "o", "--to", "openai"];
    let with = |id: &'static str| sandbox.run(&[&third[..], &["--session", id]].concat());
    check_ran(&with("three-conversations-xml-chinese-parts#3"), 0, &[]);
    let made = names(&sandbox, "o");
    let base = "three-conversations-xml-chinese-parts";
    assert_eq!(made, [format!("{base}.openai.json"), format!("{base}.openai.report.json")]);
    check_ran(&with("nobody"), 2, &["no session begins with \"nobody\""]);
}

#[test]
fn settings_that_say_nothing_are_refused() {
    let sandbox = Sandbox::new();
    let log = fixture(PI);
    for (setting, says) in [
        (&["-s", "none"][..], "never compacts"),
        (&["-s", "structred"], "did you mean `structured`"),
        (&["--window", "64k", "--cycles", "2"], "--cycles"),
        (&["--window", "10"], "at least 400"),
        (&["--to", "latin"], "latin"),
        (&["--profile", "mine"], "standard"),
    ] {
        let ran = sandbox.run(&[&["compact", &log, "--out", "o"], setting].concat());
        check_ran(&ran, 2, &[says]);
    }
    check_ran(&sandbox.run(&["compact", &log]), 2, &["--out"]);
    check_ran(&sandbox.run(&["convert", &log, "--force"]), 2, &["--out"]);
    for setting in [&["--window", "4k"][..], &["--cycles", "2"], &["--summary-tokens", "300"]] {
        let ran = sandbox.run(&[&["compact", &log, "--out", "o", "--force"], setting].concat());
        check_ran(&ran, 0, &[]);
    }
}
