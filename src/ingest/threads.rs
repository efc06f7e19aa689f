//! Conversations out of requests that each repeat all that was said before: every message is read once.
//!
//! A request goes on with the conversation whose every part it begins with, system prompts and reasoning left aside (agents
//! hand a conversation on under another prompt, and not every request carries the reasoning along). What it adds is
//! appended. A request that goes on with none begins one.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::build;
use super::links::Draft;
use super::sink::Sink;
use crate::transcript::{Message, Part, Role};

/// The conversations found so far.
#[derive(Debug, Default)]
pub(super) struct Threads(Vec<Thread>);

/// One conversation, with a key for each part of it.
#[derive(Debug)]
struct Thread {
    draft: Draft,
    keys: Vec<u64>,
}

impl Threads {
    /// Adds a request with its reply; `new` makes the session when it begins one. The conversation's number.
    pub(super) fn add(&mut self, messages: Vec<Message>, new: impl FnOnce() -> Draft) -> usize {
        let keys: Vec<u64> = messages.iter().flat_map(keys).collect();
        let known = |thread: &Thread| !thread.keys.is_empty() && keys.starts_with(&thread.keys);
        let at = self.0.iter().rposition(known).unwrap_or_else(|| {
            self.0.push(Thread { draft: new(), keys: Vec::new() });
            self.0.len() - 1
        });
        if let Some(thread) = self.0.get_mut(at) {
            let known = thread.keys.len();
            thread.append(messages, known);
        }
        at
    }

    /// Appends messages that no request repeats.
    pub(super) fn extend(&mut self, at: usize, messages: Vec<Message>) {
        if let Some(thread) = self.0.get_mut(at) {
            thread.append(messages, 0);
        }
    }

    /// The session of a conversation, to be described.
    pub(super) fn draft(&mut self, at: usize) -> Option<&mut Draft> {
        self.0.get_mut(at).map(|thread| &mut thread.draft)
    }

    /// The sessions of all conversations.
    pub(super) fn drafts(&mut self) -> impl Iterator<Item = &mut Draft> {
        self.0.iter_mut().map(|thread| &mut thread.draft)
    }

    /// Hands over all conversations.
    pub(super) fn finish(self, out: &mut Sink) {
        for thread in self.0 {
            out.finish_draft(thread.draft);
        }
    }
}

impl Thread {
    /// Appends messages without the first `known` parts that have keys.
    fn append(&mut self, messages: Vec<Message>, known: usize) {
        let mut left = known;
        // Another prompt stands in front of what is said next, not between calls and their results.
        let mut prompts = Vec::new();
        for mut message in messages {
            if message.role == Role::System {
                let said = |other: &Message| other.role == Role::System && other.parts == message.parts;
                if !self.draft.messages.iter().any(said) {
                    prompts.push(message);
                }
                continue;
            }
            let known = left;
            let mut parts = Vec::with_capacity(message.parts.len());
            // Parts without a key belong to the one behind them.
            let mut waiting = Vec::new();
            for part in message.parts.drain(..) {
                let Some(key) = key(message.role, &part) else {
                    waiting.push(part);
                    continue;
                };
                if left > 0 {
                    left -= 1;
                    waiting.clear();
                } else {
                    self.keys.push(key);
                    parts.append(&mut waiting);
                    parts.push(part);
                }
            }
            if known == 0 {
                parts.append(&mut waiting);
            }
            message.parts = build::parts(parts);
            message.lines.clear();
            if !message.parts.is_empty() {
                if !message.parts.iter().any(|part| matches!(part, Part::Result(_))) {
                    self.draft.messages.append(&mut prompts);
                }
                self.draft.messages.push(message);
            }
        }
        self.draft.messages.append(&mut prompts);
    }
}

fn keys(message: &Message) -> impl Iterator<Item = u64> {
    message.parts.iter().filter_map(|part| key(message.role, part))
}

/// What tells a part from others; `None` for what requests do not repeat faithfully.
fn key(role: Role, part: &Part) -> Option<u64> {
    let mut hasher = FxHasher::default();
    match part {
        _ if role == Role::System => return None,
        Part::Text(text) => (role as u8, text.text.trim()).hash(&mut hasher),
        Part::Call(call) => ("call", &call.id, &call.name).hash(&mut hasher),
        Part::Result(result) => ("result", &result.call_id).hash(&mut hasher),
        Part::Image { bytes } => ("image", bytes).hash(&mut hasher),
        Part::Thinking(_) | Part::Opaque { .. } => return None,
    }
    Some(hasher.finish())
}
