//! What the model sees after a compaction: a view into the source messages, never a copy of them.
//!
//! [`Context::serialize`] turns the view into the blocks of a request, pairs repaired: a call that nothing has answered
//! so far gets a placeholder result unless it is the very end, a silent result says so, nothing is empty.

use crate::tokens::Tokenizer;
use crate::transcript::{MessageIdx, Part, Role, Transcript};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Stands for the text of a result that has none.
pub const NO_OUTPUT: &str = "(no output)";

/// Stands for the text of a result that holds only images.
const ONLY_IMAGES: &str = "(image)";

/// Stands for the result of a call that nothing has answered.
pub const NO_RESULT: &str = "(no result was recorded)";

/// One entry of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A source message, verbatim.
    Kept(MessageIdx),
    /// A source message in part: the text says what is left.
    Clipped {
        /// The message.
        message: MessageIdx,
        /// What is left of it, with a notice of what is not.
        text: String,
    },
    /// Generated text.
    Summary {
        /// Role of the message that carries it.
        role: Role,
        /// The text, wrapper included.
        text: String,
    },
}

/// The context after one cycle: system messages, summary, pinned request, tail.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Context {
    /// Entries in the order the model sees them.
    pub entries: Vec<Entry>,
    /// Messages before this one have happened: a result at or after it is still to come.
    pub now: MessageIdx,
    /// Results whose call is not in the context are taken out when a request is made.
    pub drops_orphans: bool,
    /// What stands in a request in place of results, by the position of their links.
    pub pruned: BTreeMap<usize, String>,
}

/// A message of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent<'a> {
    /// Its role.
    pub role: Role,
    /// Where it comes from; `None` for generated text.
    pub source: Option<MessageIdx>,
    /// Its blocks, never empty.
    pub blocks: SmallVec<[Block<'a>; 1]>,
}

/// A block of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block<'a> {
    /// Text.
    Text(Cow<'a, str>),
    /// Reasoning in clear text.
    Thinking(Cow<'a, str>),
    /// A call; the number identifies it (its position in [`Transcript::links`]).
    Call {
        /// Position of its link.
        link: usize,
        /// Tool name.
        name: &'a str,
        /// Arguments as logged.
        arguments: &'a str,
    },
    /// A result.
    Result {
        /// Position of its link.
        link: usize,
        /// Text, never empty.
        text: Cow<'a, str>,
    },
    /// An image, whose data no transcript holds.
    Image,
    /// Unreadable content.
    Other,
}

impl Context {
    /// The generated text, wrapper included; `None` before the first summary.
    pub fn summary(&self) -> Option<&str> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::Summary { text, .. } => Some(text.as_str()),
            Entry::Kept(_) | Entry::Clipped { .. } => None,
        })
    }

    /// Serializes it for the model, pairs repaired.
    pub fn serialize<'a>(&'a self, transcript: &'a Transcript) -> Vec<Sent<'a>> {
        let mut sent: Vec<Sent<'a>> = Vec::with_capacity(self.entries.len());
        for (position, entry) in self.entries.iter().enumerate() {
            match entry {
                Entry::Summary { role, text } => {
                    if !text.trim().is_empty() {
                        let blocks = smallvec![Block::Text(Cow::Borrowed(text.as_str()))];
                        sent.push(Sent { role: *role, source: None, blocks });
                    }
                }
                Entry::Clipped { message, text } => {
                    let role = transcript.messages.get(message.get()).map_or(Role::User, |it| it.role);
                    let blocks = smallvec![Block::Text(Cow::Borrowed(text.as_str()))];
                    sent.push(Sent { role, source: Some(*message), blocks });
                }
                Entry::Kept(index) => {
                    let last = position + 1 == self.entries.len();
                    self.push_kept(transcript, *index, last, &mut sent);
                }
            }
        }
        sent
    }

    /// Serializes one kept message and, where calls of it have no answer so far, their placeholder results.
    fn push_kept<'a>(
        &'a self,
        transcript: &'a Transcript,
        index: MessageIdx,
        last: bool,
        sent: &mut Vec<Sent<'a>>,
    ) {
        let Some(message) = transcript.messages.get(index.get()) else { return };
        let mut blocks = SmallVec::with_capacity(message.parts.len());
        let mut placeholders = SmallVec::new();
        for (position, part) in message.parts.iter().enumerate() {
            let at = crate::transcript::PartRef { message: index, part: position as u32 };
            match part {
                Part::Text(text) if !is_blank(&text.text) => {
                    blocks.push(Block::Text(Cow::Borrowed(&text.text)));
                }
                Part::Thinking(text) if !is_blank(text) => blocks.push(Block::Thinking(Cow::Borrowed(text))),
                Part::Text(_) | Part::Thinking(_) => {}
                Part::Call(call) => {
                    let Ok(link) = transcript.links.binary_search_by_key(&at, |link| link.call) else {
                        continue;
                    };
                    blocks.push(Block::Call { link, name: &call.name, arguments: &call.arguments });
                    let answered = transcript.links[link].result.is_some_and(|at| at.message < self.now);
                    if !answered && !last {
                        placeholders.push(Block::Result { link, text: Cow::Borrowed(NO_RESULT) });
                    }
                }
                Part::Result(result) => {
                    let Some(link) = transcript.link_of_result(at) else { continue };
                    if self.drops_orphans && !self.holds_call(transcript, link) {
                        continue;
                    }
                    let text = match (self.pruned.get(&link), result.text.trim().is_empty(), result.images) {
                        (Some(pruned), ..) => pruned.as_str(),
                        (None, false, _) => result.text.as_str(),
                        (None, true, 0) => NO_OUTPUT,
                        (None, true, _) => ONLY_IMAGES,
                    };
                    blocks.push(Block::Result { link, text: Cow::Borrowed(text) });
                }
                Part::Image { .. } => blocks.push(Block::Image),
                Part::Opaque { .. } => blocks.push(Block::Other),
            }
        }
        if !blocks.is_empty() {
            sent.push(Sent { role: message.role, source: Some(index), blocks });
        }
        if !placeholders.is_empty() {
            sent.push(Sent { role: Role::Tool, source: None, blocks: placeholders });
        }
    }
}

impl Context {
    /// The session that it is a view of, with what stands in place of pruned results.
    pub fn pruned_of(&self, transcript: &Transcript) -> Transcript {
        let mut out = transcript.clone();
        for (link, text) in &self.pruned {
            let place = transcript.links.get(*link).and_then(|link| link.result);
            if let Some(Part::Result(result)) = place.and_then(|at| out.part_mut(at)) {
                result.text.clone_from(text);
            }
        }
        out
    }

    /// Does it hold the call of a link?
    fn holds_call(&self, transcript: &Transcript, link: usize) -> bool {
        let call = transcript.links.get(link).map(|link| link.call.message);
        // Kept messages stand in the order of the log, behind what was pinned.
        call.is_some_and(|call| {
            self.entries.iter().any(|entry| matches!(entry, Entry::Kept(kept) if *kept == call))
        })
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Cuts a text to a token limit: head and tail stay, a notice in the middle says how much is gone. A text within the
/// limit is returned as it is. The result never exceeds `limit` unless the notice alone does.
pub fn clip(text: &str, limit: u64, tokenizer: Tokenizer) -> String {
    let total = tokenizer.count(text);
    if total <= limit || text.is_empty() {
        return text.to_owned();
    }
    let mut share = limit as f64 / total as f64;
    loop {
        let kept = (text.len() as f64 * share) as usize;
        let head_end = text.floor_char_boundary(kept * 2 / 3);
        let tail_start = text.ceil_char_boundary(text.len() - kept / 3);
        let head = text.get(..head_end).unwrap_or("");
        let tail = text.get(tail_start..).unwrap_or("");
        let gone = text.len() - head.len() - tail.len();
        let clipped = format!("{head}\n[... {gone} bytes of this request left out ...]\n{tail}");
        if tokenizer.count(&clipped) <= limit || kept == 0 {
            return clipped;
        }
        share = if kept < 16 { 0.0 } else { share * 0.9 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clip_keeps_head_and_tail_within_the_limit_at_every_limit() {
        let text = "請求の見出し: keep the API stable. ".repeat(40) + "Last line: 締め切りは金曜日 🚀";
        for limit in 20..300 {
            let clipped = clip(&text, limit, Tokenizer::O200k);
            assert!(Tokenizer::O200k.count(&clipped) <= limit, "limit {limit}");
        }
        let clipped = clip(&text, 120, Tokenizer::O200k);
        assert!(clipped.starts_with("請求の見出し"), "{clipped}");
        assert!(clipped.ends_with('🚀'), "{clipped}");
        assert!(clipped.contains("left out"));
    }

    #[test]
    fn clip_leaves_short_text_alone() {
        assert_eq!(clip("short", 10, Tokenizer::O200k), "short");
        assert_eq!(clip("", 0, Tokenizer::O200k), "");
    }
}
