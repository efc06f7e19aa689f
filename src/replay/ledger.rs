//! The harness' cumulative file lists: what a compactor itself knows about files from the calls it compacts.
//!
//! Not the answer key: this follows the profile's [`FileRules`], faults included, and sees only messages that left the
//! context. The ground truth is extracted independently by `facts`.

use crate::fileops::{CallEffect, Confidence, OpKind};
use crate::profile::FileRules;
use crate::summarize::FileLists;
use crate::transcript::{Outcome, Transcript};
use rustc_hash::FxHashMap;
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Read,
    Modified,
    Deleted,
}

/// Cumulative state of every file that a compacted call touched.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    files: FxHashMap<String, (State, u64)>,
    clock: u64,
    next_link: usize,
}

impl Ledger {
    /// Applies the calls of the messages in `range`. Ranges must ascend from call to call.
    pub fn apply(
        &mut self,
        transcript: &Transcript,
        effects: &[CallEffect],
        range: Range<usize>,
        rules: FileRules,
    ) {
        while let (Some(link), Some(effect)) =
            (transcript.links.get(self.next_link), effects.get(self.next_link))
        {
            let at = link.call.message.get();
            if at >= range.end {
                break;
            }
            self.next_link += 1;
            if at < range.start || effect.ops.is_empty() {
                continue;
            }
            let outcome = transcript.result(link).map(|result| result.outcome);
            for op in &effect.ops {
                if op.confidence == Confidence::Shell && !rules.shell {
                    continue;
                }
                let last_step = op.confidence == Confidence::Tool || op.step + 1 >= effect.steps;
                let happened = match outcome {
                    Some(Outcome::Ok | Outcome::Unknown) => true,
                    Some(Outcome::Failed) => !last_step,
                    None => false,
                };
                if happened || rules.failed {
                    self.record(&op.path, &op.kind);
                }
            }
        }
    }

    /// The lists now.
    pub fn lists(&self) -> FileLists {
        let mut all: Vec<(u64, &String, State)> =
            self.files.iter().map(|(path, (state, last))| (*last, path, *state)).collect();
        all.sort_unstable_by_key(|(last, _, _)| *last);
        let of = |wanted: State| -> Vec<String> {
            all.iter().filter(|(_, _, state)| *state == wanted).map(|(_, path, _)| (*path).clone()).collect()
        };
        FileLists { read: of(State::Read), modified: of(State::Modified), deleted: of(State::Deleted) }
    }

    fn record(&mut self, path: &str, kind: &OpKind) {
        self.clock += 1;
        let now = self.clock;
        match kind {
            OpKind::Read => {
                let entry = self.files.entry(path.to_owned()).or_insert((State::Read, now));
                if entry.0 == State::Deleted {
                    entry.0 = State::Read;
                }
                entry.1 = now;
            }
            OpKind::Write | OpKind::Create | OpKind::Edit => {
                self.files.insert(path.to_owned(), (State::Modified, now));
            }
            OpKind::Delete => self.remove(path, now),
            OpKind::Rename { to } => {
                let below: Vec<(String, State)> = self.under(path);
                self.remove(path, now);
                if below.is_empty() {
                    self.clock += 1;
                    self.files.insert(to.clone(), (State::Modified, self.clock));
                }
                for (old, state) in below {
                    let Some(rest) = old.strip_prefix(path) else { continue };
                    self.clock += 1;
                    if state != State::Deleted {
                        self.files.insert(format!("{to}{rest}"), (State::Modified, self.clock));
                    }
                }
            }
        }
    }

    /// Marks a file, or everything under a directory, as deleted.
    fn remove(&mut self, path: &str, now: u64) {
        let below = self.under(path);
        if below.is_empty() {
            self.files.insert(path.to_owned(), (State::Deleted, now));
        }
        for (old, _) in below {
            self.files.insert(old, (State::Deleted, now));
        }
    }

    /// Known live files strictly under a directory, sorted.
    fn under(&self, directory: &str) -> Vec<(String, State)> {
        let mut below: Vec<(String, State)> = self
            .files
            .iter()
            .filter(|(path, (state, _))| {
                *state != State::Deleted
                    && path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
            })
            .map(|(path, (state, _))| (path.clone(), *state))
            .collect();
        below.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        below
    }
}
