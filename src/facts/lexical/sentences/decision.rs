//! A sentence that settles a choice, by its form.
//!
//! Five forms settle: a verb of deciding; one thing taken against another; what is made so *and why*; the answer to a
//! choice that was offered; a named parameter that the user fixes. What is open, denied, hypothetical or the agent's next
//! step settles nothing.

mod answers;
mod forms;
mod product;
mod report;

use super::super::{is_cjk, values};
use super::constraint::must_have_been;
use super::{
    List, OBLIGES, Plain, REPORTED, STATES, contains_any, has_word, is_imperative, starts_with_any, words,
};
use crate::facts::Author;
pub(in crate::facts) use answers::{Offer, only_answers};
use answers::{alternatives, answers, is_fragment, is_named, is_option};
use forms::{
    CONTRAST, DECIDED, DEFAULT, MAKES, PARTICIPLE, PLACED, REASON, SETTING, STEPPING, USER_CHOICE, VERDICT,
};
pub(super) use forms::{
    CONTRAST_HINTS, DECIDED_HINTS, DEFAULT_HINTS, PARTICIPLE_HINTS, PERSON_HINTS, PLACED_HINTS, REASON_HINTS,
    USER_CHOICE_HINTS, VERDICT_HINTS,
};
use product::{RUNNING, contrasts_work, designed, made_foreign, made_so, used_against};
pub(in crate::facts) use report::{is_report, may_report};

/// Settles the sentence a choice? `offer`: where it is one of the first after a question of the other side, that.
pub(in crate::facts) fn is_decision(plain: &Plain<'_>, author: Author, offer: Option<Offer<'_>>) -> bool {
    let sentence = plain.sentence;
    // An option by its letter or number is short.
    if author == Author::User
        && offer.is_some_and(|offer| {
            is_option(&plain.lower)
                || offer.first
                    && sentence.len() < 5
                    && is_named(&plain.lower, offer.text)
                    && alternatives(offer.text)
        })
    {
        return true;
    }
    // What speaks for a decision is rare; what speaks against one is looked for only then.
    plain.fits()
        && !plain.says(List::Unsettled)
        && !(author == Author::Agent && (finds(&plain.lower) || plain.lower.contains(" b) ")))
        && chooses(plain, author, offer)
        // "We could use X, but it came late, so it is out": the verdict stands.
        && !(plain.is_open() && (sentence.ends_with(['?', '？']) || !has_verdict(plain)))
        && !(plain.says(List::Reported) && contains_any(claim(&plain.lower), REPORTED))
}

/// Tells the agent what it found or what could be done, rather than what is made so?
fn finds(lower: &str) -> bool {
    const OPENINGS: &[&str] = &[
        "wait",
        "actually, looking",
        "looking at",
        "ok so ",
        "okay, so ",
        "so the ",
        "the issue",
        "the problem",
        "the reason",
        "the error",
        "symptom",
        "root cause",
        "worst case",
        "worse,",
        "option ",
        "there's also",
        "there is also",
        "you can",
        "it has ",
        "at that point",
        "at this point",
        "given the",
        "subsequent ",
        "this ensures",
        "this means",
        "that means",
        "consider ",
    ];
    let bare = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    starts_with_any(bare, OPENINGS)
        || contains_any(lower, &["the issue is", "the problem is", "the reason is"])
}

/// A sentence without its reason: who says what there does not matter for the choice.
fn claim(lower: &str) -> &str {
    let reason = [" because ", " since "].iter().filter_map(|joint| lower.find(joint)).min();
    let claim = reason.and_then(|at| lower.get(..at)).unwrap_or(lower);
    // "It only warns, so I'll add a check": the reason stands first.
    claim.split_once(", so ").map_or(claim, |(_, claim)| claim)
}

/// Orders in German, French and Spanish that take something.
const FOREIGN_ORDERS: &[&str] = &[
    "nimm", "nehmt", "nutze", "nutz", "verwende", "benutze", "setze", "mach", "mache", "lass", "leg", "lege",
    "schreib", "bitte", "utilise", "utilisez", "prends", "prenez", "mets", "mettez", "garde", "gardez",
    "fais", "usa", "usad", "use", "utiliza", "pon", "haz", "deja", "mantén", "toma", "guarda",
];

/// The words and forms of a choice.
fn chooses(plain: &Plain<'_>, author: Author, offer: Option<Offer<'_>>) -> bool {
    let lower = plain.lower.as_str();
    let sentence = plain.sentence;
    if !sentence.is_ascii() && sentence.chars().any(is_cjk) && chooses_cjk(sentence, author) {
        return true;
    }
    let participle = || plain.says(List::Participle) && own_participle(lower);
    if plain.has_form(List::Decided, &DECIDED) || has_verdict(plain) || participle() {
        return author == Author::User || !plain.says(List::Steps);
    }
    let placed = || plain.has_form(List::Placed, &PLACED);
    if author == Author::User {
        proposes(plain)
            || plain.says(List::Lifting)
            || !lower.ends_with(':')
                && contrast(plain).is_some_and(|at| {
                    // "The budget is 165 kB, not 180" corrects; of other things only an order takes one against another.
                    plain.directs()
                        || has_word(lower, FOREIGN_ORDERS)
                        || lower.get(at..).is_some_and(|rest| {
                            rest.trim_start_matches(|c: char| !c.is_alphanumeric())
                                .strip_prefix("not ")
                                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
                        })
                })
            || fixes_parameter(plain)
            || orders_why(plain)
            || takes_not(plain)
            || offer.is_some_and(|offer| {
                answers(lower, offer.text)
                    || offer.first && is_fragment(lower, offer.text) && alternatives(offer.text)
            })
            || (placed()
                || plain.says(List::Reason)
                    && reason(lower).is_some_and(|(at, _)| has_word(lower.get(..at).unwrap_or(""), OBLIGES))
                    && !plain.says(List::Report)
                    && !must_have_been(lower))
                && explains(lower)
            || made_so(plain, None)
            || !lower.starts_with("i ")
                && makes(plain, None)
                && !has_word(lower, RUNNING)
                && !plain.says(List::Asks)
    } else {
        let against = if plain.says(List::Steps) { None } else { contrast(plain) };
        makes(plain, against)
            || made_so(plain, against)
            || against.is_some() && contrasts_work(lower)
            || designed(plain)
            || made_foreign(lower)
            || used_against(plain, against)
            || against.is_some() && is_imperative(lower)
            || placed()
                && explains(lower)
                && !words(lower).next().is_some_and(|first| {
                    first.ends_with("ing") || matches!(first, "next" | "now" | "it" | "so")
                })
                && !has_word(lower, &["i'm", "i'll", "waiting", "checking", "time"])
            || plain.says(List::Obliges) && lower.contains(" should ") && lower.contains(" so that ")
    }
}

fn has_verdict(plain: &Plain<'_>) -> bool {
    plain.says(List::Verdict)
        && VERDICT.as_ref().is_some_and(|verdict| {
            verdict.captures_iter(&plain.lower).any(|found| {
                // "As it is", "that it is".
                found.get(1).is_none_or(|it| !NO_VERDICT.contains(&it.as_str()))
            })
        })
}

/// Words before "it is" that make it no verdict.
const NO_VERDICT: &[&str] = &[
    "as", "what", "how", "that", "where", "because", "since", "when", "if", "but", "now", "way", "than",
    "like", "whatever", "which", "while", "whether", "i", "think", "hope", "however", "no", "unless",
    "until", "though", "here", "there", "maybe", "or", "why", "who", "all",
];

/// Does the agent, in the first person, change the work, and say why or against what? The verb stands before the reason,
/// or after ", so". What it is doing at the moment ("I'm moving it") is a step.
/// `against`: where one thing is taken against another.
fn makes(plain: &Plain<'_>, against: Option<usize>) -> bool {
    if !plain.says(List::Person) || plain.says(List::Steps) {
        return false;
    }
    let lower = plain.lower.as_str();
    if contains_any(
        lower,
        &[
            "'ll first ",
            " first so ",
            " first, so ",
            " first, then ",
            ", so if ",
            " the command finish",
            " to get ",
        ],
    ) {
        return false;
    }
    let why = plain.says(List::Reason).then(|| reason(lower)).flatten().map(|(at, why)| {
        let result = why.rsplit_once("so ").map_or("", |(_, word)| word);
        (at, matches!(result, "i" | "we" | "i'll" | "we'll" | "i've" | "we've"))
    });
    let against = against.map(|at| (at, false));
    let Some((reason, so)) = why.into_iter().chain(against).min() else { return false };
    MAKES.as_ref().is_some_and(|makes| {
        makes.captures_iter(lower).any(|found| {
            let (Some(subject), Some(verb)) = (found.get(0), found.get(1)) else { return false };
            let stem_of = stem(verb.as_str());
            let made =
                !STEPPING.contains(&verb.as_str()) && (stem_of == "not" || !STEPPING.contains(&stem_of));
            let doing = verb.as_str().ends_with("ing")
                && !matches!(
                    stem(verb.as_str()),
                    "keep" | "leav" | "treat" | "skip" | "go" | "stick" | "dropp"
                );
            // "Since they may come twice, I keep the first."
            let leads = reason == 0 && lower.find(',').is_some_and(|comma| comma < subject.start());
            // "So I don't stop the wrong one" tells what a step is for.
            let spared = subject.start() > reason && contains_any(subject.as_str(), &["n't ", " not "]);
            made && !doing && !spared && (subject.start() < reason || so || leads)
        })
    })
}

/// Where the sentence gives its reason, and the words that open it. "So far", "as expected" open none.
fn reason(lower: &str) -> Option<(usize, &str)> {
    REASON.as_ref()?.captures_iter(lower).find_map(|found| {
        let (before, so, as_word) = (found.get(1), found.get(2), found.get(3));
        let word = so.or(as_word).map_or("", |it| it.as_str().trim_end_matches('.'));
        if so.is_some() && NO_RESULT.contains(&word)
            || so.is_some()
                && !found.get(0).is_some_and(|it| it.as_str().contains(", so"))
                && before.is_some_and(|it| BEFORE_SO.contains(&it.as_str()))
            || as_word.is_some() && NO_GROUND.contains(&word)
            || found.get(0).is_some_and(|it| is_temporal(it.as_str(), lower.get(it.start()..).unwrap_or("")))
        {
            return None;
        }
        let whole = found.get(0)?;
        Some((before.map_or(whole.start(), |it| it.end()), whole.as_str()))
    })
}

/// "Since the merger": tells from when, no verb follows.
fn is_temporal(opening: &str, rest: &str) -> bool {
    opening.trim_start_matches([',', ' ']).starts_with("since the")
        && words(
            rest.trim_start_matches([',', ' ']).split([',', '.', ';', ':', '(', ')']).next().unwrap_or(""),
        )
        .count()
            <= 3
}

/// Words after "so" that make it a degree.
const NO_RESULT: &[&str] = &[
    "far", "much", "many", "long", "forth", "called", "often", "few", "little", "soon", "is", "are", "was",
    "were", "does", "did", "do", "to", "well", "badly", "easily", "slow", "slowly", "fast", "big", "small",
    "good", "bad", "sure", "sorry", "please", "yes", "since", "what", "why", "how", "which", "again", "now",
];

/// Words before "so" that make it no joint.
const BEFORE_SO: &[&str] = &[
    "or", "not", "do", "does", "did", "is", "was", "are", "were", "if", "even", "just", "ever", "why",
    "think", "say", "said", "hope", "done", "and", "be", "been", "quite", "only", "doing", "more", "less",
    "it's", "isn't",
];

/// Words after ", as" that give no reason.
const NO_GROUND: &[&str] = &[
    "well",
    "if",
    "though",
    "expected",
    "usual",
    "always",
    "before",
    "planned",
    "requested",
    "discussed",
    "is",
    "are",
    "of",
    "soon",
    "long",
    "far",
    "much",
    "many",
    "opposed",
    "agreed",
    "intended",
    "feared",
    "said",
    "described",
    "documented",
    "shown",
    "you",
    "i",
    "to",
    "for",
    "promised",
    "asked",
    "always,",
    "before,",
];

/// Where one thing is taken against another: "instead of", "rather than", ", not". Not ", not just", ", not yet".
fn contrast(plain: &Plain<'_>) -> Option<usize> {
    if !plain.says(List::Contrast) {
        return None;
    }
    CONTRAST.as_ref()?.captures_iter(&plain.lower).find_map(|found| {
        let loose = found.get(1).is_some_and(|word| {
            matches!(
                word.as_str(),
                "just" | "only" | "yet" | "something" | "sure" | "so" | "because" | "to" | "even" | "that"
            )
        });
        (!loose).then(|| found.get(0).map(|it| it.start())).flatten()
    })
}

/// "Let's keep it": what the user says the two do. Looking and trying settle nothing.
fn proposes(plain: &Plain<'_>) -> bool {
    plain.says(List::UserChoice)
        && USER_CHOICE
            .as_ref()
            .and_then(|rule| rule.captures(&plain.lower))
            .and_then(|found| found.get(1))
            .is_some_and(|verb| {
                !matches!(
                    verb.as_str(),
                    "see"
                        | "say"
                        | "hope"
                        | "look"
                        | "check"
                        | "find"
                        | "try"
                        | "discuss"
                        | "talk"
                        | "think"
                        | "start"
                        | "begin"
                        | "continue"
                        | "be"
                        | "not"
                        | "know"
                        | "wait"
                        | "assume"
                        | "suppose"
                        | "need"
                        | "have"
                        | "get"
                        | "proceed"
                        | "test"
                        | "debug"
                        | "investigate"
                        | "review"
                        | "figure"
                        | "fix"
                        | "run"
                        | "read"
                        | "go"
                        | "also"
                        | "now"
                        | "first"
                )
            })
}

/// Gives a reason at all. "As it is" gives none.
fn explains(lower: &str) -> bool {
    has_word(lower, &["because", "since", "so"])
        || has_word(lower, &["as"])
            && !contains_any(lower, &["as it is", "as they are", "as is", "as before", "as well", "as for "])
}

/// A verb without its ending.
fn stem(verb: &str) -> &str {
    let long = |stem: &&str| stem.len() >= 2;
    let cut = |ending: &str| verb.strip_suffix(ending).filter(long);
    cut("ing")
        .or_else(|| cut("ied"))
        .or_else(|| cut("ed"))
        .or_else(|| cut("es"))
        .or_else(|| cut("s"))
        .or_else(|| cut("e"))
        .unwrap_or(verb)
}

/// Phrases of the agent's next step, or of how it works with its tools.
pub(super) const STEPS: &[&str] = &[
    "let me",
    "next i'",
    "next, i'",
    "the read tool",
    "the edit tool",
    "the write tool",
    "the bash",
    " tool ",
    "grep",
    " sed ",
    "search",
    "a different approach",
    "read the",
    "look at",
    "take a look",
    "check the",
    "check whether",
    " try again",
    "keep waiting",
    "avoid touching",
    "going to confirm",
    "run the",
    "sub-agent",
    "subagent",
    "start with",
    "start by",
    " workflow",
    " skill",
    "worktree",
    "monitoring",
    " my list",
];

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
fn orders_why(plain: &Plain<'_>) -> bool {
    if !plain.says(List::Reason) {
        return false;
    }
    let lower = plain.lower.as_str();
    let Some((at, _)) = reason(lower) else { return false };
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

/// "Return an error, don't panic": an order against another way.
fn takes_not(plain: &Plain<'_>) -> bool {
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
fn fixes_parameter(plain: &Plain<'_>) -> bool {
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
    let made = [
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
    ]
    .into_iter()
    .any(|order| {
        plain.clauses().any(|clause| {
            clause.strip_prefix(order).is_some_and(|rest| {
                // "Do 2 first": an item of a list.
                let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                after.len() < rest.len()
                    && (order != "do " || after.is_empty() || after.starts_with(['.', ',']))
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

fn chooses_cjk(sentence: &str, author: Author) -> bool {
    contains_any(
        sentence,
        &[
            "决定用",
            "选用",
            "我选",
            "就按",
            "选方案",
            "用方案",
            "でいきま",
            "で行きま",
            "使いましょう",
            "にしましょう",
            "を採用",
            "로 하자",
            "로 가자",
            "로 하겠",
            "就选",
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
            "ことにし",
            "に設定し",
            "を選び",
            "を選択し",
            "に決定",
            "決定です",
            "로 결정",
            "하기로 했",
        ],
    ) || takes_cjk(sentence, author)
}

/// The forms of a choice in Chinese and Japanese: one thing against another, a parameter fixed, a reason given.
fn takes_cjk(sentence: &str, author: Author) -> bool {
    let user = author == Author::User;
    let has = |list: &[&str]| contains_any(sentence, list);
    let against = (user || has(&["我", "现在", "改", "选", "采用", "にし", "使っ", "使い"]))
        && has(&["而不是", ",不是", ",不要", ",先不", "ではなく", "せず、", "せず,"]);
    let fixed =
        user && has(&[
            "改成",
            "改为",
            "默认",
            "既定値",
            "上限",
            "封顶",
            "最多",
            "超时",
            "每次",
            "设为",
            "设成",
            "设置为",
            "定为",
            "用 ",
            "时间：",
            "时间:",
            "阈值",
            "最大",
            "最小",
            "にして",
            "に設定",
            "タイムアウト",
            "間隔",
        ]) && (has(&["改成", "改为", "设为", "设成"]) || !has(&["现在是", "了 ", "目前"]))
            && has_number(sentence);
    let reason = has(&["因为", "以便", "这样", "所以", "以免", "免得", "为了", "避免", "ため", "ので"])
        || !user && has(&["ように"]);
    let made = has(&[
        "我把",
        "我用",
        "我将",
        "我会",
        "我改",
        "我加",
        "我保留",
        "我只",
        "我让",
        "我在",
        "加入了",
        "改用",
        "采用",
        "设为",
        "改成了",
        "换成了",
        "移到了",
        "拆成了",
        "合并成",
        "去掉了",
        "に変え",
        "に移し",
        "不用在",
        "にしました",
        "にしておきます",
    ]) || user && has(&["ないで", "してください", "にして"]);
    // ので and its like before the verb that makes: "一度だけ読み、引数で渡します。"
    let told = !user
        && has(&["ので、", "ため、", "ように、"])
        && has(&["ます。", "ました。"])
        && !has(&[
            "失敗",
            "エラー",
            "落ち",
            "なります",
            "ています",
            "やり直",
            "ません",
            "壊れ",
            "確認",
            "調べ",
            "実行し",
            "見ます",
            "思い",
        ]);
    against || fixed || reason && made || told
}

/// A number that is no piece of a name.
fn has_number(sentence: &str) -> bool {
    let bytes = sentence.as_bytes();
    bytes.iter().enumerate().any(|(at, byte)| {
        byte.is_ascii_digit()
            && !at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(u8::is_ascii_alphanumeric)
    })
}

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
/// Phrases that say that nothing is settled yet, or not here.
pub(super) const UNSETTLED: &[&str] = &[
    "no idea",
    "nothing was decided",
    "nothing has been decided",
    "nothing is decided",
    "not decided",
    "nicht entschieden",
    "nicht beschlossen",
    "pas décidé",
    "no hemos decidido",
    "nada está",
    "rien n'est",
    "nichts ist",
    "não decidimos",
    "haven't decided",
    "have not decided",
    "hasn't decided",
    "not been decided",
    "undecided",
    "lean to",
    "leaning to",
    "lean towards",
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
];

/// The patterns, each with the list whose phrases it cannot match without.
#[cfg(test)]
pub(super) fn forms() -> Vec<(List, &'static super::super::LazyLock<Option<super::super::Regex>>)> {
    vec![
        (List::Decided, &DECIDED),
        (List::Participle, &PARTICIPLE),
        (List::Verdict, &VERDICT),
        (List::Contrast, &CONTRAST),
        (List::UserChoice, &USER_CHOICE),
        (List::Reason, &REASON),
        (List::Placed, &PLACED),
        (List::Default, &DEFAULT),
        (List::Person, &MAKES),
    ]
}
