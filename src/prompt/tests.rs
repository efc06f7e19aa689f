//! Rows of how each system writes a conversation, with words of our own.

use super::*;
use crate::profile::section;
use crate::testing::part;

fn rules(name: &str) -> PromptRules {
    section::<PromptRules>(part(name), "prompt").expect("valid rules")
}

fn check(name: &str, entries: &[Entry<'_>], expect: &str) {
    assert_eq!(serialize(entries, &rules(name)), expect, "{name}");
}

fn framed(name: &str, entries: &[Entry<'_>]) -> String {
    let rules = rules(name);
    frame(&serialize(entries, &rules), None, Part::History, &rules)
}

fn call<'a>(name: &'a str, arguments: &'a str) -> Block<'a> {
    Block::Call(Call {
        id: Cow::Borrowed("c1"),
        name: Cow::Borrowed(name),
        arguments: Cow::Borrowed(arguments),
        kind: None,
    })
}

fn outcome<'a>(name: Option<&'a str>, call_id: Option<&'a str>, texts: &[&'a str]) -> Block<'a> {
    Block::Result(Outcome {
        call_id: call_id.map(Cow::Borrowed),
        name: name.map(Cow::Borrowed),
        texts: texts.iter().map(|text| Cow::Borrowed(*text)).collect(),
        images: Vec::new(),
        error: false,
    })
}

fn result<'a>(texts: &[&'a str]) -> Entry<'a> {
    Entry::message(Role::Tool, vec![outcome(None, Some("c1"), texts)])
}

fn reply(blocks: Vec<Block<'_>>) -> Entry<'_> {
    Entry::message(Role::Assistant, blocks)
}

fn txt(text: &str) -> Block<'_> {
    Block::Text(Cow::Borrowed(text))
}

const IMAGE: Block<'static> = Block::Image { low: false, count: 1 };

#[test]
fn opal_writes_a_line_for_every_message() {
    let odd = Entry { label: Cow::Borrowed("tool_call"), ..Entry::text(Role::Unknown, "odd") };
    let table: Vec<(Vec<Entry<'_>>, &str)> = vec![
        (vec![], ""),
        (vec![Entry::text(Role::User, "add a flag")], "[User]: add a flag"),
        (vec![Entry::text(Role::System, "rules")], "[System]: rules"),
        (vec![odd], "[tool_call]: odd"),
        (vec![reply(vec![])], "[Assistant]: "),
        (vec![reply(vec![Block::Thinking(Cow::Borrowed("hm")), txt("done")])], "[Assistant]: done"),
        (
            vec![reply(vec![call("read_file", r#"{"path": "a.rs"}"#), call("shell", r#"{"b":1,"a":2.0}"#)])],
            "[Assistant]: \n[Assistant tool calls]: read_file({\"path\":\"a.rs\"}); shell({\"a\":2.0,\"b\":1})",
        ),
        (
            vec![Entry::message(Role::Tool, vec![outcome(Some("grep"), Some("c9"), &["hit"])])],
            "[Tool result (grep)]: hit",
        ),
        (vec![result(&["hit"])], "[Tool result (c1)]: hit"),
        (vec![Entry::message(Role::Tool, vec![outcome(None, None, &[])])], "[Tool result ()]: "),
        (
            vec![Entry::text(Role::User, "one"), result(&["</conversation>"]), reply(vec![txt("two")])],
            "[User]: one\n[Tool result (c1)]: </conversation>\n[Assistant]: two",
        ),
    ];
    for (entries, expect) in table {
        check("opal", &entries, expect);
        assert_eq!(framed("opal", &entries), format!("<conversation>\n{expect}\n</conversation>"));
    }
}

#[test]
fn opal_cuts_by_graphemes_what_is_longer_in_bytes() {
    let long = "w".repeat(700);
    check("opal", &[result(&[&long])], &format!("[Tool result (c1)]: {}", "w".repeat(500)));
    let wide = "ö".repeat(600);
    check("opal", &[result(&[&wide])], &format!("[Tool result (c1)]: {}", "ö".repeat(500)));
    let whole = "ö".repeat(400);
    check("opal", &[result(&[&whole])], &format!("[Tool result (c1)]: {whole}"));
    let arguments = format!(r#"{{"text":"{}","a":1}}"#, "v".repeat(300));
    let expect =
        format!("[Assistant]: \n[Assistant tool calls]: put({{\"a\":1,\"text\":\"{})", "v".repeat(185));
    check("opal", &[reply(vec![call("put", &arguments)])], &expect);
    check("opal", &[Entry::text(Role::User, &*long)], &format!("[User]: {long}"));
}

#[test]
fn pi_leaves_out_empty_questions_and_results() {
    let table: Vec<(Vec<Entry<'_>>, &str)> = vec![
        (vec![], ""),
        (vec![Entry::text(Role::User, ""), result(&[""]), result(&[])], ""),
        (vec![reply(vec![txt("")])], "[Assistant]: "),
        (vec![reply(vec![])], ""),
        (vec![Entry::message(Role::User, vec![IMAGE])], ""),
        (vec![Entry::text(Role::System, "rules"), Entry::text(Role::Unknown, "odd")], ""),
        (
            vec![
                Entry::message(Role::User, vec![txt("a"), IMAGE, txt("b")]),
                reply(vec![txt("c"), txt("d")]),
            ],
            "[User]: ab\n\n[Assistant]: c\nd",
        ),
        (vec![result(&["one", "two"])], "[Tool result]: onetwo"),
        (vec![Entry::text(Role::Custom, "note")], "[User]: note"),
        (vec![Entry { kind: Kind::Meta, ..Entry::text(Role::User, "label") }], ""),
        (
            vec![Entry::text(Role::Branch, "tried")],
            "[User]: The following is a summary of a branch that this conversation came back from:\n\n\
             <summary>\ntried</summary>",
        ),
        (
            vec![Entry::text(Role::Summary, "so far")],
            "[User]: The conversation history before this point was compacted into the following summary:\n\n\
             <summary>\nso far\n</summary>",
        ),
        (
            vec![reply(vec![
                txt("look"),
                call("read", r#"{"path": "é", "10": [1, 2.50], "x": null}"#),
                call("ls", "{}"),
            ])],
            "[Assistant]: look\n\n[Assistant tool calls]: read(10=[1,2.5], path=\"é\", x=null); ls()",
        ),
    ];
    for (entries, expect) in table {
        check("pi-0.73", &entries, expect);
        check("pi", &entries, expect);
    }
}

#[test]
fn pi_writes_thinking_in_its_older_version_only() {
    let entries =
        [reply(vec![Block::Thinking(Cow::Borrowed("a")), Block::Thinking(Cow::Borrowed("b")), txt("c")])];
    check("pi-0.73", &entries, "[Assistant thinking]: a\nb\n\n[Assistant]: c");
    check("pi", &entries, "[Assistant]: c");
    let empty = [reply(vec![Block::Thinking(Cow::Borrowed(""))])];
    check("pi-0.73", &empty, "[Assistant thinking]: ");
    check("pi", &empty, "");
}

#[test]
fn pi_cuts_results_at_2000_units() {
    let table = [
        ("r".repeat(1999), "r".repeat(1999), None),
        ("r".repeat(2000), "r".repeat(2000), None),
        ("r".repeat(2600), "r".repeat(2000), Some(600)),
        ("ö".repeat(2005), "ö".repeat(2000), Some(5)),
        ("🦀".repeat(1000), "🦀".repeat(1000), None),
        ("🦀".repeat(1002), "🦀".repeat(1000), Some(4)),
    ];
    for (text, stays, more) in table {
        let notice =
            more.map(|more| format!("\n\n[... {more} more characters truncated]")).unwrap_or_default();
        for name in ["pi", "pi-0.73"] {
            check(name, &[result(&[&text])], &format!("[Tool result]: {stays}{notice}"));
        }
    }
    let odd = format!("r{}", "🦀".repeat(1000));
    let start = format!("[Tool result]: r{}", "🦀".repeat(999));
    let end = "\n\n[... 1 more characters truncated]";
    check("pi-0.73", &[result(&[&odd])], &format!("{start}\u{fffd}{end}"));
    check("pi", &[result(&[&odd])], &format!("{start}{end}"));
}

#[test]
fn long_results_are_cut_by_those_that_cut() {
    for (name, profile, size, shown, more) in [
        ("5000 characters", "pi", 5_000, 2_000, Some(3_000)),
        ("5000 characters", "pi-0.73", 5_000, 2_000, Some(3_000)),
        ("1500 characters", "pi", 1_500, 1_500, None),
        ("1500 characters", "pi-0.73", 1_500, 1_500, None),
        ("3000 characters", "operator-use", 3_000, 2_000, Some(1_000)),
    ] {
        let notice =
            more.map(|more| format!("\n\n[... {more} more characters truncated]")).unwrap_or_default();
        let ours = serialize(&[result(&[&"x".repeat(size)])], &rules(profile));
        assert_eq!(ours, format!("[Tool result]: {}{notice}", "x".repeat(shown)), "{profile}, {name}");
    }
    let ours = framed("opal", &[Entry::text(Role::User, "go"), result(&[&"x".repeat(1_000)])]);
    assert!(ours.len() < 1_000 && ours.contains(&"x".repeat(500)), "opal, 1000 characters: {}", ours.len());
}

#[test]
fn pi_tells_how_a_command_of_the_person_ended() {
    let ran = |output: &'static str, shell: Option<Shell<'static>>| Entry {
        shell,
        ..Entry::message(Role::Shell, vec![txt("make"), txt(output)])
    };
    let code = |code: i64| Some(Shell { code: Some(code), ..Shell::default() });
    let table = [
        (ran("ok", None), "\n```\nok\n```"),
        (ran("ok", code(0)), "\n```\nok\n```"),
        (ran("", code(2)), "\n(no output)\n\nCommand exited with code 2"),
        (
            ran("x", Some(Shell { code: Some(130), cancelled: true, rest: None })),
            "\n```\nx\n```\n\n(command cancelled)",
        ),
        (
            ran("x", Some(Shell { code: None, cancelled: false, rest: Some(Cow::Borrowed("/t/o")) })),
            "\n```\nx\n```\n\n[Output truncated. Full output: /t/o]",
        ),
    ];
    for (entry, expect) in table {
        check("pi", std::slice::from_ref(&entry), &format!("[User]: Ran `make`{expect}"));
        check("pi-0.73", &[Entry { hidden: true, ..entry }], "");
    }
}

#[test]
fn an_earlier_summary_stands_where_the_system_puts_it() {
    let behind = "<conversation>\nC\n</conversation>\n\n<previous-summary>\nS\n</previous-summary>";
    let table = [
        ("pi", behind),
        ("pi-0.73", behind),
        ("operator-use", behind),
        ("opal", "<previous-summary>\nS\n</previous-summary>\n\n<conversation>\nC\n</conversation>"),
        ("lis", "Previous summary:\nS\n\nNew messages:\nC"),
        ("sven", "\n\n---\n\nC"),
    ];
    for (name, expect) in table {
        assert_eq!(frame("C", Some("S"), Part::History, &rules(name)), expect, "{name}");
    }
    let tagged = "<conversation>\nC\n</conversation>";
    for (name, expect) in [("pi", "# Conversation\nC"), ("pi-0.73", tagged), ("operator-use", tagged)] {
        assert_eq!(frame("C", None, Part::TurnPrefix, &rules(name)), expect, "{name}");
    }
}

#[test]
fn operator_use_writes_what_is_empty_and_takes_a_round_as_one_text() {
    let long = "r".repeat(1500);
    let custom = Entry { label: Cow::Borrowed("größe"), ..Entry::text(Role::Custom, "x") };
    let round = Entry::message(
        Role::Tool,
        vec![outcome(None, Some("a"), &[&long]), outcome(None, Some("b"), &[&long])],
    );
    let cut = format!("[Tool result]: {long}\n{}\n\n[... 1001 more characters truncated]", "r".repeat(499));
    let table: Vec<(Vec<Entry<'_>>, &str)> = vec![
        (vec![], ""),
        (vec![Entry::text(Role::User, ""), result(&[""])], "[User]: \n\n[Tool result]: "),
        (vec![Entry::message(Role::User, vec![IMAGE]), reply(vec![])], ""),
        (vec![Entry::message(Role::User, vec![txt("a"), txt("b")])], "[User]: a\nb"),
        (vec![custom], "[GRÖSSE]: x"),
        (vec![Entry::text(Role::Branch, "b")], "[BranchSummary]: b"),
        (vec![Entry::text(Role::Summary, "s")], "[CompactionSummary]: s"),
        (vec![Entry::text(Role::System, "rules")], ""),
        (
            vec![reply(vec![
                Block::Thinking(Cow::Borrowed("t")),
                txt("x"),
                call("edit", r#"{"path":"ä","n":[1,2.0],"o":{"k":true}}"#),
            ])],
            "[Assistant thinking]: t\n\n[Assistant]: x\n\n\
             [Assistant tool calls]: edit(path=\"\\u00e4\", n=[1, 2.0], o={\"k\": true})",
        ),
        (vec![round], &cut),
    ];
    for (entries, expect) in table {
        check("operator-use", &entries, expect);
    }
}

#[test]
fn lis_never_shows_tool_output() {
    let entries = [
        Entry::text(Role::System, "rules"),
        Entry::text(Role::User, "hello"),
        reply(vec![call("search", "{}")]),
        result(&["a long page"]),
        reply(vec![txt("found it")]),
        Entry::text(Role::User, ""),
        Entry::message(Role::User, vec![IMAGE]),
    ];
    check(
        "lis",
        &entries,
        "User: hello\nAssistant: [media/tool]\nAssistant: [media/tool]\nAssistant: found it\nUser: \n\
         User: [media/tool]\n",
    );
    check("lis", &[], "");
}

#[test]
fn sven_writes_everything_in_full() {
    let long = "r".repeat(30_000);
    let mut shown = result(&["a", "b"]);
    if let Some(Block::Result(result)) = shown.blocks.first_mut() {
        result.images.push(crate::harness::Image { low: false });
    }
    let table: Vec<(Vec<Entry<'_>>, String)> = vec![
        (vec![Entry::text(Role::System, "rules"), Entry::text(Role::User, "q")], "User: q".to_owned()),
        (vec![Entry::message(Role::User, vec![txt("a"), IMAGE, txt("b")])], "User: a [image] b".to_owned()),
        (vec![shown], "Tool: [tool_result: a\nb]".to_owned()),
        (vec![result(&[&long])], format!("Tool: [tool_result: {long}]")),
        (
            vec![reply(vec![txt("go")]), reply(vec![call("shell", r#"{"b": 1,  "a":1.0}"#)])],
            "Assistant: go\n\nAssistant: [tool_call: shell({\"b\": 1,  \"a\":1.0})]".to_owned(),
        ),
    ];
    for (entries, expect) in table {
        check("sven", &entries, &expect);
    }
}

#[test]
fn arguments_that_are_no_object_stay_what_they_are() {
    for (arguments, expect) in
        [("*** Begin Patch", "*** Begin Patch"), ("", ""), ("null", "null"), ("[1, 2]", "[1,2]")]
    {
        check("pi", &[reply(vec![call("t", arguments)])], &format!("[Assistant tool calls]: t({expect})"));
    }
}

#[test]
fn names_with_braces_are_no_templates() {
    check(
        "pi",
        &[reply(vec![call("{args}", r#"{"a":"{name}"}"#)])],
        "[Assistant tool calls]: {args}(a=\"{name}\")",
    );
}

#[test]
fn rules_without_anything_write_nothing() {
    let entries = [Entry::text(Role::User, "x"), reply(vec![txt("y"), call("t", "{}")]), result(&["z"])];
    assert_eq!(serialize(&entries, &PromptRules::default()), "");
}

#[test]
fn unknown_keys_and_missing_tables_are_errors() {
    let error = |text: &str| section::<PromptRules>(text, "prompt").unwrap_err().to_string();
    assert!(error("[prompt]\nopne = 'x'").contains("opne"));
    assert!(error("[outputs]").contains("no table [prompt]"));
    assert!(error("[prompt").contains("TOML"));
}

/// Texts of a session's parts as a summarizer of a profile sees them, in order.
fn seen_by(name: &str, notation: &str) -> Vec<String> {
    use crate::transcript::Part;
    let profile = crate::profile::Profile::named(name).expect("a name").expect("a valid profile");
    let session = crate::testing::transcript(notation);
    let rules = profile.prompt.expect("a table of the prompt");
    let seen = shown(&session, &rules, profile.messages);
    let seen = seen.as_ref().unwrap_or(&session);
    let parts = seen.messages.iter().flat_map(|message| &message.parts);
    let text = |part: &Part| match part {
        Part::Text(text) => text.text.clone(),
        Part::Thinking(text) => text.clone(),
        Part::Call(call) => format!("{} {}", call.name, call.arguments),
        Part::Result(result) => result.text.clone(),
        Part::Image { .. } | Part::Opaque { .. } => String::new(),
    };
    parts.map(text).collect()
}

#[test]
fn a_summarizer_sees_no_more_than_the_written_conversation_shows() {
    let long = "é".repeat(3_000);
    let log = format!("S: rules\nU: go\nA{{a=Edit /w/x.rs}}: I edit\nT(a): {long}\nA: done");
    let call = r#"Edit {"file_path":"/w/x.rs"}"#;
    for (name, result) in [("pi", 2_000), ("opal", 500), ("operator-use", 2_000), ("sven", 3_000)] {
        let system = if name == "opal" { "rules" } else { "" };
        assert_eq!(
            seen_by(name, &log),
            [system, "go", "I edit", call, &"é".repeat(result), "done"],
            "{name}"
        );
    }
    assert_eq!(
        seen_by("lis", &log),
        ["", "go", "", " ", "", "done"],
        "neither calls, results nor text beside them"
    );
}

#[test]
fn results_of_a_round_share_one_limit() {
    let (one, two) = ("a".repeat(1_500), "b".repeat(1_500));
    let log = format!(
        "U: go\nA{{a,b,c}}: now\nT(a): {one}\nT(b): {two}\nT(c): end\nA{{d}}: on\nT(d): {two}\nA: done"
    );
    let seen = seen_by("operator-use", &log);
    // A line feed between two of them counts.
    let lengths: Vec<usize> = seen.iter().map(String::len).collect();
    assert_eq!(lengths[5..8], [1_500, 499, 0], "{lengths:?}");
    assert_eq!(lengths[10], 1_500, "the next round has its own");
    let lengths: Vec<usize> = seen_by("pi", &log).iter().map(String::len).collect();
    assert_eq!((lengths[5], lengths[6], lengths[7]), (1_500, 1_500, 3));
}

#[test]
fn arguments_that_are_cut_hold_what_stands_before_the_cut() {
    let long = "x".repeat(400);
    let log = format!("U: go\nA{{a=Write {long},b=Bash {long} && ls}}: now\nT(a): ok\nT(b): ok\nA: done");
    let seen = seen_by("opal", &log);
    for (at, key) in [(2, "file_path"), (3, "command")] {
        let (_, arguments) = seen[at].split_once(' ').expect("name and arguments");
        let value: serde_json::Value = serde_json::from_str(arguments).expect("JSON still");
        let text = value[key].as_str().expect("a text");
        // 200 characters of the written arguments: brace, key, colon and quotes count.
        assert_eq!(text, "x".repeat(200 - key.len() - 5), "{arguments}");
    }
}

#[test]
fn digests_are_a_section_of_their_own_behind_the_conversation() {
    let digests = crate::profile::Profile::named("lis-digests").expect("a name").expect("valid").prompt;
    let form = digests.and_then(|prompt| prompt.digests).expect("digests");
    assert_eq!(form.section::<&str>(&[]), "", "no heading without lines");
    let section = form.section(&["msg 3: port 8080", "msg 5: {line}"]);
    assert_eq!(section, "Tool context (from pruned tool calls):\n- msg 3: port 8080\n- msg 5: {line}");
    for (result, line) in [
        ("", None),
        (" \n---\n{}\n", None),
        ("\n== \n  port: 8080 \nhost: b", Some("port: 8080")),
        ("好的\nb", Some("好的")),
    ] {
        assert_eq!(form.line(result).as_deref(), line, "{result:?}");
    }
    let long = form.line(&"é".repeat(400)).expect("a line");
    assert_eq!(long.chars().count(), 300);
}
