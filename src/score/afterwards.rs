//! What the agent really did after a compaction that the log holds: files it read again, work before its first edit,
//! edits of files its summary did not name, requests the user had to say again.
//!
//! All is read from the log behind the compaction, up to the next one, the horizon or the end of the log. It shows what
//! happened, not why: an agent also reads again what it knows.

use super::needed::{Need, horizon, returns};
use super::{Cycle, Fate, Location};
use crate::facts::{FactClass, FactSet, UseKind};
use crate::tokens::TokenIndex;
use crate::transcript::{MessageIdx, Transcript};
use rustc_hash::{FxHashMap, FxHashSet};

/// What happened behind one compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Afterwards {
    /// Tool calls looked at.
    pub calls: u64,
    /// Tool calls before the first edit of a file, up to the next compaction; `None` when there was no edit.
    pub calls_to_edit: Option<u64>,
    /// Files read again whose content had left the context.
    pub rereads: u64,
    /// Tokens of those reads.
    pub reread_tokens: u64,
    /// Of those files, named by the summary.
    pub rereads_named: u64,
    /// Files edited that were known before and that no kept message mentions.
    pub edits: u64,
    /// Of those, named by the summary.
    pub edits_named: u64,
    /// Facts no kept message mentions that the agent brought up itself.
    pub used: u64,
    /// Of those, in the summary.
    pub used_kept: u64,
    /// Requests and constraints no kept message mentions that the user said again.
    pub repeated: u64,
    /// Of those, in the summary.
    pub repeated_kept: u64,
}

/// Tells what happened behind a cycle, `stop` being the next compaction or the end of the log.
pub fn afterwards(
    transcript: &Transcript,
    facts: &FactSet,
    tokens: &TokenIndex,
    cycle: &Cycle<'_>,
    fates: &[Fate],
    stop: MessageIdx,
) -> Afterwards {
    let from = cycle.prefix_end;
    let end = horizon(transcript, from).min(stop);
    let gone: FxHashMap<u32, &Fate> = fates
        .iter()
        .filter(|fate| fate.at_risk || fate.location == Location::Opaque)
        .map(|fate| (fate.id.0, fate))
        .collect();
    let mut found = Afterwards {
        calls: calls(transcript, from, end),
        calls_to_edit: calls_to_edit(transcript, facts, from, stop),
        ..Afterwards::default()
    };
    for back in returns(transcript, facts, tokens, cycle, end) {
        if back.kind == UseKind::Read {
            found.rereads += 1;
            found.reread_tokens += back.tokens;
            let fate = back.fact.and_then(|id| gone.get(&id.0));
            found.rereads_named += u64::from(fate.is_some_and(|fate| fate.tier.is_present()));
        }
    }
    for file in &facts.ledger.files {
        let edited = file.uses.iter().any(|one| {
            let at = transcript.links.get(one.link as usize).map(|link| link.call.message);
            one.kind != UseKind::Read && at.is_some_and(|at| (from..end).contains(&at))
        });
        if let Some(fate) = file.fact.filter(|_| edited).and_then(|id| gone.get(&id.0)) {
            found.edits += 1;
            found.edits_named += u64::from(fate.tier.is_present());
        }
    }
    for fate in fates.iter().filter(|fate| gone.contains_key(&fate.id.0)) {
        let Some(fact) = facts.get(fate.id) else { continue };
        let present = u64::from(fate.tier.is_present());
        if Need::of(facts.next_mention(fact, from, end)) == Need::Used {
            found.used += 1;
            found.used_kept += present;
        }
        if matches!(fate.class, FactClass::Request | FactClass::Constraint) {
            let again = |at: &&MessageIdx| {
                transcript.messages.get(at.get()).is_some_and(crate::transcript::Message::is_user_request)
            };
            let said = fact.mentions.iter().filter(|at| (from..end).contains(at)).find(again);
            if said.is_some() {
                found.repeated += 1;
                found.repeated_kept += present;
            }
        }
    }
    found
}

/// Tool calls in messages `from..to`.
fn calls(transcript: &Transcript, from: MessageIdx, to: MessageIdx) -> u64 {
    let place = |at: MessageIdx| transcript.links.partition_point(|link| link.call.message < at);
    place(to).saturating_sub(place(from)) as u64
}

/// Tool calls from message `from` on before the first that edits or writes a file, if one does before `stop`.
pub fn calls_to_edit(
    transcript: &Transcript,
    facts: &FactSet,
    from: MessageIdx,
    stop: MessageIdx,
) -> Option<u64> {
    let edits: FxHashSet<u32> = facts
        .ledger
        .files
        .iter()
        .flat_map(|file| &file.uses)
        .filter(|one| one.kind != UseKind::Read)
        .map(|one| one.link)
        .collect();
    let first = transcript.links.partition_point(|link| link.call.message < from);
    let stretch =
        transcript.links.iter().enumerate().skip(first).take_while(|(_, link)| link.call.message < stop);
    let found = stretch.map(|(at, _)| at).find(|at| edits.contains(&(*at as u32)))?;
    Some((found - first) as u64)
}

#[cfg(test)]
mod tests;
