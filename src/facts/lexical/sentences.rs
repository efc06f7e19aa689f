//! Sentences that bind, settle or ask. All lists are closed; each rule names the position its trigger must have,
//! because the same words report, offer and ask.

use super::super::Author;
use super::{LazyLock, Regex, is_cjk, pattern};

/// A unit without its list marker, heading marks and emphasis.
pub(in crate::facts) fn strip_marker(unit: &str) -> &str {
    let mut rest = unit.trim();
    rest = rest.trim_start_matches('#').trim_start();
    for marker in ["- [ ] ", "- [x] ", "- ", "* ", "+ ", "• "] {
        if let Some(after) = rest.strip_prefix(marker) {
            rest = after.trim_start();
            break;
        }
    }
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=2).contains(&digits)
        && let Some(after) = rest.get(digits..)
        && let Some(after) = after.strip_prefix(['.', ')'])
        && after.starts_with(' ')
    {
        rest = after.trim_start();
    }
    rest
}

/// A sentence in lower case, with markup and curly apostrophes gone, and its clauses.
struct Plain {
    lower: String,
}

impl Plain {
    fn new(sentence: &str) -> Self {
        let mut lower = String::with_capacity(sentence.len());
        for c in sentence.chars() {
            match c {
                '*' | '`' => {}
                '’' | '‘' => lower.push('\''),
                '\n' | '\t' => lower.push(' '),
                _ if c.is_ascii() => lower.push(c.to_ascii_lowercase()),
                _ => lower.extend(c.to_lowercase()),
            }
        }
        Self { lower }
    }

    /// Starts of clauses: after punctuation and joining words. Each is trimmed of polite openings.
    fn clauses(&self) -> Vec<&str> {
        let mut out = Vec::new();
        let mut starts = vec![0];
        for (at, c) in self.lower.char_indices() {
            if matches!(c, ',' | ';' | ':' | '(' | '—' | '–' | '，' | '；' | '：' | '、') {
                starts.push(at + c.len_utf8());
            }
        }
        for joint in [
            " and ",
            " but ",
            " so ",
            " then ",
            " - ",
            " because ",
            " also ",
            " however ",
            " where ",
            " that ",
        ] {
            for (at, found) in self.lower.match_indices(joint) {
                starts.push(at + found.len());
            }
        }
        starts.sort_unstable();
        for start in starts {
            let mut clause = self.lower.get(start..).unwrap_or("").trim_start();
            loop {
                let next = [
                    "please ",
                    "also ",
                    "but ",
                    "and ",
                    "so ",
                    "then ",
                    "just ",
                    "ok ",
                    "okay ",
                    "now ",
                    "again ",
                    "note: ",
                    "important: ",
                    "rule: ",
                    "constraint: ",
                    "requirement: ",
                    "remember: ",
                    "remember ",
                    "one thing: ",
                    "plus ",
                    "still ",
                    "for now ",
                    "from now on ",
                    "in general ",
                    "you ",
                    "we ",
                    "pls ",
                    "yes ",
                    "no wait ",
                    "actually ",
                ]
                .iter()
                .find_map(|opening| clause.strip_prefix(opening));
                match next {
                    Some(rest) if !matches!(clause.get(..3), Some("we " | "you")) || binding_modal(rest) => {
                        clause = rest.trim_start();
                    }
                    _ => break,
                }
            }
            if !clause.is_empty() {
                out.push(clause);
            }
        }
        out
    }
}

/// After "you" or "we": a word that makes it a rule.
fn binding_modal(rest: &str) -> bool {
    [
        "never ",
        "always ",
        "only ",
        "must ",
        "should ",
        "shouldn't ",
        "may not ",
        "can't ",
        "cannot ",
        "can only ",
        "are not allowed",
        "need to ",
        "have to ",
    ]
    .iter()
    .any(|word| rest.starts_with(word))
}

fn starts_with_any(text: &str, list: &[&str]) -> bool {
    list.iter().any(|start| text.starts_with(start))
}

fn contains_any(text: &str, list: &[&str]) -> bool {
    list.iter().any(|part| text.contains(part))
}

/// Questions, offers, guesses, quotations.
fn is_open(plain: &str, sentence: &str) -> bool {
    let end = sentence.trim_end_matches(['"', '\'', ')', '”', ' ', '*', '_']);
    if end.ends_with(['?', '？'])
        || end.ends_with(['吗', '呢', 'か'])
        || end.contains("吗")
        || end.ends_with("么")
    {
        return true;
    }
    contains_any(
        plain,
        &[
            "maybe ",
            "perhaps ",
            "we could ",
            "you could ",
            "i could ",
            "could be ",
            "what if ",
            "wondering",
            "should we ",
            "shall we ",
            "how about ",
            "might want",
            "i think it ",
            "for example, ",
            "e.g. ",
            "for instance",
            "hypothetically",
            "in theory",
            "or we can",
            "one option",
            "another option",
            "alternatively",
            "或许",
            "也许",
            "かもしれ",
            "比如",
            "例如",
        ],
    ) || starts_with_any(
        plain,
        &[
            "could ",
            "can ",
            "would ",
            "should ",
            "why ",
            "what ",
            "how ",
            "is it",
            "are there",
            "do you",
            "does ",
        ],
    )
}

/// A trigger inside a quotation, or a rule that somebody else is reported to state.
fn is_reported(plain: &str) -> bool {
    contains_any(
        plain,
        &[
            " says ",
            " says:",
            " said ",
            " states ",
            " stated ",
            "according to",
            " reads:",
            " reads \"",
            "documented as",
            "the docs say",
            "the readme",
            "the comment ",
            "it says",
            " mentions that",
            " tells me",
            "error message",
            " claims ",
            " wrote ",
            "写着",
            "写道",
            "と書いて",
            " warns ",
            " complains ",
        ],
    )
}

static NEVER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"^(?:never|do not|don't|dont|do no|never ever|under no circumstances|no more|stop) ([a-z'\-]+)")
});
static MODAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\b(?:must(?: not|n't| never| always| only| all)?|shall(?: not)?|should (?:not|never|always|only)|shouldn't|may not|can only|is not allowed|are not allowed|not allowed|is forbidden|are forbidden|is prohibited|is required|are required|is mandatory|needs to (?:stay|remain|keep|be kept)|has to|have to|off[- ]limits|i (?:don't|do not) want(?: you)?|we (?:don't|do not) want)\b",
    )
});
static ONLY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^(?:only|strictly) (?:use|edit|change|modify|touch|write|run|read|commit|return|accept|support|allow|call|import|add|work|look|test|fix|update|create|delete|push|log|include|rely|depend|consider|make|ever|the|files|in|on)\b|\b(?:use|edit|change|modify|touch|write|run|commit|return|accept|support|allow|call|import|depend on|rely on|work in|read) only\b|^(?:limit|restrict|confine) (?:yourself|it|the|changes|this|all)\b|^(?:stick to|stick with|stay within|stay in)\b",
    )
});
static KEEP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^(?:keep|leave) .*\b(?:unchanged|untouched|as is|as-is|intact|alone|compatible|stable|under|below|at or below|within|private|public|the same|minimal|backwards?|in sync|green|sorted)\b|^(?:preserve|retain|maintain) ",
    )
});
static NO: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"^no ([a-z][a-z\-]*)"));
static LIMIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\b(?:at most|no more than|not more than|at least|no less than|no longer than|must not exceed|not exceed|don't exceed|max(?:imum)? of) [0-9]|\bno (?:larger|bigger|slower|later) than\b",
    )
});
static WITHOUT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\bwithout (?:changing|breaking|touching|modifying|adding|altering|introducing|using|removing|editing|rewriting|renaming|deleting|increasing|losing|any (?:new|external|changes|change|extra))\b",
    )
});
static INSTEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^(?:use|prefer|take|call|write|store|keep|return|run|import|put|switch to|go with|make it|read|send|log|emit|pass) .*\b(?:instead of|rather than|not|over)\b|^(?:instead of|rather than) ",
    )
});

/// Binds the sentence, which a user wrote, the agent?
pub(in crate::facts) fn is_constraint(sentence: &str) -> bool {
    if sentence.len() > 600 || sentence.len() < 6 {
        return false;
    }
    let plain = Plain::new(sentence);
    let lower = plain.lower.trim();
    if cjk_constraint(sentence) {
        return !is_open(lower, sentence) && !quoted(sentence);
    }
    if is_open(lower, sentence) || is_reported(lower) {
        return false;
    }
    let (
        Some(never),
        Some(modal),
        Some(only),
        Some(keep),
        Some(no),
        Some(limit),
        Some(without),
        Some(instead),
    ) = (
        NEVER.as_ref(),
        MODAL.as_ref(),
        ONLY.as_ref(),
        KEEP.as_ref(),
        NO.as_ref(),
        LIMIT.as_ref(),
        WITHOUT.as_ref(),
        INSTEAD.as_ref(),
    )
    else {
        return false;
    };
    let clauses = plain.clauses();
    let mut hit: Option<&str> = None;
    for clause in &clauses {
        if let Some(found) = never.captures(clause) {
            let verb = found.get(1).map_or("", |word| word.as_str());
            let idle = matches!(
                verb,
                "mind"
                    | "worry"
                    | "know"
                    | "understand"
                    | "think"
                    | "care"
                    | "see"
                    | "bother"
                    | "hesitate"
                    | "remember"
                    | "seen"
                    | "worked"
                    | "recall"
                    | "believe"
                    | "have"
                    | "been"
                    | "had"
                    | "really"
                    | "get"
            );
            if !idle || clause.starts_with("do not get") {
                hit = Some(clause);
            }
        }
        if only.is_match(clause) || keep.is_match(clause) || instead.is_match(clause) {
            hit = hit.or(Some(clause));
        }
        if starts_with_any(
            clause,
            &[
                "always ",
                "avoid ",
                "make sure ",
                "be sure to ",
                "ensure ",
                "refrain from ",
                "must ",
                "never, ",
                "don't ever ",
                "leave ",
                "only ",
                "and only ",
                "keep the ",
                "requirement: ",
                "nothing else",
            ],
        ) {
            hit = hit.or(Some(clause));
        }
        if let Some(found) = no.captures(clause) {
            let noun = found.get(1).map_or("", |word| word.as_str());
            let idle = matches!(
                noun,
                "problem"
                    | "problems"
                    | "worries"
                    | "need"
                    | "idea"
                    | "longer"
                    | "one"
                    | "way"
                    | "doubt"
                    | "matter"
                    | "rush"
                    | "it"
                    | "i"
                    | "that"
                    | "this"
                    | "errors"
                    | "error"
                    | "issues"
                    | "issue"
                    | "luck"
                    | "change"
                    | "difference"
                    | "wait"
                    | "the"
                    | "you"
                    | "we"
                    | "please"
                    | "thanks"
                    | "not"
                    | "results"
                    | "result"
                    | "failures"
                    | "output"
                    | "success"
                    | "progress"
                    | "response"
                    | "clue"
                    | "go"
                    | "more"
                    | "such"
                    | "use"
            );
            let reports = contains_any(
                clause,
                &[
                    " was ", " were ", " found", " is ", " are ", " has ", " have ", " seems", " happens",
                    " exists", "there ",
                ],
            );
            if !idle
                && !reports
                && clause.split_whitespace().count() >= 2
                && clause.split_whitespace().count() <= 14
            {
                hit = hit.or(Some(clause));
            }
        }
    }
    if hit.is_none() && modal.is_match(lower) && !is_report(lower) {
        hit = Some(lower);
    }
    if hit.is_none()
        && (limit.is_match(lower) || without.is_match(lower))
        && !is_report(lower)
        && !lower.starts_with("i ")
    {
        hit = Some(lower);
    }
    hit.is_some() && !quoted(sentence) && !is_lifting(lower)
}

/// "it must be a bug", "I must admit", "must have been", "I have to say", "I have to restart it every time".
fn is_report(lower: &str) -> bool {
    contains_any(
        lower,
        &[
            "must be a ",
            "must be the ",
            "must be some",
            "must be because",
            "must be due",
            "must have ",
            "must admit",
            "must say",
            "have to say",
            "have to admit",
            "i have to",
            "i had to",
            "we have to",
            "we had to",
            "don't have to",
            "doesn't have to",
            "does not have to",
            "do not have to",
            "you have to be",
            "nothing ",
            "was required",
            "were required",
            "i must ",
            "must've",
            "must be missing",
            "must be wrong",
            "no longer has to",
            "has to do with",
            "have to do with",
            "has to be a ",
            "has to be some",
        ],
    )
}

/// Does the whole rule stand inside quotation marks?
fn quoted(sentence: &str) -> bool {
    let trimmed = sentence.trim();
    let mut marks = trimmed.char_indices().filter(|(_, c)| matches!(c, '"' | '“' | '”' | '「' | '」'));
    let (Some((open, _)), Some((close, _))) = (marks.next(), marks.next_back()) else { return false };
    (close - open) * 2 > trimmed.len() && close - open > 12
}

/// Triggers of Chinese, Japanese and Korean.
fn cjk_constraint(sentence: &str) -> bool {
    if !sentence.chars().any(is_cjk) {
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
        "严禁",
        "不超过",
        "最多",
        "始终使用",
        "避免",
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
    ];
    let ko = ["하지 마", "하지 말", "반드시", "절대", "금지", "만 사용"];
    let report = ["不能运行", "不能工作", "为什么不能", "不能用了", "不要紧", "不能正常"];
    (contains_any(sentence, &zh)
        || contains_any(sentence, &ja)
        || contains_any(sentence, &ko)
        || sentence.trim_start().starts_with('别'))
        && !contains_any(sentence, &report)
}

/// A sentence that takes a rule back: "you can use X now", "X is fine again", "forget the rule about X".
pub(in crate::facts) fn is_lifting(lower: &str) -> bool {
    contains_any(
        lower,
        &[
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
            "never mind the",
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
        ],
    )
}

static DECIDED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\b(?:(?:i|we|i've|we've|i have|we have|have|has been|was|is|it's)?\s?(?:decided|chosen|settled|agreed|opted) (?:to|on|against|that|for|in favou?r|not to|upon)\b|(?:i|we) (?:chose|picked|went with|settled)\b|chose .+ (?:over|because|instead|rather)|(?:let's|let us|we'll|i'll|we will|i will|we're|i'm|we are|i am) (?:go|going|stick|sticking|settle|settling) (?:with|for|on)\b|(?:^|[,;:.] )(?:going|sticking) with\b|(?:^|, |: )(?:go|stick) with\b|(?:the )?decision(?: is|:| was)|final (?:decision|choice|answer)|switch(?:ed|ing) (?:from .+ )?to .+ (?:because|instead|since|due)|we(?:'re| are) (?:switching|moving|migrating) to\b|let's (?:switch|move|migrate) to\b)",
    )
});
static CHOSEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\b(?:i'll|we'll|i will|we will|let's|i'm|we're|i am|we are|i have|i've|we've) (?:use|using|keep|keeping|take|taking|adopt|adopting|used|kept|adopted|implement|implementing|implemented|store|storing|stored|drop|dropped|dropping) .+\b(?:instead of|rather than|over|because|since|so that)\b",
    )
});
static USER_CHOICE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^(?:ok,? |okay,? |yes,? |then |alright,? |so )*(?:let's|let us|we'll|we will) (?:use|keep|do|take|adopt|drop|make it|call it|implement)\b",
    )
});

/// Settles the sentence a choice?
pub(in crate::facts) fn is_decision(sentence: &str, author: Author) -> bool {
    if sentence.len() > 600 || sentence.len() < 8 {
        return false;
    }
    let plain = Plain::new(sentence);
    let lower = plain.lower.trim();
    // What speaks for a decision is rare; what speaks against one is looked for only then.
    chooses(lower, sentence, author)
        && !(is_open(lower, sentence) || is_reported(lower) || leaves_open(lower))
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

/// The words and forms of a choice.
fn chooses(lower: &str, sentence: &str, author: Author) -> bool {
    if sentence.chars().any(is_cjk)
        && contains_any(
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
                "로 결정",
                "하기로 했",
            ],
        )
    {
        return true;
    }
    if DECIDED.as_ref().is_some_and(|decided| decided.is_match(lower)) {
        return true;
    }
    if settles(lower, sentence, author) {
        return true;
    }
    match author {
        Author::User => USER_CHOICE.as_ref().is_some_and(|choice| choice.is_match(lower)),
        // An agent's next step is no decision: it must set one thing against another or give a reason, and the thing
        // chosen must not be a tool of its own.
        _ => {
            CHOSEN.as_ref().is_some_and(|chosen| chosen.is_match(lower))
                && !contains_any(
                    lower,
                    &[
                        "the read tool",
                        "the edit tool",
                        "the write tool",
                        "grep",
                        " sed ",
                        "the bash",
                        "a different approach",
                        "search",
                        " tool ",
                        "let me",
                    ],
                )
        }
    }
}

/// Settled by form: a person sets one thing against another or names the option taken; the agent says what it does and
/// why, or what stays.
fn settles(lower: &str, sentence: &str, author: Author) -> bool {
    let cjk = sentence.chars().any(is_cjk)
        && contains_any(
            sentence,
            &["改成", "而不是", "封顶", "决定", "ではなく", "決定です", "に決めました"],
        );
    match author {
        Author::User => cjk || SETTLED_BY_USER.as_ref().is_some_and(|it| it.is_match(lower)),
        _ => cjk || SETTLED_BY_AGENT.as_ref().is_some_and(|it| it.is_match(lower)),
    }
}

static SETTLED_BY_USER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?x)
        \b(?:should|must|shall)\ be\ [^.?]*,\ not\ |
        \bmake\ (?:it|the\ [\w-]+)\ [^.?]*(?:,\ not\ |\ instead\ of\ ) |
        \bkeep\ [^.?]*(?:,\ not\ |\ instead\ of\ ) |
        \buse\ [^.?]*(?:,\ not\ |\ instead\ of\ |\ rather\ than\ ) |
        \bmake\ (?:it|the\ limit|retries|the\ wait|the\ default|hysteresis)\ [0-9] |
        ^(?:option\ )?[\w-]{1,20}\ it\ is\b |
        \bit\ is,\ (?:because|since|for)\b |
        ^option\ \w+,\ agreed |
        \bis\ fine\ for\ now\b |
        \bis\ out\b[^?]*$ |
        \bstays\b[^?]*$",
    )
});

static SETTLED_BY_AGENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?x)
        ^(?:then\ )?i(?:'ll|\ will|\ go\ with|\ went\ with|\ prefer|\ left|\ leave)\b[^?]*
            (?:\bbecause\b|,?\ since\b|,\ so\ |\bso\ that\b|\binstead\b|\brather\ than\b|;\ ) |
        ^(?:agreed|understood|noted)[,:]\ [^?]*\b(?:stays?|option|it\ is)\b |
        \bit\ is,\ (?:because|since|for)\b |
        ^i\ go\ with\b |
        ^i\ prefer\b",
    )
});

/// Words a request begins with.
const ASKING: &[&str] = &[
    "add",
    "fix",
    "implement",
    "write",
    "create",
    "make",
    "update",
    "change",
    "remove",
    "delete",
    "refactor",
    "rename",
    "move",
    "run",
    "check",
    "test",
    "debug",
    "find",
    "look",
    "explain",
    "show",
    "build",
    "set",
    "use",
    "convert",
    "port",
    "migrate",
    "improve",
    "optimize",
    "optimise",
    "investigate",
    "review",
    "analyze",
    "analyse",
    "help",
    "give",
    "tell",
    "commit",
    "push",
    "merge",
    "deploy",
    "install",
    "upgrade",
    "generate",
    "document",
    "design",
    "read",
    "replace",
    "extract",
    "split",
    "wire",
    "hook",
    "try",
    "start",
    "continue",
    "finish",
    "verify",
    "clean",
    "revert",
    "undo",
    "open",
    "list",
    "summarize",
    "summarise",
    "translate",
    "configure",
    "enable",
    "disable",
    "support",
    "handle",
    "track",
    "profile",
    "bump",
    "restore",
    "integrate",
    "expose",
    "validate",
    "ensure",
    "drop",
    "rewrite",
    "simplify",
    "reproduce",
    "diagnose",
    "go",
    "do",
    "let's",
    "can",
    "could",
    "would",
    "please",
    "how",
    "why",
    "what",
    "where",
    "which",
    "is",
    "are",
    "does",
    "should",
    "when",
    "who",
    "act",
    "turn",
    "put",
    "pull",
    "compare",
    "port",
    "sort",
    "allow",
    "switch",
    "keep",
    "research",
    "plan",
];

/// Does a sentence of the user ask for something?
pub(in crate::facts) fn asks(sentence: &str) -> bool {
    let plain = Plain::new(sentence);
    let lower = plain.lower.trim();
    if lower.ends_with(['?', '？']) {
        return true;
    }
    if contains_any(
        lower,
        &[
            "please",
            "can you",
            "could you",
            "would you",
            "i want",
            "i need",
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
        ],
    ) {
        return true;
    }
    plain.clauses().iter().take(2).any(|clause| {
        let first = clause.split(|c: char| !(c.is_alphanumeric() || c == '\'')).next().unwrap_or("");
        ASKING.contains(&first)
    })
}

/// Bare assent: nothing new is asked.
pub(in crate::facts) fn is_assent(text: &str) -> bool {
    let words: Vec<String> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.len() <= 6
        && words.iter().all(|word| {
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
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_bind() {
        for text in [
            "Never use CASCADE.",
            "Don't touch the public API.",
            "Please do not add new dependencies.",
            "You must keep Python 3.8 support.",
            "The endpoint must return 404 for unknown ids.",
            "Only modify files under src/.",
            "Use only the standard library.",
            "Always run cargo fmt before committing.",
            "Avoid unwrap in library code.",
            "No new dependencies.",
            "Refactor the parser without changing the public API.",
            "Use pnpm instead of npm.",
            "Make sure all tests pass.",
            "Keep the wire format unchanged.",
            "Fix it, but don't change the tests.",
            "It should never block the main thread.",
            "I don't want you to push anything.",
            "Keep responses under 500 tokens.",
            "不要修改测试文件。",
            "必须使用 Python 3。",
            "テストは変更しないでください。",
            "we never commit generated files",
            "at most 3 retries",
        ] {
            assert!(is_constraint(text), "{text}");
        }
    }

    #[test]
    fn reports_questions_and_offers_do_not_bind() {
        for text in [
            "No errors were found.",
            "It never worked on Windows.",
            "I don't know why it fails.",
            "Should we never use CASCADE?",
            "We could avoid the lock.",
            "Never mind.",
            "Don't worry about it.",
            "The README says never use tabs.",
            "It must be a bug in the parser.",
            "No problem!",
            "I have to restart it every time.",
            "Why do you always do that?",
            "The file states \"you must never edit this by hand\".",
            "It only happens on Mondays.",
            "Maybe we should not use it.",
            "为什么不能运行？",
            "There is no file like that.",
            "It does not compile.",
            "Add a button to the page.",
        ] {
            assert!(!is_constraint(text), "{text}");
        }
    }

    #[test]
    fn decisions_settle() {
        for text in [
            "We decided to use Postgres because of JSONB.",
            "Let's go with option B.",
            "I'll use a BTreeMap instead of a HashMap so that order is stable.",
            "Going with SQLite for now.",
            "We settled on two workers.",
            "Decision: keep the v1 format.",
            "我们决定使用 Redis。",
        ] {
            assert!(is_decision(text, Author::Agent), "{text}");
        }
        assert!(is_decision("ok let's use Redis for the cache", Author::User));
        for text in [
            "Nothing was decided.",
            "We still have to decide whether to use Redis.",
            "We could go with Redis.",
            "Should we go with Redis?",
            "I'll use the Read tool to look at it.",
            "Let me use grep instead of reading it.",
            "The format is to be decided.",
            "I'll use sed to check it.",
            "If we decided to use Redis, it would cost more.",
        ] {
            assert!(!is_decision(text, Author::Agent), "{text}");
        }
    }

    #[test]
    fn assent_asks_nothing() {
        for text in ["yes", "ok, go ahead", "Continue", "Looks good, thanks!", "继续"] {
            assert!(is_assent(text), "{text}");
        }
        for text in ["yes, and rename it", "fix it", "use Redis"] {
            assert!(!is_assent(text), "{text}");
        }
    }
}
