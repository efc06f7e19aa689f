//! From the bytes of one log file to sessions: detect the format, read the records, link calls and results.
//!
//! Reading never fails. Whatever was survived on the way (damaged lines, unknown records, orphans) is in
//! [`Ingested::diagnostics`]; a file that yields nothing says why there, with severity `Lost`.
//!
//! The flow, one private module each:
//!
//! * [`lines`]: bytes to [`lines::Record`]s (one JSON value each), repairing what can be repaired;
//! * [`detect`]: which format the records are in;
//! * one reader per format (`claude_code`, `codex`, `pi`, `chat`, `canonical`), each
//!   `pub(super) fn read(records: Vec<Record>, name: &str, out: &mut Sink)`: it counts raw records into
//!   `out.raw`, builds a [`links::Draft`] per conversation and hands it to [`links::finish`], whose transcript
//!   goes to `out.sessions`;
//! * [`links`]: links calls and results by occurrence and enforces the rules of
//!   [`Transcript::check`](crate::transcript::Transcript::check);
//! * shared vocabulary of the readers: [`json`] (typed look-ups in values), [`blocks`] (content blocks),
//!   [`injected`] (what the harness wrote in the user's place), [`outcome`] (did a call fail);
//! * [`sink`]: collects sessions, counts and diagnostics, grouped so that thousands of equal remarks are one.
//!
//! Signatures a reader needs:
//!
//! ```text
//! lines::Record { line: u32, value: serde_json::Value }
//! links::Draft { id, origin, messages: Vec<Message>, recorded: Vec<Recorded>, model, context_window,
//!                tool_schema, starts_compacted }            Draft::new(id)
//! links::finish(draft, &mut Sink) -> Option<Transcript>     `recorded` positions are indices into draft.messages
//! sink::Sink { raw, sessions, .. }
//!     .note(line, code, severity, text)     grouped by (code, text): one diagnostic with a count
//!     .damage(line, code, text)             each named, the first 20 per code
//!     .finish_draft(draft)                  finish + push
//! json::{text, take, take_text, number, flag, items, argument_text, weight}   tolerate any shape
//! blocks::result_text(Value) -> (String, u32)       text of a result payload (string, blocks, object), images
//! blocks::parts(Value, Speaker, Outcome) -> Vec<Part>     Anthropic/OpenAI content blocks to parts
//! injected::push_user_text(text, meta, &mut Vec<Part>)   splits reminders etc. into injected parts
//! outcome::judge(&str, default) -> (Outcome, Option<i32>)  head of the text only
//! ```

mod blocks;
pub mod canonical;
mod chat;
mod claude_code;
mod codex;
mod detect;
mod injected;
mod json;
mod lines;
mod links;
mod outcome;
mod pi;
mod sink;

#[cfg(test)]
mod sketch;
#[cfg(test)]
mod tests;

use crate::diagnostic::{Diagnostic, Severity};
use crate::transcript::{RawCounts, Transcript};
use rustc_hash::FxHashMap;
use sink::Sink;

/// A log format this program reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Claude Code session files.
    ClaudeCode,
    /// Codex CLI rollouts, bare or in envelopes.
    Codex,
    /// pi sessions, versions 1 to 3.
    Pi,
    /// OpenAI chat messages, one message or one conversation a line, or one document.
    OpenaiChat,
    /// Anthropic Messages API messages, one message or one request a line, or one document.
    AnthropicMessages,
    /// Our own: everything a transcript holds ([`canonical`]).
    Canonical,
}

impl Format {
    /// Every format, in the order of documentation.
    pub const ALL: [Self; 6] =
        [Self::ClaudeCode, Self::Codex, Self::Pi, Self::OpenaiChat, Self::AnthropicMessages, Self::Canonical];

    /// The name used in options and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Pi => "pi",
            Self::OpenaiChat => "openai-chat",
            Self::AnthropicMessages => "anthropic-messages",
            Self::Canonical => "canonical",
        }
    }
}

/// What one file held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ingested {
    /// The format found; `None` when no known one fits.
    pub format: Option<Format>,
    /// Why this format, e.g. "line 1 has type=session and cwd"; empty when none was found.
    pub evidence: String,
    /// The sessions, in order of their first record.
    pub sessions: Vec<Transcript>,
    /// What was noticed, ordered by line, file-wide remarks first.
    pub diagnostics: Vec<Diagnostic>,
    /// Raw record counts of the whole file.
    pub raw: RawCounts,
    /// JSON records read.
    pub records: u64,
}

/// Reads one log file. `name` is its path or label: sessions without an id of their own are named after its stem.
pub fn ingest(bytes: &[u8], name: &str) -> Ingested {
    let mut sink = Sink::default();
    let lines::Parsed { mut records, detected, prose } = lines::parse(bytes, &mut sink);
    let count = records.len() as u64;
    let times: FxHashMap<u32, i64> =
        records.iter().filter_map(|record| Some((record.line, record.time()?))).collect();
    let detected = detected.unwrap_or_default();
    let name = stem(name);
    if let Some(format) = detected.format {
        detect::take_foreign(format, &mut records, &mut sink);
        match format {
            Format::ClaudeCode => claude_code::read(records, name, &mut sink),
            Format::Codex => codex::read(records, name, &mut sink),
            Format::Pi => pi::read(records, name, &mut sink),
            Format::OpenaiChat | Format::AnthropicMessages => chat::read(records, name, &mut sink),
            Format::Canonical => canonical::read(records, name, &mut sink),
        }
        if sink.sessions.is_empty() && !sink.is_lost() {
            let text = format!("a {} file without a single message; nothing to replay", format.name());
            sink.note(0, "no-session", Severity::Lost, text);
        }
    } else if OWN_RESULTS.iter().any(|start| bytes.starts_with(start)) {
        let text = "the record of a run of compactor, no log; nothing is lost".to_owned();
        sink.note(0, "own-result", Severity::Note, text);
    } else {
        let (code, text) = detect::why_unknown(bytes, &records, prose);
        sink.note(0, code, Severity::Lost, text);
    }
    let (mut sessions, diagnostics, raw) = sink.into_parts();
    let format = detected.format.filter(|format| *format != Format::Canonical).map(Format::name);
    for session in &mut sessions {
        session.format = session.format.take().or_else(|| format.map(str::to_owned));
    }
    for message in sessions.iter_mut().flat_map(|session| &mut session.messages) {
        message.time = message.time.or_else(|| times.get(&message.line).copied());
    }
    Ingested {
        format: detected.format,
        evidence: detected.evidence,
        sessions,
        diagnostics,
        raw,
        records: count,
    }
}

/// How `run.json` and the report of a compaction begin: results may lie among the logs.
const OWN_RESULTS: [&[u8]; 2] = [b"{\n  \"schema_version\": ", b"{\n  \"report\": \"compactor-compact\""];

/// File name without directories and extension; the label itself when that leaves nothing.
fn stem(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = file.strip_suffix(".jsonl").or_else(|| file.strip_suffix(".json")).unwrap_or(file);
    if stem.is_empty() { name } else { stem }
}
