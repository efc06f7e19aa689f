//! One named case for each rule of a modelled system that concerns sizes and triggers, under the rules of its profile.

use super::budget::{calibrated, fraction, schema_overhead};
use super::usage::{backfilled, fresh_of_path, fresh_since, growth, shared};
use super::*;
use crate::harness::json::{JsonStyle, restyle};
use crate::harness::{Block, Call, Entry, Image, Kind, Outcome, Reported, Role, Stop};
use serde::de::DeserializeOwned;

/// A section of the rules of a system.
fn section<T: DeserializeOwned>(profile: &str, name: &str) -> T {
    let table = crate::profile::Profile::table_of(profile).expect("a profile");
    table[name].clone().try_into().unwrap_or_else(|error| panic!("{profile} [{name}]: {error}"))
}

fn estimate(profile: &str) -> EstimateRules {
    section(profile, "estimate")
}

fn usage(profile: &str) -> UsageRules {
    section(profile, "usage")
}

fn trigger(profile: &str) -> TriggerRules {
    section(profile, "trigger")
}

/// How the trigger of a system reads usage.
fn live(profile: &str) -> UsageRules {
    trigger(profile).usage.unwrap_or_else(|| usage(profile))
}

fn user(text: impl Into<String>) -> Entry<'static> {
    Entry::text(Role::User, text.into())
}

fn assistant(text: impl Into<String>) -> Entry<'static> {
    Entry::text(Role::Assistant, text.into())
}

fn told(mut entry: Entry<'static>, input: u64, output: u64) -> Entry<'static> {
    entry.usage = Some(Reported { input, output, ..Reported::default() });
    entry
}

fn stopped(mut entry: Entry<'static>, stop: Stop) -> Entry<'static> {
    entry.stop = stop;
    entry
}

fn call(name: &str, arguments: &str) -> Block<'static> {
    Block::Call(Call {
        id: "an-id-that-no-estimate-counts".into(),
        name: name.to_owned().into(),
        arguments: arguments.to_owned().into(),
        kind: None,
    })
}

fn calls(blocks: Vec<Block<'static>>) -> Entry<'static> {
    Entry::message(Role::Assistant, blocks)
}

fn result(texts: &[&str], images: usize) -> Entry<'static> {
    Entry::message(
        Role::Tool,
        vec![Block::Result(Outcome {
            call_id: Some("an-id-that-no-estimate-counts".into()),
            name: Some("a-name-that-no-estimate-counts".into()),
            texts: texts.iter().map(|text| (*text).to_owned().into()).collect(),
            images: vec![Image { low: false }; images],
            error: false,
        })],
    )
}

fn image(low: bool, count: u32) -> Block<'static> {
    Block::Image { low, count }
}

fn texts(role: Role, texts: &[&str]) -> Entry<'static> {
    Entry::message(role, texts.iter().map(|text| Block::Text((*text).to_owned().into())).collect())
}

#[track_caller]
fn check_sizes(profile: &str, cases: Vec<(&str, Entry<'static>, u64)>) {
    let rules = estimate(profile);
    for (name, entry, tokens) in cases {
        assert_eq!(entry_tokens(&entry, &rules), Ok(tokens), "{profile}: {name}");
    }
}

#[test]
fn every_part_reads_and_holds_no_contradiction() {
    for profile in crate::profile::Profile::names().filter(|name| *name != "standard") {
        estimate(profile);
        usage(profile);
        trigger(profile).validate().unwrap();
        if crate::profile::Profile::table_of(profile).is_some_and(|table| table.contains_key("budget")) {
            section::<BudgetRules>(profile, "budget").validate().unwrap();
        }
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
fn reported_usage_of_opal() {
    let size = |list: &[Entry<'static>], fresh| {
        context_size(list, fresh, &usage("opal"), &estimate("opal")).unwrap()
    };
    let reply = || told(assistant("r".repeat(40)), 900, 50);
    let found = size(&[user("q".repeat(40)), reply(), user("s".repeat(40))], 0).unwrap();
    assert_eq!((found.reported, found.estimated), (900, 40), "the reply itself is behind its report");
    let zero = [reply(), told(assistant("z".repeat(40)), 0, 0), user("s".repeat(40))];
    assert_eq!(size(&zero, 0).unwrap().total(), 60, "a prompt of 0 is no report, and hides older ones");
    assert_eq!(
        size(&[user("summary!"), reply(), user("next")], 2).unwrap().total(),
        12 + 20 + 11,
        "compaction resets"
    );
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
fn reported_usage_of_pi() {
    let four = Reported { input: 900, output: 400, cache_read: 150, cache_write: 50, total: 0 };
    let both = ["pi", "pi-0.73"];
    for profile in both {
        assert_eq!(usage(profile).tokens(&four), 1_500, "{profile}: four fields");
        assert_eq!(
            usage(profile).tokens(&Reported { total: 7, ..four }),
            7,
            "{profile}: a total that was told"
        );
    }
    let good = || told(assistant("a".repeat(40)), 600, 20);
    let aborted = || stopped(told(assistant("b".repeat(40)), 5, 0), Stop::Aborted);
    let failed = || stopped(assistant("c".repeat(40)), Stop::Error);
    let zero = || told(assistant("d".repeat(40)), 0, 0);
    for profile in both {
        let last = |list: &[Entry<'static>]| last_usage(list, 0, &usage(profile)).map(|(at, _)| at);
        assert_eq!(last(&[good(), aborted()]), Some(0), "{profile}: a good one before an aborted one");
        assert_eq!(last(&[user("q")]), None, "{profile}: no reply");
        assert_eq!(last(&[aborted()]), None, "{profile}: aborted only");
        let length = stopped(good(), Stop::Length);
        assert_eq!(last(&[length]), Some(0), "{profile}: a reply at its limit counts");
        let not_a_reply = told(user("q"), 5, 5);
        assert_eq!(last(&[not_a_reply]), None, "{profile}: only replies report");
    }
    let size = |profile, list: &[Entry<'static>], fresh| {
        context_size(list, fresh, &usage(profile), &estimate(profile)).unwrap().unwrap()
    };
    for profile in both {
        let found = size(profile, &[user("q"), good(), user("u".repeat(5)), aborted()], 0);
        assert_eq!(
            (found.reported, found.estimated, found.at),
            (620, 2 + 10, Some(1)),
            "{profile}: what follows"
        );
        assert_eq!(
            size(profile, &[user("abcde"), failed()], 0).total(),
            2 + 10,
            "{profile}: no usage: estimates"
        );
        assert_eq!(size(profile, &[], 0).total(), 0, "{profile}: nothing");
    }
    let list = [good(), user("abcd"), zero()];
    assert_eq!(size("pi-0.73", &list, 0).total(), 0, "usage of zeros counts");
    assert_eq!(size("pi", &list, 0).total(), 620 + 1 + 10, "usage of zeros is passed over");
    // A summary, a reply that the compaction kept, and what came after it.
    let list = [texts(Role::Summary, &["sum"]), good(), user("u".repeat(40)), failed()];
    assert_eq!(size("pi-0.73", &list, 2).total(), 620 + 20, "usage from before the compaction counts");
    assert_eq!(size("pi", &list, 2).total(), 1 + 10 + 10 + 10, "usage from before the compaction is ignored");
}

#[test]
fn the_trigger_of_pi() {
    for profile in ["pi", "pi-0.73"] {
        let mut rules = trigger(profile);
        assert_eq!((rules.enabled, rules.limit), (true, Limit::Reserve(16_384)), "{profile}: defaults");
        rules.limit = Limit::Reserve(5_000);
        let mut check = |name: &str, enabled, tokens, window, fires| {
            rules.enabled = enabled;
            assert_eq!(rules.fires(tokens, window), fires, "{profile}: {name}");
            assert_eq!(tokens >= rules.least(window), fires, "{profile}: {name}: least size");
        };
        check("above", true, 47_000, 50_000, true);
        check("below", true, 44_000, 50_000, false);
        check("exactly the limit", true, 45_000, 50_000, false);
        check("one above it", true, 45_001, 50_000, true);
        check("switched off", false, 47_000, 50_000, false);
        check("a reserve of the whole window", true, 0, 5_000, false);
        check("a reserve beyond the window", true, 0, 4_999, true);
    }
    let fires = |list: &[Entry<'static>], fresh| {
        let size = context_size(list, fresh, &live("pi-0.73"), &estimate("pi-0.73")).unwrap();
        size.is_some_and(|size| trigger("pi-0.73").fires(size.total(), 100_000))
    };
    let large = || told(assistant("a"), 95_000, 10);
    let failed = || stopped(assistant("overflow"), Stop::Error);
    assert!(fires(&[user("q"), large()], 0), "the newest reply");
    assert!(!fires(&[texts(Role::Summary, &["s"]), large()], 2), "a reply older than the compaction");
    assert!(fires(&[large(), user("q"), failed()], 0), "an error behind a good reply");
    assert!(!fires(&[user("q".repeat(400_000)), failed()], 0), "an error, and no usage before it");
    assert!(
        !fires(&[large(), user("q"), failed()], 2),
        "an error, and usage from before the compaction only"
    );
    let aborted = [stopped(large(), Stop::Aborted)];
    assert!(fires(&aborted, 0), "an aborted reply counts for the next prompt");
    let size =
        |list: &[Entry<'static>]| context_size(list, 0, &live("pi-0.73"), &estimate("pi-0.73")).unwrap();
    let found = size(&[large(), texts(Role::Shell, &["ls", "out"])]).unwrap();
    assert_eq!(found.estimated, 0, "what follows the newest reply is not looked at");
    let found = size(&[large(), user("abcd"), failed()]).unwrap();
    assert_eq!(found.estimated, 1 + 2, "what follows an earlier reply is estimated");
    let size = context_size(&[user("abcde")], 0, &live("pi"), &estimate("pi")).unwrap();
    assert_eq!(size.map(|size| size.total()), Some(2), "1.6 estimates where nothing was reported");
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
fn reported_usage_of_operator_use() {
    let rules = usage("operator-use");
    let four = Reported { input: 200, output: 30, cache_read: 15, cache_write: 5, total: 999 };
    assert_eq!(rules.tokens(&four), 250, "four fields, no total");
    assert_eq!(live("operator-use").tokens(&four), 230, "the trigger sees no caches");
    let size =
        |list: &[Entry<'static>]| context_size(list, 0, &rules, &estimate("operator-use")).unwrap().unwrap();
    let good = || told(assistant("a".repeat(40)), 200, 50);
    let found = size(&[user("q"), good(), user("u".repeat(8))]);
    assert_eq!((found.reported, found.estimated, found.at), (250, 2, Some(1)), "usage and what follows");
    let found = size(&[user("q".repeat(400)), told(assistant("z"), 0, 0)]);
    assert_eq!((found.total(), found.at), (0, Some(1)), "usage of zeros counts: what is before it is lost");
    assert_eq!(
        size(&[user("q".repeat(400)), assistant("r".repeat(8))]).total(),
        102,
        "no usage at all: estimates"
    );
    assert_eq!(size(&[good(), stopped(told(assistant(""), 9, 9), Stop::Error)]).reported, 250, "an error");
    let summary = Entry { kind: Kind::Compaction, ..texts(Role::Summary, &["short"]) };
    let path = [good(), summary, user("u".repeat(40)), user("v")];
    assert_eq!(size(&path).total(), 250 + 1 + 10 + 1, "compaction entries of the path count too");

    let size = |list: &[Entry<'static>], fresh| {
        context_size(list, fresh, &live("operator-use"), &estimate("operator-use"))
            .unwrap()
            .map(|size| size.total())
    };
    assert_eq!(size(&[good(), user("u".repeat(40))], 0), Some(250), "the trigger adds no estimates");
    assert_eq!(size(&[good(), told(assistant("z"), 0, 0)], 0), Some(250), "the trigger passes zeros over");
    assert_eq!(size(&[user("u".repeat(40)), assistant("r")], 0), Some(0), "nothing reported: nothing fires");
    let list = [texts(Role::Summary, &[&"s".repeat(40)]), good(), user("u".repeat(40))];
    assert_eq!(size(&list, 2), Some(10 + 10 + 10), "after a compaction: estimates of the rebuilt context");
}

#[test]
fn the_trigger_of_operator_use() {
    assert_eq!(trigger("operator-use").limit, Limit::Reserve(16_384), "as in the source");
    assert_eq!(trigger("operator-use-docs").limit, Limit::Reserve(8_192), "as documented");
    let check = |name: &str, reserve, percent, tokens, fires| {
        let rules = TriggerRules { limit: Limit::Reserve(reserve), percent, ..trigger("operator-use") };
        assert_eq!(rules.fires(tokens, 20_000), fires, "{name}");
        assert_eq!(tokens >= rules.least(20_000), fires, "{name}: least size");
    };
    check("above the limit", 2_000, None, 19_000, true);
    check("below the limit", 2_000, None, 10_000, false);
    check("one above", 1_500, None, 18_501, true);
    check("exactly", 1_500, None, 18_500, false);
    check("no tokens", 1_500, None, 0, false);
    check("a percentage replaces the reserve", 100, Some(0.5), 10_001, true);
    check("a percentage is strict", 100, Some(0.5), 10_000, false);
    check("a percentage of all", 19_000, Some(1.0), 19_999, false);
    check("a percentage of nothing", 100, Some(0.0), 1, true);
    let off = TriggerRules { enabled: false, ..trigger("operator-use") };
    assert!(!off.fires(20_000, 20_000) && !off.fires(0, 20_000), "switched off");
    let sliding = TriggerRules { limit: Limit::AboveShare(0.5), ..trigger("operator-use") };
    assert!(
        sliding.fires(10_001, 20_000) && !sliding.fires(10_000, 20_000),
        "the sliding window of the same harness"
    );
}

#[test]
fn the_trigger_of_opal() {
    let rules = trigger("opal");
    assert!(rules.fires(4_000, 5_000), "exactly the share");
    assert!(!rules.fires(3_999, 5_000), "below it");
    assert!(!rules.fires(9, 0), "no window");
    assert_eq!(rules.least(128_000), 102_400);
}

#[test]
fn the_triggers_of_lis() {
    let rules = trigger("lis");
    let read = |input, cache_read, cache_write| {
        usage("lis").tokens(&Reported { input, cache_read, cache_write, output: 77, total: 1 })
    };
    assert_eq!(read(100, 4_000, 30), 4_130, "the prompt with its caches, nothing else");
    assert_eq!(rules.limit.tokens(Room::from(12_000)), 9_600, "80 % by default");
    let state = State {
        tokens: Some(9_601),
        room: Room::from(12_000),
        compacting: false,
        results_marked: false,
        result_tokens: 0,
    };
    let check = |name: &str, state: State, action| assert_eq!(rules.action(&state), action, "{name}");
    let compact = |marks_results| Action::Compact { marks_results };
    check("above the limit", state, compact(true));
    check("exactly the limit", State { tokens: Some(9_600), ..state }, Action::None);
    check("marked before", State { results_marked: true, ..state }, compact(false));
    check("compacting already", State { compacting: true, ..state }, Action::None);
    check(
        "compacting already, large results",
        State { compacting: true, result_tokens: 8_001, ..state },
        Action::Prune,
    );
    check("above the limit, large results", State { result_tokens: 8_001, ..state }, compact(true));
    let below = State { tokens: Some(50), ..state };
    check("large results", State { result_tokens: 8_001, ..below }, Action::Prune);
    check("results at the limit", State { result_tokens: 8_000, ..below }, Action::None);
    check("pruned once", State { result_tokens: 9_999, results_marked: true, ..below }, Action::None);
    check("nothing reported", State { tokens: None, result_tokens: 9_000, ..below }, Action::Prune);
    for (percent, budget, limit) in
        [(29.0, 100, 28), (29.0, 12_000, 3_479), (57.0, 12_000, 6_839), (80.0, 12_000, 9_600), (100.0, 7, 7)]
    {
        let room = Room::from(budget);
        assert_eq!(
            Limit::Percent(percent).tokens(room),
            limit,
            "{percent} % of {budget}, a truncated double"
        );
        assert_eq!(Limit::Percent(percent).least(room), limit + 1, "{percent} % of {budget}: strict");
    }
    assert_eq!(
        context_size(&[user("x".repeat(90_000))], 0, &usage("lis"), &estimate("lis")),
        Ok(None),
        "never unasked"
    );
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

fn accounts(tokens: u64, window: u64) -> Accounts {
    Accounts { tokens, overhead: 0, calibration: Calibration::default(), room: Room::from(window) }
}

#[test]
fn budgets_of_sven() {
    assert_eq!(Room { window: 180_000, output: 60_000 }.input(), 120_000, "the window less the reply");
    assert_eq!(Room { window: 50, output: 60 }.input(), 0, "never below 0");
    assert_eq!(Room { window: 0, output: 0 }.input(), 0, "no window");
    assert_eq!(calibrated(3, 1.5), 4, "truncated");
    assert_eq!(calibrated(16_777_217, 1.0), 16_777_216, "in single precision");
    let with = Accounts { overhead: 300, calibration: Calibration::new(0.5), ..accounts(200, 1_000) };
    assert_eq!(with.effective(), 400, "the factor is for messages only");
    assert!((with.fraction() - 0.4).abs() < f32::EPSILON);
    assert_eq!(fraction(10, 0).to_bits(), 0.0_f32.to_bits(), "no budget");
    assert!(accounts(75, 100).is_near_limit(0.75) && !accounts(74, 100).is_near_limit(0.75), "at the limit");

    let rules = estimate("sven");
    let tool = |description| Schema { name: "name", description, parameters: "{}" };
    assert_eq!(
        schema_overhead(&[tool("x"), tool("xyz")], "", &rules),
        1 + 2,
        "each tool is rounded by itself"
    );
    assert_eq!(schema_overhead(&[tool("x")], "context", &rules), 1 + 1, "so is the context of the request");
    assert_eq!(schema_overhead(&[], "", &rules), 0, "no tools, no context");

    let budget: BudgetRules = section("sven", "budget");
    let gate = |old, tokens, overhead| {
        let accounts = Accounts { overhead, ..accounts(tokens, 100) };
        let fires = trigger("sven").fires(accounts.effective(), accounts.room);
        (fires, fires && accounts.is_emergency(old, &budget))
    };
    assert_eq!(gate(0, 74, 0), (false, false), "below the limit");
    assert_eq!(gate(75, 75, 0), (true, false), "at the limit");
    assert_eq!(gate(94, 94, 0), (true, false), "a large part to summarize");
    assert_eq!(gate(95, 95, 0), (true, true), "too large a part");
    assert_eq!(gate(40, 40, 600), (true, false), "what a request carries counts for the trigger only");
    assert_eq!(gate(97, 97, 0), (true, true), "an old system prompt is a part of what is summarized");
    let doubled = Accounts { calibration: Calibration::new(1.9), ..accounts(50, 100) };
    assert!(doubled.is_emergency(50, &budget), "the part is calibrated");
    assert!(!doubled.is_emergency(50, &BudgetRules::default()), "no limit, no emergency");
    assert_eq!(trigger("sven").least(Room::from(0)), u64::MAX, "no budget, no compaction");
}

#[test]
fn calibration_of_sven() {
    let rules = section::<BudgetRules>("sven", "budget").calibration.unwrap();
    let after = |start: f32, updates: &[(u64, u64)]| {
        let mut factor = Calibration::new(start);
        for (actual, estimated) in updates {
            factor.update(*actual, *estimated, &rules);
        }
        factor.factor()
    };
    let near =
        |name: &str, ours: f32, theirs: f32| assert_eq!(ours.to_bits(), theirs.to_bits(), "{name}: {ours}");
    near("starts at 1", rules.start, 1.0);
    near("a step", after(1.0, &[(120, 100)]), 1.04);
    near("20 steps", after(1.0, &[(130, 100); 20]), 1.296_541_3);
    near("nothing reported", after(1.5, &[(0, 100)]), 1.5);
    near("nothing estimated", after(1.5, &[(100, 0)]), 1.5);
    near("the least, held to after the step", after(0.51, &[(1, 1_000_000)]), 0.5);
    near("the most, held to after the step", after(2.0, &[(900, 100)]), 3.0);
    for start in [0.5, 1.0, 3.0] {
        let factor = after(start, &[(1, 1_000_000), (1_000_000, 1), (7, 3)]);
        assert!((0.5..=3.0).contains(&factor), "always within its bounds");
    }
    let usage = usage("sven");
    let sum = usage.tokens(&Reported { input: 10, output: 99, cache_read: 20, cache_write: 30, total: 5 });
    assert_eq!(sum, 60, "the whole prompt, caches read and written");
    let budget: BudgetRules = section("sven", "budget");
    let mut accounts = Accounts { overhead: 40, ..accounts(0, 1_000) };
    accounts.report(200, 60, &budget);
    near(
        "what a request carries is part of the estimate",
        accounts.calibration.factor(),
        after(1.0, &[(200, 100)]),
    );
    accounts.report(500, 60, &BudgetRules::default());
    near("no rules, no change", accounts.calibration.factor(), after(1.0, &[(200, 100)]));
}

#[test]
fn the_trigger_of_sven() {
    let share = |profile| match trigger(profile).limit {
        Limit::InputShare(share) => share,
        other => panic!("{other:?}"),
    };
    let check = |name: &str, threshold, reserve, tokens, window, fires| {
        let limit = Limit::InputShare(InputShare { threshold, reserve, least: 0.1 });
        assert_eq!(limit.fires(tokens, Room::from(window)), fires, "{name}");
        assert_eq!(tokens >= limit.least(Room::from(window)), fires, "{name}: least size");
    };
    assert_eq!(share("sven").effective().to_bits(), 0.75_f32.to_bits(), "0.85 less 0.10 is 0.75, exactly");
    assert_eq!(share("sven-ci").effective().to_bits(), (0.65_f32 - 0.12).to_bits(), "the tuning for CI");
    assert_eq!(
        share("sven-interactive").effective().to_bits(),
        (0.80_f32 - 0.10).to_bits(),
        "interactive tuning"
    );
    check("half of a budget of 16 with 9", 0.5, 0.1, 9, 16, true);
    check("two fifths of a budget of 40 with 17", 0.4, 0.1, 17, 40, true);
    check("three tenths of a budget of 20 with 3", 0.3, 0.1, 3, 20, false);
    check("at the limit", 0.85, 0.1, 150, 200, true);
    check("below it", 0.85, 0.1, 149, 200, false);
    check("never below a tenth", 0.05, 0.1, 9, 100, false);
    check("a tenth fires", 0.05, 0.1, 10, 100, true);
    check("no budget", 0.85, 0.1, 500, 0, false);
    let room = Room { window: 300, output: 100 };
    assert!(
        trigger("sven").fires(150, room) && !trigger("sven").fires(149, room),
        "the reply's part is no budget"
    );
}

#[test]
fn moments_of_the_systems() {
    use Moment::{Prompted, Submit, ToolBatch, TurnEnd};
    let all = [Submit, Prompted, ToolBatch, TurnEnd];
    for (profile, check, moments) in [
        ("opal", Check::Request, &[Prompted, ToolBatch][..]),
        ("operator-use", Check::TurnEnd, &[TurnEnd]),
        ("pi-0.73", Check::TurnEndAndPrompt, &[Submit, TurnEnd]),
        ("pi", Check::RequestAndTurnEnd, &[Prompted, ToolBatch, TurnEnd]),
        ("lis", Check::Response, &[TurnEnd]),
        ("sven", Check::ToolBatchAndSubmit, &[Submit, ToolBatch]),
    ] {
        assert_eq!(trigger(profile).check, check, "{profile}");
        for moment in all {
            assert_eq!(check.at(moment), moments.contains(&moment), "{profile}: {moment:?}");
        }
    }
    assert!(all.into_iter().all(|moment| Check::Turn.at(moment) == (moment == Prompted)));
}

#[test]
fn the_standard_trigger_can_be_said() {
    let text = "measure = \"counted\"\nlimit = { share = 0.80 }\ncheck = \"request\"";
    let rules: TriggerRules = toml::from_str(text).unwrap();
    assert_eq!((rules.measure, rules.check), (Measure::Counted, Check::Request));
    for window in [1_000, 32_000, 128_000, 200_000, 1_000_000] {
        assert_eq!(rules.least(window), (0.80 * window as f64).ceil() as u64, "{window}");
        assert_eq!(rules.limit.tokens(Room::from(window)), rules.least(window));
    }
    let turn: TriggerRules = toml::from_str(&text.replace("request", "turn")).unwrap();
    assert_eq!(turn.check, Check::Turn);
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

#[test]
fn limits_are_least_sizes() {
    let rooms = [0, 1, 7, 100, 12_345].map(Room::from);
    let limits = [
        Limit::Share(0.8),
        Limit::Share(0.55),
        Limit::AboveShare(0.5),
        Limit::Reserve(90),
        Limit::Percent(29.0),
        Limit::InputShare(InputShare { threshold: 0.85, reserve: 0.1, least: 0.1 }),
    ];
    for (limit, room) in limits.into_iter().flat_map(|limit| rooms.map(|room| (limit, room))) {
        let least = limit.least(room);
        assert!(least == u64::MAX || limit.fires(least, room), "{limit:?} of {room:?}");
        assert!(least == 0 || !limit.fires(least.min(50_000) - 1, room), "{limit:?} of {room:?}");
    }
    assert_eq!(Limit::Share(0.55).least(Room::from(100)), 55, "a quotient, not a product");
}

#[test]
fn what_is_younger_than_a_compaction() {
    let compaction = || Entry { kind: Kind::Compaction, ..texts(Role::Summary, &["s"]) };
    assert_eq!(fresh_of_path(&[user("a"), compaction(), user("b"), compaction(), user("c")]), 4);
    assert_eq!(fresh_of_path(&[user("a")]), 0);
    let at = |time| Entry { time, ..user("a") };
    assert_eq!(
        fresh_since(&[at(50), at(10), at(20), at(60), at(70)], 50),
        3,
        "the summary, what it kept, what came then"
    );
    assert_eq!(fresh_since(&[at(60)], 50), 0);
}

#[test]
fn contradictions_and_unknown_keys_are_refused() {
    let rules = |limit: &str| -> TriggerRules {
        toml::from_str(&format!("measure = \"estimate\"\ncheck = \"turn\"\nlimit = {{ {limit} }}")).unwrap()
    };
    for (limit, reason) in [
        ("share = 0.0", "limit.share is 0"),
        ("share = 1.5", "at most 1"),
        ("above_share = -1.0", "limit.above_share"),
        ("percent = 101.0", "at most 100"),
        ("input_share = { threshold = 0.1, reserve = 0.2 }", "less its reserve"),
    ] {
        let error = rules(limit).validate().unwrap_err();
        assert!(error.contains(reason), "{limit}: {error}");
    }
    let over = TriggerRules { percent: Some(1.5), ..rules("share = 0.5") };
    assert!(over.validate().unwrap_err().contains("trigger.percent"));
    assert!(toml::from_str::<TriggerRules>("measure = \"estimate\"\ncheck = \"turn\"\nlimits = 3").is_err());
    assert!(toml::from_str::<EstimateRules>("unit = \"bytes\"\nunits_per_token = 0").is_err());
    assert!(toml::from_str::<EstimateRules>("unit = \"byte\"").is_err());
    assert!(toml::from_str::<UsageRules>("fields = [\"inputs\"]").is_err());
    let learnt = CalibrationRules { start: 9.0, old: 0.8, new: 0.2, least: 0.5, most: 3.0 };
    let budget = BudgetRules { calibration: Some(learnt), ..BudgetRules::default() };
    assert!(budget.validate().unwrap_err().contains("calibration.start is 9"));
    let budget = BudgetRules { emergency: Some(0.0), ..BudgetRules::default() };
    assert!(budget.validate().unwrap_err().contains("emergency"));
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

#[test]
fn sums_of_reported_usage() {
    let told = |input, output, cache_read, cache_write| Reported {
        input,
        output,
        cache_read,
        cache_write,
        total: 0,
    };
    for (profile, name, reported, tokens) in [
        ("pi", "four fields", told(1_000, 500, 200, 100), 1_800),
        ("pi-0.73", "four fields", told(1_000, 500, 200, 100), 1_800),
        ("operator-use", "four fields", told(100, 50, 20, 10), 180),
        ("sven", "no output", told(100, 50, 20, 10), 130),
        ("lis", "no output", told(100, 50, 20, 10), 130),
    ] {
        assert_eq!(usage(profile).tokens(&reported), tokens, "{profile}, {name}");
    }
    let list = [user("q"), self::told(assistant("r"), 100, 50)];
    let found = context_size(&list, 0, &usage("operator-use"), &estimate("operator-use"));
    let found = found.expect("content").expect("a size");
    assert_eq!((found.reported, found.at), (150, Some(1)), "operator-use: the last reply and its index");
}

#[test]
fn limits_of_pi_and_its_port() {
    for (profile, name, enabled, reserve, tokens, window, fires) in [
        ("pi", "above", true, 10_000, 95_000, 100_000, true),
        ("pi", "below", true, 10_000, 89_000, 100_000, false),
        ("pi", "switched off", false, 10_000, 95_000, 100_000, false),
        ("pi-0.73", "above", true, 10_000, 95_000, 100_000, true),
        ("pi-0.73", "below", true, 10_000, 89_000, 100_000, false),
        ("pi-0.73", "switched off", false, 10_000, 95_000, 100_000, false),
        ("operator-use", "above", true, 1_000, 9_500, 10_000, true),
        ("operator-use", "below", true, 1_000, 5_000, 10_000, false),
        ("operator-use", "a token above", true, 500, 9_501, 10_000, true),
        ("operator-use", "exactly the limit", true, 500, 9_500, 10_000, false),
        ("operator-use", "switched off", false, 500, 9_999, 10_000, false),
        ("operator-use", "no tokens", true, 500, 0, 10_000, false),
        ("operator-use", "half of the window with a small reserve", true, 100, 5_001, 10_000, false),
        ("operator-use", "half of the window with a large one", true, 5_000, 5_001, 10_000, true),
    ] {
        let rules = TriggerRules { enabled, limit: Limit::Reserve(reserve), ..trigger(profile) };
        assert_eq!(rules.fires(tokens, window), fires, "{profile}, {name}");
    }
}

#[test]
fn an_error_of_pi_goes_by_the_good_reply_before_it() {
    let good = || told(assistant("a"), 189_000, 1_000);
    let failed = || stopped(assistant("overloaded"), Stop::Error);
    let summary = || texts(Role::Summary, &["s"]);
    // The older version skips where nothing is reported; the newer one estimates.
    for (name, list, fresh, fires) in [
        ("a good reply before it", vec![user("q"), good(), user("q"), failed()], 0, true),
        ("no usage before it", vec![user("q"), failed()], 0, false),
        ("usage from before the compaction alone", vec![summary(), good(), user("q"), failed()], 2, false),
        ("a reply older than the compaction", vec![summary(), good()], 2, false),
    ] {
        for profile in ["pi", "pi-0.73"] {
            let size = context_size(&list, fresh, &live(profile), &estimate(profile)).expect("content");
            let ours = size.is_some_and(|size| trigger(profile).fires(size.total(), 200_000));
            assert_eq!(ours, fires, "{profile}, {name}");
        }
    }
}

#[test]
fn accounts_of_sven() {
    check_sizes(
        "sven",
        vec![
            ("eight bytes", user("12345678"), 2),
            ("two bytes", user("hi"), 1),
            ("an empty text", user(""), 1),
            ("a call of four and eight bytes", calls(vec![call("aaaa", "bbbbbbbb")]), 3),
            ("a result of 16 bytes", result(&["sixteen bytes ok"], 0), 4),
            ("an image", Entry::message(Role::User, vec![image(false, 1)]), 765),
            ("an image of low detail", Entry::message(Role::User, vec![image(true, 1)]), 85),
        ],
    );
    let output = section::<BudgetRules>("sven", "budget").output;
    for (name, ours, expect) in [
        ("the window less the reply", Room { window: 200_000, output }.input(), 136_000),
        ("a reply larger than the window", Room { window: 1_000, output: 64_000 }.input(), 0),
        ("two tokens by a factor of one and a half", calibrated(2, 1.5), 3),
        (
            "40 tokens and an overhead of 500",
            Accounts { overhead: 500, ..accounts(40, 100) }.effective(),
            540,
        ),
    ] {
        assert_eq!(ours, expect, "{name}");
    }
    let rules = section::<BudgetRules>("sven", "budget").calibration.expect("a calibration");
    for (name, updates, least, most) in [
        ("20 reports of 130 for 100", vec![(130, 100); 20], 1.25_f32, 1.35),
        ("reports of a thousandth", vec![(1, 1_000); 50], 0.5, 0.5),
        ("reports of a thousandfold", vec![(1_000, 1); 50], 3.0, 3.0),
        ("nothing reported", vec![(0, 100); 3], 1.0, 1.0),
        ("nothing estimated", vec![(100, 0); 3], 1.0, 1.0),
    ] {
        let mut factor = Calibration::new(rules.start);
        for (actual, estimated) in updates {
            factor.update(actual, estimated, &rules);
            assert!((0.5..=3.0).contains(&factor.factor()), "{name}: within its bounds");
        }
        assert!((least..=most).contains(&factor.factor()), "{name}: {}", factor.factor());
    }
    let budget: BudgetRules = section("sven", "budget");
    for (name, tokens, overhead, fires, emergency) in [
        ("74 of 100", 74, 0, false, false),
        ("75 of 100", 75, 0, true, false),
        ("94 of 100", 94, 0, true, false),
        ("95 of 100", 95, 0, true, true),
        ("96 of 100 in an old system prompt", 96, 0, true, true),
        ("40 of 100 with an overhead of 500", 40, 500, true, false),
    ] {
        let accounts = Accounts { overhead, ..accounts(tokens, 100) };
        let ours = trigger("sven").fires(accounts.effective(), accounts.room);
        assert_eq!(ours, fires, "{name}");
        assert_eq!(ours && accounts.is_emergency(tokens, &budget), emergency, "{name}: emergency");
    }
}
