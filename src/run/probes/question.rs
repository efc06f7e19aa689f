//! A closed question about one fact: what is asked, the options in their order, and which of them is right.
//!
//! Each kind of fact has a form of its own. Where a fact has states (files, commands, items of a plan) the options are all the
//! states there are; else they are the fact, what it replaced, and the fact with another number, name or word in one place, as
//! the conversation never has it. The last option is always that the conversation does not tell.

use super::distract::{Dice, Words, numbers, renumbered, shown};
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

/// Most characters of a command that is asked about.
const LONGEST_COMMAND: usize = 300;

/// What a session offers for questions about one prefix.
pub(super) struct Ground<'a> {
    /// Session id.
    pub(super) session: &'a str,
    /// Facts of the whole session.
    pub(super) facts: &'a FactSet,
    /// What may take the place of words and names.
    pub(super) words: Words,
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
                self.free(text, fact, self.names(&fact.value, &mut dice), &mut dice)
            }
            FactClass::Error => {
                let others = self.words.altered(&fact.value, WRONG, &|_| false, &mut dice);
                self.free("Which of these errors came up in the conversation?", fact, others, &mut dice)
            }
            FactClass::Constraint => self.sentence(RULE, fact, &mut dice),
            FactClass::Decision => self.sentence(CHOICE, fact, &mut dice),
            FactClass::Request => self.sentence(WISH, fact, &mut dice),
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
            let text = "Which of these amounts or settings came up in the conversation?";
            return self.free(text, fact, numbers(&fact.value, 2 * WRONG, dice), dice);
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
        let mut wrong: Vec<String> = Vec::new();
        let stale: Vec<String> = replaced.into_iter().rev().filter(|old| old != right).take(1).collect();
        for one in stale.iter().cloned().chain(numbers(right, WRONG, dice)) {
            if one != right && !wrong.contains(&one) && wrong.len() < WRONG {
                wrong.push(one);
            }
        }
        put(text, right, wrong, &stale, dice)
    }

    /// Names like a name.
    fn names(&self, name: &str, dice: &mut Dice) -> Vec<String> {
        let like = |dice: &mut Dice| renumbered(name, dice).or_else(|| self.words.renamed(name, dice));
        (0..4 * WRONG).filter_map(|_| like(dice)).collect()
    }

    /// Which of some sentences was said.
    fn sentence(&self, text: &str, fact: &Fact, dice: &mut Dice) -> Option<Question> {
        // What another sentence says of the thing that would be named might make it true.
        let is_said = |named: &str| {
            let says =
                |other: &Fact| is_sentence(other) && other.birth < self.end && other.value.contains(named);
            self.facts.facts.iter().any(says)
        };
        self.free(text, fact, self.words.altered(&fact.value, WRONG, &is_said, dice), dice)
    }

    /// A question with free options: the fact, what it replaced, and others, none of which stands in the prefix. What was asked for
    /// was asked for all the same when it was replaced.
    fn free(&self, text: &str, fact: &Fact, others: Vec<String>, dice: &mut Dice) -> Option<Question> {
        let right = shown(&fact.value);
        let by_it = |other: &&Fact| {
            other.class == fact.class
                && other.class != FactClass::Request
                && other.superseded.is_some_and(|(from, by)| {
                    from < self.end && self.facts.get(by).is_some_and(|by| by.value == fact.value)
                })
        };
        let replaced = self.facts.facts.iter().find(by_it).map(|old| shown(&old.value));
        let stale: Vec<String> = replaced.into_iter().filter(|old| *old != right).collect();
        let mut wrong = stale.clone();
        for other in others {
            let other = shown(&other);
            if wrong.len() < WRONG && other != right && !wrong.contains(&other) && !self.stands(&other) {
                wrong.push(other);
            }
        }
        // What was replaced is told from what replaced it by its subject.
        if wrong.len() == stale.len() {
            return None;
        }
        put(text.to_owned(), &right, wrong, &stale, dice)
    }

    /// It stands in the prefix, with its blanks or without.
    fn stands(&self, option: &str) -> bool {
        let lower = option.to_lowercase();
        let dense: String = lower.split_whitespace().collect();
        self.text.contains(&lower) || self.text.contains(&dense)
    }
}

/// A fact that is a sentence.
pub(super) fn is_sentence(fact: &Fact) -> bool {
    matches!(fact.class, FactClass::Constraint | FactClass::Decision | FactClass::Request)
}

/// What is asked about rules, decisions and requests.
const RULE: &str = "Which of these rules did the user set (and it still holds)?";
const CHOICE: &str = "Which of these was settled in the conversation (and it still holds)?";
const WISH: &str = "Which of these did the user ask for?";

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
