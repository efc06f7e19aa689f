use super::super::sketch::{check, check_odd_values, codes, read_one};
use crate::transcript::{MessageIdx, Origin, Outcome, Part, Usage};
use serde_json::json;

/// Envelopes around `(type, payload)` pairs, with a header in front.
fn rollout(records: &[(&str, &str)]) -> String {
    let mut lines = vec![envelope("session_meta", r#"{"id":"s-1","cwd":"/w","cli_version":"0.142.0"}"#)];
    lines.extend(records.iter().map(|(kind, payload)| envelope(kind, payload)));
    lines.join("\n")
}

fn envelope(kind: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-01-02T03:04:05Z","type":"{kind}","payload":{payload}}}"#)
}

const ITEM: &str = "response_item";
const EVENT: &str = "event_msg";

/// Items and events by short names: `user text`, `typed text` (with its event), `reply text`, `call id`, `out id`.
fn script(steps: &[&str]) -> String {
    let mut lines = Vec::new();
    for step in steps {
        let (what, rest) = step.split_once(' ').unwrap_or((step, ""));
        let message = |role: &str, kind: &str| {
            envelope(
                ITEM,
                &format!(
                    r#"{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{rest}"}}]}}"#
                ),
            )
        };
        let typed = || envelope(EVENT, &format!(r#"{{"type":"user_message","message":"{rest}"}}"#));
        match what {
            "user" => lines.push(message("user", "input_text")),
            "typed" => lines.extend([message("user", "input_text"), typed()]),
            "developer" => lines.push(message("developer", "input_text")),
            "reply" => lines.push(message("assistant", "output_text")),
            "call" => lines.push(envelope(
                ITEM,
                &format!(r#"{{"type":"function_call","name":"exec_command","arguments":"{{}}","call_id":"{rest}"}}"#),
            )),
            "out" => lines.push(envelope(
                ITEM,
                &format!(r#"{{"type":"function_call_output","call_id":"{rest}","output":"fine"}}"#),
            )),
            "tokens" => {
                let (input, total) = rest.split_once('/').unwrap_or((rest, rest));
                lines.push(envelope(
                    EVENT,
                    &format!(
                        r#"{{"type":"token_count","info":{{"total_token_usage":{{"total_tokens":{total}}},"last_token_usage":{{"input_tokens":{input},"cached_input_tokens":2,"output_tokens":3,"total_tokens":{input}}},"model_context_window":9000}}}}"#
                    ),
                ));
            }
            "compacted" => lines.push(envelope("compacted", rest)),
            "rollback" => {
                lines.push(envelope(EVENT, &format!(r#"{{"type":"thread_rolled_back","num_turns":{rest}}}"#)));
            }
            other => panic!("unknown step {other}"),
        }
    }
    rollout(&[]) + "\n" + &lines.join("\n")
}

#[test]
fn items_of_one_response_are_one_message() {
    let lines = rollout(&[
        (ITEM, r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}"#),
        (
            ITEM,
            r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gAAA"}"#,
        ),
        (
            ITEM,
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"looking"}]}"#,
        ),
        (
            ITEM,
            r#"{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"a"}"#,
        ),
        (ITEM, r#"{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch","call_id":"b"}"#),
        (
            ITEM,
            r#"{"type":"custom_tool_call_output","call_id":"b","output":"Success. Updated the following files:\nM x"}"#,
        ),
        (ITEM, r#"{"type":"function_call_output","call_id":"a","output":"x"}"#),
        (ITEM, r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}"#),
    ]);
    let (session, read) = check(
        &lines,
        &[
            r#"U "go""#,
            r#"A (hm) <reasoning> "looking" exec_command#a apply_patch#b"#,
            r#"T b=ok "Success. Updated the following files:\nM x" a=unknown "x""#,
            r#"A "done""#,
        ],
    );
    assert_eq!((session.id.as_str(), session.messages[1].line), ("s-1", 3));
    assert_eq!((read.raw.messages, read.raw.tool_calls, read.raw.compactions), (3, 2, 0));
    let Some(Part::Call(patch)) = session.messages[1].parts.get(4) else { panic!("no patch") };
    assert_eq!(patch.arguments, "*** Begin Patch");
}

#[test]
fn every_kind_of_call() {
    let lines = rollout(&[
        (ITEM, r#"{"type":"local_shell_call","call_id":"l","action":{"type":"exec","command":["ls"]}}"#),
        (
            ITEM,
            r#"{"type":"function_call_output","call_id":"l","output":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:x"}]}"#,
        ),
        (ITEM, r#"{"type":"web_search_call","id":"w","action":{"type":"search","query":"q"}}"#),
        (ITEM, r#"{"type":"tool_search_call","call_id":"t","arguments":{"query":"q"}}"#),
        (ITEM, r#"{"type":"tool_search_output","call_id":"t","tools":[]}"#),
        (
            ITEM,
            r#"{"type":"function_call","name":"ask","namespace":"mcp__wiki","arguments":"{}","call_id":"m"}"#,
        ),
        (ITEM, r#"{"type":"robot_call","call_id":"r","arguments":"{}"}"#),
        (ITEM, r#"{"type":"robot_call_output","call_id":"r","output":{"type":"input_text","text":"ok"}}"#),
        (ITEM, r#"{"type":"ghost_snapshot","ghost_commit":{"id":"c"}}"#),
        (ITEM, r#"{"type":"image_generation_call","id":"i","result":"abcd"}"#),
        (ITEM, r#"{"type":"hologram"}"#),
    ]);
    let (session, read) = check(
        &lines,
        &[
            "A local_shell#l",
            r#"T l=unknown "a""#,
            "A web_search#w tool_search#t",
            r#"T t=unknown """#,
            "A mcp__wiki__ask#m robot_call#r",
            r#"T r=unknown "ok""#,
            "A <image_generation_call>",
        ],
    );
    assert_eq!(codes(&read), ["unknown-record"]);
    assert_eq!(read.raw.tool_calls, 4);
    assert_eq!(session.links.iter().filter(|link| link.result.is_none()).count(), 2);
}

#[test]
fn how_calls_ended() {
    let cases: &[(&str, Outcome, Option<i32>, &str)] = &[
        (
            r#""{\"output\":\"x\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.1}}""#,
            Outcome::Failed,
            Some(2),
            "x",
        ),
        (r#""{\"metadata\":{\"exit_code\":0},\"output\":\"x\"}""#, Outcome::Ok, Some(0), "x"),
        // A file that looks like the wrapper is none.
        (r#""{\"output\":\"x\"}""#, Outcome::Unknown, None, "{\"output\":\"x\"}"),
        (
            r#""Chunk ID: a\nWall time: 1 seconds\nProcess exited with code 101\nOutput:\nx""#,
            Outcome::Failed,
            Some(101),
            "Chunk ID: a\nWall time: 1 seconds\nProcess exited with code 101\nOutput:\nx",
        ),
        (
            r#""Chunk ID: a\nWall time: 1 seconds\nProcess running with session ID 7\nOutput:\nExit code: 1""#,
            Outcome::Unknown,
            None,
            "Chunk ID: a\nWall time: 1 seconds\nProcess running with session ID 7\nOutput:\nExit code: 1",
        ),
        (
            r#""Exit code: 0\nWall time: 1 seconds\nOutput:\nError: in a file""#,
            Outcome::Ok,
            Some(0),
            "Exit code: 0\nWall time: 1 seconds\nOutput:\nError: in a file",
        ),
        (
            r#""failed in sandbox X with execution error: denied, exit code: 2, stdout: , stderr: ""#,
            Outcome::Failed,
            Some(2),
            "failed in sandbox X with execution error: denied, exit code: 2, stdout: , stderr: ",
        ),
        (r#""patch rejected by user""#, Outcome::Failed, None, "patch rejected by user"),
        (r#""aborted""#, Outcome::Failed, None, "aborted"),
        (r#""Plan updated""#, Outcome::Ok, None, "Plan updated"),
        (r#"{"content":"x","success":false}"#, Outcome::Failed, None, "x"),
        (r#"{"content":"x","success":true}"#, Outcome::Ok, None, "x"),
        (r#"[{"type":"input_image","image_url":"data:x"}]"#, Outcome::Ok, None, ""),
        ("null", Outcome::Unknown, None, ""),
    ];
    for (output, outcome, exit_code, text) in cases {
        let lines = rollout(&[
            (ITEM, r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"a"}"#),
            (ITEM, &format!(r#"{{"type":"function_call_output","call_id":"a","output":{output}}}"#)),
        ]);
        let (session, _) = read_one(&lines);
        let result = session.result(&session.links[0]).unwrap();
        assert_eq!(
            (result.outcome, result.exit_code, result.text.as_str()),
            (*outcome, *exit_code, *text),
            "{output}"
        );
    }
}

#[test]
fn events_tell_how_calls_ended() {
    let call = |id: &str| {
        (
            ITEM.to_owned(),
            format!(r#"{{"type":"function_call","name":"shell","arguments":"{{}}","call_id":"{id}"}}"#),
        )
    };
    let out = |id: &str| {
        (ITEM.to_owned(), format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"x"}}"#))
    };
    let event = |payload: &str| (EVENT.to_owned(), payload.to_owned());
    let records = [
        call("a"),
        event(r#"{"type":"exec_command_end","call_id":"a","exit_code":3}"#),
        out("a"),
        // The same id again: events go by occurrence.
        call("a"),
        event(r#"{"type":"exec_command_end","call_id":"a","exit_code":0}"#),
        out("a"),
        call("p"),
        event(r#"{"type":"patch_apply_end","call_id":"p","success":false}"#),
        out("p"),
        call("m"),
        event(r#"{"type":"mcp_tool_call_end","call_id":"m","result":{"Ok":{"content":[],"isError":false}}}"#),
        out("m"),
        call("e"),
        event(r#"{"type":"mcp_tool_call_end","call_id":"e","result":{"Err":"gone"}}"#),
        out("e"),
        call("n"),
        event(r#"{"type":"item_completed","item":{"type":"CommandExecution","id":"n","exit_code":4}}"#),
        out("n"),
    ];
    let records: Vec<(&str, &str)> =
        records.iter().map(|(kind, payload)| (kind.as_str(), payload.as_str())).collect();
    let (session, _) = read_one(&rollout(&records));
    let ends: Vec<_> = session
        .links
        .iter()
        .filter_map(|link| session.result(link))
        .map(|result| (result.call_id.as_str(), result.outcome, result.exit_code))
        .collect();
    let expected = [
        ("a", Outcome::Failed, Some(3)),
        ("a", Outcome::Ok, Some(0)),
        ("p", Outcome::Failed, None),
        ("m", Outcome::Ok, None),
        ("e", Outcome::Failed, None),
        ("n", Outcome::Failed, Some(4)),
    ];
    assert_eq!(ends, expected);
}

#[test]
fn injected_texts_and_the_words_of_the_user() {
    let cases: &[(&str, &[&str])] = &[
        ("fix it", &[r#"U "fix it""#]),
        ("# AGENTS.md instructions for /w", &[r##"U ~"# AGENTS.md instructions for /w""##]),
        ("<user_instructions>x</user_instructions>", &[r#"U ~"<user_instructions>x</user_instructions>""#]),
        ("<turn_aborted>x</turn_aborted>", &[r#"U ~"<turn_aborted>x</turn_aborted>""#]),
        (
            "# Context from my IDE setup:\\n\\n## Active file: a.rs\\n\\n## My request for Codex:\\nfix it",
            &[
                r##"U ~"# Context from my IDE setup:\n\n## Active file: a.rs\n\n## My request for Codex:" "fix it""##,
            ],
        ),
        ("what is ## My request for Codex: for?", &[r#"U "what is ## My request for Codex: for?""#]),
        ("<image name=[Image #1]>", &[r#"U ~"<image name=[Image #1]>""#]),
    ];
    for (text, expected) in cases {
        check(&script(&[&format!("user {text}")]), expected);
    }
    check(&script(&["developer be nice", "reply yes"]), &[r#"S "be nice""#, r#"A "yes""#]);
    let lines = rollout(&[(
        ITEM,
        r#"{"type":"agent_message","author":"b","recipient":"a","content":[{"type":"input_text","text":"hi"}]}"#,
    )]);
    check(&lines, &[r#"U ~"hi""#]);
}

#[test]
fn headers_name_the_session_once() {
    let lines = [
        envelope(
            "session_meta",
            r#"{"id":"first","cwd":"/one","base_instructions":{"text":"You code."},"dynamic_tools":[{"name":"t"}],"source":{"subagent":{"thread_spawn":{}}},"agent_nickname":"scout"}"#,
        ),
        envelope("session_meta", r#"{"id":"parent","cwd":"/two","base_instructions":{"text":"Again."}}"#),
        envelope(ITEM, r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}"#),
        envelope("turn_context", r#"{"cwd":"/three","model":"m-1"}"#),
        envelope(
            ITEM,
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]}"#,
        ),
        envelope("turn_context", r#"{"cwd":"/three","model":"m-2"}"#),
        envelope("world_state", r"{}"),
        envelope("omen", r"{}"),
    ];
    let (session, read) = check(&lines.join("\n"), &[r#"S "You code.""#, r#"U "a""#, r#"A "b""#]);
    assert_eq!(session.id, "first");
    assert_eq!(session.origin, Origin::Sidechain("scout".to_owned()));
    assert_eq!(session.model.as_deref(), Some("m-1"), "the model of the last reply");
    assert_eq!(session.tool_schema.as_deref(), Some(r#"[{"name":"t"}]"#));
    let directories: Vec<_> = session.messages.iter().map(|message| message.cwd.as_deref()).collect();
    assert_eq!(directories, [Some("/one"), Some("/one"), Some("/three")]);
    assert_eq!(codes(&read), ["unknown-record"]);
}

#[test]
fn usage_goes_to_its_reply() {
    let inputs = |steps: &[&str]| -> Vec<Option<u64>> {
        let (session, _) = read_one(&script(steps));
        let replies = session.messages.iter().filter(|message| message.role.name() == "assistant");
        replies.map(|message| message.usage.as_ref().map(|usage| usage.input)).collect()
    };
    // Behind the reply; the same totals again and zeros are no news.
    let after = [
        "typed a",
        "call x",
        "out x",
        "tokens 10/10",
        "tokens 10/10",
        "reply b",
        "tokens 20/30",
        "tokens 0/30",
    ];
    assert_eq!(inputs(&after), [Some(10), Some(20)]);
    // A reply that was cut off has none, and those behind it keep their own.
    let cut =
        ["typed a", "reply b", "typed c", "reply d", "tokens 10/10", "typed e", "reply f", "tokens 20/30"];
    assert_eq!(inputs(&cut), [None, Some(10), Some(20)]);
    // In front of the reply.
    let before = [
        "typed a",
        "tokens 10/10",
        "call x",
        "out x",
        "tokens 20/30",
        "reply b",
        "typed c",
        "tokens 30/60",
        "reply d",
    ];
    assert_eq!(inputs(&before), [Some(10), Some(20), Some(30)]);

    let (session, _) = read_one(&script(&["typed a", "reply b", "tokens 10"]));
    let usage = Usage { input: 10, cache_read: 2, cache_write: 0, output: 3 };
    assert_eq!(session.messages[1].usage.as_deref(), Some(&usage));
    assert_eq!(session.context_window, Some(9000));
}

#[test]
fn a_token_count_ends_a_response() {
    let steps = ["typed a", "reply b", "tokens 10/10", "reply c", "tokens 12/22"];
    check(&script(&steps), &[r#"U "a""#, r#"A "b""#, r#"A "c""#]);
}

#[test]
fn compactions_are_set_aside_and_crossed() {
    let history = r#"{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"compaction","encrypted_content":"gAAA"}]}"#;
    let (session, read) = check(
        &script(&[
            "developer rules",
            "user <environment_context>x</environment_context>",
            "typed a",
            "call x",
            "out x",
            "tokens 10/10",
            &format!("compacted {history}"),
            "developer rules",
            "user <environment_context>x</environment_context>",
            // Typed again by a person: no copy.
            "typed a",
            "reply b",
            // Behind a reply nothing is a copy.
            "developer rules",
        ]),
        &[
            r#"S "rules""#,
            r#"U ~"<environment_context>x</environment_context>""#,
            r#"U "a""#,
            "A exec_command#x",
            r#"T x=unknown "fine""#,
            r#"U "a""#,
            r#"A "b""#,
            r#"S "rules""#,
        ],
    );
    assert_eq!(codes(&read), ["resent-message"]);
    assert_eq!((read.raw.compactions, read.raw.messages), (1, 8));
    let [recorded] = session.recorded.as_slice() else { panic!("{:?}", session.recorded) };
    assert_eq!(
        (recorded.before.get(), recorded.summary.as_deref(), recorded.tokens_before),
        (5, None, Some(10))
    );
    assert_eq!(recorded.kept, [MessageIdx(2)]);
    assert!(!session.starts_compacted);
}

#[test]
fn a_replacement_history_tells_what_stays_whole_and_what_was_cut() {
    let long = "Please keep every public name of the parser as it is, and tell me before you rename one";
    let message = |role: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]});
    let cut = format!("{}[... cut ...]", long.split_at(60).0);
    let history = json!({"message": "Done so far: x.", "replacement_history": [
        message("user", "a"), message("user", "a"), message("user", "never said"), message("user", &cut),
        message("developer", "rules"), message("user", "Done so far: x."),
    ]});
    let (session, _) = read_one(&script(&[
        "developer rules",
        "typed a",
        "reply b",
        "typed a",
        &format!("typed {long}"),
        "reply c",
        &format!("compacted {history}"),
        "reply d",
    ]));
    let [recorded] = session.recorded.as_slice() else { panic!("{:?}", session.recorded) };
    assert_eq!(recorded.kept, [0, 1, 3].map(MessageIdx));
    assert_eq!(recorded.clipped, [(MessageIdx(4), cut)]);
}

#[test]
fn a_compaction_record_that_cannot_be_is_counted_and_not_scored() {
    for (payload, known) in [
        (r#"{"message":"sum"}"#, true),
        (r#"{"message":"sum","replacement_history":null}"#, true),
        (r#"{"message":"sum","replacement_history":[]}"#, true),
        (r#"{"message":"sum","replacement_history":"x"}"#, false),
        (r#"{"message":"sum","replacement_history":7}"#, false),
        (r#"{"message":"sum","replacement_history":{}}"#, false),
        (r#"{"message":"sum","replacement_history":[{},7]}"#, false),
        (r#"{"message":7,"replacement_history":[]}"#, false),
        ("null", false),
        (r#""x""#, false),
    ] {
        let text = [script(&["user go", "reply on it"]), envelope("compacted", payload)].join("\n");
        let (session, read) = read_one(&text);
        assert_eq!(session.recorded.len(), 1, "{payload}");
        assert_eq!(session.recorded[0].kept_unknown, !known, "{payload}");
        let expected: &[&str] = if known { &[] } else { &["kept-unknown"] };
        assert_eq!(codes(&read), expected, "{payload}");
        // The same as the first record of a log: nothing to score, and what it left is lost.
        let text = [envelope("compacted", payload), script(&["user go", "reply on it"])].join("\n");
        let (session, read) = read_one(&text);
        assert!(session.starts_compacted && session.recorded.is_empty(), "{payload}");
        assert_eq!(codes(&read).contains(&"bad-record"), !known, "{payload}");
    }
}

#[test]
fn token_counts_that_cannot_be_are_not_given() {
    for (tokens, told) in
        [("77", Some(77)), ("1e300", None), ("9223372036854775808", None), ("-1", None), (r#""NaN""#, None)]
    {
        let usage = format!(r#"{{"input_tokens":{tokens},"output_tokens":0}}"#);
        let count = format!(r#"{{"type":"token_count","info":{{"last_token_usage":{usage}}}}}"#);
        let text = [
            script(&["user go", "reply on it"]),
            envelope(EVENT, &count),
            envelope("compacted", r#"{"message":"sum"}"#),
        ];
        let (session, read) = read_one(&text.join("\n"));
        assert_eq!(session.recorded[0].tokens_before, told, "{tokens}");
        let expected: &[&str] = if told.is_some() { &[] } else { &["bad-tokens"] };
        assert_eq!(codes(&read), expected, "{tokens}");
    }
}

#[test]
fn a_summary_that_is_logged_as_a_message_too_is_none() {
    let (session, read) = check(
        &script(&[
            "typed a",
            "reply b",
            "reply The goal is a.",
            r#"compacted {"message":"Another model wrote this:\nThe goal is a."}"#,
            "user Another model wrote this:\\nThe goal is a.",
            "typed c",
            "reply d",
        ]),
        &[r#"U "a""#, r#"A "b""#, r#"U "c""#, r#"A "d""#],
    );
    assert_eq!(session.recorded[0].summary.as_deref(), Some("Another model wrote this:\nThe goal is a."));
    assert_eq!(codes(&read), ["summary-reply", "resent-message"]);
    let (session, read) = check(
        &script(&[
            "typed a",
            "reply b",
            "tokens 9/9",
            "reply The goal is a.",
            r#"compacted {"message":"The goal is a."}"#,
            "typed c",
        ]),
        &[r#"U "a""#, r#"A "b""#, r#"U "c""#],
    );
    assert_eq!((session.recorded[0].before.get(), codes(&read)), (2, vec!["summary-reply"]));
}

#[test]
fn a_log_that_begins_with_a_compaction() {
    let (session, read) = check(
        &script(&[
            r#"compacted {"message":"So far: x.","replacement_history":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"Summary: So far: x."}]},{"type":"compaction","encrypted_content":"gAAA"}]}"#,
            "developer rules",
            "typed b",
            "reply c",
        ]),
        &[r#"U ~"So far: x." <compaction>"#, r#"S "rules""#, r#"U "a""#, r#"U "b""#, r#"A "c""#],
    );
    assert!(session.starts_compacted);
    assert_eq!((session.recorded.len(), read.raw.compactions, read.raw.messages), (0, 1, 3));
}

#[test]
fn a_log_that_begins_with_two_compactions() {
    let kept = r#"{"message":"","replacement_history":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}]}"#;
    let (session, _) = check(
        &script(&[&format!("compacted {kept}"), r#"compacted {"message":"Later."}"#, "typed b"]),
        &["U <compaction>", r#"S "rules""#, r#"U "b""#],
    );
    assert!(session.starts_compacted);
    let recorded: Vec<_> =
        session.recorded.iter().map(|one| (one.before.get(), one.summary.as_deref())).collect();
    assert_eq!(recorded, [(2, Some("Later."))]);
}

#[test]
fn turns_rolled_back_leave_the_path() {
    let steps = ["typed a", "reply b", "typed c", "call x", "out x", "rollback 1", "typed d", "reply e"];
    let (_, read) = check(&script(&steps), &[r#"U "a""#, r#"A "b""#, r#"U "d""#, r#"A "e""#]);
    assert_eq!(codes(&read), ["abandoned-branch"]);
    let steps = ["developer s", "typed a", "reply b", "rollback 9", "typed d"];
    check(&script(&steps), &[r#"S "s""#, r#"U "d""#]);
    let steps = ["typed a", "reply b", "rollback 0"];
    check(&script(&steps), &[r#"U "a""#, r#"A "b""#]);
}

#[test]
fn events_stand_in_for_items_that_are_not_there() {
    let lines = rollout(&[
        (EVENT, r#"{"type":"user_message","message":"a"}"#),
        (EVENT, r#"{"type":"agent_reasoning","text":"hm"}"#),
        (ITEM, r#"{"role":"assistant","content":[{"type":"output_text","text":"b"}]}"#),
        (EVENT, r#"{"type":"agent_message","message":"b"}"#),
        (EVENT, r#"{"type":"token_count","info":{"input_tokens":5,"output_tokens":1}}"#),
    ]);
    let (session, read) = check(&lines, &[r#"U "a""#, r#"A (hm) "b""#]);
    assert_eq!(session.messages[1].usage.as_ref().map(|usage| usage.input), Some(5));
    assert_eq!((read.raw.messages, codes(&read)), (0, vec!["events-as-messages", "events-as-messages"]));
}

#[test]
fn the_bare_era() {
    let lines = [
        r#"{"id":"old","timestamp":"2025-08-01T00:00:00Z","instructions":null,"git":{}}"#,
        r#"{"record_type":"state"}"#,
        r#"{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/here</cwd>\n</environment_context>"}]}"#,
        r#"{"record_type":"state"}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}"#,
        r#"{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}"#,
        r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"x"}"#,
        r#"{"record_type":"state"}"#,
        r#"{"type":"function_call_output","call_id":"x","output":"{\"output\":\"y\",\"metadata\":{\"exit_code\":0}}"}"#,
    ];
    let (session, read) = check(
        &lines.join("\n"),
        &[
            r#"U ~"<environment_context>\n  <cwd>/here</cwd>\n</environment_context>""#,
            r#"U "a""#,
            "A (hm) shell#x",
            r#"T x=ok/0 "y""#,
        ],
    );
    assert_eq!((session.id.as_str(), session.messages[1].cwd.as_deref()), ("old", Some("/here")));
    assert_eq!((read.raw.messages, read.raw.tool_calls, read.diagnostics.len()), (2, 1, 0));
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(&rollout(&[
        (
            "session_meta",
            r#"{"id":"a","cwd":"/w","base_instructions":{"text":"x"},"source":{"subagent":{}}}"#,
        ),
        ("turn_context", r#"{"cwd":"/w","model":"m"}"#),
        (ITEM, r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}"#),
        (EVENT, r#"{"type":"user_message","message":"go"}"#),
        (
            ITEM,
            r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"g"}"#,
        ),
        (ITEM, r#"{"type":"function_call","name":"t","namespace":"mcp__a","arguments":"{}","call_id":"a"}"#),
        (
            EVENT,
            r#"{"type":"exec_command_end","call_id":"a","exit_code":3,"result":{"Ok":{"isError":true}}}"#,
        ),
        (ITEM, r#"{"type":"function_call_output","call_id":"a","output":{"content":"x","success":true}}"#),
        (
            EVENT,
            r#"{"type":"token_count","info":{"total_token_usage":{"total_tokens":1},"last_token_usage":{"input_tokens":1,"output_tokens":1}}}"#,
        ),
        (
            "compacted",
            r#"{"message":"s","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}]}"#,
        ),
        (EVENT, r#"{"type":"thread_rolled_back","num_turns":1}"#),
        (
            "compacted",
            r#"{"message":"s","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"compaction","encrypted_content":"g"}]}"#,
        ),
        (ITEM, r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]}"#),
    ]));
    check_odd_values(r#"{"session":{"id":"doc","cwd":"/w"},"items":[{"role":"user","content":"a"}]}"#);
}

#[test]
fn one_document() {
    let document = r#"{"session":{"id":"doc","cwd":"/w"},"items":[{"role":"user","content":"a"},{"type":"function_call","name":"shell","arguments":"{}","call_id":"x"},{"type":"function_call_output","call_id":"x","output":"y"},{"role":"assistant","content":"b"}]}"#;
    let (session, read) = check(document, &[r#"U "a""#, "A shell#x", r#"T x=unknown "y""#, r#"A "b""#]);
    assert_eq!((session.id.as_str(), session.messages[3].line), ("doc", 4));
    assert_eq!((read.raw.messages, read.raw.tool_calls), (2, 1));
}

/// Where rollouts of several versions are joined, each message is read once, in whichever form it stands.
#[test]
fn events_are_judged_message_by_message() {
    let user = |text: &str| {
        format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#)
    };
    let reply = |text: &str| {
        format!(
            r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"{text}"}}]}}"#
        )
    };
    let asked = |text: &str| format!(r#"{{"type":"user_message","message":"{text}"}}"#);
    let told = |text: &str| format!(r#"{{"type":"agent_message","message":"{text}"}}"#);
    let records = |records: &[(&str, String)]| {
        rollout(&records.iter().map(|(kind, record)| (*kind, record.as_str())).collect::<Vec<_>>())
    };
    // A prompt that is an item, among others that are events.
    let (_, read) = check(
        &records(&[
            (EVENT, asked("a")),
            (ITEM, reply("b")),
            (EVENT, asked("c")),
            (ITEM, reply("d")),
            (ITEM, user("e")),
        ]),
        &[r#"U "a""#, r#"A "b""#, r#"U "c""#, r#"A "d""#, r#"U "e""#],
    );
    assert_eq!(codes(&read), ["events-as-messages"]);
    // Both forms of everything, then events alone, with words that were said before.
    let (_, read) = check(
        &records(&[
            (ITEM, user("go on")),
            (EVENT, asked("go on")),
            (EVENT, r#"{"type":"agent_reasoning","text":"hm"}"#.to_owned()),
            (
                ITEM,
                r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"hm, well"}]}"#.to_owned(),
            ),
            (EVENT, told("done")),
            (ITEM, reply("done")),
            (EVENT, asked("go on")),
            (EVENT, r#"{"type":"agent_reasoning","text":"again"}"#.to_owned()),
            (EVENT, told("done")),
        ]),
        &[r#"U "go on""#, r#"A (hm, well) "done""#, r#"U "go on""#, r#"A (again) "done""#],
    );
    assert_eq!(codes(&read), vec!["events-as-messages"; 3]);
    // An item may say more than its event; what the client sends of itself is no item of the event.
    check(
        &records(&[
            (ITEM, user("<environment_context>x</environment_context>")),
            (ITEM, user("# Context\\n\\nfix it")),
            (EVENT, asked("fix it")),
            (EVENT, told("I plan.")),
            (ITEM, reply("I plan.<plan>p</plan>")),
            (ITEM, user("<environment_context>y</environment_context>")),
            (EVENT, asked("and that")),
        ]),
        &[
            r#"U ~"<environment_context>x</environment_context>""#,
            r##"U "# Context\n\nfix it""##,
            r#"A "I plan.<plan>p</plan>""#,
            r#"U ~"<environment_context>y</environment_context>""#,
            r#"U "and that""#,
        ],
    );
    // An old document in front of a newer rollout.
    let old = r#"{"session":{"id":"old"},"items":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}"#;
    let new = records(&[(EVENT, asked("c")), (ITEM, reply("d"))]);
    check(&format!("{old}\n{new}"), &[r#"U "a""#, r#"A "b""#, r#"U "c""#, r#"A "d""#]);
}
