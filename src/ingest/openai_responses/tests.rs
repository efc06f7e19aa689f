use crate::ingest::sketch::{check, check_odd_values, codes};
use crate::ingest::{Format, ingest};
use crate::transcript::Usage;

const ITEMS: &str = r#"{"type":"message","role":"developer","content":"rules"}
{"role":"user","content":"list"}
{"type":"reasoning","id":"r1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"xxxx"}
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"on it"}]}
{"type":"function_call","call_id":"c1","name":"shell","arguments":"{\"command\":[\"ls\"]}"}
{"type":"function_call","call_id":"c2","name":"read","arguments":"{}"}
{"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"b"}]}
{"type":"function_call_output","call_id":"c1","output":"Error: no"}
{"type":"web_search_call","id":"w1","status":"completed","action":{"type":"search","query":"q"}}
{"type":"code_interpreter_call","id":"k1","code":"1+1","outputs":[{"type":"logs","logs":"2"}]}
{"type":"compaction","encrypted_content":"zz"}
{"type":"message","role":"user","content":[{"type":"input_text","text":"and?"},{"type":"input_image","image_url":"data:x"}]}
{"type":"novelty","x":1}"#;

#[test]
fn items_a_line() {
    let (session, read) = check(
        ITEMS,
        &[
            "S \"rules\"",
            "U \"list\"",
            "A (hm) <reasoning> \"on it\" shell#c1 read#c2",
            "T c2=unknown \"b\" c1=failed \"Error: no\"",
            "A web_search#w1 code_interpreter#k1",
            "T k1=unknown \"{\\\"type\\\":\\\"logs\\\",\\\"logs\\\":\\\"2\\\"}\"",
            "U \"and?\" [image]",
            "A <novelty>",
        ],
    );
    assert_eq!(read.format, Some(Format::OpenaiResponses));
    assert_eq!((read.raw.messages, read.raw.tool_calls, read.raw.compactions), (4, 4, 1));
    assert_eq!(session.recorded.len(), 1);
    assert!(session.recorded[0].kept_unknown);
    assert_eq!(codes(&read), ["kept-unknown", "unknown-record"]);
}

const BODY: &str = r#"{"model":"m-0","instructions":"be brief","input":[{"role":"user","content":"go"},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"x"}],"tools":[{"type":"function","name":"f"}]}"#;

#[test]
fn requests_and_responses_are_one_conversation() {
    let text = [
        r#"{"model":"m-0","instructions":"be brief","input":"go","tools":[{"type":"function","name":"f"}]}"#,
        r#"{"id":"resp_1","object":"response","model":"m-1","created_at":1700000000,"output":[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4},"output_tokens":2}}"#,
        BODY,
        r#"{"id":"resp_2","object":"response","model":"m-1","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}]}"#,
        r#"{"model":"m-1","input":[{"role":"user","content":"more"}],"previous_response_id":"resp_2"}"#,
    ];
    let (session, read) = check(
        &text.join("\n"),
        &["S \"be brief\"", "U \"go\"", "A f#c1", "T c1=unknown \"x\"", "A \"done\"", "U \"more\""],
    );
    let usage = Usage { input: 9, cache_read: 4, cache_write: 0, output: 2 };
    assert_eq!(session.messages[2].usage.as_deref(), Some(&usage));
    assert_eq!(session.messages[2].time, Some(1_700_000_000_000));
    assert_eq!(session.tool_schema.as_deref(), Some(r#"[{"type":"function","name":"f"}]"#));
    assert_eq!(read.evidence, "line 1 is a Responses request body");
}

#[test]
fn one_body_is_one_session() {
    let (session, read) = check(BODY, &["S \"be brief\"", "U \"go\"", "A f#c1", "T c1=unknown \"x\""]);
    assert_eq!((session.id.as_str(), session.model.as_deref()), ("test", Some("m-0")));
    assert_eq!(read.format, Some(Format::OpenaiResponses));
    // Another conversation in the same file.
    let other = BODY.replace("\"go\"", "\"stay\"");
    assert_eq!(ingest(format!("{BODY}\n{other}").as_bytes(), "x.jsonl").sessions.len(), 2);
}

#[test]
fn a_list_that_begins_compacted() {
    let (session, _) = check(
        r#"[{"type":"compaction","encrypted_content":"zz"},{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}]"#,
        &["U <compaction>", "U \"go\""],
    );
    assert!(session.starts_compacted);
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(ITEMS);
    check_odd_values(BODY);
    check_odd_values(
        r#"{"id":"r","object":"response","output":[{"type":"reasoning","summary":[]}],"usage":{"input_tokens":1}}"#,
    );
}
