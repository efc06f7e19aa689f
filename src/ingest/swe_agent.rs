//! SWE-agent trajectories (`.traj`), old and new, and the rows of data sets made from them.
//!
//! `history` is read, which is the conversation as the model saw it; `trajectory` tells the same once more, with the whole
//! prompt in every step. From its steps come only the directory and the open file, and the conversation where there is
//! no history.
//!
//! Up to 2024 an action is text of the reply. It becomes a call: of the tool that the action names where it is one of the
//! agent's own commands, of `bash` else, with the action as its argument; the reply's text is the thought then, and the
//! user message that follows is the result. Demonstrations are kept as they stand, without calls.

#[cfg(test)]
mod tests;

use arcstr::ArcStr;

use crate::ingest::value::json;
use crate::ingest::value::{Map, Value};

use super::blocks::{self, Speaker};
use super::build::{self, Names};
use super::chat;
use super::formats::Format;
use super::json::{flag, items, take, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::shapes::{Shape, Split};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{Outcome, Part, Role};

/// Trajectories.
pub(super) static SHAPE: Shape =
    Shape { split: Split::each(is_trajectory), dated: false, ..Shape::new(Format::SweAgent, sniff, read) };

fn sniff(value: &Value) -> Option<&'static str> {
    let first = items(value, "trajectory").first();
    let has = |key: &str| first.is_some_and(|first| text(first, key).is_some());
    if value.get("trajectory").is_some_and(Value::is_array)
        && value.get("history").is_some_and(Value::is_array)
    {
        Some("has trajectory and history")
    } else if has("action") && has("observation") {
        Some("has trajectory with action and observation")
    } else if has("role") && (has("text") || has("system_prompt")) {
        Some("has trajectory with role and text")
    } else {
        None
    }
}

/// True for a record that is a trajectory.
fn is_trajectory(value: &Value) -> bool {
    ["trajectory", "history"].iter().any(|key| value.get(key).is_some_and(Value::is_array))
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let names = Names::new(&records, is_trajectory, name, out);
    for Record { line, mut value } in records {
        let steps = take(&mut value, "trajectory").into_list();
        let history = match take(&mut value, "history") {
            Value::Array(history) => history.into_vec(),
            _ => steps.iter().flat_map(of_step).collect(),
        };
        if history.is_empty() {
            let text = "a record without a history; ignored";
            out.note(line, "unknown-record", Severity::Note, text);
            continue;
        }
        out.raw.messages += history.len() as u64;
        let acted = steps.iter().filter(|step| step.get("role").is_none()).count() as u64;
        let id = names.next(&value, &["instance_id"], out);
        let mut reader = Reader { draft: Draft::new(id), states: states(&steps), ..Reader::default() };
        reader.draft.model = model(&value);
        for (index, entry) in history.into_iter().enumerate() {
            reader.entry(entry, names.place(line, index), out);
        }
        out.raw.tool_calls += if acted > 0 { acted } else { reader.calls };
        out.finish_draft(reader.draft);
    }
}

/// A step as entries of a history: of a run without one, or a row of a data set.
fn of_step(step: &Value) -> Vec<Value> {
    let get = |key: &str| step.get(key).cloned().unwrap_or_default();
    if let Some(role) = text(step, "role") {
        let role = if role == "ai" { "assistant" } else { role };
        let content = ["text", "system_prompt", "content"].iter().find_map(|key| text(step, key));
        let content = content.unwrap_or_default();
        let fenced = Some(content).filter(|_| role == "assistant").and_then(fenced);
        let (thought, action) = fenced.unwrap_or_default();
        return vec![json!({"role": role, "content": content, "thought": thought, "action": action})];
    }
    vec![
        json!({"role": "assistant", "content": get("response"), "thought": get("thought"), "action": get("action")}),
        json!({"role": "user", "content": get("observation")}),
    ]
}

/// The text before the last fenced block, and what is in it.
fn fenced(text: &str) -> Option<(String, String)> {
    let before_end = text.trim_end().strip_suffix("```")?;
    let (thought, block) = before_end.rsplit_once("```")?;
    let (_, action) = block.split_once('\n')?;
    Some((thought.to_owned(), action.to_owned()))
}

/// What a step says of where it was taken.
#[derive(Debug, Default)]
struct State {
    cwd: Option<ArcStr>,
    open_file: Option<String>,
}

fn states(steps: &[Value]) -> Vec<State> {
    let state = |step: &Value| {
        let parsed = match step.get("state") {
            Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
            Some(state) => state.clone(),
            None => Value::Null,
        };
        let known = |key: &str| text(&parsed, key).filter(|path| !path.is_empty() && *path != "n/a");
        State {
            cwd: known("working_dir").map(ArcStr::from),
            open_file: known("open_file").map(str::to_owned),
        }
    };
    steps.iter().map(state).collect()
}

/// The model of the settings, which stand as JSON text beside the trajectory, or of a data set's row.
fn model(value: &Value) -> Option<String> {
    let settings: Value =
        text(value, "replay_config").and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let configured = settings.pointer("/agent/model/name").and_then(Value::as_str);
    let model = configured.or_else(|| text(value, "model_name")).filter(|name| !name.is_empty());
    model.map(str::to_owned)
}

/// Builds the session entry by entry.
struct Reader {
    draft: Draft,
    states: Vec<State>,
    /// Replies so far: each has one step.
    replies: usize,
    calls: u64,
    /// True after an action that was text, until its result.
    awaits: bool,
    cwd: Option<ArcStr>,
}

impl Default for Reader {
    fn default() -> Self {
        Self { draft: Draft::new(""), states: Vec::new(), replies: 0, calls: 0, awaits: false, cwd: None }
    }
}

impl Reader {
    fn push(&mut self, role: Role, parts: Vec<Part>, line: u32) {
        let mut message = build::message(role, parts, line);
        message.cwd.clone_from(&self.cwd);
        self.draft.messages.push(message);
    }

    fn entry(&mut self, mut entry: Value, line: u32, out: &mut Sink) {
        if !entry.is_object() {
            out.damage(line, "bad-record", "an entry of the history that is no object; its content is lost");
            return;
        }
        let demo = flag(&entry, "is_demo") || text(&entry, "message_type") == Some("demonstration");
        match text(&entry, "role").unwrap_or_default() {
            "system" => {
                let parts = blocks::parts(take(&mut entry, "content"), Speaker::Other, Outcome::Unknown);
                self.push(Role::System, parts, line);
            }
            "assistant" if demo => {
                let parts = blocks::parts(take(&mut entry, "content"), Speaker::Other, Outcome::Unknown);
                self.push(Role::Assistant, parts, line);
            }
            "assistant" => self.reply(entry, line),
            "user" | "tool" if demo => self.user(entry, true, line),
            "user" | "tool" => {
                let id = items(&entry, "tool_call_ids").first().and_then(Value::as_str);
                let id = id.or_else(|| text(&entry, "tool_call_id")).map(str::to_owned);
                if self.awaits || id.is_some() || text(&entry, "role") == Some("tool") {
                    self.awaits = false;
                    let content = take(&mut entry, "content");
                    let answer = build::answer(id.unwrap_or_default(), content, &entry);
                    self.push(Role::Tool, vec![answer], line);
                } else {
                    // The task is the user's; what is said later, of replies that could not be read, the agent's.
                    self.user(entry, self.replies > 0, line);
                }
            }
            other => {
                let text = format!("role {other:?} is not known; kept as injected user text");
                out.note(line, "unknown-role", Severity::Note, text);
                self.user(entry, true, line);
            }
        }
    }

    fn user(&mut self, mut entry: Value, meta: bool, line: u32) {
        let parts = blocks::parts(take(&mut entry, "content"), Speaker::User { meta }, Outcome::Unknown);
        self.push(Role::User, parts, line);
    }

    fn reply(&mut self, mut entry: Value, line: u32) {
        let state = self.states.get_mut(self.replies).map(std::mem::take).unwrap_or_default();
        self.replies += 1;
        self.cwd = state.cwd.or_else(|| self.cwd.take());
        let mut parts = Vec::new();
        let thinking = take(&mut entry, "thinking_blocks");
        parts.extend(blocks::parts(thinking, Speaker::Other, Outcome::Unknown));
        let content = blocks::parts(take(&mut entry, "content"), Speaker::Other, Outcome::Unknown);
        let action = take_text(&mut entry, "action");
        let calls = take(&mut entry, "tool_calls").into_list();
        self.awaits = calls.is_empty() && !action.trim().is_empty();
        if self.awaits {
            let thought = take_text(&mut entry, "thought");
            if !thought.trim().is_empty() {
                parts.push(build::said(thought.trim_end()));
            }
            parts.push(acted(&action, state.open_file.as_deref()));
            self.calls += 1;
        } else {
            parts.extend(content);
            self.calls += calls.len() as u64;
            parts.extend(calls.into_iter().filter(Value::is_object).map(chat::call));
        }
        self.push(Role::Assistant, parts, line);
    }
}

/// An action that is text, as a call.
fn acted(action: &str, open_file: Option<&str>) -> Part {
    let line = action.trim_start().lines().next().unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches(['"', '\''])).collect();
    let word = |at: usize| words.get(at).copied();
    let name = word(0).unwrap_or_default();
    let (name, path) = match name {
        "open" | "create" => (name, word(1)),
        "edit" | "insert" | "append" | "goto" | "scroll_up" | "scroll_down" => (name, open_file),
        "str_replace_editor" => (name, word(2)),
        "search_dir" | "search_file" | "find_file" | "submit" => (name, None),
        _ => ("bash", None),
    };
    let mut arguments = Map::new();
    if let Some(path) = path {
        arguments.insert("path", path.into());
    }
    if name == "str_replace_editor" {
        arguments.insert("command", word(1).unwrap_or_default().into());
        arguments.insert("action", action.into());
    } else {
        arguments.insert("command", action.into());
    }
    build::call("", name, Value::Object(arguments))
}
