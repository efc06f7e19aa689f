//! ShareGPT conversations, with the roles of tools that training data adds to them.
//!
//! A `function_call` holds one call or a list of them as JSON text; what is none stays text. An `observation` answers the
//! oldest call that is open. Calls written as markup inside a reply stay text.

#[cfg(test)]
mod tests;

use crate::ingest::value::Value;
use crate::ingest::value::json;

use super::build::{self, Names};
use super::chat;
use super::formats::Format;
use super::json::{argument_text, take, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::shapes::{Shape, Split};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::Role;

/// Conversations.
pub(super) static SHAPE: Shape =
    Shape { split: Split::each(is_conversation), dated: false, ..Shape::new(Format::Sharegpt, sniff, read) };

/// Fields that hold the turns.
const TURNS: [&str; 2] = ["conversations", "conversation"];

fn sniff(value: &Value) -> Option<&'static str> {
    let list = TURNS.iter().find_map(|key| value.get(key)?.as_array())?;
    let turn = |turn: &Value| {
        text(turn, "from").is_some() && turn.get("value").is_some()
            || text(turn, "role").is_some() && (turn.get("content").is_some() || turn.get("value").is_some())
    };
    (list.is_empty() || list.iter().take(3).any(turn)).then_some("has conversations")
}

/// True for a record that is a conversation.
fn is_conversation(value: &Value) -> bool {
    TURNS.iter().any(|key| value.get(key).is_some_and(Value::is_array))
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let names = Names::new(&records, is_conversation, name, out);
    for Record { line, mut value } in records {
        let list = TURNS.iter().map(|key| take(&mut value, key)).find(Value::is_array);
        let Some(Value::Array(list)) = list else {
            out.note(line, "unknown-record", Severity::Note, "a record without conversations; ignored");
            continue;
        };
        let id = names.next(&value, &["id", "conversation_id"], out);
        let mut draft = Draft::holding(id, list.len());
        chat::describe(&mut draft, &mut value, line, out);
        for (index, turn) in list.into_iter().enumerate() {
            add(&mut draft, turn, names.place(line, index), out);
        }
        chat::place(&mut draft);
        out.finish_draft(draft);
    }
}

fn add(draft: &mut Draft, mut turn: Value, line: u32, out: &mut Sink) {
    let from = text(&turn, "from").or_else(|| text(&turn, "role")).unwrap_or_default().to_owned();
    let said =
        if turn.get("value").is_some() { take(&mut turn, "value") } else { take(&mut turn, "content") };
    let role = match from.as_str() {
        "human" | "user" => "user",
        "gpt" | "assistant" | "chatgpt" | "bot" | "bing" | "bard" | "model" | "claude" => "assistant",
        "system" => "system",
        "function_call" | "function-call" | "tool_call" => {
            out.raw.messages += 1;
            return called(draft, said, line, out);
        }
        "observation" | "tool" | "function" | "function_response" | "function-response" | "tool_response"
        | "tool_result" => "tool",
        other => other,
    };
    if let Some(fields) = turn.as_object_mut() {
        fields.insert("role", json!(role));
        fields.insert("content", said);
    }
    chat::add(draft, turn, line, out);
}

/// A turn that is a call, or several.
fn called(draft: &mut Draft, said: Value, line: u32, out: &mut Sink) {
    let parsed = match &said {
        Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
        other => other.clone(),
    };
    let list = match parsed {
        Value::Array(list) => list.into_vec(),
        Value::Null => Vec::new(),
        one => vec![one],
    };
    if list.is_empty() || !list.iter().all(|call| text(call, "name").is_some()) {
        out.note(line, "odd-call", Severity::Note, "a call that is no JSON with a name; kept as text");
        let parts = vec![build::said(argument_text(said))];
        draft.messages.push(build::message(Role::Assistant, parts, line));
        return;
    }
    out.raw.tool_calls += list.len() as u64;
    let calls = list.into_iter().map(|mut call| {
        let arguments =
            ["arguments", "parameters"].iter().map(|key| take(&mut call, key)).find(|it| !it.is_null());
        build::call(take_text(&mut call, "id"), take_text(&mut call, "name"), arguments.unwrap_or_default())
    });
    draft.messages.push(build::message(Role::Assistant, calls.collect(), line));
}
