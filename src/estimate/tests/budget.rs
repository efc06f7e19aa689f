//! The room for a prompt, and what calibration makes of it.

use super::sizes::check_sizes;
use super::*;

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
