//! Parts of messages as the Gemini API writes them: shared by Gemini CLI and Qwen Code, whose logs hold them.

use crate::ingest::value::{Map, Value};

use super::injected;
use super::json::{self, argument_text, flag, items, take, take_name, take_text, text, weight};
use super::outcome;
use crate::transcript::{Outcome, Part, Text, ToolCall, ToolResult};

/// The parts of a content: a text, one part or a list of them. Of a user's text `meta` says that the harness wrote it; `None`
/// for the model.
pub(super) fn parts(content: Value, user: Option<bool>) -> Vec<Part> {
    let mut found = Vec::new();
    match content {
        Value::Null => {}
        Value::Array(list) => list.into_iter().for_each(|part| push(part, user, &mut found)),
        other => push(other, user, &mut found),
    }
    found
}

fn push(mut part: Value, user: Option<bool>, found: &mut Vec<Part>) {
    let say = |said: String, found: &mut Vec<Part>| match user {
        Some(meta) => injected::push_user_text(said, meta, found),
        None => found.push(Part::Text(Text { text: said, injected: false })),
    };
    if let Value::String(said) = part {
        return say(said.into(), found);
    }
    if text(&part, "text").is_some() {
        let said = take_text(&mut part, "text");
        if flag(&part, "thought") {
            found.push(Part::Thinking(said));
        } else if !said.is_empty() {
            say(said, found);
        }
        return;
    }
    if part.get("functionCall").is_some_and(Value::is_object) {
        found.push(Part::call(call(take(&mut part, "functionCall"))));
    } else if part.get("functionResponse").is_some_and(Value::is_object) {
        found.push(Part::result(result(&mut part, None)));
    } else if let Some(image) = image(&part) {
        found.push(image);
    } else if let Some(signature) = text(&part, "thoughtSignature") {
        found.push(Part::Opaque { kind: "thought".into(), bytes: signature.len() as u64 });
    } else {
        let kind = text(&part, "type").map(str::to_owned);
        let kind = kind.or_else(|| part.as_object()?.keys().next().map(str::to_owned));
        let bytes = weight(&part);
        found.push(Part::Opaque { kind: kind.unwrap_or_else(|| "untyped".to_owned()).into(), bytes });
    }
}

/// Data in a part: an image, or what only weighs.
fn image(part: &Value) -> Option<Part> {
    let data = part.get("inlineData").or_else(|| part.get("fileData")).filter(|data| data.is_object())?;
    let bytes = text(data, "data").map_or(0, |data| data.len() as u64);
    let kind = text(data, "mimeType").unwrap_or("data");
    Some(if kind.starts_with("image/") {
        Part::Image { bytes }
    } else {
        Part::Opaque { kind: kind.into(), bytes }
    })
}

/// A call: `{id, name, args}`.
pub(super) fn call(mut call: Value) -> ToolCall {
    ToolCall {
        id: take_text(&mut call, "id"),
        name: take_name(&mut call, "name"),
        arguments: argument_text(take(&mut call, "args")),
    }
}

/// A result: `{functionResponse: {id, response: {output | error}}}`, with the status that stands beside it.
pub(super) fn result(part: &mut Value, status: Option<&str>) -> ToolResult {
    let mut response = take(part, "functionResponse");
    let call_id = take_text(&mut response, "id");
    let data = |part: &&Value| part.get("inlineData").is_some();
    let images = items(&response, "parts").iter().filter(data).count();
    let mut said = take(&mut response, "response");
    let error = said.get("error").is_some_and(|error| !error.is_null());
    let held = ["error", "output", "content"].iter().find(|key| said.get(key).is_some()).copied();
    let text = match held {
        Some(key) => argument_text(take(&mut said, key)),
        None if said.as_object().is_some_and(Map::is_empty) => String::new(),
        None => argument_text(said),
    };
    let (outcome, exit_code) = ended(&text, error, status);
    ToolResult { call_id, text, outcome, exit_code, images: u32::try_from(images).unwrap_or(u32::MAX) }
}

/// How a call ended: by its status, the exit status in the report of a command, or else its text.
pub(super) fn ended(text: &str, error: bool, status: Option<&str>) -> (Outcome, Option<i32>) {
    let exit_code = exit_line(text);
    let outcome = match (status, exit_code) {
        (Some("error" | "cancelled" | "canceled"), _) => Outcome::Failed,
        _ if error => Outcome::Failed,
        (_, Some(code)) => outcome::of_exit(code),
        (Some("success"), None) => Outcome::Ok,
        _ => return outcome::judge(text, Outcome::Unknown),
    };
    (outcome, exit_code)
}

/// The exit status in the report of a command, which stands behind its output.
fn exit_line(text: &str) -> Option<i32> {
    /// Lines of the report behind the exit status.
    const BEHIND: usize = 6;
    if !text.starts_with("Command: ") && !text.starts_with("Output: ") {
        return None;
    }
    text.lines().rev().take(BEHIND).find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse().ok())
}

/// Time of a message that stands in a list.
pub(super) fn time(message: &Value) -> Option<i64> {
    json::time(message.get("timestamp")?)
}
