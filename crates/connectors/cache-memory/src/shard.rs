//! Entries of some keys, within a share of the bound.

use crate::{
    record::{Address, Kept, Record, What},
    table::Table,
    vectors::{Group, GroupKey, MOST_ROWS},
};
use signalbox_ports::cache::Digest;
use std::sync::Arc;

/// Of how many entries the least worth keeping goes.
const SAMPLE: usize = 8;
/// At how many entries each store looks whether they have expired.
const SWEPT: usize = 4;

/// Finds an entry once it is known to be wanted.
pub(crate) type Offered<'a> = &'a dyn Fn() -> Option<Arc<Kept>>;

#[derive(Debug)]
pub(crate) struct Shard {
    limit: usize,
    records: Table<Address, Record>,
    groups: Table<GroupKey, Group>,
    /// What all records take besides their places.
    record_bytes: usize,
    /// What all groups take besides theirs.
    group_bytes: usize,
    swept: usize,
    random: u64,
}

impl Shard {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            records: Table::new(),
            groups: Table::new(),
            record_bytes: 0,
            group_bytes: 0,
            swept: 0,
            random: 0x9E37_79B9_7F4A_7C15,
        }
    }

    /// Bytes it takes.
    pub(crate) fn used(&self) -> usize {
        self.records.bytes() + self.groups.bytes() + self.record_bytes + self.group_bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    pub(crate) fn record_at(&self, index: usize) -> Option<(&Address, &Record)> {
        self.records.at(index)
    }

    /// What is under a key and has not expired: a hit.
    pub(crate) fn hit(&mut self, address: &Address, now: u64) -> Option<&What> {
        let record = self.records.get_mut(address).filter(|record| record.expires > now)?;
        record.hits = record.hits.saturating_add(1);
        Some(&record.what)
    }

    /// Keeps a record in place of one with its address, and a vector with it. `false` where there is no room for it, or
    /// it would take half of all there is.
    pub(crate) fn insert(
        &mut self,
        address: Address,
        record: Record,
        vector: Option<&[f32]>,
        now: u64,
    ) -> bool {
        self.remove(&address);
        self.sweep(now);
        let group = vector.and_then(|vector| Some((self.group_of(&record, vector)?, vector)));
        let least = record.bytes() + group.map_or(0, |(_, vector)| size_of_val(vector));
        if least > self.limit / 2 {
            return false;
        }
        while self.used() + record.bytes() + self.growth(group) > self.limit {
            if !self.evict(now) {
                return false;
            }
        }
        self.record_bytes += record.bytes();
        self.records.get_or_insert(address, || record);
        if let Some((key, vector)) = group {
            self.add_vector(&address, key, vector);
        }
        true
    }

    /// Where a vector belongs, if it can be compared with what is there.
    fn group_of(&self, record: &Record, vector: &[f32]) -> Option<GroupKey> {
        let What::Entry(kept) = &record.what else { return None };
        let key = GroupKey { partition: kept.partition, embedder: kept.embedder };
        let fits = self.groups.get(&key).is_none_or(|group| group.dimensions() == vector.len());
        fits.then_some(key)
    }

    /// What another record would take besides its own bytes.
    fn growth(&self, group: Option<(GroupKey, &[f32])>) -> usize {
        let vector = group.map_or(0, |(key, vector)| match self.groups.get(&key) {
            Some(group) => group.growth(),
            None => Group::new(vector.len()).growth() + self.groups.growth(),
        });
        self.records.growth() + vector
    }

    fn add_vector(&mut self, address: &Address, key: GroupKey, vector: &[f32]) {
        self.make_room_in(key);
        let group = self.groups.get_or_insert(key, || Group::new(vector.len()));
        let before = group.bytes();
        let row = group.push(address.key, vector);
        self.group_bytes += group.bytes() - before;
        if let Some(record) = self.records.get_mut(address) {
            record.row = Some(row);
        }
    }

    /// A full group loses one of its vectors; the entry that had it is still found by its keys.
    fn make_room_in(&mut self, key: GroupKey) {
        let random = self.random();
        let Some(group) = self.groups.get(&key).filter(|group| group.rows() >= MOST_ROWS) else { return };
        let row = random as u32 % group.rows();
        if let Some(owner) = group.owner(row) {
            let address = Address { tenant: key.partition.tenant, key: owner };
            if let Some(record) = self.records.get_mut(&address) {
                record.row = None;
            }
            self.remove_vector(key, row);
        }
    }

    pub(crate) fn remove(&mut self, address: &Address) -> Option<Record> {
        let record = self.records.remove(address)?;
        self.record_bytes -= record.bytes();
        if let (What::Entry(kept), Some(row)) = (&record.what, record.row) {
            let key = GroupKey { partition: kept.partition, embedder: kept.embedder };
            self.remove_vector(key, row);
        }
        Some(record)
    }

    pub(crate) fn remove_at(&mut self, index: usize) -> Option<Record> {
        let address = *self.records.at(index)?.0;
        self.remove(&address)
    }

    fn remove_vector(&mut self, key: GroupKey, row: u32) {
        let Some(group) = self.groups.get_mut(&key) else { return };
        let before = group.bytes();
        let moved = group.remove(row);
        self.group_bytes -= before - group.bytes();
        if group.rows() == 0 {
            self.groups.remove(&key);
        }
        let moved = moved.map(|owner| Address { tenant: key.partition.tenant, key: owner });
        if let Some(record) = moved.and_then(|address| self.records.get_mut(&address)) {
            record.row = Some(row);
        }
    }

    /// Offers every vector of a group with its similarity, and its entry where it has not expired.
    pub(crate) fn compare(
        &self,
        key: GroupKey,
        vector: &[f32],
        now: u64,
        mut offer: impl FnMut(f32, Offered<'_>),
    ) {
        let Some(group) = self.groups.get(&key).filter(|group| group.dimensions() == vector.len()) else {
            return;
        };
        for (owner, similarity) in group.similarities(vector) {
            offer(similarity, &|| self.entry(key.partition.tenant, owner, now));
        }
    }

    fn entry(&self, tenant: Digest, key: Digest, now: u64) -> Option<Arc<Kept>> {
        let record = self.records.get(&Address { tenant, key }).filter(|record| record.expires > now)?;
        match &record.what {
            What::Entry(kept) => Some(kept.clone()),
            What::Alias { .. } => None,
        }
    }

    /// Removes a few of what has expired. Whoever stores goes round once in a while.
    fn sweep(&mut self, now: u64) {
        for _ in 0..SWEPT {
            self.swept = if self.swept < self.records.len() { self.swept } else { 0 };
            match self.records.at(self.swept) {
                Some((_, record)) if record.expires <= now => {
                    self.remove_at(self.swept);
                }
                Some(_) => self.swept += 1,
                None => return,
            }
        }
    }

    /// Removes what has expired or is the least worth keeping, of a few.
    fn evict(&mut self, now: u64) -> bool {
        let mut least: Option<(f64, usize)> = None;
        for _ in 0..SAMPLE {
            let index = (self.random() >> 32) as usize % self.records.len().max(1);
            let Some((_, record)) = self.records.at(index) else { return false };
            let rank = if record.expires <= now { -1.0 } else { record.rank(now) };
            if least.is_none_or(|(least, _)| rank < least) {
                least = Some((rank, index));
            }
        }
        least.is_some_and(|(_, index)| self.remove_at(index).is_some())
    }

    /// Xorshift (Marsaglia, 2003): good enough to draw a sample.
    fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    /// What is used, counted anew.
    #[cfg(test)]
    pub(crate) fn counted(&self) -> usize {
        let records: usize = self.records.values().map(Record::bytes).sum();
        let groups: usize = self.groups.values().map(Group::bytes).sum();
        self.records.bytes() + self.groups.bytes() + records + groups
    }
}
