use super::*;
use crate::aggregate::scores::{Share, shares};
use crate::results::files::sample;
use crate::results::{Problem, RunOutput};
use crate::stats::SplitMix64;

fn side(run: &RunOutput) -> Side {
    Side::new(run)
}

fn policy(text: &str) -> Policy {
    Policy::parse(text).unwrap()
}

fn place(metric: &str) -> usize {
    shares().iter().position(|name| name == metric).unwrap()
}

/// Judges a run against itself after a change; the verdict and what is said first.
fn check(text: &str, change: impl FnOnce(&mut Side), verdict: Verdict, said: &str) -> Outcome {
    let before = side(&sample::run(12));
    let mut now = before.clone();
    change(&mut now);
    let outcome = judge(&now, Some(&before), &policy(text));
    let first = &outcome.checks[0];
    assert_eq!(outcome.verdict, verdict, "{text}: {outcome:#?}");
    assert!(first.text.contains(said), "{text}: {}", first.text);
    outcome
}

const DROP: &str = "[[rule]]\nmetric = 'lexical_survival'\nstrategy = 'structured'\nmax_drop = 0.01\n";

fn lose(side: &mut Side, session: usize, facts: u64) {
    let at = place("lexical_survival");
    let mut own = side.scores.iter_mut().filter(|score| score.contender.strategy == "structured");
    own.nth(session).unwrap().shares[at].kept -= facts;
}

#[test]
fn a_run_against_itself_is_an_exact_zero() {
    let outcome = check(DROP, |_| {}, Verdict::Pass, "");
    assert!(outcome.identical);
    assert_eq!(outcome.baseline.as_ref(), Some(&outcome.run));
    let drop = outcome.checks.iter().find(|check| check.metric == "lexical_survival").unwrap();
    assert_eq!((drop.now, drop.worse.len(), drop.excess), (drop.before, 0, 0.0));
}

#[test]
fn a_drop_beyond_what_is_allowed_fails_with_its_sessions() {
    // 96 of 120 facts: one more lost is 1/120, which is below 0.01; two are above.
    check(DROP, |side| lose(side, 0, 1), Verdict::Pass, "");
    let outcome = check(DROP, |side| lose(side, 3, 2), Verdict::Fail, "(94 of 120)");
    let worse = &outcome.checks[0].worse;
    assert_eq!(worse.len(), 1);
    assert_eq!(
        (worse[0].session.as_str(), worse[0].before.as_str(), worse[0].now.as_str()),
        ("s03", "7 of 10", "5 of 10")
    );
}

#[test]
fn a_mean_of_sessions_is_compared_as_one() {
    let text = DROP.replace("max_drop = 0.01", "max_drop = 0.01\naverage = 'macro'");
    check(&text, |side| lose(side, 0, 1), Verdict::Pass, "");
    check(&text, |side| lose(side, 0, 2), Verdict::Fail, "mean of sessions");
}

#[test]
fn a_floor_is_reached_by_the_value_on_it() {
    let rule = |limit: &str| {
        format!("[[rule]]\nmetric = 'lexical_survival'\nstrategy = 'structured'\nmin = {limit}\n")
    };
    check(&rule("0.8"), |_| {}, Verdict::Pass, "");
    check(&rule("0.80001"), |_| {}, Verdict::Fail, "0.8000 (96 of 120), >= 0.80001 was asked for");
}

#[test]
fn amounts_have_a_ceiling_and_may_not_rise() {
    let more = |side: &mut Side| {
        let at = AMOUNTS.iter().position(|(name, _)| *name == "prompt_tokens").unwrap();
        side.scores.iter_mut().for_each(|score| score.amounts[at] += score.amounts[at] / 10);
    };
    let rule =
        |limit: &str| format!("[[rule]]\nmetric = 'prompt_tokens'\nstrategy = 'structured'\n{limit}\n");
    check(&rule("max_rise = 0.1"), more, Verdict::Pass, "");
    check(&rule("max_rise = 0.09"), more, Verdict::Fail, "by 10.0 %; 9 % is allowed");
    check(&rule("max = 12000"), |_| {}, Verdict::Pass, "");
    check(&rule("max = 11999"), |_| {}, Verdict::Fail, "is 12,000, 11,999 is allowed");
}

#[test]
fn a_broken_invariant_fails_before_anything_else() {
    let broken = |side: &mut Side| {
        lose(side, 0, 7);
        side.scores[0].amounts[0] = 2;
    };
    check(DROP, broken, Verdict::Fail, "orphan_results 2 times, 0 allowed");
    let allowed = format!("{}\n{DROP}", "[invariants]\norphan_results = 2");
    check(&allowed, |side| side.scores[0].amounts[0] = 2, Verdict::Pass, "");
    let other = format!("{}\n{DROP}", "[invariants]\nno_gain = 2");
    check(&other, |side| side.scores[0].amounts[0] = 2, Verdict::Fail, "orphan_results");
}

#[test]
fn what_measured_nothing_never_passes() {
    let none = |side: &mut Side| side.scores.clear();
    check(DROP, none, Verdict::Inconclusive, "is in the baseline and not in the run");
    let failed = |side: &mut Side| side.scores.iter_mut().for_each(|score| score.state = State::Failed);
    check(
        DROP,
        failed,
        Verdict::Inconclusive,
        "13 sessions could not be measured: session s00; session s01; session s02; and 10 more",
    );
    let short = |side: &mut Side| side.scores.iter_mut().for_each(|score| score.state = State::NotExercised);
    check(DROP, short, Verdict::Fail, "12 of 12 sessions are no longer compacted");
    let empty = judge(&side(&RunOutput::default()), None, &policy(DROP));
    assert_eq!(empty.verdict, Verdict::NotExercised);
    let of_rule: Vec<&str> = empty
        .checks
        .iter()
        .filter(|check| check.metric == "lexical_survival")
        .map(|check| check.text.as_str())
        .collect();
    assert_eq!(of_rule, ["the run has nothing for this rule: strategy structured"]);
    let nobody = DROP.replace("structured", "structuerd");
    check(&nobody, |_| {}, Verdict::NotExercised, "no strategy `structuerd`; did you mean `structured`?");
}

#[test]
fn without_a_baseline_a_drop_is_not_known() {
    let run = side(&sample::run(12));
    let outcome = judge(&run, None, &policy(DROP));
    assert_eq!(outcome.verdict, Verdict::NotExercised);
    assert!(outcome.checks[0].text.contains("--baseline"));
}

#[test]
fn too_few_sessions_are_no_verdict() {
    let before = side(&sample::run(9));
    let mut now = before.clone();
    lose(&mut now, 0, 5);
    let outcome = judge(&now, Some(&before), &policy(DROP));
    assert_eq!(outcome.verdict, Verdict::Inconclusive);
    let said = |check: &Check| check.text.contains("9 sessions have a value, 10 are needed");
    assert!(outcome.checks.iter().any(said), "{outcome:#?}");
    // Who says that fewer are enough gets a verdict on exact figures, and none where chance plays.
    let fewer = |noise: &str| policy(&format!("min_sessions = 5\nnoise = '{noise}'\n{DROP}"));
    assert_eq!(judge(&now, Some(&before), &fewer("exact")).verdict, Verdict::Fail);
    assert_eq!(judge(&now, Some(&before), &fewer("interval")).verdict, Verdict::Inconclusive);
}

#[test]
fn what_could_not_be_measured_is_named() {
    let mut now = side(&sample::run(12));
    now.manifest.files_failed = 1;
    now.manifest.problems.push(Problem {
        source: "logs/bad.jsonl".to_owned(),
        severity: "lost".to_owned(),
        text: "permission denied".to_owned(),
        ..Problem::default()
    });
    let outcome = judge(&now, None, &policy(""));
    assert_eq!((outcome.verdict, outcome.unscored), (Verdict::Inconclusive, 1));
    let said = "1 file could not be measured: logs/bad.jsonl: permission denied";
    assert_eq!(outcome.checks[0].text, said);
    assert_eq!(judge(&now, None, &policy("max_unscored = 1")).verdict, Verdict::Pass);
}

#[test]
fn a_self_test_turns_red_for_each_rule_that_can() {
    let run = side(&sample::run(12));
    let text = format!(
        "{DROP}[[rule]]\nmetric = 'files_modified'\nmin = 0.1\nstrategy = 'narrative'\n[[rule]]\nmetric = 'stale'\nmax = 3\n"
    );
    let trials = self_test::trials(&run, Some(&run), &policy(&text));
    assert!(self_test::holds(&trials), "{trials:#?}");
    // What is lost already cannot be lost: that is no fault of a rule which holds others.
    let all = DROP.replace("strategy = 'structured'\n", "");
    let trials = self_test::trials(&run, Some(&run), &policy(&all));
    let nothing = trials.iter().filter(|trial| trial.result == self_test::Noticed::NothingToLose).count();
    assert!(self_test::holds(&trials) && nothing == 1, "{trials:#?}");
    let void = all.replace("max_drop", "strategy = 'emergency'\nmax_drop");
    assert!(!self_test::holds(&self_test::trials(&run, Some(&run), &policy(&void))));
    // Nothing to drop by: the rule is void, and the self-test says so.
    let void = "[[rule]]\nmetric = 'lexical_survival'\nstrategy = 'structured'\nmax_drop = 0.9\n";
    let trials = self_test::trials(&run, Some(&run), &policy(void));
    let missed: Vec<&str> = trials
        .iter()
        .filter(|trial| trial.result == self_test::Noticed::No)
        .map(|trial| trial.damage.as_str())
        .collect();
    assert_eq!(missed, ["lexical_survival: everything lost in standard/structured/cycles"]);
}

/// Two runs as good as each other, of `n` sessions: each keeps every fact by chance.
fn noisy_pair(n: usize, random: &mut SplitMix64) -> (Side, Side) {
    let mut before = side(&sample::run(n));
    before.manifest.settings.summarizer = "model".to_owned();
    let mut now = before.clone();
    for at in 0..before.scores.len() {
        // Sessions differ more from each other than runs do, and many lose all or nothing.
        let ease = random.below(5) as u64 * 25;
        for side in [&mut before, &mut now] {
            for share in side.scores[at].shares.iter_mut().filter(|share| share.total > 0) {
                share.kept = (0..share.total).filter(|_| (random.below(100) as u64) < ease).count() as u64;
            }
        }
    }
    (before, now)
}

#[test]
fn equally_good_models_seldom_raise_an_alarm() {
    let mut rules = String::new();
    for metric in
        ["files_modified", "structural_survival", "lexical_survival", "summary_survival", "needed_survival"]
    {
        for strategy in ["structured", "narrative"] {
            rules += &format!("[[rule]]\nmetric = '{metric}'\nstrategy = '{strategy}'\nmax_drop = 0\n");
        }
    }
    let policy = policy(&rules);
    let mut random = SplitMix64::new(7);
    for n in [20, 40] {
        let trials = 1_000;
        let alarms = (0..trials)
            .filter(|_| {
                let (before, now) = noisy_pair(n, &mut random);
                judge(&now, Some(&before), &policy).verdict == Verdict::Fail
            })
            .count();
        // 5 % of 1,000, with three standard errors of room for the simulation itself.
        assert!(alarms <= 50 + 21, "{alarms} of {trials} at n = {n}");
    }
}

#[test]
fn a_model_that_became_worse_is_seen() {
    let mut random = SplitMix64::new(11);
    let policy = policy(DROP);
    let seen = (0..100)
        .filter(|_| {
            let (before, mut now) = noisy_pair(40, &mut random);
            let at = place("lexical_survival");
            now.scores.iter_mut().for_each(|score| score.shares[at].kept = score.shares[at].kept * 6 / 10);
            let outcome = judge(&now, Some(&before), &policy);
            let chance = outcome.checks[0].p.is_some_and(|p| p < 0.05);
            outcome.verdict == Verdict::Fail && chance
        })
        .count();
    assert!(seen >= 95, "{seen} of 100");
}

#[test]
fn sessions_that_only_one_of_the_two_scored_are_told() {
    let now = side(&sample::run(12));
    let of = |side: &mut Side, session: &str, state: State| {
        for score in side.scores.iter_mut().filter(|score| score.session == session) {
            score.state = state;
            score.shares.fill(Share::default());
        }
    };
    let mut before = now.clone();
    of(&mut before, "s02", State::NotExercised);
    of(&mut before, "s05", State::Failed);
    let outcome = judge(&now, Some(&before), &policy(DROP));
    assert_eq!((outcome.verdict, outcome.not_compared), (Verdict::Pass, 2));
    let told = outcome.checks.iter().find(|check| check.metric == "compared").unwrap();
    assert_eq!(
        told.text,
        "no figure of 2 sessions is compared: 1 newly exercised (first s02), 1 failed before (first s05)"
    );
    let drop = outcome.checks.iter().find(|check| check.metric == "lexical_survival").unwrap();
    assert!(
        drop.text.ends_with("; 2 sessions have a value in the run alone (first s02), not compared"),
        "{}",
        drop.text
    );
    // The same where the baseline has no value of one figure.
    let mut before = now.clone();
    let at = place("lexical_survival");
    for score in before.scores.iter_mut().filter(|score| score.session == "s04") {
        score.shares[at] = Share::default();
    }
    let outcome = judge(&now, Some(&before), &policy(DROP));
    let drop = outcome.checks.iter().find(|check| check.metric == "lexical_survival").unwrap();
    assert!(
        drop.text.ends_with("; 1 session has a value in the run alone (first s04), not compared"),
        "{}",
        drop.text
    );
    assert_eq!(outcome.not_compared, 0);
}

#[test]
fn other_facts_at_risk_are_told() {
    let now = side(&sample::run(12));
    let mut before = now.clone();
    let at = place("summary_survival");
    for score in before.scores.iter_mut().filter(|score| ["s03", "s07"].contains(&score.session.as_str())) {
        score.shares[at].total += 1;
    }
    let of = |outcome: Outcome| {
        let told = outcome.checks.into_iter().find(|check| check.metric == "at_risk");
        told.map(|check| (check.verdict, check.now, check.text))
    };
    let (verdict, n, text) = of(judge(&now, Some(&before), &policy(DROP))).unwrap();
    assert_eq!((verdict, n), (Verdict::Pass, Some(2.0)));
    assert!(
        text.starts_with("in 2 of 12 sessions other facts left the context than in the baseline (first s03)"),
        "{text}"
    );
    assert_eq!(of(judge(&now, Some(&now), &policy(DROP))), None);
}

#[test]
fn a_gate_that_no_invariant_turns_red_is_shown_to_be_void() {
    let run = side(&sample::run(12));
    let missed = |text: &str| -> Vec<String> {
        let trials = self_test::trials(&run, Some(&run), &policy(&format!("{text}{DROP}")));
        let missed = trials.into_iter().filter(|trial| trial.result == self_test::Noticed::No);
        missed.map(|trial| trial.damage).collect()
    };
    assert_eq!(missed(""), [""; 0]);
    assert_eq!(missed("[invariants]\nno_gain = 2\n"), [""; 0]);
    assert_eq!(
        missed("[invariants]\nno_gain = 999999\nstuck = 99999\n"),
        ["no_gain: broken all the time", "stuck: broken all the time"]
    );
    assert_eq!(missed("max_unscored = 99999\n"), ["unscored: every session failed"]);
}
