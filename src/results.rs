//! The wire schema of a result directory: what a run writes and every later reader starts from.
//!
//! Rows carry counts beside every ratio, so that each number can be recomputed. A ratio with a denominator of 0 is
//! `None`: an empty CSV field, `null` in JSON. Column order is the order of the fields and is part of the schema.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

pub mod baseline;
pub mod compacted;
pub mod files;
mod growing;
pub mod inspected;
pub mod journal;
mod name;
pub mod probes;
pub mod shown;
pub mod sound;
pub mod spool;
pub mod stray;

pub use name::Name;

/// Version of the columns; grows when a column is added, changes meaning or goes.
pub const SCHEMA_VERSION: u32 = 6;

/// Version of the rules that decide whether a fact is present; results of different versions never mix.
pub const SCORER_VERSION: u32 = 1;

/// Classes of facts, in the order of the rows: files, commands, checks and todos are structural, the rest is lexical.
pub const CLASSES: [&str; 14] = [
    "file.read",
    "file.modified",
    "file.created",
    "file.deleted",
    "file.renamed",
    "command",
    "check",
    "todo",
    "error",
    "identifier",
    "value",
    "constraint",
    "decision",
    "request",
];

/// One cycle: session x profile x strategy x window x cycle.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CycleRow {
    /// Session id, unique in the run.
    pub session: Name,
    /// File the session was read from, as given on the command line.
    pub source: Name,
    /// Log format; of a canonical log, that of the log it was converted from.
    pub format: Name,
    /// Profile name.
    pub profile: Name,
    /// Strategy that was asked for.
    pub strategy: Cow<'static, str>,
    /// Strategy that ran.
    pub strategy_used: Cow<'static, str>,
    /// Why another strategy ran than the one asked for.
    pub fallback_reason: String,
    /// Who wrote the text; empty for strategies that need nobody.
    pub summarizer: String,
    /// Window in tokens.
    pub window: u64,
    /// Number of the cycle, from 1.
    pub cycle: u32,
    /// Why: `trigger`, `manual`, `overflow`, or `recorded` in an audit.
    pub cause: String,
    /// The request before this message triggered it (index in the session, from 0).
    pub trigger_message: u64,
    /// First message of the kept tail.
    pub cut_message: u64,
    /// The cut fell inside a turn.
    pub split_turn: bool,
    /// The log begins with a summary of something that is not in it.
    pub starts_compacted: bool,
    /// Entries of the context before.
    pub messages_before: u64,
    /// Entries of the context after.
    pub messages_after: u64,
    /// Summary budget in tokens; holds everything generated. Empty in an audit.
    pub budget: Option<u64>,
    /// Tokens of a request beyond its messages, not part of the other token columns.
    pub tokens_overhead: u64,
    /// How the overhead is known: `schemas`, `first-call` or `profile`.
    pub overhead_source: String,
    /// Tokens of the request as the policy's own trigger measures it; empty where it knows none.
    pub tokens_measured: Option<u64>,
    /// `tokens_measured` / counted tokens of the request, overhead included.
    pub estimator_error: Option<f64>,
    /// Tokens of the context before.
    pub tokens_before: u64,
    /// Tokens of the context after.
    pub tokens_after: u64,
    /// Tokens of everything generated that stands in the context.
    pub tokens_summary: u64,
    /// Tokens of messages kept verbatim: tail, pinned request, system messages.
    pub tokens_tail: u64,
    /// 1 - after / before.
    pub reduction: Option<f64>,
    /// The log does not show the summary, or not what was kept beside it (an audit): what no kept message holds is neither
    /// kept nor lost.
    pub opaque: bool,
    /// Facts that only such a summary could hold; in no other column.
    pub facts_opaque: u64,
    /// Facts that only an older summary outside the context holds; they count as lost.
    pub facts_archived: u64,
    /// Tokens of this summary / tokens of the previous one.
    pub summary_growth: Option<f64>,
    /// At-risk facts that the previous summary held.
    pub facts_held: u64,
    /// Of those, present in this summary, too. Where the finished context is compacted again, anything but all of them is
    /// loss by repetition alone.
    pub facts_held_still: u64,
    /// `facts_held_still / facts_held`.
    pub held_survival: Option<f64>,
    /// The text is that of the previous summary, byte for byte.
    pub summary_unchanged: bool,
    /// (trigger - after - overhead) / mean tokens of a turn: turns until the next compaction.
    pub headroom: Option<f64>,
    /// Facts of the prefix that no kept message mentions.
    pub facts_at_risk: u64,
    /// Of those, present in the summary (T1 or T2, atoms exact, sentences kept).
    pub facts_in_summary: u64,
    /// `facts_in_summary / facts_at_risk`.
    pub summary_survival: Option<f64>,
    /// At-risk facts present in the summary by exact match alone (T1).
    pub facts_in_summary_exact: u64,
    /// At-risk facts present when spellings of numbers and units are normalised too.
    pub facts_in_summary_normalised: u64,
    /// Structural part of `facts_at_risk`: files, commands, checks, todos.
    pub structural_at_risk: u64,
    /// Structural part of `facts_in_summary`.
    pub structural_in_summary: u64,
    /// `structural_in_summary / structural_at_risk`.
    pub structural_survival: Option<f64>,
    /// Lexical part of `facts_at_risk`: errors, identifiers, values, constraints, decisions, requests.
    pub lexical_at_risk: u64,
    /// Lexical part of `facts_in_summary`.
    pub lexical_in_summary: u64,
    /// `lexical_in_summary / lexical_at_risk`.
    pub lexical_survival: Option<f64>,
    /// Live facts of the prefix.
    pub facts_total: u64,
    /// Of those, present anywhere in the context.
    pub facts_in_context: u64,
    /// `facts_in_context / facts_total`.
    pub context_survival: Option<f64>,
    /// Facts with a mention in a kept message.
    pub tail_facts: u64,
    /// Of those, present in the context: anything but all is a bug of the tool.
    pub tail_facts_in_context: u64,
    /// Facts no text rule can judge, out of every denominator.
    pub facts_unadjudicable: u64,
    /// At-risk facts only partly there (some entities, or too few words).
    pub degraded: u64,
    /// At-risk sentences whose negation is gone or reversed.
    pub contradicted: u64,
    /// At-risk paths whose basename stands under a directory that never held it.
    pub mutated: u64,
    /// At-risk values whose key stands without the value.
    pub label_only: u64,
    /// At-risk paths that stand only as a spelling several files share.
    pub ambiguous: u64,
    /// At-risk facts that the agent brings up in its next 50 tool calls.
    pub facts_used: u64,
    /// At-risk facts that a person or the harness says again there.
    pub facts_resupplied: u64,
    /// At-risk facts that a tool result shows again there.
    pub facts_refetched: u64,
    /// Needed facts: the used ones (structural, identifiers, values, errors), constraints and the open request at risk.
    pub facts_needed: u64,
    /// Of those, present in the summary.
    pub facts_needed_in_summary: u64,
    /// `facts_needed_in_summary / facts_needed`.
    pub needed_survival: Option<f64>,
    /// The log itself was compacted within the 50 calls: what was needed is not told truly, and counts in no mean.
    pub needed_biased: bool,
    /// The same to the end of the log: used.
    pub facts_used_to_end: u64,
    /// Said again.
    pub facts_resupplied_to_end: u64,
    /// Shown again.
    pub facts_refetched_to_end: u64,
    /// Needed.
    pub facts_needed_to_end: u64,
    /// Of those, present in the summary.
    pub facts_needed_in_summary_to_end: u64,
    /// `facts_needed_in_summary_to_end / facts_needed_to_end`.
    pub needed_survival_to_end: Option<f64>,
    /// The log itself was compacted somewhere behind the cycle.
    pub needed_biased_to_end: bool,
    /// Files whose content left the context and which the original agent edited within the 50 calls without reading
    /// them again: with this context it would have to.
    pub predicted_rereads: u64,
    /// Tokens of that content.
    pub predicted_reread_tokens: u64,
    /// Files whose content left the context and which the original agent did read again within the 50 calls.
    pub rereads: u64,
    /// Tokens of what it read.
    pub reread_tokens: u64,
    /// Live modified, created or renamed files at risk.
    pub files_modified_total: u64,
    /// Of those, in the summary's text or metadata.
    pub files_modified_kept: u64,
    /// Of those, in the text.
    pub files_modified_text: u64,
    /// Of those, in the metadata kept beside the text.
    pub files_modified_metadata: u64,
    /// Live files only read, at risk.
    pub files_read_total: u64,
    /// Of those, in the summary's text or metadata.
    pub files_read_kept: u64,
    /// Of those, in the text.
    pub files_read_text: u64,
    /// Of those, in the metadata.
    pub files_read_metadata: u64,
    /// Paths the generated list calls modified; empty for strategies without lists.
    pub list_modified: Option<u64>,
    /// Of those, really modified in the compacted part.
    pub list_modified_right: Option<u64>,
    /// Files really modified in the compacted part.
    pub list_modified_true: u64,
    /// Precision of the modified list.
    pub list_modified_precision: Option<f64>,
    /// Recall of the modified list.
    pub list_modified_recall: Option<f64>,
    /// F1 of the modified list.
    pub list_modified_f1: Option<f64>,
    /// Paths the generated list calls read.
    pub list_read: Option<u64>,
    /// Of those, really only read.
    pub list_read_right: Option<u64>,
    /// Files only read in the compacted part.
    pub list_read_true: u64,
    /// Precision of the read list.
    pub list_read_precision: Option<f64>,
    /// Recall of the read list.
    pub list_read_recall: Option<f64>,
    /// F1 of the read list.
    pub list_read_f1: Option<f64>,
    /// Paths, identifiers and quoted user lines in generated text that occur nowhere in the prefix.
    pub invented: u64,
    /// `invented` per 1,000 summary tokens.
    pub invented_per_1000: Option<f64>,
    /// User lines that the generated text quotes.
    pub quotes: u64,
    /// Of those, said by no user before the cycle.
    pub quotes_fabricated: u64,
    /// Files under the wrong heading of the generated lists: read ones called modified, changed ones called read, deleted
    /// ones called either. Empty for strategies without lists.
    pub misclassified: Option<u64>,
    /// Superseded values that stand in the context while their successors do not.
    pub stale: u64,
    /// Model requests since the previous cycle (or the start).
    pub requests: u64,
    /// Prompt tokens of those requests, overhead included.
    pub prompt_tokens: u64,
    /// Of those, the longest common prefix with the request before: read from cache.
    pub cached_tokens: u64,
    /// The rest: new to the provider, written to its cache.
    pub written_tokens: u64,
    /// Price in input-token equivalents: 0.1 per cached token, 1.25 per written token.
    pub cost_units: f64,
    /// Tool results without their call in the context.
    pub orphan_results: u64,
    /// Calls without the result they had.
    pub orphan_calls: u64,
    /// Second results of one call.
    pub duplicate_results: u64,
    /// Empty messages, texts or results.
    pub empty_blocks: u64,
    /// No message of role user in the context.
    pub no_user_message: bool,
    /// The newest user request is not in the context (profiles that pin it).
    pub request_absent: bool,
    /// The summary stands after the tail.
    pub summary_after_tail: bool,
    /// Generated text is larger than the budget.
    pub over_budget: bool,
    /// The context did not become smaller.
    pub no_gain: bool,
    /// Two cycles without token progress: the replay stopped here.
    pub stuck: bool,
    /// What stays of the log is larger than the window.
    pub unfit: bool,
    /// Nothing could leave: there was no place to cut.
    pub uncut: bool,
    /// Largest message of the log that stays behind the cut; empty where none stays.
    pub largest_message: Option<u64>,
    /// Its line.
    pub largest_line: Option<u64>,
    /// Its tokens.
    pub largest_tokens: Option<u64>,
    /// Another text, or nothing, took the place of the summary asked for: `fallback_reason` says why.
    pub summary_degraded: bool,
    /// A program of the user said that this compaction is not to happen; nothing was compacted.
    #[serde(default)]
    pub cancelled: bool,
    /// The context had passed the window before the trigger fired.
    pub late_trigger: bool,
    /// What went wrong; the row's other numbers are then 0.
    pub error: String,
}

/// Survival of one class of facts in one cycle.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ClassRow {
    /// Session id.
    pub session: Name,
    /// Profile name.
    pub profile: Name,
    /// Strategy.
    pub strategy: Cow<'static, str>,
    /// Window in tokens.
    pub window: u64,
    /// Cycle, from 1.
    pub cycle: u32,
    /// Class of facts, e.g. `file.modified`.
    pub class: Cow<'static, str>,
    /// Live facts of the class in the prefix.
    pub total: u64,
    /// Of those, at risk.
    pub at_risk: u64,
    /// Of those at risk, in the summary.
    pub in_summary: u64,
    /// `in_summary / at_risk`.
    pub summary_survival: Option<f64>,
    /// Of those at risk, needed by the work of the next 50 tool calls.
    pub needed: u64,
    /// Of those needed, in the summary.
    pub needed_in_summary: u64,
    /// `needed_in_summary / needed`.
    pub needed_survival: Option<f64>,
}

/// Spells of one class in one replay that ended at one age: how long facts last once only generated text holds them.
///
/// A spell begins at the first cycle at which a fact is at risk and ends in loss at the first whose text lacks it. It is
/// censored when the log mentions the fact again, when the fact is superseded, and when the replay ends.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SpellRow {
    /// Session id.
    pub session: Name,
    /// Profile name.
    pub profile: Name,
    /// Strategy.
    pub strategy: Cow<'static, str>,
    /// Window in tokens.
    pub window: u64,
    /// `structural` or `lexical`.
    pub kind: Cow<'static, str>,
    /// Class when the spell began.
    pub class: Cow<'static, str>,
    /// Cycles from its beginning to its end, from 1.
    pub age: u32,
    /// Spells that ended in loss at this age.
    pub lost: u64,
    /// Spells that were last seen alive at this age.
    pub censored: u64,
}

/// What a system tells of one compaction, in its own form (`--events`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct EventRow {
    /// Session id.
    pub session: Name,
    /// Profile name.
    pub profile: Name,
    /// Strategy.
    pub strategy: String,
    /// Window in tokens.
    pub window: u64,
    /// Number of the cycle, from 1; empty where results were pruned.
    pub cycle: Option<u32>,
    /// The request before this message.
    pub message: u64,
    /// `start`, `end` or `pruned`.
    pub kind: String,
    /// The text; it may have several lines.
    pub text: String,
}

/// One fact in one cycle (`--log-facts`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct FactRow {
    /// Session id.
    pub session: Name,
    /// Profile name.
    pub profile: Name,
    /// Strategy.
    pub strategy: Cow<'static, str>,
    /// Window in tokens.
    pub window: u64,
    /// Cycle, from 1.
    pub cycle: u32,
    /// Number of the fact in its session.
    pub fact: u64,
    /// Class at this cycle.
    pub class: Cow<'static, str>,
    /// Canonical value.
    pub value: String,
    /// Line of the log where it was born.
    pub birth_line: u64,
    /// Message where it was born.
    pub birth_message: u64,
    /// Who said it first: user, agent, tool.
    pub author: Cow<'static, str>,
    /// `summary`, `tail`, `both`, `clipped` or `lost`.
    pub location: Cow<'static, str>,
    /// How it stands in the summary: `exact`, `resolvable`, `normalised`, `ambiguous`, `mutated`, `degraded`,
    /// `contradicted`, `label-only` or `absent`.
    pub tier: Cow<'static, str>,
    /// Mentions in the log after this cycle.
    pub mentions_later: u64,
    /// How an at-risk fact comes back in the next 50 tool calls: `used`, `resupplied`, `refetched`, or not at all.
    pub need: Cow<'static, str>,
    /// The same to the end of the log.
    pub need_to_end: Cow<'static, str>,
    /// The work of the next 50 tool calls needs it, and no kept message has it.
    pub needed: bool,
    /// A file whose content left the context and which the agent read again in its next 50 tool calls.
    pub reread: bool,
    /// Cycles since only generated text could hold it, this one included; empty while something else does, and after
    /// its loss.
    pub age: Option<u32>,
    /// It is lost here for the first time.
    pub first_loss: bool,
}

/// One session under one plan.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SessionRow {
    /// Session id, unique in the run.
    pub session: Name,
    /// File.
    pub source: Name,
    /// Format.
    pub format: Name,
    /// `main` or `sidechain`.
    pub origin: Cow<'static, str>,
    /// Profile.
    pub profile: Name,
    /// Strategy.
    pub strategy: Cow<'static, str>,
    /// Window in tokens.
    pub window: u64,
    /// How the window was chosen: `cycles`, `given`, `model-table`, `log` or `default`.
    pub window_source: String,
    /// Model of its last reply that names one.
    pub model: Name,
    /// Messages of the session.
    pub messages: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Turns: messages in which a person asks.
    pub turns: u64,
    /// Tokens of the whole session.
    pub tokens: u64,
    /// Of those, in tool calls and their results.
    pub tokens_tool: u64,
    /// `tokens_tool / tokens`.
    pub tool_share: Option<f64>,
    /// Facts born before the last compaction that a text rule can judge; 0 where nothing was compacted.
    pub facts: u64,
    /// Messages of the whole log that mention them, summed over the facts.
    pub mentions: u64,
    /// `mentions / facts`: 1 where nothing is ever said again.
    pub repeat_rate: Option<f64>,
    /// Compactions the log itself holds.
    pub recorded_compactions: u64,
    /// Recorded / counted prompt tokens at the last reply before any recorded compaction.
    pub recorded_over_counted: Option<f64>,
    /// Cycles that were asked for; 0 when the window was given.
    pub cycles_asked: u64,
    /// Cycles that happened.
    pub cycles_reached: u64,
    /// At least one cycle with a reduction of 1 % or more.
    pub exercised: bool,
    /// Mean over cycles of `structural_survival`.
    pub structural_survival: Option<f64>,
    /// Mean over cycles of `lexical_survival`.
    pub lexical_survival: Option<f64>,
    /// Mean over cycles of `summary_survival`.
    pub summary_survival: Option<f64>,
    /// `summary_survival` of the last cycle.
    pub summary_survival_last: Option<f64>,
    /// Mean over cycles of `context_survival`.
    pub context_survival: Option<f64>,
    /// Mean over cycles of `needed_survival`, without biased ones.
    pub needed_survival: Option<f64>,
    /// Cycles whose needed facts are biased.
    pub needed_biased: u64,
    /// Predicted re-reads, over all cycles.
    pub predicted_rereads: u64,
    /// Their tokens.
    pub predicted_reread_tokens: u64,
    /// Mean over cycles of `files_modified_kept / files_modified_total`.
    pub files_modified: Option<f64>,
    /// Mean over cycles of `files_read_kept / files_read_total`.
    pub files_read: Option<f64>,
    /// Mean tokens of the summary.
    pub tokens_summary: Option<f64>,
    /// Mean reduction.
    pub reduction: Option<f64>,
    /// At-risk facts over all cycles.
    pub facts_at_risk: u64,
    /// Of those, in the summary.
    pub facts_in_summary: u64,
    /// Hard invariants broken, over all cycles.
    pub violations: u64,
    /// Mean over cycles of `estimator_error`.
    pub estimator_error: Option<f64>,
    /// Model requests of the whole session.
    pub requests: u64,
    /// Prompt tokens of those requests, overhead included.
    pub prompt_tokens: u64,
    /// Of those, read from the provider's cache under longest-prefix caching.
    pub cached_tokens: u64,
    /// Price in input-token equivalents: 0.1 per cached token, 1.25 per other.
    pub cost_units: f64,
    /// Prompt tokens of the newest request: what stands in the context at the end.
    pub context_tokens: u64,
    /// Prompt and reply tokens of all requests.
    pub total_tokens: u64,
    /// `cached_tokens` of a cache that forgets after five minutes; empty where the log does not time its requests.
    pub cached_5m: Option<u64>,
    /// The same after one hour.
    pub cached_1h: Option<u64>,
    /// Of `cached_5m`, what ends at a marked place: behind system messages, summary, pruned results, and each request.
    pub cached_marked_5m: Option<u64>,
    /// The same after one hour.
    pub cached_marked_1h: Option<u64>,
    /// Price with `cached_5m`: 0.1 per cached token, 1.25 per other.
    pub cost_5m: Option<f64>,
    /// Price with `cached_1h`: 0.1 per cached token, 2 per other.
    pub cost_1h: Option<f64>,
    /// Price with `cached_marked_5m`.
    pub cost_marked_5m: Option<f64>,
    /// Price with `cached_marked_1h`.
    pub cost_marked_1h: Option<f64>,
    /// What went wrong.
    pub error: String,
}

/// One compaction that a log holds, and what the agent did afterwards (`compactor audit`).
///
/// What its summary kept stands in the cycle row of the same session and number. Columns on what happened afterwards look
/// at the next 50 tool calls, or fewer where the next compaction or the end of the log comes before.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct AuditRow {
    /// Session id.
    pub session: Name,
    /// File.
    pub source: Name,
    /// Number of the compaction in its session, from 1; as in the cycle rows.
    pub cycle: u32,
    /// Format of the log.
    pub format: Name,
    /// Line of its record.
    pub line: u64,
    /// Who asked for it, in the log's word: `auto`, `manual`, or empty.
    pub trigger: String,
    /// The log does not show the summary, or not which messages were kept.
    pub opaque: bool,
    /// Messages of the session before it.
    pub messages_before: u64,
    /// Messages it kept verbatim; empty when that is not known.
    pub messages_kept: Option<u64>,
    /// Tokens before it, as the log reports them.
    pub recorded_before: Option<u64>,
    /// Tokens after it, as the log reports them.
    pub recorded_after: Option<u64>,
    /// Tool calls looked at afterwards.
    pub calls: u64,
    /// Tool calls before the first edit of a file, not limited to 50; empty when there was none.
    pub calls_to_edit: Option<u64>,
    /// The same from the beginning of the session.
    pub calls_to_edit_cold: Option<u64>,
    /// Files read again whose content had left the context.
    pub rereads: u64,
    /// Tokens of those reads.
    pub reread_tokens: u64,
    /// Of those files, named by the summary.
    pub rereads_named: u64,
    /// Files edited that were known before and that no kept message mentions.
    pub edits: u64,
    /// Of those, named by the summary.
    pub edits_named: u64,
    /// Facts no kept message mentions that the agent brought up itself.
    pub used: u64,
    /// Of those, in the summary.
    pub used_kept: u64,
    /// Requests and constraints no kept message mentions that the user said again.
    pub repeated: u64,
    /// Of those, in the summary.
    pub repeated_kept: u64,
}

/// A loss worth showing first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LossRow {
    /// Session id.
    pub session: String,
    /// File.
    pub source: String,
    /// Line of the log where the fact was born.
    pub line: u64,
    /// Profile.
    pub profile: String,
    /// Strategy.
    pub strategy: String,
    /// First cycle in which it is gone.
    pub cycle: u32,
    /// Class.
    pub class: String,
    /// Canonical value.
    pub value: String,
    /// `contradicted`, `mutated`, `stale` or `lost`.
    pub damage: String,
    /// Mentions in the log after that cycle: how often the work came back to it.
    pub mentions_later: u64,
    /// The work of the next 50 tool calls needed it: it counts in `needed_survival`, which biased cycles do not.
    #[serde(default)]
    pub needed: bool,
    /// Other strategies that lose it too, at this or another cycle.
    #[serde(default)]
    pub also: Vec<String>,
}

/// A file or session that could not be measured, and why.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// File.
    pub source: String,
    /// Line, 0 for the whole file.
    pub line: u64,
    /// Stable kind.
    pub code: String,
    /// `note`, `damage` or `lost`.
    pub severity: String,
    /// Cause and what to do.
    pub text: String,
}

/// The settings of a run, as far as they change its numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// Profiles in order.
    pub profiles: Vec<String>,
    /// Strategies in order.
    pub strategies: Vec<String>,
    /// Windows in tokens; empty when they were searched for.
    pub windows: Vec<String>,
    /// Cycles asked for; 0 with given windows.
    pub cycles: u64,
    /// The windows searched for the first profile hold for all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_window: bool,
    /// `--summary-tokens`.
    pub summary_tokens: Option<u64>,
    /// Commands and refused requests that logs record were followed.
    pub follow_recorded: bool,
    /// `--compact-at`.
    pub compact_at: Vec<String>,
    /// `locked` or `free`.
    pub schedule: String,
    /// `grow` or `repeat`.
    pub mode: String,
    /// Tool calls after a compaction that tell which facts were needed.
    pub horizon_calls: u64,
    /// Tokenizer.
    pub tokenizer: String,
    /// Summarizer.
    pub summarizer: String,
    /// What was said of the model that writes summaries; missing where none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<WriterSettings>,
    /// BLAKE3 hash of the profiles as used, hexadecimal.
    pub profile_hash: String,
}

/// What the command line says of a model; a profile may say the rest. No address and no key is written down.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct WriterSettings {
    /// `openai` or `anthropic`; empty where the profile decides.
    pub provider: String,
    /// Its name; empty where the profile decides.
    pub model: String,
    /// `--max-output-tokens`.
    pub max_output_tokens: Option<u64>,
    /// `--temperature`: a number, or `none`; empty where the profile decides.
    pub temperature: String,
    /// BLAKE3 hash of the instructions of `--prompt`, hexadecimal; empty without.
    pub prompt_hash: String,
    /// `--on-miss`, where replies come from cassettes alone.
    pub on_miss: String,
}

impl WriterSettings {
    /// All that is said, in a line.
    pub fn line(&self) -> String {
        let said = |name: &str, text: &str| (!text.is_empty()).then(|| format!("{name} {text}"));
        let parts = [
            said("protocol", &self.provider),
            said("model", &self.model),
            self.max_output_tokens.map(|tokens| format!("replies of at most {tokens} tokens")),
            said("temperature", &self.temperature),
            said("instructions", self.prompt_hash.get(..12).unwrap_or_default()),
            said("missing replies", &self.on_miss),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// `run.json`: what was run on what. Holds no time and no machine, so equal runs have equal bytes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// See [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// See [`SCORER_VERSION`].
    pub scorer_version: u32,
    /// Version of the program.
    pub version: String,
    /// Settings.
    pub settings: Settings,
    /// BLAKE3 hash over the settings, hexadecimal.
    pub settings_hash: String,
    /// BLAKE3 hash over the content hashes of all logs read, sorted; hexadecimal. Results of this program are no logs.
    pub corpus_hash: String,
    /// Logs given or found.
    pub files: u64,
    /// Files that could not be read at all.
    pub files_failed: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Sessions found.
    pub sessions: u64,
    /// Sessions with at least one cycle.
    pub sessions_exercised: u64,
    /// Sessions too short to compact.
    pub sessions_not_exercised: u64,
    /// Sessions lost to damage or a failure of the tool.
    pub sessions_failed: u64,
    /// Rows of `facts.csv`; 0, or missing, without `--log-facts`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub facts: u64,
    /// Rows of `spells.csv`; missing in runs of earlier versions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spells: u64,
    /// Names of the cassettes that hold the replies of models; missing where none was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cassettes: Vec<String>,
    /// What readers noticed, damage first.
    pub problems: Vec<Problem>,
    /// The most damaging losses, worst first.
    pub worst_losses: Vec<LossRow>,
}

/// Everything a run produced.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunOutput {
    /// What was run.
    pub manifest: Manifest,
    /// Cycle rows in input order.
    pub cycles: Vec<CycleRow>,
    /// Class rows in input order.
    pub classes: Vec<ClassRow>,
    /// Session rows in input order.
    pub sessions: Vec<SessionRow>,
    /// Spell rows in input order.
    pub spells: Vec<SpellRow>,
    /// Recorded compactions in input order, only in an audit.
    pub audits: Vec<AuditRow>,
    /// Fact rows, only with `--log-facts`.
    pub facts: Vec<FactRow>,
    /// Event rows, only with `--events`.
    pub events: Vec<EventRow>,
}

impl RunOutput {
    /// The fate of every fact was written, and is no longer there.
    pub fn lacks_facts(&self) -> bool {
        self.facts.is_empty() && self.manifest.facts > 0
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// A ratio of counts; `None` when there is nothing to divide by.
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl CycleRow {
    /// Hard invariants broken in this cycle.
    pub fn violations(&self) -> u64 {
        self.orphan_results
            + self.orphan_calls
            + self.duplicate_results
            + self.empty_blocks
            + u64::from(self.no_user_message)
            + u64::from(self.request_absent)
            + u64::from(self.summary_after_tail)
            + u64::from(self.over_budget)
            + u64::from(self.no_gain)
            + u64::from(self.stuck)
            + (self.tail_facts - self.tail_facts_in_context.min(self.tail_facts))
    }

    /// Files kept as a share, for modified files.
    pub fn files_modified(&self) -> Option<f64> {
        ratio(self.files_modified_kept, self.files_modified_total)
    }

    /// Files kept as a share, for files only read.
    pub fn files_read(&self) -> Option<f64> {
        ratio(self.files_read_kept, self.files_read_total)
    }
}
