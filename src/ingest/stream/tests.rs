use std::io::Cursor;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::transcript::Transcript;

/// Gives its bytes in pieces of this size.
struct Dripping(Cursor<Vec<u8>>, usize);

impl Read for Dripping {
    fn read(&mut self, place: &mut [u8]) -> io::Result<usize> {
        let most = place.len().min(self.1);
        self.0.read(place.get_mut(..most).unwrap_or_default())
    }
}

/// Reads a log at once and in small batches: sessions, remarks and counts are the same. Also: how many records piled up.
fn check(log: &[u8], batch: u64) -> Vec<Transcript> {
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

fn lines(records: impl IntoIterator<Item = Value>) -> String {
    records.into_iter().map(|record| format!("{record}\n")).collect()
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

#[test]
fn what_is_no_list_of_lines_is_read_whole() {
    check(
        b"[\n {\"role\": \"user\", \"content\": \"a\"},\n {\"role\": \"assistant\", \"content\": \"b\"}\n]\n",
        1,
    );
    check(b"\xef\xbb\xbf{\"role\": \"user\", \"content\": \"a\"}\n{\"role\": \"assistant\", \"content\": \"b\"}", 1);
    check(b"\n\n  \nplain text\nthat is no log\n", 1);
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
