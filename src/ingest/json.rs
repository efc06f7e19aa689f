//! Look-ups in JSON values that tolerate any shape: logs come from strangers, and every field may be missing,
//! null or of another type. Numbers given as strings are not guessed at.

use serde_json::Value;

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
        Value::String(text) => text,
        _ => String::new(),
    }
}

/// The non-negative whole number at `key`; a float is rounded down.
pub(super) fn number(value: &Value, key: &str) -> Option<u64> {
    let found = value.get(key)?;
    found.as_u64().or_else(|| found.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64))
}

/// True when the value at `key` is the boolean true.
pub(super) fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// The items of an array at `key`; none when it is no array.
pub(super) fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A value as argument text: a string as it is, null as nothing, everything else as JSON.
pub(super) fn argument_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
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
