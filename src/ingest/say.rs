//! Small things that several readers need of a message.

use crate::ingest::value::Value;

use super::json::{argument_text, take, take_text, text};
use super::links::Draft;
use crate::transcript::{Message, Part, Role, Text};

/// A message of these parts at a line, of which nothing else is known.
pub(super) fn message(role: Role, parts: Vec<Part>, line: u32) -> Message {
    Message { role, parts, line, lines: Vec::new(), cwd: None, usage: None, time: None }
}

/// A text that the harness wrote.
pub(super) fn injected(text: impl Into<String>) -> Part {
    Part::Text(Text { text: text.into(), injected: true })
}

/// A text of the one whose message it is in.
pub(super) fn said(text: impl Into<String>) -> Part {
    Part::Text(Text { text: text.into(), injected: false })
}

/// A moment in milliseconds since 1970-01-01 UTC: from a text, or from a number of seconds or milliseconds.
pub(super) fn moment(value: &Value) -> Option<i64> {
    if let Some(text) = value.as_str() {
        return Some(text.parse::<jiff::Timestamp>().ok()?.as_millisecond());
    }
    // Seconds up to the year 5138, else milliseconds.
    let told = value.as_f64().filter(|told| *told > 0.0 && *told < 1e15)?;
    Some(if told < 1e11 { (told * 1_000.0) as i64 } else { told as i64 })
}

/// Remembers the model that a reply names.
pub(super) fn by_model(draft: &mut Draft, model: Option<&str>) {
    if let Some(model) = model.filter(|model| !model.is_empty()) {
        draft.model = Some(model.to_owned());
    }
}

/// The first of these fields that holds something, as text; empty when none does.
pub(super) fn first_text(value: &mut Value, keys: &[&str]) -> String {
    let held = keys.iter().find(|key| text(value, key).is_some_and(|text| !text.is_empty()));
    if let Some(key) = held {
        return take_text(value, key);
    }
    let other = keys.iter().map(|key| take(value, key)).find(|value| value.is_object() || value.is_array());
    other.map(argument_text).unwrap_or_default()
}

/// A position in a list, as a line: counted from 1.
pub(super) fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1)
}
