//! Dumps written by hand.

use super::super::sketch::{check, check_odd_values, codes, sketch};
use crate::ingest::ingest;
use crate::transcript::{Origin, Outcome};

const SESSION: &str = r#"{"_table":"sessions","id":"s","parent_session_id":null,"title":"T","summary_message_id":null,"prompt_tokens":5}"#;

/// A row of messages: id, time, role and parts.
fn row(id: &str, time: u32, role: &str, parts: &str) -> String {
    format!(
        r#"{{"_table":"messages","id":"{id}","session_id":"s","role":"{role}","parts":[{parts}],"model":"m","created_at":17000000{time:02}}}"#
    )
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","data":{{"text":"{text}"}}}}"#)
}

const CALL: &str = r#"{"type":"reasoning","data":{"thinking":"hm","signature":""}},{"type":"tool_call","data":{"id":"c","name":"bash","input":"{\"command\":\"ls\"}","finished":true}},{"type":"tool_call","data":{"id":"d","name":"view","input":"{\"file_path\":\"a\"}"}},{"type":"finish","data":{"reason":"tool_use","time":1}}"#;
const RESULT: &str = r#"{"type":"tool_result","data":{"tool_call_id":"c","name":"bash","content":"no\nExit code 2","metadata":"","is_error":false}},{"type":"tool_result","data":{"tool_call_id":"d","content":"gone","is_error":true}}"#;

#[test]
fn rows_in_order_of_time() {
    let log = [
        SESSION.to_owned(),
        row("3", 3, "tool", RESULT),
        row("2", 2, "assistant", CALL),
        row(
            "1",
            1,
            "user",
            &[
                text("go"),
                r#"{"type":"binary","data":{"Path":"a.png","MIMEType":"image/png","Data":"AA"}}"#.to_owned(),
            ]
            .join(","),
        ),
        row(
            "4",
            4,
            "assistant",
            r#"{"type":"finish","data":{"reason":"error","message":"Bad request","details":"too long"}}"#,
        ),
        r#"{"_table":"files","id":"f","session_id":"s","path":"a","content":"x"}"#.to_owned(),
    ];
    let (session, read) = check(
        &log.join("\n"),
        &[r#"U "go" [image]"#, "A (hm) bash#c view#d", r#"T c=failed/2 "no\nExit code 2" d=failed "gone""#],
    );
    assert_eq!((session.id.as_str(), session.model.as_deref()), ("s", Some("m")));
    assert_eq!(session.call(&session.links[0]).unwrap().arguments, r#"{"command":"ls"}"#);
    assert_eq!(session.result(&session.links[1]).unwrap().outcome, Outcome::Failed);
    assert_eq!(session.messages[0].time, Some(1_700_000_001_000));
    assert_eq!(session.refusals[0].text, "Bad request: too long");
    assert_eq!((read.raw.messages, read.raw.tool_calls), (4, 2));
    assert_eq!(codes(&read), Vec::<&str>::new());
}

#[test]
fn summaries_and_sub_agents() {
    let log = [
        SESSION.replace(r#""summary_message_id":null"#, r#""summary_message_id":"3""#),
        r#"{"_table":"sessions","id":"t","parent_session_id":"s","title":"Search"}"#.to_owned(),
        row("1", 1, "user", &text("go")),
        row("2", 2, "assistant", &text("a")),
        row("3", 3, "assistant", &text("So far: x.")),
        row("4", 4, "user", &text("on")),
        row("5", 5, "user", &text("look")).replace(r#""session_id":"s""#, r#""session_id":"t""#),
    ];
    let read = ingest(log.join("\n").as_bytes(), "x.jsonl");
    let [main, side] = read.sessions.as_slice() else { panic!("{read:#?}") };
    assert_eq!(sketch(main), [r#"U "go""#, r#"A "a""#, r#"U "on""#]);
    let recorded = &main.recorded[0];
    assert_eq!(
        (recorded.before.get(), recorded.kept.len(), recorded.summary.as_deref()),
        (2, 0, Some("So far: x."))
    );
    assert_eq!(
        (sketch(side), &side.origin),
        (vec![r#"U "look""#.to_owned()], &Origin::Sidechain("Search".to_owned()))
    );
    assert_eq!(read.raw.compactions, 1);
}

#[test]
fn any_field_may_be_anything() {
    let summary =
        row("4", 4, "assistant", &text("s")).replace(r#""model""#, r#""is_summary_message":1,"model""#);
    let log = [
        SESSION.to_owned(),
        row("1", 1, "user", &text("go")),
        row("2", 2, "assistant", CALL),
        row("3", 3, "tool", RESULT),
        summary,
    ];
    check_odd_values(&log.join("\n"));
}
