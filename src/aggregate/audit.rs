//! Recorded compactions pooled by agent: what they were, and what the agents did afterwards.
//!
//! A summary that the log does not show names nothing and is not blamed for it; what happened after it is counted.

use super::values_of;
use crate::results::{AuditRow, CycleRow, RunOutput};
use crate::stats::{mean, quantile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What one agent's compactions were, and what it did after them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct AfterRow {
    /// The agent, by the format of its logs.
    pub profile: String,
    /// Sessions with compactions.
    pub sessions: u64,
    /// Compactions.
    pub compactions: u64,
    /// Of those, without a summary that can be scored.
    pub opaque: u64,
    /// Of those, asked for by the user.
    pub manual: u64,
    /// Mean tokens of the context before a compaction, counted.
    pub tokens_before: Option<f64>,
    /// The same as the logs report them, which counts instructions and tools too.
    pub recorded_before: Option<f64>,
    /// Mean tokens of a readable summary.
    pub tokens_summary: Option<f64>,
    /// Mean messages kept verbatim, where that is known.
    pub messages_kept: Option<f64>,
    /// Tool calls looked at afterwards.
    pub calls: u64,
    /// Compactions with an edit afterwards.
    pub edited: u64,
    /// Tool calls before the first edit: half of those compactions had fewer.
    pub calls_to_edit_median: Option<f64>,
    /// Three quarters had fewer.
    pub calls_to_edit_p75: Option<f64>,
    /// Tool calls before the first edit of a session: half of the sessions had fewer.
    pub calls_to_edit_cold_median: Option<f64>,
    /// Files read again whose content had left the context.
    pub rereads: u64,
    /// Tokens of those reads.
    pub reread_tokens: u64,
    /// Compactions with such a read.
    pub reread_compactions: u64,
    /// The same behind readable summaries.
    pub rereads_readable: u64,
    /// Of those files, named by the summary.
    pub rereads_named: u64,
    /// Files edited behind readable summaries that were known before and no kept message mentions.
    pub edits: u64,
    /// Of those, named by the summary.
    pub edits_named: u64,
    /// Facts behind readable summaries that the agent brought up itself.
    pub used: u64,
    /// Of those, in the summary.
    pub used_kept: u64,
    /// Requests and constraints that the user said again.
    pub repeated: u64,
    /// Of those behind readable summaries, in the summary.
    pub repeated_kept: u64,
}

fn is_readable(cycle: &CycleRow) -> bool {
    !cycle.opaque && cycle.error.is_empty()
}

/// Agents in order of their first compaction.
fn agents(audits: &[AuditRow]) -> Vec<&str> {
    let mut agents: Vec<&str> = Vec::new();
    for row in audits {
        if !agents.contains(&row.format.as_str()) {
            agents.push(&row.format);
        }
    }
    agents
}

/// By agent, in order of the rows.
pub fn afterwards(output: &RunOutput) -> Vec<AfterRow> {
    agents(&output.audits).into_iter().map(|agent| after_row(agent, output)).collect()
}

fn after_row(agent: &str, output: &RunOutput) -> AfterRow {
    let audits: Vec<&AuditRow> = output.audits.iter().filter(|row| row.format == agent).collect();
    let cycles: Vec<&CycleRow> =
        output.cycles.iter().filter(|cycle| cycle.format == agent && cycle.error.is_empty()).collect();
    let sessions: BTreeSet<&str> = audits.iter().map(|row| row.session.as_str()).collect();
    let cold: BTreeMap<&str, Option<u64>> =
        audits.iter().map(|row| (row.session.as_str(), row.calls_to_edit_cold)).collect();
    let cold: Vec<f64> = cold.values().filter_map(|calls| Some((*calls)? as f64)).collect();
    let to_edit: Vec<f64> = audits.iter().filter_map(|row| Some(row.calls_to_edit? as f64)).collect();
    let count = |holds: fn(&AuditRow) -> bool| audits.iter().filter(|row| holds(row)).count() as u64;
    let sum = |of: fn(&AuditRow) -> u64| audits.iter().map(|row| of(row)).sum::<u64>();
    let read = |of: fn(&AuditRow) -> u64| -> u64 {
        audits.iter().filter(|row| !row.opaque).map(|row| of(row)).sum()
    };
    AfterRow {
        profile: agent.to_owned(),
        sessions: sessions.len() as u64,
        compactions: audits.len() as u64,
        opaque: count(|row| row.opaque),
        manual: count(|row| row.trigger == "manual"),
        tokens_before: mean(&values_of(&cycles, |cycle| Some(cycle.tokens_before as f64))),
        recorded_before: mean(&values_of(&audits, |row| Some(row.recorded_before? as f64))),
        tokens_summary: mean(&values_of(&cycles, |cycle| {
            is_readable(cycle).then_some(cycle.tokens_summary as f64)
        })),
        messages_kept: mean(&values_of(&audits, |row| Some(row.messages_kept? as f64))),
        calls: sum(|row| row.calls),
        edited: to_edit.len() as u64,
        calls_to_edit_median: quantile(&to_edit, 0.5),
        calls_to_edit_p75: quantile(&to_edit, 0.75),
        calls_to_edit_cold_median: quantile(&cold, 0.5),
        rereads: sum(|row| row.rereads),
        reread_tokens: sum(|row| row.reread_tokens),
        reread_compactions: count(|row| row.rereads > 0),
        rereads_readable: read(|row| row.rereads),
        rereads_named: read(|row| row.rereads_named),
        edits: read(|row| row.edits),
        edits_named: read(|row| row.edits_named),
        used: read(|row| row.used),
        used_kept: read(|row| row.used_kept),
        repeated: sum(|row| row.repeated),
        repeated_kept: read(|row| row.repeated_kept),
    }
}

#[cfg(test)]
mod tests;
