//! The phrases that the rules for sentences look for, all found in one walk over a sentence.
//!
//! Some lists are rules by themselves ([`STEPS`]); others only tell where a pattern may match: what a pattern matches
//! holds a phrase of its list, so a sentence without one needs no search.

use super::super::LazyLock;
use super::constraint::{LIFTING, LIMITS, MODALS, REPORTS};
use super::decision::{
    CONTRAST_HINTS, DECIDED_HINTS, DEFAULT_HINTS, PARTICIPLE_HINTS, PERSON_HINTS, PLACED_HINTS, REASON_HINTS,
    STEPS, UNSETTLED, USER_CHOICE_HINTS, VERDICT_HINTS,
};
use super::request::{ASKS, DECLINES};
use super::{OBLIGES, OPEN, REPORTED};
use aho_corasick::{AhoCorasick, AhoCorasickKind};

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
];

/// The lists of which a text holds a phrase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Said(u32);

impl Said {
    /// Looks for the phrases of all lists, wherever they stand: a phrase may be a piece of a word or of another phrase.
    pub(super) fn in_text(lower: &str) -> Self {
        let mut said = Self::default();
        let Some(phrases) = PHRASES.as_ref() else { return said };
        for found in phrases.automaton.find_overlapping_iter(lower) {
            said.0 |= phrases.lists.get(found.pattern().as_usize()).map_or(0, |lists| lists.0);
        }
        said
    }

    /// Does the text hold a phrase of the list?
    pub(super) fn any(self, list: List) -> bool {
        self.0 & Self::only(list).0 != 0
    }

    fn only(list: List) -> Self {
        Self(1 << list as u32)
    }
}

/// All phrases, and by the index of each the lists it is of.
struct Phrases {
    automaton: AhoCorasick,
    lists: Vec<Said>,
}

static PHRASES: LazyLock<Option<Phrases>> = LazyLock::new(|| {
    let mut phrases: Vec<&str> = Vec::new();
    let mut lists: Vec<Said> = Vec::new();
    for (list, of_list) in LISTS {
        for phrase in *of_list {
            let known = phrases.iter().position(|known| known == phrase);
            let index = known.unwrap_or_else(|| {
                phrases.push(phrase);
                lists.push(Said::default());
                phrases.len() - 1
            });
            if let Some(lists) = lists.get_mut(index) {
                lists.0 |= Said::only(*list).0;
            }
        }
    }
    let automaton = AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(&phrases).ok()?;
    Some(Phrases { automaton, lists })
});
