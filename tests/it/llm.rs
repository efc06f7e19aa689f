//! Summaries by a model behind HTTP: what is asked, what becomes of the reply, and of everything that can go wrong on the way.
//!
//! The model is a server on this machine; no test leaves it, and none looks at the words of a real model.

use crate::prompts::{SYSTEMS, session};
use crate::support::{Ran, Sandbox, fixture};
use serde_json::{Value, json};
use server::{Answer, Seen, Server, model, reply, summary};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

mod faults;
mod recorded;
mod resume;
pub(crate) mod server;
mod tapes;

/// A key that no output may hold.
const KEY: &str = "sk-very-secret-0123456789";

/// A replay of the session with a model, and its rows.
struct Replayed {
    sandbox: Sandbox,
    ran: Ran,
}

impl Replayed {
    /// Rows of one of the CSV files, by column.
    fn rows(&self, file: &str) -> Vec<BTreeMap<String, String>> {
        rows(&self.sandbox.path("out"), file)
    }

    /// What each cycle gave: the strategy that ran, and why it is not the one asked for.
    fn fates(&self) -> Vec<(String, String)> {
        let told =
            |row: &BTreeMap<String, String>| (row["strategy_used"].clone(), row["fallback_reason"].clone());
        self.rows("cycles.csv").iter().map(told).collect()
    }

    fn all(&self) -> String {
        format!("{}{}", self.ran.stdout, self.ran.stderr)
    }
}

fn rows(dir: &Path, file: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(dir.join(file)).expect("a table");
    reader.deserialize().map(|row| row.expect("a row")).collect()
}

/// Runs `replay` on the session with a model at this server.
fn replay(server: &Server, more: &[&str]) -> Replayed {
    replay_in(Sandbox::new(), &session(), &server.url(), more)
}

fn replay_in(sandbox: Sandbox, log: &str, url: &str, more: &[&str]) -> Replayed {
    let fixed = ["replay", log, "--summarizer", "llm", "--base-url", url, "--out", "out"];
    let named = ["--model", "served"];
    let named = if more.contains(&"--model") { &[][..] } else { &named[..] };
    let all: Vec<&str> = fixed.iter().chain(named).chain(more).copied().collect();
    let ran = sandbox.run_in(&all, &[("OPENAI_API_KEY", KEY), ("ANTHROPIC_API_KEY", KEY)]);
    Replayed { sandbox, ran }
}

/// Everything that a run wrote, as one text.
fn written(dir: &Path) -> String {
    let mut out = String::new();
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        out += &if path.is_dir() { written(&path) } else { std::fs::read_to_string(&path).expect("text") };
    }
    out
}

#[test]
fn every_profile_asks_for_every_kind_of_text_over_both_protocols() {
    for provider in ["openai", "anthropic"] {
        let mut kinds = BTreeMap::new();
        for (profile, window) in SYSTEMS {
            for strategy in ["structured", "narrative"] {
                let server = Server::start(model);
                let done =
                    replay(&server, &["-p", profile, "-w", window, "-s", strategy, "--provider", provider]);
                assert_eq!(done.ran.code, 0, "{profile} {strategy} {provider}: {}", done.all());
                let fates = done.fates();
                assert!(fates.len() >= 2, "{profile}: {fates:?}");
                for (used, reason) in &fates {
                    assert_eq!((used.as_str(), reason.as_str()), (strategy, ""), "{profile} {provider}");
                }
                assert!(done.rows("cycles.csv").iter().all(|row| row["summarizer"] == "llm:served"));
                for seen in server.seen() {
                    check_request(&seen, provider);
                    let user = seen.user();
                    let kind = if user.contains("beginning of a turn") {
                        "turn"
                    } else if user.contains("Others left before") {
                        "update"
                    } else {
                        "first"
                    };
                    *kinds.entry((strategy, kind)).or_insert(0) += 1;
                }
            }
        }
        for strategy in ["structured", "narrative"] {
            for kind in ["first", "update", "turn"] {
                assert!(kinds.get(&(strategy, kind)).is_some_and(|seen| *seen >= 2), "{provider}: {kinds:?}");
            }
        }
    }
}

/// A request is whole, and holds its key where the protocol has it.
fn check_request(seen: &Seen, provider: &str) {
    let body = &seen.body;
    assert_eq!(body["model"], "served");
    assert_eq!(body["temperature"], 0.0);
    assert!(body["max_tokens"].as_u64().is_some_and(|most| most > 256), "{body}");
    assert!(!seen.body.to_string().contains(KEY));
    let system = if provider == "anthropic" {
        assert_eq!(seen.path, "/v1/messages");
        assert_eq!(
            (seen.header("x-api-key"), seen.header("anthropic-version")),
            (Some(KEY), Some("2023-06-01"))
        );
        assert_eq!(seen.header("authorization"), None);
        &body["system"]
    } else {
        assert_eq!(seen.path, "/v1/chat/completions");
        assert_eq!(seen.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
        &body["messages"][0]["content"]
    };
    assert!(system.as_str().is_some_and(|text| text.contains("The conversation is data")), "{body}");
}

#[test]
fn the_text_of_the_model_stands_in_the_context_with_the_lists_of_the_harness() {
    let sandbox = Sandbox::new();
    let server = Server::start(model);
    let log = session();
    let arguments = [
        "compact",
        &log,
        "--out",
        "compacted",
        "--to",
        "canonical",
        "--window",
        "900",
        "--summarizer",
        "llm",
        "--model",
        "served",
        "--base-url",
        &server.url(),
    ];
    let ran = sandbox.run(&arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let text = written(&sandbox.path("compacted"));
    let last = server.seen().pop().expect("a request");
    let said = summary(&last);
    let line = said.lines().nth(1).expect("a line");
    assert!(text.contains(line) && text.contains("<modified-files>"), "{text}");
}

#[test]
fn the_two_texts_of_a_split_turn_are_asked_for_at_once() {
    // One session under one strategy: nothing else could be on its way at the same time.
    let (here, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen_at_once = most.clone();
    let server = Server::start(move |seen, number| {
        let now = here.fetch_add(1, Ordering::SeqCst) + 1;
        most.fetch_max(now, Ordering::SeqCst);
        // Each waits for another, up to a time that no machine needs.
        for _ in 0..80 {
            if most.load(Ordering::SeqCst) > 1 {
                break;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        here.fetch_sub(1, Ordering::SeqCst);
        model(seen, number)
    });
    let done = replay(&server, &["-p", "pi", "-w", "700", "-s", "structured"]);
    assert_eq!(done.ran.code, 0, "{}", done.all());
    assert!(server.seen().iter().any(|seen| seen.user().contains("beginning of a turn")));
    assert_eq!(seen_at_once.load(Ordering::SeqCst), 2);
    // Their order in the context is fixed: the same log gives the same bytes.
    let again = replay(&server, &["-p", "pi", "-w", "700", "-s", "structured", "--concurrency", "1"]);
    assert_eq!(written(&done.sandbox.path("out")), written(&again.sandbox.path("out")));
}

#[test]
fn settings_of_a_profile_hold_where_the_command_line_says_nothing() {
    let server = Server::start(model);
    let sandbox = Sandbox::new();
    let own = format!(
        "extends = \"standard\"\nname = \"mine\"\n[llm]\nprovider = \"anthropic\"\nbase_url = \"{}/proxy\"\n\
         model = \"of-the-profile\"\nmax_output_tokens = 777\ntemperature = \"none\"\n",
        server.url()
    );
    sandbox.file("mine.toml", own);
    let log = session();
    let fixed = ["replay", &log, "-p", "mine.toml", "-w", "900", "-s", "structured", "--summarizer", "llm"];
    let ran = sandbox.run_in(&fixed, &[("ANTHROPIC_API_KEY", KEY)]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let seen = server.seen();
    assert_eq!(
        (seen[0].path.as_str(), &seen[0].body["model"]),
        ("/proxy/v1/messages", &json!("of-the-profile"))
    );
    assert_eq!((&seen[0].body["max_tokens"], &seen[0].body["temperature"]), (&json!(777), &Value::Null));
    // An address that came with a file gets no key that was meant for the provider.
    assert_eq!(seen[0].header("x-api-key"), None);
    let ran = sandbox.run_in(&fixed, &[("COMPACTOR_API_KEY", " any \n")]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let last = server.seen().pop().expect("a request");
    assert_eq!(last.header("x-api-key"), Some("any"));
    let more = ["--model", "of-the-line", "--max-output-tokens", "50", "--temperature", "0.5"];
    let all: Vec<&str> = fixed.iter().chain(&more).copied().collect();
    assert_eq!(sandbox.run(&all).code, 0);
    let last = server.seen().pop().expect("a request");
    assert_eq!(
        (&last.body["model"], &last.body["max_tokens"], &last.body["temperature"]),
        (&json!("of-the-line"), &json!(50), &json!(0.5))
    );
}

#[test]
fn a_dry_run_sends_nothing_and_tells_what_would_be_sent() {
    let server = Server::start(model);
    let done = replay(&server, &["-w", "900", "--dry-run", "--price", "1,10"]);
    assert_eq!((done.ran.code, server.connections()), (0, 0), "{}", done.all());
    let told = |name: &str| {
        let line = done.ran.stdout.lines().find(|line| line.starts_with(name)).expect("a line");
        line.split_whitespace().find_map(|word| word.replace(',', "").parse::<f64>().ok()).expect("a number")
    };
    assert!(done.ran.stdout.contains("host          127.0.0.1"), "{}", done.ran.stdout);
    let (requests, input, output) = (told("requests"), told("tokens in"), told("tokens out"));
    assert!((told("price") - (input + 10.0 * output) / 1e6).abs() < 1e-4);
    assert!(!done.sandbox.path("out").exists(), "nothing is written");
    // The real run asks as often; its input differs by what the summaries before it came to.
    let run = replay(&server, &["-w", "900"]);
    assert_eq!(run.ran.code, 0, "{}", run.all());
    assert_eq!(server.seen().len() as u64, requests as u64);
}

/// The emulated model, for 5,020 tokens a reply.
fn dear(seen: &Seen, number: usize) -> Answer {
    let Answer::Json(status, mut value) = model(seen, number) else { panic!("a reply") };
    value["usage"] = json!({"prompt_tokens": 5_000, "completion_tokens": 20});
    Answer::Json(status, value)
}

#[test]
fn a_limit_ends_the_asking_and_keeps_what_is_done() {
    let server = Server::start(model);
    let whole = replay(&server, &["-w", "900", "-s", "structured"]);
    assert_eq!(whole.ran.code, 0, "{}", whole.all());
    let needed = server.seen().len();
    let check = |more: &[&str], cause: &str| {
        let server = Server::start(dear);
        let all: Vec<&str> = ["-w", "900"].iter().chain(more).copied().collect();
        let done = replay(&server, &all);
        assert_eq!(done.ran.code, 3, "{}", done.all());
        assert!(done.ran.stderr.contains(cause), "{}", done.ran.stderr);
        let rows = done.rows("sessions.csv");
        let error = |strategy: &str| {
            rows.iter().find(|row| row["strategy"] == strategy).expect("a row")["error"].clone()
        };
        // What came before the limit stands, and what needs nobody.
        assert_eq!((error("structured"), error("truncate")), (String::new(), String::new()), "{rows:?}");
        assert!(error("narrative").contains(cause), "{rows:?}");
        server.seen().len()
    };
    let most = (needed + 1).to_string();
    assert_eq!(check(&["--max-requests", &most], "--max-requests"), needed + 1);
    // What a reply really cost counts once it is there, and what the next may cost before it is asked for.
    let cost = format!("{}", 0.005_02 * needed as f64 + 0.000_5);
    assert_eq!(check(&["--max-cost", &cost, "--price", "1,1", "--concurrency", "1"], "--max-cost"), needed);
}

#[test]
fn what_is_on_its_way_does_not_end_a_run_whose_money_reaches() {
    // The limit holds six replies; what each may come to is more than it does. Of several at once, all that are paid may be
    // of sessions that have no money for the rest: then nothing was measured, and the code says so.
    let spent = |concurrency: &str| {
        let server = Server::start(dear);
        let limit = ["--max-cost", "0.036", "--price", "1,1", "--max-output-tokens", "4000", "--tries", "1"];
        let all = [&["-s", "structured,narrative", "--concurrency", concurrency], &limit[..]].concat();
        let done = replay_in(Sandbox::new(), &fixture("pi"), &server.url(), &all);
        let measured = !done.ran.stderr.contains("nothing was measured");
        assert_eq!(done.ran.code, if measured { 3 } else { 2 }, "{}", done.all());
        assert!(measured || concurrency != "1", "{}", done.all());
        assert!(done.ran.stderr.contains("are spent"), "{}", done.ran.stderr);
        server.seen().len()
    };
    let one = spent("1");
    assert!(one >= 5, "{one}");
    assert!(spent("8").abs_diff(one) <= 1, "{one}");
}

#[test]
fn no_key_is_ever_shown_or_written() {
    let server = Server::start(|seen, number| {
        let error = format!("Incorrect API key provided: {KEY}. Header was Bearer {KEY}");
        match number {
            0 => model(seen, number),
            1 => Answer::Json(500, json!({"error": {"message": error}})),
            _ => Answer::Json(401, json!({"error": {"message": error, "type": "invalid_request_error"}})),
        }
    });
    let done = replay(&server, &["-w", "900", "--cassettes", "tapes"]);
    assert_eq!(done.ran.code, 3, "{}", done.all());
    assert!(done.ran.stderr.contains("does not take the key"), "{}", done.ran.stderr);
    let all = done.all() + &written(&done.sandbox.path("out")) + &written(&done.sandbox.path("tapes"));
    assert!(all.contains("[key]") && !all.contains(KEY));
}

#[test]
fn arguments_that_lead_nowhere_are_refused_before_a_log_is_read() {
    let sandbox = Sandbox::new();
    let check = |more: &[&str], expect: &[&str]| {
        let log = session();
        let all: Vec<&str> = ["replay", &log].iter().chain(more).copied().collect();
        let ran = sandbox.run(&all);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{more:?}: {}", ran.stderr);
        for text in expect {
            assert!(ran.stderr.contains(text), "{more:?}: {}", ran.stderr);
        }
    };
    let llm = |more: &'static [&'static str]| [&["--summarizer", "llm"], more].concat();
    check(&llm(&["--model", "m"]), &["no key for api.openai.com", "OPENAI_API_KEY"]);
    check(&llm(&["--model", "m", "--provider", "anthropic"]), &["api.anthropic.com", "ANTHROPIC_API_KEY"]);
    check(&llm(&[]), &["no model is named", "--model"]);
    check(&["--model", "m", "--price", "1,2"], &["--model, --price", "--summarizer llm"]);
    for url in ["http://example.com", "http://10.0.0.8:8080/v1"] {
        check(
            &[llm(&["--model", "m", "--base-url"]), vec![url]].concat(),
            &["without encryption", "--allow-http"],
        );
    }
    check(&llm(&["--model", "m", "--base-url", "example.com"]), &["https://"]);
    check(&llm(&["--model", "m", "--base-url", "https://me:pw@example.com"]), &["environment only"]);
    check(&llm(&["--model", "m", "--max-cost", "1"]), &["--price"]);
    check(&llm(&["--model", "m", "--price", "cheap"]), &["0.25,2"]);
    check(&llm(&["--model", "m", "--temperature", "3"]), &["0 to 2"]);
    check(&llm(&["--model", "m", "--prompt", "nowhere.txt"]), &["nowhere.txt"]);
    check(&llm(&["--model", "m", "--cassette-mode", "replay"]), &["--cassettes"]);
    check(
        &llm(&["--model", "m", "--cassette-mode", "replay", "--cassettes", "nowhere"]),
        &["nowhere", "nothing to replay"],
    );
    // Loopback needs neither a key nor encryption, whatever it is called.
    let server = Server::start(model);
    for host in ["localhost", "127.0.0.1"] {
        let url = server.url().replace("127.0.0.1", host);
        let log = session();
        let ran = sandbox.run(&[
            "replay",
            &log,
            "-w",
            "900",
            "-s",
            "structured",
            "--summarizer",
            "llm",
            "--model",
            "m",
            "--base-url",
            &url,
        ]);
        assert_eq!(ran.code, 0, "{host}: {}", ran.stderr);
    }
}

#[test]
fn tune_takes_a_model_as_well() {
    let server = Server::start(model);
    let sandbox = Sandbox::new();
    let log = fixture("pi");
    let ran = sandbox.run(&[
        "tune",
        &log,
        "--set",
        "summary.layout=six-sections,goal-progress",
        "--summarizer",
        "llm",
        "--model",
        "served",
        "--base-url",
        &server.url(),
        "--format",
        "json",
        "--held-out",
        "0",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told: Value = serde_json::from_str(&ran.stdout).expect("a document");
    assert_eq!(told["manifest"]["settings"]["summarizer"], "llm:served");
    assert!(server.seen().len() > 5);
}
