//! The numbers of a report as one CSV: a row per figure, so that a spreadsheet or a script can pivot them.

use super::findings::findings;
use super::runs::{RULES, View};
use super::sections::{Damage, damage, logs, sessions};
use crate::aggregate::Metric;
use crate::results::files::{decimal, text_cell};
use std::io;

/// Names of the columns.
pub const COLUMNS: [&str; 14] = [
    "section", "run", "profile", "window", "strategy", "metric", "class", "age", "value", "low", "high", "n",
    "part", "whole",
];

/// How a file of ours begins.
pub const MARK: &str = "section,run,profile,window,strategy,metric,class,age,";

/// A figure. What does not apply is empty.
#[derive(Debug, Default)]
struct Figure {
    section: &'static str,
    run: String,
    profile: String,
    window: String,
    strategy: String,
    metric: String,
    class: String,
    age: Option<u32>,
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    n: Option<u64>,
    part: Option<u64>,
    whole: Option<u64>,
}

/// All figures, with a header.
pub fn render(view: &View<'_>) -> io::Result<String> {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    for figure in figures(view) {
        let count = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
        let real = |x: Option<f64>| x.map(decimal).unwrap_or_default();
        writer.write_record([
            figure.section.to_owned(),
            text_cell(&figure.run),
            text_cell(&figure.profile),
            text_cell(&figure.window),
            text_cell(&figure.strategy),
            text_cell(&figure.metric),
            text_cell(&figure.class),
            count(figure.age.map(u64::from)),
            real(figure.value),
            real(figure.low),
            real(figure.high),
            count(figure.n),
            count(figure.part),
            count(figure.whole),
        ])?;
    }
    let bytes = writer.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

fn figures(view: &View<'_>) -> Vec<Figure> {
    let mut all: Vec<Figure> = findings(view)
        .shown
        .into_iter()
        .map(|found| Figure {
            section: "finding",
            metric: found.headline,
            value: Some(found.size),
            ..Figure::default()
        })
        .collect();
    for it in &view.contenders {
        let row = it.row;
        let base = |section: &'static str, metric: &str| Figure {
            section,
            run: view.runs.get(it.run).map(|run| run.label.clone()).unwrap_or_default(),
            profile: row.profile.clone(),
            window: row.window.clone(),
            strategy: row.strategy.clone(),
            metric: metric.to_owned(),
            ..Figure::default()
        };
        let count = |section, metric: &str, n: u64| Figure { value: Some(n as f64), ..base(section, metric) };
        for metric in Metric::ALL {
            let value = metric.of_summary(row);
            all.push(Figure {
                value: value.mean,
                low: value.low,
                high: value.high,
                n: Some(value.n),
                ..base("contender", metric.name())
            });
        }
        all.push(Figure {
            value: row.tokens_summary,
            n: Some(row.n_exercised),
            ..base("contender", "tokens_summary")
        });
        all.push(Figure { value: row.reduction, n: Some(row.n_exercised), ..base("contender", "reduction") });
        all.push(count("contender", "violations", it.violations()));
        for class in ["structural", "lexical"] {
            all.extend(view.curve(it, class).into_iter().filter(|step| step.at_risk > 0).map(|step| {
                Figure {
                    class: class.to_owned(),
                    age: Some(step.age),
                    value: Some(step.survival),
                    low: step.survival_low,
                    high: step.survival_high,
                    n: Some(step.sessions_at_risk),
                    whole: Some(step.at_risk),
                    ..base("lasting", "survival")
                }
            }));
        }
        all.extend(view.kept(it).into_iter().map(|kept| Figure {
            class: kept.class.clone(),
            value: kept.survival,
            low: kept.low,
            high: kept.high,
            n: Some(kept.sessions),
            part: Some(kept.in_summary),
            whole: Some(kept.at_risk),
            ..base("class", "summary_survival")
        }));
        let lost = row.facts_at_risk.saturating_sub(row.facts_in_summary);
        for (metric, part) in [
            ("tail", row.facts_total.saturating_sub(row.facts_at_risk)),
            ("summary", row.facts_in_summary),
            ("lost", lost),
        ] {
            let value = crate::results::ratio(part, row.facts_total);
            all.push(Figure {
                value,
                part: Some(part),
                whole: Some(row.facts_total),
                ..base("place", metric)
            });
        }
        let sums = damage(view, it).counts();
        all.extend(Damage::NAMES.iter().zip(sums).map(|(name, n)| count("damage", name, n)));
        all.extend(RULES.iter().map(|(name, of)| count("rule", name, it.broke(*of))));
    }
    for session in sessions(view) {
        let cells = view.contenders.iter().zip(&session.values);
        all.extend(cells.filter_map(|(it, value)| {
            Some(Figure {
                section: "session",
                run: view.runs.get(it.run).map(|run| run.label.clone())?,
                profile: it.row.profile.clone(),
                window: it.row.window.clone(),
                strategy: it.row.strategy.clone(),
                metric: session.row.session.to_string(),
                value: Some((*value)?),
                ..Figure::default()
            })
        }));
    }
    for run in view.runs {
        for logs in logs(run) {
            let counts = [
                ("sessions", logs.sessions),
                ("messages", logs.messages),
                ("turns", logs.turns),
                ("tool_calls", logs.tool_calls),
                ("tokens", logs.tokens),
                ("tokens_tool", logs.tokens_tool),
                ("facts", logs.facts),
                ("mentions", logs.mentions),
            ];
            all.extend(counts.map(|(metric, n)| Figure {
                section: "logs",
                run: run.label.clone(),
                metric: metric.to_owned(),
                class: if logs.format.is_empty() { "all".to_owned() } else { logs.format.clone() },
                value: Some(n as f64),
                ..Figure::default()
            }));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::runs::Run;
    use crate::results::files::sample;

    #[test]
    fn every_figure_has_its_keys_and_no_cell_is_a_formula() {
        let runs = [Run::new("=1+1".to_owned(), sample::run(12))];
        let text = render(&View::new(&runs)).unwrap();
        assert!(text.starts_with(MARK));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert!(rows.iter().all(|row| row.len() == COLUMNS.len()));
        let find = |section: &str, strategy: &str, metric: &str| {
            let of = |row: &&csv::StringRecord| (&row[0], &row[4], &row[5]) == (section, strategy, metric);
            rows.iter().find(of).map(|row| row.iter().collect::<Vec<_>>().join(",")).unwrap_or_default()
        };
        assert_eq!(
            find("contender", "emergency", "lexical_survival"),
            "contender,'=1+1,standard,cycles,emergency,lexical_survival,,,0,0,0.264648,12,,"
        );
        assert_eq!(
            find("place", "structured", "lost"),
            "place,'=1+1,standard,cycles,structured,lost,,,0.116667,,,,28,240"
        );
        assert!(find("session", "truncate", "s00").contains("'=1+1"));
        assert!(!text.contains("NaN"));
    }
}
