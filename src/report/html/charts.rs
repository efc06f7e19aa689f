//! The charts of the page, each with the table of its numbers.

use super::table::{Cell, Table, ends};
use super::{about, legend, named, panel_title};
use crate::aggregate::curves::CurveRow;
use crate::aggregate::{Metric, SummaryRow};
use crate::report::findings::percent;
use crate::report::runs::{CLASSES, Contender, Panel, View, class_name, is_group, is_structural};
use crate::report::sections::{Damage, damage};
use crate::report::svg::{self, Bar, Dots, Line, Point, Spot};
use crate::report::text::thousands;
use crate::results::ratio;
use crate::stats::{Estimate, MIN_SESSIONS};
use maud::{Markup, html};

/// Kinds of facts that have a chart of their own, and their headings.
const KINDS: [(&str, Metric, &str); 2] = [
    ("structural", Metric::Structural, "Structural facts (files, commands, checks, todos)"),
    ("lexical", Metric::Lexical, "Lexical facts (errors, values, decisions, …)"),
];

/// Ages in the tables of curves.
const AGES: [u32; 8] = [1, 2, 3, 4, 5, 10, 20, 50];

/// A section with a part for each panel.
fn section(
    id: &str,
    title: &str,
    view: &View<'_>,
    begins: &Markup,
    part: impl Fn(usize, &Panel) -> Markup,
) -> Markup {
    let heading = format!("{id}-h");
    html! {
        section id=(id) aria-labelledby=(heading) {
            h2 id=(heading) { (title) }
            (begins)
            @for (at, panel) in view.panels.iter().enumerate() {
                (panel_title(&panel.title))
                (part(at, panel))
            }
        }
    }
}

/// The name of a table, with what tells its panel from the others.
fn of(panel: &Panel, name: &str) -> String {
    if panel.title.is_empty() { name.to_owned() } else { format!("{name} ({})", panel.title) }
}

/// A chart for each kind of facts.
fn by_kind(chart: impl Fn(&str, Metric, &str) -> Markup) -> Markup {
    html! {
        div class="charts" { @for (kind, metric, title) in KINDS { figure {
            figcaption { b { (title) } }
            (chart(kind, metric, title))
        } } }
    }
}

fn nothing_at_risk() -> Markup {
    html! { p class="soft" { "Nothing of this kind was ever at risk." } }
}

fn few(n: u64) -> bool {
    n < MIN_SESSIONS as u64
}

fn steps<'a>(view: &View<'a>, contender: &Contender<'a>, kind: &str) -> Vec<&'a CurveRow> {
    view.curve(contender, kind).into_iter().filter(|step| step.at_risk > 0).collect()
}

/// How long facts last once only the summary can hold them.
pub(super) fn lasting(view: &View<'_>) -> Markup {
    let begins = html! {
        p { "From the compaction on at which only the summary can still hold a fact: the share that outlasts so many compactions, counted anew when the log says it again. All sessions pooled; bands are 95 % intervals over sessions, hollow marks rest on fewer than " (MIN_SESSIONS) " sessions." }
    };
    section("lasting", "How long facts last", view, &begins, |at, panel| {
        html! {
            (by_kind(|kind, _, title| curve_chart(view, panel, at, kind, title)))
            (legend(view.of(panel)))
            (curve_table(view, panel).folded())
        }
    })
}

fn curve_chart(view: &View<'_>, panel: &Panel, at: usize, kind: &str, title: &str) -> Markup {
    let lines: Vec<Line> = view
        .of(panel)
        .map(|contender| {
            let start = Point { x: 0.0, y: 1.0, interval: Some((1.0, 1.0)), weak: false };
            let steps = steps(view, contender, kind).into_iter().map(|step| Point {
                x: f64::from(step.age),
                y: step.survival,
                interval: step.survival_low.zip(step.survival_high),
                weak: few(step.sessions_at_risk),
            });
            Line {
                name: contender.short.clone(),
                series: contender.series,
                points: [start].into_iter().chain(steps).collect(),
            }
        })
        .filter(|line| line.points.len() > 1)
        .collect();
    if lines.is_empty() {
        return nothing_at_risk();
    }
    let told: Vec<String> = lines
        .iter()
        .filter_map(|line| {
            let (first, last) = (line.points.get(1)?, line.points.last()?);
            let name = &line.name;
            Some(format!("{name}: {} after 1, {} after {}", percent(first.y), percent(last.y), last.x))
        })
        .collect();
    let about = about(
        format!("lasting-{at}-{kind}"),
        title,
        format!("Share that outlasts compactions. {}.", told.join("; ")),
    );
    svg::curves(&about, "compactions outlasted", &lines)
}

fn curve_table(view: &View<'_>, panel: &Panel) -> Table {
    let mut table =
        Table::new(&of(panel, "Share of facts that outlast so many compactions"), &["contender", "facts"]);
    let longest = view
        .of(panel)
        .flat_map(|it| KINDS.map(|(kind, _, _)| steps(view, it, kind).last().map_or(0, |step| step.age)))
        .max()
        .unwrap_or(0);
    let ages: Vec<u32> = AGES.into_iter().filter(|age| *age <= longest).collect();
    table.head.extend(ages.iter().map(|age| format!(">{age}")));
    table.head.extend([">half-life", ">spells", ">sessions"].map(str::to_owned));
    for it in view.of(panel) {
        for (kind, _, _) in KINDS {
            let steps = steps(view, it, kind);
            let Some(first) = steps.first() else { continue };
            let mut row =
                vec![Cell::name(named(it, &it.short)).sorted_by(it.short.clone()), Cell::text(kind)];
            row.extend(ages.iter().map(|age| {
                let step = steps.iter().find(|step| step.age == *age);
                Cell::estimate(
                    Estimate {
                        mean: step.map(|step| step.survival),
                        low: step.and_then(|step| step.survival_low),
                        high: step.and_then(|step| step.survival_high),
                        n: step.map_or(0, |step| step.sessions_at_risk),
                    },
                    step.map(|step| step.sessions_at_risk).filter(|n| !few(*n)),
                    false,
                )
            }));
            let last = steps.last().map_or(0, |step| step.age);
            let half = first.half_life.map_or_else(|| format!("> {last}"), |age| age.to_string());
            row.push(Cell::text(&half).sorted_by(first.half_life.unwrap_or(u32::MAX).to_string()));
            row.extend([Cell::number(first.at_risk), Cell::number(first.n_sessions)]);
            table.rows.push(row);
        }
    }
    table
}

/// Survival against the tokens it takes.
pub(super) fn tokens(view: &View<'_>) -> Markup {
    let most = view.contenders.iter().filter_map(|it| it.row.tokens_summary).fold(0.0, f64::max);
    let begins = html! {
        p { "What a summary keeps against what it takes: up is better, left is cheaper. The dotted line joins those that no other beats in both. Whiskers are 95 % intervals; hollow marks rest on fewer than " (MIN_SESSIONS) " sessions." }
    };
    section("tokens", "Survival and tokens", view, &begins, |at, panel| {
        html! {
            (by_kind(|kind, metric, title| frontier(view, panel, at, kind, metric, title, most)))
            (token_table(view, panel).folded())
        }
    })
}

fn frontier(
    view: &View<'_>,
    panel: &Panel,
    at: usize,
    kind: &str,
    metric: Metric,
    title: &str,
    most: f64,
) -> Markup {
    let spots: Vec<Spot> = view
        .of(panel)
        .filter_map(|it| {
            let value = metric.of_summary(it.row);
            let point = Point {
                x: it.row.tokens_summary?,
                y: value.mean?,
                interval: value.low.zip(value.high),
                weak: few(value.n),
            };
            Some(Spot { name: it.short.clone(), series: it.series, point })
        })
        .collect();
    if spots.is_empty() {
        return nothing_at_risk();
    }
    let told: Vec<String> = spots
        .iter()
        .map(|it| {
            format!("{}: {} at {} tokens", it.name, percent(it.point.y), thousands(it.point.x.round() as u64))
        })
        .collect();
    let about = about(
        format!("tokens-{at}-{kind}"),
        title,
        format!("Share in the summary by its tokens. {}.", told.join("; ")),
    );
    svg::scatter(&about, "mean tokens of a summary", most, &spots)
}

fn token_table(view: &View<'_>, panel: &Panel) -> Table {
    let head = [
        "contender",
        ">summary tokens",
        ">structural",
        ">lexical",
        ">structural points per 1,000 tokens",
        ">lexical points per 1,000 tokens",
        ">context smaller",
        ">prompt tokens",
        ">of these from cache",
    ];
    let mut table = Table::new(&of(panel, "What summaries keep and what they take"), &head);
    let points = |share: Option<f64>| share.map(|share| share * 100.0);
    for it in view.of(panel) {
        let row = it.row;
        table.rows.push(vec![
            Cell::name(named(it, &it.short)).sorted_by(it.short.clone()),
            Cell::amount(row.tokens_summary, 0),
            Cell::estimate(Metric::Structural.of_summary(row), None, false),
            Cell::estimate(Metric::Lexical.of_summary(row), None, false),
            Cell::amount(points(row.structural_per_1000), 1),
            Cell::amount(points(row.lexical_per_1000), 1),
            Cell::share(row.reduction),
            Cell::number(row.prompt_tokens),
            Cell::share(ratio(row.cached_tokens, row.prompt_tokens)),
        ]);
    }
    table
}

/// What summaries keep, class by class.
pub(super) fn classes(view: &View<'_>) -> Markup {
    let begins = html! {
        p { "Of the facts of a class that no kept message mentions, the share in the summary; means over sessions with 95 % intervals, hollow marks rest on fewer than " (MIN_SESSIONS) " sessions." }
    };
    section("classes", "By class of fact", view, &begins, |at, panel| {
        let [structural, lexical] = class_rows(view, panel);
        if structural.is_empty() && lexical.is_empty() {
            return html! { p class="soft" { "No fact was ever at risk." } };
        }
        let chart = |kind: &str, metric: Metric, title: &str| {
            let rows = if metric == Metric::Structural { &structural } else { &lexical };
            if rows.is_empty() {
                return nothing_at_risk();
            }
            let text = "A row per class, a mark per contender; the table below has the numbers.".to_owned();
            svg::dots(&about(format!("classes-{at}-{kind}"), title, text), rows)
        };
        html! {
            (legend(view.of(panel)))
            (by_kind(chart))
            (class_table(view, panel).folded())
        }
    })
}

/// Classes that some contender of the panel had at risk, those that are known in their order.
fn classes_of(view: &View<'_>, panel: &Panel) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for it in view.of(panel) {
        for row in view.kept(it).into_iter().filter(|row| row.at_risk > 0 && !is_group(&row.class)) {
            if !found.contains(&row.class) {
                found.push(row.class.clone());
            }
        }
    }
    let place = |class: &String| CLASSES.iter().position(|known| known == class).unwrap_or(CLASSES.len());
    found.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.cmp(b)));
    found
}

/// Rows of the two charts: structural classes, and the others.
fn class_rows(view: &View<'_>, panel: &Panel) -> [Vec<Dots>; 2] {
    let row = |class: String| {
        let points = view.of(panel).filter_map(|it| {
            let kept = view.kept(it).into_iter().find(|row| row.class == class)?;
            let interval = kept.low.zip(kept.high);
            Some((it.series, Point { x: 0.0, y: kept.survival?, interval, weak: few(kept.sessions) }))
        });
        Dots { name: class_name(&class), points: points.collect() }
    };
    let (structural, lexical): (Vec<String>, Vec<String>) =
        classes_of(view, panel).into_iter().partition(|class| is_structural(class));
    [structural, lexical].map(|classes| classes.into_iter().map(row).collect())
}

fn class_table(view: &View<'_>, panel: &Panel) -> Table {
    let mut table = Table::new(&of(panel, "Share in the summary by class"), &["class"]);
    table.head.extend(view.of(panel).map(|it| format!(">{}", it.short)));
    let mut classes = classes_of(view, panel);
    classes.extend(["structural", "lexical"].map(str::to_owned));
    for class in classes {
        let mut cells = vec![Cell::name(html! { (class_name(&class)) })];
        for it in view.of(panel) {
            let kept = view.kept(it).into_iter().find(|row| row.class == class);
            let Some((row, mean)) = kept.and_then(|row| Some((row, row.survival?))) else {
                cells.push(Cell::share(None));
                continue;
            };
            cells.push(
                Cell::numbers(html! {
                    (percent(mean))
                    small {
                        @if let Some((low, high)) = row.low.zip(row.high) { (ends(low, high)) ", " }
                        "n " (row.sessions)
                    }
                    small { (thousands(row.in_summary)) " of " (thousands(row.at_risk)) }
                })
                .sorted_by(crate::results::files::decimal(mean)),
            );
        }
        table.rows.push(cells);
    }
    table
}

/// Parts of the bars: where the facts of the compacted stretch are.
const PLACES: [&str; 3] = ["in kept messages", "only in the summary", "lost"];

fn places_of(row: &SummaryRow) -> [u64; 3] {
    let lost = row.facts_at_risk.saturating_sub(row.facts_in_summary);
    [row.facts_total.saturating_sub(row.facts_at_risk), row.facts_in_summary, lost]
}

/// What the kept tail holds, what only the summary holds, what is lost.
pub(super) fn places(view: &View<'_>) -> Markup {
    let begins = html! {
        p { "Where the facts of the session are after a compaction: in messages that were kept word for word, in the summary alone, or nowhere. All compactions pooled." }
        ul class="legend" { @for (at, name) in PLACES.iter().enumerate() { li {
            svg class="key" viewBox="0 0 18 13" aria-hidden="true" { rect class={ "p" (at) } width="18" height="13" rx="2" {} } (name)
        } } }
    };
    section("places", "Kept tail and summary", view, &begins, |at, panel| {
        let bar = |it: &Contender<'_>| {
            let parts = places_of(it.row).map(|n| ratio(n, it.row.facts_total));
            let parts: Option<Vec<f64>> = parts.into_iter().collect();
            Some(Bar { name: it.short.clone(), parts: parts? })
        };
        let bars: Vec<Bar> = view.of(panel).filter_map(bar).collect();
        html! {
            @if bars.is_empty() {
                p class="soft" { "No fact stood before a compaction." }
            } @else {
                div class="charts" { figure {
                    (svg::stacked(&about(
                        format!("places-{at}"),
                        "Where the facts are after a compaction",
                        "A bar per contender in three parts: kept messages, summary, lost; the table beside it has the numbers.".to_owned(),
                    ), &bars))
                } div { (place_table(view, panel).render()) } }
            }
            (damage_table(view, panel).folded())
        }
    })
}

fn place_table(view: &View<'_>, panel: &Panel) -> Table {
    let mut table = Table::new(&of(panel, "Where the facts are, over all compactions"), &["contender"]);
    table.head.extend(PLACES.iter().map(|name| format!(">{name}")));
    table.head.push(">all facts".to_owned());
    for it in view.of(panel) {
        let mut row = vec![Cell::name(named(it, &it.short)).sorted_by(it.short.clone())];
        row.extend(places_of(it.row).map(Cell::number));
        row.push(Cell::number(it.row.facts_total));
        table.rows.push(row);
    }
    table
}

fn damage_table(view: &View<'_>, panel: &Panel) -> Table {
    let mut table =
        Table::new(&of(panel, "How at-risk facts stand in the summary, and what it invents"), &["contender"]);
    table.head.extend(Damage::NAMES.iter().map(|name| format!(">{name}")));
    for it in view.of(panel) {
        let mut row = vec![Cell::name(named(it, &it.short)).sorted_by(it.short.clone())];
        row.extend(damage(view, it).counts().map(Cell::number));
        table.rows.push(row);
    }
    table
}
