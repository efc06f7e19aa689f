use crate::ingest::sketch::{check, check_odd_values, codes};
use crate::ingest::{Format, ingest};
use crate::transcript::{Origin, Usage};
use serde_json::json;

/// A span with attributes given as text.
fn span(id: &str, parent: &str, start: u64, name: &str, attributes: &[(&str, &str)]) -> serde_json::Value {
    let attributes: Vec<_> =
        attributes.iter().map(|(key, value)| json!({"key": key, "value": {"stringValue": value}})).collect();
    json!({"traceId": "t", "spanId": id, "parentSpanId": parent, "name": name, "attributes": attributes,
        "startTimeUnixNano": (1_700_000_000_000_000_000 + start).to_string()})
}

fn export(spans: &[serde_json::Value]) -> String {
    json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string()
}

fn delegation() -> String {
    let first = r#"[{"role":"user","parts":[{"type":"text","content":"go"}]}]"#;
    let asked = r#"[{"role":"assistant","parts":[{"type":"reasoning","content":"hm"},{"type":"tool_call","id":"c1","name":"ask","arguments":{"q":1}}]}]"#;
    let second = r#"[{"role":"user","parts":[{"type":"text","content":"go"}]},{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"ask","arguments":{"q":1}}]},{"role":"user","parts":[{"type":"tool_call_response","id":"c1","result":"42"}]}]"#;
    let chat = ("gen_ai.operation.name", "chat");
    let rules = ("gen_ai.system_instructions", r#"[{"type":"text","content":"be"}]"#);
    export(&[
        span(
            "s3",
            "a",
            300,
            "chat",
            &[
                chat,
                rules,
                ("gen_ai.conversation.id", "k1"),
                ("gen_ai.input.messages", second),
                (
                    "gen_ai.output.messages",
                    r#"[{"role":"assistant","parts":[{"type":"tool_call","id":"c2","name":"end","arguments":"{}"}]}]"#,
                ),
            ],
        ),
        span(
            "s1",
            "a",
            100,
            "chat",
            &[
                chat,
                rules,
                ("gen_ai.conversation.id", "k1"),
                ("gen_ai.input.messages", first),
                ("gen_ai.output.messages", asked),
                ("gen_ai.response.model", "m"),
                ("gen_ai.tool.definitions", "[{\"name\":\"ask\"}]"),
            ],
        ),
        span(
            "x1",
            "a",
            150,
            "execute_tool ask",
            &[("gen_ai.operation.name", "execute_tool"), ("gen_ai.tool.call.id", "c1")],
        ),
        span(
            "b",
            "x1",
            160,
            "invoke_agent",
            &[("gen_ai.operation.name", "invoke_agent"), ("gen_ai.agent.name", "helper")],
        ),
        span(
            "s2",
            "b",
            200,
            "chat",
            &[
                chat,
                ("gen_ai.conversation.id", "k2"),
                ("gen_ai.input.messages", r#"[{"role":"user","parts":[{"type":"text","content":"sub"}]}]"#),
                (
                    "gen_ai.output.messages",
                    r#"[{"role":"assistant","parts":[{"type":"text","content":"42"}]}]"#,
                ),
            ],
        ),
        span(
            "x2",
            "a",
            400,
            "execute_tool end",
            &[
                ("gen_ai.operation.name", "execute_tool"),
                ("gen_ai.tool.call.id", "c2"),
                ("gen_ai.tool.call.result", "over"),
            ],
        ),
    ])
}

#[test]
fn every_conversation_is_read_once() {
    let read = ingest(delegation().as_bytes(), "x.json");
    let [session, sub] = read.sessions.as_slice() else { panic!("{read:?}") };
    assert_eq!((sub.id.as_str(), &sub.origin), ("k2", &Origin::Sidechain("helper".to_owned())));
    assert_eq!(
        (session.id.as_str(), session.model.as_deref(), &session.origin),
        ("k1", Some("m"), &Origin::Main)
    );
    assert_eq!((read.format, codes(&read)), (Some(Format::OtelGenai), vec![]));
    assert_eq!((read.raw.messages, read.raw.tool_calls), (8, 2));
    assert_eq!(session.messages[1].time, Some(1_700_000_000_000));
    // The session alone.
    let mut alone: serde_json::Value = serde_json::from_str(&delegation()).unwrap();
    let spans = alone.pointer_mut("/resourceSpans/0/scopeSpans/0/spans").unwrap().as_array_mut().unwrap();
    spans.remove(4);
    check(
        &alone.to_string(),
        &[
            "S \"be\"",
            "U \"go\"",
            "A (hm) ask#c1",
            "T c1=unknown \"42\"",
            "A end#c2",
            "T c2=unknown \"over\"",
        ],
    );
}

fn numbered() -> String {
    export(&[span(
        "s1",
        "",
        1,
        "response",
        &[
            ("openinference.span.kind", "LLM"),
            ("llm.model_name", "m"),
            ("llm.input_messages.1.message.role", "user"),
            ("llm.input_messages.1.message.content", "go"),
            ("llm.input_messages.0.message.role", "system"),
            ("llm.input_messages.0.message.content", "be"),
            ("llm.output_messages.0.message.role", "assistant"),
            ("llm.output_messages.0.message.contents.0.message_content.type", "text"),
            ("llm.output_messages.0.message.contents.0.message_content.text", "on it"),
            ("llm.output_messages.0.message.content", "on it"),
            ("llm.output_messages.1.message.role", "assistant"),
            ("llm.output_messages.1.message.tool_calls.0.tool_call.id", "c1"),
            ("llm.output_messages.1.message.tool_calls.0.tool_call.function.name", "f"),
            ("llm.output_messages.1.message.tool_calls.0.tool_call.function.arguments", "{\"k\":1}"),
            ("llm.tools.0.tool.json_schema", "{}"),
        ],
    )])
}

#[test]
fn a_field_an_attribute() {
    let (session, _) = check(&numbered(), &["S \"be\"", "U \"go\"", "A \"on it\" f#c1"]);
    assert_eq!(session.id, "t");
    assert_eq!(session.tool_schema.as_deref(), Some("[{}]"));
    assert_eq!(session.call(&session.links[0]).unwrap().arguments, "{\"k\":1}");
    let (session, _) = check(
        r#"{"name":"openai.chat","context":{"trace_id":"t","span_id":"a"},"start_time":"2025-01-01T00:00:00Z","attributes":{"gen_ai.prompt.0.role":"user","gen_ai.prompt.0.content":"go","gen_ai.completion.0.role":"assistant","gen_ai.completion.0.content":"done","gen_ai.completion.0.tool_calls.0.id":"c1","gen_ai.completion.0.tool_calls.0.name":"f","gen_ai.completion.0.tool_calls.0.arguments":"{}","gen_ai.usage.input_tokens":5,"gen_ai.usage.output_tokens":1}}"#,
        &["U \"go\"", "A \"done\" f#c1"],
    );
    assert_eq!(
        session.messages[1].usage.as_deref(),
        Some(&Usage { input: 5, output: 1, ..Usage::default() })
    );
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(&delegation());
    check_odd_values(&numbered());
}
