//! The messages in the attributes of a span, in any of the vocabularies.

use std::collections::BTreeMap;

use crate::ingest::value::{Map, Value, json};

use super::super::blocks::{self, Speaker};
use super::super::build;
use super::super::chat;
use super::super::json::{argument_text, counts, take, text};
use super::super::links::Draft;
use super::super::sink::Sink;
use crate::transcript::{Message, Outcome, Part, Role, Usage};

/// What one model call sent and got.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) sent: Vec<Message>,
    pub(super) reply: Vec<Message>,
    pub(super) usage: Option<Usage>,
}

/// Attributes with the messages sent and the reply as JSON.
const WHOLE: [(&str, &str); 2] = [
    ("gen_ai.input.messages", "gen_ai.output.messages"),
    ("gen_ai.input_messages", "gen_ai.output_messages"),
];

/// The openings of attributes that hold one field of one message each.
const NUMBERED: [(&str, &str); 2] =
    [("llm.input_messages.", "llm.output_messages."), ("gen_ai.prompt.", "gen_ai.completion.")];

/// True where there are messages in one of the vocabularies.
pub(super) fn has(attributes: &Map) -> bool {
    WHOLE.iter().any(|(sent, _)| attributes.contains_key(sent))
        || attributes.keys().any(|key| NUMBERED.iter().any(|(sent, _)| key.starts_with(sent)))
}

pub(super) fn of_span(attributes: &Map, line: u32, out: &mut Sink) -> Said {
    let mut said = Said::default();
    if let Some(rules) = attributes.get("gen_ai.system_instructions") {
        let mut parts = Vec::new();
        for part in list(rules) {
            push_part(part, Role::System, &mut parts);
        }
        said.sent.push(build::message(Role::System, parts, line));
    }
    let whole =
        WHOLE.iter().find(|(sent, reply)| attributes.contains_key(sent) || attributes.contains_key(reply));
    let raw = out.raw;
    if let Some((sent, reply)) = whole {
        let read = |key: &str| attributes.get(key).map(list).unwrap_or_default().into_iter();
        said.sent.extend(read(sent).map(|message| of_parts(message, line)));
        said.reply.extend(read(reply).map(|message| of_parts(message, line)));
    } else if let Some(events) = attributes.get("events") {
        for mut event in list(events) {
            let choice = take(&mut event, "message");
            let (message, place) =
                if choice.is_object() { (choice, &mut said.reply) } else { (event, &mut said.sent) };
            place.extend(of_chat(message, line, out));
        }
    } else {
        for (sent, reply) in NUMBERED {
            for message in numbered(attributes, sent) {
                said.sent.extend(of_chat(message, line, out));
            }
            for message in numbered(attributes, reply) {
                said.reply.extend(of_chat(message, line, out));
            }
        }
    }
    out.raw = raw;
    said.usage = out.told(line, usage(attributes)).flatten();
    said
}

/// A list that may be JSON text.
fn list(value: &Value) -> Vec<Value> {
    let parsed = match value {
        Value::String(text) => {
            serde_json::from_str(text).unwrap_or_else(|_| json!([{"type": "text", "content": text}]))
        }
        other => other.clone(),
    };
    match parsed {
        Value::Array(list) => list.into_vec(),
        Value::Null => Vec::new(),
        one => vec![one],
    }
}

/// A message in the words of OpenTelemetry.
fn of_parts(mut message: Value, line: u32) -> Message {
    let role = match text(&message, "role").unwrap_or_default() {
        "system" | "developer" => Role::System,
        "assistant" | "model" => Role::Assistant,
        "tool" => Role::Tool,
        _ => Role::User,
    };
    let mut parts = Vec::new();
    match take(&mut message, "parts") {
        Value::Array(list) => list.into_iter().for_each(|part| push_part(part, role, &mut parts)),
        _ => parts.extend(blocks::parts(take(&mut message, "content"), speaker(role), Outcome::Unknown)),
    }
    build::message(role, parts, line)
}

fn speaker(role: Role) -> Speaker {
    if role == Role::User { Speaker::User { meta: false } } else { Speaker::Other }
}

fn push_part(mut part: Value, role: Role, parts: &mut Vec<Part>) {
    let mut first = |keys: &[&str]| {
        keys.iter().map(|key| take(&mut part, key)).find(|value| !value.is_null()).unwrap_or_default()
    };
    let kind = argument_text(first(&["type"]));
    match kind.as_str() {
        "text" => {
            let said = first(&["content", "text"]);
            parts.extend(blocks::parts(said, speaker(role), Outcome::Unknown));
        }
        "reasoning" | "thinking" => {
            let clear = argument_text(first(&["content", "text", "thinking"]));
            parts.extend(Some(clear).filter(|clear| !clear.is_empty()).map(Part::Thinking));
        }
        "tool_call" => {
            let (id, name) = (argument_text(first(&["id"])), argument_text(first(&["name"])));
            parts.push(build::call(id, name, first(&["arguments", "input"])));
        }
        "tool_call_response" => {
            let id = argument_text(first(&["id"]));
            let result = first(&["response", "result", "content"]);
            parts.push(build::answer(id, result, &part));
        }
        _ if text(&part, "modality") == Some("image") || kind.starts_with("image") => {
            let bytes = text(&part, "content").map_or(0, str::len) as u64;
            parts.push(Part::Image { bytes });
        }
        _ => {
            if let Some(fields) = part.as_object_mut() {
                fields.insert("type", Value::from(kind));
            }
            parts.extend(blocks::parts(part, speaker(role), Outcome::Unknown));
        }
    }
}

/// A message in the words of a chat API.
fn of_chat(mut message: Value, line: u32, out: &mut Sink) -> Vec<Message> {
    if let Some(fields) = message.as_object_mut()
        && !fields.contains_key("tool_call_id")
        && let Some(id) = fields.remove("id")
    {
        fields.insert("tool_call_id", id);
    }
    let mut draft = Draft::new("");
    chat::add(&mut draft, message, line, out);
    draft.messages.into_vec()
}

/// Messages of which each field is an attribute of its own, in order of their numbers.
fn numbered(attributes: &Map, opening: &str) -> Vec<Value> {
    let mut found: BTreeMap<usize, Flat> = BTreeMap::new();
    for (key, value) in attributes {
        let Some(rest) = key.strip_prefix(opening) else { continue };
        let Some((number, field)) = rest.split_once('.') else { continue };
        let Ok(number) = number.parse() else { continue };
        let field = field.strip_prefix("message.").unwrap_or(field);
        found.entry(number).or_default().put(field, value);
    }
    found.into_values().map(Flat::message).collect()
}

/// The fields of one message.
#[derive(Debug, Default)]
struct Flat {
    fields: Map,
    contents: BTreeMap<usize, Map>,
    calls: BTreeMap<usize, Map>,
}

impl Flat {
    fn put(&mut self, field: &str, value: &Value) {
        let numbered = |rest: &str| {
            let (number, field) = rest.split_once('.')?;
            Some((number.parse::<usize>().ok()?, field.rsplit('.').next().unwrap_or(field).to_owned()))
        };
        if let Some((number, last)) = field.strip_prefix("tool_calls.").and_then(numbered) {
            self.calls.entry(number).or_default().insert(&last, value.clone());
        } else if let Some((number, last)) = field.strip_prefix("contents.").and_then(numbered) {
            self.contents.entry(number).or_default().insert(&last, value.clone());
        } else {
            self.fields.insert(field, value.clone());
        }
    }

    /// The message as a chat API would have it.
    fn message(mut self) -> Value {
        if !self.contents.is_empty() {
            let blocks = self.contents.into_values().map(|mut block| match block.remove("url") {
                Some(url) => json!({"type": "image_url", "image_url": {"url": url}}),
                None => Value::Object(block),
            });
            self.fields.insert("content", blocks.collect());
        }
        if !self.calls.is_empty() {
            let calls = self.calls.into_values().map(|mut call| {
                let id = call.remove("id").map(argument_text).unwrap_or_default();
                json!({"id": id, "function": Value::Object(call)})
            });
            self.fields.insert("tool_calls", calls.collect());
        }
        Value::Object(self.fields)
    }
}

/// The tools offered, as JSON text.
pub(super) fn tools(attributes: &Map) -> Option<String> {
    let whole =
        ["gen_ai.tool.definitions", "gen_ai.request.tools"].iter().find_map(|key| attributes.get(key));
    if let Some(whole) = whole {
        return Some(argument_text(whole.clone())).filter(|schema| schema.len() > 2);
    }
    let mut found: BTreeMap<usize, String> = BTreeMap::new();
    for (key, value) in attributes {
        let Some(rest) = key.strip_prefix("llm.tools.") else { continue };
        let Some((number, "tool.json_schema")) = rest.split_once('.') else { continue };
        if let Ok(number) = number.parse() {
            found.insert(number, argument_text(value.clone()));
        }
    }
    let list: Vec<String> = found.into_values().collect();
    (!list.is_empty()).then(|| format!("[{}]", list.join(",")))
}

/// Usage of a call: cached tokens are part of the input in both vocabularies.
fn usage(attributes: &Map) -> Result<Option<Usage>, String> {
    let first = |keys: &[&str]| keys.iter().find_map(|key| attributes.get(key)).cloned().unwrap_or_default();
    let told = json!({
        "input": first(&["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"]),
        "output": first(&["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"]),
        "read": first(&["gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.details.cache_read_tokens",
            "llm.token_count.prompt_details.cache_read"]),
        "write": first(&["gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.details.cache_write_tokens",
            "llm.token_count.prompt_details.cache_write"]),
    });
    let [input, output, cache_read, cache_write] = counts(&told, ["input", "output", "read", "write"])?;
    Ok((input > 0 || output > 0).then_some(Usage { input, cache_read, cache_write, output }))
}
