//! What the index finds in a text, and what each hit means: how exactly a suffix names a file, a number a value, a unit a
//! sentence or the outcome of a check.

use super::leads::may_have_unit;
use super::{Lookup, Match, Needle, Scratch, Tier, Use, kept_words, part_words};
use crate::facts::{Fact, State};
use crate::fileops::TodoState;
use crate::matching;
use crate::matching::index::Sink;
use crate::matching::sentence::{self, Heading, Held, Stance, UnitRead};
use crate::transcript::{MessageIdx, Outcome};
use aho_corasick::AhoCorasick;
use compact_str::CompactString;
use rustc_hash::FxHashSet;
use std::cell::LazyCell;
use std::sync::LazyLock;

/// What a unit holds of a sentence, as far as it was told.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    unit: u32,
    /// A bit for each of its entities.
    entities: u32,
    /// Times that one of its words announced it.
    words: u32,
}

/// Receives what the index finds.
pub(super) struct Walk<'a> {
    lookup: &'a Lookup,
    end: MessageIdx,
    facts: Option<&'a [Fact]>,
    pub(super) scratch: &'a mut Scratch,
    /// Current unit.
    unit: (usize, usize),
    /// Last heading, as a byte range of the text.
    heading: (usize, usize),
    /// The heading that was read last, and what it says.
    read: ((usize, usize), Heading),
    /// Record stray paths (the text is a message of the log).
    pub(super) record: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        lookup: &'a Lookup,
        end: MessageIdx,
        facts: Option<&'a [Fact]>,
        scratch: &'a mut Scratch,
    ) -> Self {
        scratch.marks.resize(lookup.sentences.len(), Mark::default());
        scratch.seen.resize(lookup.index.words(), 0);
        scratch.told.resize(lookup.sentences.len(), MessageIdx(0));
        scratch.checked.resize(lookup.checks.len(), MessageIdx(0));
        let read = ((0, 0), Heading::default());
        Self { lookup, end, facts, scratch, unit: (0, 0), heading: (0, 0), read, record: false }
    }

    fn hit(&mut self, fact: u32, found: Match) {
        self.scratch.hits.push((fact, found));
    }

    /// Notes an entity of a sentence, or (0) one of its words. A sentence is to be judged from then on; for a mention, from
    /// when all is there that a mention needs.
    fn touch(&mut self, sentence: u32, entity: u32) {
        let unit = self.scratch.unit;
        let Some(mark) = self.scratch.marks.get_mut(sentence as usize) else { return };
        let first = mark.unit != unit;
        if first {
            *mark = Mark { unit, ..Mark::default() };
        }
        let is_new = mark.entities & entity == 0;
        mark.entities |= entity;
        mark.words += u32::from(entity == 0);
        let mark = *mark;
        if if self.record { is_new && self.may_mention(sentence, mark) } else { first } {
            self.scratch.touched.push(sentence);
        }
    }

    /// A suffix stands at `start..end`: which files does it name, and how well?
    fn resolve(&mut self, suffix: u32, text: &str, start: usize, end: usize) {
        let lookup = self.lookup;
        let Some(uses) = lookup.uses.get(suffix as usize) else { return };
        let (uses, unborn) = uses.split_at(uses.partition_point(|one| one.born < self.end));
        if uses.is_empty() {
            // A request names a file that is opened later: spelled in full it is a mention all the same.
            if self.record
                && let Some(first) = unborn.iter().find(|one| one.tier != Tier::Suffix)
                && unborn.iter().all(|one| one.fact == first.fact || one.tier == Tier::Suffix)
                && (first.tier == Tier::Absolute || lookup.index.suffix_text(suffix).contains('/'))
            {
                self.hit(first.fact, Match::Exact);
            }
            return;
        }
        let spelled = lookup.index.suffix_text(suffix);
        let bare = !spelled.contains('/')
            && !spelled.trim_start_matches('.').contains('.')
            && !spelled.starts_with('.');
        let weak = bare && !self.stands_apart(text, start, end);
        let best = uses.iter().map(|one| one.tier).min().unwrap_or(Tier::Suffix);
        let mut first: Option<u32> = None;
        let mut several = false;
        // A file made anew at the path of a moved one has the name to itself.
        let current = |one: &&Use| one.until >= self.end;
        let any_current = uses.iter().any(|one| current(&one));
        let names = uses.iter().filter(|one| !any_current || current(one));
        for one in names.filter(|one| best == Tier::Suffix || one.tier == best) {
            several |= first.is_some_and(|known| known != one.fact);
            first = Some(first.unwrap_or(one.fact));
        }
        for one in uses {
            let strength = if weak || (one.tier != best && best != Tier::Suffix) {
                Match::Ambiguous
            } else if one.tier == Tier::Absolute {
                Match::Exact
            } else if several {
                Match::Ambiguous
            } else if one.tier == Tier::Relative {
                Match::Exact
            } else {
                Match::Resolvable
            };
            // The former name of a renamed file does not tell where it is now.
            let strength = if one.until < self.end { strength.min(Match::Degraded) } else { strength };
            self.hit(one.fact, strength);
        }
    }

    /// Does the token stand in backticks or alone on its line or list item?
    fn stands_apart(&self, text: &str, start: usize, end: usize) -> bool {
        let bytes = text.as_bytes();
        if start > 0 && bytes.get(start - 1) == Some(&b'`') && bytes.get(end) == Some(&b'`') {
            return true;
        }
        let before = text.get(self.unit.0..start).unwrap_or("");
        let after = text.get(end..self.unit.1).unwrap_or("");
        let before = before.trim_matches(|c: char| c.is_whitespace() || "-*+•\"'`[(".contains(c));
        let before = before.trim_end_matches('.').trim_start_matches(|c: char| c.is_ascii_digit());
        let after = after.trim_matches(|c: char| c.is_whitespace() || ",;\"'`]).".contains(c));
        (before.is_empty() || before == ".") && after.is_empty()
    }

    /// Could the message mention a sentence, by what was just seen of it in a unit? It has to hold all entities or, where
    /// there are none, the words that announce it. One mention is enough, and the message that brought it is one anyway.
    fn may_mention(&self, number: u32, mark: Mark) -> bool {
        let Some(needle) = self.lookup.sentences.get(number as usize) else { return false };
        let entities = needle.sentence.entities.len() as u32;
        mark.entities.count_ones() == entities
            && (entities > 0 || mark.words == needle.announced)
            && self.scratch.told.get(number as usize) != Some(&self.end)
            && self.lookup.births.get(needle.fact as usize).is_none_or(|birth| birth.0 + 1 != self.end.0)
    }

    /// What stands in the unit of a sentence that was touched, if any of it counts.
    fn held(&self, number: u32) -> Option<Held> {
        let needle = self.lookup.sentences.get(number as usize)?;
        let entities = self.scratch.marks.get(number as usize).map_or(0, |mark| mark.entities);
        let here = |word: &u32| self.scratch.seen.get(*word as usize) == Some(&self.scratch.unit);
        let words = needle.words.iter().filter(|word| here(word)).count();
        if entities == 0 && (needle.words.is_empty() || words < part_words(needle.words.len())) {
            return None;
        }
        let (mut plain, mut unsaid) = (0, 0);
        for at in needle.sentence.plain.iter().map(|at| usize::from(*at)) {
            let here = needle.words.get(at).is_some_and(here);
            let word = needle.sentence.words.get(at).map_or("", CompactString::as_str);
            plain += usize::from(here);
            unsaid += usize::from(!here && matches!(word, "use" | "used" | "using"));
        }
        Some(Held { sentence: number, entities, words, plain, unsaid })
    }

    fn judge_sentence(&mut self, held: Held, text: &str, unit: &sentence::Unit<'_>) {
        let Held { sentence: number, entities, words: seen, plain: beside_seen, unsaid } = held;
        let Some(needle) = self.lookup.sentences.get(number as usize) else { return };
        let total = needle.sentence.words.len();
        let enough = seen >= kept_words(needle.words.len());
        let wanted = needle.sentence.entities.len() as u32;
        let held = entities.count_ones();
        // The words beside its entities; where something is permitted, some may go without saying: "CASCADE is an option".
        let beside = needle.sentence.plain.len();
        // A path in a list is most of the words of the rule that names it, and says nothing of the rule.
        let kept = held == wanted && enough && (total > 0 || wanted > 0) && beside_seen * 2 >= beside;
        // A mention is an exact match: what stands only in part matters for a summary, not for the log.
        if self.record && !kept {
            return;
        }
        let fact = needle.fact;
        // To contradict it a unit has to speak of the same thing.
        let speaks_of_it = held == wanted
            && (beside > 0 && beside_seen >= kept_words(beside)
                || wanted > 0 && beside_seen * 2 + unsaid >= beside && unit.offers());
        if kept || speaks_of_it {
            let heading = self.read_heading(text);
            let stance = sentence::stance(&needle.sentence, unit, heading);
            if speaks_of_it && stance == Stance::Reversed {
                self.hit(fact, Match::Contradicted);
                return;
            }
            if kept && needle.todo && self.todo_conflict(fact, unit.text(), heading) {
                self.hit(fact, Match::Contradicted);
                return;
            }
            if kept && stance == Stance::Same {
                if let Some(told) = self.scratch.told.get_mut(number as usize) {
                    *told = self.end;
                }
                self.hit(fact, Match::Exact);
                return;
            }
        }
        if !self.record {
            self.hit(fact, Match::Degraded);
        }
    }

    /// What the heading of the unit says, read once however many sentences ask.
    fn read_heading(&mut self, text: &str) -> Heading {
        let at = self.heading;
        if self.read.0 != at {
            self.read = (at, sentence::read_heading(text.get(at.0..at.1).unwrap_or("")));
        }
        self.read.1
    }

    /// Does the unit show a todo item in another state than the log has at this point?
    fn todo_conflict(&self, fact: u32, unit: &str, heading: Heading) -> bool {
        let Some(fact) = self.facts.and_then(|facts| facts.get(fact as usize)) else { return false };
        let Some(State::Todo(state)) = fact.state_at(self.end) else { return false };
        let (mut ticked, mut open) = (false, false);
        for mark in TODO_MARKS.as_ref().into_iter().flat_map(|marks| marks.find_iter(unit)) {
            if mark.pattern().as_usize() < TICKED.len() { ticked = true } else { open = true }
        }
        match state {
            TodoState::Done => open || (!ticked && heading.open),
            TodoState::Pending | TodoState::Active => ticked || (!open && heading.done),
            TodoState::Cancelled => false,
        }
    }

    fn judge_key(&mut self, key: u32, from: usize, text: &str, end: usize) {
        let Some(values) = self.lookup.keys.get(key as usize) else { return };
        let unit = text.get(..end).unwrap_or("");
        let numbers = matching::bound_numbers(unit, from);
        for (fact, wanted) in values {
            let mut strength = Match::LabelOnly;
            for (number, _) in &numbers {
                if number.raw == wanted.raw && number.raw_unit == wanted.raw_unit {
                    strength = Match::Exact;
                } else if number.number == wanted.number && number.unit == wanted.unit {
                    strength = strength.max(Match::Normalised);
                }
            }
            if strength != Match::LabelOnly || !self.record {
                self.scratch.hits.push((*fact, strength));
            }
        }
    }

    fn chain_of(&self, fact: u32) -> usize {
        self.facts
            .and_then(|facts| facts.get(fact as usize))
            .map_or(0, |fact| fact.value.matches(" && ").count())
    }

    /// `chain`: how often the unit has a command that runs after the success of another.
    fn judge_check<F: FnOnce() -> Option<Outcome>>(
        &mut self,
        check: u32,
        said: &LazyCell<Option<Outcome>, F>,
        chain: usize,
    ) {
        let Some(outcomes) = self.lookup.checks.get(check as usize) else { return };
        // One mention in a message is enough.
        if self.record && self.scratch.checked.get(check as usize) == Some(&self.end) {
            return;
        }
        let mut all = true;
        for (fact, states) in outcomes {
            let now = states.partition_point(|(at, _)| *at < self.end);
            let outcome =
                now.checked_sub(1).and_then(|last| states.get(last)).map_or(Outcome::Unknown, |it| it.1);
            let strength = match outcome {
                Outcome::Unknown => Match::Exact,
                outcome => match **said {
                    None => Match::LabelOnly,
                    Some(said) if outcome == said => Match::Exact,
                    // One of a longer chain failed; which, the text does not say.
                    Some(Outcome::Failed) if chain > self.chain_of(*fact) => Match::LabelOnly,
                    Some(_) => Match::Contradicted,
                },
            };
            all &= strength == Match::Exact;
            if strength == Match::Exact || !self.record {
                self.scratch.hits.push((*fact, strength));
            }
        }
        if all && let Some(checked) = self.scratch.checked.get_mut(check as usize) {
            *checked = self.end;
        }
    }
}

/// What marks a todo item as done, in any case of its letters.
const TICKED: &[&str] = &["[x]", "✓", "✔", "✅", "☑", "(done)", "(completed)", "— done", "- done"];
/// What marks one that is not.
const UNTICKED: &[&str] = &["[ ]", "☐", "(pending)", "(todo)", "[>]", "[~]", "(in progress)"];

/// All of these; no two of them can overlap.
static TODO_MARKS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().ascii_case_insensitive(true).build(TICKED.iter().chain(UNTICKED)).ok()
});

/// Does a unit say that something passed or failed? A unit that says both, or neither, says nothing.
fn said_outcome(unit: &sentence::Unit<'_>) -> Option<Outcome> {
    const GOOD: &[&str] = &[
        "ok",
        "pass",
        "passes",
        "passed",
        "passing",
        "green",
        "clean",
        "cleanly",
        "success",
        "succeeds",
        "succeeded",
        "successful",
        "successfully",
        "works",
        "fixed",
        "✓",
        "✅",
        "✔",
    ];
    const BAD: &[&str] = &[
        "fail", "fails", "failed", "failing", "failure", "failures", "red", "broken", "breaks", "error",
        "errors", "errored", "✗", "❌", "✘",
    ];
    static SAYS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        AhoCorasick::builder().ascii_case_insensitive(true).build(GOOD.iter().chain(BAD)).ok()
    });
    if SAYS.as_ref().is_some_and(|says| !says.is_match(unit.text())) {
        return None;
    }
    let wide = !unit.text().is_ascii();
    let mut good = wide && unit.text().contains(['✓', '✅', '✔']);
    let mut bad = wide && unit.text().contains(['✗', '❌', '✘']);
    let mut previous = "";
    for word in &unit.reading().words {
        let text = word.text.as_str();
        // `0 failed`, `no errors`, `not passing`.
        let none = word.negated || previous == "0" || previous == "zero";
        if GOOD.contains(&text) {
            if word.negated { bad = true } else { good = true }
        } else if BAD.contains(&text) {
            if none { good = true } else { bad = true }
        }
        previous = text;
    }
    match (good, bad) {
        (true, false) => Some(Outcome::Ok),
        (false, true) => Some(Outcome::Failed),
        _ => None,
    }
}

impl Sink for Walk<'_> {
    fn unit(&mut self, _text: &str, start: usize, end: usize) {
        self.unit = (start, end);
        self.scratch.unit += 1;
    }

    fn phrase(&mut self, phrase: u32, _start: usize, end: usize) {
        match self.lookup.needles.get(phrase as usize) {
            Some(Needle::Atom { fact, strength }) if !self.record || *strength == Match::Exact => {
                self.hit(*fact, *strength);
            }
            Some(Needle::Atom { .. }) => {}
            Some(Needle::Key(key)) => self.scratch.keys.push((*key, end)),
            Some(Needle::Entity { sentence, slot }) => {
                self.touch(*sentence, 1 << (slot & 31));
            }
            // Rare characters: the whole suffix stands here, with nothing of a path touching it.
            Some(Needle::Suffix(suffix)) => {
                let text = self.lookup.index.suffix_text(*suffix);
                self.resolve(*suffix, text, 0, text.len());
            }
            Some(Needle::Check(check)) => self.scratch.checks.push(*check),
            None => {}
        }
    }

    fn word(&mut self, word: u32, sentences: &[u32]) {
        let unit = self.scratch.unit;
        let Some(seen) = self.scratch.seen.get_mut(word as usize) else { return };
        if *seen == unit {
            return;
        }
        *seen = unit;
        for sentence in sentences {
            self.touch(*sentence, 0);
        }
    }

    fn number(&mut self, text: &str, start: usize) {
        if !self.lookup.leads.may_begin(text, start) || !may_have_unit(text, start) {
            return;
        }
        let Some(found) = matching::quantity_at(text, start) else { return };
        let lookup = self.lookup;
        let Some(list) = lookup.quantities.get(&(found.number, found.unit)) else { return };
        for (fact, raw, raw_unit) in list {
            let strength = if *raw == found.raw && *raw_unit == found.raw_unit {
                Match::Exact
            } else {
                Match::Normalised
            };
            self.hit(*fact, strength);
        }
    }

    fn suffix(&mut self, suffix: u32, text: &str, start: usize, end: usize) {
        self.resolve(suffix, text, start, end);
    }

    fn stray(&mut self, basename: u32, token: &str) {
        let hash = {
            use std::hash::Hasher;
            let mut hasher = rustc_hash::FxHasher::default();
            hasher.write(token.as_bytes());
            hasher.finish()
        };
        if self.record {
            self.scratch.strays.entry(hash).or_insert(MessageIdx(self.end.0 - 1));
            return;
        }
        // The log itself names the path: it is another file, not a mutation.
        if self.lookup.strays.get(&hash).is_some_and(|first| *first < self.end) {
            return;
        }
        let lookup = self.lookup;
        let Some(uses) = lookup.uses.get(basename as usize) else { return };
        let facts: FxHashSet<u32> =
            uses.iter().filter(|one| one.born < self.end).map(|one| one.fact).collect();
        let strength = if facts.len() == 1 { Match::Mutated } else { Match::Ambiguous };
        let mut facts: Vec<u32> = facts.into_iter().collect();
        facts.sort_unstable();
        for fact in facts {
            self.hit(fact, strength);
        }
    }

    /// Where a sentence is to be judged by its words; most units announce none.
    fn wants_words(&self) -> bool {
        self.record && !self.scratch.touched.is_empty()
    }

    fn unit_end(&mut self, text: &str, start: usize, end: usize, read: &UnitRead) {
        if !self.scratch.keys.is_empty() {
            let mut keys = std::mem::take(&mut self.scratch.keys);
            for (key, from) in keys.drain(..) {
                self.judge_key(key, from, text, end);
            }
            self.scratch.keys = keys;
        }
        let unit = sentence::Unit::new(text.get(start..end).unwrap_or(""), read);
        if !self.scratch.checks.is_empty() {
            let mut checks = std::mem::take(&mut self.scratch.checks);
            let said = LazyCell::new(|| said_outcome(&unit));
            for check in checks.drain(..) {
                self.judge_check(check, &said, unit.text().matches(" && ").count());
            }
            self.scratch.checks = checks;
        }
        let mut touched = std::mem::take(&mut self.scratch.touched);
        let held = match read.held.get() {
            None if touched.is_empty() => &[],
            _ => &**read.held.get_or_init(|| touched.iter().filter_map(|one| self.held(*one)).collect()),
        };
        touched.clear();
        self.scratch.touched = touched;
        for held in held {
            self.judge_sentence(*held, text, &unit);
        }
    }

    fn heading(&mut self, start: usize, end: usize) {
        self.heading = (start, end);
    }
}
