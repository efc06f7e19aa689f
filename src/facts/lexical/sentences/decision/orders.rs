//! Orders of the user that settle a choice: with their reason, or against another way.

use super::super::{Plain, contains_any, has_word, is_imperative, starts_with_any, words};
use super::product::RUNNING;
use super::reason;

/// Orders that look, run or tell rather than make something.
const LOOKING: &[&str] = &[
    "check",
    "look",
    "run",
    "rerun",
    "read",
    "find",
    "tell",
    "explain",
    "show",
    "give",
    "try",
    "test",
    "wait",
    "see",
    "investigate",
    "debug",
    "search",
    "review",
    "verify",
    "compare",
    "confirm",
    "describe",
    "do",
    "let",
    "let's",
    "go",
    "help",
    "say",
    "note",
    "report",
    "commit",
    "push",
    "open",
    "ask",
    "answer",
    "call",
    "start",
    "stop",
    "finish",
    "hold",
    "don't",
    "dont",
    "never",
    "be",
    "get",
    "list",
    "print",
    "figure",
    "plan",
    "continue",
    "proceed",
    "make",
    "fix",
    "update",
    "install",
    "restart",
    "inspect",
    "analyze",
    "analyse",
    "act",
    "ignore",
    "remember",
];

/// The user orders how something is to be made, and why: "rename it with git mv so the history follows".
pub(super) fn orders_why(plain: &Plain<'_>) -> bool {
    let lower = plain.lower.as_str();
    let Some((at, _)) = reason(plain) else { return false };
    let rest = lower.get(at..).unwrap_or("").trim_start_matches([',', ')', '.', ' ']);
    let grounded =
        ["because ", "since ", "so that ", "so ", "as "].iter().any(|joint| rest.starts_with(joint))
            && !starts_with_any(rest, &["because of", "as it is", "as they are", "as is"])
            && !lower.contains(" first");
    // "The rows are shared, so the column must stay as it is."
    if rest.starts_with("so ")
        && has_word(rest, &["must", "should", "shall"])
        && !contains_any(rest, &[" not ", "n't "])
    {
        return lower.get(..at).is_some_and(|claim| !has_word(claim, RUNNING));
    }
    let ordered = |clause: &str| {
        is_imperative(clause) && !words(clause).next().is_some_and(|first| LOOKING.contains(&first))
    };
    grounded && plain.heads().next().is_some_and(|clause| clause.len() > lower.len() - at && ordered(clause))
}

/// In German, French and Spanish: how something has to be, and why.
pub(super) fn obliges_why_foreign(lower: &str) -> bool {
    const WHY: &[&str] = &[
        " weil ",
        " damit ",
        " sonst ",
        " denn ",
        " car ",
        " sinon ",
        " porque ",
        " pour que ",
        " para que ",
        " si no, ",
    ];
    contains_any(lower, WHY)
        && has_word(lower, &["muss", "müssen", "soll", "sollen", "doit", "doivent", "debe", "deben"])
        && !has_word(lower, &["ich", "wir", "fehler", "bug", "error"])
}

/// "Return an error, don't panic": an order against another way.
pub(super) fn takes_not(plain: &Plain<'_>) -> bool {
    let lower = plain.lower.as_str();
    let joint = [", don't ", ", do not "].iter().find_map(|joint| Some((lower.find(joint)?, joint.len())));
    joint.is_some_and(|(at, len)| {
        let verb = lower.get(at + len..).and_then(|rest| words(rest).next()).unwrap_or("");
        let first = words(lower).next().unwrap_or("");
        is_imperative(lower)
            && !LOOKING.contains(&first)
            && !LOOKING.contains(&verb)
            && !matches!(
                verb,
                "touch" | "change" | "break" | "forget" | "worry" | "edit" | "modify" | "delete" | "remove"
            )
    })
}
