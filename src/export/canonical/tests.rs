use super::*;
use crate::export::tests::{CORPUS, fixtures};
use crate::ingest::{Format, ingest};
use crate::testing::{corpus_files, transcript};
use crate::transcript::{Origin, Outcome, Recorded, RecordedLists, ToolCall, Usage};
use proptest::prelude::*;
use smallvec::smallvec;
use thin_vec::ThinVec;

/// Writes sessions and reads them back: all of them, the same, and in the same bytes when written again.
fn check_round_trip(sessions: &[Transcript], label: &str) {
    let text = document(sessions);
    let read = ingest(text.as_bytes(), "other-name.jsonl");
    assert_eq!(read.format, Some(Format::Canonical), "{label}");
    assert_eq!(read.sessions.len(), sessions.len(), "{label}: {:?}", read.diagnostics);
    for (written, read) in sessions.iter().zip(&read.sessions) {
        assert!(written == read, "{label}: session {} reads back as another one", written.id);
    }
    assert_eq!(document(&read.sessions), text, "{label}");
}

#[test]
fn fixtures_read_back_as_they_are() {
    for (label, bytes) in fixtures() {
        check_round_trip(&ingest(&bytes, &label).sessions, &label);
    }
}

#[test]
fn the_corpus_reads_back_as_it_is() {
    for (label, bytes) in corpus_files(&CORPUS).unwrap_or_default() {
        let sessions = ingest(&bytes, &label).sessions;
        if !sessions.is_empty() {
            check_round_trip(&sessions, &label);
        }
    }
}

/// A session in which every field holds something.
fn full() -> Transcript {
    let mut session = transcript(
        "S: Be brief\nU: Look\nU*: reminder\nA{x,x}: now\nT(x): one\nT!(x): \u{fffd}\u{202e} two\nA{y}: more\nU: End",
    );
    session.id = "s\u{1}\"".to_owned();
    session.origin = Origin::Sidechain("scout".to_owned());
    session.model = Some("m".to_owned());
    session.context_window = Some(200_000);
    session.tool_schema = Some("[{}]".to_owned());
    session.starts_midway = true;
    let message = &mut session.messages[3];
    message.usage = Some(Box::new(Usage { input: u64::MAX, cache_read: 1, cache_write: 2, output: 3 }));
    message.parts.extend([
        Part::Thinking("hm".to_owned()),
        Part::Image { bytes: 7 },
        Part::Opaque { kind: "reasoning".into(), bytes: 9 },
    ]);
    message.lines = (0..message.parts.len() as u32).collect();
    message.cwd = Some("/w".into());
    let Part::Result(result) = &mut session.messages[5].parts[0] else { panic!("a result") };
    (result.exit_code, result.images, result.outcome) = (Some(-1), 2, Outcome::Unknown);
    session.recorded = vec![
        Recorded {
            kept: (1..3).into(),
            clipped: vec![(MessageIdx(0), "Be".to_owned())],
            line: 4,
            summary: Some(String::new()),
            lists: Some(RecordedLists { read: vec!["/a".to_owned()], modified: Vec::new() }),
            trigger: Some("auto".to_owned()),
            tokens_before: Some(5),
            tokens_after: Some(6),
            ..Recorded::at(MessageIdx(3))
        },
        Recorded { kept_unknown: true, ..Recorded::at(MessageIdx(8)) },
    ];
    session
}

#[test]
fn every_field_reads_back() {
    check_round_trip(&[full(), transcript("U: second"), full()], "full");
    let mut compacted = full();
    compacted.starts_compacted = true;
    assert!(document([&compacted]).contains("\"generated\":true"));
    check_round_trip(&[compacted], "compacted");
}

#[test]
fn a_compacted_session_begins_with_its_summary() {
    let session =
        transcript("S: Be brief\nU: Look\nA{x}: now\nT(x): one\nU: Go on\nA{y}: more\nT(y): two\nA: End");
    let kept = |at| Entry::Kept(MessageIdx(at));
    let context = Context {
        entries: vec![
            kept(0),
            Entry::Summary { role: Role::User, text: "What was".to_owned() },
            Entry::Clipped { message: MessageIdx(4), text: "Go".to_owned() },
            kept(5),
            kept(6),
            kept(7),
        ],
        now: MessageIdx(8),
        ..Context::default()
    };
    let compacted = compacted(&session, &context);
    assert_eq!(compacted.check(), Vec::<String>::new());
    let roles: Vec<&str> = compacted.messages.iter().map(|message| message.role.name()).collect();
    assert_eq!(roles, ["user", "system", "user", "assistant", "tool", "assistant"]);
    assert_eq!(compacted.messages[2].authored_text(), "Go");
    assert_eq!(compacted.links.len(), 1);
    check_round_trip(&[compacted], "compacted");
}

fn part(text: &str, kind: u8) -> Part {
    match kind {
        0 => Part::Text(Text { text: format!("{text}."), injected: true }),
        1 => Part::Thinking(format!("{text}.")),
        2 => Part::call(ToolCall { id: text.to_owned(), name: text.into(), arguments: text.to_owned() }),
        _ => Part::Text(Text { text: format!("{text}."), injected: false }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any text in any place, calls that are never answered, lines in any order.
    #[test]
    fn any_session_reads_back(
        texts in prop::collection::vec((any::<String>(), 0u8..4, any::<u32>()), 1..12),
        id in any::<String>(),
    ) {
        let mut session = transcript("U: x");
        session.id = id;
        session.messages.clear();
        for (text, kind, line) in &texts {
            let at = PartRef { message: MessageIdx::new(session.messages.len()), part: 0 };
            let part = part(text, *kind);
            if matches!(part, Part::Call(_)) {
                session.links.push(Link { call: at, result: None });
            }
            let role = if matches!(part, Part::Text(_)) { Role::User } else { Role::Assistant };
            session.messages.push(Message {
                role,
                parts: smallvec![part],
                line: *line,
                lines: ThinVec::new(), time: None,
                cwd: Some(text.as_str().into()),
                usage: None,
            });
        }
        check_round_trip(&[session], "generated");
    }
}
