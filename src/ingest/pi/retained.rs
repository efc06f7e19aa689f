//! Kept messages that a compaction entry holds itself. Newer logs write them there as the model got them, without ids, in
//! place of the id of the first one: they are known again by what they say.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::transcript::{Message, MessageIdx, MessageSet};

/// Messages of the conversation by what they say; each is hashed once, however many compactions there are.
#[derive(Debug, Default)]
pub(super) struct Known {
    by_key: FxHashMap<u64, Vec<usize>>,
    seen: usize,
}

impl Known {
    /// The messages that are retained, ascending, and how many of them the conversation does not hold.
    pub(super) fn find(&mut self, messages: &[Message], retained: &[Message]) -> (MessageSet, usize) {
        for (at, message) in messages.iter().enumerate().skip(self.seen) {
            self.by_key.entry(key(message)).or_default().push(at);
        }
        self.seen = messages.len();
        let mut found = Vec::with_capacity(retained.len());
        let mut end = messages.len();
        // From the end, for what stays is the newest: of equal messages the last one in front of those behind it.
        for message in retained.iter().rev() {
            let same = self.by_key.get(&key(message)).map(Vec::as_slice).unwrap_or_default();
            let before = same.partition_point(|at| *at < end);
            if let Some(at) = before.checked_sub(1).and_then(|last| same.get(last)) {
                found.push(MessageIdx::new(*at));
                end = *at;
            }
        }
        let unknown = retained.len() - found.len();
        (found.into_iter().rev().collect(), unknown)
    }
}

fn key(message: &Message) -> u64 {
    let mut hasher = FxHasher::default();
    message.role.hash(&mut hasher);
    crate::ingest::repeats::hash_parts(message, &mut hasher);
    hasher.finish()
}
