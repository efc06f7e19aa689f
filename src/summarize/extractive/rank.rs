//! From candidate lines to the chosen ones: roles within the session, what replaces what, worth, and selection.

use super::digest::Digest;
use super::item::{GROUPS, Item, Kind, SHARES};
use super::words::common;
use crate::summarize::SummaryRequest;
use crate::tokens::Counter;
use rustc_hash::FxHashMap;

/// Lines below this worth are not written even when there is room.
const FLOOR: f32 = 0.28;
/// Tokens of a bullet and its line end.
const BULLET: u64 = 2;
/// About so many lines are chosen for a summary of common size.
const FEW: usize = 64;
/// Lines tried after the first that did not fit.
const MISFITS: usize = 24;

/// A line with its place and worth in this summary.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub(super) item: &'a Item,
    pub(super) kind: Kind,
    /// Earlier summary first, then by message.
    pub(super) order: u32,
    old: bool,
    worth: f32,
}

/// Lines of the earlier summary and of the messages, with their kinds settled and the outdated ones gone.
pub(super) fn candidates<'a>(
    request: &SummaryRequest<'_>,
    digest: &Digest,
    new: [&'a [Item]; 2],
    old: &'a [Item],
) -> Vec<Candidate<'a>> {
    let mut out: Vec<Candidate<'a>> =
        Vec::with_capacity(old.len() + new.map(<[Item]>::len).iter().sum::<usize>());
    for (index, item) in old.iter().chain(new.into_iter().flatten()).enumerate() {
        let old = index < old.len();
        out.push(Candidate { item, kind: item.kind, order: index as u32, old, worth: 0.0 });
    }
    let nothing_happened = request.messages.is_empty();
    if !nothing_happened {
        requests(&mut out, request, digest);
        turn(&mut out, request);
        state(&mut out, digest);
        lists(&mut out, request, digest);
    }
    plans(&mut out);
    replace_by_key(&mut out);
    replace_by_skeleton(&mut out);
    turned_down(&mut out);
    finished(&mut out);
    worth(&mut out, request, old.len());
    out.retain(|candidate| candidate.worth >= FLOOR || (candidate.old && nothing_happened));
    out
}

/// Which request is the goal, which is the newest, and which are history.
fn requests(out: &mut [Candidate<'_>], request: &SummaryRequest<'_>, digest: &Digest) {
    let newest = out.iter().filter(|c| !c.old && c.item.kind == Kind::Request).map(|c| c.item.message).max();
    let has_goal = out.iter().any(|c| c.old && c.kind == Kind::Goal);
    let goal = if has_goal {
        None
    } else {
        out.iter()
            .filter(|c| !c.old && c.item.kind == Kind::Request && c.item.weight >= 0.5)
            .map(|c| c.item.message)
            .min()
            .or(newest)
    };
    let closed = request.turn_start.is_none() && digest.is_closing(request.messages.end.saturating_sub(1));
    for candidate in out.iter_mut() {
        match (candidate.old, candidate.kind) {
            (true, Kind::Request | Kind::Answered) if newest.is_some() => candidate.kind = Kind::Asked,
            (true, Kind::Request) if closed => candidate.kind = Kind::Answered,
            (false, Kind::Request) => {
                candidate.kind = if Some(candidate.item.message) == goal {
                    Kind::Goal
                } else if Some(candidate.item.message) != newest {
                    Kind::Asked
                } else if closed {
                    Kind::Answered
                } else {
                    Kind::Request
                };
            }
            _ => {}
        }
    }
}

/// What was done in the current turn is progress, what was done in earlier ones is done.
fn turn(out: &mut [Candidate<'_>], request: &SummaryRequest<'_>) {
    let new_request = out.iter().any(|c| !c.old && c.item.kind == Kind::Request);
    for candidate in out.iter_mut() {
        match (candidate.old, candidate.kind) {
            (true, Kind::Progress) if new_request || request.turn_start.is_none() => {
                candidate.kind = Kind::Done;
            }
            (false, Kind::Done)
                if request.turn_start.is_some_and(|start| candidate.item.message as usize >= start) =>
            {
                candidate.kind = Kind::Progress;
            }
            _ => {}
        }
    }
}

/// The agent's last words say where things stand.
fn state(out: &mut [Candidate<'_>], digest: &Digest) {
    let speaks = |c: &&Candidate<'_>| {
        !c.old
            && matches!(c.item.kind, Kind::Note | Kind::Value | Kind::Done | Kind::Next | Kind::Decision)
            && c.item.key.is_none()
    };
    let Some(message) = out.iter().filter(speaks).map(|c| c.item.message).max() else { return };
    let mut places = out
        .iter()
        .enumerate()
        .filter(|(_, c)| speaks(c) && c.item.message == message)
        .map(|(at, _)| at)
        .collect::<Vec<_>>();
    let place = if digest.is_closing(message as usize) {
        let says =
            |at: &usize| out.get(*at).is_some_and(|c| c.item.words.len() >= 4 && c.item.weight >= 0.25);
        places.iter().copied().find(says).or(places.first().copied())
    } else {
        places.pop()
    };
    let Some(place) = place else { return };
    for (at, candidate) in out.iter_mut().enumerate() {
        if at == place {
            candidate.kind = Kind::State;
        } else if candidate.old && candidate.kind == Kind::State {
            candidate.kind = Kind::Note;
        }
    }
}

/// A todo list that was replaced leaves nothing of the lists before it but what was finished.
fn lists(out: &mut Vec<Candidate<'_>>, request: &SummaryRequest<'_>, digest: &Digest) {
    let Some(last) = digest.last_list(&request.messages) else { return };
    out.retain(|c| {
        !(matches!(c.kind, Kind::Todo | Kind::Active)
            && (c.old || (c.item.key.is_some() && c.item.message < last)))
    });
}

/// A new plan takes the place of what the agent said it would do next.
fn plans(out: &mut Vec<Candidate<'_>>) {
    let newest = out
        .iter()
        .filter(|c| !c.old && matches!(c.kind, Kind::Next | Kind::Todo) && c.item.weight >= 0.4)
        .map(|c| c.item.message)
        .max();
    if let Some(newest) = newest {
        out.retain(|c| c.kind != Kind::Next || (!c.old && c.item.message + 12 >= newest));
    }
}

/// Of lines with one key the last stays.
fn replace_by_key(out: &mut Vec<Candidate<'_>>) {
    let mut last: FxHashMap<u64, u32> = FxHashMap::default();
    for candidate in out.iter() {
        if let Some(key) = candidate.item.key {
            last.insert(key, candidate.order);
        }
    }
    out.retain(|c| c.item.key.is_none_or(|key| last.get(&key) == Some(&c.order)));
}

/// True for kinds whose values change over time.
fn holds_value(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Rule | Kind::Decision | Kind::Value | Kind::Note | Kind::Done | Kind::State | Kind::Progress
    )
}

/// Of lines with the same words around different values the last stays.
fn replace_by_skeleton(out: &mut Vec<Candidate<'_>>) {
    let mut last: FxHashMap<&[u32], u32> = FxHashMap::default();
    for candidate in out.iter() {
        if has_skeleton(candidate) {
            last.insert(&candidate.item.words, candidate.order);
        }
    }
    out.retain(|c| !has_skeleton(c) || last.get(&*c.item.words) == Some(&c.order));
}

fn has_skeleton(candidate: &Candidate<'_>) -> bool {
    let words = candidate.item.words.len();
    holds_value(candidate.kind) && !candidate.item.values.is_empty() && (2..=14).contains(&words)
}

/// Older choices and values that a later line turned down.
fn turned_down(out: &mut Vec<Candidate<'_>>) {
    let mut downs: FxHashMap<u32, (u32, &Item)> = FxHashMap::default();
    for candidate in out.iter() {
        if let Some(word) = candidate.item.rejects {
            downs.insert(word, (candidate.order, candidate.item));
        }
    }
    if downs.is_empty() {
        return;
    }
    out.retain(|c| {
        let outdated = matches!(c.kind, Kind::Rule | Kind::Decision | Kind::Value | Kind::State | Kind::Next)
            && c.item.words.len() <= 14
            && c.item.words.iter().chain(&c.item.values).any(|word| {
                downs.get(word).is_some_and(|(order, by)| {
                    c.order < *order && c.item.rejects != Some(*word) && common(&by.words, &c.item.words) >= 2
                })
            });
        !outdated
    });
}

/// Pending lines that a later line reports as finished.
fn finished(out: &mut Vec<Candidate<'_>>) {
    let done: Vec<(u32, &Item)> = out
        .iter()
        .filter(|c| matches!(c.kind, Kind::Done | Kind::Progress | Kind::State))
        .map(|c| (c.order, c.item))
        .collect();
    out.retain(|c| {
        if !matches!(c.kind, Kind::Todo | Kind::Active | Kind::Next) || c.item.words.len() < 2 {
            return true;
        }
        !done.iter().any(|(order, done)| {
            // A shared label (`WP15`) needs fewer shared words.
            let labelled = common(&done.values, &c.item.values) > 0;
            let needed = (c.item.words.len() * if labelled { 4 } else { 7 }).div_ceil(10).max(2);
            *order > c.order
                && (done.signature & c.item.signature).count_ones() as usize * 2 >= needed
                && common(&done.words, &c.item.words) >= needed
        })
    });
}

/// Worth of each line, from its kind, its looks, how much the session speaks of its words, and its age.
fn worth(out: &mut [Candidate<'_>], request: &SummaryRequest<'_>, old_lines: usize) {
    // How often each word is spoken, by a number that stands for it, and the numbers of all words in their order.
    let mut numbers: FxHashMap<u32, u32> =
        FxHashMap::with_capacity_and_hasher(out.len() * 4, rustc_hash::FxBuildHasher);
    let mut often: Vec<f32> = Vec::with_capacity(out.len() * 4);
    let mut spoken: Vec<u32> = Vec::with_capacity(out.len() * 8);
    for candidate in out.iter() {
        for word in &candidate.item.words {
            let number = *numbers.entry(*word).or_insert(often.len() as u32);
            match often.get_mut(number as usize) {
                Some(count) => *count += 1.0,
                None => often.push(1.0),
            }
            spoken.push(number);
        }
    }
    let heard: Vec<f32> = often.iter().map(|count| (count / 12.0).min(1.0).sqrt()).collect();
    let mut spoken = spoken.as_slice();
    let span = request.messages.len().max(1) as f32;
    let start = request.messages.start as f32;
    let last = out.iter().filter(|c| !c.old).map(|c| c.item.message).max();
    for candidate in out.iter_mut() {
        let item = candidate.item;
        let (words, behind) = spoken.split_at_checked(item.words.len()).unwrap_or_default();
        spoken = behind;
        let (salience, age) = if candidate.old {
            let position = (candidate.order as f32 + 1.0) / old_lines.max(1) as f32;
            (
                1.0,
                candidate.kind.carry()
                    * (candidate.kind.oldest() + (1.0 - candidate.kind.oldest()) * position),
            )
        } else {
            let heard = words.iter().map(|number| heard.get(*number as usize).copied().unwrap_or(0.0));
            let salience = 0.6 + 0.8 * (heard.sum::<f32>() / (item.words.len() as f32 + 2.0)).min(1.0);
            let position = ((item.message as f32 - start) / span).clamp(0.0, 1.0);
            (salience, candidate.kind.at_start() + (1.0 - candidate.kind.at_start()) * position)
        };
        let weight = match candidate.kind {
            // The last words count whatever they look like.
            Kind::State if !candidate.old => {
                item.weight.max(if last == Some(item.message) { 0.9 } else { 0.7 })
            }
            Kind::Goal => item.weight.max(1.0),
            _ => item.weight,
        };
        candidate.worth = candidate.kind.base() * weight * salience * age;
    }
}

/// The chosen lines.
#[derive(Debug, Default)]
pub(super) struct Selection<'a> {
    /// In the order in which they were chosen, best first.
    pub(super) lines: Vec<Candidate<'a>>,
    /// Tokens of all lines, by their counts.
    pub(super) tokens: u64,
    /// The words of each line in brief.
    words: Vec<Brief>,
    columns: Columns,
}

/// The candidates of each group of kinds with their worth per token, the best last.
#[derive(Debug)]
pub(super) struct Queues<'a>([Vec<(f32, Candidate<'a>)>; GROUPS]);

impl<'a> Queues<'a> {
    /// Sorts candidates.
    pub(super) fn new(candidates: &[Candidate<'a>]) -> Self {
        let mut queues: [Vec<(f32, Candidate<'a>)>; GROUPS] =
            std::array::from_fn(|_| Vec::with_capacity(candidates.len().min(FEW / 2)));
        for candidate in candidates {
            let text = &candidate.item.text;
            let chars = if text.is_ascii() { text.len() } else { text.chars().count() } as f32;
            let wide = (text.len() as f32 - chars) / 2.0;
            let cost = chars / 4.0 + 0.6 * wide + 8.0;
            let priority = candidate.worth / (cost / 24.0).powf(0.6);
            if let Some(queue) = queues.get_mut(candidate.kind.group()) {
                queue.push((priority, *candidate));
            }
        }
        for queue in &mut queues {
            // Ties go to the later line.
            queue.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.order.cmp(&b.1.order)));
        }
        Self(queues)
    }
}

/// Chooses lines for `budget` tokens: by worth per token, each group of kinds slowing down as it fills its share.
pub(super) fn select<'a>(queues: &Queues<'a>, budget: u64, counter: &Counter) -> Selection<'a> {
    let mut queues = queues.0.each_ref().map(Vec::as_slice);
    let mut used = [0f32; GROUPS];
    let mut used_by_old = [0f32; GROUPS];
    let mut out =
        Selection { lines: Vec::with_capacity(FEW), words: Vec::with_capacity(FEW), ..Selection::default() };
    let mut misfits = 0;
    // The priority of the best of each group; a choice changes that of its own group only.
    let mut priorities: [Option<f32>; GROUPS] = [None; GROUPS];
    let mut changed = 0..GROUPS;
    loop {
        for group in changed {
            let best = queues.get(group).and_then(|queue| queue.last()).map(|(priority, candidate)| {
                let share = (SHARES.get(group).copied().unwrap_or(0.1) * budget as f32).max(1.0);
                let full = used.get(group).copied().unwrap_or(0.0) / share;
                let mut now = priority / (1.0 + full * full);
                if candidate.old && candidate.kind.fades() {
                    // What is new gets its part of what only tells how things went.
                    let full = 1.6 * used_by_old.get(group).copied().unwrap_or(0.0) / share;
                    now /= 1.0 + full * full;
                }
                now
            });
            if let Some(priority) = priorities.get_mut(group) {
                *priority = best;
            }
        }
        let mut best: Option<(f32, usize)> = None;
        for (group, now) in priorities.iter().enumerate() {
            if let Some(now) = *now
                && best.is_none_or(|(high, _)| now > high)
            {
                best = Some((now, group));
            }
        }
        let Some((_, group)) = best else { break };
        changed = group..group + 1;
        let Some((_, candidate)) = queues.get_mut(group).and_then(|queue| queue.split_off_last()) else {
            break;
        };
        let brief = Brief::of(candidate.item);
        match against(candidate, brief, &out) {
            Against::New => {}
            Against::Repeats => continue,
            Against::Replaces(at) => {
                // The newer value takes the place of the older one, if it fits there.
                if let Some(place) = out.lines.get_mut(at) {
                    let before = line_tokens(place, counter);
                    let after = line_tokens(candidate, counter);
                    if out.tokens - before + after <= budget {
                        out.tokens = out.tokens - before + after;
                        let kind = place.kind;
                        *place = *candidate;
                        if kind == Kind::Rule {
                            place.kind = kind;
                        }
                        if let Some(words) = out.words.get_mut(at) {
                            *words = brief;
                            out.columns.replace(at, candidate.item.signature);
                        }
                    }
                }
                continue;
            }
        }
        let cost = line_tokens(candidate, counter);
        if out.tokens + cost > budget {
            misfits += 1;
            if misfits > MISFITS {
                break;
            }
            continue;
        }
        out.tokens += cost;
        let counters = [&mut used, &mut used_by_old];
        for (counter, counts) in counters.into_iter().zip([true, candidate.old]) {
            if let Some(used) = counter.get_mut(group).filter(|_| counts) {
                *used += cost as f32;
            }
        }
        out.columns.push(out.lines.len(), candidate.item.signature);
        out.lines.push(*candidate);
        out.words.push(brief);
    }
    out
}

/// Tokens of a line with its bullet and label.
pub(super) fn line_tokens(candidate: &Candidate<'_>, counter: &Counter) -> u64 {
    let text = candidate.item.tokens.get_or_init(|| counter.count(&candidate.item.text) as u32);
    let label = match candidate.kind.label().len() {
        0 => 0,
        1..=5 => 2,
        6..=12 => 3,
        _ => 6,
    };
    u64::from(*text) + label + BULLET
}

/// How a line stands to those already chosen.
enum Against {
    New,
    Repeats,
    Replaces(usize),
}

/// What is enough to tell most lines apart without reading their words.
#[derive(Debug, Clone, Copy)]
struct Brief {
    signature: u64,
    /// Number of words.
    words: u32,
    /// Three quarters of it, rounded up.
    most: u32,
    /// Words less bits of the signature: so many of them may hide behind the bit of another.
    hidden: u32,
}

impl Brief {
    fn of(item: &Item) -> Self {
        let words = item.words.len() as u32;
        Self {
            signature: item.signature,
            words,
            most: (words * 3).div_ceil(4),
            hidden: words - item.signature.count_ones(),
        }
    }

    /// False when so few words can be common that [`against`] finds neither a repeat nor a change: those need three
    /// quarters of the words of the shorter line, and of both when the shorter one is `other`.
    fn may_match(self, other: Self) -> bool {
        if other.words < self.most {
            return false;
        }
        let fewer = self.words.min(other.words);
        let bits = (self.signature & other.signature).count_ones();
        bits * 2 >= fewer && (bits + self.hidden.min(other.hidden)) * 4 >= fewer * 3
    }

    /// Fewer bits than these are in common with no line that [`Self::may_match`].
    fn least(self) -> u32 {
        self.most.div_ceil(2)
    }
}

/// The signatures of the chosen lines, turned by a quarter: for each bit the lines that have it, in blocks of 64 lines. Most
/// lines have but a bit or two in common, and all of a block are told apart at once.
#[derive(Debug, Default)]
struct Columns(Vec<[u64; 64]>);

impl Columns {
    /// Adds the line that has this place, the next one.
    fn push(&mut self, at: usize, signature: u64) {
        if self.0.len() <= at / 64 {
            self.0.push([0; 64]);
        }
        if let Some(block) = self.0.get_mut(at / 64) {
            for bit in bits(signature) {
                block[bit % 64] |= 1 << (at % 64);
            }
        }
    }

    /// Another line takes this place.
    fn replace(&mut self, at: usize, signature: u64) {
        for lines in self.0.get_mut(at / 64).into_iter().flatten() {
            *lines &= !(1 << (at % 64));
        }
        self.push(at, signature);
    }

    /// By block, the lines with at least so many bits in common, and some with fewer where these are more than eight.
    fn near(&self, signature: u64, least: u32) -> impl Iterator<Item = u64> {
        self.0.iter().map(move |block| {
            // Numbers of bits, for each line: in the ones, in the twos, in the fours, and eight or more.
            let (mut ones, mut twos, mut fours, mut more) = (0, 0, 0, 0);
            for bit in bits(signature) {
                let lines = block[bit % 64];
                let to_twos = ones & lines;
                let to_fours = twos & to_twos;
                more |= fours & to_fours;
                fours ^= to_fours;
                twos ^= to_twos;
                ones ^= lines;
            }
            match least {
                0 => u64::MAX,
                1 => ones | twos | fours | more,
                2 => twos | fours | more,
                3 => (ones & twos) | fours | more,
                4 => fours | more,
                5 => ((ones | twos) & fours) | more,
                6 => (twos & fours) | more,
                7 => (ones & twos & fours) | more,
                _ => more,
            }
        })
    }
}

/// Places of the bits of a number, in order.
fn bits(mut number: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (number != 0).then(|| number.trailing_zeros() as usize);
        number &= number.wrapping_sub(1);
        bit
    })
}

/// How a line, here in brief as well, stands to the chosen ones.
fn against(candidate: &Candidate<'_>, brief: Brief, chosen: &Selection<'_>) -> Against {
    for (block, lines) in chosen.columns.near(brief.signature, brief.least()).enumerate() {
        for line in bits(lines) {
            let at = block * 64 + line;
            if chosen.words.get(at).is_some_and(|other| brief.may_match(*other))
                && let Some(other) = chosen.lines.get(at)
                && let Some(found) = against_one(candidate, other, at)
            {
                return found;
            }
        }
    }
    Against::New
}

/// What tells a line from one of the chosen ones, at this place; none where they are told apart.
fn against_one(candidate: &Candidate<'_>, other: &Candidate<'_>, at: usize) -> Option<Against> {
    let words = &candidate.item.words;
    let fewer = words.len().min(other.item.words.len());
    if fewer == 0 {
        if words.len() == other.item.words.len()
            && candidate.item.values == other.item.values
            && candidate.item.text == other.item.text
        {
            return Some(Against::Repeats);
        }
        return None;
    }
    let shared = common(words, &other.item.words);
    let all = words.len() + other.item.words.len() - shared;
    let alike = shared as f32 / all as f32;
    let within = shared as f32 / fewer as f32;
    let new_values = candidate.item.values.len() > common(&candidate.item.values, &other.item.values);
    if new_values {
        let changes = alike >= 0.75
            && fewer >= 3
            && holds_value(candidate.kind)
            && holds_value(other.kind)
            && !other.item.values.is_empty();
        if changes && candidate.order > other.order {
            return Some(Against::Replaces(at));
        }
        if changes {
            return Some(Against::Repeats);
        }
        return None;
    }
    let short = words.len() <= other.item.words.len();
    if alike >= 0.8 || (within >= 0.85 && short && fewer >= 3) || (within >= 1.0 && short && fewer >= 2) {
        // A rule that is part of a request must stand on its own: the request will go one day.
        if candidate.kind == Kind::Rule && other.kind.group() == 0 && alike < 0.8 {
            return None;
        }
        return Some(Against::Repeats);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::extractive::words::Look;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn item(words: &BTreeSet<u32>) -> Item {
        let look = Look { words: words.iter().copied().collect(), ..Look::default() };
        Item::new(Kind::Note, "a line", 0, 1.0, look)
    }

    proptest! {
        /// Words of which many share a bit of the signature.
        #[test]
        fn lines_told_apart_in_brief_are_apart(
            a in proptest::collection::btree_set((0u32..6, 0u32..4).prop_map(|(bit, high)| high * 64 + bit), 0..24),
            b in proptest::collection::btree_set((0u32..6, 0u32..4).prop_map(|(bit, high)| high * 64 + bit), 0..24),
        ) {
            let (left, right) = (item(&a), item(&b));
            let fewer = a.len().min(b.len());
            let bits = (left.signature & right.signature).count_ones() as usize;
            if fewer > 0 && bits * 2 >= fewer && !Brief::of(&left).may_match(Brief::of(&right)) {
                let shared = a.intersection(&b).count();
                let all = a.union(&b).count();
                prop_assert!((shared as f32 / all as f32) < 0.75);
                prop_assert!(a.len() > b.len() || (shared as f32 / fewer as f32) < 0.85);
            }
            if a == b {
                prop_assert_eq!(Brief::of(&left).may_match(Brief::of(&right)), bits * 2 >= fewer);
            }
            if Brief::of(&left).may_match(Brief::of(&right)) {
                prop_assert!(bits as u32 >= Brief::of(&left).least());
            }
        }

        /// Lines chosen and replaced, more than a block of them.
        #[test]
        fn columns_tell_what_signatures_tell(
            lines in proptest::collection::vec(any::<(u64, u64)>(), 1..150),
            again in proptest::collection::vec(any::<(usize, u64)>(), 0..20),
            signature: u64,
            least in 0u32..12,
        ) {
            // About a quarter of all bits, as signatures have.
            let mut lines: Vec<u64> = lines.into_iter().map(|(a, b)| a & b).collect();
            let mut columns = Columns::default();
            for (at, line) in lines.iter().enumerate() {
                columns.push(at, *line);
            }
            for (at, line) in again {
                let at = at % lines.len();
                lines[at] = line;
                columns.replace(at, line);
            }
            let blocks = columns.near(signature, least).enumerate();
            let near: Vec<usize> = blocks.flat_map(|(block, near)| bits(near).map(move |line| block * 64 + line)).filter(|at| *at < lines.len()).collect();
            let common = |line: &u64| (line & signature).count_ones() >= least.min(8);
            let told: Vec<usize> = (0..lines.len()).filter(|at| lines.get(*at).is_some_and(common)).collect();
            prop_assert_eq!(near, told);
        }
    }
}
