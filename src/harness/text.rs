//! Texts as the rules of modelled systems name and cut them: templates, and lengths in the unit of a runtime.

use serde::Deserialize;
use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation as _;

/// What a runtime takes for one character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Bytes of UTF-8. A cut inside a character is moved before it.
    #[default]
    Bytes,
    /// Unicode code points (Python).
    CodePoints,
    /// UTF-16 code units (JavaScript).
    Utf16,
    /// A text of no more bytes than the limit stays; a longer one keeps as many grapheme clusters, and so may stay
    /// whole too (Elixir: `byte_size` beside `String.slice`).
    Graphemes,
}

impl Unit {
    /// Length of a text.
    pub fn length(self, text: &str) -> usize {
        match self {
            Self::Bytes => text.len(),
            Self::CodePoints => text.chars().count(),
            Self::Utf16 => text.encode_utf16().count(),
            Self::Graphemes => text.graphemes(true).count(),
        }
    }
}

/// What becomes of a character that a cut in UTF-16 falls into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Half {
    /// Its first half stays and can only be shown as U+FFFD.
    #[default]
    Replaced,
    /// It goes.
    Dropped,
}

/// A limit of a text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cap {
    /// Longest text that stays, and length of what stays of a longer one, in `unit`.
    pub most: usize,
    /// Its unit.
    #[serde(default)]
    pub unit: Unit,
    /// Written behind a text that was cut; `{left}` is its length less `most`.
    #[serde(default)]
    pub notice: String,
    /// What becomes of a character that the cut falls into.
    #[serde(default)]
    pub half: Half,
}

impl Cap {
    /// The text within the limit.
    pub fn cut<'a>(&self, text: &'a str) -> Cow<'a, str> {
        // No unit is smaller than a byte.
        if text.len() <= self.most {
            return Cow::Borrowed(text);
        }
        let length = self.unit.length(text);
        if length <= self.most {
            return Cow::Borrowed(text);
        }
        let (end, half) = match self.unit {
            Unit::Bytes => (text.floor_char_boundary(self.most), false),
            Unit::CodePoints => (text.char_indices().nth(self.most).map_or(text.len(), |(at, _)| at), false),
            Unit::Graphemes => {
                (text.grapheme_indices(true).nth(self.most).map_or(text.len(), |(at, _)| at), false)
            }
            Unit::Utf16 => utf16_end(text, self.most),
        };
        let mut out = text.get(..end).unwrap_or(text).to_owned();
        if half && self.half == Half::Replaced {
            out.push(char::REPLACEMENT_CHARACTER);
        }
        out.push_str(&fill(&self.notice, &[("left", &(length - self.most).to_string())]));
        Cow::Owned(out)
    }
}

/// The byte where `most` units end, and whether a character is broken there.
fn utf16_end(text: &str, most: usize) -> (usize, bool) {
    let mut units = 0;
    for (at, c) in text.char_indices() {
        if units + c.len_utf16() > most {
            return (at, units < most);
        }
        units += c.len_utf16();
    }
    (text.len(), false)
}

/// Puts values in the place of their `{name}`. What is put in is not looked at again; other braces stay.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        out.push_str(before);
        let found = behind
            .split_once('}')
            .and_then(|(name, behind)| Some((values.iter().find(|(key, _)| *key == name)?.1, behind)));
        if let Some((value, behind)) = found {
            out.push_str(value);
            rest = behind;
        } else {
            out.push('{');
            rest = behind;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_the_place_of_their_names_once() {
        let table = [
            ("[{a}|{b}]", "[{b}|2]"),
            ("{a", "{a"),
            ("a}", "a}"),
            ("{}{c}{b}", "{}{c}2"),
            ("{{b}}", "{2}"),
            ("", ""),
        ];
        for (template, expect) in table {
            assert_eq!(fill(template, &[("a", "{b}"), ("b", "2")]), expect, "{template}");
        }
    }

    #[test]
    fn each_unit_cuts_where_its_runtime_does() {
        // Unit, limit, text, what stays, what the notice counts.
        let table = [
            (Unit::Bytes, 4, "abcd", "abcd", None),
            (Unit::Bytes, 4, "abcde", "abcd", Some("1")),
            (Unit::Bytes, 4, "abcé", "abc", Some("1")),
            (Unit::CodePoints, 2, "éé", "éé", None),
            (Unit::CodePoints, 2, "éé😀", "éé", Some("1")),
            (Unit::Utf16, 4, "😀😀", "😀😀", None),
            (Unit::Utf16, 4, "x😀😀", "x😀\u{fffd}", Some("1")),
            (Unit::Utf16, 3, "x😀😀", "x😀", Some("2")),
            (Unit::Utf16, 2, "ééé", "éé", Some("1")),
            (Unit::Graphemes, 4, "éé", "éé", None),
            (Unit::Graphemes, 3, "éé", "éé", None),
            (Unit::Graphemes, 2, "é\r\n👍🏽", "é\r\n", Some("1")),
        ];
        for (unit, most, text, stays, left) in table {
            let cap = Cap { most, unit, notice: "[{left}]".to_owned(), half: Half::Replaced };
            let expect = left.map_or(stays.to_owned(), |left| format!("{stays}[{left}]"));
            assert_eq!(cap.cut(text), expect, "{unit:?} {most} {text}");
        }
        let dropped = Cap { most: 4, unit: Unit::Utf16, notice: "+{left}".to_owned(), half: Half::Dropped };
        assert_eq!(dropped.cut("x😀😀"), "x😀+1");
    }
}
