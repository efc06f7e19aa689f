//! A sentence of the user that binds the agent, and one that lifts what bound it.
//!
//! The triggers are of three kinds. An order that begins a clause with a binding word binds ("never ...", "no new ...",
//! "keep ..."). A modal binds wherever it stands, unless the sentence reports ("it must be a bug"). A limiting word
//! ("instead of", "X, not Y", "only", "without", "at most 3") binds in a sentence that directs.

use super::super::{LazyLock, Regex, is_cjk, pattern};
use super::{List, Plain, REPORTED, contains_any, has_word, words};

static MODAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\b(?:must(?:n't)?|shall(?: not)?|should be no|there (?:must|may|can) be no|should (?:not|never|always|only|stay|remain|keep|no longer)|shouldn't|(?:you|we) may not|may not (?:be|exceed)|can only|(?:is|are) not allowed|not allowed|(?:is|are) (?:forbidden|prohibited|required|mandatory)|(?:needs?|ought) to [a-z]+|(?:is|are) not to [a-z]+|(?:is|are) to (?:stay|remain|be [a-z]+ed)|out of scope|hands off|taboo|(?:may|must|should|can) only|(?:may|can|must|shall|will) never|(?:will|can) not be|(?:that|this|it) (?:must|should) not|what (?:i|we) (?:don't|do not) want|has to|have to|off[- ]limits|nothing (?:[a-z]+ )??(?:is allowed|may|must|should)|^nothing (?:[a-z0-9]+ ){1,6}?(?:is|gets|are) (?:[a-z]+ed|kept|sent|written|thrown)\b|nothing else(?:$|[.,;!]| (?:in|on|to|from|for|here|there|please)\b)|nothing (?:goes|gets|leaves|ships|is [a-z]+ed) .*\b(?:until|before|without|unless)|(?:stays?|remains?) (?:(?:exactly|just|all) )?(?:as (?:it is|they are|is)|what (?:it is|they are)|(?:below|under|within) [0-9]\S*|the same|untouched|unchanged|the way (?:it is|they are)|where (?:it is|they are)|put|alone|intact)|[a-z]+ stays?[.!]?$|(?:gets?|is|are|goes?|happens?|runs?|ships?) (?:[a-z]+ed )?only (?:after|once|when|if|with|from|by|through|behind)|never (?:goes?|ships?|lands?|belongs?|changes?|gets? (?:into|in|to|out)|leaves? the|touch(?:es)?)|(?:i|we) (?:don't|do not) want)\b",
    )
});
static LIMIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\b(?:at most|at least|no more than|not more than|no less than|no longer than|exceed|above|within|max(?:imum)?(?: of)?|up to|under|below|less than|fewer than) (?:[0-9]|an? (?:second|minute|hour|day|megabyte|gigabyte)\b|one\b|two\b|three\b|four\b|five\b|ten\b|half\b|once\b|twice\b)|\b[0-9]\S*(?: \S+)? (?:at most|at least|max|or less|or fewer)\b|\bno (?:larger|bigger|slower|later|longer) than\b",
    )
});
/// "12m, not 20m".
static CORRECTS: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"[0-9]\S*(?: \S+)?, not [0-9]"));
static WITHOUT: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"\bwithout [a-z]|\bwith no [a-z]"));
static CONTRAST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?:,| -|,? but) not \S|\bnot (?:before|until) | and not (?:(?:in|on|at|by|with|from|for) \S|(?:the |an? )?[\w./~-]+(?:$|[.,;!]))|\b(?:instead of|rather than) \S|(?:,| und) nicht (?:d(?:ie|er|as|en|em)|ein|im|in|auf|aus) |\b(?:statt|anstatt) \S|\b(?:plutôt que|au lieu de|en vez de|en lugar de) |\bnothing else\b|\bas[- ]is\b",
    )
});

/// What [`MODAL`] matches holds one of these.
pub(super) const MODALS: &[&str] = &[
    "must",
    "shall",
    "should",
    "there can be no",
    "there may be no",
    " only ",
    "may not",
    "can only",
    "may only",
    "never",
    "will not be",
    "can not be",
    "not allowed",
    "forbidden",
    "prohibited",
    "required",
    "mandatory",
    "need",
    "ought to",
    "not to ",
    "out of scope",
    "hands off",
    "are to ",
    "is to ",
    "taboo",
    "has to",
    "have to",
    "off-limits",
    "off limits",
    "nothing ",
    "stay",
    "remain",
    "don't want",
    "do not want",
];
/// What limits: each match of [`LIMIT`], [`CORRECTS`], [`WITHOUT`] and [`CONTRAST`] holds one of these, and so do the words that limit
/// by themselves.
pub(super) const LIMITS: &[&str] = &[
    "at most",
    "at least",
    " than",
    "exceed",
    "above",
    "within",
    "max",
    "up to",
    "under",
    "below",
    "or less",
    "or fewer",
    "without ",
    ", not ",
    "- not ",
    "but not ",
    "not before ",
    "not until ",
    "with no ",
    " and not ",
    "instead of ",
    "nothing else",
    " nicht ",
    "statt ",
    "plutôt que",
    "au lieu de",
    "en vez de",
    "en lugar de",
    "as-is",
    "as is",
    "only",
    "always",
    "unchanged",
    "untouched",
    "stays",
];

/// Binds the sentence, which a user wrote, the agent?
pub(in crate::facts) fn is_constraint(plain: &Plain<'_>) -> bool {
    let sentence = plain.sentence;
    if !plain.fits() || plain.is_open() || contains_any(&plain.lower, GUESSED) {
        return false;
    }
    let binds = cjk_constraint(sentence)
        || foreign(plain)
        || !plain.says(List::Lifting)
            && (plain
                .clauses()
                .any(|clause| orders(clause) && !(clause.starts_with("only ") && reports(&plain.lower)))
                || plain.clauses().next().is_some_and(excludes)
                || obliges(plain)
                || plain.has_form(List::Limits, &CORRECTS)
                || limits(plain) && (plain.directs() || settles(plain)))
            && !(plain.says(List::Reported) && contains_any(before_reason(&plain.lower), REPORTED));
    binds && !quoted(sentence)
}

/// "Let me settle it: X, not Y", "I want X rather than Y": what the user has chosen binds.
fn settles(plain: &Plain<'_>) -> bool {
    let lower = plain.lower.as_str();
    contains_any(lower, &["settle it", "is decided", "we decided", "i decided"])
        || contains_any(lower, &["i want ", "we want ", "i'd like "])
            && CONTRAST.as_ref().is_some_and(|contrast| contrast.is_match(lower))
}

/// Who says what in the reason does not matter for the rule.
fn before_reason(lower: &str) -> &str {
    [" because ", " since "]
        .iter()
        .find_map(|joint| lower.split_once(joint))
        .map_or(lower, |(claim, _)| claim)
}

/// What is only thought or found, or falls to others.
const GUESSED: &[&str] = &[
    "i have a feeling",
    " i think.",
    "alright, i think",
    "they'll need ",
    "i'll just need ",
    "as we now know",
    "it's unfortunate",
];

static FOREIGN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\bbitte\b.*\b(?:nichts?|nie|kein[a-z]*|nur|unverändert|so lassen)\b|\b(?:veuillez|merci de) (?:ne |n')|\b(?:debe|deben|tiene que|tienen que|hay que) [a-z]+(?:ar|er|ir)\b|\b(?:il faut|doit|doivent) [a-zéèê]+(?:er|ir|re)\b|\b(?:muss|müssen|soll|sollen) [^,;.]*(?:en|sein|tun)(?:[.,;!]|$)|\b(?:darf|dürfen|sollen?|soll|muss|müssen) (?:[^ ]+ ){0,6}?(?:nicht|nie|niemals|kein|keine|keinen|nur|immer|bleiben|unverändert|mindestens|höchstens)\b|^(?:bitte )?(?:nicht|nie|niemals|keine?[nrs]?|nur|immer|höchstens|mindestens|maximal) \S|\b(?:niemals|auf keinen fall|unbedingt)\b|\b(?:höchstens|mindestens|maximal) [0-9]|\bohne (?:[^ ]+ ){1,5}zu\b|^(?:lass|lasst|ändere?|änder|benutze?|verwende|nimm|fass) .*\b(?:nicht|keine?n?|nur|unverändert|unberührt)\b|\bne (?:[^ ]+ ){1,3}?(?:jamais|rien)\b|^ne (?:[^ ]+ )pas\b|\bne (?:doit|doivent|peut|peuvent|faut) (?:pas|plus|jamais)\b|\bn'[^ ]+ (?:pas|jamais|rien)\b .*!|\b(?:doit|doivent) (?:rester|toujours|absolument|être)\b|\b(?:au plus|au maximum|au moins) [0-9]|^(?:toujours|jamais|uniquement|seulement|pas de) \S|\b(?:uniquement|surtout pas)\b|\bno (?:debe|deben|puede|pueden|se debe|hay que)\b|\b(?:debe|deben) (?:quedar|seguir|ser|estar|permanecer)\b|^(?:por favor,? )?no (?:toques?|cambies?|modifiques?|uses?|borres?|añadas?|agregues?|elimines?|hagas?|rompas?|subas?|publiques?|mezcles?|metas?)\b|\bnunca\b|^(?:siempre|solo|sólo|nada de|solamente) \S|\b(?:como máximo|como mínimo|al menos|a lo sumo) [0-9]|\bsin [a-z]+(?:ar|er|ir)(?:l[oa]s?)? ",
    )
});

/// The words that bind in German, French and Spanish. A report in them ("es muss ein Fehler sein") is not meant.
pub(super) const FOREIGN_HINTS: &[&str] = &[
    "bitte",
    "veuillez",
    "merci de",
    "tiene que",
    "tienen que",
    "hay que",
    "il faut",
    "darf",
    "dürfen",
    "soll",
    "muss",
    "müssen",
    "nicht",
    "nie",
    "kein",
    "nur",
    "immer",
    "höchstens",
    "mindestens",
    "maximal",
    "auf keinen fall",
    "unbedingt",
    "ohne",
    "unverändert",
    "unberührt",
    "ne ",
    "n'",
    "doit",
    "doivent",
    "au plus",
    "au maximum",
    "au moins",
    "toujours",
    "jamais",
    "uniquement",
    "seulement",
    "pas de",
    "surtout pas",
    "no ",
    "debe",
    "nunca",
    "siempre",
    "solo",
    "sólo",
    "nada de",
    "solamente",
    "como m",
    "al menos",
    "a lo sumo",
    "sin ",
];

fn foreign(plain: &Plain<'_>) -> bool {
    // A sentence of these languages has one of their small words.
    const SMALL: &[&str] = &[
        "der", "die", "das", "den", "dem", "und", "nicht", "ein", "eine", "keine", "bitte", "pro", "für",
        "im", "le", "la", "les", "des", "du", "pas", "jamais", "et", "dans", "que", "el", "los", "las",
        "del", "por", "en", "un", "una", "y",
    ];
    plain.has_form(List::Foreign, &FOREIGN)
        && has_word(&plain.lower, SMALL)
        && !contains_any(
            &plain.lower,
            &[
                "ein fehler sein",
                "muss an ",
                "doit être un bug",
                "debe ser un",
                "debe haber",
                "doit y avoir",
                "nie funktioniert",
                "ich muss",
                "muss ich",
                "wir müssen",
                "müssen wir",
                "soll ich",
                "muss wohl",
                "warum",
                "wieso",
                " ob ",
            ],
        )
}

/// A clause that begins with a binding word, as an order.
fn orders(clause: &str) -> bool {
    let mut words = words(clause);
    let first = words.next().unwrap_or("");
    let second = words.next().unwrap_or("");
    match first {
        // "And never answers" tells what something does.
        "never" => !IDLE_VERBS.contains(&second) && (!second.ends_with('s') || second.ends_with("ss")),
        "don't" | "dont" => !IDLE_VERBS.contains(&second),
        "do" if second == "not" => !IDLE_VERBS.contains(&words.next().unwrap_or("")),
        "under" => clause.starts_with("under no circumstances"),
        // "no, that's it" says no to something else.
        "no" => clause.starts_with("no ") && prohibits(clause, second),
        "always" | "avoid" | "ensure" | "refrain" | "ignore" | "preserve" | "retain" | "maintain" => {
            !second.is_empty()
        }
        "make" | "be" => second == "sure",
        "stop" => second.ends_with("ing"),
        "only" | "strictly" => {
            !matches!(second, "happens" | "one" | "then" | "when" | "if" | "once" | "twice")
        }
        "keep" => {
            (!matches!(second, "going" | "up" | "in" | "trying" | "working" | "it" | "at")
                || contains_any(clause, &["keep in sync", "keep it "]))
                && !lasts(clause)
        }
        "leave" => !second.is_empty() && !second.ends_with("ing"),
        "stick" => matches!(second, "to" | "with"),
        "stay" => matches!(second, "within" | "in" | "below" | "under" | "on" | "away" | "with"),
        // "Limit 32 MB", "limit: 20 000 entries" name a setting.
        "limit" | "restrict" | "confine" => {
            second.starts_with(char::is_alphabetic)
                && !clause.get(first.len()..).is_some_and(|it| it.starts_with(':'))
        }
        "hold" | "wait" => clause.contains(" until "),
        _ => false,
    }
}

/// "Keep keys for 24 hours": how long, not as it is.
fn lasts(clause: &str) -> bool {
    clause.split_once(" for ").is_some_and(|(kept, rest)| {
        words(kept).count() <= 4 && rest.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// "Not all three browsers": a sentence that begins with what is not to be.
fn excludes(clause: &str) -> bool {
    let mut rest = words(clause);
    rest.next() == Some("not")
        && !matches!(
            rest.next(),
            None | Some("sure" | "yet" | "really" | "bad" | "quite" | "a" | "that" | "now" | "only" | "all")
        )
        && (!clause.starts_with("not the ")
            || words(clause).count() <= 5
                && !contains_any(clause, &["first time", "case", "same", "problem", "point"]))
}

/// After "never" and "don't": no order to the work.
const IDLE_VERBS: &[&str] = &[
    "mind",
    "worry",
    "know",
    "understand",
    "think",
    "care",
    "see",
    "bother",
    "hesitate",
    "remember",
    "seen",
    "worked",
    "recall",
    "believe",
    "have",
    "been",
    "had",
    "really",
    "get",
    "need",
    "works",
    "ran",
    "happened",
    "saw",
    "heard",
    "got",
    "even",
    "like",
    "mean",
    "want",
    "",
];

/// "No new dependencies", "no force-push": a thing that is not to be. Not "no problem", "no errors were found".
fn prohibits(clause: &str, noun: &str) -> bool {
    const IDLE: &[&str] = &[
        "problem",
        "problems",
        "worries",
        "need",
        "idea",
        "longer",
        "one",
        "way",
        "doubt",
        "matter",
        "rush",
        "it",
        "i",
        "that",
        "this",
        "errors",
        "error",
        "issues",
        "issue",
        "luck",
        "change",
        "difference",
        "wait",
        "the",
        "you",
        "we",
        "please",
        "thanks",
        "not",
        "results",
        "result",
        "failures",
        "output",
        "success",
        "progress",
        "response",
        "clue",
        "go",
        "such",
        "use",
        "there",
        "he",
        "she",
        "they",
        "what",
        "just",
        "leave",
        "keep",
        "don't",
        "never",
        "make",
        "that's",
        "it's",
        "i'm",
        "revert",
        "",
    ];
    let count = words(clause).count();
    let reports = contains_any(
        clause,
        &[
            " was ", " were ", " found", " is ", " are ", " has ", " have ", " seems", " happens", " exists",
            "there ", " yet",
        ],
    );
    // "No code yet".
    let waits = count <= 4 && clause.trim_end_matches('.').ends_with(" yet");
    !IDLE.contains(&noun) && (!reports || waits) && (2..=14).contains(&count)
}

/// A modal that binds.
fn obliges(plain: &Plain<'_>) -> bool {
    !plain.says(List::Report)
        && (plain.has_form(List::Modal, &MODAL) || may_not(&plain.lower))
        && !must_have_been(&plain.lower)
}

/// "It must have been like this": a guess. "The bucket must have versioning" is a rule.
pub(super) fn must_have_been(lower: &str) -> bool {
    const PARTICIPLES: &[&str] = &[
        "been",
        "gone",
        "broken",
        "left",
        "lost",
        "got",
        "gotten",
        "come",
        "made",
        "done",
        "had",
        "taken",
        "run",
        "forgotten",
        "seen",
        "fallen",
        "become",
        "slipped",
        "something",
    ];
    lower.match_indices("must have ").any(|(at, joint)| {
        let next = lower.get(at + joint.len()..).and_then(|rest| words(rest).next()).unwrap_or("");
        PARTICIPLES.contains(&next) || next.len() > 4 && next.ends_with("ed")
    })
}

/// "It may not shift" forbids; "it may not work" and "which may not match" guess.
fn may_not(lower: &str) -> bool {
    const GUESSED: &[&str] = &[
        "always",
        "apply",
        "be",
        "care",
        "compile",
        "even",
        "exist",
        "fit",
        "get",
        "happen",
        "have",
        "help",
        "know",
        "like",
        "look",
        "match",
        "matter",
        "need",
        "notice",
        "pass",
        "reproduce",
        "run",
        "scale",
        "see",
        "seem",
        "show",
        "want",
        "work",
        "yet",
    ];
    lower.match_indices(" may not ").any(|(at, joint)| {
        let subject = lower.get(..at).unwrap_or("").rsplit(' ').next().unwrap_or("");
        let verb = lower.get(at + joint.len()..).and_then(|rest| words(rest).next()).unwrap_or("");
        !GUESSED.contains(&verb) && !matches!(subject, "that" | "which" | "this" | "there" | "i")
    })
}

/// A limiting word, in a sentence that directs.
fn limits(plain: &Plain<'_>) -> bool {
    if !plain.says(List::Limits) || plain.says(List::Report) {
        return false;
    }
    let lower = plain.lower.as_str();
    let is = |rule: &LazyLock<Option<Regex>>| rule.as_ref().is_some_and(|rule| rule.is_match(lower));
    let holds = [
        "only has ",
        "only have ",
        "only contains ",
        "only holds ",
        "only shows ",
        "only happens ",
        "only knows ",
    ];
    let only = words(lower).enumerate().any(|(at, word)| match word {
        "only" => {
            (at > 0 || !lower.starts_with("only the"))
                && !contains_any(lower, &holds)
                && !fails(lower)
                && !names_only(lower)
        }
        "always" | "unchanged" | "untouched" | "stays" => true,
        _ => false,
    });
    (only || is(&CONTRAST) || is(&LIMIT) || is(&WITHOUT)) && !past(lower)
}

/// "I get a crash since Monday, only on Android 8": tells what goes wrong.
fn reports(lower: &str) -> bool {
    matches!(words(lower).next(), Some("i" | "it" | "they" | "there" | "happens"))
        || words(lower).take(8).any(|word| {
            matches!(
                word,
                "crash"
                    | "crashes"
                    | "fails"
                    | "failed"
                    | "hangs"
                    | "happens"
                    | "broken"
                    | "red"
                    | "bug"
                    | "error"
            )
        })
}

/// "Report-only for the first week": the name of a mode.
fn names_only(lower: &str) -> bool {
    lower.split_whitespace().next().is_some_and(|first| first.contains("-only"))
}

/// "Crash on level unload, only in release": the heading of a report.
fn fails(lower: &str) -> bool {
    matches!(words(lower).next(), Some("crash" | "crashes" | "fails" | "error" | "hangs" | "bug"))
}

/// Tells what happened.
fn past(lower: &str) -> bool {
    let first = words(lower).next().unwrap_or("");
    matches!(first, "i" | "it" | "he" | "she" | "they" | "there" | "that" | "this")
        || words(lower)
            .take(6)
            .any(|word| matches!(word, "was" | "were" | "did" | "had" | "didn't" | "wasn't"))
}

/// Tells what is, or what somebody has to do: "it must be a bug", "I must admit", "I have to restart it every time".
pub(super) const REPORTS: &[&str] = &[
    "must be a ",
    "must be the ",
    "must be some",
    "must be because",
    "must be due",
    "must admit",
    "must say",
    "have to say",
    "have to admit",
    "i have to",
    "i had to",
    "whether ",
    "i need to",
    "we need to",
    "you need to know",
    "no need to",
    "don't need to",
    "doesn't need to",
    "does not need to",
    "do not need to",
    "need to go",
    "have to go",
    "have to leave",
    "we'll have to",
    "will have to",
    "i'll have to",
    "we had to",
    "don't have to",
    "doesn't have to",
    "does not have to",
    "do not have to",
    "you have to be",
    "was required",
    "were required",
    "i must ",
    "if you must",
    "must've",
    "must be missing",
    "must be wrong",
    "no longer has to",
    "has to do with",
    "have to do with",
    "has to be a ",
    "has to be some",
];

/// Does the whole rule stand inside quotation marks?
fn quoted(sentence: &str) -> bool {
    let trimmed = sentence.trim();
    let mut marks = trimmed.char_indices().filter(|(_, c)| matches!(c, '"' | '“' | '”' | '「' | '」'));
    let (Some((open, _)), Some((close, _))) = (marks.next(), marks.next_back()) else { return false };
    (close - open) * 2 > trimmed.len() && close - open > 12
}

/// Triggers of Chinese, Japanese and Korean.
fn cjk_constraint(sentence: &str) -> bool {
    if sentence.is_ascii() || !sentence.chars().any(is_cjk) {
        return false;
    }
    let zh = [
        "不要",
        "不能",
        "不得",
        "禁止",
        "必须",
        "务必",
        "只能",
        "不许",
        "切勿",
        "请勿",
        "一定要",
        "不准",
        "不可以",
        "不应该",
        "只允许",
        "只用",
        "只使用",
        "只修改",
        "只改",
        "也要有",
        "都要",
        "先不要",
        "严禁",
        "不超过",
        "最多",
        "始终使用",
        "避免",
        "只对",
        "只在",
        "仅",
        "保持原样",
        "保持不变",
        "原样不动",
        "不动",
        "不得超过",
        "以内",
        "不许",
        "绝不",
        "不重试",
    ];
    let ja = [
        "しないで",
        "ないで(",
        "ないで。",
        "ないこと",
        "しておくこと",
        "避けたい",
        "しないこと",
        "してはいけない",
        "してはならない",
        "必ず",
        "なければならない",
        "なければなりません",
        "しないように",
        "ないでください",
        "のみ使用",
        "のみを使",
        "だけを使",
        "だけ使",
        "厳禁",
        "変更しない",
        "してください。ただし",
        "までに",
        "回まで",
        "以内",
        "以下に",
        "触らない",
        "そのままに",
        "のままで",
        "にだけ",
        "だけお願い",
        "だけ直",
        "だけ変",
        "だけを変",
        "だけを直",
        "だけにし",
        "だけで",
        "禁止",
    ];
    let ko = ["하지 마", "하지 말", "반드시", "절대", "금지", "만 사용"];
    // "按字符，不是字节": one thing and not the other.
    if contains_any(sentence, &[",不是", "、不是", "而不是", "ではなく"]) {
        return true;
    }
    let report = [
        "不能运行",
        "不能工作",
        "为什么不能",
        "不能用了",
        "不要紧",
        "不要です",
        "不要で",
        "不要な",
        "不能正常",
        "だけで十分",
        "だけで起",
        "だけで発生",
    ];
    (contains_any(sentence, &zh)
        || contains_any(sentence, &ja)
        || contains_any(sentence, &ko)
        || sentence.trim_start().starts_with('别'))
        && !contains_any(sentence, &report)
}

/// Phrases of a sentence that takes a rule back.
pub(super) const LIFTING: &[&str] = &[
    "you can now ",
    "you may now ",
    "is fine now",
    "is ok now",
    "is okay now",
    "is allowed now",
    "are allowed now",
    "are fine now",
    "now allowed",
    "no longer need",
    "no longer necessary",
    "no longer applies",
    "no longer required",
    "forget the rule",
    "forget what i said",
    "ignore what i said",
    "scratch that",
    "lift the ",
    "drop the rule",
    "drop that rule",
    "drop the constraint",
    "changed my mind",
    "never mind the rule",
    "nevermind the",
    "is fine after all",
    "are fine after all",
    "is ok after all",
    "you can use",
    "no need to avoid",
    "不再需要",
    "可以用了",
    "可以使用了",
    "取消限制",
];

/// A sentence that takes a rule back: "you can use X now", "X is fine again", "forget the rule about X".
pub(in crate::facts) fn is_lifting(lower: &str) -> bool {
    contains_any(lower, LIFTING)
}

/// The patterns, each with the list whose phrases it cannot match without.
#[cfg(test)]
pub(super) fn forms() -> Vec<(List, &'static LazyLock<Option<Regex>>)> {
    vec![
        (List::Modal, &MODAL),
        (List::Limits, &LIMIT),
        (List::Limits, &CORRECTS),
        (List::Limits, &WITHOUT),
        (List::Limits, &CONTRAST),
        (List::Foreign, &FOREIGN),
    ]
}
