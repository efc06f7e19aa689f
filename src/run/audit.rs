//! Recorded compactions -> rows: the same rows as those of a replay, and what the agent did after each.
//!
//! The policy that ran is the agent's own, so the profile of a row is the log's format and its strategy `recorded`.

use super::rows::{Frame, Scene};
use super::{Makeup, Place, RunSettings, SessionOutcome, auto_window, calibration, session_row, tell_cost};
use crate::facts::FactSet;
use crate::replay::recorded::recorded;
use crate::replay::{Prepared, effects};
use crate::results::AuditRow;
use crate::score::Scorer;
use crate::score::afterwards::{afterwards, calls_to_edit};
use crate::strategy::Strategy;
use crate::tokens::TokenIndex;
use crate::transcript::{MessageIdx, Transcript};

/// Scores the compactions that one session holds.
pub(super) fn session(transcript: &Transcript, place: Place<'_>, settings: &RunSettings) -> SessionOutcome {
    let mut outcome = SessionOutcome { id: transcript.id.clone(), ..SessionOutcome::default() };
    let (window, source) = auto_window(transcript);
    let mut row = session_row(transcript, place, place.format.into(), Strategy::Recorded);
    row.window = window;
    source.name().clone_into(&mut row.window_source);
    let Some(last) = transcript.recorded.last() else {
        outcome.sessions.push(row);
        return outcome;
    };
    let tokens = TokenIndex::new(transcript, settings.tokenizer);
    let effects = effects(transcript);
    let prepared = Prepared::new(transcript, &tokens, settings.tokenizer, &effects);
    let facts = FactSet::extract_until(transcript, &effects, last.before);
    let scorer = Scorer::new(transcript, &facts);
    let result = recorded(&prepared, window);
    Makeup::of(transcript, &tokens, Some(&facts)).tell(&mut row);
    row.recorded_over_counted = calibration(transcript, &tokens, result.overhead);
    let frame = Frame::recorded(place.format, window);
    let like = row.clone();
    let scene = Scene {
        transcript,
        prepared: &prepared,
        facts: &facts,
        scorer: &scorer,
        like: &like,
        frame,
        log_facts: settings.log_facts,
    };
    let mut audits = Vec::new();
    let end = MessageIdx::new(transcript.messages.len());
    let cold = calls_to_edit(transcript, &facts, MessageIdx(0), end);
    scene.rows(&result, &mut row, &mut outcome, |index, cycle, score| {
        let Some(one) = transcript.recorded.get(index) else { return };
        let stop = transcript.recorded.get(index + 1).map_or(end, |next| next.before);
        let after = afterwards(transcript, &facts, &tokens, cycle, &score.fates, stop);
        audits.push(AuditRow {
            session: like.session.clone(),
            source: like.source.clone(),
            cycle: index as u32 + 1,
            format: like.format.clone(),
            line: u64::from(one.line),
            trigger: one.trigger.clone().unwrap_or_default(),
            opaque: one.summary.is_none() || one.kept_unknown,
            messages_before: u64::from(one.before.0),
            messages_kept: (!one.kept_unknown).then_some(one.kept.len() as u64),
            recorded_before: one.tokens_before,
            recorded_after: one.tokens_after,
            calls: after.calls,
            calls_to_edit: after.calls_to_edit,
            calls_to_edit_cold: cold,
            rereads: after.rereads,
            reread_tokens: after.reread_tokens,
            rereads_named: after.rereads_named,
            edits: after.edits,
            edits_named: after.edits_named,
            used: after.used,
            used_kept: after.used_kept,
            repeated: after.repeated,
            repeated_kept: after.repeated_kept,
        });
    });
    outcome.audits = audits;
    tell_cost(&mut row, &result.cost);
    outcome.exercised |= row.exercised;
    outcome.sessions.push(row);
    outcome
}
