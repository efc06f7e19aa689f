//! Compacting more than once: what the second round sees, which summary counts, what may not grow, when to stop.

use crate::logs::{
    agent, auditing, call, claude, claude_agent, claude_compaction, claude_user, codes, codex,
    codex_compacted, codex_message, codex_says, compacted, compaction, done, long_work, measure, pi,
    recorded_in, replaying, sent, session, step, summaries, user, whole_compaction, window,
};
use crate::support::Sandbox;
use compactor::aggregate::aggregate;
use compactor::context::Entry;
use compactor::facts::FactSet;
use compactor::profile::Profile;
use compactor::replay::{ScheduleMode, effects};
use compactor::results::CycleRow;
use compactor::run::{RunSettings, Windows};
use compactor::score::invariants::{Broken, check};
use compactor::strategy::Strategy;
use compactor::summarize::extractive::Extractive;
use compactor::summarize::{FileLists, SummarizeError, Summarizer, SummaryRequest};
use compactor::transcript::{Message, MessageIdx, Part, Role, Transcript};
use serde_json::{Value, json};
use std::ops::Range;
use std::sync::Mutex;

/// A summarizer made of a function of the request.
struct Made<F>(F);

impl<F: Fn(&SummaryRequest<'_>) -> Result<String, SummarizeError> + Sync> Summarizer for Made<F> {
    fn name(&self) -> &'static str {
        "made"
    }

    fn summarize(&self, request: &SummaryRequest<'_>) -> Result<String, SummarizeError> {
        (self.0)(request)
    }
}

/// The round that a summary is of, where each summary names its own: the one after that of the summary before.
fn round(request: &SummaryRequest<'_>) -> u32 {
    let before = request.previous.and_then(|text| text.lines().find_map(|line| line.strip_prefix("Round ")));
    before.and_then(|round| round.parse().ok()).map_or(1, |round: u32| round + 1)
}

/// What is sent after each compaction that a log holds.
fn check_contexts(log: &str, expected: &[&[&str]]) -> Transcript {
    let (transcript, _) = session(log);
    let contexts: Vec<Vec<String>> =
        recorded_in(&transcript).cycles.iter().map(|trace| sent(&trace.context, &transcript)).collect();
    assert_eq!(contexts, expected, "{log}");
    transcript
}

fn retaining(summary: &str, tail: &[Value]) -> Value {
    let tail: Vec<&Value> = tail.iter().map(|entry| &entry["message"]).collect();
    json!({"type": "compaction", "summary": summary, "tokensBefore": 900, "retainedTail": tail})
}

#[test]
fn what_one_compaction_kept_the_next_one_still_sees_in_both_forms_of_the_record() {
    let expected: &[&[&str]] = &[
        &["U First summary.", "U Now the docs", "A Docs are next."],
        &["U Second summary.", "A Docs are next.", "U And the tests", "A Tests too."],
    ];
    let said = [
        user("Mend the parser"),
        agent("Mended."),
        user("Now the docs"),
        agent("Docs are next."),
        user("And the tests"),
        agent("Tests too."),
        user("Go on"),
    ];
    let check_both = |first: Value, second: Value| {
        let mut entries = said.to_vec();
        entries.insert(4, first);
        entries.insert(7, second);
        check_contexts(&pi(&entries), expected)
    };
    let [first, second] = ["First summary.", "Second summary."];
    let named = check_both(compaction(first, 2), compaction(second, 3));
    let holding = [retaining(first, &said[2..4]), retaining(second, &said[3..6])];
    let [one, two] = holding.clone();
    let held = check_both(one, two);
    // An id beside the messages is there for older readers.
    let [mut one, mut two] = holding;
    one["firstKeptEntryId"] = json!("e0");
    two["firstKeptEntryId"] = json!("e7");
    let both = check_both(one, two);
    assert_eq!((&named.messages, &named.messages), (&held.messages, &both.messages));
    assert_eq!(named.messages.len(), 7, "no message comes twice");
}

#[test]
fn held_messages_are_the_newest_that_say_the_same() {
    let (go, yes) = (user("Go on"), agent("Yes."));
    let mut entries = [&go, &yes, &go, &yes, &go].map(Clone::clone).to_vec();
    entries.push(retaining("Sum.", &[yes.clone(), go, user("Never said")]));
    entries.push(yes);
    let (transcript, read) = session(&pi(&entries));
    assert_eq!(transcript.recorded[0].kept, [3, 4].map(MessageIdx));
    assert_eq!(codes(&read), ["unknown-retained"]);
}

#[test]
fn a_log_that_begins_with_a_compaction_goes_on_with_the_messages_that_it_holds() {
    let held = [user("Now the docs"), agent("Docs are next.")];
    let entries = [retaining("So far: the parser.", &held), user("Go on"), agent("Done.")];
    let (transcript, _) = session(&pi(&entries));
    assert!(transcript.starts_compacted);
    let texts: Vec<&str> = transcript.messages.iter().filter_map(|message| text(&message.parts)).collect();
    assert_eq!(texts, ["So far: the parser.", "Now the docs", "Docs are next.", "Go on", "Done."]);
}

/// The first text of a message.
fn text(parts: &[Part]) -> Option<&str> {
    parts.iter().find_map(|part| match part {
        Part::Text(text) => Some(text.text.as_str()),
        _ => None,
    })
}

#[test]
fn each_round_begins_where_the_tail_of_the_one_before_began() {
    let (transcript, _) = session(&pi(&long_work(40)));
    let asked: Mutex<Vec<Range<usize>>> = Mutex::default();
    let summarizer = Made(|request: &SummaryRequest<'_>| {
        asked.lock().expect("no panic").push(request.messages.clone());
        Ok("Work goes on.".to_owned())
    });
    let result = compacted(&transcript, Strategy::Structured, 4, &summarizer);
    let asked = asked.into_inner().expect("no panic");
    let cuts: Vec<Range<usize>> = result.cycles.iter().map(|trace| trace.cut.from..trace.cut.cut).collect();
    assert_eq!(asked, cuts);
    assert_eq!(cuts[0].start, 0);
    assert!(cuts.windows(2).all(|pair| pair[0].end == pair[1].start), "{cuts:?}");
}

/// Words by which agents announce a summary, and lists as they append them.
const QUOTED: [&str; 4] = [
    "This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:",
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n## Goal\nShip it\n</summary>",
    "Another language model started to solve this problem and produced a summary of its thinking process.",
    "[Summary of the conversation so far; older messages were compacted]",
];
const QUOTED_LISTS: &str = "\n\n<read-files>\n/w/quoted/read.rs\n</read-files>\n\n<modified-files>\n/w/quoted/modified.rs\n</modified-files>";

/// A text that a person sends, as the first message of a log.
fn check_no_summary(log: &str, text: &str) {
    let (transcript, _) = session(log);
    assert_eq!(transcript.recorded, [], "{log}");
    assert!(!transcript.starts_compacted, "{log}");
    let request = transcript.messages.iter().find(|message| message.is_user_request()).expect("a request");
    assert_eq!(request.authored_text(), text);
    let facts = FactSet::extract(&transcript, &effects(&transcript));
    assert!(facts.ledger.files.is_empty(), "{log}");
}

#[test]
fn a_quoted_summary_is_what_a_person_said() {
    for marker in QUOTED {
        let text = format!("{marker}{QUOTED_LISTS}\n\nWhy does the agent print this?");
        check_no_summary(&pi(&[user(&text), agent("Because of the prompt.")]), &text);
        check_no_summary(&claude(&[claude_user(&text), claude_agent("r", "Because.")]), &text);
        check_no_summary(&codex(&[codex_says("user", &text), codex_says("assistant", "Because.")]), &text);
        let chat =
            [json!({"role": "user", "content": text}), json!({"role": "assistant", "content": "Because."})];
        check_no_summary(&chat.map(|line| line.to_string()).join("\n"), &text);
    }
}

#[test]
fn lists_of_a_quoted_summary_get_into_no_list() {
    let quote = format!("{}{QUOTED_LISTS}\n\nWhy does the agent print this?", QUOTED[3]);
    let mut entries = vec![user(&quote), agent(&format!("It wrote: {quote}"))];
    entries.extend(long_work(30));
    let log = pi(&entries);
    let (transcript, _) = session(&log);
    let strategies = [Strategy::Structured, Strategy::Narrative, Strategy::Truncate];
    for strategy in strategies {
        for trace in compacted(&transcript, strategy, 3, &Extractive).cycles {
            let all = [trace.lists.read, trace.lists.modified, trace.lists.deleted].concat();
            assert!(all.iter().all(|path| path.starts_with("/w/gallery/")), "{strategy}: {all:?}");
        }
    }
    for row in measure(&[log], &replaying(&strategies, Windows::Cycles(3)), &Extractive).cycles {
        assert_eq!(row.list_modified_precision, Some(1.0), "{row:?}");
        assert_eq!(row.list_read_precision, Some(1.0), "{row:?}");
    }
}

/// The harness' lists, sorted.
fn listed(lists: &FileLists) -> [Vec<String>; 2] {
    [&lists.read, &lists.modified].map(|list| {
        let mut list: Vec<String> = list.iter().map(ToString::to_string).collect();
        list.sort();
        list
    })
}

#[test]
fn a_file_read_before_is_promoted_by_an_edit_and_never_demoted_by_a_read() {
    let path = |name: &str| json!({"path": format!("/w/{name}")});
    let edit = |name: &str| json!({"path": format!("/w/{name}"), "oldText": "a", "newText": "b"});
    let talk = |entries: &mut Vec<Value>, turns: usize| {
        for turn in 0..turns {
            entries.push(user(&format!("What do you make of point {turn}?")));
            entries.push(agent(&format!(
                "Of point {turn}: {}",
                "well considered and said at length ".repeat(20)
            )));
        }
    };
    let mut entries = vec![user("Look at the three files")];
    entries.extend(step("1", "read", &path("a.rs"), "fn a() {}"));
    entries.extend(step("2", "read", &path("b.rs"), "fn b() {}"));
    entries.extend(step("3", "edit", &edit("c.rs"), "ok"));
    talk(&mut entries, 20);
    let second = entries.len();
    entries.extend(step("4", "edit", &edit("a.rs"), "ok"));
    entries.extend(step("5", "read", &path("c.rs"), "fn c() {}"));
    talk(&mut entries, 20);
    let (transcript, _) = session(&pi(&entries));
    let first = ["/w/a.rs", "/w/b.rs"].map(str::to_owned).to_vec();
    let before = [first, vec!["/w/c.rs".to_owned()]];
    let after = [vec!["/w/b.rs".to_owned()], ["/w/a.rs", "/w/c.rs"].map(str::to_owned).to_vec()];
    let mut seen = [false; 2];
    for trace in compacted(&transcript, Strategy::Structured, 3, &Extractive).cycles {
        let all = trace.cut.cut > second + 3;
        assert!(all || trace.cut.cut <= second, "the two steps are on one side");
        assert_eq!(listed(&trace.lists), if all { after.clone() } else { before.clone() });
        let blocks = |kind: &str| -> Vec<String> {
            let text = trace.generated[0].text.as_str();
            let (_, rest) = text.split_once(&format!("<{kind}-files>\n")).expect("a list");
            let (list, _) = rest.split_once(&format!("\n</{kind}-files>")).expect("its end");
            let mut list: Vec<String> = list.lines().map(|path| format!("/w/{path}")).collect();
            list.sort();
            list
        };
        assert_eq!([blocks("read"), blocks("modified")], listed(&trace.lists), "the text says the same");
        seen[usize::from(all)] = true;
    }
    assert_eq!(seen, [true; 2]);
    let ledger = FactSet::extract(&transcript, &effects(&transcript)).ledger;
    let end = MessageIdx::new(transcript.messages.len());
    assert_eq!([ledger.read_at(end), ledger.modified_at(end)], [vec!["/w/b.rs"], vec!["/w/a.rs", "/w/c.rs"]]);
}

/// Lines of a text that say just this.
fn lines(text: &str, line: &str) -> usize {
    text.lines().filter(|it| it.trim() == line).count()
}

#[test]
fn a_summary_of_summaries_has_one_frame_one_list_each_and_no_copy_of_the_last_one() {
    let (transcript, _) = session(&pi(&long_work(80)));
    for strategy in [Strategy::Structured, Strategy::Narrative, Strategy::Truncate] {
        let result = compacted(&transcript, strategy, 10, &Extractive);
        let mut previous: Option<&str> = None;
        for trace in &result.cycles {
            let [text] = *summaries(&trace.context) else { panic!("{strategy}: one summary") };
            assert_eq!(text.matches("[Summary of the conversation so far").count(), 1, "{text}");
            for tag in ["<read-files>", "</read-files>", "<modified-files>", "</modified-files>"] {
                assert_eq!(lines(text, tag), 1, "{strategy} {tag}: {text}");
            }
            if let Some(previous) = previous {
                let (_, inner) = previous.split_once("\n\n").expect("the frame");
                assert!(!text.contains(inner), "{strategy}: {text}");
            }
            assert!(trace.generated[0].tokens <= result.budget.expect("a budget"));
            previous = Some(text);
        }
    }
}

#[test]
fn a_summary_that_nests_the_last_one_shows_in_the_sizes_and_stays_within_the_budget() {
    let nests = Made(|request: &SummaryRequest<'_>| {
        let round = round(request);
        let inner = request.previous.unwrap_or_default();
        Ok(format!("Round {round}\nThe grid was looked at and found good.\n{inner}"))
    });
    let settings = replaying(&[Strategy::Structured], Windows::Cycles(8));
    let rows = measure(&[pi(&long_work(80))], &settings, &nests).cycles;
    assert_eq!(rows.len(), 8);
    assert_eq!(rows[0].summary_growth, None);
    for pair in rows.windows(2) {
        assert!(pair[1].tokens_summary > pair[0].tokens_summary, "{pair:?}");
        let growth = pair[1].tokens_summary as f64 / pair[0].tokens_summary as f64;
        assert_eq!(pair[1].summary_growth, Some(growth));
        assert!(!pair[1].over_budget && Some(pair[1].tokens_summary) <= pair[1].budget);
    }
    let settles = measure(&[pi(&long_work(80))], &settings, &Extractive).cycles;
    let last = settles.last().and_then(|row| row.summary_growth).expect("a second summary");
    assert!(last < 1.1, "{last}");
}

/// Turns of plain talk, the answers of `words` words.
fn talk(turns: usize, words: usize) -> Vec<Value> {
    let turn = |n: usize| {
        [user(&format!("What of point {n}?")), agent(&format!("Point {n}: {}", "word ".repeat(words)))]
    };
    (0..turns).flat_map(turn).collect()
}

/// A chat whose system message alone is larger than the trigger.
fn large_system(turns: usize) -> String {
    let says = |role: &str, text: &str| json!({"role": role, "content": text}).to_string();
    let mut lines = vec![says("system", &"You follow each of these rules. ".repeat(700))];
    for n in 0..turns {
        lines.push(says("user", &format!("What of point {n}?")));
        lines.push(says("assistant", &format!("Point {n}: {}", "word ".repeat(n * 37 % 101))));
    }
    lines.join("\n")
}

#[test]
fn what_no_compaction_can_remove_ends_the_rounds_and_is_told() {
    let log = large_system(60);
    for schedule in [ScheduleMode::Locked, ScheduleMode::Free] {
        let settings = RunSettings { schedule, ..replaying(&[Strategy::Structured], window(4_000)) };
        let rows = measure(std::slice::from_ref(&log), &settings, &Extractive).cycles;
        // However long the log goes on: a round or two that remove what there is, and two that change nothing.
        assert!((2..=8).contains(&rows.len()), "{} rounds {schedule:?}", rows.len());
        let (last, before) = rows.split_last().expect("a round");
        assert!(last.stuck && last.violations() > 0, "{last:?}");
        assert!(before.iter().all(|row| !row.stuck), "{rows:?}");
        // What is left, and what holds it: not the summary and not the overhead.
        assert!(last.tokens_after > last.window && last.late_trigger, "{last:?}");
        assert!(
            last.tokens_tail > 4_000 && last.tokens_summary <= 1_000 && last.tokens_overhead == 0,
            "{last:?}"
        );
    }
    let sandbox = Sandbox::new();
    sandbox.file("log.jsonl", log);
    let ran = sandbox.run(&["replay", "log.jsonl", "--window", "4000", "-s", "structured"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    for part in ["tokens stay at a window of 4,000", "of kept messages", "give a larger --window"] {
        assert!(ran.stderr.contains(part), "{part}: {ran:?}");
    }
    // Beside a log that does gain, the table has it.
    sandbox.file("other.jsonl", pi(&long_work(30)));
    let ran = sandbox.run(&["replay", "log.jsonl", "other.jsonl", "--window", "4000", "-s", "structured"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in ["no progress in two cycles 1x", "log.jsonl: 1 session, reduction below 1 %"] {
        assert!(ran.stdout.contains(part), "{part}: {ran:?}");
    }
}

#[test]
fn one_piece_larger_than_the_window_is_told_and_leaves_with_the_next_round() {
    let mut entries = talk(10, 100);
    entries.extend(step(
        "big",
        "bash",
        &json!({"command": "cat all.log"}),
        &"line of the log ".repeat(4_000),
    ));
    entries.extend([agent("Read."), agent("Nothing in it.")]);
    entries.extend(talk(30, 100));
    let rows =
        measure(&[pi(&entries)], &replaying(&[Strategy::Structured], window(4_000)), &Extractive).cycles;
    let unfit: Vec<&CycleRow> = rows.iter().filter(|row| row.unfit).collect();
    let [row] = unfit.as_slice() else { panic!("{rows:?}") };
    assert!(row.tokens_after > row.window && row.tokens_tail > row.window && !row.stuck, "{row:?}");
    assert!(!row.uncut && row.largest_tokens > Some(16_000), "{row:?}");
    let after = &rows[row.cycle as usize];
    assert!(after.tokens_after < after.window && after.reduction > Some(0.5) && !after.stuck, "{after:?}");
    assert!(rows.iter().all(|row| !row.stuck), "{rows:?}");
    let sandbox = Sandbox::new();
    sandbox.file("log.jsonl", pi(&entries));
    let ran = sandbox.run(&["replay", "log.jsonl", "--window", "4000", "-s", "structured"]);
    let line = row.largest_line.expect("the line of the piece");
    let log = pi(&entries);
    assert!(
        log.lines().nth(line as usize - 1).is_some_and(|line| line.contains("line of the log")),
        "{row:?}"
    );
    for part in ["Tails larger than the window", "log.jsonl: ", &format!("is at line {line}")] {
        assert!(ran.stdout.replace("\n    ", " ").contains(part), "{part}: {ran:?}");
    }
}

#[test]
fn four_one_line_messages_are_not_worth_it() {
    let sandbox = Sandbox::new();
    sandbox.file("log.jsonl", pi(&talk(2, 3)));
    for arguments in [&["replay", "log.jsonl"][..], &["replay", "log.jsonl", "--window", "400"]] {
        let ran = sandbox.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.contains("too short to compact"), "{ran:?}");
    }
}

/// The only round that a log holds.
fn audited(log: String) -> (CycleRow, bool) {
    let mut output = measure(&[log], &auditing(), &Extractive);
    assert_eq!((output.cycles.len(), output.sessions.len()), (1, 1), "{output:?}");
    (output.cycles.remove(0), output.sessions[0].exercised)
}

#[test]
fn progress_is_told_by_tokens_not_by_messages() {
    // One message for one summary.
    let mut entries = vec![user(&format!("Read this: {}", "a long story ".repeat(500)))];
    entries.extend([agent("Read."), user("And now?"), agent("Now we wait.")]);
    entries.push(compaction("The user told a long story.", 1));
    let (row, exercised) = audited(pi(&entries));
    assert_eq!(row.messages_before, row.messages_after);
    assert!(row.reduction > Some(0.9) && !row.no_gain && exercised, "{row:?}");
    // Fewer messages, and more to read.
    let mut entries = talk(4, 3);
    entries.push(compaction(&"The talk went from point to point. ".repeat(100), 7));
    let (row, exercised) = audited(pi(&entries));
    assert!(row.messages_after < row.messages_before && row.tokens_after > row.tokens_before, "{row:?}");
    assert!(row.reduction < Some(0.0) && row.no_gain && !exercised, "{row:?}");
    assert_eq!(row.violations(), 1);
}

#[test]
fn a_summary_larger_than_what_it_replaces_is_no_gain_in_a_replay() {
    let mut entries = talk(1, 3);
    entries.extend(step("big", "bash", &json!({"command": "cat all.log"}), &"line of the log ".repeat(900)));
    entries.push(agent("Read."));
    let chatty = Made(|_: &SummaryRequest<'_>| Ok("There was some talk of points. ".repeat(100)));
    let output = measure(&[pi(&entries)], &replaying(&[Strategy::Structured], window(4_000)), &chatty);
    let row = &output.cycles[0];
    assert!(row.tokens_summary > 500 && row.no_gain && row.violations() > 0, "{row:?}");
    assert!(!output.sessions[0].exercised);
    assert_eq!(output.manifest.sessions_exercised, 0, "what gains nothing is no success");
}

#[test]
fn an_empty_or_failed_summary_never_takes_the_place_of_messages() {
    let (transcript, _) = session(&pi(&long_work(60)));
    let log = pi(&long_work(60));
    for answer in [Ok(""), Ok(" \n\t"), Err(SummarizeError::Nothing)] {
        // It works once, and then no more.
        let fails = Made(|request: &SummaryRequest<'_>| match request.previous {
            None => Ok("The gallery is being tidied.".to_owned()),
            Some(_) => answer.clone().map(str::to_owned),
        });
        let result = compacted(&transcript, Strategy::Structured, 3, &fails);
        assert_eq!(result.cycles[0].generated[0].used, Strategy::Structured);
        for trace in &result.cycles[1..] {
            let [text] = *summaries(&trace.context) else { panic!("one summary") };
            assert!(text.contains("[Compacted ") && text.contains("<modified-files>"), "{text}");
        }
        let rows = measure(
            std::slice::from_ref(&log),
            &replaying(&[Strategy::Structured], Windows::Cycles(3)),
            &fails,
        )
        .cycles;
        let used: Vec<&str> = rows.iter().map(|row| &*row.strategy_used).collect();
        assert_eq!(used, ["structured", "truncate", "truncate"], "{answer:?}");
        for row in &rows[1..] {
            assert_eq!(row.strategy, "structured", "rows stay with what was asked for");
            assert!(!row.fallback_reason.is_empty() && row.tokens_summary > 0, "{row:?}");
            assert_eq!((row.violations(), row.empty_blocks), (0, 0), "{row:?}");
        }
        assert_eq!(rows[0].fallback_reason, "");
    }
}

#[test]
fn a_summary_of_the_split_turn_that_fails_is_told_too() {
    let two = include_str!("../../src/profile/standard.toml").replace("summaries = 1", "summaries = 2");
    let mut settings = replaying(&[Strategy::Structured], Windows::Cycles(2));
    settings.profiles = vec![Profile::parse("two.toml", &two).expect("a profile")];
    let mut entries = talk(8, 60);
    entries.push(user("Now read all of it"));
    for n in 0..40 {
        let path = json!({"path": format!("/w/chapter_{n}.md")});
        entries.extend(step(&format!("c{n}"), "read", &path, &"it was a dark night ".repeat(20)));
    }
    let fails = Made(|request: &SummaryRequest<'_>| match request.turn_start {
        Some(start) if start == request.messages.start => Ok(String::new()),
        _ => Ok("There was talk of points.".to_owned()),
    });
    let rows = measure(&[pi(&entries)], &settings, &fails).cycles;
    let split: Vec<&CycleRow> = rows.iter().filter(|row| row.split_turn).collect();
    assert!(!split.is_empty(), "{rows:?}");
    for row in split {
        assert!(row.fallback_reason.contains("gave no text"), "{row:?}");
        assert_eq!(row.strategy_used, "truncate", "{row:?}");
    }
}

#[test]
fn a_recorded_summary_of_blanks_is_one_that_the_log_does_not_show() {
    let claude_log = {
        let mut records = vec![claude_user("Set `retry_limit` to 7"), claude_agent("r1", "It is set.")];
        records.extend(claude_compaction(" \n "));
        records.push(claude_user("Go on"));
        claude(&records)
    };
    let pi_log =
        pi(&[user("Set `retry_limit` to 7"), agent("It is set."), whole_compaction(" \n "), user("Go on")]);
    let codex_log = codex(&[
        codex_says("user", "Set `retry_limit` to 7"),
        codex_says("assistant", "It is set."),
        codex_compacted(" \n ", &[]),
        codex_says("user", "Go on"),
    ]);
    for log in [claude_log, pi_log, codex_log] {
        let (row, _) = audited(log);
        assert!(row.opaque && row.facts_opaque > 0, "{row:?}");
        assert_eq!((row.facts_at_risk, row.summary_survival, row.empty_blocks), (0, None, 0), "{row:?}");
    }
}

/// Pairs of a context, judged on what is sent.
fn broken(context: &compactor::context::Context, transcript: &Transcript) -> Broken {
    check(context, &context.serialize(transcript), transcript, None)
}

#[test]
fn pairs_are_checked_over_the_whole_context_across_an_inner_compaction() {
    let arguments = json!({"command": "make"});
    let entries = [
        user("Build it"),
        call("x", "bash", &arguments),
        call("w", "bash", &arguments),
        done("w", "built"),
        call("e", "bash", &arguments),
        compaction("First.", 2),
        done("x", "built late"),
        agent("Both are built."),
        // Keeps from the call of `w` on: its pair is whole, `x` was asked for before, `e` was never answered.
        compaction("Second.", 2),
        user("Go on"),
    ];
    let transcript = check_contexts(
        &pi(&entries),
        &[
            &["U First.", "A call w", "T result w", "A call e"],
            &[
                "U Second.",
                "A call w",
                "T result w",
                "A call e",
                "T result e",
                "T result x",
                "A Both are built.",
            ],
        ],
    );
    let judged: Vec<(u64, u64, u64)> = recorded_in(&transcript)
        .cycles
        .iter()
        .map(|trace| broken(&trace.context, &transcript))
        .map(|broken| (broken.orphan_results, broken.orphan_calls, broken.duplicate_results))
        .collect();
    assert_eq!(judged, [(0, 0, 0), (1, 0, 0)], "the result of x has lost its call");
    // A compactor of our own never parts them.
    let mut entries = entries.to_vec();
    entries.extend(long_work(30));
    let (transcript, _) = session(&pi(&entries));
    for trace in compacted(&transcript, Strategy::Structured, 5, &Extractive).cycles {
        assert_eq!(broken(&trace.context, &transcript), Broken::default());
    }
    // Without the call anywhere, the result is text of the harness.
    let orphan = [
        user("Build it"),
        call("w", "bash", &arguments),
        compaction("First.", 1),
        done("x", "late"),
        agent("So."),
    ];
    let (transcript, read) = session(&pi(&orphan));
    assert_eq!(codes(&read), ["orphan-result"]);
    assert_eq!(transcript.links.len(), 1);
}

/// A log whose first compaction is recorded several times, with nothing said in between.
fn check_newest_counts(log: &str, summary: &str, again: usize) {
    let (transcript, read) = session(log);
    let found: Vec<Option<&str>> = transcript.recorded.iter().map(|one| one.summary.as_deref()).collect();
    assert_eq!(found, [Some(summary)], "{log}");
    assert_eq!(codes(&read), vec!["recorded-twice"; again], "{log}");
    let replay = recorded_in(&transcript);
    assert_eq!(summaries(&replay.cycles[0].context), [summary]);
}

#[test]
fn of_several_records_of_one_compaction_the_newest_counts_and_the_others_are_reported() {
    let talk = [user("Mend the parser"), agent("Mended.")];
    let [old, same, new] = ["Old words.", "Old words.", "New words."].map(|summary| compaction(summary, 1));
    let log = |records: &[&Value]| -> String {
        let records = talk.iter().chain(records.iter().copied()).chain(std::iter::once(&talk[0]));
        pi(&records.cloned().collect::<Vec<_>>())
    };
    check_newest_counts(&log(&[&old, &new]), "New words.", 1);
    check_newest_counts(&log(&[&old, &same, &new]), "New words.", 2);
    // A record without a summary takes none away.
    check_newest_counts(&log(&[&old, &compaction("", 1)]), "Old words.", 1);
    let mut records = vec![claude_user("Mend the parser"), claude_agent("r1", "Mended.")];
    records.extend(claude_compaction("Old words."));
    records.extend(claude_compaction("New words."));
    records.push(claude_user("Go on"));
    check_newest_counts(&claude(&records), "New words.", 1);
    let records = [
        codex_says("user", "Mend the parser"),
        codex_says("assistant", "Mended."),
        codex_compacted("Old words.", &[]),
        codex_compacted("New words.", &[]),
        codex_says("user", "Go on"),
    ];
    check_newest_counts(&codex(&records), "New words.", 1);
}

#[test]
fn an_older_summary_is_history_once_there_is_a_newer_one() {
    let mut records = vec![claude_user("Mend the parser"), claude_agent("r1", "Mended.")];
    records.extend(claude_compaction("Old words."));
    records.extend([claude_user("Now the docs"), claude_agent("r2", "Written.")]);
    records.extend(claude_compaction("New words."));
    records.push(claude_user("Go on"));
    check_contexts(&claude(&records), &[&["U Old words."], &["U New words."]]);
    // Also where the log begins with both.
    let mut records = claude_compaction("Old words.").to_vec();
    records.extend(claude_compaction("New words."));
    records.extend([claude_user("Now the docs"), claude_agent("r2", "Written.")]);
    let transcript = check_contexts(&claude(&records), &[&["U New words."]]);
    assert!(transcript.starts_compacted);
    let texts: Vec<&str> = transcript.messages.iter().filter_map(|message| text(&message.parts)).collect();
    assert_eq!(texts, ["Old words.", "Now the docs", "Written."]);
}

/// A compaction whose summary only the provider can read.
fn encrypted(history: &[Value]) -> Value {
    let mut history = history.to_vec();
    history.push(json!({"type": "compaction", "encrypted_content": "gAAAA"}));
    codex_compacted("", &history)
}

#[test]
fn what_an_encrypted_summary_holds_is_neither_kept_nor_lost() {
    let records = [
        codex_says("user", "Set `retry_limit` to 7"),
        codex_says("assistant", "It is set. The timeout stays at 45 s for now."),
        codex_says("user", "Set `max_depth` to 12"),
        codex_says("assistant", "Done."),
        encrypted(&[codex_message("user", "Set `max_depth` to 12")]),
        // The same compaction told for the screen.
        json!({"type": "event_msg", "payload": {"type": "context_compacted"}}),
        codex_says("user", "Go on"),
        codex_says("assistant", "Yes."),
    ];
    let log = codex(&records);
    let (transcript, read) = session(&log);
    assert_eq!((transcript.recorded.len(), read.raw.compactions), (1, 1));
    assert_eq!(transcript.messages.len(), 6);
    check_contexts(&log, &[&["U Set `max_depth` to 12"]]);
    let output = measure(&[log], &auditing(), &Extractive);
    let [row] = output.cycles.as_slice() else { panic!("{output:?}") };
    assert!(row.opaque && row.facts_opaque > 0, "{row:?}");
    assert_eq!((row.facts_at_risk, row.summary_survival, row.context_survival), (0, None, None));
    let places: Vec<(&str, &str)> =
        output.facts.iter().map(|fact| (fact.value.as_str(), fact.location.as_ref())).collect();
    assert!(places.contains(&("retry_limit = 7", "opaque")), "{places:?}");
    assert!(places.contains(&("max_depth = 12", "tail")), "{places:?}");
    assert!(places.iter().all(|(_, location)| ["opaque", "tail"].contains(location)), "{places:?}");
    assert!(output.manifest.worst_losses.is_empty());
}

#[test]
fn a_rollout_that_was_rewritten_begins_with_what_its_compaction_left() {
    let history = [codex_message("user", "Set `max_depth` to 12"), codex_message("developer", "Be brief")];
    let records = [
        encrypted(&history),
        codex_says("user", "Now the docs"),
        codex_says("assistant", "Written."),
        encrypted(&[codex_message("user", "Set `max_depth` to 12"), codex_message("user", "Now the docs")]),
        codex_says("user", "Go on"),
    ];
    let log = codex(&records);
    let (transcript, read) = session(&log);
    assert!(transcript.starts_compacted);
    assert_eq!((transcript.recorded.len(), read.raw.compactions), (1, 2));
    let roles: Vec<Role> = transcript.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::User, Role::System, Role::User, Role::Assistant, Role::User]);
    assert!(matches!(transcript.messages[0].parts.as_slice(), [Part::Opaque { .. }]));
    check_contexts(&log, &[&["S Be brief", "U Set `max_depth` to 12", "U Now the docs"]]);
}

/// The strategies that compact.
const ALL: [Strategy; 4] =
    [Strategy::Structured, Strategy::Narrative, Strategy::Truncate, Strategy::Emergency];

#[test]
fn the_summary_comes_first_then_the_newest_request_and_nothing_older_is_asked_after_it() {
    let mut entries = long_work(12);
    // A long turn, whose request scrolls out of the tail.
    entries.push(user("Now write the changelog of all widgets"));
    for n in 0..60 {
        let path = json!({"path": format!("/w/notes/{n}.md")});
        entries.extend(step(&format!("n{n}"), "read", &path, &"margins and grids ".repeat(30)));
    }
    let (transcript, _) = session(&pi(&entries));
    for strategy in ALL {
        let mut pinned = 0;
        for trace in compacted(&transcript, strategy, 5, &Extractive).cycles {
            let newest = transcript.messages[..trace.cut.trigger].iter().rposition(Message::is_user_request);
            let newest = Entry::Kept(MessageIdx::new(newest.expect("a request")));
            let asked = trace.context.entries.iter().rev().find(
                |entry| matches!(entry, Entry::Kept(at) if transcript.messages[at.get()].is_user_request()),
            );
            assert_eq!(asked, Some(&newest), "{strategy}: the last request is the open one");
            assert!(matches!(trace.context.entries[0], Entry::Summary { .. }), "{strategy}");
            assert_eq!(summaries(&trace.context).len(), 1);
            // Behind the summary and the request that is kept apart stands the log as it was.
            let rest = if trace.cut.pinned.is_some() { 2 } else { 1 };
            pinned += rest - 1;
            let tail: Vec<Entry> =
                (trace.cut.cut..trace.cut.trigger).map(|at| Entry::Kept(MessageIdx::new(at))).collect();
            assert_eq!(trace.context.entries[rest..], tail, "{strategy}");
            assert_eq!(broken(&trace.context, &transcript), Broken::default());
        }
        assert!(pinned > 0, "{strategy}: the request is kept apart at some round");
    }
}

#[test]
fn what_generated_texts_claim_is_true() {
    let (transcript, _) = session(&pi(&long_work(30)));
    for strategy in ALL {
        let mut carried = 0;
        for trace in compacted(&transcript, strategy, 3, &Extractive).cycles {
            let [text] = *summaries(&trace.context) else { panic!("{strategy}") };
            // How many messages it stands for, the summary before it being one.
            if strategy == Strategy::Truncate {
                let count = trace.cut.cut - trace.cut.from + carried;
                assert!(text.contains(&format!("[Compacted {count} messages: ")), "{count}: {text}");
                carried = 1;
            }
            // That messages stand there word for word, only where they do.
            if text.contains("verbatim") {
                assert!(trace.cut.cut < trace.cut.trigger, "{text}");
            }
            if strategy == Strategy::Emergency {
                assert!(text.contains("dropped without a summary"), "{text}");
                assert!(listed(&trace.lists)[1].iter().all(|path| !text.contains(path.as_str())), "{text}");
            }
        }
    }
}

#[test]
fn a_finished_task_is_told_as_done_and_the_open_one_as_the_task() {
    let mut entries = vec![
        user("Bring the resolver up to date"),
        agent("I will read it first."),
        user("Add a cache to the resolver"),
    ];
    let cache = json!({"path": "/w/src/resolver.rs", "oldText": "a", "newText": "b"});
    entries.extend(step("1", "edit", &cache, "ok"));
    entries.push(agent("Added the cache to the resolver in `src/resolver.rs`."));
    entries.push(user("Now write the migration guide for the new release"));
    for n in 0..40 {
        let path = json!({"path": format!("/w/notes/{n}.md")});
        entries.extend(step(&format!("n{n}"), "read", &path, &"margins and grids ".repeat(30)));
    }
    let (transcript, _) = session(&pi(&entries));
    let result = compacted(&transcript, Strategy::Structured, 3, &Extractive);
    for trace in &result.cycles {
        let [text] = *summaries(&trace.context) else { panic!("one summary") };
        let (active, rest) = text.split_once("## Key Decisions").expect("six sections");
        let (_, request) = active.split_once("- Request: ").expect("a request");
        assert_eq!(request.trim(), "Now write the migration guide for the new release", "{text}");
        assert!(!active.contains("Add a cache"), "{text}");
        assert!(active.contains("Added the cache") || rest.contains("Added the cache"), "{text}");
    }
}

/// A value as long as it lasts, then its name alone.
fn fading(until: u32) -> impl Summarizer {
    Made(move |request: &SummaryRequest<'_>| {
        let round = round(request);
        let value = if round <= until { "`retry_limit` is 7." } else { "`retry_limit` is set." };
        Ok(format!("Round {round}\n{value}\nThe owner is mira@example.com of https://example.com/team.\n"))
    })
}

/// A session with values at its beginning and work that never names them again.
fn values_first() -> String {
    let mut entries = vec![
        user("Set `retry_limit` to 7 please, see https://example.com/team for whom to ask"),
        agent("I did as told."),
    ];
    entries.extend(long_work(48));
    pi(&entries)
}

#[test]
fn a_value_that_fades_to_its_name_is_lost_once_and_in_that_round() {
    let settings = replaying(&[Strategy::Structured], Windows::Cycles(10));
    let output = measure(&[values_first()], &settings, &fading(3));
    assert_eq!(output.cycles.len(), 10);
    let of = |value: &str| -> Vec<(u32, &str, &str, Option<u32>, bool)> {
        let rows = output.facts.iter().filter(|fact| fact.value == value);
        rows.map(|it| (it.cycle, it.location.as_ref(), it.tier.as_ref(), it.age, it.first_loss)).collect()
    };
    let expected: Vec<_> = (1..=10)
        .map(|cycle| match cycle {
            1..=3 => (cycle, "summary", "exact", Some(cycle), false),
            4 => (cycle, "lost", "label-only", Some(4), true),
            _ => (cycle, "lost", "label-only", None, false),
        })
        .collect();
    assert_eq!(of("retry_limit = 7"), expected);
    // Another one lasts to the end.
    let lasting = of("https://example.com/team");
    assert!(lasting.iter().all(|row| row.1 == "summary") && lasting.len() == 10, "{lasting:?}");
    for row in &output.cycles {
        assert_eq!(row.label_only, u64::from(row.cycle > 3), "{row:?}");
    }
    let spells: Vec<(u32, u64, u64)> = output
        .spells
        .iter()
        .filter(|row| ["value", "identifier"].contains(&&*row.class))
        .map(|row| (row.age, row.lost, row.censored))
        .collect();
    assert_eq!(spells, [(10, 0, 1), (4, 1, 0)]);
}

#[test]
fn loss_of_all_or_nothing_shows_in_the_distribution_not_in_the_mean() {
    let settings = replaying(&[Strategy::Structured], Windows::Cycles(4));
    let logs = [values_first(), values_first()];
    // Half of the sessions keep all that was said, the others nothing.
    let says = |text: &'static str| {
        measure(&logs, &settings, &Made(move |_: &SummaryRequest<'_>| Ok(text.to_owned())))
    };
    let kept = says("Set `retry_limit` to 7 please, see https://example.com/team for whom to ask");
    let lost = says("Work went on.");
    let mut both = kept;
    for mut row in lost.sessions {
        row.session = format!("{}-lost", row.session).into();
        both.sessions.push(row);
    }
    for mut row in lost.cycles {
        row.session = format!("{}-lost", row.session).into();
        both.cycles.push(row);
    }
    let rows = aggregate(&both).distributions;
    let row = rows.iter().find(|row| row.metric == "lexical_survival").expect("a row");
    assert_eq!((row.n, row.none, row.all, row.mean), (4, 2, 2, Some(0.5)), "{row:?}");
    assert_eq!((row.lowest, row.p25.map(|it| it < 0.5)), (Some(0.0), Some(true)), "{row:?}");
}
