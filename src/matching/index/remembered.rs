//! Searches of texts that share most of their units: summaries of one session, of which each keeps lines of the last.
//!
//! What stands in a unit follows from its text alone, as long as it ends where its line does. So each is searched once,
//! and what was found is told again wherever the unit stands again. What that means is up to the sink, as in any search.

use super::super::sentence::UnitRead;
use super::super::{normalise, units};
use super::{Index, Room, Scope, Sink, Walk, is_heading};
use crate::texts::Texts;
use smallvec::SmallVec;
use std::ops::Range;

/// Units searched so far with what stands in them. Of one index only.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    units: Texts<Known>,
    /// What stands in all of them.
    hits: Vec<Hit>,
    /// What stands in the unit that is searched.
    notes: Vec<Hit>,
    room: Room,
}

/// What stands in a unit, and what was read of it.
#[derive(Debug)]
struct Known {
    /// Places in [`Remembered::hits`].
    hits: Range<usize>,
    read: UnitRead,
}

/// What a sink is told, with offsets from the start of the unit.
#[derive(Debug)]
enum Hit {
    Phrase { phrase: u32, start: usize, end: usize },
    Word(u32),
    Number(usize),
    Suffix { suffix: u32, start: usize, end: usize },
    Stray { basename: u32, token: Box<str> },
}

/// Takes down what is told of a unit.
struct Notes<'n> {
    /// Where the unit starts.
    base: usize,
    hits: &'n mut Vec<Hit>,
}

impl Sink for Notes<'_> {
    fn unit(&mut self, _text: &str, _start: usize, _end: usize) {}

    fn phrase(&mut self, phrase: u32, start: usize, end: usize) {
        self.hits.push(Hit::Phrase { phrase, start: start - self.base, end: end - self.base });
    }

    fn word(&mut self, word: u32, _sentences: &[u32]) {
        self.hits.push(Hit::Word(word));
    }

    fn number(&mut self, _text: &str, start: usize) {
        self.hits.push(Hit::Number(start - self.base));
    }

    fn suffix(&mut self, suffix: u32, _text: &str, start: usize, end: usize) {
        self.hits.push(Hit::Suffix { suffix, start: start - self.base, end: end - self.base });
    }

    fn stray(&mut self, basename: u32, token: &str) {
        self.hits.push(Hit::Stray { basename, token: token.into() });
    }

    fn unit_end(&mut self, _text: &str, _start: usize, _end: usize, _read: &UnitRead) {}

    fn heading(&mut self, _start: usize, _end: usize) {}
}

impl Index {
    /// Searches a text for everything, like [`Self::search`]; units that stood in an earlier text are not searched again.
    pub(crate) fn search_remembered(&self, text: &str, known: &mut Remembered, sink: &mut impl Sink) {
        let text = normalise(text);
        let bytes = text.as_bytes();
        for (start, end) in units(&text) {
            let unit = text.get(start..end).unwrap_or("");
            // A part of a long line has neighbours, which borders look at.
            let apart = (start == 0 || bytes.get(start - 1) == Some(&b'\n'))
                && bytes.get(end).is_none_or(|next| *next == b'\n');
            if apart {
                known.tell(self, unit, &text, start, sink);
            } else {
                let mut walk = Walk::new(self, &text, start, end, Scope::Parts, &mut known.room);
                sink.unit(&text, start, end);
                walk.unit(start, end, sink);
                sink.unit_end(&text, start, end, &UnitRead::default());
            }
            if is_heading(unit.as_bytes()) {
                sink.heading(start, end);
            }
        }
    }

    /// Tells what stands in a unit of a text.
    fn tell_again(
        &self,
        hits: &[Hit],
        read: &UnitRead,
        text: &str,
        (start, end): (usize, usize),
        sink: &mut impl Sink,
    ) {
        if hits.is_empty() && read.held.get().is_none_or(SmallVec::is_empty) {
            return;
        }
        sink.unit(text, start, end);
        for hit in hits {
            match hit {
                Hit::Phrase { phrase, start: from, end: to } => {
                    sink.phrase(*phrase, start + from, start + to);
                }
                Hit::Word(word) => {
                    let hints = self.entries.get(*word as usize).map_or(&[][..], |entry| &entry.hints);
                    sink.word(*word, hints);
                }
                Hit::Number(at) => sink.number(text, start + at),
                Hit::Suffix { suffix, start: from, end: to } => {
                    sink.suffix(*suffix, text, start + from, start + to);
                }
                Hit::Stray { basename, token } => sink.stray(*basename, token),
            }
        }
        sink.unit_end(text, start, end, read);
    }
}

impl Remembered {
    /// Tells what stands in a unit of a text that begins at `start`; searched for only where nobody did before.
    fn tell(&mut self, index: &Index, unit: &str, text: &str, start: usize, sink: &mut impl Sink) {
        let range = (start, start + unit.len());
        if let Some(Known { hits, read }) = self.units.get(unit) {
            let hits = self.hits.get(hits.clone()).unwrap_or_default();
            index.tell_again(hits, read, text, range, sink);
            return;
        }
        let mut notes = Notes { base: start, hits: &mut self.notes };
        let (from, to) = range;
        Walk::new(index, text, from, to, Scope::Parts, &mut self.room).unit(from, to, &mut notes);
        let read = UnitRead::default();
        index.tell_again(&self.notes, &read, text, range, sink);
        let first = self.hits.len();
        // Which sentences stand in the unit was read from its words, and is known with it.
        self.hits.extend(self.notes.drain(..).filter(|hit| !matches!(hit, Hit::Word(_))));
        self.units.get_or_insert_with(unit, || Known { hits: first..self.hits.len(), read });
    }
}
