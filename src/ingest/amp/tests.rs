use super::super::sketch::{check, check_odd_values, codes};
use crate::transcript::Usage;

/// A thread of these messages.
fn thread(messages: &[&str]) -> String {
    format!(
        r#"{{"v":3,"id":"T-1","created":1700000000000,"env":{{"initial":{{"trees":[{{"uri":"file:///w"}}]}}}},"messages":[{}]}}"#,
        messages.join(",")
    )
}

const ORDINARY: [&str; 4] = [
    r#"{"role":"user","content":[{"type":"text","text":"fix it"}],"meta":{"sentAt":1700000001000},"fileMentions":{"files":[{"uri":"file:///w/a.rs","content":"fn a() {}"}]}}"#,
    r#"{"role":"assistant","content":[{"type":"thinking","thinking":"look"},{"type":"text","text":"I look"},{"type":"tool_use","id":"c1","name":"Read","input":{"path":"/w/a.rs"}},{"type":"tool_use","id":"c2","name":"Bash","input":{"cmd":"make"}},{"type":"tool_use","id":"c3","name":"Bash","input":{"cmd":"rm x"}}],"usage":{"model":"m-1","inputTokens":10,"outputTokens":5,"cacheReadInputTokens":100,"cacheCreationInputTokens":20,"totalInputTokens":130}}"#,
    r#"{"role":"user","content":[{"type":"tool_result","toolUseID":"c1","run":{"status":"done","result":"1: fn a() {}"}},{"type":"tool_result","toolUseID":"c2","run":{"status":"done","result":{"output":"no rule","exitCode":2}}},{"type":"tool_result","toolUseID":"c3","run":{"status":"in-progress"}}]}"#,
    r#"{"role":"assistant","content":[{"type":"text","text":"done"}]}"#,
];

#[test]
fn a_thread() {
    let (session, read) = check(
        &thread(&ORDINARY),
        &[
            r#"U ~"file:///w/a.rs\nfn a() {}" "fix it""#,
            r#"A (look) "I look" Read#c1 Bash#c2 Bash#c3"#,
            r#"T c1=ok "1: fn a() {}" c2=failed/2 "no rule""#,
            r#"A "done""#,
        ],
    );
    assert_eq!((read.raw.messages, read.raw.tool_calls), (4, 3));
    assert_eq!(session.id, "T-1");
    assert_eq!(session.model.as_deref(), Some("m-1"));
    assert_eq!(session.main_cwd(), Some("/w"));
    assert_eq!(session.messages[0].time, Some(1_700_000_001_000));
    let usage = Usage { input: 130, cache_read: 100, cache_write: 20, output: 5 };
    assert_eq!(session.messages[1].usage.as_deref(), Some(&usage));
    assert!(session.links[2].result.is_none());
}

#[test]
fn refused_runs_and_summaries() {
    let (session, read) = check(
        &thread(&[
            r#"{"role":"info","content":[{"type":"summary","summary":{"type":"message","summary":"before: x"}}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"go on"}]}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"edit_file","input":{"path":"a"}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","toolUseID":"c1","run":{"status":"rejected-by-user","reason":"no"}}]}"#,
            r#"{"role":"info","content":[{"type":"summary","summary":{"type":"message","summary":"again"}}]}"#,
            r#"{"role":"info","content":[{"type":"manual_bash_invocation","args":{"cmd":"ls"},"toolRun":{"status":"done","result":{"output":"a"}}}]}"#,
            r#"{"role":"alien","content":[]}"#,
        ]),
        &[r#"U ~"before: x""#, r#"U "go on""#, "A edit_file#c1", r#"T c1=failed "no""#, r#"U ~"$ ls\na""#],
    );
    assert!(session.starts_compacted);
    assert_eq!(session.recorded.len(), 1);
    assert_eq!(session.recorded[0].before.0, 4);
    assert_eq!(read.raw.compactions, 2);
    assert_eq!(codes(&read), ["starts-compacted", "unknown-role"]);
}

#[test]
fn odd_values() {
    check_odd_values(&thread(&ORDINARY));
}
