//! What must be known of a Codex log before its first message: how its commands ended,
//! and whether token counts come before or after the reply they belong to.

use std::collections::VecDeque;

use crate::ingest::value::Value;
use rustc_hash::FxHashMap;

use super::super::json::{counts, text};
use super::{Entry, Kind, item_type};
use crate::transcript::Usage;

/// Where the token count of a reply is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Placement {
    /// In front of its items (first envelope versions).
    Before,
    /// Behind its items and their outputs.
    #[default]
    After,
}

/// How a call ended, by its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Ended {
    /// Exit status of a command.
    pub(super) exit_code: Option<i32>,
    /// Success flag of a patch or a remote tool.
    pub(super) success: Option<bool>,
}

/// The survey of one log.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Typed prompts have an event each.
    pub(super) has_echoes: bool,
    /// Where token counts are.
    pub(super) placement: Placement,
    ended: FxHashMap<String, VecDeque<Ended>>,
}

impl Survey {
    pub(super) fn of(entries: &[Entry]) -> Self {
        let mut survey = Self::default();
        let mut completed = Vec::new();
        let mut last_total = None;
        // Votes for a token count as the first thing after a prompt, against a reply.
        let (mut before, mut after, mut waiting) = (0u32, 0u32, false);
        for Entry { kind, payload, .. } in entries {
            match kind {
                Kind::Item => {
                    let role = text(payload, "role");
                    match item_type(payload) {
                        "message" if role == Some("user") => {
                            waiting = true;
                            continue;
                        }
                        "message" if role != Some("assistant") => continue,
                        kind if matches!(kind, "message" | "reasoning") || kind.ends_with("_call") => {}
                        _ => continue,
                    }
                    after += u32::from(std::mem::take(&mut waiting));
                }
                Kind::Event => match text(payload, "type").unwrap_or_default() {
                    "token_count" => {
                        if let Ok(Some(_)) = usage(payload, &mut last_total) {
                            before += u32::from(std::mem::take(&mut waiting));
                        }
                    }
                    "user_message" => survey.has_echoes = true,
                    "item_completed" => {
                        completed.extend(payload.get("item").and_then(|item| ended(item, "id")));
                    }
                    _ => {
                        if let Some((id, ended)) = ended(payload, "call_id") {
                            survey.ended.entry(id).or_default().push_back(ended);
                        }
                    }
                },
                _ => {}
            }
        }
        if before > after {
            survey.placement = Placement::Before;
        }
        // The same news in the form of newer versions; where both are, one is enough.
        for (id, ended) in completed {
            survey.ended.entry(id).or_insert_with(|| VecDeque::from([ended]));
        }
        survey
    }

    /// How the next call with this id ended, where an event says so.
    pub(super) fn take_ended(&mut self, id: &str) -> Option<Ended> {
        self.ended.get_mut(id)?.pop_front()
    }
}

/// The call an event is about and how it ended, where it says so.
fn ended(event: &Value, id: &str) -> Option<(String, Ended)> {
    let exit_code = event.get("exit_code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let success = event.get("success").and_then(Value::as_bool).or_else(|| {
        let result = event.get("result")?;
        if result.get("Err").is_some() {
            return Some(false);
        }
        let result = result.get("Ok").unwrap_or(result);
        let flag = result.get("isError").or_else(|| result.get("is_error"))?;
        flag.as_bool().map(|is_error| !is_error)
    });
    if exit_code.is_none() && success.is_none() {
        return None;
    }
    let id = text(event, id).filter(|id| !id.is_empty())?;
    Some((id.to_owned(), Ended { exit_code, success }))
}

/// The usage of a token count and the size of the context after the reply, in tokens; nothing when it says nothing
/// new: no numbers, zeros (sent after a compaction), or the running totals of the one before. The error says which number
/// cannot be a count.
pub(super) fn usage(event: &Value, last_total: &mut Option<Value>) -> Result<Option<(Usage, u64)>, String> {
    let Some(info) = event.get("info") else { return Ok(None) };
    let last = info.get("last_token_usage").unwrap_or(info);
    // Cached tokens are part of the input here, reasoning tokens part of the output.
    let [input, cache_read, cache_write, output, total] = counts(
        last,
        ["input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens", "total_tokens"],
    )?;
    if input == 0 && output == 0 {
        return Ok(None);
    }
    if let Some(total) = info.get("total_token_usage") {
        if last_total.as_ref() == Some(total) {
            return Ok(None);
        }
        *last_total = Some(total.clone());
    }
    let context = if total > 0 { total } else { input.saturating_add(output) };
    Ok(Some((Usage { input, cache_read, cache_write, output }, context)))
}
