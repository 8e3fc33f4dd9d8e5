//! What a process remembers of tenants: their keys, and for a second the store's word on epochs and data keys.

use crate::{
    bounded::Bounded,
    seal::{DataKey, NotSealed},
};
use signalbox_api::v1::UsageAttempt;
use signalbox_caching::{Secret, TenantKeys};
use signalbox_ports::cache::{CacheAway, CacheStore, Digest, Epochs, Scope};
use std::{
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// Tenants that are remembered.
const MOST: usize = 4_096;
/// Scopes of a tenant whose epochs are remembered.
const MOST_SCOPES: usize = 4_096;
/// How often an unknown data key is asked for.
const ASK_AGAIN: Duration = Duration::from_millis(20);
/// Under which name a tenant's data key lies.
const DATA_KEY: &str = "data_key";

/// All tenants that this process knows.
pub(crate) struct Tenants {
    secret: Secret,
    relied_on: Duration,
    known: Mutex<Bounded<String, Arc<Tenant>>>,
}

impl fmt::Debug for Tenants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tenants").finish_non_exhaustive()
    }
}

/// A tenant.
#[derive(Debug)]
pub(crate) struct Tenant {
    pub(crate) id: String,
    pub(crate) keys: TenantKeys,
    secret: Secret,
    relied_on: Duration,
    epochs: Mutex<Bounded<Scope, (u64, Instant)>>,
    data_key: Mutex<Option<HeardKey>>,
    /// Model calls made for its requests that no account has yet.
    owed: Mutex<Vec<UsageAttempt>>,
}

/// A key, or that there is none, and when that was.
type HeardKey = (Option<Arc<DataKey>>, Instant);

/// A data key cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoKey {
    #[error(transparent)]
    Away(#[from] CacheAway),
    #[error(transparent)]
    NotSealed(#[from] NotSealed),
    #[error("the tenant's data key was wrapped with another cache secret")]
    OtherSecret,
}

impl Tenants {
    /// `relied_on`: how long the store's word counts.
    pub(crate) fn new(secret: Secret, relied_on: Duration) -> Self {
        Self { secret, relied_on, known: Mutex::new(Bounded::new(MOST)) }
    }

    pub(crate) fn get(&self, tenant_id: &str) -> Arc<Tenant> {
        let mut known = lock(&self.known);
        if let Some(tenant) = known.get(&tenant_id.to_owned()) {
            return tenant;
        }
        let tenant = Arc::new(Tenant {
            id: tenant_id.to_owned(),
            keys: self.secret.tenant(tenant_id),
            secret: self.secret.clone(),
            relied_on: self.relied_on,
            epochs: Mutex::new(Bounded::new(MOST_SCOPES)),
            data_key: Mutex::default(),
            owed: Mutex::default(),
        });
        known.insert(tenant_id.to_owned(), tenant.clone());
        tenant
    }

    /// Those that this process knows.
    pub(crate) fn all(&self) -> Vec<Arc<Tenant>> {
        lock(&self.known).values()
    }
}

impl Tenant {
    /// What stores know it by.
    pub(crate) fn digest(&self) -> Digest {
        self.keys.tenant()
    }

    /// Current epochs, as the store said within the time that its word counts.
    pub(crate) async fn epochs(&self, store: &dyn CacheStore, scopes: &[Scope]) -> Result<Epochs, CacheAway> {
        if let Some(epochs) = self.remembered(scopes) {
            return Ok(epochs);
        }
        let asked = Instant::now();
        let epochs = store.epochs(self.digest(), scopes).await?;
        for (scope, epoch) in &epochs {
            self.remember(*scope, *epoch, asked);
        }
        Ok(epochs)
    }

    /// Whether any of these epochs is not the current one any more, as far as this process has ever heard.
    pub(crate) fn is_outdated(&self, then: &Epochs) -> bool {
        let mut epochs = lock(&self.epochs);
        then.iter().any(|(scope, epoch)| epochs.get(scope).is_some_and(|(known, _)| known != *epoch))
    }

    /// What this process has just heard of a scope.
    pub(crate) fn remember(&self, scope: Scope, epoch: u64, heard: Instant) {
        let mut epochs = lock(&self.epochs);
        // A slow answer does not take the place of a later one.
        if epochs.get(&scope).is_none_or(|(_, before)| before <= heard) {
            epochs.insert(scope, (epoch, heard));
        }
    }

    fn remembered(&self, scopes: &[Scope]) -> Option<Epochs> {
        let mut epochs = lock(&self.epochs);
        let now = Instant::now();
        let mut one = |scope: &Scope| {
            let (epoch, heard) = epochs.get(scope)?;
            (now.saturating_duration_since(heard) < self.relied_on).then_some((*scope, epoch))
        };
        scopes.iter().map(&mut one).collect()
    }

    /// The key its answers are sealed with; `None` where nothing was stored since it was destroyed.
    pub(crate) async fn data_key(&self, store: &dyn CacheStore) -> Result<Option<Arc<DataKey>>, CacheAway> {
        if let Some((key, heard)) = &*lock(&self.data_key)
            && heard.elapsed() < self.relied_on
        {
            return Ok(key.clone());
        }
        self.read_data_key(store).await
    }

    /// The key of that id, if it is the one in force. One that nobody heard of yet may be new: it is asked for, but not
    /// again and again where it is one that was destroyed.
    pub(crate) async fn data_key_of(
        &self,
        store: &dyn CacheStore,
        id: &[u8],
    ) -> Result<Option<Arc<DataKey>>, CacheAway> {
        let known = lock(&self.data_key).clone();
        let is_it = |key: &Arc<DataKey>| key.id() == id;
        if let Some((key, heard)) = known {
            let found = key.filter(is_it).filter(|_| heard.elapsed() < self.relied_on);
            if found.is_some() || heard.elapsed() < ASK_AGAIN {
                return Ok(found);
            }
        }
        Ok(self.read_data_key(store).await?.filter(is_it))
    }

    async fn read_data_key(&self, store: &dyn CacheStore) -> Result<Option<Arc<DataKey>>, CacheAway> {
        let asked = Instant::now();
        let wrapped = store.value(self.digest(), DATA_KEY).await?;
        let key = wrapped.and_then(|wrapped| self.unwrapped(&wrapped));
        self.keep(key.clone(), asked);
        Ok(key)
    }

    /// The same, made where there is none.
    pub(crate) async fn data_key_or_new(&self, store: &dyn CacheStore) -> Result<Arc<DataKey>, NoKey> {
        if let Some(key) = self.data_key(store).await? {
            return Ok(key);
        }
        let asked = Instant::now();
        let made = DataKey::made(self.secret.wrapping_key(&self.id), self.digest())?;
        let there = store.swap(self.digest(), DATA_KEY, None, Some(&made)).await?;
        let key = there.and_then(|wrapped| self.unwrapped(&wrapped)).ok_or(NoKey::OtherSecret)?;
        self.keep(Some(key.clone()), asked);
        Ok(key)
    }

    /// Destroys the data key: what was sealed with it cannot be read any more. Its id; `None` where there was none.
    pub(crate) async fn destroy_data_key(&self, store: &dyn CacheStore) -> Result<Option<String>, CacheAway> {
        loop {
            let asked = Instant::now();
            let Some(wrapped) = store.value(self.digest(), DATA_KEY).await? else {
                self.keep(None, asked);
                return Ok(None);
            };
            let left = store.swap(self.digest(), DATA_KEY, Some(&wrapped), None).await?;
            if left.is_none() {
                self.keep(None, asked);
                return Ok(Some(DataKey::name_of(&wrapped)));
            }
        }
    }

    fn unwrapped(&self, wrapped: &[u8]) -> Option<Arc<DataKey>> {
        let wrapping = self.secret.wrapping_key(&self.id);
        DataKey::unwrapped(wrapping, self.digest(), wrapped).map(Arc::new)
    }

    fn keep(&self, key: Option<Arc<DataKey>>, heard: Instant) {
        *lock(&self.data_key) = Some((key, heard));
    }

    /// A call was made that the next account of this tenant's is to have.
    pub(crate) fn owe(&self, attempt: Option<Box<UsageAttempt>>) {
        lock(&self.owed).extend(attempt.map(|attempt| *attempt));
    }

    /// Calls that no account has yet.
    pub(crate) fn take_owed(&self) -> Vec<UsageAttempt> {
        mem::take(&mut *lock(&self.owed))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
