//! The measure measured: self-checks whose right answers are known without running the scorer.

use super::*;
use crate::facts::FactSet;
use crate::replay::effects;
use crate::testing::transcript;
use crate::transcript::Role;

const SESSION: &str = "\
S: You are careful.
U: Please fix the retry bug. Never touch src/generated/schema.rs. See https://tracker.example.com/T-17 for details.
A{a}: The timeout is 30 s in the config and ENV_RETRY_LIMIT controls it.
T(a): error[E0308]: mismatched types
A: We decided to use exponential backoff because the server throttles bursts.
U: Go on with the second part.
A: Done with that.";

/// Scores a context over the whole test session.
fn check_score(context: &Context, check: impl FnOnce(&CycleScore)) {
    let session = transcript(SESSION);
    let facts = FactSet::extract(&session, &effects(&session));
    let end = MessageIdx::new(session.messages.len());
    let scorer = Scorer::new(&session, &facts);
    let score = scorer.score(&Cycle {
        context,
        held: &session,
        began: MessageIdx(0),
        archive: &[],
        prefix_end: end,
        compacted_end: end,
        metadata: None,
        writes_lists: false,
        newest_request: None,
        opaque: false,
    });
    assert!(score.structural.total + score.lexical.total >= 5, "the session has facts: {score:?}");
    check(&score);
}

fn whole() -> Context {
    let count = transcript(SESSION).messages.len();
    let entries = (0..count).map(|at| Entry::Kept(MessageIdx::new(at))).collect();
    Context { entries, now: MessageIdx::new(count), ..Context::default() }
}

fn only(text: &str) -> Context {
    let entries = vec![Entry::Summary { role: Role::User, text: text.to_owned() }];
    Context { entries, now: MessageIdx::new(transcript(SESSION).messages.len()), ..Context::default() }
}

#[test]
fn identity_keeps_everything_and_has_nothing_at_risk() {
    check_score(&whole(), |score| {
        assert_eq!(score.in_context, score.structural.total + score.lexical.total);
        assert_eq!(score.structural.at_risk + score.lexical.at_risk, 0);
        assert_eq!(score.tail_in_context, score.tail);
        assert_eq!(score.broken, Broken::default());
    });
}

#[test]
fn dropping_everything_keeps_nothing() {
    check_score(&only("Nothing is left."), |score| {
        assert_eq!(score.in_context, 0);
        assert_eq!(
            score.structural.at_risk + score.lexical.at_risk,
            score.structural.total + score.lexical.total
        );
        assert_eq!(score.structural.in_summary + score.lexical.in_summary, 0);
    });
}

#[test]
fn a_tail_alone_keeps_exactly_what_its_messages_mention() {
    let session = transcript(SESSION);
    let facts = FactSet::extract(&session, &effects(&session));
    let end = MessageIdx::new(session.messages.len());
    for cut in 0..session.messages.len() {
        let entries = (cut..session.messages.len()).map(|at| Entry::Kept(MessageIdx::new(at))).collect();
        let context = Context { entries, now: end, ..Context::default() };
        let expect = facts
            .ids()
            .filter(|id| facts.class_at(*id, end).is_some())
            .filter(|id| facts.get(*id).unwrap().mentions.iter().any(|at| at.get() >= cut))
            .count() as u64;
        check_score(&context, |score| assert_eq!(score.in_context, expect, "cut {cut}"));
    }
}

#[test]
fn the_whole_text_as_a_summary_keeps_every_lexical_fact() {
    let session = transcript(SESSION);
    let text: Vec<String> = session
        .messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            crate::transcript::Part::Text(text) => Some(text.text.clone()),
            crate::transcript::Part::Result(result) => Some(result.text.clone()),
            _ => None,
        })
        .collect();
    check_score(&only(&text.join("\n")), |score| {
        assert_eq!(score.lexical.in_summary, score.lexical.at_risk, "{:?}", score.fates);
    });
}

#[test]
fn shuffling_the_lines_of_a_summary_changes_no_score() {
    let lines = [
        "- Never touch src/generated/schema.rs.",
        "- timeout is 30 s",
        "- ENV_RETRY_LIMIT controls it",
        "- https://tracker.example.com/T-17",
        "- error[E0308]: mismatched types",
    ];
    let mut expect = None;
    for turn in 0..lines.len() {
        let mut rotated = lines.to_vec();
        rotated.rotate_left(turn);
        if turn % 2 == 1 {
            rotated.reverse();
        }
        check_score(&only(&rotated.join("\n")), |score| {
            let counts = (score.structural, score.lexical, score.exact, score.degraded, score.contradicted);
            assert_eq!(*expect.get_or_insert(counts), counts, "rotation {turn}");
        });
    }
}

#[test]
fn a_reversed_rule_is_contradicted_not_kept() {
    check_score(&only("- You may touch src/generated/schema.rs."), |score| {
        assert_eq!(score.contradicted, 1, "{:?}", score.fates);
    });
    check_score(&only("- Touch src/generated/schema.rs."), |score| {
        assert_eq!(score.contradicted, 1, "{:?}", score.fates);
    });
    for same in [
        "- Never touch src/generated/schema.rs.",
        "- src/generated/schema.rs",
        "- Read: src/generated/schema.rs, src/a.rs",
        "- src/generated/schema.rs is generated from the migrations",
    ] {
        check_score(&only(same), |score| assert_eq!(score.contradicted, 0, "{same}: {:?}", score.fates));
    }
}

#[test]
fn what_occurs_nowhere_is_invented() {
    check_score(&only("See src/other/made_up.rs and commit 9f3c2ab1."), |score| {
        assert_eq!(score.invented, 2);
    });
    check_score(&only("See src/generated/schema.rs."), |score| assert_eq!(score.invented, 0));
}

/// The location of every fact that a result alone mentions, under a context of all messages.
fn check_cut(held: &Transcript, context: &Context, session: &Transcript, expect: Location, risk: bool) {
    let facts = FactSet::extract(session, &effects(session));
    let result = session.links[0].result.expect("answered").message;
    let end = MessageIdx::new(session.messages.len());
    let score = Scorer::new(session, &facts).score(&Cycle {
        context,
        held,
        began: MessageIdx(0),
        archive: &[],
        prefix_end: end,
        compacted_end: MessageIdx(0),
        metadata: None,
        writes_lists: false,
        newest_request: None,
        opaque: false,
    });
    let only = |id: FactId| facts.get(id).is_some_and(|fact| fact.mentions.iter().all(|at| *at == result));
    let fates: Vec<&Fate> = score.fates.iter().filter(|fate| only(fate.id)).collect();
    assert!(!fates.is_empty(), "a result says something");
    for fate in fates {
        assert_eq!((fate.location, fate.at_risk), (expect, risk), "{:?}", facts.get(fate.id));
    }
    assert_eq!(score.tail, score.tail_in_context);
    assert_eq!(score.broken, Broken::default());
}

#[test]
fn a_result_cut_short_keeps_what_is_left_of_it_and_nothing_more() {
    let log = "U: Run the tests\nA{a=Bash cargo test}: now\nT!(a): error[E0308]: mismatched types in quux_frob\nA: I see\nU: Go on";
    let session = transcript(log);
    let count = session.messages.len();
    let entries = || (0..count).map(|at| Entry::Kept(MessageIdx::new(at))).collect();
    let whole = Context { entries: entries(), now: MessageIdx::new(count), ..Context::default() };
    check_cut(&session, &whole, &session, Location::Tail, false);
    let cleared = Context { pruned: [(0, "Bash".to_owned())].into_iter().collect(), ..whole.clone() };
    check_cut(&session, &cleared, &session, Location::Lost, true);
    // What the session holds of it, capped: first all of its meaning, then none.
    let text = session.result(&session.links[0]).expect("answered").text.clone();
    let shortened = |text: String| {
        let cut = Context { pruned: [(0, text)].into_iter().collect(), ..whole.clone() };
        cut.pruned_of(&session)
    };
    check_cut(&shortened(format!("{text} [...]")), &whole, &session, Location::Clipped, false);
    check_cut(&shortened("[... 1 lines omitted ...]".to_owned()), &whole, &session, Location::Lost, true);
}
