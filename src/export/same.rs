//! The log itself, byte for byte, and behind it a record of the compaction in the log's own format, so that its own agent
//! goes on from there.
//!
//! | format | what is added | what stays word for word |
//! |---|---|---|
//! | claude-code | `compact_boundary` and the user record of the summary | the tail, named by its records |
//! | codex | `compacted` with the whole new context | system messages, newest request, tail: the items themselves |
//! | pi | `compaction` | the tail, named by its first entry |
//! | canonical | a `compaction` line | everything, named by position |
//!
//! Claude Code and pi can only name one run of records: a newest request in front of it is repeated behind the summary.
//! What is written is read back before it is given out: every session must hold the messages it held, and one compaction
//! more, with our summary. Nothing takes its time from the clock: the new records carry that of the record they follow, and
//! ids are made of the bytes of the log.

mod claude_code;
mod codex;
mod pi;

use super::canonical::push_line;
use super::{Compacted, Unchanged};
use crate::context::Entry;
use crate::ingest::canonical::compaction_line;
use crate::ingest::{Format, Ingested, ingest};
use crate::transcript::{Message, MessageIdx, MessageSet, Recorded, RecordedLists, Role, Transcript};
use arcstr::ArcStr;
use serde_json::Value;

/// A compaction to be recorded in a log.
#[derive(Debug, Clone, Copy)]
pub struct Addition<'a> {
    /// Position of the session among those of the log.
    pub at: usize,
    /// The session.
    pub transcript: &'a Transcript,
    /// What stands of it.
    pub compacted: &'a Compacted,
}

impl Addition<'_> {
    /// The whole generated text.
    fn summary(&self) -> String {
        self.compacted.summaries().collect::<Vec<_>>().join("\n\n")
    }

    /// The same, and the newest request where it stands in front of the tail.
    fn summary_and_request(&self) -> String {
        let mut summary = self.summary();
        if let Some((_, request)) = self.compacted.pinned(self.transcript) {
            summary.push_str("\n\nThe newest request of the user, word for word:\n\n");
            summary.push_str(&request);
        }
        summary
    }

    /// Messages of the tail.
    fn tail(&self) -> impl Iterator<Item = &Message> {
        self.transcript.messages.iter().skip(self.compacted.tail)
    }

    /// Tokens of the request in front of the compaction.
    fn tokens_before(&self) -> u64 {
        self.compacted.tokens_before + self.compacted.overhead
    }

    /// Tokens of the request behind it.
    fn tokens_after(&self) -> u64 {
        self.compacted.tokens_after + self.compacted.overhead
    }
}

/// What is refused, for one addition or for all.
fn refused(cause: impl Into<String>, hint: impl Into<String>) -> Unchanged {
    Unchanged::Refused(cause.into(), hint.into())
}

/// What to do where the log cannot be added to.
const OTHER_FORM: &str = "give another form with --to canonical, openai or anthropic";

/// Refuses formats to whose logs no compaction can be added: those that have no record of one, and those whose own tools keep
/// them in more than one file of lines.
pub fn check_format(format: Format) -> Result<(), Unchanged> {
    let name = format.name();
    match format {
        Format::ClaudeCode | Format::Codex | Format::Pi | Format::Canonical => Ok(()),
        Format::OpenaiChat => Err(refused(
            "openai-chat has no record of a compaction: a log of it cannot be added to",
            "give --to openai for a request to go on with",
        )),
        Format::AnthropicMessages => Err(refused(
            "anthropic-messages has no record of a compaction: a log of it cannot be added to",
            "give --to anthropic for a request to go on with",
        )),
        _ => Err(refused(format!("a compaction cannot be added to a log of {name}"), OTHER_FORM)),
    }
}

/// What the format cannot hold of a compaction, where it is to be said.
pub fn note(format: Option<Format>, transcript: &Transcript, compacted: &Compacted) -> Option<String> {
    let one_run = matches!(format, Some(Format::ClaudeCode | Format::Pi));
    (one_run && compacted.pinned(transcript).is_some()).then(|| {
        "the newest request stands in front of the tail, where the format cannot name it: repeated behind the summary"
            .to_owned()
    })
}

/// Sessions, by position, that cannot be added to, and why.
pub type Refusals = Vec<(usize, Unchanged)>;

/// The bytes of the log with the compactions of its sessions behind them, and those that could not be added.
pub fn append(
    bytes: &[u8],
    label: &str,
    ingested: &Ingested,
    additions: &[Addition<'_>],
) -> Result<(Vec<u8>, Refusals), Unchanged> {
    let format = ingested.format.ok_or_else(|| refused("no known log format", OTHER_FORM))?;
    check_format(format)?;
    let log = Log::of(bytes)
        .ok_or_else(|| refused("the log is a single document: no record can stand behind it", OTHER_FORM))?;
    let mut whole = bytes.to_vec();
    if !whole.ends_with(b"\n") {
        whole.push(b'\n');
    }
    let mut refusals = Refusals::new();
    let mut added: Vec<(Addition<'_>, String)> = Vec::new();
    for addition in additions {
        let last = addition.at + 1 == ingested.sessions.len();
        match records(format, &log, addition, last) {
            Ok((summary, lines)) => {
                whole.extend_from_slice(lines.as_bytes());
                added.push((*addition, summary));
            }
            Err(why) => refusals.push((addition.at, why)),
        }
    }
    if !added.is_empty() {
        check(&whole, label, ingested, &added)?;
    }
    Ok((whole, refusals))
}

/// The lines to add for one session, and the summary in them.
fn records(
    format: Format,
    log: &Log<'_>,
    addition: &Addition<'_>,
    last: bool,
) -> Result<(String, String), Unchanged> {
    let end = addition.transcript.messages.len();
    if addition.transcript.recorded.last().is_some_and(|recorded| recorded.before.get() == end) {
        return Err(refused(
            "the log ends with a compaction: nothing was said since",
            "go on with the log as it is, or give another form with --to",
        ));
    }
    // All but Claude Code tell sessions apart by their place in the file.
    if !last && format != Format::ClaudeCode {
        let cause = format!("{} records can only stand behind the last session of a log", format.name());
        return Err(refused(cause, OTHER_FORM));
    }
    match format {
        Format::ClaudeCode => claude_code::records(log, addition),
        Format::Codex => codex::records(log, addition),
        Format::Pi => pi::records(log, addition),
        Format::Canonical => Ok(canonical(addition)),
        _ => Err(refused("no writer", OTHER_FORM)),
    }
}

/// The line of canonical JSONL.
fn canonical(addition: &Addition<'_>) -> (String, String) {
    let summary = addition.summary();
    let entries = || addition.compacted.context.entries.iter();
    let is_system = |at: &MessageIdx| {
        addition.transcript.messages.get(at.get()).is_some_and(|message| message.role == Role::System)
    };
    let kept: MessageSet = entries()
        .filter_map(|entry| if let Entry::Kept(at) = entry { Some(*at) } else { None })
        .filter(|at| !is_system(at))
        .collect();
    let clipped = entries().filter_map(|entry| match entry {
        Entry::Clipped { message, text } => Some((*message, text.clone())),
        Entry::Kept(_) | Entry::Summary { .. } => None,
    });
    let lists = &addition.compacted.lists;
    let owned = |paths: &[ArcStr]| paths.iter().map(ArcStr::to_string).collect();
    let recorded = Recorded {
        kept,
        clipped: clipped.collect(),
        summary: Some(summary.clone()),
        lists: Some(RecordedLists { read: owned(&lists.read), modified: owned(&lists.modified) }),
        trigger: Some("manual".to_owned()),
        tokens_before: Some(addition.tokens_before()),
        tokens_after: Some(addition.tokens_after()),
        ..Recorded::at(MessageIdx::new(addition.transcript.messages.len()))
    };
    let mut lines = String::new();
    push_line(&compaction_line(&recorded), &mut lines);
    (summary, lines)
}

/// Reads back what is to be written.
fn check(
    whole: &[u8],
    label: &str,
    before: &Ingested,
    added: &[(Addition<'_>, String)],
) -> Result<(), Unchanged> {
    let after = ingest(whole, label);
    let differs = |what: String| {
        Err(refused(format!("the log with its compaction would not read back: {what}"), OTHER_FORM))
    };
    if after.sessions.len() != before.sessions.len() {
        return differs(format!("{} sessions in place of {}", after.sessions.len(), before.sessions.len()));
    }
    for (at, (old, new)) in before.sessions.iter().zip(&after.sessions).enumerate() {
        if old.id != new.id || old.messages != new.messages {
            return differs(format!("session {} holds other messages", old.id));
        }
        let own = added.iter().find(|(addition, _)| addition.at == at);
        if new.recorded.len() != old.recorded.len() + usize::from(own.is_some()) {
            return differs(format!("session {} holds {} compactions", old.id, new.recorded.len()));
        }
        let newest = new.recorded.last().and_then(|recorded| recorded.summary.as_deref());
        if own.is_some_and(|(_, summary)| newest != Some(summary)) {
            return differs(format!("session {} holds another summary", old.id));
        }
    }
    Ok(())
}

/// The lines of a log, to look records up in.
struct Log<'a> {
    bytes: &'a [u8],
    lines: Vec<&'a [u8]>,
}

impl<'a> Log<'a> {
    /// `None` for a file that is one document.
    fn of(bytes: &'a [u8]) -> Option<Self> {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        let log = Self { bytes, lines };
        // A whole array on one line, or a document over several, holds no record a line.
        log.lines.iter().enumerate().any(|(at, _)| log.record(at + 1).is_some()).then_some(log)
    }

    /// The record at a 1-based line, where it is an object.
    fn record(&self, line: usize) -> Option<Value> {
        let line = self.lines.get(line.checked_sub(1)?)?;
        serde_json::from_slice::<Value>(line.trim_ascii()).ok().filter(Value::is_object)
    }

    /// The records of a message, in order.
    fn records_of(&self, message: &Message) -> Vec<Value> {
        let mut lines: Vec<u32> =
            if message.lines.is_empty() { vec![message.line] } else { message.lines.to_vec() };
        lines.dedup();
        lines.into_iter().filter_map(|line| self.record(line as usize)).collect()
    }

    /// Records from the last one to the first.
    fn backwards(&self) -> impl Iterator<Item = Value> {
        (1..=self.lines.len()).rev().filter_map(|line| self.record(line))
    }

    /// Sixteen bytes that depend on the log and on what they are for.
    fn made(&self, what: &str) -> [u8; 16] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.bytes);
        hasher.update(what.as_bytes());
        let mut made = [0; 16];
        hasher.finalize_xof().fill(&mut made);
        made
    }

    /// An id in the form of a random UUID.
    fn uuid(&self, what: &str) -> String {
        let number = u128::from_be_bytes(self.made(what));
        let number = number & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
        let hex = format!("{number:032x}");
        let group = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
        [group(0, 8), group(8, 12), group(12, 16), group(16, 20), group(20, 32)].join("-")
    }
}

/// The string at a key; empty where there is none.
fn text<'a>(record: &'a Value, key: &str) -> &'a str {
    record.get(key).and_then(Value::as_str).unwrap_or_default()
}
