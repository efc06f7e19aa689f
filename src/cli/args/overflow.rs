//! Arguments of `overflow`.

use crate::report::Format;
use clap::{ArgAction, Args, ValueEnum};

pub(super) const ABOUT: &str = "\
Tell what error texts of model providers say: an overflow or not, the limit, and which systems would notice

Examples:
  compactor overflow 'prompt is too long: 203144 tokens > 200000 maximum'
  compactor overflow --matcher opal,pi < errors.txt
  curl ... | compactor overflow --whole --format json

Each text is judged by what it says: overflow (more than the model takes), rate, billing, bytes (too large in bytes, \
characters or pixels), output-setting (the output asked for), none. Give error texts only, not what a user or an agent \
wrote. A matcher tells whether a system would take the text for an overflow.";

/// Arguments of `overflow`.
#[derive(Debug, Args)]
pub struct OverflowArgs {
    /// Error texts; `-`, or none at all, reads them from stdin, one a line
    #[arg(value_name = "TEXT")]
    pub texts: Vec<String>,

    /// All of stdin is one text
    #[arg(long, action = ArgAction::SetTrue)]
    pub whole: bool,

    /// Systems to ask as well: the name of an embedded matcher (opal, pi, pi-0.73, sven, none, own) or a TOML file
    #[arg(short, long, value_name = "NAME|FILE", value_delimiter = ',')]
    pub matcher: Vec<String>,

    /// What to print
    #[arg(short, long, value_enum, default_value_t = TextOutput::Table)]
    pub format: TextOutput,
}

/// Names of [`Format`] for texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TextOutput {
    /// For people
    Table,
    /// Rows with a header
    Csv,
    /// One document
    Json,
}

impl From<TextOutput> for Format {
    fn from(output: TextOutput) -> Self {
        match output {
            TextOutput::Table => Self::Table,
            TextOutput::Csv => Self::Csv,
            TextOutput::Json => Self::Json,
        }
    }
}
