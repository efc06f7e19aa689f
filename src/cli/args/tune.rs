//! Arguments of `tune`.

use super::{CYCLES, ListArgs, ModelArgs, ProgramArgs, Schedule, WorkArgs, tokens, unknown};
use crate::aggregate::Metric;
use crate::report::Format;
use crate::tune::search::Search;
use clap::{ArgGroup, Args, ValueEnum};
use std::path::PathBuf;

pub(super) const ABOUT: &str = "\
Compare settings of a policy on the same logs, and recommend one

Examples:
  compactor tune logs --set trigger.limit.share=0.65,0.75,0.85 --set keep.tokens=4k,8k,20k
  compactor tune logs --grid grid.toml --out tuned
  compactor tune logs --grid large.toml --search halving --objective context_survival
  compactor tune logs --grid grid.toml --max-tokens 40k

A grid file holds keys of a profile with lists of values (`keep.tokens = [\"4k\", \"8k\"]`), and `strategy`, `window`, \
`summary_tokens` and `profile` likewise. Every combination is a profile, checked like a profile file, and is replayed on the \
same sessions as the present setting: the first profile as it is, under the first strategy and window. The best has most \
of the objective (of equal ones fewer prompt tokens per request, at most --max-tokens) and breaks no hard rule. It is \
chosen on most sessions and recommended only where the held-out ones tell it apart from the present setting.";

/// Arguments of `tune`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true, group = ArgGroup::new("settings").args(["grid", "set"]).required(true).multiple(true))]
pub struct TuneArgs {
    /// Files, directories (searched recursively, hidden ones too), globs, or `-` for stdin
    #[arg(required_unless_present = "files_from", value_name = "LOG")]
    pub paths: Vec<PathBuf>,

    /// More of them
    #[command(flatten)]
    pub list: ListArgs,

    /// What to try: a TOML file of keys of a profile with lists of values. Profile files that it names lie beside it
    #[arg(short, long, value_name = "FILE")]
    pub grid: Option<PathBuf>,

    /// The same for one key, without a file or in place of what the file has for it; may be given again
    #[arg(long, value_name = "KEY=V1,V2")]
    pub set: Vec<String>,

    /// The policy to tune, where the grid names none: an embedded profile or a TOML file
    #[arg(short, long, value_name = "NAME|FILE", default_value = "standard")]
    pub profile: String,

    /// Find a window per session at which the present setting compacts so often; all combinations are replayed at it, unless
    /// the grid names windows
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000), default_value_t = CYCLES)]
    pub cycles: u16,

    /// What the best has most of: files_modified, files_read, structural_survival, lexical_survival, summary_survival,
    /// needed_survival or context_survival (the one that gives credit for what the kept tail holds)
    #[arg(long, value_name = "METRIC", value_parser = metric, default_value = "needed_survival")]
    pub objective: Metric,

    /// Most prompt tokens per request, in the mean over sessions, of what may win
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    pub max_tokens: Option<u64>,

    /// Share of the sessions that only confirm the choice
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0.3")]
    pub held_out: f64,

    /// All combinations on all sessions, or the better half on ever more sessions
    #[arg(long, value_enum, default_value_t = Method::Grid)]
    pub search: Method,

    /// Refuse larger grids [default: 500; with --search halving 5000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_combinations: Option<u32>,

    /// One schedule of triggers and cuts for all strategies, or each strategy on its own
    #[arg(long, value_enum, default_value_t = Schedule::Locked)]
    pub schedule: Schedule,

    /// How the work is done
    #[command(flatten)]
    pub work: WorkArgs,

    /// Write tuning.csv (two rows per combination: dev and held-out), tuning.json and recommended.toml to this directory
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// What to print
    #[arg(short, long, value_enum, default_value_t = TuneOutput::Table)]
    pub format: TuneOutput,

    /// How programs are run
    #[command(flatten)]
    pub programs: ProgramArgs,

    /// Who writes summaries
    #[command(flatten)]
    pub model: ModelArgs,
}

impl TuneArgs {
    /// Most combinations.
    pub fn most(&self) -> usize {
        let most = self.max_combinations.unwrap_or(match self.search {
            Method::Grid => 500,
            Method::Halving => 5_000,
        });
        most as usize
    }
}

/// Names of [`Search`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// All combinations on all sessions
    Grid,
    /// All on a share of the dev sessions, the better half on twice as many, and so on
    Halving,
}

impl From<Method> for Search {
    fn from(method: Method) -> Self {
        match method {
            Method::Grid => Self::Grid,
            Method::Halving => Self::Halving,
        }
    }
}

/// Names of [`Format`] for a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TuneOutput {
    /// For people: the frontier, the best of the rest, and what to do
    Table,
    /// Two rows per combination, dev and held-out, as tuning.csv
    Csv,
    /// One document: manifest, search, verdict and all combinations, as tuning.json
    Json,
}

impl From<TuneOutput> for Format {
    fn from(output: TuneOutput) -> Self {
        match output {
            TuneOutput::Table => Self::Table,
            TuneOutput::Csv => Self::Csv,
            TuneOutput::Json => Self::Json,
        }
    }
}

fn metric(text: &str) -> Result<Metric, String> {
    let found = Metric::ALL.into_iter().find(|metric| metric.name() == text);
    found.ok_or_else(|| unknown("metric", text, &Metric::ALL.map(Metric::name)))
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=0.9).contains(&share) => Ok(share),
        _ => Err(format!("`{text}` is no share between 0 and 0.9")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_and_shares() {
        assert_eq!(metric("context_survival"), Ok(Metric::Context));
        assert!(metric("needed_survial").unwrap_err().contains("did you mean `needed_survival`"));
        assert_eq!(share("0"), Ok(0.0));
        for text in ["", "1", "-0.1", "NaN", "inf", "half"] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
