//! Columns of files that are no rows of one type: `tuning.csv`, whose parameters differ, and the CSV of a report.

use crate::results::CLASSES;

/// Name, kind and meaning.
type Column = (String, String, String);

fn column(name: &str, kind: &str, meaning: &str) -> Column {
    (name.to_owned(), kind.to_owned(), meaning.to_owned())
}

/// A figure over sessions: mean, interval, sessions.
fn estimate(name: &str, meaning: &str) -> [Column; 4] {
    [
        column(name, "number or empty", meaning),
        column(
            &format!("{name}_low"),
            "number or empty",
            "Lower end of its 95 % interval; empty below 10 sessions.",
        ),
        column(&format!("{name}_high"), "number or empty", "Upper end."),
        column(&format!("{name}_n"), "whole number", "Sessions with a value."),
    ]
}

/// Columns of `tuning.csv`. A column per parameter of the grid stands behind `split`.
pub(super) fn tuning() -> Vec<Column> {
    let mut columns: Vec<Column> = [
        ("combination", "whole number", "Number of the combination; 0 is the present setting."),
        ("split", "text", "`dev`: the sessions it was chosen by; `held-out`: those it is reported on."),
        ("present", "true or false", "This is the present setting."),
        ("recommended", "true or false", "This is the recommended setting."),
        ("rank", "whole number or empty", "Rank by the difference from the present setting on the dev sessions, from 1; empty for what cannot win, or was dropped on a part of them."),
        ("on_frontier", "true or false", "No other setting keeps as much for as few tokens."),
        ("barred", "text", "Why it cannot win; empty when it can."),
        ("objective", "number or empty", "The objective: mean over the sessions that it and the present setting have a value of."),
        ("objective_tokens", "number or empty", "Prompt tokens per request, mean over the same sessions."),
        ("objective_n", "whole number", "Sessions that both have."),
        ("objective_present", "number or empty", "The objective under the present setting, mean over the same sessions."),
        ("objective_tokens_present", "number or empty", "Prompt tokens per request under the present setting, mean over the same sessions."),
        ("difference", "number or empty", "Mean difference from the present setting in the objective, over those sessions."),
        ("difference_low", "number or empty", "Lower end of its 95 % interval by Student's t; empty below 10 sessions."),
        ("difference_high", "number or empty", "Upper end."),
        ("difference_p", "number or empty", "Two-sided p: Student's t from 10 sessions on, the sign test below."),
        ("n_sessions", "whole number", "Sessions of this side."),
        ("n_exercised", "whole number", "Of those, compacted with a reduction of 1 % or more."),
        ("n_failed", "whole number", "Of those, failed."),
        ("n_cycles", "whole number", "Cycles of the exercised sessions."),
    ]
    .into_iter()
    .map(|(name, kind, meaning)| column(name, kind, meaning))
    .collect();
    for (name, meaning) in [
        ("files_modified", "Modified files kept in text or metadata, 0 to 1: mean over sessions."),
        ("files_read", "Files only read kept in text or metadata, 0 to 1: mean over sessions."),
        (
            "structural_survival",
            "At-risk structural facts present in the summary, 0 to 1: mean over sessions.",
        ),
        ("lexical_survival", "At-risk lexical facts present in the summary, 0 to 1: mean over sessions."),
        ("summary_survival", "At-risk facts present in the summary, 0 to 1: mean over sessions."),
        ("needed_survival", "Needed at-risk facts present in the summary, 0 to 1: mean over sessions."),
        ("context_survival", "Facts present anywhere in the context, 0 to 1: mean over sessions."),
        ("tokens_per_request", "Prompt tokens per model request: mean over sessions."),
    ] {
        columns.extend(estimate(name, meaning));
    }
    for class in CLASSES {
        let meaning =
            format!("At-risk facts of class {class} present in the summary, 0 to 1: mean over sessions.");
        columns.extend(estimate(&format!("survival.{class}"), &meaning));
    }
    let rest = [
        ("tokens_summary", "number or empty", "Mean tokens of a summary over sessions."),
        ("reduction", "number or empty", "Mean of 1 - after / before over sessions."),
        ("requests", "whole number", "Model requests of the exercised sessions."),
        ("prompt_tokens", "whole number", "Prompt tokens of those requests."),
        ("cost_units", "number", "Their price in input-token equivalents."),
        ("violations", "whole number", "Hard invariants broken, in all sessions of this side."),
    ];
    columns.extend(rest.into_iter().map(|(name, kind, meaning)| column(name, kind, meaning)));
    columns
}

/// Columns of `report --csv`: a row per figure.
pub(super) fn report() -> Vec<Column> {
    [
        ("section", "text", "Part of the report that shows the figure."),
        ("run", "text", "Name of the run: its directory."),
        ("profile", "text", "Profile name; empty where the figure is about none."),
        ("window", "text", "Window in tokens, `auto` or `cycles`."),
        ("strategy", "text", "Strategy that was asked for."),
        ("metric", "text", "What is told."),
        ("class", "text", "Class or group of facts."),
        ("age", "whole number or empty", "Compactions outlasted, of a survival curve."),
        ("value", "number or empty", "The figure."),
        ("low", "number or empty", "Lower end of its 95 % interval."),
        ("high", "number or empty", "Upper end."),
        ("n", "whole number or empty", "Sessions behind it."),
        ("part", "whole number or empty", "Count above the line, where the figure is a share of counts."),
        ("whole", "whole number or empty", "Count below it."),
    ]
    .into_iter()
    .map(|(name, kind, meaning)| column(name, kind, meaning))
    .collect()
}
