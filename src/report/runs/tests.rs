use super::*;
use crate::results::files::sample;

fn runs(labels: &[&str]) -> Vec<Run> {
    labels.iter().map(|label| Run::new((*label).to_owned(), sample::run(12))).collect()
}

#[test]
fn directories_are_named_by_what_tells_them_apart() {
    let check = |paths: &[&str], expect: &[&str]| {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        assert_eq!(labels(&paths), expect);
    };
    check(&["/tmp/out/main"], &["main"]);
    check(&["./old/", "new"], &["old", "new"]);
    check(&["a/results", "b/results"], &["a/results", "b/results"]);
    check(&["results", "results"], &["results", "results (2)"]);
    check(&["."], &["run"]);
}

#[test]
fn runs_of_other_rules_or_tokens_do_not_mix() {
    let mut two = runs(&["old", "new"]);
    assert_eq!(unlike(&two), None);
    assert_eq!(unlike(&[]), None);
    two[1].output.manifest.settings.tokenizer = "heuristic".to_owned();
    let why = unlike(&two).expect("a refusal");
    assert!(why.contains("old counts tokens with o200k, new with heuristic"), "{why}");
    two[1].output.manifest.scorer_version += 1;
    assert!(unlike(&two).expect("a refusal").contains("of the rules"));
}

#[test]
fn names_hold_what_differs_and_no_more() {
    let one = runs(&["only"]);
    let view = View::new(&one);
    let names: Vec<&str> = view.contenders.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["structured", "narrative", "truncate", "emergency"]);
    assert_eq!((view.panels.len(), view.leads.clone()), (1, vec![0]));

    let two = runs(&["old", "new"]);
    let view = View::new(&two);
    assert_eq!(view.contenders[4].name, "new · structured");
    assert_eq!((view.contenders[4].short.as_str(), view.contenders[4].series), ("structured", 0));
    let titles: Vec<&str> = view.panels.iter().map(|panel| panel.title.as_str()).collect();
    assert_eq!(titles, ["old", "new"], "eight curves are two charts");
    assert_eq!(view.leads, [0, 4]);
}

#[test]
fn rows_find_their_contender() {
    let one = runs(&["only"]);
    let view = View::new(&one);
    let sessions: Vec<usize> = view.sessions(0).map(|(at, _)| at).collect();
    assert_eq!(sessions.len(), 13 * 4, "the short session as well");
    assert_eq!(sessions.get(..4), Some(&[0, 1, 2, 3][..]));
    assert_eq!(view.cycles(0).filter(|(at, _)| *at == 2).count(), 12);
    assert_eq!(view.contender_of(0, "s00", "standard", "truncate", 20_000), Some(2));
    assert_eq!(view.contender_of(0, "s00", "standard", "truncate", 1), None);
    assert_eq!(view.sessions(7).count(), 0);
}

#[test]
fn a_window_given_and_found_is_two_contenders() {
    let mut output = sample::run(2);
    let twice: Vec<SessionRow> = output
        .sessions
        .iter()
        .map(|row| SessionRow { window_source: "given".to_owned(), ..row.clone() })
        .collect();
    output.sessions.extend(twice);
    output.cycles.extend(output.cycles.clone());
    let runs = [Run::new("r".to_owned(), output)];
    let view = View::new(&runs);
    assert_eq!(view.contenders.len(), 8);
    assert!((0..8).all(|at| view.cycles(0).filter(|(of, _)| *of == at).count() == 2));
}

#[test]
fn a_verdict_names_the_worst_reasons_and_counts_the_rest() {
    let run = sample::run(12);
    let side = gate::Side::new(&run);
    let rule = "[[rule]]\nmetric = 'lexical_survival'\nmin = 0.999\nstrategy = 'structured'\n";
    let judged = |rules: usize| {
        let policy = gate::policy::Policy::parse(&rule.repeat(rules)).expect("a policy");
        let outcome = gate::judge(&side, None, &policy);
        [Verdict::of(&outcome), Verdict::without_names(&outcome)].map(|verdict| verdict.reasons)
    };
    for reasons in judged(REASONS) {
        assert_eq!(reasons.len(), REASONS, "{reasons:?}");
    }
    for reasons in judged(1_000) {
        assert_eq!(reasons.len(), REASONS + 1);
        assert!(reasons.last().is_some_and(|last| last.starts_with("and 980 checks more")), "{reasons:?}");
    }
}

#[test]
fn every_class_has_a_place() {
    let sorted = |mut classes: [&'static str; 14]| {
        classes.sort_unstable();
        classes
    };
    assert_eq!(sorted(CLASSES), sorted(crate::results::CLASSES));
}
