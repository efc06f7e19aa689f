//! The lists of files that a harness itself keeps: what it reads from calls, how it adds lists up, in which order.
//!
//! These are the systems' own rules ([`FileOpRules`]), faults included; what really happened to files is told by
//! [`crate::fileops`], and the answer key knows nothing of this module.

use crate::harness::{Entry, Kind};
use serde::Deserialize;
use serde_json::Value;

/// What counts as an operation on a file, and how lists are kept.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileOpRules {
    /// Tools that read.
    #[serde(default)]
    pub read: Vec<String>,
    /// Tools that write.
    #[serde(default)]
    pub written: Vec<String>,
    /// Tools that edit.
    #[serde(default)]
    pub edited: Vec<String>,
    /// A call counts by the kind that it tells, whatever its name.
    #[serde(default)]
    pub by_kind: bool,
    /// The argument that holds the path.
    #[serde(default = "path")]
    pub argument: String,
    /// Anything but null and false is a path, else only a text that is not empty.
    #[serde(default)]
    pub any_value: bool,
    /// Order of the lists.
    #[serde(default)]
    pub order: Order,
    /// Whose lists are carried over from an earlier compaction.
    #[serde(default)]
    pub carry: Carry,
}

fn path() -> String {
    "path".to_owned()
}

/// Order of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// As they came.
    #[default]
    Insertion,
    /// By code points.
    CodePoints,
    /// By UTF-16 code units.
    Utf16,
}

impl Order {
    /// Puts paths that came in some order into this one.
    pub fn sort<S: AsRef<str>>(self, paths: &mut [S]) {
        match self {
            Self::Insertion => {}
            Self::CodePoints => paths.sort_by(|a, b| a.as_ref().cmp(b.as_ref())),
            Self::Utf16 => paths.sort_by(|a, b| a.as_ref().encode_utf16().cmp(b.as_ref().encode_utf16())),
        }
    }
}

/// Whose lists are carried over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Carry {
    /// Of any compaction.
    #[default]
    All,
    /// Of those that no extension made.
    Own,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Read.
    Read,
    /// Written whole.
    Written,
    /// Edited.
    Edited,
}

impl Op {
    /// The operation that a kind of tool stands for.
    pub fn of_kind(kind: &str) -> Option<Self> {
        [("read", Self::Read), ("write", Self::Written), ("edit", Self::Edited)]
            .into_iter()
            .find(|(name, _)| kind.eq_ignore_ascii_case(name))
            .map(|(_, op)| op)
    }

    /// Its kind, as a harness that keeps kinds names it.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Written => "write",
            Self::Edited => "edit",
        }
    }
}

impl FileOpRules {
    /// The operation that a tool stands for by its name. Logs of other systems hold no kinds: a replay gives calls the
    /// kind of their name.
    pub fn op_of(&self, tool: &str) -> Option<Op> {
        [(&self.read, Op::Read), (&self.written, Op::Written), (&self.edited, Op::Edited)]
            .into_iter()
            .find(|(names, _)| names.iter().any(|name| name == tool))
            .map(|(_, op)| op)
    }
}

/// Why there are no lists.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// The modelled code fails on such a call.
    #[error("the arguments of {tool} are no object: the modelled code fails here")]
    NoObject {
        /// Name of the tool.
        tool: String,
    },
}

/// Operations in the order of their first occurrence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Operations {
    seen: Vec<(Op, String)>,
}

impl Operations {
    /// Adds one.
    pub fn add(&mut self, op: Op, path: String) {
        if !self.seen.iter().any(|(known, same)| *known == op && *same == path) {
            self.seen.push((op, path));
        }
    }

    /// Carries over the lists of an earlier compaction, where the rules do so: its modified files count as edited.
    pub fn carry(&mut self, compaction: &Entry<'_>, rules: &FileOpRules) {
        let Some(held) = &compaction.compaction else { return };
        if held.from_hook && rules.carry == Carry::Own {
            return;
        }
        let Some((read, modified)) = &held.lists else { return };
        for path in read {
            self.add(Op::Read, path.clone());
        }
        for path in modified {
            self.add(Op::Edited, path.clone());
        }
    }

    /// Reads the calls of an entry.
    pub fn read_calls(&mut self, entry: &Entry<'_>, rules: &FileOpRules) -> Result<(), LedgerError> {
        if entry.kind != Kind::Message || entry.role != crate::harness::Role::Assistant {
            return Ok(());
        }
        for call in entry.calls() {
            let op = if rules.by_kind {
                call.kind.as_deref().and_then(Op::of_kind)
            } else {
                rules.op_of(&call.name)
            };
            let Some(op) = op else { continue };
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or(Value::Null);
            let Some(arguments) = arguments.as_object() else {
                if rules.any_value && !arguments.is_null() {
                    return Err(LedgerError::NoObject { tool: call.name.clone().into_owned() });
                }
                continue;
            };
            match arguments.get(&rules.argument) {
                Some(Value::String(path)) if rules.any_value || !path.is_empty() => {
                    self.add(op, path.clone());
                }
                None | Some(Value::Null | Value::Bool(false) | Value::String(_)) => {}
                Some(other) if rules.any_value => self.add(op, other.to_string()),
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn of(&self, wanted: &[Op]) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for (_, path) in self.seen.iter().filter(|(op, _)| wanted.contains(op)) {
            if !out.contains(path) {
                out.push(path.clone());
            }
        }
        out
    }

    /// Files of one kind of operation, as they came.
    pub fn paths(&self, op: Op) -> Vec<String> {
        self.of(&[op])
    }

    /// Files written or edited, as they came.
    pub fn modified(&self) -> Vec<String> {
        self.of(&[Op::Written, Op::Edited])
    }

    /// Both lists in the order of the rules: read and never modified, and modified.
    pub fn lists(&self, rules: &FileOpRules) -> (Vec<String>, Vec<String>) {
        let mut modified = self.modified();
        let mut read = self.of(&[Op::Read]);
        read.retain(|path| !modified.contains(path));
        for list in [&mut read, &mut modified] {
            rules.order.sort(list);
        }
        (read, modified)
    }
}

#[cfg(test)]
mod tests;
