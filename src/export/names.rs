//! Names of what is written for logs, so that each has one of its own.
//!
//! A log whose base name no other has gives that to its files. Agents that keep each session in a directory call all their logs
//! the same: there as many directories above them as tell them apart stand in front of the name, joined by `-`. Names that
//! differ in nothing but case count as the same, for some file systems take them for one file.

use super::{file_name, stem};
use rustc_hash::{FxHashMap, FxHashSet};

/// The longest name made of directories, in bytes: file systems take 255, with endings and those of temporary files.
const LONGEST: usize = 180;

/// What the files written for a log are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputName {
    /// Without an ending.
    pub stem: String,
    /// The ending of the log.
    ending: String,
}

impl OutputName {
    /// That of a log which is alone.
    pub fn of(label: &str) -> Self {
        let stem = stem(label);
        let ending = file_name(label).strip_prefix(&stem).unwrap_or_default().to_owned();
        Self { stem, ending }
    }

    /// Name of a copy of the log.
    pub fn file(&self) -> String {
        format!("{}{}", self.stem, self.ending)
    }
}

/// A name for each of these logs, no two alike. It depends on which logs there are, not on their order, save where two have the
/// same label.
pub fn output_names(labels: &[&str]) -> Vec<OutputName> {
    let mut names: Vec<OutputName> = labels.iter().map(|label| OutputName::of(label)).collect();
    let mut groups: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    for (at, name) in names.iter().enumerate() {
        groups.entry(name.stem.to_lowercase()).or_default().push(at);
    }
    let mut taken: FxHashSet<String> =
        groups.iter().filter(|(_, all)| all.len() == 1).map(|(stem, _)| stem.clone()).collect();
    let mut wanted: Vec<(&str, usize, String)> = Vec::new();
    for group in groups.into_values().filter(|all| all.len() > 1) {
        let logs: Vec<(Vec<String>, &str)> = group
            .iter()
            .filter_map(|at| Some((directories(labels.get(*at)?), names.get(*at)?.stem.as_str())))
            .collect();
        let made = told_apart(&logs);
        wanted.extend(group.iter().zip(made).filter_map(|(at, name)| Some((*labels.get(*at)?, *at, name))));
    }
    wanted.sort_unstable();
    for (_, at, made) in wanted {
        let mut unique = made.clone();
        let mut number = 2_u64;
        while !taken.insert(unique.to_lowercase()) {
            unique = format!("{made}-{number}");
            number += 1;
        }
        if let Some(name) = names.get_mut(at) {
            name.stem = unique;
        }
    }
    names
}

/// The logs named with as few directories as tell them apart, or most of them where some are alike in all.
fn told_apart(logs: &[(Vec<String>, &str)]) -> Vec<String> {
    let deepest = logs.iter().map(|(above, _)| above.len()).max().unwrap_or_default();
    let (mut most, mut needed) = (0, 0);
    for depth in 0..=deepest {
        let apart: FxHashSet<String> =
            logs.iter().map(|(above, _)| nearest(above, depth).join("/").to_lowercase()).collect();
        if apart.len() > most {
            (most, needed) = (apart.len(), depth);
        }
        if apart.len() == logs.len() {
            break;
        }
    }
    logs.iter().map(|(above, stem)| joined(nearest(above, needed), stem)).collect()
}

/// So many directories, or all there are.
fn nearest(above: &[String], depth: usize) -> &[String] {
    above.get(above.len().saturating_sub(depth)..).unwrap_or_default()
}

/// The name with directories in front. It begins neither like an option nor like a hidden file, and what does not fit is
/// cut in front.
fn joined(near: &[String], stem: &str) -> String {
    let near = near.join("-");
    let room = LONGEST.saturating_sub(stem.len() + 1);
    let mut from = near.len().saturating_sub(room);
    while !near.is_char_boundary(from) {
        from += 1;
    }
    let near = near.get(from..).unwrap_or_default().trim_start_matches(['-', '.']);
    if near.is_empty() { stem.to_owned() } else { format!("{near}-{stem}") }
}

/// The directories above a log, the nearest last, with what no file name may hold taken out.
fn directories(label: &str) -> Vec<String> {
    let mut parts: Vec<&str> = label.split(['/', '\\']).collect();
    parts.pop();
    let named = parts.into_iter().filter(|part| !matches!(*part, "" | "." | ".."));
    let safe = |it: char| if it.is_control() || r#"<>:"|?*"#.contains(it) { '_' } else { it };
    named.map(|part| part.chars().map(safe).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(logs: &[(&str, &str)]) {
        let labels: Vec<&str> = logs.iter().map(|(label, _)| *label).collect();
        let made =
            |labels: &[&str]| -> Vec<String> { output_names(labels).iter().map(OutputName::file).collect() };
        let expected: Vec<&str> = logs.iter().map(|(_, name)| *name).collect();
        assert_eq!(made(&labels), expected);
        // In any order.
        let turned: Vec<&str> = labels.iter().rev().copied().collect();
        let mut names = made(&turned);
        names.reverse();
        assert_eq!(names, expected);
    }

    #[test]
    fn names_tell_logs_apart() {
        check(&[("a/x.jsonl", "x.jsonl"), ("b/y.json", "y.json"), ("<stdin>", "stdin.jsonl")]);
        check(&[
            ("s/aaa/events.jsonl", "aaa-events.jsonl"),
            ("s/bbb/events.jsonl.gz", "bbb-events.jsonl"),
            ("s/bbb/other.jsonl", "other.jsonl"),
        ]);
        check(&[
            ("/h/one/agents/main/wire.jsonl", "one-agents-main-wire.jsonl"),
            ("/h/two/agents/main/wire.jsonl", "two-agents-main-wire.jsonl"),
            ("wire.jsonl", "wire.jsonl"),
        ]);
        // Directories that read the same when joined.
        check(&[
            ("a-b/c/e.json", "a-b-c-e.json"),
            ("a/b-c/e.json", "a-b-c-e-2.json"),
            ("x/c/e.json", "x-c-e.json"),
        ]);
        // A name made of directories gives way to a log that is called so.
        check(&[("a/x.jsonl", "a-x-2.jsonl"), ("b/x.jsonl", "b-x.jsonl"), ("c/a-x.jsonl", "a-x.jsonl")]);
        // No directory tells these apart.
        check(&[("a/X.traj", "X.traj"), ("a/x.json", "x-2.json"), ("a/x.jsonl", "x-3.jsonl")]);
    }

    #[test]
    fn names_are_those_of_plain_files() {
        check(&[
            ("-home-u/a.jsonl", "home-u-a.jsonl"),
            ("../.kimi/a.jsonl", "kimi-a.jsonl"),
            ("C:\\w\\p\u{1b}?\\a.jsonl", "p__-a.jsonl"),
        ]);
        let long = |end: &str| format!("{}{end}/{}/log.jsonl", "é".repeat(100), "z".repeat(100));
        let labels = [long("a"), long("b")];
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let names = output_names(&labels);
        assert!(names.iter().all(|name| name.stem.len() <= LONGEST), "{names:?}");
        assert!(names.iter().all(|name| name.stem.ends_with("z-log")), "{names:?}");
        assert_ne!(names.first(), names.last());
    }
}
