//! Sessions one by one: how they differ, and what the worst of them lost.

use super::table::{Cell, Table};
use super::{about, named, panel_title};
use crate::report::findings::percent;
use crate::report::runs::{View, class_name};
use crate::report::sections::{LISTED, LOSSES, Session, WORST, Worst, sessions, worst as worst_sessions};
use crate::report::svg::{self, HEATS};
use crate::report::text::{count, fit, sanitize, thousands};
use crate::results::{LossRow, ratio};
use maud::{Markup, html};

/// Columns of a text in a table.
const LONGEST: usize = 240;

/// Sessions by contenders, as a heat map and as a table.
pub(super) fn all(view: &View<'_>) -> Markup {
    let all = sessions(view);
    html! {
        section id="sessions" aria-labelledby="sessions-h" {
            h2 id="sessions-h" { "Sessions" }
            p { "Each column is a session: the share of at-risk facts in the summary, mean over its compactions. All rows have the sessions in one order, by the mean over all contenders, the least kept on the left. Loss is often all or nothing, which a mean over sessions does not show." }
            ul class="legend" {
                @for step in 0..HEATS { li {
                    svg class="key" viewBox="0 0 18 13" aria-hidden="true" { rect class={ "h" (step) } width="18" height="13" rx="2" {} }
                    (format!("{:.0}–{:.0} %", step as f64 * 100.0 / HEATS as f64, (step + 1) as f64 * 100.0 / HEATS as f64))
                } }
                li { svg class="key" viewBox="0 0 18 13" aria-hidden="true" { rect class="hn" width="18" height="13" rx="2" {} } "no value" }
            }
            @for (at, panel) in view.panels.iter().enumerate() {
                (panel_title(&panel.title))
                figure class="strips" { @for member in &panel.members { @if let Some(contender) = view.get(*member) {
                    @let cells: Vec<Option<f64>> = all.iter().map(|session| session.values.get(*member).copied().flatten()).collect();
                    p { (named(contender, &contender.short)) }
                    (svg::strip(&about(
                        format!("sessions-{at}-{member}"),
                        &format!("Sessions under {}", contender.short),
                        told(&cells),
                    ), &cells))
                } } }
            }
            details class="data" {
                summary { "Table: all sessions, to sort and to search" }
                @if all.len() > LISTED {
                    p class="soft" { "The " (thousands(LISTED as u64)) " that lose most are shown, " (thousands((all.len() - LISTED) as u64)) " are left out; sessions.csv has them all." }
                }
                (table(view, &all).render())
            }
        }
    }
}

/// A strip in words.
fn told(cells: &[Option<f64>]) -> String {
    let n = cells.iter().flatten().count() as u64;
    let of = |holds: fn(f64) -> bool| cells.iter().flatten().filter(|share| holds(**share)).count();
    format!(
        "{} with a value: {} keep less than half, {} keep nothing, {} keep all; the table below has the numbers.",
        count(n, "session"),
        of(|share| share < 0.5),
        of(|share| share <= 0.0),
        of(|share| share >= 1.0)
    )
}

fn table(view: &View<'_>, all: &[Session<'_>]) -> Table {
    let mut table = Table::new(
        "Share of at-risk facts in the summary, by session",
        &["session", "format", ">turns", ">tokens", ">compactions"],
    );
    table.head.extend(view.contenders.iter().map(|it| format!(">{}", it.name)));
    table.long = true;
    for session in all.iter().take(LISTED) {
        let row = session.row;
        let mut cells = vec![
            Cell::name(html! { span class="mono" { (fit(&sanitize(&row.session), 60)) } }),
            Cell::text(&row.format),
            Cell::number(row.turns),
            Cell::number(row.tokens),
            Cell::number(row.cycles_reached),
        ];
        cells.extend(session.values.iter().map(|value| Cell::heat(*value)));
        table.rows.push(cells);
    }
    table
}

/// The sessions that lost most of what was needed, each with what it lost.
pub(super) fn worst(view: &View<'_>) -> Markup {
    let worst = worst_sessions(view);
    let leads: Vec<&str> = view.leads.iter().filter_map(|at| Some(view.get(*at)?.name.as_str())).collect();
    let logged = view.runs.iter().any(|run| !run.output.facts.is_empty());
    html! {
        section id="worst" aria-labelledby="worst-h" {
            h2 id="worst-h" { "Worst sessions" }
            p {
                "Up to " (WORST) " sessions whose summaries lost most of what the work came back to, then most of all, under "
                (leads.join(", ")) ". Each opens to the facts that were lost, needed ones first, with the line of the log where they were born."
            }
            @if worst.is_empty() { p { "No session lost a fact." } }
            @for session in &worst { (case(view, session)) }
            @if !logged { (manifest_losses(view)) }
        }
    }
}

fn case(view: &View<'_>, session: &Worst<'_>) -> Markup {
    let row = session.row;
    let kept = ratio(session.at_risk - session.lost.min(session.at_risk), session.at_risk);
    html! {
        details class="case" {
            summary {
                b { (fit(&sanitize(&row.session), 60)) }
                @if session.needed > 0 {
                    span class="badge needed" { (thousands(session.needed_lost)) " of " (thousands(session.needed)) " needed lost" }
                }
                span class="soft" {
                    (thousands(session.lost)) " of " (count(session.at_risk, "at-risk fact")) " lost"
                    @if let Some(kept) = kept { " (" (percent(kept)) " kept)" }
                    ", " (sanitize(&row.format)) ", " (count(row.turns, "turn")) ", " (thousands(row.tokens)) " tokens"
                }
            }
            p class="soft" {
                @if view.runs.len() > 1 { (view.runs.get(session.run).map(|run| sanitize(&run.label)).unwrap_or_default()) ": " }
                "log " code { (sanitize(&row.source)) }
            }
            @if session.losses.is_empty() {
                p class="soft" { "Which facts these were is not in the rows: run again with --log-facts." }
            } @else {
                (losses(session).render())
                @if session.more > 0 {
                    p class="soft" { "And " (count(session.more as u64, "more fact")) "; the first " (LOSSES) " are shown, facts.csv has them all." }
                }
            }
        }
    }
}

fn losses(session: &Worst<'_>) -> Table {
    let caption = format!("Facts lost in {}", fit(&sanitize(&session.row.session), 60));
    let head = [
        "class",
        "fact",
        ">log line",
        "said by",
        ">lost at compaction",
        "left of it",
        ">mentions later",
        "lost under",
    ];
    let mut table = Table::new(&caption, &head);
    for loss in &session.losses {
        let row = loss.row;
        table.rows.push(vec![
            Cell::markup(html! { (class_name(&row.class)) @if loss.needed { " " span class="badge needed" { "needed" } } })
                .sorted_by(row.class.clone()),
            Cell::long(&fit(&sanitize(&row.value), LONGEST)),
            Cell::number(row.birth_line),
            Cell::text(&row.author),
            Cell::number(u64::from(row.cycle)),
            Cell::text(if row.tier == "absent" { "nothing" } else { &row.tier }),
            Cell::number(row.mentions_later),
            Cell::text(&loss.under.join(", ")),
        ]);
    }
    table
}

/// Where no facts were logged: the few losses that every run names.
fn manifest_losses(view: &View<'_>) -> Markup {
    let rows: Vec<&LossRow> = view.runs.iter().flat_map(|run| &run.output.manifest.worst_losses).collect();
    let mut table = Table::new(
        "The most damaging losses",
        &["class", "fact", "log", ">line", "damage", ">compaction", ">mentions later", "under"],
    );
    for row in &rows {
        let mut under = vec![row.strategy.clone()];
        under.extend(row.also.iter().cloned());
        table.rows.push(vec![
            Cell::text(&class_name(&row.class)),
            Cell::long(&fit(&sanitize(&row.value), LONGEST)),
            Cell::long(&row.source),
            Cell::number(row.line),
            Cell::text(&row.damage),
            Cell::number(u64::from(row.cycle)),
            Cell::number(row.mentions_later),
            Cell::text(&under.join(", ")),
        ]);
    }
    html! { @if !rows.is_empty() { h3 { "Losses that the run names" } (table.render()) } }
}
