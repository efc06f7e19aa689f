//! What readers build conversations of: messages, parts, places, compactions.

use arcstr::ArcStr;
use thin_vec::ThinVec;

use super::blocks;
use super::json::{argument_text, take, take_text, text as text_at};
use super::lines::Record;
use super::links::Draft;
use super::outcome;
use super::sink::Sink;
use super::value::{Value, shared};
use crate::diagnostic::Severity;
use crate::transcript::{
    Message, MessageIdx, Outcome, Part, Parts, Recorded, Role, Text, ToolCall, ToolResult,
};

/// A message of which only this much is known yet.
pub(super) fn message(role: Role, found: Vec<Part>, line: u32) -> Message {
    Message { role, parts: parts(found), line, cwd: None, usage: None, lines: ThinVec::new(), time: None }
}

/// Parts as a message holds them.
pub(super) fn parts(found: Vec<Part>) -> Parts {
    let mut parts = Parts::from_vec(found);
    // Lists grow to four at once.
    parts.shrink_to_fit();
    parts
}

/// Text that its speaker wrote, or that the harness wrote in the speaker's place.
pub(super) fn text(text: impl Into<String>, injected: bool) -> Part {
    Part::Text(Text { text: text.into(), injected })
}

/// Text of the one whose message it is in.
pub(super) fn said(said: impl Into<String>) -> Part {
    text(said, false)
}

/// Text that the harness wrote.
pub(super) fn injected(said: impl Into<String>) -> Part {
    text(said, true)
}

/// Makes what a reply thought, where it stands as a closed tag at the very start of its text, a part of its own.
pub(super) fn split_thinking(parts: &mut Vec<Part>, tag: &str) {
    let Some(at) = parts.iter().position(|part| !matches!(part, Part::Thinking(_))) else { return };
    let Some(Part::Text(Text { text, injected: false })) = parts.get(at) else { return };
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let inside = text.trim_start().strip_prefix(&open);
    let Some((thought, rest)) = inside.and_then(|inside| inside.split_once(&close)) else { return };
    let (thought, rest) = (thought.trim().to_owned(), rest.trim_start().to_owned());
    let after = (!rest.is_empty()).then(|| said(rest));
    let before = (!thought.is_empty()).then_some(Part::Thinking(thought));
    drop(parts.splice(at..=at, before.into_iter().chain(after)));
}

/// A message of injected text in the user's place.
pub(super) fn injected_message(said: impl Into<String>, line: u32) -> Message {
    message(Role::User, vec![injected(said)], line)
}

/// A call.
pub(super) fn call(id: impl Into<String>, name: impl AsRef<str>, arguments: Value) -> Part {
    Part::call(ToolCall { id: id.into(), name: shared(name.as_ref()), arguments: argument_text(arguments) })
}

/// A result; `record` is where flags and an exit status stand, if anywhere.
pub(super) fn answer(call_id: impl Into<String>, content: Value, record: &Value) -> Part {
    let (text, images) = blocks::result_text(content);
    let (outcome, exit_code) =
        outcome::flagged(record).unwrap_or_else(|| outcome::judge(&text, Outcome::Unknown));
    Part::result(ToolResult { call_id: call_id.into(), text, outcome, exit_code, images })
}

/// What a message holds, in itself or in its `message`; null where it holds nothing.
pub(super) fn content(value: &mut Value) -> Value {
    match value.get_mut("message").map(|message| take(message, "content")) {
        None | Some(Value::Null) => take(value, "content"),
        Some(content) => content,
    }
}

/// The position of an item in its list, as a line: counted from 1.
pub(super) fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1)
}

/// The id of a session: its own at one of these keys, else the file's name, with a number where there are several.
pub(super) fn session_id(value: &Value, keys: &[&str], name: &str, number: usize, several: bool) -> String {
    let own = keys.iter().find_map(|key| text_at(value, key)).filter(|id| !id.is_empty());
    match own {
        Some(id) => id.to_owned(),
        None if several => format!("{name}#{number}"),
        None => name.to_owned(),
    }
}

/// How a record of a tree names the one that it follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Parent {
    /// No such field: the file is a plain sequence.
    Unsaid,
    /// Null: the beginning of a conversation.
    Nobody,
    /// A record id.
    Uuid(ArcStr),
}

impl Parent {
    /// By the field that names it, where there is one.
    pub(super) fn of(named: Option<&Value>) -> Self {
        match named {
            Some(Value::String(uuid)) if !uuid.is_empty() => Self::Uuid(uuid.as_str().into()),
            Some(Value::Null) => Self::Nobody,
            _ => Self::Unsaid,
        }
    }
}

/// Names the sessions of a file of which each is one record.
pub(super) struct Names<'a> {
    name: &'a str,
    /// True when the file holds more of them than one.
    pub(super) several: bool,
}

impl<'a> Names<'a> {
    /// `own` holds for the records that are sessions; `name` is the file's.
    pub(super) fn new(records: &[Record], own: fn(&Value) -> bool, name: &'a str, out: &Sink) -> Self {
        let own = records.iter().filter(|record| own(&record.value));
        Self { name, several: out.is_in_batches() || own.take(2).count() > 1 }
    }

    /// The id of the next one: its own at one of these keys, else the file's name, with a number where there are several.
    pub(super) fn next(&self, value: &Value, keys: &[&str], out: &mut Sink) -> String {
        session_id(value, keys, self.name, out.number() as usize, self.several)
    }

    /// Where a message stands: at its record's line, or, in a document that is one session, at its position.
    pub(super) fn place(&self, line: u32, index: usize) -> u32 {
        if self.several { line } else { place(index) }
    }
}

/// The directory at `key`, shared between messages.
pub(super) fn directory(value: &Value, key: &str) -> Option<ArcStr> {
    text_at(value, key).filter(|path| !path.is_empty()).map(ArcStr::from)
}

/// Remembers the model that a reply names.
pub(super) fn by_model(draft: &mut Draft, model: Option<&str>) {
    if let Some(model) = model.filter(|model| !model.is_empty()) {
        draft.model = Some(model.to_owned());
    }
}

/// The first of these fields that holds something, as text; empty when none does.
pub(super) fn first_text(value: &mut Value, keys: &[&str]) -> String {
    let held = keys.iter().find(|key| text_at(value, key).is_some_and(|text| !text.is_empty()));
    if let Some(key) = held {
        return take_text(value, key);
    }
    let other = keys.iter().map(|key| take(value, key)).find(|value| value.is_object() || value.is_array());
    other.map(argument_text).unwrap_or_default()
}

/// True when nobody has spoken yet: a summary found here is what the log begins with.
pub(super) fn is_beginning(draft: &Draft) -> bool {
    let said = |message: &Message| message.role == Role::Assistant || message.is_user_request();
    !draft.starts_compacted && draft.recorded.is_empty() && !draft.messages.iter().any(said)
}

/// Makes a summary the first message of the log; what it summarises is not in it. The message stands there also where nothing
/// is left of the summary.
pub(super) fn begin_compacted(draft: &mut Draft, summary: Option<String>, line: u32) {
    draft.starts_compacted = true;
    let part = match summary.filter(|summary| !summary.is_empty()) {
        Some(summary) => injected(summary),
        None => Part::Opaque { kind: "compaction".into(), bytes: 0 },
    };
    draft.messages.insert(0, message(Role::User, vec![part], line));
}

/// A compaction behind the last message so far.
pub(super) fn compaction(draft: &Draft, summary: Option<String>, line: u32) -> Recorded {
    let summary = summary.filter(|summary| !summary.trim().is_empty());
    Recorded { line, summary, ..Recorded::at(MessageIdx::new(draft.messages.len())) }
}

/// True for a record that is an object; of any other it is said that it was left out.
pub(super) fn is_object(record: &Record, out: &mut Sink) -> bool {
    let is = record.value.is_object();
    if !is {
        out.note(record.line, "unknown-record", Severity::Note, "a JSON value that is no object; ignored");
    }
    is
}

/// Says that a record of unknown type was left out.
pub(super) fn unknown_record(kind: &str, line: u32, out: &mut Sink) {
    let kind: String = kind.chars().take(60).collect();
    out.note(line, "unknown-record", Severity::Note, format!("record of unknown type {kind:?}, left out"));
}

/// Says that a message of unknown role was left out.
pub(super) fn unknown_role(role: &str, line: u32, out: &mut Sink) {
    let role: String = role.chars().take(60).collect();
    out.note(line, "unknown-role", Severity::Note, format!("message of unknown role {role:?}, left out"));
}
