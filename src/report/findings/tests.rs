use super::*;
use crate::report::runs::Run;
use crate::results::files::sample::{self, plan};
use crate::results::{ClassRow, RunOutput, ratio};

fn told(output: RunOutput) -> Findings {
    let runs = [Run::new("run".to_owned(), output)];
    findings(&View::new(&runs))
}

fn kinds(findings: &Findings) -> Vec<Kind> {
    findings.shown.iter().map(|it| it.kind).collect()
}

/// Every session goes on for a second compaction, at which the summaries of structured lose as told.
fn twice(output: &mut RunOutput, survival: f64) {
    let first: Vec<_> = output.cycles.clone();
    for mut row in first {
        row.summary_survival = ratio(row.facts_in_summary, row.facts_at_risk);
        let mut second = row.clone();
        second.cycle = 2;
        if row.strategy == "structured" {
            second.summary_survival = row.summary_survival.map(|share| share * survival);
        }
        let place =
            output.cycles.iter_mut().find(|it| (&it.session, &it.strategy) == (&row.session, &row.strategy));
        if let Some(place) = place {
            *place = row;
        }
        output.cycles.push(second);
    }
}

#[test]
fn too_few_sessions_make_no_finding_and_say_so() {
    let findings = told(sample::run(MIN_SESSIONS - 1));
    assert_eq!(findings.shown, []);
    assert_eq!(findings.silent.len(), 4, "{:?}", findings.silent);
    let all = findings.silent.join("\n");
    assert!(
        all.contains("difference between strategies: 9 sessions at the most, and 10 are needed"),
        "{all}"
    );
    assert!(all.contains("needed facts: 9 sessions at the most"), "{all}");
    assert!(all.contains("loss by repetition: no strategy with several compactions"), "{all}");
    assert!(all.contains("worst class: 0 sessions"), "{all}");
}

#[test]
fn nothing_measured_is_no_finding() {
    let findings = told(sample::run(0));
    assert_eq!(findings.shown, []);
    assert_eq!(findings.silent, ["no session was compacted"]);
}

#[test]
fn the_largest_difference_is_told_with_what_it_rests_on() {
    let findings = told(sample::run(12));
    let first = &findings.shown[0];
    assert_eq!(first.kind, Kind::Difference);
    // Structured keeps 3 or 4 of 4 modified files, truncate 0 to 2; emergency, which keeps none, is no rival.
    assert_eq!(first.headline, "structured keeps 66.7 points more of the modified files than truncate");
    assert!(first.detail.contains("better in 12 of 12 sessions, worse in 0"), "{}", first.detail);
    assert!(first.detail.contains("p < 0.001 after Holm over 12 tests"), "{}", first.detail);
    assert!(first.size > 0.6 && first.size < 0.7);
}

#[test]
fn a_difference_within_chance_is_none() {
    let mut output = RunOutput { manifest: sample::run(0).manifest, ..RunOutput::default() };
    output.manifest.sessions_exercised = 12;
    for at in 0..12_u64 {
        for (strategy, kept) in [("structured", 2 + at % 2), ("narrative", 3 - at % 2)] {
            let (session, cycle) = plan(&format!("s{at:02}"), strategy, kept, 5);
            output.sessions.push(session);
            output.cycles.push(cycle);
        }
    }
    let findings = told(output);
    assert!(!kinds(&findings).contains(&Kind::Difference), "{:?}", findings.shown);
    assert!(
        findings.silent.iter().any(|why| why.contains("none that these sessions tell apart from chance"))
    );
}

#[test]
fn broken_rules_come_first_however_few() {
    let mut output = sample::run(12);
    output.cycles[2].orphan_results = 1;
    let findings = told(output);
    assert_eq!(findings.shown[0].kind, Kind::Broken);
    assert_eq!(findings.shown[0].headline, "Compactions broke hard rules once");
    assert!(findings.shown[0].detail.starts_with("tool result without its call 1×; most under truncate (1)"));
    let mut few = sample::run(2);
    few.cycles[0].stuck = true;
    assert_eq!(kinds(&told(few)), [Kind::Broken], "a count needs no interval");
}

#[test]
fn repetition_compares_the_ends_of_the_same_sessions() {
    let mut output = sample::run(12);
    twice(&mut output, 0.5);
    let findings = told(output);
    let found = findings.shown.iter().find(|it| it.kind == Kind::Repetition).expect("a finding");
    assert!(found.headline.contains("structured falls from 84.4 % to 42.2 %"), "{}", found.headline);
    let mut same = sample::run(12);
    twice(&mut same, 1.0);
    assert!(!kinds(&told(same)).contains(&Kind::Repetition));
}

#[test]
fn the_worst_class_is_that_of_the_leading_strategy() {
    let mut output = sample::run(12);
    for (class, kept) in [("command", 1), ("value", 9)] {
        output.classes.extend((0..12).map(|at| ClassRow {
            session: format!("s{at:02}").into(),
            profile: "standard".into(),
            strategy: "structured".into(),
            window: 20_000,
            cycle: 1,
            class: class.into(),
            total: 10,
            at_risk: 10,
            in_summary: kept,
            ..ClassRow::default()
        }));
    }
    let findings = told(output);
    let found = findings.shown.iter().find(|it| it.kind == Kind::Class).expect("a finding");
    assert_eq!(
        found.headline,
        "Of commands the summaries of structured keep 10.0 %, the least of all classes"
    );
    assert!(found.detail.contains("12 of 120 facts"), "{}", found.detail);
}

#[test]
fn no_more_than_three_and_the_larger_first() {
    let mut output = sample::run(12);
    twice(&mut output, 0.2);
    let findings = told(output);
    assert!(findings.shown.len() <= SHOWN);
    assert!(findings.shown.array_windows().all(|[a, b]| a.size >= b.size));
}
