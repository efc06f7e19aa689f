//! Records of pi's sub-agent extension: the work of each run, one session a run.
//!
//! A message may hold its calls and results as pi's messages do; they stand again in `tool_start` and `tool_end`, which are read where no
//! message held them. Results of `tool_end` may be cut off. What the process wrote to its error stream is no message.

#[cfg(test)]
mod tests;

use crate::ingest::value::{Value, shared};
use rustc_hash::FxHashSet;

use super::blocks::{self, Speaker};
use super::build::{unknown_record, unknown_role};
use super::formats::Format;
use super::json::{self, argument_text, items, take, take_text, text};
use super::lines::Record;
use super::outcome;
use super::pi;
use super::shapes::Shape;
use super::sink::Sink;
use super::talk::Talk;
use crate::transcript::{Origin, Outcome, Part, Role, ToolCall, ToolResult};

/// Records of runs.
pub(super) static SHAPE: Shape = Shape::new(Format::PiSubagents, sniff, read);

fn sniff(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    (text(value, "recordType").is_some() && has("runId") && has("agent"))
        .then_some("has recordType, runId and agent")
}

/// Reads the records of one file.
fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let mut runs: Vec<(String, Talk)> = Vec::new();
    let (mut called, mut answered) = (FxHashSet::default(), FxHashSet::default());
    for record in &records {
        let Some(message) = record.value.get("message") else { continue };
        let calls = items(message, "content").iter().filter(|block| text(block, "type") == Some("toolCall"));
        called.extend(calls.filter_map(|call| text(call, "id")).map(str::to_owned));
        answered.extend(text(message, "toolCallId").map(str::to_owned));
    }
    for Record { line, mut value } in records {
        let run = text(&value, "runId").unwrap_or(name).to_owned();
        let at = runs.iter().position(|(known, _)| *known == run).unwrap_or_else(|| {
            let mut talk = Talk::new(run.clone());
            let agent = text(&value, "agent").unwrap_or_default();
            talk.draft.origin = Origin::Sidechain(agent.to_owned());
            runs.push((run, talk));
            runs.len() - 1
        });
        let Some((_, talk)) = runs.get_mut(at) else { continue };
        talk.enter(text(&value, "cwd"));
        talk.model(text(&value, "model"));
        let time = value.get("ts").and_then(json::time);
        let id = text(&value, "toolCallId").unwrap_or_default().to_owned();
        match text(&value, "recordType").unwrap_or_default() {
            "message" => {
                out.raw.messages += 1;
                message(talk, value, line, time, out);
            }
            "tool_start" => {
                out.raw.tool_calls += 1;
                if !called.contains(&id) {
                    let arguments = match take(&mut value, "argsPayload") {
                        Value::Null => take(&mut value, "argsPreview"),
                        payload => payload,
                    };
                    let name = take_text(&mut value, "toolName");
                    let call = ToolCall { id, name: shared(&name), arguments: argument_text(arguments) };
                    talk.join(vec![Part::call(call)], line, time);
                }
            }
            "tool_end" if !answered.contains(&id) => {
                let keys = ["output", "result", "message", "text"];
                let held = keys.iter().map(|key| take(&mut value, key)).find(|held| !held.is_null());
                let mut held = held.unwrap_or_default();
                let content = match take(&mut held, "content") {
                    Value::Null => held,
                    content => content,
                };
                let (text, images) = blocks::result_text(content);
                let judged = || outcome::judge(&text, Outcome::Unknown);
                let (outcome, exit_code) = outcome::flagged(&value).unwrap_or_else(judged);
                let result = ToolResult { call_id: id, text, outcome, exit_code, images };
                talk.push(Role::Tool, vec![Part::result(result)], line, time);
            }
            "tool_end" | "stderr" => {}
            other => unknown_record(other, line, out),
        }
    }
    for (_, talk) in runs {
        out.finish_draft(talk.draft);
    }
}

/// A message: a text, or a message of pi.
fn message(talk: &mut Talk, mut value: Value, line: u32, time: Option<i64>, out: &mut Sink) {
    let mut message = take(&mut value, "message");
    let role = text(&message, "role").or_else(|| text(&value, "role")).unwrap_or_default().to_owned();
    let content = match take(&mut message, "content") {
        Value::Null => match take(&mut value, "text") {
            Value::Null => message.clone(),
            text => text,
        },
        content => content,
    };
    match role.as_str() {
        "user" => {
            let parts = blocks::parts(content, Speaker::User { meta: false }, Outcome::Unknown);
            talk.push(Role::User, parts, line, time);
        }
        "assistant" => {
            talk.model(text(&message, "model"));
            let mut parts = Vec::new();
            match content {
                Value::Array(list) => list.into_iter().for_each(|it| pi::push_reply_block(it, &mut parts)),
                other => parts = blocks::parts(other, Speaker::Other, Outcome::Unknown),
            }
            talk.join(parts, line, time);
            let told = message.get("usage");
            talk.used(told.and_then(|told| out.told(line, pi::usage(told)).flatten()));
        }
        "toolResult" | "tool" => {
            if let Value::Object(fields) = &mut message {
                fields.insert("content", content);
            }
            talk.push(Role::Tool, vec![Part::result(pi::result(message))], line, time);
        }
        "system" => {
            let parts = blocks::parts(content, Speaker::Other, Outcome::Unknown);
            talk.push(Role::System, parts, line, time);
        }
        other => unknown_role(other, line, out),
    }
}
