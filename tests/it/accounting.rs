//! Tokens counted once and from the text itself: usage that logs repeat, leave out or carry over, images, windows.

use crate::logs::{
    agent, claude, claude_agent, claude_user, codex, codex_compacted, codex_says, done, item, jsonl,
    long_work, measure, pi, replaying, session, step, user, window,
};
use compactor::ingest::ingest;
use compactor::profile::Profile;
use compactor::replay::ScheduleMode;
use compactor::results::{CycleRow, SessionRow};
use compactor::run::{RunSettings, WindowChoice, Windows};
use compactor::strategy::Strategy;
use compactor::summarize::extractive::Extractive;
use compactor::tokens::{IMAGE_TOKENS, TokenIndex, Tokenizer};
use compactor::transcript::{Role, Transcript, Usage};
use serde_json::{Value, json};

/// Usage of each reply.
fn usages(transcript: &Transcript) -> Vec<Option<Usage>> {
    let replies = transcript.messages.iter().filter(|message| message.role == Role::Assistant);
    replies.map(|message| message.usage.as_deref().copied()).collect()
}

/// Prompt tokens of each reply.
fn inputs(transcript: &Transcript) -> Vec<Option<u64>> {
    usages(transcript).into_iter().map(|usage| usage.map(|usage| usage.input)).collect()
}

/// A reply of Claude Code with usage, in a request with an id.
fn reply(id: &str, request: Option<&str>, text: &str, usage: &Value) -> Value {
    let mut record = claude_agent(id, text);
    record["message"]["usage"] = usage.clone();
    if let Some(request) = request {
        record["requestId"] = json!(request);
    }
    record
}

#[test]
fn a_reply_on_several_lines_is_counted_once_with_its_last_usage() {
    let usage =
        |output: u64| json!({"input_tokens": 4, "cache_read_input_tokens": 9_000, "output_tokens": output});
    let told = |output| Some(Usage { input: 9_004, cache_read: 9_000, cache_write: 0, output });
    let lines = |ids: [Option<&str>; 3], outputs: [Value; 3]| {
        let lines = ids.into_iter().zip(outputs).enumerate();
        let mut records = vec![claude_user("Go on")];
        records.extend(lines.map(|(at, (id, usage))| reply("r1", id, &format!("part {at}"), &usage)));
        records
    };
    let one = Some("q1");
    for (ids, outputs, expected) in [
        ([one; 3], [usage(1), usage(1), usage(250)], vec![told(250)]),
        // Gateways leave the id of the request out.
        ([None; 3], [usage(1), usage(1), usage(250)], vec![told(250)]),
        // A last line that does not know takes nothing back.
        ([one; 3], [usage(1), usage(250), Value::Null], vec![told(250)]),
        ([one; 3], [usage(1), usage(250), json!({"input_tokens": 0, "output_tokens": 0})], vec![told(250)]),
        // The id of a message in another request is another reply.
        ([one, one, Some("q2")], [usage(1), usage(250), usage(30)], vec![told(250), told(30)]),
    ] {
        let (transcript, _) = session(&claude(&lines(ids, outputs)));
        assert_eq!(usages(&transcript), expected, "{ids:?}");
    }
}

/// A rollout's count of tokens: of the last response, and of all so far.
fn count(last: &Value, total: u64) -> Value {
    json!({"type": "event_msg", "payload": {"type": "token_count", "info": {
        "last_token_usage": last, "total_token_usage": {"total_tokens": total}, "model_context_window": 9_000}}})
}

fn responded(tokens: u64) -> Value {
    json!({"input_tokens": tokens, "output_tokens": 5, "total_tokens": tokens + 5})
}

#[test]
fn caches_are_in_the_prompt_once_and_reasoning_is_in_the_output() {
    let anthropic = json!({"input_tokens": 100, "cache_read_input_tokens": 900,
        "cache_creation_input_tokens": 50, "output_tokens": 30});
    let openai = json!({"prompt_tokens": 1_050, "prompt_tokens_details": {"cached_tokens": 900},
        "completion_tokens": 30, "completion_tokens_details": {"reasoning_tokens": 20}, "total_tokens": 1_080});
    let response = json!({"input_tokens": 1_050, "cached_input_tokens": 900, "output_tokens": 30,
        "reasoning_output_tokens": 20, "total_tokens": 1_080});
    let of_pi = json!({"input": 100, "cacheRead": 900, "cacheWrite": 50, "output": 30, "totalTokens": 1_080});
    let chat = |usage: &Value| {
        let messages = json!([{"role": "user", "content": "Go"},
            {"role": "assistant", "content": "Done.", "usage": usage}]);
        json!({ "messages": messages }).to_string()
    };
    let mut said = agent("Done.");
    said["message"]["usage"] = of_pi;
    let rollout = [codex_says("user", "Go"), codex_says("assistant", "Done."), count(&response, 1_080)];
    for (log, cache_write) in [
        (claude(&[claude_user("Go"), reply("r1", None, "Done.", &anthropic)]), 50),
        (chat(&anthropic), 50),
        (chat(&openai), 0),
        (codex(&rollout), 0),
        (pi(&[user("Go"), said]), 50),
    ] {
        let (transcript, _) = session(&log);
        let expected = Usage { input: 1_050, cache_read: 900, cache_write, output: 30 };
        assert_eq!(usages(&transcript), [Some(expected)], "{log}");
    }
}

#[test]
fn a_thousand_wide_characters_are_no_fourth_of_that() {
    // Common words, none of them said again within a line.
    let han = "我们今天上午修改了解析器的代码因为它在读取空文件时会崩溃请先运行全部测试再提交结果";
    let hangul = "오늘아침에구문분석기를고쳤습니다빈파일을읽을때멈추었기때문입니다먼저모든시험을돌려주세요";
    let kana =
        "けさかいせきプログラムをなおしましたからのファイルをよむととまるからですまずテストしてください";
    for text in [han, hangul, kana] {
        let thousand: String = text.chars().cycle().take(1_000).collect();
        for tokenizer in [Tokenizer::O200k, Tokenizer::Cl100k, Tokenizer::Heuristic] {
            let tokens = tokenizer.count(&thousand);
            assert!((500..=1_500).contains(&tokens), "{tokenizer}: {tokens} of {text}");
        }
        let tokens = Tokenizer::Heuristic.count(&thousand);
        assert!((700..=1_500).contains(&tokens), "{tokens} of {text}");
    }
}

#[test]
fn the_report_names_the_one_estimator_of_trigger_cut_and_sizes() {
    let log = [pi(&long_work(30))];
    for tokenizer in [Tokenizer::O200k, Tokenizer::Cl100k, Tokenizer::Heuristic] {
        let settings = RunSettings { tokenizer, ..replaying(&[Strategy::Structured], window(3_000)) };
        let output = measure(&log, &settings, &Extractive);
        assert_eq!(output.manifest.settings.tokenizer, tokenizer.name());
        let (transcript, _) = session(&log[0]);
        let tokens = TokenIndex::new(&transcript, tokenizer);
        let first = &output.cycles[0];
        let (cut, trigger) = (first.cut_message as usize, first.trigger_message as usize);
        // The trigger is the first request that holds 80 % of the window by the counts that the report shows.
        assert_eq!(first.tokens_before, tokens.range(0..trigger));
        let earlier = (0..trigger).rev().find(|at| transcript.messages[*at].role == Role::Assistant);
        assert!(first.tokens_before >= 2_400 && tokens.range(0..earlier.expect("a reply")) < 2_400);
        // 20k of 128k tokens of the window stay, by the same counts.
        let tail = tokens.range(cut..trigger);
        assert!(tail <= 3_000 * 20_000 / 128_000, "{tail}");
    }
}

#[test]
fn usage_from_before_a_compaction_says_nothing_of_the_context_behind_it() {
    let zeros = json!({"input_tokens": 0, "output_tokens": 0, "total_tokens": 0});
    let records = [
        codex_says("user", "Mend the parser"),
        codex_says("assistant", "Mended."),
        count(&responded(8_000), 8_005),
        codex_compacted("The parser is mended.", &[]),
        count(&zeros, 8_005),
        codex_says("user", "Now the docs"),
        codex_says("assistant", "Docs are next."),
        codex_compacted("The docs are next.", &[]),
        codex_says("user", "Go on"),
        codex_says("assistant", "Going on."),
        count(&responded(700), 8_710),
        codex_compacted("It goes on.", &[]),
    ];
    let (transcript, _) = session(&codex(&records));
    let before: Vec<Option<u64>> =
        transcript.recorded.iter().map(|recorded| recorded.tokens_before).collect();
    assert_eq!(before, [Some(8_005), None, Some(705)]);
    assert_eq!(inputs(&transcript), [Some(8_000), None, Some(700)]);
}

#[test]
fn two_records_of_one_compaction_share_what_was_reported_before_it() {
    let records = [
        codex_says("user", "Mend the parser"),
        codex_says("assistant", "Mended."),
        count(&responded(8_000), 8_005),
        codex_compacted("The parser is mended.", &[]),
        codex_compacted("The parser is mended now.", &[]),
        codex_says("user", "Now the docs"),
    ];
    let (transcript, _) = session(&codex(&records));
    let [recorded] = &transcript.recorded[..] else { panic!("{:?}", transcript.recorded) };
    assert_eq!(recorded.summary.as_deref(), Some("The parser is mended now."));
    assert_eq!(recorded.tokens_before, Some(8_005));
}

/// Much work behind a long request, with usage on every reply.
fn work_with(usage: Option<&Value>) -> String {
    let mut entries = vec![user(&"Tidy the gallery, widget by widget. ".repeat(300))];
    entries.extend(long_work(30));
    for entry in &mut entries {
        if entry["message"]["role"] == "assistant"
            && let Some(usage) = usage
        {
            entry["message"]["usage"] = usage.clone();
        }
    }
    pi(&entries)
}

#[test]
fn usage_that_is_missing_zero_or_far_too_small_changes_no_count() {
    let rows = |usage: Option<&Value>| -> (Vec<CycleRow>, Vec<Option<u64>>) {
        let log = work_with(usage);
        let told = inputs(&session(&log).0);
        let settings = replaying(&[Strategy::Structured], window(6_000));
        let mut rows = measure(&[log], &settings, &Extractive).cycles;
        // The folder of the logs is another one each time.
        for row in &mut rows {
            row.source = "".into();
        }
        (rows, told)
    };
    let (expected, told) = rows(None);
    assert!(expected.len() >= 2 && told.iter().all(Option::is_none));
    assert!(expected.iter().all(|row| row.overhead_source == "profile" && row.tokens_overhead == 0));
    let zeros = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0});
    for usage in [Value::Null, json!({}), zeros] {
        let (found, told) = rows(Some(&usage));
        assert_eq!(found, expected, "{usage}");
        assert!(told.iter().all(Option::is_none), "{usage} is no report");
    }
    let (found, told) = rows(Some(&json!({"input": 985, "output": 3, "cacheRead": 0, "cacheWrite": 0})));
    assert_eq!(found, expected, "the text is there to be counted");
    assert!(told.iter().all(|input| *input == Some(985)));
}

#[test]
fn running_totals_that_repeat_are_no_new_response_and_equal_responses_are_two() {
    let says =
        |n: usize| [codex_says("user", &format!("Step {n}")), codex_says("assistant", &format!("Did {n}."))];
    let parent = |id: &str| {
        let header =
            json!({"type": "session_meta", "payload": {"id": id, "cwd": "/w", "cli_version": "0.142.0"}});
        let mut records = vec![header];
        records.extend(says(1));
        records.extend([count(&responded(95), 100), count(&responded(95), 100)]);
        records.extend(says(2));
        records.extend([count(&responded(145), 250), count(&responded(145), 250)]);
        records
    };
    let text = |records: &[Value]| jsonl(records);
    let (transcript, _) = session(&text(&parent("p")));
    assert_eq!(inputs(&transcript), [Some(95), Some(145)]);
    // A fork begins with its parent's records, header included, and adds one response of its own.
    let own = json!({"type": "session_meta", "payload": {"id": "f", "forked_from_id": "p", "cwd": "/w", "cli_version": "0.142.0"}});
    let mut fork = vec![own];
    fork.extend(parent("p"));
    fork.extend(says(3));
    fork.push(count(&responded(45), 300));
    let (transcript, _) = session(&text(&fork));
    assert_eq!((transcript.id.as_str(), transcript.messages.len()), ("f", 6));
    assert_eq!(inputs(&transcript), [Some(95), Some(145), Some(45)]);
    // The same size again, with totals that go on, is another response.
    fork.extend(says(4));
    fork.push(count(&responded(45), 350));
    let (transcript, _) = session(&text(&fork));
    assert_eq!(inputs(&transcript), [Some(95), Some(145), Some(45), Some(45)]);
}

#[test]
fn totals_of_a_session_are_never_taken_for_one_response() {
    let total = json!({"input_tokens": 60_000, "output_tokens": 900, "total_tokens": 60_900});
    let told = |info: Value| json!({"type": "event_msg", "payload": {"type": "token_count", "info": info}});
    for info in
        [json!({"total_token_usage": total}), json!({"total_token_usage": total, "last_token_usage": null})]
    {
        let records = [codex_says("user", "Go"), codex_says("assistant", "Done."), told(info)];
        let (transcript, _) = session(&codex(&records));
        assert_eq!(inputs(&transcript), [None]);
    }
}

/// Logs that hold one image each, 300 kB as they write it.
fn pictured(data: &str) -> Vec<String> {
    let source = json!({"type": "base64", "media_type": "image/png", "data": data});
    let block = json!({"type": "image", "source": source});
    let url = format!("data:image/png;base64,{data}");
    let with = |mut record: Value, content: Value| {
        record["message"]["content"] = content;
        record
    };
    let uses = json!([{"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "/w/a.png"}}]);
    let shot = json!([{"type": "tool_result", "tool_use_id": "t", "content": [block]}]);
    let image = json!([{"type": "image", "data": data, "mimeType": "image/png"}]);
    let call = json!({"type": "function_call", "name": "view_image", "arguments": "{}", "call_id": "t"});
    let output = json!([{"type": "input_image", "image_url": url}]);
    let chat = |content: Value| json!({"messages": [{"role": "user", "content": content}]}).to_string();
    let mut shown = step("t", "read", &json!({"path": "/w/a.png"}), "");
    shown[1] = with(done("t", ""), image.clone());
    vec![
        claude(&[with(claude_user(""), json!([block]))]),
        claude(&[claude_user("Look"), with(claude_agent("r1", ""), uses), with(claude_user(""), shot)]),
        chat(json!([{"type": "image_url", "image_url": {"url": url}}])),
        chat(json!([block])),
        codex(&[item(
            &json!({"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": url}]}),
        )]),
        codex(&[
            codex_says("user", "Look"),
            item(&call),
            item(&json!({"type": "function_call_output", "call_id": "t", "output": output})),
        ]),
        pi(&[with(user(""), image)]),
        pi(&[vec![user("Look")], shown.to_vec()].concat()),
    ]
}

#[test]
fn an_image_costs_what_images_cost_however_its_bytes_are_written() {
    let data = "iVBORw0KGgo".repeat(30_000);
    for log in pictured(&data) {
        let (transcript, _) = session(&log);
        let head: String = log.chars().filter(|char| *char != '\n').take(200).collect();
        let total = TokenIndex::new(&transcript, Tokenizer::O200k).total();
        // Beside the image: a few short texts.
        assert!((IMAGE_TOKENS..IMAGE_TOKENS + 60).contains(&total), "{total}: {head}");
        assert!(!format!("{transcript:?}").contains("iVBORw0KGgoiVBOR"), "no summarizer can see it: {head}");
    }
}

#[test]
fn documents_and_sounds_in_a_result_are_not_counted_as_the_text_that_encodes_them() {
    let data = "JVBERi0xLjQKJeLj".repeat(20_000);
    for block in [
        json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}}),
        json!({"type": "audio", "mimeType": "audio/wav", "data": data}),
        json!({"type": "resource", "resource": {"uri": "file:///w/a.pdf", "mimeType": "application/pdf", "blob": data}}),
        json!({"type": "file", "file": {"filename": "a.pdf", "file_data": data}}),
    ] {
        let kind = block["type"].as_str().expect("a type").to_owned();
        let mut shown = step("t", "read", &json!({"path": "/w/a.pdf"}), "");
        shown[1]["message"]["content"] = json!([{"type": "text", "text": "Two pages."}, block]);
        let (transcript, _) = session(&pi(&[vec![user("Look")], shown.to_vec()].concat()));
        let total = TokenIndex::new(&transcript, Tokenizer::O200k).total();
        assert!(total < 60, "{kind}: {total}");
        let result = transcript.result(&transcript.links[0]).expect("a result");
        assert_eq!(result.text, format!("Two pages.\n[{kind}]"), "that it was there is told");
    }
    // What is text stays text, whatever its shape.
    let mut shown = step("t", "read", &json!({"path": "/w/a.txt"}), "");
    let block = json!({"type": "resource", "resource": {"uri": "file:///w/a.txt", "text": "plain words"}});
    shown[1]["message"]["content"] = json!([block]);
    let (transcript, _) = session(&pi(&[vec![user("Look")], shown.to_vec()].concat()));
    assert!(transcript.result(&transcript.links[0]).expect("a result").text.contains("plain words"));
}

#[test]
fn the_usage_of_a_sub_agent_is_not_that_of_the_session() {
    let usage = |input: u64| json!({"input_tokens": input, "output_tokens": 5});
    let main = [claude_user("Go"), reply("r1", None, "On it.", &usage(12_000))];
    let mut lines: Vec<String> = claude(&main).lines().map(str::to_owned).collect();
    let mut side = reply("s1", None, "I searched everything.", &usage(150_000));
    let mut asked = claude_user("Search everything");
    for (record, id, before) in [(&mut asked, "k0", Value::Null), (&mut side, "k1", json!("k0"))] {
        record["uuid"] = json!(id);
        record["parentUuid"] = before;
        record["sessionId"] = json!("s-1");
        record["isSidechain"] = json!(true);
    }
    lines.extend([asked.to_string(), side.to_string()]);
    let read = ingest((lines.join("\n") + "\n").as_bytes(), "log.jsonl");
    let found: Vec<(usize, Vec<Option<u64>>)> =
        read.sessions.iter().map(|session| (session.messages.len(), inputs(session))).collect();
    assert_eq!(found, [(2, vec![Some(12_000)]), (2, vec![Some(150_000)])]);
}

#[test]
fn what_every_request_carries_is_counted_apart_from_the_content() {
    let log = [pi(&long_work(60))];
    let rows = |overhead: u64| {
        let text = format!("name = \"heavy\"\nextends = \"standard\"\n[overhead]\ntokens = {overhead}\n");
        let profiles = vec![Profile::parse("heavy.toml", &text).expect("a profile")];
        let settings = RunSettings { profiles, ..replaying(&[Strategy::Structured], window(10_000)) };
        measure(&log, &settings, &Extractive).cycles
    };
    let (light, heavy) = (rows(0), rows(3_000));
    let (first, loaded) = (&light[0], &heavy[0]);
    assert_eq!((first.tokens_overhead, loaded.tokens_overhead), (0, 3_000));
    // 80 % of the window, in the request: the content has what the overhead leaves.
    assert!(first.tokens_before >= 8_000, "{first:?}");
    assert!((5_000..8_000).contains(&loaded.tokens_before), "{loaded:?}");
    for row in &heavy {
        let content = (row.tokens_before, row.tokens_after);
        assert!(content.0 < 8_000, "without the overhead: {row:?}");
        assert_eq!(row.reduction, Some(1.0 - content.1 as f64 / content.0 as f64), "of the content alone");
    }
}

#[test]
fn tool_schemas_in_the_log_are_overhead_and_no_message() {
    let schema = json!([{"type": "function", "function": {"name": "run", "description": "Runs a command. ".repeat(100)}}]);
    let mut messages = Vec::new();
    for n in 0..40 {
        messages.push(json!({"role": "user", "content": format!("What of point {n}?")}));
        messages
            .push(json!({"role": "assistant", "content": "well considered and said at length ".repeat(20)}));
    }
    let log = json!({"messages": messages, "tools": schema}).to_string();
    let (transcript, _) = session(&log);
    assert_eq!(transcript.messages.len(), 80);
    let row = &measure(&[log], &replaying(&[Strategy::Structured], window(4_000)), &Extractive).cycles[0];
    assert_eq!(row.overhead_source, "schemas");
    assert_eq!(row.tokens_overhead, Tokenizer::O200k.count(&schema.to_string()));
    assert!(row.tokens_before + row.tokens_overhead >= 3_200 && row.tokens_before < 3_200, "{row:?}");
}

#[test]
fn a_window_has_a_source_and_an_unknown_model_is_said_to_have_the_default() {
    let chat = |model: &str| {
        json!({"model": model, "messages": [{"role": "user", "content": "Go"}, {"role": "assistant", "content": "Done."}]})
            .to_string()
    };
    let told = [codex_says("user", "Go"), codex_says("assistant", "Done."), count(&responded(10), 15)];
    for (log, size, source) in [
        (chat("house-model-x-1m[1m]"), 1_000_000, "model-table"),
        (chat("claude-sonnet-4-5"), 200_000, "model-table"),
        (chat("house-model-x"), 128_000, "default"),
        (codex(&told), 9_000, "log"),
    ] {
        let settings = replaying(&[Strategy::Structured], Windows::Given(vec![WindowChoice::Auto]));
        let rows = measure(&[log], &settings, &Extractive).sessions;
        let [SessionRow { window, window_source, .. }] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((*window, window_source.as_str()), (size, source));
    }
}

#[test]
fn a_long_chain_of_calls_is_compacted_inside_the_turn_before_the_window_is_full() {
    let mut entries = vec![user("Find out which of the modules leaks")];
    for n in 0..120 {
        let text = format!("module {n} holds its memory ").repeat(20);
        entries.extend(step(&format!("c{n}"), "bash", &json!({"command": format!("leaks {n}")}), &text));
    }
    entries.push(agent("None of them."));
    // Summaries at their own size, so that each compaction begins where the context itself is at 80 %.
    let settings =
        RunSettings { schedule: ScheduleMode::Free, ..replaying(&[Strategy::Structured], window(4_000)) };
    let rows = measure(&[pi(&entries)], &settings, &Extractive).cycles;
    assert!(rows.len() >= 3, "{} cycles", rows.len());
    for row in &rows {
        assert!((3_200..4_000).contains(&row.tokens_before) && !row.late_trigger, "{row:?}");
        assert!(row.split_turn, "the only turn goes on: {row:?}");
    }
}
