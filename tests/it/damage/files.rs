//! Files: huge, packed, unreadable, linked, doubled; and the promise that no byte goes without a word. E04, E07, E11, E12.

use super::{check_promise, one, said, work};
use crate::logs::{claude, claude_agent, claude_user, codex, codex_says};
use crate::support::{Ran, Sandbox};
use compactor::discover::{discover, read_all, read_log};
use compactor::ingest::{ingest, ingest_stream};
use serde_json::{Value, json};
use std::cell::Cell;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// E04 (openclaw/openclaw#64858): one record of 50 MB is read whole, and so is what stands behind it.
#[test]
fn a_record_of_fifty_megabytes_is_read_whole() {
    let size = 50 << 20;
    let mut log = work()[3].1.clone();
    log = log.replacen("fn main", &"x".repeat(size), 1);
    let read = ingest(log.as_bytes(), "log.jsonl");
    check_promise(&read, log.len(), "50 MB");
    assert_eq!((read.records, read.bytes.skipped, read.diagnostics.len()), (6, 0, 0));
    let session = &read.sessions[0];
    assert_eq!(session.messages.len(), 6);
    assert_eq!(session.result(&session.links[0]).map(|result| result.text.len()), Some(size));
}

/// Lines made as they are read.
struct Made {
    line: Vec<u8>,
    left: usize,
    at: usize,
    given: Rc<Cell<usize>>,
}

impl Read for Made {
    fn read(&mut self, place: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.line.len() {
            self.at = 0;
            self.left -= 1;
        }
        if self.left == 0 {
            return Ok(0);
        }
        let count = place.len().min(self.line.len() - self.at);
        place[..count].copy_from_slice(&self.line[self.at..self.at + count]);
        self.at += count;
        self.given.set(self.given.get() + count);
        Ok(count)
    }
}

/// E04 (slopus/happy#1586, receptron/mulmoterminal#998): a log larger than what is held is read to the end, its sessions given
/// out on the way.
#[test]
fn a_huge_log_is_read_piece_by_piece() {
    let text = "word ".repeat(400_000);
    let line =
        json!({"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "Done."}]});
    let line = format!("{line}\n").into_bytes();
    let size = line.len() * 24;
    let given = Rc::new(Cell::new(0));
    let (mut count, mut first, mut held) = (0, 0, 0);
    let told = given.clone();
    let mut open = || -> std::io::Result<Box<dyn Read>> {
        // Opened again it is looked through for what it is.
        let given = if told.get() == 0 { told.clone() } else { Rc::default() };
        Ok(Box::new(Made { line: line.clone(), left: 24, at: 0, given }))
    };
    let read = ingest_stream(&mut open, "log.jsonl", &mut |session| {
        count += 1;
        if first == 0 {
            first = given.get();
        }
        held = held.max(given.get() - count * line.len() + line.len());
        assert_eq!(session.messages.len(), 2);
    })
    .expect("memory");
    assert_eq!((count, read.records, read.bytes.total(), read.bytes.skipped), (24, 24, size as u64, 0));
    assert!(first < size / 2, "{first} of {size} bytes before the first session");
    assert!(held < size / 2, "{held} of {size} bytes at once");
}

fn gzip(bytes: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

fn zstd(bytes: &str) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
}

/// What `inspect` says of some inputs, as JSON.
fn inspect(sandbox: &Sandbox, inputs: &[&str]) -> (Ran, Vec<Value>) {
    let ran = sandbox.run(&[&["inspect", "--format", "json"], inputs].concat());
    let page: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let files = page["files"].as_array().cloned().unwrap_or_default();
    (ran, files)
}

/// E07 (PixelPaw-Labs/codex-trace#101): rollouts are read packed or not, whatever their names say of it.
#[test]
fn archives_are_read_whatever_they_are_called() {
    let (_, log) = work().swap_remove(1);
    let sandbox = Sandbox::new();
    for (name, content) in [
        ("rollout-1.jsonl.zst", zstd(&log)),
        ("rollout-2.jsonl.gz", gzip(&log)),
        ("renamed-zst.jsonl", zstd(&log)),
        ("renamed-gz.jsonl", gzip(&log)),
        ("plain.jsonl.gz", log.clone().into_bytes()),
    ] {
        sandbox.file(name, content);
        let (ran, files) = inspect(&sandbox, &[name]);
        assert_eq!((ran.code, files.len()), (0, 1), "{name}: {ran:?}");
        assert_eq!((&files[0]["format"], &files[0]["bytes"]), (&json!("codex"), &json!(log.len())), "{name}");
    }
    // What is called an archive and is neither one nor a log is named, and does not stop the others.
    sandbox.file("junk.jsonl.gz", b"\x85\x01\0\xff");
    let (ran, files) = inspect(&sandbox, &["junk.jsonl.gz", "rollout-1.jsonl.zst"]);
    assert_eq!((ran.code, files.len()), (3, 2), "{ran:?}");
    assert!(
        ran.stderr.contains("junk.jsonl.gz") && ran.stderr.contains("named like an archive"),
        "{}",
        ran.stderr
    );
}

/// E07 (vshulcz/deja-vu#3640, agent-of-empires/agent-of-empires#3281): links that lead nowhere or in a circle are named; a file
/// that is reached twice is read once.
#[cfg(unix)]
#[test]
fn links_are_followed_once_and_named_where_they_lead_nowhere() {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::new();
    let file = sandbox.file("logs/a.jsonl", &work()[1].1);
    symlink(sandbox.path("logs"), sandbox.path("logs/around")).expect("a link");
    symlink("nowhere.jsonl", sandbox.path("logs/gone.jsonl")).expect("a link");
    symlink(&file, sandbox.path("logs/again.jsonl")).expect("a link");
    std::fs::hard_link(&file, sandbox.path("logs/twin.jsonl")).expect("a link");
    let (ran, files) = inspect(&sandbox, &["logs", "logs/a.jsonl"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let read: Vec<&Value> = files.iter().filter(|file| file["error"] == "").collect();
    assert_eq!(read.len(), 1, "{files:?}");
    assert!(ran.stderr.contains("around") && ran.stderr.contains("leads back"), "{}", ran.stderr);
    assert!(ran.stderr.contains("gone.jsonl"), "{}", ran.stderr);
}

/// E11 (huangruiteng/loopx#3121): an entry that cannot be read is named, and the others are read: exit code 3.
#[cfg(unix)]
#[test]
fn one_unreadable_entry_never_stops_the_others() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    sandbox.file("good.jsonl", &work()[1].1);
    std::fs::create_dir_all(sandbox.path("x.jsonl")).expect("a directory");
    sandbox.file("folder.jsonl/inside.jsonl", &work()[0].1);
    sandbox.file("empty.jsonl", "");
    let made = std::process::Command::new("mkfifo").arg(sandbox.path("pipe.jsonl")).status();
    let mut bad = vec!["absent.jsonl", "x.jsonl", "empty.jsonl"];
    if made.is_ok_and(|status| status.success()) {
        bad.push("pipe.jsonl");
    }
    let locked = sandbox.file("locked.jsonl", &work()[0].1);
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).expect("permissions");
    // Who may read everything sees no such file.
    if std::fs::read(&locked).is_err() {
        bad.push("locked.jsonl");
    }
    for file in &bad {
        for verb in ["inspect", "convert", "audit", "replay"] {
            let ran = sandbox.run(&[verb, file]);
            assert_eq!(ran.code, 2, "{verb} {file}: {ran:?}");
            assert!((ran.stdout + &ran.stderr).contains(file), "{verb} {file} is named");
        }
        let (ran, files) = inspect(&sandbox, &[file, "good.jsonl"]);
        assert_eq!(ran.code, 3, "{file}: {ran:?}");
        assert!(files.iter().any(|it| it["file"] == "good.jsonl" && it["error"] == ""), "{file}: {files:?}");
        assert!(files.iter().any(|it| it["file"] == *file), "{file} is listed: {files:?}");
    }
    // A directory that is called like a log is one.
    let (ran, files) = inspect(&sandbox, &["folder.jsonl"]);
    assert_eq!((ran.code, files.len()), (0, 1), "{ran:?}");
}

/// E11 (anchore/syft#5170): nothing on standard input is no success.
#[test]
fn empty_standard_input_is_no_success() {
    for verb in ["inspect", "convert", "audit", "replay", "show"] {
        for stdin in ["", "\n\n"] {
            let ran = Sandbox::new().run_with(&[verb, "-"], stdin);
            assert_eq!(ran.code, 2, "{verb}: {ran:?}");
            let all = ran.stdout + &ran.stderr;
            assert!(all.contains("stdin") || all.contains("standard input"), "{verb}: {all}");
        }
    }
}

/// E01, H08 (delexw/claude-code-trace#68): what was damaged is told, and makes a strict look at the logs fail.
#[test]
fn damaged_lines_are_told_and_fail_a_strict_look() {
    let (_, log) = work().swap_remove(1);
    let lines: Vec<&str> = log.lines().collect();
    let sandbox = Sandbox::new();
    for (damage, kind, line) in [
        (log.replacen('\n', "\nnot json at all\n", 1), "bad-json", 2),
        (log.replacen('\n', "\n\0\0\0\n", 1), "nul-bytes", 2),
        (log.chars().take(log.chars().count() - 9).collect(), "truncated-line", lines.len()),
        (log.replacen("}\n{", "}{", 1), "glued-records", 1),
    ] {
        sandbox.file("log.jsonl", damage);
        let (ran, files) = inspect(&sandbox, &["log.jsonl"]);
        assert_eq!(ran.code, 0, "{kind}: {ran:?}");
        assert_eq!(
            (&files[0]["remarks"][0]["kind"], &files[0]["remarks"][0]["line"]),
            (&json!(kind), &json!(line)),
            "{files:?}"
        );
        let (ran, _) = inspect(&sandbox, &["log.jsonl", "--strict"]);
        assert_eq!(ran.code, 3, "{kind}: {ran:?}");
    }
    sandbox.file("log.jsonl", &log);
    assert_eq!(inspect(&sandbox, &["log.jsonl", "--strict"]).0.code, 0, "nothing to say of a sound log");
}

/// A Claude Code session of so many records, written a minute apart, with the ids `u0`, `u1`, ...
fn session(id: &str, records: usize) -> String {
    let talk: Vec<Value> = (0..records)
        .map(|at| match at % 2 {
            0 => claude_user(&format!("request {at}")),
            _ => claude_agent(&format!("r{at}"), &format!("answer {at}")),
        })
        .collect();
    let mut log = String::new();
    for (at, line) in claude(&talk).lines().enumerate() {
        let mut record: Value = serde_json::from_str(line).expect("JSON");
        record["sessionId"] = json!(id);
        record["timestamp"] = json!(format!("2026-01-02T{:02}:{:02}:00Z", at / 60, at % 60));
        log += &format!("{record}\n");
    }
    log
}

/// E12 (kenn-io/agentsview#1373, anthropics/claude-code#60845): history that a second file repeats under another id is counted
/// once in the totals, and both sessions are whole.
#[test]
fn history_copied_into_another_file_is_counted_once() {
    let sandbox = Sandbox::new();
    sandbox.file("logs/first.jsonl", session("one", 40));
    sandbox.file("logs/second.jsonl", session("two", 50));
    sandbox.file("logs/third.jsonl", session("one", 40));
    let (ran, files) = inspect(&sandbox, &["logs"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let copied: Vec<&Value> = files.iter().map(|file| &file["sessions"][0]["copied"]["messages"]).collect();
    assert_eq!(copied, [&json!(0), &json!(40), &json!(40)]);
    let page: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let sums = &page["formats"].as_array().and_then(|all| all.last()).expect("totals")["sums"];
    let total = sums["user"].as_u64().zip(sums["assistant"].as_u64()).map(|(one, other)| one + other);
    assert_eq!((total, &sums["copied"]), (Some(130), &json!(80)), "{sums}");
    // The table has them taken off.
    let page = sandbox.run(&["inspect", "logs"]).stdout;
    let all = page.lines().rfind(|line| line.starts_with("all ")).expect("totals");
    assert_eq!(all.split_whitespace().take(4).collect::<Vec<_>>(), ["all", "3", "3", "50"], "{page}");
    // Both can be replayed.
    for (file, count) in [("first", 40), ("second", 50)] {
        let ran = sandbox.run(&["convert", &format!("logs/{file}.jsonl")]);
        assert_eq!(ran.stdout.matches("\"record\":\"message\"").count(), count, "{file}");
    }
}

/// E12 (daaain/claude-code-log#302): a fork that says of whom it is counts what it repeats once, in whatever order they lie.
#[test]
fn a_fork_is_counted_once_wherever_its_parent_lies() {
    let mut talk = vec![codex_says("user", "Go"), codex_says("assistant", "Done.")];
    let parent = codex(&talk);
    talk.extend([codex_says("user", "More"), codex_says("assistant", "There is more.")]);
    let child = codex(&talk).replacen("\"id\":\"c-1\"", "\"id\":\"c-2\",\"forked_from_id\":\"c-1\"", 1);
    for (first, second) in [(&parent, &child), (&child, &parent)] {
        let sandbox = Sandbox::new();
        sandbox.file("logs/1.jsonl", first);
        sandbox.file("logs/2.jsonl", second);
        let (ran, files) = inspect(&sandbox, &["logs"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let copied: u64 =
            files.iter().filter_map(|file| file["sessions"][0]["copied"]["messages"].as_u64()).sum();
        assert_eq!(copied, 2, "{files:?}");
    }
    assert_eq!(said(&one(&parent).0).len(), 2);
}

/// Every file below a directory, as it lies there: read alone, and as the logs that its files make.
fn check_directory(root: &Path) -> (usize, usize) {
    let (mut files, mut logs) = (0, 0);
    for source in discover(&[root.to_owned()]).sources {
        for (path, contents) in read_all(&source).expect("a file") {
            if !contents.bytes.starts_with(b"SQLite format 3") {
                check_promise(&ingest(&contents.bytes, &path), contents.bytes.len(), &path);
            }
            files += 1;
        }
        let log = read_log(&source).expect("a log");
        if !compactor::discover::is_database(&source) {
            check_promise(&log.ingested, usize::try_from(log.bytes).expect("a size"), &source.label);
        }
        logs += 1;
    }
    (files, logs)
}

/// Of no fixture a byte is left out without a word.
#[test]
fn every_byte_of_the_fixtures_is_accounted_for() {
    let (files, logs) = check_directory(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"));
    assert!(files >= 14 && logs >= 14, "{files} files, {logs} logs");
}

/// Nor of any log of the corpus.
#[test]
fn every_byte_of_the_corpus_is_accounted_for() {
    let root = std::env::var_os("COMPACTOR_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus"), PathBuf::from);
    if !root.is_dir() {
        eprintln!("skipped: no corpus (COMPACTOR_CORPUS)");
        return;
    }
    let (files, logs) = check_directory(&root);
    assert!(files >= logs && logs > 0, "{files} files, {logs} logs");
}
