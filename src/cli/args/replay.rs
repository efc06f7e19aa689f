//! Arguments of `replay`.

use super::{
    CYCLES, ListArgs, ModelArgs, Output, ProgramArgs, Repeat, Schedule, Strategies, WorkArgs, strategies,
    tokens, window,
};
use crate::cli::exit::Failure;
use crate::replay::Asked;
use crate::run::{WindowChoice, Windows};
use clap::{ArgAction, Args, ValueEnum};
use std::path::PathBuf;

pub(super) const ABOUT: &str = "\
Replay logs under compaction strategies and show what survives

Examples:
  compactor replay ~/.claude/projects
  compactor replay logs/*.jsonl --out results --log-facts
  compactor replay logs --window 128k,200k --strategy structured,truncate
  cat session.jsonl | compactor replay - --format json

Reads every format that `compactor inspect --help` lists; the format is found per file. Every session is \
compacted over and over until its log ends, under each strategy at the same places, and the facts of the session (files, \
commands, errors, values, constraints, decisions, ...) are looked for in each summary. Works offline.";

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

    /// What is replayed, and how
    #[command(flatten)]
    pub plan: PlanArgs,

    /// Write run.json and the CSV files (cycles, classes, sessions, spells, curves, summary, kept, distributions, differences) to this directory
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Go on with a run to the same directory that was stopped, or that a limit or an error ended: finished sessions with equal
    /// content and settings are kept, the rest is done
    #[arg(long, requires = "out", action = ArgAction::SetTrue)]
    pub resume: bool,

    /// Also write facts.csv: a row per fact and cycle
    #[arg(long, requires = "out", action = ArgAction::SetTrue)]
    pub log_facts: bool,

    /// Print what each policy's own system would tell of its compactions in place of the report; with --out also to events.csv
    #[arg(long, action = ArgAction::SetTrue, conflicts_with = "format")]
    pub events: bool,

    /// What to print
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub format: Output,

    /// Who writes summaries
    #[command(flatten)]
    pub model: ModelArgs,
}

/// What sessions are replayed under, and how the work is done.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Strategies to compare: structured, narrative, truncate, emergency, the control none, and exec:COMMAND for a program of
    /// yours, in any language (see the README); a command ends its argument, give several with an argument each
    #[arg(short, long, value_name = "NAME", value_parser = strategies,
        default_value = "structured,narrative,truncate,emergency")]
    pub strategy: Vec<Strategies>,

    /// How programs are run
    #[command(flatten)]
    pub programs: ProgramArgs,

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

    /// How the work is done
    #[command(flatten)]
    pub work: WorkArgs,
}

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
