//! The file ledger: which files a session touched and in which state each is, at every prefix of the log.
//!
//! Built from calls paired with their results:
//!
//! * A failed, refused or unanswered call did nothing. Of a failed shell script, [`evidence::happened`] tells the parts
//!   that were done before. An outcome the log does not state counts as done.
//! * A state holds from the message of the *result* on; the birth is the message of the call, which names the path.
//! * Read then modified is modified, and no later read takes that back. A write of an unknown path creates the file,
//!   unless its result or an earlier listing shows that it existed; what the session created stays created.
//! * A rename moves the identity: one entry, its history kept, the old name remembered. It is `file.renamed` from then
//!   on, whatever is done to its content, until it is moved back. Moved over a known file it is that file's new
//!   content, and the moved one is gone.
//! * A deleted file leaves the live list, not the history; a later write revives it.
//! * Deleting or moving a directory applies to every known live file under it. A path that no other operation names
//!   and whose last component has no dot (`dist`, `node_modules`) is taken for a directory then, and makes no entry.

use super::{Author, Draft, Fact, FactClass, Form, State, Step};
use crate::fileops::{Confidence, FileOp, OpKind};
use crate::transcript::MessageIdx;
use evidence::{Seen, happened};
use std::cell::LazyCell;
use std::collections::BTreeMap;

mod evidence;

/// One call that read or wrote the content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileUse {
    /// Position of the call in [`crate::transcript::Transcript::links`].
    pub link: u32,
    /// What it did.
    pub kind: UseKind,
    /// Files whose content the call read: they share its result.
    pub readers: u32,
}

/// What a call does with content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseKind {
    /// Shows it.
    Read,
    /// Changes a part of it: who does that knows the rest.
    Edit,
    /// Writes all of it.
    Write,
}

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
    /// Where its content was read or written, in order of the results.
    pub uses: Vec<FileUse>,
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

    /// Live files that the session changed: modified, created or renamed.
    pub fn modified_at(&self, prefix_end: MessageIdx) -> Vec<&str> {
        self.paths_at(prefix_end, &[FactClass::FileModified, FactClass::FileCreated, FactClass::FileRenamed])
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

/// What is known of a file besides its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Condition {
    /// Read, modified or created: what happened to its content, moves and removal aside.
    content: FactClass,
    renamed: bool,
    deleted: bool,
}

impl Condition {
    fn of(content: FactClass) -> Self {
        Self { content, renamed: false, deleted: false }
    }

    fn class(self) -> FactClass {
        match self {
            Self { deleted: true, .. } => FactClass::FileDeleted,
            Self { renamed: true, .. } => FactClass::FileRenamed,
            Self { content, .. } => content,
        }
    }

    /// Content was written: what the session created stays created.
    fn written(self) -> Self {
        let content = match self.content {
            FactClass::FileCreated => FactClass::FileCreated,
            _ => FactClass::FileModified,
        };
        Self { content, deleted: false, ..self }
    }
}

struct Builder {
    files: Vec<FileEntry>,
    /// Message and line of the call that first touched each.
    births: Vec<(MessageIdx, u32)>,
    /// Line of the call under way.
    line: u32,
    /// Position of that call, and how many files it reads.
    link: u32,
    readers: u32,
    conditions: Vec<Condition>,
    /// Current owner of each path, live or deleted; ordered, so that the files of a directory are a range.
    by_path: BTreeMap<String, usize>,
}

/// Builds the ledger and the file facts.
pub(super) fn build(steps: &[Step<'_>], drafts: &mut Vec<Draft>) -> Ledger {
    let mut builder = Builder {
        files: Vec::new(),
        births: Vec::new(),
        line: 0,
        link: 0,
        readers: 0,
        conditions: Vec::new(),
        by_path: BTreeMap::new(),
    };
    // Where results tell of each new file that it is new, listings are not asked.
    let seen = LazyCell::new(|| Seen::in_results(steps));
    // Operations take effect in the order of their results.
    let mut order: Vec<usize> = (0..steps.len()).filter(|i| !steps[*i].effect.ops.is_empty()).collect();
    order.sort_by_key(|i| (steps[*i].result_at, *i));
    for index in order {
        let step = &steps[index];
        let (Some(result), Some(at)) = (step.result, step.result_at) else { continue };
        let happened = happened(step.effect, result);
        let reads = |(op, happened): &(&FileOp, &bool)| **happened && op.kind == OpKind::Read;
        builder.link = index as u32;
        builder.readers = step.effect.ops.iter().zip(&happened).filter(reads).count() as u32;
        for (op, happened) in step.effect.ops.iter().zip(happened) {
            if happened {
                builder.line = step.line;
                builder.apply(op, step.call_at, at, &result.text, &seen);
            }
        }
    }
    for (index, (file, (birth, line))) in builder.files.iter().zip(&builder.births).enumerate() {
        let Some((_, class)) = file.ops.first() else { continue };
        drafts.push(Draft {
            fact: Fact {
                value: file.path.clone(),
                class: *class,
                birth: *birth,
                line: *line,
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
    fn apply(
        &mut self,
        op: &FileOp,
        call_at: MessageIdx,
        at: MessageIdx,
        result: &str,
        seen: &LazyCell<Seen, impl FnOnce() -> Seen>,
    ) {
        if op.path.is_empty() {
            return;
        }
        match &op.kind {
            OpKind::Read => self.set(op, call_at, at, |known| match known {
                None => Condition::of(FactClass::FileRead),
                // Where it was deleted it is there again, so somebody put it back.
                Some(known) => Condition { deleted: false, ..known },
            }),
            OpKind::Edit => {
                // What an append finds under a scratch directory the session put there itself; elsewhere agents
                // append to files that exist.
                let new = || {
                    let makes = op.marks.appends && is_scratch(&op.path) && !seen.before(&op.path, at);
                    Condition::of(if makes { FactClass::FileCreated } else { FactClass::FileModified })
                };
                self.set(op, call_at, at, |known| known.map_or_else(new, Condition::written));
            }
            OpKind::Write | OpKind::Create => {
                let new = || {
                    let existed = op.kind == OpKind::Write && says_replaced(result)
                        || !says_created(result) && seen.before(&op.path, at);
                    Condition::of(if existed { FactClass::FileModified } else { FactClass::FileCreated })
                };
                self.set(op, call_at, at, |known| known.map_or_else(new, Condition::written));
            }
            OpKind::Delete => {
                let under = self.under(&op.path);
                let known = self.by_path.contains_key(&op.path);
                // `rm -f` of what nobody has seen most likely removed nothing.
                let is_seen = known || !op.marks.forced || seen.until(&op.path, at);
                if known || (under.is_empty() && is_seen && looks_like_file(op)) {
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

    /// Known live files under a directory, not the path itself.
    fn under(&self, dir: &str) -> Vec<(String, usize)> {
        let prefix = format!("{}/", dir.trim_end_matches('/'));
        self.by_path
            .range(prefix.clone()..)
            .take_while(|(path, _)| path.starts_with(&prefix))
            .filter(|(_, index)| !self.conditions[**index].deleted)
            .map(|(path, index)| (path.clone(), *index))
            .collect()
    }

    fn set(
        &mut self,
        op: &FileOp,
        call_at: MessageIdx,
        at: MessageIdx,
        next: impl FnOnce(Option<Condition>) -> Condition,
    ) {
        let known = self.by_path.get(&op.path).copied();
        let next = next(known.map(|index| self.conditions[index]));
        let index = known.unwrap_or_else(|| self.open(&op.path, next, call_at, at));
        self.settle(index, next, op, call_at, at);
    }

    fn settle(&mut self, index: usize, next: Condition, op: &FileOp, call_at: MessageIdx, at: MessageIdx) {
        self.conditions[index] = next;
        self.touch(index, op, call_at, at);
        let file = &mut self.files[index];
        if file.ops.last().is_none_or(|(_, class)| *class != next.class()) {
            file.ops.push((at, next.class()));
        }
    }

    fn delete(&mut self, op: &FileOp, call_at: MessageIdx, at: MessageIdx) {
        self.set(op, call_at, at, |known| Condition {
            deleted: true,
            ..known.unwrap_or(Condition::of(FactClass::FileRead))
        });
    }

    fn rename(&mut self, op: &FileOp, to: &str, call_at: MessageIdx, at: MessageIdx) {
        if to.is_empty() || op.path == to {
            return;
        }
        let target = self.by_path.get(to).copied().filter(|index| !self.conditions[*index].deleted);
        if let Some(target) = target {
            // New content for a file that stays (`sort a > b && mv b a`); the one that brought it is gone.
            let next = self.conditions[target].written();
            self.settle(target, next, op, call_at, at);
            if self.by_path.contains_key(&op.path) {
                self.delete(op, call_at, at);
            }
            return;
        }
        self.set(op, call_at, at, |known| Condition {
            renamed: true,
            deleted: false,
            ..known.unwrap_or(Condition::of(FactClass::FileRead))
        });
        let Some(index) = self.by_path.remove(&op.path) else { return };
        self.by_path.insert(to.to_owned(), index);
        let file = &mut self.files[index];
        to.clone_into(&mut file.path);
        file.names.push((at, to.to_owned()));
        if file.names.first().is_some_and(|(_, first)| first == to) {
            // Back where it was.
            let next = Condition { renamed: false, ..self.conditions[index] };
            self.settle(index, next, op, call_at, at);
        }
    }

    fn open(&mut self, path: &str, condition: Condition, call_at: MessageIdx, at: MessageIdx) -> usize {
        let index = self.files.len();
        self.files.push(FileEntry {
            path: path.to_owned(),
            names: vec![(at, path.to_owned())],
            ops: Vec::new(),
            touched: Vec::new(),
            uses: Vec::new(),
            shell_only: true,
            fact: None,
        });
        self.births.push((call_at, self.line));
        self.conditions.push(condition);
        self.by_path.insert(path.to_owned(), index);
        index
    }

    fn touch(&mut self, index: usize, op: &FileOp, call_at: MessageIdx, at: MessageIdx) {
        let file = &mut self.files[index];
        file.shell_only &= op.confidence == Confidence::Shell;
        let kind = match op.kind {
            OpKind::Read => Some(UseKind::Read),
            OpKind::Edit => Some(UseKind::Edit),
            OpKind::Write | OpKind::Create => Some(UseKind::Write),
            OpKind::Delete | OpKind::Rename { .. } => None,
        };
        file.uses.extend(kind.map(|kind| FileUse { link: self.link, kind, readers: self.readers }));
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

fn is_scratch(path: &str) -> bool {
    ["/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/", "/dev/shm/"]
        .iter()
        .any(|start| path.starts_with(start))
}

/// Does the result of a write say that it replaced an existing file?
fn says_replaced(result: &str) -> bool {
    let head: String = result.chars().take(300).collect::<String>().to_lowercase();
    !says_created(result)
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

/// Does the result of a write say that the file is new?
fn says_created(result: &str) -> bool {
    let head: String = result.chars().take(300).collect::<String>().to_lowercase();
    head.contains("created") || head.contains("new file")
}

#[cfg(test)]
mod tests;
