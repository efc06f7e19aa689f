//! Claude Code: the boundary, tied to the record before it by `logicalParentUuid`, and the user record of the summary. The
//! boundary names the records of the tail twice, as the newest versions do: by its ends, and one by one.

use super::{Addition, Log, OTHER_FORM, refused, text};
use crate::export::Unchanged;
use serde_json::{Map, Value, json};

/// Fields that every record of a session carries.
const COMMON: [&str; 8] =
    ["isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch", "slug", "entrypoint"];

/// The records, and the summary in them.
pub(super) fn records(log: &Log<'_>, addition: &Addition<'_>) -> Result<(String, String), Unchanged> {
    let id = addition.transcript.id.as_str();
    let leaf = log.backwards().find(|record| is_content(record) && text(record, "sessionId") == id);
    let leaf = leaf.ok_or_else(|| {
        refused("no record of the session has an id that a compaction could name", OTHER_FORM)
    })?;
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
