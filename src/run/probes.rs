//! Closed questions about what a compaction put at risk, with the context that it left: what a model makes of the text that the
//! scores find facts in.
//!
//! A session is replayed as ever. At each cycle that is wanted, some of the facts that are at risk under all strategies are asked
//! about: each question once with the context of each strategy, once with the whole conversation (a model that cannot answer
//! that was not failed by the compaction) and once with none (what can be answered then was guessed). Which facts are asked about
//! depends on the seed and the facts, never on what a summary holds.

use super::{Ears, Heard, PlanAt, PoolError, Progress, RunSettings, SessionOutcome, each_file, under_plans};
use crate::discover::Discovered;
use crate::facts::{Fact, FactClass, FactId, FactSet, State};
use crate::fileops::TodoState;
use crate::replay::effects;
use crate::results::Manifest;
use crate::results::probes::{Counts, Keyed, Prompted, Unasked};
use crate::score::{Fate, Location};
use crate::summarize::Summarizer;
use crate::tokens::Tokenizer;
use crate::transcript::{MessageIdx, Transcript};
use distract::{Dice, Words};
use question::{Ground, Kind, Question, is_sentence};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use written::{SYSTEM, conversation, fenced, letter, message, whole};

mod distract;
mod question;
#[cfg(test)]
mod tests;
mod written;

/// At which cycles questions are asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cycles {
    /// The last one of each session and window.
    Last,
    /// All.
    All,
    /// These, from 1.
    Numbers(Vec<usize>),
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeSettings {
    /// At which cycles.
    pub cycles: Cycles,
    /// Most questions for each cycle of a session, profile and window.
    pub questions: usize,
    /// Start of everything that is chosen at random.
    pub seed: u64,
    /// Most tokens of a prompt; longer ones are left out.
    pub longest: Option<u64>,
}

/// What was asked about one session.
#[derive(Debug, Default)]
struct Asked {
    id: String,
    failed: bool,
    exercised: bool,
    /// Contexts as they are shown, fenced.
    contexts: Vec<String>,
    rounds: Vec<Round>,
    /// By class, facts that a question was wanted of and that none could be put about.
    unasked: BTreeMap<FactClass, u64>,
    /// Why nobody could be asked for a summary.
    stopped: Vec<String>,
}

/// Questions about one cycle.
#[derive(Debug)]
struct Round {
    profile: usize,
    window: u64,
    cycle: usize,
    /// Place of the whole conversation.
    whole: usize,
    questions: Vec<(About, Question)>,
    /// Per strategy: its place in the settings, that of its context, and how each fact stands in it.
    plans: Vec<(usize, usize, Vec<Fate>)>,
}

/// What a question is about.
#[derive(Debug)]
struct About {
    class: FactClass,
    value: String,
    line: u32,
}

/// All questions of a run.
#[derive(Debug)]
pub struct Emitted {
    /// What was run on what.
    pub manifest: Manifest,
    /// Sessions whose summaries nobody could be asked for, with the cause.
    pub stopped: Vec<(String, String)>,
    source: Vec<(String, Asked)>,
    profiles: Vec<String>,
    strategies: Vec<String>,
    tokenizer: Tokenizer,
    longest: Option<u64>,
}

/// Replays what was found and makes the questions.
///
/// # Errors
///
/// The worker threads cannot be started.
pub fn emit(
    discovered: &Discovered,
    settings: &RunSettings,
    probes: &ProbeSettings,
    summarizer: &dyn Summarizer,
    progress: Progress<'_>,
) -> Result<Emitted, PoolError> {
    let outcomes = each_file(discovered, settings.jobs, progress, &|transcript, place| {
        let work = || asked(transcript, place, settings, probes, summarizer);
        let mut asked = catch_unwind(AssertUnwindSafe(work))
            .unwrap_or_else(|_| Asked { failed: true, ..Asked::default() });
        asked.id.clone_from(&transcript.id);
        (place.source.to_owned(), asked)
    })?;
    let mut manifest = super::assemble::manifest(discovered, settings, summarizer, &outcomes);
    let mut taken: FxHashMap<String, u32> = FxHashMap::default();
    let mut source: Vec<(String, Asked)> =
        outcomes.into_iter().flat_map(|outcome| outcome.sessions).collect();
    let mut stopped = Vec::new();
    for (label, asked) in &mut source {
        asked.id = super::assemble::unique(&asked.id, &mut taken);
        manifest.sessions += 1;
        if asked.failed {
            manifest.sessions_failed += 1;
        } else if asked.exercised {
            manifest.sessions_exercised += 1;
        } else {
            manifest.sessions_not_exercised += 1;
        }
        stopped.extend(asked.stopped.drain(..).map(|why| (label.clone(), why)));
    }
    stopped.dedup();
    Ok(Emitted {
        manifest,
        stopped,
        source,
        profiles: settings.profiles.iter().map(|profile| profile.name.clone()).collect(),
        strategies: settings.strategies.iter().map(|strategy| strategy.name().to_owned()).collect(),
        tokenizer: settings.tokenizer,
        longest: probes.longest,
    })
}

/// One cycle of one plan, as far as questions need it.
struct Stand {
    strategy: usize,
    cycle: usize,
    window: u64,
    /// The session began here, and the prefix ends there.
    messages: (MessageIdx, MessageIdx),
    text: String,
    at_risk: FxHashMap<FactId, Fate>,
}

/// Replays one session and makes the questions about it.
fn asked(
    transcript: &Transcript,
    place: super::Place<'_>,
    settings: &RunSettings,
    probes: &ProbeSettings,
    summarizer: &dyn Summarizer,
) -> Asked {
    let mut outcome = SessionOutcome { id: transcript.id.clone(), ..SessionOutcome::default() };
    let mut stands: BTreeMap<(usize, usize), Vec<Stand>> = BTreeMap::new();
    let mut facts: Option<FactSet> = None;
    let mut hear = |at: PlanAt, heard: &Heard<'_>| {
        let Heard { number, cycle, score, window } = heard;
        let at_risk = score.fates.iter().filter(|fate| fate.at_risk).map(|fate| (fate.id, *fate)).collect();
        let all = stands.entry((at.profile, at.window)).or_default();
        let is_last = probes.cycles == Cycles::Last;
        if let Cycles::Numbers(numbers) = &probes.cycles
            && !numbers.contains(number)
        {
            return;
        }
        // Where nothing left the context (a program declined, a policy gave up) nothing is asked, and nobody else is kept from it.
        if score.fates.iter().all(|fate| !fate.at_risk) {
            return;
        }
        // Of the last one it is known only when it is over.
        all.retain(|stand| !(is_last && stand.strategy == at.strategy));
        all.push(Stand {
            strategy: at.strategy,
            cycle: *number,
            window: *window,
            messages: (cycle.began, cycle.prefix_end),
            text: conversation(&cycle.context.serialize(cycle.held)),
            at_risk,
        });
    };
    let mut keep = |_: PlanAt, outcome: &mut SessionOutcome| {
        outcome.cycles.clear();
        outcome.classes.clear();
        outcome.spells.clear();
        outcome.losses.clear();
        outcome.facts.clear();
    };
    let ears = &mut Ears { cycle: &mut hear, plan: &mut keep };
    under_plans(transcript, place, settings, summarizer, &|_| true, &mut outcome, ears);
    let mut asked = Asked { failed: outcome.failed, exercised: outcome.exercised, ..Asked::default() };
    let errors = outcome.sessions.iter().filter(|row| !row.error.is_empty());
    asked.stopped.extend(errors.map(|row| row.error.clone()));
    for ((profile, _), stands) in stands {
        // Strategies that stand at the same place are asked the same.
        let mut places: BTreeMap<(usize, MessageIdx, MessageIdx), Vec<Stand>> = BTreeMap::new();
        for stand in stands {
            places.entry((stand.cycle, stand.messages.0, stand.messages.1)).or_default().push(stand);
        }
        for ((cycle, from, to), stands) in places {
            // Names and words of the whole session make wrong options. Facts born before a cycle have the ids that they had in
            // the replay.
            let all = facts.get_or_insert_with(|| FactSet::extract(transcript, &effects(transcript)));
            asked.round((profile, cycle), (from, to), stands, transcript, all, probes);
        }
    }
    asked
}

impl Asked {
    /// Adds the questions about one place.
    fn round(
        &mut self,
        (profile, cycle): (usize, usize),
        (from, to): (MessageIdx, MessageIdx),
        stands: Vec<Stand>,
        transcript: &Transcript,
        facts: &FactSet,
        probes: &ProbeSettings,
    ) {
        let Some(first) = stands.first() else { return };
        let text = whole(transcript, from, to);
        let lower = text.to_lowercase();
        let cwd = transcript.messages.iter().find_map(|message| message.cwd.as_deref());
        let (session, seed) = (transcript.id.as_str(), probes.seed);
        let ground = Ground { session, facts, words: words(facts), end: to, text: &lower, cwd, seed };
        let shared = first
            .at_risk
            .values()
            .filter(|fate| stands.iter().all(|stand| stand.at_risk.contains_key(&fate.id)));
        let ranked = ranked(shared.copied().collect(), &ground);
        let mut questions: Vec<(About, Question)> = Vec::new();
        let mut ids: Vec<FactId> = Vec::new();
        let mut seen: FxHashSet<(String, Vec<String>)> = FxHashSet::default();
        for fate in ranked {
            if questions.len() == probes.questions {
                break;
            }
            let Some(fact) = facts.get(fate.id) else { continue };
            match ground.question(fate.id, fate.class) {
                // Two facts may come to one question.
                Some(question) if !seen.insert((question.text.clone(), question.options.clone())) => {}
                Some(question) => {
                    ids.push(fate.id);
                    let value = match fact.file.and_then(|file| facts.ledger.files.get(file as usize)) {
                        Some(file) => file.name_at(to).to_owned(),
                        None => fact.value.clone(),
                    };
                    questions.push((About { class: fate.class, value, line: fact.line }, question));
                }
                None => *self.unasked.entry(fate.class).or_default() += 1,
            }
        }
        if questions.is_empty() {
            return;
        }
        let window = first.window;
        let whole = self.context(&text);
        let plans = stands
            .into_iter()
            .map(|stand| {
                let fates = ids.iter().filter_map(|id| stand.at_risk.get(id).copied()).collect();
                (stand.strategy, self.context(&stand.text), fates)
            })
            .collect();
        self.rounds.push(Round { profile, window, cycle, whole, questions, plans });
    }

    /// Place of a context, fenced; equal ones are kept once.
    fn context(&mut self, text: &str) -> usize {
        let fenced = fenced(text);
        if let Some(known) = self.contexts.iter().position(|known| *known == fenced) {
            return known;
        }
        self.contexts.push(fenced);
        self.contexts.len() - 1
    }
}

/// Names, words of sentences and of errors in a session.
fn words(facts: &FactSet) -> Words {
    let of = |is: fn(&Fact) -> bool| {
        facts.facts.iter().filter(move |fact| is(fact)).map(|fact| fact.value.as_str())
    };
    Words::of(
        of(|fact| fact.class == FactClass::Identifier || fact.class.is_file()),
        of(|fact| fact.class == FactClass::Error || is_sentence(fact)),
    )
}

/// Facts in the order in which they are asked about: one of each kind in turn, within a kind one of each class, within a class by
/// the seed.
fn ranked(fates: Vec<Fate>, ground: &Ground<'_>) -> Vec<Fate> {
    let mut states: BTreeMap<(FactClass, u8), Vec<(u64, Fate)>> = BTreeMap::new();
    for fate in fates {
        let Some(fact) = ground.facts.get(fate.id) else { continue };
        let roll = Dice::new(ground.seed, &["order", ground.session, fact.class.name(), &fact.value]).roll();
        // Most commands succeed: what fails is asked about as often, as long as there is some.
        let state = match fact.state_at(ground.end) {
            Some(State::Outcome(outcome)) => outcome as u8,
            Some(State::Todo(state)) => u8::from(state == TodoState::Done),
            _ => 0,
        };
        states.entry((fate.class, state)).or_default().push((roll, fate));
    }
    let mut classes: BTreeMap<FactClass, Vec<(usize, u64, Fate)>> = BTreeMap::new();
    for ((class, _), mut fates) in states {
        fates.sort_unstable_by_key(|(roll, fate)| (*roll, fate.id));
        let places = fates.into_iter().enumerate().map(|(place, (roll, fate))| (place, roll, fate));
        classes.entry(class).or_default().extend(places);
    }
    let mut kinds: BTreeMap<Kind, Vec<(usize, FactClass, Fate)>> = BTreeMap::new();
    for (class, mut fates) in classes {
        fates.sort_unstable_by_key(|(place, roll, fate)| (*place, *roll, fate.id));
        let fates = fates.into_iter().map(|(_, roll, fate)| (roll, fate));
        let places = fates.enumerate().map(|(place, (_, fate))| (place, class, fate));
        kinds.entry(Kind::of(class)).or_default().extend(places);
    }
    let mut all: Vec<(usize, Kind, Fate)> = Vec::new();
    for (kind, mut fates) in kinds {
        fates.sort_unstable_by_key(|(place, class, fate)| (*place, *class, fate.id));
        all.extend(fates.into_iter().enumerate().map(|(place, (.., fate))| (place, kind, fate)));
    }
    all.sort_by_key(|(place, kind, _)| (*place, *kind));
    all.into_iter().map(|(.., fate)| fate).collect()
}

/// Writes prompts, each once, and tells their names.
struct Prompts<'w> {
    out: &'w mut dyn Write,
    /// What was met so far, and whether it was written.
    known: FxHashMap<String, bool>,
    tokenizer: Tokenizer,
    longest: u64,
    written: Counts,
}

impl Prompts<'_> {
    /// The name of a prompt; none of one that is too long.
    fn put(&mut self, context: Option<(&str, u64)>, question: &Question) -> io::Result<String> {
        let user = message(context.map(|(text, _)| text), question);
        let mut hasher = blake3::Hasher::new();
        hasher.update(SYSTEM.as_bytes()).update(&[0]).update(user.as_bytes());
        let mut id = hasher.finalize().to_hex().to_string();
        id.truncate(32);
        let stands = if let Some(stands) = self.known.get(&id) {
            *stands
        } else {
            // The tokens of a context are counted once, whatever is asked about it.
            let tokens = self.tokenizer.count(SYSTEM)
                + match context {
                    Some((text, tokens)) => {
                        tokens + self.tokenizer.count(user.get(text.len()..).unwrap_or_default())
                    }
                    None => self.tokenizer.count(&user),
                };
            let stands = tokens <= self.longest;
            if stands {
                self.written.prompts += 1;
                self.written.tokens += tokens;
                self.written.longest = self.written.longest.max(tokens);
                let line = Prompted { id: id.clone(), system: SYSTEM.to_owned(), user };
                serde_json::to_writer(&mut *self.out, &line)?;
                self.out.write_all(b"\n")?;
            } else {
                self.written.left_out += 1;
            }
            self.known.insert(id.clone(), stands);
            stands
        };
        Ok(if stands { id } else { String::new() })
    }

    /// All questions of a round with one context.
    fn all(
        &mut self,
        context: Option<(&str, u64)>,
        questions: &[(About, Question)],
    ) -> io::Result<Vec<String>> {
        questions.iter().map(|(_, question)| self.put(context, question)).collect()
    }
}

impl Emitted {
    /// Questions, whatever contexts they are asked with.
    pub fn questions(&self) -> usize {
        self.source.iter().flat_map(|(_, asked)| &asked.rounds).map(|round| round.questions.len()).sum()
    }

    /// Writes the prompts, those about one context behind each other, and the key to them.
    ///
    /// # Errors
    ///
    /// What the writers say.
    pub fn write(&self, prompts: &mut dyn Write, key: &mut dyn Write) -> io::Result<Counts> {
        let known = FxHashMap::default();
        let longest = self.longest.unwrap_or(u64::MAX);
        let mut prompts =
            Prompts { out: prompts, known, tokenizer: self.tokenizer, longest, written: Counts::default() };
        let mut unasked: BTreeMap<FactClass, u64> = BTreeMap::new();
        for (source, asked) in &self.source {
            for (class, facts) in &asked.unasked {
                *unasked.entry(*class).or_default() += facts;
            }
            let counted: Vec<u64> = asked.contexts.iter().map(|text| self.tokenizer.count(text)).collect();
            let context = |at: usize| Some((asked.contexts.get(at)?.as_str(), *counted.get(at)?));
            for round in &asked.rounds {
                prompts.written.questions += round.questions.len() as u64;
                let full = prompts.all(context(round.whole), &round.questions)?;
                let blind = prompts.all(None, &round.questions)?;
                for (strategy, at, fates) in &round.plans {
                    let own = prompts.all(context(*at), &round.questions)?;
                    let ids = own.into_iter().zip(full.iter().zip(&blind));
                    for (((about, question), fate), (id, (full, blind))) in
                        round.questions.iter().zip(fates).zip(ids)
                    {
                        let line = Keyed {
                            id,
                            control: full.clone(),
                            blind: blind.clone(),
                            session: asked.id.clone(),
                            source: source.clone(),
                            profile: self.profiles.get(round.profile).cloned().unwrap_or_default(),
                            strategy: self.strategies.get(*strategy).cloned().unwrap_or_default(),
                            window: round.window,
                            cycle: round.cycle as u64,
                            kind: Kind::of(about.class).name().to_owned(),
                            class: about.class.name().to_owned(),
                            fact: about.value.clone(),
                            birth_line: u64::from(about.line),
                            question: question.text.clone(),
                            options: question.options.clone(),
                            want: letter(question.want),
                            stale: question.stale.iter().map(|at| letter(*at)).collect(),
                            untold: letter(question.options.len() - 1),
                            location: fate.location.name().to_owned(),
                            tier: fate.tier.name().to_owned(),
                            present: !matches!(
                                fate.location,
                                Location::Lost | Location::Archived | Location::Opaque
                            ),
                            needed: fate.needed,
                        };
                        serde_json::to_writer(&mut *key, &line)?;
                        key.write_all(b"\n")?;
                        prompts.written.keys += 1;
                    }
                }
            }
        }
        let mut written = prompts.written;
        written.unasked = unasked
            .into_iter()
            .map(|(class, facts)| Unasked { class: class.name().to_owned(), facts })
            .collect();
        Ok(written)
    }
}
