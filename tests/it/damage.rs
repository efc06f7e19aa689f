//! Logs that are damaged, odd, huge or strung together: read, repaired or named, never lost in silence.
//!
//! The cases, by their letters; `owner/repo#N` is a public issue. Here, in [`bytes`], [`records`] and [`files`], are E01 to E13, and
//! those of the cases A (what belongs together) that a reader decides on. What others test already:
//!
//! | case | right | tested in |
//! |---|---|---|
//! | A03 anomalyco/opencode#27594 | an open call stays open | `cut_safety::a_call_still_running_at_the_end_stays_and_counts_as_nothing_done` |
//! | A06 charmbracelet/crush#3121 | the first completed result of a call | `cut_safety::of_two_results_for_one_call_the_completed_one_counts_once` |
//! | A11 anomalyco/opencode#6446 | nothing empty, no result dropped | `cut_safety::nothing_empty_is_sent_and_no_silent_result_is_dropped` |
//! | A13 earendil-works/pi#4570 | an orphan is no result, the words beside it stay | `cut_safety::a_result_whose_call_lies_before_the_log_is_no_result_and_the_words_beside_it_stay` |
//! | C01 ccusage/ccusage#888 | lines of one reply counted once | `accounting::a_reply_on_several_lines_is_counted_once_with_its_last_usage` |
//! | C02 anomalyco/opencode#4416 | caches once, reasoning in the output | `accounting::caches_are_in_the_prompt_once_and_reasoning_is_in_the_output` |
//! | C04 earendil-works/pi#1860 | usage ends at a compaction | `accounting::usage_from_before_a_compaction_says_nothing_of_the_context_behind_it` |
//! | C05 earendil-works/pi#5278 | zero or no usage is none | `accounting::usage_that_is_missing_zero_or_far_too_small_changes_no_count` |
//! | C06 ccusage/ccusage#1460 | a running total that repeats is no response | `accounting::running_totals_that_repeat_are_no_new_response_and_equal_responses_are_two` |
//! | C07 openai/codex#12717 | an image is no text | `accounting::an_image_costs_what_images_cost_however_its_bytes_are_written` |
//! | C08 anthropics/claude-code#13820 | a sub-agent's usage is its own | `accounting::the_usage_of_a_sub_agent_is_not_that_of_the_session` |
//! | C10 anthropics/claude-code#36014 | a window has a source | `accounting::a_window_has_a_source_and_an_unknown_model_is_said_to_have_the_default` |
//! | E01 E03 E10 | line by line, in units | `src/ingest/lines/tests.rs` |
//! | E04 | batches of a stream change nothing | `src/ingest/stream/tests.rs` |
//! | E05 | rewinds, parallel results, compactions, relinked messages | `src/ingest/claude_code/tests.rs` |
//! | E07 | damaged and foreign archives | `src/discover/tests.rs` |

mod bytes;
mod files;
mod records;

use crate::logs::{claude_user, codex, codex_says, item, jsonl, pi};
use compactor::diagnostic::Severity;
use compactor::ingest::{Ingested, ingest, ingest_stream};
use compactor::transcript::{Message, Part, Role, Transcript};
use serde_json::{Value, json};
use std::io::{Cursor, Read};

/// Every byte is accounted for, and nothing is left out without a word: the promise for every input.
fn check_promise(read: &Ingested, size: usize, name: &str) {
    assert_eq!(read.bytes.total(), size as u64, "{name}: {:?}", read.bytes);
    let told = read
        .diagnostics
        .iter()
        .any(|it| it.severity > Severity::Note || it.code == "part-of-log" || it.code == "own-result");
    assert!(told || read.bytes.skipped == 0, "{name}: {} bytes skipped in silence", read.bytes.skipped);
    for session in &read.sessions {
        assert_eq!(session.check(), Vec::<String>::new(), "{name}");
    }
}

/// Reads a log at once and as a stream: both give the same, and keep the promise.
fn look(log: impl AsRef<[u8]>) -> Ingested {
    let log = log.as_ref();
    let read = ingest(log, "log.jsonl");
    check_promise(&read, log.len(), &String::from_utf8_lossy(log.get(..200).unwrap_or(log)));
    let mut sessions = Vec::new();
    let mut open = || -> std::io::Result<Box<dyn Read>> { Ok(Box::new(Cursor::new(log.to_vec()))) };
    let mut streamed = ingest_stream(&mut open, "log.jsonl", &mut |it| sessions.push(it)).expect("memory");
    streamed.sessions = sessions;
    let by_id = |read: &Ingested| {
        let mut read = read.clone();
        read.sessions.sort_by(|one, other| one.id.cmp(&other.id));
        read
    };
    assert_eq!(by_id(&streamed), by_id(&read));
    read
}

/// The only session of a log.
fn one(log: impl AsRef<[u8]>) -> (Transcript, Ingested) {
    let mut read = look(log);
    assert_eq!(read.sessions.len(), 1, "{read:?}");
    (read.sessions.remove(0), read)
}

/// Kinds of the remarks on a log, in order.
fn kinds(read: &Ingested) -> Vec<&'static str> {
    read.diagnostics.iter().map(|it| it.code).collect()
}

/// A session in short: who speaks, and texts, `>id` for a call and `id=text` for a result.
fn said(transcript: &Transcript) -> Vec<String> {
    let part = |part: &Part| match part {
        Part::Text(text) => text.text.clone(),
        Part::Thinking(text) => format!("({text})"),
        Part::Call(call) => format!(">{}", call.id),
        Part::Result(result) => format!("{}={}", result.call_id, result.text),
        Part::Image { .. } => "[image]".to_owned(),
        Part::Opaque { kind, .. } => format!("<{kind}>"),
    };
    let message = |message: &Message| {
        let who = match message.role {
            Role::System => "S",
            Role::User => "U",
            Role::Assistant => "A",
            Role::Tool => "T",
        };
        format!("{who} {}", message.parts.iter().map(part).collect::<Vec<_>>().join(" "))
    };
    transcript.messages.iter().map(message).collect()
}

/// Each call with the text of its result, `-` where there is none.
fn pairs(transcript: &Transcript) -> Vec<String> {
    let shown = |link| {
        let call = transcript.call(link).expect("a call");
        format!("{} {}", call.id, transcript.result(link).map_or("-", |result| &result.text))
    };
    transcript.links.iter().map(shown).collect()
}

/// One step of a conversation that any format can hold.
enum Step<'a> {
    Asks(&'a str),
    Says(&'a str),
    Calls(&'a [&'a str]),
    Answers(&'a str, &'a str),
}

/// The arguments of every call.
const ARGUMENTS: &str = r#"{"path":"/w/a.rs"}"#;

/// A conversation in five formats: name, and its records, one a line.
fn formats(steps: &[Step<'_>]) -> Vec<(&'static str, String)> {
    let arguments: Value = serde_json::from_str(ARGUMENTS).expect("JSON");
    let uses = |ids: &[&str]| -> Vec<Value> {
        let one = |id: &&str| json!({"type": "tool_use", "id": id, "name": "read", "input": arguments});
        ids.iter().map(one).collect()
    };
    let result = |id: &str, text: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": text}]);
    let (mut claudes, mut items, mut entries) = (Vec::new(), Vec::new(), Vec::new());
    let (mut chat, mut blocks) = (Vec::new(), Vec::new());
    let entry = |message: Value| json!({"type": "message", "message": message});
    for (at, step) in steps.iter().enumerate() {
        let reply = |content: Value| json!({"type": "assistant", "message": {"id": format!("r{at}"), "role": "assistant", "content": content}});
        let asked = |content: Value| json!({"type": "user", "message": {"role": "user", "content": content}});
        match step {
            Step::Asks(text) => {
                claudes.push(claude_user(text));
                items.push(codex_says("user", text));
                entries.push(entry(json!({"role": "user", "content": text})));
                chat.push(json!({"role": "user", "content": text}));
                blocks.push(json!({"role": "user", "content": text}));
            }
            Step::Says(text) => {
                let content = json!([{"type": "text", "text": text}]);
                claudes.push(reply(content.clone()));
                items.push(codex_says("assistant", text));
                entries.push(entry(json!({"role": "assistant", "content": content})));
                chat.push(json!({"role": "assistant", "content": text}));
                blocks.push(json!({"role": "assistant", "content": content}));
            }
            Step::Calls(ids) => {
                claudes.push(reply(json!(uses(ids))));
                items.extend(ids.iter().map(|id| {
                    item(&json!({"type": "function_call", "name": "read", "arguments": ARGUMENTS, "call_id": id}))
                }));
                let calls: Vec<Value> = ids
                    .iter()
                    .map(|id| json!({"type": "toolCall", "id": id, "name": "read", "arguments": arguments}))
                    .collect();
                entries.push(entry(json!({"role": "assistant", "content": calls})));
                let function = json!({"name": "read", "arguments": ARGUMENTS});
                let calls: Vec<Value> = ids
                    .iter()
                    .map(|id| json!({"id": id, "type": "function", "function": function}))
                    .collect();
                chat.push(json!({"role": "assistant", "content": null, "tool_calls": calls}));
                blocks.push(json!({"role": "assistant", "content": uses(ids)}));
            }
            Step::Answers(id, text) => {
                claudes.push(asked(result(id, text)));
                items.push(item(&json!({"type": "function_call_output", "call_id": id, "output": text})));
                let content = json!([{"type": "text", "text": text}]);
                entries.push(entry(
                    json!({"role": "toolResult", "toolCallId": id, "content": content, "isError": false}),
                ));
                chat.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
                blocks.push(json!({"role": "user", "content": result(id, text)}));
            }
        }
    }
    vec![
        ("claude-code", crate::logs::claude(&claudes)),
        ("codex", codex(&items)),
        ("pi", pi(&entries)),
        ("openai-chat", jsonl(&chat)),
        ("anthropic-messages", jsonl(&blocks)),
    ]
}

/// A request, a call with its result, and an answer.
fn work() -> Vec<(&'static str, String)> {
    formats(&[
        Step::Asks("Look at a.rs"),
        Step::Calls(&["t"]),
        Step::Answers("t", "fn main"),
        Step::Says("It is short."),
        Step::Asks("Thanks"),
        Step::Says("Done."),
    ])
}

/// What [`work`] says, in every format.
const WORK: [&str; 6] = ["U Look at a.rs", "A >t", "T t=fn main", "A It is short.", "U Thanks", "A Done."];
