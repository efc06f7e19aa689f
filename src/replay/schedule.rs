//! When a session is compacted and where it is cut: the walk over the log, and the search for a window.
//!
//! Under the `locked` schedule the walk counts every summary at its full budget, so it depends on the session, the
//! profile and the window alone and all strategies share it. Under `free` the walk gets each strategy's own tokens.

use super::units::Units;
use crate::profile::{Amounts, Boundary, Check, MIN_WINDOW, Profile};
use crate::tokens::{MESSAGE_OVERHEAD, TokenIndex};
use crate::transcript::{Role, Transcript};

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
        let mut total = 0;
        system.push(total);
        for (index, message) in transcript.messages.iter().enumerate() {
            match message.role {
                Role::System => total += tokens.range(index..index + 1),
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

    /// The next message after `position` before which the trigger is looked at, from `from` in `replies`.
    fn checkpoints(&self, check: Check, transcript: &Transcript) -> Vec<usize> {
        match check {
            Check::Request => self.replies.clone(),
            Check::Turn => self
                .replies
                .iter()
                .copied()
                .filter(|reply| {
                    reply
                        .checked_sub(1)
                        .and_then(|before| transcript.messages.get(before))
                        .is_none_or(|message| message.role == Role::User)
                })
                .collect(),
        }
    }
}

/// Recorded minus counted prompt tokens at the first reply with usage, where the log shows the whole prompt.
fn first_call(transcript: &Transcript, tokens: &TokenIndex, replies: &[usize]) -> Option<u64> {
    if transcript.starts_compacted || transcript.starts_midway {
        return None;
    }
    let first = *replies.first()?;
    let usage = transcript.messages.get(first)?.usage.filter(|usage| usage.input > 0)?;
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
    /// One unit alone is larger than the window, or there is no place to cut.
    pub unfit: bool,
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
    tokens: &'a TokenIndex,
    checkpoints: &'a [usize],
    profile: &'a Profile,
    amounts: Amounts,
    overhead: u64,
    position: usize,
    tail: usize,
    pinned: u64,
    /// The least that was left by the compactions in a row that ended above the trigger.
    residual: Option<u64>,
    fruitless: u8,
}

impl Walk<'_> {
    /// The next compaction, given the tokens of the summary in the context now (`None`: there is none yet).
    /// `None` when the log ends or two compactions in a row freed nothing.
    pub fn next(&mut self, summary: Option<u64>) -> Option<Cut> {
        let held = summary.map_or(0, |tokens| tokens + MESSAGE_OVERHEAD) + self.pinned + self.overhead;
        let tail = self.tail;
        let fixed = held + self.terrain.system(tail);
        let context = |end: usize| fixed + self.tokens.range(tail..end);
        if self.fruitless >= 2 {
            return None;
        }
        let rest = self.checkpoints.get(self.checkpoints.partition_point(|at| *at <= self.position)..)?;
        let trigger = *rest.get(rest.partition_point(|at| context(*at) < self.amounts.trigger))?;
        Some(self.at(trigger, summary))
    }

    /// The compaction before message `trigger`.
    fn at(&mut self, trigger: usize, summary: Option<u64>) -> Cut {
        let tail = self.tail;
        let held = summary.map_or(0, |tokens| tokens + MESSAGE_OVERHEAD) + self.pinned + self.overhead;
        let late = held + self.terrain.system(tail) + self.tokens.range(tail..trigger) > self.amounts.window;
        self.position = trigger;
        let Some(cut) = self.place(trigger) else {
            self.fruitless += 1;
            return Cut { trigger, from: tail, cut: tail, turn_start: None, pinned: None, late, unfit: true };
        };
        let request = self.terrain.newest_request(trigger);
        let pinned = request
            .filter(|at| self.profile.pin_request && *at < cut)
            .map(|at| (at, self.tokens.range(at..at + 1).min(self.amounts.pin + MESSAGE_OVERHEAD)));
        let turn_start = match self.terrain.newest_request(cut + 1) {
            Some(start) if start < cut => Some(start.max(tail)),
            _ => None,
        };
        let unfit = self.tokens.range(cut..trigger) > self.amounts.window;
        self.tail = cut;
        self.pinned = pinned.map_or(0, |(_, tokens)| tokens);
        Cut { trigger, from: tail, cut, turn_start, pinned, late, unfit }
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

    /// True when it ended for want of progress, not at the end of the log.
    pub fn stuck(&self) -> bool {
        self.fruitless >= 2
    }

    /// First message of the new tail: the largest run of whole units within the tail budget, at least the newest unit.
    fn place(&self, trigger: usize) -> Option<usize> {
        let mut best = None;
        let mut at_request = None;
        for cut in (self.tail + 1..trigger).rev() {
            let within = self.tokens.range(cut..trigger) <= self.amounts.keep;
            if !within && best.is_some() {
                break;
            }
            if self.terrain.units.safe(cut) {
                best = Some(cut);
                if within && self.terrain.requests.binary_search(&cut).is_ok() {
                    at_request = Some(cut);
                }
                if !within {
                    break;
                }
            }
        }
        match self.profile.keep.boundary {
            Boundary::Unit => best,
            Boundary::Turn => at_request.or(best),
        }
    }
}

/// A planner for one session and profile: makes walks, schedules and windows.
#[derive(Debug)]
pub struct Planner<'a> {
    terrain: &'a Terrain,
    tokens: &'a TokenIndex,
    profile: &'a Profile,
    checkpoints: Vec<usize>,
    overhead: (u64, OverheadSource),
    budget: Option<u64>,
}

impl<'a> Planner<'a> {
    /// Prepares planning; `budget` overrides the profile's summary budget in tokens.
    pub fn new(
        transcript: &Transcript,
        terrain: &'a Terrain,
        tokens: &'a TokenIndex,
        profile: &'a Profile,
        budget: Option<u64>,
    ) -> Self {
        let checkpoints = terrain.checkpoints(profile.trigger.check, transcript);
        Self { terrain, tokens, profile, checkpoints, overhead: terrain.overhead(profile), budget }
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
            checkpoints: &self.checkpoints,
            profile: self.profile,
            amounts: self.amounts(window),
            overhead: self.overhead.0,
            position: 0,
            tail: 0,
            pinned: 0,
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
        let long = self.tokens.range(walk.tail..messages) > schedule.amounts.keep;
        if !schedule.cuts.is_empty() && long {
            let last = walk.at(messages, summary);
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
        while cuts.len() < limit {
            let Some(cut) = walk.next(summary) else { break };
            let before = self.content(summary, pinned, cut.from, cut.trigger);
            if !cut.unfit || cut.cut > cut.from {
                pinned = cut.pinned.map_or(0, |(_, tokens)| tokens);
                summary = Some(amounts.budget);
                walk.compacted(before, self.content(summary, pinned, cut.cut, cut.trigger));
            }
            cuts.push(cut);
        }
        let stuck = cuts.len() < limit && walk.stuck();
        let (overhead, overhead_source) = self.overhead;
        (Schedule { amounts, overhead, overhead_source, cuts, stuck }, walk, summary)
    }

    /// One compaction of the whole log, as if the next request after its end triggered it.
    pub fn schedule_of_whole(&self, window: u64, messages: usize) -> Schedule {
        let amounts = self.amounts(window);
        let mut walk = self.walk(window);
        let cut = walk.at(messages, None);
        let cuts = if cut.cut > cut.from { vec![cut] } else { Vec::new() };
        Schedule { amounts, overhead: self.overhead.0, overhead_source: self.overhead.1, cuts, stuck: false }
    }

    /// Tokens of a context without overhead: system messages, summary, pinned request, tail.
    pub fn content(&self, summary: Option<u64>, pinned: u64, tail: usize, end: usize) -> u64 {
        self.terrain.system(tail)
            + summary.map_or(0, |tokens| tokens + MESSAGE_OVERHEAD)
            + pinned
            + self.tokens.range(tail..end)
    }

    /// A window at which the locked schedule has `cycles` compactions, or as many as it can have.
    ///
    /// Never below [`MIN_WINDOW`], nor system, pinned request, budget and twice the largest unit, nor so small that the
    /// context after a compaction leaves no room for one more unit before the next.
    pub fn window_for(&self, cycles: usize) -> u64 {
        let whole = self.overhead.0 + self.tokens.total();
        let ceiling = ((whole as f64 / self.profile.trigger.threshold) as u64).saturating_add(2);
        let floor = self.floor(ceiling);
        if floor >= ceiling {
            return floor;
        }
        let count = |window: u64| self.schedule(window, cycles + 1).cuts.len();
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
        let full = (whole as f64 / self.profile.trigger.threshold) as u64;
        full.max(self.floor(full.max(1)))
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
            window >= fixed + 2 * largest && amounts.trigger >= fixed + amounts.keep + largest
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
