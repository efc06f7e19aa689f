//! Trajectories in the Agent Data Protocol: one a line, actions and observations in a row.
//!
//! An action is a call, and the observation that follows is its result, whoever it is said to come from: data sets call the environment
//! `user` as well. What is observed with no call open is the user's where it says so, else injected.

#[cfg(test)]
mod tests;

use crate::ingest::value::Value;
use crate::ingest::value::{Map, json};

use super::blocks::{self, Speaker};
use super::build::{self, Names};
use super::chat;
use super::formats::Format;
use super::json::{argument_text, items, take, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::shapes::{Shape, Split};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{Outcome, Part, Role};

/// Trajectories.
pub(super) static SHAPE: Shape =
    Shape { split: Split::each(is_trajectory), dated: false, ..Shape::new(Format::Adp, sniff, read) };

fn sniff(value: &Value) -> Option<&'static str> {
    let first = items(value, "content").first()?;
    text(first, "class_").map(|_| "has content of actions and observations with class_")
}

/// True for a record that is a trajectory.
fn is_trajectory(value: &Value) -> bool {
    value.get("content").is_some_and(Value::is_array)
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let names = Names::new(&records, is_trajectory, name, out);
    for Record { line, mut value } in records {
        let Value::Array(list) = take(&mut value, "content") else {
            out.note(line, "unknown-record", Severity::Note, "a record without a list of content; ignored");
            continue;
        };
        let mut draft = Draft::holding(names.next(&value, &["id"], out), list.len());
        let details = value.get("details").unwrap_or(&Value::Null);
        draft.model = text(details, "model_name").map(str::to_owned);
        draft.tool_schema = text(details, "tools").filter(|tools| tools.len() > 2).map(str::to_owned);
        let mut open = false;
        for (index, entry) in list.into_iter().enumerate() {
            add(&mut draft, entry, &mut open, names.place(line, index), out);
        }
        chat::place(&mut draft);
        out.finish_draft(draft);
    }
}

fn add(draft: &mut Draft, mut entry: Value, open: &mut bool, line: u32, out: &mut Sink) {
    out.raw.messages += 1;
    let thought = text(&entry, "description").filter(|it| !it.trim().is_empty()).map(build::said);
    let class = text(&entry, "class_").unwrap_or_default().to_owned();
    let call = match class.as_str() {
        "api_action" => {
            let arguments = decoded(take(&mut entry, "kwargs"));
            build::call("", take_text(&mut entry, "function"), arguments)
        }
        "code_action" => {
            let code = take_text(&mut entry, "content");
            match text(&entry, "language") {
                Some("python") => build::call("", "python", json!({ "code": code })),
                language => build::call("", language.unwrap_or("code"), json!({ "command": code })),
            }
        }
        "message_action" => {
            *open = false;
            let said = Part::Text(crate::transcript::Text {
                text: take_text(&mut entry, "content"),
                injected: false,
            });
            let parts = thought.into_iter().chain([said]).collect();
            draft.messages.push(build::message(Role::Assistant, parts, line));
            return;
        }
        "text_observation" | "web_observation" | "image_observation" => {
            return observe(draft, entry, &class, open, line);
        }
        _ => {
            let text = format!("entry of unknown class {class:?}, left out");
            out.note(line, "unknown-record", Severity::Note, text);
            return;
        }
    };
    out.raw.tool_calls += 1;
    *open = true;
    let parts = thought.into_iter().chain([call]).collect();
    draft.messages.push(build::message(Role::Assistant, parts, line));
}

fn observe(draft: &mut Draft, mut entry: Value, class: &str, open: &mut bool, line: u32) {
    let image = |key: &str| u32::from(entry.get(key).is_some_and(|it| !it.is_null()));
    let images = image("image_observation") + u32::from(class == "image_observation");
    let content = if class == "web_observation" {
        let seen = ["url", "axtree", "html"].iter().map(|key| take_text(&mut entry, key));
        let seen: Vec<String> = seen.filter(|text| !text.is_empty()).take(2).collect();
        Value::from(seen.join("\n"))
    } else {
        take(&mut entry, "content")
    };
    if std::mem::take(open) {
        let mut answer = build::answer("", content, &Value::Null);
        if let Part::Result(result) = &mut answer {
            result.images += images;
        }
        draft.messages.push(build::message(Role::Tool, vec![answer], line));
        return;
    }
    let meta = text(&entry, "source") != Some("user");
    let mut parts = blocks::parts(content, Speaker::User { meta }, Outcome::Unknown);
    parts.extend((0..images).map(|_| Part::Image { bytes: 0 }));
    draft.messages.push(build::message(Role::User, parts, line));
}

/// Arguments of which texts are in quotes once more.
fn decoded(mut arguments: Value) -> Value {
    for value in arguments.as_object_mut().into_iter().flat_map(Map::values_mut) {
        let quoted = value.as_str().filter(|text| text.starts_with('"'));
        if let Some(inner) = quoted.and_then(|text| serde_json::from_str::<String>(text).ok()) {
            *value = Value::from(inner);
        }
    }
    Value::from(argument_text(arguments))
}
