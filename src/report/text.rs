//! Text from strangers, made safe to show: escaped for a terminal, cut and wrapped to its width.
//!
//! Logs hold raw ANSI sequences, bidirectional overrides and invisible characters; none may reach a terminal, where they
//! could hide, reorder or repaint what a reader sees.

use std::io;
use unicode_width::UnicodeWidthStr;

/// Text without anything that moves the cursor, changes direction or cannot be seen: such characters become `\n`,
/// `\t`, `\r` or `\u{..}`.
pub fn sanitize(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => safe.push_str("\\n"),
            '\t' => safe.push_str("\\t"),
            '\r' => safe.push_str("\\r"),
            _ if is_hidden(character) => safe.extend(character.escape_unicode()),
            _ => safe.push(character),
        }
    }
    safe
}

/// Serialised JSON with the same characters as `\uXXXX`. They can only stand inside strings there, so the document
/// stays the same; line breaks between its parts stay, too.
pub fn escape_json(json: String) -> String {
    if !json.contains(hides) {
        return json;
    }
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        if hides(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                safe.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            safe.push(character);
        }
    }
    safe
}

fn hides(character: char) -> bool {
    character != '\n' && is_hidden(character)
}

/// Writes serialised JSON so. Its pieces are whole characters.
#[derive(Debug)]
pub(super) struct Escaped<W>(pub(super) W);

impl<W: io::Write> io::Write for Escaped<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(piece).map_err(io::Error::other)?;
        if text.contains(hides) {
            self.0.write_all(escape_json(text.to_owned()).as_bytes())?;
        } else {
            self.0.write_all(piece)?;
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Columns a text takes on a terminal.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text, or its beginning with `…`, in at most `columns` columns.
pub fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    // Characters are not as wide together as each by itself: a selector makes the one before it wider.
    let room = columns.saturating_sub(1);
    let head = |end: usize| text.get(..end).unwrap_or("");
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = ends.take_while(|end| width(head(*end)) <= room).last().unwrap_or(0);
    if columns == 0 { String::new() } else { format!("{}…", head(end)) }
}

/// The text, or its end after `…`, in at most `columns` columns: of a path the end tells more.
pub fn fit_end(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let tail = |start: usize| text.get(start..).unwrap_or("");
    let starts = text.char_indices().rev().map(|(at, _)| at);
    let start = starts.take_while(|start| width(tail(*start)) <= room).last().unwrap_or(text.len());
    if columns == 0 { String::new() } else { format!("…{}", tail(start)) }
}

/// Wraps words into lines of at most `columns`, later lines indented by `indent` spaces. A word that is longer than a
/// line stays whole, so that paths can be copied.
pub fn wrap(text: &str, columns: usize, indent: usize) -> String {
    let mut wrapped = String::new();
    let mut used = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let wide = width(word);
        if used == 0 {
            used = wide;
        } else if columns < used + 1 + wide {
            wrapped.push('\n');
            wrapped.extend(std::iter::repeat_n(' ', indent));
            used = indent + wide;
        } else {
            wrapped.push(' ');
            used += 1 + wide;
        }
        wrapped.push_str(word);
    }
    wrapped
}

/// `1 file`, `2 files`: a count with its noun, thousands separated.
pub fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{} {noun}s", thousands(n)) }
}

/// `12,345`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (idx, digit) in digits.chars().enumerate() {
        if 0 < idx && (digits.len() - idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hostile_text_becomes_visible() {
        for (raw, safe) in [
            ("plain – größe 表 🙂", "plain – größe 表 🙂"),
            ("\u{1b}[31mred\u{7}", "\\u{1b}[31mred\\u{7}"),
            ("a\nb\tc\r", "a\\nb\\tc\\r"),
            ("\u{9b}2J", "\\u{9b}2J"),
            ("a\u{202e}gpj.exe", "a\\u{202e}gpj.exe"),
            ("zero\u{200b}width\u{feff}", "zero\\u{200b}width\\u{feff}"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
        ] {
            assert_eq!(sanitize(raw), safe);
        }
        assert_eq!(
            escape_json("{\n \"a\": \"\u{202e}\u{e0041}é\"\n}".to_owned()),
            "{\n \"a\": \"\\u202e\\udb40\\udc41é\"\n}"
        );
    }

    #[test]
    fn long_text_is_cut_by_columns() {
        for (text, columns, start, end) in [
            ("short", 5, "short", "short"),
            ("longer", 5, "long…", "…nger"),
            ("表表表", 5, "表表…", "…表表"),
            ("表表表", 4, "表…", "…表"),
            ("éé", 1, "…", "…"),
            ("abc", 0, "", ""),
        ] {
            assert_eq!((fit(text, columns), fit_end(text, columns)), (start.to_owned(), end.to_owned()));
        }
    }

    #[test]
    fn words_wrap_with_a_hanging_indent() {
        assert_eq!(wrap("one two  three four", 9, 2), "one two\n  three\n  four");
        assert_eq!(wrap("/a/very/long/path stays", 8, 1), "/a/very/long/path\n stays");
        assert_eq!(wrap("", 8, 1), "");
    }

    #[test]
    fn counts_have_separators_and_nouns() {
        assert_eq!((count(1, "file"), count(0, "file")), ("1 file".to_owned(), "0 files".to_owned()));
        assert_eq!(count(1_234, "cycle"), "1,234 cycles");
        assert_eq!(thousands(1_000_000), "1,000,000");
        assert_eq!(thousands(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn what_widens_its_neighbour_is_counted_with_it() {
        let text = "\u{1f56f}\u{fe0f}abc\u{1f56f}\u{fe0f}b";
        for columns in 0..8 {
            assert!(width(&fit(text, columns)) <= columns, "{columns}");
            assert!(width(&fit_end(text, columns)) <= columns, "{columns}");
        }
    }

    proptest! {
        #[test]
        fn nothing_hidden_passes(text in any::<String>(), columns in 0_usize..60) {
            let safe = sanitize(&text);
            prop_assert!(!safe.chars().any(is_hidden));
            prop_assert!(width(&fit(&safe, columns)) <= columns);
            prop_assert!(width(&fit_end(&safe, columns)) <= columns);
            prop_assert_eq!(sanitize(&safe), safe);
        }

        #[test]
        fn escaped_json_says_the_same(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(serde_json::from_str::<String>(&escape_json(json)).unwrap(), text);
        }
    }
}
