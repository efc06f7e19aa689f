//! One compaction by the rules of a system: which entries leave, which stay, and what the summary is made of.
//!
//! [`prepare`] decides; a strategy or a model then writes the texts; [`Prepared`] tells what they may see. Both forms of
//! session are here: those where a compaction is an entry at the end that names the first entry it kept, and those where
//! the summary takes the place of the messages.

use crate::cut::{CutRules, Mark, TurnRules, split};
use crate::harness::{Entry, Kind, Role};
use crate::ledger::{FileOpRules, LedgerError, Operations};
use serde::Deserialize;

mod write;

pub use write::{
    Ask, Footer, OnFailure, Reply, Taken, Texts, WriteError, Writer, WritingRules, Written, write,
};

/// How a session holds its compactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// As an entry at the end; what it kept stands before it.
    Entry,
    /// The summary stands in place of what left.
    Message,
}

/// Where the next compaction begins to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum From {
    /// At the first entry that the compaction before it kept.
    #[default]
    Kept,
    /// Behind the compaction before it: what that one kept is lost without a summary.
    Compaction,
}

/// How sessions and compactions go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionRules {
    /// How a session holds its compactions.
    pub form: Form,
    /// Where the next compaction begins to look.
    #[serde(default)]
    pub from: From,
    /// In a session of messages the summary counts as one where the next cut is looked for.
    #[serde(default)]
    pub summary_counts: bool,
    /// Summaries that no later one takes up stay in a store outside the context.
    #[serde(default)]
    pub archive: bool,
    /// Entries that arrive while a compaction runs beside the conversation: they stay behind its cut.
    #[serde(default)]
    pub async_messages: usize,
    /// No compaction where no entry would leave. Else a summary of nothing is asked for.
    #[serde(default)]
    pub refuse_empty: bool,
}

/// A compaction to be made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prepared {
    /// First entry that is looked at.
    pub start: usize,
    /// First entry of the tail; the number of entries where none stays.
    pub cut: usize,
    /// Entries that the summary is made of, in order.
    pub history: Vec<usize>,
    /// The cut splits a turn.
    pub split: bool,
    /// Entries of the turn that is split, before the cut; these get a summary of their own.
    pub prefix: Vec<usize>,
    /// The entry that holds the summary before it.
    pub previous: Option<usize>,
}

/// Everything that decides about a cut.
#[derive(Debug, Clone, Copy)]
pub struct Policy<'p> {
    /// How a session holds compactions.
    pub session: SessionRules,
    /// Where to cut.
    pub cut: &'p CutRules,
    /// What splits a turn.
    pub turn: &'p TurnRules,
}

/// Decides about a compaction. `marks` are those of the entries; `keep` is the size of the tail in tokens (or entries);
/// `summary` tells whether the first entry of a session of messages is a summary.
///
/// `None`: there is nothing to do.
pub fn prepare(
    entries: &[Entry<'_>],
    marks: &[Mark],
    policy: Policy<'_>,
    keep: u64,
    force: bool,
    summary: impl Fn(&Entry<'_>) -> bool,
) -> Option<Prepared> {
    let entry_form = policy.session.form == Form::Entry;
    let (start, previous) = if entry_form {
        if entries.last().is_some_and(|entry| entry.kind == Kind::Compaction) {
            return None;
        }
        let previous = entries.iter().rposition(|entry| entry.kind == Kind::Compaction);
        (start_after(entries, previous, policy.session.from), previous)
    } else {
        (0, entries.first().filter(|first| summary(first)).map(|_| 0))
    };
    let range = marks.get(start..)?;
    let place = policy.cut.place(range, keep, force);
    let place = if entry_form {
        if range.is_empty() {
            return None;
        }
        place.unwrap_or(0)
    } else {
        place.filter(|place| *place > 0)?
    };
    let turn = split(range, place, policy.turn).map(|at| start + at);
    let cut = start + place;
    let told = |range: std::ops::Range<usize>| -> Vec<usize> {
        range
            .filter(|at| {
                entries.get(*at).is_some_and(|entry| {
                    matches!(entry.kind, Kind::Message | Kind::Branch | Kind::CustomMessage)
                })
            })
            .collect()
    };
    let prepared = Prepared {
        start,
        cut,
        history: told(start..turn.unwrap_or(cut)),
        split: turn.is_some(),
        prefix: turn.map(|at| told(at..cut)).unwrap_or_default(),
        previous,
    };
    let empty = prepared.history.is_empty() && prepared.prefix.is_empty();
    (!(empty && policy.session.refuse_empty)).then_some(prepared)
}

/// What a system does about a context that is full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// It compacts.
    Compact(Prepared),
    /// It drops everything before this entry, without a summary.
    Drop(usize),
    /// There is nothing that it could do.
    Nothing,
}

/// When and how a system gives up on a summary.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmergencyRules {
    /// What still stays; its size is that of the ordinary tail.
    pub cut: CutRules,
}

/// Decides between a summary and an emergency. `too_large` tells whether what leaves at a cut is too much for a call.
pub fn decide(
    entries: &[Entry<'_>],
    marks: &[Mark],
    policy: Policy<'_>,
    keep: u64,
    emergency: Option<&EmergencyRules>,
    too_large: impl Fn(usize) -> bool,
) -> Step {
    let prepared = prepare(entries, marks, policy, keep, false, |_| false);
    let Some(rules) = emergency else { return prepared.map_or(Step::Nothing, Step::Compact) };
    match prepared {
        Some(prepared) if !too_large(prepared.cut) => Step::Compact(prepared),
        _ => Step::Drop(rules.cut.place(marks, keep, false).unwrap_or(marks.len())),
    }
}

/// Where a session of entries is looked at from, given its latest compaction.
fn start_after(entries: &[Entry<'_>], previous: Option<usize>, from: From) -> usize {
    let Some(previous) = previous else { return 0 };
    let kept = entries
        .get(previous)
        .and_then(|entry| entry.compaction.as_ref())
        .and_then(|compaction| compaction.first_kept.as_ref())
        .filter(|_| from == From::Kept)
        .and_then(|id| entries.iter().position(|entry| entry.id == *id));
    kept.unwrap_or(previous + 1)
}

/// The lists of files after a compaction: those carried over, then the calls of what leaves. What stays is not looked at.
pub fn operations(
    entries: &[Entry<'_>],
    prepared: &Prepared,
    rules: &FileOpRules,
) -> Result<Operations, LedgerError> {
    let mut operations = Operations::default();
    if let Some(previous) = prepared.previous.and_then(|at| entries.get(at)) {
        operations.carry(previous, rules);
    }
    for at in prepared.history.iter().chain(&prepared.prefix) {
        if let Some(entry) = entries.get(*at) {
            operations.read_calls(entry, rules)?;
        }
    }
    Ok(operations)
}

/// What of a session of entries the model sees: the latest compaction, what it kept, and what came after it.
pub fn context(entries: &[Entry<'_>]) -> Vec<usize> {
    let seen = |at: &usize| {
        entries.get(*at).is_some_and(|entry| {
            matches!(entry.kind, Kind::Message | Kind::Branch | Kind::CustomMessage)
                && entry.role != Role::Unknown
        })
    };
    let Some(latest) = entries.iter().rposition(|entry| entry.kind == Kind::Compaction) else {
        return (0..entries.len()).filter(seen).collect();
    };
    let first = entries
        .get(latest)
        .and_then(|entry| entry.compaction.as_ref())
        .and_then(|compaction| compaction.first_kept.as_ref())
        .and_then(|id| entries.iter().position(|entry| entry.id == *id))
        .unwrap_or(latest);
    let mut out = vec![latest];
    out.extend((first..latest).filter(seen));
    out.extend((latest + 1..entries.len()).filter(seen));
    out
}

#[cfg(test)]
mod tests;
