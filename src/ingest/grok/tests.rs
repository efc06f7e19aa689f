//! Tests of the Grok CLI reader.

use crate::ingest::sketch::{check, check_odd_values, codes, sketch};
use crate::ingest::{group, ingest, ingest_tree};

const HISTORY: &str = r#"{"type":"system","content":"You are"}
{"type":"user","content":[{"type":"text","text":"<user_info>\nWorkspace Path: /w\n</user_info>"}],"synthetic_reason":"environment_context"}
{"type":"user","content":[{"type":"image","url":"data:x"},{"type":"text","text":"go"}],"prompt_index":0}
{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"zz"}
{"type":"assistant","content":"look","tool_calls":[{"id":"c1","name":"read_file","arguments":"{\"target_file\":\"/w/a\"}"},{"id":"c2","name":"read_file","arguments":"{}"}],"model_id":"grok-x"}
{"type":"tool_result","tool_call_id":"c1","content":"body"}
{"type":"tool_result","tool_call_id":"c2","content":"Error: gone"}
{"type":"backend_tool_call","kind":{"tool_type":"web_search","action":{"query":"q"},"id":"ws"}}
{"type":"assistant","content":"done","model_id":"grok-x"}
{"type":"omen"}"#;

fn updates() -> String {
    [
        r#"{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"g"},"_meta":{"modelId":"grok-x"}}"#,
        r#"{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"o"}}"#,
        r#"{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}"#,
        r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"look"}}"#,
        r#"{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Run x","kind":"execute","status":"pending","rawInput":{"command":"x"}}"#,
        r#"{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"no"}}],"rawOutput":{"output":"no","exitCode":1}}"#,
        r#"{"sessionUpdate":"tool_call","toolCallId":"c2","title":"read_file","_meta":{"x.ai/tool":{"name":"read_file"}}}"#,
        r#"{"sessionUpdate":"tool_call_update","toolCallId":"c2","rawInput":{"target_file":"/w/a"}}"#,
        r#"{"sessionUpdate":"tool_call_update","toolCallId":"c2","status":"failed","rawOutput":{"output":"gone"}}"#,
        r#"{"sessionUpdate":"retry_state","type":"failed","message":"404"}"#,
        r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"do"}}"#,
        r#"{"sessionUpdate":"turn_completed","usage":{"inputTokens":9}}"#,
        r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ne"}}"#,
        r#"{"sessionUpdate":"omen"}"#,
    ]
    .iter()
    .map(|update| format!(r#"{{"timestamp":1784388058,"method":"session/update","params":{{"sessionId":"s-1","update":{update}}}}}"#))
    .collect::<Vec<_>>()
    .join("\n")
}

const SUMMARY: &str = r#"{"info":{"id":"s-1","cwd":"/w"},"session_summary":"x","current_model_id":"grok-y"}"#;

#[test]
fn a_history_is_the_context() {
    let (session, read) = check(
        HISTORY,
        &[
            r#"S "You are""#,
            r#"U ~"<user_info>\nWorkspace Path: /w\n</user_info>""#,
            r#"U [image] "go""#,
            r#"A (hm) <reasoning> "look" read_file#c1 read_file#c2"#,
            r#"T c1=unknown "body""#,
            r#"T c2=failed "Error: gone""#,
            r#"A web_search#ws "done""#,
        ],
    );
    assert_eq!((session.model.as_deref(), session.messages[2].cwd.as_deref()), (Some("grok-x"), Some("/w")));
    assert_eq!((read.raw.messages, read.raw.tool_calls, codes(&read)), (4, 3, vec!["unknown-record"]));
}

#[test]
fn updates_are_put_together() {
    let (session, read) = check(
        &updates(),
        &[
            r#"U "go""#,
            r#"A (hm) "look" execute#c1"#,
            r#"T c1=failed/1 "no""#,
            "A read_file#c2",
            r#"T c2=failed "gone""#,
            r#"A "done""#,
        ],
    );
    assert_eq!(session.call(&session.links[1]).unwrap().arguments, r#"{"target_file":"/w/a"}"#);
    assert_eq!((session.id.as_str(), session.refusals.len()), ("s-1", 1));
    assert_eq!((read.raw.messages, read.raw.tool_calls, codes(&read)), (3, 2, vec!["unknown-record"]));
}

#[test]
fn of_a_directory_one_channel_is_read() {
    let names = [
        "g/a/updates.jsonl",
        "g/a/summary.json",
        "x.jsonl",
        "g/a/chat_history.jsonl",
        "g/b/updates.jsonl",
        "g/c/summary.json",
    ];
    let groups = group(&names);
    let [(tree, files)] = groups.as_slice() else { panic!("{groups:?}") };
    assert_eq!(files, &[3, 0, 1]);
    let all = vec![
        ("g/a/chat_history.jsonl".to_owned(), HISTORY.into()),
        ("g/a/updates.jsonl".to_owned(), updates().into()),
        ("g/a/summary.json".to_owned(), SUMMARY.into()),
    ];
    let read = ingest_tree(*tree, all, "g/a");
    assert_eq!(
        (read.sessions.len(), read.sessions[0].messages.len(), read.sessions[0].id.as_str()),
        (1, 7, "s-1")
    );
    let shown =
        vec![("updates.jsonl".to_owned(), updates().into()), ("summary.json".to_owned(), SUMMARY.into())];
    let read = ingest_tree(*tree, shown, "g/a");
    assert_eq!(
        (sketch(&read.sessions[0]).len(), read.sessions[0].messages[0].cwd.as_deref()),
        (6, Some("/w"))
    );
    let alone = ingest(SUMMARY.as_bytes(), "summary.json");
    assert_eq!((alone.sessions.len(), codes(&alone)), (0, vec!["part-of-log"]));
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(HISTORY);
    check_odd_values(&updates());
    check_odd_values(SUMMARY);
}
