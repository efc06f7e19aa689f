//! Everything that can go wrong between a request and its summary.

use super::{Answer, KEY, Replayed, Seen, Server, model, replay, replay_in, reply, session, written};
use crate::support::Sandbox;
use serde_json::json;
use std::time::Duration;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

/// Arguments of a replay with few and short requests.
const FEW: [&str; 4] = ["-w", "900", "-s", "structured"];

fn few(server: &Server, more: &[&str]) -> Replayed {
    replay(server, &[&FEW, more].concat())
}

/// All cycles have the summary that was asked for.
fn check_whole(done: &Replayed) {
    assert_eq!(done.ran.code, 0, "{}", done.all());
    for (used, reason) in done.fates() {
        assert_eq!((used.as_str(), reason.as_str()), ("structured", ""));
    }
}

/// The session is an error, for this reason, and nothing was measured in its place.
fn check_stopped(done: &Replayed, expect: &[&str]) {
    assert_eq!(done.ran.code, 2, "{}", done.all());
    for text in expect {
        assert!(done.ran.stderr.contains(text), "{text}: {}", done.ran.stderr);
    }
    let rows = done.rows("sessions.csv");
    assert!(rows.iter().all(|row| !row["error"].is_empty()) && !rows.is_empty(), "{rows:?}");
}

#[test]
fn what_may_pass_is_asked_again() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for status in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
        let server = runtime.block_on(async {
            let server = MockServer::start().await;
            let busy =
                ResponseTemplate::new(status).set_body_json(json!({"error": {"message": "Overloaded"}}));
            Mock::given(method("POST")).respond_with(busy).up_to_n_times(2).expect(2).mount(&server).await;
            let whole = json!({
                "choices": [{"message": {"content": "## Goal\\nGo on."}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 5, "completion_tokens": 3},
            });
            Mock::given(path("/v1/chat/completions"))
                .respond_with(ResponseTemplate::new(200).set_body_json(whole))
                .mount(&server)
                .await;
            server
        });
        let done = replay_in(Sandbox::new(), &session(), &server.uri(), &FEW);
        check_whole(&done);
        assert!(done.ran.stderr.contains("2 of them repeated"), "{status}: {}", done.ran.stderr);
        runtime.block_on(server.verify());
    }
}

#[test]
fn what_will_not_pass_is_asked_once() {
    let check = |status: u16, message: &str, expect: &[&str]| {
        let text = message.to_owned();
        let server = Server::start(move |_, _| Answer::Json(status, json!({"error": {"message": text}})));
        let done = few(&server, &["--concurrency", "1"]);
        check_stopped(&done, expect);
        assert_eq!(server.seen().len(), 1, "{status}");
    };
    check(400, "Unsupported parameter: temperature", &["HTTP 400", "temperature"]);
    check(401, "Invalid API Key", &["does not take the key", "HTTP 401"]);
    check(403, "Forbidden for your region", &["HTTP 403"]);
    check(404, "The model `served` does not exist", &["--model served", "HTTP 404"]);
    check(422, "max_tokens: field required", &["HTTP 422"]);
    check(429, "You exceeded your current quota, please check your plan and billing details.", &["payment"]);
    check(402, "Insufficient credits", &["payment"]);
    let moved = [("location", "https://elsewhere.example/v1".to_owned())];
    let server = Server::start(move |_, _| Answer::Page(308, moved.to_vec(), String::new()));
    check_stopped(&few(&server, &[]), &["elsewhere", "--base-url"]);
}

#[test]
fn a_server_is_waited_for_as_long_as_it_says() {
    let wait = |header: &'static str, value: &'static str| {
        let server = Server::start(move |seen, number| {
            if number == 0 {
                let body = json!({"error": {"message": "Rate limit reached"}}).to_string();
                return Answer::Page(429, vec![(header, value.to_owned())], body);
            }
            model(seen, number)
        });
        let start = std::time::Instant::now();
        let done = few(&server, &["--tries", "2"]);
        (done, start.elapsed())
    };
    let (done, took) = wait("retry-after", "2");
    check_whole(&done);
    assert!(took >= Duration::from_secs(2), "{took:?}");
    // One that asks for an hour is not waited for.
    let (done, _) = wait("retry-after", "3600");
    let fates = done.fates();
    assert_eq!(fates[0].0, "truncate", "{fates:?}");
    assert!(fates[0].1.contains("asks to wait 3600 s"), "{fates:?}");
}

/// The beginning of a reply that is said to be longer.
fn half() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{\"choices\"".to_vec()
}

#[test]
fn no_answer_is_a_failure_of_the_summary_and_none_of_the_run() {
    let check = |answer: fn() -> Answer, expect: &str| {
        let server =
            Server::start(move |seen, number| if number < 2 { answer() } else { model(seen, number) });
        let done = few(&server, &["--tries", "2", "--timeout", "1"]);
        // Figures of a text that nobody asked for are among the others.
        assert_eq!(done.ran.code, 3, "{}", done.all());
        let fates = done.fates();
        assert_eq!(fates[0].0, "truncate", "{fates:?}");
        assert!(fates[0].1.contains("after 2 tries") && fates[0].1.contains(expect), "{fates:?}");
        assert!(fates[1..].iter().all(|fate| fate.0 == "structured"), "{fates:?}");
        assert_eq!(done.rows("cycles.csv")[0]["summary_degraded"], "true");
    };
    check(|| Answer::Silence(Duration::from_secs(3)), "--timeout");
    check(|| Answer::Bytes(vec![], Duration::ZERO), "connection");
    check(|| Answer::Bytes(vec![half()], Duration::ZERO), "broke off");
    // Begun, and then nothing more.
    check(|| Answer::Bytes(vec![half()], Duration::from_secs(3)), "");
    // Ends where the server says that it ends, in the middle of the JSON.
    check(|| Answer::Page(200, vec![], "{\"choices\": [{\"message\": {\"cont".to_owned()), "damaged JSON");
    check(|| Answer::Json(503, json!({"error": {"message": "Loading model", "code": 503}})), "Loading model");
}

#[test]
fn a_reply_in_pieces_that_split_a_character_is_read() {
    let server = Server::start(|seen, _| {
        let body = reply(seen, "## Goal\n定时任务 läuft: 早上三点", "stop").to_string().into_bytes();
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
        let mut pieces = vec![head.to_vec()];
        for part in body.chunks(7) {
            pieces.push([format!("{:x}\r\n", part.len()).as_bytes(), part, b"\r\n"].concat());
        }
        pieces.push(b"0\r\n\r\n".to_vec());
        Answer::Bytes(pieces, Duration::ZERO)
    });
    check_whole(&few(&server, &[]));
}

#[test]
fn what_is_no_model_is_told_from_one() {
    let check = |answer: fn() -> Answer, expect: &[&str]| {
        let server = Server::start(move |_, _| answer());
        check_stopped(&few(&server, &[]), expect);
    };
    let html = || {
        Answer::Page(
            200,
            vec![("content-type", "text/html".to_owned())],
            "<!doctype html><title>Log in</title>".to_owned(),
        )
    };
    check(html, &["web page", "Log in", "--base-url"]);
    check(|| Answer::Json(200, json!({"status": "ok"})), &["no reply of the protocol", "--provider"]);
    check(|| Answer::Json(200, json!([1, 2])), &["no reply of the protocol"]);
    check(|| Answer::Page(200, vec![], "x".repeat((10 << 20) + 1)), &["more than 10 MB"]);
    // Nobody is there at all.
    let done =
        replay_in(Sandbox::new(), &session(), "http://127.0.0.1:1", &[&FEW[..], &["--tries", "1"]].concat());
    check_stopped(&done, &["127.0.0.1:1 cannot be reached", "--base-url"]);
}

/// Replies that are no summary, by what OpenAI calls their end.
const NO_SUMMARY: [(&str, &str, &str); 6] = [
    ("", "stop", "no text"),
    (" \n\t", "stop", "no text"),
    ("<think>What did they want?</think>\n", "stop", "nothing but reasoning"),
    ("<think>What did they", "stop", "nothing but reasoning"),
    ("## Goal\nPort the", "length", "cut short"),
    ("I call a tool.", "tool_calls", "calls a tool"),
];

#[test]
fn what_is_no_summary_follows_the_rule_of_the_policy() {
    for provider in ["openai", "anthropic"] {
        for (text, end, expect) in NO_SUMMARY {
            let check = |profile: &str, window: &str, used: &str| {
                let server = Server::start(move |seen, _| Answer::Json(200, reply(seen, text, end)));
                let done = replay(
                    &server,
                    &["-p", profile, "-w", window, "-s", "structured", "--provider", provider],
                );
                let rows = done.rows("cycles.csv");
                let first = rows.first().unwrap_or_else(|| panic!("{profile} {text:?}: {}", done.all()));
                let told = (&first["strategy_used"], &first["fallback_reason"], &first["summary_degraded"]);
                assert!(
                    told.0 == used && told.1.contains(expect) && told.2 == "true",
                    "{profile} {provider} {text:?} {end}: {told:?}"
                );
            };
            check("standard", "900", "truncate");
            if end == "length" || end == "tool_calls" {
                check("pi", "700", "none");
                // These take what comes, and the row says so.
                check("opal", "900", "structured");
            } else if text.is_empty() {
                check("opal", "900", "truncate");
                check("sven", "1700", "emergency");
                check("operator-use", "500", "structured");
            }
        }
    }
}

#[test]
fn a_refusal_of_the_provider_is_a_failure() {
    for provider in ["openai", "anthropic"] {
        let server = Server::start(|seen, _| Answer::Json(200, reply(seen, "", "content_filter")));
        let done = few(&server, &["--provider", provider]);
        let fates = done.fates();
        assert!(fates[0].0 == "truncate" && fates[0].1.contains("refused to write"), "{fates:?}");
    }
}

#[test]
fn reasoning_in_front_of_a_summary_is_none_of_it() {
    let server = Server::start(|seen, _| {
        Answer::Json(200, reply(seen, "<think>They said never.</think>\n\n## Goal\nA summary.", "stop"))
    });
    let done = few(&server, &[]);
    check_whole(&done);
    let later = &server.seen()[1];
    assert!(
        later.user().contains("A summary.") && !later.user().contains("They said never"),
        "{}",
        later.user()
    );
}

#[test]
fn a_conversation_that_is_too_long_is_shortened_until_it_passes() {
    /// What servers say, and whether it tells the numbers.
    type Says = fn(u64, u64) -> (u16, serde_json::Value);
    let says: [Says; 4] = [
        |used, limit| {
            (
                400,
                json!({"error": {
                    "code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": used, "n_ctx": limit,
                    "message": format!("request ({used} tokens) exceeds the available context size ({limit} tokens), try increasing it"),
                }}),
            )
        },
        |used, limit| {
            (
                400,
                json!({"error": {
                    "message": format!("This model's maximum context length is {limit} tokens. However, your messages resulted in {used} tokens."),
                    "code": "context_length_exceeded",
                }}),
            )
        },
        |used, limit| {
            (
                400,
                json!({"type": "error", "error": {
                    "type": "invalid_request_error", "message": format!("prompt is too long: {used} tokens > {limit} maximum"),
                }}),
            )
        },
        |_, _| {
            (
                413,
                json!({"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}),
            )
        },
    ];
    for (number, says) in says.into_iter().enumerate() {
        for rule in ["middle", "split"] {
            let server = Server::start(move |seen, at| {
                // About four bytes to a token.
                let used = seen.user().len() as u64 / 4;
                if used > 700 {
                    let (status, body) = says(used, 700);
                    return Answer::Json(status, body);
                }
                model(seen, at)
            });
            let sandbox = Sandbox::new();
            let own =
                format!("extends = \"standard\"\nname = \"mine\"\n[prompt.ask]\ntoo_long = \"{rule}\"\n");
            sandbox.file("mine.toml", own);
            let arguments =
                ["-p", "mine.toml", "-w", "1300", "-s", "structured", "--max-output-tokens", "100"];
            let done = replay_in(sandbox, &session(), &server.url(), &arguments);
            assert_eq!(done.ran.code, 0, "{}", done.all());
            for (used, reason) in done.fates() {
                assert!(
                    used == "structured" && (reason.is_empty() || reason.contains("left out")),
                    "{reason}"
                );
            }
            let seen = server.seen();
            let lengths: Vec<usize> = seen.iter().map(|seen| seen.user().len()).collect();
            assert!(lengths.iter().any(|length| length / 4 > 700), "{number} {rule}: {lengths:?}");
            let note = "tokens of the conversation are left out here";
            let noted = seen.iter().any(|seen| seen.user().contains(note));
            let passed = lengths.iter().filter(|length| **length / 4 <= 700).count();
            match rule {
                "middle" => assert!(noted && passed == done.fates().len(), "{number}: {lengths:?}"),
                // A message that alone is too long loses its middle all the same.
                _ => assert!(passed > done.fates().len(), "{number}: {lengths:?}"),
            }
        }
    }
}

#[test]
fn what_can_never_be_short_enough_is_a_failure() {
    let server = Server::start(|_, _| {
        Answer::Json(400, json!({"error": {"message": "prompt is too long: 900000 tokens > 10 maximum"}}))
    });
    let done = few(&server, &[]);
    assert_eq!(done.ran.code, 0, "{}", done.all());
    let fates = done.fates();
    assert!(fates[0].0 == "truncate" && fates[0].1.contains("short enough"), "{fates:?}");
    assert!(server.seen().len() < 10 * fates.len(), "{}", server.seen().len());
}

#[test]
fn a_limit_of_output_that_the_server_names_is_kept() {
    let server = Server::start(|seen, number| {
        if seen.body["max_tokens"].as_u64() > Some(300) {
            let text = "max_tokens is too large: 5000. This model supports at most 300 completion tokens.";
            return Answer::Json(400, json!({"error": {"message": text}}));
        }
        model(seen, number)
    });
    check_whole(&few(&server, &["--max-output-tokens", "5000"]));
    assert!(server.seen().iter().any(|seen| seen.body["max_tokens"] == 300));
}

#[test]
fn a_text_longer_than_the_budget_is_cut_and_its_lists_stay() {
    let server = Server::start(|seen, _| {
        let text = format!("## Goal\n{}", "All that was said, once more. ".repeat(400));
        Answer::Json(200, reply(seen, &text, "stop"))
    });
    let done = few(&server, &["--summary-tokens", "200"]);
    assert_eq!(done.ran.code, 0, "{}", done.all());
    for row in done.rows("cycles.csv") {
        let tokens: u64 = row["tokens_summary"].parse().expect("a number");
        assert!(tokens <= 200 && tokens > 150, "{tokens}");
        assert!(!row["files_modified_kept"].is_empty());
    }
    // Each text was asked for once, whatever became of it.
    let seen = server.seen();
    assert_eq!(seen.len(), done.rows("cycles.csv").len());
}

#[test]
fn a_server_that_drips_is_left_in_time() {
    let server = Server::start(|_, _| {
        let head =
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9000\r\n\r\n".to_vec();
        let drops = (0..9_000).map(|_| b" ".to_vec());
        Answer::Bytes(std::iter::once(head).chain(drops).collect(), Duration::from_millis(200))
    });
    let done = few(&server, &["--tries", "1", "--timeout", "1"]);
    assert_eq!(done.ran.code, 3, "{}", done.all());
    assert!(done.fates()[0].1.contains("--timeout"), "{:?}", done.fates());
    assert!(done.ran.stderr.contains("did not come from the model"), "{}", done.ran.stderr);
}

#[test]
fn a_key_that_comes_back_goes_nowhere() {
    let check = |answer: fn(&Seen) -> Answer| {
        let server = Server::start(move |seen, _| answer(seen));
        let done = few(&server, &["--tries", "1", "--cassettes", "tapes"]);
        let mut all = done.all() + &written(&done.sandbox.path("out"));
        if done.sandbox.path("tapes").exists() {
            all += &written(&done.sandbox.path("tapes"));
        }
        // Not even the beginning of it, where a text was cut.
        assert!(all.contains("[key]") && !all.contains("sk-very"), "{}", done.all());
    };
    check(|seen| Answer::Json(200, reply(seen, &format!("## Goal\nUse {KEY}."), "stop")));
    check(|_| Answer::Json(400, json!({"error": {"message": format!("{}{KEY}", "x".repeat(390))}})));
    check(|_| Answer::Page(500, vec![], format!("<p>{KEY}</p>")));
}

#[test]
fn ends_that_are_none_are_told() {
    for (end, used) in [
        ("error", "truncate"),
        ("MAX_TOKENS", "truncate"),
        ("model_length", "truncate"),
        ("eos", "structured"),
    ] {
        let server = Server::start(move |seen, _| Answer::Json(200, reply(seen, "## Goal\nGo on.", end)));
        assert_eq!(few(&server, &[]).fates()[0].0, used, "{end}");
    }
    for text in ["They want rows.\n</think>\n", "<thinking>only</thinking>", "\u{200b}"] {
        let server = Server::start(move |seen, _| Answer::Json(200, reply(seen, text, "stop")));
        assert_eq!(few(&server, &[]).fates()[0].0, "truncate", "{text:?}");
    }
}
