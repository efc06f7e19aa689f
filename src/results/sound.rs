//! Whether the rows of a run belong together: nothing cut off, added or changed by hand.
//!
//! Verdicts rest on these rows. A file that lost its end, or a value that no run can have, must not look like a good one.

use super::{CLASSES, CycleRow, RunOutput, SessionRow};
use std::collections::{BTreeMap, BTreeSet};

/// No count of a run is larger than this.
pub const MOST: u64 = 1 << 40;

/// The first thing that cannot be; `None` when all is sound.
pub fn fault(run: &RunOutput) -> Option<String> {
    sessions(run)
        .or_else(|| cycles(run))
        .or_else(|| derived(run))
        .or_else(|| needed(run))
        .or_else(|| classes(run))
        .or_else(|| facts(run))
}

/// A file of facts that is gone is another matter: nothing but losses rests on it ([`RunOutput::lacks_facts`]).
fn facts(run: &RunOutput) -> Option<String> {
    let (rows, told) = (run.facts.len() as u64, run.manifest.facts);
    (rows > 0 && told > 0 && rows != told)
        .then(|| format!("facts.csv has {rows} rows, and run.json tells of {told}"))
}

type Plan<'a> = (&'a str, &'a str, &'a str, u64);

fn plan<'a>(session: &'a str, profile: &'a str, strategy: &'a str, window: u64) -> Plan<'a> {
    (session, profile, strategy, window)
}

fn named((session, profile, strategy, _): Plan<'_>) -> String {
    format!("session {session} under {profile}/{strategy}")
}

fn sessions(run: &RunOutput) -> Option<String> {
    let mut reached: BTreeMap<Plan<'_>, u64> = BTreeMap::new();
    let mut seen: BTreeSet<(Plan<'_>, &str)> = BTreeSet::new();
    for row in &run.sessions {
        let plan = plan(&row.session, &row.profile, &row.strategy, row.window);
        if !seen.insert((plan, &row.window_source)) {
            return Some(format!("{} stands twice in sessions.csv", named(plan)));
        }
        if let Some((name, value)) = shares(row).into_iter().find(|(_, value)| !(0.0..=1.0).contains(value)) {
            return Some(format!("{}: {name} is {value}, no share", named(plan)));
        }
        if let Some((name, value)) = figures(row).into_iter().find(|(_, value)| !value.is_finite()) {
            return Some(format!("{}: {name} is {value}, no number", named(plan)));
        }
        let within = [
            ("prompt_tokens", row.prompt_tokens, row.total_tokens, "total_tokens"),
            ("cached_tokens", row.cached_tokens, row.prompt_tokens, "prompt_tokens"),
            ("total_tokens", row.total_tokens, MOST, "all there can be"),
        ];
        if let Some((name, part, whole, of)) = within.into_iter().find(|(_, part, whole, _)| whole < part) {
            return Some(format!("{}: {name} is {part}, more than {of} ({whole})", named(plan)));
        }
        if let Some((name, value)) =
            prices(row).into_iter().find(|(_, value)| !(0.0..f64::MAX).contains(value))
        {
            return Some(format!("{}: {name} is {value}, no price", named(plan)));
        }
        if row.error.is_empty() {
            *reached.entry(plan).or_default() += row.cycles_reached;
        }
    }
    // Cycles in which nothing could leave, or not enough, and nothing did, are none that a session reached.
    let reached_by = |row: &&CycleRow| {
        row.error.is_empty() && (!(row.unfit || row.uncut) || row.tokens_after < row.tokens_before)
    };
    let mut found: BTreeMap<Plan<'_>, u64> = BTreeMap::new();
    for row in run.cycles.iter().filter(reached_by) {
        *found.entry(plan(&row.session, &row.profile, &row.strategy, row.window)).or_default() += 1;
    }
    reached.into_iter().find_map(|(plan, cycles)| {
        let rows = found.get(&plan).copied().unwrap_or(0);
        (rows != cycles)
            .then(|| format!("{} has {cycles} cycles in sessions.csv and {rows} in cycles.csv", named(plan)))
    })
}

fn shares(row: &SessionRow) -> Vec<(&'static str, f64)> {
    let all = [
        ("files_modified", row.files_modified),
        ("files_read", row.files_read),
        ("structural_survival", row.structural_survival),
        ("lexical_survival", row.lexical_survival),
        ("summary_survival", row.summary_survival),
        ("needed_survival", row.needed_survival),
        ("context_survival", row.context_survival),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// What may be larger than 1.
fn figures(row: &SessionRow) -> Vec<(&'static str, f64)> {
    let all = [
        ("tool_share", row.tool_share),
        ("repeat_rate", row.repeat_rate),
        ("recorded_over_counted", row.recorded_over_counted),
        ("summary_survival_last", row.summary_survival_last),
        ("tokens_summary", row.tokens_summary),
        ("reduction", row.reduction),
        ("estimator_error", row.estimator_error),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Not negative, and finite.
fn prices(row: &SessionRow) -> Vec<(&'static str, f64)> {
    let all = [
        ("cost_units", Some(row.cost_units)),
        ("cost_5m", row.cost_5m),
        ("cost_1h", row.cost_1h),
        ("cost_marked_5m", row.cost_marked_5m),
        ("cost_marked_1h", row.cost_marked_1h),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The share of needed facts of a session is the mean of those of its cycles that are not biased.
fn needed(run: &RunOutput) -> Option<String> {
    let mut of_cycles: BTreeMap<Plan<'_>, Vec<f64>> = BTreeMap::new();
    for row in run.cycles.iter().filter(|row| !row.needed_biased) {
        let plan = plan(&row.session, &row.profile, &row.strategy, row.window);
        of_cycles.entry(plan).or_default().extend(row.needed_survival);
    }
    run.sessions.iter().filter(|row| row.error.is_empty() && row.exercised).find_map(|row| {
        let plan = plan(&row.session, &row.profile, &row.strategy, row.window);
        let shares = of_cycles.get(&plan).map(Vec::as_slice).unwrap_or_default();
        let mean = crate::stats::mean(shares);
        let same = match (row.needed_survival, mean) {
            (Some(told), Some(mean)) => (told - mean).abs() < ROUNDED,
            (told, mean) => told.is_none() == mean.is_none(),
        };
        let shown = |share: Option<f64>| share.map_or("empty".to_owned(), |share| format!("{share:.6}"));
        (!same).then(|| {
            let told = row.needed_survival.map_or("empty".to_owned(), |share| share.to_string());
            let cycles = shown(mean);
            format!("{}: needed_survival is {told} in sessions.csv and {cycles} by cycles.csv", named(plan))
        })
    })
}

/// Figures have six decimals.
const ROUNDED: f64 = 2e-6;

/// Shares of a cycle that nothing is added up from.
fn derived(run: &RunOutput) -> Option<String> {
    run.cycles.iter().find_map(|row| {
        let all = [
            ("structural_survival", row.structural_survival),
            ("lexical_survival", row.lexical_survival),
            ("needed_survival", row.needed_survival),
        ];
        let shares = all.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let (name, value) = shares.into_iter().find(|(_, value)| !(0.0..=1.0).contains(value))?;
        let plan = plan(&row.session, &row.profile, &row.strategy, row.window);
        Some(format!("{}, cycle {}: {name} is {value}, no share", named(plan), row.cycle))
    })
}

fn cycles(run: &RunOutput) -> Option<String> {
    run.cycles.iter().find_map(|row| {
        let wrong = pairs(row).into_iter().find(|(_, part, whole)| whole < part || MOST < *whole);
        let (name, part, whole) = wrong?;
        let plan = plan(&row.session, &row.profile, &row.strategy, row.window);
        Some(format!("{}, cycle {}: {name} is {part} of {whole}", named(plan), row.cycle))
    })
}

/// Parts with their wholes; amounts are of the largest there can be.
fn pairs(row: &CycleRow) -> [(&'static str, u64, u64); 17] {
    [
        ("files_modified_kept", row.files_modified_kept, row.files_modified_total),
        ("files_read_kept", row.files_read_kept, row.files_read_total),
        ("structural_in_summary", row.structural_in_summary, row.structural_at_risk),
        ("lexical_in_summary", row.lexical_in_summary, row.lexical_at_risk),
        ("facts_in_summary", row.facts_in_summary, row.facts_at_risk),
        ("facts_needed_in_summary", row.facts_needed_in_summary, row.facts_needed),
        ("facts_in_context", row.facts_in_context, row.facts_total),
        ("facts_held_still", row.facts_held_still, row.facts_held),
        ("tokens_summary", row.tokens_summary, MOST),
        ("requests", row.requests, MOST),
        ("prompt_tokens", row.prompt_tokens, MOST),
        ("invented", row.invented, MOST),
        ("stale", row.stale, MOST),
        ("orphan_results", row.orphan_results, MOST),
        ("orphan_calls", row.orphan_calls, MOST),
        ("duplicate_results", row.duplicate_results, MOST),
        ("empty_blocks", row.empty_blocks, MOST),
    ]
}

fn classes(run: &RunOutput) -> Option<String> {
    let mut sums: BTreeMap<Plan<'_>, (u64, u64)> = BTreeMap::new();
    for row in &run.classes {
        let plan = plan(&row.session, &row.profile, &row.strategy, row.window);
        if row.at_risk < row.in_summary || MOST < row.at_risk {
            let (kept, all) = (row.in_summary, row.at_risk);
            return Some(format!(
                "{}, cycle {}: {kept} of {all} of class {}",
                named(plan),
                row.cycle,
                row.class
            ));
        }
        if !CLASSES.contains(&&*row.class) {
            return Some(format!("{}: `{}` is no class of facts", named(plan), row.class));
        }
        sums.entry(plan).or_default().0 += row.at_risk;
    }
    for row in run.cycles.iter().filter(|row| row.error.is_empty()) {
        let plan = plan(&row.session, &row.profile, &row.strategy, row.window);
        sums.entry(plan).or_default().1 += row.facts_at_risk;
    }
    sums.into_iter().find_map(|(plan, (classes, cycles))| {
        (classes != cycles).then(|| {
            format!("{}: {classes} facts at risk in classes.csv and {cycles} in cycles.csv", named(plan))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::ClassRow;
    use crate::results::files::sample;

    /// A run with classes, as a real one has them.
    fn run() -> RunOutput {
        let mut run = sample::run(3);
        let row = |cycle: &CycleRow, class: &'static str, at_risk, in_summary| ClassRow {
            session: cycle.session.clone(),
            profile: cycle.profile.clone(),
            strategy: cycle.strategy.clone(),
            window: cycle.window,
            cycle: cycle.cycle,
            class: class.into(),
            at_risk,
            in_summary,
            ..ClassRow::default()
        };
        let rows = |cycle: &CycleRow| {
            [
                row(cycle, "file.modified", cycle.structural_at_risk, cycle.structural_in_summary),
                row(cycle, "value", cycle.lexical_at_risk, cycle.lexical_in_summary),
            ]
        };
        run.classes = run.cycles.iter().flat_map(rows).collect();
        run
    }

    fn check(change: fn(&mut RunOutput), expected: &str) {
        let mut run = run();
        assert_eq!(fault(&run), None);
        change(&mut run);
        let found = fault(&run).unwrap();
        assert!(found.contains(expected), "{found}");
    }

    #[test]
    fn what_no_run_can_have_is_found() {
        check(|run| drop(run.cycles.pop()), "has 1 cycles in sessions.csv and 0 in cycles.csv");
        check(|run| run.sessions.push(run.sessions[0].clone()), "stands twice in sessions.csv");
        check(|run| run.classes.clear(), "0 facts at risk in classes.csv");
        check(|run| run.cycles[0].facts_in_summary = 100, "facts_in_summary is 100 of 15");
        check(|run| run.cycles[0].prompt_tokens = u64::MAX, "prompt_tokens is ");
        check(|run| run.sessions[0].lexical_survival = Some(f64::NAN), "lexical_survival is NaN, no share");
        check(|run| run.sessions[0].lexical_survival = Some(1.5), "lexical_survival is 1.5, no share");
        check(
            |run| run.cycles[0].needed_survival = Some(f64::NAN),
            "cycle 1: needed_survival is NaN, no share",
        );
        check(
            |run| run.sessions[0].needed_survival = Some(0.2),
            "needed_survival is 0.2 in sessions.csv and 1.000000",
        );
        check(|run| run.sessions[0].needed_survival = None, "needed_survival is empty in sessions.csv");
        check(|run| run.sessions[0].prompt_tokens = 5, "prompt_tokens is 5, more than total_tokens (0)");
        check(|run| run.sessions[0].cost_5m = Some(-1.0), "cost_5m is -1, no price");
        check(|run| run.sessions[0].reduction = Some(f64::INFINITY), "reduction is inf, no number");
        check(|run| run.classes[0].in_summary = 9, "9 of 5 of class file.modified");
        check(|run| run.classes[0].class = "files".into(), "`files` is no class of facts");
    }
}
