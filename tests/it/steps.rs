//! Compactions beside the trigger, through the real program: what logs record, and places named on the command line.

use crate::support::Sandbox;
use compactor::export::canonical;
use compactor::ingest::ingest;

const TOO_LONG: &str = "prompt is too long: 210000 tokens > 200000 maximum";

/// A log of each format in which the second request was refused, with the message that stands behind it and its line.
fn refused() -> [(&'static str, String, u32, u32); 3] {
    let claude = [
        r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","timestamp":"2026-01-02T03:04:05Z","message":{"role":"user","content":"fix src/a.rs"}}"#.to_owned(),
        r#"{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"s","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"text","text":"I begin"}],"usage":{"input_tokens":5,"output_tokens":2}}}"#.to_owned(),
        r#"{"type":"user","uuid":"c","parentUuid":"b","sessionId":"s","message":{"role":"user","content":"go on"}}"#.to_owned(),
        format!(r#"{{"type":"assistant","uuid":"d","parentUuid":"c","sessionId":"s","isApiErrorMessage":true,"message":{{"id":"m2","role":"assistant","model":"<synthetic>","content":[{{"type":"text","text":"API Error: 400 {TOO_LONG}"}}],"usage":{{"input_tokens":0,"output_tokens":0}}}}}}"#),
        r#"{"type":"assistant","uuid":"e","parentUuid":"d","sessionId":"s","message":{"id":"m3","role":"assistant","model":"m","content":[{"type":"text","text":"done"}],"usage":{"input_tokens":5,"output_tokens":2}}}"#.to_owned(),
    ];
    let pi = [
        r#"{"type":"session","version":3,"id":"p","timestamp":"2026-01-02T03:04:05Z","cwd":"/w"}"#.to_owned(),
        r#"{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"fix src/a.rs"}}"#.to_owned(),
        format!(r#"{{"type":"message","id":"2","parentId":"1","message":{{"role":"assistant","content":[],"stopReason":"error","errorMessage":"400 {TOO_LONG}"}}}}"#),
        r#"{"type":"message","id":"3","parentId":"2","message":{"role":"assistant","content":[{"type":"text","text":"done"}],"stopReason":"stop"}}"#.to_owned(),
    ];
    let codex = [
        r#"{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"x","cwd":"/w"}}"#.to_owned(),
        r#"{"timestamp":"2026-01-02T03:04:06Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"fix src/a.rs"}]}}"#.to_owned(),
        format!(r#"{{"timestamp":"2026-01-02T03:04:07Z","type":"event_msg","payload":{{"type":"error","message":"{TOO_LONG}"}}}}"#),
        r#"{"timestamp":"2026-01-02T03:04:08Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}}"#.to_owned(),
    ];
    [("claude-code", claude.join("\n"), 3, 4), ("pi", pi.join("\n"), 1, 3), ("codex", codex.join("\n"), 1, 3)]
}

#[test]
fn readers_keep_refused_requests_apart_from_messages() {
    for (format, log, before, line) in refused() {
        let read = ingest(log.as_bytes(), "log.jsonl");
        assert_eq!(read.format.map(compactor::ingest::Format::name), Some(format));
        let [session] = read.sessions.as_slice() else {
            panic!("{format}: {} sessions", read.sessions.len())
        };
        let [refusal] = session.refusals.as_slice() else { panic!("{format}: {:?}", session.refusals) };
        assert_eq!((refusal.before.0, refusal.line), (before, line), "{format}");
        assert!(refusal.text.contains(TOO_LONG), "{format}: {}", refusal.text);
        let written = canonical::document([session]);
        assert_eq!(
            ingest(written.as_bytes(), "log.canonical.jsonl").sessions.as_slice(),
            std::slice::from_ref(session),
            "{format}"
        );
    }
}

/// A conversation of chat messages in turns, with a line of the person put in after so many of them.
fn chat(turns: usize, put_in: Option<(usize, &str)>) -> String {
    let mut lines = Vec::new();
    for turn in 0..turns {
        if let Some((_, text)) = put_in.filter(|(at, _)| *at == turn) {
            lines.push(format!(r#"{{"role":"user","content":"{text}"}}"#));
        }
        let words = "word ".repeat(60);
        lines.push(format!(r#"{{"role":"user","content":"please change src/part{turn}.rs {words}"}}"#));
        lines.push(format!(r#"{{"role":"assistant","content":"part {turn} is changed {words}"}}"#));
    }
    lines.join("\n") + "\n"
}

/// The exit code of a replay, and columns of its cycles.
fn columns<const N: usize>(
    sandbox: &Sandbox,
    arguments: &[&str],
    names: [&str; N],
) -> (i32, Vec<[String; N]>) {
    let out = sandbox.path("out");
    let out = out.to_str().expect("a path of UTF-8");
    let all = [&["replay", "chat.jsonl", "-s", "structured", "-q", "--out", out], arguments].concat();
    let ran = sandbox.run(&all);
    let text = std::fs::read(sandbox.path("out/cycles.csv")).expect("cycles.csv");
    let mut reader = csv::Reader::from_reader(text.as_slice());
    let headers = reader.headers().expect("a header").clone();
    let at = names.map(|name| headers.iter().position(|known| known == name).expect(name));
    let rows = reader.records().map(|row| {
        let row = row.expect("a row");
        at.map(|at| row.get(at).unwrap_or_default().to_owned())
    });
    (ran.code, rows.collect())
}

/// The exit code of a replay, and per cycle the message, the cause and the window.
fn cycles(sandbox: &Sandbox, arguments: &[&str]) -> (i32, Vec<(String, String, String)>) {
    let (code, rows) = columns(sandbox, arguments, ["trigger_message", "cause", "window"]);
    (code, rows.into_iter().map(|[message, cause, window]| (message, cause, window)).collect())
}

#[test]
fn a_recorded_command_counts_where_the_window_is_given() {
    let sandbox = Sandbox::new();
    sandbox.file("chat.jsonl", chat(60, Some((40, "/compact"))));
    let manual = |arguments: &[&str]| {
        let (_, rows) = cycles(&sandbox, arguments);
        rows.into_iter().filter(|(_, cause, _)| cause == "manual").map(|(at, ..)| at).collect::<Vec<_>>()
    };
    assert_eq!(manual(&["--window", "200k"]), ["80"]);
    assert_eq!(manual(&["--window", "200k", "--recorded", "ignore"]), Vec::<String>::new());
    assert_eq!(manual(&[]), Vec::<String>::new());
    assert_eq!(manual(&["--cycles", "3", "--recorded", "follow"]), ["80"]);
}

#[test]
fn places_are_compacted_at_the_window_of_the_model_unless_another_is_named() {
    let sandbox = Sandbox::new();
    sandbox.file("chat.jsonl", chat(60, None));
    let row = |at: &str, cause: &str, window: &str| (at.to_owned(), cause.to_owned(), window.to_owned());
    let (code, rows) = cycles(&sandbox, &["--compact-at", "40,80:2k"]);
    assert_eq!((code, rows), (0, vec![row("40", "manual", "128000"), row("80", "manual", "128000")]));
    let (_, rows) = cycles(&sandbox, &["--compact-at", "40:1k", "--window", "64k"]);
    assert_eq!(rows, vec![row("40", "manual", "64000")]);
    let (_, rows) = cycles(&sandbox, &["--compact-at", "40:1k", "--cycles", "2"]);
    assert_eq!(rows.len(), 2, "{rows:?}");
}

#[test]
fn a_context_in_which_nothing_may_leave_is_told_apart_from_one_that_does_not_fit() {
    let sandbox = Sandbox::new();
    sandbox.file("chat.jsonl", chat(60, None));
    // A tail of 100k tokens holds all of it: nothing can leave, and yet it fits.
    let (_, rows) = columns(
        &sandbox,
        &["-p", "opal", "--compact-at", "40:100k"],
        ["unfit", "uncut", "fallback_reason", "largest_line"],
    );
    let [[unfit, uncut, why, line]] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!((unfit.as_str(), uncut.as_str()), ("false", "true"));
    assert!(why.contains("may stay") && !line.is_empty(), "{rows:?}");
}

#[test]
fn places_that_are_none_are_refused_or_named() {
    let sandbox = Sandbox::new();
    sandbox.file("chat.jsonl", chat(10, None));
    for wrong in ["0", "-3", "ten", "", "4:", "4:x", "4:0", "4:8k:2"] {
        let ran = sandbox.run(&["replay", "chat.jsonl", &format!("--compact-at={wrong}")]);
        assert_eq!(ran.code, 2, "{wrong}: {}", ran.stderr);
        assert!(ran.stderr.contains("--compact-at"), "{wrong}: {}", ran.stderr);
    }
    let ran = sandbox.run(&["replay", "chat.jsonl", "--compact-at", "500"]);
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("500"), "{}", ran.stderr);
    let ran = sandbox.run(&["show", "chat.jsonl", "-s", "recorded", "--compact-at", "5"]);
    assert_eq!(ran.code, 2);
}
