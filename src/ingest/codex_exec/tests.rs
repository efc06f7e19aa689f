//! Tests of the reader of `codex exec --json`.

use crate::ingest::sketch::{check, check_odd_values, codes};

const LOG: &str = r#"{"type":"thread.started","thread_id":"t-1"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"i0","type":"reasoning","text":"hm"}}
{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"bash -lc ls","aggregated_output":"","status":"in_progress"}}
{"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"bash -lc ls","aggregated_output":"no","exit_code":2,"status":"failed"}}
{"type":"item.started","item":{"id":"i2","type":"todo_list","items":[{"text":"a","completed":false}]}}
{"type":"item.completed","item":{"id":"i3","type":"file_change","changes":[{"path":"/w/a","kind":"add"},{"path":"/w/b","kind":"update"}],"status":"completed"}}
{"type":"item.completed","item":{"id":"i4","type":"mcp_tool_call","server":"s","tool":"t","arguments":{"q":1},"result":{"content":[{"type":"text","text":"r"}]},"status":"completed"}}
{"type":"item.completed","item":{"id":"i2","type":"todo_list","items":[{"text":"a","completed":true}]}}
{"type":"item.started","item":{"id":"i5","type":"command_execution","command":"sleep 9","status":"in_progress"}}
{"type":"item.completed","item":{"id":"i6","type":"agent_message","text":"done"}}
{"type":"turn.completed","usage":{"input_tokens":9,"cached_input_tokens":1,"output_tokens":2}}
{"type":"turn.failed","error":{"message":"limit"}}
{"type":"item.completed","item":{"id":"i7","type":"omen"}}"#;

#[test]
fn items_are_read_once() {
    let (session, read) = check(
        LOG,
        &[
            "A (hm) shell#i1",
            r#"T i1=failed/2 "no""#,
            "A update_plan#i2",
            r#"T i2=ok """#,
            "A apply_patch#i3",
            r#"T i3=ok """#,
            "A mcp__s__t#i4",
            r#"T i4=ok "r""#,
            "A update_plan#i2",
            r#"T i2=ok """#,
            r#"A shell#i5 "done""#,
        ],
    );
    let arguments = |at: usize| session.call(&session.links[at]).unwrap().arguments.clone();
    assert_eq!(arguments(0), r#"{"command":"bash -lc ls"}"#);
    assert_eq!(arguments(2), "*** Begin Patch\n*** Add File: /w/a\n*** Update File: /w/b\n*** End Patch");
    assert_eq!(arguments(4), r#"{"plan":[{"step":"a","status":"completed"}]}"#);
    assert_eq!((session.id.as_str(), session.refusals.len()), ("t-1", 1));
    assert_eq!((read.raw.messages, read.raw.tool_calls, codes(&read)), (1, 6, vec!["unknown-record"]));
    let effect = crate::fileops::of_call("apply_patch", &arguments(2), None);
    assert_eq!(effect.ops.len(), 2, "{effect:?}");
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(LOG);
}
