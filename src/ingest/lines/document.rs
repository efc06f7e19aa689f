//! Files that hold JSON documents over several lines, or one array, in place of a record a line.
//!
//! Separate from the lines because damage costs other things here: what is whole in front of it is read, several documents
//! behind each other are read one by one, and of one that is torn its complete members.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};
use serde_json::value::RawValue;

use super::repair::{Quoted, repair};
use super::{INVALID, Lines, MARK, Parsed, brief, by_line, is_whole, without_nuls};
use crate::diagnostic::Severity;
use crate::ingest::sink::Sink;
use crate::ingest::value::Value;

/// A banner in front of a document has so many lines at most.
const BANNER: usize = 20;

/// What may stand between documents and between their members.
const BETWEEN: [char; 6] = [' ', ',', '\t', '\r', '\n', '\u{feff}'];

/// A file of documents: the elements of an array, or the documents themselves, as records. `None` where it is something else.
pub(super) fn read(bytes: &[u8], out: &mut Sink) -> Option<Parsed<'static>> {
    let start = begin(bytes)?;
    let (lead, body) = bytes.split_at_checked(start)?;
    let size = body.len();
    let body = without_nuls(body);
    let nuls = size - body.len();
    let text = String::from_utf8_lossy(body.trim_ascii());
    let mut lines = Lines::default();
    let lost = if let Ok(found) = elements(&text) {
        lines.list(&found, out)?
    } else if let Cow::Owned(repaired) = repair(&text)
        && let Ok(found) = elements(&repaired)
    {
        let lost = lines.list(&found, out)?;
        out.note(0, "repaired-string", Severity::Note, super::REPAIRED);
        lost
    } else if reads_more_by_line(bytes, &text) {
        return None;
    } else {
        recovered(&text, &mut lines, out)?
    };
    if matches!(text, Cow::Owned(_)) {
        out.damage(0, INVALID.0, INVALID.1);
    }
    let lead_nuls = memchr_iter(0, lead).count();
    if nuls + lead_nuls > 0 {
        out.damage(0, "nul-bytes", super::NULS);
    }
    let banner = lead.split(|byte| *byte == b'\n').any(|line| line.first().is_some_and(u8::is_ascii_graphic));
    if banner {
        out.damage(1, "bad-json", "text in front of the document, skipped");
    } else if lead.windows(MARK.len()).any(|bytes| bytes == MARK) {
        out.note(1, "byte-order-mark", Severity::Note, "a second byte order mark; skipped");
    }
    let mut parsed = lines.finish(out);
    // Repairs may have changed lengths.
    let size = bytes.len() as u64;
    parsed.bytes.read = parsed.bytes.read.min(size);
    let named = lost + nuls + if banner { lead.len() } else { lead_nuls };
    parsed.bytes.skipped = (parsed.bytes.skipped + named as u64).min(size - parsed.bytes.read);
    parsed.bytes.between = size - parsed.bytes.read - parsed.bytes.skipped;
    Some(parsed)
}

/// Where the first document begins: at the beginning, behind what a crash or a tool that joins files left there, or behind a few
/// lines of other text.
fn begin(bytes: &[u8]) -> Option<usize> {
    let blank = |byte: u8| byte.is_ascii_whitespace() || byte == 0 || MARK.contains(&byte);
    let first = bytes.iter().position(|byte| !blank(*byte))?;
    let mut at = first;
    for _ in 0..BANNER {
        let rest = bytes.get(at..)?;
        if opens(rest) {
            return (at == first || opens_alone(rest)).then_some(at);
        }
        if rest.starts_with(b"{") {
            return None;
        }
        at += memchr(b'\n', rest)? + 1;
    }
    None
}

/// True when the first line is not whole in itself: that means one record a line.
fn opens(text: &[u8]) -> bool {
    let first = first_line(text.trim_ascii());
    first.starts_with(b"[") || first.starts_with(b"{") && is_whole(first)
}

/// True when a damaged file holds more as a list of lines than as documents: the first line alone may be torn, and of a document
/// any line may look like a record.
fn reads_more_by_line(bytes: &[u8], text: &str) -> bool {
    if text.starts_with('[') && !text.contains('\n') {
        return false;
    }
    let parsed = by_line(bytes, &mut Sink::default());
    let list = |value: &Value| value.as_array().is_some_and(|items| items.iter().any(Value::is_object));
    let records = parsed.records.iter().zip(&parsed.sizes);
    let records = records.filter(|(record, _)| record.value.is_object() || list(&record.value));
    let by_line: u64 = records.map(|(_, size)| *size).sum();
    if by_line == 0 {
        return false;
    }
    // Of elements with a line each the commas and brackets were read, too.
    let commas = text.lines().filter(|line| line.trim_end().ends_with(',')).count();
    let brackets = usize::from(text.starts_with('[')) + usize::from(text.ends_with(']'));
    let by_line = by_line.saturating_sub((commas + brackets) as u64);
    let mut lines = Lines::default();
    let lost = recovered(text, &mut lines, &mut Sink::default());
    // Where both read the same, one line is a line.
    let least = by_line + u64::from(!text.contains('\n'));
    lost.is_none() || lines.bytes.read < least
}

/// True when the first line holds nothing but the bracket that opens a document.
fn opens_alone(text: &[u8]) -> bool {
    [b"{".as_slice(), b"["].contains(&first_line(text.trim_ascii_start()))
}

fn first_line(text: &[u8]) -> &[u8] {
    memchr(b'\n', text).map_or(text, |at| text.get(..at).unwrap_or_default()).trim_ascii()
}

impl Lines {
    /// The elements of a document, and the bytes of those that are no objects; `None` where all are none: a list of bare values
    /// is no list of messages, one of lists may be one of conversations.
    fn list(&mut self, elements: &[&str], out: &mut Sink) -> Option<usize> {
        let opens = |with: char| move |element: &&str| element.starts_with(with);
        if !elements.is_empty() && elements.iter().all(opens('[')) {
            for element in elements {
                self.number = self.number.saturating_add(1);
                self.piece(element, element.len(), out);
            }
            return Some(0);
        }
        elements.iter().any(opens('{')).then(|| self.objects(elements, out))
    }

    /// Those of the elements that are objects; gives the bytes of the others.
    fn objects(&mut self, elements: &[&str], out: &mut Sink) -> usize {
        let mut others = 0;
        for element in elements {
            self.number = self.number.saturating_add(1);
            if element.starts_with('{') {
                self.piece(element, element.len(), out);
            } else {
                out.damage(
                    self.number,
                    "bad-record",
                    "an element of the document that is no object; skipped",
                );
                others += element.len();
            }
        }
        others
    }
}

/// What a whole document lists: the elements of an array, unread, or the one value.
fn elements(text: &str) -> Result<Vec<&str>, serde_json::Error> {
    if text.starts_with('[') {
        let elements: Vec<&RawValue> = serde_json::from_str(text)?;
        Ok(elements.into_iter().map(RawValue::get).collect())
    } else {
        let value: &RawValue = serde_json::from_str(text)?;
        Ok(vec![value.get()])
    }
}

/// What can be had of a damaged file: documents in front of the damage and whole members of the one that it hit. Gives the bytes
/// behind it that are not read; `None` where the file is more likely one of lines.
fn recovered(text: &str, lines: &mut Lines, out: &mut Sink) -> Option<usize> {
    let mut rest = text;
    let mut documents = 0u32;
    let mut others = 0;
    let mut torn = None;
    loop {
        rest = rest.trim_start_matches(BETWEEN);
        if !rest.starts_with(['{', '[']) {
            break;
        }
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        match stream.next()? {
            Ok(document) => {
                if documents > 0 && document.get().starts_with('[') {
                    lines.lists.push(lines.records.len());
                }
                others += lines.objects(&elements(document.get()).unwrap_or_default(), out);
                documents += 1;
                rest = rest.get(document.get().len()..).unwrap_or_default();
            }
            Err(error) => {
                torn = Some(error);
                break;
            }
        }
    }
    if rest.is_empty() {
        let what = format!("{documents} documents behind each other; all are read");
        out.note(0, "glued-records", Severity::Note, what);
        return Some(others);
    }
    let from = text.len() - rest.len();
    let (damage, cause) = match &torn {
        Some(error) => (offset(rest, error), brief(&error.to_string()).to_owned()),
        None => (0, "what follows is not JSON".to_owned()),
    };
    let (line, column) = place(text, from + damage);
    // One line that is torn is more likely a record than a document, save where it lists several things.
    let least = if line < 2 && text.starts_with('{') { 2 } else { 1 };
    let kept = if torn.is_some() { members(rest, damage, least, lines, out) } else { 0 };
    if line < 2 && documents == 0 && kept == 0 && !text.starts_with('[') {
        return None;
    }
    let what = format!(
        "a JSON document that is damaged at line {line}, column {column}: {cause}; {}",
        match lines.count {
            0 => "nothing of it is read".to_owned(),
            1 => "what is whole before it is read".to_owned(),
            count => format!("the {count} elements before it are read"),
        }
    );
    out.damage(u32::try_from(line).unwrap_or(u32::MAX), "bad-document", what);
    Some(rest.len() - kept + others)
}

/// Reads the members of a torn document that are whole in front of the damage, if there are so many; gives their bytes.
fn members(text: &str, damage: usize, least: u32, lines: &mut Lines, out: &mut Sink) -> usize {
    let torn = text.get(..damage).unwrap_or(text);
    let Some((cut, closed)) = closed(torn, least) else { return 0 };
    let Ok(found) = elements(&closed) else { return 0 };
    lines.objects(&found, out);
    let rest = text.get(cut..).unwrap_or_default();
    text.len() - rest.trim_start_matches(BETWEEN).len()
}

/// An array or object that was opened.
struct Open {
    with: char,
    /// Behind its last whole member.
    cut: usize,
    /// Members so far that are objects.
    objects: u32,
}

/// The text without what is torn at its end, and all that is open closed: cut behind the last whole object of the outermost list
/// of so many objects, else of the object that holds most. Gives the length that is left before the closing, too.
fn closed(text: &str, least: u32) -> Option<(usize, String)> {
    let mut quoted = Quoted::default();
    let mut open: Vec<Open> = Vec::new();
    for (at, c) in text.char_indices() {
        if quoted.step(c) {
            continue;
        }
        match c {
            '{' | '[' => open.push(Open { with: c, cut: 0, objects: 0 }),
            '}' | ']' => {
                let closed = open.pop()?;
                // What the document itself lists is whole when its list is.
                let objects = match c {
                    '}' => 1,
                    _ if open.len() == 1 => closed.objects,
                    _ => 0,
                };
                if let Some(around) = open.last_mut().filter(|_| objects > 0) {
                    around.cut = at + 1;
                    around.objects += objects;
                }
            }
            _ => {}
        }
    }
    let list = open.iter().position(|it| it.with == '[' && it.objects >= least);
    let fullest = || {
        let filled = open.iter().enumerate().filter(|(_, it)| it.objects >= least);
        filled.max_by_key(|(at, it)| (it.objects, std::cmp::Reverse(*at))).map(|(at, _)| at)
    };
    let chosen = list.or_else(fullest)?;
    let cut = open.get(chosen)?.cut;
    let mut closed = text.get(..cut)?.to_owned();
    closed.extend(open.iter().take(chosen + 1).rev().map(|it| if it.with == '{' { '}' } else { ']' }));
    Some((cut, closed))
}

/// The byte at which an error is.
fn offset(text: &str, error: &serde_json::Error) -> usize {
    let before = error.line().saturating_sub(1);
    let start = match before.checked_sub(1) {
        Some(nth) => memchr_iter(b'\n', text.as_bytes()).nth(nth).map_or(0, |at| at + 1),
        None => 0,
    };
    let mut at = (start + error.column().saturating_sub(usize::from(!error.is_eof()))).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Line and column of a byte, both from 1 on.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = memchr_iter(b'\n', before.as_bytes()).count() + 1;
    (line, before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1)
}
