//! Sessions written by hand.

use super::super::sketch::{check, check_odd_values, codes};
use crate::transcript::Usage;

fn session(messages: &[&str]) -> String {
    format!(
        r#"{{"version":1,"updated_at":"t","agent":"lead","sessionId":"s-1","system_prompt":"Be good. Working Directory: /w","messages":[{}]}}"#,
        messages.join(",")
    )
}

const CALLS: [&str; 3] = [
    r#"{"id":"1","role":"user","content":[{"type":"text","text":"look at @a"},{"type":"file","path":"/w/a","content":"body"}],"ts":1700000000000}"#,
    r#"{"id":"2","role":"assistant","content":[{"type":"text","text":"ok"},{"type":"tool_use","id":"x","name":"editor","input":{"path":"/w/a"}},{"type":"tool_use","id":"y","name":"read_files","input":{"files":[{"path":"/w/b"}]}},{"type":"tool_use","id":"z","name":"run_commands","input":{"commands":["ls"]}}],"modelInfo":{"id":"m"},"metrics":{"inputTokens":100,"outputTokens":5,"cacheReadTokens":90,"cacheWriteTokens":0}}"#,
    r#"{"id":"3","role":"user","content":[{"type":"tool_result","tool_use_id":"x","name":"editor","content":"{\"query\":\"edit:/w/a\",\"result\":\"edited\",\"success\":true}"},{"type":"tool_result","tool_use_id":"y","content":[{"query":"/w/b","error":"no such file","success":false}]},{"type":"tool_result","tool_use_id":"z","content":"Error: none"}]}"#,
];

#[test]
fn calls_and_their_answers() {
    let (session, read) = check(
        &session(&CALLS),
        &[
            r#"S "Be good. Working Directory: /w""#,
            r#"U "look at @a" ~"<file path=\"/w/a\">\nbody\n</file>""#,
            r#"A "ok" editor#x read_files#y run_commands#z"#,
            r#"T x=ok "edited" y=failed "no such file" z=failed "Error: none""#,
        ],
    );
    assert_eq!((session.id.as_str(), session.model.as_deref()), ("s-1", Some("m")));
    assert_eq!(session.messages[1].cwd.as_deref(), Some("/w"));
    let usage = Usage { input: 100, cache_read: 90, cache_write: 0, output: 5 };
    assert_eq!(session.messages[2].usage.as_deref(), Some(&usage));
    assert_eq!((read.raw.messages, read.raw.tool_calls), (3, 3));
}

const SUMMARY: &str = r#"{"role":"user","content":[{"type":"text","text":"Context summary:\nx"}],"metadata":{"kind":"compaction_summary","summary":"x","tokensBefore":900,"details":{"readFiles":["b"],"modifiedFiles":["/w/a"]}}}"#;

#[test]
fn summaries_begin_a_log_or_are_set_aside() {
    let on = r#"{"role":"user","content":"on"}"#;
    let (session_, _) = check(
        &session(&[SUMMARY, on]),
        &[r#"U ~"Context summary:\nx""#, r#"S "Be good. Working Directory: /w""#, r#"U "on""#],
    );
    assert!(session_.starts_compacted);
    let (session, read) = check(
        &session(&[on, SUMMARY, on]),
        &[r#"S "Be good. Working Directory: /w""#, r#"U "on""#, r#"U "on""#],
    );
    let recorded = &session.recorded[0];
    assert_eq!((recorded.before.get(), recorded.summary.as_deref()), (2, Some("x")));
    assert_eq!(recorded.lists.as_ref().map(|lists| lists.read.clone()), Some(vec!["/w/b".to_owned()]));
    assert_eq!((recorded.tokens_before, read.raw.compactions), (Some(900), 1));
}

#[test]
fn a_log_from_which_calls_were_taken_out() {
    let asked = r#"{"role":"user","content":[{"type":"text","text":"fix it"},{"type":"text","text":"<SYSTEM_NOTICE>\nEarlier context was compacted.\n</SYSTEM_NOTICE>"}],"metadata":{"kind":"compaction","reason":"manual_compaction","messagesRemoved":22}}"#;
    let kept = r#"{"role":"assistant","content":[{"type":"text","text":"done"}],"metadata":{"compaction":"preserved"}}"#;
    let (session, read) = check(
        &session(&[asked, kept, r#"{"role":"user","content":"on"}"#]),
        &[
            r#"S "Be good. Working Directory: /w""#,
            r#"U "fix it" ~"<SYSTEM_NOTICE>\nEarlier context was compacted.\n</SYSTEM_NOTICE>""#,
            r#"A "done""#,
            r#"U "on""#,
        ],
    );
    let recorded = &session.recorded[0];
    assert_eq!(
        (recorded.before.get(), recorded.kept.len(), recorded.trigger.as_deref()),
        (3, 3, Some("manual"))
    );
    assert_eq!(codes(&read), ["removed-messages"]);
}

#[test]
fn any_field_may_be_anything() {
    let asked =
        r#"{"role":"user","content":"a","metadata":{"kind":"compaction","reason":"x","messagesRemoved":2}}"#;
    check_odd_values(&session(&[CALLS[0], CALLS[1], CALLS[2], SUMMARY, asked]));
}
