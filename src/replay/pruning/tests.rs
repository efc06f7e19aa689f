//! Sums against the rules themselves, applied to the entries of each stretch.

use super::*;
use crate::harness::entries;
use crate::outputs::{Session, prune};
use crate::profile::Profile;
use crate::replay::{Planner, Prepared, effects};
use crate::testing::transcript;
use crate::tokens::TokenIndex;
use proptest::prelude::*;

/// Tools by name, so that kinds say nothing: one that Lis spares, one that it clears, one that it does not know.
const TOOLS: [&str; 3] = ["read_file", "write_file", "strange"];

/// A session of turns of calls; each step is a tool, words of its result, and whether a new turn begins.
fn session(steps: &[(usize, usize, bool)]) -> Transcript {
    let mut log = String::from("U: begin\n");
    for (at, (tool, words, turn)) in steps.iter().enumerate() {
        let tool = TOOLS[tool % TOOLS.len()];
        log += &format!("A{{c{at}={tool} /w/f{at}}}: step {at}\nT(c{at}): word x{}\n", words.max(&1));
        if *turn {
            log += &format!("A: step {at} is done\nU: and now {at}\n");
        }
    }
    transcript(&(log + "A: end"))
}

fn profile(text: &str) -> Profile {
    Profile::parse("own.toml", text).expect("a valid profile")
}

/// Lis, pruning of all results as Operator-Use does it where it is told to, and pruning that has to be worth it.
fn profiles() -> [Profile; 3] {
    [
        profile("extends = \"lis\"\nname = \"own\"\n[outputs.prune]\nspare_kinds = []\n"),
        profile(
            "extends = \"operator-use\"\nname = \"own\"\n[outputs.prune]\nenabled = true\nsmall = 20\n\
             trim = { above = 300, head = 20, middle = \"...\", tail = 20 }\n",
        ),
        profile(include_str!("../../../fixtures/profiles/opencode.toml")),
    ]
}

/// What the rules make of the results of a stretch: link and text.
fn expected(
    session: &Transcript,
    profile: &Profile,
    planner: &Planner<'_>,
    stretch: Stretch,
    end: usize,
    amounts: &Amounts,
) -> Vec<(usize, String)> {
    let estimates = profile.estimate.clone().expect("estimates");
    let estimates = crate::estimate::EstimateRules { reported: false, ..estimates };
    let whole = entries(session, profile.messages);
    let own: Vec<Entry<'_>> = whole
        .into_iter()
        .filter(|entry| entry.source.is_some_and(|at| (stretch.tail..end).contains(&at.get())))
        .collect();
    let tokens: Vec<Option<u64>> =
        own.iter().map(|entry| crate::estimate::entry_tokens(entry, &estimates).ok()).collect();
    let before =
        |at: usize| own.iter().take_while(|entry| entry.source.is_some_and(|it| it.get() < at)).count();
    // Looked at behind each turn, once for all.
    let marked = planner.checkpoints().iter().filter(|at| **at > stretch.since && **at <= end).find(|at| {
        let results =
            own.iter().zip(&tokens).take(before(**at)).filter(|(entry, _)| entry.role == Role::Tool);
        let sum: u64 = results.filter_map(|(_, tokens)| *tokens).sum();
        amounts.prune_above.is_some_and(|above| sum > above)
    });
    let mut rules = profile.outputs.clone();
    if let Some(protect) = rules.prune.as_mut().and_then(|pruning| pruning.protect.as_mut()) {
        protect.most = amounts.protect;
    }
    if let Some(pruning) = &mut rules.prune {
        pruning.least = amounts.prune_least;
    }
    let boundary = marked.and_then(|at| before(*at).checked_sub(1));
    // Links of the results of the stretch, in order.
    let mut links: Vec<usize> = (0..session.links.len())
        .filter(|at| {
            let result = session.links[*at].result;
            result.is_some_and(|at| (stretch.tail..end).contains(&at.message.get()))
        })
        .collect();
    links.sort_by_key(|at| session.links[*at].result);
    let pruned = prune(&own, &rules, Session { boundary, tokens: &tokens });
    let texts = pruned.into_iter().zip(links).filter_map(|(pruned, link)| match pruned.fate {
        Fate::Stays => None,
        Fate::Shortened(text) | Fate::Cleared(text) => Some((link, text)),
    });
    texts.collect()
}

fn check(steps: &[(usize, usize, bool)], window: u64) -> usize {
    let session = session(steps);
    let tokens = TokenIndex::new(&session, Tokenizer::Heuristic);
    let effects = effects(&session);
    let prepared = Prepared::new(&session, &tokens, Tokenizer::Heuristic, &effects);
    let mut pruned = 0;
    for profile in profiles() {
        let planner = prepared.planner(&profile, None);
        let amounts = planner.amounts(window);
        let count = session.messages.len();
        for tail in (0..count).step_by(3) {
            for since in [0, tail, tail + 4] {
                let stretch = Stretch { tail, since };
                for end in (tail..=count).step_by(2) {
                    let found: Vec<(usize, String)> = planner
                        .pruned(stretch, end, &amounts)
                        .map(|(at, text)| (at, text.to_owned()))
                        .collect();
                    let expect = expected(&session, &profile, &planner, stretch, end, &amounts);
                    assert_eq!(found, expect, "{} {stretch:?} {end} {window}", profile.name);
                    let context =
                        crate::context::Context { pruned: found.into_iter().collect(), ..Default::default() };
                    let sent = TokenIndex::new(&context.pruned_of(&session), Tokenizer::Heuristic);
                    assert_eq!(
                        planner.tail(stretch, end, &amounts),
                        sent.range(tail..end),
                        "{stretch:?} {end}"
                    );
                    pruned += context.pruned.len();
                }
            }
        }
    }
    pruned
}

#[test]
fn results_are_pruned_at_all() {
    let steps: Vec<(usize, usize, bool)> = (0..30).map(|at| (at, 40 + at * 7 % 90, at % 3 == 2)).collect();
    assert!(check(&steps, 1_200) > 500, "all ways of pruning have something to do");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn sums_tell_what_the_rules_do(
        steps in proptest::collection::vec((0usize..3, 1usize..160, any::<bool>()), 1..14),
        window in 60u64..4_000,
    ) {
        check(&steps, window);
    }
}

#[test]
fn a_request_parts_from_the_one_before_where_a_result_was_pruned() {
    let steps: Vec<(usize, usize, bool)> = (0..40).map(|at| (1, 60, at % 4 == 3)).collect();
    let session = session(&steps);
    let tokens = TokenIndex::new(&session, Tokenizer::Heuristic);
    let effects = effects(&session);
    let prepared = Prepared::new(&session, &tokens, Tokenizer::Heuristic, &effects);
    for profile in profiles() {
        let planner = prepared.planner(&profile, None);
        let amounts = planner.amounts(1_200);
        let stretch = Stretch { tail: 0, since: 0 };
        let view = |end: usize| {
            let pruned = planner.pruned(stretch, end, &amounts).map(|(at, text)| (at, text.to_owned()));
            let context = crate::context::Context { pruned: pruned.collect(), ..Default::default() };
            context.pruned_of(&session)
        };
        let mut partings = 0;
        let replies: Vec<usize> = prepared.terrain.replies(0..session.messages.len()).to_vec();
        for pair in replies.windows(2) {
            let (old, new) = (view(pair[0]), view(pair[1]));
            let first = (0..pair[0]).find(|at| old.messages[*at] != new.messages[*at]);
            let parted = planner.parted(stretch, pair[0], pair[1], &amounts);
            let counted = TokenIndex::new(&old, Tokenizer::Heuristic);
            assert_eq!(parted.map(|it| it.prefix), first.map(|at| counted.range(0..at)), "{pair:?}");
            assert!(parted.is_none_or(|it| it.pruned <= it.prefix), "{parted:?}");
            partings += usize::from(parted.is_some());
        }
        assert!(partings > 0, "{}", profile.name);
    }
}
