//! The patterns of a choice, each with phrases of which one stands wherever it matches.

use super::super::super::{LazyLock, Regex, pattern};

const DECIDED_FORM: &str = r"\b(?:(?:i|we)(?:'ve)? (?:chose|choose|chosen|picked|pick (?:the|an?|option)\b|went (?:with|for)|settled|opted|agree on|landed on)\b|(?:what|which) we (?:go|stick) with\b|\bwon over\b|(?:[,;] |then |so )we(?:'ll)? (?:go|stick) with\b|chose .+ (?:over|because|instead|rather)|(?:let's|let us|we'll|i'll|we will|i will|we're|i'm|we are|i am) (?:go|going|stick|sticking|settle|settling) (?:with|for|on)\b|(?:^|[,;:.] )(?:went|going|sticking) with\b|(?:^|, |: )(?:go|stick) with\b|^i (?:go|stick) with\b|^i prefer\b|(?:^decision(?: on [^:]{2,60})?|(?:the|our|my|final|design) decision)(?: is|:| was)|final (?:decision|choice)\b|switch(?:ed|ing) (?:from .+ )?to [^;]+ (?:because|instead|since|due)|(?:i|we)(?:'ve| have)? (?:also |then |now )?switch(?:ed)? (?:over |back |from [^ ]+ |[a-z`]+ )?to\b|\b(?:i|we) (?:prefer|preferred|take|want) .+ over\b|we(?:'re| are) (?:switching|moving|migrating) to\b|let's (?:(?:switch|migrate)(?: [a-z_]+){0,4}?|move) to\b|\b(?:let me|let's|let us) (?:settle|decide)\b|\b(?:that|it|this)(?:'s| is| much is) (?:decided|settled)\b|\b(?:i|we)(?:'ve| have)? (?:just |finally |both |all )?(?:decided|agreed) (?:in|at|with|after|during|yesterday|last|today|this)\b|(?:let's|let us|we'll|i'll|we|i) stay(?:ed)? with\b|(?:i|we)(?:'ll| will)? (?:take|took) .+ for\b|(?:entschieden|beschlossen|gewählt|décidé|choisi|opté|decidido|decidimos|decidí|elegido|elegimos|optado)\b|\b(?:wir nehmen|ich nehme|nehmen wir|wir bleiben bei|on (?:garde|prend|part sur|reste sur)|nous (?:prenons|gardons)|je (?:prends|préfère)|nos quedamos con|vamos con|prefiero|ficamos com)\b)";

const PARTICIPLE_FORM: &str =
    r"\b(?:decided|chosen|settled|agreed|opted) (?:to|on|against|that|for|in favou?r|not to|upon|not|we|i)\b";

/// "B it is", "so that one is out", "option 2, agreed".
const VERDICT_FORM: &str = r"(?:^|[,;:] )(?:(?:ok|then|so|and|fine|good|right|alright|yes|great)\b,? )*(?:option )?([\w.+/-]+)(?: \w+)? it is(?:$|[.,;!])|\b(?:is|are) out(?:$|[.,;!]| whatever| then| for| until)|^(?:ok,? )?switching to \S|^(?:option \w+|\w+), agreed\b|[^s] agreed(?:$|[.!])|^agreed[,:] |, as (?:agreed|decided|settled)\b|^for [^,]{2,40},? it is `?[\w.-]+`?[.!]?$";

const CONTRAST_FORM: &str = r"(?:,| und) nicht (?:(?:d(?:ie|er|as|en|em)|ein|im|in|auf|aus|mit|über|nur|per) |[a-zäöüß]+(?:$|[.,;!]))|\b(?:statt|anstatt|anstelle) \S|, sondern |\b(?:au lieu de|plutôt que|en vez de|en lugar de) |\by no (?:en|el|la|los|con|por) |\bet non (?:pas )?(?:dans|le|la|les|par|sur) |\bin place of \S|(?:,| -) not (?:the |a |an )?([\w./'`-]+)| and not (?:(?:in|on|at|by|with|from|for) \S|(?:the |an? )?[\w./~-]+(?:$|[.,;!]))|\bin favou?r of \S|\binstead(?: of \S|$|[.,;])|\brather than \S|\b(?:prefer(?:red)?|takes?|took|taking|cho(?:o)?se|picked|favou?r(?:ed)?) .+ over \S|^instead of |^rather than ";

const USER_CHOICE_FORM: &str =
    r"^(?:ok,? |okay,? |yes,? |then |alright,? |so )*(?:let's|let us|we'll|we will) ([a-z]+)";

const REASON_FORM: &str = r"\bbecause\b|[,;] (?:otherwise|or else|that way) \S|\bin order (?:to|that) \S|\bso as (?:not )?to \S|, since \S|\bsince (?:the|it|that|this|we|they|you|i|there|no|nothing|all|both|[a-z_]+(?: [a-z_]+)? (?:is|are|was|were|has|have|does|do|can|cannot|needs?|already|only))\b|\bso that\b|([a-z0-9_'-]*)(?:,|\)|\.)? so ([a-z0-9_'.-]+)|, as ([a-z0-9_'.-]+)|\bas (?:it|the|that|this|you|they|we)\b[^,]*\b(?:is|are|was|were|has|have|does|do|needs?|lists?|says?|asked|said|wanted|would|will|can|cannot)\b|\bto (?:keep|avoid|make|let|allow|prevent|ensure|stay|match|reduce|stop|protect|support|preserve|save|not|rule out|cut|speed|free|spare|guard|hide|shrink|satisfy|simplify|fit|survive|get rid|get (?:a|an|the)|give|catch|remain|remove|bound|limit|work around|tell|leave|follow|comply|mirror|minimi[sz]e|detect|isolate|bring)\b|\b(?:damit|weil|denn|parce qu|car (?:le|la|les|il|elle|on|ce)|afin|pour (?:que|éviter|ne pas)|porque|ya que|para (?:que|evitar|no))";

/// How the product is to be, said of a part of it.
const PLACED_FORM: &str = r"\b(?:(?:goes|went) (?:in|into|next)|so (?:it|they|this|that) (?:goes?|went) to|stays|lives in|belongs|wins)\b";

/// A default that is no number.
const DEFAULT_FORM: &str = r"\bdefaults?(?: is| to|:)? (?:[/'.~]\S|(?:on|off|true|false|none|enabled|disabled)\b)|\b(?:on|off|enabled|disabled) by default\b";

/// What a match of [`DECIDED_FORM`] holds one of; the lists below do the same for the other forms.
pub(in crate::facts::lexical::sentences) const DECIDED_HINTS: &[&str] = &[
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
    "stay with",
    "stayed with",
    "let me decide",
    "let's decide",
    "let us decide",
    "is decided",
    " decided ",
    " agreed ",
    "we decided",
    "'s decided",
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

pub(in crate::facts::lexical::sentences) const PARTICIPLE_HINTS: &[&str] =
    &["decided ", "chosen ", "settled ", "agreed ", "opted "];

pub(in crate::facts::lexical::sentences) const VERDICT_HINTS: &[&str] =
    &[" it is", "is out", "are out", "switching to ", "agreed", "as decided", "as settled"];

pub(in crate::facts::lexical::sentences) const CONTRAST_HINTS: &[&str] = &[
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

pub(in crate::facts::lexical::sentences) const USER_CHOICE_HINTS: &[&str] =
    &["let's ", "let us ", "we'll ", "we will "];

pub(in crate::facts::lexical::sentences) const REASON_HINTS: &[&str] = &[
    "because",
    "otherwise ",
    "or else ",
    "that way ",
    "in order ",
    "so as ",
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

pub(in crate::facts::lexical::sentences) const PLACED_HINTS: &[&str] = &[
    "so it go",
    "so they go",
    "so this go",
    "so that go",
    "so it went to",
    "so they went to",
    "goes in",
    "went in",
    "goes next",
    "went next",
    "stays",
    "lives in",
    "belongs",
    "wins",
];

pub(in crate::facts::lexical::sentences) const DEFAULT_HINTS: &[&str] = &["default"];

/// What a match of [`MAKES`] begins with.
pub(in crate::facts::lexical::sentences) const PERSON_HINTS: &[&str] = &["i ", "i'", "we ", "we'"];

pub(super) static DECIDED: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(DECIDED_FORM));

pub(super) static PARTICIPLE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(PARTICIPLE_FORM));

pub(super) static VERDICT: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(VERDICT_FORM));

pub(super) static USER_CHOICE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(USER_CHOICE_FORM));

pub(super) static PLACED: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(PLACED_FORM));

pub(super) static DEFAULT: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(DEFAULT_FORM));

/// One thing against another.
pub(super) static CONTRAST: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(CONTRAST_FORM));
/// The same with any character beyond ASCII for a letter: letters of all scripts make a pattern so large that it is slow to
/// get going, read backwards.
pub(super) static NEAR_CONTRAST: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(&CONTRAST_FORM.replace(r"\w", r"0-9A-Za-z_[^\x00-\x7f]")));

/// Somebody of the conversation did, does or will do something to the work: person, auxiliaries, adverbs, verb.
pub(super) static MAKES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\b(?:i|we)(?:'ll|'ve|'m|'re| will| have| am| are)?(?: (?:also|now|therefore|only|still|just|then|not|instead|never|always|already|both|first|again|[a-z]+ly))* (?:do not |did not |don't |didn't |won't |will not )?([a-z]+)\b",
    )
});

/// An order that gives something a number: "make the wait 800 ms", "raise it to 8", "keep keys for 24 hours".
pub(super) static SETTING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^(?:make|set|give|raise|lower|increase|reduce|cut|bump|cap|limit|keep|debounce|throttle|clamp|poll|round|drop|extend|shorten)\b(?: [a-z_]+){1,4}? (?:to |at |for |by |every )?[0-9]+ ?(?:ms|s|sec|seconds|m|min|minutes|h|hours|d|days|kb|mb|gb|kib|mib|%|px|attempts|retries)\b",
    )
});

/// The product is made otherwise, by nobody named: "was moved to", "got a label", "became", "is a newtype now".
pub(super) static MADE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\b(?:was|were|got|been) (?:(?:[a-z]+ly|also|now|therefore|only|just) )?(?:added|batched|bumped|cached|capped|changed|collapsed|converted|deduplicated|deferred|delayed|disabled|downgraded|dropped|enabled|excluded|exposed|extracted|folded|gated|generated|guarded|hidden|hoisted|increased|inlined|introduced|kept|left|limited|loosened|lowered|made|merged|moved|narrowed|pinned|pulled|put|raised|reduced|relaxed|removed|renamed|reordered|replaced|restricted|reverted|rewritten|rounded|scoped|set|shortened|split|stored|swapped|switched|taken out|tightened|turned (?:on|off|into)|upgraded|widened|wrapped|written)\b|\b(?:was|were|got|been) (?:(?:[a-z]+ly|also|now|therefore|only|just) )?(?:re|un|de)?[a-z]+(?:ed|ewritten|ebuilt)\b|\b(?:is|are) gone\b|\bgot (?:an?|its|their) \S|\b(?:became|ended up|moved (?:to|into|out|up|down|from)|stays? (?:in|on|at|with))\b|\bnow\b",
    )
});

pub(super) static NOW: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"\bnow (?:[a-z]+s|use|take|are|default|return|live|go)\b|\b(?:is|are) still\b")
});

/// Why.
pub(super) static REASON: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(REASON_FORM));

/// Stems of verbs by which somebody works or thinks rather than makes: the agent's steps and views.
pub(super) const STEPPING: &[&str] = &[
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
