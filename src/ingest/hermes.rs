//! Hermes sessions: one document, or lines that begin with a `session_meta`. The messages are those of OpenAI chat; reasoning that stands under two names is read once.
//!
//! A session that went on after a compaction is a file of its own; the summary that opens it is injected text.

#[cfg(test)]
mod tests;

use arcstr::ArcStr;

use crate::ingest::value::{Items, Value};

use super::build::Names;
use super::chat;
use super::detect::is_chat;
use super::formats::Format;
use super::json::{self, take, text};
use super::lines::Record;
use super::links::Draft;
use super::shapes::{List, Shape, Split};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{Part, Role};

/// Sessions.
pub(super) static SHAPE: Shape = Shape {
    owns: is_chat,
    split: Split::each(is_session),
    list: Some(List { field: "messages", read: read_list }),
    ..Shape::new(Format::Hermes, sniff, read)
};

/// The record that describes a session.
const META: &str = "session_meta";

/// How the agent's summaries open.
const SUMMARIES: [&str; 2] = ["[CONTEXT COMPACTION", "[CONTEXT SUMMARY]"];

fn sniff(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    if text(value, "role") == Some(META) {
        return Some("has role session_meta");
    }
    (has("session_id")
        && has("messages")
        && has("platform")
        && (has("session_start") || has("system_prompt")))
    .then_some("has session_id, platform and messages")
}

/// True for a record that is a whole session.
fn is_session(value: &Value) -> bool {
    value.get("messages").is_some_and(Value::is_array)
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let names = Names::new(&records, is_session, name, out);
    let mut bare = Draft::new(name);
    for Record { line, mut value } in records {
        if let Value::Array(messages) = take(&mut value, "messages") {
            session(value, &mut messages.into_iter(), &names, line, out);
        } else if text(&value, "role").is_some() {
            add(&mut bare, value, line, out);
        } else {
            out.note(line, "unknown-record", Severity::Note, "neither a session nor a message; ignored");
        }
    }
    finish(bare, out);
}

/// Reads a file that is one session.
fn read_list(value: Value, messages: Items<'_>, name: &str, out: &mut Sink) {
    let names = Names::new(&[], is_session, name, out);
    session(value, messages, &names, 1, out);
}

fn session(mut value: Value, messages: Items<'_>, names: &Names<'_>, line: u32, out: &mut Sink) {
    let mut draft = Draft::holding(names.next(&value, &["session_id"], out), messages.len());
    describe(&mut draft, &mut value, line, out);
    let cwd = value.pointer("/model_config/cwd").and_then(Value::as_str).filter(|cwd| !cwd.is_empty());
    let cwd: Option<ArcStr> = cwd.map(ArcStr::from);
    for (index, message) in messages.enumerate() {
        add(&mut draft, message, names.place(line, index), out);
    }
    draft.messages.iter_mut().for_each(|message| message.cwd.clone_from(&cwd));
    finish(draft, out);
}

fn describe(draft: &mut Draft, value: &mut Value, line: u32, out: &mut Sink) {
    let prompt = take(value, "system_prompt");
    if let Some(fields) = value.as_object_mut().filter(|_| !prompt.is_null()) {
        fields.insert("system", prompt);
    }
    chat::describe(draft, value, line, out);
}

fn add(draft: &mut Draft, mut message: Value, line: u32, out: &mut Sink) {
    if text(&message, "role") == Some(META) {
        if let Some(id) = text(&message, "session_id").filter(|id| !id.is_empty()) {
            id.clone_into(&mut draft.id);
        }
        describe(draft, &mut message, line, out);
        return;
    }
    let at = draft.messages.len();
    let time = json::time_at(&message, "timestamp");
    chat::add(draft, message, line, out);
    for message in draft.messages.get_mut(at..).unwrap_or_default() {
        message.time = time;
        for part in &mut message.parts {
            if let Part::Text(text) = part
                && message.role == Role::User
                && SUMMARIES.iter().any(|opening| text.text.starts_with(opening))
            {
                text.injected = true;
            }
        }
    }
}

fn finish(mut draft: Draft, out: &mut Sink) {
    chat::place(&mut draft);
    out.finish_draft(draft);
}
