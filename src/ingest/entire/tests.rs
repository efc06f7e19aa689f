use super::super::sketch::{check, check_odd_values, codes};

/// Records with the fields that all of them have.
fn records(lines: &[&str]) -> String {
    let record = |line: &&str| format!(r#"{{"v":1,"agent":"a","cli_version":"0.8",{line}}}"#);
    lines.iter().map(record).collect::<Vec<_>>().join("\n")
}

const ORDINARY: [&str; 5] = [
    r#""type":"user","ts":"2026-01-02T03:04:05.000Z","content":[{"text":"fix it"}]"#,
    r#""type":"user","content":[{"text":"<system_reminder>\nx\n</system_reminder>"}]"#,
    r#""type":"assistant","id":"r1","ts":"2026-01-02T03:04:06.000Z","output_tokens":5,"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I look"},{"type":"tool_use","id":"c1","name":"view","input":{"path":"/w/a.rs"},"result":{"output":"fn a","status":"success"}}]"#,
    r#""type":"assistant","id":"r1","content":[{"type":"tool_use","id":"c2","name":"bash","input":{"command":"make"},"result":{"output":"no\n<shellId: 0 completed with exit code 2>","status":"success"}},{"type":"tool_use","id":"c3","name":"edit","input":{},"result":{"output":"no match","status":"error"}},{"type":"tool_use","id":"c4","name":"task","input":{}}]"#,
    r#""type":"assistant","id":"r2","content":[{"type":"text","text":"done"}]"#,
];

#[test]
fn calls_hold_their_results() {
    let (session, read) = check(
        &records(&ORDINARY),
        &[
            r#"U "fix it""#,
            r#"U ~"<system_reminder>\nx\n</system_reminder>""#,
            r#"A (hm) "I look" view#c1 bash#c2 edit#c3 task#c4"#,
            r#"T c1=ok "fn a" c2=failed/2 "no\n<shellId: 0 completed with exit code 2>" c3=failed "no match""#,
            r#"A "done""#,
        ],
    );
    assert_eq!((read.raw.messages, read.raw.tool_calls), (5, 4));
    assert_eq!(session.messages[2].line_of(3), 4);
    assert!(session.messages[0].time.is_some());
    assert!(session.messages.iter().all(|message| message.usage.is_none()));
}

#[test]
fn unknown_types_are_noted() {
    let (_, read) = check(&records(&[ORDINARY[0], r#""type":"widget""#]), &[r#"U "fix it""#]);
    assert_eq!((read.raw.messages, codes(&read)), (1, vec!["unknown-record"]));
}

#[test]
fn odd_values() {
    check_odd_values(&records(&ORDINARY));
}
