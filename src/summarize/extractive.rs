//! The embedded summarizer: picks the lines of a session that an engineer who goes on with the work would need.
//!
//! It is deterministic and offline. It quotes rather than paraphrases, because a quote cannot be wrong: sentences of
//! the user and of the agent, heads of errors, outcomes of checks, items of todo lists. What to quote follows from who
//! said it, where in its turn it stands, how it is built, how often the session speaks of the same things, and how
//! old it is. An earlier summary is read back into the same kind of lines, so that rounds merge instead of nesting.
//!
//! Invariants: the text never exceeds the budget; equal requests give equal text; only the messages of the request
//! and the earlier summary are read; summarizing nothing on top of an own summary gives that summary again.
//!
//! It stands apart from the measuring side on purpose: it imports nothing of facts, matching or scoring.

use super::{Layout, SummarizeError, Summarizer, SummaryRequest};
use files::{Files, Limits, Paths};
use item::Kind;
use layout::{Entry, Frame};

mod digest;
pub(crate) mod files;
mod item;
pub(crate) mod layout;
mod lines;
mod outcome;
mod previous;
mod rank;
#[cfg(test)]
mod tests;
mod words;

pub use digest::Digest;

/// Tokens left over that are worth a second pass.
const SPARE: u64 = 16;

/// The summarizer; it has no settings.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extractive;

impl Summarizer for Extractive {
    fn name(&self) -> &'static str {
        "extractive"
    }

    fn summarize(&self, request: &SummaryRequest<'_>) -> Result<String, SummarizeError> {
        let digest = request.view.digest(request.messages.end);
        let old = request.previous.map(|text| previous::parse(text, &digest.memory)).unwrap_or_default();
        let told = previous::told(request.told, &digest.memory);
        let new = [told.as_slice(), digest.range(&request.messages)];
        let candidates = rank::candidates(request, digest, new, &old);
        let no_lists = super::FileLists::default();
        let lists = if request.list_form == super::ListForm::None { &no_lists } else { request.lists };
        if candidates.is_empty() && lists.is_empty() {
            return Err(SummarizeError::Nothing);
        }
        let queues = rank::Queues::new(&candidates);
        let mut frame = Some(Frame::Full);
        while let Some(size) = frame {
            if let Some(text) = write(request, lists, &queues, size, &digest.memory) {
                return Ok(text);
            }
            frame = size.smaller();
        }
        Err(SummarizeError::BudgetTooSmall { budget: request.budget })
    }
}

/// One attempt with a frame; `None` when the frame leaves too little room for content.
fn write(
    request: &SummaryRequest<'_>,
    lists: &super::FileLists,
    queues: &rank::Queues<'_>,
    frame: Frame,
    memory: &previous::Memory,
) -> Option<String> {
    let skeleton = frame_tokens(request, frame);
    if frame < Frame::Bare && skeleton * 4 > request.budget {
        return None;
    }
    let room = request.budget.saturating_sub(skeleton);
    let mut paths = Paths::new(lists, request.cwd, &request.view.counter);
    let mut fill = |room| fill(request, &mut paths, queues, frame, room);
    let (mut text, tokens, mut chosen) = fill(room)?;
    // The estimates are careful: give what they left over to a second pass.
    let spare = request.budget.saturating_sub(tokens);
    if spare >= SPARE
        && let Some((better, _, lines)) = fill(room + spare)
    {
        (text, chosen) = (better, lines);
    }
    previous::remember(chosen.iter().map(|candidate| candidate.item), memory);
    Some(text)
}

/// Chooses for `room` tokens, by the estimates, and writes; gives the text with its tokens and its lines.
fn fill<'q>(
    request: &SummaryRequest<'_>,
    paths: &mut Paths<'_, '_>,
    queues: &rank::Queues<'q>,
    frame: Frame,
    room: u64,
) -> Option<(String, u64, Vec<rank::Candidate<'q>>)> {
    let counter = &request.view.counter;
    let budget = request.budget;
    let limits = Limits::of(room);
    let mut files = paths.choose(limits).in_order(request.list_order);
    let selection = rank::select(queues, room.saturating_sub(files.tokens), counter);
    let spare = room.saturating_sub(files.tokens + selection.tokens);
    if spare > 0 && !files.is_whole() {
        let more = |limit: u64| limit + spare;
        let limits = Limits {
            modified: more(limits.modified),
            deleted: more(limits.deleted),
            read: more(limits.read),
            all: room - selection.tokens.min(room),
        };
        files = paths.choose(limits).in_order(request.list_order);
    }
    let mut chosen = selection.lines;
    // Sums of counts and the count of the whole differ by a few tokens at the joins: the last word is a real count.
    loop {
        if chosen.is_empty() && files.is_empty() {
            return None;
        }
        let mut ordered: Vec<&rank::Candidate<'_>> = chosen.iter().collect();
        ordered.sort_by_key(|candidate| candidate.order);
        let entries: Vec<Entry<'_>> = ordered
            .iter()
            .map(|candidate| Entry { kind: candidate.kind, text: &candidate.item.text })
            .collect();
        let text = layout::render(request.layout, frame, &entries, &files, request.list_form);
        let count = counter.count(&text);
        if count <= budget {
            return Some((text, count, chosen));
        }
        let mut over = count - budget;
        while over > 0 {
            // The goal goes last, the least of the lines first.
            let Some(at) = chosen.iter().rposition(|candidate| candidate.kind != Kind::Goal) else { break };
            over = over.saturating_sub(rank::line_tokens(&chosen.remove(at), counter));
        }
        if over > 0 && !files.shrink() {
            chosen.pop();
        }
    }
}

/// Tokens of a layout without content.
fn frame_tokens(request: &SummaryRequest<'_>, frame: Frame) -> u64 {
    let text = layout::render(request.layout, frame, &[], &Files::default(), request.list_form);
    // Lead-ins and headings that are only written with content: about one more line each.
    let lead_ins = match (request.layout, frame) {
        (_, Frame::Bare) => 0,
        (Layout::Prose, _) => layout::lead_ins().map(|lead| lead.len() as u64 / 5 + 2).sum(),
        (_, Frame::Sparse) => 30,
        (_, Frame::Full) => 0,
    };
    request.view.counter.count(&text) + lead_ins
}
