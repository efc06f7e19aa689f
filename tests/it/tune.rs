//! `compactor tune` end to end: the split, the table, the files, the profile that it recommends, and what it refuses.

use crate::support::{Ran, Sandbox, fixture};
use serde_json::Value;
use std::collections::BTreeMap;

const SETS: [&str; 4] = ["--set", "trigger.limit.share=0.65,0.8", "--set", "keep.tokens=4k,20k"];

fn tuned(sandbox: &Sandbox, extra: &[&str]) -> Ran {
    sandbox.run(&[&["tune", &fixture(""), "-q"][..], extra].concat())
}

/// Rows of a CSV text, by column.
fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.expect("a row")).collect()
}

fn read(sandbox: &Sandbox, name: &str) -> String {
    std::fs::read_to_string(sandbox.path(name)).expect(name)
}

/// A mistake that stops the run before it begins.
fn check_refused(extra: &[&str], says: &[&str]) {
    let sandbox = Sandbox::new();
    sandbox.file("empty.toml", "keep.tokens = []\n");
    sandbox.file("other.toml", "keep.tokens = [4000]\nprofile = [\"pie\"]\n");
    sandbox.file("torn.toml", "keep.tokens = [\n");
    sandbox.file("taken/notes.txt", "mine");
    sandbox.file("posing/tuning.csv", "a,b\n1,2\n");
    let ran = tuned(&sandbox, extra);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{extra:?}: {ran:?}");
    for part in says {
        assert!(ran.stderr.contains(part), "{extra:?} should say {part}: {}", ran.stderr);
    }
    assert!(ran.stderr.contains("hint: ") || ran.stderr.contains("--help"), "{extra:?}: {}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_tuned_is_refused_before_any_work() {
    check_refused(&["--set", "keep.tokenz=1k"], &["--set keep.tokenz", "did you mean `keep.tokens`"]);
    check_refused(
        &["--set", "trigger.threshold=0.7"],
        &["trigger.threshold", "did you mean `trigger.limit.share`"],
    );
    check_refused(&["--set", "keep.tokens=120k"], &["keep.tokens=120000", "reaches the trigger"]);
    check_refused(&["--set", "keep.tokens=4k,4000"], &["4000", "twice"]);
    check_refused(&["--set", "strategy=structred"], &["did you mean `structured`"]);
    check_refused(&["--set", "profile=pie"], &["unknown profile `pie`", "did you mean `pi`"]);
    check_refused(&["--set", "window=20"], &["at least 400"]);
    check_refused(
        &["--grid", "other.toml"],
        &["other.toml:2: profile: unknown profile `pie`", "did you mean `pi`"],
    );
    check_refused(&["--grid", "empty.toml"], &["empty.toml:1", "the list is empty"]);
    check_refused(&["--grid", "torn.toml"], &["torn.toml"]);
    check_refused(&["--grid", "absent.toml"], &["absent.toml"]);
    check_refused(&[&SETS[..], &["--max-combinations", "3"]].concat(), &["4 combinations", "at most 3"]);
    check_refused(
        &[&SETS[..], &["--objective", "needed_survivl"]].concat(),
        &["did you mean `needed_survival`"],
    );
    check_refused(&[&SETS[..], &["--held-out", "1"]].concat(), &["no share between 0 and 0.9"]);
    check_refused(&[&SETS[..], &["--out", "taken"]].concat(), &["notes.txt", "not results"]);
    check_refused(&[&SETS[..], &["--out", "posing"]].concat(), &["tuning.csv", "not results"]);
    check_refused(&[], &["--grid", "required"]);
}

#[test]
fn nothing_measured_is_no_result() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "short.jsonl",
        "{\"role\":\"user\",\"content\":\"hello\"}\n{\"role\":\"assistant\",\"content\":\"hi\"}\n",
    );
    let ran = sandbox.run(&["tune", "short.jsonl", "--set", "keep.tokens=4k"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(ran.stderr.contains("nothing was measured"), "{}", ran.stderr);
    let ran = sandbox.run(&["tune", "absent.jsonl", "--set", "keep.tokens=4k", "--out", "out"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("no session could be read"), "{}", ran.stderr);
}

#[test]
fn standard_input_is_read_once() {
    let log = std::fs::read_to_string(fixture("pi/v3-orchard-cache-branch.jsonl")).expect("a fixture");
    let tune = |extra: &[&str]| {
        let arguments = [&["tune", "-", "--set", "keep.tokens=4k", "--held-out", "0"], extra].concat();
        Sandbox::new().run_with(&arguments, &log)
    };
    assert_eq!(tune(&[]).code, 0);
    let ran = tune(&["--search", "halving"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(ran.stderr.contains("standard input"), "{}", ran.stderr);
}

#[test]
fn a_bad_log_beside_good_ones_is_named() {
    let sandbox = Sandbox::new();
    sandbox.file("notes.jsonl", "{\"a\":1}\n{\"b\":2}\n");
    let all = fixture("");
    let ran = sandbox.run(&[&["tune", all.as_str(), "notes.jsonl"][..], &SETS].concat());
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stderr.contains("notes.jsonl") && ran.stdout.contains("present setting"), "{ran:?}");
}

#[test]
fn the_table_has_the_frontier_first_and_says_how_sure_it_is() {
    let sandbox = Sandbox::new();
    let ran = tuned(&sandbox, &SETS);
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let rule = lines.iter().position(|line| line.starts_with("---")).expect("a rule");
    let marks: Vec<bool> = lines[rule + 1..]
        .iter()
        .take_while(|line| !line.is_empty())
        .map(|line| line.starts_with('*'))
        .collect();
    assert_eq!(marks.len(), 4, "{}", ran.stdout);
    assert!(marks[0] && marks.is_sorted_by(|a, b| a >= b), "{}", ran.stdout);
    assert_eq!(lines.iter().filter(|line| line.contains("recommended") && line.contains('%')).count(), 1);
    assert!(ran.stdout.contains("few sessions"), "{}", ran.stdout);
    assert!(lines.iter().all(|line| line.chars().count() <= 100), "{}", ran.stdout);
}

#[test]
fn the_same_bytes_on_any_number_of_threads_and_in_every_form() {
    let sandbox = Sandbox::new();
    for jobs in ["1", "3"] {
        let out = format!("out{jobs}");
        let ran = tuned(&sandbox, &[&SETS[..], &["--jobs", jobs, "--out", &out, "--format", "csv"]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(ran.stdout, read(&sandbox, &format!("{out}/tuning.csv")));
    }
    for name in ["tuning.csv", "tuning.json", "recommended.toml"] {
        assert_eq!(
            read(&sandbox, &format!("out1/{name}")),
            read(&sandbox, &format!("out3/{name}")),
            "{name}"
        );
    }
    // A second run takes the place of the first.
    let ran = tuned(&sandbox, &[&SETS[..], &["--out", "out1", "--format", "json"]].concat());
    assert_eq!((ran.code, &ran.stdout), (0, &read(&sandbox, "out1/tuning.json")));
    let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let csv = rows(&read(&sandbox, "out1/tuning.csv"));
    assert_eq!(csv.len(), 8, "four combinations, one of them the present one, dev and held-out each");
    assert_eq!(document["combinations"].as_array().map(Vec::len), Some(8));
    assert_eq!(document["combinations"][0]["split"], "dev");
    let sessions = |side: &str| document["sessions"][side]["sessions"].as_u64().expect("a number");
    assert_eq!(sessions("dev") + sessions("held-out"), 17);
    assert_eq!(csv[0]["n_sessions"], sessions("dev").to_string());
    assert_eq!(csv.iter().filter(|row| row["recommended"] == "true").count(), 2);
}

/// The figures of a replay of `recommended.toml` are those of the row that recommends it.
fn check_reproduced(logs: &[&str], sets: &[&str], windows: &[&str], objective: &str) {
    let sandbox = Sandbox::new();
    let logs: Vec<String> = logs.iter().map(|name| fixture(name)).collect();
    let logs: Vec<&str> = logs.iter().map(String::as_str).collect();
    let tuned = |extra: &[&str]| sandbox.run(&[&["tune", "-q"][..], &logs, extra].concat());
    // No session held out: the dev rows are then of all sessions, as a replay has them. The limit makes another one win.
    let fixed = ["--held-out", "0", "--out", "out", "--objective", objective, "--max-tokens"];
    let free = tuned(&[sets, &fixed[..4], &fixed[4..6], &["--format", "csv"]].concat());
    assert_eq!(free.code, 0, "{free:?}");
    let dear: f64 = rows(&free.stdout)[0]["objective_tokens"].parse().expect("a number");
    let limit = (dear.floor() as u64 - 1).to_string();
    let ran = tuned(&[sets, &fixed, &[limit.as_str(), "--format", "csv"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let all = rows(&ran.stdout);
    let best = all.iter().find(|row| row["recommended"] == "true").expect("a recommendation");
    assert_eq!(
        (best["present"].as_str(), best["split"].as_str(), best["rank"].as_str()),
        ("false", "dev", "1")
    );
    let strategy = best.get("strategy").map_or("structured", String::as_str);
    let profile = sandbox.path("out/recommended.toml").to_string_lossy().into_owned();
    let both = format!("standard,{profile}");
    let replay =
        ["replay", "-q", "--format", "csv", "--profile", &both, "--strategy", strategy, "--out", "replayed"];
    let ran = sandbox.run(&[&replay[..], &logs, windows].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let replayed = rows(&ran.stdout);
    let row = replayed.iter().find(|row| row["profile"] == "standard-tuned").expect("the tuned profile");
    for column in [
        "n_sessions",
        "n_exercised",
        "needed_survival",
        "needed_survival_low",
        "needed_survival_high",
        "needed_survival_n",
        "structural_survival",
        "lexical_survival",
        "context_survival",
        "files_modified",
        "files_read",
        "tokens_summary",
        "reduction",
        "violations",
    ] {
        assert_eq!(best[column], row[column], "{column} of {best:?}");
    }
    let kept = rows(&read(&sandbox, "replayed/kept.csv"));
    let mut measured = 0;
    for row in kept.iter().filter(|row| row["profile"] == "standard-tuned" && row["cycle"].is_empty()) {
        // Groups of classes have no columns in a tuning.
        let column = format!("survival.{}", row["class"]);
        let Some(mean) = best.get(&column) else { continue };
        let own = ["_low", "_high", "_n"].map(|end| best[&format!("{column}{end}")].as_str());
        let theirs = ["low", "high", "sessions"].map(|name| row[name].as_str());
        assert_eq!((mean, own), (&row["survival"], theirs), "{column}");
        measured += usize::from(!mean.is_empty());
    }
    let told =
        best.iter().filter(|(name, n)| name.starts_with("survival.") && name.ends_with("_n") && *n != "0");
    assert_eq!(measured, told.count(), "every class that the tuning measured");
    assert!(measured > 8, "most classes occur");
    assert!(best["needed_survival"].parse::<f64>().is_ok_and(|share| share > 0.0), "something was measured");
}

#[test]
fn the_recommended_profile_makes_the_figures_that_recommend_it() {
    check_reproduced(
        &[""],
        &["--set", "keep.tokens=2k,4k", "--set", "trigger.limit.share=0.7", "--set", "summary_tokens=800,2k"],
        &["--cycles", "5", "--same-window"],
        "needed_survival",
    );
    check_reproduced(
        &["anthropic-messages", "openai-chat"],
        &["--set", "keep.share=0.05,0.1", "--set", "window=4k", "--set", "strategy=structured,narrative"],
        &["--window", "4k"],
        "summary_survival",
    );
}

#[test]
fn a_grid_file_and_the_command_line_give_the_same() {
    let sandbox = Sandbox::new();
    sandbox.file("grid.toml", "[trigger]\nlimit.share = [0.65, 0.8]\n[keep]\ntokens = [\"1k\"]\n");
    let file = tuned(&sandbox, &["--grid", "grid.toml", "--set", "keep.tokens=4k,20k", "--format", "csv"]);
    let line = tuned(&sandbox, &[&SETS[..], &["--format", "csv"]].concat());
    assert_eq!((file.code, line.code), (0, 0));
    assert_eq!(file.stdout, line.stdout);
}

#[test]
fn the_grid_of_the_readme_is_one() {
    let readme = include_str!("../../README.md");
    let grid = readme.split_once("```text\n# grid.toml").and_then(|(_, rest)| rest.split_once("```"));
    let sandbox = Sandbox::new();
    sandbox.file("grid.toml", format!("#{}", grid.expect("a grid").0));
    sandbox.file("mine.toml", "extends = \"standard\"\nname = \"mine\"\n[keep]\ntokens = 8000\n");
    let pi = fixture("pi");
    let ran = sandbox.run(&["tune", &pi, "-q", "--grid", "grid.toml", "--held-out", "0", "--format", "json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(document["in_grid"], 32);
}

#[test]
fn a_grid_names_profiles_that_lie_beside_it() {
    let sandbox = Sandbox::new();
    let profile =
        |tokens: u32| format!("extends = \"standard\"\nname = \"mine\"\n[keep]\ntokens = {tokens}\n");
    sandbox.file("grids/mine.toml", profile(8_000));
    sandbox.file("mine.toml", profile(2_000));
    sandbox.file("grids/grid.toml", "profile = [\"mine.toml\", \"standard\"]\nkeep.context = [0.1]\n");
    let pi = fixture("pi");
    let tune = |extra: &[&str]| {
        let ran = sandbox.run(&[&["tune", &pi, "-q", "--held-out", "0", "--out", "out"][..], extra].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        std::fs::read_to_string(sandbox.path("out/recommended.toml")).expect("a profile")
    };
    // The limit bars everything, so that what is there stays.
    let fixed = ["--grid", "grids/grid.toml", "--max-tokens", "1"];
    let kept = tune(&fixed);
    assert!(kept.contains("tokens = 8000") && kept.contains("--profile grids/mine.toml "), "{kept}");
    // What the command line names begins where it is called.
    let kept = tune(&[&fixed[..], &["--set", "profile=mine.toml"]].concat());
    assert!(kept.contains("tokens = 2000") && kept.contains("--profile mine.toml "), "{kept}");
}

#[cfg(unix)]
#[test]
fn a_grid_that_comes_through_a_pipe_lies_where_it_is_called() {
    let sandbox = Sandbox::new();
    sandbox.file("mine.toml", "extends = \"standard\"\nname = \"mine\"\n[keep]\ntokens = 8000\n");
    let grid = "profile = [\"mine.toml\"]\nkeep.context = [0.1]\n";
    let pi = fixture("pi");
    let tune = ["tune", pi.as_str(), "-q", "--held-out", "0", "--grid", "/dev/stdin", "--format", "csv"];
    let ran = sandbox.run_with(&tune, grid);
    assert_eq!((ran.code, rows(&ran.stdout)[0]["profile"].as_str()), (0, "mine.toml"), "{ran:?}");
}

#[test]
fn a_profile_that_is_named_twice_is_tried_and_told_once() {
    let sandbox = Sandbox::new();
    sandbox.file("p2.toml", "extends = \"standard\"\nname = \"p2\"\n[keep]\ntokens = 8000\n");
    let ran = tuned(&sandbox, &["--set", "profile=p2.toml,./p2.toml"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("0 combinations and the present setting"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("the grid holds no other") && ran.stdout.contains("1 of 2"),
        "{}",
        ran.stdout
    );
    let ran = tuned(&sandbox, &["--set", "profile=standard,p2.toml,./p2.toml", "--format", "json"]);
    let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&document["in_grid"], &document["repeated"]), (&Value::from(3), &Value::from(1)));
    assert_eq!(document["combinations"].as_array().map(Vec::len), Some(4), "two, dev and held-out each");
    // The record counts sessions as that of a replay does.
    let all = fixture("");
    let replay = ["replay", &all, "-q", "--format", "json", "--profile", "standard,p2.toml", "--same-window"];
    let ran = sandbox.run(&[&replay[..], &["--strategy", "structured"]].concat());
    let replayed: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    for name in ["sessions", "sessions_exercised", "sessions_not_exercised", "sessions_failed"] {
        assert_eq!(document["manifest"][name], replayed["manifest"][name], "{name}");
    }
    assert!(document["manifest"]["sessions_exercised"].as_u64().is_some_and(|n| n > 10));
}

#[test]
fn the_present_setting_is_told_to_be_barred() {
    let sandbox = Sandbox::new();
    let ran = tuned(&sandbox, &[&SETS[..], &["--max-tokens", "1"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let marked = |mark: &str| ran.stdout.lines().filter(|line| line.trim_end().ends_with(mark)).count();
    assert_eq!(
        (marked("present, too-many-tokens"), marked("too-many-tokens"), marked("recommended")),
        (1, 4, 0),
        "{}",
        ran.stdout
    );
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("none may win, the present one (too-many-tokens) included"), "{}", ran.stdout);
    assert!(ran.stdout.contains("4 settings took more tokens than allowed"), "{}", ran.stdout);
}

#[test]
fn each_row_says_on_how_many_sessions_it_rests() {
    let sandbox = Sandbox::new();
    let sets =
        ["--set", "trigger.limit.share=0.65,0.7,0.75,0.8", "--set", "keep.tokens=4k,20k", "--held-out", "0"];
    let ran = tuned(&sandbox, &[&sets[..], &["--search", "halving"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let rows: Vec<Vec<&str>> = ran
        .stdout
        .lines()
        .skip_while(|line| !line.starts_with("---"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(|line| line.trim_start_matches('*').split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), 8, "{}", ran.stdout);
    // Rank, number, two keys, objective, that of the present setting there, n.
    let of = |dropped: bool| -> Vec<u64> {
        let rows = rows.iter().filter(|row| row.contains(&"dropped") == dropped);
        rows.map(|row| row[6].parse().expect("a number")).collect()
    };
    let (all, few) = (of(false), of(true));
    assert!(few.iter().max() < all.iter().min() && !few.is_empty(), "{}", ran.stdout);
    assert!(rows.iter().all(|row| (row[0] == "-") == row.contains(&"dropped")), "{}", ran.stdout);
    assert!(ran.stdout.contains("it has no rank"), "{}", ran.stdout);
}

#[test]
fn profiles_and_files_are_bases() {
    let sandbox = Sandbox::new();
    sandbox.file("mine.toml", "extends = \"standard\"\nname = \"mine\"\n[keep]\ntokens = 8000\n");
    let ran =
        tuned(&sandbox, &["--set", "profile=mine.toml,pi", "--set", "summary_tokens=1k", "--format", "csv"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let profiles: Vec<String> =
        rows(&ran.stdout).iter().step_by(2).map(|row| row["profile"].clone()).collect();
    assert_eq!(profiles, ["mine.toml", "mine.toml", "pi"]);
}

#[test]
fn no_share_is_above_all_and_few_sessions_have_no_rank() {
    let sandbox = Sandbox::new();
    let pi = fixture("pi");
    let ran = sandbox.run(&["tune", &pi, "-q", "--set", "window=8k,16k", "--format", "csv"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let all = rows(&ran.stdout);
    for row in &all {
        for column in ["objective", "objective_present"] {
            let share = row[column].parse::<f64>().unwrap_or(0.0);
            assert!((0.0..=1.0).contains(&share), "{column}: {row:?}");
        }
    }
    assert!(all.iter().all(|row| row["rank"].is_empty() && row["barred"] == "too-few-sessions"), "{all:?}");
    let ran = sandbox.run(&["tune", &pi, "-q", "--set", "window=8k,16k"]);
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Cannot tell which setting is best") && words.contains("6 are needed"), "{words}");
    assert!(words.contains("2 settings without a rank"), "{words}");
}

#[test]
fn too_few_held_out_sessions_cannot_tell() {
    let sandbox = Sandbox::new();
    let all = fixture("");
    let ran = sandbox.run(&["tune", &all, "-q", "--set", "summary_tokens=100,4k"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!words.contains("no measurable difference") && !words.contains(", p "), "{words}");
    assert!(words.contains("Cannot tell whether number 2") && words.contains("6 are needed"), "{words}");
    assert!(words.contains("--held-out 0.5"), "{words}");
    assert!(words.contains("sessions without a value under the present setting: "), "{words}");
}
