//! Sessions x plans -> rows, in parallel: one session is read, prepared, replayed under every plan, scored and dropped.
//!
//! Files run largest first; rows are put back in input order, so the bytes of the output do not depend on threads. A
//! panic costs one session: it becomes an error row. Nothing here prints or decides an exit code.

use crate::diagnostic::Severity;
use crate::discover::{Discovered, Source, read};
use crate::facts::{FactClass, FactSet, Match};
use crate::ingest::{Ingested, ingest};
use crate::models::{DEFAULT_WINDOW, window_of};
use crate::profile::Profile;
use crate::replay::{
    CycleTrace, Mode, Plan, Planner, Prepared, Replay, ScheduleMode, effects, repeat_schedule, replay,
};
use crate::results::{
    ClassRow, CycleRow, FactRow, LossRow, Manifest, Problem, RunOutput, SCHEMA_VERSION, SCORER_VERSION,
    SessionRow, Settings, ratio,
};
use crate::score::{Cycle, CycleScore, Fate, Scorer};
use crate::strategy::Strategy;
use crate::summarize::{ListForm, Summarizer};
use crate::tokens::{TokenIndex, Tokenizer};
use crate::transcript::{MessageIdx, Origin, Transcript};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest, Sha256};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How windows are chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Windows {
    /// Searched per session so that this many cycles happen.
    Cycles(usize),
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

/// What to run.
#[derive(Debug, Clone)]
pub struct RunSettings {
    /// Profiles in order.
    pub profiles: Vec<Profile>,
    /// Strategies in order.
    pub strategies: Vec<Strategy>,
    /// Windows.
    pub windows: Windows,
    /// Summary budget in tokens, instead of the profile's.
    pub summary_tokens: Option<u64>,
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
}

/// Rounds of `repeat` when windows are given.
const REPEAT_ROUNDS: usize = 5;

/// Losses listed in the manifest.
const WORST_LOSSES: usize = 3;

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

/// Everything from one file.
struct FileOutcome {
    ingested: Option<FileFacts>,
    problems: Vec<Problem>,
    sessions: Vec<SessionOutcome>,
}

/// What the manifest says about a file that was read.
struct FileFacts {
    hash: [u8; 32],
    bytes: u64,
    lost: bool,
}

/// Everything from one session.
#[derive(Default)]
struct SessionOutcome {
    id: String,
    failed: bool,
    exercised: bool,
    cycles: Vec<CycleRow>,
    classes: Vec<ClassRow>,
    sessions: Vec<SessionRow>,
    facts: Vec<FactRow>,
    /// The worst under a strategy that writes a summary, and the worst under the others.
    losses: Vec<(LossRank, LossRow)>,
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
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(settings.jobs)
        .build()
        .map_err(|error| PoolError { jobs: settings.jobs, reason: error.to_string() })?;
    let mut order: Vec<usize> = (0..discovered.sources.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(discovered.sources.get(*at).map_or(0, |source| source.bytes)));
    let mut outcomes: Vec<(usize, FileOutcome)> = pool.install(|| {
        order
            .par_iter()
            .with_max_len(1)
            .filter_map(|at| {
                let source = discovered.sources.get(*at)?;
                let outcome = file(source, settings, summarizer);
                progress(source.bytes, outcome.sessions.len() as u64);
                Some((*at, outcome))
            })
            .collect()
    });
    outcomes.sort_by_key(|(at, _)| *at);
    Ok(assemble(discovered, settings, summarizer, outcomes.into_iter().map(|(_, outcome)| outcome).collect()))
}

/// Reads one file and runs its sessions.
fn file(source: &Source, settings: &RunSettings, summarizer: &dyn Summarizer) -> FileOutcome {
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
    let bytes = match read(source) {
        Ok(bytes) => bytes,
        Err(reason) => return lost("unreadable", reason),
    };
    let Ok(ingested) = catch_unwind(AssertUnwindSafe(|| ingest(&bytes, &source.label))) else {
        return lost("internal-error", "the reader failed on this file; please report it".to_owned());
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
    let facts = FileFacts {
        hash: Sha256::digest(&bytes).into(),
        bytes: bytes.len() as u64,
        lost: problems.iter().any(|problem| problem.severity == "lost"),
    };
    drop(bytes);
    let format = ingested.format.map_or("", crate::ingest::Format::name);
    let Ingested { sessions, .. } = ingested;
    let sessions: Vec<SessionOutcome> = sessions
        .par_iter()
        .map(|transcript| {
            let place = Place { source: &source.label, format };
            catch_unwind(AssertUnwindSafe(|| session(transcript, place, settings, summarizer)))
                .unwrap_or_else(|_| failed(transcript, place, settings))
        })
        .collect();
    FileOutcome { ingested: Some(facts), problems, sessions }
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
    format: &'static str,
}

/// Rows of a session on which the program itself failed.
fn failed(transcript: &Transcript, place: Place<'_>, settings: &RunSettings) -> SessionOutcome {
    let mut outcome = SessionOutcome { id: transcript.id.clone(), failed: true, ..SessionOutcome::default() };
    for profile in &settings.profiles {
        for strategy in &settings.strategies {
            let mut row = session_row(transcript, place, profile, *strategy);
            "the replay of this session failed; please report it with the log".clone_into(&mut row.error);
            outcome.sessions.push(row);
        }
    }
    outcome
}

/// Replays one session under every plan.
fn session(
    transcript: &Transcript,
    place: Place<'_>,
    settings: &RunSettings,
    summarizer: &dyn Summarizer,
) -> SessionOutcome {
    let mut outcome = SessionOutcome { id: transcript.id.clone(), ..SessionOutcome::default() };
    let tokens = TokenIndex::new(transcript, settings.tokenizer);
    let effects = effects(transcript);
    let prepared = Prepared::new(transcript, &tokens, settings.tokenizer, &effects);
    let mut facts: Option<FactSet> = None;
    for profile in &settings.profiles {
        let planner = prepared.planner(profile, settings.summary_tokens);
        for (window, source, limit) in windows(transcript, &tokens, &planner, settings) {
            let locked = match settings.mode {
                Mode::Grow => planner.schedule(window, limit),
                Mode::Repeat => repeat_schedule(&planner, transcript.messages.len(), window, limit),
            };
            // Facts are extracted only for sessions that are compacted at all.
            if !locked.cuts.is_empty() && facts.is_none() {
                facts = Some(FactSet::extract(transcript, &effects));
            }
            for strategy in &settings.strategies {
                let plan = Plan {
                    profile,
                    strategy: *strategy,
                    window,
                    limit,
                    mode: settings.mode,
                    schedule: settings.schedule,
                };
                let result = replay(&prepared, &planner, &locked, plan, summarizer);
                let mut row = session_row(transcript, place, profile, *strategy);
                row.window = window;
                source.name().clone_into(&mut row.window_source);
                row.tokens = tokens.total();
                row.recorded_over_counted = calibration(transcript, &tokens, result.overhead);
                row.cycles_asked = match settings.windows {
                    Windows::Cycles(cycles) => cycles as u64,
                    Windows::Given(_) => 0,
                };
                if let Some(facts) = &facts {
                    let scene = Scene {
                        transcript,
                        prepared: &prepared,
                        planner: &planner,
                        facts,
                        place,
                        plan,
                        settings,
                    };
                    scene.rows(&result, summarizer, &mut row, &mut outcome);
                }
                row.requests = result.cost.requests;
                row.prompt_tokens = result.cost.prompt;
                row.cached_tokens = result.cost.cached;
                row.cost_units = cost_units(result.cost.prompt, result.cost.cached);
                outcome.exercised |= row.exercised;
                outcome.sessions.push(row);
            }
        }
    }
    outcome
}

/// Price in input-token equivalents: cached tokens at a tenth, tokens new to the provider's cache at a quarter more.
fn cost_units(prompt: u64, cached: u64) -> f64 {
    cached as f64 * 0.1 + (prompt - cached.min(prompt)) as f64 * 1.25
}

/// How a window came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WindowSource {
    Cycles,
    Given,
    Log,
    Model,
    Default,
}

impl WindowSource {
    fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Given => "given",
            Self::Log => "log",
            Self::Model => "model-table",
            Self::Default => "default",
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
        (Windows::Cycles(cycles), Mode::Grow) => {
            vec![(planner.window_for(*cycles), WindowSource::Cycles, *cycles)]
        }
        (Windows::Cycles(cycles), Mode::Repeat) => {
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

fn auto_window(transcript: &Transcript) -> (u64, WindowSource) {
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
    let (at, usage) = transcript
        .messages
        .iter()
        .enumerate()
        .take(end)
        .rev()
        .find_map(|(at, message)| Some((at, message.usage.filter(|usage| usage.input > 0)?)))?;
    ratio(usage.input, tokens.range(0..at) + overhead)
}

fn session_row(
    transcript: &Transcript,
    place: Place<'_>,
    profile: &Profile,
    strategy: Strategy,
) -> SessionRow {
    SessionRow {
        session: transcript.id.clone(),
        source: place.source.to_owned(),
        format: place.format.to_owned(),
        origin: match transcript.origin {
            Origin::Main => "main".to_owned(),
            Origin::Sidechain(_) => "sidechain".to_owned(),
        },
        profile: profile.name.clone(),
        strategy: strategy.name().to_owned(),
        messages: transcript.messages.len() as u64,
        tool_calls: transcript.links.len() as u64,
        recorded_compactions: transcript.recorded.len() as u64,
        ..SessionRow::default()
    }
}

/// One plan of one session: what turns a replay into rows.
struct Scene<'a> {
    transcript: &'a Transcript,
    prepared: &'a Prepared<'a>,
    planner: &'a Planner<'a>,
    facts: &'a FactSet,
    place: Place<'a>,
    plan: Plan<'a>,
    settings: &'a RunSettings,
}

impl Scene<'_> {
    fn rows(
        &self,
        result: &Replay,
        summarizer: &dyn Summarizer,
        session: &mut SessionRow,
        outcome: &mut SessionOutcome,
    ) {
        let scorer = Scorer::new(self.transcript, self.facts);
        let amounts = self.planner.amounts(self.plan.window);
        let turns = self.prepared.terrain.requests().max(1) as f64;
        let turn = self.prepared.view.tokens.total() as f64 / turns;
        let mut previous_summary = None;
        let mut lost: FxHashSet<u32> = FxHashSet::default();
        let mut rows: Vec<CycleRow> = Vec::with_capacity(result.cycles.len());
        for (index, trace) in result.cycles.iter().enumerate() {
            let number = index as u32 + 1;
            let last = index + 1 == result.cycles.len();
            let score = scorer.score(&self.cycle(trace));
            let mut row = self.cycle_row(trace, &score, number);
            row.summarizer = match self.plan.strategy {
                Strategy::Structured | Strategy::Narrative => summarizer.name().to_owned(),
                Strategy::Truncate | Strategy::Emergency | Strategy::None => String::new(),
            };
            row.budget = result.budget;
            row.tokens_overhead = result.overhead;
            result.overhead_source.name().clone_into(&mut row.overhead_source);
            row.stuck = last && result.stuck;
            row.summary_growth = previous_summary.and_then(|before| ratio(row.tokens_summary, before));
            previous_summary = Some(row.tokens_summary);
            let room = amounts.trigger as f64 - (trace.tokens_after + result.overhead) as f64;
            row.headroom = (turn > 0.0).then(|| room / turn);
            self.class_rows(&score, number, outcome);
            if self.settings.log_facts {
                self.fact_rows(&score, trace, number, outcome);
            }
            if self.plan.strategy != Strategy::None {
                self.losses(&score, trace, number, &mut lost, outcome);
            }
            rows.push(row);
        }
        summarize_session(&rows, session);
        outcome.cycles.append(&mut rows);
    }

    fn cycle<'t>(&'t self, trace: &'t CycleTrace) -> Cycle<'t> {
        let writes_lists = match self.plan.strategy {
            Strategy::Structured | Strategy::Narrative => {
                self.plan.profile.text_rules().list_form != ListForm::None
            }
            Strategy::Truncate => self.plan.profile.summary.truncate_tags,
            Strategy::Emergency | Strategy::None => false,
        };
        let control = self.plan.strategy == Strategy::None;
        Cycle {
            context: &trace.context,
            prefix_end: MessageIdx::new(trace.cut.trigger),
            compacted_end: MessageIdx::new(if control { 0 } else { trace.cut.cut }),
            metadata: trace.generated.iter().find_map(|generated| generated.metadata.as_ref()),
            writes_lists,
            newest_request: self
                .prepared
                .terrain
                .newest_request(trace.cut.trigger)
                .filter(|_| self.plan.profile.pin_request)
                .map(MessageIdx::new),
        }
    }

    fn cycle_row(&self, trace: &CycleTrace, score: &CycleScore, number: u32) -> CycleRow {
        let used = trace.generated.first();
        let summary: u64 = trace.generated.iter().map(|generated| generated.tokens).sum();
        let at_risk = score.structural.at_risk + score.lexical.at_risk;
        let in_summary = score.structural.in_summary + score.lexical.in_summary;
        let total = score.structural.total + score.lexical.total;
        let compacts = self.plan.strategy != Strategy::None && !trace.generated.is_empty();
        let budget = self.planner.amounts(self.plan.window).budget;
        CycleRow {
            session: self.transcript.id.clone(),
            source: self.place.source.to_owned(),
            format: self.place.format.to_owned(),
            profile: self.plan.profile.name.clone(),
            strategy: self.plan.strategy.name().to_owned(),
            strategy_used: used.map_or(Strategy::None, |generated| generated.used).name().to_owned(),
            fallback_reason: match used {
                Some(generated) => generated.fallback.clone().unwrap_or_default(),
                None if self.plan.strategy == Strategy::None => String::new(),
                None => format!("a budget of {budget} tokens holds no text"),
            },
            window: self.plan.window,
            cycle: number,
            trigger_message: trace.cut.trigger as u64,
            cut_message: trace.cut.cut as u64,
            split_turn: trace.cut.turn_start.is_some(),
            starts_compacted: self.transcript.starts_compacted,
            messages_before: trace.messages_before,
            messages_after: trace.messages_after,
            tokens_before: trace.tokens_before,
            tokens_after: trace.tokens_after,
            tokens_summary: summary,
            tokens_tail: trace.tokens_after.saturating_sub(summary),
            reduction: ratio(trace.tokens_after, trace.tokens_before).map(|kept| 1.0 - kept),
            facts_at_risk: at_risk,
            facts_in_summary: in_summary,
            summary_survival: ratio(in_summary, at_risk),
            facts_in_summary_exact: score.exact,
            facts_in_summary_normalised: score.normalised,
            structural_at_risk: score.structural.at_risk,
            structural_in_summary: score.structural.in_summary,
            structural_survival: ratio(score.structural.in_summary, score.structural.at_risk),
            lexical_at_risk: score.lexical.at_risk,
            lexical_in_summary: score.lexical.in_summary,
            lexical_survival: ratio(score.lexical.in_summary, score.lexical.at_risk),
            facts_total: total,
            facts_in_context: score.in_context,
            context_survival: ratio(score.in_context, total),
            tail_facts: score.tail,
            tail_facts_in_context: score.tail_in_context,
            facts_unadjudicable: score.unadjudicable,
            degraded: score.degraded,
            contradicted: score.contradicted,
            mutated: score.mutated,
            label_only: score.label_only,
            ambiguous: score.ambiguous,
            files_modified_total: score.modified.total,
            files_modified_kept: score.modified.kept,
            files_modified_text: score.modified.text,
            files_modified_metadata: score.modified.metadata,
            files_read_total: score.read.total,
            files_read_kept: score.read.kept,
            files_read_text: score.read.text,
            files_read_metadata: score.read.metadata,
            list_modified: score.list_modified.listed,
            list_modified_right: score.list_modified.right,
            list_modified_true: score.list_modified.truth,
            list_modified_precision: score.list_modified.precision(),
            list_modified_recall: score.list_modified.recall(),
            list_modified_f1: score.list_modified.f1(),
            list_read: score.list_read.listed,
            list_read_right: score.list_read.right,
            list_read_true: score.list_read.truth,
            list_read_precision: score.list_read.precision(),
            list_read_recall: score.list_read.recall(),
            list_read_f1: score.list_read.f1(),
            invented: score.invented,
            invented_per_1000: (summary > 0).then(|| score.invented as f64 * 1_000.0 / summary as f64),
            stale: score.stale,
            requests: trace.cost.requests,
            prompt_tokens: trace.cost.prompt,
            cached_tokens: trace.cost.cached,
            written_tokens: trace.cost.prompt - trace.cost.cached,
            cost_units: cost_units(trace.cost.prompt, trace.cost.cached),
            orphan_results: score.broken.orphan_results,
            orphan_calls: score.broken.orphan_calls,
            duplicate_results: score.broken.duplicate_results,
            empty_blocks: score.broken.empty_blocks,
            no_user_message: score.broken.no_user_message,
            request_absent: score.broken.request_absent,
            summary_after_tail: score.broken.summary_after_tail,
            over_budget: summary > budget,
            // Compacting a finished context again is not meant to gain anything.
            no_gain: compacts
                && trace.tokens_after >= trace.tokens_before
                && (self.plan.mode == Mode::Grow || number == 1),
            unfit: trace.cut.unfit,
            late_trigger: trace.cut.late,
            ..CycleRow::default()
        }
    }

    fn class_rows(&self, score: &CycleScore, number: u32, outcome: &mut SessionOutcome) {
        outcome.classes.extend(score.classes.iter().map(|(class, tally)| ClassRow {
            session: self.transcript.id.clone(),
            profile: self.plan.profile.name.clone(),
            strategy: self.plan.strategy.name().to_owned(),
            window: self.plan.window,
            cycle: number,
            class: class.name().to_owned(),
            total: tally.total,
            at_risk: tally.at_risk,
            in_summary: tally.in_summary,
            summary_survival: ratio(tally.in_summary, tally.at_risk),
        }));
    }

    fn fact_rows(&self, score: &CycleScore, trace: &CycleTrace, number: u32, outcome: &mut SessionOutcome) {
        outcome.facts.reserve(score.fates.len());
        for fate in &score.fates {
            let Some(fact) = self.facts.facts.get(fate.id.0 as usize) else { continue };
            outcome.facts.push(FactRow {
                session: self.transcript.id.clone(),
                profile: self.plan.profile.name.clone(),
                strategy: self.plan.strategy.name().into(),
                window: self.plan.window,
                cycle: number,
                fact: u64::from(fate.id.0),
                class: fate.class.name().into(),
                value: fact.value.clone(),
                birth_line: u64::from(fact.line),
                birth_message: u64::from(fact.birth.0),
                author: fact.author.name().into(),
                location: fate.location.name().into(),
                tier: fate.tier.name().into(),
                mentions_later: self.later(*fate, trace),
            });
        }
    }

    /// Mentions in the log after a cycle.
    fn later(&self, fate: Fate, trace: &CycleTrace) -> u64 {
        let end = MessageIdx::new(trace.cut.trigger);
        let mentions = self.facts.facts.get(fate.id.0 as usize).map_or(&[][..], |fact| &fact.mentions);
        mentions.len() as u64 - mentions.partition_point(|at| *at < end) as u64
    }

    /// First cycle in which each fact is gone, for facts the work came back to later.
    fn losses(
        &self,
        score: &CycleScore,
        trace: &CycleTrace,
        number: u32,
        lost: &mut FxHashSet<u32>,
        outcome: &mut SessionOutcome,
    ) {
        for fate in score.fates.iter().filter(|fate| fate.at_risk && !fate.tier.is_present()) {
            if !lost.insert(fate.id.0) {
                continue;
            }
            let Some(fact) = self.facts.facts.get(fate.id.0 as usize) else { continue };
            let later = self.later(*fate, trace);
            let damage = match fate.tier {
                Match::Contradicted => "contradicted",
                Match::Mutated => "mutated",
                _ => "lost",
            };
            let weight = damage_weight(fate.tier) * class_weight(fate.class);
            if weight == 0 {
                continue;
            }
            let rank = (std::cmp::Reverse(weight * (1 + later.min(20))), number as u8, u64::from(fact.line));
            // Only the worst loss of a session can be listed, and one of those that wrote a summary goes first.
            let strategy = self.plan.strategy.name();
            let slot = outcome.losses.iter().position(|(_, row)| writes(&row.strategy) == writes(strategy));
            let known = slot.and_then(|at| outcome.losses.get(at));
            if known.is_some_and(|(worst, row)| (*worst, row.strategy.as_str()) <= (rank, strategy)) {
                continue;
            }
            let row = LossRow {
                session: self.transcript.id.clone(),
                source: self.place.source.to_owned(),
                line: u64::from(fact.line),
                profile: self.plan.profile.name.clone(),
                strategy: strategy.to_owned(),
                cycle: number,
                class: fate.class.name().to_owned(),
                value: fact.value.clone(),
                damage: damage.to_owned(),
                mentions_later: later,
            };
            match slot.and_then(|at| outcome.losses.get_mut(at)) {
                Some(known) => *known = (rank, row),
                None => outcome.losses.push((rank, row)),
            }
        }
    }
}

/// Contradicted is worse than mutated, mutated worse than lost.
fn damage_weight(tier: Match) -> u64 {
    match tier {
        Match::Contradicted => 4,
        Match::Mutated => 3,
        _ => 2,
    }
}

/// What losing a fact of a class costs, relative to each other: binding words first, then what was changed, then
/// what can be found again.
fn class_weight(class: FactClass) -> u64 {
    match class {
        FactClass::Constraint => 8,
        FactClass::Request => 7,
        FactClass::Decision | FactClass::FileModified | FactClass::FileCreated | FactClass::FileRenamed => 5,
        FactClass::Error | FactClass::Value => 3,
        FactClass::Todo | FactClass::Check | FactClass::FileDeleted | FactClass::Identifier => 2,
        FactClass::Command | FactClass::FileRead => 1,
    }
}

/// Fills the per-session means from its cycles.
fn summarize_session(rows: &[CycleRow], session: &mut SessionRow) {
    session.cycles_reached =
        rows.iter().filter(|row| !row.unfit || row.reduction.is_some_and(|it| it > 0.0)).count() as u64;
    session.exercised = rows.iter().any(|row| row.reduction.is_some_and(|reduction| reduction >= 0.01));
    let mean = |value: fn(&CycleRow) -> Option<f64>| {
        let values: Vec<f64> = rows.iter().filter_map(value).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    session.structural_survival = mean(|row| row.structural_survival);
    session.lexical_survival = mean(|row| row.lexical_survival);
    session.summary_survival = mean(|row| row.summary_survival);
    session.summary_survival_last = rows.last().and_then(|row| row.summary_survival);
    session.context_survival = mean(|row| row.context_survival);
    session.files_modified = mean(CycleRow::files_modified);
    session.files_read = mean(CycleRow::files_read);
    session.tokens_summary = mean(|row| Some(row.tokens_summary as f64));
    session.reduction = mean(|row| row.reduction);
    session.facts_at_risk = rows.iter().map(|row| row.facts_at_risk).sum();
    session.facts_in_summary = rows.iter().map(|row| row.facts_in_summary).sum();
    session.violations = rows.iter().map(CycleRow::violations).sum();
}

/// Puts rows in input order under unique session ids and writes the manifest.
fn assemble(
    discovered: &Discovered,
    settings: &RunSettings,
    summarizer: &dyn Summarizer,
    outcomes: Vec<FileOutcome>,
) -> RunOutput {
    let mut problems: Vec<Problem> = discovered
        .problems
        .iter()
        .map(|(source, text)| Problem {
            source: source.clone(),
            line: 0,
            code: "input".to_owned(),
            severity: "lost".to_owned(),
            text: text.clone(),
        })
        .collect();
    let mut output = RunOutput {
        manifest: Manifest {
            schema_version: SCHEMA_VERSION,
            scorer_version: SCORER_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: wire_settings(settings, summarizer),
            files: (discovered.sources.len() + discovered.problems.len()) as u64,
            files_failed: discovered.problems.len() as u64,
            ..Manifest::default()
        },
        ..RunOutput::default()
    };
    let mut taken: FxHashMap<String, u32> = FxHashMap::default();
    let mut hashes: Vec<[u8; 32]> = Vec::new();
    let mut losses: Vec<(LossRank, LossRow)> = Vec::new();
    for outcome in outcomes {
        problems.extend(outcome.problems);
        match outcome.ingested {
            Some(facts) => {
                hashes.push(facts.hash);
                output.manifest.bytes += facts.bytes;
                output.manifest.files_failed += u64::from(facts.lost && outcome.sessions.is_empty());
            }
            None => output.manifest.files_failed += 1,
        }
        for mut session in outcome.sessions {
            rename(&mut session, &mut taken);
            output.manifest.sessions += 1;
            if session.failed {
                output.manifest.sessions_failed += 1;
            } else if session.exercised {
                output.manifest.sessions_exercised += 1;
            } else {
                output.manifest.sessions_not_exercised += 1;
            }
            output.cycles.append(&mut session.cycles);
            output.classes.append(&mut session.classes);
            output.sessions.append(&mut session.sessions);
            output.facts.append(&mut session.facts);
            losses.append(&mut session.losses);
        }
    }
    problems.sort_by_key(|problem| match problem.severity.as_str() {
        "lost" => 0,
        "damage" => 1,
        _ => 2,
    });
    output.manifest.problems = problems;
    output.manifest.worst_losses = worst(losses);
    hashes.sort_unstable();
    let mut hasher = Sha256::new();
    for hash in hashes {
        hasher.update(hash);
    }
    output.manifest.corpus_hash = hex(&hasher.finalize());
    let wire = serde_json::to_vec(&output.manifest.settings).unwrap_or_default();
    output.manifest.settings_hash = hex(&Sha256::digest(wire));
    output
}

/// Gives a session an id that no earlier one has.
fn rename(session: &mut SessionOutcome, taken: &mut FxHashMap<String, u32>) {
    let count = taken.entry(session.id.clone()).or_default();
    *count += 1;
    if *count == 1 {
        return;
    }
    let id = format!("{}~{count}", session.id);
    session.cycles.iter_mut().for_each(|row| row.session.clone_from(&id));
    session.classes.iter_mut().for_each(|row| row.session.clone_from(&id));
    session.sessions.iter_mut().for_each(|row| row.session.clone_from(&id));
    session.facts.iter_mut().for_each(|row| row.session.clone_from(&id));
    session.losses.iter_mut().for_each(|(_, row)| row.session.clone_from(&id));
}

/// The most damaging losses under the strategies that write a summary, one per fact and session.
///
/// What truncate and emergency lose is nearly everything; a user learns from what even the best strategies lose.
fn worst(mut losses: Vec<(LossRank, LossRow)>) -> Vec<LossRow> {
    if losses.iter().any(|(_, row)| writes(&row.strategy)) {
        losses.retain(|(_, row)| writes(&row.strategy));
    }
    losses.sort_by(|(a_rank, a), (b_rank, b)| {
        let a_key = (a_rank, &a.source, &a.session, a.line, &a.strategy);
        a_key.cmp(&(b_rank, &b.source, &b.session, b.line, &b.strategy))
    });
    let mut worst: Vec<LossRow> = Vec::new();
    for (_, row) in losses {
        // Different sessions first: three losses of one session teach less than three sessions.
        let known = worst.iter().any(|other| other.session == row.session);
        if !known {
            worst.push(row);
        }
        if worst.len() == WORST_LOSSES {
            break;
        }
    }
    worst
}

/// True for the strategies that write a summary.
fn writes(strategy: &str) -> bool {
    strategy == "structured" || strategy == "narrative"
}

fn wire_settings(settings: &RunSettings, summarizer: &dyn Summarizer) -> Settings {
    let mut hasher = Sha256::new();
    for profile in &settings.profiles {
        hasher.update(format!("{profile:?}"));
    }
    let (windows, cycles) = match &settings.windows {
        Windows::Cycles(cycles) => (Vec::new(), *cycles as u64),
        Windows::Given(choices) => (
            choices
                .iter()
                .map(|choice| match choice {
                    WindowChoice::Tokens(tokens) => tokens.to_string(),
                    WindowChoice::Auto => "auto".to_owned(),
                })
                .collect(),
            0,
        ),
    };
    Settings {
        profiles: settings.profiles.iter().map(|profile| profile.name.clone()).collect(),
        strategies: settings.strategies.iter().map(|strategy| strategy.name().to_owned()).collect(),
        windows,
        cycles,
        summary_tokens: settings.summary_tokens,
        schedule: match settings.schedule {
            ScheduleMode::Locked => "locked".to_owned(),
            ScheduleMode::Free => "free".to_owned(),
        },
        mode: match settings.mode {
            Mode::Grow => "grow".to_owned(),
            Mode::Repeat => "repeat".to_owned(),
        },
        tokenizer: settings.tokenizer.name().to_owned(),
        summarizer: summarizer.name().to_owned(),
        profile_hash: hex(&hasher.finalize()),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        for nibble in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
        text
    })
}
