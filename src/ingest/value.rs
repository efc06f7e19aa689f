//! JSON as readers see it: any shape, cheap to build, cheap to take apart.
//!
//! The values of `serde_json` keep the order of fields in a hash table, which is a third of the time it takes to read a log: records
//! have few fields, so here an object is a list, and its names need no memory of their own. Looking up a field is a walk; what has
//! thousands of them is put into a table by the reader that looks up many.
//!
//! Of a field that comes twice the last one counts, and it is remembered that there was one.

mod lists;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::hash::BuildHasher;

use arcstr::ArcStr;
use compact_str::CompactString;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::Number;
use smallvec::SmallVec;

pub(super) use lists::{Items, Listed, Outline, Pulled};

/// A value written down as JSON.
macro_rules! json {
    ($($token:tt)*) => { $crate::ingest::value::Value::from(serde_json::json!($($token)*)) };
}
pub(crate) use json;

/// The name of a field: the size of a pointer, shared by the objects that have it.
pub(crate) type Key = ArcStr;

/// So many names are remembered, each in the place that its hash gives: logs have a few dozen.
const REMEMBERED: usize = 256;

thread_local! {
    /// Names lately read.
    static NAMES: RefCell<[Key; REMEMBERED]> = const { RefCell::new([const { ArcStr::new() }; REMEMBERED]) };
}

/// The name that others use as well, where it was read lately.
pub(super) fn shared(name: &str) -> Key {
    let hash = usize::try_from(FxBuildHasher.hash_one(name) % REMEMBERED as u64).unwrap_or(0);
    NAMES.with_borrow_mut(|names| match names.get_mut(hash) {
        Some(known) if *known == name => known.clone(),
        Some(place) => {
            *place = name.into();
            place.clone()
        }
        None => name.into(),
    })
}

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Hash, Default)]
pub(crate) enum Value {
    #[default]
    Null,
    Bool(bool),
    /// Whole numbers of up to 64 bits are exact.
    Number(Number),
    /// Short texts need no memory of their own.
    String(CompactString),
    Array(Box<[Value]>),
    Object(Map),
}

/// The fields of an object, in order, each name once.
#[derive(Debug, Clone, PartialEq, Hash, Default)]
pub(crate) struct Map(Box<[(Key, Value)]>);

/// More fields than this and equal names are found with a table.
const FEW: usize = 16;

impl Map {
    /// No fields yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The value of a field.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The value of a field, to be changed.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.0.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The value of a field, put there where there is none.
    #[cfg(feature = "sqlite")]
    pub(crate) fn get_or_insert_with(&mut self, key: &str, value: impl FnOnce() -> Value) -> &mut Value {
        let at = self.0.iter().position(|(name, _)| name == key).unwrap_or_else(|| {
            self.push(shared(key), value());
            self.0.len() - 1
        });
        &mut self.0[at].1
    }

    /// True when there is such a field.
    pub(crate) fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// True when there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names and values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The names.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The values.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.0.iter().map(|(_, value)| value)
    }

    /// The values, to be changed.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    /// Takes a field out.
    pub(crate) fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.0.iter().position(|(name, _)| name == key)?;
        let mut fields = std::mem::take(&mut self.0).into_vec();
        let (_, value) = fields.remove(at);
        self.0 = fields.into();
        Some(value)
    }

    /// Sets a field; what it held before.
    pub(crate) fn insert(&mut self, key: &str, value: Value) -> Option<Value> {
        if let Some(place) = self.get_mut(key) {
            Some(std::mem::replace(place, value))
        } else {
            self.push(shared(key), value);
            None
        }
    }

    fn push(&mut self, key: Key, value: Value) {
        let mut fields = std::mem::take(&mut self.0).into_vec();
        fields.push((key, value));
        self.0 = fields.into();
    }

    /// Makes every name occur once, with its last value at its first place; true when one came twice.
    fn settle(&mut self) -> bool {
        let before = self.0.len();
        if before <= FEW {
            let twice = (1..before).any(|at| {
                let (head, tail) = self.0.split_at(at);
                tail.first().is_some_and(|(name, _)| head.iter().any(|(other, _)| other == name))
            });
            if !twice {
                return false;
            }
        }
        let mut places: FxHashMap<Key, usize> = FxHashMap::default();
        let mut settled: Vec<(Key, Value)> = Vec::with_capacity(before);
        for (name, value) in std::mem::take(&mut self.0).into_vec() {
            if let Some((_, place)) = places.get(&name).and_then(|at| settled.get_mut(*at)) {
                *place = value;
            } else {
                places.insert(name.clone(), settled.len());
                settled.push((name, value));
            }
        }
        self.0 = settled.into();
        self.0.len() < before
    }
}

impl IntoIterator for Map {
    type Item = (Key, Value);
    type IntoIter = std::vec::IntoIter<(Key, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_vec().into_iter()
    }
}

impl<'a> IntoIterator for &'a Map {
    type Item = (&'a str, &'a Value);
    type IntoIter =
        std::iter::Map<std::slice::Iter<'a, (Key, Value)>, fn(&'a (Key, Value)) -> (&'a str, &'a Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl<K: Into<Key>> FromIterator<(K, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(fields: I) -> Self {
        let mut map = Self(fields.into_iter().map(|(name, value)| (name.into(), value)).collect());
        map.settle();
        map
    }
}

impl Value {
    /// The value of a field, where this is an object that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    /// The value of a field, to be changed.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        match self {
            Self::Object(map) => map.get_mut(key),
            _ => None,
        }
    }

    /// The value itself, null in its place.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// The text, where this is one.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The truth value, where this is one.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number, where this is a whole one that is not negative.
    pub(crate) fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// The number, where this is a whole one.
    pub(crate) fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Number(number) => number.as_i64(),
            _ => None,
        }
    }

    /// The number, where this is one.
    pub(crate) fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(number) => number.as_f64(),
            _ => None,
        }
    }

    /// The items, where this is a list.
    pub(crate) fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The fields, where this is an object.
    pub(crate) fn as_object(&self) -> Option<&Map> {
        match self {
            Self::Object(map) => Some(map),
            _ => None,
        }
    }

    /// The fields, to be changed, where this is an object.
    pub(crate) fn as_object_mut(&mut self) -> Option<&mut Map> {
        match self {
            Self::Object(map) => Some(map),
            _ => None,
        }
    }

    /// The items, to be changed, where this is a list.
    pub(crate) fn as_array_mut(&mut self) -> Option<&mut [Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The items, where this is a list; else none.
    pub(crate) fn into_list(self) -> Vec<Self> {
        match self {
            Self::Array(items) => items.into_vec(),
            _ => Vec::new(),
        }
    }

    /// The items, where this is a list, else the value itself: content that may be one block.
    pub(crate) fn into_blocks(self) -> Vec<Self> {
        match self {
            Self::Array(items) => items.into_vec(),
            other => vec![other],
        }
    }

    /// The value that a path of names and positions leads to, `/a/0/b`; names are not escaped.
    pub(crate) fn pointer(&self, path: &str) -> Option<&Self> {
        path.split('/').skip(1).try_fold(self, |value, name| match value {
            Self::Array(items) => items.get(name.parse::<usize>().ok()?),
            value => value.get(name),
        })
    }

    /// The same, to be changed.
    pub(crate) fn pointer_mut(&mut self, path: &str) -> Option<&mut Self> {
        path.split('/').skip(1).try_fold(self, |value, name| match value {
            Self::Array(items) => items.get_mut(name.parse::<usize>().ok()?),
            value => value.get_mut(name),
        })
    }

    /// True for null.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// True for a text.
    pub(crate) fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    /// True for a number.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// True for a list.
    pub(crate) fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// True for an object.
    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }
}

/// As JSON text.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => out.serialize_unit(),
            Self::Bool(value) => out.serialize_bool(*value),
            Self::Number(number) => number.serialize(out),
            Self::String(text) => out.serialize_str(text),
            Self::Array(items) => out.collect_seq(items),
            Self::Object(map) => out.collect_map(map.iter()),
        }
    }
}

impl<'de> serde::Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        Seed::default().deserialize(reader)
    }
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(value),
            serde_json::Value::Number(number) => Self::Number(number),
            serde_json::Value::String(text) => Self::String(text.into()),
            serde_json::Value::Array(items) => items.into_iter().map(Self::from).collect(),
            serde_json::Value::Object(map) => {
                Self::Object(Map(map.into_iter().map(|(name, value)| (name.into(), value.into())).collect()))
            }
        }
    }
}

impl From<Value> for serde_json::Value {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::String(text.into()),
            Value::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Value::Object(map) => Self::Object(
                map.into_iter().map(|(name, value)| (name.as_str().into(), value.into())).collect(),
            ),
        }
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<CompactString> for Value {
    fn from(text: CompactString) -> Self {
        Self::String(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<&[Self]> for Value {
    fn from(items: &[Self]) -> Self {
        Self::Array(items.into())
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Number::from_f64(value).map_or(Self::Null, Self::Number)
    }
}

impl From<Cow<'_, str>> for Value {
    fn from(text: Cow<'_, str>) -> Self {
        Self::String(text.into())
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Number(value.into())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl FromIterator<Self> for Value {
    fn from_iter<I: IntoIterator<Item = Self>>(items: I) -> Self {
        Self::Array(items.into_iter().collect())
    }
}

/// Whole numbers from this size on may be more than 64 bits hold: 2 to the power of 63.
const EXACT: f64 = 9_223_372_036_854_775_808.0;

/// So many items of a list or an object are gathered on the stack.
const HERE: usize = 8;

/// Builds a [`Value`] from what a parser reads.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seed<'a> {
    /// Fields of the outermost object to keep; others are skipped unread. `None` for all.
    pub(super) keep: Option<&'a [&'a str]>,
    /// One more field to keep.
    pub(super) time: &'a str,
    /// Set when a field comes twice somewhere.
    pub(super) twice: Option<&'a Cell<bool>>,
    /// Set when a number is so large that its digits may have been lost.
    pub(super) wide: Option<&'a Cell<bool>>,
}

impl Seed<'_> {
    fn inner(&self) -> Self {
        Self { keep: None, ..*self }
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        if value.abs() >= EXACT
            && let Some(wide) = self.wide
        {
            wide.set(true);
        }
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut found: SmallVec<[Value; HERE]> = SmallVec::new();
        while let Some(item) = items.next_element_seed(self.inner())? {
            found.push(item);
        }
        Ok(Value::Array(found.into_boxed_slice()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut found: SmallVec<[(Key, Value); HERE]> = SmallVec::new();
        while let Some(name) = fields.next_key_seed(Name)? {
            if self.keep.is_some_and(|keep| name != self.time && !keep.contains(&&*name)) {
                fields.next_value::<IgnoredAny>()?;
            } else {
                let value = fields.next_value_seed(self.inner())?;
                found.push((shared(&name), value));
            }
        }
        let mut found = Map(found.into_boxed_slice());
        if found.settle()
            && let Some(twice) = self.twice
        {
            twice.set(true);
        }
        Ok(Value::Object(found))
    }
}

/// The name of a field, borrowed where it has no escapes.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> serde_json::Result<Value> {
        serde_json::from_str(text)
    }

    /// Parses, and writes again.
    fn check(text: &str, expected: &str) {
        let value = parse(text).unwrap();
        assert_eq!(value.to_string(), expected);
        assert_eq!(parse(expected).unwrap(), value);
    }

    #[test]
    fn values_are_written_as_they_were_read() {
        check(
            " [null, true, -1, 18446744073709551615, 1.5, \"a\\u00e9\\n\"] ",
            r#"[null,true,-1,18446744073709551615,1.5,"aé\n"]"#,
        );
        check(
            r#"{"b": {"y": [], "x": {}}, "a": 2512292042121000001}"#,
            r#"{"b":{"y":[],"x":{}},"a":2512292042121000001}"#,
        );
    }

    #[test]
    fn a_log_of_small_records_is_small() {
        assert_eq!((size_of::<Value>(), size_of::<(Key, Value)>()), (24, 32));
    }

    #[test]
    fn of_a_field_that_comes_twice_the_last_counts() {
        check(r#"{"path":"a","x":1,"path":"b"}"#, r#"{"path":"b","x":1}"#);
        let many: Vec<String> = (0..40).map(|at| format!("\"k{}\":{at}", at % 30)).collect();
        let twice = Cell::new(false);
        let text = format!("{{{}}}", many.join(","));
        let seed = Seed { twice: Some(&twice), ..Seed::default() };
        let value = seed.deserialize(&mut serde_json::Deserializer::from_str(&text)).unwrap();
        assert!(twice.get());
        let map = value.as_object().unwrap();
        assert_eq!((map.0.len(), map.get("k3").and_then(Value::as_u64)), (30, Some(33)));
    }

    #[test]
    fn fields_are_skipped_in_the_outermost_object_only() {
        let seed = Seed { keep: Some(&["a"]), ..Seed::default() };
        let text = r#"{"a":{"b":1},"b":[1,2]}"#;
        let value = seed.deserialize(&mut serde_json::Deserializer::from_str(text)).unwrap();
        assert_eq!(value.to_string(), r#"{"a":{"b":1}}"#);
    }
}
