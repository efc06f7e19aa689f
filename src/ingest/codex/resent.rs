//! Copies that a compaction sends again: after it, Codex may log the project instructions, the environment and its
//! summary once more. In the conversation as it was without compaction they do not exist.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use crate::transcript::{Message, Part, Role};

/// What may come again between a compaction and the next reply.
#[derive(Debug)]
pub(super) struct Resent {
    /// Between a compaction and the next reply.
    open: bool,
    /// Keys of the messages up to `seen`: each message is hashed once, however many compactions there are.
    known: FxHashSet<u64>,
    seen: usize,
    summary: Option<String>,
    /// The log tells typed prompts by an event each.
    has_echoes: bool,
}

impl Resent {
    pub(super) fn new(has_echoes: bool) -> Self {
        Self { open: false, known: FxHashSet::default(), seen: 0, summary: None, has_echoes }
    }

    /// A compaction with this summary after these messages.
    pub(super) fn open(&mut self, messages: &[Message], summary: Option<String>) {
        let new = messages.get(self.seen..).unwrap_or_default();
        let sent = new.iter().filter(|message| matches!(message.role, Role::System | Role::User));
        self.known.extend(sent.map(|message| key(message.role, &message.parts)));
        self.seen = messages.len();
        self.summary = summary;
        self.open = true;
    }

    /// The model speaks again: what comes now is new.
    pub(super) fn close(&mut self) {
        self.open = false;
    }

    /// Messages were taken back: what was known of them is not.
    pub(super) fn forget(&mut self) {
        *self = Self::new(self.has_echoes);
    }

    /// True where a prompt only hands the summary to the model.
    pub(super) fn is_summary(&self, parts: &[Part]) -> bool {
        let summary = self.summary.as_deref().map(str::trim);
        summary.is_some_and(|summary| joined(parts).trim().ends_with(summary))
    }

    /// True for a copy. What a person typed again is none: `echoed` when the log has the event of a typed prompt.
    pub(super) fn repeats(&self, role: Role, parts: &[Part], echoed: bool) -> bool {
        if !self.open {
            return false;
        }
        if role == Role::User && !echoed && self.is_summary(parts) {
            return true;
        }
        let typed =
            role == Role::User && parts.iter().any(|part| !matches!(part, Part::Text(text) if text.injected));
        if typed && (echoed || !self.has_echoes) {
            return false;
        }
        self.known.contains(&key(role, parts))
    }
}

/// All text of the parts.
fn joined(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn key(role: Role, parts: &[Part]) -> u64 {
    let mut hasher = FxHasher::default();
    role.hash(&mut hasher);
    for part in parts {
        match part {
            Part::Text(text) => text.text.hash(&mut hasher),
            Part::Image { bytes } => bytes.hash(&mut hasher),
            _ => {}
        }
    }
    hasher.finish()
}
