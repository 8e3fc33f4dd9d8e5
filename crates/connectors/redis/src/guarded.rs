//! A store that never costs much: what is slow is given up, and what fails again and again is left alone.

use crate::{
    circuit::{Call, Circuit},
    metrics,
};
use signalbox_kit::lag;
use signalbox_ports::cache::{
    CacheAway, CacheStore, Digest, Entry, Epochs, Held, Lead, Near, Partition, Scope,
};
use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// How long each kind of call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Looking for an entry by its keys, for epochs, values and leads.
    pub exact: Duration,
    /// Looking for the nearest.
    pub nearest: Duration,
    /// Storing and removing, which nobody waits for.
    pub store: Duration,
}

impl Default for Patience {
    /// 5 ms, 25 ms and 250 ms.
    fn default() -> Self {
        let [exact, nearest, store] = [5, 25, 250].map(Duration::from_millis);
        Self { exact, nearest, store }
    }
}

/// Guards the callers of a store against it. Invalidation and erasure are let through, whatever they take: whoever asks
/// for them has to know whether they were done. So is giving up a lead, for which others may be waiting.
#[derive(Debug)]
pub struct Guarded<S> {
    store: S,
    patience: Patience,
    began: Instant,
    circuit: Mutex<Circuit>,
}

impl<S: CacheStore> Guarded<S> {
    /// A store in good standing.
    pub fn new(store: S, patience: Patience) -> Self {
        metrics::cache_left_alone(false);
        Self { store, patience, began: Instant::now(), circuit: Mutex::default() }
    }

    /// Whether the store is left alone now.
    pub fn is_open(&self) -> bool {
        self.circuit().is_open()
    }

    fn circuit(&self) -> MutexGuard<'_, Circuit> {
        self.circuit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn within<T>(
        &self,
        patience: Duration,
        call: impl Future<Output = Result<T, CacheAway>>,
    ) -> Result<T, CacheAway> {
        let admitted = self.circuit().admit(self.began.elapsed());
        let Some(admitted) = admitted else {
            return Err(CacheAway("it failed too often and is left alone for a while".to_owned()));
        };
        let mut under_way =
            UnderWay { guard: self, call: admitted, began: Instant::now(), patience, well: None };
        let Ok(answer) = lag::within(patience, call).await else {
            under_way.well = Some(false);
            return Err(CacheAway(format!("no answer within {} ms", patience.as_millis())));
        };
        under_way.well = Some(answer.is_ok());
        answer
    }

    fn ended(&self, call: Call, well: bool) {
        let mut circuit = self.circuit();
        let before = circuit.is_open();
        circuit.ended(self.began.elapsed(), call, well);
        let open = circuit.is_open();
        drop(circuit);
        if before != open {
            metrics::cache_left_alone(open);
            if open {
                tracing::warn!(
                    "The cache's store fails or is slow: it is left alone, and all requests are misses"
                );
            } else {
                tracing::info!("The cache's store is well again");
            }
        }
    }
}

/// A call that has not ended. One that its caller gave up after half of its time counts as slow.
struct UnderWay<'a, S: CacheStore> {
    guard: &'a Guarded<S>,
    call: Call,
    began: Instant,
    patience: Duration,
    well: Option<bool>,
}

impl<S: CacheStore> Drop for UnderWay<'_, S> {
    fn drop(&mut self) {
        let slow = || (self.began.elapsed() * 2 >= self.patience).then_some(false);
        if let Some(well) = self.well.or_else(slow) {
            self.guard.ended(self.call, well);
        }
    }
}

#[async_trait::async_trait]
impl<S: CacheStore> CacheStore for Guarded<S> {
    async fn get(&self, tenant: Digest, keys: &[Digest]) -> Result<Option<Entry>, CacheAway> {
        self.within(self.patience.exact, self.store.get(tenant, keys)).await
    }

    async fn nearest(
        &self,
        partition: &Partition,
        embedder: &str,
        vector: &[f32],
        most: usize,
    ) -> Result<Vec<Near>, CacheAway> {
        self.within(self.patience.nearest, self.store.nearest(partition, embedder, vector, most)).await
    }

    async fn put(
        &self,
        entry: &Entry,
        aliases: &[Digest],
        embedder: &str,
        ttl: Duration,
    ) -> Result<(), CacheAway> {
        self.within(self.patience.store, self.store.put(entry, aliases, embedder, ttl)).await
    }

    async fn remove(&self, tenant: Digest, key: Digest) -> Result<bool, CacheAway> {
        self.store.remove(tenant, key).await
    }

    async fn epochs(&self, tenant: Digest, scopes: &[Scope]) -> Result<Epochs, CacheAway> {
        self.within(self.patience.exact, self.store.epochs(tenant, scopes)).await
    }

    async fn raise(&self, tenant: Digest, scope: Scope) -> Result<u64, CacheAway> {
        self.store.raise(tenant, scope).await
    }

    async fn erase(&self, tenant: Digest, scope: Option<Scope>) -> Result<u64, CacheAway> {
        self.store.erase(tenant, scope).await
    }

    async fn erase_strays(&self) -> Result<u64, CacheAway> {
        self.store.erase_strays().await
    }

    async fn lead(&self, tenant: Digest, key: Digest, owner: &str, ttl: Duration) -> Result<Lead, CacheAway> {
        self.within(self.patience.exact, self.store.lead(tenant, key, owner, ttl)).await
    }

    async fn renew_lead(
        &self,
        tenant: Digest,
        key: Digest,
        owner: &str,
        ttl: Duration,
    ) -> Result<bool, CacheAway> {
        self.within(self.patience.store, self.store.renew_lead(tenant, key, owner, ttl)).await
    }

    async fn release_lead(&self, tenant: Digest, key: Digest, owner: &str) -> Result<(), CacheAway> {
        self.store.release_lead(tenant, key, owner).await
    }

    async fn swap(
        &self,
        tenant: Digest,
        name: &str,
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>, CacheAway> {
        self.within(self.patience.store, self.store.swap(tenant, name, expected, value)).await
    }

    async fn value(&self, tenant: Digest, name: &str) -> Result<Option<Vec<u8>>, CacheAway> {
        self.within(self.patience.exact, self.store.value(tenant, name)).await
    }

    async fn held(&self, tenant: Digest) -> Result<Vec<(Digest, Held)>, CacheAway> {
        self.store.held(tenant).await
    }
}
