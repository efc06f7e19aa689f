//! From a source to its sessions, whether it is one file or several.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Source, read_all, read_telling};
use crate::diagnostic::{Diagnostic, Severity};
use crate::ingest::{self, Ingested, database, ingest, ingest_tree};

/// A log that was read.
#[derive(Debug)]
pub struct Log {
    /// Its sessions, and what was noticed.
    pub ingested: Ingested,
    /// What stands in its file, unpacked; `None` of a log that lies in several.
    pub raw: Option<Vec<u8>>,
    /// Hash of its bytes, unpacked; of several files that of their hashes.
    pub hash: [u8; 32],
    /// Bytes, unpacked.
    pub bytes: u64,
}

/// Why a log could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// The file, or one of its files, is not readable: cause, and what to do.
    Unreadable(String),
    /// The reader itself failed.
    Failed,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(cause) => f.write_str(cause),
            Self::Failed => f.write_str("the reader failed on this file; please report it"),
        }
    }
}

/// True for a database in a file of its own, which is read from where it lies.
pub fn is_database(source: &Source) -> bool {
    let head = || super::packed::peek(&mut super::file(&source.path)?);
    !super::is_stdin(&source.path) && head().is_ok_and(|head| ingest::is_database(&head))
}

/// Reads a source and finds its sessions. Damage to an archive is one more remark.
pub fn read_log(source: &Source) -> Result<Log, Unread> {
    match source.tree {
        None if is_database(source) => {
            let work = || database(&source.path, &source.label);
            let ingested = catch_unwind(AssertUnwindSafe(work)).map_err(|_| Unread::Failed)?;
            let mut hasher = blake3::Hasher::new();
            let open = super::open(source).map_err(Unread::Unreadable)?;
            let bytes = std::io::copy(&mut { open }, &mut hasher);
            let bytes = bytes.map_err(|error| Unread::Unreadable(error.to_string()))?;
            Ok(Log { ingested, raw: None, hash: hasher.finalize().into(), bytes })
        }
        None => {
            let mut hasher = blake3::Hasher::new();
            let contents = read_telling(source, |piece| {
                hasher.update(piece);
            });
            let contents = contents.map_err(Unread::Unreadable)?;
            let label = super::unpacked_name(&source.label);
            let work = || ingest(&contents.bytes, label);
            let mut ingested = catch_unwind(AssertUnwindSafe(work)).map_err(|_| Unread::Failed)?;
            remark(&mut ingested, contents.damage);
            let bytes = contents.bytes.len() as u64;
            Ok(Log { ingested, raw: Some(contents.bytes), hash: hasher.finalize().into(), bytes })
        }
        Some(tree) => {
            let all = read_all(source).map_err(Unread::Unreadable)?;
            let (mut hasher, mut bytes) = (blake3::Hasher::new(), 0);
            let (mut damages, mut files) = (Vec::new(), Vec::with_capacity(all.len()));
            for (path, contents) in all {
                hasher.update(blake3::hash(&contents.bytes).as_bytes());
                bytes += contents.bytes.len() as u64;
                let name = path.rsplit('/').next().unwrap_or_default();
                damages.extend(contents.damage.map(|damage| format!("{name}: {damage}")));
                files.push((path, contents.bytes));
            }
            let work = || ingest_tree(tree, files, &source.label);
            let mut ingested = catch_unwind(AssertUnwindSafe(work)).map_err(|_| Unread::Failed)?;
            for damage in damages {
                remark(&mut ingested, Some(damage));
            }
            Ok(Log { ingested, raw: None, hash: hasher.finalize().into(), bytes })
        }
    }
}

/// Adds what is said of an archive.
fn remark(ingested: &mut Ingested, damage: Option<String>) {
    if let Some(text) = damage {
        let diagnostic =
            Diagnostic { line: 0, code: "damaged-archive", severity: Severity::Damage, count: 1, text };
        ingested.diagnostics.insert(0, diagnostic);
    }
}
