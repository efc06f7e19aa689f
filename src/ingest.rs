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
//! * [`database`](mod@database): opens SQLite databases, whose readers take rows instead of records;
//! * [`links`]: links calls and results by occurrence and enforces the rules of
//!   [`Transcript::check`](crate::transcript::Transcript::check);
//! * shared vocabulary of the readers: [`json`] (typed look-ups in values), [`blocks`] (content blocks),
//!   [`injected`] (what the harness wrote in the user's place), [`outcome`] (did a call fail);
//! * [`sessions`]: the records of each session, where a file holds several;
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

mod adp;
mod aider;
mod amp;
mod antigravity;
mod atif;
mod blocks;
mod build;
pub mod canonical;
mod chat;
mod chatgpt_export;
mod claude_ai_export;
mod claude_code;
mod cline;
mod cline_sdk;
mod codex;
mod codex_exec;
mod continue_ide;
mod copilot_cli;
mod crush;
mod cursor;
mod database;
mod detect;
mod droid;
mod entire;
mod formats;
mod gemini_cli;
mod gemini_parts;
mod goose;
mod grok;
mod growing;
mod hermes;
mod injected;
mod inspect;
mod json;
mod kimi;
mod kiro;
mod lines;
mod links;
mod mini_swe_agent;
mod openai_responses;
mod opencode;
mod openhands;
mod otel_genai;
mod outcome;
mod pi;
mod pi_subagents;
mod qwen_code;
mod repeats;
mod sessions;
mod shapes;
mod sharegpt;
mod sidecars;
mod sink;
mod specstory;
mod stream;
mod sven;
mod swe_agent;
mod talk;
mod tau_bench;
mod threads;
mod value;

#[cfg(test)]
mod sketch;
#[cfg(test)]
mod tests;

use crate::diagnostic::{Diagnostic, Severity};
use crate::transcript::{RawCounts, Transcript};
pub use database::{database, is_database};
use detect::{By, Detected};
pub use formats::{Format, READS};
pub use lines::{Bytes, is_utf16, unmarked};
use shapes::Lists;
use sink::Sink;
use std::borrow::Cow;
pub use stream::{ingest_in_batches, ingest_stream};

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
    /// Where the bytes of the file went.
    pub bytes: Bytes,
}

/// Reads one log file. `name` is its path or label: sessions without an id of their own are named after its stem.
pub fn ingest(bytes: &[u8], name: &str) -> Ingested {
    whole(Cow::Borrowed(bytes), name)
}

/// The same; bytes that are owned are given up as soon as they are not needed any more.
fn whole(bytes: Cow<'_, [u8]>, name: &str) -> Ingested {
    if is_database(&bytes) {
        return database::memory(&bytes, name);
    }
    let mut sink = Sink::default();
    let parsed = lines::parse(bytes, &mut sink);
    let count = parsed.records.len() as u64;
    finished(sink, parsed, name, count)
}

/// Reads the records of complete sessions.
fn read_records(
    found: &Detected,
    batch: lines::Batch,
    name: &str,
    bytes: &mut Bytes,
    out: &mut Sink,
) -> Vec<Transcript> {
    let By::Records(shape) = found.by else { return Vec::new() };
    read_with(found, shape, batch, bytes, out, |records, out| (shape.read)(records, name, out))
}

/// The same, by `read`.
fn read_with(
    found: &Detected,
    shape: &shapes::Shape,
    batch: lines::Batch,
    bytes: &mut Bytes,
    out: &mut Sink,
    read: impl FnOnce(Vec<lines::Record>, &mut Sink),
) -> Vec<Transcript> {
    let lines::Batch { mut records, sizes } = match shape.lists {
        Lists::Own => batch.flat(detect::is_chat),
        Lists::Records | Lists::Sessions => batch.flat(|_| false),
    };
    let times = out.with_kept_times(times(&records, shape));
    detect::take_foreign(shape, &mut records, &sizes, bytes, out);
    read(records, out);
    let mut sessions = out.give();
    if !times.is_empty() {
        for message in sessions.iter_mut().flat_map(|session| &mut session.messages) {
            let told = || times.binary_search_by_key(&message.line, |(line, _)| *line);
            message.time = message.time.or_else(|| times.get(told().ok()?).map(|(_, time)| *time));
        }
    }
    out.keep_times(times, !sessions.is_empty());
    for session in &sessions {
        repeats::note(session, out);
    }
    name_format(&mut sessions, found.format);
    sessions
}

/// Reads all records; `lists` are the positions at which further lists begin. A record that is a list is one, too.
fn read_lists(
    found: &Detected,
    mut batch: lines::Batch,
    lists: &[usize],
    name: &str,
    bytes: &mut Bytes,
    out: &mut Sink,
) -> Vec<Transcript> {
    let lists = match found.by {
        By::Records(shape) if shape.lists == Lists::Sessions => batch.bounds(lists),
        By::Records(shape) if shape.lists == Lists::Own => lists.to_vec(),
        _ => Vec::new(),
    };
    let mut behind = Vec::new();
    for start in lists.iter().rev() {
        let start = (*start).min(batch.records.len());
        let sizes = batch.sizes.split_off(start.min(batch.sizes.len()));
        behind.push(lines::Batch { records: batch.records.split_off(start), sizes });
    }
    if behind.is_empty() {
        return read_records(found, batch, name, bytes, out);
    }
    let all = std::iter::once(batch).chain(behind.into_iter().rev());
    let numbered = |number: u32| format!("{name}#{number}");
    let read = |(number, batch)| read_records(found, batch, &numbered(number), bytes, out);
    let mut sessions: Vec<Transcript> = (1..).zip(all).flat_map(read).collect();
    // It began before it was known that there are others.
    if let Some(first) = sessions.first_mut().filter(|first| first.id == name) {
        first.id = numbered(1);
    }
    sessions
}

/// When the records of each line were written; nothing of lines with several records that say different times, or none. What is
/// said of a record that is a session is no time of its messages.
fn times(records: &[lines::Record], shape: &shapes::Shape) -> Vec<(u32, i64)> {
    let time = |record: &lines::Record| match shape.split {
        _ if !shape.dated => None,
        shapes::Split::Each { own, .. } if own(&record.value) => None,
        _ => record.time(),
    };
    let lines = records.chunk_by(|one, next| one.line == next.line);
    let times = lines.filter_map(|line| {
        let (first, others) = line.split_first()?;
        let said = time(first)?;
        others.iter().all(|other| time(other) == Some(said)).then_some((first.line, said))
    });
    times.collect()
}

/// Says of sessions which format they were read from, where they do not know better.
fn name_format(sessions: &mut [Transcript], format: Format) {
    if format != Format::Canonical {
        for session in sessions {
            session.format.get_or_insert_with(|| format.name().to_owned());
        }
    }
}

/// Reads the last records, or all, and says what there is to say of the whole file. `count` are all its records.
fn finished(mut sink: Sink, parsed: lines::Parsed<'_>, label: &str, count: u64) -> Ingested {
    let name = stem(label);
    let lines::Parsed { records, sizes, lists, mut bytes, detected, prose, mut text, unknown } = parsed;
    let mut sessions = Vec::new();
    let mut beside = None;
    if let Some(found) = &detected {
        if let By::Text(shape) = found.by {
            (shape.read)(&mut text, name, &mut sink);
            sessions = sink.give();
            name_format(&mut sessions, found.format);
        } else {
            let batch = lines::Batch { records, sizes };
            sessions = read_lists(found, batch, &lists, name, &mut bytes, &mut sink);
        }
        note_no_session(found.format, &mut sink);
    } else {
        let whole = unknown.as_deref();
        let head = whole.unwrap_or_default();
        if let Some((format, what)) = sidecars::find(label, &records) {
            sink = Sink::default();
            sink.part_of_log(format!("{what}; it holds no conversation"));
            beside = Some((format, "lies beside logs".to_owned()));
        } else if OWN_RESULTS.iter().any(|start| head.starts_with(start)) {
            let text = "the record of a run of compactor, no log; nothing is lost".to_owned();
            sink.note(0, "own-result", Severity::Note, text);
        } else {
            let (code, text) = detect::why_unknown(whole, &records, prose);
            sink.note(0, code, Severity::Lost, text);
        }
        bytes = Bytes { skipped: bytes.total(), ..Bytes::default() };
    }
    let (format, evidence) = detected.map(|it| (it.format, it.evidence)).or(beside).unzip();
    let evidence = evidence.unwrap_or_default();
    let (_, diagnostics, raw) = sink.into_parts();
    Ingested { format, evidence, sessions, diagnostics, raw, records: count, bytes }
}

fn note_no_session(format: Format, out: &mut Sink) {
    if !out.had_sessions() && !out.is_explained() {
        let text = format!("a {} file without a single message; nothing to replay", format.name());
        out.note(0, "no-session", Severity::Lost, text);
    }
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
    let mut counts = Bytes::default();
    let mut pieces = Vec::with_capacity(files.len());
    for (path, bytes) in files {
        sink.piece(Some(path.rsplit('/').next().unwrap_or_default()));
        let empty = bytes.trim_ascii().is_empty();
        let parsed = lines::parse(Cow::Owned(bytes), &mut sink);
        if empty {
            sink.damage(0, "empty-file", "the file is empty; what it held is lost");
        }
        records += parsed.records.len() as u64;
        counts.add(parsed.bytes);
        pieces.push(shapes::Piece { path, records: parsed.records });
    }
    sink.piece(None);
    let evidence = format!("{} files of one log", pieces.len());
    (tree.0.read)(pieces, stem(name), &mut sink);
    concluded(sink, Some(tree.0.format), evidence, records, counts)
}

/// What is said of a log that is no list of records in one file.
fn concluded(
    mut sink: Sink,
    format: Option<Format>,
    evidence: String,
    records: u64,
    bytes: Bytes,
) -> Ingested {
    if let Some(format) = format {
        note_no_session(format, &mut sink);
    }
    let (mut sessions, diagnostics, raw) = sink.into_parts();
    if let Some(format) = format {
        name_format(&mut sessions, format);
    }
    Ingested { format, evidence, sessions, diagnostics, raw, records, bytes }
}

/// How `run.json` and the report of a compaction begin: results may lie among the logs.
const OWN_RESULTS: [&[u8]; 2] = [b"{\n  \"schema_version\": ", b"{\n  \"report\": \"compactor-compact\""];

/// Endings that logs have.
const ENDINGS: [&str; 8] = [".jsonl", ".traj.json", ".json", ".ndjson", ".traj", ".md", ".yaml", ".yml"];

/// Names that the logs of all sessions have: there the directory is named after the session.
const SHARED: [&str; 4] = ["api_conversation_history", "ui_messages", "chat_history", "updates"];

/// File name without directories and extension, or the directory of a file whose name tells nothing; the label itself when that
/// leaves nothing.
fn stem(name: &str) -> &str {
    let mut names = name.rsplit(['/', '\\']);
    let file = names.next().unwrap_or(name);
    let plain = [".gz", ".zst"].iter().find_map(|end| file.strip_suffix(end)).unwrap_or(file);
    let stem = ENDINGS.iter().find_map(|end| plain.strip_suffix(end)).unwrap_or(plain);
    let directory = names.next().filter(|directory| !matches!(*directory, "" | "." | ".."));
    match directory.filter(|_| SHARED.contains(&stem)) {
        Some(directory) => directory,
        None if stem.is_empty() => name,
        None => stem,
    }
}
