//! One cycle for people: where the cut is and why, the summary, and where each fact went.

use super::page::{BAD, BOLD, GOOD, Page, fit_value, paint};
use super::text::{count, fit, sanitize, thousands, width};
use super::{Look, json_document};
use crate::results::shown::{Place, Shown, ShownFact};
use serde_json::json;
use std::io;

/// Columns of a class and of a tier in a list.
const CLASS: usize = 14;
const TIER: usize = 13;

/// A cycle as JSON.
pub fn json(shown: &Shown) -> io::Result<String> {
    json_document(json!(shown))
}

/// A cycle as text. `all` lists what stands in the kept tail, too.
pub fn text(shown: &Shown, look: Look<'_>, all: bool) -> String {
    let mut page = Page::new(look);
    head(&mut page, shown);
    prompts(&mut page, shown);
    summary(&mut page, shown);
    let of = |wanted: &dyn Fn(&ShownFact) -> bool| -> Vec<&ShownFact> {
        shown.facts.iter().filter(|fact| wanted(fact)).collect()
    };
    let is_present = |fact: &ShownFact| fact.tier == "exact" || fact.tier == "resolvable";
    let needed = of(&|fact| fact.needed && !is_present(fact));
    let lost = of(&|fact| fact.at_risk && !fact.needed && !is_present(fact));
    let kept = of(&|fact| fact.at_risk && is_present(fact));
    let elsewhere = of(&|fact| !fact.at_risk && fact.location != "opaque");
    let opaque = of(&|fact| fact.location == "opaque");
    section(&mut page, "Lost and needed", &needed, BAD);
    if shown.needed_biased && shown.facts.iter().any(|fact| fact.at_risk) {
        page.gap();
        page.prose(
            "The agent of this log was compacted here itself: what it had lost, too, it may not have come back to, so \
             more may have been needed than is told.",
        );
    }
    section(&mut page, "Lost", &lost, BAD);
    section(&mut page, "In the summary", &kept, GOOD);
    section(&mut page, "Only an unreadable summary could hold", &opaque, BOLD);
    if all {
        section(&mut page, "In the context beside the summary", &elsewhere, BOLD);
    } else if !elsewhere.is_empty() {
        page.gap();
        let facts = count(elsewhere.len() as u64, "fact");
        page.prose(&format!("In the context beside the summary: {facts}; --all lists them."));
    }
    if !shown.stale.is_empty() {
        page.gap();
        page.styled(BAD, "Stale: the old value stands there, the current one does not");
        for stale in &shown.stale {
            let line = format!("{} (now {}, line {})", stale.old, stale.new, stale.new_line);
            page.line(&format!("  {}", fit(&sanitize(&line), page.columns - 2)));
        }
    }
    for (heading, items) in [
        ("Invented: in the summary, and nowhere in the log before it", &shown.invented),
        ("Fabricated: quoted as the user's words, and in no message of the log before it", &shown.fabricated),
    ] {
        if !items.is_empty() {
            page.gap();
            page.styled(BAD, heading);
        }
        for item in items {
            page.line(&format!("  {}", fit(&sanitize(item), page.columns - 2)));
        }
    }
    if shown.unadjudicable > 0 {
        page.gap();
        page.prose(&format!("{} no text rule can judge, left out.", count(shown.unadjudicable, "fact")));
    }
    page.text
}

/// What a model would be asked, as it stands.
fn prompts(page: &mut Page, shown: &Shown) {
    for prompt in &shown.prompts {
        page.gap();
        let whom = if prompt.part == "history" { "" } else { " (the beginning of a turn)" };
        page.styled(
            BOLD,
            &format!(
                "Asked of a model{whom}, messages {} to {}: {} tokens",
                prompt.from,
                prompt.to.saturating_sub(1),
                thousands(prompt.tokens)
            ),
        );
        for (name, text) in [("system", &prompt.system), ("user", &prompt.user)] {
            page.line(&format!("--- {name}"));
            text.lines().for_each(|line| page.line(&sanitize(line)));
        }
        page.line("---");
    }
}

fn place(at: Place) -> String {
    if at.line == 0 { "the end".to_owned() } else { format!("message {} (line {})", at.message, at.line) }
}

/// A text with its numbers in groups of three digits.
fn grouped(text: &str) -> String {
    let group = |word: &str| word.parse().map_or_else(|_| word.to_owned(), thousands);
    text.split_inclusive(|c: char| !c.is_ascii_digit())
        .map(|piece| {
            let digits = piece.len() - piece.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, rest) = piece.split_at(digits);
            group(number) + rest
        })
        .collect()
}

fn head(page: &mut Page, shown: &Shown) {
    page.styled(
        BOLD,
        &format!(
            "{}: session {} ({}, {})",
            sanitize(&shown.source),
            sanitize(&shown.session),
            sanitize(&shown.format),
            count(shown.messages, "message")
        ),
    );
    let mut how =
        format!("Cycle {} of {}, strategy {}", shown.cycle, shown.cycles, sanitize(&shown.strategy));
    if shown.trigger_tokens.is_some() {
        how += &format!(", profile {}", sanitize(&shown.profile));
        how += &format!(", window {} tokens", thousands(shown.window));
    }
    if !shown.fallback_reason.is_empty() {
        how += &format!(
            "; {} ran instead: {}",
            sanitize(&shown.strategy_used),
            sanitize(&shown.fallback_reason)
        );
    }
    page.prose(&how);
    page.gap();
    page.prose(&format!("Compacted before {}: {}.", place(shown.trigger), grouped(&sanitize(&shown.why))));
    let mut tail = format!("Tail from {}", place(shown.cut));
    if let Some(turn) = shown.turn_start {
        tail += &format!(", inside the turn from {}", place(turn));
    }
    if let Some(pinned) = shown.pinned {
        tail += &format!("; pinned request {}", place(pinned));
    }
    // What stayed at a recorded compaction need not be a tail.
    if shown.trigger_tokens.is_some() {
        page.prose(&(tail + "."));
    }
    let limit = shown.budget.map(|budget| format!(" of at most {}", thousands(budget))).unwrap_or_default();
    let generated = if shown.opaque {
        "a summary that the log does not show, or not what was kept beside it".to_owned()
    } else {
        format!("summary {}{limit}", thousands(shown.tokens_summary))
    };
    page.prose(&format!(
        "Tokens {} before, {}{} after; {generated}.",
        thousands(shown.tokens_before),
        if shown.opaque { "at least " } else { "" },
        thousands(shown.tokens_after)
    ));
}

fn summary(page: &mut Page, shown: &Shown) {
    for (number, text) in shown.summary.iter().enumerate() {
        page.gap();
        let title = match (number, shown.summary.len()) {
            (_, 1) => "Summary",
            (0, _) => "Summary of the history",
            _ => "Summary of the turn's beginning",
        };
        page.styled(BOLD, title);
        for line in text.lines() {
            for piece in pieces(&sanitize(line), page.columns - 2) {
                page.line(&format!("| {piece}"));
            }
        }
    }
}

/// A line in pieces of at most `columns`, cut between words where there are any.
fn pieces(line: &str, columns: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for word in line.split_inclusive(' ') {
        let wide = width(word.trim_end());
        if used > 0 && used + wide > columns {
            pieces.push(String::new());
            used = 0;
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push_str(word);
        }
        used += width(word);
    }
    pieces
}

/// A list of facts with a heading that counts them.
fn section(page: &mut Page, heading: &str, facts: &[&ShownFact], style: anstyle::Style) {
    if facts.is_empty() {
        return;
    }
    page.gap();
    page.styled(style, &format!("{heading}: {}", thousands(facts.len() as u64)));
    for fact in facts {
        let line = format!("line {}", fact.birth_line);
        let tier = if fact.tier == "absent" { String::new() } else { fact.tier.clone() };
        let start = format!("  {:<CLASS$} {line:<10} {tier:<TIER$} ", sanitize(&fact.class));
        let room = page.columns.saturating_sub(width(&start)).max(20);
        page.line(&format!("{start}{}", fit_value(&fact.class, &sanitize(&fact.value), room)));
        let mut under = Vec::new();
        if fact.evidence_line > 0 {
            under.push(format!("summary line {}: {}", fact.evidence_line, sanitize(&fact.evidence)));
        }
        if fact.need_line > 0 {
            under.push(format!("{} at line {}", fact.need, fact.need_line));
        }
        if fact.tail_line > 0 && !fact.at_risk {
            under.push(format!("kept at line {}", fact.tail_line));
        }
        for text in under {
            let text = fit(&text, page.columns - 6);
            page.line(&format!("      {}", paint(anstyle::Style::new().dimmed(), &text, page.color)));
        }
    }
}

#[cfg(test)]
mod tests;
