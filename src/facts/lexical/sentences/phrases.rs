//! The phrases that the rules for sentences look for, all found in one walk over a sentence.
//!
//! Some lists are rules by themselves ([`STEPS`]); others only tell where a pattern may match: what a pattern matches
//! holds a phrase of its list, so a sentence without one needs no search.

use super::super::LazyLock;
use super::constraint::{FOREIGN_HINTS, LIFTING, LIMITS, MODALS, REPORTS};
use super::decision::{
    CONTRAST_HINTS, DECIDED_HINTS, DEFAULT_HINTS, FINDS, FOREIGN_WHY, PARTICIPLE_HINTS, PERSON_HINTS,
    PLACED_HINTS, REASON_HINTS, STEPS, UNSETTLED, USER_CHOICE_HINTS, VERDICT_HINTS,
};
use super::request::{ASKS, DECLINES};
use super::{OBLIGES, OPEN, REPORTED};
use crate::lanes::{self, Words};

/// A list of phrases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Open,
    Reported,
    Lifting,
    Report,
    Modal,
    Limits,
    Steps,
    Unsettled,
    Asks,
    Declines,
    Obliges,
    Decided,
    Participle,
    Verdict,
    Contrast,
    UserChoice,
    Reason,
    Placed,
    Default,
    Person,
    Foreign,
    ForeignWhy,
    Finds,
}

const LISTS: &[(List, &[&str])] = &[
    (List::Open, OPEN),
    (List::Reported, REPORTED),
    (List::Lifting, LIFTING),
    (List::Report, REPORTS),
    (List::Modal, MODALS),
    (List::Limits, LIMITS),
    (List::Steps, STEPS),
    (List::Unsettled, UNSETTLED),
    (List::Asks, ASKS),
    (List::Declines, DECLINES),
    (List::Obliges, OBLIGES),
    (List::Decided, DECIDED_HINTS),
    (List::Participle, PARTICIPLE_HINTS),
    (List::Verdict, VERDICT_HINTS),
    (List::Contrast, CONTRAST_HINTS),
    (List::UserChoice, USER_CHOICE_HINTS),
    (List::Reason, REASON_HINTS),
    (List::Placed, PLACED_HINTS),
    (List::Default, DEFAULT_HINTS),
    (List::Person, PERSON_HINTS),
    (List::Foreign, FOREIGN_HINTS),
    (List::ForeignWhy, FOREIGN_WHY),
    (List::Finds, FINDS),
];

/// The lists of which a text holds a phrase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Said(u32);

impl Said {
    /// Looks for the phrases of all lists, wherever they stand: a phrase may be a piece of a word or of another phrase.
    pub(super) fn in_text(lower: &str) -> Self {
        let mut said = 0;
        let mut find = |phrases: &Words| {
            let common = phrases.longest().saturating_sub(1);
            phrases.walk(lanes::overlapping::<3>(lower.as_bytes(), common), |_, _, lists| said |= lists);
        };
        NARROW.as_ref().into_iter().for_each(&mut find);
        if !lower.is_ascii() {
            WIDE.as_ref().into_iter().for_each(&mut find);
        }
        Self(said)
    }

    /// Does the text hold a phrase of the list?
    pub(super) fn any(self, list: List) -> bool {
        self.0 & Self::only(list).0 != 0
    }

    fn only(list: List) -> Self {
        Self(1 << list as u32)
    }
}

/// The phrases in ASCII.
static NARROW: LazyLock<Option<Words>> = LazyLock::new(|| phrases(str::is_ascii));
/// The others: apart, since most sentences are ASCII and a small automaton is a fast one.
static WIDE: LazyLock<Option<Words>> = LazyLock::new(|| phrases(|phrase| !phrase.is_ascii()));

/// The phrases of all lists that are of a kind, each with the lists it is of.
fn phrases(is_of_kind: impl Fn(&str) -> bool) -> Option<Words> {
    let of_list = |(list, phrases): &(List, &'static [&'static str])| {
        let bit = Said::only(*list).0;
        phrases.iter().map(move |phrase| (*phrase, bit))
    };
    let phrases: Vec<(&str, u32)> = LISTS.iter().flat_map(of_list).filter(|(it, _)| is_of_kind(it)).collect();
    Words::new(&phrases, false)
}
