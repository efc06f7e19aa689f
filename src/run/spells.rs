//! How long facts last: spells over the cycles of one replay.
//!
//! A spell begins when a fact comes to be at risk, for then only the generated text can hold it. It ends in loss at the
//! first cycle whose text does not; it is censored when the log mentions the fact again, when the fact ceases to be one
//! (superseded, cancelled), and when the replay ends. What was lost begins a new spell only after a new mention.

use crate::facts::{Fact, FactClass, FactSet};
use crate::score::Fate;
use crate::transcript::MessageIdx;
use std::collections::BTreeMap;

/// What a fact's spell says of one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Life {
    /// Cycles since the spell began, from 1.
    pub(super) age: u32,
    /// It ends in loss here, the first time for this fact.
    pub(super) first_loss: bool,
}

/// The spells of one replay.
#[derive(Debug, Default)]
pub(super) struct Spells {
    facts: Vec<State>,
    ended: BTreeMap<(FactClass, u32), Ends>,
}

/// Spells of one class that ended at one age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Ends {
    pub(super) lost: u64,
    pub(super) censored: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// Class and age of the spell under way.
    open: Option<(FactClass, u32)>,
    /// The cycle it was last seen in, from 1.
    cycle: u32,
    /// Lost at this trigger, and not mentioned since.
    lost_at: Option<MessageIdx>,
    ever_lost: bool,
}

impl Spells {
    /// Takes in the next cycle. `before` is the trigger of the one before it, `now` its own; facts are those of the
    /// session, fates those of its live facts. Gives, for each fate, what its spell says.
    pub(super) fn cycle(
        &mut self,
        facts: &FactSet,
        fates: &[Fate],
        number: u32,
        before: MessageIdx,
        now: MessageIdx,
    ) -> Vec<Option<Life>> {
        self.facts.resize(facts.facts.len(), State::default());
        let lives = fates
            .iter()
            .map(|fate| {
                let fact = facts.get(fate.id)?;
                let state = self.facts.get_mut(fate.id.get())?;
                state.cycle = number;
                if !fate.at_risk || mentioned(fact, before, now) {
                    censor(state, &mut self.ended);
                }
                if !fate.at_risk {
                    state.lost_at = None;
                    return None;
                }
                if state.lost_at.is_some_and(|at| !mentioned(fact, at, now)) {
                    return None;
                }
                state.lost_at = None;
                let (class, age) = state.open.map_or((fate.class, 1), |(class, age)| (class, age + 1));
                if fate.tier.is_present() {
                    state.open = Some((class, age));
                    return Some(Life { age, first_loss: false });
                }
                state.open = None;
                state.lost_at = Some(now);
                self.ended.entry((class, age)).or_default().lost += 1;
                let first_loss = !std::mem::replace(&mut state.ever_lost, true);
                Some(Life { age, first_loss })
            })
            .collect();
        // What has no fate is no live fact any more.
        for state in self.facts.iter_mut().filter(|state| state.cycle != number) {
            censor(state, &mut self.ended);
        }
        lives
    }

    /// The replay ends. Spells by class and age.
    pub(super) fn finish(mut self) -> BTreeMap<(FactClass, u32), Ends> {
        for state in &mut self.facts {
            censor(state, &mut self.ended);
        }
        self.ended
    }
}

/// Ends the spell of a fact that may live on.
fn censor(state: &mut State, ended: &mut BTreeMap<(FactClass, u32), Ends>) {
    if let Some(spell) = state.open.take() {
        ended.entry(spell).or_default().censored += 1;
    }
}

/// Does the log mention a fact from one message up to another?
fn mentioned(fact: &Fact, from: MessageIdx, to: MessageIdx) -> bool {
    let next = fact.mentions.partition_point(|at| *at < from);
    fact.mentions.get(next).is_some_and(|at| *at < to)
}

#[cfg(test)]
mod tests;
