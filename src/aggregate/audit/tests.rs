use super::*;
use crate::aggregate::aggregate;
use crate::aggregate::kept::KeptRow;
use crate::results::{ClassRow, SessionRow};

/// A session of one agent with a compaction per pair of counts: modified files and values in the summary, of 4 each.
/// `None` is a compaction without a readable summary.
fn session(output: &mut RunOutput, id: &str, agent: &str, compactions: &[Option<(u64, u64)>]) {
    output.sessions.push(SessionRow {
        session: id.into(),
        profile: agent.into(),
        strategy: "recorded".into(),
        exercised: true,
        ..SessionRow::default()
    });
    for (index, kept) in compactions.iter().enumerate() {
        let number = index as u32 + 1;
        output.cycles.push(CycleRow {
            session: id.into(),
            profile: agent.into(),
            format: agent.into(),
            strategy: "recorded".into(),
            cycle: number,
            opaque: kept.is_none(),
            tokens_before: 1_000,
            tokens_summary: kept.map_or(0, |_| 100),
            ..CycleRow::default()
        });
        output.audits.push(AuditRow {
            session: id.into(),
            format: agent.into(),
            cycle: number,
            opaque: kept.is_none(),
            trigger: if index == 0 { "auto" } else { "manual" }.to_owned(),
            calls: 10,
            calls_to_edit: (index != 1).then_some(u64::from(number) * 10),
            calls_to_edit_cold: Some(7),
            rereads: 2,
            rereads_named: u64::from(kept.is_some()),
            ..AuditRow::default()
        });
        for (class, kept) in [("file.modified", kept.map(|it| it.0)), ("value", kept.map(|it| it.1))] {
            output.classes.push(ClassRow {
                session: id.into(),
                profile: agent.into(),
                strategy: "recorded".into(),
                cycle: number,
                class: class.into(),
                at_risk: if kept.is_some() { 4 } else { 0 },
                in_summary: kept.unwrap_or(0),
                ..ClassRow::default()
            });
        }
    }
}

fn find<'a>(rows: &'a [KeptRow], agent: &str, class: &str, round: Option<u32>) -> Option<&'a KeptRow> {
    rows.iter().find(|row| row.profile == agent && row.class == class && row.cycle == round)
}

#[test]
fn a_session_counts_once_however_often_it_was_compacted() {
    let mut output = RunOutput::default();
    session(&mut output, "a", "pi", &[Some((4, 0)), Some((0, 0)), Some((2, 4))]);
    session(&mut output, "b", "pi", &[Some((4, 2))]);
    let rows = aggregate(&output).kept;
    let changed = find(&rows, "pi", "files.changed", None).expect("a row");
    // (4 + 0 + 2) / 12 in the one, 4 / 4 in the other.
    assert_eq!((changed.survival, changed.micro), (Some(0.75), Some(0.625)));
    assert_eq!((changed.sessions, changed.cycles), (2, 4));
    assert_eq!((changed.low, changed.high), (None, None), "two sessions have no interval");
    let by_round: Vec<Option<f64>> =
        (1..=4).map(|round| find(&rows, "pi", "lexical", Some(round)).and_then(|row| row.survival)).collect();
    assert_eq!(by_round, [Some(0.25), Some(0.0), Some(1.0), None]);
}

#[test]
fn what_cannot_be_read_is_in_no_share_but_its_afterwards_is_counted() {
    let mut output = RunOutput::default();
    session(&mut output, "a", "codex", &[None, Some((4, 4)), None]);
    session(&mut output, "b", "claude-code", &[Some((1, 1))]);
    let pooled = aggregate(&output);
    let changed = find(&pooled.kept, "codex", "files.changed", None).expect("a row");
    assert_eq!((changed.survival, changed.at_risk, changed.cycles), (Some(1.0), 4, 1));
    let [codex, claude] = pooled.afterwards.as_slice() else { panic!("{:?}", pooled.afterwards) };
    assert_eq!((codex.profile.as_str(), codex.compactions, codex.opaque, codex.manual), ("codex", 3, 2, 2));
    assert_eq!((codex.rereads, codex.rereads_readable, codex.rereads_named), (6, 2, 1));
    assert_eq!((codex.edited, codex.calls_to_edit_median, codex.calls), (2, Some(20.0), 30));
    assert_eq!(codex.calls_to_edit_cold_median, Some(7.0), "a session is cold once");
    assert_eq!((codex.tokens_summary, claude.tokens_summary), (Some(100.0), Some(100.0)));
    assert_eq!((claude.sessions, claude.opaque), (1, 0));
}
