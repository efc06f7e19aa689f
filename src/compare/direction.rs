//! What the differences of a contender come to.

use super::{AmountChange, Direction, Finding};
use crate::aggregate::across::ChangeRow;
use crate::aggregate::scores::Contender;
use crate::stats::MIN_SESSIONS;
use std::collections::BTreeSet;

/// A difference counts as measurable below this chance of being none.
const ALPHA: f64 = 0.05;

/// By contender, in the order of the rows. Headlines and hard invariants decide; classes and other amounts are shown, and decide
/// nothing. `unequal` are those of which some count differs.
pub(super) fn findings(
    rows: &[ChangeRow],
    amounts: &[AmountChange],
    unequal: &BTreeSet<Contender>,
) -> Vec<Finding> {
    let family = rows.iter().filter(|row| row.is_headline() && row.p.is_some()).count();
    let mut contenders: Vec<Contender> = Vec::new();
    for row in rows {
        let contender = of(row);
        if !contenders.contains(&contender) {
            contenders.push(contender);
        }
    }
    let finding = |contender: Contender| {
        let rows: Vec<&ChangeRow> = rows.iter().filter(|row| of(row) == contender).collect();
        let rose: Vec<String> = amounts
            .iter()
            .filter(|row| row.invariant && row.before < row.after)
            .filter(|row| {
                (&row.profile, &row.strategy, &row.window)
                    == (&contender.profile, &contender.strategy, &contender.window)
            })
            .map(|row| row.amount.clone())
            .collect();
        one(contender, &rows, rose, family, unequal)
    };
    contenders.into_iter().map(finding).collect()
}

fn of(row: &ChangeRow) -> Contender {
    Contender { profile: row.profile.clone(), strategy: row.strategy.clone(), window: row.window.clone() }
}

fn one(
    contender: Contender,
    rows: &[&ChangeRow],
    rose: Vec<String>,
    family: usize,
    unequal: &BTreeSet<Contender>,
) -> Finding {
    let moved = |row: &&&ChangeRow| row.better + row.worse > 0;
    let headlines = || rows.iter().filter(|row| row.is_headline()).filter(moved);
    let of_sign = |up: bool| -> Vec<String> {
        let rows = headlines().filter(|row| is_measurable(row));
        let rows = rows.filter(|row| row.mean.is_some_and(|mean| if up { mean > 0.0 } else { mean < 0.0 }));
        rows.map(|row| row.metric.clone()).collect()
    };
    let (better, mut worse) = (of_sign(true), of_sign(false));
    worse.extend(rose);
    let too_few: Vec<String> = headlines()
        .filter(|row| !is_measurable(row) && can_never_tell(row.n, family))
        .map(|row| row.metric.clone())
        .collect();
    let measured = rows.iter().any(|row| row.n > 0);
    let differs = rows.iter().any(|row| row.better + row.worse > 0) || unequal.contains(&contender);
    let tested = headlines().count() > too_few.len();
    let sessions = rows.iter().map(|row| row.n).max().unwrap_or(0);
    let direction = match (better.is_empty(), worse.is_empty()) {
        (false, true) => Direction::Better,
        (true, false) => Direction::Worse,
        (false, false) => Direction::Mixed,
        _ if !measured => Direction::NotMeasured,
        _ if !differs => Direction::Identical,
        // Where no headline moved, what did has no test: as many sessions are asked for.
        _ if !tested && (!too_few.is_empty() || can_never_tell(sessions, 1)) => Direction::TooFewSessions,
        _ => Direction::WithinChance,
    };
    Finding {
        profile: contender.profile,
        strategy: contender.strategy,
        window: contender.window,
        direction,
        better,
        worse,
        too_few,
    }
}

fn is_measurable(row: &ChangeRow) -> bool {
    row.p_holm.is_some_and(|p| p < ALPHA)
}

/// The sign test of few sessions has a smallest p, that of all of them differing the same way: where even that, corrected for so
/// many tests, is no sign, nothing can be told. Below 6 sessions that is so for a single test.
fn can_never_tell(sessions: u64, family: usize) -> bool {
    let smallest = 2.0 * 0.5_f64.powi(i32::try_from(sessions).unwrap_or(i32::MAX));
    sessions < MIN_SESSIONS as u64 && ALPHA <= smallest * family.max(1) as f64
}
