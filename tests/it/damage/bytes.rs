//! Bytes that are not what JSON or UTF-8 wants: E01, E02, E03, E10, E13.

use super::{ARGUMENTS, Step, WORK, formats, kinds, look, one, pairs, said, work};
use crate::support::Sandbox;
use compactor::context::clip;
use compactor::facts::FactSet;
use compactor::replay::effects;
use compactor::tokens::Tokenizer;
use compactor::transcript::{MessageIdx, Transcript};

/// E01 (anthropics/claude-code#49876): a run of NUL bytes, as a crash leaves it, costs no record beside or around it.
#[test]
fn nul_runs_cost_no_record() {
    let run = "\0".repeat(4_096);
    for (name, log) in work() {
        let lines: Vec<&str> = log.lines().collect();
        for at in 1..lines.len() {
            let changed = |with: &dyn Fn(&str) -> String| {
                let lines = lines.iter().enumerate();
                let all: Vec<String> =
                    lines.map(|(n, line)| if n == at { with(line) } else { (*line).to_owned() }).collect();
                all.join("\n") + "\n"
            };
            for damaged in [
                changed(&|line| format!("{run}\n{line}")),
                changed(&|line| format!("{run}{line}")),
                changed(&|line| format!("{line}{run}")),
                // Between two records that lost the end of their line.
                changed(&|line| format!("{line}{run}")).replacen("\0\n", "\0", 1),
                // Inside a text.
                changed(&|line| line.replacen("role\":", &format!("ro{run}le\":"), 1)),
            ] {
                let (transcript, read) = one(&damaged);
                assert_eq!(said(&transcript), WORK, "{name} {at}");
                let runs = damaged.matches('\0').count() as u64;
                assert_eq!(read.bytes.skipped, runs, "{name} {at}");
                assert_eq!(kinds(&read).contains(&"nul-bytes"), runs > 0, "{name} {at}: {:?}", kinds(&read));
            }
        }
    }
}

/// A record that stands in the line of another one does not take its time.
#[test]
fn glued_records_keep_their_own_times() {
    let record = |second: u32, role: &str, kind: &str, text: &str| {
        format!(
            r#"{{"timestamp":"2026-03-01T10:00:0{second}Z","type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}}}"#
        )
    };
    let (go, done) = (record(1, "user", "input_text", "go"), record(2, "assistant", "output_text", "done"));
    let times = |log: String| {
        let (transcript, _) = one(log);
        transcript.messages.iter().map(|message| message.time).collect::<Vec<_>>()
    };
    let apart = times(format!("{go}\n{done}"));
    assert!(apart.iter().all(Option::is_some), "{apart:?}");
    let glued = times(format!("{go}{done}"));
    assert_eq!(glued.len(), apart.len());
    for (glued, apart) in glued.iter().zip(&apart) {
        assert!(glued.is_none() || glued == apart, "{glued:?} {apart:?}");
    }
}

/// E01 (QwenLM/qwen-code#3656): records that lost the end of line between them are split, all of them.
#[test]
fn glued_records_are_all_read() {
    for (name, log) in work() {
        let lines: Vec<&str> = log.lines().collect();
        for at in 1..lines.len() {
            for count in 1..=lines.len() - at {
                let glued =
                    [&lines[..at - 1], &[&lines[at - 1..at + count - 1].concat()], &lines[at + count - 1..]];
                let (transcript, read) = one(glued.concat().join("\n"));
                assert_eq!(said(&transcript), WORK, "{name} {at} {count}");
                assert_eq!(read.bytes.skipped, 0, "{name}: nothing is lost");
                assert_eq!(kinds(&read).contains(&"glued-records"), count > 1, "{name} {at} {count}");
            }
        }
    }
}

/// E01 (neilberkman/ccrider#11): a record torn at any byte costs itself alone: on its line, in front of the next one, or at the
/// end of the log.
#[test]
fn a_torn_record_costs_itself_alone() {
    let steps = |middle: bool| {
        let mut steps =
            vec![Step::Asks("Go on"), Step::Says("First é."), Step::Asks("And then"), Step::Says("Last.")];
        if !middle {
            steps.remove(1);
        }
        formats(&steps)
    };
    for ((name, whole), (_, rest)) in steps(true).into_iter().zip(steps(false)) {
        let lines: Vec<&[u8]> = whole.as_bytes().split(|byte| *byte == b'\n').collect();
        let torn = lines.iter().position(|line| String::from_utf8_lossy(line).contains("First")).expect("it");
        let (expected, _) = one(&rest);
        for cut in 1..lines[torn].len() {
            let part = &lines[torn][..cut];
            for end in [&b"\n"[..], b""] {
                let log =
                    [&lines[..torn].join(&b'\n'), &b"\n"[..], part, end, &lines[torn + 1..].join(&b'\n')]
                        .concat();
                let (transcript, read) = one(&log);
                assert_eq!(said(&transcript), said(&expected), "{name}: {}", String::from_utf8_lossy(&log));
                let lost = if end.is_empty() { part.len() } else { part.trim_ascii().len() };
                // Half a character counts as the one that stands for it.
                let counted = read.bytes.skipped.checked_sub(lost as u64);
                assert!(counted.is_some_and(|more| more <= 2), "{name} {cut}: {:?}", read.bytes);
            }
            // In the middle of writing.
            let log = [&lines[..torn].join(&b'\n'), &b"\n"[..], part].concat();
            let (transcript, read) = one(&log);
            assert_eq!(said(&transcript), said(&expected)[..1], "{name} {cut}");
            assert!(kinds(&read).contains(&"truncated-line"), "{name} {cut}: {:?}", kinds(&read));
        }
    }
}

/// E02 (anthropics/claude-code#56064): half a surrogate pair costs one character, not the record, and orphans no pair.
#[test]
fn lone_surrogates_cost_one_character() {
    for (half, left) in [
        (r"\ud83d", "\u{fffd}"),
        (r"\udc00", "\u{fffd}"),
        (r"\udc00\ud83d", "\u{fffd}\u{fffd}"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
        (r"\uD83D\\ud83d", "\u{fffd}\\ud83d"),
        (r"\ud83d\n", "\u{fffd}\n"),
    ] {
        for (name, log) in work() {
            // At the beginning, in the middle and at the end of every text there is.
            for text in ["Look at a.rs", "fn main", "It is short."] {
                for (before, after) in [("", "é \u{1f680} rest"), ("é \u{1f680} ", " rest"), ("all ", "")] {
                    let damaged = log.replacen(text, &format!("{before}{half}{after}"), 1);
                    let (transcript, read) = one(&damaged);
                    let expected: Vec<String> = WORK
                        .iter()
                        .map(|line| line.replacen(text, &format!("{before}{left}{after}"), 1))
                        .collect();
                    assert_eq!(said(&transcript), expected, "{name}: {damaged}");
                    assert_eq!(kinds(&read), ["repaired-string"], "{name}");
                    assert_eq!(read.bytes.skipped, 0);
                    assert!(transcript.links[0].result.is_some(), "{name}: the pair is whole");
                }
            }
        }
    }
}

/// E02 (nanocoai/nanoclaw#889): in the arguments of a call, written as JSON or as text of JSON, it costs no operation on a file.
#[test]
fn a_lone_surrogate_in_arguments_costs_no_operation() {
    for (name, log) in work() {
        let damaged = log.replace("/w/a.rs\"", "/w/a.rs\",\"note\":\"half \\ud83d\"");
        let damaged = damaged.replace("/w/a.rs\\\"", "/w/a.rs\\\",\\\"note\\\":\\\"half \\\\ud83d\\\"");
        assert_ne!(log, damaged, "{name}");
        let (transcript, _) = one(&damaged);
        assert_eq!(said(&transcript), WORK, "{name}");
        let ledger = FactSet::files(&transcript, &effects(&transcript));
        assert_eq!(ledger.read_at(MessageIdx(9)), ["/w/a.rs"], "{name}");
    }
}

/// E03 (MemPalace/mempalace#1102): a byte order mark, at the beginning or where files were strung together, and ends of lines of
/// another system are no part of a record.
#[test]
fn marks_and_ends_of_lines_are_no_damage() {
    for (name, log) in work() {
        let marks = log.lines().count() as u64;
        for (changed, expected) in [
            (format!("\u{feff}{log}"), 1),
            (log.replace('\n', "\r\n"), 0),
            (log.replace('\n', "\r\n\r\n \t\r\n"), 0),
            (format!("\u{feff}{}", log.trim_end().replace('\n', "\n\u{feff}")), marks),
        ] {
            let (transcript, read) = one(&changed);
            assert_eq!(said(&transcript), WORK, "{name}");
            assert_eq!(read.bytes.skipped, 0, "{name}");
            assert!(read.diagnostics.iter().all(|it| it.code == "byte-order-mark"), "{name}: {read:?}");
            assert_eq!(read.diagnostics.iter().map(|it| it.count).sum::<u64>(), expected, "{name}");
        }
    }
}

/// E03 (github/copilot-cli#2012): the separators of Unicode are characters of a text, not ends of a line.
#[test]
fn separators_of_unicode_are_text() {
    let odd = "one\u{2028}two\u{2029}three\u{85}four\u{b}";
    for (name, log) in
        formats(&[Step::Asks(odd), Step::Calls(&["t"]), Step::Answers("t", odd), Step::Says(odd)])
    {
        assert!(log.contains('\u{2028}'), "{name}: as it is, not escaped");
        let (transcript, read) = one(&log);
        assert_eq!(
            said(&transcript),
            [format!("U {odd}"), "A >t".to_owned(), format!("T t={odd}"), format!("A {odd}")]
        );
        assert_eq!(kinds(&read), [""; 0], "{name}");
    }
}

/// E03 (git-ai-project/git-ai#2268): a byte that is no UTF-8 costs one character of its record, is named with the line, and
/// nothing behind it is lost.
#[test]
fn bytes_that_are_no_text_cost_one_character() {
    for (name, log) in work() {
        for bad in [&b"\xff"[..], b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f"] {
            let at = log.find("fn main").expect("the result") + 2;
            let damaged = [&log.as_bytes()[..at], bad, &log.as_bytes()[at..]].concat();
            let (transcript, read) = one(&damaged);
            let mut expected = WORK.map(str::to_owned);
            expected[2] = format!("T t=fn{} main", String::from_utf8_lossy(bad));
            assert_eq!(said(&transcript), expected, "{name}");
            let [only] = &read.diagnostics[..] else { panic!("{name}: {read:?}") };
            assert_eq!((only.code, only.line), ("invalid-utf8", transcript.messages[2].line), "{name}");
        }
    }
}

/// A log whose only call has these arguments, in each format: as JSON, or as a text of it.
fn calling(arguments: &str) -> Vec<(&'static str, String)> {
    let logs = work().into_iter().map(|(name, log)| {
        let escaped = |text: &str| {
            let text = serde_json::to_string(text).expect("JSON");
            text.trim_matches('"').to_owned()
        };
        let log = log.replacen(ARGUMENTS, arguments, 1);
        (name, log.replacen(&escaped(ARGUMENTS), &escaped(arguments), 1))
    });
    logs.collect()
}

/// The arguments of the only call.
fn arguments(transcript: &Transcript) -> &str {
    &transcript.call(&transcript.links[0]).expect("a call").arguments
}

/// E10 (serde-rs/json#334): arguments nested ever so deep crash nothing; the record and what stands beside them survive.
#[test]
fn deep_nesting_costs_nothing() {
    for depth in [100, 400, 10_000, 100_000] {
        let nested = format!("{}7{}", "[".repeat(depth), "]".repeat(depth));
        for (name, log) in calling(&format!("{{\"x\":{nested},\"path\":\"/w/a.rs\"}}")) {
            let (transcript, read) = one(&log);
            assert_eq!(said(&transcript), WORK, "{name} {depth}");
            assert_eq!(pairs(&transcript), ["t fn main"], "{name} {depth}");
            assert_eq!(arguments(&transcript).matches('[').count(), depth, "{name}: every level is there");
            assert_eq!(read.bytes.skipped, 0, "{name} {depth}");
            let text = arguments(&transcript).contains(&nested);
            assert_eq!(kinds(&read).contains(&"deep-nesting"), !text && depth > 100, "{name} {depth}");
            let ledger = FactSet::files(&transcript, &effects(&transcript));
            if depth <= 400 || !text {
                assert_eq!(ledger.read_at(MessageIdx(9)), ["/w/a.rs"], "{name} {depth}");
            }
        }
    }
}

/// E10 (earendil-works/pi#8943): numbers are exact in the arguments of calls, in what is written, and in facts.
#[test]
fn large_numbers_stay_exact() {
    let sandbox = Sandbox::new();
    for number in [
        "9007199254740993",
        "-9007199254740993",
        "2512292042121000001",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "340282366920938463463374607431768211457",
        "1e400",
    ] {
        for (name, log) in calling(&format!("{{\"id\":{number},\"path\":\"/w/a.rs\"}}")) {
            let log = log.replacen("Look at a.rs", &format!("Look at ticket {number}"), 1);
            let (transcript, read) = one(&log);
            assert!(said(&transcript)[0].contains(number), "{name}");
            assert_eq!(pairs(&transcript), ["t fn main"], "{name} {number}");
            assert!(arguments(&transcript).contains(number), "{name} {number}: {}", arguments(&transcript));
            assert_eq!(read.bytes.skipped, 0, "{name} {number}");
            let effects = effects(&transcript);
            assert_eq!(
                FactSet::files(&transcript, &effects).read_at(MessageIdx(9)),
                ["/w/a.rs"],
                "{name} {number}"
            );
            if name == "pi" && number.len() > 15 && !number.starts_with('-') {
                let facts = FactSet::extract(&transcript, &effects).facts;
                assert!(facts.iter().any(|fact| fact.value.contains(number)), "{number}: {facts:?}");
            }
        }
        let (_, log) = calling(&format!("{{\"id\":{number},\"path\":\"/w/a.rs\"}}")).swap_remove(2);
        sandbox.file("log.jsonl", &log);
        let ran = sandbox.run(&["convert", "log.jsonl"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stdout.contains(number), "{number}: {}", ran.stdout);
        assert!(arguments(&one(&ran.stdout).0).contains(number), "{number}: read back");
    }
}

/// E10 (langfuse/langfuse#14449): of a field that comes twice the last one counts, and it is told.
#[test]
fn of_a_field_that_comes_twice_the_last_one_counts() {
    for (name, log) in calling(r#"{"path":"/w/b.rs","path":"/w/a.rs"}"#) {
        let (transcript, read) = one(&log);
        let ledger = FactSet::files(&transcript, &effects(&transcript));
        assert_eq!(ledger.read_at(MessageIdx(9)), ["/w/a.rs"], "{name}");
        assert!(kinds(&read).contains(&"duplicate-field"), "{name}");
        // Arguments that are a text stay as they are.
        let text = arguments(&transcript).contains("b.rs");
        assert_eq!(text, ["codex", "openai-chat"].contains(&name), "{name}");
    }
    let (transcript, read) = one(r#"{"role":"user","content":"old","content":"new"}"#);
    assert_eq!((said(&transcript), kinds(&read)), (vec!["U new".to_owned()], vec!["duplicate-field"]));
}

/// Characters of one to four bytes, joined and marked ones among them.
const MIXED: &str = "aé文🚀 e\u{301}👨‍👩‍👧 ß\u{2028}한🇩🇪 \u{1f3f3}\u{fe0f}‍🌈z";

/// E13 (CortexLM/cortex-code#166): a log cut anywhere, inside a character too, is read up to the cut.
#[test]
fn a_log_cut_anywhere_is_read_to_the_cut() {
    for (name, log) in
        formats(&[Step::Asks(MIXED), Step::Calls(&["t"]), Step::Answers("t", MIXED), Step::Says(MIXED)])
    {
        let ends: Vec<usize> = log.match_indices('\n').map(|(at, _)| at).collect();
        let mut most = 0;
        for cut in 0..=log.len() {
            let read = look(&log.as_bytes()[..cut]);
            let count: usize = read.sessions.iter().map(|it| it.messages.len()).sum();
            assert!(count >= most, "{name} {cut}");
            most = count;
            let whole = cut == 0 || ends.contains(&cut) || ends.contains(&(cut - 1));
            let unknown = read.format.is_none() && cut > 0;
            assert_eq!(read.bytes.skipped > 0, !whole || unknown, "{name} {cut}: {:?}", read.bytes);
        }
        assert_eq!(most, 4, "{name}");
    }
}

/// E13 (BaseIntelligence/bounty-challenge#4402): a text cut to any size is cut between characters.
#[test]
fn texts_are_cut_between_characters() {
    let text = MIXED.repeat(6);
    for tokenizer in [Tokenizer::O200k, Tokenizer::Cl100k, Tokenizer::Heuristic] {
        for limit in 0..=tokenizer.count(&text) + 1 {
            let cut = clip(&text, limit, tokenizer);
            let Some((head, tail)) = cut.split_once("\n[... ") else {
                assert_eq!(cut, text, "{tokenizer} {limit}");
                continue;
            };
            let tail = tail.split_once("...]\n").expect("the end of the notice").1;
            assert!(text.starts_with(head) && text.ends_with(tail), "{tokenizer} {limit}");
        }
    }
}

/// E13 (BaseIntelligence/bounty-challenge#5094): a session of such texts is compacted at any size of window and summary.
#[test]
fn any_budget_cuts_texts_of_wide_characters() {
    let talk: Vec<Step<'_>> = (0..20)
        .flat_map(|_| [Step::Asks(MIXED), Step::Calls(&["t"]), Step::Answers("t", MIXED), Step::Says(MIXED)])
        .collect();
    let (_, log) = formats(&talk).swap_remove(3);
    let sandbox = Sandbox::new();
    sandbox.file("log.jsonl", log);
    for window in (400..1_000).step_by(97) {
        let budget = (window / 11).to_string();
        let ran = sandbox.run(&[
            "replay",
            "log.jsonl",
            "--window",
            &window.to_string(),
            "--summary-tokens",
            &budget,
        ]);
        assert!([0, 2, 3].contains(&ran.code) && !ran.stderr.contains("panicked"), "{window}: {ran:?}");
        assert!(!ran.stderr.contains("internal"), "{window}: {ran:?}");
    }
}
