//! Sentences that bind, settle or ask. All lists are closed; each rule names the position its trigger must have,
//! because the same words report, offer and ask.

mod constraint;
mod decision;
mod phrases;
mod request;
#[cfg(test)]
mod tests;

use super::{LazyLock, Regex};
use phrases::{List, Said};
use smallvec::SmallVec;
use std::cell::OnceCell;
use std::ops::Range;

pub(in crate::facts) use constraint::{is_constraint, is_lifting};
pub(in crate::facts) use decision::{Offer, is_decision, is_report, may_report, only_answers, sets_listed};
pub(in crate::facts) use request::{announces, asks, is_assent, only_chooses, questions};

/// A unit without its list marker, heading marks and emphasis.
pub(in crate::facts) fn strip_marker(unit: &str) -> &str {
    let mut rest = unit.trim();
    // Most begin with a letter.
    if rest.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return rest;
    }
    rest = rest.trim_start_matches('#').trim_start();
    let marker = match rest.as_bytes() {
        [b'-', b' ', b'[', b' ' | b'x', b']', b' ', ..] => "- [ ] ".len(),
        [b'-' | b'*' | b'+', b' ', ..] => "- ".len(),
        _ if rest.starts_with("• ") => "• ".len(),
        _ => 0,
    };
    rest = rest.get(marker..).unwrap_or(rest).trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=2).contains(&digits)
        && let Some(after) = rest.get(digits..)
        && let Some(after) = after.strip_prefix(['.', ')'])
        && after.starts_with(' ')
    {
        rest = after.trim_start();
    }
    rest
}

/// A sentence in lower case, with markup and curly apostrophes gone, read once for every class.
pub(in crate::facts) struct Plain<'s> {
    sentence: &'s str,
    lower: String,
    /// Phrases of the rules that stand in `lower`.
    said: Said,
    /// It is a line of data, not a sentence.
    data: bool,
    /// Starts of clauses, after punctuation and joining words and past polite openings, and whether only "and" opens it.
    clauses: OnceCell<SmallVec<[(usize, bool); 8]>>,
    /// Where it gives a reason, and the bytes of what opens that.
    reason: OnceCell<Option<(usize, Range<usize>)>>,
}

/// Words that join clauses.
const JOINTS: &[&str] = &[" and ", " but ", " so ", " then ", " - ", " also ", " however "];

/// Openings that stand before what a clause says.
const OPENINGS: &[&str] = &[
    "please ",
    "also ",
    "but ",
    "and ",
    "so ",
    "then ",
    "just ",
    "ok ",
    "okay ",
    "now ",
    "again ",
    "note: ",
    "important: ",
    "rule: ",
    "constraint: ",
    "requirement: ",
    "remember: ",
    "remember ",
    "one thing: ",
    "plus ",
    "still ",
    "for now ",
    "from now on ",
    "in general ",
    "you ",
    "we ",
    "pls ",
    "yes ",
    "no wait ",
    "actually ",
    "btw ",
    "first ",
    "next ",
    "finally ",
    "while you're there ",
    "while you are there ",
    "while you're at it ",
    "while you are at it ",
];

impl<'s> Plain<'s> {
    /// Reads a sentence.
    #[cfg(test)]
    pub(in crate::facts) fn new(sentence: &'s str) -> Self {
        Self::read(sentence, String::new())
    }

    /// Reads a sentence, with memory for it that [`Self::into_memory`] gives back.
    pub(in crate::facts) fn read(sentence: &'s str, memory: String) -> Self {
        let mut lower = memory;
        lower.clear();
        plain(sentence.trim(), &mut lower);
        let said = Said::in_text(&lower);
        let (clauses, reason) = (OnceCell::new(), OnceCell::new());
        Self { sentence, lower, said, data: looks_like_data(sentence), clauses, reason }
    }

    /// The memory that it was read into.
    pub(in crate::facts) fn into_memory(self) -> String {
        self.lower
    }

    /// Does it hold a phrase of the list?
    fn says(&self, list: List) -> bool {
        self.said.any(list)
    }

    /// Does it match a pattern each of whose matches holds a phrase of the list?
    fn has_form(&self, list: List, pattern: &LazyLock<Option<Regex>>) -> bool {
        self.says(list) && pattern.as_ref().is_some_and(|pattern| pattern.is_match(&self.lower))
    }

    fn starts(&self) -> &[(usize, bool)] {
        self.clauses.get_or_init(|| clauses(&self.lower))
    }

    /// Its clauses, each up to the end of the sentence.
    fn clauses(&self) -> impl Iterator<Item = &str> {
        self.starts()
            .iter()
            .filter_map(|(start, _)| self.lower.get(*start..))
            .filter(|clause| !clause.is_empty())
    }

    /// Clauses that may begin an order. After "and" a noun is as likely as a verb, and an order there follows another.
    fn heads(&self) -> impl Iterator<Item = &str> {
        self.starts()
            .iter()
            .filter(|(_, joined)| !joined)
            .filter_map(|(start, _)| self.lower.get(*start..))
            .filter(|clause| !clause.is_empty())
    }

    /// Has it the size and the look of a sentence? Less says nothing, more is a paragraph; a line of data, code or a log
    /// that somebody pastes says nothing of its own.
    fn fits(&self) -> bool {
        (5..=600).contains(&self.sentence.len()) && !self.data
    }

    /// Does it tell somebody to do something, or what a result must be? An imperative, a word of obligation, or a phrase
    /// without subject and verb ("standard library only").
    fn directs(&self) -> bool {
        self.heads().any(is_imperative)
            || self.obliges()
            || self.lower.contains("please")
            || self.is_elliptical()
    }

    /// Has it a word of obligation?
    fn obliges(&self) -> bool {
        self.says(List::Obliges) && has_word(&self.lower, OBLIGES)
    }

    /// No verb form that makes a statement, no subject.
    fn is_elliptical(&self) -> bool {
        words(&self.lower).take(17).count() <= 16 && !has_word(&self.lower, STATES)
    }

    /// Questions, offers, guesses, quotations.
    fn is_open(&self) -> bool {
        let end = self.sentence.trim_end_matches(['"', '\'', ')', '”', ' ', '*', '_']);
        self.says(List::Open)
            || end.ends_with(['?', '？', '呢', 'か', '么'])
            || !starts_with_any(&self.lower, &["what i don't want", "what we don't want"])
                && starts_with_any(
                    &self.lower,
                    &[
                        "could ",
                        "can ",
                        "would ",
                        "should ",
                        "why ",
                        "what ",
                        "how ",
                        "is it",
                        "are there",
                        "do you",
                        "does ",
                    ],
                )
    }
}

/// Does a clause begin like an order?
fn is_imperative(clause: &str) -> bool {
    let mut words = words(clause);
    let first = words.next().unwrap_or("");
    if matches!(first, "don't" | "dont" | "never" | "always" | "let's") || clause.starts_with("do not ") {
        return true;
    }
    // "Wait, I looked it up": no order.
    if matches!(first, "wait" | "hold" | "look")
        && clause.get(first.len()..).is_some_and(|rest| rest.starts_with(','))
    {
        return false;
    }
    // "Limit 32 MB": a setting.
    if matches!(first, "limit" | "cap")
        && clause
            .get(first.len()..)
            .is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()))
    {
        return false;
    }
    // "Test suite is red", "the build", "update: it works".
    IMPERATIVES.binary_search(&first).is_ok()
        && !clause.get(first.len()..).is_some_and(|rest| rest.starts_with([':', '=', '(', '.', '/']))
        && !words.next().is_some_and(|second| {
            matches!(
                second,
                "is" | "was"
                    | "are"
                    | "were"
                    | "has"
                    | "failed"
                    | "says"
                    | "said"
                    | "shows"
                    | "showed"
                    | "got"
                    | "id"
            )
        })
}

/// Verbs that orders begin with, sorted.
const IMPERATIVES: &[&str] = &[
    "accept",
    "act",
    "adapt",
    "add",
    "adjust",
    "aim",
    "align",
    "allocate",
    "allow",
    "analyse",
    "analyze",
    "annotate",
    "answer",
    "apply",
    "archive",
    "ask",
    "assert",
    "assign",
    "assume",
    "attach",
    "avoid",
    "backport",
    "benchmark",
    "bind",
    "bisect",
    "bring",
    "build",
    "bump",
    "cache",
    "calculate",
    "call",
    "cancel",
    "cap",
    "cast",
    "change",
    "check",
    "choose",
    "clamp",
    "clarify",
    "clean",
    "clear",
    "close",
    "collect",
    "color",
    "colour",
    "combine",
    "comment",
    "commit",
    "compare",
    "compress",
    "compute",
    "configure",
    "confirm",
    "connect",
    "continue",
    "convert",
    "copy",
    "count",
    "create",
    "cut",
    "debounce",
    "debug",
    "decide",
    "declare",
    "decode",
    "decrease",
    "dedupe",
    "deduplicate",
    "define",
    "delete",
    "deny",
    "deploy",
    "derive",
    "describe",
    "design",
    "detach",
    "diagnose",
    "disable",
    "disallow",
    "discard",
    "distribute",
    "do",
    "document",
    "draft",
    "drain",
    "drop",
    "duplicate",
    "eliminate",
    "embed",
    "emit",
    "enable",
    "encode",
    "encrypt",
    "enforce",
    "ensure",
    "escape",
    "evaluate",
    "evict",
    "examine",
    "exclude",
    "execute",
    "expand",
    "expire",
    "explain",
    "export",
    "expose",
    "extend",
    "extract",
    "fall",
    "fetch",
    "figure",
    "find",
    "finish",
    "fix",
    "flatten",
    "fold",
    "forbid",
    "format",
    "generate",
    "get",
    "give",
    "go",
    "handle",
    "hardcode",
    "help",
    "hide",
    "hold",
    "hook",
    "identify",
    "ignore",
    "implement",
    "import",
    "improve",
    "include",
    "increase",
    "initialise",
    "initialize",
    "inline",
    "insert",
    "inspect",
    "install",
    "integrate",
    "introduce",
    "invalidate",
    "invert",
    "investigate",
    "keep",
    "kill",
    "leave",
    "limit",
    "link",
    "list",
    "load",
    "lock",
    "log",
    "look",
    "lower",
    "maintain",
    "make",
    "mark",
    "measure",
    "mention",
    "merge",
    "migrate",
    "mock",
    "modify",
    "move",
    "mute",
    "normalise",
    "normalize",
    "note",
    "open",
    "optimise",
    "optimize",
    "override",
    "pad",
    "paginate",
    "parse",
    "pass",
    "patch",
    "pause",
    "permit",
    "pick",
    "pin",
    "plan",
    "poll",
    "port",
    "prefer",
    "preload",
    "prepare",
    "preserve",
    "pretend",
    "prevent",
    "print",
    "produce",
    "profile",
    "propose",
    "provide",
    "prune",
    "publish",
    "pull",
    "purge",
    "push",
    "put",
    "quote",
    "raise",
    "read",
    "rebase",
    "rebuild",
    "recreate",
    "redo",
    "reduce",
    "refactor",
    "regenerate",
    "register",
    "reject",
    "release",
    "reload",
    "remind",
    "remove",
    "rename",
    "render",
    "reorder",
    "replace",
    "reply",
    "report",
    "reproduce",
    "require",
    "rerun",
    "research",
    "reset",
    "resolve",
    "restart",
    "restore",
    "restrict",
    "resume",
    "retain",
    "retry",
    "return",
    "reuse",
    "reverse",
    "revert",
    "review",
    "revisit",
    "rework",
    "rewrite",
    "roll",
    "rotate",
    "round",
    "run",
    "sanitise",
    "sanitize",
    "save",
    "say",
    "scan",
    "scope",
    "search",
    "send",
    "separate",
    "serve",
    "set",
    "ship",
    "shorten",
    "show",
    "shrink",
    "simplify",
    "sketch",
    "skip",
    "sort",
    "specify",
    "split",
    "squash",
    "start",
    "stash",
    "stay",
    "stick",
    "stop",
    "store",
    "strip",
    "stub",
    "substitute",
    "subtract",
    "suggest",
    "summarise",
    "summarize",
    "support",
    "suppress",
    "surface",
    "swap",
    "switch",
    "sync",
    "tag",
    "take",
    "teach",
    "tell",
    "terminate",
    "test",
    "throttle",
    "throw",
    "tidy",
    "tighten",
    "toggle",
    "trace",
    "track",
    "transform",
    "translate",
    "treat",
    "trim",
    "truncate",
    "try",
    "tune",
    "turn",
    "undo",
    "unify",
    "unlock",
    "unpack",
    "unset",
    "update",
    "upgrade",
    "upload",
    "use",
    "validate",
    "vendor",
    "verify",
    "visualize",
    "wait",
    "warm",
    "warn",
    "weigh",
    "widen",
    "wipe",
    "wire",
    "wrap",
    "write",
];

/// Words of obligation.
const OBLIGES: &[&str] = &["must", "should", "shall", "needs", "need", "shouldn't", "mustn't"];

/// Words that make a sentence a statement about something.
const STATES: &[&str] = &[
    "is", "are", "was", "were", "has", "have", "had", "does", "did", "do", "i", "it", "he", "she", "they",
    "we", "you", "this", "that", "there", "it's", "that's", "i'm", "i've", "we're", "they're", "there's",
    "got", "gets", "seems", "looks", "works", "takes", "needs", "gives", "says", "means", "makes", "can",
    "could", "will", "would", "doesn't", "don't", "didn't", "isn't", "aren't", "wasn't", "can't", "won't",
    "which", "who", "happens", "comes", "goes", "uses", "runs", "returns", "fails", "failed", "shows",
    "writes", "reads", "reports", "becomes",
];

/// A line of JSON, code, a table or a log.
fn looks_like_data(sentence: &str) -> bool {
    let text = sentence.trim();
    let holds = |byte: u8| memchr::memchr(byte, text.as_bytes()).is_some();
    text.starts_with(['{', '}', '[', '<', '|', '/', '$', '@', ')', '\\'])
        || text.ends_with(['{', '}', ';', '|'])
        || text.ends_with('>') && !text.contains(" <")
        || starts_with_any(text, &["-->", "Error:", "error:", "Warning:", "warning:", "'---", "'+++", "==="])
        || holds(b'=')
            && (text.contains("===") || text.contains("=>") || text.contains(" = ") && !text.contains('`'))
        || holds(b'"') && (text.contains("\":") || text.starts_with('"') && text.ends_with("\","))
        || holds(b'(') && text.contains("();")
}

/// Words of a lower-case text: letters, digits, `_` and inner apostrophes.
fn words(lower: &str) -> impl DoubleEndedIterator<Item = &str> {
    lower.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '_')).filter(|word| !word.is_empty())
}

/// Does one of the words stand in the text?
fn has_word(lower: &str, list: &[&str]) -> bool {
    words(lower).any(|word| list.contains(&word))
}

/// Adds a text in lower case, without markup, with plain apostrophes and blanks.
fn plain(text: &str, lower: &mut String) {
    let is_mark = |c: char| matches!(c, '*' | '`');
    if text.is_ascii() {
        lower.push_str(text);
        lower.make_ascii_lowercase();
        // Most sentences have neither marks nor line ends.
        if memchr::memchr2(b'*', b'`', lower.as_bytes()).is_some() {
            lower.retain(|c| !is_mark(c));
        }
        if memchr::memchr2(b'\n', b'\t', lower.as_bytes()).is_some() {
            *lower = lower.replace(['\n', '\t'], " ");
        }
        return;
    }
    lower.reserve(text.len());
    for c in text.chars() {
        match c {
            _ if is_mark(c) => {}
            '’' | '‘' => lower.push('\''),
            '\n' | '\t' => lower.push(' '),
            _ if c.is_ascii() => lower.push(c.to_ascii_lowercase()),
            _ => lower.extend(c.to_lowercase()),
        }
    }
}

/// Starts of the clauses of a lower-case sentence, and whether "and" alone opens it.
fn clauses(lower: &str) -> SmallVec<[(usize, bool); 8]> {
    let mut starts = SmallVec::new();
    starts.push((0, false));
    // Where a joint may stand again: what is a piece of one is no piece of the next.
    let mut free = [0; JOINTS.len()];
    for (at, byte) in lower.bytes().enumerate() {
        match byte {
            b',' | b';' | b':' | b'(' => starts.push((at + 1, false)),
            b' ' => {
                let rest = lower.get(at..).unwrap_or("");
                let next = rest.as_bytes().get(1);
                for (joint, free) in JOINTS.iter().zip(&mut free) {
                    // Most differ in this byte, which is told faster than by a call.
                    if joint.as_bytes().get(1) == next && at >= *free && rest.starts_with(joint) {
                        *free = at + joint.len();
                        starts.push((*free, *joint == " and "));
                    }
                }
            }
            // The first byte of a character that is no ASCII.
            0xc0.. => {
                let wide = lower.get(at..).and_then(|rest| rest.chars().next());
                if let Some(c @ ('—' | '–' | '，' | '；' | '：' | '、')) = wide {
                    starts.push((at + c.len_utf8(), false));
                }
            }
            _ => {}
        }
    }
    starts.sort_unstable();
    for (start, _) in &mut starts {
        *start = past_openings(lower, *start);
    }
    starts.dedup_by_key(|(start, _)| *start);
    starts
}

/// Where a clause says what it says.
fn past_openings(lower: &str, start: usize) -> usize {
    let mut at = start;
    loop {
        let clause = lower.get(at..).unwrap_or("");
        let trimmed = clause.trim_start();
        at += clause.len() - trimmed.len();
        let Some(first) = trimmed.bytes().next() else { return at };
        let Some(rest) = OPENINGS
            .iter()
            .filter(|opening| opening.bytes().next() == Some(first))
            .find_map(|opening| trimmed.strip_prefix(opening))
        else {
            return at;
        };
        if (trimmed.starts_with("we ") || trimmed.starts_with("you ")) && !binding_modal(rest) {
            return at;
        }
        at += trimmed.len() - rest.len();
    }
}

/// After "you" or "we": a word that makes it a rule.
fn binding_modal(rest: &str) -> bool {
    const MODALS: &[&str] = &[
        "never ",
        "always ",
        "only ",
        "must ",
        "should ",
        "shouldn't ",
        "may not ",
        "can't ",
        "cannot ",
        "can only ",
        "are not allowed",
        "need to ",
        "have to ",
    ];
    starts_with_any(rest, MODALS)
}

fn starts_with_any(text: &str, list: &[&str]) -> bool {
    let Some(first) = text.bytes().next() else { return false };
    // Most differ in the first byte, which is told faster than by a call.
    list.iter().any(|start| start.bytes().next() == Some(first) && text.starts_with(start))
}

fn contains_any(text: &str, list: &[&str]) -> bool {
    list.iter().any(|part| text.contains(part))
}

/// Phrases of offers, guesses and examples.
const OPEN: &[&str] = &[
    "maybe ",
    "perhaps ",
    "we could ",
    "you could ",
    "i could ",
    "could be ",
    "what if ",
    "wondering",
    "should we ",
    "shall we ",
    "how about ",
    "might want",
    "i think it ",
    "for example, ",
    "e.g. ",
    "for instance",
    "hypothetically",
    "in theory",
    "or we can",
    "one option",
    "another option",
    "alternatively",
    "吗",
    "或许",
    "也许",
    "かもしれ",
    "比如",
    "例如",
];

/// Phrases of a quotation, or of a rule that somebody else is reported to state.
const REPORTED: &[&str] = &[
    " says ",
    " says:",
    " said ",
    " states ",
    " stated ",
    "according to",
    " reads:",
    " reads \"",
    "documented as",
    "docs say",
    "it says",
    " mentions that",
    " tells me",
    "error message",
    " claims ",
    "he wrote ",
    "they wrote ",
    " wrote that ",
    " wrote in ",
    "写着",
    "写道",
    "と書いて",
    " warns ",
    " complains ",
    " told me",
    " told us",
];
