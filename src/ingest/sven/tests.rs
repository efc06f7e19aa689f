use super::super::ingest;
use super::super::sketch::{check, check_odd_values, codes};

const LINES: &str = r#"{"type":"message","data":{"role":"user","content":"fix it"}}
{"type":"thinking","data":{"content":"hm"}}
{"type":"message","data":{"role":"assistant","content":"I look"}}
{"type":"message","data":{"role":"assistant","content":{"tool_call_id":"c1","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}}}
{"type":"message","data":{"role":"tool","content":{"tool_call_id":"c1","content":"fn a"}}}
{"type":"context_compacted","data":{"tokens_before":900,"tokens_after":100,"strategy":"structured","turn":2}}
{"type":"message","data":{"role":"assistant","content":"done"}}
{"type":"message","data":{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","image_url":"data:image/png;base64,AA"}]}}"#;

const TURNS: [&str; 5] = [
    r#"U "fix it""#,
    r#"A (hm) "I look" read_file#c1"#,
    r#"T c1=unknown "fn a""#,
    r#"A "done""#,
    r#"U "see" [image]"#,
];

#[test]
fn lines_of_records() {
    let (session, read) = check(LINES, &TURNS);
    assert_eq!((read.raw.messages, read.raw.tool_calls, read.raw.compactions), (6, 1, 1));
    let recorded = &session.recorded[0];
    assert_eq!((recorded.before.0, recorded.tokens_before, recorded.tokens_after), (3, Some(900), Some(100)));
    assert!(recorded.kept_unknown);
    assert_eq!(session.messages[1].line_of(2), 4);
}

#[test]
fn a_long_chat_in_yaml_is_read_whole() {
    let chat = format!(
        "---\nid: s-1\ntitle: t\ncreated_at: \"2026-03-09T11:37:29Z\"\nmodel: p/m-1\nturns:\n{}",
        "- role: user\n  content: more\n".repeat(100_000)
    );
    let read = ingest(chat.as_bytes(), "long.yaml");
    assert_eq!((read.sessions[0].messages.len(), codes(&read)), (100_000, Vec::new()));
}

#[test]
fn chats_in_yaml() {
    let chat = "---\nid: s-1\ntitle: t\ncreated_at: \"2026-03-09T11:37:29Z\"\nmodel: p/m-1\nturns:\n- role: user\n  content: |-\n    fix\n    it\n\
                - role: tool_call\n  tool_call_id: c1\n  name: list_dir\n  arguments:\n    depth: 2\n    path: /w\n\
                - role: tool_result\n  tool_call_id: c1\n  content: a\n- role: context_compacted\n  tokens_before: 9\n  tokens_after: 1\n";
    let (session, _) = check(chat, &[r#"U "fix\nit""#, "A list_dir#c1", r#"T c1=unknown "a""#]);
    assert_eq!((session.id.as_str(), session.model.as_deref()), ("s-1", Some("p/m-1")));
    assert_eq!(session.call(&session.links[0]).unwrap().arguments, r#"{"depth":2,"path":"/w"}"#);
    assert_eq!(session.recorded.len(), 1);
    let damaged = chat.replace("arguments:\n", "arguments: [\n");
    assert_eq!(codes(&ingest(damaged.as_bytes(), "x.yaml")), ["bad-yaml"]);
}

#[test]
fn conversations_in_markdown() {
    let text = "# Title\n\n## User\nfix it\n\n## More of it\nx\n\n<!-- provider: p, model: m-1 -->\n## Sven\nI look\n\n## Tool\n```json\n\
                {\"tool_call_id\":\"c1\",\"name\":\"read_file\",\"args\":{\"path\":\"a\"}}\n```\n\n## Tool Result\n```\nfn a\n```\n\n## Tool\nno json\n";
    let (session, read) = check(
        text,
        &[r#"U "fix it\n\n## More of it\nx""#, r#"A "I look" read_file#c1"#, r#"T c1=unknown "fn a""#],
    );
    assert_eq!(session.model.as_deref(), Some("m-1"));
    assert_eq!(codes(&read), ["bad-record"]);
}

#[test]
fn odd_values() {
    check_odd_values(LINES);
}
