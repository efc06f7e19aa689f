//! A session as a modelled agent holds it: the entries that its own rules see.
//!
//! Systems differ in what one message is: one holds all calls of a reply inside it, another makes each a message of its
//! own, a third puts all results of a round into one. [`entries`] makes the entries of a system from a [`Transcript`]
//! under its [`MessageRules`]; estimators, cut rules, pair repair and serializers work on entries only, so that what the
//! conformance tests feed them is what a replay feeds them.

pub mod json;
pub mod text;

use crate::transcript::{MessageIdx, Part, PartRef, Role as Speaker, Transcript};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::borrow::Cow;

/// How a system splits a conversation into messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct MessageRules {
    /// Where tool calls stand.
    #[serde(default)]
    pub calls: Calls,
    /// How results are grouped.
    #[serde(default)]
    pub results: Results,
    /// Where system messages stand.
    #[serde(default)]
    pub system: Systems,
}

/// Where system messages stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Systems {
    /// Beside the session: put before it when a request is made.
    #[default]
    Apart,
    /// In the session, like any other message.
    Inside,
}

/// Where tool calls stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Calls {
    /// In the message of the reply.
    #[default]
    Inside,
    /// Each call is a message of its own, behind the text of the reply.
    Apart,
}

/// How results are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Results {
    /// Each result is a message of its own.
    #[default]
    Each,
    /// One message holds all results between two replies.
    Round,
}

/// What an entry is in the session of its harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A message.
    Message,
    /// A compaction: its summary stands in [`Entry::blocks`], the rest in [`Entry::compaction`].
    Compaction,
    /// The summary of a branch that was left.
    Branch,
    /// A message that an extension put in as an entry of its own.
    CustomMessage,
    /// Anything else that a session file holds: labels, model changes, names.
    Meta,
}

/// Who speaks in an entry, as its harness has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// System prompt.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// Results of tools.
    Tool,
    /// A command that the person ran and its output: two text blocks.
    Shell,
    /// Put in by an extension; [`Entry::label`] names its type.
    Custom,
    /// Summary of a branch, as a message.
    Branch,
    /// Summary of a compaction, as a message.
    Summary,
    /// A role that the harness does not know.
    Unknown,
}

/// One block of an entry.
#[derive(Debug, Clone, PartialEq)]
pub enum Block<'a> {
    /// Text; may be empty where a vector or a log has it so.
    Text(Cow<'a, str>),
    /// Reasoning.
    Thinking(Cow<'a, str>),
    /// A call.
    Call(Call<'a>),
    /// A result.
    Result(Outcome<'a>),
    /// An image.
    Image {
        /// Told to be of low detail.
        low: bool,
        /// Images in this block (one harness holds lists of them).
        count: u32,
    },
    /// Anything that counts for nothing in any estimate (audio, opaque blocks).
    Other,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call<'a> {
    /// Its id.
    pub id: Cow<'a, str>,
    /// Name of the tool.
    pub name: Cow<'a, str>,
    /// Arguments as JSON text.
    pub arguments: Cow<'a, str>,
    /// Kind of the tool, where the harness keeps one (`read`, `write`, `edit`, ...).
    pub kind: Option<Cow<'a, str>>,
}

/// A tool result.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome<'a> {
    /// Id of the call.
    pub call_id: Option<Cow<'a, str>>,
    /// Name of the tool, where the result holds it.
    pub name: Option<Cow<'a, str>>,
    /// Its text blocks.
    pub texts: Vec<Cow<'a, str>>,
    /// Images in it.
    pub images: Vec<Image>,
    /// It failed.
    pub error: bool,
}

/// An image in a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Image {
    /// Told to be of low detail.
    pub low: bool,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// As it should.
    #[default]
    Done,
    /// At the limit of its length.
    Length,
    /// The person broke it off.
    Aborted,
    /// With an error.
    Error,
}

/// Usage of a reply as its harness recorded it: the fields are kept apart, systems add them up differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reported {
    /// Prompt tokens outside any cache.
    pub input: u64,
    /// Reply tokens.
    pub output: u64,
    /// Prompt tokens read from a cache.
    pub cache_read: u64,
    /// Prompt tokens written to a cache.
    pub cache_write: u64,
    /// A total that the provider told; 0 where it told none.
    pub total: u64,
}

/// How a command of the person ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shell<'a> {
    /// Its exit code, where it has one.
    pub code: Option<i64>,
    /// The person broke it off.
    pub cancelled: bool,
    /// The file that holds all of its output, where the entry does not.
    pub rest: Option<Cow<'a, str>>,
}

/// What a compaction entry holds beside its summary.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Compaction<'a> {
    /// Id of the first entry that it kept.
    pub first_kept: Option<Cow<'a, str>>,
    /// Tokens before it.
    pub tokens_before: u64,
    /// Lists of files kept beside the summary: read, modified.
    pub lists: Option<(Vec<String>, Vec<String>)>,
    /// Made by an extension.
    pub from_hook: bool,
}

/// One entry of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<'a> {
    /// Its id; empty where the harness has none.
    pub id: Cow<'a, str>,
    /// What it is.
    pub kind: Kind,
    /// Who speaks; of no meaning for [`Kind::Meta`].
    pub role: Role,
    /// Content in order. No block at all is a message whose content is missing.
    pub blocks: Vec<Block<'a>>,
    /// Type of a custom message or of a meta entry; name of a role that the harness does not know.
    pub label: Cow<'a, str>,
    /// Usage of a reply.
    pub usage: Option<Reported>,
    /// Why a reply ended.
    pub stop: Stop,
    /// When it was made, in milliseconds; 0 where unknown.
    pub time: i64,
    /// The person kept it from the model.
    pub hidden: bool,
    /// Of a compaction entry, and of a summary message whose harness keeps its lists as metadata.
    pub compaction: Option<Compaction<'a>>,
    /// Of a command of the person: how it ended.
    pub shell: Option<Shell<'a>>,
    /// The message of the transcript that it stems from; none for generated entries.
    pub source: Option<MessageIdx>,
}

impl<'a> Entry<'a> {
    /// A message of one role without anything else.
    pub fn message(role: Role, blocks: Vec<Block<'a>>) -> Self {
        Self {
            id: Cow::Borrowed(""),
            kind: Kind::Message,
            role,
            blocks,
            label: Cow::Borrowed(""),
            usage: None,
            stop: Stop::Done,
            time: 0,
            hidden: false,
            compaction: None,
            shell: None,
            source: None,
        }
    }

    /// A message of one text.
    pub fn text(role: Role, text: impl Into<Cow<'a, str>>) -> Self {
        Self::message(role, vec![Block::Text(text.into())])
    }

    /// Its calls in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call<'a>> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Its results in order.
    pub fn results(&self) -> impl Iterator<Item = &Outcome<'a>> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Result(result) => Some(result),
            _ => None,
        })
    }

    /// Its text blocks in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_ref()),
            _ => None,
        })
    }

    /// A call or a result: what a cut may not begin with where calls are messages of their own.
    pub fn is_tool(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::Call(_) | Block::Result(_)))
    }
}

/// The entries of a transcript under the rules of one system, in order.
pub fn entries<'a>(transcript: &'a Transcript, rules: MessageRules) -> Vec<Entry<'a>> {
    let mut out: Vec<Entry<'a>> = Vec::with_capacity(transcript.messages.len());
    let answers: FxHashMap<PartRef, &str> = transcript
        .links
        .iter()
        .filter_map(|link| Some((link.result?, transcript.call(link)?.name.as_str())))
        .collect();
    for (at, message) in transcript.messages.iter().enumerate() {
        if message.role == Speaker::System && rules.system == Systems::Apart {
            continue;
        }
        let source = Some(MessageIdx::new(at));
        let first = out.len();
        let role = match message.role {
            Speaker::System => Role::System,
            Speaker::User => Role::User,
            Speaker::Assistant => Role::Assistant,
            Speaker::Tool => Role::Tool,
        };
        let is_tool = |part: &Part| matches!(part, Part::Call(_) | Part::Result(_));
        let parts = |tools: bool| {
            let wanted = move |(_, part): &(usize, &Part)| is_tool(part) == tools;
            message.parts.iter().enumerate().filter(wanted).map(|(position, part)| {
                let here = PartRef { message: MessageIdx::new(at), part: position as u32 };
                block(part, answers.get(&here).copied())
            })
        };
        let apart = role == Role::Tool || rules.calls == Calls::Apart;
        if role == Role::Tool
            && rules.results == Results::Round
            && let Some(last) = out.last_mut().filter(|last| last.role == Role::Tool)
        {
            last.blocks.extend(parts(false).chain(parts(true)));
        } else if apart && !(role == Role::Tool && rules.results == Results::Round) {
            let texts: Vec<Block<'a>> = parts(false).collect();
            if !texts.is_empty() {
                out.push(Entry::message(role, texts));
            }
            out.extend(parts(true).map(|block| Entry::message(role, vec![block])));
        } else {
            let mut blocks = Vec::with_capacity(message.parts.len());
            blocks.extend(parts(false).chain(parts(true)));
            out.push(Entry::message(role, blocks));
        }
        for entry in out.get_mut(first..).unwrap_or_default() {
            entry.source = source;
        }
        if let Some(last) = out.get_mut(first..).and_then(<[Entry<'a>]>::last_mut) {
            last.usage = message.usage.as_ref().map(|usage| Reported {
                input: usage.input.saturating_sub(usage.cache_read + usage.cache_write),
                output: usage.output,
                cache_read: usage.cache_read,
                cache_write: usage.cache_write,
                total: 0,
            });
        }
    }
    out
}

/// A part as a block. A result takes its name from its call.
fn block<'a>(part: &'a Part, called: Option<&'a str>) -> Block<'a> {
    match part {
        Part::Text(text) => Block::Text(Cow::Borrowed(&text.text)),
        Part::Thinking(text) => Block::Thinking(Cow::Borrowed(text)),
        Part::Call(call) => Block::Call(Call {
            id: Cow::Borrowed(&call.id),
            name: Cow::Borrowed(&call.name),
            arguments: Cow::Borrowed(&call.arguments),
            kind: None,
        }),
        Part::Result(result) => Block::Result(Outcome {
            call_id: Some(Cow::Borrowed(&result.call_id)),
            name: called.map(Cow::Borrowed),
            texts: vec![Cow::Borrowed(&result.text)],
            images: (0..result.images).map(|_| Image { low: false }).collect(),
            error: result.outcome == crate::transcript::Outcome::Failed,
        }),
        Part::Image { .. } => Block::Image { low: false, count: 1 },
        Part::Opaque { .. } => Block::Other,
    }
}
