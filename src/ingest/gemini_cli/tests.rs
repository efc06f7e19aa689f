//! Tests of the Gemini CLI reader.

use crate::ingest::ingest;
use crate::ingest::sketch::{check, check_odd_values, codes, read_one, sketch};
use crate::transcript::{Origin, Usage};

const META: &str = r#"{"sessionId":"g-1","projectHash":"ab","startTime":"2026-01-01T00:00:00Z","kind":"main","directories":["/w"]}"#;

const CALLING: &str = r#"{"id":"b","timestamp":"2026-01-01T00:00:02Z","type":"gemini","content":"look","thoughts":[{"subject":"Plan","description":"first ls"}],"tokens":{"input":100,"output":10,"cached":40,"thoughts":5,"tool":3,"total":118},"model":"gemini-x","toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"ls"},"status":"success","result":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"Command: ls\nDirectory: (root)\nOutput: no\nError: (none)\nExit Code: 2\nSignal: 0"}}}]},{"id":"c2","name":"read_file","args":{"file_path":"/w/a"},"status":"success","result":[{"functionResponse":{"id":"c2","response":{"output":"body"}}},{"inlineData":{"mimeType":"image/png","data":"abcd"}}]},{"id":"c3","name":"read_file","args":{},"status":"error","result":[{"functionResponse":{"id":"c3","response":{"error":"not there"}}}]},{"id":"c4","name":"read_file","args":{},"status":"cancelled","resultDisplay":"stopped"},{"id":"c5","name":"read_file","args":{},"status":"executing"}]}"#;

#[test]
fn a_chat_in_one_document() {
    let user = r#"{"id":"a","type":"user","content":[{"text":"hi"},{"inlineData":{"mimeType":"image/png","data":"abcd"}}]}"#;
    let rest = r#"{"id":"d","type":"info","content":"update"},{"id":"e","type":"error","content":"quota"},{"id":"f","type":"model","parts":[{"text":"hm","thought":true},{"text":"done"}]},{"id":"g","type":"omen","content":"?"}"#;
    let document = format!(r#"{{"sessionId":"g-1","startTime":"t","messages":[{user},{CALLING},{rest}]}}"#);
    let (session, read) = check(
        &document,
        &[
            r#"U "hi" [image]"#,
            "A (Plan\nfirst ls) \"look\" run_shell_command#c1 read_file#c2 read_file#c3 read_file#c4 read_file#c5",
            r#"T c1=failed/2 "Command: ls\nDirectory: (root)\nOutput: no\nError: (none)\nExit Code: 2\nSignal: 0" c2=ok "body" c3=failed "not there" c4=failed "stopped""#,
            r#"A (hm) "done""#,
        ],
    );
    assert_eq!((read.raw.messages, read.raw.tool_calls), (5, 5));
    assert_eq!(
        session.messages[1].usage.as_deref(),
        Some(&Usage { input: 103, cache_read: 40, cache_write: 0, output: 15 })
    );
    assert_eq!((session.id.as_str(), session.model.as_deref()), ("g-1", Some("gemini-x")));
    assert_eq!((session.messages[1].line, session.messages[1].time), (2, Some(1_767_225_602_000)));
    assert_eq!(session.refusals[0].text, "quota");
    assert_eq!(codes(&read), ["unknown-role"]);
}

#[test]
fn a_chat_of_lines_is_a_list_under_change() {
    let lines = [
        META,
        r#"{"id":"a","type":"user","content":"one"}"#,
        r#"{"id":"b","type":"gemini","content":""}"#,
        r#"{"$set":{"lastUpdated":"t"}}"#,
        r#"{"id":"b","type":"gemini","content":"two"}"#,
        r#"{"id":"c","type":"user","content":"wrong"}"#,
        r#"{"id":"d","type":"gemini","content":"wrong too"}"#,
        r#"{"$rewindTo":"c"}"#,
        r#"{"id":"e","type":"user","content":"three"}"#,
        r#"{"$set":{"messages":[{"id":"s","type":"user","content":[{"text":"<state_snapshot>so far</state_snapshot>"}]},{"id":"t","type":"gemini","content":"Got it."},{"id":"e","type":"user","content":"three"}]}}"#,
        r#"{"id":"f","type":"gemini","content":"four"}"#,
    ];
    let (session, read) =
        check(&lines.join("\n"), &[r#"U "one""#, r#"A "two""#, r#"U "three""#, r#"A "four""#]);
    let recorded = &session.recorded[0];
    assert_eq!((recorded.before.0, recorded.kept.iter().map(|at| at.0).collect::<Vec<_>>()), (3, vec![2]));
    assert_eq!(recorded.summary.as_deref(), Some("<state_snapshot>so far</state_snapshot>"));
    assert_eq!((read.raw.messages, read.raw.compactions), (6, 1));
    assert_eq!(session.messages[0].cwd.as_deref(), Some("/w"));
    assert_eq!(codes(&read), Vec::<&str>::new());
}

#[test]
fn a_list_may_take_back_or_begin_with_a_summary() {
    let back = [
        META,
        r#"{"id":"a","type":"user","content":"one"}"#,
        r#"{"id":"b","type":"gemini","content":"two"}"#,
        r#"{"$set":{"messages":[{"id":"a","type":"user","content":"one"}]}}"#,
        r#"{"id":"c","type":"gemini","content":"other"}"#,
    ];
    check(&back.join("\n"), &[r#"U "one""#, r#"A "other""#]);
    let begun = [
        r#"{"sessionId":"s","projectHash":"ab","kind":"subagent"}"#,
        r#"{"id":"a","type":"user","content":"<state_snapshot>x</state_snapshot>"}"#,
        r#"{"id":"b","type":"gemini","content":"two"}"#,
    ];
    let (session, _) =
        check(&begun.join("\n"), &[r#"U ~"<state_snapshot>x</state_snapshot>""#, r#"A "two""#]);
    assert!(session.starts_compacted);
    assert_eq!(session.origin, Origin::Sidechain("s".to_owned()));
    let odd = [
        META,
        r#"{"id":"a","type":"user","content":"one"}"#,
        r#"{"id":"b","type":"gemini","content":"two"}"#,
        r#"{"$set":{"messages":[{"type":"user","content":"<state_snapshot>x"},{"type":"user","content":"new"}]}}"#,
    ];
    let (session, read) = read_one(&odd.join("\n"));
    assert!(session.recorded[0].kept_unknown);
    assert_eq!(codes(&read), ["kept-unknown"]);
}

#[test]
fn the_stream_gives_replies_in_pieces() {
    let lines = [
        r#"{"type":"init","timestamp":"2026-01-01T00:00:00Z","session_id":"s-1","model":"gemini-x"}"#,
        r#"{"type":"message","role":"user","content":"go"}"#,
        r#"{"type":"message","role":"assistant","content":"I wi","delta":true}"#,
        r#"{"type":"message","role":"assistant","content":"ll look","delta":true}"#,
        r#"{"type":"tool_use","tool_name":"read_file","tool_id":"c1","parameters":{"file_path":"a"}}"#,
        r#"{"type":"tool_use","tool_name":"read_file","tool_id":"c2","parameters":{"file_path":"b"}}"#,
        r#"{"type":"tool_result","tool_id":"c1","status":"success","output":"body"}"#,
        r#"{"type":"tool_result","tool_id":"c2","status":"error","error":{"type":"x","message":"gone"}}"#,
        r#"{"type":"message","role":"assistant","content":"done","delta":true}"#,
        r#"{"type":"error","severity":"error","message":"limit"}"#,
        r#"{"type":"result","status":"success","stats":{"total_tokens":9}}"#,
    ];
    let (session, read) = check(
        &lines.join("\n"),
        &[
            r#"U "go""#,
            r#"A "I will look" read_file#c1 read_file#c2"#,
            r#"T c1=ok "body""#,
            r#"T c2=failed "gone""#,
            r#"A "done""#,
        ],
    );
    assert_eq!((read.raw.messages, read.raw.tool_calls, session.refusals.len()), (3, 2, 1));
    assert_eq!((session.id.as_str(), session.model.as_deref()), ("s-1", Some("gemini-x")));
    check_odd_values(&lines.join("\n"));
}

#[test]
fn any_field_may_be_anything() {
    let lines = [
        META,
        r#"{"id":"a","type":"user","content":[{"text":"one"}]}"#,
        CALLING,
        r#"{"$rewindTo":"x"}"#,
        r#"{"id":"a","type":"user","content":"one"}"#,
        r#"{"id":"b","type":"gemini","content":"two"}"#,
        r#"{"$set":{"messages":[{"id":"s","type":"user","content":"<state_snapshot>x"},{"id":"b","type":"gemini","content":"two"}]}}"#,
        r#"{"id":"c","type":"gemini","parts":[{"functionCall":{"id":"x","name":"y","args":{}}}]}"#,
    ];
    check_odd_values(&lines.join("\n"));
}

#[test]
fn documents_behind_each_other() {
    let chat = |id: &str| {
        format!(
            "{{\n  \"sessionId\": \"{id}\", \"startTime\": \"t\",\n  \"messages\": [{{\"type\": \"user\", \"content\": \"of {id}\"}}]\n}}"
        )
    };
    let read = ingest(format!("{}\n{}\n", chat("a"), chat("b")).as_bytes(), "x.json");
    let shown: Vec<(&str, Vec<String>)> =
        read.sessions.iter().map(|session| (session.id.as_str(), sketch(session))).collect();
    assert_eq!(shown, [("a", vec!["U \"of a\"".to_owned()]), ("b", vec!["U \"of b\"".to_owned()])]);
}
