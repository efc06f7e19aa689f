//! Answers to an offered choice.

use super::super::super::is_cjk;
use super::super::{OBLIGES, Plain, STATES, contains_any, has_word, is_imperative, words};

/// What the other side left to the user, in lower case.
#[derive(Debug, Clone, Copy)]
pub(in crate::facts) struct Offer<'o> {
    pub(in crate::facts) text: &'o str,
    /// The sentence is the first after it.
    pub(in crate::facts) first: bool,
}

/// "2", "b.", "(a)".
pub(super) fn is_option(lower: &str) -> bool {
    let bare = lower.trim_matches(|c: char| !c.is_alphanumeric());
    bare.len() == 1 && bare.bytes().all(|byte| matches!(byte, b'a'..=b'e' | b'1'..=b'5'))
}

/// Takes an option that was offered and asks for nothing beside it.
pub(in crate::facts) fn only_answers(plain: &Plain<'_>, offer: Offer<'_>) -> bool {
    let lower = plain.lower.as_str();
    let first = words(lower).next().unwrap_or("");
    let option = (first.len() == 1 || first == "option" || is_numbered(lower)) && answers(lower, offer.text);
    let fragment = offer.first
        && alternatives(offer.text)
        && (is_fragment(lower, offer.text)
            || is_named(lower, offer.text)
            || lower.ends_with("でお願いします。"));
    (option || fragment) && !lower.contains("please")
}

/// The answer to an offered choice: "option 2", "A, and B with at most 2", "yes, redirect: error", "Postgres.", "accept it".
pub(super) fn answers(lower: &str, offer: &str) -> bool {
    let mut rest = words(lower);
    let first = rest.next().unwrap_or("");
    let count = words(lower).count();
    let option = matches!(first, "option" | "variant" | "both" | "neither")
        || first == "the"
            && matches!(rest.next(), Some("first" | "second" | "third" | "latter" | "former" | "last"));
    let after = lower.get(first.len()..).unwrap_or("");
    let letter = first.len() == 1
        && first.bytes().all(|b| matches!(b, b'a'..=b'e' | b'1'..=b'5'))
        && (after.is_empty() || after.starts_with([',', '.', ':', ')', ';']) || first != "a" && count <= 4);
    let second = words(after).next().unwrap_or("");
    let polite = matches!(
        second,
        "i" | "i'd"
            | "please"
            | "can"
            | "could"
            | "thanks"
            | "thank"
            | "that's"
            | "it's"
            | "that"
            | "looks"
            | "commit"
            | "push"
            | "ignore"
            | "sounds"
    );
    let assents = contains_any(after, &["go ahead", "do it", "do that", "sounds good", "proceed"]);
    let verdict = matches!(first, "yes" | "no" | "yep" | "nope")
        && !assents
        && (count >= 3 && !polite && (after.starts_with([',', '.', ':']) || after.starts_with(" to "))
            || first == "no" && after.starts_with(' ') && count <= 3 && has_word(offer, &[second]));
    let wide =
        ["はい", "いいえ", "好的,", "对,", "不,", "可以,", "行,"].iter().any(|word| lower.starts_with(word))
            && lower.chars().count() > 6;
    letter
        || option
        || verdict
        || wide
        || is_named(lower, offer)
        || is_numbered(lower)
        || lower.trim_end_matches('.').ends_with(", i agree")
        || lower
            .strip_prefix("yes ")
            .is_some_and(|rest| rest.starts_with(char::is_alphanumeric) && is_named(rest, offer))
}

/// One of the things that were offered, by its words.
pub(super) fn is_named(lower: &str, offer: &str) -> bool {
    let first = words(lower).next().unwrap_or("");
    let told = lower.split([',', '.', ';']).next().unwrap_or("");
    let filler = ["it", "that", "the", "this", "please", "one", "own", "a", "use", "with", "go"];
    let mut named = words(told).filter(|word| !filler.contains(word)).peekable();
    named.peek().is_some()
        && words(told).count() <= 4
        && !matches!(
            first,
            "as" | "for"
                | "about"
                | "regarding"
                | "yes"
                | "no"
                | "yep"
                | "and"
                | "also"
                | "actually"
                | "so"
                | "but"
        )
        && named.all(|word| word.len() < 3 || has_word(offer, &[word]))
        && words(told).any(|word| word.len() >= 3 && !filler.contains(&word))
}

/// "I'll take 2", "ok then b".
fn is_numbered(lower: &str) -> bool {
    NUMBERED.iter().any(|opening| {
        lower.strip_prefix(opening).is_some_and(|rest| {
            let mut rest = words(rest);
            let word = rest.next().unwrap_or("");
            let word = if matches!(word, "option" | "number" | "variant") {
                rest.next().unwrap_or("")
            } else {
                word
            };
            word.len() == 1 && word.bytes().all(|b| matches!(b, b'a'..=b'e' | b'1'..=b'5'))
        })
    })
}

/// What opens an answer by letter or number.
const NUMBERED: &[&str] = &[
    "i'd say ",
    "i'd take ",
    "i'd pick ",
    "i say ",
    "i'll take ",
    "i take ",
    "take ",
    "then ",
    "ok then ",
    "okay then ",
    "alright then ",
    "fine, ",
    "so ",
    "let's do ",
    "number ",
    "make it ",
    "go for ",
    "#",
    "plan ",
    "ok, ",
    "ok ",
    "variante ",
    "opción ",
];

/// Does the other side leave it to the user which of several things it is to be?
pub(super) fn alternatives(offer: &str) -> bool {
    let end = offer.get(offer.ceil_char_boundary(offer.len().saturating_sub(400))..).unwrap_or(offer);
    contains_any(
        end,
        &[
            " or ",
            "which ",
            "your pick",
            "your call",
            "two ways",
            "two options",
            "b)",
            "(2)",
            " oder ",
            " ou ",
            " o ",
            "还是",
            "哪",
            "也可以",
            "请选择",
            "方案",
            "どちら",
            "どれ",
            "それとも",
        ],
    )
}

/// A few words without a verb of its own, some of them of the offer, as one answers which of several things it is to be.
/// Not assent alone, nor what asks or tells.
pub(super) fn is_fragment(lower: &str, offer: &str) -> bool {
    let count = words(lower).count();
    let first = words(lower).next().unwrap_or("");
    let wide = lower.chars().any(is_cjk);
    if lower.trim_end().ends_with(['?', '？', ':', '：']) || lower.contains("thank") {
        return false;
    }
    if wide {
        return lower.chars().count() <= 20
            && !contains_any(lower, &["谢", "请", "什么", "继续", "好的", "ありがとう", "何"]);
    }
    // Asked last: it reads the offer for each word, and most sentences are told by their own words.
    let named = || {
        let long = words(lower).filter(|word| word.len() > 2).count();
        let offered = words(lower).filter(|word| word.len() > 2 && has_word(offer, &[word])).count();
        offered > 0 && offered * 2 >= long
    };
    (1..=10).contains(&count)
        && !lower.contains(['%', '❯', '$', '>'])
        && !matches!(first, "yes" | "yeah" | "yep" | "no" | "nope")
        && !has_word(lower, STATES)
        && !has_word(lower, OBLIGES)
        && !has_word(
            lower,
            &[
                "stay", "stays", "remain", "remains", "not", "sure", "ok", "okay", "go", "ahead", "continue",
                "hm", "hmm", "sorry", "wait", "why", "what", "how", "hi", "hello",
            ],
        )
        && !is_imperative(lower)
        && !(count <= 2
            && matches!(
                first,
                "yes"
                    | "no"
                    | "please"
                    | "right"
                    | "good"
                    | "great"
                    | "fine"
                    | "and"
                    | "also"
                    | "next"
                    | "done"
            ))
        && named()
}
