//! Changes to a log: of its bytes, of its lines, and of the JSON values in it.
//!
//! Every change is made from one number, so that a list of numbers is a case that can be repeated and made shorter.

use std::mem::swap;

use serde_json::{Map, Value, json};

use crate::chance::Chance;

/// What changes are made with: values and lines of other logs.
#[derive(Debug, Default)]
pub(crate) struct Stock {
    /// Lines of every format.
    pub(crate) lines: Vec<Vec<u8>>,
    /// Values found in fields that say what something is, such as `type` and `role`.
    pub(crate) kinds: Vec<String>,
    /// Names of fields.
    pub(crate) names: Vec<String>,
}

/// Fields that say what something is.
const KINDS: [&str; 12] = [
    "type", "role", "kind", "subtype", "status", "source", "event", "action", "say", "ask", "from", "method",
];

/// Bytes that logs break on.
const PIECES: [&[u8]; 24] = [
    b"\0",
    b"\0\0\0\0",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\"",
    b"\\",
    b"\n",
    b"\r\n",
    b"\n\n",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\\ud83d",
    b"\xef\xbb\xbf",
    b"NaN",
    b"-",
    b"null",
    b"{\"type\":\"user\"}",
    b"\x1b[0m",
    b"#### ",
];

impl Stock {
    /// Takes note of a log.
    pub(crate) fn add(&mut self, log: &[u8]) {
        for line in log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && line.len() < 4000) {
            if let Ok(value) = serde_json::from_slice::<Value>(line) {
                self.learn(&value);
            }
            self.lines.push(line.to_vec());
        }
        if let Ok(value) = serde_json::from_slice::<Value>(log) {
            self.learn(&value);
        }
    }

    /// Orders what it knows, each once.
    pub(crate) fn settle(&mut self) {
        self.kinds.sort_unstable();
        self.kinds.dedup();
        self.names.sort_unstable();
        self.names.dedup();
    }

    fn learn(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.learn(item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    if name.len() < 40 {
                        self.names.push(name.clone());
                    }
                    if let Some(text) =
                        value.as_str().filter(|text| KINDS.contains(&name.as_str()) && text.len() < 40)
                    {
                        self.kinds.push(text.to_owned());
                    }
                    self.learn(value);
                }
            }
            _ => {}
        }
    }
}

/// Makes one change.
pub(crate) fn change(log: &mut Vec<u8>, step: u64, stock: &Stock) {
    let mut chance = Chance::new(step);
    match chance.below(10) {
        0 => bytes(log, &mut chance),
        1 | 2 => lines(log, &mut chance, stock),
        _ => values(log, &mut chance, stock),
    }
}

/// Changes bytes wherever they are.
pub(crate) fn bytes(log: &mut Vec<u8>, chance: &mut Chance) {
    let at = chance.below(log.len() + 1);
    let end = (at + 1 + chance.below(40)).min(log.len());
    match chance.below(7) {
        0 => {
            if let Some(byte) = log.get_mut(at) {
                *byte ^= 1 << chance.below(8);
            }
        }
        1 => {
            log.drain(at.min(end)..end);
        }
        2 => log.truncate(at),
        3 => {
            let copy = log.get(at..end).unwrap_or_default().to_vec();
            log.splice(at..at, copy);
        }
        4 => {
            let byte = u8::try_from(chance.below(256)).unwrap_or_default();
            if let Some(place) = log.get_mut(at) {
                *place = byte;
            }
        }
        5 => {
            log.drain(..at.min(40));
        }
        _ => {
            let piece = chance.pick(&PIECES).copied().unwrap_or_default();
            log.splice(at..at, piece.iter().copied());
        }
    }
}

/// Changes the order of lines and what is between them.
fn lines(log: &mut Vec<u8>, chance: &mut Chance, stock: &Stock) {
    let mut all: Vec<Vec<u8>> = log.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (one, other) = (chance.below(all.len()), chance.below(all.len()));
    match chance.below(8) {
        0 => all.swap(one, other),
        1 => {
            all.remove(one);
        }
        2 => {
            let copy = all.get(one).cloned().unwrap_or_default();
            all.insert(other, copy);
        }
        3 => {
            let next = if one + 1 < all.len() { all.remove(one + 1) } else { Vec::new() };
            if let Some(line) = all.get_mut(one) {
                line.extend(next);
            }
        }
        4 => {
            let foreign = chance.pick(&stock.lines).cloned().unwrap_or_default();
            all.insert(other, foreign);
        }
        5 => {
            if let Some(line) = all.get_mut(one) {
                line.truncate(chance.below(line.len() + 1));
            }
        }
        6 => {
            let moved = all.remove(one);
            all.insert(other.min(all.len()), moved);
        }
        _ => {
            let copies = 1 + chance.below(30);
            let copy = all.get(one).cloned().unwrap_or_default();
            all.splice(one..one, std::iter::repeat_n(copy, copies));
        }
    }
    *log = all.join(&b'\n');
}

/// Changes a value of one record, or of the one document.
fn values(log: &mut Vec<u8>, chance: &mut Chance, stock: &Stock) {
    if let Ok(mut value) = serde_json::from_slice::<Value>(log) {
        let spare = value.clone();
        one_value(&mut value, &spare, chance, stock);
        *log = if chance.once_in(3) {
            serde_json::to_vec_pretty(&value).unwrap_or_default()
        } else {
            serde_json::to_vec(&value).unwrap_or_default()
        };
        return;
    }
    let mut all: Vec<Vec<u8>> = log.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (one, other) = (chance.below(all.len()), chance.below(all.len()));
    let parsed = |at: usize| all.get(at).and_then(|line| serde_json::from_slice::<Value>(line).ok());
    let Some(mut value) = parsed(one) else { return bytes(log, chance) };
    let spare = parsed(other).unwrap_or(Value::Null);
    one_value(&mut value, &spare, chance, stock);
    if let Some(line) = all.get_mut(one) {
        *line = serde_json::to_vec(&value).unwrap_or_default();
    }
    *log = all.join(&b'\n');
}

/// Changes something in a value; `spare` is one to take parts from.
pub(crate) fn one_value(value: &mut Value, spare: &Value, chance: &mut Chance, stock: &Stock) {
    let what = chance.below(12);
    if what < 3 {
        // What something is, and which ids it has.
        let mut places = Vec::new();
        named(value, "", &mut places, if what == 0 { is_kind } else { is_id });
        let Some(path) = chance.pick(&places).cloned() else { return };
        let mut others = Vec::new();
        named(spare, "", &mut others, is_id);
        let taken = match what {
            0 => chance.pick(&stock.kinds).map(|kind| json!(kind)),
            _ => chance.pick(&others).and_then(|path| spare.pointer(path).cloned()),
        };
        if let (Some(place), Some(taken)) = (value.pointer_mut(&path), taken) {
            *place = taken;
        }
        return;
    }
    let mut count = count(value);
    let place = chance.below(count);
    let Some(node) = nth(value, &mut { place }) else { return };
    match what {
        3 | 4 => *node = odd(chance),
        5 | 6 => fields(node, chance, stock),
        7 => {
            count = self::count(spare);
            let place = chance.below(count);
            if let Some(part) = nth(&mut spare.clone(), &mut { place }) {
                *node = part.clone();
            }
        }
        8 => match node {
            Value::Array(items) if !items.is_empty() => {
                let (one, other) = (chance.below(items.len()), chance.below(items.len()));
                match chance.below(3) {
                    0 => items.swap(one, other),
                    1 => {
                        items.remove(one);
                    }
                    _ => {
                        let copy = items.get(one).cloned().unwrap_or_default();
                        items.insert(other, copy);
                    }
                }
            }
            Value::String(text) => {
                let piece = chance.pick(&TEXTS).copied().unwrap_or_default();
                if chance.once_in(2) { text.push_str(piece) } else { *text = format!("{piece}{text}") }
            }
            Value::Number(number) => *node = json!(number.as_i64().unwrap_or(0).wrapping_add(1)),
            _ => fields(node, chance, stock),
        },
        9 => {
            let levels = if chance.once_in(8) { 150 } else { 1 + chance.below(3) };
            for _ in 0..levels {
                let inner = std::mem::take(node);
                *node = if chance.once_in(2) { json!([inner]) } else { json!({"content": inner}) };
            }
        }
        10 => {
            if let Value::Object(fields) = node {
                let mut list: Vec<(String, Value)> = std::mem::take(fields).into_iter().collect();
                let turn = chance.below(list.len());
                list.rotate_left(turn);
                fields.extend(list);
            } else {
                *node = odd(chance);
            }
        }
        _ => {
            // A JSON text in place of a value, and the other way round.
            let other = match &*node {
                Value::String(text) => {
                    serde_json::from_str(text).unwrap_or_else(|_| json!([{"type": "text", "text": text}]))
                }
                other => json!(other.to_string()),
            };
            *node = other;
        }
    }
}

/// Texts that mean something to a reader.
const TEXTS: [&str; 16] = [
    "",
    "\0",
    "\u{feff}",
    "<system-reminder>x</system-reminder>",
    "<environment_context>",
    "<command-name>/clear</command-name>",
    "[Request interrupted by user]",
    "\n\n```\nx\n```",
    "<tool_call>{\"name\":\"x\"}</tool_call>",
    "exit code: 1\n",
    "Error: ",
    "aborted",
    "data:image/png;base64,AAAA",
    "2026-01-02T03:04:05Z",
    "<environment_details>",
    "9223372036854775808",
];

/// A value where another kind is expected.
fn odd(chance: &mut Chance) -> Value {
    match chance.below(14) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1),
        3 => json!(1e300),
        4 => json!(u64::MAX),
        5 => json!(""),
        6 => json!([]),
        7 => json!({}),
        8 => json!([null, [], {}, "x", 1]),
        9 => json!({"type": "text", "text": "x"}),
        10 => json!([{"type": "text", "text": ""}]),
        11 => json!("x".repeat(chance.below(3000))),
        12 => json!(i64::MIN),
        _ => json!(chance.pick(&TEXTS).copied().unwrap_or_default()),
    }
}

/// Takes out, doubles, renames or swaps fields of an object.
fn fields(node: &mut Value, chance: &mut Chance, stock: &Stock) {
    let Value::Object(fields) = node else {
        *node = odd(chance);
        return;
    };
    let names: Vec<String> = fields.keys().cloned().collect();
    let (Some(one), Some(other)) = (chance.pick(&names).cloned(), chance.pick(&names).cloned()) else {
        return;
    };
    match chance.below(5) {
        0 | 1 => {
            fields.shift_remove(&one);
        }
        2 => {
            let value = fields.get(&one).cloned().unwrap_or_default();
            let name = chance.pick(&stock.names).cloned().unwrap_or_default();
            fields.insert(name, value);
        }
        3 => {
            let renamed = chance.pick(&stock.names).cloned().unwrap_or_default();
            let old: Map<String, Value> = std::mem::take(fields);
            let name = |name: String| if name == one { renamed.clone() } else { name };
            fields.extend(old.into_iter().map(|(key, value)| (name(key), value)));
        }
        _ => {
            let mut taken = fields.get(&one).cloned().unwrap_or_default();
            if let Some(place) = fields.get_mut(&other) {
                swap(place, &mut taken);
            }
            fields.insert(one, taken);
        }
    }
}

fn is_kind(name: &str) -> bool {
    KINDS.contains(&name)
}

fn is_id(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with("id") || name.ends_with("parent") || name == "cwd"
}

/// Paths of the plain values in fields whose names are wanted.
fn named(value: &Value, path: &str, found: &mut Vec<String>, wanted: fn(&str) -> bool) {
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                named(item, &format!("{path}/{at}"), found, wanted);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
                if wanted(name) && !value.is_object() && !value.is_array() {
                    found.push(path.clone());
                }
                named(value, &path, found, wanted);
            }
        }
        _ => {}
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// The value at a position, counted from the outermost on.
fn nth<'a>(value: &'a mut Value, place: &mut usize) -> Option<&'a mut Value> {
    if *place == 0 {
        return Some(value);
    }
    *place -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, place)),
        Value::Object(fields) => fields.values_mut().find_map(|value| nth(value, place)),
        _ => None,
    }
}
