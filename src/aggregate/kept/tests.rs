use super::*;
use crate::aggregate::aggregate;
use crate::results::{RunOutput, SessionRow};

/// Twelve sessions under two strategies that differ in commands, by chance in values, and not at all in errors.
fn sample() -> RunOutput {
    let mut output = RunOutput::default();
    for at in 0..12_u64 {
        for (strategy, command, value) in [("structured", 8, at % 3), ("narrative", 2 + at % 2, 2 - at % 3)] {
            let session = SessionRow {
                session: format!("s{at}").into(),
                strategy: strategy.into(),
                exercised: true,
                ..SessionRow::default()
            };
            for cycle in 1..=2 {
                for (class, at_risk, in_summary) in
                    [("command", 10, command), ("value", 4, value), ("error", 2, 1)]
                {
                    output.classes.push(ClassRow {
                        session: session.session.clone(),
                        strategy: strategy.into(),
                        cycle,
                        class: class.into(),
                        at_risk,
                        in_summary,
                        ..ClassRow::default()
                    });
                }
            }
            output.sessions.push(session);
        }
    }
    output
}

#[test]
fn classes_add_up_to_their_groups_and_cycles() {
    let rows = aggregate(&sample()).kept;
    for strategy in ["structured", "narrative"] {
        let of = |class: &str, cycle| {
            let found = |row: &&KeptRow| row.strategy == strategy && row.class == class && row.cycle == cycle;
            rows.iter().find(found).unwrap_or_else(|| panic!("{class} {cycle:?}"))
        };
        assert_eq!(of("structural", None).in_summary, of("command", None).in_summary);
        assert_eq!(of("lexical", None).at_risk, of("value", None).at_risk + of("error", None).at_risk);
        let by_cycle = of("lexical", Some(1)).in_summary + of("lexical", Some(2)).in_summary;
        assert_eq!(of("lexical", None).in_summary, by_cycle);
        assert_eq!((of("error", None).survival, of("error", None).micro), (Some(0.5), Some(0.5)));
        assert!(of("value", None).low.is_some(), "twelve sessions have an interval");
    }
}

#[test]
fn differences_by_class_are_one_family() {
    let rows = aggregate(&sample()).differences;
    let of =
        |metric: &str| rows.iter().find(|row| row.metric == metric).unwrap_or_else(|| panic!("{metric}"));
    let (command, value, error) = (of("survival.command"), of("survival.value"), of("survival.error"));
    assert!(command.p_holm.is_some_and(|p| p < 0.001) && command.n_a == 12, "{command:?}");
    assert!(value.p_holm.is_some_and(|p| p > 0.05), "{value:?}");
    assert_eq!((error.mean, error.ties), (Some(0.0), 12));
    // The smallest of the family weighs as often as there are tests in it.
    let tests = [command, value, error].iter().filter(|row| row.p.is_some()).count() as f64;
    let expected = command.p.map(|p| (p * tests).min(1.0));
    assert_eq!(command.p_holm, expected);
    assert!(rows.iter().filter(|row| !row.metric.starts_with("survival.")).all(|row| row.p_holm.is_none()));
}

#[test]
fn equal_strategies_differ_by_exactly_nothing() {
    let mut output = sample();
    output.sessions.retain(|row| row.strategy == "structured");
    output.classes.retain(|row| row.strategy == "structured");
    let again = output.clone();
    output
        .sessions
        .extend(again.sessions.into_iter().map(|row| SessionRow { strategy: "twin".into(), ..row }));
    output.classes.extend(again.classes.into_iter().map(|row| ClassRow { strategy: "twin".into(), ..row }));
    for row in aggregate(&output).differences.iter().filter(|row| row.metric.starts_with("survival.")) {
        assert_eq!(
            (row.mean, row.low, row.high, row.ties),
            (Some(0.0), Some(0.0), Some(0.0), 12),
            "{}",
            row.metric
        );
    }
}
