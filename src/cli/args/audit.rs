//! Arguments of `audit`.

use super::{ListArgs, Output, WorkArgs};
use clap::{ArgAction, Args};
use std::path::PathBuf;

pub(super) const ABOUT: &str = "\
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

    /// How the work is done
    #[command(flatten)]
    pub work: WorkArgs,

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
