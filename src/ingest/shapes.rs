//! How each format is recognised and read: one table per way of storing a log.
//!
//! A format may have several shapes (a stream beside a store, an export beside a tree of files). A new one is a module with a
//! constant here. Within a table the first shape that fits wins, so the more particular ones stand first.

use std::borrow::Cow;

use super::value::{Items, Value};

use super::formats::Format;
use super::lines::Record;
use super::sink::Sink;
use super::{
    adp, aider, amp, antigravity, atif, canonical, chatgpt_export, claude_ai_export, claude_code, cline,
    cline_sdk, codex, codex_exec, continue_ide, copilot_cli, crush, cursor, droid, entire, gemini_cli, goose,
    grok, hermes, inspect, kimi, kiro, mini_swe_agent, openai_responses, opencode, openhands, otel_genai, pi,
    pi_subagents, qwen_code, sharegpt, specstory, sven, swe_agent, tau_bench,
};

/// Logs that are JSON records: one a line, the elements of one array, or one document.
#[derive(Debug)]
pub(super) struct Shape {
    /// The format it belongs to.
    pub(super) format: Format,
    /// What in a record gives this shape away: words that go on from "line 3 ", such as "has type=session and cwd". Only what
    /// no other format writes; looks at few fields, since it sees the records of all logs.
    pub(super) sniff: fn(&Value) -> Option<&'static str>,
    /// True for a record that belongs to such a log whatever else it looks like. Of the others those that another shape
    /// recognises, and plain chat messages, are taken for what strayed into the file.
    pub(super) owns: fn(&Value) -> bool,
    /// Reads all records of a file.
    pub(super) read: fn(Vec<Record>, &str, &mut Sink),
    /// The top-level fields that `read` looks at, so that others are skipped while parsing; `None` for all.
    pub(super) fields: Option<&'static [&'static str]>,
    /// How the sessions of a file are told apart while it is read.
    pub(super) split: Split,
    /// With [`Split::Before`]: the reader goes on with the last session in the way of [`Split::Running`], where this holds for all of
    /// its records.
    pub(super) goes_on: Option<fn(&Value) -> bool>,
    /// How a log that is one object is read by the items of its long list, without all of them at hand.
    pub(super) list: Option<List>,
    /// What a list of records is, where there are several in a file, or a record is one.
    pub(super) lists: Lists,
    /// Messages stand at the lines of their records, which say when they were written; else at positions in the record that is their
    /// session.
    pub(super) dated: bool,
}

/// The long list of an object that is a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct List {
    /// The field it stands in.
    pub(super) field: &'static str,
    /// Reads the session: of what stands beside the list, with an empty list in its place, the items of the list, and the name of
    /// the file.
    pub(super) read: fn(Value, Items<'_>, &str, &mut Sink),
}

/// What a list of records is in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lists {
    /// Records like any other.
    Records,
    /// A session: records are messages that name none.
    Sessions,
    /// The same, and the reader knows what to do with a record that is one.
    Own,
}

/// What tells that a session is complete, for files too large to hold.
#[derive(Debug, Clone, Copy)]
pub(super) enum Split {
    /// Nothing: all records are held until the end.
    Whole,
    /// All records are one session, and the reader goes on with it when it is given more of them: it asks [`Sink::resume`] for what
    /// it has so far, and gives it to [`Sink::suspend`]. A record for which this holds it only understands together with all that
    /// follow.
    One(fn(&Value) -> bool),
    /// Sessions follow each other, and the reader goes on with the last one in the same way. A record that is alone in its file it is
    /// given alone.
    Running,
    /// A record that begins another session: its id, empty where such a record always begins one; `None` for all other records.
    Before(fn(&Value) -> Option<&str>),
    /// Records for which `own` holds are a session each; all others are held until the end. `refers` gives ids of other records that
    /// one speaks of: known before any is read.
    Each { own: fn(&Value) -> bool, refers: Option<fn(&Value) -> Vec<String>> },
    /// Records belong together when the same id stands in any of these fields of theirs (`/a/b` for one inside another); those
    /// that name none in the first so many fields belong to what is before them, too.
    Tied(&'static [&'static str], usize),
}

impl Split {
    /// Records are a session each where this holds, and speak of no others.
    pub(super) const fn each(own: fn(&Value) -> bool) -> Self {
        Self::Each { own, refers: None }
    }
}

impl Shape {
    /// A shape that looks at all fields, and owns no record that another one recognises.
    pub(super) const fn new(
        format: Format,
        sniff: fn(&Value) -> Option<&'static str>,
        read: fn(Vec<Record>, &str, &mut Sink),
    ) -> Self {
        Self {
            format,
            sniff,
            owns: |_| false,
            read,
            fields: None,
            split: Split::Whole,
            goes_on: None,
            list: None,
            lists: Lists::Records,
            dated: true,
        }
    }
}

/// Logs that are text, not JSON.
#[derive(Debug)]
pub(super) struct TextShape {
    /// The format it belongs to.
    pub(super) format: Format,
    /// What in the text gives it away, in words that stand alone, such as "line 1 opens an aider chat". Only files that do not
    /// begin like JSON are asked.
    pub(super) sniff: fn(&str) -> Option<&'static str>,
    /// Reads the text, and may take it.
    pub(super) read: fn(&mut Cow<'_, str>, &str, &mut Sink),
}

/// Logs that lie in several files.
#[derive(Debug)]
pub(super) struct TreeShape {
    /// The format it belongs to.
    pub(super) format: Format,
    /// Which of the files, given by their paths with `/` between directories, belong together: positions in the list, one list
    /// for each log, with the file that stands for it first. Every file in one log at most; files of no log are read alone.
    pub(super) group: fn(&[&str]) -> Vec<Vec<usize>>,
    /// Reads one log.
    pub(super) read: fn(Vec<Piece>, &str, &mut Sink),
}

/// Logs kept in an SQLite database.
#[cfg(feature = "sqlite")]
#[derive(Debug)]
pub(super) struct DatabaseShape {
    /// The format it belongs to.
    pub(super) format: Format,
    /// The tables that must be there, or columns of them as `table.column`.
    pub(super) tables: &'static [&'static str],
    /// Reads all logs of the database.
    pub(super) read: fn(&rusqlite::Connection, &str, &mut Sink) -> rusqlite::Result<()>,
}

/// One file of a log that lies in several.
#[derive(Debug)]
pub(super) struct Piece {
    /// Its path as `group` saw it.
    pub(super) path: String,
    /// Its records.
    pub(super) records: Vec<Record>,
}

/// Shapes of JSON records. Plain chat messages are not here: what they are is judged by all of a file.
pub(super) static SHAPES: &[&Shape] = &[
    &canonical::SHAPE,
    &pi::SHAPE,
    &codex::SHAPE,
    &qwen_code::SHAPE,
    &gemini_cli::SHAPE,
    &gemini_cli::STREAM,
    &copilot_cli::SHAPE,
    &kimi::SHAPE,
    &grok::SHAPE,
    &grok::UPDATES,
    &grok::SUMMARY,
    &antigravity::SHAPE,
    &droid::SHAPE,
    &droid::STREAM,
    &droid::SETTINGS,
    &codex_exec::SHAPE,
    &pi_subagents::SHAPE,
    &claude_code::SHAPE,
    &opencode::EXPORT,
    &opencode::FILE,
    &cline_sdk::SHAPE,
    &cline::HISTORY,
    &cline::INTERFACE,
    &cline::SIDECAR,
    &goose::SHAPE,
    &crush::SHAPE,
    &cursor::SHAPE,
    &openai_responses::SHAPE,
    &swe_agent::SHAPE,
    &mini_swe_agent::SHAPE,
    &openhands::SHAPE,
    &inspect::SHAPE,
    &atif::SHAPE,
    &tau_bench::SHAPE,
    &sharegpt::SHAPE,
    &adp::SHAPE,
    &hermes::SHAPE,
    &amp::SHAPE,
    &entire::SHAPE,
    &sven::SHAPE,
    &kiro::SHAPE,
    &kiro::LINES,
    &kiro::EDITOR,
    &kiro::STATE,
    &continue_ide::SHAPE,
    &continue_ide::INDEX,
    &otel_genai::SHAPE,
    &chatgpt_export::SHAPE,
    &claude_ai_export::SHAPE,
];

/// Shapes of texts.
pub(super) static TEXTS: &[&TextShape] = &[&specstory::SHAPE, &sven::YAML, &sven::MARKDOWN, &aider::SHAPE];

/// Shapes of logs in several files.
pub(super) static TREES: &[&TreeShape] = &[&opencode::TREE, &cline::TREE, &openhands::TREE, &grok::TREE];

/// Shapes of databases.
#[cfg(feature = "sqlite")]
pub(super) static DATABASES: &[&DatabaseShape] =
    &[&opencode::DATABASE, &goose::DATABASE, &crush::DATABASE, &cursor::DATABASE];

/// The first shape that recognises a text, and by what.
pub(super) fn recognise_text(text: &str) -> Option<(&'static TextShape, &'static str)> {
    TEXTS.iter().find_map(|shape| Some((*shape, (shape.sniff)(text)?)))
}

/// The first shape that recognises a record, and by what.
pub(super) fn recognise(value: &Value) -> Option<(&'static Shape, &'static str)> {
    SHAPES.iter().find_map(|shape| Some((*shape, (shape.sniff)(value)?)))
}
