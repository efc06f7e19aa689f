//! Values of a policy, and in plain words what is wrong with one: what was written, and what to write.

use super::{Decimal, Names};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// The place of a byte of a TOML file: its line and, where it is in a value, the key.
pub(super) fn place(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let line = before.matches('\n').count();
    let key = before.rsplit('\n').next().and_then(|start| start.split_once('='));
    let key = key.map(|(key, _)| format!("{}: ", key.trim())).unwrap_or_default();
    format!("line {}: {key}", line + 1)
}

/// The place of the first line that gives this key a value; empty where none is found.
pub(super) fn place_of(text: &str, key: &str) -> String {
    line_of(text, key, |_| true)
}

/// The same with this value.
pub(super) fn place_of_value(text: &str, key: &str, value: &str) -> String {
    line_of(text, key, |found| found == value)
}

fn line_of(text: &str, key: &str, wanted: impl Fn(&str) -> bool) -> String {
    let is_it = |line: &str| {
        let Some((name, value)) = line.split_once('=') else { return false };
        let name = name.trim().rsplit('.').next().unwrap_or_default();
        let value = value.split('#').next().unwrap_or_default().trim();
        name.trim_matches(['"', '\'']) == key && wanted(value)
    };
    let at = text.lines().position(is_it);
    at.map(|at| format!("line {}: ", at + 1)).unwrap_or_default()
}

/// Messages of the reader of TOML without its words for types.
pub(super) fn plain(message: &str) -> String {
    message
        .replace("expected a sequence", "write [[rule]] and its keys below")
        .replace("expected a map", "write a table")
}

/// What a value is to be.
#[derive(Clone, Copy)]
enum Wanted {
    Whole,
    Number,
    Names,
    Table,
}

/// A value as it was written.
enum Given {
    Integer(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    List(Vec<String>),
    Table(BTreeMap<String, u64>),
}

struct Reader(Wanted);

impl<'de> Visitor<'de> for Reader {
    type Value = Given;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Wanted::Whole => "a whole number",
            Wanted::Number => "a number",
            Wanted::Names => "a name or a list of names",
            Wanted::Table => "a table",
        })
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Given, E> {
        Ok(Given::Integer(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Given, E> {
        Ok(i64::try_from(value).map_or(Given::Float(value as f64), Given::Integer))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Given, E> {
        Ok(Given::Float(value))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Given, E> {
        Ok(Given::Bool(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Given, E> {
        Ok(Given::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Given, A::Error> {
        match self.0 {
            Wanted::Names => {
                let names = Vec::<Name>::deserialize(SeqAccessDeserializer::new(list))?;
                Ok(Given::List(names.into_iter().map(|name| name.0).collect()))
            }
            _ => {
                Err(A::Error::custom(format!("a list stands where one value is wanted: {}", self.0.advice())))
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Given, A::Error> {
        match self.0 {
            Wanted::Table => {
                let table = BTreeMap::<String, Whole>::deserialize(MapAccessDeserializer::new(table))?;
                Ok(Given::Table(table.into_iter().map(|(key, value)| (key, value.0)).collect()))
            }
            _ => Err(A::Error::custom(format!(
                "a table stands where one value is wanted: {}",
                self.0.advice()
            ))),
        }
    }
}

impl Wanted {
    fn advice(self) -> &'static str {
        match self {
            Self::Whole => "write a whole number, like 10",
            Self::Number => "write a number, like 0.95",
            Self::Names => "write \"structured\" or [\"structured\", \"narrative\"]",
            Self::Table => "write [invariants] and a line per kind below, like no_gain = 2",
        }
    }

    /// What is wrong with a value that is another thing.
    fn refuse<E: Error>(self, given: &Given) -> E {
        let shown = match given {
            Given::Integer(value) => format!("`{value}`"),
            Given::Float(value) => format!("`{value}`"),
            Given::Bool(value) => format!("`{value}`"),
            Given::Text(value) => format!("{value:?}"),
            Given::List(_) => "a list".to_owned(),
            Given::Table(_) => "a table".to_owned(),
        };
        E::custom(match (self, given) {
            (Self::Whole, Given::Text(_)) => {
                format!("{shown} is a text: write a whole number without quotes, like 10")
            }
            (Self::Number, Given::Text(_)) => {
                format!("{shown} is a text: write the number without quotes, like 0.95")
            }
            (Self::Whole, _) => format!("{shown} is no whole number from 0 on: write one, like 10"),
            (Self::Number, _) => format!("{shown} is no number: write one, like 0.95"),
            (Self::Names, Given::Integer(value)) => {
                format!("{shown} is no name: write it as a text: \"{value}\"")
            }
            (Self::Names, _) => format!("{shown} is no name: {}", self.advice()),
            (Self::Table, _) => format!("{shown} is no table: {}", self.advice()),
        })
    }

    fn read<'de, D: Deserializer<'de>>(self, reader: D) -> Result<Given, D::Error> {
        reader.deserialize_any(Reader(self))
    }
}

struct Whole(u64);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let given = Wanted::Whole.read(reader)?;
        match given {
            Given::Integer(value) => u64::try_from(value).map(Self).map_err(|_| Wanted::Whole.refuse(&given)),
            _ => Err(Wanted::Whole.refuse(&given)),
        }
    }
}

struct Name(String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        match Wanted::Names.read(reader)? {
            Given::Text(name) => Ok(Self(name)),
            given => Err(Wanted::Names.refuse(&given)),
        }
    }
}

pub(super) fn whole<'de, D: Deserializer<'de>>(reader: D) -> Result<u64, D::Error> {
    Ok(Whole::deserialize(reader)?.0)
}

pub(super) fn some_whole<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<u64>, D::Error> {
    whole(reader).map(Some)
}

pub(super) fn wholes<'de, D: Deserializer<'de>>(reader: D) -> Result<BTreeMap<String, u64>, D::Error> {
    match Wanted::Table.read(reader)? {
        Given::Table(table) => Ok(table),
        given => Err(Wanted::Table.refuse(&given)),
    }
}

pub(super) fn number<'de, D: Deserializer<'de>>(reader: D) -> Result<f64, D::Error> {
    match Wanted::Number.read(reader)? {
        Given::Integer(value) => Ok(value as f64),
        Given::Float(value) => Ok(value),
        given => Err(Wanted::Number.refuse(&given)),
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        // The shortest text of a double is the one that was written.
        let text = format!("{}", number(reader)?);
        Self::parse(&text).ok_or_else(|| {
            D::Error::custom(format!("{text} is no threshold: give a number from 0 on with up to 8 decimals"))
        })
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        match Wanted::Names.read(reader)? {
            Given::Text(name) => Ok(Self::One(name)),
            Given::List(names) => Ok(Self::Several(names)),
            given => Err(Wanted::Names.refuse(&given)),
        }
    }
}
