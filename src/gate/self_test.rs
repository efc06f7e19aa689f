//! Shows that a gate can turn red: copies of a run are damaged, one for each thing that is asked, and judged.
//!
//! A gate that cannot fail is worse than none. The damage is the worst there can be, so that a rule which survives it is void:
//! its limit is too wide, too few sessions have what it asks for, or there is nothing to lose.

use super::policy::{Policy, Rule};
use super::{Outcome, Side, Verdict, judge, name};
use crate::aggregate::scores::{AMOUNTS, Contender, INVARIANTS, Share, State, shares};
use schemars::JsonSchema;
use serde::Serialize;

/// One damage and what the gate said of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Trial {
    /// What was done to the copy.
    pub damage: String,
    /// What the gate had to say.
    pub expected: String,
    /// What it said.
    pub verdict: Verdict,
    /// Whether it noticed.
    pub result: Noticed,
    /// Why, of what it said or failed to say.
    pub text: String,
}

/// Whether a gate noticed a damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Noticed {
    /// It did.
    Yes,
    /// It did not.
    No,
    /// There was nothing to damage: the figure is as bad as it can be already.
    NothingToLose,
}

impl From<bool> for Noticed {
    fn from(noticed: bool) -> Self {
        if noticed { Self::Yes } else { Self::No }
    }
}

/// Whether everything that could be damaged was noticed.
pub fn holds(trials: &[Trial]) -> bool {
    trials.iter().all(|trial| trial.result != Noticed::No)
}

/// Damages copies of a run and judges them.
pub fn trials(run: &Side, baseline: Option<&Side>, policy: &Policy) -> Vec<Trial> {
    let case = Case { run, baseline, policy };
    let mut trials = vec![
        case.never_green("no session measured", |side| side.scores.clear()),
        case.never_green("every session failed", |side| {
            for score in &mut side.scores {
                score.state = State::Failed;
                score.shares.fill(Share::default());
            }
        }),
        case.never_green("no session compacted", |side| {
            for score in &mut side.scores {
                score.state = State::NotExercised;
                score.shares.fill(Share::default());
            }
        }),
    ];
    let contenders: Vec<Contender> = run.contenders().into_iter().cloned().collect();
    if contenders.is_empty() {
        let text = "the run measured no session: there is nothing to damage".to_owned();
        let (damage, expected) = ("anything".to_owned(), Verdict::Fail.name().to_owned());
        trials.push(Trial { damage, expected, verdict: Verdict::NotExercised, result: Noticed::No, text });
    }
    trials.push(case.unscored());
    if let Some(first) = contenders.first() {
        trials.extend((0..INVARIANTS).map(|kind| case.invariant(first, kind)));
    }
    for rule in policy.rules.iter().flat_map(Rule::single_limits) {
        let rule = &rule;
        for text in rule.unknown_names(&contenders.iter().collect::<Vec<_>>()) {
            trials.push(Trial {
                damage: format!("{}: nothing to damage", rule.metric),
                expected: Verdict::Fail.name().to_owned(),
                verdict: Verdict::NotExercised,
                result: Noticed::No,
                text,
            });
        }
        let alone = Policy { rules: vec![rule.clone()], ..policy.clone() };
        let alone = Case { policy: &alone, ..case };
        let about = contenders.iter().filter(|contender| rule.is_about(contender));
        let mut own: Vec<Trial> = about.map(|contender| alone.of_rule(rule, contender)).collect();
        // Of one that can turn red nowhere there is nothing to be said but that.
        if own.iter().all(|trial| trial.result == Noticed::NothingToLose) {
            for trial in &mut own {
                trial.result = Noticed::No;
            }
        }
        trials.extend(own);
    }
    trials
}

/// What is damaged, and what it is judged by.
#[derive(Debug, Clone, Copy)]
struct Case<'a> {
    run: &'a Side,
    baseline: Option<&'a Side>,
    policy: &'a Policy,
}

impl Case<'_> {
    /// Does what a rule forbids, as badly as can be.
    fn of_rule(self, rule: &Rule, contender: &Contender) -> Trial {
        let share = shares().iter().position(|name| *name == rule.metric);
        let amount = AMOUNTS.iter().position(|(name, _)| *name == rule.metric);
        let damage = match share {
            Some(_) => format!("{}: everything lost in {}", rule.metric, name(contender)),
            None => format!("{}: a thousandfold in {}", rule.metric, name(contender)),
        };
        let kept = |at: usize| {
            self.run
                .of(contender)
                .filter_map(|score| score.shares.get(at))
                .map(|share| share.kept)
                .sum::<u64>()
        };
        let nothing = share.is_some_and(|at| kept(at) == 0);
        let trial = self.red(&damage, contender, &rule.metric, |side| {
            for score in side.scores.iter_mut().filter(|score| score.contender == *contender) {
                if let Some(share) = share.and_then(|at| score.shares.get_mut(at)) {
                    share.kept = 0;
                }
                if let Some(amount) = amount.and_then(|at| score.amounts.get_mut(at)) {
                    *amount = (*amount)
                        .saturating_add(rule.ceiling().unwrap_or(0))
                        .saturating_add(1)
                        .saturating_mul(1_000);
                }
            }
        });
        match trial.result {
            Noticed::No if nothing => Trial { result: Noticed::NothingToLose, ..trial },
            _ => trial,
        }
    }

    /// Nothing could be measured: more than the policy may allow.
    fn unscored(self) -> Trial {
        let outcome = self.damaged(|side| {
            for score in &mut side.scores {
                score.state = State::Failed;
                score.shares.fill(Share::default());
            }
        });
        let check = outcome.checks.iter().find(|check| check.metric == "unscored");
        let verdict = check.map_or(Verdict::NotExercised, |check| check.verdict);
        Trial {
            damage: "unscored: every session failed".to_owned(),
            expected: "not pass".to_owned(),
            verdict,
            result: (verdict != Verdict::Pass).into(),
            text: check.map(|check| check.text.clone()).unwrap_or_default(),
        }
    }

    /// Breaks a hard invariant as often as a run of so many sessions may break one: with each request of each session.
    fn invariant(self, contender: &Contender, kind: usize) -> Trial {
        let name = AMOUNTS.get(kind).map_or("", |(name, _)| *name);
        let requests = AMOUNTS.iter().position(|(name, _)| *name == "requests");
        let least = self.run.manifest.settings.cycles.max(1);
        let times =
            |amounts: &[u64]| requests.and_then(|at| amounts.get(at)).copied().unwrap_or(0).max(least);
        self.red(&format!("{name}: broken all the time"), contender, "invariants", |side| {
            for score in side.scores.iter_mut().filter(|score| score.contender == *contender) {
                let times = times(&score.amounts);
                if let Some(amount) = score.amounts.get_mut(kind) {
                    *amount = amount.saturating_add(times);
                }
            }
        })
    }

    /// A damage that a check must call a failure.
    fn red(self, damage: &str, contender: &Contender, metric: &str, change: impl FnOnce(&mut Side)) -> Trial {
        let outcome = self.damaged(change);
        let whom = name(contender);
        let checks = outcome.checks.iter().filter(|check| check.metric == metric && check.contender == whom);
        let worst = checks.max_by_key(|check| check.verdict);
        let verdict = worst.map_or(Verdict::NotExercised, |check| check.verdict);
        let text = worst.map(|check| check.text.clone()).unwrap_or_default();
        Trial {
            damage: damage.to_owned(),
            expected: Verdict::Fail.name().to_owned(),
            verdict,
            result: (verdict == Verdict::Fail).into(),
            text,
        }
    }

    /// A damage after which the gate may say anything but pass.
    fn never_green(self, damage: &str, change: impl FnOnce(&mut Side)) -> Trial {
        let outcome = self.damaged(change);
        let text = outcome.checks.first().map(|check| check.text.clone()).unwrap_or_default();
        Trial {
            damage: damage.to_owned(),
            expected: "not pass".to_owned(),
            verdict: outcome.verdict,
            result: (outcome.verdict != Verdict::Pass).into(),
            text,
        }
    }

    fn damaged(self, change: impl FnOnce(&mut Side)) -> Outcome {
        let mut copy = self.run.clone();
        change(&mut copy);
        judge(&copy, self.baseline, self.policy)
    }
}
