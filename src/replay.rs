//! The loop: one session, one profile, one strategy, one window, compacted over and over until its log ends.
//!
//! `context -> [system, summary, pinned request, tail]`, each time the profile's trigger fires. Everything that can be
//! shared between strategies (cut places, schedule, file ledger, tail membership) is computed once per session.

use crate::context::{Context, Entry, clip};
use crate::fileops::{CallEffect, Directory, ToolKind, of_call, of_call_in};
use crate::ledger::Order;
use crate::pairs::Orphans;
use crate::profile::{Amounts, Profile};
use crate::strategy::{Generated, Strategy, TextRules};
use crate::summarize::{FileLists, SessionView, Summarizer};
use crate::tokens::{Counter, MESSAGE_OVERHEAD, TokenIndex, Tokenizer};
use crate::transcript::{MessageIdx, Role, Transcript};
use std::sync::OnceLock;

pub mod asked;
pub mod cost;
pub mod events;
pub mod ground;
pub mod ledger;
pub mod pruning;
pub mod recorded;
pub mod schedule;
pub mod stage;
pub mod units;
mod writing;

/// Why nothing was compacted where a program said so.
pub const CANCELLED: &str = "the program cancelled this compaction";

pub use asked::{Asked, Cause};
pub use cost::Cost;
use cost::{Common, Meter};
use ledger::Ledger;
use pruning::Stretch;
pub use schedule::{Cut, Held, OverheadSource, Planner, Schedule, Terrain};
use stage::Stage;
use writing::{Among, NoText, Written};

/// A session with everything that is computed once.
#[derive(Debug)]
pub struct Prepared<'a> {
    /// The session as its harness holds it: contexts are views of it.
    pub transcript: &'a Transcript,
    /// Its token counts.
    pub tokens: &'a TokenIndex,
    /// The session as a summarizer sees it.
    pub view: SessionView<'a>,
    /// What each call does to files, by position in `transcript.links`.
    pub effects: &'a [CallEffect],
    /// Cut places, requests, system tokens.
    pub terrain: Terrain,
    /// Working directory most records have; paths in generated text are relative to it.
    pub cwd: Option<&'a str>,
    /// What is done beside the trigger; nothing by default.
    pub asked: Asked,
}

/// What every call of a session does to files, by position in `transcript.links`.
pub fn effects(transcript: &Transcript) -> Vec<CallEffect> {
    // Most calls of a session start in one directory.
    let mut known = (None, Directory::of(None));
    transcript
        .links
        .iter()
        .map(|link| {
            let cwd =
                transcript.messages.get(link.call.message.get()).and_then(|message| message.cwd.as_deref());
            match transcript.call(link) {
                Some(call) => {
                    if known.0 != cwd {
                        known = (cwd, Directory::of(cwd));
                    }
                    of_call_in(&call.name, &call.arguments, &known.1)
                }
                None => of_call("", "", None),
            }
        })
        .collect()
}

/// Kind of tool of every call, by position in `transcript.links`.
pub fn kinds(effects: &[CallEffect]) -> Vec<ToolKind> {
    effects.iter().map(|effect| effect.kind).collect()
}

impl<'a> Prepared<'a> {
    /// Prepares a session as the log has it.
    pub fn new(
        transcript: &'a Transcript,
        tokens: &'a TokenIndex,
        tokenizer: Tokenizer,
        effects: &'a [CallEffect],
    ) -> Self {
        Self::seen_as(transcript, transcript, tokens, tokenizer, effects)
    }

    /// Prepares a session as the rules of a profile make it.
    pub fn on(
        stage: &'a Stage,
        transcript: &'a Transcript,
        tokens: &'a TokenIndex,
        tokenizer: Tokenizer,
        effects: &'a [CallEffect],
    ) -> Self {
        let (held, tokens) = stage.held(transcript, tokens);
        Self::seen_as(held, stage.seen(transcript), tokens, tokenizer, effects)
    }

    fn seen_as(
        transcript: &'a Transcript,
        seen: &'a Transcript,
        tokens: &'a TokenIndex,
        tokenizer: Tokenizer,
        effects: &'a [CallEffect],
    ) -> Self {
        let schema_tokens = transcript.tool_schema.as_deref().map(|text| tokenizer.count(text));
        let terrain = Terrain::new(transcript, tokens, schema_tokens);
        let view = SessionView::new(seen, Counter::new(tokenizer), kinds(effects)).of(transcript);
        Self {
            transcript,
            tokens,
            view,
            effects,
            terrain,
            cwd: transcript.main_cwd(),
            asked: Asked::default(),
        }
    }

    /// A planner for this session under one profile.
    pub fn planner<'p>(&'p self, profile: &'p Profile, budget: Option<u64>) -> Planner<'p> {
        Planner::new(self, profile, budget)
    }
}

/// Which schedule the strategies follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleMode {
    /// One schedule for all strategies, summaries counted at their full budget.
    Locked,
    /// Each strategy on its own tokens.
    Free,
}

/// What happens between cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The log goes on.
    Grow,
    /// The finished context is compacted again, unchanged.
    Repeat,
}

/// One cycle of a replay.
#[derive(Debug, Clone)]
pub struct CycleTrace {
    /// Trigger, cut, split, pin.
    pub cut: Cut,
    /// What was generated; nothing for the control that never compacts, or when the cycle could not happen.
    pub generated: Vec<Generated>,
    /// The harness' file lists after it.
    pub lists: FileLists,
    /// The context after it.
    pub context: Context,
    /// Tokens of the context before it, overhead not included.
    pub tokens_before: u64,
    /// Tokens of the context after it, overhead not included.
    pub tokens_after: u64,
    /// Summaries outside the context that no later one took up.
    pub archive: Vec<String>,
    /// The session began before this message: what lies before it belongs to another one.
    pub began: usize,
    /// Messages in the context before it.
    pub messages_before: u64,
    /// Messages in the context after it.
    pub messages_after: u64,
    /// Requests since the cycle before it (or the start), up to but without the one that triggered it.
    pub cost: Cost,
    /// Why no summary came, where the policy then leaves the session as it was.
    pub failed: Option<String>,
}

impl CycleTrace {
    /// The generated text that tells which strategy ran: of two, one that is not by the strategy asked for.
    pub fn told(&self) -> Option<&Generated> {
        self.generated.iter().find(|generated| generated.fallback.is_some()).or(self.generated.first())
    }
}

/// A replay of one session.
#[derive(Debug, Clone)]
pub struct Replay {
    /// Window in tokens.
    pub window: u64,
    /// Summary budget in tokens; none where the log itself was compacted.
    pub budget: Option<u64>,
    /// Tokens of a request beyond its messages.
    pub overhead: u64,
    /// How the overhead is known.
    pub overhead_source: OverheadSource,
    /// The cycles in order.
    pub cycles: Vec<CycleTrace>,
    /// It ended because two compactions in a row gained nothing.
    pub stuck: bool,
    /// Why it could not go on: nobody could be asked for a summary. Its numbers are then none of the session's.
    pub stopped: Option<String>,
    /// Requests of the whole session, the stretch after the last cycle included.
    pub cost: Cost,
}

/// What to replay.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'p> {
    /// The policy.
    pub profile: &'p Profile,
    /// What makes the summary.
    pub strategy: Strategy,
    /// Window in tokens.
    pub window: u64,
    /// Most cycles to run.
    pub limit: usize,
    /// Grow or repeat.
    pub mode: Mode,
    /// Locked or free.
    pub schedule: ScheduleMode,
}

/// The repeated schedule: the whole log is compacted once, then the result again and again.
pub fn repeat_schedule(planner: &Planner<'_>, messages: usize, window: u64, cycles: usize) -> Schedule {
    let mut schedule = planner.schedule_of_whole(window, messages);
    if let Some(first) = schedule.cuts.first().cloned() {
        let again = Cut { from: first.cut, turn_start: None, ..first };
        schedule.cuts.resize(cycles.max(1), again);
    }
    schedule
}

/// Runs one plan. `locked` is the shared schedule; it is ignored when the plan is free.
pub fn replay(
    prepared: &Prepared<'_>,
    planner: &Planner<'_>,
    locked: &Schedule,
    plan: Plan<'_>,
    summarizer: &dyn Summarizer,
) -> Replay {
    let mut run = Runner::new(prepared, planner, plan, summarizer);
    let mut stuck = locked.stuck;
    if plan.schedule == ScheduleMode::Free && plan.mode == Mode::Grow && plan.strategy != Strategy::None {
        let mut walk = planner.walk(plan.window);
        while run.cycles.len() < plan.limit && run.stopped.is_none() {
            let Some(cut) = walk.next(run.held()) else { break };
            let attempted = cut.cut > cut.from && cut.cause != Cause::Reset;
            let planned = cut.cut;
            run.step(cut);
            if let Some(trace) = run.cycles.last().filter(|_| attempted) {
                if trace.cut.cut != planned {
                    walk.stands(run.tail, run.since, run.pinned.map_or(0, |(_, tokens)| tokens));
                }
                walk.compacted(trace.tokens_before, trace.tokens_after);
            }
        }
        stuck = walk.stuck();
    } else {
        for cut in &locked.cuts {
            if run.stopped.is_some() {
                break;
            }
            run.step(cut.clone());
        }
    }
    let (overhead, overhead_source) = planner.overhead();
    let mut rest = run.spent;
    rest += run.pay(prepared.transcript.messages.len());
    let mut cost = Cost::default();
    for trace in &run.cycles {
        cost += trace.cost;
    }
    cost += rest;
    Replay {
        window: plan.window,
        budget: Some(run.amounts.budget),
        overhead,
        overhead_source,
        cycles: run.cycles,
        stuck,
        stopped: run.stopped,
        cost,
    }
}

/// State of one replay between cycles.
struct Runner<'a> {
    prepared: &'a Prepared<'a>,
    planner: &'a Planner<'a>,
    amounts: Amounts,
    plan: Plan<'a>,
    /// The profile's; made for the first text.
    rules: OnceLock<TextRules>,
    summarizer: &'a dyn Summarizer,
    ledger: Ledger,
    /// What stands in the context: one text, or two after a split turn.
    summary: Vec<Generated>,
    /// Messages that a program kept among its texts.
    among: Vec<Among>,
    pinned: Option<(usize, u64)>,
    /// First message of the tail, and the first message whose request is not yet in a cost.
    tail: usize,
    sent: usize,
    /// The newest compaction was made before this message; 0: there was none.
    since: usize,
    /// The session began before this message.
    reset: usize,
    /// Summaries outside the context.
    archive: Vec<String>,
    /// Cost that no cycle has yet.
    spent: Cost,
    /// What the next request has in common with those before it, where that is not all of the newest one.
    shared: Option<u64>,
    meter: Meter,
    cycles: Vec<CycleTrace>,
    /// Why it cannot go on.
    stopped: Option<String>,
}

impl<'a> Runner<'a> {
    fn new(
        prepared: &'a Prepared<'a>,
        planner: &'a Planner<'a>,
        plan: Plan<'a>,
        summarizer: &'a dyn Summarizer,
    ) -> Self {
        Self {
            prepared,
            planner,
            amounts: planner.amounts(plan.window),
            plan,
            rules: OnceLock::new(),
            summarizer,
            ledger: Ledger::default(),
            summary: Vec::new(),
            among: Vec::new(),
            pinned: None,
            tail: 0,
            sent: 0,
            since: 0,
            reset: 0,
            archive: Vec::new(),
            spent: Cost::default(),
            shared: None,
            meter: Meter::default(),
            cycles: Vec::new(),
            stopped: None,
        }
    }

    fn summary_tokens(&self) -> Option<u64> {
        let kept = |among: &Among| self.prepared.tokens.range(among.message..among.message + 1);
        let kept: u64 = self.among.iter().map(kept).sum();
        match tokens_of(&self.summary) {
            // The overhead of a first message is counted by the planner, and there is none.
            None => (kept > 0).then(|| kept.saturating_sub(MESSAGE_OVERHEAD)),
            Some(tokens) => Some(tokens + kept),
        }
    }

    /// The summary in the context, as the walk wants to know it.
    fn held(&self) -> Option<Held> {
        let texts: Vec<&str> = self.summary.iter().map(|generated| generated.text.as_str()).collect();
        self.summary_tokens().map(|tokens| self.planner.held_text(tokens, &texts.join("\n\n")))
    }

    /// Tokens of the context whose tail begins at `tail`, at message `end`.
    fn content(&self, tail: usize, end: usize) -> u64 {
        let pinned = self.pinned.map_or(0, |(_, tokens)| tokens);
        let stretch = Stretch { tail, since: self.since };
        self.planner.content(self.summary_tokens(), pinned, stretch, end, &self.amounts)
    }

    /// Cost of the requests that were not counted so far, up to the one before message `to`.
    ///
    /// Within a stretch every request extends the one before, but for results that are pruned in between. The first after a
    /// compaction shares with it only the overhead and the system messages at its head.
    fn pay(&mut self, to: usize) -> Cost {
        let prepared = self.prepared;
        let stretch = Stretch { tail: self.tail, since: self.since };
        let head = self.planner.overhead().0 + prepared.terrain.system(self.tail);
        let pinned = self.pinned.map_or(0, |(_, tokens)| tokens);
        let summary = self.content(self.tail, self.tail) - prepared.terrain.system(self.tail) - pinned;
        let mut cost = Cost::default();
        let continues = |reply: &usize| *reply >= self.since && self.shared.is_none();
        let mut before = prepared.terrain.newest_reply(self.sent).filter(continues);
        for reply in prepared.terrain.replies(self.sent..to) {
            let prompt = self.planner.overhead().0 + self.content(self.tail, *reply);
            let whole = self.shared.take().unwrap_or(self.meter.newest);
            let cut = before.and_then(|before| self.planner.parted(stretch, before, *reply, &self.amounts));
            let common = cut.map_or(Common::both(whole), |parted| Common {
                prefix: head + summary + pinned + parted.prefix,
                breakpoint: match parted.pruned {
                    0 => head + summary,
                    pruned => head + summary + pinned + pruned,
                },
            });
            let output = prepared.tokens.range(*reply..*reply + 1);
            let time = prepared.transcript.messages.get(*reply).and_then(|message| message.time);
            cost += self.meter.request(prompt, common, output, time);
            before = Some(*reply);
        }
        self.sent = to.max(self.sent);
        cost
    }

    /// The lists in the order in which the harness keeps them.
    fn lists(&self) -> FileLists {
        match self.plan.profile.ledger.as_ref().map(|rules| rules.order) {
            Some(Order::Insertion) => self.ledger.lists_by_first(),
            _ => self.ledger.lists(),
        }
    }

    /// Runs one step of a schedule.
    fn step(&mut self, cut: Cut) {
        if cut.cause == Cause::Reset {
            self.reset(cut.trigger);
        } else {
            self.cycle(cut);
        }
    }

    /// A new session begins before a message: nothing of the one before is in it.
    fn reset(&mut self, at: usize) {
        let paid = self.pay(at);
        self.spent += paid;
        self.shared = Some(self.planner.overhead().0 + self.prepared.terrain.system(self.tail));
        self.ledger.begin(self.prepared.transcript, at);
        self.archive.clear();
        self.summary.clear();
        self.among.clear();
        self.pinned = None;
        (self.tail, self.since, self.reset) = (at, at, at);
    }

    /// Runs one compaction.
    fn cycle(&mut self, planned: Cut) {
        let transcript = self.prepared.transcript;
        // The control never compacts: its context is everything before the trigger.
        let control = self.plan.strategy == Strategy::None;
        let start = if control { self.reset } else { self.tail };
        let pinned = self.pinned.map_or(0, |(_, tokens)| tokens);
        let stretch = Stretch { tail: start, since: self.since };
        let before = self.planner.content_decided(
            self.summary_tokens(),
            pinned,
            stretch,
            planned.trigger,
            &self.amounts,
        );
        let old = self.build(start, planned.trigger);
        let cost = std::mem::take(&mut self.spent) + self.pay(planned.trigger);
        let mut cut = planned;
        let mut generated = Vec::new();
        let mut failed = None;
        if !control {
            // After a summary that failed the tail begins elsewhere than a shared schedule has it.
            cut = Cut { from: self.tail, cut: cut.cut.max(self.tail), ..cut };
            cut.turn_start = cut.turn_start.map(|start| start.max(cut.from)).filter(|start| *start < cut.cut);
            if cut.cut > cut.from || self.plan.mode == Mode::Repeat {
                self.ledger.apply(transcript, self.prepared.effects, 0..cut.cut, self.plan.profile.files);
                match self.write(&mut cut) {
                    Ok(written) => {
                        self.commit(&cut, written);
                        generated.clone_from(&self.summary);
                        if generated.is_empty() && self.plan.strategy.command().is_some() {
                            // Messages that stay, and not a word beside them.
                            generated.push(self.text_of_program(String::new(), None));
                        }
                    }
                    Err(NoText::Stopped(reason)) => {
                        self.stopped = Some(reason);
                        return;
                    }
                    Err(NoText::Failed(reason)) => {
                        cut = Cut { cut: cut.from, turn_start: None, pinned: None, ..cut };
                        failed = Some(reason);
                    }
                }
            }
            self.tail = cut.cut;
        }
        let tail = if control { self.reset } else { self.tail };
        let context = self.build(tail, cut.trigger);
        self.cycles.push(CycleTrace {
            generated,
            lists: self.lists(),
            tokens_before: before,
            tokens_after: self.content(tail, cut.trigger),
            messages_before: old.entries.len() as u64,
            messages_after: context.entries.len() as u64,
            context,
            archive: self.archive.clone(),
            began: self.reset,
            cost,
            failed,
            cut,
        });
    }

    /// A compaction was written: its texts take the place of what leaves.
    fn commit(&mut self, cut: &Cut, written: Written) {
        // What a program kept among its texts need not stand there twice.
        self.pinned = cut.pinned.filter(|(at, _)| !written.among.iter().any(|among| among.message == *at));
        if !written.texts.is_empty() || self.plan.strategy.command().is_some() {
            self.among = written.among;
            let old = std::mem::replace(&mut self.summary, written.texts);
            if self.plan.profile.session.archive {
                self.archive.extend(old.into_iter().map(|generated| generated.text));
            }
        }
        self.pin();
        self.since = cut.trigger;
        self.shared = Some(self.planner.overhead().0 + self.prepared.terrain.system(cut.from));
    }

    /// Makes the tokens of the pinned request those of the text that really stands in the context.
    fn pin(&mut self) {
        if let Some((at, _)) = self.pinned {
            let tokens = match self.pinned_entry(at) {
                Entry::Clipped { text, .. } => {
                    self.prepared.view.counter.tokenizer().count(&text) + MESSAGE_OVERHEAD
                }
                Entry::Kept(_) | Entry::Summary { .. } => self.prepared.tokens.range(at..at + 1),
            };
            self.pinned = Some((at, tokens));
        }
    }

    fn pinned_entry(&self, at: usize) -> Entry {
        let limit = self.amounts.pin;
        let message = MessageIdx::new(at);
        if self.prepared.tokens.range(at..at + 1) <= limit + MESSAGE_OVERHEAD {
            return Entry::Kept(message);
        }
        let text = self.prepared.transcript.messages.get(at).map(crate::transcript::Message::authored_text);
        Entry::Clipped {
            message,
            text: clip(&text.unwrap_or_default(), limit, self.prepared.view.counter.tokenizer()),
        }
    }

    /// The context with a tail of `tail..end`: system messages before it, summary, pinned request, tail.
    fn build(&self, tail: usize, end: usize) -> Context {
        let messages = &self.prepared.transcript.messages;
        let mut entries: Vec<Entry> = messages
            .iter()
            .take(tail)
            .enumerate()
            .filter(|(_, message)| message.role == Role::System)
            .map(|(index, _)| Entry::Kept(MessageIdx::new(index)))
            .collect();
        let own: Role = self.plan.profile.summary.role.into();
        for place in 0..=self.summary.len() {
            let kept = self.among.iter().filter(|among| among.behind == place);
            entries.extend(kept.map(|among| Entry::Kept(MessageIdx::new(among.message))));
            if let Some(generated) = self.summary.get(place) {
                let role = generated.role.unwrap_or(own);
                entries.push(Entry::Summary { role, text: generated.text.clone() });
            }
        }
        if let Some((at, _)) = self.pinned {
            entries.push(self.pinned_entry(at));
        }
        entries.extend((tail..end.min(messages.len())).map(|index| Entry::Kept(MessageIdx::new(index))));
        let pairs = &self.plan.profile.pairs;
        let drops_orphans = pairs.regroup || pairs.orphans == Orphans::Demote;
        let stretch = Stretch { tail, since: self.since };
        let pruned = self.planner.pruned(stretch, end, &self.amounts).map(|(at, text)| (at, text.to_owned()));
        Context { entries, now: MessageIdx::new(end), drops_orphans, pruned: pruned.collect() }
    }
}

/// Tokens of generated texts; the first message's overhead is counted by the planner, further ones here.
fn tokens_of(generated: &[Generated]) -> Option<u64> {
    let more = generated.len().checked_sub(1)? as u64;
    Some(generated.iter().map(|text| text.tokens).sum::<u64>() + more * MESSAGE_OVERHEAD)
}

#[cfg(test)]
mod tests;
