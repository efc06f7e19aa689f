//! Runs of tau-bench and tau2-bench: results of a run (list, document or lines), simulations, and the few-shot texts.
//!
//! Every run of a task is a session. The user is simulated, and in tau2 has tools as well: calls of the user and their results are nothing
//! the agent sees, and are left out. In the few-shot texts calls are not shown (`assistant: None`): a call without name
//! stands for each, so that the results have their place.

#[cfg(test)]
mod tests;

use crate::ingest::value::Value;
use crate::ingest::value::json;

use super::build::{self, Names};
use super::chat;
use super::formats::Format;
use super::json::{self, argument_text, flag, items, take, text};
use super::lines::Record;
use super::links::Draft;
use super::shapes::{Shape, Split};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::Role;

/// Results and simulations.
pub(super) static SHAPE: Shape =
    Shape { split: Split::each(is_run), dated: false, ..Shape::new(Format::TauBench, sniff, read) };

fn sniff(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    let list = |key: &str| value.get(key).is_some_and(Value::is_array);
    if list("traj") && (has("task_id") || has("reward")) {
        return Some("has task_id and traj");
    }
    if list("simulations") && (has("tasks") || has("info")) {
        return Some("has tasks and simulations");
    }
    if list("messages") && has("task_id") && (has("reward_info") || has("termination_reason")) {
        return Some("is a simulation with messages and reward_info");
    }
    let named = text(value, "benchmark_name").is_some_and(|name| name.starts_with("tau"));
    if named && list("messages") {
        return Some("has benchmark_name tau");
    }
    text(value, "messages_display").map(|_| "has messages_display")
}

/// True for a record that is a run, or holds several.
fn is_run(value: &Value) -> bool {
    ["messages_display", "simulations", "traj", "messages"].iter().any(|key| value.get(key).is_some())
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let names = Names::new(&records, is_run, name, out);
    for Record { line, mut value } in records {
        if let Some(shown) = text(&value, "messages_display") {
            out.raw.messages += 1;
            let id = format!("{name}#{}", out.number());
            displayed(shown, id, line, out);
        } else if let Value::Array(simulations) = take(&mut value, "simulations") {
            let model = value.pointer("/info/agent_info/llm").and_then(Value::as_str);
            for (index, simulation) in simulations.into_iter().enumerate() {
                run(simulation, model, &format!("{name}#{}", index + 1), &build::place, out);
            }
        } else if value.get("traj").is_some() || value.get("messages").is_some() {
            let fallback = format!("{name}#{}", out.number());
            run(value, None, &fallback, &|index| names.place(line, index), out);
        } else {
            out.note(line, "unknown-record", Severity::Note, "no run of a task; ignored");
        }
    }
}

/// One run of a task.
fn run(mut value: Value, model: Option<&str>, fallback: &str, place: &dyn Fn(usize) -> u32, out: &mut Sink) {
    let get = |place: &str| value.pointer(place).cloned().map(argument_text).filter(|text| !text.is_empty());
    let id = match (get("/meta/id").or_else(|| get("/id")), get("/task_id"), get("/trial")) {
        (Some(id), _, _) => id,
        (None, Some(task), Some(trial)) => format!("task-{task}-trial-{trial}"),
        (None, Some(task), None) => format!("task-{task}"),
        (None, None, _) => fallback.to_owned(),
    };
    let model = text(&value, "model_path").or(model).map(str::to_owned);
    let messages = ["traj", "messages"].iter().map(|key| take(&mut value, key)).find(Value::is_array);
    let Some(Value::Array(messages)) = messages else { return };
    let mut draft = Draft { model, ..Draft::holding(id, messages.len()) };
    // Results of the user's own calls still to come.
    let mut owed = 0usize;
    for (index, mut message) in messages.into_iter().enumerate() {
        let line = place(index);
        let results = match take(&mut message, "tool_messages") {
            Value::Array(several) => several.into_vec(),
            _ => vec![message],
        };
        for message in results {
            add(&mut draft, message, &mut owed, line, out);
        }
    }
    out.finish_draft(draft);
}

fn add(draft: &mut Draft, mut message: Value, owed: &mut usize, line: u32, out: &mut Sink) {
    let role = text(&message, "role").unwrap_or_default().to_owned();
    let of_user = text(&message, "requestor").map(|requestor| requestor == "user");
    if role == "user" && !items(&message, "tool_calls").is_empty() {
        *owed = items(&message, "tool_calls").len();
        if let Some(fields) = message.as_object_mut() {
            out.raw.tool_calls += *owed as u64;
            fields.remove("tool_calls");
        }
        let text = "the simulated user called a tool of its own, which the agent does not see; left out";
        out.note(line, "call-of-user", Severity::Note, text);
    } else if role == "tool" {
        if of_user.unwrap_or(*owed > 0) {
            *owed = owed.saturating_sub(1);
            out.raw.messages += 1;
            return;
        }
        let error = flag(&message, "error");
        if let Some(fields) = message.as_object_mut() {
            if !fields.contains_key("tool_call_id")
                && let Some(id) = fields.remove("id")
            {
                fields.insert("tool_call_id", id);
            }
            if error {
                fields.insert("is_error", json!(true));
            }
        }
    } else if role == "assistant" {
        *owed = 0;
    }
    let (at, time) = (draft.messages.len(), json::time_at(&message, "timestamp"));
    chat::add(draft, message, line, out);
    draft.messages.get_mut(at..).unwrap_or_default().iter_mut().for_each(|added| added.time = time);
}

/// A conversation as text, a speaker at the beginning of each message.
fn displayed(shown: &str, id: String, line: u32, out: &mut Sink) {
    const SPEAKERS: [(&str, Role); 4] = [
        ("user: ", Role::User),
        ("assistant: ", Role::Assistant),
        ("tool: ", Role::Tool),
        ("system: ", Role::System),
    ];
    let mut said: Vec<(Role, String)> = Vec::new();
    for text in shown.split('\n') {
        let speaker = SPEAKERS.iter().find_map(|(opening, role)| Some((*role, text.strip_prefix(opening)?)));
        match (speaker, said.last_mut()) {
            (Some((role, text)), _) => said.push((role, text.to_owned())),
            (None, Some((_, last))) => {
                last.push('\n');
                last.push_str(text);
            }
            (None, None) => said.push((Role::User, text.to_owned())),
        }
    }
    let mut draft = Draft::new(id);
    let mut said = said.into_iter().peekable();
    while let Some((role, text)) = said.next() {
        let calls = role == Role::Assistant && said.peek().is_some_and(|(next, _)| *next == Role::Tool);
        let mut parts = match role {
            Role::Tool => vec![build::answer("", Value::from(text), &Value::Null)],
            _ if text == "None" => Vec::new(),
            _ => vec![build::said(text)],
        };
        if role == Role::Assistant {
            build::split_thinking(&mut parts, chat::THINKING);
        }
        if calls {
            parts.push(build::call("", "", Value::Null));
            let text = "the text shows results but not the calls; one without name stands for each";
            out.note(line, "calls-not-shown", Severity::Note, text);
        }
        draft.messages.push(build::message(role, parts, line));
    }
    out.finish_draft(draft);
}
