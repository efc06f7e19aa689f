//! A long text that is given up while it is read, so that it is not held beside what is made of it.

use std::io::{Cursor, Read};
use std::vec::IntoIter;

/// Bytes of a piece.
const PIECE: usize = 1 << 20;

/// What is left of the text.
pub(super) struct Pieces {
    first: Cursor<Vec<u8>>,
    others: IntoIter<Vec<u8>>,
}

impl From<String> for Pieces {
    fn from(text: String) -> Self {
        let others: Vec<Vec<u8>> = text.as_bytes().chunks(PIECE).map(<[u8]>::to_vec).collect();
        Self { first: Cursor::default(), others: others.into_iter() }
    }
}

impl Read for Pieces {
    fn read(&mut self, place: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let read = self.first.read(place)?;
            if read > 0 || place.is_empty() {
                return Ok(read);
            }
            match self.others.next() {
                Some(next) => self.first = Cursor::new(next),
                None => return Ok(0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_text() {
        for length in [0, 1, PIECE, PIECE + 1, 2 * PIECE + 7] {
            let text: String = "abcdefg".chars().cycle().take(length).collect();
            let mut read = String::new();
            Pieces::from(text.clone()).read_to_string(&mut read).unwrap();
            assert!(read == text, "{length}");
        }
    }
}
