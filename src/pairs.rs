//! Calls and results as they go into a request: what a system mends, drops or makes up when a pair is not whole.
//!
//! Two of the modelled systems cut without regard to pairs and repair them when a request is built. [`repaired`] does so
//! under the rules of a system; what it drops, the model does not see.

use crate::harness::{Block, Call, Entry, Outcome, Role};
use rustc_hash::FxHashSet;
use serde::Deserialize;
use std::borrow::Cow;

/// What happens to a result whose call is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Orphans {
    /// It stays.
    #[default]
    Keep,
    /// It becomes a message of the model with whatever text it has.
    Demote,
}

/// Keep or drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It stays.
    #[default]
    Keep,
    /// It goes.
    Drop,
}

/// How pairs are repaired.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct PairRules {
    /// Before each request, calls that nothing answers later get a failed result with this text, at the end.
    #[serde(default)]
    pub unanswered: Option<String>,
    /// Results are put right behind the message of their calls, in the order of the calls; the first of an id counts,
    /// others and those of unknown calls go.
    #[serde(default)]
    pub regroup: bool,
    /// Text of the failed result for a call that has none when results are regrouped.
    #[serde(default)]
    pub placeholder: Option<String>,
    /// Messages with calls at the very end.
    #[serde(default)]
    pub trailing_calls: Fate,
    /// Results whose nearest message before them that is no result has no calls.
    #[serde(default)]
    pub orphans: Orphans,
    /// Calls without a result behind them, where there are fewer results than calls.
    #[serde(default)]
    pub surplus_calls: Fate,
    /// Said in the name of the user where the last message is not theirs; a system prompt alone is no message.
    #[serde(default)]
    pub last_word: Option<String>,
}

/// Ids of calls that no later result answers: of the newest message first, in order within one.
pub fn unanswered<'e>(entries: &'e [Entry<'_>]) -> Vec<&'e str> {
    let mut answered: FxHashSet<&str> = FxHashSet::default();
    let mut found: Vec<&str> = Vec::new();
    for entry in entries.iter().rev() {
        if entry.role == Role::Assistant {
            found.extend(
                entry.calls().map(|call| &*call.id).filter(|id| !id.is_empty() && !answered.contains(id)),
            );
        }
        answered.extend(entry.results().filter_map(|result| result.call_id.as_deref()));
    }
    found
}

/// A failed result made up by the harness.
fn made_up<'a>(call_id: &str, text: &str) -> Entry<'a> {
    Entry::message(
        Role::Tool,
        vec![Block::Result(Outcome {
            call_id: Some(Cow::Owned(call_id.to_owned())),
            name: None,
            texts: vec![Cow::Owned(text.to_owned())],
            images: Vec::new(),
            error: true,
        })],
    )
}

/// The entries with a failed result for each call that nothing answers, at the end.
pub fn answered<'a>(entries: Vec<Entry<'a>>, rules: &PairRules) -> Vec<Entry<'a>> {
    let Some(text) = &rules.unanswered else { return entries };
    let made: Vec<Entry<'a>> = unanswered(&entries).into_iter().map(|id| made_up(id, text)).collect();
    let mut entries = entries;
    entries.extend(made);
    entries
}

/// The entries as they go into a request.
pub fn repaired<'a>(entries: Vec<Entry<'a>>, rules: &PairRules) -> Vec<Entry<'a>> {
    let mut entries = entries;
    if rules.regroup {
        entries = regrouped(&entries, rules.placeholder.as_deref().unwrap_or_default());
    }
    if rules.trailing_calls == Fate::Drop {
        while entries.last().is_some_and(|entry| entry.role == Role::Assistant && has_calls(entry)) {
            entries.pop();
        }
    }
    if rules.orphans == Orphans::Demote {
        demote(&mut entries);
    }
    if rules.surplus_calls == Fate::Drop {
        drop_surplus(&mut entries);
    }
    if let Some(text) = &rules.last_word
        && entries.last().is_some_and(|entry| !matches!(entry.role, Role::User | Role::System))
    {
        entries.push(Entry::text(Role::User, text.clone()));
    }
    entries
}

fn has_calls(entry: &Entry<'_>) -> bool {
    entry.calls().next().is_some()
}

/// Results behind the message of their calls. A result before its call does not count for it.
fn regrouped<'a>(entries: &[Entry<'a>], placeholder: &str) -> Vec<Entry<'a>> {
    let mut out: Vec<Entry<'a>> = Vec::with_capacity(entries.len());
    let mut used: FxHashSet<String> = FxHashSet::default();
    for (at, entry) in entries.iter().enumerate() {
        if entry.role == Role::Tool {
            continue;
        }
        out.push(entry.clone());
        if entry.role != Role::Assistant {
            continue;
        }
        let mut own: FxHashSet<&str> = FxHashSet::default();
        for call in entry.calls() {
            // A call without an id has no result and gets none.
            if call.id.is_empty() || !own.insert(&call.id) {
                continue;
            }
            let later = entries.get(at + 1..).unwrap_or_default().iter();
            let answer = later
                .filter(|entry| entry.role == Role::Tool)
                .find(|entry| entry.results().any(|result| result.call_id.as_deref() == Some(&*call.id)))
                .filter(|_| !used.contains(&*call.id));
            used.insert(call.id.clone().into_owned());
            out.push(answer.cloned().unwrap_or_else(|| made_up(&call.id, placeholder)));
        }
    }
    out
}

/// Results that no message with calls stands before become messages of the model. The first entry is never looked at.
fn demote(entries: &mut [Entry<'_>]) {
    for at in 1..entries.len() {
        let Some((before, rest)) = entries.split_at_mut_checked(at) else { return };
        let Some(entry) = rest.first_mut().filter(|entry| entry.role == Role::Tool) else { continue };
        let parent = before.iter().enumerate().rev().find(|(_, entry)| entry.role != Role::Tool);
        if parent.is_some_and(|(at, entry)| at > 0 && entry.role == Role::Assistant && has_calls(entry)) {
            continue;
        }
        let texts: Vec<Cow<'_, str>> = entry
            .blocks
            .drain(..)
            .filter_map(|block| match block {
                Block::Text(text) => Some(text),
                _ => None,
            })
            .collect();
        entry.role = Role::Assistant;
        entry.blocks = texts.into_iter().map(Block::Text).collect();
    }
}

/// Calls that no result behind them answers, where there are fewer results than calls. The first entry is never looked at.
fn drop_surplus(entries: &mut [Entry<'_>]) {
    for at in 1..entries.len() {
        let Some((before, rest)) = entries.split_at_mut_checked(at + 1) else { return };
        let Some(entry) = before.last_mut().filter(|entry| entry.role == Role::Assistant && has_calls(entry))
        else {
            continue;
        };
        let results: Vec<&str> = rest
            .iter()
            .take_while(|entry| entry.role == Role::Tool)
            .flat_map(Entry::results)
            .map(|result| result.call_id.as_deref().unwrap_or_default())
            .collect();
        if results.len() >= entry.calls().count() {
            continue;
        }
        let known = |call: &Call<'_>| results.contains(&&*call.id);
        entry.blocks.retain(|block| match block {
            Block::Call(call) => known(call),
            _ => true,
        });
    }
}

#[cfg(test)]
mod tests;
