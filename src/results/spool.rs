//! Bytes that are written once and read again: in memory as long as they are few, then in a temporary file without a name.
//!
//! What is said of a session is small, but a log may hold millions of them.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use tempfile::SpooledTempFile;

/// More bytes than this go to a file.
const MOST: usize = 8 << 20;

/// Bytes read at once where many follow each other.
const BLOCK: usize = 64 << 10;

/// A place for bytes that several threads write to.
#[derive(Debug)]
pub struct Spool(Mutex<SpooledTempFile>);

impl Default for Spool {
    fn default() -> Self {
        Self::new(MOST)
    }
}

impl Spool {
    /// A place that holds so many bytes in memory.
    pub fn new(most: usize) -> Self {
        Self(Mutex::new(SpooledTempFile::new(most)))
    }

    /// Adds bytes; where they stand.
    pub fn append(&self, bytes: &[u8]) -> io::Result<Range<u64>> {
        self.with(SeekFrom::End(0), |file, at| {
            file.write_all(bytes)?;
            Ok(at..at + bytes.len() as u64)
        })
    }

    /// Adds pieces behind each other, with nothing of other threads between them.
    pub fn append_all<P: AsRef<[u8]>>(&self, pieces: impl IntoIterator<Item = P>) -> io::Result<Range<u64>> {
        self.with(SeekFrom::End(0), |file, at| {
            let mut out = BufWriter::with_capacity(BLOCK, file);
            let mut end = at;
            for piece in pieces {
                out.write_all(piece.as_ref())?;
                end += piece.as_ref().len() as u64;
            }
            out.flush()?;
            Ok(at..end)
        })
    }

    /// Writes bytes over others.
    pub fn overwrite(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.with(SeekFrom::Start(at), |file, _| file.write_all(bytes))
    }

    /// Reads what stands at a place; all of `into` is there, or it is an error.
    pub fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.with(SeekFrom::Start(at), |file, _| file.read_exact(into))
    }

    /// The same, or as many bytes as there are up to the end; how many.
    pub fn read_some(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        self.with(SeekFrom::Start(at), |file, _| {
            let mut read = 0;
            while let Some(rest) = into.get_mut(read..).filter(|rest| !rest.is_empty()) {
                match file.read(rest) {
                    Ok(0) => break,
                    Ok(bytes) => read += bytes,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(read)
        })
    }

    fn with<T>(
        &self,
        place: SeekFrom,
        work: impl FnOnce(&mut SpooledTempFile, u64) -> io::Result<T>,
    ) -> io::Result<T> {
        // What a panic left half-written is read by nobody: its place was never told.
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = file.seek(place)?;
        work(&mut file, at)
    }
}

/// Reads a stretch from its beginning to its end.
#[derive(Debug)]
pub struct Reader<'a> {
    spool: &'a Spool,
    left: Range<u64>,
    buffer: Vec<u8>,
    used: usize,
}

impl<'a> Reader<'a> {
    /// At the beginning of the stretch.
    pub fn new(spool: &'a Spool, stretch: Range<u64>) -> Self {
        Self { spool, left: stretch, buffer: Vec::new(), used: 0 }
    }

    /// True at its end.
    pub fn is_done(&self) -> bool {
        self.used == self.buffer.len() && self.left.is_empty()
    }

    /// The next bytes, so many.
    pub fn take(&mut self, bytes: usize) -> io::Result<&[u8]> {
        let waiting = self.buffer.len() - self.used;
        if waiting < bytes {
            self.buffer.drain(..self.used);
            self.used = 0;
            let lacking = (bytes - waiting) as u64;
            let more = (self.left.end - self.left.start).min(lacking.max(BLOCK as u64));
            self.buffer.resize(waiting + usize::try_from(more).map_err(io::Error::other)?, 0);
            self.spool.read(self.left.start, self.buffer.get_mut(waiting..).unwrap_or_default())?;
            self.left.start += more;
        }
        let place = self.used..self.used + bytes;
        self.used = place.end.min(self.buffer.len());
        self.buffer.get(place).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of many lengths, in memory and in a file: each is read where it was told to stand, and all of them in a row.
    #[test]
    fn what_was_written_is_read() {
        for most in [0, 100_000, MOST] {
            let spool = Spool::new(most);
            let piece = |number: u8| vec![number; usize::from(number) * 777];
            let places: Vec<_> =
                (0..=255).map(|number| spool.append(&piece(number)).expect("room")).collect();
            for (number, place) in (0..=255).zip(&places) {
                let mut read = vec![0; piece(number).len()];
                spool.read(place.start, &mut read).expect("what was written");
                assert_eq!(read, piece(number));
            }
            let all = spool.append_all((0..=255).map(piece)).expect("room");
            assert_eq!((all.start, all.end - all.start), (places[255].end, places[255].end));
            spool.overwrite(places[3].start, &piece(3).iter().map(|_| 9).collect::<Vec<u8>>()).expect("room");
            let mut reader = Reader::new(&spool, 0..places[255].end);
            for number in 0..=255 {
                let expected = if number == 3 { vec![9; piece(3).len()] } else { piece(number) };
                assert_eq!(reader.take(expected.len()).expect("what was written"), expected);
            }
            assert!(reader.is_done() && reader.take(1).is_err());
            assert!(spool.read(all.end, &mut [0]).is_err());
            let mut some = [0; 9];
            assert_eq!(spool.read_some(all.end - 4, &mut some).expect("what was written"), 4);
            assert_eq!(some, [255, 255, 255, 255, 0, 0, 0, 0, 0]);
        }
    }
}
