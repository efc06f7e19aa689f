//! The arguments of a call, as any log may hold them: a JSON object, a JSON string that holds one, or plain text.
//!
//! Values stay raw until somebody asks for one, because the largest arguments (file contents, patches) are the ones
//! that need not be decoded to know which file they are for.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use smallvec::SmallVec;

/// Arguments of one call.
pub(super) enum Arguments<'a> {
    /// A JSON object: its members in order.
    Object(Fields<'a>),
    /// A JSON array (argv without an object around it).
    Array(&'a str),
    /// Anything else: the text of a freeform tool.
    Text(&'a str),
}

/// Members of a JSON object, values not yet decoded.
#[derive(Default)]
pub(super) struct Fields<'a>(SmallVec<[(Cow<'a, str>, &'a RawValue); 4]>);

/// Arguments as logged, unwrapped from strings that hold JSON.
pub(super) struct Logged<'a> {
    text: Cow<'a, str>,
    mended: OnceCell<String>,
}

impl<'a> Logged<'a> {
    pub(super) fn new(arguments: &'a str) -> Self {
        let mut text = Cow::Borrowed(arguments.trim());
        for _ in 0..2 {
            if !text.starts_with('"') {
                break;
            }
            match string(&text) {
                Some(inner) => text = Cow::Owned(inner.trim().to_owned()),
                None => break,
            }
        }
        Self { text, mended: OnceCell::new() }
    }

    /// `None` when it is the beginning of a JSON object that never ends. Mends escapes that stand for half a
    /// character (cut by whoever truncated the text), which would otherwise make the whole object unreadable.
    pub(super) fn read(&self) -> Option<Arguments<'_>> {
        Arguments::read(&self.text).or_else(|| {
            let may_have_halves = ["\\ud", "\\uD"].iter().any(|escape| self.text.contains(escape));
            let mended =
                may_have_halves.then(|| self.mended.get_or_init(|| without_half_characters(&self.text)));
            Arguments::read(mended?)
        })
    }
}

impl<'a> Arguments<'a> {
    fn read(text: &'a str) -> Option<Self> {
        match text.as_bytes().first() {
            Some(b'{') => serde_json::from_str(text).ok().map(Self::Object),
            Some(b'[') if serde_json::from_str::<&RawValue>(text).is_ok() => Some(Self::Array(text)),
            _ => Some(Self::Text(text)),
        }
    }
}

/// Levels of objects and lists in which a field that comes twice is looked for: each is read once for every level above it.
const LEVELS: u8 = 100;

/// True when a field comes twice in one object of arguments given as the text of one.
pub fn has_field_twice(arguments: &str) -> bool {
    let arguments = arguments.trim();
    arguments.starts_with('{') && is_field_twice(arguments, LEVELS)
}

/// The same of any JSON; texts and numbers in it are passed over undecoded.
fn is_field_twice(json: &str, levels: u8) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return false };
    match json.as_bytes().first() {
        Some(b'{') => serde_json::from_str::<Fields<'_>>(json).is_ok_and(|Fields(members)| {
            let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_ref()).collect();
            names.sort_unstable();
            names.array_windows().any(|[one, next]| one == next)
                || members.iter().any(|(_, value)| is_field_twice(value.get(), levels))
        }),
        Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(json)
            .is_ok_and(|items| items.into_iter().any(|item| is_field_twice(item.get(), levels))),
        _ => false,
    }
}

impl<'a> Fields<'a> {
    /// The raw JSON of a member; the last one when it is given twice, as in JavaScript.
    pub(super) fn raw(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.get())
    }

    /// The first of these members that there is, as raw JSON; `null` counts as absent.
    pub(super) fn first(&self, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| self.raw(name).filter(|raw| *raw != "null"))
    }

    /// The first of these members that is a string, decoded.
    pub(super) fn text(&self, names: &[&str]) -> Option<Cow<'a, str>> {
        names.iter().find_map(|name| string(self.raw(name)?))
    }

    /// The first of these members that there is, decoded whole.
    pub(super) fn value(&self, names: &[&str]) -> Option<Value> {
        value(self.first(names)?)
    }

    /// Whether there is no member but these.
    pub(super) fn only(&self, names: &[&str]) -> bool {
        self.0.iter().all(|(key, _)| names.contains(&key.as_ref()))
    }

    /// Whether a member is `true`.
    pub(super) fn is_true(&self, name: &str) -> bool {
        self.raw(name) == Some("true")
    }
}

/// Decodes a JSON string, mending escapes that stand for half a character.
pub(super) fn string(raw: &str) -> Option<Cow<'_, str>> {
    if !raw.starts_with('"') {
        return None;
    }
    decoded(raw).or_else(|| serde_json::from_str(&without_half_characters(raw)).ok().map(Cow::Owned))
}

/// Decodes a JSON string.
pub fn decoded(raw: &str) -> Option<Cow<'_, str>> {
    simply_decoded(raw).or_else(|| serde_json::from_str(raw).ok().map(Cow::Owned))
}

/// Decodes a JSON string in which no character is given by its number, at the cost of one text or none.
fn simply_decoded(raw: &str) -> Option<Cow<'_, str>> {
    let mut rest = raw.strip_prefix('"')?.strip_suffix('"')?;
    // All bytes are looked at, which goes faster than to stop at the first.
    if rest.bytes().fold(u8::MAX, u8::min) < b' ' {
        return None;
    }
    let mut text = String::new();
    while let Some(at) = memchr::memchr2(b'\\', b'"', rest.as_bytes()) {
        let (before, escape) = rest.split_at_checked(at)?;
        let escaped = match escape.as_bytes() {
            [b'\\', b'n', ..] => '\n',
            [b'\\', b't', ..] => '\t',
            [b'\\', b'r', ..] => '\r',
            [b'\\', b'b', ..] => '\u{8}',
            [b'\\', b'f', ..] => '\u{c}',
            [b'\\', b'"', ..] => '"',
            [b'\\', b'\\', ..] => '\\',
            [b'\\', b'/', ..] => '/',
            _ => return None,
        };
        if text.capacity() == 0 {
            text.reserve(rest.len());
        }
        text.push_str(before);
        text.push(escaped);
        rest = escape.get(2..)?;
    }
    if text.is_empty() {
        return Some(Cow::Borrowed(rest));
    }
    text.push_str(rest);
    Some(Cow::Owned(text))
}

/// Decodes any JSON value.
pub(super) fn value(raw: &str) -> Option<Value> {
    if raw.starts_with('"') {
        return string(raw).map(|text| Value::String(text.into_owned()));
    }
    serde_json::from_str(raw).or_else(|_| serde_json::from_str(&without_half_characters(raw))).ok()
}

/// Replaces `\ud800`-style escapes that are not a pair by the replacement character.
fn without_half_characters(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        let taken = match code_unit(escape) {
            Some(0xD800..=0xDBFF) => match escape.get(6..).and_then(code_unit) {
                Some(0xDC00..=0xDFFF) => 12,
                _ => 6,
            },
            Some(0xDC00..=0xDFFF) => 6,
            _ => 2,
        };
        let lone = taken == 6;
        let (escape, after) = escape.split_at_checked(taken).unwrap_or((escape, ""));
        out.push_str(if lone { "\\ufffd" } else { escape });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The value of a `\uXXXX` escape at the start of the text.
fn code_unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = SmallVec::new();
        while let Some(Key(key)) = map.next_key()? {
            fields.push((key, map.next_value()?));
        }
        Ok(Fields(fields))
    }
}

/// A key, borrowed where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn strings_are_decoded_like_any_json(
            inner in r#"(a|é|"|\\|\\\\|\\[nrtbf"/u]|\\u00e9|\\ud800|\n|\x01|\x7f| ){0,12}"#, end in "[\" ]{0,2}"
        ) {
            let raw = format!("\"{inner}{end}");
            let expected: Option<String> = serde_json::from_str(&raw).ok();
            prop_assert_eq!(decoded(&raw).map(Cow::into_owned), expected);
        }
    }
}
