//! Collects what a reader produces. Separate from the readers because grouping of remarks is one rule for all.
//!
//! Invariant: the number of diagnostics is bounded (at most [`PER_CODE`] + 1 per code), whatever the input.

use std::hash::BuildHasher as _;

use arcstr::ArcStr;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::links::{self, Draft};
use super::value::Value;
use crate::diagnostic::{Diagnostic, Severity};
use crate::fileops;
use crate::transcript::{RawCounts, Recorded, Transcript};

/// Diagnostics named one by one per code; further ones are counted.
const PER_CODE: usize = 20;

/// Sessions of more messages than this are long.
const LONG: usize = 4096;

/// Code of the remark on a file that is a piece of a log.
const PART_OF_LOG: &str = "part-of-log";

/// Where a reader puts sessions, counts and remarks.
#[derive(Debug, Clone, Default)]
pub(super) struct Sink {
    /// Raw record counts of the file.
    pub(super) raw: RawCounts,
    /// Finished sessions, in order.
    pub(super) sessions: Vec<Transcript>,
    groups: Vec<Group>,
    by_key: FxHashMap<(&'static str, u32, String), usize>,
    per_code: FxHashMap<&'static str, Kinds>,
    piece: Option<String>,
    batches: bool,
    /// More records of the session that is read are to come.
    more: bool,
    /// That session, as far as it was read, and when the records of its lines were written.
    begun: Option<Begun>,
    times: Vec<(u32, i64)>,
    /// How many messages it may come to, where that is known; else 0.
    expected: usize,
    given: u64,
    numbered: u32,
    /// Hashes of the ids that were counted, over all batches.
    counted: FxHashSet<u64>,
    /// Ids that records of the file speak of.
    referred: FxHashSet<String>,
    refused: bool,
}

/// A session of which more records are to come, and where its reader stood.
#[derive(Debug, Clone)]
pub(super) struct Begun {
    /// What was read of it.
    pub(super) draft: Draft,
    /// The id that its records, or its header, give it.
    pub(super) id: Option<String>,
    /// The directory of what follows.
    pub(super) cwd: Option<ArcStr>,
    /// The messages of a compaction are being read.
    pub(super) compacting: bool,
}

impl Begun {
    /// Of a reader that knows nothing else.
    pub(super) fn new(draft: Draft) -> Self {
        Self { draft, id: None, cwd: None, compacting: false }
    }
}

/// One diagnostic to be, with how often it came.
#[derive(Debug, Clone)]
struct Group {
    diagnostic: Diagnostic,
    count: u64,
    overflow: bool,
}

/// How many groups a code has, and where its overflow group is.
#[derive(Debug, Clone, Default)]
struct Kinds {
    named: usize,
    overflow: Option<usize>,
}

impl Sink {
    /// Records come in batches: the reader sees some of the sessions of the file at a time.
    pub(super) fn in_batches(&mut self) {
        self.batches = true;
    }

    /// True when the file holds sessions that the reader does not see now.
    pub(super) fn is_in_batches(&self) -> bool {
        self.batches
    }

    /// More records of one session are to come behind those that are read next, or no more.
    pub(super) fn expect_more(&mut self, more: bool) {
        self.more = more;
    }

    /// The log has so many records.
    pub(super) fn expect(&mut self, records: usize) {
        self.expected = records;
    }

    /// The session that records before these began.
    pub(super) fn resume(&mut self) -> Option<Draft> {
        self.begun.take().map(|begun| begun.draft)
    }

    /// The same with where its reader stood.
    pub(super) fn resume_begun(&mut self) -> Option<Begun> {
        self.begun.take()
    }

    /// Keeps a session until the rest of its records is there; gives it back where it is complete.
    pub(super) fn suspend(&mut self, draft: Draft) -> Option<Draft> {
        self.suspend_begun(Begun::new(draft))
    }

    /// The same with where its reader stands.
    pub(super) fn suspend_begun(&mut self, mut begun: Begun) -> Option<Draft> {
        if !self.more {
            return Some(begun.draft);
        }
        // A long list that grows is there twice.
        let messages = &mut begun.draft.messages;
        let count = messages.len();
        if LONG <= count && messages.capacity() < self.expected {
            messages.reserve_exact(self.expected - count);
        }
        self.begun = Some(begun);
        None
    }

    /// When the records of lines were written: those that were kept with the session that is read, and these.
    pub(super) fn with_kept_times(&mut self, times: Vec<(u32, i64)>) -> Vec<(u32, i64)> {
        let mut all = std::mem::take(&mut self.times);
        if all.is_empty() {
            return times;
        }
        all.extend(times);
        all
    }

    /// Keeps the times from the beginning of the session that more is to come of.
    pub(super) fn keep_times(&mut self, mut times: Vec<(u32, i64)>, ended: bool) {
        let Some(begun) = &self.begun else { return };
        if ended {
            let first = begun.draft.messages.first().map_or(0, |message| message.line);
            times.retain(|(line, _)| first <= *line);
        }
        self.times = times;
    }

    /// What follows in the file cannot be read, whatever it looks like.
    pub(super) fn refuse(&mut self) {
        self.refused = true;
    }

    /// True when something before, in this batch or an earlier one, says that the rest cannot be read.
    pub(super) fn is_refused(&self) -> bool {
        self.refused
    }

    /// The number of the next session in the file, from 1 on, for those without an id.
    pub(super) fn number(&mut self) -> u32 {
        self.numbered += 1;
        self.numbered
    }

    /// True when nothing of this kind and id was counted in the file before.
    pub(super) fn is_first(&mut self, kind: &'static str, id: &str) -> bool {
        self.counted.insert(FxBuildHasher.hash_one((kind, id)))
    }

    /// Remembers ids that a record speaks of.
    pub(super) fn refer(&mut self, ids: impl IntoIterator<Item = String>) {
        self.referred.extend(ids);
    }

    /// True when a record of the file speaks of this id.
    pub(super) fn is_referred(&self, id: &str) -> bool {
        self.referred.contains(id)
    }

    /// Takes the sessions out.
    pub(super) fn give(&mut self) -> Vec<Transcript> {
        self.given += self.sessions.len() as u64;
        std::mem::take(&mut self.sessions)
    }

    /// True when there were sessions.
    pub(super) fn had_sessions(&self) -> bool {
        self.given > 0 || !self.sessions.is_empty()
    }

    /// What follows is said of this file of a log that lies in several.
    pub(super) fn piece(&mut self, name: Option<&str>) {
        self.piece = name.map(str::to_owned);
    }

    /// A remark that may come often: equal `(code, text)` become one diagnostic with a count and the first line.
    pub(super) fn note(
        &mut self,
        line: u32,
        code: &'static str,
        severity: Severity,
        text: impl Into<String>,
    ) {
        self.add(line, 0, code, severity, text.into());
    }

    /// A damaged record: each is named with its line, up to 20 per code, then counted.
    pub(super) fn damage(&mut self, line: u32, code: &'static str, text: impl Into<String>) {
        self.add(line, line, code, Severity::Damage, text.into());
    }

    /// Counts of tokens as the log tells them; where they cannot be ones it is noted, and they are taken as not given.
    pub(super) fn told<T>(&mut self, line: u32, counts: Result<T, String>) -> Option<T> {
        counts.map_err(|text| self.note(line, "bad-tokens", Severity::Note, text)).ok()
    }

    /// Notes a field that comes twice in the arguments of a call, where the record holds them as JSON text: one that comes twice in
    /// the record itself was noted when it was parsed.
    pub(super) fn arguments(&mut self, arguments: Option<&Value>, line: u32) {
        if arguments.and_then(Value::as_str).is_some_and(fileops::has_field_twice) {
            let text = "a field comes twice in the arguments of a call; the last one counts";
            self.note(line, "duplicate-field", Severity::Note, text);
        }
    }

    /// The log does not tell which messages a recorded compaction kept: what its summary had to hold cannot be known then, so it
    /// is counted and not scored.
    pub(super) fn kept_unknown(&mut self, recorded: &mut Recorded, cause: &str) {
        recorded.kept.clear();
        recorded.clipped.clear();
        recorded.kept_unknown = true;
        let text = format!(
            "{cause}: which messages the compaction kept is not known; it is counted, its summary not scored"
        );
        self.damage(recorded.line, "kept-unknown", text);
    }

    /// Links a draft and keeps the transcript, if anything is left of it.
    pub(super) fn finish_draft(&mut self, draft: Draft) {
        if let Some(transcript) = links::finish(draft, self) {
            self.sessions.push(transcript);
        }
    }

    /// The file is a piece of a log that lies in several, or stands beside one: without a session it is no loss.
    pub(super) fn part_of_log(&mut self, text: impl Into<String>) {
        self.note(0, PART_OF_LOG, Severity::Note, text);
    }

    /// True when it was said already why there is no session: the file as a whole is lost, or only a part of a log.
    pub(super) fn is_explained(&self) -> bool {
        let explains = |it: &Diagnostic| it.severity == Severity::Lost || it.code == PART_OF_LOG;
        self.groups.iter().any(|group| explains(&group.diagnostic))
    }

    fn add(&mut self, line: u32, key_line: u32, code: &'static str, severity: Severity, text: String) {
        let text = match &self.piece {
            Some(piece) => format!("{piece}: {text}"),
            None => text,
        };
        let key = (code, key_line, text);
        if let Some(&at) = self.by_key.get(&key) {
            let group = &mut self.groups[at];
            group.count += 1;
            // Sessions are not always read in order of their lines.
            group.diagnostic.line = group.diagnostic.line.min(line);
            return;
        }
        let kinds = self.per_code.entry(code).or_default();
        if kinds.named < PER_CODE {
            kinds.named += 1;
            let diagnostic = Diagnostic { line, code, severity, count: 1, text: key.2.clone() };
            self.by_key.insert(key, self.groups.len());
            self.groups.push(Group { diagnostic, count: 1, overflow: false });
        } else if let Some(at) = kinds.overflow {
            let group = &mut self.groups[at];
            group.count += 1;
            group.diagnostic.severity = group.diagnostic.severity.max(severity);
            group.diagnostic.line = group.diagnostic.line.min(line);
        } else {
            kinds.overflow = Some(self.groups.len());
            let diagnostic = Diagnostic { line, code, severity, count: 1, text: String::new() };
            self.groups.push(Group { diagnostic, count: 1, overflow: true });
        }
    }

    /// Everything collected; diagnostics ordered by line.
    pub(super) fn into_parts(mut self) -> (Vec<Transcript>, Vec<Diagnostic>, RawCounts) {
        let finish = |group: Group| {
            let mut diagnostic = group.diagnostic;
            diagnostic.count = group.count;
            if group.overflow {
                diagnostic.text = format!("{} more of this kind from here on", group.count);
            } else if group.count > 1 {
                diagnostic.text = format!("{} ({} times, first here)", diagnostic.text, group.count);
            }
            diagnostic
        };
        let groups = std::mem::take(&mut self.groups);
        let mut diagnostics: Vec<Diagnostic> = groups.into_iter().map(finish).collect();
        diagnostics.sort_by_key(|diagnostic| diagnostic.line);
        (self.give(), diagnostics, self.raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(fill: impl Fn(&mut Sink), expected: &[&str]) {
        let mut sink = Sink::default();
        fill(&mut sink);
        let (_, diagnostics, _) = sink.into_parts();
        let shown: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn equal_notes_become_one_and_damage_is_named_by_line() {
        check(
            |sink| {
                for line in 3..6 {
                    sink.note(line, "unknown-record", Severity::Note, "type \"x\"");
                }
                sink.damage(4, "bad-json", "not JSON");
                sink.damage(7, "bad-json", "not JSON");
            },
            &[
                "line 3: unknown-record: type \"x\" (3 times, first here)",
                "line 4: bad-json: not JSON",
                "line 7: bad-json: not JSON",
            ],
        );
    }

    #[test]
    fn the_first_line_is_the_lowest_in_whatever_order_they_come() {
        check(
            |sink| [5, 3, 4].into_iter().for_each(|line| sink.note(line, "a", Severity::Note, "x")),
            &["line 3: a: x (3 times, first here)"],
        );
    }

    #[test]
    fn more_than_twenty_of_a_kind_are_counted() {
        let mut sink = Sink::default();
        for line in 1..=50 {
            sink.damage(line, "bad-json", "not JSON");
        }
        let (_, diagnostics, _) = sink.into_parts();
        assert_eq!(diagnostics.len(), 21);
        assert_eq!(diagnostics[20].to_string(), "line 21: bad-json: 30 more of this kind from here on");
    }
}
