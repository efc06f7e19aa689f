//! The report of an audit: what recorded summaries kept, class by class, and what the agents did after them.

use super::page::{BOLD, GOOD, Page, errors, list, losses, paint, percent, problems};
use super::text::{count, sanitize, thousands};
use super::{Format, Look, csv_rows, json_document};
use crate::aggregate::Aggregate;
use crate::aggregate::audit::AfterRow;
use crate::aggregate::kept::KeptRow;
use crate::results::RunOutput;
use crate::stats::MIN_SESSIONS;
use serde_json::json;
use std::collections::HashMap;
use std::io;

/// Classes and groups shown, with what people call them.
const SHOWN: [(&str, &str); 14] = [
    ("files.changed", "changed files"),
    ("file.read", "files only read"),
    ("file.deleted", "deleted files"),
    ("command", "commands"),
    ("check", "checks and outcome"),
    ("todo", "todos"),
    ("error", "errors"),
    ("identifier", "identifiers"),
    ("value", "values"),
    ("constraint", "constraints"),
    ("decision", "decisions"),
    ("request", "requests"),
    ("structural", "structural facts"),
    ("lexical", "lexical facts"),
];

/// Columns of a bar.
const BAR: usize = 20;

/// Rounds shown.
const ROUNDS: u32 = 6;

/// An audit as text, with a final newline.
pub fn render(
    format: Format,
    output: &RunOutput,
    aggregate: &Aggregate,
    look: Look<'_>,
) -> io::Result<String> {
    match format {
        Format::Table => Ok(table(output, aggregate, look)),
        Format::Csv => csv_rows(&aggregate.kept),
        Format::Json => json_document(json!({
            "manifest": output.manifest,
            "compactions": output.audits,
            "kept": aggregate.kept,
            "afterwards": aggregate.afterwards,
        })),
    }
}

fn table(output: &RunOutput, aggregate: &Aggregate, look: Look<'_>) -> String {
    let mut page = Page::new(look);
    title(&mut page, output, aggregate);
    for agent in &aggregate.afterwards {
        block(&mut page, agent, aggregate, output.manifest.settings.horizon_calls);
    }
    losses(&mut page, &output.manifest.worst_losses, &output.manifest.settings.strategies);
    without(&mut page, output);
    errors(&mut page, output);
    problems(&mut page, &output.manifest);
    page.gap();
    match look.saved {
        Some(saved) => page.prose(&format!("Results: {}", sanitize(saved))),
        None => page.prose("More: --out DIR writes every row, with --log-facts the fate of every fact, too."),
    }
    page.text
}

fn title(page: &mut Page, output: &RunOutput, aggregate: &Aggregate) {
    let sum = |of: fn(&AfterRow) -> u64| aggregate.afterwards.iter().map(of).sum::<u64>();
    let (compactions, opaque) = (sum(|agent| agent.compactions), sum(|agent| agent.opaque));
    page.styled(
        BOLD,
        &format!(
            "{}, {}: {} in {}; of their summaries {} can be scored, {} cannot",
            count(output.manifest.files, "file"),
            count(output.manifest.sessions, "session"),
            count(compactions, "recorded compaction"),
            count(sum(|agent| agent.sessions), "session"),
            thousands(compactions - opaque),
            thousands(opaque),
        ),
    );
}

/// One agent.
fn block(page: &mut Page, agent: &AfterRow, aggregate: &Aggregate, horizon: u64) {
    page.gap();
    let readable = agent.compactions - agent.opaque;
    let mut facts = vec![
        count(agent.sessions, "session"),
        format!("{} ({} by hand)", count(agent.compactions, "compaction"), thousands(agent.manual)),
    ];
    if let Some(before) = agent.tokens_before {
        let logged = agent.recorded_before.map(|it| format!(" ({} by the log)", whole(it)));
        facts.push(format!("{} tokens before{}", whole(before), logged.unwrap_or_default()));
    }
    if let (Some(before), Some(summary)) = (agent.tokens_before, agent.tokens_summary) {
        let share =
            if before > 0.0 { format!(" ({:.1} %)", summary * 100.0 / before) } else { String::new() };
        facts.push(format!("summary {} tokens{share}", whole(summary)));
    }
    if agent.opaque > 0 && readable > 0 {
        facts.push(format!("{} cannot be scored", thousands(agent.opaque)));
    }
    if let Some(kept) = agent.messages_kept {
        facts.push(format!("{} messages kept", whole(kept)));
    }
    page.styled(BOLD, &format!("{}: {}", sanitize(&agent.profile), facts.join(", ")));
    let rows: Vec<&KeptRow> = aggregate.kept.iter().filter(|row| row.profile == agent.profile).collect();
    if readable > 0 {
        kept(page, &rows, agent);
        rounds(page, &rows);
    } else {
        page.prose(
            "No summary can be scored (encrypted, not in the log, or what was kept beside it is not known): nothing is counted as kept or lost.",
        );
    }
    next(page, agent, horizon);
}

fn whole(mean: f64) -> String {
    thousands(mean.round() as u64)
}

/// The table of classes with a bar each.
fn kept(page: &mut Page, rows: &[&KeptRow], agent: &AfterRow) {
    page.gap();
    let head =
        format!("{:<20}{:>7}  {:<7}  {:<BAR$}  {:>15}", "In the summary", "mean", "95 %", "", "of facts");
    page.line(&paint(BOLD, &head, page.color));
    page.line(&"-".repeat(20 + 7 + 2 + 7 + 2 + BAR + 2 + 15));
    let mut fewer = false;
    for (class, name) in SHOWN {
        let Some(row) = rows.iter().find(|row| row.class == class && row.cycle.is_none()) else { continue };
        if row.at_risk == 0 {
            continue;
        }
        if class == "structural" {
            page.gap();
        }
        let interval = match (row.low, row.high) {
            (Some(low), Some(high)) => format!("{:.0}-{:.0}", low * 100.0, high * 100.0),
            _ => format!("n {}", row.sessions),
        };
        fewer |= row.low.is_none();
        let of = format!("{} of {}", thousands(row.in_summary), thousands(row.at_risk));
        let share = percent(row.survival);
        let bar = bar(row.survival.unwrap_or(0.0), page.color);
        page.line(&format!("{name:<20}{share:>7}  {interval:<7}  {bar}  {of:>15}"));
    }
    page.gap();
    let few =
        if fewer { format!("; n: sessions, where they are below {MIN_SESSIONS}") } else { String::new() };
    page.prose(&format!(
        "Of what no message kept verbatim holds, the share that stands in the summary: mean over up to {}{few}.",
        count(agent.sessions, "session")
    ));
}

/// A share as a bar.
fn bar(share: f64, color: bool) -> String {
    let full = ((share * BAR as f64).round() as usize).min(BAR);
    let (full, rest) = ("█".repeat(full), "░".repeat(BAR - full));
    if full.is_empty() { rest } else { paint(GOOD, &full, color) + &rest }
}

/// First, second, third compaction of a session.
fn rounds(page: &mut Page, rows: &[&KeptRow]) {
    let last = rows.iter().filter_map(|row| row.cycle).max().unwrap_or(0).min(ROUNDS);
    if last < 2 {
        return;
    }
    page.gap();
    let mut head = format!("{:<20}", "By compaction");
    for round in 1..=last {
        head += &format!("{:>12}", format!("{round} "));
    }
    page.line(&paint(BOLD, head.trim_end(), page.color));
    page.line(&"-".repeat(20 + 12 * last as usize));
    for (class, name) in SHOWN.iter().filter(|(class, _)| ["structural", "lexical"].contains(class)) {
        // Where every summary is encrypted, or none had such facts to keep, there is nothing to say.
        if !rows.iter().any(|row| row.class == *class && row.cycle.is_some() && row.survival.is_some()) {
            continue;
        }
        let mut line = format!("{name:<20}");
        for round in 1..=last {
            let row = rows.iter().find(|row| row.class == *class && row.cycle == Some(round));
            let row = row.filter(|row| row.survival.is_some());
            let cell = row.map(|row| format!("{} n {}", percent(row.survival), row.sessions));
            line += &format!("{:>12}", cell.unwrap_or_default());
        }
        page.line(&line);
    }
}

/// What the agent did afterwards.
fn next(page: &mut Page, agent: &AfterRow, horizon: u64) {
    page.gap();
    page.styled(
        BOLD,
        &format!(
            "What the agent did next ({horizon} tool calls, fewer where the next compaction came first)"
        ),
    );
    let named = |kept: u64, whole: u64, verb: &str| {
        if whole == 0 { String::new() } else { format!("; the summary {verb} {}", thousands(kept)) }
    };
    if agent.rereads > 0 {
        page.item(&format!(
            "read again {} whose content had left, after {} of {}, {} tokens in all{}",
            count(agent.rereads, "file"),
            thousands(agent.reread_compactions),
            count(agent.compactions, "compaction"),
            thousands(agent.reread_tokens),
            named(agent.rereads_named, agent.rereads_readable, "named"),
        ));
    } else {
        page.item("read no file again whose content had left");
    }
    if let (Some(median), Some(p75)) = (agent.calls_to_edit_median, agent.calls_to_edit_p75) {
        let cold = agent
            .calls_to_edit_cold_median
            .map(|cold| format!("; from the start of a session {}", whole(cold)))
            .unwrap_or_default();
        let none = match agent.compactions - agent.edited {
            0 => String::new(),
            without => format!("; none after {}", count(without, "compaction")),
        };
        let spread = match agent.edited {
            1 => String::new(),
            _ => format!(" (median; a quarter took more than {})", whole(p75)),
        };
        page.item(&format!(
            "first edit before the next compaction after {} tool calls{spread}{cold}{none}",
            whole(median)
        ));
    } else {
        page.item("edited nothing");
    }
    if agent.edits > 0 {
        page.item(&format!(
            "edited {} known before{}",
            count(agent.edits, "file"),
            named(agent.edits_named, agent.edits, "named")
        ));
    }
    if agent.used > 0 {
        page.item(&format!(
            "brought up {} that had left{}",
            count(agent.used, "fact"),
            named(agent.used_kept, agent.used, "held")
        ));
    }
    page.item(&format!(
        "requests and constraints that had left and the user said again: {}{}",
        thousands(agent.repeated),
        named(agent.repeated_kept, agent.repeated, "held"),
    ));
}

/// Sessions that hold no compaction, counted by file.
fn without(page: &mut Page, output: &RunOutput) {
    list(page, "No compaction recorded", &uncompacted(output));
}

/// Files with sessions that hold no compaction that could be scored: how many, and why where the log tells.
pub fn uncompacted(output: &RunOutput) -> Vec<String> {
    let mut files: Vec<(&str, u64)> = Vec::new();
    for row in output.sessions.iter().filter(|row| row.recorded_compactions == 0 && row.error.is_empty()) {
        match files.last_mut() {
            Some((source, n)) if row.source == *source => *n += 1,
            _ => files.push((&row.source, 1)),
        }
    }
    let problems = output.manifest.problems.iter().filter(|problem| problem.code == "starts-compacted");
    let begun: HashMap<&str, u64> = problems.map(|it| (it.source.as_str(), it.line)).collect();
    let why = |source: &str| match begun.get(source) {
        Some(line) => format!("; the log begins with its summary (line {line}), no message before it"),
        None => String::new(),
    };
    files
        .iter()
        .map(|(source, n)| format!("{}: {}{}", sanitize(source), count(*n, "session"), why(source)))
        .collect()
}

#[cfg(test)]
mod tests;
