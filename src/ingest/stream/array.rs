//! The elements of a log that is one array, without the whole array at hand.
//!
//! Only arrays of objects with nothing wrong are read so, which [`is_sound`] finds out in a pass of its own: what can be had of
//! others only the whole file tells.

use std::io::{self, Read};
use std::ops::Range;

use memchr::memchr2;
use serde::de::IgnoredAny;

use super::{Blocks, lines};

/// What comes next in an array.
enum Next {
    /// An object, where it stands in the buffer.
    Element(Range<usize>),
    /// The end of the array and of the log.
    End,
    /// Something that does not belong there.
    Odd,
}

/// The array, read so far.
pub(super) struct Elements {
    blocks: Blocks,
    opened: bool,
    count: u64,
    /// Bytes between the elements.
    between: u64,
}

impl Elements {
    /// `blocks` at their beginning, behind a byte order mark.
    pub(super) fn new(blocks: Blocks) -> Self {
        Self { blocks, opened: false, count: 0, between: 0 }
    }

    /// Bytes so far that are in no element.
    pub(super) fn between(&self) -> u64 {
        self.between
    }

    fn skip(&mut self, bytes: usize) {
        self.blocks.skip(bytes);
        self.between += bytes as u64;
    }

    /// The next element of an array that was sound when it was looked at; `None` at its end.
    pub(super) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        match self.step()? {
            Next::Element(place) => Ok(self.blocks.buffer.get(place)),
            Next::End => Ok(None),
            Next::Odd => Err(io::Error::other(
                "it changed while it was read; read it again when nothing writes to it any more",
            )),
        }
    }

    fn step(&mut self) -> io::Result<Next> {
        if !self.opened {
            if self.solid()? != Some(b'[') {
                return Ok(Next::Odd);
            }
            self.skip(1);
            self.opened = true;
        }
        let mut first = self.solid()?;
        match first {
            Some(b']') if self.count > 0 => {
                self.skip(1);
                return Ok(if self.solid()?.is_none() { Next::End } else { Next::Odd });
            }
            Some(b',') if self.count > 0 => {
                self.skip(1);
                first = self.solid()?;
            }
            _ if self.count > 0 => return Ok(Next::Odd),
            _ => {}
        }
        if first != Some(b'{') {
            return Ok(Next::Odd);
        }
        let mut scan = Scan::default();
        let length = loop {
            if let Some(length) = scan.on(self.blocks.waiting()) {
                break length;
            }
            if self.blocks.ended {
                return Ok(Next::Odd);
            }
            self.blocks.fill()?;
        };
        let start = self.blocks.used;
        self.blocks.skip(length);
        self.count += 1;
        Ok(Next::Element(start..start + length))
    }

    /// Skips blanks; the byte behind them.
    fn solid(&mut self) -> io::Result<Option<u8>> {
        loop {
            let waiting = self.blocks.waiting();
            let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
            if let Some(at) = waiting.iter().position(|byte| !blank(byte)) {
                let found = waiting.get(at).copied();
                self.skip(at);
                return Ok(found);
            }
            let blanks = waiting.len();
            self.skip(blanks);
            if self.blocks.ended {
                return Ok(None);
            }
            self.blocks.fill()?;
        }
    }
}

/// Looks for the end of an object.
#[derive(Default)]
struct Scan {
    at: usize,
    depth: u32,
    quoted: bool,
}

impl Scan {
    /// The length of the object that these bytes begin with, where its end is among them; they may be more than the last time.
    fn on(&mut self, bytes: &[u8]) -> Option<usize> {
        while let Some(byte) = bytes.get(self.at) {
            if self.quoted {
                let Some(found) = bytes.get(self.at..).and_then(|rest| memchr2(b'"', b'\\', rest)) else {
                    self.at = bytes.len();
                    return None;
                };
                self.at += found;
                if bytes.get(self.at) == Some(&b'\\') {
                    // What is escaped may not be there yet.
                    bytes.get(self.at + 1)?;
                    self.at += 2;
                } else {
                    self.quoted = false;
                    self.at += 1;
                }
                continue;
            }
            self.at += 1;
            match byte {
                b'"' => self.quoted = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(self.at);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// True when a log is one array of objects, whole and valid to the last byte.
pub(super) fn is_sound(input: Box<dyn Read>) -> io::Result<bool> {
    let mut blocks = Blocks::new(input);
    blocks.unmark()?;
    let mut elements = Elements::new(blocks);
    loop {
        match elements.step()? {
            Next::Element(place) => {
                let element = elements.blocks.buffer.get(place).unwrap_or_default();
                let valid = std::str::from_utf8(element)
                    .is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
                if !valid {
                    return Ok(false);
                }
            }
            Next::End => return Ok(true),
            Next::Odd => return Ok(false),
        }
    }
}

/// True when a log that begins so may be one.
pub(super) fn may_be(head: &[u8]) -> bool {
    lines::unmarked(head).trim_ascii_start().starts_with(b"[")
}
