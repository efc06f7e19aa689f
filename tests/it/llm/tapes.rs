//! Replies that are kept: what is replayed, what is missing, and what a stopped run leaves.

use super::{Server, model, replay, replay_in, session, written};
use crate::support::{Sandbox, fixture};
use std::path::Path;

/// Names of the files in a directory, in order.
fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_replay_asks_nobody_and_gives_the_same_bytes_on_any_number_of_threads() {
    let server = Server::start(model);
    let sandbox = Sandbox::new();
    let log = fixture("pi");
    let arguments = ["-s", "structured,narrative,truncate", "--cassettes", "tapes"];
    let done = replay_in(sandbox, &log, &server.url(), &arguments);
    assert_eq!(done.ran.code, 0, "{}", done.all());
    let tapes = names(&done.sandbox.path("tapes"));
    let asked = server.connections();
    assert_eq!(tapes.len(), asked, "a file for each request");
    let first = written(&done.sandbox.path("out"));
    for jobs in ["1", "2", "7"] {
        let mode = ["--cassette-mode", "replay", "--jobs", jobs, "--concurrency", jobs];
        let again =
            replay_in(done.sandbox.clone_dir(), &log, &server.url(), &[&arguments[..], &mode].concat());
        assert_eq!(again.ran.code, 0, "{}", again.all());
        assert_eq!(written(&again.sandbox.path("out")), first, "{jobs}");
        assert!(again.ran.stderr.contains("0 requests"), "{}", again.ran.stderr);
    }
    assert_eq!(server.connections(), asked, "no socket was opened");
    // Without a server, an address or a key it is the same.
    let sandbox = done.sandbox.clone_dir();
    let all = [
        &["replay", log.as_str(), "--summarizer", "llm", "--model", "served", "--out", "out"],
        &arguments[..],
        &["--cassette-mode", "replay"],
    ]
    .concat();
    let ran = sandbox.run(&all);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(written(&sandbox.path("out")), first);
    // So is a run that may ask and need not.
    let auto = replay_in(done.sandbox.clone_dir(), &log, &server.url(), &arguments);
    assert_eq!((written(&auto.sandbox.path("out")), server.connections()), (first, asked));
}

#[test]
fn recording_asks_anew() {
    let server = Server::start(model);
    let done = replay(&server, &["-w", "900", "-s", "structured", "--cassettes", "tapes"]);
    let asked = server.connections();
    let mode = ["-w", "900", "-s", "structured", "--cassettes", "tapes", "--cassette-mode", "record"];
    let again = replay_in(done.sandbox.clone_dir(), &session(), &server.url(), &mode);
    assert_eq!((again.ran.code, server.connections()), (0, 2 * asked), "{}", again.all());
    assert_eq!(names(&done.sandbox.path("tapes")), names(&again.sandbox.path("tapes")));
}

#[test]
fn a_reply_that_is_missing_is_an_error_that_names_the_request_or_is_written_here() {
    let server = Server::start(model);
    let run = ["-w", "900", "-s", "structured", "--cassettes", "tapes"];
    let done = replay(&server, &run);
    let tapes = names(&done.sandbox.path("tapes"));
    std::fs::remove_file(done.sandbox.path("tapes").join(&tapes[0])).expect("a file");
    let again = |more: &[&str]| {
        let mode = ["--cassette-mode", "replay"];
        replay_in(done.sandbox.clone_dir(), &session(), &server.url(), &[&run[..], &mode, more].concat())
    };
    let asked = server.connections();
    let missing = again(&[]);
    assert_eq!(missing.ran.code, 2, "{}", missing.all());
    for text in [tapes[0].as_str(), "served", "messages", "tokens", "session.jsonl"] {
        assert!(missing.ran.stderr.contains(text), "{text}: {}", missing.ran.stderr);
    }
    let stood_in = again(&["--on-miss", "extractive"]);
    assert_eq!(stood_in.ran.code, 0, "{}", stood_in.all());
    let reasons: Vec<String> = stood_in.fates().into_iter().map(|(_, reason)| reason).collect();
    assert!(reasons.iter().any(|reason| reason.contains("embedded summarizer")), "{reasons:?}");
    assert_eq!(server.connections(), asked);
}

#[test]
fn files_that_are_no_cassettes_are_named() {
    let server = Server::start(model);
    let done = replay(&server, &["-w", "900", "-s", "structured", "--cassettes", "tapes"]);
    let dir = done.sandbox.path("tapes");
    let tapes = names(&dir);
    assert!(tapes.len() >= 3);
    let sound = done.sandbox.run(&["cassettes", "verify", "tapes"]);
    assert_eq!(
        (sound.code, sound.stdout.as_str()),
        (0, &*format!("{} cassettes sound, 0 damaged\n", tapes.len()))
    );
    let damage = |name: &str, change: &dyn Fn(String) -> String| {
        let path = dir.join(name);
        std::fs::write(&path, change(std::fs::read_to_string(&path).expect("text"))).expect("a file");
    };
    damage(&tapes[0], &|text| text.replace("Go on", "Give up").replace("[User]", "[Someone]"));
    damage(&tapes[1], &|text| text.chars().take(200).collect());
    std::fs::write(dir.join(".cassette-left"), "{").expect("a file");
    let found = done.sandbox.run(&["cassettes", "verify", "tapes"]);
    assert_eq!(found.code, 3, "{}", found.stdout);
    for (name, cause) in
        [(&*tapes[0], "was changed"), (&*tapes[1], "is no cassette"), (".cassette-left", "stopped")]
    {
        let line = found.stderr.lines().find(|line| line.contains(name)).expect("it is named");
        assert!(line.contains(cause), "{line}");
    }
    // A run does not go on with one of them, nor over it.
    let mode = ["-w", "900", "-s", "structured", "--cassettes", "tapes"];
    let again = replay_in(done.sandbox.clone_dir(), &session(), &server.url(), &mode);
    assert_eq!(again.ran.code, 2, "{}", again.all());
    assert!(again.ran.stderr.contains("record it again"), "{}", again.ran.stderr);
}

#[test]
fn pruning_leaves_what_runs_used() {
    let server = Server::start(model);
    let tapes = ["--cassettes", "tapes"];
    let done = replay(&server, &[&["-w", "900", "-s", "structured"], &tapes[..]].concat());
    let kept = names(&done.sandbox.path("tapes"));
    let log = session();
    let url = server.url();
    let other = [
        "replay",
        &log,
        "--summarizer",
        "llm",
        "--model",
        "served",
        "--base-url",
        &url,
        "-w",
        "900",
        "-s",
        "narrative",
        "--out",
        "other",
        "--cassettes",
        "tapes",
    ];
    assert_eq!(done.sandbox.run(&other).code, 0);
    let all = names(&done.sandbox.path("tapes"));
    assert!(all.len() > kept.len());
    std::fs::write(done.sandbox.path("tapes").join(".cassette-left"), "{").expect("a file");
    let prune =
        |more: &[&str]| done.sandbox.run(&[&["cassettes", "prune", "tapes", "--used-by"], more].concat());
    let both = prune(&["out", "other", "--dry-run"]);
    assert_eq!((both.code, both.stdout.as_str()), (0, ".cassette-left\n"), "{}", both.stderr);
    let told = prune(&["out", "--dry-run"]);
    assert_eq!(told.stdout.lines().count(), all.len() - kept.len() + 1);
    assert_eq!(names(&done.sandbox.path("tapes")).len(), all.len() + 1, "only said");
    assert_eq!(prune(&["out"]).code, 0);
    assert_eq!(names(&done.sandbox.path("tapes")), kept);
    // Whichever verb wrote the results, they tell what they came from.
    let mut used = vec!["out"];
    let model = ["--model", "served", "--base-url", &url, "--cassettes", "tapes"];
    let asks = ["--summarizer", "llm"];
    for (verb, arguments) in [
        (
            "compacted",
            vec![
                "compact",
                &log,
                "--to",
                "openai",
                "-w",
                "900",
                "--summary-tokens",
                "150",
                "--out",
                "compacted",
            ],
        ),
        ("tuned", vec!["tune", &log, "--set", "keep.share=0.2,0.3", "--cycles", "1", "--out", "tuned"]),
        (
            "asked",
            vec![
                "probes",
                "emit",
                &log,
                "-w",
                "900",
                "--summary-tokens",
                "160",
                "-s",
                "structured",
                "--out",
                "asked",
            ],
        ),
        ("asked", vec!["probes", "run", "asked"]),
    ] {
        let asks = if arguments.contains(&"run") { &[][..] } else { &asks[..] };
        let before = names(&done.sandbox.path("tapes")).len();
        let ran = done.sandbox.run(&[&arguments[..], asks, &model[..]].concat());
        assert!([0, 3].contains(&ran.code), "{verb}: {}{}", ran.stdout, ran.stderr);
        assert!(names(&done.sandbox.path("tapes")).len() > before, "{verb} asked for nothing");
        used.push(verb);
        let gone = prune(&[&used[..], &["--dry-run"]].concat());
        assert_eq!((gone.code, gone.stdout.as_str()), (0, ""), "{verb}: {}", gone.stderr);
    }
    assert_eq!(prune(&["out"]).code, 0);
    // A run without cassettes would have all of them removed.
    assert_eq!(done.sandbox.run(&["replay", &log, "-w", "900", "--out", "plain"]).code, 0);
    let refused = prune(&["plain"]);
    assert!(refused.code == 2 && refused.stderr.contains("used no cassettes"), "{}", refused.stderr);
    assert_eq!(names(&done.sandbox.path("tapes")), kept);
    for (arguments, cause) in [(["verify", "nowhere"], "nowhere"), (["verify", "out"], "holds no cassette")] {
        let ran = done.sandbox.run(&[&["cassettes"], &arguments[..]].concat());
        assert!(ran.code == 2 && ran.stderr.contains(cause), "{}", ran.stderr);
    }
}

#[test]
fn cassettes_hold_no_address() {
    let server = Server::start(model);
    let done = replay(&server, &["-w", "900", "--cassettes", "tapes"]);
    let all = written(&done.sandbox.path("tapes"));
    for text in ["127.0.0.1", &server.url(), "authorization", "api-key", "user-agent"] {
        assert!(!all.to_lowercase().contains(text), "{text}");
    }
}

#[test]
fn a_place_where_no_reply_can_be_kept_is_told_before_one_is_asked_for() {
    let server = Server::start(model);
    let sandbox = Sandbox::new();
    sandbox.file("taken", "a file");
    let sandbox = {
        let done = replay_in(sandbox, &session(), &server.url(), &["-w", "900", "--cassettes", "taken"]);
        assert!(done.ran.code == 2 && done.ran.stderr.contains("taken"), "{}", done.all());
        done.sandbox
    };
    // Results are replaced, cassettes stay: one does not lie in the other.
    let done = replay_in(sandbox, &session(), &server.url(), &["-w", "900", "--cassettes", "out/tapes"]);
    assert!(done.ran.code == 2 && done.ran.stderr.contains("beside it"), "{}", done.all());
    assert_eq!(server.connections(), 0);
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_no_cassette() {
    let server = Server::start(model);
    let run = ["-w", "900", "-s", "structured", "--cassettes", "tapes"];
    let done = replay(&server, &run);
    let tapes = names(&done.sandbox.path("tapes"));
    let path = done.sandbox.path("tapes").join(&tapes[0]);
    std::fs::remove_file(&path).expect("a file");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
    // Nobody will ever write to it.
    let found = done.sandbox.run(&["cassettes", "verify", "tapes"]);
    assert!(found.code == 3 && found.stderr.contains("no regular file"), "{}", found.stderr);
    let log = session();
    let all = [
        &["replay", log.as_str(), "--summarizer", "llm", "--model", "served", "--cassette-mode", "replay"],
        &run[..],
    ]
    .concat();
    let ran = done.sandbox.run(&all);
    assert!(ran.code == 2 && ran.stderr.contains("no regular file"), "{}", ran.stderr);
}
