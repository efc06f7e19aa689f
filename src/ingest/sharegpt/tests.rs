use crate::ingest::sketch::{check, check_odd_values, codes};
use crate::ingest::{Format, ingest};

const SET: &str = r#"{"id":"a","system":"be","conversations":[{"from":"human","value":"go"},{"from":"function_call","value":"{\"name\": \"f\", \"arguments\": {\"k\": 1}}"},{"from":"observation","value":"{\"x\": 1}"},{"from":"function_call","value":"[{\"name\": \"f\"}, {\"name\": \"g\"}]"},{"from":"tool","value":"1"},{"from":"tool","value":"2"},{"from":"function_call","value":"not JSON"},{"from":"gpt","value":"done"},{"from":"narrator","value":"?"}],"tools":"[{\"name\": \"f\"}]"}"#;

#[test]
fn turns_and_calls() {
    let (session, read) = check(
        SET,
        &[
            "S \"be\"",
            "U \"go\"",
            "A f#",
            "T =unknown \"{\\\"x\\\": 1}\"",
            "A f# g#",
            "T =unknown \"1\"",
            "T =unknown \"2\"",
            "A \"not JSON\"",
            "A \"done\"",
            "U ~\"?\"",
        ],
    );
    assert_eq!((session.id.as_str(), read.format), ("a", Some(Format::Sharegpt)));
    assert_eq!((read.raw.messages, read.raw.tool_calls), (9, 3));
    assert_eq!(session.call(&session.links[0]).unwrap().arguments, "{\"k\":1}");
    assert_eq!(session.tool_schema.as_deref(), Some("[{\"name\": \"f\"}]"));
    assert_eq!(codes(&read), ["odd-call", "unknown-role"]);
}

#[test]
fn turns_in_the_words_of_chat() {
    let text = r#"{"conversations":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}
{"conversation":[{"role":"user","value":"c"}]}"#;
    let read = ingest(text.as_bytes(), "x.jsonl");
    let found: Vec<(&str, usize)> =
        read.sessions.iter().map(|session| (session.id.as_str(), session.messages.len())).collect();
    assert_eq!(found, [("x#1", 2), ("x#2", 1)]);
}

#[test]
fn thinking_at_the_start_of_a_reply() {
    check(
        r#"{"conversations":[{"from":"human","value":"<think>a</think>b"},{"from":"gpt","value":"<think>\nhm\n</think>\n\nso"}]}"#,
        &["U \"<think>a</think>b\"", "A (hm) \"so\""],
    );
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(SET);
}
