//! One cycle of one session in full: replayed or recorded, scored, and each fact with its evidence.

use super::rows::{Frame, Scene};
use super::{Job, Place as Source, RunSettings, Target, auto_window, session_row, targets};
use crate::context::Entry;
use crate::facts::{FactId, FactSet, Found, Match};
use crate::ingest::Ingested;
use crate::matching::index::is_heading;
use crate::matching::units;
use crate::profile::{Keep, Profile};
use crate::prompt::Part;
use crate::replay::recorded::recorded;
use crate::replay::stage::Stages;
use crate::replay::{Cause, CycleTrace, Mode, Plan, Prepared, Replay, effects, kinds, replay};
use crate::results::shown::{Place, Shown, ShownFact, ShownPrompt, ShownStale};
use crate::score::needed::horizon;
use crate::score::{Cycle, CycleScore, Fate, Scorer, generated_text};
use crate::strategy::Strategy;
use crate::strategy::exec::Programs;
use crate::summarize::prompt::{Prompt, Template, assemble};
use crate::summarize::{SummarizeError, Summarizer, SummaryRequest};
use crate::tokens::{TokenIndex, Tokenizer};
use crate::transcript::{MessageIdx, Role, Transcript};
use rustc_hash::FxHashSet;
use std::fmt;
use std::ops::Range;
use std::sync::Mutex;

/// Which cycle of which session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pick {
    /// Session id or its beginning; the first session that was compacted when there is none.
    pub session: Option<String>,
    /// Number of the cycle, from 1.
    pub cycle: usize,
    /// Show what a model would be asked, too.
    pub prompts: bool,
    /// Instructions for it, in place of ours.
    pub template: Option<Template>,
}

/// Why there is nothing to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NothingToShow {
    /// No session of that name; the ids there are.
    NoSuchSession(Vec<String>),
    /// None of the sessions was compacted: how many there are.
    NeverCompacted(usize),
    /// Fewer cycles than asked for: session, and cycles it has.
    TooFewCycles(String, usize),
    /// Nobody could be asked for a summary: session, and why.
    Stopped(String, String),
}

impl fmt::Display for NothingToShow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchSession(known) if known.is_empty() => write!(f, "no session could be read"),
            Self::NoSuchSession(known) => {
                write!(f, "no such session; the log holds {}", known.join(", "))
            }
            Self::NeverCompacted(1) => write!(f, "the session is never compacted"),
            Self::NeverCompacted(sessions) => write!(f, "none of {sessions} sessions is ever compacted"),
            Self::Stopped(session, why) => write!(f, "session {session}: {why}"),
            Self::TooFewCycles(session, 1) => write!(f, "session {session} has only 1 cycle"),
            Self::TooFewCycles(session, cycles) => write!(f, "session {session} has only {cycles} cycles"),
        }
    }
}

/// Shows a cycle of a log under the first profile, strategy and window of the settings, or a recorded one.
pub fn show(
    ingested: &Ingested,
    source: &str,
    settings: &RunSettings,
    pick: &Pick,
    summarizer: &dyn Summarizer,
) -> Result<Shown, NothingToShow> {
    let source = Source { source, format: ingested.format.map_or("", crate::ingest::Format::name) };
    let ids = || ingested.sessions.iter().map(|session| session.id.clone()).collect::<Vec<_>>();
    let sessions: Vec<&Transcript> = match &pick.session {
        None => ingested.sessions.iter().collect(),
        Some(wanted) => {
            let exact = ingested.sessions.iter().find(|session| session.id == *wanted);
            let begins = || ingested.sessions.iter().find(|session| session.id.starts_with(wanted.as_str()));
            exact.or_else(begins).into_iter().collect()
        }
    };
    if sessions.is_empty() {
        return Err(NothingToShow::NoSuchSession(ids()));
    }
    let mut most: Option<(String, usize)> = None;
    for transcript in &sessions {
        match cycle(transcript, source, settings, pick, summarizer) {
            Ok(shown) => return Ok(shown),
            Err(Ended::Stopped(why)) => return Err(NothingToShow::Stopped(transcript.id.clone(), why)),
            Err(Ended::Cycles(0)) => {}
            Err(Ended::Cycles(cycles)) if most.as_ref().is_none_or(|(_, most)| *most < cycles) => {
                most = Some((transcript.id.clone(), cycles));
            }
            Err(Ended::Cycles(_)) => {}
        }
    }
    Err(most.map_or(NothingToShow::NeverCompacted(sessions.len()), |(session, cycles)| {
        NothingToShow::TooFewCycles(session, cycles)
    }))
}

/// Writes nothing itself, and keeps what a model would be asked.
struct Listener<'s> {
    summarizer: &'s dyn Summarizer,
    template: Option<&'s Template>,
    heard: Mutex<Vec<Heard>>,
}

/// One request.
struct Heard {
    messages: Range<usize>,
    part: Part,
    prompt: Prompt,
}

impl Summarizer for Listener<'_> {
    fn name(&self) -> &str {
        self.summarizer.name()
    }

    fn summarize(&self, request: &SummaryRequest<'_>) -> Result<String, SummarizeError> {
        let prompt = assemble(request, self.template, None);
        let heard = Heard { messages: request.messages.clone(), part: request.handing.part, prompt };
        if let Ok(mut all) = self.heard.lock() {
            all.push(heard);
        }
        self.summarizer.summarize(request)
    }

    fn programs(&self) -> Option<&Programs> {
        self.summarizer.programs()
    }
}

impl Listener<'_> {
    /// What was asked for the texts of a cycle. A text that was asked for again with less room is shown as it was asked for
    /// last.
    fn prompts(&self, trace: &CycleTrace, tokenizer: Tokenizer) -> Vec<ShownPrompt> {
        let mut shown: Vec<ShownPrompt> = Vec::new();
        let heard = self.heard.lock().map(|mut heard| std::mem::take(&mut *heard)).unwrap_or_default();
        for Heard { messages, part, prompt } in heard {
            if messages.start < trace.cut.from || messages.end > trace.cut.cut || messages.is_empty() {
                continue;
            }
            let tokens = tokenizer.count(&prompt.system) + tokenizer.count(&prompt.user);
            let one = ShownPrompt {
                part: match part {
                    Part::History => "history",
                    Part::TurnPrefix => "turn-prefix",
                }
                .to_owned(),
                from: messages.start as u64,
                to: messages.end as u64,
                system: prompt.system,
                user: prompt.user,
                tokens,
            };
            match shown.iter_mut().find(|known| (known.from, known.to) == (one.from, one.to)) {
                Some(known) => *known = one,
                None => shown.push(one),
            }
        }
        shown
    }
}

/// Why a session has no such cycle.
enum Ended {
    /// It has so many.
    Cycles(usize),
    /// It could not be replayed to it.
    Stopped(String),
}

/// One cycle of a session.
fn cycle(
    transcript: &Transcript,
    source: Source<'_>,
    settings: &RunSettings,
    pick: &Pick,
    summarizer: &dyn Summarizer,
) -> Result<Shown, Ended> {
    let number = pick.cycle;
    let listener = Listener { summarizer, template: pick.template.as_ref(), heard: Mutex::default() };
    let summarizer: &dyn Summarizer = if pick.prompts { &listener } else { summarizer };
    let tokens = TokenIndex::new(transcript, settings.tokenizer);
    let effects = effects(transcript);
    let stages = Stages::new(transcript, &tokens, settings.tokenizer, &kinds(&effects), &settings.profiles);
    let staged = stages.prepare(transcript, &tokens, settings.tokenizer, &effects, &settings.asked);
    let planners = stages.planners(&staged, &settings.profiles, settings.summary_tokens);
    let plain = Prepared::new(transcript, &tokens, settings.tokenizer, &effects);
    // The first profile is the one that is shown.
    let prepared = staged.get(stages.of(0)).unwrap_or(&plain);
    let targets = match settings.job {
        Job::Replay => targets(transcript, &tokens, &planners, settings, &|_| true),
        Job::Audit => Vec::new(),
    };
    let (result, frame, target) =
        if let (Some(target), Some(strategy)) = (targets.first(), settings.strategies.first()) {
            let plan = Plan {
                profile: target.profile,
                strategy: *strategy,
                window: target.window,
                limit: target.limit,
                mode: settings.mode,
                schedule: settings.schedule,
            };
            let result = replay(prepared, target.planner, &target.locked, plan, summarizer);
            (result, Frame::of(&plan, target.planner, summarizer), Some(target))
        } else {
            let window = auto_window(transcript).0;
            (
                recorded(prepared, window),
                Frame::recorded(transcript.format.as_deref().unwrap_or(source.format), window),
                None,
            )
        };
    let Some(trace) = number.checked_sub(1).and_then(|at| result.cycles.get(at)) else {
        return Err(result.stopped.map_or(Ended::Cycles(result.cycles.len()), Ended::Stopped));
    };
    let facts = FactSet::extract_until(transcript, &effects, MessageIdx::new(trace.cut.trigger));
    let scorer = Scorer::new(transcript, &facts);
    let like = session_row(transcript, source, frame.profile.into(), frame.strategy);
    let scene =
        Scene { transcript, prepared, facts: &facts, scorer: &scorer, like: &like, frame, log_facts: false };
    let told = scene.cycle(trace);
    let score = scorer.score(&told);
    let mut shown = outline(transcript, source, &result, trace, &frame, target);
    shown.cycle = number as u64;
    shown.prompts = listener.prompts(trace, settings.tokenizer);
    shown.opaque = told.opaque;
    shown.unadjudicable = score.unadjudicable;
    shown.needed_biased = score.near.biased;
    shown.facts = facts_of(transcript, &facts, &told, &score);
    let generated = generated_text(&trace.context);
    shown.invented = scorer.invented_items(&generated, told.prefix_end);
    shown.fabricated = scorer.fabricated(&generated, told.prefix_end);
    shown.stale = scorer
        .stale_facts(&told)
        .into_iter()
        .filter_map(|(old, new)| {
            let (old, new) = (facts.get(old)?, facts.get(new)?);
            Some(ShownStale { old: old.value.clone(), new: new.value.clone(), new_line: u64::from(new.line) })
        })
        .collect();
    Ok(shown)
}

/// Everything but the facts.
fn outline(
    transcript: &Transcript,
    source: Source<'_>,
    result: &Replay,
    trace: &CycleTrace,
    frame: &Frame<'_>,
    target: Option<&Target<'_>>,
) -> Shown {
    let place = |at: usize| Place {
        message: at as u64,
        line: transcript.messages.get(at).map_or(0, |message| u64::from(message.line)),
    };
    let used = trace.told();
    let amounts = target.map(|target| target.planner.amounts(target.window));
    let keep = amounts.as_ref().map_or(0, |amounts| amounts.keep);
    Shown {
        session: transcript.id.clone(),
        source: source.source.to_owned(),
        format: source.format.to_owned(),
        profile: frame.profile.to_owned(),
        strategy: frame.strategy.name().to_owned(),
        strategy_used: used.map_or(Strategy::None, |generated| generated.used).name().to_owned(),
        fallback_reason: used.and_then(|generated| generated.fallback.clone()).unwrap_or_default(),
        window: result.window,
        window_source: target.map_or("", |target| target.source.name()).to_owned(),
        model: transcript.model.clone().unwrap_or_default(),
        cycles: result.cycles.len() as u64,
        messages: transcript.messages.len() as u64,
        trigger: place(trace.cut.trigger),
        trigger_tokens: frame.trigger,
        cut: place(trace.cut.cut),
        keep_tokens: target
            .filter(|target| target.profile.keep.context.is_none())
            .and(amounts.as_ref())
            .map(|amounts| amounts.keep),
        why: why(transcript, trace, frame, target.map(|target| (target.profile, keep)), result.overhead),
        turn_start: trace.cut.turn_start.map(place),
        pinned: trace.cut.pinned.map(|(at, _)| place(at)),
        tokens_before: trace.tokens_before,
        tokens_after: trace.tokens_after,
        tokens_summary: trace.generated.iter().map(|generated| generated.tokens).sum(),
        budget: result.budget,
        summary: trace.generated.iter().map(|generated| generated.text.clone()).collect(),
        ..Shown::default()
    }
}

/// Why the compaction came here, and why the cut is where it is.
fn why(
    transcript: &Transcript,
    trace: &CycleTrace,
    frame: &Frame<'_>,
    policy: Option<(&Profile, u64)>,
    overhead: u64,
) -> String {
    let tail = trace.cut.trigger - trace.cut.cut.min(trace.cut.trigger);
    let (Some(trigger), Some((profile, keep))) = (frame.trigger, policy) else {
        let is_kept = |entry: &&Entry| matches!(entry, Entry::Kept(at) if !is_system(transcript, *at));
        let kept = trace.context.entries.iter().filter(is_kept).count();
        return format!("the log holds this compaction; messages that stayed verbatim: {kept}");
    };
    if frame.mode == Mode::Repeat {
        return "the finished context is compacted again, unchanged".to_owned();
    }
    if trace.cut.cut <= trace.cut.from {
        return if let Some(reason) = &trace.failed {
            format!("no summary came ({reason}), and the policy leaves the session as it was")
        } else if trace.cut.unfit {
            "nothing can leave: what has to stay together is larger than the window".to_owned()
        } else {
            "nothing can leave: by the sizes of the policy all of it may stay".to_owned()
        };
    }
    let counted = profile.trigger.measure == crate::estimate::Measure::Counted;
    let mut why = format!("{} tokens and {overhead} of overhead", trace.tokens_before);
    why += &match (trace.cut.cause, trace.cut.measured) {
        (Cause::Manual, _) => ": somebody asked for a compaction here".to_owned(),
        (Cause::Overflow, _) => ": a request did not fit".to_owned(),
        _ if counted => format!(" reach the trigger of {trigger}"),
        (_, Some(measured)) => {
            format!(", {measured} by the policy's own measure, reach its trigger of {trigger}")
        }
        (_, None) => format!(" are enough by the policy's own measure, of which {trigger} would be"),
    };
    why += &if trace.cut.drop {
        format!("; the policy gives up on a summary, {tail} messages stay")
    } else if profile.cut.measure == crate::cut::Measure::Counted && trace.cut.cause == Cause::Trigger {
        format!("; from here on {tail} messages are the longest tail of whole units within {keep} tokens")
    } else {
        let size = match profile.keep {
            _ if trace.cut.cause != Cause::Trigger => String::new(),
            Keep { context: Some(share), .. } => format!(" of {:.0} % of the context", 100.0 * share),
            Keep { entries: Some(_), .. } => format!(" of {keep} of its messages"),
            _ => format!(" of {keep} tokens"),
        };
        format!("; by its rule for a tail{size} it keeps {tail} messages of the log")
    };
    if trace.cut.unfit {
        why += ", and even so larger than the window";
    }
    if trace.cut.turn_start.is_some() {
        why += "; it begins inside a turn, which is split";
    }
    why
}

fn facts_of(
    transcript: &Transcript,
    facts: &FactSet,
    told: &Cycle<'_>,
    score: &CycleScore,
) -> Vec<ShownFact> {
    let evidence = Evidence::new(facts, told);
    let kept: FxHashSet<MessageIdx> = told
        .context
        .entries
        .iter()
        .filter_map(|entry| if let Entry::Kept(at) = entry { Some(*at) } else { None })
        .collect();
    let end = horizon(transcript, told.prefix_end);
    // A reply may be merged from several records: the line is that of the part which brings the fact up.
    let line = |id: FactId, at: MessageIdx| {
        let part = facts.part_of_mention(transcript, id, at).unwrap_or(0);
        transcript.messages.get(at.get()).map_or(0, |message| u64::from(message.line_of(part as usize)))
    };
    let shown = |fate: &Fate| {
        let fact = facts.get(fate.id)?;
        let (evidence_line, evidence) = evidence.of(fate);
        let back = facts.next_mention(fact, told.prefix_end, end).filter(|_| fate.at_risk);
        let tail = fact.mentions.iter().find(|at| **at < told.prefix_end && kept.contains(*at));
        Some(ShownFact {
            fact: u64::from(fate.id.0),
            class: fate.class.name().to_owned(),
            value: match fact.file.and_then(|file| facts.ledger.files.get(file as usize)) {
                // The name it had then.
                Some(file) => file.name_at(told.prefix_end).to_owned(),
                None => fact.value.clone(),
            },
            author: fact.author.name().to_owned(),
            birth_line: u64::from(fact.line),
            location: fate.location.name().to_owned(),
            tier: fate.tier.name().to_owned(),
            at_risk: fate.at_risk,
            needed: fate.needed,
            need: fate.need.name().to_owned(),
            need_line: back.map_or(0, |(at, _)| line(fate.id, at)),
            evidence,
            evidence_line,
            tail_line: tail.map_or(0, |at| line(fate.id, *at)),
        })
    };
    score.fates.iter().filter_map(shown).collect()
}

fn is_system(transcript: &Transcript, at: MessageIdx) -> bool {
    transcript.messages.get(at.get()).is_some_and(|message| message.role == Role::System)
}

/// Longest heading that is looked at again with each piece under it.
const HEADING_BYTES: usize = 400;

/// One piece of the generated text, and which facts stand in it.
struct Piece {
    /// Line of the generated text, from 1.
    line: u64,
    text: String,
    alone: Found,
    /// With the heading it stands under, where there is one: an open item under "Done" says so only there.
    headed: Option<Found>,
}

/// Which facts stand in which piece of the generated text.
struct Evidence {
    pieces: Vec<Piece>,
}

impl Evidence {
    fn new(facts: &FactSet, told: &Cycle<'_>) -> Self {
        let text = generated_text(told.context);
        let (mut line, mut counted) = (1, 0);
        let mut heading = "";
        let pieces = units(&text)
            .map(|(start, end)| {
                line += text.get(counted..start).unwrap_or("").matches('\n').count() as u64;
                counted = start;
                let whole = text.get(start..end).unwrap_or("");
                let piece = whole.trim();
                let under = |heading: &str| facts.find(&format!("{heading}\n{piece}"), told.prefix_end);
                let headed = (!heading.is_empty()).then(|| under(heading));
                if is_heading(whole.as_bytes()) {
                    heading = if piece.len() <= HEADING_BYTES { piece } else { "" };
                }
                Piece { line, text: piece.to_owned(), alone: facts.find(piece, told.prefix_end), headed }
            })
            .collect();
        Self { pieces }
    }

    /// Line and text of the first piece that holds a fact as strongly as the whole text does, by itself or else under
    /// its heading; nothing where only the text as a whole does.
    fn of(&self, fate: &Fate) -> (u64, String) {
        if fate.tier == Match::Absent {
            return (0, String::new());
        }
        let alone = |piece: &&Piece| piece.alone.get(fate.id) == fate.tier;
        let headed = |piece: &&Piece| {
            piece.alone.get(fate.id) != Match::Absent
                && piece.headed.as_ref().is_some_and(|found| found.get(fate.id) == fate.tier)
        };
        let found = self.pieces.iter().find(alone).or_else(|| self.pieces.iter().find(headed));
        found.map_or((0, String::new()), |piece| (piece.line, piece.text.clone()))
    }
}
