//! What a gate says: for people, as JSON and JUnit XML, as annotations and a summary for the page of a build.

use super::markdown::escape;
use super::page::{BAD, BOLD, DIM, GOOD, Page, WARN, paint};
use super::text::{count, fit, sanitize, thousands};
use super::{Look, json_document};
use crate::aggregate::scores::{AMOUNTS, Contender, Score, Share, State, shares};
use crate::gate::self_test::{Noticed, Trial};
use crate::gate::{Check, Fingerprint, Outcome, Verdict, Worse, name};
use crate::results::LossRow;
use anstyle::Style;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde_json::json;
use std::collections::BTreeMap;
use std::io;

/// A build shows no more annotations of a step than this.
const ANNOTATIONS: usize = 10;

/// Checks that hold, listed one by one.
const HELD: usize = 30;

/// Rows of a table on the page of a build, and bytes of all of them: a page takes no more than 1 MiB, which several gates share.
const ROWS: usize = 200;
const BYTES: usize = 128 * 1024;

/// Columns of a cell there: names come out of logs and policies, and may be of any length.
const CELL: usize = 500;

fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Pass => GOOD,
        Verdict::Fail => BAD,
        Verdict::Inconclusive | Verdict::NotExercised => WARN,
    }
}

/// The headline: the verdict and how many checks came out how.
pub fn headline(outcome: &Outcome) -> String {
    let of = |verdict: Verdict| outcome.checks.iter().filter(|check| check.verdict == verdict).count();
    let mut parts =
        vec![format!("{} of {} hold", of(Verdict::Pass), count(outcome.checks.len() as u64, "check"))];
    for verdict in [Verdict::Fail, Verdict::Inconclusive, Verdict::NotExercised] {
        if of(verdict) > 0 {
            parts.push(format!("{} {}", of(verdict), verdict.name()));
        }
    }
    format!("gate: {}: {}", outcome.verdict.name(), parts.join(", "))
}

/// A check in one line: what was asked of whom, and the answer.
pub fn sentence(check: &Check) -> String {
    let whom = if check.contender.is_empty() { String::new() } else { format!("{}: ", check.contender) };
    format!("{whom}{} {}: {}", check.metric, check.limit, check.text)
}

/// For people: the verdict, what does not hold and why, what could not be told, what holds.
pub fn text(outcome: &Outcome, look: Look<'_>) -> String {
    let mut page = Page::new(look);
    page.styled(style(outcome.verdict), &headline(outcome));
    if outcome.identical {
        page.line("every count is that of the baseline");
    }
    if let Some(judged_by) = &outcome.judged_by {
        page.prose(&sanitize(&judged_by.text()));
    }
    if outcome.left_out > 0 {
        page.prose(&format!("{} that only one of the two has, left out", count(outcome.left_out, "session")));
    }
    // What only tells how far the figures of both are comparable is listed with what holds, or else said here.
    let told = outcome.checks.iter().filter(|check| ["compared", "at_risk"].contains(&check.metric.as_str()));
    for check in told.filter(|_| outcome.verdict != Verdict::Pass) {
        page.prose(&sanitize(&check.text));
    }
    let open = outcome.checks.iter().filter(|check| check.verdict != Verdict::Pass);
    for check in open {
        page.gap();
        let mark = paint(style(check.verdict), check.verdict.name(), page.color);
        page.prose(&format!("{mark}: {}", sanitize(&sentence(check))));
        for worse in &check.worse {
            page.line(&sanitize(&format!("    - {}", worse.text())));
        }
    }
    let held: Vec<&Check> = outcome.checks.iter().filter(|check| check.verdict == Verdict::Pass).collect();
    // What holds is worth reading where all does.
    if !held.is_empty() && outcome.verdict == Verdict::Pass {
        page.gap();
        for check in held.iter().take(HELD) {
            page.item(&sanitize(&sentence(check)));
        }
        if HELD < held.len() {
            page.item(&format!("and {} more that hold", held.len() - HELD));
        }
    }
    page.gap();
    page.line(&paint(DIM, &fingerprint("run", &outcome.run), page.color));
    match &outcome.baseline {
        Some(baseline) => page.line(&paint(DIM, &fingerprint("baseline", baseline), page.color)),
        None => page.line(&paint(DIM, "baseline  none", page.color)),
    }
    no_commands(&page.text)
}

fn fingerprint(what: &str, print: &Fingerprint) -> String {
    let Fingerprint { version, settings, profiles, corpus, scores } = print;
    format!(
        "{what:<8}  scores {scores}  settings {settings}  profiles {profiles}  logs {corpus}  version {version}"
    )
}

/// As one document.
pub fn json(outcome: &Outcome) -> io::Result<String> {
    json_document(json!(outcome))
}

/// As JUnit XML: a suite, a case per check. What could not be told is a failure there, too: the format has no word for it.
pub fn junit(outcome: &Outcome) -> io::Result<String> {
    let mut suite = TestSuite::new("compactor gate");
    if let Some(judged_by) = &outcome.judged_by {
        suite.add_property(("judged by", sanitize(&judged_by.text()).as_str()));
    }
    if outcome.not_compared > 0 {
        suite.add_property(("sessions not compared", outcome.not_compared.to_string().as_str()));
    }
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    for check in &outcome.checks {
        let status = match check.verdict {
            Verdict::Pass => TestCaseStatus::success(),
            Verdict::Fail | Verdict::Inconclusive | Verdict::NotExercised => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_type(check.verdict.name());
                status.set_message(sanitize(&check.text));
                let lines: Vec<String> = check.worse.iter().map(Worse::text).collect();
                status.set_description(sanitize(&lines.join("; ")));
                status
            }
        };
        let mut name = sanitize(&format!("{} {}", check.metric, check.limit));
        let whom = if check.contender.is_empty() { "run".to_owned() } else { sanitize(&check.contender) };
        let times = names.entry(format!("{whom} {name}")).or_default();
        *times += 1;
        if *times > 1 {
            name = format!("{name} ({times})");
        }
        let mut case = TestCase::new(name, status);
        case.set_classname(whom);
        suite.add_test_case(case);
    }
    let mut report = Report::new("compactor gate");
    report.add_test_suite(suite);
    let mut text = report.to_string().map_err(io::Error::other)?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

/// JUnit XML where nothing could be judged.
pub fn refused_junit(cause: &str) -> String {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_message(sanitize(cause));
    let mut case = TestCase::new("judged", status);
    case.set_classname("run");
    let mut suite = TestSuite::new("compactor gate");
    suite.add_test_case(case);
    let mut report = Report::new("compactor gate");
    report.add_test_suite(suite);
    report.to_string().unwrap_or_default()
}

/// An annotation where nothing could be judged.
pub fn refused_annotation(cause: &str) -> String {
    format!("::error title=compactor gate::not judged: {}\n", data(cause))
}

/// Markdown where nothing could be judged.
pub fn refused_markdown(cause: &str) -> String {
    format!("## gate: not judged\n\n{}\n", escape(cause))
}

/// As commands that a GitHub workflow turns into annotations: what does not hold, the worst first, 10 at most. Where the run names
/// a loss in a session that became worse, its line of the log is the place.
pub fn annotations(outcome: &Outcome, losses: &[LossRow]) -> String {
    let open: Vec<&Check> = outcome.checks.iter().filter(|check| check.verdict != Verdict::Pass).collect();
    let mut text = String::new();
    let judged_by = outcome
        .judged_by
        .as_ref()
        .map(|judged_by| format!("::notice title=compactor gate::{}\n", data(&judged_by.text())));
    let most = ANNOTATIONS - usize::from(judged_by.is_some());
    let shown = if open.len() > most { most - 1 } else { open.len() };
    for check in open.iter().take(shown) {
        let level = if check.verdict == Verdict::Fail { "error" } else { "warning" };
        let mut properties = format!("title={}", property(&format!("compactor gate: {}", check.metric)));
        let mut message = sentence(check);
        let is_of = |loss: &&LossRow| {
            let lost_by = std::iter::once(&loss.strategy).chain(&loss.also);
            let mut whom = lost_by.map(|strategy| format!("{}/{strategy}/", loss.profile));
            whom.any(|whom| check.contender.starts_with(&whom)) && is_about(&check.metric, loss)
        };
        let loss = check
            .worse
            .iter()
            .find_map(|worse| losses.iter().filter(is_of).find(|loss| loss.session == worse.session));
        if let Some(loss) = loss {
            properties.push_str(&format!(",file={},line={}", property(&loss.source), loss.line));
            message.push_str(&format!("\nlost for instance: {} {}", loss.class, loss.value));
        }
        for worse in &check.worse {
            message.push_str(&format!("\n{}", worse.text()));
        }
        text.push_str(&format!("::{level} {properties}::{}\n", data(&message)));
    }
    if shown < open.len() {
        text.push_str(&format!(
            "::warning title=compactor gate::and {} more checks do not hold\n",
            open.len() - shown
        ));
    }
    text.push_str(&judged_by.unwrap_or_default());
    if outcome.verdict == Verdict::Pass {
        text.push_str(&format!("::notice title=compactor gate::{}\n", data(&headline(outcome))));
    }
    text
}

/// Does this loss lower the metric?
fn is_about(metric: &str, loss: &LossRow) -> bool {
    let class = loss.class.as_str();
    let structural = class.starts_with("file.") || ["command", "check", "todo"].contains(&class);
    match metric {
        "needed_survival" => loss.needed,
        "files_read" => class == "file.read",
        "files_modified" => ["file.modified", "file.created", "file.renamed"].contains(&class),
        "structural_survival" => structural,
        "lexical_survival" => !structural,
        metric => metric.strip_prefix("survival.").is_none_or(|own| own == class),
    }
}

/// Text of which no line is a command to the machine that runs a build: names out of logs are in it.
pub(super) fn no_commands(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for line in text.lines() {
        let inner = line.trim_start();
        if inner.starts_with("::") || inner.starts_with("##[") {
            safe.push_str("| ");
        }
        safe.push_str(line);
        safe.push('\n');
    }
    safe
}

/// Text of a workflow command.
fn data(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(sanitize).collect();
    lines.join("\n").replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// As Markdown, for the summary of a build step.
pub fn markdown(outcome: &Outcome) -> String {
    let mut text = format!("## {}\n\n", escape(&headline(outcome)));
    if outcome.identical {
        text.push_str("Every count is that of the baseline.\n\n");
    }
    if let Some(judged_by) = &outcome.judged_by {
        text.push_str(&format!("{}.\n\n", escape(&judged_by.text())));
    }
    let checks = outcome
        .checks
        .iter()
        .map(|check| [check.verdict.name(), &check.contender, &check.metric, &check.limit, &check.text]);
    table(&mut text, ["verdict", "contender", "metric", "asked", "answer"], checks);
    let worse: Vec<[&str; 5]> = outcome
        .checks
        .iter()
        .flat_map(|check| check.worse.iter().map(move |worse| (check, worse)))
        .map(|(check, worse)| {
            [check.contender.as_str(), &check.metric, &worse.session, &worse.before, &worse.now]
        })
        .collect();
    if outcome.verdict != Verdict::Pass && !worse.is_empty() {
        text.push_str("\n<details><summary>Sessions behind it</summary>\n\n");
        table(&mut text, ["contender", "metric", "session", "before", "now"], worse.into_iter());
        text.push_str("\n</details>\n");
    }
    text.push_str(&format!("\n`{}`  \n", fingerprint("run", &outcome.run)));
    if let Some(baseline) = &outcome.baseline {
        text.push_str(&format!("`{}`\n", fingerprint("baseline", baseline)));
    }
    text
}

/// A table of as many rows as the page of a build takes, the first ones; says how many more there are.
fn table<'a>(text: &mut String, head: [&str; 5], rows: impl ExactSizeIterator<Item = [&'a str; 5]>) {
    text.push_str(&format!("| {} |\n|---|---|---|---|---|\n", head.join(" | ")));
    let (all, begins) = (rows.len(), text.len());
    for (shown, row) in rows.enumerate() {
        let line = format!("| {} |\n", row.map(|cell| escape(&fit(&sanitize(cell), CELL))).join(" | "));
        if shown == ROWS || text.len() - begins + line.len() > BYTES {
            let more = thousands((all - shown) as u64);
            text.push_str(&format!("\nand {more} more: the worst are above, `--format json` has all\n"));
            return;
        }
        text.push_str(&line);
    }
}

/// What a new baseline takes the place of.
#[derive(Debug, Clone, PartialEq)]
pub enum Replaced {
    /// There was none.
    Nothing,
    /// One of an older version, or a damaged one: why it cannot be read.
    Unread(String),
    /// One with these scores.
    Scores(Vec<Score>),
}

/// What a new baseline changes: figures of contenders, and how many sessions came and went.
pub fn accepted(before: &Replaced, after: &[Score], look: Look<'_>) -> String {
    let mut page = Page::new(look);
    let all = count(after.len() as u64, "line");
    let before = match before {
        Replaced::Nothing => {
            page.line(&format!("accepted: a first baseline of {all}"));
            return page.text;
        }
        Replaced::Unread(cause) => {
            page.line(&format!("accepted: {all}"));
            page.prose(&sanitize(&format!(
                "the baseline that was there is replaced and could not be compared: {cause}"
            )));
            return page.text;
        }
        Replaced::Scores(before) => before.as_slice(),
    };
    let lines: BTreeMap<(&Contender, &str), &Score> =
        before.iter().map(|score| ((&score.contender, score.session.as_str()), score)).collect();
    let changed = after.iter().filter(|score| {
        lines.get(&(&score.contender, score.session.as_str())).is_some_and(|old| old != score)
    });
    let new = after.iter().filter(|score| !lines.contains_key(&(&score.contender, score.session.as_str())));
    let (changed, new) = (changed.count(), new.count());
    let gone = before.len() + new - after.len();
    page.line(&format!("accepted: {all}, {changed} changed, {new} new, {gone} gone"));
    let contenders: std::collections::BTreeSet<&Contender> =
        before.iter().chain(after).map(|score| &score.contender).collect();
    for contender in contenders {
        let moved = moved(contender, before, after);
        if !moved.is_empty() {
            page.gap();
            page.styled(BOLD, &sanitize(&name(contender)));
            for line in moved {
                page.line(&format!("  {line}"));
            }
        }
    }
    page.text
}

/// Figures of one contender that differ, summed over sessions.
fn moved(contender: &Contender, before: &[Score], after: &[Score]) -> Vec<String> {
    let own = |scores: &[Score]| -> Vec<Score> {
        scores
            .iter()
            .filter(|score| score.contender == *contender && score.state != State::Failed)
            .cloned()
            .collect()
    };
    let (before, after) = (own(before), own(after));
    let mut lines = Vec::new();
    for (at, name) in shares().iter().enumerate() {
        let sum = |scores: &[Score]| {
            scores
                .iter()
                .filter_map(|score| score.shares.get(at).copied())
                .fold(Share::default(), Share::plus)
        };
        let (was, is) = (sum(&before), sum(&after));
        if was != is {
            let shown = |share: Share| {
                share.value().map_or("n/a".to_owned(), |value| {
                    format!("{value:.4} ({} of {})", share.kept, share.total)
                })
            };
            lines.push(format!("{name}: {} -> {}", shown(was), shown(is)));
        }
    }
    for (at, (name, _)) in AMOUNTS.iter().enumerate() {
        let sum = |scores: &[Score]| scores.iter().filter_map(|score| score.amounts.get(at)).sum::<u64>();
        let (was, is) = (sum(&before), sum(&after));
        if was != is {
            lines.push(format!("{name}: {} -> {}", thousands(was), thousands(is)));
        }
    }
    lines
}

/// What a self-test found.
pub fn self_test(trials: &[Trial], look: Look<'_>) -> String {
    let mut page = Page::new(look);
    let of = |result: Noticed| trials.iter().filter(|trial| trial.result == result).count();
    let (missed, noticed, nothing) = (of(Noticed::No), of(Noticed::Yes), of(Noticed::NothingToLose));
    let lost_already = if nothing == 0 { String::new() } else { format!("; {nothing} had nothing to lose") };
    let (style, headline) = match (missed, nothing) {
        (0, 0) => (GOOD, format!("self-test: all {noticed} damages were noticed")),
        (0, _) => (GOOD, format!("self-test: {noticed} of {} damages were noticed", trials.len())),
        _ => (BAD, format!("self-test: {missed} of {} damages went unnoticed", trials.len())),
    };
    page.styled(style, &format!("{headline}{lost_already}"));
    page.gap();
    for trial in trials {
        let (mark, style) = match trial.result {
            Noticed::Yes => ("noticed", GOOD),
            Noticed::No => ("MISSED", BAD),
            Noticed::NothingToLose => ("nothing to lose", DIM),
        };
        let mark = paint(style, mark, page.color);
        page.item(&format!(
            "{mark}: {}",
            sanitize(&format!("{}: {}: {}", trial.damage, trial.verdict.name(), trial.text))
        ));
    }
    page.text
}

#[cfg(test)]
mod tests;
