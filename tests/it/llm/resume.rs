//! Runs that are stopped, and what is left of them.

use super::{Server, model, replay_in, rows, written};
use crate::support::{Sandbox, fixture};
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Sessions of a log of chats, each long enough to be compacted.
fn many(count: usize) -> String {
    let mut out = String::new();
    for session in 0..count {
        let mut messages = Vec::new();
        for turn in 0..6 {
            let text = format!(
                "Session {session}: change src/part_{turn}.rs so that the limit is {turn}{session} MB. "
            );
            messages.push(serde_json::json!({"role": "user", "content": text.repeat(6)}));
            messages.push(serde_json::json!({"role": "assistant", "content": format!("Changed src/part_{turn}.rs. ").repeat(20)}));
        }
        out += &serde_json::json!({"messages": messages}).to_string();
        out.push('\n');
    }
    out
}

/// Everything in a directory of results but the journal.
fn results(sandbox: &Sandbox) -> String {
    let journal = sandbox.path("out/sessions.journal");
    if journal.exists() {
        std::fs::remove_file(journal).expect("a file");
    }
    written(&sandbox.path("out"))
}

#[test]
fn a_run_that_is_killed_twenty_times_loses_nothing_that_was_done() {
    let slow = |seen: &super::Seen, number: usize| {
        std::thread::sleep(Duration::from_millis(20));
        model(seen, number)
    };
    let log = many(24);
    let sandbox = Sandbox::new();
    let path = sandbox.file("log.jsonl", &log).display().to_string();
    let server = Server::start(slow);
    let whole = replay_in(
        sandbox,
        "log.jsonl",
        &server.url(),
        &["-s", "structured,truncate", "--cassettes", "tapes"],
    );
    assert_eq!(whole.ran.code, 0, "{}", whole.all());
    assert!(!whole.sandbox.path("out/sessions.journal").exists(), "nothing is left of a run that is whole");
    let needed = server.seen().len();
    assert!(needed >= 48, "{needed}");
    let expect = results(&whole.sandbox);
    drop(path);

    let server = Server::start(slow);
    let sandbox = Sandbox::new();
    sandbox.file("log.jsonl", &log);
    let url = server.url();
    let run = |resume: bool| {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("compactor"));
        command.env_clear().env("HOME", sandbox.path("")).current_dir(sandbox.path(""));
        command.args(["replay", "log.jsonl", "--summarizer", "llm", "--base-url", &url, "--model", "served"]);
        command.args([
            "-s",
            "structured,truncate",
            "--cassettes",
            "tapes",
            "--out",
            "out",
            "--concurrency",
            "4",
        ]);
        command.args(resume.then_some("--resume"));
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs")
    };
    let mut finished = 0;
    for kill in 0..20u64 {
        let mut child = run(kill > 0);
        // Moments that look like chance and are the same in every run of the test.
        std::thread::sleep(Duration::from_millis(30 + (kill * 7_919) % 173));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        // What is kept only grows.
        let kept = std::fs::metadata(sandbox.path("out/sessions.journal")).map_or(0, |it| it.len());
        assert!(kept + 4_096 >= finished, "{kill}: {kept} of {finished}");
        finished = kept.max(finished);
    }
    assert!(run(true).wait().expect("it ends").success());
    assert!(results(&sandbox) == expect, "the results differ");
    // A kill costs the requests that were on their way, and no reply that had come.
    let asked = server.seen();
    let texts: BTreeSet<String> = asked.iter().map(|seen| seen.body.to_string()).collect();
    assert_eq!(texts.len(), needed);
    assert!(asked.len() <= needed + 20 * 4, "{} of {needed}", asked.len());
}

#[test]
fn resume_does_the_rest_and_no_more() {
    let server = Server::start(model);
    let arguments = ["-s", "structured,truncate", "--concurrency", "1", "--jobs", "1"];
    let run = |sandbox: Sandbox, more: &[&str]| {
        replay_in(sandbox, "log.jsonl", &server.url(), &[&arguments[..], more].concat())
    };
    let fresh = || {
        let sandbox = Sandbox::new();
        sandbox.file("log.jsonl", many(4));
        sandbox
    };
    let whole = run(fresh(), &[]);
    let needed = server.seen().len();
    let expect = results(&whole.sandbox);
    // A limit ends the run early; what it keeps is not asked for again.
    let half = (needed / 2).to_string();
    let cut = run(fresh(), &["--max-requests", &half]);
    assert_eq!(cut.ran.code, 3, "{}", cut.all());
    let failed =
        rows(&cut.sandbox.path("out"), "sessions.csv").iter().filter(|row| !row["error"].is_empty()).count();
    assert!(failed > 0);
    // Who begins anew gives up what was done, and is told.
    let anew = run(cut.sandbox.clone_dir(), &["--max-requests", "1"]);
    assert!(anew.ran.stderr.contains("of a run that was stopped are given up"), "{}", anew.ran.stderr);
    let asked_anew = server.seen().len() - needed - needed / 2;
    let rest = run(cut.sandbox, &["--resume"]);
    assert_eq!(rest.ran.code, 0, "{}", rest.all());
    assert!(rest.ran.stderr.contains("finished session"), "{}", rest.ran.stderr);
    let asked = server.seen().len() - asked_anew;
    // One session may have been under way.
    assert!(asked <= needed + needed + needed / 4 + 1, "{asked} of twice {needed}");
    assert!(results(&rest.sandbox) == expect, "the results differ");
    // Once more, with a session added: only that is asked for.
    let kept = run(fresh(), &["--resume"]);
    let before = server.seen().len();
    kept.sandbox.file("log.jsonl", many(5));
    let more = run(kept.sandbox, &["--resume"]);
    assert_eq!(more.ran.code, 0, "{}", more.all());
    assert_eq!(server.seen().len() - before, needed / 4);
    // Other settings are other results: nothing of it is taken.
    let before = server.seen().len();
    let other = run(more.sandbox, &["--resume", "--summary-tokens", "300"]);
    assert_eq!(other.ran.code, 0, "{}", other.all());
    assert_eq!(server.seen().len() - before, needed / 4 * 5);
}

#[test]
fn every_kind_of_row_comes_back_as_it_was() {
    let log = fixture("codex");
    let sandbox = Sandbox::new();
    let all = ["replay", &log, "--out", "out", "--log-facts", "--events", "-p", "standard,pi", "--resume"];
    let first = sandbox.run(&all);
    assert_eq!(first.code, 0, "{}", first.stderr);
    let journal = std::fs::read(sandbox.path("out/sessions.journal")).expect("it stays with --resume");
    let expect = results(&sandbox);
    std::fs::write(sandbox.path("out/sessions.journal"), &journal).expect("a file");
    let again = sandbox.run(&all);
    assert_eq!((again.code, &again.stdout), (0, &first.stdout), "{}", again.stderr);
    let grown = std::fs::read(sandbox.path("out/sessions.journal")).expect("a file");
    assert_eq!(grown.len(), journal.len(), "nothing was done again");
    assert!(results(&sandbox) == expect, "the results differ");
    let wrong = sandbox.run(&["replay", &log, "--resume"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("--out"), "{}", wrong.stderr);
}

#[test]
fn two_runs_do_not_write_to_one_directory() {
    let server = Server::start(|seen, number| {
        std::thread::sleep(Duration::from_millis(400));
        model(seen, number)
    });
    let sandbox = Sandbox::new();
    sandbox.file("log.jsonl", many(4));
    let url = server.url();
    let mut first = Command::new(assert_cmd::cargo::cargo_bin("compactor"));
    first.env_clear().env("HOME", sandbox.path("")).current_dir(sandbox.path(""));
    first.args([
        "replay",
        "log.jsonl",
        "--summarizer",
        "llm",
        "--base-url",
        &url,
        "--model",
        "served",
        "--out",
        "out",
    ]);
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    while server.connections() == 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let asked = || server.seen().len();
    let second = sandbox.run(&["replay", "log.jsonl", "--out", "out"]);
    assert!(second.code == 2 && second.stderr.contains("another run"), "{}", second.stderr);
    assert!(asked() > 0 && first.wait().expect("it ends").success());
    // The next one finds the directory free.
    assert_eq!(sandbox.run(&["replay", "log.jsonl", "--out", "out"]).code, 0);
}

#[test]
fn sessions_of_an_outage_are_asked_for_again() {
    // The first three requests of the server fail for good.
    let server = Server::start(|seen, number| match number {
        0..3 => super::Answer::Json(503, serde_json::json!({"error": {"message": "Overloaded"}})),
        _ => model(seen, number),
    });
    let sandbox = Sandbox::new();
    sandbox.file("log.jsonl", many(4));
    let arguments = ["-s", "structured", "--tries", "1", "--concurrency", "1", "--jobs", "1"];
    let run = |sandbox: Sandbox, more: &[&str]| {
        replay_in(sandbox, "log.jsonl", &server.url(), &[&arguments[..], more].concat())
    };
    let first = run(sandbox, &[]);
    assert_eq!(first.ran.code, 3, "{}", first.all());
    assert!(first.ran.stderr.contains("Overloaded"), "{}", first.ran.stderr);
    let second = run(first.sandbox, &["--resume"]);
    assert_eq!(second.ran.code, 0, "{}", second.all());
    assert!(second.fates().iter().all(|(used, reason)| used == "structured" && reason.is_empty()));
}
