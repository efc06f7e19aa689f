//! Building blocks of the readers whose logs hold messages in shapes of their own.

use std::sync::Arc;

use crate::ingest::value::Value;

use super::json;
use super::links::Draft;
use crate::transcript::{Message, MessageIdx, Part, Recorded, Role, Text};

/// A message of which only this much is known yet.
pub(super) fn message(role: Role, parts: Vec<Part>, line: u32) -> Message {
    Message { role, parts, line, cwd: None, usage: None, lines: Vec::new(), time: None }
}

/// Text that its speaker wrote, or that the harness wrote in the speaker's place.
pub(super) fn text(text: impl Into<String>, injected: bool) -> Part {
    Part::Text(Text { text: text.into(), injected })
}

/// The moment at `key` in milliseconds since 1970-01-01 UTC: whole seconds, milliseconds, or a date as text.
pub(super) fn time(value: &Value, key: &str) -> Option<i64> {
    match value.get(key)? {
        Value::String(text) => Some(text.parse::<jiff::Timestamp>().ok()?.as_millisecond()),
        // Seconds up to the year 5138, else milliseconds.
        number => {
            let told = number.as_i64().or_else(|| Some(number.as_f64()? as i64))?;
            (told > 0).then(|| if told < 100_000_000_000 { told.saturating_mul(1_000) } else { told })
        }
    }
}

/// The directory at `key`, shared between messages.
pub(super) fn directory(value: &Value, key: &str) -> Option<Arc<str>> {
    json::text(value, key).filter(|path| !path.is_empty()).map(Arc::from)
}

/// True when nobody has spoken yet: a summary found here is what the log begins with.
pub(super) fn is_beginning(draft: &Draft) -> bool {
    let said = |message: &Message| message.role == Role::Assistant || message.is_user_request();
    !draft.starts_compacted && draft.recorded.is_empty() && !draft.messages.iter().any(said)
}

/// Makes a summary the first message of the log; what it summarises is not in it.
pub(super) fn begin_compacted(draft: &mut Draft, summary: Option<String>, line: u32) {
    draft.starts_compacted = true;
    let part = match summary.filter(|summary| !summary.is_empty()) {
        Some(summary) => text(summary, true),
        None => Part::Opaque { kind: "compaction".to_owned(), bytes: 0 },
    };
    draft.messages.insert(0, message(Role::User, vec![part], line));
}

/// A compaction behind the last message so far.
pub(super) fn compaction(draft: &Draft, summary: Option<String>, line: u32) -> Recorded {
    let summary = summary.filter(|summary| !summary.trim().is_empty());
    Recorded { line, summary, ..Recorded::at(MessageIdx::new(draft.messages.len())) }
}
