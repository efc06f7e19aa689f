//! What must hold of whatever is read, however damaged.

use std::io::{self, Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use compactor::diagnostic::Severity;
use compactor::export::canonical::document;
use compactor::ingest::{
    Format, Ingested, group, ingest, ingest_in_batches, ingest_stream, ingest_tree, is_database,
};
use compactor::transcript::{Message, Part, PartRef, Role, Transcript};

/// A log to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// One file.
    File(Vec<u8>),
    /// A directory: paths and bytes.
    Tree(Vec<(String, Vec<u8>)>),
}

impl Input {
    /// All its bytes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::File(bytes) => bytes.len(),
            Self::Tree(files) => files.iter().map(|(_, bytes)| bytes.len()).sum(),
        }
    }
}

/// What is wrong with how an input is read, and how long one reading of it took.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) problems: Vec<String>,
    pub(crate) took: Duration,
}

/// A single reading of a small log never takes longer.
const LIMIT: Duration = Duration::from_secs(2);

/// The size up to which a log is small.
const SMALL: usize = 200_000;

/// Remarks that explain why something was skipped or no session found, although nothing is lost.
const HARMLESS: [&str; 2] = ["part-of-log", "own-result"];

/// Formats whose files are lists of lines, or texts. Of documents the messages in each are counted, also where several stand in
/// one file.
const LINED: [Format; 10] = [
    Format::ClaudeCode,
    Format::CodexExec,
    Format::Pi,
    Format::PiSubagents,
    Format::CopilotCli,
    Format::Droid,
    Format::Kimi,
    Format::Antigravity,
    Format::Aider,
    Format::Specstory,
];

/// Reads an input in every way and says what does not hold.
pub(crate) fn check(input: &Input) -> Findings {
    let read = catch_unwind(AssertUnwindSafe(|| match input {
        Input::File(bytes) => file(bytes),
        Input::Tree(files) => tree(files),
    }));
    let mut findings = read.unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
        Findings { problems: vec![format!("panic: {said}")], ..Findings::default() }
    });
    if findings.took > LIMIT && input.size() < SMALL {
        findings.problems.push(format!("too slow: {} ms", findings.took.as_millis()));
    }
    findings
}

fn file(bytes: &[u8]) -> Findings {
    let mut findings = Findings::default();
    let begun = Instant::now();
    let read = ingest(bytes, "dir/log.jsonl");
    findings.took = begun.elapsed();
    let out = &mut findings.problems;
    let lines = bytes.split(|byte| *byte == b'\n').count() as u64;
    // Of a document the messages or elements in it are counted: not more than it has bytes.
    let document = read.diagnostics.iter().any(|it| matches!(it.code, "bad-record" | "bad-document"));
    let last = if document || read.records == 1 { bytes.len() as u64 } else { lines.max(read.records) };
    let last = (!is_database(bytes)).then_some(last);
    sound(&read, bytes.len(), last, out);
    if ingest(bytes, "dir/log.jsonl") != read {
        out.push("read twice it is not the same".to_owned());
    }
    round_trip(&read.sessions, out);
    let mut open = || -> io::Result<Box<dyn Read>> { Ok(Box::new(Cursor::new(bytes.to_vec()))) };
    let mut sessions = Vec::new();
    match ingest_stream(&mut open, "dir/log.jsonl", &mut |session| sessions.push(session)) {
        Ok(streamed) => same(&read, &streamed, sessions, "streamed", out),
        Err(error) => out.push(format!("streaming: {error}")),
    }
    let batch = 1 + (bytes.len() as u64 * 7919) % 3000;
    let mut sessions = Vec::new();
    match ingest_in_batches(&mut open, "dir/log.jsonl", &mut |session| sessions.push(session), batch) {
        // What a file is, is told by the records of the first batch: where several formats are mixed it may be another one.
        Ok(streamed) if read.format != streamed.format || mixed(&read) || mixed(&streamed) => {
            let found = Ingested { sessions, ..streamed };
            sound(&found, bytes.len(), last, out);
        }
        Ok(streamed) => same(&read, &streamed, sessions, "in batches", out),
        Err(error) => out.push(format!("in batches: {error}")),
    }
    findings
}

/// True for a file that holds records of several formats, or of none, or lines that are no records.
fn mixed(read: &Ingested) -> bool {
    let codes = ["foreign-record", "unknown-format", "not-a-log"];
    read.diagnostics.iter().any(|it| codes.contains(&it.code))
}

fn tree(files: &[(String, Vec<u8>)]) -> Findings {
    let mut findings = Findings::default();
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    let mut alone = vec![true; files.len()];
    for (tree, members) in group(&paths) {
        let taken: Vec<(String, Vec<u8>)> = members.iter().filter_map(|at| files.get(*at).cloned()).collect();
        for at in &members {
            match alone.get_mut(*at) {
                Some(free) if *free => *free = false,
                _ => findings.problems.push(format!("file {at} is in two logs, or in none")),
            }
        }
        let size = taken.iter().map(|(_, bytes)| bytes.len()).sum();
        let begun = Instant::now();
        let read = ingest_tree(tree, taken.clone(), "dir/log.json");
        findings.took += begun.elapsed();
        sound(&read, size, None, &mut findings.problems);
        if ingest_tree(tree, taken, "dir/log.json") != read {
            findings.problems.push("a tree read twice is not the same".to_owned());
        }
        round_trip(&read.sessions, &mut findings.problems);
    }
    for ((_, bytes), _) in files.iter().zip(alone).filter(|(_, alone)| *alone) {
        let found = file(bytes);
        findings.took += found.took;
        findings.problems.extend(found.problems);
    }
    findings
}

/// What holds of one answer. `last` is the last line or record of the file.
fn sound(read: &Ingested, size: usize, last: Option<u64>, out: &mut Vec<String>) {
    for session in &read.sessions {
        out.extend(session.check().into_iter().map(|problem| format!("check: {problem}")));
        linked(session, out);
        shaped(session, out);
        if let (Some(last), Some(format)) = (last, read.format) {
            if LINED.contains(&format) {
                placed(session, last, out);
            } else if format != Format::Canonical {
                // Canonical files name the lines of the log that they were read from.
                placed(session, last.max(size as u64), out);
            }
        }
    }
    if read.bytes.total() != size as u64 {
        out.push(format!("bytes do not add up: {:?} of {size}", read.bytes));
    }
    let severe = |least: Severity| read.diagnostics.iter().any(|it| it.severity >= least);
    let harmless = read.diagnostics.iter().any(|it| HARMLESS.contains(&it.code));
    if read.bytes.skipped > 0 && !severe(Severity::Damage) && !harmless {
        out.push(format!("skipped without a remark: {:?}", read.bytes));
    }
    if read.sessions.is_empty() && !severe(Severity::Lost) && !harmless {
        out.push("no session and no remark that says why".to_owned());
    }
}

/// Calls and results: one result each, behind its call.
fn linked(session: &Transcript, out: &mut Vec<String>) {
    let mut results: Vec<PartRef> = session.links.iter().filter_map(|link| link.result).collect();
    results.sort_unstable();
    if results.windows(2).any(|pair| pair.first() == pair.last()) {
        out.push("one result answers two calls".to_owned());
    }
    let calls: Vec<PartRef> = session.links.iter().map(|link| link.call).collect();
    if !calls.is_sorted_by(|one, other| one < other) {
        out.push("links are not ordered by call".to_owned());
    }
    if session.links.iter().any(|link| link.result.is_some_and(|result| result <= link.call)) {
        out.push("a result stands before its call".to_owned());
    }
}

/// Roles, parts, and positions of what is recorded.
fn shaped(session: &Transcript, out: &mut Vec<String>) {
    for message in &session.messages {
        let results = message.parts.iter().filter(|part| matches!(part, Part::Result(_))).count();
        // A reply may hold results of what the provider itself ran.
        if message.role == Role::User && results > 0 {
            out.push("results in a message of the user".to_owned());
        }
        if message.role == Role::Tool && results < message.parts.len() {
            out.push("a tool message holds something else than results".to_owned());
        }
        if message.usage.is_some() && message.role != Role::Assistant {
            out.push("usage on a message that is no reply".to_owned());
        }
        if !message.lines.is_empty() && message.lines.len() != message.parts.len() {
            out.push("lines and parts differ in number".to_owned());
        }
    }
    let count = session.messages.len();
    let mut before = 0;
    for recorded in &session.recorded {
        let at = recorded.before.get();
        if at > count || at < before {
            out.push("recorded compactions out of order".to_owned());
        }
        before = at;
        if recorded.kept.iter().any(|kept| kept.get() >= at)
            || !recorded.kept.iter().is_sorted_by(|one, other| one < other)
        {
            out.push("a compaction kept what comes after it, or twice".to_owned());
        }
        if recorded.clipped.iter().any(|(kept, _)| kept.get() >= at) {
            out.push("a compaction clipped what comes after it".to_owned());
        }
        if recorded.kept_unknown && !recorded.kept.is_empty() {
            out.push("kept is unknown and known".to_owned());
        }
    }
    if session.refusals.iter().any(|refusal| refusal.before.get() > count) {
        out.push("a refusal behind the end".to_owned());
    }
}

/// Every line is one of the file.
fn placed(session: &Transcript, last: u64, out: &mut Vec<String>) {
    let lines = |message: &Message| {
        let mut lines = message.lines.clone();
        lines.push(message.line);
        lines
    };
    for line in session.messages.iter().flat_map(lines) {
        if line == 0 || u64::from(line) > last {
            out.push(format!("line {line} of a file that has {last}"));
        }
    }
    for line in session.recorded.iter().map(|it| it.line).chain(session.refusals.iter().map(|it| it.line)) {
        if u64::from(line) > last {
            out.push(format!("recorded at line {line} of a file that has {last}"));
        }
    }
}

/// Written as canonical text and read again, sessions are the same.
fn round_trip(sessions: &[Transcript], out: &mut Vec<String>) {
    if sessions.is_empty() {
        return;
    }
    let text = document(sessions);
    let again = ingest(text.as_bytes(), "other-name.jsonl");
    if again.format != Some(Format::Canonical) {
        out.push("what was written is not canonical".to_owned());
    } else if again.sessions != sessions {
        let differs = sessions.iter().zip(&again.sessions).find(|(one, other)| one != other);
        let what =
            differs.map_or_else(|| "number of sessions".to_owned(), |(one, other)| difference(one, other));
        out.push(format!("canonical text reads back as something else: {what}"));
    } else if document(&again.sessions) != text {
        out.push("canonical text written again differs".to_owned());
    }
}

fn difference(one: &Transcript, other: &Transcript) -> String {
    let what = [
        ("id", one.id != other.id),
        ("origin", one.origin != other.origin),
        ("messages", one.messages != other.messages),
        ("links", one.links != other.links),
        ("recorded", one.recorded != other.recorded),
        ("refusals", one.refusals != other.refusals),
        ("continues", one.continues != other.continues),
        ("format", one.format != other.format),
        ("model", one.model != other.model),
        ("tool schema", one.tool_schema != other.tool_schema),
    ];
    let names: Vec<&str> = what.iter().filter(|(_, differs)| *differs).map(|(name, _)| *name).collect();
    names.join(", ")
}

/// A log read a piece at a time gives the same answer, its sessions in any order. What told its format may be another record
/// where the first batch decides.
fn same(read: &Ingested, streamed: &Ingested, sessions: Vec<Transcript>, how: &str, out: &mut Vec<String>) {
    let sorted = |mut sessions: Vec<Transcript>| {
        sessions.sort_by_cached_key(|session| (session.id.clone(), format!("{session:?}")));
        sessions
    };
    if read.format != streamed.format {
        out.push(format!("{how}: another format"));
        return;
    }
    if sorted(sessions) != sorted(read.sessions.clone()) {
        let format = read.format.map_or("", Format::name);
        out.push(format!("{how}: other sessions of {format}"));
        return;
    }
    // Remarks on one line may come in any order.
    let ordered = |read: &Ingested| {
        let mut remarks = read.diagnostics.clone();
        remarks.sort();
        remarks
    };
    let (here, there) = (ordered(read), ordered(streamed));
    if here != there {
        let first = here.iter().zip(&there).find(|(one, other)| one != other);
        let codes = first.map_or_else(String::new, |(one, other)| format!("{} and {}", one.code, other.code));
        out.push(format!("{how}: other remarks: {codes} ({} and {})", here.len(), there.len()));
    } else if (read.raw, read.records, read.bytes) != (streamed.raw, streamed.records, streamed.bytes) {
        out.push(format!("{how}: other counts"));
    } else if how == "streamed" && read.evidence != streamed.evidence {
        out.push(format!("{how}: other evidence"));
    }
}
