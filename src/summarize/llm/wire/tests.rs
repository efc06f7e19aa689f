use super::*;
use crate::summarize::llm::ModelRules;
use crate::summarize::prompt::Prompt;

fn call(provider: Provider) -> Call {
    let rules = ModelRules { provider: Some(provider), model: Some("m".to_owned()), ..ModelRules::UNSAID };
    Call::new(&rules, 100, Prompt { system: "s".to_owned(), user: "u".to_owned(), conversation: 0..0 })
        .expect("a call")
}

#[test]
fn where_a_call_goes() {
    for (provider, base, expect) in [
        (Provider::OpenAi, "https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"),
        (Provider::OpenAi, "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/chat/completions"),
        (Provider::OpenAi, "http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1/chat/completions"),
        (Provider::OpenAi, "https://x.example/openai/v4/", "https://x.example/openai/v4/chat/completions"),
        (Provider::OpenAi, "https://x.example/gateway", "https://x.example/gateway/chat/completions"),
        (Provider::Anthropic, "https://api.anthropic.com/v1", "https://api.anthropic.com/v1/messages"),
        (
            Provider::Anthropic,
            "http://127.0.0.1:8200/anthropic",
            "http://127.0.0.1:8200/anthropic/v1/messages",
        ),
        (Provider::Anthropic, "http://127.0.0.1:8200", "http://127.0.0.1:8200/v1/messages"),
    ] {
        assert_eq!(url(provider, base), expect);
    }
}

#[test]
fn what_is_sent() {
    let sent = body(&call(Provider::OpenAi), "http://127.0.0.1");
    assert_eq!(
        (&sent["max_tokens"], &sent["temperature"], &sent["stream"]),
        (&json!(100), &json!(0.0), &json!(false))
    );
    let own = body(&call(Provider::OpenAi), Provider::OpenAi.home());
    assert_eq!((&own["max_completion_tokens"], own.get("max_tokens")), (&json!(100), None));
    let sent = body(&call(Provider::Anthropic), "http://127.0.0.1");
    assert_eq!(
        (&sent["system"], &sent["messages"][0]["content"], &sent["max_tokens"]),
        (&json!("s"), &json!("u"), &json!(100))
    );
    let silent = Call { temperature: None, ..call(Provider::Anthropic) };
    assert_eq!(body(&silent, "").get("temperature"), None);
}

fn check(provider: Provider, value: &Value, text: &str, end: End, reasoning: bool, usage: (u64, u64)) {
    let body = value.to_string();
    let Ok(reply) = read(&call(provider), 200, body.as_bytes()) else { panic!("no reply: {body}") };
    assert_eq!((reply.text.as_str(), reply.end, reply.reasoning), (text, end, reasoning), "{body}");
    assert_eq!((reply.usage.input, reply.usage.output), usage, "{body}");
}

#[test]
fn replies_of_many_servers() {
    let open = |message: Value, end: Value| json!({"choices": [{"message": message, "finish_reason": end}]});
    let chat = |message: Value, end: Value, text: &str, expect: End, reasoning: bool| {
        check(Provider::OpenAi, &open(message, end), text, expect, reasoning, (0, 0));
    };
    chat(json!({"content": "a"}), json!("stop"), "a", End::Stop, false);
    chat(json!({"content": "a"}), Value::Null, "a", End::Stop, false);
    chat(json!({"content": "a"}), json!("eos"), "a", End::Stop, false);
    chat(json!({"content": "a"}), json!("length"), "a", End::Length, false);
    chat(json!({"content": null, "reasoning_content": "x"}), json!("stop"), "", End::Stop, true);
    chat(json!({"content": null, "tool_calls": [{"id": "1"}]}), json!("tool_calls"), "", End::Call, false);
    chat(json!({"content": "a", "tool_calls": [{"id": "1"}]}), json!("stop"), "a", End::Call, false);
    chat(json!({"content": "a", "tool_calls": []}), json!("stop"), "a", End::Stop, false);
    chat(json!({"content": null, "refusal": "no"}), json!("stop"), "", End::Filter, false);
    chat(json!({"content": ""}), json!("content_filter"), "", End::Filter, false);
    let parts =
        json!([{"type": "text", "text": "a"}, {"type": "output_text", "text": "b"}, {"type": "image_url"}]);
    chat(json!({"content": parts}), json!("stop"), "ab", End::Stop, false);
    let mut used = open(json!({"content": "a"}), json!("stop"));
    used["usage"] =
        json!({"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 2}});
    check(Provider::OpenAi, &used, "a", End::Stop, false, (7, 3));

    let messages = |content: Value, end: &str, text: &str, expect: End, reasoning: bool| {
        let value = json!({
            "content": content, "stop_reason": end,
            "usage": {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 4},
        });
        check(Provider::Anthropic, &value, text, expect, reasoning, (7, 4));
    };
    let text = json!({"type": "text", "text": "a"});
    messages(json!([text]), "end_turn", "a", End::Stop, false);
    messages(json!([text]), "stop_sequence", "a", End::Stop, false);
    messages(json!([text]), "max_tokens", "a", End::Length, false);
    messages(json!([text]), "model_context_window_exceeded", "a", End::Length, false);
    messages(json!([]), "end_turn", "", End::Stop, false);
    messages(json!([{"type": "thinking", "thinking": "x"}]), "end_turn", "", End::Stop, true);
    messages(json!([text, {"type": "tool_use", "name": "t"}]), "tool_use", "a", End::Call, false);
    messages(json!([]), "refusal", "", End::Filter, false);
}

#[derive(Debug, PartialEq)]
enum Means {
    Again,
    Overflow(Option<u64>, Option<u64>),
    Output(u64),
    Stopped,
    Ended,
}

fn means(status: u16, body: &str) -> (Means, String) {
    match read(&call(Provider::OpenAi), status, body.as_bytes()) {
        Ok(reply) => panic!("{reply:?}"),
        Err(Told::Again(text)) => (Means::Again, text),
        Err(Told::Final(Trouble::Overflow { limit, used, text })) => (Means::Overflow(limit, used), text),
        Err(Told::Final(Trouble::Output { limit, text })) => (Means::Output(limit), text),
        Err(Told::Final(Trouble::Stopped(text))) => (Means::Stopped, text),
        Err(Told::Final(Trouble::Ended(text))) => (Means::Ended, text),
        Err(Told::Final(other)) => panic!("{other:?}"),
    }
}

/// Errors as servers write them: wrapped or not, with numbers for names, in JSON or not.
#[test]
fn errors_of_many_servers() {
    let check = |status: u16, body: Value, expect: Means, holds: &str| {
        let (found, text) = means(status, &body.to_string());
        assert_eq!(found, expect, "{status} {body}: {text}");
        assert!(text.contains(holds), "{text}");
    };
    let error = |message: &str| json!({"error": {"message": message}});
    check(
        400,
        json!({"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 3031, "n_ctx": 1024,
            "message": "request (3031 tokens) exceeds the available context size (1024 tokens), try increasing it"}}),
        Means::Overflow(Some(1024), Some(3031)),
        "exceed_context_size_error",
    );
    check(
        400,
        json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 208310 tokens > 200000 maximum"}}),
        Means::Overflow(Some(200_000), Some(208_310)),
        "208310",
    );
    check(
        413,
        json!({"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}),
        Means::Overflow(None, None),
        "413",
    );
    // A limit per minute is no limit of the window, whatever it sounds like.
    check(
        429,
        error("Request too large for gpt-4o: Limit 30000 tokens per minute (TPM), Requested 42000."),
        Means::Again,
        "TPM",
    );
    check(
        400,
        error("max_tokens is too large: 5000. This model supports at most 300 completion tokens"),
        Means::Output(300),
        "5000",
    );
    check(401, error("Invalid API Key"), Means::Ended, "does not take the key");
    check(404, json!({"detail": "Not Found"}), Means::Ended, "Not Found");
    check(
        429,
        error("You exceeded your current quota, please check your plan and billing details"),
        Means::Ended,
        "payment",
    );
    check(
        503,
        json!({"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}),
        Means::Again,
        "Loading model",
    );
    check(
        529,
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        Means::Again,
        "Overloaded",
    );
    check(400, json!({"message": "bad field"}), Means::Stopped, "bad field");
    check(400, json!({"error": "plain"}), Means::Stopped, "plain");
    check(200, error("upstream timed out"), Means::Again, "upstream");
    assert_eq!(means(502, "<html>Bad Gateway</html>").0, Means::Again);
    assert_eq!(means(400, "no JSON").0, Means::Stopped);
    assert_eq!(means(200, "<html>").0, Means::Stopped);
    assert_eq!(means(200, "{\"choices\": [{").0, Means::Again);
    assert_eq!(means(200, "{}").0, Means::Stopped);
    let (_, text) = means(400, &"long ".repeat(1_000));
    assert!(text.len() < 600, "{}", text.len());
}

mod any {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever a server sends, it is a reply of the protocol or an error with a cause.
        #[test]
        fn any_body_is_read(
            status in 100..600_u16,
            anthropic in any::<bool>(),
            body in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..200),
                r#"\{"(choices|content|error|message|usage|stop_reason)":(\[\]|\{\}|null|"x"|7|\[\{"(text|message|type|finish_reason)":("x"|null|\{\})\}\])\}"#
                    .prop_map(String::into_bytes),
            ],
        ) {
            let provider = if anthropic { Provider::Anthropic } else { Provider::OpenAi };
            match read(&call(provider), status, &body) {
                Ok(_) => prop_assert!((200..300).contains(&status)),
                Err(Told::Again(why)) => prop_assert!(!why.is_empty()),
                Err(Told::Final(
                    Trouble::Overflow { text, .. }
                    | Trouble::Output { text, .. }
                    | Trouble::Failed(text)
                    | Trouble::Stopped(text)
                    | Trouble::Ended(text),
                )) => prop_assert!(!text.is_empty()),
                Err(Told::Final(Trouble::Missing)) => prop_assert!(false, "nobody looked for a cassette"),
            }
        }
    }
}
