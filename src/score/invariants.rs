//! Hard invariants of a context, judged on the blocks as serialized for the model: no trust in how it was built.

use crate::context::{Block, Context, Entry, Sent};
use crate::transcript::{Link, MessageIdx, Role, Transcript};
use rustc_hash::{FxBuildHasher, FxHashSet};

/// How often each invariant is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Broken {
    /// Results whose call is not before them.
    pub orphan_results: u64,
    /// Calls without the result that the log had for them by then.
    pub orphan_calls: u64,
    /// Second results of one call.
    pub duplicate_results: u64,
    /// Messages without blocks, blank texts, blank results.
    pub empty_blocks: u64,
    /// No message of role user.
    pub no_user_message: bool,
    /// The newest request of the user is not there.
    pub request_absent: bool,
    /// Generated text stands after the tail.
    pub summary_after_tail: bool,
}

/// Checks a context and what is sent of it. `newest_request` is the request that has to be there, if any has to.
pub fn check(
    context: &Context,
    sent: &[Sent<'_>],
    transcript: &Transcript,
    newest_request: Option<MessageIdx>,
) -> Broken {
    let mut broken = Broken::default();
    let links = || FxHashSet::with_capacity_and_hasher(sent.len(), FxBuildHasher);
    let (mut calls, mut answered) = (links(), links());
    let mut user = false;
    let mut request = false;
    for message in sent {
        user |= message.role == Role::User;
        request |= message.source.is_some() && message.source == newest_request;
        broken.empty_blocks += u64::from(message.blocks.is_empty());
        for block in &message.blocks {
            match block {
                Block::Text(text) | Block::Thinking(text) => {
                    broken.empty_blocks += u64::from(text.trim().is_empty());
                }
                Block::Call { link, .. } => {
                    calls.insert(*link);
                }
                Block::Result { link, text } => {
                    broken.empty_blocks += u64::from(text.trim().is_empty());
                    broken.orphan_results += u64::from(!calls.contains(link));
                    broken.duplicate_results += u64::from(!answered.insert(*link));
                }
                Block::Image | Block::Other => {}
            }
        }
    }
    // Order does not matter for a count.
    broken.orphan_calls = calls
        .iter()
        .filter(|link| {
            let had = |link: &Link| link.result.is_some_and(|at| at.message < context.now);
            !answered.contains(*link) && transcript.links.get(**link).is_some_and(had)
        })
        .count() as u64;
    broken.no_user_message = !user;
    broken.request_absent = newest_request.is_some() && !request;
    broken.summary_after_tail = summary_after_tail(context, transcript);
    broken
}

fn summary_after_tail(context: &Context, transcript: &Transcript) -> bool {
    let summary = context.entries.iter().rposition(|entry| matches!(entry, Entry::Summary { .. }));
    let tail = context.entries.iter().position(|entry| match entry {
        Entry::Kept(at) => {
            transcript.messages.get(at.get()).is_some_and(|message| message.role != Role::System)
        }
        Entry::Clipped { .. } | Entry::Summary { .. } => false,
    });
    matches!((summary, tail), (Some(summary), Some(tail)) if summary > tail)
}
