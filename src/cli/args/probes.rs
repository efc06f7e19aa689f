//! Arguments of `probes`.

use super::replay::PlanArgs;
use super::{AskArgs, ListArgs, ModelArgs, Output};
use crate::run::probes::Cycles;
use crate::tokens::Tokenizer;
use clap::{ArgAction, Args, Subcommand};
use std::path::PathBuf;

pub(super) const ABOUT: &str = "\
Ask a model closed questions about what compactions put at risk

Examples:
  compactor probes emit logs --out questions
  compactor probes run questions --base-url http://127.0.0.1:8080/v1 --model NAME
  compactor probes score questions

The scores of a replay say whether a fact stands in the text; whether a model makes use of it is another question. `emit` replays \
logs and writes one prompt for each question and context: the compacted one of each strategy, the whole conversation (the \
control), and none (what can be guessed). Any client may answer the lines of probes.jsonl with lines {\"id\": ..., \"answer\": ...} in \
answers.jsonl; `run` does it over HTTP. `score` goes by the chosen letters alone: no judge is asked.";

/// Arguments of `probes`.
#[derive(Debug, Args)]
pub struct ProbesArgs {
    /// What to do
    #[command(subcommand)]
    pub what: ProbesVerb,
}

/// What to do with questions.
#[derive(Debug, Subcommand)]
pub enum ProbesVerb {
    /// Replay logs and write questions about what is at risk: probes.jsonl, key.jsonl and probes.json
    Emit(Box<EmitArgs>),
    /// Have a model answer the questions of a directory; what is answered already is not asked again
    Run(Box<AnswerArgs>),
    /// Say what the answers come to
    Score(ScoreArgs),
}

/// Arguments of `probes emit`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct EmitArgs {
    /// Files, directories (searched recursively, hidden ones too), globs, or `-` for stdin
    #[arg(required_unless_present = "files_from", value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// More of them
    #[command(flatten)]
    pub list: ListArgs,

    /// Directory to write to
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,

    /// Most questions for each session, profile, window and cycle: in turn about errors, runs, names and values (recall), files
    /// (artifact), decisions and rules (decision), requests and plans (continuation)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000), default_value_t = 12)]
    pub questions: u16,

    /// Ask at these cycles: `last`, `all`, or numbers
    #[arg(long, value_name = "CYCLES", value_parser = cycles, default_value = "last")]
    pub at: Cycles,

    /// Another choice of facts and another order of options
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Leave out prompts of more tokens than the model takes. Where that is the whole conversation, nothing tells whether the
    /// model could answer, and the question is in no survival
    #[arg(long, value_name = "TOKENS", value_parser = super::tokens)]
    pub longest: Option<u64>,

    /// What is replayed, and how
    #[command(flatten)]
    pub plan: PlanArgs,

    /// Who writes summaries
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Arguments of `probes run`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct AnswerArgs {
    /// Directory of the questions
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// Ask again what was answered so that no option could be read, as with more --max-output-tokens
    #[arg(long, action = ArgAction::SetTrue)]
    pub again: bool,

    /// How tokens are counted for limits and estimates
    #[arg(long, value_name = "NAME", value_parser = super::tokenizer, default_value = "o200k")]
    pub tokenizer: Tokenizer,

    /// Who answers
    #[command(flatten, next_help_heading = "The model")]
    pub ask: AskArgs,
}

/// Arguments of `probes score`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct ScoreArgs {
    /// Directory of the questions
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// Answers in other files than answers.jsonl of the directory; later ones go before earlier ones
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub answers: Vec<PathBuf>,

    /// What to print; csv is a row per profile, strategy and kind
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub format: Output,

    /// With --format csv: a row for each question
    #[arg(long, action = ArgAction::SetTrue)]
    pub each: bool,
}

/// `last`, `all`, `1,3,5`.
fn cycles(text: &str) -> Result<Cycles, String> {
    match text {
        "last" => return Ok(Cycles::Last),
        "all" => return Ok(Cycles::All),
        _ => {}
    }
    let number = |part: &str| part.trim().parse::<usize>().ok().filter(|number| *number > 0);
    let numbers: Option<Vec<usize>> = text.split(',').map(number).collect();
    let mut numbers = numbers
        .ok_or_else(|| format!("`{text}` names no cycles; give `last`, `all`, or numbers like 1,3"))?;
    numbers.sort_unstable();
    numbers.dedup();
    Ok(Cycles::Numbers(numbers))
}
