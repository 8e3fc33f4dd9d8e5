//! A store that is slow, away, or changed behind its back.

use signalbox_ports::cache::{
    CacheAway, CacheStore, Digest, Entry, Epochs, Held, Lead, Near, Partition, Scope,
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::sleep;

/// Changes an entry on its way out.
pub(super) type Change = Box<dyn Fn(&mut Entry) + Send + Sync>;

/// Over a store that is well.
pub(super) struct Trick {
    inner: Arc<dyn CacheStore>,
    state: Mutex<State>,
    /// What was put.
    pub(super) puts: Mutex<Vec<Entry>>,
}

#[derive(Default)]
struct State {
    delay: Duration,
    is_away: bool,
    change: Option<Arc<Change>>,
}

impl std::fmt::Debug for Trick {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trick").finish_non_exhaustive()
    }
}

impl Trick {
    pub(super) fn over(inner: Arc<dyn CacheStore>) -> Arc<Self> {
        Arc::new(Self { inner, state: Mutex::default(), puts: Mutex::default() })
    }

    pub(super) fn slow(&self, delay: Duration) {
        self.state.lock().unwrap().delay = delay;
    }

    pub(super) fn away(&self, is_away: bool) {
        self.state.lock().unwrap().is_away = is_away;
    }

    pub(super) fn change(&self, change: impl Fn(&mut Entry) + Send + Sync + 'static) {
        self.state.lock().unwrap().change = Some(Arc::new(Box::new(change)));
    }

    async fn pass(&self) -> Result<(), CacheAway> {
        let (delay, is_away) = {
            let state = self.state.lock().unwrap();
            (state.delay, state.is_away)
        };
        if !delay.is_zero() {
            sleep(delay).await;
        }
        if is_away { Err(CacheAway("on purpose".into())) } else { Ok(()) }
    }

    fn changed(&self, mut entry: Entry) -> Entry {
        let change = self.state.lock().unwrap().change.clone();
        if let Some(change) = change {
            change(&mut entry);
        }
        entry
    }
}

#[async_trait::async_trait]
impl CacheStore for Trick {
    async fn get(&self, tenant: Digest, keys: &[Digest]) -> Result<Option<Entry>, CacheAway> {
        self.pass().await?;
        Ok(self.inner.get(tenant, keys).await?.map(|entry| self.changed(entry)))
    }

    async fn nearest(
        &self,
        partition: &Partition,
        embedder: &str,
        vector: &[f32],
        most: usize,
    ) -> Result<Vec<Near>, CacheAway> {
        self.pass().await?;
        let near = self.inner.nearest(partition, embedder, vector, most).await?;
        Ok(near.into_iter().map(|near| Near { entry: self.changed(near.entry), ..near }).collect())
    }

    async fn put(
        &self,
        entry: &Entry,
        aliases: &[Digest],
        embedder: &str,
        ttl: Duration,
    ) -> Result<(), CacheAway> {
        self.pass().await?;
        self.puts.lock().unwrap().push(entry.clone());
        self.inner.put(entry, aliases, embedder, ttl).await
    }

    async fn remove(&self, tenant: Digest, key: Digest) -> Result<bool, CacheAway> {
        self.pass().await?;
        self.inner.remove(tenant, key).await
    }

    async fn epochs(&self, tenant: Digest, scopes: &[Scope]) -> Result<Epochs, CacheAway> {
        self.pass().await?;
        self.inner.epochs(tenant, scopes).await
    }

    async fn raise(&self, tenant: Digest, scope: Scope) -> Result<u64, CacheAway> {
        self.pass().await?;
        self.inner.raise(tenant, scope).await
    }

    async fn erase(&self, tenant: Digest, scope: Option<Scope>) -> Result<u64, CacheAway> {
        self.pass().await?;
        self.inner.erase(tenant, scope).await
    }

    async fn lead(&self, tenant: Digest, key: Digest, owner: &str, ttl: Duration) -> Result<Lead, CacheAway> {
        self.pass().await?;
        self.inner.lead(tenant, key, owner, ttl).await
    }

    async fn renew_lead(
        &self,
        tenant: Digest,
        key: Digest,
        owner: &str,
        ttl: Duration,
    ) -> Result<bool, CacheAway> {
        self.pass().await?;
        self.inner.renew_lead(tenant, key, owner, ttl).await
    }

    async fn release_lead(&self, tenant: Digest, key: Digest, owner: &str) -> Result<(), CacheAway> {
        self.pass().await?;
        self.inner.release_lead(tenant, key, owner).await
    }

    async fn swap(
        &self,
        tenant: Digest,
        name: &str,
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>, CacheAway> {
        self.pass().await?;
        self.inner.swap(tenant, name, expected, value).await
    }

    async fn value(&self, tenant: Digest, name: &str) -> Result<Option<Vec<u8>>, CacheAway> {
        self.pass().await?;
        self.inner.value(tenant, name).await
    }

    async fn held(&self, tenant: Digest) -> Result<Vec<(Digest, Held)>, CacheAway> {
        self.pass().await?;
        self.inner.held(tenant).await
    }
}
