use crate::ingest::sketch::{check, check_odd_values, codes, read_one};
use crate::ingest::{Format, ingest};
use crate::transcript::Usage;

#[test]
fn one_message_a_line() {
    let (session, read) = check(
        r#"{"role":"system","content":"be brief"}
{"role":"user","content":"list"}
{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"sh","arguments":"{\"cmd\": \"ls\"}"}}]}
{"role":"tool","tool_call_id":"c1","content":"a.txt"}
{"role":"assistant","content":"one file","usage":{"prompt_tokens":50,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":40}},"model":"m-1"}"#,
        &["S \"be brief\"", "U \"list\"", "A sh#c1", "T c1=unknown \"a.txt\"", "A \"one file\""],
    );
    assert_eq!(read.format, Some(Format::OpenaiChat));
    assert_eq!(read.evidence, "line 3 has tool_calls");
    assert_eq!((read.raw.messages, read.raw.tool_calls), (5, 1));
    assert_eq!(session.id, "test");
    assert_eq!(session.model.as_deref(), Some("m-1"));
    assert_eq!(session.call(&session.links[0]).unwrap().arguments, "{\"cmd\": \"ls\"}");
    let usage = Usage { input: 50, cache_read: 40, cache_write: 0, output: 3 };
    assert_eq!(session.messages[4].usage.as_deref(), Some(&usage));
}

#[test]
fn one_conversation_a_line() {
    let text = r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"tools":[{"type":"function"}]}
{"messages":[{"role":"user","content":[{"type":"text","value":"c"}]}]}
{"messages":[]}"#;
    let read = ingest(text.as_bytes(), "logs/set.jsonl");
    let ids: Vec<&str> = read.sessions.iter().map(|session| session.id.as_str()).collect();
    assert_eq!(ids, ["set#1", "set#2"]);
    assert_eq!(read.sessions[0].tool_schema.as_deref(), Some(r#"[{"type":"function"}]"#));
    assert_eq!(read.sessions[1].messages[0].authored_text(), "c");
    assert_eq!(read.raw.messages, 3);
}

#[test]
fn one_document() {
    for text in [
        "{\n \"messages\": [\n  {\"role\": \"user\", \"content\": \"a\"}\n ]\n}",
        "[\n {\"role\": \"user\", \"content\": \"a\"}\n]",
        "[{\"role\": \"user\", \"content\": \"a\"}]",
    ] {
        let (session, read) = check(text, &["U \"a\""]);
        assert_eq!((session.id.as_str(), read.format), ("test", Some(Format::OpenaiChat)), "{text}");
    }
}

#[test]
fn older_and_looser_forms() {
    // Functions without ids, results without ids, a developer's rules, an unknown role, parts of other kinds.
    let (_, read) = check(
        r#"{"role":"developer","content":"rules"}
{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}
{"role":"assistant","content":"","function_call":{"name":"f","arguments":"{}"}}
{"role":"function","name":"f","content":"{\"error\": \"no\"}"}
{"role":"assistant","reasoning_content":"hm","content":"x","tool_calls":[{"id":"a","name":"g","arguments":{"k":1}}]}
{"role":"tool","content":"ok","exit_code":3}
{"role":"critic","content":"tut"}"#,
        &[
            "S \"rules\"",
            "U \"see\" [image]",
            "A f#",
            "T =failed \"{\\\"error\\\": \\\"no\\\"}\"",
            "A (hm) \"x\" g#a",
            "T =failed/3 \"ok\"",
            "U ~\"tut\"",
        ],
    );
    assert_eq!(codes(&read), ["unknown-role"]);
    assert_eq!(read.raw.tool_calls, 2);
}

#[test]
fn anthropic_messages() {
    let (session, read) = check(
        r#"{"model":"m","system":[{"type":"text","text":"be"},{"type":"text","text":"brief"}],"tools":[{"name":"sh","input_schema":{}}],"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"xx"},{"type":"text","text":"on it"},{"type":"tool_use","id":"t1","name":"sh","input":{"cmd":"ls"}},{"type":"tool_use","id":"t2","name":"sh","input":{}}]},{"role":"user","content":[{"type":"text","text":"and?"},{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","data":"AA"}},{"type":"text","text":"b"}]},{"type":"tool_result","tool_use_id":"t1","content":"boom","is_error":true}]}]}"#,
        &[
            "S \"be\" \"brief\"",
            "U \"go\"",
            "A (hm) <redacted_thinking> \"on it\" sh#t1 sh#t2",
            "T t2=unknown \"a\\nb\" t1=failed \"boom\"",
            "U \"and?\"",
        ],
    );
    assert_eq!(read.format, Some(Format::AnthropicMessages));
    assert_eq!((read.raw.messages, read.raw.tool_calls), (3, 2));
    assert_eq!(session.id, "test");
    assert_eq!(session.result(&session.links[1]).unwrap().images, 1);
}

#[test]
fn text_that_a_message_carries_along_is_kept() {
    let document = r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"BODY"},"title":"Notes","context":"by Ann"}"#;
    let bare = r#"{"type":"document","source":{"type":"content","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}}"#;
    let encoded =
        r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0"}}"#;
    let hit = r#"{"type":"search_result","source":"https://a.b","title":"Hit","content":[{"type":"text","text":"found"}]}"#;
    let empty = r#"{"type":"search_result","source":"https://a.b","title":"Hit","content":[]}"#;
    let log = format!(
        r#"{{"system":"be","messages":[{{"role":"user","content":[{document},{encoded},{hit},{empty},{{"type":"text","text":"go"}}]}},{{"role":"assistant","content":[{{"type":"tool_use","id":"t","name":"f","input":{{}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":[{bare},{hit},{encoded}]}}]}}]}}"#
    );
    check(
        &log,
        &[
            r#"S "be""#,
            r#"U ~"Notes\nby Ann\nBODY" <document> ~"Hit\nhttps://a.b\nfound" <search_result> "go""#,
            "A f#t",
            r#"T t=unknown "one\ntwo\nHit\nhttps://a.b\nfound\n[document]""#,
        ],
    );
}

#[test]
fn calls_given_twice_are_read_once() {
    let text = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":[{"type":"text","text":"on it"},{"type":"tool_call","tool_call_id":"c1","name":"f","arguments":"{}"}],"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":[{"type":"tool_output","tool_call_id":"c1","output":"x"}]},{"role":"assistant","content":[{"type":"tool_call","tool_call_id":"c2","name":"g","arguments":"{}"}]}],"meta":{}}"#;
    let (_, read) = check(text, &["U \"go\"", "A \"on it\" f#c1", "T c1=unknown \"x\"", "A g#c2"]);
    assert_eq!((read.format, read.raw.tool_calls), (Some(Format::OpenaiChat), 2));
}

#[test]
fn server_tools_stay_inside_their_message() {
    check(
        r#"{"role":"user","content":"go"}
{"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"text","text":"hit"}]},{"type":"text","text":"so"}]}"#,
        &["U \"go\"", "A web_search#s1 s1=unknown \"hit\" \"so\""],
    );
}

#[test]
fn a_new_conversation_id_is_a_new_session() {
    let text = r#"{"role":"user","content":"a","session_id":"s1"}
{"role":"assistant","content":"b","session_id":"s1"}
{"role":"user","content":"c","session_id":"s2"}"#;
    let read = ingest(text.as_bytes(), "x.jsonl");
    let found: Vec<(&str, usize)> =
        read.sessions.iter().map(|session| (session.id.as_str(), session.messages.len())).collect();
    assert_eq!(found, [("s1", 2), ("s2", 1)]);
}

#[test]
fn thinking_is_told_from_text_only_where_a_reply_opens_with_it() {
    for (content, expected) in [
        (r#""<think>\nhm\n</think>\n\nso""#, r#"A (hm) "so""#),
        (
            r#"[{"type":"text","text":"\n<think>hm</think>"},{"type":"text","text":"<think>x</think>"}]"#,
            r#"A (hm) "<think>x</think>""#,
        ),
        (r#""<think></think>\n\nso""#, r#"A "so""#),
        (r#""<think>never closed""#, r#"A "<think>never closed""#),
        (r#""so <think>hm</think>""#, r#"A "so <think>hm</think>""#),
        (r#""<thinking>hm</thinking>""#, r#"A "<thinking>hm</thinking>""#),
    ] {
        let log = format!(
            r#"{{"messages":[{{"role":"user","content":"go"}},{{"role":"assistant","content":{content}}}]}}"#
        );
        check(&log, &[r#"U "go""#, expected]);
    }
}

#[test]
fn a_field_that_comes_twice_in_arguments_is_noted() {
    for (arguments, noted) in [
        (r#""{\"path\": \"a\", \"path\": \"b\"}""#, 1),
        (r#""{\"in\": [{\"k\": 1, \"k\": 2}]}""#, 1),
        (r#"{"path":"a","path":"b"}"#, 1),
        (r#""{\"path\": \"a\", \"in\": {\"path\": \"b\"}}""#, 0),
        (r#""{\"path\": 1, \"path\"""#, 0),
        (r#""*** Begin Patch""#, 0),
    ] {
        for call in [
            format!(
                r#""tool_calls":[{{"id":"c","type":"function","function":{{"name":"f","arguments":{arguments}}}}}]"#
            ),
            format!(r#""function_call":{{"name":"f","arguments":{arguments}}}"#),
        ] {
            let log =
                format!(r#"{{"messages":[{{"role":"user","content":"go"}},{{"role":"assistant",{call}}}]}}"#);
            let (_, read) = read_one(&log);
            assert_eq!(codes(&read), vec!["duplicate-field"; noted], "{log}");
        }
    }
}

#[test]
fn markup_calls_stay_text() {
    let (session, _) = check(
        r#"{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"<function=bash><parameter=command>ls</parameter></function>"}]}"#,
        &["U \"go\"", "A \"<function=bash><parameter=command>ls</parameter></function>\""],
    );
    assert!(session.links.is_empty());
}

#[test]
fn observations_behind_markup_calls_are_no_requests() {
    let (session, read) = check(
        r#"{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"<function=bash>\n<parameter=command>ls</parameter>\n</function>"},{"role":"user","content":"OBSERVATION:\na.rs"},{"role":"assistant","content":"done"},{"role":"user","content":"Your command ran successfully and did not produce any output."}]}"#,
        &[
            "U \"go\"",
            "A \"<function=bash>\\n<parameter=command>ls</parameter>\\n</function>\"",
            "U ~\"OBSERVATION:\\na.rs\"",
            "A \"done\"",
            "U ~\"Your command ran successfully and did not produce any output.\"",
        ],
    );
    assert_eq!(session.messages.iter().filter(|message| message.is_user_request()).count(), 1);
    assert_eq!(read.raw.messages, 5);
}

/// What is no list of messages parts none, and counts as nothing.
#[test]
fn lists_without_messages_are_no_conversations() {
    let log = |odd: &str| {
        format!(
            "{{\"role\":\"user\",\"content\":\"a\"}}\n{odd}\n{{\"role\":\"assistant\",\"content\":\"b\"}}"
        )
    };
    for odd in ["[]", "[1,2]", "null", "42", "{}"] {
        let (_, read) = check(&log(odd), &[r#"U "a""#, r#"A "b""#]);
        assert_eq!((read.raw.messages, codes(&read)), (2, vec!["unknown-record"]), "{odd}");
    }
    let (_, read) = check(r#"{"messages":[{"role":"user","content":"a"},null,7]}"#, &[r#"U "a""#]);
    assert_eq!((read.raw.messages, codes(&read)), (1, vec!["bad-record"]));
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(
        r#"{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:x"}}],"session_id":"s"}
{"role":"assistant","content":"x","reasoning_content":"y","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}],"usage":{"prompt_tokens":1}}
{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"a"}],"metadata":{"exit_code":1}}"#,
    );
    check_odd_values(
        r#"{"system":"s","tools":[{"name":"n"}],"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"}],"is_error":true}]}]}"#,
    );
}
