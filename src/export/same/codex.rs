//! Codex: a `compacted` record whose replacement history is the whole new context, in its order: system messages, the summary
//! in the user's place, the newest request, and the items of the tail as they stand in the log, with what is encrypted in
//! them. The record for the screen follows it, as Codex writes them.

use super::{Addition, Log, OTHER_FORM, refused, text};
use crate::context::Entry;
use crate::export::Unchanged;
use crate::transcript::{Message, Part, Role};
use serde_json::{Map, Value, json};

/// The records, and the summary in them.
pub(super) fn records(log: &Log<'_>, addition: &Addition<'_>) -> Result<(String, String), Unchanged> {
    let last = log.backwards().find(|record| record.get("payload").is_some()).ok_or_else(|| {
        refused(
            "a rollout of the time before Codex recorded compactions: nothing can stand behind it",
            OTHER_FORM,
        )
    })?;
    let summary = addition.summary();
    let mut history = Vec::new();
    let mut told = false;
    for entry in &addition.compacted.context.entries {
        match entry {
            // The model has all texts as one, as the record does.
            Entry::Summary { .. } if told => {}
            Entry::Summary { .. } => {
                told = true;
                history.push(message(Role::User, &summary));
            }
            Entry::Clipped { message: at, text } => {
                let role = addition.transcript.messages.get(at.get()).map_or(Role::User, |it| it.role);
                history.push(message(role, text));
            }
            Entry::Kept(at) => {
                if let Some(kept) = addition.transcript.messages.get(at.get()) {
                    history.extend(items(log, kept));
                }
            }
        }
    }
    let mut payload = Map::new();
    payload.insert("message".to_owned(), summary.as_str().into());
    payload.insert("replacement_history".to_owned(), history.into());
    windows(log, &mut payload);
    let timestamp = text(&last, "timestamp");
    let lines = [
        json!({"timestamp": timestamp, "type": "compacted", "payload": payload}),
        json!({"timestamp": timestamp, "type": "event_msg", "payload": {"type": "context_compacted"}}),
    ];
    let [compaction, screen] = lines;
    Ok((summary, format!("{compaction}\n{screen}\n")))
}

/// The response items of a message, as logged; made of its text where the log has it as an event only. The instructions in
/// the header of a session go with every request and are no item.
fn items(log: &Log<'_>, kept: &Message) -> Vec<Value> {
    let mut items = Vec::new();
    for mut record in log.records_of(kept) {
        match text(&record, "type") {
            "response_item" => items.extend(record.get_mut("payload").map(Value::take)),
            "event_msg" => items.extend(kept.parts.iter().filter_map(|part| match part {
                Part::Text(text) => Some(message(kept.role, &text.text)),
                _ => None,
            })),
            _ => {}
        }
    }
    items
}

fn message(role: Role, text: &str) -> Value {
    let (role, kind) = match role {
        Role::Assistant => ("assistant", "output_text"),
        Role::System => ("developer", "input_text"),
        Role::User | Role::Tool => ("user", "input_text"),
    };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

/// The chain of windows, where an earlier compaction of the log began one.
fn windows(log: &Log<'_>, payload: &mut Map<String, Value>) {
    let Some(mut before) = log.backwards().find(|record| text(record, "type") == "compacted") else { return };
    let Some(before) = before.get_mut("payload") else { return };
    let Some(number) = before.get("window_number").and_then(Value::as_u64) else { return };
    payload.insert("window_number".to_owned(), (number + 1).into());
    for (key, from) in [("first_window_id", "first_window_id"), ("previous_window_id", "window_id")] {
        payload.extend(before.get(from).map(|id| (key.to_owned(), id.clone())));
    }
    payload.insert("window_id".to_owned(), log.uuid("window").into());
}
