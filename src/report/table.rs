//! The terminal table: what was run, who did best, what hurts most, what was left out.
//!
//! Meant to be understood at once by somebody tired: one block per profile and window, one row per strategy, `best` and
//! `worst` in words (color only repeats them), every share with its error where there is one. At most 80 columns are
//! needed. Text that comes from logs is escaped before it gets here into a line.

use super::Look;
use super::page::{BAD, BOLD, GOOD, Page, errors, list, losses, paint, percent, problems};
use super::rank::{JUDGED_BY, Place, places};
use super::text::{count, sanitize, thousands};
use crate::aggregate::{Aggregate, DifferenceRow, Metric, SummaryRow, window_label};
use crate::results::{CycleRow, RunOutput, SessionRow, Settings};
use crate::stats::{Estimate, MIN_SESSIONS, holm};
use comfy_table::{CellAlignment, Table, presets};
use std::collections::{BTreeMap, BTreeSet};

mod lasting;

/// The table and everything around it.
pub fn render(output: &RunOutput, aggregate: &Aggregate, look: Look<'_>) -> String {
    let mut page = Page::new(look);
    title(&mut page, output);
    if aggregate.summary.iter().any(|row| 0 < row.n_exercised) {
        for rows in aggregate.summary.chunk_by(same_block) {
            block(&mut page, rows, aggregate, &output.manifest.settings);
        }
        losses(&mut page, &output.manifest.worst_losses, &output.manifest.settings.strategies);
    } else {
        page.gap();
        page.styled(BAD, "Nothing was measured: no session was compacted.");
    }
    notes(&mut page, output, aggregate, look);
    page.text
}

fn same_block(left: &SummaryRow, right: &SummaryRow) -> bool {
    (&left.profile, &left.window) == (&right.profile, &right.window)
}

fn title(page: &mut Page, output: &RunOutput) {
    let manifest = &output.manifest;
    let settings = &manifest.settings;
    page.styled(
        BOLD,
        &format!(
            "{}, {}: {} exercised, {} not exercised, {} failed; {}",
            count(manifest.files, "file"),
            count(manifest.sessions, "session"),
            thousands(manifest.sessions_exercised),
            thousands(manifest.sessions_not_exercised),
            thousands(manifest.sessions_failed),
            count(output.cycles.len() as u64, "cycle"),
        ),
    );
    let asked = if 0 < settings.cycles {
        format!(" for {}", count(settings.cycles, "cycle"))
    } else {
        let windows: Vec<String> = settings.windows.iter().map(|window| sanitize(window)).collect();
        format!(" ({})", windows.join(", "))
    };
    let windows = span(output.sessions.iter().filter(|row| row.exercised).map(|row| row.window));
    let budgets = span(output.cycles.iter().filter(|row| row.error.is_empty()).filter_map(|row| row.budget));
    page.prose(&format!(
        "Profile {}, window {windows} tokens{asked}, summary budget {budgets} tokens, schedule {}, tokenizer {}",
        sanitize(&settings.profiles.join(", ")),
        sanitize(&settings.schedule),
        sanitize(&settings.tokenizer),
    ));
}

/// `1,000`, `1,000 to 2,000`, or `n/a`.
fn span(values: impl Iterator<Item = u64> + Clone) -> String {
    match (values.clone().min(), values.max()) {
        (Some(least), Some(most)) if least == most => thousands(least),
        (Some(least), Some(most)) => format!("{} to {}", thousands(least), thousands(most)),
        _ => "n/a".to_owned(),
    }
}

/// One profile and window: heading, table, verdict, paired difference.
fn block(page: &mut Page, rows: &[SummaryRow], aggregate: &Aggregate, settings: &Settings) {
    let Some(first) = rows.first() else { return };
    let several = aggregate.summary.iter().any(|row| !same_block(row, first));
    let sessions = rows.iter().map(|row| row.n_exercised).max().unwrap_or(0);
    page.gap();
    if several {
        let window = match first.window.as_str() {
            "cycles" => "window searched for".to_owned(),
            window => format!("window {}", window.parse().map_or_else(|_| sanitize(window), thousands)),
        };
        page.styled(BOLD, &format!("Profile {}, {window}", sanitize(&first.profile)));
    }
    let places = places(&rows.iter().collect::<Vec<_>>());
    table(page, rows, &places, sessions);

    let interval = if sessions < MIN_SESSIONS as u64 {
        format!("no intervals below {MIN_SESSIONS} sessions")
    } else {
        "below a share the ends of its 95 % interval".to_owned()
    };
    let fewer = |value: Estimate| value.mean.is_some() && value.n != sessions;
    let fewer = if rows.iter().any(|row| SHOWN.iter().any(|metric| fewer(metric.of_summary(row)))) {
        "; a cell over fewer sessions says n"
    } else {
        ""
    };
    let verdict = if places.iter().any(|place| matches!(place, Place::Best(_))) {
        "Best and worst: by the mean of the ranks in structural and in lexical survival."
    } else if places.contains(&Place::AllTied) {
        "No best or worst: the strategies tie in the mean of their ranks in structural and in lexical survival."
    } else {
        "No best or worst: fewer than two strategies have structural and lexical facts at risk."
    };
    page.gap();
    page.prose(&format!(
        "Kept: of what no kept message holds, the share in the summary. Needed: what the agent came back to in its next \
         {} tool calls. Means over {}; {interval}{fewer}.",
        settings.horizon_calls,
        count(sessions, "session")
    ));
    page.prose(verdict);
    let level = level_with_best(rows, &places, &aggregate.differences);
    if !level.is_empty() {
        page.prose(&format!(
            "Not told apart from the best by these sessions (5 % level, corrected by Holm): {}.",
            level.join(", ")
        ));
    }
    paired(page, first, rows, &aggregate.differences);
    if rows.iter().all(|row| row.violations == 0) {
        page.prose("No hard rule is broken.");
    }
    broken(page, rows);
    lasting::lasting(page, rows, &aggregate.curves);
    if settings.mode == "repeat" {
        again(page, rows);
    }
}

/// What is left when a finished context is compacted again: all of it, if compaction changed nothing.
fn again(page: &mut Page, rows: &[SummaryRow]) {
    page.gap();
    for row in rows.iter().filter(|row| row.facts_held > 0) {
        page.prose(&format!(
            "{}, compacted again: {} of {} facts of the summary before are still in it ({}); {} left as they were.",
            sanitize(&row.strategy),
            thousands(row.facts_held_still),
            thousands(row.facts_held),
            percent(row.held_survival_micro),
            count(row.summaries_unchanged, "text"),
        ));
    }
}

/// Strategies behind the best whose distance to it may be chance: neither survival that is judged by tells them apart,
/// over the sessions both have.
fn level_with_best(rows: &[SummaryRow], places: &[Place], differences: &[DifferenceRow]) -> Vec<String> {
    let judged = || rows.iter().zip(places);
    let Some((best, _)) = judged().find(|(_, place)| matches!(place, Place::Best(_))) else {
        return Vec::new();
    };
    // One family of tests: every rival against the best, by every survival that is judged by.
    let tests: Vec<(&str, f64)> = differences
        .iter()
        .filter(|row| (&row.profile, &row.window) == (&best.profile, &best.window))
        .filter(|row| JUDGED_BY.iter().any(|metric| metric.name() == row.metric))
        .filter_map(|row| {
            let rival = match (row.strategy_a == best.strategy, row.strategy_b == best.strategy) {
                (true, _) => &row.strategy_b,
                (_, true) => &row.strategy_a,
                _ => return None,
            };
            Some((rival.as_str(), row.p?))
        })
        .collect();
    let corrected = holm(&tests.iter().map(|(_, p)| *p).collect::<Vec<_>>());
    let told_apart = |row: &SummaryRow| {
        tests.iter().zip(&corrected).any(|((rival, _), p)| *rival == row.strategy && *p <= 0.05)
    };
    judged()
        .filter(|(row, place)| matches!(place, Place::Between | Place::Worst(_)) && !told_apart(row))
        .map(|(row, _)| sanitize(&row.strategy))
        .collect()
}

/// Shares in the table, in its order.
const SHOWN: [Metric; 6] = [
    Metric::FilesModified,
    Metric::FilesRead,
    Metric::Structural,
    Metric::Lexical,
    Metric::Needed,
    Metric::Context,
];

const HEADER: [&str; 9] = [
    "\n\nstrategy",
    "modified\nfiles\nkept",
    "read\nfiles\nkept",
    "structural\nfacts\nkept",
    "lexical\nfacts\nkept",
    "needed\nfacts\nkept",
    "\nfacts in\ncontext",
    "\nsummary\ntokens",
    "\ncontext\nsmaller",
];

fn table(page: &mut Page, rows: &[SummaryRow], places: &[Place], sessions: u64) {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(HEADER);
    for (row, place) in rows.iter().zip(places) {
        let mut cells = vec![format!("{}\n{}", sanitize(&row.strategy), mark(*place)).trim_end().to_owned()];
        cells.extend(SHOWN.map(|metric| share(metric.of_summary(row), sessions)));
        cells
            .push(row.tokens_summary.map_or_else(|| "n/a".to_owned(), |mean| thousands(mean.round() as u64)));
        cells.push(percent(row.reduction));
        table.add_row(cells);
    }
    let widths: usize = table.column_max_content_widths().iter().map(|width| usize::from(*width)).sum();
    let gap = if widths + 2 * (HEADER.len() - 1) <= page.columns { 2 } else { 1 };
    for (idx, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if idx == 0 { 0 } else { gap }, 0));
        if 0 < idx {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let header_lines = HEADER.iter().map(|cell| cell.lines().count()).max().unwrap_or(0);
    for (idx, line) in table.lines().enumerate() {
        let line = line.trim_end();
        if idx < header_lines {
            page.line(&paint(BOLD, line, page.color));
        } else {
            page.line(&paint_mark(line, page.color));
        }
        if idx + 1 == header_lines {
            page.line(&"-".repeat(widths + usize::from(gap) * (HEADER.len() - 1)));
        }
    }
}

fn mark(place: Place) -> &'static str {
    match place {
        Place::Best(false) => "best",
        Place::Best(true) => "tied best",
        Place::Worst(false) => "worst",
        Place::Worst(true) => "tied worst",
        Place::Between | Place::AllTied | Place::Unjudged => "",
    }
}

/// Colors the mark a line begins with: the second line of a strategy's cell.
fn paint_mark(line: &str, color: bool) -> String {
    for (place, style) in [
        (Place::Best(false), GOOD),
        (Place::Best(true), GOOD),
        (Place::Worst(false), BAD),
        (Place::Worst(true), BAD),
    ] {
        if let Some(rest) = line.strip_prefix(mark(place))
            && (rest.is_empty() || rest.starts_with(' '))
        {
            return paint(style, mark(place), color) + rest;
        }
    }
    line.to_owned()
}

/// Share, interval, and sessions where they are not those of the block, each on a line.
fn share(value: Estimate, sessions: u64) -> String {
    let mut cell = percent(value.mean);
    if let (Some(low), Some(high)) = (value.low, value.high) {
        cell += &format!("\n{:.0}-{:.0}", low * 100.0, high * 100.0);
    }
    if value.mean.is_some() && value.n != sessions {
        cell += &format!("\nn {}", value.n);
    }
    cell
}

/// One sentence about two strategies: structured and narrative, or the first two.
fn paired(page: &mut Page, block: &SummaryRow, rows: &[SummaryRow], differences: &[DifferenceRow]) {
    let here: Vec<&DifferenceRow> = differences
        .iter()
        .filter(|row| (&row.profile, &row.window) == (&block.profile, &block.window))
        .collect();
    let wanted = |row: &&&DifferenceRow| {
        let pair = [row.strategy_a.as_str(), row.strategy_b.as_str()];
        pair == ["structured", "narrative"] || pair == ["narrative", "structured"]
    };
    let Some(pair) = here.iter().find(wanted).or(here.first()) else { return };
    let of = |metric: Metric| {
        here.iter().find(|row| {
            (&row.strategy_a, &row.strategy_b) == (&pair.strategy_a, &pair.strategy_b)
                && row.metric == metric.name()
        })
    };
    let parts: Vec<String> = [("structural facts", Metric::Structural), ("lexical facts", Metric::Lexical)]
        .into_iter()
        .filter_map(|(name, metric)| Some(format!("{name} {}", difference(of(metric)?))))
        .collect();
    page.prose(&format!(
        "{} minus {}, same sessions: {}.",
        sanitize(&pair.strategy_a),
        sanitize(&pair.strategy_b),
        parts.join("; ")
    ));
    if rows.windows(2).any(|pair| matches!(pair, [a, b] if a.n_exercised != b.n_exercised)) {
        page.prose(
            "The strategies were not exercised on the same sessions: trust the paired difference, not the rows.",
        );
    }
}

fn difference(row: &DifferenceRow) -> String {
    let Some(mean) = row.mean else { return "n/a (no session has both)".to_owned() };
    let error = match (row.low, row.high, row.sign_p) {
        (Some(low), Some(high), _) => format!("95 % {:+.1} to {:+.1}, ", points(low), points(high)),
        (_, _, Some(p)) => format!("sign test p = {p:.2}, "),
        _ => String::new(),
    };
    format!(
        "{:+.1} points ({error}n {}: better {}, worse {}, tie {})",
        points(mean),
        row.n,
        row.n_a,
        row.n_b,
        row.ties
    )
}

/// Percentage points, without a negative zero.
fn points(share: f64) -> f64 {
    let points = (share * 1_000.0).round() / 10.0;
    if points == 0.0 { 0.0 } else { points }
}

/// Broken rules and odd cycles; strategies that share a schedule often share them, and then a line.
fn broken(page: &mut Page, rows: &[SummaryRow]) {
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for row in rows {
        for text in [rules(row), odd_cycles(row), estimator(row)].into_iter().flatten() {
            let strategy = sanitize(&row.strategy);
            match said.iter_mut().find(|(known, _)| *known == text) {
                Some((_, strategies)) => strategies.push(strategy),
                None => said.push((text, vec![strategy])),
            }
        }
    }
    for (text, strategies) in said {
        let each = if strategies.len() == 1 { "" } else { ", each" };
        page.prose(&format!("{}{each}: {text}.", strategies.join(", ")));
    }
}

fn rules(row: &SummaryRow) -> Option<String> {
    let kinds = [
        (row.orphan_results, "tool result without its call"),
        (row.orphan_calls, "call without its result"),
        (row.duplicate_results, "second result of one call"),
        (row.empty_blocks, "empty block"),
        (row.no_user_message, "no user message"),
        (row.request_absent, "newest request absent"),
        (row.summary_after_tail, "summary after the tail"),
        (row.over_budget, "summary over budget"),
        (row.no_gain, "context not smaller"),
        (row.stuck, "no progress in two cycles"),
        (row.tail_lost, "fact of a kept message gone"),
    ];
    named(&kinds).map(|kinds| format!("rules broken: {kinds}"))
}

fn odd_cycles(row: &SummaryRow) -> Option<String> {
    named(&[
        (row.unfit, "cycle whose tail alone is larger than the window (unfit)"),
        (row.uncut, "cycle without a place to cut (uncut)"),
        (row.cancelled, "compaction that a program cancelled"),
        (row.summary_degraded, "summary that did not come as asked for (fallback_reason)"),
        (row.late_triggers, "cycle past the window before its trigger"),
    ])
}

/// What the policy takes a context for, where that is not what is counted.
fn estimator(row: &SummaryRow) -> Option<String> {
    let error = row.estimator_error.filter(|error| (error - 1.0).abs() >= 0.005)?;
    Some(format!(
        "by its own measure a context is {:.0} % of its counted tokens when it compacts",
        error * 100.0
    ))
}

/// `kind 2x, other kind 1x`; `None` when nothing happened.
fn named(kinds: &[(u64, &str)]) -> Option<String> {
    let kinds: Vec<String> =
        kinds.iter().filter(|(n, _)| 0 < *n).map(|(n, name)| format!("{name} {}x", thousands(*n))).collect();
    (!kinds.is_empty()).then(|| kinds.join(", "))
}

/// At most so many tails are listed.
const LISTED_TAILS: usize = 3;

/// Tails larger than their window, the worst first, a session once, and what fills them.
fn residuals(page: &mut Page, cycles: &[CycleRow]) {
    let mut rows: Vec<&CycleRow> = cycles.iter().filter(|row| row.unfit).collect();
    let share = |row: &CycleRow| row.tokens_tail as f64 / row.window.max(1) as f64;
    rows.sort_by(|a, b| share(b).total_cmp(&share(a)));
    let mut seen = BTreeSet::new();
    rows.retain(|row| seen.insert(&row.session));
    let mut lines: Vec<String> = rows
        .iter()
        .take(LISTED_TAILS)
        .map(|row| {
            let largest = match (row.largest_tokens, row.largest_line) {
                (Some(tokens), Some(line)) => {
                    format!("; the largest message, of {}, is at line {line}", thousands(tokens))
                }
                _ => String::new(),
            };
            format!(
                "{}: {} tokens of messages stay in a window of {} at cycle {}{largest}",
                sanitize(&row.source),
                thousands(row.tokens_tail),
                thousands(row.window),
                row.cycle
            )
        })
        .collect();
    if LISTED_TAILS < rows.len() {
        lines.push(format!("and {} more", count((rows.len() - LISTED_TAILS) as u64, "session")));
    }
    list(page, "Tails larger than the window", &lines);
}

fn notes(page: &mut Page, output: &RunOutput, aggregate: &Aggregate, look: Look<'_>) {
    residuals(page, &output.cycles);
    not_exercised(page, &output.sessions, &output.cycles);
    errors(page, output);
    problems(page, &output.manifest);
    page.gap();
    if let Some(saved) = look.saved {
        page.prose(&format!("Results: {}", sanitize(saved)));
        if output.facts.is_empty() {
            page.prose("More: --log-facts adds the fate of every fact.");
        }
    } else if !aggregate.summary.is_empty() {
        page.prose("More: --out DIR writes every row, with --log-facts the fate of every fact, too.");
    } else {
        page.prose("More: compactor replay --help.");
    }
}

/// Sessions that no plan exercised, named once per file.
fn not_exercised(page: &mut Page, sessions: &[SessionRow], cycles: &[CycleRow]) {
    // Per session: its file, whether any plan exercised or broke it, most cycles, and whether its window was given.
    let mut fates: BTreeMap<&str, (&str, bool, u64, bool)> = BTreeMap::new();
    for row in sessions {
        let fate = fates.entry(&row.session).or_insert((&row.source, false, 0, false));
        fate.1 |= row.exercised || !row.error.is_empty();
        fate.2 = fate.2.max(row.cycles_reached);
        fate.3 |= window_label(row) != "cycles";
    }
    let mut files: BTreeMap<(&str, bool), u64> = BTreeMap::new();
    let mut windows_given = false;
    let mut unfit = false;
    for (session, (source, _, reached, given)) in fates.into_iter().filter(|(_, fate)| !fate.1) {
        *files.entry((source, reached == 0)).or_default() += 1;
        windows_given |= given;
        unfit |= cycles.iter().any(|row| row.unfit && row.session == session);
    }
    let lines: Vec<String> = files
        .into_iter()
        .map(|((source, too_short), n)| {
            let why = if too_short { "too short to compact" } else { "reduction below 1 %" };
            format!("{}: {}, {why}", sanitize(source), count(n, "session"))
        })
        .collect();
    list(page, "Not exercised (counted, in no mean)", &lines);
    if windows_given && !lines.is_empty() {
        page.item(if unfit {
            "What has to stay together is larger than the window: a larger --window, or --cycles in place of it, compacts more."
        } else {
            "A smaller --window, or --cycles in place of it, compacts more of them."
        });
    }
}

#[cfg(test)]
mod tests;
