//! Many short texts as keys of one map. They stand behind each other in one buffer: a key of its own would be an
//! allocation each, and the memos of lines that use this get a new key for most of what they are asked.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;
use std::ops::Range;

/// A map from texts to values, to which entries are only added.
#[derive(Debug, Clone)]
pub(crate) struct Texts<V> {
    /// All keys.
    buffer: String,
    entries: HashTable<Slot<V>>,
}

#[derive(Debug, Clone)]
struct Slot<V> {
    /// Of the key: to grow, the table reads no key.
    hash: u64,
    /// Where the key stands.
    at: Range<usize>,
    value: V,
}

impl<V> Slot<V> {
    fn holds(&self, hash: u64, key: &str, buffer: &str) -> bool {
        self.hash == hash && buffer.get(self.at.clone()) == Some(key)
    }
}

impl<V> Default for Texts<V> {
    fn default() -> Self {
        Self { buffer: String::new(), entries: HashTable::new() }
    }
}

impl<V> Texts<V> {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Makes room for so many texts.
    pub(crate) fn reserve(&mut self, texts: usize) {
        self.entries.reserve(texts, |slot| slot.hash);
    }

    pub(crate) fn get(&self, key: &str) -> Option<&V> {
        let hash = FxBuildHasher.hash_one(key);
        self.entries.find(hash, |slot| slot.holds(hash, key, &self.buffer)).map(|slot| &slot.value)
    }

    /// The value of a text, made when it is asked for the first time.
    pub(crate) fn get_or_insert_with(&mut self, key: &str, make: impl FnOnce() -> V) -> &V {
        let Self { buffer, entries } = self;
        let hash = FxBuildHasher.hash_one(key);
        let slot = match entries.entry(hash, |slot| slot.holds(hash, key, buffer), |slot| slot.hash) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let start = buffer.len();
                buffer.push_str(key);
                place.insert(Slot { hash, at: start..buffer.len(), value: make() }).into_mut()
            }
        };
        &slot.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn holds_what_a_map_holds(keys in prop::collection::vec("[ab]{0,3}|.{0,9}", 0..200)) {
            let mut texts = Texts::default();
            let mut map = HashMap::new();
            for (number, key) in keys.iter().enumerate() {
                prop_assert_eq!(texts.get(key), map.get(key));
                prop_assert_eq!(texts.get_or_insert_with(key, || number), map.entry(key).or_insert(number));
            }
            prop_assert_eq!(texts.is_empty(), map.is_empty());
            for key in &keys {
                prop_assert_eq!(texts.get(key), map.get(key));
            }
        }
    }
}
