use super::*;
use crate::ingest::ingest;

/// Looks into logs given as name and text, in this order: the sessions of each.
fn look(logs: &[(&str, String)]) -> Vec<Vec<SessionReport>> {
    // In memory, and all of it in files.
    let looked = [16 << 20, 0].map(|most| {
        let kept = Kept { sessions: Arc::new(Spool::new(most)), trails: Spool::new(most) };
        let (mut lists, mut trails) = (Vec::new(), Vec::new());
        for (name, text) in logs {
            let mut list = SessionList::new(kept.sessions.clone());
            let mut of_file = TrailList::default();
            let read = ingest(text.as_bytes(), name);
            add(&read.sessions, Tokenizer::Heuristic, &kept, &mut list, &mut of_file).expect("room");
            lists.push(list);
            trails.push(of_file);
        }
        mark(&trails, &kept.trails, &kept.sessions).expect("what was kept");
        let read = |list: &SessionList| list.iter().map(|session| session.expect("a session")).collect();
        lists.iter().map(read).collect::<Vec<Vec<SessionReport>>>()
    });
    assert_eq!(looked[0], looked[1]);
    let [looked, _] = looked;
    looked
}

/// Copied messages of the first session of each log.
fn check(logs: &[(&str, String)], expected: &[u64]) {
    let found: Vec<u64> = look(logs).iter().map(|file| file[0].copied.messages).collect();
    assert_eq!(found, expected);
}

/// A Claude Code session: `said` are the texts of request, reply, request, ... each with the minute of its time.
fn claude(id: &str, said: &[(&str, u32)]) -> String {
    let mut text = String::new();
    for (at, (said, minute)) in said.iter().enumerate() {
        let kind = if at % 2 == 0 { "user" } else { "assistant" };
        let parent = at.checked_sub(1).map(|before| format!("{id}-{before}"));
        let record = serde_json::json!({
            "type": kind, "uuid": format!("{id}-{at}"), "parentUuid": parent, "sessionId": id,
            "timestamp": format!("2026-01-02T03:{minute:02}:00Z"),
            "message": {"role": kind, "content": [{"type": "text", "text": said}]},
        });
        text.push_str(&format!("{record}\n"));
    }
    text
}

fn codex(id: &str, fork: Option<&str>, said: &[(&str, u32)]) -> String {
    let head = serde_json::json!({"timestamp": "2026-01-02T03:00:00Z", "type": "session_meta",
        "payload": {"id": id, "cwd": "/w", "forked_from_id": fork}});
    let mut text = format!("{head}\n");
    for (at, (said, minute)) in said.iter().enumerate() {
        let (role, block) = if at % 2 == 0 { ("user", "input_text") } else { ("assistant", "output_text") };
        let record = serde_json::json!({"timestamp": format!("2026-01-02T03:{minute:02}:00Z"), "type": "response_item",
            "payload": {"type": "message", "role": role, "content": [{"type": block, "text": said}]}});
        text.push_str(&format!("{record}\n"));
    }
    text
}

#[test]
fn history_written_at_the_same_times_is_copied() {
    let base = [("go", 1), ("done", 2), ("more", 3), ("ok", 4)];
    let longer = [("go", 1), ("done", 2), ("more", 3), ("ok", 4), ("and", 5), ("yes", 6)];
    check(&[("a", claude("a", &base)), ("b", claude("b", &longer))], &[0, 4]);
    // A copy of a whole file under another name.
    check(&[("a", claude("a", &base)), ("b", claude("b", &base))], &[0, 4]);
    // The same words at other times are another conversation.
    let later = [("go", 11), ("done", 12)];
    check(&[("a", claude("a", &base)), ("b", claude("b", &later))], &[0, 0]);
    // Of a request alone nothing was copied.
    check(&[("a", claude("a", &[("go", 1), ("x", 2)])), ("b", claude("b", &[("go", 1), ("y", 2)]))], &[0, 0]);
}

#[test]
fn a_fork_says_what_it_repeats_wherever_it_lies() {
    let base = [("go", 1), ("done", 2)];
    let fork = [("go", 9), ("done", 9), ("more", 10), ("ok", 11)];
    let (parent, child) = (codex("p", None, &base), codex("c", Some("p"), &fork));
    check(&[("p", parent.clone()), ("c", child.clone())], &[0, 2]);
    check(&[("c", child), ("p", parent.clone())], &[2, 0]);
    // The same words without a word of a fork.
    check(&[("p", parent.clone()), ("c", codex("c", None, &fork))], &[0, 0]);
    // A fork of what is not here.
    check(&[("p", parent), ("c", codex("c", Some("gone"), &fork))], &[0, 0]);
}

/// What is repeated may begin in the middle of the other session, and behind something of its own.
#[test]
fn copies_are_found_wherever_they_stand() {
    let base = [("go", 1), ("done", 2), ("more", 3), ("ok", 4)];
    let whole = claude("a", &base);
    let from = |from: usize, front: &str| -> String {
        whole.split_inclusive('\n').skip(from).fold(front.to_owned(), |text, line| text + line)
    };
    check(&[("a", whole.clone()), ("b", from(2, ""))], &[0, 2]);
    let own = claude("own", &[("before that", 0)]);
    check(&[("a", whole.clone()), ("b", from(0, &own).replace("\"a\"", "\"own\""))], &[0, 4]);
    check(&[("a", whole.clone()), ("b", from(1, &own).replace("\"a\"", "\"own\""))], &[0, 3]);
    // Of two sessions one after the other, of one twice.
    let more = claude("c", &[("x", 21), ("y", 22), ("z", 23)]);
    let both = from(0, "") + &more.replace("\"c\"", "\"a\"").replace("null", "\"a-3\"");
    check(&[("a", whole.clone()), ("c", more), ("d", both)], &[0, 0, 7]);
    // A fork that names its parent has its environment in front.
    let fork = [("env", 9), ("ready", 9), ("go", 9), ("done", 9), ("more", 10), ("ok", 11)];
    check(&[("p", codex("p", None, &base[..2])), ("c", codex("c", Some("p"), &fork))], &[0, 2]);
}

/// A compaction that is copied is counted once; one of the fork's own, at the end of what it repeats, is its own.
#[test]
fn compactions_are_copied_with_the_messages_around_them() {
    let base = [("go", 1), ("done", 2), ("more", 3), ("ok", 4)];
    let compacted = |id: &str| {
        let log = claude(id, &base);
        let boundary = format!(
            "{{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"{id}-c\",\"parentUuid\":null,\"logicalParentUuid\":\"{id}-1\",\"sessionId\":\"{id}\"}}\n"
        );
        let lines: Vec<&str> = log.lines().collect();
        let next = lines[2].replace(&format!("\"{id}-1\""), &format!("\"{id}-c\""));
        format!("{}\n{}\n{boundary}{next}\n{}\n", lines[0], lines[1], lines[3])
    };
    let copied = |logs: &[(&str, String)]| -> Vec<(u64, u64)> {
        let sessions = look(logs).into_iter().map(|file| file[0].clone());
        sessions.map(|it| (it.compactions, it.copied.compactions)).collect()
    };
    assert_eq!(copied(&[("a", compacted("a")), ("b", compacted("b"))]), [(1, 0), (1, 1)]);
    assert_eq!(copied(&[("a", claude("a", &base)), ("b", compacted("b"))]), [(0, 0), (1, 0)]);
}

#[test]
fn sessions_are_counted_by_role_tool_and_outcome() {
    let call = |id: &str, name: &str, input: serde_json::Value| serde_json::json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]});
    let answer = |id: &str, failed: bool| serde_json::json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "x", "is_error": failed}]});
    let log = serde_json::json!({"system": "be brief", "messages": [
        {"role": "user", "content": "go"},
        call("1", "Read", serde_json::json!({"file_path": "/w/a"})), answer("1", false),
        call("2", "Edit", serde_json::json!({"file_path": "/w/b", "old_string": "x", "new_string": "y"})), answer("2", false),
        call("3", "Edit", serde_json::json!({"file_path": "/w/c", "old_string": "x", "new_string": "y"})), answer("3", true),
        call("4", "Bash", serde_json::json!({"command": "rm /w/d"})),
    ]});
    let looked = look(&[("a.json", log.to_string())]);
    let session = &looked[0][0];
    assert_eq!((session.messages.system, session.messages.user), (1, 1));
    assert_eq!((session.messages.assistant, session.messages.tool), (4, 3));
    assert_eq!((session.tool_calls, session.unanswered, session.failed), (4, 1, 1));
    let tools: Vec<(&str, u64)> = session.tools.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(tools, [("Bash", 1), ("Edit", 2), ("Read", 1)]);
    assert_eq!((session.files.modified, session.files.read, session.files.deleted), (1, 1, 0));
}
