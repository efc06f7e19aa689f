//! Tests of the Qwen Code reader.

use crate::ingest::sketch::{check, check_odd_values, codes, read_one};
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
        session.messages[1].usage,
        Some(Usage { input: 100, cache_read: 60, cache_write: 0, output: 25 })
    );
    assert_eq!(
        (session.id.as_str(), session.model.as_deref(), session.context_window),
        ("q-1", Some("qwen-x"), Some(1000))
    );
    assert_eq!((session.messages[0].cwd.as_deref(), session.starts_midway), (Some("/w"), false));
    assert_eq!(codes(&read), Vec::<&str>::new());
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
