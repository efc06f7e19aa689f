use serde_json::json;

use crate::ingest::sketch::{check, check_odd_values, codes};
use crate::ingest::{Format, ingest};
use crate::transcript::Usage;

#[test]
fn a_list_of_messages() {
    let text = r#"[{"role":"system","content":"be"},{"role":"user","content":"task"},
{"role":"assistant","content":"Look:\n\n```mswea_bash_command\ncat a.py\n```"},
{"role":"user","content":"<returncode>1</returncode>\n<output>\nno\n</output>"},
{"role":"assistant","content":"prose"},{"role":"user","content":"Please always provide one action"},
{"role":"assistant","content":"```mswea_bash_command\nls\n```\nand\n```mswea_bash_command\nls\n```"}]"#;
    let (session, read) = check(
        text,
        &[
            "S \"be\"",
            "U \"task\"",
            "A \"Look:\" bash#",
            "T =failed/1 \"<returncode>1</returncode>\\n<output>\\nno\\n</output>\"",
            "A \"prose\"",
            "U ~\"Please always provide one action\"",
            "A \"```mswea_bash_command\\nls\\n```\\nand\\n```mswea_bash_command\\nls\\n```\"",
        ],
    );
    assert_eq!(read.format, Some(Format::MiniSweAgent));
    assert_eq!((read.raw.messages, read.raw.tool_calls), (7, 3));
    assert_eq!(session.call(&session.links[0]).unwrap().arguments, r#"{"command":"cat a.py"}"#);
}

const DOCUMENT: &str = r#"{"info":{"mini_version":"2.0.0","config":{"model":{"model_name":"m-0"},"environment":{"cwd":"/w"}}},"messages":[{"role":"user","content":"task"},{"role":"assistant","content":"look","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}],"extra":{"response":{"model":"m-1","usage":{"prompt_tokens":9,"completion_tokens":2}},"timestamp":1700000000.5}},{"role":"tool","tool_call_id":"c1","content":"<returncode>0</returncode>","extra":{"returncode":0,"timestamp":1700000001}},{"object":"response","model":"m-2","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"so"}]},{"type":"function_call","call_id":"c2","name":"bash","arguments":"{}"}]},{"type":"function_call_output","call_id":"c2","output":"x"},{"role":"exit","content":"patch"}],"trajectory_format":"mini-swe-agent-1.1"}"#;

#[test]
fn a_document() {
    let (session, read) = check(
        DOCUMENT,
        &[
            "U \"task\"",
            "A \"look\" bash#c1",
            "T c1=ok/0 \"<returncode>0</returncode>\"",
            "A \"so\" bash#c2",
            "T c2=unknown \"x\"",
        ],
    );
    assert_eq!(session.main_cwd(), Some("/w"));
    assert_eq!(session.model.as_deref(), Some("m-2"));
    assert_eq!(
        session.messages[1].usage.as_deref(),
        Some(&Usage { input: 9, output: 2, ..Usage::default() })
    );
    assert_eq!(session.messages[1].time, Some(1_700_000_000_500));
    assert_eq!((read.raw.messages, read.raw.tool_calls, codes(&read)), (6, 2, vec![]));
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(DOCUMENT);
    check_odd_values(
        r#"{"role":"assistant","content":"```mswea_bash_command\nls\n```"}
{"role":"user","content":"<returncode>0</returncode>\n<output>\n</output>","extra":{"returncode":1}}"#,
    );
}

/// Lists of messages behind each other are a session each, of this format and of plain messages.
#[test]
fn lists_behind_each_other() {
    let task = "\n```mswea_bash_command\nls\n```";
    for text in [task, "done"] {
        let list = |said: &str| {
            let messages = json!([{"role": "user", "content": said}, {"role": "assistant", "content": text}]);
            serde_json::to_string_pretty(&messages).unwrap()
        };
        let read = ingest(format!("{}\n{}\n{}", list("a"), list("b"), list("c")).as_bytes(), "x.json");
        let first: Vec<(&str, String)> = read
            .sessions
            .iter()
            .map(|session| (session.id.as_str(), session.messages[0].authored_text()))
            .collect();
        let expected = [("x#1", "a"), ("x#2", "b"), ("x#3", "c")];
        assert_eq!(first, expected.map(|(id, said)| (id, said.to_owned())));
        assert_eq!(codes(&read), ["glued-records"]);
    }
}
