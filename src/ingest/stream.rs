//! Reading a log that is too large to hold: a block of bytes at a time, and sessions given out as soon as they are complete.
//!
//! When enough records have piled up, those of complete sessions are read and dropped. What is complete a shape tells
//! ([`Split`]): a header begins the next session, each record is one, or records are tied together by ids. In the last case the log
//! is looked through once before, to know which record is the last of each session. The elements of an array are records like
//! lines are ([`mod@array`]). Where all records are one session, the reader may go on with it from batch to batch. Other logs that are
//! one session, and those whose sessions only all of their records tell apart (request bodies, spans), are held as values; so is a
//! log that is one object, without its text beside it, where it has no long list of messages to be read by ([`mod@sole`]). Texts and
//! damaged documents are held whole.
//!
//! Invariant: a log read so gives the sessions, diagnostics and counts that it gives when it is read at once, in the order in
//! which sessions end.

mod array;
mod sole;
#[cfg(test)]
mod tests;

use std::hash::{Hash, Hasher};
use std::io::{self, Read};

use memchr::memrchr;
use rustc_hash::{FxHashMap, FxHasher};
use serde::de::DeserializeSeed;

use super::detect::{By, Detected, Sniffer};
use super::lines::{self, Lines, Record};
use super::shapes::{Lists, Shape, Split};
use super::sink::Sink;
use super::value::{Seed, Value};
use super::{Ingested, finished, read_records, stem, whole};
use crate::transcript::Transcript;

/// Bytes read at once.
const BLOCK: usize = 1 << 20;

/// Bytes of records that pile up before those of complete sessions are read, and those of one session at the most.
pub(super) const BATCH: u64 = 4 << 20;

/// Reads a log of any size. `open` gives its bytes from the beginning, whenever it is called; each session goes to `each`, and
/// the answer holds none. Memory is bounded by the largest session, where sessions can be told apart while reading.
pub fn ingest_stream(
    open: &mut dyn FnMut() -> io::Result<Box<dyn Read>>,
    name: &str,
    each: &mut dyn FnMut(Transcript),
) -> io::Result<Ingested> {
    ingest_in_batches(open, name, each, BATCH)
}

/// The same, with records read whenever so many bytes of them have piled up.
pub fn ingest_in_batches(
    open: &mut dyn FnMut() -> io::Result<Box<dyn Read>>,
    name: &str,
    each: &mut dyn FnMut(Transcript),
    batch: u64,
) -> io::Result<Ingested> {
    let mut blocks = Blocks::new(open()?);
    blocks.fill_line(usize::try_from(batch.min(BATCH)).unwrap_or(usize::MAX))?;
    if sole::may_be(blocks.waiting())
        && let long = blocks.fill_to(batch.min(BATCH))?
        && let Some(mut read) = sole::read(open, name, long)?
    {
        // Whoever counts what is read does that the first time.
        blocks.pass()?;
        std::mem::take(&mut read.sessions).into_iter().for_each(each);
        return Ok(read);
    }
    blocks.fill_line(usize::MAX)?;
    let array = array::may_be(blocks.waiting()) && array::is_sound(open()?)?;
    if lines::is_utf16(blocks.waiting()) || !array && lines::is_whole(lines::unmarked(blocks.waiting())) {
        let mut read = whole(blocks.rest()?.into(), name);
        std::mem::take(&mut read.sessions).into_iter().for_each(each);
        return Ok(read);
    }
    let mut reading = Reading {
        sink: Sink::default(),
        lines: Lines::default(),
        name: stem(name),
        label: name,
        batch,
        array,
        surveyed: false,
        scanned: 0,
        header: None,
        groups: None,
        full: batch.min(BATCH),
    };
    if blocks.unmark()? {
        lines::note_mark(&mut reading.sink);
        reading.lines.bytes.between += 3;
    }
    let mut units = Units::new(blocks, array);
    while units.read(&mut reading.lines, &mut reading.sink)? {
        if reading.lines.held() >= reading.full {
            reading.hand_over(open, each)?;
        }
    }
    Ok(reading.end(each))
}

/// A log as lines, or as the elements of an array.
enum Units {
    Lines(Blocks),
    Elements(array::Elements),
}

impl Units {
    fn new(blocks: Blocks, array: bool) -> Self {
        if array { Self::Elements(array::Elements::new(blocks)) } else { Self::Lines(blocks) }
    }

    /// Reads some records; false at the end.
    fn read(&mut self, lines: &mut Lines, out: &mut Sink) -> io::Result<bool> {
        match self {
            Self::Lines(blocks) => {
                let Some(block) = blocks.next()? else { return Ok(false) };
                lines.block(block, out);
            }
            Self::Elements(elements) => {
                let Some(element) = elements.next()? else {
                    lines.bytes.between += elements.between();
                    return Ok(false);
                };
                lines.element(element, out);
            }
        }
        Ok(true)
    }
}

/// The blocks of a log, each of whole lines.
struct Blocks {
    input: Box<dyn Read>,
    buffer: Vec<u8>,
    /// Bytes of the buffer that were given out, and that hold something.
    used: usize,
    filled: usize,
    ended: bool,
}

impl Blocks {
    fn new(input: Box<dyn Read>) -> Self {
        Self { input, buffer: Vec::new(), used: 0, filled: 0, ended: false }
    }

    fn waiting(&self) -> &[u8] {
        self.buffer.get(self.used..self.filled).unwrap_or_default()
    }

    fn skip(&mut self, bytes: usize) {
        self.used += bytes;
    }

    /// Skips a byte order mark at the beginning; true where there was one.
    fn unmark(&mut self) -> io::Result<bool> {
        while !self.ended && self.waiting().len() < 3 {
            self.fill()?;
        }
        let mark = self.waiting().len() - lines::unmarked(self.waiting()).len();
        self.skip(mark);
        Ok(mark > 0)
    }

    /// Reads on, over what was given out.
    fn fill(&mut self) -> io::Result<()> {
        if self.used > 0 {
            self.buffer.copy_within(self.used..self.filled, 0);
            self.filled -= self.used;
            self.used = 0;
        }
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.filled + BLOCK, 0);
        }
        loop {
            match self.input.read(self.buffer.get_mut(self.filled..).unwrap_or_default()) {
                Ok(0) => self.ended = true,
                Ok(bytes) => self.filled += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }

    /// Reads until the first line that is not blank is there, or so many bytes, or it is known that there are no lines.
    fn fill_line(&mut self, most: usize) -> io::Result<()> {
        let lacks = |bytes: &[u8]| memchr::memchr(b'\n', bytes.trim_ascii_start()).is_none();
        while !self.ended
            && self.waiting().len() < most
            && lacks(self.waiting())
            && !array::may_be(self.waiting())
        {
            self.fill()?;
        }
        Ok(())
    }

    /// Reads until so many bytes are there; false where the log ends before.
    fn fill_to(&mut self, bytes: u64) -> io::Result<bool> {
        while !self.ended && (self.waiting().len() as u64) < bytes {
            self.fill()?;
        }
        Ok(bytes <= self.waiting().len() as u64)
    }

    /// The next whole lines; all that is left at the end.
    fn next(&mut self) -> io::Result<Option<&[u8]>> {
        let mut looked = 0;
        loop {
            let waiting = self.waiting();
            let fresh = waiting.get(looked..).unwrap_or_default();
            let whole = match memrchr(b'\n', fresh) {
                Some(at) => Some(looked + at + 1),
                None if self.ended => Some(waiting.len()),
                None => None,
            };
            looked = waiting.len();
            match whole {
                Some(0) => return Ok(None),
                Some(length) => {
                    let start = self.used;
                    self.used += length;
                    return Ok(self.buffer.get(start..start + length));
                }
                None => self.fill()?,
            }
        }
    }

    /// Reads what is left for nothing.
    fn pass(mut self) -> io::Result<()> {
        while !self.ended {
            self.used = self.filled;
            self.fill()?;
        }
        Ok(())
    }

    /// Everything that is left.
    fn rest(mut self) -> io::Result<Vec<u8>> {
        let mut bytes = self.buffer;
        bytes.truncate(self.filled);
        bytes.drain(..self.used);
        self.input.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// A log of lines, read so far.
struct Reading<'a> {
    sink: Sink,
    lines: Lines,
    name: &'a str,
    /// Path or label of the log.
    label: &'a str,
    batch: u64,
    /// Its records are the elements of an array.
    array: bool,
    /// All records were looked at to tell what it is.
    surveyed: bool,
    /// Records that were looked at for headers.
    scanned: usize,
    /// Id that the newest header gives.
    header: Option<String>,
    /// Which records belong together, where ids tie them.
    groups: Option<Groups>,
    /// Bytes of records at which to look for complete sessions the next time.
    full: u64,
}

impl Reading<'_> {
    /// Reads the records of complete sessions and gives the sessions out.
    fn hand_over(
        &mut self,
        open: &mut dyn FnMut() -> io::Result<Box<dyn Read>>,
        each: &mut dyn FnMut(Transcript),
    ) -> io::Result<()> {
        if self.lines.detected().is_none() && !std::mem::replace(&mut self.surveyed, true) {
            let (sniffer, records) = survey(open()?, self.array)?;
            self.lines.settle(sniffer);
            self.sink.expect(records);
        }
        let goes_on = self.lines.detected().is_some_and(|found| match found.by {
            By::Records(shape) => {
                matches!(shape.split, Split::One(_) | Split::Running) || shape.goes_on.is_some()
            }
            By::Text(_) => false,
        });
        if self.lines.held() < self.batch && !goes_on {
            self.full = self.batch;
            return Ok(());
        }
        let Some(Detected { by: By::Records(shape), .. }) = self.lines.detected() else {
            // So many records and none that any format knows: one of them tells why.
            self.lines.take(|at, _| at > 0);
            self.full = self.lines.held() + self.batch;
            return Ok(());
        };
        let shape: &'static Shape = shape;
        match shape.split {
            Split::Whole => {}
            Split::One(waits) => {
                // A list that is a session ends the one before it.
                let apart = |value: &Value| shape.lists != Lists::Records && lines::is_list(value);
                let records = &self.lines.records;
                if !records.iter().any(|record| waits(&record.value) || apart(&record.value)) {
                    self.sink.expect_more(true);
                    let batch = self.lines.take(|_, _| true);
                    self.read_batch(batch, each);
                    self.sink.expect_more(false);
                }
            }
            Split::Running => {
                if self.lines.records.len() > 1 {
                    self.sink.in_batches();
                }
                self.read_on(each);
            }
            Split::Before(begins) => {
                let mut last = 0;
                for (at, record) in self.lines.records.iter().enumerate().skip(self.scanned) {
                    let Some(id) = begins(&record.value) else { continue };
                    if id.is_empty() || self.header.as_deref() != Some(id) {
                        // Records that are glued into one line stay together.
                        let before = at.checked_sub(1).and_then(|before| self.lines.records.get(before));
                        if before.is_none_or(|before| before.line < record.line) {
                            last = at;
                        }
                        self.header = Some(id.to_owned());
                    }
                }
                self.scanned = self.lines.records.len();
                if last > 0 {
                    self.read(each, |at, _| at < last);
                    self.scanned -= last;
                }
                let long = BATCH.min(self.batch) <= self.lines.held();
                let goes_on =
                    |with: fn(&Value) -> bool| self.lines.records.iter().all(|record| with(&record.value));
                if long && shape.goes_on.is_some_and(goes_on) {
                    self.read_on(each);
                    self.scanned = self.lines.records.len();
                }
            }
            Split::Each { own, refers } => {
                let mut wanted: Vec<bool> =
                    self.lines.records.iter().map(|record| own(&record.value)).collect();
                // The last one waits: a session that is alone in its file is read as such.
                if let Some(last) = wanted.iter_mut().rfind(|wanted| **wanted) {
                    *last = false;
                }
                if wanted.contains(&true) {
                    if let Some(refers) = refers.filter(|_| !self.sink.is_in_batches()) {
                        for_each_unit(open()?, self.array, |line| {
                            let records = records_of(line, shape.fields);
                            self.sink.refer(records.iter().flat_map(refers));
                        })?;
                    }
                    self.read(each, |at, _| wanted.get(at).copied().unwrap_or_default());
                }
            }
            Split::Tied(fields, naming) => {
                if self.groups.is_none() {
                    self.groups = Some(Groups::of(open()?, self.array, fields, naming)?);
                }
                let line = self.lines.number();
                let groups = self.groups.take();
                if let Some(groups) = &groups {
                    self.read(each, |_, at| groups.end(at) <= line);
                }
                self.groups = groups;
            }
        }
        // What has to be held is not looked through again for every few records that come to it.
        let held = self.lines.held();
        self.full = held + self.batch.min(BATCH).max(held / 4);
        Ok(())
    }

    /// Reads all records but the last one, whose session goes on.
    fn read_on(&mut self, each: &mut dyn FnMut(Transcript)) {
        let count = self.lines.records.len();
        if count > 1 {
            self.sink.expect_more(true);
            let batch = self.lines.take(|at, _| at + 1 < count);
            self.read_batch(batch, each);
            self.sink.expect_more(false);
        }
    }

    /// Reads the records, given by position and line, that are wanted.
    fn read(&mut self, each: &mut dyn FnMut(Transcript), wanted: impl Fn(usize, u32) -> bool) {
        self.sink.in_batches();
        let batch = self.lines.take(wanted);
        self.read_batch(batch, each);
    }

    fn read_batch(&mut self, batch: lines::Batch, each: &mut dyn FnMut(Transcript)) {
        if batch.records.is_empty() {
            return;
        }
        if let Some(found) = self.lines.detected().cloned() {
            for session in read_records(&found, batch, self.name, &mut self.lines.bytes, &mut self.sink) {
                each(session);
            }
        }
    }

    /// Reads what is left.
    fn end(mut self, each: &mut dyn FnMut(Transcript)) -> Ingested {
        let count = self.lines.count;
        let batch = self.lines.finish(&mut self.sink);
        let mut ingested = finished(self.sink, batch, self.label, count);
        std::mem::take(&mut ingested.sessions).into_iter().for_each(each);
        ingested
    }
}

/// Looks at all records of a log of which the first ones do not tell what it is; how many lines or elements it has, too.
fn survey(input: Box<dyn Read>, array: bool) -> io::Result<(Sniffer, usize)> {
    let mut sniffer = Sniffer::default();
    let mut line = 0;
    for_each_unit(input, array, |unit| {
        line += 1;
        if sniffer.found().is_none() {
            for value in records_of(unit, None) {
                sniffer.look(&Record { line, value });
            }
        }
    })?;
    Ok((sniffer, line as usize))
}

/// Records that belong together because the same id stands in them, by the lines of the log.
#[derive(Debug, Default)]
struct Groups {
    /// For each line, from 1 on, a line of the same group; the first of a group leads to itself.
    of: Vec<u32>,
    /// For the first line of a group its last.
    last: FxHashMap<u32, u32>,
}

impl Groups {
    fn of(
        input: Box<dyn Read>,
        array: bool,
        fields: &'static [&'static str],
        naming: usize,
    ) -> io::Result<Self> {
        let mut groups = Self { of: vec![0], last: FxHashMap::default() };
        let mut known: FxHashMap<u64, u32> = FxHashMap::default();
        let (mut before, mut begun) = (0, false);
        // Of fields inside others those have to be read, too.
        let keep = Some(fields).filter(|fields| !fields.iter().any(|field| field.starts_with('/')));
        for_each_unit(input, array, |line| {
            let at = u32::try_from(groups.of.len()).unwrap_or(u32::MAX);
            groups.of.push(at);
            let records = records_of(line, keep);
            let tied = |value: &Value| ids(value, fields).any(|(_, named)| named < naming);
            for (id, _) in records.iter().flat_map(|value| ids(value, fields)) {
                match known.get(&id) {
                    Some(other) => groups.join(*other, at),
                    None => {
                        known.insert(id, at);
                    }
                }
            }
            // What names nothing belongs to what is before it, at the beginning to what comes first. In a line of several records
            // that is asked of the first one.
            if before > 0 && (!begun || !records.first().is_some_and(tied)) {
                groups.join(before, at);
            }
            begun |= records.iter().any(tied);
            before = at;
        })?;
        for line in 1..groups.of.len() {
            let line = u32::try_from(line).unwrap_or(u32::MAX);
            let first = groups.first(line);
            groups.last.insert(first, line);
        }
        Ok(groups)
    }

    /// The first line of the group of a line.
    fn first(&self, line: u32) -> u32 {
        let mut at = line;
        while let Some(next) = self.of.get(at as usize).filter(|next| **next != at) {
            at = *next;
        }
        at
    }

    fn join(&mut self, one: u32, other: u32) {
        let (one, other) = (self.first(one), self.first(other));
        let (low, high) = (one.min(other), one.max(other));
        if let Some(place) = self.of.get_mut(high as usize) {
            *place = low;
        }
        // What was joined later leads to the front at once.
        for line in [one, other] {
            if let Some(place) = self.of.get_mut(line as usize) {
                *place = low;
            }
        }
    }

    /// The last line of the group of a line.
    fn end(&self, line: u32) -> u32 {
        self.last.get(&self.first(line)).copied().unwrap_or(u32::MAX)
    }
}

/// Gives every line of a log, without its end, or every element of an array.
fn for_each_unit(input: Box<dyn Read>, array: bool, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut blocks = Blocks::new(input);
    blocks.unmark()?;
    if array {
        let mut elements = array::Elements::new(blocks);
        while let Some(element) = elements.next()? {
            each(element);
        }
        return Ok(());
    }
    while let Some(block) = blocks.next()? {
        block.strip_suffix(b"\n").unwrap_or(block).split(|byte| *byte == b'\n').for_each(&mut each);
    }
    Ok(())
}

/// The records of a line, each with these fields of its outermost object, or all. A damaged line, or one that holds several, has
/// those that are read of it.
fn records_of(line: &[u8], fields: Option<&'static [&'static str]>) -> Vec<Value> {
    let mut reader = serde_json::Deserializer::from_slice(line);
    let value = (Seed { keep: fields, ..Seed::default() }).deserialize(&mut reader);
    match value.and_then(|value| reader.end().map(|()| value)) {
        Ok(value) if lines::is_list(&value) => value.into_list(),
        Ok(value) => vec![value],
        Err(_) => lines::values(line),
    }
}

/// Hashes of the ids in these fields of a value, each with the number of the field.
fn ids(value: &Value, fields: &'static [&'static str]) -> impl Iterator<Item = (u64, usize)> {
    let named = fields.iter().enumerate();
    let find = |field: &str| if field.starts_with('/') { value.pointer(field) } else { value.get(field) };
    let ids = named.filter_map(move |(at, field)| Some((find(field)?.as_str()?, at)));
    ids.filter(|(id, _)| !id.is_empty()).map(|(id, at)| {
        let mut hasher = FxHasher::default();
        id.hash(&mut hasher);
        (hasher.finish(), at)
    })
}
