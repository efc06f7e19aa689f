//! sven's conversations: lines of adjacently tagged records, chats in YAML, conversations in Markdown.
//!
//! All three hold the same turns: what the user typed, text, thinking and calls of the model as records of their own (one after
//! the other they are one message), results, and the mark of a compaction without its summary. Nothing tells what it kept.

mod pieces;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use memchr::memmem;
use serde::de::DeserializeSeed;
use serde_saphyr::{with_deserializer_from_reader_with_options, with_deserializer_from_str_with_options};

use crate::ingest::value::{Listed, Value, json, shared};

use super::blocks::{self, Speaker};
use super::build::{self, message};
use super::formats::Format;
use super::json::{argument_text, take, take_text, text, tokens};
use super::lines::Record;
use super::links::Draft;
use super::outcome;
use super::shapes::{Shape, Split, TextShape};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{MessageIdx, Origin, Outcome, Part, Recorded, Role, ToolCall, ToolResult};
use pieces::Pieces;

/// Lines of records.
pub(super) static SHAPE: Shape =
    Shape { owns: |_| false, split: Split::One(|_| false), ..Shape::new(Format::Sven, sniff, read) };

/// Chats.
pub(super) static YAML: TextShape = TextShape { format: Format::Sven, sniff: sniff_yaml, read: read_yaml };

/// Conversations.
pub(super) static MARKDOWN: TextShape =
    TextShape { format: Format::Sven, sniff: sniff_markdown, read: read_markdown };

/// A chat of more bytes than this is given up while it is read.
const LONG: usize = 16 << 20;

/// Headings of a conversation, and the turns they open.
const HEADINGS: [(&str, &str); 4] =
    [("User", "user"), ("Sven", "assistant"), ("Tool", "tool_call"), ("Tool Result", "tool_result")];

fn sniff(value: &Value) -> Option<&'static str> {
    let data = value.get("data").filter(|data| data.is_object())?;
    match text(value, "type")? {
        "message" if text(data, "role").is_some() => Some("has type=message and data with a role"),
        "thinking" if text(data, "content").is_some() => Some("has type=thinking and data with content"),
        "context_compacted" if data.get("tokens_before").is_some() => {
            Some("has type=context_compacted and data")
        }
        _ => None,
    }
}

fn sniff_yaml(text: &str) -> Option<&'static str> {
    let head = text.trim_start();
    let opens = head.starts_with("---") || head.starts_with("id:") || head.starts_with("title:");
    let has = |what: &str| text.contains(what);
    (opens && has("\nturns:") && has("- role: ") && has("created_at:"))
        .then_some("has the turns of a sven chat")
}

fn sniff_markdown(text: &str) -> Option<&'static str> {
    let has = |name: &str| text.lines().any(|line| line.strip_prefix("## ").map(str::trim) == Some(name));
    let begins = text.trim_start().starts_with('#') || text.trim_start().starts_with("<!--");
    (begins && has("User") && (has("Sven") || has("Tool Result")))
        .then_some("has the headings of a sven conversation")
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let mut draft = out.resume().unwrap_or_else(|| Draft::holding(name, records.len()));
    for Record { line, mut value } in records {
        let kind = take_text(&mut value, "type");
        let mut data = take(&mut value, "data");
        let role = match kind.as_str() {
            "message" => {
                let role = take_text(&mut data, "role");
                match (role.as_str(), data.get_mut("content")) {
                    // A call is the content of a message.
                    ("assistant", Some(call)) if call.get("function").is_some() => {
                        data = call.take();
                        "tool_call".to_owned()
                    }
                    ("tool", Some(result)) if result.get("tool_call_id").is_some() => {
                        data = result.take();
                        "tool_result".to_owned()
                    }
                    ("tool", _) => "tool_result".to_owned(),
                    _ => role,
                }
            }
            _ => kind,
        };
        turn(&role, data, line, &mut draft, out);
    }
    if let Some(draft) = out.suspend(draft) {
        out.finish_draft(draft);
    }
}

/// Adds one turn.
fn turn(role: &str, mut data: Value, line: u32, draft: &mut Draft, out: &mut Sink) {
    match role {
        "system" => {
            let parts = blocks::parts(picture(take(&mut data, "content")), Speaker::Other, Outcome::Unknown);
            draft.messages.push(message(Role::System, parts, line));
        }
        "user" => {
            let speaker = Speaker::User { meta: false };
            let parts = blocks::parts(picture(take(&mut data, "content")), speaker, Outcome::Unknown);
            draft.messages.push(message(Role::User, parts, line));
        }
        "assistant" => {
            let parts = blocks::parts(picture(take(&mut data, "content")), Speaker::Other, Outcome::Unknown);
            reply(parts, line, draft);
        }
        "thinking" => return reply(vec![Part::Thinking(take_text(&mut data, "content"))], line, draft),
        "tool_call" => {
            out.raw.tool_calls += 1;
            let id = take_text(&mut data, "tool_call_id");
            let mut function = take(&mut data, "function");
            let mut call = if function.is_object() { function.take() } else { data };
            let name = take_text(&mut call, "name");
            let arguments = ["arguments", "args"].iter().map(|key| take(&mut call, key));
            let arguments = argument_text(arguments.into_iter().find(|it| !it.is_null()).unwrap_or_default());
            reply(vec![Part::call(ToolCall { id, name: shared(&name), arguments })], line, draft);
        }
        "tool_result" => {
            let call_id = take_text(&mut data, "tool_call_id");
            let (text, images) = blocks::result_text(take(&mut data, "content"));
            let (outcome, exit_code) = outcome::judge(&text, Outcome::Unknown);
            let result = ToolResult { call_id, text, outcome, exit_code, images };
            draft.messages.push(message(Role::Tool, vec![Part::result(result)], line));
        }
        "context_compacted" => {
            out.raw.compactions += 1;
            let mut recorded = Recorded {
                line,
                tokens_before: out.told(line, tokens(&data, "tokens_before")).flatten(),
                tokens_after: out.told(line, tokens(&data, "tokens_after")).flatten(),
                ..Recorded::at(MessageIdx::new(draft.messages.len()))
            };
            out.kept_unknown(&mut recorded, "sven marks only the place of a compaction");
            draft.recorded.push(recorded);
            return;
        }
        _ => {
            let role: String = role.chars().take(60).collect();
            let text = format!("turn of unknown role {role:?}, left out");
            out.note(line, "unknown-role", Severity::Note, text);
            return;
        }
    }
    out.raw.messages += 1;
}

/// Blocks with images in sven's notation, as the API has them.
fn picture(mut content: Value) -> Value {
    for block in content.as_array_mut().into_iter().flatten() {
        if text(block, "type") == Some("image")
            && let Some(url) = text(block, "image_url")
        {
            *block = json!({"type": "image_url", "image_url": url});
        }
    }
    content
}

/// Adds to the reply that is being given.
fn reply(parts: Vec<Part>, line: u32, draft: &mut Draft) {
    let compacted = draft.recorded.last().is_some_and(|last| last.before.get() == draft.messages.len());
    match draft.messages.last_mut().filter(|last| last.role == Role::Assistant && !compacted) {
        Some(last) => parts.into_iter().for_each(|part| last.push(part, line)),
        None => draft.messages.push(message(Role::Assistant, parts, line)),
    }
}

fn read_yaml(text: &mut Cow<'_, str>, name: &str, out: &mut Sink) {
    // What a text without aliases can hold; aliases have limits of their own.
    let most = text.len().max(1_000_000);
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_events: 3 * most, max_nodes: most, max_total_scalar_bytes: most.max(64 << 20), max_reader_input_bytes: None },
    };
    let likely = memmem::find_iter(text.as_bytes(), "\n- role:").count();
    let mut draft = Draft::holding(name, likely);
    let before = out.clone();
    let mut index = 0;
    let turns = Listed {
        field: "turns",
        each: |mut one: Value| {
            let role = take_text(&mut one, "role");
            turn(&role, one, build::place(index), &mut draft, out);
            index += 1;
        },
    };
    let read = match std::mem::take(text) {
        Cow::Owned(text) if text.len() > LONG => {
            with_deserializer_from_reader_with_options(Pieces::from(text), options, |reader| {
                turns.deserialize(reader)
            })
        }
        text => with_deserializer_from_str_with_options(&text, options, |reader| turns.deserialize(reader)),
    };
    let mut value = match read {
        Ok(value) => value,
        Err(error) => {
            // Nothing is said of what comes to nothing.
            *out = before;
            let error = error.to_string();
            let cause = error.lines().next().unwrap_or_default();
            let text = format!("the chat is no YAML that can be read: {cause}");
            return out.note(0, "bad-yaml", Severity::Lost, text);
        }
    };
    let id = take_text(&mut value, "id");
    if !id.is_empty() {
        draft.id = id;
    }
    build::by_model(&mut draft, self::text(&value, "model"));
    if let Some(parent) = self::text(&value, "parent_id") {
        draft.origin = Origin::Sidechain(format!("of {parent}"));
    }
    out.finish_draft(draft);
}

fn read_markdown(text: &mut Cow<'_, str>, name: &str, out: &mut Sink) {
    let mut draft = Draft::new(name);
    let mut sections: Vec<(&str, u32, Vec<&str>)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let named = line.strip_prefix("## ").map(str::trim);
        match named.and_then(|named| HEADINGS.iter().find(|(heading, _)| *heading == named)) {
            Some((_, role)) => sections.push((role, build::place(index), Vec::new())),
            // In front of the first section stands a title.
            None => sections.iter_mut().last().into_iter().for_each(|(_, _, lines)| lines.push(line)),
        }
    }
    let mut called = String::new();
    for (role, line, lines) in sections {
        let body = lines.join("\n");
        let body = body.trim();
        let data = match role {
            "tool_call" => match serde_json::from_str::<Value>(fence(body).unwrap_or(body)) {
                Ok(call) => {
                    self::text(&call, "tool_call_id").unwrap_or_default().clone_into(&mut called);
                    call
                }
                Err(error) => {
                    let text = format!("a tool section that is no JSON, its call is lost: {error}");
                    out.damage(line, "bad-record", text);
                    continue;
                }
            },
            "tool_result" => {
                json!({"tool_call_id": std::mem::take(&mut called), "content": fence(body).unwrap_or(body)})
            }
            _ => {
                // Remarks on the model in front of what it said.
                let remark = body.strip_prefix("<!--").and_then(|rest| rest.split_once("-->"));
                let said = remark.filter(|_| role == "assistant").map_or(body, |(_, said)| said.trim());
                json!({"content": closing_remark(said, &mut draft)})
            }
        };
        turn(role, data, line, &mut draft, out);
    }
    out.finish_draft(draft);
}

/// Takes the remark off the end that belongs to the section behind it, and the model from it.
fn closing_remark<'a>(said: &'a str, draft: &mut Draft) -> &'a str {
    let Some((before, remark)) = said.rsplit_once("<!-- ") else { return said };
    let Some(inner) = remark.strip_suffix("-->") else { return said };
    let field =
        |name: &str| inner.split(',').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix(": "));
    if field("provider").is_none() && field("model").is_none() {
        return said;
    }
    build::by_model(draft, field("model").map(str::trim));
    before.trim_end()
}

/// What stands in the fence around a text.
fn fence(body: &str) -> Option<&str> {
    let (_, inside) = body.strip_prefix("```")?.split_once('\n')?;
    Some(inside.trim_end().strip_suffix("```")?.trim_end_matches('\n'))
}
