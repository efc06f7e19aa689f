//! What `compactor compact` did to a session: the wire schema of `NAME.report.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the report of a compaction says what it is.
pub const REPORT: &str = "compactor-compact";

/// Version of the report.
pub const REPORT_VERSION: u32 = 1;

/// One session that was compacted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CompactReport {
    /// [`REPORT`].
    pub report: String,
    /// [`REPORT_VERSION`].
    pub version: u32,
    /// Session id.
    pub session: String,
    /// The log.
    pub source: String,
    /// Its format.
    pub format: String,
    /// Form of what was written.
    pub to: String,
    /// Name of the file that was written.
    pub output: String,
    /// Policy.
    pub profile: String,
    /// Strategy asked for.
    pub strategy: String,
    /// Strategy that ran.
    pub strategy_used: String,
    /// Why it is another one; empty when it is not.
    pub fallback_reason: String,
    /// How tokens are counted.
    pub tokenizer: String,
    /// Window in tokens.
    pub window: u64,
    /// How the window came about: `given`, `cycles`, `log`, `model-table`, `default`, or `whole` where the session never
    /// fills that one, so that it is compacted as if it just did.
    pub window_source: String,
    /// The model is unknown or not named: 128,000 tokens were taken for its window, whether the session fills that or not.
    pub window_assumed: bool,
    /// Model of its last reply that names one.
    pub model: String,
    /// Compactions, the last one at the end of the log.
    pub compactions: u64,
    /// Tokens of all messages of the session, without tool schemas.
    pub tokens_session: u64,
    /// Tokens of the context in front of the last compaction.
    pub tokens_before: u64,
    /// Tokens of the context that was written.
    pub tokens_after: u64,
    /// Tokens of everything generated.
    pub tokens_summary: u64,
    /// Limit of that.
    pub budget: u64,
    /// Messages of the session.
    pub messages: u64,
    /// Messages that stayed word for word.
    pub messages_kept: u64,
    /// Messages of which a part stayed.
    pub messages_clipped: u64,
    /// Messages that left.
    pub messages_dropped: u64,
    /// Tool results in what stayed that the policy cuts short or clears in every request, and that are written so.
    pub results_cut: u64,
    /// Cumulative file lists, canonical paths.
    pub files: ReportFiles,
    /// What the form that was written cannot hold, or needs and the log does not have: one remark each.
    pub notes: Vec<String>,
    /// What left, by role, in alphabetical order.
    pub dropped_by_role: Vec<DroppedRole>,
    /// Names of the cassettes that hold the replies of models for the log; missing where none was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cassettes: Vec<String>,
    /// Every message that left.
    pub dropped: Vec<DroppedMessage>,
    /// Everything generated, in order.
    pub summary: Vec<String>,
}

/// Cumulative file lists.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ReportFiles {
    /// Read and never modified.
    pub read: Vec<String>,
    /// Modified and still there.
    pub modified: Vec<String>,
    /// Deleted or renamed away.
    pub deleted: Vec<String>,
}

/// What left of one role.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DroppedRole {
    /// Role.
    pub role: String,
    /// Messages.
    pub messages: u64,
    /// Tokens of them.
    pub tokens: u64,
}

/// A message that left.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DroppedMessage {
    /// Index in the session, from 0.
    pub message: u64,
    /// Line of the log, from 1.
    pub line: u64,
    /// Role.
    pub role: String,
    /// Tokens.
    pub tokens: u64,
    /// How it begins, on one line.
    pub words: String,
}
