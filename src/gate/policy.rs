//! What a gate asks for: a TOML file.
//!
//! Thresholds are decimals as they are written, never floats: 7 of 10 reaches 0.7.

mod words;

use crate::aggregate::scores::{AMOUNTS, Contender, INVARIANTS, shares};
use crate::profile::{nearest, suggested};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// A decimal as it was written: `digits / 10^scale`, not negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    digits: u128,
    scale: u32,
}

/// More decimals than this no threshold has a use for.
const DECIMALS: u32 = 9;

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self { digits: 0, scale: 0 };

    /// The decimal that is written like this; `None` for what is negative, not finite or has more than 9 decimals.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(part) || DECIMALS as usize <= part.len() {
            return None;
        }
        let digits = format!("{whole}{part}").parse().ok().filter(|digits| *digits < 1 << 60)?;
        Some(Self { digits, scale: part.len() as u32 })
    }

    /// The nearest double, for display and for tests with intervals.
    pub fn value(self) -> f64 {
        self.digits as f64 / self.unit() as f64
    }

    /// Is `part / whole` at least this? Exact.
    pub fn is_reached_by(self, part: u64, whole: u64) -> bool {
        self.digits.saturating_mul(u128::from(whole)) <= u128::from(part).saturating_mul(self.unit())
    }

    /// Is `now` below `before` by more than this, both shares? Exact.
    pub fn is_exceeded_by_drop(self, before: (u64, u64), now: (u64, u64)) -> bool {
        // before - now > digits / unit, all multiplied by both wholes and the unit.
        let wide = |part: u64, whole: u64| u128::from(part) * u128::from(whole);
        let (ours, theirs) = (wide(before.0, now.1), wide(now.0, before.1));
        let both = wide(before.1, now.1);
        let Some(drop) = ours.checked_sub(theirs) else { return false };
        match (drop.checked_mul(self.unit()), both.checked_mul(self.digits)) {
            (Some(drop), Some(allowed)) => allowed < drop,
            // Counts this large lose nothing in a double.
            _ => self.value() < drop as f64 / both as f64,
        }
    }

    /// Is `now` above `before` by more than this share of it? Exact. From nothing any rise is too much.
    pub fn is_exceeded_by_rise(self, before: u64, now: u64) -> bool {
        let Some(rise) = now.checked_sub(before) else { return false };
        u128::from(before).saturating_mul(self.digits) < u128::from(rise).saturating_mul(self.unit())
    }

    /// As a whole number, where it is one.
    pub fn whole(self) -> Option<u64> {
        let whole = self.digits.is_multiple_of(self.unit()).then_some(self.digits / self.unit())?;
        whole.try_into().ok()
    }

    /// As a share in percent: `2 %`.
    pub fn percent(self) -> String {
        let (digits, scale) = match self.scale.checked_sub(2) {
            Some(scale) => (self.digits, scale),
            None => (self.digits * 100 / self.unit(), 0),
        };
        let text = Self { digits, scale }.to_string();
        let text = if scale > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        format!("{text} %")
    }

    fn unit(self) -> u128 {
        10_u128.pow(self.scale)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:0>width$}", self.digits, width = self.scale as usize + 1);
        let (whole, part) = digits.split_at(digits.len() - self.scale as usize);
        f.write_str(whole)?;
        if part.is_empty() { Ok(()) } else { write!(f, ".{part}") }
    }
}

/// One name or several.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Names {
    /// Any.
    #[default]
    Any,
    /// This one.
    One(String),
    /// One of these.
    Several(Vec<String>),
}

impl Names {
    fn holds(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::One(own) => own == name,
            Self::Several(own) => own.iter().any(|own| own == name),
        }
    }

    fn list(&self) -> &[String] {
        match self {
            Self::Any => &[],
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }

    fn text(&self) -> Option<String> {
        match self {
            Self::Any => None,
            Self::One(name) => Some(name.clone()),
            Self::Several(names) => Some(names.join(", ")),
        }
    }
}

/// How a share of many sessions is made of theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Average {
    /// All facts of all sessions together, as the `micro` columns of a summary.
    #[default]
    Micro,
    /// The mean of the sessions' shares: each session weighs the same.
    Macro,
}

/// What a metric may not do. At least one of the four is given.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// A share or an amount.
    pub metric: String,
    /// Contenders it is about.
    #[serde(default)]
    pub profile: Names,
    /// The same.
    #[serde(default)]
    pub strategy: Names,
    /// The same.
    #[serde(default)]
    pub window: Names,
    /// The lowest share that passes, 0 to 1.
    pub min: Option<Decimal>,
    /// So much may a share be below the baseline, 0 to 1.
    pub max_drop: Option<Decimal>,
    /// The largest amount that passes, over all sessions.
    pub max: Option<Decimal>,
    /// By such a share of the baseline may an amount be above it.
    pub max_rise: Option<Decimal>,
    /// How shares are pooled.
    #[serde(default)]
    pub average: Average,
    /// In place of that of the policy, for what few sessions have.
    #[serde(default, deserialize_with = "words::some_whole")]
    pub min_sessions: Option<u64>,
}

impl Rule {
    /// Is it about this contender?
    pub fn is_about(&self, contender: &Contender) -> bool {
        self.profile.holds(&contender.profile)
            && self.strategy.holds(&contender.strategy)
            && self.window.holds(&contender.window)
    }

    /// The largest amount that passes.
    pub fn ceiling(&self) -> Option<u64> {
        self.max.and_then(Decimal::whole)
    }

    /// What is wrong with names that no contender of the run has; nothing where it has none at all.
    pub fn unknown_names(&self, contenders: &[&Contender]) -> Vec<String> {
        let mut wrong = Vec::new();
        if contenders.is_empty() {
            return wrong;
        }
        let kinds: [(&str, &Names, fn(&Contender) -> &str); 3] = [
            ("profile", &self.profile, |it| &it.profile),
            ("strategy", &self.strategy, |it| &it.strategy),
            ("window", &self.window, |it| &it.window),
        ];
        for (kind, names, of) in kinds {
            let known: Vec<&str> = contenders.iter().map(|contender| of(contender)).collect();
            for name in names.list().iter().filter(|name| !known.contains(&name.as_str())) {
                wrong.push(format!("the run has no {kind} `{name}`{}", meant(name, known.iter().copied())));
            }
        }
        wrong
    }

    /// The rule, once for each of its limits.
    pub fn single_limits(&self) -> Vec<Self> {
        let none = Self { min: None, max_drop: None, max: None, max_rise: None, ..self.clone() };
        let each = [
            self.min.map(|min| Self { min: Some(min), ..none.clone() }),
            self.max_drop.map(|drop| Self { max_drop: Some(drop), ..none.clone() }),
            self.max.map(|max| Self { max: Some(max), ..none.clone() }),
            self.max_rise.map(|rise| Self { max_rise: Some(rise), ..none.clone() }),
        ];
        each.into_iter().flatten().collect()
    }

    /// The contenders it names, for a message.
    pub fn whom(&self) -> String {
        let named = [("profile", &self.profile), ("strategy", &self.strategy), ("window", &self.window)];
        let named: Vec<String> =
            named.iter().filter_map(|(kind, names)| Some(format!("{kind} {}", names.text()?))).collect();
        if named.is_empty() { "any contender".to_owned() } else { named.join(", ") }
    }

    fn plain(metric: &str) -> Self {
        Self {
            metric: metric.to_owned(),
            profile: Names::Any,
            strategy: Names::Any,
            window: Names::Any,
            min: None,
            max_drop: None,
            max: None,
            max_rise: None,
            average: Average::Micro,
            min_sessions: None,
        }
    }
}

/// Whether equal settings give equal figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Noise {
    /// Exact for the embedded summarizer and for strategies that ask nobody, intervals for models.
    #[default]
    Auto,
    /// They do: any difference is one.
    Exact,
    /// They do not: a difference counts when chance is unlikely to make it.
    Interval,
}

/// What a gate asks for.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Sessions with a value that a figure needs before anything is said of it; at least 1.
    #[serde(default = "ten", deserialize_with = "words::whole")]
    pub min_sessions: u64,
    /// Sessions that may fail and files that may be unreadable, in all.
    #[serde(default, deserialize_with = "words::whole")]
    pub max_unscored: u64,
    /// Broken hard invariants that are allowed, by kind; `all` for those not named. 0 where nothing is said.
    #[serde(default, deserialize_with = "words::wholes")]
    pub invariants: BTreeMap<String, u64>,
    /// See [`Noise`].
    #[serde(default)]
    pub noise: Noise,
    /// Chance that a run as good as its baseline fails, over all rules; for runs with noise.
    #[serde(default = "one_in_twenty", deserialize_with = "words::number")]
    pub false_alarms: f64,
    /// The rules.
    #[serde(default, rename = "rule")]
    pub rules: Vec<Rule>,
}

fn ten() -> u64 {
    10
}

fn one_in_twenty() -> f64 {
    0.05
}

/// No amount is larger than this.
const MOST: u64 = 1 << 40;

/// Shares that the gate holds where no policy is given: none of them may drop.
const HEADLINES: [&str; 7] = [
    "files_modified",
    "files_read",
    "structural_survival",
    "lexical_survival",
    "summary_survival",
    "needed_survival",
    "context_survival",
];

impl Policy {
    /// What is asked where there is a baseline and no policy: no headline may drop, no invariant break.
    pub fn standard() -> Self {
        let rules = HEADLINES.map(|metric| Rule { max_drop: Some(Decimal::ZERO), ..Rule::plain(metric) });
        Self {
            min_sessions: ten(),
            max_unscored: 0,
            invariants: BTreeMap::new(),
            noise: Noise::Auto,
            false_alarms: one_in_twenty(),
            rules: rules.into(),
        }
    }

    /// Reads a policy. The error names the line where it can, the cause, and the nearest valid name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let policy: Self = toml::from_str(text).map_err(|error| {
            let place = error.span().map(|span| words::place(text, span.start)).unwrap_or_default();
            format!("{place}{}", words::plain(&suggested(error.message())))
        })?;
        policy.check(text)?;
        Ok(policy)
    }

    fn check(&self, text: &str) -> Result<(), String> {
        let place = |key: &str| words::place_of(text, key);
        if self.min_sessions == 0 || self.rules.iter().any(|rule| rule.min_sessions == Some(0)) {
            let line = words::place_of_value(text, "min_sessions", "0");
            return Err(format!("{line}min_sessions: 0 would judge a run of nothing; give 1 or more"));
        }
        if !(self.false_alarms > 0.0 && self.false_alarms < 1.0) {
            let line = place("false_alarms");
            return Err(format!("{line}false_alarms: give a chance above 0 and below 1, like 0.05"));
        }
        let kinds = || AMOUNTS.iter().take(INVARIANTS).map(|(name, _)| *name).chain(["all"]);
        for (name, limit) in &self.invariants {
            let line = place(name);
            if !kinds().any(|known| known == name) {
                return Err(format!("{line}invariants: unknown kind `{name}`{}", meant(name, kinds())));
            }
            if MOST < *limit {
                return Err(format!("{line}{name}: a limit above {MOST} holds nothing: give a smaller one"));
            }
        }
        let lines: Vec<usize> = text
            .lines()
            .enumerate()
            .filter(|(_, line)| line.trim_start().starts_with("[[rule]]"))
            .map(|(at, _)| at + 1)
            .collect();
        for (at, rule) in self.rules.iter().enumerate() {
            let place = lines
                .get(at)
                .map_or_else(|| format!("rule {}", at + 1), |line| format!("line {line}: rule {}", at + 1));
            rule.check().map_err(|cause| format!("{place}: {cause}"))?;
        }
        Ok(())
    }
}

/// What a wrong name may have meant.
fn meant<'a>(wrong: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let mut all: Vec<&str> = known.clone().collect();
    all.dedup();
    match nearest(&wrong.to_lowercase(), known) {
        Some(name) => format!("; did you mean `{name}`?"),
        None if all.len() <= 12 => format!("; there are {}", all.join(", ")),
        None => "; `compactor columns gate` lists them".to_owned(),
    }
}

impl Rule {
    fn check(&self) -> Result<(), String> {
        let shares = shares();
        let is_share = shares.contains(&self.metric);
        let amounts = || AMOUNTS.iter().map(|(name, _)| *name);
        if !is_share && !amounts().any(|name| name == self.metric) {
            let known = shares.iter().map(String::as_str).chain(amounts());
            return Err(format!("unknown metric `{}`{}", self.metric, meant(&self.metric, known)));
        }
        let metric = &self.metric;
        if is_share && (self.max.is_some() || self.max_rise.is_some()) {
            return Err(format!("{metric} is a share, better when larger: give min or max_drop"));
        }
        if self.max.is_some() && self.ceiling().is_none_or(|limit| MOST < limit) {
            return Err(format!("max: an amount is a whole number up to {MOST}: write one, like 10"));
        }
        if !is_share && (self.min.is_some() || self.max_drop.is_some()) {
            return Err(format!("{metric} is an amount, better when smaller: give max or max_rise"));
        }
        if self.min.is_none() && self.max_drop.is_none() && self.max.is_none() && self.max_rise.is_none() {
            let keys = if is_share { "min or max_drop" } else { "max or max_rise" };
            return Err(format!("{metric} asks for nothing: give {keys}"));
        }
        if !is_share && self.average == Average::Macro {
            return Err(format!("{metric} is an amount, which is added up: average is for shares"));
        }
        let above_one = |limit: Option<Decimal>| limit.is_some_and(|limit| !limit.is_reached_by(1, 1));
        if above_one(self.min) || above_one(self.max_drop) {
            return Err(format!("{metric} is a share: min and max_drop are 0 to 1"));
        }
        for (name, names) in
            [("profile", &self.profile), ("strategy", &self.strategy), ("window", &self.window)]
        {
            if matches!(names, Names::Several(names) if names.is_empty()) {
                return Err(format!("{name} = [] is about nobody: name one, or leave the key out"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_error(text: &str, expected: &str) {
        let error = Policy::parse(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }

    #[test]
    fn a_policy_is_read() {
        let text = "min_sessions = 20\nnoise = 'exact'\n[invariants]\nall = 0\nno_gain = 3\n\
                    [[rule]]\nmetric = 'survival.file.modified'\nstrategy = ['structured', 'narrative']\nmin = 0.95\nmax_drop = 0.01\n\
                    [[rule]]\nmetric = 'prompt_tokens'\nmax_rise = 0.05\n";
        let policy = Policy::parse(text).unwrap();
        assert_eq!((policy.min_sessions, policy.max_unscored, policy.noise), (20, 0, Noise::Exact));
        assert_eq!(policy.rules[0].min.unwrap().to_string(), "0.95");
        assert_eq!(policy.rules[0].whom(), "strategy structured, narrative");
        assert_eq!(policy.invariants["no_gain"], 3);
    }

    #[test]
    fn mistakes_are_named_with_the_nearest_name() {
        check_error("[[rule]]\nmetric = 'file_modified'\nmin = 1\n", "did you mean `files_modified`?");
        check_error("[[rule]]\nmetric = 'survival.file.modifed'\nmin = 1\n", "`survival.file.modified`");
        check_error("[[rule]]\nmetrics = 'files_modified'\nmin = 1\n", "metric");
        check_error("min_session = 3\n", "min_sessions");
        check_error(
            "[invariants]\nno_gian = 1\n",
            "line 2: invariants: unknown kind `no_gian`; did you mean `no_gain`?",
        );
        check_error("[[rule]]\nmetric = 'stale'\nmin = 0.5\n", "give max or max_rise");
        check_error("[[rule]]\nmetric = 'files_read'\nmax = 5\n", "give min or max_drop");
        check_error("[[rule]]\nmetric = 'files_read'\n", "asks for nothing");
        check_error("[[rule]]\nmetric = 'files_read'\nmin = 95\n", "0 to 1");
        check_error("[[rule]]\nmetric = 'files_read'\nmin = -0.1\n", "no threshold");
        check_error("[[rule]]\nmetric = 'files_read'\nmin = nan\n", "no threshold");
        let max = |max: &str| format!("[[rule]]\nmetric = 'files_read'\nmax = {max}\n");
        check_error(&max("0.5"), "line 1: rule 1: files_read is a share, better when larger: give min");
        let max = |max: &str| format!("[[rule]]\nmetric = 'stale'\nmax = {max}\n");
        check_error(&max("0.5"), "line 1: rule 1: max: an amount is a whole number");
        check_error(&max("-3"), "line 3: max: -3 is no threshold");
        check_error(&max("true"), "line 3: max: `true` is no number: write one, like 0.95");
        check_error("[[rule]]\nmetric = 'files_read'\nstrategy = []\nmin = 0.5\n", "nobody");
        check_error("[[rule]]\nmetric = 'stale'\nmax = 5\naverage = 'macro'\n", "average is for shares");
        check_error("# none\nmin_sessions = 0\n", "line 2: min_sessions: 0 would judge");
        check_error("max_unscored = -1\n", "line 1: max_unscored: `-1` is no whole number from 0 on");
        check_error("max_unscored = 1.5\n", "line 1: max_unscored: `1.5` is no whole number from 0 on");
        check_error("false_alarms = '0.1'\n", "line 1: false_alarms: \"0.1\" is a text: write the number");
        check_error("\nnoise = 3\n", "line 2: noise: ");
        check_error("[invariants]\nno_gain = '2'\n", "line 2: no_gain: \"2\" is a text");
        check_error("\ninvariants = 2\n", "line 2: invariants: `2` is no table: write [invariants]");
        check_error("[[rule]]\nmetric = 'stale'\nmax = 1\nmin_sessions = 'few'\n", "line 4: min_sessions: ");
        let names = |window: &str| format!("[[rule]]\nmetric = 'files_read'\nmin = 1\nwindow = {window}\n");
        check_error(&names("128000"), "line 4: window: `128000` is no name: write it as a text: \"128000\"");
        check_error(&names("['auto', 5]"), "line 4: window: `5` is no name");
        check_error("[[rule]]\nmetric = 'files_read'\nmin = '0.9'\n", "line 3: min: \"0.9\" is a text");
        check_error("false_alarms = 1.5\n", "below 1");
        check_error("# two\n\n[[rule]]\nmetric = 'x'\nmin = 1\n", "line 3: rule 1");
    }

    #[test]
    fn a_value_on_the_threshold_passes() {
        let at = |text: &str| Decimal::parse(text).unwrap();
        for (part, whole, limit) in
            [(7, 10, "0.7"), (29, 100, "0.29"), (1, 8, "0.125"), (19, 20, "0.95"), (3, 3, "1")]
        {
            assert!(at(limit).is_reached_by(part, whole), "{part} of {whole}");
            assert!(!at(limit).is_reached_by(part - 1, whole), "{part} of {whole}");
        }
        assert!(!at("0.334").is_reached_by(1, 3) && at("0.333").is_reached_by(1, 3));
        // A drop of 0.1 from 0.8 to 0.7 is no more than 0.1, which floats deny.
        assert!(!at("0.1").is_exceeded_by_drop((8, 10), (7, 10)));
        assert!(at("0.1").is_exceeded_by_drop((80, 100), (69, 100)));
        assert!(at("0").is_exceeded_by_drop((u64::MAX, u64::MAX), (u64::MAX - 1, u64::MAX)));
        assert!(
            !at("0.05").is_exceeded_by_rise(1_000, 1_050) && at("0.05").is_exceeded_by_rise(1_000, 1_051)
        );
        let percents = ["0.02", "0.025", "1", "0.1", "0"].map(|text| at(text).percent());
        assert_eq!(percents, ["2 %", "2.5 %", "100 %", "10 %", "0 %"]);
        assert_eq!([at("3").whole(), at("3.0").whole(), at("3.5").whole()], [Some(3), Some(3), None]);
        assert!(at("0.5").is_exceeded_by_rise(0, 1) && !at("0").is_exceeded_by_rise(5, 5));
        assert_eq!(
            [at("0.70").to_string(), at("12").to_string(), at("0.05").to_string()],
            ["0.70", "12", "0.05"]
        );
        assert!(
            ["", "-1", "1e3", "inf", "0.1234567891", "1.2.3"]
                .iter()
                .all(|text| Decimal::parse(text).is_none())
        );
    }

    #[test]
    fn without_a_policy_no_headline_may_drop() {
        let policy = Policy::standard();
        assert!(policy.rules.iter().all(|rule| rule.check().is_ok() && rule.max_drop == Some(Decimal::ZERO)));
        assert_eq!(policy.rules.len(), HEADLINES.len());
    }
}
