//! Rows of what each system does to results, with words of our own.

use super::*;
use crate::harness::{Block, Image};
use crate::profile::section;
use crate::testing::part;

fn rules(name: &str) -> OutputRules {
    section::<OutputRules>(part(name), "outputs").expect("valid rules")
}

fn sven(tokens: usize) -> OutputRules {
    let mut rules = rules("sven");
    if let Some(caps) = &mut rules.cap {
        caps.tokens = tokens;
    }
    rules
}

fn capped(tokens: usize, tool: &str, text: &str) -> String {
    cap(text, tool, &sven(tokens)).expect("no error").into_owned()
}

fn lines(template: &str, range: std::ops::Range<usize>) -> String {
    range.map(|number| template.replace("{}", &number.to_string())).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_fits_stays_and_no_allowance_is_no_cap() {
    let exact = "é".repeat(10);
    for tool in ["shell", "read_file", "grep", "other"] {
        for (tokens, text) in [(5, exact.as_str()), (5, ""), (0, "much longer than nothing"), (0, "")] {
            assert!(matches!(cap(text, tool, &sven(tokens)), Ok(Cow::Borrowed(same)) if same == text));
        }
    }
    for name in ["opal", "pi", "pi-0.73", "lis", "operator-use"] {
        let long = "x".repeat(100_000);
        assert!(matches!(cap(&long, "shell", &rules(name)), Ok(Cow::Borrowed(_))), "{name}");
    }
}

#[test]
fn each_tool_has_its_shape() {
    let text = lines("row {}", 0..100);
    let marks = [
        (
            "lines / ",
            ["shell", "run_terminal_command", "gdb", "gdb_command", "gdb_interrupt", "gdb_wait_stopped"]
                .as_slice(),
        ),
        ("use read_file with", &["read_file", "buf_read", "context_read"]),
        (
            "more matches omitted",
            &[
                "grep",
                "search_codebase",
                "read_lints",
                "buf_grep",
                "context_grep",
                "search_knowledge",
                "list_knowledge",
                "memory",
            ],
        ),
        ("content truncated to fit", &["fs", "edit_file", "", "Shell"]),
    ];
    for (mark, tools) in marks {
        for tool in tools {
            assert!(capped(10, tool, &text).contains(mark), "{tool}");
        }
    }
}

#[test]
fn long_results_keep_whole_lines() {
    // 300 lines of 6, 7 and 8 bytes with their line feeds: 2_289 bytes.
    let rows = lines("row {}", 0..300);
    assert_eq!(rows.len(), 2_289);
    let table = [
        (
            10,
            "shell",
            rows.clone(),
            format!(
                "{}\n[... 295 lines / 2249 bytes omitted ...]\n{}",
                lines("row {}", 0..3),
                lines("row {}", 298..300)
            ),
        ),
        (
            25,
            "read_file",
            rows.clone(),
            format!(
                "{}\n[... 286 lines omitted (2189 bytes); use read_file with offset/limit to see more ...]\n{}",
                lines("row {}", 0..8),
                lines("row {}", 294..300)
            ),
        ),
        (
            25,
            "grep",
            rows.clone(),
            format!(
                "{}\n[... 285 more matches omitted (2189 bytes); use a more specific pattern to see them ...]",
                lines("row {}", 0..15)
            ),
        ),
        (
            10,
            "other",
            rows,
            format!(
                "{}\n\n[... 2249 bytes omitted; content truncated to fit context budget ...]",
                lines("row {}", 0..6)
            ),
        ),
        (
            5,
            "other",
            format!("head\n{}", "t".repeat(50)),
            "head\n\n[... 35 bytes omitted; content truncated to fit context budget ...]".to_owned(),
        ),
        (
            5,
            "other",
            "t".repeat(50),
            format!(
                "{}\n[... 30 bytes omitted; content truncated to fit context budget ...]",
                "t".repeat(20)
            ),
        ),
        (5, "shell", "t".repeat(50), "\n[... 1 lines / 30 bytes omitted ...]\n".to_owned()),
        (
            5,
            "grep",
            "t".repeat(50),
            "\n[... 1 more matches omitted (30 bytes); use a more specific pattern to see them ...]"
                .to_owned(),
        ),
    ];
    for (tokens, tool, text, expect) in table {
        assert_eq!(capped(tokens, tool, &text), expect, "{tool}");
    }
}

#[test]
fn caps_of_sven() {
    let items = |range| lines("item {}", range);
    let finds = |range| lines("found {}: this is here", range);
    let table = [
        (
            "the ends of 200 lines",
            50,
            "shell",
            items(0..200),
            format!("{}\n[... 176 lines / 1489 bytes omitted ...]\n{}", items(0..13), items(189..200)),
        ),
        (
            "less of them",
            20,
            "shell",
            items(0..200),
            format!("{}\n[... 191 lines / 1609 bytes omitted ...]\n{}", items(0..5), items(196..200)),
        ),
        (
            "the ends of a file of 1000 lines",
            50,
            "read_file",
            items(0..1_000),
            format!(
                "{}\n[... 976 lines omitted (8689 bytes); use read_file with offset/limit to see more ...]\n{}",
                items(0..13),
                items(989..1_000)
            ),
        ),
        (
            "the beginning of 1000 lines",
            10,
            "other",
            items(0..1_000),
            format!(
                "{}\n\n[... 8849 bytes omitted; content truncated to fit context budget ...]",
                items(0..5)
            ),
        ),
        (
            "the first of 500 matches",
            50,
            "grep",
            finds(0..500),
            format!(
                "{}\n[... 491 more matches omitted (11689 bytes); use a more specific pattern to see them ...]",
                finds(0..9)
            ),
        ),
        (
            "a short line and a long one",
            5,
            "other",
            format!("{}\n{}", "a".repeat(10), "b".repeat(100)),
            format!(
                "{}\n\n[... 91 bytes omitted; content truncated to fit context budget ...]",
                "a".repeat(10)
            ),
        ),
        (
            "one long line",
            10,
            "other",
            "x".repeat(10_000),
            format!(
                "{}\n[... 9960 bytes omitted; content truncated to fit context budget ...]",
                "x".repeat(40)
            ),
        ),
        (
            "one long line of a command: nothing stays",
            10,
            "shell",
            "x".repeat(10_000),
            "\n[... 1 lines / 9960 bytes omitted ...]\n".to_owned(),
        ),
        (
            "one long line of a file: nothing stays",
            10,
            "read_file",
            "x".repeat(10_000),
            "\n[... 1 lines omitted (9960 bytes); use read_file with offset/limit to see more ...]\n"
                .to_owned(),
        ),
        (
            "one long match: nothing stays",
            10,
            "grep",
            "x".repeat(10_000),
            "\n[... 1 more matches omitted (9960 bytes); use a more specific pattern to see them ...]"
                .to_owned(),
        ),
        (
            "60 and 40 of 2000 lines",
            4_000,
            "shell",
            lines("0123456789", 0..2_000),
            format!(
                "{}\n[... 1900 lines / 5999 bytes omitted ...]\n{}",
                lines("0123456789", 0..60),
                lines("0123456789", 0..40)
            ),
        ),
        ("a line feed over the allowance", 10, "grep", format!("{}\n", "a".repeat(40)), "a".repeat(40)),
        (
            "the same of a command, whose ends have half of it each",
            10,
            "shell",
            format!("{}\n", "a".repeat(40)),
            "\n[... 1 lines / 1 bytes omitted ...]\n".to_owned(),
        ),
        (
            "what a shell has cut itself: nothing stays",
            4_000,
            "shell",
            format!("{0}\n...[10000 bytes omitted]...\n{0}", "x".repeat(10_000)),
            "\n[... 3 lines / 4029 bytes omitted ...]\n".to_owned(),
        ),
        ("exactly the allowance", 10, "other", "x".repeat(40), "x".repeat(40)),
        (
            "a byte over it",
            10,
            "other",
            "x".repeat(41),
            format!("{}\n[... 1 bytes omitted; content truncated to fit context budget ...]", "x".repeat(40)),
        ),
        ("no allowance is no cap", 0, "other", "x".repeat(10_000), "x".repeat(10_000)),
        ("nothing", 10, "other", String::new(), String::new()),
    ];
    for (name, tokens, tool, text, expect) in table {
        assert_eq!(capped(tokens, tool, &text), expect, "{name}");
    }
}

#[test]
fn a_shell_keeps_60_and_40_lines_at_most() {
    let text = lines("r", 0..5_000);
    let kept = capped(1_000, "shell", &text);
    assert_eq!(kept.lines().count(), 101);
    assert_eq!(kept.lines().nth(60), Some("[... 4900 lines / 5999 bytes omitted ...]"));
    let file = capped(1_000, "read_file", &text);
    assert_eq!(file.lines().filter(|line| *line == "r").count(), 2_000);
}

#[test]
fn a_text_that_only_line_ends_make_too_long_loses_its_end_without_a_notice() {
    let crlf = "abc\r\ndef\r\nghi\r\njk\r\n".to_owned();
    let blank = format!("{}seen and lost", "\n".repeat(12));
    let table = [
        // A trailing line feed is over the allowance.
        (5, "grep", format!("{}\n", "a".repeat(20)), "a".repeat(20)),
        // Joined by line feeds alone the text fits.
        (4, "grep", crlf.clone(), "abc\r\ndef\r\nghi\r\nj".to_owned()),
        (4, "shell", crlf.clone(), "abc\r\ndef\r\nghi\r\nj".to_owned()),
        (4, "read_file", crlf, "abc\r\ndef\r\nghi\r\nj".to_owned()),
        // Leading blank lines cost nothing.
        (5, "grep", blank.clone(), format!("{}seen and", "\n".repeat(12))),
        // Beginning and end overlap.
        (5, "read_file", format!("{}z", "\n".repeat(24)), "\n".repeat(20)),
    ];
    for (tokens, tool, text, expect) in table {
        assert_eq!(capped(tokens, tool, &text), expect, "{tool} {text:?}");
    }
}

#[test]
fn line_ends_of_the_tail_count_and_a_bare_carriage_return_is_text() {
    let blank_tail = format!("abc{}", "\n".repeat(40));
    // 40 lines: 1 + 7 in front (10 bytes), 11 behind (10 bytes).
    assert_eq!(
        capped(5, "shell", &blank_tail),
        format!("abc{}\n[... 21 lines / 23 bytes omitted ...]\n{}", "\n".repeat(7), "\n".repeat(10))
    );
    let bare = format!("{}end\r", "aaaa\n".repeat(10));
    assert!(capped(5, "shell", &bare).ends_with("\naaaa\nend\r"));
    let ended = format!("{}end\r\n", "aaaa\r\n".repeat(10));
    assert!(capped(5, "shell", &ended).ends_with("\naaaa\nend"));
}

#[test]
fn a_cut_inside_a_character_fails_unless_it_is_mended() {
    let table = [
        (
            "bytes",
            4,
            "other",
            "a".repeat(15) + &"é".repeat(9),
            "a".repeat(15) + "\n[... 17 bytes omitted; content truncated to fit context budget ...]",
        ),
        (
            "bytes: the cut comes before the search for a line feed",
            4,
            "other",
            "a\n".to_owned() + &"a".repeat(13) + &"é".repeat(9),
            "a\n\n[... 17 bytes omitted; content truncated to fit context budget ...]".to_owned(),
        ),
        (
            "line ends alone are too long: matches",
            4,
            "grep",
            "ab\r\né0\r\né1\r\naaaé".to_owned(),
            "ab\r\né0\r\né1\r\na".to_owned(),
        ),
        (
            "line ends alone are too long: a command",
            4,
            "shell",
            "ab\r\né0\r\né1\r\naaaé".to_owned(),
            "ab\r\né0\r\né1\r\na".to_owned(),
        ),
        (
            "line ends alone are too long: a file",
            4,
            "read_file",
            "ab\r\né0\r\né1\r\naaaé".to_owned(),
            "ab\r\né0\r\né1\r\na".to_owned(),
        ),
        ("blank lines before it", 4, "grep", "\n".repeat(10) + "aaaaaéé", "\n".repeat(10) + "aaaaa"),
    ];
    for (name, tokens, tool, text, mended) in table {
        let mut rules = sven(tokens);
        let ours = cap(&text, tool, &rules);
        if text.is_char_boundary(tokens * 4) {
            assert!(ours.is_ok(), "{name}");
            continue;
        }
        assert_eq!(ours, Err(OutputError::CharBoundary { at: tokens * 4 }), "{name}");
        rules.mends.push(OutputMend::CharBoundaryFloor);
        assert_eq!(cap(&text, tool, &rules).as_deref(), Ok(mended.as_str()), "{name}");
    }
    // Whole lines are kept, so that nothing is cut inside one.
    assert_eq!(
        capped(4, "shell", &format!("a{}", "é".repeat(20))),
        "\n[... 1 lines / 25 bytes omitted ...]\n"
    );
}

#[test]
fn texts_of_a_result_are_one_unless_an_image_stands_among_them() {
    let rules = sven(5);
    let mut result = outcome("other", &["aaaa bbbb", "cccc dddd eeee"], false);
    assert_eq!(
        cap_outcome(&result, "other", &rules).expect("no error"),
        ["aaaa bbbb\n\n[... 4 bytes omitted; content truncated to fit context budget ...]"]
    );
    result.images.push(Image { low: false });
    assert_eq!(cap_outcome(&result, "other", &rules).expect("no error"), ["aaaa bbbb", "cccc dddd eeee"]);
}

fn outcome<'a>(name: &'a str, texts: &[&'a str], error: bool) -> Outcome<'a> {
    Outcome {
        call_id: None,
        name: (!name.is_empty()).then_some(Cow::Borrowed(name)),
        texts: texts.iter().map(|text| Cow::Borrowed(*text)).collect(),
        images: Vec::new(),
        error,
    }
}

fn tool(results: Vec<Outcome<'_>>) -> Entry<'_> {
    Entry::message(Role::Tool, results.into_iter().map(Block::Result).collect())
}

/// What stands there of each result: none where it stays.
fn shown(entries: &[Entry<'_>], rules: &OutputRules, session: Session<'_>) -> Vec<Option<String>> {
    let text = |pruned: Pruned| match pruned.fate {
        Fate::Stays => None,
        Fate::Shortened(text) | Fate::Cleared(text) => Some(text),
    };
    prune(entries, rules, session).into_iter().map(text).collect()
}

#[test]
fn lis_prunes_up_to_its_boundary_by_size_and_by_tool() {
    use Policy::{Auto, KeepAll, KeepNone};
    let entries = [
        Entry::text(Role::User, "go"),
        tool(vec![outcome("write_file", &["out"], false)]),
        tool(vec![outcome("read_file", &["out"], false)]),
        tool(vec![outcome("", &["out"], false)]),
        Entry::text(Role::Assistant, "on"),
        tool(vec![outcome("edit_file", &["out"], false)]),
    ];
    let tokens = [None, Some(300), Some(200), Some(100), None, Some(50)];
    let unknown = [None; 6];
    // Policy, boundary, most, tokens; the first entry that is protected; what stands there.
    let table: [(Policy, Option<usize>, u64, &[Option<u64>], Option<usize>, [&str; 4]); 13] = [
        (Auto, None, 2_000, &tokens, None, ["", "", "", ""]),
        (KeepNone, None, 0, &tokens, None, ["", "", "", ""]),
        (Auto, Some(5), 0, &tokens, None, ["write_file", "", "pruned", "edit_file"]),
        (Auto, Some(5), 49, &tokens, None, ["write_file", "", "pruned", "edit_file"]),
        (Auto, Some(5), 50, &tokens, Some(5), ["write_file", "", "pruned", ""]),
        (Auto, Some(5), 150, &tokens, Some(3), ["write_file", "", "", ""]),
        (Auto, Some(5), 649, &tokens, Some(2), ["write_file", "", "", ""]),
        (Auto, Some(5), 650, &tokens, Some(1), ["", "", "", ""]),
        (Auto, Some(3), 100, &tokens, Some(3), ["write_file", "", "", ""]),
        (Auto, Some(5), 1, &unknown, Some(1), ["", "", "", ""]),
        (KeepNone, Some(3), 2_000, &tokens, Some(1), ["write_file", "read_file", "pruned", ""]),
        (KeepAll, Some(5), 50, &tokens, Some(5), ["write_file", "", "pruned", ""]),
        (KeepAll, None, 50, &tokens, None, ["", "", "", ""]),
    ];
    for (policy, boundary, most, tokens, from, expect) in table {
        let mut rules = rules("lis");
        if let Some(pruning) = &mut rules.prune {
            pruning.policy = policy;
            pruning.protect = Some(Protect { most, measure: Measure::Tokens });
        }
        let session = Session { boundary, tokens };
        assert_eq!(keep_from(&entries, &rules, session), from, "{policy:?} {boundary:?} {most}");
        let expect: Vec<Option<String>> =
            expect.iter().map(|text| (!text.is_empty()).then(|| (*text).to_owned())).collect();
        assert_eq!(shown(&entries, &rules, session), expect, "{policy:?} {boundary:?} {most}");
    }
    let mut mended = rules("lis");
    mended.mends.push(OutputMend::KeepAllKeeps);
    if let Some(pruning) = &mut mended.prune {
        pruning.policy = KeepAll;
        pruning.protect = None;
    }
    let session = Session { boundary: Some(5), tokens: &tokens };
    assert_eq!(shown(&entries, &mended, session), vec![None; 4]);
}

#[test]
fn pruned_pairs_of_lis() {
    let pair = |tool: &'static str, id: &'static str| {
        let call =
            crate::harness::Call { id: id.into(), name: tool.into(), arguments: "{}".into(), kind: None };
        let result = Outcome { call_id: Some(id.into()), ..outcome(tool, &["the whole output"], false) };
        [
            Entry::message(Role::Assistant, vec![Block::Call(call)]),
            Entry::message(Role::Tool, vec![Block::Result(result)]),
        ]
    };
    let system = || Entry::text(Role::System, "rules");
    let one = || std::iter::once(system()).chain(pair("ask_date", "a")).collect::<Vec<_>>();
    let two = || one().into_iter().chain(pair("ask_date", "b")).collect::<Vec<_>>();
    let name = || Some("ask_date".to_owned());
    for (title, entries, tokens, boundary, policy, most, expect, messages) in [
        ("no options: nothing is protected", one(), vec![], Some(2), Policy::Auto, None, vec![name()], 4),
        (
            "within the window that is kept",
            one(),
            vec![None, None, Some(500)],
            Some(2),
            Policy::KeepAll,
            Some(2_000),
            vec![None],
            4,
        ),
        (
            "none is kept",
            one(),
            vec![None, None, Some(500)],
            Some(2),
            Policy::KeepNone,
            Some(2_000),
            vec![name()],
            4,
        ),
        (
            "behind the boundary",
            one(),
            vec![None, None, Some(500)],
            Some(0),
            Policy::KeepNone,
            Some(2_000),
            vec![None],
            4,
        ),
        (
            "the newer of two fits",
            two(),
            vec![None, None, Some(200), None, Some(50)],
            Some(4),
            Policy::Auto,
            Some(100),
            vec![name(), None],
            6,
        ),
    ] {
        let mut rules = rules("lis");
        let pruning = rules.prune.as_mut().expect("rules of pruning");
        pruning.policy = policy;
        pruning.protect = most.map(|most| Protect { most, measure: Measure::Tokens });
        let session = Session { boundary, tokens: &tokens };
        assert_eq!(shown(&entries, &rules, session), expect, "{title}");
        // The result that stands for it answers the same call, and the user has the last word.
        let pairs = crate::profile::Profile::named("lis").expect("an embedded profile").expect("valid").pairs;
        let sent = crate::pairs::repaired(entries, &pairs);
        assert_eq!(sent.len(), messages, "{title}: messages");
        let ids = |sent: &[Entry<'_>]| {
            let calls: Vec<String> =
                sent.iter().flat_map(Entry::calls).map(|call| call.id.to_string()).collect();
            let results: Vec<String> = sent
                .iter()
                .flat_map(Entry::results)
                .filter_map(|result| result.call_id.as_deref().map(str::to_owned))
                .collect();
            (calls, results)
        };
        let (calls, results) = ids(&sent);
        assert_eq!(calls, results, "{title}: ids");
    }
}

#[test]
fn operator_use_shortens_or_clears_old_results() {
    const CLEARED: &str = "[tool output cleared to save context]";
    let sizes = [150, 200, 201, 2_000, 2_001];
    let texts: Vec<String> = sizes.iter().map(|size| "ö".repeat(*size)).collect();
    let old: Vec<Outcome<'_>> = texts.iter().map(|text| outcome("read", &[text.as_str()], false)).collect();
    let failed = "f".repeat(900);
    let newest = "n".repeat(400);
    let entries = [
        tool(old),
        tool(vec![outcome("bash", &[&failed], true)]),
        Entry::text(Role::User, "next"),
        tool(vec![outcome("bash", &[&newest], false)]),
    ];
    let with = |most: u64, change: fn(&mut PruneRules)| {
        let mut rules = rules("operator-use");
        if let Some(pruning) = &mut rules.prune {
            pruning.enabled = true;
            pruning.protect = Some(Protect { most, measure: Measure::CodePoints });
            change(pruning);
        }
        rules
    };
    let cleared = || Some(CLEARED.to_owned());
    let middle = format!("{0}\n...\n{0}", "ö".repeat(200));
    let old =
        |newest: Option<String>| vec![None, None, cleared(), cleared(), Some(middle.clone()), None, newest];
    let session = Session::default();
    assert_eq!(shown(&entries, &rules("operator-use"), session), vec![None; 7], "it is off");
    assert_eq!(shown(&entries, &with(160_000, |_| {}), session), vec![None; 7]);
    assert_eq!(shown(&entries, &with(1_300, |_| {}), session), old(None));
    assert_eq!(shown(&entries, &with(400, |_| {}), session), old(None));
    assert_eq!(shown(&entries, &with(399, |_| {}), session), old(cleared()));
    assert_eq!(shown(&entries, &with(0, |_| {}), session), old(cleared()));

    let no_tail: fn(&mut PruneRules) = |pruning| {
        if let Some(trim) = &mut pruning.trim {
            (trim.head, trim.tail) = (3, 0);
        }
    };
    let fifth = |rules: &OutputRules| shown(&entries, rules, session).get(4).cloned().flatten();
    assert_eq!(fifth(&with(0, no_tail)), Some(format!("ööö\n...\n{}", "ö".repeat(2_001))));
    let mut mended = with(0, no_tail);
    mended.mends.push(OutputMend::EmptyTail);
    assert_eq!(fifth(&mended), Some("ööö\n...\n".to_owned()));
}

#[test]
fn systems_without_pruning_keep_every_result() {
    let entries = [tool(vec![outcome("read", &["x"], false)])];
    for name in ["opal", "pi", "pi-0.73", "sven"] {
        assert_eq!(
            shown(&entries, &rules(name), Session { boundary: Some(0), tokens: &[] }),
            [None],
            "{name}"
        );
        assert_eq!(keep_from(&entries, &rules(name), Session::default()), None);
    }
}

#[test]
fn results_enter_a_session_by_the_name_of_their_tool_else_by_its_kind() {
    let log = "U: go\nA{a=grep x,b=Grep y,c=gdb z,d=Bash ls,e=other q,f=Read /s}: now\n\
        T(a): word x40\nT(b): word x40\nT(c): word x40\nT(d): word x40\nT(e): word x40\nT(f): short\nA: done";
    let session = crate::testing::transcript(log);
    let kinds = crate::replay::kinds(&crate::replay::effects(&session));
    let (held, changed) = super::capped(&session, &kinds, &sven(10)).expect("results are over 40 bytes");
    let texts: Vec<&str> =
        held.links.iter().filter_map(|link| held.result(link)).map(|result| result.text.as_str()).collect();
    let (matches, ends, bytes) = ("more matches omitted", " lines / ", "content truncated");
    for (at, notice) in [matches, matches, ends, ends, bytes, "short"].into_iter().enumerate() {
        assert!(texts[at].contains(notice), "{at}: {}", texts[at]);
    }
    assert_eq!(changed.len(), 5);
    // Nothing else differs, and what is within the allowance is no other session.
    let mut again = held.clone();
    for (link, old) in session.links.iter().zip(held.links) {
        assert_eq!(*link, old);
        let text = session.result(link).expect("answered").text.clone();
        if let Some(crate::transcript::Part::Result(result)) = link.result.and_then(|at| again.part_mut(at)) {
            result.text = text;
        }
    }
    assert_eq!(again, session);
    assert_eq!(super::capped(&session, &kinds, &sven(100)), None);
    assert_eq!(super::capped(&session, &kinds, &rules("lis")), None);
}

#[test]
fn a_cap_inside_a_character_moves_before_it_in_a_replay() {
    let session = crate::testing::transcript("U: go\nA{a}: now\nT(a): ééééééééééééééééééééé\nA: done");
    let rules = sven(1);
    for bytes in 1..8 {
        let mut rules = rules.clone();
        if let Some(caps) = &mut rules.cap {
            caps.bytes_per_token = bytes;
        }
        let (held, _) = super::capped(&session, &[], &rules).expect("it is over the allowance");
        let text = &held.result(&held.links[0]).expect("answered").text;
        assert!(
            text.starts_with(&"é".repeat(bytes / 2)) && !text.starts_with(&"é".repeat(bytes / 2 + 1)),
            "{text}"
        );
    }
}
