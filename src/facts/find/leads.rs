//! Cheap looks at a number, before it is read in full.

use crate::matching::{CLASS, WORD};

/// First two digits of numbers: most numbers of a text begin otherwise than those that are looked for.
#[derive(Debug, Default)]
pub(super) struct Leads {
    /// Per first digit, a bit for each second one, and one for none.
    pub(super) seconds: [u16; 10],
}

impl Leads {
    pub(super) fn add(&mut self, number: &str) {
        let digit = |at: usize| number.as_bytes().get(at).and_then(|byte| Self::digit(*byte));
        match digit(0).and_then(|first| self.seconds.get_mut(first)) {
            Some(seconds) => *seconds |= 1 << digit(1).unwrap_or(10),
            None => self.seconds = [u16::MAX; 10],
        }
    }

    /// Could one of the numbers begin here, its thousands apart or not?
    pub(super) fn may_begin(&self, text: &str, start: usize) -> bool {
        let byte = |at: usize| text.as_bytes().get(start + at).copied().unwrap_or(b' ');
        let seconds = Self::digit(byte(0)).and_then(|first| self.seconds.get(first)).copied().unwrap_or(0);
        match byte(1) {
            b',' | b'_' => seconds != 0,
            next => seconds & 1 << Self::digit(next).unwrap_or(10) != 0,
        }
    }

    fn digit(byte: u8) -> Option<usize> {
        byte.is_ascii_digit().then(|| usize::from(byte - b'0'))
    }
}

/// Cheap test before a number is read in full: could a unit follow?
pub(super) fn may_have_unit(text: &str, start: usize) -> bool {
    let bytes = text.as_bytes();
    let mut at = start;
    while bytes.get(at).is_some_and(|b| b.is_ascii_digit() || matches!(b, b',' | b'.' | b'_')) {
        at += 1;
    }
    let follows = |b: u8| CLASS[b as usize] == WORD || b >= 0x80 || b == b'%';
    match bytes.get(at) {
        Some(b' ' | b'-') => bytes.get(at + 1).copied().is_some_and(follows),
        Some(b) => follows(*b),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching;

    #[test]
    fn a_number_that_is_looked_for_may_begin_where_it_stands() {
        let texts = [
            "5 s",
            "50 ms",
            "1,500 px",
            "1_500 px",
            "6,4 s",
            "0.5 %",
            "6m10s",
            "2e-4 s",
            "128k tokens",
            "9 B",
        ];
        for text in texts {
            let mut leads = Leads::default();
            assert!(!leads.may_begin(text, 0));
            leads.add(&matching::quantity_at(text, 0).expect(text).number);
            assert!(leads.may_begin(text, 0), "{text}");
            assert!(texts.iter().any(|other| !leads.may_begin(other, 0)), "{text}");
        }
    }
}
