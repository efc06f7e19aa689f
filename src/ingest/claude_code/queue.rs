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
use std::hash::BuildHasher as _;

use crate::ingest::value::Value;
use rustc_hash::{FxBuildHasher, FxHashMap};

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
    /// Position of that record in the file.
    pub(super) at: u32,
    /// Text or content blocks.
    pub(super) content: Value,
}

/// What waits, by session.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: FxHashMap<String, VecDeque<Queued>>,
}

impl Queue {
    /// One record of the queue, given by line and position: the message that the agent got by it, if the user typed one.
    pub(super) fn operation(
        &mut self,
        session: &str,
        operation: &str,
        content: Value,
        (line, at): (u32, u32),
    ) -> Option<Queued> {
        let waiting = self.waiting.entry(session.to_owned()).or_default();
        if operation == "enqueue" {
            if !content.is_null() {
                waiting.push_back(Queued { line, at, content });
            }
            return None;
        }
        let named = waiting.iter().position(|queued| queued.content == content);
        let taken = match operation {
            // Newer versions repeat what was taken; where the queue was filled before the log begins, that is all there is.
            "remove" | "dequeue" if !content.is_null() => {
                named.and_then(|at| waiting.remove(at)).or(Some(Queued { line, at, content }))
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
        let waiting = self.waiting.into_iter();
        let mut left: Vec<(String, Queued)> = waiting
            .flat_map(|(session, all)| all.into_iter().map(move |one| (session.clone(), one)))
            .collect();
        left.retain(|(_, queued)| is_typed(&queued.content));
        left.sort_by_key(|(_, queued)| queued.at);
        let mut records = Sessions::of(nodes, !left.is_empty());
        for (session, queued) in left {
            if !records.hold(&session, &queued.content, queued.at) {
                let text =
                    "a message typed while the agent worked, which the log does not say it got; not read";
                out.note(queued.line, "queued-message", Severity::Note, text);
            }
        }
    }
}

/// Takes out the queued messages that stand in the log as a request or an attachment, too.
pub(super) fn drop_repeated(nodes: &mut Vec<Node>) {
    let since = |node: &Node| match node.kind {
        Kind::Queued { since, .. } => Some(since),
        _ => None,
    };
    let mut records = Sessions::of(nodes, nodes.iter().any(|node| since(node).is_some()));
    nodes.retain(|node| since(node).is_none_or(|at| !records.hold(&node.session, &node.body, at)));
}

/// Records of what the user said, by session.
struct Sessions(FxHashMap<String, Records>);

impl Sessions {
    fn of(nodes: &[Node], wanted: bool) -> Self {
        let mut texts: FxHashMap<&str, Vec<(u32, String)>> = FxHashMap::default();
        for node in nodes.iter().filter(|_| wanted) {
            let key = match node.kind {
                Kind::User => "content",
                Kind::Attachment if text(&node.body, "type") == Some("queued_command") => "prompt",
                _ => continue,
            };
            if let Some(said) = node.body.get(key).map(plain).filter(|text| !text.is_empty()) {
                texts.entry(&node.session).or_default().push((node.at, said));
            }
        }
        Self(texts.into_iter().map(|(session, texts)| (session.to_owned(), Records::new(texts))).collect())
    }

    /// True when a record of the session behind position `said` holds the message and does not stand for another one.
    fn hold(&mut self, session: &str, content: &Value, said: u32) -> bool {
        self.0.get_mut(session).is_some_and(|records| records.hold(content, said))
    }
}

/// Records of what the user said in a session, to look queued messages up in.
struct Records {
    /// Position and text.
    texts: Vec<(u32, String)>,
    /// Records by how a message in them may begin: a line, or the beginning of what a tag holds.
    starts: FxHashMap<u64, Vec<usize>>,
    /// By message, the positions of records that hold it and stand for no other of the same words yet, in order.
    free: FxHashMap<String, Vec<u32>>,
}

impl Records {
    fn new(texts: Vec<(u32, String)>) -> Self {
        let mut starts: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        for (at, (_, text)) in texts.iter().enumerate() {
            let begins = text.match_indices(['\n', '>']).map(|(mark, _)| mark + 1);
            for begin in std::iter::once(0).chain(begins) {
                let tagged = begin > 0 && text.as_bytes().get(begin - 1) == Some(&b'>');
                let known = starts.entry(start(text.get(begin..).unwrap_or(""), tagged)).or_default();
                if known.last() != Some(&at) {
                    known.push(at);
                }
            }
        }
        Self { texts, starts, free: FxHashMap::default() }
    }

    /// True when a record behind position `said` holds the message and does not stand for another one.
    fn hold(&mut self, content: &Value, said: u32) -> bool {
        let wanted = plain(content);
        let Self { texts, starts, free } = self;
        let lines = free.entry(wanted).or_insert_with_key(|wanted| {
            let keys = [start(wanted, false), start(wanted, true)];
            let mut places: Vec<usize> =
                keys.iter().filter_map(|key| starts.get(key)).flatten().copied().collect();
            places.sort_unstable();
            places.dedup();
            let found =
                places.into_iter().filter_map(|at| texts.get(at)).filter(|(_, text)| holds(text, wanted));
            let mut lines: Vec<u32> = found.map(|(line, _)| *line).collect();
            lines.sort_unstable();
            lines
        });
        let first = lines.partition_point(|line| *line <= said);
        let holds = first < lines.len();
        if holds {
            lines.remove(first);
        }
        holds
    }
}

/// How a message begins: its first line as far as a tag, of what stands in a tag no more than 64 bytes.
fn start(text: &str, tagged: bool) -> u64 {
    let text = if tagged { text.get(..text.floor_char_boundary(64)).unwrap_or("") } else { text };
    let end = text.find(['\n', '\r', '<']).unwrap_or(text.len());
    FxBuildHasher.hash_one((tagged, text.get(..end).unwrap_or("")))
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The index finds what looking into every text finds.
        #[test]
        fn each_record_behind_a_message_holds_it_once(
            texts in prop::collection::vec("(a|b|\n|<t>|</t>| ){0,8}", 0..6),
            wanted in "(a|b|<t>)(a|b|\n|<t>| ){0,3}",
            said in 0_u32..4,
        ) {
            let texts: Vec<(u32, String)> =
                (1..).zip(texts).map(|(line, text)| (line, text.trim().to_owned())).filter(|it| !it.1.is_empty()).collect();
            let wanted = wanted.trim();
            let holding = texts.iter().filter(|(line, text)| *line > said && holds(text, wanted)).count();
            let mut records = Records::new(texts);
            for _ in 0..holding {
                prop_assert!(records.hold(&Value::from(wanted), said));
            }
            prop_assert!(!records.hold(&Value::from(wanted), said));
        }
    }
}
