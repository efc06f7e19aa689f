//! What logs hold: a page for people, CSV (a row per file) and JSON (everything) for programs.

use super::page::{BAD, BOLD, DIM, WARN, aligned, paint};
use super::text::{count, fit, sanitize, thousands};
use super::{Format, Look, csv_lines, whole_numbers_to};
use crate::results::files::text_cell;
use crate::results::inspected::{Counts, FileReport, Inspected, Remark, SessionReport};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// Tools named in a line of the table.
const TOOLS: usize = 8;

/// Columns of the names of lines.
const NAMES: usize = 12;

/// Writes the page, with a final newline. Its parts are written as they are made: there may be millions of sessions.
pub fn render(format: Format, inspected: &Inspected, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Table => table(inspected, look, out),
        Format::Csv => csv_lines(inspected.files.iter().map(|file| Ok(row(file, &Content::of(file)?))), out),
        Format::Json => {
            let mut totals = Totals::default();
            for file in &inspected.files {
                totals.add(file, &Content::of(file)?);
            }
            let formats = totals.rows();
            let formats = formats.iter().map(|(format, sums)| OfFormat { format, sums }).collect();
            let Inspected { tokenizer, files } = inspected;
            whole_numbers_to(&Document { report: "compactor-inspect", tokenizer, files, formats }, out)
        }
    }
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
pub(super) struct Document<'a> {
    report: &'static str,
    tokenizer: &'a str,
    files: &'a [FileReport],
    formats: Vec<OfFormat<'a>>,
}

/// The sums of one format.
#[derive(Serialize, JsonSchema)]
struct OfFormat<'a> {
    format: &'a str,
    sums: &'a Sums,
}

/// Sums over sessions; what they only repeat of others is counted once in those of a corpus.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
struct Sums {
    files: u64,
    bytes: u64,
    sessions: u64,
    sidechains: u64,
    system: u64,
    user: u64,
    assistant: u64,
    tool: u64,
    tool_calls: u64,
    unanswered: u64,
    failed: u64,
    tokens: u64,
    reported_output: u64,
    reported_prompt_max: u64,
    modified: u64,
    read: u64,
    deleted: u64,
    compactions: u64,
    /// Messages that repeat those of another session.
    copied: u64,
    copied_tokens: u64,
    copied_calls: u64,
    copied_output: u64,
    copied_compactions: u64,
    remarks: u64,
    damaged: u64,
    lost: u64,
}

impl Sums {
    fn add_file(&mut self, file: &FileReport) {
        self.files += 1;
        self.bytes += file.bytes;
        for remark in &file.remarks {
            match remark.severity.as_str() {
                "lost" => self.lost += remark.count,
                "damage" => self.damaged += remark.count,
                _ => self.remarks += remark.count,
            }
        }
        self.lost += u64::from(!file.error.is_empty());
    }

    fn add_session(&mut self, session: &SessionReport) {
        self.sessions += 1;
        self.sidechains += u64::from(session.origin != "main");
        self.system += session.messages.system;
        self.user += session.messages.user;
        self.assistant += session.messages.assistant;
        self.tool += session.messages.tool;
        self.tool_calls += session.tool_calls;
        self.unanswered += session.unanswered;
        self.failed += session.failed;
        self.tokens += session.tokens;
        self.reported_output += session.reported.output;
        self.reported_prompt_max = self.reported_prompt_max.max(session.reported.prompt_max);
        self.modified += session.files.modified;
        self.read += session.files.read;
        self.deleted += session.files.deleted;
        self.compactions += session.compactions;
        self.copied += session.copied.messages;
        self.copied_tokens += session.copied_tokens;
        self.copied_calls += session.copied.tool_calls;
        self.copied_output += session.copied_output;
        self.copied_compactions += session.copied.compactions;
    }

    /// Adds those of a file, or of several.
    fn add(&mut self, other: &Self) {
        let Self {
            files,
            bytes,
            sessions,
            sidechains,
            system,
            user,
            assistant,
            tool,
            tool_calls,
            unanswered,
            failed,
            tokens,
            reported_output,
            reported_prompt_max,
            modified,
            read,
            deleted,
            compactions,
            copied,
            copied_tokens,
            copied_calls,
            copied_output,
            copied_compactions,
            remarks,
            damaged,
            lost,
        } = other;
        self.files += files;
        self.bytes += bytes;
        self.sessions += sessions;
        self.sidechains += sidechains;
        self.system += system;
        self.user += user;
        self.assistant += assistant;
        self.tool += tool;
        self.tool_calls += tool_calls;
        self.unanswered += unanswered;
        self.failed += failed;
        self.tokens += tokens;
        self.reported_output += reported_output;
        self.reported_prompt_max = self.reported_prompt_max.max(*reported_prompt_max);
        self.modified += modified;
        self.read += read;
        self.deleted += deleted;
        self.compactions += compactions;
        self.copied += copied;
        self.copied_tokens += copied_tokens;
        self.copied_calls += copied_calls;
        self.copied_output += copied_output;
        self.copied_compactions += copied_compactions;
        self.remarks += remarks;
        self.damaged += damaged;
        self.lost += lost;
    }

    fn messages(&self) -> u64 {
        self.system + self.user + self.assistant + self.tool
    }
}

/// What the sessions of a file come to.
#[derive(Debug, Default)]
struct Content {
    /// With the file itself.
    sums: Sums,
    tools: BTreeMap<String, u64>,
    models: BTreeSet<String>,
    window: Option<u64>,
    forks: bool,
}

impl Content {
    fn of(file: &FileReport) -> io::Result<Self> {
        let mut content = Self::default();
        content.sums.add_file(file);
        for session in file.sessions.iter() {
            let session = session?;
            content.sums.add_session(&session);
            for (name, calls) in session.tools {
                *content.tools.entry(name).or_default() += calls;
            }
            if !content.models.contains(&session.model) && !session.model.is_empty() {
                content.models.insert(session.model);
            }
            content.window = content.window.or(session.context_window);
            content.forks |= session.continues.is_some();
        }
        Ok(content)
    }
}

/// Sums per format, and of all.
#[derive(Debug, Default)]
struct Totals {
    formats: BTreeMap<String, Sums>,
    all: Sums,
}

impl Totals {
    fn add(&mut self, file: &FileReport, content: &Content) {
        self.formats.entry(format_name(file).to_owned()).or_default().add(&content.sums);
        self.all.add(&content.sums);
    }

    /// By name, those of all behind them.
    fn rows(self) -> Vec<(String, Sums)> {
        self.formats.into_iter().chain([("all".to_owned(), self.all)]).collect()
    }
}

fn format_name(file: &FileReport) -> &str {
    if file.format.is_empty() { "(none)" } else { &file.format }
}

fn table(inspected: &Inspected, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut totals = Totals::default();
    for file in &inspected.files {
        let content = Content::of(file)?;
        block(file, &content, &inspected.tokenizer, look, out)?;
        totals.add(file, &content);
        writeln!(out)?;
    }
    corpus(totals, look, out)
}

/// One file.
fn block(
    file: &FileReport,
    content: &Content,
    tokenizer: &str,
    look: Look<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{}", paint(BOLD, &sanitize(&file.file), look.color))?;
    let mut line = |name: &str, text: &str| {
        let room = look.width.saturating_sub(NAMES + 4).max(40);
        let padded = format!("{name:<NAMES$}");
        writeln!(out, "  {}  {}", paint(DIM, &padded, look.color), fit(&sanitize(text), room))
    };
    if !file.error.is_empty() {
        return writeln!(out, "  {}", paint(BAD, &sanitize(&file.error), look.color));
    }
    if file.format.is_empty() {
        line("format", "none that is known")?;
    } else {
        line("format", &format!("{} ({})", file.format, file.evidence))?;
    }
    line(
        "bytes",
        &format!(
            "{}: {} {}, {} skipped, {} between",
            thousands(file.bytes),
            thousands(file.bytes_read),
            if file.records > 0 {
                format!("in {}", count(file.records, "record"))
            } else {
                "read".to_owned()
            },
            thousands(file.bytes_skipped),
            thousands(file.bytes_between)
        ),
    )?;
    if !file.sessions.is_empty() {
        sessions(file, content, tokenizer, &mut line)?;
    }
    for remark in &file.remarks {
        let shown = remark_line(remark);
        let color = match remark.severity.as_str() {
            "lost" => BAD,
            "damage" => WARN,
            _ => DIM,
        };
        let room = look.width.saturating_sub(2).max(40);
        writeln!(out, "  {}", paint(color, &fit(&sanitize(&shown), room), look.color))?;
    }
    Ok(())
}

/// The lines on what the sessions of a file hold.
fn sessions(
    file: &FileReport,
    content: &Content,
    tokenizer: &str,
    line: &mut dyn FnMut(&str, &str) -> io::Result<()>,
) -> io::Result<()> {
    let sums = &content.sums;
    let mut text = count(sums.sessions - sums.sidechains, "session");
    if sums.sidechains > 0 {
        text.push_str(&format!(" and {}", count(sums.sidechains, "sidechain")));
    }
    if !content.models.is_empty() {
        let models: Vec<&str> = content.models.iter().map(String::as_str).collect();
        text.push_str(&format!("; model {}", models.join(", ")));
    }
    if let Some(window) = content.window {
        text.push_str(&format!("; window {}", thousands(window)));
    }
    line("sessions", &text)?;
    if content.forks {
        for session in file.sessions.iter() {
            let session = session?;
            if let Some(parent) = &session.continues {
                line("fork", &format!("{} continues {parent}", session.id))?;
            }
        }
    }
    line(
        "messages",
        &format!(
            "{}: system {}, user {}, assistant {}, tool {}",
            thousands(sums.messages()),
            thousands(sums.system),
            thousands(sums.user),
            thousands(sums.assistant),
            thousands(sums.tool)
        ),
    )?;
    let recorded = file.recorded;
    let active =
        Counts { messages: sums.messages(), tool_calls: sums.tool_calls, compactions: sums.compactions };
    if recorded != active {
        line(
            "recorded",
            &format!(
                "{}, {}, {}, as the format counts its own records",
                count(recorded.messages, "message"),
                count(recorded.tool_calls, "call"),
                count(recorded.compactions, "compaction")
            ),
        )?;
    }
    if sums.copied > 0 {
        line(
            "copied",
            &format!(
                "{} ({} tokens) repeat another session",
                count(sums.copied, "message"),
                thousands(sums.copied_tokens)
            ),
        )?;
    }
    line("tool calls", &tools(content))?;
    let mut text = format!("{} counted ({tokenizer})", thousands(sums.tokens));
    if sums.reported_prompt_max > 0 {
        text.push_str(&format!(
            "; reported: largest prompt {}, replies {}",
            thousands(sums.reported_prompt_max),
            thousands(sums.reported_output)
        ));
    }
    line("tokens", &text)?;
    line(
        "files",
        &format!(
            "{} changed, {} read only, {} deleted",
            thousands(sums.modified),
            thousands(sums.read),
            thousands(sums.deleted)
        ),
    )?;
    line("compactions", &thousands(sums.compactions))
}

/// Calls by tool, the most used first.
fn tools(content: &Content) -> String {
    let Content { tools, sums, .. } = content;
    let mut tools: Vec<(&str, u64)> = tools.iter().map(|(name, calls)| (name.as_str(), *calls)).collect();
    tools.sort_by_key(|(name, calls)| (std::cmp::Reverse(*calls), *name));
    let mut text = thousands(sums.tool_calls);
    if !tools.is_empty() {
        let named: Vec<String> =
            tools.iter().take(TOOLS).map(|(name, calls)| format!("{name} {}", thousands(*calls))).collect();
        text.push_str(&format!(": {}", named.join(", ")));
        if tools.len() > TOOLS {
            text.push_str(&format!(", and {} more", count((tools.len() - TOOLS) as u64, "tool")));
        }
    }
    for (calls, what) in [(sums.failed, "failed"), (sums.unanswered, "never answered")] {
        if calls > 0 {
            text.push_str(&format!("; {} {what}", thousands(calls)));
        }
    }
    text
}

fn remark_line(remark: &Remark) -> String {
    let times =
        if remark.count > 1 { format!(" ({} times)", thousands(remark.count)) } else { String::new() };
    let place = if remark.line > 0 { format!(" line {}", remark.line) } else { String::new() };
    format!("{}{times}:{place} {}", remark.kind, remark.text)
}

/// The table of all files, by format.
fn corpus(totals: Totals, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let head = [
        "format",
        "files",
        "sessions",
        "messages",
        "calls",
        "tokens",
        "compactions",
        "copied",
        "notes",
        "damage",
        "lost",
    ];
    let mut rows: Vec<Vec<String>> = vec![head.map(str::to_owned).to_vec()];
    for (name, sums) in totals.rows() {
        let numbers = [
            sums.files,
            sums.sessions,
            sums.messages() - sums.copied,
            sums.tool_calls - sums.copied_calls,
            sums.tokens - sums.copied_tokens,
            sums.compactions - sums.copied_compactions,
            sums.copied,
            sums.remarks,
            sums.damaged,
            sums.lost,
        ];
        rows.push(std::iter::once(name).chain(numbers.map(thousands)).collect());
    }
    let right: Vec<usize> = (1..head.len()).collect();
    for (at, line) in aligned(&rows, &right).iter().enumerate() {
        let outer = at == 0 || at + 1 == rows.len();
        writeln!(out, "{}", if outer { paint(BOLD, line, look.color) } else { line.clone() })?;
    }
    writeln!(out, "{}", paint(DIM, "what sessions repeat of another (copied) is counted once", look.color))
}

/// The row of a file.
fn row<'a>(file: &'a FileReport, content: &Content) -> Row<'a> {
    let Content { sums, tools, .. } = content;
    let list = |items: Vec<String>| text_cell(&items.join("; "));
    Row {
        file: text_cell(&file.file),
        error: text_cell(&file.error),
        format: &file.format,
        evidence: text_cell(&file.evidence),
        bytes: file.bytes,
        bytes_read: file.bytes_read,
        bytes_skipped: file.bytes_skipped,
        bytes_between: file.bytes_between,
        records: file.records,
        recorded_messages: file.recorded.messages,
        recorded_calls: file.recorded.tool_calls,
        recorded_compactions: file.recorded.compactions,
        sessions: sums.sessions,
        sidechains: sums.sidechains,
        messages: sums.messages(),
        system: sums.system,
        user: sums.user,
        assistant: sums.assistant,
        tool: sums.tool,
        copied_messages: sums.copied,
        tool_calls: sums.tool_calls,
        unanswered: sums.unanswered,
        failed: sums.failed,
        tools: list(tools.iter().map(|(name, calls)| format!("{name}={calls}")).collect()),
        tokens: sums.tokens,
        copied_tokens: sums.copied_tokens,
        reported_prompt_max: sums.reported_prompt_max,
        reported_output: sums.reported_output,
        files_modified: sums.modified,
        files_read: sums.read,
        files_deleted: sums.deleted,
        compactions: sums.compactions,
        notes: sums.remarks,
        damage: sums.damaged,
        lost: sums.lost,
        remarks: list(
            file.remarks.iter().map(|it| format!("{}={}@{}", it.kind, it.count, it.line)).collect(),
        ),
    }
}

#[derive(Serialize)]
struct Row<'a> {
    file: String,
    error: String,
    format: &'a str,
    evidence: String,
    bytes: u64,
    bytes_read: u64,
    bytes_skipped: u64,
    bytes_between: u64,
    records: u64,
    recorded_messages: u64,
    recorded_calls: u64,
    recorded_compactions: u64,
    sessions: u64,
    sidechains: u64,
    messages: u64,
    system: u64,
    user: u64,
    assistant: u64,
    tool: u64,
    copied_messages: u64,
    tool_calls: u64,
    unanswered: u64,
    failed: u64,
    tools: String,
    tokens: u64,
    copied_tokens: u64,
    reported_prompt_max: u64,
    reported_output: u64,
    files_modified: u64,
    files_read: u64,
    files_deleted: u64,
    compactions: u64,
    notes: u64,
    damage: u64,
    lost: u64,
    remarks: String,
}
