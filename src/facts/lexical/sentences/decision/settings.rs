//! A named parameter that the user fixes.

use super::super::super::values;
use super::super::{List, Plain, STATES, contains_any, has_word, is_imperative, starts_with_any, words};
use super::forms::{DEFAULT, SETTING};
use super::product::RUNNING;

/// Orders in German, French, Spanish and Portuguese that give something a number.
const FOREIGN_SETS: &[&str] = &[
    "setz", "setze", "setzt", "stell", "stelle", "erhöh", "erhöhe", "senk", "senke", "begrenz", "begrenze",
    "ändere", "änder", "mach", "mache", "bitte", "mets", "mettez", "mettre", "passe", "passez", "passer",
    "monte", "montez", "baisse", "baissez", "fixe", "fixez", "limite", "limitez", "règle", "sube", "baja",
    "pon", "ponga", "cambia", "ajusta", "fija", "limita", "aumenta", "reduce", "subir", "bajar", "deja",
    "muda", "mude", "aumente", "coloca", "defina",
];

/// "Sube el máximo de réplicas a 12", "setz das Limit auf 5".
fn sets_foreign(lower: &str) -> bool {
    [" a ", " à ", " auf ", " para ", " en ", " em "].iter().any(|joint| {
        lower.match_indices(joint).any(|(at, _)| {
            lower.get(at + joint.len()..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        })
    }) && has_word(lower, FOREIGN_SETS)
}

/// The user fixes a named parameter: "use 15 minutes as the cap", "TTL 60 s", "make it 5", "and base delay 2 s, because".
pub(super) fn fixes_parameter(plain: &Plain<'_>) -> bool {
    const ORDERS: &[&str] = &[
        "do ",
        "make it ",
        "make that ",
        "set it to ",
        "let it be ",
        "change it to ",
        "use ",
        "take ",
        "debounce by ",
        "throttle to ",
        "clamp to ",
        "clamp at ",
        "round to ",
        "retry ",
        "poll every ",
        "wait ",
        "sleep ",
        "go for ",
    ];
    if plain.has_form(List::Default, &DEFAULT) && plain.directs() {
        return true;
    }
    if !plain.lower.bytes().any(|b| b.is_ascii_digit()) {
        return false;
    }
    // "CRC: use the reflected polynomial", "480 cycles from now on".
    if lower_setting(plain) || sets_foreign(&plain.lower) {
        return true;
    }
    let made = plain.clauses().any(|clause| {
        let first = clause.bytes().next();
        ORDERS.iter().filter(|order| order.bytes().next() == first).any(|order| {
            clause.strip_prefix(order).is_some_and(|rest| {
                // "Do 2 first": an item of a list.
                let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                after.len() < rest.len()
                    && (*order != "do " || after.is_empty() || after.starts_with(['.', ',']))
            })
        })
    });
    let set = SETTING.as_ref().is_some_and(|rule| plain.clauses().any(|clause| rule.is_match(clause)));
    if made || set {
        return true;
    }
    let imperative = plain.heads().any(is_imperative);
    // "Results must agree within 1 %", "must not be read as records of length 0": rules for what comes out.
    let ruled = !imperative
        && (contains_any(&plain.lower, &["must not", "mustn't", "should not", "shouldn't"])
            || has_word(&plain.lower, &["agree", "match", "differ", "fit"]));
    if ruled && plain.obliges() {
        return false;
    }
    let told = imperative || plain.obliges();
    if told && plain.lower.contains(" by default") || imperative && contains_any(&plain.lower, RHYTHMS) {
        return true;
    }
    values::find(plain.sentence).iter().any(|value| {
        let Some(key) = &value.key else {
            return told
                && !value.number.unit.is_empty()
                && (has_word(&plain.lower, values::PARAMETERS) || has_word(&plain.lower, BOUNDS));
        };
        let stated = ["has", "had", "was", "were", "took", "takes"];
        // Without an order, only a phrase of its own names what is to be: no verb up to the number, no `key: 5`.
        let key = key.to_lowercase();
        let clause =
            plain.lower.split([',', ';', '，', '；']).find(|clause| clause.contains(&key)).unwrap_or("");
        if told {
            return !has_word(clause, &stated);
        }
        // With a full stop `key: 5` is said by somebody, not copied from a list.
        let listed =
            clause.contains(&format!("{key}:")) && (!plain.sentence.trim_end().ends_with(['.', '。', '!']));
        !has_word(clause, STATES)
            && !listed
            && !clause.contains(['=', '是'])
            && !plain.lower.contains(", but ")
    }) || plain.is_elliptical() && is_setting(plain)
}

/// How often something is to happen.
const RHYTHMS: &[&str] = &[
    " once per ",
    " once a ",
    " once an ",
    " twice a ",
    " every hour",
    " every minute",
    " every second",
    " every day",
    " every night",
    " every week",
];

/// "CRC: use the reflected one", "sampling time 480 cycles from now on".
fn lower_setting(plain: &Plain<'_>) -> bool {
    let lower = plain.lower.as_str();
    let named = lower.split_once(": ").is_some_and(|(name, rest)| {
        (1..=4).contains(&words(name).count()) && starts_with_any(rest, &["use ", "take ", "go with "])
    });
    named || lower.contains(" from now on") && !has_word(lower, STATES)
}

/// The settings that an order lists, one a line: "lr: 2e-4".
pub(in crate::facts) fn sets_listed(plain: &Plain<'_>) -> bool {
    let lower = plain.lower.as_str();
    !plain.data
        && lower.split_once([':', '=']).is_some_and(|(key, rest)| {
            (1..=3).contains(&words(key).count())
                && rest.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.')
                && words(rest).count() <= 4
        })
        && !values::find(plain.sentence).is_empty()
}

/// A phrase without a verb that is or holds a setting: "1 KB, to be safe", "row groups of 64 MB", "exit code 3 when none
/// matched". Not what tells how a run went.
fn is_setting(plain: &Plain<'_>) -> bool {
    let lower = plain.lower.as_str();
    let first = words(lower).next().unwrap_or("");
    if matches!(
        first,
        "took"
            | "still"
            | "now"
            | "got"
            | "only"
            | "after"
            | "just"
            | "about"
            | "around"
            | "roughly"
            | "hm"
            | "and"
            | "it"
            | "almost"
            | "nearly"
            | "over"
            | "under"
            | "every"
            | "each"
            | "all"
            | "since"
    ) || has_word(lower, RUNNING)
    {
        return false;
    }
    let begins = lower.starts_with(|c: char| c.is_ascii_digit());
    values::find(plain.sentence).iter().any(|value| {
        let unit = !value.number.unit.is_empty();
        if value.phrases.first().is_some_and(|phrase| phrase.to_ascii_lowercase().starts_with("default")) {
            return true;
        }
        if !value.phrases.is_empty() && value.key.is_none() && !unit {
            return contains_any(lower, &[" when ", " if ", " for ", " on "]);
        }
        let of = lower.match_indices(" of ").any(|(at, joint)| {
            lower.get(at + joint.len()..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        });
        let bound = of || has_word(lower, &["max", "min", "maximum", "minimum", "default"]);
        unit && (begins || bound && !has_word(lower, &["after"]))
    })
}

/// Words that make the number after them a setting.
const BOUNDS: &[&str] = &[
    "most", "least", "every", "max", "min", "capped", "limited", "up", "within", "after", "per", "steps",
    "chunks", "blocks", "batches",
];
