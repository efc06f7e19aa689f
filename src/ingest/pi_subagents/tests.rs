//! Tests of the reader of pi's sub-agent records.

use crate::ingest::ingest;
use crate::ingest::sketch::{check_odd_values, codes, sketch};
use crate::transcript::Origin;

fn record(run: &str, kind: &str, fields: &str) -> String {
    format!(
        r#"{{"version":1,"recordType":"{kind}","source":"s","runId":"{run}","agent":"scout","ts":1767225600000{fields}}}"#
    )
}

fn log() -> String {
    [
        record("r1", "message", r#","role":"user","message":"look""#),
        record("r1", "message", r#","role":"assistant","message":"I look""#),
        record("r1", "tool_start", r#","toolName":"read","toolCallId":"c1","argsPayload":{"path":"a"}"#),
        record("r2", "message", r#","message":{"role":"assistant","content":[{"type":"toolCall","id":"c2","name":"bash","arguments":{"command":"x"}}],"usage":{"input":3,"output":1}}"#),
        record("r1", "tool_end", r#","toolName":"read","toolCallId":"c1","isError":true,"message":"gone""#),
        record("r2", "tool_start", r#","toolName":"bash","toolCallId":"c2","argsPreview":"x""#),
        record("r2", "tool_end", r#","toolName":"bash","toolCallId":"c2","isError":false"#),
        record("r2", "message", r#","message":{"role":"toolResult","toolCallId":"c2","content":[{"type":"text","text":"ok"}],"isError":false}"#),
        record("r2", "stderr", r#","message":"noise""#),
        record("r2", "omen", ""),
    ]
    .join("\n")
}

#[test]
fn each_run_is_a_session_and_each_call_comes_once() {
    let read = ingest(log().as_bytes(), "x.jsonl");
    let [one, two] = read.sessions.as_slice() else { panic!("{read:?}") };
    assert_eq!(sketch(one), [r#"U "look""#, r#"A "I look" read#c1"#, r#"T c1=failed "gone""#]);
    assert_eq!(sketch(two), ["A bash#c2", r#"T c2=ok "ok""#]);
    assert_eq!((one.id.as_str(), one.origin.clone()), ("r1", Origin::Sidechain("scout".to_owned())));
    assert_eq!(one.call(&one.links[0]).unwrap().arguments, r#"{"path":"a"}"#);
    assert_eq!((read.raw.messages, read.raw.tool_calls, codes(&read)), (4, 2, vec!["unknown-record"]));
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(&log());
}
