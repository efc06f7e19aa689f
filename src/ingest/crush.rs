//! Crush: rows of its database, one a line with the name of their table, or the database itself.
//!
//! A compaction is a message with the summary, named by its session or marked as such; the context begins anew with it. Sessions with
//! a parent are the work of a sub-agent. Usage is only told for whole sessions and not read.

#[cfg(feature = "sqlite")]
mod database;
#[cfg(test)]
mod tests;

use crate::ingest::value::Value;

use super::blocks;
use super::build;
use super::formats::Format;
use super::injected;
use super::json::{self, argument_text, flag, take, take_name, take_text, text, weight};
use super::lines::Record;
use super::links::Draft;
use super::outcome;
use super::shapes::Shape;
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{Message, MessageIdx, Origin, Outcome, Part, Refusal, Role, ToolCall, ToolResult};

#[cfg(feature = "sqlite")]
pub(super) use database::SHAPE as DATABASE;

/// Dumps.
pub(super) static SHAPE: Shape = Shape::new(Format::Crush, sniff, read);

fn sniff(value: &Value) -> Option<&'static str> {
    text(value, "_table").map(|_| "has _table")
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let (mut sessions, mut messages) = (Vec::new(), Vec::new());
    for Record { line, value } in records {
        match text(&value, "_table") {
            Some("sessions") => sessions.push(value),
            Some("messages") => messages.push((line, value)),
            // Versions of files, and what belongs to the program.
            Some(_) => {}
            None => out.note(line, "unknown-record", Severity::Note, "a row of no table, left out"),
        }
    }
    rows(&sessions, messages, name, out);
}

/// Reads rows of both tables; messages with their lines.
pub(super) fn rows(sessions: &[Value], messages: Vec<(u32, Value)>, name: &str, out: &mut Sink) {
    let mut order: Vec<(String, Vec<(u32, Value)>)> =
        sessions.iter().filter_map(|session| Some((text(session, "id")?.to_owned(), Vec::new()))).collect();
    for (line, message) in messages {
        out.raw.messages += 1;
        let id = text(&message, "session_id").unwrap_or(name).to_owned();
        match order.iter_mut().find(|(known, _)| *known == id) {
            Some((_, own)) => own.push((line, message)),
            None => order.push((id, vec![(line, message)])),
        }
    }
    for (id, mut own) in order {
        own.sort_by_key(|(_, message)| json::time_at(message, "created_at"));
        let about = sessions.iter().find(|session| text(session, "id") == Some(&id));
        session(about.unwrap_or(&Value::Null), own, id, out);
    }
}

fn session(about: &Value, messages: Vec<(u32, Value)>, id: String, out: &mut Sink) {
    let mut draft = Draft::new(id);
    if let Some(parent) = text(about, "parent_session_id").filter(|parent| !parent.is_empty()) {
        let title = text(about, "title").filter(|title| !title.is_empty());
        draft.origin = Origin::Sidechain(title.unwrap_or(parent).to_owned());
    }
    let cwd = build::directory(about, "workspace_cwd");
    let summary = text(about, "summary_message_id").filter(|id| !id.is_empty());
    for (line, mut message) in messages {
        let marked = match message.get("is_summary_message") {
            Some(Value::Number(number)) => number.as_i64() == Some(1),
            _ => flag(&message, "is_summary_message"),
        };
        let is_summary = marked || summary.is_some() && text(&message, "id") == summary;
        let role = match text(&message, "role") {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("tool") => Role::Tool,
            Some("system") => Role::System,
            role => {
                let text = format!("role {:?} is not known, left out", role.unwrap_or_default());
                out.note(line, "unknown-role", Severity::Note, text);
                continue;
            }
        };
        let mut parts = Vec::new();
        for part in list(take(&mut message, "parts"), line, out) {
            if let Some(refused) = push_part(part, role, &mut parts, line, out) {
                let before = MessageIdx::new(draft.messages.len());
                draft.refusals.push(Refusal { before, line, text: refused });
            }
        }
        if is_summary {
            compacted(&mut draft, &parts, line, out);
            continue;
        }
        if let Some(model) =
            text(&message, "model").filter(|model| role == Role::Assistant && !model.is_empty())
        {
            draft.model = Some(model.to_owned());
        }
        if !parts.is_empty() {
            let time = json::time_at(&message, "created_at");
            draft.messages.push(Message { cwd: cwd.clone(), time, ..build::message(role, parts, line) });
        }
    }
    out.finish_draft(draft);
}

/// Sets a summary aside, or begins the conversation with it.
fn compacted(draft: &mut Draft, parts: &[Part], line: u32, out: &mut Sink) {
    out.raw.compactions += 1;
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    let summary = Some(texts.collect::<Vec<&str>>().join("\n"));
    if build::is_beginning(draft) {
        build::begin_compacted(draft, summary, line);
    } else {
        draft.recorded.push(build::compaction(draft, summary, line));
    }
}

/// The parts of a message: a list, or the text of one.
fn list(parts: Value, line: u32, out: &mut Sink) -> Vec<Value> {
    let parts = match parts {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other,
    };
    match parts {
        Value::Array(list) => list.into_vec(),
        Value::Null => Vec::new(),
        _ => {
            out.damage(line, "bad-parts", "the parts of a message cannot be read; its content is lost");
            Vec::new()
        }
    }
}

/// Adds one part; what the provider said instead of a reply is given back.
fn push_part(
    mut part: Value,
    role: Role,
    parts: &mut Vec<Part>,
    line: u32,
    out: &mut Sink,
) -> Option<String> {
    let kind = text(&part, "type").unwrap_or_default().to_owned();
    let mut data = take(&mut part, "data");
    match kind.as_str() {
        "text" => {
            let said = take_text(&mut data, "text");
            if role == Role::User {
                injected::push_user_text(said, false, parts);
            } else {
                parts.push(build::text(said, false));
            }
        }
        "reasoning" => {
            let clear = take_text(&mut data, "thinking");
            let hidden = text(&data, "signature").map_or(0, str::len) as u64;
            if !clear.is_empty() {
                parts.push(Part::Thinking(clear));
            } else if hidden > 0 {
                parts.push(Part::Opaque { kind: kind.into(), bytes: hidden });
            }
        }
        "tool_call" => {
            out.raw.tool_calls += 1;
            parts.push(Part::call(ToolCall {
                id: take_text(&mut data, "id"),
                name: take_name(&mut data, "name"),
                arguments: argument_text(take(&mut data, "input")),
            }));
        }
        "tool_result" => parts.push(Part::result(result(data))),
        "image_url" | "binary" => {
            let image =
                kind == "image_url" || text(&data, "MIMEType").is_some_and(|mime| mime.starts_with("image/"));
            let bytes =
                ["Data", "url", "URL"].iter().find_map(|key| text(&data, key)).map_or(0, str::len) as u64;
            parts.push(if image { Part::Image { bytes } } else { Part::Opaque { kind: kind.into(), bytes } });
        }
        "finish" => {
            let error = text(&data, "reason") == Some("error");
            let said = |key: &str| text(&data, key).filter(|said| !said.is_empty());
            let told: Vec<&str> = ["message", "details"].iter().filter_map(|key| said(key)).collect();
            return error.then(|| told.join(": ")).filter(|told| !told.is_empty());
        }
        _ => {
            let shown: String = kind.chars().take(60).collect();
            out.note(
                line,
                "unknown-part",
                Severity::Note,
                format!("part of unknown type {shown:?}, kept as opaque"),
            );
            parts.push(Part::Opaque { bytes: weight(&data), kind: kind.into() });
        }
    }
    None
}

fn result(mut data: Value) -> ToolResult {
    let call_id = take_text(&mut data, "tool_call_id");
    let flagged = outcome::flagged(&data);
    let images = text(&data, "mime_type").is_some_and(|mime| mime.starts_with("image/"));
    let (text, more) = blocks::result_text(take(&mut data, "content"));
    let (outcome, exit_code) = match flagged {
        Some((Outcome::Failed, None)) => (Outcome::Failed, outcome::exit_code(&text)),
        // A command that failed has no flag, only the last line of its output.
        Some((Outcome::Ok, None)) => match text.trim_end().rsplit('\n').next().and_then(outcome::exit_code) {
            Some(code) => (outcome::of_exit(code), Some(code)),
            None => (Outcome::Ok, None),
        },
        Some(flagged) => flagged,
        None => outcome::judge(&text, Outcome::Unknown),
    };
    ToolResult { call_id, text, outcome, exit_code, images: u32::from(images) + more }
}
