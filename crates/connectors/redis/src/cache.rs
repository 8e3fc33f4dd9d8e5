//! Cached answers that all replicas share.

mod entry;
mod erase;
mod index;
mod layout;
mod near;
mod scan;
mod scripts;
mod secret;
#[cfg(test)]
mod tests;
mod way;

pub use way::VectorSearch;

use crate::Redis;
use near::{Search, bytes};
use redis::{RedisError, Script, ScriptInvocation, aio::MultiplexedConnection};
use scripts::Scripts;
use secret::InUse;
use signalbox_ports::cache::{
    CacheAway, CacheStore, Digest, Entry, Epochs, Held, Lead, Near, Partition, Scope, vectors::normal,
};
use std::{
    collections::HashSet,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// What Lua counts exactly.
const LARGEST_NUMBER: u64 = 1 << 53;

/// Cached answers in Redis. The service encrypts them; who and what they are of is in keyed digests only.
#[derive(Debug)]
pub struct RedisCache {
    redis: Redis,
    scripts: Scripts,
    /// How vectors are searched, once it is known.
    way: Mutex<Option<VectorSearch>>,
    /// Spaces of vectors whose indexes are there.
    indexes: Mutex<HashSet<String>>,
    /// The secret that digests are made with, where it is said.
    secret: Option<InUse>,
}

impl RedisCache {
    /// Searches by vectors in the best way that the server can.
    pub fn new(redis: Redis) -> Self {
        let (way, indexes) = Default::default();
        Self { redis, scripts: Scripts::new(), way, indexes, secret: None }
    }

    /// With the fingerprint of the secret that digests are made with, so that the store sees when it is another.
    #[must_use]
    pub fn under_secret(self, fingerprint: Digest) -> Self {
        Self { secret: Some(InUse::new(fingerprint)), ..self }
    }

    /// How vectors are searched: found out when it is first needed.
    ///
    /// # Errors
    /// The server is away.
    pub async fn vector_search(&self) -> Result<VectorSearch, CacheAway> {
        let known = *locked(&self.way);
        if let Some(way) = known {
            return Ok(way);
        }
        let way = self.ask(VectorSearch::found).await?;
        if locked(&self.way).replace(way).is_none() {
            tracing::info!(?way, "Cached answers are in Redis; this is how it searches by vectors");
        }
        Ok(way)
    }

    fn indexes(&self) -> MutexGuard<'_, HashSet<String>> {
        locked(&self.indexes)
    }

    async fn ask<T>(
        &self,
        ask: impl AsyncFnOnce(&mut MultiplexedConnection) -> Result<T, RedisError>,
    ) -> Result<T, CacheAway> {
        self.redis.ask(ask).await.map_err(|why| {
            if way::is_refused(&why) {
                // Another server has taken its place, with other modules, or we may do less than before.
                *locked(&self.way) = None;
                self.indexes().clear();
            }
            CacheAway(why)
        })
    }

    /// A script with what all of them about entries begin with.
    async fn prepared<'a>(
        &self,
        script: &'a Script,
        tenant: Digest,
    ) -> Result<ScriptInvocation<'a>, CacheAway> {
        let mut script = script.prepare_invoke();
        script.arg(layout::tag(tenant)).arg(self.vector_search().await?.name());
        Ok(script)
    }
}

#[async_trait::async_trait]
impl CacheStore for RedisCache {
    async fn get(&self, tenant: Digest, keys: &[Digest]) -> Result<Option<Entry>, CacheAway> {
        if keys.is_empty() {
            return Ok(None);
        }
        let mut script = self.prepared(&self.scripts.get, tenant).await?;
        let tag = layout::tag(tenant);
        for key in keys {
            script.key(layout::entry(&tag, *key));
        }
        let found =
            self.ask(async |connection| script.invoke_async::<Option<Vec<u8>>>(connection).await).await?;
        Ok(found.as_deref().and_then(entry::read).map(|(entry, _)| entry))
    }

    async fn nearest(
        &self,
        partition: &Partition,
        embedder: &str,
        vector: &[f32],
        most: usize,
    ) -> Result<Vec<Near>, CacheAway> {
        let (Some(vector), Some(space)) = (normal(vector), layout::space(embedder, vector.len())) else {
            return Ok(Vec::new());
        };
        if most == 0 {
            return Ok(Vec::new());
        }
        let way = self.vector_search().await?;
        self.search(Search { partition, space: &space, vector: &vector, most }, way).await
    }

    async fn put(
        &self,
        entry: &Entry,
        aliases: &[Digest],
        embedder: &str,
        ttl: Duration,
    ) -> Result<(), CacheAway> {
        let vector = entry.vector.as_deref().and_then(normal);
        let space = vector.as_ref().and_then(|vector| layout::space(embedder, vector.len()));
        if let (Some(vector), Some(space), VectorSearch::Module) =
            (&vector, &space, self.vector_search().await?)
        {
            self.ensure_index(space, vector.len(), false).await?;
        }
        let mut script = self.prepared(&self.scripts.put, entry.partition.tenant).await?;
        let tag = layout::tag(entry.partition.tenant);
        script.key(layout::entry(&tag, entry.key));
        for alias in aliases.iter().filter(|alias| **alias != entry.key) {
            script.key(layout::entry(&tag, *alias));
        }
        let put = rand::random::<u64>().to_be_bytes();
        let written = entry::written(entry, put, space.as_deref().unwrap_or(layout::NO_SPACE));
        script.arg(milliseconds(ttl)).arg(written).arg(bytes(&vector.unwrap_or_default()));
        self.ask(async |connection| script.invoke_async::<()>(connection).await).await
    }

    async fn remove(&self, tenant: Digest, key: Digest) -> Result<bool, CacheAway> {
        let mut script = self.prepared(&self.scripts.remove, tenant).await?;
        script.key(layout::entry(&layout::tag(tenant), key));
        self.ask(async |connection| script.invoke_async::<bool>(connection).await).await
    }

    async fn epochs(&self, tenant: Digest, scopes: &[Scope]) -> Result<Epochs, CacheAway> {
        let term = self.term().await?;
        let mut script = self.prepared(&self.scripts.epochs, tenant).await?;
        script.key(layout::epochs(tenant)).arg(term);
        for scope in scopes {
            script.arg(layout::scope(*scope));
        }
        let epochs = self.ask(async |connection| script.invoke_async::<Vec<u64>>(connection).await).await?;
        Ok(scopes.iter().copied().zip(epochs).collect())
    }

    async fn raise(&self, tenant: Digest, scope: Scope) -> Result<u64, CacheAway> {
        let term = self.term().await?;
        let mut script = self.prepared(&self.scripts.raise, tenant).await?;
        script.key(layout::epochs(tenant)).arg(term).arg(layout::scope(scope));
        self.ask(async |connection| script.invoke_async::<u64>(connection).await).await
    }

    async fn erase(&self, tenant: Digest, scope: Option<Scope>) -> Result<u64, CacheAway> {
        self.erase_all(tenant, scope).await
    }

    async fn erase_strays(&self) -> Result<u64, CacheAway> {
        self.erase_all_strays().await
    }

    async fn lead(&self, tenant: Digest, key: Digest, owner: &str, ttl: Duration) -> Result<Lead, CacheAway> {
        let mut script = self.scripts.lead.key(layout::lead(tenant, key));
        script.arg(owner).arg(milliseconds(ttl));
        let mine = self.ask(async |connection| script.invoke_async::<bool>(connection).await).await?;
        Ok(if mine { Lead::Mine } else { Lead::Anothers })
    }

    async fn renew_lead(
        &self,
        tenant: Digest,
        key: Digest,
        owner: &str,
        ttl: Duration,
    ) -> Result<bool, CacheAway> {
        let mut script = self.scripts.renew.key(layout::lead(tenant, key));
        script.arg(owner).arg(milliseconds(ttl));
        self.ask(async |connection| script.invoke_async::<bool>(connection).await).await
    }

    async fn release_lead(&self, tenant: Digest, key: Digest, owner: &str) -> Result<(), CacheAway> {
        let mut script = self.scripts.release.key(layout::lead(tenant, key));
        script.arg(owner);
        self.ask(async |connection| script.invoke_async::<()>(connection).await).await
    }

    async fn swap(
        &self,
        tenant: Digest,
        name: &str,
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>, CacheAway> {
        let mut script = self.scripts.swap.key(layout::value(tenant, name));
        for bytes in [expected, value] {
            script.arg(u8::from(bytes.is_some())).arg(bytes.unwrap_or_default());
        }
        self.ask(async |connection| script.invoke_async::<Option<Vec<u8>>>(connection).await).await
    }

    async fn value(&self, tenant: Digest, name: &str) -> Result<Option<Vec<u8>>, CacheAway> {
        let mut get = redis::cmd("GET");
        get.arg(layout::value(tenant, name));
        self.ask(async |connection| get.query_async::<Option<Vec<u8>>>(connection).await).await
    }

    async fn held(&self, tenant: Digest) -> Result<Vec<(Digest, Held)>, CacheAway> {
        let mut script = self.prepared(&self.scripts.held, tenant).await?;
        // Where it goes in a cluster.
        script.key(layout::epochs(tenant));
        type Task = (Vec<u8>, u64, u64);
        let tasks = self.ask(async |connection| script.invoke_async::<Vec<Task>>(connection).await).await?;
        let held = |(task, entries, bytes): Task| {
            Some((layout::digest(&task)?, Held { entries, bytes: entries.saturating_mul(bytes) }))
        };
        Ok(tasks.into_iter().filter_map(held).collect())
    }
}

fn milliseconds(duration: Duration) -> u64 {
    // Redis takes no more, and none.
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).clamp(1, LARGEST_NUMBER)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
