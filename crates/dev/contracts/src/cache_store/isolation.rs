//! Shows that no answer is ever given across partitions, and that the showing would see it.
//!
//! All vectors are the same, so that whatever is searched is found; partitions differ in as little as they can. Each
//! entry says of itself where it belongs. Who reads may trust the store, or look again as the cache service does.

mod coarse;
mod unfiltered;

pub use coarse::Coarse;
pub use unfiltered::Unfiltered;

use super::{Fresh, support::World};
use crate::random::Random;
use signalbox_kit::Clock;
use signalbox_ports::cache::{CacheAway, CacheStore, Digest, Entry, Partition, Scope};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::task::JoinSet;

const EMBEDDER: &str = "constant";
const VECTOR: [f32; 8] = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
const TASKS: u64 = 32;
const TTL: Duration = Duration::from_secs(600);
/// Instructions a partition is asked.
const INSTRUCTIONS: u64 = 3;

/// Whose word is taken for where an answer belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// The store's.
    Trusting,
    /// The entry's: its partition and epochs are compared after it was fetched.
    Checking,
}

/// What came of many lookups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Crossings {
    /// Lookups made.
    pub lookups: u64,
    /// Answers that were given.
    pub answers: u64,
    /// Of these, those of another partition, of another tenant, or made unreachable before the lookup began.
    pub crossed: u64,
}

/// Looks up so many times, from many tasks, while others store, remove and invalidate.
pub async fn crossings(store: Arc<dyn CacheStore>, lookups: u64, reader: Reader, seed: u64) -> Crossings {
    let places = Arc::new(Places::new());
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let (store, places) = (store.clone(), places.clone());
        tasks.spawn(async move {
            let mut caller = Caller { store, places, reader, random: Random::new(seed, task) };
            let mut sum = Crossings::default();
            while sum.lookups < lookups.div_ceil(TASKS) {
                caller.step(&mut sum).await;
            }
            sum
        });
    }
    tasks.join_all().await.into_iter().fold(Crossings::default(), |sum, one| Crossings {
        lookups: sum.lookups + one.lookups,
        answers: sum.answers + one.answers,
        crossed: sum.crossed + one.crossed,
    })
}

/// The store's own filter, without anybody who looks again.
pub async fn nothing_crosses_partitions(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let seen = crossings(world.store.clone(), 3_000, Reader::Trusting, 1).await;
    assert!(seen.crossed == 0 && seen.answers > 500, "{seen:?}");
}

/// Partitions that look alike, and what was done to their tenants.
struct Places {
    tenants: Vec<(Digest, AtomicU64)>,
    others: Vec<Digest>,
}

impl Places {
    fn new() -> Self {
        let last_bit = u128::MAX - 1;
        let tenants = [
            [0; 16],
            [255; 16],
            last_bit.to_be_bytes(),
            *b"acme            ",
            *b"acme\0\0\0\0\0\0\0\0\0\0\0\0",
            *b"a} | @tenant:{b ",
            *b"****************",
            *b"{}{}{}{}{}{}{}{}",
        ];
        let others = [[0; 16], [255; 16], 1_u128.to_be_bytes(), *b"a} | @tenant:{b "];
        Self {
            tenants: tenants.into_iter().map(|tenant| (Digest(tenant), AtomicU64::new(0))).collect(),
            others: others.map(Digest).to_vec(),
        }
    }

    fn any(&self, random: &mut Random) -> (Partition, &AtomicU64) {
        let (tenant, epoch) = random.pick(&self.tenants);
        let [task, locale, fingerprint] = [(); 3].map(|()| *random.pick(&self.others));
        (Partition { tenant: *tenant, task, locale, fingerprint }, epoch)
    }
}

struct Caller {
    store: Arc<dyn CacheStore>,
    places: Arc<Places>,
    reader: Reader,
    random: Random,
}

impl Caller {
    /// A lookup, or a change. What fails is a miss.
    async fn step(&mut self, sum: &mut Crossings) {
        let places = self.places.clone();
        let (place, epoch) = places.any(&mut self.random);
        let key = key(&place, self.random.below(INSTRUCTIONS));
        match self.random.below(1000) {
            0..150 => self.store(place, key).await,
            150..160 => drop(self.store.remove(place.tenant, key).await),
            160..165 => {
                if let Ok(raised) = self.store.raise(place.tenant, Scope::Tenant).await {
                    epoch.fetch_max(raised, Ordering::SeqCst);
                }
            }
            asked => {
                sum.lookups += 1;
                let least = epoch.load(Ordering::SeqCst);
                let found = self.look_up(&place, key, asked % 2 == 0).await.unwrap_or_default();
                for entry in found {
                    sum.answers += 1;
                    let (of, key_of, stored_at) = told(&entry.sealed);
                    let right = of == place && (asked % 2 == 1 || key_of == key);
                    let stale = self.reader == Reader::Checking && stored_at < least;
                    sum.crossed += u64::from(!right || stale);
                }
            }
        }
    }

    async fn store(&mut self, place: Partition, key: Digest) {
        let Ok(epochs) = self.store.epochs(place.tenant, &[Scope::Tenant]).await else { return };
        let stored_at = epochs.first().map_or(0, |(_, epoch)| *epoch);
        let entry = Entry {
            key,
            partition: place,
            epochs,
            sealed: tell(&place, key, stored_at),
            vector: Some(VECTOR.to_vec()),
            worth: 1,
        };
        drop(self.store.put(&entry, &[], EMBEDDER, TTL).await);
    }

    /// What a service would serve, by key or by nearness.
    async fn look_up(&self, place: &Partition, key: Digest, exact: bool) -> Result<Vec<Entry>, CacheAway> {
        if self.reader == Reader::Trusting {
            return self.found(place, key, exact).await;
        }
        let scopes = [Scope::Tenant];
        let current = self.store.epochs(place.tenant, &scopes);
        let (current, found) = tokio::try_join!(current, self.found(place, key, exact))?;
        let is_served = |entry: &Entry| {
            entry.partition == *place && (!exact || entry.key == key) && entry.epochs == current
        };
        Ok(found.into_iter().filter(is_served).collect())
    }

    async fn found(&self, place: &Partition, key: Digest, exact: bool) -> Result<Vec<Entry>, CacheAway> {
        if exact {
            return Ok(self.store.get(place.tenant, &[key]).await?.into_iter().collect());
        }
        let near = self.store.nearest(place, EMBEDDER, &VECTOR, 5).await?;
        Ok(near.into_iter().map(|near| near.entry).collect())
    }
}

/// As a keyed hash would: another one for everything that differs.
fn key(place: &Partition, instruction: u64) -> Digest {
    let mut hash = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D_u128;
    for Digest(part) in [place.tenant, place.task, place.locale, place.fingerprint] {
        for byte in part {
            hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013B);
        }
    }
    let hash = (hash ^ u128::from(instruction)).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    Digest(hash.to_be_bytes())
}

fn tell(place: &Partition, key: Digest, stored_at: u64) -> Vec<u8> {
    let Partition { tenant, task, locale, fingerprint } = place;
    let digests = [tenant.0, task.0, locale.0, fingerprint.0, key.0].concat();
    [digests, stored_at.to_be_bytes().to_vec()].concat()
}

fn told(sealed: &[u8]) -> (Partition, Digest, u64) {
    let digest = |at: usize| Digest(sealed[at * 16..][..16].try_into().unwrap());
    let place = Partition { tenant: digest(0), task: digest(1), locale: digest(2), fingerprint: digest(3) };
    (place, digest(4), u64::from_be_bytes(sealed[80..].try_into().unwrap()))
}
