use crate::ingest::Format;
use crate::ingest::sketch::{check, check_odd_values};

const SESSION: &str = r#"{"session_id":"h-1","model":"m","platform":"cli","session_start":"2026-01-01T00:00:00Z","model_config":{"cwd":"/w"},"system_prompt":"be","tools":[{"name":"shell"}],"messages":[{"role":"user","content":"[CONTEXT COMPACTION] before"},{"role":"user","content":"go"},{"role":"assistant","content":"on it","reasoning":"hm","reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"shell","arguments":"{\"command\":\"ls\"}"}}]},{"role":"tool","content":"a","tool_call_id":"c1","tool_name":"shell"},{"role":"session_meta"}]}"#;

#[test]
fn a_document() {
    let (session, read) = check(
        SESSION,
        &[
            "S \"be\"",
            "U ~\"[CONTEXT COMPACTION] before\"",
            "U \"go\"",
            "A (hm) \"on it\" shell#c1",
            "T c1=unknown \"a\"",
        ],
    );
    assert_eq!((session.id.as_str(), read.format), ("h-1", Some(Format::Hermes)));
    assert_eq!((session.main_cwd(), session.model.as_deref()), (Some("/w"), Some("m")));
    assert_eq!((read.raw.messages, read.raw.tool_calls), (4, 1));
}

#[test]
fn messages_in_lines() {
    let text = r#"{"role":"session_meta","tools":[{"name":"shell"}],"model":"m","platform":"cli","timestamp":"2026-01-01T00:00:00.000"}
{"role":"user","content":"go","timestamp":"2026-01-01T00:00:01"}
{"role":"assistant","content":"done"}"#;
    let (session, _) = check(text, &["U \"go\"", "A \"done\""]);
    assert_eq!((session.model.as_deref(), session.messages[0].time), (Some("m"), Some(1_767_225_601_000)));
    assert!(session.tool_schema.is_some());
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(SESSION);
}
