//! A sentence that settles a choice, by its form.
//!
//! Five forms settle: a verb of deciding; one thing taken against another; what is made so *and why*; the answer to a
//! choice that was offered; a named parameter that the user fixes. What is open, denied, hypothetical or the agent's next
//! step settles nothing.

mod answers;
mod cjk;
mod forms;
mod orders;
mod product;
mod report;
mod settings;

use super::super::is_cjk;
use super::constraint::must_have_been;
use super::{
    List, OBLIGES, Plain, REPORTED, STATES, contains_any, has_word, is_imperative, starts_with_any, words,
};
use crate::facts::Author;
pub(in crate::facts) use answers::{Offer, only_answers};
use answers::{alternatives, answers, is_fragment, is_named, is_option};
use cjk::chooses_cjk;
use forms::{
    CONTRAST, DECIDED, MAKES, NEAR_CONTRAST, PARTICIPLE, PLACED, REASON, STEPPING, USER_CHOICE, VERDICT,
};
pub(super) use forms::{
    CONTRAST_HINTS, DECIDED_HINTS, DEFAULT_HINTS, PARTICIPLE_HINTS, PERSON_HINTS, PLACED_HINTS, REASON_HINTS,
    USER_CHOICE_HINTS, VERDICT_HINTS,
};
use orders::{obliges_why_foreign, orders_why, takes_not};
pub(super) use product::FOREIGN_WHY;
use product::{RUNNING, contrasts_work, designed, made_foreign, made_so, used_against};
use regex::Captures;
pub(in crate::facts) use report::{is_report, may_report};
use settings::fixes_parameter;
pub(in crate::facts) use settings::sets_listed;
use std::ops::Range;

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
        && !(plain.says(List::Unsettled) && contains_any(before_ground(&plain.lower), UNSETTLED))
        && chooses(plain, author, offer)
        && !(author == Author::Agent && (finds(plain) || plain.lower.contains(" b) ")))
        // "We could use X, but it came late, so it is out": the verdict stands.
        && !(plain.is_open() && (sentence.ends_with(['?', '？']) || !has_verdict(plain)))
        && !(plain.says(List::Reported) && contains_any(claim(&plain.lower), REPORTED))
}

/// Phrases of what the agent found, or of what could be done.
pub(super) const FINDS: &[&str] = &["the issue is", "the problem is", "the reason is"];

/// Tells the agent what it found or what could be done, rather than what is made so?
fn finds(plain: &Plain<'_>) -> bool {
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
    let bare = plain.lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    plain.says(List::Finds) || starts_with_any(bare, OPENINGS)
}

/// A sentence up to why: what would come otherwise stands open there, the choice does not.
fn before_ground(lower: &str) -> &str {
    let joint = if told_ground(lower) { ": " } else { " because " };
    lower.split_once(joint).map_or(lower, |(claim, _)| claim)
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
            || lower.contains("'d rather ") && lower.contains(" than ")
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
            || plain.says(List::Foreign) && obliges_why_foreign(lower)
            || takes_not(plain)
            || offer.is_some_and(|offer| {
                answers(lower, offer.text)
                    || offer.first && is_fragment(lower, offer.text) && alternatives(offer.text)
            })
            || (placed()
                || plain.says(List::Reason)
                    && reason(plain).is_some_and(|(at, _)| has_word(lower.get(..at).unwrap_or(""), OBLIGES))
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
            || made_foreign(plain)
            || used_against(plain, against)
            || against.is_some() && is_imperative(lower)
            || placed()
                && explains(lower)
                && !words(lower).next().is_some_and(|first| {
                    first.ends_with("ing") || matches!(first, "next" | "now" | "it" | "so" | "yes" | "no")
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
    // "I kept the synchronous client: the other would touch 40 places."
    (told_ground(lower) || makes_why(plain, against))
        && !contains_any(
            lower,
            &[
                "'ll first ",
                " first so ",
                " first, so ",
                " first, then ",
                ", so if ",
                " the command finish",
                " to get ",
                "so i can see",
                "so i can check",
                "so that i can ",
                "so i know",
                "so we know",
                "so we can see",
                " to find out ",
            ],
        )
}

/// The verb of a change before its reason, or after ", so".
fn makes_why(plain: &Plain<'_>, against: Option<usize>) -> bool {
    let lower = plain.lower.as_str();
    let why = reason(plain).map(|(at, why)| {
        let result = why.rsplit_once("so ").map_or("", |(_, word)| word);
        (at, matches!(result, "i" | "we" | "i'll" | "we'll" | "i've" | "we've"))
    });
    let against = against.map(|at| (at, false));
    let Some((reason, so)) = why.into_iter().chain(against).min() else { return false };
    MAKES.as_ref().is_some_and(|makes| {
        makes.find_iter(lower).any(|subject| {
            // The pattern ends with the verb, behind a blank.
            let verb = subject.as_str().rsplit(' ').next().unwrap_or("");
            let stem_of = stem(verb);
            let made = verb == "wrote" && against.is_some()
                || !STEPPING.contains(&verb) && (stem_of == "not" || !STEPPING.contains(&stem_of));
            let doing = verb.ends_with("ing")
                && !matches!(stem(verb), "keep" | "leav" | "treat" | "skip" | "go" | "stick" | "dropp");
            // "Since they may come twice, I keep the first."
            let leads = reason == 0 && lower.find(',').is_some_and(|comma| comma < subject.start());
            // "So I don't stop the wrong one" tells what a step is for.
            let spared = subject.start() > reason && contains_any(subject.as_str(), &["n't ", " not "]);
            made && !doing && !spared && (subject.start() < reason || so || leads)
        })
    })
}

/// "I kept X: the other would ...": what was made, and after a colon a clause that says why.
fn told_ground(lower: &str) -> bool {
    const MADE: &[&str] = &[
        "i kept ",
        "i left ",
        "i chose ",
        "i dropped ",
        "i stayed with ",
        "i put ",
        "i moved ",
        "i took ",
        "i used ",
        "i set ",
        "i made ",
        "i went with ",
        "i replaced ",
        "i removed ",
        "i split ",
        "i merged ",
        "i pinned ",
        "i skipped ",
        "i reused ",
        "i preferred ",
        "i avoided ",
    ];
    starts_with_any(lower, MADE)
        && lower
            .split_once(": ")
            .is_some_and(|(_, ground)| words(ground).count() >= 4 && has_word(ground, STATES))
}

/// Where the sentence gives its reason, and the words that open it. Several rules ask; it is looked for once.
fn reason<'p>(plain: &'p Plain<'_>) -> Option<(usize, &'p str)> {
    if !plain.says(List::Reason) {
        return None;
    }
    let lower = plain.lower.as_str();
    let (at, opening) = plain.reason.get_or_init(|| find_reason(lower)).clone()?;
    Some((at, lower.get(opening)?))
}

/// The place of a reason, and the bytes of what opens it. "So far", "as expected" open none.
fn find_reason(lower: &str) -> Option<(usize, Range<usize>)> {
    let pattern = REASON.as_ref()?;
    pattern.find_iter(lower).find_map(|whole| {
        // Where nothing is to be told of its parts, the whole is found faster.
        let parts = whole.as_str().contains(" so ") || whole.as_str().starts_with(", as ");
        let parts = if parts { pattern.captures_at(lower, whole.start()) } else { None };
        let part = |number| parts.as_ref().and_then(|parts| parts.get(number));
        let (before, so, as_word) = (part(1), part(2), part(3));
        let word = so.or(as_word).map_or("", |it| it.as_str().trim_end_matches('.'));
        if so.is_some() && NO_RESULT.contains(&word)
            || so.is_some()
                && !whole.as_str().contains(", so")
                && before.is_some_and(|it| BEFORE_SO.contains(&it.as_str()))
            || as_word.is_some() && NO_GROUND.contains(&word)
            || is_temporal(whole.as_str(), lower.get(whole.start()..).unwrap_or(""))
        {
            return None;
        }
        Some((before.map_or(whole.start(), |it| it.end()), whole.range()))
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
    near_contrast(&plain.lower).unwrap_or_else(|Doubtful| contrast_of_any_letters(&plain.lower))
}

pub(super) fn contrast_of_any_letters(lower: &str) -> Option<usize> {
    let found = CONTRAST.as_ref()?.captures_iter(lower).find(|found| !is_loose(found))?;
    Some(found.get_match().start())
}

/// A match holds a character of which only [`CONTRAST`] knows whether it is a letter.
#[derive(Debug)]
pub(super) struct Doubtful;

/// The same by the smaller pattern, unless that is doubtful.
pub(super) fn near_contrast(lower: &str) -> Result<Option<usize>, Doubtful> {
    let is_doubtful = |c: char| !c.is_ascii() && !c.is_alphabetic();
    for found in NEAR_CONTRAST.as_ref().ok_or(Doubtful)?.captures_iter(lower) {
        if found.get_match().as_str().contains(is_doubtful) {
            return Err(Doubtful);
        }
        if !is_loose(&found) {
            return Ok(Some(found.get_match().start()));
        }
    }
    Ok(None)
}

/// What stands behind ", not" is no thing.
fn is_loose(found: &Captures<'_>) -> bool {
    found.get(1).is_some_and(|word| {
        matches!(
            word.as_str(),
            "just" | "only" | "yet" | "something" | "sure" | "so" | "because" | "to" | "even" | "that"
        )
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
    " search for",
    " search the",
    " search in ",
    " search through",
    " search across",
    " searching",
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
        (List::Contrast, &NEAR_CONTRAST),
        (List::UserChoice, &USER_CHOICE),
        (List::Reason, &REASON),
        (List::Placed, &PLACED),
        (List::Default, &forms::DEFAULT),
        (List::Person, &MAKES),
    ]
}
