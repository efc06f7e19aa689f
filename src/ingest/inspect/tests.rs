use crate::ingest::sketch::{check, check_odd_values, codes};
use crate::ingest::{Format, ingest};
use crate::transcript::Usage;

const LOG: &str = r#"{"version":2,"status":"success","eval":{"task":"t","model":"p/m"},"plan":{},"samples":[{"id":"s","epoch":1,"input":"go","target":"x","messages":[{"id":"a","role":"system","content":"be"},{"id":"b","role":"user","content":[{"type":"text","text":"attachment://h1"},{"type":"image","image":"data:x"}]},{"id":"c","role":"assistant","model":"m-1","content":[{"type":"reasoning","reasoning":"hm"},{"type":"reasoning","reasoning":"zz","redacted":true},{"type":"text","text":"on it"}],"tool_calls":[{"id":"c1","function":"bash","arguments":{"cmd":"ls"}},{"id":"c2","function":"python","arguments":{"code":"1"}}]},{"id":"d","role":"tool","content":"a.txt","tool_call_id":"c1","function":"bash"},{"id":"e","role":"tool","content":"","tool_call_id":"c2","error":{"type":"timeout","message":"too long"}},{"id":"f","role":"assistant","content":"done"}],"output":{"usage":{"input_tokens":9,"output_tokens":2,"total_tokens":111,"input_tokens_cache_read":100}},"events":[{"event":"model","timestamp":"2025-01-01T00:00:00+00:00","tools":[{"name":"bash"}],"output":{"choices":[{"message":{"id":"c"}}],"usage":{"input_tokens":50,"output_tokens":3,"total_tokens":53,"input_tokens_cache_read":40}}},{"event":"compaction"}],"attachments":{"h1":"a long task"}}]}"#;

#[test]
fn samples_are_sessions() {
    let (session, read) = check(
        LOG,
        &[
            "S \"be\"",
            "U \"a long task\" [image]",
            "A (hm) <reasoning> \"on it\" bash#c1 python#c2",
            "T c1=unknown \"a.txt\"",
            "T c2=failed \"too long\"",
            "A \"done\"",
        ],
    );
    assert_eq!(read.format, Some(Format::Inspect));
    assert_eq!((read.raw.messages, read.raw.tool_calls, read.raw.compactions), (6, 2, 1));
    assert_eq!((session.id.as_str(), session.model.as_deref()), ("s_epoch_1", Some("m-1")));
    let usage = |input, output, cache_read| Some(Usage { input, output, cache_read, cache_write: 0 });
    assert_eq!(session.messages[2].usage.as_deref().copied(), usage(50, 3, 40));
    assert_eq!(session.messages[2].time, Some(1_735_689_600_000));
    assert_eq!(session.messages[5].usage.as_deref().copied(), usage(109, 2, 100));
    assert_eq!(session.tool_schema.as_deref(), Some(r#"[{"name":"bash"}]"#));
    assert_eq!(codes(&read), ["unplaced-compaction"]);
}

#[test]
fn pieces_of_an_archive() {
    let sample =
        r#"{"id":7,"epoch":2,"input":"go","target":"x","messages":[{"role":"user","content":"go"}]}"#;
    assert_eq!(check(sample, &["U \"go\""]).0.id, "7_epoch_2");
    let read = ingest(br#"{"version":2,"status":"success","eval":{"task":"t"},"plan":{}}"#, "header.json");
    assert_eq!(codes(&read), ["part-of-log"]);
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(LOG);
}
