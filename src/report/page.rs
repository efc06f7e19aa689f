//! A page of text for a terminal, and the pieces that every report on it shares: losses, failures, problems.

use super::Look;
use super::text::{count, fit, fit_end, sanitize, thousands, width, wrap};
use crate::results::{LossRow, Manifest, Problem, RunOutput};
use crate::strategy::Strategy;
use anstyle::{AnsiColor, Style};
use std::collections::BTreeMap;

/// Columns a table needs; narrower terminals break its lines themselves.
const NARROWEST: usize = 80;

/// Most lines of one kind of note.
const NOTES: usize = 10;

/// Losses shown.
const LOSSES: usize = 3;

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const WARN: Style = AnsiColor::Yellow.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();

/// Text under construction.
pub(super) struct Page {
    pub(super) text: String,
    pub(super) columns: usize,
    pub(super) color: bool,
}

impl Page {
    pub(super) fn new(look: Look<'_>) -> Self {
        Self { text: String::new(), columns: look.width.max(NARROWEST), color: look.color }
    }

    pub(super) fn gap(&mut self) {
        self.text.push('\n');
    }

    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    pub(super) fn prose(&mut self, text: &str) {
        self.line(&wrap(text, self.columns, 2));
    }

    pub(super) fn item(&mut self, text: &str) {
        self.line(&format!("  {}", wrap(text, self.columns - 2, 4)));
    }

    pub(super) fn styled(&mut self, style: Style, text: &str) {
        let wrapped = wrap(text, self.columns, 2);
        self.line(&paint(style, &wrapped, self.color));
    }
}

pub(super) fn paint(style: Style, text: &str, color: bool) -> String {
    if color { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

/// Rows as lines of equally wide columns, two blanks between; those of `right` stand at the right.
pub(super) fn aligned(rows: &[Vec<String>], right: &[usize]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let wide = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max();
    let widths: Vec<usize> = (0..columns).map(|column| wide(column).unwrap_or_default()).collect();
    let cell = |(column, (cell, wide)): (usize, (&String, &usize))| {
        let blanks = " ".repeat(wide.saturating_sub(width(cell)));
        if right.contains(&column) { blanks + cell } else { cell.clone() + &blanks }
    };
    let line = |row: &Vec<String>| -> Vec<String> { row.iter().zip(&widths).enumerate().map(cell).collect() };
    rows.iter().map(|row| line(row).join("  ")).collect()
}

pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "n/a".to_owned(), |share| format!("{:.1}%", share * 100.0))
}

pub(super) fn losses(page: &mut Page, losses: &[LossRow], strategies: &[String]) {
    let shown = losses.len().min(LOSSES);
    if shown == 0 {
        return;
    }
    page.gap();
    let heading = match shown {
        1 => "The most damaging loss".to_owned(),
        2 => "The two most damaging losses".to_owned(),
        _ => "The three most damaging losses".to_owned(),
    };
    page.styled(BOLD, &heading);
    for loss in losses.iter().take(LOSSES) {
        let place = format!("  {}:{} {} ", sanitize(&loss.source), loss.line, sanitize(&loss.class));
        let times = count(loss.mentions_later, "time");
        let damage = sanitize(&loss.damage);
        let fate = if loss.strategy == Strategy::Recorded.name() {
            format!("{damage} at compaction {}, mentioned {times} later", loss.cycle)
        } else {
            let under = under(loss, strategies);
            format!("{damage} at cycle {} under {under}, mentioned {times} later", loss.cycle)
        };
        let value = sanitize(&loss.value);
        let quoted = format!("{place}\"{value}\"");
        if width(&quoted) + 3 + width(&fate) <= page.columns {
            page.line(&format!("{quoted} - {fate}"));
            continue;
        }
        if width(&quoted) <= page.columns {
            page.line(&quoted);
        } else {
            // The path of the log stays whole, to be copied.
            page.line(place.trim_end());
            page.line(&format!(
                "    \"{}\"",
                fit_value(&loss.class, &value, page.columns.saturating_sub(6).max(20))
            ));
        }
        page.line(&format!("    {}", wrap(&format!("- {fate}"), page.columns - 4, 6)));
    }
}

/// The value of a fact in at most so many columns.
pub(super) fn fit_value(class: &str, value: &str, columns: usize) -> String {
    if class.starts_with("file") { fit_end(value, columns) } else { fit(value, columns) }
}

/// The strategies that lose a fact; a run of only these says so.
fn under(loss: &LossRow, strategies: &[String]) -> String {
    let compacting = strategies.iter().filter(|name| *name != Strategy::None.name()).count();
    if compacting > 1 && loss.also.len() + 1 == compacting {
        return "every strategy".to_owned();
    }
    let names: Vec<&str> = std::iter::once(&loss.strategy).chain(&loss.also).map(String::as_str).collect();
    sanitize(&names.join(", "))
}

/// Sessions and cycles that failed.
pub(super) fn errors(page: &mut Page, output: &RunOutput) {
    let sessions = output
        .sessions
        .iter()
        .filter(|row| !row.error.is_empty())
        .map(|row| (&row.source, &row.session, &row.strategy, &row.error));
    let cycles = output
        .cycles
        .iter()
        .filter(|row| !row.error.is_empty())
        .map(|row| (&row.source, &row.session, &row.strategy, &row.error));
    // A session that fails does so under each strategy, and its cycle rows say the same.
    let mut failures: BTreeMap<(&str, &str, &str), Vec<&str>> = BTreeMap::new();
    for (source, session, strategy, error) in sessions.chain(cycles) {
        let strategies = failures.entry((source, session, error)).or_default();
        if !strategies.contains(&strategy.as_ref()) {
            strategies.push(strategy);
        }
    }
    let lines: Vec<String> = failures
        .into_iter()
        .map(|((source, session, error), strategies)| {
            format!(
                "{}: session {}, {}: {}",
                sanitize(source),
                sanitize(session),
                sanitize(&strategies.join(", ")),
                sanitize(error)
            )
        })
        .collect();
    list(page, "Failed", &lines);
}

/// Damage by file and line; what is only worth knowing is counted.
pub(super) fn problems(page: &mut Page, manifest: &Manifest) {
    let is_note = |problem: &&Problem| problem.severity == "note";
    let lines: Vec<String> =
        manifest.problems.iter().filter(|problem| !is_note(problem)).map(problem_line).collect();
    list(page, "Problems in the input", &lines);
    let notes = manifest.problems.iter().filter(is_note).count() as u64;
    if 0 < notes {
        if lines.is_empty() {
            page.gap();
        }
        page.prose(&format!("{} about the input, nothing lost; run.json has them.", count(notes, "note")));
    }
}

/// `file:line: text`, safe to print.
pub fn problem_line(problem: &Problem) -> String {
    let source = sanitize(&problem.source);
    let place = if problem.line == 0 { source } else { format!("{source}:{}", problem.line) };
    format!("{place}: {}", sanitize(&problem.text))
}

pub(super) fn list(page: &mut Page, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    page.gap();
    page.styled(BOLD, heading);
    for line in lines.iter().take(NOTES) {
        page.item(line);
    }
    if NOTES < lines.len() {
        page.item(&format!("and {} more", thousands((lines.len() - NOTES) as u64)));
    }
}
