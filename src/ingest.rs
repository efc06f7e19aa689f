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

mod aider;
mod amp;
mod blocks;
pub mod canonical;
mod chat;
mod claude_code;
mod codex;
mod continue_ide;
mod detect;
mod entire;
mod formats;
mod injected;
mod json;
mod kiro;
mod lines;
mod links;
mod outcome;
mod pi;
mod say;
mod shapes;
mod sink;
mod specstory;
mod sven;

#[cfg(test)]
mod sketch;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod toy;

use crate::diagnostic::{Diagnostic, Severity};
use crate::transcript::{RawCounts, Transcript};
pub use formats::Format;
use rustc_hash::FxHashMap;
use sink::Sink;

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
    let lines::Parsed { mut records, detected, prose, text } = lines::parse(bytes, &mut sink);
    let count = records.len() as u64;
    let times: FxHashMap<u32, i64> =
        records.iter().filter_map(|record| Some((record.line, record.time()?))).collect();
    let name = stem(name);
    if let Some(found) = &detected {
        match found.by {
            detect::By::Records(shape) => {
                detect::take_foreign(shape, &mut records, &mut sink);
                (shape.read)(records, name, &mut sink);
            }
            detect::By::Text(shape) => (shape.read)(&text, name, &mut sink),
        }
    } else if OWN_RESULTS.iter().any(|start| bytes.starts_with(start)) {
        let text = "the record of a run of compactor, no log; nothing is lost".to_owned();
        sink.note(0, "own-result", Severity::Note, text);
    } else {
        let (code, text) = detect::why_unknown(bytes, &records, prose);
        sink.note(0, code, Severity::Lost, text);
    }
    let (format, evidence) = detected.map_or((None, String::new()), |it| (Some(it.format), it.evidence));
    for message in sink.sessions.iter_mut().flat_map(|session| &mut session.messages) {
        message.time = message.time.or_else(|| times.get(&message.line).copied());
    }
    finished(sink, format, evidence, count)
}

/// Finds the logs that lie in several of the files with these paths, `/` between directories: for each its shape, and positions
/// in the list, first that of the file that stands for the log. A file is in one log at most.
pub fn group(paths: &[&str]) -> Vec<(Tree, Vec<usize>)> {
    let mut taken = vec![false; paths.len()];
    let mut groups = Vec::new();
    for shape in shapes::TREES {
        for files in (shape.group)(paths) {
            if files.iter().any(|at| taken.get(*at).copied().unwrap_or(true)) {
                continue;
            }
            for at in &files {
                if let Some(taken) = taken.get_mut(*at) {
                    *taken = true;
                }
            }
            groups.push((Tree(shape), files));
        }
    }
    groups
}

/// How a log lies in several files.
#[derive(Debug, Clone, Copy)]
pub struct Tree(&'static shapes::TreeShape);

impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Tree {}

/// Reads a log that lies in several files: path and bytes of each, in the order that [`group`] gave.
pub fn ingest_tree(tree: Tree, files: Vec<(String, Vec<u8>)>, name: &str) -> Ingested {
    let mut sink = Sink::default();
    let mut records = 0;
    let mut pieces = Vec::with_capacity(files.len());
    for (path, bytes) in files {
        sink.piece(Some(path.rsplit('/').next().unwrap_or_default()));
        let parsed = lines::parse(&bytes, &mut sink);
        records += parsed.records.len() as u64;
        pieces.push(shapes::Piece { path, records: parsed.records });
    }
    sink.piece(None);
    let evidence = format!("{} files of one log", pieces.len());
    (tree.0.read)(pieces, stem(name), &mut sink);
    finished(sink, Some(tree.0.format), evidence, records)
}

/// What is said of every file at the end.
fn finished(mut sink: Sink, format: Option<Format>, evidence: String, records: u64) -> Ingested {
    if let Some(format) = format
        && sink.sessions.is_empty()
        && !sink.is_explained()
    {
        let text = format!("a {} file without a single message; nothing to replay", format.name());
        sink.note(0, "no-session", Severity::Lost, text);
    }
    let (mut sessions, diagnostics, raw) = sink.into_parts();
    let original = format.filter(|format| *format != Format::Canonical).map(Format::name);
    for session in &mut sessions {
        session.format = session.format.take().or_else(|| original.map(str::to_owned));
    }
    Ingested { format, evidence, sessions, diagnostics, raw, records }
}

/// How `run.json` and the report of a compaction begin: results may lie among the logs.
const OWN_RESULTS: [&[u8]; 2] = [b"{\n  \"schema_version\": ", b"{\n  \"report\": \"compactor-compact\""];

/// Endings that logs have.
const ENDINGS: [&str; 7] = [".jsonl", ".json", ".ndjson", ".traj", ".md", ".yaml", ".yml"];

/// File name without directories and extension; the label itself when that leaves nothing.
fn stem(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let plain = [".gz", ".zst"].iter().find_map(|end| file.strip_suffix(end)).unwrap_or(file);
    let stem = ENDINGS.iter().find_map(|end| plain.strip_suffix(end)).unwrap_or(plain);
    if stem.is_empty() { name } else { stem }
}
