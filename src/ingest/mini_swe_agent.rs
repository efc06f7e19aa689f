//! mini-swe-agent trajectories: a document with `trajectory_format`, or the bare list of messages of its first version.
//!
//! Version 1 asks for one fenced block of shell a reply. It becomes a call of `bash`, the rest of the reply stays text, and the
//! user message behind it, which begins with `<returncode>`, is the result. Replies with no block or several are
//! refused by the agent: they stay text, and what it answers is injected. Version 2 has tool calls, as the chat or the
//! Responses API writes them. The last entry, of role `exit`, is the agent's own note.

#[cfg(test)]
mod tests;

use arcstr::ArcStr;

use crate::ingest::value::{Items as List, Value, json};

use super::blocks::{self, Speaker};
use super::build::{self, Names};
use super::chat;
use super::detect::is_chat;
use super::formats::Format;
use super::json::{self, items, take, text};
use super::lines::Record;
use super::links::Draft;
use super::openai_responses::Items;
use super::outcome;
use super::shapes::{self, Lists, Shape, Split};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{Outcome, Part, Role};

/// Trajectories.
pub(super) static SHAPE: Shape = Shape {
    owns: is_chat,
    split: Split::each(is_trajectory),
    list: Some(shapes::List { field: "messages", read: read_list }),
    dated: false,
    lists: Lists::Sessions,
    ..Shape::new(Format::MiniSweAgent, sniff, read)
};

/// How a block of shell opens, newest first.
const FENCES: [&str; 2] = ["```mswea_bash_command\n", "```bash\n"];

fn sniff(value: &Value) -> Option<&'static str> {
    if text(value, "trajectory_format").is_some_and(|format| format.starts_with("mini-swe-agent")) {
        return Some("has trajectory_format of mini-swe-agent");
    }
    if value.pointer("/info/mini_version").is_some() {
        return Some("has mini_version");
    }
    let content = text(value, "content")?;
    match text(value, "role")? {
        "assistant" if content.contains(FENCES[0]) => Some("has a block of mswea_bash_command"),
        "user" if return_code(content).is_some() && content.contains("<output>") => {
            Some("has returncode and output")
        }
        _ => None,
    }
}

/// True for a record that is a trajectory.
fn is_trajectory(value: &Value) -> bool {
    value.get("messages").is_some_and(Value::is_array)
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let names = Names::new(&records, is_trajectory, name, out);
    let mut bare = Reader::new(Draft::new(name));
    for Record { line, mut value } in records {
        match take(&mut value, "messages") {
            Value::Array(messages) => trajectory(&value, &mut messages.into_iter(), &names, line, out),
            _ if text(&value, "role").is_some() => bare.message(value, line, out),
            _ => {
                let text = "neither a message nor a list of messages; ignored";
                out.note(line, "unknown-record", Severity::Note, text);
            }
        }
    }
    bare.finish(out);
}

/// Reads a file that is one trajectory.
#[expect(clippy::needless_pass_by_value, reason = "so a list is read")]
fn read_list(value: Value, messages: List<'_>, name: &str, out: &mut Sink) {
    let names = Names::new(&[], is_trajectory, name, out);
    trajectory(&value, messages, &names, 1, out);
}

fn trajectory(value: &Value, messages: List<'_>, names: &Names<'_>, line: u32, out: &mut Sink) {
    let id = names.next(value, &["instance_id"], out);
    let mut reader = Reader::new(Draft::holding(id, messages.len()));
    let config = value.pointer("/info/config").unwrap_or(&Value::Null);
    let setting = |place: &str| config.pointer(place).and_then(Value::as_str);
    reader.items.draft.model = setting("/model/model_name").map(str::to_owned);
    reader.cwd = setting("/environment/cwd").filter(|cwd| !cwd.is_empty()).map(ArcStr::from);
    for (index, message) in messages.enumerate() {
        reader.message(message, names.place(line, index), out);
    }
    reader.finish(out);
}

/// The exit status that an observation begins with.
fn return_code(content: &str) -> Option<i32> {
    let (code, _) = content.trim_start().strip_prefix("<returncode>")?.split_once("</returncode>")?;
    code.trim().parse().ok()
}

/// Builds a session message by message.
struct Reader {
    items: Items,
    cwd: Option<ArcStr>,
    /// True after a reply, until the user speaks.
    replied: bool,
    /// True after a call that was text, until its result.
    awaits: bool,
}

impl Reader {
    fn new(draft: Draft) -> Self {
        Self { items: Items::new(draft), cwd: None, replied: false, awaits: false }
    }

    fn finish(self, out: &mut Sink) {
        let mut draft = self.items.draft;
        for message in draft.messages.iter_mut() {
            message.cwd = message.cwd.take().or_else(|| self.cwd.clone());
        }
        chat::place(&mut draft);
        out.finish_draft(draft);
    }

    fn message(&mut self, mut message: Value, line: u32, out: &mut Sink) {
        if !message.is_object() {
            return chat::add(&mut self.items.draft, message, line, out);
        }
        let before = out.raw;
        let from = self.items.draft.messages.len();
        let time = json::time_at(&message, "timestamp")
            .or_else(|| json::time_at(message.get("extra")?, "timestamp"));
        let role = text(&message, "role").unwrap_or_default().to_owned();
        let asks = role == "assistant" || role.is_empty() && text(&message, "object") == Some("response");
        match role.as_str() {
            "exit" => {}
            "assistant" => self.reply(message, line, out),
            "user" if self.awaits => {
                self.awaits = false;
                let content = take(&mut message, "content");
                let mut answer = build::answer("", content, message.get("extra").unwrap_or(&Value::Null));
                if let Part::Result(result) = &mut answer
                    && let Some(code) = result.exit_code.or_else(|| return_code(&result.text))
                {
                    (result.outcome, result.exit_code) = (outcome::of_exit(code), Some(code));
                }
                self.items.draft.messages.push(build::message(Role::Tool, vec![answer], line));
            }
            "user" => {
                let meta = self.replied;
                let parts =
                    blocks::parts(take(&mut message, "content"), Speaker::User { meta }, Outcome::Unknown);
                self.items.draft.messages.push(build::message(Role::User, parts, line));
            }
            "tool" => {
                let id = text(&message, "tool_call_id").unwrap_or_default().to_owned();
                let content = take(&mut message, "content");
                let answer = build::answer(id, content, message.get("extra").unwrap_or(&Value::Null));
                self.items.draft.messages.push(build::message(Role::Tool, vec![answer], line));
            }
            "" if text(&message, "object") == Some("response") => {
                self.replied = true;
                self.items.response(message, line, out);
            }
            "" if message.get("type").is_some() => self.items.item(message, line, out),
            _ => {
                chat::add(&mut self.items.draft, message, line, out);
            }
        }
        // One action a reply, whatever it holds.
        out.raw.messages = before.messages + 1;
        out.raw.tool_calls = before.tool_calls + u64::from(asks);
        let new = self.items.draft.messages.get_mut(from..).unwrap_or_default();
        for message in new {
            message.time = message.time.or(time);
        }
    }

    fn reply(&mut self, mut message: Value, line: u32, out: &mut Sink) {
        self.replied = true;
        let response = message.pointer("/extra/response").unwrap_or(&Value::Null);
        let usage = response.get("usage").and_then(|told| out.told(line, chat::usage(told)).flatten());
        if let Some(model) = text(response, "model") {
            self.items.draft.model = Some(model.to_owned());
        }
        let split = Some(&message)
            .filter(|message| items(message, "tool_calls").is_empty())
            .and_then(|message| fenced(text(message, "content")?));
        self.awaits = split.is_some();
        let call = split.map(|(said, command)| {
            if let Some(content) = message.get_mut("content") {
                *content = Value::from(said);
            }
            build::call("", "bash", json!({ "command": command }))
        });
        let mut parts = chat::assistant_parts(message);
        parts.extend(call);
        let mut reply = build::message(Role::Assistant, parts, line);
        reply.usage = usage.map(Box::new);
        self.items.draft.messages.push(reply);
    }
}

/// The text around the one block of shell in a reply, and what is in the block.
fn fenced(content: &str) -> Option<(String, String)> {
    let fence = FENCES.iter().find(|fence| content.contains(**fence))?;
    let (before, rest) = content.split_once(fence)?;
    let (command, after) = rest.split_once("\n```")?;
    if after.contains(fence) {
        return None;
    }
    let said: Vec<&str> = [before.trim(), after.trim()].into_iter().filter(|it| !it.is_empty()).collect();
    Some((said.join("\n\n"), command.to_owned()))
}
