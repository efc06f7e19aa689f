//! Conformance: inputs and outputs of the modelled systems' own code, run through ours.
//!
//! The vectors are not part of the project. They are looked for in `COMPACTOR_VECTORS`, else beside the checkout; where
//! they are absent the test says so and passes. Every file of the folder is read; a function that nothing here knows
//! fails, but for those of [`OPTIONAL`].

mod input;
mod text;

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One vector.
pub(crate) struct Case {
    /// Name of the profile that models the system, with its version where there are several.
    pub(crate) profile: &'static str,
    pub(crate) id: String,
    pub(crate) input: Value,
    pub(crate) expect: Value,
}

/// What a handler found: `Ok(())` or how it differs.
pub(crate) type Verdict = Result<(), String>;

type Handler = fn(&Case) -> Verdict;

/// Compares two values and says how they differ.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(what: &str, ours: &T, theirs: &T) -> Verdict {
    if ours == theirs { Ok(()) } else { Err(format!("{what}: ours {ours:?}, theirs {theirs:?}")) }
}

/// Functions outside a replay.
const OPTIONAL: &[(&str, &str)] = &[
    ("sven", "entry_points"),
    ("sven", "tool_loop"),
    ("sven", "parse_jsonl"),
    ("opal", "collect_text"),
    ("operator-use", "extract_text_from_events"),
];

/// Cases that are skipped, each with its reason: accidents without meaning for a replay.
const SKIPPED: &[(&str, &str)] = &[];

/// Who answers for a function of a system.
fn handler(system: &str, function: &str) -> Option<Handler> {
    match (system, function) {
        ("opal", "serialize_conversation") => Some(text::framed),
        ("operator-use", "serialize_conversation") | ("pi", "serializeConversation") => {
            Some(text::serialized)
        }
        ("sven", "serialize_history") => Some(text::history),
        ("lis", "summary_input") => Some(text::summary_input),
        ("sven", "smart_truncate") => Some(text::capped),
        ("sven", "shell_tool") => Some(text::stored),
        ("lis", "prune_at_build") => Some(text::pruned_at_build),
        ("operator-use", "ContextPruner.transform") => Some(text::context_pruner),
        ("opal", "truncate_summary") => Some(text::truncated),
        ("opal", "merge_split_summaries") => Some(text::joined),
        ("opal", "extract_previous_summary") => Some(text::previous),
        ("operator-use", "format_file_operations") | ("pi", "formatFileOperations") => Some(text::footer),
        _ => None,
    }
}

/// The folder with the vectors.
pub(crate) fn vectors() -> Option<PathBuf> {
    let path = std::env::var_os("COMPACTOR_VECTORS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/design/vectors"),
        PathBuf::from,
    );
    path.is_dir().then_some(path)
}

/// The profile that models a system at a version.
fn profile_of(system: &str, version: &str) -> Option<&'static str> {
    match (system, version) {
        ("opal", _) => Some("opal"),
        ("operator-use", _) => Some("operator-use"),
        ("pi", "0.73.1") => Some("pi-0.73"),
        ("pi", _) => Some("pi"),
        ("lis", _) => Some("lis"),
        ("sven", _) => Some("sven"),
        _ => None,
    }
}

#[test]
fn every_vector_of_the_modelled_systems_holds() {
    let Some(folder) = vectors() else {
        eprintln!("skipped: no vectors (COMPACTOR_VECTORS)");
        return;
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no vectors in {}", folder.display());
    let mut passed: BTreeMap<(String, String), [usize; 3]> = BTreeMap::new();
    let mut faults = Vec::new();
    let mut skipped = 0;
    let mut total = 0;
    for path in &files {
        let text = std::fs::read_to_string(path).expect("a vector file");
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let case: Value = serde_json::from_str(line).expect("a JSON line");
            let word = |key: &str| case.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (system, function, id) = (word("system"), word("fn"), word("id"));
            if function.is_empty() || function.starts_with('_') {
                continue;
            }
            total += 1;
            let Some(profile) = profile_of(&system, &word("version")) else {
                faults.push(format!("{id}: no profile models {system}"));
                continue;
            };
            let counts = passed.entry((profile.to_owned(), function.clone())).or_default();
            if SKIPPED.iter().any(|(skip, _)| *skip == id) {
                skipped += 1;
                counts[1] += 1;
                continue;
            }
            let Some(handler) = handler(&system, &function) else {
                if !OPTIONAL.contains(&(system.as_str(), function.as_str())) {
                    faults.push(format!("{id}: nothing here knows {system}::{function}"));
                }
                counts[2] += 1;
                continue;
            };
            let case = Case {
                profile,
                id: id.clone(),
                input: input::expanded(&case["input"]),
                expect: input::expanded(&case["expect"]),
            };
            match handler(&case) {
                Ok(()) => counts[0] += 1,
                Err(fault) => faults.push(format!("{id} {function}: {fault}")),
            }
        }
    }
    for ((profile, function), [ok, skip, none]) in &passed {
        eprintln!("{profile:13} {function:32} {ok:4} pass {skip:3} skipped {none:3} optional");
    }
    assert!(skipped * 50 <= total, "{skipped} of {total} are skipped");
    for fault in faults.iter().take(60) {
        eprintln!("FAULT {}", fault.chars().take(600).collect::<String>());
    }
    assert!(faults.is_empty(), "{} of {total} vectors fail", faults.len());
}
