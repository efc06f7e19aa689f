//! Finished sessions of a run that is not finished: a file that grows by one record each, so that a run that is stopped at any
//! moment loses none of them.
//!
//! A record is its length (4 bytes), a key (32 bytes), the payload, and the first 8 bytes of a BLAKE3 hash over both. A record
//! that was being written when the run was stopped is the last one, does not add up, and is taken off again.

use super::files::{FilesError, read_bytes};
use super::growing::Growing;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Name of the file.
pub const JOURNAL: &str = "sessions.journal";

/// What the file begins with: another version is another file.
const MAGIC: &[u8; 16] = b"compactor-run-1\n";
/// Bytes of a record around its payload.
const AROUND: usize = 4 + 32 + 8;

/// What a record is found by.
pub type Key = [u8; 32];

/// The file of a run.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    written: Mutex<Growing>,
    known: FxHashMap<Key, Vec<u8>>,
    /// Records of an earlier run that this one does not go on with.
    given_up: usize,
}

impl Journal {
    /// Begins a journal in a directory, or, to `resume`, goes on with the one that is there.
    ///
    /// # Errors
    ///
    /// It cannot be read or written.
    pub fn open(dir: &Path, resume: bool) -> Result<Self, FilesError> {
        let path = dir.join(JOURNAL);
        let failed = |error| FilesError::io(&path, "write the file", error);
        let busy = ("another run writes to this directory", "wait for it, or give another --out");
        let mut written = Growing::open(&path, busy)?;
        let (mut known, mut sound) = records(&read_bytes(&path)?);
        let mut given_up = 0;
        if !resume {
            (given_up, sound) = (known.len(), 0);
            known.clear();
        }
        written.cut(sound as u64).map_err(failed)?;
        if sound == 0 {
            written.add(MAGIC).map_err(failed)?;
        }
        Ok(Self { path, written: Mutex::new(written), known, given_up })
    }

    /// Sessions of an earlier run that are given up, since this one does not go on with it.
    pub fn given_up(&self) -> usize {
        self.given_up
    }

    /// Sessions that it held when it was opened.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// True when it held none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// What was kept under a key before it was opened.
    pub fn find(&self, key: &Key) -> Option<&[u8]> {
        self.known.get(key).map(Vec::as_slice)
    }

    /// Keeps a record.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn keep(&self, key: &Key, payload: &[u8]) -> Result<(), FilesError> {
        let mut record = Vec::with_capacity(payload.len() + AROUND);
        record.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        record.extend_from_slice(key);
        record.extend_from_slice(payload);
        record.extend_from_slice(&check(key, payload));
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.add(&record).map_err(|error| FilesError::io(&self.path, "write the file", error))
    }

    /// The run is whole: what it is made of is not needed any more.
    ///
    /// # Errors
    ///
    /// It cannot be removed.
    pub fn remove(self) -> Result<(), FilesError> {
        let path = self.path.clone();
        drop(self);
        std::fs::remove_file(&path).map_err(|error| FilesError::io(&path, "remove the file", error))
    }
}

fn check(key: &Key, payload: &[u8]) -> [u8; 8] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(key).update(payload);
    let mut first = [0; 8];
    first.copy_from_slice(hasher.finalize().as_bytes().first_chunk::<8>().unwrap_or(&[0; 8]));
    first
}

/// The records of a file, and how many of its bytes are sound.
fn records(bytes: &[u8]) -> (FxHashMap<Key, Vec<u8>>, usize) {
    let mut known = FxHashMap::default();
    let Some(mut rest) = bytes.strip_prefix(MAGIC) else { return (known, 0) };
    while let Some((key, payload, behind)) = record(rest) {
        known.insert(key, payload.to_vec());
        rest = behind;
    }
    (known, bytes.len() - rest.len())
}

fn record(bytes: &[u8]) -> Option<(Key, &[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (key, rest) = rest.split_first_chunk::<32>()?;
    let (payload, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let (sum, rest) = rest.split_first_chunk::<8>()?;
    (*sum == check(key, payload)).then_some((*key, payload, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keyed(number: u8) -> (Key, Vec<u8>) {
        ([number; 32], (0..number).cycle().take(usize::from(number) * 40).collect())
    }

    /// Whatever the byte at which writing stopped, all records before it are found, and the next one can follow.
    #[test]
    fn a_record_that_is_torn_costs_no_other() {
        let dir = tempfile::tempdir().expect("a directory");
        let journal = Journal::open(dir.path(), false).expect("a journal");
        let mut ends = vec![MAGIC.len()];
        for number in 1..5 {
            let (key, payload) = keyed(number);
            journal.keep(&key, &payload).expect("it is kept");
            ends.push(ends.last().expect("one") + payload.len() + AROUND);
        }
        drop(journal);
        let path = dir.path().join(JOURNAL);
        let whole = read_bytes(&path).expect("a file");
        assert_eq!(whole.len(), *ends.last().expect("one"));
        for stop in 0..=whole.len() {
            #[expect(clippy::disallowed_methods, reason = "a test damages a file")]
            std::fs::write(&path, &whole[..stop]).expect("a file");
            let sound = ends.iter().filter(|end| **end <= stop).count().saturating_sub(1);
            let journal = Journal::open(dir.path(), true).expect("a journal");
            assert_eq!(journal.len(), sound, "{stop}");
            let (key, payload) = keyed(9);
            journal.keep(&key, &payload).expect("it is kept");
            drop(journal);
            let journal = Journal::open(dir.path(), true).expect("a journal");
            assert_eq!((journal.len(), journal.find(&key)), (sound + 1, Some(payload.as_slice())), "{stop}");
            for number in 1..=sound as u8 {
                let (key, payload) = keyed(number);
                assert_eq!(journal.find(&key), Some(payload.as_slice()), "{stop}");
            }
        }
        // A run that does not resume begins anew.
        assert!(Journal::open(dir.path(), false).expect("a journal").is_empty());
        assert!(Journal::open(dir.path(), true).expect("a journal").is_empty());
    }
}
