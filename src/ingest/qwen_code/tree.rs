//! The active path of one Qwen Code session.
//!
//! * Records with one `uuid` are pieces of one; a piece that comes again is left out.
//! * A parent that is not in the session (its line was lost) is replaced by the record before.
//! * The path is what leads from the root to the last record, and on to what follows it where that was written before it.
//! * Null as a parent is a beginning, unless replies claim one, too: then nothing is tied together, and order is that of the file.
//! * Everything else was taken back by the user and is left out, with a note.

use rustc_hash::FxHashMap;

use super::{ASIDE, is_known};
use crate::diagnostic::Severity;
use crate::ingest::build::Parent;
use crate::ingest::json::text;
use crate::ingest::lines::Record;
use crate::ingest::sink::Sink;
use crate::ingest::value::Value;

/// Pieces of one record that a further one is compared with.
const PIECES: usize = 64;

/// Records of one `uuid`, and what they follow.
struct Node {
    records: Vec<Record>,
    parent: Parent,
}

impl Node {
    fn is(&self, wanted: impl Fn(&str, &Value) -> bool) -> bool {
        self.records.iter().all(|it| wanted(text(&it.value, "type").unwrap_or_default(), &it.value))
    }

    /// True for what is never the end of the conversation.
    fn is_aside(&self) -> bool {
        self.is(|kind, value| {
            !is_known(kind)
                || kind == "system" && text(value, "subtype").is_some_and(|subtype| ASIDE.contains(&subtype))
        })
    }

    /// True for a reply or a result that claims to be the beginning.
    fn is_untied(&self) -> bool {
        matches!(self.parent, Parent::Nobody)
            && self.is(|kind, _| matches!(kind, "assistant" | "tool_result"))
    }
}

/// The records of the path in order, and whether it begins in the middle of a conversation.
pub(super) fn active_path(records: Vec<Record>, out: &mut Sink) -> (Vec<Record>, bool) {
    let (mut nodes, by_uuid) = nodes(records, out);
    let untied = nodes.iter().any(Node::is_untied);
    // The record that each names, and the one that it follows.
    let named: Vec<Option<usize>> = nodes
        .iter()
        .enumerate()
        .map(|(at, node)| match &node.parent {
            Parent::Uuid(uuid) => by_uuid.get(uuid.as_str()).copied().filter(|parent| *parent != at),
            _ => None,
        })
        .collect();
    let follows = |at: usize| {
        let root = !untied && matches!(nodes.get(at)?.parent, Parent::Nobody);
        named.get(at).copied().flatten().or_else(|| if root { None } else { at.checked_sub(1) })
    };
    let mut next: Vec<Option<usize>> = vec![None; nodes.len()];
    for (at, _) in nodes.iter().enumerate().filter(|(_, node)| !node.is_aside()) {
        if let Some(child) = named.get(at).copied().flatten().and_then(|parent| next.get_mut(parent)) {
            *child = Some(at);
        }
    }
    let mut end = nodes.iter().rposition(|node| !node.is_aside());
    for _ in 0..nodes.len() {
        let Some(child) = end.and_then(|at| next.get(at).copied().flatten()) else { break };
        end = Some(child);
    }
    let mut path = Vec::new();
    let mut seen = vec![false; nodes.len()];
    let mut at = end;
    while let Some(here) = at {
        match seen.get_mut(here) {
            Some(seen) if !*seen => *seen = true,
            _ => {
                let last = path.last().copied().unwrap_or(here);
                if named.get(last).copied().flatten().is_some() {
                    let line = nodes.get(last).and_then(|node| node.records.first()).map_or(0, |it| it.line);
                    out.damage(line, "parent-loop", "a chain of parents that runs in a circle; cut here");
                }
                break;
            }
        }
        path.push(here);
        at = follows(here);
    }
    let root = path.last().and_then(|at| nodes.get(*at));
    let midway = root.is_some_and(|root| matches!(root.parent, Parent::Uuid(_)));
    for (node, _) in nodes.iter().zip(&seen).filter(|(_, seen)| !**seen) {
        for record in &node.records {
            if matches!(text(&record.value, "type"), Some("user" | "assistant" | "tool_result")) {
                let text = "a record of a branch that was rewound; left out";
                out.note(record.line, "abandoned-branch", Severity::Note, text);
            }
        }
    }
    let mut take = |at: usize| nodes.get_mut(at).map(|node| std::mem::take(&mut node.records));
    (path.into_iter().rev().filter_map(&mut take).flatten().collect(), midway)
}

/// The records by their ids, in order, and where each id is.
fn nodes(records: Vec<Record>, out: &mut Sink) -> (Vec<Node>, FxHashMap<String, usize>) {
    let mut nodes: Vec<Node> = Vec::new();
    let mut by_uuid: FxHashMap<String, usize> = FxHashMap::default();
    for record in records {
        let uuid = text(&record.value, "uuid").unwrap_or_default();
        if let Some(node) = by_uuid.get(uuid).and_then(|at| nodes.get_mut(*at)) {
            if node.records.iter().rev().take(PIECES).any(|piece| piece.value == record.value) {
                let text = "a record with an id that came before (copied history); the first one is kept";
                out.note(record.line, "duplicate-record", Severity::Note, text);
            } else {
                node.records.push(record);
            }
            continue;
        }
        if !uuid.is_empty() {
            by_uuid.insert(uuid.to_owned(), nodes.len());
        }
        let parent = Parent::of(record.value.get("parentUuid"));
        nodes.push(Node { records: vec![record], parent });
    }
    (nodes, by_uuid)
}
