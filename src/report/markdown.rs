//! Runs as Markdown, for pull requests, chats and terminals: the page without its charts.
//!
//! Text from rows is shown without hidden characters and with everything escaped that Markdown or HTML would take for markup, a
//! mention or a link.

use super::findings::{Findings, findings, percent};
use super::rank::Place;
use super::runs::{CLASSES, Contender, RULES, Verdict, View, class_name, without_policy};
use super::sections::{command, files_of, logs, worst};
use super::text::{count, fit, sanitize, thousands};
use crate::aggregate::Metric;
use crate::stats::{Estimate, MIN_SESSIONS};

/// How a document of ours begins.
pub const MARK: &str = "<!-- compactor report -->\n";

/// Ages of facts that are shown.
const AGES: [u32; 5] = [1, 2, 3, 5, 10];

/// Worst sessions, facts of each, and columns of a fact.
const SESSIONS: usize = 5;
const FACTS: usize = 5;
const LONGEST: usize = 120;

/// Columns of the first table.
const SHOWN: [(Metric, &str); 5] = [
    (Metric::FilesModified, "modified files"),
    (Metric::Structural, "structural"),
    (Metric::Lexical, "lexical"),
    (Metric::Needed, "needed"),
    (Metric::Context, "all, in context"),
];

/// The document, with a final newline.
pub fn render(view: &View<'_>, verdict: Option<&Verdict>, redacted: bool) -> String {
    let labels: Vec<String> = view.runs.iter().map(|run| escape(&run.label)).collect();
    let mut text = format!("{MARK}# What compaction kept: {}\n\n", labels.join(", "));
    if redacted {
        text.push_str("Texts, paths and ids are replaced by placeholders.\n\n");
    }
    first(&mut text, view, verdict, &findings(view));
    if view.exercised() > 0 {
        contenders(&mut text, view);
        lasting(&mut text, view);
        classes(&mut text, view);
        worst_sessions(&mut text, view);
    }
    rules(&mut text, view);
    corpus(&mut text, view);
    method(&mut text, view);
    text
}

/// Text as Markdown shows it word for word.
pub fn escape(text: &str) -> String {
    let text = sanitize(text);
    let mut safe = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let after = rest.peek().copied();
        let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            // Mentions, numbers of issues and links are found without markup around them.
            '@' => safe.push_str("&#64;"),
            ':' if after == Some('/') => safe.push_str("&#58;"),
            '#' if before.is_none() || word(after) => safe.push_str("&#35;"),
            '.' if safe.ends_with("www") => safe.push_str("&#46;"),
            '_' if word(before) && word(after) => safe.push('_'),
            '\\' | '`' | '*' | '_' | '[' | ']' | '!' | '|' | '~' | '$' => safe.extend(['\\', character]),
            // At a beginning these make lists, rules and headings.
            '-' | '+' | '=' if before.is_none() => safe.extend(['\\', character]),
            '.' | ')' if safe.chars().all(|c| c.is_ascii_digit()) => safe.extend(['\\', character]),
            _ => safe.push(character),
        }
        before = Some(character);
    }
    safe
}

fn row(text: &mut String, cells: &[String]) {
    text.push_str(&format!("| {} |\n", cells.join(" | ")));
}

/// Heading and rule of a table whose columns are numbers, save the first `words`.
fn table(text: &mut String, head: &[String], words: usize) {
    row(text, head);
    let rule: Vec<String> =
        (0..head.len()).map(|at| if at < words { "---".to_owned() } else { "---:".to_owned() }).collect();
    row(text, &rule);
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn first(text: &mut String, view: &View<'_>, verdict: Option<&Verdict>, found: &Findings) {
    let (state, headline) = match verdict {
        Some(verdict) => (Some(verdict.state), verdict.headline.clone()),
        None => without_policy(view),
    };
    let state = state.map_or("no policy", |state| state.name());
    text.push_str(&format!("**{state}**: {}.\n\n", escape(&headline)));
    for reason in verdict.iter().flat_map(|verdict| &verdict.reasons) {
        text.push_str(&format!("- {}\n", escape(reason)));
    }
    text.push_str("## Findings\n\n");
    for (at, finding) in found.shown.iter().enumerate() {
        text.push_str(&format!(
            "{}. **{}.** {}.\n",
            at + 1,
            escape(&finding.headline),
            escape(&finding.detail)
        ));
    }
    if found.shown.is_empty() {
        text.push_str("None.\n");
    }
    if !found.silent.is_empty() {
        text.push_str("\nLooked for and not found:\n\n");
        found.silent.iter().for_each(|why| text.push_str(&format!("- {}\n", escape(why))));
    }
}

fn share(value: Estimate, sessions: u64) -> String {
    let Some(mean) = value.mean else { return "n/a".to_owned() };
    let ends = match value.low.zip(value.high) {
        Some((low, high)) => format!(" ({:.0}–{:.0})", low * 100.0, high * 100.0),
        None => String::new(),
    };
    let n = if value.n == sessions { String::new() } else { format!(", n {}", value.n) };
    format!("{}{ends}{n}", percent(mean))
}

fn contenders(text: &mut String, view: &View<'_>) {
    text.push_str(&format!(
        "\n## Contenders\n\nOf what no kept message holds, the share in the summary: means over sessions, in brackets the 95 % interval \
         (from {MIN_SESSIONS} sessions on), n where fewer sessions have a value.\n\n"
    ));
    let mut head = owned(&["contender"]);
    head.extend(SHOWN.iter().map(|(_, name)| (*name).to_owned()));
    head.extend(owned(&["summary tokens", "context smaller", "rules broken", "sessions"]));
    table(text, &head, 1);
    for it in &view.contenders {
        let place = match it.place {
            Place::Best(true) => " (best, shared)",
            Place::Best(false) => " (best)",
            Place::Worst(true) => " (worst, shared)",
            Place::Worst(false) => " (worst)",
            _ => "",
        };
        let mut cells = vec![format!("{}{place}", escape(&it.name))];
        cells.extend(SHOWN.iter().map(|(metric, _)| share(metric.of_summary(it.row), it.row.n_exercised)));
        cells.push(it.row.tokens_summary.map_or_else(|| "n/a".to_owned(), |it| thousands(it.round() as u64)));
        cells.push(it.row.reduction.map_or_else(|| "n/a".to_owned(), percent));
        cells.extend([it.violations(), it.row.n_exercised].map(thousands));
        row(text, &cells);
    }
}

fn lasting(text: &mut String, view: &View<'_>) {
    let steps = |it: &Contender<'_>, kind: &str| -> Vec<(u32, String)> {
        let curve = view.curve(it, kind);
        let of = |age: &u32| curve.iter().find(|step| step.age == *age && step.at_risk > 0);
        let mark = |n: u64| if n < MIN_SESSIONS as u64 { "?" } else { "" };
        AGES.iter()
            .filter_map(|age| {
                of(age)
                    .map(|step| (*age, format!("{}{}", percent(step.survival), mark(step.sessions_at_risk))))
            })
            .collect()
    };
    let kinds = ["structural", "lexical"];
    let seen: Vec<u32> = view
        .contenders
        .iter()
        .flat_map(|it| kinds.map(|kind| steps(it, kind)))
        .flatten()
        .map(|(age, _)| age)
        .collect();
    let ages: Vec<u32> = AGES.into_iter().filter(|age| seen.contains(age)).collect();
    if ages.is_empty() {
        return;
    }
    text.push_str(&format!(
        "\n## How long facts last\n\nShare that outlasts so many compactions once only the summary can hold it; ? behind what fewer \
         than {MIN_SESSIONS} sessions tell.\n\n"
    ));
    let mut head = owned(&["contender", "facts"]);
    head.extend(ages.iter().map(ToString::to_string));
    head.push("half-life".to_owned());
    table(text, &head, 2);
    for it in &view.contenders {
        for kind in kinds {
            let steps = steps(it, kind);
            let Some(first) = view.curve(it, kind).into_iter().next() else { continue };
            let mut cells = vec![escape(&it.name), kind.to_owned()];
            cells.extend(ages.iter().map(|age| {
                steps.iter().find(|(at, _)| at == age).map(|(_, text)| text.clone()).unwrap_or_default()
            }));
            let last = view.curve(it, kind).iter().filter(|step| step.at_risk > 0).map(|step| step.age).max();
            cells.push(
                first.half_life.map_or_else(|| format!("&gt; {}", last.unwrap_or(0)), |age| age.to_string()),
            );
            row(text, &cells);
        }
    }
}

fn classes(text: &mut String, view: &View<'_>) {
    let value = |it: &Contender<'_>, class: &str| {
        let row = view.kept(it).into_iter().find(|row| row.class == class && row.at_risk > 0)?;
        Some(Estimate { mean: row.survival, low: row.low, high: row.high, n: row.sessions })
    };
    let rows: Vec<&str> = CLASSES
        .into_iter()
        .filter(|class| view.contenders.iter().any(|it| value(it, class).is_some()))
        .collect();
    if rows.is_empty() {
        return;
    }
    text.push_str("\n## By class\n\n");
    let mut head = owned(&["class"]);
    head.extend(view.contenders.iter().map(|it| escape(&it.name)));
    table(text, &head, 1);
    for class in rows {
        let mut cells = vec![class_name(class)];
        cells.extend(view.contenders.iter().map(|it| {
            value(it, class).map_or_else(|| "n/a".to_owned(), |value| share(value, it.row.n_exercised))
        }));
        row(text, &cells);
    }
}

fn worst_sessions(text: &mut String, view: &View<'_>) {
    let worst = worst(view);
    if worst.is_empty() {
        return;
    }
    text.push_str("\n## Worst sessions\n\n");
    for session in worst.iter().take(SESSIONS) {
        text.push_str(&format!(
            "- **{}** ({}): {} of {} needed and {} of {} at risk lost\n",
            escape(&fit(&sanitize(&session.row.session), LONGEST)),
            escape(&session.row.source),
            thousands(session.needed_lost),
            count(session.needed, "fact"),
            thousands(session.lost),
            count(session.at_risk, "fact"),
        ));
        for loss in session.losses.iter().take(FACTS) {
            text.push_str(&format!(
                "  - line {}: {}{}, lost at compaction {} under {}\n",
                loss.row.birth_line,
                escape(&fit(&sanitize(&loss.row.value), LONGEST)),
                if loss.needed { " (needed)" } else { "" },
                loss.row.cycle,
                escape(&loss.under.join(", "))
            ));
        }
    }
}

fn rules(text: &mut String, view: &View<'_>) {
    text.push_str("\n## Hard rules\n\n");
    let mut any = false;
    for it in &view.contenders {
        let broken: Vec<String> = RULES
            .iter()
            .map(|(name, of)| (name, it.broke(*of)))
            .filter(|(_, n)| *n > 0)
            .map(|(name, n)| format!("{name} {}×", thousands(n)))
            .collect();
        if !broken.is_empty() {
            any = true;
            text.push_str(&format!("- {}: {}\n", escape(&it.name), broken.join(", ")));
        }
    }
    if !any {
        text.push_str(&match view.compactions() {
            0 => "No compaction, so no rule was tried.\n".to_owned(),
            n => format!("No rule was broken in {}.\n", count(n, "compaction")),
        });
    }
}

fn corpus(text: &mut String, view: &View<'_>) {
    text.push_str("\n## Logs\n\n");
    let several = view.runs.len() > 1;
    let mut head = if several { owned(&["run", "format"]) } else { owned(&["format"]) };
    let words = head.len();
    head.extend(owned(&[
        "sessions",
        "exercised",
        "messages",
        "turns",
        "tool calls",
        "tokens",
        "tool share",
        "said",
    ]));
    table(text, &head, words);
    for run in view.runs {
        for logs in logs(run) {
            let mut cells = if several { vec![escape(&run.label)] } else { Vec::new() };
            cells.push(if logs.format.is_empty() { "all".to_owned() } else { escape(&logs.format) });
            let counts =
                [logs.sessions, logs.exercised, logs.messages, logs.turns, logs.tool_calls, logs.tokens]
                    .map(thousands);
            cells.extend(counts);
            cells.push(logs.tool_share().map_or_else(|| "n/a".to_owned(), percent));
            cells.push(logs.repeat_rate().map_or_else(|| "n/a".to_owned(), |rate| format!("{rate:.2}")));
            row(text, &cells);
        }
    }
}

fn method(text: &mut String, view: &View<'_>) {
    text.push_str("\n## Method and versions\n\n");
    for run in view.runs {
        let manifest = &run.output.manifest;
        text.push_str(&format!(
            "- {}: compactor {}, schema {}, scorer {}, tokenizer {}",
            escape(&run.label),
            escape(&manifest.version),
            manifest.schema_version,
            manifest.scorer_version,
            escape(&manifest.settings.tokenizer)
        ));
        for (name, hash) in [("logs", &manifest.corpus_hash), ("settings", &manifest.settings_hash)] {
            if !hash.is_empty() {
                text.push_str(&format!(", {name} {}", escape(hash)));
            }
        }
        text.push_str(&format!("; {}", escape(&command(run))));
        let files = files_of(run);
        if files.is_empty() {
            text.push('\n');
        } else {
            text.push_str(&format!(" (with the logs in place of LOGS{})\n", escape(&files)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::runs::{Run, State};
    use crate::results::files::sample;

    #[test]
    fn text_from_logs_is_no_markup() {
        for (raw, safe) in [
            ("a|b `c` <b>", "a\\|b \\`c\\` &lt;b&gt;"),
            ("@team see #12", "&#64;team see &#35;12"),
            ("http://x.y/_z_", "http&#58;//x.y/\\_z\\_"),
            ("www.x.y", "www&#46;x.y"),
            ("![i](u)\n# h", "\\!\\[i\\](u)\\\\n# h"),
            ("- a-b snake_case", "\\- a-b snake_case"),
            ("1. one", "1\\. one"),
            ("\u{202e}x", "\\\\u{202e}x"),
        ] {
            assert_eq!(escape(raw), safe);
        }
    }

    #[test]
    fn the_document_says_the_verdict_first_and_has_even_tables() {
        let runs = [Run::new("a|b".to_owned(), sample::run(12))];
        let view = View::new(&runs);
        let verdict = Verdict {
            state: State::Fail,
            headline: "lexical facts fell".to_owned(),
            reasons: vec!["below the floor".to_owned()],
        };
        let text = render(&view, Some(&verdict), false);
        assert!(text.starts_with(
            "<!-- compactor report -->\n# What compaction kept: a\\|b\n\n**fail**: lexical facts fell.\n"
        ));
        assert!(render(&view, None, false).contains("**no policy**: No policy given, so"));
        let bars = |line: &str| line.replace("\\|", "").matches('|').count();
        let lines: Vec<&str> = text.lines().collect();
        for [one, other] in lines.array_windows().filter(|[a, b]| a.starts_with('|') && b.starts_with('|')) {
            assert_eq!(bars(one), bars(other), "{one}\n{other}");
        }
        assert!(
            text.contains("| structured (best) | 91.7 % (83–98) | 93.3 % (87–98) | 80.0 % (75–84) | "),
            "{text}"
        );
    }

    #[test]
    fn nothing_measured_is_said() {
        let runs = [Run::new("r".to_owned(), sample::run(0))];
        let text = render(&View::new(&runs), None, false);
        assert!(
            text.contains("**not exercised**: Nothing was measured")
                && text.contains("No compaction, so no rule was tried.")
        );
    }
}
