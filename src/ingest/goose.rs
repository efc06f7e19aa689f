//! Goose sessions: lines of messages, exports of a session, databases.
//!
//! In the first line of a file stands what is known of the session. Calls and results are content blocks; a call may be
//! wrapped in whether it could be read, a result in whether it worked. Usage is only told for whole sessions and not read.
//!
//! A compaction hides what was said from the model (`agentVisible`) and adds messages that the user does not see: the summary, a
//! reply that goes on from it, and a copy of the user's last request. Those are set aside together; the copy tells that the
//! request was kept.

#[cfg(feature = "sqlite")]
mod database;
#[cfg(test)]
mod tests;

use arcstr::ArcStr;

use crate::ingest::value::Value;

use super::blocks::{self, Speaker};
use super::build;
use super::formats::Format;
use super::injected;
use super::json::{self, argument_text, items, take, take_name, take_text, text, weight};
use super::lines::Record;
use super::links::Draft;
use super::outcome;
use super::sessions;
use super::shapes::{Shape, Split};
use super::sink::{Begun, Sink};
use crate::diagnostic::Severity;
use crate::transcript::{Message, Origin, Outcome, Part, Role, ToolCall, ToolResult};

#[cfg(feature = "sqlite")]
pub(super) use database::SHAPE as DATABASE;

/// Session files and exports.
pub(super) static SHAPE: Shape = Shape {
    owns: |value| text(value, "role").is_some(),
    split: Split::Before(begins),
    goes_on: Some(|value| !is_session(value)),
    ..Shape::new(Format::Goose, sniff, read)
};

fn sniff(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    if text(value, "working_dir").is_some() {
        if value.get("conversation").is_some_and(Value::is_array) {
            return Some("has working_dir and conversation");
        }
        return (has("message_count") || has("total_tokens")).then_some("has working_dir and message_count");
    }
    let is_message = matches!(text(value, "role"), Some("user" | "assistant"))
        && value.get("created").is_some_and(Value::is_number)
        && items(value, "content").iter().any(|block| text(block, "type").is_some());
    is_message.then_some("has role, created and content blocks")
}

/// True for a record that is a whole session.
fn is_session(value: &Value) -> bool {
    value.get("conversation").is_some_and(Value::is_array)
}

/// True for the first line of a file, which tells of its session.
fn is_header(value: &Value) -> bool {
    const KEYS: [&str; 6] =
        ["working_dir", "message_count", "total_tokens", "model_config", "tools", "schedule_id"];
    text(value, "role").is_none() && KEYS.iter().any(|key| value.get(key).is_some())
}

/// The id of a session that begins, if it has one: in a header or a whole session.
fn begins(value: &Value) -> Option<&str> {
    (is_session(value) || is_header(value)).then(|| text(value, "id").unwrap_or_default())
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let mut begun = out.resume_begun();
    let (sessions, header) = sessions::by_header_from(records, begins, begun.as_ref(), name, out);
    let several = sessions.len() > 1 || out.is_in_batches();
    let last = sessions.len().saturating_sub(1);
    for (at, (id, records)) in sessions.into_iter().enumerate() {
        let whole = records.first().is_some_and(|record| is_session(&record.value));
        // What stands behind a whole session is none of it.
        let new = || Reader::new(if whole { name } else { &id });
        let nameless = begun.as_ref().is_some_and(|begun| begun.id.is_none());
        let mut running = begun.take().map_or_else(new, Reader::from);
        if several && nameless && running.draft.id == name {
            // It began before it was known that there are others.
            running.draft.id = format!("{name}#1");
        }
        if running.draft.messages.is_empty() {
            running.draft.messages.reserve_exact(records.len());
        }
        for Record { line, mut value } in records {
            if let Value::Array(conversation) = take(&mut value, "conversation") {
                let place = |index: usize| if several { line } else { build::place(index) };
                session(&value, conversation.into_vec(), &id, &place, out);
            } else if text(&value, "role").is_some() {
                running.message(value, line, out);
            } else if is_header(&value) {
                running.header(&value);
            } else {
                let kind = text(&value, "type").unwrap_or_default();
                build::unknown_record(kind, line, out);
            }
        }
        let Reader { draft, cwd, compacting } = running;
        let left = if at == last {
            out.suspend_begun(Begun { draft, id: header.clone(), cwd, compacting })
        } else {
            Some(draft)
        };
        if let Some(draft) = left {
            out.finish_draft(draft);
        }
    }
}

impl From<Begun> for Reader {
    fn from(begun: Begun) -> Self {
        Self { draft: begun.draft, cwd: begun.cwd, compacting: begun.compacting }
    }
}

/// Reads one session: what is known of it, and its messages.
pub(super) fn session(
    header: &Value,
    messages: Vec<Value>,
    name: &str,
    place: &dyn Fn(usize) -> u32,
    out: &mut Sink,
) {
    let mut reader = Reader::new(name);
    reader.header(header);
    if let Some(id) = text(header, "id").filter(|id| !id.is_empty()) {
        id.clone_into(&mut reader.draft.id);
    }
    if text(header, "session_type") == Some("sub_agent") {
        let name = ["name", "description"].iter().find_map(|key| text(header, key)).unwrap_or("sub_agent");
        reader.draft.origin = Origin::Sidechain(name.to_owned());
    }
    reader.draft.messages.reserve_exact(messages.len());
    for (index, message) in messages.into_iter().enumerate() {
        reader.message(message, place(index), out);
    }
    out.finish_draft(reader.draft);
}

/// Builds the session message by message.
struct Reader {
    draft: Draft,
    cwd: Option<ArcStr>,
    /// The messages that a compaction added are being read.
    compacting: bool,
}

impl Reader {
    fn new(name: &str) -> Self {
        Self { draft: Draft::new(name), cwd: None, compacting: false }
    }

    fn header(&mut self, header: &Value) {
        self.cwd = build::directory(header, "working_dir").or(self.cwd.take());
        let model = header.get("model_config").and_then(|model| text(model, "model_name"));
        self.draft.model = model.map(str::to_owned).or(self.draft.model.take());
        let tools = items(header, "tools");
        if !tools.is_empty() {
            self.draft.tool_schema = Some(Value::from(tools).to_string());
        }
    }

    fn message(&mut self, mut message: Value, line: u32, out: &mut Sink) {
        let role = match text(&message, "role") {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            role => {
                let text = format!("role {:?} is not known, left out", role.unwrap_or_default());
                out.note(line, "unknown-role", Severity::Note, text);
                return;
            }
        };
        let calls = blocks::count(&message, "toolRequest");
        let content = build::content(&mut message);
        if content.is_null() {
            out.note(line, "unknown-record", Severity::Note, "a message without content, left out");
            return;
        }
        out.raw.messages += 1;
        out.raw.tool_calls += calls;
        let time =
            json::time_at(&message, "created").or_else(|| json::time_at(&message, "created_timestamp"));
        let hidden = message.get("metadata").and_then(|metadata| metadata.get("userVisible"))
            == Some(&Value::Bool(false));
        let mut parts = Vec::new();
        match content {
            Value::Array(list) => {
                for block in list {
                    push_block(block, role, &mut parts, line, out);
                }
            }
            Value::String(text) => push_text(text.into(), role, &mut parts),
            _ => {}
        }
        if hidden && !parts.is_empty() {
            self.added(role, &parts, line, out);
            return;
        }
        self.compacting = false;
        if !parts.is_empty() {
            let cwd = self.cwd.clone();
            self.draft.messages.push(Message { cwd, time, ..build::message(role, parts, line) });
        }
    }

    /// A message that a compaction added.
    fn added(&mut self, role: Role, parts: &[Part], line: u32, out: &mut Sink) {
        let texts = parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        let told = texts.collect::<Vec<&str>>().join("\n");
        if self.compacting {
            if role == Role::User && !self.draft.starts_compacted {
                let same = |message: &Message| message.role == Role::User && *message.parts == *parts;
                if let Some(at) = self.draft.messages.iter().rposition(same)
                    && let Some(recorded) = self.draft.recorded.last_mut()
                {
                    recorded.kept = (at..at + 1).into();
                }
            }
            return;
        }
        self.compacting = true;
        out.raw.compactions += 1;
        if build::is_beginning(&self.draft) {
            build::begin_compacted(&mut self.draft, Some(told), line);
        } else {
            self.draft.recorded.push(build::compaction(&self.draft, Some(told), line));
        }
    }
}

fn push_text(text: String, role: Role, parts: &mut Vec<Part>) {
    if role == Role::User {
        injected::push_user_text(text, false, parts);
    } else {
        parts.push(build::text(text, false));
    }
}

fn push_block(mut block: Value, role: Role, parts: &mut Vec<Part>, line: u32, out: &mut Sink) {
    let kind = text(&block, "type").unwrap_or_default().to_owned();
    match kind.as_str() {
        "text" => push_text(take_text(&mut block, "text"), role, parts),
        "toolRequest" | "frontendToolRequest" => parts.push(Part::call(call(block))),
        "toolResponse" => parts.push(Part::result(result(block))),
        "reasoning" => parts.push(Part::Thinking(take_text(&mut block, "text"))),
        "redactedThinking" => parts.push(Part::Opaque { bytes: weight(&block), kind: kind.into() }),
        "thinking" | "image" => parts.extend(blocks::parts(block, Speaker::Other, Outcome::Unknown)),
        // Notices of the interface, questions of consent.
        "contextLengthExceeded"
        | "summarizationRequested"
        | "conversationCompacted"
        | "systemNotification"
        | "toolConfirmationRequest"
        | "actionRequired" => {}
        _ => {
            let shown: String = kind.chars().take(60).collect();
            out.note(
                line,
                "unknown-block",
                Severity::Note,
                format!("block of unknown type {shown:?}, kept as opaque"),
            );
            parts.push(Part::Opaque { bytes: weight(&block), kind: kind.into() });
        }
    }
}

/// What stands in a wrapper of `status` and `value`; a value without one is itself.
fn unwrapped(mut wrapper: Value) -> Result<Value, String> {
    match text(&wrapper, "status") {
        Some("error") => Err(argument_text(take(&mut wrapper, "error"))),
        Some(_) => Ok(take(&mut wrapper, "value")),
        None => Ok(wrapper),
    }
}

fn call(mut block: Value) -> ToolCall {
    let id = take_text(&mut block, "id");
    match unwrapped(take(&mut block, "toolCall")) {
        Ok(mut call) => {
            let arguments = argument_text(take(&mut call, "arguments"));
            ToolCall { id, name: take_name(&mut call, "name"), arguments }
        }
        // What the model wrote could not be read as a call.
        Err(error) => ToolCall { id, name: ArcStr::new(), arguments: error },
    }
}

/// True for an item of a result that the model sees: tools may show the user another text than the model.
fn is_for_model(item: &Value) -> bool {
    let audience = item.get("annotations").and_then(|annotations| annotations.get("audience")?.as_array());
    audience.is_none_or(|audience| audience.iter().any(|one| one.as_str() == Some("assistant")))
}

fn result(mut block: Value) -> ToolResult {
    let call_id = take_text(&mut block, "id");
    let told = take(&mut block, "toolResult");
    let told = if told.is_null() { Ok(take(&mut block, "content")) } else { unwrapped(told) };
    match told {
        Ok(mut value) => {
            let flagged = outcome::flagged(&value);
            let mut content =
                if value.get("content").is_some() { take(&mut value, "content") } else { value };
            if content.is_array() {
                content = content.into_list().into_iter().filter(is_for_model).collect();
            }
            let (text, images) = blocks::result_text(content);
            let (outcome, exit_code) = flagged.unwrap_or_else(|| outcome::judge(&text, Outcome::Ok));
            ToolResult { call_id, text, outcome, exit_code, images }
        }
        Err(text) => {
            let exit_code = outcome::exit_code(&text);
            ToolResult { call_id, text, outcome: Outcome::Failed, exit_code, images: 0 }
        }
    }
}
