//! Sessions written by hand.

use super::super::sketch::{check, check_odd_values, codes, read_one};

const HEADER: &str = r#"{"working_dir":"/w","description":"d","message_count":4,"total_tokens":9}"#;
const CALLS: &str = r#"{"role":"assistant","created":1700000001,"content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"toolRequest","id":"a","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"ls"}}}},{"type":"toolRequest","id":"b","toolCall":{"name":"developer__text_editor","arguments":{"command":"view","path":"x"}}},{"type":"toolRequest","id":"c","toolCall":{"status":"error","error":"no such tool"}}]}"#;
const RESULTS: &str = r#"{"role":"user","created":1700000002,"content":[{"type":"toolResponse","id":"a","toolResult":{"status":"success","value":[{"type":"text","text":"x"},{"type":"image","data":"AA","mimeType":"image/png"}]}},{"type":"toolResponse","id":"b","content":[{"type":"text","text":"body"}]},{"type":"toolResponse","id":"c","toolResult":{"status":"error","error":"-32602"}}]}"#;

fn said(role: &str, text: &str, fields: &str) -> String {
    format!(
        r#"{{"role":"{role}","created":1700000003,"content":[{{"type":"text","text":"{text}"}}]{fields}}}"#
    )
}

#[test]
fn wrapped_and_bare() {
    let log = [HEADER, &said("user", "go", ""), CALLS, RESULTS, &said("assistant", "done", "")].join("\n");
    let (session, read) = check(
        &log,
        &[
            r#"U "go""#,
            "A (hm) developer__shell#a developer__text_editor#b #c",
            r#"T a=ok "x" b=ok "body" c=failed "-32602""#,
            r#"A "done""#,
        ],
    );
    assert_eq!(session.messages[0].cwd.as_deref(), Some("/w"));
    assert_eq!(session.messages[1].time, Some(1_700_000_001_000));
    assert_eq!(session.result(&session.links[0]).unwrap().images, 1);
    assert_eq!((read.raw.messages, read.raw.tool_calls), (4, 3));
}

#[test]
fn newer_results_hold_a_flag() {
    let result = r#"{"role":"user","created":1,"content":[{"type":"toolResponse","id":"a","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"no"}],"isError":true}}}]}"#;
    let (session, _) = read_one(&[CALLS, result].join("\n"));
    let result = session.result(&session.links[0]).unwrap();
    assert_eq!((result.text.as_str(), result.outcome), ("no", crate::transcript::Outcome::Failed));
}

#[test]
fn of_a_result_only_what_the_model_sees_is_text() {
    let item = |text: &str, annotations: &str| format!(r#"{{"type":"text","text":"{text}"{annotations}}}"#);
    let items = [
        item("all lines", r#","annotations":{"audience":["assistant"]}"#),
        item("a few", r#","annotations":{"audience":["user"],"priority":0.0}"#),
        item("for both", r#","annotations":{"audience":["user","assistant"]}"#),
        item("unsaid", r#","annotations":{"audience":null}"#),
        r#"{"type":"image","data":"AA","mimeType":"image/png","annotations":{"audience":["user"]}}"#
            .to_owned(),
    ]
    .join(",");
    let result = |value: &str| {
        format!(
            r#"{{"role":"user","created":1,"content":[{{"type":"toolResponse","id":"a","toolResult":{{"status":"success","value":{value}}}}}]}}"#
        )
    };
    for value in [format!("[{items}]"), format!(r#"{{"content":[{items}],"isError":false}}"#)] {
        let (session, _) = read_one(&[CALLS, &result(&value)].join("\n"));
        let result = session.result(&session.links[0]).unwrap();
        assert_eq!((result.text.as_str(), result.images), ("all lines\nfor both\nunsaid", 0));
    }
}

#[test]
fn compactions_hide_what_was_said() {
    let gone = r#","metadata":{"userVisible":true,"agentVisible":false}"#;
    let added = r#","metadata":{"userVisible":false,"agentVisible":true}"#;
    let log = [
        said("user", "go", gone),
        said("assistant", "a", gone),
        said("user", "more", gone),
        said("user", "So far: x.", added),
        said("assistant", "I go on.", added),
        said("user", "more", added),
        said("assistant", "b", ""),
    ];
    let (session, read) = check(&log.join("\n"), &[r#"U "go""#, r#"A "a""#, r#"U "more""#, r#"A "b""#]);
    let [recorded] = session.recorded.as_slice() else { panic!("{session:#?}") };
    let kept: Vec<u32> = recorded.kept.iter().map(|at| at.0).collect();
    assert_eq!((recorded.before.get(), kept, recorded.summary.as_deref()), (3, vec![2], Some("So far: x.")));
    assert_eq!((read.raw.messages, read.raw.compactions), (7, 1));
    let (session, _) = check(&log[3..].join("\n"), &[r#"U ~"So far: x.""#, r#"A "b""#]);
    assert!(session.starts_compacted);
}

#[test]
fn exports_hold_a_whole_session() {
    let log = format!(
        r#"{{"id":"20250101_1","working_dir":"/w","model_config":{{"model_name":"m"}},"conversation":[{},{}]}}"#,
        said("user", "go", ""),
        r#"{"role":"assistant","created":1,"content":[{"type":"omen"},{"type":"systemNotification","msg":"x"}]}"#
    );
    let (session, read) = check(&log, &[r#"U "go""#, "A <omen>"]);
    assert_eq!((session.id.as_str(), session.model.as_deref()), ("20250101_1", Some("m")));
    assert_eq!(codes(&read), ["unknown-block"]);
}

#[test]
fn what_is_no_message_is_named() {
    let log = [
        HEADER,
        &said("user", "go", ""),
        r#"{"type":"omen","text":"x"}"#,
        r#"{"role":"user","message":{"content":"also this"}}"#,
        r#"{"role":"assistant","text":"x"}"#,
        "[1]",
        &said("assistant", "done", ""),
    ];
    let (_, read) = check(&log.join("\n"), &[r#"U "go""#, r#"U "also this""#, r#"A "done""#]);
    assert_eq!((read.raw.messages, codes(&read)), (3, vec!["unknown-record"; 3]));
}

#[test]
fn any_field_may_be_anything() {
    let added = r#","metadata":{"userVisible":false,"agentVisible":true}"#;
    let log = [
        HEADER,
        &said("user", "go", ""),
        CALLS,
        RESULTS,
        &said("user", "s", added),
        &said("user", "go", added),
    ];
    check_odd_values(&log.join("\n"));
}
