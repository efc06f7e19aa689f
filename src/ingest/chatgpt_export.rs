//! ChatGPT account exports: conversations as trees of nodes, of which the path to `current_node` is read.
//!
//! A reply to another recipient than all is a call of that tool, and the tool's message after it the result; what a tool says
//! without an open call is injected. Of reasoning the thoughts are kept, their recap is not.

#[cfg(test)]
mod tests;

use crate::ingest::value::{Key, Map, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::blocks;
use super::build::{self, Names};
use super::formats::Format;
use super::injected;
use super::json::{self, items, take, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::shapes::{Shape, Split};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{Message, Outcome, Part, Role, Text};

/// Conversations.
pub(super) static SHAPE: Shape = Shape {
    split: Split::each(is_conversation),
    dated: false,
    ..Shape::new(Format::ChatgptExport, sniff, read)
};

fn sniff(value: &Value) -> Option<&'static str> {
    let mapping = value.get("mapping")?.as_object()?;
    let has = |key: &str| value.get(key).is_some();
    let is_node = |node: &Value| node.get("parent").is_some() || node.get("children").is_some();
    (has("current_node") || has("conversation_id") || mapping.values().take(2).all(is_node))
        .then_some("has mapping of a conversation")
}

/// True for a record that is a conversation.
fn is_conversation(value: &Value) -> bool {
    value.get("mapping").is_some_and(Value::is_object)
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let names = Names::new(&records, is_conversation, name, out);
    for Record { line, mut value } in records {
        let Value::Object(mapping) = take(&mut value, "mapping") else {
            out.note(line, "unknown-record", Severity::Note, "a record without a mapping; ignored");
            continue;
        };
        let id = names.next(&value, &["conversation_id", "id"], out);
        let mut reader = Reader { draft: Draft::new(id), open: None };
        reader.draft.model = text(&value, "default_model_slug").map(str::to_owned);
        let has_message = |node: &Value| node.get("message").is_some_and(Value::is_object);
        out.raw.messages += mapping.values().filter(|node| has_message(node)).count() as u64;
        let path = path(&mapping, text(&value, "current_node"), line, out);
        let mut position = 0;
        let mut nodes: FxHashMap<Key, Value> = mapping.into_iter().collect();
        for id in path {
            let Some(node) = nodes.get_mut(id.as_str()) else { continue };
            let message = take(node, "message");
            if message.is_object() {
                reader.message(message, names.place(line, position), out);
                position += 1;
            }
        }
        out.finish_draft(reader.draft);
    }
}

/// The nodes from the root to the current one.
fn path(mapping: &Map, current: Option<&str>, line: u32, out: &mut Sink) -> Vec<String> {
    let nodes: FxHashMap<&str, &Value> = mapping.iter().collect();
    let current = current.filter(|id| nodes.contains_key(*id)).or_else(|| {
        let text = "the current node is not in the conversation; the newest leaf is taken for it";
        out.note(line, "no-current-node", Severity::Note, text);
        let is_leaf = |node: &Value| items(node, "children").is_empty();
        let time = |node: &Value| {
            node.get("message").and_then(|message| json::time_at(message, "create_time")).unwrap_or_default()
        };
        let leaves = mapping.iter().filter(|(_, node)| is_leaf(node));
        leaves.max_by_key(|(_, node)| time(node)).map(|(id, _)| id)
    });
    let mut path = Vec::new();
    let mut seen = FxHashSet::default();
    let mut at = current;
    while let Some(id) = at.filter(|id| seen.insert(*id)) {
        let Some(node) = nodes.get(id) else { break };
        path.push(id.to_owned());
        at = text(node, "parent");
    }
    path.reverse();
    path
}

/// Builds the session message by message.
struct Reader {
    draft: Draft,
    /// Id of the call that no tool answered yet.
    open: Option<String>,
}

impl Reader {
    fn push(&mut self, message: Message) {
        self.draft.messages.push(message);
    }

    fn message(&mut self, mut message: Value, line: u32, out: &mut Sink) {
        let role = message.pointer("/author/role").and_then(Value::as_str).unwrap_or_default().to_owned();
        let metadata = take(&mut message, "metadata");
        if let Some(model) = text(&metadata, "model_slug").filter(|_| role == "assistant") {
            self.draft.model = Some(model.to_owned());
        }
        let time = json::time_at(&message, "create_time");
        let mut content = take(&mut message, "content");
        let kind = text(&content, "content_type").unwrap_or_default().to_owned();
        let mut found = match role.as_str() {
            "user" | "system"
                if matches!(kind.as_str(), "user_editable_context" | "model_editable_context") =>
            {
                let keys = ["user_profile", "user_instructions", "model_set_context"];
                let texts = keys
                    .iter()
                    .map(|key| take_text(&mut content, key))
                    .filter(|text| !text.trim().is_empty());
                let part = |text| Part::Text(Text { text, injected: true });
                build::message(Role::User, texts.map(part).collect(), line)
            }
            "user" => build::message(Role::User, parts(content, &kind, true), line),
            "system" => build::message(Role::System, parts(content, &kind, false), line),
            "assistant" => {
                let parts = parts(content, &kind, false);
                let recipient = text(&message, "recipient").filter(|it| !matches!(*it, "all" | ""));
                let calls = recipient.is_some() && kind != "thoughts";
                let Some(name) = recipient.filter(|_| calls) else {
                    self.push(Message { time, ..build::message(Role::Assistant, parts, line) });
                    return;
                };
                out.raw.tool_calls += 1;
                let id = text(&message, "id").unwrap_or_default().to_owned();
                let call = build::call(id.clone(), name, Value::from(all_text(parts)));
                self.open = Some(id);
                build::message(Role::Assistant, vec![call], line)
            }
            "tool" => {
                let parts = parts(content, &kind, false);
                let images = parts.iter().filter(|part| matches!(part, Part::Image { .. })).count();
                let text = all_text(parts);
                match self.open.take() {
                    Some(id) => {
                        let mut answer = build::answer(id, Value::from(text), &metadata);
                        if let Part::Result(result) = &mut answer {
                            result.images = u32::try_from(images).unwrap_or(u32::MAX);
                            if kind == "system_error" {
                                result.outcome = Outcome::Failed;
                            }
                        }
                        build::message(Role::Tool, vec![answer], line)
                    }
                    None => build::injected_message(text, line),
                }
            }
            _ => {
                let text = format!("role {role:?} is not known; kept as injected user text");
                out.note(line, "unknown-role", Severity::Note, text);
                build::injected_message(all_text(parts(content, &kind, false)), line)
            }
        };
        found.time = time;
        self.push(found);
    }
}

fn all_text(parts: Vec<Part>) -> String {
    let texts = parts.into_iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.text),
        Part::Thinking(text) => Some(text),
        _ => None,
    });
    texts.collect::<Vec<String>>().join("\n")
}

/// The parts of a content by its type.
fn parts(mut content: Value, kind: &str, of_user: bool) -> Vec<Part> {
    let mut found = Vec::new();
    let push = |text: String, found: &mut Vec<Part>| {
        if of_user {
            injected::push_user_text(text, false, found);
        } else if !text.is_empty() {
            found.push(build::said(text));
        }
    };
    match kind {
        "thoughts" => {
            for thought in items(&content, "thoughts") {
                let keys = ["content", "summary"]
                    .iter()
                    .find_map(|key| text(thought, key).filter(|it| !it.is_empty()));
                found.extend(keys.map(|text| Part::Thinking(text.to_owned())));
            }
        }
        "reasoning_recap" => {}
        _ if content.get("parts").is_some_and(Value::is_array) => {
            let Value::Array(list) = take(&mut content, "parts") else { return found };
            for mut part in list {
                match text(&part, "content_type") {
                    Some(kind) if kind.contains("image") => found.push(Part::Image { bytes: 0 }),
                    _ if text(&part, "text").is_some() => push(take_text(&mut part, "text"), &mut found),
                    Some(kind) => {
                        let bytes = super::json::weight(&part);
                        found.push(Part::Opaque { kind: kind.into(), bytes });
                    }
                    None => push(blocks::result_text(part).0, &mut found),
                }
            }
        }
        _ => {
            let text = ["text", "result", "content"].iter().map(|key| take_text(&mut content, key));
            push(text.into_iter().find(|text| !text.is_empty()).unwrap_or_default(), &mut found);
        }
    }
    found
}
