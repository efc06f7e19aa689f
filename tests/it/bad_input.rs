//! Bad input: named with cause and what to do, the rest runs, and the exit code tells.

use crate::support::{Sandbox, fixture};

fn good() -> String {
    fixture("pi/v1-linkprobe-timeouts-retries.jsonl")
}

/// A bad file beside a good one: the good one is measured, the bad one named, exit code 3.
fn check_beside_good(name: &str, content: &[u8], says: &str) {
    let sandbox = Sandbox::new();
    sandbox.file(name, content);
    let ran = sandbox.run(&["replay", name, &good()]);
    assert_eq!(ran.code, 3, "{name}: {ran:?}");
    assert!(ran.stderr.contains(name) && ran.stderr.contains(says), "{name}: {}", ran.stderr);
    assert!(ran.stdout.contains("structured"), "{}", ran.stdout);
}

/// A mistake that stops the run before it begins.
fn check_refused(arguments: &[&str], says: &[&str]) {
    let ran = Sandbox::new().run(arguments);
    assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
    for part in says {
        assert!(ran.stderr.contains(part), "{arguments:?} should say {part}: {}", ran.stderr);
    }
    assert_eq!(ran.stdout, "", "{arguments:?}");
}

#[test]
fn bad_files_beside_a_good_one() {
    check_beside_good("empty.jsonl", b"", "empty");
    check_beside_good("notes.jsonl", b"{\"a\":1}\n{\"b\":2}\n", "no known log format");
    check_beside_good("junk.jsonl", &[0u8, 159, 146, 150, 255, 0, 1, 2].repeat(100), "junk.jsonl");
}

#[test]
fn where_nothing_is_read_the_hint_names_no_formats() {
    let sandbox = Sandbox::new();
    sandbox.file("notes.jsonl", "{\"a\":1}\n{\"b\":2}\n");
    for verb in ["replay", "audit", "show"] {
        let ran = sandbox.run(&[verb, "notes.jsonl"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{verb}: {ran:?}");
        let hint = "hint: `compactor inspect --help` lists the formats that are read\n";
        assert!(ran.stderr.contains("no session could be read"), "{verb}: {}", ran.stderr);
        assert!(ran.stderr.ends_with(hint), "{verb}: {}", ran.stderr);
    }
}

#[test]
fn a_missing_file_beside_a_good_one() {
    let ran = Sandbox::new().run(&["replay", "absent.jsonl", &good()]);
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.contains("absent.jsonl"), "{}", ran.stderr);
}

#[test]
fn a_truncated_last_line_costs_that_line() {
    let text = std::fs::read_to_string(good()).expect("a fixture");
    let cut = text.floor_char_boundary(text.trim_end().len() - 40);
    let sandbox = Sandbox::new();
    sandbox.file("cut.jsonl", text.get(..cut).expect("a boundary"));
    let ran = sandbox.run(&["replay", "cut.jsonl"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let last = text.lines().count();
    assert!(ran.stderr.contains(&format!("cut.jsonl:{last}")), "{}", ran.stderr);
}

#[test]
fn nothing_measured_is_never_a_success() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "short.jsonl",
        "{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"assistant\",\"content\":\"hello\"}\n",
    );
    std::fs::create_dir(sandbox.path("nothing")).expect("a directory");
    for (input, says) in
        [("short.jsonl", "too short"), ("absent.jsonl", "absent.jsonl"), ("nothing", "nothing")]
    {
        let ran = sandbox.run(&["replay", input]);
        assert_eq!(ran.code, 2, "{input}: {ran:?}");
        assert!(
            ran.stderr.contains("nothing was measured") && ran.stderr.contains(says),
            "{input}: {}",
            ran.stderr
        );
        assert_eq!(ran.stdout, "", "{input}");
    }
}

#[test]
fn the_hint_fits_the_reason_why_nothing_was_measured() {
    let sandbox = Sandbox::new();
    let turn = |n: usize| {
        format!(
            "{{\"role\":\"user\",\"content\":\"{0}\"}}\n{{\"role\":\"assistant\",\"content\":\"{0}\"}}\n",
            "some words ".repeat(n)
        )
    };
    sandbox.file("large.jsonl", turn(2_000));
    sandbox.file("short.jsonl", turn(2));
    sandbox.file("packed.jsonl", b"\x1f\x8b\x08\n{}\n{}\n[".repeat(3));
    for (arguments, hint) in [
        (&["large.jsonl", "--strategy", "none"][..], "name another one with --strategy"),
        (&["large.jsonl", "--window", "1000"], "give a larger --window"),
        (&["short.jsonl", "--window", "8k"], "or a smaller --window"),
        (&["short.jsonl"], "hint: give longer logs\n"),
        (&["packed.jsonl"], "the gzip archive is cut off"),
    ] {
        let ran = sandbox.run(&[&["replay"], arguments].concat());
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(hint), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn a_text_that_quotes_a_record_is_no_log() {
    let sandbox = Sandbox::new();
    let record = "{\"role\":\"user\",\"content\":\"Hello\"}\n";
    let prose = "Some words about it.\n";
    sandbox.file("notes.md", [&prose.repeat(30), record, &prose.repeat(30)].concat());
    let ran = sandbox.run(&["convert", "notes.md"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(ran.stderr.contains("notes.md: a text: 1 of 61 lines are JSON"), "{}", ran.stderr);
    // A log with many bad lines, or a short one with some, stays one.
    for (records, bad) in [(40, 300), (1, 19)] {
        sandbox.file("log.jsonl", [record.repeat(records), prose.repeat(bad)].concat());
        let ran = sandbox.run(&["convert", "log.jsonl"]);
        assert_eq!(ran.stdout.matches("\"record\":\"message\"").count(), records, "{ran:?}");
    }
}

#[test]
fn usage_mistakes_name_what_would_be_right() {
    check_refused(&["replay"], &["Usage"]);
    check_refused(&["replay", "x", "--strategy", "structred"], &["structred", "did you mean `structured`"]);
    check_refused(&["replay", "x", "--profile", "standrad"], &["standrad", "did you mean `standard`"]);
    check_refused(&["replay", "x", "--window", "10"], &["at least 400"]);
    check_refused(&["replay", "x", "--window", "ten"], &["128k"]);
    check_refused(&["replay", "x", "--window", "8k", "--cycles", "3"], &["--cycles"]);
    check_refused(&["replay", "x", "--log-facts"], &["--out"]);
    check_refused(&["replay", "x", "--cycles", "0"], &["0"]);
    for verb in [&["replay", "x"][..], &["show", "x"], &["compact", "x", "--out", "o"]] {
        let arguments = [verb, &["--window", "8k", "--summary-tokens", "9k"]].concat();
        check_refused(&arguments, &["--summary-tokens 9000 is larger than a window of 8000 tokens"]);
    }
    check_refused(&["replay", "x", "--compact-at", "5:1k,9,5:2k"], &["names message 5 twice"]);
}

#[test]
fn a_recorded_compaction_takes_no_setting_of_a_replay() {
    let log = fixture("claude-code/retry-after-and-scheduler-rename.jsonl");
    for setting in [
        &["--window", "64k"][..],
        &["--cycles", "5"],
        &["--mode", "repeat"],
        &["--schedule", "locked"],
        &["--summary-tokens", "900"],
        &["--profile", "standard"],
    ] {
        let arguments = [&["show", &log, "-s", "recorded"], setting].concat();
        check_refused(
            &arguments,
            &["'--strategy recorded' cannot be used with", setting[0], "leave them out"],
        );
    }
    let both = ["show", &log, "-s", "recorded", "--mode", "grow", "--window", "64k"];
    check_refused(&both, &["'--window', '--mode'"]);
    assert_eq!(Sandbox::new().run(&["show", &log, "-s", "recorded", "--all", "-k", "1"]).code, 0);
}

#[test]
fn a_profile_with_a_mistake_is_refused_with_line_and_reason() {
    let sandbox = Sandbox::new();
    let standard = include_str!("../../src/profile/standard.toml");
    let check = |text: String, expect: &[&str]| {
        sandbox.file("mine.toml", text);
        let ran = sandbox.run(&["replay", &good(), "--profile", "mine.toml"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        for part in expect {
            assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
        }
    };
    check(standard.replace("landings", "landigs"), &["landigs", "line", "did you mean `landings`?"]);
    for (from, to, expect) in [
        ("tokens = 20000", "tokens = 127000", "reaches the trigger"),
        ("tokens = 20000", "tokens = -5", "invalid value"),
        ("tokens = 20000", "tokens = 9\nshare = 0.1", "exactly one of tokens, share, context and entries"),
        ("tokens = 20000", "entries = 4", "[keep] needs tokens, share or context"),
        ("window = 128000", "window = 0", "at least 1 token"),
        ("budget_tokens = 1000", "budget_tokens = 99000", "more than a quarter of the window"),
        ("{ share = 0.80 }", "{ reserve = 128000 }", "reaches the trigger"),
        ("{ share = 0.80 }", "{ share = 0.0 }", "must be above 0"),
        ("measure = \"counted\"\nlimit", "measure = \"usage\"\nlimit", "no table [estimate]"),
    ] {
        assert!(standard.contains(from), "{from}");
        check(standard.replace(from, to), &[expect]);
    }
    check("extends = \"sven\"\n[keep]\ntokens = 4000\n".to_owned(), &["[keep] needs entries"]);
    check("extends = \"pi\"\n[keep]\ntokens = -1\n".to_owned(), &["invalid value", "keep.tokens"]);
    let ran = sandbox.run(&["replay", &good(), "--profile", "opsl"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("did you mean `opal`"), "{}", ran.stderr);
}

#[test]
fn results_never_land_among_other_files() {
    let sandbox = Sandbox::new();
    sandbox.file("out/mine.txt", "precious");
    let ran = sandbox.run(&["replay", &good(), "--out", "out"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("mine.txt") && ran.stderr.contains("hint"), "{}", ran.stderr);
}

#[test]
fn a_model_without_a_known_window_is_named_with_the_window_that_is_assumed() {
    let sandbox = Sandbox::new();
    let log = |model: &str| {
        let words = "word ".repeat(200);
        let line = |turn: usize| {
            format!(
                "{{\"type\":\"user\",\"uuid\":\"u{turn}\",\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":\"go on {turn} {words}\"}}}}\n\
                 {{\"type\":\"assistant\",\"uuid\":\"a{turn}\",\"sessionId\":\"s\",\"message\":{{\"id\":\"m{turn}\",\"role\":\"assistant\",\"model\":\"{model}\",\"content\":[{{\"type\":\"text\",\"text\":\"done {turn} {words}\"}}]}}}}\n"
            )
        };
        (0..400).map(line).collect::<String>()
    };
    sandbox.file("unknown.jsonl", log("frobnicator-9"));
    sandbox.file("known.jsonl", log("claude-sonnet-4"));
    for verb in [
        &["replay", "FILE", "-s", "truncate", "--window", "auto"][..],
        &["show", "FILE", "--window", "auto"],
        &["compact", "FILE", "--out", "out", "--force", "--to", "openai"],
    ] {
        for (file, named) in [("unknown.jsonl", true), ("known.jsonl", false)] {
            let arguments: Vec<&str> =
                verb.iter().map(|part| if *part == "FILE" { file } else { part }).collect();
            let ran = sandbox.run(&arguments);
            let says = ran.stderr.contains("frobnicator-9") && ran.stderr.contains("128000 tokens");
            assert_eq!(says, named, "{arguments:?}: {}", ran.stderr);
        }
    }
}
