//! What `inspect` tells of logs.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything that was looked into.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct Inspected {
    /// How tokens were counted.
    pub tokenizer: String,
    /// The files, in order of the inputs; behind them the inputs that could not be used.
    pub files: Vec<FileReport>,
}

/// One file, or one log that lies in several.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct FileReport {
    /// Path as given.
    pub file: String,
    /// Why it could not be read; empty when it was.
    pub error: String,
    /// Format found; empty when no known one fits.
    pub format: String,
    /// What shows it.
    pub evidence: String,
    /// Size; those read, skipped and between records are together the size.
    pub bytes: u64,
    /// Bytes of records.
    pub bytes_read: u64,
    /// Bytes left out, each named in a remark.
    pub bytes_skipped: u64,
    /// Bytes between records.
    pub bytes_between: u64,
    /// JSON records.
    pub records: u64,
    /// What the file records, branches, copies and sub-agents included.
    pub recorded: Counts,
    /// Its sessions.
    pub sessions: Vec<SessionReport>,
    /// What was noticed, by kind, the worst first.
    pub remarks: Vec<Remark>,
}

/// Messages, tool calls, compactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Counts {
    /// Messages.
    pub messages: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Compactions.
    pub compactions: u64,
}

/// Messages by who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Roles {
    /// System and developer instructions.
    pub system: u64,
    /// The user, or the harness in the user's place.
    pub user: u64,
    /// The model.
    pub assistant: u64,
    /// Results of tools.
    pub tool: u64,
}

impl Roles {
    /// All of them.
    pub fn total(self) -> u64 {
        self.system + self.user + self.assistant + self.tool
    }
}

/// Tokens as the provider counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Reported {
    /// Replies that report them.
    pub replies: u64,
    /// The largest prompt.
    pub prompt_max: u64,
    /// All prompts.
    pub prompt: u64,
    /// All replies.
    pub output: u64,
}

/// Files by what became of them at the end of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct FileStates {
    /// Changed, and there.
    pub modified: u64,
    /// Read and never changed.
    pub read: u64,
    /// Deleted.
    pub deleted: u64,
}

/// One session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct SessionReport {
    /// Its id.
    pub id: String,
    /// `main` or `sidechain`.
    pub origin: String,
    /// The sub-agent of a sidechain.
    pub agent: String,
    /// Format it was first read from.
    pub format: String,
    /// Model of the last reply.
    pub model: String,
    /// Window that the log states, in tokens.
    pub context_window: Option<u64>,
    /// The session whose messages it begins with, where the log says so.
    pub continues: Option<String>,
    /// Requests of the user: turns.
    pub requests: u64,
    /// Messages of the active path.
    pub messages: Roles,
    /// Of these, what it only repeats of a session counted before it.
    pub copied: Counts,
    /// Tokens of what it repeats.
    pub copied_tokens: u64,
    /// Reply tokens, as reported, of what it repeats.
    pub copied_output: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Calls without a result.
    pub unanswered: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Tool calls by tool.
    pub tools: BTreeMap<String, u64>,
    /// Images.
    pub images: u64,
    /// Blocks that are in the context and unreadable here.
    pub opaque: u64,
    /// Tokens counted.
    pub tokens: u64,
    /// Tokens as reported.
    pub reported: Reported,
    /// Files by state.
    pub files: FileStates,
    /// Compactions of the active path.
    pub compactions: u64,
    /// Requests that the provider refused.
    pub refusals: u64,
    /// It begins with a summary of something that is not in the log.
    pub starts_compacted: bool,
    /// The model's context held more than the log.
    pub starts_midway: bool,
}

/// One kind of diagnostic in a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Remark {
    /// The kind.
    pub kind: String,
    /// `note`, `damage` or `lost`.
    pub severity: String,
    /// How many times.
    pub count: u64,
    /// Line of the first, 0 when it is about the whole file.
    pub line: u64,
    /// What the first one says.
    pub text: String,
}
