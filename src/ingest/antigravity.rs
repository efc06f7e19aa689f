//! Antigravity transcripts: one step a line.
//!
//! Calls have no ids: the steps behind a `PLANNER_RESPONSE` answer its calls in order. Each argument is JSON text inside a text, and
//! decoded here. Of user input the request is the user's; the settings and the state of the editor around it are injected, as are the messages
//! of the system. A `CHECKPOINT` is a compaction of which nothing tells what it kept.

#[cfg(test)]
mod tests;

use crate::ingest::value::{Map, Value};

use super::build::{self, injected, unknown_record};
use super::formats::Format;
use super::json::{self, argument_text, take, take_name, take_text, text};
use super::lines::Record;
use super::outcome;
use super::sessions;
use super::shapes::{Shape, Split};
use super::sink::Sink;
use super::talk::Talk;
use crate::transcript::{Outcome, Part, Recorded, Role, ToolCall, ToolResult};

/// How what the user asked for is enclosed.
const REQUEST: (&str, &str) = ("<USER_REQUEST>", "</USER_REQUEST>");

/// Transcripts.
pub(super) static SHAPE: Shape =
    Shape { split: Split::Before(begins), ..Shape::new(Format::Antigravity, sniff, read) };

fn sniff(value: &Value) -> Option<&'static str> {
    value.get("step_index")?;
    let kind = text(value, "type")?;
    (is_kind(kind) && text(value, "source").is_some()).then_some("has step_index, source and type")
}

/// True for the name of a kind of step: all of them are upper-case.
fn is_kind(kind: &str) -> bool {
    !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

/// The request that is the first step begins a session; none has an id.
fn begins(value: &Value) -> Option<&str> {
    let first = json::number(value, "step_index") == Some(0);
    let asks = text(value, "type") == Some("USER_INPUT") && text(value, "source") == Some("USER_EXPLICIT");
    (first && asks).then_some("")
}

/// Reads the steps of one file.
fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    for (id, records) in sessions::by_header(records, begins, name, out) {
        session(records, id, out);
    }
}

fn session(records: Vec<Record>, id: String, out: &mut Sink) {
    let mut talk = Talk::new(id);
    for Record { line, mut value } in records {
        let time = value.get("created_at").and_then(json::time);
        let kind = text(&value, "type").unwrap_or_default().to_owned();
        let system = text(&value, "source") == Some("SYSTEM");
        let status = text(&value, "status").unwrap_or_default().to_owned();
        let said = take_text(&mut value, "content");
        if !is_kind(&kind) {
            unknown_record(&kind, line, out);
            continue;
        }
        out.raw.messages += 1;
        match kind.as_str() {
            "USER_INPUT" => talk.push(Role::User, user_parts(&said), line, time),
            "PLANNER_RESPONSE" => {
                let mut parts = vec![Part::Thinking(take_text(&mut value, "thinking")), build::said(said)];
                if let Value::Array(calls) = take(&mut value, "tool_calls") {
                    out.raw.tool_calls += calls.len() as u64;
                    parts.extend(calls.into_iter().filter(Value::is_object).map(call));
                }
                parts.retain(|part| !matches!(part, Part::Text(text) if text.text.is_empty()));
                parts.retain(|part| !matches!(part, Part::Thinking(text) if text.is_empty()));
                talk.push(Role::Assistant, parts, line, time);
            }
            "CHECKPOINT" => {
                out.raw.compactions += 1;
                let summary = Some(said).filter(|said| !said.trim().is_empty());
                let recorded = Recorded { line, summary, ..Recorded::default() };
                talk.compacted(recorded, Some("a checkpoint does not say what stayed in the context"), out);
            }
            _ if system || kind == "ERROR_MESSAGE" || kind == "EPHEMERAL_MESSAGE" => {
                if !said.is_empty() {
                    talk.push(Role::User, vec![injected(said)], line, time);
                }
            }
            _ => {
                let result = Part::result(result(said, &status));
                talk.push(Role::Tool, vec![result], line, time);
            }
        }
    }
    out.finish_draft(talk.draft);
}

/// The request, and what stands around it.
fn user_parts(said: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let around = |said: &str, parts: &mut Vec<Part>| {
        if !said.trim().is_empty() {
            parts.push(injected(said.trim().to_owned()));
        }
    };
    let inside =
        said.split_once(REQUEST.0).and_then(|(before, rest)| Some((before, rest.rsplit_once(REQUEST.1)?)));
    match inside {
        Some((before, (request, after))) => {
            around(before, &mut parts);
            if !request.trim().is_empty() {
                parts.push(build::said(request.trim().to_owned()));
            }
            around(after, &mut parts);
        }
        None => super::injected::push_user_text(said.to_owned(), false, &mut parts),
    }
    parts
}

/// A call, its arguments decoded.
fn call(mut value: Value) -> Part {
    let mut arguments = take(&mut value, "args");
    for argument in arguments.as_object_mut().into_iter().flat_map(Map::values_mut) {
        let decoded = argument.as_str().and_then(|inner| serde_json::from_str(inner).ok());
        if let Some(decoded) = decoded {
            *argument = decoded;
        }
    }
    Part::call(ToolCall {
        id: take_text(&mut value, "id"),
        name: take_name(&mut value, "name"),
        arguments: argument_text(arguments),
    })
}

fn result(text: String, status: &str) -> ToolResult {
    let exit_code = exit_line(&text);
    let (outcome, exit_code) = match (status, exit_code) {
        ("ERROR" | "CANCELED" | "CANCELLED", code) => (Outcome::Failed, code),
        (_, Some(code)) => (outcome::of_exit(code), Some(code)),
        ("DONE", None) => outcome::judge(&text, Outcome::Ok),
        _ => outcome::judge(&text, Outcome::Unknown),
    };
    ToolResult { call_id: String::new(), text, outcome, exit_code, images: 0 }
}

/// The exit status of a command that failed, or succeeded.
fn exit_line(text: &str) -> Option<i32> {
    /// Lines in front of the output.
    const HEAD: usize = 4;
    text.lines().take(HEAD).map(str::trim).find_map(|line| {
        if line.starts_with("The command completed successfully") {
            return Some(0);
        }
        let code = line.strip_prefix("The command failed with exit code")?;
        code.trim_matches([':', ' ', '.']).parse().ok()
    })
}
