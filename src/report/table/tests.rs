use super::*;
use crate::aggregate::aggregate;
use crate::report::text::width;
use crate::results::files::sample::{plan, run, session};
use crate::results::{CycleRow, Problem};
use insta::assert_snapshot;

fn rendered(output: &RunOutput, width: usize) -> String {
    render(output, &aggregate(output), Look { width, color: false, saved: None })
}

#[test]
fn three_sessions_at_80_columns() {
    assert_snapshot!(rendered(&run(3), 80));
}

#[test]
fn twelve_sessions_at_100_columns() {
    assert_snapshot!(rendered(&run(12), 100));
}

#[test]
fn nothing_measured_says_so_and_why() {
    let mut output = RunOutput::default();
    output.manifest.files = 2;
    output.manifest.sessions = 1;
    output.manifest.sessions_not_exercised = 1;
    output.manifest.settings.windows = vec!["128000".to_owned()];
    let idle = SessionRow { exercised: false, cycles_reached: 0, ..session("idle", "structured") };
    output.sessions = vec![SessionRow { window: 128_000, window_source: "given".to_owned(), ..idle }];
    output.manifest.problems = vec![Problem {
        source: "logs/photo.jsonl".to_owned(),
        code: "unknown-format".to_owned(),
        severity: "lost".to_owned(),
        text: "not a log of any known agent; give a file that one of them wrote".to_owned(),
        ..Problem::default()
    }];
    assert_snapshot!(rendered(&output, 80));
    let nothing = rendered(&RunOutput::default(), 80);
    assert!(nothing.contains("Nothing was measured"), "{nothing}");
}

#[test]
fn blocks_rules_failures_and_long_lists() {
    let mut output = RunOutput::default();
    output.manifest.settings = Settings {
        profiles: vec!["standard".to_owned(), "mine".to_owned()],
        windows: vec!["20000".to_owned(), "auto".to_owned()],
        horizon_calls: 50,
        ..Settings::default()
    };
    for (source, window) in [("given", 20_000), ("model-table", 128_000)] {
        for (strategy, kept) in [("truncate", 1), ("none", 1)] {
            let (session, cycle) = plan("a", strategy, kept, 5);
            output.sessions.push(SessionRow { window, window_source: source.to_owned(), ..session });
            output.cycles.push(CycleRow { window, orphan_calls: 2, stuck: true, unfit: true, ..cycle });
        }
    }
    let (failed, _) = plan("b", "truncate", 0, 0);
    let error = "panicked: \u{1b}[31mindex".to_owned();
    output.sessions.push(SessionRow { error, window_source: "given".to_owned(), ..failed });
    for idx in 0..12 {
        let idle = SessionRow { exercised: false, ..session(&format!("idle{idx:02}"), "truncate") };
        output.sessions.push(SessionRow { window_source: "given".to_owned(), ..idle });
    }
    output.manifest.problems = vec![Problem { severity: "note".to_owned(), ..Problem::default() }; 3];
    assert_snapshot!(rendered(&output, 80));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let mut output = run(12);
    for cycle in &mut output.cycles {
        cycle.empty_blocks = 12_345;
    }
    for (idx, session) in output.sessions.iter_mut().enumerate() {
        if idx % 7 == 3 {
            session.lexical_survival = None;
        }
        session.tokens_summary = session.tokens_summary.map(|_| 12_345.0);
    }
    for columns in [80, 81, 93, 100, 140] {
        let page = rendered(&output, columns);
        for line in page.lines() {
            assert!(width(line) <= columns, "{columns}: {line}");
            assert_eq!(line.trim_end(), line);
        }
    }
}

#[test]
fn color_only_repeats_the_words() {
    let output = run(3);
    let look = Look { width: 80, color: true, saved: Some("out") };
    let colored = render(&output, &aggregate(&output), look);
    assert!(colored.contains("\u{1b}[1m\u{1b}[32mbest\u{1b}[0m"), "{colored:?}");
    let plain = anstream::adapter::strip_str(&colored).to_string();
    assert_eq!(plain, render(&output, &aggregate(&output), Look { color: false, ..look }));
    assert!(plain.ends_with("Results: out\nMore: --log-facts adds the fate of every fact.\n"), "{plain}");
}

#[test]
fn a_lead_that_may_be_chance_is_called_so() {
    let level = "Not told apart from the best by these sessions (5 % level, corrected by Holm): ";
    let of = |output: &RunOutput| {
        let page = rendered(output, 140);
        page.lines().find_map(|line| Some(line.strip_prefix(level)?.to_owned()))
    };
    assert_eq!(of(&run(12)), None, "every session agrees");
    assert_eq!(
        of(&run(3)).as_deref(),
        Some("narrative, truncate, emergency."),
        "three sessions prove nothing"
    );
    // One session of twelve makes all of the difference between the first two.
    let mut close = RunOutput::default();
    for idx in 0..12 {
        for (strategy, lexical) in
            [("structured", 5 + u64::from(idx == 0)), ("narrative", 5), ("truncate", 0)]
        {
            let (session, cycle) = plan(&format!("s{idx}"), strategy, 3, lexical);
            close.sessions.push(session);
            close.cycles.push(cycle);
        }
    }
    assert_eq!(of(&close).as_deref(), Some("narrative."));
}
