//! A log that is one JSON object, without its text at hand: it is as large as what is read of it.
//!
//! Only an object with nothing wrong is read so; what is to be done about any other its text has to tell.

use std::cell::Cell;
use std::io::{self, BufReader, Read};

use serde::de::DeserializeSeed;

use super::super::lines::{self, Bytes, Lines};
use super::super::sink::Sink;
use super::super::value::Seed;
use super::super::{Ingested, finished};
use super::BLOCK;

/// True when a log that begins so may be one: what begins an object does not end it on the same line.
pub(super) fn may_be(head: &[u8]) -> bool {
    head.trim_ascii_start().starts_with(b"{") && lines::is_whole(head)
}

/// Reads one; `None` where it is something else, or not sound.
pub(super) fn read(input: Box<dyn Read>, name: &str) -> io::Result<Option<Ingested>> {
    let (twice, wide) = (Cell::new(false), Cell::new(false));
    let mut passed = Passed { input, bytes: 0, solid: None };
    let mut reader = serde_json::Deserializer::from_reader(BufReader::with_capacity(BLOCK, &mut passed));
    let seed = Seed { twice: Some(&twice), wide: Some(&wide), ..Seed::default() };
    let value = match seed.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value)) {
        Ok(value) if value.is_object() && !wide.get() => value,
        Err(error) if error.is_io() => return Err(error.into()),
        _ => return Ok(None),
    };
    drop(reader);
    let mut sink = Sink::default();
    let mut lines = Lines::default();
    let size = passed.solid.map_or(0, |(first, last)| last + 1 - first);
    let bytes = Bytes { read: size, skipped: 0, between: passed.bytes - size };
    lines.sole(value, bytes, twice.get(), &mut sink);
    let parsed = lines.finish(&mut sink);
    Ok(parsed.detected.is_some().then(|| finished(sink, parsed, name, 1)))
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
