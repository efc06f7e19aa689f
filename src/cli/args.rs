//! What can be typed. Doc comments are the help; parsing values is all the logic there is.

use super::ui::Ui;
use crate::discover::{Discovered, discover_listed};
use crate::profile::MIN_WINDOW;
use crate::replay::{Mode, ScheduleMode};
use crate::report::Format;
use crate::run::WindowChoice;
use crate::strategy::Strategy;
use crate::strategy::exec::{EXEC, Programs};
use crate::tokens::Tokenizer;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

mod audit;
mod inspect;
mod model;
mod overflow;
mod probes;
mod profiles;
mod replay;
mod report;
mod show;
mod tune;
pub mod verdicts;
mod writing;

pub use audit::AuditArgs;
pub use inspect::{InspectArgs, InspectOutput};
pub use model::{AskArgs, Cassette, CassettesArgs, CassettesVerb, Miss, ModelArgs, Writer};
pub use overflow::{OverflowArgs, TextOutput};
pub use probes::{AnswerArgs, EmitArgs, ProbesArgs, ProbesVerb, ScoreArgs};
pub use profiles::{ProfilesArgs, ProfilesVerb};
pub use replay::{PlanArgs, ReplayArgs};
pub use report::ReportArgs;
pub use show::{REPLAY_ONLY, ShowArgs, ShowFormat};
pub use tune::TuneArgs;
pub use writing::{CompactArgs, ConvertArgs};

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
    #[command(long_about = replay::ABOUT)]
    Replay(ReplayArgs),
    /// Score the compactions that logs already hold: what their summaries kept, what the agent did next
    #[command(long_about = audit::ABOUT)]
    Audit(AuditArgs),
    /// Make a report of finished runs: one HTML file, Markdown or CSV
    #[command(long_about = report::ABOUT)]
    Report(ReportArgs),
    /// Look into logs: format, sessions, messages, tools, tokens, files, compactions, damage
    #[command(long_about = inspect::ABOUT)]
    Inspect(InspectArgs),
    /// Show one cycle in full: the cut and why, the summary, and where each fact went
    #[command(long_about = show::ABOUT)]
    Show(ShowArgs),
    /// Compare settings of a policy on the same logs, and recommend one
    #[command(long_about = tune::ABOUT)]
    Tune(TuneArgs),
    /// Compact sessions at their end and write what to go on from
    #[command(long_about = writing::COMPACT_ABOUT)]
    Compact(CompactArgs),
    /// Write logs of any format as canonical JSONL
    #[command(long_about = writing::CONVERT_ABOUT)]
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
    #[command(long_about = overflow::ABOUT)]
    Overflow(OverflowArgs),
    /// Ask a model closed questions about what compactions put at risk
    #[command(long_about = probes::ABOUT)]
    Probes(ProbesArgs),
    /// Look after the replies of models that runs keep and replay
    #[command(long_about = model::CASSETTES_ABOUT)]
    Cassettes(CassettesArgs),
    /// List the embedded compaction policies, or print one
    #[command(long_about = profiles::ABOUT)]
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

/// How logs are worked on.
#[derive(Debug, Args)]
pub struct WorkArgs {
    /// How tokens are counted: o200k and cl100k are exact, heuristic is bytes / 4
    #[arg(long, value_name = "NAME", value_parser = tokenizer, default_value = "o200k")]
    pub tokenizer: Tokenizer,

    /// Threads; default: all cores
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

impl WorkArgs {
    /// Threads; 0 means all cores.
    pub fn threads(&self) -> usize {
        self.jobs.map_or(0, usize::from)
    }
}

/// Compactions per session where nothing else is said.
const CYCLES: u16 = 5;

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
    text.parse().map_err(|error| {
        if text.starts_with(EXEC) {
            return error;
        }
        let known = unknown("strategy", text, &Strategy::ALL.map(Strategy::name));
        format!("{known}, or exec:COMMAND for a program of yours")
    })
}

/// Strategies of one argument: names with commas between them, and behind them at most one command, which may hold any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strategies(pub Vec<Strategy>);

fn strategies(text: &str) -> Result<Strategies, String> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.starts_with(EXEC) {
        let (name, behind) = rest.split_once(',').map_or((rest, None), |(name, behind)| (name, Some(behind)));
        found.push(strategy(name.trim())?);
        match behind {
            Some(behind) => rest = behind.trim_start(),
            None => return Ok(Strategies(found)),
        }
    }
    found.push(strategy(rest)?);
    Ok(Strategies(found))
}

/// Programs that stand for strategies.
#[derive(Debug, Args)]
pub struct ProgramArgs {
    /// Seconds until a program of yours (--strategy exec:COMMAND) has to reply
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400), default_value_t = 120)]
    pub exec_timeout: u64,
}

impl ProgramArgs {
    /// The programs of a run.
    pub fn programs(&self) -> Programs {
        Programs::new(Duration::from_secs(self.exec_timeout))
    }
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
}
