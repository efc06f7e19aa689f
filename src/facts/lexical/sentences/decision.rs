//! A sentence that settles a choice, by its form.
//!
//! Five forms settle: a verb of deciding; one thing taken against another; what is made so *and why*; the answer to a
//! choice that was offered; a named parameter that the user fixes. What is open, denied, hypothetical or the agent's next
//! step settles nothing.

use super::super::{LazyLock, Regex, RegexSet, is_cjk, pattern, set, values};
use super::constraint::is_lifting;
use super::{OBLIGES, Plain, STATES, contains_any, has_word, is_imperative, is_open, is_reported, words};
use crate::facts::Author;

const DECIDED_FORM: &str = r"\b(?:(?:i|we) (?:chose|picked|went with|settled)\b|chose .+ (?:over|because|instead|rather)|(?:let's|let us|we'll|i'll|we will|i will|we're|i'm|we are|i am) (?:go|going|stick|sticking|settle|settling) (?:with|for|on)\b|(?:^|[,;:.] )(?:going|sticking) with\b|(?:^|, |: )(?:go|stick) with\b|^i (?:go|stick) with\b|^i prefer\b|(?:^decision|(?:the|our|my|final|design) decision)(?: is|:| was)|final (?:decision|choice)\b|switch(?:ed|ing) (?:from .+ )?to .+ (?:because|instead|since|due)|we(?:'re| are) (?:switching|moving|migrating) to\b|let's (?:switch|move|migrate) to\b)";
const PARTICIPLE_FORM: &str =
    r"\b(?:decided|chosen|settled|agreed|opted) (?:to|on|against|that|for|in favou?r|not to|upon|not|we|i)\b";
/// "B it is", "so that one is out", "option 2, agreed".
const VERDICT_FORM: &str = r"^(?:ok,? |then |so |right, |alright, )*(?:option )?[\w-]{1,20}(?: \w+)? it is(?:$|[.,;!])|\b(?:is|are) out(?:$|[.,;!]| whatever| then| for)|^(?:ok,? )?switching to \S|^(?:option \w+|\w+), agreed\b|[^s] agreed(?:$|[.!])|^agreed[,:] ";
const CONTRAST_FORM: &str = r"(?:,| -) not (?:the |a |an )?([\w./'`-]+)|\binstead(?: of \S|$|[.,;])|\brather than \S|\bprefer(?:red)? .+ over \S|^instead of |^rather than ";
const USER_CHOICE_FORM: &str = r"^(?:ok,? |okay,? |yes,? |then |alright,? |so )*(?:let's|let us|we'll|we will) (?:use|keep|take|adopt|drop|make it|call it|leave|skip|do (?:it|that|this))\b";
const REASON_FORM: &str = r"\bbecause\b|\bsince (?:the|it|that|this|we|they|you|i|there|no|nothing|all|both|[a-z_]+(?: [a-z_]+)? (?:is|are|was|were|has|have|does|do|can|cannot|needs?|already|only))\b|\bso that\b|,? so (?:the|it|that|they|we|you|i|no|a|an|nothing|both|each|every|all|existing|old|new|tests?|callers?|users?|[a-z_`]+ (?:stays?|keeps?|is|are|remains?|can|do|does|gets?|will|works?|must|should|has to))\b|\bas (?:it|the|that|this|you|they|we)\b[^,]*\b(?:is|are|was|were|has|have|does|do|needs?|asked|said|wanted|would|will|can|cannot)\b|\bto (?:keep|avoid|make|let|allow|prevent|ensure|stay|match|reduce|stop|protect|support|preserve|save|not)\b";
/// How the product is to be, said of a part of it.
const PLACED_FORM: &str = r"\b(?:(?:goes|went) (?:in|into|next)|stays|lives in|belongs|wins)\b";
/// A default that is no number.
const DEFAULT_FORM: &str = r"\bdefaults?(?: is| to|:)? [/'.~]\S";

/// All forms at once: most sentences have none, and one look tells.
static FORMS: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    set(&[
        DECIDED_FORM,
        PARTICIPLE_FORM,
        VERDICT_FORM,
        CONTRAST_FORM,
        USER_CHOICE_FORM,
        REASON_FORM,
        PLACED_FORM,
        DEFAULT_FORM,
    ])
});

/// Which forms a sentence may have.
#[derive(Debug, Clone, Copy, Default)]
struct Forms {
    decided: bool,
    participle: bool,
    verdict: bool,
    contrast: bool,
    user_choice: bool,
    reason: bool,
    placed: bool,
    default: bool,
}

impl Forms {
    fn of(lower: &str) -> Self {
        let Some(found) = FORMS.as_ref().map(|set| set.matches(lower)) else { return Self::default() };
        Self {
            decided: found.matched(0),
            participle: found.matched(1),
            verdict: found.matched(2),
            contrast: found.matched(3),
            user_choice: found.matched(4),
            reason: found.matched(5),
            placed: found.matched(6),
            default: found.matched(7),
        }
    }
}

static PARTICIPLE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(PARTICIPLE_FORM));
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
        r"^(?:make|set|raise|lower|increase|reduce|cut|bump|cap|limit|keep)\b(?: [a-z_]+){1,4}? (?:to |at |for )?[0-9]+ ?(?:ms|s|sec|seconds|m|min|minutes|h|hours|d|days|kb|mb|gb|kib|mib|%|px|attempts|retries)\b",
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
    "ran",
    "re",
    "read",
    "ready",
    "recall",
    "recogniz",
    "remember",
    "report",
    "reproduc",
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
    if !plain.fits() {
        return false;
    }
    // What speaks for a decision is rare; what speaks against one is looked for only then.
    let forms = Forms::of(&plain.lower);
    chooses(plain, forms, author, offer)
        // "We could use X, but it came late, so it is out": the verdict stands.
        && !(is_open(&plain.lower, sentence) && (!forms.verdict || sentence.ends_with(['?', '？'])))
        && !leaves_open(&plain.lower)
        && !is_reported(claim(&plain.lower))
}

/// A sentence without its reason: who says what there does not matter for the choice.
fn claim(lower: &str) -> &str {
    let reason = [" because ", " since "].iter().filter_map(|joint| lower.find(joint)).min();
    let claim = reason.and_then(|at| lower.get(..at)).unwrap_or(lower);
    // "It only warns, so I'll add a check": the reason stands first.
    claim.split_once(", so ").map_or(claim, |(_, claim)| claim)
}

/// The words and forms of a choice.
fn chooses(plain: &Plain<'_>, forms: Forms, author: Author, offer: Option<&str>) -> bool {
    let lower = plain.lower.as_str();
    if plain.sentence.chars().any(is_cjk) && chooses_cjk(plain.sentence, author) {
        return true;
    }
    if forms.decided || forms.verdict || forms.participle && own_participle(lower) {
        return !steps(lower);
    }
    match author {
        Author::User => {
            forms.user_choice
                || is_lifting(lower)
                || forms.contrast
                    && contrast(lower).is_some_and(|at| {
                        // "The budget is 165 kB, not 180" corrects; of other things only an order takes one against another.
                        plain.directs()
                            || lower.get(at..).is_some_and(|rest| {
                                rest.trim_start_matches(|c: char| !c.is_alphanumeric())
                                    .strip_prefix("not ")
                                    .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
                            })
                    })
                || fixes_parameter(plain, forms)
                || offer.is_some_and(|offer| answers(lower, offer))
                || (forms.placed || has_word(lower, OBLIGES) && forms.reason) && explains(lower)
        }
        _ => {
            (forms.reason || forms.contrast) && makes(lower)
                || forms.contrast && contrasts_work(plain)
                || forms.placed
                    && explains(lower)
                    && !has_word(lower, &["i'm", "i'll", "waiting", "checking"])
                || lower.contains(" should ") && lower.contains(" so that ")
        }
    }
}

/// Does the agent, in the first person, change the work, and say why or against what? The verb stands before the reason,
/// or after ", so". What it is doing at the moment ("I'm moving it") is a step.
fn makes(lower: &str) -> bool {
    let why = REASON
        .as_ref()
        .and_then(|rule| rule.find(lower))
        .map(|it| (it.start(), it.as_str().ends_with("so i") || it.as_str().ends_with("so we")));
    let against = contrast(lower).map(|at| (at, false));
    let Some((reason, so)) = why.into_iter().chain(against).min() else { return false };
    !steps(lower)
        && MAKES.as_ref().is_some_and(|makes| {
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

/// Where one thing is taken against another: "instead of", "rather than", ", not". Not ", not just", ", not yet".
fn contrast(lower: &str) -> Option<usize> {
    CONTRAST.as_ref()?.captures_iter(lower).find_map(|found| {
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

/// The agent says of the work, without naming itself, that it is one way and not another: "Switched to X instead of Y",
/// "`limit` now defaults to 0 instead of 1000".
fn contrasts_work(plain: &Plain<'_>) -> bool {
    let lower = plain.lower.as_str();
    if contrast(lower).is_none() || steps(lower) {
        return false;
    }
    let first = words(lower).next().unwrap_or("");
    let done = (first.ends_with("ed") || first.ends_with("ing")) && MAKING.contains(&stem(first))
        || matches!(first, "kept" | "left" | "made" | "put");
    done || NOW.as_ref().is_some_and(|now| now.is_match(lower))
}

/// The agent's next step, or how it works with its tools.
fn steps(lower: &str) -> bool {
    contains_any(
        lower,
        &[
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
        ],
    )
}

/// The user fixes a named parameter: "use 15 minutes as the cap", "TTL 60 s", "make it 5", "and base delay 2 s, because".
fn fixes_parameter(plain: &Plain<'_>, forms: Forms) -> bool {
    let made = ["make it ", "make that ", "set it to ", "let it be ", "change it to ", "use ", "take "]
        .iter()
        .any(|order| {
            plain.clauses().any(|clause| {
                clause.strip_prefix(order).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
            })
        });
    let set = SETTING.as_ref().is_some_and(|rule| plain.heads().any(|clause| rule.is_match(clause)));
    if made || set || forms.default && plain.directs() {
        return true;
    }
    if !plain.lower.bytes().any(|b| b.is_ascii_digit()) {
        return false;
    }
    let told = plain.heads().any(is_imperative) || has_word(&plain.lower, OBLIGES);
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
    let verdict = matches!(first, "yes" | "no" | "yep" | "nope")
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
        && words(told).count() <= 3
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
    let reason = has(&["因为", "以便", "这样", "所以", "ため", "ので"]);
    let made = has(&[
        "我把",
        "我用",
        "我将",
        "我会",
        "我改",
        "我加",
        "我保留",
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
        ],
    )
}
