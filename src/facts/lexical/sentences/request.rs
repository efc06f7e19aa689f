//! A sentence that asks, and bare assent, which asks nothing new.

use super::{List, Plain, contains_any, has_word, is_imperative, words};
use compact_str::CompactString;

/// Phrases that ask.
pub(super) const ASKS: &[&str] = &[
    "please",
    "can you",
    "could you",
    "would you",
    "i want",
    "i still want",
    "would be great if",
    "would be nice if",
    "would love",
    "be grateful",
    "have a look",
    "por favor",
    "bitte",
    "kannst du",
    "könntest du",
    "s'il te plaît",
    "peux-tu",
    "puedes ",
    "podrías",
    "você pode",
    "i need ",
    "i'd like",
    "i would like",
    "we need",
    "we want",
    "help me",
    "need you to",
    "want you to",
    "your task",
    "your job",
    "the task is",
    "the goal is",
    "let's ",
    "请",
    "帮我",
    "帮忙",
    "需要",
    "想要",
    "してください",
    "してほしい",
    "お願い",
    "해줘",
    "해주세요",
    "부탁",
    "应该",
    "修复",
    "实现",
    "添加",
    "修改",
    "て下さい",
    "ください",
    "したい",
    "して。",
    "しておいて",
    "吧",
    "改成",
    "接下来",
    "麻烦你",
    "麻烦看",
    "麻烦帮",
    "一下",
    "也要",
    "再做",
    "最后",
    "把",
    "次は",
    "頼む",
    "直して",
    "教えて",
    "해 주세요",
];
/// Phrases by which nothing is asked for.
pub(super) const DECLINES: &[&str] = &["不要", "别动", "不用"];

/// Does a sentence of the user ask for something? An order that only forbids or keeps asks for nothing.
pub(in crate::facts) fn asks(plain: &Plain<'_>) -> bool {
    let lower = plain.lower.as_str();
    if plain.data {
        return false;
    }
    if lower.trim_end_matches(['"', ')', ' ']).ends_with(['?', '？']) {
        // "171 kB?" wonders.
        let said = words(lower).filter(|word| word.starts_with(|c: char| c.is_alphabetic())).count();
        return said >= 2 || lower.bytes().any(|b| b >= 0x80);
    }
    // "昨天试了一下" tells what was tried.
    let guesses = || contains_any(lower, &["了一下", "可能是", "好像", "大概"]);
    if plain.says(List::Asks) && (lower.is_ascii() || !guesses()) {
        return !(contains_any(lower, &["has to stay", "must stay"]))
            && !plain.clauses().next().is_some_and(forbids);
    }
    if plain.says(List::Declines) || plain.clauses().next().is_some_and(forbids) {
        return false;
    }
    if plain
        .heads()
        .take(6)
        .any(|clause| is_imperative(clause) && !forbids(clause) && !clause.starts_with("always "))
        || asks_openly(lower)
        || asks_foreign(plain)
    {
        return true;
    }
    // "The cap must be 10 minutes", "the handler should really release": work to do, not a rule for it.
    let subject = words(lower).next().unwrap_or("");
    let rules =
        ["must not", "mustn't", "should not", "shouldn't", "never", "has to stay", "must stay", "must keep"];
    plain.obliges()
        && !plain.says(List::Reported)
        && !lower.contains("don't need")
        && !lower.contains("no need")
        && !matches!(
            subject,
            "i" | "i'd"
                | "i'm"
                | "i've"
                | "it's"
                | "that"
                | "he"
                | "she"
                | "they"
                | "yes"
                | "no"
                | "yep"
                | "nope"
        )
        && !contains_any(lower, &["i'd ", "whichever"])
        && !contains_any(lower, &rules)
}

/// Does a choice, given as the answer to an offer, only choose? "Use 2048 px for low" does; "yes, add a test" asks for work.
pub(in crate::facts) fn only_chooses(plain: &Plain<'_>) -> bool {
    const CHOOSING: &[&str] =
        &["use", "take", "go", "pick", "choose", "stick", "keep", "make", "set", "connect", "read", "nimm"];
    let lower = plain.lower.as_str();
    !contains_any(lower, &["please", "can you", "could you", "i want", "i need", "let's ", "let us "])
        && lower.is_ascii()
        && !has_word(lower, &["must", "should", "shall"])
        && !plain.heads().any(|clause| {
            is_imperative(clause) && !words(clause).next().is_some_and(|first| CHOOSING.contains(&first))
        })
        && !lower.trim_end().ends_with('?')
}

/// Opens the text with a word that asks? Who chats leaves the question mark away.
pub(in crate::facts) fn questions(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or("").to_lowercase();
    matches!(
        first.as_str(),
        "what"
            | "what's"
            | "why"
            | "how"
            | "how's"
            | "which"
            | "where"
            | "where's"
            | "who"
            | "when"
            | "does"
            | "did"
            | "is"
            | "are"
    )
}

/// Does a question without its mark ask something of the agent? "what's going on", "why does it hang".
fn asks_openly(lower: &str) -> bool {
    const OPENINGS: &[&str] = &[
        "what's ",
        "what is ",
        "why is ",
        "why are ",
        "why does ",
        "why do ",
        "why did ",
        "how do ",
        "how does ",
        "how is ",
        "how can ",
        "where is ",
        "where are ",
        "where does ",
        "which of ",
        "any idea ",
    ];
    OPENINGS.iter().any(|opening| lower.starts_with(opening)) && words(lower).count() <= 14
}

/// Verbs of German, French and Spanish by which an order begins. Those that keep things as they are ask for nothing.
const FOREIGN_ORDERS: &[&str] = &[
    "nimm",
    "nehmt",
    "nutze",
    "nutz",
    "verwende",
    "benutze",
    "setze",
    "mach",
    "mache",
    "leg",
    "lege",
    "schreib",
    "schreibe",
    "füge",
    "bau",
    "baue",
    "prüf",
    "prüfe",
    "erstelle",
    "ändere",
    "ergänze",
    "entferne",
    "lösch",
    "lösche",
    "zeig",
    "zeige",
    "utilise",
    "utilisez",
    "prends",
    "prenez",
    "mets",
    "mettez",
    "fais",
    "faites",
    "ajoute",
    "ajoutez",
    "supprime",
    "corrige",
    "corrigez",
    "écris",
    "écrivez",
    "vérifie",
    "vérifiez",
    "remplace",
    "usa",
    "usad",
    "utiliza",
    "pon",
    "haz",
    "añade",
    "agrega",
    "corrige",
    "cambia",
    "quita",
    "elimina",
    "escribe",
    "revisa",
    "comprueba",
    "crea",
    "muestra",
    "arregla",
    "sube",
    "baja",
    "adicione",
    "corrija",
    "crie",
    "mude",
    "remova",
    "escreva",
];

/// In German, French and Spanish: an order, or work that is due.
fn asks_foreign(plain: &Plain<'_>) -> bool {
    let due = || {
        has_word(&plain.lower, &["debe", "deben", "doit", "doivent", "soll", "sollen"])
            && !has_word(
                &plain.lower,
                &[
                    "no", "ne", "nicht", "nie", "nunca", "jamais", "keine", "kein", "rester", "bleiben",
                    "quedar", "seguir",
                ],
            )
    };
    plain.heads().take(3).any(|clause| {
        words(clause).next().is_some_and(|first| {
            FOREIGN_ORDERS.contains(&first) || first.ends_with("iere") && first.len() > 6
        })
    }) || due()
}

/// A heading of work rather than an order: "Next: comparison terms.", "Now webhooks, PD-421."
pub(in crate::facts) fn announces(plain: &Plain<'_>) -> bool {
    let lower = plain.lower.as_str();
    lower.starts_with("next")
        || lower.starts_with("now ")
        || lower.starts_with("次は")
        || lower.starts_with("接下来")
}

/// An order not to do something, or to leave it as it is.
fn forbids(clause: &str) -> bool {
    let first = words(clause).next().unwrap_or("");
    let kept = || {
        contains_any(
            clause,
            &["as it is", "as they are", "as is", "unchanged", "untouched", "alone", "compatible", "intact"],
        )
    };
    matches!(first, "never") && !clause.starts_with("never mind")
        || matches!(first, "don't" | "dont" | "avoid" | "no" | "not" | "stop" | "ignore" | "leave")
        || first == "keep" && kept()
        || clause.starts_with("do not ")
}

/// "Yes, please proceed with the cancellation.": assent to what was offered, in its words.
fn lets_proceed(text: &str) -> bool {
    const YES: &[&str] = &["yes", "yep", "yeah", "ok", "okay", "sure", "oui", "sí"];
    // Most texts begin with another word.
    if !words(text).next().is_some_and(|first| YES.contains(&first.to_lowercase().as_str())) {
        return false;
    }
    let lower = text.to_lowercase();
    let bare = |text: &str| text.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
    let said = lower.get(..bare(&lower)).unwrap_or("");
    let said = said.strip_suffix("thank you").or_else(|| said.strip_suffix("thanks")).unwrap_or(said);
    let said = said.get(..bare(said)).unwrap_or("");
    let mut words = words(said);
    words.next().is_some_and(|first| YES.contains(&first))
        && words.take(4).any(|word| matches!(word, "proceed" | "ahead"))
        && !lower.contains('?')
        && !said.contains(['.', '\n', ':'])
        && !contains_any(said, &[" and ", " but ", " also ", " then ", " first"])
}

/// Bare assent: nothing new is asked.
pub(in crate::facts) fn is_assent(text: &str) -> bool {
    if lets_proceed(text) {
        return true;
    }
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty());
    words.take(7).enumerate().all(|(at, word)| {
        at < 6 && {
            let word = CompactString::from_str_to_lowercase(word);
            matches!(
                word.as_str(),
                "yes"
                    | "y"
                    | "yep"
                    | "yeah"
                    | "ok"
                    | "okay"
                    | "sure"
                    | "go"
                    | "ahead"
                    | "continue"
                    | "proceed"
                    | "please"
                    | "thanks"
                    | "thank"
                    | "you"
                    | "great"
                    | "good"
                    | "perfect"
                    | "nice"
                    | "do"
                    | "it"
                    | "that"
                    | "cool"
                    | "right"
                    | "correct"
                    | "next"
                    | "on"
                    | "lgtm"
                    | "approved"
                    | "fine"
                    | "looks"
                    | "sounds"
                    | "keep"
                    | "going"
                    | "no"
                    | "n"
                    | "done"
                    | "work"
                    | "job"
                    | "well"
                    | "and"
                    | "the"
                    | "is"
                    | "a"
                    | "so"
                    | "much"
                    | "awesome"
                    | "excellent"
                    | "resume"
                    | "hi"
                    | "hello"
                    | "hey"
                    | "继续"
                    | "好的"
                    | "好"
                    | "是"
                    | "可以"
                    | "はい"
                    | "続けて"
                    | "네"
                    | "계속"
            )
        }
    })
}
