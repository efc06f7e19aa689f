//! A sentence that settles a choice.

use super::super::{LazyLock, Regex, is_cjk, pattern};
use super::{Plain, contains_any, is_open, is_reported};
use crate::facts::Author;

static DECIDED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\b(?:(?:i|we) (?:chose|picked|went with|settled)\b|chose .+ (?:over|because|instead|rather)|(?:let's|let us|we'll|i'll|we will|i will|we're|i'm|we are|i am) (?:go|going|stick|sticking|settle|settling) (?:with|for|on)\b|(?:^|[,;:.] )(?:going|sticking) with\b|(?:^|, |: )(?:go|stick) with\b|(?:^decision|(?:the|our|my|final|design) decision)(?: is|:| was)|final (?:decision|choice)\b|switch(?:ed|ing) (?:from .+ )?to .+ (?:because|instead|since|due)|we(?:'re| are) (?:switching|moving|migrating) to\b|let's (?:switch|move|migrate) to\b)",
    )
});
static PARTICIPLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\b(?:decided|chosen|settled|agreed|opted) (?:to|on|against|that|for|in favou?r|not to|upon|not|we|i)\b",
    )
});

/// "We decided to", "it was agreed that", "Decided against": the speakers' own choice. What others decided ("they
/// decided to explore") is a story.
fn own_participle(lower: &str) -> bool {
    PARTICIPLE.as_ref().is_some_and(|participle| {
        participle.find_iter(lower).any(|found| {
            let before = lower.get(..found.start()).unwrap_or("").trim_end();
            let last = before.rsplit(|c: char| !(c.is_alphanumeric() || c == '\'')).next().unwrap_or("");
            matches!(
                last,
                "" | "i"
                    | "we"
                    | "i've"
                    | "we've"
                    | "have"
                    | "been"
                    | "was"
                    | "is"
                    | "it's"
                    | "already"
                    | "also"
                    | "and"
                    | "just"
                    | "finally"
                    | "then"
                    | "so"
                    | "both"
                    | "team"
                    | "all"
                    | "had"
                    | "now"
            )
        })
    })
}
static CHOSEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\b(?:i'll|we'll|i will|we will|let's|i'm|we're|i am|we are|i have|i've|we've) (?:use|using|keep|keeping|take|taking|adopt|adopting|used|kept|adopted|implement|implementing|implemented|store|storing|stored|drop|dropped|dropping) .+\b(?:instead of|rather than|over|because|since|so that)\b",
    )
});
static USER_CHOICE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^(?:ok,? |okay,? |yes,? |then |alright,? |so )*(?:let's|let us|we'll|we will) (?:use|keep|do|take|adopt|drop|make it|call it|implement)\b",
    )
});

/// Settles the sentence a choice?
pub(in crate::facts) fn is_decision(sentence: &str, author: Author) -> bool {
    if sentence.len() > 600 || sentence.len() < 8 {
        return false;
    }
    let plain = Plain::new(sentence);
    let lower = plain.lower.trim();
    // What speaks for a decision is rare; what speaks against one is looked for only then.
    chooses(lower, sentence, author)
        && !(is_open(lower, sentence) || is_reported(lower) || leaves_open(lower))
}

/// Says that nothing is settled yet, or not here.
fn leaves_open(lower: &str) -> bool {
    contains_any(
        lower,
        &[
            "nothing was decided",
            "nothing has been decided",
            "nothing is decided",
            "not decided",
            "haven't decided",
            "have not decided",
            "hasn't decided",
            "not been decided",
            "undecided",
            "to be decided",
            "to decide",
            "before deciding",
            "if we ",
            "if you ",
            "if i ",
            "could go with",
            "would go with",
            "decide whether",
            "decide later",
            "decide between",
            "decide if",
            "not settled",
            "no decision",
            "decision is pending",
            "yet to ",
            "whether to",
            "either ",
            "until we",
            "once we",
            "未决定",
            "没有决定",
            "还没决定",
            "尚未决定",
            "决定是否",
            "未定",
            "decision log",
            "decision record",
            "was not agreed",
            "not agreed",
            "i'd go with",
            "we'd go with",
            "would have ",
            "decision:  ",
            "no one decided",
            "never decided",
            "wasn't decided",
            "decision is yours",
            "decision was made by",
        ],
    )
}

/// The words and forms of a choice.
fn chooses(lower: &str, sentence: &str, author: Author) -> bool {
    if sentence.chars().any(is_cjk)
        && contains_any(
            sentence,
            &[
                "决定用",
                "决定使用",
                "决定采用",
                "我们决定",
                "最终决定",
                "决定了",
                "就用",
                "改用",
                "我们采用",
                "最终采用",
                "选择使用",
                "选用了",
                "定为",
                "就这么定",
                "にします",
                "に決め",
                "を採用し",
                "することにし",
                "に決定",
                "로 결정",
                "하기로 했",
            ],
        )
    {
        return true;
    }
    if DECIDED.as_ref().is_some_and(|decided| decided.is_match(lower)) || own_participle(lower) {
        return true;
    }
    if settles(lower, sentence, author) {
        return true;
    }
    match author {
        Author::User => USER_CHOICE.as_ref().is_some_and(|choice| choice.is_match(lower)),
        // An agent's next step is no decision: it must set one thing against another or give a reason, and the thing
        // chosen must not be a tool of its own.
        _ => {
            CHOSEN.as_ref().is_some_and(|chosen| chosen.is_match(lower))
                && !contains_any(
                    lower,
                    &[
                        "the read tool",
                        "the edit tool",
                        "the write tool",
                        "grep",
                        " sed ",
                        "the bash",
                        "a different approach",
                        "search",
                        " tool ",
                        "let me",
                    ],
                )
        }
    }
}

/// Settled by form: a person sets one thing against another or names the option taken; the agent says what it does and
/// why, or what stays.
fn settles(lower: &str, sentence: &str, author: Author) -> bool {
    let cjk = sentence.chars().any(is_cjk)
        && contains_any(
            sentence,
            &["改成", "而不是", "封顶", "决定", "ではなく", "決定です", "に決めました"],
        );
    match author {
        Author::User => cjk || SETTLED_BY_USER.as_ref().is_some_and(|it| it.is_match(lower)),
        _ => cjk || SETTLED_BY_AGENT.as_ref().is_some_and(|it| it.is_match(lower)),
    }
}

static SETTLED_BY_USER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?x)
        \b(?:should|must|shall)\ be\ [^.?]*,\ not\ |
        \bmake\ (?:it|the\ [\w-]+)\ [^.?]*(?:,\ not\ |\ instead\ of\ ) |
        \bkeep\ [^.?]*(?:,\ not\ |\ instead\ of\ ) |
        \buse\ [^.?]*(?:,\ not\ |\ instead\ of\ |\ rather\ than\ ) |
        \bmake\ (?:it|the\ limit|retries|the\ wait|the\ default|hysteresis)\ [0-9] |
        ^(?:option\ )?[\w-]{1,20}\ it\ is\b |
        \bit\ is,\ (?:because|since|for)\b |
        ^option\ \w+,\ agreed |
        \bis\ fine\ for\ now\b |
        \bis\ out\b[^?]*$ |
        \bstays\b[^?]*$",
    )
});

static SETTLED_BY_AGENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?x)
        ^(?:then\ )?i(?:'ll|\ will|\ go\ with|\ went\ with|\ prefer|\ left|\ leave)\b[^?]*
            (?:\bbecause\b|,?\ since\b|,\ so\ |\bso\ that\b|\binstead\b|\brather\ than\b|;\ ) |
        ^(?:agreed|understood|noted)[,:]\ [^?]*\b(?:stays?|option|it\ is)\b |
        \bit\ is,\ (?:because|since|for)\b |
        ^i\ go\ with\b |
        ^i\ prefer\b",
    )
});
