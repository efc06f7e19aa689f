use crate::ingest::sketch::{check, check_odd_values, codes};
use crate::ingest::{Format, ingest};
use crate::transcript::{Origin, Usage};

const DOCUMENT: &str = r#"{"schema_version":"ATIF-v1.4","session_id":"s-1","agent":{"name":"a","model_name":"m-0","tool_definitions":[{"type":"function"}]},"steps":[{"step_id":1,"source":"system","message":"be"},{"step_id":2,"source":"user","message":[{"type":"text","text":"go"},{"type":"image","source":{"media_type":"image/png","path":"x.png"}}],"timestamp":"2025-01-01T00:00:00Z"},{"step_id":3,"source":"agent","message":"on it","reasoning_content":"hm","model_name":"m-1","tool_calls":[{"tool_call_id":"c1","function_name":"f","arguments":{"k":1}},{"tool_call_id":"c2","function_name":"g","arguments":{}}],"observation":{"results":[{"source_call_id":"c2","content":"Error: no"},{"source_call_id":"c1","content":[{"type":"text","text":"x"}],"subagent_trajectory_ref":[{"session_id":"s-2"}]}]},"metrics":{"prompt_tokens":9,"completion_tokens":2,"cached_tokens":4}},{"step_id":4,"source":"robot","message":"?"}],"subagent_trajectories":[{"trajectory_id":"s-2","agent":{"name":"helper"},"steps":[{"source":"user","message":"sub"}]}]}"#;

#[test]
fn steps_hold_calls_and_results() {
    let read = ingest(DOCUMENT.as_bytes(), "x.json");
    let [session, sub] = read.sessions.as_slice() else { panic!("{read:?}") };
    assert_eq!((sub.id.as_str(), &sub.origin), ("s-2", &Origin::Sidechain("helper".to_owned())));
    assert_eq!(
        (session.id.as_str(), session.model.as_deref(), &session.origin),
        ("s-1", Some("m-1"), &Origin::Main)
    );
    assert_eq!(
        session.messages[2].usage.as_deref(),
        Some(&Usage { input: 9, cache_read: 4, cache_write: 0, output: 2 })
    );
    assert_eq!((read.format, read.raw.messages, read.raw.tool_calls), (Some(Format::Atif), 5, 2));
    assert_eq!(session.tool_schema.as_deref(), Some(r#"[{"type":"function"}]"#));
    let alone = DOCUMENT.split(",\"subagent_trajectories\"").next().unwrap();
    let (_, read) = check(
        &format!("{alone}}}"),
        &[
            "S \"be\"",
            "U \"go\" [image]",
            "A (hm) \"on it\" f#c1 g#c2",
            "T c2=failed \"Error: no\" c1=unknown \"x\"",
            "U ~\"?\"",
        ],
    );
    assert_eq!(codes(&read), ["unknown-role"]);
}

#[test]
fn a_trajectory_that_another_line_refers_to_is_a_sidechain() {
    let alone = format!("{}}}", DOCUMENT.split(",\"subagent_trajectories\"").next().unwrap());
    let sub = r#"{"schema_version":"ATIF-v1.4","session_id":"s-2","agent":{"name":"b"},"steps":[{"source":"user","message":"sub"}]}"#;
    let read = ingest(format!("{alone}\n{sub}").as_bytes(), "x.jsonl");
    let origins: Vec<&Origin> = read.sessions.iter().map(|session| &session.origin).collect();
    assert_eq!(origins, [&Origin::Main, &Origin::Sidechain("b".to_owned())]);
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(DOCUMENT);
}
