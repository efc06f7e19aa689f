//! A system's whole compaction policy as plain data: when to compact, what to keep, how the summary is written.
//!
//! No code asks for a system's name: every system, and every user's own policy, is a value of [`Profile`], written as
//! TOML. Absolute amounts are meant for [`Profile::window`]; [`Profile::at`] scales them to the window of a replay.

use crate::strategy::TextRules;
use crate::summarize::{Layout, ListForm};
use crate::transcript::Role;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The policy embedded as the default.
const STANDARD: &str = include_str!("profile/standard.toml");

/// A policy. Unknown keys are errors that name their line.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Name as written in results.
    pub name: String,
    /// One line for listings.
    #[serde(default)]
    pub description: String,
    /// The window, in tokens, that its absolute amounts are meant for.
    pub window: u64,
    /// Keep the newest user request verbatim after every compaction.
    #[serde(default)]
    pub pin_request: bool,
    /// Largest pinned request as a share of the window; above it the head and the tail stay.
    #[serde(default = "default_pin_limit")]
    pub pin_limit: f64,
    /// What every request carries beyond messages.
    #[serde(default)]
    pub overhead: Overhead,
    /// When to compact.
    pub trigger: Trigger,
    /// What stays verbatim.
    pub keep: Keep,
    /// What to do when the cut falls inside a turn.
    #[serde(default)]
    pub split: Split,
    /// How the summary is written and placed.
    pub summary: SummaryRules,
    /// What counts as a file operation for the cumulative lists.
    #[serde(default)]
    pub files: FileRules,
}

fn default_pin_limit() -> f64 {
    0.25
}

/// Tokens of a request that are no message.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct Overhead {
    /// Used when neither tool schemas nor the first recorded usage tell.
    #[serde(default)]
    pub tokens: u64,
}

/// When to compact.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trigger {
    /// Fires when (context + overhead) / window is at or above this share.
    pub threshold: f64,
    /// Where it is looked at.
    pub check: Check,
}

/// Where the trigger is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Before every model request, also between tool rounds.
    Request,
    /// Only before the request that answers a new user message.
    Turn,
}

/// What stays verbatim.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keep {
    /// Size of the tail in tokens, for the profile's own window.
    pub tokens: u64,
    /// Where a cut may fall.
    pub boundary: Boundary,
}

/// Where a cut may fall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Boundary {
    /// At any message that parts no call from its results.
    Unit,
    /// At a user request when one lies inside the tail budget, else as `unit`.
    Turn,
}

/// A cut inside a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// 1: the turn's beginning is summarised with the rest; 2: it gets a summary of its own, a third of the budget.
    #[serde(default = "one")]
    pub summaries: u8,
    /// Least messages of the turn before the cut for a split to be worth a second summary.
    #[serde(default = "one_message")]
    pub min_prefix: usize,
}

impl Default for Split {
    fn default() -> Self {
        Self { summaries: 1, min_prefix: 1 }
    }
}

fn one() -> u8 {
    1
}

fn one_message() -> usize {
    1
}

/// How the summary is written and placed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SummaryRules {
    /// Least budget in tokens; does not scale with the window.
    pub budget_tokens: u64,
    /// Budget as a share of the window; the larger of both holds.
    pub budget_fraction: f64,
    /// Sections of the structured strategy.
    pub layout: LayoutName,
    /// How the file lists enter the text.
    pub lists: ListName,
    /// Whether the truncate strategy writes file tags.
    #[serde(default)]
    pub truncate_tags: bool,
    /// Whether the harness keeps the file lists as data beside the text too, outside the budget and the model's sight.
    #[serde(default)]
    pub metadata: bool,
    /// Role of the message that carries the summary: `user` or `assistant`.
    #[serde(default)]
    pub role: SummaryRole,
    /// Text before the summary.
    #[serde(default)]
    pub prefix: String,
    /// Text after it.
    #[serde(default)]
    pub suffix: String,
    /// What the emergency strategy puts in place of a summary.
    pub emergency_notice: String,
}

/// Role of the message that carries the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum SummaryRole {
    /// As if the user said it.
    #[default]
    User,
    /// As if the model said it.
    Assistant,
}

impl From<SummaryRole> for Role {
    fn from(role: SummaryRole) -> Self {
        match role {
            SummaryRole::User => Self::User,
            SummaryRole::Assistant => Self::Assistant,
        }
    }
}

/// Names of [`Layout`] in a profile file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayoutName {
    /// See [`Layout::SixSections`].
    SixSections,
    /// See [`Layout::GoalProgress`].
    GoalProgress,
}

/// Names of [`ListForm`] in a profile file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListName {
    /// See [`ListForm::Tags`].
    Tags,
    /// See [`ListForm::Inline`].
    Inline,
    /// See [`ListForm::None`].
    None,
}

/// What counts as a file operation for the cumulative lists of the harness (not for the answer key).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRules {
    /// Count calls that failed, were refused or never answered.
    #[serde(default)]
    pub failed: bool,
    /// Count operations found in shell commands.
    #[serde(default = "yes")]
    pub shell: bool,
}

fn yes() -> bool {
    true
}

impl Default for FileRules {
    fn default() -> Self {
        Self { failed: false, shell: true }
    }
}

/// A profile that cannot be used: the reason, with the line where one is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("profile {name}: {reason}")]
pub struct ProfileError {
    /// File or profile name.
    pub name: String,
    /// What is wrong and what would be right.
    pub reason: String,
}

/// Reads one table of a TOML text, and nothing else of it.
pub(crate) fn section<T: DeserializeOwned>(text: &str, key: &str) -> Result<T, ProfileError> {
    let fail = |reason: String| ProfileError { name: key.to_owned(), reason };
    let mut tables: toml::Table =
        toml::from_str(text).map_err(|error| fail(error.to_string().trim_end().to_owned()))?;
    let table = tables.remove(key).ok_or_else(|| fail(format!("there is no table [{key}]")))?;
    T::deserialize(table).map_err(|error| fail(error.to_string().trim_end().to_owned()))
}

impl Profile {
    /// The embedded default.
    pub fn standard() -> Self {
        Self::parse("standard", STANDARD).expect("the embedded profile is valid: a test parses it")
    }

    /// Reads a profile from TOML text; `origin` names it in errors.
    pub fn parse(origin: &str, text: &str) -> Result<Self, ProfileError> {
        let fail = |reason: String| ProfileError { name: origin.to_owned(), reason };
        let profile: Self =
            toml::from_str(text).map_err(|error| fail(error.to_string().trim_end().to_owned()))?;
        profile.validate().map_err(fail)?;
        Ok(profile)
    }

    /// Refuses contradictory settings before anything runs.
    fn validate(&self) -> Result<(), String> {
        let share = |value: f64| value.is_finite() && value > 0.0 && value <= 1.0;
        if self.window == 0 {
            return Err("window must be at least 1 token".to_owned());
        }
        if !share(self.trigger.threshold) {
            return Err(format!(
                "trigger.threshold is {}, must be above 0 and at most 1",
                self.trigger.threshold
            ));
        }
        if !share(self.pin_limit) {
            return Err(format!("pin_limit is {}, must be above 0 and at most 1", self.pin_limit));
        }
        if !(self.summary.budget_fraction.is_finite() && (0.0..=0.25).contains(&self.summary.budget_fraction))
        {
            return Err(format!(
                "summary.budget_fraction is {}, must be between 0 and 0.25",
                self.summary.budget_fraction
            ));
        }
        if self.summary.budget_tokens > self.window / 4 {
            return Err(format!(
                "summary.budget_tokens is {}, more than a quarter of the window ({})",
                self.summary.budget_tokens, self.window
            ));
        }
        let trigger_tokens = self.trigger.threshold * self.window as f64;
        if self.keep.tokens as f64 >= trigger_tokens {
            return Err(format!(
                "keep.tokens ({}) reaches the trigger ({trigger_tokens:.0} tokens): nothing could ever be compacted",
                self.keep.tokens
            ));
        }
        if !(1..=2).contains(&self.split.summaries) {
            return Err(format!("split.summaries is {}, must be 1 or 2", self.split.summaries));
        }
        Ok(())
    }

    /// Its amounts for one window. `budget` overrides the summary budget (`--summary-tokens`).
    pub fn at(&self, window: u64, budget: Option<u64>) -> Amounts {
        let scale = window as f64 / self.window as f64;
        let own = self.summary.budget_tokens.max((self.summary.budget_fraction * window as f64) as u64);
        Amounts {
            window,
            trigger: (self.trigger.threshold * window as f64).ceil() as u64,
            keep: (self.keep.tokens as f64 * scale) as u64,
            budget: budget.unwrap_or(own).min(window / 4),
            pin: (self.pin_limit * window as f64) as u64,
        }
    }

    /// What the strategies need to know to write text.
    pub fn text_rules(&self) -> TextRules {
        TextRules {
            layout: match self.summary.layout {
                LayoutName::SixSections => Layout::SixSections,
                LayoutName::GoalProgress => Layout::GoalProgress,
            },
            list_form: match self.summary.lists {
                ListName::Tags => ListForm::Tags,
                ListName::Inline => ListForm::Inline,
                ListName::None => ListForm::None,
            },
            truncate_tags: self.summary.truncate_tags,
            metadata: self.summary.metadata,
            summary_role: self.summary.role.into(),
            prefix: self.summary.prefix.clone(),
            suffix: self.summary.suffix.clone(),
            emergency_notice: self.summary.emergency_notice.clone(),
        }
    }
}

/// The least window in tokens: a smaller one holds a few lines, and compacting these is not worth a summary.
pub const MIN_WINDOW: u64 = 400;

/// A profile's amounts at one window, all in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amounts {
    /// The window.
    pub window: u64,
    /// Fires at this many tokens of context and overhead.
    pub trigger: u64,
    /// Size of the tail.
    pub keep: u64,
    /// Everything generated fits into this.
    pub budget: u64,
    /// Largest pinned request.
    pub pin: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_refused(change: (&str, &str), expect: &str) {
        let text = STANDARD.replace(change.0, change.1);
        assert_ne!(text, STANDARD, "the change must apply");
        let error = Profile::parse("mine.toml", &text).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    }

    #[test]
    fn the_embedded_profile_is_valid() {
        let standard = Profile::standard();
        assert_eq!(standard.name, "standard");
        let amounts = standard.at(128_000, None);
        assert_eq!((amounts.trigger, amounts.keep, amounts.budget), (102_400, 20_000, 5_120));
    }

    #[test]
    fn amounts_scale_with_the_window_and_the_budget_stays_within_a_quarter() {
        let standard = Profile::standard();
        let amounts = standard.at(64_000, None);
        assert_eq!((amounts.trigger, amounts.keep, amounts.budget), (51_200, 10_000, 2_560));
        assert_eq!(standard.at(2_000, None).budget, 500);
        assert_eq!(standard.at(20_000, None).budget, 1_000);
        assert_eq!(standard.at(20_000, Some(700)).budget, 700);
        assert_eq!(standard.at(2_000, Some(700)).budget, 500);
    }

    #[test]
    fn contradictions_are_refused_with_the_reason() {
        check_refused(("tokens = 20000", "tokens = 120000"), "reaches the trigger");
        check_refused(("window = 128000", "window = 0"), "at least 1 token");
        check_refused(("threshold = 0.80", "threshold = 1.8"), "trigger.threshold is 1.8");
        check_refused(("threshold = 0.80", "treshold = 0.8"), "treshold");
        check_refused(("budget_fraction = 0.04", "budget_fraction = 0.5"), "between 0 and 0.25");
        check_refused(("budget_tokens = 1000 ", "budget_tokens = 90000 "), "quarter of the window");
        check_refused(("tokens = 20000", "tokens = -1"), "invalid value");
    }
}
