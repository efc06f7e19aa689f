use super::super::sketch::{check, check_odd_values, codes};

fn conversation(fields: &str, entries: &[&str]) -> String {
    format!(
        r#"{{"conversation_id":"k-1","transcript":[],"model_info":{{"model_id":"m-1","context_window_tokens":200000}}{fields},"history":[{}]}}"#,
        entries.join(",")
    )
}

const ENTRIES: [&str; 3] = [
    r#"{"user":{"additional_context":"hook","env_context":{"env_state":{"current_working_directory":"/w"}},"content":{"Prompt":{"prompt":"fix it"}},"timestamp":"2026-01-02T03:04:05Z","images":null},"assistant":{"ToolUse":{"message_id":"m","content":"I look","tool_uses":[{"id":"c1","name":"fs_read","orig_name":"fs_read","args":{"operations":[{"mode":"Line","path":"/w/a.rs"}]}},{"id":"c2","name":"execute_bash","args":{"command":"make"}}]}},"request_metadata":{"model_id":"m-2","stream_end_timestamp_ms":1779285310000}}"#,
    r#"{"user":{"content":{"ToolUseResults":{"tool_use_results":[{"tool_use_id":"c1","content":[{"Text":"fn a"}],"status":"Success"},{"tool_use_id":"c2","content":[{"Json":{"exit_status":"2","stdout":"","stderr":"no rule"}}],"status":"Success"}]}}},"assistant":{"ToolUse":{"content":"","tool_uses":[{"id":"c3","name":"fs_write","args":{}}]}}}"#,
    r#"{"user":{"content":{"CancelledToolUses":{"prompt":"stop","tool_use_results":[{"tool_use_id":"c3","content":[{"Text":"cancelled"}],"status":"Error"}]}}},"assistant":{"Response":{"message_id":"n","content":"done"}}}"#,
];

#[test]
fn a_conversation() {
    let (session, read) = check(
        &conversation("", &ENTRIES),
        &[
            r#"U ~"hook" "fix it""#,
            r#"A "I look" fs_read#c1 execute_bash#c2"#,
            r#"T c1=ok "fn a" c2=failed/2 "no rule""#,
            "A fs_write#c3",
            r#"T c3=failed "cancelled""#,
            r#"U "stop""#,
            r#"A "done""#,
        ],
    );
    assert_eq!((read.raw.messages, read.raw.tool_calls), (6, 3));
    assert_eq!((session.model.as_deref(), session.context_window), (Some("m-2"), Some(200_000)));
    assert_eq!(session.main_cwd(), Some("/w"));
    assert_eq!(session.messages[1].time, Some(1_779_285_310_000));
}

#[test]
fn a_summary_starts_it_and_lists_are_pairs() {
    let pair = r#"[{"content":{"Prompt":{"prompt":"a"}}},{"Response":{"content":"b"}}]"#;
    let log = conversation(r#","latest_summary":["so far",null]"#, &[pair]);
    let (session, read) = check(&log, &[r#"U ~"so far""#, r#"U "a""#, r#"A "b""#]);
    assert!(session.starts_compacted);
    assert_eq!(codes(&read), ["starts-compacted"]);
}

const LINES: &str = r#"{"version":"v1","kind":"Prompt","data":{"message_id":"1","content":[{"kind":"text","data":"fix it"},{"kind":"image","data":{"format":"png"}}],"meta":{"timestamp":1780612717.5}}}
{"version":"v1","kind":"AssistantMessage","data":{"message_id":"2","content":[{"kind":"thinking","data":{"text":"hm"}},{"kind":"text","data":"I look"},{"kind":"toolUse","data":{"toolUseId":"c1","name":"shell","input":{"command":"make"}}}]}}
{"version":"v1","kind":"ToolResults","data":{"message_id":"3","content":[{"kind":"toolResult","data":{"toolUseId":"c1","content":[{"kind":"json","data":{"exit_status":"exit status: 1","stdout":"x","stderr":""}}],"status":"success"}}]}}
{"version":"v1","kind":"Compaction","data":{"summary":"so far"}}
{"version":"v1","kind":"AssistantMessage","data":{"message_id":"4","content":[{"kind":"text","data":"done"}]}}"#;

#[test]
fn lines_of_version_2() {
    let (session, read) = check(
        LINES,
        &[r#"U "fix it" [image]"#, r#"A (hm) "I look" shell#c1"#, r#"T c1=failed/1 "x""#, r#"A "done""#],
    );
    assert_eq!(session.messages[0].time, Some(1_780_612_717_500));
    assert!(session.recorded[0].kept_unknown);
    assert_eq!((read.raw.messages, read.raw.tool_calls, read.raw.compactions), (4, 1, 1));
}

#[test]
fn sessions_of_the_editor_and_states() {
    let editor = r#"{"sessionId":"e-1","selectedModel":"m","workspacePath":"/w","history":[{"message":{"role":"user","content":[{"type":"text","text":"a"}]}},{"message":{"role":"assistant","content":"b"}}]}"#;
    let (_, read) = check(editor, &[r#"U "a""#, r#"A "b""#]);
    assert_eq!(read.format.map(super::super::Format::name), Some("kiro"));
    let state = r#"{"session_id":"s","cwd":"/w","session_state":{}}"#;
    assert_eq!(codes(&super::super::ingest(state.as_bytes(), "s.json")), ["part-of-log"]);
}

#[test]
fn odd_values() {
    check_odd_values(&conversation(r#","latest_summary":["so far",null]"#, &ENTRIES));
    check_odd_values(LINES);
}
