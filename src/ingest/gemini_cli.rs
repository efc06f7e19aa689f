//! Gemini CLI: chats as one document, chats as lines, and the stream of `--output-format stream-json`.
//!
//! A chat of lines is a list under change: a record with the id of an earlier message takes its place, `$set` changes what is said of the
//! chat, `$set` with messages puts a new list in the place of the old, `$rewindTo` takes back a message and all behind it. A new list
//! with a `<state_snapshot>` that was not there before is a compaction; any other takes back what is not in it.
//!
//! A call and its result stand in one record, and become a message each. Notices of the interface (`info`, `warning`) are no messages;
//! errors are requests that failed. The stream gives a reply in pieces, put together here; its usage is that of a whole run, and left
//! out. `tokens` of a chat count cached ones in `input`, and those of thoughts and of tools apart.

#[cfg(test)]
mod tests;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

use crate::ingest::value::{Value, json};

use super::blocks;
use super::build::{self, unknown_record, unknown_role};
use super::formats::Format;
use super::gemini_parts;
use super::json::{argument_text, counts, flag, items, take, take_name, take_text, text};
use super::lines::Record;
use super::outcome;
use super::sessions;
use super::shapes::{Shape, Split};
use super::sink::Sink;
use super::talk::Talk;
use crate::transcript::{MessageIdx, Origin, Outcome, Part, Recorded, Role, ToolCall, ToolResult, Usage};

/// How the summary of a compressed chat opens, in the place of a user message.
pub(super) const SNAPSHOT: &str = "<state_snapshot>";

/// Chats.
pub(super) static SHAPE: Shape =
    Shape { split: Split::Before(begins), dated: false, ..Shape::new(Format::GeminiCli, sniff, read) };

/// The stream.
pub(super) static STREAM: Shape =
    Shape { split: Split::Before(begins_stream), ..Shape::new(Format::GeminiCli, sniff_stream, read_stream) };

fn sniff(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    if has("projectHash") {
        return Some("has projectHash");
    }
    let list = value.get("messages").is_some_and(Value::is_array);
    (list && has("sessionId") && has("startTime")).then_some("has sessionId, startTime and messages")
}

fn sniff_stream(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    match text(value, "type")? {
        "init" if has("session_id") && has("model") => Some("has type=init, session_id and model"),
        "tool_use" if has("tool_name") && has("parameters") => {
            Some("has type=tool_use, tool_name and parameters")
        }
        "tool_result" if has("tool_id") && has("status") => Some("has type=tool_result, tool_id and status"),
        _ => None,
    }
}

/// What a message says.
const SAID: [&str; 3] = ["type", "content", "toolCalls"];

/// A message of the list.
struct Entry {
    id: String,
    line: u32,
    value: Value,
}

/// A compaction found in the list: of how many messages, which of them stayed.
struct Compressed {
    before: usize,
    kept: Vec<usize>,
    recorded: Recorded,
    unknown: bool,
}

/// The chat as its records change it.
#[derive(Default)]
struct Chat {
    entries: Vec<Entry>,
    /// Where the entries stand that have an id, by it.
    places: HashTable<usize>,
    compressed: Vec<Compressed>,
}

/// The id of the chat that begins: of a document, or of the first line.
fn begins(value: &Value) -> Option<&str> {
    let id = text(value, "sessionId").filter(|id| !id.is_empty());
    let document = value.get("messages").is_some_and(Value::is_array);
    let own = value.get("type").is_none() && value.get("$set").is_none() && value.get("$rewindTo").is_none();
    id.or(document.then_some("")).filter(|_| own)
}

/// Reads the records of one file.
fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    for (id, records) in sessions::by_header(records, begins, name, out) {
        chat(records, id, out);
    }
}

/// Reads the records of a chat.
fn chat(records: Vec<Record>, id: String, out: &mut Sink) {
    let mut talk = Talk::new(id);
    let mut chat = Chat::default();
    for Record { line, mut value } in records {
        if let Some(id) = text(&value, "$rewindTo") {
            let from = chat.place(id).unwrap_or_default();
            chat.cut(from, out);
        } else if value.get("$set").is_some() {
            let mut set = take(&mut value, "$set");
            describe(&mut talk, &set);
            if let Value::Array(list) = take(&mut set, "messages") {
                chat.replace(list.into_vec(), line, out);
            }
        } else if text(&value, "type").is_some() {
            chat.put(value, line, out);
        } else if value.get("sessionId").is_some() || value.get("messages").is_some() {
            describe(&mut talk, &value);
            if let Value::Array(list) = take(&mut value, "messages") {
                // In a document the line is the position in its list.
                for (at, message) in (1u32..).zip(list) {
                    chat.put(message, at, out);
                }
            }
        } else {
            unknown_record("", line, out);
        }
    }
    chat.finish(talk, out);
}

/// What is said of the chat as a whole.
fn describe(talk: &mut Talk, about: &Value) {
    talk.call(text(about, "sessionId"));
    talk.enter(items(about, "directories").first().and_then(Value::as_str));
    if text(about, "kind") == Some("subagent") {
        talk.draft.origin = Origin::Sidechain(talk.draft.id.clone());
    }
}

impl Chat {
    /// Where the entry with this id stands.
    fn place(&self, id: &str) -> Option<usize> {
        let same = |at: &usize| self.entries.get(*at).is_some_and(|entry| entry.id == id);
        self.places.find(FxBuildHasher.hash_one(id), same).copied()
    }

    /// Adds a message, or puts it in the place of an earlier one with its id.
    fn put(&mut self, value: Value, line: u32, out: &mut Sink) {
        let id = text(&value, "id").unwrap_or_default().to_owned();
        if let Some(entry) = self.place(&id).and_then(|at| self.entries.get_mut(at)) {
            entry.value = value;
            return;
        }
        let kind = text(&value, "type").or_else(|| text(&value, "role"));
        let counted = matches!(kind, Some("user" | "gemini" | "info" | "error" | "model"));
        out.raw.messages += u64::from(counted);
        if !id.is_empty() {
            let hash =
                |at: &usize| FxBuildHasher.hash_one(self.entries.get(*at).map_or("", |entry| &entry.id));
            self.places.insert_unique(FxBuildHasher.hash_one(id.as_str()), self.entries.len(), hash);
        }
        self.entries.push(Entry { id, line, value });
    }

    /// Takes back the messages from this one on.
    fn cut(&mut self, from: usize, out: &mut Sink) {
        for entry in self.entries.drain(from.min(self.entries.len())..) {
            out.raw.tool_calls += items(&entry.value, "toolCalls").len() as u64;
        }
        self.places.retain(|at| *at < from);
        self.compressed.retain(|it| it.before <= from);
    }

    /// A new list in the place of the old.
    fn replace(&mut self, list: Vec<Value>, line: u32, out: &mut Sink) {
        // What equals a message says the same, whatever its id.
        let said = |value: &Value| FxBuildHasher.hash_one(SAID.map(|key| value.get(key)));
        let mut by_said: FxHashMap<u64, usize> = FxHashMap::default();
        by_said.extend(self.entries.iter().enumerate().map(|(at, entry)| (said(&entry.value), at)));
        let known = |message: &Value| {
            let alike = by_said.get(&said(message)).filter(|at| {
                let entry = self.entries.get(**at);
                entry.is_some_and(|entry| SAID.iter().all(|key| entry.value.get(key) == message.get(key)))
            });
            let named = text(message, "id").filter(|id| !id.is_empty()).and_then(|id| self.place(id));
            named.max(alike.copied())
        };
        let mut summary = None;
        let mut kept = Vec::new();
        let mut strange = 0usize;
        for message in &list {
            match known(message) {
                Some(at) => kept.push(at),
                None if summary.is_none() && snapshot(message).is_some() => summary = snapshot(message),
                // The model's word that it has read the summary.
                None if summary.is_some()
                    && kept.is_empty()
                    && strange == 0
                    && text(message, "type") != Some("user") => {}
                None => strange += 1,
            }
        }
        if let Some(summary) = summary {
            out.raw.compactions += 1;
            let recorded = Recorded { line, summary: Some(summary), ..Recorded::default() };
            let before = self.entries.len();
            self.compressed.push(Compressed { before, kept, recorded, unknown: strange > 0 });
            return;
        }
        let same = kept.iter().copied().eq(0..kept.len()) && strange == 0;
        if same {
            self.cut(kept.len(), out);
        } else {
            self.cut(0, out);
        }
        for message in list {
            self.put(message, line, out);
        }
    }

    /// Makes the session.
    fn finish(self, mut talk: Talk, out: &mut Sink) {
        // How many messages of the session there were before each of the list.
        let mut places = Vec::with_capacity(self.entries.len() + 1);
        let mut compressed = self.compressed.into_iter().peekable();
        let count = self.entries.len();
        let mut entries = self.entries.into_iter();
        for at in 0..=count {
            places.push(talk.draft.messages.len());
            while let Some(Compressed { kept, mut recorded, unknown, .. }) =
                compressed.next_if(|it| it.before <= at)
            {
                let range = |at: usize| {
                    let start = places.get(at).copied().unwrap_or_default();
                    let end = places.get(at + 1).copied().unwrap_or(start);
                    MessageIdx::new(start)..MessageIdx::new(end)
                };
                recorded.kept = kept.into_iter().map(range).collect();
                let cause = "the compressed chat holds messages that stand nowhere before it";
                talk.compacted(recorded, unknown.then_some(cause), out);
            }
            if let Some(entry) = entries.next() {
                message(&mut talk, entry, out);
            }
        }
        out.finish_draft(talk.draft);
    }
}

/// The text of a user message that is the summary of a compressed chat.
fn snapshot(message: &Value) -> Option<String> {
    let said = gemini_parts::parts(message.get("content")?.clone(), Some(true));
    said.into_iter().find_map(|part| match part {
        Part::Text(text) if text.text.trim_start().starts_with(SNAPSHOT) => Some(text.text),
        _ => None,
    })
}

/// Adds what a message of the list says.
fn message(talk: &mut Talk, entry: Entry, out: &mut Sink) {
    let Entry { line, mut value, .. } = entry;
    if !value.is_object() {
        out.damage(line, "bad-record", "an entry of a message list that is no object; its content is lost");
        return;
    }
    let time = gemini_parts::time(&value);
    let kind = text(&value, "type").or_else(|| text(&value, "role")).unwrap_or_default().to_owned();
    let calls = take(&mut value, "toolCalls");
    out.raw.tool_calls += calls.as_array().map_or(0, <[Value]>::len) as u64;
    let content = match take(&mut value, "content") {
        Value::Null => take(&mut value, "parts"),
        content => content,
    };
    match kind.as_str() {
        "user" => {
            let summary =
                build::is_beginning(&talk.draft).then(|| snapshot(&json!({ "content": content }))).flatten();
            if let Some(summary) = summary {
                let recorded = Recorded { line, summary: Some(summary), ..Recorded::default() };
                talk.compacted(recorded, None, out);
            } else {
                talk.push(Role::User, gemini_parts::parts(content, Some(false)), line, time);
            }
        }
        "gemini" | "model" => {
            let mut parts: Vec<Part> = items(&value, "thoughts").iter().filter_map(thought).collect();
            parts.extend(gemini_parts::parts(content, None));
            let mut results = Vec::new();
            if let Value::Array(calls) = calls {
                for mut call in calls.into_iter().filter(Value::is_object) {
                    let answer = answer(&mut call);
                    parts.push(Part::call(gemini_parts::call(call)));
                    results.extend(answer.map(Part::result));
                }
            }
            talk.model(text(&value, "model"));
            let usage = value.get("tokens").and_then(|told| out.told(line, usage(told)).flatten());
            if !parts.is_empty() {
                talk.push(Role::Assistant, parts, line, time);
                talk.used(usage);
            }
            talk.push(Role::Tool, results, line, time);
        }
        "error" => {
            let said = gemini_parts::parts(content, None).into_iter().find_map(|part| match part {
                Part::Text(text) => Some(text.text),
                _ => None,
            });
            talk.refused(&said.unwrap_or_default(), line);
        }
        "info" | "warning" => {}
        other => unknown_role(other, line, out),
    }
}

/// A thought: what it is about, and what is thought.
fn thought(thought: &Value) -> Option<Part> {
    let said: Vec<&str> = ["subject", "description"]
        .iter()
        .filter_map(|key| text(thought, key).filter(|said| !said.is_empty()))
        .collect();
    (!said.is_empty()).then(|| Part::Thinking(said.join("\n")))
}

/// The answer to a call of a chat, if it has one.
fn answer(call: &mut Value) -> Option<ToolResult> {
    let status = text(call, "status").map(str::to_owned);
    let status = status.as_deref();
    let id = text(call, "id").unwrap_or_default().to_owned();
    let mut images = 0;
    let mut found: Option<ToolResult> = None;
    match take(call, "result") {
        Value::Array(list) => {
            for mut part in list {
                if part.get("functionResponse").is_some_and(Value::is_object) {
                    let result = gemini_parts::result(&mut part, status);
                    if found.is_none() {
                        found = Some(result);
                    }
                } else if part.get("inlineData").is_some() {
                    images += 1;
                }
            }
        }
        Value::String(text) => found = Some(answered(text.into(), status)),
        _ => {}
    }
    if found.is_none() && matches!(status, Some("success" | "error" | "cancelled")) {
        found = Some(answered(take_text(call, "resultDisplay"), status));
    }
    found.map(|result| ToolResult { call_id: id, images: result.images + images, ..result })
}

/// A result that is only a text.
fn answered(text: String, status: Option<&str>) -> ToolResult {
    let (outcome, exit_code) = gemini_parts::ended(&text, false, status);
    ToolResult { call_id: String::new(), text, outcome, exit_code, images: 0 }
}

fn usage(tokens: &Value) -> Result<Option<Usage>, String> {
    let [input, output, cache_read, thoughts, tool] =
        counts(tokens, ["input", "output", "cached", "thoughts", "tool"])?;
    let usage = Usage { input: input + tool, cache_read, cache_write: 0, output: output + thoughts };
    Ok((usage.input > 0 || usage.output > 0).then_some(usage))
}

/// The id of the session whose stream begins.
fn begins_stream(value: &Value) -> Option<&str> {
    (text(value, "type") == Some("init")).then(|| text(value, "session_id").unwrap_or_default())
}

/// Reads streams.
fn read_stream(records: Vec<Record>, name: &str, out: &mut Sink) {
    for (id, records) in sessions::by_header(records, begins_stream, name, out) {
        stream(records, id, out);
    }
}

fn stream(records: Vec<Record>, id: String, out: &mut Sink) {
    let mut talk = Talk::new(id);
    for Record { line, mut value } in records {
        let kind = text(&value, "type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "init" => {
                talk.model(text(&value, "model"));
                talk.enter(text(&value, "cwd"));
            }
            "message" => piece(&mut talk, value, line, out),
            "tool_use" => {
                out.raw.tool_calls += 1;
                let call = ToolCall {
                    id: take_text(&mut value, "tool_id"),
                    name: take_name(&mut value, "tool_name"),
                    arguments: argument_text(take(&mut value, "parameters")),
                };
                talk.join(vec![Part::call(call)], line, None);
            }
            "tool_result" => {
                let result = stream_result(value);
                talk.push(Role::Tool, vec![Part::result(result)], line, None);
            }
            "error" => talk.refused(text(&value, "message").unwrap_or_default(), line),
            "result" => {
                let error = value.get("error").and_then(|error| text(error, "message").or(error.as_str()));
                if let Some(error) = error {
                    talk.refused(error, line);
                }
            }
            other => unknown_record(other, line, out),
        }
    }
    out.finish_draft(talk.draft);
}

/// A message of the stream, or the next piece of one.
fn piece(talk: &mut Talk, mut value: Value, line: u32, out: &mut Sink) {
    let role = text(&value, "role").unwrap_or_default().to_owned();
    let content = take(&mut value, "content");
    match role.as_str() {
        "user" => {
            out.raw.messages += 1;
            talk.push(Role::User, gemini_parts::parts(content, Some(false)), line, None);
        }
        "assistant" | "model" | "gemini" => {
            let parts = gemini_parts::parts(content, None);
            let last = talk.draft.messages.last_mut().filter(|last| last.role == Role::Assistant);
            let open = last.and_then(|reply| reply.parts.last_mut()).filter(|_| flag(&value, "delta"));
            if let (Some(Part::Text(said)), [Part::Text(more)]) = (open, parts.as_slice()) {
                said.text.push_str(&more.text);
            } else {
                out.raw.messages += 1;
                talk.join(parts, line, None);
            }
        }
        "system" => talk.prompt(argument_text(content), line, None, out),
        other => unknown_role(other, line, out),
    }
}

fn stream_result(mut value: Value) -> ToolResult {
    let call_id = take_text(&mut value, "tool_id");
    let failed = text(&value, "status") == Some("error");
    let error = value.get("error").and_then(|error| text(error, "message").or(error.as_str()));
    let error = error.map(str::to_owned);
    let (text, images) = blocks::result_text(take(&mut value, "output"));
    let text = if text.is_empty() { error.unwrap_or_default() } else { text };
    let (outcome, exit_code) = if failed {
        (Outcome::Failed, outcome::exit_code(&text))
    } else {
        gemini_parts::ended(&text, false, Some("success"))
    };
    ToolResult { call_id, text, outcome, exit_code, images }
}
