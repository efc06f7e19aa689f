use super::*;
use crate::results::shown::ShownStale;
use insta::assert_snapshot;

fn fact(class: &str, value: &str, location: &str, tier: &str, needed: bool) -> ShownFact {
    ShownFact {
        class: class.to_owned(),
        value: value.to_owned(),
        birth_line: 12,
        location: location.to_owned(),
        tier: tier.to_owned(),
        at_risk: ["summary", "lost"].contains(&location),
        needed,
        need: if needed { "used" } else { "" }.to_owned(),
        need_line: if needed { 31 } else { 0 },
        ..ShownFact::default()
    }
}

fn sample() -> Shown {
    let place = |message, line| Place { message, line };
    let kept = ShownFact {
        evidence: "- `src/a.rs`: the retry, and a long story about it that goes on and on without an end"
            .to_owned(),
        evidence_line: 3,
        ..fact("file.modified", "/w/src/a.rs", "summary", "exact", true)
    };
    Shown {
        session: "s-1".to_owned(),
        source: "logs/a.jsonl".to_owned(),
        format: "pi".to_owned(),
        profile: "standard".to_owned(),
        strategy: "structured".to_owned(),
        strategy_used: "truncate".to_owned(),
        fallback_reason: "the summarizer gave no text".to_owned(),
        window: 20_000,
        cycle: 2,
        cycles: 5,
        messages: 120,
        trigger: place(57, 59),
        trigger_tokens: Some(16_000),
        cut: place(44, 46),
        keep_tokens: Some(3_000),
        why: "15900 tokens and 200 of overhead reach the trigger of 16000".to_owned(),
        turn_start: Some(place(32, 34)),
        pinned: Some(place(30, 32)),
        tokens_before: 15_900,
        tokens_after: 3_400,
        tokens_summary: 410,
        budget: Some(1_000),
        summary: vec![
            "## Goal\n\n- `src/a.rs`: the retry, and a long story about it that goes on and on without an end\n\u{1b}[31mred"
                .to_owned(),
            "the turn".to_owned(),
        ],
        facts: vec![
            fact("value", "timeout = 30 s", "lost", "label-only", true),
            fact("command", "cargo test", "lost", "absent", false),
            kept,
            ShownFact { tail_line: 50, ..fact("identifier", "LP-212", "tail", "absent", false) },
        ],
        unadjudicable: 2,
        invented: vec!["src/never.rs".to_owned()],
        stale: vec![ShownStale { old: "retries = 3".to_owned(), new: "retries = 5".to_owned(), new_line: 34 }],
        ..Shown::default()
    }
}

#[test]
fn a_cycle_at_80_columns() {
    let look = Look { width: 80, color: false, saved: None };
    assert_snapshot!(text(&sample(), look, false));
    let all = text(&sample(), look, true);
    assert!(all.contains("LP-212") && !text(&sample(), look, false).contains("LP-212"));
}

#[test]
fn an_unreadable_summary_is_neither_kept_nor_lost() {
    let shown = Shown {
        opaque: true,
        trigger_tokens: None,
        summary: Vec::new(),
        facts: vec![fact("value", "timeout = 30 s", "opaque", "absent", false)],
        ..sample()
    };
    let text = text(&shown, Look { width: 80, color: false, saved: None }, false);
    assert!(text.contains("Only an unreadable summary could hold: 1") && !text.contains("Lost"), "{text}");
}

#[test]
fn numbers_are_grouped_wherever_they_stand() {
    assert_eq!(grouped("12345 of 999, x1000."), "12,345 of 999, x1,000.");
    assert_eq!(grouped(""), "");
}
