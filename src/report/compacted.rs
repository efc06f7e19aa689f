//! Sessions that were compacted and written, for people and for programs.

use super::page::{BOLD, Page, percent};
use super::text::{count, fit_end, sanitize, thousands, width};
use super::{Look, json_document};
use crate::results::compacted::{CompactReport, DroppedRole};
use serde_json::json;
use std::collections::BTreeMap;
use std::io;

/// Most remarks shown.
const NOTES: usize = 10;

/// Columns of a number.
const NUMBER: usize = 9;

/// Headings of the columns of numbers.
const HEADINGS: [&str; 6] = ["messages", "left", "tokens", "after", "smaller", "summary"];

/// One report as it lies beside the file.
pub fn json(report: &CompactReport) -> io::Result<String> {
    json_document(json!(report))
}

/// A line for each session, what left by role, and what the form cannot hold.
pub fn table(reports: &[CompactReport], look: Look<'_>) -> String {
    let mut page = Page::new(look);
    let place = look.saved.map_or_else(String::new, |dir| format!(", written to {}", sanitize(dir)));
    page.styled(BOLD, &format!("{} compacted{place}", count(reports.len() as u64, "session")));
    if let Some(first) = reports.first() {
        let (strategy, profile) = (sanitize(&first.strategy), sanitize(&first.profile));
        page.prose(&format!(
            "Strategy {strategy}, profile {profile}, tokenizer {}",
            sanitize(&first.tokenizer)
        ));
    }
    page.gap();
    let names: Vec<String> = reports.iter().map(|report| sanitize(&report.output)).collect();
    let room = page.columns - HEADINGS.len() * (NUMBER + 1);
    let wide = names.iter().map(|name| width(name)).max().unwrap_or(0).clamp(4, room);
    let line = |name: &str, cells: &[String]| {
        let mut line = format!("{name}{}", " ".repeat(wide.saturating_sub(width(name))));
        for cell in cells {
            line.push_str(&format!(" {cell:>NUMBER$}"));
        }
        line
    };
    page.line(&line("file", &HEADINGS.map(str::to_owned)));
    page.line(&"-".repeat(wide + HEADINGS.len() * (NUMBER + 1)));
    for (report, name) in reports.iter().zip(&names) {
        let smaller = 1.0 - report.tokens_after as f64 / report.tokens_session.max(1) as f64;
        let cells = [
            thousands(report.messages),
            thousands(report.messages_dropped),
            thousands(report.tokens_session),
            thousands(report.tokens_after),
            percent(Some(smaller)),
            thousands(report.tokens_summary),
        ];
        page.line(&line(&fit_end(name, wide), &cells));
    }
    page.gap();
    let mut roles: BTreeMap<&str, DroppedRole> = BTreeMap::new();
    for role in reports.iter().flat_map(|report| &report.dropped_by_role) {
        let sum = roles.entry(&role.role).or_default();
        sum.messages += role.messages;
        sum.tokens += role.tokens;
    }
    let left: Vec<String> = roles
        .iter()
        .map(|(role, sum)| {
            let tokens = thousands(sum.tokens);
            format!("{} {} ({tokens} tokens)", thousands(sum.messages), sanitize(role))
        })
        .collect();
    page.prose(&format!("What left: {}", left.join(", ")));
    let kept: u64 = reports.iter().map(|report| report.messages_kept).sum();
    let clipped: u64 = reports.iter().map(|report| report.messages_clipped).sum();
    let results: u64 = reports.iter().map(|report| report.results_cut).sum();
    let results = match results {
        0 => String::new(),
        _ => format!("; {} in them as short as the policy makes them", count(results, "tool result")),
    };
    page.prose(&format!(
        "What stayed: {} whole, {} cut short{results}",
        count(kept, "message"),
        thousands(clipped)
    ));
    notes(&mut page, reports);
    page.text
}

fn notes(page: &mut Page, reports: &[CompactReport]) {
    let mut notes: Vec<String> = Vec::new();
    for report in reports {
        if !report.fallback_reason.is_empty() {
            let (used, why) = (sanitize(&report.strategy_used), sanitize(&report.fallback_reason));
            notes.push(format!(
                "{}: {used} in place of {}: {why}",
                sanitize(&report.output),
                report.strategy
            ));
        }
        notes.extend(
            report.notes.iter().map(|note| format!("{}: {}", sanitize(&report.output), sanitize(note))),
        );
    }
    for note in notes.iter().take(NOTES) {
        page.item(note);
    }
    if notes.len() > NOTES {
        page.item(&format!("and {} more; the reports have them all", notes.len() - NOTES));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(output: &str) -> CompactReport {
        let role = |role: &str, messages, tokens| DroppedRole { role: role.to_owned(), messages, tokens };
        CompactReport {
            output: output.to_owned(),
            strategy: "structured".to_owned(),
            strategy_used: "structured".to_owned(),
            profile: "standard".to_owned(),
            tokenizer: "o200k".to_owned(),
            messages: 1_200,
            messages_kept: 200,
            messages_dropped: 1_000,
            tokens_session: 90_000,
            tokens_after: 9_000,
            tokens_summary: 1_000,
            dropped_by_role: vec![role("tool", 600, 70_000), role("user", 400, 11_000)],
            ..CompactReport::default()
        }
    }

    #[test]
    fn a_line_for_each_session_within_the_width() {
        let mut second = report(&format!("{}.openai.json", "long".repeat(30)));
        second.notes = vec!["\u{202e}2 images replaced".to_owned()];
        second.fallback_reason = "no room".to_owned();
        let look = Look { width: 80, color: false, saved: Some("out") };
        let text = table(&[report("a.jsonl"), second], look);
        assert!(text.starts_with("2 sessions compacted, written to out\n"), "{text}");
        assert!(text.contains("    1,200     1,000    90,000     9,000     90.0%     1,000\n"), "{text}");
        assert!(text.contains("What left: 1,200 tool (140,000 tokens), 800 user (22,000 tokens)"), "{text}");
        assert!(
            text.contains("\\u{202e}2 images") && text.contains("in place of structured: no room"),
            "{text}"
        );
        let longest = text.lines().take(7).map(width).max();
        assert!(longest.is_some_and(|columns| columns <= 80), "{text}");
    }
}
