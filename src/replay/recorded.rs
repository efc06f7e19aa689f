//! The compactions that a log already holds, in the form of a replay: what really stood in the context after each.
//!
//! Nothing is decided and nothing is generated here. The context after a recorded compaction is what the log says:
//! system messages, the summary, what is left of messages that were cut short, the messages that stayed. What the harness
//! added right behind it (files read again, reminders) are messages of their own and come later.

use super::cost::{Common, Meter};
use super::{Cause, Cost, CycleTrace, Prepared, Replay};
use crate::context::{Context, Entry};
use crate::profile::Profile;
use crate::replay::schedule::Cut;
use crate::strategy::{Generated, Strategy};
use crate::summarize::FileLists;
use crate::tokens::MESSAGE_OVERHEAD;
use crate::transcript::{MessageIdx, Recorded, Role};

/// The recorded compactions of a session as a replay at a window. A compaction whose summary the log does not show has no
/// generated text, nor has one of which it cannot be known what it kept: what its summary had to hold is not known then.
pub fn recorded(prepared: &Prepared<'_>, window: u64) -> Replay {
    let transcript = prepared.transcript;
    let (overhead, overhead_source) = prepared.terrain.overhead(&Profile::standard());
    let mut walk =
        Walk { prepared, overhead, start: 0, base: 0, entries: 0, shared: None, meter: Meter::default() };
    let cycles: Vec<CycleTrace> = transcript.recorded.iter().map(|one| walk.cycle(one)).collect();
    let rest = walk.cost(transcript.messages.len());
    let mut cost = Cost::default();
    for trace in &cycles {
        cost += trace.cost;
    }
    cost += rest;
    Replay { window, budget: None, overhead, overhead_source, cycles, stuck: false, stopped: None, cost }
}

/// Where the walk over the compactions stands.
struct Walk<'a> {
    prepared: &'a Prepared<'a>,
    overhead: u64,
    /// First message behind the compaction before.
    start: usize,
    /// Tokens and entries of the context it left.
    base: u64,
    entries: u64,
    /// Tokens that the next request has in common with those before the compaction, where that is not all of the newest one.
    shared: Option<u64>,
    meter: Meter,
}

impl Walk<'_> {
    fn cycle(&mut self, one: &Recorded) -> CycleTrace {
        let view = &self.prepared.view;
        let end = one.before.get();
        let summary = one.summary.iter().filter(|_| !one.kept_unknown);
        let generated: Vec<Generated> = summary.map(|text| self.generated(text, one)).collect();
        let context = self.context(one, &generated);
        let tokens: u64 = context
            .entries
            .iter()
            .map(|entry| match entry {
                Entry::Kept(at) => self.prepared.tokens.message(*at),
                Entry::Clipped { text, .. } | Entry::Summary { text, .. } => {
                    view.counter.tokenizer().count(text) + MESSAGE_OVERHEAD
                }
            })
            .sum();
        let first_kept = one.kept.first().map_or(end, MessageIdx::get);
        let trace = CycleTrace {
            cut: Cut {
                trigger: end,
                from: self.start,
                cut: first_kept,
                turn_start: None,
                pinned: None,
                late: false,
                unfit: false,
                uncut: false,
                drop: false,
                cause: Cause::Trigger,
                measured: None,
            },
            generated,
            lists: lists(one),
            tokens_before: self.base + self.prepared.tokens.range(self.start..end),
            tokens_after: tokens,
            messages_before: self.entries + (end - self.start) as u64,
            messages_after: context.entries.len() as u64,
            cost: self.cost(end),
            failed: None,
            context,
            archive: Vec::new(),
            began: 0,
        };
        self.start = end;
        self.base = tokens;
        self.entries = trace.messages_after;
        self.shared = Some(self.overhead + self.prepared.terrain.system(end));
        trace
    }

    fn generated(&self, text: &str, one: &Recorded) -> Generated {
        Generated {
            text: text.to_owned(),
            tokens: self.prepared.view.counter.tokenizer().count(text),
            role: None,
            lists_in_text: false,
            metadata: one.lists.is_some().then(|| lists(one)),
            used: Strategy::Recorded,
            fallback: None,
        }
    }

    fn context(&self, one: &Recorded, generated: &[Generated]) -> Context {
        let messages = &self.prepared.transcript.messages;
        let is_system = |at: &MessageIdx| messages.get(at.get()).is_some_and(|it| it.role == Role::System);
        let before = (0..one.before.get()).map(MessageIdx::new);
        let mut entries: Vec<Entry> = before.filter(is_system).map(Entry::Kept).collect();
        entries.extend(generated.iter().map(|it| Entry::Summary { role: Role::User, text: it.text.clone() }));
        entries
            .extend(one.clipped.iter().map(|(at, text)| Entry::Clipped { message: *at, text: text.clone() }));
        entries.extend(one.kept.iter().filter(|at| !is_system(at)).map(Entry::Kept));
        Context { entries, now: one.before, ..Context::default() }
    }

    /// Requests from the compaction before up to message `end`, as the counted context would have cost them.
    fn cost(&mut self, end: usize) -> Cost {
        let mut cost = Cost::default();
        let prepared = self.prepared;
        for reply in prepared.terrain.replies(self.start..end) {
            let prompt = self.overhead + self.base + prepared.tokens.range(self.start..*reply);
            let common = Common::both(self.shared.take().unwrap_or(self.meter.newest));
            let output = prepared.tokens.range(*reply..*reply + 1);
            let time = prepared.transcript.messages.get(*reply).and_then(|message| message.time);
            cost += self.meter.request(prompt, common, output, time);
        }
        cost
    }
}

/// The lists beside a summary.
fn lists(one: &Recorded) -> FileLists {
    let recorded = one.lists.clone().unwrap_or_default();
    let shared = |paths: Vec<String>| paths.into_iter().map(Into::into).collect();
    FileLists { read: shared(recorded.read), modified: shared(recorded.modified), deleted: Vec::new() }
}
