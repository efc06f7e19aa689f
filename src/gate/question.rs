//! One rule put to one contender: its figures against the limits that the rule sets.

use super::policy::{Average, Decimal, Noise, Policy, Rule};
use super::{Check, EMBEDDED, Side, Verdict, Worse, name, open};
use crate::aggregate::scores::{AMOUNTS, Contender, Share, State, shares};
use crate::report::text::{count, thousands};
use crate::stats::{MIN_SESSIONS, mean, paired};
use std::collections::BTreeMap;

/// One rule put to one contender.
pub(super) struct Question<'a> {
    pub(super) rule: &'a Rule,
    pub(super) contender: &'a Contender,
    pub(super) run: &'a Side,
    pub(super) baseline: Option<&'a Side>,
    pub(super) policy: &'a Policy,
}

impl Question<'_> {
    /// An answer for each limit that the rule sets.
    pub(super) fn checks(&self) -> Vec<Check> {
        let rule = self.rule;
        let mut checks = Vec::new();
        if let Some(at) = shares().iter().position(|name| *name == rule.metric) {
            checks.extend(rule.min.map(|limit| self.floor(at, limit)));
            checks.extend(rule.max_drop.map(|limit| self.drop(at, limit)));
        } else if let Some(at) = AMOUNTS.iter().position(|(name, _)| *name == rule.metric) {
            checks.extend(rule.ceiling().map(|limit| self.ceiling(at, limit)));
            checks.extend(rule.max_rise.map(|limit| self.rise(at, limit)));
        }
        checks
    }

    fn open(&self, limit: &str, verdict: Verdict, text: &str) -> Check {
        open(&name(self.contender), &self.rule.metric, limit, verdict, text)
    }

    fn min_sessions(&self) -> u64 {
        self.rule.min_sessions.unwrap_or(self.policy.min_sessions)
    }

    /// Whether two runs of equal settings may differ.
    fn is_noisy(&self) -> bool {
        let asks_a_model = |side: &Side| side.manifest.settings.summarizer != EMBEDDED;
        match self.policy.noise {
            Noise::Exact => false,
            Noise::Interval => true,
            Noise::Auto => {
                !ASKS_NOBODY.contains(&self.contender.strategy.as_str())
                    && (asks_a_model(self.run) || self.baseline.is_some_and(asks_a_model))
            }
        }
    }

    /// Too few sessions to say anything, as a verdict.
    fn too_few(&self, n: u64, limit: &str) -> Option<Check> {
        let needed = self.min_sessions().max(if self.is_noisy() { MIN_SESSIONS as u64 } else { 1 });
        let text = format!(
            "{}, {needed} are needed",
            count(n, "session") + if n == 1 { " has a value" } else { " have a value" }
        );
        let verdict = match n {
            0 => Verdict::NotExercised,
            n if n < needed => Verdict::Inconclusive,
            _ => return None,
        };
        Some(Check { sessions: n, ..self.open(limit, verdict, &text) })
    }

    /// The shares of the sessions that were scored.
    fn shares_of<'s>(&'s self, side: &'s Side, at: usize) -> BTreeMap<&'s str, Share> {
        side.of(self.contender)
            .filter(|score| score.state == State::Scored)
            .filter_map(|score| Some((score.session.as_str(), *score.shares.get(at)?)))
            .filter(|(_, share)| share.total > 0)
            .collect()
    }

    fn floor(&self, at: usize, limit: Decimal) -> Check {
        let asked = format!(">= {limit}");
        let shares = self.shares_of(self.run, at);
        let n = shares.len() as u64;
        let all = shares.values().copied().fold(Share::default(), Share::plus);
        if let Some(few) = self.too_few(n, &asked) {
            return Check { now: all.value(), ..few };
        }
        let values: Vec<f64> = shares.values().filter_map(|share| share.value()).collect();
        let noisy = self.is_noisy();
        let average = self.rule.average;
        let now = if noisy || average == Average::Macro { mean(&values) } else { all.value() };
        let shown = shown(now, all, noisy || average == Average::Macro);
        let short = limit.value() - now.unwrap_or(0.0);
        let check = Check {
            now,
            sessions: n,
            excess: short.max(0.0),
            ..self.open(&asked, Verdict::Pass, &format!("is {shown}"))
        };
        if noisy {
            let above: Vec<f64> = values.iter().map(|value| value - limit.value()).collect();
            let worse = if short > 0.0 { lowest(&shares, limit) } else { Vec::new() };
            return Check { p: Some(chance_of_less(&above)), worse, ..check };
        }
        let holds = match average {
            Average::Micro => limit.is_reached_by(all.kept, all.total),
            Average::Macro => short <= TOLERANCE,
        };
        let text = format!("is {shown}, {asked} was asked for");
        let worse = lowest(&shares, limit);
        if holds { check } else { Check { verdict: Verdict::Fail, text, worse, ..check } }
    }

    /// A drop, and which sessions have no part in it.
    fn drop(&self, at: usize, limit: Decimal) -> Check {
        let check = self.dropped(at, limit);
        let Some(baseline) = self.baseline else { return check };
        let (before, now) = (self.shares_of(baseline, at), self.shares_of(self.run, at));
        let only = |ours: &BTreeMap<&str, Share>, theirs: &BTreeMap<&str, Share>, what: &str| {
            let mut only = ours.keys().filter(|session| !theirs.contains_key(*session));
            let first = only.next()?;
            let n = only.count() as u64 + 1;
            let have = if n == 1 { "has" } else { "have" };
            Some(format!(
                "; {} {have} a value {what} alone (first {first}), not compared",
                count(n, "session")
            ))
        };
        let (new, gone) = (only(&now, &before, "in the run"), only(&before, &now, "in the baseline"));
        let text = [Some(check.text), new, gone].into_iter().flatten().collect();
        Check { text, ..check }
    }

    fn dropped(&self, at: usize, limit: Decimal) -> Check {
        let asked = format!("drop <= {limit}");
        let Some(baseline) = self.baseline else {
            return self.open(&asked, Verdict::NotExercised, "there is no baseline: give --baseline DIR");
        };
        let (before, now) = (self.shares_of(baseline, at), self.shares_of(self.run, at));
        let both: Vec<(&str, Share, Share)> = before
            .iter()
            .filter_map(|(session, share)| Some((*session, *share, *now.get(session)?)))
            .collect();
        let sum =
            |of: fn(&(&str, Share, Share)) -> Share| both.iter().map(of).fold(Share::default(), Share::plus);
        let (was, is) = (sum(|(_, before, _)| *before), sum(|(_, _, now)| *now));
        if let Some(few) = self.too_few(both.len() as u64, &asked) {
            return Check { before: was.value(), now: is.value(), ..few };
        }
        let differences: Vec<f64> =
            both.iter().filter_map(|(_, before, now)| Some(now.value()? - before.value()?)).collect();
        let noisy = self.is_noisy();
        let by_session = noisy || self.rule.average == Average::Macro;
        let average = |of: fn(&(&str, Share, Share)) -> Share| {
            let values: Vec<f64> = both.iter().filter_map(|both| of(both).value()).collect();
            mean(&values)
        };
        let (before, now) = if by_session {
            (average(|(_, before, _)| *before), average(|(_, _, now)| *now))
        } else {
            (was.value(), is.value())
        };
        let fell = before.unwrap_or(0.0) - now.unwrap_or(0.0);
        let mut worse: Vec<Worse> =
            both.iter().filter_map(|(session, before, now)| worse(session, *before, *now)).collect();
        worse.sort_by(|a, b| b.by.cmp(&a.by).then_with(|| a.session.cmp(&b.session)));
        let count = worse.len();
        worse.truncate(SHOWN);
        let moved = format!("{} -> {}", shown(before, was, by_session), shown(now, is, by_session));
        let check = Check {
            before,
            now,
            sessions: both.len() as u64,
            worse,
            excess: (fell - limit.value()).max(0.0),
            ..self.open(&asked, Verdict::Pass, &moved)
        };
        if noisy {
            let above: Vec<f64> = differences.iter().map(|difference| difference + limit.value()).collect();
            return Check { p: Some(chance_of_less(&above)), ..check };
        }
        let holds = match self.rule.average {
            Average::Micro => !limit.is_exceeded_by_drop((was.kept, was.total), (is.kept, is.total)),
            Average::Macro => fell <= limit.value() + TOLERANCE,
        };
        if holds {
            return check;
        }
        let text = format!(
            "fell {moved}, by {:.4}; {limit} is allowed; {count} of {} sessions are worse",
            fell,
            both.len()
        );
        Check { verdict: Verdict::Fail, text, ..check }
    }

    /// The amounts of the sessions that did not fail.
    fn amounts_of<'s>(&'s self, side: &'s Side, at: usize) -> BTreeMap<&'s str, u64> {
        side.of(self.contender)
            .filter(|score| score.state != State::Failed)
            .filter_map(|score| Some((score.session.as_str(), *score.amounts.get(at)?)))
            .collect()
    }

    fn ceiling(&self, at: usize, limit: u64) -> Check {
        let asked = format!("<= {limit}");
        let amounts = self.amounts_of(self.run, at);
        let scored = self.run.of(self.contender).filter(|score| score.state == State::Scored).count() as u64;
        let sum: u64 = amounts.values().sum();
        let check = Check {
            now: Some(sum as f64),
            sessions: scored,
            ..self.open(&asked, Verdict::Pass, &format!("is {}", thousands(sum)))
        };
        if limit < sum {
            let text = format!("is {}, {} is allowed", thousands(sum), thousands(limit));
            let excess = (sum - limit) as f64 / sum as f64;
            return Check { verdict: Verdict::Fail, text, excess, ..check };
        }
        match self.too_few(scored, &asked) {
            Some(few) => Check { now: check.now, ..few },
            None => check,
        }
    }

    fn rise(&self, at: usize, limit: Decimal) -> Check {
        let asked = format!("rise <= {limit}");
        let Some(baseline) = self.baseline else {
            return self.open(&asked, Verdict::NotExercised, "there is no baseline: give --baseline DIR");
        };
        let (before, now) = (self.amounts_of(baseline, at), self.amounts_of(self.run, at));
        let both: Vec<(u64, u64)> =
            before.iter().filter_map(|(session, amount)| Some((*amount, *now.get(session)?))).collect();
        let (was, is) = both.iter().fold((0, 0), |sum, both| (sum.0 + both.0, sum.1 + both.1));
        if let Some(few) = self.too_few(both.len() as u64, &asked) {
            return Check { before: Some(was as f64), now: Some(is as f64), ..few };
        }
        let allowed = was as f64 * (1.0 + limit.value());
        let moved = format!("{} -> {}", thousands(was), thousands(is));
        let check = Check {
            before: Some(was as f64),
            now: Some(is as f64),
            sessions: both.len() as u64,
            excess: ((is as f64 - allowed) / allowed.max(1.0)).max(0.0),
            ..self.open(&asked, Verdict::Pass, &moved)
        };
        if self.is_noisy() {
            let room: Vec<f64> =
                both.iter().map(|(was, is)| *was as f64 * (1.0 + limit.value()) - *is as f64).collect();
            return Check { p: Some(chance_of_less(&room)), ..check };
        }
        if !limit.is_exceeded_by_rise(was, is) {
            return check;
        }
        let share = if was == 0 {
            String::new()
        } else {
            format!(", by {:.1} %", 100.0 * (is as f64 / was as f64 - 1.0))
        };
        let text = format!("rose {moved}{share}; {} is allowed", limit.percent());
        Check { verdict: Verdict::Fail, text, ..check }
    }
}

/// Strategies whose text no summarizer writes.
const ASKS_NOBODY: [&str; 2] = ["truncate", "emergency"];

/// Means of shares are compared with this much tolerance; far below what one fact of one session moves.
const TOLERANCE: f64 = 1e-9;

/// Sessions that became worse named in a check.
const SHOWN: usize = 5;

/// The chance that sessions with a mean of 0 or more come out as low as these.
fn chance_of_less(values: &[f64]) -> f64 {
    let paired = paired(values);
    let p = paired.p.unwrap_or(1.0);
    if paired.difference.mean.is_some_and(|mean| mean < 0.0) { p / 2.0 } else { 1.0 - p / 2.0 }
}

fn worse(session: &str, before: Share, now: Share) -> Option<Worse> {
    let by = before.value()? - now.value()?;
    (by > 0.0).then(|| Worse {
        session: session.to_owned(),
        before: format!("{} of {}", before.kept, before.total),
        now: format!("{} of {}", now.kept, now.total),
        by: (by * 1e6).round() as u64,
    })
}

/// Sessions below a floor, the lowest first.
fn lowest(shares: &BTreeMap<&str, Share>, limit: Decimal) -> Vec<Worse> {
    let below = |(session, share): (&&str, &Share)| {
        let by = limit.value() - share.value()?;
        (by > 0.0).then(|| Worse {
            session: (*session).to_owned(),
            before: String::new(),
            now: format!("{} of {}", share.kept, share.total),
            by: (by * 1e6).round() as u64,
        })
    };
    let mut below: Vec<Worse> = shares.iter().filter_map(below).collect();
    below.sort_by(|a, b| b.by.cmp(&a.by).then_with(|| a.session.cmp(&b.session)));
    below.truncate(SHOWN);
    below
}

/// A share with the counts behind it, or as a mean of sessions.
fn shown(value: Option<f64>, share: Share, by_session: bool) -> String {
    let Some(value) = value else { return "n/a".to_owned() };
    if by_session {
        format!("{value:.4} (mean of sessions)")
    } else {
        format!("{value:.4} ({} of {})", share.kept, share.total)
    }
}
