//! The compaction strategies: what takes the place of the messages that leave.
//!
//! Structured and narrative ask a [`Summarizer`] for one of its layouts; truncate and emergency write their text
//! themselves. How a system words and wraps these texts is plain data ([`TextRules`]) that its profile holds.
//! Whatever the strategy, the whole generated text, wrapper and lists included, keeps to the budget of the request.

use crate::ledger::Order;
use crate::summarize::{FileLists, Flaw, Layout, ListForm, SummarizeError, Summarizer, SummaryRequest};
use crate::summary_text::OwnLines;
use crate::transcript::Role;
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

pub mod emergency;
pub mod exec;
pub mod truncate;

/// How the messages that leave are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// A summary under fixed headings.
    Structured,
    /// A summary in prose.
    Narrative,
    /// A count of what was there, and file lists if the system keeps them.
    Truncate,
    /// Everything is dropped; a notice says so.
    Emergency,
    /// Nothing takes their place: the control.
    None,
    /// Whatever the log's own harness did: for an audit, never to be asked for in a replay.
    Recorded,
    /// The user's own program: [`exec::EXEC`] and its command line.
    Exec(&'static str),
}

impl Strategy {
    /// All strategies that a replay can run, in the order of reports.
    pub const ALL: [Self; 5] =
        [Self::Structured, Self::Narrative, Self::Truncate, Self::Emergency, Self::None];

    /// Name as written in results and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Structured => "structured",
            Self::Narrative => "narrative",
            Self::Truncate => "truncate",
            Self::Emergency => "emergency",
            Self::None => "none",
            Self::Recorded => "recorded",
            Self::Exec(name) => name,
        }
    }

    /// The command line of a program.
    pub fn command(self) -> Option<&'static str> {
        match self {
            Self::Exec(name) => name.strip_prefix(exec::EXEC),
            _ => None,
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Strategy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(command) = text.strip_prefix(exec::EXEC) {
            // Names of strategies last as long as the program; few of them are ever read.
            return match command.trim() {
                "" => Err(format!("`{text}` names no command: give for example exec:'python3 mine.py'")),
                _ => Ok(Self::Exec(String::leak(text.to_owned()))),
            };
        }
        Self::ALL.into_iter().find(|strategy| strategy.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|strategy| strategy.name()).collect();
            format!("unknown strategy `{text}`; use one of {}, or exec:COMMAND", names.join(", "))
        })
    }
}

/// How a system words what it generates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRules {
    /// Layout of the structured strategy; narrative is always prose.
    pub layout: Layout,
    /// How file lists enter structured and narrative summaries.
    pub list_form: ListForm,
    /// Their order in a text; most recently touched first where the system has none.
    pub list_order: Option<Order>,
    /// The truncate text is followed by tags with the cumulative file lists.
    pub truncate_tags: bool,
    /// The system keeps the lists as data beside the text as well.
    pub metadata: bool,
    /// Text of the emergency strategy; it is not wrapped.
    pub emergency_notice: String,
    /// Put in front of every other generated text.
    pub prefix: String,
    /// Put behind it.
    pub suffix: String,
    /// Role of the message that carries the text, by which truncate counts an earlier one.
    pub summary_role: Role,
    /// What truncate calls messages of tool results.
    pub tool_name: String,
    /// Lines that the system's own code writes: in a summary that is taken up they tell nothing.
    pub own: OwnLines,
}

impl Default for TextRules {
    fn default() -> Self {
        Self {
            layout: Layout::GoalProgress,
            list_form: ListForm::Tags,
            list_order: None,
            truncate_tags: true,
            metadata: true,
            emergency_notice: emergency::NOTICE.to_owned(),
            prefix: String::new(),
            suffix: String::new(),
            summary_role: Role::User,
            tool_name: Role::Tool.name().to_owned(),
            own: OwnLines::default(),
        }
    }
}

impl TextRules {
    /// Puts the wrapper around a text.
    pub fn wrap(&self, text: &str) -> String {
        format!("{}{text}{}", self.prefix, self.suffix)
    }

    /// Takes the wrapper off a text that has it; any other text comes back unchanged.
    pub fn unwrap<'a>(&self, text: &'a str) -> &'a str {
        let text = text.strip_prefix(self.prefix.as_str()).unwrap_or(text);
        text.strip_suffix(self.suffix.as_str()).unwrap_or(text)
    }

    /// A summary without the lines that the system's own code wrote into it.
    fn without_own<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !text.lines().any(|line| self.own.holds(line)) {
            return Cow::Borrowed(text);
        }
        Cow::Owned(text.lines().filter(|line| !self.own.holds(line)).collect::<Vec<_>>().join("\n"))
    }
}

/// What a strategy generated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// The text as it enters the context, wrapper included.
    pub text: String,
    /// Its tokens, counted.
    pub tokens: u64,
    /// Role of its message, where the policy does not say: a program does.
    pub role: Option<Role>,
    /// The text holds the file lists, or what of them fitted.
    pub lists_in_text: bool,
    /// Lists that the harness keeps beside the text, where the system does.
    pub metadata: Option<FileLists>,
    /// The strategy that ran.
    pub used: Strategy,
    /// Why it is not the one that was asked for.
    pub fallback: Option<String>,
}

/// Why there is no summary where one was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unwritten {
    /// Whoever writes gave none.
    #[error("{0}")]
    Failed(String),
    /// Whoever writes gave a text without a word: this one, within so many tokens.
    #[error("the summarizer gave no text within {1} tokens")]
    Blank(String, u64),
    /// Whoever writes gave a text that is no summary in full.
    #[error("{0}")]
    Flawed(Flaw, String),
    /// Nobody could be asked.
    #[error("{0}")]
    Stopped(String),
    /// The budget holds nothing, or there is nothing to tell.
    #[error(transparent)]
    Nothing(SummarizeError),
}

impl From<SummarizeError> for Unwritten {
    fn from(error: SummarizeError) -> Self {
        match error {
            SummarizeError::Failed(reason) => Self::Failed(reason),
            SummarizeError::Flawed(flaw, text) => Self::Flawed(flaw, text),
            SummarizeError::Stopped(reason) => Self::Stopped(reason),
            SummarizeError::BudgetTooSmall { .. } | SummarizeError::Nothing => Self::Nothing(error),
        }
    }
}

/// Runs a strategy. `None` for [`Strategy::None`] and [`Strategy::Recorded`], for programs, which are asked elsewhere, when nothing leaves the context, and when the
/// budget holds no text at all.
///
/// # Errors
///
/// Where a summary was asked for and none came. What takes its place is the caller's to decide: [`truncated`], [`blank`],
/// or nothing.
pub fn generate(
    strategy: Strategy,
    request: &SummaryRequest<'_>,
    rules: &TextRules,
    summarizer: &dyn Summarizer,
) -> Result<Option<Generated>, Unwritten> {
    if request.messages.is_empty() && request.previous.is_none() {
        return Ok(None);
    }
    match strategy {
        Strategy::None | Strategy::Recorded | Strategy::Exec(_) => Ok(None),
        Strategy::Structured => summarized(strategy, rules.layout, request, rules, summarizer).map(Some),
        Strategy::Narrative => summarized(strategy, Layout::Prose, request, rules, summarizer).map(Some),
        Strategy::Truncate => Ok(truncated(request, rules, None)),
        Strategy::Emergency => Ok(dropped(request, rules, None)),
    }
}

/// The notice that everything was dropped, asked for or for `reason`. `None` when the budget does not hold a word of it.
pub fn dropped(request: &SummaryRequest<'_>, rules: &TextRules, reason: Option<String>) -> Option<Generated> {
    let text = request.view.counter.tokenizer().cut(&rules.emergency_notice, request.budget)?;
    let tokens = request.view.counter.count(&text);
    let used = Strategy::Emergency;
    Some(Generated { text, tokens, role: None, lists_in_text: false, metadata: None, used, fallback: reason })
}

/// The wrapper around nothing: what a system holds that takes a reply without a word for a summary.
pub fn blank(
    strategy: Strategy,
    request: &SummaryRequest<'_>,
    rules: &TextRules,
    reason: String,
) -> Generated {
    let text = rules.wrap("");
    let tokens = request.view.counter.count(&text);
    let metadata = rules.metadata.then(|| request.lists.clone());
    Generated {
        text,
        tokens,
        role: None,
        lists_in_text: false,
        metadata,
        used: strategy,
        fallback: Some(reason),
    }
}

/// A text that a system takes for a summary although it is none in full, for `reason`. `None` when the budget holds none of it.
pub fn taken(
    strategy: Strategy,
    request: &SummaryRequest<'_>,
    rules: &TextRules,
    text: &str,
    reason: String,
) -> Option<Generated> {
    if text.trim().is_empty() {
        return Some(blank(strategy, request, rules, reason));
    }
    let (text, tokens) = within(request, rules, |_| Ok(text.to_owned())).ok()?;
    Some(Generated { fallback: Some(reason), ..written(strategy, text, tokens, request, rules) })
}

/// A summary, as it enters the context.
fn written(
    strategy: Strategy,
    text: String,
    tokens: u64,
    request: &SummaryRequest<'_>,
    rules: &TextRules,
) -> Generated {
    Generated {
        text,
        tokens,
        role: None,
        lists_in_text: rules.list_form != ListForm::None && !request.lists.is_empty(),
        metadata: rules.metadata.then(|| request.lists.clone()),
        used: strategy,
        fallback: None,
    }
}

/// Structured and narrative.
fn summarized(
    strategy: Strategy,
    layout: Layout,
    request: &SummaryRequest<'_>,
    rules: &TextRules,
    summarizer: &dyn Summarizer,
) -> Result<Generated, Unwritten> {
    let previous = request.previous.map(|text| rules.without_own(rules.unwrap(text)));
    let aim = request.aim.saturating_sub(wrapper_tokens(request, rules));
    let (text, tokens) = within(request, rules, |budget| {
        let inner = SummaryRequest {
            view: request.view,
            messages: request.messages.clone(),
            turn_start: request.turn_start,
            previous: previous.as_deref(),
            told: request.told,
            lists: request.lists,
            cwd: request.cwd,
            layout,
            list_form: rules.list_form,
            list_order: rules.list_order,
            budget,
            aim,
            handing: request.handing,
        };
        summarizer.summarize(&inner)
    })?;
    Ok(written(strategy, text, tokens, request, rules))
}

/// Truncate, asked for or in the place of a summary, for `reason`. `None` when the budget holds no text.
pub fn truncated(
    request: &SummaryRequest<'_>,
    rules: &TextRules,
    reason: Option<String>,
) -> Option<Generated> {
    let (text, tokens) = within(request, rules, |budget| truncate::write(request, rules, budget)).ok()?;
    Some(Generated {
        text,
        tokens,
        role: None,
        lists_in_text: rules.truncate_tags && !request.lists.is_empty(),
        metadata: rules.metadata.then(|| request.lists.clone()),
        used: Strategy::Truncate,
        fallback: reason,
    })
}

/// Tokens of what stands around a text.
fn wrapper_tokens(request: &SummaryRequest<'_>, rules: &TextRules) -> u64 {
    let counter = &request.view.counter;
    counter.count(&rules.prefix) + counter.count(&rules.suffix)
}

/// Has a text written that keeps to the budget together with its wrapper, and counts it.
fn within(
    request: &SummaryRequest<'_>,
    rules: &TextRules,
    write: impl Fn(u64) -> Result<String, SummarizeError>,
) -> Result<(String, u64), Unwritten> {
    let counter = &request.view.counter;
    let wrapper = wrapper_tokens(request, rules);
    let mut inner = request.budget.saturating_sub(wrapper);
    let mut body = String::new();
    // Counts do not add up exactly at the joins, and a model may not keep to its budget: ask again, then cut.
    for _ in 0..2 {
        if inner == 0 {
            break;
        }
        body = write(inner)?;
        if body.trim().is_empty() {
            return Err(Unwritten::Blank(body, inner));
        }
        let text = rules.wrap(&body);
        let tokens = counter.count(&text);
        if tokens <= request.budget {
            return Ok((text, tokens));
        }
        inner = inner.saturating_sub(tokens - request.budget);
    }
    let mut room = request.budget.saturating_sub(wrapper);
    while let Some(short) = counter.tokenizer().cut(&body, room) {
        let text = rules.wrap(&short);
        let tokens = counter.count(&text);
        if tokens <= request.budget {
            return Ok((text, tokens));
        }
        room = room.saturating_sub(tokens - request.budget);
    }
    Err(Unwritten::Nothing(SummarizeError::BudgetTooSmall { budget: request.budget }))
}

#[cfg(test)]
mod tests;
