//! The loop on small sessions, and its promises on arbitrary ones.

use super::*;
use crate::score::invariants::{Broken, check};
use crate::strategy::Strategy;
use crate::summarize::extractive::Extractive;
use crate::summarize::{SummarizeError, SummaryRequest};
use crate::testing::transcript;
use crate::transcript::Message;
use proptest::prelude::*;

const STRATEGIES: [Strategy; 4] =
    [Strategy::Structured, Strategy::Narrative, Strategy::Truncate, Strategy::Emergency];

/// Replays a session under the default policy and hands the result to `check`.
fn with_replay(
    transcript: &Transcript,
    strategy: Strategy,
    window: u64,
    schedule: ScheduleMode,
    check: impl FnOnce(&Replay, &Planner<'_>),
) {
    with_profile(&Profile::standard(), transcript, strategy, window, schedule, &Extractive, check);
}

/// Replays a session under a policy and hands the result to `check`.
fn with_profile(
    profile: &Profile,
    transcript: &Transcript,
    strategy: Strategy,
    window: u64,
    schedule: ScheduleMode,
    summarizer: &dyn Summarizer,
    check: impl FnOnce(&Replay, &Planner<'_>),
) {
    let tokenizer = Tokenizer::Heuristic;
    let tokens = TokenIndex::new(transcript, tokenizer);
    let effects = effects(transcript);
    let prepared = Prepared::new(transcript, &tokens, tokenizer, &effects);
    let planner = prepared.planner(profile, None);
    let locked = planner.schedule(window, usize::MAX);
    let plan = Plan { profile, strategy, window, limit: usize::MAX, mode: Mode::Grow, schedule };
    let result = replay(&prepared, &planner, &locked, plan, summarizer);
    check(&result, &planner);
}

fn long_session(turns: usize) -> Transcript {
    let mut notation = String::from("S: be careful\n");
    for turn in 0..turns {
        notation.push_str(&format!(
            "U: please do step {turn} of the work\nA{{a{turn},b{turn}}}: looking word x60\nT(a{turn}): out x120\nT(b{turn}): more x80\nA: step {turn} is done\n"
        ));
    }
    transcript(&notation)
}

#[test]
fn all_strategies_share_the_locked_schedule() {
    let session = long_session(40);
    let mut seen: Vec<Vec<Cut>> = Vec::new();
    for strategy in STRATEGIES {
        with_replay(&session, strategy, 6_000, ScheduleMode::Locked, |result, _| {
            assert!(result.cycles.len() > 2, "{} cycles", result.cycles.len());
            seen.push(result.cycles.iter().map(|trace| trace.cut.clone()).collect());
        });
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn the_trigger_fires_at_the_first_request_at_or_above_the_threshold() {
    let session = long_session(40);
    with_replay(&session, Strategy::Emergency, 6_000, ScheduleMode::Free, |result, planner| {
        let amounts = planner.amounts(6_000);
        let first = &result.cycles[0];
        assert!(first.tokens_before >= amounts.trigger, "{} of {}", first.tokens_before, amounts.trigger);
        let earlier = first.cut.trigger
            - (1..first.cut.trigger)
                .find(|back| session.messages[first.cut.trigger - back].role == Role::Assistant)
                .unwrap();
        assert!(planner.content(None, 0, Stretch { tail: 0, since: 0 }, earlier, &amounts) < amounts.trigger);
    });
}

#[test]
fn the_tail_stays_within_its_budget_and_context_is_conserved() {
    let session = long_session(60);
    for strategy in STRATEGIES {
        with_replay(&session, strategy, 8_000, ScheduleMode::Locked, |result, planner| {
            let tokens = TokenIndex::new(&session, Tokenizer::Heuristic);
            for trace in &result.cycles {
                let tail = tokens.range(trace.cut.cut..trace.cut.trigger);
                assert!(tail <= planner.amounts(8_000).keep, "tail {tail}");
                assert!(trace.tokens_after < trace.tokens_before);
                assert_conserved(&session, trace);
                assert_tokens(&session, &tokens, trace);
            }
        });
    }
}

/// Every message of the prefix is exactly one of kept, clipped, dropped; kept ones stand once, in order.
fn assert_conserved(session: &Transcript, trace: &CycleTrace) {
    let mut seen = vec![0u8; trace.cut.trigger];
    for entry in &trace.context.entries {
        match entry {
            Entry::Kept(at) | Entry::Clipped { message: at, .. } => seen[at.get()] += 1,
            Entry::Summary { .. } => {}
        }
    }
    for (at, count) in seen.iter().enumerate() {
        assert!(*count <= 1, "message {at} stands {count} times");
        if at >= trace.cut.cut || session.messages[at].role == Role::System {
            assert_eq!(*count, 1, "message {at} is missing");
        }
    }
}

/// The tokens a trace reports are those of its entries.
fn assert_tokens(_session: &Transcript, tokens: &TokenIndex, trace: &CycleTrace) {
    let sum: u64 = trace
        .context
        .entries
        .iter()
        .map(|entry| match entry {
            Entry::Kept(at) => tokens.message(*at),
            Entry::Clipped { text, .. } | Entry::Summary { text, .. } => {
                Tokenizer::Heuristic.count(text) + MESSAGE_OVERHEAD
            }
        })
        .sum();
    assert_eq!(sum, trace.tokens_after);
}

#[test]
fn the_newest_request_is_pinned_right_after_the_summary() {
    // One long turn: the request scrolls out of the tail and must stay verbatim.
    let mut notation = String::from("U: keep the API stable and fix the retry bug\n");
    for step in 0..60 {
        notation.push_str(&format!("A{{c{step}}}: step\nT(c{step}): output x100\n"));
    }
    let session = transcript(&notation);
    for strategy in STRATEGIES {
        with_replay(&session, strategy, 4_000, ScheduleMode::Locked, |result, _| {
            assert!(result.cycles.len() >= 2);
            for trace in &result.cycles {
                assert_eq!(trace.cut.pinned.map(|(at, _)| at), Some(0));
                assert!(trace.cut.turn_start.is_some(), "the cut splits the only turn");
                let summary =
                    trace.context.entries.iter().rposition(|entry| matches!(entry, Entry::Summary { .. }));
                assert_eq!(trace.context.entries[summary.unwrap() + 1], Entry::Kept(MessageIdx(0)));
                assert_eq!(
                    check(&trace.context, &trace.context.serialize(&session), &session, Some(MessageIdx(0))),
                    Broken::default()
                );
            }
        });
    }
}

#[test]
fn a_request_larger_than_a_quarter_of_the_window_keeps_head_and_tail() {
    let mut notation = String::from("U: start of a long brief word x3000\n");
    for step in 0..60 {
        notation.push_str(&format!("A{{c{step}}}: step\nT(c{step}): output x100\n"));
    }
    let session = transcript(&notation);
    with_replay(&session, Strategy::Structured, 9_000, ScheduleMode::Locked, |result, planner| {
        let trace = &result.cycles[0];
        let clipped = trace.context.entries.iter().find_map(|entry| match entry {
            Entry::Clipped { text, .. } => Some(text),
            Entry::Kept(_) | Entry::Summary { .. } => None,
        });
        let clipped = clipped.expect("the request is clipped");
        assert!(Tokenizer::Heuristic.count(clipped) <= planner.amounts(9_000).pin);
        assert!(clipped.starts_with("start of a long brief") && clipped.contains("left out"));
    });
}

#[test]
fn the_control_compacts_nothing() {
    let session = long_session(40);
    with_replay(&session, Strategy::None, 6_000, ScheduleMode::Locked, |result, _| {
        assert!(!result.cycles.is_empty());
        for trace in &result.cycles {
            assert_eq!(trace.tokens_before, trace.tokens_after);
            assert!(trace.generated.is_empty());
            assert_eq!(trace.context.entries.len(), trace.cut.trigger);
        }
    });
}

#[test]
fn a_session_that_fits_is_never_compacted() {
    let session = long_session(3);
    with_replay(&session, Strategy::Structured, 100_000, ScheduleMode::Locked, |result, _| {
        assert!(result.cycles.is_empty() && !result.stuck);
    });
}

#[test]
fn one_unit_larger_than_the_window_is_unfit_and_ends_the_thrash() {
    let session = transcript("U: go\nA{a}: x\nT(a): huge x9000\nA: ok\nU: and\nA: ok\nU: more\nA: done");
    with_replay(&session, Strategy::Structured, 3_000, ScheduleMode::Locked, |result, _| {
        assert!(result.cycles.iter().any(|trace| trace.cut.unfit));
        assert!(result.cycles.len() <= 4, "{} cycles", result.cycles.len());
    });
}

#[test]
fn the_window_search_finds_the_cycles_asked_for() {
    let session = long_session(80);
    let tokens = TokenIndex::new(&session, Tokenizer::Heuristic);
    let effects = effects(&session);
    let prepared = Prepared::new(&session, &tokens, Tokenizer::Heuristic, &effects);
    let profile = Profile::standard();
    let planner = prepared.planner(&profile, None);
    for wanted in 1..=5 {
        let window = planner.window_for(wanted);
        assert_eq!(planner.schedule(window, wanted).cuts.len(), wanted, "window {window}");
    }
}

#[test]
fn costs_add_up_to_every_request_of_the_session() {
    let session = long_session(40);
    with_replay(&session, Strategy::Structured, 6_000, ScheduleMode::Locked, |result, _| {
        let replies = session.messages.iter().filter(|message| message.role == Role::Assistant).count();
        assert_eq!(result.cost.requests, replies as u64);
        assert!(result.cost.cached < result.cost.prompt);
    });
}

#[test]
fn repeat_compacts_the_same_context_again() {
    let session = long_session(20);
    let tokens = TokenIndex::new(&session, Tokenizer::Heuristic);
    let effects = effects(&session);
    let prepared = Prepared::new(&session, &tokens, Tokenizer::Heuristic, &effects);
    let profile = Profile::standard();
    let planner = prepared.planner(&profile, None);
    let schedule = repeat_schedule(&planner, session.messages.len(), 6_000, 4);
    let plan = Plan {
        profile: &profile,
        strategy: Strategy::Structured,
        window: 6_000,
        limit: 4,
        mode: Mode::Repeat,
        schedule: ScheduleMode::Locked,
    };
    let result = replay(&prepared, &planner, &schedule, plan, &Extractive);
    assert_eq!(result.cycles.len(), 4);
    let texts: Vec<&str> = result.cycles.iter().map(|trace| trace.generated[0].text.as_str()).collect();
    assert_eq!(texts[2], texts[3], "a summary of a summary settles");
}

fn named(name: &str) -> Profile {
    Profile::named(name).expect("an embedded profile").expect("valid")
}

/// Texts of the first cycle's context, in order.
fn told(session: &Transcript, trace: &CycleTrace) -> Vec<String> {
    trace
        .context
        .serialize(session)
        .iter()
        .flat_map(|sent| &sent.blocks)
        .filter_map(|block| match block {
            crate::context::Block::Text(text) => Some(text.clone().into_owned()),
            _ => None,
        })
        .collect()
}

#[test]
fn a_tail_of_nothing_in_sven_leaves_the_summary_that_was_asked_for() {
    let session = long_session(40);
    for (name, strategy) in [("sections", Strategy::Structured), ("prose", Strategy::Narrative)] {
        let mut sven = named("sven");
        sven.keep.entries = Some(0);
        with_profile(&sven, &session, strategy, 6_000, ScheduleMode::Free, &Extractive, |result, _| {
            let first = result.cycles.first().expect("a cycle");
            assert!(first.tokens_before > 0, "{name}: tokens before");
            assert_eq!(first.generated[0].used, strategy, "{name}: strategy");
            assert_eq!(first.cut.cut, first.cut.trigger, "{name}: nothing stays");
            let texts = told(&session, first);
            assert!(texts.contains(&first.generated[0].text), "{name}: the summary stands there");
            assert!(
                !texts.iter().any(|text| text.starts_with("please do step 0")),
                "{name}: old texts are gone"
            );
        });
    }
}

/// Tells which cycle it writes for, and what it was given.
#[derive(Default)]
struct Numbered(std::sync::Mutex<Vec<Option<String>>>);

impl Summarizer for Numbered {
    fn name(&self) -> &'static str {
        "numbered"
    }

    fn summarize(
        &self,
        request: &crate::summarize::SummaryRequest<'_>,
    ) -> Result<String, crate::summarize::SummarizeError> {
        let mut given = self.0.lock().expect("no panic elsewhere");
        given.push(request.previous.map(str::to_owned));
        Ok(format!("summary number {}", given.len()))
    }
}

#[test]
fn a_second_compaction_of_lis_loses_what_only_the_first_summary_told() {
    let session = long_session(60);
    let numbered = Numbered::default();
    let lis = named("lis");
    with_profile(&lis, &session, Strategy::Narrative, 12_000, ScheduleMode::Free, &numbered, |result, _| {
        let [first, second, ..] = result.cycles.as_slice() else { panic!("{} cycles", result.cycles.len()) };
        let prefix = "Here is context from the previous conversation session:\n";
        for (name, trace, number) in [("first", first, 1), ("second", second, 2)] {
            let sent = trace.context.serialize(&session);
            let system =
                session.messages.iter().filter(|it| it.role == crate::transcript::Role::System).count();
            assert_eq!(
                sent[system].role,
                crate::transcript::Role::Assistant,
                "{name}: behind the system prompt"
            );
            assert!(told(&session, trace).contains(&format!("{prefix}summary number {number}")), "{name}");
        }
        assert!(
            !told(&session, second).iter().any(|text| text.contains("summary number 1")),
            "the first is gone"
        );
    });
    assert!(numbered.0.into_inner().expect("no panic").iter().all(Option::is_none), "no summary is taken up");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever the session, no cycle of any strategy parts a pair, loses the request or miscounts.
    #[test]
    fn any_session_keeps_every_promise(steps in proptest::collection::vec((0u8..6, 1usize..200), 4..80), window in 600u64..6_000) {
        let mut notation = String::from("U: begin\n");
        let mut open: Vec<String> = Vec::new();
        for (number, (kind, size)) in steps.iter().enumerate() {
            match kind {
                0 => notation.push_str(&format!("U: ask {number} word x{size}\n")),
                1 => notation.push_str(&format!("A: say word x{size}\n")),
                2 => {
                    notation.push_str(&format!("A{{p{number},q{number}}}: word x{size}\n"));
                    open.push(format!("p{number}"));
                    open.push(format!("q{number}"));
                }
                3 => notation.push_str(&format!("U*: reminder word x{size}\n")),
                _ => if let Some(id) = open.pop() { notation.push_str(&format!("T({id}): word x{size}\n")) },
            }
        }
        let session = transcript(&notation);
        let tokens = TokenIndex::new(&session, Tokenizer::Heuristic);
        for strategy in STRATEGIES {
            for mode in [ScheduleMode::Locked, ScheduleMode::Free] {
                with_replay(&session, strategy, window, mode, |result, planner| {
                    for trace in &result.cycles {
                        assert_conserved(&session, trace);
                        assert_tokens(&session, &tokens, trace);
                        let newest = prepared_request(&session, trace.cut.trigger);
                        assert_eq!(check(&trace.context, &trace.context.serialize(&session), &session, newest), Broken::default());
                        let generated: u64 = trace.generated.iter().map(|text| text.tokens).sum();
                        assert!(generated <= planner.amounts(window).budget);
                    }
                });
            }
        }
    }
}

fn prepared_request(session: &Transcript, end: usize) -> Option<MessageIdx> {
    session.messages.iter().take(end).rposition(Message::is_user_request).map(MessageIdx::new)
}

#[test]
fn each_system_lists_files_in_its_own_order() {
    let touched = ["b.rs", "\u{ff5e}.rs", "\u{1f600}.rs", "a.rs", "b.rs"];
    let mut log = String::from("U: change them\n");
    for (at, file) in touched.iter().enumerate() {
        log += &format!("A{{c{at}=Write /w/{file}}}: next\nT(c{at}): ok\n");
    }
    log += "A: done\nU: go on\nA: I go on\n";
    let session = transcript(&log);
    let expect = [
        // Most recently touched first.
        ("standard", "b.rs a.rs \u{1f600}.rs \u{ff5e}.rs"),
        // In the order of first mention.
        ("opal", "b.rs \u{ff5e}.rs \u{1f600}.rs a.rs"),
        // By UTF-16 units, and by code points.
        ("pi", "a.rs b.rs \u{1f600}.rs \u{ff5e}.rs"),
        ("operator-use", "a.rs b.rs \u{ff5e}.rs \u{1f600}.rs"),
    ];
    for (name, expect) in expect {
        let profile = Profile::named(name).expect("a name").expect("a valid profile");
        let tokens = TokenIndex::new(&session, Tokenizer::O200k);
        let effects = effects(&session);
        let asked = Asked { recorded: false, at: vec![(12, Some(1))] };
        let prepared = Prepared { asked, ..Prepared::new(&session, &tokens, Tokenizer::O200k, &effects) };
        let planner = prepared.planner(&profile, None);
        let locked = planner.schedule(100_000, 1);
        for strategy in [Strategy::Structured, Strategy::Truncate] {
            let plan = Plan {
                profile: &profile,
                strategy,
                window: 100_000,
                limit: 1,
                mode: Mode::Grow,
                schedule: ScheduleMode::Locked,
            };
            let result = replay(&prepared, &planner, &locked, plan, &Extractive);
            let text = result.cycles.first().and_then(|trace| trace.context.summary()).expect("a summary");
            let (_, listed) = text.split_once("<modified-files>\n").expect(text);
            let (listed, _) = listed.split_once("\n</modified-files>").expect(text);
            let names: Vec<&str> =
                listed.lines().map(|path| path.rsplit('/').next().unwrap_or(path)).collect();
            assert_eq!(names.join(" "), expect, "{name} {strategy}");
        }
    }
}

/// Fails as told by the number of the call, from 0; else it is the extractive summarizer.
struct FailsAt<F>(F, std::sync::atomic::AtomicUsize);

impl<F: Fn(usize) -> Option<Result<String, SummarizeError>> + Sync> Summarizer for FailsAt<F> {
    fn name(&self) -> &'static str {
        "fails-at"
    }

    fn summarize(&self, request: &SummaryRequest<'_>) -> Result<String, SummarizeError> {
        let call = self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        (self.0)(call).unwrap_or_else(|| Extractive.summarize(request))
    }
}

/// Replays a session under a policy at the window that it reaches so many cycles in.
fn with_cycles(
    profile: &Profile,
    cycles: usize,
    schedule: ScheduleMode,
    summarizer: &dyn Summarizer,
    check: impl FnOnce(&Replay, &Planner<'_>),
) {
    let session = long_session(120);
    let tokens = TokenIndex::new(&session, Tokenizer::Heuristic);
    let effects = effects(&session);
    let prepared = Prepared::new(&session, &tokens, Tokenizer::Heuristic, &effects);
    let window = prepared.planner(profile, None).window_for(cycles);
    with_profile(profile, &session, Strategy::Structured, window, schedule, summarizer, check);
}

/// A policy without split turns, in which the call of each cycle has its number.
fn unsplit(name: &str) -> Profile {
    let text = format!("extends = \"{name}\"\nname = \"{name}-whole\"\n[split]\nsummaries = 1\n");
    Profile::parse("whole.toml", &text).expect("a profile")
}

fn down() -> SummarizeError {
    SummarizeError::Failed("the model is down".to_owned())
}

#[test]
fn a_failed_summary_leaves_the_session_as_it_was_where_the_policy_says_so() {
    for name in ["pi", "pi-0.73", "operator-use", "lis"] {
        let profile = unsplit(name);
        for schedule in [ScheduleMode::Locked, ScheduleMode::Free] {
            let fails = FailsAt(|call| (call == 1).then(|| Err(down())), 0.into());
            with_cycles(&profile, 4, schedule, &fails, |result, _| {
                let [first, second, third, ..] = result.cycles.as_slice() else {
                    panic!("{name}: {} cycles", result.cycles.len())
                };
                assert_eq!(first.failed, None);
                assert_eq!(second.failed.as_deref(), Some("the model is down"), "{name}");
                // Nothing is written and nothing leaves: what was behind the first cut still is.
                assert_eq!((second.generated.len(), second.cut.cut), (0, first.cut.cut), "{name}");
                assert_eq!(second.tokens_after, second.tokens_before, "{name}");
                assert_eq!(second.context.entries.len() as u64, second.messages_before, "{name}");
                let summaries = |trace: &CycleTrace| -> Vec<String> {
                    let texts = trace.context.entries.iter().filter_map(|entry| match entry {
                        Entry::Summary { text, .. } => Some(text.clone()),
                        Entry::Kept(_) | Entry::Clipped { .. } => None,
                    });
                    texts.collect()
                };
                assert_eq!(summaries(second), summaries(first), "{name}");
                // The next one takes up all that still stands there.
                assert_eq!((third.failed.as_deref(), third.cut.from), (None, first.cut.cut), "{name}");
                assert!(third.cut.cut > third.cut.from && third.generated.len() == 1, "{name}");
            });
        }
    }
}

#[test]
fn a_failed_summary_is_an_emergency_where_the_policy_says_so() {
    let profile = unsplit("sven");
    for schedule in [ScheduleMode::Locked, ScheduleMode::Free] {
        let fails = FailsAt(|call| (call == 0).then(|| Err(down())), 0.into());
        with_cycles(&profile, 4, schedule, &fails, |result, _| {
            let [first, second, ..] = result.cycles.as_slice() else { panic!("two cycles") };
            let [notice] = first.generated.as_slice() else { panic!("{:?}", first.generated) };
            assert_eq!(
                (notice.used, notice.fallback.as_deref()),
                (Strategy::Emergency, Some("the model is down"))
            );
            assert!(first.cut.drop && first.failed.is_none());
            assert!(first.cut.trigger - first.cut.cut <= 6, "{:?}", first.cut);
            assert!(
                second.generated.iter().all(|it| it.used == Strategy::Structured),
                "{:?}",
                second.generated
            );
            assert!(second.cut.from == first.cut.cut);
        });
    }
}

#[test]
fn an_emergency_that_moves_the_cut_holds_the_pinned_request_once() {
    for entries in [2, 30] {
        let text =
            format!("extends = \"sven\"\nname = \"pins\"\npin_request = true\n[keep]\nentries = {entries}\n");
        let profile = Profile::parse("pins.toml", &text).expect("a profile");
        let fails = FailsAt(|_| Some(Err(down())), 0.into());
        let session = long_session(120);
        with_cycles(&profile, 4, ScheduleMode::Locked, &fails, |result, _| {
            assert!(!result.cycles.is_empty());
            for trace in result.cycles.iter().filter(|trace| !trace.generated.is_empty()) {
                let before = &session.messages[..trace.cut.trigger];
                let newest = before.iter().rposition(Message::is_user_request).expect("a request");
                let holds = |entry: &&Entry| match entry {
                    Entry::Kept(at) | Entry::Clipped { message: at, .. } => at.get() == newest,
                    Entry::Summary { .. } => false,
                };
                assert_eq!(trace.context.entries.iter().filter(holds).count(), 1, "{:?}", trace.cut);
            }
        });
    }
}

#[test]
fn a_failed_summary_gives_way_to_the_text_of_truncate_where_the_policy_says_so() {
    for name in ["opal", "standard"] {
        let profile = unsplit(name);
        for answer in [Err(down()), Ok(String::new())] {
            let fails = FailsAt(|call| (call == 0).then(|| answer.clone()), 0.into());
            let locked = ScheduleMode::Locked;
            with_cycles(&profile, 4, locked, &fails, |result, _| {
                let [first, second, ..] = result.cycles.as_slice() else { panic!("two cycles") };
                let used = |trace: &CycleTrace| trace.generated.iter().map(|it| it.used).collect::<Vec<_>>();
                assert_eq!(
                    (used(first), used(second)),
                    (vec![Strategy::Truncate], vec![Strategy::Structured])
                );
                assert!(first.generated.iter().all(|it| it.fallback.is_some()), "{name}");
            });
        }
    }
}

#[test]
fn a_summary_without_a_word_is_one_for_those_who_never_look() {
    // Those who look for a text take one of white space; pi and Operator-Use do not look at all.
    for (name, answer, taken) in [
        ("pi", "", true),
        ("operator-use", "", true),
        ("opal", "", false),
        ("opal", " \n", true),
        ("sven", "", false),
        ("sven", " \n", true),
        ("standard", "", false),
        ("standard", " \n", false),
        ("pi+fixes", "", false),
        ("opal+fixes", " \n", false),
    ] {
        let profile = unsplit(name);
        let says = FailsAt(|_| Some(Ok(answer.to_owned())), 0.into());
        let locked = ScheduleMode::Locked;
        with_cycles(&profile, 4, locked, &says, |result, _| {
            let first = &result.cycles[0];
            let blank = first.generated.first().is_some_and(|it| it.used == Strategy::Structured);
            assert_eq!(blank, taken, "{name} {answer:?}: {:?} {:?}", first.generated, first.failed);
        });
    }
}
