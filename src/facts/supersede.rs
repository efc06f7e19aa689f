//! When a fact stops being the current one, and which fact takes its place.
//!
//! * a **value** by the next value of the same key (modifiers before a plain word are part of the key, so a "connection
//!   timeout" does not replace a "read timeout"), and by a correction that names both numbers ("45 s instead of 30 s",
//!   "90 s, not 60", "1500 ms is too long, make it 800 ms");
//! * a **check** by the next check of the same head;
//! * a **request** by the next request; the first request of the session is never replaced;
//! * a **decision** or **constraint** of any author by a later decision or constraint that rejects what the former chose
//!   (the number, or the thing by name where both speak of the same), that says it is a change of mind, that chooses
//!   otherwise against the same alternative, or that lifts it. To say the same choice again replaces nothing.
//!
//! A fact is replaced once, by the first fact that does it.

use super::{Draft, FactClass, FactId, Form, lexical::sentences};
use crate::matching::sentence::{self, Sentence};
use crate::matching::{self, Quantity};
use compact_str::CompactString;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Dates the end of every fact that is replaced. The drafts are in order of birth.
pub(super) fn apply(drafts: &mut [Draft]) {
    chains(drafts);
    corrections(drafts);
    reversals(drafts);
}

fn replace(drafts: &mut [Draft], old: usize, new: usize) {
    let Some(from) = drafts.get(new).map(|draft| draft.fact.birth) else { return };
    if let Some(draft) = drafts.get_mut(old)
        && draft.fact.superseded.is_none()
        && old != new
    {
        draft.fact.superseded = Some((from, FactId(new as u32)));
    }
}

/// Values by key, checks by head, requests in a row.
fn chains(drafts: &mut [Draft]) {
    let mut latest: FxHashMap<(FactClass, String), usize> = FxHashMap::default();
    let mut requests: Option<(usize, bool)> = None;
    for index in 0..drafts.len() {
        let draft = &drafts[index];
        let slot = match &draft.form {
            Form::Value { key: Some(key), .. } => (FactClass::Value, key.to_lowercase()),
            Form::Check { head } => (FactClass::Check, head.clone()),
            _ => {
                if draft.fact.class == FactClass::Request {
                    if let Some((last, first)) = requests
                        && !first
                    {
                        replace(drafts, last, index);
                    }
                    requests = Some((index, requests.is_none()));
                }
                continue;
            }
        };
        if let Some(last) = latest.insert(slot, index) {
            replace(drafts, last, index);
        }
    }
}

/// Corrections of values: the sentence that names the old number and the new one is a constraint, decision or request.
fn corrections(drafts: &mut [Draft]) {
    let values: Vec<usize> =
        (0..drafts.len()).filter(|index| matches!(drafts[*index].form, Form::Value { .. })).collect();
    if values.is_empty() {
        return;
    }
    for index in 0..drafts.len() {
        let fact = &drafts[index].fact;
        if !matches!(fact.class, FactClass::Constraint | FactClass::Decision | FactClass::Request) {
            continue;
        }
        let Some(change) = contrast(&fact.value.to_lowercase()) else { continue };
        let at = fact.birth;
        let is = |draft: &Draft, wanted: &[Quantity]| match &draft.form {
            Form::Value { number, .. } => wanted.iter().any(|one| same_amount(number, one)),
            _ => false,
        };
        let rejected = change.rejected_numbers();
        let chosen = numbers(&change.chosen);
        let old = values.iter().copied().rfind(|i| drafts[*i].fact.birth < at && is(&drafts[*i], &rejected));
        let Some(old) = old.filter(|old| drafts[*old].fact.superseded.is_none()) else { continue };
        let new = values.iter().copied().rfind(|i| drafts[*i].fact.birth <= at && is(&drafts[*i], &chosen));
        match new {
            // The new value was born earlier or in this message; the change dates from here.
            Some(new) => drafts[old].fact.superseded = Some((at, FactId(new as u32))),
            None => replace(drafts, old, index),
        }
    }
}

/// Every number of a text with its unit.
fn numbers(text: &str) -> Vec<Quantity> {
    let mut found: Vec<Quantity> = Vec::new();
    for (at, _) in text.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
        if found.last().is_none_or(|last| last.end <= at) {
            found.extend(matching::quantity_at(text, at));
        }
    }
    found
}

/// The same number, and the same unit where both have one.
fn same_amount(one: &Quantity, other: &Quantity) -> bool {
    one.number == other.number && (one.unit == other.unit || one.unit.is_empty() || other.unit.is_empty())
}

/// What a sentence chooses and what it rejects.
struct Contrast {
    chosen: String,
    rejected: String,
}

impl Contrast {
    fn new(chosen: &str, rejected: &str) -> Self {
        Self { chosen: chosen.to_owned(), rejected: rejected.to_owned() }
    }

    /// The numbers it rejects. "90 s, not 60" rejects 60 seconds.
    fn rejected_numbers(&self) -> Vec<Quantity> {
        let unit = numbers(&self.chosen).iter().rev().map(|number| number.unit).find(|unit| !unit.is_empty());
        let mut rejected = numbers(&self.rejected);
        for number in rejected.iter_mut().filter(|number| number.unit.is_empty()) {
            number.unit = unit.unwrap_or_default();
        }
        rejected
    }
}

/// Between what is chosen and what is rejected.
const JOINTS: &[&str] = &[
    " instead of ",
    " rather than ",
    ", not ",
    " over ",
    "，而不是",
    ",而不是",
    "而不是",
    "，不是",
    ",不是",
    "，不要",
    ",不要",
    " no longer ",
];

/// The other way round.
const REVERSED: &[&str] = &["ではなく", "じゃなくて", "は長すぎる", " is too ", " are too "];

/// Words that make "from X to Y" a change that somebody decides.
const CHANGES: &[&str] =
    &["change", "switch", "move", "raise", "lower", "bump", "reduce", "increase", "migrate", "rename", "cut"];

/// "X instead of Y", "X, not Y", "Y is too long, make it X", "change it from Y to X".
fn contrast(lower: &str) -> Option<Contrast> {
    for joint in JOINTS {
        // Most joints are not there, and that is told faster.
        if lower.contains(joint)
            && let Some((chosen, rejected)) = lower.split_once(joint)
        {
            let rejected = clause(rejected);
            let rejected = rejected.split(" because ").next().unwrap_or(rejected);
            return Some(Contrast::new(chosen, rejected));
        }
    }
    for joint in REVERSED {
        if lower.contains(joint)
            && let Some((rejected, chosen)) = lower.split_once(joint)
        {
            // The amount right before is what is meant.
            let rejected = rejected.rsplit([',', ':', ';', '、', '，', '。']).next().unwrap_or(rejected);
            return Some(Contrast::new(chosen, rejected));
        }
    }
    let (before, rest) = lower.split_once("from ")?;
    let decided = before
        .split_whitespace()
        .rev()
        .take(4)
        .any(|word| CHANGES.iter().any(|change| word.starts_with(change)));
    let (rejected, chosen) = rest.split_once(" to ")?;
    decided.then(|| Contrast::new(clause(chosen), rejected))
}

/// Up to the end of the clause; the point of a number ends none.
fn clause(text: &str) -> &str {
    let ends = |(at, c): &(usize, char)| match c {
        ',' | ';' | '。' | '，' | '：' => true,
        '.' | ':' => {
            text.get(at + 1..).is_none_or(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
        }
        _ => false,
    };
    let end = text.char_indices().find(ends).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// Words that say a sentence changes an earlier one.
const TURNS: &[&str] = &[
    "actually",
    "changed my mind",
    "on second thought",
    "scrap",
    "revert",
    "no longer",
    "switch",
    "forget",
    "scratch that",
    "after all",
    "not anymore",
    "改用",
    "不再",
    "改为",
    "やっぱり",
];

/// A sentence that may be taken back.
struct Standing {
    index: usize,
    sentence: Arc<Sentence>,
    /// Words and numbers of what it chooses.
    chosen: Vec<CompactString>,
    rejected: Vec<CompactString>,
    amounts: Vec<Quantity>,
    constraint: bool,
}

/// Sentences by what they hold, so that a session of many sentences stays linear in what they share.
#[derive(Default)]
struct Board {
    standing: Vec<Standing>,
    by_word: FxHashMap<CompactString, SmallVec<[usize; 2]>>,
    by_number: FxHashMap<CompactString, Vec<usize>>,
}

impl Board {
    fn add(&mut self, one: Standing) {
        let place = self.standing.len();
        for word in &one.sentence.words {
            self.by_word.entry(word.clone()).or_default().push(place);
        }
        for amount in &one.amounts {
            self.by_number.entry(amount.number.clone()).or_default().push(place);
        }
        self.standing.push(one);
    }

    /// Those that share a word or one of the numbers, with the count of shared words, in order.
    fn sharing(&self, words: &[CompactString], numbers: &[Quantity]) -> Vec<(usize, u32)> {
        let mut shared: FxHashMap<usize, u32> = FxHashMap::default();
        for place in words.iter().filter_map(|word| self.by_word.get(word)).flatten() {
            *shared.entry(*place).or_default() += 1;
        }
        for place in numbers.iter().filter_map(|one| self.by_number.get(&one.number)).flatten() {
            shared.entry(*place).or_default();
        }
        let mut shared: Vec<(usize, u32)> = shared.into_iter().collect();
        shared.sort_unstable();
        shared
    }
}

/// Decisions reversed, constraints lifted.
fn reversals(drafts: &mut [Draft]) {
    let mut board = Board::default();
    for index in 0..drafts.len() {
        let fact = &drafts[index].fact;
        let class = fact.class;
        if !matches!(class, FactClass::Constraint | FactClass::Decision | FactClass::Request) {
            continue;
        }
        let lower = fact.value.to_lowercase();
        let sentence = Arc::new(sentence::analyse(&fact.value));
        let change = contrast(&lower);
        let here = fact.birth;
        let new = Newer {
            turn: TURNS.iter().any(|word| lower.contains(word)),
            lifting: sentences::is_lifting(&lower),
            words: change.as_ref().map(rejected_words).unwrap_or_default(),
            numbers: change.as_ref().map(Contrast::rejected_numbers).unwrap_or_default(),
            decides: class == FactClass::Decision,
            sentence: &sentence,
        };
        if let Form::Sentence(read) = &mut drafts[index].form {
            *read = Some(Arc::clone(&sentence));
        }
        if new.turn || new.lifting || change.is_some() {
            for (place, count) in board.sharing(&sentence.words, &new.numbers) {
                let Some(old) = board.standing.get(place) else { continue };
                let free = drafts[old.index].fact.birth < here && drafts[old.index].fact.superseded.is_none();
                if free && new.replaces(old, count) {
                    replace(drafts, old.index, index);
                }
            }
        }
        if class == FactClass::Request {
            continue;
        }
        // Words are in lower case however they are written; beyond ASCII, that may be another word.
        let whole = change.is_none() && lower.is_ascii();
        let chosen = change.map_or(lower, |change| change.chosen);
        let (amounts, rejected) = (numbers(&chosen), new.words);
        let chosen = if whole { sentence.words.clone() } else { sentence::analyse(&chosen).words };
        let constraint = class == FactClass::Constraint;
        board.add(Standing { index, sentence, chosen, rejected, amounts, constraint });
    }
}

/// Words of what is rejected that can name a choice: no numbers, and nothing as short as a unit.
fn rejected_words(change: &Contrast) -> Vec<CompactString> {
    let mut words = sentence::analyse(&change.rejected).words;
    words.retain(|word| !word.contains(|c: char| c.is_ascii_digit()) && (word.len() > 2 || !word.is_ascii()));
    words
}

/// A sentence that may take back an earlier one.
struct Newer<'a> {
    turn: bool,
    lifting: bool,
    words: Vec<CompactString>,
    numbers: Vec<Quantity>,
    decides: bool,
    sentence: &'a Sentence,
}

impl Newer<'_> {
    /// Does it take the place of `old`, with which it shares `count` words?
    fn replaces(&self, old: &Standing, count: u32) -> bool {
        let entity = self.sentence.entities.iter().any(|entity| old.sentence.entities.contains(entity));
        let about = count >= 2 || entity;
        let takes_back =
            self.words.iter().any(|word| old.chosen.contains(word) && !old.sentence.negated.contains(word));
        // A number without a unit may count anything.
        let amount = self.numbers.iter().any(|number| {
            let same = |held: &Quantity| {
                same_amount(number, held)
                    && (count > 0 || entity || !number.unit.is_empty() && !held.unit.is_empty())
            };
            old.amounts.iter().any(same)
        });
        if amount || takes_back && about {
            return true;
        }
        let sentence = self.sentence;
        // Lifting a prohibition: what it forbade is allowed.
        let allows = self.lifting
            && sentence.words.iter().any(|word| {
                old.sentence.negated.contains(word) && !sentence.negated.contains(word) && word.len() > 3
            });
        if old.constraint {
            return self.lifting && (allows || about);
        }
        // The same choice in other words.
        let confirms = !old.chosen.is_empty()
            && old
                .chosen
                .iter()
                .all(|word| sentence.words.contains(word) && !sentence.negated.contains(word));
        // Another choice against the same alternative.
        let rival = self.words.iter().any(|word| old.rejected.contains(word));
        let turns = self.turn || self.lifting || rival;
        self.decides && (takes_back && count > 0 || turns && !confirms && count >= 2)
    }
}
