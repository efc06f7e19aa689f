//! A file that grows by whole pieces, of which one process at a time is the writer.

use super::files::FilesError;
use std::fs::{File, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// The file, and how much of it is whole.
#[derive(Debug)]
pub(super) struct Growing {
    file: File,
    sound: u64,
}

impl Growing {
    /// Opens a file, or makes it; what stands in it stays. `busy`: what is wrong and what to do where another process writes it.
    pub(super) fn open(path: &Path, busy: (&str, &str)) -> Result<Self, FilesError> {
        let failed = |error| FilesError::io(path, "write the file", error);
        let file = File::options().create(true).truncate(false).write(true).open(path).map_err(failed)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(FilesError::new(path, busy.0, busy.1)),
            // Some file systems know no locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let sound = file.metadata().map_err(failed)?.len();
        Ok(Self { file, sound })
    }

    /// Bytes that are whole.
    pub(super) fn len(&self) -> u64 {
        self.sound
    }

    /// Takes off what stands behind the first `sound` bytes.
    pub(super) fn cut(&mut self, sound: u64) -> io::Result<()> {
        self.file.set_len(sound)?;
        self.sound = sound;
        Ok(())
    }

    /// Adds bytes; where not all of them could be written, none were.
    pub(super) fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.sound))?;
        if let Err(error) = self.file.write_all(bytes) {
            // What stands behind the whole pieces is taken off: now, or when it is read.
            let _ = self.file.set_len(self.sound);
            return Err(error);
        }
        self.sound += bytes.len() as u64;
        Ok(())
    }
}
