//! Plain chat messages, as the OpenAI chat and Anthropic Messages APIs take them.
//!
//! One message a line (or one array of messages) is one session; a line that holds a list of messages is a session of its
//! own. Both APIs share this reader because files mix their habits; what differs is in the blocks. Tool calls written as
//! markup inside a text stay text; thinking in a tag that a reply opens with is thinking.

#[cfg(test)]
mod tests;

use arcstr::ArcStr;

use super::value::{Items, Value};

use super::blocks::{self, Speaker};
use super::build;
use super::detect::is_chat;
use super::formats::Format;
use super::json::{self, argument_text, counts, items, take, take_name, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::outcome;
use super::shapes::{List, Lists, Shape, Split};
use super::sink::{Begun, Sink};
use crate::diagnostic::Severity;
use crate::fileops;
use crate::paths;
use crate::transcript::{Message, Outcome, Part, Role, Text, ToolCall, ToolResult, Usage};

/// Fields that name the conversation a message belongs to.
const CONVERSATION_IDS: [&str; 4] = ["conversation_id", "session_id", "sessionId", "thread_id"];

/// The tag around what a model thought, where its server leaves that in the text.
pub(super) const THINKING: &str = "think";

/// Plain messages. What gives them away is judged by the whole file, so this shape sniffs nothing.
pub(super) static SHAPE: Shape = Shape {
    owns: is_chat,
    split: Split::Running,
    list: Some(List { field: "messages", read: read_list }),
    lists: Lists::Own,
    ..Shape::new(Format::OpenaiChat, |_| None, read)
};

/// True for a list in which a message may be.
fn is_list(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().any(Value::is_object))
}

/// Reads the records of one file.
fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let alone = records.len() == 1 && !out.is_in_batches();
    let begun = out.resume_begun();
    let begun = begun.unwrap_or_else(|| Begun::new(Draft::holding(name, records.len())));
    let mut running = Running { draft: begun.draft, conversation: begun.id };
    for record in records {
        let Record { line, mut value, .. } = record;
        let messages = match &value {
            Value::Array(_) if is_list(&value) => value.take(),
            _ => take(&mut value, "messages"),
        };
        if let Value::Array(messages) = messages {
            // Messages on lines of their own do not go on behind another conversation.
            running.end(name, out);
            let number = out.number();
            let id = if alone { name.to_owned() } else { format!("{name}#{number}") };
            conversation(id, value, &mut messages.into_iter(), line, out);
        } else if text(&value, "role").is_some() {
            running.belongs(&value, name, out);
            describe(&mut running.draft, &mut value, line, out);
            add(&mut running.draft, value, line, out);
        } else if value.get("tools").is_some() || value.get("system").is_some() {
            describe(&mut running.draft, &mut value, line, out);
        } else {
            out.note(
                line,
                "unknown-record",
                Severity::Note,
                "neither a message nor a list of messages; ignored",
            );
        }
    }
    let left = Begun { id: running.conversation, ..Begun::new(running.draft) };
    if let Some(draft) = out.suspend_begun(left) {
        end(draft, out);
    }
}

/// Reads a file that is one conversation.
fn read_list(value: Value, messages: Items<'_>, name: &str, out: &mut Sink) {
    conversation(name.to_owned(), value, messages, 1, out);
}

/// Reads a conversation: its messages, and what stands beside them.
fn conversation(id: String, mut value: Value, messages: Items<'_>, line: u32, out: &mut Sink) {
    let mut draft = Draft::holding(id, messages.len());
    describe(&mut draft, &mut value, line, out);
    for message in messages {
        add(&mut draft, message, line, out);
    }
    end(draft, out);
}

/// Gives the messages the directory that the prompt states, where no record of its own does; where the prompt does
/// not either, the one that the first script with a `cd` to an absolute path enters.
pub(super) fn place(draft: &mut Draft) {
    if draft.messages.iter().any(|message| message.cwd.is_some()) {
        return;
    }
    let first_user = draft.messages.iter().position(|message| message.role == Role::User);
    let prompts = draft
        .messages
        .iter()
        .enumerate()
        .filter(|(at, message)| message.role == Role::System || Some(*at) == first_user);
    let mut texts = prompts.flat_map(|(_, message)| &message.parts).filter_map(|part| match part {
        Part::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    let stated = texts.find_map(paths::stated_directory).map(ArcStr::from);
    let directory: Option<ArcStr> = stated.or_else(|| entered(draft).as_deref().map(ArcStr::from));
    if directory.is_some() {
        for message in draft.messages.iter_mut() {
            message.cwd.clone_from(&directory);
        }
    }
}

/// The session that messages of their own line belong to.
struct Running {
    draft: Draft,
    conversation: Option<String>,
}

impl Running {
    /// Starts a new session where the message says that it is of another conversation.
    fn belongs(&mut self, message: &Value, name: &str, out: &mut Sink) {
        let Some(id) = CONVERSATION_IDS.iter().find_map(|key| text(message, key)) else { return };
        if self.conversation.as_deref() == Some(id) {
            return;
        }
        if self.conversation.is_some() {
            self.end(name, out);
        }
        id.clone_into(&mut self.draft.id);
        self.conversation = Some(id.to_owned());
    }

    /// Ends the session that runs, if there is one.
    fn end(&mut self, name: &str, out: &mut Sink) {
        self.conversation = None;
        end(std::mem::replace(&mut self.draft, Draft::new(name)), out);
    }
}

fn end(mut draft: Draft, out: &mut Sink) {
    place(&mut draft);
    out.finish_draft(draft);
}

/// What stands beside the messages: system prompt, tools, model.
pub(super) fn describe(draft: &mut Draft, value: &mut Value, line: u32, out: &mut Sink) {
    let system = take(value, "system");
    if !system.is_null() && draft.messages.is_empty() {
        let parts = blocks::parts(system, Speaker::Other, Outcome::Unknown);
        draft.messages.push(build::message(Role::System, parts, line));
    }
    let tools = ["tools", "functions"].iter().map(|key| take(value, key)).find(|tools| !tools.is_null());
    if let Some(tools) = tools.filter(|_| draft.tool_schema.is_none()) {
        let schema = argument_text(tools);
        draft.tool_schema = Some(schema).filter(|schema| schema.len() > 2);
    }
    if let Some(model) = text(value, "model").filter(|model| !model.is_empty()) {
        draft.model = Some(model.to_owned());
    }
    let window = out.told(line, json::tokens(value, "context_window")).flatten();
    draft.context_window = window.or(draft.context_window);
}

/// Adds one message.
pub(super) fn add(draft: &mut Draft, mut message: Value, line: u32, out: &mut Sink) {
    if !message.is_object() {
        out.damage(line, "bad-record", "an entry of a message list that is no object; its content is lost");
        return;
    }
    out.raw.messages += 1;
    out.raw.tool_calls += items(&message, "tool_calls").len() as u64;
    out.raw.tool_calls += u64::from(message.get("function_call").is_some_and(Value::is_object));
    out.raw.tool_calls += blocks::count(&message, "tool_use");
    if items(&message, "tool_calls").is_empty() {
        out.raw.tool_calls += blocks::count(&message, "tool_call");
    }
    let role = match text(&message, "role").unwrap_or_default() {
        "system" | "developer" => Role::System,
        "user" | "human" => Role::User,
        "assistant" | "model" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        other => {
            let other: String = other.chars().take(60).collect();
            let text = format!("role {other:?} is not known; kept as injected user text");
            out.note(line, "unknown-role", Severity::Note, text);
            let parts =
                blocks::parts(take(&mut message, "content"), Speaker::User { meta: true }, Outcome::Unknown);
            draft.messages.push(build::message(Role::User, parts, line));
            return;
        }
    };
    let cwd: Option<ArcStr> = text(&message, "cwd").map(ArcStr::from);
    if let Some(model) = text(&message, "model").filter(|model| role == Role::Assistant && !model.is_empty())
    {
        draft.model = Some(model.to_owned());
    }
    let told = message.get("usage").filter(|_| role == Role::Assistant);
    let usage = told.and_then(|told| out.told(line, usage(told)).flatten());
    let legacy = message.get("function_call");
    for call in items(&message, "tool_calls").iter().chain(legacy) {
        out.arguments(call.get("function").unwrap_or(call).get("arguments"), line);
    }
    let parts = match role {
        Role::Tool => tool_parts(message),
        Role::Assistant => assistant_parts(message),
        Role::User => {
            blocks::parts(take(&mut message, "content"), Speaker::User { meta: false }, Outcome::Unknown)
        }
        Role::System => blocks::parts(take(&mut message, "content"), Speaker::Other, Outcome::Unknown),
    };
    draft.messages.push(Message { cwd, usage: usage.map(Box::new), ..build::message(role, parts, line) });
}

/// The directory that the first script with a `cd` to an absolute path enters.
fn entered(draft: &Draft) -> Option<String> {
    let parts = draft.messages.iter().flat_map(|message| &message.parts);
    parts.into_iter().find_map(|part| match part {
        Part::Call(call) if call.arguments.contains("cd ") => {
            let effect = fileops::of_call(&call.name, &call.arguments, None);
            paths::entered_directory(effect.command.as_deref()?).map(str::to_owned)
        }
        _ => None,
    })
}

pub(super) fn assistant_parts(mut message: Value) -> Vec<Part> {
    let mut parts = Vec::new();
    for key in ["reasoning_content", "reasoning", "thinking"] {
        let clear = take_text(&mut message, key);
        if !clear.is_empty() {
            parts.push(Part::Thinking(clear));
            break;
        }
    }
    parts.extend(blocks::parts(take(&mut message, "content"), Speaker::Other, Outcome::Unknown));
    build::split_thinking(&mut parts, THINKING);
    let refusal = take_text(&mut message, "refusal");
    if !refusal.is_empty() {
        parts.push(Part::Text(Text { text: refusal, injected: false }));
    }
    if let Value::Array(calls) = take(&mut message, "tool_calls") {
        // Where calls are given twice, as blocks and here, the blocks are the copy.
        let calls: Vec<Part> = calls.into_iter().filter(Value::is_object).map(call).collect();
        let id = |part: &Part| match part {
            Part::Call(call) => Some(call.id.clone()),
            _ => None,
        };
        let given: Vec<String> = calls.iter().filter_map(id).filter(|id| !id.is_empty()).collect();
        parts.retain(|part| id(part).is_none_or(|id| !given.contains(&id)));
        parts.extend(calls);
    }
    let legacy = take(&mut message, "function_call");
    if legacy.is_object() {
        parts.push(call(legacy));
    }
    parts
}

/// A call: `{id, function: {name, arguments}}`, `{id, custom: {name, input}}` or flat.
pub(super) fn call(mut value: Value) -> Part {
    let id = take_text(&mut value, "id");
    let mut inner = ["function", "custom"]
        .iter()
        .map(|key| take(&mut value, key))
        .find(Value::is_object)
        .unwrap_or(value);
    let arguments =
        ["arguments", "input"].iter().map(|key| take(&mut inner, key)).find(|input| !input.is_null());
    Part::call(ToolCall {
        id,
        name: take_name(&mut inner, "name"),
        arguments: argument_text(arguments.unwrap_or_default()),
    })
}

fn tool_parts(mut message: Value) -> Vec<Part> {
    let content = take(&mut message, "content");
    let is_result = |block: &Value| text(block, "type") == Some("tool_result");
    if content.as_array().is_some_and(|blocks| blocks.iter().any(is_result)) {
        return blocks::parts(content, Speaker::User { meta: true }, Outcome::Unknown);
    }
    let (text, images) = blocks::result_text(content);
    let (outcome, exit_code) =
        outcome::flagged(&message).unwrap_or_else(|| outcome::judge(&text, Outcome::Unknown));
    let call_id = take_text(&mut message, "tool_call_id");
    vec![Part::result(ToolResult { call_id, text, outcome, exit_code, images })]
}

/// Usage in either API's words: OpenAI counts cached tokens inside `prompt_tokens`, Anthropic beside `input_tokens`.
pub(super) fn usage(usage: &Value) -> Result<Option<Usage>, String> {
    let found = if usage.get("prompt_tokens").is_some() {
        let [input, output] = counts(usage, ["prompt_tokens", "completion_tokens"])?;
        let [cache_read] = match usage.get("prompt_tokens_details") {
            Some(details) => counts(details, ["cached_tokens"])?,
            None => [0],
        };
        Usage { input, cache_read, cache_write: 0, output }
    } else {
        json::beside_cache(usage)?
    };
    Ok((found.input > 0 || found.output > 0).then_some(found))
}
