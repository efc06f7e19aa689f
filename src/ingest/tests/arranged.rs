//! The same records, arranged in other ways: lists of them, blank lines around them, all of them twice.

use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use super::{bytes, ingest};
use crate::ingest::{Format, Ingested, ingest_in_batches};

/// Cursor and Cline have no fixtures.
const CURSOR: &str = r#"{"role":"user","message":{"content":[{"type":"text","text":"go"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"on it"}]}}
{"role":"user","message":{"content":[{"type":"text","text":"and"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"done"}]}}
{"role":"user","message":{"content":"more"}}
{"role":"assistant","message":{"content":"no"}}
{"role":"user","message":{"content":"why"}}
"#;
const CLINE: &str = r#"{"role":"user","content":[{"type":"text","text":"go"}],"ts":1}
{"role":"assistant","content":[{"type":"text","text":"on it"}],"ts":2,"modelInfo":{"modelId":"m"}}
{"role":"user","content":[{"type":"text","text":"and"}],"ts":3}
{"role":"assistant","content":[{"type":"text","text":"done"}],"ts":4,"modelInfo":{"modelId":"m"}}
{"role":"user","content":[{"type":"text","text":"more"}],"ts":5}
"#;
const CHAT: &str = r#"{"role":"user","content":"go","timestamp":"2026-01-02T03:04:01Z"}
{"role":"assistant","content":"on it","timestamp":"2026-01-02T03:04:02Z"}
{"role":"user","content":"and","timestamp":"2026-01-02T03:04:03Z"}
{"role":"assistant","content":"done","timestamp":"2026-01-02T03:04:04Z"}
{"role":"user","content":"more"}
"#;
/// Two sessions, the first with a compaction.
const GOOSE: &str = r#"{"working_dir":"/w","message_count":6}
{"role":"user","created":1,"content":[{"type":"text","text":"go"}]}
{"role":"assistant","created":2,"content":[{"type":"text","text":"on it"}]}
{"role":"user","created":3,"content":[{"type":"text","text":"so far"}],"metadata":{"userVisible":false}}
{"role":"assistant","created":4,"content":[{"type":"text","text":"I go on"}],"metadata":{"userVisible":false}}
{"role":"user","created":5,"content":[{"type":"text","text":"go"}],"metadata":{"userVisible":false}}
{"role":"assistant","created":6,"content":[{"type":"text","text":"done"}]}
{"working_dir":"/v","message_count":2}
{"role":"user","created":7,"content":[{"type":"text","text":"more"}]}
{"role":"assistant","created":8,"content":[{"type":"text","text":"no"}]}
"#;

/// Files below a directory of the fixtures.
fn fixtures() -> Vec<PathBuf> {
    let mut waiting = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")];
    let mut files = Vec::new();
    while let Some(path) = waiting.pop() {
        match std::fs::read_dir(&path) {
            Ok(entries) => waiting.extend(entries.map(|entry| entry.unwrap().path())),
            Err(_) => files.push(path),
        }
    }
    files.sort();
    files
}

/// Logs of lines that are objects, with their names.
fn logs() -> Vec<(String, String)> {
    let mut logs: Vec<(String, String)> =
        [("cursor", CURSOR), ("cline", CLINE), ("chat", CHAT), ("goose", GOOSE)]
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .into();
    for path in fixtures() {
        if path.extension().is_some_and(|it| it == "jsonl") {
            let text = String::from_utf8(bytes(&path)).unwrap();
            let whole = |line: &str| serde_json::from_str::<serde_json::Map<_, _>>(line).is_ok();
            if text.lines().all(whole) && ingest(text.as_bytes(), "x.jsonl").format.is_some() {
                logs.push((path.display().to_string(), text));
            }
        }
    }
    logs
}

fn list(records: &[&str]) -> String {
    format!("[{}]", records.join(","))
}

fn pretty(records: &[&str]) -> String {
    let list: serde_json::Value = serde_json::from_str(&list(records)).unwrap();
    serde_json::to_string_pretty(&list).unwrap()
}

/// A log at once and in batches: the same is said of it.
fn read(text: &str) -> Ingested {
    let at_once = ingest(text.as_bytes(), "x.jsonl");
    for batch in [1, 400, 1 << 20] {
        let mut sessions = Vec::new();
        let mut open =
            || -> io::Result<Box<dyn Read>> { Ok(Box::new(Cursor::new(text.as_bytes().to_vec()))) };
        let mut read =
            ingest_in_batches(&mut open, "x.jsonl", &mut |session| sessions.push(session), batch).unwrap();
        // In batches they come as they end.
        let place = |id: &str| at_once.sessions.iter().position(|session| session.id == id);
        sessions.sort_by_key(|session| place(&session.id));
        read.sessions = sessions;
        assert_eq!(read, at_once, "{batch}");
    }
    at_once
}

#[test]
fn lists_of_records_are_read_in_every_format() {
    for (name, text) in logs() {
        let plain = ingest(text.as_bytes(), "x.jsonl");
        let records: Vec<&str> = text.lines().collect();
        let (first, rest) = records.split_at(1);
        let (front, back) = records.split_at(records.len() / 2);
        let threes = |records: &[&str]| records.chunks(3).map(list).collect::<Vec<String>>().join("\n");
        let arranged = [
            ("lists as lines", threes(&records)),
            ("a record in front of them", format!("{}\n{}", first[0], threes(rest))),
            ("a record behind them", format!("{}\n{}", threes(front), back.join("\n"))),
            ("two lists", format!("{}\n{}", list(front), list(back))),
            ("two lists of several lines", format!("{}\n{}\n", pretty(front), pretty(back))),
            ("a list of lists", format!("[{},{}]", list(front), list(back))),
        ];
        for (how, text) in arranged {
            let read = if text.len() < 1 << 20 { read(&text) } else { ingest(text.as_bytes(), "x.jsonl") };
            let case = format!("{name}, {how}: {:?}", read.diagnostics);
            assert_eq!(read.format, plain.format, "{case}");
            assert_eq!(read.raw, plain.raw, "{case}");
            assert_eq!(read.bytes.total(), text.len() as u64, "{case}");
            assert_eq!(read.bytes.skipped, plain.bytes.skipped, "{case}");
            // Of messages that name no session a list is one.
            let named = !matches!(
                plain.format,
                Some(Format::OpenaiChat | Format::AnthropicMessages | Format::Cline | Format::Cursor)
            );
            let shape = |read: &Ingested| -> Vec<(usize, usize)> {
                read.sessions.iter().map(|it| (it.messages.len(), it.links.len())).collect()
            };
            if named {
                assert_eq!(shape(&read), shape(&plain), "{case}");
            } else {
                let messages = |read: &Ingested| shape(read).iter().map(|(count, _)| count).sum::<usize>();
                assert!(messages(&read) >= messages(&plain), "{case}");
            }
        }
    }
}

#[test]
fn blank_lines_around_a_log_are_between() {
    let texts = crate::testing::corpus_files(&["aider", "specstory", "sven"]).unwrap_or_default();
    let texts = texts.into_iter().filter_map(|(name, bytes)| Some((name, String::from_utf8(bytes).ok()?)));
    let own =
        ("a.md".to_owned(), "# aider chat started at 2026-01-02 03:04:05\n\n#### go\n\nok\n".to_owned());
    let mut formats = 0;
    for (name, text) in logs().into_iter().chain([own]).chain(texts) {
        let text = format!("{}\n", text.trim());
        let plain = ingest(text.as_bytes(), &name);
        if plain.format.is_none() {
            continue;
        }
        formats += 1;
        let padded = format!("{}{text}{}", "\n".repeat(300), " \n\n".repeat(500));
        let read = ingest(padded.as_bytes(), &name);
        assert_eq!(
            (read.bytes.read, read.bytes.skipped, read.bytes.between),
            (plain.bytes.read, plain.bytes.skipped, plain.bytes.between + 1_800),
            "{name}"
        );
        assert_eq!(read.sessions.len(), plain.sessions.len(), "{name}");
    }
    assert!(formats > 10);
}

/// A session that stands in a file twice is read once, or it is said.
#[test]
fn a_session_that_stands_twice_in_a_file_is_named() {
    let mut said = 0;
    for (name, text) in logs() {
        let plain = ingest(text.as_bytes(), "x.jsonl");
        let timed = plain.sessions.iter().flat_map(|it| &it.messages).filter(|it| it.time.is_some()).count();
        let repeated =
            |read: &Ingested| read.diagnostics.iter().filter(|it| it.code == "repeated-history").count();
        assert_eq!(repeated(&plain), 0, "{name}: {:?}", plain.diagnostics);
        let twice = ingest(format!("{}\n{text}", text.trim_end()).as_bytes(), "x.jsonl");
        let messages = |read: &Ingested| read.sessions.iter().map(|it| it.messages.len()).sum::<usize>();
        let doubled = twice.sessions.len() == plain.sessions.len() && messages(&twice) > messages(&plain) + 1;
        if doubled && timed > 1 {
            assert_ne!(repeated(&twice), 0, "{name}: {:?}", twice.diagnostics);
            said += 1;
        }
    }
    assert_ne!(said, 0);
}
