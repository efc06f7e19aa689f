//! The active path of each conversation in a Claude Code file.
//!
//! Separate because it is about links only, not about what records say. Rules:
//!
//! * a parent that is not in the file (dangling, or across a compaction boundary) is replaced by the record before, of
//!   the same session where there is one; so paths cross compactions;
//! * the path is what leads from the root to the last record, and on to what follows it where that was written before it.
//!   Parallel tool calls fork the chain without being rewinds: lines of a reply that is on the path, results of its calls, and
//!   attachments and queued messages behind them belong to it;
//! * everything else beside the path was rewound by the user and is left out, with a note;
//! * roots of other sessions are conversations of their own; a second root of the same session is a rewind to the start,
//!   unless the file ties nothing together (replies without parents), which makes it a plain sequence.
//!
//! Invariants: every record is in at most one conversation; loops are cut; order is that of the chain, which is the order
//! in the file save where a child was written before its parent. Linear in the records.

use arcstr::ArcStr;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Kind, Node};
use crate::diagnostic::Severity;
use crate::ingest::build::Parent;
use crate::ingest::sink::Sink;

/// Where a record belongs in its conversation: its position in the file (several may stand on one line), and of those that were
/// written out of order the depth.
type Place = (u32, u32);

/// A log has fewer records than that.
fn short(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// Splits the records of the main conversations into active paths, none of them empty.
pub(super) fn conversations(nodes: Vec<Node>, out: &mut Sink) -> Vec<Vec<Node>> {
    let (mut parents, assumed) = resolve(&nodes);
    let roots = find_roots(&nodes, &mut parents, &assumed, out);
    // The last record of content decides for its tree, and the last tree for its session.
    let mut leaves: FxHashMap<usize, usize> = FxHashMap::default();
    for (index, _) in nodes.iter().enumerate().filter(|(_, node)| node.is_content()) {
        leaves.insert(roots[index], index);
    }
    let mut active: FxHashMap<&str, usize> = FxHashMap::default();
    for (root, leaf) in &leaves_in_order(&leaves) {
        active.insert(nodes[*leaf].session.as_str(), *root);
    }
    let next = last_children(&nodes, &parents, &assumed);
    let mut keys: Vec<Option<Place>> = vec![None; nodes.len()];
    let mut on_path = OnPath::default();
    for (root, leaf) in leaves_in_order(&leaves) {
        if active.get(nodes[leaf].session.as_str()) != Some(&root) {
            continue;
        }
        let end = std::iter::successors(Some(leaf), |index| next[*index]).last();
        let mut path: Vec<usize> = std::iter::successors(end, |index| parents[*index]).collect();
        path.reverse();
        let mut place = 0;
        for (depth, index) in path.into_iter().enumerate() {
            place = place.max(index);
            keys[index] = Some((short(place), short(depth)));
            on_path.admit(&nodes[index], root);
        }
    }
    admit_siblings(&nodes, &parents, &roots, &mut keys, on_path);
    for (node, _) in nodes.iter().zip(&keys).filter(|(_, key)| key.is_none()) {
        if matches!(node.kind, Kind::User | Kind::Assistant | Kind::Queued { .. }) {
            let text = "a record of a branch that was rewound; left out";
            out.note(node.line, "abandoned-branch", Severity::Note, text);
        }
    }
    split(nodes, &keys, &roots)
}

/// Trees with their leaves, in order of the leaves.
fn leaves_in_order(leaves: &FxHashMap<usize, usize>) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = leaves.iter().map(|(root, leaf)| (*root, *leaf)).collect();
    pairs.sort_by_key(|(_, leaf)| *leaf);
    pairs
}

/// The parent of every record, as an index, `None` for the root of a conversation; and which were only assumed.
fn resolve(nodes: &[Node]) -> (Vec<Option<usize>>, Vec<bool>) {
    // Where several records have one id, the latest one before a record is its parent, else the first one.
    let mut by_uuid: FxHashMap<&str, usize> =
        nodes.iter().enumerate().rev().map(|(index, node)| (node.uuid.as_str(), index)).collect();
    // Replies cannot begin a conversation: where they claim to, the session does not tie its records together.
    let claims = |node: &&Node| node.kind == Kind::Assistant && node.parent == Parent::Nobody;
    let untied: FxHashSet<&str> = nodes.iter().filter(claims).map(|node| node.session.as_str()).collect();
    let mut last_of: FxHashMap<&str, usize> = FxHashMap::default();
    let mut parents = Vec::with_capacity(nodes.len());
    let mut assumed = Vec::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        let before = if node.session.is_empty() {
            index.checked_sub(1)
        } else {
            last_of.get(node.session.as_str()).copied()
        };
        let answers = node.kind == Kind::User && node.result_ids().next().is_some();
        let named = match &node.parent {
            Parent::Uuid(uuid) => by_uuid.get(uuid.as_str()).copied().filter(|parent| *parent != index),
            _ => None,
        };
        let tied = !untied.contains(node.session.as_str());
        let is_root = node.parent == Parent::Nobody && tied && !answers && node.kind != Kind::Assistant;
        parents.push(named.or(if is_root { None } else { before }));
        assumed.push(named.is_none());
        last_of.insert(node.session.as_str(), index);
        by_uuid.insert(node.uuid.as_str(), index);
    }
    (parents, assumed)
}

/// The root of every record. Loops are cut: at a parent that was only assumed, or, in a damaged file, where they are met.
fn find_roots(nodes: &[Node], parents: &mut [Option<usize>], assumed: &[bool], out: &mut Sink) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    const WALKING: usize = usize::MAX - 1;
    let mut roots = vec![UNSEEN; nodes.len()];
    let mut walked = Vec::new();
    for start in 0..nodes.len() {
        let mut here = start;
        let root = loop {
            match roots[here] {
                UNSEEN => {
                    roots[here] = WALKING;
                    walked.push(here);
                    match parents[here] {
                        Some(parent) => here = parent,
                        None => break here,
                    }
                }
                WALKING => {
                    // The last record walked closes the loop; it began where we are now.
                    let start = walked.iter().rposition(|index| *index == here).unwrap_or_default();
                    let within = walked.get(start..).unwrap_or_default();
                    let cut = within.iter().copied().find(|index| assumed[*index]);
                    if cut.is_none() {
                        let text = "a chain of parents that runs in a circle; cut here";
                        out.damage(nodes[here].line, "parent-loop", text);
                    }
                    let cut = cut.unwrap_or(here);
                    parents[cut] = None;
                    break cut;
                }
                root => break root,
            }
        };
        for index in walked.drain(..) {
            roots[index] = root;
        }
    }
    roots
}

/// For each record the last child, of those of its session that name it.
fn last_children(nodes: &[Node], parents: &[Option<usize>], assumed: &[bool]) -> Vec<Option<usize>> {
    let mut last = vec![None; nodes.len()];
    for (index, parent) in parents.iter().enumerate().filter(|(index, _)| !assumed[*index]) {
        if let Some(parent) = parent.filter(|parent| nodes[*parent].session == nodes[index].session) {
            last[parent] = Some(index);
        }
    }
    last
}

/// Replies and calls on the paths, each with the root of its tree: ids may come again in another conversation.
#[derive(Debug, Default)]
struct OnPath<'a> {
    replies: FxHashSet<(usize, &'a str)>,
    calls: FxHashSet<(usize, &'a str)>,
}

impl<'a> OnPath<'a> {
    /// Remembers which reply and which calls a record on a path has.
    fn admit(&mut self, node: &'a Node, root: usize) {
        if node.kind != Kind::Assistant {
            return;
        }
        let reply = node.reply();
        if !reply.is_empty() {
            self.replies.insert((root, reply));
        }
        self.calls.extend(node.call_ids().map(|id| (root, id)));
    }
}

/// Takes in what parallel tool calls put beside the path.
fn admit_siblings<'a>(
    nodes: &'a [Node],
    parents: &[Option<usize>],
    roots: &[usize],
    keys: &mut [Option<Place>],
    mut on_path: OnPath<'a>,
) {
    for (index, node) in nodes.iter().enumerate() {
        if keys[index].is_some() {
            continue;
        }
        let root = roots[index];
        let belongs = match node.kind {
            Kind::Assistant => on_path.replies.contains(&(root, node.reply())),
            Kind::User if node.result_ids().next().is_some() => {
                node.result_ids().any(|id| on_path.calls.contains(&(root, id)))
            }
            Kind::Attachment | Kind::Queued { .. } | Kind::Chain => {
                parents[index].is_some_and(|parent| keys[parent].is_some())
            }
            Kind::User => node.meta && parents[index].is_some_and(|parent| keys[parent].is_some()),
            Kind::Boundary | Kind::Summary => false,
        };
        if belongs {
            on_path.admit(node, root);
            keys[index] = Some((short(index), 0));
        }
    }
}

/// The admitted records of each tree, ordered.
fn split(mut nodes: Vec<Node>, keys: &[Option<Place>], roots: &[usize]) -> Vec<Vec<Node>> {
    let admitted = keys.iter().zip(roots).filter_map(|(key, root)| Some((root, key.as_ref()?)));
    if admitted.clone().is_sorted_by(|(root, key), (other, next)| root == other && key <= next) {
        // One conversation in the order of the file, as in most: it needs no list of its own.
        let mut keys = keys.iter();
        nodes.retain(|node| keys.next().is_some_and(Option::is_some) && node.is_content());
        return Some(nodes).filter(|nodes| !nodes.is_empty()).into_iter().collect();
    }
    let mut counts: FxHashMap<usize, usize> = FxHashMap::default();
    for (root, _) in roots.iter().zip(keys).filter(|(_, key)| key.is_some()) {
        *counts.entry(*root).or_default() += 1;
    }
    let mut places: FxHashMap<usize, usize> = FxHashMap::default();
    let mut paths: Vec<Vec<(Place, Node)>> = Vec::new();
    for (index, node) in nodes.into_iter().enumerate() {
        let Some(key) = keys[index].filter(|_| node.is_content()) else { continue };
        let place = *places.entry(roots[index]).or_insert_with(|| {
            // They are large: while a list of them grows it is there twice.
            paths.push(Vec::with_capacity(counts.get(&roots[index]).copied().unwrap_or_default()));
            paths.len() - 1
        });
        paths[place].push((key, node));
    }
    paths
        .into_iter()
        .map(|mut path| {
            path.sort_by_key(|(key, _)| *key);
            path.into_iter().map(|(_, node)| node).collect()
        })
        .collect()
}

/// Records of sub-agents, grouped by session and agent in order of their first record. Those without an agent id are grouped by the
/// root of their chain.
pub(super) fn sidechains(nodes: Vec<(Option<String>, Node)>) -> Vec<(String, Vec<Node>)> {
    let mut agent_of: FxHashMap<ArcStr, usize> = FxHashMap::default();
    let mut places: FxHashMap<(String, String), usize> = FxHashMap::default();
    let mut groups: Vec<(String, Vec<Node>)> = Vec::new();
    for (agent, node) in nodes {
        let above = match &node.parent {
            Parent::Uuid(uuid) => agent_of.get(uuid).copied(),
            _ => None,
        };
        let place = match (agent, above) {
            (None, Some(place)) => place,
            (agent, _) => {
                let name = agent.unwrap_or_else(|| {
                    if node.uuid.is_empty() { format!("line-{}", node.line) } else { node.uuid.to_string() }
                });
                *places.entry((node.session.to_string(), name.clone())).or_insert_with(|| {
                    groups.push((name, Vec::new()));
                    groups.len() - 1
                })
            }
        };
        agent_of.insert(node.uuid.clone(), place);
        groups[place].1.push(node);
    }
    groups
}
