//! Records whose order, ties and kinds are not what one expects: A04, A05, A06, E05, E06, E08, E09.

use super::{Step, WORK, formats, kinds, look, one, pairs, said, work};
use crate::logs::{claude_agent, claude_user, codex_says, jsonl, pi, user};
use crate::support::Sandbox;
use compactor::diagnostic::Severity;
use compactor::ingest::{Format, Ingested};
use compactor::transcript::Origin;
use serde_json::{Value, json};

/// A04 (MoonshotAI/kimi-code#1217): results find their calls in any order, with words of the user between.
#[test]
fn results_out_of_order_find_their_calls() {
    let calls = ["t1", "t2", "t3"];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for between in 0..3 {
            let mut steps = vec![Step::Asks("Go"), Step::Calls(&calls)];
            for (at, which) in order.into_iter().enumerate() {
                if at == between {
                    steps.push(Step::Asks("Hurry"));
                }
                steps.push(Step::Answers(calls[which], ["one", "two", "three"][which]));
            }
            steps.push(Step::Says("Done."));
            for (name, log) in formats(&steps) {
                let (transcript, read) = one(&log);
                assert_eq!(pairs(&transcript), ["t1 one", "t2 two", "t3 three"], "{name} {order:?}");
                assert_eq!(kinds(&read), [""; 0], "{name}");
                assert!(said(&transcript).contains(&"U Hurry".to_owned()), "{name}");
            }
        }
    }
}

/// A05 (NousResearch/hermes-agent#70724): the same id for every call, one after the other or at once, pairs by occurrence.
#[test]
fn a_call_id_used_for_every_call_pairs_by_occurrence() {
    let steps = [
        Step::Asks("Go"),
        Step::Calls(&["x"]),
        Step::Answers("x", "one"),
        Step::Calls(&["x"]),
        Step::Answers("x", "two"),
        Step::Asks("Stop"),
        // Never answered: the next result is not its.
        Step::Calls(&["x"]),
        Step::Asks("Again"),
        Step::Calls(&["x"]),
        Step::Answers("x", "four"),
        Step::Says("Done."),
    ];
    for (name, log) in formats(&steps) {
        let (transcript, _) = one(&log);
        assert_eq!(pairs(&transcript), ["x one", "x two", "x -", "x four"], "{name}");
    }
    let steps =
        [Step::Asks("Go"), Step::Calls(&["x", "x"]), Step::Answers("x", "one"), Step::Answers("x", "two")];
    for (name, log) in formats(&steps) {
        let (transcript, read) = one(&log);
        assert_eq!(pairs(&transcript), ["x one", "x two"], "{name}: {read:?}");
    }
}

/// A06 (bastani-inc/atomic#2051): a result that comes twice, or with no call, is told and counted once or not at all.
#[test]
fn a_result_too_many_is_told() {
    for (answers, told) in [
        (&[("t", "one"), ("t", "one")][..], "duplicate-result"),
        (&[("t", "one"), ("gone", "other")], "orphan-result"),
        (&[("gone", "other"), ("t", "one")], "orphan-result"),
    ] {
        let mut steps = vec![Step::Asks("Go"), Step::Calls(&["t"])];
        steps.extend(answers.iter().map(|(id, text)| Step::Answers(id, text)));
        steps.push(Step::Says("Done."));
        for (name, log) in formats(&steps) {
            let (transcript, read) = one(&log);
            assert_eq!(pairs(&transcript), ["t one"], "{name}");
            assert_eq!(kinds(&read), [told], "{name}");
            // The words of an orphan stay, as nobody's.
            let orphans = said(&transcript).iter().filter(|it| *it == "U other").count();
            assert_eq!(orphans, usize::from(told == "orphan-result"), "{name}: {:?}", said(&transcript));
        }
    }
}

/// A03, A11 (github/copilot-cli#4572, dirge-code/dirge#757): open calls stay open in every format, and silent results stay.
#[test]
fn open_calls_and_silent_results_stay() {
    let steps = [
        Step::Asks("Go"),
        Step::Calls(&["a", "b"]),
        Step::Answers("b", ""),
        Step::Says(""),
        Step::Calls(&["c"]),
    ];
    for (name, log) in formats(&steps) {
        let (transcript, _) = one(&log);
        assert_eq!(pairs(&transcript), ["a -", "b ", "c -"], "{name}");
        assert!(said(&transcript).iter().all(|it| it != "A "), "{name}: nothing empty");
    }
}

/// All orders of some things.
fn orders<T: Clone>(things: &[T]) -> Vec<Vec<T>> {
    if things.is_empty() {
        return vec![Vec::new()];
    }
    let first = |at: usize| {
        let mut rest = things.to_vec();
        let first = rest.remove(at);
        orders(&rest).into_iter().map(move |mut order| {
            order.insert(0, first.clone());
            order
        })
    };
    (0..things.len()).flat_map(first).collect()
}

/// E05 (cfal/garcon#441): a child that is written before its parent changes nothing; the chain tells the order.
#[test]
fn a_child_before_its_parent_changes_nothing() {
    let (_, log) = work().swap_remove(0);
    let lines: Vec<&str> = log.lines().take(4).collect();
    // The end of the chain is where the agent wrote last.
    for mut order in orders(&lines[..3]) {
        order.push(lines[3]);
        let (transcript, read) = one(order.join("\n"));
        assert_eq!(said(&transcript), WORK[..4], "{order:?}");
        assert_eq!(read.bytes.skipped, 0);
    }
}

/// E05 (anthropics/claude-code#48936): a fork leaves one path, the newest; what lies beside it is counted, not read.
#[test]
fn a_fork_leaves_the_newest_path() {
    let mut records: Vec<Value> = crate::logs::claude(&[
        claude_user("Go"),
        claude_agent("r1", "Left."),
        claude_user("Try again"),
        claude_agent("r2", "Right."),
    ])
    .lines()
    .map(|line| serde_json::from_str(line).expect("JSON"))
    .collect();
    // The second request stands beside the first reply.
    records[2]["parentUuid"] = json!("u0");
    let (transcript, read) = one(jsonl(&records));
    assert_eq!(said(&transcript), ["U Go", "U Try again", "A Right."]);
    assert_eq!(read.raw.messages, 4, "all are counted");
    let mut entries: Vec<Value> =
        pi(&[user("Go"), crate::logs::agent("Left."), user("Try again"), crate::logs::agent("Right.")])
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
    entries[3]["parentId"] = json!("e0");
    let (transcript, _) = one(jsonl(&entries));
    assert_eq!(said(&transcript), ["U Go", "U Try again", "A Right."]);
}

/// E05 (intendant-dev/Intendant#361): a sub-agent is a session with its origin, wherever its records stand between others.
#[test]
fn a_sub_agent_is_a_session_of_its_own() {
    let main: Vec<Value> =
        work()[0].1.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let mut side = main.clone();
    for (at, record) in side.iter_mut().enumerate() {
        record["uuid"] = json!(format!("k{at}"));
        record["parentUuid"] = at.checked_sub(1).map_or(Value::Null, |before| json!(format!("k{before}")));
        record["isSidechain"] = json!(true);
        record["agentId"] = json!("ag7");
    }
    let mixed: Vec<Value> =
        main.iter().zip(&side).flat_map(|(one, other)| [one.clone(), other.clone()]).collect();
    for log in [jsonl(&mixed), jsonl(&[main.clone(), side.clone()].concat()), jsonl(&[side, main].concat())] {
        let read = look(&log);
        let mut found: Vec<(&str, &Origin)> =
            read.sessions.iter().map(|it| (it.id.as_str(), &it.origin)).collect();
        found.sort_by_key(|(id, _)| *id);
        assert_eq!(found, [("s-1", &Origin::Main), ("s-1/ag7", &Origin::Sidechain("ag7".to_owned()))]);
        assert!(read.sessions.iter().all(|it| said(it) == WORK), "{read:?}");
    }
}

/// Two Claude Code sessions of two requests each, with the minutes at which their records were written.
fn two_sessions(minutes: [[u32; 4]; 2]) -> Vec<Vec<Value>> {
    let mut sessions = Vec::new();
    for (id, minutes) in ["one", "two"].into_iter().zip(minutes) {
        let log = crate::logs::claude(&[
            claude_user(&format!("{id} asks")),
            claude_agent("r1", &format!("{id} says")),
            claude_user(&format!("{id} asks again")),
            claude_agent("r2", &format!("{id} is done")),
        ]);
        let records = log.lines().zip(minutes).map(|(line, minute)| {
            let mut record: Value = serde_json::from_str(line).expect("JSON");
            for field in ["uuid", "parentUuid"] {
                if let Some(text) = record[field].as_str() {
                    record[field] = json!(format!("{id}-{text}"));
                }
            }
            record["sessionId"] = json!(id);
            record["timestamp"] = json!(format!("2026-01-02T03:{minute:02}:00Z"));
            record
        });
        sessions.push(records.collect());
    }
    sessions
}

/// E06 (anthropics/claude-code#26964): two sessions that wrote into one file, with clocks that disagree, are two sessions, each
/// in the order of its chain.
#[test]
fn two_sessions_in_one_file_are_two() {
    for minutes in
        [[[1, 3, 5, 7], [2, 4, 6, 8]], [[9, 8, 7, 6], [1, 1, 1, 1]], [[50, 1, 2, 3], [4, 40, 5, 6]]]
    {
        let [first, second] = &two_sessions(minutes)[..] else { panic!("two") };
        let in_turn =
            first.iter().zip(second).flat_map(|(one, other)| [one.clone(), other.clone()]).collect();
        for records in [
            in_turn,
            [first.clone(), second.clone()].concat(),
            [&first[..2], &second[..], &first[2..]].concat(),
        ] {
            let read = look(jsonl(&records));
            assert_eq!(read.sessions.len(), 2, "{read:?}");
            for session in &read.sessions {
                let id = &session.id;
                let expected = [
                    format!("U {id} asks"),
                    format!("A {id} says"),
                    format!("U {id} asks again"),
                    format!("A {id} is done"),
                ];
                assert_eq!(said(session), expected);
            }
        }
    }
}

/// E08 (kenn-io/agentsview#409): records of kinds that nobody knows are counted by kind, and cost nothing.
#[test]
fn unknown_records_are_counted_by_kind() {
    let (_, log) = work().swap_remove(0);
    let odd = |kind: &str| format!("{{\"type\":\"{kind}\",\"uuid\":\"{kind}\",\"sessionId\":\"s-1\"}}\n");
    let log = [odd("gadget"), log, odd("widget").repeat(3)].concat();
    let (transcript, read) = one(&log);
    assert_eq!(said(&transcript), WORK);
    let unknown: Vec<(u64, bool, Severity)> = read
        .diagnostics
        .iter()
        .filter(|it| it.code == "unknown-record")
        .map(|it| (it.count, it.text.contains("widget"), it.severity))
        .collect();
    assert_eq!(unknown, [(1, false, Severity::Note), (3, true, Severity::Note)], "{read:?}");
    let codex: Vec<Value> = vec![
        codex_says("user", "Go"),
        json!({"type": "widget", "payload": {"type": "gadget"}}),
        codex_says("assistant", "Done."),
    ];
    let (transcript, read) = one(crate::logs::codex(&codex));
    assert_eq!((said(&transcript).len(), kinds(&read)), (2, vec!["unknown-record"]));
}

/// What is said of a log of which nothing is read.
fn lost(log: &str) -> (Ingested, String) {
    let read = look(log);
    assert!(read.sessions.is_empty(), "{read:?}");
    let [only] = &read.diagnostics.iter().filter(|it| it.severity == Severity::Lost).collect::<Vec<_>>()[..]
    else {
        panic!("{read:?}")
    };
    let text = only.to_string();
    (read, text)
}

/// E08 (TheGaySupreme123/yoetz#418): a stream that looks like a rollout is told apart from one.
#[test]
fn a_look_alike_is_read_as_what_it_is() {
    let stream = jsonl(&[
        json!({"type": "thread.started", "thread_id": "x"}),
        json!({"type": "turn.started"}),
        json!({"type": "item.completed", "item": {"id": "i0", "type": "agent_message", "text": "Done."}}),
        json!({"type": "turn.completed", "usage": {"input_tokens": 10, "cached_input_tokens": 0, "output_tokens": 2}}),
    ]);
    let (transcript, read) = one(&stream);
    assert_eq!(read.format, Some(Format::CodexExec));
    assert_eq!((said(&transcript), kinds(&read)), (vec!["A Done.".to_owned()], vec![]));
    // VS Code writes changes, not messages (l-teles/ai-control-plane#6).
    let (_, text) = lost(&jsonl(&[
        json!({"kind": 0, "v": {"requests": []}}),
        json!({"kind": 1, "k": ["requests", 0], "v": "x"}),
    ]));
    assert!(text.contains("VS Code"), "{text}");
}

/// E08 (microsoft/AI-Engineering-Coach#70): a file in which everything is unknown is lost, and a run over it alone fails.
#[test]
fn a_file_of_nothing_known_fails() {
    let nothing = jsonl(&vec![json!({"kind": "tick", "n": 7}); 28]);
    let (read, text) = lost(&nothing);
    assert_eq!((read.format, read.bytes.skipped), (None, nothing.len() as u64));
    assert!(text.contains("kind, n"), "its fields are named: {text}");
    // Of a known format, and all of its records but the first unknown.
    let odd = crate::logs::codex(&vec![json!({"type": "widget", "payload": {}}); 28]);
    let (read, text) = lost(&odd);
    assert_eq!((read.format, text.contains("nothing to replay")), (Some(Format::Codex), true), "{text}");
    assert!(read.diagnostics.iter().any(|it| it.code == "unknown-record" && it.count == 28), "{read:?}");
    let sandbox = Sandbox::new();
    sandbox.file("nothing.jsonl", &nothing);
    sandbox.file("odd.jsonl", &odd);
    sandbox.file("good.jsonl", &work()[0].1);
    for file in ["nothing.jsonl", "odd.jsonl"] {
        for verb in ["inspect", "replay", "convert", "audit"] {
            let ran = sandbox.run(&[verb, file]);
            assert_eq!(ran.code, 2, "{verb} {file}: {ran:?}");
        }
        let ran = sandbox.run(&["inspect", file, "good.jsonl"]);
        assert_eq!(ran.code, 3, "{file}: {ran:?}");
        let ran = sandbox.run(&["convert", file, "good.jsonl", "--out", &format!("out-{file}")]);
        assert_eq!(ran.code, 3, "{file}: {ran:?}");
    }
}

/// E09 (anthropics/claude-code#68929): the order is that of chain and file; times are only shown, whatever they say.
#[test]
fn times_change_no_order() {
    for times in [
        [Some("2026-01-02T03:04:05Z"); 6],
        [
            Some("2026-01-02T03:04:09Z"),
            Some("2026-01-02T03:04:05Z"),
            None,
            Some("2020-01-01T00:00:00Z"),
            Some("never"),
            Some(""),
        ],
        [
            None,
            Some("2030-01-01T00:00:00+09:00"),
            Some("2026-13-77T99:99:99Z"),
            None,
            Some("-1"),
            Some("1e9"),
        ],
    ] {
        for (name, log) in work() {
            let mut records: Vec<Value> =
                log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
            let head = records.len() - times.len();
            for (record, time) in records.iter_mut().skip(head).zip(times) {
                if let Some(time) = time {
                    record["timestamp"] = json!(time);
                }
            }
            // Lines about the session without a time.
            if name == "claude-code" {
                records.push(json!({"type": "custom-title", "customTitle": "A title", "sessionId": "s-1"}));
            }
            let (transcript, read) = one(jsonl(&records));
            assert_eq!(said(&transcript), WORK, "{name} {times:?}");
            assert_eq!(read.bytes.skipped, 0, "{name}");
            let shown = transcript.messages[0].time.is_some();
            assert_eq!(shown, times[0].is_some(), "{name}: the time is there to be shown");
        }
    }
}
