//! Where a context is cut: one walk over entries, from the newest back, under the rules of a system.
//!
//! Every modelled system, and our own default, is a value of [`CutRules`]. The walk adds up sizes until the tail is as
//! large as it may be; from there it looks for a landing, an entry that the tail may begin with. [`split`] then tells
//! whether the cut falls inside a turn. Both look at [`Mark`]s only, which a replay makes once per session.

use crate::harness::{Block, Entry, Kind, Role};
use serde::Deserialize;

/// What a cut rule knows of one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// What it is.
    pub kind: Kind,
    /// Who speaks.
    pub role: Role,
    /// It holds a call or a result.
    pub tool: bool,
    /// A cut before it parts no call from its result.
    pub safe: bool,
    /// A person asks in it.
    pub request: bool,
    /// Its size, in the unit of [`CutRules::measure`].
    pub size: u64,
}

impl Mark {
    /// The mark of an entry whose size is known.
    pub fn of(entry: &Entry<'_>, size: u64) -> Self {
        Self {
            kind: entry.kind,
            role: entry.role,
            tool: entry.is_tool(),
            safe: true,
            request: entry.role == Role::User,
            size,
        }
    }

    /// It is in the context of the model.
    fn visible(self) -> bool {
        matches!(self.kind, Kind::Message | Kind::Branch | Kind::CustomMessage)
    }
}

/// What the size of a tail is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Tokens as the system's own estimator gives them.
    Estimate,
    /// Tokens as they are counted.
    Counted,
    /// Bytes of text and results, [`CutRules::per_entry`] for each entry; calls and reasoning count for nothing.
    Text,
    /// Entries.
    Entries,
}

/// When a tail is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Full {
    /// As soon as it reaches its size; the entry that does so belongs to it.
    Reached,
    /// Before the entry that would make it larger than its size.
    Exceeded,
}

/// Which way from the place where the tail is full a landing is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Toward {
    /// Towards the end: the tail gets smaller.
    Newer,
    /// Towards the beginning: the tail gets larger.
    Older,
}

/// An entry that a tail may begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Landing {
    /// Any entry.
    Any,
    /// Any entry before which no call is parted from its result.
    Unit,
    /// Any entry that is neither call nor result.
    NoTool,
    /// A message in which a person asks.
    Request,
    /// A message of the user, whoever put it there.
    User,
    /// A message of the model.
    Assistant,
    /// A command that the user ran.
    Shell,
    /// A custom message.
    Custom,
    /// A summary of a branch, as a message.
    Branch,
    /// A summary of a compaction, as a message.
    Summary,
    /// A summary of a branch that is an entry of its own.
    BranchEntry,
    /// A custom message that is an entry of its own.
    CustomEntry,
}

impl Landing {
    fn takes(self, mark: Mark) -> bool {
        let message = |role: Role| mark.kind == Kind::Message && mark.role == role;
        match self {
            Self::Any => true,
            Self::Unit => mark.safe,
            Self::NoTool => !mark.tool,
            Self::Request => mark.request,
            Self::User => message(Role::User),
            Self::Assistant => message(Role::Assistant),
            Self::Shell => message(Role::Shell),
            Self::Custom => message(Role::Custom),
            Self::Branch => message(Role::Branch),
            Self::Summary => message(Role::Summary),
            Self::BranchEntry => mark.kind == Kind::Branch,
            Self::CustomEntry => mark.kind == Kind::CustomMessage,
        }
    }
}

/// What to do where there is no landing, or where the tail never gets full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Otherwise {
    /// No cut.
    None,
    /// At the place where the tail got full, whatever stands there.
    Here,
    /// At the first landing of all.
    First,
    /// At the last landing of all.
    Last,
    /// Behind the oldest entry.
    Oldest,
    /// Behind the newest entry: nothing stays.
    End,
}

/// Which entries add to the size of a tail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Adds {
    /// Messages.
    #[default]
    Messages,
    /// Everything that the model sees and that has a size.
    Visible,
}

/// What a forced cut does where there is none by the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forced {
    /// It keeps so many entries.
    pub keep_entries: usize,
}

/// How a context is cut.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutRules {
    /// What sizes are measured in.
    pub measure: Measure,
    /// Bytes that count as one token, where text is measured.
    #[serde(default = "four")]
    pub units_per_token: u64,
    /// Bytes that each entry adds, where text is measured.
    #[serde(default)]
    pub per_entry: u64,
    /// Which entries add to the size.
    #[serde(default)]
    pub adds: Adds,
    /// When the tail is full.
    pub full: Full,
    /// Where to look for a landing from there.
    pub toward: Toward,
    /// What a tail may begin with.
    pub landings: Vec<Landing>,
    /// Least entries that leave: places before them are passed over.
    #[serde(default)]
    pub least: usize,
    /// A request of a person that lies in the tail is taken before any other landing.
    #[serde(default)]
    pub prefer_request: bool,
    /// Where there is no landing that way.
    pub missed: Otherwise,
    /// Where the tail never gets full.
    pub unfilled: Otherwise,
    /// Kinds of entry that are taken into the tail where they stand right before the cut.
    #[serde(default)]
    pub absorbs: Vec<Absorbed>,
    /// A tail of entries is kept only where there are more than twice as many.
    #[serde(default)]
    pub at_most_half: bool,
    /// What a forced cut does.
    #[serde(default)]
    pub forced: Option<Forced>,
}

fn four() -> u64 {
    4
}

/// A kind of entry that a tail takes in where it stands right before the cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Absorbed {
    /// Labels, model changes and the like.
    Meta,
    /// Summaries of branches that are entries of their own.
    BranchEntry,
    /// Custom messages that are entries of their own.
    CustomEntry,
}

impl Absorbed {
    fn takes(self, mark: Mark) -> bool {
        mark.kind
            == match self {
                Self::Meta => Kind::Meta,
                Self::BranchEntry => Kind::Branch,
                Self::CustomEntry => Kind::CustomMessage,
            }
    }
}

impl CutRules {
    /// The size of an entry where text or entries are measured; estimates and counts are the caller's.
    pub fn own_size(&self, entry: &Entry<'_>) -> Option<u64> {
        match self.measure {
            Measure::Estimate | Measure::Counted => None,
            Measure::Entries => Some(1),
            Measure::Text => {
                let bytes: usize = entry
                    .blocks
                    .iter()
                    .map(|block| match block {
                        Block::Text(text) => text.len(),
                        Block::Result(result) => result.texts.iter().map(|text| text.len()).sum(),
                        _ => 0,
                    })
                    .sum();
                Some(bytes as u64 + self.per_entry)
            }
        }
    }

    /// The size of a tail of `keep` tokens (or entries) in the unit of the measure.
    pub fn budget(&self, keep: u64) -> u64 {
        if self.measure == Measure::Text { keep.saturating_mul(self.units_per_token) } else { keep }
    }

    /// A share of what entries come to in a tail, as the size of one: tokens in the measure of the cut.
    pub fn share_of(&self, marks: &[Mark], share: f64) -> u64 {
        let all = marks
            .iter()
            .filter(|mark| self.adds(**mark))
            .fold(0_u64, |sum, mark| sum.saturating_add(mark.size));
        (all as f64 * share / self.budget(1).max(1) as f64) as u64
    }

    /// Whether an entry adds to the size of a tail.
    fn adds(&self, mark: Mark) -> bool {
        match self.adds {
            Adds::Messages => mark.kind == Kind::Message,
            Adds::Visible => mark.visible() && mark.size > 0,
        }
    }

    fn lands(&self, mark: Mark) -> bool {
        self.landings.iter().any(|landing| landing.takes(mark))
    }

    /// The first entry of the tail; `marks.len()` where nothing stays; `None` where there is no cut. A cut at 0 is one
    /// that takes nothing away.
    ///
    /// `keep` is the size of the tail in tokens, or in entries where these are measured.
    pub fn place(&self, marks: &[Mark], keep: u64, force: bool) -> Option<usize> {
        let cut = self.by_rule(marks, keep);
        match (cut, self.forced) {
            (None | Some(0), Some(forced)) if force && marks.len() > forced.keep_entries => {
                Some((marks.len() - forced.keep_entries).max(1))
            }
            _ => cut,
        }
    }

    fn by_rule(&self, marks: &[Mark], keep: u64) -> Option<usize> {
        let full = self.full(marks, keep);
        let from = full.unwrap_or(0).max(self.least);
        if self.prefer_request
            && let Some(at) = (from..marks.len()).find(|at| marks.get(*at).is_some_and(|mark| mark.request))
        {
            return Some(at);
        }
        if full.is_none() {
            return self.otherwise(self.unfilled, marks, from);
        }
        // A cut behind the newest entry keeps nothing: nothing it could begin with is wrong.
        let takes = |at: &usize| marks.get(*at).is_none_or(|mark| self.lands(*mark));
        let landed = match self.toward {
            Toward::Newer => (from..marks.len()).find(takes),
            Toward::Older => (self.least..=from).rev().find(takes),
        };
        let cut = landed.map_or_else(|| self.otherwise(self.missed, marks, from), Some)?;
        Some(self.absorbed(marks, cut))
    }

    /// The place where the tail is full: the first entry that may belong to it.
    fn full(&self, marks: &[Mark], keep: u64) -> Option<usize> {
        if self.measure == Measure::Entries {
            let keep = usize::try_from(keep).unwrap_or(usize::MAX);
            let keep = if self.at_most_half && marks.len() <= keep.saturating_mul(2) { 0 } else { keep };
            return Some(marks.len().saturating_sub(keep));
        }
        let budget = self.budget(keep);
        let mut total: u64 = 0;
        for (at, mark) in marks.iter().enumerate().rev() {
            if !self.adds(*mark) {
                continue;
            }
            total = total.saturating_add(mark.size);
            match self.full {
                Full::Reached if total >= budget => return Some(at),
                Full::Exceeded if total > budget => return Some(at + 1),
                _ => {}
            }
        }
        None
    }

    fn otherwise(&self, rule: Otherwise, marks: &[Mark], here: usize) -> Option<usize> {
        let takes = |at: &usize| marks.get(*at).is_some_and(|mark| self.lands(*mark));
        match rule {
            Otherwise::None => None,
            Otherwise::Here => Some(here),
            Otherwise::First => {
                Some((self.least..marks.len()).find(takes).map_or(0, |at| self.absorbed(marks, at)))
            }
            Otherwise::Last => (self.least..marks.len()).rev().find(takes).or(Some(0)),
            Otherwise::Oldest => (!marks.is_empty()).then_some(1),
            Otherwise::End => Some(marks.len()),
        }
    }

    fn absorbed(&self, marks: &[Mark], cut: usize) -> usize {
        let mut cut = cut;
        while let Some(before) = cut.checked_sub(1).and_then(|at| marks.get(at))
            && self.absorbs.iter().any(|kind| kind.takes(*before))
        {
            cut -= 1;
        }
        cut
    }
}

/// What a cut inside a turn does.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnRules {
    /// A tail that begins with one of these splits no turn.
    pub clean: Vec<Landing>,
    /// What a turn begins with.
    pub starts: Vec<Landing>,
    /// The entry of the cut itself may be found as the start of its turn.
    #[serde(default)]
    pub at_cut: bool,
    /// Least entries between the start of the turn and the cut for it to count as split.
    #[serde(default)]
    pub min_prefix: usize,
}

/// The start of the turn that a cut splits; `None` where it splits none.
pub fn split(marks: &[Mark], cut: usize, rules: &TurnRules) -> Option<usize> {
    if marks.get(cut).is_some_and(|mark| rules.clean.iter().any(|landing| landing.takes(*mark))) {
        return None;
    }
    let start = turn_start(marks, cut, rules)?;
    (cut - start >= rules.min_prefix).then_some(start)
}

/// The nearest start of a turn before `cut`, or at it where the rules look there, too.
pub fn turn_start(marks: &[Mark], cut: usize, rules: &TurnRules) -> Option<usize> {
    let end = cut + usize::from(rules.at_cut);
    marks
        .get(..end.min(marks.len()))?
        .iter()
        .rposition(|mark| rules.starts.iter().any(|landing| landing.takes(*mark)))
}

#[cfg(test)]
mod tests;
