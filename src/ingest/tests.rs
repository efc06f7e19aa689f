//! Tests of the readers over real logs, damage and arbitrary bytes.

mod arranged;

use std::path::PathBuf;

use proptest::prelude::*;

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

/// Names in the manifest that are ways of storing another format, or only names for it.
const ALIASES: [(&str, &str); 5] = [
    ("opencode-export", "opencode"),
    ("opencode-storage", "opencode"),
    ("openclaw", "pi"),
    ("clawdbot", "openai-chat"),
    ("vibe", "openai-chat"),
];

/// Whether the counts of the manifest are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counts {
    /// The manifest counts records of this format.
    Exact,
    /// It counts lines or words.
    Rough,
}

/// Reads every corpus file of these formats and compares it with what the manifest counted.
fn check_corpus(formats: &[&str]) {
    check_counts(formats, Counts::Exact);
}

fn check_counts(formats: &[&str], counts: Counts) {
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
        let wanted = ALIASES.iter().find(|(alias, _)| *alias == format).map_or(format, |(_, name)| *name);
        if read.format.map(Format::name) != Some(wanted) {
            differences.push(format!("{file}: read as {:?} ({})", read.format, read.evidence));
        }
        let expected = |column: usize| row.get(column).and_then(|text| text.parse::<u64>().ok());
        let glued = GLUED.iter().find(|(known, _)| *known == file).map_or(0, |(_, messages)| *messages);
        let messages = read.raw.messages - glued;
        for (what, found, expected) in
            [("messages", messages, expected(5)), ("calls", read.raw.tool_calls, expected(6))]
        {
            if counts == Counts::Exact && expected.is_some_and(|expected| expected != found) {
                differences.push(format!("{file}: {found} {what}, manifest has {expected:?}"));
            }
        }
        let part = read.diagnostics.iter().any(|it| it.code == "part-of-log");
        if read.sessions.is_empty() && !part && expected(5) != Some(0) {
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

/// Files of other tools' data sets, by the format that is in them.
const SHAPES: [(&str, Format); 6] = [
    ("agentpile__adp__nebius_SWE-agent-trajectories__full_std.jsonl", Format::Adp),
    ("agentpile__adp__openhands__full_std.jsonl", Format::Adp),
    ("agentpile__adp__swe-gym_openhands_sampled_trajectories__full_std.jsonl", Format::Adp),
    ("agentpile__tau2_bench__alpha-model.jsonl", Format::TauBench),
    ("agentpile__tau_bench__model-a.jsonl", Format::TauBench),
    ("agentpile__trace_commons__sessions__claude_code__session-tc-02.jsonl", Format::ClaudeCode),
];

#[test]
fn corpus_as_a_whole_is_recognised_and_no_byte_is_lost_silently() {
    let Some(root) = corpus() else { return };
    let mut manifest = csv::ReaderBuilder::new()
        .delimiter(b'\t')
        .flexible(true)
        .from_path(root.join("MANIFEST.tsv"))
        .unwrap();
    let mut seen = 0;
    for row in manifest.records() {
        let row = row.unwrap();
        let (file, format) = (row.get(0).unwrap(), row.get(1).unwrap());
        let content = bytes(&root.join(file));
        let read = ingest(&content, file);
        let alias = ALIASES.iter().find(|(alias, _)| *alias == format).map_or(format, |(_, name)| *name);
        let shape = SHAPES.iter().find(|(name, _)| file.ends_with(name)).map(|(_, format)| format.name());
        assert_eq!(read.format.map(Format::name), Some(shape.unwrap_or(alias)), "{file}: {}", read.evidence);
        assert_eq!(read.bytes.total(), content.len() as u64, "{file}");
        let named = read.diagnostics.iter().any(|it| it.severity > Severity::Note);
        assert!(named || read.bytes.skipped == 0, "{file}: {:?}", read.bytes);
        assert!(!read.sessions.is_empty() || !read.diagnostics.is_empty(), "{file}");
        seen += 1;
    }
    assert!(seen > 150);
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

#[test]
fn corpus_of_opencode() {
    check_corpus(&["opencode-export"]);
    check_counts(&["opencode", "opencode-storage"], Counts::Rough);
}

#[test]
fn corpus_of_cline() {
    check_corpus(&["cline", "cline-sdk"]);
}

#[test]
fn corpus_of_goose() {
    check_corpus(&["goose"]);
}

#[test]
fn corpus_of_cursor() {
    check_counts(&["cursor"], Counts::Rough);
}

#[test]
fn corpus_of_swe_agent() {
    check_corpus(&["swe-agent", "mini-swe-agent"]);
}

#[test]
fn corpus_of_evaluations() {
    check_corpus(&["inspect", "atif", "tau-bench", "sharegpt"]);
}

#[test]
fn corpus_of_exports_and_spans() {
    check_counts(&["hermes", "otel-genai", "chatgpt-export", "claude-ai-export"], Counts::Rough);
}

/// Small files in the shapes of data sets, each of the format that its name says.
#[test]
fn corpus_of_data_sets() {
    let Some(root) = corpus() else { return };
    let found = crate::discover::discover(&[root.join("dataset-shapes")]);
    for source in found.sources {
        let known = [("__adp__", "adp"), ("__tau", "tau-bench")];
        let Some((_, wanted)) = known.iter().find(|(part, _)| source.label.contains(part)) else { continue };
        let read = ingest(&bytes(&source.path), &source.label);
        assert_eq!(read.format.map(Format::name), Some(*wanted), "{}", source.label);
        assert!(!read.sessions.is_empty(), "{}", source.label);
    }
}

#[test]
fn corpus_of_amp_and_entire() {
    check_counts(&["amp", "entire-transcript"], Counts::Rough);
}

#[test]
fn corpus_of_gemini_cli() {
    check_corpus(&["gemini-cli"]);
}

#[test]
fn corpus_of_qwen_code() {
    check_corpus(&["qwen-code"]);
}

#[test]
fn corpus_of_copilot_cli() {
    check_corpus(&["copilot-cli"]);
}

#[test]
fn corpus_of_kimi() {
    check_corpus(&["kimi"]);
}

/// The manifest counts lines of these.
#[test]
fn corpus_counted_in_lines() {
    check_counts(&["antigravity", "droid", "grok"], Counts::Rough);
}

#[test]
fn corpus_of_aider() {
    check_corpus(&["aider"]);
}

#[test]
fn corpus_of_specstory_and_sven() {
    check_counts(&["specstory-md", "sven"], Counts::Rough);
}

/// In long sessions nearly everything is on the active path, on both sides of every compaction.
#[test]
fn paths_of_claude_code_cross_compactions() {
    let Some(root) = corpus() else { return };
    let found = crate::discover::discover(&[root.join("claude-code")]);
    assert_eq!(found.problems, []);
    let mut compactions = 0;
    for source in found.sources {
        let read = ingest(&bytes(&source.path), &source.label);
        if read.raw.messages < 100 {
            continue;
        }
        let messages: usize = read.sessions.iter().map(|session| session.messages.len()).sum();
        let ratio = messages as f64 / read.raw.messages as f64;
        assert!(ratio > 0.98, "{}: {messages} of {} messages", source.label, read.raw.messages);
        for session in &read.sessions {
            for recorded in &session.recorded {
                let before = session.messages.get(recorded.before.get().wrapping_sub(1)).map(|m| m.line);
                let after = session.messages.get(recorded.before.get()).map(|m| m.line);
                assert!(before.is_some_and(|line| line < recorded.line), "{}: {recorded:?}", source.label);
                assert!(after.is_none_or(|line| line > recorded.line), "{}: {recorded:?}", source.label);
                compactions += 1;
            }
        }
    }
    assert_eq!(compactions, 20);
}

/// Every fixture cut off at every 97th byte: its first lines, and the few lines in front of the cut.
#[test]
fn fixtures_cut_off_anywhere() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for source in crate::discover::discover(&[root]).sources {
        let whole = bytes(&source.path);
        let mut starts: Vec<usize> = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', &whole).map(|at| at + 1));
        let header = starts.get(1).copied().unwrap_or_default();
        for cut in (0..whole.len()).step_by(97) {
            let line = starts.partition_point(|start| *start <= cut) - 1;
            let from = starts[line.saturating_sub(3)].max(header).min(cut.max(header));
            let mut part = whole[..header.min(cut)].to_vec();
            part.extend_from_slice(whole.get(from..cut).unwrap_or_default());
            for session in ingest(&part, &source.label).sessions {
                assert_eq!(session.check(), Vec::<String>::new(), "{} cut at {cut}", source.label);
            }
        }
    }
}

#[test]
fn what_is_no_log_says_what_it_is() {
    let cases: &[(&[u8], &str, &str)] = &[
        (b"", "empty-file", "the file is empty; nothing to replay"),
        (b"\x1f\x8b\x08junk", "not-a-log", "the file is gzip-compressed; unpack it with gunzip first"),
        (b"\x00\xff\xfe\x01", "not-a-log", "no line of the file is JSON; `compactor inspect"),
        (b"{\"a\":1,\"b\":2}", "unknown-format", "no known log format (fields of line 1: a, b); `compactor"),
        (b"\"x\"\n7", "unknown-format", "no known log format (line 1 is no JSON object); `compactor"),
        (b"{}", "unknown-format", "no known log format (line 1 is an object without fields); `compactor"),
        (b"{\"kind\":0,\"v\":{}}", "unknown-format", "this looks like a chat session of VS Code"),
        (b"{\"type\":\"summary\",\"summary\":\"t\",\"leafUuid\":\"x\"}", "no-session", "a claude-code file"),
    ];
    for (bytes, code, text) in cases {
        let read = ingest(bytes, "x.jsonl");
        let lost: Vec<&Diagnostic> =
            read.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Lost).collect();
        assert_eq!(lost.len(), 1, "{read:?}");
        assert_eq!(lost[0].code, *code, "{read:?}");
        assert!(lost[0].text.starts_with(text), "{read:?}");
        assert!(read.sessions.is_empty());
    }
}

/// Each format in a log of each other: the second one is named as damage, and nothing of it is read.
#[test]
fn records_of_another_format_are_named() {
    let logs = [
        (
            "claude-code",
            r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"hi"}}"#,
        ),
        (
            "codex",
            r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}"#,
        ),
        ("pi", r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"hi"}}"#),
        ("chat messages", r#"{"role":"user","content":"hi"}"#),
    ];
    for (own, first) in &logs[..3] {
        for (other, second) in logs.iter().filter(|(other, _)| other != own) {
            let text = format!("{first}\n{second}\n{second}\n");
            let read = ingest(text.as_bytes(), "x.jsonl");
            assert_eq!(read.format.map(Format::name), Some(*own));
            let [damage] = read.diagnostics.as_slice() else { panic!("{own} {other}: {read:?}") };
            assert_eq!((damage.line, damage.code, damage.severity), (2, "foreign-record", Severity::Damage));
            let names = format!("a record of {other} in a log of {own}; its content is lost: split the file");
            assert!(damage.text.starts_with(&names) && damage.text.contains("2 times"), "{damage}");
            assert_eq!((read.sessions.len(), read.sessions[0].messages.len(), read.raw.messages), (1, 1, 1));
        }
        // A type that nobody knows is only noted.
        let read = ingest(
            format!("{first}\n{{\"type\":\"widget\",\"id\":\"w\",\"uuid\":\"w\"}}").as_bytes(),
            "x.jsonl",
        );
        assert!(read.diagnostics.iter().all(|it| it.severity == Severity::Note), "{own}: {read:?}");
    }
}

/// Records of Claude Code and of Codex at the end of a log of any format: named as damage, and nothing else changes.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test reads its data")]
fn records_that_strayed_into_any_log_are_named() {
    let strays = [
        r#"{"type":"user","uuid":"q","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"hi"}}"#,
        r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}"#,
    ];
    let mut formats = std::collections::BTreeSet::new();
    for family in std::fs::read_dir("tests/fuzz/seeds").unwrap() {
        for file in std::fs::read_dir(family.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|end| end != "jsonl") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let before = ingest(text.as_bytes(), "x.jsonl");
            let name = before.format.map_or("", Format::name);
            let is_record =
                |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok_and(|it| it.is_object());
            let lines = text.lines().all(is_record);
            if !lines || before.sessions.is_empty() {
                continue;
            }
            for stray in strays {
                let other = ingest(stray.as_bytes(), "x.jsonl").format.unwrap();
                if before.format == Some(other) {
                    continue;
                }
                let after = ingest(format!("{}\n{stray}\n", text.trim_end()).as_bytes(), "x.jsonl");
                let at = format!("{}: {}", path.display(), other.name());
                assert_eq!(after.sessions, before.sessions, "{at}");
                assert!(
                    after.diagnostics.iter().any(|it| it.code == "foreign-record"),
                    "{at}: {:?}",
                    after.diagnostics
                );
                formats.insert(name);
            }
        }
    }
    assert!(formats.len() > 30, "{formats:?}");
}

/// Plain messages before the first record of an agent whose logs hold none: what there is more of decides.
#[test]
fn a_stray_line_does_not_make_a_chat_another_log() {
    let chat = "{\"role\":\"user\",\"content\":\"hi\"}\n";
    let claude = |at: u32| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u{at}\",\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":\"yes\"}}}}\n"
        )
    };
    let check = |log: String, format: Format, messages: usize, strays: u64| {
        let read = ingest(log.as_bytes(), "x.jsonl");
        assert_eq!(read.format, Some(format), "{log}");
        assert_eq!(read.sessions.iter().map(|it| it.messages.len()).sum::<usize>(), messages, "{log}");
        let named = read.diagnostics.iter().filter(|it| it.code == "foreign-record");
        assert_eq!(named.map(|it| it.count).sum::<u64>(), strays, "{log}");
    };
    check([chat, chat, &claude(0)].concat(), Format::OpenaiChat, 2, 1);
    check([chat, chat, &claude(0), chat].concat(), Format::OpenaiChat, 3, 1);
    check([chat, &claude(0), &claude(1)].concat(), Format::ClaudeCode, 2, 1);
    check([&claude(0), chat, chat, chat].concat(), Format::ClaudeCode, 1, 3);
    let cursor = "{\"role\":\"user\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"no\"}]}}\n";
    // Logs that hold such messages are what they are.
    let meta = "{\"role\":\"session_meta\",\"model\":\"m\",\"platform\":\"cli\"}\n";
    check([chat, chat, meta].concat(), Format::Hermes, 2, 0);
    check([chat, chat, cursor].concat(), Format::Cursor, 3, 0);
}

/// Pieces that logs are made of, to be strung together at random.
fn piece() -> impl Strategy<Value = String> {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        "\"",
        ",",
        ":",
        "\n",
        "null",
        "-1",
        "\\ud83d",
        "\0",
        "\u{feff}",
        "{\"type\":\"user\",\"uuid\":\"a\",\"parentUuid\":\"b\",\"message\":{\"content\":\"x\"}}\n",
        "{\"type\":\"assistant\",\"uuid\":\"b\",\"parentUuid\":\"a\",\"message\":{\"id\":\"r\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c\"}]}}\n",
        "{\"type\":\"user\",\"parentUuid\":null,\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c\"}]}}\n",
        "{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"d\"}\n",
        "{\"type\":\"user\",\"isSidechain\":true,\"isCompactSummary\":true,\"message\":{\"content\":\"s\"}}\n",
        "{\"type\":\"session\",\"cwd\":\"/\"}\n",
        "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[]}}\n",
        "{\"role\":\"user\",\"content\":\"<system-reminder>\"}\n",
        "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\"}]}\n",
        "{\"role\":\"tool\",\"tool_call_id\":\"c\"}\n",
        "{\"messages\":[1,{\"role\":\"user\",\"content\":{}}]}\n",
    ];
    prop_oneof![4 => proptest::sample::select(pieces.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,6}"]
}

/// A record of each of these formats with this time in every field that says one.
fn timed(time: &str) -> Vec<String> {
    vec![
        format!(
            r#"{{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","timestamp":{time},"message":{{"role":"user","content":"hi"}}}}"#
        ),
        format!(
            r#"{{"timestamp":{time},"type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"hi"}}]}}}}"#
        ),
        format!(
            r#"{{"type":"message","id":"a","parentId":null,"timestamp":{time},"message":{{"role":"user","content":"hi","timestamp":{time}}}}}"#
        ),
        format!(r#"{{"role":"user","content":"hi","timestamp":{time}}}"#),
    ]
}

proptest! {
    #[test]
    fn any_time_is_survived(time in any::<i64>()) {
        for log in [time, i64::MIN, i64::MAX].iter().flat_map(|time| timed(&time.to_string())) {
            prop_assert_eq!(ingest(log.as_bytes(), "x.jsonl").sessions.len(), 1, "{}", log);
        }
        for log in ["1e300", "-1.5", "18446744073709551615", "null", "[]", "\"\""].iter().flat_map(|time| timed(time)) {
            prop_assert_eq!(ingest(log.as_bytes(), "x.jsonl").sessions.len(), 1, "{}", log);
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = ingest(&bytes, "x.jsonl");
    }

    #[test]
    fn any_pieces_make_sound_sessions(pieces in proptest::collection::vec(piece(), 0..30)) {
        let read = ingest(pieces.concat().as_bytes(), "x.jsonl");
        for session in &read.sessions {
            prop_assert_eq!(session.check(), Vec::<String>::new());
        }
        prop_assert!(!read.sessions.is_empty() || read.diagnostics.iter().any(|d| d.severity == Severity::Lost));
    }
}
