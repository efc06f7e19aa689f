use super::super::ingest;
use super::super::sketch::{check, check_odd_values, codes, read_one};
use crate::diagnostic::Severity;
use crate::ingest::value::json;
use crate::transcript::{MessageIdx, Outcome, Usage};

const HEADER: &str = r#"{"type":"session","version":3,"id":"p-1","timestamp":"t","cwd":"/w"}"#;

/// A tree: every step is `id<parent what text`, the parent `-` for a root; with no `<` the entry has no parent field.
fn tree(steps: &[&str]) -> String {
    let mut lines = vec![HEADER.to_owned()];
    for step in steps {
        let mut words = step.splitn(3, ' ');
        let place = words.next().unwrap_or_default();
        let what = words.next().unwrap_or_default();
        let rest = words.next().unwrap_or_default();
        let place = match place.split_once('<') {
            Some((id, "-")) => format!(r#""id":"{id}","parentId":null"#),
            Some((id, parent)) => format!(r#""id":"{id}","parentId":"{parent}""#),
            None => format!(r#""id":"{place}""#),
        };
        let entry = match what {
            "user" => format!(r#""type":"message",{place},"message":{{"role":"user","content":"{rest}"}}"#),
            "reply" => format!(
                r#""type":"message",{place},"message":{{"role":"assistant","content":[{{"type":"text","text":"{rest}"}}],"model":"m"}}"#
            ),
            "call" => format!(
                r#""type":"message",{place},"message":{{"role":"assistant","content":[{{"type":"toolCall","id":"{rest}","name":"read","arguments":{{"path":"a"}}}}]}}"#
            ),
            "result" => format!(
                r#""type":"message",{place},"message":{{"role":"toolResult","toolCallId":"{rest}","toolName":"read","content":[{{"type":"text","text":"x"}}],"isError":false}}"#
            ),
            "compaction" => {
                let (kept, summary) = rest.split_once(' ').unwrap_or((rest, ""));
                format!(
                    r#""type":"compaction",{place},"summary":"{summary}","firstKeptEntryId":"{kept}","tokensBefore":77"#
                )
            }
            // Anything else is a type, with fields.
            other => format!(r#""type":"{other}",{place}{rest}"#),
        };
        lines.push(format!("{{{entry}}}"));
    }
    lines.join("\n")
}

/// Messages of a version 1 log.
fn line(messages: &[&str]) -> String {
    let header = r#"{"type":"session","id":"p-1","timestamp":"t","cwd":"/w","provider":"x","modelId":"m-0"}"#;
    let entries = messages.iter().map(|message| {
        if message.starts_with(r#"{"role""#) {
            format!(r#"{{"type":"message","timestamp":"t","message":{message}}}"#)
        } else {
            (*message).to_owned()
        }
    });
    std::iter::once(header.to_owned()).chain(entries).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_active_path_ends_at_the_last_entry() {
    let steps = [
        "a<- user go",
        "b<a call x",
        "c<b result x",
        "d<c reply first try",
        "e<a branch_summary ,\"fromId\":\"d\",\"summary\":\"tried once\"",
        "f<e reply second try",
        "g<f label ,\"targetId\":\"a\",\"label\":\"start\"",
    ];
    let (session, read) = check(&tree(&steps), &[r#"U "go""#, r#"A "second try""#]);
    assert_eq!((session.id.as_str(), session.messages[1].line), ("p-1", 7));
    assert_eq!(session.messages[1].cwd.as_deref(), Some("/w"));
    assert_eq!(session.model.as_deref(), Some("m"));
    assert_eq!((read.raw.messages, read.raw.tool_calls), (5, 1));
    assert_eq!(codes(&read), ["abandoned-branch", "branch-summary"]);
}

#[test]
fn parents_that_are_missing_or_odd() {
    // Without parents at all: one line, whatever the version says.
    check(&tree(&["a user a", "b reply b"]), &[r#"U "a""#, r#"A "b""#]);
    check(&tree(&["a<- user a", "b<- reply b"]), &[r#"U "a""#, r#"A "b""#]);
    // A parent that is not in the file, one that comes later, and an entry of itself.
    for parent in ["gone", "c", "b"] {
        let steps = ["a<- user a", &format!("b<{parent} reply b"), "c<b user c"];
        let (_, read) = check(&tree(&steps), &[r#"U "a""#, r#"A "b""#, r#"U "c""#]);
        assert_eq!(codes(&read), ["dangling-parent"], "{parent}");
    }
    // A second root is a new beginning.
    let (_, read) = check(&tree(&["a<- user a", "b<a reply b", "c<- user c"]), &[r#"U "c""#]);
    assert_eq!(codes(&read), ["abandoned-branch"]);
    // An id that comes again names the nearest entry before.
    check(
        &tree(&["a<- user a", "b<a reply b", "a<b user c", "d<a reply d"]),
        &[r#"U "a""#, r#"A "b""#, r#"U "c""#, r#"A "d""#],
    );
}

#[test]
fn compactions_are_crossed_and_set_aside() {
    let steps = [
        "a<- user a",
        "b<a reply b",
        "c<b user c",
        "d<c compaction c Sum one",
        "e<d reply e",
        "f<e compaction d Sum two",
        "g<f user g",
    ];
    let (session, read) = check(&tree(&steps), &[r#"U "a""#, r#"A "b""#, r#"U "c""#, r#"A "e""#, r#"U "g""#]);
    let recorded: Vec<_> = session
        .recorded
        .iter()
        .map(|recorded| {
            let kept = recorded.kept.first().map(MessageIdx::get);
            (recorded.before.get(), kept, recorded.line, recorded.summary.as_deref(), recorded.tokens_before)
        })
        .collect();
    // The second one keeps from the first compaction itself on, which is the reply behind it.
    let expected = [(3, Some(2), 5, Some("Sum one"), Some(77)), (4, Some(3), 7, Some("Sum two"), Some(77))];
    assert_eq!(recorded, expected);
    assert_eq!((read.raw.compactions, session.starts_compacted), (2, false));
}

#[test]
fn a_log_that_begins_with_a_compaction() {
    let steps = ["d<gone compaction c So far: x.", "e<d user e", "f<e compaction e Later"];
    let (session, read) = check(&tree(&steps), &[r#"U ~"So far: x.""#, r#"U "e""#]);
    assert!(session.starts_compacted);
    assert_eq!((session.recorded.len(), read.raw.compactions), (1, 2));
}

#[test]
fn what_a_compaction_kept_is_found_or_said_to_be_unknown() {
    // The branch that was left is in front of the compaction, and not on its path.
    let log = |fields: &str| {
        let compaction = format!(r#"c<r compaction2 ,"summary":"s"{fields}"#);
        let steps = ["a<- user go", "x<a reply left", "r<a reply on", compaction.as_str(), "b<c user more"];
        tree(&steps).replace("compaction2", "compaction")
    };
    for (fields, kept) in [
        (r#","firstKeptEntryId":"r""#, Some(1)),
        (r#","firstKeptEntryId":"a""#, Some(2)),
        (r#","firstKeptEntryIndex":1"#, Some(2)),
        (r#","firstKeptEntryIndex":4"#, Some(0)),
        (r#","retainedTail":[]"#, Some(0)),
        (r#","firstKeptEntryId":"gone""#, None),
        (r#","firstKeptEntryId":"c""#, Some(0)),
        (r#","firstKeptEntryId":"b""#, Some(0)),
        (r#","firstKeptEntryId":"x""#, None),
        (r#","firstKeptEntryId":null"#, None),
        (r#","firstKeptEntryId":7"#, None),
        (r#","firstKeptEntryIndex":9"#, None),
        (r#","firstKeptEntryIndex":-1"#, None),
        (r#","firstKeptEntryIndex":"1""#, None),
        (r#","firstKeptEntryId":"r","retainedTail":"x""#, None),
        ("", None),
    ] {
        let (session, read) = read_one(&log(fields));
        let recorded = &session.recorded[0];
        assert_eq!((!recorded.kept_unknown).then_some(recorded.kept.len()), kept, "{fields}");
        assert_eq!(recorded.summary.as_deref(), Some("s"), "{fields}");
        let damage: Vec<(u32, &str)> = read
            .diagnostics
            .iter()
            .filter(|it| it.severity == Severity::Damage)
            .map(|it| (it.line, it.code))
            .collect();
        let expected = match kept {
            None => vec![(5, "kept-unknown")],
            Some(0) if fields.contains("firstKeptEntryId") => vec![(5, "kept-nothing")],
            Some(_) => vec![],
        };
        assert_eq!(damage, expected, "{fields}");
    }
}

#[test]
fn version_1_keeps_by_position() {
    let damaged = r#"{"type":"message","timest"#;
    let glued = r#"{"type":"model_change","modelId":"m-1"}{"type":"message","message":{"role":"user","content":"c"}}"#;
    let (session, _) = check(
        &line(&[
            r#"{"role":"user","content":"a"}"#,
            damaged,
            r#"{"role":"assistant","content":[{"type":"text","text":"b"}]}"#,
            glued,
            r#"{"role":"assistant","content":[{"type":"text","text":"d"}]}"#,
            // 0 header, 1 a, 2 damaged, 3 b, 4 and 5 glued, 6 d
            r#"{"type":"compaction","summary":"one","firstKeptEntryIndex":3,"tokensBefore":5}"#,
            r#"{"role":"user","content":"e"}"#,
            r#"{"type":"compaction","summary":"two","firstKeptEntryIndex":6,"tokensBefore":5}"#,
            r#"{"role":"user","content":"f"}"#,
            r#"{"type":"compaction","summary":"three","firstKeptEntryIndex":99,"tokensBefore":5}"#,
        ]),
        &[r#"U "a""#, r#"A "b""#, r#"U "c""#, r#"A "d""#, r#"U "e""#, r#"U "f""#],
    );
    let kept: Vec<Vec<u32>> =
        session.recorded.iter().map(|recorded| recorded.kept.iter().map(|at| at.0).collect()).collect();
    assert_eq!(kept, [vec![1, 2, 3], vec![3, 4], vec![]]);
    assert_eq!(session.model.as_deref(), Some("m-1"), "the model chosen, where the reply names none");
}

#[test]
fn roles_and_what_the_harness_wrote() {
    let (_, read) = check(
        &line(&[
            r#"{"role":"user","content":[{"type":"text","text":"<file name=\"/w/a\">\nbody\n</file>\nlook"},{"type":"image","data":"abcd","mimeType":"image/png"}]}"#,
            r#"{"role":"bashExecution","command":"ls","output":"a\nb\n","exitCode":2,"cancelled":false,"truncated":false}"#,
            r#"{"role":"bashExecution","command":"true","output":"","exitCode":0,"cancelled":true}"#,
            r#"{"role":"bashExecution","command":"cat secret","output":"x","exitCode":0,"excludeFromContext":true}"#,
            r#"{"role":"custom","customType":"x","content":"note","display":true}"#,
            r#"{"role":"hookMessage","content":[{"type":"text","text":"hook"}]}"#,
            r#"{"type":"custom_message","customType":"x","content":"inline"}"#,
            r#"{"type":"custom","customType":"x","data":{}}"#,
            r#"{"role":"branchSummary","summary":"s","fromId":"a"}"#,
            r#"{"role":"oracle","content":"?"}"#,
            r#"{"type":"omen"}"#,
        ]),
        &[
            r#"U ~"<file name=\"/w/a\">\nbody\n</file>" "look" [image]"#,
            r#"U ~"Ran `ls`\n```\na\nb\n```\n\nCommand exited with code 2""#,
            r#"U ~"Ran `true`\n(no output)\n\n(command cancelled)""#,
            r#"U ~"note""#,
            r#"U ~"hook""#,
            r#"U ~"inline""#,
        ],
    );
    assert_eq!(codes(&read), ["excluded-command", "branch-summary", "unknown-role", "unknown-record"]);
    assert_eq!(read.raw.messages, 8);
}

#[test]
fn replies() {
    let (session, read) = check(
        &line(&[
            r#"{"role":"user","content":"a"}"#,
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"EpEQ"},{"type":"toolCall","id":"call_1|fc_1","name":"bash","arguments":{"command":"ls"}}],"model":"m-2","usage":{"input":3,"cacheRead":40,"cacheWrite":500,"output":7},"stopReason":"toolUse"}"#,
            r#"{"role":"toolResult","toolCallId":"call_1|fc_1","toolName":"bash","content":[],"isError":false}"#,
            r#"{"role":"assistant","content":[],"usage":{"input":0,"output":0},"stopReason":"aborted","errorMessage":"Request was aborted."}"#,
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"","thinkingSignature":"{\"id\":\"rs\",\"encrypted_content\":\"gAAA\"}"},{"type":"text","text":"half"}],"usage":{"input":0,"cacheRead":0,"cacheWrite":0,"output":0},"stopReason":"error"}"#,
        ]),
        &[r#"U "a""#, "A (hm) bash#call_1|fc_1", r#"T call_1|fc_1=ok """#, r#"A <thinking> "half""#],
    );
    let usage = Usage { input: 543, cache_read: 40, cache_write: 500, output: 7 };
    assert_eq!(session.messages[1].usage.as_deref(), Some(&usage));
    assert_eq!(session.messages[3].usage, None, "nothing was reported");
    assert_eq!(codes(&read), ["empty-reply"]);
    assert_eq!(read.raw.messages, 5);
    let call = session.call(&session.links[0]).unwrap();
    assert_eq!(call.arguments, r#"{"command":"ls"}"#);
}

#[test]
fn how_calls_ended() {
    let cases: &[(&str, Outcome, Option<i32>)] = &[
        (r#""content":[{"type":"text","text":"x"}],"isError":false"#, Outcome::Ok, None),
        (r#""content":[{"type":"text","text":"Error: in a file"}],"isError":false"#, Outcome::Ok, None),
        (
            r#""content":[{"type":"text","text":"x\n\nCommand exited with code 3"}],"isError":true"#,
            Outcome::Failed,
            Some(3),
        ),
        (
            r#""content":[{"type":"text","text":"ENOENT: no such file"}],"isError":true"#,
            Outcome::Failed,
            None,
        ),
        (
            r#""content":[{"type":"text","text":"x"}],"details":{"exitCode":0},"isError":false"#,
            Outcome::Ok,
            Some(0),
        ),
        (
            r#""content":[{"type":"text","text":"x"}],"details":{"exitCode":9},"isError":false"#,
            Outcome::Failed,
            Some(9),
        ),
        (r#""content":"Error: no flag""#, Outcome::Failed, None),
        (r#""content":"x""#, Outcome::Ok, None),
    ];
    for (fields, outcome, exit_code) in cases {
        let lines = line(&[
            r#"{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"bash","arguments":{}}]}"#,
            &format!(r#"{{"role":"toolResult","toolCallId":"a","toolName":"bash",{fields}}}"#),
        ]);
        let (session, _) = read_one(&lines);
        let result = session.result(&session.links[0]).unwrap();
        assert_eq!((result.outcome, result.exit_code), (*outcome, *exit_code), "{fields}");
    }
}

#[test]
fn derivatives_and_several_headers() {
    let lines = [
        r#"{"type":"session","version":"0.1.0","id":"claw","timestamp":"t"}"#,
        r#"{"type":"message","id":"1","message":{"role":"user","content":"a"}}"#,
        r#"{"type":"session","version":"0.1.0","id":"claw","timestamp":"t"}"#,
        r#"{"type":"message","id":"2","message":{"role":"assistant","content":"b"}}"#,
    ];
    check(&lines.join("\n"), &[r#"U "a""#, r#"A "b""#]);
    let other =
        [HEADER, r#"{"type":"message","id":"3","parentId":null,"message":{"role":"user","content":"c"}}"#];
    let read = ingest([lines.join("\n"), other.join("\n")].join("\n").as_bytes(), "two.jsonl");
    let ids: Vec<_> =
        read.sessions.iter().map(|session| (session.id.as_str(), session.messages.len())).collect();
    assert_eq!(ids, [("claw", 2), ("p-1", 1)]);
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(&tree(&[
        "a<- user a",
        "b<a call x",
        "c<b result x",
        "d<c compaction a Sum",
        "e<d custom_message ,\"content\":[{\"type\":\"text\",\"text\":\"x\"}]",
        "f<e compaction d Sum",
    ]));
    check_odd_values(&line(&[
        r#"{"role":"bashExecution","command":"ls","output":"a","exitCode":2,"cancelled":false,"excludeFromContext":false}"#,
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"x"},{"type":"toolCall","id":"a","name":"b","arguments":{"c":1}}],"usage":{"input":3},"stopReason":"error"}"#,
        r#"{"role":"toolResult","toolCallId":"a","content":[],"details":{"exitCode":1},"isError":false}"#,
        r#"{"type":"compaction","summary":"one","firstKeptEntryIndex":3,"tokensBefore":5}"#,
        r#"{"role":"user","content":"a"}"#,
        r#"{"type":"compaction","summary":"two","retainedTail":[{"role":"user","content":"a"},{"role":"toolResult","toolCallId":"a","content":[]}],"tokensBefore":5}"#,
    ]));
}

/// What stays is told by where it begins: it takes no memory for each message.
#[test]
fn what_compactions_keep_is_a_stretch() {
    let mut log = r#"{"type":"session","version":1,"id":"s","cwd":"/w"}"#.to_owned() + "\n";
    for at in 0..200 {
        log +=
            &json!({"type": "message", "message": {"role": "user", "content": format!("m{at}")}}).to_string();
        log.push('\n');
        if at % 4 == 3 {
            log += &json!({"type": "compaction", "summary": "so far", "firstKeptEntryIndex": 2}).to_string();
            log.push('\n');
        }
    }
    let read = ingest(log.as_bytes(), "s.jsonl");
    let recorded = &read.sessions[0].recorded;
    assert_eq!(recorded.len(), 50);
    assert!(recorded.iter().all(|one| one.kept.stretches().count() <= 1));
    assert!(recorded.iter().map(|one| one.kept.len()).sum::<usize>() > 4_000);
}
