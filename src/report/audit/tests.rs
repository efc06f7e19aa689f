use super::*;
use crate::results::{AuditRow, ClassRow, CycleRow, Problem, SessionRow};
use insta::assert_snapshot;

const LOOK: Look<'_> = Look { width: 80, color: false, saved: None };

/// Twelve sessions of one agent, two of another whose summaries cannot be read, one without a compaction.
fn sample() -> RunOutput {
    let mut output = RunOutput::default();
    for at in 0..14_u64 {
        let (agent, opaque) = if at < 12 { ("claude-code", false) } else { ("codex", true) };
        let id = format!("s{at:02}");
        for number in 1..=2_u32 {
            output.cycles.push(CycleRow {
                session: id.clone().into(),
                profile: agent.into(),
                format: agent.into(),
                strategy: "recorded".into(),
                cycle: number,
                opaque,
                tokens_before: 150_000,
                tokens_summary: if opaque { 0 } else { 2_500 },
                ..CycleRow::default()
            });
            for (class, at_risk) in [("file.created", 4), ("command", 20), ("value", 5)] {
                output.classes.push(ClassRow {
                    session: id.clone().into(),
                    profile: agent.into(),
                    strategy: "recorded".into(),
                    cycle: number,
                    class: class.into(),
                    at_risk: if opaque { 0 } else { at_risk },
                    in_summary: if opaque { 0 } else { at_risk.saturating_sub(at % 4 + u64::from(number)) },
                    ..ClassRow::default()
                });
            }
            output.audits.push(AuditRow {
                session: id.clone().into(),
                cycle: number,
                format: agent.into(),
                opaque,
                messages_kept: Some(0),
                trigger: if number == 2 { "manual" } else { "auto" }.to_owned(),
                recorded_before: Some(167_000),
                calls: 50,
                calls_to_edit: (number == 1).then_some(10 + at),
                calls_to_edit_cold: Some(8),
                rereads: at % 3,
                reread_tokens: 1_000 * (at % 3),
                rereads_named: if opaque { 0 } else { at % 3 / 2 },
                edits: 3,
                edits_named: 2,
                used: 10,
                used_kept: 6,
                repeated: u64::from(at == 3),
                ..AuditRow::default()
            });
        }
        output.sessions.push(SessionRow {
            session: id.into(),
            profile: agent.into(),
            strategy: "recorded".into(),
            exercised: true,
            recorded_compactions: 2,
            ..SessionRow::default()
        });
    }
    output.sessions.push(SessionRow {
        session: "quiet".into(),
        source: "logs/quiet\u{202e}.jsonl".into(),
        ..SessionRow::default()
    });
    output.manifest.files = 15;
    output.manifest.sessions = 15;
    output.manifest.settings.horizon_calls = 50;
    output.manifest.problems = vec![Problem {
        source: "logs/s00.jsonl".to_owned(),
        line: 41,
        code: "bad-json".to_owned(),
        severity: "damage".to_owned(),
        text: "the last line is cut off; its record is left out".to_owned(),
    }];
    output
}

#[test]
fn agents_with_and_without_readable_summaries() {
    let output = sample();
    let aggregate = crate::aggregate::aggregate(&output);
    assert_snapshot!(render(Format::Table, &output, &aggregate, LOOK).expect("a table"));
}

#[test]
fn every_format_holds_the_same_shares() {
    let output = sample();
    let aggregate = crate::aggregate::aggregate(&output);
    let csv = render(Format::Csv, &output, &aggregate, LOOK).expect("rows");
    let json = render(Format::Json, &output, &aggregate, LOOK).expect("a document");
    let document: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let rows = document["kept"].as_array().expect("rows");
    assert_eq!(csv.lines().count(), rows.len() + 1);
    for (line, row) in csv.lines().skip(1).zip(rows) {
        let survival = row["survival"].as_f64().map(crate::results::files::decimal).unwrap_or_default();
        assert_eq!(line.split(',').nth(5), Some(survival.as_str()), "{line}");
    }
    assert_eq!(document["compactions"].as_array().map(Vec::len), Some(28));
    assert!(!json.contains('\u{202e}'), "bidi characters are escaped");
}
