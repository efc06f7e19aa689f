//! The phrases that the rules for sentences look for, all found in one walk over a sentence.
//!
//! Some lists are rules by themselves ([`STEPS`]); others only tell where a pattern may match: what a pattern matches
//! holds a phrase of its list, so a sentence without one needs no search.

use super::super::{LazyLock, lanes};
use super::constraint::{FOREIGN_HINTS, LIFTING, LIMITS, MODALS, REPORTS};
use super::decision::{
    CONTRAST_HINTS, DECIDED_HINTS, DEFAULT_HINTS, FINDS, FOREIGN_WHY, PARTICIPLE_HINTS, PERSON_HINTS,
    PLACED_HINTS, REASON_HINTS, STEPS, UNSETTLED, USER_CHOICE_HINTS, VERDICT_HINTS,
};
use super::request::{ASKS, DECLINES};
use super::{OBLIGES, OPEN, REPORTED};
use aho_corasick::automaton::Automaton;
use aho_corasick::dfa::DFA;

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
        let narrow = NARROW.as_ref().map_or(0, |phrases| phrases.find(lower).0);
        let wide =
            if lower.is_ascii() { 0 } else { WIDE.as_ref().map_or(0, |phrases| phrases.find(lower).0) };
        Self(narrow | wide)
    }

    /// Does the text hold a phrase of the list?
    pub(super) fn any(self, list: List) -> bool {
        self.0 & Self::only(list).0 != 0
    }

    fn only(list: List) -> Self {
        Self(1 << list as u32)
    }
}

/// Phrases, and by the index of each the lists it is of.
struct Phrases {
    automaton: DFA,
    lists: Vec<Said>,
}

/// The phrases in ASCII.
static NARROW: LazyLock<Option<Phrases>> = LazyLock::new(|| Phrases::new(str::is_ascii));
/// The others: apart, since most sentences are ASCII and a small automaton is a fast one.
static WIDE: LazyLock<Option<Phrases>> = LazyLock::new(|| Phrases::new(|phrase| !phrase.is_ascii()));

impl Phrases {
    /// The phrases of all lists that are of a kind.
    fn new(is_of_kind: impl Fn(&str) -> bool) -> Option<Self> {
        let mut phrases: Vec<&str> = Vec::new();
        let mut lists: Vec<Said> = Vec::new();
        for (list, of_list) in LISTS {
            for phrase in of_list.iter().filter(|phrase| is_of_kind(phrase)) {
                let index = phrases.iter().position(|known| known == phrase).unwrap_or_else(|| {
                    phrases.push(phrase);
                    lists.push(Said::default());
                    phrases.len() - 1
                });
                if let Some(lists) = lists.get_mut(index) {
                    lists.0 |= Said::only(*list).0;
                }
            }
        }
        let automaton = DFA::builder().prefilter(false).build(&phrases).ok()?;
        Some(Self { automaton, lists })
    }

    fn find(&self, lower: &str) -> Said {
        let mut said = 0;
        // Most sentences hold many phrases, and only which ones matters: the automaton is walked without a stop at each.
        let common = self.automaton.max_pattern_len().saturating_sub(1);
        let mut add = |state| {
            for at in 0..self.automaton.match_len(state) {
                let phrase = self.automaton.match_pattern(state, at).as_usize();
                said |= self.lists.get(phrase).map_or(0, |lists| lists.0);
            }
        };
        let stretches = lanes::overlapping::<3>(lower.as_bytes(), common);
        lanes::walk(&self.automaton, stretches, |_, _, state| add(state));
        Said(said)
    }
}
