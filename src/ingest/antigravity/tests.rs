//! Tests of the Antigravity reader.

use crate::ingest::sketch::{check, check_odd_values, codes};

const LOG: &str = r##"{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT","status":"DONE","created_at":"2026-01-01T00:00:00Z","content":"<USER_REQUEST>\ngo\n</USER_REQUEST>\n<USER_SETTINGS_CHANGE>x</USER_SETTINGS_CHANGE>"}
{"step_index":1,"source":"SYSTEM","type":"CONVERSATION_HISTORY","status":"DONE"}
{"step_index":2,"source":"MODEL","type":"PLANNER_RESPONSE","status":"DONE","thinking":"hm","tool_calls":[{"name":"view_file","args":{"AbsolutePath":"\"/w/a\"","StartLine":"3"}},{"name":"run_command","args":{"CommandLine":"\"x\""}}]}
{"step_index":3,"source":"MODEL","type":"VIEW_FILE","status":"DONE","content":"body"}
{"step_index":4,"source":"MODEL","type":"RUN_COMMAND","status":"DONE","content":"The command failed with exit code: 3\nOutput:\nno"}
{"step_index":5,"source":"SYSTEM","type":"EPHEMERAL_MESSAGE","status":"DONE","content":"be quick"}
{"step_index":6,"source":"SYSTEM","type":"CHECKPOINT","status":"DONE","content":"# so far"}
{"step_index":7,"source":"MODEL","type":"PLANNER_RESPONSE","status":"DONE","content":"done"}"##;

#[test]
fn steps_answer_calls_in_order() {
    let (session, read) = check(
        LOG,
        &[
            r#"U "go" ~"<USER_SETTINGS_CHANGE>x</USER_SETTINGS_CHANGE>""#,
            "A (hm) view_file# run_command#",
            r#"T =ok "body""#,
            r#"T =failed/3 "The command failed with exit code: 3\nOutput:\nno""#,
            r#"U ~"be quick""#,
            r#"A "done""#,
        ],
    );
    assert_eq!(
        session.call(&session.links[0]).unwrap().arguments,
        r#"{"AbsolutePath":"/w/a","StartLine":3}"#
    );
    let recorded = &session.recorded[0];
    assert_eq!(
        (recorded.before.0, recorded.summary.as_deref(), recorded.kept_unknown),
        (5, Some("# so far"), true)
    );
    assert_eq!(session.messages[0].time, Some(1_767_225_600_000));
    assert_eq!((read.raw.tool_calls, read.raw.compactions, codes(&read)), (2, 1, vec!["kept-unknown"]));
}

#[test]
fn what_is_no_step_is_named() {
    let first = LOG.lines().next().unwrap();
    let log = [first, "null", "42", "{}", r#"{"type":"omen","content":"x"}"#, "[]"].join("\n");
    let (_, read) = check(&log, &[r#"U "go" ~"<USER_SETTINGS_CHANGE>x</USER_SETTINGS_CHANGE>""#]);
    assert_eq!((read.raw.messages, codes(&read)), (1, vec!["unknown-record"; 2]));
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(LOG);
}
