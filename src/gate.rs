//! A run against a policy and a baseline: pass, fail, inconclusive, or not exercised.
//!
//! Pure: scores in, a verdict with its reasons out. Exact figures are compared as counts. Where a model wrote the summaries,
//! two equally good runs differ by chance: there a figure fails only when chance is unlikely to have made it, over all rules
//! together (Holm 1979 on one-sided tests of Student's t over sessions), and with too few sessions nothing is said. What measured
//! nothing never passes.

pub mod compared;
pub mod policy;
mod question;
pub mod self_test;
mod sessions;

use crate::aggregate::scores::{AMOUNTS, Contender, INVARIANTS, Score, State, scores};
use crate::report::text::count;
use crate::results::{Manifest, RunOutput};
use crate::stats::holm;
use policy::Policy;
use question::Question;
use schemars::JsonSchema;
use serde::Serialize;
pub use sessions::unmeasured;
use sessions::{only_one_scored, others_at_risk, same_sessions, still_compacted, unscored};
use std::collections::{BTreeMap, BTreeSet};

/// Name of the summarizer that gives the same text for the same input.
pub const EMBEDDED: &str = "extractive";

/// A run or a baseline.
#[derive(Debug, Clone, Default)]
pub struct Side {
    /// What was run on what.
    pub manifest: Manifest,
    /// What each session scored, by contender and session.
    pub scores: Vec<Score>,
    /// What went wrong with each session that failed; a baseline does not say.
    pub errors: BTreeMap<String, String>,
}

/// How a check, or all of them, came out; the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It holds.
    Pass,
    /// There was nothing to measure.
    NotExercised,
    /// Too little was measured to say.
    Inconclusive,
    /// It does not hold.
    Fail,
}

impl Verdict {
    /// Name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::NotExercised => "not exercised",
            Self::Inconclusive => "inconclusive",
            Self::Fail => "fail",
        }
    }
}

/// One session behind a figure that fails: it became worse, or is among the lowest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Worse {
    /// Session id.
    pub session: String,
    /// Before, as counts; empty where the figure is held to a floor and not to a baseline.
    pub before: String,
    /// Now.
    pub now: String,
    /// How much worse, for the order: in millionths.
    #[serde(skip)]
    by: u64,
}

impl Worse {
    /// In words.
    pub fn text(&self) -> String {
        let from = if self.before.is_empty() { String::new() } else { format!("{} -> ", self.before) };
        format!("{}: {from}{}", self.session, self.now)
    }
}

/// The only profile of a run, which is judged by the only one of the baseline though their names differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JudgedBy {
    /// In the run.
    pub profile: String,
    /// In the baseline.
    pub baseline: String,
}

impl JudgedBy {
    /// In words.
    pub fn text(&self) -> String {
        format!("profile {} is judged by what {} was in the baseline", self.profile, self.baseline)
    }
}

/// One question and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Check {
    /// Whom it is about; nobody where it is about the run.
    pub contender: String,
    /// What is looked at.
    pub metric: String,
    /// What was asked for.
    pub limit: String,
    /// The answer.
    pub verdict: Verdict,
    /// The figure now: a share or an amount.
    pub now: Option<f64>,
    /// In the baseline.
    pub before: Option<f64>,
    /// Sessions behind the figure.
    pub sessions: u64,
    /// The answer in words.
    pub text: String,
    /// Sessions that became worse, or are below a floor, worst first; 5 at most.
    pub worse: Vec<Worse>,
    /// How far beyond the limit, for the order of failures; the unit is that of shares.
    #[serde(skip)]
    pub excess: f64,
    /// Chance that a run as good as allowed comes out like this; only with noise.
    pub p: Option<f64>,
}

/// What a run is known by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fingerprint {
    /// Version of the program.
    pub version: String,
    /// Settings.
    pub settings: String,
    /// Profiles.
    pub profiles: String,
    /// Logs.
    pub corpus: String,
    /// All figures together.
    pub scores: String,
}

impl Side {
    /// Of a run.
    pub fn new(run: &RunOutput) -> Self {
        let failed = run.sessions.iter().filter(|row| !row.error.is_empty());
        Self {
            manifest: run.manifest.clone(),
            scores: scores(run),
            errors: failed.map(|row| (row.session.to_string(), row.error.clone())).collect(),
        }
    }

    /// What it is known by.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hasher = blake3::Hasher::new();
        for score in &self.scores {
            let (whom, counts) = (&score.contender, (&score.shares, &score.amounts));
            let text = format!("{whom:?} {:?} {:?} {counts:?}\n", score.session, score.state);
            hasher.update(text.as_bytes());
        }
        let short = |hash: &str| hash.chars().take(12).collect::<String>();
        Fingerprint {
            version: self.manifest.version.clone(),
            settings: short(&self.manifest.settings_hash),
            profiles: short(&self.manifest.settings.profile_hash),
            corpus: short(&self.manifest.corpus_hash),
            scores: short(&hasher.finalize().to_hex()),
        }
    }

    fn contenders(&self) -> Vec<&Contender> {
        let names: BTreeSet<&Contender> = self.scores.iter().map(|score| &score.contender).collect();
        names.into_iter().collect()
    }

    fn of<'a>(&'a self, contender: &'a Contender) -> impl Iterator<Item = &'a Score> {
        self.scores.iter().filter(move |score| score.contender == *contender)
    }
}

/// What a gate says.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Outcome {
    /// The worst of the checks.
    pub verdict: Verdict,
    /// Every check, failures first, then what is open; of equals the worst first.
    pub checks: Vec<Check>,
    /// The run.
    pub run: Fingerprint,
    /// The baseline, where there is one.
    pub baseline: Option<Fingerprint>,
    /// Every count is that of the baseline.
    pub identical: bool,
    /// Sessions and files that could not be measured.
    pub unscored: u64,
    /// Sessions that only one of the two has, left out where that was asked for.
    pub left_out: u64,
    /// Sessions that are scored in one of the two alone: no figure of theirs is compared.
    pub not_compared: u64,
    /// Where profiles of different names are compared.
    pub judged_by: Option<JudgedBy>,
}

/// Puts a run to a policy. The two sides are comparable (see [`compared`]).
pub fn judge(run: &Side, baseline: Option<&Side>, policy: &Policy) -> Outcome {
    let mut checks = vec![unscored(run, policy)];
    let contenders = run.contenders();
    if contenders.is_empty() {
        checks.push(open("", "sessions", "at least 1", Verdict::NotExercised, "the run measured no session"));
    }
    checks.extend(baseline.map(|baseline| same_sessions(run, baseline)));
    let not_compared = baseline.map(|baseline| only_one_scored(run, baseline)).unwrap_or_default();
    if let Some(check) = not_compared.check() {
        checks.push(check);
    }
    checks.extend(baseline.and_then(|baseline| others_at_risk(run, baseline)));
    for contender in &contenders {
        checks.push(invariants(run, contender, policy));
        checks.extend(baseline.and_then(|baseline| still_compacted(run, baseline, contender)));
    }
    for contender in baseline.iter().flat_map(|baseline| baseline.contenders()) {
        if !contenders.contains(&contender) {
            let text = "is in the baseline and not in the run: run it, or accept a baseline without it";
            checks.push(open(&name(contender), "contender", "in the run", Verdict::Inconclusive, text));
        }
    }
    let mut tests = Vec::new();
    for rule in &policy.rules {
        let unknown = rule.unknown_names(&contenders);
        for text in &unknown {
            checks.push(open("", &rule.metric, "measured", Verdict::NotExercised, text));
        }
        let about: Vec<&&Contender> =
            contenders.iter().filter(|contender| rule.is_about(contender)).collect();
        if about.is_empty() && unknown.is_empty() {
            let text = format!("the run has nothing for this rule: {}", rule.whom());
            checks.push(open("", &rule.metric, "measured", Verdict::NotExercised, &text));
        }
        for contender in about {
            let question = Question { rule, contender, run, baseline, policy };
            for check in question.checks() {
                tests.extend(check.p.map(|_| checks.len()));
                checks.push(check);
            }
        }
    }
    decide(&mut checks, &tests, policy.false_alarms);
    // Stable: of equals the order of the policy.
    checks.sort_by(|a, b| b.verdict.cmp(&a.verdict).then(b.excess.total_cmp(&a.excess)));
    Outcome {
        verdict: checks.iter().map(|check| check.verdict).max().unwrap_or(Verdict::NotExercised),
        checks,
        run: run.fingerprint(),
        baseline: baseline.map(Side::fingerprint),
        identical: baseline.is_some_and(|baseline| baseline.scores == run.scores),
        unscored: sessions::count_unscored(run),
        left_out: 0,
        not_compared: not_compared.sessions(),
        judged_by: None,
    }
}

/// What failed the tests with intervals, over all of them.
fn decide(checks: &mut [Check], tests: &[usize], false_alarms: f64) {
    let p: Vec<f64> = tests.iter().filter_map(|at| checks.get(*at)?.p).collect();
    for (at, p) in tests.iter().zip(holm(&p)) {
        let Some(check) = checks.get_mut(*at) else { continue };
        check.p = Some(p);
        if p < false_alarms {
            check.verdict = Verdict::Fail;
            check.text = format!(
                "{}; by chance: {}",
                check.text,
                if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
            );
        } else if check.excess > 0.0 {
            check.text = format!("{}; chance alone may make that ({p:.2})", check.text);
        }
    }
}

fn invariants(run: &Side, contender: &Contender, policy: &Policy) -> Check {
    let mut broken = Vec::new();
    let (mut sum, mut excess) = (0u64, 0u64);
    for (at, (kind, _)) in AMOUNTS.iter().enumerate().take(INVARIANTS) {
        let found: u64 = run.of(contender).filter_map(|score| score.amounts.get(at)).sum();
        let allowed = policy.invariants.get(*kind).or(policy.invariants.get("all")).copied().unwrap_or(0);
        sum += found;
        if allowed < found {
            excess += found - allowed;
            let sessions =
                run.of(contender).filter(|score| score.amounts.get(at).is_some_and(|count| *count > 0));
            let first = sessions.map(|score| score.session.as_str()).next().unwrap_or_default();
            broken.push(format!("{kind} {found} times, {allowed} allowed (first in session {first})"));
        }
    }
    let scored = run.of(contender).filter(|score| score.state == State::Scored).count() as u64;
    let (verdict, text) = match (broken.is_empty(), scored) {
        (false, _) => (Verdict::Fail, format!("broken: {}", broken.join("; "))),
        (true, 0) => (Verdict::NotExercised, "no session was compacted".to_owned()),
        (true, scored) if scored < policy.min_sessions => {
            let text = format!("{}, {} are needed", count(scored, "session"), policy.min_sessions);
            (Verdict::Inconclusive, format!("{sum} broken in {text}"))
        }
        (true, _) => (Verdict::Pass, format!("{sum} hard invariants broken")),
    };
    Check {
        now: Some(sum as f64),
        sessions: scored,
        // Before any share: broken histories are refused by providers.
        excess: if excess > 0 { 1.0 + excess as f64 } else { 0.0 },
        ..open(&name(contender), "invariants", "unbroken", verdict, &text)
    }
}

/// How a contender is named.
pub fn name(contender: &Contender) -> String {
    format!("{}/{}/{}", contender.profile, contender.strategy, contender.window)
}

fn open(contender: &str, metric: &str, limit: &str, verdict: Verdict, text: &str) -> Check {
    Check {
        contender: contender.to_owned(),
        metric: metric.to_owned(),
        limit: limit.to_owned(),
        verdict,
        now: None,
        before: None,
        sessions: 0,
        text: text.to_owned(),
        worse: Vec::new(),
        excess: 0.0,
        p: None,
    }
}

#[cfg(test)]
mod tests;
