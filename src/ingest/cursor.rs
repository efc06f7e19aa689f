//! Cursor: transcripts of its agent, one message a line, and the database of the editor.
//!
//! Transcripts give calls no ids, and often leave out results; a result belongs to the oldest call without one. What the user typed
//! stands between `user_query` tags, with what the editor attached around it.

#[cfg(feature = "sqlite")]
mod database;
#[cfg(test)]
mod tests;

use crate::ingest::value::{Value, shared};

use super::blocks::{self, Speaker};
use super::build;
use super::detect::is_chat;
use super::formats::Format;
use super::injected;
use super::json::{argument_text, take, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::outcome;
use super::shapes::{Lists, Shape, Split};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{Message, Outcome, Part, Role, ToolCall, ToolResult};

#[cfg(feature = "sqlite")]
pub(super) use database::SHAPE as DATABASE;

/// Transcripts of the agent.
pub(super) static SHAPE: Shape = Shape {
    owns: is_chat,
    split: Split::One(|_| false),
    lists: Lists::Sessions,
    ..Shape::new(Format::Cursor, sniff, read)
};

/// Tags around what the user typed.
const TYPED: (&str, &str) = ("<user_query>", "</user_query>");

fn sniff(value: &Value) -> Option<&'static str> {
    let content = value.get("message").and_then(|message| message.get("content"));
    let other = ["type", "uuid", "id", "content", "parentId"].iter().any(|key| value.get(key).is_some());
    (text(value, "role").is_some()
        && content.is_some_and(|content| content.is_array() || content.is_string())
        && !other)
        .then_some("has role and message.content")
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let mut draft = out.resume().unwrap_or_else(|| Draft::holding(name, records.len()));
    for Record { line, mut value } in records {
        if text(&value, "type") == Some("turn_ended") {
            continue;
        }
        if let Some(model) = text(&value, "model").filter(|model| !model.is_empty()) {
            draft.model = Some(model.to_owned());
        }
        let role = match text(&value, "role") {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("system") => Role::System,
            Some("tool") => Role::Tool,
            other => {
                let text = format!("record of unknown role {:?}, left out", other.unwrap_or_default());
                out.note(line, "unknown-record", Severity::Note, text);
                continue;
            }
        };
        let content = build::content(&mut value);
        if content.is_null() {
            out.note(line, "unknown-record", Severity::Note, "a message without content, left out");
            continue;
        }
        out.raw.messages += 1;
        let status =
            value.get("metadata").and_then(|metadata| text(metadata, "toolResultStatus")).map(str::to_owned);
        let blocks = content.into_blocks();
        let mut parts = Vec::new();
        for block in blocks {
            push_block(block, role, status.as_deref(), &mut parts, line, out);
        }
        let calls = parts.iter().filter(|part| matches!(part, Part::Call(_))).count();
        out.raw.tool_calls += calls as u64;
        if !parts.is_empty() {
            let cwd = build::directory(&value, "cwd");
            draft.messages.push(Message { cwd, ..build::message(role, parts, line) });
        }
    }
    let Some(mut draft) = out.suspend(draft) else { return };
    forget_unknown_ids(&mut draft);
    out.finish_draft(draft);
}

/// Results name calls by ids that the calls do not have: those link by order.
fn forget_unknown_ids(draft: &mut Draft) {
    let parts = draft.messages.iter().flat_map(|message| &message.parts);
    let unnamed = parts.into_iter().any(|part| matches!(part, Part::Call(call) if call.id.is_empty()));
    for part in draft.messages.iter_mut().flat_map(|message| &mut message.parts).filter(|_| unnamed) {
        if let Part::Result(result) = part {
            result.call_id.clear();
        }
    }
}

fn push_block(
    mut block: Value,
    role: Role,
    status: Option<&str>,
    parts: &mut Vec<Part>,
    line: u32,
    out: &mut Sink,
) {
    if let Value::String(text) = block {
        return push_text(text.into(), role, parts);
    }
    let kind = text(&block, "type").unwrap_or_default().to_owned();
    match kind.as_str() {
        "text" => push_text(take_text(&mut block, "text"), role, parts),
        "tool_use" | "tool_call" | "tool-call" => {
            let id = ["id", "toolCallId", "tool_call_id"].iter().map(|key| take_text(&mut block, key));
            let id = id.into_iter().find(|id| !id.is_empty()).unwrap_or_default();
            let name = ["name", "toolName"].iter().map(|key| take_text(&mut block, key));
            let name = name.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
            let input = ["input", "args", "arguments"].iter().map(|key| take(&mut block, key));
            let arguments =
                argument_text(input.into_iter().find(|input| !input.is_null()).unwrap_or_default());
            parts.push(Part::call(ToolCall { id, name: shared(&name), arguments }));
        }
        "tool_result" | "tool-result" => {
            let id =
                ["tool_use_id", "toolCallId", "tool_call_id"].iter().map(|key| take_text(&mut block, key));
            let call_id = id.into_iter().find(|id| !id.is_empty()).unwrap_or_default();
            let flagged = outcome::flagged(&block);
            let content = ["content", "result", "output"].iter().map(|key| take(&mut block, key));
            let content = content.into_iter().find(|content| !content.is_null()).unwrap_or_default();
            let (text, images) = blocks::result_text(content);
            let (outcome, exit_code) = match (flagged, status) {
                (Some(flagged), _) => flagged,
                (None, Some("success")) => (Outcome::Ok, None),
                (None, Some("error" | "failed" | "cancelled")) => {
                    (Outcome::Failed, outcome::exit_code(&text))
                }
                (None, _) => outcome::judge(&text, Outcome::Unknown),
            };
            parts.push(Part::result(ToolResult { call_id, text, outcome, exit_code, images }));
        }
        "thinking" | "reasoning" | "redacted_thinking" | "image" | "image_url" => {
            parts.extend(blocks::parts(block, Speaker::Other, Outcome::Unknown));
        }
        _ => {
            let shown: String = kind.chars().take(60).collect();
            out.note(line, "unknown-block", Severity::Note, format!("block of unknown type {shown:?}"));
            if text(&block, "text").is_some() {
                push_text(take_text(&mut block, "text"), role, parts);
            } else {
                parts.extend(blocks::parts(block, Speaker::Other, Outcome::Unknown));
            }
        }
    }
}

/// Adds a text; of the user's what is not between the tags is the editor's. The tags are left out.
fn push_text(text: String, role: Role, parts: &mut Vec<Part>) {
    if role != Role::User {
        parts.push(build::text(text, false));
        return;
    }
    let tagged = text.split_once(TYPED.0).and_then(|(before, rest)| {
        let (typed, after) = rest.split_once(TYPED.1)?;
        Some((before, typed, after))
    });
    let Some((before, typed, after)) = tagged else { return injected::push_user_text(text, false, parts) };
    for (piece, editor) in [(before, true), (typed, false), (after, true)] {
        let piece = piece.trim();
        if !piece.is_empty() {
            parts.push(build::text(piece, editor));
        }
    }
}
