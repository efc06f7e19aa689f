//! How large an entry is to each system.

use super::*;

#[track_caller]
pub(super) fn check_sizes(profile: &str, cases: Vec<(&str, Entry<'static>, u64)>) {
    let rules = estimate(profile);
    for (name, entry, tokens) in cases {
        assert_eq!(entry_tokens(&entry, &rules), Ok(tokens), "{profile}: {name}");
    }
}

/// What a character is, how a division ends, and what the runtime makes of arguments.
#[test]
fn units_of_the_systems() {
    let check = |name: &str, profile: &str, text: &str, units: u64| {
        assert_eq!(estimate(profile).unit.length(text), units, "{name}");
    };
    check("opal: bytes", "opal", "größer", 8);
    check("operator-use: code points", "operator-use", "größer 🦀", 8);
    check("pi: UTF-16", "pi", "größer 🦀", 9);
    check("sven: bytes", "sven", "größer 🦀", 13);
    check("lis: tokens", "lis", "hello world", 2);

    let check = |name: &str, profile: &str, units: usize, tokens: u64| {
        let text = "x".repeat(units);
        assert_eq!(texts_tokens(&[&text], &estimate(profile)), tokens, "{name}");
    };
    check("opal: down", "opal", 11, 2);
    check("operator-use: down", "operator-use", 11, 2);
    check("pi: up", "pi", 9, 3);
    check("sven: down", "sven", 11, 2);

    check_sizes("opal", vec![("no least, but ten for the message", user(""), 10)]);
    check_sizes("operator-use", vec![("at least 1", user(""), 1)]);
    check_sizes("pi", vec![("no least", user(""), 0)]);
    check_sizes("sven", vec![("at least 1", user(""), 1)]);
    check_sizes("lis", vec![("at least 1", user(""), 1)]);

    for (profile, text, units) in [
        ("opal", r#"{"file":"main.rs"}"#, 18),
        ("pi", r#"{"file":"main.rs"}"#, 18),
        ("sven", r#"{"file":"main.rs"}"#, 18),
        ("operator-use", r#"{"file":"main.rs"}"#, 19),
        ("opal", r#"{"file":"über.rs"}"#, 19),
        ("sven", r#"{"file":"über.rs"}"#, 19),
        ("pi", r#"{"file":"über.rs"}"#, 18),
        ("operator-use", r#"{"file":"über.rs"}"#, 24),
    ] {
        let rules = estimate(profile);
        assert_eq!(rules.unit.length(&restyle(text, rules.arguments)), units, "{profile}: {text}");
    }
    for (profile, style) in [
        ("opal", JsonStyle::Erlang),
        ("operator-use", JsonStyle::Python),
        ("pi", JsonStyle::JavaScript),
        ("pi-0.73", JsonStyle::JavaScript),
        ("sven", JsonStyle::Raw),
    ] {
        assert_eq!(estimate(profile).arguments, style, "{profile}");
    }
}

#[test]
fn sizes_of_opal() {
    let read = || call("grep_files", r#"{"pattern":"todo!"}"#);
    check_sizes(
        "opal",
        vec![
            ("content of none", Entry::message(Role::Assistant, vec![]), 10),
            ("content that is empty", user(""), 10),
            ("a remainder is dropped", user("twelve chars"), 13),
            ("bytes, not characters", user("écoute"), 11),
            ("long content", user("y".repeat(4_000)), 1_010),
            ("a person's question", user("What is in this dir"), 14),
            ("a call adds its name, its arguments and ten", calls(vec![read()]), 10 + 2 + 4 + 10),
            (
                "each field is rounded by itself",
                calls(vec![Block::Text("abc".into()), call("abc", "[]"), call("abc", "[]")]),
                30,
            ),
            (
                "thinking counts for nothing",
                calls(vec![Block::Thinking("long thoughts on it".into()), Block::Text("word".into())]),
                11,
            ),
            ("ids and names in results count for nothing", result(&["four"], 0), 11),
            ("the system prompt is a message", texts(Role::System, &["Be terse, please"]), 14),
            ("a role that it does not know", texts(Role::Unknown, &["eightbyt"]), 12),
            ("floats are written with a fraction", calls(vec![call("", r#"{"a":1e20}"#)]), 20 + 3),
            ("keys in byte order are as long", calls(vec![call("", r#"{"b":1,"a":2}"#)]), 20 + 3),
            ("arguments of null are text too", calls(vec![call("", "null")]), 21),
            ("an image counts for nothing", Entry::message(Role::User, vec![image(false, 1)]), 10),
        ],
    );
    let list = [texts(Role::System, &["sys"]), user("abcd"), assistant("abcdefgh")];
    assert_eq!(entries_tokens(&list, &estimate("opal")), Ok(10 + 11 + 12), "full estimate: a sum");
}

#[test]
fn the_marker_of_opal() {
    let rules = estimate("opal");
    let list = [user("u".repeat(40)), assistant("a".repeat(80)), user("v".repeat(120))];
    let mark = |tokens, messages| from_marker(&list, Marker { tokens, messages }, &rules);
    assert_eq!(hybrid(64_000, &[], &rules), Ok(64_000), "nothing behind it");
    assert_eq!(hybrid(64_000, &list, &rules), Ok(64_000 + 90), "estimates of what is behind it");
    assert_eq!(mark(500, 2), Ok(Some(500 + 40)), "newest messages only");
    assert_eq!(mark(500, 3), Ok(Some(500)), "none newer");
    assert_eq!(mark(500, 0), Ok(Some(500 + 90)), "all newer");
    assert_eq!(mark(500, 4), Ok(Some(500 + 20)), "more than there are: the oldest is added");
    assert_eq!(mark(500, 9), Ok(Some(500 + 90)), "far more than there are");
    assert_eq!(mark(0, 2), Ok(None), "nothing reported: all is estimated");

    let mut tally = Tally::default();
    let usage = usage("opal");
    let report = |input, output, total| Reported { input, output, total, ..Reported::default() };
    tally.take(&report(2_001, 9, 0), 4, 2_000, &usage);
    tally.take(&report(700, 30, 750), 6, 2_000, &usage);
    assert_eq!(tally.marker, Marker { tokens: 700, messages: 6 }, "the latest prompt, not a sum");
    assert_eq!(
        (tally.prompt, tally.completion, tally.total),
        (2_701, 39, 2_010 + 750),
        "totals as told, else summed"
    );
    assert!(tally.overflowed, "a smaller report does not clear the flag");
    let mut tally = Tally::default();
    tally.take(&report(2_000, 0, 0), 4, 2_000, &usage);
    assert!(!tally.overflowed, "a prompt of exactly the window");
}

#[test]
fn sizes_of_pi() {
    let rules = |version| {
        vec![("pi", "1.6"), ("pi-0.73", "0.73")].into_iter().find(|(_, known)| *known == version).unwrap().0
    };
    let seen = |role| Entry::message(role, vec![Block::Text("ab".into()), image(false, 1)]);
    for version in ["0.73", "1.6"] {
        check_sizes(
            rules(version),
            vec![
                ("rounded up once a message", texts(Role::User, &["abc", "de"]), 2),
                ("UTF-16", user("🦀🦀🦀"), 2),
                (
                    "thinking, text, name and arguments",
                    calls(vec![
                        Block::Thinking("abc".into()),
                        Block::Text("de".into()),
                        call("ls", r#"{"p":1}"#),
                    ]),
                    4,
                ),
                ("numbers as JavaScript writes them", calls(vec![call("", r#"{"n":1e21}"#)]), 3),
                ("a result", result(&["abcde"], 0), 2),
                ("an image in a result", result(&["ab"], 2), 2_401),
                ("an image of an extension", seen(Role::Custom), 1_201),
                ("a command and its output", texts(Role::Shell, &["pwd", "/home"]), 2),
                ("a branch summary", texts(Role::Branch, &["a branch."]), 3),
                ("a compaction summary", texts(Role::Summary, &["ok"]), 1),
                ("a role that it does not know", texts(Role::Unknown, &["abcdefgh"]), 0),
                ("names that a file gives", Entry { kind: Kind::Meta, ..user("a label") }, 0),
            ],
        );
        let missing = Entry { id: "e7".into(), ..Entry::message(Role::Assistant, vec![]) };
        let error = entry_tokens(&missing, &estimate(rules(version))).unwrap_err();
        assert_eq!(error, EstimateError::MissingReply { id: "e7".into() }, "{version}: content of null");
        let error =
            context_size(&[missing], 0, &usage(rules(version)), &estimate(rules(version))).unwrap_err();
        assert!(error.to_string().contains("e7"), "{version}: {error}");
        let nothing = Entry::message(Role::User, vec![]);
        check_sizes(rules(version), vec![("a request without content", nothing, 0)]);
    }
    check_sizes("pi-0.73", vec![("an image of the user", seen(Role::User), 1)]);
    check_sizes("pi", vec![("an image of the user", seen(Role::User), 1_201)]);
    check_sizes("pi-0.73", vec![("system messages", texts(Role::System, &["abcde"]), 0)]);
    check_sizes("pi", vec![("system messages", texts(Role::System, &["abcde"]), 2)]);
}

#[test]
fn sizes_of_operator_use() {
    let seen = |role, count| Entry::message(role, vec![image(false, count)]);
    check_sizes(
        "operator-use",
        vec![
            ("rounded down once a message", texts(Role::User, &["abc", "defgh"]), 2),
            ("an image of the user", seen(Role::User, 1), 1_200),
            ("an item of three images", seen(Role::User, 3), 1_200),
            ("two items", Entry::message(Role::User, vec![image(false, 1), image(false, 1)]), 2_400),
            ("an image of an extension", seen(Role::Custom, 1), 1),
            ("audio", Entry::message(Role::User, vec![Block::Other]), 1),
            ("400 characters of a request", user("q".repeat(400)), 100),
            ("400 characters of a reply", assistant("r".repeat(400)), 100),
            ("400 characters of thinking", calls(vec![Block::Thinking("t".repeat(400).into())]), 100),
            ("400 characters of a result", result(&[&"x".repeat(400)], 0), 100),
            ("400 characters of a summary", texts(Role::Summary, &[&"s".repeat(400)]), 100),
            ("400 characters of a branch summary", texts(Role::Branch, &[&"b".repeat(400)]), 100),
            ("400 characters of an extension", texts(Role::Custom, &[&"c".repeat(400)]), 100),
            ("nothing", texts(Role::User, &[]), 1),
            ("a reply without content", Entry::message(Role::Assistant, vec![]), 1),
            ("spaces behind commas and colons", calls(vec![call("f", r#"{"a":1,"b":2}"#)]), 4),
            ("characters outside ASCII are escaped", calls(vec![call("", "\"éé\"")]), 3),
            ("numbers as Python writes them", calls(vec![call("", "1e16")]), 1),
            ("a system message", texts(Role::System, &[&"s".repeat(40)]), 1),
            (
                "results of a round are one message",
                Entry::message(
                    Role::Tool,
                    [result(&["abc"], 0), result(&["defgh"], 0)]
                        .into_iter()
                        .flat_map(|it| it.blocks)
                        .collect(),
                ),
                2,
            ),
            ("names that a file gives", Entry { kind: Kind::Meta, ..user("a label") }, 0),
        ],
    );
    assert_eq!(estimate("operator-use"), estimate("operator-use-docs"));
}

#[test]
fn sizes_of_lis() {
    let rules = estimate("lis");
    check_sizes(
        "lis",
        vec![
            ("what the provider told", told(assistant("two words"), 5_000, 321), 321),
            ("what it never told is counted", assistant("two words"), 2),
            ("reasoning is in what was told", told(calls(vec![Block::Thinking("hm".into())]), 9, 40), 40),
            ("nothing", result(&[""], 0), 1),
        ],
    );
    assert_eq!(growth(2_000, 500, 200, 3_000), Some(700), "less the reply, whose reasoning is not sent back");
    assert_eq!(growth(2_000, 500, 0, 2_500), None, "no growth");
    assert_eq!(growth(2_000, 500, 0, 2_499), None, "a smaller prompt");
    assert_eq!(shared(100, &[10, 10, 10]), [33, 33, 33], "rounded down, each");
    assert_eq!(shared(90, &[20, 10]), [60, 30], "in proportion");
    assert_eq!(shared(91, &[0, 0]), [45, 45], "equally where all counts are 0");
    assert_eq!(shared(91, &[]), Vec::<u64>::new(), "nobody to share with");
    assert_eq!(shared(u64::MAX, &[u64::MAX, 1]), [u64::MAX - 1, 0], "no overflow");

    let list = [
        user("q"),
        told(assistant("call"), 1_000, 50),
        result(&["one two"], 0),
        result(&["one two three four five six"], 0),
        told(assistant("call"), 1_850, 50),
        result(&["never followed by a reply"], 0),
    ];
    let sizes = backfilled(&list, &usage("lis"), &rules).unwrap();
    assert_eq!(sizes, [None, None, Some(200), Some(600), None, None], "results learn from the next prompt");
    let thoughtful = [
        told(calls(vec![Block::Thinking("one two".into())]), 100, 10),
        result(&["x"], 0),
        told(assistant("r"), 120, 1),
    ];
    assert_eq!(
        backfilled(&thoughtful, &usage("lis"), &rules).unwrap()[1],
        Some(12),
        "reasoning is not sent back"
    );
}

#[test]
fn sizes_of_sven() {
    check_sizes(
        "sven",
        vec![
            ("eight bytes", user("eightbyt"), 2),
            ("two bytes", user("no"), 1),
            ("nothing", user(""), 1),
            ("a call", calls(vec![call("name", "arguments")]), 3),
            ("a result", result(&["sixteen bytes it"], 0), 4),
            ("an image", Entry::message(Role::User, vec![image(false, 1)]), 765),
            ("an image of low detail", Entry::message(Role::User, vec![image(true, 1)]), 85),
            ("an image in a result", result(&[], 1), 765),
            (
                "text beside an image is rounded with it",
                Entry::message(
                    Role::User,
                    vec![Block::Text("abc".into()), image(false, 1), Block::Text("d".into())],
                ),
                766,
            ),
            ("parts are rounded together", texts(Role::User, &["abc", "defgh"]), 2),
            ("arguments as they came", calls(vec![call("", r#"{ "a" : 1e5 }"#)]), 3),
            ("the system message", texts(Role::System, &["sixteen bytes it"]), 4),
        ],
    );
    let list = [texts(Role::System, &["12345678"]), user("12345678"), assistant("1")];
    assert_eq!(entries_tokens(&list, &estimate("sven")), Ok(5), "the system message is in the sum");
}

#[test]
fn exact_counts_can_be_said_as_an_estimate() {
    use crate::tokens::{IMAGE_TOKENS, MESSAGE_OVERHEAD, Tokenizer};
    let text = "unit = \"o200k\"\nper_message = 4\nthinking = true\nimages = { size = 1200, roles = [\"user\", \"tool\"] }";
    let rules: EstimateRules = toml::from_str(text).unwrap();
    let count = |text: &str| Tokenizer::O200k.count(text);
    let reply = calls(vec![Block::Thinking("let me look".into()), call("read_file", r#"{"path":"a.rs"}"#)]);
    let expect = MESSAGE_OVERHEAD + count("let me look") + count("read_file") + count(r#"{"path":"a.rs"}"#);
    assert_eq!(entry_tokens(&reply, &rules), Ok(expect));
    assert_eq!(
        entry_tokens(&result(&["done"], 2), &rules),
        Ok(MESSAGE_OVERHEAD + count("done") + 2 * IMAGE_TOKENS)
    );
    let tokens: EstimateRules =
        toml::from_str(&text.replace("size = 1200", "size = 7, measure = \"tokens\"")).unwrap();
    assert_eq!(entry_tokens(&result(&["done"], 2), &tokens), Ok(MESSAGE_OVERHEAD + count("done") + 14));
}

/// Arguments of a call as each system counts them.
#[test]
fn arguments_are_as_long_as_each_system_writes_them() {
    for (name, profile, text, units) in [
        ("bytes", "opal", r#"{"path":"test.txt"}"#, 19),
        ("UTF-16", "pi", r#"{"path":"test.txt"}"#, 19),
        ("UTF-16", "pi-0.73", r#"{"path":"test.txt"}"#, 19),
        ("as received", "sven", r#"{"path":"test.txt"}"#, 19),
        ("with blanks", "operator-use", r#"{"path":"test.txt"}"#, 20),
        ("an accent is one unit", "pi", r#"{"path":"café.txt"}"#, 19),
        ("an accent is two bytes", "opal", r#"{"path":"café.txt"}"#, 20),
        ("an accent is two bytes", "sven", r#"{"path":"café.txt"}"#, 20),
        ("an accent is escaped", "operator-use", r#"{"path":"café.txt"}"#, 25),
    ] {
        let rules = estimate(profile);
        assert_eq!(rules.unit.length(&restyle(text, rules.arguments)), units, "{profile}, {name}: {text}");
    }
}

#[test]
fn texts_and_messages_of_opal() {
    for (name, parts, tokens) in [
        ("no text", &[][..], 0),
        ("an empty text", &[""], 0),
        ("12 bytes", &["twelve bytes"], 3),
        ("four letters in five bytes", &["café"], 1),
        ("4000 bytes", &["x".repeat(4_000).as_str()], 1_000),
    ] {
        assert_eq!(texts_tokens(parts, &estimate("opal")), tokens, "{name}");
    }
    check_sizes(
        "opal",
        vec![
            ("no content", Entry::message(Role::User, vec![]), 10),
            ("a request of 19 bytes", user("What does it do now"), 14),
            (
                "a reply of 17 bytes with a call",
                calls(vec![
                    Block::Text("I look at it now.".into()),
                    call("read_file", r#"{"path":"test.txt"}"#),
                ]),
                30,
            ),
        ],
    );
    let list = [user("u".repeat(40)), assistant("a".repeat(80))];
    let rules = estimate("opal");
    for (name, trailing, tokens) in [
        ("nothing behind what was reported", &[][..], 50_000),
        ("and the estimate of what came then", &list, 50_000 + 20 + 30),
    ] {
        assert_eq!(hybrid(50_000, trailing, &rules), Ok(tokens), "{name}");
    }
}
