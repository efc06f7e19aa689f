//! Sessions that hold their own history twice: a file that was joined with a copy of itself, a log written again behind what it
//! held. Every message counts, so it has to be said.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use super::sink::Sink;
use crate::transcript::{Message, Part, Role, Transcript};

/// Says of a session how many of its messages stand in it before, written at the same times.
pub(super) fn note(session: &Transcript, out: &mut Sink) {
    let messages = &session.messages;
    if !may_repeat(messages) {
        return;
    }
    let mut first: FxHashMap<u64, u32> = FxHashMap::default();
    let (mut count, mut line) = (0u64, 0);
    let mut at = 0;
    while let Some(message) = messages.get(at) {
        let earlier = key(message).and_then(|key| {
            let here = u32::try_from(at).ok()?;
            let earlier = *first.entry(key).or_insert(here) as usize;
            (earlier < at).then_some(earlier)
        });
        let length = earlier.map_or(0, |earlier| shared(messages, earlier, at));
        if length > 0 {
            count += length as u64;
            line = if line == 0 { message.line } else { line };
        }
        at += length.max(1);
    }
    if count > 0 {
        let what = format!(
            "{count} messages say again what stands before them in the same session, written at the same times: \
             it was joined with a copy, or written twice; all of them count"
        );
        out.damage(line, "repeated-history", what);
    }
}

/// True where time does not go on from message to message: else nothing is written twice.
fn may_repeat(messages: &[Message]) -> bool {
    let mut times = messages.iter().filter_map(|message| message.time);
    let Some(first) = times.next() else { return false };
    let mut newest = first;
    let back = times.any(|time| {
        let back = time < newest;
        newest = newest.max(time);
        back
    });
    back || newest == first
}

/// So many messages from `at` on are those from `earlier` on; 0 where none of them is a reply.
fn shared(messages: &[Message], earlier: usize, at: usize) -> usize {
    let pairs = messages.iter().skip(earlier).take(at - earlier).zip(messages.iter().skip(at));
    let same = |(one, other): &(&Message, &Message)| {
        one.time.is_some() && one.time == other.time && one.role == other.role && one.parts == other.parts
    };
    let mut reply = false;
    let length = pairs.take_while(same).inspect(|(one, _)| reply |= one.role == Role::Assistant).count();
    // The same notice may be sent twice at a time, and so may one short word.
    if reply && length > 1 { length } else { 0 }
}

fn key(message: &Message) -> Option<u64> {
    let mut hasher = FxHasher::default();
    (message.time?, message.role).hash(&mut hasher);
    hash_parts(message, &mut hasher);
    Some(hasher.finish())
}

/// Takes all that a message holds into a hash.
pub(super) fn hash_parts(message: &Message, hasher: &mut FxHasher) {
    for part in &message.parts {
        std::mem::discriminant(part).hash(hasher);
        match part {
            Part::Text(text) => text.text.hash(hasher),
            Part::Thinking(text) => text.hash(hasher),
            Part::Call(call) => (&call.id, &call.name, &call.arguments).hash(hasher),
            Part::Result(result) => (&result.call_id, &result.text).hash(hasher),
            Part::Image { bytes } | Part::Opaque { bytes, .. } => bytes.hash(hasher),
        }
    }
}
