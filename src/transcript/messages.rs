//! Sets of messages of a session: what stays in a context is nearly always a stretch or a few.

use super::MessageIdx;
use smallvec::SmallVec;
use std::ops::Range;

/// Positions of messages, ascending, each once. It takes memory for each gap among them, none for each message.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct MessageSet(SmallVec<[(u32, u32); 2]>);

impl MessageSet {
    /// The positions, ascending.
    pub fn iter(&self) -> impl Iterator<Item = MessageIdx> + Clone + '_ {
        self.0.iter().flat_map(|(start, end)| (*start..*end).map(MessageIdx))
    }

    /// The stretches without a gap, ascending.
    pub fn stretches(&self) -> impl Iterator<Item = Range<MessageIdx>> + '_ {
        self.0.iter().map(|(start, end)| MessageIdx(*start)..MessageIdx(*end))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.iter().map(|(start, end)| (end - start) as usize).sum()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True when this one is among them.
    pub fn contains(&self, at: MessageIdx) -> bool {
        let behind = self.0.partition_point(|(start, _)| *start <= at.0);
        let stretch = behind.checked_sub(1).and_then(|last| self.0.get(last));
        stretch.is_some_and(|(_, end)| at.0 < *end)
    }

    /// The first.
    pub fn first(&self) -> Option<MessageIdx> {
        self.0.first().map(|(start, _)| MessageIdx(*start))
    }

    /// The last.
    pub fn last(&self) -> Option<MessageIdx> {
        self.0.last().map(|(_, end)| MessageIdx(end.saturating_sub(1)))
    }

    /// Takes all out.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Those before `end` that are not in it.
    #[must_use]
    pub fn others(&self, end: usize) -> Self {
        let end = MessageIdx::new(end).0;
        let mut others = Self::default();
        let mut from = 0;
        for (start, behind) in &self.0 {
            others.add(from, (*start).min(end));
            from = *behind;
        }
        others.add(from, end);
        others
    }

    /// Adds a stretch that begins behind the beginning of the last one, or there.
    fn add(&mut self, start: u32, end: u32) {
        match self.0.last_mut().filter(|last| start <= last.1) {
            _ if start >= end => {}
            Some(last) => last.1 = last.1.max(end),
            None => self.0.push((start, end)),
        }
    }
}

impl From<Range<usize>> for MessageSet {
    fn from(stretch: Range<usize>) -> Self {
        let mut set = Self::default();
        set.add(MessageIdx::new(stretch.start).0, MessageIdx::new(stretch.end).0);
        set
    }
}

/// Stretches in any order, which may overlap.
impl Extend<Range<MessageIdx>> for MessageSet {
    fn extend<I: IntoIterator<Item = Range<MessageIdx>>>(&mut self, stretches: I) {
        for stretch in stretches {
            let (start, end) = (stretch.start.0, stretch.end.0);
            if self.0.last().is_none_or(|last| last.0 <= start) {
                self.add(start, end);
            } else if start < end {
                // Those that touch it become one with it.
                let first = self.0.partition_point(|other| other.1 < start);
                let behind = self.0.partition_point(|other| other.0 <= end);
                let touched = self.0.get(first..behind).unwrap_or_default();
                let start = touched.first().map_or(start, |other| other.0.min(start));
                let end = touched.last().map_or(end, |other| other.1.max(end));
                self.0.drain(first..behind);
                self.0.insert(first, (start, end));
            }
        }
    }
}

impl FromIterator<Range<MessageIdx>> for MessageSet {
    fn from_iter<I: IntoIterator<Item = Range<MessageIdx>>>(stretches: I) -> Self {
        let mut set = Self::default();
        set.extend(stretches);
        set
    }
}

/// Positions in any order.
impl FromIterator<MessageIdx> for MessageSet {
    fn from_iter<I: IntoIterator<Item = MessageIdx>>(positions: I) -> Self {
        positions.into_iter().map(|at| at..MessageIdx(at.0.saturating_add(1))).collect()
    }
}

impl<const N: usize> PartialEq<[MessageIdx; N]> for MessageSet {
    fn eq(&self, other: &[MessageIdx; N]) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// What a set of single positions would hold.
        #[test]
        fn a_set_is_a_set(stretches in prop::collection::vec((0u32..60, 0u32..9), 0..20), end in 0usize..70) {
            let range = |(start, length): &(u32, u32)| MessageIdx(*start)..MessageIdx(start + length);
            let set: MessageSet = stretches.iter().map(range).collect();
            let plain: BTreeSet<u32> = stretches.iter().flat_map(|(start, length)| *start..start + length).collect();
            let positions = |set: &MessageSet| set.iter().map(|at| at.0).collect::<Vec<u32>>();
            prop_assert_eq!(positions(&set), plain.iter().copied().collect::<Vec<u32>>());
            prop_assert_eq!(set.len(), plain.len());
            prop_assert_eq!(set.is_empty(), plain.is_empty());
            prop_assert!((0..70).all(|at| set.contains(MessageIdx(at)) == plain.contains(&at)));
            prop_assert_eq!(set.first().map(|at| at.0), plain.first().copied());
            prop_assert_eq!(set.last().map(|at| at.0), plain.last().copied());
            let others: Vec<u32> = (0..end as u32).filter(|at| !plain.contains(at)).collect();
            prop_assert_eq!(positions(&set.others(end)), others);
            let gaps = plain.iter().filter(|at| !plain.contains(&(**at + 1))).count();
            prop_assert_eq!(set.stretches().count(), gaps);
            let single: MessageSet = plain.iter().rev().map(|at| MessageIdx(*at)).collect();
            prop_assert_eq!(single, set);
        }
    }
}
