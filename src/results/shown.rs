//! One cycle in full, as `compactor show` prints it: the wire schema of its JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A message of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// Index in the session, from 0.
    pub message: u64,
    /// Line of the log, from 1; 0 behind the last message.
    pub line: u64,
}

/// One fact and where it went.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ShownFact {
    /// Number of the fact in its session, as in `facts.csv`.
    pub fact: u64,
    /// Class at this cycle.
    pub class: String,
    /// Canonical value.
    pub value: String,
    /// Who said it first.
    pub author: String,
    /// Line of the log where it was born.
    pub birth_line: u64,
    /// Where it stands: `summary`, `tail`, `both`, `clipped`, `lost` or `opaque`.
    pub location: String,
    /// How it stands in the summary.
    pub tier: String,
    /// No kept message holds it.
    pub at_risk: bool,
    /// The work of the next 50 tool calls needs it.
    pub needed: bool,
    /// How it comes back there: `used`, `resupplied`, `refetched` or not at all.
    pub need: String,
    /// Line of the log where it comes back; 0 when it does not.
    pub need_line: u64,
    /// The first piece of the summary in which it stands so; empty when it does not or only the whole text shows it.
    pub evidence: String,
    /// Line of the summary where that piece begins, from 1; 0 without one.
    pub evidence_line: u64,
    /// Where the kept tail holds it: line of the log; 0 when it does not.
    pub tail_line: u64,
}

/// What a model is asked where one writes the summary.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ShownPrompt {
    /// `history`, or `turn-prefix` for the beginning of a turn that the cut splits.
    pub part: String,
    /// Index of the first message that it is about, from 0.
    pub from: u64,
    /// Index of the first behind them.
    pub to: u64,
    /// The system prompt.
    pub system: String,
    /// The message.
    pub user: String,
    /// Tokens of both.
    pub tokens: u64,
}

/// A superseded fact that stands in the context while its successor does not.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ShownStale {
    /// The superseded value.
    pub old: String,
    /// The current one.
    pub new: String,
    /// Line of the log that brought the current one.
    pub new_line: u64,
}

/// One cycle of one session under one strategy.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Shown {
    /// Session id.
    pub session: String,
    /// File.
    pub source: String,
    /// Format of the log.
    pub format: String,
    /// Profile; the format of the log for a recorded compaction.
    pub profile: String,
    /// Strategy asked for.
    pub strategy: String,
    /// Strategy that ran.
    pub strategy_used: String,
    /// Why another one ran.
    pub fallback_reason: String,
    /// Window in tokens.
    pub window: u64,
    /// How it was chosen: `cycles`, `given`, `model-table`, `log` or `default`; empty in an audit.
    pub window_source: String,
    /// Model of the session's last reply that names one.
    pub model: String,
    /// Number of the cycle, from 1.
    pub cycle: u64,
    /// Cycles of the session.
    pub cycles: u64,
    /// Messages of the session.
    pub messages: u64,
    /// The request before this message triggered it.
    pub trigger: Place,
    /// Tokens at which it triggers; empty for a recorded one.
    pub trigger_tokens: Option<u64>,
    /// First message of the kept tail.
    pub cut: Place,
    /// Tokens the tail may hold; empty for a recorded one, and where it is a share of the context.
    pub keep_tokens: Option<u64>,
    /// Why the cut is there, in words.
    pub why: String,
    /// First message of the turn that the cut splits.
    pub turn_start: Option<Place>,
    /// The newest request, kept though it is not in the tail.
    pub pinned: Option<Place>,
    /// Tokens of the context before.
    pub tokens_before: u64,
    /// Tokens of the context after.
    pub tokens_after: u64,
    /// Tokens generated.
    pub tokens_summary: u64,
    /// Limit for them.
    pub budget: Option<u64>,
    /// The log does not show the summary, or not which messages were kept.
    pub opaque: bool,
    /// Generated texts: one, or two after a split turn.
    pub summary: Vec<String>,
    /// What a model would be asked for them, where that was wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<ShownPrompt>,
    /// Facts of the prefix in order of birth.
    pub facts: Vec<ShownFact>,
    /// Facts no text rule can judge; in no list.
    pub unadjudicable: u64,
    /// Paths, identifiers and quoted user lines of the summary that stand nowhere before it.
    pub invented: Vec<String>,
    /// User lines it quotes that nobody said.
    pub fabricated: Vec<String>,
    /// Superseded facts that stand without their successors.
    pub stale: Vec<ShownStale>,
    /// The log itself was compacted within the horizon: what was needed is not told truly.
    pub needed_biased: bool,
}
