//! Values: a number with its key or its unit.

mod keys;

use super::{CLASS, LazyLock, Quantity, Regex, WORD, has_digit, matching, pattern};
use crate::lanes::{self, Words};
use compact_str::CompactString;
pub(super) use keys::PARAMETERS;
use keys::{key_at, name_end};

/// A value in prose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::facts) struct Found {
    pub(in crate::facts) key: Option<String>,
    pub(in crate::facts) number: Quantity,
    /// Wordings that hold it as a whole, the first as written: limits and codes, whose key is no name of their own.
    pub(in crate::facts) phrases: Vec<String>,
}

impl Found {
    /// `key = number unit`, or `number unit`.
    pub(in crate::facts) fn canonical(&self) -> String {
        if let Some(phrase) = self.phrases.first() {
            return phrase.clone();
        }
        let mut out = String::new();
        if let Some(key) = &self.key {
            out.push_str(key);
            out.push_str(" = ");
        }
        out.push_str(&self.number.raw);
        if !self.number.raw_unit.is_empty() {
            if self.number.raw_unit != "%" {
                out.push(' ');
            }
            out.push_str(&self.number.raw_unit);
        }
        out
    }
}

/// Values of one unit of prose, in order.
pub(in crate::facts) fn find(unit: &str) -> Vec<Found> {
    let mut out = Vec::new();
    if !has_digit(unit) {
        return out;
    }
    let bytes = unit.as_bytes();
    let Some(last_digit) = bytes.iter().rposition(u8::is_ascii_digit) else { return out };
    let mut taken: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    // A key stands before its number.
    while at < last_digit {
        let start = at;
        at += 1;
        if !bytes[start].is_ascii_alphabetic() {
            continue;
        }
        let end = name_end(bytes, start);
        at = end;
        let numbers = matching::bound_numbers(unit, end);
        // A chain `3 to 5` gives the last; all of it belongs to the key.
        let Some((number, former)) = numbers.last() else { continue };
        let Some(key) = key_at(unit, start, end) else { continue };
        // "3 min to leave room": what follows is no second number.
        let rest = unit.get(number.end..).unwrap_or("").trim_start();
        let aims = !number.unit.is_empty()
            && rest
                .strip_prefix("to ")
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
        let former = &(*former && !aims);
        // A number with a unit that the key does not bind stands for itself.
        let bound = binds(unit, start, end, number);
        if !bound && !number.unit.is_empty() && numbers.len() == 1 && !*former {
            continue;
        }
        taken.extend(numbers.iter().map(|(number, _)| (number.start, number.end)));
        if *former || !bound || negligible(unit, number) || supposed(unit, number) {
            continue;
        }
        out.push(Found { key: Some(key), number: unplaced(number), phrases: Vec::new() });
    }
    out.extend(limits(unit, &mut taken));
    let mut at = 0;
    // Where a duration ends that a smaller unit may go on: "3 min 20 s".
    let mut open = usize::MAX;
    while at <= last_digit {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let quantity = matching::quantity_at(unit, at);
        let next = quantity.as_ref().map_or(at, |quantity| quantity.end).max(at + 1);
        let goes_on = quantity.as_ref().is_some_and(|number| {
            let smaller =
                matches!(number.unit, "s" | "min" | "ms") && unit.get(open..number.start) == Some(" ");
            open = if matches!(number.unit, "h" | "min") { number.end } else { usize::MAX };
            smaller
        });
        if let Some(number) = quantity
            && !goes_on
            && !number.unit.is_empty()
            && !taken.iter().any(|(start, end)| number.start < *end && *start < number.end)
            && !after_former(unit, number.start)
            && !negligible(unit, &number)
            && telling(&number)
        {
            out.push(Found { key: None, number: unplaced(&number), phrases: Vec::new() });
        }
        at = next;
        while at < bytes.len() && CLASS[bytes[at] as usize] == WORD {
            at += 1;
        }
    }
    out
}

static LIMIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:at most|up to|(?:no|not) (?:more|less|fewer) than|at least|max(?:imum)?(?: of)?|min(?:imum)?(?: of)?|fewer than|limit(?:ed)? (?:of|to)|(?:make|set|let) (?:it|that)(?: to| be)?)\s+([0-9][0-9,_]*)\s+([a-z][a-z-]+)|\b([0-9][0-9,_]*)\s+([a-z][a-z-]+)(?:\s+[a-z-]+)?\s+(?:at most|at least|or less|or fewer|max(?:imum)?|by default)\b|\bto ([0-9][0-9,_]*) (connections|workers|threads|replicas|processes|attempts|retries)\b|\b([0-9][0-9,_]*(?:\.[0-9]+)?) (as) (?:the |a )?(?:default|limit|cap|max(?:imum)?|min(?:imum)?|threshold|window)\b",
    )
});
/// "Max in flight is 64", "zstd level 3": a limit with its name, a grade.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)\b((?:max(?:imum)?|min(?:imum)?)(?: [a-z-]+){0,3}?(?: is| of|:)? ?|(?:compression|zstd|gzip|brotli|optimi[sz]ation|zoom|isolation|log) level(?: is| of|:)? |\bat level )([0-9][0-9,_]*(?:\.[0-9]+)?)\b|\b((?:batch(?:es)?|chunks?|pages?|groups?|blocks?|buckets?) of |defaults?(?: value)?(?: is| of| to| stays| remains|:)? |(?:above|below|beyond|exceed(?:s|ing)?) )([0-9][0-9,_]*(?:\.[0-9]+)?)\b|\b((?:contrast|ratio|aspect)(?: [a-z]+){0,3}? )([0-9]+(?:\.[0-9]+)?:[0-9]+)\b|\b((?:schwelle|grenze|limit|faktor|seuil|limite|umbral|factor) (?:auf|von|bei|ist|liegt (?:jetzt )?bei|à|de|est|a|en|es) )([0-9]+(?:[.,][0-9]+)?)\b|\b(at least |at most )([0-9]+(?:\.[0-9]+)?:1)\b",
    )
});
static RATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)\b([0-9][0-9,_]*(?:\.[0-9]+)?) (?:[a-z-]+ )?((?:per|an?|each|every) (?:second|minute|hour|day|host|user|client|worker|process|request|attempt|run))\b|\b([0-9][0-9,_]*(?:\.[0-9]+)?) ([a-z]+/(?:s|sec|min|h|day))\b|\bevery ([0-9][0-9,_]*) ([a-z]+s)\b",
    )
});
/// A hexadecimal constant with its name.
static HEX: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?i)\b([a-z_]+)(?: of| is|:|=| =|`| to)* ?`?(0x[0-9a-f]+)\b"));
/// An amount of money whose currency stands first.
static MONEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"((?:\b(?:CHF|EUR|USD|GBP|JPY) ?|[€£¥] ?)([0-9][0-9.,]*)|\$ ?([0-9]+[0-9.,]+))")
});
static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(exit(?:s|ed)?(?: code| status)?(?: is| of| with|:)?(?: code)?|(?:http )?status(?: code)?(?: is| of|:)?|http|error code(?: is| of|:)?)\s+`?([0-9]{1,5})\b",
    )
});
static WIDE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"((?:默认值?|(?:最大|最小)\p{Han}{1,4}为|改成|改为|设为|上限|下限|既定値|デフォルト|最多|最少|最大|最小|至多|至少|不超过|终了コード|終了コード|退出码|状态码)(?:尝试|重试|改成|改为|设为|设成|为|是|を|は|が|：|:)?) ?([0-9]+(?:\.[0-9]+)?)",
    )
});

/// Wordings of Chinese and Japanese for one and the same setting.
const SETS: &[&str] = &["默认", "默认值", "改成", "改为", "设为", "上限", "最多", "既定値は", "既定値"];

/// What a hexadecimal number is the value of.
const HEX_KEYS: &[&str] = &[
    "polynomial",
    "poly",
    "mask",
    "magic",
    "salt",
    "address",
    "register",
    "flag",
    "flags",
    "prefix",
    "opcode",
    "value",
    "base",
    "default",
    "key",
    "code",
    "bit",
    "bits",
    "init",
];

/// Which of the patterns may match in a text.
#[derive(Debug, Clone, Copy, Default)]
struct Told {
    limit: bool,
    named: bool,
    rate: bool,
    code: bool,
    money: bool,
}

impl Told {
    /// Looks for the words that limits, rates and codes are told by: what [`LIMIT`], [`RATE`] and [`CODE`] match holds
    /// one of their words, see [`spelled`].
    fn in_text(unit: &str) -> Self {
        const LIMITS: &[&str] = &[
            "at most",
            "at least",
            "up to",
            "no more than",
            "not more than",
            "no less than",
            "not less than",
            "or less",
            "fewer",
            "max",
            "min~",
            "minimum",
            "limit of",
            "limit to",
            "limited of",
            "limited to",
            "by default",
            " connections",
            " workers",
            " threads",
            " replicas",
            " processes",
            " attempts",
            " retries",
            "make it",
            "make that",
            "set it",
            "set that",
            "let it",
            "let that",
        ];
        const NAMES: &[&str] = &[
            "max ",
            "max:",
            "max#",
            "maximum",
            "min ",
            "min:",
            "min#",
            "minimum",
            " level",
            "contrast ",
            "ratio ",
            "aspect ",
            "at least #",
            "at most #",
            "default",
            "batch of",
            "batches of",
            "chunk of",
            "chunks of",
            "page of",
            "pages of",
            "group of",
            "groups of",
            "block of",
            "blocks of",
            "bucket of",
            "buckets of",
            "above #",
            "below #",
            "beyond #",
            "exceed",
            "schwelle ",
            "grenze ",
            "limit ",
            "limite ",
            "faktor ",
            "seuil ",
            "umbral ",
            "factor ",
        ];
        const RATES: &[&str] = &["every #"];
        const PER: &[&str] = &[" per ", " a ", " an ", " each ", " every "];
        const WHAT: &[&str] = &[
            "second", "minute", "hour", "day", "host", "user", "client", "worker", "process", "request",
            "attempt", "run",
        ];
        const SLASHED: &[&str] = &["/s", "/sec", "/min", "/h", "/day"];
        const BOUNDS: &[&str] = &["default", "limit", "cap", "max", "min", "threshold", "window"];
        const CODES: &[&str] = &["exit", "status", "http"];
        const MONIES: &[&str] = &["chf", "eur ", "eur#", "usd", "gbp", "jpy", "$#", "$ #", "€", "£", "¥"];
        const ENDED: u32 = 1 << 5;
        static WORDS: LazyLock<Option<Words>> = LazyLock::new(|| {
            let pairs = |(one, other): (&[&str], &[&str])| {
                one.iter().flat_map(|one| other.iter().map(move |other| format!("{one}{other}"))).collect()
            };
            let alone = |words: &[&str]| words.iter().flat_map(|word| spelled(word)).collect::<Vec<_>>();
            let lists: [(Vec<String>, u32); 8] = [
                (alone(LIMITS), 1),
                (pairs((&[" as ", " as the ", " as a "], BOUNDS)), 1),
                (alone(NAMES), 1 << 1),
                (alone(RATES), 1 << 2),
                (pairs((PER, WHAT)), 1 << 2),
                (alone(CODES), 1 << 3),
                (alone(MONIES), 1 << 4),
                (alone(SLASHED), ENDED),
            ];
            let words = lists.iter().flat_map(|(words, bit)| words.iter().map(|word| (word.as_str(), *bit)));
            Words::new(&words.collect::<Vec<_>>(), true)
        });
        let all = Self { limit: true, named: true, rate: true, code: true, money: true };
        // These two are an S and a K to a pattern that ignores case.
        if !unit.is_ascii() && unit.contains(['\u{17f}', '\u{212a}']) {
            return all;
        }
        let Some(words) = WORDS.as_ref() else { return all };
        let mut bits = 0;
        let stretches = lanes::placed::<3>(unit.as_bytes(), words.longest().saturating_sub(1));
        words.walk(stretches.map(|(_, stretch)| stretch), |lane, at, lists| {
            bits |= lists & !ENDED;
            // "300 req/s", not "/src".
            let behind = stretches.get(lane).and_then(|(from, _)| unit.as_bytes().get(from + at + 1));
            if lists & ENDED != 0 && !behind.is_some_and(u8::is_ascii_alphanumeric) {
                bits |= 1 << 2;
            }
        });
        let [limit, named, rate, code, money] = std::array::from_fn(|list| bits & (1 << list) != 0);
        Self { limit, named, rate, code, money }
    }
}

/// What a word of [`Told`] stands for: `#` is any digit, `~` any blank.
fn spelled(word: &str) -> Vec<String> {
    let signs =
        |signs: &[char]| signs.iter().map(|sign| word.replace(['#', '~'], &sign.to_string())).collect();
    if word.contains('#') {
        signs(&['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
    } else if word.contains('~') {
        signs(&['\t', '\n', '\u{b}', '\u{c}', '\r', ' '])
    } else {
        vec![word.to_owned()]
    }
}

/// Limits ("at most 20 processes", "3 attempts at most"), codes ("exit code 2", "status 404") and their like in Chinese
/// and Japanese. The number with its noun is the value; a bare integer never is.
fn limits(unit: &str, taken: &mut Vec<(usize, usize)>) -> Vec<Found> {
    let mut out = Vec::new();
    let told = Told::in_text(unit);
    let limit = LIMIT.as_ref().filter(|_| told.limit);
    let named = NAMED.as_ref().filter(|_| told.named);
    let rate = RATE.as_ref().filter(|_| told.rate);
    let code = CODE.as_ref().filter(|_| told.code);
    let money = MONEY.as_ref().filter(|_| told.money);
    let wide = WIDE.as_ref().filter(|_| !unit.is_ascii());
    let mut push = |start: usize, end: usize, number: &str, phrases: Vec<String>| {
        if !taken.iter().any(|(from, to)| start < *to && *from < end) {
            taken.push((start, end));
            let number = Quantity {
                raw: number.into(),
                number: number.replace([',', '_'], "").into(),
                raw_unit: CompactString::default(),
                unit: "",
                start: 0,
                end: 0,
            };
            out.push(Found { key: None, number, phrases });
        }
    };
    for found in limit.into_iter().flat_map(|limit| limit.captures_iter(unit)) {
        let (Some(number), Some(noun)) = (
            [1, 3, 5, 7].iter().find_map(|at| found.get(*at)),
            [2, 4, 6, 8].iter().find_map(|at| found.get(*at)),
        ) else {
            continue;
        };
        // With a unit of measurement it is found as such.
        if matching::quantity_at(unit, number.start())
            .is_none_or(|it| !it.unit.is_empty() && !THINGS.contains(&it.unit))
        {
            continue;
        }
        // "Max 2 in flight": no noun follows.
        let whole = found.get(0).map_or("", |whole| whole.as_str());
        let phrase = if super::is_stop(&noun.as_str().to_ascii_lowercase()) {
            // "5 as the default" is whole.
            whole.strip_suffix(noun.as_str()).unwrap_or(whole).trim_end().to_owned()
        } else {
            format!("{} {}", number.as_str(), noun.as_str())
        };
        push(number.start(), number.end(), number.as_str(), vec![phrase]);
    }
    for found in named.into_iter().flat_map(|named| named.captures_iter(unit)) {
        let pairs = [(1, 2), (3, 4), (5, 6), (7, 8), (9, 10)];
        let Some((_, number)) = pairs.iter().find_map(|(key, at)| Some((found.get(*key)?, found.get(*at)?)))
        else {
            continue;
        };
        let digits = number.as_str();
        // "Below 10": a bare integer is too small to be a limit of its own.
        if found.get(3).is_some_and(|key| {
            key.as_str().starts_with(['a', 'b', 'e', 'A', 'B', 'E']) && !key.as_str().contains(" of ")
        }) && digits.len() < 3
        {
            continue;
        }
        let quantity = matching::quantity_at(unit, number.start());
        let decimal = quantity.is_none() && digits.contains(',');
        if !digits.contains(':') && !decimal && quantity.is_none_or(|it| !it.unit.is_empty()) {
            continue;
        }
        let phrase = found.get(0).map_or("", |whole| whole.as_str()).to_owned();
        push(number.start(), number.end(), digits, vec![phrase]);
    }
    for found in rate.into_iter().flat_map(|rate| rate.captures_iter(unit)) {
        let groups = [(1, 2), (3, 4), (5, 6)];
        let Some((number, rate)) = groups.iter().find_map(|(a, b)| Some((found.get(*a)?, found.get(*b)?)))
        else {
            continue;
        };
        if found.get(0).is_some_and(|it| it.as_str().contains(" times ")) {
            continue;
        }
        // "4 s per request" is found by its unit.
        if matching::quantity_at(unit, number.start()).is_none_or(|it| !it.unit.is_empty()) {
            continue;
        }
        let whole = found.get(0).map_or("", |whole| whole.as_str());
        let phrases = vec![whole.to_owned(), format!("{} {}", number.as_str(), rate.as_str())];
        push(number.start(), number.end(), number.as_str(), phrases);
    }
    for found in code.into_iter().flat_map(|code| code.captures_iter(unit)) {
        let (Some(key), Some(number)) = (found.get(1), found.get(2)) else { continue };
        let digits = number.as_str();
        if matching::quantity_at(unit, number.start()).is_none_or(|it| !it.unit.is_empty()) {
            continue;
        }
        let lower = key.as_str().to_ascii_lowercase();
        // "Rather than answering with status 503": the rejected one.
        let before = unit.get(..key.start()).unwrap_or("");
        let before = before.rsplit([',', ';']).next().unwrap_or(before);
        if before.contains("rather than ") || before.contains("instead of ") {
            continue;
        }
        let keys: &[&str] = if lower.starts_with("error") {
            &["error code", "error", "code"]
        } else if digits.len() > 3 {
            continue;
        } else if lower.starts_with("exit") {
            &["exit code", "exit status", "exit", "exits with", "exited with", "exits", "code"]
        } else if digits.len() == 3 {
            &["status", "HTTP", "status code", "code", "HTTP status", "returns", "answers", "responds"]
        } else {
            continue;
        };
        let phrases = keys.iter().map(|key| format!("{key} {digits}")).collect();
        push(number.start(), number.end(), digits, phrases);
    }
    let hex = HEX.as_ref().filter(|_| unit.contains("0x"));
    for found in hex.into_iter().flat_map(|hex| hex.captures_iter(unit)) {
        let (Some(key), Some(number)) = (found.get(1), found.get(2)) else { continue };
        let name = key.as_str().to_ascii_lowercase();
        if HEX_KEYS.contains(&name.as_str()) || PARAMETERS.contains(&name.as_str()) {
            let phrases = vec![format!("{} {}", key.as_str(), number.as_str()), number.as_str().to_owned()];
            push(number.start(), number.end(), number.as_str(), phrases);
        }
    }
    for found in money.into_iter().flat_map(|money| money.captures_iter(unit)) {
        let (Some(whole), Some(number)) = (found.get(1), found.get(2).or(found.get(3))) else { continue };
        let digits = number.as_str().trim_end_matches(['.', ',']);
        let phrase = whole.as_str().trim_end_matches(['.', ',']);
        let currency = phrase.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ' '));
        push(whole.start(), whole.end(), digits, vec![phrase.to_owned(), format!("{digits} {currency}")]);
    }
    for found in wide.into_iter().flat_map(|wide| wide.captures_iter(unit)) {
        let (Some(key), Some(number)) = (found.get(1), found.get(2)) else { continue };
        let (key, digits) = (key.as_str(), number.as_str());
        if matching::quantity_at(unit, number.start()).is_some_and(|it| !it.unit.is_empty()) {
            continue;
        }
        // "既定値は 3 ではなく 5": the other one.
        let rest = unit.get(number.end()..).unwrap_or("").trim_start();
        let other = rest.strip_prefix("ではなく").map_or("", str::trim_start);
        let other = other.get(..other.bytes().take_while(u8::is_ascii_digit).count()).unwrap_or("");
        let digits = if other.is_empty() { digits } else { other };
        let mut phrases = vec![format!("{key} {digits}"), format!("{key}{digits}")];
        phrases.extend(SETS.iter().map(|set| format!("{set} {digits}")));
        push(number.start(), number.end(), digits, phrases);
    }
    out
}

/// What a quantity with a unit comes to: times in milliseconds, so that "10 minutes" and "600 s" are one amount.
pub(super) fn amount(number: &Quantity) -> Option<(String, &'static str)> {
    let scale = match number.unit {
        "" => return None,
        "ms" => 1.0,
        "s" => 1e3,
        "min" => 6e4,
        "h" => 3.6e6,
        "day" => 8.64e7,
        unit => return Some((number.number.to_string(), unit)),
    };
    let time = number.number.parse::<f64>().ok()? * scale;
    Some((format!("{time}"), "ms"))
}

/// Have two keys in lower case a word in common? `retry_after_cap` and "the cap".
pub(super) fn share_word(a: &str, b: &str) -> bool {
    const BETWEEN: [char; 4] = ['_', ' ', '.', '-'];
    // `timeoutMs` and "timeout": one begins like the other.
    let like =
        |a: &str, b: &str| a == b || a.len() > 3 && b.len() > 3 && (a.starts_with(b) || b.starts_with(a));
    a.split(BETWEEN).any(|word| word.len() > 2 && b.split(BETWEEN).any(|other| like(word, other)))
}

fn unplaced(number: &Quantity) -> Quantity {
    Quantity { start: 0, end: 0, ..number.clone() }
}

/// Does the text between key and number bind them? An identifier far from a number does not name it: at least one of
/// `:`, `=`, or a word of assignment must stand between, or nothing at all but white space for parameters.
fn binds(unit: &str, start: usize, end: usize, number: &Quantity) -> bool {
    let between = unit.get(end..number.start).unwrap_or("");
    // "Bumped to 1.14": a version.
    if number.unit.is_empty()
        && number.raw.contains('.')
        && ["bumped", "upgraded", "pinned"].iter().any(|it| between.contains(it))
    {
        return false;
    }
    let plain = between.trim_matches([' ', '`', '"', '\'', '*', '|', '(']);
    // `timeout 5 npx tsx`: the words of a command, not of a setting.
    let inside =
        start > 0 && unit.as_bytes().get(start - 1) == Some(&b'`') && unit.as_bytes().get(end) != Some(&b'`');
    if inside && !between.contains([':', '=']) {
        return false;
    }
    if plain.is_empty() {
        // `timeout 30s`, `retry_limit 3`; but "see foo_bar 3 times".
        let word = unit.get(start..end).unwrap_or("").to_ascii_lowercase();
        let last = word.rsplit(['-', '_', '.']).next().unwrap_or("");
        return (PARAMETERS.contains(&word.as_str())
            || PARAMETERS.contains(&last) && !number.unit.is_empty()
            || word.contains('_'))
            && !times(unit, number.end);
    }
    if between.contains([':', '=', '→', '：', '为', '是', '到', '成', 'を', 'は', 'に'])
        || between.contains("->")
    {
        return true;
    }
    plain.split_whitespace().any(|word| {
        matches!(
            word.to_ascii_lowercase().as_str(),
            "to" | "is"
                | "of"
                | "by"
                | "be"
                | "at"
                | "set"
                | "stays"
                | "remains"
                | "equals"
                | "from"
                | "now"
                | "are"
                | "as"
                | "default"
                | "defaults"
                | "defaulting"
        )
    })
}

fn times(unit: &str, at: usize) -> bool {
    let rest = unit.get(at..).unwrap_or("").trim_start();
    rest.starts_with("times") || rest.starts_with("more") || rest.starts_with("of ") || rest.starts_with('/')
}

/// `was 5 ms`, `from 5 ms`, `not 5 ms`, `instead of 5 ms`: the former or the rejected value.
fn after_former(unit: &str, at: usize) -> bool {
    let before =
        unit.get(..at).unwrap_or("").trim_end_matches([' ', '`', '"', '~', '(']).to_ascii_lowercase();
    [
        "from",
        "was",
        "were",
        "not",
        "isn't",
        "wasn't",
        "aren't",
        "had said",
        "previously",
        "instead of",
        "rather than",
        "originally",
        "statt",
        "anstatt",
        "au lieu de",
        "plutôt que",
        "en vez de",
        "in place of",
    ]
    .iter()
    .any(|word| {
        before.strip_suffix(word).is_some_and(|rest| rest.is_empty() || rest.ends_with([' ', '(', ',']))
    })
}

/// "We could raise the pool size to 20", "raising it to 6000 would only hide it": no value of anything.
fn supposed(unit: &str, number: &Quantity) -> bool {
    let before = unit.get(..number.start).unwrap_or("");
    let before = before.rsplit([';', '!', '?']).next().unwrap_or(before);
    let before = before.rsplit(". ").next().unwrap_or(before).to_ascii_lowercase();
    let after = unit.get(number.end..).unwrap_or("");
    let after = after.split([';', '!', '?', ',']).next().unwrap_or(after);
    let after = after.split(". ").next().unwrap_or(after).to_ascii_lowercase();
    before.contains("could also ")
        || before.contains("we could ")
        || before.contains("raising ") && after.contains(" would ")
}

/// `100%` as a figure of speech, `5 minutes ago`, `2 days later`.
fn negligible(unit: &str, number: &Quantity) -> bool {
    const REJECTED: &[&str] = &[
        "ago",
        "later",
        "old ",
        "is too ",
        "was too ",
        "are too ",
        "is overkill",
        "is nonsense",
        "is not enough",
    ];
    let rest = unit.get(number.end..).unwrap_or("").trim_start().to_ascii_lowercase();
    // "3... correction, 4", "16 小时……不对".
    let retracted = rest.trim_start_matches(['`', '.', '…', ' ', ',', '，', '—']);
    if REJECTED.iter().any(|words| rest.starts_with(words))
        || ["correction", "不对", "no, "].iter().any(|words| retracted.starts_with(words))
        || rest.starts_with("时,")
        || rest.starts_with("时，")
        || rest.starts_with("時、")
        || rest.starts_with("のとき")
    {
        return true;
    }
    number.raw == "100"
        && number.unit == "%"
        && ["sure", "certain", "agree", "correct", "right", "clear"].iter().any(|word| rest.starts_with(word))
}

/// Units that count things.
const THINGS: &[&str] = &["workers", "threads", "connections", "replicas"];

/// Is a number with a unit but without a key worth being a fact? Single letters after digits (`3 s`, `2h`) and
/// magnitudes (`5k`, `2M`) count things; a week alone (`2 weeks`) is a plan, not a value.
fn telling(number: &Quantity) -> bool {
    !matches!(number.unit, "week" | "month" | "k" | "M") && !THINGS.contains(&number.unit)
        || number.raw_unit.contains("token")
}

#[cfg(test)]
mod tests {
    use super::super::samples::{check_looks, samples};
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = find(text).iter().map(Found::canonical).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn numbers_of_other_notations_are_values() {
        check("it took 6,4 s, not 7", &["6,4 s"]);
        check("in 1, 2 and 3 s", &["3 s"]);
        check("lr is 2e-4 now", &["lr = 2e-4"]);
        check("the 2e flag", &[]);
        check("the sensor draws 14 µA at 3.3 V", &["14 µA", "3.3 V"]);
        check("a fee of CHF 20, or $1,016.", &["CHF 20", "$1,016"]);
        check("the first argument $1", &[]);
        check("it ran for 1m50s.", &["1m50s"]);
        check("max 2 in flight", &["max 2"]);
        check("We could also raise the pool size to 20.", &[]);
        check("debounce by 150 ms", &["debounce = 150 ms"]);
        check("`read-timeout` 45 s, not 30 s", &["read-timeout = 45 s"]);
        check("1.5 as the default", &["1.5 as the default"]);
        check("Max in flight is 8", &["Max in flight is 8"]);
        check("gzip level 6 and a contrast of 3:1", &["gzip level 6", "contrast of 3:1"]);
        check("ohne Cache statt 30 s", &[]);
    }

    #[test]
    fn keys_and_units_make_values() {
        check("Set `retry_limit` to 3.", &["retry_limit = 3"]);
        check("retry_limit: 3", &["retry_limit = 3"]);
        check("raised retry_limit from 3 to 5", &["retry_limit = 5"]);
        check(
            "The connection timeout is 30s and p95 latency 88 ms",
            &["connection timeout = 30 s", "latency = 88 ms"],
        );
        check("Keep it under 88 ms", &["88 ms"]);
        check("batch size = 32", &["batch size = 32"]);
        check("MAX_SIZE=1,024", &["MAX_SIZE = 1,024"]);
        check("usage went to 85%", &["85%"]);
        check("a budget of 128k tokens", &["budget = 128 k tokens"]);
        check("max_workers 4, queue_depth 100", &["max_workers = 4", "queue_depth = 100"]);
        check("it took 6m10s, now 1h30m", &["6m10s", "1h30m"]);
        check("`TTL_SECS` (default 10000)", &["TTL_SECS = 10000"]);
        check("`HOLD_TTL`, default 20m", &["HOLD_TTL = 20 m"]);
        check("at most 20 processes, 3 hosts at most", &["20 processes", "3 hosts"]);
        check("it exits with 2 and answers status 404", &["exit code 2", "status 404"]);
        check("12 mails per hour, 300 req/s", &["12 mails per hour", "300 req/s"]);
        check("up to 20 % on top", &["20%"]);
        check("上限改成 5 次", &["上限改成 5"]);
    }

    #[test]
    fn bare_numbers_and_pieces_are_no_values() {
        for text in [
            "Step 1: 3 files changed",
            "line 12",
            "see issue 42",
            "12 tests passed",
            "version 1.2.3",
            "on 2024-01-02",
            "at 12:30",
            "I am 100% sure",
            "5 minutes ago",
            "port: 8080",
            "retry_limit was 5",
            "there are 3 of them",
            "src/a.rs:12:5",
            "python 3",
            "ran foo_bar 3 times",
            "`timeout 5 npx tsx`",
            "41 bookings, 8 workers, 2 connections",
            "10 000 of them",
            "\u{1b}[38;5;120m",
            "rust-version = 1.74",
        ] {
            check(text, &[]);
        }
    }
    #[test]
    fn names_end_where_they_end() {
        let names = pattern(r"^[A-Za-z][A-Za-z0-9_]*(?:[.\-][A-Za-z0-9_]+)*").unwrap();
        for text in samples(&["a", "Z9", "_", ".", "-", "é", " ", "0", "按"], 8, 5_000) {
            if let Some(found) = names.find(&text) {
                assert_eq!(name_end(text.as_bytes(), 0), found.end(), "{text}");
            }
        }
    }

    #[test]
    fn limits_rates_and_codes_are_told() {
        const PIECES: &[&str] = &[
            "at most",
            "at least",
            "Up To",
            "no more than",
            "not fewer than",
            "max",
            "maximum of",
            "minimum",
            "limit of",
            "limited to",
            "make it",
            " to 12 connections",
            "batches of ",
            "default stays ",
            "above ",
            "zstd at level ",
            "log level is ",
            "Faktor von ",
            "limite est ",
            "contrast of ",
            "ratio ",
            "3:1",
            "min",
            "\n",
            "below",
            " as",
            " the",
            " default",
            " a cap",
            "/sec",
            "/h",
            " req/s",
            " threads",
            "$",
            "CHF",
            "eur",
            " 5",
            " 1,000 ",
            "12 ",
            "hosts",
            " or less",
            "per ",
            " an ",
            "every ",
            "second",
            "minute",
            "ho\u{17f}t",
            "request",
            "attempt",
            "exit",
            "exits with",
            " status",
            "code",
            "HTTP",
            "\u{17f}tatus",
            " ",
            ":",
            "`",
            "：",
        ];
        let rules: [(fn(&str) -> bool, &LazyLock<Option<Regex>>); 5] = [
            (|text| Told::in_text(text).limit, &LIMIT),
            (|text| Told::in_text(text).named, &NAMED),
            (|text| Told::in_text(text).rate, &RATE),
            (|text| Told::in_text(text).code, &CODE),
            (|text| Told::in_text(text).money, &MONEY),
        ];
        check_looks(PIECES, 8, 100_000, rules);
    }
}
