//! Tests of the readers over real logs, damage and arbitrary bytes.

use std::path::PathBuf;

use super::*;

/// The corpus of real logs, when it is there.
#[expect(clippy::disallowed_methods, reason = "tests read the corpus where there is one")]
fn corpus() -> Option<PathBuf> {
    let path = std::env::var_os("COMPACTOR_CORPUS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus"), PathBuf::from);
    path.join("MANIFEST.tsv").is_file().then_some(path)
}

#[expect(clippy::disallowed_methods, reason = "a test reads its inputs")]
fn bytes(path: &std::path::Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// Files of which more is read than the manifest counted, by messages: a line that holds two records, glued by a crash,
/// is two records here and one bad line there.
const GLUED: [(&str, u64); 2] = [
    ("pi/badlogic-pi-mono__v1_compact_tag-v0.27.6.jsonl", 1),
    ("pi/badlogic-pi-mono__v1_session_tag-v0.23.3.jsonl", 2),
];

/// Reads every corpus file of these formats and compares it with what the manifest counted.
fn check_corpus(formats: &[&str]) {
    let Some(root) = corpus() else { return };
    let mut manifest = csv::ReaderBuilder::new()
        .delimiter(b'\t')
        .flexible(true)
        .from_path(root.join("MANIFEST.tsv"))
        .unwrap();
    let mut differences = Vec::new();
    for row in manifest.records() {
        let row = row.unwrap();
        let (file, format) = (row.get(0).unwrap(), row.get(1).unwrap());
        if !formats.contains(&format) {
            continue;
        }
        let read = ingest(&bytes(&root.join(file)), file);
        if read.format.map(Format::name) != Some(format) {
            differences.push(format!("{file}: read as {:?} ({})", read.format, read.evidence));
        }
        let expected = |column: usize| row.get(column).and_then(|text| text.parse::<u64>().ok());
        let glued = GLUED.iter().find(|(known, _)| *known == file).map_or(0, |(_, messages)| *messages);
        let messages = read.raw.messages - glued;
        for (what, found, expected) in
            [("messages", messages, expected(5)), ("calls", read.raw.tool_calls, expected(6))]
        {
            if expected.is_some_and(|expected| expected != found) {
                differences.push(format!("{file}: {found} {what}, manifest has {expected:?}"));
            }
        }
        if read.sessions.is_empty() && expected(5) != Some(0) {
            differences.push(format!("{file}: no session"));
        }
        for session in &read.sessions {
            for problem in session.check() {
                differences.push(format!("{file}: {}: {problem}", session.id));
            }
        }
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn corpus_of_claude_code() {
    check_corpus(&["claude-code"]);
}

#[test]
fn corpus_of_codex() {
    check_corpus(&["codex"]);
}

#[test]
fn corpus_of_pi() {
    check_corpus(&["pi"]);
}

#[test]
fn corpus_of_chat() {
    check_corpus(&["openai-chat", "anthropic-messages"]);
}
