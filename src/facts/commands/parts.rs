//! A shell script taken apart into its simple commands, as far as it takes to name them.

use smallvec::SmallVec;
use std::borrow::Cow;
use std::str::Chars;

/// Characters of a script that are looked at, here-documents aside.
const MAX_SCANNED: usize = 4_000;

/// What stands between a simple command and the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    /// `&&`: the next runs only after success.
    And,
    /// `|`, `||`, `;`, `&` or a new line: the next decides how the script ends.
    Other,
    /// Nothing: it is the last.
    End,
}

/// A simple command of a script.
#[derive(Debug, Clone, Copy)]
pub(super) struct Simple<'a> {
    pub(super) words: &'a [Cow<'a, str>],
    pub(super) join: Join,
}

/// The simple commands of a script; each has a word.
#[derive(Debug, Default)]
pub(super) struct Parts<'s> {
    /// The words of all of them.
    words: Vec<Cow<'s, str>>,
    /// Where the words of each end.
    ends: SmallVec<[(usize, Join); 4]>,
}

impl<'s> Parts<'s> {
    pub(super) fn iter(&self) -> impl Iterator<Item = Simple<'_>> {
        let mut start = 0;
        self.ends.iter().map(move |(end, join)| {
            let words = self.words.get(start..*end).unwrap_or_default();
            start = *end;
            Simple { words, join: *join }
        })
    }

    /// Ends a word.
    fn flush(&mut self, word: &mut Word<'s>, cut: bool) {
        let word = word.take();
        if !word.is_empty() && !cut {
            self.words.push(word);
        }
    }

    /// Ends a command, if there is any.
    fn push(&mut self, join: Join) {
        if self.words.len() > self.ends.last().map_or(0, |(end, _)| *end) {
            self.ends.push((self.words.len(), join));
        }
    }
}

/// A word on its way: most are written in one piece.
struct Word<'s> {
    script: &'s str,
    start: usize,
    end: usize,
    /// The whole of it, where something was left out inside.
    mended: String,
}

impl<'s> Word<'s> {
    fn of(script: &'s str) -> Self {
        Self { script, start: 0, end: 0, mended: String::new() }
    }

    fn piece(&self, start: usize, end: usize) -> &'s str {
        self.script.get(start..end).unwrap_or_default()
    }

    fn text(&self) -> &str {
        if self.mended.is_empty() { self.piece(self.start, self.end) } else { &self.mended }
    }

    /// Adds what stands between two places of the script.
    fn push(&mut self, from: usize, to: usize) {
        if self.text().is_empty() {
            (self.start, self.end) = (from, to);
        } else if self.mended.is_empty() && self.end == from {
            self.end = to;
        } else {
            if self.mended.is_empty() {
                self.mended.push_str(self.piece(self.start, self.end));
            }
            self.mended.push_str(self.piece(from, to));
        }
    }

    fn take(&mut self) -> Cow<'s, str> {
        let written = self.piece(self.start, self.end);
        self.end = self.start;
        if self.mended.is_empty() { written.into() } else { std::mem::take(&mut self.mended).into() }
    }
}

/// The simple commands of a script as word lists, up to redirections; quoted words keep their quotes. Good enough to
/// name a command; what it does to files is worked out by a real shell grammar elsewhere.
pub(super) fn simple_commands(script: &str) -> Parts<'_> {
    let mut out = Parts { words: Vec::with_capacity(16), ..Parts::default() };
    let mut word = Word::of(script);
    let mut quote: Option<char> = None;
    let mut cut = false;
    let mut chars = script.chars();
    let mut seen = 0;
    // All that is left to read is an end of the script.
    let place = |chars: &Chars<'_>| script.len() - chars.as_str().len();
    loop {
        let at = place(&chars);
        let Some(c) = chars.next() else { break };
        seen += 1;
        if seen > MAX_SCANNED {
            break;
        }
        if let Some(open) = quote {
            if c != open && c != '\\' {
                let inside = |byte: u8| byte.is_ascii() && byte != open as u8 && byte != b'\\';
                seen += pass_run(&mut chars, MAX_SCANNED - seen, inside);
            }
            if c == '\\' && open == '"' {
                chars.next();
            } else if c == open {
                quote = None;
            }
            word.push(at, place(&chars));
            continue;
        }
        match c {
            '\'' | '"' => {
                quote = Some(c);
                word.push(at, at + 1);
            }
            '\\' => match chars.next() {
                Some('\n') | None => {}
                Some(_) => word.push(at, place(&chars)),
            },
            '|' | ';' | '\n' | '&' => {
                if c == '&' && chars.as_str().starts_with('>') {
                    out.flush(&mut word, cut);
                    cut = true;
                    continue;
                }
                let join = if c == '&' && skip(&mut chars, '&') { Join::And } else { Join::Other };
                out.flush(&mut word, cut);
                out.push(join);
                cut = false;
            }
            '>' | '<' => {
                // `2>&1`: the digit belongs to the redirection.
                if word.text().len() == 1 && word.text().bytes().all(|b| b.is_ascii_digit()) {
                    word.take();
                }
                out.flush(&mut word, cut);
                if c == '<' && skip(&mut chars, '<') {
                    chars = after_document(chars.as_str()).chars();
                    out.push(Join::Other);
                    cut = false;
                    continue;
                }
                skip(&mut chars, '>');
                if skip(&mut chars, '&') {
                    chars = chars.as_str().trim_start_matches(|c: char| c.is_ascii_digit()).chars();
                    continue;
                }
                cut = true;
            }
            '#' if word.text().is_empty() => chars = from_any(chars.as_str(), &['\n']).chars(),
            // A subshell opens with the command, not with its first word.
            '(' if word.text().is_empty() => {}
            c if c.is_whitespace() => out.flush(&mut word, cut),
            _ => {
                seen += pass_run(&mut chars, MAX_SCANNED - seen, |byte| PLAIN[usize::from(byte)]);
                word.push(at, place(&chars));
            }
        }
    }
    out.flush(&mut word, cut);
    out.push(Join::End);
    // A new line or `;` after the last command separates nothing; what runs in the background has no status to give.
    if let Some((_, last)) = out.ends.last_mut().filter(|_| !script.trim_end().ends_with('&')) {
        *last = Join::End;
    }
    out
}

/// Bytes of which a word goes on, whatever it holds so far.
static PLAIN: [bool; 256] = plain_bytes();

const fn plain_bytes() -> [bool; 256] {
    let mut plain = [false; 256];
    let mut byte = 0;
    while byte < 0x80 {
        plain[byte] = !matches!(
            byte as u8,
            b'\t'..=b'\r' | b' ' | b'\'' | b'"' | b'\\' | b'|' | b';' | b'&' | b'<' | b'>'
        );
        byte += 1;
    }
    plain
}

/// Passes over what comes next and is of a kind, in ASCII alone: as many bytes as characters, at most so many.
fn pass_run(chars: &mut Chars<'_>, most: usize, is_of_kind: impl Fn(u8) -> bool) -> usize {
    let rest = chars.as_str();
    let ahead = rest.as_bytes().get(..most).unwrap_or(rest.as_bytes());
    let length = ahead.iter().position(|byte| !is_of_kind(*byte)).unwrap_or(ahead.len());
    *chars = rest.get(length..).unwrap_or(rest).chars();
    length
}

/// Passes over a character, if it comes next.
fn skip(chars: &mut Chars<'_>, wanted: char) -> bool {
    let rest = chars.as_str().strip_prefix(wanted);
    *chars = rest.map_or(chars.clone(), str::chars);
    rest.is_some()
}

/// A text from the first of some characters on; nothing of it where none is there.
fn from_any<'t>(text: &'t str, wanted: &[char]) -> &'t str {
    text.find(wanted).and_then(|at| text.get(at..)).unwrap_or("")
}

/// What follows a here-document, whose `<<` stands before the text: the rest of the line is lost with it, the script goes
/// on after the line that is the delimiter. A here-string (`<<<`) is one word.
fn after_document(text: &str) -> &str {
    if let Some(word) = text.strip_prefix('<') {
        return from_any(word, &['\n', ';', '|', '&']);
    }
    let (line, mut rest) = text.split_once('\n').unwrap_or((text, ""));
    let delimiter =
        line.trim_start_matches(['-', ' ']).split(|c: char| c.is_whitespace() || ";&|>)".contains(c)).next();
    let delimiter = delimiter.unwrap_or("").replace(['\'', '"', '\\'], "");
    while let Some((row, after)) = rest.split_once('\n') {
        if row.trim() == delimiter {
            return after;
        }
        rest = after;
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_are_read_like_their_characters(
            script in "[a '\"\\\\|&;\n><2#($=-]{0,60}|(a| |'a|a'|\"a|\\\\|<<|<|2>&1|>|\n|&&|;|#|a{4000}){0,20}"
        ) {
            // Characters beyond ASCII are read one by one.
            let parts = |script: &str| -> Vec<(String, Join)> {
                simple_commands(script).iter().map(|part| (part.words.join("\0"), part.join)).collect()
            };
            let wide: Vec<(String, Join)> =
                parts(&script).into_iter().map(|(words, join)| (words.replace('a', "é"), join)).collect();
            prop_assert_eq!(parts(&script.replace('a', "é")), wide);
        }
    }
}
