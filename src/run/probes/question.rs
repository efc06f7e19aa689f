//! A closed question about one fact: what is asked, the options in their order, and which of them is right.
//!
//! Each kind of fact has a form of its own. Where a fact has states (files, commands, items of a plan) the options are all the
//! states there are; else they are the fact and others that are not true of the conversation: what comes up only later, what was
//! replaced, the fact with another number or name in it, and, where none of these is to be had, what belongs to other projects.
//! The last option is always that the conversation does not tell.

use super::distract::{
    CONSTRAINTS, DECISIONS, Dice, ERRORS, REQUESTS, altered, components, renamed, renumbered, scaled, shape,
    shown,
};
use crate::facts::{Fact, FactClass, FactId, FactSet, State};
use crate::fileops::TodoState;
use crate::paths;
use crate::transcript::{MessageIdx, Outcome};

/// What a question is about; the terms are those of other evaluations of compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Errors, commands with how they ended, identifiers, values.
    Recall,
    /// What became of files.
    Artifact,
    /// Decisions, and rules of the user.
    Decision,
    /// What is asked for, and what of the plan is open.
    Continuation,
}

impl Kind {
    /// Of a class of facts.
    pub(super) fn of(class: FactClass) -> Self {
        match class {
            FactClass::Command
            | FactClass::Check
            | FactClass::Error
            | FactClass::Identifier
            | FactClass::Value => Self::Recall,
            FactClass::FileRead
            | FactClass::FileModified
            | FactClass::FileCreated
            | FactClass::FileDeleted
            | FactClass::FileRenamed => Self::Artifact,
            FactClass::Constraint | FactClass::Decision => Self::Decision,
            FactClass::Todo | FactClass::Request => Self::Continuation,
        }
    }

    /// Name as written.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Recall => "recall",
            Self::Artifact => "artifact",
            Self::Decision => "decision",
            Self::Continuation => "continuation",
        }
    }
}

/// A question with its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    /// What is asked, in one or two lines.
    pub(super) text: String,
    /// Two or more, and at the end that the conversation does not tell.
    pub(super) options: Vec<String>,
    /// Place of the right one.
    pub(super) want: usize,
    /// Places of what was true before.
    pub(super) stale: Vec<usize>,
}

/// The last option.
pub(super) const UNTOLD: &str = "The conversation does not tell.";

/// Wrong options of a question with free ones.
const WRONG: usize = 3;

/// Of those, sentences that differ from the right one in one thing that they name.
const ALTERED: usize = 2;

/// Most characters of a command that is asked about.
const LONGEST_COMMAND: usize = 300;

/// What a session offers for questions about one prefix.
pub(super) struct Ground<'a> {
    /// Session id.
    pub(super) session: &'a str,
    /// Facts of the whole session: what comes only later is no option that could be right.
    pub(super) facts: &'a FactSet,
    /// Messages before this one are the prefix.
    pub(super) end: MessageIdx,
    /// The prefix as it is shown, in lower case.
    pub(super) text: &'a str,
    /// Working directory.
    pub(super) cwd: Option<&'a str>,
    /// Of the order of options, and of the choice among wrong ones.
    pub(super) seed: u64,
}

impl Ground<'_> {
    /// The question about a fact that counts at the prefix with this class; `None` where no closed question can be put.
    pub(super) fn question(&self, id: FactId, class: FactClass) -> Option<Question> {
        let fact = self.facts.get(id)?;
        let mut dice = Dice::new(self.seed, &["options", self.session, class.name(), &fact.value]);
        match class {
            _ if class.is_file() => self.file(fact, class, &mut dice),
            FactClass::Command | FactClass::Check => self.run(fact, &mut dice),
            FactClass::Todo => self.item(fact, &mut dice),
            FactClass::Value => self.value(fact, &mut dice),
            FactClass::Identifier => {
                let text = "Which of these names or identifiers came up in the conversation?";
                self.free(text, fact, self.names(fact, &mut dice), &[], &mut dice)
            }
            FactClass::Error => {
                let later = self.later(class);
                let others = renumbered(&fact.value, &mut dice)
                    .into_iter()
                    .chain(later)
                    .chain(stock(&ERRORS, &mut dice));
                self.free(
                    "Which of these errors came up in the conversation?",
                    fact,
                    others.collect(),
                    &[],
                    &mut dice,
                )
            }
            FactClass::Constraint => {
                let text = "Which of these rules did the user set (and it still holds)?";
                let replaced = self.replaced(class, fact);
                self.free(
                    text,
                    fact,
                    self.sentences(fact, class, &CONSTRAINTS, &mut dice),
                    &replaced,
                    &mut dice,
                )
            }
            FactClass::Decision => {
                let text = "Which of these was settled in the conversation (and it still holds)?";
                let replaced = self.replaced(class, fact);
                self.free(
                    text,
                    fact,
                    self.sentences(fact, class, &DECISIONS, &mut dice),
                    &replaced,
                    &mut dice,
                )
            }
            FactClass::Request => {
                let text = "Which of these did the user ask for?";
                self.free(text, fact, self.sentences(fact, class, &REQUESTS, &mut dice), &[], &mut dice)
            }
            _ => None,
        }
    }

    /// What became of a file.
    fn file(&self, fact: &Fact, class: FactClass, dice: &mut Dice) -> Option<Question> {
        const STATES: [(FactClass, &str); 5] = [
            (FactClass::FileRead, "It was only read."),
            (FactClass::FileModified, "It was there before, and was changed."),
            (FactClass::FileCreated, "It was made in this conversation."),
            (FactClass::FileDeleted, "It was removed, and is gone."),
            (FactClass::FileRenamed, "It was moved or renamed to this path."),
        ];
        let entry = self.facts.ledger.files.get(fact.file? as usize)?;
        let name = paths::relative(entry.name_at(self.end), self.cwd);
        let text = format!("What became of the file {name} in the conversation so far?");
        states(text, &STATES, class, dice)
    }

    /// How a command ended.
    fn run(&self, fact: &Fact, dice: &mut Dice) -> Option<Question> {
        const ENDS: [(Outcome, &str); 2] = [(Outcome::Ok, "It succeeded."), (Outcome::Failed, "It failed.")];
        if fact.value.chars().count() > LONGEST_COMMAND {
            return None;
        }
        let Some(State::Outcome(outcome)) = fact.state_at(self.end) else { return None };
        let text = format!("How did this command end when it was run last?\n{}", shown(&fact.value));
        states(text, &ENDS, outcome, dice)
    }

    /// Where an item of a plan stands.
    fn item(&self, fact: &Fact, dice: &mut Dice) -> Option<Question> {
        const STATES: [(bool, &str); 2] =
            [(false, "It is still to be done, or under way."), (true, "It is done.")];
        let Some(State::Todo(state)) = fact.state_at(self.end) else { return None };
        let text = format!("How far is this item of the agent's plan?\n{}", shown(&fact.value));
        states(text, &STATES, state == TodoState::Done, dice)
    }

    /// A value by its key, or one that came up.
    fn value(&self, fact: &Fact, dice: &mut Dice) -> Option<Question> {
        let Some((key, right)) = fact.value.split_once(" = ") else {
            let near = scaled(&fact.value, dice);
            let others = near.into_iter().chain(self.alike(&fact.value, FactClass::Value));
            let text = "Which of these amounts or settings came up in the conversation?";
            return self.free(text, fact, others.collect(), &[], dice);
        };
        let same_key = |other: &&Fact| {
            other.class == FactClass::Value
                && other.birth < self.end
                && other.value.split_once(" = ").is_some_and(|(name, _)| name.eq_ignore_ascii_case(key))
        };
        let of_key: Vec<&Fact> = self.facts.facts.iter().filter(same_key).collect();
        let number = |fact: &Fact| fact.value.split_once(" = ").map(|(_, number)| number.to_owned());
        let is_live = |fact: &Fact| fact.superseded.is_none_or(|(from, _)| from >= self.end);
        // Where one key goes with several numbers no single one is right.
        if of_key.iter().any(|other| is_live(other) && other.value != fact.value) {
            return None;
        }
        let replaced: Vec<String> =
            of_key.iter().filter(|other| !is_live(other)).filter_map(|other| number(other)).collect();
        let text = format!("What does `{key}` stand at, by what the conversation says of it last?");
        let right = right.to_owned();
        let mut wrong: Vec<String> = Vec::new();
        let stale: Vec<String> = replaced.into_iter().rev().filter(|old| *old != right).take(1).collect();
        for one in stale.iter().cloned().chain(scaled(&right, dice)) {
            if one != right && !wrong.contains(&one) && wrong.len() < WRONG {
                wrong.push(one);
            }
        }
        put(text, &right, wrong, &stale, dice)
    }

    /// Facts of a class that come up only behind the prefix, in order.
    fn later(&self, class: FactClass) -> Vec<String> {
        let is_later = |fact: &&Fact| {
            fact.class == class
                && fact.birth >= self.end
                && fact.mentions.first().is_none_or(|at| *at >= self.end)
        };
        self.facts.facts.iter().filter(is_later).map(|fact| fact.value.clone()).collect()
    }

    /// Those of the same shape as `value`.
    fn alike(&self, value: &str, class: FactClass) -> Vec<String> {
        let wanted = shape(value);
        self.later(class).into_iter().filter(|later| shape(later) == wanted).collect()
    }

    /// The newest fact of a class that another one has replaced before the prefix ends; by the fact itself where it has one.
    fn replaced(&self, class: FactClass, fact: &Fact) -> Vec<String> {
        let gone =
            |other: &&Fact| other.class == class && other.superseded.is_some_and(|(from, _)| from < self.end);
        let by_it = |other: &&Fact| {
            other.superseded.and_then(|(_, by)| self.facts.get(by)).is_some_and(|by| by.value == fact.value)
        };
        let all: Vec<&Fact> = self.facts.facts.iter().filter(gone).collect();
        let one = all.iter().copied().find(by_it).or(all.last().copied());
        one.into_iter().map(|other| other.value.clone()).collect()
    }

    /// Names like a name.
    fn names(&self, fact: &Fact, dice: &mut Dice) -> Vec<String> {
        let words = self.words();
        let mut out = self.alike(&fact.value, FactClass::Identifier);
        for _ in 0..2 * WRONG {
            out.extend(renumbered(&fact.value, dice).or_else(|| renamed(&fact.value, &words, dice)));
        }
        out
    }

    /// Sentences like a sentence: some that differ in what they name, later ones, those of other projects.
    fn sentences(&self, fact: &Fact, class: FactClass, others: &[&str], dice: &mut Dice) -> Vec<String> {
        // What another sentence says of the thing that is named in its place might make it true.
        let is_said = |named: &str| {
            let says = |other: &Fact| {
                matches!(other.class, FactClass::Constraint | FactClass::Decision | FactClass::Request)
                    && other.birth < self.end
                    && other.value.contains(named)
            };
            self.facts.facts.iter().any(says)
        };
        let words = self.words();
        let mut out: Vec<String> = Vec::new();
        for _ in 0..2 * ALTERED {
            let one = altered(&fact.value, &words, dice).filter(|(_, named)| !is_said(named));
            out.extend(one.map(|(sentence, _)| sentence).filter(|one| !out.contains(one)));
        }
        out.truncate(ALTERED);
        out.into_iter().chain(self.later(class)).chain(stock(others, dice)).collect()
    }

    /// Components of the names that come up anywhere in the session.
    fn words(&self) -> Vec<String> {
        let named = self
            .facts
            .facts
            .iter()
            .filter(|fact| fact.class == FactClass::Identifier || fact.class.is_file());
        components(named.map(|fact| fact.value.as_str()))
    }

    /// A question with free options: the fact, what was true before, and others, none of which stands in the prefix.
    fn free(
        &self,
        text: &str,
        fact: &Fact,
        others: Vec<String>,
        replaced: &[String],
        dice: &mut Dice,
    ) -> Option<Question> {
        let right = shown(&fact.value);
        let mut wrong: Vec<String> = Vec::new();
        let stale: Vec<String> = replaced.iter().map(|old| shown(old)).filter(|old| *old != right).collect();
        wrong.extend(stale.iter().cloned());
        for other in others {
            let other = shown(&other);
            let taken = other == right || wrong.contains(&other) || self.text.contains(&other.to_lowercase());
            if !taken && wrong.len() < WRONG {
                wrong.push(other);
            }
        }
        put(text.to_owned(), &right, wrong, &stale, dice)
    }
}

/// Some of a stock, in a random order.
fn stock(all: &[&str], dice: &mut Dice) -> Vec<String> {
    let mut all: Vec<String> = all.iter().map(|one| (*one).to_owned()).collect();
    dice.shuffle(&mut all);
    all
}

/// A question whose options are all states there are.
fn states<S: PartialEq + Copy>(text: String, all: &[(S, &str)], now: S, dice: &mut Dice) -> Option<Question> {
    let right = all.iter().find(|(state, _)| *state == now)?.1;
    let wrong = all.iter().filter(|(state, _)| *state != now).map(|(_, name)| (*name).to_owned()).collect();
    put(text, right, wrong, &[], dice)
}

/// Puts the options in their order; `None` where there is nothing to choose from.
fn put(text: String, right: &str, wrong: Vec<String>, stale: &[String], dice: &mut Dice) -> Option<Question> {
    if wrong.is_empty() {
        return None;
    }
    let mut options: Vec<String> = wrong;
    options.push(right.to_owned());
    // By their text first: the order in which they were found tells which is right.
    options.sort_unstable();
    dice.shuffle(&mut options);
    let want = options.iter().position(|option| option == right)?;
    let stale =
        options.iter().enumerate().filter(|(_, option)| stale.contains(option)).map(|(at, _)| at).collect();
    options.push(UNTOLD.to_owned());
    Some(Question { text, options, want, stale })
}
