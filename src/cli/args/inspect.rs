//! Arguments of `inspect`.

use super::{ListArgs, WorkArgs};
use crate::report::Format;
use clap::{ArgAction, Args, ValueEnum};
use std::path::PathBuf;

pub(super) const ABOUT: &str = "\
Look into logs: format, sessions, messages, tools, tokens, files, compactions, damage

Examples:
  compactor inspect --discover
  compactor inspect ~/.claude/projects
  compactor inspect session.jsonl --format json
  compactor inspect logs --strict --format csv > logs.csv

Nothing is compacted and nothing is written. Every byte of a file is in a record, between records, or skipped, and what was \
skipped is named. `recorded` are the records of the log as they are; the other counts are of the conversation: the active path, \
with sub-agents as sessions of their own (sidechains). What a fork or a resumed session repeats of another one is counted once \
in the table of all files. With --strict every remark, also a note on an unknown record, ends in exit code 3.

Formats, found by what is in a file and never by its name, JSON lines or documents, as they are, in gzip or zstd, or in zip archives:
  agents      claude-code, codex, codex-exec, pi (also OpenClaw), pi-subagents, gemini-cli, qwen-code, opencode, goose, cline
              (also Roo), cline-sdk, copilot-cli, continue, crush, amp, droid, kiro, kimi, grok, antigravity, hermes, cursor,
              aider, sven
  messages    openai-chat (also Vibe, Clawdbot), openai-responses, anthropic-messages, canonical
  exports     entire-transcript, specstory-md, chatgpt-export, claude-ai-export
  data sets   sharegpt, swe-agent, mini-swe-agent, openhands, atif, adp, inspect, otel-genai, tau-bench

Logs in several files (opencode storage, OpenHands events, Cline tasks, Grok sessions) are read where their directory is named, \
SQLite databases of opencode, Goose, Crush and Cursor where they lie. Zip archives (Inspect's .eval, account exports) are read like \
directories; what stands in them is named ARCHIVE/MEMBER.";

/// Arguments of `inspect`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct InspectArgs {
    /// Files, directories (searched recursively, hidden ones too), globs, or `-` for stdin
    #[arg(required_unless_present_any = ["files_from", "discover"], value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Inputs from a file.
    #[command(flatten)]
    pub list: ListArgs,

    /// List where the agents on this machine keep their logs, and how much is there; only names are read
    #[arg(long, conflicts_with_all = ["paths", "files_from", "strict"], action = ArgAction::SetTrue)]
    pub discover: bool,

    /// How the work is done
    #[command(flatten)]
    pub work: WorkArgs,

    /// End with exit code 3 when there is any remark on any file
    #[arg(long, action = ArgAction::SetTrue)]
    pub strict: bool,

    /// What to print
    #[arg(short, long, value_enum, default_value_t = InspectOutput::Table)]
    pub format: InspectOutput,
}

/// Names of [`Format`] for what logs hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InspectOutput {
    /// For people
    Table,
    /// A row per file; with --discover per place
    Csv,
    /// One document: report, tokenizer, files, formats; with --discover report and places
    Json,
}

impl From<InspectOutput> for Format {
    fn from(output: InspectOutput) -> Self {
        match output {
            InspectOutput::Table => Self::Table,
            InspectOutput::Csv => Self::Csv,
            InspectOutput::Json => Self::Json,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_format() {
        for format in crate::ingest::Format::ALL {
            let name = format.name();
            let named = ABOUT.split([' ', ',', '\n', '.', '(', ')']).any(|word| word == name);
            assert!(named, "{name}");
        }
    }
}
