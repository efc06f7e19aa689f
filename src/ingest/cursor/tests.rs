//! Transcripts written by hand.

use super::super::sketch::{check, check_odd_values, codes};

const LOG: [&str; 6] = [
    r#"{"role":"user","message":{"content":[{"type":"text","text":"<attached_files>\na.rs\n</attached_files>\n<user_query>\nfix it\n</user_query>"}]}}"#,
    r#"{"role":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"ok"},{"type":"tool_use","name":"Read","input":{"path":"a.rs"}},{"type":"tool_call","name":"Shell","input":{"command":"ls"}}]},"model":"m"}"#,
    r#"{"role":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"body"}]},{"type":"tool-result","name":"Shell","content":"gone"}]},"metadata":{"toolResultStatus":"error"}}"#,
    r#"{"role":"assistant","message":{"content":[{"type":"custom_block","text":"shown"},{"type":"omen","data":1}]}}"#,
    r#"{"type":"turn_ended","status":"success"}"#,
    r#"{"type":"omen"}"#,
];

#[test]
fn results_link_by_order() {
    let (session, read) = check(
        &LOG.join("\n"),
        &[
            r#"U ~"<attached_files>\na.rs\n</attached_files>" "fix it""#,
            r#"A (hm) "ok" Read# Shell#"#,
            r#"T =failed "body" =failed "gone""#,
            r#"A "shown" <omen>"#,
        ],
    );
    assert_eq!(session.model.as_deref(), Some("m"));
    assert_eq!((read.raw.messages, read.raw.tool_calls), (4, 2));
    assert_eq!(codes(&read), ["unknown-block", "unknown-block", "unknown-record"]);
}

#[test]
fn calls_with_ids_keep_them() {
    let log = [
        r#"{"role":"assistant","message":{"content":[{"type":"tool-call","toolCallId":"a","toolName":"Read","args":{"path":"x"}}]}}"#,
        r#"{"role":"tool","message":{"content":[{"type":"tool-result","toolCallId":"a","result":"body"}]}}"#,
    ];
    check(&log.join("\n"), &["A Read#a", r#"T a=unknown "body""#]);
}

#[test]
fn content_beside_the_role_is_read() {
    let log = [LOG[0], r#"{"role":"assistant","content":"done"}"#, r#"{"role":"assistant","text":"x"}"#];
    let first = r#"U ~"<attached_files>\na.rs\n</attached_files>" "fix it""#;
    let (_, read) = check(&log.join("\n"), &[first, r#"A "done""#]);
    assert_eq!((read.raw.messages, codes(&read)), (2, vec!["unknown-record"]));
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(&LOG.join("\n"));
}
