//! From bytes to JSON records: one record a line, or one document for the whole file.
//!
//! Separate from the readers because damage looks the same in every format: byte order marks, CRLF, NUL runs
//! left by a crash, invalid UTF-8, lone surrogate escapes, two records glued into one line, a torn record in front of
//! a whole one, a last line cut off. What can be repaired is repaired and named; what cannot costs that line only.
//!
//! Once the format is known, top-level fields that its reader does not look at are skipped while parsing: in Claude Code
//! logs they are half of the bytes (the structured copy of every tool result, progress payloads).
//!
//! Invariants: any bytes give an answer; work is linear in the bytes (each repair is tried once per line, recovery of
//! torn records at most [`RECOVERIES`] times per line); records come in file order.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use memchr::{memchr, memmem};
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::detect::{self, Detected};
use super::json;
use super::sink::Sink;
use crate::diagnostic::Severity;

/// Nesting of arrays and objects that is still parsed: more would need too much stack.
const DEPTH: usize = 512;

/// Places of one damaged line at which a whole record is looked for.
const RECOVERIES: usize = 8;

/// The field that says when a record was written, in every format that says it.
const TIME: &str = "timestamp";

impl Record {
    /// When it was written, in milliseconds since 1970-01-01 UTC, where it says.
    pub(super) fn time(&self) -> Option<i64> {
        json::time(self.value.get(TIME)?)
    }
}

/// One JSON value of the file.
#[derive(Debug)]
pub(crate) struct Record {
    /// 1-based line; in a file that is one array, the 1-based position of the element.
    pub(crate) line: u32,
    /// The value.
    pub(crate) value: Value,
}

/// The records of a file and what they seem to be.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) records: Vec<Record>,
    /// The format, where one fits.
    pub(super) detected: Option<Detected>,
    /// Lines of a text, that is a file in which next to none begins like JSON; else 0.
    pub(super) prose: usize,
    /// The whole file, where it is a log in the form of a text.
    pub(super) text: String,
}

/// So many lines of prose for each record make a file a text, whatever a line of it looks like.
const PROSE: usize = 9;

/// Fewer lines of prose than this say nothing of a file.
const LEAST_PROSE: usize = 20;

/// Code and text of the remark on bytes that are no text.
const INVALID: (&str, &str) = ("invalid-utf8", "invalid UTF-8 replaced by U+FFFD");

/// Reads all records.
pub(super) fn parse(bytes: &[u8], out: &mut Sink) -> Parsed {
    let (text, marked) = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => (rest, true),
        None => (bytes, false),
    };
    if marked {
        out.note(1, "byte-order-mark", Severity::Note, "the file starts with a byte order mark; skipped");
    }
    if let Some(parsed) = text_log(text, out) {
        return parsed;
    }
    if let Some(parsed) = one_document(text) {
        return parsed;
    }
    let mut lines =
        Lines { out, records: Vec::new(), sniffer: detect::Sniffer::default(), keep: None, prose: 0 };
    let last = text.trim_ascii_end().len();
    let (mut start, mut number) = (0, 0u32);
    while start < text.len() {
        let end = memchr(b'\n', text.get(start..).unwrap_or_default()).map_or(text.len(), |at| start + at);
        number = number.saturating_add(1);
        let line = text.get(start..end).unwrap_or_default().trim_ascii();
        if !line.is_empty() {
            lines.line(line, number, end >= last);
        }
        start = end + 1;
    }
    let prose = lines.prose;
    // A conversation in Markdown may quote a record of a log.
    let text = LEAST_PROSE.max(PROSE * lines.records.len()) <= prose;
    let detected = lines.sniffer.finish(&lines.records).filter(|_| !text);
    Parsed { records: lines.records, detected, prose: if text { prose } else { 0 }, ..Parsed::default() }
}

/// A file that is a log in the form of a text.
fn text_log(bytes: &[u8], out: &mut Sink) -> Option<Parsed> {
    if bytes.trim_ascii_start().first().is_none_or(|first| b"{[".contains(first)) {
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    let detected = Some(detect::text_log(&text)?);
    if matches!(text, Cow::Owned(_)) {
        out.damage(0, INVALID.0, INVALID.1);
    }
    Some(Parsed { detected, text: text.into_owned(), ..Parsed::default() })
}

/// A file that is one JSON document over several lines, or one array: its elements, or the one value, as records.
fn one_document(text: &[u8]) -> Option<Parsed> {
    let text = text.trim_ascii();
    let first = memchr(b'\n', text).map_or(text, |at| text.get(..at).unwrap_or_default()).trim_ascii();
    let array = first.starts_with(b"[");
    // A first line that is whole in itself means one record a line. `{` and `[` alone open a pretty-printed document.
    if !array && (first.len() == text.len() || !first.starts_with(b"{") || first.ends_with(b"}")) {
        return None;
    }
    let mut records = Vec::new();
    if array {
        let elements: Vec<&RawValue> = serde_json::from_slice(text).ok()?;
        // An array of bare values is no list of messages: leave it to the line reader to complain about.
        if !elements.iter().all(|element| element.get().starts_with('{')) || elements.is_empty() {
            return None;
        }
        for (index, element) in elements.into_iter().enumerate() {
            let value = one_value(element.get(), None).ok()?;
            records.push(Record { line: u32::try_from(index + 1).unwrap_or(u32::MAX), value });
        }
    } else {
        let value = one_value(std::str::from_utf8(text).ok()?, None).ok()?;
        records.push(Record { line: 1, value });
    }
    let mut sniffer = detect::Sniffer::default();
    for record in &records {
        sniffer.look(record);
    }
    let detected = sniffer.finish(&records);
    Some(Parsed { records, detected, ..Parsed::default() })
}

/// The line reader: what it found so far, and the fields to keep.
struct Lines<'a> {
    out: &'a mut Sink,
    records: Vec<Record>,
    sniffer: detect::Sniffer,
    keep: Option<&'static [&'static str]>,
    prose: usize,
}

impl Lines<'_> {
    /// One non-empty line.
    fn line(&mut self, line: &[u8], number: u32, last: bool) {
        if let Ok(text) = std::str::from_utf8(line) {
            self.text(text, number, last);
        } else {
            self.out.damage(number, INVALID.0, INVALID.1);
            self.text(&String::from_utf8_lossy(line), number, last);
        }
    }

    fn text(&mut self, text: &str, number: u32, last: bool) {
        match one_value(text, self.keep) {
            Ok(value) => self.push(value, number),
            Err(error) => self.damaged(text, number, last, &error),
        }
    }

    fn push(&mut self, value: Value, line: u32) {
        let record = Record { line, value };
        self.keep = self.keep.or_else(|| self.sniffer.look(&record));
        self.records.push(record);
    }

    /// A line that is not one JSON value: repair, split, or name it and go on.
    fn damaged(&mut self, text: &str, number: u32, last: bool, error: &serde_json::Error) {
        if text.contains('\0') {
            self.out.damage(number, "nul-bytes", "NUL bytes (left by a crash) removed");
            for piece in text.split('\0').map(str::trim).filter(|piece| !piece.is_empty()) {
                self.text(piece, number, last);
            }
            return;
        }
        let repaired = repair(text);
        let error = if let Cow::Owned(repaired) = &repaired {
            match one_value(repaired, self.keep) {
                Ok(value) => {
                    let what = "lone surrogate escapes or raw control characters replaced";
                    self.out.note(number, "repaired-string", Severity::Note, what);
                    self.push(value, number);
                    return;
                }
                Err(error) => error.to_string(),
            }
        } else {
            error.to_string()
        };
        self.pieces(&repaired, number, last, &error);
    }

    /// Glued records and records behind torn ones.
    fn pieces(&mut self, text: &str, number: u32, last: bool, error: &str) {
        let mut rest = text;
        let mut found = 0u32;
        // Whole values one after the other.
        while !rest.is_empty() {
            let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
            let Some(Ok(value)) = stream.next() else { break };
            let used = stream.byte_offset();
            // A bare number or word in front of junk is no record.
            if !value.is_object() {
                break;
            }
            found += 1;
            self.push(value, number);
            rest = rest.get(used..).unwrap_or_default().trim_start_matches([' ', ',', '\t']);
        }
        if rest.is_empty() {
            let what = format!("{found} records glued into one line; split");
            self.out.note(number, "glued-records", Severity::Note, what);
            return;
        }
        // A torn record, with a whole one behind it.
        let starts = memmem::find_iter(rest.as_bytes(), b"{\"").filter(|at| *at > 0);
        for at in starts.filter(|at| opens_record(rest.get(at + 2..).unwrap_or_default())).take(RECOVERIES) {
            let tail = rest.get(at..).unwrap_or_default();
            if let Ok(value) = one_value(tail, self.keep) {
                self.out.damage(
                    number,
                    "torn-record",
                    "a record cut off in mid-write, with a whole one behind it",
                );
                self.push(value, number);
                return;
            }
        }
        if last && rest.starts_with(['{', '[']) && !rest.ends_with('}') {
            let what = "the last line is cut off; its record is lost (the log may still be being written)";
            self.out.damage(number, "truncated-line", what);
        } else {
            self.prose += usize::from(!rest.starts_with(['{', '[']));
            self.out.damage(number, "bad-json", format!("not a JSON record, skipped: {}", brief(error)));
        }
    }
}

/// True when the text could be the inside of a record's beginning: a first key that logs use.
fn opens_record(text: &str) -> bool {
    const KEYS: [&str; 10] = [
        "type\"",
        "parentUuid\"",
        "timestamp\"",
        "uuid\"",
        "role\"",
        "id\"",
        "messages\"",
        "sessionId\"",
        "isSidechain\"",
        "record\"",
    ];
    KEYS.iter().any(|key| text.starts_with(key))
}

/// The error without the position inside the line, which only tells apart what is the same.
fn brief(error: &str) -> &str {
    error.split(" at line ").next().unwrap_or(error)
}

/// Parses exactly one value, with all its top-level fields or those in `keep`.
fn one_value(text: &str, keep: Option<&[&str]>) -> Result<Value, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let parsed = Lean { keep }.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    match parsed {
        Err(error) if error.to_string().starts_with("recursion limit") && depth(text) <= DEPTH => {
            let mut reader = serde_json::Deserializer::from_str(text);
            reader.disable_recursion_limit();
            Lean { keep }.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value))
        }
        parsed => parsed,
    }
}

/// Deepest nesting of arrays and objects.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut quoted, mut escaped) = (0usize, 0usize, false, false);
    for byte in text.bytes() {
        if escaped {
            escaped = false;
        } else if quoted {
            match byte {
                b'\\' => escaped = true,
                b'"' => quoted = false,
                _ => {}
            }
        } else {
            match byte {
                b'"' => quoted = true,
                b'{' | b'[' => {
                    depth += 1;
                    deepest = deepest.max(depth);
                }
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
    deepest
}

/// Replaces lone surrogate escapes by `\ufffd` and raw control characters by spaces: both are refused by the JSON
/// parser, and both occur in logs. Lengths stay the same.
fn repair(text: &str) -> Cow<'_, str> {
    let mut bytes = Vec::new();
    let mut edit = |at: usize, with: &[u8]| {
        if bytes.is_empty() {
            bytes = text.as_bytes().to_vec();
        }
        if let Some(place) = bytes.get_mut(at..at + with.len()) {
            place.copy_from_slice(with);
        }
    };
    let source = text.as_bytes();
    let mut at = 0;
    while let Some(found) = memchr(b'\\', source.get(at..).unwrap_or_default()) {
        let here = at + found;
        match surrogate(source, here) {
            Some(Half::High) if matches!(surrogate(source, here + 6), Some(Half::Low)) => at = here + 12,
            Some(_) => {
                edit(here, b"\\ufffd");
                at = here + 6;
            }
            None => at = here + 2,
        }
    }
    for (at, byte) in source.iter().enumerate() {
        if *byte < 0x20 {
            edit(at, b" ");
        }
    }
    if bytes.is_empty() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Half of a surrogate pair.
enum Half {
    High,
    Low,
}

/// The surrogate escape that starts at `at`, if there is one.
fn surrogate(source: &[u8], at: usize) -> Option<Half> {
    let escape = source.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

/// Builds a [`Value`] with all its top-level fields or those in `keep`.
struct Lean<'a> {
    keep: Option<&'a [&'a str]>,
}

impl<'de> DeserializeSeed<'de> for Lean<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Lean<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut found = Vec::new();
        while let Some(item) = items.next_element()? {
            found.push(item);
        }
        Ok(Value::Array(found))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut found = Map::with_capacity(self.keep.map_or(0, |_| 12));
        while let Some(key) = fields.next_key::<Cow<'de, str>>()? {
            if self.keep.is_some_and(|keep| key != TIME && !keep.contains(&key.as_ref())) {
                fields.next_value::<IgnoredAny>()?;
            } else {
                let value: Value = fields.next_value()?;
                found.insert(key.into_owned(), value);
            }
        }
        Ok(Value::Object(found))
    }
}
