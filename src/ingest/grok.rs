//! Grok CLI sessions: a directory with `chat_history.jsonl`, `updates.jsonl` and `summary.json`.
//!
//! The history is the context of the model as it was sent; the updates are what was shown of it, in pieces of the Agent Client
//! Protocol. Where a directory holds both, the history is read, and of `summary.json` the directory and the model. Updates that stand alone are
//! put together: pieces of one kind in a row are one text. Their tools have no name but a kind (`execute`, `read`, `edit`), where
//! the client does not add one. The usage of a turn is the sum of several requests, and left out.

#[cfg(test)]
mod tests;

use crate::ingest::value::{Value, shared};

use super::blocks::{self, Speaker};
use super::build::unknown_record;
use super::formats::Format;
use super::json::{argument_text, items, take, take_name, take_text, text};
use super::lines::Record;
use super::outcome;
use super::sessions;
use super::shapes::{Piece, Shape, Split, TreeShape};
use super::sink::Sink;
use super::talk::Talk;
use crate::paths;
use crate::transcript::{Outcome, Part, Role, ToolCall, ToolResult};

/// The context of the model.
pub(super) static SHAPE: Shape = Shape::new(Format::Grok, sniff, read);

/// What was shown.
pub(super) static UPDATES: Shape = Shape {
    split: Split::Tied(&["/params/sessionId"], 1),
    ..Shape::new(Format::Grok, sniff_updates, read_updates)
};

/// What is said of a session beside it.
pub(super) static SUMMARY: Shape = Shape::new(Format::Grok, sniff_summary, read_summary);

/// The directory of a session.
pub(super) static TREE: TreeShape = TreeShape { format: Format::Grok, group, read: read_tree };

/// Files of a session, the ones that stand for it first.
const FILES: [&str; 3] = ["chat_history.jsonl", "updates.jsonl", "summary.json"];

/// Updates that say nothing in the conversation.
const SILENT: [&str; 14] = [
    "hook_execution",
    "plan",
    "available_commands_update",
    "current_mode_update",
    "current_model_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
    "turn_started",
    "turn_completed",
    "session_recap",
    "task_backgrounded",
    "task_completed",
    "session_summary_generated",
];

fn sniff(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    match text(value, "type")? {
        "user" if has("synthetic_reason") || has("prompt_index") => {
            Some("has type=user and prompt_index or synthetic_reason")
        }
        "assistant" if has("content") && (has("model_id") || has("model_fingerprint")) => {
            Some("has type=assistant, content and model_id")
        }
        "backend_tool_call" if has("kind") => Some("has type=backend_tool_call"),
        "tool_result" if has("tool_call_id") && has("content") => {
            Some("has type=tool_result and tool_call_id")
        }
        _ => None,
    }
}

fn sniff_updates(value: &Value) -> Option<&'static str> {
    let update = value.get("params")?.get("update")?;
    let method = text(value, "method")?;
    (method.ends_with("session/update") && update.get("sessionUpdate").is_some())
        .then_some("has method=session/update and params.update")
}

fn sniff_summary(value: &Value) -> Option<&'static str> {
    let info = value.get("info")?;
    (info.get("id").is_some() && value.get("session_summary").is_some())
        .then_some("has info and session_summary")
}

/// Reads a history.
fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    history(records, Talk::new(name), out);
}

fn history(records: Vec<Record>, mut talk: Talk, out: &mut Sink) {
    for Record { line, mut value } in records {
        let kind = text(&value, "type").unwrap_or_default().to_owned();
        let content = take(&mut value, "content");
        match kind.as_str() {
            "system" => talk.prompt(argument_text(content), line, None, out),
            "user" => {
                out.raw.messages += 1;
                let meta = text(&value, "synthetic_reason").is_some_and(|reason| !reason.is_empty());
                let parts = user_parts(content, meta);
                if meta && talk.cwd.is_none() {
                    let said = parts.iter().find_map(|part| match part {
                        Part::Text(text) => paths::stated_directory(&text.text),
                        _ => None,
                    });
                    talk.enter(said);
                }
                talk.push(Role::User, parts, line, None);
            }
            "reasoning" => talk.join(reasoning(&value), line, None),
            "assistant" => {
                out.raw.messages += 1;
                let mut parts = blocks::parts(content, Speaker::Other, Outcome::Unknown);
                if let Value::Array(calls) = take(&mut value, "tool_calls") {
                    out.raw.tool_calls += calls.len() as u64;
                    parts.extend(calls.into_iter().filter(Value::is_object).map(call));
                }
                talk.model(text(&value, "model_id"));
                talk.join(parts, line, None);
            }
            "tool_result" => {
                let call_id = take_text(&mut value, "tool_call_id");
                let (text, images) = blocks::result_text(content);
                let judged = || outcome::judge(&text, Outcome::Unknown);
                let (outcome, exit_code) = outcome::flagged(&value).unwrap_or_else(judged);
                let result = ToolResult { call_id, text, outcome, exit_code, images };
                talk.push(Role::Tool, vec![Part::result(result)], line, None);
            }
            "backend_tool_call" => {
                out.raw.tool_calls += 1;
                talk.join(vec![backend_call(take(&mut value, "kind"))], line, None);
            }
            other => unknown_record(other, line, out),
        }
    }
    out.finish_draft(talk.draft);
}

/// Blocks of a user message; its images have a `url`.
fn user_parts(content: Value, meta: bool) -> Vec<Part> {
    let Value::Array(list) = content else {
        return blocks::parts(content, Speaker::User { meta }, Outcome::Unknown);
    };
    let part = |block: Value| match (text(&block, "type"), text(&block, "url")) {
        (Some("image"), Some(url)) => {
            let bytes = if url.starts_with("http") { 0 } else { url.len() as u64 };
            vec![Part::Image { bytes }]
        }
        _ => blocks::parts(block, Speaker::User { meta }, Outcome::Unknown),
    };
    list.into_iter().flat_map(part).collect()
}

/// The summary of a thought, and the encrypted thought.
fn reasoning(value: &Value) -> Vec<Part> {
    let said: Vec<&str> = items(value, "summary").iter().filter_map(|item| text(item, "text")).collect();
    let mut parts = Vec::new();
    if !said.concat().trim().is_empty() {
        parts.push(Part::Thinking(said.join("\n")));
    }
    if let Some(hidden) = text(value, "encrypted_content").filter(|hidden| !hidden.is_empty()) {
        parts.push(Part::Opaque { kind: "reasoning".into(), bytes: hidden.len() as u64 });
    }
    parts
}

fn call(mut value: Value) -> Part {
    let id = take_text(&mut value, "id");
    let mut inner = match take(&mut value, "function") {
        function if function.is_object() => function,
        _ => value,
    };
    Part::call(ToolCall {
        id,
        name: take_name(&mut inner, "name"),
        arguments: argument_text(take(&mut inner, "arguments")),
    })
}

/// A call that the provider ran itself; its result is not in the log.
fn backend_call(mut kind: Value) -> Part {
    Part::call(ToolCall {
        id: take_text(&mut kind, "id"),
        name: take_name(&mut kind, "tool_type"),
        arguments: argument_text(take(&mut kind, "action")),
    })
}

/// The id of the session that an update is of.
fn session_of(update: &Value) -> Option<&str> {
    text(update.get("params")?, "sessionId")
}

/// Reads updates.
fn read_updates(records: Vec<Record>, name: &str, out: &mut Sink) {
    for (id, records) in sessions::by_id(records, session_of, name) {
        updates(records, Talk::new(id), out);
    }
}

fn updates(records: Vec<Record>, mut talk: Talk, out: &mut Sink) {
    // What the piece before was, to put pieces together.
    let mut before = String::new();
    for Record { line, mut value } in records {
        let mut params = take(&mut value, "params");
        talk.call(text(&params, "sessionId"));
        let mut update = take(&mut params, "update");
        let kind = take_text(&mut update, "sessionUpdate");
        if let Some(meta) = update.get("_meta") {
            talk.model(text(meta, "modelId"));
        }
        match kind.as_str() {
            "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk" => {
                if kind != before {
                    out.raw.messages += u64::from(kind != "agent_thought_chunk");
                }
                chunk(&mut talk, &kind, kind == before, take(&mut update, "content"), line);
            }
            "tool_call" => {
                out.raw.tool_calls += 1;
                let call = shown_call(&update);
                talk.join(vec![Part::call(call)], line, None);
                outcome_of(&mut talk, update, line);
            }
            "tool_call_update" => {
                arguments_of(&mut talk, &update);
                outcome_of(&mut talk, update, line);
            }
            "retry_state" => {
                if text(&update, "type") == Some("failed") {
                    talk.refused(text(&update, "message").unwrap_or_default(), line);
                }
                continue;
            }
            _ if SILENT.contains(&kind.as_str()) => continue,
            _ => {
                unknown_record(&kind, line, out);
                continue;
            }
        }
        before = kind;
    }
    out.finish_draft(talk.draft);
}

/// A piece of a message, of the same kind as the one before or the first.
fn chunk(talk: &mut Talk, kind: &str, goes_on: bool, mut content: Value, line: u32) {
    let user = kind == "user_message_chunk";
    let last = talk.draft.messages.last_mut().and_then(|message| message.parts.last_mut());
    if goes_on && let Some(more) = text(&content, "text") {
        match last {
            Some(Part::Text(said)) => return said.text.push_str(more),
            Some(Part::Thinking(said)) => return said.push_str(more),
            _ => {}
        }
    }
    if kind == "agent_thought_chunk" {
        return talk.join(vec![Part::Thinking(take_text(&mut content, "text"))], line, None);
    }
    if user {
        talk.push(Role::User, user_parts(Value::from_iter([content]), false), line, None);
    } else {
        talk.join(blocks::parts(content, Speaker::Other, Outcome::Unknown), line, None);
    }
}

/// A call as it is shown: by the name that the client adds, or its kind.
fn shown_call(update: &Value) -> ToolCall {
    let added =
        update.get("_meta").and_then(|meta| meta.get("x.ai/tool")).and_then(|tool| text(tool, "name"));
    let name = added.or_else(|| text(update, "kind")).or_else(|| text(update, "title"));
    ToolCall {
        id: text(update, "toolCallId").unwrap_or_default().to_owned(),
        name: shared(name.unwrap_or_default()),
        arguments: update.get("rawInput").cloned().map(argument_text).unwrap_or_default(),
    }
}

/// Arguments that come after the call.
fn arguments_of(talk: &mut Talk, update: &Value) {
    let Some(input) = update.get("rawInput").filter(|input| input.is_object()) else { return };
    let id = text(update, "toolCallId").unwrap_or_default();
    let parts = talk.draft.messages.iter_mut().rev().flat_map(|message| &mut message.parts);
    let mut calls = parts.filter_map(|part| match part {
        Part::Call(call) if call.id == id => Some(call),
        _ => None,
    });
    if let Some(call) = calls.next().filter(|call| call.arguments.len() <= 2) {
        call.arguments = input.to_string();
    }
}

/// The result of a call, once it has ended.
fn outcome_of(talk: &mut Talk, mut update: Value, line: u32) {
    let failed = match text(&update, "status") {
        Some("completed") => false,
        Some("failed") => true,
        _ => return,
    };
    let raw = take(&mut update, "rawOutput");
    let mut said = String::new();
    let mut images = 0;
    for mut item in take(&mut update, "content").into_list() {
        let inner = match take(&mut item, "content") {
            Value::Null => continue,
            inner => inner,
        };
        let (text, more) = blocks::result_text(Value::from_iter([inner]));
        images += more;
        if !said.is_empty() {
            said.push('\n');
        }
        said.push_str(&text);
    }
    if said.is_empty() {
        said = match text(&raw, "output") {
            Some(output) => output.to_owned(),
            None => argument_text(raw.clone()),
        };
    }
    let exit_code = outcome::flagged(&raw).and_then(|(_, code)| code);
    let outcome = match exit_code {
        _ if failed => Outcome::Failed,
        Some(code) => outcome::of_exit(code),
        None => Outcome::Ok,
    };
    let call_id = take_text(&mut update, "toolCallId");
    let result = ToolResult { call_id, text: said, outcome, exit_code, images };
    talk.push(Role::Tool, vec![Part::result(result)], line, None);
}

fn read_summary(_: Vec<Record>, _: &str, out: &mut Sink) {
    out.part_of_log("what is said of a Grok session beside it: name its directory to read it whole");
}

/// Files of one directory, where it holds a history or updates and another file of the session.
fn group(names: &[&str]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(&str, Vec<(usize, usize)>)> = Vec::new();
    for (at, path) in names.iter().enumerate() {
        let (directory, file) = path.rsplit_once('/').unwrap_or(("", path));
        let Some(rank) = FILES.iter().position(|known| *known == file) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == directory) {
            Some((_, files)) => files.push((rank, at)),
            None => groups.push((directory, vec![(rank, at)])),
        }
    }
    let several = |(_, mut files): (&str, Vec<(usize, usize)>)| {
        files.sort_unstable();
        let read = files.first().is_some_and(|(rank, _)| *rank < 2);
        (files.len() > 1 && read).then(|| files.into_iter().map(|(_, at)| at).collect())
    };
    groups.into_iter().filter_map(several).collect()
}

fn read_tree(pieces: Vec<Piece>, name: &str, out: &mut Sink) {
    let mut talk = Talk::new(name);
    let mut read: Option<(bool, Vec<Record>)> = None;
    for piece in pieces {
        let file = piece.path.rsplit('/').next().unwrap_or_default();
        if file == "summary.json" {
            if let Some(record) = piece.records.first() {
                let info = record.value.get("info").unwrap_or(&Value::Null);
                talk.call(text(info, "id"));
                talk.enter(text(info, "cwd"));
                talk.model(text(&record.value, "current_model_id"));
            }
        } else if read.is_none() {
            read = Some((file == "chat_history.jsonl", piece.records));
        }
    }
    match read {
        Some((true, records)) => history(records, talk, out),
        Some((false, records)) => updates(records, talk, out),
        None => {}
    }
}
