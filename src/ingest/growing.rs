//! A list that may become long: it grows by a quarter at a time.
//!
//! A `Vec` doubles, and while it moves it is there twice: three times its size at that moment, for messages more than their texts
//! take. Moved more often, a long list is never more than two and a quarter times its size.

use std::ops::{Deref, DerefMut};

/// From so many items on a quarter is enough.
const LONG: usize = 4096;

/// A `Vec` that grows slowly once it is long.
#[derive(Debug, Clone)]
pub(super) struct Growing<T>(Vec<T>);

impl<T> Growing<T> {
    /// Adds an item at the end.
    pub(super) fn push(&mut self, item: T) {
        let len = self.0.len();
        if LONG <= len && len == self.0.capacity() {
            self.0.reserve_exact(len / 4);
        }
        self.0.push(item);
    }

    /// The items.
    pub(super) fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T> Default for Growing<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> From<Vec<T>> for Growing<T> {
    fn from(items: Vec<T>) -> Self {
        Self(items)
    }
}

impl<T> Deref for Growing<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for Growing<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_grows_by_a_quarter() {
        let mut list = Growing::default();
        let mut room = Vec::new();
        for item in 0..30_000 {
            list.push(item);
            if room.last() != Some(&list.capacity()) {
                room.push(list.capacity());
            }
        }
        let long: Vec<usize> = room.into_iter().filter(|room| LONG <= *room).collect();
        assert!(2 < long.len() && long.windows(2).all(|pair| pair[1] == pair[0] + pair[0] / 4), "{long:?}");
        assert_eq!(list.into_vec(), (0..30_000).collect::<Vec<i32>>());
    }
}
