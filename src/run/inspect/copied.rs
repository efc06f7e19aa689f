//! What sessions only repeat of others.
//!
//! Of each session a trail is written down, a unit of bytes for its head and one for each message. It is read again when the trails
//! of all files are there; only where a message is to be found stands in memory, in eight bytes.

use crate::results::inspected::change;
use crate::results::spool::{Reader, Spool};
use crate::transcript::{Message, Part, Role, Transcript};
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet, FxHasher};
use std::hash::{BuildHasher, Hash, Hasher};
use std::io;
use std::ops::Range;

/// Bytes of a head or a step.
const UNIT: usize = 32;

/// Steps of another trail that are read at once.
const STEPS: usize = 32;

/// One message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    /// Hash of who said what.
    said: u64,
    time: Option<i64>,
    calls: u32,
    tokens: u32,
    output: u32,
    reply: bool,
    /// A compaction happened right behind it.
    compacted: bool,
}

/// What stands in front of the steps of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    id: u64,
    /// Id of the session that it says it continues.
    parent: Option<u64>,
    /// Where its report stands.
    report: u64,
    steps: u32,
}

/// A head or a step as it is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Head(Head),
    Step(Step),
}

/// What units are and have, in bits.
mod bit {
    pub(super) const HEAD: u32 = 1;
    pub(super) const PARENT: u32 = 2;
    pub(super) const TIME: u32 = 4;
    pub(super) const REPLY: u32 = 8;
    pub(super) const COMPACTED: u32 = 16;
}

impl Unit {
    fn bytes(self) -> [u8; UNIT] {
        let flag = |is: bool, bit: u32| if is { bit } else { 0 };
        let (longs, words) = match self {
            Self::Head(head) => {
                let flags = bit::HEAD | flag(head.parent.is_some(), bit::PARENT);
                (
                    [head.id, head.parent.unwrap_or(0)],
                    [head.report as u32, (head.report >> 32) as u32, head.steps, flags],
                )
            }
            Self::Step(step) => {
                let flags = flag(step.time.is_some(), bit::TIME)
                    | flag(step.reply, bit::REPLY)
                    | flag(step.compacted, bit::COMPACTED);
                (
                    [step.said, step.time.unwrap_or(0).cast_unsigned()],
                    [step.tokens, step.output, step.calls, flags],
                )
            }
        };
        let mut bytes = [0; UNIT];
        let all = longs.iter().flat_map(|long| long.to_le_bytes());
        let all = all.chain(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.iter_mut().zip(all).for_each(|(place, byte)| *place = byte);
        bytes
    }

    /// `bytes` are those of a unit.
    fn read(bytes: &[u8]) -> Self {
        let word = |at: usize| {
            let bytes = bytes.get(4 * at..).and_then(<[u8]>::first_chunk);
            bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
        };
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 1)) << 32;
        let has = |bit: u32| word(7) & bit != 0;
        if has(bit::HEAD) {
            let parent = has(bit::PARENT).then(|| long(2));
            return Self::Head(Head { id: long(0), parent, report: long(4), steps: word(6) });
        }
        Self::Step(Step {
            said: long(0),
            time: has(bit::TIME).then(|| long(2).cast_signed()),
            tokens: word(4),
            output: word(5),
            calls: word(6),
            reply: has(bit::REPLY),
            compacted: has(bit::COMPACTED),
        })
    }
}

/// What a session says, message by message; `tokens` are those of its messages.
fn steps<'a>(transcript: &'a Transcript, tokens: &'a [u32]) -> impl Iterator<Item = Step> + 'a {
    let mut compactions = transcript.recorded.iter().map(|recorded| recorded.before.get()).peekable();
    transcript.messages.iter().zip(tokens).zip(1..).map(move |((message, tokens), behind)| {
        while compactions.next_if(|before| *before < behind).is_some() {}
        Step { compacted: compactions.peek() == Some(&behind), ..Step::of(message, *tokens) }
    })
}

impl Step {
    fn of(message: &Message, tokens: u32) -> Self {
        let mut hasher = FxHasher::default();
        message.role.hash(&mut hasher);
        let mut calls = 0;
        for part in &message.parts {
            match part {
                Part::Text(text) => text.text.hash(&mut hasher),
                Part::Thinking(text) => text.hash(&mut hasher),
                Part::Call(call) => {
                    calls += 1;
                    (&call.name, &call.arguments).hash(&mut hasher);
                }
                Part::Result(result) => result.text.hash(&mut hasher),
                Part::Image { bytes } => bytes.hash(&mut hasher),
                Part::Opaque { kind, bytes } => (kind, bytes).hash(&mut hasher),
            }
        }
        Self {
            said: hasher.finish(),
            time: message.time,
            calls,
            tokens,
            output: u32::try_from(message.usage.as_ref().map_or(0, |usage| usage.output)).unwrap_or(u32::MAX),
            reply: message.role == Role::Assistant,
            compacted: false,
        }
    }

    fn key(&self) -> Option<(u64, i64)> {
        Some((self.said, self.time?))
    }
}

/// Where the trails of a file stand.
#[derive(Debug, Default)]
pub(super) struct TrailList {
    stretches: Vec<Range<u64>>,
    /// Sessions that others say they continue.
    parents: Vec<u64>,
}

impl TrailList {
    /// Writes down the trails of sessions, each with the tokens of its messages and where its report stands.
    pub(super) fn extend<'a>(
        &mut self,
        sessions: impl Iterator<Item = (&'a Transcript, &'a [u32], u64)>,
        spool: &Spool,
    ) -> io::Result<()> {
        let hash = |id: &String| FxBuildHasher.hash_one(id);
        let parents = &mut self.parents;
        let units = sessions.flat_map(|(session, tokens, report)| {
            let parent = session.continues.as_ref().map(hash);
            parents.extend(parent);
            let steps_of = u32::try_from(session.messages.len()).unwrap_or(u32::MAX);
            let head = Unit::Head(Head { id: hash(&session.id), parent, report, steps: steps_of });
            std::iter::once(head).chain(steps(session, tokens).map(Unit::Step))
        });
        let stretch = spool.append_all(units.map(Unit::bytes))?;
        self.stretches.push(stretch);
        Ok(())
    }
}

/// Marks what sessions only repeat of sessions before them: of the one that they say they continue, or of any whose messages were
/// written at the same times.
pub(super) fn mark(files: &[TrailList], trails: &Spool, reports: &Spool) -> io::Result<()> {
    let parents = files.iter().flat_map(|file| &file.parents).copied().collect();
    let mut seen = Seen { trails, parents, by_id: FxHashMap::default(), by_step: Index::default() };
    // A fork may lie in front of what it continues.
    let mut forks = Vec::new();
    for stretch in files.iter().flat_map(|file| &file.stretches) {
        let mut reader = Reader::new(trails, stretch.clone());
        let mut at = stretch.start;
        while !reader.is_done() {
            let (head, steps) = whole(&mut reader)?;
            if head.parent.is_some() {
                forks.push(at);
            } else {
                seen.mark(at, head, &steps, reports)?;
            }
            at += (UNIT + UNIT * steps.len()) as u64;
        }
    }
    for at in forks {
        let (head, steps) = seen.trail(at)?;
        seen.mark(at, head, &steps, reports)?;
    }
    Ok(())
}

/// Reads a trail.
fn whole(reader: &mut Reader<'_>) -> io::Result<(Head, Vec<Step>)> {
    let odd = || io::Error::from(io::ErrorKind::InvalidData);
    let Unit::Head(head) = Unit::read(reader.take(UNIT)?) else { return Err(odd()) };
    let step = |_| match Unit::read(reader.take(UNIT)?) {
        Unit::Step(step) => Ok(step),
        Unit::Head(_) => Err(odd()),
    };
    let steps = (0..head.steps).map(step).collect::<io::Result<Vec<Step>>>()?;
    Ok((head, steps))
}

/// Messages that are those of a trail seen before: so many from `at` on, and compactions among them that are its, too.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    at: usize,
    length: usize,
    compactions: u64,
}

/// The trails so far.
struct Seen<'a> {
    trails: &'a Spool,
    /// Ids that some session says it continues.
    parents: FxHashSet<u64>,
    /// Where the trails of these begin.
    by_id: FxHashMap<u64, u64>,
    by_step: Index,
}

impl Seen<'_> {
    /// A parent that is named may have written its messages at other times, and a fork something of its own in front of them.
    const OWN: usize = 4;

    /// The trail that stands there.
    fn trail(&self, at: u64) -> io::Result<(Head, Vec<Step>)> {
        let mut head = [0; UNIT];
        self.trails.read(at, &mut head)?;
        let Unit::Head(Head { steps, .. }) = Unit::read(&head) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        whole(&mut Reader::new(self.trails, at..at + (UNIT as u64) * (u64::from(steps) + 1)))
    }

    /// Marks what a trail repeats, and adds it to those that were seen.
    fn mark(&mut self, at: u64, head: Head, steps: &[Step], reports: &Spool) -> io::Result<()> {
        let stretches = self.stretches(head, steps)?;
        if !stretches.is_empty() {
            change(reports, head.report, |report| {
                for stretch in stretches {
                    let repeated = || steps.iter().skip(stretch.at).take(stretch.length);
                    report.copied.messages += stretch.length as u64;
                    report.copied.tool_calls += repeated().map(|step| u64::from(step.calls)).sum::<u64>();
                    report.copied.compactions += stretch.compactions;
                    report.copied_tokens += repeated().map(|step| u64::from(step.tokens)).sum::<u64>();
                    report.copied_output += repeated().map(|step| u64::from(step.output)).sum::<u64>();
                }
            })?;
        }
        if self.parents.contains(&head.id) {
            self.by_id.entry(head.id).or_insert(at);
        }
        for (number, step) in (1..).zip(steps) {
            if let (Some(key), Ok(place)) = (step.key(), u32::try_from(at / UNIT as u64 + number)) {
                self.by_step.add(key, place, self.trails)?;
            }
        }
        Ok(())
    }

    /// What the trail repeats, in order.
    fn stretches(&self, head: Head, steps: &[Step]) -> io::Result<Vec<Stretch>> {
        let mut found: Vec<Stretch> = Vec::new();
        let parent = head.parent.and_then(|id| self.by_id.get(&id));
        if let Some(parent) = parent {
            let (_, parent) = self.trail(*parent)?;
            let starts = steps.iter().enumerate().take(Self::OWN);
            let stretches = starts.filter_map(|(at, step)| {
                let from = parent.iter().position(|other| other.said == step.said)?;
                let there = parent.get(from..).unwrap_or_default();
                let mut shared = Shared::default();
                steps.iter().skip(at).zip(there).all(|(one, other)| shared.add(one, other, false));
                shared.stretch(at)
            });
            found.extend(stretches.max_by_key(|stretch| stretch.length));
        }
        let mut at = found.first().map_or(0, |first| first.at + first.length);
        while let Some(step) = steps.get(at) {
            let place = match step.key() {
                Some(key) => self.by_step.find(key, self.trails)?,
                None => None,
            };
            let stretch = match place {
                Some(place) => self.shared(steps, at, place)?,
                None => None,
            };
            at += stretch.map_or(1, |stretch| stretch.length);
            found.extend(stretch);
        }
        Ok(found)
    }

    /// The messages from `at` on that are, at the same times, those of another trail from a place on.
    fn shared(&self, steps: &[Step], at: usize, place: u32) -> io::Result<Option<Stretch>> {
        let mut shared = Shared::default();
        let mut place = u64::from(place) * UNIT as u64;
        let here = steps.get(at..).unwrap_or_default();
        'blocks: for block in here.chunks(STEPS) {
            // The last trail may end before so many.
            let mut bytes = [0; UNIT * STEPS];
            let there = self.trails.read_some(place, &mut bytes)?;
            place += bytes.len() as u64;
            let others = bytes.chunks_exact(UNIT).take(there / UNIT).map(Unit::read);
            let mut compared = 0;
            for (one, other) in block.iter().zip(others) {
                compared += 1;
                if !matches!(other, Unit::Step(other) if shared.add(one, &other, true)) {
                    break 'blocks;
                }
            }
            if compared < block.len() {
                break;
            }
        }
        Ok(shared.stretch(at))
    }
}

/// How far two trails are the same.
#[derive(Debug, Default)]
struct Shared {
    length: usize,
    reply: bool,
    compactions: u64,
}

impl Shared {
    /// Compares the next step; with `times` also when it was written.
    fn add(&mut self, one: &Step, other: &Step, times: bool) -> bool {
        let same = one.said == other.said && (!times || one.time.is_some() && one.time == other.time);
        if same {
            self.length += 1;
            self.reply |= one.reply;
            self.compactions += u64::from(one.compacted && other.compacted);
        }
        same
    }

    /// A greeting that two people use is no copy; a reply that comes with it is.
    fn stretch(self, at: usize) -> Option<Stretch> {
        self.reply.then_some(Stretch { at, length: self.length, compactions: self.compactions })
    }
}

/// Where the first message stands that says this at this time: a part of its hash, and the number of its unit. Several tables, so that
/// not all is held twice while they grow.
#[derive(Debug)]
struct Index([HashTable<(u32, u32)>; 16]);

impl Default for Index {
    fn default() -> Self {
        Self([const { HashTable::new() }; 16])
    }
}

impl Index {
    /// The part of the hash that is kept, and the table it is kept in.
    fn tag(key: (u64, i64)) -> (u32, usize) {
        let hash = FxBuildHasher.hash_one(key);
        ((hash >> 32) as u32, (hash & 15) as usize)
    }

    fn find(&self, key: (u64, i64), trails: &Spool) -> io::Result<Option<u32>> {
        let (tag, table) = Self::tag(key);
        let Some(table) = self.0.get(table) else { return Ok(None) };
        for &(_, place) in table.iter_hash(FxBuildHasher.hash_one(tag)).filter(|(other, _)| *other == tag) {
            let mut bytes = [0; UNIT];
            trails.read(u64::from(place) * UNIT as u64, &mut bytes)?;
            if matches!(Unit::read(&bytes), Unit::Step(step) if step.key() == Some(key)) {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    fn add(&mut self, key: (u64, i64), place: u32, trails: &Spool) -> io::Result<()> {
        if self.find(key, trails)?.is_none() {
            let (tag, table) = Self::tag(key);
            let hash = |(tag, _): &(u32, u32)| FxBuildHasher.hash_one(*tag);
            if let Some(table) = self.0.get_mut(table) {
                table.insert_unique(FxBuildHasher.hash_one(tag), (tag, place), hash);
            }
        }
        Ok(())
    }
}
