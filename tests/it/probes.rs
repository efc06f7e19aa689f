//! Closed questions end to end: written, answered by any client or by a model, scored by their letters.

use crate::llm::server::{Answer, Seen, Server, reply};
use crate::support::{Ran, Sandbox, fixture};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Questions about a session of the fixtures, in a directory `q`.
fn emitted(more: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    let log = fixture("claude-code");
    let ran = emit(&sandbox, &log, more);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    sandbox
}

fn emit(sandbox: &Sandbox, log: &str, more: &[&str]) -> Ran {
    sandbox.run(&[&["probes", "emit", log, "--out", "q", "--cycles", "2"], more].concat())
}

/// Lines of a file of the directory.
fn lines(sandbox: &Sandbox, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(sandbox.path("q").join(name)).expect("a file");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn text<'v>(line: &'v Value, field: &str) -> &'v str {
    line[field].as_str().expect("text")
}

/// Has each prompt answered: by the line of the key that names it and what it is named as.
fn answered(sandbox: &Sandbox, answer: impl Fn(&Value, &str) -> Option<String>) {
    let mut given: BTreeMap<String, String> = BTreeMap::new();
    for key in lines(sandbox, "key.jsonl") {
        for field in ["id", "control", "blind"] {
            given.extend(answer(&key, field).map(|answer| (text(&key, field).to_owned(), answer)));
        }
    }
    let all = given.into_iter().map(|(id, answer)| json!({"id": id, "answer": answer}).to_string() + "\n");
    sandbox.file("q/answers.jsonl", all.collect::<String>());
}

/// The row of a strategy over all kinds and cycles.
fn row(sandbox: &Sandbox, strategy: &str) -> BTreeMap<String, String> {
    let ran = sandbox.run(&["probes", "score", "q", "--format", "csv"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let mut reader = csv::Reader::from_reader(ran.stdout.as_bytes());
    let mut rows = reader.deserialize().map(|row| row.expect("a row"));
    rows.find(|row: &BTreeMap<String, String>| {
        row["strategy"] == strategy && row["kind"] == "all" && row["cycle"] == "all"
    })
    .expect("a row of the strategy")
}

#[test]
fn a_prompt_holds_one_question_and_the_context_that_was_left() {
    let sandbox = emitted(&["-s", "structured,emergency"]);
    let prompts = lines(&sandbox, "probes.jsonl");
    let key = lines(&sandbox, "key.jsonl");
    let by_id: BTreeMap<&str, &Value> = prompts.iter().map(|line| (text(line, "id"), line)).collect();
    assert_eq!(by_id.len(), prompts.len(), "each prompt stands once");
    let mut named = BTreeSet::new();
    for line in &key {
        let user = |field: &str| text(by_id[text(line, field)], "user");
        named.extend(["id", "control", "blind"].map(|field| text(line, field).to_owned()));
        for field in ["id", "control", "blind"] {
            assert_eq!(user(field).matches("\nQuestion: ").count(), 1);
            assert!(user(field).contains(text(line, "question")));
            for (at, option) in line["options"].as_array().expect("options").iter().enumerate() {
                let option = format!("\n{}) {}", char::from(b'A' + at as u8), option.as_str().expect("text"));
                assert!(user(field).contains(&option), "{option}");
            }
        }
        assert!(user("control").len() > user("id").len(), "something was compacted");
        assert!(user("id").starts_with("<conversation") && !user("blind").contains("<conversation"));
        // A fact that the scores find nowhere is in the whole conversation all the same.
        if line["class"] == "identifier" {
            let fact = text(line, "fact");
            assert!(user("control").split("\nQuestion: ").next().expect("a conversation").contains(fact));
        }
        assert!(!text(line, "want").is_empty() && text(line, "want") != text(line, "untold"));
    }
    let all: BTreeSet<String> = by_id.keys().map(|id| (*id).to_owned()).collect();
    assert_eq!(named, all, "no prompt without a key");
    // Both strategies are asked the same.
    let asked = |strategy: &str| -> Vec<(String, String, String)> {
        let of = key.iter().filter(|line| line["strategy"] == strategy);
        of.map(|line| (text(line, "session"), text(line, "question"), text(line, "control")))
            .map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()))
            .collect()
    };
    assert!(!asked("structured").is_empty());
    assert_eq!(asked("structured"), asked("emergency"));
    let kinds: BTreeSet<&str> = key.iter().map(|line| text(line, "kind")).collect();
    assert_eq!(kinds, BTreeSet::from(["artifact", "continuation", "decision", "recall"]));
}

#[test]
fn the_same_bytes_on_any_number_of_threads_and_others_with_another_seed() {
    let all = |sandbox: &Sandbox| -> Vec<String> {
        let read = |name| std::fs::read_to_string(sandbox.path("q").join(name)).expect("a file");
        ["probes.jsonl", "key.jsonl", "probes.json"].map(read).to_vec()
    };
    let one = emitted(&["--jobs", "1", "--at", "all"]);
    let seven = emitted(&["--jobs", "7", "--at", "all"]);
    assert_eq!(all(&one), all(&seven));
    let other = emitted(&["--seed", "1", "--at", "all"]);
    assert_ne!(all(&one)[1], all(&other)[1]);
}

#[test]
fn prompts_that_no_model_takes_are_left_out_and_in_no_survival() {
    let sandbox = emitted(&["-s", "structured,emergency", "--longest", "5k"]);
    let record: Value = serde_json::from_slice(&bytes(&sandbox.path("q/probes.json"))).expect("JSON");
    assert!(record["left_out"].as_u64() > Some(0) && record["longest"].as_u64() <= Some(5_000), "{record}");
    answered(&sandbox, |key, _| Some(text(key, "want").to_owned()));
    let row = row(&sandbox, "emergency");
    let number = |column: &str| row[column].parse::<u64>().expect("a number");
    assert!(number("control_answered") < number("answered"), "{row:?}");
    assert_eq!(row["pairs"], row["control_answered"]);
}

#[test]
fn cycles_are_asked_about_as_named() {
    let cycles = |more: &[&str]| -> BTreeSet<u64> {
        let sandbox = emitted(&[&["-s", "structured"], more].concat());
        lines(&sandbox, "key.jsonl").iter().map(|line| line["cycle"].as_u64().expect("a number")).collect()
    };
    // A session that is compacted once is asked about that.
    let sandbox = emitted(&["-s", "structured"]);
    let mut last: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for line in lines(&sandbox, "key.jsonl") {
        let cycle = line["cycle"].as_u64().expect("a number");
        last.entry(text(&line, "session").to_owned()).or_default().insert(cycle);
    }
    assert!(last.len() > 1 && last.values().all(|cycles| cycles.len() == 1), "{last:?}");
    assert!(last.values().any(|cycles| cycles.contains(&2)), "{last:?}");
    assert_eq!(cycles(&["--at", "all"]), BTreeSet::from([1, 2]));
    assert_eq!(cycles(&["--at", "1"]), BTreeSet::from([1]));
}

#[test]
fn perfect_answers_survive_and_unsure_ones_do_not() {
    let sandbox = emitted(&["-s", "structured,emergency"]);
    answered(&sandbox, |key, field| {
        Some(text(key, if field == "blind" { "untold" } else { "want" }).to_owned())
    });
    let perfect = row(&sandbox, "structured");
    let told = |column: &str| perfect[column].as_str();
    assert_eq!((told("answer_survival"), told("accuracy"), told("effect")), ("1", "1", "1"));
    assert_eq!(perfect["questions"], perfect["answerable"]);
    // Whoever knows everything without reading shows nothing.
    answered(&sandbox, |key, _| Some(text(key, "want").to_owned()));
    let seer = row(&sandbox, "structured");
    assert_eq!(
        (seer["answer_survival"].as_str(), seer["effect"].as_str(), seer["answerable"].as_str()),
        ("", "", "0")
    );
    assert_eq!(seer["guessed"], seer["questions"]);
    answered(&sandbox, |key, field| {
        Some(text(key, if field == "control" { "want" } else { "untold" }).to_owned())
    });
    let unsure = row(&sandbox, "structured");
    assert_eq!((unsure["answer_survival"].as_str(), unsure["effect"].as_str()), ("0", "0"));
    assert_eq!((&unsure["untold"], unsure["control_accuracy"].as_str()), (&unsure["questions"], "1"));
    // By what stands in the text: the two columns of the key are two of the table.
    answered(&sandbox, |key, field| {
        let knows = field == "control" || field == "id" && key["present"] == true;
        Some(text(key, if knows { "want" } else { "untold" }).to_owned())
    });
    let present = row(&sandbox, "structured");
    let count = |row: &BTreeMap<String, String>, column: &str| row[column].parse::<u64>().expect("a number");
    assert_eq!(present["present"], present["present_right"]);
    assert_eq!(present["absent_right"], "0");
    assert_eq!(count(&present, "present") + count(&present, "absent"), count(&present, "questions"));
    // Nothing generated, nothing present.
    assert_eq!(row(&sandbox, "emergency")["present"], "0");
}

#[test]
fn what_is_not_answered_is_counted_and_in_no_share() {
    let sandbox = emitted(&["-s", "structured"]);
    let first = text(&lines(&sandbox, "key.jsonl")[0], "id").to_owned();
    answered(&sandbox, |key, field| {
        let id = text(key, field);
        (id != first).then(|| if field == "id" { "no idea" } else { text(key, "want") }.to_owned())
    });
    let row = row(&sandbox, "structured");
    assert_eq!((row["missing"].as_str(), row["answered"].as_str()), ("1", "0"));
    assert_eq!(row["unanswered"], row["questions"]);
    assert_eq!((row["answer_survival"].as_str(), row["pairs"].as_str()), ("", "0"));
    assert_eq!(row["control_accuracy"], "1");
    let table = sandbox.run(&["probes", "score", "q"]);
    assert_eq!(table.code, 0);
    assert!(table.stdout.contains("n/a"), "{}", table.stdout);
}

/// A pipe in the place of a file is not waited for; one that is named for answers is read.
#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_file_is_refused() {
    for name in ["probes.json", "probes.jsonl", "key.jsonl", "answers.jsonl"] {
        let sandbox = emitted(&["-s", "structured", "--questions", "2"]);
        answered(&sandbox, |key, _| Some(text(key, "want").to_owned()));
        let path = sandbox.path("q").join(name);
        std::fs::remove_file(&path).expect("removed");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
        for arguments in [
            ["probes", "score", "q"].to_vec(),
            ["probes", "run", "q", "--model", "m", "--base-url", "http://127.0.0.1:9"].to_vec(),
            ["probes", "emit", &fixture("claude-code"), "--out", "q"].to_vec(),
        ] {
            // Each verb reads some of them.
            if matches!((arguments[1], name), ("score", "probes.jsonl") | ("run", "key.jsonl")) {
                continue;
            }
            let ran = sandbox.run(&arguments);
            assert_eq!(ran.code, 2, "{arguments:?} {name}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.stderr.contains(name), "{arguments:?} {name}: {}", ran.stderr);
        }
    }
}

/// Who asks: the letter that a model chooses depends on the question alone.
fn third(seen: &Seen, _: usize) -> Answer {
    Answer::Json(200, reply(seen, "C) Because it says so.", "stop"))
}

fn ask(sandbox: &Sandbox, server: &Server, more: &[&str]) -> Ran {
    let named = if more.contains(&"--model") { &[][..] } else { &["--model", "served"][..] };
    let url = server.url();
    let fixed = [&["probes", "run", "q", "--base-url", &url], named].concat();
    sandbox.run(&[&fixed, more].concat())
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("a file")
}

#[test]
fn a_model_is_asked_each_prompt_once_over_both_protocols() {
    for provider in ["openai", "anthropic"] {
        let server = Server::start(third);
        let sandbox = emitted(&["-s", "structured,truncate", "--questions", "4"]);
        let ran = ask(&sandbox, &server, &["--provider", provider, "--concurrency", "5"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let prompts = lines(&sandbox, "probes.jsonl");
        assert_eq!(server.seen().len(), prompts.len());
        let answers = lines(&sandbox, "answers.jsonl");
        let ids = |lines: &[Value]| lines.iter().map(|line| text(line, "id").to_owned()).collect::<Vec<_>>();
        assert_eq!(ids(&answers), ids(&prompts), "in the order of the prompts, whoever answered first");
        assert!(
            answers
                .iter()
                .all(|line| line["answer"] == "C) Because it says so." && line["model"] == "served")
        );
        let sent: BTreeSet<String> = server.seen().iter().map(|seen| seen.user().to_owned()).collect();
        assert_eq!(sent, prompts.iter().map(|line| text(line, "user").to_owned()).collect());
        // Another model's answers are not taken for this one's.
        let other = ask(&sandbox, &server, &["--model", "other"]);
        assert_eq!(other.code, 2, "{}", other.stdout);
        // What is answered is not asked again.
        let before = bytes(&sandbox.path("q/answers.jsonl"));
        assert_eq!(ask(&sandbox, &server, &[]).code, 0);
        assert_eq!((server.seen().len(), bytes(&sandbox.path("q/answers.jsonl"))), (prompts.len(), before));
        assert_eq!(sandbox.run(&["probes", "score", "q"]).code, 0);
    }
}

#[test]
fn what_failed_is_told_and_asked_again() {
    let server = Server::start(|seen: &Seen, number| match number % 3 {
        0 => Answer::Json(
            400,
            json!({"error": {"message": "maximum context length is 4096 tokens", "code": "context_length_exceeded"}}),
        ),
        _ => third(seen, number),
    });
    let sandbox = emitted(&["-s", "structured", "--questions", "4"]);
    let ran = ask(&sandbox, &server, &["--concurrency", "1"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("without an answer"), "{}", ran.stderr);
    let failed = |sandbox: &Sandbox| {
        lines(sandbox, "answers.jsonl").iter().filter(|line| line.get("error").is_some()).count()
    };
    let (all, open) = (lines(&sandbox, "probes.jsonl").len(), failed(&sandbox));
    assert_eq!(open, all.div_ceil(3));
    let scored = sandbox.run(&["probes", "score", "q", "--format", "json"]);
    let scored: Value = serde_json::from_str(&scored.stdout).expect("JSON");
    assert!(scored["rows"][0]["failed"].as_u64().expect("a number") > 0);
    let healthy = Server::start(third);
    assert_eq!(ask(&sandbox, &healthy, &[]).code, 0);
    assert_eq!((healthy.seen().len(), failed(&sandbox)), (open, 0));
}

#[test]
fn what_could_not_be_read_is_asked_again_where_that_is_wanted() {
    let vague = Server::start(|seen: &Seen, number| {
        Answer::Json(200, reply(seen, if number % 2 == 0 { "I would say that" } else { "B" }, "length"))
    });
    let sandbox = emitted(&["-s", "structured", "--questions", "4"]);
    assert_eq!(ask(&sandbox, &vague, &["--concurrency", "1"]).code, 0);
    let server = Server::start(third);
    assert_eq!((ask(&sandbox, &server, &[]).code, server.seen().len()), (0, 0));
    assert_eq!(ask(&sandbox, &server, &["--again"]).code, 0);
    assert_eq!(server.seen().len(), vague.seen().len().div_ceil(2));
}

/// Wherever it is stopped: what stands in whole lines is kept, and nothing else.
#[test]
fn a_torn_end_costs_no_answer_and_a_missing_line_end_glues_none() {
    let server = Server::start(third);
    let sandbox = emitted(&["-s", "structured", "--questions", "2"]);
    assert_eq!(ask(&sandbox, &server, &[]).code, 0);
    let whole = bytes(&sandbox.path("q/answers.jsonl"));
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    for cut in [0, 1, lines[0].len() - 1, lines[0].len(), lines[0].len() + 7, whole.len() - 1] {
        sandbox.file("q/answers.jsonl", &whole[..cut]);
        let kept = whole[..cut].split(|byte| *byte == b'\n').filter(|line| line.ends_with(b"}")).count();
        let before = server.seen().len();
        assert_eq!(ask(&sandbox, &server, &["--concurrency", "1"]).code, 0);
        assert_eq!(server.seen().len() - before, lines.len() - kept, "{cut}");
        assert_eq!(bytes(&sandbox.path("q/answers.jsonl")), whole, "{cut}");
    }
    // With a byte order mark, and an error behind an answer.
    let first = text(&self::lines(&sandbox, "answers.jsonl")[0], "id").to_owned();
    let marked =
        [&b"\xef\xbb\xbf"[..], &whole, format!("{{\"id\":\"{first}\",\"error\":\"e\"}}\n").as_bytes()]
            .concat();
    sandbox.file("q/answers.jsonl", marked);
    let before = server.seen().len();
    assert_eq!((ask(&sandbox, &server, &[]).code, server.seen().len()), (0, before));
}

#[test]
fn a_program_that_declines_keeps_nobody_from_being_asked() {
    let sandbox = Sandbox::new();
    let script = "import json, sys\nfor line in sys.stdin:\n    print(json.dumps({'id': json.loads(line)['id'], 'cancel': True}), flush=True)\n";
    sandbox.file("decline.py", script);
    let ran = sandbox.run(&[
        "probes",
        "emit",
        &fixture("claude-code"),
        "--out",
        "q",
        "--cycles",
        "2",
        "-s",
        "structured",
        "-s",
        "exec:/usr/bin/env python3 decline.py",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let asked: BTreeSet<String> =
        lines(&sandbox, "key.jsonl").iter().map(|line| text(line, "strategy").to_owned()).collect();
    assert_eq!(asked, BTreeSet::from(["structured".to_owned()]));
}

#[test]
fn nobody_there_and_a_limit_end_it_with_what_there_is() {
    let sandbox = emitted(&["-s", "structured", "--questions", "4"]);
    let gone = sandbox.run(&[
        "probes",
        "run",
        "q",
        "--model",
        "m",
        "--base-url",
        "http://127.0.0.1:9",
        "--tries",
        "1",
    ]);
    assert_eq!(gone.code, 2);
    assert!(gone.stderr.contains("nothing was answered"), "{}", gone.stderr);
    let server = Server::start(third);
    let some = ask(&sandbox, &server, &["--max-requests", "3", "--concurrency", "1"]);
    assert_eq!((some.code, server.seen().len()), (3, 3), "{}", some.stderr);
    assert!(some.stderr.contains("3 requests is reached (--max-requests)"), "{}", some.stderr);
    assert_eq!(ask(&sandbox, &server, &[]).code, 0);
    assert_eq!(server.seen().len(), lines(&sandbox, "probes.jsonl").len());
    let dry = ask(&emitted(&["-s", "structured"]), &server, &["--dry-run"]);
    assert_eq!(dry.code, 0, "{}", dry.stderr);
    assert!(dry.stdout.contains("requests") && dry.stdout.ends_with("Nothing was sent.\n"), "{}", dry.stdout);
}

#[test]
fn cassettes_answer_without_a_server() {
    let server = Server::start(third);
    let sandbox = emitted(&["-s", "structured", "--questions", "4"]);
    assert_eq!(ask(&sandbox, &server, &["--cassettes", "tapes"]).code, 0);
    let first = bytes(&sandbox.path("q/answers.jsonl"));
    // Whoever writes the questions anew still knows where the answers came from.
    let cassettes = |sandbox: &Sandbox| {
        let record: Value = serde_json::from_slice(&bytes(&sandbox.path("q/probes.json"))).expect("JSON");
        record["cassettes"].as_array().expect("names").len()
    };
    let named = cassettes(&sandbox);
    assert_eq!(named, lines(&sandbox, "probes.jsonl").len());
    assert_eq!(emit(&sandbox, &fixture("claude-code"), &["-s", "structured", "--questions", "4"]).code, 0);
    assert_eq!(cassettes(&sandbox), named);
    for places in ["1", "6"] {
        std::fs::remove_file(sandbox.path("q/answers.jsonl")).expect("removed");
        let arguments = ["--cassettes", "tapes", "--cassette-mode", "replay", "--concurrency", places];
        let ran = sandbox.run(&[&["probes", "run", "q", "--model", "served"], &arguments[..]].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_eq!(bytes(&sandbox.path("q/answers.jsonl")), first);
    }
}

#[test]
fn answers_of_any_client_are_taken_and_damaged_lines_are_named() {
    let sandbox = emitted(&["-s", "structured", "--questions", "4"]);
    answered(&sandbox, |key, _| Some(text(key, "want").to_owned()));
    let whole = std::fs::read_to_string(sandbox.path("q/answers.jsonl")).expect("a file");
    let with = |more: &str| sandbox.file("more.jsonl", more).to_string_lossy().into_owned();
    let score = |file: &str| sandbox.run(&["probes", "score", "q", "--answers", file, "--format", "csv"]);
    let good = score(&with(&whole));
    assert_eq!(good.code, 0);
    // More fields, blank lines, CRLF: as clients write them.
    let loose =
        whole.replace('\n', "\r\n\r\n").replace("{\"answer\"", "{\"usage\":{\"tokens\":3},\"answer\"");
    assert_eq!((score(&with(&loose)).stdout, score(&with(&loose)).code), (good.stdout.clone(), 0));
    let damaged = score(&with(&format!("{whole}not json\n[1]\n{{\"answer\":\"B\"}}\n{{\"id\":7}}\n")));
    assert_eq!(damaged.code, 3);
    for line in 1..=4 {
        let line = whole.lines().count() + line;
        assert!(damaged.stderr.contains(&format!("more.jsonl:{line}: ")), "{}", damaged.stderr);
    }
    assert_eq!(damaged.stdout, good.stdout, "the rest counts");
    let torn = score(&with(&format!("{whole}{{\"id\":\"0")));
    assert_eq!(torn.code, 3);
    assert!(torn.stderr.contains("cut off"), "{}", torn.stderr);
    let foreign = score(&with(&format!("{whole}{{\"id\":\"nobody\",\"answer\":\"A\"}}\n")));
    assert!(foreign.stderr.contains("1 answer to prompts that are none of these"), "{}", foreign.stderr);
    // A run goes on behind a torn line, and does not begin on a damaged one.
    sandbox.file("q/answers.jsonl", format!("{whole}{{\"id\":\"0"));
    let server = Server::start(third);
    assert_eq!(ask(&sandbox, &server, &[]).code, 0);
    assert_eq!((server.seen().len(), lines(&sandbox, "answers.jsonl").len()), (0, whole.lines().count()));
    sandbox.file("q/answers.jsonl", format!("x\n{whole}"));
    let refused = ask(&sandbox, &server, &[]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("answers.jsonl:1: "), "{}", refused.stderr);
}

#[test]
fn what_cannot_be_done_is_said_with_its_cause() {
    let sandbox = emitted(&["-s", "structured", "--questions", "2"]);
    let log = fixture("claude-code");
    sandbox.file("other/notes.txt", "mine");
    sandbox.file("short.jsonl", "{\"role\":\"user\",\"content\":\"hello\"}\n");
    sandbox.file("foreign/key.jsonl", "{\"id\": 1, \"mine\": true}\n");
    sandbox.file("empty/probes.json", "{}");
    sandbox.file("newer/probes.json", "{\"probes_version\": 99}");
    for (arguments, expect) in [
        (vec!["probes", "score", "q"], "answers.jsonl"),
        (vec!["probes", "score", "nowhere"], "probes emit"),
        (vec!["probes", "run", "nowhere", "--model", "m"], "probes emit"),
        (vec!["probes", "run", "q"], "no model is named"),
        (vec!["probes", "run", "q", "--model", "m"], "no key"),
        (vec!["probes", "run", "q", "--model", "m", "--base-url", "http://example.com"], "--allow-http"),
        (vec!["probes", "score", "empty"], "no record of questions"),
        (vec!["probes", "score", "newer"], "newer version"),
        (vec!["probes", "emit", &log, "--out", "other"], "notes.txt"),
        (vec!["probes", "emit", &log, "--out", "foreign"], "key.jsonl"),
        (vec!["probes", "emit", &log, "--out", "empty"], "probes.json"),
        (vec!["probes", "score", "q", "--each"], "--format csv"),
        (vec!["probes", "emit", "short.jsonl", "--out", "new"], "nothing was asked"),
        (vec!["probes", "emit", "short.jsonl", "--out", "q"], "nothing was asked"),
        (vec!["probes", "emit", &log, "--out", "q", "--longest", "10"], "longer than --longest"),
        (vec!["probes", "emit", "missing.jsonl", "--out", "new"], "missing.jsonl"),
        (vec!["probes", "emit", &log, "--out", "new", "-s", "none"], "nothing is at risk"),
        (vec!["probes", "emit", &log, "--out", "new", "--at", "soon"], "names no cycles"),
        (vec!["probes", "emit", &log, "--out", "new", "--longest", "10"], "longer than --longest"),
        (vec!["probes", "emit", &log, "--out", "new", "--at", "0"], "names no cycles"),
    ] {
        let ran = sandbox.run(&arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(expect), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stdout.is_empty(), "{arguments:?}: {}", ran.stdout);
    }
    let key = std::fs::read_to_string(sandbox.path("q/key.jsonl")).expect("a file");
    sandbox.file("q/answers.jsonl", "{\"id\":\"x\",\"answer\":\"A\"}\n");
    let nothing = sandbox.run(&["probes", "score", "q"]);
    assert_eq!(nothing.code, 2, "{}", nothing.stdout);
    sandbox.file("q/key.jsonl", key.replacen("{\"id\"", "{id", 1));
    let damaged = sandbox.run(&["probes", "score", "q"]);
    assert_eq!(damaged.code, 2, "what failed left the questions as they were");
    assert!(damaged.stderr.contains("key.jsonl:1: "), "{}", damaged.stderr);
    for (file, name) in [("q/key.jsonl", "key.jsonl: holds"), ("q/probes.jsonl", "probes.jsonl: holds")] {
        sandbox.file("q/key.jsonl", &key);
        let whole = std::fs::read_to_string(sandbox.path(file)).expect("a file");
        sandbox.file(file, whole.split_inclusive('\n').skip(1).collect::<String>());
        let verb = if file.contains("key") {
            ["probes", "score", "q"].to_vec()
        } else {
            ["probes", "run", "q", "--model", "m"].to_vec()
        };
        let halved = sandbox.run(&verb);
        assert!(halved.code == 2 && halved.stderr.contains(name), "{}", halved.stderr);
        sandbox.file(file, whole);
    }
    sandbox.file("q/key.jsonl", key);
    // The questions are written anew over what is there; answers stay.
    assert_eq!(emit(&sandbox, &log, &["-s", "structured"]).code, 0);
    assert!(sandbox.path("q/answers.jsonl").exists());
}
