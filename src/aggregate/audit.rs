//! Recorded compactions pooled: what their summaries kept by class and by round, and what the agents did afterwards.
//!
//! The unit is the session here too: a share is the mean over a session's readable compactions, then over sessions. A
//! summary that the log does not show is in no share; what happened after it is counted.

use super::values_of;
use crate::results::{AuditRow, CycleRow, RunOutput, ratio};
use crate::stats::{SEED, estimate, mean, quantile};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What the summaries of one agent kept of one class of facts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct KeptRow {
    /// The agent, by the format of its logs.
    pub profile: String,
    /// A class of facts, or one of the groups `files.changed` (modified, created, renamed), `files` (these and those only
    /// read), `structural`, `lexical`.
    pub class: String,
    /// Number of the compaction in its session, for `structural` and `lexical`; empty for all.
    pub round: Option<u32>,
    /// At-risk facts present in the summary, 0 to 1: mean over sessions.
    pub survival: Option<f64>,
    /// Lower end of its 95 % interval; empty below 10 sessions.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Sessions with a value.
    pub sessions: u64,
    /// Compactions with a value.
    pub compactions: u64,
    /// `in_summary / at_risk`.
    pub micro: Option<f64>,
    /// Facts in summaries.
    pub in_summary: u64,
    /// Facts that no kept message mentions.
    pub at_risk: u64,
}

/// What one agent's compactions were, and what it did after them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AfterRow {
    /// The agent, by the format of its logs.
    pub profile: String,
    /// Sessions with compactions.
    pub sessions: u64,
    /// Compactions.
    pub compactions: u64,
    /// Of those, without a readable summary.
    pub opaque: u64,
    /// Of those, asked for by the user.
    pub manual: u64,
    /// Mean tokens of the context before a compaction, counted.
    pub tokens_before: Option<f64>,
    /// The same as the logs report them, which counts instructions and tools too.
    pub recorded_before: Option<f64>,
    /// Mean tokens of a readable summary.
    pub tokens_summary: Option<f64>,
    /// Mean messages kept verbatim.
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

/// Groups of classes, by name.
fn groups(class: &str) -> Vec<&'static str> {
    let mut groups = Vec::new();
    let changed = ["file.modified", "file.created", "file.renamed"].contains(&class);
    if changed {
        groups.push("files.changed");
    }
    if changed || class == "file.read" {
        groups.push("files");
    }
    let structural = class.starts_with("file.") || ["command", "check", "todo"].contains(&class);
    groups.push(if structural { "structural" } else { "lexical" });
    groups
}

/// Counts of one compaction or more.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    kept: u64,
    at_risk: u64,
}

/// Counts per session and compaction.
type Counts<'a> = BTreeMap<(&'a str, u32), Share>;

/// By agent, in order of the rows: all classes, then groups, then rounds.
pub fn kept(output: &RunOutput) -> Vec<KeptRow> {
    let agents = agents(&output.audits);
    let readable: BTreeMap<(&str, u32), &str> = output
        .cycles
        .iter()
        .filter(|cycle| is_readable(cycle))
        .map(|cycle| ((cycle.session.as_str(), cycle.cycle), cycle.profile.as_str()))
        .collect();
    // Per agent, class and round (0: all).
    let mut counts: BTreeMap<(&str, &str, u32), Counts<'_>> = BTreeMap::new();
    for row in &output.classes {
        let Some(agent) = readable.get(&(row.session.as_str(), row.cycle)) else { continue };
        let mut add = |class, round| {
            let place = counts.entry((agent, class, round)).or_default();
            let share = place.entry((row.session.as_str(), row.cycle)).or_default();
            share.kept += row.in_summary;
            share.at_risk += row.at_risk;
        };
        add(row.class.as_str(), 0);
        for group in groups(&row.class) {
            add(group, 0);
            if group == "structural" || group == "lexical" {
                add(group, row.cycle);
            }
        }
    }
    let mut rows = Vec::new();
    for agent in agents {
        let of_agent = counts.iter().filter(|((name, ..), _)| *name == agent);
        for ((_, class, round), shares) in of_agent {
            rows.push(kept_row(agent, class, *round, shares));
        }
    }
    rows
}

fn kept_row(agent: &str, class: &str, round: u32, shares: &Counts<'_>) -> KeptRow {
    let mut sessions: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let (mut all, mut compactions) = (Share::default(), 0);
    for ((session, _), share) in shares {
        all.kept += share.kept;
        all.at_risk += share.at_risk;
        if let Some(value) = ratio(share.kept, share.at_risk) {
            compactions += 1;
            sessions.entry(session).or_default().push(value);
        }
    }
    let values: Vec<f64> = sessions.values().filter_map(|values| mean(values)).collect();
    let value = estimate(&values, SEED);
    KeptRow {
        profile: agent.to_owned(),
        class: class.to_owned(),
        round: (round > 0).then_some(round),
        survival: value.mean,
        low: value.low,
        high: value.high,
        sessions: value.n,
        compactions,
        micro: ratio(all.kept, all.at_risk),
        in_summary: all.kept,
        at_risk: all.at_risk,
    }
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
        messages_kept: mean(&audits.iter().map(|row| row.messages_kept as f64).collect::<Vec<_>>()),
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
