use super::*;
use crate::aggregate::scores::scores;
use crate::gate::policy::Policy;
use crate::gate::{JudgedBy, Side, judge, self_test::trials};
use crate::results::files::sample;

const LOOK: Look<'_> = Look { width: 100, color: false, saved: None };

/// A run whose structured sessions lost two lexical facts each, judged; the names try to break out.
fn worse() -> Outcome {
    let run = sample::run(12);
    let before = Side::new(&run);
    let mut now = before.clone();
    for score in now.scores.iter_mut().filter(|score| score.contender.strategy == "structured") {
        score.shares.iter_mut().filter(|share| share.total == 10).for_each(|share| share.kept -= 2);
    }
    let mut before = before;
    for side in [&mut before, &mut now] {
        for score in &mut side.scores {
            score.session = format!("{}|<b>::error::\n\u{1b}[31m,x", score.session);
        }
    }
    let policy = "[[rule]]\nmetric = 'lexical_survival'\nmax_drop = 0.05\n[[rule]]\nmetric = 'files_read'\nmin = 0.5\nstrategy = 'structured'\n";
    judge(&now, Some(&before), &Policy::parse(policy).unwrap())
}

#[test]
fn people_see_the_verdict_first_and_why() {
    let text = text(&worse(), LOOK);
    assert!(text.starts_with("gate: fail: 13 of 15 checks hold, 1 fail, 1 not exercised\n"), "{text}");
    assert!(
        text.contains(
            "fail: standard/structured/cycles: lexical_survival drop <= 0.05: fell 0.8000 (96 of 120)"
        ),
        "{text}"
    );
    assert!(text.contains("baseline  scores ") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn junit_is_well_formed_and_counts() {
    let text = junit(&worse()).unwrap();
    assert!(text.contains("tests=\"15\" skipped=\"0\" failures=\"2\""), "{text}");
    assert!(
        text.contains("type=\"not exercised\"") && text.contains("classname=\"standard/structured/cycles\""),
        "{text}"
    );
    assert!(!text.contains("<b>") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn a_summary_of_thousands_of_rules_is_a_page_of_a_build() {
    let mut outcome = worse();
    let (mut check, rest) = (outcome.checks[0].clone(), outcome.checks[1..].to_vec());
    check.text = "<long>".repeat(10_000);
    outcome.checks = [vec![check; 5_000], rest].concat();
    let text = markdown(&outcome);
    assert!(text.len() < 1 << 20, "{}", text.len());
    let shown = text.lines().filter(|line| line.starts_with("| fail |")).count();
    let all = outcome.checks.len();
    assert!(0 < shown && shown <= ROWS, "{shown}");
    assert!(text.contains(&format!("\nand {} more:", thousands((all - shown) as u64))), "{text}");
    assert!(text.contains("</details>") && text.contains("`run "), "what stands behind is still there");
    // A few are shown in full.
    let text = markdown(&worse());
    assert!(!text.contains(" more:") && text.matches("\n| pass |").count() == 13, "{text}");
}

#[test]
fn annotations_are_ten_at_most_and_one_line_each() {
    let outcome = worse();
    let text = annotations(&outcome, &[]);
    assert_eq!(text.lines().count(), 2);
    assert!(
        text.lines().all(|line| line.starts_with("::error title=") || line.starts_with("::warning title=")),
        "{text}"
    );
    assert!(text.contains("%0A") && !text.contains('\u{1b}'), "{text}");
    let mut many = outcome.clone();
    many.checks = vec![outcome.checks[0].clone(); 14];
    let text = annotations(&many, &[]);
    assert_eq!(text.lines().count(), ANNOTATIONS);
    assert!(text.ends_with("and 5 more checks do not hold\n"), "{text}");
    let loss = LossRow {
        session: outcome.checks[0].worse[0].session.clone(),
        source: "logs/a,b:c.jsonl".to_owned(),
        line: 7,
        profile: "standard".to_owned(),
        strategy: "structured".to_owned(),
        class: "value".to_owned(),
        ..LossRow::default()
    };
    // A loss of another strategy or class is no reason for this failure.
    let other = LossRow { strategy: "narrative".to_owned(), line: 1, ..loss.clone() };
    let structural = LossRow { class: "file.read".to_owned(), line: 2, ..loss.clone() };
    let text = annotations(&outcome, &[other.clone(), structural, loss.clone()]);
    assert!(text.contains(",file=logs/a%2Cb%3Ac.jsonl,line=7::"), "{text}");
    // One that names this strategy among others is.
    let shared = LossRow { also: vec!["structured".to_owned()], ..other };
    assert!(annotations(&outcome, &[shared]).contains(",line=1::"));
    // What no work needed moves no share of what was needed.
    let mut needed = outcome.clone();
    needed.checks[0].metric = "needed_survival".to_owned();
    assert!(!annotations(&needed, std::slice::from_ref(&loss)).contains("lost for instance"));
    assert!(annotations(&needed, &[LossRow { needed: true, ..loss }]).contains(",line=7::"));
}

#[test]
fn markdown_holds_nothing_but_text() {
    let text = markdown(&worse());
    assert!(text.starts_with("## gate: fail: 13 of 15 checks hold"), "{text}");
    assert!(text.contains("s00\\|&lt;b&gt;::error::"), "{text}");
    let rows = text.lines().filter(|line| line.starts_with("| "));
    assert!(rows.clone().count() > 15 && rows.into_iter().all(|line| line.ends_with(" |")), "{text}");
}

#[test]
fn an_accepted_baseline_says_what_it_changes() {
    let run = sample::run(12);
    let before = scores(&run);
    assert_eq!(accepted(&Replaced::Nothing, &before, LOOK), "accepted: a first baseline of 52 lines\n");
    let replaced = Replaced::Scores(before.clone());
    assert_eq!(accepted(&replaced, &before, LOOK), "accepted: 52 lines, 0 changed, 0 new, 0 gone\n");
    let mut after = before.clone();
    after.remove(0);
    let last = after.last_mut().unwrap();
    last.amounts[0] += 3;
    let text = accepted(&replaced, &after, LOOK);
    assert!(text.starts_with("accepted: 51 lines, 1 changed, 0 new, 1 gone\n"), "{text}");
    assert!(text.contains("  orphan_results: 0 -> 3\n"), "{text}");
    let unread = Replaced::Unread("baseline.csv: has no column `invented`".to_owned());
    let text = accepted(&unread, &after, LOOK);
    assert!(
        text.starts_with("accepted: 51 lines\nthe baseline that was there is replaced and could not"),
        "{text}"
    );
    assert!(text.contains("`invented`") && !text.contains("first"), "{text}");
}

#[test]
fn a_self_test_names_what_it_missed() {
    let run = sample::run(12);
    let side = Side::new(&run);
    let policy =
        Policy::parse("[[rule]]\nmetric = 'files_read'\nstrategy = 'structured'\nmin = 0.5\n").unwrap();
    let text = self_test(&trials(&side, None, &policy), LOOK);
    assert!(text.starts_with("self-test: 1 of 16 damages went unnoticed\n"), "{text}");
    assert!(
        text.contains("MISSED: files_read: everything lost in standard/structured/cycles: not exercised"),
        "{text}"
    );
}

#[test]
fn a_profile_judged_by_another_is_named_in_every_format() {
    let mut outcome = worse();
    let said = "profile mine is judged by what standard was in the baseline";
    let judged_by = JudgedBy { profile: "mine".to_owned(), baseline: "standard".to_owned() };
    outcome.judged_by = Some(judged_by);
    outcome.checks = vec![outcome.checks[0].clone(); 14];
    let github = annotations(&outcome, &[]);
    assert_eq!(github.lines().count(), ANNOTATIONS);
    assert!(github.contains(&format!("::notice title=compactor gate::{said}\n")), "{github}");
    for text in [text(&outcome, LOOK), junit(&outcome).unwrap(), markdown(&outcome)] {
        assert!(text.contains(said), "{text}");
    }
    assert!(json(&outcome).unwrap().contains("\"profile\": \"mine\""));
}

fn every_format(outcome: &Outcome) -> [String; 5] {
    [
        text(outcome, LOOK),
        json(outcome).unwrap(),
        junit(outcome).unwrap(),
        annotations(outcome, &[]),
        markdown(outcome),
    ]
}

#[test]
fn a_floor_names_the_lowest_sessions_in_every_format() {
    let side = Side::new(&sample::run(12));
    let policy = "[[rule]]\nmetric = 'lexical_survival'\nstrategy = 'structured'\nmin = 0.85\n";
    let outcome = judge(&side, None, &Policy::parse(policy).unwrap());
    for text in every_format(&outcome) {
        assert!(text.contains("s00") && text.contains("7 of 10"), "{text}");
        assert!(!text.contains(" -> 7 of 10"), "{text}");
    }
}

#[test]
fn a_failed_session_is_named_with_its_error_in_every_format() {
    let mut run = sample::run(12);
    for row in run.sessions.iter_mut().filter(|row| row.session == "s07") {
        row.error = "model timed out".to_owned();
    }
    let outcome = judge(&Side::new(&run), None, &Policy::parse("").unwrap());
    for text in every_format(&outcome) {
        assert!(text.contains("1 session could not be measured: session s07: model timed out"), "{text}");
    }
}

#[test]
fn what_could_not_be_damaged_is_in_the_headline() {
    let side = Side::new(&sample::run(12));
    let policy = Policy::parse("[[rule]]\nmetric = 'lexical_survival'\nmin = 0\nmax_drop = 0\n").unwrap();
    let text = self_test(&trials(&side, Some(&side), &policy), LOOK);
    let missed = text.lines().next().unwrap_or_default();
    assert!(missed.ends_with(" damages went unnoticed; 2 had nothing to lose"), "{text}");
    let policy = Policy::parse("[[rule]]\nmetric = 'lexical_survival'\nmax_drop = 0\n").unwrap();
    let text = self_test(&trials(&side, Some(&side), &policy), LOOK);
    assert!(text.starts_with("self-test: 18 of 19 damages were noticed; 1 had nothing to lose\n"), "{text}");
}
