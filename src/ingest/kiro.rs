//! Kiro and Amazon Q: the conversation documents of the command line (version 1, also a column of its database), the lines of
//! version 2, and the sessions of the editor.
//!
//! Version 1 pairs what was sent with what came back, as an object or as a list of two. Only the messages that are still in the
//! context are kept there: with a summary beside them the log starts compacted, with that summary as its first message. What hooks
//! and context files added to a prompt is injected text in front of it. There is no usage: lengths are counted in characters.
//!
//! Version 2 keeps the directory and the model in a document beside the lines. The editor's sessions are made of the same items as
//! those of Continue, from which it comes, and hold no calls.

#[cfg(test)]
mod tests;

use arcstr::ArcStr;

use crate::ingest::value::{Value, shared};

use super::blocks;
use super::build::{self, message};
use super::continue_ide;
use super::formats::Format;
use super::injected;
use super::json::{self, argument_text, items, take, take_name, take_text, text, tokens, weight};
use super::lines::Record;
use super::links::Draft;
use super::outcome;
use super::shapes::{Shape, Split};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{MessageIdx, Outcome, Part, Recorded, Role, ToolCall, ToolResult};

/// Conversations of version 1.
pub(super) static SHAPE: Shape = Shape {
    split: Split::each(|value| sniff(value).is_some()),
    dated: false,
    ..Shape::new(Format::Kiro, sniff, read)
};

/// Lines of version 2.
pub(super) static LINES: Shape =
    Shape { owns: |_| false, ..Shape::new(Format::Kiro, sniff_lines, read_lines) };

/// Sessions of the editor.
pub(super) static EDITOR: Shape = Shape {
    split: Split::each(continue_ide::is_history),
    dated: false,
    ..Shape::new(Format::Kiro, sniff_editor, read_editor)
};

/// The document beside the lines.
pub(super) static STATE: Shape = Shape::new(Format::Kiro, sniff_state, |_, _, out| {
    out.part_of_log("the state of a Kiro session; its conversation is in the .jsonl file of the same name");
});

fn sniff(value: &Value) -> Option<&'static str> {
    let history = value.get("history").is_some_and(Value::is_array);
    let known = [
        "transcript",
        "context_manager",
        "valid_history_range",
        "next_message",
        "latest_summary",
        "model_info",
    ];
    let paired = || {
        items(value, "history").iter().take(3).any(|entry| {
            entry.get("user").is_some() && entry.get("assistant").is_some()
                || entry
                    .as_array()
                    .and_then(|pair| pair.first())
                    .is_some_and(|user| user.get("content").is_some())
        })
    };
    (text(value, "conversation_id").is_some()
        && history
        && (known.iter().any(|key| value.get(key).is_some()) || paired()))
    .then_some("has conversation_id and a history of pairs")
}

fn sniff_lines(value: &Value) -> Option<&'static str> {
    let kind = matches!(text(value, "kind"), Some("Prompt" | "AssistantMessage" | "ToolResults"));
    let content = value.get("data").is_some_and(|data| data.get("content").is_some());
    (kind && content && text(value, "version").is_some()).then_some("has version, kind and data with content")
}

fn sniff_editor(value: &Value) -> Option<&'static str> {
    let own = ["selectedModel", "autonomyMode", "workspacePath"].iter().any(|key| value.get(key).is_some());
    (own && continue_ide::is_history(value))
        .then_some("has sessionId, a history and what Kiro keeps of a session")
}

fn sniff_state(value: &Value) -> Option<&'static str> {
    (text(value, "session_id").is_some() && value.get("session_state").is_some_and(Value::is_object))
        .then_some("has session_id and session_state")
}

fn read_editor(records: Vec<Record>, name: &str, out: &mut Sink) {
    for Record { line, value } in records {
        if continue_ide::is_history(&value) {
            continue_ide::session(value, name, out);
        } else {
            out.note(line, "unknown-record", Severity::Note, "a record that is no session, left out");
        }
    }
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    for Record { line, value } in records {
        if sniff(&value).is_some() {
            conversation(value, name, out);
        } else {
            out.note(line, "unknown-record", Severity::Note, "a record that is no conversation, left out");
        }
    }
}

fn conversation(mut value: Value, name: &str, out: &mut Sink) {
    let id = take_text(&mut value, "conversation_id");
    let mut draft = Draft::new(if id.is_empty() { name.to_owned() } else { id });
    let model = take(&mut value, "model_info");
    build::by_model(&mut draft, text(&model, "model_id").or_else(|| text(&value, "model")));
    draft.context_window = out.told(1, tokens(&model, "context_window_tokens")).flatten();
    let tools = take(&mut value, "tools");
    draft.tool_schema = Some(argument_text(tools)).filter(|schema| schema.len() > 2);
    // The summary, and with it the request it answers for.
    let summary = match take(&mut value, "latest_summary") {
        Value::Array(pair) => pair.into_iter().next().and_then(|first| first.as_str().map(str::to_owned)),
        Value::String(text) => Some(text.into()),
        _ => None,
    };
    if let Some(summary) = summary.filter(|summary| !summary.trim().is_empty()) {
        out.raw.compactions += 1;
        draft.starts_compacted = true;
        draft.messages.push(message(Role::User, vec![build::injected(summary)], 1));
    }
    let Value::Array(history) = take(&mut value, "history") else { return };
    let mut cwd: Option<ArcStr> = None;
    for (index, entry) in history.into_iter().enumerate() {
        let line = build::place(index);
        let (mut user, mut assistant, request) = match entry {
            Value::Array(pair) => {
                let mut pair = pair.into_iter();
                (pair.next().unwrap_or_default(), pair.next().unwrap_or_default(), Value::Null)
            }
            mut entry if entry.is_object() => (
                take(&mut entry, "user"),
                take(&mut entry, "assistant"),
                take(&mut entry, "request_metadata"),
            ),
            _ => {
                out.damage(
                    line,
                    "bad-record",
                    "an entry of the history that is no pair; its content is lost",
                );
                continue;
            }
        };
        build::by_model(&mut draft, text(&request, "model_id"));
        let at = |key: &str| request.get(key).and_then(json::time);
        let state = user.get("env_context").and_then(|context| context.get("env_state"));
        if let Some(directory) = state.and_then(|state| text(state, "current_working_directory")) {
            cwd = Some(ArcStr::from(directory));
        }
        let mut asked = message(Role::User, sent(&mut user, line, out), line);
        asked.cwd.clone_from(&cwd);
        asked.time = user.get("timestamp").and_then(json::time).or_else(|| at("request_start_timestamp_ms"));
        let mut reply = message(Role::Assistant, came_back(&mut assistant, line, out), line);
        reply.cwd.clone_from(&cwd);
        reply.time = at("stream_end_timestamp_ms");
        for one in [asked, reply] {
            if !one.parts.is_empty() {
                out.raw.messages += 1;
                draft.messages.push(one);
            }
        }
    }
    out.finish_draft(draft);
}

/// The parts of what was sent.
fn sent(user: &mut Value, line: u32, out: &mut Sink) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut content = take(user, "content");
    let added = take_text(user, "additional_context");
    if !added.trim().is_empty() {
        parts.push(build::injected(added));
    }
    let mut known = false;
    for kind in ["ToolUseResults", "CancelledToolUses", "Prompt"] {
        let mut inner = take(&mut content, kind);
        if !inner.is_object() {
            continue;
        }
        known = true;
        let cancelled = kind == "CancelledToolUses";
        if let Value::Array(results) = take(&mut inner, "tool_use_results") {
            parts.extend(results.into_iter().map(|one| Part::result(result(one, "tool_use_id", cancelled))));
        }
        injected::push_user_text(take_text(&mut inner, "prompt"), false, &mut parts);
    }
    if !known && !content.is_null() {
        let text = "content of an unknown kind in what was sent, left out";
        out.note(line, "unknown-record", Severity::Note, text);
    }
    parts.extend(items(user, "images").iter().map(|image| Part::Image { bytes: weight(image) }));
    parts
}

/// The parts of what came back.
fn came_back(assistant: &mut Value, line: u32, out: &mut Sink) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut known = assistant.is_null();
    for kind in ["ToolUse", "Response"] {
        let mut inner = take(assistant, kind);
        if !inner.is_object() {
            continue;
        }
        known = true;
        parts.push(build::said(take_text(&mut inner, "content")));
        if let Value::Array(calls) = take(&mut inner, "tool_uses") {
            out.raw.tool_calls += calls.len() as u64;
            parts.extend(calls.into_iter().filter(Value::is_object).map(|mut one| {
                // The tool that ran; the model may have called it by another name.
                let name = take_text(&mut one, "name");
                Part::call(ToolCall {
                    id: take_text(&mut one, "id"),
                    name: shared(&name),
                    arguments: argument_text(take(&mut one, "args")),
                })
            }));
        }
    }
    if !known {
        out.note(line, "unknown-record", Severity::Note, "a reply of an unknown kind, left out");
    }
    parts
}

/// A result of either version: blocks are `{"Text": ..}` or `{"kind": "text", "data": ..}`.
fn result(mut value: Value, id: &str, cancelled: bool) -> ToolResult {
    let call_id = take_text(&mut value, id);
    let failed = text(&value, "status").map(|status| status.eq_ignore_ascii_case("error"));
    let content = take(&mut value, "content").into_blocks();
    let (mut texts, mut images, mut exit) = (Vec::new(), 0, None);
    for mut block in content {
        let kind = text(&block, "kind").unwrap_or_default().to_ascii_lowercase();
        let inner = ["Text", "Json", "data"].iter().map(|key| take(&mut block, key)).find(|it| !it.is_null());
        match inner {
            _ if kind == "image" => images += 1,
            Some(Value::String(text)) => texts.push(text.into()),
            Some(mut json) => {
                exit = exit.or_else(|| exit_of(&json));
                texts.push(payload(&mut json));
            }
            None => texts.push(argument_text(block)),
        }
    }
    let text = texts.join("\n");
    let outcome = match (failed, exit) {
        _ if cancelled => Outcome::Failed,
        (Some(true), _) => Outcome::Failed,
        (_, Some(code)) => outcome::of_exit(code),
        (Some(false), None) => Outcome::Ok,
        (None, None) => outcome::judge(&text, Outcome::Unknown).0,
    };
    ToolResult { call_id, text, outcome, exit_code: exit, images }
}

/// `"exit_status": "0"` or `"exit status: 0"`.
fn exit_of(json: &Value) -> Option<i32> {
    let told = json.get("exit_status")?;
    let number = told.as_i64().and_then(|code| i32::try_from(code).ok());
    number.or_else(|| told.as_str()?.rsplit([' ', ':']).next()?.parse().ok())
}

/// Text of a structured result: what a command printed, blocks of text, else all of it.
fn payload(json: &mut Value) -> String {
    if json.get("stdout").is_some() || json.get("stderr").is_some() {
        let printed = [take_text(json, "stdout"), take_text(json, "stderr")];
        let printed: Vec<String> = printed.into_iter().filter(|text| !text.is_empty()).collect();
        return printed.join("\n");
    }
    match take(json, "content") {
        content @ (Value::Array(_) | Value::String(_)) => blocks::result_text(content).0,
        _ => argument_text(json.take()),
    }
}

fn read_lines(records: Vec<Record>, name: &str, out: &mut Sink) {
    let mut draft = Draft::new(name);
    for Record { line, mut value } in records {
        let kind = text(&value, "kind").unwrap_or_default().to_owned();
        let mut data = take(&mut value, "data");
        let role = match kind.as_str() {
            "Prompt" => Role::User,
            "AssistantMessage" => Role::Assistant,
            "ToolResults" => Role::Tool,
            "Compaction" => {
                out.raw.compactions += 1;
                let summary = build::first_text(&mut data, &["summary", "content"]);
                let mut recorded = Recorded {
                    line,
                    summary: Some(summary).filter(|summary| !summary.trim().is_empty()),
                    ..Recorded::at(MessageIdx::new(draft.messages.len()))
                };
                out.kept_unknown(&mut recorded, "the log does not tell");
                draft.recorded.push(recorded);
                continue;
            }
            _ => {
                let text = format!("entry of unknown kind {kind:?}, left out");
                out.note(line, "unknown-record", Severity::Note, text);
                continue;
            }
        };
        out.raw.messages += 1;
        let meta = take(&mut data, "meta");
        let mut parts = Vec::new();
        if let Some(added) = text(&meta, "additional_context").filter(|text| !text.trim().is_empty()) {
            parts.push(build::injected(added));
        }
        let blocks = take(&mut data, "content").into_blocks();
        for block in blocks {
            push_block(block, role, &mut parts, out);
        }
        let mut made = message(role, parts, line);
        made.time = meta.get("timestamp").and_then(json::time);
        draft.messages.push(made);
    }
    out.finish_draft(draft);
}

/// Adds a block of version 2.
fn push_block(mut block: Value, role: Role, parts: &mut Vec<Part>, out: &mut Sink) {
    let kind = text(&block, "kind").unwrap_or_default().to_owned();
    let mut data = take(&mut block, "data");
    match (kind.as_str(), data) {
        ("text", Value::String(text)) if role == Role::Assistant => parts.push(build::said(text)),
        ("text", Value::String(text)) => injected::push_user_text(text.into(), false, parts),
        ("thinking", Value::String(text)) => parts.push(Part::Thinking(text.into())),
        ("thinking", mut data) => {
            parts.push(Part::Thinking(build::first_text(&mut data, &["text", "thinking"])));
        }
        ("toolUse", mut data) => {
            out.raw.tool_calls += 1;
            parts.push(Part::call(ToolCall {
                id: take_text(&mut data, "toolUseId"),
                name: take_name(&mut data, "name"),
                arguments: argument_text(take(&mut data, "input")),
            }));
        }
        ("toolResult", data) => parts.push(Part::result(result(data, "toolUseId", false))),
        ("image", data) => parts.push(Part::Image { bytes: weight(&data) }),
        (_, other) => {
            data = other;
            let kind = if kind.is_empty() { "untyped".to_owned() } else { kind };
            parts.push(Part::Opaque { kind: kind.into(), bytes: weight(&data) });
        }
    }
}
