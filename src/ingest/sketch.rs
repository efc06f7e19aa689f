//! Test help: a transcript as short lines, so that expectations can be written by hand.
//!
//! A line is the role (`S`, `U`, `A`, `T`) and the parts: `"text"`, `~"injected text"`, `(thinking)`, `name#id` for a
//! call, `id=outcome/exit "text"` for a result, `[image]`, `<opaque kind>`.

use serde_json::{Value, json};

use super::{Ingested, group, ingest, ingest_tree};
use crate::transcript::{Message, Outcome, Part, Role, Transcript};

/// Reads records given as text, one a line, and demands the one session in them.
pub(super) fn read_one(lines: &str) -> (Transcript, Ingested) {
    let mut read = ingest(lines.as_bytes(), "dir/test.jsonl");
    assert_eq!(read.sessions.len(), 1, "{read:#?}");
    let session = read.sessions.remove(0);
    assert_eq!(session.check(), Vec::<String>::new());
    (session, read)
}

/// Reads records and compares the messages of their session with the sketch.
pub(super) fn check(lines: &str, expected: &[&str]) -> (Transcript, Ingested) {
    let (session, read) = read_one(lines);
    assert_eq!(sketch(&session), expected, "{lines}");
    (session, read)
}

/// Groups files given by path and content, and reads each log.
pub(super) fn read_trees(files: &[(&str, &str)]) -> Vec<Ingested> {
    let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    let logs = group(&paths).into_iter().map(|(tree, positions)| {
        let pieces =
            positions.into_iter().map(|at| (files[at].0.to_owned(), files[at].1.as_bytes().to_vec()));
        ingest_tree(tree, pieces.collect(), "dir/test.json")
    });
    let read: Vec<Ingested> = logs.collect();
    for session in read.iter().flat_map(|read| &read.sessions) {
        assert_eq!(session.check(), Vec::<String>::new());
    }
    read
}

/// The codes of the diagnostics, in order.
pub(super) fn codes(read: &Ingested) -> Vec<&'static str> {
    read.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

/// Puts an odd value in the place of every value of every record in turn: nothing may panic, and what comes out must
/// obey the rules of a transcript.
pub(super) fn check_odd_values(lines: &str) {
    let odd = [
        Value::Null,
        json!(-7),
        json!(1e300),
        json!(""),
        json!("x"),
        json!([]),
        json!([[1]]),
        json!({}),
        json!(true),
    ];
    let records: Vec<&str> = lines.lines().collect();
    for (index, record) in records.iter().enumerate() {
        let whole: Value = serde_json::from_str(record).unwrap();
        let mut places = Vec::new();
        pointers(&whole, &mut String::new(), &mut places);
        for place in &places {
            for value in &odd {
                let mut changed = whole.clone();
                *changed.pointer_mut(place).unwrap() = value.clone();
                let changed = changed.to_string();
                let mut damaged = records.clone();
                damaged[index] = &changed;
                for session in ingest(damaged.join("\n").as_bytes(), "test.jsonl").sessions {
                    assert_eq!(session.check(), Vec::<String>::new(), "{changed}");
                }
            }
        }
    }
}

/// The JSON pointers of all values inside a value, itself included.
fn pointers(value: &Value, at: &mut String, found: &mut Vec<String>) {
    found.push(at.clone());
    let length = at.len();
    let mut inside = |key: String, item: &Value| {
        at.push('/');
        at.push_str(&key.replace('~', "~0").replace('/', "~1"));
        pointers(item, at, found);
        at.truncate(length);
    };
    match value {
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(index, item)| inside(index.to_string(), item));
        }
        Value::Object(map) => map.iter().for_each(|(key, item)| inside(key.clone(), item)),
        _ => {}
    }
}

pub(super) fn sketch(session: &Transcript) -> Vec<String> {
    session.messages.iter().map(message).collect()
}

fn message(message: &Message) -> String {
    let mut line = match message.role {
        Role::System => "S",
        Role::User => "U",
        Role::Assistant => "A",
        Role::Tool => "T",
    }
    .to_owned();
    for part in &message.parts {
        line.push(' ');
        let shown = match part {
            Part::Text(text) if text.injected => format!("~{:?}", text.text),
            Part::Text(text) => format!("{:?}", text.text),
            Part::Thinking(text) => format!("({text})"),
            Part::Call(call) => format!("{}#{}", call.name, call.id),
            Part::Result(result) => {
                let outcome = match result.outcome {
                    Outcome::Ok => "ok",
                    Outcome::Failed => "failed",
                    Outcome::Unknown => "unknown",
                };
                let exit = result.exit_code.map(|code| format!("/{code}")).unwrap_or_default();
                format!("{}={outcome}{exit} {:?}", result.call_id, result.text)
            }
            Part::Image { .. } => "[image]".to_owned(),
            Part::Opaque { kind, .. } => format!("<{kind}>"),
        };
        line.push_str(&shown);
    }
    line
}
