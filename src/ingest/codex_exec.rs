//! The events that `codex exec --json` prints: a thread of items, without the prompt.
//!
//! An item comes up to three times: as it starts, as it changes, and completed. Completed ones are read; of those that were never
//! completed the call, unanswered. A list of tasks counts each time that it is another one. The log names the files of a change and not
//! what was changed: the call is written as the head lines of a patch, so that the files are seen. The usage of a turn is the sum of
//! several requests, and left out. A rollout file holds all of this, and more.

#[cfg(test)]
mod tests;

use crate::ingest::value::{Value, json, shared};
use rustc_hash::FxHashSet;

use super::blocks;
use super::build::{self, unknown_record};
use super::formats::Format;
use super::json::{argument_text, flag, items, take, take_text, text};
use super::lines::Record;
use super::outcome;
use super::sessions;
use super::shapes::{Shape, Split};
use super::sink::Sink;
use super::talk::Talk;
use crate::transcript::{Outcome, Part, Role, ToolCall, ToolResult};

/// Streams of events.
pub(super) static SHAPE: Shape =
    Shape { split: Split::Before(begins), ..Shape::new(Format::CodexExec, sniff, read) };

fn sniff(value: &Value) -> Option<&'static str> {
    let kind = text(value, "type")?;
    if kind == "thread.started" && value.get("thread_id").is_some() {
        return Some("has type=thread.started and thread_id");
    }
    let item = kind.starts_with("item.") && value.get("item").is_some_and(|item| item.get("type").is_some());
    item.then_some("is an event of an item")
}

/// The id of the thread that begins; one that is resumed has the same.
fn begins(value: &Value) -> Option<&str> {
    (text(value, "type") == Some("thread.started")).then(|| text(value, "thread_id").unwrap_or_default())
}

/// Reads the events of one file.
fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    for (id, records) in sessions::by_header(records, begins, name, out) {
        thread(records, id, out);
    }
}

fn thread(records: Vec<Record>, id: String, out: &mut Sink) {
    let mut talk = Talk::new(id);
    let id = |value: &Value| value.get("item").and_then(|item| text(item, "id")).map(str::to_owned);
    let is = |record: &Record, kind: &str| text(&record.value, "type") == Some(kind);
    let completed: FxHashSet<String> =
        records.iter().filter(|record| is(record, "item.completed")).filter_map(|it| id(&it.value)).collect();
    let mut tasks = Value::Null;
    for Record { line, mut value } in records {
        let kind = text(&value, "type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "thread.started" | "turn.started" | "turn.completed" => {}
            "turn.failed" => {
                let error = value.get("error").and_then(|error| text(error, "message"));
                talk.refused(error.unwrap_or_default(), line);
            }
            "error" => talk.refused(text(&value, "message").unwrap_or_default(), line),
            "item.started" | "item.updated" | "item.completed" => {
                let done = kind == "item.completed";
                let again = id(&value).is_some_and(|id| completed.contains(&id));
                let mut item = take(&mut value, "item");
                if text(&item, "type") == Some("todo_list") {
                    let list = take(&mut item, "items");
                    if list != tasks {
                        tasks = list.clone();
                        plan(&mut talk, item, &list, line, out);
                    }
                } else if done || !again && kind == "item.started" {
                    add(&mut talk, item, done, line, out);
                }
            }
            other => unknown_record(other, line, out),
        }
    }
    out.finish_draft(talk.draft);
}

/// Adds an item: what was said, or a call with its result.
fn add(talk: &mut Talk, mut item: Value, done: bool, line: u32, out: &mut Sink) {
    let kind = text(&item, "type").unwrap_or_default().to_owned();
    let (name, arguments) = match kind.as_str() {
        "agent_message" | "assistant_message" => {
            out.raw.messages += 1;
            return talk.join(vec![build::said(take_text(&mut item, "text"))], line, None);
        }
        "reasoning" => return talk.join(vec![Part::Thinking(take_text(&mut item, "text"))], line, None),
        "error" => return talk.refused(text(&item, "message").unwrap_or_default(), line),
        "command_execution" => {
            ("shell".to_owned(), json!({ "command": take(&mut item, "command") }).to_string())
        }
        "file_change" => ("apply_patch".to_owned(), patch(&item)),
        "mcp_tool_call" => {
            let part = |key: &str| text(&item, key).unwrap_or_default();
            (
                format!("mcp__{}__{}", part("server"), part("tool")),
                argument_text(take(&mut item, "arguments")),
            )
        }
        "web_search" => ("web_search".to_owned(), json!({ "query": take(&mut item, "query") }).to_string()),
        "collab_tool_call" => {
            let name = take_text(&mut item, "tool");
            (name, json!({ "prompt": take(&mut item, "prompt") }).to_string())
        }
        other => return unknown_record(&format!("item {other}"), line, out),
    };
    out.raw.tool_calls += 1;
    let id = take_text(&mut item, "id");
    talk.join(vec![Part::call(ToolCall { id: id.clone(), name: shared(&name), arguments })], line, None);
    if done {
        let result = result(id, item);
        talk.push(Role::Tool, vec![Part::result(result)], line, None);
    }
}

/// The list of tasks, in the words of the tool that makes it.
fn plan(talk: &mut Talk, mut item: Value, list: &Value, line: u32, out: &mut Sink) {
    out.raw.tool_calls += 1;
    let step = |task: &Value| {
        let status = if flag(task, "completed") { "completed" } else { "pending" };
        json!({ "step": task.get("text"), "status": status })
    };
    let steps: Vec<Value> = list.as_array().into_iter().flatten().map(step).collect();
    let id = take_text(&mut item, "id");
    let arguments = json!({ "plan": steps }).to_string();
    talk.join(
        vec![Part::call(ToolCall { id: id.clone(), name: "update_plan".into(), arguments })],
        line,
        None,
    );
    let result =
        ToolResult { call_id: id, text: String::new(), outcome: Outcome::Ok, exit_code: None, images: 0 };
    talk.push(Role::Tool, vec![Part::result(result)], line, None);
}

/// The head lines of a patch of these files.
fn patch(item: &Value) -> String {
    let mut patch = "*** Begin Patch\n".to_owned();
    for change in items(item, "changes") {
        let verb = match text(change, "kind") {
            Some("add") => "Add",
            Some("delete") => "Delete",
            _ => "Update",
        };
        if let Some(path) = text(change, "path") {
            patch.extend(["*** ", verb, " File: ", path, "\n"]);
        }
    }
    patch.push_str("*** End Patch");
    patch
}

fn result(call_id: String, mut item: Value) -> ToolResult {
    let flags = outcome::flagged(&item);
    let status = match text(&item, "status") {
        Some("failed" | "declined") => Some(Outcome::Failed),
        Some("completed") => Some(Outcome::Ok),
        _ => None,
    };
    let output = take_text(&mut item, "aggregated_output");
    let mut held = take(&mut item, "result");
    let (mut said, images) = match take(&mut held, "content") {
        Value::Null => (output, 0),
        content => blocks::result_text(content),
    };
    let mut error = take(&mut item, "error");
    let failed = !error.is_null();
    if said.is_empty() && failed {
        said = match take(&mut error, "message") {
            Value::Null => argument_text(error),
            message => argument_text(message),
        };
    }
    let (outcome, exit_code) = match (flags, status) {
        (_, Some(Outcome::Failed)) => (Outcome::Failed, flags.and_then(|(_, code)| code)),
        (Some(told), _) => told,
        (None, _) if failed => (Outcome::Failed, None),
        (None, Some(status)) => (status, None),
        (None, None) => outcome::judge(&said, Outcome::Ok),
    };
    ToolResult { call_id, text: said, outcome, exit_code, images }
}
