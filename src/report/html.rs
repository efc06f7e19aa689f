//! Runs as one HTML file: no network, readable without its script, on a phone, on paper, in the dark, by keyboard and aloud.
//!
//! Everything that comes from rows is escaped by the template and shown without characters that hide or reorder text. The
//! content security policy allows this page's own style and script by their hashes and nothing else, so that even a mistake in
//! escaping would run nothing and ask nobody.

use super::findings::{Findings, findings};
use super::runs::{Contender, RULES, Verdict, View, window_name, without_policy};
use super::sections::{command, files_of, logs};
use super::svg::{self, swatch};
use super::text::{count, sanitize, thousands};
use crate::aggregate::Metric;
use crate::results::{Manifest, SCHEMA_VERSION, WriterSettings};
use crate::stats::MIN_SESSIONS;
use crate::strategy::Strategy;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use table::{Cell, Table, grouped};

mod charts;
mod sessions;
mod table;

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");

/// How a page of ours begins; another file is not replaced by one.
pub const MARK: &str = "<!DOCTYPE html><!-- compactor report -->";

/// Problems listed.
const PROBLEMS: usize = 100;

/// Metrics of the first table, with their headings.
const SHOWN: [(Metric, &str); 6] = [
    (Metric::FilesModified, "modified files"),
    (Metric::FilesRead, "read files"),
    (Metric::Structural, "structural facts"),
    (Metric::Lexical, "lexical facts"),
    (Metric::Needed, "needed facts"),
    (Metric::Context, "all facts in context"),
];

/// The page, with a final newline.
pub fn render(view: &View<'_>, verdict: Option<&Verdict>, redacted: bool) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    let policy = format!(
        "default-src 'none'; style-src {}; script-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    let found = findings(view);
    let page = html! {
        (DOCTYPE) (PreEscaped("<!-- compactor report -->"))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                meta name="generator" content={ "compactor " (env!("CARGO_PKG_VERSION")) };
                title { (title(view)) " – compaction report" }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                a class="skip" href="#findings" { "Skip to the findings" }
                (head(view, redacted))
                nav aria-label="Sections" { ul { @for (id, name) in parts(view) { li { a href={ "#" (id) } { (name) } } } } }
                main {
                    (first(view, verdict, &found))
                    @if view.exercised() > 0 {
                        (contenders(view))
                        (charts::lasting(view))
                        (charts::tokens(view))
                        (charts::classes(view))
                        (charts::places(view))
                        (sessions::all(view))
                        (sessions::worst(view))
                    }
                    (rules(view))
                    (corpus(view))
                    (method(view))
                }
                footer {
                    p { "Made by compactor " (env!("CARGO_PKG_VERSION")) ". One file: it loads nothing and sends nothing." }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string() + "\n"
}

/// Sections and their names.
const PARTS: [(&str, &str); 11] = [
    ("findings", "Findings"),
    ("contenders", "Contenders"),
    ("lasting", "How long facts last"),
    ("tokens", "Survival and tokens"),
    ("classes", "By class"),
    ("places", "Tail and summary"),
    ("sessions", "Sessions"),
    ("worst", "Worst sessions"),
    ("rules", "Hard rules"),
    ("logs", "Logs"),
    ("method", "Method"),
];

/// Those that the page has: without a compaction there is nothing to draw.
fn parts(view: &View<'_>) -> impl Iterator<Item = (&'static str, &'static str)> {
    let measured = view.exercised() > 0;
    PARTS.into_iter().filter(move |(id, _)| measured || ["findings", "rules", "logs", "method"].contains(id))
}

fn title(view: &View<'_>) -> String {
    let labels: Vec<String> = view.runs.iter().map(|run| sanitize(&run.label)).collect();
    labels.join(", ")
}

fn head(view: &View<'_>, redacted: bool) -> Markup {
    let sum = |of: fn(&Manifest) -> u64| view.runs.iter().map(|run| of(&run.output.manifest)).sum::<u64>();
    let mut tiles = vec![
        ("sessions", sum(|it| it.sessions)),
        ("exercised", sum(|it| it.sessions_exercised)),
        ("not exercised", sum(|it| it.sessions_not_exercised)),
        ("sessions failed", sum(|it| it.sessions_failed)),
        ("compactions scored", view.compactions()),
    ];
    let unread = sum(|it| it.files_failed);
    if unread > 0 {
        tiles.insert(4, ("files not read", unread));
    }
    html! {
        header {
            h1 { "What compaction kept: " (title(view)) }
            p class="lead" {
                @if view.runs.iter().all(|run| run.output.manifest.settings.strategies == [Strategy::Recorded.name()]) {
                    "The compactions that logs of agents hold, and what of files and facts survived them."
                } @else {
                    "Logs of agents replayed through compaction, and what of their files and facts survived it."
                }
                @if view.runs.len() > 1 { " " (count(view.runs.len() as u64, "run")) " side by side; counts are their sums." }
                @if redacted { " Texts, paths and ids are replaced by placeholders." }
            }
            dl class="tiles" { @for (name, n) in tiles { div { dt { (name) } dd { (thousands(n)) } } } }
        }
    }
}

fn first(view: &View<'_>, verdict: Option<&Verdict>, found: &Findings) -> Markup {
    let (state, headline) = verdict
        .map_or_else(|| without_policy(view), |verdict| (Some(verdict.state), verdict.headline.clone()));
    let reasons = verdict.map_or(&[][..], |verdict| &verdict.reasons);
    let name = state.map_or("no policy", |state| state.name());
    let class = name.replace(' ', "-");
    html! {
        section id="findings" aria-labelledby="findings-h" class={ "verdict " (class) } {
            h2 id="findings-h" { "Verdict and findings" }
            p { span class={ "badge " (class) } { (name) } strong { (sanitize(&headline)) "." } }
            @if !reasons.is_empty() { ul { @for reason in reasons { li { (sanitize(reason)) } } } }
            @if !found.shown.is_empty() {
                ol class="findings" {
                    @for finding in &found.shown { li { strong { (finding.headline) "." } p { (finding.detail) "." } } }
                }
            }
            @if !found.silent.is_empty() {
                details open[found.shown.is_empty()] {
                    summary class="soft" {
                        @if found.shown.is_empty() { "No findings: what was looked for" } @else { "Looked for and not found" }
                    }
                    ul class="soft" { @for why in &found.silent { li { (why) "." } } }
                }
            }
        }
    }
}

/// The name of a contender with its mark, ready for a row.
fn named(contender: &Contender<'_>, name: &str) -> Markup {
    html! { span class="legend" { (swatch(contender.series)) (name) } }
}

fn legend<'v, 'a: 'v>(contenders: impl Iterator<Item = &'v Contender<'a>>) -> Markup {
    html! {
        ul class="legend" { @for it in contenders { li { (swatch(it.series)) (it.short) } } }
    }
}

fn contenders(view: &View<'_>) -> Markup {
    let mut head = vec!["contender".to_owned()];
    head.extend(SHOWN.iter().map(|(_, name)| format!(">{name}")));
    head.extend([">summary tokens", ">context smaller", ">rules broken", ">sessions"].map(str::to_owned));
    let mut table = Table::new("Kept, by contender", &[]);
    table.head = head;
    for it in &view.contenders {
        let row = it.row;
        let place = match it.place {
            super::rank::Place::Best(shared) => Some(("best", if shared { "best, shared" } else { "best" })),
            super::rank::Place::Worst(shared) => {
                Some(("worst", if shared { "worst, shared" } else { "worst" }))
            }
            _ => None,
        };
        let mut cells = vec![
            Cell::name(html! { (named(it, &it.name)) @if let Some((class, text)) = place { span class={ "badge " (class) } { (text) } } })
                .sorted_by(it.name.clone()),
        ];
        let estimates =
            SHOWN.map(|(metric, _)| Cell::estimate(metric.of_summary(row), Some(row.n_exercised), true));
        cells.extend(estimates);
        cells.extend([
            Cell::amount(row.tokens_summary, 0),
            Cell::share(row.reduction),
            Cell::number(it.violations()),
            Cell::number(row.n_exercised),
        ]);
        table.rows.push(cells);
    }
    html! {
        section id="contenders" aria-labelledby="contenders-h" {
            h2 id="contenders-h" { "Contenders" }
            p {
                "Kept: of what no kept message holds, the share that stands in the summary. Needed: what the work came back to in its next "
                (view.runs.first().map_or(0, |run| run.output.manifest.settings.horizon_calls))
                " tool calls. Means over sessions, below them the 95 % interval (from " (MIN_SESSIONS) " sessions on); n where fewer sessions have a value. Best and worst: by the mean of the ranks in structural and in lexical facts, within one profile and window."
            }
            (table.render())
            @if view.runs.len() > 1 {
                p class="soft" {
                    "Strategies are tested against each other within a run. Runs stand side by side: "
                    (likeness(view)) "."
                }
            }
        }
    }
}

/// Whether the runs read the same logs.
fn likeness(view: &View<'_>) -> &'static str {
    let mut hashes = view.runs.iter().map(|run| run.output.manifest.corpus_hash.as_str());
    let first = hashes.next().unwrap_or("");
    if first.is_empty() {
        "whether they read the same logs is not told here"
    } else if hashes.all(|hash| hash == first) {
        "they read the same logs"
    } else {
        "they read different logs, so a difference between them can be one of the logs"
    }
}

fn rules(view: &View<'_>) -> Markup {
    let (broken, cycles) = (view.violations(), view.compactions());
    let compact: Vec<&Contender<'_>> = view.contenders.iter().filter(|it| !it.never_compacts()).collect();
    let mut table = Table::new("Hard rules broken, by contender", &["rule"]);
    table.head.extend(compact.iter().map(|it| format!(">{}", it.name)));
    let other: [(&str, fn(&crate::aggregate::SummaryRow) -> u64); 5] = [
        ("no rule: tail larger than the window", |row| row.unfit),
        ("no rule: no place to cut", |row| row.uncut),
        ("no rule: another text than asked for", |row| row.summary_degraded),
        ("no rule: cancelled by a program", |row| row.cancelled),
        ("no rule: window passed before the trigger", |row| row.late_triggers),
    ];
    for (name, of) in RULES.into_iter().chain(other) {
        let mut row = vec![Cell::name(html! { (name) })];
        row.extend(compact.iter().map(|it| Cell::number(of(it.row))));
        table.rows.push(row);
    }
    html! {
        section id="rules" aria-labelledby="rules-h" {
            h2 id="rules-h" { "Hard rules" }
            p {
                @if cycles == 0 { "No compaction, so no rule was tried." }
                @else if broken == 0 {
                    span class="badge pass" { "all hold" } "No rule was broken in " (count(cycles, "compaction")) "."
                } @else {
                    span class="badge fail" { "broken" } (thousands(broken)) " in " (count(cycles, "compaction")) "."
                }
                " The serialised context is looked at after every compaction, whatever it kept."
            }
            @if broken > 0 { (table.render()) } @else if cycles > 0 { (table.folded()) }
        }
    }
}

fn corpus(view: &View<'_>) -> Markup {
    html! {
        section id="logs" aria-labelledby="logs-h" {
            h2 id="logs-h" { "Logs" }
            @for run in view.runs {
                @let caption = if view.runs.len() > 1 { format!("Logs of {}", sanitize(&run.label)) } else { "Logs by format".to_owned() };
                (logs_table(&caption, &logs(run)).render())
                @if !run.output.manifest.problems.is_empty() { (problems(&run.output.manifest)) }
            }
            p class="soft" {
                "Tool share: tokens in tool calls and results. Said: messages that mention a fact, mean over facts; 1 where nothing is ever said again. Per session: tokens, the median and below it the quartiles. Recorded: compactions that the logs themselves hold."
            }
        }
    }
}

fn logs_table(caption: &str, rows: &[super::sections::Logs]) -> Table {
    let head = [
        "format",
        ">sessions",
        ">exercised",
        ">sub-agents",
        ">messages",
        ">turns",
        ">tool calls",
        ">tokens",
        ">per session",
        ">tool share",
        ">said",
        ">recorded",
    ];
    let mut table = Table::new(caption, &head);
    for logs in rows {
        let [low, median, high] = logs.quartiles;
        let tokens = |at: Option<f64>| at.map_or_else(|| "n/a".to_owned(), |at| grouped(at, 0));
        table.rows.push(vec![
            Cell::name(
                html! { (if logs.format.is_empty() { "all".to_owned() } else { sanitize(&logs.format) }) },
            ),
            Cell::number(logs.sessions),
            Cell::number(logs.exercised),
            Cell::number(logs.sidechains),
            Cell::number(logs.messages),
            Cell::number(logs.turns),
            Cell::number(logs.tool_calls),
            Cell::number(logs.tokens),
            Cell::numbers(html! { (tokens(median)) small { (tokens(low)) "–" (tokens(high)) } })
                .sorted_by(median.map(|at| at.to_string()).unwrap_or_default()),
            Cell::share(logs.tool_share()),
            Cell::amount(logs.repeat_rate(), 2),
            Cell::number(logs.recorded),
        ]);
    }
    table
}

fn problems(manifest: &Manifest) -> Markup {
    let all = &manifest.problems;
    let mut table = Table::new("What readers noticed", &["how bad", "file", ">line", "kind", "text"]);
    for problem in all.iter().take(PROBLEMS) {
        table.rows.push(vec![
            Cell::text(&problem.severity),
            Cell::long(&problem.source),
            Cell::number(problem.line),
            Cell::text(&problem.code),
            Cell::text(&problem.text),
        ]);
    }
    html! {
        details class="data" {
            summary { (count(all.len() as u64, "remark")) " of the readers on damage and oddities" }
            @if all.len() > PROBLEMS { p class="soft" { "The first " (PROBLEMS) " are shown; run.json has them all." } }
            (table.render())
        }
    }
}

fn method(view: &View<'_>) -> Markup {
    html! {
        section id="method" aria-labelledby="method-h" {
            h2 id="method-h" { "Method and versions" }
            p {
                "Each session is replayed from its beginning; where the policy's trigger fires, older messages become a summary and the replay goes on; under the strategy recorded it is the log's own compactions that are scored. Facts (files, commands, checks, todos; errors, identifiers, values, constraints, decisions, requests) are taken from the log by rules that see no summary. A fact is at risk where no kept message mentions it, and survives where the summary states it."
            }
            p {
                "The unit is the session. Intervals are bootstraps over sessions (bias-corrected and accelerated, 2,000 resamples); differences are paired and tested by Student's t from " (MIN_SESSIONS) " sessions on, findings at the 5 % level after Holm's correction. Curves are Kaplan and Meier's. What has no denominator is n/a, never 100 %. Sessions that were not compacted are counted and in no mean."
            }
            @for run in view.runs {
                @if view.runs.len() > 1 { h3 { (sanitize(&run.label)) } }
                (versions(&run.output.manifest))
                p class="soft" { "The same again, with the logs in place of LOGS" (files_of(run)) ", then compactor report DIR:" }
                (shell(&sanitize(&command(run))))
            }
        }
    }
}

/// A command that no page breaks behind the hyphens of an option.
fn shell(command: &str) -> Markup {
    html! {
        pre { code { @for (at, word) in command.split(' ').enumerate() {
            @if at > 0 { " " }
            @if word.starts_with('-') { span { (word) } } @else { (word) }
        } } }
    }
}

fn versions(manifest: &Manifest) -> Markup {
    let settings = &manifest.settings;
    let windows = if settings.windows.is_empty() {
        format!("searched for, so that {} happen", count(settings.cycles, "compaction"))
    } else {
        settings.windows.iter().map(|it| window_name(it)).collect::<Vec<_>>().join(", ")
    };
    let recorded = settings.schedule == Strategy::Recorded.name();
    let mut facts: Vec<(&str, String)> = vec![
        ("program", manifest.version.clone()),
        ("schema", format!("{} (this program writes {SCHEMA_VERSION})", manifest.schema_version)),
        ("scorer", manifest.scorer_version.to_string()),
        ("tokenizer", settings.tokenizer.clone()),
        ("summarizer", settings.summarizer.clone()),
        ("model", settings.writer.as_ref().map(WriterSettings::line).unwrap_or_default()),
        ("profiles", settings.profiles.join(", ")),
        ("strategies", settings.strategies.join(", ")),
        ("windows", if recorded { String::new() } else { windows }),
        (
            "summary budget",
            settings.summary_tokens.map(|n| format!("{} tokens", thousands(n))).unwrap_or_default(),
        ),
        (
            "schedule, mode",
            if recorded { String::new() } else { format!("{}, {}", settings.schedule, settings.mode) },
        ),
        ("files, bytes", format!("{}, {}", thousands(manifest.files), thousands(manifest.bytes))),
        ("hash of the logs", manifest.corpus_hash.clone()),
        ("hash of the settings", manifest.settings_hash.clone()),
        ("hash of the profiles", settings.profile_hash.clone()),
    ];
    facts.retain(|(_, text)| !text.is_empty());
    html! {
        dl class="facts" { @for (name, text) in facts { dt { (name) } dd class="mono" { (sanitize(&text)) } } }
    }
}

/// A heading, where several panels stand below each other.
fn panel_title(title: &str) -> Markup {
    html! { @if !title.is_empty() { h3 { (title) } } }
}

fn about(id: String, title: &str, desc: String) -> svg::About {
    svg::About { id, title: title.to_owned(), desc }
}

#[cfg(test)]
mod tests;
