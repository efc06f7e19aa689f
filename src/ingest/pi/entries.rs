//! The tree of entries of one pi session and its active path.
//!
//! Invariant: a parent stands before its children in the file, so that walking up always ends. A parent field that
//! names a later entry is treated like one that names none.

use crate::ingest::value::Value;
use rustc_hash::FxHashMap;

use super::super::json::{brief, take_text, text};
use super::super::lines::Record;
use super::super::sink::Sink;
use crate::diagnostic::Severity;

/// One entry; its value is taken when the path is walked.
#[derive(Debug)]
struct Entry {
    line: u32,
    /// Position among all entries that were written, the header being 0.
    ordinal: u64,
    parent: Option<usize>,
    is_message: bool,
    value: Option<Value>,
}

/// The entries of one session, in file order.
#[derive(Debug)]
pub(super) struct Tree {
    /// The session header; null when there is none.
    pub(super) header: Value,
    entries: Vec<Entry>,
    by_id: FxHashMap<String, usize>,
}

impl Tree {
    /// Finds the parent of every entry.
    pub(super) fn of(records: Vec<Record>, out: &mut Sink) -> Self {
        let is_tree = records.iter().any(|record| text(&record.value, "parentId").is_some());
        // A list that grows is there twice.
        let entries = Vec::with_capacity(records.len());
        let mut tree = Self { header: Value::Null, entries, by_id: FxHashMap::default() };
        let mut last_line = 0;
        let mut written = 0;
        for Record { line, mut value, .. } in records {
            // Lines that are damaged now were entries when the log was written; glued ones are two.
            written += 1 + u64::from(line.saturating_sub(last_line).saturating_sub(1));
            last_line = line;
            let ordinal = written - 1;
            if !value.is_object() {
                out.note(line, "unknown-record", Severity::Note, "a value that is no entry, left out");
                continue;
            }
            let kind = text(&value, "type");
            if kind == Some("session") {
                // The first header counts; a second one with the same id says nothing new.
                if tree.header.is_null() {
                    tree.header = value;
                }
                continue;
            }
            let is_message = matches!(kind, Some("message" | "custom_message"));
            let before = tree.entries.len().checked_sub(1);
            let parent = match value.get("parentId") {
                Some(Value::String(id)) => tree.by_id.get(id.as_str()).copied().or_else(|| {
                    let text = "the parent of an entry is not in front of it; it follows the entry before it";
                    out.note(line, "dangling-parent", Severity::Note, text);
                    before
                }),
                // A root; in a file without parents, every entry says so.
                Some(Value::Null) if is_tree => None,
                _ => before,
            };
            let id = take_text(&mut value, "id");
            if !id.is_empty() {
                tree.by_id.insert(id, tree.entries.len());
            }
            tree.entries.push(Entry { line, ordinal, parent, is_message, value: Some(value) });
        }
        tree
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// From the root to the last entry of the file.
    pub(super) fn active_path(&self, out: &mut Sink) -> Vec<usize> {
        let mut path = Vec::with_capacity(self.entries.len());
        let mut on_path = vec![false; self.entries.len()];
        let mut at = self.entries.len().checked_sub(1);
        while let Some(index) = at {
            path.push(index);
            on_path[index] = true;
            at = self.entries[index].parent;
        }
        path.reverse();
        let mut left = self.entries.iter().zip(&on_path).filter(|(entry, on)| entry.is_message && !**on);
        if let Some((first, _)) = left.next() {
            let count = 1 + left.count();
            let text = format!("{count} messages of branches that were left; not on the active path");
            out.note(first.line, "abandoned-branch", Severity::Note, text);
        }
        path
    }

    /// Takes an entry out: its line and value.
    pub(super) fn take(&mut self, index: usize) -> Option<(u32, Value)> {
        let entry = self.entries.get_mut(index)?;
        Some((entry.line, entry.value.take()?))
    }

    /// The first entry that the compaction at `place` keeps: by id, or in version 1 by its position in the file, the header
    /// being 0. One that is not in front of it keeps nothing there: the compaction itself is given. The error says why
    /// none can be told.
    pub(super) fn first_kept(
        &self,
        compaction: &Value,
        place: usize,
        out: &mut Sink,
    ) -> Result<usize, String> {
        let (named, at) = match (compaction.get("firstKeptEntryId"), compaction.get("firstKeptEntryIndex")) {
            (Some(Value::String(id)), _) => {
                (format!("firstKeptEntryId {id:?}"), self.by_id.get(id.as_str()).copied())
            }
            (None | Some(Value::Null), Some(index)) if index.as_u64().is_some() => {
                let at =
                    index.as_u64().map(|position| self.entries.partition_point(|it| it.ordinal < position));
                (format!("firstKeptEntryIndex {index}"), at.filter(|at| *at < self.entries.len()))
            }
            (None | Some(Value::Null), None | Some(Value::Null)) => {
                return Err("a compaction without the first entry that it kept".to_owned());
            }
            (None | Some(Value::Null), Some(odd)) => {
                return Err(format!("firstKeptEntryIndex is {}, no position", brief(odd)));
            }
            (Some(odd), _) => return Err(format!("firstKeptEntryId is {}, no id", brief(odd))),
        };
        let place_of = match at {
            None => return Err(format!("{named} is no entry of the log")),
            // Version 1 names the position behind the last entry, its own, where nothing stays.
            Some(at) if at < place || at == place && compaction.get("firstKeptEntryId").is_none() => {
                return Ok(at);
            }
            Some(at) if at == place => "is the compaction itself",
            Some(_) => "stands behind the compaction",
        };
        let line = self.entries.get(place).map_or(0, |entry| entry.line);
        let text =
            format!("{named} {place_of}: nothing in front of it counts as kept, which is how pi reads it");
        out.damage(line, "kept-nothing", text);
        Ok(place)
    }
}
