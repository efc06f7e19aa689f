//! A system's whole compaction policy as plain data: when to compact, what to keep, how the summary is written.
//!
//! No code asks for a system's name: every system, and every user's own policy, is a value of [`Profile`], written as
//! TOML. Absolute amounts are meant for [`Profile::window`]; [`Profile::at`] scales them to the window of a replay.

use crate::compaction::{EmergencyRules, SessionRules, WritingRules};
use crate::cut::{CutRules, Landing, TurnRules};
use crate::estimate::{BudgetRules, EstimateRules, TriggerRules, UsageRules};
use crate::harness::MessageRules;
use crate::ledger::FileOpRules;
use crate::outputs::OutputRules;
use crate::overflow::Matcher;
use crate::pairs::PairRules;
use crate::prompt::PromptRules;
use crate::replay::events::EventRules;
use crate::strategy::TextRules;
use crate::summarize::{Layout, ListForm, ModelRules};
use crate::summary_text::SummaryText;
use crate::transcript::Role;
use serde::Deserialize;

mod amounts;
mod check;
mod file;
mod templates;

pub use amounts::{Amounts, MIN_WINDOW};
#[cfg(test)]
pub(crate) use file::section;
pub(crate) use file::suggested;
pub use file::{known, line_of, nearest, nested, overlay};

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
    /// What a message is to the system.
    #[serde(default)]
    pub messages: MessageRules,
    /// How large an entry is to the system; exact counts where this is missing.
    #[serde(default)]
    pub estimate: Option<EstimateRules>,
    /// How reported usage is read.
    #[serde(default)]
    pub usage: Option<UsageRules>,
    /// The room for a prompt.
    #[serde(default)]
    pub budget: BudgetRules,
    /// When to compact.
    pub trigger: TriggerRules,
    /// How much stays verbatim.
    pub keep: Keep,
    /// Where the tail begins.
    pub cut: CutRules,
    /// What a cut inside a turn is.
    pub turn: TurnRules,
    /// What to do when the cut falls inside a turn.
    #[serde(default)]
    pub split: Split,
    /// How sessions hold compactions.
    pub session: SessionRules,
    /// When a summary is given up.
    #[serde(default)]
    pub emergency: Option<EmergencyRules>,
    /// What a person's command does.
    #[serde(default)]
    pub manual: ManualRules,
    /// What a refused request does, where its error is taken for an overflow.
    #[serde(default)]
    pub refused: RefusedRules,
    /// How it tells of compactions.
    #[serde(default)]
    pub events: EventRules,
    /// How pairs are repaired when a request is built.
    #[serde(default)]
    pub pairs: PairRules,
    /// What becomes of tool results.
    #[serde(default)]
    pub outputs: OutputRules,
    /// How a conversation is written for a summarizer.
    #[serde(default)]
    pub prompt: Option<PromptRules>,
    /// How the summary is written and placed.
    pub summary: SummaryRules,
    /// What the system's own code writes around or in place of a summary.
    pub summary_text: SummaryText,
    /// How summaries are asked for, and what a failure does.
    #[serde(default)]
    pub writing: WritingRules,
    /// The model that is asked for summaries, where one is.
    #[serde(default)]
    pub llm: ModelRules,
    /// Which calls count for the lists of files, by the system's own names of tools.
    #[serde(default)]
    pub ledger: Option<FileOpRules>,
    /// What counts as a file operation for the cumulative lists of a replay.
    #[serde(default)]
    pub files: FileRules,
    /// Which errors it takes for an overflow: the name of an embedded matcher, or a table.
    #[serde(default = "no_matcher", deserialize_with = "crate::overflow::name_or_table")]
    pub overflow: Matcher,
    /// It does what its system does, known faults included: no fix may be named. Says nothing of a policy of one's own.
    #[serde(default)]
    pub faithful: bool,
    /// Faults of the system that are mended in this profile.
    #[serde(default)]
    pub fixes: Vec<Fix>,
}

/// A fault of a modelled system that can be mended: faithful profiles have none mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fix {
    /// A cut never parts a call from its result: it moves to the nearest place before it, else behind it, that does not.
    SafeCut,
    /// What is summarized takes up the summary before it, where the system forgets or drops it.
    CarrySummary,
    /// A clean cut behind a label or model change counts as clean.
    FalseSplit,
    /// A summary without a word is a failure.
    EmptySummary,
}

impl Fix {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::SafeCut, Self::CarrySummary, Self::FalseSplit, Self::EmptySummary];

    /// Name in a profile file.
    pub fn name(self) -> &'static str {
        match self {
            Self::SafeCut => "safe-cut",
            Self::CarrySummary => "carry-summary",
            Self::FalseSplit => "false-split",
            Self::EmptySummary => "empty-summary",
        }
    }
}

fn no_matcher() -> Matcher {
    Matcher::named("none").expect("an embedded matcher: a test parses it")
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

/// How much stays verbatim: exactly one of these.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keep {
    /// Size of the tail in tokens, for the profile's own window.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// Share of the window.
    #[serde(default)]
    pub share: Option<f64>,
    /// Share of what the context holds when it is compacted, by the cut's own sizes: a summary that counts there, and
    /// messages, but nothing that a request carries beside them.
    #[serde(default)]
    pub context: Option<f64>,
    /// Number of entries; does not scale with the window.
    #[serde(default)]
    pub entries: Option<u64>,
}

/// What a person's command to compact does.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct ManualRules {
    /// Size of the tail in tokens, for the profile's own window, unless the command names one; missing: that of [`Keep`].
    pub keep: Option<u64>,
    /// The tail is no more than this share of what stands in the context, unless the command names its size.
    pub context_share: Option<f64>,
    /// When it is done.
    pub when: When,
    /// Fewest entries of a session that is compacted.
    pub least: usize,
    /// A session that is taken up again comes back as it is where it is no more than this share of the window, else all of
    /// it is compacted. Missing: it always comes back.
    pub resume: Option<f64>,
}

/// When a command is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// At once.
    #[default]
    Now,
    /// When no turn is under way.
    TurnEnd,
}

/// What a request that does not fit does.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct RefusedRules {
    /// Size of the tail as a share of the window; missing: that of [`Keep`].
    pub keep_share: Option<f64>,
    /// The tail is no more than this share of what stands in the context.
    pub context_share: Option<f64>,
    /// Something leaves although all of it might stay by size ([`CutRules::forced`]).
    pub force: bool,
    /// No summary: what leaves by the rules of an emergency is dropped.
    pub drop: bool,
}

/// A cut inside a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// 1: the turn's beginning is summarised with the rest; 2: it gets a summary of its own, a third of the budget.
    #[serde(default = "one")]
    pub summaries: u8,
}

impl Default for Split {
    fn default() -> Self {
        Self { summaries: 1 }
    }
}

fn one() -> u8 {
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
    /// Whether a summary takes up the one before it.
    #[serde(default = "yes")]
    pub carries: bool,
    /// What the truncate strategy calls a message of tool results.
    #[serde(default = "tool")]
    pub tool_name: String,
}

fn tool() -> String {
    "tool".to_owned()
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
    /// See [`Layout::Prose`].
    Prose,
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

impl Profile {
    /// Is a fault mended here?
    pub fn mends(&self, fix: Fix) -> bool {
        self.fixes.contains(&fix)
    }

    /// Where the tail begins, with the fixes of the profile.
    pub fn cut_rules(&self) -> CutRules {
        let mut rules = self.cut.clone();
        if self.mends(Fix::FalseSplit) {
            rules.absorbs.clear();
        }
        rules
    }

    /// The share of the window at which a context is full, as far as one number tells.
    pub fn fullness(&self) -> f64 {
        let amounts = self.at(self.window, None);
        (amounts.trigger.min(self.window) as f64 / self.window as f64).max(0.01)
    }

    /// A person's request is what a turn begins with, not just any message of the user.
    pub fn turns_are_requests(&self) -> bool {
        self.turn.starts.contains(&Landing::Request)
    }

    /// What the strategies need to know to write text.
    pub fn text_rules(&self) -> TextRules {
        TextRules {
            layout: match self.summary.layout {
                LayoutName::SixSections => Layout::SixSections,
                LayoutName::GoalProgress => Layout::GoalProgress,
                LayoutName::Prose => Layout::Prose,
            },
            list_form: match self.summary.lists {
                ListName::Tags => ListForm::Tags,
                ListName::Inline => ListForm::Inline,
                ListName::None => ListForm::None,
            },
            list_order: self.ledger.as_ref().map(|rules| rules.order),
            truncate_tags: self.summary.truncate_tags,
            metadata: self.summary.metadata,
            summary_role: self.summary.role.into(),
            // Where a compaction begins a new session, what is in the context is the summary of the one before.
            prefix: self
                .summary_text
                .parent_prefix
                .clone()
                .unwrap_or_else(|| self.summary_text.prefix.clone()),
            suffix: self.summary_text.suffix.clone(),
            emergency_notice: self
                .summary_text
                .emergency
                .clone()
                .unwrap_or_else(|| crate::strategy::emergency::NOTICE.to_owned()),
            tool_name: self.summary.tool_name.clone(),
            own: self.summary_text.own_lines(),
        }
    }
}

#[cfg(test)]
mod tests;
