//! Numbers with their units, and the numbers that a key is bound to.

use super::{CLASS, WORD};
use compact_str::{CompactString, format_compact};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// A number as written, with its unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quantity {
    /// Digits as written, thousands separators included.
    pub(crate) raw: CompactString,
    /// Digits without thousands separators.
    pub(crate) number: CompactString,
    /// Unit as written; empty when there is none.
    pub(crate) raw_unit: CompactString,
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
    let mut number = CompactString::from(text.get(at..end)?);
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
    let raw = CompactString::from(text.get(at..end)?);
    // The last group of `10 000`.
    if raw.starts_with("00") {
        return None;
    }
    let mut quantity = Quantity { raw, number, raw_unit: CompactString::default(), unit: "", start: at, end };
    let blank = usize::from(bytes.get(end) == Some(&b' '));
    if bytes.get(end + blank) == Some(&b'%') {
        quantity.raw_unit = "%".into();
        quantity.unit = "%";
        quantity.end = end + blank + 1;
        return Some(quantity);
    }
    // `6m10s`, `1h30m`: one duration.
    if let Some(length) = compound(bytes.get(at..).unwrap_or_default()) {
        quantity.raw = text.get(at..at + length)?.into();
        quantity.number.clone_from(&quantity.raw);
        quantity.unit = "duration";
        quantity.end = at + length;
        return Some(quantity);
    }
    // Unit right after the digits.
    let attached = unit_word(text, end);
    if !attached.is_empty() {
        let unit = unit_of(attached, true)?;
        // `9314906d`: a hash or the first part of a UUID, not some thousand years.
        if attached == "d" && quantity.raw.len() > 5 {
            return None;
        }
        quantity.raw_unit = attached.into();
        quantity.unit = unit;
        quantity.end = end + attached.len();
        if unit == "k" {
            // `128k tokens`: the magnitude belongs to the number.
            let word = unit_word(text, quantity.end + 1);
            if bytes.get(quantity.end) == Some(&b' ') && unit_of(word, false) == Some("tokens") {
                quantity.raw_unit = format_compact!("{attached} {word}");
                quantity.unit = "k tokens";
                quantity.end += 1 + word.len();
            }
        }
    } else if bytes.get(end) == Some(&b' ') || (bytes.get(end) == Some(&b'-') && quantity.raw.len() < 6) {
        let word = unit_word(text, end + 1);
        if let Some(unit) = unit_of(word, false) {
            quantity.raw_unit = word.into();
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
    if rest.bytes().next().is_none_or(|first| first.is_ascii()) {
        return "";
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
