use super::*;
use crate::ingest::ingest;

/// Looks into logs given as name and text, in this order.
fn look(logs: &[(&str, String)]) -> Vec<FileReport> {
    let mut files = Vec::new();
    let mut trails = Vec::new();
    for (name, text) in logs {
        let read = ingest(text.as_bytes(), name);
        let looked = read.sessions.iter().map(|it| session(it, Tokenizer::Heuristic));
        let (sessions, of_file): (Vec<_>, Vec<_>) = looked.unzip();
        files.push(FileReport { file: (*name).to_owned(), sessions, ..FileReport::default() });
        trails.push(of_file);
    }
    mark_copied(&mut files, trails);
    files
}

/// Copied messages of the first session of each log.
fn check(logs: &[(&str, String)], expected: &[u64]) {
    let found: Vec<u64> = look(logs).iter().map(|file| file.sessions[0].copied.messages).collect();
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
    let session = &looked[0].sessions[0];
    assert_eq!((session.messages.system, session.messages.user), (1, 1));
    assert_eq!((session.messages.assistant, session.messages.tool), (4, 3));
    assert_eq!((session.tool_calls, session.unanswered, session.failed), (4, 1, 1));
    let tools: Vec<(&str, u64)> = session.tools.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(tools, [("Bash", 1), ("Edit", 2), ("Read", 1)]);
    assert_eq!((session.files.modified, session.files.read, session.files.deleted), (1, 1, 0));
}
