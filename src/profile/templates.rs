//! The templates of a profile: which names may stand in braces, and which have to.

use super::check::Fault;
use super::file::nearest;
use crate::replay::events::{COMPACTED, PRUNED};
use toml::{Table, Value};

/// What may stand in braces in the template at a path, and without what it loses content; `None` where text is just text.
fn names(path: &str) -> Option<(&'static [&'static str], &'static [&'static str])> {
    Some(match path {
        "events.start" | "events.end" => (&COMPACTED, &[]),
        "events.round" => (&["round"], &[]),
        "events.pruned" => (&PRUNED, &[]),
        "summary_text.truncate.form" => (&["count", "roles"], &[]),
        "summary_text.truncate.role" => (&["count", "role"], &[]),
        "summary_text.split.both" => (&["history", "turn"], &["history", "turn"]),
        "summary_text.split.turn_only" => (&["turn"], &["turn"]),
        "summary_text.files.read" | "summary_text.files.modified" => (&["files"], &["files"]),
        "prompt.calls.form" => (&["name", "args"], &[]),
        "prompt.shell.command" => (&["command"], &[]),
        "prompt.shell.output" => (&["output"], &["output"]),
        "prompt.shell.failed" => (&["code"], &[]),
        "prompt.shell.cut" => (&["path"], &[]),
        "prompt.digests.item" => (&["line"], &["line"]),
        "prompt.digests.open" | "prompt.calls.open" | "prompt.thinking.open" | "prompt.previous.open" => {
            return None;
        }
        "outputs.cap.shapes.notice" => (&["lines", "bytes"], &[]),
        "outputs.prune.cleared" | "outputs.prune.nameless" => (&["name"], &[]),
        _ => match path.rsplit_once('.') {
            Some((table, "notice")) if table.ends_with("cap") => (&["left"], &[]),
            Some((table, "open")) if table.starts_with("prompt.") => (&["tool", "label", "LABEL"], &[]),
            _ => return None,
        },
    })
}

/// Refuses unknown names in braces, and templates that would lose what they are there for.
pub(super) fn check(table: &Table) -> Result<(), Fault> {
    table.iter().try_for_each(|(key, value)| check_value(key, value))
}

fn check_value(path: &str, value: &Value) -> Result<(), Fault> {
    match value {
        Value::Table(inner) => {
            inner.iter().try_for_each(|(key, value)| check_value(&format!("{path}.{key}"), value))
        }
        Value::Array(values) => values.iter().try_for_each(|value| check_value(path, value)),
        Value::String(text) => check_text(path, text),
        _ => Ok(()),
    }
}

fn check_text(path: &str, text: &str) -> Result<(), Fault> {
    let Some((known, needed)) = names(path) else { return Ok(()) };
    // Places are asked for by the key, so that the line is found behind arrays, too.
    let fault = |reason: String| {
        Err(Fault::of(&[path, path.rsplit_once('.').map_or(path, |(table, _)| table)], reason))
    };
    if let Some(wrong) = holes(text).find(|name| !known.contains(name)) {
        let meant = nearest(wrong, known.iter().copied())
            .map_or_else(|| ".".to_owned(), |name| format!("; did you mean {{{name}}}?"));
        let known: Vec<String> = known.iter().map(|name| format!("{{{name}}}")).collect();
        return fault(format!(
            "{path} holds {{{wrong}}}, which nothing fills{meant} Known are {}",
            known.join(", ")
        ));
    }
    match needed.iter().find(|name| !text.is_empty() && !holes(text).any(|hole| hole == **name)) {
        Some(name) => fault(format!("{path} has no {{{name}}}: what belongs there would be lost")),
        None => Ok(()),
    }
}

/// Names in braces: letters and `_`. Other braces are text.
fn holes(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|behind| {
        let (name, _) = behind.split_once('}')?;
        let letters = |c: char| c.is_ascii_alphabetic() || c == '_';
        (!name.is_empty() && name.chars().all(letters)).then_some(name)
    })
}
