//! Copies that a compaction sends again: after it, Codex may log the project instructions, the environment and its
//! summary once more. In the conversation as it was without compaction they do not exist.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use crate::transcript::{Message, Part, Role};

/// What may come again between a compaction and the next reply.
pub(super) struct Resent {
    known: FxHashSet<u64>,
    pub(super) summary: Option<String>,
    has_echoes: bool,
}

impl Resent {
    /// After these messages and this summary; `has_echoes` when the log tells typed prompts by an event each.
    pub(super) fn of(messages: &[Message], summary: Option<String>, has_echoes: bool) -> Self {
        let sent = messages.iter().filter(|message| matches!(message.role, Role::System | Role::User));
        Self { known: sent.map(|message| key(message.role, &message.parts)).collect(), summary, has_echoes }
    }

    /// True for a copy. What a person typed again is none: `echoed` when the log has the event of a typed prompt.
    pub(super) fn repeats(&self, role: Role, parts: &[Part], echoed: bool) -> bool {
        if let Some(summary) = self.summary.as_deref().map(str::trim)
            && role == Role::User
            && !echoed
            && joined(parts).contains(summary)
        {
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
pub(super) fn joined(parts: &[Part]) -> String {
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
