//! An error text made plain: JSON unwrapped, names taken apart, numbers joined, everything in lower case.
//!
//! The result is a line of words with one space between them. Signs are words, too; `.`, `;`, `!` and `?` end sentences. A
//! text of any wrapping reads the same that way, so that the rules need to know sentences only.

use regex::{Captures, Regex};
use serde_json::Value;
use std::sync::LazyLock;

/// Bytes at either end of a text that are read: what is longer echoes a request or is a page of HTML.
const ENDS: usize = 32 * 1024;

/// JSON inside strings of JSON is unwrapped so many times.
const DEPTH: usize = 6;

/// Places of a text at which JSON is tried to be read, at each depth.
const TRIES: usize = 16;

/// Keys whose values repeat what was sent: nobody's error.
const ECHOES: [&str; 8] =
    ["messages", "prompt", "input", "inputs", "contents", "request", "failed_generation", "documents"];

/// A pattern of this file or its neighbours, which a test compiles.
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of the source is valid: tests use each")
}

macro_rules! patterns {
    ($($name:ident = $text:expr;)+) => {
        $(static $name: LazyLock<Regex> = LazyLock::new(|| $crate::overflow::reading::pattern($text));)+

        /// Makes every pattern of the file.
        #[cfg(test)]
        pub(super) fn compile() {
            $(LazyLock::force(&$name);)+
        }
    };
}
pub(super) use patterns;

patterns! {
    URL = r#"(?i)\bhttps?://[^\s"'<>]+"#;
    TAG = r"(?i)</?[a-z!][^<>]{0,200}>";
    ESCAPE = r#"\\+(u[0-9a-fA-F]{4}|["'/nrt\\])"#;
    PER_TIME = r"(?i)\s?/\s?(min|minute|hour|day|sec|second|month)\b";
    // Places in a request and files: `messages[2].content`, `messages.3.content`, `docs/a.md`.
    PLACE = r"[A-Za-z0-9_]+(?:\.[A-Za-z_]+)*(?:\[\d+\]|\.\d+\.)[A-Za-z0-9_.\[\]]*|/?(?:[\w@.-]+/)+[\w@-]*\.[A-Za-z]{1,4}\b|/[\w.-]+/[\w./-]*";
    WORDS = r"([A-Za-z]+)/([A-Za-z]+)";
    CAMEL = r"([a-z])([A-Z])";
    ACRONYM = r"([A-Z])([A-Z][a-z])";
    JOINT = r"([A-Za-z])['’]([A-Za-z])";
    GROUPS = r"\b\d{1,3}(?:[,_'’]\d{3})+\b";
    // A blank or a dot between groups only where a token follows: both mean other things elsewhere.
    SPACED = r"(?i)\b(\d{1,3}(?:[ .\u{a0}\u{202f}]\d{3})+)(\s?-?(?:tokens?\b|max))";
    THOUSANDS = r"(?i)\b(\d+(?:\.\d+)?)(k\b|m\b\s?-?(?:tokens?\b|context\b|window\b))";
    // A sign that belongs to its number: behind nothing, a sign or a word, and not between two numbers.
    NEGATIVE = r"(^|[(\[:=,<>]|[^\s\d)\]]\s)(\s*)-\d[\d.]*\b";
    WORD = r"\d+(?:[.]\d+)*[a-z0-9_-]*|[a-z0-9]+(?:[-_.]\d[a-z0-9.-]*[a-z0-9])*|[^\x00-\x7f\s]+|[<>]=?|[.;!?:=()\[\],+*%-]";
}

/// The plain words of an error text, one space before, between and behind them.
pub(super) fn plain(text: &str) -> String {
    let mut flat = String::new();
    flatten(&ends(text), DEPTH, &mut flat);
    let text = ESCAPE.replace_all(&flat, unescape);
    let text = URL.replace_all(&text, " ");
    let text = TAG.replace_all(&text, " ; ");
    let text: String = text.chars().map(ascii).collect();
    let text =
        GROUPS.replace_all(&text, |found: &Captures<'_>| digits(found.get(0).map_or("", |it| it.as_str())));
    let text = SPACED.replace_all(&text, |found: &Captures<'_>| {
        let part = |n: usize| found.get(n).map_or("", |it| it.as_str());
        digits(part(1)) + part(2)
    });
    let text = THOUSANDS.replace_all(&text, thousands);
    // No count of anything.
    let text = NEGATIVE.replace_all(&text, "$1 negative ");
    let text = PER_TIME.replace_all(&text, " per $1");
    let text = PLACE.replace_all(&text, " ");
    let text = WORDS.replace_all(&text, "$1 or $2");
    let text = JOINT.replace_all(&text, "$1$2");
    let text = CAMEL.replace_all(&text, "$1 $2");
    let text = ACRONYM.replace_all(&text, "$1 $2");
    words(&text)
}

/// Both ends of a long text.
fn ends(text: &str) -> String {
    if text.len() <= 2 * ENDS {
        return text.to_owned();
    }
    let head = text.get(..text.floor_char_boundary(ENDS)).unwrap_or("");
    let tail = text.get(text.ceil_char_boundary(text.len() - ENDS)..).unwrap_or("");
    format!("{head} ; {tail}")
}

/// The text with its JSON written as `key : value ;`.
fn flatten(text: &str, depth: usize, out: &mut String) {
    let mut rest = text;
    for _ in 0..TRIES {
        let Some((before, from)) = rest.find('{').and_then(|at| rest.split_at_checked(at)) else { break };
        out.push_str(before);
        let mut documents = serde_json::Deserializer::from_str(from).into_iter::<Value>();
        let read = documents.next();
        rest = match read {
            Some(Ok(value)) => {
                out.push_str(" ; ");
                write(&value, depth, out);
                from.get(documents.byte_offset()..).unwrap_or("")
            }
            _ => from.strip_prefix('{').unwrap_or(""),
        };
        out.push_str(" ; ");
    }
    out.push_str(rest);
}

fn write(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                if ECHOES.contains(&key.as_str()) && !value.is_number() {
                    continue;
                }
                out.push_str(key);
                out.push_str(" : ");
                write(value, depth, out);
                out.push_str(" ; ");
            }
        }
        Value::Array(items) => {
            for item in items {
                write(item, depth, out);
                out.push_str(" ; ");
            }
        }
        Value::String(text) if depth > 0 && text.contains('{') => flatten(text, depth - 1, out),
        Value::String(text) => out.push_str(text),
        other => out.push_str(&other.to_string()),
    }
}

fn unescape(found: &Captures<'_>) -> String {
    let escape = found.get(1).map_or("", |it| it.as_str());
    match escape.strip_prefix('u') {
        Some(code) => u32::from_str_radix(code, 16).ok().and_then(char::from_u32).unwrap_or(' ').to_string(),
        None if matches!(escape, "n" | "r") => " ; ".to_owned(),
        None if escape == "t" => " ".to_owned(),
        None => escape.to_owned(),
    }
}

/// Signs of other scripts as their plain forms; line ends and braces end a sentence.
fn ascii(character: char) -> char {
    match character {
        '\n' | '\r' | '{' | '}' | '|' | '；' | '·' => ';',
        '。' => ';',
        '，' | '、' => ',',
        '：' => ':',
        '（' => '(',
        '）' => ')',
        '！' => '!',
        '？' => '?',
        '≤' | '＜' => '<',
        '＞' => '>',
        '–' | '—' | '−' => '-',
        '０'..='９' => char::from_u32(u32::from(character) - 0xFEE0).unwrap_or(character),
        _ => character,
    }
}

fn digits(number: &str) -> String {
    number.chars().filter(char::is_ascii_digit).collect()
}

/// `128k` and `1.2m tokens` in full.
fn thousands(found: &Captures<'_>) -> String {
    let part = |n: usize| found.get(n).map_or("", |it| it.as_str());
    let (sign, behind) = part(2).split_at_checked(1).unwrap_or(("", ""));
    let factor = if sign.eq_ignore_ascii_case("k") { 1e3 } else { 1e6 };
    let number = part(1).parse::<f64>().unwrap_or(0.0) * factor;
    format!("{number:.0} {behind}")
}

/// Lower-case words and signs; quotes and everything that is no word go, names with `_` and `-` fall apart.
fn words(text: &str) -> String {
    let mut apart = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut last = ' ';
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        let joins = last.is_ascii_alphabetic() && next.is_ascii_alphabetic();
        if joins && matches!(character, '_' | '-' | '.') || last.is_ascii() != character.is_ascii() {
            apart.push(' ');
        }
        if !joins || !matches!(character, '_' | '-' | '.') {
            apart.extend(character.to_lowercase());
        }
        last = character;
    }
    let mut plain = String::from(" ");
    for word in WORD.find_iter(&apart) {
        plain.push_str(word.as_str());
        plain.push(' ');
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_valid() {
        compile();
        crate::overflow::numbers::compile();
        crate::overflow::classify::compile();
    }

    #[test]
    fn wrappings_fall_away() {
        for (text, expect) in [
            ("Prompt is too long.", " prompt is too long . "),
            (
                "{\"error\":{\"code\":\"context_length_exceeded\"}}",
                " ; error : code : context length exceeded ; ; ; ",
            ),
            ("x \"{\\\"n_ctx\\\":4096}\"", " x ; n ctx : 4096 ; "),
            ("400 {\"raw\":\"{\\\"a\\\":\\\"b\\\"}\"}", " 400 ; raw : ; a : b ; ; ; ; "),
            ("{'error': 'model\\'s limit'}", " ; error : models limit ; "),
            ("litellm.ContextWindowExceededError: no", " litellm context window exceeded error : no "),
            ("HTTPError maxOutputTokens", " http error max output tokens "),
            ("<h1>Too Large</h1>", " ; too large ; "),
            ("messages[2].content and messages.3.content.0.text: bad", " and : bad "),
            ("see https://a.example/rate-limits now", " see now "),
            ("could not read docs/context-window.md", " could not read "),
            ("gpt-4o on openai/gpt-oss-20b", " gpt-4o on openai or gpt oss-20b "),
            ("提示词过长：当前 5 tokens", " 提示词过长 : 当前 5 tokens "),
            ("{\"input\":{\"a\":\"prompt is too long\"},\"b\":1}", " ; b : 1 ; ; "),
        ] {
            assert_eq!(plain(text), expect, "{text}");
        }
    }

    #[test]
    fn numbers_are_joined() {
        for (text, expect) in [
            ("5,958,968 tokens", " 5958968 tokens "),
            ("262_144 of 1'000'000", " 262144 of 1000000 "),
            ("200 000 tokens, 200.000 tokens", " 200000 tokens , 200000 tokens "),
            ("128k window, 1M tokens, 1.2m context", " 128000 window , 1000000 tokens , 1200000 context "),
            ("in 4.268s or 5m", " in 4.268s or 5m "),
            ("[1, 129024]", " [ 1 , 129024 ] "),
            ("3.000000 / min", " 3.000000 per min "),
            ("１２８ <= 5", " 128 <= 5 "),
        ] {
            assert_eq!(plain(text), expect, "{text}");
        }
    }

    #[test]
    fn long_texts_are_read_at_both_ends() {
        let text = format!("first {} last", "x ".repeat(200_000));
        let plain = plain(&text);
        assert!(plain.len() < 3 * ENDS && plain.starts_with(" first ") && plain.ends_with(" last "));
    }
}
