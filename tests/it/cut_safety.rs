//! What may be cut and what has to stay together: calls with their results, requests, reasoning, rules, nothing empty.

use crate::logs::{
    agent, call, claude, claude_agent, claude_user, codes, compacted, done, jsonl, long_work, pi, sent,
    session, step, user,
};
use compactor::context::{Context, Entry};
use compactor::export::anthropic::check_anthropic;
use compactor::export::openai::check_openai;
use compactor::export::{CompactSettings, OutputName, Target, Written, write_compacted};
use compactor::facts::FactSet;
use compactor::ingest::ingest;
use compactor::profile::Profile;
use compactor::replay::effects;
use compactor::results::compacted::CompactReport;
use compactor::run::{WindowChoice, Windows};
use compactor::strategy::Strategy;
use compactor::summarize::extractive::Extractive;
use compactor::summarize::{SummarizeError, Summarizer, SummaryRequest};
use compactor::tokens::{MESSAGE_OVERHEAD, TokenIndex, Tokenizer};
use compactor::transcript::{Message, MessageIdx, Outcome, Part, Role, Transcript};
use serde_json::{Value, json};

/// The strategies that write something.
const WRITING: [Strategy; 4] =
    [Strategy::Structured, Strategy::Narrative, Strategy::Truncate, Strategy::Emergency];

fn write(log: &str, strategy: Strategy, to: Target, summarizer: &dyn Summarizer) -> Written {
    let settings = CompactSettings {
        profile: Profile::standard(),
        strategy,
        windows: Windows::Given(vec![WindowChoice::Auto]),
        summary_tokens: None,
        tokenizer: Tokenizer::O200k,
        to,
        session: None,
    };
    let name = OutputName::of("log.jsonl");
    let ingested = ingest(log.as_bytes(), "log.jsonl");
    write_compacted(log.as_bytes(), "log.jsonl", &name, &ingested, &settings, summarizer)
}

/// What a session is written as, and the report of it.
fn written(log: &str, strategy: Strategy, to: Target) -> (String, CompactReport) {
    let mut written = write(log, strategy, to, &Extractive);
    assert_eq!(written.outputs.len(), 1, "{strategy}: {:?}", written.unchanged);
    let mut output = written.outputs.remove(0);
    (String::from_utf8(output.bytes).expect("UTF-8"), output.reports.remove(0).1)
}

/// A session as a request of either API, which takes it.
fn requested(log: &str, strategy: Strategy, to: Target) -> (Value, CompactReport) {
    let (text, report) = written(log, strategy, to);
    let request: Value = serde_json::from_str(&text).expect("JSON");
    let problems = if to == Target::Openai { check_openai(&request) } else { check_anthropic(&request) };
    assert_eq!(problems, Vec::<String>::new(), "{strategy}: {request}");
    (request, report)
}

/// Messages of a request.
fn messages(request: &Value) -> &[Value] {
    request["messages"].as_array().expect("messages")
}

/// Files that were modified by the end of a session.
fn modified(transcript: &Transcript) -> Vec<String> {
    let ledger = FactSet::extract(transcript, &effects(transcript)).ledger;
    let end = MessageIdx::new(transcript.messages.len());
    ledger.modified_at(end).into_iter().map(str::to_owned).collect()
}

fn edit(path: &str) -> Value {
    json!({"path": path, "oldText": "a", "newText": "b"})
}

/// A context that keeps everything.
fn whole(transcript: &Transcript) -> Context {
    let end = transcript.messages.len();
    let entries = (0..end).map(|at| Entry::Kept(MessageIdx::new(at))).collect();
    Context { entries, now: MessageIdx::new(end), ..Context::default() }
}

#[test]
fn a_call_still_running_at_the_end_stays_and_counts_as_nothing_done() {
    let mut entries = long_work(20);
    entries.extend([user("And the footer"), call("late", "edit", &edit("/w/footer.css"))]);
    let log = pi(&entries);
    let (transcript, read) = session(&log);
    assert_eq!(codes(&read), [""; 0], "an open call is no damage");
    assert_eq!(transcript.links.last().map(|link| link.result), Some(None));
    assert!(!modified(&transcript).contains(&"/w/footer.css".to_owned()));
    // A request needs an answer to it, which says that it is none, and the report says so.
    let (request, report) = requested(&log, Strategy::Structured, Target::Openai);
    let [.., asks, answer] = messages(&request) else { panic!("{request}") };
    assert_eq!(asks["tool_calls"][0]["id"], "late");
    assert_eq!(
        (&answer["tool_call_id"], &answer["content"]),
        (&json!("late"), &json!("(no result was recorded)"))
    );
    let note = "1 call without a result in the log: answered by a placeholder";
    assert_eq!(report.notes, [note]);
    assert!(!report.files.modified.iter().any(|path| path.contains("footer")), "{report:?}");
    // Where the form has room for an open call, it stays open; the log itself is not touched.
    let (text, _) = written(&log, Strategy::Structured, Target::Canonical);
    let (again, _) = session(&text);
    assert_eq!(again.links.last().map(|link| link.result), Some(None));
    assert_eq!(again.call(again.links.last().expect("a call")).map(|call| call.id.as_str()), Some("late"));
    let (text, _) = written(&log, Strategy::Structured, Target::Same);
    assert!(text.starts_with(&log));
}

#[test]
fn a_call_that_was_never_answered_is_told_as_nothing_done_when_it_leaves() {
    let mut entries = vec![user("Widen the header"), call("gone", "edit", &edit("/w/header.css"))];
    entries.push(user("Stop, look at the gallery first"));
    entries.extend(long_work(20));
    let (transcript, _) = session(&pi(&entries));
    for trace in compacted(&transcript, Strategy::Structured, 3, &Extractive).cycles {
        assert!(trace.cut.cut > 2, "the call has left");
        assert!(trace.lists.modified.iter().all(|path| !path.contains("header.css")), "{:?}", trace.lists);
    }
}

#[test]
fn of_two_results_for_one_call_the_completed_one_counts_once() {
    let aborted = json!({"type": "message", "message": {
        "role": "toolResult", "toolCallId": "a", "content": [{"type": "text", "text": "aborted"}], "isError": true}});
    let applied = done("a", "applied");
    let second = done("a", "applied again");
    for (results, stays) in [
        ([&applied, &aborted], "applied"),
        ([&aborted, &applied], "applied"),
        ([&applied, &second], "applied"),
    ] {
        let mut entries = vec![user("Widen the header"), call("a", "edit", &edit("/w/header.css"))];
        entries.extend(results.map(Clone::clone));
        entries.push(agent("It is wider."));
        let (transcript, read) = session(&pi(&entries));
        assert_eq!(codes(&read), ["duplicate-result"]);
        let [link] = transcript.links[..] else { panic!("{:?}", transcript.links) };
        let result = transcript.result(&link).expect("a result");
        assert_eq!((result.text.as_str(), result.outcome), (stays, Outcome::Ok), "{results:?}");
        assert_eq!(
            sent(&whole(&transcript), &transcript).iter().filter(|it| it.contains("result a")).count(),
            1
        );
        assert_eq!(modified(&transcript), ["/w/header.css"]);
    }
}

#[test]
fn the_only_request_survives_a_long_chain_of_calls_as_words_of_the_user() {
    let asks = "Find out which of the sixty modules leaks and mend only that one";
    let mut lines =
        vec![json!({"role": "system", "content": "Be careful."}), json!({"role": "user", "content": asks})];
    for n in 0..60 {
        let function = json!({"name": "run", "arguments": format!("{{\"module\": {n}}}")});
        lines.push(json!({"role": "assistant", "content": null,
            "tool_calls": [{"id": format!("c{n}"), "type": "function", "function": function}]}));
        let text = format!("module {n} holds its memory ").repeat(20);
        lines.push(json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": text}));
    }
    let log = jsonl(&lines);
    for strategy in WRITING {
        for to in [Target::Openai, Target::Anthropic] {
            let (request, report) = requested(&log, strategy, to);
            assert!(report.tokens_after * 2 < report.tokens_session, "{report:?}");
            let says = |message: &Value| match &message["content"] {
                Value::Array(blocks) => blocks.iter().any(|block| block["text"] == asks),
                content => *content == asks,
            };
            let mut by_user = messages(&request).iter().filter(|message| message["role"] == "user");
            assert!(by_user.any(says), "word for word: {request}");
        }
    }
}

#[test]
fn a_message_larger_than_what_may_stay_is_cut_with_a_marker() {
    let huge = format!(
        "Sort this list, smallest first. {} That was all of it.",
        "apples pears plums ".repeat(3_000)
    );
    for before in [0, 10] {
        let mut entries = long_work(before);
        entries.extend([user(&huge), agent("Sorted.")]);
        let log = pi(&entries);
        for strategy in WRITING {
            let (request, report) = requested(&log, strategy, Target::Openai);
            assert_eq!(report.messages_clipped, 1, "{report:?}");
            // A quarter of the window at most, and what else stays is small.
            assert!(report.tokens_after < report.window / 2, "{report:?}");
            let text = request.to_string();
            for part in ["Sort this list, smallest first.", "That was all of it.", "left out"] {
                assert!(text.contains(part), "{strategy} {part}");
            }
        }
    }
}

/// A session with a reply of a reasoning model, logged a block a line; `cumulative`: each line holds the blocks before it, too.
fn reasoned(cumulative: bool) -> String {
    let blocks = [
        json!({"type": "thinking", "thinking": "The cache is keyed by path, so a rename misses it.", "signature": "c2lnbmVk"}),
        json!({"type": "text", "text": "I look at the cache."}),
        json!({"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/w/cache.rs"}}),
    ];
    let mut records = vec![claude_user("Why does a rename miss the cache?")];
    for at in 0..blocks.len() {
        let mut record = claude_agent("r1", "");
        let from = if cumulative { 0 } else { at };
        record["message"]["content"] = blocks[from..=at].to_vec().into();
        records.push(record);
    }
    let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": "fn key(path: &Path) {}"}]);
    let mut answer = claude_user("");
    answer["message"]["content"] = result;
    records.push(answer);
    records.push(claude_agent("r2", "The key is the path."));
    claude(&records)
}

#[test]
fn a_reply_with_reasoning_is_one_message_that_counts_its_reasoning_once() {
    for cumulative in [false, true] {
        let (transcript, _) = session(&reasoned(cumulative));
        let reply = &transcript.messages[1];
        assert!(matches!(reply.parts[..], [Part::Thinking(_), Part::Text(_), Part::Call(_)]), "{reply:?}");
        assert_eq!(transcript.messages.len(), 4, "no cut can fall inside it");
        let o200k = Tokenizer::O200k;
        let expected = o200k.count("The cache is keyed by path, so a rename misses it.")
            + o200k.count("I look at the cache.")
            + o200k.count("Read")
            + o200k.count("{\"file_path\":\"/w/cache.rs\"}");
        let tokens = TokenIndex::new(&transcript, o200k);
        assert_eq!(tokens.message(MessageIdx::new(1)), expected + MESSAGE_OVERHEAD);
    }
}

#[test]
fn reasoning_stays_untouched_in_its_log_and_leaves_a_request_as_a_whole() {
    let mut records: Vec<Value> = Vec::new();
    for n in 0..20 {
        records.push(claude_user(&format!("What of point {n}?")));
        records.push(claude_agent(&format!("p{n}"), &"well considered and said at length ".repeat(20)));
    }
    let talk = claude(&records);
    // The reply with reasoning is the last thing said, hence kept.
    let log = talk.clone() + &reasoned_behind(&records);
    let (text, _) = written(&log, Strategy::Structured, Target::Same);
    assert!(text.starts_with(&log), "no byte of a kept reply is changed");
    for to in [Target::Openai, Target::Anthropic] {
        let (request, report) = requested(&log, Strategy::Structured, to);
        let text = request.to_string();
        assert!(text.contains("I look at the cache.") && text.contains("/w/cache.rs"), "{text}");
        assert!(!text.contains("keyed by path") && !text.contains("c2lnbmVk"), "{text}");
        assert!(report.notes.iter().any(|note| note.starts_with("1 thinking block left out")), "{report:?}");
    }
}

/// The records of a reply with reasoning, going on behind others.
fn reasoned_behind(before: &[Value]) -> String {
    let last = before.len();
    let lines = reasoned(false);
    let moved = lines.lines().enumerate().map(|(at, line)| {
        let mut record: Value = serde_json::from_str(line).expect("JSON");
        record["uuid"] = json!(format!("u{}", last + at));
        record["parentUuid"] = json!(format!("u{}", last + at - 1));
        format!("{record}\n")
    });
    moved.collect()
}

#[test]
fn nothing_empty_is_sent_and_no_silent_result_is_dropped() {
    let calls =
        |id: &str| json!([{"id": id, "type": "function", "function": {"name": "run", "arguments": "{}"}}]);
    let log = jsonl(&[
        json!({"role": "user", "content": "Clean up"}),
        json!({"role": "assistant", "content": ""}),
        json!({"role": "assistant", "content": "", "tool_calls": calls("silent")}),
        json!({"role": "tool", "tool_call_id": "silent", "content": ""}),
        json!({"role": "assistant", "content": " \n", "tool_calls": calls("blank")}),
        json!({"role": "tool", "tool_call_id": "blank", "content": "\n"}),
        json!({"role": "assistant", "content": "", "reasoning_content": "Is that all?"}),
        json!({"role": "assistant", "content": "  "}),
        json!({"role": "user", "content": "Thanks"}),
    ]);
    let (transcript, _) = session(&log);
    let context = whole(&transcript);
    assert_eq!(
        sent(&context, &transcript),
        [
            "U Clean up",
            "A call silent",
            "T result silent",
            "A call blank",
            "T result blank",
            "A Is that all?",
            "U Thanks"
        ]
    );
    let (text, _) = compactor::export::openai::document(&transcript, &context);
    let openai: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(check_openai(&openai), Vec::<String>::new());
    let shown: Vec<(&str, &Value)> = messages(&openai)
        .iter()
        .map(|message| (message["role"].as_str().expect("a role"), &message["content"]))
        .collect();
    let (null, silent) = (Value::Null, json!("(no output)"));
    let (clean, thanks) = (json!("Clean up"), json!("Thanks"));
    // A reply of reasoning alone is nothing once its reasoning has gone.
    let expected = [
        ("user", &clean),
        ("assistant", &null),
        ("tool", &silent),
        ("assistant", &null),
        ("tool", &silent),
        ("user", &thanks),
    ];
    assert_eq!(shown, expected);
    let (text, _) = compactor::export::anthropic::document(&transcript, &context);
    let anthropic: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(check_anthropic(&anthropic), Vec::<String>::new(), "{anthropic}");
    assert_eq!(text.matches("(no output)").count(), 2, "{text}");
}

#[test]
fn rules_of_the_system_stay_whole_and_in_order_however_late_they_came() {
    let first =
        format!("You follow the house rules. {}The last rule is the first.", "Rule by rule. ".repeat(400));
    let late = "From now on answer in French.";
    let later = "Never touch the vendor folder.";
    let mut lines = vec![json!({"role": "system", "content": first})];
    for n in 0..150 {
        lines.push(json!({"role": "user", "content": format!("What of point {n}?")}));
        lines.push(json!({"role": "assistant", "content": "well considered and said at length ".repeat(20)}));
        match n {
            10 => lines.push(json!({"role": "system", "content": late})),
            20 => lines.push(json!({"role": "developer", "content": later})),
            _ => {}
        }
    }
    let log = jsonl(&lines);
    for strategy in WRITING {
        let (request, report) = requested(&log, strategy, Target::Openai);
        assert_eq!(messages(&request)[0]["content"], format!("{first}\n\n{late}\n\n{later}"), "{strategy}");
        assert!(report.dropped.iter().all(|left| left.role != "system"), "{report:?}");
        let (request, _) = requested(&log, strategy, Target::Anthropic);
        assert_eq!(request["system"], format!("{first}\n\n{late}\n\n{later}"), "{strategy}");
        let (transcript, _) = session(&log);
        for trace in compacted(&transcript, strategy, 2, &Extractive).cycles {
            let sent = trace.context.serialize(&transcript);
            let system = sent.iter().filter(|message| message.role == Role::System).count();
            let so_far = transcript.messages[..trace.cut.trigger].iter().filter(|it| it.role == Role::System);
            assert_eq!(system, so_far.count(), "{strategy}");
        }
    }
}

/// Words of the user with results of tools in one message.
fn answering(results: &[(&str, &str)], text: &str) -> Value {
    let mut blocks: Vec<Value> = results
        .iter()
        .map(|(id, text)| json!({"type": "tool_result", "tool_use_id": id, "content": text}))
        .collect();
    if !text.is_empty() {
        blocks.insert(0, json!({"type": "text", "text": text}));
    }
    let mut record = claude_user("");
    record["message"]["content"] = blocks.into();
    record
}

/// A reply that calls tools.
fn calling(reply: &str, ids: &[&str]) -> Value {
    let blocks = ids
        .iter()
        .map(|id| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}}));
    let mut record = claude_agent(reply, "");
    record["message"]["content"] = blocks.collect();
    record
}

#[test]
fn a_result_whose_call_lies_before_the_log_is_no_result_and_the_words_beside_it_stay() {
    let mut summary = claude_user("The build was started.");
    summary["isCompactSummary"] = json!(true);
    let records = [
        summary,
        answering(&[("t1", "built")], "Now run the tests"),
        // The same id again is another call.
        calling("r1", &["t1"]),
        answering(&[("t1", "12 passed")], ""),
        claude_agent("r2", "All pass."),
    ];
    let (transcript, read) = session(&claude(&records));
    assert!(transcript.starts_compacted);
    assert!(codes(&read).contains(&"orphan-result"), "{:?}", codes(&read));
    let [link] = transcript.links[..] else { panic!("{:?}", transcript.links) };
    assert_eq!(transcript.result(&link).map(|result| result.text.as_str()), Some("12 passed"));
    let asked: Vec<String> = transcript
        .messages
        .iter()
        .filter(|it| Message::is_user_request(it))
        .map(Message::authored_text)
        .collect();
    assert_eq!(asked, ["Now run the tests"], "the result is nothing that the user said");
    let (text, _) = compactor::export::anthropic::document(&transcript, &whole(&transcript));
    let request: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(check_anthropic(&request), Vec::<String>::new(), "{request}");
    assert_eq!(text.matches("\"tool_result\"").count(), 1, "{text}");
}

#[test]
fn results_of_one_batch_logged_apart_are_one_message_where_the_api_wants_that() {
    let records = [
        claude_user("Build all three"),
        calling("r1", &["a", "b", "c"]),
        answering(&[("b", "two")], ""),
        answering(&[("a", "one")], ""),
        answering(&[("c", "three")], ""),
        claude_agent("r2", "All are built."),
    ];
    let (transcript, _) = session(&claude(&records));
    let (text, _) = compactor::export::anthropic::document(&transcript, &whole(&transcript));
    let request: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(check_anthropic(&request), Vec::<String>::new(), "{request}");
    let [_, _, answers, _] = messages(&request) else { panic!("{request}") };
    let blocks = answers["content"].as_array().expect("blocks").iter();
    let found: Vec<[&str; 2]> = blocks
        .map(|block| [&block["tool_use_id"], &block["content"]].map(|it| it.as_str().expect("a text")))
        .collect();
    assert_eq!(found, [["a", "one"], ["b", "two"], ["c", "three"]]);
}

/// A summarizer that never has anything to say.
struct Fails;

impl Summarizer for Fails {
    fn name(&self) -> &'static str {
        "fails"
    }

    fn summarize(&self, _: &SummaryRequest<'_>) -> Result<String, SummarizeError> {
        Err(SummarizeError::Nothing)
    }
}

#[test]
fn a_session_compacted_without_the_summary_asked_for_says_so() {
    let log = pi(&long_work(20));
    let written = write(&log, Strategy::Structured, Target::Openai, &Fails);
    let report = &written.outputs[0].reports[0].1;
    assert_eq!((report.strategy.as_str(), report.strategy_used.as_str()), ("structured", "truncate"));
    assert!(!report.fallback_reason.is_empty(), "{report:?}");
    let (_, fine) = requested(&log, Strategy::Structured, Target::Openai);
    assert_eq!((fine.strategy_used.as_str(), fine.fallback_reason.as_str()), ("structured", ""));
}

#[test]
fn calls_in_a_row_are_cut_only_where_all_of_them_are_answered() {
    let step = |n: usize| {
        let [first, second] = [format!("a{n}"), format!("b{n}")];
        let arguments = json!({"command": "make"});
        let text = "line of the build ".repeat(20);
        let mut entries = step(&second, "bash", &arguments, &text).to_vec();
        entries.insert(0, call(&first, "bash", &arguments));
        // `b` is answered first, `a` only after the user has spoken.
        entries.extend([user(&format!("Quick, what of {n}?")), done(&first, &text)]);
        entries
    };
    let entries: Vec<Value> = std::iter::once(user("Build it")).chain((0..40).flat_map(step)).collect();
    let (transcript, _) = session(&pi(&entries));
    for strategy in WRITING {
        for trace in compacted(&transcript, strategy, 4, &Extractive).cycles {
            let cut = trace.cut.cut;
            assert!(cut > 1, "something leaves");
            for link in &transcript.links {
                let result = link.result.expect("all are answered").message.get();
                assert!(
                    (link.call.message.get() < cut) == (result < cut),
                    "{strategy}: {cut} parts {link:?}"
                );
            }
        }
    }
}
