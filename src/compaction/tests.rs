//! Whole compactions of the modelled systems, row by row: what is prepared, who is asked for what, what stands afterwards.

use super::*;
use crate::estimate::{
    Accounts, Calibration, Marker, Room, context_size, entries_tokens, entry_tokens, from_marker,
};
use crate::harness::{Block, Call, Compaction, Outcome};
use crate::pairs::{answered, repaired};
use crate::profile::Profile;
use crate::prompt::Part;
use crate::summary_text::SummaryText;

fn profile(name: &str) -> Profile {
    Profile::named(name).expect("an embedded profile").expect("valid")
}

/// Entries in short, with sizes in bytes: `U400` a user message, `B` a command of the user, `S` system, `A` reply, `T` result of the oldest call
/// without one, `m` a label. `A206:read=a.rs,edit=b.rs` has calls; `A*` is a call that is a message of its own.
/// `C@2` a compaction entry that kept entry 2. `3*[U4 A4]` repeats. The id of an entry is `e` and its position.
fn entries(notation: &str) -> Vec<Entry<'static>> {
    let mut words: Vec<&str> = Vec::new();
    let mut rest = notation.trim();
    while !rest.is_empty() {
        let (word, behind) = rest.split_once(' ').unwrap_or((rest, ""));
        if let Some((count, _)) = word.split_once("*[") {
            let (block, behind) = rest.split_once('[').expect("a block").1.split_once(']').expect("its end");
            for _ in 0..count.parse::<usize>().expect("a number") {
                words.extend(block.split_whitespace());
            }
            rest = behind.trim_start();
        } else {
            words.push(word);
            rest = behind.trim_start();
        }
    }
    let mut waiting: std::collections::VecDeque<(String, String)> = std::collections::VecDeque::new();
    let mut calls = 0;
    let mut made =
        |list: &str, waiting: &mut std::collections::VecDeque<(String, String)>| -> Vec<Block<'static>> {
            list.split(',')
                .filter(|call| !call.is_empty())
                .map(|call| {
                    let (name, path) = call.split_once('=').unwrap_or((call, ""));
                    let id = format!("c{calls}");
                    calls += 1;
                    waiting.push_back((id.clone(), name.to_owned()));
                    let kind = match name {
                        "read" => Some("read"),
                        "write" | "edit_file" => Some("write"),
                        _ => None,
                    };
                    let arguments =
                        if path.is_empty() { "{}".to_owned() } else { format!("{{\"path\":\"{path}\"}}") };
                    Block::Call(Call {
                        id: id.into(),
                        name: name.to_owned().into(),
                        arguments: arguments.into(),
                        kind: kind.map(Into::into),
                    })
                })
                .collect()
        };
    words
        .iter()
        .enumerate()
        .map(|(at, word)| {
            let (kind, rest) = word.split_at(1);
            let (number, list) = rest.split_once(':').unwrap_or((rest, ""));
            let text = "x".repeat(number.parse().unwrap_or(0));
            let said = |role| Entry::message(role, vec![Block::Text(text.clone().into())]);
            let entry = match kind {
                "S" => said(Role::System),
                "B" => said(Role::Shell),
                "U" => said(Role::User),
                "A" if number == "*" => Entry::message(Role::Assistant, made("tool", &mut waiting)),
                "A" => {
                    let mut entry = said(Role::Assistant);
                    entry.blocks.extend(made(list, &mut waiting));
                    entry
                }
                "T" => {
                    let (id, name) = waiting.pop_front().unwrap_or_default();
                    Entry::message(
                        Role::Tool,
                        vec![Block::Result(Outcome {
                            call_id: Some(id.into()),
                            name: Some(name.into()),
                            texts: vec![text.into()],
                            images: Vec::new(),
                            error: false,
                        })],
                    )
                }
                "C" => Entry {
                    kind: Kind::Compaction,
                    compaction: Some(Compaction {
                        first_kept: Some(rest.replace('@', "e").into()),
                        ..Compaction::default()
                    }),
                    ..Entry::text(Role::Summary, format!("summary at {at}"))
                },
                "m" => Entry { kind: Kind::Meta, ..Entry::message(Role::Unknown, Vec::new()) },
                other => panic!("no kind {other}"),
            };
            Entry { id: format!("e{at}").into(), ..entry }
        })
        .collect()
}

fn marks(profile: &Profile, entries: &[Entry<'_>]) -> Vec<Mark> {
    let size = |entry: &Entry<'_>| {
        let estimate = profile.estimate.as_ref().expect("rules of an estimate");
        profile.cut.own_size(entry).unwrap_or_else(|| entry_tokens(entry, estimate).expect("content"))
    };
    entries.iter().map(|entry| Mark::of(entry, size(entry))).collect()
}

fn prepared(profile: &Profile, entries: &[Entry<'_>], keep: u64, force: bool) -> Option<Prepared> {
    let policy = Policy { session: profile.session, cut: &profile.cut, turn: &profile.turn };
    let summary = |entry: &Entry<'_>| profile.summary_text.previous(std::slice::from_ref(entry)).is_some();
    prepare(entries, &marks(profile, entries), policy, keep, force, summary)
}

/// One question to the model: the part, the summary before it, and the entries.
type Asked = (Part, Option<String>, usize);

/// A compaction with scripted replies, the last of which repeats; none is a system without a model.
struct Run {
    asked: Vec<Asked>,
    written: Result<Written, WriteError>,
    after: Vec<Entry<'static>>,
}

fn run(
    profile: &Profile,
    entries: &[Entry<'static>],
    prepared: &Prepared,
    truncate: bool,
    replies: Option<&[Reply]>,
) -> Run {
    let mut asked = Vec::new();
    let mut ask = |ask: &Ask<'_, '_>| {
        asked.push((ask.part, ask.previous.map(str::to_owned), ask.entries.len()));
        let replies = replies.unwrap_or_default();
        replies[(asked.len() - 1).min(replies.len() - 1)].clone()
    };
    let texts =
        Texts { writing: &profile.writing, text: &profile.summary_text, files: profile.ledger.as_ref() };
    let written = if replies.is_some() {
        write(entries, prepared, texts, truncate, Some(&mut ask))
    } else {
        write(entries, prepared, texts, truncate, None)
    };
    let mut after = entries.to_vec();
    if let Ok(written) = &written {
        let compaction = Compaction {
            first_kept: entries.get(prepared.cut).map(|entry| entry.id.clone()),
            lists: Some(written.lists.clone()),
            ..Compaction::default()
        };
        if profile.session.form == Form::Entry {
            after.push(Entry {
                id: format!("e{}", entries.len()).into(),
                kind: Kind::Compaction,
                compaction: Some(compaction),
                ..Entry::text(Role::Summary, written.text.clone())
            });
        } else {
            let role = match crate::transcript::Role::from(profile.summary.role) {
                crate::transcript::Role::Assistant => Role::Assistant,
                _ => Role::User,
            };
            let summary = Entry {
                compaction: Some(compaction),
                ..Entry::text(role, profile.summary_text.wrap(&written.text))
            };
            after.splice(..prepared.cut, [summary]);
        }
    }
    Run { asked, written, after }
}

fn said(text: &str) -> Reply {
    Reply::Text(text.to_owned())
}

fn text_of(entry: &Entry<'_>) -> String {
    entry.texts().collect()
}

const HEAD: &str = "[Conversation summary — older messages were compacted]\n\n";
/// A coding session of 13 messages in two turns.
const CODING: &str = "U156 A101:read_file=src/routes.rs,read_file=src/metrics.rs T131 T141 \
    A75:edit_file=src/routes.rs,read_file=src/main.rs T25 T24 U44 A71:read_file=src/main.rs T203 \
    A61:edit_file=src/main.rs T25 A242";
/// A question, a reply, and one turn of 20 rounds.
const ONE_TURN: &str = "U209 A210 U19 10*[A206:shell T206] 10*[A207:shell T206]";
/// The same with more blanks in every text.
const PADDED: &str = "U232 A230 U47 9*[A178:shell T190] 11*[A179:shell T191]";

#[test]
fn opal_without_a_model_leaves_a_count() {
    let opal = profile("opal");
    for (name, notation, keep, force, messages, count) in [
        ("ten requests", "10*[U206]", 200, false, 5, "[Compacted 6 messages: 6 user]"),
        ("six pairs", "6*[U211 A208]", 200, false, 5, "[Compacted 8 messages: 4 assistant, 4 user]"),
        ("a larger tail", "6*[U211 A208]", 300, false, 7, "[Compacted 6 messages: 3 assistant, 3 user]"),
        ("larger pairs", "6*[U311 A308]", 300, false, 5, "[Compacted 8 messages: 4 assistant, 4 user]"),
        ("five by force", "U5 A5 U5 A5 U5", 100_000, true, 3, "[Compacted 3 messages: 1 assistant, 2 user]"),
        ("four by force", "U5 A5 U5 A5", 100_000, true, 3, "[Compacted 2 messages: 1 assistant, 1 user]"),
        ("a tail of nothing", "3*[U211 A208]", 0, false, 2, "[Compacted 5 messages: 2 assistant, 3 user]"),
    ] {
        let entries = entries(notation);
        let prepared = prepared(&opal, &entries, keep, force).expect(name);
        assert!(!prepared.split, "{name}: no turn is split");
        let run = run(&opal, &entries, &prepared, true, None);
        assert_eq!(run.after.len(), messages, "{name}");
        assert_eq!(run.after[0].role, Role::User, "{name}");
        assert_eq!(text_of(&run.after[0]), format!("{HEAD}{count}"), "{name}");
        assert_eq!(run.after[1..], entries[prepared.cut..], "{name}: the tail stays as it is");
    }
    for (name, notation, keep, force) in [
        ("two short messages", "U5 A5", 100, false),
        ("two messages by force", "U5 A5", 100_000, true),
        ("three that fit", "U5 A5 U5", 100_000, false),
        ("nothing", "", 1, false),
        ("a single message", "U5", 1, false),
    ] {
        assert_eq!(prepared(&opal, &entries(notation), keep, force), None, "{name} stays as it is");
    }
}

#[test]
fn opal_asks_once_and_twice_where_it_splits_a_turn() {
    let opal = profile("opal");
    for (name, notation, keep, cut, start, calls, messages) in [
        ("one long turn, cut at a result", ONE_TURN, 500, 34, Some(2), 2, 10),
        ("one long turn, cut at a reply", PADDED, 1_000, 23, Some(2), 2, 21),
        ("a short prefix", CODING, 100, 9, None, 1, 5),
        ("a prefix of five", CODING, 0, 12, Some(7), 2, 2),
    ] {
        let entries = entries(notation);
        let prepared = prepared(&opal, &entries, keep, false).expect(name);
        assert_eq!(prepared.cut, cut, "{name}: cut");
        let prefix: Vec<usize> = start.map(|start| (start..cut).collect()).unwrap_or_default();
        assert_eq!((prepared.split, &prepared.prefix), (start.is_some(), &prefix), "{name}: prefix");
        let run = run(&opal, &entries, &prepared, false, Some(&[said("H"), said("P")]));
        assert_eq!(run.asked.len(), calls, "{name}: calls");
        assert_eq!(run.after.len(), messages, "{name}: messages afterwards");
        let expect = if start.is_some() {
            format!("{HEAD}## History Summary\n\nH\n\n---\n\n## Turn Context (split turn)\n\nP")
        } else {
            format!("{HEAD}H")
        };
        assert_eq!(text_of(&run.after[0]), expect, "{name}");
    }
    let entries = entries(CODING);
    let prepared = prepared(&opal, &entries, 0, false).expect("a cut");
    let (read, modified) =
        run(&opal, &entries, &prepared, false, Some(&[said("H")])).written.expect("texts").lists;
    assert_eq!(read, ["src/metrics.rs"], "a file that was only read");
    assert_eq!(modified, ["src/routes.rs", "src/main.rs"], "files that were read, then edited");
}

#[test]
fn opal_writes_what_it_can_where_the_model_fails() {
    let opal = profile("opal");
    let turn = "U14 A206 U12 6*[A206:read_file=f.rs T206]";
    let failed = || Reply::Failed("no answer".to_owned());
    let of_turn = "## Turn Context (split turn)\n\n";
    let counted =
        "[Compacted 9 messages: 4 assistant, 4 tool_result, 1 user]\n\n<read-files>\nf.rs\n</read-files>";
    for (name, notation, keep, truncate, replies, expect) in [
        (
            "a failed call",
            "6*[U211 A208]",
            200,
            false,
            vec![failed()],
            "[Compacted 8 messages: 4 assistant, 4 user]".to_owned(),
        ),
        (
            "a reply without a character",
            "6*[U211 A208]",
            200,
            false,
            vec![said("")],
            "[Compacted 8 messages: 4 assistant, 4 user]".to_owned(),
        ),
        ("blanks are a summary of nothing", "6*[U211 A208]", 200, false, vec![said(" \n ")], String::new()),
        ("blanks around a summary go", "6*[U211 A208]", 200, false, vec![said("\n S \n")], "S".to_owned()),
        (
            "both parts of a split turn",
            turn,
            200,
            false,
            vec![failed()],
            format!(
                "## History Summary\n\n[Compacted 2 messages: 1 assistant, 1 user]\n\n---\n\n{of_turn}{counted}"
            ),
        ),
        (
            "one part of a split turn",
            turn,
            200,
            false,
            vec![failed(), said("P")],
            format!("## History Summary\n\n[Compacted 2 messages: 1 assistant, 1 user]\n\n---\n\n{of_turn}P"),
        ),
        (
            "a split turn is the model's, although the count was asked for",
            turn,
            200,
            true,
            vec![said("H"), said("P")],
            format!("## History Summary\n\nH\n\n---\n\n{of_turn}P"),
        ),
    ] {
        let entries = entries(notation);
        let prepared = prepared(&opal, &entries, keep, false).expect(name);
        let run = run(&opal, &entries, &prepared, truncate, Some(&replies));
        assert_eq!(text_of(&run.after[0]), format!("{HEAD}{expect}"), "{name}");
    }
    for (name, notation, keep, force) in [
        ("a split turn without a model", turn, 200, false),
        (
            "a forced cut inside a turn without a model",
            "U14 A206 U12 3*[A206:read_file=f.rs T206]",
            100_000,
            true,
        ),
    ] {
        let entries = entries(notation);
        let prepared = prepared(&opal, &entries, keep, force).expect(name);
        let run = run(&opal, &entries, &prepared, true, None);
        assert!(matches!(run.written, Err(WriteError::Crash(_))), "{name}: {:?}", run.written);
        assert_eq!(run.after, entries, "{name}: the session stays as it was");
    }
}

#[test]
fn opal_takes_up_a_summary_before_it_where_the_model_writes() {
    let opal = profile("opal");
    let second = |truncate: bool, notation: &str, keep: u64, behind: &str, then: u64| {
        let first = entries(notation);
        let cut = prepared(&opal, &first, keep, false).expect("a first cut");
        let mut session = run(&opal, &first, &cut, truncate, Some(&[said("FIRST")])).after;
        session.extend(entries(behind));
        let cut = prepared(&opal, &session, then, false).expect("a second cut");
        (cut.clone(), run(&opal, &session, &cut, truncate, Some(&[said("SECOND")])))
    };
    let calls = "U211:x A208:read_file=a,write_file=b T9 T9 3*[U211 A208]";
    let (_, again) = second(false, calls, 200, "U211 A208:read_file=c,edit_file=a T9 T9 3*[U211 A208]", 200);
    let previous = format!("{HEAD}FIRST");
    assert_eq!(again.asked, [(Part::History, Some(previous), 11)], "the whole of it, header included");
    let lists = again.written.expect("texts").lists;
    let (read, mut modified) = lists;
    modified.sort();
    assert_eq!(
        (read.as_slice(), modified.as_slice()),
        (&["c".to_owned()][..], &["a".to_owned(), "b".to_owned()][..]),
        "lists of both cycles"
    );

    let (_, again) = second(true, calls, 200, "3*[U211 A208]", 200);
    assert!(
        text_of(&again.after[0]).starts_with(&format!("{HEAD}[Compacted 7 messages: 3 assistant, 4 user]")),
        "one message among others: {}",
        text_of(&again.after[0])
    );
    let lists = again.written.expect("texts").lists;
    assert_eq!(lists, (vec!["a".to_owned()], vec!["b".to_owned()]), "its lists survive");

    // One prompt and a loop of tools: the summary before it is all that a turn could begin with.
    let (cut, again) = second(false, "U300 8*[A206:shell T206]", 200, "8*[A206:shell T206]", 200);
    assert!(cut.history.is_empty() && cut.prefix.first() == Some(&0), "the summary begins the turn: {cut:?}");
    let [(part, before, _)] = again.asked.as_slice() else { panic!("one call: {:?}", again.asked) };
    assert_eq!(
        (*part, before.as_deref().is_some_and(|text| text.starts_with(HEAD))),
        (Part::TurnPrefix, true)
    );
    assert_eq!(text_of(&again.after[0]), format!("{HEAD}## Turn Context (split turn)\n\nSECOND"));

    // Three messages by force: the summary alone is compacted, again and again.
    let mut session = entries("U211 A208 U211 A208");
    for (name, count) in [
        ("first", "[Compacted 2 messages: 1 assistant, 1 user]"),
        ("second", "[Compacted 1 messages: 1 user]"),
        ("third", "[Compacted 1 messages: 1 user]"),
    ] {
        let cut = prepared(&opal, &session, 100_000, true).expect(name);
        session = run(&opal, &session, &cut, true, None).after;
        assert_eq!((text_of(&session[0]), session.len()), (format!("{HEAD}{count}"), 3), "{name}");
    }
}

#[test]
fn opal_compacts_before_the_next_prompt_of_a_session_that_reports_its_size() {
    let opal = profile("opal");
    let session = entries("8*[U20000 A20000]");
    let estimate = opal.estimate.as_ref().expect("an estimate");
    let marker = Marker { tokens: 110_000, messages: session.len() };
    let size = from_marker(&session, marker, estimate).expect("content").expect("reported");
    assert!(opal.trigger.fires(size, 128_000), "110000 of 128000");
    let cut = prepared(&opal, &session, 128_000 / 4, false).expect("a cut");
    let after = run(&opal, &session, &cut, true, None).after;
    let size = |entries: &[Entry<'_>]| entries_tokens(entries, estimate).expect("content");
    assert!(size(&after) < size(&session) && after.len() < session.len(), "less than before");
    assert!(after[0].compaction.as_ref().is_some_and(|held| held.lists.is_some()), "told to be a summary");
    let view = repaired(answered(after.clone(), &opal.pairs), &opal.pairs);
    assert_eq!(view, after, "what the agent holds is what the session holds");
}

#[test]
fn a_tail_of_opal_that_begins_with_a_result_loses_it() {
    let opal = profile("opal");
    let session = entries(ONE_TURN);
    let cut = prepared(&opal, &session, 500, false).expect("a cut");
    let after = run(&opal, &session, &cut, false, Some(&[said("H")])).after;
    assert_eq!(after[1].role, Role::Tool, "the tail begins with a result");
    let view = repaired(answered(after.clone(), &opal.pairs), &opal.pairs);
    assert_eq!(view.len(), after.len() - 1);
    assert!(view.iter().all(|entry| entry.id != after[1].id), "the model does not see it");
}

const E1: &str = "U400 A400 T4000 A400 U400 A400";

#[test]
fn pi_prepares_what_lies_before_its_cut() {
    let range = |range: std::ops::Range<usize>| range.collect::<Vec<usize>>();
    for system in ["pi", "pi-0.73", "operator-use"] {
        let rules = profile(system);
        for (name, notation, keep, cut, history, prefix) in [
            ("the reply alone", "U400 A400 T4000 A400 U400 A400", 100, 5, range(0..4), range(4..5)),
            ("the whole turn", "U400 A400 T4000 A400 U400 A400", 150, 4, range(0..4), vec![]),
            ("the end of the turn before", "U400 A400 T4000 A400 U400 A400", 201, 3, vec![], range(0..3)),
            ("no user message", "A400 T400 A400 T400 A400", 150, 4, range(0..4), vec![]),
            ("a label before a request", "U400 A400 m U400 A400", 150, 2, vec![], range(0..2)),
            (
                "behind a compaction",
                "U400 A400 U400 A400 C@2 U400 A400 U400 A400",
                150,
                7,
                vec![2, 3, 5, 6],
                vec![],
            ),
            (
                "a turn that was kept is split",
                "U400 A400 U400 A400 C@2 A400 T4000 A400",
                300,
                7,
                vec![],
                vec![2, 3, 5, 6],
            ),
            (
                "a kept entry that is gone",
                "U400 A400 U400 A400 C@99 U400 A400 U400 A400",
                150,
                7,
                vec![5, 6],
                vec![],
            ),
        ] {
            let entries = entries(notation);
            let ours = prepared(&rules, &entries, keep, false).expect(name);
            assert_eq!(ours.cut, cut, "{system}, {name}: cut");
            assert_eq!(ours.history, history, "{system}, {name}: history");
            assert_eq!(ours.prefix, prefix, "{system}, {name}: prefix");
            assert_eq!(ours.split, !prefix.is_empty(), "{system}, {name}: split");
        }
        assert_eq!(prepared(&rules, &entries(""), 100, false), None, "{system}: an empty session");
        assert_eq!(
            prepared(&rules, &entries("U4 A4 C@1"), 100, false),
            None,
            "{system}: a compaction at the end"
        );
    }
    // Nothing leaves: the newer version refuses, the older ones ask for a summary of nothing.
    for (name, notation, keep) in
        [("all fits", E1, 5_000), ("a label behind a compaction", "U4 A4 C@1 m", 100)]
    {
        let entries = entries(notation);
        assert_eq!(prepared(&profile("pi"), &entries, keep, false), None, "pi, {name}");
        for system in ["pi-0.73", "operator-use"] {
            let rules = profile(system);
            let ours = prepared(&rules, &entries, keep, false).expect(name);
            assert!(ours.history.is_empty() && ours.prefix.is_empty(), "{system}, {name}: {ours:?}");
            let run = run(&rules, &entries, &ours, false, Some(&[said("S")]));
            assert_eq!(
                run.asked.iter().map(|(_, _, count)| *count).collect::<Vec<_>>(),
                [0],
                "{system}, {name}"
            );
        }
    }
}

#[test]
fn the_oldest_pi_loses_what_the_compaction_before_kept() {
    let mut oldest = profile("pi-0.73");
    oldest.session.from = From::Compaction;
    let ours = prepared(&oldest, &entries("U400 A400 U400 A400 C@2 U400 A400 U400 A400"), 150, false);
    let ours = ours.expect("a cut");
    assert_eq!((ours.history, ours.cut), (vec![5, 6], 7), "entries 2 and 3 are neither summarized nor kept");
}

#[test]
fn pi_joins_the_parts_of_a_split_turn() {
    let bold = "\n\n---\n\n**Turn Context (split turn):**\n\n";
    let again = "U400 A400 U400 A400 C@2 A400 T4000 A400";
    for (system, name, notation, keep, calls, expect) in [
        ("pi", "history and turn", E1, 100, 2, format!("H{bold}P")),
        ("pi-0.73", "history and turn", E1, 100, 2, format!("H{bold}P")),
        ("operator-use", "history and turn", E1, 100, 2, format!("H{bold}P")),
        ("pi", "a turn alone", E1, 300, 1, format!("No prior history.{bold}H")),
        ("pi-0.73", "a turn alone", E1, 300, 1, format!("No prior history.{bold}H")),
        ("pi", "a turn and an earlier summary", again, 300, 1, format!("summary at 4{bold}H")),
        (
            "pi-0.73",
            "a turn and an earlier summary, which is lost",
            again,
            300,
            1,
            format!("No prior history.{bold}H"),
        ),
        (
            "operator-use",
            "a turn and an earlier summary, which is lost",
            again,
            300,
            1,
            format!("No prior history.{bold}H"),
        ),
        ("pi", "no split", E1, 150, 1, "H".to_owned()),
        ("pi", "a cut at a command splits nothing", "U400 A400 B400 A400", 150, 1, "H".to_owned()),
        ("pi-0.73", "a cut at a command splits off nothing", "U400 A400 B400 A400", 150, 1, "H".to_owned()),
    ] {
        let rules = profile(system);
        let entries = entries(notation);
        let ours = prepared(&rules, &entries, keep, false).expect(name);
        let run = run(&rules, &entries, &ours, false, Some(&[said("H"), said("P")]));
        assert_eq!(run.asked.len(), calls, "{system}, {name}");
        assert_eq!(run.written.expect("texts").text, expect, "{system}, {name}");
    }
}

#[test]
fn replies_of_the_summarizer_are_taken_or_refused() {
    let failed = || Reply::Failed("quota is used up".to_owned());
    let short = || Reply::CutShort("half".to_owned());
    let tool = || Reply::Call(String::new());
    for (system, name, reply, expect) in [
        ("pi", "an error", failed(), None),
        ("pi-0.73", "an error", failed(), None),
        ("operator-use", "an error", failed(), None),
        ("pi", "no text", said(""), Some("")),
        ("pi-0.73", "no text", said(""), Some("")),
        ("operator-use", "no text", said(""), Some("")),
        ("pi", "cut short", short(), None),
        ("pi-0.73", "cut short", short(), Some("half")),
        ("operator-use", "cut short", short(), Some("half")),
        ("pi", "a call", tool(), None),
        ("pi-0.73", "a call", tool(), Some("")),
        ("operator-use", "a text", said("of X"), Some("of X")),
        ("lis", "no text", said(""), Some("")),
        ("lis", "an error", failed(), None),
    ] {
        let rules = profile(system);
        let entries = entries(if system == "lis" { "U90 A9000 U9000 A90" } else { E1 });
        let ours = prepared(&rules, &entries, 150, false).expect(name);
        let run = run(&rules, &entries, &ours, false, Some(&[reply]));
        match (run.written, expect) {
            (Ok(written), Some(text)) => assert_eq!(written.text, text, "{system}, {name}"),
            (Err(error), None) => {
                assert!(matches!(error, WriteError::Unchanged(_)), "{system}, {name}: {error}");
                assert_eq!(run.after, entries, "{system}, {name}: the session stays as it was");
                assert!(name != "an error" || error.to_string().contains("quota is used up"), "{error}");
            }
            (written, _) => panic!("{system}, {name}: {written:?}"),
        }
    }
    for (system, reserve, part, most) in [
        ("pi-0.73", 10_001, Part::History, Some(8_000)),
        ("pi-0.73", 10_001, Part::TurnPrefix, Some(5_000)),
        ("pi", 10_001, Part::History, None),
        ("operator-use", 10_001, Part::History, None),
    ] {
        assert_eq!(profile(system).writing.allowance(part, reserve), most, "{system}: most tokens, {part:?}");
    }
}

#[test]
fn files_of_history_and_turn_are_listed_and_those_of_the_tail_are_not() {
    let session = "U400 A400:read=a,write=b T40 T40 A400 U400 A400:read=c T4000 A400:read=d T40 A400";
    for system in ["pi", "pi-0.73", "operator-use"] {
        let rules = profile(system);
        let entries = entries(session);
        let ours = prepared(&rules, &entries, 300, false).expect("a cut");
        assert!(ours.split, "{system}");
        let kept = ours.cut;
        let run = run(&rules, &entries, &ours, false, Some(&[said("H"), said("P")]));
        let written = run.written.expect("texts");
        assert_eq!(kept, 8, "{system}: the call of d is in the tail");
        assert_eq!(written.lists, (vec!["a".to_owned(), "c".to_owned()], vec!["b".to_owned()]), "{system}");
        let footer = "\n\n<read-files>\na\nc\n</read-files>\n\n<modified-files>\nb\n</modified-files>";
        assert!(written.text.ends_with(&format!("P{footer}")), "{system}: {}", written.text);
        // The next summary is given the footer with the text, and gets one of its own.
        let mut next = run.after;
        next.extend(
            self::entries("U400 A400 U400 A400")
                .into_iter()
                .map(|entry| Entry { id: format!("n{}", entry.id).into(), ..entry }),
        );
        let ours = prepared(&rules, &next, 150, false).expect("a second cut");
        let previous = written.text.clone();
        let again = self::run(&rules, &next, &ours, false, Some(&[said(&previous)]));
        assert_eq!(again.asked[0].1.as_deref(), Some(&*written.text), "{system}: the summary before it");
        let text = again.written.expect("texts").text;
        assert_eq!(text.matches("<read-files>").count(), 2, "{system}: a copied footer stands twice");
    }
}

#[test]
fn contexts_are_rebuilt_from_the_latest_compaction() {
    for (name, notation, expect) in [
        ("none", "U1 A1 U1", &[0, 1, 2][..]),
        ("one", "U1 A1 U1 A1 C@2 U1 A1", &[4, 2, 3, 5, 6]),
        ("two: the second alone", "U1 A1 C@0 U1 A1 U1 A1 C@5 U1 A1", &[7, 5, 6, 8, 9]),
        ("one that keeps everything", "U1 A1 C@0 U1 A1", &[2, 0, 1, 3, 4]),
        ("one that kept what is gone", "U1 A1 C@99 U1 A1", &[2, 3, 4]),
        ("labels are no messages", "U1 m A1 C@1 m U1", &[3, 2, 5]),
    ] {
        let session = entries(notation);
        assert_eq!(context(&session), expect, "{name}");
    }
    let session = entries("U1 A1 C@0 U1 A1 U1 A1 C@5 U1 A1");
    assert_eq!(text_of(&session[context(&session)[0]]), "summary at 7");
}

#[test]
fn operator_use_prepares_in_cycles() {
    let rules = profile("operator-use");
    let mut session = entries("U40 A40 U40 A40 U40 A40 U40");
    session[5].usage = Some(crate::harness::Reported { input: 90, output: 10, ..Default::default() });
    let ours = prepared(&rules, &session, 1, false).expect("a cut");
    assert!(ours.cut < session.len(), "the tail begins in the session");
    let estimate = rules.estimate.as_ref().expect("an estimate");
    let before = context_size(&session, 0, rules.usage.as_ref().expect("usage"), estimate).expect("content");
    assert!(before.expect("a size").total() > 0, "tokens before");
    let first = run(&rules, &session, &ours, false, Some(&[said("of X")]));
    let written = first.written.expect("texts");
    assert!(written.text.contains("of X"));
    assert_eq!(written.lists, (Vec::new(), Vec::new()), "lists are there, and empty");
    let held = first.after[7].compaction.as_ref().expect("an entry of its own");
    assert_eq!(held.first_kept.as_deref(), Some(&*session[ours.cut].id), "what it kept");

    let mut next = first.after.clone();
    next.extend(
        entries("U40 A40").into_iter().map(|entry| Entry { id: format!("n{}", entry.id).into(), ..entry }),
    );
    let ours = prepared(&rules, &next, 1, false).expect("a second cut");
    assert_eq!(
        ours.previous.map(|at| text_of(&next[at])).as_deref(),
        Some(&*written.text),
        "the summary before it"
    );
    assert!(
        ours.history.iter().chain(&ours.prefix).all(|at| next[*at].kind != Kind::Compaction),
        "compactions are not summarized"
    );
    let ours = prepared(&rules, &entries("U40 A40"), 1, false).expect("a first cut");
    assert_eq!((ours.start, ours.previous), (0, None), "no compaction: from the beginning");
}

/// A gate of sven: the size of its context, what it decides, and the session afterwards.
struct Gate {
    tokens: u64,
    fires: bool,
    step: Step,
    after: Vec<Entry<'static>>,
}

fn gate(session: &[Entry<'static>], budget: u64, threshold: f32, keep: u64, reply: &Reply) -> Gate {
    let sven = profile("sven");
    let estimate = sven.estimate.as_ref().expect("an estimate");
    let size = |entries: &[Entry<'_>]| entries_tokens(entries, estimate).expect("content");
    let tokens = size(session);
    let accounts =
        Accounts { tokens, overhead: 0, calibration: Calibration::new(1.0), room: Room::from(budget) };
    let fires = accounts.is_near_limit((threshold - 0.1).max(0.1));
    let talk: Vec<Entry<'static>> = session.iter().filter(|it| it.role != Role::System).cloned().collect();
    let system = session.iter().filter(|it| it.role == Role::System).cloned();
    let policy = Policy { session: sven.session, cut: &sven.cut, turn: &sven.turn };
    let marks = marks(&sven, &talk);
    let emergency = sven.emergency.as_ref().expect("emergencies");
    let step = if fires {
        decide(&talk, &marks, policy, keep, Some(emergency), |cut| {
            accounts.is_emergency(tokens - size(&talk[cut..]), &sven.budget)
        })
    } else {
        Step::Nothing
    };
    let dropped = |cut: usize| {
        let notice = sven.summary_text.emergency.clone().expect("a notice");
        std::iter::once(Entry::text(Role::Assistant, notice)).chain(talk[cut..].iter().cloned()).collect()
    };
    let rest: Vec<Entry<'static>> = match &step {
        Step::Nothing => talk.clone(),
        Step::Drop(cut) => dropped(*cut),
        Step::Compact(prepared) => {
            let run = run(&sven, &talk, prepared, false, Some(std::slice::from_ref(reply)));
            match run.written {
                Ok(_) => run.after,
                Err(WriteError::Emergency(_)) => {
                    dropped(emergency.cut.place(&marks, keep, false).unwrap_or(talk.len()))
                }
                Err(other) => panic!("{other}"),
            }
        }
    };
    Gate { tokens, fires, step, after: system.chain(rest).collect() }
}

#[test]
fn sven_summarizes_what_lies_before_its_tail() {
    // A system prompt of one token is in every sum; the prompt and its reply come behind the gate.
    for (name, notation, budget, threshold, keep, tokens, left, after_reply) in [
        ("four small messages", "S4 U11 A8 U11 A8", 16, 0.5, 2, 9, 4, 4),
        ("six messages, two verbatim", "S4 U11 A11 U11 A11 U16 A16", 40, 0.4, 2, 17, 4, 6),
        ("a tail of nothing", "S4 U8 A8 U8", 20, 0.3, 0, 7, 3, 4),
    ] {
        let session = entries(notation);
        let gate = gate(&session, budget, threshold, keep, &said("S"));
        assert_eq!((gate.tokens, gate.fires), (tokens, true), "{name}");
        let Step::Compact(prepared) = &gate.step else { panic!("{name}: {:?}", gate.step) };
        assert_eq!(prepared.history.len(), left, "{name}: summarized");
        assert_eq!(gate.after.len() + 2, after_reply, "{name}: messages behind the next reply");
        assert_eq!((gate.after[0].role, gate.after[1].role), (Role::System, Role::Assistant), "{name}");
        assert_eq!(text_of(&gate.after[1]), "S", "{name}: no wrapper");
        assert_eq!(gate.after[2..], session[1 + left..], "{name}: the tail is verbatim");
    }
}

#[test]
fn sven_drops_everything_where_no_summary_comes() {
    let notice = profile("sven").summary_text.emergency.expect("a notice");
    for (name, reply, summary) in [
        ("an error", Reply::Failed("e".to_owned()), None),
        ("an empty reply", said(""), None),
        ("reasoning alone", said("<think>a</think>"), None),
        ("reasoning that is not closed", said("<think>a"), None),
        ("markup of calls alone", said("<invoke name=\"x\">y</invoke>"), None),
        ("blanks", said("   "), Some("   ")),
        ("a line feed", said("\n"), Some("\n")),
        ("reasoning and a text", said("<think>a</think>real"), Some("<think>a</think>real")),
    ] {
        let session = entries("S4 U11 A11 U11 A11 U16 A16");
        let gate = gate(&session, 40, 0.4, 2, &reply);
        assert!(matches!(gate.step, Step::Compact(_)), "{name}: {:?}", gate.step);
        assert_eq!(text_of(&gate.after[1]), summary.unwrap_or(&notice), "{name}");
        assert!(gate.after.iter().all(|entry| !text_of(entry).is_empty()), "{name}: no message is empty");
        assert_eq!(gate.after[2..], session[5..], "{name}: the tail is the same");
    }
}

#[test]
fn sven_parts_no_result_from_its_call_where_they_stand_together() {
    for (name, notation, whole) in [
        ("text, call, result", "S4 U40 8*[A40 A* T40]", true),
        ("two calls a round", "S4 U40 A40 6*[A* A* T40 T40]", true),
        ("rounds of their own", "S4 6*[U40 A* T40 A40]", true),
        ("a text between a call and its result", "S4 U40 A40 U40 A40 A* U40 T40", false),
    ] {
        let session = entries(notation);
        let mut found = Vec::new();
        for keep in 0..9 {
            // Both paths: a summary, and an emergency after a failure.
            for reply in [said("S"), Reply::Failed("e".to_owned())] {
                let after = gate(&session, 10_000, 0.1, keep, &reply);
                assert!(!after.fires, "{name}: far from the limit");
                let after = gate(&session, after.tokens * 10 / 8, 0.85, keep, &reply).after;
                let orphan = after.iter().enumerate().any(|(at, entry)| {
                    entry.results().any(|result| {
                        let id = result.call_id.as_deref();
                        !after[..at].iter().flat_map(Entry::calls).any(|call| Some(&*call.id) == id)
                    })
                });
                found.push(orphan);
            }
        }
        assert_eq!(!found.contains(&true), whole, "{name}");
    }
}

#[test]
fn sven_gives_up_where_everything_would_stay_or_too_much_would_leave() {
    let shares = |tokens: usize| format!("S4 U{} A160", 4 * (tokens - 41));
    for (name, notation, budget, keep, expect) in [
        ("rounds without text: nothing stays", "S4 U40 8*[A* T40]".to_owned(), 110, 6, Some(17)),
        ("an earlier summary is lost with them", "S4 A40 8*[A* T40]".to_owned(), 110, 6, Some(17)),
        ("94 of 100 is summarized", shares(94), 100, 1, None),
        ("95 of 100 is too much for a summary: what is to stay stays", shares(95), 100, 1, Some(1)),
        ("a tail larger than all: nothing leaves", shares(95), 100, 6, Some(0)),
    ] {
        let session = entries(&notation);
        let gate = gate(&session, budget, 0.85, keep, &said("S"));
        assert!(gate.fires, "{name}: {} of {budget}", gate.tokens);
        match (&gate.step, expect) {
            (Step::Drop(cut), Some(place)) => {
                assert_eq!(*cut, place, "{name}");
                assert_eq!(gate.after.len(), session.len() - cut + 1, "{name}: system prompt, notice, tail");
            }
            (Step::Compact(_), None) => {}
            (step, _) => panic!("{name}: {step:?}"),
        }
    }
    // A notice of 59 tokens, and nothing leaves: the session grows.
    let session = entries(&shares(95));
    let sven = profile("sven");
    let estimate = sven.estimate.as_ref().expect("an estimate");
    let after = gate(&session, 100, 0.85, 6, &said("S"));
    assert_eq!(entries_tokens(&after.after, estimate), Ok(95 + 59));
    for (name, tokens, fires) in [("74 of 100", 74, false), ("75 of 100", 75, true)] {
        assert_eq!(gate(&entries(&shares(tokens)), 100, 0.85, 6, &said("S")).fires, fires, "{name}");
    }
    assert!(!gate(&session, 0, 0.85, 6, &said("S")).fires, "no budget");
}

#[test]
fn only_the_summary_of_the_session_before_is_shown_in_lis() {
    let lis = profile("lis");
    let text: &SummaryText = &lis.summary_text;
    let history = [Entry::text(Role::System, "rules"), Entry::text(Role::User, "hello")];
    for (name, parent, own, shown) in [
        ("no summary", None, None, vec![]),
        (
            "of the session before",
            Some("P"),
            None,
            vec!["Here is context from the previous conversation session:\nP"],
        ),
        ("of its own", None, Some("O"), vec!["Here is context from our earlier conversation:\nO"]),
        (
            "both, that of the session before first",
            Some("P"),
            Some("O"),
            vec![
                "Here is context from the previous conversation session:\nP",
                "Here is context from our earlier conversation:\nO",
            ],
        ),
        ("an empty one", Some(""), None, vec![]),
    ] {
        let parent = parent.and_then(|summary| text.wrap_parent(summary));
        let own = own.map(|summary| text.wrap(summary));
        let said = parent.into_iter().chain(own).map(|summary| Entry::text(Role::Assistant, summary));
        let mut built = history.to_vec();
        built.splice(1..1, said);
        let built = repaired(built, &lis.pairs);
        assert_eq!(built.len(), history.len() + shown.len(), "{name}");
        assert!(built[1..=shown.len()].iter().map(text_of).eq(shown.iter().copied()), "{name}");
    }
    assert!(!lis.summary.carries, "a summary takes up none before it");
    assert_eq!(crate::transcript::Role::from(lis.summary.role), crate::transcript::Role::Assistant);
    let mut session = entries("U9000 A9000 U9000 A90");
    let cut = prepared(&lis, &session, 4_000, false).expect("a cut");
    session = run(&lis, &session, &cut, false, Some(&[said("FIRST")])).after;
    assert!(text_of(&session[0]).contains("FIRST"));
    let cut = prepared(&lis, &session[1..], 10, false).expect("a cut of the next session");
    let again = run(&lis, &session[1..], &cut, false, Some(&[said("SECOND")]));
    assert!(again.asked.iter().all(|(_, previous, _)| previous.is_none()), "{:?}", again.asked);
    assert!(again.after.iter().all(|entry| !text_of(entry).contains("FIRST")), "what it told is gone");
}
