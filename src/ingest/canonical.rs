//! Canonical JSONL: a format of our own that holds everything the canonical [`Transcript`] does, and nothing else.
//!
//! One JSON object a line, UTF-8, `\n` line ends. Line 1 is the header; behind it come the sessions, each with a session line,
//! then its messages, its compactions and the requests that failed, each in order. The structs of this module are the schema, for reading and for
//! writing (`export::canonical`), so that what was written reads back as the same transcript. Fields with a `?` are left out
//! where they hold nothing (`false`, 0, an empty list, no value); unknown fields are ignored.
//!
//! | line | field | meaning |
//! |---|---|---|
//! | header | `format` | always `compactor-transcript` |
//! | | `version` | [`VERSION`] of the format; a newer one is refused |
//! | session | `record` | `session` |
//! | | `id` | session id |
//! | | `sidechain?` | name of the sub-agent whose work this is; without it a conversation with the user |
//! | | `continues?` | id of the session whose messages it begins with: a fork, or one gone on with |
//! | | `format?` | format of the log that it was first read from |
//! | | `model?` | model of the last reply |
//! | | `context_window?` | window that the log states, in tokens |
//! | | `tool_schema?` | tool schemas as JSON text |
//! | | `starts_compacted?` | the session begins with a summary of something that is not in it: message 0 |
//! | | `starts_midway?` | the model's context held more than the log |
//! | message | `record` | `message` |
//! | | `at` | position in the session, from 0 |
//! | | `role` | `system`, `user`, `assistant` or `tool`; messages of `tool` hold only results |
//! | | `line` | 1-based line (record) in the log it was read from; 0 for generated text |
//! | | `lines?` | the line of each part, where they differ |
//! | | `time?` | when its record was written, in milliseconds since 1970-01-01 UTC |
//! | | `cwd?` | working directory |
//! | | `usage?` | tokens as the provider counted them: `input` (cache included), `cache_read`, `cache_write`, `output` |
//! | | `generated?` | a summary, not said by anybody: message 0 of a session with `starts_compacted` |
//! | | `parts` | the content, in order, never empty |
//! | part | `type` | `text`, `thinking`, `call`, `result`, `image` or `opaque` |
//! | text | `text` | never empty |
//! | | `injected?` | the harness wrote it, not the person or model whose role it carries |
//! | thinking | `text` | reasoning in clear text, without signatures |
//! | call | `call` | number of the call in the session, from 0: ids may be empty and may repeat |
//! | | `id`, `name`, `arguments` | as logged; arguments are JSON text, or raw text of freeform tools |
//! | result | `answers` | number of the call it answers |
//! | | `call_id`, `text` | as logged; the text may be empty |
//! | | `outcome` | `ok`, `failed` or `unknown` |
//! | | `exit_code?` | exit status of a shell command |
//! | | `images?` | images inside the result: their data is not held |
//! | image | `bytes` | size of its data in the log: the data is not held |
//! | opaque | `kind`, `bytes` | block type and size in the log of what is in the context and unreadable |
//! | compaction | `record` | `compaction` |
//! | | `before` | it happened before the message of this position; the count of messages when at the end |
//! | | `line` | line of its record in the log it was read from; 0 for one of our own |
//! | | `kept?` | positions of messages that stayed word for word |
//! | | `kept_unknown?` | messages stayed, and it cannot be known which |
//! | | `clipped?` | pairs of a position and what is left of that message |
//! | | `summary?` | its text; without it the log does not show one |
//! | | `lists?` | files kept beside the summary: `read`, `modified` |
//! | | `trigger?` | who asked for it, in the log's word |
//! | | `tokens_before?`, `tokens_after?` | as the log reports them |
//! | refusal | `record` | `refusal`: a request that failed |
//! | | `before` | it was made before the message of this position, or is that message: an error written down as a reply |
//! | | `line` | line of its record in the log it was read from |
//! | | `text` | what the provider said |
//!
//! A damaged line costs that line: positions and numbers are those that were written, so what is left still fits together,
//! and a gap between them is noted.
//! Where calls or results are lost, the rest of that session is linked like a log of any other format, by ids and order. A
//! lost session line is noticed when positions begin anew; that session is named after the file then.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use arcstr::ArcStr;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::formats::Format;
use super::json::{brief, text};
use super::lines::Record;
use super::links::{self, Draft};
use super::shapes::{Shape, Split};
use super::sink::Sink;
use super::value::{Value, shared};
use crate::diagnostic::Severity;
use crate::transcript::{
    Link, Message, MessageIdx, Origin, Outcome, Part, PartRef, Parts, Recorded, RecordedLists, Refusal, Role,
    Text, ToolCall, ToolResult, Transcript, Usage,
};

/// What the header of a file says it is.
pub const FORMAT: &str = "compactor-transcript";

/// Newest version of the format that is read, and the one that is written.
pub const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header<'a> {
    /// [`FORMAT`].
    pub format: Cow<'a, str>,
    /// [`VERSION`].
    pub version: u32,
}

impl Header<'static> {
    /// The header of what is written now.
    pub const CURRENT: Self = Self { format: Cow::Borrowed(FORMAT), version: VERSION };
}

/// Every other line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Line<'a> {
    /// A session begins.
    Session(SessionLine<'a>),
    /// A message of it.
    Message(MessageLine<'a>),
    /// A compaction that its log held.
    Compaction(CompactionLine<'a>),
    /// A request that failed.
    Refusal(RefusalLine<'a>),
}

/// A session without its messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionLine<'a> {
    id: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sidechain: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    continues: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    format: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context_window: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_schema: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "is_false")]
    starts_compacted: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    starts_midway: bool,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageLine<'a> {
    at: u32,
    role: RoleName,
    line: u32,
    #[serde(default, skip_serializing_if = "<[u32]>::is_empty")]
    lines: Cow<'a, [u32]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<UsageCounts>,
    #[serde(default, skip_serializing_if = "is_false")]
    generated: bool,
    parts: Vec<PartLine<'a>>,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum PartLine<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "is_false")]
        injected: bool,
    },
    Thinking {
        text: Cow<'a, str>,
    },
    Call {
        call: u32,
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        arguments: Cow<'a, str>,
    },
    Result {
        answers: u32,
        call_id: Cow<'a, str>,
        text: Cow<'a, str>,
        outcome: OutcomeName,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        #[serde(default, skip_serializing_if = "is_zero")]
        images: u32,
    },
    Image {
        bytes: u64,
    },
    Opaque {
        kind: Cow<'a, str>,
        bytes: u64,
    },
}

/// One recorded compaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionLine<'a> {
    before: u32,
    line: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    kept: Vec<u32>,
    #[serde(default, skip_serializing_if = "is_false")]
    kept_unknown: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    clipped: Vec<(u32, Cow<'a, str>)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    summary: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lists: Option<Lists<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trigger: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens_before: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens_after: Option<u64>,
}

/// One request that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusalLine<'a> {
    before: u32,
    line: u32,
    text: Cow<'a, str>,
}

/// Files beside a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Lists<'a> {
    #[serde(default)]
    read: Cow<'a, [String]>,
    #[serde(default)]
    modified: Cow<'a, [String]>,
}

/// Names of [`Role`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RoleName {
    System,
    User,
    Assistant,
    Tool,
}

/// Names of [`Outcome`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OutcomeName {
    Ok,
    Failed,
    Unknown,
}

/// Fields of [`Usage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct UsageCounts {
    input: u64,
    #[serde(default, skip_serializing_if = "is_zero_64")]
    cache_read: u64,
    #[serde(default, skip_serializing_if = "is_zero_64")]
    cache_write: u64,
    output: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero_64(count: &u64) -> bool {
    *count == 0
}

/// The lines of a session, in order: a transcript as it is written.
pub fn lines(transcript: &Transcript) -> impl Iterator<Item = Line<'_>> {
    let mut answers: FxHashMap<PartRef, u32> = FxHashMap::default();
    for (number, link) in (0u32..).zip(&transcript.links) {
        answers.extend(link.result.map(|at| (at, number)));
    }
    let mut calls = 0u32;
    let session = Line::Session(session_line(transcript));
    let messages = transcript.messages.iter().enumerate().map(move |(index, message)| {
        let at = MessageIdx::new(index);
        let parts = message.parts.iter().enumerate().map(|(part_index, part)| {
            let place = PartRef { message: at, part: u32::try_from(part_index).unwrap_or(u32::MAX) };
            part_line(part, &mut calls, answers.get(&place).copied())
        });
        Line::Message(MessageLine {
            at: at.0,
            role: message.role.into(),
            line: message.line,
            lines: Cow::Borrowed(&message.lines),
            time: message.time,
            cwd: message.cwd.as_deref().map(Cow::Borrowed),
            usage: message.usage.as_deref().copied().map(UsageCounts::from),
            generated: transcript.starts_compacted && index == 0,
            parts: parts.collect(),
        })
    });
    let compactions = transcript.recorded.iter().map(compaction_line);
    let refusals = transcript.refusals.iter().map(|one| {
        Line::Refusal(RefusalLine { before: one.before.0, line: one.line, text: Cow::Borrowed(&one.text) })
    });
    std::iter::once(session).chain(messages).chain(compactions).chain(refusals)
}

fn session_line(transcript: &Transcript) -> SessionLine<'_> {
    SessionLine {
        id: Cow::Borrowed(&transcript.id),
        sidechain: match &transcript.origin {
            Origin::Main => None,
            Origin::Sidechain(name) => Some(Cow::Borrowed(name)),
        },
        continues: transcript.continues.as_deref().map(Cow::Borrowed),
        format: transcript.format.as_deref().map(Cow::Borrowed),
        model: transcript.model.as_deref().map(Cow::Borrowed),
        context_window: transcript.context_window,
        tool_schema: transcript.tool_schema.as_deref().map(Cow::Borrowed),
        starts_compacted: transcript.starts_compacted,
        starts_midway: transcript.starts_midway,
    }
}

/// A part; `calls` counts those before it, `answers` is the call of a result.
fn part_line<'a>(part: &'a Part, calls: &mut u32, answers: Option<u32>) -> PartLine<'a> {
    match part {
        Part::Text(text) => PartLine::Text { text: Cow::Borrowed(&text.text), injected: text.injected },
        Part::Thinking(text) => PartLine::Thinking { text: Cow::Borrowed(text) },
        Part::Call(call) => {
            let number = *calls;
            *calls += 1;
            PartLine::Call {
                call: number,
                id: Cow::Borrowed(&call.id),
                name: Cow::Borrowed(&call.name),
                arguments: Cow::Borrowed(&call.arguments),
            }
        }
        Part::Result(result) => PartLine::Result {
            // A transcript that obeys its rules has a call for each result.
            answers: answers.unwrap_or(u32::MAX),
            call_id: Cow::Borrowed(&result.call_id),
            text: Cow::Borrowed(&result.text),
            outcome: result.outcome.into(),
            exit_code: result.exit_code,
            images: result.images,
        },
        Part::Image { bytes } => PartLine::Image { bytes: *bytes },
        Part::Opaque { kind, bytes } => PartLine::Opaque { kind: Cow::Borrowed(kind), bytes: *bytes },
    }
}

/// A compaction as it is written.
pub fn compaction_line(recorded: &Recorded) -> Line<'_> {
    Line::Compaction(CompactionLine {
        before: recorded.before.0,
        line: recorded.line,
        kept: recorded.kept.iter().map(|at| at.0).collect(),
        kept_unknown: recorded.kept_unknown,
        clipped: recorded.clipped.iter().map(|(at, text)| (at.0, Cow::Borrowed(text.as_str()))).collect(),
        summary: recorded.summary.as_deref().map(Cow::Borrowed),
        lists: recorded.lists.as_ref().map(|lists| Lists {
            read: Cow::Borrowed(&lists.read),
            modified: Cow::Borrowed(&lists.modified),
        }),
        trigger: recorded.trigger.as_deref().map(Cow::Borrowed),
        tokens_before: recorded.tokens_before,
        tokens_after: recorded.tokens_after,
    })
}

impl From<Role> for RoleName {
    fn from(role: Role) -> Self {
        match role {
            Role::System => Self::System,
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
            Role::Tool => Self::Tool,
        }
    }
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::System => Self::System,
            RoleName::User => Self::User,
            RoleName::Assistant => Self::Assistant,
            RoleName::Tool => Self::Tool,
        }
    }
}

impl From<Outcome> for OutcomeName {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Ok => Self::Ok,
            Outcome::Failed => Self::Failed,
            Outcome::Unknown => Self::Unknown,
        }
    }
}

impl From<OutcomeName> for Outcome {
    fn from(name: OutcomeName) -> Self {
        match name {
            OutcomeName::Ok => Self::Ok,
            OutcomeName::Failed => Self::Failed,
            OutcomeName::Unknown => Self::Unknown,
        }
    }
}

impl From<Usage> for UsageCounts {
    fn from(usage: Usage) -> Self {
        let Usage { input, cache_read, cache_write, output } = usage;
        Self { input, cache_read, cache_write, output }
    }
}

impl From<UsageCounts> for Usage {
    fn from(counts: UsageCounts) -> Self {
        let UsageCounts { input, cache_read, cache_write, output } = counts;
        Self { input, cache_read, cache_write, output }
    }
}

/// Lines of this format.
pub(super) static SHAPE: Shape =
    Shape { owns: |_| false, split: Split::Before(begins), ..Shape::new(Format::Canonical, sniff, read) };

/// Every session line begins a session.
fn begins(value: &Value) -> Option<&str> {
    (text(value, "record") == Some("session")).then_some("")
}

fn sniff(value: &Value) -> Option<&'static str> {
    let own = text(value, "format") == Some(FORMAT)
        || matches!(text(value, "record"), Some("session" | "message" | "compaction"));
    own.then_some("is a record of the canonical format")
}

/// Reads the records of one file.
fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    if out.is_refused() {
        return;
    }
    let mut open: Option<Reading> = None;
    let mut cwd: Option<ArcStr> = None;
    for Record { line, value } in records {
        if text(&value, "format") == Some(FORMAT) {
            let told = value.get("version");
            let Some(version) = told.and_then(Value::as_u64).filter(|version| *version > 0) else {
                let told = told.map_or_else(|| "missing".to_owned(), brief);
                let text = format!(
                    "the header's version is {told}, not a whole number from 1 on: what the file holds cannot be told"
                );
                out.note(line, "bad-version", Severity::Lost, text);
                out.refuse();
                return;
            };
            if version > u64::from(VERSION) {
                let text = format!(
                    "version {version} of the canonical format; this program reads {VERSION}: use the one that wrote it, or \
                     a newer one"
                );
                out.note(line, "newer-version", Severity::Lost, text);
                out.refuse();
                return;
            }
            continue;
        }
        if begins(&value).is_some() {
            // Also where its line is damaged: what follows is not of the session before.
            finish(open.take(), out);
        }
        let line_of = match serde_json::from_value::<Line<'static>>(value.into()) {
            Ok(found) => found,
            Err(error) => {
                let text = format!("not a record of the canonical format, its content is lost: {error}");
                out.damage(line, "bad-record", text);
                continue;
            }
        };
        let nameless = |number: u32| if number == 1 { name.to_owned() } else { format!("{name}#{number}") };
        match line_of {
            Line::Session(session) => {
                out.number();
                open = Some(Reading::new(session));
            }
            Line::Message(message) => {
                out.raw.messages += 1;
                let fits = open.as_ref().is_some_and(|open| open.fits(message.at));
                if !fits {
                    finish(open.take(), out);
                    let id = nameless(out.number());
                    let text = format!("messages whose session line is lost; named {id:?}");
                    out.damage(line, "bad-record", text);
                    open = Some(Reading::new(SessionLine::named(id)));
                }
                if let Some(open) = &mut open {
                    open.message(message, &mut cwd, line, out);
                }
            }
            Line::Refusal(refusal) => match &mut open {
                Some(open) => open.refusals.push(refusal),
                None => out.damage(line, "bad-record", "a failed request of a session that is lost"),
            },
            Line::Compaction(compaction) => {
                out.raw.compactions += 1;
                match &mut open {
                    Some(open) => open.compactions.push(compaction),
                    None => out.damage(line, "bad-record", "a compaction of a session that is lost"),
                }
            }
        }
    }
    finish(open, out);
}

impl SessionLine<'static> {
    /// A session of which nothing but its name is known.
    fn named(id: String) -> Self {
        Self {
            id: Cow::Owned(id),
            sidechain: None,
            continues: None,
            format: None,
            model: None,
            context_window: None,
            tool_schema: None,
            starts_compacted: false,
            starts_midway: false,
        }
    }
}

/// A session while its lines are read.
struct Reading {
    session: SessionLine<'static>,
    messages: Vec<Message>,
    /// Position of each message as written.
    written: Vec<u32>,
    /// Number of each call as written, with where it stands now.
    calls: FxHashMap<u32, usize>,
    links: Vec<Link>,
    compactions: Vec<CompactionLine<'static>>,
    refusals: Vec<RefusalLine<'static>>,
    /// A call or result is lost, or numbered as none can be: the links cannot be trusted.
    torn: bool,
}

impl Reading {
    fn new(session: SessionLine<'static>) -> Self {
        Self {
            session,
            messages: Vec::new(),
            written: Vec::new(),
            calls: FxHashMap::default(),
            links: Vec::new(),
            compactions: Vec::new(),
            refusals: Vec::new(),
            torn: false,
        }
    }

    /// True where the message at this position can be the next one of the session.
    fn fits(&self, at: u32) -> bool {
        self.compactions.is_empty()
            && self.refusals.is_empty()
            && self.written.last().is_none_or(|last| *last < at)
    }

    fn message(
        &mut self,
        message: MessageLine<'static>,
        cwd: &mut Option<ArcStr>,
        line: u32,
        out: &mut Sink,
    ) {
        let index = MessageIdx::new(self.messages.len());
        let mut parts = Parts::with_capacity(message.parts.len());
        for part in message.parts {
            let at = PartRef { message: index, part: u32::try_from(parts.len()).unwrap_or(u32::MAX) };
            parts.push(self.part(part, at, out));
        }
        let lines = message.lines.into_owned();
        if !lines.is_empty() && lines.len() != parts.len() {
            let text = format!("{} lines of {} parts; taken as not given", lines.len(), parts.len());
            out.note(line, "bad-lines", Severity::Note, text);
        }
        let lines = if lines.len() == parts.len() { lines } else { Vec::new() };
        let found = message.cwd.map(|found| match cwd.as_ref() {
            Some(same) if **same == *found => same.clone(),
            _ => cwd.insert(ArcStr::from(&*found)).clone(),
        });
        let due = self.written.last().map_or(0, |last| last + 1);
        if due < message.at {
            let missing = if due + 1 == message.at {
                format!("message {due} is")
            } else {
                format!("messages {due} to {} are", message.at - 1)
            };
            out.note(line, "gap", Severity::Note, format!("{missing} missing before this one"));
        }
        self.written.push(message.at);
        self.messages.push(Message {
            role: message.role.into(),
            parts,
            line: message.line,
            lines: lines.into(),
            time: message.time,
            cwd: found,
            usage: message.usage.map(|usage| Box::new(usage.into())),
        });
    }

    fn part(&mut self, part: PartLine<'static>, at: PartRef, out: &mut Sink) -> Part {
        match part {
            PartLine::Text { text, injected } => Part::Text(Text { text: text.into_owned(), injected }),
            PartLine::Thinking { text } => Part::Thinking(text.into_owned()),
            PartLine::Call { call, id, name, arguments } => {
                out.raw.tool_calls += 1;
                self.torn |= self.calls.insert(call, self.links.len()).is_some();
                self.links.push(Link { call: at, result: None });
                Part::call(ToolCall {
                    id: id.into_owned(),
                    name: shared(&name),
                    arguments: arguments.into_owned(),
                })
            }
            PartLine::Result { answers, call_id, text, outcome, exit_code, images } => {
                let link = self.calls.get(&answers).and_then(|link| self.links.get_mut(*link));
                match link.filter(|link| link.result.is_none()) {
                    Some(link) => link.result = Some(at),
                    None => self.torn = true,
                }
                let (call_id, text) = (call_id.into_owned(), text.into_owned());
                Part::result(ToolResult { call_id, text, outcome: outcome.into(), exit_code, images })
            }
            PartLine::Image { bytes } => Part::Image { bytes },
            PartLine::Opaque { kind, bytes } => Part::Opaque { kind: kind.as_ref().into(), bytes },
        }
    }

    /// Where the message of a written position is now, or the one behind it.
    fn place(&self, written: u32) -> MessageIdx {
        MessageIdx::new(self.written.partition_point(|at| *at < written))
    }

    fn is_here(&self, written: u32) -> bool {
        self.written.binary_search(&written).is_ok()
    }

    fn recorded(&self, compaction: CompactionLine<'static>) -> Recorded {
        let here = |at: &u32| self.is_here(*at) && *at < compaction.before;
        Recorded {
            before: self.place(compaction.before),
            kept: compaction.kept.iter().filter(|at| here(at)).map(|at| self.place(*at)).collect(),
            kept_unknown: compaction.kept_unknown,
            clipped: compaction
                .clipped
                .into_iter()
                .filter(|(at, _)| self.is_here(*at) && *at < compaction.before)
                .map(|(at, text)| (self.place(at), text.into_owned()))
                .collect(),
            line: compaction.line,
            summary: compaction.summary.map(Cow::into_owned),
            lists: compaction.lists.map(|lists| RecordedLists {
                read: lists.read.into_owned(),
                modified: lists.modified.into_owned(),
            }),
            trigger: compaction.trigger.map(Cow::into_owned),
            tokens_before: compaction.tokens_before,
            tokens_after: compaction.tokens_after,
        }
    }
}

/// Makes the transcript of a session: exactly what was written where it is whole, else linked like any log.
fn finish(reading: Option<Reading>, out: &mut Sink) {
    let Some(mut reading) = reading else { return };
    let compactions = std::mem::take(&mut reading.compactions);
    let mut recorded: Vec<Recorded> = compactions.into_iter().map(|one| reading.recorded(one)).collect();
    recorded.sort_by_key(|one| one.before);
    let refusals = reading
        .refusals
        .iter()
        .map(|one| Refusal {
            before: reading.place(one.before),
            line: one.line,
            text: one.text.clone().into_owned(),
        })
        .collect();
    let Reading { session, messages, links, torn, .. } = reading;
    let transcript = Transcript {
        id: session.id.into_owned(),
        origin: session.sidechain.map_or(Origin::Main, |name| Origin::Sidechain(name.into_owned())),
        messages,
        links,
        recorded,
        refusals,
        continues: session.continues.map(Cow::into_owned),
        format: session.format.map(Cow::into_owned),
        model: session.model.map(Cow::into_owned),
        context_window: session.context_window,
        tool_schema: session.tool_schema.map(Cow::into_owned),
        starts_compacted: session.starts_compacted,
        starts_midway: session.starts_midway,
    };
    if !torn && !transcript.messages.is_empty() && is_sound(&transcript) {
        if transcript.starts_compacted {
            links::note_starts_compacted(&transcript.messages, out);
        }
        out.sessions.push(transcript);
        return;
    }
    out.finish_draft(Draft {
        id: transcript.id,
        origin: transcript.origin,
        messages: transcript.messages.into(),
        recorded: transcript.recorded,
        refusals: transcript.refusals,
        continues: transcript.continues,
        format: transcript.format,
        model: transcript.model,
        context_window: transcript.context_window,
        tool_schema: transcript.tool_schema,
        starts_compacted: transcript.starts_compacted,
        starts_midway: transcript.starts_midway,
    });
}

/// True where everything holds that readers of other formats make true.
fn is_sound(transcript: &Transcript) -> bool {
    let tools = transcript.messages.iter().all(|message| {
        let results = message.parts.iter().filter(|part| matches!(part, Part::Result(_))).count();
        match message.role {
            Role::Tool => results == message.parts.len(),
            Role::User => results == 0,
            // Tools that run at the provider answer inside the reply.
            Role::System | Role::Assistant => true,
        }
    });
    let end = transcript.messages.len();
    let places = transcript
        .recorded
        .iter()
        .all(|one| one.before.get() <= end && one.kept.last().is_none_or(|last| last < one.before));
    let refusals = transcript.refusals.iter().all(|one| one.before.get() <= end);
    tools && places && refusals && transcript.check().is_empty()
}
