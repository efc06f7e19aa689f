//! The answer key: every fact of a session, from the log alone, found once in one pass.
//!
//! A fact is something a reader of the log would have to know to go on with the work: a file and what became of it, a
//! command and how it ended, an error, an identifier, a value, a constraint, a decision, a request. [`FactSet`] holds
//! them with their births, states over time, mentions and successors, and answers two questions:
//! [`FactSet::class_at`], what counts at a given prefix of the log, and [`FactSet::find`], what of it stands in a text.
//!
//! It is separate from everything that compacts: strategies never see it, and it shares no pattern or trigger list
//! with the summarizer. Only `transcript`, `paths`, `fileops` and `matching` are used.
//!
//! Invariants:
//!
//! * Extraction depends on the log only, never on a cycle, a profile or a strategy; a fact does not change when the
//!   log goes on (births, states and successors are dated).
//! * There is no cap on the number of facts. What is too short or too common to be judged by a text rule is flagged
//!   `unadjudicable` and leaves the denominators.
//! * A fact that is born in a message is found by [`FactSet::find`] in the text of that message, or has the message
//!   among its mentions because of an operation (files, commands, checks).
//!
//! Structural facts come from calls *paired with their results* (submodules `files`, `commands`), lexical ones from
//! text (`lexical`, which states the reading of each class); `supersede` dates the end of those that were replaced.

mod commands;
mod files;
mod find;
mod lexical;
mod supersede;

use crate::fileops::{CallEffect, TodoState, ToolKind};
use crate::matching;
use crate::matching::sentence::Sentence;
use crate::transcript::{Message, MessageIdx, Outcome, Part, PartRef, Role, ToolResult, Transcript};
pub use files::{FileEntry, FileUse, Ledger, UseKind};
use find::Lookup;
pub use find::{Found, Match, Memory};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Class of a fact. The order is the order of reports: structural classes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactClass {
    /// A file that was only read.
    FileRead,
    /// A file that existed before and was changed.
    FileModified,
    /// A file that the session made.
    FileCreated,
    /// A file that the session removed.
    FileDeleted,
    /// A file that was moved and not changed otherwise.
    FileRenamed,
    /// A shell command that was run.
    Command,
    /// A command that verifies, with its latest outcome.
    Check,
    /// An item of the agent's own todo list.
    Todo,
    /// An error, with the head of its message.
    Error,
    /// URL, UUID, hash, ticket key, version, port, environment variable, commit, qualified symbol.
    Identifier,
    /// A number with its key or unit.
    Value,
    /// A sentence of the user that binds the agent.
    Constraint,
    /// A sentence that settles a choice.
    Decision,
    /// What the user asked for.
    Request,
}

impl FactClass {
    /// Every class, in order.
    pub const ALL: [Self; 14] = [
        Self::FileRead,
        Self::FileModified,
        Self::FileCreated,
        Self::FileDeleted,
        Self::FileRenamed,
        Self::Command,
        Self::Check,
        Self::Todo,
        Self::Error,
        Self::Identifier,
        Self::Value,
        Self::Constraint,
        Self::Decision,
        Self::Request,
    ];

    /// Name as written in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::FileRead => "file.read",
            Self::FileModified => "file.modified",
            Self::FileCreated => "file.created",
            Self::FileDeleted => "file.deleted",
            Self::FileRenamed => "file.renamed",
            Self::Command => "command",
            Self::Check => "check",
            Self::Todo => "todo",
            Self::Error => "error",
            Self::Identifier => "identifier",
            Self::Value => "value",
            Self::Constraint => "constraint",
            Self::Decision => "decision",
            Self::Request => "request",
        }
    }

    /// True for classes that are exact by construction (from calls and results), false for those found in text.
    pub fn structural(self) -> bool {
        self <= Self::Todo
    }

    /// True for the classes of the file ledger.
    pub fn is_file(self) -> bool {
        self <= Self::FileRenamed
    }
}

/// Who brought a fact into the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Author {
    /// A person.
    User,
    /// The model: text, thinking or tool input.
    Agent,
    /// A tool result.
    Tool,
}

impl Author {
    /// Name as written in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::Tool => "tool",
        }
    }
}

/// How harnesses that write calls into the text open the answer to one.
const OBSERVATION: &str = "OBSERVATION:";

/// Position of a fact in [`FactSet::facts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FactId(pub u32);

impl FactId {
    /// The id as an index.
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

/// State of a fact from some message on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Class of a file.
    File(FactClass),
    /// Outcome of a command or check.
    Outcome(Outcome),
    /// State of a todo item; an item that vanishes from a list that is replaced counts as cancelled unless done.
    Todo(TodoState),
}

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Canonical value: path (the last name of the file), command, `head` of an error, `key = number unit`, sentence.
    pub value: String,
    /// Class at birth; see [`FactSet::class_at`] for later.
    pub class: FactClass,
    /// Message that brought it: the call for structural facts, the text for lexical ones.
    pub birth: MessageIdx,
    /// 1-based line of that message in the source.
    pub line: u32,
    /// Who brought it.
    pub author: Author,
    /// Messages that mention it, sorted, each once: an operation on the file, a run of the command, or an exact match
    /// of the value in any part, which is not looked for where no text can judge it. May hold messages before the birth (a path
    /// in a listing before the file was read).
    pub mentions: Vec<MessageIdx>,
    /// From which message on it is replaced, and by which fact.
    pub superseded: Option<(MessageIdx, FactId)>,
    /// States over time, each from the message it holds for; a result dates the state, not its call.
    pub states: Vec<(MessageIdx, State)>,
    /// No text rule can judge it (one or two characters, a very common word): in no denominator.
    pub unadjudicable: bool,
    /// Entry of the ledger, for file facts.
    pub file: Option<u32>,
}

impl Fact {
    /// State in a prefix of the log; `None` before the first or for stateless classes.
    pub fn state_at(&self, prefix_end: MessageIdx) -> Option<State> {
        let after = self.states.partition_point(|(at, _)| *at < prefix_end);
        Some(self.states.get(after.checked_sub(1)?)?.1)
    }
}

/// Every fact of a session.
#[derive(Debug)]
pub struct FactSet {
    /// The facts, ordered by birth (then in order of discovery).
    pub facts: Vec<Fact>,
    /// The file ledger.
    pub ledger: Ledger,
    /// Who speaks in each message of the session.
    authors: Vec<Author>,
    lookup: Lookup,
}

/// How a fact is recognised in a text.
#[derive(Debug, Clone)]
pub(crate) enum Form {
    /// By the names of its ledger entry.
    File,
    /// By one of its surface forms; `label` is the part that names it without the message (the class of an error).
    Atom { surfaces: Vec<String>, border: matching::index::Border, label: Option<String> },
    /// By a number, bound to a key where there is one.
    Value { key: Option<String>, number: matching::Quantity },
    /// As a sentence, which is taken apart when it is first compared with others.
    Sentence(Option<Arc<Sentence>>),
    /// By the head of a command, with its outcome in the same unit.
    Check { head: String },
}

/// A fact under construction.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) fact: Fact,
    pub(crate) form: Form,
}

/// The parts of a message in which facts are looked for, as text ready to compare.
fn part_text(part: &Part) -> Option<std::borrow::Cow<'_, str>> {
    match part {
        Part::Text(text) => Some(text.text.as_str().into()),
        Part::Thinking(text) => Some(text.as_str().into()),
        Part::Call(call) => Some(matching::unescape_json(&call.arguments)),
        Part::Result(result) => Some(result.text.as_str().into()),
        Part::Image { .. } | Part::Opaque { .. } => None,
    }
}

/// A call with what it does and how it ended.
pub(crate) struct Step<'t> {
    pub(crate) call_at: MessageIdx,
    pub(crate) result_at: Option<MessageIdx>,
    pub(crate) result: Option<&'t ToolResult>,
    pub(crate) effect: &'t CallEffect,
    /// Line of the call in the source.
    pub(crate) line: u32,
}

impl Step<'_> {
    /// How it ended; `None` when it was never answered.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.result.map(|result| result.outcome)
    }
}

impl FactSet {
    /// Finds the facts of a session. Linear in its text. `effects` are those of its calls, by position in
    /// [`Transcript::links`]: computed once, since shell scripts are costly to read.
    pub fn extract(transcript: &Transcript, effects: &[CallEffect]) -> Self {
        Self::extract_until(transcript, effects, MessageIdx::new(transcript.messages.len()))
    }

    /// The files only, with what became of each.
    pub fn files(transcript: &Transcript, effects: &[CallEffect]) -> Ledger {
        files::build(&steps(transcript, effects), &mut Vec::new())
    }

    /// The same, without those found in text from `end` on: they are born too late to matter to a prefix that ends
    /// there. Facts before it, and the mentions of all, are those of the whole session.
    pub fn extract_until(transcript: &Transcript, effects: &[CallEffect], end: MessageIdx) -> Self {
        let steps = steps(transcript, effects);
        let mut drafts = Vec::new();
        let mut ledger = files::build(&steps, &mut drafts);
        commands::collect(&steps, &mut drafts);
        let by_result: FxHashMap<PartRef, usize> = transcript
            .links
            .iter()
            .enumerate()
            .filter_map(|(index, link)| Some((link.result?, index)))
            .collect();
        let mut lexical = lexical::Collector::new(names(transcript, &ledger));
        for (index, message) in transcript.messages.iter().enumerate().take(end.get()) {
            let at = MessageIdx::new(index);
            if transcript.starts_compacted && index == 0 {
                continue; // generated text: births nothing
            }
            lexical.in_message(!steps_at(&steps, at).is_empty());
            for (part_index, part) in message.parts.iter().enumerate() {
                lexical.at_line(message.line_of(part_index));
                match part {
                    Part::Text(text) if !text.injected => match message.role {
                        Role::User => lexical.prose(&text.text, Author::User, at),
                        Role::Assistant => lexical.prose(&text.text, Author::Agent, at),
                        Role::System | Role::Tool => {}
                    },
                    // Harnesses without tool messages report a run in a user message of their own.
                    Part::Text(text) if text.injected && text.text.starts_with(OBSERVATION) => {
                        lexical.output(&text.text, at);
                    }
                    Part::Result(result) => {
                        let here = PartRef { message: at, part: part_index as u32 };
                        let effect =
                            by_result.get(&here).and_then(|link| steps.get(*link)).map(|step| step.effect);
                        lexical.result(result, effect, at);
                    }
                    _ => {}
                }
            }
            for step in steps_at(&steps, at) {
                if let Some(command) = &step.effect.command {
                    lexical.at_line(step.line);
                    lexical.command(command, at);
                }
            }
        }
        drafts.extend(lexical.finish());
        // Successors were given by position in their own list; `supersede` works on the sorted whole.
        drafts.sort_by_key(|draft| draft.fact.birth);
        supersede::apply(&mut drafts);
        ledger.attach(&drafts);
        let (mut facts, forms): (Vec<Fact>, Vec<Form>) =
            drafts.into_iter().map(|draft| (draft.fact, draft.form)).unzip();
        let mut lookup = Lookup::new(transcript, &facts, &forms, &ledger);
        let scratch = mention(transcript, &mut facts, &lookup);
        lookup.learn(scratch);
        let authors = transcript.messages.iter().map(speaker).collect();
        Self { facts, ledger, authors, lookup }
    }

    /// The fact with an id.
    pub fn get(&self, id: FactId) -> Option<&Fact> {
        self.facts.get(id.get())
    }

    /// Class of a fact in `prefix(k)`, the messages before `prefix_end`. `None` when it is not yet born, superseded by
    /// then, cancelled, or out of the denominators.
    pub fn class_at(&self, id: FactId, prefix_end: MessageIdx) -> Option<FactClass> {
        let fact = self.get(id)?;
        if fact.unadjudicable || fact.birth >= prefix_end {
            return None;
        }
        if fact.superseded.is_some_and(|(from, _)| from < prefix_end) {
            return None;
        }
        match fact.state_at(prefix_end) {
            Some(State::File(class)) => Some(class),
            Some(State::Todo(TodoState::Cancelled)) => None,
            Some(_) => Some(fact.class),
            None if fact.class.is_file() => None,
            None => Some(fact.class),
        }
    }

    /// Which facts born before `prefix_end` stand in `text`, and how. One pass over the text. Arguments of calls must
    /// be given as the text they hold ([`crate::matching::unescape_json`]).
    pub fn find(&self, text: &str, prefix_end: MessageIdx) -> Found {
        self.lookup.find(text, prefix_end, Some(&self.facts))
    }

    /// The same as [`Self::find`], for texts that share most of their lines, as the summaries of a session do: a line that an
    /// earlier text with this memory held is not searched again. A memory is of one session.
    pub fn find_remembered(&self, text: &str, prefix_end: MessageIdx, memory: &mut Memory) -> Found {
        self.lookup.find_remembered(text, prefix_end, &self.facts, memory)
    }

    /// The part of a message in which a fact is brought up: the first that holds it, else the call that acts on its file.
    pub fn part_of_mention(&self, transcript: &Transcript, id: FactId, at: MessageIdx) -> Option<u32> {
        let message = transcript.messages.get(at.get())?;
        if message.parts.len() < 2 {
            return Some(0);
        }
        let holds = |part: &Part| {
            part_text(part).is_some_and(|text| self.find(&text, MessageIdx(u32::MAX)).get(id).is_present())
        };
        let written = message.parts.iter().position(holds).map(|part| part as u32);
        written.or_else(|| {
            let file = self.ledger.files.get(self.get(id)?.file? as usize)?;
            let links = file.uses.iter().filter_map(|one| transcript.links.get(one.link as usize));
            links.map(|link| link.call).find(|call| call.message == at).map(|call| call.part)
        })
    }

    /// Who brings a fact up first in messages `from..to`; `None` when nobody does.
    pub fn next_mention(
        &self,
        fact: &Fact,
        from: MessageIdx,
        to: MessageIdx,
    ) -> Option<(MessageIdx, Author)> {
        let next = fact.mentions.partition_point(|at| *at < from);
        let at = fact.mentions.get(next).copied().filter(|at| *at < to)?;
        Some((at, *self.authors.get(at.get())?))
    }

    /// Ids of all facts, in order.
    pub fn ids(&self) -> impl Iterator<Item = FactId> + use<> {
        (0..self.facts.len() as u32).map(FactId)
    }
}

/// Who speaks in a message. A result inside a reply is the model's: it stands behind the call that asked for it.
fn speaker(message: &Message) -> Author {
    match message.role {
        Role::Assistant => Author::Agent,
        Role::Tool => Author::Tool,
        Role::System => Author::User,
        Role::User => {
            let observed = message.parts.iter().any(|part| {
                matches!(part, Part::Text(text) if text.injected && text.text.starts_with(OBSERVATION))
            });
            if observed { Author::Tool } else { Author::User }
        }
    }
}

/// Names of modules and projects, from working directories and the paths of the ledger.
fn names(transcript: &Transcript, ledger: &Ledger) -> lexical::Names {
    let mut names = lexical::Names::default();
    let mut cwds: Vec<&str> =
        transcript.messages.iter().filter_map(|message| message.cwd.as_deref()).collect();
    cwds.dedup();
    for cwd in &cwds {
        names.project(cwd);
    }
    let cwd = cwds.first().copied();
    for (_, name) in ledger.files.iter().flat_map(|file| &file.names) {
        let relative = crate::paths::relative(name, cwd);
        if !relative.starts_with('/') && !relative.contains(':') {
            names.path(relative);
        }
    }
    names
}

/// Every call with effect and result, in order of the links.
fn steps<'t>(transcript: &'t Transcript, effects: &'t [CallEffect]) -> Vec<Step<'t>> {
    transcript
        .links
        .iter()
        .zip(effects)
        .map(|(ends, effect)| Step {
            call_at: ends.call.message,
            result_at: ends.result.map(|at| at.message),
            result: transcript.result(ends),
            effect,
            line: transcript
                .messages
                .get(ends.call.message.get())
                .map_or(0, |message| message.line_of(ends.call.part as usize)),
        })
        .collect()
}

/// The steps whose call is in a message; steps are ordered by call.
fn steps_at<'s, 't>(steps: &'s [Step<'t>], at: MessageIdx) -> &'s [Step<'t>] {
    let from = steps.partition_point(|step| step.call_at < at);
    let to = steps.partition_point(|step| step.call_at <= at);
    steps.get(from..to).unwrap_or_default()
}

/// Adds the messages that hold each fact by exact match to its mentions.
fn mention(transcript: &Transcript, facts: &mut [Fact], lookup: &Lookup) -> find::Scratch {
    let mut scratch = find::Scratch::default();
    for (index, message) in transcript.messages.iter().enumerate() {
        let at = MessageIdx::new(index);
        for part in &message.parts {
            let Some(text) = part_text(part) else { continue };
            lookup.mentions(&text, at, &mut scratch, &mut |fact| {
                if let Some(fact) = facts.get_mut(fact as usize)
                    && fact.mentions.last() != Some(&at)
                {
                    fact.mentions.push(at);
                }
            });
        }
    }
    for fact in facts {
        fact.mentions.push(fact.birth);
        fact.mentions.sort_unstable();
        fact.mentions.dedup();
    }
    scratch
}

/// True for tools whose results are content of files or listings, not reports about a run.
fn shows_content(effect: &CallEffect) -> bool {
    matches!(effect.kind, ToolKind::Read | ToolKind::Search | ToolKind::Write | ToolKind::Todo)
}

#[cfg(test)]
mod tests;
