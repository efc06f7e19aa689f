//! Factory Droid: sessions as stored, and the stream of `droid exec --output-format stream-json`.
//!
//! A stored session is a line of messages in the words of Anthropic's API; the settings beside it only add up tokens. A
//! `compaction_state` record is a compaction; it does not say which messages stayed.
//!
//! The stream ends with `completion`, whose text is the last reply: it is added where no message said it. Its usage is that of the whole
//! run, and left out. Ids and times are spelled in two ways.

#[cfg(test)]
mod tests;

use crate::ingest::value::Value;

use super::blocks::{self, Speaker};
use super::build::{self, unknown_record, unknown_role};
use super::formats::Format;
use super::injected;
use super::json::{argument_text, take, take_name, take_text, text};
use super::lines::Record;
use super::outcome;
use super::sessions;
use super::shapes::{Shape, Split};
use super::sink::{Begun, Sink};
use super::talk::Talk;
use crate::transcript::{Message, Outcome, Part, Recorded, Role, ToolCall, ToolResult};

/// Stored sessions.
pub(super) static SHAPE: Shape = Shape {
    // Those of pi look much the same.
    owns: |value| matches!(text(value, "type"), Some("message" | "todo_state" | "compaction_state")),
    split: Split::Before(begins),
    goes_on: Some(|_| true),
    ..Shape::new(Format::Droid, sniff, read)
};

/// The stream.
pub(super) static STREAM: Shape = Shape {
    split: Split::Tied(&["session_id", "sessionId"], 2),
    ..Shape::new(Format::Droid, sniff_stream, read_stream)
};

/// The settings beside a session.
pub(super) static SETTINGS: Shape = Shape::new(Format::Droid, sniff_settings, read_settings);

fn sniff(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    let start = text(value, "type") == Some("session_start") && has("id");
    (start && (has("cwd") || has("owner") || has("title"))).then_some("has type=session_start and id")
}

fn sniff_stream(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    let session = has("session_id") || has("sessionId");
    match text(value, "type").filter(|_| session)? {
        "message" if has("role") && has("text") => Some("has type=message, role and text"),
        "tool_call" if has("toolName") => Some("has type=tool_call and toolName"),
        "completion" if has("finalText") => Some("has type=completion and finalText"),
        "system" if has("model") && has("cwd") && !has("uuid") && !has("apiKeySource") => {
            Some("has type=system, model and cwd")
        }
        _ => None,
    }
}

fn sniff_settings(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    (has("tokenUsage") && (has("assistantActiveTimeMs") || has("autonomyMode")) && !has("messages"))
        .then_some("has tokenUsage and settings of a session")
}

/// The id of the session that begins.
fn begins(value: &Value) -> Option<&str> {
    (text(value, "type") == Some("session_start")).then(|| text(value, "id").unwrap_or_default())
}

/// Reads stored sessions.
fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let mut begun = out.resume_begun();
    let (sessions, header) = sessions::by_header_from(records, begins, begun.as_ref(), name, out);
    let several = sessions.len() > 1 || out.is_in_batches();
    let last = sessions.len().saturating_sub(1);
    for (at, (id, records)) in sessions.into_iter().enumerate() {
        let nameless = begun.as_ref().is_some_and(|begun| begun.id.is_none());
        let mut talk = begun.take().map_or_else(|| Talk::new(id), Talk::from);
        if several && nameless && talk.draft.id == name {
            // It began before it was known that there are others.
            talk.draft.id = format!("{name}#1");
        }
        stored(records, &mut talk, out);
        let left = if at == last {
            out.suspend_begun(Begun { id: header.clone(), cwd: talk.cwd, ..Begun::new(talk.draft) })
        } else {
            Some(talk.draft)
        };
        if let Some(draft) = left {
            out.finish_draft(draft);
        }
    }
}

fn stored(records: Vec<Record>, talk: &mut Talk, out: &mut Sink) {
    for Record { line, mut value } in records {
        let kind = text(&value, "type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "session_start" => talk.enter(text(&value, "cwd")),
            "message" => {
                out.raw.messages += 1;
                message(talk, take(&mut value, "message"), line, out);
            }
            "compaction_state" => {
                out.raw.compactions += 1;
                let keys = ["summaryText", "summary", "text"];
                let summary = keys.iter().map(|key| take_text(&mut value, key)).find(|text| !text.is_empty());
                let recorded = Recorded { line, summary, ..Recorded::default() };
                talk.compacted(recorded, Some("the record does not say which messages stayed"), out);
            }
            "todo_state" | "session_end" => {}
            other => unknown_record(other, line, out),
        }
    }
}

fn message(talk: &mut Talk, mut message: Value, line: u32, out: &mut Sink) {
    out.raw.tool_calls += blocks::count(&message, "tool_use");
    let content = take(&mut message, "content");
    let role = match text(&message, "role").unwrap_or_default() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        "system" => Role::System,
        other => return unknown_role(other, line, out),
    };
    let speaker = match role {
        Role::User => Speaker::User { meta: false },
        _ => Speaker::Other,
    };
    talk.model(text(&message, "model"));
    let mut parts = blocks::parts(content, speaker, Outcome::Unknown);
    for part in &mut parts {
        if let Part::Result(result) = part {
            exit_of(result);
        }
    }
    talk.push(role, parts, line, None);
}

/// The exit status that the first line of a failed command tells.
fn exit_of(result: &mut ToolResult) {
    let first = result.text.lines().next().unwrap_or_default();
    let code = first.split_once("(exit code: ").and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
    if let Some(code) = code.filter(|_| first.starts_with("Error")) {
        result.exit_code = Some(code);
        result.outcome = outcome::of_exit(code);
    }
}

/// The id of the session that a record of a stream is of.
fn session_id(value: &Value) -> Option<&str> {
    text(value, "session_id").or_else(|| text(value, "sessionId"))
}

/// Reads streams.
fn read_stream(records: Vec<Record>, name: &str, out: &mut Sink) {
    for (id, records) in sessions::by_id(records, session_id, name) {
        stream(records, id, out);
    }
}

fn stream(records: Vec<Record>, id: String, out: &mut Sink) {
    let mut talk = Talk::new(id);
    // Where the newest reply is: it may be far back.
    let mut newest = None;
    for Record { line, mut value } in records {
        let end = talk.draft.messages.len().checked_sub(1);
        newest = end.filter(|end| is_reply(talk.draft.messages.get(*end))).or(newest);
        let kind = text(&value, "type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "system" => {
                talk.enter(text(&value, "cwd"));
                talk.model(text(&value, "model"));
            }
            "message" => {
                out.raw.messages += 1;
                let said = take_text(&mut value, "text");
                match text(&value, "role").unwrap_or_default() {
                    "user" => {
                        let mut parts = Vec::new();
                        injected::push_user_text(said, false, &mut parts);
                        talk.push(Role::User, parts, line, None);
                    }
                    "assistant" => talk.join(vec![build::said(said)], line, None),
                    other => unknown_role(other, line, out),
                }
            }
            "reasoning" => talk.join(vec![Part::Thinking(take_text(&mut value, "text"))], line, None),
            "tool_call" => {
                out.raw.tool_calls += 1;
                let call = ToolCall {
                    id: call_id(&value),
                    name: take_name(&mut value, "toolName"),
                    arguments: argument_text(take(&mut value, "parameters")),
                };
                talk.join(vec![Part::call(call)], line, None);
            }
            "tool_result" => talk.push(Role::Tool, vec![Part::result(result(value))], line, None),
            "completion" => {
                let last = take_text(&mut value, "finalText");
                let reply = newest.and_then(|at| talk.draft.messages.get(at));
                let is_last =
                    |part: &Part| matches!(part, Part::Text(text) if text.text.trim() == last.trim());
                if !last.is_empty() && !reply.is_some_and(|reply| reply.parts.iter().any(is_last)) {
                    talk.join(vec![build::said(last)], line, None);
                }
            }
            "error" => talk.refused(text(&value, "message").unwrap_or_default(), line),
            other => unknown_record(other, line, out),
        }
    }
    out.finish_draft(talk.draft);
}

fn is_reply(message: Option<&Message>) -> bool {
    message.is_some_and(|message| message.role == Role::Assistant)
}

fn call_id(value: &Value) -> String {
    text(value, "toolCallId").or_else(|| text(value, "id")).unwrap_or_default().to_owned()
}

/// A result: a text, or what a command wrote and how it ended.
fn result(mut value: Value) -> ToolResult {
    let call_id = call_id(&value);
    let mut held = match take(&mut value, "value") {
        Value::Null => take(&mut value, "error"),
        held => held,
    };
    let flags = outcome::flagged(&value).or_else(|| outcome::flagged(&held));
    let (text, images) = if held.get("stdout").is_some() {
        let streams = ["stdout", "stderr"].map(|key| take_text(&mut held, key));
        let said: Vec<String> = streams.into_iter().filter(|text| !text.is_empty()).collect();
        (said.join("\n"), 0)
    } else {
        blocks::result_text(held)
    };
    let (outcome, exit_code) = flags.unwrap_or_else(|| outcome::judge(&text, Outcome::Unknown));
    ToolResult { call_id, text, outcome, exit_code, images }
}

fn read_settings(_: Vec<Record>, _: &str, out: &mut Sink) {
    out.part_of_log("the settings beside a Droid session: name the file of the session, without `.settings`");
}
