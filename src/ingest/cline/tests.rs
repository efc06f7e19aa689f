//! Histories and messages of the interface written by hand.

use super::super::sketch::{check, check_odd_values, codes, read_one, read_trees, sketch};
use crate::transcript::{Outcome, Part, Usage};

const ENVIRONMENT: &str =
    "<environment_details>\\n# Current Working Directory (/w/app) Files\\na.rs\\n</environment_details>";

/// A message of the user's role with these texts and the block that ends it.
fn sent(texts: &[&str]) -> String {
    let blocks =
        texts.iter().chain([&ENVIRONMENT]).map(|text| format!(r#"{{"type":"text","text":"{text}"}}"#));
    format!(r#"{{"role":"user","content":[{}]}}"#, blocks.collect::<Vec<_>>().join(","))
}

fn reply(text: &str) -> String {
    format!(r#"{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}]}}"#)
}

/// The history as its file has it.
fn array(elements: &[&str]) -> String {
    format!("[{}]", elements.join(","))
}

fn environment() -> String {
    format!("~{:?}", ENVIRONMENT.replace("\\n", "\n"))
}

#[test]
fn calls_as_markup_and_results_as_text() {
    let environment = environment();
    let log = array(&[
        &sent(&["<task>\\nfix it\\n</task>"]),
        &reply("Let me look.\\n\\n<read_file>\\n<path>a.rs</path>\\n</read_file>"),
        &sent(&["[read_file for 'a.rs'] Result:", "fn main() {}"]),
        &reply(
            "<write_to_file>\\n<path>b.html</path>\\n<content>\\n<path>x</path>\\n</content>\\n</write_to_file>",
        ),
        &sent(&[
            "[write_to_file for 'b.html'] Result:\\nThe user denied this operation.",
            "<feedback>\\nnot there\\n</feedback>",
        ]),
        &reply("<execute_command>\\n<command>false</command>\\n</execute_command>"),
        &sent(&[
            "[execute_command for 'false'] Result:\\nCommand executed in terminal. Exit code: 3\\nOutput:\\n",
        ]),
        &reply("It says <read_file> in a line."),
        &sent(&["[ERROR] You did not use a tool"]),
    ]);
    let (session, read) = check(
        &log,
        &[
            &format!(r#"U "fix it" {environment}"#),
            r#"A "Let me look." read_file#"#,
            r#"T =ok "fn main() {}""#,
            &format!("U {environment}"),
            "A write_to_file#",
            r#"T =failed "The user denied this operation.""#,
            &format!(r#"U "not there" {environment}"#),
            "A execute_command#",
            r#"T =failed/3 "Command executed in terminal. Exit code: 3\nOutput:\n""#,
            &format!("U {environment}"),
            r#"A "It says <read_file> in a line.""#,
            &format!(r#"U ~"[ERROR] You did not use a tool" {environment}"#),
        ],
    );
    let arguments: Vec<&str> =
        session.links.iter().map(|link| session.call(link).unwrap().arguments.as_str()).collect();
    assert_eq!(
        arguments,
        [r#"{"path":"a.rs"}"#, r#"{"path":"b.html","content":"<path>x</path>\n"}"#, r#"{"command":"false"}"#]
    );
    assert!(session.messages.iter().all(|message| message.cwd.as_deref() == Some("/w/app")));
    assert_eq!((read.raw.messages, read.raw.tool_calls), (9, 0));
    assert_eq!(codes(&read), Vec::<&str>::new());
}

#[test]
fn thinking_as_markup() {
    let log = array(&[
        &sent(&["go"]),
        &reply(
            "<thinking>\\nI could\\n<list_files>\\n</list_files>\\n</thinking>\\n\\nReading.\\n<read_file>\\n<path>a</path>\\n</read_file>",
        ),
        &sent(&["[read_file for 'a'] Result:\\nx"]),
        &reply("So <thinking>not this</thinking>"),
    ]);
    let (session, _) = read_one(&log);
    let shown = sketch(&session);
    assert_eq!(shown[1], "A (I could\n<list_files>\n</list_files>) \"Reading.\" read_file#");
    assert_eq!(shown[4], r#"A "So <thinking>not this</thinking>""#);
}

#[test]
fn a_call_inside_a_line_is_one_where_it_is_the_last_tag() {
    let call = "<read_file>\\n<path>src/a.rs</path>\\n</read_file>";
    for (text, calls) in [
        (format!("ok {call}"), 1),
        (format!("ok {call} then"), 1),
        (format!("I use <read_file> now:\\n{call}"), 1),
        (format!("first {call} then\\n{call}"), 1),
        (format!("{call} and {call}"), 2),
        (format!("as in `{call}`"), 0),
        ("say <read_file>x</read_file>".to_owned(), 0),
        ("ok <read_file>\\n<path>src/a.rs</path>".to_owned(), 0),
    ] {
        let log = array(&[&sent(&["go"]), &reply(&text), &sent(&["more"])]);
        let (session, _) = read_one(&log);
        let reply = &session.messages[1];
        let found = reply.parts.iter().filter(|part| matches!(part, Part::Call(_))).count();
        assert_eq!(found, calls, "{text}: {reply:?}");
    }
    let log = array(&[
        &sent(&["go"]),
        &reply(&format!("ok {call}")),
        &sent(&["[read_file for 'src/a.rs'] Result:\\nx"]),
    ]);
    let (session, _) = read_one(&log);
    assert_eq!(sketch(&session)[1..3], [r#"A "ok" read_file#"#, r#"T =ok "x""#]);
    assert_eq!(session.call(&session.links[0]).unwrap().arguments, r#"{"path":"src/a.rs"}"#);
}

#[test]
fn calls_as_blocks() {
    let log = array(&[
        r#"{"role":"user","content":"go","ts":1700000000000}"#,
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"a","name":"read_file","input":{"path":"x"}},{"type":"tool_use","id":"b","name":"read_file","input":{"path":"y"}}],"modelInfo":{"modelId":"m"},"metrics":{"tokens":{"prompt":10,"completion":5,"cached":90},"cost":0}}"#,
        r#"{"role":"user","content":[{"type":"text","text":"[read_file for 'x'] Result:\nbody"},{"type":"tool_result","tool_use_id":"b","content":"other"}]}"#,
        r#"{"role":"assistant","content":"done"}"#,
    ]);
    let (session, read) = check(
        &log,
        &[r#"U "go""#, "A (hm) read_file#a read_file#b", r#"T =ok "body" b=ok "other""#, r#"A "done""#],
    );
    let usage = Usage { input: 100, cache_read: 90, cache_write: 0, output: 5 };
    assert_eq!(session.messages[1].usage.as_deref(), Some(&usage));
    assert_eq!((session.model.as_deref(), session.messages[0].time), (Some("m"), Some(1_700_000_000_000)));
    assert_eq!(read.raw.tool_calls, 2);
}

#[test]
fn a_reply_cut_off_and_an_image_in_a_result() {
    let log = array(&[
        &sent(&["go"]),
        &reply("<read_file>\\n<path>a.rs"),
        r#"{"role":"user","content":[{"type":"text","text":"[browser_action for 'x'] Result:"},{"type":"image","source":{"type":"base64","data":"AA"}}]}"#,
    ]);
    let (session, _) = read_one(&log);
    assert_eq!(session.call(&session.links[0]).unwrap().arguments, r#"{"path":"a.rs"}"#);
    assert_eq!(session.result(&session.links[0]).unwrap().images, 1);
}

#[test]
fn marked_messages_of_a_summary_are_not_kept() {
    let tagged = |element: &str| element.replacen('{', r#"{"condenseParent":"k","#, 1);
    let summary = r#"{"role":"assistant","content":"So far: x.","isSummary":true,"condenseId":"k"}"#;
    let first = sent(&["go"]);
    let log = array(&[
        &first,
        &tagged(&reply("a")),
        &tagged(&sent(&["more"])),
        summary,
        &sent(&["on"]),
        &reply("b"),
    ]);
    let (session, read) = read_one(&log);
    let [recorded] = session.recorded.as_slice() else { panic!("{session:#?}") };
    let kept: Vec<u32> = recorded.kept.iter().map(|at| at.0).collect();
    assert_eq!((recorded.before.get(), kept, recorded.summary.as_deref()), (3, vec![0], Some("So far: x.")));
    assert_eq!((session.messages.len(), read.raw.compactions), (5, 1));
    // A history that was written anew has no marks: it begins with the summary.
    let (session, _) = read_one(&array(&[&first, summary, &sent(&["on"])]));
    assert!(session.starts_compacted);
    assert!(sketch(&session)[0].starts_with(r#"U ~"So far: x.""#));
    let marker =
        r#"{"role":"user","content":"[3 messages hidden]","isTruncationMarker":true,"truncationId":"t"}"#;
    let cut = |element: &str| element.replacen('{', r#"{"truncationParent":"t","#, 1);
    let (session, _) = read_one(&array(&[&first, &cut(&reply("a")), marker, &sent(&["on"])]));
    assert_eq!((session.recorded[0].summary.as_deref(), session.recorded[0].kept.len()), (None, 1));
}

const SHOWN: &str = r#"[
{"ts":1700000000000,"type":"say","say":"task","text":"fix it","conversationHistoryIndex":-1},
{"ts":1700000000500,"type":"say","say":"api_req_started","text":"{\"tokensIn\":10,\"tokensOut\":5,\"cacheReads\":80,\"cacheWrites\":10}","conversationHistoryIndex":-1},
{"ts":1700000001000,"type":"say","say":"reasoning","text":"hm"},
{"ts":1700000001500,"type":"say","say":"text","text":"Let me look."},
{"ts":1700000001600,"type":"say","say":"text","text":"half","partial":true},
{"ts":1700000002000,"type":"ask","ask":"tool","text":"{\"tool\":\"readFile\",\"path\":\"a.rs\",\"content\":\"/w/a.rs\"}"},
{"ts":1700000003000,"type":"ask","ask":"command","text":"cargo testREQ_APP"},
{"ts":1700000004000,"type":"say","say":"command_output","text":"error: no"},
{"ts":1700000004500,"type":"say","say":"command_output","text":"more"},
{"ts":1700000005000,"type":"say","say":"user_feedback","text":"go on"},
{"ts":1700000005100,"type":"say","say":"condense_context","contextCondense":{"summary":"S","prevContextTokens":900,"newContextTokens":90}},
{"ts":1700000006000,"type":"say","say":"completion_result","text":"done"},
{"ts":1700000006000,"type":"ask","ask":"completion_result","text":""},
{"ts":1700000007000,"type":"say","say":"checkpoint_created"},
{"ts":1700000007000,"type":"say","say":"error","text":"no network"},
{"ts":1700000008000,"type":"ask","ask":"followup","text":"{\"question\":\"Next?\",\"options\":[]}"}
]"#;

#[test]
fn the_interface_alone() {
    let (session, read) = check(
        SHOWN,
        &[
            r#"U "fix it""#,
            r#"A (hm) "Let me look." read_file# execute_command#"#,
            r#"T =failed "error: no\nmore""#,
            r#"U "go on""#,
            r#"A "done" "Next?""#,
        ],
    );
    assert_eq!(session.messages[1].usage.as_ref().map(|usage| (usage.input, usage.output)), Some((100, 5)));
    assert_eq!(session.recorded[0].tokens_before, Some(900));
    assert_eq!((read.raw.messages, read.raw.tool_calls, read.raw.compactions), (16, 2, 1));
    assert_eq!(codes(&read), ["kept-unknown", "shown-error"]);
}

/// A task of six messages from which two were cut before the last reply.
fn task() -> Vec<(&'static str, String)> {
    let history = array(&[
        &sent(&["<task>go</task>"]),
        &reply("a"),
        &sent(&["b"]),
        &reply("c"),
        &sent(&["d"]),
        &reply("e"),
    ]);
    let shown = r#"[
{"ts":1700000000000,"type":"say","say":"api_req_started","text":"{\"tokensIn\":10,\"tokensOut\":5}","conversationHistoryIndex":-1},
{"ts":1700000005000,"type":"say","say":"api_req_started","text":"{\"tokensIn\":70,\"tokensOut\":7}","conversationHistoryIndex":3},
{"ts":1700000006000,"type":"say","say":"text","text":"e","conversationHistoryIndex":4,"conversationHistoryDeletedRange":[2,3]},
{"ts":1700000007000,"type":"say","say":"text","text":"f","conversationHistoryIndex":4,"conversationHistoryDeletedRange":[2,3]}
]"#;
    vec![
        ("tasks/17/ui_messages.json", shown.to_owned()),
        ("tasks/17/api_conversation_history.json", history),
        ("tasks/17/task_metadata.json", r#"{"files_in_context":[],"model_usage":[]}"#.to_owned()),
        ("tasks/18/api_conversation_history.json", "[]".to_owned()),
    ]
}

#[test]
fn the_directory_of_a_task_tells_what_was_cut() {
    let files = task();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let read = read_trees(&files);
    let [read] = read.as_slice() else { panic!("{read:#?}") };
    let [session] = read.sessions.as_slice() else { panic!("{read:#?}") };
    assert_eq!((session.id.as_str(), session.messages.len()), ("17", 6));
    let [recorded] = session.recorded.as_slice() else { panic!("{session:#?}") };
    let kept: Vec<u32> = recorded.kept.iter().map(|at| at.0).collect();
    assert_eq!((recorded.before.get(), kept), (5, vec![0, 1, 4]));
    assert_eq!(session.messages[1].usage.as_ref().map(|usage| usage.input), Some(10));
    assert_eq!(session.messages[5].usage.as_ref().map(|usage| usage.input), Some(70));
    assert_eq!(session.messages[5].time, Some(1_700_000_005_000));
    assert_eq!((read.raw.messages, read.raw.compactions), (6, 1));
}

#[test]
fn what_stands_beside_a_task_is_a_part_of_a_log() {
    for text in [
        r#"[{"id":"17","ts":1700000000000,"task":"go","tokensIn":1,"tokensOut":2}]"#,
        r#"{"files_in_context":[],"model_usage":[]}"#,
    ] {
        let read = crate::ingest::ingest(text.as_bytes(), "x.json");
        assert_eq!(codes(&read), ["part-of-log"], "{text}");
    }
}

#[test]
fn results_are_told_by_their_header() {
    for (text, body) in [
        ("[read_file for 'a'] Result:\nx", Some("\nx")),
        ("[list_files for '[a]'] Result:", Some("")),
        ("[new_task in code mode] Result:", None),
        ("[attempt_completion] Result:\nok", Some("\nok")),
        ("[x](y) Result:", None),
        ("[ERROR] no", None),
        ("[] Result:", None),
    ] {
        assert_eq!(super::markup::result_of(text), body, "{text}");
    }
    assert_eq!(super::markup::ended("Command executed.\nOutput:"), None);
    assert_eq!(super::markup::ended("{\"status\":\"error\"}"), Some((Outcome::Failed, None)));
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(
        &[
            sent(&["<task>go</task>"]).as_str(),
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read_file","input":{"path":"x"}}],"modelInfo":{"modelId":"m"},"metrics":{"tokens":{"prompt":10,"cached":90}},"ts":5}"#,
            r#"{"role":"user","content":[{"type":"text","text":"[read_file for 'x'] Result:"},{"type":"image"},{"type":"tool_result","tool_use_id":"a","content":[]}]}"#,
            r#"{"role":"user","content":"x","condenseParent":"k","truncationParent":"t"}"#,
            r#"{"role":"assistant","content":"So far: x.","isSummary":true,"condenseId":"k"}"#,
            r#"{"role":"user","content":"cut","isTruncationMarker":true,"truncationId":"t"}"#,
        ]
        .join("\n"),
    );
    let lines: Vec<&str> = SHOWN.trim_matches(['[', ']', '\n']).split(",\n").collect();
    check_odd_values(&lines.join("\n"));
}

/// Files of one name in the directories of all tasks are named after the task.
#[test]
fn a_file_alone_is_named_after_its_task() {
    let shown = r#"[{"ts":1,"type":"say","say":"text","text":"fix it"}]"#;
    for (path, id) in [
        ("tasks/17/ui_messages.json", "17"),
        ("tasks\\17\\ui_messages.json", "17"),
        ("./ui_messages.json", "ui_messages"),
        ("ui_messages.json", "ui_messages"),
        ("tasks/17/old.json", "old"),
    ] {
        let read = crate::ingest::ingest(shown.as_bytes(), path);
        assert_eq!(read.sessions[0].id, id, "{path}");
    }
}
