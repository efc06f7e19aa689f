//! How long facts last, a line per strategy: the share that outlasts one compaction, two, three.

use super::{BOLD, Page, paint, sanitize};
use crate::aggregate::SummaryRow;
use crate::aggregate::curves::CurveRow;

/// Ages shown, as far as they were seen.
const AGES: [u32; 5] = [1, 2, 3, 5, 10];

/// Kinds of facts shown, by their name in the curves.
const KINDS: [&str; 2] = ["structural", "lexical"];

/// Columns of a strategy's name, and of a share.
const NAME: usize = 12;
const SHARE: usize = 6;

pub(super) fn lasting(page: &mut Page, rows: &[SummaryRow], curves: &[CurveRow]) {
    let of = |row: &SummaryRow, kind: &str| -> Vec<&CurveRow> {
        curves
            .iter()
            .filter(|curve| {
                (&curve.profile, &curve.window, &curve.strategy) == (&row.profile, &row.window, &row.strategy)
                    && curve.class == kind
            })
            .collect()
    };
    let longest = rows
        .iter()
        .flat_map(|row| KINDS.map(|kind| of(row, kind).last().map_or(0, |step| step.age)))
        .max()
        .unwrap_or(0);
    // One compaction is in the table above.
    if longest < 2 {
        return;
    }
    let ages: Vec<u32> = AGES.into_iter().filter(|age| *age <= longest).collect();
    page.gap();
    page.prose(
        "Of the facts that only the summary could hold, and that nobody said again, the share that is still there after so \
         many compactions; half-life: the first that no more than half outlast.",
    );
    let wide = SHARE * ages.len() + SHARE + 4;
    let mut head = " ".repeat(NAME);
    let mut numbers = format!("{:<NAME$}", "strategy");
    for kind in KINDS {
        head += &format!("{:>wide$}", format!("{kind} facts"));
        for age in &ages {
            numbers += &format!("{age:>SHARE$}");
        }
        numbers += &format!("{:>width$}", "half-life", width = SHARE + 4);
    }
    page.line(&paint(BOLD, &head, page.color));
    page.line(&paint(BOLD, numbers.trim_end(), page.color));
    page.line(&"-".repeat(NAME + KINDS.len() * wide));
    for row in rows {
        let mut line = format!("{:<NAME$}", sanitize(&row.strategy));
        for kind in KINDS {
            let curve = of(row, kind);
            for age in &ages {
                let step = curve.iter().find(|step| step.age == *age && step.at_risk > 0);
                let share = step.map(|step| format!("{:.0}%", step.survival * 100.0));
                line += &format!("{:>SHARE$}", share.unwrap_or_default());
            }
            let half = match curve.as_slice() {
                [] => "n/a".to_owned(),
                [.., last] => last.half_life.map_or_else(|| format!("> {}", last.age), |age| age.to_string()),
            };
            line += &format!("{half:>width$}", width = SHARE + 4);
        }
        page.line(&line);
    }
}
