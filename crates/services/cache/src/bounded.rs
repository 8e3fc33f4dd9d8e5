//! A map that forgets what was not used lately.

use std::{collections::HashMap, hash::Hash, mem};

/// Holds between half and all of its bound: what was not asked for while half of it came in is forgotten.
#[derive(Debug)]
pub(crate) struct Bounded<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
    half: usize,
}

impl<K: Hash + Eq + Clone, V: Clone> Bounded<K, V> {
    pub(crate) fn new(most: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), half: (most / 2).max(1) }
    }

    pub(crate) fn get(&mut self, key: &K) -> Option<V> {
        if let Some(value) = self.young.get(key) {
            return Some(value.clone());
        }
        let value = self.old.remove(key)?;
        self.insert(key.clone(), value.clone());
        Some(value)
    }

    /// All that is there, once.
    pub(crate) fn values(&self) -> Vec<V> {
        let old = self.old.iter().filter(|(key, _)| !self.young.contains_key(key));
        self.young.iter().chain(old).map(|(_, value)| value.clone()).collect()
    }

    pub(crate) fn insert(&mut self, key: K, value: V) {
        if self.young.len() >= self.half {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_the_rest_goes_before_the_bound_is_passed() {
        let mut map = Bounded::new(10);
        for number in 0..1_000 {
            map.insert(number, number);
            assert_eq!(map.get(&0), Some(0));
            assert!(map.young.len() + map.old.len() <= 10);
        }
        assert_eq!((map.get(&999), map.get(&1)), (Some(999), None));
    }
}
