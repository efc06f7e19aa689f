//! A context as one request of OpenAI's chat completions API: `{"messages": [...]}`, without model and tools.

use super::dialogue::{Dialogue, ID_LENGTH, NAME_LENGTH, Turn, is_name};
use crate::context::Context;
use crate::transcript::Transcript;
use rustc_hash::FxHashSet;
use serde_json::{Value, json};

/// The document, with a remark for everything that the form cannot hold.
pub fn document(transcript: &Transcript, context: &Context) -> (String, Vec<String>) {
    let Dialogue { system, turns, changed } = Dialogue::of(transcript, context);
    let mut messages = Vec::with_capacity(turns.len() + 1);
    if !system.is_empty() {
        messages.push(json!({"role": "system", "content": system.join("\n\n")}));
    }
    for turn in turns {
        match turn {
            Turn::User(texts) => messages.push(json!({"role": "user", "content": texts.join("\n")})),
            Turn::Assistant(texts, calls) => {
                let content = if texts.is_empty() { Value::Null } else { texts.join("\n").into() };
                let mut message = json!({"role": "assistant", "content": content});
                if !calls.is_empty() {
                    let calls = calls.into_iter().map(|call| {
                        let function = json!({"name": call.name, "arguments": call.arguments});
                        json!({"id": call.id, "type": "function", "function": function})
                    });
                    message["tool_calls"] = calls.collect();
                }
                messages.push(message);
            }
            Turn::Results(answers) => messages.extend(
                answers
                    .into_iter()
                    .map(|answer| json!({"role": "tool", "tool_call_id": answer.id, "content": answer.text})),
            ),
        }
    }
    (format!("{:#}\n", json!({ "messages": messages })), changed.notes())
}

/// What the API would refuse in a document, in words: empty when it is valid.
///
/// The rules are those of the API reference for chat completions: known roles, system text in front, no empty content, calls
/// with unique ids of at most 40 characters, names of at most 64, arguments that are the JSON text of an object, and behind
/// each message with calls one tool message for each of them before anything else.
pub fn check_openai(document: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let Some(messages) = document.get("messages").and_then(Value::as_array).filter(|it| !it.is_empty())
    else {
        return vec!["no messages".to_owned()];
    };
    let mut ids: FxHashSet<&str> = FxHashSet::default();
    let mut open: Vec<&str> = Vec::new();
    let mut talking = false;
    for (at, message) in messages.iter().enumerate() {
        let mut wrong = |what: &str| problems.push(format!("message {at}: {what}"));
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        let content = message.get("content").unwrap_or(&Value::Null);
        let blank = content.as_str().is_none_or(|text| text.trim().is_empty());
        if role != "tool" && !open.is_empty() {
            wrong("calls before it are not answered");
            open.clear();
        }
        match role {
            "system" if talking => wrong("a system message inside the conversation"),
            "system" | "user" if blank => wrong("no content"),
            "system" | "user" => {}
            "assistant" => {
                let calls = message.get("tool_calls");
                let list = calls.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                if calls.is_some() && list.is_empty() {
                    wrong("an empty list of calls");
                }
                if blank && (list.is_empty() || !content.is_null()) {
                    wrong("no content");
                }
                for call in list {
                    let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
                    if !is_name(id, ID_LENGTH) {
                        wrong(&format!("a call with the id {id:?}"));
                    } else if !ids.insert(id) {
                        wrong(&format!("a second call with the id {id:?}"));
                    }
                    open.push(id);
                    let function = call.get("function").unwrap_or(&Value::Null);
                    let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
                    if call.get("type").and_then(Value::as_str) != Some("function")
                        || !is_name(name, NAME_LENGTH)
                    {
                        wrong(&format!("a call of {name:?}, no function that can be called"));
                    }
                    let arguments = function.get("arguments").and_then(Value::as_str).unwrap_or_default();
                    if !serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()) {
                        wrong("arguments that are no JSON text of an object");
                    }
                }
            }
            "tool" => {
                let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
                match open.iter().position(|known| *known == id) {
                    Some(known) => drop(open.remove(known)),
                    None => wrong(&format!("an answer to {id:?}, which waits for none")),
                }
                if blank {
                    wrong("no content");
                }
            }
            other => wrong(&format!("role {other:?}")),
        }
        talking |= role != "system";
    }
    if !open.is_empty() {
        problems.push("the last calls are not answered".to_owned());
    }
    if !talking {
        problems.push("nothing but system messages".to_owned());
    }
    problems
}
