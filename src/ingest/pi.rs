//! pi sessions: version 1 (a line of entries), versions 2 and 3 (a tree), and derivatives of them.
//!
//! The conversation is the active path: from the last entry of the file through the parents to the root. Compaction
//! entries are nodes of that tree like any other, with what they keep in front of them, so the path crosses them and
//! nothing comes twice; they are set aside with the first entry they keep. An entry without a parent field, or whose
//! parent is not in the file, follows the entry before it; a file without any parents is one line.
//!
//! Text that pi generates (summaries of compactions and of abandoned branches) never becomes a message, except where
//! the path begins with a compaction. Commands that the user ran, messages of extensions and attached files are
//! injected text of the user.
//!
//! A session that was forked or branched holds its own copy of the history and is read as it is.

mod entries;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::Value;

use super::blocks::{self, Speaker};
use super::injected;
use super::json::{argument_text, flag, number, take, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::outcome;
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{
    Message, MessageIdx, Outcome, Part, Recorded, Role, Text, ToolCall, ToolResult, Usage,
};
use entries::{Kept, Tree};

/// Blocks that pi puts in front of what the user typed, by how they open and close.
const LEADING_BLOCKS: [(&str, &str); 2] = [("<file name=", "</file>"), ("<skill name=", "</skill>")];

/// Reads the records of one pi file.
pub(super) fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    for record in &records {
        count(&record.value, out);
    }
    let sessions = split(records);
    let several = sessions.len() > 1;
    for (position, records) in sessions.into_iter().enumerate() {
        let fallback = if several { format!("{name}#{}", position + 1) } else { name.to_owned() };
        session(records, fallback, out);
    }
}

/// Counts a record, on the active path or not.
fn count(value: &Value, out: &mut Sink) {
    match text(value, "type") {
        Some("message") => {
            out.raw.messages += 1;
            out.raw.tool_calls += value.get("message").map_or(0, |message| blocks::count(message, "toolCall"));
        }
        Some("compaction") => out.raw.compactions += 1,
        _ => {}
    }
}

/// One list of records per session: a header with another id starts one.
fn split(records: Vec<Record>) -> Vec<Vec<Record>> {
    let mut sessions: Vec<Vec<Record>> = Vec::new();
    let mut current: Option<String> = None;
    for record in records {
        let header = text(&record.value, "type") == Some("session");
        let id = text(&record.value, "id").filter(|_| header);
        let other = header && id != current.as_deref();
        if other {
            current = id.map(str::to_owned);
        }
        match sessions.last_mut() {
            Some(session) if !other => session.push(record),
            _ => sessions.push(vec![record]),
        }
    }
    sessions
}

fn session(records: Vec<Record>, name: String, out: &mut Sink) {
    let mut reader = Reader { draft: Draft::new(name), cwd: None, model: None };
    let tree = Tree::of(records, out);
    if let Some(header) = &tree.header {
        if let Some(id) = text(header, "id").filter(|id| !id.is_empty()) {
            id.clone_into(&mut reader.draft.id);
        }
        reader.cwd = text(header, "cwd").filter(|cwd| !cwd.is_empty()).map(Arc::from);
        reader.model = text(header, "modelId").map(str::to_owned);
    }
    let path = tree.active_path(out);
    // How many messages there were before each entry of the path, to find where a compaction's kept part begins.
    let mut positions = vec![None; tree.len()];
    for (index, line, value) in tree.take(&path) {
        if let Some(position) = positions.get_mut(index) {
            *position = Some(reader.draft.messages.len());
        }
        if text(&value, "type") == Some("compaction") {
            let kept = tree_kept(&value).and_then(|kept| tree.find(&kept));
            let kept = kept.and_then(|entry| positions.get(entry).copied().flatten());
            reader.compaction(value, line, kept, out);
        } else {
            reader.entry(value, line, out);
        }
    }
    out.finish_draft(reader.draft);
}
