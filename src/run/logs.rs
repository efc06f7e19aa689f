//! Reading one log of a run, whatever its size: small ones at once, large ones session by session.

use crate::diagnostic::{Diagnostic, Severity};
use crate::discover::{self, Log, Source, unpacked_name};
use crate::ingest::{Ingested, ingest_in_batches, ingest_stream};
use crate::transcript::Transcript;
use std::cell::RefCell;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// Files of more bytes than this are read as a stream, so that they are not held beside what is made of them.
const SMALL: u64 = 16 << 20;

/// Of files of more bytes than this sessions are given out while they are read.
const LARGE: u64 = 64 << 20;

/// Bytes of an archive are so many bytes of log, at a guess.
const PACKED: u64 = 8;

/// Bytes of sessions that are collected before they are worked on together.
const TOGETHER: usize = 8 << 20;

/// Bytes that a session and a message come to beside their texts, with what is found in them.
const SESSION: usize = 1 << 10;
const MESSAGE: usize = 1 << 8;

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

impl From<discover::Unread> for Unread {
    fn from(unread: discover::Unread) -> Self {
        let code = match unread {
            discover::Unread::Unreadable(_) => "unreadable",
            discover::Unread::Failed => "internal-error",
        };
        Self { code, text: unread.to_string() }
    }
}

/// Reads a log; its sessions go to `work`, some at a time.
pub(super) fn read_log(source: &Source, work: &mut dyn FnMut(&[Transcript])) -> Result<LogRead, Unread> {
    let size = expected(source);
    if source.tree.is_some() || size <= SMALL || discover::is_database(source) {
        let Log { mut ingested, raw, hash, bytes } = discover::read_log(source)?;
        drop(raw);
        work(&std::mem::take(&mut ingested.sessions));
        return Ok(LogRead { ingested, hash, bytes });
    }
    let told = Rc::new(RefCell::new(Told::default()));
    let mut first = true;
    let mut open = || -> io::Result<Box<dyn Read>> {
        let input = discover::open(source).map_err(io::Error::other)?;
        // Only the first pass is counted.
        let told = std::mem::take(&mut first).then(|| told.clone());
        Ok(Box::new(Counted { input, told }))
    };
    let mut waiting: Vec<Transcript> = Vec::new();
    let mut weight = 0;
    let mut each = |session: Transcript| {
        weight += session.weight() + SESSION + MESSAGE * session.messages.len();
        waiting.push(session);
        if weight > TOGETHER {
            work(&waiting);
            waiting.clear();
            weight = 0;
        }
    };
    let label = unpacked_name(&source.label);
    let read = catch_unwind(AssertUnwindSafe(|| {
        if size <= LARGE {
            ingest_in_batches(&mut open, label, &mut each, u64::MAX)
        } else {
            ingest_stream(&mut open, label, &mut each)
        }
    }));
    let mut ingested = read
        .map_err(|_| discover::Unread::Failed)?
        .map_err(|error| discover::Unread::Unreadable(error.to_string()))?;
    work(&waiting);
    let told = told.borrow();
    if let Some(text) = told.damage.clone() {
        let severity = Severity::Damage;
        ingested
            .diagnostics
            .insert(0, Diagnostic { line: 0, code: "damaged-archive", severity, count: 1, text });
    }
    Ok(LogRead { ingested, hash: told.hasher.finalize().into(), bytes: told.bytes })
}

/// Bytes that a source comes to, unpacked.
fn expected(source: &Source) -> u64 {
    let packed = unpacked_name(&source.label) != source.label;
    let bytes = source.told_bytes().unwrap_or(source.bytes);
    if packed { bytes.saturating_mul(PACKED) } else { bytes }
}

/// What passed by.
#[derive(Default)]
struct Told {
    hasher: blake3::Hasher,
    bytes: u64,
    /// Why an archive ends too early.
    damage: Option<String>,
}

/// Hashes and counts what is read through it; a damaged archive ends where it is damaged.
struct Counted {
    input: Box<dyn Read>,
    told: Option<Rc<RefCell<Told>>>,
}

impl Read for Counted {
    fn read(&mut self, place: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(place);
        let Some(told) = &self.told else {
            return read.or_else(
                |error| if error.kind() == io::ErrorKind::InvalidData { Ok(0) } else { Err(error) },
            );
        };
        let mut told = told.borrow_mut();
        match read {
            Ok(bytes) => {
                told.hasher.update(place.get(..bytes).unwrap_or_default());
                told.bytes += bytes as u64;
                Ok(bytes)
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData && told.bytes > 0 => {
                told.damage = Some(error.to_string());
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }
}
