//! What the agent says of the product in a message that reports work.
//!
//! "Poison messages go to a dead-letter subject, so one bad event can't stall the stream" is a choice where the agent
//! tells what it made, and an explanation of existing code anywhere else: the sentence alone does not say which. So such
//! sentences are only taken from messages that report.

use super::super::{List, Plain, contains_any, has_word, is_imperative, words};
use super::forms::MADE;
use super::product::{MAKING, NO_PRODUCT, RUNNING, SUPPOSING, counters, is_under_way, measures, tells_past};
use super::{UNSETTLED, contrast, finds, reason, stem};

/// Would the sentence of the agent be a choice where its message reports work? It says of a part of the product how it is,
/// and why or against what.
pub(in crate::facts) fn may_report(plain: &Plain<'_>) -> bool {
    if !(plain.says(List::Reason) || plain.says(List::Contrast)) || !plain.fits() {
        return false;
    }
    let lower = plain.lower.as_str();
    // Most sentences are about the talk or a step: told by their first word, before any pattern runs.
    let first = words(lower).next().unwrap_or("");
    if NO_PRODUCT.contains(&first)
        || matches!(first, "we" | "they're" | "it's")
        || contains_any(lower, &["let me", "sub-agent", "subagent", "worktree"])
        || plain.says(List::Reported)
        || plain.is_open()
        || finds(plain)
    {
        return false;
    }
    let against = contrast(plain);
    let why = reason(plain).map(|(at, _)| at);
    let Some(at) = why.into_iter().chain(against).min() else { return false };
    let claim = lower.get(..at).unwrap_or("").trim_end_matches([',', ' ']);
    let rest = lower.get(at..).unwrap_or("").trim_start_matches([',', ')', '.', ' ']);
    // "Instead of polling the FIFO it sleeps", "To keep stacks stable, the islands sleep as a whole".
    let claim = if at == 0 { rest } else { claim };
    let first = words(claim).next().unwrap_or("");
    // What is told of the reader's own things, or given as the heading of a list, is no choice.
    if lower.trim_end().ends_with([':', '：'])
        || has_word(lower, &["your", "yours", "you've", "you're"])
        || has_word(claim, &["you", "users"])
    {
        return false;
    }
    let leads = at == 0 && contains_any(claim, &[", ", " it "]);
    if words(claim).count() < 3
        || !leads
            && (NO_PRODUCT.contains(&first) || matches!(first, "it" | "they" | "we" | "they're" | "it's"))
        || first.ends_with("ing") && !claim.contains(" is ") && !claim.contains(" happens ")
        || has_word(claim, SUPPOSING)
        || has_word(claim, &["should", "must", "authors"])
        || rest.starts_with("and not ")
        || rest.starts_with("as it is")
        || has_word(claim, EXPLORES)
        || plain.says(List::Unsettled) && contains_any(claim, UNSETTLED)
        || contains_any(
            claim,
            &["has to ", "have to ", "needs to ", "old code", "old version", "old implementation"],
        )
        || is_under_way(claim.split(" while ").next().unwrap_or(claim))
        || is_imperative(claim)
        || measures(lower)
        || !leads && tells_past(claim) && !made(claim)
    {
        return false;
    }
    if against.is_some_and(|at| Some(at) != why) && why.is_none() {
        return !words(lower).any(|word| RUNNING.contains(&word) && word != "works") && !measured(rest);
    }
    if rest.starts_with("so ") && !rest.starts_with("so that") {
        // What followed is told of what was there; what fails is a fault.
        let mut result = words(rest).skip(1);
        return !follows_past(rest)
            && !matches!(result.next(), Some("i" | "i'm" | "i'll" | "we" | "that's" | "that"))
            && !has_word(rest, FAILS)
            && !has_word(rest, &["pass", "passes", "allowed", "fine", "ok", "same", "safe"])
            && !has_word(rest, SUPPOSING);
    }
    let runs = words(claim).any(|word| RUNNING.contains(&word) && !matches!(word, "works" | "happens"));
    rest.starts_with("so that ")
        || counters(rest)
        || (!runs || has_word(claim, &["now"]) || claim.contains("no longer")) && !has_word(claim, MISBEHAVES)
}

/// Did what follows happen already? "So a payment after 22:00 counted as unpaid."
fn follows_past(result: &str) -> bool {
    let mut before = "";
    let told =
        |word: &&str| !matches!(*word, "whether" | "that" | "which" | "where" | "who" | "what" | "how");
    words(result).take_while(told).any(|word| {
        let past = matches!(word, "was" | "were" | "had" | "did" | "didn't" | "got" | "came" | "went")
            || word.len() > 4
                && word.ends_with("ed")
                && !matches!(
                    before,
                    "is" | "are"
                        | "be"
                        | "been"
                        | "gets"
                        | "get"
                        | "not"
                        | "longer"
                        | "as"
                        | "the"
                        | "a"
                        | "an"
                        | "and"
                        | "also"
                        | "by"
                        | "with"
                        | "being"
                        | "never"
                        | "only"
                        | "to"
                );
        before = word;
        past
    })
}

/// Words of a sentence about a finding or a plan.
const EXPLORES: &[&str] = &["problem", "issue", "cause", "probably", "already", "today", "why", "tests"];

/// What a fault does to those who use the product.
const FAILS: &[&str] = &[
    "fails",
    "fail",
    "breaks",
    "break",
    "crashes",
    "drift",
    "drifts",
    "loses",
    "lose",
    "wrong",
    "wipes",
    "hangs",
    "hardly",
    "unfortunately",
    "starved",
    "missing",
    "red",
    "flaky",
    "stuck",
    "leaks",
    "slow",
    "slower",
];

/// What a part of the product does against somebody's will.
const MISBEHAVES: &[&str] = &[
    "starved",
    "leaks",
    "loses",
    "drifts",
    "wipes",
    "breaks",
    "blocks",
    "swallows",
    "forgets",
    "overwrites",
    "misses",
    "ignores",
    "doubles",
    "flickers",
];

/// Made by somebody, as told in the past.
fn made(claim: &str) -> bool {
    // "`token(32)`, stored as a digest".
    claim.split(", ").skip(1).any(|part| words(part).next().is_some_and(|first| first.ends_with("ed")))
        || contains_any(claim, &[" went into ", " went to ", " kept ", " moved ", " became "])
        || MADE.as_ref().is_some_and(|made| made.is_match(claim))
}

/// "Instead of 210 ms": measured, not chosen.
fn measured(other: &str) -> bool {
    words(other).take(4).any(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

/// Does a message of the agent, in lower case, report what was made? One that asks, explains or plans does not.
/// `asked`: it answers a question; `decided`: it tells a choice by another form, or answers an order.
pub(in crate::facts) fn is_report(message: &str, asked: bool, decided: bool) -> bool {
    const EXPLAINS: &[&str] = &[
        "explanation",
        "no change to",
        "haven't changed any",
        "have not changed any",
        "changed nothing",
        "two ways",
        "three ways",
        "which one",
        "shall i",
        "should i",
        "do you want",
        "would you like",
        "i'd suggest",
        "i'd propose",
        "root cause",
        "remarks",
        "review of",
        "option a",
        "option 1",
        " b)",
        "(b)",
    ];
    const PLANS: &[&str] = &[
        "i'll ",
        "i'm going to ",
        "i am going to ",
        "let me ",
        "next i",
        "we could ",
        "i could ",
        "i would ",
    ];
    const DONE: &[&str] = &[
        " now",
        "now ",
        "wired in",
        "no longer",
        "formerly",
        "new tests",
        "new test ",
        "tests pass",
        " passed",
        "all green",
        "is green",
        "are green",
        " is gone",
        " are gone",
        " is in.",
        " are in.",
        " is in ",
        "i gave ",
        "i left ",
        "i put ",
        "i kept ",
        "i cast ",
        "i made ",
        "i let ",
        "i had ",
        "i chose ",
        "i went ",
        "went into",
        "tested",
        " test ran",
        "does the job",
        " updated",
        " rewritten",
        " moved ",
        " replaced ",
        " renamed ",
        " removed",
        " added ",
        "instead of before",
    ];
    let bare = message.trim_end().trim_end_matches(['`', '*', '"', ')']);
    if bare.ends_with(['?', '？']) || contains_any(message, EXPLAINS) {
        return false;
    }
    let opens = |text: &str| {
        let first = words(text).next().unwrap_or("");
        matches!(first, "done" | "finished" | "rewrote" | "wrote")
            || first.ends_with("ed") && MAKING.contains(&stem(first))
    };
    let done = message.split(['\n', '.', ':', ';', ',']).any(opens);
    done || !asked && contains_any(message, DONE) || decided && !asked && !contains_any(message, PLANS)
}
