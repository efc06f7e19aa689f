//! Choices of a seeded generator.

use compactor::stats::SplitMix64;

/// A seeded source of choices.
pub(super) struct Dice(SplitMix64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// A number in `low..high`; `low` where that is empty.
    pub(super) fn range(&mut self, low: usize, high: usize) -> usize {
        low + self.0.below(high.saturating_sub(low))
    }

    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.0.below(100) < percent
    }

    pub(super) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        list.get(self.0.below(list.len())).expect("lists to pick from are not empty")
    }

    pub(super) fn word<'a>(&mut self, list: &[&'a str]) -> &'a str {
        self.pick::<&str>(list)
    }

    /// Takes a random element out of a list.
    pub(super) fn take<T>(&mut self, list: &mut Vec<T>) -> T {
        assert!(!list.is_empty(), "nothing left to take");
        list.swap_remove(self.0.below(list.len()))
    }

    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.0.below(at + 1));
        }
    }

    /// So many digits of a base, the first a letter where the base has letters.
    pub(super) fn digits(&mut self, alphabet: &str, length: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| *self.pick(&letters)).collect()
    }
}
