//! A sentence of the user that binds the agent, and one that lifts what bound it.

use super::super::{LazyLock, Regex, is_cjk, pattern};
use super::{Plain, contains_any, is_open, is_reported, starts_with_any};

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
            "we'll have to",
            "will have to",
            "i'll have to",
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
