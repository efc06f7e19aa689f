//! How logs are given to the program: lists, archives, standard input.

use crate::support::{Sandbox, fixture};
use std::io::Write;

fn log() -> String {
    fixture("pi/v1-linkprobe-timeouts-retries.jsonl")
}

/// The log as `gzip` packs it.
fn packed(log: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&std::fs::read(log).expect("a fixture")).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn every_verb_takes_a_list() {
    let sandbox = Sandbox::new();
    sandbox.file("list", format!("{}\n", log()));
    for verb in [
        vec!["replay", "--files-from", "list"],
        vec!["audit", "--files-from", "list"],
        vec!["convert", "--files-from", "list"],
        vec!["compact", "--files-from", "list", "--out", "out", "--window", "8k"],
        vec!["show", "--files-from", "list"],
    ] {
        let ran = sandbox.run(&verb);
        assert_eq!(ran.code, 0, "{verb:?}: {ran:?}");
        let again: Vec<&str> = verb.iter().map(|word| if *word == "list" { "-" } else { *word }).collect();
        let again: Vec<&str> = again.iter().map(|word| if *word == "out" { "out2" } else { *word }).collect();
        let piped = sandbox.run_with(&again, &format!("{}\0", log()));
        assert_eq!((piped.code, &piped.stdout.replace("out2", "out")), (0, &ran.stdout), "{again:?}");
    }
    let ran = sandbox.run(&["audit"]);
    assert_eq!(ran.code, 2);
}

#[test]
fn an_archive_gives_what_the_log_in_it_gives() {
    let sandbox = Sandbox::new();
    let plain = std::fs::read(log()).expect("a fixture");
    sandbox.file("plain/a.jsonl", &plain);
    sandbox.file("packed/a.jsonl.gz", packed(&log()));
    let convert = |path: &str| sandbox.run(&["convert", path]);
    let (one, other) = (convert("plain/a.jsonl"), convert("packed/a.jsonl.gz"));
    assert_eq!((one.code, &one.stdout), (0, &other.stdout), "{}", other.stderr);
    // What is written is no archive, and not named like one.
    let ran = sandbox.run(&["compact", "packed", "--to", "same", "--out", "out", "--window", "8k"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let written = std::fs::read(sandbox.path("out/a.jsonl")).expect("the log");
    assert!(written.starts_with(&plain));
    assert!(sandbox.path("out/a.report.json").is_file());
}

#[test]
fn a_damaged_archive_is_named_and_what_is_left_is_read() {
    let sandbox = Sandbox::new();
    let whole = packed(&log());
    sandbox.file("cut.jsonl.gz", whole.get(..whole.len() / 2).expect("half of it"));
    let ran = sandbox.run(&["replay", "cut.jsonl.gz"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("the gzip archive is cut off"), "{}", ran.stderr);
    sandbox.file("zip.gz", b"PK\x03\x04....");
    let ran = sandbox.run(&["replay", "zip.gz", &log()]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stderr.contains("zip.gz: a zip archive that is damaged or cut off"), "{}", ran.stderr);
}

#[test]
fn a_zip_archive_is_read_from_its_file_only() {
    let ran = Sandbox::new().run_with(&["inspect", "-"], "PK\u{3}\u{4}....");
    assert_eq!(ran.code, 2, "{ran:?}");
    let cause = "a zip archive, which cannot be read as a stream; name the file";
    assert!(ran.stderr.contains(cause), "{}", ran.stderr);
}

#[test]
fn nothing_on_standard_input() {
    let ran = Sandbox::new().run(&["replay", "-"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("nothing came through standard input; pipe a log into it"), "{}", ran.stderr);
}

#[test]
fn logs_left_out_of_a_directory_are_told_and_cost_nothing() {
    let sandbox = Sandbox::new();
    sandbox.file("logs/a.jsonl", std::fs::read(log()).expect("a fixture"));
    sandbox.file("logs/b.jsonl.xz", "x");
    for verb in [&["inspect", "logs"][..], &["convert", "logs"], &["replay", "logs"]] {
        let ran = sandbox.run(verb);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stderr.contains("logs: a packed or renamed log is left out: logs/b.jsonl.xz"), "{ran:?}");
        assert_eq!(ran.stderr.matches("is left out: ").count(), 1, "{ran:?}");
    }
}

#[test]
fn a_list_in_another_encoding_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.file("marked", format!("\u{feff}{}\r\n", log()));
    assert_eq!(sandbox.run(&["inspect", "--files-from", "marked"]).code, 0);
    let wide: Vec<u8> = format!("\u{feff}{}\r\n", log()).encode_utf16().flat_map(u16::to_le_bytes).collect();
    sandbox.file("wide", wide);
    let ran = sandbox.run(&["inspect", "--files-from", "wide"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("wide: the list is UTF-16; save it as UTF-8"), "{ran:?}");
    assert_eq!(ran.stderr.matches("wide").count(), 1, "{ran:?}");
}
