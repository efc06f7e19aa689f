//! Writing a summary: the request, and the one trait of the program.
//!
//! A summarizer sees what a model would see: the messages that leave the context, the summary that stood there
//! before, the cumulative file lists of the harness, a layout and an exact token budget. It never sees facts or scores.

use crate::fileops::ToolKind;
use crate::harness::{MessageRules, Role};
use crate::ledger::Order;
use crate::prompt::{Part, PromptRules};
use crate::strategy::exec::Programs;
use crate::tokens::Counter;
use crate::transcript::Transcript;
use arcstr::ArcStr;
use std::ops::Range;
use std::sync::OnceLock;

pub mod cassette;
pub mod extractive;
#[cfg_attr(
    not(feature = "llm"),
    expect(dead_code, unused_variables, reason = "without a network replies come from cassettes alone")
)]
pub mod llm;
pub mod prompt;

pub use llm::ModelRules;

/// The harness' cumulative file lists: canonical paths, least recently touched first, no path in two lists.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileLists {
    /// Read and never modified.
    pub read: Vec<ArcStr>,
    /// Written, edited, created or renamed to, and still there.
    pub modified: Vec<ArcStr>,
    /// Deleted or renamed away.
    pub deleted: Vec<ArcStr>,
}

impl FileLists {
    /// True when all lists are empty.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.modified.is_empty() && self.deleted.is_empty()
    }
}

/// Form of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Six sections: Active Task, Key Decisions & Rationale, Files & Artifacts, Constraints & Requirements,
    /// Pending Items, Session Narrative (headings as in sven).
    SixSections,
    /// Goal, Constraints & Preferences, Progress (Done, In Progress, Blocked), Key Decisions, Next Steps,
    /// Critical Context (headings as in pi and Opal).
    GoalProgress,
    /// Running prose, no headings.
    Prose,
}

/// How the file lists enter the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListForm {
    /// `<read-files>` and `<modified-files>` blocks at the end, one path a line.
    Tags,
    /// Inside the layout's own files section, or as sentences in prose.
    Inline,
    /// Not written: the system keeps no lists.
    None,
}

/// What is told of a result that requests no longer carried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The message of the result.
    pub message: usize,
    /// One line.
    pub line: String,
}

/// How a policy hands a conversation to a model that is to summarize it.
#[derive(Debug, Clone, Copy)]
pub struct Handing<'a> {
    /// How it is written.
    pub rules: &'a PromptRules,
    /// What one message is.
    pub messages: MessageRules,
    /// What the messages are to the session.
    pub part: Part,
    /// The summary in the context, wrapper included, where the session holds it as a message among others.
    pub summary: Option<(Role, &'a str)>,
    /// What the policy says of the model itself.
    pub model: &'a ModelRules,
}

impl Handing<'_> {
    /// That of policies that say nothing of it.
    pub fn own() -> Self {
        Self {
            rules: PromptRules::own(),
            messages: MessageRules::default(),
            part: Part::History,
            summary: None,
            model: &ModelRules::UNSAID,
        }
    }
}

/// One call of a summarizer.
#[derive(Debug, Clone)]
pub struct SummaryRequest<'a> {
    /// The session; only `messages` of it may be read.
    pub view: &'a SessionView<'a>,
    /// Messages that leave the context, in order.
    pub messages: Range<usize>,
    /// First message of the current turn, when the cut splits it; inside `messages`.
    pub turn_start: Option<usize>,
    /// The summary that stood in the context until now.
    pub previous: Option<&'a str>,
    /// Lines behind the messages about results that were pruned before, where the system hands such on.
    pub told: &'a [Told],
    /// File lists after this compaction.
    pub lists: &'a FileLists,
    /// Working directory, for relative paths in the text.
    pub cwd: Option<&'a str>,
    /// Form.
    pub layout: Layout,
    /// How lists enter the text.
    pub list_form: ListForm,
    /// Their order there; most recently touched first where the system has none.
    pub list_order: Option<Order>,
    /// Exact limit for everything generated, lists included, in tokens of `view.counter`.
    pub budget: u64,
    /// What a model is told of it. Where joined texts come out a few tokens too long the budget of another attempt is smaller;
    /// this stays, so that nobody is asked twice for the same text.
    pub aim: u64,
    /// How a model would be asked.
    pub handing: Handing<'a>,
}

/// A session prepared for summarizing: shared by all strategies, windows and cycles.
#[derive(Debug)]
pub struct SessionView<'a> {
    /// The session as a summarizer is shown it: what the written conversation would not hold is not there.
    pub transcript: &'a Transcript,
    /// The session as its harness holds it, from which the conversation is written.
    pub held: &'a Transcript,
    /// How generated text is counted.
    pub counter: Counter,
    /// Kind of tool per call, by position in `transcript.links`.
    pub kinds: Vec<ToolKind>,
    /// No compaction reaches beyond this message, as far as is known when the session is prepared.
    horizon: OnceLock<usize>,
    /// Prepared once, on first use, by the extractive summarizer: up to the horizon, and whole.
    near: OnceLock<extractive::Digest>,
    whole: OnceLock<extractive::Digest>,
}

impl<'a> SessionView<'a> {
    /// Prepares a session. `kinds` are those of its calls, by position in `transcript.links`.
    pub fn new(transcript: &'a Transcript, counter: Counter, kinds: Vec<ToolKind>) -> Self {
        let [near, whole] = [OnceLock::new(), OnceLock::new()];
        Self { transcript, held: transcript, counter, kinds, horizon: OnceLock::new(), near, whole }
    }

    /// The same, of a session of which a summarizer is not shown all.
    #[must_use]
    pub fn of(self, held: &'a Transcript) -> Self {
        Self { held, ..self }
    }

    /// Says that no compaction will reach beyond this message, so that nothing behind it need be read; only the first
    /// such word counts. A summary that does reach further is not wrong for it; it costs a second reading.
    pub fn until(&self, horizon: usize) {
        self.horizon.get_or_init(|| horizon);
    }

    /// The lines of the messages before `end` at least.
    fn digest(&self, end: usize) -> &extractive::Digest {
        let messages = self.transcript.messages.len();
        if let Some(horizon) = self.horizon.get().copied().filter(|horizon| (end..messages).contains(horizon))
        {
            self.near.get_or_init(|| extractive::Digest::new(self, horizon))
        } else {
            self.whole.get_or_init(|| extractive::Digest::new(self, messages))
        }
    }
}

/// Why there is no summary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SummarizeError {
    /// Nothing fits the budget.
    #[error("a budget of {budget} tokens holds no summary")]
    BudgetTooSmall {
        /// The budget in tokens.
        budget: u64,
    },
    /// No message, no earlier summary and no file list that says anything.
    #[error("there is nothing to summarize")]
    Nothing,
    /// Whoever writes gave no summary, for this reason. What follows from that is a rule of the policy.
    #[error("{0}")]
    Failed(String),
    /// A reply that is none in full, and its text. Whether it is taken all the same is a rule of the policy.
    #[error("{0}")]
    Flawed(Flaw, String),
    /// Nobody can be asked, which tells nothing of the policy: the session cannot be measured.
    #[error("{0}")]
    Stopped(String),
}

/// What is wrong with a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// It ended at the limit of its length.
    #[error("the reply is cut short: it reached the limit of its length")]
    CutShort,
    /// It calls a tool.
    #[error("the reply calls a tool")]
    Call,
    /// Nothing but reasoning, or markup of calls.
    #[error("the reply holds nothing but reasoning")]
    Hollow,
    /// It is a summary of less than it was asked for.
    #[error("the conversation was more than the model takes: its middle was left out")]
    Shortened,
    /// It is none of the model's: no reply was there, and who asked for this run said who writes then.
    #[error("no cassette: the embedded summarizer wrote in place of the model")]
    StandIn,
}

/// Writes summaries. The embedded [`extractive::Extractive`] needs nothing; a model behind HTTP is another.
pub trait Summarizer: Sync {
    /// Name as written in results.
    fn name(&self) -> &str;

    /// Writes one summary within the budget.
    fn summarize(&self, request: &SummaryRequest<'_>) -> Result<String, SummarizeError>;

    /// True where most of the time goes in waiting for somebody else: texts that do not need each other are then asked for at
    /// once.
    fn waits(&self) -> bool {
        false
    }

    /// How far it came: what was answered, and what did not come for reasons that are none of the policy's.
    fn account(&self) -> Account {
        Account::default()
    }

    /// Names of the replies from the `from`-th on, where replies have names.
    fn answered(&self, _from: usize) -> Vec<String> {
        Vec::new()
    }

    /// Programs of the user that stand for strategies of their own.
    fn programs(&self) -> Option<&Programs> {
        None
    }
}

/// How far a summarizer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Account {
    /// Replies that have names.
    pub answered: usize,
    /// Texts that did not come, or by somebody else, for reasons that may be gone the next time.
    pub troubled: usize,
}

/// A summarizer, and programs beside it.
#[derive(Clone, Copy)]
pub struct Beside<'a> {
    /// Who writes summaries.
    pub writer: &'a dyn Summarizer,
    /// The programs.
    pub programs: &'a Programs,
}

impl std::fmt::Debug for Beside<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Beside").field("writer", &self.writer.name()).finish_non_exhaustive()
    }
}

impl Summarizer for Beside<'_> {
    fn name(&self) -> &str {
        self.writer.name()
    }

    fn summarize(&self, request: &SummaryRequest<'_>) -> Result<String, SummarizeError> {
        self.writer.summarize(request)
    }

    fn waits(&self) -> bool {
        self.writer.waits()
    }

    fn account(&self) -> Account {
        self.writer.account()
    }

    fn answered(&self, from: usize) -> Vec<String> {
        self.writer.answered(from)
    }

    fn programs(&self) -> Option<&Programs> {
        Some(self.programs)
    }
}
