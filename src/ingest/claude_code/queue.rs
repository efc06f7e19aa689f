//! Messages that the user typed while the agent worked.
//!
//! They wait in a queue, which the log tells in records without text of their own kind: `enqueue` with what was typed; then
//! `remove` where the message was handed to the agent between two of its requests, `dequeue` where it began the next turn, or
//! `popAll` where the user took it back to edit it. Newer versions also log what was handed over: as an attachment, or as a
//! request. Older ones do not, and there the message stands nowhere else. It is read once, where the agent got it: behind the
//! results of the calls that ran, in front of the next reply.
//!
//! Not the user's words: what the harness queues for itself (notes on tasks), and commands to the harness (`/model`).

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use super::{Kind, Node};
use crate::diagnostic::Severity;
use crate::ingest::blocks::{self, Speaker};
use crate::ingest::injected;
use crate::ingest::json::text;
use crate::ingest::sink::Sink;
use crate::transcript::{Outcome, Part};

/// A message in the queue.
#[derive(Debug)]
pub(super) struct Queued {
    /// 1-based line of the record that holds its text.
    pub(super) line: u32,
    /// Text or content blocks.
    pub(super) content: Value,
}

/// What waits, by session.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: FxHashMap<String, VecDeque<Queued>>,
}

impl Queue {
    /// One record of the queue: the message that the agent got by it, if the user typed one.
    pub(super) fn operation(
        &mut self,
        session: &str,
        operation: &str,
        content: Value,
        line: u32,
    ) -> Option<Queued> {
        let waiting = self.waiting.entry(session.to_owned()).or_default();
        if operation == "enqueue" {
            if !content.is_null() {
                waiting.push_back(Queued { line, content });
            }
            return None;
        }
        let named = waiting.iter().position(|queued| queued.content == content);
        let taken = match operation {
            // Newer versions repeat what was taken; where the queue was filled before the log begins, that is all there is.
            "remove" | "dequeue" if !content.is_null() => {
                named.and_then(|at| waiting.remove(at)).or(Some(Queued { line, content }))
            }
            // Tasks may be struck off the queue in silence: what a person typed is what the agent was handed.
            "remove" => {
                let at = waiting.iter().position(|queued| is_typed(&queued.content)).unwrap_or_default();
                waiting.remove(at)
            }
            "dequeue" => waiting.pop_front(),
            "popAll" => {
                match named {
                    Some(at) => drop(waiting.remove(at)),
                    None => waiting.retain(|queued| !is_typed(&queued.content)),
                }
                None
            }
            _ => None,
        };
        taken.filter(|queued| is_typed(&queued.content))
    }

    /// Notes messages that, by the log, nobody got: the session ended, or the record of it is lost.
    pub(super) fn finish(self, nodes: &[Node], out: &mut Sink) {
        let mut left: Vec<Queued> = self.waiting.into_values().flatten().collect();
        left.retain(|queued| is_typed(&queued.content));
        left.sort_by_key(|queued| queued.line);
        let mut records = Records::of(nodes, !left.is_empty());
        for queued in left {
            if !records.hold(&queued.content, queued.line) {
                let text =
                    "a message typed while the agent worked, which the log does not say it got; not read";
                out.note(queued.line, "queued-message", Severity::Note, text);
            }
        }
    }
}

/// Takes out the queued messages that stand in the log as a request or an attachment, too.
pub(super) fn drop_repeated(nodes: &mut Vec<Node>) {
    let said = |node: &Node| match node.kind {
        Kind::Queued { said } => Some(said),
        _ => None,
    };
    let mut records = Records::of(nodes, nodes.iter().any(|node| said(node).is_some()));
    nodes.retain(|node| said(node).is_none_or(|line| !records.hold(&node.body, line)));
}

/// Records of what the user said, to look queued messages up in.
struct Records {
    /// Line and text.
    texts: Vec<(u32, String)>,
    /// Record and message: a record stands for one message of the same words.
    used: FxHashSet<(usize, String)>,
}

impl Records {
    fn of(nodes: &[Node], wanted: bool) -> Self {
        let spoken = |node: &Node| {
            let key = match node.kind {
                Kind::User => "content",
                Kind::Attachment if text(&node.body, "type") == Some("queued_command") => "prompt",
                _ => return None,
            };
            Some((node.line, plain(node.body.get(key)?))).filter(|(_, text)| !text.is_empty())
        };
        let texts = if wanted { nodes.iter().filter_map(spoken).collect() } else { Vec::new() };
        Self { texts, used: FxHashSet::default() }
    }

    /// True when a record behind line `said` holds the message and does not stand for another one.
    fn hold(&mut self, content: &Value, said: u32) -> bool {
        let wanted = plain(content);
        let holding =
            self.texts.iter().enumerate().filter(|(_, (line, text))| *line > said && holds(text, &wanted));
        let free = holding.map(|(at, _)| (at, wanted.clone())).find(|key| !self.used.contains(key));
        free.is_some_and(|key| self.used.insert(key))
    }
}

/// All text of a content, trimmed.
fn plain(content: &Value) -> String {
    match content {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| text(block, "text")).collect();
            texts.join("\n").trim().to_owned()
        }
        _ => String::new(),
    }
}

/// True when whole lines of a text, or all that a tag holds in it, are the message: several queued ones may become one request.
fn holds(text: &str, wanted: &str) -> bool {
    text.match_indices(wanted).any(|(at, _)| {
        let (before, after) =
            (text.get(..at).unwrap_or_default(), text.get(at + wanted.len()..).unwrap_or_default());
        (before.is_empty() || before.ends_with(['\n', '>']))
            && (after.is_empty() || after.starts_with(['\n', '\r', '<']))
    })
}

/// The message as parts.
pub(super) fn parts(content: Value) -> Vec<Part> {
    blocks::parts(content, Speaker::User { meta: false }, Outcome::Unknown)
}

/// True when a person typed it, and to the agent.
fn is_typed(content: &Value) -> bool {
    let text = plain(content);
    let task = || serde_json::from_str::<Value>(&text).is_ok_and(|it| it.get("task_id").is_some());
    if text.is_empty() || is_command(&text) || text.starts_with('{') && task() {
        return false;
    }
    let mut parts = Vec::new();
    injected::push_user_text(text, false, &mut parts);
    parts.iter().any(|part| matches!(part, Part::Text(text) if !text.injected))
}

/// True for a command to the harness such as `/compact`; a path has further slashes.
fn is_command(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or_default();
    word.strip_prefix('/').is_some_and(|name| !name.is_empty() && !name.contains('/'))
}
