use super::*;
use crate::results::Settings;
use crate::results::files::sample::{cycle, plan, run, session};
use crate::stats::sign_test;

fn output(plans: Vec<(SessionRow, CycleRow)>) -> RunOutput {
    let (sessions, cycles) = plans.into_iter().unzip();
    RunOutput { cycles, sessions, ..RunOutput::default() }
}

fn difference<'a>(aggregate: &'a Aggregate, a: &str, b: &str, metric: &str) -> &'a DifferenceRow {
    aggregate
        .differences
        .iter()
        .find(|row| (row.strategy_a.as_str(), row.strategy_b.as_str(), row.metric.as_str()) == (a, b, metric))
        .unwrap()
}

#[test]
fn macro_and_micro_are_worked_by_hand() {
    let (large, mut large_cycle) = plan("large", "structured", 4, 0);
    (large_cycle.files_modified_kept, large_cycle.files_modified_total) = (90, 100);
    let large = SessionRow { files_modified: Some(0.9), ..large };
    let small = plan("small", "structured", 1, 10);
    let pooled = aggregate(&output(vec![(large, large_cycle), small]));
    let [row] = pooled.summary.as_slice() else { panic!("one contender") };
    assert_eq!((row.n_sessions, row.n_exercised, row.n_cycles, row.files_modified_n), (2, 2, 2, 2));
    assert!((row.files_modified.unwrap() - f64::midpoint(0.9, 0.25)).abs() < 1e-12);
    assert_eq!(row.files_modified_micro, Some(91.0 / 104.0));
    assert_eq!((row.files_modified_kept, row.files_modified_total), (91, 104));
    assert_eq!((row.lexical_survival, row.lexical_survival_low), (Some(0.5), None));
    assert_eq!((row.files_read, row.files_read_micro, row.files_read_n), (None, None, 0));
    // (1.0 + 0.4) / 2 structural facts, for 500 tokens each.
    assert!((row.structural_per_1000.unwrap() - 1.4).abs() < 1e-12);
    assert_eq!(row.tokens_summary_total, 1_000);
    assert_eq!(row.window, "cycles");
}

#[test]
fn sessions_that_were_not_exercised_or_failed_are_counted_and_change_no_mean() {
    let good = plan("good", "structured", 4, 10);
    let (idle, idle_cycle) = plan("idle", "structured", 0, 0);
    let idle = SessionRow { exercised: false, ..idle };
    let idle_cycle = CycleRow { no_gain: true, unfit: true, invented: 9, ..idle_cycle };
    let (failed, failed_cycle) = plan("failed", "structured", 0, 0);
    let failed = SessionRow { error: "panicked".to_owned(), ..failed };
    let failed_cycle = CycleRow { error: "panicked".to_owned(), orphan_calls: 5, ..failed_cycle };
    let pooled = aggregate(&output(vec![good, (idle, idle_cycle), (failed, failed_cycle)]));
    let [row] = pooled.summary.as_slice() else { panic!("one contender") };
    assert_eq!((row.n_sessions, row.n_exercised, row.n_not_exercised, row.n_failed), (3, 1, 1, 1));
    assert_eq!((row.files_modified, row.files_modified_micro), (Some(1.0), Some(1.0)));
    assert_eq!(row.invented, 0);
    assert_eq!((row.violations, row.no_gain, row.orphan_calls, row.unfit, row.n_cycles), (1, 1, 0, 1, 2));
}

#[test]
fn the_kinds_of_violations_add_up_to_their_number() {
    let (session, cycle) = plan("s", "structured", 1, 1);
    let cycle = CycleRow {
        orphan_results: 1,
        orphan_calls: 2,
        duplicate_results: 3,
        empty_blocks: 4,
        no_user_message: true,
        request_absent: true,
        summary_after_tail: true,
        over_budget: true,
        no_gain: true,
        stuck: true,
        tail_facts: 9,
        tail_facts_in_context: 7,
        late_trigger: true,
        ..cycle
    };
    let pooled = aggregate(&output(vec![(session, cycle.clone())]));
    let row = pooled.summary.first().unwrap();
    let kinds = row.orphan_results
        + row.orphan_calls
        + row.duplicate_results
        + row.empty_blocks
        + row.no_user_message
        + row.request_absent
        + row.summary_after_tail
        + row.over_budget
        + row.no_gain
        + row.stuck
        + row.tail_lost;
    assert_eq!((row.violations, kinds), (cycle.violations(), cycle.violations()));
    assert_eq!((row.violations, row.late_triggers), (18, 1));
}

#[test]
fn contenders_come_in_the_order_of_the_settings_and_pairs_in_that_order() {
    let mut output = run(1);
    output.sessions.reverse();
    let pooled = aggregate(&output);
    let order: Vec<&str> = pooled.summary.iter().map(|row| row.strategy.as_str()).collect();
    assert_eq!(order, ["structured", "narrative", "truncate", "emergency"]);
    assert_eq!(pooled.differences.len(), 6 * Metric::ALL.len());
    let first = pooled.differences.first().unwrap();
    assert_eq!((first.strategy_a.as_str(), first.strategy_b.as_str()), ("structured", "narrative"));
    assert_eq!(first.metric, "files_modified");
}

#[test]
fn differences_use_the_sessions_that_both_have() {
    let both = [plan("a", "structured", 4, 8), plan("a", "narrative", 2, 8)];
    let (other, other_cycle) = plan("b", "narrative", 4, 8);
    let other = SessionRow { exercised: false, ..other };
    let plans = both.into_iter().chain([plan("b", "structured", 0, 0), (other, other_cycle)]).collect();
    let pooled = aggregate(&output(plans));
    let row = difference(&pooled, "structured", "narrative", "files_modified");
    assert_eq!((row.mean, row.n, row.n_a, row.n_b, row.ties), (Some(0.5), 1, 1, 0, 0));
    assert_eq!((row.low, row.sign_p), (None, Some(1.0)));
    let row = difference(&pooled, "structured", "narrative", "lexical_survival");
    assert_eq!((row.mean, row.ties, row.sign_p), (Some(0.0), 1, None));
    let row = difference(&pooled, "structured", "narrative", "files_read");
    assert_eq!((row.mean, row.n), (None, 0));
}

#[test]
fn ten_sessions_have_intervals() {
    let pooled = aggregate(&run(12));
    let row = pooled.summary.first().unwrap();
    let (low, mean, high) = (
        row.lexical_survival_low.unwrap(),
        row.lexical_survival.unwrap(),
        row.lexical_survival_high.unwrap(),
    );
    assert!((mean - 0.8).abs() < 1e-12 && low < mean && mean < high && 0.7 <= low && high <= 0.9);
    let row = difference(&pooled, "structured", "emergency", "lexical_survival");
    assert!(row.low.is_some_and(|low| 0.7 <= low) && row.p.is_some_and(|p| p < 1e-6));
    assert_eq!((row.n, row.n_a, row.sign_p), (12, 12, sign_test(12, 0)));
}

#[test]
fn windows_are_kept_apart_even_when_auto_finds_a_given_one() {
    let given = SessionRow { window_source: "given".to_owned(), ..session("s", "structured") };
    let found = SessionRow { window_source: "model-table".to_owned(), ..given.clone() };
    let other = SessionRow { window: 9_000, ..given.clone() };
    let cycles = vec![cycle(&given, 1, 1), cycle(&found, 2, 2), cycle(&other, 3, 3)];
    let manifest = crate::results::Manifest {
        settings: Settings { strategies: vec!["structured".to_owned()], ..Settings::default() },
        ..crate::results::Manifest::default()
    };
    let pooled = aggregate(&RunOutput {
        manifest,
        sessions: vec![given, found, other],
        cycles,
        ..RunOutput::default()
    });
    let rows: Vec<(&str, u64)> =
        pooled.summary.iter().map(|row| (row.window.as_str(), row.files_modified_kept)).collect();
    assert_eq!(rows, [("20000", 1), ("auto", 2), ("9000", 3)]);
    assert!(pooled.differences.is_empty());
}

#[test]
fn nothing_gives_nothing() {
    assert_eq!(aggregate(&RunOutput::default()), Aggregate::default());
}

#[test]
fn a_distribution_tells_what_a_mean_hides() {
    // Half of the sessions keep no modified file, half keep all four.
    let plans = (0..10).map(|idx| plan(&format!("s{idx}"), "structured", if idx < 5 { 0 } else { 4 }, 5));
    let aggregate = aggregate(&output(plans.collect()));
    let row = aggregate.distributions.iter().find(|row| row.metric == "files_modified").expect("a row");
    assert_eq!((row.n, row.none, row.all, row.mean), (10, 5, 5, Some(0.5)));
    assert_eq!(
        (row.lowest, row.p25, row.median, row.p75, row.highest),
        (Some(0.0), Some(0.0), Some(0.5), Some(1.0), Some(1.0))
    );
    // No session has read files at risk.
    let row = aggregate.distributions.iter().find(|row| row.metric == "files_read").expect("a row");
    assert_eq!((row.n, row.none, row.all, row.mean, row.median), (0, 0, 0, None, None));
}

#[test]
fn the_order_of_the_files_changes_no_interval() {
    let forward = run(12);
    let mut backward = forward.clone();
    backward.sessions.reverse();
    let intervals = |output: &RunOutput| {
        let mut rows = aggregate(output).summary;
        rows.sort_by(|a, b| a.strategy.cmp(&b.strategy));
        rows.into_iter()
            .map(|row| (row.lexical_survival_low, row.structural_survival_high))
            .collect::<Vec<_>>()
    };
    assert_eq!(intervals(&forward), intervals(&backward));
}
