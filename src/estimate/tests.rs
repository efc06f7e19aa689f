//! One named case for each rule of a modelled system that concerns sizes and triggers, under the rules of its profile.

use super::budget::{calibrated, fraction, schema_overhead};
use super::usage::{backfilled, fresh_of_path, fresh_since, growth, shared};
use super::*;
use crate::harness::json::{JsonStyle, restyle};
use crate::harness::{Block, Call, Entry, Image, Kind, Outcome, Reported, Role, Stop};
use serde::de::DeserializeOwned;

mod budget;
mod sizes;

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
