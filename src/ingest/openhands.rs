//! OpenHands: events of version 0 (one list, lines, or the `history` of an evaluation's row), events of version 1 (one file
//! each beside `base_state.json`), and the logs of its model calls.
//!
//! Actions of the agent are calls, observations their results, tied by `cause` where no call id is given. Actions that came out of one
//! reply of the model are one message. A condensation is recorded: what it forgot is out of the context, all other
//! messages stay. Events of state, recall and statistics are silent. In logs of model calls each call repeats the
//! conversation ([`threads`](super::threads)).

mod calls;
mod later;

#[cfg(test)]
mod tests;

use arcstr::ArcStr;

use crate::ingest::value::Value;
use crate::ingest::value::json;
use rustc_hash::{FxHashMap, FxHashSet};

use super::blocks::{self, Speaker};
use super::build::{self, Names};
use super::chat;
use super::formats::Format;
use super::json::{self, argument_text, items, take, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::outcome;
use super::shapes::{Piece, Shape, Split, TreeShape};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{MessageIdx, MessageSet, Outcome, Part, Recorded, Role};

/// Events in one file, and logs of model calls.
pub(super) static SHAPE: Shape =
    Shape { split: Split::each(is_row), ..Shape::new(Format::Openhands, sniff, read) };

/// Events in one file each.
pub(super) static TREE: TreeShape = TreeShape { format: Format::Openhands, group, read: read_tree };

/// The directory of the events.
const EVENTS: &str = "events";

fn sniff(value: &Value) -> Option<&'static str> {
    if is_event(value) {
        return Some("is an event with id, source and action or observation");
    }
    if later::is_event(value) {
        return Some("is an event with source and kind");
    }
    if items(value, "history").iter().flat_map(flat).take(3).any(is_event) {
        return Some("has a history of events");
    }
    if later::is_state(value) {
        return Some("is the base state of a conversation");
    }
    calls::sniff(value)
}

fn is_event(value: &Value) -> bool {
    text(value, "source").is_some_and(|source| matches!(source, "agent" | "user" | "environment"))
        && (text(value, "action").is_some() && value.get("args").is_some()
            || text(value, "observation").is_some() && value.get("content").is_some())
}

/// Older rows keep action and observation in pairs.
fn flat(entry: &Value) -> &[Value] {
    entry.as_array().unwrap_or(std::slice::from_ref(entry))
}

/// True for a row of a data set: a whole conversation.
fn is_row(value: &Value) -> bool {
    value.get("history").is_some_and(Value::is_array)
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    if let [record] = records.as_slice()
        && !out.is_in_batches()
    {
        let piece = name.starts_with("event-") || name.bytes().all(|byte| byte.is_ascii_digit());
        if later::is_state(&record.value)
            || piece && (is_event(&record.value) || later::is_event(&record.value))
        {
            out.part_of_log("a piece of an OpenHands conversation: name the directory to read it whole");
            return;
        }
    }
    let names = Names::new(&records, is_row, name, out);
    let mut reader = Reader::new(name);
    let mut calls = calls::Calls::new(name);
    for Record { line, mut value } in records {
        if let Value::Array(history) = take(&mut value, "history") {
            let mut row = Reader::new(&names.next(&value, &["instance_id"], out));
            let events = history.iter().flat_map(flat).cloned();
            events.enumerate().for_each(|(index, event)| row.event(event, names.place(line, index), out));
            row.finish(out);
        } else if calls::sniff(&value).is_some() {
            calls.add(value, line, out);
        } else {
            reader.event(value, line, out);
        }
    }
    reader.finish(out);
    calls.finish(out);
}

/// Files `events/event-00001-….json` or `events/12.json`, by their directory; the state beside them first.
fn group(paths: &[&str]) -> Vec<Vec<usize>> {
    let mut logs: Vec<(&str, Vec<(u64, usize)>)> = Vec::new();
    for (at, path) in paths.iter().enumerate() {
        let Some((directory, file)) = path.rsplit_once('/') else { continue };
        let Some(stem) = file.strip_suffix(".json") else { continue };
        if directory != EVENTS && !directory.ends_with("/events") {
            continue;
        }
        let number = stem.strip_prefix("event-").map_or(stem, |rest| rest.split('-').next().unwrap_or(rest));
        let Ok(number) = number.parse() else { continue };
        match logs.iter_mut().find(|(known, _)| *known == directory) {
            Some((_, files)) => files.push((number, at)),
            None => logs.push((directory, vec![(number, at)])),
        }
    }
    let mut groups = Vec::with_capacity(logs.len());
    for (directory, mut files) in logs {
        files.sort_unstable();
        let parent = directory.strip_suffix(EVENTS).unwrap_or_default();
        let is_state = |path: &&str| path.strip_prefix(parent) == Some("base_state.json");
        let state = paths.iter().position(is_state);
        groups.push(state.into_iter().chain(files.into_iter().map(|(_, at)| at)).collect());
    }
    groups
}

fn read_tree(pieces: Vec<Piece>, name: &str, out: &mut Sink) {
    let directory = pieces.iter().find_map(|piece| {
        let (directory, _) = piece.path.rsplit_once('/')?;
        let own = directory.strip_suffix(EVENTS).map_or(directory, |parent| parent.trim_end_matches('/'));
        own.rsplit('/').next().filter(|own| !own.is_empty()).map(str::to_owned)
    });
    let mut reader = Reader::new(directory.as_deref().unwrap_or(name));
    for (number, piece) in pieces.into_iter().enumerate() {
        for record in piece.records {
            reader.event(record.value, build::place(number), out);
        }
    }
    reader.finish(out);
}

/// Builds the session event by event.
struct Reader {
    draft: Draft,
    cwd: Option<ArcStr>,
    /// Message made from an event, by the event's id.
    places: FxHashMap<String, usize>,
    /// Call id of an action, by the event's id.
    calls: FxHashMap<String, String>,
    /// The reply of the model that the last message came out of.
    response: Option<String>,
    /// Events out of the context.
    forgotten: FxHashSet<String>,
}

impl Reader {
    fn new(id: &str) -> Self {
        Self {
            draft: Draft::new(id),
            cwd: None,
            places: FxHashMap::default(),
            calls: FxHashMap::default(),
            response: None,
            forgotten: FxHashSet::default(),
        }
    }

    fn finish(mut self, out: &mut Sink) {
        chat::place(&mut self.draft);
        out.finish_draft(self.draft);
    }

    fn push(&mut self, role: Role, parts: Vec<Part>, line: u32, event: &Value) {
        let id = id_text(event);
        self.response = None;
        let mut message = build::message(role, parts, line);
        message.time = json::time_at(event, "timestamp");
        message.cwd.clone_from(&self.cwd);
        self.places.insert(id, self.draft.messages.len());
        self.draft.messages.push(message);
    }

    /// Adds to the reply that came with the same response of the model, or begins one. True when it began one.
    fn say(&mut self, parts: Vec<Part>, response: Option<&str>, line: u32, event: &Value) -> bool {
        let joins = response.is_some() && self.response.as_deref() == response;
        let last = self.draft.messages.len().saturating_sub(1);
        if joins && let Some(open) = self.draft.messages.last_mut() {
            for part in parts {
                open.push(part, line);
            }
            self.places.insert(id_text(event), last);
        } else {
            self.push(Role::Assistant, parts, line, event);
            self.response = response.map(str::to_owned);
        }
        !joins
    }

    fn event(&mut self, mut event: Value, line: u32, out: &mut Sink) {
        if later::is_state(&event) {
            later::describe(&mut self.draft, &event);
            return;
        }
        out.raw.messages += 1;
        if text(&event, "kind").is_some() && text(&event, "source").is_some() {
            later::event(self, event, line, out);
        } else if let Some(action) = text(&event, "action").map(str::to_owned) {
            self.action(event, &action, line, out);
        } else if let Some(observation) = text(&event, "observation").map(str::to_owned) {
            self.observation(&mut event, &observation, line);
        } else {
            out.note(line, "unknown-record", Severity::Note, "neither an action nor an observation; ignored");
        }
    }

    fn action(&mut self, mut event: Value, action: &str, line: u32, out: &mut Sink) {
        const COUNTED: [&str; 8] =
            ["run", "read", "write", "edit", "browse", "run_ipython", "think", "call_tool_mcp"];
        out.raw.tool_calls += u64::from(COUNTED.contains(&action));
        let mut args = take(&mut event, "args");
        let by_agent = text(&event, "source") == Some("agent");
        match action {
            "change_agent_state"
            | "recall"
            | "null"
            | "start"
            | "stop"
            | "pause"
            | "resume"
            | "streaming_chunk"
            | "condensation_request" => {}
            "condensation" => {
                let ids = later::forgotten(&args);
                let summary = Some(take_text(&mut args, "summary"));
                self.condensed(ids, summary, line, out);
            }
            "system" => {
                let parts = vec![build::said(take_text(&mut args, "content"))];
                let schema = argument_text(take(&mut args, "tools"));
                self.draft.tool_schema =
                    self.draft.tool_schema.take().or(Some(schema).filter(|it| it.len() > 2));
                self.push(Role::System, parts, line, &event);
            }
            "message" => {
                let mut parts = if by_agent {
                    vec![build::said(take_text(&mut args, "content"))]
                } else {
                    blocks::parts(take(&mut args, "content"), Speaker::User { meta: false }, Outcome::Unknown)
                };
                parts.extend(items(&args, "image_urls").iter().map(|_| Part::Image { bytes: 0 }));
                if by_agent {
                    let response = response_of(&event);
                    self.say(parts, response.as_deref(), line, &event);
                    self.reported(&event, line, out);
                } else {
                    self.push(Role::User, parts, line, &event);
                }
            }
            _ => self.call(&mut event, args, action, line, out),
        }
    }

    /// An action that is a call of a tool.
    fn call(&mut self, event: &mut Value, mut args: Value, action: &str, line: u32, out: &mut Sink) {
        let by_agent = text(event, "source") == Some("agent");
        let thought = take_text(&mut args, "thought");
        let metadata = event.get("tool_call_metadata").unwrap_or(&Value::Null);
        let name = text(metadata, "function_name").unwrap_or(action).to_owned();
        let call_id = text(metadata, "tool_call_id").unwrap_or_default().to_owned();
        let id = id_text(event);
        let call_id = if call_id.is_empty() { format!("event-{id}") } else { call_id };
        self.calls.insert(id, call_id.clone());
        if action == "finish" && text(metadata, "function_name").is_none() {
            let said = ["final_thought", "task_completed", "outputs"].iter().find_map(|key| text(&args, key));
            let said = [thought.as_str(), said.unwrap_or_default()];
            let parts = said.iter().filter(|it| !it.trim().is_empty()).map(|it| build::said(*it)).collect();
            self.push(Role::Assistant, parts, line, event);
            return;
        }
        let arguments = sent(metadata, &call_id).unwrap_or(args);
        if !by_agent {
            // What the person did in the workspace, as the agent is told of it.
            let text = format!("{name}: {}", argument_text(arguments));
            self.calls.remove(&id_text(event));
            self.push(
                Role::User,
                vec![Part::Text(crate::transcript::Text { text, injected: true })],
                line,
                event,
            );
            return;
        }
        let mut parts = Vec::new();
        let response = response_of(event);
        let opens = response.is_none() || self.response != response;
        if opens {
            let reasoning = event
                .pointer("/tool_call_metadata/model_response/choices/0/message/reasoning_content")
                .and_then(Value::as_str);
            parts.extend(reasoning.map(|it| Part::Thinking(it.to_owned())));
            if !thought.trim().is_empty() && action != "think" {
                parts.push(build::said(thought));
            }
        }
        parts.push(build::call(call_id, name, arguments));
        if self.say(parts, response.as_deref(), line, event) {
            self.reported(event, line, out);
        }
    }

    /// Usage and model of the response that an action came with.
    fn reported(&mut self, event: &Value, line: u32, out: &mut Sink) {
        let response = event.pointer("/tool_call_metadata/model_response").unwrap_or(&Value::Null);
        if let Some(model) = text(response, "model") {
            self.draft.model = Some(model.to_owned());
        }
        let usage = response.get("usage").and_then(|told| out.told(line, chat::usage(told)).flatten());
        if let Some(message) = self.draft.messages.last_mut() {
            message.usage = usage.map(Box::new).or(message.usage.take());
        }
    }

    fn observation(&mut self, event: &mut Value, kind: &str, line: u32) {
        if matches!(kind, "agent_state_changed" | "null" | "recall" | "condense" | "loop_detection") {
            if kind != "recall" {
                return;
            }
            let text = take_text(event, "content");
            if !text.is_empty() && text != "Retrieved workspace context" && !text.starts_with("Added ") {
                self.push(Role::User, vec![build::injected(text)], line, event);
            }
            return;
        }
        let extras = take(event, "extras");
        if let Some(cwd) =
            extras.pointer("/metadata/working_dir").and_then(Value::as_str).filter(|it| !it.is_empty())
        {
            self.cwd = Some(ArcStr::from(cwd));
        }
        let cause = event.get("cause").map(|cause| argument_text(cause.clone()));
        let tied =
            event.pointer("/tool_call_metadata/tool_call_id").and_then(Value::as_str).map(str::to_owned);
        let call_id = tied.or_else(|| self.calls.get(&cause?).cloned());
        let content = take(event, "content");
        let Some(call_id) = call_id else {
            let (text, _) = blocks::result_text(content);
            self.push(Role::User, vec![build::injected(text)], line, event);
            return;
        };
        let mut answer = build::answer(call_id, content, &extras);
        if let Part::Result(result) = &mut answer {
            let code = extras.pointer("/metadata/exit_code").and_then(Value::as_i64);
            if let Some(code) = code.and_then(|code| i32::try_from(code).ok()) {
                // -1 says that the command still runs.
                let ended = code != -1;
                result.outcome = if ended { outcome::of_exit(code) } else { Outcome::Unknown };
                result.exit_code = Some(code).filter(|_| ended);
            } else if matches!(kind, "error" | "user_rejected") {
                result.outcome = Outcome::Failed;
            }
            result.images += u32::try_from(items(&extras, "image_urls").len()).unwrap_or(0);
        }
        self.push(Role::Tool, vec![answer], line, event);
    }

    /// Records a condensation: these events are out of the context from here on.
    fn condensed(&mut self, ids: Option<Vec<String>>, summary: Option<String>, line: u32, out: &mut Sink) {
        out.raw.compactions += 1;
        self.response = None;
        let end = self.draft.messages.len();
        let known = ids.is_some();
        self.forgotten.extend(ids.into_iter().flatten());
        let gone = self.places.iter().filter(|(id, _)| self.forgotten.contains(*id));
        let mut gone: Vec<MessageIdx> = gone.map(|(_, at)| MessageIdx::new(*at)).collect();
        gone.sort_unstable();
        let kept = gone.into_iter().collect::<MessageSet>().others(end);
        let summary = summary.filter(|summary| !summary.trim().is_empty());
        let mut recorded = Recorded { kept, line, summary, ..Recorded::at(MessageIdx::new(end)) };
        if !known {
            out.kept_unknown(&mut recorded, "a condensation does not name the events it forgot");
        }
        self.draft.recorded.push(recorded);
    }
}

/// An event's id as text: numbers in version 0, texts later.
fn id_text(event: &Value) -> String {
    event.get("id").map(|id| argument_text(id.clone())).unwrap_or_default()
}

fn response_of(event: &Value) -> Option<String> {
    let response =
        event.pointer("/tool_call_metadata/model_response/id").or_else(|| event.get("llm_response_id"));
    response.and_then(Value::as_str).filter(|id| !id.is_empty()).map(str::to_owned)
}

/// The arguments of a call as the model sent them.
fn sent(metadata: &Value, call_id: &str) -> Option<Value> {
    let calls = metadata.pointer("/model_response/choices/0/message/tool_calls")?.as_array()?;
    let call = calls.iter().find(|call| text(call, "id") == Some(call_id))?;
    let arguments = call.pointer("/function/arguments").filter(|arguments| arguments.is_string())?;
    Some(arguments.clone())
}

/// Whole numbers from `start` to `end`, as ids; `None` when they make no sense.
fn span(args: &Value, start: &str, end: &str) -> Option<Vec<String>> {
    const MOST: u64 = 1_000_000;
    let (start, end) = (json::number(args, start)?, json::number(args, end)?);
    (end >= start && end - start < MOST).then(|| (start..=end).map(|id| json!(id).to_string()).collect())
}
