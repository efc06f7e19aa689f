//! Small runs made by hand, for the tests of every reader of rows.

use crate::results::{
    CycleRow, LossRow, Manifest, Problem, RunOutput, SCHEMA_VERSION, SCORER_VERSION, SessionRow, Settings,
    SpellRow, ratio,
};

/// Strategies of [`run`].
pub(crate) const STRATEGIES: [&str; 4] = ["structured", "narrative", "truncate", "emergency"];

/// A session that was compacted once; all survival values empty.
pub(crate) fn session(id: &str, strategy: &str) -> SessionRow {
    SessionRow {
        session: id.into(),
        source: format!("logs/{id}.jsonl").into(),
        format: "pi".into(),
        origin: "main".into(),
        profile: "standard".into(),
        strategy: strategy.to_owned().into(),
        window: 20_000,
        window_source: "cycles".to_owned(),
        messages: 40,
        cycles_asked: 1,
        cycles_reached: 1,
        exercised: true,
        ..SessionRow::default()
    }
}

/// Its cycle, with `kept` of 4 modified files, `kept + 1` of 5 structural and `lexical` of 10 lexical facts.
pub(crate) fn cycle(session: &SessionRow, kept: u64, lexical: u64) -> CycleRow {
    CycleRow {
        session: session.session.clone(),
        source: session.source.clone(),
        profile: session.profile.clone(),
        strategy: session.strategy.clone(),
        window: session.window,
        cycle: 1,
        budget: Some(1_000),
        tokens_before: 16_000,
        tokens_after: 4_000,
        tokens_summary: 500,
        reduction: Some(0.75),
        facts_total: 20,
        facts_in_context: 5 + kept + 1 + lexical,
        facts_at_risk: 15,
        facts_in_summary: kept + 1 + lexical,
        structural_at_risk: 5,
        structural_in_summary: kept + 1,
        lexical_at_risk: 10,
        lexical_in_summary: lexical,
        facts_needed: 4,
        facts_needed_in_summary: kept,
        needed_survival: ratio(kept, 4),
        files_modified_total: 4,
        files_modified_kept: kept,
        prompt_tokens: 1_000,
        cost_units: 0.1 + 0.2,
        ..CycleRow::default()
    }
}

/// A session and its only cycle, which agree.
pub(crate) fn plan(id: &str, strategy: &str, kept: u64, lexical: u64) -> (SessionRow, CycleRow) {
    let mut session = session(id, strategy);
    let cycle = cycle(&session, kept, lexical);
    session.files_modified = cycle.files_modified();
    session.structural_survival = ratio(cycle.structural_in_summary, cycle.structural_at_risk);
    session.lexical_survival = ratio(cycle.lexical_in_summary, cycle.lexical_at_risk);
    session.summary_survival = ratio(cycle.facts_in_summary, cycle.facts_at_risk);
    session.needed_survival = cycle.needed_survival;
    session.context_survival = ratio(cycle.facts_in_context, cycle.facts_total);
    session.tokens_summary = Some(cycle.tokens_summary as f64);
    session.reduction = cycle.reduction;
    (session, cycle)
}

/// Spells of a session that ended at one age; values are lexical, all else structural.
pub(crate) fn spell(session: &SessionRow, class: &str, age: u32, lost: u64, censored: u64) -> SpellRow {
    SpellRow {
        session: session.session.clone(),
        profile: session.profile.clone(),
        strategy: session.strategy.clone(),
        window: session.window,
        kind: if class == "value" { "lexical" } else { "structural" }.into(),
        class: class.to_owned().into(),
        age,
        lost,
        censored,
    }
}

/// A run of `n` sessions under four strategies, of which structured is best and emergency keeps nothing lexical; one
/// more session is too short.
pub(crate) fn run(n: usize) -> RunOutput {
    let mut output = RunOutput { manifest: manifest(n as u64), ..RunOutput::default() };
    for idx in 0..n {
        let wobble = (idx % 3) as u64;
        for (strategy, kept, lexical) in [
            ("structured", 4 - wobble / 2, 7 + wobble),
            ("narrative", 1 + wobble, 5),
            ("truncate", 2 - wobble, 4),
            ("emergency", 0, 0),
        ] {
            let (session, cycle) = plan(&format!("s{idx:02}"), strategy, kept, lexical);
            output.spells.push(spell(&session, "file.modified", 1, 4 - kept, kept));
            output.spells.push(spell(&session, "value", 1, 10 - lexical, 0));
            if lexical > 0 {
                output.spells.push(spell(&session, "value", 2, lexical - 4, 4));
            }
            output.sessions.push(session);
            output.cycles.push(cycle);
        }
    }
    for strategy in STRATEGIES {
        output.sessions.push(SessionRow {
            cycles_reached: 0,
            exercised: false,
            ..session("short", strategy)
        });
    }
    output
}

fn manifest(n: u64) -> Manifest {
    let loss =
        |source: &str, line, strategy: &str, class: &str, value: &str, damage: &str, mentions_later| {
            LossRow {
                session: "s00".to_owned(),
                source: source.to_owned(),
                line,
                profile: "standard".to_owned(),
                strategy: strategy.to_owned(),
                cycle: 1,
                class: class.to_owned(),
                value: value.to_owned(),
                damage: damage.to_owned(),
                mentions_later,
                needed: class == "constraint",
                also: if class == "constraint" { vec!["structured".to_owned()] } else { Vec::new() },
            }
        };
    Manifest {
        schema_version: SCHEMA_VERSION,
        scorer_version: SCORER_VERSION,
        version: "0.1.0".to_owned(),
        settings: Settings {
            profiles: vec!["standard".to_owned()],
            strategies: STRATEGIES.map(str::to_owned).to_vec(),
            cycles: 1,
            schedule: "locked".to_owned(),
            mode: "grow".to_owned(),
            horizon_calls: 50,
            tokenizer: "o200k".to_owned(),
            summarizer: "extractive".to_owned(),
            ..Settings::default()
        },
        files: n + 1,
        bytes: 123_456,
        sessions: n + 1,
        sessions_exercised: n,
        sessions_not_exercised: 1,
        problems: vec![Problem {
            source: "logs/s00.jsonl".to_owned(),
            line: 41,
            code: "bad-json".to_owned(),
            severity: "damage".to_owned(),
            text: "the last line is cut off; its record is left out".to_owned(),
        }],
        worst_losses: vec![
            loss("logs/s00.jsonl", 12, "narrative", "constraint", "never use CASCADE", "contradicted", 3),
            loss("logs/s01.jsonl", 7, "emergency", "file.modified", "src/a\u{202e}.rs", "lost", 14),
            loss("logs/s01.jsonl", 9, "truncate", "value", &"retry_limit: 3 ".repeat(20), "stale", 1),
            loss("logs/s02.jsonl", 9, "truncate", "value", "not among the three", "lost", 1),
        ],
        ..Manifest::default()
    }
}
