//! Small sessions of shell calls and tools, and the state of their files at the end.

use crate::facts::FactSet;
use crate::ingest::ingest;
use crate::transcript::MessageIdx;

/// One call and its result: a script, or a tool with `name {json}`; results that begin with `!` are of failed calls.
fn check(calls: &[(&str, &str)], expected: &[&str]) {
    let mut lines = String::from("{\"role\":\"system\",\"content\":\"Working directory: /w\"}\n");
    lines.push_str("{\"role\":\"user\",\"content\":\"go\"}\n");
    for (at, (call, result)) in calls.iter().enumerate() {
        let (name, arguments) = match call.split_once(" {") {
            Some((name, rest)) if !name.contains(' ') && rest.ends_with('}') => (name, format!("{{{rest}")),
            _ => ("bash", serde_json::json!({ "command": call }).to_string()),
        };
        let id = format!("call{at}");
        let call = serde_json::json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": id, "type": "function", "function": { "name": name, "arguments": arguments } }] });
        let (failed, text) = result.strip_prefix('!').map_or((false, *result), |text| (true, text));
        let result =
            serde_json::json!({ "role": "tool", "tool_call_id": id, "content": text, "is_error": failed });
        for line in [call, result] {
            lines.push_str(&line.to_string());
            lines.push('\n');
        }
    }
    let transcript = ingest(lines.as_bytes(), "s.jsonl").sessions.remove(0);
    let end = MessageIdx::new(transcript.messages.len());
    let ledger = FactSet::extract(&transcript, &crate::replay::effects(&transcript)).ledger;
    let states: Vec<String> = ledger
        .files
        .iter()
        .filter_map(|file| {
            Some(format!("{} {}", file.state_at(end)?.name().strip_prefix("file.")?, file.name_at(end)))
        })
        .collect();
    assert_eq!(states, expected, "{calls:?}");
}

#[test]
fn states() {
    check(&[("cat a.rs", "x")], &["read /w/a.rs"]);
    check(&[("cat a.rs", "x"), ("sed -i s/a/b/ a.rs", ""), ("cat a.rs", "x")], &["modified /w/a.rs"]);
    check(
        &[("write_file {\"path\":\"a.rs\"}", "ok"), ("edit_file {\"path\":\"a.rs\"}", "ok")],
        &["created /w/a.rs"],
    );
    check(&[("cat a.rs", "x"), ("write_file {\"path\":\"a.rs\"}", "ok")], &["modified /w/a.rs"]);
    check(&[("write_file {\"path\":\"a.rs\"}", "The file a.rs has been updated.")], &["modified /w/a.rs"]);
    check(&[("write_file {\"path\":\"a.rs\"}", "ok"), ("rm a.rs", "")], &["deleted /w/a.rs"]);
    check(&[("rm a.rs", ""), ("echo x > a.rs", "")], &["modified /w/a.rs"]);
    check(&[("echo x > a.rs", ""), ("rm a.rs", ""), ("echo x > a.rs", "")], &["created /w/a.rs"]);
    check(&[("cat d/a.rs d/b.rs", "x"), ("rm -rf d", "")], &["deleted /w/d/a.rs", "deleted /w/d/b.rs"]);
    check(&[("rm -rf node_modules", "")], &[]);
    check(&[("echo x >> /tmp/a.txt", "")], &["created /tmp/a.txt"]);
    check(&[("echo x >> a.txt", "")], &["modified /w/a.txt"]);
}

#[test]
fn renames() {
    check(&[("git mv a.rs b.rs", "")], &["renamed /w/b.rs"]);
    check(&[("cat a.rs", "x"), ("git mv a.rs b.rs && sed -i s/a/b/ b.rs", "")], &["renamed /w/b.rs"]);
    check(&[("echo x > a.rs", ""), ("mv a.rs b.rs", "")], &["renamed /w/b.rs"]);
    check(&[("sed -i s/a/b/ a.rs", ""), ("mv a.rs b.rs", ""), ("mv b.rs a.rs", "")], &["modified /w/a.rs"]);
    check(&[("mv a.rs b.rs", ""), ("echo x > a.rs", "")], &["renamed /w/b.rs", "created /w/a.rs"]);
    check(&[("mv a.rs b.rs", ""), ("rm b.rs", "")], &["deleted /w/b.rs"]);
    check(
        &[("cat a.rs", "x"), ("sort a.rs > b.rs && mv b.rs a.rs", "")],
        &["modified /w/a.rs", "deleted /w/b.rs"],
    );
    check(&[("cat d/a.rs", "x"), ("git mv d e", "")], &["renamed /w/e/a.rs"]);
}

#[test]
fn what_failed_calls_did() {
    check(&[("edit_file {\"path\":\"a.rs\"}", "!no match")], &[]);
    check(&[("sed -i s/a/b/ a.rs && make", "!Exit code 2\nerror")], &["modified /w/a.rs"]);
    check(&[("sed -i s/a/b/ a.rs && make", "!The user doesn't want to proceed with this tool use.")], &[]);
    check(&[("sed -i s/a/b/ a.rs && make", "!Command was declined by the user")], &[]);
    check(&[("make > a.log", "!Exit code 2\nerror")], &["created /w/a.log"]);
    check(&[("cat a.rs b.rs", "!Exit code 1\nx\ncat: b.rs: No such file or directory")], &["read /w/a.rs"]);
    check(&[("cat a.rs | head; cat b.rs", "cat: a.rs: No such file or directory\nx")], &["read /w/b.rs"]);
    check(
        &[("cat a.rs && sed -i s/a/b/ b.rs; cat c.rs", "cat: a.rs: No such file or directory\nx")],
        &["read /w/c.rs"],
    );
    check(&[("cat x/a.rs b/a.rs", "cat: x/a.rs: No such file or directory\nx")], &["read /w/b/a.rs"]);
    check(&[("cat src", "cat: src: Is a directory")], &[]);
    check(
        &[("rm a.rs; echo x > b.rs", "rm: cannot remove 'a.rs': No such file or directory")],
        &["created /w/b.rs"],
    );
}

#[test]
fn what_listings_show() {
    check(&[("git status --short", " M a.rs\n?? t/b.rs"), ("echo x > t/b.rs", "")], &["modified /w/t/b.rs"]);
    check(&[("git status --short", " D t/b.rs"), ("echo x > t/b.rs", "")], &["created /w/t/b.rs"]);
    check(&[("rg x", "t/b.rs:3:let x"), ("echo x > t/b.rs", "")], &["modified /w/t/b.rs"]);
    check(&[("rg x", "docs/a.md:3:see t/b.rs"), ("echo x > t/b.rs", "")], &["created /w/t/b.rs"]);
    check(&[("find . -name '*.rs'", "./t/b.rs"), ("echo x > t/b.rs", "")], &["modified /w/t/b.rs"]);
    check(&[("find . -name '*.rs'", "./t/bb.rs"), ("echo x > t/b.rs", "")], &["created /w/t/b.rs"]);
    check(&[("ls x", "b.rs"), ("echo x > b.rs", "")], &["created /w/b.rs"]);
    check(&[("rm -f a.tmp", "")], &[]);
    check(&[("git status --short && rm -f a.tmp", "?? a.tmp")], &["deleted /w/a.tmp"]);
    check(&[("rm a.tmp", "")], &["deleted /w/a.tmp"]);
}
