use super::super::sketch::{check, check_odd_values, codes};
use crate::transcript::Usage;

fn session(items: &[&str]) -> String {
    format!(
        r#"{{"sessionId":"s-1","title":"t","workspaceDirectory":"file:///w","chatModelTitle":"m-1","history":[{}]}}"#,
        items.join(",")
    )
}

const ORDINARY: [&str; 5] = [
    r#"{"message":{"role":"user","content":[{"type":"text","text":"fix it"}]},"contextItems":[{"name":"a.rs","content":"fn a() {}"}]}"#,
    r#"{"message":{"role":"assistant","content":"I look","toolCalls":[{"id":"c1","type":"function","function":{"name":"builtin_read_file","arguments":"{\"filepath\":\"a.rs\"}"}},{"id":"c2","type":"function","function":{"name":"builtin_run_terminal_command","arguments":"{}"}}],"usage":{"promptTokens":100,"completionTokens":5,"promptTokensDetails":{"cachedTokens":40}}},"reasoning":{"text":"hm"},"contextItems":[],"toolCallStates":[{"toolCallId":"c1","status":"done","output":[{"name":"r","content":"fn a() {}"}]},{"toolCallId":"c2","status":"canceled"}]}"#,
    r#"{"message":{"role":"tool","content":"fn a() {} // message","toolCallId":"c1"},"contextItems":[]}"#,
    r#"{"message":{"role":"thinking","content":"so"},"contextItems":[]}"#,
    r#"{"message":{"role":"assistant","content":"done"},"contextItems":[]}"#,
];

#[test]
fn a_message_answers_before_a_state() {
    let (session, read) = check(
        &session(&ORDINARY),
        &[
            r#"U ~"fn a() {}" "fix it""#,
            r#"A (hm) "I look" builtin_read_file#c1 builtin_run_terminal_command#c2"#,
            r#"T c2=failed """#,
            r#"T c1=unknown "fn a() {} // message""#,
            "A (so)",
            r#"A "done""#,
        ],
    );
    assert_eq!((read.raw.messages, read.raw.tool_calls), (5, 2));
    assert_eq!(session.model.as_deref(), Some("m-1"));
    assert_eq!(session.main_cwd(), Some("/w"));
    let usage = Usage { input: 100, cache_read: 40, cache_write: 0, output: 5 };
    assert_eq!(session.messages[1].usage.as_deref(), Some(&usage));
}

#[test]
fn a_summary_is_a_compaction_behind_its_item() {
    let (session, read) = check(
        &session(&[
            r#"{"message":{"role":"user","content":"a"}}"#,
            r#"{"message":{"role":"assistant","content":"b"},"conversationSummary":"a and b"}"#,
            r#"{"message":{"role":"user","content":"c"}}"#,
        ]),
        &[r#"U "a""#, r#"A "b""#, r#"U "c""#],
    );
    assert_eq!(read.raw.compactions, 1);
    assert_eq!(session.recorded[0].before.0, 2);
    assert_eq!(session.recorded[0].summary.as_deref(), Some("a and b"));
}

#[test]
fn the_index_is_no_log() {
    let index = r#"[{"sessionId":"s","title":"t","dateCreated":"1","workspaceDirectory":"/w"}]"#;
    let read = super::super::ingest(index.as_bytes(), "sessions.json");
    assert!(read.sessions.is_empty());
    assert_eq!(codes(&read), ["part-of-log"]);
}

#[test]
fn odd_values() {
    check_odd_values(&session(&ORDINARY));
}
