//! Planting: a fact goes into a log only where its text really stands there, and only with a fate that the log allows.

use super::log::Log;
use compactor::facts::{FactClass, Match};
use compactor::score::Location;
use std::fmt;

/// What the scorer has to say of a planted fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is live: where it stands, and how in the summary where that is certain.
    Live { location: Location, tier: Option<Match> },
    /// It is no fact any more, since another took its place before the cycle.
    Replaced,
}

impl Fate {
    /// A fact of which nothing is left, or which stands in the summary only: one that the tail does not mention.
    pub(super) fn at_risk(self) -> bool {
        matches!(self, Self::Live { location: Location::Summary | Location::Lost, .. })
    }

    pub(super) fn in_summary(self) -> bool {
        matches!(self, Self::Live { location: Location::Summary | Location::Both, .. })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Live { location, .. } => location.name(),
            Self::Replaced => "replaced",
        }
    }
}

/// A fact as the generator means it.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    /// Its class at the cycle.
    pub(super) class: FactClass,
    /// Its canonical value.
    pub(super) value: String,
    /// What of it stands on the line of its birth.
    pub(super) said: String,
    /// Line of its birth.
    pub(super) line: u32,
    /// Every spelling that would mention it.
    pub(super) spellings: Vec<String>,
    pub(super) fate: Fate,
    /// What the summary says of it, and what trap that is.
    pub(super) summary: String,
    pub(super) trap: &'static str,
}

/// Lines of a log that a compaction keeps, and those that it has seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    /// First line of the kept tail.
    pub(super) kept_from: u32,
    /// First line behind the prefix.
    pub(super) end: u32,
}

/// Why a fact cannot be planted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    NotInLog { text: String, line: u32 },
    NotEligible { text: String, line: u32 },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInLog { text, line } => write!(f, "not in the log: line {line} does not hold `{text}`"),
            Self::NotEligible { text, line } => {
                write!(
                    f,
                    "not eligible: `{text}` stands behind the cut, on line {line}, so it cannot be lost"
                )
            }
        }
    }
}

/// Accepts a fact. Refuses one whose text is not in the log, and one that is meant to be lost, or to survive by the
/// summary alone, although the kept tail holds it.
pub(super) fn plant(log: &Log, cut: Cut, claim: Claim) -> Result<Claim, Refusal> {
    if !log.held(claim.line).iter().any(|text| spelled(text).contains(&spelled(&claim.said))) {
        return Err(Refusal::NotInLog { text: claim.said, line: claim.line });
    }
    if claim.fate.at_risk() {
        for line in cut.kept_from..cut.end {
            let held = log.held(line);
            let again = claim.spellings.iter().find(|one| held.iter().any(|text| stands(text, one)));
            if let Some(again) = again {
                return Err(Refusal::NotEligible { text: again.clone(), line });
            }
        }
    }
    Ok(claim)
}

/// Separators of paths spelled one way.
fn spelled(text: &str) -> String {
    text.replace('\\', "/")
}

/// Does a spelling stand in a text as a whole? Written apart from the program: slow and plain.
pub(super) fn stands(text: &str, spelling: &str) -> bool {
    let (text, spelling) = (spelled(text), spelled(spelling));
    let inner = |c: char| c.is_alphanumeric() || c == '_';
    let joins = |c: char| matches!(c, '/' | '-' | '.' | ':' | '~' | '@');
    text.match_indices(&spelling).any(|(at, _)| {
        let mut before = text.get(..at).unwrap_or("").chars().rev();
        let mut after = text.get(at + spelling.len()..).unwrap_or("").chars();
        let open = |next: Option<char>, then: Option<char>| match next {
            Some(c) if inner(c) => false,
            Some(c) if joins(c) => !then.is_some_and(inner),
            _ => true,
        };
        open(before.next(), before.next()) && open(after.next(), after.next())
    })
}
