//! Finding facts in a text: the session's needles over [`crate::matching`], and what each hit means.
//!
//! One pass over the text whatever the number of facts. The same pass, with the log's own messages as texts, makes
//! the mentions. Where a text holds a fact in several ways the strongest stands: exact, resolvable, normalised,
//! contradicted, mutated, degraded, ambiguous, label only.

use super::{Fact, FactClass, FactId, Form, Ledger, State};
use crate::matching::index::{Border, Index, Remembered, Room};
use crate::matching::sentence::{self, Sentence};
use crate::matching::{self, Quantity};
use crate::paths;
use crate::transcript::{MessageIdx, Outcome, Transcript};
use compact_str::CompactString;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

mod leads;
#[cfg(test)]
mod tests;
mod walk;

use leads::Leads;
use walk::{Mark, Walk};

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
    uses: Vec<SmallVec<[Use; 1]>>,
    /// Per key: facts with their number.
    keys: Vec<Vec<(u32, Quantity)>>,
    /// Values that stand without a key: by number and unit.
    quantities: FxHashMap<(CompactString, &'static str), Vec<(u32, CompactString, CompactString)>>,
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
            // Nobody asks for what no text can tell.
            if fact.unadjudicable {
                continue;
            }
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
            let name = matching::normalise(name);
            let trimmed = name.trim_end_matches('/');
            let born = if at == 0 { source.birth } else { *born };
            let mut seen: SmallVec<[u32; 16]> = SmallVec::new();
            let mut add = |lookup: &mut Self, text: &str, tier: Tier| {
                let suffix = lookup.index.add_suffix(text);
                if lookup.uses.len() <= suffix as usize {
                    lookup.uses.resize_with(suffix as usize + 1, SmallVec::new);
                    if !is_plain(text) {
                        lookup.add_phrase(text, Needle::Suffix(suffix), Border::Path);
                    }
                }
                if seen.contains(&suffix) {
                    return;
                }
                seen.push(suffix);
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
        let hits = &mut scratch.hits;
        hits.retain(|(fact, _)| self.births.get(*fact as usize).is_some_and(|birth| *birth < end));
        hits.sort_unstable_by_key(|(fact, found)| (*fact, std::cmp::Reverse(*found)));
        hits.dedup_by_key(|(fact, _)| *fact);
        Found { hits: hits.drain(..).map(|(fact, found)| (FactId(fact), found)).collect() }
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
