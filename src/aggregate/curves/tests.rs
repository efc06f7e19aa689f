use super::*;
use crate::aggregate::aggregate;
use crate::results::files::sample::{session, spell};
use crate::results::{RunOutput, SessionRow};

/// A run of sessions that all have these spells of a class.
fn run(sessions: usize, spells: &[(&str, u32, u64, u64)]) -> Vec<CurveRow> {
    let mut output = RunOutput::default();
    for number in 0..sessions {
        let row = session(&format!("s{number}"), "structured");
        output
            .spells
            .extend(spells.iter().map(|(class, age, lost, left)| spell(&row, class, *age, *lost, *left)));
        output.sessions.push(row);
    }
    aggregate(&output).curves
}

#[test]
fn spells_of_sessions_become_one_curve_per_class() {
    let rows = run(3, &[("value", 1, 1, 0), ("value", 2, 1, 2), ("file.read", 1, 0, 1)]);
    let seen: Vec<(&str, u32, u64, u64, f64, Option<u32>)> = rows
        .iter()
        .map(|row| (row.class.as_str(), row.age, row.at_risk, row.lost, row.survival, row.half_life))
        .collect();
    // Of four values one is lost at once, of the remaining three one at the second cycle.
    assert_eq!(
        seen,
        [
            ("file.read", 1, 3, 0, 1.0, None),
            ("value", 1, 12, 3, 0.75, Some(2)),
            ("value", 2, 9, 3, 0.5, Some(2)),
            ("structural", 1, 3, 0, 1.0, None),
            ("lexical", 1, 12, 3, 0.75, Some(2)),
            ("lexical", 2, 9, 3, 0.5, Some(2)),
            ("all", 1, 15, 3, 0.8, None),
            ("all", 2, 9, 3, 0.8 * (6.0 / 9.0), None),
        ]
    );
    assert!(rows.iter().all(|row| row.survival_low.is_none()), "three sessions have no interval");
}

#[test]
fn equal_sessions_leave_no_doubt_and_sessions_that_gained_nothing_do_not_count() {
    let rows = run(12, &[("value", 1, 1, 1)]);
    assert_eq!((rows[0].survival_low, rows[0].survival_high, rows[0].n_sessions), (Some(0.5), Some(0.5), 12));
    let idle = SessionRow { exercised: false, ..session("idle", "structured") };
    let output = RunOutput {
        spells: vec![spell(&idle, "value", 1, 1, 0)],
        sessions: vec![idle],
        ..RunOutput::default()
    };
    assert_eq!(aggregate(&output).curves, []);
}
