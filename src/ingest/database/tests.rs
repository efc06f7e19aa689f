//! Databases made by the tests themselves.

use std::path::PathBuf;

use rusqlite::{Connection, params};
use tempfile::TempDir;

use super::super::sketch::{codes, sketch};
use crate::ingest::{Format, Ingested, database, ingest};
use crate::transcript::{Origin, Outcome};

/// A database in a directory of its own.
struct Made {
    directory: TempDir,
    path: PathBuf,
}

impl Made {
    fn new(sql: &str) -> (Self, Connection) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a log % ?.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(sql).unwrap();
        (Self { directory, path }, connection)
    }

    /// What lies in the directory: names and contents.
    fn listing(&self) -> Vec<(String, Vec<u8>)> {
        let mut found: Vec<(String, Vec<u8>)> = std::fs::read_dir(self.directory.path())
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.file_name().to_string_lossy().into_owned(), self.bytes(&entry.path())))
            .collect();
        found.sort();
        found
    }

    #[expect(clippy::disallowed_methods, reason = "a test reads its inputs")]
    fn bytes(&self, path: &std::path::Path) -> Vec<u8> {
        assert!(path.starts_with(self.directory.path()));
        std::fs::read(path).unwrap()
    }

    /// Reads it from its file, which must leave everything as it is.
    fn read(&self) -> Ingested {
        let before = self.listing();
        let read = database(&self.path, "dir/test.db");
        assert_eq!(before, self.listing());
        for session in &read.sessions {
            assert_eq!(session.check(), Vec::<String>::new());
        }
        read
    }
}

const OPENCODE: &str = r#"
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, title text, directory text, revert text, time_created integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, data text);
INSERT INTO session VALUES ('ses_1', 'p', NULL, 'T', '/w', NULL, 1), ('ses_2', 'p', 'ses_1', 'look', '/w', NULL, 2);
INSERT INTO message VALUES
 ('msg_2', 'ses_1', 1700000002000, 0, '{"role":"assistant","modelID":"m","time":{"created":1700000002000}}'),
 ('msg_1', 'ses_1', 1700000001000, 0, '{"role":"user"}'),
 ('msg_3', 'ses_2', 1700000003000, 0, '{"role":"user"}'),
 ('msg_4', 'ses_2', 1700000004000, 0, 'no JSON');
INSERT INTO part VALUES
 ('prt_1', 'msg_1', 'ses_1', 0, '{"type":"text","text":"hi"}'),
 ('prt_2', 'msg_2', 'ses_1', 0, '{"type":"tool","callID":"c","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"x","metadata":{"exit":0}}}'),
 ('prt_3', 'msg_2', 'ses_1', 0, '{"type":"text","text":"there"}'),
 ('prt_4', 'msg_3', 'ses_2', 0, '{"type":"text","text":"search"}');
"#;

fn check_opencode(read: &Ingested) {
    assert_eq!(read.format, Some(Format::Opencode));
    let [main, side] = read.sessions.as_slice() else { panic!("{read:#?}") };
    assert_eq!(sketch(main), [r#"U "hi""#, "A bash#c", r#"T c=ok/0 "x""#, r#"A "there""#]);
    assert_eq!((main.id.as_str(), main.messages[0].time), ("ses_1", Some(1_700_000_001_000)));
    assert_eq!(sketch(side), [r#"U "search""#]);
    assert_eq!(side.origin, Origin::Sidechain("look".to_owned()));
}

#[test]
fn opencode_from_its_file_and_from_memory() {
    let (made, connection) = Made::new(OPENCODE);
    drop(connection);
    let read = made.read();
    check_opencode(&read);
    assert_eq!(codes(&read), ["bad-row"]);
    let read = ingest(&made.bytes(&made.path), "some.file");
    check_opencode(&read);
    assert_eq!(codes(&read), ["bad-row"]);
    assert!(read.evidence.starts_with("the database has session.directory"));
}

#[test]
fn changes_beside_a_database_are_read() {
    let (made, connection) = Made::new("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;");
    connection.execute_batch(OPENCODE).unwrap();
    check_opencode(&made.read());
    // From memory only the file itself can be read, in which nothing is yet.
    let read = ingest(&made.bytes(&made.path), "x.db");
    assert_eq!(codes(&read), ["newest-changes", "unknown-format"]);
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    check_opencode(&ingest(&made.bytes(&made.path), "x.db"));
    check_opencode(&made.read());
}

#[test]
fn what_is_no_database_of_a_log() {
    let (made, connection) = Made::new("CREATE TABLE bird (name); CREATE TABLE nest (id, place);");
    drop(connection);
    let read = made.read();
    assert_eq!((codes(&read), read.sessions.len(), read.format), (vec!["unknown-format"], 0, None));
    assert!(read.diagnostics[0].text.ends_with("(tables: bird, nest)"), "{read:?}");
    let read = database(&made.directory.path().join("not there.db"), "x");
    assert_eq!(codes(&read), ["bad-database"]);
    assert_eq!(codes(&ingest(b"SQLite format 3\0", "x")), ["bad-database"]);
    assert_eq!(codes(&ingest(b"SQLite format 3", "x")), ["bad-database"]);
}

/// Cut off anywhere, and with bytes of it changed: whatever is read is sound, and a file of which nothing is left says so.
#[test]
fn damaged_databases() {
    let (made, connection) = Made::new(OPENCODE);
    drop(connection);
    let whole = made.bytes(&made.path);
    let sound = |bytes: &[u8], what: usize| {
        let read = ingest(bytes, "x.db");
        for session in &read.sessions {
            assert_eq!(session.check(), Vec::<String>::new());
        }
        assert!(!read.sessions.is_empty() || !read.diagnostics.is_empty(), "{what}");
    };
    for cut in (16..whole.len()).step_by(611) {
        sound(&whole[..cut], cut);
    }
    for at in (16..whole.len()).step_by(197) {
        let mut changed = whole.clone();
        changed[at] ^= 0x5a;
        changed[(at * 7) % whole.len()] = 0xff;
        sound(&changed, at);
    }
}

#[test]
fn goose() {
    let (made, connection) = Made::new(
        r#"CREATE TABLE schema_version (version INTEGER);
        CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, session_type TEXT, working_dir TEXT, model_config_json TEXT);
        CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);
        INSERT INTO sessions VALUES ('1', 'n', '', 'user', '/w', '{"model_name":"m"}'), ('2', 'sub', '', 'sub_agent', '/w', NULL);
        INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES
         ('1', 'user', '[{"type":"text","text":"go"}]', 1700000000, '{"userVisible":true,"agentVisible":false}'),
         ('2', 'user', '[{"type":"text","text":"look"}]', 1700000001, NULL),
         ('1', 'assistant', '[{"type":"toolRequest","id":"a","toolCall":{"status":"success","value":{"name":"shell","arguments":{"command":"ls"}}}}]', 1700000001, NULL),
         ('1', 'user', '[{"type":"text","text":"So far: x."}]', 1700000002, '{"userVisible":false,"agentVisible":true}'),
         ('1', 'user', '{broken', 1700000002, NULL);"#,
    );
    drop(connection);
    let read = made.read();
    assert_eq!(read.format, Some(Format::Goose));
    let [main, side] = read.sessions.as_slice() else { panic!("{read:#?}") };
    assert_eq!(sketch(main), [r#"U "go""#, "A shell#a"]);
    assert_eq!((main.model.as_deref(), main.messages[0].cwd.as_deref()), (Some("m"), Some("/w")));
    assert_eq!(main.recorded[0].summary.as_deref(), Some("So far: x."));
    assert_eq!(side.origin, Origin::Sidechain("sub".to_owned()));
    assert_eq!(codes(&read), ["bad-row"]);
}

#[test]
fn crush() {
    let (made, connection) = Made::new(
        r#"CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, summary_message_id TEXT);
        CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts BLOB, model TEXT, created_at INTEGER);
        INSERT INTO sessions VALUES ('s', NULL, 'T', 'm3');
        INSERT INTO messages VALUES
         ('m1', 's', 'user', '[{"type":"text","data":{"text":"go"}}]', NULL, 1700000001),
         ('m2', 's', 'assistant', '[{"type":"tool_call","data":{"id":"c","name":"bash","input":"{}"}}]', 'm', 1700000002),
         ('m3', 's', 'assistant', '[{"type":"text","data":{"text":"So far: x."}}]', 'm', 1700000003),
         ('m4', 's', 'user', '[broken', NULL, 1700000004);"#,
    );
    drop(connection);
    let read = made.read();
    assert_eq!(read.format, Some(Format::Crush));
    assert_eq!(sketch(&read.sessions[0]), [r#"U "go""#, "A bash#c"]);
    assert_eq!(read.sessions[0].recorded[0].summary.as_deref(), Some("So far: x."));
    assert_eq!((codes(&read), read.raw.messages), (vec!["bad-parts"], 4));
}

#[test]
fn cursor() {
    let (made, connection) =
        Made::new("CREATE TABLE ItemTable (key, value); CREATE TABLE cursorDiskKV (key TEXT, value BLOB);");
    let rows = [
        (
            "composerData:c",
            r#"{"composerId":"c","fullConversationHeadersOnly":[{"bubbleId":"1"},{"bubbleId":"2"},{"bubbleId":"3"},{"bubbleId":"4"},{"bubbleId":"5"},{"bubbleId":"gone"}],"latestConversationSummary":{"summary":{"summary":"So far: x.","truncationLastBubbleIdInclusive":"1","clientShouldStartSendingFromInclusiveBubbleId":"2"},"lastBubbleId":"4"}}"#,
        ),
        (
            "bubbleId:c:1",
            r#"{"bubbleId":"1","type":1,"text":"fix it","createdAt":"2026-01-01T00:00:00Z","contextWindowStatusAtCreation":{"tokenLimit":1000}}"#,
        ),
        (
            "bubbleId:c:2",
            r#"{"bubbleId":"2","type":2,"text":"","thinking":{"text":"hm"},"modelInfo":{"modelName":"m"}}"#,
        ),
        (
            "bubbleId:c:3",
            r#"{"bubbleId":"3","type":2,"text":"ok","tokenCount":{"inputTokens":9,"outputTokens":1},"toolFormerData":{"toolCallId":"a","name":"read_file_v2","status":"completed","rawArgs":"{\"path\":\"a.rs\"}","result":"{\"contents\":\"body\"}"}}"#,
        ),
        (
            "bubbleId:c:4",
            r#"{"bubbleId":"4","type":2,"toolFormerData":{"toolCallId":"b","name":"run_terminal_cmd","status":"cancelled","rawArgs":"{\"comm","params":"{\"command\":\"rm x\"}","userDecision":"rejected"}}"#,
        ),
        ("bubbleId:c:5", r#"{"bubbleId":"5","type":2,"text":"done"}"#),
        ("composerData:d", r#"{"composerId":"d","conversation":[{"type":1,"text":"old"},{"type":9}]}"#),
        ("composerData:e", "{broken"),
        ("bubbleId:e:1", "{}"),
        ("bubbleId:f:1", r#"{"bubbleId":"1","type":1,"text":"lost"}"#),
        ("bubbleId:f:2", r#"{"bubbleId":"2","type":2,"text":"lost"}"#),
    ];
    for (key, value) in rows {
        connection.execute("INSERT INTO cursorDiskKV VALUES (?1, ?2)", params![key, value]).unwrap();
    }
    drop(connection);
    let read = made.read();
    assert_eq!(read.format, Some(Format::Cursor));
    let [main, old] = read.sessions.as_slice() else { panic!("{read:#?}") };
    assert_eq!(
        sketch(main),
        [
            r#"U "fix it""#,
            r#"A (hm) "ok" read_file_v2#a"#,
            r#"T a=ok "body""#,
            "A run_terminal_cmd#b",
            r#"T b=failed """#,
            r#"A "done""#,
        ]
    );
    assert_eq!(main.call(&main.links[1]).unwrap().arguments, r#"{"command":"rm x"}"#);
    assert_eq!(main.result(&main.links[1]).unwrap().outcome, Outcome::Failed);
    assert_eq!((main.model.as_deref(), main.context_window), (Some("m"), Some(1000)));
    let recorded = &main.recorded[0];
    let kept: Vec<u32> = recorded.kept.iter().map(|at| at.0).collect();
    assert_eq!((recorded.before.get(), kept), (4, vec![1, 2, 3]));
    assert_eq!(sketch(old), [r#"U "old""#]);
    assert_eq!(
        codes(&read),
        ["lost-parts", "bad-row", "lost-parts", "unknown-record", "call-without-result"]
    );
    assert_eq!((read.raw.messages, read.raw.tool_calls, read.raw.compactions), (7, 2, 1));
    let lost = "2 bubbles of the conversation f, which is not there; their content is lost";
    assert!(read.diagnostics.iter().any(|it| it.text == lost), "{:#?}", read.diagnostics);
}
