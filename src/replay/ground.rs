//! A session under one profile: its entries, their marks and sizes, and the places where the trigger is looked at.
//!
//! Made once per session and profile; a walk at any window reads sums from here.

use super::Prepared;
use super::asked::{Forced, forced, prunings};
use super::pruning::{Building, Pruning};
use crate::cut::{Mark, Measure as CutMeasure};
use crate::estimate::{Check, EstimateRules, Moment, entry_tokens, texts_tokens};
use crate::harness::{Kind, Systems, entries};
use crate::profile::{Fix, Profile};
use crate::transcript::{Role, Transcript};

/// What a walk needs of a session under one profile.
#[derive(Debug)]
pub struct Ground {
    /// One per entry.
    pub marks: Vec<Mark>,
    /// First entry of each message; one more than messages.
    first: Vec<usize>,
    /// Message of each entry.
    source: Vec<usize>,
    /// Estimates of all entries before each; one more than entries.
    estimates: Vec<u64>,
    /// Estimates of system messages that are no entries, before each message; one more than messages.
    system: Vec<u64>,
    /// Messages before which the trigger is looked at, ascending; the number of messages where that is the end.
    pub checkpoints: Vec<usize>,
    /// Estimate of what a request carries beside messages.
    pub schema: u64,
    /// Steps that the trigger does not decide, by place.
    pub forced: Vec<Forced>,
    /// Messages before which the person had results pruned.
    pub prunings: Vec<usize>,
    /// Results that requests do not carry as the session holds them.
    pub pruning: Option<Pruning>,
}

impl Ground {
    /// Surveys a session.
    pub fn new(prepared: &Prepared<'_>, profile: &Profile) -> Self {
        let (transcript, tokens, units) = (prepared.transcript, prepared.tokens, &prepared.terrain.units);
        let count = transcript.messages.len();
        let mut ground = Self {
            marks: Vec::with_capacity(count),
            first: Vec::with_capacity(count + 1),
            source: Vec::with_capacity(count),
            estimates: Vec::with_capacity(count + 1),
            system: vec![0],
            checkpoints: checkpoints(profile.trigger.check, transcript),
            schema: 0,
            forced: forced(transcript, profile, &prepared.asked),
            prunings: prunings(transcript, &prepared.asked),
            pruning: None,
        };
        let view = &prepared.view;
        let mut pruning = Building::new(transcript, &view.kinds, &profile.outputs, view.counter.tokenizer());
        // What a reply is to the system by its report, it is here by its count: usage is simulated throughout.
        let estimates = profile.estimate.clone().map(|rules| EstimateRules { reported: false, ..rules });
        let mut estimated = 0;
        ground.estimates.push(estimated);
        for entry in entries(transcript, profile.messages) {
            let message = entry.source.map_or(0, crate::transcript::MessageIdx::get);
            let estimate = estimates.as_ref().map_or(0, |rules| entry_tokens(&entry, rules).unwrap_or(0));
            let first = ground.source.last() != Some(&message);
            let size = match profile.cut.measure {
                CutMeasure::Counted if first => tokens.range(message..message + 1),
                CutMeasure::Counted => 0,
                CutMeasure::Estimate => estimate,
                CutMeasure::Text | CutMeasure::Entries => profile.cut.own_size(&entry).unwrap_or(0),
            };
            while ground.first.len() <= message {
                ground.first.push(ground.source.len());
            }
            ground.source.push(message);
            let source = transcript.messages.get(message);
            ground.marks.push(Mark {
                safe: first && units.safe(message),
                request: first && source.is_some_and(crate::transcript::Message::is_user_request),
                kind: Kind::Message,
                ..Mark::of(&entry, size)
            });
            estimated += estimate;
            ground.estimates.push(estimated);
            if let Some(pruning) = &mut pruning {
                pruning.entry(&entry, estimates.is_some().then_some(estimate));
            }
        }
        ground.pruning = pruning.map(Building::finish);
        ground.first.resize(count + 1, ground.source.len());
        if let Some(rules) = &profile.estimate {
            let mut total = 0;
            for message in &transcript.messages {
                if message.role == Role::System && profile.messages.system == Systems::Apart {
                    let texts: Vec<&str> = message
                        .parts
                        .iter()
                        .filter_map(|part| match part {
                            crate::transcript::Part::Text(text) => Some(text.text.as_str()),
                            _ => None,
                        })
                        .collect();
                    total += texts_tokens(&texts, rules);
                }
                ground.system.push(total);
            }
            if profile.budget.overhead {
                ground.schema =
                    transcript.tool_schema.as_deref().map_or(0, |text| texts_tokens(&[text], rules));
            }
        }
        ground
    }

    /// First entry of a message; of the number of messages, the number of entries.
    pub fn entry(&self, message: usize) -> usize {
        self.first.get(message).or(self.first.last()).copied().unwrap_or(0)
    }

    /// The message of an entry.
    pub fn source(&self, entry: usize) -> Option<usize> {
        self.source.get(entry).copied()
    }

    /// The first message that lies wholly at an entry or behind it. Of a message that a cut parts, nothing is kept: what
    /// would be are results without their calls.
    pub fn message(&self, entry: usize) -> Option<usize> {
        let message = *self.source.get(entry)?;
        Some(if self.entry(message) == entry { message } else { message + 1 })
    }

    /// Messages behind one and up to another before which the trigger is looked at.
    pub fn checkpoints_between(&self, since: usize, end: usize) -> &[usize] {
        let from = self.checkpoints.partition_point(|at| *at <= since);
        let to = self.checkpoints.partition_point(|at| *at <= end);
        self.checkpoints.get(from..to.max(from)).unwrap_or_default()
    }

    /// Estimates of the messages of a range.
    pub fn estimate(&self, range: std::ops::Range<usize>) -> u64 {
        let sum = |message: usize| self.estimates.get(self.entry(message)).copied().unwrap_or(0);
        sum(range.end).saturating_sub(sum(range.start))
    }

    /// Estimates of system messages before a message that are no entries.
    pub fn system(&self, end: usize) -> u64 {
        self.system.get(end).or(self.system.last()).copied().unwrap_or(0)
    }

    /// The place before a cut, else behind it, that parts no call from its result; within `from..to`.
    pub fn safe_near(&self, cut: usize, from: usize, to: usize, profile: &Profile) -> usize {
        if !profile.mends(Fix::SafeCut) || cut >= to {
            return cut;
        }
        let safe = |at: &usize| self.marks.get(*at).is_some_and(|mark| mark.safe);
        let older = (from + 1..=cut).rev().find(safe);
        older.or_else(|| (cut..to).find(safe)).unwrap_or(cut)
    }
}

/// The messages before which a trigger is looked at.
fn checkpoints(check: Check, transcript: &Transcript) -> Vec<usize> {
    let messages = &transcript.messages;
    let mut out: Vec<usize> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| messages.get(before)).map(|message| message.role);
        let looked = match message.role {
            Role::Assistant if before.is_none_or(|role| role == Role::User) => check.at(Moment::Prompted),
            Role::Assistant => check.at(Moment::ToolBatch),
            Role::User if at > 0 && message.is_user_request() => {
                check.at(Moment::TurnEnd) || check.at(Moment::Submit)
            }
            _ => false,
        };
        if looked {
            out.push(at);
        }
    }
    if check.at(Moment::TurnEnd) && messages.last().is_some_and(|last| last.role == Role::Assistant) {
        out.push(messages.len());
    }
    out
}
