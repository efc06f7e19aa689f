//! The words of an index by their hashes.

use super::NONE;

/// A number for each hash. Open addressing without a second hash: nearly every look is for a word of a text, and most
/// of those end at the first slot.
#[derive(Debug)]
pub(super) struct Table {
    /// As many as a power of two, less than half of them taken.
    slots: Vec<Slot>,
    taken: usize,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    hash: u64,
    /// [`NONE`] where the slot is free.
    number: u32,
}

impl Slot {
    const FREE: Self = Self { hash: 0, number: NONE };

    fn is_free(self) -> bool {
        self.number == NONE
    }
}

impl Default for Table {
    fn default() -> Self {
        Self { slots: vec![Slot::FREE; 64], taken: 0 }
    }
}

impl Table {
    /// The number of a hash.
    #[inline]
    pub(super) fn get(&self, hash: u64) -> Option<u32> {
        let mut at = self.first(hash);
        loop {
            let slot = *self.slots.get(at)?;
            if slot.is_free() {
                return None;
            }
            if slot.hash == hash {
                return Some(slot.number);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Gives a hash a number other than [`NONE`], in place of the one it had.
    pub(super) fn insert(&mut self, hash: u64, number: u32) {
        if (self.taken + 1) * 2 > self.slots.len() {
            let more = vec![Slot::FREE; self.slots.len() * 2];
            for slot in std::mem::replace(&mut self.slots, more).into_iter().filter(|slot| !slot.is_free()) {
                self.put(slot);
            }
        }
        self.taken += usize::from(self.put(Slot { hash, number }));
    }

    /// Was the slot free?
    fn put(&mut self, slot: Slot) -> bool {
        let mut at = self.first(slot.hash);
        while let Some(place) = self.slots.get_mut(at) {
            let free = place.is_free();
            if free || place.hash == slot.hash {
                *place = slot;
                return free;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        false
    }

    /// Where a hash belongs: its high bits, which are mixed best.
    fn first(&self, hash: u64) -> usize {
        (hash >> 32) as usize & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hash_keeps_its_last_number() {
        let mut table = Table::default();
        // Many that belong in one slot.
        let hashes: Vec<u64> = (0..500u64).map(|at| (at / 3) << 32 | at).collect();
        for number in [7, 9] {
            for (hash, at) in hashes.iter().zip(0..) {
                table.insert(*hash, at + number);
            }
        }
        assert!(hashes.iter().zip(0..).all(|(hash, at)| table.get(*hash) == Some(at + 9)));
        assert_eq!(table.get(500 << 32), None);
    }
}
