//! A store whose hash is bad.

use signalbox_ports::cache::{
    CacheAway, CacheStore, Digest, Entry, Epochs, Held, Lead, Near, Partition, Scope,
};
use std::time::Duration;

/// A store under a hash that keeps two bits of everything: what it finds belongs to anybody, and only who looks again
/// can tell.
#[derive(Debug)]
pub struct Coarse<S>(pub S);

fn two_bits(Digest([first, ..]): Digest) -> Digest {
    // The last bits of the first byte, so that digests that begin alike differ.
    Digest([first & 3; 16])
}

fn coarse(partition: &Partition) -> Partition {
    let Partition { tenant, task, locale, fingerprint } = *partition;
    let [tenant, task, locale, fingerprint] = [tenant, task, locale, fingerprint].map(two_bits);
    Partition { tenant, task, locale, fingerprint }
}

fn coarse_scope(scope: Scope) -> Scope {
    match scope {
        Scope::Tenant => Scope::Tenant,
        Scope::Task(digest) => Scope::Task(two_bits(digest)),
        Scope::Locale(digest) => Scope::Locale(two_bits(digest)),
        Scope::Requested(digest) => Scope::Requested(two_bits(digest)),
        Scope::Template(digest) => Scope::Template(two_bits(digest)),
        Scope::Reference(digest) => Scope::Reference(two_bits(digest)),
    }
}

/// Writes into the answer what the store is not to see.
fn hide(entry: &Entry) -> Entry {
    let Partition { tenant, task, locale, fingerprint } = entry.partition;
    let hidden = [tenant.0, task.0, locale.0, fingerprint.0, entry.key.0].concat();
    Entry {
        key: two_bits(entry.key),
        partition: coarse(&entry.partition),
        sealed: [hidden, entry.sealed.clone()].concat(),
        ..entry.clone()
    }
}

fn show(entry: Entry) -> Entry {
    let digest = |at: usize| Digest(entry.sealed[at * 16..][..16].try_into().unwrap());
    let partition =
        Partition { tenant: digest(0), task: digest(1), locale: digest(2), fingerprint: digest(3) };
    Entry { key: digest(4), partition, sealed: entry.sealed[80..].to_vec(), ..entry }
}

#[async_trait::async_trait]
impl<S: CacheStore> CacheStore for Coarse<S> {
    async fn get(&self, tenant: Digest, keys: &[Digest]) -> Result<Option<Entry>, CacheAway> {
        let keys: Vec<_> = keys.iter().copied().map(two_bits).collect();
        Ok(self.0.get(two_bits(tenant), &keys).await?.map(show))
    }

    async fn nearest(
        &self,
        partition: &Partition,
        embedder: &str,
        vector: &[f32],
        most: usize,
    ) -> Result<Vec<Near>, CacheAway> {
        let near = self.0.nearest(&coarse(partition), embedder, vector, most).await?;
        Ok(near.into_iter().map(|near| Near { entry: show(near.entry), ..near }).collect())
    }

    async fn put(
        &self,
        entry: &Entry,
        aliases: &[Digest],
        embedder: &str,
        ttl: Duration,
    ) -> Result<(), CacheAway> {
        let aliases: Vec<_> = aliases.iter().copied().map(two_bits).collect();
        self.0.put(&hide(entry), &aliases, embedder, ttl).await
    }

    async fn remove(&self, tenant: Digest, key: Digest) -> Result<bool, CacheAway> {
        self.0.remove(two_bits(tenant), two_bits(key)).await
    }

    async fn epochs(&self, tenant: Digest, scopes: &[Scope]) -> Result<Epochs, CacheAway> {
        let inner: Vec<_> = scopes.iter().copied().map(coarse_scope).collect();
        let epochs = self.0.epochs(two_bits(tenant), &inner).await?;
        Ok(scopes.iter().zip(epochs).map(|(scope, (_, epoch))| (*scope, epoch)).collect())
    }

    async fn raise(&self, tenant: Digest, scope: Scope) -> Result<u64, CacheAway> {
        self.0.raise(two_bits(tenant), coarse_scope(scope)).await
    }

    async fn erase(&self, tenant: Digest, scope: Option<Scope>) -> Result<u64, CacheAway> {
        self.0.erase(two_bits(tenant), scope.map(coarse_scope)).await
    }

    async fn lead(&self, tenant: Digest, key: Digest, owner: &str, ttl: Duration) -> Result<Lead, CacheAway> {
        self.0.lead(two_bits(tenant), two_bits(key), owner, ttl).await
    }

    async fn renew_lead(
        &self,
        tenant: Digest,
        key: Digest,
        owner: &str,
        ttl: Duration,
    ) -> Result<bool, CacheAway> {
        self.0.renew_lead(two_bits(tenant), two_bits(key), owner, ttl).await
    }

    async fn release_lead(&self, tenant: Digest, key: Digest, owner: &str) -> Result<(), CacheAway> {
        self.0.release_lead(two_bits(tenant), two_bits(key), owner).await
    }

    async fn swap(
        &self,
        tenant: Digest,
        name: &str,
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>, CacheAway> {
        self.0.swap(tenant, name, expected, value).await
    }

    async fn value(&self, tenant: Digest, name: &str) -> Result<Option<Vec<u8>>, CacheAway> {
        self.0.value(tenant, name).await
    }

    async fn held(&self, tenant: Digest) -> Result<Vec<(Digest, Held)>, CacheAway> {
        self.0.held(two_bits(tenant)).await
    }
}
