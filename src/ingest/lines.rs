//! From bytes to JSON records: one record a line, or one document for the whole file.
//!
//! Separate from the readers because damage looks the same in every format: byte order marks, CRLF, NUL runs
//! left by a crash, invalid UTF-8, lone surrogate escapes, two records glued into one line, a torn record in front of
//! a whole one, a last line cut off. What can be repaired is repaired and named ([`mod@repair`]); what cannot costs that line only.
//!
//! Once the format is known, top-level fields that its reader does not look at are skipped while parsing: in Claude Code
//! logs they are half of the bytes (the structured copy of every tool result, progress payloads).
//!
//! Invariants: any bytes give an answer; every byte is part of a record, of something skipped that was named, or of what
//! stands between ([`Bytes`]); work is linear in the bytes (each repair is tried once per line, recovery of torn records at
//! most [`RECOVERIES`] times per line); records come in file order.

mod document;
mod repair;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::Cell;

use memchr::{memchr, memchr_iter, memmem, memrchr};
use serde::de::DeserializeSeed;

use super::detect::{self, Detected};
use super::json;
use super::sink::Sink;
use super::value::{Seed, Value};
use crate::diagnostic::Severity;
use repair::{Quoted, repair, shallow, spelled_out};

/// Places of one damaged line at which a whole record is looked for.
const RECOVERIES: usize = 8;

/// A byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The field that says when a record was written, in every format that says it.
const TIME: &str = "timestamp";

/// Where the bytes of a file went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bytes {
    /// In records, or in the text of a log that is one.
    pub read: u64,
    /// Left out, and named in a diagnostic.
    pub skipped: u64,
    /// Between records: ends of lines, blank lines, brackets and commas of a list, a byte order mark.
    pub between: u64,
}

impl Bytes {
    /// All of a file was read as one thing.
    #[cfg(feature = "sqlite")]
    pub(super) fn read(size: usize) -> Self {
        Self { read: size as u64, ..Self::default() }
    }

    /// All of a file was left out.
    pub(super) fn skipped(size: usize) -> Self {
        Self { skipped: size as u64, ..Self::default() }
    }

    /// Adds those of another file or piece.
    pub fn add(&mut self, other: Self) {
        self.read += other.read;
        self.skipped += other.skipped;
        self.between += other.between;
    }

    /// All bytes.
    pub fn total(self) -> u64 {
        self.read + self.skipped + self.between
    }
}

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
pub(super) struct Parsed<'a> {
    pub(super) records: Vec<Record>,
    /// The bytes of each record.
    pub(super) sizes: Vec<u64>,
    /// Positions of the records with which a further list begins, in a file of several.
    pub(super) lists: Vec<usize>,
    /// The bytes of the file.
    pub(super) bytes: Bytes,
    /// The format, where one fits.
    pub(super) detected: Option<Detected>,
    /// Lines of a text, that is a file in which next to none begins like JSON; else 0.
    pub(super) prose: usize,
    /// The whole file, where it is a log in the form of a text.
    pub(super) text: Cow<'a, str>,
    /// The bytes of a file that no format fits, where they are at hand: they tell why.
    pub(super) unknown: Option<Cow<'a, [u8]>>,
}

/// So many lines of prose for each record make a file a text, whatever a line of it looks like.
const PROSE: usize = 9;

/// Fewer lines of prose than this say nothing of a file.
const LEAST_PROSE: usize = 20;

/// Code and text of the remark on bytes that are no text.
const INVALID: (&str, &str) = ("invalid-utf8", "invalid UTF-8 replaced by U+FFFD");

/// The remark on NUL bytes.
const NULS: &str = "NUL bytes (left by a crash) removed";

/// The remark on what [`mod@repair`] did.
const REPAIRED: &str = "lone surrogate escapes and numbers like NaN replaced, raw control characters escaped";

/// Reads all records. Bytes that are owned are gone when the records are there, so that they are not held beside what is made of
/// these.
pub(super) fn parse<'a>(bytes: Cow<'a, [u8]>, out: &mut Sink) -> Parsed<'a> {
    let text = unmarked(&bytes);
    let marked = text.len() < bytes.len();
    if marked {
        note_mark(out);
    }
    let mut parsed = if is_utf16(&bytes) {
        Parsed { bytes: Bytes::skipped(bytes.len()), ..Parsed::default() }
    } else if let Some(detected) = text_log(text) {
        return as_text(bytes, detected, out);
    } else {
        let mut parsed = document::read(text, out).unwrap_or_else(|| by_line(text, out));
        parsed.bytes.between += if marked { 3 } else { 0 };
        parsed
    };
    parsed.unknown = parsed.detected.is_none().then_some(bytes);
    parsed
}

/// True for UTF-16, with or without a mark: every second byte of its ASCII is 0, and what is read of it as bytes is not what
/// it says.
pub fn is_utf16(bytes: &[u8]) -> bool {
    let marked = [b"\xff\xfe", b"\xfe\xff"].iter().any(|mark| bytes.starts_with(*mark));
    marked || matches!(bytes, [b'{' | b'[', 0, 1..=255, 0, ..] | [0, b'{' | b'[', 0, 1..=255, ..])
}

fn by_line(text: &[u8], out: &mut Sink) -> Parsed<'static> {
    let mut lines = Lines::default();
    lines.block(text, out);
    lines.finish(out)
}

pub(super) fn note_mark(out: &mut Sink) {
    out.note(1, "byte-order-mark", Severity::Note, "the file starts with a byte order mark; skipped");
}

/// The bytes without a byte order mark.
pub fn unmarked(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK).unwrap_or(bytes)
}

/// The bytes without NUL bytes, and blanks between these, at both ends.
fn unpadded(bytes: &[u8]) -> &[u8] {
    let padded = |bytes: &[u8]| bytes.first() == Some(&0) || bytes.last() == Some(&0);
    if !padded(bytes) {
        return bytes;
    }
    let solid = |byte: &u8| *byte != 0 && !byte.is_ascii_whitespace();
    let start = bytes.iter().position(solid).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(solid).map_or(start, |at| at + 1);
    bytes.get(start..end).unwrap_or_default()
}

/// The bytes without any NUL bytes.
fn without_nuls(bytes: &[u8]) -> Cow<'_, [u8]> {
    match memchr(0, bytes) {
        None => Cow::Borrowed(bytes),
        Some(_) => Cow::Owned(bytes.iter().copied().filter(|byte| *byte != 0).collect()),
    }
}

/// True when a file that begins so is no list of lines: a text, one document over several lines, or one array.
pub(super) fn is_whole(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    let first = memchr(b'\n', head).map_or(head, |at| head.get(..at).unwrap_or_default()).trim_ascii();
    match first.first() {
        Some(b'{') => !first.ends_with(b"}"),
        _ => true,
    }
}

/// Whether a file is a log in the form of a text.
fn text_log(bytes: &[u8]) -> Option<Detected> {
    let first = bytes.iter().find(|byte| **byte != 0 && !byte.is_ascii_whitespace());
    if first.is_none_or(|first| b"{[".contains(first)) {
        return None;
    }
    detect::text_log(&String::from_utf8_lossy(&without_nuls(bytes)))
}

/// Bytes of the blank lines at both ends.
fn blank_lines(text: &[u8]) -> usize {
    let lead = text.len() - text.trim_ascii_start().len();
    let first = memrchr(b'\n', text.get(..lead).unwrap_or_default()).map_or(0, |at| at + 1);
    let solid = text.trim_ascii_end().len();
    let last = memchr(b'\n', text.get(solid..).unwrap_or_default()).map_or(text.len(), |at| solid + at + 1);
    first + text.len().saturating_sub(last.max(first))
}

/// A file that is one, without a copy where nothing is wrong with it.
fn as_text<'a>(bytes: Cow<'a, [u8]>, detected: Detected, out: &mut Sink) -> Parsed<'a> {
    let size = bytes.len();
    let bytes = match bytes {
        Cow::Borrowed(bytes) => Cow::Borrowed(unmarked(bytes)),
        Cow::Owned(mut bytes) => {
            bytes.drain(..size - unmarked(&bytes).len());
            Cow::Owned(bytes)
        }
    };
    let between = size - bytes.len();
    let nuls = memchr_iter(0, &bytes).count();
    let bytes = if nuls > 0 { Cow::Owned(without_nuls(&bytes).into_owned()) } else { bytes };
    if nuls > 0 {
        out.damage(0, "nul-bytes", NULS);
    }
    let blank = blank_lines(&bytes);
    let read = (bytes.len() - blank) as u64;
    let counts = Bytes { read, skipped: nuls as u64, between: (between + blank) as u64 };
    let (text, valid) = match bytes {
        Cow::Borrowed(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            let valid = matches!(text, Cow::Borrowed(_));
            (text, valid)
        }
        Cow::Owned(bytes) => match String::from_utf8(bytes) {
            Ok(text) => (Cow::Owned(text), true),
            Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned().into(), false),
        },
    };
    if !valid {
        out.damage(0, INVALID.0, INVALID.1);
    }
    Parsed { detected: Some(detected), text, bytes: counts, ..Parsed::default() }
}

/// The line reader: what it found so far, and the fields to keep.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) records: Vec<Record>,
    pub(super) sizes: Vec<u64>,
    pub(super) bytes: Bytes,
    /// All records so far, also those that were taken out.
    pub(super) count: u64,
    lists: Vec<usize>,
    sniffer: detect::Sniffer,
    keep: Option<&'static [&'static str]>,
    held: u64,
    prose: usize,
    number: u32,
    /// A line that seems to be cut off: the end of the log, if no other follows. Its number and what the parser said.
    cut: Option<(u32, String)>,
    /// Bytes of the line at hand that no record has.
    lost: usize,
    /// The line at hand holds a field twice, nests too deep, or holds too large a number.
    odd: Odd,
}

/// What is to be said of a line that was read all the same.
#[derive(Debug, Default)]
struct Odd {
    twice: bool,
    deep: bool,
    wide: bool,
}

/// Records taken out to be read.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) records: Vec<Record>,
    /// The bytes of each.
    pub(super) sizes: Vec<u64>,
}

/// True for a list that records may be in.
pub(super) fn is_list(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().any(Value::is_object))
}

impl Batch {
    /// The positions at which something else begins than what stands before it: the lists that are known to begin there, the records
    /// that are lists, and what is behind those.
    pub(super) fn bounds(&self, lists: &[usize]) -> Vec<usize> {
        let count = self.records.len();
        let found = self.records.iter().enumerate().filter(|(_, record)| is_list(&record.value));
        let mut bounds: Vec<usize> =
            found.flat_map(|(at, _)| [at, at + 1]).chain(lists.iter().copied()).collect();
        bounds.retain(|at| (1..count).contains(at));
        bounds.sort_unstable();
        bounds.dedup();
        bounds
    }

    /// The same with the elements of lists in place of these, each on the line of its list; lists for which `whole` holds stay.
    pub(super) fn flat(self, whole: fn(&Value) -> bool) -> Self {
        let is_list = |value: &Value| is_list(value) && !whole(value);
        if !self.records.iter().any(|record| is_list(&record.value)) {
            return self;
        }
        let mut flat = Self::default();
        for (Record { line, value }, size) in self.records.into_iter().zip(self.sizes) {
            let items = if is_list(&value) { value.into_list() } else { vec![value] };
            // The first one stands for what is around them, too.
            let weights: Vec<u64> = items.iter().skip(1).map(json::weight).collect();
            let mut left = size;
            let others = weights.iter().map(|weight| {
                let own = (*weight).min(left);
                left -= own;
                own
            });
            let others: Vec<u64> = others.collect();
            flat.sizes.push(left);
            flat.sizes.extend(others);
            flat.records.extend(items.into_iter().map(|value| Record { line, value }));
        }
        flat
    }
}

impl Lines {
    /// Bytes of the records at hand.
    pub(super) fn held(&self) -> u64 {
        self.held
    }

    /// The line that was read last, from 1 on.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// What the records are, decided for good by one who has looked at all of them.
    pub(super) fn settle(&mut self, mut sniffer: detect::Sniffer) {
        sniffer.settle();
        self.keep = sniffer.found().and_then(|found| match found.by {
            detect::By::Records(shape) => shape.fields,
            detect::By::Text(_) => None,
        });
        self.sniffer = sniffer;
    }

    /// Takes out the records, given by position and line, that are wanted.
    pub(super) fn take(&mut self, wanted: impl Fn(usize, u32) -> bool) -> Batch {
        let mut batch = Batch::default();
        let mut left = Batch::default();
        let sizes = std::mem::take(&mut self.sizes);
        for (at, (record, size)) in std::mem::take(&mut self.records).into_iter().zip(sizes).enumerate() {
            let place = if wanted(at, record.line) { &mut batch } else { &mut left };
            place.records.push(record);
            place.sizes.push(size);
        }
        (self.records, self.sizes) = (left.records, left.sizes);
        self.held = self.sizes.iter().sum();
        batch
    }

    /// Reads whole lines.
    pub(super) fn block(&mut self, block: &[u8], out: &mut Sink) {
        let mut start = 0;
        while start < block.len() {
            let end =
                memchr(b'\n', block.get(start..).unwrap_or_default()).map_or(block.len(), |at| start + at);
            self.number = self.number.saturating_add(1);
            let line = block.get(start..end).unwrap_or_default();
            let mut trimmed = line.trim_ascii();
            if trimmed.starts_with(MARK) && self.number > 1 {
                trimmed = unmarked(trimmed).trim_ascii_start();
                let what = "a byte order mark inside the file, as where files were strung together; skipped";
                out.note(self.number, "byte-order-mark", Severity::Note, what);
            }
            let ended = usize::from(end < block.len());
            self.bytes.between += (line.len() - trimmed.len() + ended) as u64;
            // Whatever length they have, and however the record reads: NUL bytes around it are no part of it.
            let core = unpadded(trimmed);
            if core.len() < trimmed.len() {
                out.damage(self.number, "nul-bytes", NULS);
                self.bytes.skipped += (trimmed.len() - core.len()) as u64;
            }
            if [b"[".as_slice(), b"]"].contains(&core) {
                self.bytes.between += 1;
            } else if !core.is_empty() {
                self.tell_cut(false, out);
                self.line(core, out);
            }
            start = end + 1;
        }
    }

    /// Reads an element of an array.
    pub(super) fn element(&mut self, element: &[u8], out: &mut Sink) {
        self.number = self.number.saturating_add(1);
        self.line(element, out);
    }

    /// The one value of a file that is one, where its bytes are, and whether a field comes twice in it.
    pub(super) fn sole(&mut self, value: Value, bytes: Bytes, twice: bool, out: &mut Sink) {
        self.number = 1;
        self.push(value, usize::try_from(bytes.read).unwrap_or(usize::MAX));
        self.bytes = bytes;
        self.odd.twice = twice;
        self.tell_odd(out);
    }

    /// What the file is, now that its end is reached.
    pub(super) fn finish(mut self, out: &mut Sink) -> Parsed<'static> {
        self.tell_cut(true, out);
        // A conversation in Markdown may quote a record of a log.
        let records = usize::try_from(self.count).unwrap_or(usize::MAX);
        let text = LEAST_PROSE.max(PROSE.saturating_mul(records)) <= self.prose;
        let detected = self.sniffer.finish().filter(|_| !text);
        Parsed {
            records: self.records,
            sizes: self.sizes,
            lists: self.lists,
            bytes: self.bytes,
            detected,
            prose: if text { self.prose } else { 0 },
            ..Parsed::default()
        }
    }

    /// What the records seem to be so far, where that cannot change any more.
    pub(super) fn detected(&self) -> Option<&Detected> {
        self.sniffer.found()
    }

    /// One non-empty line.
    fn line(&mut self, line: &[u8], out: &mut Sink) {
        if let Ok(text) = std::str::from_utf8(line) {
            self.piece(text, line.len(), out);
        } else {
            out.damage(self.number, INVALID.0, INVALID.1);
            self.piece(&String::from_utf8_lossy(line), line.len(), out);
        }
    }

    /// One line or element of `size` bytes in the file.
    fn piece(&mut self, text: &str, size: usize, out: &mut Sink) {
        let before = self.records.len();
        self.lost = 0;
        self.text(text, out);
        let skipped = match self.records.len() - before {
            0 => size,
            _ => self.lost.min(size),
        };
        self.bytes.skipped += skipped as u64;
        self.bytes.read += (size - skipped) as u64;
        // The first record of a line stands for all of its bytes but those of the others.
        let others: u64 = self.sizes.iter().skip(before + 1).sum();
        if let Some(first) = self.sizes.get_mut(before) {
            *first = ((size - skipped) as u64).saturating_sub(others);
        }
        self.tell_odd(out);
    }

    /// Says what is odd about the line that was read last.
    fn tell_odd(&mut self, out: &mut Sink) {
        if std::mem::take(&mut self.odd.twice) {
            let what = "a field comes twice in one object; the last one counts";
            out.note(self.number, "duplicate-field", Severity::Note, what);
        }
        if std::mem::take(&mut self.odd.deep) {
            let what = format!("nested deeper than {} levels; what is deeper is kept as text", repair::DEPTH);
            out.note(self.number, "deep-nesting", Severity::Note, what);
        }
        if std::mem::take(&mut self.odd.wide) {
            let what = "a number of more than 64 bits; kept as the text of its digits";
            out.note(self.number, "large-number", Severity::Note, what);
        }
    }

    fn text(&mut self, text: &str, out: &mut Sink) {
        match self.one_value(text) {
            Ok(value) => self.push(value, text.len()),
            Err(error) => self.damaged(text, &error, out),
        }
    }

    /// Parses exactly one value, with all its top-level fields or those in `keep`.
    fn one_value(&mut self, text: &str) -> Result<Value, serde_json::Error> {
        let (twice, wide) = (Cell::new(false), Cell::new(false));
        let keep = self.keep;
        let parse = |text: &str| {
            wide.set(false);
            let mut reader = serde_json::Deserializer::from_str(text);
            let seed = Seed { keep, time: TIME, twice: Some(&twice), wide: Some(&wide) };
            let value = seed.deserialize(&mut reader)?;
            reader.end().map(|()| value)
        };
        let mut source = Cow::Borrowed(text);
        let mut parsed = parse(&source);
        let (mut deep, mut spelled) = (false, false);
        // Each cure is tried once: the two ills may come together.
        for _ in 0..2 {
            let ill = parsed.as_ref().err().map(ToString::to_string).unwrap_or_default();
            let cured = if !deep && ill.starts_with("recursion limit") {
                deep = true;
                shallow(&source)
            } else if !spelled && (wide.get() || ill.starts_with("number out of range")) {
                spelled = true;
                spelled_out(&source)
            } else {
                break;
            };
            let Some(cured) = cured else { break };
            source = Cow::Owned(cured);
            parsed = parse(&source);
            if parsed.is_ok() {
                self.odd.deep |= deep;
                self.odd.wide |= spelled;
            }
        }
        self.odd.twice |= twice.get() && parsed.is_ok();
        parsed
    }

    fn push(&mut self, value: Value, size: usize) {
        let record = Record { line: self.number, value };
        self.keep = self.keep.or_else(|| self.sniffer.look(&record));
        self.records.push(record);
        self.sizes.push(size as u64);
        self.held += size as u64;
        self.count += 1;
    }

    /// A line that is not one JSON value: repair, split, or name it and go on.
    fn damaged(&mut self, text: &str, error: &serde_json::Error, out: &mut Sink) {
        if text.contains('\0') {
            out.damage(self.number, "nul-bytes", NULS);
            self.lost += text.bytes().filter(|byte| *byte == 0).count();
            // They may stand inside a record, too.
            let whole: String = text.chars().filter(|c| *c != '\0').collect();
            if let Ok(value) = self.one_value(&whole) {
                self.push(value, whole.len());
                return;
            }
            for piece in text.split('\0').map(str::trim).filter(|piece| !piece.is_empty()) {
                self.text(piece, out);
            }
            return;
        }
        let repaired = repair(text);
        let error = if let Cow::Owned(repaired) = &repaired {
            match self.one_value(repaired) {
                Ok(value) => {
                    out.note(self.number, "repaired-string", Severity::Note, REPAIRED);
                    self.push(value, text.len());
                    return;
                }
                Err(error) => error.to_string(),
            }
        } else {
            error.to_string()
        };
        self.pieces(&repaired, &error, out);
    }

    /// Glued records and records behind torn ones.
    fn pieces(&mut self, text: &str, error: &str, out: &mut Sink) {
        // Of a damaged array with a line for each element the first line opens it, and the last one ends it.
        let mut rest =
            text.strip_prefix('[').map(str::trim_start).filter(|it| it.starts_with('{')).unwrap_or(text);
        let mut found = 0u32;
        let mut tries = RECOVERIES;
        loop {
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
                self.push(value, used);
                rest = rest.get(used..).unwrap_or_default().trim_start_matches([' ', ',', '\t']);
                rest = if rest == "]" { "" } else { rest };
            }
            if rest.is_empty() {
                if found > 1 {
                    let what = format!("{found} records glued into one line; split");
                    out.note(self.number, "glued-records", Severity::Note, what);
                }
                return;
            }
            // A torn record, with a whole one behind it.
            let Some(at) = self.behind_torn(rest, &mut tries) else { break };
            out.damage(
                self.number,
                "torn-record",
                "a record cut off in mid-write, with a whole one behind it",
            );
            self.lost += at;
            rest = rest.get(at..).unwrap_or_default();
            if let Ok(value) = self.one_value(rest) {
                found += 1;
                self.push(value, rest.len());
                rest = "";
            }
        }
        self.lost += rest.len();
        if rest.starts_with(['{', '[']) && (!rest.ends_with('}') || error.starts_with("EOF")) {
            self.cut = Some((self.number, error.to_owned()));
        } else {
            self.prose += usize::from(!rest.starts_with(['{', '[']));
            bad_json(self.number, error, out);
        }
    }

    /// Where behind a torn record a whole one begins: one that ends the line, or that another one follows. What stands where the
    /// torn one has a value is that value, save where it opens like the torn one itself.
    fn behind_torn(&mut self, text: &str, tries: &mut usize) -> Option<usize> {
        let starts = memmem::find_iter(text.as_bytes(), b"{\"").filter(|at| *at > 0);
        let starts = starts.filter(|at| opens_record(text.get(at + 2..).unwrap_or_default()));
        let mut quoted = Quoted::default();
        let (mut inside, mut seen) = (false, 0);
        for at in starts {
            let before = text.get(seen..at).unwrap_or_default();
            inside = before.chars().map(|c| quoted.step(c)).last().unwrap_or(inside);
            seen = at;
            let (torn, tail) = text.split_at_checked(at)?;
            let value = !inside && torn.trim_end().ends_with([':', ',', '[']);
            if value && !opens_alike(torn, tail) {
                continue;
            }
            *tries = tries.checked_sub(1)?;
            if self.one_value(tail).is_ok() {
                return Some(at);
            }
            let mut stream = serde_json::Deserializer::from_str(tail).into_iter::<Value>();
            if let Some(Ok(_)) = stream.next() {
                let next = tail.get(stream.byte_offset()..).unwrap_or_default();
                if next.trim_start().strip_prefix("{\"").is_some_and(opens_record) {
                    return Some(at);
                }
            }
        }
        None
    }

    /// Says what the last line that seemed to be cut off is, now that it is known whether others follow.
    fn tell_cut(&mut self, ended: bool, out: &mut Sink) {
        match self.cut.take() {
            Some((number, _)) if ended => {
                let what =
                    "the last line is cut off; its record is lost (the log may still be being written)";
                out.damage(number, "truncated-line", what);
            }
            Some((number, error)) => bad_json(number, &error, out),
            None => {}
        }
    }
}

fn bad_json(number: u32, error: &str, out: &mut Sink) {
    out.damage(number, "bad-json", format!("not a JSON record, skipped: {}", brief(error)));
}

/// The values in a line, damaged or not.
pub(super) fn values(line: &[u8]) -> Vec<Value> {
    let mut lines = Lines::default();
    lines.block(line, &mut Sink::default());
    lines.records.into_iter().map(|record| record.value).collect()
}

/// True when two records begin with the same field; where it is one that parts of records have, too, with the same two, as far as
/// the first record goes.
fn opens_alike(torn: &str, whole: &str) -> bool {
    let (mut torn, mut whole) = (torn.split('"'), whole.split('"'));
    let first = torn.nth(1);
    first == whole.nth(1)
        && (first != Some("type") || torn.nth(3).is_none_or(|second| whole.nth(3) == Some(second)))
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
