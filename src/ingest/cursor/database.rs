//! The database of the editor: a conversation names its bubbles in order, each of which is a request, a piece of a reply, or a call
//! with its result.
//!
//! Of compactions the conversation keeps the latest, with the last bubble that it covers and the first one that is still sent.

use crate::ingest::value::{Value, shared};
use rusqlite::{Connection, params};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::Severity;
use crate::ingest::blocks;
use crate::ingest::build;
use crate::ingest::database::rows;
use crate::ingest::formats::Format;
use crate::ingest::json::{self, argument_text, counts, items, take, take_text, text, tokens};
use crate::ingest::links::Draft;
use crate::ingest::outcome;
use crate::ingest::shapes::DatabaseShape;
use crate::ingest::sink::Sink;
use crate::transcript::{Message, MessageIdx, Outcome, Part, Role, ToolCall, ToolResult, Usage};

/// `state.vscdb` of the whole editor.
pub(in crate::ingest) static SHAPE: DatabaseShape =
    DatabaseShape { format: Format::Cursor, tables: &["cursorDiskKV.key", "cursorDiskKV.value"], read };

const CONVERSATION: &str = "composerData:";

fn read(connection: &Connection, _: &str, out: &mut Sink) -> rusqlite::Result<()> {
    let mut conversations: FxHashSet<String> = FxHashSet::default();
    let sql = "SELECT key, value FROM cursorDiskKV WHERE key >= ?1 AND key < ?2 ORDER BY rowid";
    for mut row in rows(connection, sql, params![CONVERSATION, "composerData;"], out)? {
        let key = take_text(&mut row, "key");
        let id = key.strip_prefix(CONVERSATION).unwrap_or(&key);
        conversations.insert(id.to_owned());
        let Ok(mut conversation) = serde_json::from_str::<Value>(&take_text(&mut row, "value")) else {
            out.damage(0, "bad-row", format!("the conversation {id} is no JSON; it is lost"));
            continue;
        };
        // Older versions hold the bubbles in the conversation.
        let mut bubbles = take(&mut conversation, "conversation").into_list();
        let headers = items(&conversation, "fullConversationHeadersOnly");
        if bubbles.is_empty() && !headers.is_empty() {
            let prefix = format!("bubbleId:{id}:");
            let end = format!("bubbleId:{id};");
            let sql = "SELECT key, value FROM cursorDiskKV WHERE key >= ?1 AND key < ?2";
            let mut known: FxHashMap<String, Value> = FxHashMap::default();
            for mut row in rows(connection, sql, params![prefix, end], out)? {
                let key = take_text(&mut row, "key");
                if let Ok(bubble) = serde_json::from_str(&take_text(&mut row, "value")) {
                    known.insert(key, bubble);
                }
            }
            let found = |header: &Value| known.remove(&format!("{prefix}{}", text(header, "bubbleId")?));
            bubbles = headers.iter().filter_map(found).collect();
            let lost = headers.len() - bubbles.len();
            if lost > 0 {
                let text =
                    format!("{lost} bubbles of the conversation {id} are not there; their content is lost");
                out.damage(0, "lost-parts", text);
            }
        }
        read_conversation(&conversation, bubbles, id, out);
    }
    let sql = "SELECT substr(key, 10, instr(substr(key, 10), ':') - 1) AS id, count(*) AS bubbles \
               FROM cursorDiskKV WHERE key >= ?1 AND key < ?2 GROUP BY 1 ORDER BY 1";
    for row in rows(connection, sql, params!["bubbleId:", "bubbleId;"], out)? {
        let id = text(&row, "id").unwrap_or_default();
        if !conversations.contains(id) {
            let count = json::number(&row, "bubbles").unwrap_or_default();
            let text = format!(
                "{count} bubbles of the conversation {id}, which is not there; their content is lost"
            );
            out.damage(0, "lost-parts", text);
        }
    }
    Ok(())
}

fn read_conversation(about: &Value, bubbles: Vec<Value>, id: &str, out: &mut Sink) {
    let mut draft = Draft::new(id);
    draft.model = about.get("modelConfig").and_then(|model| text(model, "modelName")).map(str::to_owned);
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    for (line, bubble) in (1u32..).zip(bubbles) {
        out.raw.messages += 1;
        if let Some(bubble) = text(&bubble, "bubbleId") {
            places.insert(bubble.to_owned(), draft.messages.len());
        }
        push_bubble(&mut draft, bubble, line, out);
    }
    compaction(&mut draft, about, &places, out);
    out.finish_draft(draft);
}

/// Records the latest compaction.
fn compaction(draft: &mut Draft, about: &Value, places: &FxHashMap<String, usize>, out: &mut Sink) {
    let Some(latest) = about.get("latestConversationSummary") else { return };
    let inner = latest.get("summary").filter(|summary| summary.is_object()).unwrap_or(latest);
    let Some(summary) = text(inner, "summary").filter(|summary| !summary.trim().is_empty()) else { return };
    out.raw.compactions += 1;
    let end = draft.messages.len();
    let place =
        |key: &str| text(latest, key).or_else(|| text(inner, key)).and_then(|id| places.get(id)).copied();
    let covered = place("truncationLastBubbleIdInclusive").map(|at| at + 1);
    let before = place("lastBubbleId").map(|at| at + 1).or(covered).unwrap_or(end).min(end);
    let line = draft.messages.get(before.saturating_sub(1)).map_or(0, |message| message.line);
    let mut recorded = build::compaction(draft, Some(summary.to_owned()), line);
    recorded.before = MessageIdx::new(before);
    let first = place("clientShouldStartSendingFromInclusiveBubbleId").or(covered);
    recorded.kept = (first.unwrap_or(before)..before).into();
    if first.is_none() {
        out.kept_unknown(&mut recorded, "the bubbles that it names are not in the conversation");
    }
    draft.recorded.push(recorded);
}

fn push_bubble(draft: &mut Draft, mut bubble: Value, line: u32, out: &mut Sink) {
    let time = json::time_at(&bubble, "createdAt");
    if let Some(model) = bubble.get("modelInfo").and_then(|model| text(model, "modelName"))
        && !model.is_empty()
    {
        draft.model = Some(model.to_owned());
    }
    if let Some(status) = bubble.get("contextWindowStatusAtCreation") {
        let window = out.told(line, tokens(status, "tokenLimit")).flatten();
        draft.context_window = window.or(draft.context_window);
    }
    let said = take_text(&mut bubble, "text");
    match bubble.get("type").and_then(Value::as_u64) {
        Some(1) => {
            let mut parts = Vec::new();
            super::push_text(said, Role::User, &mut parts);
            parts.extend(items(&bubble, "images").iter().map(|_| Part::Image { bytes: 0 }));
            draft.messages.push(Message { time, ..build::message(Role::User, parts, line) });
        }
        Some(2) => {
            let mut parts = Vec::new();
            let mut thinking = take(&mut bubble, "thinking");
            parts.push(Part::Thinking(take_text(&mut thinking, "text")));
            parts.push(build::text(said, false));
            let (call, result) = call(take(&mut bubble, "toolFormerData"), line, out);
            parts.extend(call);
            let usage = bubble.get("tokenCount").and_then(|told| out.told(line, usage(told)).flatten());
            reply(draft, parts, usage, time, line);
            if let Some(result) = result {
                draft.messages.push(Message { time, ..build::message(Role::Tool, vec![result], line) });
            }
        }
        _ => out.note(line, "unknown-record", Severity::Note, "a bubble of unknown type, left out"),
    }
}

/// Adds what the model said; pieces of one reply are one message.
fn reply(draft: &mut Draft, parts: Vec<Part>, usage: Option<Usage>, time: Option<i64>, line: u32) {
    let said = |part: &Part| match part {
        Part::Thinking(text) => !text.is_empty(),
        Part::Text(text) => !text.text.is_empty(),
        _ => true,
    };
    let parts = parts.into_iter().filter(said);
    if let Some(last) = draft.messages.last_mut().filter(|last| last.role == Role::Assistant) {
        parts.for_each(|part| last.push(part, line));
        last.usage = usage.map(Box::new).or(last.usage.take());
    } else {
        let message = build::message(Role::Assistant, parts.collect(), line);
        draft.messages.push(Message { usage: usage.map(Box::new), time, ..message });
    }
}

/// A call and its result. Parameters are what the editor made of the arguments that the model wrote.
fn call(mut told: Value, line: u32, out: &mut Sink) -> (Option<Part>, Option<Part>) {
    let name = take_text(&mut told, "name");
    if !told.is_object() || name.is_empty() {
        return (None, None);
    }
    out.raw.tool_calls += 1;
    let id = take_text(&mut told, "toolCallId");
    let written = take(&mut told, "rawArgs");
    let whole = written
        .as_str()
        .is_none_or(|text| serde_json::from_str::<Value>(text).is_ok_and(|it| it.is_object()));
    let arguments = if written.is_null() || !whole { take(&mut told, "params") } else { written };
    let call = ToolCall { id: id.clone(), name: shared(&name), arguments: argument_text(arguments) };
    let status = text(&told, "status").unwrap_or_default();
    let rejected = text(&told, "userDecision") == Some("rejected");
    let answer = ["error", "result"].iter().find_map(|key| told.get(key).filter(|value| !value.is_null()));
    if answer.is_none() && !rejected && !matches!(status, "error" | "cancelled") {
        return (Some(Part::call(call)), None);
    }
    let (text, images) = result_text(answer.cloned().unwrap_or_default());
    let (outcome, exit_code) = if rejected || matches!(status, "error" | "cancelled") {
        (Outcome::Failed, outcome::exit_code(&text))
    } else {
        outcome::judge(&text, if status == "completed" { Outcome::Ok } else { Outcome::Unknown })
    };
    if text.is_empty() && outcome == Outcome::Failed {
        out.note(
            line,
            "call-without-result",
            Severity::Note,
            "a call that was refused or broken off, with no result",
        );
    }
    let result = ToolResult { call_id: id, text, outcome, exit_code, images };
    (Some(Part::call(call)), Some(Part::result(result)))
}

/// The text of a result, which may be JSON written out with the text in a field.
fn result_text(answer: Value) -> (String, u32) {
    let answer = match answer {
        Value::String(text) => match serde_json::from_str::<Value>(&text) {
            Ok(value @ Value::Object(_)) => value,
            _ => Value::String(text),
        },
        other => other,
    };
    let field = ["contents", "output", "result", "error"].iter().find_map(|key| text(&answer, key));
    match field {
        Some(text) => (text.to_owned(), 0),
        None => blocks::result_text(answer),
    }
}

/// Usage of a reply; the input has in it what came from the cache, which is not told apart.
fn usage(told: &Value) -> Result<Option<Usage>, String> {
    let [input, output] = counts(told, ["inputTokens", "outputTokens"])?;
    Ok((input > 0 || output > 0).then_some(Usage { input, cache_read: 0, cache_write: 0, output }))
}
