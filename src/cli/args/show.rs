//! Arguments of `show`.

use super::replay::StepArgs;
use super::{ListArgs, ProgramArgs, Repeat, Schedule, tokenizer, tokens, unknown, window};
use crate::run::WindowChoice;
use crate::strategy::Strategy;
use crate::strategy::exec::EXEC;
use crate::tokens::Tokenizer;
use clap::{ArgAction, Args, ValueEnum};
use std::path::PathBuf;

pub(super) const ABOUT: &str = "\
Show one cycle in full: the cut and why, the summary, and where each fact went

Examples:
  compactor show session.jsonl --cycle 2
  compactor show session.jsonl --strategy recorded
  compactor show session.jsonl --strategy truncate --window 128k --format json

With the settings of a replay the cycle is that of the replay. Facts that were lost and needed come first; each fact names \
the line of the log where it was born, and the line of the summary where it stands.";

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
    #[arg(short, long, value_name = "NAME", value_parser = strategy, default_value = "structured")]
    pub strategy: Strategy,

    /// How programs are run
    #[command(flatten)]
    pub programs: ProgramArgs,

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

/// Every strategy, and what the log itself did.
fn strategy(text: &str) -> Result<Strategy, String> {
    if text == Strategy::Recorded.name() {
        return Ok(Strategy::Recorded);
    }
    let mut names = Strategy::ALL.map(Strategy::name).to_vec();
    names.push(Strategy::Recorded.name());
    text.parse()
        .map_err(|error| if text.starts_with(EXEC) { error } else { unknown("strategy", text, &names) })
}
