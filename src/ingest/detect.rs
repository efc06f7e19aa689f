//! Which format a file is in, judged by the fields of its records, never by its name.
//!
//! The first record that only one agent writes decides. Plain `{role, content}` messages decide nothing alone: the
//! whole file is looked at for what only OpenAI chat or only the Anthropic API has. Where such messages come first and the logs of
//! the agent hold none, what there is more of decides.

use super::value::{Value, json};

use super::chat;
use super::formats::{Format, READS};
use super::json::{items, text};
use super::lines::{Bytes, Record, is_utf16};
use super::shapes::{self, Shape, TextShape};
use super::sink::Sink;
use crate::diagnostic::Severity;

/// A format, how it is stored, and the reason for both.
#[derive(Debug, Clone)]
pub(super) struct Detected {
    pub(super) format: Format,
    pub(super) by: By,
    pub(super) evidence: String,
}

/// What reads it.
#[derive(Debug, Clone, Copy)]
pub(super) enum By {
    Records(&'static Shape),
    Text(&'static TextShape),
}

/// What a text is, if it is a log.
pub(super) fn text_log(text: &str) -> Option<Detected> {
    let (shape, why) = shapes::recognise_text(text)?;
    Some(Detected { format: shape.format, by: By::Text(shape), evidence: why.to_owned() })
}

/// Looks at records as they are parsed.
#[derive(Debug, Default)]
pub(super) struct Sniffer {
    found: Option<Detected>,
    chat_line: Option<u32>,
    /// Plain messages so far.
    chats: u64,
    /// Which kind of chat they are, and what shows it.
    kind: Option<(Format, String)>,
    /// What records say that came after plain messages which do not belong to such logs, and how many of them there are.
    strayed: Option<(Detected, u64)>,
    /// No format fits, and none is looked for any more.
    hopeless: bool,
}

impl Sniffer {
    /// One that knows which kind of chat plain messages would be, and what shows it.
    pub(super) fn knowing(kind: Option<(Format, String)>) -> Self {
        Self { kind, ..Self::default() }
    }

    /// Looks at one record, or a list of them. The top-level fields to keep of the others, once it is known that not all are needed.
    pub(super) fn look(&mut self, record: &Record) -> Option<&'static [&'static str]> {
        match record.value.as_array() {
            Some(list) => list.iter().find_map(|value| self.look_at(value, record.line)),
            None => self.look_at(&record.value, record.line),
        }
    }

    fn look_at(&mut self, value: &Value, line: u32) -> Option<&'static [&'static str]> {
        if self.found.is_some() || self.hopeless {
            return None;
        }
        if self.kind.is_none() {
            let kind = chat_kind(value);
            self.kind = kind.map(|(format, why)| (format, format!("line {line} has {why}")));
        }
        if let Some((shape, why)) = shapes::recognise(value) {
            let evidence = format!("line {line} {why}");
            let found = Detected { format: shape.format, by: By::Records(shape), evidence };
            if self.chats > 0 && !(shape.owns)(&json!({"role": "user", "content": ""})) {
                let (_, count) = self.strayed.get_or_insert((found, 0));
                *count += 1;
                return None;
            }
            self.found = Some(found);
            return shape.fields;
        }
        if is_chat(value) {
            self.chat_line.get_or_insert(line);
            self.chats += chat_messages(value).len().max(1) as u64;
        }
        None
    }

    /// The answer that no further record can change.
    pub(super) fn found(&self) -> Option<&Detected> {
        self.found.as_ref()
    }

    /// Decides by all records it has looked at, which are those of the whole log.
    pub(super) fn settle(&mut self) {
        if self.found.is_none() {
            self.found = self.decide();
            self.hopeless = self.found.is_none();
        }
    }

    /// The answer, when all records are known.
    pub(super) fn finish(mut self) -> Option<Detected> {
        self.settle();
        self.found
    }

    /// What plain messages are, by all that is known.
    fn decide(&mut self) -> Option<Detected> {
        if let Some((found, _)) = self.strayed.take_if(|(_, count)| *count > self.chats) {
            return Some(found);
        }
        let line = self.chat_line?;
        let (format, evidence) = self.kind.take().unwrap_or_else(|| {
            (Format::OpenaiChat, format!("line {line} has role and content, no field of another format"))
        });
        Some(Detected { format, by: By::Records(&chat::SHAPE), evidence })
    }
}

/// The name of another format that a record in a log of this shape is of; `None` for its own, and for what no format alone writes.
fn foreign(shape: &Shape, value: &Value) -> Option<&'static str> {
    if (shape.owns)(value) {
        return None;
    }
    match shapes::recognise(value) {
        Some((found, _)) => Some(found.format.name()).filter(|_| found.format != shape.format),
        None if value.get("type").is_some() || !is_chat(value) => None,
        None => Some(chat_kind(value).map_or("chat messages", |(found, _)| found.name())),
    }
}

/// Takes out the records of other formats: read as records of this one they would say something else, or nothing.
pub(super) fn take_foreign(
    shape: &Shape,
    records: &mut Vec<Record>,
    sizes: &[u64],
    bytes: &mut Bytes,
    out: &mut Sink,
) {
    let mut sizes = sizes.iter();
    records.retain(|record| {
        let size = sizes.next().copied().unwrap_or_default();
        let Some(other) = foreign(shape, &record.value) else { return true };
        bytes.read -= size.min(bytes.read);
        bytes.skipped += size;
        let text = format!(
            "a record of {other} in a log of {}; its content is lost: split the file, one format in each",
            shape.format.name()
        );
        out.note(record.line, "foreign-record", Severity::Damage, text);
        false
    });
}

/// True for a message, a conversation, or an array of messages.
pub(super) fn is_chat(value: &Value) -> bool {
    let message = |value: &Value| {
        text(value, "role").is_some()
            && ["content", "tool_calls", "function_call"].iter().any(|key| value.get(key).is_some())
    };
    match value {
        Value::Array(list) => list.first().is_some_and(message),
        Value::Object(_) => {
            message(value) && value.get("message").is_none()
                || value
                    .get("messages")
                    .and_then(Value::as_array)
                    .is_some_and(|list| list.is_empty() || list.iter().take(3).any(message))
        }
        _ => false,
    }
}

/// The messages of a record.
fn chat_messages(value: &Value) -> &[Value] {
    match value {
        Value::Array(list) => list,
        _ if value.get("messages").is_some() => items(value, "messages"),
        _ => std::slice::from_ref(value),
    }
}

/// What only one of the two chat formats has, in one record.
fn chat_kind(value: &Value) -> Option<(Format, &'static str)> {
    chat_messages(value).iter().find_map(message_kind).or_else(|| kind_beside(value))
}

/// The same, in one message.
pub(super) fn message_kind(message: &Value) -> Option<(Format, &'static str)> {
    if message.get("tool_calls").is_some() || message.get("function_call").is_some() {
        return Some((Format::OpenaiChat, "tool_calls"));
    }
    if matches!(text(message, "role"), Some("tool" | "function" | "developer")) {
        return Some((Format::OpenaiChat, "a role that only OpenAI chat has"));
    }
    for block in items(message, "content") {
        match text(block, "type") {
            Some("tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "server_tool_use") => {
                return Some((Format::AnthropicMessages, "content blocks of the Anthropic API"));
            }
            Some("image" | "document") if block.get("source").is_some() => {
                return Some((Format::AnthropicMessages, "content blocks of the Anthropic API"));
            }
            Some("image_url" | "input_audio") => {
                return Some((Format::OpenaiChat, "content parts of the OpenAI API"));
            }
            _ => {}
        }
    }
    None
}

/// The same, in what stands beside the messages.
fn kind_beside(value: &Value) -> Option<(Format, &'static str)> {
    if value.get("messages").is_some() {
        if value.get("system").is_some() {
            return Some((Format::AnthropicMessages, "system beside messages"));
        }
        if let Some(tool) = items(value, "tools").first() {
            return Some(if tool.get("input_schema").is_some() {
                (Format::AnthropicMessages, "tools with input_schema")
            } else {
                (Format::OpenaiChat, "tools beside messages")
            });
        }
    }
    None
}

/// Why no format fits: a code and a text that says what to do. `prose` are lines of a text with next to no JSON in it.
pub(super) fn why_unknown(bytes: Option<&[u8]>, records: &[Record], prose: usize) -> (&'static str, String) {
    let bytes = bytes.unwrap_or(b"{");
    if bytes.trim_ascii().is_empty() {
        return ("empty-file", "the file is empty; nothing to replay".to_owned());
    }
    let packed: [(&[u8], &str); 3] = [
        (b"\x1f\x8b", "gzip-compressed; unpack it with gunzip"),
        (b"\x28\xb5\x2f\xfd", "zstd-compressed; unpack it with unzstd"),
        (b"PK\x03\x04", "a zip archive; unpack it"),
    ];
    if let Some((_, what)) = packed.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return ("not-a-log", format!("the file is {what} first"));
    }
    if is_utf16(bytes) {
        return ("not-a-log", "the file is UTF-16 text; convert it to UTF-8 first".to_owned());
    }
    let Some(record) = records.iter().find(|record| record.value.is_object()).or_else(|| records.first())
    else {
        return ("not-a-log", format!("no line of the file is JSON; {READS}"));
    };
    if prose > 0 {
        let lines = prose + records.len();
        return ("not-a-log", format!("a text: {} of {lines} lines are JSON; {READS}", records.len()));
    }
    if let Some(agent) = look_alike(&record.value) {
        return ("unknown-format", format!("this looks like {agent}, which is not supported; {READS}"));
    }
    let line = record.line;
    let seen = match record.value.as_object() {
        Some(map) if map.is_empty() => format!("line {line} is an object without fields"),
        Some(map) => {
            let keys: Vec<&str> = map.keys().take(6).collect();
            let keys: String = keys.join(", ").chars().take(120).collect();
            format!("fields of line {line}: {keys}")
        }
        None => format!("line {line} is no JSON object"),
    };
    ("unknown-format", format!("no known log format ({seen}); {READS}"))
}

/// Formats that are recognised only to be named.
fn look_alike(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    // The chat of VS Code keeps a first state and changes to it.
    let patch = value.get("kind").is_some_and(Value::is_number) && (has("v") || has("k"));
    patch.then_some("a chat session of VS Code (a list of changes, not of messages)")
}
