//! A conversation being put together, for readers whose records come one after the other.

use arcstr::ArcStr;
use thin_vec::ThinVec;

use super::build::{self, begin_compacted, is_beginning, said};
use super::links::Draft;
use super::sink::{Begun, Sink};
use crate::diagnostic::Severity;
use crate::transcript::{Message, MessageIdx, Part, Recorded, Refusal, Role, Usage};

/// The conversation so far, and where it is.
#[derive(Debug)]
pub(super) struct Talk {
    /// What was said.
    pub(super) draft: Draft,
    /// Directory of the records to come.
    pub(super) cwd: Option<ArcStr>,
}

impl From<Begun> for Talk {
    fn from(begun: Begun) -> Self {
        Self { draft: begun.draft, cwd: begun.cwd }
    }
}

impl Talk {
    /// An empty conversation.
    pub(super) fn new(id: impl Into<String>) -> Self {
        Self { draft: Draft::new(id), cwd: None }
    }

    /// Takes the id that the log gives, if it gives one.
    pub(super) fn call(&mut self, id: Option<&str>) {
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            id.clone_into(&mut self.draft.id);
        }
    }

    /// What follows is said in this directory, if one is given.
    pub(super) fn enter(&mut self, cwd: Option<&str>) {
        if let Some(cwd) = cwd.filter(|cwd| !cwd.is_empty() && self.cwd.as_deref() != Some(cwd)) {
            self.cwd = Some(ArcStr::from(cwd));
        }
    }

    /// What follows is said by this model, if one is given.
    pub(super) fn model(&mut self, model: Option<&str>) {
        if let Some(model) = model.filter(|model| !model.is_empty()) {
            self.draft.model = Some(model.to_owned());
        }
    }

    /// A message that carries these parts.
    pub(super) fn message(&self, role: Role, parts: Vec<Part>, line: u32, time: Option<i64>) -> Message {
        Message {
            role,
            parts: build::parts(parts),
            line,
            lines: ThinVec::new(),
            cwd: self.cwd.clone(),
            usage: None,
            time,
        }
    }

    /// Adds a message, if there is anything in it.
    pub(super) fn push(&mut self, role: Role, parts: Vec<Part>, line: u32, time: Option<i64>) {
        if !parts.is_empty() {
            let message = self.message(role, parts, line, time);
            self.draft.messages.push(message);
        }
    }

    /// Adds to the reply that the model is giving; begins one where it is not speaking, or a compaction came between.
    pub(super) fn join(&mut self, parts: Vec<Part>, line: u32, time: Option<i64>) {
        let end = self.draft.messages.len();
        let cut = self.draft.recorded.last().is_some_and(|recorded| recorded.before.get() == end);
        let last = self.draft.messages.last_mut();
        match last.filter(|last| last.role == Role::Assistant && !cut) {
            Some(reply) => parts.into_iter().for_each(|part| reply.push(part, line)),
            None => self.push(Role::Assistant, parts, line, time),
        }
    }

    /// Gives the last message its usage.
    pub(super) fn used(&mut self, usage: Option<Usage>) {
        if let Some(last) = self.draft.messages.last_mut().filter(|last| last.role == Role::Assistant) {
            last.usage = usage.map(Box::new).or(last.usage.take());
        }
    }

    /// The system prompt. A later one takes its place in the requests, and is left out here.
    pub(super) fn prompt(&mut self, text: String, line: u32, time: Option<i64>, out: &mut Sink) {
        let parts = vec![said(text)];
        let earlier = self.draft.messages.iter().find(|message| message.role == Role::System);
        match earlier {
            None => self.push(Role::System, parts, line, time),
            Some(earlier) if *earlier.parts == *parts => {}
            Some(_) => {
                let text = "the system prompt changes; the first one counts";
                out.note(line, "system-prompt-changed", Severity::Note, text);
            }
        }
    }

    /// A request that failed.
    pub(super) fn refused(&mut self, text: &str, line: u32) {
        let before = MessageIdx::new(self.draft.messages.len());
        self.draft.refusals.push(Refusal { before, line, text: text.to_owned() });
    }

    /// Sets a compaction aside, which took place here; `unknown` is why it cannot be known what it kept. Where nothing was said
    /// before it, its summary begins the conversation.
    pub(super) fn compacted(&mut self, mut recorded: Recorded, unknown: Option<&str>, out: &mut Sink) {
        if is_beginning(&self.draft) {
            begin_compacted(&mut self.draft, recorded.summary, recorded.line);
            if let Some(summary) = self.draft.messages.first_mut() {
                summary.cwd.clone_from(&self.cwd);
            }
            return;
        }
        recorded.before = MessageIdx::new(self.draft.messages.len());
        if let Some(cause) = unknown {
            out.kept_unknown(&mut recorded, cause);
        }
        self.draft.recorded.push(recorded);
    }
}
