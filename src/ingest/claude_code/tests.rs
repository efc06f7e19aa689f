use serde_json::{Value, json};

use crate::diagnostic::Severity;
use crate::ingest::sketch::{check as check_text, check_odd_values, codes};
use crate::ingest::{Ingested, ingest};
use crate::transcript::{MessageIdx, Origin, Role, Transcript, Usage};

/// One record from a sketch, `id<parent what ...`; parent `-` is null, none at all leaves the field out. What:
/// `user TEXT`, `say REPLY TEXT`, `call REPLY CALL`, `done CALL TEXT`, `fail CALL TEXT`, `boundary ID`, `summary TEXT`,
/// `meta TEXT`, `attach JSON`, `progress`.
fn record(sketch: &str) -> Value {
    let (tie, what) = sketch.split_once(' ').unwrap();
    let (id, parent) = tie.split_once('<').unwrap_or((tie, ""));
    let (what, rest) = what.split_once(' ').unwrap_or((what, ""));
    let (first, second) = rest.split_once(' ').unwrap_or((rest, ""));
    let reply = |block: Value| {
        json!({"type": "assistant", "message": {"id": first, "role": "assistant", "model": "m-1", "content": [block],
            "usage": {"input_tokens": 1, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 300,
                "output_tokens": second.len()}}})
    };
    let user = |content: Value| json!({"type": "user", "message": {"role": "user", "content": content}});
    let result = |failed: bool| {
        let mut block = json!({"type": "tool_result", "tool_use_id": first, "content": second});
        if failed {
            block["is_error"] = json!(true);
        }
        user(json!([block]))
    };
    let mut record = match what {
        "user" => user(json!(rest)),
        "meta" => {
            let mut record = user(json!(rest));
            record["isMeta"] = json!(true);
            record
        }
        "say" => reply(json!({"type": "text", "text": second})),
        "call" => {
            reply(json!({"type": "tool_use", "id": second, "name": "Bash", "input": {"command": "ls"}}))
        }
        "done" => result(false),
        "fail" => result(true),
        "boundary" => json!({"type": "system", "subtype": "compact_boundary", "logicalParentUuid": first,
            "compactMetadata": {"trigger": "auto", "preTokens": 900}}),
        "summary" => {
            let mut record = user(json!(rest));
            record["isCompactSummary"] = json!(true);
            record
        }
        "attach" => json!({"type": "attachment", "attachment": serde_json::from_str::<Value>(rest).unwrap()}),
        other => json!({"type": other, "data": {}}),
    };
    record["uuid"] = json!(id);
    match parent {
        "" => {}
        "-" => record["parentUuid"] = Value::Null,
        parent => record["parentUuid"] = json!(parent),
    }
    record["sessionId"] = json!("s-1");
    record["isSidechain"] = json!(false);
    record["cwd"] = json!("/work");
    record
}

fn lines(sketch: &[&str]) -> String {
    let lines: Vec<String> = sketch.iter().map(|sketch| record(sketch).to_string()).collect();
    lines.join("\n")
}

fn check(sketch: &[&str], expected: &[&str]) -> (Transcript, Ingested) {
    check_text(&lines(sketch), expected)
}

#[test]
fn lines_of_one_reply_become_one_message() {
    let (session, read) = check(
        &[
            "a<- user do both",
            "b<a say r1 on it",
            "c<b call r1 t1",
            "d<c done t1 one",
            "e<c call r1 t2",
            "f<e done t2 two",
            "g<f say r2 finished",
        ],
        &[
            "U \"do both\"",
            "A \"on it\" Bash#t1 Bash#t2",
            "T t1=ok \"one\"",
            "T t2=ok \"two\"",
            "A \"finished\"",
        ],
    );
    // The last line of the reply has its usage; the prompt counts caches once.
    let usage = Usage { input: 321, cache_read: 20, cache_write: 300, output: 2 };
    assert_eq!(session.messages[1].usage.as_deref(), Some(&usage));
    assert_eq!((session.id.as_str(), session.model.as_deref()), ("s-1", Some("m-1")));
    assert_eq!(session.messages[1].cwd.as_deref(), Some("/work"));
    assert_eq!((read.raw.messages, read.raw.tool_calls), (5, 2));
    assert_eq!(codes(&read), [""; 0]);
}

#[test]
fn a_reply_logged_block_by_block_from_the_start_is_not_doubled() {
    check(
        &["a<- user go", "b<a call r1 t1", "c<b call r1 t1", "d<c done t1 x"],
        &["U \"go\"", "A Bash#t1", "T t1=ok \"x\""],
    );
}

#[test]
fn a_reply_without_a_word_is_named() {
    let sketch = ["u1<- user go", "a1<u1 say m1", "u2<a1 user again", "a2<u2 say m2 fine"];
    let (read, ingested) = check(&sketch, &["U \"go\"", "U \"again\"", "A \"fine\""]);
    assert_eq!(read.messages.len(), 3);
    assert_eq!(codes(&ingested), ["empty-reply"]);
}

#[test]
fn a_reply_id_used_for_every_request_does_not_merge_turns() {
    check(
        &["a<- user one", "b<a say r 1", "c<b user two", "d<c say r 2"],
        &["U \"one\"", "A \"1\"", "U \"two\"", "A \"2\""],
    );
}

#[test]
fn parallel_results_are_no_rewinds() {
    // The result of the first call hangs beside the path, with an attachment behind it.
    let (_, read) = check(
        &[
            "a<- user go",
            "b<a call r1 t1",
            "c<b call r1 t2",
            "d<b done t1 one",
            r#"e<d attach {"type":"hook_additional_context","content":["mind the gap"]}"#,
            "f<c fail t2 two",
            "g<f say r2 so",
        ],
        &[
            "U \"go\"",
            "A Bash#t1 Bash#t2",
            "T t1=ok \"one\"",
            "U ~\"mind the gap\"",
            "T t2=failed \"two\"",
            "A \"so\"",
        ],
    );
    assert_eq!(codes(&read), [""; 0]);
}

#[test]
fn a_rewind_leaves_the_older_branch_out() {
    let (_, read) = check(
        &[
            "a<- user go",
            "b<a say r1 well",
            "c<b user wrong way",
            "d<c call r2 t1",
            "e<d done t1 x",
            "f<b user right way",
            "g<f say r3 good",
        ],
        &["U \"go\"", "A \"well\"", "U \"right way\"", "A \"good\""],
    );
    assert_eq!(
        read.diagnostics[0].to_string(),
        "line 3: abandoned-branch: a record of a branch that was rewound; left out (3 times, first here)"
    );
    assert_eq!(read.raw.messages, 7);
    // To the very start.
    check(&["a<- user one", "b<a say r1 x", "c<- user two", "d<c say r2 y"], &["U \"two\"", "A \"y\""]);
}

#[test]
fn the_path_crosses_compactions() {
    for logical in ["b", "gone"] {
        let (session, read) = check(
            &[
                "a<- user go",
                "b<a say r1 well",
                &format!("c<- boundary {logical}"),
                "d<c summary what happened",
                r#"e<d attach {"type":"compact_file_reference","filename":"a.rs"}"#,
                "f<e user on",
                "g<f say r2 good",
            ],
            &["U \"go\"", "A \"well\"", "U ~\"a.rs\"", "U \"on\"", "A \"good\""],
        );
        assert!(!session.starts_compacted);
        let recorded = &session.recorded[0];
        assert_eq!(session.recorded.len(), 1);
        assert_eq!((recorded.before, recorded.line), (MessageIdx(2), 3));
        assert_eq!(recorded.summary.as_deref(), Some("what happened"));
        assert_eq!((recorded.tokens_before, recorded.kept.len()), (Some(900), 0));
        assert_eq!(read.raw.compactions, 2);
    }
}

#[test]
fn kept_messages_of_a_compaction_are_found() {
    for (key, kept) in [
        ("preservedSegment", json!({"headUuid": "b", "tailUuid": "b"})),
        ("preservedSegment", json!({"headUuid": "b"})),
        ("preservedMessages", json!({"uuids": ["b"]})),
    ] {
        let mut boundary = record("c<- boundary b");
        boundary["compactMetadata"][key] = kept;
        boundary["compactMetadata"]["postTokens"] = json!(44);
        boundary["compactMetadata"]["trigger"] = json!("manual");
        let before = lines(&["a<- user go", "b<a say r1 well"]);
        let text = format!("{before}\n{boundary}\n{}", lines(&["d<c summary s"]));
        let (session, _) = check_text(&text, &["U \"go\"", "A \"well\""]);
        let recorded = &session.recorded[0];
        assert_eq!(recorded.kept, [MessageIdx(1)], "{key}");
        assert_eq!((recorded.tokens_after, recorded.trigger.as_deref()), (Some(44), Some("manual")));
    }
}

#[test]
fn a_log_that_begins_with_a_summary_starts_compacted() {
    let (session, _) = check(
        &[
            r#"a<- attach {"type":"hook_success","content":"hello"}"#,
            "b<- boundary gone",
            "c<b summary before",
            "d<c say r1 on",
        ],
        &["U ~\"before\"", "U ~\"hello\"", "A \"on\""],
    );
    assert!(session.starts_compacted);
    assert_eq!(session.recorded, []);
}

#[test]
fn parents_that_are_missing_or_late() {
    // Dangling: the record before.
    check(&["a<gone user go", "b<a say r1 x", "c<lost user on"], &["U \"go\"", "A \"x\"", "U \"on\""]);
    // No parents at all: a plain sequence.
    check(&["a user go", "b say r1 x", "c user on"], &["U \"go\"", "A \"x\"", "U \"on\""]);
    // Replies without parents: the file ties nothing together.
    check(&["a<- user go", "b<- say r1 x", "c<- user on"], &["U \"go\"", "A \"x\"", "U \"on\""]);
    // A child written before its parent.
    check(
        &["a<- user go", "c<b done t1 one", "b<a call r1 t1", "d<c say r2 x"],
        &["U \"go\"", "A Bash#t1", "T t1=ok \"one\"", "A \"x\""],
    );
    // Down to what was written before what it follows, where that comes last; a branch beside it stays left out.
    check(
        &["d<c say r2 x", "c<b done t1 one", "a<- user go", "b<a call r1 t1"],
        &["U \"go\"", "A Bash#t1", "T t1=ok \"one\"", "A \"x\""],
    );
    check(
        &["a<- user go", "x<a user old", "d<c say r2 x", "e<d user on", "c<a user new"],
        &["U \"go\"", "U \"new\"", "A \"x\"", "U \"on\""],
    );
    // Progress is part of the chain.
    check(&["a<- user go", "p<a progress", "b<p say r1 x"], &["U \"go\"", "A \"x\""]);
    // A circle is cut.
    let (_, read) =
        check(&["a<c user go", "b<a say r1 x", "c<b user on"], &["U \"go\"", "A \"x\"", "U \"on\""]);
    assert_eq!(codes(&read), ["parent-loop"]);
}

#[test]
fn sessions_and_sidechains() {
    let side = |sketch: &str, agent: Option<&str>| {
        let mut record = record(sketch);
        record["isSidechain"] = json!(true);
        if let Some(agent) = agent {
            record["agentId"] = json!(agent);
        }
        record.to_string()
    };
    let mut other = record("x<- user elsewhere");
    other["sessionId"] = json!("s-2");
    let text = [
        lines(&["a<- user go", "b<a call r1 t1"]),
        side("k<- user find it", None),
        side("l<k call q1 k1", None),
        side("m<l done k1 here", None),
        side("n<- user again", Some("ag7")),
        lines(&["c<b done t1 found"]),
        other.to_string(),
    ]
    .join("\n");
    let read = ingest(text.as_bytes(), "x.jsonl");
    let found: Vec<(&str, &Origin, usize)> = read
        .sessions
        .iter()
        .map(|session| (session.id.as_str(), &session.origin, session.messages.len()))
        .collect();
    assert_eq!(
        found,
        [
            ("s-1", &Origin::Main, 3),
            ("s-2", &Origin::Main, 1),
            ("s-1/k", &Origin::Sidechain("k".to_owned()), 3),
            ("s-1/ag7", &Origin::Sidechain("ag7".to_owned()), 1),
        ]
    );
    assert_eq!(read.sessions[2].links.len(), 1);
}

#[test]
fn what_the_user_did_not_type_is_injected() {
    check(
        &[
            "a<- meta Caveat: ...",
            "b<a user <command-name>/model</command-name>",
            "c<b user fix it\n<system-reminder>be good</system-reminder>",
            r#"d<c attach {"type":"queued_command","prompt":"and the docs","commandMode":"prompt"}"#,
            r#"e<d attach {"type":"queued_command","prompt":"done","commandMode":"task-notification"}"#,
            r#"f<e attach {"type":"hook_system_message","content":"for the eyes of the user"}"#,
            "g<f user [Request interrupted by user]",
        ],
        &[
            "U ~\"Caveat: ...\"",
            "U ~\"<command-name>/model</command-name>\"",
            "U \"fix it\" ~\"<system-reminder>be good</system-reminder>\"",
            "U \"and the docs\"",
            "U ~\"done\"",
            "U ~\"[Request interrupted by user]\"",
        ],
    );
}

/// A record of the queue.
fn queue(operation: &str, content: Option<&str>) -> String {
    let mut record = json!({"type": "queue-operation", "operation": operation, "sessionId": "s-1"});
    if let Some(content) = content {
        record["content"] = json!(content);
    }
    record.to_string()
}

#[test]
fn a_queued_message_is_read_where_the_agent_got_it() {
    let text = [
        lines(&["a<- user go", "b<a call r1 t1"]),
        queue("enqueue", Some("never touch the lock file")),
        queue("enqueue", Some("{\"task_id\":\"b1\",\"description\":\"server\"}")),
        // The older form has no text here, and stands in front of the result that goes with it.
        queue("remove", None),
        lines(&["c<b done t1 x", "d<c say r2 right"]),
        queue("enqueue", Some("and the docs")),
        queue("remove", Some("and the docs")),
    ]
    .join("\n");
    let (session, read) = check_text(
        &text,
        &[
            "U \"go\"",
            "A Bash#t1",
            "T t1=ok \"x\"",
            "U \"never touch the lock file\"",
            "A \"right\"",
            "U \"and the docs\"",
        ],
    );
    assert_eq!(session.messages[3].line, 3, "the line that holds the words");
    assert!(session.messages[3].is_user_request());
    assert_eq!(read.raw.messages, 4, "raw counts are of message records");
    assert_eq!(codes(&read), [""; 0]);
}

#[test]
fn a_queued_message_stands_in_front_of_the_compaction_that_came_first() {
    let text = [
        lines(&["a<- user go", "b<a call r1 t1"]),
        queue("enqueue", Some("use tabs")),
        queue("remove", None),
        lines(&["c<b done t1 x", "d<- boundary c", "e<d summary they said: use tabs", "f<e say r2 y"]),
    ]
    .join("\n");
    let (session, _) =
        check_text(&text, &["U \"go\"", "A Bash#t1", "T t1=ok \"x\"", "U \"use tabs\"", "A \"y\""]);
    assert_eq!(session.recorded[0].before, MessageIdx(4));
}

#[test]
fn a_queued_message_is_read_once_and_only_if_the_agent_got_it() {
    let attached =
        r#"c<b attach {"type":"queued_command","prompt":"in an attachment","commandMode":"prompt"}"#;
    let text = [
        lines(&["a<- user same words", "b<a say r1 x"]),
        queue("enqueue", Some("in an attachment")),
        queue("remove", Some("in an attachment")),
        lines(&[attached]),
        queue("enqueue", Some("one of two")),
        queue("enqueue", Some("two of two")),
        queue("dequeue", None),
        queue("dequeue", None),
        lines(&["d<c user one of two\ntwo of two", "e<d say r2 y"]),
        queue("enqueue", Some("taken back")),
        queue("popAll", Some("taken back")),
        queue("enqueue", Some("/model")),
        queue("dequeue", None),
        queue("enqueue", Some("<task-notification>done</task-notification>")),
        queue("remove", None),
        queue("enqueue", Some("same words")),
        queue("remove", None),
        lines(&["f<e say r3 z"]),
        queue("enqueue", Some("typed as the session ended")),
    ]
    .join("\n");
    let (_, read) = check_text(
        &text,
        &[
            "U \"same words\"",
            "A \"x\"",
            "U \"in an attachment\"",
            "U \"one of two\\ntwo of two\"",
            "A \"y\"",
            "U \"same words\"",
            "A \"z\"",
        ],
    );
    assert_eq!(codes(&read), ["queued-message"]);
}

/// A compaction whose metadata has something odd in it: the codes, and whether it is known what was kept.
fn check_metadata(metadata: &Value, kept: &[u32], known: bool, expected: &[&str]) {
    let mut boundary = record("d<- boundary c");
    boundary["compactMetadata"] = metadata.clone();
    let text = format!(
        "{}\n{boundary}\n{}",
        lines(&["a<- user go", "b<a say r1 x", "p<b progress", "c<p user on"]),
        lines(&["e<d summary s", "f<e say r2 y"])
    );
    let (session, read) = check_text(&text, &["U \"go\"", "A \"x\"", "U \"on\"", "A \"y\""]);
    let recorded = &session.recorded[0];
    let found: Vec<u32> = recorded.kept.iter().map(|at| at.0).collect();
    assert_eq!((found.as_slice(), !recorded.kept_unknown), (kept, known), "{metadata}");
    assert_eq!(codes(&read), expected, "{metadata}");
    let damaged = read.diagnostics.iter().filter(|it| it.code == "kept-unknown");
    for damage in damaged {
        assert_eq!(damage.severity, Severity::Damage);
        assert!(damage.line == 5 && damage.text.contains("not scored"), "{damage}");
    }
}

#[test]
fn what_a_compaction_kept_is_found_or_said_to_be_unknown() {
    let segment =
        |head: Value, tail: Value| json!({"preservedSegment": {"headUuid": head, "tailUuid": tail}});
    let listed = |uuids: Value| json!({"preservedMessages": {"uuids": uuids}});
    for (metadata, kept) in [
        (json!({}), &[][..]),
        (Value::Null, &[]),
        (json!({"preservedSegment": null, "preservedMessages": null}), &[]),
        (segment(json!("b"), json!("c")), &[1, 2]),
        (segment(json!("b"), Value::Null), &[1, 2]),
        (segment(json!("p"), json!("c")), &[2]),
        (listed(json!(["b"])), &[1]),
        (listed(json!([])), &[]),
    ] {
        check_metadata(&metadata, kept, true, &[]);
    }
    for metadata in [
        segment(json!("gone"), json!("c")),
        segment(json!("b"), json!("gone")),
        segment(json!("f"), json!("f")),
        segment(json!(7), json!("c")),
        listed(json!(["b", "gone"])),
        listed(json!(["b", 7])),
        listed(json!("b")),
        json!({"preservedSegment": "b"}),
        json!({"preservedMessages": [1]}),
        json!("odd"),
        json!([]),
    ] {
        check_metadata(&metadata, &[], false, &["kept-unknown"]);
    }
}

#[test]
fn counts_of_tokens_that_cannot_be_are_not_given() {
    for (odd, told) in [
        (json!(155_000), Some(155_000)),
        (json!(155_000.7), Some(155_000)),
        (json!(0), None),
        (Value::Null, None),
    ] {
        check_tokens(&odd, told, &[]);
    }
    let odd =
        [json!(1e300), json!(1u64 << 63), json!(-5), json!("NaN"), json!("155000"), json!([]), json!(true)];
    for odd in odd {
        check_tokens(&odd, None, &["bad-tokens"]);
    }
}

fn check_tokens(tokens: &Value, told: Option<u64>, expected: &[&str]) {
    let mut boundary = record("c<- boundary b");
    boundary["compactMetadata"]["preTokens"] = tokens.clone();
    let text =
        format!("{}\n{boundary}\n{}", lines(&["a<- user go", "b<a say r1 x"]), lines(&["d<c say r2 y"]));
    let (session, read) = check_text(&text, &["U \"go\"", "A \"x\"", "A \"y\""]);
    assert_eq!(session.recorded[0].tokens_before, told, "{tokens}");
    assert_eq!(codes(&read), expected, "{tokens}");
    // The usage of a reply is held to the same.
    let mut reply = record("b<a say r1 x");
    reply["message"]["usage"] = json!({"input_tokens": tokens, "output_tokens": 3});
    let (session, read) =
        check_text(&format!("{}\n{reply}", lines(&["a<- user go"])), &["U \"go\"", "A \"x\""]);
    let usage = session.messages[1].usage.as_deref();
    assert_eq!(usage.map(|usage| usage.input), if expected.is_empty() { told.or(Some(0)) } else { None });
    assert_eq!(codes(&read), expected, "{tokens}");
}

#[test]
fn failures_are_flagged_in_these_logs() {
    let mut quiet = record("d<c done t2 error: in the output of a command that worked");
    quiet["message"]["content"][0]["is_error"] = json!(false);
    let text = format!(
        "{}\n{}\n{quiet}\n{}",
        lines(&["a<- user go", "b<a call r1 t1"]),
        lines(&["c<b call r1 t2", "e<b fail t1 Exit code 2"]),
        lines(&["f<d call r2 t3", "g<f done t3 <tool_use_error>no</tool_use_error>"]),
    );
    check_text(
        &text,
        &[
            "U \"go\"",
            "A Bash#t1 Bash#t2",
            "T t1=failed/2 \"Exit code 2\"",
            "T t2=ok \"error: in the output of a command that worked\"",
            "A Bash#t3",
            "T t3=failed \"<tool_use_error>no</tool_use_error>\"",
        ],
    );
}

#[test]
fn client_made_replies_carry_no_usage_and_no_model() {
    let mut made = record("b<a say r1 API Error: overloaded");
    made["message"]["model"] = json!("<synthetic>");
    let (session, read) = check_text(
        &format!("{}\n{made}", lines(&["a<- user go"])),
        &["U \"go\"", "A \"API Error: overloaded\""],
    );
    assert_eq!(session.messages[1].role, Role::Assistant);
    assert_eq!((session.messages[1].usage.as_ref(), session.model), (None, None));
    assert_eq!(codes(&read), ["synthetic-reply"]);
}

#[test]
fn copied_and_unknown_records() {
    let (_, read) =
        check(&["a<- user go", "a<- user go", "b<a widget", "c<b say r1 x"], &["U \"go\"", "A \"x\""]);
    assert_eq!(codes(&read), ["duplicate-record", "unknown-record"]);
}

#[test]
fn records_of_one_id_that_say_different_things_are_all_kept() {
    let (_, read) = check(
        &["a<- user go", "a<- user other", "a<- user go", "a<- user other", "b<a say r1 x"],
        &["U \"go\"", "U \"other\"", "A \"x\""],
    );
    assert_eq!(codes(&read), ["reused-id", "duplicate-record"]);
    // The id of a record that came much earlier.
    let (_, read) = check(
        &["a<- user go", "b<a say r1 x", "a<b user more", "c<a say r2 y", "b<c user last"],
        &["U \"go\"", "A \"x\"", "U \"more\"", "A \"y\"", "U \"last\""],
    );
    assert_eq!(codes(&read), ["reused-id"]);
    // A record that is only a link does not take the id from one that says something.
    check(&["a<- user go", "b<a progress", "b<a say r1 x", "b<a progress"], &["U \"go\"", "A \"x\""]);
}

#[test]
fn documents_of_the_user_are_text_that_he_did_not_type() {
    let mut first = record("a<- user x");
    first["message"]["content"] = json!([
        {"type": "document", "title": "spec", "source": {"type": "text", "media_type": "text/plain", "data": "BODY"}},
        {"type": "text", "text": "do it"},
    ]);
    check_text(
        &format!(
            "{first}
{}",
            lines(&["b<a say r1 ok"])
        ),
        &[r#"U ~"spec\nBODY" "do it""#, r#"A "ok""#],
    );
}

#[test]
fn web_exports_and_streams() {
    let export = json!({"loglines": [record("a<- user go"), record("b<a say r1 x")]}).to_string();
    check_text(&export, &["U \"go\"", "A \"x\""]);
    check_text(
        r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/w","uuid":"0"}
{"type":"assistant","session_id":"s","message":{"id":"r1","content":[{"type":"text","text":"x"}]}}
{"type":"result","subtype":"success","session_id":"s"}"#,
        &["A \"x\""],
    );
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(&lines(&[
        "a<- user go",
        "b<a call r1 t1",
        "c<b done t1 x",
        "d<- boundary c",
        "e<d summary s",
        r#"f<e attach {"type":"queued_command","prompt":"p","origin":{"kind":"human"}}"#,
        "g<f say r2 y",
    ]));
    let mut boundary = record("c<- boundary b");
    boundary["compactMetadata"]["preservedSegment"] = json!({"headUuid": "b", "tailUuid": "b"});
    boundary["compactMetadata"]["preservedMessages"] = json!({"uuids": ["b"]});
    check_odd_values(
        &[
            lines(&["a<- user go"]),
            queue("enqueue", Some("and on")),
            lines(&["b<a say r1 x"]),
            boundary.to_string(),
            queue("remove", Some("and on")),
            lines(&["d<c say r2 y"]),
        ]
        .join("\n"),
    );
}

/// Records on one line are in the order in which they stand there.
#[test]
fn glued_records_keep_their_order() {
    let sketch = [
        "a<- user go",
        "b<a call r1 t1",
        "c<b call r1 t2",
        "d<b done t1 one",
        "e<c done t2 two",
        "x<e attach {\"type\":\"file\",\"content\":\"note\"}",
        "f<e say r2 three",
        "g<f user more",
        "h<g call r3 t3",
        "i<h done t3 four",
        "j<i say r4 five",
    ];
    let records: Vec<String> = sketch.iter().map(|sketch| record(sketch).to_string()).collect();
    let whole = check_text(
        &records.join("\n"),
        &[
            "U \"go\"",
            "A Bash#t1 Bash#t2",
            "T t1=ok \"one\"",
            "T t2=ok \"two\"",
            "U ~\"note\"",
            "A \"three\"",
            "U \"more\"",
            "A Bash#t3",
            "T t3=ok \"four\"",
            "A \"five\"",
        ],
    );
    let shown = crate::ingest::sketch::sketch(&whole.0);
    let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
    let (_, read) = check_text(&records.concat(), &shown);
    assert_eq!(codes(&read), ["glued-records"]);
    for at in 1..records.len() {
        let (front, back) = records.split_at(at);
        check_text(&format!("{}{}", front.join("\n"), back.join("\n")), &shown);
        check_text(&format!("{}\n{}", front.concat(), back.concat()), &shown);
    }
}

/// A message from the queue is handed over in the same place, and known as told, on however few lines its records stand.
#[test]
fn glued_records_of_the_queue_keep_their_order() {
    let queue = |operation: &str| {
        json!({"type": "queue-operation", "operation": operation, "sessionId": "s-1", "content": "and the docs"})
            .to_string()
    };
    let record = |sketch: &str| record(sketch).to_string();
    let handed = [
        record("a<- user go"),
        record("b<a call r1 t1"),
        queue("enqueue"),
        queue("remove"),
        record("c<b done t1 one"),
        record("d<c say r2 two"),
    ];
    let expected = ["U \"go\"", "A Bash#t1", "T t1=ok \"one\"", "U \"and the docs\"", "A \"two\""];
    check_text(&handed.join("\n"), &expected);
    check_text(&handed.concat(), &expected);
    let told = [
        record("a<- user go"),
        record("b<a say r1 one"),
        queue("enqueue"),
        queue("dequeue"),
        record("c<b user and the docs"),
        record("d<c say r2 two"),
    ];
    let expected = ["U \"go\"", "A \"one\"", "U \"and the docs\"", "A \"two\""];
    check_text(&told.join("\n"), &expected);
    check_text(&told.concat(), &expected);
}
