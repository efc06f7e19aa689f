//! Did losing it matter? What the original agent came back to after a compaction, from its own log.
//!
//! The stretch behind the prefix is looked at twice: up to the horizon of [`HORIZON_CALLS`] tool calls, which is the
//! headline, and to the end of the log. An at-risk fact is *used* when the agent itself brings it up first (text,
//! thinking, tool input), *resupplied* when a person or the harness does, *refetched* when a tool result does. Where the
//! log itself was compacted in that stretch the agent knew less than the replay assumes: such labels are *biased*.

use super::{Cycle, Fate};
use crate::facts::{Author, FactClass, FactId, FactSet, FileUse, UseKind};
use crate::tokens::TokenIndex;
use crate::transcript::{Link, MessageIdx, PartRef, Transcript};

/// Tool calls that the horizon holds, their results included.
pub const HORIZON_CALLS: usize = 50;

/// How a fact comes back first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Need {
    /// It does not.
    #[default]
    Unused,
    /// The agent brings it up.
    Used,
    /// A person or the harness says it again.
    Resupplied,
    /// A tool result shows it again.
    Refetched,
}

impl Need {
    /// Name as written in results; nothing for what does not come back.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unused => "",
            Self::Used => "used",
            Self::Resupplied => "resupplied",
            Self::Refetched => "refetched",
        }
    }

    /// By the mention that comes next.
    pub(super) fn of(next: Option<(MessageIdx, Author)>) -> Self {
        match next {
            None => Self::Unused,
            Some((_, Author::Agent)) => Self::Used,
            Some((_, Author::User)) => Self::Resupplied,
            Some((_, Author::Tool)) => Self::Refetched,
        }
    }
}

/// What came back of the at-risk facts in one stretch of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Comeback {
    /// At-risk facts that the agent used.
    pub used: u64,
    /// At-risk facts that a person or the harness said again.
    pub resupplied: u64,
    /// At-risk facts that a tool result showed again.
    pub refetched: u64,
    /// Needed facts: the used ones of the classes where use can be told, binding words, and the open request.
    pub needed: u64,
    /// Of those, present in the generated text.
    pub needed_kept: u64,
    /// The log itself was compacted in this stretch.
    pub biased: bool,
}

impl Comeback {
    pub(super) fn count(&mut self, fate: &Fate, need: Need, open_request: Option<FactId>) {
        match need {
            Need::Unused => {}
            Need::Used => self.used += 1,
            Need::Resupplied => self.resupplied += 1,
            Need::Refetched => self.refetched += 1,
        }
        if is_needed(fate, need, open_request) {
            self.needed += 1;
            self.needed_kept += u64::from(fate.tier.is_present());
        }
    }
}

/// Does the work need an at-risk fact? Constraints and the open request bind whether or not they are said again; a
/// decision is, in the words of the log, seldom repeated, so nothing tells whether it was needed.
pub(super) fn is_needed(fate: &Fate, need: Need, open_request: Option<FactId>) -> bool {
    match fate.class {
        FactClass::Constraint => true,
        FactClass::Request => Some(fate.id) == open_request,
        FactClass::Decision => false,
        class => {
            let told = class.structural()
                || matches!(class, FactClass::Identifier | FactClass::Value | FactClass::Error);
            told && need == Need::Used
        }
    }
}

/// The request the agent was working on: the newest one that stands.
pub(super) fn open_request(facts: &FactSet, prefix_end: MessageIdx) -> Option<FactId> {
    let born = facts.facts.partition_point(|fact| fact.birth < prefix_end);
    (0..born as u32).rev().map(FactId).find(|id| facts.class_at(*id, prefix_end) == Some(FactClass::Request))
}

/// The first message behind the horizon of a prefix: the next one with a call after the last call counted, so that
/// results belong to their calls. A batch of calls in one message stays together.
pub fn horizon(transcript: &Transcript, prefix_end: MessageIdx) -> MessageIdx {
    let end = MessageIdx::new(transcript.messages.len());
    let links = links_from(transcript, prefix_end);
    let Some(last) = links.get(HORIZON_CALLS - 1) else { return end };
    links.iter().map(|link| link.call.message).find(|at| last.call.message < *at).unwrap_or(end)
}

/// Was the log itself compacted while messages `from..to` were written?
pub(super) fn is_biased(transcript: &Transcript, from: MessageIdx, to: MessageIdx) -> bool {
    transcript.recorded.iter().any(|recorded| (from..to).contains(&recorded.before))
}

fn links_from(transcript: &Transcript, from: MessageIdx) -> &[Link] {
    let first = transcript.links.partition_point(|link| link.call.message < from);
    transcript.links.get(first..).unwrap_or_default()
}

/// Reads of files, and what they cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reads {
    /// Files, each once.
    pub files: u64,
    /// Tokens of their content as the log shows it.
    pub tokens: u64,
}

/// Reads of content that the context held before a compaction and does not hold after it, up to the horizon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rereads {
    /// Reads the original agent did not make, since it still knew the content: it edited the file without reading it
    /// again. With this context it would have to.
    pub predicted: Reads,
    /// Reads it did make.
    pub actual: Reads,
}

/// A file whose content left the context, and what the agent did with it next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Return {
    /// The file.
    pub fact: Option<FactId>,
    /// What the agent did first.
    pub kind: UseKind,
    /// Of what it read, or, where it edited, of the content it knew.
    pub tokens: u64,
}

/// Files whose content a compaction took out of the context and which the agent came back to in messages from the cycle
/// up to `end`. The path alone is no content: only a kept message holds that.
pub fn returns(
    transcript: &Transcript,
    facts: &FactSet,
    tokens: &TokenIndex,
    cycle: &Cycle<'_>,
    end: MessageIdx,
) -> Vec<Return> {
    let kept = super::kept_messages(cycle, transcript);
    let is_kept = |at: PartRef| kept.get(at.message.get()).copied().unwrap_or(false);
    let link = |one: &FileUse| transcript.links.get(one.link as usize);
    let result = |one: &FileUse| link(one).and_then(|link| link.result);
    let mut found = Vec::new();
    for file in facts.ledger.files.iter().filter(|file| file.live_at(cycle.prefix_end)) {
        let before = |one: &&FileUse| result(one).is_some_and(|at| at.message < cycle.prefix_end);
        let whole = |one: &&FileUse| one.kind != UseKind::Edit;
        let Some(known) = file.uses.iter().rev().filter(before).find(whole) else { continue };
        let Some(content) = content(known, transcript).filter(|at| !is_kept(*at)) else { continue };
        let after = |one: &&FileUse| {
            link(one).is_some_and(|link| (cycle.prefix_end..end).contains(&link.call.message))
        };
        let Some(next) = file.uses.iter().find(after) else { continue };
        let (at, readers) = match next.kind {
            UseKind::Read => (result(next), next.readers),
            UseKind::Edit | UseKind::Write => (Some(content), known.readers),
        };
        let tokens = at.map_or(0, |at| tokens.part(at)) / u64::from(readers.max(1));
        found.push(Return { fact: file.fact, kind: next.kind, tokens });
    }
    found
}

impl Rereads {
    /// Tells the re-reads among the files that the agent came back to. Who writes a file anew need not know it.
    pub fn of(returns: &[Return]) -> Self {
        let mut found = Self::default();
        for back in returns {
            let reads = match back.kind {
                UseKind::Read => &mut found.actual,
                UseKind::Edit => &mut found.predicted,
                UseKind::Write => continue,
            };
            reads.files += 1;
            reads.tokens += back.tokens;
        }
        found
    }
}

/// The part that holds the content: what a read showed, what a write was given.
fn content(one: &FileUse, transcript: &Transcript) -> Option<PartRef> {
    let link = transcript.links.get(one.link as usize)?;
    match one.kind {
        UseKind::Read => link.result,
        UseKind::Edit | UseKind::Write => Some(link.call),
    }
}

#[cfg(test)]
mod tests;
