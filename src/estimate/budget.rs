//! The room for a prompt, what a request carries beside messages, and the factor learnt from reported usage.
//!
//! Fractions and factors are single-precision floats, as in the system that has them (sven): what fires at the very limit
//! depends on it.

use super::size::{EstimateRules, texts_tokens};
use serde::Deserialize;

/// How a system reckons with its window.
#[derive(Debug, Clone, PartialEq, Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct BudgetRules {
    /// Tokens of the longest reply, for the profile's own window: they are no room for the prompt.
    #[serde(default)]
    pub output: u64,
    /// Tool schemas, and context put into each request, count as estimated ([`schema_overhead`]). They are measured when a
    /// request is made: what is looked at before the first one sees none, later looks see those of the request before.
    #[serde(default)]
    pub overhead: bool,
    /// The estimate is corrected by what providers report; not at all where this is missing.
    #[serde(default)]
    pub calibration: Option<CalibrationRules>,
    /// From this share of the input budget on, what would be summarized is too large for a summary call; no limit where
    /// this is missing.
    #[serde(default)]
    pub emergency: Option<f32>,
}

/// A moving average of reported by estimated tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationRules {
    /// The factor before anything was reported.
    pub start: f32,
    /// Weight of the factor so far.
    pub old: f32,
    /// Weight of the newest ratio.
    pub new: f32,
    /// Least factor; held to after the step.
    pub least: f32,
    /// Greatest factor; held to after the step.
    pub most: f32,
}

impl BudgetRules {
    /// Refuses contradictory settings.
    pub fn validate(&self) -> Result<(), String> {
        if let Some(share) = self.emergency
            && !(share.is_finite() && share > 0.0)
        {
            return Err(format!("budget.emergency is {share}, must be above 0"));
        }
        let Some(rules) = &self.calibration else { return Ok(()) };
        let all = [rules.start, rules.old, rules.new, rules.least, rules.most];
        if !all.iter().all(|value| value.is_finite() && *value >= 0.0) {
            return Err("budget.calibration holds a negative or infinite number".to_owned());
        }
        if !(rules.least <= rules.start && rules.start <= rules.most) {
            return Err(format!(
                "budget.calibration.start is {}, must be between least ({}) and most ({})",
                rules.start, rules.least, rules.most
            ));
        }
        Ok(())
    }
}

/// The factor between estimated and real tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    factor: f32,
}

impl Default for Calibration {
    /// A factor that changes nothing.
    fn default() -> Self {
        Self { factor: 1.0 }
    }
}

impl Calibration {
    /// A factor to begin with.
    pub fn new(factor: f32) -> Self {
        Self { factor }
    }

    /// The factor.
    pub fn factor(self) -> f32 {
        self.factor
    }

    /// Takes a report: tokens of a prompt as the provider counted them and as they were estimated. Either of them 0 tells
    /// nothing.
    pub fn update(&mut self, actual: u64, estimated: u64, rules: &CalibrationRules) {
        if actual == 0 || estimated == 0 {
            return;
        }
        let ratio = actual as f32 / estimated as f32;
        // The order of the operations decides the last bit.
        self.factor = (rules.old * self.factor + rules.new * ratio).clamp(rules.least, rules.most);
    }
}

/// The window of a model and the part of it that its reply may take, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Prompt and reply.
    pub window: u64,
    /// The longest reply.
    pub output: u64,
}

impl From<u64> for Room {
    /// A window of which the reply's part is not known.
    fn from(window: u64) -> Self {
        Self { window, output: 0 }
    }
}

impl Room {
    /// What is left for the prompt.
    pub fn input(self) -> u64 {
        self.window.saturating_sub(self.output)
    }
}

/// A tool as a request describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schema<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its description.
    pub description: &'a str,
    /// Its parameters as JSON text.
    pub parameters: &'a str,
}

/// Tokens that a request carries beside its messages: each tool is rounded by itself, and so is the context put into the
/// request.
pub fn schema_overhead(tools: &[Schema<'_>], context: &str, rules: &EstimateRules) -> u64 {
    tools.iter().fold(texts_tokens(&[context], rules), |sum, tool| {
        sum.saturating_add(texts_tokens(&[tool.name, tool.description, tool.parameters], rules))
    })
}

/// Estimated tokens times a factor; the product is truncated.
pub fn calibrated(tokens: u64, factor: f32) -> u64 {
    (tokens as f32 * factor) as u64
}

/// A share of the input budget; 0 where there is no budget.
pub fn fraction(tokens: u64, budget: u64) -> f32 {
    if budget == 0 { 0.0 } else { tokens as f32 / budget as f32 }
}

/// The state of a context that a budget gate looks at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accounts {
    /// Estimated tokens of all messages, the system prompt among them.
    pub tokens: u64,
    /// Tokens of what a request carries beside them.
    pub overhead: u64,
    /// The factor for `tokens`.
    pub calibration: Calibration,
    /// The window.
    pub room: Room,
}

impl Accounts {
    /// Tokens of the next prompt: the factor is for messages only.
    pub fn effective(&self) -> u64 {
        calibrated(self.tokens, self.calibration.factor).saturating_add(self.overhead)
    }

    /// [`Self::effective`] as a share of the input budget.
    pub fn fraction(&self) -> f32 {
        fraction(self.effective(), self.room.input())
    }

    /// Whether the context takes a share of the input budget or more.
    pub fn is_near_limit(&self, share: f32) -> bool {
        self.fraction() >= share
    }

    /// Whether a part of the context, in estimated tokens, is too large to be summarized by a call. What a request
    /// carries beside messages, and the summarizer's own prompt, do not count here.
    pub fn is_emergency(&self, part: u64, rules: &BudgetRules) -> bool {
        rules.emergency.is_some_and(|share| {
            fraction(calibrated(part, self.calibration.factor), self.room.input()) >= share
        })
    }

    /// Takes the usage of a call that sent `tokens` estimated tokens of messages.
    pub fn report(&mut self, actual: u64, tokens: u64, rules: &BudgetRules) {
        if let Some(calibration) = &rules.calibration {
            self.calibration.update(actual, tokens.saturating_add(self.overhead), calibration);
        }
    }
}
