//! Sessions x plans -> rows, in parallel: one session is read, prepared, replayed under every plan, scored and dropped.
//!
//! Files run largest first; rows are put back in input order, so the bytes of the output do not depend on threads. A
//! panic costs one session: it becomes an error row. Nothing here prints or decides an exit code.

mod assemble;
mod audit;
pub mod fold;
pub mod inspect;
mod kept;
mod logs;
pub mod probes;
mod rows;
pub mod show;
mod spells;

use crate::diagnostic::Severity;
use crate::discover::{Discovered, Source};
use crate::facts::FactSet;
use crate::models::{DEFAULT_WINDOW, window_of};
use crate::profile::Profile;
use crate::replay::events::events;
use crate::replay::stage::Stages;
use crate::replay::{
    Asked, Cost, Mode, Plan, Planner, Schedule, ScheduleMode, effects, kinds, repeat_schedule, replay,
};
use crate::results::{
    AuditRow, ClassRow, CycleRow, EventRow, FactRow, LossRow, Name, Problem, RunOutput, SessionRow, SpellRow,
    WriterSettings, ratio,
};
use crate::score::{Cycle, CycleScore, Scorer};
use crate::strategy::Strategy;
use crate::strategy::exec::EXEC;
use crate::summarize::Summarizer;
use crate::tokens::{TokenIndex, Tokenizer};
use crate::transcript::{MessageIdx, Origin, Transcript};
use assemble::assemble;
pub use kept::Kept;
use logs::{LogRead, read_log};
use rayon::prelude::*;
use rows::{Frame, Scene};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How windows are chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Windows {
    /// Searched per session so that this many cycles happen.
    Cycles(usize),
    /// Searched per session so that this many cycles happen under the first profile; every profile is replayed at what was
    /// found there, to the end of the log, so that profiles can be compared. Where the first one compacts nothing, none does.
    Shared(usize),
    /// Given, one replay each.
    Given(Vec<WindowChoice>),
}

/// A window given on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowChoice {
    /// Tokens.
    Tokens(u64),
    /// The window the log states, else that of its model, else the default.
    Auto,
}

/// What to do with a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    /// Compact it under every plan.
    Replay,
    /// Score the compactions it holds; profiles, strategies, windows, budgets and modes are not looked at.
    Audit,
}

/// What to run.
#[derive(Debug, Clone)]
pub struct RunSettings {
    /// What to do.
    pub job: Job,
    /// Profiles in order.
    pub profiles: Vec<Profile>,
    /// Strategies in order.
    pub strategies: Vec<Strategy>,
    /// Windows.
    pub windows: Windows,
    /// Summary budget in tokens, instead of the profile's.
    pub summary_tokens: Option<u64>,
    /// What is done beside the trigger.
    pub asked: Asked,
    /// Locked or free.
    pub schedule: ScheduleMode,
    /// Grow or repeat; repeat runs as many rounds as `windows` asks cycles (5 with given windows).
    pub mode: Mode,
    /// How tokens are counted.
    pub tokenizer: Tokenizer,
    /// Threads; 0 means all cores.
    pub jobs: usize,
    /// Keep a row per fact and cycle.
    pub log_facts: bool,
    /// Keep what the systems tell of their compactions.
    pub events: bool,
    /// The model that writes summaries, where one does.
    pub writer: Option<WriterSettings>,
}

impl RunSettings {
    /// A replay as it is where nothing else is asked for: the standard policy, one schedule for all strategies, exact tokens, one
    /// thread.
    pub fn replay(strategies: &[Strategy], windows: Windows) -> Self {
        Self {
            job: Job::Replay,
            profiles: vec![Profile::standard()],
            strategies: strategies.to_vec(),
            windows,
            summary_tokens: None,
            asked: Asked::default(),
            schedule: ScheduleMode::Locked,
            mode: Mode::Grow,
            tokenizer: Tokenizer::O200k,
            jobs: 1,
            log_facts: false,
            events: false,
            writer: None,
        }
    }

    /// An audit: what a replay would need is not looked at.
    pub fn audit(tokenizer: Tokenizer, jobs: usize, log_facts: bool) -> Self {
        Self {
            job: Job::Audit,
            profiles: Vec::new(),
            strategies: Vec::new(),
            windows: Windows::Given(Vec::new()),
            summary_tokens: None,
            asked: Asked::default(),
            schedule: ScheduleMode::Free,
            mode: Mode::Grow,
            tokenizer,
            jobs,
            log_facts,
            events: false,
            writer: None,
        }
    }
}

/// Rounds of `repeat` when windows are given.
const REPEAT_ROUNDS: usize = 5;

/// Called when a file is finished, with its bytes and sessions.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// The worker threads could not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start {jobs} worker threads: {reason}; try a smaller --jobs")]
pub struct PoolError {
    /// Threads asked for.
    pub jobs: usize,
    /// What the system said.
    pub reason: String,
}

/// Everything from one file, with what became of each session.
struct FileOutcome<S> {
    ingested: Option<FileFacts>,
    problems: Vec<Problem>,
    sessions: Vec<S>,
}

/// What the manifest says about a file that was read.
struct FileFacts {
    hash: [u8; 32],
    bytes: u64,
    lost: bool,
}

/// Everything from one session.
#[derive(Default, Serialize, Deserialize)]
struct SessionOutcome {
    id: String,
    /// What failed is never kept.
    #[serde(skip)]
    failed: bool,
    exercised: bool,
    cycles: Vec<CycleRow>,
    classes: Vec<ClassRow>,
    sessions: Vec<SessionRow>,
    spells: Vec<SpellRow>,
    audits: Vec<AuditRow>,
    facts: Vec<FactRow>,
    events: Vec<EventRow>,
    /// The worst under a strategy that writes a summary, and the worst under the others.
    losses: Vec<Loss>,
    /// Per plan that was replayed, in order, the facts lost at some cycle; of no use once the session is done.
    #[serde(skip)]
    lost: Vec<FxHashSet<u32>>,
}

/// A loss, before it is known whether it is among the worst.
#[derive(Serialize, Deserialize)]
struct Loss {
    rank: LossRank,
    row: LossRow,
    /// The fact.
    fact: u32,
    /// Place of its plan in [`SessionOutcome::lost`].
    plan: usize,
}

/// Orders losses, most damaging first.
type LossRank = (std::cmp::Reverse<u64>, u8, u64);

/// Runs everything. Inputs that could not be found are problems of the manifest, like files that could not be read.
pub fn run(
    discovered: &Discovered,
    settings: &RunSettings,
    summarizer: &dyn Summarizer,
    progress: Progress<'_>,
) -> Result<RunOutput, PoolError> {
    run_kept(discovered, settings, summarizer, progress, None)
}

/// The same; sessions that are kept already are not worked on again, and finished ones are kept.
pub fn run_kept(
    discovered: &Discovered,
    settings: &RunSettings,
    summarizer: &dyn Summarizer,
    progress: Progress<'_>,
    kept: Option<&Kept<'_>>,
) -> Result<RunOutput, PoolError> {
    let outcomes = each_file(discovered, settings.jobs, progress, &|transcript, place| {
        let rows = || match settings.job {
            Job::Replay => session(transcript, place, settings, summarizer),
            Job::Audit => audit::session(transcript, place, settings),
        };
        let outcome =
            || catch_unwind(AssertUnwindSafe(rows)).unwrap_or_else(|_| failed(transcript, place, settings));
        match kept {
            Some(kept) => kept.or_else(transcript, place, outcome),
            None => outcome(),
        }
    })?;
    Ok(assemble(discovered, settings, summarizer, outcomes))
}

/// Reads every file, works on its sessions, and gives what came of it in input order.
fn each_file<S: Send>(
    discovered: &Discovered,
    jobs: usize,
    progress: Progress<'_>,
    work: &(dyn Fn(&Transcript, Place<'_>) -> S + Sync),
) -> Result<Vec<FileOutcome<S>>, PoolError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build()
        .map_err(|error| PoolError { jobs, reason: error.to_string() })?;
    let mut order: Vec<usize> = (0..discovered.sources.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(discovered.sources.get(*at).map_or(0, |source| source.bytes)));
    let mut outcomes: Vec<(usize, FileOutcome<S>)> = pool.install(|| {
        order
            .par_iter()
            .with_max_len(1)
            .filter_map(|at| {
                let source = discovered.sources.get(*at)?;
                let outcome = file(source, work);
                progress(source.bytes, outcome.sessions.len() as u64);
                Some((*at, outcome))
            })
            .collect()
    });
    outcomes.sort_by_key(|(at, _)| *at);
    Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
}

/// Reads one file and works on its sessions.
fn file<S: Send>(source: &Source, work: &(dyn Fn(&Transcript, Place<'_>) -> S + Sync)) -> FileOutcome<S> {
    let lost = |code: &str, text: String| {
        let problem = Problem {
            source: source.label.clone(),
            line: 0,
            code: code.to_owned(),
            severity: "lost".to_owned(),
            text,
        };
        FileOutcome { ingested: None, problems: vec![problem], sessions: Vec::new() }
    };
    let mut sessions: Vec<S> = Vec::new();
    let read = read_log(source, &mut |read| {
        sessions.par_extend(read.par_iter().map(|transcript| {
            // A canonical log tells where its sessions came from, or does not know.
            let format = transcript.format.as_deref().unwrap_or("canonical");
            work(transcript, Place { source: &source.label, format })
        }));
    });
    let LogRead { ingested, hash, bytes } = match read {
        Ok(read) => read,
        Err(unread) => return lost(unread.code, unread.text),
    };
    let problems: Vec<Problem> = ingested
        .diagnostics
        .iter()
        .map(|diagnostic| Problem {
            source: source.label.clone(),
            line: u64::from(diagnostic.line),
            code: diagnostic.code.to_owned(),
            severity: severity(diagnostic.severity).to_owned(),
            text: diagnostic.text.clone(),
        })
        .collect();
    let lost = problems.iter().any(|problem| problem.severity == "lost");
    FileOutcome { ingested: Some(FileFacts { hash, bytes, lost }), problems, sessions }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Damage => "damage",
        Severity::Lost => "lost",
    }
}

/// Where a session was read from.
#[derive(Clone, Copy)]
struct Place<'a> {
    source: &'a str,
    format: &'a str,
}

/// Rows of a session on which the program itself failed.
fn failed(transcript: &Transcript, place: Place<'_>, settings: &RunSettings) -> SessionOutcome {
    let mut outcome = SessionOutcome { id: transcript.id.clone(), failed: true, ..SessionOutcome::default() };
    let mut fail = |profile: &str, strategy: Strategy| {
        let mut row = session_row(transcript, place, profile.into(), strategy);
        "the replay of this session failed; please report it with the log".clone_into(&mut row.error);
        outcome.sessions.push(row);
    };
    match settings.job {
        Job::Audit => fail(place.format, Strategy::Recorded),
        Job::Replay => {
            for profile in &settings.profiles {
                settings.strategies.iter().for_each(|strategy| fail(&profile.name, *strategy));
            }
        }
    }
    outcome
}

/// Place of a plan among the profiles, windows and strategies of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanAt {
    /// Of its profile.
    pub profile: usize,
    /// Of its window; 0 where windows are searched for.
    pub window: usize,
    /// Of its strategy.
    pub strategy: usize,
}

/// Replays one session under every plan.
fn session(
    transcript: &Transcript,
    place: Place<'_>,
    settings: &RunSettings,
    summarizer: &dyn Summarizer,
) -> SessionOutcome {
    let mut outcome = SessionOutcome { id: transcript.id.clone(), ..SessionOutcome::default() };
    let ears = &mut Ears { cycle: &mut |_, _| {}, plan: &mut |_, _| {} };
    under_plans(transcript, place, settings, summarizer, &|_| true, &mut outcome, ears);
    outcome
}

/// Who listens while a session is replayed.
struct Ears<'e> {
    /// Hears of each cycle of each plan.
    cycle: &'e mut dyn FnMut(PlanAt, &Heard<'_>),
    /// Hears of each plan when it is done, and may take its rows away.
    plan: &'e mut dyn FnMut(PlanAt, &mut SessionOutcome),
}

/// One cycle, scored.
struct Heard<'h> {
    /// Its number, from 1.
    number: usize,
    cycle: &'h Cycle<'h>,
    score: &'h CycleScore,
    /// Tokens.
    window: u64,
}

/// Prepares a session once and replays it under every plan that is wanted.
fn under_plans(
    transcript: &Transcript,
    place: Place<'_>,
    settings: &RunSettings,
    summarizer: &dyn Summarizer,
    wanted: &dyn Fn(PlanAt) -> bool,
    outcome: &mut SessionOutcome,
    ears: &mut Ears<'_>,
) {
    let tokens = TokenIndex::new(transcript, settings.tokenizer);
    let effects = effects(transcript);
    let stages = Stages::new(transcript, &tokens, settings.tokenizer, &kinds(&effects), &settings.profiles);
    let prepared = stages.prepare(transcript, &tokens, settings.tokenizer, &effects, &settings.asked);
    let planners = stages.planners(&prepared, &settings.profiles, settings.summary_tokens);
    let targets = targets(transcript, &tokens, &planners, settings, wanted);
    let like = session_row(transcript, place, Name::default(), Strategy::None);
    let of_profile =
        |target: &Target<'_>| SessionRow { profile: target.profile.name.as_str().into(), ..like.clone() };
    let likes: Vec<SessionRow> = targets.iter().map(of_profile).collect();
    let reach = Reach::of(&targets, transcript, settings);
    // Facts are extracted only for sessions that are compacted at all.
    let facts = reach.map(|reach| {
        for one in &prepared {
            one.view.until(reach.cut);
        }
        FactSet::extract_until(transcript, &effects, MessageIdx::new(reach.trigger))
    });
    let scorer = facts.as_ref().map(|facts| Scorer::new(transcript, facts));
    let makeup = Makeup::of(transcript, &tokens, facts.as_ref());
    let mut stopped = 0;
    for (target, like) in targets.iter().zip(&likes) {
        let Target { at, profile, planner, choice, window, source, limit, locked } = target;
        let Some(prepared) = prepared.get(stages.of(*at)) else { continue };
        let first = outcome.lost.len();
        for (number, strategy) in settings.strategies.iter().enumerate() {
            let place_of = PlanAt { profile: *at, window: *choice, strategy: number };
            if !wanted(place_of) {
                continue;
            }
            let plan = Plan {
                profile,
                strategy: *strategy,
                window: *window,
                limit: *limit,
                mode: settings.mode,
                schedule: settings.schedule,
            };
            let result = replay(prepared, planner, locked, plan, summarizer);
            let mut row = SessionRow { strategy: strategy.name().into(), ..like.clone() };
            row.window = *window;
            source.name().clone_into(&mut row.window_source);
            makeup.tell(&mut row);
            if let Some(why) = result.stopped {
                row.error = why;
                outcome.sessions.push(row);
                stopped += 1;
                (ears.plan)(place_of, outcome);
                continue;
            }
            row.recorded_over_counted = calibration(transcript, &tokens, result.overhead);
            row.cycles_asked = match settings.windows {
                Windows::Cycles(cycles) | Windows::Shared(cycles) => cycles as u64,
                Windows::Given(_) => 0,
            };
            if let (Some(facts), Some(scorer)) = (&facts, &scorer) {
                let frame = Frame::of(&plan, planner, summarizer);
                let log_facts = settings.log_facts;
                let scene = Scene { transcript, prepared, facts, scorer, like, frame, log_facts };
                scene.rows(&result, &mut row, outcome, |index, cycle, score| {
                    let heard = Heard { number: index + 1, cycle, score, window: *window };
                    (ears.cycle)(place_of, &heard);
                });
            }
            tell_cost(&mut row, &result.cost);
            if settings.events && *strategy != Strategy::None {
                let told = events(prepared, planner, profile, &result).into_iter().map(|event| EventRow {
                    session: row.session.clone(),
                    profile: like.profile.clone(),
                    strategy: strategy.name().to_owned(),
                    window: *window,
                    cycle: event.cycle,
                    message: event.at as u64,
                    kind: event.kind.to_owned(),
                    text: event.text,
                });
                outcome.events.extend(told);
            }
            outcome.exercised |= row.exercised;
            outcome.sessions.push(row);
            (ears.plan)(place_of, outcome);
        }
        also_lost(outcome, first, &settings.strategies);
    }
    outcome.failed |= stopped > 0 && stopped == outcome.sessions.len();
}

/// One way to replay a session.
struct Target<'p> {
    /// Position of the profile.
    at: usize,
    profile: &'p Profile,
    planner: &'p Planner<'p>,
    /// Position of the window.
    choice: usize,
    /// Tokens.
    window: u64,
    source: WindowSource,
    /// Most cycles.
    limit: usize,
    /// The schedule that strategies share.
    locked: Schedule,
}

/// Every profile at every window.
fn targets<'p>(
    transcript: &Transcript,
    tokens: &TokenIndex,
    planners: &'p [Planner<'p>],
    settings: &'p RunSettings,
    wanted: &dyn Fn(PlanAt) -> bool,
) -> Vec<Target<'p>> {
    let mut targets = Vec::new();
    let shared = match (&settings.windows, settings.mode) {
        (Windows::Shared(cycles), Mode::Grow) => planners.first().map(|first| {
            // What the first profile does not compact is compacted by none: there is nothing to compare.
            let found = first.window_to_share(*cycles);
            (found.unwrap_or_else(|| first.window_for(*cycles)), if found.is_some() { usize::MAX } else { 0 })
        }),
        _ => None,
    };
    for (at, (profile, planner)) in settings.profiles.iter().zip(planners).enumerate() {
        let found = match shared {
            Some((window, limit)) => vec![(window, WindowSource::Cycles, limit)],
            None => windows(transcript, tokens, planner, settings),
        };
        for (choice, (window, source, limit)) in found.into_iter().enumerate() {
            let is_wanted = |strategy| wanted(PlanAt { profile: at, window: choice, strategy });
            if !(0..settings.strategies.len()).any(is_wanted) {
                continue;
            }
            let locked = match settings.mode {
                Mode::Grow => planner.schedule(window, limit),
                Mode::Repeat => repeat_schedule(planner, transcript.messages.len(), window, limit),
            };
            targets.push(Target { at, profile, planner, choice, window, source, limit, locked });
        }
    }
    targets
}

/// How far into a session its compactions reach: what stands behind can neither be compacted nor lost.
#[derive(Clone, Copy)]
struct Reach {
    /// No prefix ends behind this message.
    trigger: usize,
    /// No cut lies behind this one.
    cut: usize,
}

impl Reach {
    /// `None` when nothing is compacted. Where each strategy goes by its own tokens, any message may be reached.
    fn of(targets: &[Target<'_>], transcript: &Transcript, settings: &RunSettings) -> Option<Self> {
        let cuts = || targets.iter().flat_map(|target| &target.locked.cuts);
        let (trigger, cut) = (cuts().map(|cut| cut.trigger).max()?, cuts().map(|cut| cut.cut).max()?);
        let whole = transcript.messages.len();
        Some(match settings.schedule {
            ScheduleMode::Locked => Self { trigger, cut },
            ScheduleMode::Free => Self { trigger: whole, cut: whole },
        })
    }
}

/// Tells the losses of the plans from `first` on, one per strategy, which other strategies lose the same.
fn also_lost(outcome: &mut SessionOutcome, first: usize, strategies: &[Strategy]) {
    let plans = outcome.lost.get(first..).unwrap_or_default();
    for loss in outcome.losses.iter_mut().filter(|loss| loss.plan >= first) {
        loss.row.also = plans
            .iter()
            .zip(strategies)
            .enumerate()
            .filter(|(at, (lost, _))| first + at != loss.plan && lost.contains(&loss.fact))
            .map(|(_, (_, strategy))| strategy.name().to_owned())
            .collect();
    }
}

/// Price of a token that is new to the provider's cache, by how long that holds it: five minutes, one hour.
const WRITE: [f64; 2] = [1.25, 2.0];

/// Price in input-token equivalents: cached tokens at a tenth, those that are written to the cache at `write`.
fn price(prompt: u64, cached: u64, write: f64) -> f64 {
    cached as f64 * 0.1 + (prompt - cached.min(prompt)) as f64 * write
}

/// The price with a cache that is never idle for long.
fn cost_units(prompt: u64, cached: u64) -> f64 {
    price(prompt, cached, WRITE[0])
}

/// What the requests of a session cost.
fn tell_cost(row: &mut SessionRow, cost: &Cost) {
    row.requests = cost.requests;
    row.prompt_tokens = cost.prompt;
    row.cached_tokens = cost.cached;
    row.cost_units = cost_units(cost.prompt, cost.cached);
    row.context_tokens = cost.newest;
    row.total_tokens = cost.prompt + cost.output;
    if cost.lived.untimed == 0 {
        let [short, long] = cost.lived.prefix;
        (row.cached_5m, row.cached_1h) = (Some(short), Some(long));
        row.cost_5m = Some(price(cost.prompt, short, WRITE[0]));
        row.cost_1h = Some(price(cost.prompt, long, WRITE[1]));
        let [short, long] = cost.lived.breakpoints;
        (row.cached_marked_5m, row.cached_marked_1h) = (Some(short), Some(long));
        row.cost_marked_5m = Some(price(cost.prompt, short, WRITE[0]));
        row.cost_marked_1h = Some(price(cost.prompt, long, WRITE[1]));
    }
}

/// How a window came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WindowSource {
    Cycles,
    Given,
    Log,
    Model,
    Default,
    /// The session as a whole fills it.
    Whole,
}

impl WindowSource {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Given => "given",
            Self::Log => "log",
            Self::Model => "model-table",
            Self::Default => "default",
            Self::Whole => "whole",
        }
    }
}

/// Windows to replay a session at, how each came about, and how many cycles to run at most.
fn windows(
    transcript: &Transcript,
    tokens: &TokenIndex,
    planner: &Planner<'_>,
    settings: &RunSettings,
) -> Vec<(u64, WindowSource, usize)> {
    match (&settings.windows, settings.mode) {
        (Windows::Cycles(cycles) | Windows::Shared(cycles), Mode::Grow) => {
            vec![(planner.window_for(*cycles), WindowSource::Cycles, *cycles)]
        }
        (Windows::Cycles(cycles) | Windows::Shared(cycles), Mode::Repeat) => {
            vec![(planner.window_for_whole(tokens.total()), WindowSource::Cycles, *cycles)]
        }
        (Windows::Given(choices), mode) => choices
            .iter()
            .map(|choice| {
                let (window, source) = match choice {
                    WindowChoice::Tokens(window) => (*window, WindowSource::Given),
                    WindowChoice::Auto => auto_window(transcript),
                };
                let limit = if mode == Mode::Repeat { REPEAT_ROUNDS } else { usize::MAX };
                (window, source, limit)
            })
            .collect(),
    }
}

/// The window that the log states, else that of its model, else the default.
pub(crate) fn auto_window(transcript: &Transcript) -> (u64, WindowSource) {
    if let Some(window) = transcript.context_window {
        return (window, WindowSource::Log);
    }
    match transcript.model.as_deref().and_then(window_of) {
        Some(window) => (window, WindowSource::Model),
        None => (DEFAULT_WINDOW, WindowSource::Default),
    }
}

/// Recorded prompt tokens against counted ones, at the last reply with usage before any recorded compaction.
fn calibration(transcript: &Transcript, tokens: &TokenIndex, overhead: u64) -> Option<f64> {
    if transcript.starts_compacted || transcript.starts_midway {
        return None;
    }
    let end = transcript.recorded.first().map_or(transcript.messages.len(), |recorded| recorded.before.get());
    let (at, usage) =
        transcript.messages.iter().enumerate().take(end).rev().find_map(|(at, message)| {
            Some((at, message.usage.as_deref().filter(|usage| usage.input > 0)?))
        })?;
    ratio(usage.input, tokens.range(0..at) + overhead)
}

fn session_row(transcript: &Transcript, place: Place<'_>, profile: Name, strategy: Strategy) -> SessionRow {
    SessionRow {
        session: transcript.id.as_str().into(),
        source: place.source.into(),
        format: place.format.into(),
        origin: match transcript.origin {
            Origin::Main => "main",
            Origin::Sidechain(_) => "sidechain",
        }
        .into(),
        profile,
        strategy: strategy.name().into(),
        model: transcript.model.as_deref().unwrap_or_default().into(),
        messages: transcript.messages.len() as u64,
        tool_calls: transcript.links.len() as u64,
        turns: transcript.messages.iter().filter(|message| message.is_user_request()).count() as u64,
        recorded_compactions: transcript.recorded.len() as u64,
        ..SessionRow::default()
    }
}

/// What a session is made of, which is the same under every plan.
struct Makeup {
    tokens: u64,
    tokens_tool: u64,
    facts: u64,
    mentions: u64,
}

impl Makeup {
    fn of(transcript: &Transcript, tokens: &TokenIndex, facts: Option<&FactSet>) -> Self {
        let ends = transcript.links.iter().flat_map(|link| [Some(link.call), link.result]).flatten();
        let judged = || facts.iter().flat_map(|set| &set.facts).filter(|fact| !fact.unadjudicable);
        Self {
            tokens: tokens.total(),
            tokens_tool: ends.map(|part| tokens.part(part)).sum(),
            facts: judged().count() as u64,
            mentions: judged().map(|fact| fact.mentions.len() as u64).sum(),
        }
    }

    fn tell(&self, row: &mut SessionRow) {
        row.tokens = self.tokens;
        row.tokens_tool = self.tokens_tool;
        row.tool_share = ratio(self.tokens_tool, self.tokens);
        row.facts = self.facts;
        row.mentions = self.mentions;
        row.repeat_rate = ratio(self.mentions, self.facts);
    }
}

/// True for the strategies that write a summary.
fn writes(strategy: &str) -> bool {
    ["structured", "narrative", "recorded"].contains(&strategy) || strategy.starts_with(EXEC)
}
