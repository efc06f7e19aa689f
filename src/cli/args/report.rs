//! What can be typed for `report`.

use clap::{ArgAction, Args};
use std::path::PathBuf;

pub(super) const ABOUT: &str = "\
Make a report of finished runs: one HTML file, Markdown or CSV

Examples:
  compactor replay logs --out results --log-facts
  compactor report results --html report.html
  compactor report old new --html both.html --markdown both.md
  compactor report results --html report.html --baseline compaction --policy gate.toml
  compactor report results --html shared.html --redact

Reads what `replay --out DIR` and `audit --out DIR` wrote. The HTML file stands alone: it loads nothing and can be sent. Several runs \
stand side by side under the names of their directories; they must agree in scorer and tokenizer. Without an output Markdown goes to \
stdout. A report is replaced, any other file is not. With --policy or --baseline the report is written first, then the exit code is that \
of the verdict: 1 where a check fails, 2 where too little was measured to say.";

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct ReportArgs {
    /// Directories that `replay --out` or `audit --out` wrote
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,

    /// Write one HTML file that stands alone; `-` is stdout
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Write Markdown; `-` is stdout
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,

    /// Write CSV, a row per figure; `-` is stdout
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    /// Show first what a policy says of the run, as `compactor gate` does; the exit code is that of its verdict
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,

    /// Show first how the run compares with a baseline
    #[arg(long, value_name = "DIR")]
    pub baseline: Option<PathBuf>,

    /// Put placeholders in the place of texts, paths, sessions and names, so that the report can be shared
    #[arg(long, action = ArgAction::SetTrue)]
    pub redact: bool,
}
