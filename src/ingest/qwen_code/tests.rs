//! Tests of the Qwen Code reader.

use crate::ingest::ingest;
use crate::ingest::sketch::{check, check_odd_values, codes, read_one, sketch};
use crate::transcript::Usage;

/// A record: its id, what it follows, its type, and further fields.
fn record(uuid: &str, parent: &str, kind: &str, fields: &str) -> String {
    let parent = if parent == "-" { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"uuid":"{uuid}","parentUuid":{parent},"sessionId":"q-1","timestamp":"2026-01-01T00:00:00Z","type":"{kind}","cwd":"/w",{fields}}}"#
    )
}

fn says(role: &str, parts: &str) -> String {
    format!(r#""message":{{"role":"{role}","parts":[{parts}]}}"#)
}

fn log() -> String {
    let calls = r#"{"text":"hm","thought":true},{"functionCall":{"id":"c1","name":"read_file","args":{"file_path":"/w/a"}}},{"functionCall":{"id":"c2","name":"run_shell_command","args":{"command":"x"}}},{"functionCall":{"id":"c3","name":"edit","args":{}}}"#;
    let usage = r#","model":"qwen-x","contextWindowSize":1000,"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":20,"thoughtsTokenCount":5,"totalTokenCount":125,"cachedContentTokenCount":60}"#;
    let failed = r#"{"functionResponse":{"id":"c2","name":"run_shell_command","response":{"output":"Command: x\nOutput: y\nExit Code: 3\nSignal: 0"}}}"#;
    [
        record("a", "-", "user", &says("user", r#"{"text":"go"}"#)),
        record("x", "a", "assistant", &says("model", r#"{"text":"left"}"#)),
        record("r", "a", "system", r#""subtype":"rewind","systemPayload":{"targetUuid":"a"}"#),
        record("b", "r", "assistant", &says("model", r#"{"text":"let me see"}"#)),
        record("b", "r", "assistant", &(says("model", calls) + usage)),
        record(
            "c",
            "b",
            "tool_result",
            &(says("user", r#"{"functionResponse":{"id":"c1","response":{"output":"body"}}}"#)
                + r#","toolCallResult":{"callId":"c1","status":"success"}"#),
        ),
        record(
            "d",
            "c",
            "tool_result",
            &(says("user", failed) + r#","toolCallResult":{"status":"success"}"#),
        ),
        record(
            "n",
            "d",
            "user",
            &(says("user", r#"{"text":"a task ended"}"#)
                + r#","subtype":"notification","provenance":"system""#),
        ),
        record("e", "n", "assistant", &says("model", r#"{"text":"done"}"#)),
        record("s", "e", "system", r#""subtype":"session_artifact_snapshot","systemPayload":{}"#),
    ]
    .join("\n")
}

#[test]
fn the_path_to_the_last_record() {
    let (session, read) = check(
        &log(),
        &[
            r#"U "go""#,
            r#"A "let me see" (hm) read_file#c1 run_shell_command#c2 edit#c3"#,
            r#"T c1=ok "body""#,
            r#"T c2=failed/3 "Command: x\nOutput: y\nExit Code: 3\nSignal: 0""#,
            r#"U ~"a task ended""#,
            r#"A "done""#,
        ],
    );
    assert_eq!((read.raw.messages, read.raw.tool_calls), (6, 3));
    assert_eq!(
        session.messages[1].usage.as_deref(),
        Some(&Usage { input: 100, cache_read: 60, cache_write: 0, output: 25 })
    );
    assert_eq!(
        (session.id.as_str(), session.model.as_deref(), session.context_window),
        ("q-1", Some("qwen-x"), Some(1000))
    );
    assert_eq!((session.messages[0].cwd.as_deref(), session.starts_midway), (Some("/w"), false));
    assert_eq!(codes(&read), ["abandoned-branch"]);
}

fn user(uuid: &str, parent: &str, said: &str) -> String {
    record(uuid, parent, "user", &says("user", &format!("{{\"text\":\"{said}\"}}")))
}

fn reply(uuid: &str, parent: &str, said: &str) -> String {
    record(uuid, parent, "assistant", &says("model", &format!("{{\"text\":\"{said}\"}}")))
}

/// A line that is lost, or a parent that never was, costs no more than itself.
#[test]
fn a_lost_parent_is_the_record_before() {
    let lines = [
        user("a", "-", "1"),
        reply("b", "a", "2"),
        user("c", "b", "3"),
        reply("d", "c", "4"),
        user("e", "d", "5"),
    ];
    let all = [r#"U "1""#, r#"A "2""#, r#"U "3""#, r#"A "4""#, r#"U "5""#];
    let (session, read) = check(&lines.join("\n"), &all);
    assert_eq!((session.starts_midway, codes(&read)), (false, vec![]));
    for lost in 0..4 {
        let mut rest = lines.to_vec();
        rest[lost].truncate(60);
        let mut expected = all.to_vec();
        expected.remove(lost);
        let (session, read) = check(&rest.join("\n"), &expected);
        assert_eq!((session.starts_midway, codes(&read)), (lost == 0, vec!["bad-json"]));
    }
    check(&lines.join("\n").replace(r#""parentUuid":"b""#, r#""parentUuid":"gone""#), &all);
}

#[test]
fn order_is_that_of_the_chain() {
    let [a, b, c, d] = [user("a", "-", "1"), reply("b", "a", "2"), user("c", "b", "3"), reply("d", "c", "4")];
    let all = [r#"U "1""#, r#"A "2""#, r#"U "3""#, r#"A "4""#];
    check(&[&d, &c, &b, &a].map(String::as_str).join("\n"), &all);
    // Nothing is tied together where replies claim to begin.
    let untied =
        [&a, &b, &c, &d].map(|line| line.replacen(r#""parentUuid":"#, r#""parentUuid":null,"was":"#, 1));
    check(&untied.join("\n"), &all);
    // The same log twice behind itself, and a circle.
    let whole = [&a, &b, &c, &d].map(String::as_str).join("\n");
    let (_, read) = check(&format!("{whole}\n{whole}"), &all);
    assert_eq!(codes(&read), ["duplicate-record"]);
    let (_, read) = read_one(&whole.replace(r#""parentUuid":null"#, r#""parentUuid":"c""#));
    assert_eq!(codes(&read), ["parent-loop"]);
}

#[test]
fn each_session_of_a_file_is_one() {
    let one = [user("a", "-", "1"), reply("b", "a", "2")].join("\n");
    let other = [user("a", "-", "3"), reply("b", "a", "4"), reply("c", "gone", "5")].join("\n");
    let other = other.replace("q-1", "q-2");
    let read = ingest(format!("{one}\n{other}\n{{\"type\":\"user\"}}").as_bytes(), "log.jsonl");
    let shown: Vec<(&str, Vec<String>)> =
        read.sessions.iter().map(|session| (session.id.as_str(), sketch(session))).collect();
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        shown,
        [("q-1", lines(&[r#"U "1""#, r#"A "2""#])), ("q-2", lines(&[r#"U "3""#, r#"A "4""#, r#"A "5""#]))]
    );
}

#[test]
fn what_was_taken_back_and_what_is_unknown_is_named() {
    let lines = [
        user("a", "-", "1"),
        user("b", "a", "no"),
        reply("c", "b", "no"),
        record("x", "b", "omen", r#""k":1"#),
        "42".to_owned(),
        user("d", "a", "2"),
        r#"{"type":"portent"}"#.to_owned(),
    ];
    let (_, read) = check(&lines.join("\n"), &[r#"U "1""#, r#"U "2""#]);
    let shown: Vec<String> = read.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "line 2: abandoned-branch: a record of a branch that was rewound; left out (2 times, first here)",
            "line 4: unknown-record: record of unknown type \"omen\", left out",
            "line 5: unknown-record: a JSON value that is no object; ignored",
            "line 7: unknown-record: record of unknown type \"portent\", left out",
        ]
    );
}

#[test]
fn a_compressed_history_is_set_aside() {
    let history = |more: &str| {
        format!(
            r#""subtype":"chat_compression","systemPayload":{{"info":{{"originalTokenCount":90,"newTokenCount":30,"compressionStatus":1,"triggerReason":"manual"}},"compressedHistory":[{{"role":"user","parts":[{{"text":"<state_snapshot>s</state_snapshot>"}}]}},{{"role":"model","parts":[{{"text":"Got it."}}]}}{more}]}}"#
        )
    };
    let lines = |more: &str| {
        [
            record("a", "gone", "user", &says("user", r#"{"text":"go"}"#)),
            record("b", "a", "assistant", &says("model", r#"{"text":"hm","thought":true},{"text":"done"}"#)),
            record("c", "b", "system", &history(more)),
            record("d", "c", "assistant", &says("model", r#"{"text":"more"}"#)),
        ]
        .join("\n")
    };
    let (session, read) = check(
        &lines(r#",{"role":"model","parts":[{"text":"done"}]}"#),
        &[r#"U "go""#, r#"A (hm) "done""#, r#"A "more""#],
    );
    let recorded = &session.recorded[0];
    assert_eq!(recorded.summary.as_deref(), Some("<state_snapshot>s</state_snapshot>"));
    assert_eq!((recorded.before.0, recorded.kept.len(), recorded.trigger.as_deref()), (2, 1, Some("manual")));
    assert_eq!((recorded.tokens_before, recorded.tokens_after), (Some(90), Some(30)));
    assert_eq!((read.raw.compactions, session.starts_midway), (1, true));
    let (session, read) = read_one(&lines(r#",{"role":"user","parts":[{"text":"unheard"}]}"#));
    assert!(session.recorded[0].kept_unknown);
    assert_eq!(codes(&read), ["kept-unknown"]);
    check_odd_values(&lines(r#",{"role":"model","parts":[{"text":"done"}]}"#));
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(&log());
}
