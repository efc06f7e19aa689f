mod objects;

use std::cell::Cell;
use std::io::Cursor;
use std::rc::Rc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::ingest::ingest;
use crate::transcript::Transcript;

/// Gives its bytes in pieces of this size.
struct Dripping(Cursor<Vec<u8>>, usize);

impl Read for Dripping {
    fn read(&mut self, place: &mut [u8]) -> io::Result<usize> {
        let most = place.len().min(self.1);
        self.0.read(place.get_mut(..most).unwrap_or_default())
    }
}

/// Counts the bytes that were read.
struct Counted(Dripping, Rc<Cell<usize>>);

impl Read for Counted {
    fn read(&mut self, place: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(place)?;
        self.1.set(self.1.get() + read);
        Ok(read)
    }
}

/// Reads a log of lines, and the array of its records, at once and in small batches: sessions, remarks and counts are the same.
fn check(log: &[u8], batch: u64) -> Vec<Transcript> {
    let records: Result<Vec<Value>, _> = log
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(serde_json::from_slice)
        .collect();
    if let Ok(records) = records {
        check_form(&serde_json::to_vec(&records).unwrap(), batch);
        check_form(&serde_json::to_vec_pretty(&records).unwrap(), batch);
    }
    check_form(log, batch)
}

/// The same of a log in one form.
fn check_form(log: &[u8], batch: u64) -> Vec<Transcript> {
    let mut at_once = ingest(log, "dir/log.jsonl");
    let mut sessions = Vec::new();
    let mut open = || -> io::Result<Box<dyn Read>> { Ok(Box::new(Dripping(Cursor::new(log.to_vec()), 700))) };
    let read =
        ingest_in_batches(&mut open, "dir/log.jsonl", &mut |session| sessions.push(session), batch).unwrap();
    let whole = std::mem::take(&mut at_once.sessions);
    assert_eq!(read, at_once);
    let sorted = |sessions: &[Transcript]| {
        let mut sessions = sessions.to_vec();
        sessions.sort_by(|one, other| one.id.cmp(&other.id));
        sessions
    };
    assert_eq!(sorted(&sessions), sorted(&whole));
    sessions
}

/// How many sessions come before all but the last 1,000 bytes of a log are read.
fn early(log: &[u8]) -> u32 {
    let read = Rc::new(Cell::new(0));
    let mut open = || -> io::Result<Box<dyn Read>> {
        let log = Dripping(Cursor::new(log.to_vec()), 50);
        // Opened again it is looked through.
        let count = if read.get() == 0 { read.clone() } else { Rc::default() };
        Ok(Box::new(Counted(log, count)))
    };
    let mut early = 0;
    let mut each = |_| early += u32::from(read.get() < log.len() - 1000);
    ingest_in_batches(&mut open, "log.jsonl", &mut each, 10).unwrap();
    early
}

fn lines(records: impl IntoIterator<Item = Value>) -> String {
    records.into_iter().fold(String::new(), |text, record| text + &format!("{record}\n"))
}

/// A Claude Code session of `turns` requests with their replies.
fn claude(id: &str, turns: usize) -> Vec<Value> {
    let mut records = Vec::new();
    for at in 0..turns * 2 {
        let kind = if at % 2 == 0 { "user" } else { "assistant" };
        let content = json!([{"type": "text", "text": format!("{id} says {at}")}]);
        records.push(json!({
            "type": kind, "uuid": format!("{id}-{at}"), "sessionId": id,
            "parentUuid": at.checked_sub(1).map(|before| format!("{id}-{before}")),
            "timestamp": format!("2026-01-02T03:04:{:02}Z", at % 60),
            "message": {"role": kind, "id": format!("m{id}{at}"), "content": content},
        }));
    }
    records
}

fn pi(id: &str, turns: usize) -> Vec<Value> {
    let mut records = vec![json!({"type": "session", "version": 3, "id": id, "cwd": "/w"})];
    records.extend((0..turns).map(|at| {
        let parent = at.checked_sub(1).map(|before| format!("{id}{before}"));
        json!({"type": "message", "id": format!("{id}{at}"), "parentId": parent,
               "message": {"role": "user", "content": format!("{id} asks {at}")}})
    }));
    records
}

fn conversation(id: &str, turns: usize) -> Value {
    let messages: Vec<Value> =
        (0..turns.max(1)).map(|at| json!({"role": "user", "content": format!("{id}: {at}")})).collect();
    json!({"messages": messages})
}

#[test]
fn sessions_come_as_they_end() {
    for batch in [1, 500, 1 << 20] {
        let sessions = check(lines((0..9).map(|at| conversation(&format!("c{at}"), 3))).as_bytes(), batch);
        assert_eq!(sessions.len(), 9);
        assert_eq!(sessions[8].id, "log#9");
        let sessions = check(lines((0..5).flat_map(|at| pi(&format!("p{at}"), 4))).as_bytes(), batch);
        assert_eq!(sessions.len(), 5);
        let sessions = check(lines((0..5).flat_map(|at| claude(&format!("s{at}"), 4))).as_bytes(), batch);
        assert_eq!(sessions.len(), 5);
    }
    // One session, and none.
    assert_eq!(check(lines(claude("alone", 30)).as_bytes(), 300).len(), 1);
    assert_eq!(check(b"", 300).len(), 0);
    assert_eq!(check(b"{\"odd\": 1}\n{\"odd\": 2}\n{\"odd\": 3}\n", 10).len(), 0);
}

/// An array is read element by element where all of it is sound, and as a whole where anything is not.
#[test]
fn arrays_of_any_kind_are_read_as_they_are_at_once() {
    let one = |at: usize| conversation(&format!("c{at}"), 3).to_string();
    let list = |between: &str| (0..40).map(one).collect::<Vec<_>>().join(between);
    let sound = ["[@]", "  [\n @ \n]\n\n", "\u{feff}[@]", "\u{feff} \n[ @ ]"];
    for text in sound {
        let log = text.replace('@', &list(" ,\n"));
        let early = early(log.as_bytes());
        assert!(early > 4, "{text:?}: {early}");
        check_form(log.as_bytes(), 10);
    }
    let odd = [
        "[@",
        "[@,]",
        "[@]]",
        "[@] x",
        "[@][@]",
        "[@]\n{}",
        "[@,7]",
        "[null,@]",
        "[@,{]",
        "[@,{]}]",
        "[[@]]",
        "[,@]",
        "[@,{\"a]",
        "[@ @]",
        "[]",
        "[",
        "[@,\0{}]",
        "\0[@]",
        "[@,{\"a\":\"\u{1}\"}]",
        "[@,{\"a\":\"\\",
        "x\n[@]",
    ];
    for text in odd {
        check_form(text.replace('@', &list(",")).as_bytes(), 10);
    }
    let mut invalid = format!("[{}]", list(",")).into_bytes();
    let at = invalid.len() - 6;
    invalid[at] = 0xff;
    check_form(&invalid, 10);
}

/// What a log is does not hang on what of it is read at once.
#[test]
fn the_first_records_of_a_large_log_decide_nothing() {
    let odd = json!({"type": "odd", "content": "x".repeat(3000)});
    let chat = json!({"role": "user", "content": "y".repeat(3000)});
    for (first, count) in [(&odd, 1), (&odd, 20), (&chat, 1), (&chat, 20)] {
        let mut records = vec![first.clone(); count];
        records.extend(claude("a", 3));
        let log = lines(records);
        for batch in [100, 1000] {
            assert_eq!(check(log.as_bytes(), batch).len(), 1);
            check(format!("\u{feff}{log}").as_bytes(), batch);
        }
    }
    // Which kind of chat it is may show late.
    let mut records = vec![chat; 20];
    records.push(
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r"}]}),
    );
    let mut read = ingest(lines(records.clone()).as_bytes(), "log.jsonl");
    assert_eq!(read.format.take().unwrap().name(), "anthropic-messages");
    check(lines(records).as_bytes(), 100);
}

/// What is gone of a log while it is read is an error, not an end.
#[test]
fn an_array_that_changes_while_it_is_read_is_refused() {
    let list: Vec<String> = (0..9).map(|at| conversation(&format!("c{at}"), 3).to_string()).collect();
    let sound = format!("[{}]", list.join(","));
    let mut opened = 0;
    let mut open = || -> io::Result<Box<dyn Read>> {
        opened += 1;
        let length = if opened == 1 { sound.len() / 2 } else { sound.len() };
        Ok(Box::new(Dripping(Cursor::new(sound.as_bytes()[..length].to_vec()), 50)))
    };
    let error = ingest_in_batches(&mut open, "log.json", &mut |_| {}, 10).unwrap_err();
    assert!(error.to_string().contains("changed while it was read"), "{error}");
}

#[test]
fn a_session_that_goes_on_in_another_is_read_with_it() {
    let mut one = claude("a", 3);
    let mut other = claude("b", 3);
    // The second begins under a record of the first: a resumed session.
    other[0]["parentUuid"] = json!("a-5");
    one.splice(2..2, claude("c", 2));
    one.extend(other);
    let log = lines(one);
    for batch in [1, 400, 900] {
        check(log.as_bytes(), batch);
    }
}

/// Damage in a line hides nothing of which session its records belong to.
#[test]
fn damaged_lines_are_read_with_their_session() {
    // Two records on one line, and one of the sessions ends long before the other.
    let (one, other) = (claude("a", 2), claude("b", 9));
    let mut glued: Vec<String> = one.iter().chain(&other).map(ToString::to_string).collect();
    let first = glued.remove(4);
    glued[3] += &first;
    for batch in [1, 300, 900] {
        let sessions = check((glued.join("\n") + "\n").as_bytes(), batch);
        assert_eq!(sessions.iter().map(|it| it.messages.len()).sum::<usize>(), 22, "{batch}");
        assert_eq!(sessions.len(), 2, "{batch}");
    }
    let (one, other) = (claude("a", 4), claude("b", 4));
    let mut mixed: Vec<String> =
        one.iter().zip(&other).flat_map(|(one, other)| [one.to_string(), other.to_string()]).collect();
    mixed[8] = mixed[8].replace("says", "says\t");
    mixed[9] = format!("\0\0{}", mixed[9]);
    mixed[10] = mixed[10].replacen('{', "{\"odd\":NaN,", 1);
    let glued = mixed.remove(13);
    mixed[12] += &glued;
    let mut log = (mixed.join("\n") + "\n").into_bytes();
    let last = log.len() - "7\"}]}}\n".len();
    log[last] = 0xff;
    for batch in [1, 300, 700, 1_500] {
        let sessions = check(&log, batch);
        assert_eq!(sessions.iter().map(|it| it.messages.len()).collect::<Vec<_>>(), [8, 8], "{batch}");
    }
}

/// Lines that are glued, torn or no text tie sessions together like whole ones, and lines at the beginning that name none belong
/// to the first.
#[test]
fn damaged_lines_are_tied_by_what_is_read_of_them() {
    let mut records = lines((0..3).flat_map(|at| claude(&format!("s{at}"), 3)));
    let glued = records.replacen("}\n{\"type\":\"assistant\"", "}{\"type\":\"assistant\"", 2);
    let torn = records.replacen("{\"type\":\"assistant\"", "{\"type\":\"u{\"type\":\"assistant\"", 2);
    let mut broken = records.replacen(" says ", " \u{1} ", 3).into_bytes();
    broken.iter_mut().filter(|byte| **byte == 1).for_each(|byte| *byte = 0xff);
    records.insert_str(
        0,
        "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"content\":\"s0 says 2\"}\n",
    );
    for log in [glued.as_bytes(), torn.as_bytes(), &broken, records.as_bytes()] {
        for batch in [1, 300, 700] {
            assert_eq!(check(log, batch).len(), 3);
        }
    }
}

/// Sessions of one file do not lend each other directories, messages, or the way in which their records are tied together.
#[test]
fn sessions_are_read_by_themselves() {
    let queue = |operation: &str, session: &str| {
        json!({"type": "queue-operation", "operation": operation, "sessionId": session,
               "content": "and the docs", "timestamp": "2026-01-02T03:04:05Z"})
    };
    let mut first = claude("a", 3);
    for record in &mut first {
        record["cwd"] = json!("/a");
    }
    first.extend([
        queue("enqueue", "a"),
        json!({"type": "user", "uuid": "n", "parentUuid": null,
        "message": {"role": "user", "content": "of no session"}}),
    ]);
    let mut untied = claude("b", 3);
    for record in &mut untied {
        record["parentUuid"] = json!(null);
    }
    let mut mixed = first;
    mixed.extend([queue("enqueue", "c"), queue("remove", "c")]);
    mixed.extend(untied);
    mixed.extend(claude("c", 2));
    mixed.extend([queue("remove", "d")]);
    for batch in [1, 300, 1 << 20] {
        let sessions = check(lines(mixed.clone()).as_bytes(), batch);
        // What names no session goes on with the one before it.
        let counts: Vec<(&str, usize)> =
            sessions.iter().map(|session| (session.id.as_str(), session.messages.len())).collect();
        assert_eq!(counts, [("a", 7), ("b", 6), ("c", 4), ("d", 1)]);
        let elsewhere = sessions.iter().filter(|session| session.id != "a");
        assert!(elsewhere.flat_map(|session| &session.messages).all(|message| message.cwd.is_none()));
    }
}

/// The same ids of replies, calls and agents in several sessions: each is counted once in the file, and each session has its own.
#[test]
fn ids_may_come_again_in_another_session() {
    let mut records = Vec::new();
    for id in ["a", "b", "c"] {
        let mut session = claude(id, 3);
        for (at, record) in session.iter_mut().enumerate().filter(|(at, _)| at % 2 == 1) {
            record["message"]["id"] = json!(format!("reply-{}", at % 4));
        }
        // A branch that was rewound, with a reply whose id is on the path of another session.
        let branch = json!({"type": "assistant", "uuid": format!("{id}-x"), "sessionId": id, "parentUuid": format!("{id}-0"),
            "message": {"role": "assistant", "id": format!("only-{id}"), "content": "no"}});
        session.insert(2, branch);
        let end = session.len() - 1;
        session[end]["message"]["id"] = json!(if id == "a" { "only-b" } else { "only-a" });
        let mut agent = claude(id, 1);
        for record in &mut agent {
            record["isSidechain"] = json!(true);
            record["agentId"] = json!("agent");
            record["uuid"] = json!(format!("{id}-agent-{}", record["uuid"]));
        }
        session.extend(agent);
        records.extend(session);
    }
    // Records whose session is no id, between those of others.
    records.insert(
        4,
        json!({"type": "queue-operation", "operation": "enqueue", "sessionId": 7, "content": "more"}),
    );
    records.insert(9, json!({"type": "attachment", "sessionId": null, "uuid": "odd", "attachment": {"type": "file", "content": "x"}}));
    for batch in [1, 300, 900, 1 << 20] {
        let sessions = check(lines(records.clone()).as_bytes(), batch);
        let mut counts: Vec<usize> = sessions.iter().map(|session| session.messages.len()).collect();
        counts.sort_unstable();
        assert_eq!(counts, [2, 2, 2, 6, 6, 7], "{batch}");
    }
}

/// Messages on lines of their own, and whole conversations between them.
#[test]
fn messages_do_not_go_on_behind_another_conversation() {
    let message = |text: &str| json!({"role": "user", "content": text});
    let log =
        lines([message("a"), message("b"), conversation("c", 2), message("d"), message("e"), message("f")]);
    for batch in [1, 60, 1 << 20] {
        let sessions = check(log.as_bytes(), batch);
        let counts: Vec<usize> = sessions.iter().map(|session| session.messages.len()).collect();
        assert_eq!(counts, [2, 2, 3]);
    }
}

/// Data sets with a conversation a line, with and without ids, alone and beside records of another kind.
#[test]
fn lines_that_are_sessions_are_read_one_by_one() {
    let say = |role: &str| json!({"role": role, "content": format!("{role} says")});
    let both = || json!([say("user"), say("assistant")]);
    let step = json!({"source": "user", "message": "go"});
    let record = |format: &str| match format {
        "sharegpt" => {
            json!({"conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "yes"}]})
        }
        "adp" => json!({"content": [{"class_": "text_observation", "source": "user", "content": "hi"}]}),
        "tau-bench" => json!({"task_id": 1, "reward": 1.0, "traj": both()}),
        "swe-agent" => json!({"trajectory": [], "history": both(), "info": {}}),
        "mini-swe-agent" => json!({"trajectory_format": "mini-swe-agent-1", "messages": both()}),
        "openhands" => json!({"instance_id": "", "history": [
            {"id": 1, "source": "user", "action": "message", "args": {"content": "hi"}}]}),
        "hermes" => {
            json!({"platform": "cli", "system_prompt": "be", "messages": both(), "session_id": ""})
        }
        "goose" => json!({"working_dir": "/w", "conversation": [
            {"role": "user", "created": 1, "content": [{"type": "text", "text": "hi"}]}]}),
        "chatgpt-export" => {
            json!({"current_node": "a", "mapping": {"a": {"id": "a", "parent": null, "children": [],
            "message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["hi"]}}}}})
        }
        "claude-ai-export" => json!({"chat_messages": [{"sender": "human", "text": "hi"}]}),
        "atif" => json!({"schema_version": "ATIF-v1.2", "agent": {"name": "a"}, "steps": [step]}),
        "openai-chat" => json!({"messages": both()}),
        other => panic!("{other}"),
    };
    for (format, id) in [
        ("sharegpt", "id"),
        ("adp", "id"),
        ("tau-bench", "id"),
        ("swe-agent", "instance_id"),
        ("mini-swe-agent", "instance_id"),
        ("openhands", "instance_id"),
        ("hermes", "session_id"),
        ("goose", "id"),
        ("chatgpt-export", "id"),
        ("claude-ai-export", "uuid"),
        ("atif", "session_id"),
        ("openai-chat", "id"),
    ] {
        let mut records: Vec<Value> = (0..6).map(|_| record(format)).collect();
        for (at, record) in records.iter_mut().enumerate().skip(3) {
            record[id] = json!(format!("own-{at}"));
        }
        for count in [1, 2, 6] {
            let log = lines(records.iter().take(count).cloned());
            assert_eq!(ingest(log.as_bytes(), "log.jsonl").format.unwrap().name(), format);
            for batch in [1, 300, 1 << 20] {
                let mut lines: Vec<u32> = check(log.as_bytes(), batch)
                    .iter()
                    .map(|session| session.messages.last().unwrap().line)
                    .collect();
                lines.sort_unstable();
                assert_eq!(lines.len(), count, "{format}");
                assert!(count == 1 || lines == (1..=count as u32).collect::<Vec<_>>(), "{format}: {lines:?}");
            }
        }
        // Sessions come while the log is being read.
        let log = lines((0..60).map(|_| record(format))).into_bytes();
        let early = early(&log);
        assert!(early > 20, "{format}: {early}");
    }
}

/// A trajectory that another one speaks of is that of a sub-agent, whichever comes first.
#[test]
fn records_are_read_knowing_who_speaks_of_them() {
    let steps = |refers: Option<&str>| {
        let results: Vec<Value> = refers
            .iter()
            .map(|id| json!({"content": "done", "subagent_trajectory_ref": [{"trajectory_id": id}]}))
            .collect();
        json!([{"source": "user", "message": "go"}, {"source": "agent", "message": "", "observation": {"results": results}}])
    };
    let record = |id: &str, refers| json!({"schema_version": "ATIF-v1.5", "trajectory_id": id, "agent": {"name": "helper"}, "steps": steps(refers)});
    let log = lines([
        record("a", None),
        record("b", Some("a")),
        record("c", Some("d")),
        record("d", None),
        record("e", None),
    ]);
    for batch in [1, 400, 1 << 20] {
        let sessions = check(log.as_bytes(), batch);
        let side: Vec<&str> = sessions
            .iter()
            .filter(|it| it.origin != crate::transcript::Origin::Main)
            .map(|it| it.id.as_str())
            .collect();
        assert_eq!(side, ["a", "d"]);
    }
}

/// What makes the rest of a file unreadable does so in every batch.
#[test]
fn a_refused_file_is_refused_to_its_end() {
    for version in ["99", "0", "[1]"] {
        let mut log = format!("{{\"format\":\"compactor-transcript\",\"version\":{version}}}\n");
        for id in ["a", "b", "c"] {
            log.push_str(&lines([
                json!({"record": "session", "id": id}),
                json!({"record": "message", "at": 0, "role": "user", "line": 1,
                       "parts": [{"type": "text", "text": "hi"}]}),
            ]));
        }
        for batch in [1, 100, 1 << 20] {
            assert_eq!(check(log.as_bytes(), batch), [], "{version}");
        }
    }
}

/// A session line that says too little ends the session before it all the same.
#[test]
fn a_damaged_session_line_ends_the_session_before() {
    let message = |at: u32| {
        json!({"record": "message", "at": at, "role": "user", "line": 1,
               "parts": [{"type": "text", "text": format!("{at}")}]})
    };
    let log = lines([
        json!({"format": "compactor-transcript", "version": 1}),
        json!({"record": "session", "id": "a"}),
        message(0),
        json!({"record": "session", "id": {}}),
        message(1),
        message(2),
    ]);
    for batch in [1, 100, 1 << 20] {
        let sessions = check(log.as_bytes(), batch);
        let counts: Vec<usize> = sessions.iter().map(|session| session.messages.len()).collect();
        assert_eq!(counts, [1, 2]);
    }
}

#[test]
fn headers_without_ids_begin_sessions_in_batches_too() {
    for id in [json!(null), json!(""), json!(["x"])] {
        let mut records: Vec<Value> = (0..4).flat_map(|at| pi(&format!("p{at}"), 2)).collect();
        for header in records.iter_mut().filter(|record| record["type"] == "session") {
            header["id"] = id.clone();
        }
        for first in 0..2 {
            for batch in [1, 300, 1 << 20] {
                assert_eq!(check(lines(records.clone().split_off(first)).as_bytes(), batch).len(), 4, "{id}");
            }
        }
    }
}

#[test]
fn what_is_no_list_of_lines_is_read_whole() {
    check(
        b"[\n {\"role\": \"user\", \"content\": \"a\"},\n {\"role\": \"assistant\", \"content\": \"b\"}\n]\n",
        1,
    );
    check(b"\xef\xbb\xbf{\"role\": \"user\", \"content\": \"a\"}\n{\"role\": \"assistant\", \"content\": \"b\"}", 1);
    check(b"\n\n  \nplain text\nthat is no log\n", 1);
    // Text of another kind, though its line looks like a record, and a record with bytes that are none.
    let record = b"{\0\"\0\"type\":\"summary\",\"leafUuid\":\"\"}\n";
    check(record, 1);
    check(&record.map(|byte| if byte == b'"' { 0 } else { byte }), 1);
}

/// Records of several sessions of one format behind each other, each session with its count of messages.
fn check_sessions(log: &[Value], expected: &[(&str, usize)]) {
    for batch in [1, 150, 500, 1 << 20] {
        let sessions = check(lines(log.iter().cloned()).as_bytes(), batch);
        let mut counts: Vec<(&str, usize)> =
            sessions.iter().map(|session| (session.id.as_str(), session.messages.len())).collect();
        counts.sort_unstable();
        assert_eq!(counts, expected, "{batch}");
    }
}

#[test]
fn sessions_of_qwen_code_are_told_apart_by_their_ids() {
    let session = |id: &str| -> Vec<Value> {
        let record = |at: usize| {
            let (kind, role) = if at.is_multiple_of(2) { ("user", "user") } else { ("assistant", "model") };
            json!({"uuid": format!("u{at}"), "parentUuid": at.checked_sub(1).map(|at| format!("u{at}")),
                   "sessionId": id, "type": kind, "message": {"role": role, "parts": [{"text": format!("{id} {at}")}]}})
        };
        (0..4).map(record).collect()
    };
    let (one, other) = (session("a"), session("b"));
    let mut log: Vec<Value> = vec![json!({"type": "omen"})];
    log.extend(one.iter().chain(&other).cloned());
    log.push(json!({"type": "user", "message": {"parts": [{"text": "of b"}]}}));
    check_sessions(&log, &[("a", 4), ("b", 5)]);
    let mixed: Vec<Value> = one.into_iter().zip(other).flat_map(|(one, other)| [one, other]).collect();
    check_sessions(&mixed, &[("a", 4), ("b", 4)]);
}

/// One session of a format, with the count of its messages.
fn session_of(format: &str, id: &str) -> (Vec<Value>, usize) {
    let both = |record: fn(&str, &str) -> Value| vec![record("user", id), record("assistant", id)];
    match format {
        "droid" => {
            let mut session = vec![json!({"type": "session_start", "id": id, "cwd": "/w"})];
            session.extend(both(
                |role, id| json!({"type": "message", "message": {"role": role, "content": id}}),
            ));
            (session, 2)
        }
        "droid-stream" => {
            let said =
                |role: &str, id: &str| json!({"type": "message", "sessionId": id, "role": role, "text": id});
            (both(said), 2)
        }
        "kimi" => {
            let mut session = vec![json!({"type": "metadata", "protocol_version": "1", "session_id": id})];
            session.extend(both(|role, id| {
                json!({"type": "context.append_message", "message": {"role": role, "content": id}})
            }));
            (session, 2)
        }
        "copilot-cli" => {
            let mut session = vec![json!({"type": "session.start", "id": "e", "data": {"sessionId": id}})];
            session.extend(both(
                |role, id| json!({"type": format!("{role}.message"), "id": "e", "data": {"content": id}}),
            ));
            (session, 2)
        }
        "gemini-cli" => {
            let mut session = vec![json!({"sessionId": id, "projectHash": "h", "startTime": "t"})];
            session.extend(both(
                |role, id| json!({"id": role, "type": role.replace("assistant", "gemini"), "content": id}),
            ));
            (session, 2)
        }
        "gemini-stream" => {
            let mut session = vec![json!({"type": "init", "session_id": id, "model": "m"})];
            session.extend(both(|role, id| json!({"type": "message", "role": role, "content": id})));
            (session, 2)
        }
        "codex-exec" => {
            let item = json!({"id": "i", "type": "agent_message", "text": id});
            let session = vec![
                json!({"type": "thread.started", "thread_id": id}),
                json!({"type": "item.started", "item": item}),
                json!({"type": "item.completed", "item": item}),
            ];
            (session, 1)
        }
        "grok" => {
            let update = |role: &str, id: &str| {
                let kind = format!("{}_message_chunk", role.replace("assistant", "agent"));
                json!({"method": "session/update", "params": {"sessionId": id,
                       "update": {"sessionUpdate": kind, "content": {"type": "text", "text": id}}}})
            };
            (both(update), 2)
        }
        "antigravity" => {
            let session = vec![
                json!({"step_index": 0, "source": "USER_EXPLICIT", "type": "USER_INPUT", "content": id}),
                json!({"step_index": 1, "source": "MODEL", "type": "PLANNER_RESPONSE", "content": id}),
            ];
            (session, 2)
        }
        "goose" => {
            let mut session = vec![json!({"working_dir": "/w", "message_count": 2})];
            session.extend(both(
                |role, id| json!({"role": role, "created": 1, "content": [{"type": "text", "text": id}]}),
            ));
            (session, 2)
        }
        other => panic!("{other}"),
    }
}

/// Logs joined to one file are as many sessions, each with what was said in it.
#[test]
fn sessions_behind_each_other_are_told_apart() {
    for format in [
        "droid",
        "droid-stream",
        "kimi",
        "copilot-cli",
        "gemini-cli",
        "gemini-stream",
        "codex-exec",
        "grok",
        "antigravity",
        "goose",
    ] {
        let (mut log, count) = session_of(format, "a");
        log.extend(session_of(format, "b").0);
        log.extend(session_of(format, "c").0);
        let named = !["antigravity", "goose"].contains(&format);
        let ids = if named { ["a", "b", "c"] } else { ["log#1", "log#2", "log#3"] };
        check_sessions(&log, &ids.map(|id| (id, count)));
        for session in check(lines(log.clone()).as_bytes(), 1) {
            let said: Vec<String> =
                session.messages.iter().map(crate::transcript::Message::authored_text).collect();
            assert!(said.iter().all(|text| *text == said[0]), "{format}: {said:?}");
        }
        // Alone it is named as ever.
        let alone = check(lines(session_of(format, "a").0).as_bytes(), 1);
        assert_eq!(
            alone.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(),
            [if named { "a" } else { "log" }]
        );
        // Where records name their session they may be mixed.
        if ["droid-stream", "grok"].contains(&format) {
            let (one, other) = (session_of(format, "a").0, session_of(format, "b").0);
            let mixed: Vec<Value> =
                one.into_iter().zip(other).flat_map(|(one, other)| [one, other]).collect();
            check_sessions(&mixed, &[("a", 2), ("b", 2)]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn order_of_records_and_batches_change_nothing(
        turns in proptest::collection::vec(1usize..6, 1..6),
        order in proptest::collection::vec(0usize..6, 0..60),
        batch in 1u64..3000,
    ) {
        let mut sessions: Vec<std::collections::VecDeque<Value>> = turns
            .iter()
            .enumerate()
            .map(|(at, turns)| claude(&format!("s{at}"), *turns).into())
            .collect();
        let mut mixed = Vec::new();
        for pick in order {
            let count = sessions.len();
            mixed.extend(sessions[pick % count].pop_front());
        }
        mixed.extend(sessions.into_iter().flatten());
        check(lines(mixed).as_bytes(), batch);
    }
}

/// Messages of a document stand at positions in it: what stands at the line of that number tells no time of theirs.
#[test]
fn times_of_other_records_are_none_of_a_document() {
    let odd = json!({"timestamp": 1_767_323_045, "method": "odd"});
    let gemini = json!({"sessionId": "g", "startTime": "2026-01-02T03:04:05Z", "projectHash": "p",
        "messages": [{"id": "a", "type": "user", "content": "hi"}]});
    let inspect = json!({"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "plan": {},
        "samples": [{"id": "s", "epoch": 1, "messages": [{"role": "user", "content": "hi"}]}]});
    for document in [gemini, inspect] {
        let log = lines([odd.clone(), document]);
        for batch in [1, 1000] {
            let sessions = check(log.as_bytes(), batch);
            assert_eq!((sessions.len(), sessions[0].messages[0].time), (1, None), "{log}");
        }
    }
}

/// In a line of several records the first one may name no session: it belongs to what is before the line.
#[test]
fn a_nameless_record_glued_to_others_is_tied_to_what_is_before_it() {
    let update = |id: Value, update: Value| json!({"timestamp": 1_784_388_058, "method": "session/update", "params": {"sessionId": id, "update": update}});
    let say = |text: &str| json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
    let user = json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "go"}});
    let log = format!(
        "{}\n{}\n{}{}\n{}\n",
        update(json!("one"), user.clone()),
        update(json!("two"), user),
        update(json!(7), say("to the second")),
        update(json!("one"), say("to the first")),
        update(json!("one"), say(", and on")),
    );
    for batch in [1, 200, 1000] {
        check_form(log.as_bytes(), batch);
    }
}

#[test]
fn what_another_session_has_is_not_known_of_this_one() {
    let reply = json!({
        "type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "one", "cwd": "/work",
        "message": {"id": "r1", "role": "assistant", "content": [{"type": "text", "text": "well"}]},
    });
    let boundary = json!({
        "type": "system", "subtype": "compact_boundary", "uuid": "c", "parentUuid": null, "sessionId": "two", "cwd": "/work",
        "logicalParentUuid": "x",
        "compactMetadata": {"trigger": "manual", "preTokens": 900, "preservedSegment": {"headUuid": "b", "tailUuid": "b"}},
    });
    let log = lines([reply, boundary]) + "{\"type\":\"user\",\"message\":{\"role\":\"";
    for batch in [1, 50, 500] {
        check_form(log.as_bytes(), batch);
    }
}

/// A history of Cline; `summary` is the record in which Roo sums up what the records before it said, tagged or not.
fn cline(turns: usize, summary: Option<(usize, bool)>) -> Vec<Value> {
    let mut records = Vec::new();
    for at in 0..turns {
        let (role, said) = if at % 2 == 0 {
            (
                "user",
                format!(
                    "{at}\n<environment_details>\n# Current Workspace Directory (/w{}) Files\n</environment_details>",
                    at / 10
                ),
            )
        } else {
            ("assistant", format!("reply {at}"))
        };
        let mut record = json!({"role": role, "content": [{"type": "text", "text": said}], "ts": 1_700_000_000_000_u64 + at as u64});
        if role == "assistant" {
            record["modelInfo"] = json!({"modelId": "m"});
        }
        if let Some((_, true)) = summary.filter(|(before, _)| at < *before) {
            record["condenseParent"] = json!("c");
        }
        records.push(record);
    }
    if let Some((before, _)) = summary {
        let record = json!({"role": "user", "content": "so far", "isSummary": true, "condenseId": "c"});
        records.insert(before, record);
    }
    records
}

#[test]
fn one_session_is_read_from_batch_to_batch() {
    let text = |said: String| json!([{"type": "text", "text": said}]);
    let cursor = (0..60).map(|at| {
        let content = match at % 3 {
            0 => text(format!("<user_query>{at}</user_query>")),
            1 => json!([{"type": "tool_use", "name": "Read", "input": {"path": at}}]),
            _ => json!([{"type": "tool_result", "tool_use_id": format!("t{at}"), "content": "x"}]),
        };
        let role = if at % 3 == 1 { "assistant" } else { "user" };
        let time = format!("2026-01-02T03:04:{:02}Z", at % 60);
        json!({"role": role, "message": {"content": content}, "timestamp": time})
    });
    // A result without a call becomes text at the time of its record, and a reply may lie in two batches.
    let stray = json!({"role": "user", "message": {"content": [
        {"type": "tool_result", "tool_use_id": "none", "content": "stray"}, {"type": "text", "text": "y"}]},
        "timestamp": "2026-01-02T03:05:00Z"});
    let cursor: Vec<Value> = cursor.chain([stray]).collect();
    let sven = (0..60).map(|at| match at % 4 {
        // In the middle of a reply.
        _ if at == 30 => {
            json!({"type": "context_compacted", "data": {"tokens_before": 9, "tokens_after": 3}})
        }
        0 => json!({"type": "message", "data": {"role": "user", "content": format!("do {at}")}}),
        1 => json!({"type": "thinking", "data": {"content": "hm"}}),
        2 => json!({"type": "message", "data": {"role": "assistant", "content": "done"}}),
        _ => json!({"type": "message", "data": {"role": "assistant", "content": "and said"}}),
    });
    let sven: Vec<Value> = sven.collect();
    let droid = |id: &str| -> Vec<Value> {
        let said = (0..60).map(|at| {
            let (role, content) = match at % 3 {
                _ if at == 30 => return json!({"type": "compaction_state", "summaryText": "so far"}),
                0 => ("user", text(format!("asks {at}"))),
                1 => ("assistant", json!([{"type": "tool_use", "id": at.to_string(), "name": "Read", "input": {}}])),
                _ => ("user", json!([{"type": "tool_result", "tool_use_id": (at - 1).to_string(), "content": "x"}])),
            };
            let time = format!("2026-01-02T03:04:{at:02}Z");
            json!({"type": "message", "timestamp": time, "message": {"role": role, "content": content, "model": "m"}})
        });
        [json!({"type": "session_start", "id": id, "cwd": "/w"})].into_iter().chain(said).collect()
    };
    let logs = [
        (droid("d"), 59),
        (droid(""), 59),
        (cursor, 62),
        (sven, 31),
        (cline(40, None), 40),
        (cline(40, Some((30, true))), 40),
        (cline(40, Some((30, false))), 40),
        (cline(40, Some((0, false))), 41),
    ];
    for (at, (log, messages)) in logs.into_iter().enumerate() {
        for batch in [1, 300, 2000, 1 << 20] {
            let sessions = check(lines(log.clone()).as_bytes(), batch);
            assert_eq!(sessions.len(), 1, "log {at}");
            assert_eq!(sessions[0].messages.len(), messages, "log {at}");
        }
    }
}
