//! A hash table whose items lie in a row, and which knows what it takes.

use crate::sizes::indexed;
use indexmap::IndexMap;
use std::hash::Hash;

#[derive(Debug)]
pub(crate) struct Table<K, V> {
    items: IndexMap<K, V>,
    /// Items there is room for. What the map calls its capacity falls with each removal.
    room: usize,
}

impl<K: Hash + Eq, V> Table<K, V> {
    pub(crate) fn new() -> Self {
        Self { items: IndexMap::new(), room: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.items.get(key)
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.items.get_mut(key)
    }

    pub(crate) fn at(&self, index: usize) -> Option<(&K, &V)> {
        self.items.get_index(index)
    }

    /// What it takes besides what its items have elsewhere.
    pub(crate) fn bytes(&self) -> usize {
        indexed::<K, V>(self.room)
    }

    /// What one more item would take. While it grows, the old table is still there.
    pub(crate) fn growth(&self) -> usize {
        if self.len() < self.room { 0 } else { indexed::<K, V>(self.larger()) }
    }

    /// Room for one more, and for as many again.
    fn larger(&self) -> usize {
        (self.room * 2).max(7)
    }

    pub(crate) fn get_or_insert(&mut self, key: K, value: impl FnOnce() -> V) -> &mut V {
        if self.len() >= self.room && !self.items.contains_key(&key) {
            self.room = self.larger();
            self.items.reserve_exact(self.room - self.items.len());
        }
        self.items.entry(key).or_insert_with(value)
    }

    /// The last item takes the place of the removed one. Room that is of no use any more is given back.
    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let removed = self.items.swap_remove(key)?;
        if self.room > 64 && self.len() < self.room / 8 {
            self.room /= 4;
            self.items.shrink_to(self.room);
        }
        Some(removed)
    }

    #[cfg(test)]
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.items.values()
    }
}
