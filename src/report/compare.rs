//! Two runs compared: a table for people, rows as CSV, one document as JSON, Markdown for a pull request.

use super::gate::no_commands;
use super::markdown::escape;
use super::page::{BAD, BOLD, GOOD, Page, aligned, paint};
use super::text::{count, sanitize, thousands};
use super::{Format, Look, csv_rows, json_document};
use crate::aggregate::across::ChangeRow;
use crate::compare::{AmountChange, Comparison, Direction, Finding};
use serde_json::json;
use std::io;

/// Sessions and losses shown to people.
const SHOWN: usize = 5;

/// A comparison as text, with a final newline.
pub fn render(format: Format, compared: &Comparison, look: Look<'_>) -> io::Result<String> {
    match format {
        Format::Table => Ok(table(compared, look)),
        Format::Json => json_document(json!(compared)),
        Format::Csv => {
            let amounts = compared.amounts.iter().map(AmountChange::row);
            csv_rows(&compared.rows.iter().cloned().chain(amounts).collect::<Vec<_>>())
        }
    }
}

fn whom(finding: &Finding) -> String {
    format!("{}/{}/{}", finding.profile, finding.strategy, finding.window)
}

/// What the comparison of one contender comes to, in a sentence.
fn sentence(finding: &Finding) -> String {
    let list = |what: &str, metrics: &[String]| {
        if metrics.is_empty() { String::new() } else { format!("; {what}: {}", metrics.join(", ")) }
    };
    let (better, worse) = (list("better", &finding.better), list("worse", &finding.worse));
    let too_few = match finding.direction {
        _ if finding.too_few.is_empty() => String::new(),
        Direction::TooFewSessions => format!(": {}", finding.too_few.join(", ")),
        _ => list("too few sessions to tell", &finding.too_few),
    };
    format!("{}: {}{worse}{better}{too_few}", whom(finding), finding.direction.name())
}

/// Rows worth a line: headlines, and classes that moved.
fn shown<'a>(compared: &'a Comparison, finding: &'a Finding) -> impl Iterator<Item = &'a ChangeRow> {
    compared.rows.iter().filter(move |row| {
        let own = (&row.profile, &row.strategy, &row.window)
            == (&finding.profile, &finding.strategy, &finding.window);
        let moved = row.better + row.worse > 0;
        own && row.n > 0 && (moved || row.is_headline())
    })
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "n/a".to_owned(), |share| format!("{:.2}%", share * 100.0))
}

fn points(share: Option<f64>) -> String {
    match share {
        None => "n/a".to_owned(),
        Some(share) if share.abs() < 1e-12 => "0".to_owned(),
        Some(share) => format!("{:+.2}", share * 100.0),
    }
}

fn interval(row: &ChangeRow) -> String {
    match (row.low, row.high) {
        (Some(low), Some(high)) => format!("{} to {}", points(Some(low)), points(Some(high))),
        _ => String::new(),
    }
}

fn cells(row: &ChangeRow) -> Vec<String> {
    let p = row.p_holm.or(row.p);
    vec![
        row.metric.clone(),
        percent(row.before),
        percent(row.after),
        points(row.mean),
        interval(row),
        row.n.to_string(),
        row.better.to_string(),
        row.worse.to_string(),
        p.map_or_else(String::new, |p| if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }),
    ]
}

const HEADINGS: [&str; 9] =
    ["metric", "before", "now", "points", "95 % interval", "n", "better", "worse", "p (Holm)"];

fn table(compared: &Comparison, look: Look<'_>) -> String {
    let mut page = Page::new(look);
    page.styled(BOLD, &headline(compared));
    for line in notes(compared) {
        page.prose(&sanitize(&line));
    }
    for finding in &compared.findings {
        page.gap();
        let style = match finding.direction {
            Direction::Worse | Direction::Mixed => BAD,
            Direction::Better => GOOD,
            Direction::Identical
            | Direction::WithinChance
            | Direction::TooFewSessions
            | Direction::NotMeasured => BOLD,
        };
        page.styled(style, &sanitize(&sentence(finding)));
        if !differs(compared, finding) {
            continue;
        }
        let mut rows = vec![HEADINGS.map(str::to_owned).to_vec()];
        rows.extend(shown(compared, finding).map(cells));
        for line in aligned(&rows, &[1, 2, 3, 5, 6, 7, 8]) {
            page.line(&format!("  {line}"));
        }
        for amounts in amounts(compared, finding) {
            page.item(&amounts);
        }
    }
    worst(&mut page, compared);
    page.gap();
    page.line(&format!("before  scores {}  settings {}", compared.before.scores, compared.before.settings));
    page.line(&format!("now     scores {}  settings {}", compared.after.scores, compared.after.settings));
    no_commands(&page.text)
}

/// How many contenders came out how.
fn headline(compared: &Comparison) -> String {
    if compared.identical {
        let all = compared.findings.len();
        let unmeasured =
            compared.findings.iter().filter(|finding| finding.direction == Direction::NotMeasured).count();
        let but = match unmeasured {
            0 => String::new(),
            some => format!("; {some} of {} not measured in both", count(all as u64, "contender")),
        };
        return format!("compare: identical: every count of every session is the same{but}");
    }
    let all = [
        Direction::Worse,
        Direction::Mixed,
        Direction::Better,
        Direction::TooFewSessions,
        Direction::WithinChance,
        Direction::Identical,
        Direction::NotMeasured,
    ];
    let of = |direction| compared.findings.iter().filter(|finding| finding.direction == direction).count();
    let parts = all.into_iter().filter(|direction| of(*direction) > 0);
    let parts: Vec<String> =
        parts.map(|direction| format!("{} {}", of(direction), direction.name())).collect();
    format!("compare: {}: {}", count(compared.findings.len() as u64, "contender"), parts.join(", "))
}

/// What must be known to read the figures.
fn notes(compared: &Comparison) -> Vec<String> {
    let mut notes: Vec<String> = compared.differs.iter().map(|what| format!("differs: {what}")).collect();
    notes.extend(compared.unmatched.iter().map(|whom| format!("not compared: {whom}")));
    if compared.left_out > 0 {
        notes.push(format!("{} that only one run has, left out", count(compared.left_out, "session")));
    }
    if compared.windows_changed > 0 {
        notes.push(format!(
            "another window was found for {}: what left the context differs there; --same-window keeps the window for several \
             profiles of one replay, --window gives one",
            count(compared.windows_changed, "session")
        ));
    }
    if compared.exact && !compared.identical {
        notes.push(
            "figures of the embedded summarizer are exact: what differs, differs here; p and interval say how far that holds for \
             other sessions"
                .to_owned(),
        );
    }
    let states = &compared.states_changed;
    notes.extend(states.iter().take(SHOWN).cloned());
    if SHOWN < states.len() {
        notes.push(format!("and {} more sessions in another state", states.len() - SHOWN));
    }
    notes
}

/// Amounts of a contender that differ.
fn own_amounts<'a>(compared: &'a Comparison, finding: &'a Finding) -> impl Iterator<Item = &'a AmountChange> {
    compared.amounts.iter().filter(|row| {
        (&row.profile, &row.strategy, &row.window) == (&finding.profile, &finding.strategy, &finding.window)
    })
}

/// Whether there is more to show than the sentence.
fn differs(compared: &Comparison, finding: &Finding) -> bool {
    !matches!(finding.direction, Direction::Identical | Direction::NotMeasured)
        || own_amounts(compared, finding).next().is_some()
}

/// Amounts that differ, hard invariants first and by themselves: they are what must not happen.
fn amounts(compared: &Comparison, finding: &Finding) -> Vec<String> {
    let list = |invariant: bool| -> Vec<String> {
        let own = own_amounts(compared, finding).filter(|row| row.invariant == invariant);
        let moved = |row: &AmountChange| {
            let (before, after) = (thousands(row.before), thousands(row.after));
            let sessions = if row.before == row.after {
                format!(" (differs in {})", count(row.better + row.worse, "session"))
            } else {
                String::new()
            };
            format!("{} {before} -> {after}{sessions}", row.amount)
        };
        own.map(moved).collect()
    };
    let lines = [("hard invariants broken", list(true)), ("in all", list(false))];
    let lines = lines.into_iter().filter(|(_, list)| !list.is_empty());
    lines.map(|(what, list)| format!("{what}: {}", list.join(", "))).collect()
}

fn worst(page: &mut Page, compared: &Comparison) {
    let worse: Vec<_> = compared.sessions.iter().filter(|change| change.difference < 0.0).collect();
    if !worse.is_empty() {
        page.gap();
        page.styled(BOLD, "Sessions that became worse most");
        // Each session once, with what it lost most of: they are sorted by it.
        let mut seen = std::collections::BTreeSet::new();
        let worst: Vec<_> = worse.iter().filter(|change| seen.insert(&change.session)).collect();
        for change in worst.iter().take(SHOWN) {
            let by = points(Some(change.difference));
            let text = format!(
                "{} ({}) {} {}: {} -> {} ({by} points)",
                change.session,
                change.source,
                change.strategy,
                change.metric,
                percent(Some(change.before)),
                percent(Some(change.after)),
            );
            page.item(&sanitize(&text));
        }
        if SHOWN < worst.len() {
            let more = count((worst.len() - SHOWN) as u64, "more session");
            page.item(&format!("and {more}; --format json has them all, with every metric"));
        }
    }
    if compared.new_losses.is_empty() {
        return;
    }
    page.gap();
    let heading = if compared.all_losses { "New losses" } else { "New among the worst losses of the run" };
    page.styled(BOLD, heading);
    for loss in compared.new_losses.iter().take(SHOWN) {
        let place = paint(BOLD, &sanitize(&format!("{}:{}", loss.source, loss.line)), page.color);
        let what = sanitize(&format!("{} {}", loss.class, loss.value));
        let when = format!("{} at cycle {} under {}", loss.damage, loss.cycle, loss.strategy);
        page.item(&format!("{place} {what}: {}", sanitize(&when)));
    }
    if SHOWN < compared.new_losses.len() {
        page.item(&format!("and {} more; --format json has them all", compared.new_losses.len() - SHOWN));
    }
    if !compared.all_losses {
        page.item("replay both with --log-facts to see every fact that is newly lost");
    }
}

/// As Markdown.
pub fn markdown(compared: &Comparison) -> String {
    let mut text = String::from("## compactor compare\n\n");
    text.push_str(&format!("{}\n\n", escape(&headline(compared))));
    for line in notes(compared).iter().chain(&compared.findings.iter().map(sentence).collect::<Vec<_>>()) {
        text.push_str(&format!("- {}\n", escape(line)));
    }
    for finding in compared.findings.iter().filter(|finding| differs(compared, finding)) {
        text.push_str(&format!(
            "\n### {}\n\n| {} |\n|{}\n",
            escape(&whom(finding)),
            HEADINGS.join(" | "),
            "---|".repeat(HEADINGS.len())
        ));
        for row in shown(compared, finding) {
            // Names of metrics and figures: nothing in them is anybody's.
            text.push_str(&format!("| {} |\n", cells(row).join(" | ")));
        }
        for amounts in amounts(compared, finding) {
            text.push_str(&format!("\n{}\n", escape(&amounts)));
        }
    }
    if !compared.new_losses.is_empty() {
        text.push_str(
            "\n### New losses\n\n| place | class | value | strategy | cycle |\n|---|---|---|---|---|\n",
        );
        for loss in compared.new_losses.iter().take(SHOWN * 4) {
            let place = format!("{}:{}", loss.source, loss.line);
            let cells = [&place, &loss.class, &loss.value, &loss.strategy, &loss.cycle.to_string()]
                .map(|text| escape(text));
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::results::SessionRow;
    use crate::results::files::sample;

    const LOOK: Look<'_> = Look { width: 100, color: false, saved: None };

    fn worse() -> Comparison {
        let before = sample::run(12);
        let mut after = before.clone();
        for row in after.sessions.iter_mut().filter(|row| row.strategy == "structured") {
            row.lexical_survival = row.lexical_survival.map(|value| value - 0.2);
        }
        compare(&before, &after)
    }

    #[test]
    fn people_see_what_became_worse() {
        let text = render(Format::Table, &worse(), LOOK).unwrap();
        assert!(text.starts_with("compare: 4 contenders: 1 worse, 3 identical\n"), "{text}");
        assert!(text.contains("standard/structured/cycles: worse; worse: lexical_survival\n"), "{text}");
        assert!(
            text.contains("lexical_survival     80.00%  60.00%  -20.00  -20.00 to -20.00  12       0     12"),
            "{text}"
        );
        assert!(text.contains("standard/truncate/cycles: identical\n"), "{text}");
        assert!(text.contains("Sessions that became worse most"), "{text}");
    }

    #[test]
    fn equal_runs_are_said_to_be_identical() {
        let run = sample::run(12);
        let text = render(Format::Table, &compare(&run, &run), LOOK).unwrap();
        assert!(text.starts_with("compare: identical: every count of every session is the same\n"), "{text}");
    }

    #[test]
    fn programs_get_rows_and_a_document() {
        let csv = render(Format::Csv, &worse(), LOOK).unwrap();
        assert!(csv.starts_with(
            "profile,strategy,window,metric,before,after,mean,low,high,n,better,worse,ties,sign_p,p,p_holm\n"
        ));
        assert!(csv.contains("standard,structured,cycles,lexical_survival,0.8,0.6,-0.2,"), "{csv}");
        let json = render(Format::Json, &worse(), LOOK).unwrap();
        let document: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(document["findings"][0]["direction"], "worse");
        let page = markdown(&worse());
        assert!(page.contains("lexical_survival | 80.00% | 60.00% |"), "{page}");
    }

    #[test]
    fn amounts_stand_in_every_format_though_no_share_moved() {
        let before = sample::run(12);
        let mut after = before.clone();
        for row in after.cycles.iter_mut().filter(|row| row.strategy == "narrative").take(6) {
            row.no_gain = true;
            row.tokens_summary += 100;
        }
        let compared = compare(&before, &after);
        let text = render(Format::Table, &compared, LOOK).unwrap();
        assert!(text.starts_with("compare: 4 contenders: 1 worse, 3 identical\n"), "{text}");
        assert!(text.contains("standard/narrative/cycles: worse; worse: no_gain\n"), "{text}");
        let lines = ["hard invariants broken: no_gain 0 -> 6", "in all: tokens_summary 6,000 -> 6,600"];
        let page = markdown(&compared);
        for line in lines {
            assert!(text.contains(line) && page.contains(&escape(line)), "{text}\n{page}");
        }
        let csv = render(Format::Csv, &compared, LOOK).unwrap();
        assert!(csv.contains("\nstandard,narrative,cycles,no_gain,0,6,0.461538,,,13,0,6,7,,,\n"), "{csv}");
        assert!(csv.contains("\nstandard,narrative,cycles,tokens_summary,6000,6600,46.153846,"), "{csv}");
    }

    #[test]
    fn sessions_are_counted_once_however_many_metrics_fell() {
        let before = sample::run(12);
        let mut after = before.clone();
        for row in after.sessions.iter_mut().filter(|row| row.exercised) {
            row.lexical_survival = row.lexical_survival.map(|value| value / 2.0);
            row.summary_survival = row.summary_survival.map(|value| value / 2.0);
        }
        let text = render(Format::Table, &compare(&before, &after), LOOK).unwrap();
        assert!(text.contains("and 7 more sessions; "), "{text}");
    }

    #[test]
    fn what_was_not_measured_is_not_called_identical() {
        let mut run = sample::run(12);
        for row in run.sessions.iter_mut().filter(|row| row.strategy == "truncate") {
            *row = SessionRow {
                exercised: false,
                cycles_reached: 0,
                ..sample::session(&row.session, "truncate")
            };
        }
        run.cycles.retain(|row| row.strategy != "truncate");
        let text = render(Format::Table, &compare(&run, &run), LOOK).unwrap();
        assert!(text.contains("is the same; 1 of 4 contenders not measured in both\n"), "{text}");
    }

    #[test]
    fn other_windows_are_told() {
        let before = sample::run(12);
        let mut after = before.clone();
        for row in
            after.sessions.iter_mut().filter(|row| ["s00", "s01", "s02"].contains(&row.session.as_str()))
        {
            row.window += 500;
        }
        let compared = compare(&before, &after);
        assert_eq!(compared.windows_changed, 3);
        let text = render(Format::Table, &compared, LOOK).unwrap();
        assert!(text.contains("another window was found for 3 sessions"), "{text}");
        assert!(text.contains("figures of the embedded summarizer are exact"), "{text}");
        after.manifest.settings.summarizer = "model".to_owned();
        let text = render(Format::Table, &compare(&before, &after), LOOK).unwrap();
        assert!(!text.contains("are exact"), "{text}");
    }
}
