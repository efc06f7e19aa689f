//! Copies that a compaction sends again: after it, Codex may log the project instructions, the environment and its
//! summary once more. In the conversation as it was without compaction they do not exist.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::transcript::{Message, MessageIdx, Part, Role};

/// What may come again between a compaction and the next reply.
#[derive(Debug)]
pub(super) struct Resent {
    /// Between a compaction and the next reply.
    open: bool,
    /// Messages up to `seen` by their keys: each is hashed once, however many compactions there are.
    known: FxHashMap<u64, Vec<usize>>,
    /// Parts of replies and outputs by their keys, with the newest message that holds them.
    pieces: FxHashMap<u64, usize>,
    seen: usize,
    summary: Option<String>,
    /// The log tells typed prompts by an event each.
    has_echoes: bool,
}

impl Resent {
    pub(super) fn new(has_echoes: bool) -> Self {
        let (known, pieces) = (FxHashMap::default(), FxHashMap::default());
        Self { open: false, known, pieces, seen: 0, summary: None, has_echoes }
    }

    /// A compaction with this summary after these messages.
    pub(super) fn open(&mut self, messages: &[Message], summary: Option<String>) {
        for (at, message) in messages.iter().enumerate().skip(self.seen) {
            if matches!(message.role, Role::System | Role::User) {
                self.known.entry(key(message.role, &message.parts)).or_default().push(at);
            } else {
                self.pieces.extend(message.parts.iter().filter_map(piece_key).map(|key| (key, at)));
            }
        }
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
        self.known.contains_key(&key(role, parts))
    }

    /// The first message that says the same, of those not yet used.
    pub(super) fn find(&self, role: Role, parts: &[Part], used: &FxHashSet<usize>) -> Option<usize> {
        self.known.get(&key(role, parts))?.iter().copied().find(|at| !used.contains(at))
    }
}

/// Replies and outputs of which a replacement history holds items.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// Keys of what is there, by message.
    found: BTreeMap<usize, FxHashSet<u64>>,
}

impl Pieces {
    /// Notes the parts of one item; false where they stand in no message before.
    pub(super) fn note(&mut self, parts: &[Part], known: &Resent) -> bool {
        let keys: Vec<u64> = parts.iter().filter_map(piece_key).collect();
        let Some(at) = keys.first().and_then(|key| known.pieces.get(key)) else { return false };
        if !keys.iter().all(|key| known.pieces.get(key) == Some(at)) {
            return false;
        }
        self.found.entry(*at).or_default().extend(keys);
        true
    }

    /// The messages of which every text, call and output is there; the other ones stayed in part only.
    pub(super) fn whole(&self, messages: &[Message]) -> FxHashSet<usize> {
        let whole = |(at, keys): &(&usize, &FxHashSet<u64>)| {
            let mut parts = messages.get(**at).into_iter().flat_map(|message| &message.parts);
            parts.all(|part| piece_key(part).is_none_or(|key| keys.contains(&key)) && !is_nameless(part))
        };
        self.found.iter().filter(whole).map(|(at, _)| *at).collect()
    }
}

/// What a text, call or output is known by: what it says, or its id.
fn piece_key(part: &Part) -> Option<u64> {
    let mut hasher = FxHasher::default();
    std::mem::discriminant(part).hash(&mut hasher);
    match part {
        Part::Text(text) => text.text.hash(&mut hasher),
        Part::Call(call) if !call.id.is_empty() => call.id.hash(&mut hasher),
        Part::Result(result) if !result.call_id.is_empty() => result.call_id.hash(&mut hasher),
        _ => return None,
    }
    Some(hasher.finish())
}

/// True for a call or output that no id tells from others.
fn is_nameless(part: &Part) -> bool {
    matches!(part, Part::Call(_) | Part::Result(_)) && piece_key(part).is_none()
}

/// Characters by which a message that was cut short is known again.
const ALIKE: usize = 40;

/// The message that a text is the beginning of, or a whole part of, and that text.
pub(super) fn find_cut(messages: &[Message], role: Role, parts: &[Part]) -> Option<(MessageIdx, String)> {
    let whole = joined(parts);
    let cut = whole.char_indices().nth(ALIKE)?.0;
    let start = whole.get(..cut)?;
    let begins = |part: &Part| matches!(part, Part::Text(text) if text.text.starts_with(start));
    let at = messages.iter().rposition(|message| message.role == role && message.parts.iter().any(begins))?;
    Some((MessageIdx::new(at), whole))
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
