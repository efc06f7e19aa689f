//! Forms of systems on a small session, with the numbers that the forms ask for.

use super::*;
use crate::replay::stage::Stage;
use crate::replay::{Asked, Mode, Plan, ScheduleMode, effects, kinds, replay};
use crate::summarize::extractive::Extractive;
use crate::testing::transcript;
use crate::tokens::{TokenIndex, Tokenizer};
use crate::transcript::{Refusal, Transcript};

fn told(session: &Transcript, profile: &Profile, strategy: Strategy, asked: Asked) -> (Vec<Event>, Replay) {
    let tokens = TokenIndex::new(session, Tokenizer::O200k);
    let effects = effects(session);
    let stage = Stage::new(session, &tokens, Tokenizer::O200k, &kinds(&effects), profile);
    let prepared = Prepared { asked, ..Prepared::on(&stage, session, &tokens, Tokenizer::O200k, &effects) };
    let planner = prepared.planner(profile, None);
    let locked = planner.schedule(profile.window, usize::MAX);
    let plan = Plan {
        profile,
        strategy,
        window: profile.window,
        limit: usize::MAX,
        mode: Mode::Grow,
        schedule: ScheduleMode::Locked,
    };
    let result = replay(&prepared, &planner, &locked, plan, &Extractive);
    (events(&prepared, &planner, profile, &result), result)
}

fn profile(name: &str) -> Profile {
    Profile::named(name).expect("a name").expect("a valid profile")
}

fn turns(count: usize) -> Transcript {
    let turn = |at: usize| {
        format!(
            "U: part {at} x30\nA{{c{at}=write_file src/part{at}.rs}}: I do it\nT(c{at}): line x90\nA: done with {at}\n"
        )
    };
    transcript(&(0..count).map(turn).collect::<String>())
}

fn by_hand(at: usize, keep: u64) -> Asked {
    Asked { recorded: false, at: vec![(at, Some(keep))] }
}

fn texts(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.text.as_str()).collect()
}

#[test]
fn numbers_are_short_as_they_are_read() {
    let table = [
        (0, "0"),
        (999, "999"),
        (1_000, "1k"),
        (1_049, "1k"),
        (1_050, "1.1k"),
        (12_400, "12.4k"),
        (149_960, "150k"),
    ];
    for (number, text) in table {
        assert_eq!(Numbers::Short.write(number), text);
        assert_eq!(Numbers::Plain.write(number), number.to_string());
    }
}

#[test]
fn a_start_and_an_end_count_messages() {
    // 40 messages; of those before number 31 the newest stay, and the summary is one.
    let (events, replay) = told(&turns(10), &profile("opal"), Strategy::Structured, by_hand(31, 300));
    let cut = replay.cycles[0].cut.cut;
    let after = 31 - cut + 1;
    assert_eq!(texts(&events), ["{:compaction_start, 31}", &format!("{{:compaction_end, 31, {after}}}")]);
    // Told although nothing could leave.
    let (events, _) = told(&turns(10), &profile("opal"), Strategy::Structured, by_hand(31, 100_000));
    assert_eq!(texts(&events), ["{:compaction_start, 31}", "{:compaction_end, 31, 31}"]);
}

#[test]
fn a_refused_request_is_told_of_as_the_system_does_it() {
    let mut session = turns(10);
    let refused = Asked { recorded: true, at: Vec::new() };
    let refusal = |text: &str| vec![Refusal { before: MessageIdx(29), line: 1, text: text.to_owned() }];
    session.refusals = refusal("prompt is too long");
    let (events, _) = told(&session, &profile("opal"), Strategy::Structured, refused.clone());
    assert_eq!(texts(&events), ["{:compaction_end, 29, 3}"]);
    session.refusals = refusal(r#"exceed_context_size_error {"n_ctx":8192}"#);
    let (events, replay) = told(&session, &profile("sven"), Strategy::Structured, refused);
    assert_eq!((texts(&events), replay.cycles.len()), (Vec::new(), 1));
}

#[test]
fn a_line_with_tokens_names_the_round_of_the_turn() {
    // Behind a batch of results the round is told, before a new message of the person it is none.
    for (at, behind) in [(27, " (tool round 1)"), (28, "")] {
        let (events, _) = told(&turns(10), &profile("sven"), Strategy::Narrative, by_hand(at, 2));
        let [text] = texts(&events)[..] else { panic!("one line: {events:?}") };
        let rest = text.strip_prefix("[sven:context:compacted:narrative] ").expect(text);
        let (before, rest) = rest.split_once(" → ").expect(text);
        let after = rest.strip_suffix(behind).and_then(|rest| rest.strip_suffix(" tokens")).expect(text);
        let (before, after): (u64, u64) = (before.parse().expect(text), after.parse().expect(text));
        assert!(0 < after && after < before, "{text}");
    }
}

#[test]
fn a_chat_is_told_what_the_context_is_made_of() {
    let session = turns(10);
    let (events, replay) = told(&session, &profile("lis"), Strategy::Narrative, by_hand(40, 400));
    let trace = &replay.cycles[0];
    let [text] = texts(&events)[..] else { panic!("one notice: {events:?}") };
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 6, "{text}");
    let short = |number| Numbers::Short.write(number);
    assert_eq!(
        lines[0],
        format!("⚙️ Compacted ({} → {})", short(trace.tokens_before), short(trace.tokens_after))
    );
    assert_eq!(lines[1], "  🔧 System: 0 tokens");
    assert_eq!(lines[2], format!("  📝 Summary: {} tokens", short(trace.generated[0].tokens)));
    let percent = (trace.tokens_after as f64 / 120.0).round();
    assert_eq!(lines[5], format!("  📊 Total: {}/12k ({percent}%)", short(trace.tokens_after)));
}

#[test]
fn pruning_is_told_once_with_what_went() {
    let mut lis = profile("lis");
    // 90 tokens a result: more than 2,000 of them behind the 23rd; the newest 500 stay.
    lis.trigger.prune = Some(crate::estimate::trigger::PruneRules { above: 2_000 });
    if let Some(protect) = lis.outputs.prune.as_mut().and_then(|pruning| pruning.protect.as_mut()) {
        protect.most = 500;
    }
    let (events, _) = told(&turns(40), &lis, Strategy::Structured, Asked::default());
    let [event] = events.as_slice() else { panic!("one notice: {events:?}") };
    // A check behind each turn: the first at which 23 results are there.
    assert_eq!((event.at, event.kind, event.cycle), (92, "pruned", None));
    // 23 x 90 tokens; 18 results of those become 10 tokens each.
    assert!(
        event.text.starts_with("🔧 Tool outputs pruned (2.1k → 630, -69%)\n  📊 Context: "),
        "{}",
        event.text
    );
}

#[test]
fn what_is_compacted_at_a_check_is_not_pruned_there() {
    let mut lis = profile("lis");
    lis.trigger.prune = None;
    let log = turns(120);
    let (_, plain) = told(&log, &lis, Strategy::Structured, Asked::default());
    let first = &plain.cycles[0];
    // 90 tokens a result, one of four messages: more than this for the first time at the check that compacts.
    let above = 90 * (first.cut.trigger as u64 / 4) - 1;
    lis.trigger.prune = Some(crate::estimate::trigger::PruneRules { above });
    let (events, replay) = told(&log, &lis, Strategy::Structured, Asked::default());
    assert_eq!(replay.cycles[0].cut.trigger, first.cut.trigger);
    assert_eq!(replay.cycles[0].tokens_before, first.tokens_before);
    assert_eq!((events[0].kind, events[0].at), ("end", first.cut.trigger));
    // A little earlier it is pruned there, and the compaction comes later.
    lis.trigger.prune = Some(crate::estimate::trigger::PruneRules { above: above - 90 });
    let (events, _) = told(&log, &lis, Strategy::Structured, Asked::default());
    assert_eq!((events[0].kind, events[0].at), ("pruned", first.cut.trigger - 4));
}

#[test]
fn every_name_that_a_profile_may_use_is_filled() {
    let all =
        |names: &[&str]| names.iter().map(|name| format!("{name}={{{name}}}")).collect::<Vec<_>>().join(" ");
    let mut lis = profile("lis");
    lis.events.start = all(&COMPACTED);
    lis.events.end = all(&COMPACTED);
    lis.events.pruned = all(&PRUNED);
    lis.trigger.prune = Some(crate::estimate::trigger::PruneRules { above: 500 });
    let (events, _) = told(&turns(120), &lis, Strategy::Structured, Asked::default());
    for kind in ["start", "end", "pruned"] {
        let event = events.iter().find(|event| event.kind == kind).expect(kind);
        assert!(!event.text.contains('{'), "{kind}: {}", event.text);
    }
}

#[test]
fn a_system_of_which_no_form_is_known_has_ours() {
    let (events, _) = told(&turns(10), &profile("standard"), Strategy::Truncate, by_hand(31, 300));
    let [text] = texts(&events)[..] else { panic!("one line: {events:?}") };
    assert!(text.starts_with("compacted (manual, truncate): 31 -> "), "{text}");
}
