//! The modelled systems end to end: every profile on the fixtures, and on the corpus where it is.

use crate::logs::{agent, pi, step, user};
use crate::support::Sandbox;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Replays logs under every profile, faithful or mended, and gives per profile the sums of some columns of cycles.csv.
fn sums(paths: &[&str], suffix: &str, columns: &[&str]) -> BTreeMap<String, Vec<u64>> {
    let sandbox = Sandbox::new();
    let listed = sandbox.run(&["profiles"]);
    let names: Vec<String> = listed
        .stdout
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(|name| format!("{name}{suffix}"))
        .collect();
    assert!(names.len() >= 11, "{names:?}");
    let names = names.join(",");
    let arguments = [&["replay", "-q", "--profile", &names, "--out", "run"], paths].concat();
    let ran = sandbox.run(&arguments);
    assert!(matches!(ran.code, 0 | 3), "{}", ran.stderr);
    let mut reader = csv::Reader::from_path(sandbox.path("run/cycles.csv")).expect("cycles");
    let header = reader.headers().expect("a header").clone();
    let at = |name: &str| header.iter().position(|column| column == name).expect("a column");
    let (profile, places) = (at("profile"), columns.iter().map(|name| at(name)).collect::<Vec<_>>());
    let mut out: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for row in reader.records() {
        let row = row.expect("a row");
        let sums = out.entry(row[profile].to_owned()).or_insert_with(|| vec![0; columns.len() + 1]);
        sums[0] += 1;
        for (sum, place) in sums.iter_mut().skip(1).zip(&places) {
            *sum += match &row[*place] {
                "true" => 1,
                number => number.parse::<u64>().unwrap_or(0),
            };
        }
    }
    out
}

const RULES: [&str; 7] = [
    "orphan_results",
    "orphan_calls",
    "duplicate_results",
    "empty_blocks",
    "summary_after_tail",
    "over_budget",
    "error",
];

fn check_mended(paths: &[&str]) {
    for (profile, sums) in sums(paths, "+fixes", &RULES) {
        assert!(sums[0] > 0, "{profile} never compacts");
        assert_eq!(&sums[1..], &[0; RULES.len()], "{profile}: {RULES:?}");
    }
}

#[test]
fn mended_profiles_break_no_rule_on_the_fixtures() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    check_mended(&[&fixtures.to_string_lossy()]);
}

#[test]
fn mended_profiles_break_no_rule_on_the_corpus() {
    let root = std::env::var_os("COMPACTOR_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus"), PathBuf::from);
    let folders: Vec<String> = ["claude-code", "codex", "pi", "openai-chat"]
        .into_iter()
        .map(|name| root.join(name))
        .filter(|path| path.is_dir())
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    if folders.is_empty() {
        eprintln!("skipped: no corpus (COMPACTOR_CORPUS)");
        return;
    }
    check_mended(&folders.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Each system has a mark of its own in what it leaves behind.
#[test]
fn summaries_stand_in_the_form_of_their_system() {
    let log = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/claude-code/retry-after-and-scheduler-rename.jsonl");
    let log = log.to_string_lossy();
    for (profile, mark) in [
        ("opal", "[Conversation summary \u{2014} older messages were compacted]\n\n"),
        (
            "pi",
            "The conversation history before this point was compacted into the following summary:\n\n<summary>\n",
        ),
        ("lis", "Here is context from the previous conversation session:\n"),
    ] {
        let ran = Sandbox::new().run(&["show", &log, "--profile", profile, "--format", "json"]);
        assert_eq!(ran.code, 0, "{profile}: {}", ran.stderr);
        let shown: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let text = shown.to_string();
        let mark = serde_json::Value::from(mark).to_string();
        assert!(text.contains(mark.trim_matches('"')), "{profile}: {text}");
    }
}

/// Work whose results are pruned long before the first compaction; what they say is said nowhere else.
fn work_with_results(turns: usize) -> String {
    let mut entries = Vec::new();
    for turn in 0..turns {
        entries.push(user(&format!("Store part {turn} of the catalogue in the archive, please.")));
        let path = json!({"path": format!("/w/part{turn}.txt"), "content": "margins and grids"});
        // No two lines are of the same words: of such the last is taken for what holds.
        let room: String = format!("{turn:03}").bytes().map(|digit| (b'a' + digit - b'0') as char).collect();
        let result = format!(
            "\n---\nThe {room}room took it under shelf mark QX-{}\nCalled back at VB-{}\n{}",
            7_100 + turn,
            3_100 + turn,
            "one more page of the catalogue went by without a word. ".repeat(30),
        );
        entries.extend(step(&format!("c{turn}"), "write", &path, &result));
        entries.push(agent(&format!("Part {turn} is in its place, and nothing is left to do for it.")));
    }
    pi(&entries)
}

#[test]
fn first_lines_of_pruned_results_reach_the_summary_where_digests_are_kept() {
    let sandbox = Sandbox::new();
    sandbox.file("log.jsonl", work_with_results(120));
    let shown = |profile: &str, strategy: &str| -> Value {
        let wanted = ["show", "log.jsonl", "--profile", profile, "--strategy", strategy, "--window", "40000"];
        let ran = sandbox.run(&[&wanted[..], &["--format", "json"]].concat());
        assert_eq!(ran.code, 0, "{profile}: {}", ran.stderr);
        serde_json::from_str(&ran.stdout).expect("JSON")
    };
    for strategy in ["structured", "narrative"] {
        let (with, without) = (shown("lis-digests", strategy), shown("lis", strategy));
        // The two differ in nothing but what the summarizer was told.
        for same in ["trigger", "cut", "tokens_before", "budget"] {
            assert_eq!(with[same], without[same], "{same}");
        }
        let (told, silent) = (with["summary"].to_string(), without["summary"].to_string());
        assert!(told.matches("shelf mark QX-").count() > 10, "{strategy}: {told}");
        assert!(!silent.contains("QX-"), "{strategy}: {silent}");
        assert!(!told.contains("VB-"), "{strategy}: only the first line that says anything: {told}");
        // What was pruned, and no more: the newest results were still in the requests.
        let trigger = with["trigger"]["message"].as_u64().expect("a place") / 4;
        assert!(!told.contains(&format!("QX-{}", 7_100 + trigger - 1)), "{strategy}: {told}");
    }
}
