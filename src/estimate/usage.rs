//! The size of a context from what providers reported.

use super::size::{EstimateError, EstimateRules, entries_tokens, entry_tokens, texts_tokens};
use crate::harness::{Block, Entry, Kind, Reported, Role, Stop};
use serde::Deserialize;

/// How a system reads reported usage.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsageRules {
    /// Fields that add up to the size of the context.
    pub fields: Vec<Field>,
    /// A total that the provider told goes before the fields.
    #[serde(default)]
    pub total: bool,
    /// Usage of replies that ended so is passed over.
    #[serde(default)]
    pub skip: Vec<Stop>,
    /// Usage that adds up to 0.
    #[serde(default)]
    pub zero: Zero,
    /// Usage from before the latest compaction.
    #[serde(default)]
    pub stale: Stale,
    /// What is estimated beside reported usage.
    #[serde(default)]
    pub trailing: Trailing,
    /// Where no usage counts.
    #[serde(default)]
    pub none: Unreported,
    /// Where no usage counts since a compaction; as [`Self::none`] where missing.
    #[serde(default)]
    pub none_since: Option<Unreported>,
    /// Results get their share of what the prompt grew by: [`backfilled`].
    #[serde(default)]
    pub backfill: bool,
}

/// A field of reported usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Field {
    /// Prompt tokens outside any cache.
    Input,
    /// Reply tokens.
    Output,
    /// Prompt tokens read from a cache.
    CacheRead,
    /// Prompt tokens written to a cache.
    CacheWrite,
}

/// What usage that adds up to 0 is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Zero {
    /// Usage like any other: the context up to there counts for nothing.
    Counts,
    /// Passed over: an earlier reply's usage holds.
    #[default]
    Skipped,
    /// No usage at all, whatever earlier replies reported.
    Resets,
}

/// What usage from before a compaction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Stale {
    /// Usage like any other, though it is of a context that is no more.
    Counts,
    /// None.
    #[default]
    Ignored,
}

/// What is estimated beside reported usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Trailing {
    /// Nothing.
    None,
    /// The entries behind the reply that reported it.
    #[default]
    Behind,
    /// That reply too: the usage is of its prompt.
    WithReply,
    /// The entries behind that reply where a newer one exists whose usage is passed over, else nothing.
    BehindEarlier,
}

/// The size where no usage counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Unreported {
    /// The estimates of all entries.
    #[default]
    Estimate,
    /// 0.
    Zero,
    /// Not known: nothing is compacted.
    Unknown,
}

impl UsageRules {
    /// Tokens of one usage.
    pub fn tokens(&self, usage: &Reported) -> u64 {
        if self.total && usage.total > 0 {
            return usage.total;
        }
        self.fields.iter().fold(0, |sum: u64, field| {
            sum.saturating_add(match field {
                Field::Input => usage.input,
                Field::Output => usage.output,
                Field::CacheRead => usage.cache_read,
                Field::CacheWrite => usage.cache_write,
            })
        })
    }
}

/// The size of a context and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContextSize {
    /// Reported tokens.
    pub reported: u64,
    /// Estimated tokens.
    pub estimated: u64,
    /// The entry whose usage is in it.
    pub at: Option<usize>,
}

impl ContextSize {
    /// Tokens.
    pub fn total(&self) -> u64 {
        self.reported.saturating_add(self.estimated)
    }
}

fn reply(entry: &Entry<'_>) -> bool {
    entry.kind == Kind::Message && entry.role == Role::Assistant
}

/// The newest usage that counts, with the index of its entry. Entries from `fresh` on are younger than the latest
/// compaction (0: there was none).
pub fn last_usage(entries: &[Entry<'_>], fresh: usize, rules: &UsageRules) -> Option<(usize, Reported)> {
    let first = if rules.stale == Stale::Ignored { fresh } else { 0 };
    for (at, entry) in entries.iter().enumerate().skip(first).rev() {
        let Some(usage) = entry.usage.filter(|_| reply(entry) && !rules.skip.contains(&entry.stop)) else {
            continue;
        };
        match rules.zero {
            Zero::Skipped if rules.tokens(&usage) == 0 => {}
            Zero::Resets if rules.tokens(&usage) == 0 => return None,
            _ => return Some((at, usage)),
        }
    }
    None
}

/// The size of a context by reported usage and estimates; `None` where it is not known. Entries from `fresh` on are
/// younger than the latest compaction (0: there was none).
pub fn context_size(
    entries: &[Entry<'_>],
    fresh: usize,
    usage: &UsageRules,
    estimate: &EstimateRules,
) -> Result<Option<ContextSize>, EstimateError> {
    let Some((at, told)) = last_usage(entries, fresh, usage) else {
        let none = usage.none_since.filter(|_| fresh > 0).unwrap_or(usage.none);
        return Ok(match none {
            Unreported::Estimate => {
                Some(ContextSize { estimated: entries_tokens(entries, estimate)?, ..ContextSize::default() })
            }
            Unreported::Zero => Some(ContextSize::default()),
            Unreported::Unknown => None,
        });
    };
    let newest = || entries.iter().rposition(reply) == Some(at);
    let from = match usage.trailing {
        Trailing::None => entries.len(),
        Trailing::WithReply => at,
        Trailing::BehindEarlier if newest() => entries.len(),
        Trailing::Behind | Trailing::BehindEarlier => at + 1,
    };
    let estimated = entries_tokens(entries.get(from..).unwrap_or_default(), estimate)?;
    Ok(Some(ContextSize { reported: usage.tokens(&told), estimated, at: Some(at) }))
}

/// The index of the first entry that is younger than the latest compaction entry of a session file; 0 without one.
pub fn fresh_of_path(entries: &[Entry<'_>]) -> usize {
    entries.iter().rposition(|entry| entry.kind == Kind::Compaction).map_or(0, |at| at + 1)
}

/// The index of the first entry of a context that is younger than a compaction made at `time` (milliseconds): what the
/// compaction kept stands before it. For entries that hold their times; one of unknown time counts as old.
pub fn fresh_since(entries: &[Entry<'_>], time: i64) -> usize {
    entries.iter().rposition(|entry| entry.time <= time).map_or(0, |at| at + 1)
}

/// Known tokens and the estimates of what came after them.
pub fn hybrid(known: u64, trailing: &[Entry<'_>], rules: &EstimateRules) -> Result<u64, EstimateError> {
    Ok(known.saturating_add(entries_tokens(trailing, rules)?))
}

/// The latest reported prompt and how many messages there were when the report came, for a system that keeps both apart
/// from its messages (Opal).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marker {
    /// Prompt tokens; 0 is nothing reported.
    pub tokens: u64,
    /// Messages.
    pub messages: usize,
}

/// The size of a context by a marker; `None` where nothing was reported, and all has to be estimated. A marker of more
/// messages than there are adds the oldest ones, as many as are missing: the count of new messages is negative then, and
/// the list runs from the newest.
pub fn from_marker(
    messages: &[Entry<'_>],
    marker: Marker,
    rules: &EstimateRules,
) -> Result<Option<u64>, EstimateError> {
    if marker.tokens == 0 {
        return Ok(None);
    }
    let trailing = match marker.messages.checked_sub(messages.len()) {
        Some(missing) if missing > 0 => messages.get(..missing).unwrap_or(messages),
        _ => messages.get(marker.messages..).unwrap_or_default(),
    };
    hybrid(marker.tokens, trailing, rules).map(Some)
}

/// What a system adds up over the reports of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// The latest report.
    pub marker: Marker,
    /// Prompt tokens of all reports.
    pub prompt: u64,
    /// Reply tokens of all reports.
    pub completion: u64,
    /// Totals of all reports: as told, else prompt and reply.
    pub total: u64,
    /// A prompt was larger than the window; stays so until somebody clears it.
    pub overflowed: bool,
}

impl Tally {
    /// Takes a report that came when there were `messages` messages.
    pub fn take(&mut self, usage: &Reported, messages: usize, window: u64, rules: &UsageRules) {
        let prompt = rules.tokens(usage);
        let total = if usage.total > 0 { usage.total } else { prompt.saturating_add(usage.output) };
        self.marker = Marker { tokens: prompt, messages };
        self.prompt = self.prompt.saturating_add(prompt);
        self.completion = self.completion.saturating_add(usage.output);
        self.total = self.total.saturating_add(total);
        self.overflowed |= prompt > window;
    }
}

/// What the prompt grew by from one reply to the next, beyond the part of the first reply that is sent back; `None` where
/// it did not grow. All in tokens; prompts include what caches held.
pub fn growth(prompt: u64, reply: u64, reasoning: u64, next_prompt: u64) -> Option<u64> {
    next_prompt
        .checked_sub(prompt.saturating_add(reply.saturating_sub(reasoning)))
        .filter(|growth| *growth > 0)
}

/// Shares tokens among messages in proportion to their own counts, rounded down; equally where all counts are 0.
pub fn shared(tokens: u64, counts: &[u64]) -> Vec<u64> {
    let sum: u128 = counts.iter().map(|count| u128::from(*count)).sum();
    let number = counts.len() as u64;
    counts
        .iter()
        .map(|count| match (u128::from(tokens) * u128::from(*count)).checked_div(sum) {
            Some(share) => u64::try_from(share).unwrap_or(tokens),
            None => tokens.checked_div(number).unwrap_or(0),
        })
        .collect()
}

/// Sizes of entries where results learn theirs from the next reply: what the prompt grew by between two replies is shared
/// among the results between them ([`growth`], [`shared`]). `None` for every other entry, and for results that no reply
/// with usage follows. Reasoning is taken from the reply's own blocks by the estimate: logs seldom tell it.
pub fn backfilled(
    entries: &[Entry<'_>],
    usage: &UsageRules,
    estimate: &EstimateRules,
) -> Result<Vec<Option<u64>>, EstimateError> {
    let mut out = vec![None; entries.len()];
    let mut before: Option<(u64, u64, u64)> = None;
    let mut pending = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        if entry.role == Role::Tool {
            pending.push((at, entry_tokens(entry, estimate)?));
        }
        let Some(told) = entry.usage.filter(|_| reply(entry)) else { continue };
        let prompt = usage.tokens(&told);
        if let Some((prompt_before, output, reasoning)) = before
            && let Some(tokens) = growth(prompt_before, output, reasoning, prompt)
        {
            let counts: Vec<u64> = pending.iter().map(|(_, count)| *count).collect();
            for ((at, _), share) in pending.iter().zip(shared(tokens, &counts)) {
                if let Some(slot) = out.get_mut(*at) {
                    *slot = Some(share);
                }
            }
        }
        pending.clear();
        let reasoning = entry.blocks.iter().fold(0_u64, |sum, block| match block {
            Block::Thinking(text) => sum.saturating_add(texts_tokens(&[text], estimate)),
            _ => sum,
        });
        before = Some((prompt, told.output, reasoning.min(told.output)));
    }
    Ok(out)
}
