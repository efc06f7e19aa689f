//! Whether files that a report draws from belong to one run: rows of another run beside cycles look like figures of this one.

use super::RunOutput;
use std::collections::{BTreeMap, BTreeSet};

/// Session, profile, strategy and window in tokens.
type Plan<'a> = (&'a str, &'a str, &'a str, u64);

/// The first thing that shows rows of another run, or the lack of some; `None` when all may be of one.
pub fn fault(run: &RunOutput) -> Option<String> {
    sessions(run).or_else(|| spells(run))
}

fn named((session, profile, strategy, window): Plan<'_>) -> String {
    format!("session {session} under {profile}/{strategy} at {window} tokens")
}

/// Every cycle is of a session that has a row, and there are rows where the run tells of sessions.
fn sessions(run: &RunOutput) -> Option<String> {
    let known: BTreeSet<Plan<'_>> = run
        .sessions
        .iter()
        .map(|row| (row.session.as_str(), row.profile.as_str(), &*row.strategy, row.window))
        .collect();
    let told = run.manifest.sessions;
    if known.is_empty() && told > 0 {
        return Some(format!("sessions.csv has no rows, and run.json tells of {told} sessions"));
    }
    run.cycles
        .iter()
        .map(|row| (row.session.as_str(), row.profile.as_str(), &*row.strategy, row.window))
        .find(|plan| !known.contains(plan))
        .map(|plan| format!("{} has cycles in cycles.csv and no row in sessions.csv", named(plan)))
}

/// What the cycles of a plan allow its spells: facts that were lost, and facts at risk that a summary held.
#[derive(Default)]
struct Room {
    cycles: u64,
    first: u64,
    lost: u64,
    held: u64,
    opaque: bool,
}

/// Spells are as many as the run wrote, of plans that have cycles, last no longer than these, and neither lose nor hold more facts
/// than the cycles tell.
fn spells(run: &RunOutput) -> Option<String> {
    let (rows, told) = (run.spells.len() as u64, run.manifest.spells);
    if told > 0 && rows != told {
        return Some(format!("spells.csv has {rows} rows, and run.json tells of {told}"));
    }
    let mut plans: BTreeMap<Plan<'_>, Room> = BTreeMap::new();
    for row in &run.cycles {
        let plan = (row.session.as_str(), row.profile.as_str(), &*row.strategy, row.window);
        let room = plans.entry(plan).or_default();
        room.cycles += 1;
        if row.cycle == 1 {
            room.first += row.facts_at_risk;
        }
        room.lost += row.facts_at_risk.saturating_sub(row.facts_in_summary);
        room.held += row.facts_in_summary;
        room.opaque |= row.opaque || !row.error.is_empty();
    }
    let mut found: BTreeMap<Plan<'_>, (u64, u64, u64)> = BTreeMap::new();
    for row in &run.spells {
        let plan = (row.session.as_str(), row.profile.as_str(), &*row.strategy, row.window);
        let Some(room) = plans.get(&plan) else {
            return Some(format!("{} has spells in spells.csv and no cycle in cycles.csv", named(plan)));
        };
        if u64::from(row.age) > room.cycles {
            let (age, cycles) = (row.age, room.cycles);
            return Some(format!(
                "{}: a spell of {age} cycles in spells.csv, and {cycles} in cycles.csv",
                named(plan)
            ));
        }
        let (begun, lost, held) = found.entry(plan).or_default();
        *begun += row.lost + row.censored;
        *lost += row.lost;
        // A spell that ends in loss was held in every cycle but the last.
        *held += u64::from(row.age) * row.censored + u64::from(row.age).saturating_sub(1) * row.lost;
    }
    plans.into_iter().filter(|(_, room)| !room.opaque).find_map(|(plan, room)| {
        let (begun, lost, held) = found.get(&plan).copied().unwrap_or_default();
        let wrong = [
            (
                begun < room.first,
                format!("{begun} spells begin, of {} facts at risk in the first cycle", room.first),
            ),
            (lost > room.lost, format!("{lost} facts lost in spells, and {} in cycles.csv", room.lost)),
            (held > room.held, format!("{held} facts held in spells, and {} in cycles.csv", room.held)),
        ];
        let (_, why) = wrong.into_iter().find(|(wrong, _)| *wrong)?;
        Some(format!("{}: spells.csv and cycles.csv are not of one run: {why}", named(plan)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::files::sample;

    fn check(change: fn(&mut RunOutput), expected: &str) {
        let mut run = sample::run(3);
        run.manifest.spells = run.spells.len() as u64;
        // Each spell of the sample ends in its only cycle: what outlasts it is censored there.
        for row in run.spells.iter_mut().filter(|row| row.age == 2) {
            (row.age, row.lost, row.censored) = (1, 0, row.lost + row.censored);
        }
        for row in &mut run.cycles {
            let own =
                run.spells.iter().filter(|it| (&it.session, &it.strategy) == (&row.session, &row.strategy));
            row.facts_in_summary = own.clone().map(|it| it.censored).sum();
            row.facts_at_risk = row.facts_in_summary + own.map(|it| it.lost).sum::<u64>();
        }
        assert_eq!(fault(&run), None);
        change(&mut run);
        let found = fault(&run).unwrap_or_default();
        assert!(found.contains(expected), "{expected}: {found}");
    }

    #[test]
    fn rows_of_another_run_are_found() {
        check(|run| run.sessions.clear(), "sessions.csv has no rows, and run.json tells of 4 sessions");
        check(|run| drop(run.sessions.remove(0)), "no row in sessions.csv");
        check(|run| drop(run.spells.pop()), "run.json tells of");
        check(
            |run| {
                run.manifest.spells = 0;
                run.spells.remove(1);
            },
            "spells begin, of",
        );
        check(|run| run.spells.clear(), "spells.csv has 0 rows");
        check(|run| run.spells[0].session = "other".into(), "no cycle in cycles.csv");
        check(|run| run.spells[0].age = 99, "a spell of 99 cycles");
        check(|run| run.spells[0].lost += 500, "facts lost in spells");
    }
}
