//! Canonical JSONL written: whole transcripts, and compacted ones. The schema is that of the reader,
//! [`ingest::canonical`](crate::ingest::canonical).

use crate::context::{Context, Entry};
use crate::ingest::canonical::{Header, Line, lines};
use crate::transcript::{Link, Message, MessageIdx, Part, PartRef, Parts, Role, Text, Transcript};
use rustc_hash::FxHashMap;
use serde::Serialize;
use smallvec::smallvec;
use thin_vec::ThinVec;

#[cfg(test)]
mod tests;

/// A file with these sessions.
pub fn document<'a>(sessions: impl IntoIterator<Item = &'a Transcript>) -> String {
    let mut text = String::new();
    push(&Header::CURRENT, &mut text);
    for session in sessions {
        lines(session).for_each(|line| push_line(&line, &mut text));
    }
    text
}

/// Adds one line of a session.
pub(super) fn push_line(line: &Line<'_>, text: &mut String) {
    push(line, text);
}

fn push(line: &impl Serialize, text: &mut String) {
    // Maps with keys that are no texts are the one thing that serializing refuses, and the schema has none.
    text.push_str(&serde_json::to_string(line).unwrap_or_default());
    text.push('\n');
}

/// A compacted session as a transcript of its own: message 0 is the summary, everything else what stayed, in the order of the
/// context. Nothing of it is recorded as a compaction, for what was summarised is not in it.
pub fn compacted(transcript: &Transcript, context: &Context) -> Transcript {
    let mut messages = summary(context).into_iter().collect::<Vec<Message>>();
    let mut places: FxHashMap<MessageIdx, MessageIdx> = FxHashMap::default();
    for entry in &context.entries {
        let (at, text) = match entry {
            Entry::Kept(at) => (*at, None),
            Entry::Clipped { message, text } => (*message, Some(text)),
            Entry::Summary { .. } => continue,
        };
        let Some(mut message) = transcript.messages.get(at.get()).cloned() else { continue };
        match text {
            None => {
                places.insert(at, MessageIdx::new(messages.len()));
            }
            Some(text) => {
                message.parts = smallvec![Part::Text(Text { text: text.clone(), injected: false })];
                message.lines = ThinVec::new();
            }
        }
        messages.push(message);
    }
    let place = |at: PartRef| Some(PartRef { message: *places.get(&at.message)?, ..at });
    let mut links: Vec<Link> = transcript
        .links
        .iter()
        .filter_map(|link| Some(Link { call: place(link.call)?, result: link.result.and_then(place) }))
        .collect();
    links.sort_unstable_by_key(|link| link.call);
    demote_orphans(&mut messages, &links);
    Transcript {
        id: transcript.id.clone(),
        origin: transcript.origin.clone(),
        messages,
        links,
        recorded: Vec::new(),
        refusals: Vec::new(),
        continues: transcript.continues.clone(),
        format: transcript.format.clone(),
        model: transcript.model.clone(),
        context_window: transcript.context_window,
        tool_schema: transcript.tool_schema.clone(),
        starts_compacted: true,
        starts_midway: false,
    }
}

/// Everything generated, as one message.
fn summary(context: &Context) -> Option<Message> {
    let mut role = Role::User;
    let mut parts = Parts::new();
    for entry in &context.entries {
        if let Entry::Summary { role: carries, text } = entry
            && !text.is_empty()
        {
            role = *carries;
            parts.push(Part::Text(Text { text: text.clone(), injected: true }));
        }
    }
    (!parts.is_empty()).then_some(Message {
        role,
        parts,
        line: 0,
        lines: ThinVec::new(),
        time: None,
        cwd: None,
        usage: None,
    })
}

/// A result whose call left (no cut does that) would be a result of nothing: it becomes text.
fn demote_orphans(messages: &mut [Message], links: &[Link]) {
    let answered: rustc_hash::FxHashSet<PartRef> = links.iter().filter_map(|link| link.result).collect();
    for (index, message) in messages.iter_mut().enumerate() {
        for (part_index, part) in message.parts.iter_mut().enumerate() {
            let at = PartRef {
                message: MessageIdx::new(index),
                part: u32::try_from(part_index).unwrap_or(u32::MAX),
            };
            if let Part::Result(result) = part
                && !answered.contains(&at)
            {
                let text = match std::mem::take(&mut result.text) {
                    text if text.is_empty() => crate::context::NO_RESULT.to_owned(),
                    text => text,
                };
                *part = Part::Text(Text { text, injected: true });
                message.role = Role::User;
            }
        }
    }
}
