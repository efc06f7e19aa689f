//! Two protocols: what is sent, and what a reply or an error says.
//!
//! Replies are read leniently: servers and gateways leave fields out, put numbers where others have names, and wrap errors
//! in several ways.

use super::Trouble;
use super::call::Call;
use super::retry::may_pass;
use super::rules::Provider;
use crate::overflow::{Class, classify};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The model was done.
    Stop,
    /// At the limit of its length, or at the end of the window.
    Length,
    /// With a call of a tool.
    Call,
    /// The provider held it back.
    Filter,
    /// The server failed while it was written.
    Broken,
}

/// Tokens that a request cost, as the provider counts them; 0 where it does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Of the input, cached ones included.
    pub input: u64,
    /// Of the output, reasoning included.
    pub output: u64,
}

/// A reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// Its text, as it came.
    pub text: String,
    /// There was reasoning beside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reasoning: bool,
    /// How it ended.
    pub end: End,
    /// What it cost.
    pub usage: Usage,
    /// The model that the server names, which may be another one than was asked.
    pub model: String,
}

/// Longest part of an error text that is passed on, in bytes.
const LONGEST: usize = 400;

/// Where a call goes. An address without a path gets the usual `/v1`.
pub(super) fn url(provider: Provider, base: &str) -> String {
    let base = base.trim_end_matches('/');
    let path =
        base.split_once("://").map_or(base, |(_, rest)| rest).split_once('/').map_or("", |(_, path)| path);
    let versioned = path.rsplit('/').next().is_some_and(|last| {
        last.strip_prefix('v').is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    });
    match provider {
        Provider::OpenAi if path.is_empty() => format!("{base}/v1/chat/completions"),
        Provider::OpenAi => format!("{base}/chat/completions"),
        Provider::Anthropic if versioned => format!("{base}/messages"),
        Provider::Anthropic => format!("{base}/v1/messages"),
    }
}

/// Headers beside the content type. `key` may be none: servers of one's own often want none.
pub(super) fn headers(provider: Provider, key: Option<&str>) -> Vec<(&'static str, String)> {
    match provider {
        Provider::OpenAi => key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect(),
        Provider::Anthropic => [("anthropic-version", "2023-06-01".to_owned())]
            .into_iter()
            .chain(key.map(|key| ("x-api-key", key.to_owned())))
            .collect(),
    }
}

/// What is sent. The provider itself has a newer name for the limit than most servers that speak its protocol.
pub(super) fn body(call: &Call, base: &str) -> Value {
    let mut body = match call.provider {
        Provider::OpenAi => {
            let limit = if base == Provider::OpenAi.home() { "max_completion_tokens" } else { "max_tokens" };
            json!({
                "model": call.model,
                "messages": [
                    {"role": "system", "content": call.system},
                    {"role": "user", "content": call.user},
                ],
                limit: call.max_output_tokens,
                "stream": false,
            })
        }
        Provider::Anthropic => json!({
            "model": call.model,
            "system": call.system,
            "messages": [{"role": "user", "content": call.user}],
            "max_tokens": call.max_output_tokens,
        }),
    };
    if let (Some(temperature), Some(fields)) = (call.temperature, body.as_object_mut()) {
        fields.insert("temperature".to_owned(), json!(temperature));
    }
    body
}

/// What came back: a reply, or what it means that there is none. `Err(Again)` is for the caller to repeat.
pub(super) fn read(call: &Call, status: u16, body: &[u8]) -> Result<Reply, Told> {
    let text = String::from_utf8_lossy(body);
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let value: Option<Value> = serde_json::from_slice(body).ok();
    let error = value.as_ref().and_then(error_text);
    if (200..300).contains(&status) && error.is_none() {
        return match value {
            Some(value) => reply(call.provider, &value).ok_or_else(|| {
                Told::Final(Trouble::Stopped(format!(
                    "the server answers with JSON that holds no reply of the protocol `{}`: {}; check --provider and --base-url",
                    call.provider,
                    short(&text)
                )))
            }),
            None if text.trim_start().starts_with('<') => Err(Told::Final(Trouble::Stopped(format!(
                "the server answers with a web page in place of JSON ({}); check --base-url",
                short(&text)
            )))),
            None => Err(Told::Again(format!("the server answers with damaged JSON: {}", short(&text)))),
        };
    }
    let error = error.unwrap_or_else(|| short(&text));
    Err(told(call, status, &error))
}

/// What an error means.
pub(super) enum Told {
    /// Another try may help.
    Again(String),
    /// None will.
    Final(Trouble),
}

fn told(call: &Call, status: u16, error: &str) -> Told {
    let verdict = classify(error);
    let said = format!("HTTP {status}: {}", short(error));
    let model = &call.model;
    match (status, verdict.class) {
        (_, Class::Billing) => {
            Told::Final(Trouble::Ended(format!("the provider wants payment or a higher quota: {said}")))
        }
        (401 | 403, _) => Told::Final(Trouble::Ended(format!("the server does not take the key: {said}"))),
        (404, _) => Told::Final(Trouble::Ended(format!(
            "the server knows no such model or address: {said}; check --model {model} and --base-url"
        ))),
        (429, _) | (_, Class::Rate) => Told::Again(said),
        (_, Class::Overflow) => {
            Told::Final(Trouble::Overflow { limit: verdict.limit, used: verdict.used, text: said })
        }
        (_, Class::OutputSetting) => {
            Told::Final(Trouble::Output { limit: verdict.limit.unwrap_or(0), text: said })
        }
        // What is too large in bytes is too long as well.
        (413, _) | (_, Class::Bytes) => {
            Told::Final(Trouble::Overflow { limit: None, used: None, text: said })
        }
        (300..=399, _) => Told::Final(Trouble::Ended(format!(
            "the server sends the request elsewhere ({said}); check --base-url"
        ))),
        _ if may_pass(status) || status == 200 => Told::Again(said),
        _ => Told::Final(Trouble::Stopped(format!("the server refuses the request: {said}"))),
    }
}

/// The text of an error body, with its type and code.
fn error_text(value: &Value) -> Option<String> {
    let text = |value: &Value| match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let error = match value.get("error") {
        Some(Value::Null) | None => {
            // Some have no wrapper.
            let message = value.get("message").or(value.get("detail")).and_then(Value::as_str)?;
            let is_error = value.get("choices").is_none() && value.get("content").is_none();
            return is_error.then(|| message.to_owned());
        }
        Some(error) => error,
    };
    if let Some(text) = error.as_str() {
        return Some(text.to_owned());
    }
    let of = |name: &str| error.get(name).and_then(text);
    let message = of("message").or_else(|| of("detail")).unwrap_or_else(|| error.to_string());
    let kinds: Vec<String> = ["type", "code"].iter().filter_map(|name| of(name)).collect();
    Some(if kinds.is_empty() { message } else { format!("{message} ({})", kinds.join(", ")) })
}

fn reply(provider: Provider, value: &Value) -> Option<Reply> {
    let model = value.get("model").and_then(Value::as_str).unwrap_or_default().to_owned();
    match provider {
        Provider::OpenAi => {
            let choice = value.get("choices")?.get(0)?;
            let message = choice.get("message")?;
            let calls =
                message.get("tool_calls").and_then(Value::as_array).is_some_and(|calls| !calls.is_empty());
            let refused = message.get("refusal").is_some_and(Value::is_string);
            let reasoning = ["reasoning_content", "reasoning"]
                .iter()
                .any(|name| message.get(*name).and_then(Value::as_str).is_some_and(|text| !text.is_empty()));
            let said = choice.get("finish_reason").and_then(Value::as_str).unwrap_or_default().to_lowercase();
            let end = match said.as_str() {
                _ if refused => End::Filter,
                "length" | "max_tokens" | "model_length" | "max_length" => End::Length,
                "content_filter" | "safety" => End::Filter,
                "tool_calls" | "function_call" => End::Call,
                _ if calls => End::Call,
                "error" | "insufficient_system_resource" | "abort" | "cancelled" => End::Broken,
                _ => End::Stop,
            };
            let text = message.get("content").map(texts).or(calls.then(String::new))?;
            Some(Reply { text, reasoning, end, usage: usage(value), model })
        }
        Provider::Anthropic => {
            let content = value.get("content")?;
            let kinds =
                || content.as_array().into_iter().flatten().filter_map(|part| part.get("type")?.as_str());
            let calls = kinds().any(|kind| kind == "tool_use");
            let end = match value.get("stop_reason").and_then(Value::as_str) {
                Some("max_tokens" | "model_context_window_exceeded") => End::Length,
                Some("refusal") => End::Filter,
                Some("tool_use") => End::Call,
                _ if calls => End::Call,
                _ => End::Stop,
            };
            let reasoning = kinds().any(|kind| matches!(kind, "thinking" | "redacted_thinking"));
            Some(Reply { text: texts(content), reasoning, end, usage: usage(value), model })
        }
    }
}

/// Text of content: a string, nothing, or parts of which those of text count.
fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter(|part| part.get("type").and_then(Value::as_str).is_none_or(|kind| kind.ends_with("text")))
            .filter_map(|part| part.get("text")?.as_str())
            .collect(),
        _ => String::new(),
    }
}

fn usage(value: &Value) -> Usage {
    let of = |name: &str| value.get("usage").and_then(|usage| usage.get(name)?.as_u64());
    let sum = |names: &[&str]| names.iter().filter_map(|name| of(name)).sum();
    Usage {
        // One protocol counts cached tokens among the others, the other beside them.
        input: of("prompt_tokens").unwrap_or_else(|| {
            sum(&["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"])
        }),
        output: of("completion_tokens").or(of("output_tokens")).unwrap_or(0),
    }
}

/// An error text that fits a line.
fn short(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests;
