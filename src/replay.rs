//! The loop: one session, one profile, one strategy, one window, compacted over and over until its log ends.
//!
//! `context -> [system, summary, pinned request, tail]`, each time the profile's trigger fires. Everything that can be
//! shared between strategies (cut places, schedule, file ledger, tail membership) is computed once per session.

use crate::context::{Context, Entry, clip};
use crate::fileops::{CallEffect, of_call};
use crate::profile::{Profile, SummaryRole};
use crate::strategy::{Generated, Strategy, generate};
use crate::summarize::{FileLists, Layout, SessionView, SummarizeError, Summarizer, SummaryRequest};
use crate::tokens::{MESSAGE_OVERHEAD, TokenIndex, Tokenizer};
use crate::transcript::{MessageIdx, Role, Transcript};

pub mod ledger;
pub mod schedule;
pub mod units;

use ledger::Ledger;
pub use schedule::{Cut, OverheadSource, Planner, Schedule, Terrain};

/// A session with everything that is computed once.
#[derive(Debug)]
pub struct Prepared<'a> {
    /// The session as a summarizer sees it.
    pub view: SessionView<'a>,
    /// What each call does to files, by position in `transcript.links`.
    pub effects: &'a [CallEffect],
    /// Cut places, requests, system tokens.
    pub terrain: Terrain,
    /// Working directory most records have; paths in generated text are relative to it.
    pub cwd: Option<&'a str>,
}

/// What every call of a session does to files, by position in `transcript.links`.
pub fn effects(transcript: &Transcript) -> Vec<CallEffect> {
    transcript
        .links
        .iter()
        .map(|link| {
            let cwd = transcript.messages.get(link.call.message.get()).and_then(|message| message.cwd.as_deref());
            match transcript.call(link) {
                Some(call) => of_call(&call.name, &call.arguments, cwd),
                None => of_call("", "", None),
            }
        })
        .collect()
}

impl<'a> Prepared<'a> {
    /// Prepares a session.
    pub fn new(
        transcript: &'a Transcript,
        tokens: &'a TokenIndex,
        tokenizer: Tokenizer,
        effects: &'a [CallEffect],
    ) -> Self {
        let schema_tokens = transcript.tool_schema.as_deref().map(|text| tokenizer.count(text));
        let terrain = Terrain::new(transcript, tokens, schema_tokens);
        let kinds = effects.iter().map(|effect| effect.kind).collect();
        let view = SessionView { transcript, tokens, tokenizer, kinds, digest: std::sync::OnceLock::new() };
        Self { view, effects, terrain, cwd: transcript.main_cwd() }
    }

    /// A planner for this session under one profile.
    pub fn planner<'p>(&'p self, profile: &'p Profile, budget: Option<u64>) -> Planner<'p> {
        Planner::new(self.view.transcript, &self.terrain, self.view.tokens, profile, budget)
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
    /// What was generated; `None` for the control that compacts nothing, or when the cycle could not happen.
    pub generated: Option<Generated>,
    /// The harness' file lists after it.
    pub lists: FileLists,
    /// The context after it.
    pub context: Context,
    /// Tokens of the context before it, overhead not included.
    pub tokens_before: u64,
    /// Tokens of the context after it, overhead not included.
    pub tokens_after: u64,
    /// Messages in the context before it.
    pub messages_before: u64,
    /// Messages in the context after it.
    pub messages_after: u64,
}

/// A replay of one session.
#[derive(Debug, Clone)]
pub struct Replay {
    /// Window in tokens.
    pub window: u64,
    /// Summary budget in tokens.
    pub budget: u64,
    /// Tokens of a request beyond its messages.
    pub overhead: u64,
    /// How the overhead is known.
    pub overhead_source: OverheadSource,
    /// The cycles in order.
    pub cycles: Vec<CycleTrace>,
    /// It ended because two compactions in a row gained nothing.
    pub stuck: bool,
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
) -> Result<Replay, SummarizeError> {
    let mut run = Runner::new(prepared, planner, plan, summarizer);
    let mut stuck = locked.stuck;
    if plan.schedule == ScheduleMode::Free && plan.mode == Mode::Grow && plan.strategy != Strategy::None {
        let mut walk = planner.walk(plan.window);
        while run.cycles.len() < plan.limit {
            let Some(cut) = walk.next(run.summary_tokens()) else { break };
            let attempted = cut.cut > cut.from;
            run.cycle(cut)?;
            if attempted {
                walk.gained(run.cycles.last().is_some_and(|trace| trace.tokens_after < trace.tokens_before));
            }
        }
        stuck = walk.stuck();
    } else {
        for cut in &locked.cuts {
            run.cycle(cut.clone())?;
        }
    }
    let amounts = planner.amounts(plan.window);
    let (overhead, overhead_source) = planner.overhead();
    Ok(Replay {
        window: plan.window,
        budget: amounts.budget,
        overhead,
        overhead_source,
        cycles: run.cycles,
        stuck,
    })
}

/// State of one replay between cycles.
struct Runner<'a> {
    prepared: &'a Prepared<'a>,
    planner: &'a Planner<'a>,
    plan: Plan<'a>,
    summarizer: &'a dyn Summarizer,
    ledger: Ledger,
    /// Summary without its wrapper, as the summarizer gets it back; and with it, as it stands in the context.
    summary: Option<Generated>,
    pinned: Option<(usize, u64)>,
    cycles: Vec<CycleTrace>,
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
            plan,
            summarizer,
            ledger: Ledger::default(),
            summary: None,
            pinned: None,
            cycles: Vec::new(),
        }
    }

    fn summary_tokens(&self) -> Option<u64> {
        self.summary.as_ref().map(|generated| generated.tokens)
    }

    /// Tokens of the context whose tail begins at `tail`, at message `end`.
    fn content(&self, tail: usize, end: usize) -> u64 {
        let pinned = self.pinned.map_or(0, |(_, tokens)| tokens);
        self.planner.content(self.summary_tokens(), pinned, tail, end)
    }

    /// Runs one compaction.
    fn cycle(&mut self, cut: Cut) -> Result<(), SummarizeError> {
        let transcript = self.prepared.view.transcript;
        // The control never compacts: its context is everything before the trigger.
        let control = self.plan.strategy == Strategy::None;
        let before = if control { self.content(0, cut.trigger) } else { self.content(cut.from, cut.trigger) };
        let old = self.build(if control { 0 } else { cut.from }, cut.trigger);
        let can = cut.cut > cut.from || self.plan.mode == Mode::Repeat;
        if can && !control {
            self.ledger.apply(transcript, self.prepared.effects, 0..cut.cut, self.plan.profile.files);
            self.pinned = cut.pinned;
            let lists = self.ledger.lists();
            self.summary = self.write(&cut, &lists)?.or_else(|| self.summary.take());
            self.pin();
        }
        let tail = if control {
            0
        } else if can {
            cut.cut
        } else {
            cut.from
        };
        let context = self.build(tail, cut.trigger);
        let trace = CycleTrace {
            generated: if can && !control { self.summary.clone() } else { None },
            lists: self.ledger.lists(),
            tokens_before: before,
            tokens_after: self.content(tail, cut.trigger),
            messages_before: old.entries.len() as u64,
            messages_after: context.entries.len() as u64,
            context,
            cut,
        };
        self.cycles.push(trace);
        Ok(())
    }

    /// Asks the strategy for the summary of one cycle; two of them for a split turn, where the profile wants that.
    fn write(&self, cut: &Cut, lists: &FileLists) -> Result<Option<Generated>, SummarizeError> {
        let budget = self.planner.amounts(self.plan.window).budget;
        let rules = self.plan.profile.text_rules();
        let request = SummaryRequest {
            view: &self.prepared.view,
            messages: cut.from..cut.cut,
            turn_start: cut.turn_start,
            previous: self.summary.as_ref().map(|generated| generated.text.as_str()),
            lists,
            cwd: self.prepared.cwd,
            layout: Layout::SixSections,
            list_form: rules.list_form,
            budget,
        };
        Ok(generate(self.plan.strategy, &request, &rules, self.summarizer))
    }

    /// Makes the tokens of the pinned request those of the text that really stands in the context.
    fn pin(&mut self) {
        if let Some((at, _)) = self.pinned {
            let tokens = match self.pinned_entry(at) {
                Entry::Clipped { text, .. } => self.prepared.view.tokenizer.count(&text) + MESSAGE_OVERHEAD,
                Entry::Kept(_) | Entry::Summary { .. } => self.prepared.view.tokens.range(at..at + 1),
            };
            self.pinned = Some((at, tokens));
        }
    }

    fn pinned_entry(&self, at: usize) -> Entry {
        let limit = self.planner.amounts(self.plan.window).pin;
        let message = MessageIdx::new(at);
        if self.prepared.view.tokens.range(at..at + 1) <= limit + MESSAGE_OVERHEAD {
            return Entry::Kept(message);
        }
        let text = self.prepared.view.transcript.messages.get(at).map(crate::transcript::Message::authored_text);
        Entry::Clipped { message, text: clip(&text.unwrap_or_default(), limit, self.prepared.view.tokenizer) }
    }

    /// The context with a tail of `tail..end`: system messages before it, summary, pinned request, tail.
    fn build(&self, tail: usize, end: usize) -> Context {
        let messages = &self.prepared.view.transcript.messages;
        let mut entries: Vec<Entry> = messages
            .iter()
            .take(tail)
            .enumerate()
            .filter(|(_, message)| message.role == Role::System)
            .map(|(index, _)| Entry::Kept(MessageIdx::new(index)))
            .collect();
        if let Some(generated) = &self.summary {
            let role = match self.plan.profile.summary.role {
                SummaryRole::User => Role::User,
                SummaryRole::Assistant => Role::Assistant,
            };
            entries.push(Entry::Summary { role, text: generated.text.clone() });
        }
        if let Some((at, _)) = self.pinned {
            entries.push(self.pinned_entry(at));
        }
        entries.extend((tail..end.min(messages.len())).map(|index| Entry::Kept(MessageIdx::new(index))));
        Context { entries }
    }
}
