//! The unit of a summary: one line with a kind.

use super::digest::without_stop;
use super::words::{self, Cues, Look, look};
use smallvec::SmallVec;
use std::ops::Deref;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// What a line tells the engineer who goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// What the session is for: its first request.
    Goal,
    /// The newest request, still open.
    Request,
    /// The newest request, answered.
    Answered,
    /// An older request.
    Asked,
    /// Standing instruction of the user.
    Rule,
    /// A choice, with its reason where the text has one.
    Decision,
    /// A value, name or finding to keep.
    Value,
    /// A check that failed when it was last run.
    Failure,
    /// A check that worked when it was last run.
    Check,
    /// Something finished.
    Done,
    /// Something finished in the current turn.
    Progress,
    /// Being worked on.
    Active,
    /// Open item of a list.
    Todo,
    /// What comes next, in the agent's words.
    Next,
    /// Where things stand.
    State,
    /// Anything else worth a line.
    Note,
}

/// Kinds that share a part of the budget.
pub(super) const GROUPS: usize = 8;

impl Kind {
    /// All kinds.
    #[cfg(test)]
    const ALL: [Self; 16] = [
        Self::Goal,
        Self::Request,
        Self::Answered,
        Self::Asked,
        Self::Rule,
        Self::Decision,
        Self::Value,
        Self::Failure,
        Self::Check,
        Self::Done,
        Self::Progress,
        Self::Active,
        Self::Todo,
        Self::Next,
        Self::State,
        Self::Note,
    ];

    /// Worth of an average line of this kind.
    pub(super) fn base(self) -> f32 {
        match self {
            Self::Goal => 12.0,
            Self::Request => 10.0,
            Self::Answered => 4.0,
            Self::Rule => 3.4,
            Self::Decision | Self::Failure => 2.5,
            Self::Active => 2.4,
            Self::Todo | Self::State => 2.0,
            Self::Progress | Self::Value => 1.7,
            Self::Check | Self::Next => 1.5,
            Self::Done => 1.4,
            Self::Asked | Self::Note => 1.1,
        }
    }

    /// How well it keeps from round to round: factor on what the earlier summary held.
    pub(super) fn carry(self) -> f32 {
        match self {
            Self::Goal => 1.2,
            Self::Rule => 1.15,
            Self::Decision => 1.0,
            Self::Request | Self::Todo => 0.9,
            Self::Value | Self::Done | Self::Progress => 0.8,
            Self::Note => 0.6,
            Self::Failure | Self::Asked | Self::Answered => 0.7,
            Self::Check | Self::Active => 0.55,
            Self::Next => 0.4,
            Self::State => 0.3,
        }
    }

    /// Factor on the oldest line of the earlier summary, where it is 1 on the newest. Lines keep their order from
    /// round to round, so their position is what is left of their age.
    pub(super) fn oldest(self) -> f32 {
        match self {
            Self::Goal | Self::Request | Self::Rule => 1.0,
            Self::Decision => 0.9,
            Self::Value | Self::Todo | Self::Answered => 0.75,
            _ => 0.55,
        }
    }

    /// Worth at the start of the range, where it is 1 at the end.
    pub(super) fn at_start(self) -> f32 {
        match self {
            Self::Goal | Self::Request | Self::Answered | Self::Rule | Self::Todo => 1.0,
            Self::Decision | Self::Value => 0.85,
            Self::Done | Self::Progress | Self::Asked | Self::Note => 0.7,
            Self::Failure | Self::Check | Self::Active => 0.45,
            Self::Next | Self::State => 0.1,
        }
    }

    /// The group it shares its part of the budget with.
    pub(super) fn group(self) -> usize {
        match self {
            Self::Goal | Self::Request | Self::Answered => 0,
            Self::Rule => 1,
            Self::Decision => 2,
            Self::Value | Self::Note => 3,
            Self::Failure | Self::Check => 4,
            Self::Done | Self::Progress | Self::Asked => 5,
            Self::Todo | Self::Active | Self::Next => 6,
            Self::State => 7,
        }
    }

    /// True for kinds that tell how things went rather than what holds: the old ones make room for the new ones.
    pub(super) fn fades(self) -> bool {
        matches!(self, Self::Value | Self::Note | Self::Done | Self::Progress | Self::Asked | Self::Check)
    }

    /// The kind that the label of a line tells, and what stands behind the label.
    pub(super) fn labelled(line: &str) -> Option<(Self, &str)> {
        let alike: &[Self] = match line.as_bytes().first()? {
            b'A' => &[Self::Asked],
            b'D' => &[Self::Active],
            b'F' => &[Self::Failure],
            b'L' => &[Self::Answered],
            b'R' => &[Self::Request, Self::Check],
            b'S' => &[Self::State],
            b'T' => &[Self::Progress],
            b'[' => &[Self::Todo],
            _ => return None,
        };
        alike.iter().find_map(|kind| Some((*kind, line.strip_prefix(kind.label())?)))
    }

    /// Words in front of the line, from which the next round knows the kind again.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Request => "Request: ",
            Self::Answered => "Last request, answered: ",
            Self::Asked => "Asked: ",
            Self::Failure => "Failing: ",
            Self::Check => "Ran: ",
            Self::Progress => "This turn: ",
            Self::Active => "Doing: ",
            Self::Todo => "[ ] ",
            Self::State => "State: ",
            _ => "",
        }
    }
}

/// Parts of the budget per group; they add up to more than one because few sessions fill all of them.
pub(super) const SHARES: [f32; GROUPS] = [0.24, 0.24, 0.2, 0.24, 0.12, 0.22, 0.16, 0.08];

/// One line that may enter a summary.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// What it tells.
    pub(super) kind: Kind,
    /// Message it comes from; for lines of an earlier summary their position there.
    pub(super) message: u32,
    /// Worth before kind, salience and recency; around 1.
    pub(super) weight: f32,
    /// A later line with the same key takes its place.
    pub(super) key: Option<u64>,
    /// What follows from the text alone.
    pub(super) body: Arc<Body>,
}

/// The text of a line and what it holds.
#[derive(Debug)]
pub(super) struct Body {
    /// The line, without label.
    pub(super) text: Box<str>,
    /// Content words.
    pub(super) words: SmallVec<[u32; 12]>,
    /// Values.
    pub(super) values: Box<[u32]>,
    /// Signature of `words`.
    pub(super) signature: u64,
    /// Word that this line turns down (`X instead of this`).
    pub(super) rejects: Option<u32>,
    /// Tokens of the text, counted when it is first considered.
    pub(super) tokens: OnceLock<u32>,
    /// How the text looks, where that is known for certain.
    pub(super) seen: Option<Seen>,
    /// It is among the lines that are remembered for reading summaries back.
    pub(super) remembered: AtomicBool,
}

/// What tells of a line that is read back what it is and what it is worth.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// It has content words.
    pub(super) content: bool,
    pub(super) cues: Cues,
    /// Code-like tokens and numbers.
    pub(super) details: u32,
    pub(super) info: f32,
}

impl Seen {
    pub(super) fn of(look: &Look) -> Self {
        Self {
            content: look.content > 0,
            cues: look.cues,
            details: look.code + look.numbers,
            info: info(look),
        }
    }
}

impl Body {
    /// Of a clean line.
    pub(super) fn new(text: &str, look: Look) -> Self {
        let rejects = if look.cues.any(Cues::CHOICE) || look.cues.any(Cues::NOT) {
            words::rejected(text)
        } else {
            None
        };
        let Look { words, values, .. } = look;
        Self {
            text: text.into(),
            signature: words::signature(&words),
            words: SmallVec::from_slice(&words),
            values: values.as_slice().into(),
            rejects,
            tokens: OnceLock::new(),
            seen: None,
            remembered: AtomicBool::new(false),
        }
    }
}

impl Deref for Item {
    type Target = Body;

    fn deref(&self) -> &Body {
        &self.body
    }
}

impl Item {
    /// Makes an item of a clean line.
    pub(super) fn new(kind: Kind, text: &str, message: u32, weight: f32, look: Look) -> Self {
        Self { kind, message, weight, key: None, body: Arc::new(Body::new(text, look)) }
    }

    /// Makes an item of a clean line by the looks of it.
    pub(super) fn read(kind: Kind, text: &str, message: u32, weight: f32) -> Self {
        let look = look(text);
        let seen = Some(Seen::of(&look));
        let body = Body { seen, ..Body::new(text, look) };
        Self { kind, message, weight, key: None, body: Arc::new(body) }
    }

    /// Makes an item of a clean line that was looked at; a full stop behind it is left out.
    pub(super) fn of(kind: Kind, clean: &str, message: u32, weight: f32, look: Look) -> Self {
        let text = without_stop(clean);
        // A full stop behind the second word or a later one does not change its look, where a letter or digit is before it.
        let plain = text.as_bytes().last().is_some_and(u8::is_ascii_alphanumeric) && text.contains(' ');
        let seen = (plain || text.len() == clean.len()).then(|| Seen::of(&look));
        let body = Body { seen, ..Body::new(text, look) };
        Self { kind, message, weight, key: None, body: Arc::new(body) }
    }

    /// With a key.
    pub(super) fn keyed(mut self, key: u64) -> Self {
        self.key = Some(key);
        self
    }
}

/// Worth of a sentence by its looks alone, about 0.3 to 2.
pub(super) fn info(look: &Look) -> f32 {
    let mut sum = 0.5 + 0.16 * look.code.min(4) as f32 + 0.15 * look.numbers.min(3) as f32;
    for (cue, worth) in [
        (Cues::CHOICE, 0.25),
        (Cues::CAUSE, 0.2),
        (Cues::FOUND, 0.2),
        (Cues::FAIL, 0.15),
        (Cues::NOT, 0.15),
        (Cues::RULE, 0.2),
    ] {
        if look.cues.any(cue) {
            sum += worth;
        }
    }
    if look.first.any(Cues::DONE) {
        sum += 0.2;
    }
    if look.content < 3 {
        sum *= 0.45;
    } else if look.content > 30 {
        sum *= 0.8;
    }
    if look.dangling {
        sum *= 0.75;
    }
    if look.question {
        sum *= 0.3;
    }
    if look.chatter {
        sum *= 0.25;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_tell_their_kinds() {
        for kind in Kind::ALL {
            let line = format!("{}text", kind.label());
            let told = (!kind.label().is_empty()).then_some((kind, "text"));
            assert_eq!(Kind::labelled(&line), told);
        }
        assert_eq!(Kind::labelled("Rather: text"), None);
    }
}
