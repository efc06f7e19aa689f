//! Look-ups in JSON values that tolerate any shape: logs come from strangers, and every field may be missing,
//! null or of another type. Numbers given as strings are not guessed at.

use arcstr::ArcStr;

use super::value::{Value, shared};
use crate::transcript::Usage;

/// The string at `key`, if it is one.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// Takes the value at `key` out, leaving null; null when it is missing.
pub(super) fn take(value: &mut Value, key: &str) -> Value {
    value.get_mut(key).map(Value::take).unwrap_or_default()
}

/// Takes the string at `key` out; empty when it is missing or no string.
pub(super) fn take_text(value: &mut Value, key: &str) -> String {
    match take(value, key) {
        Value::String(text) => text.into(),
        _ => String::new(),
    }
}

/// Takes the name at `key` out, shared with those lately read; empty when it is missing or no string.
pub(super) fn take_name(value: &mut Value, key: &str) -> ArcStr {
    match take(value, key) {
        Value::String(name) => shared(&name),
        _ => ArcStr::new(),
    }
}

/// The non-negative whole number at `key`; a float is rounded down.
pub(super) fn number(value: &Value, key: &str) -> Option<u64> {
    let found = value.get(key)?;
    found.as_u64().or_else(|| found.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64))
}

/// Most tokens that a log can sensibly speak of: ten times the largest context window any model has had.
pub(super) const MOST_TOKENS: u64 = 100_000_000;

/// The count of tokens at `key`: `None` when it is missing, null or 0, which logs write where they do not know it. The error says
/// what stands there in place of a count.
pub(super) fn tokens(value: &Value, key: &str) -> Result<Option<u64>, String> {
    match value.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(found) => match number(value, key).filter(|count| *count <= MOST_TOKENS) {
            Some(count) => Ok(Some(count).filter(|count| *count > 0)),
            None => Err(format!("{key} is {}, no count of tokens; taken as not given", brief(found))),
        },
    }
}

/// The counts of tokens at several keys, 0 where one is not given. One that is no count makes all of them worthless.
pub(super) fn counts<const N: usize>(value: &Value, keys: [&str; N]) -> Result<[u64; N], String> {
    let mut found = [0; N];
    for (place, key) in found.iter_mut().zip(keys) {
        *place = tokens(value, key)?.unwrap_or_default();
    }
    Ok(found)
}

/// Usage in the words of Anthropic's API, which counts cached tokens beside the input.
pub(super) fn beside_cache(usage: &Value) -> Result<Usage, String> {
    let [fresh, cache_read, cache_write, output] = counts(
        usage,
        ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"],
    )?;
    let input = fresh.saturating_add(cache_read).saturating_add(cache_write);
    Ok(Usage { input, cache_read, cache_write, output })
}

/// A value as a remark shows it: what kind of thing it is, and all of it where it is short.
pub(super) fn brief(value: &Value) -> String {
    let kind = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => return value.to_string(),
        Value::String(text) if text.chars().count() > 40 => "a text",
        Value::String(text) => return format!("the text {text:?}"),
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    kind.to_owned()
}

/// The time that a value tells, in milliseconds since 1970-01-01 UTC: a date as text, or a number, also as text, of seconds,
/// milliseconds or nanoseconds. Numbers from 0 down are no time: logs write them where they do not know it.
pub(super) fn time(told: &Value) -> Option<i64> {
    match told {
        Value::String(text) => {
            if let Ok(time) = text.parse::<jiff::Timestamp>() {
                return Some(time.as_millisecond());
            }
            if let Ok(number) = text.parse::<f64>() {
                return milliseconds(number);
            }
            // Without a zone, as Python writes it: taken as UTC.
            let local: jiff::civil::DateTime = text.parse().ok()?;
            Some(jiff::tz::Offset::UTC.to_timestamp(local).ok()?.as_millisecond())
        }
        number => milliseconds(number.as_f64()?),
    }
}

/// The time at `key`.
pub(super) fn time_at(value: &Value, key: &str) -> Option<i64> {
    time(value.get(key)?)
}

fn milliseconds(number: f64) -> Option<i64> {
    let milliseconds = match number {
        _ if !number.is_finite() || number <= 0.0 => return None,
        // Seconds up to the year 5138, milliseconds for as long again.
        _ if number < 1e11 => number * 1e3,
        _ if number < 1e14 => number,
        _ => number / 1e6,
    };
    Some(milliseconds as i64)
}

/// True when the value at `key` is the boolean true.
pub(super) fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// The items of an array at `key`; none when it is no array.
pub(super) fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).unwrap_or_default()
}

/// A value as argument text: a string as it is, null as nothing, everything else as JSON.
pub(super) fn argument_text(value: Value) -> String {
    match value {
        Value::String(text) => text.into(),
        Value::Null => String::new(),
        other => {
            let mut text = serde_json::to_string(&other).unwrap_or_default();
            text.shrink_to_fit();
            text
        }
    }
}

/// Bytes of the strings in a value: what a block of unknown shape weighs, near enough, without writing it out.
pub(super) fn weight(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 4,
        Value::String(text) => text.len() as u64 + 2,
        Value::Array(items) => items.iter().map(|item| weight(item) + 1).sum::<u64>() + 2,
        Value::Object(map) => {
            map.iter().map(|(key, item)| key.len() as u64 + 4 + weight(item)).sum::<u64>() + 2
        }
    }
}
