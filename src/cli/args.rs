//! What can be typed. Doc comments are the help; parsing values is all the logic there is.

pub mod verdicts;

use super::exit::Failure;
use super::ui::Ui;
use crate::discover::{Discovered, discover_listed};
use crate::export::Target;
use crate::profile::MIN_WINDOW;
use crate::replay::{Asked, Mode, ScheduleMode};
use crate::report::Format;
use crate::run::{WindowChoice, Windows};
use crate::strategy::Strategy;
use crate::tokens::Tokenizer;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

mod report;
mod tune;

pub use report::ReportArgs;
pub use tune::TuneArgs;

/// Replay agent logs through context compaction and score what survives
#[derive(Debug, Parser)]
#[command(
    name = "compactor",
    version,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done; 1 a gate failed; 2 could not do the job, or nothing was measured or written; 3 done, with some inputs failed."
)]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,

    /// Show nothing but the result and errors
    #[arg(short, long, global = true, display_order = 900)]
    pub quiet: bool,

    /// When to use colors
    #[arg(long, global = true, display_order = 901, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Replay logs under compaction strategies and show what survives
    #[command(long_about = REPLAY_ABOUT)]
    Replay(ReplayArgs),
    /// Score the compactions that logs already hold: what their summaries kept, what the agent did next
    #[command(long_about = AUDIT_ABOUT)]
    Audit(AuditArgs),
    /// Make a report of finished runs: one HTML file, Markdown or CSV
    #[command(long_about = report::ABOUT)]
    Report(ReportArgs),
    /// Look into logs: format, sessions, messages, tools, tokens, files, compactions, damage
    #[command(long_about = INSPECT_ABOUT)]
    Inspect(InspectArgs),
    /// Show one cycle in full: the cut and why, the summary, and where each fact went
    #[command(long_about = SHOW_ABOUT)]
    Show(ShowArgs),
    /// Compare settings of a policy on the same logs, and recommend one
    #[command(long_about = tune::ABOUT)]
    Tune(TuneArgs),
    /// Compact sessions at their end and write what to go on from
    #[command(long_about = COMPACT_ABOUT)]
    Compact(CompactArgs),
    /// Write logs of any format as canonical JSONL
    #[command(long_about = CONVERT_ABOUT)]
    Convert(ConvertArgs),
    /// Compare two runs: what changed, by how much, in which sessions, and what is newly lost
    #[command(long_about = verdicts::COMPARE_ABOUT)]
    Compare(verdicts::CompareArgs),
    /// Judge a run by a policy and a baseline: a verdict and its reasons, and an exit code for a build
    #[command(long_about = verdicts::GATE_ABOUT)]
    Gate(verdicts::GateArgs),
    /// Explain every column of the CSV files
    #[command(long_about = verdicts::COLUMNS_ABOUT)]
    Columns(verdicts::ColumnsArgs),
    /// Print the JSON Schema of a JSON output
    #[command(long_about = verdicts::SCHEMA_ABOUT)]
    Schema(verdicts::SchemaArgs),
    /// Tell what error texts of model providers say: an overflow or not, the limit, and which systems would notice
    #[command(long_about = OVERFLOW_ABOUT)]
    Overflow(OverflowArgs),
    /// List the embedded compaction policies, or print one
    #[command(long_about = PROFILES_ABOUT)]
    Profiles(ProfilesArgs),
}

/// Logs that are named in a file.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Read paths of logs from a file, one on a line or each with a NUL behind it; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub files_from: Option<PathBuf>,
}

impl ListArgs {
    /// Finds the logs that these paths and the list name, and says what is left out.
    pub fn find(&self, paths: &[PathBuf], ui: &Ui) -> Discovered {
        let found = discover_listed(paths, self.files_from.as_deref());
        found.notes.iter().for_each(|note| ui.say(note));
        found
    }
}

const COMPACT_ABOUT: &str = "\
Compact sessions at their end and write what to go on from

Examples:
  compactor compact session.jsonl --out compacted
  compactor compact session.jsonl --out compacted --to openai --strategy narrative
  compactor compact logs --out compacted --to canonical --window 200k

The log is compacted as its agent would have been at the window, and once more at its end; a session that never fills the \
window is compacted once. --to same appends a record of the compaction to a copy of the log, in its own format (Claude \
Code, Codex, pi, canonical). Beside each file NAME.report.json says what left and what the form cannot hold. Logs of one name get the \
names of their directories in front: DIR-NAME.";

/// Arguments of `compact`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct CompactArgs {
    /// Files, directories (searched recursively, hidden ones too), globs, or `-` for stdin
    #[arg(required_unless_present = "files_from", value_name = "LOG")]
    pub paths: Vec<PathBuf>,

    /// More of them
    #[command(flatten)]
    pub list: ListArgs,

    /// Directory to write to
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,

    /// Form of what is written
    #[arg(short, long, value_enum, default_value_t = Form::Same)]
    pub to: Form,

    /// What takes the place of the messages that leave: structured, narrative, truncate or emergency
    #[arg(short, long, value_name = "NAME", value_parser = writing_strategy, default_value = "structured")]
    pub strategy: Strategy,

    /// Compaction policy: the name of an embedded profile (see `compactor profiles`; NAME+fixes: its
    /// faults mended) or a TOML file
    #[arg(short, long, value_name = "NAME|FILE", default_value = "standard")]
    pub profile: String,

    /// Context window in tokens (`128k`, `200000`), or `auto` for the window of the log's model [default: auto]
    #[arg(short, long, value_name = "TOKENS", value_parser = window, conflicts_with = "cycles")]
    pub window: Option<WindowChoice>,

    /// Find a window at which so many compactions happen before the one at the end
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub cycles: Option<u16>,

    /// Limit for everything generated, in tokens, and never more than a quarter of the window; default: the profile's
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    pub summary_tokens: Option<u64>,

    /// How tokens are counted: o200k and cl100k are exact, heuristic is bytes / 4
    #[arg(long, value_name = "NAME", value_parser = tokenizer, default_value = "o200k")]
    pub tokenizer: Tokenizer,

    /// Session id or its beginning; default: every conversation with the user, no sub-agents
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,

    /// Replace files that exist
    #[arg(long, action = ArgAction::SetTrue)]
    pub force: bool,
}

/// Names of [`Target`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// The log, with a record of the compaction in its own format behind it
    Same,
    /// A request of the chat completions API
    Openai,
    /// A request of the Messages API
    Anthropic,
    /// Canonical JSONL
    Canonical,
}

impl From<Form> for Target {
    fn from(form: Form) -> Self {
        match form {
            Form::Same => Self::Same,
            Form::Openai => Self::Openai,
            Form::Anthropic => Self::Anthropic,
            Form::Canonical => Self::Canonical,
        }
    }
}

const CONVERT_ABOUT: &str = "\
Write logs of any format as canonical JSONL

Examples:
  compactor convert session.jsonl > session.canonical.jsonl
  compactor convert session.jsonl --out session.canonical.jsonl
  compactor convert ~/.claude/projects --out canonical

One line per session, message and recorded compaction, with everything this program knows of a log; it reads back as the \
same sessions. One log goes to stdout, several go to a directory, each as NAME.canonical.jsonl. Logs of one name get the names of \
their directories in front: DIR-NAME.canonical.jsonl.";

/// Arguments of `convert`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct ConvertArgs {
    /// Files, directories (searched recursively, hidden ones too), globs, or `-` for stdin
    #[arg(required_unless_present = "files_from", value_name = "LOG")]
    pub paths: Vec<PathBuf>,

    /// More of them
    #[command(flatten)]
    pub list: ListArgs,

    /// File to write, or a directory for several; default: stdout
    #[arg(short, long, value_name = "FILE|DIR")]
    pub out: Option<PathBuf>,

    /// Replace files that exist
    #[arg(long, requires = "out", action = ArgAction::SetTrue)]
    pub force: bool,
}

const OVERFLOW_ABOUT: &str = "\
Tell what error texts of model providers say: an overflow or not, the limit, and which systems would notice

Examples:
  compactor overflow 'prompt is too long: 203144 tokens > 200000 maximum'
  compactor overflow --matcher opal,pi < errors.txt
  curl ... | compactor overflow --whole --format json

Each text is judged by what it says: overflow (more than the model takes), rate, billing, bytes (too large in bytes, \
characters or pixels), output-setting (the output asked for), none. Give error texts only, not what a user or an agent \
wrote. A matcher tells whether a system would take the text for an overflow.";

/// Arguments of `overflow`.
#[derive(Debug, Args)]
pub struct OverflowArgs {
    /// Error texts; `-`, or none at all, reads them from stdin, one a line
    #[arg(value_name = "TEXT")]
    pub texts: Vec<String>,

    /// All of stdin is one text
    #[arg(long, action = ArgAction::SetTrue)]
    pub whole: bool,

    /// Systems to ask as well: the name of an embedded matcher (opal, pi, pi-0.73, sven, none, own) or a TOML file
    #[arg(short, long, value_name = "NAME|FILE", value_delimiter = ',')]
    pub matcher: Vec<String>,

    /// What to print
    #[arg(short, long, value_enum, default_value_t = TextOutput::Table)]
    pub format: TextOutput,
}

/// Names of [`Format`] for texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TextOutput {
    /// For people
    Table,
    /// A row per text
    Csv,
    /// One document
    Json,
}

impl From<TextOutput> for Format {
    fn from(output: TextOutput) -> Self {
        match output {
            TextOutput::Table => Self::Table,
            TextOutput::Csv => Self::Csv,
            TextOutput::Json => Self::Json,
        }
    }
}

const SHOW_ABOUT: &str = "\
Show one cycle in full: the cut and why, the summary, and where each fact went

Examples:
  compactor show session.jsonl --cycle 2
  compactor show session.jsonl --strategy recorded
  compactor show session.jsonl --strategy truncate --window 128k --format json

With the settings of a replay the cycle is that of the replay. Facts that were lost and needed come first; each fact names \
the line of the log where it was born, and the line of the summary where it stands.";

const PROFILES_ABOUT: &str = "\
List the embedded compaction policies, or print one

Examples:
  compactor profiles
  compactor profiles show pi
  compactor profiles show sven > mine.toml
  compactor profiles show pi+fixes

A profile of your own is a TOML file, named with --profile. It may begin with `extends = \"NAME\"` and hold only what differs. \
NAME+fixes is a profile with its known faults mended.";

/// Arguments of `profiles`.
#[derive(Debug, Args)]
pub struct ProfilesArgs {
    /// What to do; without it the profiles are listed
    #[command(subcommand)]
    pub verb: Option<ProfilesVerb>,
}

/// What `profiles` does.
#[derive(Debug, Subcommand)]
pub enum ProfilesVerb {
    /// A line for each profile
    List,
    /// The TOML text of a profile, comments on origin and meaning included
    Show {
        /// Name of an embedded profile
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// Arguments of `show`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct ShowArgs {
    /// One log, or `-` for stdin
    #[arg(required_unless_present = "files_from", value_name = "LOG")]
    pub path: Option<PathBuf>,

    /// More of them
    #[command(flatten)]
    pub list: ListArgs,

    /// Session id or its beginning, where the log holds several; default: the first that was compacted
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,

    /// structured, narrative, truncate, emergency, none, or recorded for the compactions the log itself holds
    #[arg(short, long, value_name = "NAME", value_parser = shown_strategy, default_value = "structured")]
    pub strategy: Strategy,

    /// Number of the cycle, or of the recorded compaction
    #[arg(short = 'k', long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub cycle: u16,

    /// List the facts of the kept tail, too
    #[arg(long, action = ArgAction::SetTrue)]
    pub all: bool,

    /// Print what a model would be asked for this summary, in the form of the profile's system
    #[arg(long, action = ArgAction::SetTrue)]
    pub prompts: bool,

    /// With --prompts: instructions of your own. `{budget}`, `{files}` and `{previous}` are filled in; with
    /// `{conversation}` in it the file is the whole message
    #[arg(long, value_name = "FILE", requires = "prompts")]
    pub prompt: Option<PathBuf>,

    /// Compaction policy: the name of an embedded profile (see `compactor profiles`; NAME+fixes: its
    /// faults mended) or a TOML file
    #[arg(short, long, value_name = "NAME|FILE", default_value = "standard")]
    pub profile: String,

    /// Context window in tokens (`128k`, `200000`), or `auto` for the window of the log's model
    #[arg(short, long, value_name = "TOKENS", value_parser = window, conflicts_with = "cycles")]
    pub window: Option<WindowChoice>,

    /// Find a window at which so many compactions happen [default: 5]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub cycles: Option<u16>,

    /// One schedule for all strategies, or that of this strategy on its own
    #[arg(long, value_enum, default_value_t = Schedule::Locked)]
    pub schedule: Schedule,

    /// Let the log go on between cycles, or compact the finished context again and again
    #[arg(long, value_enum, default_value_t = Repeat::Grow)]
    pub mode: Repeat,

    /// Compactions beside the trigger
    #[command(flatten)]
    pub steps: StepArgs,

    /// Limit for everything generated, in tokens, and never more than a quarter of the window; default: the profile's
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    pub summary_tokens: Option<u64>,

    /// How tokens are counted: o200k and cl100k are exact, heuristic is bytes / 4
    #[arg(long, value_name = "NAME", value_parser = tokenizer, default_value = "o200k")]
    pub tokenizer: Tokenizer,

    /// What to print
    #[arg(short, long, value_enum, default_value_t = ShowFormat::Text)]
    pub format: ShowFormat,
}

/// Arguments of `show` that say how to replay, by their ids.
pub const REPLAY_ONLY: [&str; 8] =
    ["profile", "window", "cycles", "schedule", "mode", "summary_tokens", "compact_at", "recorded"];

impl ShowArgs {
    /// What is wrong with arguments that each are right: those of a replay say nothing about a compaction that the log holds.
    pub fn mistake(&self, replay_only: &[&str]) -> Option<String> {
        if self.strategy != Strategy::Recorded || replay_only.is_empty() {
            return None;
        }
        let named: Vec<String> =
            replay_only.iter().map(|id| format!("'--{}'", id.replace('_', "-"))).collect();
        Some(format!(
            "the argument '--strategy recorded' cannot be used with {}: what the log holds was compacted by the agent's own \
             policy; leave them out, or name another strategy to replay the log",
            named.join(", ")
        ))
    }
}

/// What `show` can print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    /// For people
    Text,
    /// For programs: everything, the facts of the tail too
    Json,
}

const INSPECT_ABOUT: &str = "\
Look into logs: format, sessions, messages, tools, tokens, files, compactions, damage

Examples:
  compactor inspect --discover
  compactor inspect ~/.claude/projects
  compactor inspect session.jsonl --format json
  compactor inspect logs --strict --format csv > logs.csv

Nothing is compacted and nothing is written. Every byte of a file is in a record, between records, or skipped, and what was \
skipped is named. `recorded` are the records of the log as they are; the other counts are of the conversation: the active path, \
with sub-agents as sessions of their own (sidechains). What a fork or a resumed session repeats of another one is counted once \
in the table of all files. With --strict every remark, also a note on an unknown record, ends in exit code 3.

Formats, found by what is in a file and never by its name, JSON lines or documents, as they are, in gzip or zstd, or in zip archives:
  agents      claude-code, codex, codex-exec, pi (also OpenClaw), pi-subagents, gemini-cli, qwen-code, opencode, goose, cline
              (also Roo), cline-sdk, copilot-cli, continue, crush, amp, droid, kiro, kimi, grok, antigravity, hermes, cursor,
              aider, sven
  messages    openai-chat (also Vibe, Clawdbot), openai-responses, anthropic-messages, canonical
  exports     entire-transcript, specstory-md, chatgpt-export, claude-ai-export
  data sets   sharegpt, swe-agent, mini-swe-agent, openhands, atif, adp, inspect, otel-genai, tau-bench

Logs in several files (opencode storage, OpenHands events, Cline tasks, Grok sessions) are read where their directory is named, \
SQLite databases of opencode, Goose, Crush and Cursor where they lie. Zip archives (Inspect's .eval, account exports) are read like \
directories; what stands in them is named ARCHIVE/MEMBER.";

/// Arguments of `inspect`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct InspectArgs {
    /// Files, directories (searched recursively, hidden ones too), globs, or `-` for stdin
    #[arg(required_unless_present_any = ["files_from", "discover"], value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Inputs from a file.
    #[command(flatten)]
    pub list: ListArgs,

    /// List where the agents on this machine keep their logs, and how much is there; only names are read
    #[arg(long, conflicts_with_all = ["paths", "files_from", "strict"], action = ArgAction::SetTrue)]
    pub discover: bool,

    /// How tokens are counted: o200k and cl100k are exact, heuristic is bytes / 4
    #[arg(long, value_name = "NAME", value_parser = tokenizer, default_value = "o200k")]
    pub tokenizer: Tokenizer,

    /// Threads; default: all cores
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,

    /// End with exit code 3 when there is any remark on any file
    #[arg(long, action = ArgAction::SetTrue)]
    pub strict: bool,

    /// What to print
    #[arg(short, long, value_enum, default_value_t = InspectOutput::Table)]
    pub format: InspectOutput,
}

/// Names of [`Format`] for what logs hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InspectOutput {
    /// For people
    Table,
    /// A row per file; with --discover per place
    Csv,
    /// One document: report, tokenizer, files, formats; with --discover report and places
    Json,
}

impl From<InspectOutput> for Format {
    fn from(output: InspectOutput) -> Self {
        match output {
            InspectOutput::Table => Self::Table,
            InspectOutput::Csv => Self::Csv,
            InspectOutput::Json => Self::Json,
        }
    }
}

const AUDIT_ABOUT: &str = "\
Score the compactions that logs already hold: what their summaries kept, what the agent did next

Examples:
  compactor audit ~/.claude/projects
  compactor audit logs/*.jsonl --out results --log-facts

Needs no model and no network: the summaries are in the logs. The facts of the session before \
each compaction are looked for in its summary; behind it are counted the files the agent read again, its work before \
the first edit, and what the user had to say again. Encrypted summaries are neither kept nor lost.";

/// Arguments of `audit`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct AuditArgs {
    /// Files, directories (searched recursively, hidden ones too), globs, or `-` for stdin
    #[arg(required_unless_present = "files_from", value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// More of them
    #[command(flatten)]
    pub list: ListArgs,

    /// How tokens are counted: o200k and cl100k are exact, heuristic is bytes / 4
    #[arg(long, value_name = "NAME", value_parser = tokenizer, default_value = "o200k")]
    pub tokenizer: Tokenizer,

    /// Threads; default: all cores
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,

    /// Write the rows to this directory: those of `replay`, audit.csv (a row per compaction), kept.csv, afterwards.csv
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Also write facts.csv: a row per fact and compaction
    #[arg(long, requires = "out", action = ArgAction::SetTrue)]
    pub log_facts: bool,

    /// What to print
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub format: Output,
}

const REPLAY_ABOUT: &str = "\
Replay logs under compaction strategies and show what survives

Examples:
  compactor replay ~/.claude/projects
  compactor replay logs/*.jsonl --out results --log-facts
  compactor replay logs --window 128k,200k --strategy structured,truncate
  cat session.jsonl | compactor replay - --format json

Reads every format that `compactor inspect --help` lists; the format is found per file. Every session is \
compacted over and over until its log ends, under each strategy at the same places, and the facts of the session (files, \
commands, errors, values, constraints, decisions, ...) are looked for in each summary. Works offline.";

/// When to use colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Arguments of `replay`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct ReplayArgs {
    /// Files, directories (searched recursively, hidden ones too), globs, or `-` for stdin
    #[arg(required_unless_present = "files_from", value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// More of them
    #[command(flatten)]
    pub list: ListArgs,

    /// Strategies to compare: structured, narrative, truncate, emergency, and the control none
    #[arg(short, long, value_name = "NAME", value_delimiter = ',', value_parser = strategy,
        default_value = "structured,narrative,truncate,emergency")]
    pub strategy: Vec<Strategy>,

    /// Compaction policies: the name of an embedded profile (see `compactor profiles`; NAME+fixes: its
    /// faults mended) or a TOML file
    #[arg(short, long, value_name = "NAME|FILE", value_delimiter = ',', default_value = "standard")]
    pub profile: Vec<String>,

    /// Context windows in tokens (`128k`, `200000`), or `auto` for the window of each log's model
    #[arg(short, long, value_name = "TOKENS", value_delimiter = ',', value_parser = window, conflicts_with = "cycles")]
    pub window: Vec<WindowChoice>,

    /// Find a window per session at which so many compactions happen [default: 5]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub cycles: Option<u16>,

    /// Replay all policies at the windows found for the first one, to the end of each log, so that policies can be compared
    #[arg(long, action = ArgAction::SetTrue, conflicts_with_all = ["window", "mode", "compact_at"])]
    pub same_window: bool,

    /// One schedule of triggers and cuts for all strategies, or each strategy on its own
    #[arg(long, value_enum, default_value_t = Schedule::Locked)]
    pub schedule: Schedule,

    /// Let the log go on between cycles, or compact the finished context again and again
    #[arg(long, value_enum, default_value_t = Repeat::Grow)]
    pub mode: Repeat,

    /// Compactions beside the trigger
    #[command(flatten)]
    pub steps: StepArgs,

    /// Limit for everything generated, in tokens; default: the profile's (standard: 4 % of the window, at least 1000, which
    /// is what recorded summaries of real agents take), never more than a quarter of the window
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    pub summary_tokens: Option<u64>,

    /// How tokens are counted: o200k and cl100k are exact, heuristic is bytes / 4
    #[arg(long, value_name = "NAME", value_parser = tokenizer, default_value = "o200k")]
    pub tokenizer: Tokenizer,

    /// Threads; default: all cores
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,

    /// Write run.json and the CSV files (cycles, classes, sessions, spells, curves, summary, distributions, differences) to this directory
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Also write facts.csv: a row per fact and cycle
    #[arg(long, requires = "out", action = ArgAction::SetTrue)]
    pub log_facts: bool,

    /// Print what each policy's own system would tell of its compactions in place of the report; with --out also to events.csv
    #[arg(long, action = ArgAction::SetTrue, conflicts_with = "format")]
    pub events: bool,

    /// What to print
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub format: Output,
}

/// Compactions per session where nothing else is said.
const CYCLES: u16 = 5;

/// What is compacted beside the trigger.
#[derive(Debug, Args)]
pub struct StepArgs {
    /// Compact by hand before these messages (the first is number 0), with a tail of KEEP tokens, or entries where the policy keeps those.
    /// Without --window or --cycles the window is that of each log's model then
    #[arg(long, value_name = "MESSAGE[:KEEP]", value_delimiter = ',', value_parser = compact_at)]
    pub compact_at: Vec<(usize, Option<u64>)>,

    /// Commands that a log records (/compact, /prune, /new, /clear, /resume) and requests that were refused as too long
    #[arg(long, value_enum, default_value_t = RecordedSteps::Auto)]
    pub recorded: RecordedSteps,
}

/// What becomes of steps that a log records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RecordedSteps {
    /// They are followed where the window is given, not where it is searched for
    Auto,
    /// They are followed as the policy does it
    Follow,
    /// They are not
    Ignore,
}

impl StepArgs {
    /// Windows as given; else, where compactions are asked for in places, those of the models; else as many compactions as
    /// named.
    pub fn windows(&self, given: Vec<WindowChoice>, cycles: Option<u16>) -> Windows {
        match cycles {
            _ if !given.is_empty() => Windows::Given(given),
            None if !self.compact_at.is_empty() => Windows::Given(vec![WindowChoice::Auto]),
            _ => Windows::Cycles(usize::from(cycles.unwrap_or(CYCLES))),
        }
    }

    /// What to do beside the trigger, with windows as they are found or given.
    ///
    /// # Errors
    ///
    /// Where a message is named twice.
    pub fn asked(&self, windows: &Windows) -> Result<Asked, Failure> {
        let mut places: Vec<usize> = self.compact_at.iter().map(|(at, _)| *at).collect();
        places.sort_unstable();
        if let Some([at, _]) = places.array_windows().find(|[one, other]| one == other) {
            let cause = format!("--compact-at names message {at} twice");
            return Err(Failure::new(cause, "name each message once"));
        }
        let given = matches!(windows, Windows::Given(_));
        let recorded = match self.recorded {
            RecordedSteps::Auto => given,
            RecordedSteps::Follow => true,
            RecordedSteps::Ignore => false,
        };
        Ok(Asked { recorded, at: self.compact_at.clone() })
    }
}

/// `120`, `120:8k`.
fn compact_at(text: &str) -> Result<(usize, Option<u64>), String> {
    let (message, keep) = text.split_once(':').map_or((text, None), |(at, keep)| (at, Some(keep)));
    let at = message.trim().parse::<usize>().ok().filter(|at| *at > 0);
    let at = at.ok_or_else(|| {
        format!("`{message}` is no message to compact before; use its number, from 1 (`compactor show` tells numbers)")
    })?;
    Ok((at, keep.map(tokens).transpose()?))
}

/// Names of [`ScheduleMode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Schedule {
    /// Triggers and cuts are computed once, counting every summary at its full budget
    Locked,
    /// Each strategy triggers on its own tokens
    Free,
}

impl From<Schedule> for ScheduleMode {
    fn from(schedule: Schedule) -> Self {
        match schedule {
            Schedule::Locked => Self::Locked,
            Schedule::Free => Self::Free,
        }
    }
}

/// Names of [`Mode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Repeat {
    /// The log goes on
    Grow,
    /// The same context is compacted again
    Repeat,
}

impl From<Repeat> for Mode {
    fn from(mode: Repeat) -> Self {
        match mode {
            Repeat::Grow => Self::Grow,
            Repeat::Repeat => Self::Repeat,
        }
    }
}

/// Names of [`Format`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people
    Table,
    /// A row per profile and strategy
    Csv,
    /// One document: manifest, summary, distributions, differences, curves
    Json,
}

impl From<Output> for Format {
    fn from(output: Output) -> Self {
        match output {
            Output::Table => Self::Table,
            Output::Csv => Self::Csv,
            Output::Json => Self::Json,
        }
    }
}

fn strategy(text: &str) -> Result<Strategy, String> {
    text.parse().map_err(|_| unknown("strategy", text, &Strategy::ALL.map(Strategy::name)))
}

/// The strategies that put something in the place of what leaves.
fn writing_strategy(text: &str) -> Result<Strategy, String> {
    let writing = Strategy::ALL.into_iter().filter(|strategy| *strategy != Strategy::None);
    let names: Vec<&str> = writing.map(Strategy::name).collect();
    match text.parse() {
        Ok(Strategy::None) => Err("the strategy none never compacts; name another one".to_owned()),
        Ok(strategy) => Ok(strategy),
        Err(_) => Err(unknown("strategy", text, &names)),
    }
}

/// Every strategy, and what the log itself did.
fn shown_strategy(text: &str) -> Result<Strategy, String> {
    if text == Strategy::Recorded.name() {
        return Ok(Strategy::Recorded);
    }
    let mut names = Strategy::ALL.map(Strategy::name).to_vec();
    names.push(Strategy::Recorded.name());
    text.parse().map_err(|_| unknown("strategy", text, &names))
}

fn tokenizer(text: &str) -> Result<Tokenizer, String> {
    text.parse().map_err(|_| unknown("tokenizer", text, &["o200k", "cl100k", "heuristic"]))
}

/// Names what is known and the nearest of it.
pub fn unknown(what: &str, text: &str, names: &[&str]) -> String {
    let nearest = names
        .iter()
        .map(|name| (strsim::jaro_winkler(name, &text.to_lowercase()), *name))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(likeness, _)| *likeness > 0.6);
    let meant = nearest.map(|(_, name)| format!("did you mean `{name}`? ")).unwrap_or_default();
    format!("unknown {what} `{text}`; {meant}known: {}", names.join(", "))
}

fn window(text: &str) -> Result<WindowChoice, String> {
    if text == "auto" {
        return Ok(WindowChoice::Auto);
    }
    let window = tokens(text).map_err(|error| format!("{error}, or `auto`"))?;
    if window < MIN_WINDOW {
        return Err(format!("a window of {window} tokens holds nothing; use at least {MIN_WINDOW}"));
    }
    Ok(WindowChoice::Tokens(window))
}

/// `128k`, `1.5m`, `200000`.
fn tokens(text: &str) -> Result<u64, String> {
    let lower = text.trim().to_lowercase();
    let (digits, factor) = match (lower.strip_suffix('k'), lower.strip_suffix('m')) {
        (Some(digits), _) => (digits, 1_000.0),
        (_, Some(digits)) => (digits, 1_000_000.0),
        _ => (lower.as_str(), 1.0),
    };
    match digits.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 && number * factor < 1e12 => {
            Ok((number * factor).round() as u64)
        }
        _ => Err(format!("`{text}` is no number of tokens; use for example 128k or 200000")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn amounts_of_tokens() {
        for (text, expect) in [("128k", 128_000), ("200000", 200_000), ("1.5M", 1_500_000), ("32K", 32_000)] {
            assert_eq!(tokens(text), Ok(expect), "{text}");
        }
        for text in ["", "0", "-5", "k", "ten", "NaN", "inf", "1e99"] {
            assert!(tokens(text).is_err(), "{text}");
        }
        assert!(window("100").is_err());
        assert_eq!(window("auto"), Ok(WindowChoice::Auto));
    }

    #[test]
    fn the_nearest_name_is_offered() {
        let error = strategy("structred").unwrap_err();
        assert!(error.contains("did you mean `structured`"), "{error}");
    }

    #[test]
    fn the_help_names_every_format() {
        for format in crate::ingest::Format::ALL {
            let name = format.name();
            let named = INSPECT_ABOUT.split([' ', ',', '\n', '.', '(', ')']).any(|word| word == name);
            assert!(named, "{name}");
        }
    }
}
