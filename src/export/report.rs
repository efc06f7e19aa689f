//! What a compaction did to a session, as it is reported.

use super::{CompactSettings, Compacted};
use crate::context::Entry;
use crate::results::compacted::{
    CompactReport, DroppedMessage, DroppedRole, REPORT, REPORT_VERSION, ReportFiles,
};
use crate::tokens::TokenIndex;
use crate::transcript::{Message, MessageIdx, Part, Transcript};
use arcstr::ArcStr;
use std::collections::BTreeMap;

/// Characters shown of a message that left.
const WORDS: usize = 80;

/// The report of a compaction; `place` is the log and its format.
pub(super) fn of(
    transcript: &Transcript,
    tokens: &TokenIndex,
    compacted: &Compacted,
    results_cut: usize,
    settings: &CompactSettings,
    place: (&str, &str),
) -> CompactReport {
    let mut stays = vec![false; transcript.messages.len()];
    let (mut kept, mut clipped) = (0, 0);
    for entry in &compacted.context.entries {
        let at = match entry {
            Entry::Kept(at) => {
                kept += 1;
                at
            }
            Entry::Clipped { message, .. } => {
                clipped += 1;
                message
            }
            Entry::Summary { .. } => continue,
        };
        if let Some(stays) = stays.get_mut(at.get()) {
            *stays = true;
        }
    }
    let mut roles: BTreeMap<&str, DroppedRole> = BTreeMap::new();
    let mut dropped = Vec::new();
    let messages = transcript.messages.iter().zip(&stays).enumerate();
    for (index, (message, _)) in messages.filter(|(_, (_, stays))| !**stays) {
        let role = message.role.name();
        let size = tokens.message(MessageIdx::new(index));
        let sum = roles
            .entry(role)
            .or_insert_with(|| DroppedRole { role: role.to_owned(), ..DroppedRole::default() });
        sum.messages += 1;
        sum.tokens += size;
        dropped.push(DroppedMessage {
            message: index as u64,
            line: u64::from(message.line),
            role: role.to_owned(),
            tokens: size,
            words: words(message),
        });
    }
    let owned = |paths: &[ArcStr]| paths.iter().map(ArcStr::to_string).collect();
    CompactReport {
        cassettes: Vec::new(),
        report: REPORT.to_owned(),
        version: REPORT_VERSION,
        session: transcript.id.clone(),
        source: place.0.to_owned(),
        format: place.1.to_owned(),
        to: settings.to.name().to_owned(),
        output: String::new(),
        profile: settings.profile.name.clone(),
        strategy: settings.strategy.name().to_owned(),
        strategy_used: compacted.used.name().to_owned(),
        fallback_reason: compacted.fallback.clone().unwrap_or_default(),
        tokenizer: settings.tokenizer.name().to_owned(),
        window: compacted.window,
        window_source: compacted.window_source.to_owned(),
        window_assumed: compacted.window_assumed,
        model: transcript.model.clone().unwrap_or_default(),
        compactions: compacted.compactions as u64,
        tokens_session: compacted.tokens_session,
        tokens_before: compacted.tokens_before,
        tokens_after: compacted.tokens_after,
        tokens_summary: compacted.tokens_summary,
        budget: compacted.budget,
        messages: transcript.messages.len() as u64,
        messages_kept: kept,
        messages_clipped: clipped,
        messages_dropped: dropped.len() as u64,
        results_cut: results_cut as u64,
        files: ReportFiles {
            read: owned(&compacted.lists.read),
            modified: owned(&compacted.lists.modified),
            deleted: owned(&compacted.lists.deleted),
        },
        notes: Vec::new(),
        dropped_by_role: roles.into_values().collect(),
        dropped,
        summary: compacted.summaries().map(str::to_owned).collect(),
    }
}

/// How a message begins, on one line: its first text, else its first call or result.
fn words(message: &Message) -> String {
    let parts = || message.parts.iter();
    let text = parts().find_map(|part| match part {
        Part::Text(text) => Some(text.text.clone()),
        _ => None,
    });
    let other = || {
        parts().find_map(|part| match part {
            Part::Call(call) => Some(format!("{} {}", call.name, call.arguments)),
            Part::Result(result) => Some(result.text.clone()),
            Part::Thinking(text) => Some(text.clone()),
            Part::Text(_) | Part::Image { .. } | Part::Opaque { .. } => None,
        })
    };
    let text = text.or_else(other).unwrap_or_default();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if let Some((end, _)) = line.char_indices().nth(WORDS) {
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}
