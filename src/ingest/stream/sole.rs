//! A log that is one JSON object, without its text at hand: it is as large as what is read of it.
//!
//! A long one is looked through first. Where it is a session whose messages stand in one list ([`List`]), it is read by what stands
//! beside the list and the items of the list one after the other, and no more of it is held than that; else it is held as a value.
//! Only an object with nothing wrong is read so; what is to be done about any other its text has to tell.

use std::cell::Cell;
use std::io::{self, BufReader, Read};
use std::sync::LazyLock;

use serde::de::DeserializeSeed;

use super::super::detect::{By, Sniffer, message_kind};
use super::super::lines::{self, Batch, Bytes, Lines, Record};
use super::super::shapes::{self, List, Shape};
use super::super::sink::Sink;
use super::super::value::{Items, Outline, Pulled, Seed, Value};
use super::super::{Ingested, chat, concluded, finished, read_with, stem};
use super::BLOCK;

/// True when a log that begins so may be one: what begins an object does not end it on the same line.
pub(super) fn may_be(head: &[u8]) -> bool {
    head.trim_ascii_start().starts_with(b"{") && lines::is_whole(head)
}

/// Reads one, whose bytes `open` gives; `None` where it is something else, or not sound.
pub(super) fn read(
    open: &mut dyn FnMut() -> io::Result<Box<dyn Read>>,
    name: &str,
    long: bool,
) -> io::Result<Option<Ingested>> {
    if long && let Some(read) = by_items(open, name)? {
        return Ok(Some(read));
    }
    let (twice, wide) = (Cell::new(false), Cell::new(false));
    let seed = Seed { twice: Some(&twice), wide: Some(&wide), ..Seed::default() };
    let Some((value, bytes)) = parse(open()?, seed)? else { return Ok(None) };
    if !value.is_object() || wide.get() {
        return Ok(None);
    }
    let mut sink = Sink::default();
    let mut lines = Lines::default();
    lines.sole(value, bytes, twice.get(), &mut sink);
    let parsed = lines.finish(&mut sink);
    Ok(parsed.detected.is_some().then(|| finished(sink, parsed, name, 1)))
}

/// What is made of a whole log, and where its bytes went; `None` where it is not sound.
fn parse<T>(
    input: Box<dyn Read>,
    seed: impl for<'de> DeserializeSeed<'de, Value = T>,
) -> io::Result<Option<(T, Bytes)>> {
    let mut passed = Passed { input, bytes: 0, solid: None };
    let mut reader = serde_json::Deserializer::from_reader(BufReader::with_capacity(BLOCK, &mut passed));
    let made = match seed.deserialize(&mut reader).and_then(|made| reader.end().map(|()| made)) {
        Ok(made) => made,
        Err(error) if error.is_io() => return Err(error.into()),
        Err(_) => return Ok(None),
    };
    drop(reader);
    let read = passed.solid.map_or(0, |(first, last)| last + 1 - first);
    Ok(Some((made, Bytes { read, skipped: 0, between: passed.bytes - read })))
}

/// The fields that long lists stand in.
static FIELDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let mut fields: Vec<&str> =
        shapes::SHAPES.iter().copied().chain([&chat::SHAPE]).filter_map(field).collect();
    fields.sort_unstable();
    fields.dedup();
    fields
});

fn field(shape: &Shape) -> Option<&'static str> {
    Some(shape.list?.field)
}

/// Reads a session by the items of its list; `None` where it has none, or anything is odd about it.
pub(super) fn by_items(
    open: &mut dyn FnMut() -> io::Result<Box<dyn Read>>,
    name: &str,
) -> io::Result<Option<Ingested>> {
    let (twice, wide) = (Cell::new(false), Cell::new(false));
    let odd = || twice.get() || wide.get();
    let seed = Seed { twice: Some(&twice), wide: Some(&wide), ..Seed::default() };
    let Some(((value, counts), mut bytes)) = parse(open()?, Outline { fields: &FIELDS, seed })? else {
        return Ok(None);
    };
    if odd() || counts.is_empty() {
        return Ok(None);
    }
    let count_of = |field: &str| Some(counts.iter().find(|(name, _)| *name == field)?.1);
    let mut record = Record { line: 1, value };
    let mut sniffer = Sniffer::default();
    sniffer.look(&record);
    if sniffer.found().is_none()
        && let Some(field) = field(&chat::SHAPE)
        && let Some(count) = count_of(field)
    {
        // What kind of chat it is any of the messages may show.
        let mut shown = None;
        let look = |mut messages: Items<'_>| {
            shown = Iterator::find_map(&mut messages, |message| message_kind(&message));
        };
        if parse(open()?, Pulled { field, count, seed, read: look })?.is_none() {
            return Ok(None);
        }
        sniffer = Sniffer::knowing(shown.map(|(format, why)| (format, format!("line 1 has {why}"))));
        sniffer.look(&record);
    }
    let Some(found) = sniffer.finish() else { return Ok(None) };
    let By::Records(shape) = found.by else { return Ok(None) };
    let Some(List { field, read }) = shape.list else { return Ok(None) };
    let Some(count) = count_of(field) else { return Ok(None) };
    if let Some(list) = record.value.get_mut(field) {
        *list = Value::Array(Box::default());
    }
    let mut sink = Sink::default();
    let mut sessions = Vec::new();
    let batch = Batch { records: vec![record], sizes: vec![bytes.read] };
    let pulled = |items: Items<'_>| {
        sessions = read_with(&found, shape, batch, &mut bytes, &mut sink, |records, out| {
            records.into_iter().take(1).for_each(|record| read(record.value, items, stem(name), out));
        });
    };
    if parse(open()?, Pulled { field, count, seed, read: pulled })?.is_none() || odd() {
        return Ok(None);
    }
    sink.sessions = sessions;
    Ok(Some(concluded(sink, Some(found.format), found.evidence, 1, bytes)))
}

/// Counts what is read through it.
struct Passed {
    input: Box<dyn Read>,
    bytes: u64,
    /// Where the first and the last byte stand that are no blanks.
    solid: Option<(u64, u64)>,
}

impl Read for Passed {
    fn read(&mut self, place: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(place)?;
        let bytes = place.get(..read).unwrap_or_default();
        let solid = |byte: &u8| !byte.is_ascii_whitespace();
        if let (Some(first), Some(last)) = (bytes.iter().position(solid), bytes.iter().rposition(solid)) {
            let first = self.solid.map_or(self.bytes + first as u64, |(first, _)| first);
            self.solid = Some((first, self.bytes + last as u64));
        }
        self.bytes += read as u64;
        Ok(read)
    }
}
