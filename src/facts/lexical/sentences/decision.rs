//! A sentence that settles a choice, by its form.
//!
//! Five forms settle: a verb of deciding; one thing taken against another; what is made so *and why*; the answer to a
//! choice that was offered; a named parameter that the user fixes. What is open, denied, hypothetical or the agent's next
//! step settles nothing.

use super::super::{LazyLock, Regex, is_cjk, pattern, values};
use super::{List, Plain, REPORTED, STATES, contains_any, has_word, is_imperative, words};
use crate::facts::Author;

const DECIDED_FORM: &str = r"\b(?:(?:i|we) (?:chose|picked|went with|settled)\b|chose .+ (?:over|because|instead|rather)|(?:let's|let us|we'll|i'll|we will|i will|we're|i'm|we are|i am) (?:go|going|stick|sticking|settle|settling) (?:with|for|on)\b|(?:^|[,;:.] )(?:went|going|sticking) with\b|(?:^|, |: )(?:go|stick) with\b|^i (?:go|stick) with\b|^i prefer\b|(?:^decision|(?:the|our|my|final|design) decision)(?: is|:| was)|final (?:decision|choice)\b|switch(?:ed|ing) (?:from .+ )?to .+ (?:because|instead|since|due)|we(?:'re| are) (?:switching|moving|migrating) to\b|let's (?:switch|move|migrate) to\b|(?:i|we)(?:'ll| will)? (?:take|took) .+ for\b|(?:entschieden|beschlossen|décidé|decidido|decidimos|decidí)\b)";
const PARTICIPLE_FORM: &str =
    r"\b(?:decided|chosen|settled|agreed|opted) (?:to|on|against|that|for|in favou?r|not to|upon|not|we|i)\b";
/// "B it is", "so that one is out", "option 2, agreed".
const VERDICT_FORM: &str = r"^(?:ok,? |then |so |right, |alright, )*(?:option )?[\w-]{1,20}(?: \w+)? it is(?:$|[.,;!])|\b(?:is|are) out(?:$|[.,;!]| whatever| then| for)|^(?:ok,? )?switching to \S|^(?:option \w+|\w+), agreed\b|[^s] agreed(?:$|[.!])|^agreed[,:] |^for [^,]{2,40},? it is `?[\w.-]+`?[.!]?$";
const CONTRAST_FORM: &str = r"(?:,| -) not (?:the |a |an )?([\w./'`-]+)| and not (?:in|on|at|by|with|from|for) \S|\bin favou?r of \S|\binstead(?: of \S|$|[.,;])|\brather than \S|\b(?:prefer(?:red)?|takes?|took|taking|cho(?:o)?se|picked|favou?r(?:ed)?) .+ over \S|^instead of |^rather than ";
const USER_CHOICE_FORM: &str = r"^(?:ok,? |okay,? |yes,? |then |alright,? |so )*(?:let's|let us|we'll|we will) (?:use|keep|take|adopt|drop|make it|call it|leave|skip|do (?:it|that|this))\b";
const REASON_FORM: &str = r"\bbecause\b|\bsince (?:the|it|that|this|we|they|you|i|there|no|nothing|all|both|[a-z_]+(?: [a-z_]+)? (?:is|are|was|were|has|have|does|do|can|cannot|needs?|already|only))\b|\bso that\b|,? so (?:the|it|that|they|we|you|i|no|a|an|nothing|both|each|every|all|existing|old|new|tests?|callers?|users?|[a-z_`]+ (?:stays?|keeps?|is|are|remains?|can|do|does|gets?|will|works?|must|should|has to))\b|, so [a-z_`.-]+ [a-z]+s\b|\bas (?:it|the|that|this|you|they|we)\b[^,]*\b(?:is|are|was|were|has|have|does|do|needs?|lists?|says?|asked|said|wanted|would|will|can|cannot)\b|\bto (?:keep|avoid|make|let|allow|prevent|ensure|stay|match|reduce|stop|protect|support|preserve|save|not|rule out|cut|speed|free|spare|guard|hide|shrink|satisfy|simplify|fit|survive|keep)\b";
/// How the product is to be, said of a part of it.
const PLACED_FORM: &str = r"\b(?:(?:goes|went) (?:in|into|next)|stays|lives in|belongs|wins)\b";
/// A default that is no number.
const DEFAULT_FORM: &str = r"\bdefaults?(?: is| to|:)? [/'.~]\S";

/// What a match of [`DECIDED_FORM`] holds one of; the lists below do the same for the other forms.
pub(super) const DECIDED_HINTS: &[&str] = &[
    "chose",
    "picked",
    "went with",
    "settl",
    "go with",
    "go for",
    "go on",
    "going with",
    "going for",
    "going on",
    "stick",
    "i prefer",
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
    "décidé",
    "decidido",
    "decidimos",
    "decidí",
];
pub(super) const PARTICIPLE_HINTS: &[&str] = &["decided ", "chosen ", "settled ", "agreed ", "opted "];
pub(super) const VERDICT_HINTS: &[&str] = &[" it is", "is out", "are out", "switching to ", "agreed"];
pub(super) const CONTRAST_HINTS: &[&str] =
    &[", not ", "- not ", "instead", "rather than ", "prefer", " over ", " and not ", "in favo"];
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
        r"\b(?:i|we)(?:'ll|'ve|'m|'re| will| have| am| are)?(?: (?:also|now|therefore|only|still|deliberately|just|simply|then|intentionally|not|instead))* ([a-z]+)\b",
    )
});
/// An order that gives something a number: "make the wait 800 ms", "raise it to 8", "keep keys for 24 hours".
static SETTING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^(?:make|set|give|raise|lower|increase|reduce|cut|bump|cap|limit|keep)\b(?: [a-z_]+){1,4}? (?:to |at |for )?[0-9]+ ?(?:ms|s|sec|seconds|m|min|minutes|h|hours|d|days|kb|mb|gb|kib|mib|%|px|attempts|retries)\b",
    )
});
/// The product is made otherwise, by nobody named: "was moved to", "got a label", "became", "is a newtype now".
static MADE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\b(?:was|were|got|been) (?:(?:[a-z]+ly|also|now|therefore|only|just) )?(?:added|batched|bumped|cached|capped|changed|collapsed|converted|deduplicated|deferred|delayed|disabled|downgraded|dropped|enabled|excluded|exposed|extracted|folded|gated|generated|guarded|hidden|hoisted|increased|inlined|introduced|kept|left|limited|loosened|lowered|made|merged|moved|narrowed|pinned|pulled|put|raised|reduced|relaxed|removed|renamed|reordered|replaced|restricted|reverted|rewritten|rounded|scoped|set|shortened|split|stored|swapped|switched|taken out|tightened|turned (?:on|off|into)|upgraded|widened|wrapped|written)\b|\b(?:is|are) gone\b|\bgot (?:an?|its|their) \S|\b(?:became|ended up|moved (?:to|into|out|up|down|from)|stays? (?:in|on|at|with))\b|\bnow\b",
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
    "all",
    "am",
    "an",
    "appreciate",
    "ask",
    "assume",
    "at",
    "be",
    "been",
    "believe",
    "both",
    "browse",
    "can",
    "check",
    "commit",
    "confirm",
    "continue",
    "could",
    "debug",
    "did",
    "do",
    "does",
    "don't",
    "done",
    "examine",
    "expect",
    "explore",
    "fall",
    "feel",
    "fell",
    "find",
    "fine",
    "found",
    "get",
    "glad",
    "go",
    "got",
    "grep",
    "guess",
    "had",
    "happy",
    "has",
    "hav",
    "have",
    "hope",
    "in",
    "inspect",
    "investigat",
    "kick",
    "know",
    "learn",
    "like",
    "list",
    "look",
    "may",
    "mean",
    "might",
    "monitor",
    "must",
    "need",
    "not",
    "notic",
    "now",
    "observ",
    "on",
    "open",
    "proceed",
    "push",
    "ran",
    "re",
    "read",
    "ready",
    "recall",
    "recogniz",
    "remember",
    "report",
    "reproduc",
    "rerun",
    "review",
    "run",
    "s",
    "saw",
    "say",
    "see",
    "should",
    "skim",
    "so",
    "sorry",
    "spot",
    "start",
    "suggest",
    "sure",
    "suspect",
    "test",
    "the",
    "think",
    "thought",
    "to",
    "too",
    "tri",
    "try",
    "understand",
    "updat",
    "verif",
    "verify",
    "view",
    "wait",
    "want",
    "was",
    "watch",
    "went",
    "were",
    "will",
    "wonder",
    "would",
];

/// Settles the sentence a choice? `offer`: where it is the first after a question of the other side, the lower-case text
/// of that.
pub(in crate::facts) fn is_decision(plain: &Plain<'_>, author: Author, offer: Option<&str>) -> bool {
    let sentence = plain.sentence;
    // An option by its letter or number is short.
    if author == Author::User && offer.is_some() && is_option(&plain.lower) {
        return true;
    }
    // What speaks for a decision is rare; what speaks against one is looked for only then.
    plain.fits()
        && !plain.says(List::Unsettled)
        && chooses(plain, author, offer)
        // "We could use X, but it came late, so it is out": the verdict stands.
        && !(plain.is_open() && (sentence.ends_with(['?', '？']) || !has_verdict(plain)))
        && !(plain.says(List::Reported) && contains_any(claim(&plain.lower), REPORTED))
}

/// A sentence without its reason: who says what there does not matter for the choice.
fn claim(lower: &str) -> &str {
    let reason = [" because ", " since "].iter().filter_map(|joint| lower.find(joint)).min();
    let claim = reason.and_then(|at| lower.get(..at)).unwrap_or(lower);
    // "It only warns, so I'll add a check": the reason stands first.
    claim.split_once(", so ").map_or(claim, |(_, claim)| claim)
}

/// The words and forms of a choice.
fn chooses(plain: &Plain<'_>, author: Author, offer: Option<&str>) -> bool {
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
        plain.has_form(List::UserChoice, &USER_CHOICE)
            || plain.says(List::Lifting)
            || contrast(plain).is_some_and(|at| {
                // "The budget is 165 kB, not 180" corrects; of other things only an order takes one against another.
                plain.directs()
                    || lower.get(at..).is_some_and(|rest| {
                        rest.trim_start_matches(|c: char| !c.is_alphanumeric())
                            .strip_prefix("not ")
                            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
                    })
            })
            || fixes_parameter(plain)
            || offer.is_some_and(|offer| answers(lower, offer))
            || (placed() || plain.has_form(List::Reason, &REASON) && plain.obliges()) && explains(lower)
            || made_so(plain, None)
    } else {
        let against = if plain.says(List::Steps) { None } else { contrast(plain) };
        makes(plain, against)
            || made_so(plain, against)
            || against.is_some() && contrasts_work(lower)
            || placed() && explains(lower) && !has_word(lower, &["i'm", "i'll", "waiting", "checking"])
            || plain.says(List::Obliges) && lower.contains(" should ") && lower.contains(" so that ")
    }
}

fn has_verdict(plain: &Plain<'_>) -> bool {
    plain.has_form(List::Verdict, &VERDICT)
}

/// Does the agent, in the first person, change the work, and say why or against what? The verb stands before the reason,
/// or after ", so". What it is doing at the moment ("I'm moving it") is a step.
/// `against`: where one thing is taken against another.
fn makes(plain: &Plain<'_>, against: Option<usize>) -> bool {
    if !plain.says(List::Person) || plain.says(List::Steps) {
        return false;
    }
    let lower = plain.lower.as_str();
    let why = REASON
        .as_ref()
        .filter(|_| plain.says(List::Reason))
        .and_then(|rule| rule.find(lower))
        .map(|it| (it.start(), it.as_str().ends_with("so i") || it.as_str().ends_with("so we")));
    let against = against.map(|at| (at, false));
    let Some((reason, so)) = why.into_iter().chain(against).min() else { return false };
    MAKES.as_ref().is_some_and(|makes| {
        makes.captures_iter(lower).any(|found| {
            let (Some(subject), Some(verb)) = (found.get(0), found.get(1)) else { return false };
            let made = !STEPPING.contains(&verb.as_str()) && !STEPPING.contains(&stem(verb.as_str()));
            let doing = verb.as_str().ends_with("ing")
                && !matches!(
                    stem(verb.as_str()),
                    "keep" | "leav" | "treat" | "skip" | "go" | "stick" | "dropp"
                );
            made && !doing && (subject.start() < reason || so)
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
    let why = REASON.as_ref().and_then(|rule| rule.find(lower)).map(|it| it.start());
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
        && MADE.as_ref().is_some_and(|made| made.is_match(claim))
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

/// Gives a reason at all. "As it is" gives none.
fn explains(lower: &str) -> bool {
    has_word(lower, &["because", "since", "so"])
        || has_word(lower, &["as"])
            && !contains_any(lower, &["as it is", "as they are", "as is", "as before", "as well"])
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
    done || NOW.as_ref().is_some_and(|now| now.is_match(lower))
}

/// Phrases of the agent's next step, or of how it works with its tools.
pub(super) const STEPS: &[&str] = &[
    "let me",
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
];

/// The user fixes a named parameter: "use 15 minutes as the cap", "TTL 60 s", "make it 5", "and base delay 2 s, because".
fn fixes_parameter(plain: &Plain<'_>) -> bool {
    if plain.has_form(List::Default, &DEFAULT) && plain.directs() {
        return true;
    }
    if !plain.lower.bytes().any(|b| b.is_ascii_digit()) {
        return false;
    }
    let made = ["make it ", "make that ", "set it to ", "let it be ", "change it to ", "use ", "take "]
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
        !has_word(clause, STATES) && !clause.contains(&format!("{key}:")) && !clause.contains(['=', '是'])
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
pub(in crate::facts) fn only_answers(plain: &Plain<'_>, offer: &str) -> bool {
    let first = words(&plain.lower).next().unwrap_or("");
    (first.len() == 1 || first == "option") && answers(&plain.lower, offer) && !plain.lower.contains("please")
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
    let polite =
        matches!(second, "i" | "i'd" | "please" | "can" | "could" | "thanks" | "thank" | "that's" | "it's");
    let assents = contains_any(after, &["go ahead", "do it", "do that", "sounds good", "proceed"]);
    let verdict = matches!(first, "yes" | "no" | "yep" | "nope")
        && !assents
        && (count >= 3 && !polite && (after.starts_with([',', '.', ':']) || after.starts_with(" to "))
            || first == "no" && after.starts_with(' ') && has_word(offer, &[second]));
    let wide =
        ["はい", "いいえ", "好的,", "对,", "不,", "可以,", "行,"].iter().any(|word| lower.starts_with(word))
            && lower.chars().count() > 6;
    // One of the things that were offered, by its words.
    let told = lower.split([',', '.', ';']).next().unwrap_or("");
    let filler = ["it", "that", "the", "this", "please", "one", "own", "a", "use", "with", "go"];
    let mut named = words(told).filter(|word| !filler.contains(word)).peekable();
    let named = named.peek().is_some()
        && words(told).count() <= 4
        && !matches!(first, "as" | "for" | "about" | "regarding")
        && named.all(|word| word.len() < 3 || has_word(offer, &[word]))
        && words(told).any(|word| word.len() >= 3 && !filler.contains(&word));
    letter || option || verdict || wide || named
}

fn chooses_cjk(sentence: &str, author: Author) -> bool {
    contains_any(
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
    let against = (user || has(&["我", "现在", "改", "にしま", "にしてい"]))
        && has(&["而不是", ",不是", ",不要", ",先不", "ではなく", "せず、", "せず,"]);
    let fixed = user
        && has(&["改成", "改为", "默认", "既定値", "上限", "封顶", "最多", "超时", "每次"])
        && sentence.bytes().any(|byte| byte.is_ascii_digit());
    let reason =
        has(&["因为", "以便", "这样", "所以", "以免", "免得", "ため", "ので"]) || !user && has(&["ように"]);
    let made = has(&[
        "我把",
        "我用",
        "我将",
        "我会",
        "我改",
        "我加",
        "我保留",
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
