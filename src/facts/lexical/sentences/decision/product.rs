//! What the agent says of the product, without naming who made it so: how it is, and why or against what.

use super::super::{List, Plain, contains_any, has_word, is_imperative, starts_with_any, words};
use super::forms::{MADE, NOW};
use super::{reason, stem};

/// Stems of verbs that say at the head of a sentence that the work was changed: "Switched to X instead of Y".
pub(super) const MAKING: &[&str] = &[
    "accept",
    "add",
    "adopt",
    "allow",
    "answer",
    "apply",
    "cach",
    "cap",
    "change",
    "chose",
    "choos",
    "clamp",
    "convert",
    "copi",
    "copy",
    "count",
    "cut",
    "default",
    "deriv",
    "distribut",
    "drop",
    "duplicat",
    "emit",
    "exclud",
    "expos",
    "extract",
    "fix",
    "form",
    "gav",
    "give",
    "guard",
    "handl",
    "ignor",
    "implement",
    "updat",
    "simplifi",
    "shorten",
    "bump",
    "rewrit",
    "includ",
    "inlin",
    "introduc",
    "keep",
    "kept",
    "leav",
    "left",
    "let",
    "limit",
    "load",
    "lock",
    "log",
    "lower",
    "made",
    "make",
    "mak",
    "map",
    "mark",
    "merg",
    "mov",
    "nam",
    "normalis",
    "normaliz",
    "pass",
    "pick",
    "pin",
    "pool",
    "prefer",
    "put",
    "rais",
    "reject",
    "remov",
    "renam",
    "replac",
    "restrict",
    "retain",
    "retri",
    "retry",
    "return",
    "reus",
    "revert",
    "round",
    "sav",
    "send",
    "separat",
    "serv",
    "set",
    "skip",
    "sort",
    "split",
    "stor",
    "stopp",
    "switch",
    "take",
    "tak",
    "throw",
    "took",
    "treat",
    "truncat",
    "turn",
    "us",
    "use",
    "valid",
    "wrap",
    "writ",
    "wrote",
    "round",
    "order",
    "batch",
    "group",
];

/// Says the sentence of the product, without naming who made it so, that it is one way now and why, or against what? `against`
/// as for [`super::makes`]. How a run went ("it fails now because") is no choice.
pub(super) fn made_so(plain: &Plain<'_>, against: Option<usize>) -> bool {
    if plain.says(List::Steps) || against.is_none() && !plain.says(List::Reason) {
        return false;
    }
    let lower = plain.lower.as_str();
    let why = reason(plain).map(|(at, _)| at);
    let joint = |at: usize| lower.get(at..).unwrap_or("");
    // What merely follows from it (", so") is no reason; what is denied (", not") may be a finding.
    let follows = why.is_some_and(|at| {
        let before = lower.get(..at).unwrap_or("");
        let bare = joint(at).trim_start_matches([',', ')', '.', ' ']);
        bare.starts_with("so ")
            && !bare.starts_with("so that")
            && (before.ends_with([',', ')']) || joint(at).starts_with([',', ')', '.']))
    });
    if against.is_none() && follows
        || against.is_some_and(|at| joint(at).starts_with([',', '-'])) && !has_word(lower, &["now"])
    {
        return false;
    }
    let claim = match (against, why) {
        // What is taken may stand on either side.
        (Some(_), _) => lower,
        (None, Some(why)) => lower.get(..why).unwrap_or(""),
        (None, None) => return false,
    };
    let first = words(claim).next().unwrap_or("");
    !first.ends_with("ing")
        && !matches!(
            first,
            "now"
                | "i"
                | "i'm"
                | "i'll"
                | "i've"
                | "let"
                | "that"
                | "it"
                | "this"
                | "there"
                | "what"
                | "when"
                | "if"
        )
        && !has_word(claim, RUNNING)
        && !contains_any(
            claim,
            &["right now", "by now", "until now", "for now", "now that", "just now", "even now"],
        )
        && !claim.contains('"')
        && !claim.contains(" in commit ")
        && !is_under_way(claim)
        && !(against.is_some() && measures(lower))
        && MADE.as_ref().is_some_and(|made| made.is_match(claim))
}

/// "A query now takes 3 ms instead of 90": how long it takes is measured, not chosen.
pub(super) fn measures(lower: &str) -> bool {
    contains_any(lower, &[" now takes ", " now needs "])
}

/// "The worker is rebuilding the package now": no state of the product.
pub(super) fn is_under_way(claim: &str) -> bool {
    let mut before = "";
    words(claim).any(|word| {
        let doing =
            word.ends_with("ing") && word != "using" && matches!(before, "is" | "are" | "was" | "were");
        before = word;
        doing
    })
}

/// How a sentence of the product joins its claim and what is for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// "So that", and "so" without a comma: what it is for.
    Purpose,
    /// ", because", ", since", ", as".
    Ground,
    /// "To avoid".
    Aim,
}

/// Says the agent of a part of the product how it is, and what for: "Idle sessions are closed after an hour so that ...". How
/// existing code works and why something fails is put alike, mostly as a result (", so").
pub(super) fn designed(plain: &Plain<'_>) -> bool {
    if plain.says(List::Steps) {
        return false;
    }
    let lower = plain.lower.as_str();
    let Some((at, opening)) = reason(plain) else { return false };
    let claim = lower.get(..at).unwrap_or("").trim_end();
    let comma = claim.ends_with([',', ')']) || opening.starts_with(',');
    let claim = claim.trim_end_matches(',');
    let rest = lower.get(at..).unwrap_or("");
    let opening = rest.trim_start_matches([',', ')', '.', ' ']);
    let comma = comma || rest.starts_with([',', ')']);
    let joint = if opening.starts_with("so that") || opening.starts_with("so ") && !comma {
        Joint::Purpose
    } else if opening.starts_with("to ") {
        Joint::Aim
    } else if (comma || counters(opening))
        && ["because", "since ", "as "].iter().any(|it| opening.starts_with(it))
    {
        Joint::Ground
    } else {
        return false;
    };
    let first = words(claim).next().unwrap_or("");
    // "For the second point: a map of what is in flight, so that ...".
    if first == "for" && joint != Joint::Aim && claim.contains(": ") {
        return !has_word(claim, RUNNING) && !has_word(claim, SUPPOSING);
    }
    if words(claim).count() < 3
        || NO_PRODUCT.contains(&first)
        || matches!(first, "it" | "they") && joint != Joint::Purpose
        || words(claim).any(|word| RUNNING.contains(&word) && !matches!(word, "works" | "happens"))
        || has_word(claim, SUPPOSING)
        || is_under_way(claim)
        || contains_any(claim, &[" since 1", " since 2"])
    {
        return false;
    }
    let ordered = first.ends_with("ed")
        || is_imperative(without_marks(claim))
        || is_passive(claim)
        || has_word(claim, &["now"]);
    match joint {
        Joint::Purpose if claim.ends_with(['—', '-', '–']) => false,
        Joint::Purpose if !opening.starts_with("so that") && !ordered => false,
        Joint::Aim if opening.starts_with("to get ") => false,
        Joint::Purpose => !words(opening).skip(1).take(3).any(|word| matches!(word, "i" | "know")),
        Joint::Ground => {
            (ordered || has_word(opening, &["would", "otherwise"]))
                && !tells_past(claim)
                && is_meant(claim, opening)
        }
        Joint::Aim => !tells_past(claim) && (comma || is_passive(claim)),
    }
}

/// Does a ground name what would come otherwise, or who wants it so?
pub(super) fn counters(ground: &str) -> bool {
    has_word(
        ground,
        &[
            "would",
            "otherwise",
            "nobody",
            "you",
            "must",
            "should",
            "anyway",
            "cheaper",
            "easier",
            "simpler",
            "safer",
        ],
    )
}

/// Is what is grounded a choice: made by somebody, put apart from another way, or to keep off what would come otherwise?
fn is_meant(claim: &str, ground: &str) -> bool {
    is_passive(claim)
        || counters(ground)
        || has_word(
            ground,
            &["too", "cannot", "can't", "needs", "need", "already", "cheap", "faster", "enough"],
        )
}

/// A verb in the passive of the present: "is clamped", "are not sent".
fn is_passive(claim: &str) -> bool {
    let mut auxiliary = false;
    words(claim).any(|word| {
        let participle = word.ends_with("ed")
            || word.ends_with("'d")
            || matches!(
                word,
                "kept"
                    | "sent"
                    | "built"
                    | "taken"
                    | "written"
                    | "set"
                    | "put"
                    | "held"
                    | "drawn"
                    | "cut"
                    | "split"
                    | "made"
                    | "run"
                    | "bound"
                    | "read"
                    | "left"
                    | "hidden"
                    | "given"
                    | "chosen"
                    | "thrown"
                    | "done"
                    | "stored"
                    | "rebuilt"
            );
        let found = auxiliary && participle;
        auxiliary = matches!(word, "is" | "are" | "gets" | "get" | "be")
            || auxiliary
                && (word.ends_with("ly") || matches!(word, "now" | "not" | "only" | "also" | "never"));
        found
    })
}

/// A verb in the past, or one that only an auxiliary of the past can have.
pub(super) fn tells_past(claim: &str) -> bool {
    let mut before = "";
    // What it waits for may be told in the past: "after the handler returned".
    words(claim)
        .take_while(|word| !matches!(*word, "after" | "before" | "once" | "when" | "which" | "that"))
        .any(|word| {
            let past = matches!(
                word,
                "was" | "were" | "had" | "did" | "didn't" | "wasn't" | "came" | "went" | "got"
            ) || word.ends_with("ed")
                && word.len() > 4
                && !before.is_empty()
                && !before.ends_with("ly")
                && !matches!(
                    before,
                    "is" | "are"
                        | "be"
                        | "been"
                        | "being"
                        | "gets"
                        | "get"
                        | "the"
                        | "a"
                        | "an"
                        | "as"
                        | "not"
                        | "also"
                        | "now"
                        | "only"
                        | "and"
                        | "or"
                        | "its"
                        | "their"
                        | "with"
                        | "by"
                        | "per"
                        | "no"
                        | "than"
                        | "of"
                        | "for"
                        | "from"
                        | "in"
                        | "to"
                        | "on"
                        | "each"
                        | "every"
                        | "all"
                        | "has"
                        | "have"
                        | "once"
                        | "never"
                        | "over"
                        | "under"
                        | "at"
                        | "into"
                        | "through"
                        | "via"
                        | "between"
                        | "within"
                        | "without"
                        | "so"
                        | "if"
                );
            before = word;
            past
        })
}

/// What begins a sentence that is about the talk, a step or a finding, rather than about a part of the product.
pub(super) const NO_PRODUCT: &[&str] = &[
    "i",
    "i'm",
    "i'll",
    "i've",
    "i'd",
    "let",
    "let's",
    "that",
    "this",
    "there",
    "what",
    "when",
    "if",
    "while",
    "now",
    "next",
    "then",
    "not",
    "no",
    "yes",
    "true",
    "one",
    "nothing",
    "because",
    "since",
    "so",
    "as",
    "but",
    "committed",
    "pushed",
    "done",
    "checked",
    "verified",
    "ran",
    "found",
    "reproduced",
    "looks",
    "looking",
    "probably",
    "maybe",
    "perhaps",
    "before",
    "after",
    "even",
    "why",
    "how",
    "which",
    "who",
    "most",
    "proposal",
    "you",
    "he",
    "she",
    "some",
    "somebody",
    "someone",
    "could",
    "should",
    "would",
    "starting",
    "reading",
    "running",
    "checking",
    "known",
    "for",
    "on",
];

/// Words of what only may be.
pub(super) const SUPPOSING: &[&str] = &[
    "would",
    "could",
    "might",
    "may",
    "probably",
    "perhaps",
    "maybe",
    "apparently",
    "presumably",
    "i",
    "i'd",
    "my",
    "suspect",
    "guess",
    "likely",
    "unless",
    "we",
    "wanted",
];

/// Says the agent, without naming itself, that one thing is taken and not another? A measure against another one ("6 ms
/// instead of 210") is none, nor what a fault does ("returns null instead of a list"), nor what happened.
pub(super) fn used_against(plain: &Plain<'_>, against: Option<usize>) -> bool {
    let Some(at) = against else { return false };
    let lower = plain.lower.as_str();
    let claim = lower.get(..at).unwrap_or("");
    let other = lower.get(at..).unwrap_or("");
    let first = words(claim).next().unwrap_or("");
    let orders =
        claim.split([':', ',', ';']).chain(claim.split(" - ")).any(|part| is_imperative(without_marks(part)));
    let made = first.ends_with("ed")
        || orders
        || at == 0 && lower.split(", ").skip(1).any(is_imperative)
        || has_word(claim, &["should", "now", "use", "uses", "using", "imports"])
        || starts_with_any(
            without_marks(other),
            &["statt", "anstatt", "anstelle", "sondern", "au lieu", "plutôt", "en vez", "en lugar"],
        );
    if other.starts_with([',', '-'])
        || !made
        || NO_PRODUCT.contains(&first) && first != "for"
        || words(claim).any(|word| RUNNING.contains(&word) && word != "works")
        || has_word(claim, SUPPOSING)
        || tells_past(claim)
        || is_under_way(claim)
        || words(other).nth(2).is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()))
    {
        return false;
    }
    !has_word(claim, FAULTS)
}

/// Without what stands before the first word.
fn without_marks(text: &str) -> &str {
    text.trim_start_matches(|c: char| !c.is_alphanumeric())
}

/// Words that open a reason in German, French, Spanish and Portuguese.
pub(in crate::facts::lexical::sentences) const FOREIGN_WHY: &[&str] = &[
    "damit ",
    "weil ",
    ", da ",
    "denn ",
    "parce qu",
    " car ",
    "afin ",
    "pour que ",
    "pour éviter",
    "porque ",
    "ya que ",
    "para que ",
    "para evitar",
    "já que ",
    "pois ",
];

/// In German, French, Spanish and Portuguese: something is made so, and why.
pub(super) fn made_foreign(plain: &Plain<'_>) -> bool {
    const MAKES: &[&str] = &[
        "ich habe ",
        "wir haben ",
        "habe ich ",
        "wird ",
        "werden ",
        "ist jetzt",
        "steht jetzt",
        "bleibt ",
        "bleiben ",
        "j'ai ",
        "nous avons ",
        "on a ",
        "est maintenant",
        "est désormais",
        "reste ",
        "restent ",
        "he ",
        "hemos ",
        "ahora ",
        "queda ",
        "quedó ",
        "se ",
        "ficou ",
        "fica ",
        "agora ",
        "deixei ",
        "mudei ",
        "dejé ",
        "cambié ",
        "puse ",
        "usei ",
        "moví ",
    ];
    const GOES_WRONG: &[&str] = &[
        "fehler",
        "schlägt",
        "scheiter",
        "hängt",
        "kaputt",
        "erreur",
        "échoue",
        "échoué",
        "plante",
        "bloque",
        "falla",
        "falló",
        "error",
        "erro ",
        "falhou",
        "roto",
        "peut-être",
        "vielleicht",
        "quizá",
        "talvez",
    ];
    if !plain.says(List::ForeignWhy) {
        return false;
    }
    let lower = plain.lower.as_str();
    let Some(at) = FOREIGN_WHY.iter().filter_map(|why| lower.find(why)).min() else { return false };
    let claim = lower.get(..at).unwrap_or("");
    MAKES.iter().any(|makes| claim.starts_with(makes) || claim.contains(&format!(" {makes}")))
        && !contains_any(lower, GOES_WRONG)
}

/// Verbs by which a fault is told: "it returns null instead of a list".
const FAULTS: &[&str] = &[
    "returns",
    "return",
    "gets",
    "get",
    "shows",
    "prints",
    "gives",
    "reads",
    "renders",
    "points",
    "produces",
    "throws",
    "matches",
    "yields",
    "sees",
    "finds",
    "hits",
    "answers",
    "displays",
    "looks",
    "expects",
    "expected",
    "wanted",
    "one",
    "checking",
    "committed",
    "tagged",
    "pushed",
    "accidentally",
    "wrongly",
    "still",
];

/// Words of how a run went, rather than of how something was made.
pub(super) const RUNNING: &[&str] = &[
    "fail", "fails", "failed", "failing", "failure", "broke", "breaks", "broken", "crash", "crashes",
    "crashed", "error", "errors", "hang", "hangs", "hung", "pass", "passes", "passed", "passing", "green",
    "red", "works", "working", "worked", "compiles", "builds", "wrong", "lost", "bug", "stuck", "slow",
    "slower", "happened", "happens", "seems", "looks", "rejected", "timed", "flaky", "i'm", "i'll", "we're",
    "waiting", "checking", "running", "reading", "probably", "maybe",
];

/// The agent says of the work, without naming itself, that it is as it is now and not another way: "Switched to X instead
/// of Y", "`limit` now defaults to 0 instead of 1000". That it takes one thing against another is known.
pub(super) fn contrasts_work(lower: &str) -> bool {
    let first = words(lower).next().unwrap_or("");
    let done = (first.ends_with("ed") || first.ends_with("ing")) && MAKING.contains(&stem(first))
        || matches!(first, "kept" | "left" | "made" | "put");
    done || contains_any(lower, &[" went into ", " went in ", " goes into ", " moved to ", " moved into "])
        && !NO_PRODUCT.contains(&first)
        || !measures(lower) && NOW.as_ref().is_some_and(|now| now.is_match(lower))
}
