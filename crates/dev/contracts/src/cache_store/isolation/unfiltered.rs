//! A store whose filter is gone.

use signalbox_ports::cache::{
    CacheAway, CacheStore, Digest, Entry, Epochs, Held, Lead, Near, Partition, Scope,
};
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// A store that forgot to filter: it looks for the nearest in all partitions it knows. For showing that this is seen.
#[derive(Debug)]
pub struct Unfiltered<S> {
    store: S,
    partitions: Mutex<Vec<Partition>>,
}

impl<S> Unfiltered<S> {
    /// Takes the filter off a store.
    pub fn new(store: S) -> Self {
        Self { store, partitions: Mutex::default() }
    }
}

#[async_trait::async_trait]
impl<S: CacheStore> CacheStore for Unfiltered<S> {
    async fn nearest(
        &self,
        _: &Partition,
        embedder: &str,
        vector: &[f32],
        most: usize,
    ) -> Result<Vec<Near>, CacheAway> {
        let partitions = self.partitions.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut found = Vec::new();
        for partition in partitions.iter().rev().take(20) {
            found.extend(self.store.nearest(partition, embedder, vector, most).await?);
        }
        found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        found.truncate(most);
        Ok(found)
    }

    async fn put(
        &self,
        entry: &Entry,
        aliases: &[Digest],
        embedder: &str,
        ttl: Duration,
    ) -> Result<(), CacheAway> {
        let known = || self.partitions.lock().unwrap_or_else(PoisonError::into_inner);
        if !known().contains(&entry.partition) {
            known().push(entry.partition);
        }
        self.store.put(entry, aliases, embedder, ttl).await
    }

    async fn get(&self, tenant: Digest, keys: &[Digest]) -> Result<Option<Entry>, CacheAway> {
        self.store.get(tenant, keys).await
    }

    async fn remove(&self, tenant: Digest, key: Digest) -> Result<bool, CacheAway> {
        self.store.remove(tenant, key).await
    }

    async fn epochs(&self, tenant: Digest, scopes: &[Scope]) -> Result<Epochs, CacheAway> {
        self.store.epochs(tenant, scopes).await
    }

    async fn raise(&self, tenant: Digest, scope: Scope) -> Result<u64, CacheAway> {
        self.store.raise(tenant, scope).await
    }

    async fn erase(&self, tenant: Digest, scope: Option<Scope>) -> Result<u64, CacheAway> {
        self.store.erase(tenant, scope).await
    }

    async fn lead(&self, tenant: Digest, key: Digest, owner: &str, ttl: Duration) -> Result<Lead, CacheAway> {
        self.store.lead(tenant, key, owner, ttl).await
    }

    async fn renew_lead(
        &self,
        tenant: Digest,
        key: Digest,
        owner: &str,
        ttl: Duration,
    ) -> Result<bool, CacheAway> {
        self.store.renew_lead(tenant, key, owner, ttl).await
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
        self.store.swap(tenant, name, expected, value).await
    }

    async fn value(&self, tenant: Digest, name: &str) -> Result<Option<Vec<u8>>, CacheAway> {
        self.store.value(tenant, name).await
    }

    async fn held(&self, tenant: Digest) -> Result<Vec<(Digest, Held)>, CacheAway> {
        self.store.held(tenant).await
    }
}
