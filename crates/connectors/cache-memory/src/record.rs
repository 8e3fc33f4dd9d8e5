//! What lies under a key.

use crate::sizes::allocated;
use signalbox_ports::cache::{Digest, Entry, Partition, Scope};
use std::{mem::size_of, sync::Arc};

/// Whose key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Address {
    pub(crate) tenant: Digest,
    pub(crate) key: Digest,
}

/// An entry without its vector, which lies with those of its group.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) key: Digest,
    pub(crate) partition: Partition,
    pub(crate) epochs: Box<[(Scope, u64)]>,
    sealed: Box<[u8]>,
    pub(crate) worth: i64,
    /// Tells it from what lay under its key before: an alias leads to one of these only.
    pub(crate) put: u64,
    /// Number of what its vector is of.
    pub(crate) embedder: u16,
}

impl Kept {
    pub(crate) fn new(entry: &Entry, embedder: u16, put: u64) -> Self {
        Self {
            key: entry.key,
            partition: entry.partition,
            epochs: entry.epochs.as_slice().into(),
            sealed: entry.sealed.as_slice().into(),
            worth: entry.worth,
            put,
            embedder,
        }
    }

    /// As it was stored, but without its vector.
    pub(crate) fn entry(&self) -> Entry {
        Entry {
            key: self.key,
            partition: self.partition,
            epochs: self.epochs.to_vec(),
            sealed: self.sealed.to_vec(),
            vector: None,
            worth: self.worth,
        }
    }

    pub(crate) fn is_under(&self, scope: Scope) -> bool {
        match scope {
            Scope::Tenant => true,
            Scope::Task(task) if self.partition.task == task => true,
            Scope::Locale(locale) if self.partition.locale == locale => true,
            named => self.epochs.iter().any(|(scope, _)| *scope == named),
        }
    }

    fn bytes(&self) -> usize {
        // Both counts of its owners come with it.
        allocated(size_of::<Self>() + 2 * size_of::<usize>())
            + allocated(self.sealed.len())
            + allocated(size_of_val(&*self.epochs))
    }
}

/// What a key leads to.
#[derive(Debug)]
pub(crate) enum What {
    Entry(Arc<Kept>),
    /// The entry that was put under another key at a time.
    Alias {
        key: Digest,
        put: u64,
    },
}

/// What lies under a key, and what decides how long.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) what: What,
    /// In milliseconds, as all times here.
    pub(crate) stored: u64,
    pub(crate) expires: u64,
    pub(crate) worth: i64,
    pub(crate) hits: u32,
    /// Where its vector is in its group.
    pub(crate) row: Option<u32>,
}

impl Record {
    /// What it takes besides its place in the table and its vector.
    pub(crate) fn bytes(&self) -> usize {
        match &self.what {
            What::Entry(kept) => kept.bytes(),
            What::Alias { .. } => 0,
        }
    }

    /// Of what is kept, what goes first has the least of this: worth times hits, over bytes times age.
    pub(crate) fn rank(&self, now: u64) -> f64 {
        let worth = self.worth.max(1) as f64 * (f64::from(self.hits) + 1.0);
        let cost = (self.bytes() + size_of::<(Address, Self)>()) as f64;
        let age = now.saturating_sub(self.stored) as f64 + 1_000.0;
        worth / (cost * age)
    }
}
