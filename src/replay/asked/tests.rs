//! Commands, refused requests and places that somebody names, on small sessions.

use super::*;
use crate::profile::Profile;
use crate::replay::stage::Stage;
use crate::replay::{Mode, Plan, Prepared, Replay, ScheduleMode, effects, kinds, replay};
use crate::strategy::Strategy;
use crate::summarize::extractive::Extractive;
use crate::testing::transcript;
use crate::tokens::{TokenIndex, Tokenizer};
use crate::transcript::{MessageIdx, Refusal};

const OVERFLOW: &str = "prompt is too long: 210000 tokens > 200000 maximum";

fn profile(name: &str) -> Profile {
    Profile::named(name).expect("a name").expect("a valid profile")
}

/// A session of turns of four messages: a request, a call, its result, a reply; what stands at a place is put in before it.
fn session(turns: usize, put_in: &[(usize, &str)]) -> Transcript {
    session_of("read_file", turns, put_in)
}

fn session_of(tool: &str, turns: usize, put_in: &[(usize, &str)]) -> Transcript {
    let mut lines: Vec<String> = Vec::new();
    for turn in 0..turns {
        for (_, line) in put_in.iter().filter(|(at, _)| *at == turn) {
            lines.push((*line).to_owned());
        }
        lines.push(format!("U: please do part {turn} in src/part{turn}.rs x10"));
        lines.push(format!("A{{c{turn}={tool} src/part{turn}.rs}}: I look at part {turn}"));
        lines.push(format!("T(c{turn}): line x40"));
        lines.push(format!("A: part {turn} is done"));
    }
    transcript(&lines.join("\n"))
}

fn run(session: &Transcript, profile: &Profile, asked: Asked, window: u64) -> Replay {
    let tokens = TokenIndex::new(session, Tokenizer::O200k);
    let effects = effects(session);
    let stage = Stage::new(session, &tokens, Tokenizer::O200k, &kinds(&effects), profile);
    let prepared = Prepared { asked, ..Prepared::on(&stage, session, &tokens, Tokenizer::O200k, &effects) };
    let planner = prepared.planner(profile, None);
    let locked = planner.schedule(window, usize::MAX);
    let plan = Plan {
        profile,
        strategy: Strategy::Structured,
        window,
        limit: usize::MAX,
        mode: Mode::Grow,
        schedule: ScheduleMode::Locked,
    };
    let replayed = replay(&prepared, &planner, &locked, plan, &Extractive);
    // What each strategy does on its own comes to the same steps here.
    let free = Plan { schedule: ScheduleMode::Free, ..plan };
    let free = replay(&prepared, &planner, &locked, free, &Extractive);
    let steps = |replay: &Replay| -> Vec<(usize, Cause)> {
        replay.cycles.iter().map(|trace| (trace.cut.trigger, trace.cut.cause)).collect()
    };
    assert_eq!(steps(&replayed), steps(&free));
    replayed
}

fn follow() -> Asked {
    Asked { recorded: true, at: Vec::new() }
}

/// Trigger, first message of the tail, and cause of each cycle.
fn steps(replay: &Replay) -> Vec<(usize, usize, Cause)> {
    replay.cycles.iter().map(|trace| (trace.cut.trigger, trace.cut.cut, trace.cut.cause)).collect()
}

#[test]
fn a_command_is_an_echo_or_a_line_of_its_own() {
    let table = [
        ("/compact", false, Some(Command::Compact)),
        (" /compact keep the list of files ", false, Some(Command::Compact)),
        ("/clear", false, Some(Command::New)),
        ("/new", false, Some(Command::New)),
        ("/prune", false, Some(Command::Prune)),
        ("/resume", false, Some(Command::Resume)),
        ("/compactor", false, None),
        ("/compact\nand then go on", false, None),
        ("run /compact now", false, None),
        ("/etc/hosts", false, None),
        ("/", false, None),
        (
            "<command-name>/compact</command-name>\n<command-args></command-args>",
            true,
            Some(Command::Compact),
        ),
        (
            "<command-message>clear</command-message><command-name>/clear</command-name>",
            true,
            Some(Command::New),
        ),
        ("<command-name>/model</command-name>", true, None),
        ("/compact", true, None),
        ("<command-name>/compact</command-name>", false, None),
    ];
    for (text, injected, expect) in table {
        assert_eq!(command(text, injected), expect, "{text:?} {injected}");
    }
}

#[test]
fn recorded_steps_are_followed_only_where_they_are_asked_for() {
    let log = session(6, &[(4, "U: /compact")]);
    let window = 100_000;
    assert_eq!(steps(&run(&log, &profile("standard"), Asked::default(), window)), []);
    let [(16, cut, Cause::Manual)] = steps(&run(&log, &profile("pi"), follow(), window))[..] else {
        panic!("one compaction, where the command stands");
    };
    // Whatever the policy keeps at that window, the command itself is not compacted away.
    assert!(cut <= 16);
}

#[test]
fn a_place_is_compacted_with_the_tail_that_is_asked_for() {
    let log = session(8, &[]);
    for name in ["standard", "opal", "pi", "operator-use", "lis", "sven"] {
        let profile = profile(name);
        let tail = |keep| {
            let asked = Asked { recorded: false, at: vec![(24, Some(keep))] };
            let replay = run(&log, &profile, asked, 100_000);
            let [(24, cut, Cause::Manual)] = steps(&replay)[..] else {
                panic!("{name} {:?}", steps(&replay))
            };
            24 - cut
        };
        let (small, large) = if name == "sven" { (2, 8) } else { (60, 300) };
        assert!(tail(small) < tail(large), "{name}: {} {}", tail(small), tail(large));
    }
    // A place behind the end says nothing; the end itself is one.
    let at =
        |at| run(&log, &profile("standard"), Asked { recorded: false, at: vec![(at, Some(60))] }, 100_000);
    assert_eq!(at(33).cycles.len(), 0);
    assert_eq!(at(32).cycles.len(), 1);
}

#[test]
fn a_command_within_a_turn_waits_for_its_end_where_the_policy_says_so() {
    // Message 10 answers the call of message 9: nobody compacts between them.
    let log = session(4, &[]);
    for (asked, now, late) in [(9, 9, 12), (10, 11, 12), (12, 12, 12), (13, 13, 16), (16, 16, 16)] {
        let at = |name: &str| {
            let asked = Asked { recorded: false, at: vec![(asked, Some(40))] };
            run(&log, &profile(name), asked, 100_000).cycles.first().map(|trace| trace.cut.trigger)
        };
        assert_eq!((at("pi"), at("operator-use")), (Some(now), Some(late)), "asked for at {asked}");
    }
}

#[test]
fn a_refused_request_is_what_the_matcher_takes_for_an_overflow() {
    let mut log = session(6, &[]);
    let refusal = |text: &str| Refusal { before: MessageIdx(21), line: 1, text: text.to_owned() };
    for (text, expect) in
        [(OVERFLOW, 1), ("rate limit reached, try again in 20 s", 0), ("connection reset", 0)]
    {
        log.refusals = vec![refusal(text)];
        for name in ["standard", "opal", "pi"] {
            let replay = run(&log, &profile(name), follow(), 100_000);
            let overflows = replay.cycles.iter().filter(|trace| trace.cut.cause == Cause::Overflow).count();
            assert_eq!(overflows, expect, "{name}: {text}");
        }
        // This one looks at no error.
        assert_eq!(run(&log, &profile("lis"), follow(), 100_000).cycles.len(), 0);
    }
    log.refusals = vec![refusal(OVERFLOW)];
    // By size all of it may stay: the policy cuts all the same, and leaves the two newest messages.
    assert_eq!(steps(&run(&log, &profile("opal"), follow(), 100_000)), [(21, 19, Cause::Overflow)]);
}

#[test]
fn an_emergency_drops_what_leaves_and_writes_no_summary() {
    let mut log = session(6, &[]);
    let text = r#"{"error":{"message":"exceed_context_size_error","n_ctx":8192}}"#.to_owned();
    let text = format!("400 exceed_context_size_error {text}");
    log.refusals = vec![Refusal { before: MessageIdx(21), line: 1, text }];
    let replay = run(&log, &profile("sven"), follow(), 100_000);
    let [trace] = replay.cycles.as_slice() else { panic!("one cycle: {:?}", steps(&replay)) };
    assert_eq!(trace.cut.cause, Cause::Overflow);
    assert_eq!(trace.told().map(|generated| generated.used), Some(Strategy::Emergency));
}

#[test]
fn the_retry_of_a_refused_request_is_no_second_one() {
    let mut log = session(2, &[]);
    let whole = run(&log, &profile("standard"), Asked::default(), 100_000).cost.requests;
    assert_eq!(whole, 4);
    // The client wrote the error down as a reply, which has no usage.
    log.refusals = vec![Refusal { before: MessageIdx(7), line: 1, text: OVERFLOW.to_owned() }];
    assert_eq!(run(&log, &profile("standard"), Asked::default(), 100_000).cost.requests, whole - 1);
}

#[test]
fn a_new_session_owes_nothing_to_the_one_before() {
    let log = session(8, &[(4, "U: /clear")]);
    let asked = Asked { recorded: true, at: vec![(32, Some(40))] };
    let replay = run(&log, &profile("standard"), asked, 100_000);
    let [trace] = replay.cycles.as_slice() else { panic!("one cycle: {:?}", steps(&replay)) };
    assert_eq!((trace.began, trace.cut.from), (16, 16));
    let lists = format!("{:?}", trace.lists);
    assert!(lists.contains("part5.rs") && !lists.contains("part2.rs"), "{lists}");
    let summary = trace.context.summary().expect("a summary");
    assert!(summary.contains("part 5") && !summary.contains("part 2"), "{summary}");
    // Requests on both sides of the command are paid for.
    let plain = run(&log, &profile("standard"), Asked::default(), 100_000).cost;
    assert_eq!(replay.cost.requests, plain.requests);
    assert!(replay.cost.prompt < plain.prompt);
}

#[test]
fn a_session_taken_up_again_comes_back_whole_while_it_is_small() {
    let log = session(6, &[(5, "U: /resume")]);
    let tokens = TokenIndex::new(&log, Tokenizer::O200k).range(0..20);
    let lis = profile("lis");
    let at = |window: u64| steps(&run(&log, &lis, follow(), window)).first().copied();
    // More than 70 % of the budget: only its summary comes back.
    assert_eq!(at(tokens * 10 / 8), Some((20, 20, Cause::Manual)));
    assert_eq!(at(tokens * 10 / 5), None);
    // The others do not ask how large it is.
    assert_eq!(steps(&run(&log, &profile("pi"), follow(), tokens * 10 / 8 + 20_000)), []);
}

#[test]
fn a_command_prunes_results_from_there_on() {
    // Not one of the tools whose results the policy spares; of 3,600 tokens of results
    // 2,000 are protected.
    let log = session_of("write_file", 100, &[(90, "U: /prune")]);
    let cost = |asked: Asked| run(&log, &profile("lis"), asked, 12_000).cost;
    let (pruned, plain) = (cost(follow()), cost(Asked::default()));
    assert_eq!(pruned.requests, plain.requests);
    assert!(pruned.prompt < plain.prompt, "{pruned:?} {plain:?}");
}

#[test]
fn older_summaries_stay_in_a_store_where_the_system_has_one() {
    let log = session(12, &[]);
    let asked = || Asked { recorded: false, at: vec![(16, Some(40)), (32, Some(40)), (48, Some(40))] };
    let archived = |name: &str| {
        let replay = run(&log, &profile(name), asked(), 100_000);
        replay.cycles.iter().map(|trace| trace.archive.len()).collect::<Vec<_>>()
    };
    assert_eq!(archived("lis"), [0, 1, 2]);
    assert_eq!(archived("pi"), [0, 0, 0]);
    let replay = run(&log, &profile("lis"), asked(), 100_000);
    assert_eq!(replay.cycles[2].archive[1], replay.cycles[1].generated[0].text);
}

#[test]
fn what_arrives_during_a_compaction_stays_behind_its_cut() {
    let log = session(8, &[]);
    let mut lis = profile("lis");
    let at = |lis: &Profile| {
        let replay = run(&log, lis, Asked { recorded: false, at: vec![(16, Some(60))] }, 100_000);
        (replay.cycles[0].cut.trigger, replay.cycles[0].cut.cut, replay.cycles[0].context.entries.len())
    };
    let (_, cut, entries) = at(&lis);
    lis.session.async_messages = 3;
    assert_eq!(at(&lis), (19, cut, entries + 3));
    lis.session.async_messages = 100;
    assert_eq!(at(&lis).0, log.messages.len());
}

#[test]
fn an_input_beyond_the_window_is_an_overflow_for_those_who_look_at_usage() {
    // 3,000 words of one letter are as many tokens and half of that by their bytes: the request at 5 does not fit, and the
    // trigger, which would fire at 2,000, learns of it from the usage of the reply.
    let log = transcript(
        "U: go on\nA{a}: first\nT(a): a x100\nA{b}: second\nT(b): a x3000\nA{c}: third\nT(c): a x100\nA: done\nU: next\nA: end",
    );
    let first = |name: &str| {
        let replay = run(&log, &profile(name), Asked::default(), 2_500);
        replay.cycles.first().map(|trace| (trace.cut.trigger, trace.cut.cause))
    };
    assert_eq!(first("opal"), Some((7, Cause::Overflow)));
    assert_eq!(first("standard"), Some((5, Cause::Trigger)));
}

#[test]
fn a_pruned_result_costs_what_stands_behind_it() {
    let mut log = session_of("write_file", 200, &[(190, "U: /prune")]);
    for (time, message) in (0..).step_by(1_000).zip(&mut log.messages) {
        message.time = Some(time);
    }
    let cost = |asked: Asked| run(&log, &profile("lis"), asked, 34_000).cost;
    let (plain, pruned) = (cost(Asked::default()), cost(follow()));
    // Without pruning each request holds all of the one before.
    assert_eq!(plain.cached, plain.prompt - plain.newest);
    assert_eq!(plain.lived.breakpoints, [plain.cached, plain.cached]);
    // With it one request shares only what stands before the first pruned result, and no marked place but the head.
    let uncached = |cost: &crate::replay::Cost| cost.prompt - cost.cached;
    assert!(uncached(&pruned) > uncached(&plain), "{pruned:?} {plain:?}");
    assert!(pruned.lived.breakpoints[0] < pruned.lived.prefix[0], "{pruned:?}");
    assert_eq!(pruned.lived.prefix, [pruned.cached, pruned.cached]);
}

#[test]
fn nobody_compacts_among_the_results_of_a_batch() {
    let mut log = String::new();
    for turn in 0..6 {
        log += &format!("U: please do part {turn} x20\nA{{a{turn},b{turn},c{turn}}}: I look\n");
        log += &format!("T(a{turn}): one x30\nT(b{turn}): two x30\nT(c{turn}): three x30\nA: done\n");
    }
    let session = transcript(&log);
    let broken = |name: &str, at: usize| -> Vec<(usize, u64)> {
        let asked = Asked { recorded: false, at: vec![(at, Some(100))] };
        let replay = run(&session, &profile(name), asked, 100_000);
        let broken = |trace: &crate::replay::CycleTrace| {
            let broken = crate::score::invariants::check(
                &trace.context,
                &trace.context.serialize(&session),
                &session,
                None,
            );
            broken.orphan_results + broken.orphan_calls
        };
        replay.cycles.iter().map(|trace| (trace.cut.trigger, broken(trace))).collect()
    };
    for name in ["pi+fixes", "sven+fixes", "sven-interactive+fixes", "opal+fixes", "standard"] {
        // Messages 20, 21 and 22 answer the calls of message 19.
        for (at, expect) in [(19, 19), (20, 23), (21, 23), (22, 23), (23, 23)] {
            assert_eq!(broken(name, at), [(expect, 0)], "{name} {at}");
        }
    }
}
