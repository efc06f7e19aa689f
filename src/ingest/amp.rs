//! Amp threads: one document a thread, with the messages as the model's API has them.
//!
//! Results stand in the message behind the call, each with the run of its tool; one that still runs or waits for the user is none.
//! Files that the user named are injected text in front of what the user typed. Messages of role `info` hold commands that the
//! user ran by hand, which are injected text too, and summaries of threads that this one goes on from: where one stands first the
//! thread starts compacted, elsewhere it is a recorded compaction that kept nothing.
//!
//! `totalInputTokens` is the whole prompt; where it is missing it is the sum of fresh and cached input.

#[cfg(test)]
mod tests;

use arcstr::ArcStr;

use crate::ingest::value::{Items, Value};

use super::blocks::{self, Speaker};
use super::build::{self, message};
use super::formats::Format;
use super::injected;
use super::json::{self, argument_text, counts, items, take, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::outcome;
use super::shapes::{List, Shape, Split};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{MessageIdx, Outcome, Part, Recorded, Role, ToolResult, Usage};

/// Thread files.
pub(super) static SHAPE: Shape = Shape {
    split: Split::each(is_thread),
    list: Some(List { field: "messages", read: |value, messages, _, out| thread(value, messages, out) }),
    dated: false,
    ..Shape::new(Format::Amp, sniff, read)
};

fn sniff(value: &Value) -> Option<&'static str> {
    let thread = text(value, "id").is_some_and(|id| id.starts_with("T-"));
    let messages = value.get("messages").is_some_and(Value::is_array);
    (thread && messages && (value.get("v").is_some() || value.get("created").is_some()))
        .then_some("has a thread id (T-) and messages")
}

/// True for a record that is a thread.
fn is_thread(value: &Value) -> bool {
    sniff(value).is_some()
}

fn read(records: Vec<Record>, _: &str, out: &mut Sink) {
    for mut record in records {
        if is_thread(&record.value) {
            let messages = take(&mut record.value, "messages").into_list();
            thread(record.value, &mut messages.into_iter(), out);
        } else {
            let text = "a record that is no thread, left out";
            out.note(record.line, "unknown-record", Severity::Note, text);
        }
    }
}

fn thread(mut value: Value, messages: Items<'_>, out: &mut Sink) {
    // A thread is known by its id.
    let mut draft = Draft::new(take_text(&mut value, "id"));
    let directory: Option<ArcStr> = directory(&value).map(ArcStr::from);
    draft.messages.reserve_exact(messages.len());
    for (index, mut one) in messages.enumerate() {
        let line = build::place(index);
        out.raw.messages += 1;
        out.raw.tool_calls += blocks::count(&one, "tool_use");
        if !one.is_object() {
            out.damage(line, "bad-record", "an entry of the messages that is no object; its content is lost");
            continue;
        }
        let (usage, sent) = (take(&mut one, "usage"), take(&mut one, "meta"));
        let time = sent.get("sentAt").or_else(|| usage.get("timestamp")).and_then(json::time);
        let role = text(&one, "role").unwrap_or_default().to_owned();
        let mut made = match role.as_str() {
            "assistant" => {
                build::by_model(&mut draft, text(&usage, "model"));
                let content = take(&mut one, "content");
                message(Role::Assistant, blocks::parts(content, Speaker::Other, Outcome::Ok), line)
            }
            "user" => message(Role::User, asked(one, line, out), line),
            "info" => {
                let Some(parts) = info(one, line, &mut draft, out) else { continue };
                message(Role::User, parts, line)
            }
            _ => {
                let text = format!("message of unknown role {role:?}, left out");
                out.note(line, "unknown-role", Severity::Note, text);
                continue;
            }
        };
        made.usage = out.told(line, told(&usage)).flatten().map(Box::new);
        made.cwd.clone_from(&directory);
        made.time = time;
        draft.messages.push(made);
    }
    out.finish_draft(draft);
}

/// The directory of the thread: as named, or the first tree of files it was started with.
fn directory(value: &Value) -> Option<&str> {
    let initial = value.get("env")?.get("initial")?;
    let tree = || {
        let uri = text(items(initial, "trees").first()?, "uri")?;
        Some(uri.strip_prefix("file://").unwrap_or(uri))
    };
    text(initial, "cwd").or_else(tree).filter(|path| !path.is_empty())
}

/// Usage of a reply; `None` when nothing was reported.
fn told(usage: &Value) -> Result<Option<Usage>, String> {
    let [total, fresh, cache_read, cache_write, output] = counts(
        usage,
        [
            "totalInputTokens",
            "inputTokens",
            "cacheReadInputTokens",
            "cacheCreationInputTokens",
            "outputTokens",
        ],
    )?;
    let sum = fresh.saturating_add(cache_read).saturating_add(cache_write);
    let input = if total > 0 { total } else { sum };
    Ok((input > 0).then_some(Usage { input, cache_read, cache_write, output }))
}

/// What stands in a message of the user: files that were named, text, results.
fn asked(mut one: Value, line: u32, out: &mut Sink) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut mentions = take(&mut one, "fileMentions");
    if let Value::Array(files) = take(&mut mentions, "files") {
        for mut file in files {
            let content = take_text(&mut file, "content");
            if !content.is_empty() {
                let uri = text(&file, "uri").unwrap_or_default();
                parts.push(build::injected(format!("{uri}\n{content}")));
            }
        }
    }
    let content = take(&mut one, "content").into_blocks();
    for mut block in content {
        match text(&block, "type") {
            Some("tool_result") => parts.extend(result(block).map(Part::result)),
            Some("text") => injected::push_user_text(take_text(&mut block, "text"), false, &mut parts),
            Some("image") => {
                let data = block.get("source").and_then(|source| text(source, "data"));
                parts.push(Part::Image { bytes: data.map_or(0, |data| data.len() as u64) });
            }
            Some("summary") => {
                let text = "a summary inside a message of the user, kept as injected text";
                out.note(line, "unknown-record", Severity::Note, text);
                parts.extend(summary(&mut block).map(build::injected));
            }
            _ => parts.extend(blocks::parts(block, Speaker::User { meta: false }, Outcome::Ok)),
        }
    }
    parts
}

/// The result of a run; `None` of one that has not ended.
fn result(mut block: Value) -> Option<ToolResult> {
    let call_id = build::first_text(&mut block, &["toolUseID", "toolUseId", "tool_use_id"]);
    let mut run = take(&mut block, "run");
    if !run.is_object() {
        let (text, images) = blocks::result_text(take(&mut block, "content"));
        let (outcome, exit_code) =
            outcome::flagged(&block).unwrap_or_else(|| outcome::judge(&text, Outcome::Unknown));
        return Some(ToolResult { call_id, text, outcome, exit_code, images });
    }
    let status = take_text(&mut run, "status");
    let mut payload = take(&mut run, "result");
    let flagged = outcome::flagged(&payload);
    let (mut told, images) = match text(&payload, "output").or_else(|| text(&payload, "content")) {
        Some(_) => (build::first_text(&mut payload, &["output", "content"]), 0),
        None => blocks::result_text(payload),
    };
    if told.is_empty() {
        let mut error = take(&mut run, "error");
        told = match build::first_text(&mut error, &["message"]) {
            said if said.is_empty() => argument_text(error),
            said => said,
        };
    }
    if told.is_empty() {
        told = take_text(&mut run, "reason");
    }
    let (outcome, exit_code) = match status.as_str() {
        "done" => flagged.unwrap_or((Outcome::Ok, None)),
        "error" | "cancelled" | "canceled" | "rejected-by-user" | "cancellation-requested" => {
            (Outcome::Failed, flagged.and_then(|(_, code)| code))
        }
        "" => outcome::judge(&told, Outcome::Unknown),
        _ => return None,
    };
    Some(ToolResult { call_id, text: told, outcome, exit_code, images })
}

/// The text of a block that sums up a thread.
fn summary(block: &mut Value) -> Option<String> {
    let mut inner = take(block, "summary");
    let text = match inner {
        Value::String(text) => text.into(),
        _ => build::first_text(&mut inner, &["summary", "text"]),
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

/// What a message of the harness holds for the context; `None` when it is a compaction behind the beginning.
fn info(mut one: Value, line: u32, draft: &mut Draft, out: &mut Sink) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let Value::Array(content) = take(&mut one, "content") else { return Some(parts) };
    for mut block in content {
        match text(&block, "type") {
            Some("summary") => {
                out.raw.compactions += 1;
                let summary = summary(&mut block);
                if draft.messages.is_empty() && parts.is_empty() {
                    draft.starts_compacted = true;
                    let missing = Part::Opaque { kind: "summary".into(), bytes: 0 };
                    parts.push(summary.map_or(missing, build::injected));
                } else {
                    let before = MessageIdx::new(draft.messages.len());
                    draft.recorded.push(Recorded { line, summary, ..Recorded::at(before) });
                }
            }
            Some("manual_bash_invocation") => {
                let mut args = take(&mut block, "args");
                let command = build::first_text(&mut args, &["cmd", "command"]);
                let mut run = take(&mut block, "toolRun");
                let mut result = take(&mut run, "result");
                let output = build::first_text(&mut result, &["output"]);
                parts.push(build::injected(format!("$ {command}\n{output}")));
            }
            _ => parts.extend(blocks::parts(block, Speaker::User { meta: true }, Outcome::Unknown)),
        }
    }
    (!parts.is_empty()).then_some(parts)
}
