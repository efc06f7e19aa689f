//! How long facts last, a line per strategy: the share that outlasts one compaction, two, three.

use super::{BOLD, Page, paint, sanitize};
use crate::aggregate::SummaryRow;
use crate::aggregate::curves::CurveRow;
use crate::stats::MIN_SESSIONS;

/// Ages shown, as far as they were seen.
const AGES: [u32; 5] = [1, 2, 3, 5, 10];

/// Kinds of facts shown, by their name in the curves.
const KINDS: [&str; 2] = ["structural", "lexical"];

/// Columns of a strategy's name, and of a share.
const NAME: usize = 12;
const SHARE: usize = 6;
/// And of a half-life.
const HALF: usize = 10;

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
    let mut ages: Vec<u32> = AGES.into_iter().filter(|age| *age <= longest).collect();
    while NAME + KINDS.len() * (SHARE * ages.len() + HALF) > page.columns && ages.len() > 1 {
        ages.pop();
    }
    let wide = SHARE * ages.len() + HALF;
    let mut head = " ".repeat(NAME);
    let mut numbers = format!("{:<NAME$}", "strategy");
    for kind in KINDS {
        head += &format!("{:>wide$}", format!("{kind} facts "));
        for age in &ages {
            numbers += &format!("{:>SHARE$}", format!("{age} "));
        }
        numbers += &format!("{:>HALF$}", "half-life ");
    }
    let mut few = false;
    let mut lines: Vec<String> = Vec::new();
    for row in rows {
        let mut line = format!("{:<NAME$}", sanitize(&row.strategy));
        for kind in KINDS {
            let curve = of(row, kind);
            // A mark behind what rests on a few sessions, in the column that is blank elsewhere.
            let mut cell = |text: String, step: Option<&&CurveRow>| {
                let doubtful = step.is_some_and(|step| step.sessions_at_risk < MIN_SESSIONS as u64);
                few |= doubtful;
                text + if doubtful { "?" } else { " " }
            };
            for age in &ages {
                let step = curve.iter().find(|step| step.age == *age && step.at_risk > 0);
                let share = step.map(|step| format!("{:.0}%", step.survival * 100.0)).unwrap_or_default();
                line += &format!("{:>SHARE$}", cell(share, step));
            }
            let half = curve.first().and_then(|step| step.half_life);
            let (text, step) = match (half, curve.last()) {
                (Some(age), _) => (age.to_string(), curve.iter().find(|step| step.age == age)),
                (None, Some(last)) => (format!("> {}", last.age), None),
                (None, None) => ("n/a".to_owned(), None),
            };
            line += &format!("{:>HALF$}", cell(text, step));
        }
        lines.push(line);
    }
    page.gap();
    page.prose(
        "How long facts last once only the summary can hold them, counted anew when they are said again, all sessions \
         pooled: the share still there after so many compactions; half-life: the first that no more than half outlast.",
    );
    if few {
        page.prose(&format!("A ? stands behind what fewer than {MIN_SESSIONS} sessions tell."));
    }
    page.line(&paint(BOLD, head.trim_end(), page.color));
    page.line(&paint(BOLD, numbers.trim_end(), page.color));
    page.line(&"-".repeat(NAME + KINDS.len() * wide));
    for line in lines {
        page.line(&line);
    }
}
