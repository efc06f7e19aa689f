//! At which size, and at which moment, a context is compacted.

use super::budget::{Room, fraction};
use super::usage::UsageRules;
use serde::Deserialize;

/// When a system compacts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TriggerRules {
    /// It compacts by itself.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// What is compared with the limit.
    pub measure: Measure,
    /// The limit.
    pub limit: Limit,
    /// Where set, this share of the window replaces the limit; fires above it.
    #[serde(default)]
    pub percent: Option<f64>,
    /// Where it is looked at.
    pub check: Check,
    /// How usage is read for the trigger, where that differs from the profile's `[usage]`.
    #[serde(default)]
    pub usage: Option<UsageRules>,
    /// Old results are pruned where nothing is compacted; never where this is missing.
    #[serde(default)]
    pub prune: Option<PruneRules>,
}

fn yes() -> bool {
    true
}

/// What is compared with the limit, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Exact counts of the messages and of what a request carries beside them.
    Counted,
    /// The system's own estimates of all entries.
    Estimate,
    /// The newest reported usage.
    Usage,
    /// Reported usage and estimates of what it does not cover.
    UsageAndEstimate,
    /// Estimates times the factor learnt from reported usage, and what a request carries beside messages.
    Calibrated,
}

/// The size at which the trigger fires. In TOML a table of one key: `limit = { share = 0.8 }`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// At this share of the window, and above it.
    Share(f64),
    /// Above this share of the window.
    AboveShare(f64),
    /// Above the window less so many tokens.
    Reserve(u64),
    /// Above so many hundredths of the window, cut to whole tokens. The hundredths are made a double first: 29 % of 100
    /// are 28 tokens.
    Percent(f64),
    /// At a share of the window less the longest reply, and above it; in single precision.
    InputShare(InputShare),
}

/// A share of the input budget.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputShare {
    /// The share.
    pub threshold: f32,
    /// Taken off it, so that the summarizer's prompt fits too.
    #[serde(default)]
    pub reserve: f32,
    /// What remains at the least.
    #[serde(default)]
    pub least: f32,
}

impl InputShare {
    /// The share at which it fires.
    pub fn effective(self) -> f32 {
        (self.threshold - self.reserve).max(self.least)
    }
}

/// Where the trigger is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Before every model request, also between tool rounds.
    Request,
    /// Before the request that answers a new user message, which is in the context by then.
    Turn,
    /// Behind the last reply of a turn.
    TurnEnd,
    /// Behind the last reply of a turn, and again before a new user message enters the context.
    TurnEndAndPrompt,
    /// Before every model request and behind the last reply of a turn.
    RequestAndTurnEnd,
    /// Behind each batch of tool results, and before a new user message enters the context.
    ToolBatchAndSubmit,
    /// Behind the last reply of a turn, beside the conversation: it goes on meanwhile.
    Response,
}

/// A moment of a session at which a trigger can be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A user message is about to enter the context.
    Submit,
    /// Before the request that answers a user message; it is in the context.
    Prompted,
    /// Behind a batch of tool results, before the request that answers them.
    ToolBatch,
    /// Behind a reply that ends a turn.
    TurnEnd,
}

impl Check {
    /// Whether the trigger is looked at in a moment.
    pub fn at(self, moment: Moment) -> bool {
        match self {
            Self::Request => matches!(moment, Moment::Prompted | Moment::ToolBatch),
            Self::Turn => moment == Moment::Prompted,
            Self::TurnEnd | Self::Response => moment == Moment::TurnEnd,
            Self::TurnEndAndPrompt => matches!(moment, Moment::TurnEnd | Moment::Submit),
            Self::RequestAndTurnEnd => {
                matches!(moment, Moment::Prompted | Moment::ToolBatch | Moment::TurnEnd)
            }
            Self::ToolBatchAndSubmit => matches!(moment, Moment::ToolBatch | Moment::Submit),
        }
    }
}

impl Limit {
    /// Whether so many tokens fire.
    pub fn fires(self, tokens: u64, room: Room) -> bool {
        let window = room.window as f64;
        match self {
            // A quotient, not a product: the two differ in the last bit.
            Self::Share(share) => room.window > 0 && tokens as f64 / window >= share,
            Self::AboveShare(share) => tokens as f64 > window * share,
            // Signed: with a reserve beyond the window nothing at all fires too.
            Self::Reserve(reserve) => tokens.saturating_add(reserve) > room.window,
            Self::Percent(percent) => tokens > (window * (percent / 100.0)) as u64,
            Self::InputShare(share) => {
                room.input() > 0 && fraction(tokens, room.input()) >= share.effective()
            }
        }
    }

    /// The limit as the system has it, in tokens: a share of the window is rounded up, a limit that must be passed is the
    /// greatest size that does not fire.
    pub fn tokens(self, room: Room) -> u64 {
        match self {
            Self::Share(_) | Self::InputShare(_) => self.least(room),
            Self::AboveShare(share) => (room.window as f64 * share) as u64,
            Self::Reserve(reserve) => room.window.saturating_sub(reserve),
            Self::Percent(percent) => (room.window as f64 * (percent / 100.0)) as u64,
        }
    }

    /// The least size that fires; `u64::MAX` where none does.
    pub fn least(self, room: Room) -> u64 {
        // Every rule is monotone in the size: twice the window is looked at for limits above it, too.
        let (mut low, mut high) = (0, room.window.saturating_mul(2).max(1));
        if !self.fires(high, room) {
            return u64::MAX;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if self.fires(middle, room) { high = middle } else { low = middle + 1 }
        }
        low
    }
}

impl TriggerRules {
    /// Whether a context of so many tokens is compacted.
    pub fn fires(&self, tokens: u64, room: impl Into<Room>) -> bool {
        self.enabled && self.limit().fires(tokens, room.into())
    }

    /// The limit that holds.
    pub fn limit(&self) -> Limit {
        self.percent.map_or(self.limit, Limit::AboveShare)
    }

    /// The least size that fires; `u64::MAX` where none does.
    pub fn least(&self, room: impl Into<Room>) -> u64 {
        if self.enabled { self.limit().least(room.into()) } else { u64::MAX }
    }

    /// What is done in a state: a context is compacted, else old results are pruned, else nothing.
    pub fn action(&self, state: &State) -> Action {
        if !state.compacting && state.tokens.is_some_and(|tokens| self.fires(tokens, state.room)) {
            return Action::Compact { marks_results: self.prune.is_some() && !state.results_marked };
        }
        match self.prune {
            Some(prune) if !state.results_marked && state.result_tokens > prune.above => Action::Prune,
            _ => Action::None,
        }
    }

    /// Refuses contradictory settings.
    pub fn validate(&self) -> Result<(), String> {
        let share = |name: &str, value: f64, most: f64| {
            if value.is_finite() && value > 0.0 && value <= most {
                Ok(())
            } else {
                Err(format!("trigger.{name} is {value}, must be above 0 and at most {most}"))
            }
        };
        if let Some(percent) = self.percent
            && !(0.0..=1.0).contains(&percent)
        {
            return Err(format!("trigger.percent is {percent}, must be between 0 and 1"));
        }
        match self.limit {
            Limit::Share(value) => share("limit.share", value, 1.0),
            Limit::AboveShare(value) => share("limit.above_share", value, 1.0),
            Limit::Percent(value) => share("limit.percent", value, 100.0),
            Limit::Reserve(_) => Ok(()),
            Limit::InputShare(value) => {
                share("limit.input_share.threshold", f64::from(value.threshold), 1.0)?;
                share("limit.input_share (less its reserve)", f64::from(value.effective()), 1.0)
            }
        }
    }
}

/// When old results are pruned by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PruneRules {
    /// Results of more tokens than this, in all. Once per session: what was pruned stays marked.
    pub above: u64,
}

/// What the trigger knows of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Size of the context by [`TriggerRules::measure`]; none where it is not known.
    pub tokens: Option<u64>,
    /// The window.
    pub room: Room,
    /// A compaction is running.
    pub compacting: bool,
    /// Results up to some message were pruned before, or go with a compaction.
    pub results_marked: bool,
    /// Tokens of all results in the context.
    pub result_tokens: u64,
}

/// What is done at a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    None,
    /// The context is compacted.
    Compact {
        /// Results are marked as pruned with it.
        marks_results: bool,
    },
    /// Old results are pruned.
    Prune,
}
