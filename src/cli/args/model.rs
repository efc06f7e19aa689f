//! Arguments of the verbs that can ask a model for summaries, and of `cassettes`.

use crate::summarize::llm::{OnMiss, Price, Provider, TapeMode, Temperature};
use clap::{ArgAction, Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Who writes summaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Writer {
    /// The embedded one: offline, the same every time
    Extractive,
    /// A model behind HTTP
    Llm,
}

/// Names of [`Provider`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// Chat completions: OpenAI and most servers and gateways
    Openai,
    /// Messages
    Anthropic,
}

impl From<Protocol> for Provider {
    fn from(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Openai => Self::OpenAi,
            Protocol::Anthropic => Self::Anthropic,
        }
    }
}

/// Names of [`TapeMode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Cassette {
    /// Ask for every reply and keep it
    Record,
    /// Ask nobody: no connection is opened
    Replay,
    /// Ask for what is not there and keep it
    Auto,
}

impl From<Cassette> for TapeMode {
    fn from(mode: Cassette) -> Self {
        match mode {
            Cassette::Record => Self::Record,
            Cassette::Replay => Self::Replay,
            Cassette::Auto => Self::Auto,
        }
    }
}

/// Names of [`OnMiss`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Miss {
    /// The session is an error, which names the request
    Fail,
    /// The embedded summarizer writes in its place
    Extractive,
}

impl From<Miss> for OnMiss {
    fn from(miss: Miss) -> Self {
        match miss {
            Miss::Fail => Self::Fail,
            Miss::Extractive => Self::Extractive,
        }
    }
}

/// Who writes summaries, and how a model is asked.
#[derive(Debug, Args)]
#[command(next_help_heading = "Summaries by a model")]
pub struct ModelArgs {
    /// Who writes structured and narrative summaries
    #[arg(long, value_enum, default_value_t = Writer::Extractive)]
    pub summarizer: Writer,

    /// How it is asked
    #[command(flatten)]
    pub ask: AskArgs,

    /// Instructions in place of ours; see `compactor show --help`
    #[arg(long, value_name = "FILE")]
    pub prompt: Option<PathBuf>,

    /// What a reply means that is not there, in replay [default: fail]
    #[arg(long, value_enum, requires = "cassettes")]
    pub on_miss: Option<Miss>,
}

/// How a model is asked.
#[derive(Debug, Args)]
pub struct AskArgs {
    /// Protocol of the server [default: openai; for summaries, what the profile says]
    #[arg(long, value_enum)]
    pub provider: Option<Protocol>,

    /// Address of the server, like http://127.0.0.1:8080/v1 [default: the provider's own; for summaries, what the profile says]
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,

    /// Name of the model. Keys come from the environment: COMPACTOR_API_KEY for any server, else OPENAI_API_KEY or ANTHROPIC_API_KEY
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,

    /// Most tokens of a reply [default: for a summary one and a half times its budget and 256, for an answer 256]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub max_output_tokens: Option<u64>,

    /// Temperature, 0 to 2, or `none` to send none [default: 0]
    #[arg(long, value_name = "T")]
    pub temperature: Option<Temperature>,

    /// Requests on their way at once [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub concurrency: Option<u16>,

    /// Seconds until a reply has to be there [default: 600]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: Option<u64>,

    /// Times that a request is sent in all, where waiting may help [default: 6]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50))]
    pub tries: Option<u32>,

    /// Send no more requests than this, repeated ones included
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_requests: Option<u64>,

    /// Spend no more US dollars than this; needs --price
    #[arg(long, value_name = "USD", value_parser = dollars, requires = "price")]
    pub max_cost: Option<f64>,

    /// Price of a million tokens of input and of output in US dollars, like 0.25,2
    #[arg(long, value_name = "IN,OUT")]
    pub price: Option<Price>,

    /// Send nothing: print which server would be asked, how often, for how many tokens and at what price
    #[arg(long, action = ArgAction::SetTrue)]
    pub dry_run: bool,

    /// Ask servers elsewhere without encryption
    #[arg(long, action = ArgAction::SetTrue)]
    pub allow_http: bool,

    /// Directory of replies that are kept, a file each
    #[arg(long, value_name = "DIR")]
    pub cassettes: Option<PathBuf>,

    /// When they are read and written [default: auto]
    #[arg(long, value_name = "MODE", value_enum, requires = "cassettes")]
    pub cassette_mode: Option<Cassette>,
}

impl AskArgs {
    /// Requests on their way at once.
    pub fn places(&self) -> usize {
        self.concurrency.map_or(4, usize::from)
    }

    /// A reply has to be there after so long.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(self.timeout.unwrap_or(600))
    }

    /// Replies come from cassettes alone.
    pub fn replays(&self) -> bool {
        self.cassettes.is_some() && self.cassette_mode == Some(Cassette::Replay)
    }
}

impl ModelArgs {
    /// Arguments that mean nothing without a model.
    pub fn of_a_model(&self) -> Vec<&'static str> {
        [
            ("--provider", self.ask.provider.is_some()),
            ("--base-url", self.ask.base_url.is_some()),
            ("--model", self.ask.model.is_some()),
            ("--max-output-tokens", self.ask.max_output_tokens.is_some()),
            ("--temperature", self.ask.temperature.is_some()),
            ("--concurrency", self.ask.concurrency.is_some()),
            ("--timeout", self.ask.timeout.is_some()),
            ("--tries", self.ask.tries.is_some()),
            ("--max-requests", self.ask.max_requests.is_some()),
            ("--max-cost", self.ask.max_cost.is_some()),
            ("--price", self.ask.price.is_some()),
            ("--dry-run", self.ask.dry_run),
            ("--allow-http", self.ask.allow_http),
            ("--prompt", self.prompt.is_some()),
            ("--cassettes", self.ask.cassettes.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, given)| given.then_some(name))
        .collect()
    }
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(dollars) if dollars.is_finite() && dollars > 0.0 => Ok(dollars),
        _ => Err(format!("`{text}` is no amount of US dollars above 0")),
    }
}

pub(super) const CASSETTES_ABOUT: &str = "\
Look after the replies of models that runs keep and replay

Examples:
  compactor replay logs --summarizer llm --model NAME --cassettes tapes --out results
  compactor replay logs --summarizer llm --model NAME --cassettes tapes --cassette-mode replay
  compactor cassettes verify tapes
  compactor cassettes prune tapes --used-by results

Each file is one request with its reply, named by a hash of the request. No address, header or key is in it; what stands in \
the log stands in it too.";

/// Arguments of `cassettes`.
#[derive(Debug, Args)]
pub struct CassettesArgs {
    /// What to do
    #[command(subcommand)]
    pub what: CassettesVerb,
}

/// What to do with cassettes.
#[derive(Debug, Subcommand)]
pub enum CassettesVerb {
    /// Check that every file is what its name says; exit code 3 where one is not
    Verify {
        /// Directory of cassettes
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
    /// Remove the files that no run used, and what killed runs left
    Prune {
        /// Directory of cassettes
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// Directories of runs (--out) whose cassettes stay
        #[arg(long, value_name = "RUN", required = true, num_args = 1..)]
        used_by: Vec<PathBuf>,
        /// Only say what would go
        #[arg(long, action = ArgAction::SetTrue)]
        dry_run: bool,
    },
}
