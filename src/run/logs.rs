//! Reading one log of a run, whatever its size: small ones at once, large ones session by session.

use crate::discover::{self, Source};
use crate::ingest::{Ingested, ingest, ingest_stream};
use crate::transcript::Transcript;
use std::cell::RefCell;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// Files of more bytes than this are read as a stream.
const LARGE: u64 = 64 << 20;

/// Bytes of text in sessions that are collected before they are worked on together.
const TOGETHER: usize = 32 << 20;

/// A log that was read; its sessions went elsewhere.
pub(super) struct LogRead {
    pub(super) ingested: Ingested,
    /// Of all its bytes.
    pub(super) hash: [u8; 32],
    pub(super) bytes: u64,
}

/// Why a log could not be read.
pub(super) struct Unread {
    pub(super) code: &'static str,
    pub(super) text: String,
}

/// Reads a log; its sessions go to `work`, some at a time.
pub(super) fn read_log(source: &Source, work: &mut dyn FnMut(&[Transcript])) -> Result<LogRead, Unread> {
    let failed = || Unread {
        code: "internal-error",
        text: "the reader failed on this file; please report it".to_owned(),
    };
    if source.bytes <= LARGE {
        let bytes = discover::read(source).map_err(|text| Unread { code: "unreadable", text })?;
        let read = catch_unwind(AssertUnwindSafe(|| ingest(&bytes, &source.label))).map_err(|_| failed())?;
        let (hash, length) = (blake3::hash(&bytes).into(), bytes.len() as u64);
        drop(bytes);
        let mut ingested = read;
        let sessions = std::mem::take(&mut ingested.sessions);
        work(&sessions);
        return Ok(LogRead { ingested, hash, bytes: length });
    }
    let told = Rc::new(RefCell::new(Told::default()));
    let mut first = true;
    let mut open = || -> io::Result<Box<dyn Read>> {
        let input = discover::open(source).map_err(io::Error::other)?;
        // Only the first pass is counted.
        Ok(if std::mem::take(&mut first) { Box::new(Counted { input, told: told.clone() }) } else { input })
    };
    let mut waiting: Vec<Transcript> = Vec::new();
    let mut weight = 0;
    let mut each = |session: Transcript| {
        weight += session.weight();
        waiting.push(session);
        if weight > TOGETHER {
            work(&waiting);
            waiting.clear();
            weight = 0;
        }
    };
    let read = catch_unwind(AssertUnwindSafe(|| ingest_stream(&mut open, &source.label, &mut each)));
    let ingested = read
        .map_err(|_| failed())?
        .map_err(|error| Unread { code: "unreadable", text: format!("cannot be read: {error}") })?;
    work(&waiting);
    let told = told.borrow();
    Ok(LogRead { ingested, hash: told.hasher.finalize().into(), bytes: told.bytes })
}

/// What passed by.
#[derive(Default)]
struct Told {
    hasher: blake3::Hasher,
    bytes: u64,
}

/// Hashes and counts what is read through it.
struct Counted {
    input: Box<dyn Read>,
    told: Rc<RefCell<Told>>,
}

impl Read for Counted {
    fn read(&mut self, place: &mut [u8]) -> io::Result<usize> {
        let bytes = self.input.read(place)?;
        let mut told = self.told.borrow_mut();
        told.hasher.update(place.get(..bytes).unwrap_or_default());
        told.bytes += bytes as u64;
        Ok(bytes)
    }
}
