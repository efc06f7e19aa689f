//! Claude Code: the boundary, tied to the record before it by `logicalParentUuid`, and the user record of the summary. The
//! boundary names the records of the tail twice, as the newest versions do: by its ends, and one by one.

use super::{Addition, Log, OTHER_FORM, refused, text};
use crate::export::Unchanged;
use crate::transcript::{Message, Role};
use serde_json::{Map, Value, json};

/// Fields that every record of a session carries.
const COMMON: [&str; 8] =
    ["isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch", "slug", "entrypoint"];

/// The records, and the summary in them.
pub(super) fn records(log: &Log<'_>, addition: &Addition<'_>) -> Result<(String, String), Unchanged> {
    let id = addition.transcript.id.as_str();
    let worked = |message: &Message| message.role == Role::Assistant || message.is_user_request();
    if !addition.transcript.messages.iter().any(worked) {
        let cause =
            "the session holds no request and no reply: a compaction behind it would read as its beginning";
        return Err(refused(cause, OTHER_FORM));
    }
    let leaf = log.backwards().find(|record| is_content(record) && text(record, "sessionId") == id);
    let leaf = leaf.ok_or_else(|| {
        refused("no record of the session has an id that a compaction could name", OTHER_FORM)
    })?;
    let leaf = end_of_chain(log, addition, leaf);
    let mut kept: Vec<String> = Vec::new();
    for record in addition.tail().flat_map(|message| log.records_of(message)) {
        let uuid = text(&record, "uuid").to_owned();
        if !uuid.is_empty() && !kept.contains(&uuid) {
            kept.push(uuid);
        }
    }
    let (Some(head), Some(tail)) = (kept.first().cloned(), kept.last().cloned()) else {
        return Err(refused("the records that stay have no ids", OTHER_FORM));
    };
    let (boundary, anchor) = (log.uuid(&format!("{id} boundary")), log.uuid(&format!("{id} summary")));
    let common = |parent: Value| {
        let mut record = Map::from_iter([("parentUuid".to_owned(), parent)]);
        for key in COMMON {
            record.extend(leaf.get(key).map(|value| (key.to_owned(), value.clone())));
        }
        record
    };
    let mut first = common(Value::Null);
    first.insert("logicalParentUuid".to_owned(), text(&leaf, "uuid").into());
    let summary = addition.summary_and_request();
    let metadata = json!({
        "trigger": "manual",
        "preTokens": addition.tokens_before(),
        "postTokens": addition.tokens_after(),
        "preservedSegment": {"headUuid": head, "anchorUuid": anchor, "tailUuid": tail},
        "preservedMessages": {"anchorUuid": anchor, "uuids": kept, "allUuids": kept},
    });
    let timestamp = leaf.get("timestamp").cloned();
    add(
        &mut first,
        [
            ("type", Some("system".into())),
            ("subtype", Some("compact_boundary".into())),
            ("content", Some("Conversation compacted".into())),
            ("isMeta", Some(false.into())),
            ("timestamp", timestamp.clone()),
            ("uuid", Some(boundary.as_str().into())),
            ("level", Some("info".into())),
            ("compactMetadata", Some(metadata)),
        ],
    );
    let mut second = common(boundary.into());
    add(
        &mut second,
        [
            ("type", Some("user".into())),
            ("message", Some(json!({"role": "user", "content": summary}))),
            ("isVisibleInTranscriptOnly", Some(true.into())),
            ("isCompactSummary", Some(true.into())),
            ("uuid", Some(anchor.into())),
            ("timestamp", timestamp),
        ],
    );
    Ok((summary, format!("{}\n{}\n", Value::Object(first), Value::Object(second))))
}

/// The record with which the conversation ends: the last one of the log, save where what follows it was written before it.
fn end_of_chain(log: &Log<'_>, addition: &Addition<'_>, last: Value) -> Value {
    if !["user", "assistant"].contains(&text(&last, "type")) {
        return last;
    }
    let mut behind = Vec::new();
    for message in addition.transcript.messages.iter().rev() {
        let records = log.records_of(message);
        if records.iter().any(|record| text(record, "uuid") == text(&last, "uuid")) {
            break;
        }
        behind.push(records);
    }
    let mut end = last;
    for record in behind.into_iter().rev().flatten() {
        if text(&record, "parentUuid") == text(&end, "uuid") && is_content(&record) {
            end = record;
        }
    }
    end
}

fn add<const N: usize>(record: &mut Map<String, Value>, fields: [(&str, Option<Value>); N]) {
    record.extend(fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
}

/// True for a record that can be the end of a conversation.
fn is_content(record: &Value) -> bool {
    let kind = match text(record, "type") {
        "user" | "assistant" => record.get("message").is_some_and(Value::is_object),
        "attachment" => true,
        "system" => text(record, "subtype") == "compact_boundary",
        _ => false,
    };
    kind && !text(record, "uuid").is_empty() && record.get("isSidechain") != Some(&Value::Bool(true))
}
