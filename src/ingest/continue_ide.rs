//! Continue sessions: one document, a list of history items each with a message and what the extension keeps beside it.
//!
//! Results stand in two places: in messages of role `tool`, and as output in the states of the calls. A message wins; the states
//! are read where there is none. What was attached to a prompt is injected text in front of it. A summary on an item is a
//! compaction behind that item: the model goes on from the summary alone. Kiro's editor keeps its sessions in the same items.

#[cfg(test)]
mod tests;

use arcstr::ArcStr;

use crate::ingest::value::{Value, shared};
use rustc_hash::FxHashSet;

use super::blocks::{self, Speaker};
use super::build::{self, message};
use super::formats::Format;
use super::json::{argument_text, counts, items, take, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::outcome;
use super::shapes::{Shape, Split};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{MessageIdx, Outcome, Part, Recorded, Role, ToolCall, ToolResult, Usage};

/// Session files.
pub(super) static SHAPE: Shape =
    Shape { split: Split::each(is_history), dated: false, ..Shape::new(Format::Continue, sniff, read) };

/// The index beside the sessions.
pub(super) static INDEX: Shape = Shape::new(Format::Continue, sniff_index, |_, _, out| {
    out.part_of_log("the list of Continue sessions; give the files beside it, or the directory");
});

fn sniff(value: &Value) -> Option<&'static str> {
    is_history(value).then_some("has sessionId and a history of messages")
}

fn sniff_index(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    (has("sessionId") && has("dateCreated") && has("workspaceDirectory") && !has("history"))
        .then_some("has sessionId, dateCreated and workspaceDirectory")
}

/// True for a session made of history items; an empty one is one too.
pub(super) fn is_history(value: &Value) -> bool {
    let items = items(value, "history");
    let empty = value.get("history").is_some_and(Value::is_array) && items.is_empty();
    text(value, "sessionId").is_some()
        && (items.iter().take(3).any(|item| item.get("message").is_some())
            || empty && value.get("title").is_some())
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    for Record { line, value } in records {
        if is_history(&value) {
            session(value, name, out);
        } else if sniff_index(&value).is_none() {
            let text = "a record that is no session, left out";
            out.note(line, "unknown-record", Severity::Note, text);
        }
    }
}

/// Reads one session.
pub(super) fn session(mut value: Value, name: &str, out: &mut Sink) {
    let id = take_text(&mut value, "sessionId");
    let mut draft = Draft::new(if id.is_empty() { name.to_owned() } else { id });
    build::by_model(&mut draft, text(&value, "chatModelTitle").or_else(|| text(&value, "selectedModel")));
    let directory = build::first_text(&mut value, &["workspaceDirectory", "workspacePath"]);
    let directory = directory.strip_prefix("file://").unwrap_or(&directory);
    let cwd: Option<ArcStr> = Some(directory).filter(|path| !path.is_empty()).map(ArcStr::from);
    let Value::Array(history) = take(&mut value, "history") else { return };
    let answered: FxHashSet<String> = history
        .iter()
        .filter_map(|item| text(item.get("message")?, "toolCallId").map(str::to_owned))
        .collect();
    for (index, item) in history.into_iter().enumerate() {
        self::item(item, build::place(index), &answered, &mut draft, out);
    }
    for message in draft.messages.iter_mut() {
        message.cwd.clone_from(&cwd);
    }
    out.finish_draft(draft);
}

/// Adds one item. `answered` are the calls that a message answers.
fn item(mut item: Value, line: u32, answered: &FxHashSet<String>, draft: &mut Draft, out: &mut Sink) {
    out.raw.messages += 1;
    let mut told = take(&mut item, "message");
    if !told.is_object() {
        out.damage(line, "bad-record", "a history item without a message; its content is lost");
        return;
    }
    let role = text(&told, "role").unwrap_or_default().to_owned();
    let content = take(&mut told, "content");
    let mut parts = Vec::new();
    match role.as_str() {
        "user" => {
            attached(take(&mut item, "contextItems"), &mut parts);
            parts.extend(blocks::parts(content, Speaker::User { meta: false }, Outcome::Unknown));
            draft.messages.push(message(Role::User, parts, line));
        }
        "system" => {
            parts = blocks::parts(content, Speaker::Other, Outcome::Unknown);
            draft.messages.push(message(Role::System, parts, line));
        }
        "thinking" => {
            let (clear, _) = blocks::result_text(content);
            draft.messages.push(message(Role::Assistant, vec![Part::Thinking(clear)], line));
        }
        "assistant" => {
            let mut reasoning = take(&mut item, "reasoning");
            parts.push(Part::Thinking(take_text(&mut reasoning, "text")));
            parts.extend(blocks::parts(content, Speaker::Other, Outcome::Unknown));
            let states = items(&item, "toolCallStates").to_vec();
            let calls = match take(&mut told, "toolCalls") {
                Value::Array(calls) => calls,
                _ => states.iter().filter_map(|state| state.get("toolCall").cloned()).collect(),
            };
            out.raw.tool_calls += calls.len() as u64;
            parts.extend(calls.into_iter().filter(Value::is_object).map(call));
            let mut made = message(Role::Assistant, parts, line);
            let usage = told.get("usage").map(usage);
            made.usage = usage.and_then(|usage| out.told(line, usage).flatten()).map(Box::new);
            draft.messages.push(made);
            let results: Vec<Part> = states
                .into_iter()
                .filter(|state| !text(state, "toolCallId").is_some_and(|id| answered.contains(id)))
                .filter_map(|state| Some(Part::result(state_result(state)?)))
                .collect();
            if !results.is_empty() {
                draft.messages.push(message(Role::Tool, results, line));
            }
        }
        "tool" => {
            let call_id = take_text(&mut told, "toolCallId");
            let (text, images) = blocks::result_text(content);
            let (outcome, exit_code) = outcome::judge(&text, Outcome::Unknown);
            let result = ToolResult { call_id, text, outcome, exit_code, images };
            draft.messages.push(message(Role::Tool, vec![Part::result(result)], line));
        }
        _ => {
            let text = format!("message of unknown role {role:?}, left out");
            out.note(line, "unknown-role", Severity::Note, text);
        }
    }
    let summary = take_text(&mut item, "conversationSummary");
    if !summary.trim().is_empty() {
        out.raw.compactions += 1;
        let before = MessageIdx::new(draft.messages.len());
        draft.recorded.push(Recorded { line, summary: Some(summary), ..Recorded::at(before) });
    }
}

/// What was attached to a prompt.
fn attached(context: Value, parts: &mut Vec<Part>) {
    let Value::Array(context) = context else { return };
    for mut one in context {
        let content = take_text(&mut one, "content");
        if !content.is_empty() {
            parts.push(build::injected(content));
        }
    }
}

fn call(mut value: Value) -> Part {
    let id = take_text(&mut value, "id");
    let mut function = take(&mut value, "function");
    let name = take_text(&mut function, "name");
    Part::call(ToolCall {
        id,
        name: shared(&name),
        arguments: argument_text(take(&mut function, "arguments")),
    })
}

/// The result that the state of a call holds; `None` when it has not ended.
fn state_result(mut state: Value) -> Option<ToolResult> {
    let outcome = match text(&state, "status") {
        Some("done") => Outcome::Ok,
        Some("errored" | "canceled" | "cancelled") => Outcome::Failed,
        _ => return None,
    };
    let mut output = Vec::new();
    attached(take(&mut state, "output"), &mut output);
    let texts: Vec<String> = output
        .into_iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(text.text),
            _ => None,
        })
        .collect();
    let text = texts.join("\n");
    let call_id = take_text(&mut state, "toolCallId");
    let exit_code = outcome::exit_code(&text);
    Some(ToolResult { call_id, text, outcome, exit_code, images: 0 })
}

/// Usage of a reply: cached tokens are inside the prompt.
fn usage(usage: &Value) -> Result<Option<Usage>, String> {
    let [input, output] = counts(usage, ["promptTokens", "completionTokens"])?;
    let [cache_read, cache_write] = match usage.get("promptTokensDetails") {
        Some(details) => counts(details, ["cachedTokens", "cacheWriteTokens"])?,
        None => [0, 0],
    };
    Ok((input > 0).then_some(Usage { input, cache_read, cache_write, output }))
}
