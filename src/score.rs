//! What survived one compaction: a context and the answer key in, counts out.
//!
//! Scoring never looks inside a strategy. It sees the context as built (kept messages, clipped texts, generated text),
//! the lists a harness keeps beside it, and the facts of the session. For each live fact of the prefix it finds where
//! the fact stands: in a kept message (a mention), in what is left of a clipped one, in the generated text, or nowhere.

use crate::context::{Block, Context, Entry, Sent};
use crate::facts::{Fact, FactClass, FactId, FactSet, Match, Memory, State};
use crate::summarize::FileLists;
use crate::transcript::{MessageIdx, Outcome, Transcript};
use arcstr::ArcStr;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::rc::Rc;

pub mod afterwards;
pub mod invariants;
pub mod invented;
pub mod lists;
pub mod needed;
pub mod quotes;

use invariants::Broken;
use invented::Occurrences;
use lists::Names;
use needed::{Comeback, Need};
use quotes::{Quotes, UserWords};

/// Where a fact stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Location {
    /// In the generated text only.
    Summary,
    /// In a kept message only.
    Tail,
    /// In the generated text, and in a kept message or in what is left of a clipped one.
    Both,
    /// In what is left of a clipped message, not in the generated text.
    Clipped,
    /// Nowhere.
    Lost,
    /// Nowhere in the context, but in an older summary that is kept outside it: lost to the model.
    Archived,
    /// In no kept message, and the generated text cannot be read: neither kept nor lost.
    Opaque,
}

impl Location {
    /// Name as written in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Tail => "tail",
            Self::Both => "both",
            Self::Clipped => "clipped",
            Self::Lost => "lost",
            Self::Archived => "archived",
            Self::Opaque => "opaque",
        }
    }
}

/// The fate of one live fact at one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fate {
    /// The fact.
    pub id: FactId,
    /// Its class at this cycle (a file read before may be modified by now).
    pub class: FactClass,
    /// Where it stands.
    pub location: Location,
    /// How it stands in the generated text.
    pub tier: Match,
    /// No kept message or kept part of a clipped one mentions it.
    pub at_risk: bool,
    /// How it comes back up to the horizon; told of at-risk facts only.
    pub need: Need,
    /// How it comes back to the end of the log.
    pub need_to_end: Need,
    /// The work after the cycle needs it, by what happens up to the horizon.
    pub needed: bool,
}

/// Counts of one part of the facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Live facts of the prefix.
    pub total: u64,
    /// Of those, at risk.
    pub at_risk: u64,
    /// Of those at risk, present in the generated text.
    pub in_summary: u64,
    /// Of those at risk, needed by the work up to the horizon; told by class only.
    pub needed: u64,
    /// Of those needed, present in the generated text.
    pub needed_kept: u64,
}

/// Files of one state: live, at risk, kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FilesKept {
    /// Live files at risk.
    pub total: u64,
    /// Of those, in the text or in the metadata.
    pub kept: u64,
    /// Of those, in the text.
    pub text: u64,
    /// Of those, in the metadata.
    pub metadata: u64,
}

/// Everything counted for one cycle.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CycleScore {
    /// Fate of each live fact, in order of birth.
    pub fates: Vec<Fate>,
    /// Structural facts.
    pub structural: Tally,
    /// Lexical facts.
    pub lexical: Tally,
    /// By class, ordered.
    pub classes: Vec<(FactClass, Tally)>,
    /// At-risk facts present by exact match.
    pub exact: u64,
    /// At-risk facts present when numbers and units are normalised too.
    pub normalised: u64,
    /// Facts present anywhere in the context.
    pub in_context: u64,
    /// Facts with a mention in a kept message.
    pub tail: u64,
    /// Of those, whose message really is in the serialized context.
    pub tail_in_context: u64,
    /// Facts that only an older summary outside the context holds; lost.
    pub archived: u64,
    /// Facts that no text rule can judge.
    pub unadjudicable: u64,
    /// Facts that only an unreadable summary could hold; in no other count.
    pub opaque: u64,
    /// At-risk facts that stand only in part.
    pub degraded: u64,
    /// At-risk sentences whose negation is gone or reversed.
    pub contradicted: u64,
    /// At-risk paths under a directory that never held them.
    pub mutated: u64,
    /// At-risk values whose key stands without the value.
    pub label_only: u64,
    /// At-risk paths that stand only in an ambiguous spelling.
    pub ambiguous: u64,
    /// Modified, created and renamed files.
    pub modified: FilesKept,
    /// Files only read.
    pub read: FilesKept,
    /// The generated list of modified files, against the truth.
    pub list_modified: lists::ListScore,
    /// The generated list of read files, against the truth.
    pub list_read: lists::ListScore,
    /// Paths, identifiers and quoted user lines that occur nowhere in the prefix.
    pub invented: u64,
    /// User lines that the generated text quotes.
    pub quotes: Quotes,
    /// Files under the wrong heading of the generated lists; `None` without lists.
    pub misclassified: Option<u64>,
    /// Superseded facts that stand in the context while their successors do not.
    pub stale: u64,
    /// Those successors.
    pub outdated: Vec<FactId>,
    /// What the work came back to, up to the horizon.
    pub near: Comeback,
    /// What it came back to, to the end of the log.
    pub to_end: Comeback,
    /// Hard invariants.
    pub broken: Broken,
}

/// Scores the cycles of one session.
#[derive(Debug)]
pub struct Scorer<'a> {
    transcript: &'a Transcript,
    facts: &'a FactSet,
    occurrences: Occurrences<'a>,
    words: UserWords<'a>,
    /// What was found in the texts scored so far.
    memory: RefCell<Memory>,
    /// What belongs on the lists of the cycles scored so far: the same for all that is generated there.
    truths: RefCell<FxHashMap<Stretch, Rc<Truths<'a>>>>,
}

/// What lists can be about: where the session of a cycle began, the end of what left the context, and that of the prefix.
type Stretch = [MessageIdx; 3];

/// True paths of lists.
#[derive(Debug)]
struct Truths<'a> {
    /// Files as they stand at the trigger.
    now: Truth<'a>,
    /// Files as they stood at the cut.
    then: Truth<'a>,
}

/// True paths at one message, by kind.
#[derive(Debug)]
struct Truth<'a> {
    changed: Names<'a>,
    read: Names<'a>,
    deleted: Names<'a>,
}

/// What is scored: one cycle of one strategy.
#[derive(Debug, Clone, Copy)]
pub struct Cycle<'a> {
    /// The context after the compaction.
    pub context: &'a Context,
    /// The session as its harness holds it, which contexts are views of: the log itself, or one with results cut short.
    pub held: &'a Transcript,
    /// The session began before this message: facts that nothing from it on mentions belong to another one.
    pub began: MessageIdx,
    /// Summaries that are kept outside the context.
    pub archive: &'a [String],
    /// Messages before this one are the prefix.
    pub prefix_end: MessageIdx,
    /// Messages before this one left the context (pinned and system ones aside).
    pub compacted_end: MessageIdx,
    /// Lists that the harness keeps beside the text.
    pub metadata: Option<&'a FileLists>,
    /// Where the generated text writes lists at all.
    pub writes_lists: bool,
    /// The request that has to be in the context.
    pub newest_request: Option<MessageIdx>,
    /// Text was generated that cannot be read: what no kept message holds is not judged.
    pub opaque: bool,
}

impl<'a> Scorer<'a> {
    /// Prepares scoring of a session.
    pub fn new(transcript: &'a Transcript, facts: &'a FactSet) -> Self {
        let (occurrences, words) = (Occurrences::new(transcript, facts), UserWords::new(transcript));
        let (memory, truths) = (RefCell::default(), RefCell::default());
        Self { transcript, facts, occurrences, words, memory, truths }
    }

    /// Scores one cycle. Cost: the generated text, the live facts and their mentions before the cycle.
    pub fn score(&self, cycle: &Cycle<'_>) -> CycleScore {
        let generated = generated_text(cycle.context);
        let find =
            |text: &str| self.facts.find_remembered(text, cycle.prefix_end, &mut self.memory.borrow_mut());
        let in_summary = find(&generated);
        let kept = kept_messages(cycle, self.transcript);
        let serialized = cycle.context.serialize(cycle.held);
        let clipped = clipped_text(cycle.context, &kept, &serialized);
        let archive = cycle.archive.join("\n\n");
        let archived = (!archive.is_empty()).then(|| find(&archive));
        let in_clipped = (!clipped.is_empty()).then(|| find(&clipped));
        let mut sent = vec![false; kept.len()];
        for source in serialized.iter().filter_map(|message| message.source) {
            if let Some(sent) = sent.get_mut(source.get()) {
                *sent = true;
            }
        }

        let mut score = CycleScore::default();
        let born = self.born_before(cycle.prefix_end);
        score.fates.reserve(born.len());
        let mut classes: Vec<Tally> = vec![Tally::default(); FactClass::ALL.len()];
        let metadata = cycle.metadata.map(PathSet::new);
        let open_request = needed::open_request(self.facts, cycle.prefix_end);
        let log_end = MessageIdx::new(self.transcript.messages.len());
        let horizon = needed::horizon(self.transcript, cycle.prefix_end);
        score.near.biased = needed::is_biased(self.transcript, cycle.prefix_end, horizon);
        score.to_end.biased = needed::is_biased(self.transcript, cycle.prefix_end, log_end);
        for (index, fact) in born.iter().enumerate() {
            let id = FactId(index as u32);
            if !belongs(fact, cycle) {
                continue;
            }
            let Some(class) = self.facts.class_at(id, cycle.prefix_end) else {
                score.unadjudicable += u64::from(fact.unadjudicable);
                continue;
            };
            let tier = in_summary.get(id);
            let mentions = before(&fact.mentions, cycle.prefix_end);
            let in_tail = mentions.iter().find(|at| kept.get(at.get()).copied().unwrap_or(false));
            let clip = in_clipped.as_ref().is_some_and(|found| found.get(id).is_present());
            let present = tier.is_present();
            let location = match (in_tail.is_some(), present, clip) {
                (true, true, _) => Location::Both,
                (true, false, _) => Location::Tail,
                (false, true, true) => Location::Both,
                (false, true, false) => Location::Summary,
                (false, false, true) => Location::Clipped,
                (false, false, false)
                    if archived.as_ref().is_some_and(|found| found.get(id).is_present()) =>
                {
                    Location::Archived
                }
                (false, false, false) => Location::Lost,
            };
            let at_risk = in_tail.is_none() && !clip;
            let (need, need_to_end, needed) = (Need::Unused, Need::Unused, false);
            let mut fate = Fate { id, class, location, tier, at_risk, need, need_to_end, needed };
            if at_risk {
                let next = self.facts.next_mention(fact, cycle.prefix_end, log_end);
                fate.need = Need::of(next.filter(|(at, _)| *at < horizon));
                fate.need_to_end = Need::of(next);
            }
            if cycle.opaque && at_risk {
                score.opaque += 1;
                score.fates.push(Fate { location: Location::Opaque, at_risk: false, ..fate });
                continue;
            }
            score.archived += u64::from(location == Location::Archived);
            score.in_context += u64::from(!matches!(location, Location::Lost | Location::Archived));
            if in_tail.is_some() {
                score.tail += 1;
                let is = |marks: &[bool], at: &MessageIdx| marks.get(at.get()).copied().unwrap_or(false);
                score.tail_in_context += u64::from(mentions.iter().any(|at| is(&kept, at) && is(&sent, at)));
            }
            if let Some(tally) = classes.get_mut(class as usize) {
                count(tally, at_risk, present);
            }
            count(
                if class.structural() { &mut score.structural } else { &mut score.lexical },
                at_risk,
                present,
            );
            if at_risk {
                score.exact += u64::from(tier == Match::Exact);
                score.normalised += u64::from(present || tier == Match::Normalised);
                score.degraded += u64::from(tier == Match::Degraded);
                score.contradicted += u64::from(tier == Match::Contradicted);
                score.mutated += u64::from(tier == Match::Mutated);
                score.label_only += u64::from(tier == Match::LabelOnly);
                score.ambiguous += u64::from(tier == Match::Ambiguous);
                let files = match class {
                    FactClass::FileModified | FactClass::FileCreated | FactClass::FileRenamed => {
                        Some((&mut score.modified, false))
                    }
                    FactClass::FileRead => Some((&mut score.read, true)),
                    _ => None,
                };
                if let Some((files, only_read)) = files {
                    let listed = metadata.as_ref().is_some_and(|set| set.has(&fact.value, only_read));
                    files.total += 1;
                    files.text += u64::from(present);
                    files.metadata += u64::from(listed);
                    files.kept += u64::from(present || listed);
                }
            }
            if at_risk {
                fate.needed = needed::is_needed(&fate, fate.need, open_request);
                score.near.count(&fate, fate.need, open_request);
                score.to_end.count(&fate, fate.need_to_end, open_request);
                if let Some(tally) = classes.get_mut(class as usize).filter(|_| fate.needed) {
                    tally.needed += 1;
                    tally.needed_kept += u64::from(present);
                }
            }
            score.fates.push(fate);
        }
        let stale = self.stale(&in_summary, &kept, cycle.prefix_end);
        score.stale = stale.len() as u64;
        score.outdated = stale.into_iter().map(|(_, new)| new).collect();
        score.classes =
            FactClass::ALL.iter().copied().zip(classes).filter(|(_, tally)| tally.total > 0).collect();
        let mut lines: Vec<&str> = Vec::with_capacity(64);
        lines.extend(generated.lines());
        let listed = lists::listed(&lines, cycle.metadata, cycle.writes_lists);
        let Truths { now, then } = &*self.truths(cycle);
        score.list_modified = lists::score(listed.as_ref().map(|it| it.modified.as_slice()), &now.changed);
        score.list_read = lists::score(listed.as_ref().map(|it| it.read.as_slice()), &now.read);
        // A list tells of what left; what the kept tail does to a file stands there.
        score.misclassified =
            listed.as_ref().map(|it| lists::misclassified(it, &then.changed, &then.read, &then.deleted));
        score.quotes = self.words.quotes(&lines, cycle.prefix_end);
        score.invented = self.occurrences.invented(&lines, cycle.prefix_end);
        score.broken = invariants::check(cycle.context, &serialized, cycle.held, cycle.newest_request);
        score
    }

    /// Paths, identifiers and quoted user lines of a generated text that occur nowhere before `prefix_end`, sorted.
    pub fn invented_items(&self, generated: &str, prefix_end: MessageIdx) -> Vec<String> {
        self.occurrences.items(generated, prefix_end)
    }

    /// User lines that a generated text quotes and nobody said before `prefix_end`.
    pub fn fabricated(&self, generated: &str, prefix_end: MessageIdx) -> Vec<String> {
        self.words.fabricated(generated, prefix_end)
    }

    /// Superseded facts that stand in the context of a cycle while their successors do not, with these.
    pub fn stale_facts(&self, cycle: &Cycle<'_>) -> Vec<(FactId, FactId)> {
        let found = self.facts.find(&generated_text(cycle.context), cycle.prefix_end);
        self.stale(&found, &kept_messages(cycle, self.transcript), cycle.prefix_end)
    }

    /// Superseded facts that stand in the generated text, while their live successor stands nowhere in the context.
    fn stale(
        &self,
        found: &crate::facts::Found,
        kept: &[bool],
        prefix_end: MessageIdx,
    ) -> Vec<(FactId, FactId)> {
        let in_tail = |id: FactId| {
            self.facts.facts.get(id.0 as usize).is_some_and(|fact| {
                before(&fact.mentions, prefix_end)
                    .iter()
                    .any(|at| kept.get(at.get()).copied().unwrap_or(false))
            })
        };
        let all = &self.facts.facts;
        all.iter()
            .enumerate()
            .filter(|(_, fact)| fact.superseded.is_some_and(|(from, _)| from < prefix_end))
            // An older request is not the former value of a newer one.
            .filter(|(_, fact)| fact.class != FactClass::Request)
            // Nor is a run of which nobody knows how it ended that of the next one.
            .filter(|(_, fact)| fact.state_at(prefix_end) != Some(State::Outcome(Outcome::Unknown)))
            .filter(|(index, _)| found.get(FactId(*index as u32)).is_present())
            .filter_map(|(index, fact)| {
                let new = self.successor(fact, prefix_end)?;
                let gone = !found.get(new).is_present() && !in_tail(new);
                gone.then_some((FactId(index as u32), new))
            })
            .collect()
    }

    /// What stands for a superseded fact at a prefix: the end of its chain of successors.
    fn successor(&self, fact: &Fact, prefix_end: MessageIdx) -> Option<FactId> {
        let mut current = None;
        let mut next = fact.superseded;
        // A chain is no longer than the facts there are; the bound guards against a loop.
        for _ in 0..self.facts.facts.len() {
            let Some((_, id)) = next.filter(|(from, _)| *from < prefix_end) else { break };
            current = Some(id);
            next = self.facts.facts.get(id.0 as usize).and_then(|fact| fact.superseded);
        }
        current
    }

    /// Facts born before a message.
    fn born_before(&self, end: MessageIdx) -> &'a [Fact] {
        let all = &self.facts.facts;
        all.get(..all.partition_point(|fact| fact.birth < end)).unwrap_or_default()
    }

    /// What belongs on the lists of a cycle.
    fn truths(&self, cycle: &Cycle<'_>) -> Rc<Truths<'a>> {
        let stretch = [cycle.began, cycle.compacted_end, cycle.prefix_end];
        let mut known = self.truths.borrow_mut();
        let truths = known.entry(stretch).or_insert_with(|| {
            let [now, then] = [cycle.prefix_end, cycle.compacted_end].map(|end| self.truth(cycle, end));
            Rc::new(Truths { now, then })
        });
        truths.clone()
    }

    /// Live files of a prefix with an operation in the compacted part.
    fn truth(&self, cycle: &Cycle<'_>, prefix_end: MessageIdx) -> Truth<'a> {
        let [mut changed, mut read, mut deleted] = [const { Vec::new() }; 3];
        for (index, fact) in self.born_before(cycle.compacted_end).iter().enumerate() {
            if !fact.class.is_file() || !belongs(fact, cycle) {
                continue;
            }
            let list = match self.facts.class_at(FactId(index as u32), prefix_end) {
                Some(FactClass::FileModified | FactClass::FileCreated | FactClass::FileRenamed) => {
                    &mut changed
                }
                Some(FactClass::FileRead) => &mut read,
                Some(FactClass::FileDeleted) => &mut deleted,
                _ => continue,
            };
            list.push(fact.value.as_str());
        }
        let [changed, read, deleted] = [changed, read, deleted].map(Names::new);
        Truth { changed, read, deleted }
    }
}

/// Has the session of a cycle anything to do with a fact?
fn belongs(fact: &Fact, cycle: &Cycle<'_>) -> bool {
    cycle.began == MessageIdx(0)
        || before(&fact.mentions, cycle.prefix_end).last().is_none_or(|at| *at >= cycle.began)
}

fn count(tally: &mut Tally, at_risk: bool, present: bool) {
    tally.total += 1;
    tally.at_risk += u64::from(at_risk);
    tally.in_summary += u64::from(at_risk && present);
}

/// Mentions before a message; they are sorted.
fn before(mentions: &[MessageIdx], end: MessageIdx) -> &[MessageIdx] {
    mentions.get(..mentions.partition_point(|at| *at < end)).unwrap_or(&[])
}

/// All generated text of a context.
pub fn generated_text(context: &Context) -> String {
    join(context.entries.iter().filter_map(|entry| match entry {
        Entry::Summary { text, .. } => Some(text.as_str()),
        Entry::Kept(_) | Entry::Clipped { .. } => None,
    }))
}

/// What is left of messages that stand in the context in part.
fn clipped_text(context: &Context, kept: &[bool], sent: &[Sent<'_>]) -> String {
    let clipped = context.entries.iter().filter_map(|entry| match entry {
        Entry::Clipped { text, .. } => Some(text.as_str()),
        Entry::Kept(_) | Entry::Summary { .. } => None,
    });
    // Of a clipped request the text is all that is sent.
    let whole = |at: MessageIdx| kept.get(at.get()).copied().unwrap_or(false);
    let cut = sent
        .iter()
        .filter(|message| message.source.is_some_and(|at| !whole(at) && holds(context, at)))
        .flat_map(|message| &message.blocks)
        .filter_map(|block| match block {
            Block::Text(text) | Block::Thinking(text) | Block::Result { text, .. } => Some(text.as_ref()),
            Block::Call { arguments, .. } => Some(*arguments),
            Block::Image | Block::Other => None,
        });
    join(clipped.chain(cut))
}

/// Does a context hold a message, not its text alone?
fn holds(context: &Context, at: MessageIdx) -> bool {
    context.entries.iter().any(|entry| matches!(entry, Entry::Kept(kept) if *kept == at))
}

fn join<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.collect::<Vec<_>>().join("\n\n")
}

/// For each message of the prefix, whether it is kept verbatim: nothing of it cut short or cleared.
fn kept_messages(cycle: &Cycle<'_>, transcript: &Transcript) -> Vec<bool> {
    let same = std::ptr::eq(cycle.held, transcript);
    let mut kept = vec![false; cycle.prefix_end.get()];
    for entry in &cycle.context.entries {
        if let Entry::Kept(at) = entry
            && let Some(slot) = kept.get_mut(at.get())
        {
            *slot = same || cycle.held.messages.get(at.get()) == transcript.messages.get(at.get());
        }
    }
    for result in cycle.context.pruned.keys().filter_map(|link| transcript.links.get(*link)?.result) {
        if let Some(slot) = kept.get_mut(result.message.get()) {
            *slot = false;
        }
    }
    kept
}

/// Paths of harness lists, by kind.
struct PathSet<'a> {
    read: FxHashSet<&'a str>,
    modified: FxHashSet<&'a str>,
}

impl<'a> PathSet<'a> {
    fn new(lists: &'a FileLists) -> Self {
        Self {
            read: lists.read.iter().map(ArcStr::as_str).collect(),
            modified: lists.modified.iter().map(ArcStr::as_str).collect(),
        }
    }

    fn has(&self, path: &str, only_read: bool) -> bool {
        if only_read { self.read.contains(path) } else { self.modified.contains(path) }
    }
}

#[cfg(test)]
mod tests;
