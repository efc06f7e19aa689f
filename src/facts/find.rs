//! Finding facts in a text: the session's needles over [`crate::matching`], and what each hit means.
//!
//! One pass over the text whatever the number of facts. The same pass, with the log's own messages as texts, makes
//! the mentions. Where a text holds a fact in several ways the strongest stands: exact, resolvable, normalised,
//! contradicted, mutated, degraded, ambiguous, label only.

use super::{Fact, FactClass, FactId, Form, Ledger, State};
use crate::fileops::TodoState;
use crate::matching::index::{Border, Index, Remembered, Room, Sink};
use crate::matching::sentence::{self, Heading, Held, Sentence, Stance, UnitRead};
use crate::matching::{self, Quantity};
use crate::paths;
use crate::transcript::{MessageIdx, Outcome, Transcript};
use aho_corasick::AhoCorasick;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::LazyCell;
use std::sync::{Arc, LazyLock};

mod leads;
#[cfg(test)]
mod tests;

use leads::{Leads, may_have_unit};

/// How a fact stands in a text. The order is from weakest to strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Match {
    /// Nothing of it.
    Absent,
    /// The key or class survives and the value is gone.
    LabelOnly,
    /// Only a suffix or basename that several paths share, or a bare word.
    Ambiguous,
    /// At least 0.35 of the content words or one entity of a sentence; the former name of a renamed file.
    Degraded,
    /// The basename stands under a directory in which no such file ever existed.
    Mutated,
    /// The sentence with its negation or limit gone or reversed; the check or todo item with another outcome.
    Contradicted,
    /// The value, equal only after its unit or thousands separators are spelled one way.
    Normalised,
    /// A suffix that is unique among the paths of the prefix.
    Resolvable,
    /// The absolute or cwd-relative path; the atom as a whole token; the sentence kept.
    Exact,
}

impl Match {
    /// True for what counts as present in the headline.
    pub fn is_present(self) -> bool {
        self >= Self::Resolvable
    }

    /// Name as written in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::LabelOnly => "label-only",
            Self::Ambiguous => "ambiguous",
            Self::Degraded => "degraded",
            Self::Mutated => "mutated",
            Self::Contradicted => "contradicted",
            Self::Normalised => "normalised",
            Self::Resolvable => "resolvable",
            Self::Exact => "exact",
        }
    }
}

/// What of a session stands in a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Sorted by fact, each once, never [`Match::Absent`].
    hits: Vec<(FactId, Match)>,
}

impl Found {
    /// How a fact stands there.
    pub fn get(&self, id: FactId) -> Match {
        self.hits.binary_search_by_key(&id, |(fact, _)| *fact).map_or(Match::Absent, |at| self.hits[at].1)
    }

    /// Facts that stand there in any way, by id.
    pub fn iter(&self) -> impl Iterator<Item = (FactId, Match)> + '_ {
        self.hits.iter().copied()
    }

    /// Number of facts that are present.
    pub fn present(&self) -> usize {
        self.hits.iter().filter(|(_, found)| found.is_present()).count()
    }
}

/// What a phrase of the index stands for.
#[derive(Debug, Clone, Copy)]
enum Needle {
    Atom { fact: u32, strength: Match },
    Key(u32),
    Entity { sentence: u32, slot: u8 },
    Suffix(u32),
    Check(u32),
}

/// How exactly a suffix names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    Absolute,
    Relative,
    Suffix,
}

/// One name of one file that has the suffix.
#[derive(Debug, Clone, Copy)]
struct Use {
    /// The name exists from this message on.
    born: MessageIdx,
    /// Until another name took its place.
    until: MessageIdx,
    fact: u32,
    tier: Tier,
}

#[derive(Debug)]
struct SentenceNeedle {
    fact: u32,
    sentence: Arc<Sentence>,
    /// Numbers of its words in the index.
    words: Vec<u32>,
    /// Times that its words have to announce it in a unit of the log, where it has no entities.
    announced: u32,
    todo: bool,
}

/// The needles of a session.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    index: Index,
    needles: Vec<Needle>,
    births: Vec<MessageIdx>,
    /// Per suffix, its uses sorted by birth.
    uses: Vec<Vec<Use>>,
    /// Per key: facts with their number.
    keys: Vec<Vec<(u32, Quantity)>>,
    /// Values that stand without a key: by number and unit.
    quantities: FxHashMap<(String, &'static str), Vec<(u32, String, String)>>,
    /// How their numbers begin.
    leads: Leads,
    sentences: Vec<SentenceNeedle>,
    /// Per check head: facts with their outcome.
    checks: Vec<Vec<(u32, Vec<(MessageIdx, Outcome)>)>>,
    /// Path tokens of the log that end in a known basename but are no path of the ledger, with their first message.
    strays: FxHashMap<u64, MessageIdx>,
}

impl Lookup {
    pub(super) fn new(transcript: &Transcript, facts: &[Fact], forms: &[Form], ledger: &Ledger) -> Self {
        let mut lookup = Self {
            index: Index::new(),
            births: facts.iter().map(|fact| fact.birth).collect(),
            ..Self::default()
        };
        let mut cwds: Vec<&str> = Vec::new();
        let mut last: Option<&str> = None;
        for cwd in transcript.messages.iter().filter_map(|message| message.cwd.as_deref()) {
            if last != Some(cwd) && !cwds.contains(&cwd) {
                cwds.push(cwd);
            }
            last = Some(cwd);
        }
        let cwds: Vec<String> = cwds.iter().map(|cwd| paths::resolve(cwd, None)).collect();
        let mut keys: FxHashMap<String, u32> = FxHashMap::default();
        let mut checks: FxHashMap<&str, u32> = FxHashMap::default();
        for (index, (fact, form)) in facts.iter().zip(forms).enumerate() {
            let id = index as u32;
            match form {
                Form::File => lookup.add_file(id, fact, ledger, &cwds),
                Form::Atom { surfaces, border, label } => {
                    for surface in surfaces {
                        lookup.add_phrase(
                            surface,
                            Needle::Atom { fact: id, strength: Match::Exact },
                            *border,
                        );
                    }
                    if let Some(label) = label {
                        lookup.add_phrase(
                            label,
                            Needle::Atom { fact: id, strength: Match::LabelOnly },
                            Border::Name,
                        );
                    }
                }
                Form::Value { key: Some(key), number } => {
                    let next = lookup.keys.len() as u32;
                    let slot = *keys.entry(key.to_lowercase()).or_insert(next);
                    if slot == next {
                        lookup.keys.push(Vec::new());
                        for spelling in spellings(key) {
                            lookup.add_phrase(&spelling, Needle::Key(slot), Border::Name);
                        }
                    }
                    if let Some(list) = lookup.keys.get_mut(slot as usize) {
                        list.push((id, number.clone()));
                    }
                }
                Form::Value { key: None, number } => {
                    lookup.leads.add(&number.number);
                    let list = lookup.quantities.entry((number.number.clone(), number.unit)).or_default();
                    list.push((id, number.raw.clone(), number.raw_unit.clone()));
                }
                Form::Sentence(read) => lookup.add_sentence(id, fact, read.clone()),
                Form::Check { head } => {
                    let next = lookup.checks.len() as u32;
                    let slot = *checks.entry(head).or_insert(next);
                    if slot == next {
                        lookup.checks.push(Vec::new());
                        lookup.add_phrase(head, Needle::Check(slot), Border::Name);
                    }
                    let outcomes = fact.states.iter().filter_map(|(at, state)| match state {
                        State::Outcome(outcome) => Some((*at, *outcome)),
                        State::File(_) | State::Todo(_) => None,
                    });
                    if let Some(list) = lookup.checks.get_mut(slot as usize) {
                        list.push((id, outcomes.collect()));
                    }
                }
            }
        }
        for (digit, seconds) in lookup.leads.seconds.iter().enumerate() {
            if *seconds != 0 {
                lookup.index.add_digit(b'0' + digit as u8);
            }
        }
        for uses in &mut lookup.uses {
            uses.sort_by_key(|one| (one.born, one.tier, one.fact));
        }
        for (number, needle) in lookup.sentences.iter().enumerate() {
            let total = needle.words.len();
            // With entities, all of them have to stand there for the whole, and each is told by itself.
            let whole =
                needle.sentence.entities.is_empty().then(|| (kept_words(total), announcing_words(total)));
            lookup.index.settle(number as u32, &needle.words, part_words(total), whole);
        }
        lookup
    }

    fn add_phrase(&mut self, text: &str, needle: Needle, border: Border) {
        self.index.add_phrase(text, self.needles.len() as u32, border);
        self.needles.push(needle);
    }

    fn add_sentence(&mut self, fact: u32, source: &Fact, read: Option<Arc<Sentence>>) {
        let sentence = read.unwrap_or_else(|| Arc::new(sentence::analyse(&source.value)));
        let number = self.sentences.len() as u32;
        let words: Vec<u32> = sentence.words.iter().map(|word| self.index.add_word(word)).collect();
        let announced = announcing_words(words.len()) as u32;
        for (slot, entity) in sentence.entities.iter().enumerate() {
            self.add_phrase(entity, Needle::Entity { sentence: number, slot: slot as u8 }, Border::Name);
        }
        let todo = source.class == FactClass::Todo;
        self.sentences.push(SentenceNeedle { fact, sentence, words, announced, todo });
    }

    fn add_file(&mut self, fact: u32, source: &Fact, ledger: &Ledger, cwds: &[String]) {
        let Some(entry) = source.file.and_then(|file| ledger.files.get(file as usize)) else { return };
        for (at, (born, name)) in entry.names.iter().enumerate() {
            let until = entry.names.get(at + 1).map_or(MessageIdx(u32::MAX), |(next, _)| *next);
            let name = matching::normalise(name).into_owned();
            let trimmed = name.trim_end_matches('/');
            let born = if at == 0 { source.birth } else { *born };
            let mut seen: Vec<(u32, Tier)> = Vec::new();
            let mut add = |lookup: &mut Self, text: &str, tier: Tier| {
                let suffix = lookup.index.add_suffix(text);
                if lookup.uses.len() <= suffix as usize {
                    lookup.uses.resize_with(suffix as usize + 1, Vec::new);
                    if !is_plain(text) {
                        lookup.add_phrase(text, Needle::Suffix(suffix), Border::Path);
                    }
                }
                if seen.iter().any(|(known, _)| *known == suffix) {
                    return;
                }
                seen.push((suffix, tier));
                if let Some(uses) = lookup.uses.get_mut(suffix as usize) {
                    uses.push(Use { born, until, fact, tier });
                }
            };
            add(self, trimmed, Tier::Absolute);
            for cwd in cwds {
                let relative = paths::relative(trimmed, Some(cwd));
                if relative.len() < trimmed.len() && !relative.is_empty() {
                    add(self, relative, Tier::Relative);
                }
            }
            let mut rest = trimmed;
            while let Some((_, tail)) = rest.split_once('/') {
                if !tail.is_empty() {
                    add(self, tail, Tier::Suffix);
                }
                rest = tail;
            }
        }
    }

    /// Takes over the stray paths that a pass over the log has seen.
    pub(super) fn learn(&mut self, scratch: Scratch) {
        self.strays = scratch.strays;
    }

    /// Finds facts born before `end`.
    pub(super) fn find(&self, text: &str, end: MessageIdx, facts: Option<&[Fact]>) -> Found {
        let mut scratch = Scratch::default();
        let mut room = Room::default();
        self.index.search(text, &mut room, &mut Walk::new(self, end, facts, &mut scratch));
        self.found(&mut scratch, end)
    }

    /// The same, by what earlier searches with this memory saw.
    pub(super) fn find_remembered(
        &self,
        text: &str,
        end: MessageIdx,
        facts: &[Fact],
        memory: &mut Memory,
    ) -> Found {
        let Memory { units, scratch } = memory;
        self.index.search_remembered(text, units, &mut Walk::new(self, end, Some(facts), scratch));
        self.found(scratch, end)
    }

    /// What a search found, of facts born before `end`.
    fn found(&self, scratch: &mut Scratch, end: MessageIdx) -> Found {
        let mut hits: Vec<(FactId, Match)> = scratch
            .hits
            .drain(..)
            .filter(|(fact, _)| self.births.get(*fact as usize).is_some_and(|birth| *birth < end))
            .map(|(fact, found)| (FactId(fact), found))
            .collect();
        hits.sort_unstable_by_key(|(fact, found)| (*fact, std::cmp::Reverse(*found)));
        hits.dedup_by_key(|(fact, _)| *fact);
        Found { hits }
    }

    /// Reports every fact that one text of message `at` holds exactly.
    pub(super) fn mentions(
        &self,
        text: &str,
        at: MessageIdx,
        scratch: &mut Scratch,
        report: &mut impl FnMut(u32),
    ) {
        let end = MessageIdx(at.0.saturating_add(1));
        let mut room = std::mem::take(&mut scratch.room);
        let mut walk = Walk::new(self, end, None, scratch);
        walk.record = true;
        self.index.search_wholes(text, &mut room, &mut walk);
        scratch.room = room;
        for (fact, found) in scratch.hits.drain(..) {
            if found.is_present() {
                report(fact);
            }
        }
    }
}

/// Words of a sentence that a unit must hold to keep it, of all there are.
fn kept_words(total: usize) -> usize {
    (total * 3).div_ceil(4)
}

/// Rare words of a sentence without entities that a unit of the log must hold before the others are counted.
fn announcing_words(total: usize) -> usize {
    kept_words(total).clamp(1, 2)
}

/// Words of a sentence that a unit must hold to keep it in part.
fn part_words(total: usize) -> usize {
    (total * 35).div_ceil(100)
}

/// Spellings under which a key is looked for: plain words in any case of their first letters.
fn spellings(key: &str) -> Vec<String> {
    let mut out = vec![key.to_owned()];
    let plain = key.bytes().all(|b| b.is_ascii_alphabetic() || b == b' ');
    if plain {
        let lower = key.to_lowercase();
        let mut first = lower.clone();
        if let Some(c) = lower.chars().next() {
            first = c.to_uppercase().chain(lower.chars().skip(1)).collect();
        }
        for spelling in [lower, first, key.to_uppercase()] {
            if !out.contains(&spelling) {
                out.push(spelling);
            }
        }
    }
    out
}

/// True for paths whose characters all may stand in a path token; others are looked for as phrases.
fn is_plain(path: &str) -> bool {
    let path = match path.as_bytes() {
        [drive, b':', b'/', ..] if drive.is_ascii_alphabetic() => path.get(2..).unwrap_or(path),
        _ => path,
    };
    !path.starts_with(['@', '-', '+', '%'])
        && path.chars().all(|c| {
            c.is_ascii_alphanumeric()
                || matches!(c, '_' | '/' | '.' | '-' | '~' | '@' | '+' | '%')
                || (!c.is_ascii() && c.is_alphanumeric() && !matching::is_cjk(c))
        })
}

/// Buffers of a search, kept between texts.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    room: Room,
    hits: Vec<(u32, Match)>,
    /// Per word of the index, the number of the last unit that held it.
    seen: Vec<u32>,
    /// Number of the unit.
    unit: u32,
    /// Per sentence, the end of the prefix at which a message was last found to mention it.
    told: Vec<MessageIdx>,
    /// Likewise per check, where all of its facts were.
    checked: Vec<MessageIdx>,
    /// Per sentence, the last unit that touched it and what was seen of it in that.
    marks: Vec<Mark>,
    touched: Vec<u32>,
    keys: Vec<(u32, usize)>,
    checks: Vec<u32>,
    /// Stray paths of the log, see [`Lookup`].
    strays: FxHashMap<u64, MessageIdx>,
}

/// What searches of texts that share most of their lines know from each other. Of one session only.
#[derive(Debug, Default)]
pub struct Memory {
    units: Remembered,
    scratch: Scratch,
}

/// What a unit holds of a sentence, as far as it was told.
#[derive(Debug, Clone, Copy, Default)]
struct Mark {
    unit: u32,
    /// A bit for each of its entities.
    entities: u32,
    /// Times that one of its words announced it.
    words: u32,
}

/// Receives what the index finds.
struct Walk<'a> {
    lookup: &'a Lookup,
    end: MessageIdx,
    facts: Option<&'a [Fact]>,
    scratch: &'a mut Scratch,
    /// Current unit.
    unit: (usize, usize),
    /// Last heading, as a byte range of the text.
    heading: (usize, usize),
    /// The heading that was read last, and what it says.
    read: ((usize, usize), Heading),
    /// Record stray paths (the text is a message of the log).
    record: bool,
}

impl<'a> Walk<'a> {
    fn new(lookup: &'a Lookup, end: MessageIdx, facts: Option<&'a [Fact]>, scratch: &'a mut Scratch) -> Self {
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
            let word = needle.sentence.words.get(at).map_or("", String::as_str);
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
        let lower = unit.to_lowercase();
        let ticked = ["[x]", "✓", "✔", "✅", "☑", "(done)", "(completed)", "— done", "- done"]
            .iter()
            .any(|mark| lower.contains(mark));
        let open = ["[ ]", "☐", "(pending)", "(todo)", "[>]", "[~]", "(in progress)"]
            .iter()
            .any(|mark| lower.contains(mark));
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
    let mut good = unit.text().contains(['✓', '✅', '✔']);
    let mut bad = unit.text().contains(['✗', '❌', '✘']);
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

    fn phrase(&mut self, phrase: u32, start: usize, end: usize) {
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
                let suffix = *suffix;
                let text = self.lookup.index.suffix_text(suffix).to_owned();
                let _ = start;
                self.resolve(suffix, &text, 0, text.len());
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
