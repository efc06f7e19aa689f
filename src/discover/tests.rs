use std::io::Write;

use super::*;
use crate::ingest::Format;
use crate::transcript::Transcript;

/// Files with these contents in a new directory.
#[expect(clippy::disallowed_methods, reason = "a test makes its inputs")]
fn directory(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
    }
    root
}

/// The labels of what was found in a directory, without its path.
fn labels(root: &Path, found: &Discovered) -> Vec<String> {
    let short =
        |source: &Source| source.path.strip_prefix(root).unwrap_or(&source.path).display().to_string();
    found.sources.iter().map(|source| slashed(&short(source))).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// Makes the files, resolves the inputs (relative to the directory) and compares labels and problems.
#[expect(clippy::disallowed_methods, reason = "a test makes its inputs")]
fn check(files: &[&str], inputs: &[&str], found: &[&str], problems: &[(&str, &str)]) {
    let root = tempfile::tempdir().unwrap();
    for file in files {
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "{}").unwrap();
    }
    let inputs: Vec<PathBuf> = inputs.iter().map(|input| root.path().join(input)).collect();
    let discovered = discover(&inputs);
    let short = |label: &str| {
        let prefix = format!("{}/", root.path().display());
        label.strip_prefix(&prefix).unwrap_or(label).to_owned()
    };
    let labels: Vec<String> = discovered.sources.iter().map(|source| short(&source.label)).collect();
    assert_eq!(labels, found);
    let shown: Vec<(String, &str)> =
        discovered.problems.iter().map(|(path, cause)| (short(path), cause.as_str())).collect();
    let shown: Vec<(&str, &str)> = shown.iter().map(|(path, cause)| (path.as_str(), *cause)).collect();
    assert_eq!(shown, problems);
    for source in &discovered.sources {
        assert_eq!(read(source), Ok(Contents { bytes: b"{}".to_vec(), damage: None }));
        assert_eq!(source.bytes, 2);
    }
}

#[test]
fn files_and_directories() {
    let files = [
        "b.jsonl",
        "a.json",
        "a.labels.json",
        "notes.txt",
        ".hidden/c.JSONL",
        "sub/deep/d.jsonl",
        "e.jsonl.bak",
    ];
    check(&files, &["."], &["./.hidden/c.JSONL", "./a.json", "./b.jsonl", "./sub/deep/d.jsonl"], &[]);
    // Named files are taken whatever they are called, each once.
    check(
        &files,
        &["notes.txt", "sub", "sub/deep/d.jsonl", "./sub/../notes.txt"],
        &["notes.txt", "sub/deep/d.jsonl"],
        &[],
    );
}

#[test]
fn patterns() {
    let files = ["a/x1.jsonl", "a/x2.jsonl", "a/b/x3.jsonl", "a/y.txt"];
    check(&files, &["a/x*.jsonl"], &["a/x1.jsonl", "a/x2.jsonl"], &[]);
    check(&files, &["a/**/*.jsonl"], &["a/b/x3.jsonl", "a/x1.jsonl", "a/x2.jsonl"], &[]);
    check(&files, &["a/{y,z}.txt"], &["a/y.txt"], &[]);
    check(&files, &["a/q*"], &[], &[("a/q*", "no file matches this pattern; check its spelling")]);
    // A file whose name looks like a pattern is that file.
    check(&["[x].jsonl", "x.jsonl"], &["[x].jsonl"], &["[x].jsonl"], &[]);
}

#[test]
fn what_cannot_be_used_is_a_problem() {
    check(
        &["d/readme.md", "ok.jsonl"],
        &["gone.jsonl", "d", "ok.jsonl"],
        &["ok.jsonl"],
        &[
            ("gone.jsonl", "no such file or directory; check the path"),
            (
                "d",
                "no log in this directory (looked for .jsonl, .json, .ndjson, .traj, these packed, chats in .md and .yaml, streams of agents in .log, .txt and .out, databases, .eval, .zip with these); name a directory of logs, or the files",
            ),
        ],
    );
}

#[cfg(unix)]
#[test]
fn links_are_followed_once_and_pipes_refused() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    std::os::unix::fs::symlink(root.path(), at("loop")).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(at("s.jsonl")).unwrap();
    let found = discover(&[root.path().to_owned()]);
    drop(socket);
    assert_eq!(found.sources, []);
    let causes: Vec<&str> = found.problems.iter().map(|(_, cause)| cause.as_str()).collect();
    assert_eq!(
        causes,
        [
            "a symbolic link that leads back to a directory above it; not followed",
            "a pipe, socket or device, not a file; pipe it to standard input and give `-`",
        ]
    );
}

#[cfg(unix)]
#[test]
fn problems_of_a_pattern_are_those_of_what_it_matches() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let root = directory(&[("a.jsonl", b"{}"), ("sub/b.jsonl", b"{}"), ("locked/c.jsonl", b"{}")]);
    let at = |name: &str| root.path().join(name);
    symlink(root.path(), at("loop")).unwrap();
    symlink("nowhere", at("gone.txt")).unwrap();
    let found = |pattern: &str| {
        let found = discover(&[at(pattern)]);
        let prefix = format!("{}/", root.path().display());
        let short = |path: &String| path.strip_prefix(&prefix).unwrap_or(path).to_owned();
        let problems: Vec<String> =
            found.problems.iter().map(|(path, cause)| format!("{}: {cause}", short(path))).collect();
        (labels(root.path(), &found), problems)
    };
    let none = |pattern: &str| format!("{pattern}: no file matches this pattern; check its spelling");
    assert_eq!(found("nomatch*.zzz"), (vec![], vec![none("nomatch*.zzz")]));
    assert_eq!(found("*.jsonl"), (vec!["a.jsonl".to_owned()], vec![]));
    assert_eq!(found("none/*.jsonl"), (vec![], vec![none("none/*.jsonl")]));
    let (files, problems) = found("*.txt");
    assert_eq!(files.len(), 0);
    assert!(problems.len() == 1 && problems[0].starts_with("gone.txt: a link to nowhere"), "{problems:?}");
    let (files, problems) = found("lo*p");
    assert_eq!(files.len(), 0);
    assert!(problems.len() == 1 && problems[0].starts_with("loop: a symbolic link"), "{problems:?}");
    fs::set_permissions(at("locked"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(at("locked")).is_err() {
        for (pattern, files, named) in [
            ("*.jsonl", 1, false),
            ("s*/*.jsonl", 1, false),
            ("*/*.jsonl", 1, true),
            ("**/*.jsonl", 2, true),
            ("l*/*.jsonl", 0, true),
        ] {
            let found = found(pattern);
            assert_eq!(found.0.len(), files, "{pattern}: {found:?}");
            assert_eq!(
                found.1.iter().any(|it| it.starts_with("locked: permission denied")),
                named,
                "{pattern}"
            );
            assert_eq!(found.1.contains(&none(pattern)), files == 0, "{pattern}: {found:?}");
        }
    }
    fs::set_permissions(at("locked"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn logs_in_other_forms_are_counted() {
    let names = [
        "d/a.jsonl",
        "d/b.jsonl.xz",
        "d/c.JSON.bz2",
        "d/d.tar.gz",
        "d/e.jsonl.bak",
        "d/f.jsonl.1",
        "d/f.jsonl.2026-01-01",
        "d/g.jsonl.gz.2",
        "d/h.jsonl~",
        "d/i.txt",
        "d/j.log",
        "d/k.png",
        "d/l.log.1",
        "d/m.xz",
        "d/n.labels.json",
        "d/o.labels.json.bak",
        "d/p.jsonl.gz",
        "one/a.jsonl",
        "one/b.ndjson.old",
        "two/a.jsonl",
    ];
    let root = directory(&names.map(|name| (name, b"{}".as_slice())));
    let notes = |name: &str| {
        let found = discover(&[root.path().join(name)]);
        assert_eq!(found.problems, [], "{name}");
        found
            .notes
            .iter()
            .map(|note| note.replace(&format!("{}/", root.path().display()), ""))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        notes("d"),
        [
            "d: 8 packed or renamed logs are left out, d/b.jsonl.xz the first; unpack them, or give them names of logs"
        ]
    );
    assert_eq!(
        notes("one"),
        [
            "one: a packed or renamed log is left out: one/b.ndjson.old; unpack it, or give it the name of a log"
        ]
    );
    assert_eq!(notes("two"), Vec::<String>::new());
    assert_eq!(notes("d/*.jsonl"), Vec::<String>::new());
}

#[test]
fn standard_input_is_a_source_once() {
    let found = discover(&[PathBuf::from("-"), PathBuf::from("-")]);
    assert_eq!(found.sources.len(), 1);
    assert_eq!(found.sources[0].label, "<stdin>");
}

const LOG: &[u8] =
    b"{\"role\":\"user\",\"content\":\"first\"}\n{\"role\":\"assistant\",\"content\":\"second\"}\n";

/// Reads one file with this name and these bytes.
fn read_named(name: &str, bytes: &[u8]) -> Result<Log, Unread> {
    let root = directory(&[(name, bytes)]);
    let found = discover(&[root.path().join(name)]);
    assert_eq!((found.sources.len(), found.problems.len()), (1, 0), "{found:?}");
    read_log(&found.sources[0])
}

fn sizes(log: &Log) -> (Vec<usize>, Vec<&'static str>) {
    let sessions = log.ingested.sessions.iter().map(|session: &Transcript| session.messages.len()).collect();
    (sessions, log.ingested.diagnostics.iter().map(|it| it.code).collect())
}

#[test]
fn archives_are_read_like_what_is_in_them() {
    let (first, second) = LOG.split_at(40);
    let skippable = [b"\x50\x2a\x4d\x18\x03\0\0\0abc".as_slice(), &zstd(LOG)].concat();
    let cases: [(&str, Vec<u8>); 7] = [
        ("a.jsonl", LOG.to_vec()),
        ("a.jsonl.gz", gzip(LOG)),
        ("a.jsonl", gzip(LOG)),
        ("a.jsonl.gz", [gzip(first), gzip(second)].concat()),
        ("a.jsonl.zst", zstd(LOG)),
        ("a.jsonl.ZST", [zstd(first), zstd(second)].concat()),
        ("a.jsonl", skippable),
    ];
    for (name, bytes) in cases {
        let log = read_named(name, &bytes).unwrap();
        assert_eq!(sizes(&log), (vec![2], vec![]), "{name}");
        assert_eq!(log.ingested.sessions[0].id, "a", "{name}");
        assert_eq!((log.raw.as_deref(), log.bytes), (Some(LOG), LOG.len() as u64));
        assert_eq!(log.hash, *blake3::hash(LOG).as_bytes());
    }
    assert_eq!(unpacked_name("x/.gz"), "x/.gz");
}

/// Lines that do not compress away, so that there is something in front of a cut.
fn many() -> Vec<u8> {
    let line = |at: u32| {
        format!(
            "{{\"role\":\"user\",\"content\":\"{:x}\"}}\n",
            u128::from(at).pow(5).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c)
        )
    };
    (1..4_000).map(line).collect::<String>().into_bytes()
}

#[test]
fn damaged_archives_give_what_can_be_read() {
    let whole = many();
    for (name, packed, what) in [("a.gz", gzip(&whole), "gzip"), ("a.zst", zstd(&whole), "zstd")] {
        let cut = &packed[..packed.len() - packed.len() / 4];
        let log = read_named(name, cut).unwrap();
        let (sessions, codes) = sizes(&log);
        assert!(sessions[0] > 500 && sessions[0] < 3_999, "{name}: {sessions:?}");
        assert_eq!(codes[0], "damaged-archive", "{name}");
        let text = &log.ingested.diagnostics[0].text;
        assert!(text.contains(&format!("the {what} archive is cut off")), "{text}");
        // A byte changed at the end: the checksum tells.
        let mut changed = packed.clone();
        let last = changed.len() - if what == "gzip" { 6 } else { 1 };
        changed[last] ^= 1;
        let log = read_named(name, &changed).unwrap();
        let text = &log.ingested.diagnostics[0].text;
        assert!(text.contains("is damaged"), "{text}");
        // Cut anywhere: nothing panics.
        for cut in (0..packed.len()).step_by(packed.len() / 50) {
            let _ = read_named(name, &packed[..cut]);
        }
    }
}

#[test]
fn what_stands_behind_an_archive_takes_nothing_of_it() {
    let whole = many();
    // Another member, a tape's zeros, and what a broken copy or a shell left there.
    let cases: [(Vec<u8>, usize, &[&str]); 6] = [
        (gzip(LOG), 1, &[]),
        (vec![0; 5_000], 0, &[]),
        ([vec![0; 700], gzip(LOG)].concat(), 1, &[]),
        (b"junk\n".to_vec(), 0, &["other bytes stand behind its end"]),
        ([vec![0; 3], b"x".to_vec()].concat(), 0, &["other bytes stand behind its end"]),
        (gzip(LOG)[..7].to_vec(), 0, &["the gzip archive is cut off"]),
    ];
    let alone = sizes(&read_named("a.gz", &gzip(&whole)).unwrap()).0;
    let more = sizes(&read_named("a.gz", &gzip(LOG)).unwrap()).0.iter().sum::<usize>();
    for (behind, members, texts) in cases {
        let log = read_named("a.gz", &[gzip(&whole), behind.clone()].concat()).unwrap();
        let messages: usize = sizes(&log).0.iter().sum();
        assert_eq!(messages, alone.iter().sum::<usize>() + members * more, "{behind:?}");
        let told: Vec<&str> = log.ingested.diagnostics.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(told.len(), texts.len(), "{told:?}");
        assert!(told.iter().zip(texts).all(|(told, text)| told.contains(text)), "{told:?}");
    }
}

#[test]
fn other_archives_and_encrypted_files_say_what_they_are() {
    let mut tar = vec![b'x'; 600];
    tar.splice(257..262, *b"ustar");
    let cases: [(&str, Vec<u8>, &str); 6] = [
        ("a.jsonl", b"\xfd7zXZ\0...".to_vec(), "compressed with xz"),
        ("a.gz", b"Salted__\0\x01\x02".to_vec(), "encrypted with openssl"),
        ("a.gz", b"\x85\x01\0\xff".to_vec(), "named like an archive"),
        ("a.gz", gzip(&tar), "gzip of a tar archive"),
        ("a.zst", zstd(b"PK\x03\x04...."), "zstd of a zip archive"),
        ("a.gz", b"\x1f\x8b\x08\0".to_vec(), "the gzip archive is cut off"),
    ];
    for (name, bytes, text) in cases {
        let error = read_named(name, &bytes).unwrap_err().to_string();
        assert!(error.starts_with(text), "{name}: {error}");
    }
}

#[test]
fn opening_streams() {
    let whole = many();
    let root = directory(&[("a.gz", &gzip(&whole))]);
    let found = discover(&[root.path().join("a.gz")]);
    let mut reader = open(&found.sources[0]).unwrap();
    let mut begin = [0; 1_000];
    reader.read_exact(&mut begin).unwrap();
    assert_eq!(begin.as_slice(), &whole[..1_000]);
}

#[test]
fn names_and_first_bytes_tell_logs() {
    let root = directory(&[
        ("a.ndjson", b"{}"),
        ("a.traj", b"{}"),
        ("b.json.gz", b"{}"),
        ("b.labels.json.gz", b"{}"),
        ("c/.aider.chat.history.md", b""),
        ("c/README.md", b"# about"),
        ("c/spec.md", b"<!-- Generated by SpecStory, Markdown v2.1.0 -->\n"),
        ("c/sven.md", b"# T\n\n## User\nx\n\n## Sven\ny\n"),
        ("d/chat.yaml", b"---\nid: x\nturns:\n- role: user\n"),
        ("d/config.yml", b"key: value\n"),
        ("e/store.db", b"SQLite format 3\0..."),
        ("e/other.db", b"something"),
        ("f.jsonl/inside.jsonl", b"{}"),
        ("g/claude.log", b"starting\n{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/w\"}\n"),
        ("g/codex.txt", b"{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n"),
        ("g/server.log", b"{\"type\":\"request\",\"level\":\"info\"}\n"),
        ("node_modules/p/package.json", b"{}"),
    ]);
    let found = discover(&[root.path().to_owned()]);
    let expected = [
        "a.ndjson",
        "a.traj",
        "b.json.gz",
        "c/.aider.chat.history.md",
        "c/spec.md",
        "c/sven.md",
        "d/chat.yaml",
        "e/store.db",
        "f.jsonl/inside.jsonl",
        "g/claude.log",
        "g/codex.txt",
        "node_modules/p/package.json",
    ];
    assert_eq!(labels(root.path(), &found), expected);
    assert_eq!(found.problems, []);
}

#[test]
fn lists_name_more_inputs() {
    let root =
        directory(&[("a.jsonl", b"{}"), ("b c.jsonl", b"{}"), ("d/e.jsonl", b"{}"), ("empty", b"\n\n")]);
    let at = |name: &str| root.path().join(name);
    let text = |end: &str| {
        ["a.jsonl", "b c.jsonl", "d", "gone.jsonl"]
            .map(|name| format!("{}{end}", at(name).display()))
            .concat()
    };
    for end in ["\n", "\r\n", "\0"] {
        let list = directory(&[("list", text(end).as_bytes())]);
        let found = discover_listed(&[at("a.jsonl")], Some(&list.path().join("list")));
        assert_eq!(labels(root.path(), &found), ["a.jsonl", "b c.jsonl", "d/e.jsonl"], "{end:?}");
        let [(path, cause)] = found.problems.as_slice() else { panic!("{found:?}") };
        assert!(path.ends_with("gone.jsonl") && cause.starts_with("no such file"), "{found:?}");
    }
    let causes = |list: &str| discover_listed(&[], Some(&at(list))).problems.remove(0).1;
    let marked = directory(&[("list", format!("\u{feff}{}\n", at("a.jsonl").display()).as_bytes())]);
    let found = discover_listed(&[], Some(&marked.path().join("list")));
    assert_eq!((labels(root.path(), &found), found.problems), (vec!["a.jsonl".to_owned()], vec![]));
    for bytes in [b"\xff\xfea\0\n\0".as_slice(), b"\xfe\xff\0a\0\n"] {
        let list = directory(&[("list", bytes)]);
        let problems = discover_listed(&[], Some(&list.path().join("list"))).problems;
        assert!(
            problems.len() == 1 && problems[0].1.starts_with("the list is UTF-16; save it as UTF-8"),
            "{problems:?}"
        );
    }
    assert_eq!(causes("empty"), "no path in this list; write one on each line");
    assert_eq!(causes("gone"), "no such file or directory; check the path");
    let both = discover_listed(&[PathBuf::from("-")], Some(Path::new("-")));
    assert_eq!(both.problems[0].1, "standard input cannot be a log and a list; put one into a file");
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_and_files_with_two_names() {
    let root = directory(&[("a.jsonl", b"{}")]);
    let at = |name: &str| root.path().join(name);
    fs::hard_link(at("a.jsonl"), at("b.jsonl")).unwrap();
    std::os::unix::fs::symlink(at("a.jsonl"), at("c.jsonl")).unwrap();
    std::os::unix::fs::symlink("nowhere", at("d.jsonl")).unwrap();
    std::os::unix::fs::symlink("e.jsonl", at("e.jsonl")).unwrap();
    let found = discover(&[root.path().to_owned(), at("b.jsonl"), at("d.jsonl")]);
    assert_eq!(labels(root.path(), &found), ["a.jsonl"]);
    let causes: Vec<&str> = found.problems.iter().map(|(_, cause)| cause.as_str()).collect();
    let dangling = "a link to nowhere, which is not there; restore it, or remove the link";
    assert_eq!((causes.len(), causes[0], causes[2]), (3, dangling, dangling), "{causes:?}");
    assert!(causes[1].starts_with("a link that leads to no file ("), "{causes:?}");
}

#[test]
fn files_of_one_log_are_one_source() {
    let user = br#"{"type":"user","content":[{"type":"text","text":"go"}]}"#;
    let summary = br#"{"info":{"id":"g-1","cwd":"/w"},"session_summary":"t","num_messages":1}"#;
    let root = directory(&[
        ("s/a/chat_history.jsonl.gz", &gzip(user)),
        ("s/a/summary.json", summary),
        ("s/b/summary.json", summary),
        ("z.jsonl", LOG),
    ]);
    let found = discover(&[root.path().to_owned()]);
    assert_eq!(labels(root.path(), &found), ["s/a/chat_history.jsonl.gz", "s/b/summary.json", "z.jsonl"]);
    let source = &found.sources[0];
    assert_eq!((source.files.len(), source.tree.is_some()), (2, true));
    let log = read_log(source).unwrap();
    assert!(log.raw.is_none());
    assert_eq!(log.bytes, (user.len() + summary.len()) as u64);
    assert_eq!(log.ingested.evidence, "2 files of one log");
    let said: Vec<String> =
        log.ingested.sessions[0].messages.iter().map(crate::transcript::Message::authored_text).collect();
    assert_eq!(said, ["go"]);
    // What belongs to a log that is not there is no log.
    assert!(found.sources[1].tree.is_none());
    let alone = read_log(&found.sources[2]).unwrap();
    assert_eq!(alone.ingested.format, Some(Format::OpenaiChat));
    // A file that is named itself is read alone.
    assert!(discover(&[root.path().join("s/a/summary.json")]).sources[0].tree.is_none());
}

/// A member of an archive to be made: name, method, flags, what is in it.
type Packed<'a> = (&'a str, u16, u16, &'a [u8]);

const STORED: u16 = 0;
const DEFLATE: u16 = 8;
const ZSTD: u16 = 93;

/// Made by hand, since no maker of archives makes those that are wrong.
fn zip(members: &[Packed<'_>]) -> Vec<u8> {
    zip_told(members, |size| size)
}

/// The same with other sizes told of what is in it.
fn zip_told(members: &[Packed<'_>], told: impl Fn(u32) -> u32) -> Vec<u8> {
    let (mut archive, mut list) = (Vec::new(), Vec::new());
    let size = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap();
    for (name, method, flags, bytes) in members {
        let packed = match *method {
            DEFLATE => {
                let mut encoder =
                    flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
            ZSTD => zstd(bytes),
            _ => bytes.to_vec(),
        };
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let mut about = Vec::new();
        for short in [20, *flags, *method, 0, 0x21] {
            about.extend(short.to_le_bytes());
        }
        for long in [crc.sum(), size(&packed), told(size(bytes)), size(name.as_bytes())] {
            about.extend(long.to_le_bytes());
        }
        list.extend(b"PK\x01\x02\x14\0");
        list.extend(&about);
        list.extend([0; 10]);
        list.extend(size(&archive).to_le_bytes());
        list.extend(name.as_bytes());
        archive.extend(b"PK\x03\x04");
        archive.extend(about);
        archive.extend(name.as_bytes());
        archive.extend(packed);
    }
    let count = u16::try_from(members.len()).unwrap().to_le_bytes();
    let begin = size(&archive);
    archive.extend(&list);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend([count, count].concat());
    for long in [size(&list), begin] {
        archive.extend(long.to_le_bytes());
    }
    archive.extend([0; 2]);
    archive
}

/// What was found in a directory, by label, and the problems, both without its path.
fn named(root: &Path, found: &Discovered) -> (Vec<String>, Vec<(String, String)>) {
    let prefix = format!("{}/", slashed(&root.display().to_string()));
    let short = |label: &str| {
        let label = slashed(label);
        label.strip_prefix(&prefix).unwrap_or(&label).to_owned()
    };
    let labels = found.sources.iter().map(|source| short(&source.label)).collect();
    (labels, found.problems.iter().map(|(path, cause)| (short(path), cause.clone())).collect())
}

#[test]
fn each_log_of_a_zip_archive_is_a_log() {
    let archive = zip(&[
        ("notes.txt", STORED, 0, b"text"),
        ("d/", STORED, 0, b""),
        ("d/b.jsonl", DEFLATE, 0, LOG),
        ("a.jsonl", STORED, 0, LOG),
        ("c.ndjson", ZSTD, 0, LOG),
        ("e.jsonl.gz", STORED, 0, &gzip(LOG)),
        ("f.labels.json", STORED, 0, b"{}"),
        ("README.md", DEFLATE, 0, b"# about"),
        ("g.md", DEFLATE, 0, b"<!-- Generated by SpecStory, Markdown v2.1.0 -->\n"),
        ("__MACOSX/._a.jsonl", STORED, 0, b"\0\x05\x16\x07"),
    ]);
    let root =
        directory(&[("x.zip", &archive), ("no.zip", &zip(&[("a.txt", STORED, 0, b"{}")])), ("y", LOG)]);
    let expected = ["x.zip/a.jsonl", "x.zip/c.ndjson", "x.zip/d/b.jsonl", "x.zip/e.jsonl.gz", "x.zip/g.md"];
    let at = |name: &str| root.path().join(name);
    for inputs in [vec![root.path().to_owned()], vec![at("x.zip"), at("x.zip")], vec![at("*.zip")]] {
        let pattern = inputs.iter().any(|input| input.ends_with("*.zip"));
        let found = discover(&inputs);
        let (labels, problems) = named(root.path(), &found);
        assert_eq!(labels, expected, "{inputs:?}");
        // An archive without a log is left alone in a directory, but not where it is meant.
        let causes: Vec<&str> = problems.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(causes, if pattern { vec!["no.zip"] } else { vec![] }, "{inputs:?}");
        for (source, id) in found.sources.iter().zip(["a", "c", "b", "e"]) {
            let log = read_log(source).unwrap();
            assert_eq!(sizes(&log), (vec![2], vec![]), "{id}");
            assert_eq!(log.ingested.sessions[0].id, id);
            assert_eq!((log.raw.as_deref(), log.bytes), (Some(LOG), LOG.len() as u64), "{id}");
            assert_eq!(log.hash, *blake3::hash(LOG).as_bytes(), "{id}");
        }
    }
}

#[test]
fn files_of_one_log_in_a_zip_archive_are_one_source() {
    let user = br#"{"type":"user","content":[{"type":"text","text":"go"}]}"#;
    let summary = br#"{"info":{"id":"g-1","cwd":"/w"},"session_summary":"t","num_messages":1}"#;
    let archive = zip(&[
        ("s/a/chat_history.jsonl", DEFLATE, 0, user),
        ("s/a/summary.json", DEFLATE, 0, summary),
        ("z.jsonl", DEFLATE, 0, LOG),
    ]);
    let root = directory(&[("x.zip", &archive)]);
    let found = discover(&[root.path().join("x.zip")]);
    assert_eq!(named(root.path(), &found).0, ["x.zip/s/a/chat_history.jsonl", "x.zip/z.jsonl"]);
    let log = read_log(&found.sources[0]).unwrap();
    assert_eq!(log.bytes, (user.len() + summary.len()) as u64);
    assert_eq!(log.ingested.evidence, "2 files of one log");
}

#[test]
fn archives_of_known_make_give_their_logs_only() {
    let sample =
        br#"{"id":"s","epoch":1,"input":"go","target":"t","messages":[{"role":"user","content":"go"}]}"#;
    let start = br#"{"version":2,"eval":{"task":"t"},"plan":{}}"#;
    let evaluation = zip(&[
        ("_journal/start.json", ZSTD, 0, start),
        ("_journal/summaries/1.json", ZSTD, 0, b"[]"),
        ("samples/s_epoch_1.json", ZSTD, 0, sample),
        ("summaries.json", DEFLATE, 0, b"[]"),
        ("header.json", DEFLATE, 0, start),
    ]);
    let export = zip(&[
        ("e/conversations.json", DEFLATE, 0, b"[]"),
        ("e/user.json", DEFLATE, 0, b"{}"),
        ("e/message_feedback.json", DEFLATE, 0, b"[]"),
        ("other/user.json", DEFLATE, 0, b"{}"),
    ]);
    let unfinished = zip(&[("_journal/start.json", STORED, 0, start)]);
    let root = directory(&[("a.eval", &evaluation), ("b.zip", &export), ("c.eval", &unfinished)]);
    let found = discover(&[root.path().to_owned()]);
    let (labels, problems) = named(root.path(), &found);
    assert_eq!(
        labels,
        ["a.eval/samples/s_epoch_1.json", "b.zip/e/conversations.json", "b.zip/other/user.json"]
    );
    assert_eq!(problems.len(), 1);
    assert!(problems[0].0 == "c.eval" && problems[0].1.starts_with("no log in this zip archive"));
    let log = read_log(&found.sources[0]).unwrap();
    assert_eq!((log.ingested.format, sizes(&log).0), (Some(Format::Inspect), vec![1]));
}

#[test]
fn what_cannot_be_read_of_a_zip_archive_is_named() {
    let archive = zip(&[
        ("a.jsonl", STORED, 1, LOG),
        ("b.jsonl", 12, 0, LOG),
        ("c.jsonl", STORED, 0, LOG),
        ("d.md", STORED, 1, LOG),
    ]);
    let root = directory(&[("x.zip", &archive), ("y.zip", &archive[..archive.len() - 30])]);
    let (labels, problems) = named(root.path(), &discover(&[root.path().to_owned()]));
    assert_eq!(labels, ["x.zip/c.jsonl"]);
    let begins = [
        ("x.zip/a.jsonl", "encrypted; unpack the archive with its password"),
        ("x.zip/b.jsonl", "packed in a way that is not read"),
        ("y.zip", "a zip archive that is damaged or cut off"),
    ];
    assert_eq!(problems.len(), begins.len(), "{problems:?}");
    for ((path, cause), (named, begin)) in problems.iter().zip(begins) {
        assert!(path == named && cause.starts_with(begin), "{path}: {cause}");
    }
}

#[test]
fn damaged_members_give_what_can_be_read() {
    let whole = many();
    for method in [STORED, DEFLATE, ZSTD] {
        let mut archive = zip(&[("a.jsonl", method, 0, &whole)]);
        // In the last packed bytes, in front of the list of members.
        let list = memchr::memmem::rfind(&archive, b"PK\x01\x02").unwrap();
        archive[list - 40] ^= 4;
        let log = read_named("x.zip", &archive).unwrap();
        let (sessions, codes) = sizes(&log);
        assert!(sessions[0] > 500, "{method}: {sessions:?}");
        assert_eq!(codes[0], "damaged-archive", "{method}");
        let text = &log.ingested.diagnostics[0].text;
        assert!(text.starts_with("the zip archive is damaged ("), "{text}");
        // Cut or changed anywhere: nothing panics.
        for at in (0..archive.len()).step_by(archive.len() / 10) {
            let mut changed = archive.clone();
            changed[at] ^= 0x55;
            for bytes in [&archive[..at], &changed] {
                let root = directory(&[("x.zip", bytes)]);
                let _ = discover(&[root.path().join("x.zip")]).sources.iter().map(read_log).count();
            }
        }
    }
}

#[test]
fn archives_that_expand_without_end_are_refused() {
    let zeros = vec![0; 100 << 20];
    let cases = [
        ("a.gz", gzip(&zeros)),
        ("a.zst", zstd(&zeros)),
        ("told.zip", zip(&[("a.jsonl", DEFLATE, 0, &zeros)])),
        ("untold.zip", zip_told(&[("a.jsonl", DEFLATE, 0, &zeros)], |_| 1_000)),
        ("twice.zip", zip(&[("a.jsonl.gz", DEFLATE, 0, &gzip(&zeros))])),
    ];
    for (name, bytes) in cases {
        let error = read_named(name, &bytes).unwrap_err().to_string();
        assert!(error.starts_with("unpacks to more than 250 times its size"), "{name}: {error}");
    }
}
