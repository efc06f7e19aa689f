//! JSON text written again as the runtime of a modelled system writes it.
//!
//! A harness that keeps arguments as a value and not as text measures, and shows to a summarizer, what its own encoder
//! makes of them: key order, spaces, escapes and numbers differ between runtimes, and so do the bytes.

use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::borrow::Cow;
use std::fmt::Write as _;

/// Deeper nesting comes back as it is, like the readers' own limit.
const DEPTH: usize = 512;

/// How a runtime writes JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum JsonStyle {
    /// The text as it was received.
    #[default]
    Raw,
    /// `JSON.stringify(JSON.parse(text))`: compact, keys that are array indices first and in order, all numbers doubles.
    #[serde(rename = "javascript")]
    JavaScript,
    /// Jason on a map: compact, keys in byte order, floats with a fraction. Maps of more than 32 keys have no order that
    /// could be told beforehand; they are sorted too.
    Erlang,
    /// `json.dumps(json.loads(text))`: a space behind commas and colons, everything outside ASCII escaped.
    Python,
}

/// Writes JSON text in a style. Text that is no JSON (or that the runtime could not read) comes back unchanged.
pub fn restyle(text: &str, style: JsonStyle) -> Cow<'_, str> {
    if style == JsonStyle::Raw || serde_json::from_str::<serde::de::IgnoredAny>(text).is_err() {
        return Cow::Borrowed(text);
    }
    let mut reader = Reader { text, at: 0 };
    let mut out = String::with_capacity(text.len() + 8);
    match reader.node(0).and_then(|node| write(&node, style, &mut out)) {
        Some(()) if out != text => Cow::Owned(out),
        _ => Cow::Borrowed(text),
    }
}

/// The pairs of a JSON object: keys as they read, values in a style. None for any other text.
pub fn pairs(text: &str, style: JsonStyle) -> Option<Vec<(Cow<'_, str>, String)>> {
    serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
    let Node::Map(items) = (Reader { text, at: 0 }).node(0)? else { return None };
    let mut out = Vec::with_capacity(items.len());
    for (raw, node) in ordered(&items, style) {
        let mut value = String::new();
        write(node, style, &mut value)?;
        out.push((plain(raw), value));
    }
    Some(out)
}

/// What a beginning of a JSON text holds: complete values, and a string value as far as it goes. `None` where that is
/// nothing that could be read.
pub fn beginning(text: &str) -> Option<String> {
    let mut open: Vec<char> = Vec::new();
    // The longest beginning that reads once its brackets are closed, and these.
    let mut sound: Option<(usize, Vec<char>)> = None;
    let (mut string, mut escaped, mut key) = (None, false, false);
    // Bytes of the text before an escape that is not finished.
    let mut whole = 0;
    for (at, c) in text.char_indices() {
        let behind = at + c.len_utf8();
        if string.is_some() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    string = None;
                    if !key {
                        sound = Some((behind, open.clone()));
                    }
                }
                _ => {}
            }
            // `\uXXXX` is finished four characters behind its `u`; a cut inside it is found by reading the result.
            if !escaped {
                whole = behind;
            }
            continue;
        }
        match c {
            '"' => {
                let before = text.get(..at).unwrap_or_default().trim_end().chars().next_back();
                key = open.last() == Some(&'}') && matches!(before, Some('{' | ','));
                string = Some(at);
                whole = behind;
            }
            '{' | '[' => {
                open.push(if c == '{' { '}' } else { ']' });
                sound = Some((behind, open.clone()));
            }
            '}' | ']' => {
                open.pop();
                sound = Some((behind, open.clone()));
            }
            ',' => sound = Some((at, open.clone())),
            _ => {}
        }
    }
    let reads = |text: &String| serde_json::from_str::<serde_json::Value>(text).is_ok();
    let closed = |end: usize, quote: &str, open: &[char]| {
        let mut out = text.get(..end).unwrap_or_default().to_owned();
        out.push_str(quote);
        out.extend(open.iter().rev());
        Some(out).filter(reads)
    };
    // Half an escape of six characters goes, and with it the first half of a pair.
    let in_string = string.filter(|_| !key).and_then(|_| {
        (0..=12).find_map(|back| {
            let end = whole.checked_sub(back).filter(|end| text.is_char_boundary(*end))?;
            closed(end, "\"", &open)
        })
    });
    in_string.or_else(|| sound.and_then(|(end, open)| closed(end, "", &open)))
}

/// The parsed text; strings and numbers as they stand there.
enum Node<'t> {
    /// `true`, `false`, `null`.
    Word(&'t str),
    Number(&'t str),
    /// What stands between the quotes.
    Text(&'t str),
    List(Vec<Node<'t>>),
    Map(Vec<(&'t str, Node<'t>)>),
}

/// Reads text that is known to be valid JSON.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        self.at += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.text.as_bytes().get(self.at).copied()
    }

    fn node(&mut self, depth: usize) -> Option<Node<'t>> {
        if depth > DEPTH {
            return None;
        }
        match self.peek()? {
            b'{' => {
                let mut items = Vec::new();
                self.at += 1;
                while self.peek()? != b'}' {
                    let key = self.string()?;
                    self.peek()?;
                    self.at += 1;
                    items.push((key, self.node(depth + 1)?));
                    if self.peek()? == b',' {
                        self.at += 1;
                    }
                }
                self.at += 1;
                Some(Node::Map(items))
            }
            b'[' => {
                let mut items = Vec::new();
                self.at += 1;
                while self.peek()? != b']' {
                    items.push(self.node(depth + 1)?);
                    if self.peek()? == b',' {
                        self.at += 1;
                    }
                }
                self.at += 1;
                Some(Node::List(items))
            }
            b'"' => self.string().map(Node::Text),
            first => {
                let rest = self.text.get(self.at..)?;
                let end = rest.find([',', ']', '}', ' ', '\n', '\r', '\t']).unwrap_or(rest.len());
                self.at += end;
                let word = rest.get(..end)?;
                Some(if first.is_ascii_alphabetic() { Node::Word(word) } else { Node::Number(word) })
            }
        }
    }

    fn string(&mut self) -> Option<&'t str> {
        self.peek()?;
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        let mut end = start;
        loop {
            match bytes.get(end)? {
                b'"' => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        self.at = end + 1;
        self.text.get(start..end)
    }
}

/// One character of a string; half of a pair cannot be a `char`.
#[derive(Clone, Copy)]
enum Unit {
    Char(char),
    Half(u16),
}

/// The characters that the inside of a JSON string stands for.
fn units(raw: &str) -> impl Iterator<Item = Unit> + '_ {
    let mut rest = raw;
    std::iter::from_fn(move || {
        let mut chars = rest.chars();
        let first = chars.next()?;
        if first != '\\' {
            rest = chars.as_str();
            return Some(Unit::Char(first));
        }
        let escape = chars.next()?;
        rest = chars.as_str();
        let plain = match escape {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let code = hex(rest)?;
                rest = rest.get(4..)?;
                if let Some(c) = char::from_u32(u32::from(code)) {
                    return Some(Unit::Char(c));
                }
                let low = rest.strip_prefix("\\u").and_then(hex).filter(|low| (0xDC00..0xE000).contains(low));
                if let Some(low) = low.filter(|_| code < 0xDC00) {
                    rest = rest.get(6..)?;
                    let code = 0x1_0000 + ((u32::from(code) - 0xD800) << 10) + (u32::from(low) - 0xDC00);
                    return char::from_u32(code).map(Unit::Char);
                }
                return Some(Unit::Half(code));
            }
            other => other,
        };
        Some(Unit::Char(plain))
    })
}

fn hex(text: &str) -> Option<u16> {
    u16::from_str_radix(text.get(..4)?, 16).ok()
}

/// A key as its runtime compares it.
fn plain(raw: &str) -> Cow<'_, str> {
    if raw.contains('\\') {
        let char_of = |unit| match unit {
            Unit::Char(c) => c,
            Unit::Half(_) => char::REPLACEMENT_CHARACTER,
        };
        Cow::Owned(units(raw).map(char_of).collect())
    } else {
        Cow::Borrowed(raw)
    }
}

fn write(node: &Node<'_>, style: JsonStyle, out: &mut String) -> Option<()> {
    let (comma, colon) = if style == JsonStyle::Python { (", ", ": ") } else { (",", ":") };
    match node {
        Node::Word(word) => out.push_str(word),
        Node::Number(number) => out.push_str(&write_number(number, style)?),
        Node::Text(raw) => write_string(raw, style, out)?,
        Node::List(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push_str(comma);
                }
                write(item, style, out)?;
            }
            out.push(']');
        }
        Node::Map(items) => {
            out.push('{');
            for (position, (raw, item)) in ordered(items, style).into_iter().enumerate() {
                if position > 0 {
                    out.push_str(comma);
                }
                write_string(raw, style, out)?;
                out.push_str(colon);
                write(item, style, out)?;
            }
            out.push('}');
        }
    }
    Some(())
}

/// The pairs of a map in the order of the runtime. Of equal keys the last value counts, at the place of the first.
fn ordered<'n, 't>(items: &'n [(&'t str, Node<'t>)], style: JsonStyle) -> Vec<(&'t str, &'n Node<'t>)> {
    let mut places: FxHashMap<Cow<'_, str>, usize> = FxHashMap::default();
    let mut pairs: Vec<(Cow<'_, str>, &'t str, &'n Node<'t>)> = Vec::with_capacity(items.len());
    for (raw, node) in items {
        let key = plain(raw);
        if let Some(pair) = places.get(&key).and_then(|place| pairs.get_mut(*place)) {
            pair.2 = node;
        } else {
            places.insert(key.clone(), pairs.len());
            pairs.push((key, raw, node));
        }
    }
    match style {
        JsonStyle::Erlang => pairs.sort_by(|a, b| a.0.cmp(&b.0)),
        JsonStyle::JavaScript => pairs.sort_by_key(|pair| array_index(&pair.0).map_or(u64::MAX, u64::from)),
        JsonStyle::Raw | JsonStyle::Python => {}
    }
    pairs.into_iter().map(|(_, raw, node)| (raw, node)).collect()
}

/// The number that a key is, where JavaScript takes it for an index of an array.
fn array_index(key: &str) -> Option<u32> {
    let digits = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit());
    let plain = digits && (key == "0" || !key.starts_with('0'));
    plain.then(|| key.parse().ok()).flatten().filter(|index| *index < u32::MAX)
}

fn write_string(raw: &str, style: JsonStyle, out: &mut String) -> Option<()> {
    out.push('"');
    for unit in units(raw) {
        match unit {
            Unit::Char('"') => out.push_str("\\\""),
            Unit::Char('\\') => out.push_str("\\\\"),
            Unit::Char('\u{8}') => out.push_str("\\b"),
            Unit::Char('\u{c}') => out.push_str("\\f"),
            Unit::Char('\n') => out.push_str("\\n"),
            Unit::Char('\r') => out.push_str("\\r"),
            Unit::Char('\t') => out.push_str("\\t"),
            Unit::Char(c) if style == JsonStyle::Python && !matches!(c, ' '..='~') => {
                for half in c.encode_utf16(&mut [0; 2]) {
                    escape(*half, out);
                }
            }
            Unit::Char(c) if c < ' ' && style == JsonStyle::Erlang => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            Unit::Char(c) if c < ' ' => escape(c as u16, out),
            Unit::Char(c) => out.push(c),
            // Jason refuses to read it.
            Unit::Half(_) if style == JsonStyle::Erlang => return None,
            Unit::Half(half) => escape(half, out),
        }
    }
    out.push('"');
    Some(())
}

fn escape(code: u16, out: &mut String) {
    let _ = write!(out, "\\u{code:04x}");
}

/// A number as the runtime writes it; none where it cannot read it.
fn write_number(text: &str, style: JsonStyle) -> Option<Cow<'_, str>> {
    let whole = !text.contains(['.', 'e', 'E']);
    if whole && style != JsonStyle::JavaScript {
        // Whole numbers have no limit there, and no negative zero.
        return Some(Cow::Borrowed(if text == "-0" { "0" } else { text }));
    }
    let value: f64 = text.parse().ok()?;
    if value.is_infinite() {
        return match style {
            JsonStyle::JavaScript => Some(Cow::Borrowed("null")),
            JsonStyle::Python => Some(Cow::Borrowed(if value > 0.0 { "Infinity" } else { "-Infinity" })),
            JsonStyle::Erlang | JsonStyle::Raw => None,
        };
    }
    if value == 0.0 {
        let negative = value.is_sign_negative() && style != JsonStyle::JavaScript;
        let zero = if style == JsonStyle::JavaScript { "0" } else { "0.0" };
        return Some(Cow::Owned(format!("{}{zero}", if negative { "-" } else { "" })));
    }
    let (digits, exponent) = shortest(value.abs())?;
    let sign = if value < 0.0 { "-" } else { "" };
    let body = match style {
        JsonStyle::JavaScript if (-6..21).contains(&exponent) => positional(&digits, exponent, ""),
        JsonStyle::Python if (-4..16).contains(&exponent) => positional(&digits, exponent, ".0"),
        JsonStyle::Erlang if erlang_plain(&digits, exponent, value) => positional(&digits, exponent, ".0"),
        JsonStyle::JavaScript => power(&digits, "", &format!("{exponent:+}")),
        JsonStyle::Python => {
            power(&digits, "", &format!("{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()))
        }
        JsonStyle::Erlang | JsonStyle::Raw => power(&digits, ".0", &exponent.to_string()),
    };
    Some(Cow::Owned(format!("{sign}{body}")))
}

/// The shortest digits that read back as the same number, of several the nearest, and the power of ten of the first one.
/// All runtimes agree on them; where the point stands they do not. The standard library rounds halves differently.
fn shortest(value: f64) -> Option<(String, i32)> {
    let text = serde_json::Number::from_f64(value)?.to_string();
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let leading = all.len() - all.trim_start_matches('0').len();
    let exponent =
        i32::try_from(whole.len()).ok()? - 1 - i32::try_from(leading).ok()? + power.parse::<i32>().ok()?;
    Some((all.trim_matches('0').to_owned(), exponent))
}

/// Erlang's shortest form: without an exponent unless that is shorter, or the number too large to be exact.
fn erlang_plain(digits: &str, exponent: i32, value: f64) -> bool {
    let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    let place = i64::from(exponent) + 1;
    let cost = i64::from(exponent < 0)
        + i64::from(exponent.unsigned_abs().checked_ilog10().unwrap_or(0))
        + if length == 1 { 4 } else { 3 };
    if place < 0 {
        2 - place <= cost
    } else if place >= length && place > 0 {
        place - length + 2 <= cost && value.abs() < 9_007_199_254_740_992.0
    } else {
        true
    }
}

/// `digits` times ten to the `exponent`, without one; `end` follows a whole number.
fn positional(digits: &str, exponent: i32, end: &str) -> String {
    let length = digits.len();
    match usize::try_from(exponent) {
        Err(_) => format!("0.{}{digits}", "0".repeat((-exponent - 1) as usize)),
        Ok(exponent) if exponent + 1 >= length => {
            format!("{digits}{}{end}", "0".repeat(exponent + 1 - length))
        }
        Ok(exponent) => {
            let (whole, fraction) = digits.split_at_checked(exponent + 1).unwrap_or((digits, ""));
            format!("{whole}.{fraction}")
        }
    }
}

/// `digits` with a power of ten; `end` follows a single digit.
fn power(digits: &str, end: &str, exponent: &str) -> String {
    match digits.split_at_checked(1) {
        Some((first, rest)) if !rest.is_empty() => format!("{first}.{rest}e{exponent}"),
        _ => format!("{digits}{end}e{exponent}"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_beginning_of_a_text_is_closed_to_what_it_holds() {
        let text = r#"{"path":"src/a b.rs","n":[1,{"x":"\u00e9\ud83d\ude00é😀 \"q\""},true],"old":"line\nline","z":-1.5e3}"#;
        let whole: serde_json::Value = serde_json::from_str(text).expect("a JSON text");
        let mut seen = 0;
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            let closed = super::beginning(text.get(..end).unwrap_or_default());
            assert_eq!(closed.is_some(), end > 0, "{end}");
            let Some(closed) = closed else { continue };
            let value: serde_json::Value = serde_json::from_str(&closed).expect("it reads");
            let path = value["path"].as_str().unwrap_or_default();
            assert!(whole["path"].as_str().is_some_and(|whole| whole.starts_with(path)), "{closed}");
            let old = value["old"].as_str().unwrap_or_default();
            assert!(whole["old"].as_str().is_some_and(|whole| whole.starts_with(old)), "{closed}");
            assert!(closed.len() <= end + 4, "{closed}");
            assert!(path.len() >= seen, "{closed}");
            seen = path.len();
        }
        assert_eq!(super::beginning(text).as_deref(), Some(text));
        assert_eq!(super::beginning("plain text"), None);
    }

    use super::*;
    use JsonStyle::{Erlang, JavaScript, Python, Raw};

    #[test]
    fn each_runtime_has_its_own_spaces_order_and_escapes() {
        let given =
            r#"{ "b" : [1, true,null], "10":{}, "a":"é/\/\u007f\u0001\u001f\ud83d\ude00\n", "2":[] }"#;
        let table = [
            (Raw, given),
            (JavaScript, "{\"2\":[],\"10\":{},\"b\":[1,true,null],\"a\":\"é//\u{7f}\\u0001\\u001f😀\\n\"}"),
            (Erlang, "{\"10\":{},\"2\":[],\"a\":\"é//\u{7f}\\u0001\\u001F😀\\n\",\"b\":[1,true,null]}"),
            (
                Python,
                r#"{"b": [1, true, null], "10": {}, "a": "\u00e9//\u007f\u0001\u001f\ud83d\ude00\n", "2": []}"#,
            ),
        ];
        for (style, expect) in table {
            assert_eq!(restyle(given, style), expect, "{style:?}");
        }
    }

    #[test]
    fn numbers_as_the_runtimes_write_them() {
        // JSON text, JavaScript, Erlang, Python.
        let table = [
            ("0", "0", "0", "0"),
            ("-0", "0", "0", "0"),
            ("-0.0", "0", "-0.0", "-0.0"),
            ("1.0", "1", "1.0", "1.0"),
            ("1.50", "1.5", "1.5", "1.5"),
            ("1e6", "1000000", "1.0e6", "1000000.0"),
            ("12345.0", "12345", "12345.0", "12345.0"),
            ("123000000.0", "123000000", "1.23e8", "123000000.0"),
            ("100.0", "100", "100.0", "100.0"),
            ("1000.0", "1000", "1.0e3", "1000.0"),
            ("0.1", "0.1", "0.1", "0.1"),
            ("0.05", "0.05", "0.05", "0.05"),
            ("0.001", "0.001", "0.001", "0.001"),
            ("0.0001", "0.0001", "0.0001", "0.0001"),
            ("0.001234", "0.001234", "0.001234", "0.001234"),
            ("12300.0", "12300", "1.23e4", "12300.0"),
            ("12345678900.0", "12345678900", "12345678900.0", "12345678900.0"),
            ("0.00001", "0.00001", "1.0e-5", "1e-05"),
            ("0.000001", "0.000001", "1.0e-6", "1e-06"),
            ("0.0000001", "1e-7", "1.0e-7", "1e-07"),
            ("1.25e-7", "1.25e-7", "1.25e-7", "1.25e-07"),
            ("1e15", "1000000000000000", "1.0e15", "1000000000000000.0"),
            ("1e16", "10000000000000000", "1.0e16", "1e+16"),
            ("1e20", "100000000000000000000", "1.0e20", "1e+20"),
            ("1e21", "1e+21", "1.0e21", "1e+21"),
            ("9007199254740991.0", "9007199254740991", "9007199254740991.0", "9007199254740991.0"),
            ("9007199254740992.0", "9007199254740992", "9.007199254740992e15", "9007199254740992.0"),
            ("9007199254740993", "9007199254740992", "9007199254740993", "9007199254740993"),
            ("12345678901234567890", "12345678901234567000", "12345678901234567890", "12345678901234567890"),
            ("71622840168895.62", "71622840168895.62", "71622840168895.62", "71622840168895.62"),
            ("5e-324", "5e-324", "5.0e-324", "5e-324"),
            ("-2.5e+3", "-2500", "-2.5e3", "-2500.0"),
            ("1e999", "null", "1e999", "Infinity"),
        ];
        for (given, javascript, erlang, python) in table {
            assert_eq!(restyle(given, JavaScript), javascript, "{given}");
            assert_eq!(restyle(given, Erlang), erlang, "{given}");
            assert_eq!(restyle(given, Python), python, "{given}");
        }
    }

    #[test]
    fn of_equal_keys_the_last_value_stands_at_the_first_place() {
        let given = r#"{"a":1,"b":2,"\u0061":3}"#;
        assert_eq!(restyle(given, JavaScript), r#"{"a":3,"b":2}"#);
        assert_eq!(restyle(given, Python), r#"{"a": 3, "b": 2}"#);
    }

    #[test]
    fn only_canonical_array_indices_move_to_the_front() {
        let given = r#"{"x":1,"01":2,"4294967295":3,"4294967294":4,"-1":5,"0":6}"#;
        assert_eq!(
            restyle(given, JavaScript),
            r#"{"0":6,"4294967294":4,"x":1,"01":2,"4294967295":3,"-1":5}"#
        );
    }

    #[test]
    fn half_a_pair_stays_an_escape_where_it_can_be_read() {
        let given = r#"["\uD83D","\ude00\ud83d","\ud83dx"]"#;
        assert_eq!(restyle(given, JavaScript), r#"["\ud83d","\ude00\ud83d","\ud83dx"]"#);
        assert_eq!(restyle(given, Python), r#"["\ud83d", "\ude00\ud83d", "\ud83dx"]"#);
        assert_eq!(restyle(given, Erlang), given);
    }

    #[test]
    fn what_is_no_json_or_too_deep_comes_back_as_it_is() {
        let deep = format!("{}{}", "[ ".repeat(600), "]".repeat(600));
        for given in ["", "ls -la", "{\"a\":", "{'a': 1}", "1 2", "*** Begin Patch", &deep] {
            for style in [Raw, JavaScript, Erlang, Python] {
                assert_eq!(restyle(given, style), given);
                assert!(matches!(restyle(given, style), Cow::Borrowed(_)));
            }
        }
        assert_eq!(restyle(" { } ", JavaScript), "{}");
        assert_eq!(restyle("\"x\"", Python), "\"x\"");
    }
}
