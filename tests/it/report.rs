//! Reports of finished runs: valid and closed HTML, the same numbers in every form, nothing of the logs in a redacted one.

use crate::support::{Ran, Sandbox, fixture};
use html5gum::{Token, Tokenizer};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Elements without an end.
const VOID: [&str; 4] = ["meta", "link", "input", "br"];

/// Runs a replay of the fixtures of one agent into a directory of the sandbox.
fn replayed(sandbox: &Sandbox, name: &str, of: &str, extra: &[&str]) {
    let ran = sandbox.run(&[&["replay", &fixture(of), "--out", name, "-q"], extra].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

fn text(sandbox: &Sandbox, name: &str) -> String {
    std::fs::read_to_string(sandbox.path(name)).expect("a document")
}

fn check_refused(ran: &Ran, words: &[&str]) {
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    for word in words {
        assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
    }
}

/// Tags that close as they open, ids that are there once, references that lead somewhere, nothing from elsewhere, every chart with
/// a name and words, headings in order, every column with a scope.
fn check_page(page: &str) {
    let mut open: Vec<String> = Vec::new();
    let (mut ids, mut wanted) = (BTreeSet::new(), BTreeSet::new());
    let mut headings: Vec<u32> = Vec::new();
    let (mut charts, mut titles, mut descriptions, mut tables, mut captions) = (0, 0, 0, 0, 0);
    for token in Tokenizer::new(page) {
        match token.expect("never fails") {
            Token::Error(error) => panic!("{error:?}"),
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                let attributes: BTreeMap<String, String> = tag
                    .attributes
                    .iter()
                    .map(|(key, value)| {
                        (
                            String::from_utf8_lossy(key).into_owned(),
                            String::from_utf8_lossy(value).into_owned(),
                        )
                    })
                    .collect();
                for (key, value) in &attributes {
                    let closed = value.starts_with('#') || value == "data:,";
                    assert!(
                        !["src", "href", "action", "srcset"].contains(&key.as_str()) || closed,
                        "{key}={value}"
                    );
                    assert!(!key.starts_with("on") && key != "style", "{key}={value}");
                }
                if let Some(id) = attributes.get("id") {
                    assert!(ids.insert(id.clone()), "{id} twice");
                }
                wanted.extend(attributes.get("href").and_then(|to| to.strip_prefix('#')).map(str::to_owned));
                let labels = attributes.get("aria-labelledby").map(String::as_str).unwrap_or_default();
                wanted.extend(labels.split_whitespace().map(str::to_owned));
                match name.as_str() {
                    "svg" if attributes.get("role").is_some_and(|role| role == "img") => charts += 1,
                    "title" if open.last().is_some_and(|outer| outer == "svg") => titles += 1,
                    "desc" => descriptions += 1,
                    "table" => tables += 1,
                    "caption" => captions += 1,
                    "th" => assert!(attributes.contains_key("scope"), "a heading without a scope"),
                    "h1" | "h2" | "h3" | "h4" => {
                        headings.extend(name.chars().last().and_then(|n| n.to_digit(10)));
                    }
                    _ => {}
                }
                if !VOID.contains(&name.as_str()) && !tag.self_closing {
                    open.push(name);
                }
            }
            Token::EndTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                assert_eq!(open.pop().as_deref(), Some(name.as_str()), "closed out of turn");
            }
            _ => {}
        }
    }
    assert_eq!(open, Vec::<String>::new(), "left open");
    assert!(wanted.is_subset(&ids), "{:?}", wanted.difference(&ids).collect::<Vec<_>>());
    assert_eq!((headings.first(), headings.iter().filter(|level| **level == 1).count()), (Some(&1), 1));
    assert!(headings.array_windows().all(|[a, b]| *b <= a + 1), "{headings:?}");
    assert!(charts > 4 && charts == titles && charts == descriptions, "{charts} {titles} {descriptions}");
    assert!(tables > 6 && tables == captions, "{tables} {captions}");
}

#[test]
fn a_run_becomes_one_closed_page_and_the_same_numbers_elsewhere() {
    let sandbox = Sandbox::new();
    replayed(&sandbox, "results", "", &["--log-facts"]);
    let ran = sandbox.run(&["report", "results", "--html", "r.html", "--markdown", "r.md", "--csv", "r.csv"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    let page = text(&sandbox, "r.html");
    check_page(&page);
    assert!(page.contains("Facts lost in "), "facts were logged");
    let (markdown, sheet) = (text(&sandbox, "r.md"), text(&sandbox, "r.csv"));
    let summary = text(&sandbox, "results/summary.csv");
    let mut reader = csv_rows(&summary);
    let structured = reader.remove(0);
    let share: f64 = structured["lexical_survival"].parse().expect("a share");
    let shown = format!("{:.1} %", share * 100.0);
    assert!(page.contains(&shown) && markdown.contains(&shown), "{shown}");
    assert!(sheet.contains(&format!(",lexical_survival,,,{},", structured["lexical_survival"])), "{sheet}");

    // Without an output Markdown goes to stdout, byte for byte the same.
    let ran = sandbox.run(&["report", "results"]);
    assert_eq!((ran.code, ran.stdout), (0, markdown));
    let again = sandbox.run(&["report", "results", "--html", "-"]);
    assert_eq!((again.code, again.stdout), (0, page));
}

/// Rows by column.
fn csv_rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head = reader.headers().expect("a header").clone();
    let row = |row: Result<csv::StringRecord, csv::Error>| {
        let row = row.expect("a row");
        head.iter().map(str::to_owned).zip(row.iter().map(str::to_owned)).collect()
    };
    reader.records().map(row).collect()
}

#[test]
fn a_redacted_report_holds_nothing_of_the_logs() {
    let sandbox = Sandbox::new();
    let mine = include_str!("../../src/profile/standard.toml")
        .replace("name = \"standard\"", "name = \"wednesday-policy\"");
    sandbox.file("mine.toml", mine);
    replayed(
        &sandbox,
        "quarterly-results",
        "claude-code",
        &["--log-facts", "--profile", "standard,mine.toml"],
    );
    let names = ["shared.html", "shared.md", "shared.csv"];
    let arguments = [
        "report",
        "quarterly-results",
        "--redact",
        "--html",
        names[0],
        "--markdown",
        names[1],
        "--csv",
        names[2],
    ];
    assert_eq!(sandbox.run(&arguments).code, 0);
    let plain = sandbox.run(&["report", "quarterly-results", "--html", "-"]).stdout;
    check_page(&text(&sandbox, names[0]));

    let mut secrets: BTreeSet<String> = ["quarterly-results", "wednesday-policy"].map(str::to_owned).into();
    for row in csv_rows(&text(&sandbox, "quarterly-results/sessions.csv")) {
        let source = row["source"].clone();
        secrets.extend(Path::new(&source).file_name().map(|name| name.to_string_lossy().into_owned()));
        secrets.extend([source, row["session"].clone(), row["model"].clone()]);
    }
    for row in csv_rows(&text(&sandbox, "quarterly-results/facts.csv")) {
        // Short values (`3`, `main`) stand in any text; a path or a sentence does not.
        if row["value"].len() > 10 {
            secrets.insert(row["value"].trim_start_matches('\'').to_owned());
        }
    }
    secrets.remove("");
    assert!(secrets.len() > 50, "{}", secrets.len());
    let known = secrets.iter().filter(|secret| plain.contains(html_escaped(secret).as_str())).count();
    assert!(known > 20, "the plain report shows {known} of them");
    for name in names {
        let document = text(&sandbox, name);
        for secret in &secrets {
            assert!(!document.contains(secret.as_str()), "{name} holds {secret}");
            assert!(!document.contains(html_escaped(secret).as_str()), "{name} holds {secret}");
        }
        assert!(document.contains("profile-1"), "{name}");
    }
    let page = text(&sandbox, names[0]);
    assert!(page.contains("command-1") && page.contains("session-1") && page.contains("log-1.jsonl"));
    // The numbers are those of the plain report.
    let numbers = |page: &str| page.matches(" %").count();
    assert_eq!(numbers(&plain), numbers(&page));
}

fn html_escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[test]
fn runs_stand_side_by_side_under_the_names_of_their_directories() {
    let sandbox = Sandbox::new();
    replayed(&sandbox, "old", "pi", &["-s", "truncate,emergency"]);
    replayed(&sandbox, "new", "pi", &["-s", "structured,truncate"]);
    let ran = sandbox.run(&["report", "old", "new/", "--html", "both.html"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let page = text(&sandbox, "both.html");
    check_page(&page);
    assert!(page.contains("old · truncate") && page.contains("new · structured"));
    assert!(page.contains("they read the same logs"));

    replayed(&sandbox, "other", "pi", &["--tokenizer", "heuristic"]);
    let ran = sandbox.run(&["report", "old", "other", "--html", "mixed.html"]);
    check_refused(&ran, &["old counts tokens with o200k, other with heuristic", "hint: make the runs again"]);
    assert!(!sandbox.path("mixed.html").exists());
}

#[test]
fn what_is_no_report_is_never_replaced() {
    let sandbox = Sandbox::new();
    replayed(&sandbox, "results", "pi", &[]);
    let notes = sandbox.file("notes.html", "<!DOCTYPE html><title>mine</title>");
    let ran = sandbox.run(&["report", "results", "--html", "notes.html"]);
    check_refused(&ran, &["notes.html", "is no report of this kind", "give another name"]);
    assert_eq!(std::fs::read_to_string(notes).expect("notes"), "<!DOCTYPE html><title>mine</title>");
    sandbox.file("empty.md", "");
    assert_eq!(sandbox.run(&["report", "results", "--markdown", "empty.md"]).code, 0);
    assert_eq!(sandbox.run(&["report", "results", "--markdown", "empty.md"]).code, 0, "an older report is");
    check_refused(&sandbox.run(&["report", "results", "--csv", "empty.md"]), &["is no report of this kind"]);
    check_refused(&sandbox.run(&["report", "results", "--csv", "results"]), &["is a directory"]);
    check_refused(
        &sandbox.run(&["report", "results", "--csv", "no/where.csv"]),
        &["no/where.csv", "cannot write"],
    );
    check_refused(
        &sandbox.run(&["report", "results", "--csv", "x", "--html", "x"]),
        &["cannot both go to x"],
    );
    #[cfg(unix)]
    check_refused(
        &sandbox.run(&["report", "results", "--csv", "/dev/null"]),
        &["is no regular file", "- for stdout"],
    );
    let left: Vec<String> = std::fs::read_dir(sandbox.path("."))
        .expect("the sandbox")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains(".tmp"))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn what_is_no_run_is_named() {
    let sandbox = Sandbox::new();
    sandbox.file("empty/notes.txt", "");
    check_refused(&sandbox.run(&["report", "empty"]), &["run.json", "compactor replay --out DIR"]);
    replayed(&sandbox, "results", "pi", &[]);
    let newer = text(&sandbox, "results/run.json").replace("\"schema_version\": ", "\"schema_version\": 9");
    sandbox.file("results/run.json", newer);
    check_refused(&sandbox.run(&["report", "results"]), &["schema version 9"]);
}

#[test]
fn a_run_that_measured_nothing_says_so() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["replay", &fixture("pi"), "--window", "2m", "--out", "results", "-q"]);
    assert_eq!(ran.code, 2);
    let ran = sandbox.run(&["report", "results"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stdout.contains("**not exercised**: Nothing was measured"), "{}", ran.stdout);
    assert!(ran.stderr.contains("nothing was measured"), "{}", ran.stderr);
}

#[test]
fn an_audit_is_a_run_too() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["audit", &fixture("claude-code"), "--out", "audited", "--log-facts", "-q"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let ran = sandbox.run(&["report", "audited", "--html", "-"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    check_page(&ran.stdout);
    assert!(ran.stdout.contains("compactor audit LOGS"));
}

#[test]
fn a_run_that_measured_nothing_has_no_dead_links_and_is_no_audit() {
    let sandbox = Sandbox::new();
    let ran =
        sandbox.run(&["replay", &fixture("pi"), "absent.jsonl", "--window", "2m", "--out", "results", "-q"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let ran = sandbox.run(&["report", "results", "--html", "-"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let page = ran.stdout;
    assert!(page.contains("Logs of agents replayed") && page.contains("files not read"), "{page}");
    let ids: BTreeSet<&str> =
        page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let links: Vec<&str> = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(links.len() > 3 && links.iter().all(|link| ids.contains(link)), "{links:?} {ids:?}");
}

#[test]
fn files_of_another_run_are_refused() {
    let sandbox = Sandbox::new();
    replayed(&sandbox, "results", "pi", &[]);
    replayed(&sandbox, "other", "pi", &["-s", "structured"]);
    for (name, words) in [
        ("sessions.csv", &["sessions.csv", "run.json tells of"][..]),
        ("spells.csv", &["spells.csv has 0 rows", "run.json tells of"]),
    ] {
        let whole = text(&sandbox, &format!("results/{name}"));
        let head = format!("{}\n", whole.lines().next().expect("a header"));
        sandbox.file(&format!("results/{name}"), head);
        check_refused(&sandbox.run(&["report", "results"]), words);
        // Of another run, with other rows.
        let strange = text(&sandbox, &format!("other/{name}"));
        sandbox.file(&format!("results/{name}"), strange);
        let ran = sandbox.run(&["report", "results"]);
        check_refused(&ran, &[name]);
        sandbox.file(&format!("results/{name}"), whole);
    }
    assert_eq!(sandbox.run(&["report", "results"]).code, 0);
}

#[test]
fn every_kind_of_run_has_files_that_belong_together() {
    let sandbox = Sandbox::new();
    let kinds: [&[&str]; 4] = [
        &["--profile", "opal,lis,sven", "-s", "structured,none"],
        &["--window", "8k,auto"],
        &["--mode", "repeat"],
        &["--schedule", "free", "--profile", "pi"],
    ];
    for (at, kind) in kinds.iter().enumerate() {
        let name = format!("run{at}");
        let ran = sandbox.run(&[&["replay", &fixture("pi"), "--out", &name, "-q"], *kind].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let ran = sandbox.run(&["report", &name]);
        assert_eq!(ran.code, 0, "{kind:?}: {}", ran.stderr);
    }
}

#[test]
fn the_control_that_never_compacts_breaks_no_rule() {
    let sandbox = Sandbox::new();
    replayed(&sandbox, "with", "pi", &["--profile", "opal", "-s", "structured,none"]);
    replayed(&sandbox, "without", "pi", &["--profile", "opal", "-s", "structured"]);
    let counted = |name: &str| {
        let ran = sandbox.run(&["report", name, "--html", "-"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let tile =
            ran.stdout.split("<dt>compactions scored</dt><dd>").nth(1).and_then(|it| it.split('<').next());
        let rules =
            ran.stdout.split("id=\"rules-h\"").nth(1).and_then(|it| it.split(" The serialised").next());
        (tile.expect("a tile").to_owned(), rules.expect("a section").to_owned())
    };
    assert_eq!(counted("with"), counted("without"));
}

#[test]
fn the_command_of_a_profile_from_a_file_names_a_file() {
    let sandbox = Sandbox::new();
    sandbox.file("policies/p.toml", "extends = \"standard\"\nname = \"late\"\n[keep]\ntokens = 8000\n");
    replayed(&sandbox, "results", "pi", &["--profile", "policies/p.toml"]);
    let ran = sandbox.run(&["report", "results", "--html", "-"]);
    assert!(ran.stdout.contains("the file of profile late in place of late.toml"), "{}", ran.stderr);
    assert!(ran.stdout.contains("--profile</span> late.toml "), "the command");
}

#[test]
fn the_verdict_of_a_report_is_its_exit_code() {
    let sandbox = Sandbox::new();
    replayed(&sandbox, "results", "", &["-s", "structured"]);
    sandbox.file("low.toml", "[[rule]]\nmetric = \"lexical_survival\"\nmin = 0.1\n");
    sandbox.file("high.toml", "[[rule]]\nmetric = \"lexical_survival\"\nmin = 0.99\n");
    for (policy, code) in [("low.toml", 0), ("high.toml", 1)] {
        let gate = sandbox.run(&["gate", "results", "--policy", policy]);
        let report = sandbox.run(&["report", "results", "--policy", policy, "--html", "r.html"]);
        assert_eq!((gate.code, report.code), (code, code), "{policy}: {}", report.stderr);
        assert!(sandbox.path("r.html").exists(), "it is written all the same");
    }
}
