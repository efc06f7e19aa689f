//! Text machinery of the measure: how a text is normalised, cut into units, words, numbers and path tokens.
//!
//! The answer key ([`crate::facts`]) uses it twice, to find where a fact is mentioned in the log and to find what a
//! summary still holds; both must agree on what a whole token is, so the rules stand here, once, and know nothing of
//! facts. [`index`] holds the lookup structure (one pass over a text for all needles), [`sentence`] the comparison of
//! sentences by content words, entities and polarity.
//!
//! Rules:
//!
//! * **Normalisation**: NFKC, zero-width characters removed, `\` read as `/`, quotes and backticks skipped. Digits
//!   are never touched. ASCII text is used as it is, without a copy.
//! * **Word**: a run of letters, digits and `_`. Chinese, Japanese and Korean characters are words of one character
//!   each, so that an identifier written right beside them still stands alone.
//! * **Unit**: one line, or one list item or hard-wrapped sentence with its continuation lines. Sentences and values
//!   are matched inside one unit only, so shuffling the lines of a text changes nothing.

pub(crate) mod index;
mod quantity;
pub(crate) mod sentence;

pub(crate) use quantity::{Quantity, bound_numbers, quantity_at};
use smallvec::SmallVec;
use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;
use wide::u8x16;

/// Class of a byte: part of a word.
pub(crate) const WORD: u8 = 0;
/// Class of a byte: white space.
pub(crate) const SPACE: u8 = 1;
/// Class of a byte: quote or backtick, skipped in comparisons.
pub(crate) const QUOTE: u8 = 2;
/// Class of a byte: punctuation that may stand inside a path token.
pub(crate) const CONNECTOR: u8 = 3;
/// Class of a byte: other punctuation and control characters.
pub(crate) const OTHER: u8 = 4;
/// Class of a byte: part of a non-ASCII character.
pub(crate) const WIDE: u8 = 5;

/// Class of every byte.
pub(crate) static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [OTHER; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        table[byte] = match b {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => WORD,
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => SPACE,
            b'"' | b'\'' | b'`' => QUOTE,
            b'/' | b'\\' | b'.' | b'-' | b'~' | b'@' | b'+' | b'%' => CONNECTOR,
            0x80.. => WIDE,
            _ => OTHER,
        };
        byte += 1;
    }
    table
}

/// True for characters that stand as words of their own (Han, kana, hangul, full-width forms of them).
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{2fff}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{302f}'
        | '\u{3031}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// True for non-ASCII quotation marks.
pub(crate) fn is_wide_quote(c: char) -> bool {
    matches!(
        c,
        '\u{2018}'..='\u{201f}' | '\u{ab}' | '\u{bb}' | '\u{2039}' | '\u{203a}' | '「' | '」' | '『' | '』'
    )
}

fn is_zero_width(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}' | '\u{202a}'..='\u{202e}')
}

/// True where normalisation is sure to leave the character alone; everything else takes the slow path.
fn is_stable(c: char) -> bool {
    matches!(c, '\u{0}'..='\u{9f}' | '\u{c0}'..='\u{131}' | '\u{2010}' | '\u{2012}'..='\u{2016}'
        | '\u{2018}'..='\u{2023}' | '\u{2026}' | '\u{2190}'..='\u{21ff}' | '\u{2200}'..='\u{222b}'
        | '\u{2300}'..='\u{2328}' | '\u{232b}'..='\u{23ff}' | '\u{2500}'..='\u{27bf}' | '\u{2800}'..='\u{28ff}' | '\u{3001}' | '\u{3002}' | '\u{3008}'..='\u{3011}'
        | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fe}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}'
        | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f300}'..='\u{1faff}' | '\u{fffd}')
}

/// Brings a text to the form in which it is compared. Borrowed whenever nothing has to change.
///
/// The ellipsis `…` is left alone although NFKC spells it out: it delimits, and both spellings do. Only characters that
/// may change are taken apart, each together with its left neighbour, which it could combine with.
pub(crate) fn normalise(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let Some(first) = next_unstable(text, 0) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    let mut unstable = Some(first);
    while let Some(at) = unstable {
        let stable = text.get(copied..at).unwrap_or("");
        let neighbour = stable.chars().next_back().map_or(0, char::len_utf8);
        let from = at - neighbour;
        out.push_str(text.get(copied..from).unwrap_or(""));
        let rest = text.get(at..).unwrap_or("");
        let length = rest.find(|c| is_stable(c) && !is_zero_width(c)).unwrap_or(rest.len());
        let piece = text.get(from..at + length).unwrap_or("");
        out.extend(piece.chars().filter(|c| !is_zero_width(*c)).nfkc());
        copied = at + length;
        unstable = next_unstable(text, copied);
    }
    out.push_str(text.get(copied..).unwrap_or(""));
    Cow::Owned(out)
}

/// Position of the next character that normalisation may change.
fn next_unstable(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += next_wide(text.as_bytes().get(at..)?)?;
        // Most such characters are those that lines, boxes and Chinese are written with.
        while begins_stable(text.as_bytes().get(at..)?) {
            at += 3;
        }
        for c in text.get(at..)?.chars() {
            if c.is_ascii() {
                break;
            }
            if !is_stable(c) {
                return Some(at);
            }
            at += c.len_utf8();
        }
    }
}

/// Is the first character one of some that are stable, as three bytes tell: U+2500 to U+27BF, U+4000 to U+9FFF?
fn begins_stable(bytes: &[u8]) -> bool {
    matches!(bytes, [0xe2, 0x94..=0x9e, ..] | [0xe4..=0xe9, ..])
}

/// Position of the next byte that is no ASCII. Looks at 64 bytes at a time: most of a text is ASCII.
fn next_wide(bytes: &[u8]) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks::<64>();
    for (number, block) in blocks.iter().enumerate() {
        let quarters = block.as_chunks::<16>().0.iter().enumerate();
        let wide = quarters
            .fold(0, |bits, (at, bytes)| bits | u64::from(u8x16::new(*bytes).to_bitmask()) << (16 * at));
        if wide != 0 {
            return Some(number * 64 + wide.trailing_zeros() as usize);
        }
    }
    Some(blocks.len() * 64 + rest.iter().position(|byte| *byte >= 0x80)?)
}

/// Decodes the escapes of JSON text (`\n`, `\"`, `\\`, `\u00e9`) so that the arguments of a call compare like the
/// text they hold. Text without a backslash is borrowed; unknown escapes stay.
pub fn unescape_json(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let mut chars = after.chars();
        chars.next();
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b' | 'f') => out.push(' '),
            Some(c @ ('"' | '\\' | '/')) => out.push(c),
            Some('u') => {
                let (decoded, used) = decode_unicode_escape(after);
                out.push(decoded);
                rest = after.get(used..).unwrap_or("");
                continue;
            }
            Some(c) => {
                out.push('\\');
                out.push(c);
            }
            None => out.push('\\'),
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Decodes `\uXXXX` (or a surrogate pair) at the start of `text`; gives the character and the bytes used.
fn decode_unicode_escape(text: &str) -> (char, usize) {
    let unit = |from: usize| -> Option<u32> {
        if text.get(from..from + 2)? != "\\u" {
            return None;
        }
        u32::from_str_radix(text.get(from + 2..from + 6)?, 16).ok()
    };
    let Some(high) = unit(0) else { return ('\\', 1) };
    if (0xd800..0xdc00).contains(&high)
        && let Some(low @ 0xdc00..0xe000) = unit(6)
    {
        let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        return (char::from_u32(code).unwrap_or('\u{fffd}'), 12);
    }
    (char::from_u32(high).unwrap_or('\u{fffd}'), 6)
}

/// Lines longer than this are cut into units at sentence ends.
const LONG_UNIT: usize = 800;
/// A hard-wrapped line is at least this long; shorter lines end by themselves.
const WRAP_MIN: usize = 50;
/// A hard-wrapped line is at most this long.
const WRAP_MAX: usize = 130;

/// Iterator over the units of a text, as byte ranges.
pub(crate) struct Units<'t, E> {
    text: &'t str,
    at: usize,
    line_end: E,
}

/// The units of a text: lines, list items with their continuation lines, hard-wrapped sentences; long lines are cut
/// at sentence ends. Every byte except line ends is in exactly one unit.
pub(crate) fn units(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let bytes = text.as_bytes();
    units_between(text, move |from| Some(from + memchr::memchr(b'\n', bytes.get(from..)?)?))
}

/// The same, where somebody knows where the first line end from a place on is.
pub(crate) fn units_between<E: FnMut(usize) -> Option<usize>>(text: &str, line_end: E) -> Units<'_, E> {
    Units { text, at: 0, line_end }
}

impl<E: FnMut(usize) -> Option<usize>> Iterator for Units<'_, E> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        if self.at >= bytes.len() {
            return None;
        }
        let start = self.at;
        let mut line_start = start;
        loop {
            let end = (self.line_end)(line_start).unwrap_or(bytes.len());
            if end - start > LONG_UNIT {
                if line_start > start {
                    self.at = line_start;
                    return Some((start, line_start - 1));
                }
                let cut = long_cut(bytes, start, end);
                self.at = if cut == end { end + 1 } else { cut };
                return Some((start, cut));
            }
            self.at = end + 1;
            if end >= bytes.len() || !continues(bytes, line_start, end) {
                return Some((start, end));
            }
            line_start = end + 1;
        }
    }
}

/// Where to cut a long line: after the last sentence end that keeps the unit below the limit, else after the first.
fn long_cut(bytes: &[u8], start: usize, end: usize) -> usize {
    let mut best = None;
    for at in memchr::memchr3_iter(b'.', b'!', b'?', &bytes[start..end]) {
        let after = start + at + 1;
        if bytes.get(after) != Some(&b' ') {
            continue;
        }
        if after - start > LONG_UNIT {
            return best.unwrap_or(after);
        }
        best = Some(after);
    }
    if best.is_none()
        && let Ok(text) = std::str::from_utf8(&bytes[start..end])
    {
        for (at, c) in text.char_indices() {
            if matches!(c, '。' | '！' | '？') && at > LONG_UNIT / 4 {
                return start + at + c.len_utf8();
            }
        }
    }
    match best {
        Some(cut) if end - start > LONG_UNIT => cut,
        _ => end,
    }
}

/// Is the line after `end` the continuation of a hard-wrapped sentence on the line `start..end`?
fn continues(bytes: &[u8], start: usize, end: usize) -> bool {
    let length = end - start;
    if !(WRAP_MIN..=WRAP_MAX).contains(&length) {
        return false;
    }
    if matches!(
        bytes.get(end.wrapping_sub(1)),
        Some(b'.' | b'!' | b'?' | b':' | b';' | b'{' | b'}' | b'\r' | b'|')
    ) {
        return false;
    }
    let mut next = end + 1;
    while let Some(b' ' | b'\t') = bytes.get(next) {
        next += 1;
    }
    // A lower-case word followed by a space: prose going on, not a file name, a key or the next log line.
    let word = bytes.get(next..).unwrap_or_default();
    let letters = word.iter().take_while(|b| b.is_ascii_lowercase()).count();
    letters > 0
        && matches!(word.get(letters), Some(b' ' | b',' | b'.' | b'\n'))
        && matches!(bytes.get(start), Some(b) if b.is_ascii_alphabetic() || matches!(b, b'-' | b'*' | b' ' | b'0'..=b'9'))
}

/// Sentences of one unit, as byte ranges without surrounding white space. Abbreviations, decimals and file names do
/// not end a sentence.
pub(crate) fn sentences(text: &str) -> SmallVec<[(usize, usize); 4]> {
    let mut out = SmallVec::new();
    let mut start = 0;
    let mut push = |from: usize, to: usize| {
        let piece = text.get(from..to).unwrap_or("");
        let trimmed = piece.trim_start();
        let lead = piece.len() - trimmed.len();
        let trimmed = trimmed.trim_end();
        if !trimmed.is_empty() {
            out.push((from + lead, from + lead + trimmed.len()));
        }
    };
    let mut end_at = |at: usize, c: char| {
        let end = at + c.len_utf8();
        let next = text.get(end..).and_then(|rest| rest.chars().next());
        let ends = !c.is_ascii()
            || next.is_none_or(|c| c.is_whitespace() || is_cjk(c))
                && !(c == '.' && is_abbreviation(text, at));
        if ends {
            push(start, end);
            start = end;
        }
    };
    if text.is_ascii() {
        for at in memchr::memchr3_iter(b'.', b'!', b'?', text.as_bytes()) {
            end_at(at, char::from(text.as_bytes()[at]));
        }
    } else {
        for (at, c) in text.char_indices() {
            if matches!(c, '.' | '!' | '?' | '。' | '！' | '？') {
                end_at(at, c);
            }
        }
    }
    push(start, text.len());
    out
}

fn is_abbreviation(text: &str, dot: usize) -> bool {
    let before = text.get(..dot).unwrap_or("");
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("");
    matches!(
        word,
        "e.g" | "i.e" | "etc" | "vs" | "cf" | "approx" | "resp" | "Mr" | "Dr" | "no" | "No" | "eg" | "ie"
    ) || (word.len() <= 2
        && !word.is_empty()
        && word.bytes().all(|b| b.is_ascii_digit())
        && before.trim() == word)
}

/// Where white space is squeezed to single spaces: the canonical form of commands and sentences.
pub(crate) fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests;
