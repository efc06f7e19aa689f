//! Items of OpenAI's Responses API: lists or lines of them, request bodies (`input`), response objects (`output`).
//!
//! Items between two that the user or a tool wrote become one assistant message. A request body repeats what was said before
//! it ([`threads`](super::threads)); a response belongs to the body before it, or to the response it names as previous.
//! Calls of tools that the provider runs (search, code) hold their results themselves where they have any. Items inside a Codex rollout
//! are read as that.

#[cfg(test)]
mod tests;

use crate::ingest::value::Value;
use crate::ingest::value::json;
use rustc_hash::FxHashMap;

use super::blocks::{self, Speaker};
use super::build::{self, session_id};
use super::detect::is_chat;
use super::formats::Format;
use super::json::{self, argument_text, counts, items, take, take_text, text, weight};
use super::lines::Record;
use super::links::Draft;
use super::shapes::Shape;
use super::sink::Sink;
use super::threads::Threads;
use crate::diagnostic::Severity;
use crate::transcript::{Message, MessageIdx, Outcome, Part, Recorded, Role, Usage};

/// Items, bodies and responses.
pub(super) static SHAPE: Shape = Shape { owns: is_chat, ..Shape::new(Format::OpenaiResponses, sniff, read) };

/// Types of items that no other format's records have.
const ITEMS: [&str; 14] = [
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "local_shell_call_output",
    "shell_call",
    "shell_call_output",
    "apply_patch_call",
    "apply_patch_call_output",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "mcp_call",
];

fn sniff(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    if text(value, "object") == Some("response") && has("output") {
        return Some("is a response object");
    }
    if items(value, "input").iter().any(|item| is_item(item).is_some()) && !has("messages") {
        return Some("has input of Responses items");
    }
    if has("input")
        && has("model")
        && (has("instructions") || has("previous_response_id"))
        && !has("messages")
    {
        return Some("is a Responses request body");
    }
    is_item(value)
}

/// What makes a record a bare item.
pub(super) fn is_item(value: &Value) -> Option<&'static str> {
    match text(value, "type")? {
        kind if ITEMS.contains(&kind) && value.get("message").is_none() => Some("is a bare Responses item"),
        "message" if items(value, "content").iter().any(is_block) => Some("is a bare Responses message"),
        _ => None,
    }
}

fn is_block(block: &Value) -> bool {
    matches!(text(block, "type"), Some("input_text" | "output_text"))
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let several = records.len() > 1;
    let mut bare = Items::new(Draft::new(name));
    let mut threads = Threads::default();
    let mut responses: FxHashMap<String, usize> = FxHashMap::default();
    let mut asked: Option<usize> = None;
    for (number, record) in records.into_iter().enumerate() {
        let Record { line, mut value } = record;
        let is_response = value.get("output").is_some_and(Value::is_array) && value.get("call_id").is_none();
        if !is_response && value.get("input").is_none() || value.get("call_id").is_some() {
            bare.item(value, line, out);
            continue;
        }
        let previous = text(&value, "previous_response_id").and_then(|id| responses.get(id)).copied();
        let mut items = Items::new(Draft::new(""));
        items.describe(&mut value);
        let input = take(&mut value, "input");
        let is_request = !input.is_null();
        items.input(input, line, several, out);
        if is_response {
            items.response(value.clone(), line, out);
        }
        let Draft { messages, model, tool_schema, recorded, starts_compacted, .. } = items.draft;
        let new = || Draft {
            recorded,
            starts_compacted,
            ..Draft::new(session_id(&value, &["id"], name, number + 1, several))
        };
        let messages = messages.into_vec();
        let at = match previous.or(asked.filter(|_| is_response && !is_request)) {
            Some(at) => {
                threads.extend(at, messages);
                at
            }
            None => threads.add(messages, new),
        };
        if let Some(draft) = threads.draft(at) {
            draft.model = model.or_else(|| draft.model.take());
            draft.tool_schema = draft.tool_schema.take().or(tool_schema);
        }
        if let Some(id) = text(&value, "id").filter(|_| is_response) {
            responses.insert(id.to_owned(), at);
        }
        asked = Some(at).filter(|_| is_request && !is_response);
    }
    out.finish_draft(bare.draft);
    threads.finish(out);
}

/// Builds a session item by item.
pub(super) struct Items {
    pub(super) draft: Draft,
    /// Role of the message that goes on: a reply, or results.
    open: Option<Role>,
}

impl Items {
    pub(super) fn new(draft: Draft) -> Self {
        Self { draft, open: None }
    }

    /// What stands beside the items: instructions, tools, model.
    fn describe(&mut self, value: &mut Value) {
        let instructions = take(value, "instructions");
        self.push(Role::System, blocks::parts(instructions, Speaker::Other, Outcome::Unknown), 1);
        let schema = argument_text(take(value, "tools"));
        self.draft.tool_schema = Some(schema).filter(|schema| schema.len() > 2);
        self.draft.model = text(value, "model").filter(|model| !model.is_empty()).map(str::to_owned);
    }

    /// The input of a request.
    fn input(&mut self, input: Value, line: u32, several: bool, out: &mut Sink) {
        match input {
            Value::Null => {}
            Value::Array(list) => {
                for (index, item) in list.into_iter().enumerate() {
                    self.item(item, if several { line } else { build::place(index) }, out);
                }
            }
            text => self.item(json!({"type": "message", "role": "user", "content": text}), line, out),
        }
    }

    /// All items of a response, as one reply.
    pub(super) fn response(&mut self, mut response: Value, line: u32, out: &mut Sink) {
        if let Some(model) = text(&response, "model").filter(|model| !model.is_empty()) {
            self.draft.model = Some(model.to_owned());
        }
        let from = self.draft.messages.len();
        self.open = None;
        if let Value::Array(list) = take(&mut response, "output") {
            for item in list {
                self.item(item, line, out);
            }
        }
        self.open = None;
        let usage = response.get("usage").and_then(|told| out.told(line, usage(told)).flatten());
        let time = json::time_at(&response, "created_at");
        let new = self.draft.messages.get_mut(from..).unwrap_or_default();
        for message in &mut *new {
            message.time = message.time.or(time);
        }
        if let Some(reply) = new.iter_mut().find(|message| message.role == Role::Assistant) {
            reply.usage = usage.map(Box::new);
        }
    }

    fn push(&mut self, role: Role, parts: Vec<Part>, line: u32) {
        if parts.is_empty() {
            return;
        }
        match self.draft.messages.last_mut().filter(|last| self.open == Some(role) && last.role == role) {
            Some(open) => parts.into_iter().for_each(|part| open.push(part, line)),
            None => self.draft.messages.push(build::message(role, parts, line)),
        }
        self.open = Some(role).filter(|role| matches!(role, Role::Assistant | Role::Tool));
    }

    /// One item.
    pub(super) fn item(&mut self, mut item: Value, line: u32, out: &mut Sink) {
        if !item.is_object() {
            out.damage(line, "bad-record", "an item that is no object; its content is lost");
            return;
        }
        let kind = text(&item, "type").unwrap_or("message").to_owned();
        match kind.as_str() {
            "message" => self.message(item, line, out),
            "reasoning" => self.push(Role::Assistant, reasoning(item), line),
            "compaction" | "compaction_summary" => self.compaction(&item, line, out),
            "item_reference" => {
                let text = "an item is only named, what it holds is not in the log";
                out.note(line, "item-reference", Severity::Note, text);
            }
            "mcp_list_tools" | "mcp_approval_request" | "mcp_approval_response" => {}
            _ if kind.ends_with("_output") => {
                let id = id_of(&mut item);
                let output = take(&mut item, "output");
                self.push(Role::Tool, vec![build::answer(id, output, &item)], line);
            }
            _ if kind.ends_with("_call") => {
                out.raw.tool_calls += 1;
                out.arguments(item.get("arguments"), line);
                self.call(item, &kind, line);
            }
            _ => {
                let text = format!("item of unknown type {kind:?}, kept as unreadable");
                out.note(line, "unknown-record", Severity::Note, text);
                let bytes = weight(&item);
                self.push(Role::Assistant, vec![Part::Opaque { kind: kind.into(), bytes }], line);
            }
        }
    }

    fn message(&mut self, mut item: Value, line: u32, out: &mut Sink) {
        out.raw.messages += 1;
        let content = take(&mut item, "content");
        let (role, speaker) = match text(&item, "role").unwrap_or_default() {
            "assistant" => (Role::Assistant, Speaker::Other),
            "system" | "developer" => (Role::System, Speaker::Other),
            "user" => (Role::User, Speaker::User { meta: false }),
            other => {
                let text = format!("role {other:?} is not known; kept as injected user text");
                out.note(line, "unknown-role", Severity::Note, text);
                (Role::User, Speaker::User { meta: true })
            }
        };
        self.push(role, blocks::parts(content, speaker, Outcome::Unknown), line);
    }

    fn call(&mut self, mut item: Value, kind: &str, line: u32) {
        let id = id_of(&mut item);
        let name = text(&item, "name").filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| kind.strip_suffix("_call").unwrap_or(kind)).to_owned();
        let keys = ["arguments", "input", "action", "operation", "code", "queries"];
        let found = keys.iter().find(|key| item.get(key).is_some_and(|value| !value.is_null()));
        let arguments = match found {
            Some(key @ &("code" | "queries")) => json!({ *key: take(&mut item, key) }),
            Some(key) => take(&mut item, key),
            None => Value::Null,
        };
        self.push(Role::Assistant, vec![build::call(id.clone(), name, arguments)], line);
        let results = ["output", "outputs", "results", "error"].iter();
        let result = results.map(|key| take(&mut item, key)).find(|result| !result.is_null());
        if let Some(result) = result {
            self.push(Role::Tool, vec![build::answer(id, result, &item)], line);
        }
    }

    fn compaction(&mut self, item: &Value, line: u32, out: &mut Sink) {
        out.raw.compactions += 1;
        let bytes = text(item, "encrypted_content").map_or(0, str::len) as u64;
        let said = |message: &Message| message.role != Role::System;
        if !self.draft.messages.iter().any(said) && !self.draft.starts_compacted {
            self.draft.starts_compacted = true;
            let part = Part::Opaque { kind: "compaction".into(), bytes };
            self.draft.messages.insert(0, build::message(Role::User, vec![part], line));
            return;
        }
        let before = MessageIdx::new(self.draft.messages.len());
        let mut recorded = Recorded { line, ..Recorded::at(before) };
        out.kept_unknown(&mut recorded, "the compaction of the API does not say what it replaces");
        self.draft.recorded.push(recorded);
        self.open = None;
    }
}

fn id_of(item: &mut Value) -> String {
    let ids = ["call_id", "id"].iter().map(|key| take_text(item, key));
    ids.into_iter().find(|id| !id.is_empty()).unwrap_or_default()
}

/// The clear text, whole or as its summary, and what is encrypted.
fn reasoning(mut item: Value) -> Vec<Part> {
    let mut texts = ["content", "summary"].iter().map(|key| blocks::result_text(take(&mut item, key)).0);
    let clear = texts.find(|text| !text.trim().is_empty());
    let mut parts: Vec<Part> = clear.map(Part::Thinking).into_iter().collect();
    let bytes = text(&item, "encrypted_content").map_or(0, str::len) as u64;
    if bytes > 0 {
        parts.push(Part::Opaque { kind: "reasoning".into(), bytes });
    }
    parts
}

/// Usage of a response: cached tokens are part of the input, reasoning is part of the output.
fn usage(usage: &Value) -> Result<Option<Usage>, String> {
    let [input, output] = counts(usage, ["input_tokens", "output_tokens"])?;
    let cached = usage.get("input_tokens_details").map(|details| json::tokens(details, "cached_tokens"));
    let cache_read = cached.transpose()?.flatten().unwrap_or_default();
    Ok((input > 0 || output > 0).then_some(Usage { input, cache_read, cache_write: 0, output }))
}
