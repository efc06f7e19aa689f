//! What a search over settings found: a table for people, rows and one document for programs, and the profile to use.
//!
//! All of them are made from the same rows, so that they cannot disagree.

use super::page::{BAD, BOLD, DIM, GOOD, Page, WARN, aligned, paint, percent};
use super::text::{count, sanitize, thousands};
use super::{Look, json_document};
use crate::aggregate::Metric;
use crate::results::Manifest;
use crate::results::files::{RECOMMENDED_BEGINS, write_table};
use crate::stats::{Estimate, MIN_SESSIONS, Paired};
use crate::tune::SideCount;
use crate::tune::choose::{Bar, LEAST_TELLING, Verdict};
use crate::tune::measure::Pooled;
use crate::tune::record::{Found, rows};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io;

/// Rows of the table beside those of the frontier and the present setting.
const SHOWN: usize = 10;

/// What six decimals no longer tell from 0.
const SMALL: f64 = 1e-6;

/// A row per combination and side.
pub fn csv(found: Found<'_>) -> io::Result<String> {
    let (columns, mut rows) = rows(found);
    // A small p is no 0: where six decimals would make it one, it keeps its digits.
    let at = columns.iter().position(|name| name == "difference_p");
    for p in rows.iter_mut().filter_map(|row| row.get_mut(at?)) {
        if let Some(small) = p.as_f64().filter(|p| 0.0 < *p && *p < SMALL) {
            *p = json!(format!("{small:.1e}"));
        }
    }
    let mut bytes = Vec::new();
    write_table(&mut bytes, &columns, &rows)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// The document of `tune --format json` and `tuning.json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Document<'a> {
    /// `tune`.
    report: &'static str,
    /// What was run on what.
    manifest: &'a Manifest,
    /// What the best has most of.
    objective: &'static str,
    /// Most prompt tokens per request of what may win.
    max_tokens: Option<u64>,
    /// Share of the sessions that confirm the choice.
    held_out: f64,
    /// `grid` or `halving`.
    search: &'static str,
    /// Steps of a search before the last one.
    steps: Vec<StepRow>,
    /// Combinations of the grid as it is written.
    in_grid: usize,
    /// Of those, the ones that are an earlier one in other words.
    repeated: usize,
    /// Sessions of each side.
    sessions: Sides,
    /// Keys of the grid.
    keys: &'a [String],
    /// Numbers of the combinations on the frontier, the cheapest first.
    frontier: &'a [usize],
    /// The best on the dev sessions; none where nothing may win.
    chosen: Option<usize>,
    /// What the held-out sessions say of it.
    verdict: &'static str,
    /// Its difference from the present setting on the held-out sessions.
    difference: Option<Difference>,
    /// The combination to use.
    recommended: usize,
    /// The replay that shows the present and the recommended setting beside each other.
    command: String,
    /// As tuning.csv.
    #[schemars(schema_with = "super::dictionary::tuning_rows")]
    combinations: Vec<Map<String, Value>>,
}

/// A step of a search.
#[derive(Debug, Serialize, JsonSchema)]
struct StepRow {
    /// Dev sessions that were looked at.
    sessions: usize,
    /// Combinations that were tried on them.
    combinations: usize,
    /// Combinations that went on.
    kept: usize,
}

/// The two sides.
#[derive(Debug, Serialize, JsonSchema)]
struct Sides {
    /// By which the choice is made.
    dev: SideRow,
    /// On which it is reported.
    #[serde(rename = "held-out")]
    held_out: SideRow,
}

/// Sessions of a side.
#[derive(Debug, Serialize, JsonSchema)]
struct SideRow {
    /// All of them.
    sessions: usize,
    /// Those in which the present setting has a value of the objective.
    measured: usize,
    /// Of the others, those that failed under it.
    failed: usize,
    /// Those that it does not compact, or not with a gain.
    idle: usize,
    /// Those that it does, with nothing at risk of what the objective counts.
    bare: usize,
}

impl From<SideCount> for SideRow {
    fn from(SideCount { sessions, measured, failed, idle, bare }: SideCount) -> Self {
        Self { sessions, measured, failed, idle, bare }
    }
}

/// A paired difference.
#[derive(Debug, Serialize, JsonSchema)]
struct Difference {
    /// Mean over sessions.
    mean: Option<f64>,
    /// Lower end of its 95 % interval; none below 10 sessions.
    low: Option<f64>,
    /// Upper end.
    high: Option<f64>,
    /// Sessions that both have.
    n: u64,
    /// Two-sided p.
    p: Option<f64>,
}

impl From<&Paired> for Difference {
    fn from(Paired { difference, p, .. }: &Paired) -> Self {
        let Estimate { mean, low, high, n } = *difference;
        Self { mean, low, high, n, p: *p }
    }
}

/// Manifest, search, verdict and rows as one document.
pub fn json(found: Found<'_>) -> io::Result<String> {
    let (columns, rows) = rows(found);
    let Found { space, settings, tuning } = found;
    let [dev, held_out] = tuning.sides.map(SideRow::from);
    let steps = tuning.steps.iter();
    let chosen = tuning.chosen.and_then(|at| tuning.candidates.get(at));
    json_document(json!(Document {
        report: "tune",
        manifest: &tuning.manifest,
        objective: settings.objective.name(),
        max_tokens: settings.max_tokens,
        held_out: settings.held_out,
        search: settings.search.name(),
        steps: steps
            .map(|step| StepRow { sessions: step.sessions, combinations: step.tried, kept: step.kept })
            .collect(),
        in_grid: space.in_grid,
        repeated: space.repeated,
        sessions: Sides { dev, held_out },
        keys: &space.keys,
        frontier: &tuning.frontier,
        chosen: tuning.chosen,
        verdict: tuning.verdict.name(),
        difference: chosen.map(|one| Difference::from(&one.difference_held_out)),
        recommended: tuning.recommended,
        command: found.command(),
        combinations: rows.into_iter().map(|row| columns.iter().cloned().zip(row).collect()).collect(),
    }))
}

/// The profile to use as a file, with what is known of it.
pub fn recommended(found: Found<'_>) -> String {
    let Found { space, settings, tuning } = found;
    let Some((combination, _)) = found.candidate(tuning.recommended) else { return String::new() };
    let mut text = format!("{RECOMMENDED_BEGINS}, by {}.\n", settings.objective.name());
    for sentence in verdict(found) {
        text.push_str(&format!("# {}\n", sanitize(&sentence)));
    }
    text.push_str(&format!("# Strategy: {}", space.strategy(combination).name()));
    if let Some(window) = space.window_of(combination) {
        text.push_str(&format!("; window: {window}"));
    }
    text.push_str(&format!(". Its figures on the same logs:\n#   {}\n\n", sanitize(&found.command())));
    // What a user named stands in comments: it must stay there.
    let mut text: String = text.lines().map(|line| sanitize(line) + "\n").collect();
    text.push_str(&space.file_of(combination));
    text
}

/// The table: the frontier first, then the best of the rest.
pub fn table(found: Found<'_>, look: Look<'_>) -> String {
    let Found { space, settings, tuning } = found;
    let mut page = Page::new(look);
    let objective = settings.objective.name();
    let [dev, held_out] = tuning.sides;
    page.styled(
        BOLD,
        &format!(
            "{} and the present setting, on {}: {} to choose by ({} with a value), {} held out ({})",
            count(space.combinations.len().saturating_sub(1) as u64, "combination"),
            count(tuning.manifest.files, "file"),
            count(dev.sessions as u64, "session"),
            dev.measured,
            thousands(held_out.sessions as u64),
            held_out.measured,
        ),
    );
    let most = settings
        .max_tokens
        .map_or_else(String::new, |most| format!(", at most {} prompt tokens per request", thousands(most)));
    page.prose(&format!("Best: most {objective}{most}, no hard rule broken; {}", found.windows()));
    if space.repeated > 0 {
        page.item(&format!(
            "{} of {} in the grid are others in other words: each is run and told once",
            thousands(space.repeated as u64),
            thousands(space.in_grid as u64)
        ));
    }
    if let Some(why) = valueless(tuning.sides) {
        page.item(&why);
    }
    for step in &tuning.steps {
        page.item(&format!(
            "{} on {}: {} kept",
            count(step.tried as u64, "combination"),
            count(step.sessions as u64, "dev session"),
            step.kept
        ));
    }
    page.gap();
    body(&mut page, found);
    page.gap();
    page.prose(&format!(
        "{objective} and tokens (prompt tokens per request) are means over the n dev sessions in which both the setting and the \
         present one have a value; present: what the present one has on the same sessions. Ranks go by the difference of the \
         two. * on the frontier: none gains as much for as few tokens more."
    ));
    if tuning.candidates.iter().any(|one| one.bar == Some(Bar::Dropped)) {
        page.prose("What the search dropped was seen on fewer sessions than the others: it has no rank, and its figures are not theirs.");
    }
    page.gap();
    for (number, sentence) in verdict(found).iter().enumerate() {
        if number == 0 {
            let style = if tuning.verdict.recommends() { GOOD } else { BOLD };
            page.styled(style, sentence);
        } else {
            page.prose(sentence);
        }
    }
    let barred = |bar: Bar| tuning.candidates.iter().filter(|one| one.bar == Some(bar)).count();
    for (bar, text) in [
        (Bar::Breaks, "broke hard rules in dev sessions and cannot win"),
        (Bar::Failed, "failed on a dev session and cannot win"),
        (Bar::Dear, "took more tokens than allowed"),
    ] {
        let n = barred(bar) as u64;
        if n > 0 {
            page.styled(WARN, &format!("{} {text}", count(n, "setting")));
        }
    }
    let few = barred(Bar::Few) as u64;
    if few > 0 {
        page.styled(
            WARN,
            &format!(
                "{} without a rank: a value in fewer than {LEAST_TELLING} sessions, or in fewer than half of the {} of the present one",
                count(few, "setting"),
                dev.measured
            ),
        );
    }
    if tuning.manifest.sessions_failed > 0 {
        page.styled(BAD, &format!("{} failed", count(tuning.manifest.sessions_failed, "session")));
    }
    match look.saved {
        Some(dir) => {
            page.line(&format!("Written to {}: tuning.csv, tuning.json, recommended.toml", sanitize(dir)));
        }
        None => page.prose(
            "--out DIR writes every combination (tuning.csv) and the profile to use (recommended.toml)",
        ),
    }
    page.text
}

fn body(page: &mut Page, found: Found<'_>) {
    let Found { space, settings, tuning } = found;
    // Keys of which only one value is tried tell no combinations apart, unless the present one is another.
    let told: Vec<usize> = (0..space.keys.len())
        .filter(|at| {
            let mut values = space.combinations.iter().map(|one| one.values.get(*at));
            let first = values.next();
            values.any(|value| Some(value) != first)
        })
        .collect();
    let mut numbers = tuning.frontier.clone();
    let mut rest: Vec<usize> = (0..tuning.candidates.len()).filter(|at| !numbers.contains(at)).collect();
    rest.sort_by_key(|at| {
        let rank = tuning.candidates.get(*at).and_then(|one| one.rank);
        (*at != 0, rank.unwrap_or(usize::MAX), *at)
    });
    let hidden = rest.len().saturating_sub(SHOWN);
    numbers.extend(rest.into_iter().take(SHOWN));
    let head = |part: fn(&str) -> String| -> Vec<String> {
        told.iter().filter_map(|at| space.keys.get(*at)).map(|key| part(&sanitize(key))).collect()
    };
    let before =
        |key: &str| key.rsplit_once('.').map_or_else(String::new, |(before, _)| format!("{before}."));
    let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    let text = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let (above, below) = settings.objective.name().split_once('_').unwrap_or((settings.objective.name(), ""));
    let mut lines: Vec<Vec<String>> = vec![
        [
            text(&["", "", ""]),
            head(before),
            text(&[
                above, "present", "dev", "held", "struct.", "lexical", "context", "tokens", "context", "",
            ]),
        ]
        .concat(),
        [
            text(&["", "", "#"]),
            head(last),
            text(&[below, "there", "n", "out", "facts", "facts", "facts", "/request", "smaller", ""]),
        ]
        .concat(),
    ];
    for number in &numbers {
        let Some((combination, candidate)) = found.candidate(*number) else { continue };
        let value = |at: &usize| {
            let value = combination.values.get(*at).map(|value| sanitize(value)).unwrap_or_default();
            if value.is_empty() { "-".to_owned() } else { value }
        };
        let pooled: &Pooled = &candidate.dev;
        // What is kept for want of anything that may win is not recommended for its own sake.
        let recommended = *number == tuning.recommended && candidate.bar.is_none();
        let marks = [
            (*number == 0).then_some("present"),
            recommended.then_some("recommended"),
            candidate.bar.map(Bar::name),
        ];
        let mark = marks.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let rank = candidate.rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string());
        let share = |metric: Metric| percent(pooled.metric(metric).mean);
        lines.push(
            [
                vec![if candidate.on_frontier { "*" } else { "" }.to_owned(), rank, number.to_string()],
                told.iter().map(value).collect(),
                vec![
                    percent(candidate.score.value),
                    percent(candidate.score.present),
                    thousands(candidate.score.n as u64),
                    percent(candidate.score_held_out.value),
                    share(Metric::Structural),
                    share(Metric::Lexical),
                    share(Metric::Context),
                    candidate
                        .score
                        .tokens
                        .map_or_else(|| "n/a".to_owned(), |it| thousands(it.round() as u64)),
                    percent(pooled.reduction),
                    mark,
                ],
            ]
            .concat(),
        );
    }
    if let Some(place) = lines.get_mut(1).and_then(|line| line.get_mut(1)) {
        "rank".clone_into(place);
    }
    let objective = 3 + told.len();
    for (at, line) in narrowed(lines, objective, page.columns).into_iter().enumerate() {
        let number = at.checked_sub(2).and_then(|at| numbers.get(at));
        if number == Some(&tuning.recommended) {
            page.line(&paint(GOOD, line.trim_end(), page.color));
        } else if at < 2 {
            page.line(&paint(DIM, line.trim_end(), page.color));
        } else {
            page.line(&line);
        }
        if at == 1 {
            page.line(&"-".repeat(super::text::width(&line).min(page.columns)));
        }
    }
    if hidden > 0 {
        page.line(&format!("... and {hidden} more, by --format csv or --out DIR"));
    }
}

/// Lines of a table of no more columns than there are, as far as leaving out what stands behind the objective (whose place is
/// given) goes: how much smaller contexts get, then kinds of facts from the right.
fn narrowed(mut lines: Vec<Vec<String>>, objective: usize, columns: usize) -> Vec<String> {
    let mut optional = [objective + 8, objective + 6, objective + 5, objective + 4].into_iter();
    loop {
        let last = lines.first().map_or(0, Vec::len).saturating_sub(1);
        let shown = aligned(&lines, &(1..last).collect::<Vec<_>>());
        let fits = shown.iter().all(|line| super::text::width(line.trim_end()) <= columns);
        let Some(at) = optional.next().filter(|_| !fits) else { return shown };
        for line in lines.iter_mut().filter(|line| at < line.len()) {
            line.remove(at);
        }
    }
}

/// Why sessions have no value of the objective; nothing where all have one.
fn valueless(sides: [SideCount; 2]) -> Option<String> {
    let sum = |of: fn(&SideCount) -> usize| sides.iter().map(of).sum::<usize>() as u64;
    let without = sum(|side| side.sessions) - sum(|side| side.measured).min(sum(|side| side.sessions));
    let parts = [
        (sum(|side| side.idle), "too short for the window: not compacted, or to no gain"),
        (sum(|side| side.bare), "compacted with nothing at risk of what the objective counts"),
        (sum(|side| side.failed), "failed"),
    ];
    let told: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, why)| format!("{} {why}", thousands(*n))).collect();
    (without > 0).then(|| {
        format!(
            "{} without a value under the present setting: {}",
            count(without, "session"),
            told.join("; ")
        )
    })
}

/// What to do, and how sure that is: the recommendation first.
fn verdict(found: Found<'_>) -> Vec<String> {
    let Found { settings, tuning, space } = found;
    let objective = settings.objective.name();
    let [dev, held_out] = tuning.sides;
    if tuning.verdict == Verdict::FewToChoose {
        return vec![format!(
            "Cannot tell which setting is best: {} to choose by {} a value of {objective}, and {LEAST_TELLING} are needed. \
             {}. The present setting stays.",
            count(dev.measured as u64, "session"),
            if dev.measured == 1 { "has" } else { "have" },
            if dev.measured + held_out.measured < 2 * LEAST_TELLING {
                "Give more logs"
            } else {
                "Give more logs, or a smaller --held-out"
            }
        )];
    }
    let Some(at) = tuning.chosen else {
        let present = tuning.candidates.first().and_then(|one| one.bar).map_or("", Bar::name);
        let mut told = vec![format!(
            "Keep the present setting for want of a better one: none may win, the present one ({present}) included."
        )];
        if tuning.candidates.iter().all(|one| one.bar == Some(Bar::Breaks)) {
            told.push(
                "Where every setting breaks hard rules, the window is too small for what some session has to keep: try larger \
                 ones, or none, so that they are searched for."
                    .to_owned(),
            );
        }
        return told;
    };
    let Some((_, best)) = found.candidate(at) else { return Vec::new() };
    let tested = &best.difference_held_out;
    let points = |share: f64| format!("{:+.1} points", share * 100.0);
    let difference = match (tested.difference.mean, tested.difference.low, tested.difference.high) {
        (Some(mean), Some(low), Some(high)) => {
            format!("{} [{:+.1}, {:+.1}]", points(mean), low * 100.0, high * 100.0)
        }
        (Some(mean), ..) => points(mean),
        (None, ..) => "n/a".to_owned(),
    };
    let n = count(tested.difference.n, "held-out session");
    // What no test can tell has no p.
    let tells = tested.difference.n >= LEAST_TELLING as u64;
    let p = tested.p.filter(|_| tells).map_or_else(String::new, |p| format!(", p {p:.3}"));
    let measured =
        format!("{objective} of number {at} less that of the present setting: {difference} over {n}{p}.");
    let mut told = match tuning.verdict {
        Verdict::PresentIsBest => {
            let others = match space.combinations.len().saturating_sub(1) {
                0 => "the grid holds no other".to_owned(),
                1 => "the other one was not better on the dev sessions".to_owned(),
                n => format!("none of the {} others was better on the dev sessions", thousands(n as u64)),
            };
            vec![format!("Keep the present setting: {others}.")]
        }
        Verdict::Better => vec![format!("Use number {at}: it is better than the present setting."), measured],
        Verdict::NoDifference => {
            vec![
                format!(
                    "Keep the present setting: no measurable difference to number {at}, the best on the dev sessions."
                ),
                measured,
            ]
        }
        Verdict::Worse => vec![
            format!(
                "Keep the present setting: number {at}, the best on the dev sessions, is worse on the held-out ones."
            ),
            measured,
        ],
        Verdict::Breaks => {
            vec![format!(
                "Keep the present setting: number {at}, the best on the dev sessions, breaks hard rules or fails on held-out ones."
            )]
        }
        Verdict::Few | Verdict::Untested => {
            let (n, total) = (tested.difference.n, dev.measured + held_out.measured);
            let has = if n == 1 { "session has a value of both" } else { "sessions have values of both" };
            let more = if total < 2 * LEAST_TELLING {
                "give more logs"
            } else {
                "give more logs, or hold more out (--held-out 0.5)"
            };
            let mut told = vec![format!(
                "Cannot tell whether number {at}, the best on the dev sessions, is better than the present setting: {n} held-out \
                 {has}, and {LEAST_TELLING} are needed; {more}. The present setting stays."
            )];
            told.extend((n > 0).then_some(measured));
            told
        }
        Verdict::PresentIsBarred => {
            let first = tuning.candidates.first().and_then(|one| one.bar);
            let why = match first {
                Some(Bar::Dear) => "takes more tokens than allowed",
                Some(Bar::Breaks) => "breaks hard rules itself",
                _ => "could not be measured",
            };
            vec![format!("Use number {at}: the present setting {why}."), measured]
        }
        Verdict::NothingFits | Verdict::FewToChoose => Vec::new(),
    };
    if tuning.verdict.recommends()
        && let (Some((_, present)), Some(own)) = (found.candidate(0), best.score_held_out.tokens)
        && let Some(theirs) = present.score_held_out.tokens.filter(|tokens| *tokens > 0.0)
    {
        told.push(format!(
            "It takes {:+.1} % prompt tokens per request on the held-out sessions.",
            (own / theirs - 1.0) * 100.0
        ));
    }
    let few = |n: usize| n < MIN_SESSIONS;
    if few(dev.measured) || few(held_out.measured) {
        told.push(format!(
            "These are few sessions ({} to choose by, {} held out): below {MIN_SESSIONS} there is no interval, and a choice may be chance.",
            dev.measured, held_out.measured
        ));
    }
    told
}
