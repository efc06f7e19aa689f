//! A sentence that settles a choice, by its form.
//!
//! Five forms settle: a verb of deciding; one thing taken against another; what is made so *and why*; the answer to a
//! choice that was offered; a named parameter that the user fixes. What is open, denied, hypothetical or the agent's next
//! step settles nothing.

use super::super::{LazyLock, Regex, is_cjk, pattern, values};
use super::{
    List, OBLIGES, Plain, REPORTED, STATES, contains_any, has_word, is_imperative, starts_with_any, words,
};
use crate::facts::Author;

const DECIDED_FORM: &str = r"\b(?:(?:i|we)(?:'ve)? (?:chose|choose|chosen|picked|pick (?:the|an?|option)\b|went (?:with|for)|settled|opted|agree on|landed on)\b|(?:what|which) we (?:go|stick) with\b|\bwon over\b|(?:[,;] |then |so )we(?:'ll)? (?:go|stick) with\b|chose .+ (?:over|because|instead|rather)|(?:let's|let us|we'll|i'll|we will|i will|we're|i'm|we are|i am) (?:go|going|stick|sticking|settle|settling) (?:with|for|on)\b|(?:^|[,;:.] )(?:went|going|sticking) with\b|(?:^|, |: )(?:go|stick) with\b|^i (?:go|stick) with\b|^i prefer\b|(?:^decision(?: on [^:]{2,60})?|(?:the|our|my|final|design) decision)(?: is|:| was)|final (?:decision|choice)\b|switch(?:ed|ing) (?:from .+ )?to .+ (?:because|instead|since|due)|(?:i|we)(?:'ve| have)? (?:also |then |now )?switch(?:ed)? (?:over |back |[a-z`]+ )?to\b|\b(?:i|we) (?:prefer|preferred|take|want) .+ over\b|we(?:'re| are) (?:switching|moving|migrating) to\b|let's (?:switch|move|migrate) to\b|(?:i|we)(?:'ll| will)? (?:take|took) .+ for\b|(?:entschieden|beschlossen|gewählt|décidé|choisi|opté|decidido|decidimos|decidí|elegido|elegimos|optado)\b|\b(?:wir nehmen|ich nehme|nehmen wir|wir bleiben bei|on (?:garde|prend|part sur|reste sur)|nous (?:prenons|gardons)|je (?:prends|préfère)|nos quedamos con|vamos con|prefiero|ficamos com)\b)";
const PARTICIPLE_FORM: &str =
    r"\b(?:decided|chosen|settled|agreed|opted) (?:to|on|against|that|for|in favou?r|not to|upon|not|we|i)\b";
/// "B it is", "so that one is out", "option 2, agreed".
const VERDICT_FORM: &str = r"(?:^|[,;:] )(?:(?:ok|then|so|and|fine|good|right|alright|yes|great)\b,? )*(?:option )?([\w.+/-]{1,30})(?: \w+)? it is(?:$|[.,;!])|\b(?:is|are) out(?:$|[.,;!]| whatever| then| for| until)|^(?:ok,? )?switching to \S|^(?:option \w+|\w+), agreed\b|[^s] agreed(?:$|[.!])|^agreed[,:] |^for [^,]{2,40},? it is `?[\w.-]+`?[.!]?$";
const CONTRAST_FORM: &str = r"(?:,| und) nicht (?:d(?:ie|er|as|en|em)|ein|im|in|auf|aus) |\b(?:statt|anstatt|anstelle) \S|, sondern |\b(?:au lieu de|plutôt que|en vez de|en lugar de) |\by no (?:en|el|la|los|con|por) |\bet non (?:pas )?(?:dans|le|la|les|par|sur) |\bin place of \S|(?:,| -) not (?:the |a |an )?([\w./'`-]+)| and not (?:in|on|at|by|with|from|for) \S|\bin favou?r of \S|\binstead(?: of \S|$|[.,;])|\brather than \S|\b(?:prefer(?:red)?|takes?|took|taking|cho(?:o)?se|picked|favou?r(?:ed)?) .+ over \S|^instead of |^rather than ";
const USER_CHOICE_FORM: &str =
    r"^(?:ok,? |okay,? |yes,? |then |alright,? |so )*(?:let's|let us|we'll|we will) ([a-z]+)";
const REASON_FORM: &str = r"\bbecause\b|, since \S|\bsince (?:the|it|that|this|we|they|you|i|there|no|nothing|all|both|[a-z_]+(?: [a-z_]+)? (?:is|are|was|were|has|have|does|do|can|cannot|needs?|already|only))\b|\bso that\b|([a-z0-9_'-]*)(?:,|\)|\.)? so ([a-z0-9_'.-]+)|, as ([a-z0-9_'.-]+)|\bas (?:it|the|that|this|you|they|we)\b[^,]*\b(?:is|are|was|were|has|have|does|do|needs?|lists?|says?|asked|said|wanted|would|will|can|cannot)\b|\bto (?:keep|avoid|make|let|allow|prevent|ensure|stay|match|reduce|stop|protect|support|preserve|save|not|rule out|cut|speed|free|spare|guard|hide|shrink|satisfy|simplify|fit|survive|get rid|get (?:a|an|the)|give|catch|remain|remove|bound|limit|work around|tell|leave|follow|comply|mirror|minimi[sz]e|detect|isolate|bring)\b|\b(?:damit|weil|denn|parce qu|car (?:le|la|les|il|elle|on|ce)|afin|pour (?:que|éviter|ne pas)|porque|ya que|para (?:que|evitar|no))";
/// How the product is to be, said of a part of it.
const PLACED_FORM: &str = r"\b(?:(?:goes|went) (?:in|into|next)|stays|lives in|belongs|wins)\b";
/// A default that is no number.
const DEFAULT_FORM: &str = r"\bdefaults?(?: is| to|:)? [/'.~]\S";

/// What a match of [`DECIDED_FORM`] holds one of; the lists below do the same for the other forms.
pub(super) const DECIDED_HINTS: &[&str] = &[
    "chose",
    "picked",
    "choos",
    "chosen",
    "pick ",
    "went ",
    "settl",
    "opted",
    "agree on",
    "landed on",
    "won over",
    "go with",
    "go for",
    "go on",
    "going with",
    "going for",
    "going on",
    "stick",
    "prefer",
    " over ",
    "decision",
    "final choice",
    "switch",
    "moving to",
    "migrating to",
    "let's move",
    "let's migrate",
    " take ",
    " took ",
    "entschieden",
    "beschlossen",
    "gewählt",
    "décidé",
    "choisi",
    "opté",
    "decidido",
    "decidimos",
    "decidí",
    "elegido",
    "elegimos",
    "optado",
    "wir nehmen",
    "ich nehme",
    "nehmen wir",
    "wir bleiben bei",
    "on garde",
    "on prend",
    "on part sur",
    "on reste sur",
    "nous prenons",
    "nous gardons",
    "je prends",
    "je préfère",
    "nos quedamos con",
    "vamos con",
    "prefiero",
    "ficamos com",
];
pub(super) const PARTICIPLE_HINTS: &[&str] = &["decided ", "chosen ", "settled ", "agreed ", "opted "];
pub(super) const VERDICT_HINTS: &[&str] = &[" it is", "is out", "are out", "switching to ", "agreed"];
pub(super) const CONTRAST_HINTS: &[&str] = &[
    ", not ",
    "- not ",
    "instead",
    "rather than ",
    "prefer",
    " over ",
    " and not ",
    "in favo",
    " nicht ",
    "statt ",
    "anstelle ",
    ", sondern ",
    "au lieu de",
    "plutôt que",
    "en vez de",
    "en lugar de",
    "y no ",
    "et non ",
    "in place of",
];
pub(super) const USER_CHOICE_HINTS: &[&str] = &["let's ", "let us ", "we'll ", "we will "];
pub(super) const REASON_HINTS: &[&str] = &[
    "because",
    "since ",
    "so that",
    " so ",
    "as it",
    "as th",
    "as you",
    "as we",
    "to keep",
    "to avoid",
    "to make",
    "to let",
    "to allow",
    "to prevent",
    "to ensure",
    "to stay",
    "to match",
    "to reduce",
    "to stop",
    "to protect",
    "to support",
    "to preserve",
    "to save",
    "to not",
    "to rule out",
    "to cut",
    "to speed",
    "to free",
    "to spare",
    "to guard",
    "to hide",
    "to shrink",
    "to satisfy",
    "to simplify",
    "to fit",
    "to survive",
    "to get ",
    "to give",
    "to catch",
    "to remain",
    "to remove",
    "to bound",
    "to limit",
    "to work around",
    "to tell",
    "to leave",
    "to follow",
    "to comply",
    "to mirror",
    "to minimi",
    "to detect",
    "to isolate",
    "to bring",
    ", as ",
    "damit",
    "weil",
    "denn",
    "parce qu",
    "car ",
    "afin",
    "pour ",
    "porque",
    "ya que",
    "para ",
];
pub(super) const PLACED_HINTS: &[&str] =
    &["goes in", "went in", "goes next", "went next", "stays", "lives in", "belongs", "wins"];
pub(super) const DEFAULT_HINTS: &[&str] = &["default"];
/// What a match of [`MAKES`] begins with.
pub(super) const PERSON_HINTS: &[&str] = &["i ", "i'", "we ", "we'"];

static DECIDED: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(DECIDED_FORM));
static PARTICIPLE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(PARTICIPLE_FORM));
static VERDICT: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(VERDICT_FORM));
static USER_CHOICE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(USER_CHOICE_FORM));
static PLACED: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(PLACED_FORM));
static DEFAULT: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(DEFAULT_FORM));
/// One thing against another.
static CONTRAST: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(CONTRAST_FORM));
/// Somebody of the conversation did, does or will do something to the work: person, auxiliaries, adverbs, verb.
static MAKES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\b(?:i|we)(?:'ll|'ve|'m|'re| will| have| am| are)?(?: (?:also|now|therefore|only|still|just|then|not|instead|never|always|already|both|first|again|[a-z]+ly))* (?:do not |did not |don't |didn't |won't |will not )?([a-z]+)\b",
    )
});
/// An order that gives something a number: "make the wait 800 ms", "raise it to 8", "keep keys for 24 hours".
static SETTING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^(?:make|set|give|raise|lower|increase|reduce|cut|bump|cap|limit|keep|debounce|throttle|clamp|poll|round|drop|extend|shorten)\b(?: [a-z_]+){1,4}? (?:to |at |for |by |every )?[0-9]+ ?(?:ms|s|sec|seconds|m|min|minutes|h|hours|d|days|kb|mb|gb|kib|mib|%|px|attempts|retries)\b",
    )
});
/// The product is made otherwise, by nobody named: "was moved to", "got a label", "became", "is a newtype now".
static MADE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\b(?:was|were|got|been) (?:(?:[a-z]+ly|also|now|therefore|only|just) )?(?:added|batched|bumped|cached|capped|changed|collapsed|converted|deduplicated|deferred|delayed|disabled|downgraded|dropped|enabled|excluded|exposed|extracted|folded|gated|generated|guarded|hidden|hoisted|increased|inlined|introduced|kept|left|limited|loosened|lowered|made|merged|moved|narrowed|pinned|pulled|put|raised|reduced|relaxed|removed|renamed|reordered|replaced|restricted|reverted|rewritten|rounded|scoped|set|shortened|split|stored|swapped|switched|taken out|tightened|turned (?:on|off|into)|upgraded|widened|wrapped|written)\b|\b(?:was|were|got|been) (?:(?:[a-z]+ly|also|now|therefore|only|just) )?(?:re|un|de)?[a-z]+(?:ed|ewritten|ebuilt)\b|\b(?:is|are) gone\b|\bgot (?:an?|its|their) \S|\b(?:became|ended up|moved (?:to|into|out|up|down|from)|stays? (?:in|on|at|with))\b|\bnow\b",
    )
});
static NOW: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"\bnow (?:[a-z]+s|use|take|are|default|return|live|go)\b|\b(?:is|are) still\b")
});
/// Why.
static REASON: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(REASON_FORM));

/// Stems of verbs that say at the head of a sentence that the work was changed: "Switched to X instead of Y".
const MAKING: &[&str] = &[
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

/// Stems of verbs by which somebody works or thinks rather than makes: the agent's steps and views.
const STEPPING: &[&str] = &[
    "a",
    "afraid",
    "agre",
    "all",
    "am",
    "an",
    "apologiz",
    "appreciate",
    "aren",
    "ask",
    "assert",
    "assume",
    "at",
    "attempt",
    "be",
    "been",
    "believe",
    "benchmark",
    "bet",
    "bisect",
    "both",
    "browse",
    "build",
    "built",
    "can",
    "can't",
    "cannot",
    "chase",
    "check",
    "cit",
    "clean",
    "clear",
    "clon",
    "commit",
    "compar",
    "compare",
    "compil",
    "confirm",
    "continue",
    "correct",
    "could",
    "couldn",
    "curl",
    "debug",
    "declin",
    "did",
    "disagre",
    "do",
    "does",
    "don't",
    "done",
    "doubt",
    "download",
    "dump",
    "end",
    "examine",
    "expect",
    "explain",
    "explore",
    "fall",
    "fan",
    "feel",
    "fell",
    "fetch",
    "find",
    "fine",
    "finish",
    "flag",
    "forget",
    "forgot",
    "found",
    "get",
    "glad",
    "go",
    "got",
    "grep",
    "guess",
    "had",
    "hadn",
    "happy",
    "has",
    "hav",
    "have",
    "heard",
    "held",
    "hit",
    "hold",
    "hope",
    "in",
    "inspect",
    "install",
    "intend",
    "interrupt",
    "investigat",
    "isn",
    "kick",
    "kill",
    "know",
    "learn",
    "like",
    "list",
    "locat",
    "look",
    "lost",
    "may",
    "mean",
    "measur",
    "mention",
    "might",
    "misread",
    "miss",
    "mistak",
    "monitor",
    "must",
    "need",
    "not",
    "notic",
    "now",
    "observ",
    "offer",
    "on",
    "open",
    "overlook",
    "paus",
    "ping",
    "plan",
    "point",
    "prepar",
    "proceed",
    "profil",
    "propos",
    "push",
    "queri",
    "query",
    "quot",
    "ran",
    "re",
    "re-check",
    "re-run",
    "read",
    "ready",
    "rebuild",
    "recall",
    "recheck",
    "recogniz",
    "recommend",
    "refresh",
    "rel",
    "remember",
    "repli",
    "reply",
    "report",
    "reproduc",
    "rerun",
    "restart",
    "resum",
    "retry",
    "review",
    "run",
    "s",
    "saw",
    "say",
    "see",
    "should",
    "shouldn",
    "show",
    "skim",
    "so",
    "sorry",
    "spot",
    "start",
    "stay",
    "stop",
    "stream",
    "suggest",
    "summariz",
    "sure",
    "suspect",
    "talk",
    "tell",
    "terminate",
    "test",
    "the",
    "think",
    "thought",
    "tim",
    "to",
    "told",
    "too",
    "trac",
    "trace",
    "tri",
    "trust",
    "try",
    "typ",
    "understand",
    "understood",
    "verif",
    "verify",
    "view",
    "wait",
    "want",
    "was",
    "wasn",
    "wast",
    "watch",
    "went",
    "were",
    "weren",
    "will",
    "wonder",
    "would",
    "wouldn",
    "yet",
];

/// What the other side left to the user, in lower case.
#[derive(Debug, Clone, Copy)]
pub(in crate::facts) struct Offer<'o> {
    pub(in crate::facts) text: &'o str,
    /// The sentence is the first after it.
    pub(in crate::facts) first: bool,
}

/// Settles the sentence a choice? `offer`: where it is one of the first after a question of the other side, that.
pub(in crate::facts) fn is_decision(plain: &Plain<'_>, author: Author, offer: Option<Offer<'_>>) -> bool {
    let sentence = plain.sentence;
    // An option by its letter or number is short.
    if author == Author::User && offer.is_some() && is_option(&plain.lower) {
        return true;
    }
    // What speaks for a decision is rare; what speaks against one is looked for only then.
    plain.fits()
        && !plain.says(List::Unsettled)
        && !(author == Author::Agent && finds(&plain.lower))
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
        return !plain.says(List::Steps);
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
            || offer.is_some_and(|offer| {
                answers(lower, offer.text)
                    || offer.first && is_fragment(lower, offer.text) && alternatives(offer.text)
            })
            || (placed()
                || plain.says(List::Reason)
                    && reason(lower).is_some_and(|(at, _)| has_word(lower.get(..at).unwrap_or(""), OBLIGES))
                    && !plain.says(List::Report))
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

/// Says the sentence of the product, without naming who made it so, that it is one way now and why, or against what? `against`
/// as for [`makes`]. How a run went ("it fails now because") is no choice.
fn made_so(plain: &Plain<'_>, against: Option<usize>) -> bool {
    if plain.says(List::Steps) || against.is_none() && !plain.says(List::Reason) {
        return false;
    }
    let lower = plain.lower.as_str();
    let why = reason(lower).map(|(at, _)| at);
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
fn measures(lower: &str) -> bool {
    contains_any(lower, &[" now takes ", " now needs "])
}

/// "The worker is rebuilding the package now": no state of the product.
fn is_under_way(claim: &str) -> bool {
    let mut before = "";
    words(claim).any(|word| {
        let doing =
            word.ends_with("ing") && word != "using" && matches!(before, "is" | "are" | "was" | "were");
        before = word;
        doing
    })
}

/// Where the sentence gives its reason, and the words that open it. "So far", "as expected" open none.
fn reason(lower: &str) -> Option<(usize, &str)> {
    REASON.as_ref()?.captures_iter(lower).find_map(|found| {
        let (before, so, as_word) = (found.get(1), found.get(2), found.get(3));
        let word = so.or(as_word).map_or("", |it| it.as_str().trim_end_matches('.'));
        if so.is_some() && NO_RESULT.contains(&word)
            || so.is_some() && before.is_some_and(|it| BEFORE_SO.contains(&it.as_str()))
            || as_word.is_some() && NO_GROUND.contains(&word)
        {
            return None;
        }
        let whole = found.get(0)?;
        Some((before.map_or(whole.start(), |it| it.end()), whole.as_str()))
    })
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
fn designed(plain: &Plain<'_>) -> bool {
    if plain.says(List::Steps) || !plain.says(List::Reason) {
        return false;
    }
    let lower = plain.lower.as_str();
    let Some((at, opening)) = reason(lower) else { return false };
    let claim = lower.get(..at).unwrap_or("").trim_end();
    let comma = claim.ends_with([',', ')']) || opening.starts_with(',');
    let claim = claim.trim_end_matches(',');
    let rest = lower.get(at..).unwrap_or("");
    let bare = rest.trim_start_matches([',', ')', '.', ' ']);
    let comma = comma || rest.starts_with([',', ')']);
    let joint = if bare.starts_with("so that") || bare.starts_with("so ") && !comma {
        Joint::Purpose
    } else if bare.starts_with("to ") {
        Joint::Aim
    } else if (comma || counters(bare)) && ["because", "since ", "as "].iter().any(|it| bare.starts_with(it))
    {
        Joint::Ground
    } else {
        return false;
    };
    let first = words(claim).next().unwrap_or("");
    if words(claim).count() < 3
        || NO_PRODUCT.contains(&first)
        || matches!(first, "it" | "they") && joint != Joint::Purpose
        || words(claim).any(|word| RUNNING.contains(&word) && !matches!(word, "works" | "happens"))
        || has_word(claim, SUPPOSING)
        || is_under_way(claim)
    {
        return false;
    }
    let ordered = first.ends_with("ed")
        || is_imperative(claim.trim_start_matches(|c: char| !c.is_alphanumeric()))
        || is_passive(claim)
        || has_word(claim, &["now"]);
    match joint {
        Joint::Purpose if claim.ends_with(['—', '-', '–']) => false,
        Joint::Purpose if !bare.starts_with("so that") && !ordered => false,
        Joint::Aim if bare.starts_with("to get ") => false,
        Joint::Purpose => !words(bare).skip(1).take(3).any(|word| matches!(word, "i" | "know")),
        Joint::Ground => ordered && !tells_past(claim) && is_meant(claim, bare),
        Joint::Aim => !tells_past(claim) && (comma || is_passive(claim)),
    }
}

/// Does a ground name what would come otherwise, or who wants it so?
fn counters(ground: &str) -> bool {
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
        || has_word(
            ground,
            &[
                "would",
                "otherwise",
                "too",
                "cannot",
                "can't",
                "nobody",
                "must",
                "needs",
                "need",
                "you",
                "should",
                "anyway",
                "already",
                "cheap",
                "cheaper",
                "easier",
                "simpler",
                "faster",
                "safer",
                "enough",
            ],
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
fn tells_past(claim: &str) -> bool {
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
                );
            before = word;
            past
        })
}

/// What begins a sentence that is about the talk, a step or a finding, rather than about a part of the product.
const NO_PRODUCT: &[&str] = &[
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
const SUPPOSING: &[&str] = &[
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
fn used_against(plain: &Plain<'_>, against: Option<usize>) -> bool {
    let Some(at) = against else { return false };
    let lower = plain.lower.as_str();
    let claim = lower.get(..at).unwrap_or("");
    let other = lower.get(at..).unwrap_or("");
    let first = words(claim).next().unwrap_or("");
    let orders = claim.split([':', ',', ';']).chain(claim.split(" - ")).any(|part| is_imperative(bare(part)));
    let made = first.ends_with("ed")
        || orders
        || at == 0 && lower.split(", ").skip(1).any(is_imperative)
        || has_word(claim, &["should", "now", "use", "uses", "using", "imports"]);
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
fn bare(text: &str) -> &str {
    text.trim_start_matches(|c: char| !c.is_alphanumeric())
}

/// In German, French, Spanish and Portuguese: something is made so, and why.
fn made_foreign(lower: &str) -> bool {
    const WHY: &[&str] = &[
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
    let Some(at) = WHY.iter().filter_map(|why| lower.find(why)).min() else { return false };
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
const RUNNING: &[&str] = &[
    "fail", "fails", "failed", "failing", "failure", "broke", "breaks", "broken", "crash", "crashes",
    "crashed", "error", "errors", "hang", "hangs", "hung", "pass", "passes", "passed", "passing", "green",
    "red", "works", "working", "worked", "compiles", "builds", "wrong", "lost", "bug", "stuck", "slow",
    "slower", "happened", "happens", "seems", "looks", "rejected", "timed", "flaky", "i'm", "i'll", "we're",
    "waiting", "checking", "running", "reading", "probably", "maybe",
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

/// The agent says of the work, without naming itself, that it is as it is now and not another way: "Switched to X instead
/// of Y", "`limit` now defaults to 0 instead of 1000". That it takes one thing against another is known.
fn contrasts_work(lower: &str) -> bool {
    let first = words(lower).next().unwrap_or("");
    let done = (first.ends_with("ed") || first.ends_with("ing")) && MAKING.contains(&stem(first))
        || matches!(first, "kept" | "left" | "made" | "put");
    done || contains_any(lower, &[" went into ", " went in ", " goes into ", " moved to ", " moved into "])
        && !NO_PRODUCT.contains(&first)
        || !measures(lower) && NOW.as_ref().is_some_and(|now| now.is_match(lower))
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

/// The user fixes a named parameter: "use 15 minutes as the cap", "TTL 60 s", "make it 5", "and base delay 2 s, because".
fn fixes_parameter(plain: &Plain<'_>) -> bool {
    if plain.has_form(List::Default, &DEFAULT) && plain.directs() {
        return true;
    }
    if !plain.lower.bytes().any(|b| b.is_ascii_digit()) {
        return false;
    }
    let made = [
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
    .iter()
    .any(|order| {
        plain.clauses().any(|clause| {
            clause.strip_prefix(order).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        })
    });
    let set = SETTING.as_ref().is_some_and(|rule| plain.clauses().any(|clause| rule.is_match(clause)));
    if made || set {
        return true;
    }
    let told = plain.heads().any(is_imperative) || plain.obliges();
    values::find(plain.sentence).iter().any(|value| {
        let Some(key) = &value.key else {
            return told
                && !value.number.unit.is_empty()
                && (has_word(&plain.lower, values::PARAMETERS) || has_word(&plain.lower, BOUNDS));
        };
        if told {
            return true;
        }
        // Without an order, only a phrase of its own names what is to be: no verb up to the number, no `key: 5`.
        let key = key.to_lowercase();
        let clause =
            plain.lower.split([',', ';', '，', '；']).find(|clause| clause.contains(&key)).unwrap_or("");
        // With a full stop `key: 5` is said by somebody, not copied from a list.
        let listed =
            clause.contains(&format!("{key}:")) && (!plain.sentence.trim_end().ends_with(['.', '。', '!']));
        !has_word(clause, STATES) && !listed && !clause.contains(['=', '是'])
    }) || plain.is_elliptical() && is_setting(plain)
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
        if !value.phrases.is_empty() && value.key.is_none() && !unit {
            return contains_any(lower, &[" when ", " if ", " for ", " on "]);
        }
        let bound = has_word(lower, &["of", "max", "min", "maximum", "minimum", "default"]);
        unit && (begins || bound && !has_word(lower, &["after"]))
    })
}

/// Words that make the number after them a setting.
const BOUNDS: &[&str] =
    &["most", "least", "every", "max", "min", "capped", "limited", "up", "within", "after", "per"];

/// "2", "b.", "(a)".
fn is_option(lower: &str) -> bool {
    let bare = lower.trim_matches(|c: char| !c.is_alphanumeric());
    bare.len() == 1 && bare.bytes().all(|byte| matches!(byte, b'a'..=b'e' | b'1'..=b'5'))
}

/// Takes an option that was offered and asks for nothing beside it.
pub(in crate::facts) fn only_answers(plain: &Plain<'_>, offer: Offer<'_>) -> bool {
    let lower = plain.lower.as_str();
    let first = words(lower).next().unwrap_or("");
    let option = (first.len() == 1 || first == "option") && answers(lower, offer.text);
    let fragment = offer.first
        && alternatives(offer.text)
        && (is_fragment(lower, offer.text)
            || is_named(lower, offer.text)
            || lower.ends_with("でお願いします。"));
    (option || fragment) && !lower.contains("please")
}

/// The answer to an offered choice: "option 2", "A, and B with at most 2", "yes, redirect: error", "Postgres.", "accept it".
fn answers(lower: &str, offer: &str) -> bool {
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
    let numbered = NUMBERED.iter().any(|opening| {
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
    });
    letter || option || verdict || wide || is_named(lower, offer) || numbered
}

/// One of the things that were offered, by its words.
fn is_named(lower: &str, offer: &str) -> bool {
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
fn alternatives(offer: &str) -> bool {
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
fn is_fragment(lower: &str, offer: &str) -> bool {
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
    let long = words(lower).filter(|word| word.len() > 2).count();
    let offered = words(lower).filter(|word| word.len() > 2 && has_word(offer, &[word])).count();
    (1..=10).contains(&count)
        && offered > 0
        && offered * 2 >= long
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
}

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
        ]) && !has(&["现在是", "了 ", "目前"])
            && sentence.bytes().any(|byte| byte.is_ascii_digit());
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
    against || fixed || reason && made
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
pub(super) fn forms() -> Vec<(List, &'static LazyLock<Option<Regex>>)> {
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
