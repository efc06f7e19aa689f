//! The texts of a compaction: who is asked for which part, what happens when nothing comes back, how parts are joined.

use super::Prepared;
use crate::harness::Entry;
use crate::ledger::{FileOpRules, LedgerError, Operations};
use crate::prompt::Part;
use crate::summary_text::SummaryText;
use serde::Deserialize;

/// What a system does when no summary comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// Its truncate text takes the place of the part that failed.
    Truncate,
    /// The session stays as it was.
    #[default]
    Unchanged,
    /// Everything but the newest messages is dropped, with a notice.
    Emergency,
}

/// What becomes of a reply that one could take or leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Taken {
    /// It is the summary, whatever it holds.
    #[default]
    Accepted,
    /// It counts as a failure.
    Refused,
}

/// Where the lists of files stand in a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Footer {
    /// Nowhere, or where the model puts them; the truncate text has its own.
    #[default]
    None,
    /// Behind every summary.
    Summary,
}

/// How texts are asked for and taken.
#[derive(Debug, Clone, PartialEq, Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct WritingRules {
    /// What happens when asking fails.
    #[serde(default)]
    pub on_failure: OnFailure,
    /// A reply without any text.
    #[serde(default)]
    pub empty: Taken,
    /// A reply of white space alone.
    #[serde(default)]
    pub blank: Taken,
    /// White space around a reply goes (after it was looked at whether there is any text).
    #[serde(default)]
    pub trim: bool,
    /// A reply of nothing but reasoning or markup of calls is one without any text.
    #[serde(default)]
    pub hollow_is_empty: bool,
    /// A reply that ended at the limit of its length.
    #[serde(default)]
    pub cut_short: Taken,
    /// A reply that calls a tool.
    #[serde(default)]
    pub tool_call: Taken,
    /// Where the lists of files stand.
    #[serde(default)]
    pub footer: Footer,
    /// A split turn is always written by the model, whatever was asked for; without one the modelled code fails.
    #[serde(default)]
    pub split_needs_model: bool,
    /// Output tokens that the model is allowed for the history, as a share of the reserve.
    #[serde(default)]
    pub history_share: Option<f64>,
    /// Likewise for the beginning of a split turn.
    #[serde(default)]
    pub prefix_share: Option<f64>,
}

impl WritingRules {
    /// True where a reply counts as none.
    pub fn refuses(&self, text: &str) -> bool {
        let empty = text.is_empty() || (self.hollow_is_empty && is_hollow(text));
        (empty && self.empty == Taken::Refused) || (text.trim().is_empty() && self.blank == Taken::Refused)
    }

    /// Output tokens that the model is allowed for a part, with `reserve` tokens of the window set aside.
    pub fn allowance(&self, part: Part, reserve: u64) -> Option<u64> {
        let share = match part {
            Part::History => self.history_share,
            Part::TurnPrefix => self.prefix_share,
        };
        share.map(|share| (share * reserve as f64).floor() as u64)
    }
}

/// A part of a summary that somebody has to write.
#[derive(Debug)]
pub struct Ask<'e, 'a> {
    /// Which part.
    pub part: Part,
    /// The entries it is made of.
    pub entries: &'e [Entry<'a>],
    /// The summary before it, where this part takes it up.
    pub previous: Option<&'e str>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A text.
    Text(String),
    /// A text that ended at the limit of its length.
    CutShort(String),
    /// Text beside a call of a tool.
    Call(String),
    /// Nothing, with the reason.
    Failed(String),
}

/// Texts of a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The whole, lists included, without the wrapper.
    pub text: String,
    /// Files read and never modified, and files modified.
    pub lists: (Vec<String>, Vec<String>),
    /// A part is the truncate text because asking failed; the reason.
    pub fallback: Option<String>,
}

/// Why there are no texts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The session stays as it was.
    #[error("no summary, and the session stays as it was: {0}")]
    Unchanged(String),
    /// The system drops everything but the newest messages.
    #[error("no summary, so everything but the newest messages goes: {0}")]
    Emergency(String),
    /// The modelled code fails.
    #[error("the modelled code fails here: {0}")]
    Crash(String),
}

impl From<LedgerError> for WriteError {
    fn from(error: LedgerError) -> Self {
        Self::Crash(error.to_string())
    }
}

/// Rules of a system's texts.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'p> {
    /// How they are asked for.
    pub writing: &'p WritingRules,
    /// What the code writes itself.
    pub text: &'p SummaryText,
    /// The lists of files; none where the system keeps none.
    pub files: Option<&'p FileOpRules>,
}

/// Who writes the parts.
pub type Writer<'w> = dyn FnMut(&Ask<'_, '_>) -> Reply + 'w;

/// Has the texts of a compaction written. Without a writer the system's truncate text stands in its place; `truncate` asks
/// for that text although there is one.
pub fn write(
    entries: &[Entry<'_>],
    prepared: &Prepared,
    texts: Texts<'_>,
    truncate: bool,
    writer: Option<&mut Writer<'_>>,
) -> Result<Written, WriteError> {
    let operations = match texts.files {
        Some(rules) => super::operations(entries, prepared, rules)?,
        None => Operations::default(),
    };
    let lists = texts.files.map(|rules| operations.lists(rules)).unwrap_or_default();
    let mut parts = Parts { entries, texts, truncate, writer, fallback: None };
    let carried = prepared
        .previous
        .and_then(|at| entries.get(at))
        .filter(|entry| entry.kind == crate::harness::Kind::Compaction)
        .and_then(|entry| entry.texts().next());
    let mut text = if prepared.split && !prepared.prefix.is_empty() {
        if texts.writing.split_needs_model {
            if parts.writer.is_none() {
                return Err(WriteError::Crash("a turn is split and there is no model".to_owned()));
            }
            parts.truncate = false;
        }
        let history = match prepared.history.as_slice() {
            [] => None,
            history => Some(parts.part(Part::History, history, carried)?),
        };
        let turn = parts.part(Part::TurnPrefix, &prepared.prefix, None)?;
        let joined = texts.text.joined(history.as_deref(), carried, &turn);
        joined
            .unwrap_or_else(|| history.map_or_else(|| turn.clone(), |history| format!("{history}\n\n{turn}")))
    } else {
        parts.part(Part::History, &prepared.history, carried)?
    };
    if texts.writing.footer == Footer::Summary {
        text.push_str(&texts.text.footer(&lists.0, &lists.1));
    }
    Ok(Written { text, lists, fallback: parts.fallback })
}

/// Nothing but `<think>` blocks and `<invoke>` markup, closed or not.
fn is_hollow(text: &str) -> bool {
    let mut rest = text;
    let mut any = false;
    while let Some((open, close)) = [("<think>", "</think>"), ("<invoke", "</invoke>")]
        .into_iter()
        .find(|(open, _)| rest.starts_with(open))
    {
        any = true;
        rest = rest
            .strip_prefix(open)
            .and_then(|inner| inner.split_once(close))
            .map_or("", |(_, behind)| behind.trim_start());
    }
    any && rest.is_empty()
}

struct Parts<'e, 'a, 'p, 'w, 'f> {
    entries: &'e [Entry<'a>],
    texts: Texts<'p>,
    truncate: bool,
    writer: Option<&'w mut Writer<'f>>,
    fallback: Option<String>,
}

impl Parts<'_, '_, '_, '_, '_> {
    fn part(&mut self, part: Part, list: &[usize], carried: Option<&str>) -> Result<String, WriteError> {
        let entries: Vec<Entry<'_>> = list.iter().filter_map(|at| self.entries.get(*at)).cloned().collect();
        let Some(writer) = self.writer.as_mut().filter(|_| !self.truncate) else {
            return self.truncated(&entries);
        };
        let previous = carried.or_else(|| self.texts.text.previous(&entries));
        let rules = self.texts.writing;
        let refused = |taken: Taken| taken == Taken::Refused;
        let reply = match writer(&Ask { part, entries: &entries, previous }) {
            Reply::CutShort(_) if refused(rules.cut_short) => {
                Err("the summary is incomplete: it reached the limit of its length".to_owned())
            }
            Reply::Call(_) if refused(rules.tool_call) => Err("the model called a tool".to_owned()),
            Reply::Text(text) | Reply::CutShort(text) | Reply::Call(text) => {
                if rules.refuses(&text) {
                    Err("the summary is empty".to_owned())
                } else if rules.trim {
                    Ok(text.trim().to_owned())
                } else {
                    Ok(text)
                }
            }
            Reply::Failed(reason) => Err(reason),
        };
        match (reply, rules.on_failure) {
            (Ok(text), _) => Ok(text),
            (Err(reason), OnFailure::Unchanged) => Err(WriteError::Unchanged(reason)),
            (Err(reason), OnFailure::Emergency) => Err(WriteError::Emergency(reason)),
            (Err(reason), OnFailure::Truncate) => {
                self.fallback.get_or_insert(reason);
                self.truncated(&entries)
            }
        }
    }

    /// The truncate text of a part: its files are those of the part alone, as they came.
    fn truncated(&self, entries: &[Entry<'_>]) -> Result<String, WriteError> {
        let mut operations = Operations::default();
        if let Some(rules) = self.texts.files {
            for entry in entries {
                operations.read_calls(entry, rules)?;
            }
        }
        let read = operations.paths(crate::ledger::Op::Read);
        self.texts
            .text
            .truncated(entries, &read, &operations.modified())
            .ok_or_else(|| WriteError::Unchanged("the system has no text but the model's".to_owned()))
    }
}
