//! When a session is compacted and where it is cut: the walk over the log, and the search for a window.
//!
//! Under the `locked` schedule the walk counts every summary at its full budget, so it depends on the session, the
//! profile and the window alone and all strategies share it. Under `free` the walk gets each strategy's own tokens.

use super::Prepared;
use super::asked::{Cause, Forced, How, is_due};
use super::ground::Ground;
use super::pruning::{Pruning, Stretch};
use super::units::Units;
use crate::compaction::Form;
use crate::cut::{CutRules, Mark, split};
use crate::estimate::usage::{Trailing, Unreported};
use crate::estimate::{Accounts, Calibration, Measure, UsageRules, entry_tokens};
use crate::harness::{Entry, Kind, Reported, Role as Speaker, Systems};
use crate::overflow::Usage;
use crate::profile::{Amounts, MIN_WINDOW, Profile};
use crate::tokens::{MESSAGE_OVERHEAD, TokenIndex};
use crate::transcript::{Role, Transcript};
use rustc_hash::FxHashSet;

/// Where the overhead of a session comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverheadSource {
    /// Tool schemas that the log holds.
    Schemas,
    /// Recorded prompt tokens minus counted tokens at the first call.
    FirstCall,
    /// The profile's own number.
    Profile,
}

impl OverheadSource {
    /// Name as written in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Schemas => "schemas",
            Self::FirstCall => "first-call",
            Self::Profile => "profile",
        }
    }
}

/// What the walk needs to know about a session, computed once.
#[derive(Debug, Clone)]
pub struct Terrain {
    /// Cut places.
    pub units: Units,
    /// Tokens of system messages before each message; one more than messages.
    system: Vec<u64>,
    /// Messages that answer a request, ascending: the trigger is looked at before them.
    replies: Vec<usize>,
    /// Messages in which a person asks, ascending.
    requests: Vec<usize>,
    /// Tokens of tool schemas or the first recorded call, if known.
    measured: Option<(u64, OverheadSource)>,
}

impl Terrain {
    /// Surveys a session. `schema_tokens` are the counted tokens of the tool schemas in the log.
    pub fn new(transcript: &Transcript, tokens: &TokenIndex, schema_tokens: Option<u64>) -> Self {
        let mut system = Vec::with_capacity(transcript.messages.len() + 1);
        let (mut replies, mut requests) = (Vec::new(), Vec::new());
        let refused: FxHashSet<usize> = transcript.refusals.iter().map(|one| one.before.get()).collect();
        let mut total = 0;
        system.push(total);
        for (index, message) in transcript.messages.iter().enumerate() {
            match message.role {
                Role::System => total += tokens.range(index..index + 1),
                // An error that the client wrote down as a reply answers nothing: its request was refused.
                Role::Assistant if message.usage.is_none() && refused.contains(&index) => {}
                Role::Assistant => replies.push(index),
                Role::User if message.is_user_request() => requests.push(index),
                Role::User | Role::Tool => {}
            }
            system.push(total);
        }
        let measured = schema_tokens.map(|count| (count, OverheadSource::Schemas)).or_else(|| {
            first_call(transcript, tokens, &replies).map(|count| (count, OverheadSource::FirstCall))
        });
        Self { units: Units::new(transcript, tokens), system, replies, requests, measured }
    }

    /// Tokens of a request beyond its messages, and how they are known.
    pub fn overhead(&self, profile: &Profile) -> (u64, OverheadSource) {
        self.measured.unwrap_or((profile.overhead.tokens, OverheadSource::Profile))
    }

    /// System messages before a message.
    pub fn systems(&self, end: usize) -> usize {
        self.system.get(1..=end).unwrap_or_default().windows(2).filter(|pair| pair[0] < pair[1]).count()
            + usize::from(end > 0 && self.system.get(1).is_some_and(|first| *first > 0))
    }

    /// Tokens of system messages in a run of messages.
    pub fn system(&self, end: usize) -> u64 {
        self.system.get(end).or(self.system.last()).copied().unwrap_or(0)
    }

    /// Messages in `range` before which a request was sent.
    pub fn replies(&self, range: std::ops::Range<usize>) -> &[usize] {
        let start = self.replies.partition_point(|at| *at < range.start);
        let end = self.replies.partition_point(|at| *at < range.end);
        self.replies.get(start..end).unwrap_or(&[])
    }

    /// Number of messages in which a person asks.
    pub fn requests(&self) -> usize {
        self.requests.len()
    }

    /// The newest message before `end` in which a person asks.
    pub fn newest_request(&self, end: usize) -> Option<usize> {
        let after = self.requests.partition_point(|request| *request < end);
        after.checked_sub(1).and_then(|at| self.requests.get(at)).copied()
    }

    /// The newest reply before `end`.
    pub fn newest_reply(&self, end: usize) -> Option<usize> {
        let after = self.replies.partition_point(|reply| *reply < end);
        after.checked_sub(1).and_then(|at| self.replies.get(at)).copied()
    }
}

/// Recorded minus counted prompt tokens at the first reply with usage, where the log shows the whole prompt.
fn first_call(transcript: &Transcript, tokens: &TokenIndex, replies: &[usize]) -> Option<u64> {
    if transcript.starts_compacted || transcript.starts_midway {
        return None;
    }
    let first = *replies.first()?;
    let usage = transcript.messages.get(first)?.usage.as_ref().filter(|usage| usage.input > 0)?;
    usage.input.checked_sub(tokens.range(0..first)).filter(|overhead| *overhead > 0)
}

/// A compaction to come: everything that does not depend on the strategy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The request before this message triggers it: messages before it are the prefix.
    pub trigger: usize,
    /// First message that the previous compaction kept (0 at first).
    pub from: usize,
    /// First message of the new tail.
    pub cut: usize,
    /// Start of the turn that the cut splits, if it splits one; inside `from..cut`.
    pub turn_start: Option<usize>,
    /// Newest user request, when it is not in the tail and the profile pins it; with its tokens in the context.
    pub pinned: Option<(usize, u64)>,
    /// The counted context had passed the window before the trigger fired.
    pub late: bool,
    /// What stays of the log is larger than the window.
    pub unfit: bool,
    /// Nothing can leave: there is no place to cut.
    pub uncut: bool,
    /// The system gives up on a summary here: what leaves is dropped with a notice.
    pub drop: bool,
    /// Why.
    pub cause: Cause,
    /// Size of the context by the measure of the policy's own trigger, in tokens; none where it knows none.
    pub measured: Option<u64>,
}

/// A summary as it stands in a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Its tokens, counted.
    pub tokens: u64,
    /// Its tokens as the profile estimates them.
    pub estimate: u64,
}

/// All compactions of a session at one window.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// Amounts it was made with.
    pub amounts: Amounts,
    /// Tokens of a request beyond its messages.
    pub overhead: u64,
    /// How the overhead is known.
    pub overhead_source: OverheadSource,
    /// The compactions in order.
    pub cuts: Vec<Cut>,
    /// It ended because two compactions in a row gained nothing.
    pub stuck: bool,
}

/// The walk over one session at one window.
#[derive(Debug)]
pub struct Walk<'a> {
    terrain: &'a Terrain,
    ground: &'a Ground,
    tokens: &'a TokenIndex,
    profile: &'a Profile,
    rules: &'a CutRules,
    amounts: Amounts,
    overhead: u64,
    position: usize,
    tail: usize,
    /// The newest compaction was made before this message; 0: there was none.
    since: usize,
    pinned: u64,
    /// What estimates are corrected by, and the reply up to which reports are taken in.
    calibration: Calibration,
    reported: usize,
    /// The least that was left by the compactions in a row that ended above the trigger.
    residual: Option<u64>,
    fruitless: u8,
}

impl Walk<'_> {
    /// The next compaction, given the summary in the context now (`None`: there is none yet).
    /// `None` when the log ends or two compactions in a row freed nothing.
    pub fn next(&mut self, summary: Option<Held>) -> Option<Cut> {
        loop {
            let ground = self.ground;
            let next = ground.forced.partition_point(|step| step.at <= self.position);
            let Some(step) = ground.forced.get(next) else { break };
            // In the same place the step is what happens.
            if let Some(at) = self.triggered(step.at - 1, summary) {
                return Some(self.fired(at, summary));
            }
            self.position = step.at;
            let held = self.estimated(step.at, summary);
            if is_due(step, ground, self.tail, held, self.profile, self.amounts.window) {
                return Some(self.at(step.at, summary, step.cause, Some(step)));
            }
        }
        self.triggered(usize::MAX, summary).map(|at| self.fired(at, summary))
    }

    /// The compaction of a trigger that fired.
    fn fired(&mut self, at: usize, summary: Option<Held>) -> Cut {
        let newest = self.terrain.newest_reply(at).filter(|reply| *reply >= self.since);
        let exceeds = |reply: usize| {
            let output = self.tokens.range(reply..reply + 1);
            let told = Usage { input: self.prompt(reply, summary), cache_read: 0, output };
            self.profile.overflow.exceeds(told, None, self.amounts.window)
        };
        let cause = if newest.is_some_and(exceeds) { Cause::Overflow } else { Cause::Trigger };
        self.at(at, summary, cause, None)
    }

    /// The next message up to one before which the trigger fires.
    fn triggered(&mut self, until: usize, summary: Option<Held>) -> Option<usize> {
        if self.fruitless >= 2 || !self.profile.trigger.enabled {
            return None;
        }
        let ground = self.ground;
        let rest = ground.checkpoints_between(self.position, until);
        let trigger = if self.profile.trigger.measure == Measure::Counted && ground.pruning.is_none() {
            // Grows from message to message: no need to look at all.
            let fixed = self.held(summary) + self.terrain.system(self.tail);
            let context = |end: usize| fixed + self.tokens.range(self.tail..end);
            *rest.get(rest.partition_point(|at| context(*at) < self.amounts.trigger))?
        } else {
            *rest.iter().find(|at| self.fires(**at, summary))?
        };
        Some(trigger)
    }

    /// Counted tokens of everything that is neither system nor tail.
    fn held(&self, summary: Option<Held>) -> u64 {
        summary.map_or(0, |held| held.tokens + MESSAGE_OVERHEAD) + self.pinned + self.overhead
    }

    /// Counted tokens of the request before a message.
    fn prompt(&self, end: usize, summary: Option<Held>) -> u64 {
        let stretch = Stretch { tail: self.tail, since: self.since };
        let tail = tail_tokens(self.ground, self.tokens, stretch, end, &self.amounts);
        self.held(summary) + self.terrain.system(self.tail) + tail
    }

    /// The context before a message as the profile estimates it, the system prompt with it.
    fn estimated(&self, end: usize, summary: Option<Held>) -> u64 {
        self.ground.system(end)
            + summary.map_or(0, |held| held.estimate)
            + self.ground.estimate(self.tail..end)
    }

    /// Does the trigger fire before a message? Usage is simulated: the provider reports the counted tokens of the request
    /// as its input, nothing of it from a cache, and the counted tokens of the reply as its output.
    fn fires(&mut self, at: usize, summary: Option<Held>) -> bool {
        self.measured(at, summary).is_some_and(|size| self.amounts.limit.fires(size, self.amounts.room))
    }

    /// The size of the context before a message by the measure of the trigger.
    fn measured(&mut self, at: usize, summary: Option<Held>) -> Option<u64> {
        let trigger = &self.profile.trigger;
        let usage = trigger.usage.as_ref().or(self.profile.usage.as_ref());
        match (trigger.measure, usage) {
            (Measure::Counted, _) => Some(self.prompt(at, summary)),
            (Measure::Usage | Measure::UsageAndEstimate, Some(rules)) => self.by_usage(at, summary, rules),
            (Measure::Calibrated, _) => Some(self.accounts(at, summary).effective()),
            (Measure::Estimate | Measure::Usage | Measure::UsageAndEstimate, _) => {
                Some(self.estimated(at, summary))
            }
        }
    }

    fn by_usage(&self, at: usize, summary: Option<Held>, rules: &UsageRules) -> Option<u64> {
        let Some(reply) = self.terrain.newest_reply(at).filter(|reply| *reply >= self.since) else {
            let none = rules.none_since.filter(|_| self.since > 0).unwrap_or(rules.none);
            return match none {
                Unreported::Estimate => Some(self.estimated(at, summary)),
                Unreported::Zero => Some(0),
                Unreported::Unknown => None,
            };
        };
        let told = Reported {
            input: self.prompt(reply, summary),
            output: self.tokens.range(reply..reply + 1),
            ..Reported::default()
        };
        let behind = match rules.trailing {
            Trailing::None | Trailing::BehindEarlier => 0,
            Trailing::WithReply => self.ground.estimate(reply..at),
            Trailing::Behind => self.ground.estimate(reply + 1..at),
        };
        Some(rules.tokens(&told) + behind)
    }

    /// The accounts before a message. Reports of replies since the last look are taken in first.
    fn accounts(&mut self, at: usize, summary: Option<Held>) -> Accounts {
        let rules = &self.profile.budget;
        // Tools are measured when a request is made: before the first one nothing is known of them.
        let overhead = |reply: usize| if rules.overhead && reply > 0 { self.ground.schema } else { 0 };
        if let Some(calibration) = &rules.calibration {
            let terrain = self.terrain;
            for reply in terrain.replies(self.reported.max(self.since)..at) {
                let estimate =
                    self.estimated(*reply, summary) + if rules.overhead { self.ground.schema } else { 0 };
                self.calibration.update(self.prompt(*reply, summary), estimate, calibration);
            }
            self.reported = at;
        }
        let known = self.terrain.newest_reply(at).map_or(0, |reply| reply + 1);
        Accounts {
            tokens: self.estimated(at, summary),
            overhead: overhead(known),
            calibration: self.calibration,
            room: self.amounts.room,
        }
    }

    /// The compaction that is decided before message `decided`.
    fn at(&mut self, decided: usize, summary: Option<Held>, cause: Cause, step: Option<&Forced>) -> Cut {
        let tail = self.tail;
        let late = self.prompt(decided, summary) > self.amounts.window;
        let measured = self.measured(decided, summary);
        self.position = decided;
        let mut made = Cut {
            trigger: decided,
            from: tail,
            cut: tail,
            turn_start: None,
            pinned: None,
            late,
            unfit: self.tokens.range(tail..decided) > self.amounts.window,
            uncut: true,
            drop: false,
            cause,
            measured,
        };
        if cause == Cause::Reset {
            (self.tail, self.since, self.pinned) = (decided, decided, 0);
            self.residual = None;
            return Cut { cut: decided, unfit: false, uncut: false, ..made };
        }
        let how = How::of(cause, step, self.profile, &self.amounts, self.tokens.range(tail..decided));
        let all = step.is_some_and(|step| step.above.is_some());
        let placed = if all { Some((decided, None, false)) } else { self.place(decided, summary, how) };
        let Some((cut, turn, drop)) = placed.filter(|(cut, ..)| *cut > tail) else {
            self.fruitless += u8::from(cause == Cause::Trigger);
            return made;
        };
        // What arrives while the summary is written stays behind the cut.
        let trigger = decided.saturating_add(self.profile.session.async_messages).min(self.tokens.len());
        made.trigger = trigger;
        self.position = trigger;
        let pinned = pinned(self.terrain, self.tokens, self.profile, &self.amounts, cut..trigger);
        let turn_start = if self.profile.turns_are_requests() {
            match self.terrain.newest_request(cut + 1) {
                Some(start) if start < cut => Some(start.max(tail)),
                _ => None,
            }
        } else {
            turn.filter(|_| !drop)
        };
        let unfit = self.tokens.range(cut..trigger) > self.amounts.window;
        self.tail = cut;
        self.since = trigger;
        self.pinned = pinned.map_or(0, |(_, tokens)| tokens);
        Cut { cut, turn_start, pinned, unfit, uncut: false, drop, ..made }
    }

    /// The first message of the new tail, the start of the turn that it splits, and whether what leaves is dropped.
    fn place(
        &mut self,
        trigger: usize,
        summary: Option<Held>,
        how: How,
    ) -> Option<(usize, Option<usize>, bool)> {
        let ground = self.ground;
        let (first, end) = (ground.entry(self.tail), ground.entry(trigger));
        let range = ground.marks.get(first..end)?;
        // In a session of messages the summary is one of them.
        let head = summary
            .filter(|_| self.profile.session.form == Form::Message && self.profile.session.summary_counts);
        let with_head: Vec<Mark>;
        let (marks, offset) = match head {
            Some(held) => {
                let size = match self.rules.measure {
                    crate::cut::Measure::Entries => 1,
                    crate::cut::Measure::Text => {
                        held.estimate.saturating_mul(self.rules.units_per_token) + self.rules.per_entry
                    }
                    crate::cut::Measure::Estimate => held.estimate,
                    crate::cut::Measure::Counted => held.tokens,
                };
                let role = crate::transcript::Role::from(self.profile.summary.role);
                let role = if role == Role::Assistant { Speaker::Assistant } else { Speaker::User };
                let mark = Mark { kind: Kind::Message, role, tool: false, safe: true, request: false, size };
                with_head = std::iter::once(mark).chain(range.iter().copied()).collect();
                (with_head.as_slice(), 1)
            }
            None => (range, 0),
        };
        let of_context = || self.profile.keep.context.map(|share| self.rules.share_of(marks, share));
        let keep = how.keep.or_else(of_context).unwrap_or(self.amounts.keep);
        let message = |place: usize| {
            let entry = first + place.saturating_sub(offset);
            ground.message(entry).filter(|_| entry < end).unwrap_or(trigger).min(trigger)
        };
        let placed = self.rules.place(marks, keep, how.force).filter(|place| *place > 0);
        if let Some(emergency) = &self.profile.emergency {
            let accounts = self.accounts(trigger, summary);
            let too_large = |place: usize| {
                let kept = ground.estimate(message(place)..trigger);
                accounts.is_emergency(accounts.tokens.saturating_sub(kept), &self.profile.budget)
            };
            if how.drop || placed.is_none_or(too_large) {
                let place = emergency.cut.place(marks, keep, false).unwrap_or(marks.len());
                return Some((message(place), None, true));
            }
        }
        let place = placed?;
        let turn = split(marks, place, &self.profile.turn).map(message);
        let entry = ground.safe_near(first + place.saturating_sub(offset), first, end, self.profile);
        let cut = ground.message(entry).filter(|_| entry < end).unwrap_or(trigger).min(trigger);
        Some((cut, turn.filter(|start| *start < cut), false))
    }

    /// Tells the walk the tokens of the context before and after the compaction it proposed, overhead not included.
    ///
    /// A compaction that leaves the context above the trigger is followed by another one at the next request: in such a
    /// row only one that leaves less than all before it is progress.
    pub fn compacted(&mut self, before: u64, after: u64) {
        let above = after + self.overhead >= self.amounts.trigger;
        let less = !above || self.residual.is_none_or(|least| after < least);
        self.residual = above.then(|| self.residual.map_or(after, |least| least.min(after)));
        self.fruitless = if after < before && less { 0 } else { self.fruitless + 1 };
    }

    /// Tells the walk where the tail begins, the message before which the newest compaction was made, and the tokens of the
    /// pinned request, where that is not what it proposed: the summary failed.
    pub fn stands(&mut self, tail: usize, since: usize, pinned: u64) {
        (self.tail, self.since, self.pinned) = (tail, since, pinned);
    }

    /// True when it ended for want of progress, not at the end of the log.
    pub fn stuck(&self) -> bool {
        self.fruitless >= 2
    }
}

/// The newest request of the user where a policy pins it and it is not in the tail, with its tokens in the context.
fn pinned(
    terrain: &Terrain,
    tokens: &TokenIndex,
    profile: &Profile,
    amounts: &Amounts,
    tail: std::ops::Range<usize>,
) -> Option<(usize, u64)> {
    let at = terrain.newest_request(tail.end).filter(|at| profile.pin_request && *at < tail.start)?;
    Some((at, tokens.range(at..at + 1).min(amounts.pin + MESSAGE_OVERHEAD)))
}

/// Tokens of a tail up to message `end` as a request carries it.
fn tail_tokens(ground: &Ground, tokens: &TokenIndex, stretch: Stretch, end: usize, amounts: &Amounts) -> u64 {
    let whole = tokens.range(stretch.tail..end);
    ground.pruning.as_ref().map_or(whole, |pruning| {
        let run = pruning.run(ground, stretch, end, amounts);
        whole.saturating_add_signed(-pruning.saved(&run))
    })
}

/// Results of a stretch that were marked to be pruned; tokens as the system holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marked {
    /// Before this message.
    pub at: usize,
    /// Of all results.
    pub results: u64,
    /// Of those that are pruned.
    pub pruned: u64,
    /// How many these are.
    pub pruned_results: u64,
    /// Counted tokens of the messages of the next request, without a summary.
    pub request: u64,
}

/// Two requests of a stretch that have only a part of its tail in common: tokens of the tail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parted {
    /// Up to where they part.
    pub prefix: u64,
    /// Up to the end of the pruned results of the first one; 0 where it has none.
    pub pruned: u64,
}

/// A planner for one session and profile: makes walks, schedules and windows.
#[derive(Debug)]
pub struct Planner<'a> {
    terrain: &'a Terrain,
    tokens: &'a TokenIndex,
    profile: &'a Profile,
    rules: CutRules,
    ground: Ground,
    overhead: (u64, OverheadSource),
    budget: Option<u64>,
}

impl<'a> Planner<'a> {
    /// Prepares planning; `budget` overrides the profile's summary budget in tokens.
    pub fn new(prepared: &'a Prepared<'_>, profile: &'a Profile, budget: Option<u64>) -> Self {
        let (terrain, tokens) = (&prepared.terrain, prepared.tokens);
        let ground = Ground::new(prepared, profile);
        let rules = profile.cut_rules();
        Self { terrain, tokens, profile, rules, ground, overhead: terrain.overhead(profile), budget }
    }

    /// The profile's amounts at a window.
    pub fn amounts(&self, window: u64) -> Amounts {
        self.profile.at(window, self.budget)
    }

    /// Tokens of a request beyond its messages, and how they are known.
    pub fn overhead(&self) -> (u64, OverheadSource) {
        self.overhead
    }

    /// Starts a walk at one window.
    pub fn walk(&self, window: u64) -> Walk<'_> {
        Walk {
            terrain: self.terrain,
            tokens: self.tokens,
            ground: &self.ground,
            profile: self.profile,
            rules: &self.rules,
            amounts: self.amounts(window),
            overhead: self.overhead.0,
            position: 0,
            tail: 0,
            since: 0,
            pinned: 0,
            calibration: Calibration::new(
                self.profile.budget.calibration.as_ref().map_or(1.0, |rules| rules.start),
            ),
            reported: 0,
            residual: None,
            fruitless: 0,
        }
    }

    /// The locked schedule at one window, at most `limit` compactions.
    pub fn schedule(&self, window: u64, limit: usize) -> Schedule {
        self.walked(window, limit).0
    }

    /// The locked schedule, and one more compaction at the end of the log, as if the next request triggered it, where more
    /// stands behind the last cut than may stay. Without a compaction before it the log does not fill the window: there is
    /// none then.
    pub fn schedule_to_end(&self, window: u64, limit: usize, messages: usize) -> Schedule {
        let (mut schedule, mut walk, summary) = self.walked(window, limit);
        let long = self.tokens.range(walk.tail..messages) > self.kept(&schedule.amounts);
        if !schedule.cuts.is_empty() && long {
            let last = walk.at(messages, summary.map(|tokens| self.held(tokens)), Cause::Trigger, None);
            schedule.cuts.extend(Some(last).filter(|cut| cut.cut > cut.from));
        }
        schedule
    }

    /// A schedule, the walk behind its last compaction, and the tokens of the summary there.
    fn walked(&self, window: u64, limit: usize) -> (Schedule, Walk<'_>, Option<u64>) {
        let amounts = self.amounts(window);
        let mut walk = self.walk(window);
        let mut cuts = Vec::new();
        let mut summary = None;
        let mut pinned = 0;
        let mut since = 0;
        let mut made = 0;
        while made < limit {
            let Some(cut) = walk.next(summary.map(|tokens| self.held(tokens))) else { break };
            if cut.cause == Cause::Reset {
                (since, pinned, summary) = (cut.trigger, 0, None);
                cuts.push(cut);
                continue;
            }
            made += 1;
            let before = self.content_decided(
                summary,
                pinned,
                Stretch { tail: cut.from, since },
                cut.trigger,
                &amounts,
            );
            if !cut.uncut {
                since = cut.trigger;
                pinned = cut.pinned.map_or(0, |(_, tokens)| tokens);
                summary = Some(amounts.budget);
                let left = Stretch { tail: cut.cut, since };
                walk.compacted(before, self.content(summary, pinned, left, cut.trigger, &amounts));
            }
            cuts.push(cut);
        }
        let stuck = made < limit && walk.stuck();
        let (overhead, overhead_source) = self.overhead;
        (Schedule { amounts, overhead, overhead_source, cuts, stuck }, walk, summary)
    }

    /// One compaction of the whole log, as if the next request after its end triggered it.
    pub fn schedule_of_whole(&self, window: u64, messages: usize) -> Schedule {
        let amounts = self.amounts(window);
        let mut walk = self.walk(window);
        let cut = walk.at(messages, None, Cause::Trigger, None);
        let cuts = if cut.cut > cut.from { vec![cut] } else { Vec::new() };
        Schedule { amounts, overhead: self.overhead.0, overhead_source: self.overhead.1, cuts, stuck: false }
    }

    /// A summary of which the tokens are known, not its text: an estimate of it is taken to be right.
    pub fn held(&self, tokens: u64) -> Held {
        Held { tokens, estimate: tokens }
    }

    /// A summary whose text is known.
    pub fn held_text(&self, tokens: u64, text: &str) -> Held {
        let role = Speaker::User;
        let estimate = self
            .profile
            .estimate
            .as_ref()
            .and_then(|rules| entry_tokens(&Entry::text(role, text), rules).ok())
            .unwrap_or(tokens);
        Held { tokens, estimate }
    }

    /// Tokens of a context without overhead: system messages, summary, pinned request, tail.
    pub fn content(
        &self,
        summary: Option<u64>,
        pinned: u64,
        stretch: Stretch,
        end: usize,
        amounts: &Amounts,
    ) -> u64 {
        self.terrain.system(stretch.tail)
            + summary.map_or(0, |tokens| tokens + MESSAGE_OVERHEAD)
            + pinned
            + self.tail(stretch, end, amounts)
    }

    /// The same where a compaction is decided before message `end`: results that would be marked there are not.
    pub fn content_decided(
        &self,
        summary: Option<u64>,
        pinned: u64,
        stretch: Stretch,
        end: usize,
        amounts: &Amounts,
    ) -> u64 {
        match end.checked_sub(1).filter(|newest| stretch.tail <= *newest) {
            Some(newest) if self.ground.pruning.as_ref().is_some_and(Pruning::is_marked) => {
                self.content(summary, pinned, stretch, newest, amounts) + self.tokens.range(newest..end)
            }
            _ => self.content(summary, pinned, stretch, end, amounts),
        }
    }

    /// The context before message `end` as the policy estimates it, with a tail and generated texts.
    pub fn estimated(&self, tail: usize, end: usize, texts: &[&str]) -> u64 {
        let held = texts.iter().map(|text| self.held_text(0, text).estimate).sum::<u64>();
        self.ground.system(end) + held + self.ground.estimate(tail..end)
    }

    /// Messages of a context as the system counts them, the summary aside.
    pub fn entries(&self, tail: usize, end: usize) -> usize {
        let before =
            if self.profile.messages.system == Systems::Inside { self.terrain.systems(tail) } else { 0 };
        before + self.ground.entry(end) - self.ground.entry(tail)
    }

    /// Where the results of a stretch were marked to be pruned, up to message `end`.
    pub fn marked(&self, stretch: Stretch, end: usize, window: u64) -> Option<Marked> {
        let pruning = self.ground.pruning.as_ref()?;
        let amounts = self.amounts(window);
        let at = pruning.boundary(&self.ground, stretch, end, &amounts)?;
        let run = pruning.run(&self.ground, stretch, at, &amounts);
        let (results, pruned) = pruning.held(&self.ground, stretch, at, &run);
        Some(Marked {
            at,
            results,
            pruned,
            pruned_results: pruning.replaced(&run).count() as u64,
            request: self.terrain.system(stretch.tail) + self.tail(stretch, at, &amounts),
        })
    }

    /// Messages before which the trigger is looked at, ascending.
    pub fn checkpoints(&self) -> &[usize] {
        &self.ground.checkpoints
    }

    /// A cut as it is where the policy gives up on its summary; `None` where it has no rule for that.
    pub fn dropped(&self, planned: &Cut, amounts: &Amounts) -> Option<Cut> {
        let (from, trigger) = (planned.from, planned.trigger);
        let cut = &self.profile.emergency.as_ref()?.cut;
        let first = self.ground.entry(from);
        let marks = self.ground.marks.get(first..self.ground.entry(trigger))?;
        let place = cut.place(marks, amounts.keep, false).unwrap_or(marks.len());
        let cut = self.ground.message(first + place).map_or(trigger, |at| at.min(trigger)).max(from);
        let pinned = pinned(self.terrain, self.tokens, self.profile, amounts, cut..trigger);
        Some(Cut { cut, turn_start: None, drop: true, pinned, ..planned.clone() })
    }

    /// Tokens of a tail up to message `end` as a request carries it.
    pub fn tail(&self, stretch: Stretch, end: usize, amounts: &Amounts) -> u64 {
        tail_tokens(&self.ground, self.tokens, stretch, end, amounts)
    }

    /// Where the request before message `now` parts from the one before message `before`, both of a stretch: at a result that
    /// was pruned in between. `None` where the one extends the other.
    pub fn parted(&self, stretch: Stretch, before: usize, now: usize, amounts: &Amounts) -> Option<Parted> {
        let pruning = self.ground.pruning.as_ref()?;
        let runs = [before, now].map(|end| pruning.run(&self.ground, stretch, end, amounts));
        let [old, new] = &runs;
        let changed = pruning.first_replaced(old.end.max(new.start)..new.end)?;
        let upto = |entry: usize| {
            let message = self.ground.source(entry).unwrap_or(stretch.tail).max(stretch.tail);
            let run = old.start..old.end.min(self.ground.entry(message)).max(old.start);
            self.tokens.range(stretch.tail..message).saturating_add_signed(-pruning.saved(&run))
        };
        Some(Parted { prefix: upto(changed), pruned: if old.is_empty() { 0 } else { upto(old.end) } })
    }

    /// What stands in place of results in the request before message `end`: link and text.
    pub fn pruned(
        &self,
        stretch: Stretch,
        end: usize,
        amounts: &Amounts,
    ) -> impl Iterator<Item = (usize, &str)> {
        let pruning = self.ground.pruning.as_ref();
        pruning.into_iter().flat_map(move |pruning| {
            let run = pruning.run(&self.ground, stretch, end, amounts);
            pruning.replaced(&run).collect::<Vec<_>>()
        })
    }

    /// A window at which the locked schedule has `cycles` compactions, or as many as it can have.
    ///
    /// Never below [`MIN_WINDOW`], nor system, pinned request, budget and twice the largest unit, nor so small that the
    /// context after a compaction leaves no room for one more unit before the next.
    pub fn window_for(&self, cycles: usize) -> u64 {
        let ceiling = self.ceiling();
        self.window_from(self.floor(ceiling), ceiling, cycles)
    }

    /// The same for a window at which other policies are to be replayed, too: a third above the least one, so that they have
    /// room. `None` where this policy compacts nothing there.
    pub fn window_to_share(&self, cycles: usize) -> Option<u64> {
        let ceiling = self.ceiling();
        let floor = self.floor(ceiling);
        let window = self.window_from(floor.saturating_add(floor / 3), ceiling, cycles);
        (!self.schedule(window, 1).cuts.is_empty()).then_some(window)
    }

    /// No larger window compacts anything.
    fn ceiling(&self) -> u64 {
        let whole = self.overhead.0 + self.tokens.total();
        ((whole as f64 / self.profile.fullness()) as u64).saturating_add(2)
    }

    fn window_from(&self, floor: u64, ceiling: u64, cycles: usize) -> u64 {
        if floor >= ceiling {
            return floor;
        }
        let compacts = |cut: &&Cut| cut.cause != Cause::Reset;
        let count = |window: u64| self.schedule(window, cycles + 1).cuts.iter().filter(compacts).count();
        let reached = count(floor).min(cycles);
        if reached == 0 {
            return floor;
        }
        // The largest window with at least so many compactions, and the largest with one more: take the middle, so
        // that the last compaction is not at the very end of the log.
        let largest_with = |wanted: usize, low: u64| -> u64 {
            let (mut low, mut high) = (low, ceiling);
            while low + 1 < high {
                let middle = low + (high - low) / 2;
                if count(middle) >= wanted { low = middle } else { high = middle }
            }
            low
        };
        let high = largest_with(reached, floor);
        let low = if count(floor) > reached { largest_with(reached + 1, floor) } else { floor };
        let middle = low + (high.saturating_sub(low)) / 2;
        if count(middle) == reached { middle } else { high }
    }

    /// A window that the whole session fills up to the trigger, for compacting it once and again.
    pub fn window_for_whole(&self, tokens: u64) -> u64 {
        let whole = self.overhead.0 + tokens;
        let full = (whole as f64 / self.profile.fullness()) as u64;
        full.max(self.floor(full.max(1)))
    }

    /// Tokens of a tail at least as large as the rules make it, where these count tokens.
    fn kept(&self, amounts: &Amounts) -> u64 {
        if self.rules.measure == crate::cut::Measure::Entries { 0 } else { amounts.keep }
    }

    /// The smallest window that this session can be replayed at.
    fn floor(&self, ceiling: u64) -> u64 {
        let system = self.overhead.0 + self.terrain.system(usize::MAX);
        let largest = self.terrain.units.largest();
        let longest =
            self.terrain.requests.iter().map(|at| self.tokens.range(*at..*at + 1)).max().unwrap_or(0);
        let fits = |window: u64| {
            let amounts = self.amounts(window);
            let pinned = if self.profile.pin_request { longest.min(amounts.pin) } else { 0 };
            let fixed = system + pinned + amounts.budget;
            window >= fixed + 2 * largest
                && amounts.trigger.min(window) >= fixed + self.kept(&amounts) + largest
        };
        let (mut low, mut high) = (0, ceiling.max(1));
        if !fits(high) {
            return high.max(MIN_WINDOW);
        }
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if fits(middle) { high = middle } else { low = middle }
        }
        high.max(MIN_WINDOW)
    }
}
