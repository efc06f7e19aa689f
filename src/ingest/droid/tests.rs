//! Tests of the Droid reader.

use crate::ingest::ingest;
use crate::ingest::sketch::{check, check_odd_values, codes};

const STORE: &str = r#"{"type":"session_start","id":"d-1","title":"t","owner":"o","cwd":"/w"}
{"type":"message","id":"a","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>x</system-reminder>\n\ngo"}]}}
{"type":"message","id":"b","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"c1","name":"Execute","input":{"command":"x"}},{"type":"tool_use","id":"c2","name":"Read","input":{"file_path":"/w/a"}}]}}
{"type":"message","id":"c","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"Error: Command failed (exit code: 4)\nno"}]}}
{"type":"todo_state","todos":[]}
{"type":"compaction_state","summaryText":"so far"}
{"type":"message","id":"d","message":{"role":"assistant","content":"done"}}
{"type":"omen"}"#;

const STREAM: &str = r#"{"type":"system","subtype":"init","sessionId":"d-2","timestamp":1767812640310,"model":"m-1","cwd":"/w"}
{"type":"message","sessionId":"d-2","role":"user","text":"go","id":"m1"}
{"type":"tool_call","sessionId":"d-2","id":"c1","toolName":"Execute","parameters":{"command":"x"}}
{"type":"tool_call","session_id":"d-2","toolCallId":"c2","toolName":"Read","parameters":{"file_path":"a"}}
{"type":"tool_result","sessionId":"d-2","id":"c1","value":{"stdout":"out","stderr":"err","exitCode":1}}
{"type":"tool_result","session_id":"d-2","toolCallId":"c2","isError":true,"value":"gone"}
{"type":"message","sessionId":"d-2","role":"assistant","text":"near"}
{"type":"completion","sessionId":"d-2","finalText":"done","usage":{"input_tokens":9}}
{"type":"error","message":"key","session_id":"d-2"}"#;

#[test]
fn a_stored_session() {
    let (session, read) = check(
        STORE,
        &[
            r#"U ~"<system-reminder>x</system-reminder>" "go""#,
            "A (hm) Execute#c1 Read#c2",
            r#"T c1=failed/4 "Error: Command failed (exit code: 4)\nno""#,
            r#"A "done""#,
        ],
    );
    assert_eq!((session.id.as_str(), session.messages[0].cwd.as_deref()), ("d-1", Some("/w")));
    assert_eq!(
        (session.recorded[0].summary.as_deref(), session.recorded[0].kept_unknown),
        (Some("so far"), true)
    );
    assert_eq!((read.raw.messages, read.raw.tool_calls, read.raw.compactions), (4, 2, 1));
    assert_eq!(codes(&read), ["kept-unknown", "unknown-record"]);
}

#[test]
fn a_stream_ends_with_the_last_reply() {
    let expected = [
        r#"U "go""#,
        "A Execute#c1 Read#c2",
        r#"T c1=failed/1 "out\nerr""#,
        r#"T c2=failed "gone""#,
        r#"A "near" "done""#,
    ];
    let (session, read) = check(STREAM, &expected);
    assert_eq!(
        (session.id.as_str(), session.model.as_deref(), session.refusals.len()),
        ("d-2", Some("m-1"), 1)
    );
    assert_eq!((read.raw.messages, read.raw.tool_calls, codes(&read)), (2, 2, vec![]));
    let (_, _) = check(
        &STREAM.replace("\"near\"", "\"done\""),
        &[expected[0], expected[1], expected[2], expected[3], r#"A "done""#],
    );
}

#[test]
fn settings_are_no_session() {
    let settings = r#"{"assistantActiveTimeMs":1,"model":"m","tokenUsage":{"inputTokens":1}}"#;
    let read = ingest(settings.as_bytes(), "a.settings.json");
    assert_eq!((read.sessions.len(), codes(&read)), (0, vec!["part-of-log"]));
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(STORE);
    check_odd_values(STREAM);
}
