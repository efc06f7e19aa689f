//! Qwen Code sessions: a tree of records by `parentUuid`, whose messages hold parts of the Gemini API.
//!
//! A file may hold several sessions. The conversation of each is the path from its last record to the root ([`tree`]); what stands on
//! another branch was taken back (`rewind`). Snapshots of artifacts hang on the tree without being part of the conversation, so none of
//! them is its end. A `chat_compression` record holds the whole context that it left: a summary, and messages found again among those before it.
//!
//! `promptTokenCount` counts cached tokens; `candidatesTokenCount` holds the thoughts or not, which the total tells.

#[cfg(test)]
mod tests;
mod tree;

use crate::ingest::value::Value;

use super::build::{is_object, unknown_record};
use super::formats::Format;
use super::gemini_parts;
use super::json::{self, counts, items, take, text};
use super::lines::Record;
use super::sessions;
use super::shapes::{Shape, Split};
use super::sink::Sink;
use super::talk::Talk;
use crate::transcript::{MessageIdx, Outcome, Part, Recorded, Role, Usage};

/// System records that are never the end of the conversation.
const ASIDE: [&str; 2] = ["session_artifact_snapshot", "session_artifact_event"];

/// What `compressionStatus` is where the chat was compressed.
const COMPRESSED: u64 = 1;

/// Who wrote a user record that no person wrote.
const HARNESS: [&str; 3] = ["system", "goal_control", "goal_runtime"];

/// User records that no person wrote, by subtype.
const GENERATED: [&str; 4] = ["notification", "background_task_completed", "cron", "goal_runtime"];

/// Session files.
pub(super) static SHAPE: Shape =
    Shape { split: Split::Tied(&["sessionId"], 1), ..Shape::new(Format::QwenCode, sniff, read) };

fn sniff(value: &Value) -> Option<&'static str> {
    value.get("uuid")?;
    if value.get("message").is_some_and(|message| message.get("parts").is_some()) {
        return Some("has uuid and message.parts");
    }
    (text(value, "type") == Some("system") && value.get("systemPayload").is_some())
        .then_some("has type=system and systemPayload")
}

/// Reads the records of one file.
fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    for (id, mut records) in sessions::by_id(records, |value| text(value, "sessionId"), name) {
        records.retain(|record| is_object(record, out));
        for Record { line, value } in &records {
            count(value, out);
            let kind = text(value, "type").unwrap_or_default();
            if !is_known(kind) {
                unknown_record(kind, *line, out);
            }
        }
        let mut talk = Talk::new(id);
        let (path, midway) = tree::active_path(records, out);
        talk.draft.starts_midway = midway;
        let mut before = String::new();
        for record in path {
            let uuid = text(&record.value, "uuid").unwrap_or_default().to_owned();
            add(&mut talk, record, !uuid.is_empty() && uuid == before, out);
            before = uuid;
        }
        out.finish_draft(talk.draft);
    }
}

/// True for the types of records that there are.
fn is_known(kind: &str) -> bool {
    matches!(kind, "user" | "assistant" | "tool_result" | "system")
}

/// Counts a record, on the path or not.
fn count(value: &Value, out: &mut Sink) {
    let message = matches!(text(value, "type"), Some("user" | "assistant"));
    out.raw.messages += u64::from(message);
    out.raw.compactions += u64::from(text(value, "subtype") == Some("chat_compression"));
    if let Some(message) = value.get("message") {
        let calls = items(message, "parts").iter().filter(|part| part.get("functionCall").is_some());
        out.raw.tool_calls += calls.count() as u64;
    }
}

/// Adds a record; `again` where it is a further piece of the one before.
fn add(talk: &mut Talk, record: Record, again: bool, out: &mut Sink) {
    let Record { line, mut value } = record;
    talk.enter(text(&value, "cwd"));
    let kind = text(&value, "type").unwrap_or_default().to_owned();
    let mut message = take(&mut value, "message");
    let content = take(&mut message, "parts");
    match kind.as_str() {
        "user" => {
            let is = |key: &str, known: &[&str]| text(&value, key).is_some_and(|it| known.contains(&it));
            let meta = is("provenance", &HARNESS) || is("subtype", &GENERATED);
            talk.push(Role::User, gemini_parts::parts(content, Some(meta)), line, None);
        }
        "assistant" => {
            let parts = gemini_parts::parts(content, None);
            let told = value.get("usageMetadata").filter(|_| again || !parts.is_empty());
            if again {
                talk.join(parts, line, None);
            } else {
                talk.push(Role::Assistant, parts, line, None);
            }
            let usage = told.and_then(|told| out.told(line, usage(told)).flatten());
            talk.used(usage);
            talk.model(text(&value, "model"));
            let window = out.told(line, json::tokens(&value, "contextWindowSize")).flatten();
            talk.draft.context_window = window.or(talk.draft.context_window);
        }
        "tool_result" => {
            let status = value.get("toolCallResult").and_then(|result| text(result, "status"));
            let parts = match content {
                Value::Array(list) => list.into_iter().map(|part| answer(part, status)).collect(),
                _ => Vec::new(),
            };
            talk.push(Role::Tool, parts.into_iter().flatten().collect(), line, None);
        }
        "system" if text(&value, "subtype") == Some("chat_compression") => {
            compression(talk, take(&mut value, "systemPayload"), line, out);
        }
        _ => {}
    }
}

/// A part of a tool result, under the status of the record.
fn answer(mut part: Value, status: Option<&str>) -> Vec<Part> {
    if part.get("functionResponse").is_some_and(Value::is_object) {
        return vec![Part::result(gemini_parts::result(&mut part, status))];
    }
    gemini_parts::parts(part, Some(true))
}

fn usage(told: &Value) -> Result<Option<Usage>, String> {
    let [input, output, thoughts, cache_read, total] = counts(
        told,
        [
            "promptTokenCount",
            "candidatesTokenCount",
            "thoughtsTokenCount",
            "cachedContentTokenCount",
            "totalTokenCount",
        ],
    )?;
    let output = if total == input + output { output } else { output + thoughts };
    Ok((input > 0 || output > 0).then_some(Usage { input, cache_read, cache_write: 0, output }))
}

fn compression(talk: &mut Talk, mut payload: Value, line: u32, out: &mut Sink) {
    let info = take(&mut payload, "info");
    if json::number(&info, "compressionStatus").is_some_and(|status| status != COMPRESSED) {
        return;
    }
    let (mut summary, mut kept, mut strange) = (None, Vec::new(), 0usize);
    for mut content in take(&mut payload, "compressedHistory").into_list() {
        let user = text(&content, "role") != Some("model");
        let parts = gemini_parts::parts(take(&mut content, "parts"), user.then_some(false));
        let found = talk.draft.messages.iter().rposition(|message| {
            (message.role == Role::Assistant) != user && said(&message.parts) == said(&parts)
        });
        match found {
            Some(at) => kept.push(MessageIdx::new(at)),
            None if user && summary.is_none() => {
                let texts = parts.into_iter().filter_map(|part| match part {
                    Part::Text(text) => Some(text.text),
                    _ => None,
                });
                summary = Some(texts.collect::<Vec<_>>().join("\n"));
            }
            // The model's word that it has read the summary.
            None if !user && kept.is_empty() && strange == 0 => {}
            None => strange += 1,
        }
    }
    let recorded = Recorded {
        kept: kept.into_iter().collect(),
        line,
        summary: summary.filter(|summary| !summary.trim().is_empty()),
        trigger: text(&info, "triggerReason").map(str::to_owned),
        tokens_before: out.told(line, json::tokens(&info, "originalTokenCount")).flatten(),
        tokens_after: out.told(line, json::tokens(&info, "newTokenCount")).flatten(),
        ..Recorded::default()
    };
    let cause = "the compressed history holds messages that stand nowhere before it";
    talk.compacted(recorded, (strange > 0).then_some(cause), out);
}

/// What a message says, to find it again: without what only the log of it has.
fn said(parts: &[Part]) -> Vec<Part> {
    let kept = parts.iter().filter(|part| !matches!(part, Part::Thinking(_) | Part::Opaque { .. }));
    let plain = |part: &Part| match part {
        Part::Result(result) => {
            let mut result = result.clone();
            (result.outcome, result.exit_code) = (Outcome::Unknown, None);
            Part::Result(result)
        }
        other => other.clone(),
    };
    kept.map(plain).collect()
}
