//! opencode: exports, storage trees and databases.
//!
//! All of them hold a session, its messages, and the parts of each message; they differ in how these lie. An export is one
//! document, or a list of messages with their parts. A storage tree has a file for each session, message and part:
//! one log per session. Sessions that a `task` call started have a parent and are read as sidechains. A file of a tree
//! that is read alone is a part of a log.
//!
//! What a message means is in [`session`].

#[cfg(feature = "sqlite")]
mod database;
mod session;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::ingest::value::Value;
use rustc_hash::FxHashMap;

use super::build::{self, Names};
use super::formats::Format;
use super::json::{items, take, text};
use super::lines::Record;
use super::shapes::{Piece, Shape, Split, TreeShape};
use super::sink::Sink;
use crate::diagnostic::Severity;
use session::Told;

#[cfg(feature = "sqlite")]
pub(super) use database::SHAPE as DATABASE;

/// Exports.
pub(super) static EXPORT: Shape =
    Shape { split: Split::each(is_export), dated: false, ..Shape::new(Format::Opencode, sniff, read) };

/// Files of a storage tree, read alone.
pub(super) static FILE: Shape = Shape::new(Format::Opencode, sniff_file, read_file);

/// Storage trees.
pub(super) static TREE: TreeShape = TreeShape { format: Format::Opencode, group, read: read_tree };

fn sniff(value: &Value) -> Option<&'static str> {
    let info = value.get("info")?;
    if is_message(value) && text(info, "role").is_some() && text(info, "sessionID").is_some() {
        return Some("has info.sessionID and parts");
    }
    let Value::Array(messages) = value.get("messages")? else { return None };
    let fits =
        messages.iter().take(3).any(is_message) || messages.is_empty() && text(info, "projectID").is_some();
    fits.then_some("has info and messages with parts")
}

/// True for a message as exports hold it.
fn is_message(value: &Value) -> bool {
    value.get("info").is_some_and(Value::is_object) && value.get("parts").is_some_and(Value::is_array)
}

fn sniff_file(value: &Value) -> Option<&'static str> {
    let has = |key: &str| text(value, key).is_some();
    if !has("id") {
        return None;
    }
    if has("messageID") && has("type") {
        return Some("has messageID and type");
    }
    if has("sessionID") && has("role") {
        return Some("has sessionID and role");
    }
    (has("projectID") && (has("directory") || has("title")))
        .then_some("has projectID and a title or directory")
}

/// Reads an export.
/// True for a record that is a whole session.
fn is_export(value: &Value) -> bool {
    !is_message(value) && value.get("messages").is_some_and(Value::is_array)
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let mut loose = Vec::new();
    let names = Names::new(&records, is_export, name, out);
    for Record { line, mut value } in records {
        if is_message(&value) {
            loose.push(told(value, line));
        } else if let Value::Array(messages) = take(&mut value, "messages") {
            let fallback = names.next(&Value::Null, &[], out);
            let lines = 1u32..;
            let messages = messages.into_iter().zip(lines).map(|(message, line)| told(message, line));
            session::read(&take(&mut value, "info"), messages.collect(), &fallback, out);
        } else {
            let text = "neither an export nor a message with parts, left out";
            out.note(line, "unknown-record", Severity::Note, text);
        }
    }
    if !loose.is_empty() {
        session::read(&Value::Null, loose, name, out);
    }
}

fn told(mut message: Value, line: u32) -> Told {
    let parts = take(&mut message, "parts").into_list();
    Told { line, info: take(&mut message, "info"), parts }
}

/// A file of a tree alone holds no conversation.
fn read_file(_: Vec<Record>, _: &str, out: &mut Sink) {
    out.part_of_log(
        "one file of an opencode storage tree (session, message or part): name the directory `storage` to read its sessions whole",
    );
}

/// Where a file stands in a tree.
enum Place<'a> {
    /// `session/<project>/<session>.json`
    Session(&'a str),
    /// `message/<session>/<message>.json`
    Message(&'a str, &'a str),
    /// `part/<message>/<part>.json`
    Part(&'a str),
}

/// The root of the tree that a path is in, and its place there. Older trees have all below `session`, and parts below
/// their session too.
fn place(path: &str) -> Option<(String, Place<'_>)> {
    let names: Vec<&str> = path.strip_suffix(".json")?.split('/').collect();
    let (above, kind, inner) = match names.as_slice() {
        [above @ .., "part", _, message, part] => (above, "part", [*message, *part]),
        [above @ .., kind @ ("session" | "message" | "part"), directory, file] => {
            (above, *kind, [*directory, *file])
        }
        _ => return None,
    };
    let above = match above.split_last() {
        Some((&"session", above)) if kind != "session" => above,
        _ => above,
    };
    let [directory, file] = inner;
    let place = match kind {
        "session" => Place::Session(file),
        "message" => Place::Message(directory, file),
        _ => Place::Part(directory),
    };
    Some((above.join("/"), place))
}

/// The files of one session.
#[derive(Default)]
struct Files {
    session: Option<usize>,
    messages: Vec<usize>,
    parts: Vec<usize>,
}

fn group(paths: &[&str]) -> Vec<Vec<usize>> {
    let mut sessions: BTreeMap<(String, &str), Files> = BTreeMap::new();
    let mut owners: FxHashMap<(String, &str), &str> = FxHashMap::default();
    let mut parts = Vec::new();
    for (at, path) in paths.iter().enumerate() {
        let Some((root, place)) = place(path) else { continue };
        match place {
            Place::Session(id) => sessions.entry((root, id)).or_default().session = Some(at),
            Place::Message(session, id) => {
                owners.insert((root.clone(), id), session);
                sessions.entry((root, session)).or_default().messages.push(at);
            }
            Place::Part(message) => parts.push((root, message, at)),
        }
    }
    sessions.retain(|(_, id), files| {
        !files.messages.is_empty() && (files.session.is_some() || id.starts_with("ses"))
    });
    for (root, message, at) in parts {
        let owner = owners.get(&(root.clone(), message)).copied();
        // Messages may not be named after their ids, or be lost: then a session of the tree tells.
        let key = owner.map(|id| (root.clone(), id)).filter(|key| sessions.contains_key(key));
        let mut here = sessions.range_mut(key.unwrap_or((root.clone(), ""))..);
        if let Some((_, files)) = here.next().filter(|((tree, _), _)| *tree == root) {
            files.parts.push(at);
        }
    }
    let all = |mut files: Files| {
        files.messages.sort_by_key(|at| paths.get(*at));
        files.parts.sort_by_key(|at| paths.get(*at));
        files.session.into_iter().chain(files.messages).chain(files.parts).collect()
    };
    sessions.into_values().map(all).collect()
}

/// Reads the files of one session, told apart by what they hold.
fn read_tree(pieces: Vec<Piece>, name: &str, out: &mut Sink) {
    let mut info = Value::Null;
    let mut messages = Vec::new();
    let mut parts: FxHashMap<String, Vec<Value>> = FxHashMap::default();
    for value in pieces.into_iter().flat_map(|piece| piece.records).map(|record| record.value) {
        if let Some(message) = text(&value, "messageID") {
            parts.entry(message.to_owned()).or_default().push(value);
        } else if text(&value, "role").is_some() {
            messages.push(value);
        } else {
            info = value;
        }
    }
    session::assemble(&info, messages, parts, name, out);
}
