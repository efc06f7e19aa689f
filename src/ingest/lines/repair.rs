//! Texts that are JSON but for small things the parser refuses: made parseable without losing the record.

use std::borrow::Cow;
use std::fmt::Write as _;

use memchr::memchr;

/// Nesting of arrays and objects that is kept as such; what is deeper becomes text. Below the parser's own limit of 128.
pub(super) const DEPTH: usize = 120;

/// Replaces what the parser refuses and logs hold: lone surrogate escapes by `\ufffd`, raw control characters by their escapes, the
/// numbers that only some writers know (`NaN`, `Infinity`) by null.
pub(super) fn repair(text: &str) -> Cow<'_, str> {
    let surrogates = surrogates(text);
    let source = surrogates.as_deref().unwrap_or(text);
    if !source.bytes().any(|byte| byte < 0x20) && !["NaN", "Infinity"].iter().any(|it| source.contains(it)) {
        return surrogates.map_or(Cow::Borrowed(text), Cow::Owned);
    }
    let mut fixed = String::with_capacity(source.len());
    let mut rest = source;
    let mut quoted = Quoted::default();
    while let Some(c) = rest.chars().next() {
        let inside = quoted.step(c);
        let odd = ["-Infinity", "Infinity", "NaN"].iter().find(|odd| !inside && rest.starts_with(**odd));
        let step = odd.map_or(c.len_utf8(), |odd| odd.len());
        match odd {
            Some(_) => fixed.push_str("null"),
            None if c < ' ' && inside => {
                let _ = write!(fixed, "\\u{:04x}", u32::from(c));
            }
            None if c < ' ' && !['\t', '\n', '\r'].contains(&c) => fixed.push(' '),
            None => fixed.push(c),
        }
        rest = rest.get(step..).unwrap_or_default();
    }
    if fixed == text { Cow::Borrowed(text) } else { Cow::Owned(fixed) }
}

/// The text with `\ufffd` for halves of surrogate pairs that stand alone; `None` when there are none. The length stays.
fn surrogates(text: &str) -> Option<String> {
    let source = text.as_bytes();
    let mut places = Vec::new();
    let mut at = 0;
    while let Some(found) = memchr(b'\\', source.get(at..).unwrap_or_default()) {
        let here = at + found;
        match surrogate(source, here) {
            Some(Half::High) if matches!(surrogate(source, here + 6), Some(Half::Low)) => at = here + 12,
            Some(_) => {
                places.push(here);
                at = here + 6;
            }
            None => at = here + 2,
        }
    }
    if places.is_empty() {
        return None;
    }
    let mut fixed = String::with_capacity(text.len());
    let mut from = 0;
    for place in places {
        fixed.push_str(text.get(from..place).unwrap_or_default());
        fixed.push_str("\\ufffd");
        from = place + 6;
    }
    fixed.push_str(text.get(from..).unwrap_or_default());
    Some(fixed)
}

/// Half of a surrogate pair.
enum Half {
    High,
    Low,
}

/// The surrogate escape that starts at `at`, if there is one.
fn surrogate(source: &[u8], at: usize) -> Option<Half> {
    let escape = source.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

/// Whether a place of a JSON text is inside a string.
#[derive(Debug, Default)]
pub(super) struct Quoted {
    inside: bool,
    escaped: bool,
}

impl Quoted {
    /// Goes over one character; true when it belongs to a string.
    pub(super) fn step(&mut self, c: char) -> bool {
        if self.escaped {
            self.escaped = false;
        } else if self.inside {
            match c {
                '\\' => self.escaped = true,
                '"' => {
                    self.inside = false;
                    return true;
                }
                _ => {}
            }
        } else {
            self.inside = c == '"';
        }
        self.inside
    }
}

/// The text with every array and object that lies deeper than [`DEPTH`] as a string that holds its JSON; `None` when there is none
/// or when it never ends.
pub(super) fn shallow(text: &str) -> Option<String> {
    let mut quoted = Quoted::default();
    let mut depth = 0usize;
    let mut deep: Option<usize> = None;
    let mut from = 0;
    let mut fixed = String::new();
    for (at, c) in text.char_indices() {
        if quoted.step(c) {
            continue;
        }
        match c {
            '{' | '[' => {
                depth += 1;
                if depth > DEPTH && deep.is_none() {
                    fixed.push_str(text.get(from..at)?);
                    deep = Some(at);
                }
            }
            '}' | ']' => {
                depth = depth.checked_sub(1)?;
                if depth == DEPTH
                    && let Some(start) = deep.take()
                {
                    from = at + 1;
                    fixed.push_str(&serde_json::to_string(text.get(start..from)?).ok()?);
                }
            }
            _ => {}
        }
    }
    if from == 0 || deep.is_some() {
        return None;
    }
    fixed.push_str(text.get(from..)?);
    Some(fixed)
}

/// The text with every number that would lose digits as a string of them: whole ones of more than 64 bits, and those beyond all
/// range; `None` when there is none.
pub(super) fn spelled_out(text: &str) -> Option<String> {
    let mut quoted = Quoted::default();
    let mut from = 0;
    let mut skip = 0;
    let mut fixed = String::new();
    for (at, c) in text.char_indices() {
        if at < skip || quoted.step(c) || !(c == '-' || c.is_ascii_digit()) {
            continue;
        }
        let rest = text.get(at..)?;
        let inside = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
        let number = rest.find(|c| !inside(c)).and_then(|end| rest.get(..end)).unwrap_or(rest);
        skip = at + number.len();
        if is_wide(number) {
            fixed.push_str(text.get(from..at)?);
            fixed.extend(["\"", number, "\""]);
            from = skip;
        }
    }
    if from == 0 {
        return None;
    }
    fixed.push_str(text.get(from..)?);
    Some(fixed)
}

/// True for a number whose digits are more than a value can hold.
fn is_wide(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        !digits.is_empty() && number.parse::<u64>().is_err() && number.parse::<i64>().is_err()
    } else {
        number.parse::<f64>().is_ok_and(f64::is_infinite)
    }
}
