//! What logs hold, without compacting anything: counted per session, summed per file and over all.
//!
//! Sessions that begin with the messages of another one (`copied`) count those once: in the totals, never in what is said of
//! the session itself.

#[cfg(test)]
mod tests;

use super::logs::{LogRead, read_log};
use super::{PoolError, Progress};
use crate::diagnostic::{Diagnostic, Severity};
use crate::discover::{Discovered, Source};
use crate::facts::{FactClass, FactSet};
use crate::replay::effects;
use crate::results::inspected::{
    Counts, FileReport, FileStates, Inspected, Remark, Reported, Roles, SessionReport,
};
use crate::tokens::{TokenIndex, Tokenizer};
use crate::transcript::{Message, MessageIdx, Origin, Outcome, Part, Role, Transcript};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// Looks into every file.
pub fn inspect(
    discovered: &Discovered,
    tokenizer: Tokenizer,
    jobs: usize,
    progress: Progress<'_>,
) -> Result<Inspected, PoolError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build()
        .map_err(|error| PoolError { jobs, reason: error.to_string() })?;
    let mut order: Vec<usize> = (0..discovered.sources.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(discovered.sources.get(*at).map_or(0, |source| source.bytes)));
    let mut looked: Vec<(usize, (FileReport, Vec<Trail>))> = pool.install(|| {
        order
            .par_iter()
            .with_max_len(1)
            .filter_map(|at| {
                let source = discovered.sources.get(*at)?;
                let looked = file(source, tokenizer);
                progress(source.bytes, looked.0.sessions.len() as u64);
                Some((*at, looked))
            })
            .collect()
    });
    looked.sort_by_key(|(at, _)| *at);
    let (mut files, trails): (Vec<FileReport>, Vec<Vec<Trail>>) =
        looked.into_iter().map(|(_, looked)| looked).unzip();
    mark_copied(&mut files, trails);
    files.extend(discovered.problems.iter().map(|(path, cause)| FileReport {
        file: path.clone(),
        error: cause.clone(),
        ..FileReport::default()
    }));
    Ok(Inspected { tokenizer: tokenizer.name().to_owned(), files })
}

/// One file, and what its sessions say, to find what was copied.
fn file(source: &Source, tokenizer: Tokenizer) -> (FileReport, Vec<Trail>) {
    let mut report = FileReport { file: source.label.clone(), ..FileReport::default() };
    let mut trails = Vec::new();
    let read = read_log(source, &mut |sessions| {
        let looked: Vec<(SessionReport, Trail)> =
            sessions.par_iter().map(|transcript| session(transcript, tokenizer)).collect();
        for (looked, trail) in looked {
            report.sessions.push(looked);
            trails.push(trail);
        }
    });
    match read {
        Ok(LogRead { ingested, .. }) => {
            ingested.format.map_or("", crate::ingest::Format::name).clone_into(&mut report.format);
            report.evidence = ingested.evidence;
            report.records = ingested.records;
            report.bytes = ingested.bytes.total();
            report.bytes_read = ingested.bytes.read;
            report.bytes_skipped = ingested.bytes.skipped;
            report.bytes_between = ingested.bytes.between;
            report.recorded = Counts {
                messages: ingested.raw.messages,
                tool_calls: ingested.raw.tool_calls,
                compactions: ingested.raw.compactions,
            };
            report.remarks = remarks(&ingested.diagnostics);
        }
        Err(problem) => report.error = problem.text,
    }
    (report, trails)
}

/// Diagnostics by kind: the first of each stands for all.
fn remarks(diagnostics: &[Diagnostic]) -> Vec<Remark> {
    let mut kinds: BTreeMap<&str, Remark> = BTreeMap::new();
    for one in diagnostics {
        let kind = kinds.entry(one.code).or_insert_with(|| Remark {
            kind: one.code.to_owned(),
            severity: String::new(),
            count: 0,
            line: u64::from(one.line),
            text: one.text.clone(),
        });
        kind.count += one.count;
        let worst = super::severity(one.severity);
        if kind.severity.is_empty() || one.severity > severity_of(&kind.severity) {
            worst.clone_into(&mut kind.severity);
        }
    }
    let mut remarks: Vec<Remark> = kinds.into_values().collect();
    remarks.sort_by_key(|remark| std::cmp::Reverse(severity_of(&remark.severity)));
    remarks
}

fn severity_of(name: &str) -> Severity {
    [Severity::Lost, Severity::Damage]
        .into_iter()
        .find(|it| super::severity(*it) == name)
        .unwrap_or(Severity::Note)
}

/// One session by itself.
fn session(transcript: &Transcript, tokenizer: Tokenizer) -> (SessionReport, Trail) {
    // Before the tokens are counted: what it is found from takes as much memory.
    let files = states(transcript);
    let tokens = TokenIndex::new(transcript, tokenizer);
    let trail = Trail::of(transcript, &tokens);
    let mut roles = Roles::default();
    let (mut images, mut opaque) = (0, 0);
    let mut reported = Reported::default();
    for message in &transcript.messages {
        let count = match message.role {
            Role::System => &mut roles.system,
            Role::User => &mut roles.user,
            Role::Assistant => &mut roles.assistant,
            Role::Tool => &mut roles.tool,
        };
        *count += 1;
        for part in &message.parts {
            match part {
                Part::Image { .. } => images += 1,
                Part::Result(result) => images += u64::from(result.images),
                Part::Opaque { .. } => opaque += 1,
                _ => {}
            }
        }
        if let Some(usage) = &message.usage {
            reported.replies += 1;
            reported.prompt_max = reported.prompt_max.max(usage.input);
            reported.prompt += usage.input;
            reported.output += usage.output;
        }
    }
    let mut tools: BTreeMap<String, u64> = BTreeMap::new();
    let (mut unanswered, mut failed) = (0, 0);
    for link in &transcript.links {
        let name = transcript.call(link).map_or("", |call| call.name.as_str());
        *tools.entry(name.to_owned()).or_default() += 1;
        match transcript.result(link) {
            None => unanswered += 1,
            Some(result) => failed += u64::from(result.outcome == Outcome::Failed),
        }
    }
    let report = SessionReport {
        id: transcript.id.clone(),
        origin: match &transcript.origin {
            Origin::Main => "main".to_owned(),
            Origin::Sidechain(_) => "sidechain".to_owned(),
        },
        agent: match &transcript.origin {
            Origin::Main => String::new(),
            Origin::Sidechain(agent) => agent.clone(),
        },
        format: transcript.format.clone().unwrap_or_default(),
        model: transcript.model.clone().unwrap_or_default(),
        context_window: transcript.context_window,
        continues: transcript.continues.clone(),
        requests: transcript.messages.iter().filter(|message| message.is_user_request()).count() as u64,
        messages: roles,
        copied: Counts::default(),
        copied_tokens: 0,
        copied_output: 0,
        tool_calls: transcript.links.len() as u64,
        unanswered,
        failed,
        tools,
        images,
        opaque,
        tokens: tokens.total(),
        reported,
        files,
        compactions: transcript.recorded.len() as u64,
        refusals: transcript.refusals.len() as u64,
        starts_compacted: transcript.starts_compacted,
        starts_midway: transcript.starts_midway,
    };
    (report, trail)
}

/// Files by what became of them at the end of the session.
fn states(transcript: &Transcript) -> FileStates {
    let effects = effects(transcript);
    let ledger = FactSet::files(transcript, &effects);
    let end = MessageIdx::new(transcript.messages.len());
    let mut states = FileStates::default();
    for file in &ledger.files {
        match file.state_at(end) {
            Some(FactClass::FileModified | FactClass::FileCreated | FactClass::FileRenamed) => {
                states.modified += 1;
            }
            Some(FactClass::FileRead) => states.read += 1,
            Some(FactClass::FileDeleted) => states.deleted += 1,
            _ => {}
        }
    }
    states
}

/// What a session says, message by message, short enough to be kept for all sessions.
#[derive(Debug)]
struct Trail {
    steps: Vec<Step>,
    /// The messages before which compactions happened.
    compactions: Vec<usize>,
}

/// One message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    /// Hash of who said what.
    said: u64,
    time: Option<i64>,
    calls: u32,
    tokens: u32,
    output: u32,
    reply: bool,
}

impl Trail {
    fn of(transcript: &Transcript, tokens: &TokenIndex) -> Self {
        let step = |(at, message)| Step::of(message, tokens.range(at..at + 1));
        Self {
            steps: transcript.messages.iter().enumerate().map(step).collect(),
            compactions: transcript.recorded.iter().map(|recorded| recorded.before.get()).collect(),
        }
    }

    /// How many messages from `at` on are those of another one from `from` on; without `times` also where they were written at
    /// other times.
    fn shared(&self, at: usize, other: &Self, from: usize, times: bool) -> usize {
        let same = |(one, other): &(&Step, &Step)| {
            one.said == other.said && (!times || one.time.is_some() && one.time == other.time)
        };
        let here = self.steps.get(at..).unwrap_or_default();
        let there = other.steps.get(from..).unwrap_or_default();
        let both = here.iter().zip(there).take_while(same).count();
        // A greeting that two people use is no copy; a reply that comes with it is.
        if here.iter().take(both).any(|step| step.reply) { both } else { 0 }
    }
}

/// Messages that are those of a trail seen before: so many from `at` on, there from `from` on.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    at: usize,
    trail: usize,
    from: usize,
    length: usize,
}

impl Step {
    fn of(message: &Message, tokens: u64) -> Self {
        let mut hasher = FxHasher::default();
        message.role.hash(&mut hasher);
        let mut calls = 0;
        for part in &message.parts {
            match part {
                Part::Text(text) => text.text.hash(&mut hasher),
                Part::Thinking(text) => text.hash(&mut hasher),
                Part::Call(call) => {
                    calls += 1;
                    (&call.name, &call.arguments).hash(&mut hasher);
                }
                Part::Result(result) => result.text.hash(&mut hasher),
                Part::Image { bytes } => bytes.hash(&mut hasher),
                Part::Opaque { kind, bytes } => (kind, bytes).hash(&mut hasher),
            }
        }
        Self {
            said: hasher.finish(),
            time: message.time,
            calls,
            tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
            output: u32::try_from(message.usage.as_ref().map_or(0, |usage| usage.output)).unwrap_or(u32::MAX),
            reply: message.role == Role::Assistant,
        }
    }
}

/// Marks what sessions only repeat of sessions before them: of the one that they say they continue, or of any whose messages were
/// written at the same times.
fn mark_copied(files: &mut [FileReport], trails: Vec<Vec<Trail>>) {
    let mut seen = Seen::default();
    // A fork may lie in front of what it continues.
    let mut reports: Vec<(&mut SessionReport, Trail)> =
        files.iter_mut().flat_map(|file| &mut file.sessions).zip(trails.into_iter().flatten()).collect();
    reports.sort_by_key(|(report, _)| report.continues.is_some());
    for (report, trail) in reports {
        let parent = report.continues.as_ref().and_then(|id| seen.by_id.get(id).copied());
        for stretch in seen.stretches(&trail, parent) {
            let repeated = || trail.steps.iter().skip(stretch.at).take(stretch.length);
            report.copied.messages += stretch.length as u64;
            report.copied.tool_calls += repeated().map(|step| u64::from(step.calls)).sum::<u64>();
            report.copied.compactions += seen.compactions(&trail, stretch);
            report.copied_tokens += repeated().map(|step| u64::from(step.tokens)).sum::<u64>();
            report.copied_output += repeated().map(|step| u64::from(step.output)).sum::<u64>();
        }
        seen.add(report.id.clone(), trail);
    }
}

/// The trails so far.
#[derive(Debug, Default)]
struct Seen {
    trails: Vec<Trail>,
    by_id: FxHashMap<String, usize>,
    /// Trail and position of the first message that says this at this time.
    by_step: FxHashMap<(u64, i64), (u32, u32)>,
}

impl Seen {
    /// A parent that is named may have written its messages at other times, and a fork something of its own in front of them.
    const OWN: usize = 4;

    /// What the trail repeats, in order.
    fn stretches(&self, trail: &Trail, parent: Option<usize>) -> Vec<Stretch> {
        let mut found = Vec::new();
        let told = parent.and_then(|parent| Some((parent, self.trails.get(parent)?)));
        let first = told.and_then(|(at_trail, parent)| {
            let starts = trail.steps.iter().enumerate().take(Self::OWN);
            let stretches = starts.filter_map(|(at, step)| {
                let from = parent.steps.iter().position(|other| other.said == step.said)?;
                let length = trail.shared(at, parent, from, false);
                Some(Stretch { at, trail: at_trail, from, length })
            });
            stretches.filter(|stretch| stretch.length > 0).max_by_key(|stretch| stretch.length)
        });
        let mut at = first.map_or(0, |first| first.at + first.length);
        found.extend(first);
        while let Some(step) = trail.steps.get(at) {
            let place = step.time.and_then(|time| self.by_step.get(&(step.said, time)));
            let stretch = place.and_then(|&(seen, from)| {
                let (seen, from) = (seen as usize, from as usize);
                let length = trail.shared(at, self.trails.get(seen)?, from, true);
                (length > 0).then_some(Stretch { at, trail: seen, from, length })
            });
            at += stretch.map_or(1, |stretch| stretch.length);
            found.extend(stretch);
        }
        found
    }

    /// Compactions of the stretch that happened at the same message of the other trail.
    fn compactions(&self, trail: &Trail, stretch: Stretch) -> u64 {
        let Some(other) = self.trails.get(stretch.trail) else { return 0 };
        let within = stretch.at + 1..=stretch.at + stretch.length;
        let same = |before: &&usize| {
            within.contains(before) && other.compactions.contains(&(**before - stretch.at + stretch.from))
        };
        trail.compactions.iter().filter(same).count() as u64
    }

    fn add(&mut self, id: String, trail: Trail) {
        let number = self.trails.len();
        self.by_id.entry(id).or_insert(number);
        if let Ok(number) = u32::try_from(number) {
            for (at, step) in (0u32..).zip(&trail.steps) {
                if let Some(time) = step.time {
                    self.by_step.entry((step.said, time)).or_insert((number, at));
                }
            }
        }
        self.trails.push(trail);
    }
}
