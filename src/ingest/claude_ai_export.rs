//! claude.ai account exports: conversations with `chat_messages`.
//!
//! A message holds calls and results among its text; results become messages of their own. Where messages name their
//! parents, the path to the current leaf, or else to the last message, is read. `text` repeats the content and is read only where that has none.
//! Attached files are injected text of the user.

#[cfg(test)]
mod tests;

use crate::ingest::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};

use super::blocks::{self, Speaker};
use super::build::{self, Names};
use super::formats::Format;
use super::json::{self, items, take, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::shapes::{Shape, Split};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{Outcome, Part, Role, Text};

/// Conversations.
pub(super) static SHAPE: Shape = Shape {
    split: Split::each(is_conversation),
    dated: false,
    ..Shape::new(Format::ClaudeAiExport, sniff, read)
};

/// The parent of a first message.
const ROOT: &str = "00000000-0000-4000-8000-000000000000";

fn sniff(value: &Value) -> Option<&'static str> {
    value.get("chat_messages").is_some_and(Value::is_array).then_some("has chat_messages")
}

/// True for a record that is a conversation.
fn is_conversation(value: &Value) -> bool {
    value.get("chat_messages").is_some_and(Value::is_array)
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let names = Names::new(&records, is_conversation, name, out);
    for Record { line, mut value } in records {
        let Value::Array(messages) = take(&mut value, "chat_messages") else {
            out.note(line, "unknown-record", Severity::Note, "a record without chat_messages; ignored");
            continue;
        };
        let mut draft = Draft::holding(names.next(&value, &["uuid"], out), messages.len());
        draft.model = text(&value, "model").map(str::to_owned);
        out.raw.messages += messages.len() as u64;
        let calls = messages.iter().map(|message| blocks::count(message, "tool_use"));
        out.raw.tool_calls += calls.sum::<u64>();
        let path = path(&messages, text(&value, "current_leaf_message_uuid"));
        for (index, message) in messages.into_iter().enumerate() {
            if path.as_ref().is_none_or(|path| path.contains(&index)) {
                add(&mut draft, message, names.place(line, index), out);
            }
        }
        out.finish_draft(draft);
    }
}

/// Positions of the messages on the active path; `None` where they name no parents.
fn path(messages: &[Value], leaf: Option<&str>) -> Option<FxHashSet<usize>> {
    let ids: FxHashMap<&str, usize> =
        messages.iter().enumerate().filter_map(|(at, message)| Some((text(message, "uuid")?, at))).collect();
    let parent = |at: usize| ids.get(text(messages.get(at)?, "parent_message_uuid")?).copied();
    let named = messages.iter().filter_map(|message| text(message, "parent_message_uuid"));
    if !named.into_iter().any(|id| id != ROOT && ids.contains_key(id)) {
        return None;
    }
    let mut at = leaf.and_then(|leaf| ids.get(leaf).copied()).or(messages.len().checked_sub(1));
    let mut path = FxHashSet::default();
    while let Some(here) = at.filter(|here| path.insert(*here)) {
        at = parent(here);
    }
    Some(path)
}

fn add(draft: &mut Draft, mut message: Value, line: u32, out: &mut Sink) {
    if !message.is_object() {
        out.damage(line, "bad-record", "a message that is no object; its content is lost");
        return;
    }
    let (role, speaker) = match text(&message, "sender").unwrap_or_default() {
        "human" => (Role::User, Speaker::User { meta: false }),
        "assistant" => (Role::Assistant, Speaker::Other),
        other => {
            let text = format!("sender {other:?} is not known; kept as injected user text");
            out.note(line, "unknown-role", Severity::Note, text);
            (Role::User, Speaker::User { meta: true })
        }
    };
    let time = json::time_at(&message, "created_at");
    let mut push = |role: Role, parts: &mut Vec<Part>| {
        let mut made = build::message(role, std::mem::take(parts), line);
        made.time = time;
        draft.messages.push(made);
    };
    let mut parts = Vec::new();
    if role == Role::User {
        attached(&message, &mut parts);
    }
    let mut said = false;
    if let Value::Array(list) = take(&mut message, "content") {
        for block in list {
            let kind = text(&block, "type").unwrap_or_default();
            if matches!(kind, "token_budget" | "flag") {
                continue;
            }
            let is_result = kind == "tool_result";
            let found = blocks::parts(block, speaker, Outcome::Unknown);
            said = said || found.iter().any(|part| !matches!(part, Part::Opaque { .. }));
            if is_result {
                push(role, &mut parts);
                parts = found;
                push(Role::Tool, &mut parts);
            } else {
                parts.extend(found);
            }
        }
    }
    if !said {
        parts.extend(blocks::parts(Value::from(take_text(&mut message, "text")), speaker, Outcome::Unknown));
    }
    push(role, &mut parts);
}

/// Files that came with a message: their text where it was taken out, else that they were there.
fn attached(message: &Value, parts: &mut Vec<Part>) {
    for attachment in items(message, "attachments") {
        let name = text(attachment, "file_name").unwrap_or_default();
        let content = text(attachment, "extracted_content").unwrap_or_default();
        if !content.is_empty() {
            parts.push(Part::Text(Text { text: format!("{name}\n{content}"), injected: true }));
        }
    }
    for file in items(message, "files") {
        let name = text(file, "file_name").unwrap_or_default().to_ascii_lowercase();
        let is_image = [".png", ".jpg", ".jpeg", ".gif", ".webp"].iter().any(|end| name.ends_with(end));
        parts.push(if is_image || text(file, "file_kind") == Some("image") {
            Part::Image { bytes: 0 }
        } else {
            Part::Opaque { kind: "file".into(), bytes: 0 }
        });
    }
}
