//! The file ledger: which files a session touched and in which state each is, at every prefix of the log.
//!
//! Built from calls paired with their results:
//!
//! * A failed, refused or unanswered call did nothing. A failed shell script did what its simple commands before the
//!   last one say: the last one is what failed. An outcome the log does not state counts as done.
//! * A state holds from the message of the *result* on; the birth is the message of the call, which names the path.
//! * Read then modified is modified, and no later read takes that back. A write of an unknown path creates the file,
//!   unless the result says that it replaced one; a write of a known path modifies it; a created file stays created.
//! * A rename moves the identity: one entry, its history kept, the old name remembered. A file that was only read and
//!   then renamed is `file.renamed`; a modified or created one keeps its state under the new name.
//! * A deleted file leaves the live list, not the history; a later write revives it.
//! * Deleting or moving a directory applies to every known live file under it. A path that no other operation names
//!   and whose last component has no dot (`dist`, `node_modules`) is taken for a directory then, and makes no entry.

use super::{Author, Draft, Fact, FactClass, Form, State, Step};
use crate::fileops::{Confidence, FileOp, OpKind};
use crate::transcript::{MessageIdx, Outcome};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// One file of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Canonical path: its last name.
    pub path: String,
    /// Every name it had, with the message from which on it had it; the first name holds from the first operation.
    pub names: Vec<(MessageIdx, String)>,
    /// Its state from each message on; only changes of state are listed.
    pub ops: Vec<(MessageIdx, FactClass)>,
    /// Messages with an operation on it: calls and their results, sorted.
    pub touched: Vec<MessageIdx>,
    /// True when every operation is known from shell commands only.
    pub shell_only: bool,
    /// Its fact, once extraction is done.
    pub fact: Option<super::FactId>,
}

impl FileEntry {
    /// State in a prefix; `None` when nothing had happened to it.
    pub fn state_at(&self, prefix_end: MessageIdx) -> Option<FactClass> {
        let after = self.ops.partition_point(|(at, _)| *at < prefix_end);
        Some(self.ops.get(after.checked_sub(1)?)?.1)
    }

    /// Name in a prefix.
    pub fn name_at(&self, prefix_end: MessageIdx) -> &str {
        let after = self.names.partition_point(|(at, _)| *at < prefix_end);
        self.names.get(after.saturating_sub(1)).map_or(self.path.as_str(), |(_, name)| name.as_str())
    }

    /// True when the file exists in that prefix as far as the log tells: touched and not deleted.
    pub fn live_at(&self, prefix_end: MessageIdx) -> bool {
        self.state_at(prefix_end).is_some_and(|state| state != FactClass::FileDeleted)
    }

    /// The name it had before its last rename in that prefix.
    pub fn renamed_from(&self, prefix_end: MessageIdx) -> Option<&str> {
        let after = self.names.partition_point(|(at, _)| *at < prefix_end);
        Some(self.names.get(after.checked_sub(2)?)?.1.as_str())
    }
}

/// All files of a session, in order of their first operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// The entries.
    pub files: Vec<FileEntry>,
}

impl Ledger {
    /// Canonical paths of files in one of the given states in a prefix, sorted.
    pub fn paths_at(&self, prefix_end: MessageIdx, states: &[FactClass]) -> Vec<&str> {
        let mut paths: Vec<&str> = self
            .files
            .iter()
            .filter(|file| file.state_at(prefix_end).is_some_and(|state| states.contains(&state)))
            .map(|file| file.name_at(prefix_end))
            .collect();
        paths.sort_unstable();
        paths
    }

    /// Live files whose content the session wrote: modified or created.
    pub fn modified_at(&self, prefix_end: MessageIdx) -> Vec<&str> {
        self.paths_at(prefix_end, &[FactClass::FileModified, FactClass::FileCreated])
    }

    /// Live files that were read and not written.
    pub fn read_at(&self, prefix_end: MessageIdx) -> Vec<&str> {
        self.paths_at(prefix_end, &[FactClass::FileRead])
    }

    /// Tells each entry which fact is its own.
    pub(super) fn attach(&mut self, drafts: &[Draft]) {
        for (index, draft) in drafts.iter().enumerate() {
            if let Some(file) = draft.fact.file.and_then(|file| self.files.get_mut(file as usize)) {
                file.fact = Some(super::FactId(index as u32));
            }
        }
    }
}

struct Builder {
    files: Vec<FileEntry>,
    births: Vec<MessageIdx>,
    /// Current owner of each path, live or deleted; ordered, so that the files of a directory are a range.
    by_path: BTreeMap<String, usize>,
    /// State before a deletion, to revive it.
    before: FxHashMap<usize, FactClass>,
}

/// Builds the ledger and the file facts.
pub(super) fn build(steps: &[Step<'_>], drafts: &mut Vec<Draft>) -> Ledger {
    let mut builder = Builder {
        files: Vec::new(),
        births: Vec::new(),
        by_path: BTreeMap::new(),
        before: FxHashMap::default(),
    };
    // Operations take effect in the order of their results.
    let mut order: Vec<usize> = (0..steps.len()).filter(|i| !steps[*i].effect.ops.is_empty()).collect();
    order.sort_by_key(|i| (steps[*i].result_at, *i));
    for index in order {
        let step = &steps[index];
        let (Some(outcome), Some(result_at)) = (step.outcome(), step.result_at) else { continue };
        let last = step.effect.steps.max(1) - 1;
        let shell = step.effect.command.is_some();
        for op in &step.effect.ops {
            if outcome == Outcome::Failed && (!shell || op.step >= last) {
                continue;
            }
            builder.apply(op, step.call_at, result_at, step.result.map_or("", |result| result.text.as_str()));
        }
    }
    for (index, (file, birth)) in builder.files.iter().zip(&builder.births).enumerate() {
        let Some((_, class)) = file.ops.first() else { continue };
        drafts.push(Draft {
            fact: Fact {
                value: file.path.clone(),
                class: *class,
                birth: *birth,
                line: 0,
                author: Author::Agent,
                mentions: file.touched.clone(),
                superseded: None,
                states: file.ops.iter().map(|(at, class)| (*at, State::File(*class))).collect(),
                unadjudicable: false,
                file: Some(index as u32),
            },
            form: Form::File,
        });
    }
    Ledger { files: builder.files }
}

impl Builder {
    fn apply(&mut self, op: &FileOp, call_at: MessageIdx, at: MessageIdx, result: &str) {
        if op.path.is_empty() {
            return;
        }
        match &op.kind {
            OpKind::Read => self.set(op, call_at, at, |known| match known {
                None => FactClass::FileRead,
                // It is there again, so somebody put it back.
                Some((FactClass::FileDeleted, before)) => before.unwrap_or(FactClass::FileRead),
                Some((state, _)) => state,
            }),
            OpKind::Edit => self.set(op, call_at, at, |known| match known {
                Some((FactClass::FileCreated, _)) => FactClass::FileCreated,
                Some((FactClass::FileDeleted, Some(FactClass::FileCreated))) => FactClass::FileCreated,
                _ => FactClass::FileModified,
            }),
            OpKind::Write => {
                let replaced = says_replaced(result);
                self.set(op, call_at, at, |known| match known {
                    None if replaced => FactClass::FileModified,
                    None | Some((FactClass::FileCreated, _)) => FactClass::FileCreated,
                    Some((FactClass::FileDeleted, Some(FactClass::FileCreated))) => FactClass::FileCreated,
                    Some(_) => FactClass::FileModified,
                });
            }
            OpKind::Create => self.set(op, call_at, at, |known| match known {
                // `touch` and a patch that adds say "new", but the log has seen the file: it was there.
                Some((FactClass::FileRead | FactClass::FileModified | FactClass::FileRenamed, _)) => {
                    FactClass::FileModified
                }
                Some((FactClass::FileDeleted, Some(FactClass::FileRead | FactClass::FileModified))) => {
                    FactClass::FileModified
                }
                _ => FactClass::FileCreated,
            }),
            OpKind::Delete => {
                let under = self.under(&op.path);
                let known = self.by_path.contains_key(&op.path);
                if known || (under.is_empty() && looks_like_file(op)) {
                    self.delete(op, call_at, at);
                }
                for (path, _) in under {
                    self.delete(&FileOp { path, ..op.clone() }, call_at, at);
                }
            }
            OpKind::Rename { to } => {
                let under = self.under(&op.path);
                let known = self.by_path.contains_key(&op.path);
                if known || (under.is_empty() && looks_like_file(op)) {
                    self.rename(op, to, call_at, at);
                }
                for (path, _) in under {
                    let rest = path.strip_prefix(op.path.as_str()).unwrap_or("").to_owned();
                    self.rename(&FileOp { path, ..op.clone() }, &format!("{to}{rest}"), call_at, at);
                }
            }
        }
    }

    /// Known files under a directory, not the path itself.
    fn under(&self, dir: &str) -> Vec<(String, usize)> {
        let prefix = format!("{}/", dir.trim_end_matches('/'));
        self.by_path
            .range(prefix.clone()..)
            .take_while(|(path, _)| path.starts_with(&prefix))
            .filter(|(_, index)| {
                self.files[**index].ops.last().is_some_and(|(_, state)| *state != FactClass::FileDeleted)
            })
            .map(|(path, index)| (path.clone(), *index))
            .collect()
    }

    fn set(
        &mut self,
        op: &FileOp,
        call_at: MessageIdx,
        at: MessageIdx,
        next: impl FnOnce(Option<(FactClass, Option<FactClass>)>) -> FactClass,
    ) {
        let known = self.by_path.get(&op.path).copied();
        let state = known.and_then(|index| {
            let state = self.files[index].ops.last()?.1;
            Some((state, self.before.get(&index).copied()))
        });
        let next = next(state);
        let index = known.unwrap_or_else(|| self.open(&op.path, call_at, at));
        self.touch(index, op, call_at, at);
        let file = &mut self.files[index];
        if file.ops.last().is_none_or(|(_, state)| *state != next) {
            file.ops.push((at, next));
        }
    }

    fn delete(&mut self, op: &FileOp, call_at: MessageIdx, at: MessageIdx) {
        if let Some(index) = self.by_path.get(&op.path)
            && let Some((_, state)) = self.files[*index].ops.last()
            && *state != FactClass::FileDeleted
        {
            self.before.insert(*index, *state);
        }
        self.set(op, call_at, at, |_| FactClass::FileDeleted);
    }

    fn rename(&mut self, op: &FileOp, to: &str, call_at: MessageIdx, at: MessageIdx) {
        if to.is_empty() || op.path == to {
            return;
        }
        self.set(op, call_at, at, |known| match known {
            Some((state @ (FactClass::FileModified | FactClass::FileCreated), _)) => state,
            Some((FactClass::FileDeleted, Some(before))) => before,
            _ => FactClass::FileRenamed,
        });
        let Some(index) = self.by_path.remove(&op.path) else { return };
        // What stood at the target is gone.
        if let Some(old) = self.by_path.insert(to.to_owned(), index)
            && old != index
            && self.files[old].ops.last().is_some_and(|(_, state)| *state != FactClass::FileDeleted)
        {
            self.files[old].ops.push((at, FactClass::FileDeleted));
            self.touch(old, op, call_at, at);
        }
        let file = &mut self.files[index];
        to.clone_into(&mut file.path);
        file.names.push((at, to.to_owned()));
    }

    fn open(&mut self, path: &str, call_at: MessageIdx, at: MessageIdx) -> usize {
        let index = self.files.len();
        self.files.push(FileEntry {
            path: path.to_owned(),
            names: vec![(at, path.to_owned())],
            ops: Vec::new(),
            touched: Vec::new(),
            shell_only: true,
            fact: None,
        });
        self.births.push(call_at);
        self.by_path.insert(path.to_owned(), index);
        index
    }

    fn touch(&mut self, index: usize, op: &FileOp, call_at: MessageIdx, at: MessageIdx) {
        let file = &mut self.files[index];
        file.shell_only &= op.confidence == Confidence::Shell;
        for message in [call_at, at] {
            if let Err(place) = file.touched.binary_search(&message) {
                file.touched.insert(place, message);
            }
        }
    }
}

/// A path that only a deletion or a move names: is it a file?
fn looks_like_file(op: &FileOp) -> bool {
    let name = op.path.rsplit('/').next().unwrap_or("");
    let dot = name.rfind('.').is_some_and(|at| at > 0 && at + 1 < name.len());
    dot || op.confidence == Confidence::Tool
}

/// Does the result of a write say that it replaced an existing file?
fn says_replaced(result: &str) -> bool {
    let head: String = result.chars().take(300).collect::<String>().to_lowercase();
    let created = head.contains("created") || head.contains("new file");
    !created
        && [
            "has been updated",
            "overwrote",
            "overwritten",
            "overwriting",
            "successfully updated",
            "updated the file",
            "replaced the file",
            "file updated",
        ]
        .iter()
        .any(|words| head.contains(words))
}
