//! Conformance: inputs and outputs of the modelled systems' own code, run through ours.
//!
//! The vectors are not part of the project. They are looked for in `COMPACTOR_VECTORS`, else beside the checkout; where
//! they are absent the test says so and passes. Every file of the folder is read; a function that nothing here knows
//! fails, but for those of [`OPTIONAL`].

mod cuts;
mod estimates;
mod input;
mod overflow;
mod sessions;
mod text;
mod whole;

use compactor::estimate;
use compactor::harness::Entry;
use compactor::profile::Profile;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One vector.
pub(crate) struct Case {
    /// Name of the profile that models the system, with its version where there are several.
    pub(crate) profile: &'static str,
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
const SKIPPED: &[(&str, &str)] = &[(
    "opal-437",
    "a tree with other branches: a replay follows one path, and what hangs off it is not in it",
)];

/// Who answers for a function of a system.
fn handler(system: &str, function: &str) -> Option<Handler> {
    Some(match (system, function) {
        ("opal", "find_cut_point") => cuts::opal_cut,
        ("opal", "detect_split_turn") => cuts::opal_split,
        ("opal", "ensure_tool_results") => cuts::opal_results,
        ("opal", "repair_both_layers") => cuts::opal_repair,
        ("opal", "find_orphaned_calls") => cuts::opal_orphans,
        ("pi", "findCutPoint") | ("operator-use", "find_cut_point") => cuts::session_cut,
        ("pi", "findTurnStartIndex") => cuts::pi_turn_start,
        ("opal", "token_estimate") => estimates::opal_text,
        ("opal", "estimate_message")
        | ("operator-use", "estimate_tokens")
        | ("pi", "estimateTokens")
        | ("sven", "approx_tokens") => estimates::message,
        ("opal", "estimate_context") => estimates::opal_context,
        ("opal", "hybrid_estimate") => estimates::opal_hybrid,
        ("opal", "usage_tracker_estimate_tokens") => estimates::opal_tracked,
        ("opal", "update_usage") => estimates::opal_usage,
        ("opal", "maybe_auto_compact") => estimates::opal_trigger,
        ("operator-use", "calculate_context_tokens") | ("pi", "calculateContextTokens") => {
            estimates::usage_tokens
        }
        ("operator-use", "estimate_context_tokens") | ("pi", "estimateContextTokens") => estimates::context,
        ("operator-use", "get_last_assistant_usage") | ("pi", "getLastAssistantUsage") => {
            estimates::newest_usage
        }
        ("operator-use", "should_compact") | ("pi", "shouldCompact") => estimates::should_compact,
        ("operator-use", "CompactionSettings") | ("pi", "DEFAULT_COMPACTION_SETTINGS") => estimates::defaults,
        ("lis", "trigger") => estimates::lis_trigger,
        ("lis", "backfill_tool_tokens") => estimates::lis_backfill,
        ("sven", "token_count") => estimates::sven_count,
        ("sven", "calibration") => estimates::sven_calibration,
        ("sven", "context_fraction") => estimates::sven_fraction,
        ("sven", "usage_calibration") => estimates::sven_usage,
        ("sven", "defaults") => estimates::sven_defaults,
        ("lis", "split_point") => cuts::lis_split,
        ("lis", "sanitize_tool_pairs") => cuts::lis_pairs,
        ("opal", "extract_file_ops") => sessions::opal_ops,
        ("opal", "merge_file_ops") => sessions::opal_merge,
        ("opal", "cumulative_file_ops") => sessions::opal_cumulative,
        ("opal", "extract_previous_file_ops") => sessions::opal_previous_ops,
        ("pi", "computeFileLists") | ("operator-use", "compute_file_lists") => sessions::file_lists,
        ("pi", "prepareCompaction") | ("operator-use", "prepare") => sessions::session_prepare,
        ("pi", "buildSessionContext") => sessions::pi_context,
        ("opal", "serialize_conversation") => text::framed,
        ("operator-use", "serialize_conversation") | ("pi", "serializeConversation") => text::serialized,
        ("sven", "serialize_history") => text::history,
        ("lis", "summary_input") => text::summary_input,
        ("sven", "smart_truncate") => text::capped,
        ("lis", "prune_at_build") => text::pruned_at_build,
        ("operator-use", "ContextPruner.transform") => text::context_pruner,
        ("opal", "truncate_summary") => text::truncated,
        ("opal", "merge_split_summaries") => text::joined,
        ("opal", "extract_previous_summary") => text::previous,
        ("operator-use", "format_file_operations") | ("pi", "formatFileOperations") => text::footer,
        ("opal", "compact") => whole::opal_compact,
        ("opal", "handle_overflow") => whole::opal_overflow,
        ("opal", "context_overflow") => overflow::opal_error,
        ("opal", "usage_overflow") => overflow::opal_usage,
        ("pi", "isContextOverflow") => overflow::pi_reply,
        ("sven", "n_ctx_recovery") => overflow::sven_recovery,
        ("sven", "emergency_compact") => whole::sven_emergency,
        ("sven", "gate" | "boundary") => whole::sven_gate,
        ("pi" | "operator-use", "compact") => whole::session_compact,
        ("sven", "shell_tool") => text::stored,
        _ => return None,
    })
}

/// A section of the rules of the system that a case is of.
pub(crate) fn rules<T: serde::de::DeserializeOwned>(case: &Case, section: &str) -> T {
    let table = Profile::table_of(case.profile).expect("a profile");
    table[section].clone().try_into().unwrap_or_else(|error| panic!("{} [{section}]: {error}", case.profile))
}

/// Size of an entry by the estimator of its system.
pub(crate) fn size(case: &Case, entry: &Entry<'_>) -> u64 {
    estimate::entry_tokens(entry, &rules(case, "estimate")).expect("content")
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
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
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
                    *unknown.entry(format!("{system}::{function}")).or_default() += 1;
                }
                counts[2] += 1;
                continue;
            };
            let case = Case {
                profile,
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
    faults.extend(
        unknown.iter().map(|(function, count)| format!("nothing here knows {function} ({count} vectors)")),
    );
    assert!(skipped * 50 <= total, "{skipped} of {total} are skipped");
    for fault in faults.iter().take(60) {
        eprintln!("FAULT {}", fault.chars().take(600).collect::<String>());
    }
    assert!(faults.is_empty(), "{} faults in {total} vectors", faults.len());
}
