//! Logs of Inspect evaluations: the JSON document, and the files of samples inside an `.eval` archive.
//!
//! Each sample is a session. Its `messages` are read; the events tell the same again, and give only the usage of each reply, the
//! tools and the compactions, of which the log does not say where in the messages they happened. Texts that are moved out as attachments are put back.

#[cfg(test)]
mod tests;

use crate::ingest::value::Value;
use rustc_hash::FxHashMap;

use super::blocks::{self, Speaker};
use super::build;
use super::formats::Format;
use super::json::{self, argument_text, counts, items, take, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::shapes::{Shape, Split};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{Message, Outcome, Part, Role, Usage};

/// Logs and samples.
pub(super) static SHAPE: Shape = Shape {
    split: Split::each(|value| value.get("epoch").is_some() || value.get("samples").is_some()),
    dated: false,
    ..Shape::new(Format::Inspect, sniff, read)
};

const ATTACHMENT: &str = "attachment://";

fn sniff(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    if value.get("eval").is_some_and(|eval| eval.get("task").is_some()) && (has("status") || has("plan")) {
        return Some("has eval, status and plan");
    }
    (has("epoch") && has("target") && has("messages") && has("input"))
        .then_some("has epoch, target and messages")
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    for Record { mut value, line } in records {
        if value.get("epoch").is_some() {
            sample(value, name, None, line, out);
            continue;
        }
        let model = value.pointer("/eval/model").and_then(Value::as_str).map(str::to_owned);
        match take(&mut value, "samples") {
            Value::Array(samples) => {
                for one in samples {
                    sample(one, name, model.clone(), line, out);
                }
            }
            _ if value.get("eval").is_some() => {
                out.part_of_log("the header of an Inspect log: its samples are in other files, give those");
            }
            _ => out.note(line, "unknown-record", Severity::Note, "neither a log nor a sample; ignored"),
        }
    }
}

fn sample(mut sample: Value, name: &str, model: Option<String>, line: u32, out: &mut Sink) {
    let attachments = take(&mut sample, "attachments");
    let Value::Array(messages) = take(&mut sample, "messages") else {
        out.damage(line, "bad-record", "a sample without a list of messages; its content is lost");
        return;
    };
    let id = argument_text(take(&mut sample, "id"));
    let epoch = argument_text(take(&mut sample, "epoch"));
    let id = if id.is_empty() { name.to_owned() } else { format!("{id}_epoch_{epoch}") };
    let mut draft = Draft::holding(id, messages.len());
    draft.model = model;
    let told = events(&sample, &attachments, &mut draft, line, out);
    for (index, mut message) in messages.into_iter().enumerate() {
        out.raw.messages += 1;
        out.raw.tool_calls += items(&message, "tool_calls").len() as u64;
        resolve(&mut message, &attachments, 0);
        let line = build::place(index);
        let id = take_text(&mut message, "id");
        if let Some(model) = text(&message, "model").filter(|model| !model.is_empty()) {
            draft.model = Some(model.to_owned());
        }
        if let Some(mut message) = read_message(message, line, out) {
            if let Some((usage, time)) = told.get(&id) {
                message.usage = usage.map(Box::new);
                message.time = *time;
            }
            draft.messages.push(message);
        }
    }
    let last = draft.messages.last_mut().filter(|last| last.role == Role::Assistant && last.usage.is_none());
    if let Some(last) = last
        && let Some(reported) = sample.pointer("/output/usage")
    {
        last.usage = out.told(line, usage(reported)).flatten().map(Box::new);
    }
    out.finish_draft(draft);
}

/// What the events tell of replies, by the id of the message: usage and time.
type Told = FxHashMap<String, (Option<Usage>, Option<i64>)>;

fn events(sample: &Value, attachments: &Value, draft: &mut Draft, line: u32, out: &mut Sink) -> Told {
    let mut told = Told::default();
    for event in items(sample, "events") {
        match text(event, "event") {
            Some("model") => {
                if draft.tool_schema.is_none() && !items(event, "tools").is_empty() {
                    let mut tools = event.get("tools").cloned().unwrap_or_default();
                    resolve(&mut tools, attachments, 0);
                    draft.tool_schema = Some(tools.to_string());
                }
                let id = event.pointer("/output/choices/0/message/id").and_then(Value::as_str);
                let reported = event.pointer("/output/usage").map(usage);
                let usage = reported.and_then(|reported| out.told(line, reported).flatten());
                if let Some(id) = id {
                    told.insert(id.to_owned(), (usage, json::time_at(event, "timestamp")));
                }
            }
            Some("compaction") => {
                out.raw.compactions += 1;
                let text = "a compaction; the log does not say between which messages, so it is only counted";
                out.note(line, "unplaced-compaction", Severity::Note, text);
            }
            _ => {}
        }
    }
    told
}

/// Puts the texts back that stand among the attachments.
fn resolve(value: &mut Value, attachments: &Value, depth: u32) {
    const DEEPEST: u32 = 64;
    match value {
        Value::String(text) => {
            if let Some(found) = text.strip_prefix(ATTACHMENT).and_then(|hash| attachments.get(hash)) {
                *value = found.clone();
            }
        }
        _ if depth > DEEPEST => {}
        Value::Array(list) => list.iter_mut().for_each(|item| resolve(item, attachments, depth + 1)),
        Value::Object(map) => map.values_mut().for_each(|item| resolve(item, attachments, depth + 1)),
        _ => {}
    }
}

fn read_message(mut message: Value, line: u32, out: &mut Sink) -> Option<Message> {
    if !message.is_object() {
        out.damage(line, "bad-record", "a message that is no object; its content is lost");
        return None;
    }
    let role = text(&message, "role").unwrap_or_default().to_owned();
    let mut content = take(&mut message, "content");
    let mut found = match role.as_str() {
        "system" => build::message(Role::System, parts(content, Speaker::Other), line),
        "user" => build::message(Role::User, parts(content, Speaker::User { meta: false }), line),
        "assistant" => {
            let mut reply = parts(content, Speaker::Other);
            if let Value::Array(calls) = take(&mut message, "tool_calls") {
                reply.extend(calls.into_iter().filter(Value::is_object).map(call));
            }
            build::message(Role::Assistant, reply, line)
        }
        "tool" => {
            let mut error = take(&mut message, "error");
            let failed = error.is_object();
            let empty = content.as_str().is_some_and(str::is_empty) || content.is_null();
            if failed && empty {
                content = take(&mut error, "message");
            }
            let mut answer = build::answer(take_text(&mut message, "tool_call_id"), content, &message);
            if let Part::Result(result) = &mut answer
                && failed
            {
                result.outcome = Outcome::Failed;
            }
            build::message(Role::Tool, vec![answer], line)
        }
        _ => {
            let text = format!("role {role:?} is not known; kept as injected user text");
            out.note(line, "unknown-role", Severity::Note, text);
            build::message(Role::User, parts(content, Speaker::User { meta: true }), line)
        }
    };
    found.time = None;
    Some(found)
}

fn call(mut call: Value) -> Part {
    let name = match take(&mut call, "function") {
        Value::String(name) => name.into(),
        mut older => take_text(&mut older, "name"),
    };
    build::call(take_text(&mut call, "id"), name, take(&mut call, "arguments"))
}

/// The parts of a content; Inspect has blocks of its own for reasoning and images.
fn parts(content: Value, speaker: Speaker) -> Vec<Part> {
    let Value::Array(list) = content else { return blocks::parts(content, speaker, Outcome::Unknown) };
    let mut found = Vec::with_capacity(list.len());
    for mut block in list {
        match text(&block, "type") {
            Some("reasoning") => {
                let keys: &[&str] = if super::json::flag(&block, "redacted") {
                    &["summary"]
                } else {
                    &["reasoning", "summary"]
                };
                let clear =
                    keys.iter().map(|key| take_text(&mut block, key)).find(|it| !it.trim().is_empty());
                let bytes = text(&block, "reasoning").map_or(0, str::len) as u64;
                let unreadable = Part::Opaque { kind: "reasoning".into(), bytes };
                found.push(clear.map_or(unreadable, Part::Thinking));
            }
            Some("image") => {
                let image = text(&block, "image").filter(|image| !image.starts_with("http"));
                found.push(Part::Image { bytes: image.map_or(0, str::len) as u64 });
            }
            // A tool that the provider ran.
            Some("tool_use") => {
                let id = take_text(&mut block, "id");
                let result = take(&mut block, "result");
                let failed = text(&block, "error").is_some_and(|error| !error.is_empty());
                found.push(build::call(
                    id.clone(),
                    take_text(&mut block, "name"),
                    take(&mut block, "arguments"),
                ));
                if !result.is_null() {
                    let mut answer = build::answer(id, result, &block);
                    if let Part::Result(result) = &mut answer
                        && failed
                    {
                        result.outcome = Outcome::Failed;
                    }
                    found.push(answer);
                }
            }
            _ => found.extend(blocks::parts(block, speaker, Outcome::Unknown)),
        }
    }
    found
}

/// Usage. Providers differ in whether cached tokens are part of the input; the total has everything once.
fn usage(usage: &Value) -> Result<Option<Usage>, String> {
    let [fresh, output, total, cache_read, cache_write] = counts(
        usage,
        [
            "input_tokens",
            "output_tokens",
            "total_tokens",
            "input_tokens_cache_read",
            "input_tokens_cache_write",
        ],
    )?;
    let input = match total.checked_sub(output).filter(|input| *input >= fresh) {
        Some(input) => input,
        None => fresh.saturating_add(cache_read).saturating_add(cache_write),
    };
    Ok((input > 0 || output > 0).then_some(Usage { input, cache_read, cache_write, output }))
}
