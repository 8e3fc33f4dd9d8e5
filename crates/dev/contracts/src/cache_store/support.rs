//! A store with its clock, and short ways to fill and ask it.

use super::Fresh;
use crate::SetClock;
use signalbox_kit::Clock;
use signalbox_ports::cache::{CacheStore, Digest, Entry, Near, Partition, Scope};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::time::{Instant, sleep};

pub(super) const HOUR: Duration = Duration::from_secs(3600);
pub(super) const EMBEDDER: &str = "hashed-ngrams-512";
/// Generous: a busy machine is no failure.
const PATIENCE: Duration = Duration::from_secs(20);
const STEP: Duration = Duration::from_millis(10);

/// A store at a time that the test moves, if the store lets it.
pub(super) struct World {
    pub(super) store: Arc<dyn CacheStore>,
    clock: Arc<SetClock>,
    obeys_clock: bool,
    _keep: Box<dyn std::any::Any + Send>,
}

impl World {
    pub(super) async fn new(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) -> Self {
        let clock = Arc::new(SetClock::at(SystemTime::UNIX_EPOCH + Duration::from_secs(1_775_001_600)));
        let Fresh { store, obeys_clock, keep } = fresh(clock.clone()).await;
        Self { store, clock, obeys_clock, _keep: keep }
    }

    /// Lets time pass until something holds.
    pub(super) async fn until(&self, what: &str, mut holds: impl AsyncFnMut() -> bool) {
        let end = Instant::now() + PATIENCE;
        while !holds().await {
            assert!(Instant::now() < end, "not within {} s: {what}", PATIENCE.as_secs());
            if self.obeys_clock {
                self.clock.set(self.clock.now() + STEP);
            } else {
                sleep(STEP).await;
            }
        }
    }

    pub(super) async fn put(&self, entry: &Entry, aliases: &[Digest]) {
        self.store.put(entry, aliases, EMBEDDER, HOUR).await.unwrap();
    }

    pub(super) async fn get(&self, tenant: Digest, keys: &[Digest]) -> Option<Entry> {
        self.store.get(tenant, keys).await.unwrap()
    }

    /// Whether an entry is found by one of its keys, as it was put.
    pub(super) async fn has(&self, entry: &Entry, key: Digest) -> bool {
        let found = self.get(entry.partition.tenant, &[key]).await;
        assert!(found.is_none() || found == Some(bare(entry)), "{found:?}");
        found.is_some()
    }

    pub(super) async fn nearest(&self, partition: &Partition, vector: &[f32], most: usize) -> Vec<Near> {
        self.store.nearest(partition, EMBEDDER, vector, most).await.unwrap()
    }

    /// Keys of the nearest.
    pub(super) async fn near(&self, partition: &Partition, vector: &[f32], most: usize) -> Vec<Digest> {
        self.nearest(partition, vector, most).await.iter().map(|near| near.entry.key).collect()
    }
}

/// A digest that has nothing in common with another's.
pub(super) fn digest(number: u64) -> Digest {
    let number = u128::from(number) + 1;
    Digest(number.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835).to_be_bytes())
}

pub(super) fn partition(number: u64) -> Partition {
    let [tenant, task, locale, fingerprint] = [1, 2, 3, 4].map(|part| digest(part << 32 | number));
    Partition { tenant, task, locale, fingerprint }
}

/// An entry without a vector.
pub(super) fn entry(partition: Partition, key: u64) -> Entry {
    Entry {
        key: digest(key),
        partition,
        epochs: vec![(Scope::Tenant, 0), (Scope::Task(partition.task), 3)],
        sealed: format!("answer {key}").into_bytes(),
        vector: None,
        worth: 1_000,
    }
}

pub(super) fn near_entry(partition: Partition, key: u64, vector: &[f32]) -> Entry {
    Entry { vector: Some(normal(vector)), ..entry(partition, key) }
}

pub(super) fn normal(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter().map(|number| number / length).collect()
}

/// As entries come back.
pub(super) fn bare(entry: &Entry) -> Entry {
    Entry { vector: None, ..entry.clone() }
}
