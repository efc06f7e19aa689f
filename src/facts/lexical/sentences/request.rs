//! A sentence that asks, and bare assent, which asks nothing new.

use super::{Plain, contains_any};

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
        .take(7)
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
