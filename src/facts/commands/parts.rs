//! A shell script taken apart into its simple commands, as far as it takes to name them.

use compact_str::CompactString;
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
#[derive(Debug)]
pub(super) struct Simple {
    pub(super) words: Vec<CompactString>,
    pub(super) join: Join,
}

/// The simple commands of a script as word lists, up to redirections; quoted words keep their quotes. Good enough to
/// name a command; what it does to files is worked out by a real shell grammar elsewhere.
pub(super) fn simple_commands(script: &str) -> Vec<Simple> {
    let mut out = Vec::new();
    let mut words: Vec<CompactString> = Vec::new();
    let mut word = String::new();
    let mut quote: Option<char> = None;
    let mut cut = false;
    let mut chars = script.chars();
    let mut seen = 0;
    let push = |words: &mut Vec<CompactString>, join: Join, out: &mut Vec<Simple>| {
        if !words.is_empty() {
            out.push(Simple { words: std::mem::take(words), join });
        }
    };
    let flush = |word: &mut String, words: &mut Vec<CompactString>, cut: bool| {
        if !word.is_empty() && !cut {
            words.push(CompactString::from(word.as_str()));
        }
        word.clear();
    };
    while let Some(c) = chars.next() {
        seen += 1;
        if seen > MAX_SCANNED {
            break;
        }
        if let Some(open) = quote {
            word.push(c);
            if c != open && c != '\\' {
                let inside = |byte: u8| byte.is_ascii() && byte != open as u8 && byte != b'\\';
                seen += take_run(&mut chars, MAX_SCANNED - seen, &mut word, inside);
            }
            if c == '\\' && open == '"' {
                word.extend(chars.next());
            } else if c == open {
                quote = None;
            }
            continue;
        }
        match c {
            '\'' | '"' => {
                quote = Some(c);
                word.push(c);
            }
            '\\' => match chars.next() {
                Some('\n') | None => {}
                Some(next) => {
                    word.push(c);
                    word.push(next);
                }
            },
            '|' | ';' | '\n' | '&' => {
                if c == '&' && chars.as_str().starts_with('>') {
                    flush(&mut word, &mut words, cut);
                    cut = true;
                    continue;
                }
                let join = if c == '&' && skip(&mut chars, '&') { Join::And } else { Join::Other };
                flush(&mut word, &mut words, cut);
                push(&mut words, join, &mut out);
                cut = false;
            }
            '>' | '<' => {
                // `2>&1`: the digit belongs to the redirection.
                if word.len() == 1 && word.bytes().all(|b| b.is_ascii_digit()) {
                    word.clear();
                }
                flush(&mut word, &mut words, cut);
                if c == '<' && skip(&mut chars, '<') {
                    chars = after_document(chars.as_str()).chars();
                    flush(&mut word, &mut words, cut);
                    push(&mut words, Join::Other, &mut out);
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
            '#' if word.is_empty() => chars = from_any(chars.as_str(), &['\n']).chars(),
            // A subshell opens with the command, not with its first word.
            '(' if word.is_empty() => {}
            c if c.is_whitespace() => flush(&mut word, &mut words, cut),
            _ => {
                word.push(c);
                seen += take_run(&mut chars, MAX_SCANNED - seen, &mut word, |byte| PLAIN[usize::from(byte)]);
            }
        }
    }
    flush(&mut word, &mut words, cut);
    push(&mut words, Join::End, &mut out);
    // A new line or `;` after the last command separates nothing; what runs in the background has no status to give.
    if let Some(last) = out.last_mut().filter(|_| !script.trim_end().ends_with('&')) {
        last.join = Join::End;
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

/// Adds to a word what comes next and is of a kind, in ASCII alone: as many bytes as characters, at most so many.
fn take_run(chars: &mut Chars<'_>, most: usize, word: &mut String, is_of_kind: impl Fn(u8) -> bool) -> usize {
    let rest = chars.as_str();
    let ahead = rest.as_bytes().get(..most).unwrap_or(rest.as_bytes());
    let length = ahead.iter().position(|byte| !is_of_kind(*byte)).unwrap_or(ahead.len());
    let (run, rest) = rest.split_at_checked(length).unwrap_or(("", rest));
    word.push_str(run);
    *chars = rest.chars();
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
                simple_commands(script).into_iter().map(|part| (part.words.join("\0"), part.join)).collect()
            };
            let wide: Vec<(String, Join)> =
                parts(&script).into_iter().map(|(words, join)| (words.replace('a', "é"), join)).collect();
            prop_assert_eq!(parts(&script.replace('a', "é")), wide);
        }
    }
}
