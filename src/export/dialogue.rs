//! A context as the two chat APIs both want it: system text in front, then turns in which every call is answered at once.
//!
//! What neither takes from a log is changed here, and each change is counted: ids that are empty, repeated or spelled as no
//! API allows, tool names likewise, arguments that are no JSON object, reasoning (it goes back to its model only with a
//! signature, and transcripts hold none), images (their data is not held).

use crate::context::{Block, Context, NO_RESULT};
use crate::transcript::{Outcome, Role, Transcript};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

/// Stands for an image.
const IMAGE: &str = "[image: its data is not part of this transcript]";

/// What the user says where nobody speaks for the user, or where the model would begin.
pub(super) const GO_ON: &str = "(the conversation goes on)";

/// In front of a result whose call is not in the context.
const LATE: &str = "[result of an earlier call]";

/// Longest id and longest tool name: the limits of the chat completions API, below those of the Messages API.
pub(super) const ID_LENGTH: usize = 40;
/// See [`ID_LENGTH`].
pub(super) const NAME_LENGTH: usize = 64;

/// What somebody says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Turn {
    /// Texts of the user, none of them blank.
    User(Vec<String>),
    /// A reply: texts, none blank, and calls.
    Assistant(Vec<String>, Vec<Call>),
    /// Answers to all calls of the reply before it, in their order.
    Results(Vec<Answer>),
}

/// A call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    /// JSON text of an object.
    pub(super) arguments: String,
    /// The object.
    pub(super) input: Map<String, Value>,
}

/// Its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) id: String,
    /// Never blank.
    pub(super) text: String,
    pub(super) failed: bool,
}

/// The whole of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Dialogue {
    /// System texts, none blank.
    pub(super) system: Vec<String>,
    pub(super) turns: Vec<Turn>,
    pub(super) changed: Changed,
}

/// How much was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Changed {
    thinking: usize,
    images: usize,
    opaque: usize,
    ids: usize,
    names: usize,
    arguments: usize,
    unanswered: usize,
    system: usize,
    spoken_for: usize,
}

impl Changed {
    /// A remark for each kind of change.
    pub(super) fn notes(self) -> Vec<String> {
        [
            (
                self.thinking,
                "thinking block",
                "left out: the transcript holds no signatures, without which they cannot go back",
            ),
            (self.images, "image", "replaced by a text: their data is not part of the transcript"),
            (self.opaque, "unreadable block", "left out (encrypted reasoning, unknown types)"),
            (self.ids, "call id", "made: the log's were empty, repeated or spelled as no API allows"),
            (self.names, "tool name", "spelled with letters, digits, _ and - only, as APIs ask"),
            (self.arguments, "call", "with arguments that are no JSON object: wrapped as {\"input\": TEXT}"),
            (self.unanswered, "call", "without a result in the log: answered by a placeholder"),
            (self.system, "system message", "moved in front, from inside the conversation"),
            (self.spoken_for, "text of the user", "put in front: no message of the user is left"),
        ]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, what, how)| format!("{count} {what}{} {how}", if count == 1 { "" } else { "s" }))
        .collect()
    }
}

impl Dialogue {
    /// Sorts a context out.
    pub(super) fn of(transcript: &Transcript, context: &Context) -> Self {
        let sent = context.serialize(transcript);
        let blocks = || sent.iter().flat_map(|message| &message.blocks);
        let calls: Vec<usize> = blocks()
            .filter_map(|block| if let Block::Call { link, .. } = block { Some(*link) } else { None })
            .collect();
        let called: FxHashSet<usize> = calls.iter().copied().collect();
        let mut results: FxHashMap<usize, &str> = FxHashMap::default();
        for block in blocks() {
            if let Block::Result { link, text } = block {
                results.entry(*link).or_insert(text);
            }
        }
        let mut whole = Self::default();
        let ids = ids(transcript, &calls, &mut whole.changed);
        for message in &sent {
            let mut texts = Vec::new();
            let mut asked = Vec::new();
            for block in &message.blocks {
                match block {
                    Block::Text(text) if !text.trim().is_empty() => texts.push(text.to_string()),
                    Block::Text(_) => {}
                    Block::Thinking(_) => whole.changed.thinking += 1,
                    Block::Image => {
                        whole.changed.images += 1;
                        texts.push(IMAGE.to_owned());
                    }
                    Block::Other => whole.changed.opaque += 1,
                    Block::Call { link, name, arguments } => {
                        let id = ids.get(link).cloned().unwrap_or_default();
                        asked.push((*link, call(id, name, arguments, &mut whole.changed)));
                    }
                    Block::Result { link, text } if !called.contains(link) => {
                        texts.push(format!("{LATE}\n{text}"));
                    }
                    Block::Result { .. } => {}
                }
            }
            whole.push(message.role, texts, asked, &results, transcript);
        }
        // Templates of models, and some APIs, fail where the user says nothing at all.
        if !whole.turns.iter().any(|turn| matches!(turn, Turn::User(_))) {
            whole.turns.insert(0, Turn::User(vec![GO_ON.to_owned()]));
            whole.changed.spoken_for += 1;
        }
        whole
    }

    fn push(
        &mut self,
        role: Role,
        texts: Vec<String>,
        asked: Vec<(usize, Call)>,
        results: &FxHashMap<usize, &str>,
        transcript: &Transcript,
    ) {
        match role {
            Role::System => {
                self.changed.system += usize::from(!self.turns.is_empty() && !texts.is_empty());
                self.system.extend(texts);
            }
            Role::User | Role::Tool if texts.is_empty() => {}
            Role::User | Role::Tool => self.turns.push(Turn::User(texts)),
            Role::Assistant if texts.is_empty() && asked.is_empty() => {}
            Role::Assistant => {
                let mut answers = Vec::with_capacity(asked.len());
                for (link, call) in &asked {
                    let logged = transcript.links.get(*link).and_then(|link| transcript.result(link));
                    let images = logged.map_or(0, |result| result.images as usize);
                    let mut text = results.get(link).map_or(NO_RESULT, |text| *text).to_owned();
                    self.changed.unanswered += usize::from(text == NO_RESULT);
                    self.changed.images += images;
                    for _ in 0..images.min(1) {
                        text = format!("{text}\n{IMAGE}");
                    }
                    let failed = logged.is_some_and(|result| result.outcome == Outcome::Failed);
                    answers.push(Answer { id: call.id.clone(), text, failed });
                }
                self.turns.push(Turn::Assistant(texts, asked.into_iter().map(|(_, call)| call).collect()));
                if !answers.is_empty() {
                    self.turns.push(Turn::Results(answers));
                }
            }
        }
    }
}

/// An id for each call, none twice: the log's own where an API takes it.
fn ids(transcript: &Transcript, calls: &[usize], changed: &mut Changed) -> FxHashMap<usize, String> {
    let logged = |link: &usize| {
        transcript.links.get(*link).and_then(|link| transcript.call(link)).map_or("", |call| call.id.as_str())
    };
    let mut taken: FxHashSet<String> = calls.iter().map(|link| logged(link).to_owned()).collect();
    let mut used: FxHashSet<&str> = FxHashSet::default();
    let mut ids = FxHashMap::default();
    for link in calls {
        let id = logged(link);
        if is_name(id, ID_LENGTH) && used.insert(id) {
            ids.insert(*link, id.to_owned());
            continue;
        }
        changed.ids += 1;
        // A log may hold ids of this form itself.
        let made = (0u32..).find_map(|more| {
            let made = if more == 0 { format!("call_{link}") } else { format!("call_{link}_{more}") };
            taken.insert(made.clone()).then_some(made)
        });
        ids.insert(*link, made.unwrap_or_default());
    }
    ids
}

/// True for 1 to `longest` letters, digits, `_` and `-`.
pub(super) fn is_name(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.len()) && text.bytes().all(is_name_byte)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn call(id: String, name: &str, arguments: &str, changed: &mut Changed) -> Call {
    let name = if is_name(name, NAME_LENGTH) {
        name.to_owned()
    } else {
        changed.names += 1;
        let spelled = name.chars().map(|c| if c.is_ascii() && is_name_byte(c as u8) { c } else { '_' });
        let spelled: String = spelled.take(NAME_LENGTH).collect();
        if spelled.is_empty() { "unnamed".to_owned() } else { spelled }
    };
    if arguments.trim().is_empty() {
        return Call { id, name, arguments: "{}".to_owned(), input: Map::new() };
    }
    if let Ok(Value::Object(input)) = serde_json::from_str(arguments) {
        return Call { id, name, arguments: arguments.to_owned(), input };
    }
    changed.arguments += 1;
    let input = Map::from_iter([("input".to_owned(), Value::String(arguments.to_owned()))]);
    Call { id, name, arguments: Value::Object(input.clone()).to_string(), input }
}
