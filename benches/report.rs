//! A report of many sessions: how long it takes and how large it is.
//!
//! `cargo bench --bench report -- [SESSIONS] [FILE]`; 1,000 sessions where no number is given. The rows are made, not measured. With a
//! file the page is written there, for `scripts/report_browser.sh`.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark prints its figures and writes its page"
)]

use compactor::report::html;
use compactor::report::runs::{Run, View};
use compactor::results::{
    ClassRow, CycleRow, FactRow, Manifest, RunOutput, SCHEMA_VERSION, SCORER_VERSION, SessionRow, Settings,
    SpellRow, ratio,
};
use compactor::stats::SplitMix64;
use std::borrow::Cow;
use std::time::Instant;

/// The most that a report of a thousand sessions may take.
const LARGEST: usize = 5_000_000;

/// Strategies, and how likely a fact is to outlast a compaction under each, in hundredths.
const STRATEGIES: [(&str, u64); 4] =
    [("structured", 92), ("narrative", 90), ("truncate", 55), ("emergency", 0)];

const CLASSES: [&str; 8] =
    ["file.modified", "file.read", "command", "check", "identifier", "value", "constraint", "decision"];

const CYCLES: u32 = 5;

/// Facts of one class in a session.
const FACTS: u64 = 6;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    let sessions = arguments.first().and_then(|it| it.parse().ok()).unwrap_or(1_000);
    let start = Instant::now();
    let output = rows(sessions);
    println!("{sessions} sessions, {} facts made in {:.1?}", output.facts.len(), start.elapsed());
    let start = Instant::now();
    let runs = [Run::new("made".to_owned(), output)];
    println!("pooled in {:.1?}", start.elapsed());
    let start = Instant::now();
    let page = html::render(&View::new(&runs), None, false);
    println!("page of {} bytes in {:.1?}", page.len(), start.elapsed());
    if let Some(path) = arguments.get(1) {
        std::fs::write(path, &page).expect("a place to write to");
    }
    assert!(page.len() < LARGEST || sessions > 1_000, "a page of {} bytes is too large", page.len());
}

fn rows(sessions: usize) -> RunOutput {
    let mut random = SplitMix64::new(7);
    let mut output = RunOutput {
        manifest: Manifest {
            schema_version: SCHEMA_VERSION,
            scorer_version: SCORER_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            files: sessions as u64,
            sessions: sessions as u64,
            sessions_exercised: sessions as u64,
            settings: Settings {
                profiles: vec!["standard".to_owned()],
                strategies: STRATEGIES.map(|(name, _)| name.to_owned()).to_vec(),
                cycles: u64::from(CYCLES),
                schedule: "locked".to_owned(),
                mode: "grow".to_owned(),
                horizon_calls: 50,
                tokenizer: "o200k".to_owned(),
                summarizer: "extractive".to_owned(),
                ..Settings::default()
            },
            ..Manifest::default()
        },
        ..RunOutput::default()
    };
    for at in 0..sessions {
        let id = format!(
            "{:08x}-{:04x}-4{:03x}",
            random.next_u64() >> 32,
            random.below(65_536),
            random.below(4_096)
        );
        let luck = random.below(60) as u64;
        for (strategy, likely) in STRATEGIES {
            one(&mut output, &mut random, &id, at, strategy, likely.saturating_sub(luck));
        }
    }
    output
}

/// A session under one strategy.
fn one(
    output: &mut RunOutput,
    random: &mut SplitMix64,
    id: &str,
    at: usize,
    strategy: &'static str,
    likely: u64,
) {
    let (mut kept_shares, mut at_risk_all, mut kept_all) = (Vec::new(), 0, 0);
    let mut alive = vec![true; CLASSES.len() * FACTS as usize];
    for cycle in 1..=CYCLES {
        let mut row = CycleRow {
            session: id.into(),
            profile: "standard".into(),
            strategy: strategy.to_owned().into(),
            window: 8_000,
            cycle,
            tokens_before: 7_500,
            tokens_after: 3_000,
            tokens_summary: 40 + likely * 12,
            ..CycleRow::default()
        };
        for (place, class) in CLASSES.into_iter().enumerate() {
            let mut kept = 0;
            let facts = alive.iter_mut().skip(place * FACTS as usize).take(FACTS as usize);
            for (fact, alive) in facts.enumerate() {
                let lost = *alive && likely <= random.below(100) as u64;
                *alive &= !lost;
                kept += u64::from(*alive);
                if lost {
                    output.facts.push(FactRow {
                        session: id.into(),
                        profile: "standard".into(),
                        strategy: Cow::Borrowed(strategy),
                        window: 8_000,
                        cycle,
                        fact: place as u64 * FACTS + fact as u64,
                        class: Cow::Borrowed(class),
                        value: format!(
                            "{class} {fact}: <what> was \"said\" & done in session {at}, at some length"
                        ),
                        birth_line: random.below(5_000) as u64,
                        author: Cow::Borrowed("agent"),
                        location: Cow::Borrowed("lost"),
                        tier: Cow::Borrowed("absent"),
                        mentions_later: random.below(30) as u64,
                        needed: random.below(4) == 0,
                        first_loss: true,
                        ..FactRow::default()
                    });
                    output.spells.push(spell(id, strategy, class, cycle, 1, 0));
                } else if *alive && cycle == CYCLES {
                    output.spells.push(spell(id, strategy, class, cycle, 0, 1));
                }
            }
            output.classes.push(ClassRow {
                session: id.into(),
                profile: "standard".into(),
                strategy: strategy.to_owned().into(),
                window: 8_000,
                cycle,
                class: class.to_owned().into(),
                total: FACTS,
                at_risk: FACTS,
                in_summary: kept,
                summary_survival: ratio(kept, FACTS),
                ..ClassRow::default()
            });
            let structural = place < 4;
            *if structural { &mut row.structural_at_risk } else { &mut row.lexical_at_risk } += FACTS;
            *if structural { &mut row.structural_in_summary } else { &mut row.lexical_in_summary } += kept;
        }
        row.facts_at_risk = row.structural_at_risk + row.lexical_at_risk;
        row.facts_in_summary = row.structural_in_summary + row.lexical_in_summary;
        row.facts_total = row.facts_at_risk + 20;
        row.facts_in_context = row.facts_in_summary + 20;
        row.summary_survival = ratio(row.facts_in_summary, row.facts_at_risk);
        (row.facts_needed, row.facts_needed_in_summary) = (8, row.facts_in_summary / 6);
        kept_shares.push((ratio(row.structural_in_summary, row.structural_at_risk), row.summary_survival));
        at_risk_all += row.facts_at_risk;
        kept_all += row.facts_in_summary;
        output.cycles.push(row);
    }
    let share = ratio(kept_all, at_risk_all);
    let structural = kept_shares.iter().filter_map(|(share, _)| *share).sum::<f64>() / f64::from(CYCLES);
    output.sessions.push(SessionRow {
        session: id.into(),
        source: format!("logs/{id}.jsonl").into(),
        format: if at.is_multiple_of(3) { "codex" } else { "claude-code" }.into(),
        origin: "main".into(),
        profile: "standard".into(),
        strategy: strategy.to_owned().into(),
        window: 8_000,
        window_source: "cycles".to_owned(),
        messages: 300,
        turns: 12,
        tool_calls: 120,
        tokens: 20_000 + random.below(200_000) as u64,
        tokens_tool: 15_000,
        facts: CLASSES.len() as u64 * FACTS,
        mentions: 150,
        cycles_asked: u64::from(CYCLES),
        cycles_reached: u64::from(CYCLES),
        exercised: true,
        structural_survival: Some(structural),
        lexical_survival: share,
        summary_survival: share,
        needed_survival: share,
        context_survival: share,
        files_modified: share,
        files_read: share,
        tokens_summary: Some(40.0 + likely as f64 * 12.0),
        reduction: Some(0.6),
        ..SessionRow::default()
    });
}

fn spell(id: &str, strategy: &str, class: &str, age: u32, lost: u64, censored: u64) -> SpellRow {
    let structural = class.starts_with("file.") || class == "command" || class == "check";
    SpellRow {
        session: id.into(),
        profile: "standard".into(),
        strategy: strategy.to_owned().into(),
        window: 8_000,
        kind: if structural { "structural" } else { "lexical" }.into(),
        class: class.to_owned().into(),
        age,
        lost,
        censored,
    }
}
