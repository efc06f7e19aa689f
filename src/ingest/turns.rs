//! Messages, calls and results from the pieces that logs give: what readers of several formats build alike.

use crate::ingest::value::Value;

use super::blocks;
use super::json::{argument_text, text};
use super::outcome;
use crate::transcript::{Message, Outcome, Part, Role, Text, ToolCall, ToolResult};

/// A message of which only these things are known.
pub(super) fn message(role: Role, parts: Vec<Part>, line: u32) -> Message {
    Message { role, parts, line, cwd: None, usage: None, lines: Vec::new(), time: None }
}

/// A message of injected text in the user's place.
pub(super) fn injected(text: String, line: u32) -> Message {
    message(Role::User, vec![Part::Text(Text { text, injected: true })], line)
}

/// Text as it is.
pub(super) fn said(text: impl Into<String>) -> Part {
    Part::Text(Text { text: text.into(), injected: false })
}

/// A call.
pub(super) fn call(id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Part {
    Part::Call(ToolCall { id: id.into(), name: name.into(), arguments: argument_text(arguments) })
}

/// A result; `record` is where flags and an exit status stand, if anywhere.
pub(super) fn answer(call_id: impl Into<String>, content: Value, record: &Value) -> Part {
    let (text, images) = blocks::result_text(content);
    let (outcome, exit_code) =
        outcome::flagged(record).unwrap_or_else(|| outcome::judge(&text, Outcome::Unknown));
    Part::Result(ToolResult { call_id: call_id.into(), text, outcome, exit_code, images })
}

/// The position of an item in its list, as a line.
pub(super) fn line(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1)
}

/// The time at a key, in milliseconds since 1970-01-01 UTC: a text, or a number of seconds, milliseconds or nanoseconds.
pub(super) fn time(value: &Value, key: &str) -> Option<i64> {
    match value.get(key)? {
        Value::String(text) => moment(text),
        number => of_number(number.as_f64()?),
    }
}

fn moment(text: &str) -> Option<i64> {
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Some(time.as_millisecond());
    }
    if let Ok(number) = text.parse::<f64>() {
        return of_number(number);
    }
    // Without a zone, as Python writes it: taken as UTC.
    let local: jiff::civil::DateTime = text.parse().ok()?;
    Some(jiff::tz::Offset::UTC.to_timestamp(local).ok()?.as_millisecond())
}

fn of_number(number: f64) -> Option<i64> {
    let milliseconds = match number {
        _ if !number.is_finite() || number <= 0.0 => return None,
        // Seconds up to the year 5138, milliseconds for as long again.
        _ if number < 1e11 => number * 1e3,
        _ if number < 1e14 => number,
        _ => number / 1e6,
    };
    Some(milliseconds as i64)
}

/// The id of a session: its own at one of these keys, else the file's name, with a number where there are several.
pub(super) fn session_id(value: &Value, keys: &[&str], name: &str, number: usize, several: bool) -> String {
    let own = keys.iter().find_map(|key| text(value, key)).filter(|id| !id.is_empty());
    match own {
        Some(id) => id.to_owned(),
        None if several => format!("{name}#{number}"),
        None => name.to_owned(),
    }
}
