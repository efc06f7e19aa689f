//! Exports and trees written by hand.

use super::super::sketch::{check, check_odd_values, codes, read_one, read_trees, sketch};
use crate::transcript::{Origin, Outcome, Usage};

/// An export with these messages.
fn export(messages: &[&str]) -> String {
    format!(
        r#"{{"info":{{"id":"ses_1","projectID":"p","directory":"/w","title":"T"}},"messages":[{}]}}"#,
        messages.join(",")
    )
}

/// A message: role, further fields of its info, parts.
fn message(role: &str, fields: &str, parts: &[&str]) -> String {
    format!(
        r#"{{"info":{{"role":"{role}","sessionID":"ses_1","time":{{"created":1700000000000}}{fields}}},"parts":[{}]}}"#,
        parts.join(",")
    )
}

fn user(text: &str) -> String {
    message("user", "", &[&format!(r#"{{"type":"text","text":"{text}"}}"#)])
}

fn reply(text: &str) -> String {
    message("assistant", r#","modelID":"m""#, &[&format!(r#"{{"type":"text","text":"{text}"}}"#)])
}

const START: &str = r#"{"type":"step-start"}"#;

#[test]
fn steps_become_messages_with_their_results() {
    let steps = message(
        "assistant",
        r#","modelID":"m","path":{"cwd":"/w/sub","root":"/w"},"tokens":{"input":1,"output":2,"reasoning":0,"cache":{"read":0,"write":0}}"#,
        &[
            START,
            r#"{"type":"reasoning","text":"hm"}"#,
            r#"{"type":"tool","callID":"a","tool":"read","state":{"status":"completed","input":{"filePath":"/w/x"},"output":"body"}}"#,
            r#"{"type":"tool","callID":"b","tool":"bash","state":{"status":"completed","input":{"command":"false"},"output":"","metadata":{"exit":1},"time":{"start":1700000001000,"end":1700000002000}}}"#,
            r#"{"type":"step-finish","tokens":{"total":160,"input":10,"output":20,"reasoning":30,"cache":{"read":40,"write":60}}}"#,
            START,
            r#"{"type":"tool","callID":"c","tool":"edit","state":{"status":"error","input":{},"error":"old text not found"}}"#,
            r#"{"type":"tool","callID":"d","tool":"bash","state":{"status":"running","input":{"command":"sleep 9"}}}"#,
            START,
            r#"{"type":"text","text":"done"}"#,
            r#"{"type":"patch","hash":"h","files":["/w/x"]}"#,
        ],
    );
    let (session, read) = check(
        &export(&[&user("go"), &steps]),
        &[
            r#"U "go""#,
            "A (hm) read#a bash#b",
            r#"T a=ok "body" b=failed/1 """#,
            "A edit#c bash#d",
            r#"T c=failed "old text not found""#,
            r#"A "done""#,
        ],
    );
    assert_eq!((session.id.as_str(), session.model.as_deref()), ("ses_1", Some("m")));
    assert_eq!(session.messages[0].cwd.as_deref(), Some("/w"));
    assert_eq!(session.messages[1].cwd.as_deref(), Some("/w/sub"));
    let usage = Usage { input: 110, cache_read: 40, cache_write: 60, output: 50 };
    assert_eq!(session.messages[1].usage.as_deref(), Some(&usage));
    assert_eq!(session.messages[3].usage, None);
    assert_eq!(session.messages[5].usage.as_ref().map(|usage| usage.output), Some(2));
    assert_eq!(session.messages[2].time, Some(1_700_000_002_000));
    assert_eq!((read.raw.messages, read.raw.tool_calls, session.messages[5].line), (2, 4, 2));
    assert_eq!(codes(&read), Vec::<&str>::new());
}

#[test]
fn totals_tell_whether_reasoning_is_in_the_output() {
    for (tokens, output) in [
        (r#"{"total":60,"input":10,"output":20,"reasoning":30,"cache":{"read":0,"write":0}}"#, 50),
        (r#"{"total":60,"input":10,"output":50,"reasoning":30,"cache":{"read":0,"write":0}}"#, 50),
        (r#"{"input":10,"output":50,"reasoning":30}"#, 50),
    ] {
        let said =
            message("assistant", &format!(r#","tokens":{tokens}"#), &[r#"{"type":"text","text":"x"}"#]);
        let (session, _) = read_one(&export(&[&said]));
        assert_eq!(session.messages[0].usage.as_ref().map(|usage| usage.output), Some(output), "{tokens}");
    }
}

#[test]
fn text_after_a_result_is_a_step_of_its_own_where_none_is_marked() {
    let said = message(
        "assistant",
        "",
        &[
            r#"{"type":"tool","callID":"a","tool":"read","state":{"status":"completed","input":{},"output":"body"}}"#,
            r#"{"type":"text","text":"so"}"#,
        ],
    );
    check(&export(&[&said]), &["A read#a", r#"T a=ok "body""#, r#"A "so""#]);
}

#[test]
fn what_the_user_sent() {
    let sent = message(
        "user",
        "",
        &[
            r#"{"type":"text","text":"look at @a"}"#,
            r#"{"type":"text","synthetic":true,"text":"Called the Read tool"}"#,
            r#"{"type":"text","ignored":true,"text":"shown only"}"#,
            r#"{"type":"file","mime":"text/plain","filename":"a","url":"file:///w/a"}"#,
            r#"{"type":"file","mime":"image/png","filename":"b","url":"data:image/png;base64,AAAA"}"#,
            r#"{"type":"file","mime":"application/pdf","filename":"c","url":"data:application/pdf;base64,AAAA"}"#,
            r#"{"type":"subtask","prompt":"search","agent":"explore"}"#,
            r#"{"type":"agent","name":"explore"}"#,
            r#"{"type":"omen"}"#,
        ],
    );
    let (_, read) = check(
        &export(&[&sent]),
        &[r#"U "look at @a" ~"Called the Read tool" [image] <file> ~"Task for explore: search""#],
    );
    assert_eq!(codes(&read), ["unsent-text", "unknown-part"]);
}

/// A log with a compaction: fields of the request for it, fields of the summary.
fn compacted(asked: &str, summary: &str) -> String {
    let one = user("one").replace(r#""info":{"#, r#""info":{"id":"m1","#);
    let two = user("two").replace(r#""info":{"#, r#""info":{"id":"m2","#);
    let request = message("user", "", &[&format!(r#"{{"type":"compaction"{asked}}}"#)]);
    let summary = message("assistant", summary, &[START, r#"{"type":"text","text":"So far: x."}"#]);
    let on = message("user", "", &[r#"{"type":"text","synthetic":true,"text":"Continue"}"#]);
    export(&[&one, &reply("a"), &two, &reply("b"), &request, &summary, &on, &reply("c")])
}

#[test]
fn compactions_are_set_aside() {
    let summary = r#","summary":true,"finish":"stop""#;
    let shown = [r#"U "one""#, r#"A "a""#, r#"U "two""#, r#"A "b""#, r#"U ~"Continue""#, r#"A "c""#];
    for (asked, kept, trigger) in [
        (r#","auto":true"#, Some(0), Some("auto")),
        (r#","auto":false,"tail_start_id":"m2""#, Some(2), Some("manual")),
        (r#","tail_start_id":"gone""#, None, None),
    ] {
        let (session, read) = check(&compacted(asked, summary), &shown);
        let [recorded] = session.recorded.as_slice() else { panic!("{asked}") };
        assert_eq!((recorded.before.get(), recorded.line), (4, 6), "{asked}");
        assert_eq!(recorded.summary.as_deref(), Some("So far: x."));
        assert_eq!((!recorded.kept_unknown).then_some(recorded.kept.len()), kept, "{asked}");
        assert_eq!(recorded.trigger.as_deref(), trigger, "{asked}");
        assert_eq!(read.raw.compactions, 1);
    }
    let failed = r#","summary":true,"error":{"name":"ContextOverflowError","data":{"message":"too long"}}"#;
    let (session, read) = check(&compacted(r#","auto":true"#, failed), &shown);
    assert_eq!((session.recorded.len(), session.refusals[0].text.as_str()), (0, "too long"));
    assert_eq!(codes(&read), ["unfinished-compaction"]);
}

#[test]
fn a_log_that_begins_with_a_summary() {
    let summary = message("assistant", r#","summary":true"#, &[r#"{"type":"text","text":"So far: x."}"#]);
    let (session, _) = check(&export(&[&summary, &user("on")]), &[r#"U ~"So far: x.""#, r#"U "on""#]);
    assert!(session.starts_compacted);
}

#[test]
fn what_was_taken_back_and_what_failed() {
    let undone = user("no").replace(r#""info":{"#, r#""info":{"id":"m9","#);
    let failed = |name: &str| {
        message("assistant", &format!(r#","error":{{"name":"{name}","data":{{"message":"busy"}}}}"#), &[])
    };
    let log = export(&[
        &user("go"),
        &failed("APIError"),
        &failed("MessageAbortedError"),
        &reply("a"),
        &undone,
        &reply("b"),
    ]);
    let log = log.replace(r#""title":"T""#, r#""title":"T","revert":{"messageID":"m9"}"#);
    let (session, read) = check(&log, &[r#"U "go""#, r#"A "a""#]);
    let refusals: Vec<&str> = session.refusals.iter().map(|refusal| refusal.text.as_str()).collect();
    assert_eq!(refusals, ["busy"]);
    assert_eq!(codes(&read), ["empty-reply", "empty-reply", "reverted"]);
    assert_eq!(read.raw.messages, 6);
}

#[test]
fn messages_with_their_parts_in_a_list() {
    let list = format!("[{},{}]", user("go"), reply("a"));
    let (session, _) = check(&list, &[r#"U "go""#, r#"A "a""#]);
    assert_eq!((session.id.as_str(), session.messages[1].line), ("ses_1", 2));
}

const TREE: [(&str, &str); 7] = [
    ("s/storage/part/msg_2/prt_2.json", r#"{"id":"prt_2","messageID":"msg_2","type":"text","text":"there"}"#),
    (
        "s/storage/part/msg_2/prt_1.json",
        r#"{"id":"prt_1","messageID":"msg_2","type":"tool","callID":"c","tool":"read","state":{"status":"completed","input":{"filePath":"a"},"output":"x"}}"#,
    ),
    ("s/storage/part/msg_1/prt_1.json", r#"{"id":"prt_1","messageID":"msg_1","type":"text","text":"hi"}"#),
    (
        "s/storage/message/ses_1/msg_2.json",
        r#"{"id":"msg_2","sessionID":"ses_1","role":"assistant","modelID":"m","time":{"created":2000000000000}}"#,
    ),
    (
        "s/storage/message/ses_1/msg_1.json",
        r#"{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1700000000000}}"#,
    ),
    ("s/storage/session/p/ses_1.json", r#"{"id":"ses_1","projectID":"p","directory":"/w","title":"T"}"#),
    (
        "s/storage/session/p/ses_empty.json",
        r#"{"id":"ses_empty","projectID":"p","directory":"/w","title":"T"}"#,
    ),
];

#[test]
fn a_storage_tree_is_one_log_a_session() {
    let mut files = TREE.to_vec();
    files.push((
        "s/storage/session/p/ses_2.json",
        r#"{"id":"ses_2","projectID":"p","parentID":"ses_1","title":"look (@explore)"}"#,
    ));
    files.push(("s/storage/message/ses_2/msg_3.json", r#"{"id":"msg_3","sessionID":"ses_2","role":"user"}"#));
    files.push((
        "s/storage/part/msg_3/prt_1.json",
        r#"{"id":"prt_1","messageID":"msg_3","type":"text","text":"search"}"#,
    ));
    let read = read_trees(&files);
    let sessions: Vec<_> = read.iter().map(|read| &read.sessions[0]).collect();
    let [main, side] = sessions.as_slice() else { panic!("{read:#?}") };
    assert_eq!(sketch(main), [r#"U "hi""#, "A read#c", r#"T c=ok "x""#, r#"A "there""#]);
    assert_eq!((main.id.as_str(), main.messages[1].cwd.as_deref()), ("ses_1", Some("/w")));
    assert_eq!(sketch(side), [r#"U "search""#]);
    assert_eq!(side.origin, Origin::Sidechain("look (@explore)".to_owned()));
    assert_eq!(read[0].raw.messages, 2);
}

/// Parts whose message is lost, damaged or empty are named, also where a tree holds several sessions.
#[test]
fn what_is_lost_of_a_tree_is_named() {
    let mut files = TREE.to_vec();
    files.push(("s/storage/session/p/ses_2.json", r#"{"id":"ses_2","projectID":"p"}"#));
    files.push(("s/storage/message/ses_2/msg_3.json", r#"{"id":"msg_3","sessionID":"ses_2","role":"user"}"#));
    files.push(("s/storage/message/ses_2/msg_4.json", ""));
    files.push(("s/storage/message/ses_2/msg_5.json", r#"{"id":"msg_5","#));
    for (path, message) in [
        ("s/storage/part/msg_3/prt_1.json", "msg_3"),
        ("s/storage/part/msg_4/prt_2.json", "msg_4"),
        ("s/storage/part/msg_5/prt_3.json", "msg_5"),
        ("s/storage/part/msg_9/prt_4.json", "msg_9"),
    ] {
        let part = format!(r#"{{"id":"{path}","messageID":"{message}","type":"text","text":"search"}}"#);
        files.push((path, part.leak()));
    }
    files.push((
        "s/storage/part/msg_8/prt_5.json",
        r#"{"id":"prt_5","sessionID":"ses_2","messageID":"msg_8","type":"text","text":"search"}"#,
    ));
    let read = read_trees(&files);
    let remarks =
        |at: usize| -> Vec<String> { read[at].diagnostics.iter().map(ToString::to_string).collect() };
    assert_eq!(
        remarks(0),
        [
            "lost-parts: what was said in message msg_8 of session ses_2 is lost (1 parts): its own file is not there or not to be read",
            "lost-parts: what was said in message msg_9 is lost (1 parts): its own file is not there or not to be read"
        ]
    );
    assert_eq!(
        remarks(1),
        [
            "empty-file: msg_4.json: the file is empty; what it held is lost",
            "lost-parts: what was said in message msg_4 is lost (1 parts): its own file is not there or not to be read",
            "lost-parts: what was said in message msg_5 is lost (1 parts): its own file is not there or not to be read",
            "line 1: truncated-line: msg_5.json: the last line is cut off; its record is lost (the log may still be being written)",
        ]
    );
}

#[test]
fn older_trees_lie_below_session() {
    let files = [
        ("storage/session/info/ses_1.json", TREE[5].1),
        ("storage/session/message/ses_1/msg_1.json", TREE[4].1),
        ("storage/session/part/ses_1/msg_1/prt_1.json", TREE[2].1),
        (
            "storage/session/part/ses_1/msg_7/prt_1.json",
            r#"{"id":"prt_1","messageID":"msg_7","type":"text","text":"lost"}"#,
        ),
    ];
    let read = read_trees(&files);
    assert_eq!(sketch(&read[0].sessions[0]), [r#"U "hi""#]);
    assert_eq!(codes(&read[0]), ["lost-parts"]);
}

#[test]
fn a_file_of_a_tree_alone_is_a_part_of_a_log() {
    for (path, text) in TREE {
        let read = crate::ingest::ingest(text.as_bytes(), path);
        assert_eq!(codes(&read), ["part-of-log"], "{path}");
        assert!(read.sessions.is_empty());
    }
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(&compacted(
        r#","auto":true,"tail_start_id":"m2""#,
        r#","summary":true,"finish":"stop","parentID":"x","error":null"#,
    ));
    let said = message(
        "assistant",
        r#","path":{"cwd":"/w"},"tokens":{"input":1,"cache":{"read":1}},"error":{"name":"APIError","data":{"message":"m"}}"#,
        &[
            START,
            r#"{"type":"reasoning","text":"","metadata":{"a":{"b":"cdefg"}}}"#,
            r#"{"type":"tool","callID":"a","tool":"read","state":{"status":"completed","input":{"filePath":"a"},"output":"b","metadata":{"exit":1},"time":{"end":1},"attachments":[{"mime":"image/png"}]}}"#,
        ],
    );
    check_odd_values(&export(&[&said]));
    let (session, _) = read_one(&export(&[&said]));
    let result = session.result(&session.links[0]).unwrap();
    assert_eq!((result.outcome, result.images), (Outcome::Failed, 1));
}
