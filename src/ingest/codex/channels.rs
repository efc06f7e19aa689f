//! Which events say what no response item says.
//!
//! Messages stand in a log twice, as items and as events; rollouts of some versions hold events alone, and a log may be strung
//! together of both. So it is decided message by message: an event is only a copy where an item has the same text, or where an item
//! beside it, with nothing of the other side between them, has no event of its own (what the client put around a prompt is in the item
//! only). Thoughts come in pieces: an event is a copy where an item says it, or where its turn has items of thoughts.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::prompts::user_parts;
use super::{Entry, Kind, item_type};
use crate::ingest::json::{items, text};
use crate::ingest::value::Value;
use crate::transcript::{Part, Text};

/// The positions of the events that stand in for items.
pub(super) fn only_told(entries: &[Entry]) -> FxHashSet<usize> {
    let mut found = FxHashSet::default();
    messages(entries, "user", "user_message", ends_prompts, &mut found);
    messages(entries, "assistant", "agent_message", ends_replies, &mut found);
    thoughts(entries, &mut found);
    found
}

/// True for a message of this role among the items.
fn is_message(entry: &Entry, role: &str) -> bool {
    entry.kind == Kind::Item
        && item_type(&entry.payload) == "message"
        && text(&entry.payload, "role") == Some(role)
}

fn is_event(entry: &Entry, kind: &str) -> bool {
    entry.kind == Kind::Event && text(&entry.payload, "type") == Some(kind)
}

/// True for what parts a prompt from the ones behind it.
fn ends_prompts(entry: &Entry) -> bool {
    match entry.kind {
        Kind::Meta | Kind::Compacted => true,
        Kind::Item => item_type(&entry.payload) != "message" || is_message(entry, "assistant"),
        _ => false,
    }
}

/// True for what parts a reply from the ones behind it.
fn ends_replies(entry: &Entry) -> bool {
    match entry.kind {
        Kind::Meta | Kind::Compacted => true,
        Kind::Item => item_type(&entry.payload).ends_with("_output") || is_message(entry, "user"),
        _ => is_event(entry, "user_message"),
    }
}

/// The texts that a message may be known by: each of its blocks, and all of them.
fn texts(payload: &Value) -> Vec<String> {
    let blocks = items(payload, "content").iter().filter_map(|block| text(block, "text"));
    let mut texts: Vec<String> = text(payload, "content").into_iter().chain(blocks).map(plain).collect();
    if texts.len() > 1 {
        texts.push(plain(&texts.join("\n")));
    }
    texts.retain(|text| !text.is_empty());
    texts.dedup();
    texts
}

fn plain(text: &str) -> String {
    text.trim().to_owned()
}

/// True when a person wrote some of it.
fn is_typed(payload: &Value) -> bool {
    let content = payload.get("content").cloned().unwrap_or_default();
    user_parts(content, false).iter().any(|part| !matches!(part, Part::Text(Text { injected: true, .. })))
}

fn messages(
    entries: &[Entry],
    role: &str,
    event: &str,
    ends: fn(&Entry) -> bool,
    found: &mut FxHashSet<usize>,
) {
    let mut stretch = 0usize;
    let mut told: Vec<bool> = Vec::new();
    let mut by_text: FxHashMap<String, VecDeque<usize>> = FxHashMap::default();
    let mut written: Vec<(usize, &Value)> = Vec::new();
    let mut events: Vec<(usize, usize, String)> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        if ends(entry) {
            stretch += 1;
        }
        if is_message(entry, role) {
            for text in texts(&entry.payload) {
                by_text.entry(text).or_default().push_back(told.len());
            }
            told.push(false);
            written.push((stretch, &entry.payload));
        } else if is_event(entry, event) {
            let said = plain(text(&entry.payload, "message").unwrap_or_default());
            events.push((at, stretch, said));
        }
    }
    events.retain(|(_, _, said)| {
        let item = by_text.get_mut(said).and_then(VecDeque::pop_front);
        if let Some(told) = item.and_then(|item| told.get_mut(item)) {
            *told = true;
        }
        item.is_none() && !said.is_empty()
    });
    if events.is_empty() {
        return;
    }
    // Items of each stretch that no event tells.
    let mut left: FxHashMap<usize, usize> = FxHashMap::default();
    for ((stretch, payload), _) in written.iter().zip(&told).filter(|(_, told)| !**told) {
        if role != "user" || is_typed(payload) {
            *left.entry(*stretch).or_default() += 1;
        }
    }
    for (at, stretch, _) in events {
        match left.get_mut(&stretch).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            None => {
                found.insert(at);
            }
        }
    }
}

fn thoughts(entries: &[Entry], found: &mut FxHashSet<usize>) {
    let mut turn = 0usize;
    let mut thinking: FxHashSet<usize> = FxHashSet::default();
    let mut said: FxHashSet<String> = FxHashSet::default();
    let mut events = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        if entry.kind == Kind::Meta || is_message(entry, "user") || is_event(entry, "user_message") {
            turn += 1;
        } else if entry.kind == Kind::Item && item_type(&entry.payload) == "reasoning" {
            thinking.insert(turn);
            let pieces = ["summary", "content"].into_iter().flat_map(|key| items(&entry.payload, key));
            said.extend(pieces.filter_map(|piece| text(piece, "text")).map(plain));
        } else if is_event(entry, "agent_reasoning") {
            events.push((at, turn, plain(text(&entry.payload, "text").unwrap_or_default())));
        }
    }
    events.retain(|(_, turn, text)| !thinking.contains(turn) && !said.contains(text));
    found.extend(events.into_iter().map(|(at, ..)| at));
}
