//! When a fact stops being the current one, and which fact takes its place.
//!
//! * a **value** by the next value of the same key (modifiers before a plain word are part of the key, so a "connection
//!   timeout" does not replace a "read timeout");
//! * a value without a key by a correction that names both numbers ("45 s instead of 30 s", "5 ms, not 3 ms");
//! * a **check** by the next check of the same head;
//! * a **request** by the next request; the first request of the session is never replaced;
//! * a **decision** or **constraint** of any author by a later decision or constraint that sets something else against
//!   what the former chose ("use X instead of Y"), that says it is a change of mind, or that lifts it; the two must
//!   share what they speak of.
//!
//! A fact is replaced once, by the first fact that does it.

use super::{Draft, FactClass, FactId, Form, lexical::sentences};
use crate::matching::sentence::{self, Sentence};
use rustc_hash::FxHashMap;

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

/// Corrections of values that have no key: the sentence that holds both numbers is a constraint or decision.
fn corrections(drafts: &mut [Draft]) {
    let bare: Vec<usize> = (0..drafts.len())
        .filter(|index| matches!(drafts[*index].form, Form::Value { key: None, .. }))
        .collect();
    if bare.is_empty() {
        return;
    }
    for index in 0..drafts.len() {
        let fact = &drafts[index].fact;
        if !matches!(fact.class, FactClass::Constraint | FactClass::Decision | FactClass::Request) {
            continue;
        }
        let Some((chosen, rejected)) = contrast(&fact.value) else { continue };
        let at = fact.birth;
        let number = |draft: &Draft, text: &str| match &draft.form {
            Form::Value { number, .. } => {
                let spelled = format!("{} {}", number.raw, number.raw_unit);
                let glued = format!("{}{}", number.raw, number.raw_unit);
                holds_whole(text, spelled.trim()) || holds_whole(text, &glued)
            }
            _ => false,
        };
        let old =
            bare.iter().copied().rfind(|i| drafts[*i].fact.birth < at && number(&drafts[*i], &rejected));
        let new = bare.iter().copied().find(|i| drafts[*i].fact.birth <= at && number(&drafts[*i], &chosen));
        if let Some(old) = old {
            match new {
                // The new value was born earlier or in this message; the change dates from here.
                Some(new) if drafts[old].fact.superseded.is_none() => {
                    drafts[old].fact.superseded = Some((at, FactId(new as u32)));
                }
                Some(_) => {}
                None => replace(drafts, old, index),
            }
        }
    }
}

fn holds_whole(text: &str, needle: &str) -> bool {
    !needle.is_empty()
        && text.match_indices(needle).any(|(at, found)| {
            let before = text.get(..at).and_then(|t| t.chars().next_back());
            let after = text.get(at + found.len()..).and_then(|t| t.chars().next());
            !before.is_some_and(|c| c.is_alphanumeric() || c == '.')
                && !after.is_some_and(char::is_alphanumeric)
        })
}

/// What a sentence chooses and what it rejects: "X instead of Y", "X, not Y", "from Y to X".
fn contrast(text: &str) -> Option<(String, String)> {
    let lower = text.to_lowercase();
    for joint in [
        " instead of ",
        " rather than ",
        ", not ",
        " not ",
        " over ",
        "，不要",
        "，而不是",
        "而不是",
        " no longer ",
    ] {
        if let Some((chosen, rejected)) = lower.split_once(joint) {
            let rejected = rejected.split([',', ';', '.', '。', '，']).next().unwrap_or(rejected);
            let rejected = rejected.split(" because ").next().unwrap_or(rejected);
            return Some((chosen.to_owned(), rejected.to_owned()));
        }
    }
    if let Some((_, rest)) = lower.split_once("from ")
        && let Some((rejected, chosen)) = rest.split_once(" to ")
    {
        return Some((chosen.to_owned(), rejected.to_owned()));
    }
    None
}

/// Words that say a sentence changes an earlier one.
const TURNS: &[&str] = &[
    "instead",
    "actually",
    "changed my mind",
    "on second thought",
    "scrap",
    "revert",
    "no longer",
    "switch",
    "rather",
    "drop",
    "forget",
    "scratch that",
    "after all",
    "not anymore",
    "now",
    "改用",
    "不再",
    "改为",
    "やっぱり",
];

/// Decisions reversed, constraints lifted.
fn reversals(drafts: &mut [Draft]) {
    struct Standing {
        index: usize,
        sentence: Sentence,
        chosen: Vec<String>,
        constraint: bool,
    }
    let mut standing: Vec<Standing> = Vec::new();
    // Words lead to the sentences that hold them, so that a session of many sentences stays linear in its shared words.
    let mut by_word: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    for index in 0..drafts.len() {
        let fact = &drafts[index].fact;
        let constraint = fact.class == FactClass::Constraint;
        if !constraint && !matches!(fact.class, FactClass::Decision | FactClass::Request) {
            continue;
        }
        let value = fact.value.clone();
        let lower = value.to_lowercase();
        let sentence = sentence::analyse(&value);
        let lifting = sentences::is_lifting(&lower);
        let turn = lifting || TURNS.iter().any(|word| lower.contains(word));
        let contrast = contrast(&value);
        let rejected: Vec<String> =
            contrast.as_ref().map(|(_, rejected)| sentence::analyse(rejected).words).unwrap_or_default();
        let here = fact.birth;
        if turn || !rejected.is_empty() {
            let mut shared: FxHashMap<usize, u32> = FxHashMap::default();
            for word in &sentence.words {
                for place in by_word.get(word).into_iter().flatten() {
                    *shared.entry(*place).or_default() += 1;
                }
            }
            let mut shared: Vec<(usize, u32)> = shared.into_iter().collect();
            shared.sort_unstable();
            for (place, count) in shared {
                let Some(old) = standing.get(place) else { continue };
                if drafts[old.index].fact.birth >= here || drafts[old.index].fact.superseded.is_some() {
                    continue;
                }
                let takes_back = rejected
                    .iter()
                    .any(|word| old.chosen.contains(word) && !old.sentence.negated.contains(word));
                // Lifting a prohibition: what it forbade is allowed.
                let allows = lifting
                    && sentence.words.iter().any(|word| {
                        old.sentence.negated.contains(word)
                            && !sentence.negated.contains(word)
                            && word.len() > 3
                    });
                // The same choice in other words.
                let confirms = !takes_back
                    && !old.chosen.is_empty()
                    && old
                        .chosen
                        .iter()
                        .all(|word| sentence.words.contains(word) && !sentence.negated.contains(word));
                let entity = sentence.entities.iter().any(|entity| old.sentence.entities.contains(entity));
                let about = count >= 2 || entity;
                let replaced = if old.constraint {
                    (lifting && (allows || about)) || (takes_back && about)
                } else {
                    takes_back
                        || (turn
                            && !confirms
                            && drafts[index].fact.class == FactClass::Decision
                            && count >= 2)
                };
                if replaced {
                    replace(drafts, old.index, index);
                }
            }
        }
        if drafts[index].fact.class == FactClass::Request {
            continue;
        }
        let chosen =
            contrast.map_or_else(|| sentence.words.clone(), |(chosen, _)| sentence::analyse(&chosen).words);
        for word in &sentence.words {
            by_word.entry(word.clone()).or_default().push(standing.len());
        }
        standing.push(Standing { index, sentence, chosen, constraint });
    }
}
