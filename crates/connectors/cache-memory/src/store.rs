//! The store: which shard has what.

use crate::{
    desk::Desk,
    record::{Address, Kept, Record, What},
    shard::Shard,
    vectors::GroupKey,
};
use signalbox_kit::Clock;
use signalbox_ports::cache::{
    CacheAway, CacheStore, Digest, Entry, Epochs, Held, Lead, Near, Partition, Scope, vectors::normal,
};
use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

/// More shards mean less waiting; fewer mean larger entries.
const MOST_SHARDS: usize = 16;
/// So that an answer of the largest size is well below half of a shard.
const LEAST_SHARD_BYTES: usize = 2 << 20;
/// The share of the bound that is for epochs, leads and values.
const DESK_SHARE: usize = 8;
/// How many records one lock is held for when all are looked at.
const AT_ONCE: usize = 1024;
/// How often an erasure looks again for what came meanwhile.
const ERASE_ROUNDS: usize = 5;

/// Cached answers that this process alone has. What is stored when there is no more room takes the place of what has
/// expired, or else of what is the least worth keeping: worth times hits, over bytes times age.
pub struct MemoryCache {
    clock: Arc<dyn Clock>,
    shards: Box<[Mutex<Shard>]>,
    desk: Mutex<Desk>,
    /// What vectors are of; an entry has the number only.
    embedders: Mutex<Vec<Box<str>>>,
    puts: AtomicU64,
}

impl fmt::Debug for MemoryCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryCache").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

impl MemoryCache {
    /// An empty one that never takes more bytes, with all it needs to find its entries again.
    pub fn new(max_bytes: usize, clock: Arc<dyn Clock>) -> Self {
        let desk = max_bytes / DESK_SHARE;
        let most = ((max_bytes - desk) / LEAST_SHARD_BYTES).clamp(1, MOST_SHARDS);
        let shards = 1 << most.ilog2();
        let of_shard = (max_bytes - desk) / shards;
        Self {
            clock,
            shards: (0..shards).map(|_| Mutex::new(Shard::new(of_shard))).collect(),
            desk: Mutex::new(Desk::new(desk)),
            embedders: Mutex::default(),
            puts: AtomicU64::default(),
        }
    }

    /// Bytes it takes now.
    pub fn bytes(&self) -> usize {
        self.shards.iter().map(|shard| locked(shard).used()).sum::<usize>() + locked(&self.desk).used()
    }

    fn now(&self) -> u64 {
        milliseconds(self.clock.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
    }

    fn shard(&self, key: Digest) -> MutexGuard<'_, Shard> {
        let Digest([.., last]) = key;
        // The number of shards is a power of two.
        locked(&self.shards[usize::from(last) & (self.shards.len() - 1)])
    }

    fn embedder(&self, name: &str) -> Option<u16> {
        let mut embedders = locked(&self.embedders);
        if let Some(known) = embedders.iter().position(|known| **known == *name) {
            return u16::try_from(known).ok();
        }
        let number = u16::try_from(embedders.len()).ok()?;
        embedders.push(name.into());
        Some(number)
    }

    /// The entry a key leads to, be it by another.
    fn find(&self, tenant: Digest, key: Digest, now: u64) -> Option<Arc<Kept>> {
        let (key, put) = match self.shard(key).hit(&Address { tenant, key }, now)? {
            What::Entry(kept) => return Some(kept.clone()),
            What::Alias { key, put } => (*key, *put),
        };
        match self.shard(key).hit(&Address { tenant, key }, now)? {
            What::Entry(kept) if kept.put == put => Some(kept.clone()),
            _ => None,
        }
    }

    fn put_all(&self, entry: &Entry, aliases: &[Digest], embedder: u16, ttl: Duration) {
        let (now, tenant) = (self.now(), entry.partition.tenant);
        let put = self.puts.fetch_add(1, Ordering::Relaxed);
        let record = |what| Record {
            what,
            stored: now,
            expires: now.saturating_add(milliseconds(ttl)),
            worth: entry.worth,
            hits: 0,
            row: None,
        };
        let kept = record(What::Entry(Arc::new(Kept::new(entry, embedder, put))));
        let vector = entry.vector.as_deref().and_then(normal);
        let address = |key| Address { tenant, key };
        if !self.shard(entry.key).insert(address(entry.key), kept, vector.as_deref(), now) {
            return;
        }
        for alias in aliases.iter().filter(|alias| **alias != entry.key) {
            let leads = record(What::Alias { key: entry.key, put });
            self.shard(*alias).insert(address(*alias), leads, None, now);
        }
    }

    /// Looks at every record, a few under each lock, and removes those that are not to be kept. From the end on, so
    /// that whatever takes a removed one's place was looked at before.
    fn retain(&self, mut keep: impl FnMut(&Address, &Record) -> bool) {
        for shard in &self.shards {
            let mut end = locked(shard).len();
            while end > 0 {
                let mut shard = locked(shard);
                end = end.min(shard.len());
                let begin = end.saturating_sub(AT_ONCE);
                for index in (begin..end).rev() {
                    let kept = shard.record_at(index).is_none_or(|(address, record)| keep(address, record));
                    if !kept {
                        shard.remove_at(index);
                    }
                }
                end = begin;
            }
        }
    }

    /// Removes all entries of a tenant under a scope, and all keys that lead to them. How many entries there were.
    fn erase_once(&self, tenant: Digest, scope: Option<Scope>) -> u64 {
        let mut puts = HashSet::new();
        let erased = |kept: &Kept| scope.is_none_or(|scope| kept.is_under(scope));
        self.retain(|address, record| match &record.what {
            What::Entry(kept) if address.tenant == tenant && erased(kept) => {
                puts.insert(kept.put);
                false
            }
            _ => true,
        });
        self.retain(|address, record| match &record.what {
            What::Alias { put, .. } if address.tenant == tenant => scope.is_some() && !puts.contains(put),
            _ => true,
        });
        puts.len() as u64
    }
}

#[async_trait::async_trait]
impl CacheStore for MemoryCache {
    async fn get(&self, tenant: Digest, keys: &[Digest]) -> Result<Option<Entry>, CacheAway> {
        let now = self.now();
        let found = keys.iter().find_map(|key| self.find(tenant, *key, now));
        Ok(found.map(|kept| kept.entry()))
    }

    async fn nearest(
        &self,
        partition: &Partition,
        embedder: &str,
        vector: &[f32],
        most: usize,
    ) -> Result<Vec<Near>, CacheAway> {
        let (Some(embedder), Some(vector)) = (self.embedder(embedder), normal(vector)) else {
            return Ok(Vec::new());
        };
        let (now, key) = (self.now(), GroupKey { partition: *partition, embedder });
        let mut nearest = Nearest::new(most);
        for shard in &self.shards {
            let shard = locked(shard);
            shard.compare(key, &vector, now, |similarity, kept| nearest.offer(similarity, kept));
        }
        let near = |(similarity, kept): (f32, Arc<Kept>)| Near { entry: kept.entry(), similarity };
        Ok(nearest.found.into_iter().map(near).collect())
    }

    async fn put(
        &self,
        entry: &Entry,
        aliases: &[Digest],
        embedder: &str,
        ttl: Duration,
    ) -> Result<(), CacheAway> {
        let number = self.embedder(embedder).ok_or_else(|| CacheAway("too many embedders".to_owned()))?;
        self.put_all(entry, aliases, number, ttl);
        Ok(())
    }

    async fn remove(&self, tenant: Digest, key: Digest) -> Result<bool, CacheAway> {
        let now = self.now();
        let removed = self.shard(key).remove(&Address { tenant, key });
        Ok(removed.is_some_and(|record| record.expires > now))
    }

    async fn epochs(&self, tenant: Digest, scopes: &[Scope]) -> Result<Epochs, CacheAway> {
        let desk = locked(&self.desk);
        Ok(scopes.iter().map(|scope| (*scope, desk.epoch(tenant, *scope))).collect())
    }

    async fn raise(&self, tenant: Digest, scope: Scope) -> Result<u64, CacheAway> {
        locked(&self.desk).raise(tenant, scope)
    }

    async fn erase(&self, tenant: Digest, scope: Option<Scope>) -> Result<u64, CacheAway> {
        if scope.is_none() {
            locked(&self.desk).erase(tenant);
        }
        let mut erased = 0;
        for _ in 0..ERASE_ROUNDS {
            match self.erase_once(tenant, scope) {
                0 => return Ok(erased),
                more => erased += more,
            }
        }
        Err(CacheAway("entries keep coming while they are erased".to_owned()))
    }

    async fn lead(&self, tenant: Digest, key: Digest, owner: &str, ttl: Duration) -> Result<Lead, CacheAway> {
        let now = self.now();
        let mine = locked(&self.desk).lead(tenant, key, owner, now, now.saturating_add(milliseconds(ttl)));
        Ok(if mine { Lead::Mine } else { Lead::Anothers })
    }

    async fn renew_lead(
        &self,
        tenant: Digest,
        key: Digest,
        owner: &str,
        ttl: Duration,
    ) -> Result<bool, CacheAway> {
        let now = self.now();
        Ok(locked(&self.desk).renew(tenant, key, owner, now, now.saturating_add(milliseconds(ttl))))
    }

    async fn release_lead(&self, tenant: Digest, key: Digest, owner: &str) -> Result<(), CacheAway> {
        locked(&self.desk).release(tenant, key, owner);
        Ok(())
    }

    async fn swap(
        &self,
        tenant: Digest,
        name: &str,
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>, CacheAway> {
        locked(&self.desk).swap(tenant, name, expected, value)
    }

    async fn value(&self, tenant: Digest, name: &str) -> Result<Option<Vec<u8>>, CacheAway> {
        Ok(locked(&self.desk).value(tenant, name).map(<[u8]>::to_vec))
    }

    async fn held(&self, tenant: Digest) -> Result<Vec<(Digest, Held)>, CacheAway> {
        let now = self.now();
        let mut held: BTreeMap<Digest, Held> = BTreeMap::new();
        self.retain(|address, record| {
            if let What::Entry(kept) = &record.what
                && address.tenant == tenant
                && record.expires > now
            {
                let held = held.entry(kept.partition.task).or_default();
                held.entries += 1;
                held.bytes += (record.bytes() + size_of::<(Address, Record)>()) as u64;
            }
            true
        });
        Ok(held.into_iter().collect())
    }
}

/// The nearest of all that were offered, nearest first.
struct Nearest {
    most: usize,
    found: Vec<(f32, Arc<Kept>)>,
}

impl Nearest {
    fn new(most: usize) -> Self {
        Self { most, found: Vec::with_capacity(most.min(AT_ONCE)) }
    }

    /// Takes what is near enough. It is asked for only then.
    fn offer(&mut self, similarity: f32, kept: impl FnOnce() -> Option<Arc<Kept>>) {
        let at = self.found.partition_point(|(found, _)| *found >= similarity);
        if at >= self.most {
            return;
        }
        if let Some(kept) = kept() {
            self.found.truncate(self.most - 1);
            self.found.insert(at, (similarity, kept));
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
