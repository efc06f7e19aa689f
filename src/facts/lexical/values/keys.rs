//! Words that name a value.

use super::super::{CLASS, WORD};

/// Words that name a parameter: they bind a number without `=` or backticks.
pub(in crate::facts::lexical) const PARAMETERS: &[&str] = &[
    "timeout",
    "timeouts",
    "limit",
    "threshold",
    "interval",
    "ttl",
    "budget",
    "delay",
    "capacity",
    "depth",
    "latency",
    "retries",
    "concurrency",
    "parallelism",
    "window",
    "quota",
    "rate",
    "backoff",
    "cap",
    "ceiling",
    "floor",
    "margin",
    "padding",
    "width",
    "height",
    "opacity",
    "temperature",
    "size",
    "maximum",
    "minimum",
    "debounce",
    "throttle",
    "expiry",
    "expiration",
    "retention",
    "lifetime",
    "p50",
    "p95",
    "p99",
    "throughput",
    "coverage",
    "accuracy",
    "precision",
    "recall",
    "tolerance",
    "seed",
    "epochs",
    "memory",
    "length",
    "factor",
    "distance",
    "offset",
    "scale",
    "weight",
    "duration",
    "grace",
    "period",
    "cooldown",
    "frequency",
    "percentage",
    "ratio",
    "maxage",
    "age",
    "radius",
    "font-size",
    "gap",
    "z-index",
    "zoom",
    "resolution",
    "dpi",
    "quality",
    "exponent",
    "stride",
    "buckets",
    "bins",
    "nodata",
    "constant",
    "multiplier",
    "divisor",
    "modulus",
    "radix",
    "alpha",
    "beta",
    "gamma",
    "lambda",
    "sigma",
    "epsilon",
    "eta",
    "tau",
    "rmse",
    "mae",
    "mean",
    "median",
    "average",
    "deviation",
    "f1",
    "auc",
    "loss",
    "speedup",
    "lag",
    "jitter",
    "overlap",
    "step-size",
    "chunk-size",
    "spacing",
    "bandwidth",
    "voltage",
    "altitude",
    "elevation",
    "datum",
    "amplitude",
    "lookback",
    "horizon",
    "warmup",
    "cutoff",
    "quorum",
    "qps",
    "rps",
    "lr",
    "dropout",
    "momentum",
    "bound",
    "clipping",
    "gain",
    "power",
    "pressure",
    "clearance",
    "brightness",
    "contrast",
    "speed",
    "baud",
    "baudrate",
    "indent",
    "discount",
    "fee",
    "commission",
    "min-height",
    "max-height",
    "min-width",
    "max-width",
    "line-height",
    "border-radius",
    "replication",
    "burst",
    "parallel",
    "side",
    "polynomial",
];

/// Words that may precede `:` or `=` and a number without naming a parameter.
pub(super) const NO_KEYS: &[&str] = &[
    "step",
    "line",
    "lines",
    "note",
    "phase",
    "part",
    "option",
    "section",
    "chapter",
    "issue",
    "pr",
    "task",
    "question",
    "version",
    "port",
    "ports",
    "item",
    "example",
    "total",
    "score",
    "page",
    "row",
    "column",
    "col",
    "day",
    "round",
    "test",
    "tests",
    "case",
    "bug",
    "fix",
    "figure",
    "table",
    "at",
    "is",
    "to",
    "in",
    "of",
    "then",
    "first",
    "second",
    "python",
    "node",
    "exit",
    "code",
    "status",
    "error",
    "errors",
    "warning",
    "warnings",
    "passed",
    "failed",
    "result",
    "results",
    "found",
    "http",
    "todo",
    "level",
    "priority",
    "summary",
    "update",
    "commit",
    "attempt",
    "run",
    "iteration",
    "milestone",
    "v",
    "x",
    "i",
    "n",
    "a",
    "time",
    "date",
    "started",
    "finished",
    "issues",
    "prs",
    "files",
    "file",
    "and",
    "or",
    "chunk",
    "batch",
    "stage",
    "week",
    "output",
    "returns",
    "tier",
    "q",
    "id",
    "pid",
    "all",
    "works",
    "returns",
    "gives",
    "answers",
    "gets",
    "now",
    "check",
    "checks",
    "stand",
];

/// The end of the name at `start`, which is at a letter: letters, digits and `_`, in parts joined by `.` and `-`.
pub(super) fn name_end(bytes: &[u8], start: usize) -> usize {
    let is_word = |at: usize| bytes.get(at).is_some_and(|byte| CLASS[*byte as usize] == WORD);
    let mut end = start;
    loop {
        while is_word(end) {
            end += 1;
        }
        if !(matches!(bytes.get(end), Some(b'.' | b'-')) && is_word(end + 1)) {
            return end;
        }
        end += 1;
    }
}

/// Is this word a key? Gives its spelling, with the modifiers before a parameter word.
pub(super) fn key_at(unit: &str, start: usize, end: usize) -> Option<String> {
    let word = unit.get(start..end)?;
    let bytes = unit.as_bytes();
    let before = start.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    if CLASS[before as usize] == WORD || matches!(before, b'.' | b'/' | b'-' | b'#' | b'$' | b'\\') {
        return None;
    }
    if word.len() < 2 || word.starts_with("http") {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let identifier = word.contains('_')
        && word.bytes().any(|b| b.is_ascii_lowercase() || b.is_ascii_uppercase())
        || word
            .bytes()
            .zip(word.bytes().skip(1))
            .any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase())
        || (word.contains('.') || word.contains('-'))
            && !looks_like_file(word)
            && word.bytes().all(|b| !b.is_ascii_digit());
    let spanned = before == b'`' && bytes.get(end) == Some(&b'`');
    if identifier || spanned {
        let no_key = NO_KEYS.contains(&lower.as_str())
            || lower.ends_with("port")
            || lower.ends_with("version")
            || counts(&lower);
        return (!no_key).then(|| word.to_owned());
    }
    if PARAMETERS.contains(&lower.as_str()) {
        return Some(with_modifiers(unit, start, word));
    }
    // A plain word right before `=` or `:` and a number.
    let rest = unit.get(end..)?.trim_start_matches(['`', '"', '\'', '*']);
    let sign = rest.trim_start();
    let assigned = sign
        .strip_prefix('=')
        .or_else(|| if rest.starts_with(':') { rest.strip_prefix(':') } else { None })?;
    let number = assigned.trim_start_matches([' ', '`', '"', '*', '~']);
    if !number.starts_with(|c: char| c.is_ascii_digit())
        || NO_KEYS.contains(&lower.as_str())
        || counts(&lower)
        || super::super::is_stop(&lower)
        || word.bytes().any(|b| b.is_ascii_digit())
        || counts_things(number)
    {
        return None;
    }
    Some(with_modifiers(unit, start, word))
}

/// `lines_added`, `hookCount`, `total_committed`, "Files changed: 8": the key of a count of what is there.
pub(super) fn counts(lower: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "count",
        "counts",
        "added",
        "removed",
        "modified",
        "deleted",
        "changed",
        "changes",
        "committed",
        "processed",
        "total",
        "steps",
        "items",
        "correctly",
        "constant",
    ];
    lower.starts_with("total_")
        || lower.starts_with("num_")
        || ENDINGS.iter().any(|ending| lower.ends_with(ending))
}

/// "64 records", "3 of 5": a number that counts what is named after it.
fn counts_things(number: &str) -> bool {
    let rest = number.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '_'));
    let Some(noun) = rest.strip_prefix(' ') else { return false };
    let noun = noun.get(..noun.bytes().take_while(u8::is_ascii_lowercase).count()).unwrap_or("");
    noun == "of" || noun.len() > 4 && noun.ends_with('s') && !UNITS.contains(&noun)
}

/// Units whose names end like those of things.
const UNITS: &[&str] = &[
    "seconds", "minutes", "hours", "bytes", "tokens", "attempts", "retries", "times", "pixels", "millis",
    "cycles", "weeks", "months", "years", "percents", "volts", "watts", "epochs", "steps",
];

pub(super) fn looks_like_file(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(_, extension)| {
        extension.len() <= 5
            && super::super::identifiers::EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str())
    })
}

/// Up to two words before a key that narrow it: "connection timeout", "max batch size".
pub(super) fn with_modifiers(unit: &str, start: usize, word: &str) -> String {
    let mut key = word.to_owned();
    let mut rest = unit.get(..start).unwrap_or("");
    for _ in 0..2 {
        let Some(trimmed) = rest.strip_suffix(' ') else { break };
        let begin = trimmed
            .rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
            .map_or(0, |at| at + 1);
        let Some(modifier) = trimmed.get(begin..) else { break };
        let lower = modifier.to_ascii_lowercase();
        if modifier.len() < 2
            || !modifier.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_' || b == b'-')
            || super::super::is_stop(&lower)
            || VERBS.contains(&lower.as_str())
        {
            break;
        }
        key = format!("{modifier} {key}");
        rest = trimmed.get(..begin).unwrap_or("");
    }
    key
}

/// Words before a key that are no part of it.
pub(super) const VERBS: &[&str] = &[
    "set",
    "use",
    "using",
    "increase",
    "increased",
    "decrease",
    "decreased",
    "raise",
    "raised",
    "lower",
    "lowered",
    "reduce",
    "reduced",
    "change",
    "changed",
    "keep",
    "bump",
    "bumped",
    "update",
    "updated",
    "new",
    "current",
    "same",
    "give",
    "add",
    "adds",
    "added",
    "with",
    "see",
    "try",
    "put",
    "uses",
    "sets",
    "has",
    "have",
    "default",
    "after",
    "before",
    "so",
    "its",
    "your",
    "correct",
    "final",
    "old",
    "configure",
    "configured",
    "adjust",
    "fix",
    "enforce",
    "apply",
    "both",
    "exact",
    "hit",
    "respect",
    "check",
    "make",
    "called",
    "named",
    "like",
    "observed",
    "measured",
    "got",
    "reports",
    "shows",
    "saw",
    "remember",
    "note",
];
