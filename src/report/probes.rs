//! Answers to closed questions, for people and for programs.

use super::page::{BOLD, DIM, Page, aligned, percent};
use super::text::{count, sanitize, thousands, wrap};
use super::{Format, Look, csv_rows, json_document};
use crate::aggregate::probes::{ALL, ProbeRow, VerdictRow};
use crate::results::probes::ProbesRecord;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use std::io;

/// What questions and answers came to.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Scored {
    /// What was replayed and asked.
    pub record: ProbesRecord,
    /// Names of the models that answered, as the answers have them, sorted.
    pub models: Vec<String>,
    /// Answers to prompts that are none of these.
    pub foreign: u64,
    /// Pooled rows.
    pub rows: Vec<ProbeRow>,
    /// Each question.
    pub verdicts: Vec<VerdictRow>,
}

/// The score as text. `each`: a row for each question in place of the pooled ones, where rows are printed.
///
/// # Errors
///
/// It cannot be written as a document.
pub fn render(format: Format, scored: &Scored, each: bool, look: Look<'_>) -> io::Result<String> {
    match format {
        Format::Table => Ok(table(scored, look)),
        Format::Csv if each => csv_rows(&scored.verdicts),
        Format::Csv => csv_rows(&scored.rows),
        Format::Json => json_document(json!(scored)),
    }
}

/// Headings of the table.
const HEADINGS: [&str; 12] = [
    "strategy",
    "kind",
    "survival",
    "answerable",
    "right",
    "untold",
    "wrong",
    "stale",
    "unanswered",
    "control",
    "blind",
    "effect",
];

fn table(scored: &Scored, look: Look<'_>) -> String {
    let mut page = Page::new(look);
    let record = &scored.record;
    let by = match scored.models.as_slice() {
        [] => String::new(),
        models => format!(", answered by {}", sanitize(&models.join(", "))),
    };
    let sessions = count(record.run.sessions_exercised, "session");
    page.styled(BOLD, &format!("{} about {sessions}{by}", count(record.counts.questions, "question")));
    let name = |row: &ProbeRow| (row.profile.clone(), row.window.clone());
    let mut tables: Vec<(String, String)> = Vec::new();
    for row in &scored.rows {
        if !tables.contains(&name(row)) {
            tables.push(name(row));
        }
    }
    for (profile, window) in &tables {
        page.gap();
        let at = if window == ALL { String::new() } else { format!(", window {}", sanitize(window)) };
        page.styled(BOLD, &format!("Profile {}{at}", sanitize(profile)));
        let of_table = |row: &&ProbeRow| row.profile == *profile && row.window == *window;
        let mut rows: Vec<&ProbeRow> = scored.rows.iter().filter(of_table).collect();
        // A single cycle is what the row of all says.
        rows.sort_by_key(|row| row.cycle != ALL);
        let cells = rows.iter().map(|row| cells(row));
        let lines: Vec<Vec<String>> =
            std::iter::once(HEADINGS.map(str::to_owned).to_vec()).chain(cells).collect();
        for line in aligned(&lines, &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) {
            page.line(&line);
        }
    }
    page.gap();
    let mut explain =
        |text: &str| page.line(&super::page::paint(DIM, &wrap(text, page.columns, 2), page.color));
    explain(
        "survival: of the questions that the model answers right with the whole conversation and not with none (answerable), the \
         share that it answers right with what the compaction left; macro mean over sessions, with a 95 % interval from 10 sessions on. right to \
         unanswered: what came of the questions with the compacted context; untold: it says that the conversation does not tell; stale: \
         what was true before; unanswered: no answer that could be read, in no share. control and blind: right answers with the whole conversation, and with none; effect: (right - blind) / (control - blind).",
    );
    for row in scored.rows.iter().filter(|row| row.cycle == ALL && row.kind == ALL) {
        let share = |right: u64, of: u64| match of {
            0 => "n/a".to_owned(),
            _ => format!("{} of {}", thousands(right), thousands(of)),
        };
        let place = if tables.len() > 1 {
            format!(", profile {}, window {}", sanitize(&row.profile), sanitize(&row.window))
        } else {
            String::new()
        };
        page.prose(&format!(
            "{}{place}: of what is present in the text {} answered right, of what is not {}.",
            sanitize(&row.strategy),
            share(row.present_right, row.present),
            share(row.absent_right, row.absent)
        ));
    }
    page.text
}

fn cells(row: &ProbeRow) -> Vec<String> {
    let kind = if row.cycle == ALL { sanitize(&row.kind) } else { format!("cycle {}", sanitize(&row.cycle)) };
    let survival = match (row.answer_survival_low, row.answer_survival_high) {
        (Some(low), Some(high)) => {
            format!("{} ({:.0}-{:.0})", percent(row.answer_survival_mean), low * 100.0, high * 100.0)
        }
        _ => percent(row.answer_survival_mean),
    };
    vec![
        sanitize(&row.strategy),
        kind,
        survival,
        format!("{} of {}", thousands(row.answerable), thousands(row.questions)),
        thousands(row.right),
        thousands(row.untold),
        thousands(row.wrong),
        thousands(row.stale),
        thousands(row.unanswered),
        percent(row.control_accuracy),
        percent(row.blind_accuracy),
        percent(row.effect),
    ]
}
