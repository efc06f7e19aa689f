//! A compaction as it stands in a log of the session's own format: its records are those that were logged, whatever the policy
//! would make of them in a request.

use super::Compacted;
use crate::context::{Context, Entry};
use crate::tokens::{MESSAGE_OVERHEAD, TokenIndex, Tokenizer};
use crate::transcript::{MessageIdx, Part, PartRef, Transcript};
use rustc_hash::FxHashSet;

/// Messages that stay word for word.
fn kept(context: &Context) -> FxHashSet<MessageIdx> {
    let entries = context.entries.iter();
    entries.filter_map(|entry| if let Entry::Kept(at) = entry { Some(*at) } else { None }).collect()
}

/// Tool results in kept messages that a policy holds shorter than they were logged.
pub(super) fn results_cut(transcript: &Transcript, held: &Transcript, context: &Context) -> usize {
    let kept = kept(context);
    let links = transcript
        .links
        .iter()
        .filter(|link| link.result.is_some_and(|result| kept.contains(&result.message)));
    let text = |of: &Transcript, link| of.result(link).map(|result| result.text.len());
    links.filter(|link| text(transcript, link) != text(held, link)).count()
}

/// Makes a compaction one of the log's own records: nothing in them is cut short, and messages that only hold results whose
/// calls left do not stay. Returns a remark for each difference from what the policy sends.
pub(super) fn make(
    compacted: &mut Compacted,
    transcript: &Transcript,
    tokens: &TokenIndex,
    tokenizer: Tokenizer,
    cut: usize,
) -> Vec<String> {
    let kept = kept(&compacted.context);
    let links = || transcript.links.iter().filter(|link| kept.contains(&link.call.message));
    let answers: FxHashSet<PartRef> = links().filter_map(|link| link.result).collect();
    let open = links().filter(|link| link.result.is_none()).count();
    let is_orphan = |at: MessageIdx| {
        let parts = transcript.messages.get(at.get()).map_or(&[][..], |message| &message.parts);
        let alone = |(part, it): (usize, &Part)| {
            let place = PartRef { message: at, part: u32::try_from(part).unwrap_or(u32::MAX) };
            matches!(it, Part::Result(_)) && !answers.contains(&place)
        };
        !parts.is_empty() && parts.iter().enumerate().all(alone)
    };
    let entries = &mut compacted.context.entries;
    let before = entries.len();
    entries.retain(|entry| !matches!(entry, Entry::Kept(at) if is_orphan(*at)));
    let orphans = before - entries.len();
    while is_orphan(MessageIdx::new(compacted.tail)) {
        compacted.tail += 1;
    }
    let size = |entry: &Entry| match entry {
        Entry::Kept(at) => tokens.message(*at),
        Entry::Clipped { text, .. } | Entry::Summary { text, .. } => tokenizer.count(text) + MESSAGE_OVERHEAD,
    };
    compacted.tokens_after = entries.iter().map(size).sum();
    compacted.tokens_session = tokens.total();
    [
        (orphans, "message", "of tool results left with the calls that they answer"),
        (cut, "tool result", "that the policy would cut short or clear: whole here, and counted so"),
        (open, "call", "without a result, as it was logged"),
    ]
    .into_iter()
    .filter(|(count, ..)| *count > 0)
    .map(|(count, what, how)| format!("{count} {what}{} {how}", if count == 1 { "" } else { "s" }))
    .collect()
}
