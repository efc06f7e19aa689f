use super::choose::better;
use super::grid::Grid;
use super::record::Found;
use super::space::Base;
use super::*;
use crate::discover::discover;
use crate::profile::Profile;
use crate::summarize::extractive::Extractive;
use std::path::{Path, PathBuf};

fn logs(names: &[&str]) -> Discovered {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    discover(&names.iter().map(|name| root.join(name)).collect::<Vec<PathBuf>>())
}

fn space(settings: &[&str]) -> Space {
    let mut grid = Grid::default();
    grid.set(&settings.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()).unwrap();
    let table = Profile::table_of("standard").expect("an embedded profile");
    Space::new(&grid, vec![Base { name: "standard".to_owned(), table, embedded: true }], 5).unwrap()
}

fn settings() -> TuneSettings {
    TuneSettings {
        objective: Metric::Context,
        max_tokens: None,
        held_out: 0.3,
        search: Search::Grid,
        schedule: ScheduleMode::Locked,
        tokenizer: Tokenizer::O200k,
        jobs: 1,
        writer: None,
    }
}

fn tuned(logs: &Discovered, space: &Space, settings: &TuneSettings) -> Tuning {
    tune(logs, space, settings, &Extractive, &|_, _| {}).expect("threads")
}

/// A small search, for those who write one down.
pub(crate) fn small<T>(told: impl FnOnce(Found<'_>) -> T) -> T {
    let (space, settings) = (space(&["keep.tokens=4k", "strategy=structured,truncate"]), settings());
    let tuning = tuned(&logs(&["pi"]), &space, &settings);
    told(Found { space: &space, settings: &settings, tuning: &tuning })
}

#[test]
fn threads_and_the_order_of_files_change_nothing() {
    let space = space(&["keep.tokens=4k,20k", "strategy=structured,truncate"]);
    let one = tuned(&logs(&["pi", "codex"]), &space, &settings());
    assert!(one.sides[0].measured > 0);
    assert_eq!(tuned(&logs(&["pi", "codex"]), &space, &TuneSettings { jobs: 3, ..settings() }), one);
    let other = tuned(&logs(&["codex", "pi"]), &space, &settings());
    assert_eq!((&other.candidates, other.chosen), (&one.candidates, one.chosen));
}

#[test]
fn what_else_is_read_moves_no_session() {
    let space = space(&["keep.tokens=4k"]);
    let sides = |names: &[&str]| tuned(&logs(names), &space, &settings()).sides;
    let (pi, claude, both) = (sides(&["pi"]), sides(&["claude-code"]), sides(&["pi", "claude-code"]));
    for ((pi, claude), both) in pi.iter().zip(claude).zip(both) {
        let sum = SideCount {
            sessions: pi.sessions + claude.sessions,
            measured: pi.measured + claude.measured,
            failed: pi.failed + claude.failed,
            idle: pi.idle + claude.idle,
            bare: pi.bare + claude.bare,
        };
        assert_eq!(both, sum);
    }
    assert_eq!(both[0].sessions + both[1].sessions, 7);
}

#[test]
fn halving_chooses_what_the_grid_chooses() {
    let all = logs(&[""]);
    let space =
        space(&["trigger.limit.share=0.65,0.8", "keep.tokens=4k,12k,20k", "strategy=structured,emergency"]);
    for objective in [Metric::Context, Metric::Summary] {
        let grid = tuned(&all, &space, &TuneSettings { objective, held_out: 0.0, ..settings() });
        let halving = TuneSettings { objective, held_out: 0.0, search: Search::Halving, ..settings() };
        let halving = tuned(&all, &space, &halving);
        assert_eq!(
            (halving.chosen, halving.verdict, halving.sides),
            (grid.chosen, grid.verdict, grid.sides),
            "{objective:?}"
        );
        // It saved work, and what went on to the end was measured on the same sessions.
        assert!(halving.steps.first().is_some_and(|step| step.kept < step.tried), "{:?}", halving.steps);
        let dropped = halving.candidates.iter().filter(|one| one.bar == Some(Bar::Dropped)).count();
        assert!(dropped >= space.combinations.len() / 2 - 1, "{dropped}");
        for (ours, theirs) in halving.candidates.iter().zip(&grid.candidates) {
            if ours.bar != Some(Bar::Dropped) {
                assert_eq!((&ours.dev, &ours.score), (&theirs.dev, &theirs.score));
            }
        }
    }
}

#[test]
fn the_best_is_the_best_of_those_that_may_win() {
    let space = space(&["keep.tokens=4k,12k,20k", "strategy=structured,truncate,emergency"]);
    let tuning = tuned(&logs(&[""]), &space, &settings());
    let by_hand = tuning
        .candidates
        .iter()
        .enumerate()
        .filter(|(_, one)| one.bar.is_none())
        .min_by(|a, b| better((a.0, &a.1.score), (b.0, &b.1.score)))
        .map(|(at, _)| at);
    assert!(by_hand.is_some());
    assert_eq!(tuning.chosen, by_hand);
    let ranks: Vec<usize> = tuning.candidates.iter().filter_map(|one| one.rank).collect();
    assert_eq!(ranks.iter().sum::<usize>(), (1..=ranks.len()).sum::<usize>(), "each rank once");
    // The setting that is there is its own difference.
    let present = &tuning.candidates[0];
    assert_eq!(present.difference.difference.mean, Some(0.0));
    assert_eq!(present.score.value, present.dev.metric(Metric::Context).mean);
}

#[test]
fn a_limit_on_tokens_holds() {
    let space = space(&["keep.tokens=2k,20k"]);
    let all = logs(&[""]);
    let free = tuned(&all, &space, &settings());
    let least = free.candidates[1].score.tokens.expect("tokens").ceil() as u64;
    assert!((least as f64) < free.candidates[0].score.tokens.expect("tokens"));
    let tight = tuned(&all, &space, &TuneSettings { max_tokens: Some(least), ..settings() });
    assert_eq!(tight.candidates[0].bar, Some(Bar::Dear));
    assert_eq!((tight.chosen, tight.verdict, tight.recommended), (Some(1), Verdict::PresentIsBarred, 1));
    let none = tuned(&all, &space, &TuneSettings { max_tokens: Some(1), ..settings() });
    assert_eq!((none.chosen, none.verdict, none.recommended), (None, Verdict::NothingFits, 0));
}
