use super::anthropic::check_anthropic;
use super::openai::check_openai;
use super::*;
use crate::ingest::ingest;
use crate::summarize::extractive::Extractive;
use crate::testing::{corpus_files, transcript};
use serde_json::{Value, json};

/// The strategies that write something.
const WRITING: [Strategy; 4] =
    [Strategy::Structured, Strategy::Narrative, Strategy::Truncate, Strategy::Emergency];

/// Folders of the corpus whose formats are read here.
pub(super) const CORPUS: [&str; 4] = ["claude-code", "codex", "pi", "openai-chat"];

/// Every log of the fixtures with its bytes.
#[expect(clippy::disallowed_methods, reason = "a test reads the fixtures")]
pub(super) fn fixtures() -> Vec<(String, Vec<u8>)> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let found = crate::discover::discover(&[root]);
    let read = |source: &crate::discover::Source| std::fs::read(&source.path).unwrap();
    // The baseline that lies there is no log.
    let logs = found.sources.iter().filter(|source| !source.label.contains("/gate/"));
    logs.map(|source| (source.label.clone(), read(source))).collect()
}

fn settings(strategy: Strategy, to: Target) -> CompactSettings {
    CompactSettings {
        profile: Profile::standard(),
        strategy,
        windows: Windows::Given(vec![WindowChoice::Auto]),
        summary_tokens: None,
        tokenizer: Tokenizer::Heuristic,
        to,
        session: None,
    }
}

/// Compacts a log, and checks what is written by the rules of its form.
fn check_written(label: &str, bytes: &[u8], strategy: Strategy, to: Target) -> Written {
    let ingested = ingest(bytes, label);
    let written = write_compacted(
        bytes,
        label,
        &OutputName::of(label),
        &ingested,
        &settings(strategy, to),
        &Extractive,
    );
    for output in &written.outputs {
        let at = format!("{label}: {strategy}: {}", output.name);
        let text = std::str::from_utf8(&output.bytes).expect("UTF-8");
        match to {
            Target::Openai | Target::Anthropic => {
                let document: Value = serde_json::from_str(text).expect("JSON");
                let check = if to == Target::Openai { check_openai } else { check_anthropic };
                assert_eq!(check(&document), Vec::<String>::new(), "{at}");
            }
            Target::Canonical => {
                let read = ingest(&output.bytes, &output.name);
                assert_eq!(read.format, Some(Format::Canonical), "{at}");
                assert_eq!(read.sessions.len(), 1, "{at}");
                assert!(read.sessions[0].starts_compacted, "{at}");
                assert_eq!(read.sessions[0].check(), Vec::<String>::new(), "{at}");
                assert_eq!(canonical::document(&read.sessions), text, "{at}");
            }
            Target::Same => assert!(output.bytes.starts_with(bytes), "{at}"),
        }
        for (_, report) in &output.reports {
            check_report(report, &at);
        }
    }
    for (session, why) in &written.unchanged {
        let fine = matches!(why, Unchanged::OneUnit | Unchanged::NoGain(..) | Unchanged::NoText(_));
        let refused = matches!(why, Unchanged::Refused(..)) && to == Target::Same;
        assert!(fine || refused, "{label}: {strategy}: {session}: {why}");
        assert!(!why.to_string().contains("would not read back"), "{label}: {session}: {why}");
    }
    written
}

/// Every message is kept, clipped or dropped, and the sums are those of the parts.
fn check_report(report: &CompactReport, at: &str) {
    let fates = report.messages_kept + report.messages_clipped + report.messages_dropped;
    assert_eq!(fates, report.messages, "{at}");
    assert_eq!(report.dropped.len() as u64, report.messages_dropped, "{at}");
    let sum = |of: &dyn Fn(&crate::results::compacted::DroppedRole) -> u64| -> u64 {
        report.dropped_by_role.iter().map(of).sum()
    };
    assert_eq!(sum(&|role| role.messages), report.messages_dropped, "{at}");
    assert_eq!(sum(&|role| role.tokens), report.dropped.iter().map(|it| it.tokens).sum::<u64>(), "{at}");
    assert!(report.tokens_after < report.tokens_session, "{at}");
    assert!(report.tokens_summary <= report.budget && !report.summary.is_empty(), "{at}");
}

#[test]
fn fixtures_are_valid_in_every_form_under_every_strategy() {
    for (label, bytes) in fixtures() {
        for strategy in WRITING {
            for to in [Target::Openai, Target::Anthropic, Target::Canonical, Target::Same] {
                let written = check_written(&label, &bytes, strategy, to);
                assert!(written.outputs.len() + written.unchanged.len() > 0, "{label}");
            }
        }
    }
}

#[test]
fn the_corpus_is_valid_in_every_form() {
    for (label, bytes) in corpus_files(&CORPUS).unwrap_or_default() {
        for to in [Target::Openai, Target::Anthropic, Target::Canonical, Target::Same] {
            check_written(&label, &bytes, Strategy::Truncate, to);
        }
        for strategy in WRITING {
            check_written(&label, &bytes, strategy, Target::Anthropic);
        }
    }
}

/// Reading a log with our record gives one compaction more, which kept what the context kept.
#[test]
fn the_own_record_of_a_format_is_read_back() {
    let mut formats = Vec::new();
    for (label, bytes) in fixtures() {
        let before = ingest(&bytes, &label);
        let written = check_written(&label, &bytes, Strategy::Structured, Target::Same);
        let Some(output) = written.outputs.first() else { continue };
        let after = ingest(&output.bytes, &label);
        formats.push(after.format.unwrap().name());
        for (_, report) in &output.reports {
            let find = |ingested: &Ingested| {
                ingested.sessions.iter().find(|session| session.id == report.session).cloned().unwrap()
            };
            let (old, new) = (find(&before), find(&after));
            assert_eq!((&old.messages, &old.links), (&new.messages, &new.links), "{label}");
            let recorded = new.recorded.last().unwrap();
            assert_eq!(new.recorded.len(), old.recorded.len() + 1, "{label}");
            assert_eq!(recorded.before.get(), new.messages.len(), "{label}");
            let summary = recorded.summary.as_deref().unwrap();
            assert!(summary.starts_with(&report.summary.join("\n\n")), "{label}: {summary}");
            // The tail at least is named; system messages and a request in front of it are not always.
            assert!(recorded.kept.len() + report.dropped.len() <= new.messages.len(), "{label}");
            let tail = report.dropped.last().map_or(0, |last| last.message as usize + 1);
            let tail: Vec<usize> = (tail..new.messages.len()).collect();
            let kept: Vec<usize> = recorded.kept.iter().map(MessageIdx::get).collect();
            assert!(kept.ends_with(&tail), "{label}: {kept:?} of {tail:?}");
            assert_eq!(recorded.clipped, [], "{label}");
            assert!(!recorded.kept_unknown, "{label}");
        }
    }
    formats.dedup();
    assert_eq!(formats, ["claude-code", "codex", "pi"]);
}

/// A compaction of a session of canonical JSONL stands behind it, exactly.
#[test]
fn canonical_logs_record_exactly_what_stayed() {
    let (label, bytes) = fixtures().into_iter().find(|(label, _)| label.contains("v3-orchard")).unwrap();
    let whole = ingest(&bytes, &label);
    let text = canonical::document(&whole.sessions);
    let label = "orchard.canonical.jsonl";
    let written = check_written(label, text.as_bytes(), Strategy::Structured, Target::Same);
    assert_eq!(written.outputs[0].name, label);
    let read = ingest(&written.outputs[0].bytes, label);
    let recorded = read.sessions[0].recorded.last().unwrap();
    let report = &written.outputs[0].reports[0].1;
    assert_eq!(recorded.summary.as_deref(), Some(report.summary[0].as_str()));
    let system = read.sessions[0].messages.iter().filter(|it| it.role == Role::System).count() as u64;
    assert_eq!(recorded.kept.len() as u64 + system, report.messages_kept);
    // The record counts what every request carries, too.
    assert!(recorded.tokens_after >= Some(report.tokens_after));
    assert!(recorded.tokens_after < recorded.tokens_before);
    // Nothing was said since: a second record would be the first once more.
    let again = check_written(label, &written.outputs[0].bytes, Strategy::Structured, Target::Same);
    assert_eq!(again.outputs, []);
    assert!(again.unchanged[0].1.to_string().contains("ends with a compaction"), "{again:?}");
}

/// A Claude Code log of records with these ids, parents, roles and texts.
fn claude_log(records: &[(&str, &str, &str, &str)]) -> Vec<u8> {
    let record = |(uuid, parent, role, text): &(&str, &str, &str, &str)| {
        let parent = (!parent.is_empty()).then_some(*parent);
        let content = json!([{"type": "text", "text": text}]);
        json!({"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": {"role": role, "content": content}})
    };
    records.iter().map(|it| record(it).to_string() + "\n").collect::<String>().into_bytes()
}

/// Where the record that ends the conversation was written before the one it answers, the compaction stands behind the former.
#[test]
fn a_compaction_stands_behind_the_end_of_the_conversation() {
    let long = "the orchard needs water in July ".repeat(400);
    let bytes = claude_log(&[
        ("a", "", "user", &long),
        ("b", "a", "assistant", &long),
        ("d", "c", "assistant", "done"),
        ("c", "b", "user", "and now the pears"),
    ]);
    let written = check_written("log.jsonl", &bytes, Strategy::Structured, Target::Same);
    let text = String::from_utf8(written.outputs[0].bytes.clone()).unwrap();
    let boundary: Value = serde_json::from_str(text.lines().nth(4).unwrap()).unwrap();
    assert_eq!(boundary["logicalParentUuid"], "d");
}

#[test]
fn a_session_without_requests_and_replies_is_refused_by_itself() {
    let command = format!("<command-name>/model</command-name>{}", "x y ".repeat(4000));
    let bytes = claude_log(&[("a", "", "user", &command), ("b", "a", "user", &command)]);
    let written = check_written("log.jsonl", &bytes, Strategy::Truncate, Target::Same);
    assert_eq!(written.outputs, []);
    assert!(written.unchanged[0].1.to_string().contains("no request and no reply"), "{written:?}");
}

#[test]
fn formats_without_a_record_are_refused_by_name() {
    for (format, says) in [
        (Format::OpenaiChat, Some("openai-chat has no record")),
        (Format::AnthropicMessages, Some("anthropic-messages has no record")),
        (Format::ClaudeCode, None),
        (Format::Codex, None),
        (Format::Pi, None),
        (Format::Canonical, None),
    ] {
        let refused = same::check_format(format).err();
        assert_eq!(refused.is_some(), says.is_some(), "{}", format.name());
        if let (Some(refused), Some(says)) = (refused, says) {
            assert!(refused.to_string().contains(says) && refused.hint().contains("--to"), "{refused}");
        }
    }
}

/// Compacts a transcript in the terse notation.
fn check_compact(notation: &str, change: impl Fn(&mut CompactSettings)) -> Result<Compacted, Unchanged> {
    let transcript = transcript(notation);
    let mut settings = settings(Strategy::Structured, Target::Canonical);
    change(&mut settings);
    let tokens = TokenIndex::new(&transcript, settings.tokenizer);
    let effects = effects(&transcript);
    let prepared = Prepared::new(&transcript, &tokens, settings.tokenizer, &effects);
    compact(&prepared, &settings, &Extractive)
}

/// A session of turns, each with a call: about 100 tokens a turn.
fn turns(count: usize) -> String {
    let turn = |n: usize| {
        let asks =
            format!("U: Rename module {n} in src/m{n}.rs x30\nA{{c{n}=Read /w/src/m{n}.rs}}: I look\n");
        asks + &format!("T(c{n}): line x60\nA: Done with {n}\n")
    };
    (0..count).fold(String::new(), |log, n| log + &turn(n))
}

#[test]
fn a_session_is_compacted_at_its_end_whatever_its_window() {
    let given = |tokens| Windows::Given(vec![WindowChoice::Tokens(tokens)]);
    let log = turns(40);
    let whole = check_compact(&log, |_| {}).unwrap();
    assert_eq!((whole.window_source, whole.compactions), ("whole", 1));
    // The newest turn stays, and less than a fourth of the session.
    assert!(whole.context.entries.contains(&Entry::Kept(MessageIdx::new(159))));
    assert!(whole.tokens_after * 2 < whole.tokens_session, "{whole:?}");
    let far = check_compact(&log, |settings| settings.windows = given(1_000_000)).unwrap();
    assert!(whole.window_assumed && !far.window_assumed);
    let said = Compacted { window_assumed: true, ..far };
    assert_eq!(said, whole, "a window that is never filled says nothing else");
    let filled = check_compact(&log, |settings| settings.windows = given(3_000)).unwrap();
    assert_eq!(filled.window_source, "given");
    assert!(filled.compactions >= 1 && filled.context.now.get() == 160);
    assert!(filled.context.entries.contains(&Entry::Kept(MessageIdx::new(159))));
    let cycles = check_compact(&log, |settings| settings.windows = Windows::Cycles(3)).unwrap();
    assert_eq!(cycles.window_source, "cycles");
    assert!(cycles.compactions >= 3, "{}", cycles.compactions);
}

#[test]
fn what_cannot_be_compacted_is_said() {
    assert_eq!(check_compact("U: hello", |_| {}), Err(Unchanged::OneUnit));
    let small = check_compact("U: hello\nA: hi\nU: more\nA: yes", |_| {});
    assert!(matches!(small, Err(Unchanged::NoGain(..) | Unchanged::NoText(_))), "{small:?}");
    let poor = check_compact(&turns(40), |settings| settings.summary_tokens = Some(1));
    assert_eq!(poor, Err(Unchanged::NoText(1)));
}

/// Both requests of a log of chat messages that is compacted away up to its end.
fn check_requests(messages: &Value) -> (Value, Value) {
    let context = |transcript: &Transcript| {
        let end = transcript.messages.len();
        let kept = (0..end).map(|at| Entry::Kept(MessageIdx::new(at)));
        Context { entries: kept.collect(), now: MessageIdx::new(end), ..Context::default() }
    };
    let ingested = ingest(json!({ "messages": messages }).to_string().as_bytes(), "x.json");
    let transcript = &ingested.sessions[0];
    let context = context(transcript);
    let openai: Value = serde_json::from_str(&openai::document(transcript, &context).0).unwrap();
    let anthropic: Value = serde_json::from_str(&anthropic::document(transcript, &context).0).unwrap();
    assert_eq!(check_openai(&openai), Vec::<String>::new(), "{openai}");
    assert_eq!(check_anthropic(&anthropic), Vec::<String>::new(), "{anthropic}");
    (openai, anthropic)
}

#[test]
fn odd_logs_become_valid_requests() {
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let said = |calls: &[Value]| json!({"role": "assistant", "content": null, "tool_calls": calls});
    let done = |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": text});
    // Ids that repeat, are empty or odd; tool names with dots; freeform and broken arguments; results far behind.
    let (openai, anthropic) = check_requests(&json!([
        {"role": "assistant", "content": "Hello. "},
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look"},
        said(&[call("x", "fs.read", "{\"path\": \"a\"}"), call("x", "", "*** Begin Patch")]),
        {"role": "user", "content": "Quick"},
        done("x", "one"),
        done("x", ""),
        said(&[call("x", "t", ""), call("a|b", "t", "[1]"), call("call_2", "t", "{")]),
        {"role": "assistant", "content": "Wait.  \n"},
    ]));
    let calls = |at: usize| openai["messages"][at]["tool_calls"].as_array().unwrap().clone();
    assert_eq!(openai["messages"][0], json!({"role": "system", "content": "Be brief."}));
    assert_eq!(calls(3)[0]["id"], "x");
    assert_eq!(calls(3)[0]["function"]["name"], "fs_read");
    assert_eq!(calls(3)[1]["id"], "call_1");
    assert_eq!(calls(3)[1]["function"]["arguments"], "{\"input\":\"*** Begin Patch\"}");
    assert_eq!(openai["messages"][4]["content"], "one");
    assert_eq!(openai["messages"][5]["content"], "(no output)");
    assert_eq!(openai["messages"][6]["content"], "Quick");
    let ids: Vec<Value> = calls(7).iter().map(|call| call["id"].clone()).collect();
    assert_eq!(ids, ["call_2_1", "call_3", "call_2"], "{openai}");
    assert_eq!(anthropic["system"], "Be brief.");
    assert_eq!(anthropic["messages"][0]["content"][0]["text"], "(the conversation goes on)");
    let roles: Vec<&str> =
        anthropic["messages"].as_array().unwrap().iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user", "assistant", "user", "assistant"]);
    assert_eq!(anthropic["messages"][4]["content"][2]["text"], "Quick");
    assert_eq!(anthropic["messages"][7]["content"][0]["text"], "Wait.");
}

#[test]
fn what_an_api_refuses_is_found() {
    let call = json!({"id": "a", "type": "function", "function": {"name": "t", "arguments": "{}"}});
    let asks = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let user = json!({"role": "user", "content": "hello"});
    for (messages, says) in [
        (json!([]), "no messages"),
        (json!([{"role": "system", "content": "x"}]), "nothing but system"),
        (json!([user, {"role": "system", "content": "x"}]), "inside the conversation"),
        (json!([{"role": "user", "content": " "}]), "no content"),
        (json!([user, {"role": "assistant", "content": null}]), "no content"),
        (json!([user, asks]), "not answered"),
        (json!([user, asks, user]), "not answered"),
        (json!([user, {"role": "tool", "tool_call_id": "a", "content": "x"}]), "waits for none"),
        (json!([{"role": "narrator", "content": "x"}]), "role"),
    ] {
        let found = check_openai(&json!({ "messages": messages }));
        assert!(found.iter().any(|problem| problem.contains(says)), "{messages}: {found:?}");
    }
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let user = json!({"role": "user", "content": text("hello")});
    let uses =
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "t", "input": {}}]});
    let result = json!({"type": "tool_result", "tool_use_id": "a", "content": "x"});
    let late = json!({"role": "user", "content": [{"type": "text", "text": "x"}, result]});
    for (messages, says) in [
        (json!([]), "no messages"),
        (json!([{"role": "assistant", "content": text("x")}]), "out of turn"),
        (json!([user, user]), "out of turn"),
        (json!([{"role": "user", "content": []}]), "no content"),
        (json!([{"role": "user", "content": text(" ")}]), "blank text"),
        (json!([user, uses]), "not answered"),
        (json!([user, uses, user]), "not answered"),
        (json!([user, uses, late]), "behind a text"),
        (
            json!([user, {"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}]}]),
            "thinking",
        ),
        (json!([user, {"role": "assistant", "content": text("x ")}]), "white space"),
    ] {
        let found = check_anthropic(&json!({ "messages": messages }));
        assert!(found.iter().any(|problem| problem.contains(says)), "{messages}: {found:?}");
    }
    assert_eq!(check_anthropic(&json!({"system": " ", "messages": [user]})), ["a blank system prompt"]);
}

#[test]
fn names_of_files() {
    for (label, name, base) in [
        ("a/b.jsonl", "b.jsonl", "b"),
        ("b.canonical.jsonl", "b.canonical.jsonl", "b"),
        ("<stdin>", "stdin.jsonl", "stdin"),
        ("C:\\logs\\x.json", "x.json", "x"),
        (".jsonl", ".jsonl", ".jsonl"),
        ("x", "x", "x"),
    ] {
        assert_eq!((file_name(label).as_str(), stem(label).as_str()), (name, base));
    }
}
