//! Arguments of the verbs that write transcripts: `compact` and `convert`.

use super::{ListArgs, ModelArgs, ProgramArgs, tokenizer, tokens, unknown, window};
use crate::export::Target;
use crate::run::WindowChoice;
use crate::strategy::Strategy;
use crate::strategy::exec::EXEC;
use crate::tokens::Tokenizer;
use clap::{ArgAction, Args, ValueEnum};
use std::path::PathBuf;

pub(super) const COMPACT_ABOUT: &str = "\
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

    /// What takes the place of the messages that leave: structured, narrative, truncate, emergency, or exec:COMMAND
    #[arg(short, long, value_name = "NAME", value_parser = strategy, default_value = "structured")]
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

    /// How programs are run
    #[command(flatten)]
    pub programs: ProgramArgs,

    /// Who writes summaries
    #[command(flatten)]
    pub model: ModelArgs,
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

/// The strategies that put something in the place of what leaves.
fn strategy(text: &str) -> Result<Strategy, String> {
    let writing = Strategy::ALL.into_iter().filter(|strategy| *strategy != Strategy::None);
    let names: Vec<&str> = writing.map(Strategy::name).collect();
    match text.parse() {
        Ok(Strategy::None) => Err("the strategy none never compacts; name another one".to_owned()),
        Ok(strategy) => Ok(strategy),
        Err(error) if text.starts_with(EXEC) => Err(error),
        Err(_) => Err(unknown("strategy", text, &names)),
    }
}

pub(super) const CONVERT_ABOUT: &str = "\
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
