//! What logs hold, without compacting anything: counted per session, summed per file and over all.
//!
//! Sessions that begin with the messages of another one (`copied`) count those once: in the totals, never in what is said of
//! the session itself.

mod copied;
#[cfg(test)]
mod tests;

use super::logs::{LogRead, read_log};
use super::{PoolError, Progress};
use crate::diagnostic::{Diagnostic, Severity};
use crate::discover::{Discovered, Source};
use crate::facts::{FactClass, FactSet};
use crate::replay::effects;
use crate::results::inspected::{
    Counts, FileReport, FileStates, Inspected, Remark, Reported, Roles, SessionList, SessionReport,
};
use crate::results::spool::Spool;
use crate::tokens::{Tokenizer, message_tokens};
use crate::transcript::{MessageIdx, Origin, Outcome, Part, Role, Transcript};
use copied::{TrailList, mark};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// Why logs could not be looked into.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// The threads could not be had.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// What was found could not be kept until it is told.
    #[error("what was found cannot be kept in a temporary file: {0}")]
    Kept(#[from] io::Error),
}

/// Looks into every file.
pub fn inspect(
    discovered: &Discovered,
    tokenizer: Tokenizer,
    jobs: usize,
    progress: Progress<'_>,
) -> Result<Inspected, InspectError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build()
        .map_err(|error| PoolError { jobs, reason: error.to_string() })?;
    let mut order: Vec<usize> = (0..discovered.sources.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(discovered.sources.get(*at).map_or(0, |source| source.bytes)));
    let kept = Kept::default();
    let looked: io::Result<Vec<(usize, FileReport, TrailList)>> = pool.install(|| {
        order
            .par_iter()
            .with_max_len(1)
            .filter_map(|at| {
                let source = discovered.sources.get(*at)?;
                let looked = file(source, tokenizer, &kept);
                progress(source.bytes, looked.as_ref().map_or(0, |(report, _)| report.sessions.len()));
                Some(looked.map(|(report, trails)| (*at, report, trails)))
            })
            .collect()
    });
    let mut looked = looked?;
    looked.sort_by_key(|(at, ..)| *at);
    let (mut files, trails): (Vec<FileReport>, Vec<TrailList>) =
        looked.into_iter().map(|(_, report, trails)| (report, trails)).unzip();
    mark(&trails, &kept.trails, &kept.sessions)?;
    files.extend(discovered.problems.iter().map(|(path, cause)| FileReport {
        file: path.clone(),
        error: cause.clone(),
        ..FileReport::default()
    }));
    Ok(Inspected { tokenizer: tokenizer.name().to_owned(), files })
}

/// What is kept of all files until it is told: there may be millions of sessions.
#[derive(Debug, Default)]
struct Kept {
    sessions: Arc<Spool>,
    trails: Spool,
}

/// One file, and what its sessions say, to find what was copied.
fn file(source: &Source, tokenizer: Tokenizer, kept: &Kept) -> io::Result<(FileReport, TrailList)> {
    let mut report = FileReport {
        file: source.label.clone(),
        sessions: SessionList::new(kept.sessions.clone()),
        ..FileReport::default()
    };
    let mut trails = TrailList::default();
    let mut done = Ok(());
    let read = read_log(source, &mut |sessions| {
        if done.is_ok() {
            done = add(sessions, tokenizer, kept, &mut report.sessions, &mut trails);
        }
    });
    done?;
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
    Ok((report, trails))
}

/// Looks into sessions and keeps what is said of them.
fn add(
    sessions: &[Transcript],
    tokenizer: Tokenizer,
    kept: &Kept,
    list: &mut SessionList,
    trails: &mut TrailList,
) -> io::Result<()> {
    let looked: Vec<(SessionReport, Vec<u32>)> =
        sessions.par_iter().map(|transcript| session(transcript, tokenizer)).collect();
    let places = list.extend(looked.iter().map(|(report, _)| report))?;
    let tokens = looked.iter().map(|(_, tokens)| tokens.as_slice());
    let told = sessions.iter().zip(tokens).zip(places);
    trails.extend(told.map(|((session, tokens), place)| (session, tokens, place)), &kept.trails)
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

/// One session by itself, and the tokens of its messages.
fn session(transcript: &Transcript, tokenizer: Tokenizer) -> (SessionReport, Vec<u32>) {
    // Before the tokens are counted: what it is found from takes as much memory.
    let files = states(transcript);
    let count = |message| message_tokens(message, tokenizer);
    let mut total = 0;
    let mut tokens = Vec::with_capacity(transcript.messages.len());
    for count in transcript.messages.iter().map(count) {
        total += count;
        tokens.push(u32::try_from(count).unwrap_or(u32::MAX));
    }
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
        tokens: total,
        reported,
        files,
        compactions: transcript.recorded.len() as u64,
        refusals: transcript.refusals.len() as u64,
        starts_compacted: transcript.starts_compacted,
        starts_midway: transcript.starts_midway,
    };
    (report, tokens)
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
