//! A context as one request of Anthropic's Messages API: `{"system": ..., "messages": [...]}`, without model and tools.

use super::dialogue::{Dialogue, GO_ON, ID_LENGTH, NAME_LENGTH, Turn, is_name};
use crate::context::Context;
use crate::transcript::Transcript;
use rustc_hash::FxHashSet;
use serde_json::{Map, Value, json};

/// The document, with a remark for everything that the form cannot hold.
pub fn document(transcript: &Transcript, context: &Context) -> (String, Vec<String>) {
    let Dialogue { system, turns, changed } = Dialogue::of(transcript, context);
    let mut notes = changed.notes();
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::with_capacity(turns.len());
    let text = |text: String| json!({"type": "text", "text": text});
    for turn in turns {
        let (role, blocks): (&str, Vec<Value>) = match turn {
            Turn::User(texts) => ("user", texts.into_iter().map(text).collect()),
            Turn::Assistant(texts, calls) => {
                let calls = calls.into_iter().map(
                    |call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}),
                );
                ("assistant", texts.into_iter().map(text).chain(calls).collect())
            }
            Turn::Results(answers) => {
                let results = answers.into_iter().map(|answer| {
                    let mut block =
                        json!({"type": "tool_result", "tool_use_id": answer.id, "content": answer.text});
                    if answer.failed {
                        block["is_error"] = true.into();
                    }
                    block
                });
                ("user", results.collect())
            }
        };
        if messages.is_empty() && role == "assistant" {
            notes.push("a text of the user put in front: the conversation began with the model".to_owned());
            messages.push(("user", vec![text(GO_ON.to_owned())]));
        }
        match messages.last_mut().filter(|(last, _)| *last == role) {
            Some((_, same)) => same.extend(blocks),
            None => messages.push((role, blocks)),
        }
    }
    // The API refuses a last reply that ends in white space.
    if let Some(("assistant", blocks)) = messages.last_mut()
        && let Some(Value::String(text)) = blocks.last_mut().and_then(|block| block.get_mut("text"))
    {
        text.truncate(text.trim_end().len());
    }
    let mut document = Map::new();
    if !system.is_empty() {
        document.insert("system".to_owned(), system.join("\n\n").into());
    }
    let messages = messages.into_iter().map(|(role, content)| json!({"role": role, "content": content}));
    document.insert("messages".to_owned(), messages.collect());
    (format!("{:#}\n", Value::Object(document)), notes)
}

/// What the API would refuse in a document, in words: empty when it is valid.
///
/// The rules are those of the API reference for messages and for tool use: roles alternate and begin with the user, no empty
/// content, no blank text, no reply at the end that ends in white space, tool uses with unique ids and an object as input,
/// answered all and once by the results that begin the next message, no reasoning without its signature.
pub fn check_anthropic(document: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let Some(messages) = document.get("messages").and_then(Value::as_array).filter(|it| !it.is_empty())
    else {
        return vec!["no messages".to_owned()];
    };
    let blank = |value: Option<&Value>| value.and_then(Value::as_str).is_none_or(|it| it.trim().is_empty());
    if document.get("system").is_some() && blank(document.get("system")) {
        problems.push("a blank system prompt".to_owned());
    }
    let mut ids: FxHashSet<&str> = FxHashSet::default();
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let mut wrong = |what: &str| problems.push(format!("message {at}: {what}"));
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        let user = at.is_multiple_of(2);
        if role != if user { "user" } else { "assistant" } {
            wrong(&format!("role {role:?} out of turn"));
        }
        let blocks = message.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if blocks.is_empty() {
            wrong("no content");
        }
        let mut said = false;
        for block in blocks {
            let field = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
            match field("type") {
                "text" => {
                    said = true;
                    if blank(block.get("text")) {
                        wrong("a blank text");
                    }
                }
                "tool_use" if !user => {
                    let id = field("id");
                    if !is_name(id, ID_LENGTH) {
                        wrong(&format!("a tool use with the id {id:?}"));
                    } else if !ids.insert(id) {
                        wrong(&format!("a second tool use with the id {id:?}"));
                    }
                    if !is_name(field("name"), NAME_LENGTH) {
                        wrong(&format!("a tool {:?}", field("name")));
                    }
                    if !block.get("input").is_some_and(Value::is_object) {
                        wrong("an input that is no object");
                    }
                    open.push(id);
                }
                "tool_result" if user => {
                    if said {
                        wrong("a result behind a text");
                    }
                    let id = field("tool_use_id");
                    match open.iter().position(|known| *known == id) {
                        Some(known) => drop(open.remove(known)),
                        None => wrong(&format!("a result of {id:?}, which waits for none")),
                    }
                    if blank(block.get("content")) {
                        wrong("a blank result");
                    }
                }
                other => wrong(&format!("a block of type {other:?}")),
            }
        }
        if user && !open.is_empty() {
            wrong("tool uses before it are not answered");
            open.clear();
        }
    }
    if !open.is_empty() {
        problems.push("the last tool uses are not answered".to_owned());
    }
    let last = messages.last().filter(|message| message.get("role") == Some(&json!("assistant")));
    let ending = last.and_then(|message| message.get("content")?.as_array()?.last()?.get("text")?.as_str());
    if ending.is_some_and(|text| text.ends_with(char::is_whitespace)) {
        problems.push("the last reply ends in white space".to_owned());
    }
    problems
}
