//! Arguments of the verbs that read results.

use crate::report::Format;
use clap::{ArgAction, Args, ValueEnum};
use std::path::PathBuf;

pub(super) const COMPARE_ABOUT: &str = "\
Compare two runs: what changed, by how much, in which sessions, and what is newly lost

Examples:
  compactor replay logs --out before
  compactor replay logs --profile mine.toml --out now
  compactor compare before now

Differences are paired by session: now minus before, with a 95 % interval from 10 sessions on. Better or worse is said of what \
holds after Holm's correction over the headlines of all contenders; hard invariants are counts, so one that is broken more often is \
worse by itself. A few sessions cannot tell (below 6 never), and that is said. Profiles, summarizers and budgets \
may differ; logs, tokenizer, scorer, cycles and schedule may not. Two runs of one profile each are compared with each other \
whatever the profiles are called. With --log-facts in both, every fact that is newly lost is named with its line of the log.";

/// Arguments of `compare`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct CompareArgs {
    /// Results of the first run
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,

    /// Results of the second
    #[arg(value_name = "NOW")]
    pub now: PathBuf,

    /// Compare the sessions that both have, though the logs are not the same
    #[arg(long, action = ArgAction::SetTrue)]
    pub intersection: bool,

    /// What to print
    #[arg(short, long, value_enum, default_value_t = CompareOutput::Table)]
    pub format: CompareOutput,
}

/// What a comparison looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareOutput {
    /// For people
    Table,
    /// A row per contender and metric, then one per amount that differs
    Csv,
    /// One document: findings, rows, sessions, new losses
    Json,
    /// For a pull request
    Markdown,
}

impl CompareOutput {
    /// The format of a report; `None` for Markdown.
    pub fn format(self) -> Option<Format> {
        match self {
            Self::Table => Some(Format::Table),
            Self::Csv => Some(Format::Csv),
            Self::Json => Some(Format::Json),
            Self::Markdown => None,
        }
    }
}

pub(super) const GATE_ABOUT: &str = "\
Judge a run by a policy and a baseline: a verdict and its reasons, and an exit code for a build

Examples:
  compactor replay logs --out run
  compactor gate run --baseline baseline --accept        make or renew the baseline; commit it
  compactor gate run --baseline baseline                 nothing may be worse
  compactor gate run --baseline baseline --policy gate.toml --junit gate.xml
  compactor gate run --baseline baseline --policy gate.toml --self-test

Exit code 0 when every check holds, 1 when one fails, 2 when too little was measured to say (inconclusive, not exercised), 3 when \
every figure holds and more inputs were unreadable than the policy allows.

A policy, gate.toml:
  min_sessions = 10            sessions a figure needs; below, nothing is said
  max_unscored = 0             files and sessions that may be unreadable or fail
  [invariants]                 broken hard invariants that are allowed, 0 unless named
  no_gain = 2
  [[rule]]
  metric = \"files_modified\"    a share: min, max_drop; or an amount: max, max_rise; of one class of
                               facts the share is called survival.CLASS
  strategy = \"structured\"      profile, strategy, window: one name, a list, or any
  min = 0.95                   passes on 0.95; compared as counts
  max_drop = 0.01              may be 0.01 below the baseline
  average = \"macro\"            mean of sessions in place of all facts together

`compactor columns gate` lists the metrics. Figures of the embedded summarizer are exact: any difference is one. Where a model wrote the \
summaries (noise = \"auto\"), a figure fails when chance is unlikely to have made it (false_alarms = 0.05, over all rules).";

/// Arguments of `gate`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct GateArgs {
    /// Results of the run to judge
    #[arg(value_name = "RUN")]
    pub run: PathBuf,

    /// What is asked, as TOML; without it, and where it has no rule, no headline may drop below the baseline
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,

    /// What to compare with: a directory that --accept wrote, or the results of a run
    #[arg(long, value_name = "DIR")]
    pub baseline: Option<PathBuf>,

    /// Judge by the sessions that both have, though the logs are not the same
    #[arg(long, action = ArgAction::SetTrue, requires = "baseline")]
    pub intersection: bool,

    /// Write the run as the new baseline and say, as text, what that changes
    #[arg(long, action = ArgAction::SetTrue, requires = "baseline", conflicts_with_all = ["self_test", "junit", "intersection", "step_summary"])]
    pub accept: bool,

    /// Damage copies of the run and show that each rule, each hard invariant and the count of unscored turn red; text or JSON
    #[arg(long, action = ArgAction::SetTrue, conflicts_with_all = ["junit", "step_summary"])]
    pub self_test: bool,

    /// What to print
    #[arg(short, long, value_enum, default_value_t = GateOutput::Text)]
    pub format: GateOutput,

    /// Write JUnit XML as well
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Append a summary in Markdown to this file; in a GitHub workflow that of the step, unless another is named
    #[arg(long, value_name = "FILE")]
    pub step_summary: Option<PathBuf>,
}

/// What a verdict looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GateOutput {
    /// For people
    Text,
    /// One document
    Json,
    /// JUnit XML
    Junit,
    /// Annotations of a GitHub workflow, 10 at most
    Github,
    /// Markdown
    Markdown,
}

pub(super) const COLUMNS_ABOUT: &str = "\
Explain every column of the CSV files

Examples:
  compactor columns              all files
  compactor columns sessions     one of them
  compactor columns gate         metrics of policies and baselines
  compactor columns --format csv";

/// Arguments of `columns`.
#[derive(Debug, Args)]
pub struct ColumnsArgs {
    /// Files to explain, without .csv; all when none is named
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,

    /// What to print
    #[arg(short, long, value_enum, default_value_t = super::TextOutput::Table)]
    pub format: super::TextOutput,
}

pub(super) const SCHEMA_ABOUT: &str = "\
Print the JSON Schema of a JSON output

Examples:
  compactor schema               names of the outputs
  compactor schema replay        of `compactor replay --format json`
  compactor schema run           of run.json";

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// The output; without it their names are listed
    #[arg(value_name = "OUTPUT")]
    pub output: Option<String>,
}
