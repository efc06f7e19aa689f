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
pub(crate) mod sentence;

use compact_str::CompactString;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;

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

/// Position of the next byte that is no ASCII. Looks at 16 bytes at a time: most of a text is ASCII.
fn next_wide(bytes: &[u8]) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks::<16>();
    let block = blocks.iter().position(|block| !block.is_ascii());
    let (from, tail) = match block {
        Some(block) => (block * 16, blocks.get(block)?.as_slice()),
        None => (blocks.len() * 16, rest),
    };
    Some(from + tail.iter().position(|byte| *byte >= 0x80)?)
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
pub(crate) struct Units<'t> {
    text: &'t str,
    at: usize,
}

/// The units of a text: lines, list items with their continuation lines, hard-wrapped sentences; long lines are cut
/// at sentence ends. Every byte except line ends is in exactly one unit.
pub(crate) fn units(text: &str) -> Units<'_> {
    Units { text, at: 0 }
}

impl Iterator for Units<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        if self.at >= bytes.len() {
            return None;
        }
        let start = self.at;
        let mut line_start = start;
        loop {
            let end = memchr::memchr(b'\n', bytes.get(line_start..)?)
                .map_or(bytes.len(), |found| line_start + found);
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
pub(crate) fn sentences(text: &str) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
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

/// A number as written, with its unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quantity {
    /// Digits as written, thousands separators included.
    pub(crate) raw: String,
    /// Digits without thousands separators.
    pub(crate) number: String,
    /// Unit as written; empty when there is none.
    pub(crate) raw_unit: String,
    /// Unit in its one spelling; empty when there is none.
    pub(crate) unit: &'static str,
    /// Byte range in the text it was read from.
    pub(crate) start: usize,
    /// End of the byte range.
    pub(crate) end: usize,
}

/// Spellings of units, sorted by nothing: each maps to one spelling. A unit of a single letter is taken only when
/// written right after the digits, except `s`, `h`, `d`, `m` and `B`.
const UNITS: &[(&str, &str)] = &[
    ("ms", "ms"),
    ("msec", "ms"),
    ("msecs", "ms"),
    ("millis", "ms"),
    ("millisecond", "ms"),
    ("milliseconds", "ms"),
    ("毫秒", "ms"),
    ("ミリ秒", "ms"),
    ("us", "us"),
    ("µs", "us"),
    ("μs", "us"),
    ("microseconds", "us"),
    ("ns", "ns"),
    ("nanoseconds", "ns"),
    ("s", "s"),
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("秒", "s"),
    ("min", "min"),
    ("mins", "min"),
    ("minute", "min"),
    ("minutes", "min"),
    ("分钟", "min"),
    ("分", "min"),
    ("h", "h"),
    ("hr", "h"),
    ("hrs", "h"),
    ("hour", "h"),
    ("hours", "h"),
    ("小时", "h"),
    ("時間", "h"),
    ("day", "day"),
    ("days", "day"),
    ("d", "day"),
    ("天", "day"),
    ("日間", "day"),
    ("week", "week"),
    ("weeks", "week"),
    ("month", "month"),
    ("months", "month"),
    ("B", "B"),
    ("byte", "B"),
    ("bytes", "B"),
    ("字节", "B"),
    ("KB", "KB"),
    ("kB", "KB"),
    ("kb", "KB"),
    ("kilobytes", "KB"),
    ("KiB", "KiB"),
    ("MB", "MB"),
    ("mb", "MB"),
    ("megabytes", "MB"),
    ("MiB", "MiB"),
    ("GB", "GB"),
    ("gb", "GB"),
    ("gigabytes", "GB"),
    ("GiB", "GiB"),
    ("TB", "TB"),
    ("TiB", "TiB"),
    ("percent", "%"),
    ("pct", "%"),
    ("k", "k"),
    ("K", "k"),
    ("M", "M"),
    ("px", "px"),
    ("pixels", "px"),
    ("Hz", "Hz"),
    ("kHz", "kHz"),
    ("MHz", "MHz"),
    ("GHz", "GHz"),
    ("fps", "fps"),
    ("rps", "rps"),
    ("qps", "qps"),
    ("req/s", "rps"),
    ("requests/s", "rps"),
    ("MB/s", "MB/s"),
    ("GB/s", "GB/s"),
    ("KB/s", "KB/s"),
    ("€", "€"),
    ("euro", "€"),
    ("euros", "€"),
    ("EUR", "€"),
    ("dollars", "$"),
    ("USD", "$"),
    ("cents", "cents"),
    ("cent", "cents"),
    ("degrees", "°"),
    ("°C", "°C"),
    ("x", "x"),
    ("meters", "m"),
    ("metres", "m"),
    ("meter", "m"),
    ("metre", "m"),
    ("degree", "°"),
    ("°", "°"),
    ("hPa", "hPa"),
    ("kW", "kW"),
    ("kWh", "kWh"),
    ("kg", "kg"),
    ("km", "km"),
    ("mm", "mm"),
    ("cm", "cm"),
    ("rem", "rem"),
    ("em", "em"),
    ("dB", "dB"),
    ("token", "tokens"),
    ("tokens", "tokens"),
    ("retries", "retries"),
    ("attempts", "attempts"),
    ("workers", "workers"),
    ("threads", "threads"),
    ("connections", "connections"),
    ("replicas", "replicas"),
    ("W", "W"),
    ("watts", "W"),
    ("mW", "mW"),
    ("MW", "MW"),
    ("V", "V"),
    ("mV", "mV"),
    ("volts", "V"),
    ("A", "A"),
    ("mA", "mA"),
    ("µA", "µA"),
    ("μA", "µA"),
    ("Ah", "Ah"),
    ("mAh", "mAh"),
    ("Wh", "Wh"),
    ("Ω", "Ω"),
    ("kΩ", "kΩ"),
    ("ohm", "Ω"),
    ("ohms", "Ω"),
    ("pF", "pF"),
    ("nF", "nF"),
    ("µF", "µF"),
    ("°F", "°F"),
    ("K/min", "K/min"),
    ("bar", "bar"),
    ("kPa", "kPa"),
    ("Pa", "Pa"),
    ("Nm", "Nm"),
    ("mg", "mg"),
    ("ml", "ml"),
    ("µm", "µm"),
    ("nm", "nm"),
    ("rpm", "rpm"),
    ("rad", "rad"),
    ("deg", "°"),
    ("rad/s", "rad/s"),
    ("m/s", "m/s"),
    ("km/h", "km/h"),
    ("dBm", "dBm"),
    ("lux", "lux"),
    ("lm", "lm"),
    ("kbit", "kbit"),
    ("Mbit", "Mbit"),
    ("Gbit", "Gbit"),
    ("bps", "bit/s"),
    ("kbps", "kbit/s"),
    ("Mbps", "Mbit/s"),
    ("Gbps", "Gbit/s"),
    ("bit/s", "bit/s"),
    ("kbit/s", "kbit/s"),
    ("Mbit/s", "Mbit/s"),
    ("Gbit/s", "Gbit/s"),
    ("KiB/s", "KiB/s"),
    ("MiB/s", "MiB/s"),
    ("GiB/s", "GiB/s"),
    ("B/s", "B/s"),
    ("kB/s", "KB/s"),
    ("baud", "baud"),
    ("Mi", "MiB"),
    ("Gi", "GiB"),
    ("Ki", "KiB"),
    ("Ti", "TiB"),
    ("samples/s", "samples/s"),
    ("rows/s", "rows/s"),
    ("msg/s", "msg/s"),
    ("messages/s", "msg/s"),
    ("events/s", "events/s"),
    ("ops/s", "ops/s"),
    ("tokens/s", "tokens/s"),
    ("frames/s", "fps"),
    ("items/s", "items/s"),
    ("records/s", "records/s"),
    ("packets/s", "packets/s"),
    ("files/s", "files/s"),
    ("lines/s", "lines/s"),
    ("queries/s", "qps"),
    ("tx/s", "tx/s"),
    ("steps/s", "steps/s"),
    ("images/s", "images/s"),
    ("req/min", "req/min"),
    ("requests/min", "req/min"),
    ("req/h", "req/h"),
    ("pt", "pt"),
    ("vh", "vh"),
    ("vw", "vw"),
    ("dvh", "dvh"),
    ("svh", "svh"),
    ("lvh", "lvh"),
    ("ch", "ch"),
    ("fr", "fr"),
    ("dp", "dp"),
    ("sp", "sp"),
    ("dpi", "dpi"),
    ("LSB", "LSB"),
    ("μm", "µm"),
    ("ppm", "ppm"),
    ("GBP", "£"),
    ("CHF", "CHF"),
    ("JPY", "¥"),
    ("CNY", "¥"),
    ("yen", "¥"),
    ("円", "¥"),
    ("元", "¥"),
    ("cycles", "cycles"),
    ("分間", "min"),
    ("秒間", "s"),
    ("ヶ月", "month"),
    ("个月", "month"),
    ("周", "week"),
    ("週間", "week"),
    ("Sekunden", "s"),
    ("Sekunde", "s"),
    ("Minuten", "min"),
    ("Minute", "min"),
    ("Stunden", "h"),
    ("Tage", "day"),
    ("Tagen", "day"),
    ("segundos", "s"),
    ("minutos", "min"),
    ("horas", "h"),
    ("días", "day"),
    ("dias", "day"),
    ("secondes", "s"),
    ("heures", "h"),
    ("jours", "day"),
];

fn unit_of(word: &str, attached: bool) -> Option<&'static str> {
    static TABLE: LazyLock<FxHashMap<&str, &str>> = LazyLock::new(|| UNITS.iter().copied().collect());
    if matches!(word, "k" | "K" | "M" | "x") && !attached {
        return None;
    }
    // `20m` is minutes, as tools write it; `20 m` is metres.
    if word == "m" {
        return Some(if attached { "min" } else { "m" });
    }
    TABLE.get(word).copied()
}

/// Reads a number with its unit at `at`, which must be at a digit whose left neighbour is not part of a word or
/// number. `None` when what stands there is not a number by itself (`3d7f`, `1.2.3`, `2024-01-02`, `12:30`).
pub(crate) fn quantity_at(text: &str, at: usize) -> Option<Quantity> {
    let bytes = text.as_bytes();
    if at > 0 {
        let before = bytes.get(at - 1).copied()?;
        let before2 = at.checked_sub(2).and_then(|i| bytes.get(i)).copied().unwrap_or(b' ');
        if CLASS[before as usize] == WORD {
            return None;
        }
        // `1.5`, `1,500`, `v-2`, `a/3`, `x#3`: a piece of something longer.
        if matches!(before, b'.' | b',' | b'-' | b'/' | b'#' | b':') && CLASS[before2 as usize] == WORD {
            return None;
        }
        // `#5`, `.5`, and the colours of a terminal: `[0m`, `38;5;120m`.
        if matches!(before, b'#' | b'.')
            || matches!(before, b'[' | b';')
                && bytes.get(at..)?.iter().find(|b| !b.is_ascii_digit()) == Some(&b'm')
        {
            return None;
        }
    }
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let mut end = at;
    while digit(end) {
        end += 1;
    }
    if end == at {
        return None;
    }
    let mut number = text.get(at..end)?.to_owned();
    while matches!(bytes.get(end), Some(b',' | b'_'))
        && digit(end + 1)
        && digit(end + 2)
        && digit(end + 3)
        && !digit(end + 4)
        && end - at <= 24
    {
        number.push_str(text.get(end + 1..end + 4)?);
        end += 4;
    }
    if bytes.get(end) == Some(&b'.') && digit(end + 1) {
        let from = end;
        end += 1;
        while digit(end) {
            end += 1;
        }
        number.push_str(text.get(from..end)?);
    }
    // `2e-4`.
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let from = end;
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        let mut to = end + 1 + sign;
        while digit(to) {
            to += 1;
        }
        if to > from + 1 + sign && bytes.get(to).is_none_or(|byte| CLASS[*byte as usize] != WORD) {
            end = to;
            number.push_str(text.get(from..end)?);
        }
    }
    // `6,4 s`: the comma of other languages, told by the unit after it.
    if let Some(decimals) = decimal_comma(text, end) {
        number.push('.');
        number.push_str(text.get(end + 1..end + decimals)?);
        end += decimals;
    }
    let raw = text.get(at..end)?.to_owned();
    // The last group of `10 000`.
    if raw.starts_with("00") {
        return None;
    }
    let mut quantity = Quantity { raw, number, raw_unit: String::new(), unit: "", start: at, end };
    let blank = usize::from(bytes.get(end) == Some(&b' '));
    if bytes.get(end + blank) == Some(&b'%') {
        "%".clone_into(&mut quantity.raw_unit);
        quantity.unit = "%";
        quantity.end = end + blank + 1;
        return Some(quantity);
    }
    // `6m10s`, `1h30m`: one duration.
    if let Some(length) = compound(bytes.get(at..).unwrap_or_default()) {
        text.get(at..at + length)?.clone_into(&mut quantity.raw);
        quantity.number.clone_from(&quantity.raw);
        quantity.unit = "duration";
        quantity.end = at + length;
        return Some(quantity);
    }
    // Unit right after the digits.
    let attached = unit_word(text, end);
    if !attached.is_empty() {
        let unit = unit_of(attached, true)?;
        attached.clone_into(&mut quantity.raw_unit);
        quantity.unit = unit;
        quantity.end = end + attached.len();
        if unit == "k" {
            // `128k tokens`: the magnitude belongs to the number.
            let word = unit_word(text, quantity.end + 1);
            if bytes.get(quantity.end) == Some(&b' ') && unit_of(word, false) == Some("tokens") {
                quantity.raw_unit = format!("{attached} {word}");
                quantity.unit = "k tokens";
                quantity.end += 1 + word.len();
            }
        }
    } else if bytes.get(end) == Some(&b' ') || (bytes.get(end) == Some(&b'-') && quantity.raw.len() < 6) {
        let word = unit_word(text, end + 1);
        if let Some(unit) = unit_of(word, false) {
            word.clone_into(&mut quantity.raw_unit);
            quantity.unit = unit;
            quantity.end = end + 1 + word.len();
        }
    }
    // A piece of a version, date, time, range of a path or identifier is no number of its own.
    let next = bytes.get(quantity.end).copied().unwrap_or(b' ');
    let next2 = bytes.get(quantity.end + 1).copied().unwrap_or(b' ');
    if (CLASS[next as usize] == WORD)
        || (matches!(next, b'.' | b':' | b'-' | b'/' | b',') && next2.is_ascii_digit())
        || (matches!(next, b'.' | b'/' | b'-') && CLASS[next2 as usize] == WORD && quantity.unit.is_empty())
    {
        return None;
    }
    Some(quantity)
}

/// Length of a decimal comma with one or two digits, where a unit follows them.
fn decimal_comma(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?.strip_prefix(',')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let after = rest.get(digits..)?;
    let unit = unit_word(after.strip_prefix(' ').unwrap_or(after), 0);
    ((1..=2).contains(&digits)
        && (unit_of(unit, !after.starts_with(' ')).is_some() || after.starts_with(" %")))
    .then_some(1 + digits)
}

/// Length of a duration of two or three parts at the start of a text (`1h30m`, `6m10s`, `1m2.5s`).
fn compound(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut parts = 0;
    let mut units: &[u8] = b"dhms";
    loop {
        let start = at;
        while bytes.get(at).is_some_and(|b| b.is_ascii_digit() || *b == b'.') {
            at += 1;
        }
        let Some(unit) = (at > start).then(|| bytes.get(at)).flatten() else {
            // The stop after it ends the sentence.
            at = start;
            break;
        };
        let place = units.iter().position(|known| known == unit)?;
        units = units.get(place + 1..)?;
        at += 1;
        parts += 1;
    }
    let ends = bytes.get(at).is_none_or(|b| CLASS[*b as usize] != WORD);
    (parts >= 2 && ends).then_some(at)
}

/// The word a unit could be, at `at`: ASCII letters with at most one `/` among them (`MB/s`), or one of the units that
/// are no ASCII letters.
fn unit_word(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or("");
    let mut ascii = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    if ascii > 0 && rest.as_bytes().get(ascii) == Some(&b'/') {
        let rate = rest.get(ascii + 1..).unwrap_or("").bytes().take_while(u8::is_ascii_alphabetic).count();
        let rated = rest.get(..ascii + 1 + rate).unwrap_or("");
        if rate > 0 && UNITS.iter().any(|(spelling, _)| *spelling == rated) {
            ascii += 1 + rate;
        }
    }
    if ascii > 0 {
        let after = rest.as_bytes().get(ascii).copied().unwrap_or(b' ');
        // `ms2`, `min_size`: not a unit.
        return if after.is_ascii_digit() || after == b'_' {
            rest.get(..ascii + 1).unwrap_or("")
        } else {
            rest.get(..ascii).unwrap_or("")
        };
    }
    for wide in [
        "毫秒",
        "ミリ秒",
        "秒間",
        "秒",
        "分钟",
        "分間",
        "分",
        "小时",
        "時間",
        "日間",
        "天",
        "字节",
        "ヶ月",
        "个月",
        "週間",
        "周",
        "円",
        "元",
        "µs",
        "μs",
        "µA",
        "μA",
        "µm",
        "μm",
        "µF",
        "kΩ",
        "Ω",
        "€",
        "°C",
        "°F",
        "°",
    ] {
        if rest.starts_with(wide) {
            return rest.get(..wide.len()).unwrap_or("");
        }
    }
    let next = rest.as_bytes().first().copied().unwrap_or(b' ');
    if next == b'_' { rest.get(..1).unwrap_or("") } else { "" }
}

/// Words that may stand between a key and its number.
const BETWEEN: &[&str] = &[
    "is",
    "are",
    "was",
    "were",
    "to",
    "of",
    "at",
    "be",
    "set",
    "now",
    "from",
    "value",
    "currently",
    "remains",
    "stays",
    "should",
    "must",
    "by",
    "default",
    "defaults",
    "equals",
    "as",
    "a",
    "the",
    "raised",
    "lowered",
    "increased",
    "decreased",
    "reduced",
    "changed",
    "bumped",
    "updated",
    "kept",
    "still",
    "has",
    "been",
    "being",
    "will",
    "needs",
    "final",
    "new",
    "old",
    "previously",
    "originally",
    "first",
    "then",
    "later",
    "actually",
    "back",
    "up",
    "down",
    "max",
    "maximum",
    "about",
    "around",
    "exactly",
    "only",
    "just",
    "capped",
    "limited",
    "restored",
    "reverted",
    "defaulting",
    "means",
    "equal",
];

/// Words that make the number after them the former one.
const FORMER: &[&str] = &["from", "was", "were", "not", "previously", "originally", "old"];

/// May the word stand between a key and its number, and does it make the number the former one?
fn leads_to_number(word: &str) -> Option<bool> {
    static WORDS: LazyLock<FxHashMap<&str, bool>> = LazyLock::new(|| {
        let between = BETWEEN.iter().map(|word| (*word, false));
        between.chain(FORMER.iter().map(|word| (*word, true))).collect()
    });
    let mut word = CompactString::from(word);
    word.make_ascii_lowercase();
    WORDS.get(word.as_str()).copied()
}

/// The numbers a key is given in the text right after it (`from` is the end of the key): `retry_limit: 3`,
/// `retry_limit = 3`, `raised retry_limit from 3 to 5`. The flag says that the number is the former one. At most
/// three numbers, nothing past the clause or the sixth word.
pub(crate) fn bound_numbers(text: &str, from: usize) -> Vec<(Quantity, bool)> {
    let mut out: Vec<(Quantity, bool)> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = from;
    let mut words = 0;
    let mut former = false;
    // `timeout.connect: 5` or `size_max`: the key goes on, so it is another key.
    if let Some(next) = bytes.get(at)
        && (CLASS[*next as usize] == WORD
            || (matches!(next, b'.' | b'-' | b'/' | b'[')
                && bytes.get(at + 1).is_some_and(|b| CLASS[*b as usize] == WORD)))
    {
        return out;
    }
    while let Some(byte) = bytes.get(at).copied() {
        if at - from > 120 || out.len() == 3 {
            break;
        }
        match byte {
            b'0'..=b'9' => {
                let Some(quantity) = quantity_at(text, at) else { break };
                at = quantity.end;
                out.push((quantity, former));
                former = false;
                words = 0;
                // Go on only for a chain: `3 to 5`, `3 -> 5`.
                let rest = text.get(at..).unwrap_or("").trim_start();
                if !(rest.starts_with("to ")
                    || rest.starts_with("->")
                    || rest.starts_with("=>")
                    || rest.starts_with('→'))
                {
                    break;
                }
                if let Some(last) = out.last_mut() {
                    last.1 = true;
                }
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let end = at
                    + bytes
                        .get(at..)
                        .unwrap_or_default()
                        .iter()
                        .take_while(|b| CLASS[**b as usize] == WORD)
                        .count();
                words += 1;
                if words > 6 {
                    break;
                }
                let Some(leads) = leads_to_number(text.get(at..end).unwrap_or("")) else { break };
                former = leads;
                at = end;
            }
            b' ' | b'\t' | b'"' | b'\'' | b'`' | b':' | b'=' | b'-' | b'>' | b'<' | b'(' | b'*' | b'|'
            | b'~' => at += 1,
            // "`NAME`, default 20m".
            b',' if text.get(at..).is_some_and(|rest| rest.starts_with(", default")) => at += 1,
            WIDE_START.. => {
                let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
                if !matches!(
                    c,
                    '→' | '为'
                        | '是'
                        | '改'
                        | '成'
                        | '设'
                        | '到'
                        | '从'
                        | '由'
                        | '調'
                        | '整'
                        | '调'
                        | 'を'
                        | 'は'
                        | 'に'
                        | 'が'
                        | '≤'
                        | '≥'
                        | '：'
                        | '“'
                        | '”'
                        | '默'
                        | '认'
                        | '既'
                        | '定'
                        | '値'
                        | '上'
                        | '限'
                        | '个'
                        | '約'
                        | '约'
                ) {
                    break;
                }
                if matches!(c, '从' | '由') {
                    former = true;
                }
                at += c.len_utf8();
            }
            _ => break,
        }
    }
    out
}

const WIDE_START: u8 = 0x80;

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
