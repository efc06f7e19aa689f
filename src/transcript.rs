//! The canonical model of one session: what every reader produces and everything else consumes.
//!
//! It knows no agent's log format and no output format. All fields are plain data; the two index newtypes keep
//! message positions and part positions apart. A [`Transcript`] that came out of a reader obeys these rules
//! ([`Transcript::check`] tests them):
//!
//! * every tool result is linked to exactly one earlier call (orphans were demoted to injected text by the reader);
//! * no message is empty of parts, and where its parts have lines, each has one;
//! * `line` numbers are 1-based positions of the record in its file (the first record of a merged reply).

mod messages;

use std::fmt;

use arcstr::ArcStr;
use smallvec::SmallVec;
use thin_vec::ThinVec;

pub use messages::MessageSet;

/// Position of a message in its [`Transcript`], counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MessageIdx(pub u32);

impl MessageIdx {
    /// The index as a `usize`, for slicing.
    pub fn get(self) -> usize {
        self.0 as usize
    }

    /// Makes an index from a `usize`; sessions are far below 2^32 messages.
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

impl fmt::Display for MessageIdx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Position of one part: message and part inside it, both from 0. Orders like the log does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartRef {
    /// The message.
    pub message: MessageIdx,
    /// Index into [`Message::parts`].
    pub part: u32,
}

/// Who speaks. `Tool` messages hold only tool results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// System or developer instructions.
    System,
    /// The human, or text the harness injected in the human's place (see [`Text::injected`]).
    User,
    /// The model.
    Assistant,
    /// Results of tool calls.
    Tool,
}

impl Role {
    /// Lower-case name as it appears in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// Plain text of a message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Text {
    /// The text, never empty.
    pub text: String,
    /// True when the harness wrote it, not the person or model whose role it carries: reminders, environment
    /// blocks, project instructions, command echoes, interruption notes.
    pub injected: bool,
}

/// A call of a tool by the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolCall {
    /// Id the log gives; may be empty and may repeat (links go by occurrence, never by id alone).
    pub id: String,
    /// Tool name as the log has it, shared between calls.
    pub name: ArcStr,
    /// Arguments: JSON text as logged, or raw text for freeform tools.
    pub arguments: String,
}

/// How a call ended, as far as the log tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The log says, or lets no doubt, that it worked.
    Ok,
    /// Error flag, non-zero exit, refusal or interruption.
    Failed,
    /// The log does not say.
    Unknown,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolResult {
    /// Id of the call as the log has it.
    pub call_id: String,
    /// All text of the result, blocks joined by a newline; may be empty.
    pub text: String,
    /// How the call ended.
    pub outcome: Outcome,
    /// Exit status of a shell command, where the log has one.
    pub exit_code: Option<i32>,
    /// Images inside the result.
    pub images: u32,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Part {
    /// Text.
    Text(Text),
    /// Reasoning in clear text.
    Thinking(String),
    /// A tool call.
    Call(Box<ToolCall>),
    /// A tool result.
    Result(Box<ToolResult>),
    /// An image; `bytes` is the size of its encoded data in the log.
    Image {
        /// Bytes of the (base64) data in the log, 0 when it is only referenced.
        bytes: u64,
    },
    /// Content that is in the model's context but unreadable here (encrypted reasoning, unknown block types).
    Opaque {
        /// Block type as the log names it.
        kind: ArcStr,
        /// Bytes of the block in the log.
        bytes: u64,
    },
}

impl Part {
    /// A tool call.
    pub fn call(call: ToolCall) -> Self {
        Self::Call(Box::new(call))
    }

    /// A tool result.
    pub fn result(result: ToolResult) -> Self {
        Self::Result(Box::new(result))
    }
}

/// The parts of a message: most have one, which needs no memory of its own.
pub type Parts = SmallVec<[Part; 1]>;

/// Token usage of one reply as the provider reported it, under one rule for all formats: `input` is the whole
/// prompt, cache reads and writes included once; `output` includes reasoning once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Usage {
    /// Prompt tokens, cached ones included.
    pub input: u64,
    /// The part of `input` read from cache.
    pub cache_read: u64,
    /// The part of `input` written to cache.
    pub cache_write: u64,
    /// Reply tokens, reasoning included.
    pub output: u64,
}

/// One message of the active path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// Its content, in order; never empty.
    pub parts: Parts,
    /// 1-based line of its first record in the source file; in a document that is no list of lines its position.
    pub line: u32,
    /// Lines of its parts, where it was merged from several records; empty when all stand at `line`.
    pub lines: ThinVec<u32>,
    /// Working directory of the record, shared between messages.
    pub cwd: Option<ArcStr>,
    /// Provider usage; only on assistant messages.
    pub usage: Option<Box<Usage>>,
    /// When its first record was written, in milliseconds since 1970-01-01 UTC, where the log says.
    pub time: Option<i64>,
}

impl Message {
    /// True when a person wrote at least one text part of it: the start of a turn.
    pub fn is_user_request(&self) -> bool {
        self.role == Role::User
            && self.parts.iter().any(|part| matches!(part, Part::Text(text) if !text.injected))
    }

    /// 1-based line (record) of a part.
    pub fn line_of(&self, part: usize) -> u32 {
        self.lines.get(part).copied().unwrap_or(self.line)
    }

    /// Adds a part that stands on a later line of the source.
    pub fn push(&mut self, part: Part, line: u32) {
        self.lines.resize(self.parts.len(), self.line);
        self.lines.push(line);
        self.parts.push(part);
    }

    /// Takes the last part out, and its line.
    pub fn pop(&mut self) -> Option<Part> {
        self.lines.truncate(self.parts.len().saturating_sub(1));
        self.parts.pop()
    }

    /// The text a person wrote in it, parts joined by newlines; empty when there is none.
    pub fn authored_text(&self) -> String {
        let texts: Vec<&str> = self
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) if !text.injected => Some(text.text.as_str()),
                _ => None,
            })
            .collect();
        texts.join("\n")
    }
}

/// A call and its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Link {
    /// The call.
    pub call: PartRef,
    /// Its result; `None` when it was never answered.
    pub result: Option<PartRef>,
}

/// A compaction that the log already holds; set aside for the audit, never a message of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct Recorded {
    /// It happened before this message of the transcript (equals the message count when at the end).
    pub before: MessageIdx,
    /// Messages that stayed in the context verbatim, all before `before`. System messages stay without being named.
    pub kept: MessageSet,
    /// The log says that messages stayed, or should say so, and it cannot be known which: `kept` is empty then.
    pub kept_unknown: bool,
    /// Messages of which a part stayed: what is left of each.
    pub clipped: Vec<(MessageIdx, String)>,
    /// 1-based line of the record.
    pub line: u32,
    /// Its summary; `None` when the log does not show it: encrypted, or not there.
    pub summary: Option<String>,
    /// Lists of files that the harness kept beside the summary, where it does.
    pub lists: Option<RecordedLists>,
    /// Who asked for it, in the log's word (`auto`, `manual`), where it says.
    pub trigger: Option<String>,
    /// Tokens before it, as the log reports them.
    pub tokens_before: Option<u64>,
    /// Tokens after it, as the log reports them.
    pub tokens_after: Option<u64>,
}

/// Lists of files recorded beside a summary: paths as the log has them, resolved.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct RecordedLists {
    /// Read and never modified.
    pub read: Vec<String>,
    /// Modified.
    pub modified: Vec<String>,
}

impl Recorded {
    /// A compaction of which nothing is known but its place.
    pub fn at(before: MessageIdx) -> Self {
        Self { before, ..Self::default() }
    }
}

/// A request that the provider refused, as the log has it; never a message of the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Refusal {
    /// It was made before this message of the transcript. Where the client wrote the error down as a reply, it is this one.
    pub before: MessageIdx,
    /// 1-based line of the record.
    pub line: u32,
    /// What the provider, or the client for it, said.
    pub text: String,
}

/// Where a session belongs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A conversation with the user.
    Main,
    /// Work of a sub-agent logged inside another session; the text names it.
    Sidechain(String),
}

/// Raw record counts before any tree or sidechain logic, for comparison with other tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct RawCounts {
    /// Message records.
    pub messages: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Compaction records.
    pub compactions: u64,
}

/// One session: the active path of one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Transcript {
    /// Session id from the log, or one made from the file name and position.
    pub id: String,
    /// Where it belongs.
    pub origin: Origin,
    /// Messages in order of the conversation.
    pub messages: Vec<Message>,
    /// Calls with their results, ordered by call.
    pub links: Vec<Link>,
    /// Compactions the log holds, in order.
    pub recorded: Vec<Recorded>,
    /// Requests that failed, in order.
    pub refusals: Vec<Refusal>,
    /// Id of the session whose messages it begins with, where the log says that it is a fork or goes on from another.
    pub continues: Option<String>,
    /// Format of the log that it was first read from, by name, however often it was converted since.
    pub format: Option<String>,
    /// Model name of the last reply that has one.
    pub model: Option<String>,
    /// Context window the log states, in tokens.
    pub context_window: Option<u64>,
    /// Tool schemas as JSON text, where the log holds them: part of every request, never of a message.
    pub tool_schema: Option<String>,
    /// True when the log begins with a summary of something that is not in it (that summary is message 0).
    pub starts_compacted: bool,
    /// True when the first record names a parent that is not in the file: the model's context held more than the log.
    pub starts_midway: bool,
}

impl Transcript {
    /// Bytes of all its texts, near enough to tell a large session from a small one.
    pub fn weight(&self) -> usize {
        let part = |part: &Part| match part {
            Part::Text(text) => text.text.len(),
            Part::Thinking(text) => text.len(),
            Part::Call(call) => call.arguments.len(),
            Part::Result(result) => result.text.len(),
            Part::Image { .. } | Part::Opaque { .. } => 0,
        };
        self.messages.iter().flat_map(|message| &message.parts).map(part).sum()
    }

    /// The part at a position, if it exists.
    pub fn part(&self, at: PartRef) -> Option<&Part> {
        self.messages.get(at.message.get())?.parts.get(at.part as usize)
    }

    /// The part at a position, to be changed.
    pub fn part_mut(&mut self, at: PartRef) -> Option<&mut Part> {
        self.messages.get_mut(at.message.get())?.parts.get_mut(at.part as usize)
    }

    /// The call of a link.
    pub fn call(&self, link: &Link) -> Option<&ToolCall> {
        match self.part(link.call)? {
            Part::Call(call) => Some(call),
            _ => None,
        }
    }

    /// The result of a link; `None` when the call was never answered.
    pub fn result(&self, link: &Link) -> Option<&ToolResult> {
        match self.part(link.result?)? {
            Part::Result(result) => Some(result),
            _ => None,
        }
    }

    /// The working directory that most of its records have; the earliest of equals.
    pub fn main_cwd(&self) -> Option<&str> {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for cwd in self.messages.iter().filter_map(|message| message.cwd.as_deref()) {
            match counts.iter_mut().find(|(known, _)| *known == cwd) {
                Some((_, count)) => *count += 1,
                None => counts.push((cwd, 1)),
            }
        }
        let most = counts.iter().map(|(_, count)| *count).max()?;
        counts.iter().find(|(_, count)| *count == most).map(|(cwd, _)| *cwd)
    }

    /// Position in [`Transcript::links`] of the link whose result stands at `at`.
    pub fn link_of_result(&self, at: PartRef) -> Option<usize> {
        // Results nearly always follow their calls closely: look backwards from the last call before `at`.
        let end = self.links.partition_point(|link| link.call < at);
        self.links.get(..end)?.iter().rposition(|link| link.result == Some(at))
    }

    /// What is wrong with it, in words: empty when the rules of this module hold.
    pub fn check(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (index, message) in self.messages.iter().enumerate() {
            if message.parts.is_empty() {
                problems.push(format!("message {index} has no parts"));
            }
            if !message.lines.is_empty() && message.lines.len() != message.parts.len() {
                problems.push(format!("message {index} has not one line for each part"));
            }
            for part in &message.parts {
                if matches!(part, Part::Text(text) if text.text.is_empty()) {
                    problems.push(format!("message {index} has an empty text part"));
                }
            }
        }
        let mut results = 0usize;
        for link in &self.links {
            if self.call(link).is_none() {
                problems.push(format!("link at message {} names no call", link.call.message));
            }
            if let Some(at) = link.result {
                results += 1;
                if self.result(link).is_none() || at < link.call {
                    problems.push(format!("link at message {} names no later result", link.call.message));
                }
            }
        }
        let count = |wanted: fn(&Part) -> bool| -> usize {
            self.messages.iter().flat_map(|message| &message.parts).filter(|part| wanted(part)).count()
        };
        if count(|part| matches!(part, Part::Call(_))) != self.links.len() {
            problems.push("calls and links differ in number".to_owned());
        }
        if count(|part| matches!(part, Part::Result(_))) != results {
            problems.push("results and answered links differ in number".to_owned());
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_few_words_is_small() {
        assert_eq!((size_of::<Message>(), size_of::<Part>()), (88, 32));
        assert_eq!((size_of::<ToolCall>(), size_of::<ToolResult>(), size_of::<Link>()), (56, 64, 20));
    }
}
