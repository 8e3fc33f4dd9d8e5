//! What the cache does, counted by tenant, task and hour: in this process first, and within seconds added to what all
//! processes share.

mod sums;

use crate::{cache::Cache, tenants::Tenant};
use prost::Message;
use signalbox_api::v1::{CacheEffect, CacheStats, cache_effect::Outcome};
use signalbox_ports::cache::{CacheAway, CacheStore, Digest};
use std::{
    collections::HashMap,
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use sums::add;
use tokio::time::sleep;

/// Hours that are kept: a week and the one that runs.
pub(crate) const HOURS: u64 = 7 * 24 + 1;
/// How long counts stay in this process alone, also where nothing follows them.
const WRITTEN_WITHIN: Duration = Duration::from_secs(10);
/// How often writing is tried where other processes write too.
const TRIES: u32 = 8;
/// Tasks of a tenant that are counted apart in an hour; further ones are counted together.
const MOST_TASKS: usize = 256;
/// What those are called.
const OTHER_TASKS: &str = "(other)";

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Seen<'a> {
    Bypassed(&'a str),
    Served(&'a CacheEffect),
    /// With what refused a near answer or went wrong; empty for neither.
    Missed(&'a str),
    /// A near answer was compared with the model's.
    Judged {
        is_right: bool,
    },
}

/// The counts of one hour.
#[derive(Clone, PartialEq, Message)]
struct Hour {
    /// Hours since 1970.
    #[prost(uint64, tag = "1")]
    hour: u64,
    #[prost(message, repeated, tag = "2")]
    tasks: Vec<CacheStats>,
}

type Tasks = HashMap<String, CacheStats>;

/// Counts that are not written yet, and those of all tenants together under a digest of their own.
#[derive(Clone)]
pub(crate) struct Stats {
    all: Digest,
    pending: Arc<Mutex<Pending>>,
}

#[derive(Default)]
struct Pending {
    counts: HashMap<(Digest, u64), Tasks>,
    /// Somebody will write them.
    is_due: bool,
}

impl fmt::Debug for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stats").finish_non_exhaustive()
    }
}

impl Stats {
    /// `all`: what the store knows all tenants together by.
    pub(crate) fn new(all: Digest) -> Self {
        Self { all, pending: Arc::default() }
    }

    /// Counts what happened. Whether it is the first that is not written, so that somebody must see to it.
    fn count(&self, tenant: Digest, task_type: &str, seen: &Seen<'_>, now: SystemTime) -> bool {
        let mut pending = self.lock();
        let tasks = pending.counts.entry((tenant, hour(now))).or_default();
        match tasks.get_mut(task_type) {
            Some(stats) => take_in(stats, seen),
            None => {
                let name = if tasks.len() < MOST_TASKS { task_type } else { OTHER_TASKS };
                let stats = tasks.entry(name.to_owned()).or_default();
                name.clone_into(&mut stats.task_type);
                take_in(stats, seen);
            }
        }
        !mem::replace(&mut pending.is_due, true)
    }

    /// Adds what was counted here to what all processes share.
    async fn write(&self, store: &dyn CacheStore) {
        let Pending { counts, .. } = mem::take(&mut *self.lock());
        for ((tenant, hour), tasks) in counts {
            for whose in [tenant, self.all] {
                if add_to(store, whose, hour, &tasks).await.is_err() && whose == tenant {
                    self.put_back((tenant, hour), tasks);
                    break;
                }
            }
        }
    }

    fn put_back(&self, key: (Digest, u64), tasks: Tasks) {
        let mut pending = self.lock();
        let there = pending.counts.entry(key).or_default();
        for (name, stats) in tasks {
            add(there.entry(name).or_default(), &stats);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cache {
    /// Counts what happened to a request.
    pub(crate) fn seen(&self, tenant: &Tenant, task_type: &str, seen: &Seen<'_>) {
        if self.stats.count(tenant.digest(), task_type, seen, self.now()) {
            let (stats, store) = (self.stats.clone(), self.dependencies.store.clone());
            tokio::spawn(async move {
                sleep(WRITTEN_WITHIN).await;
                stats.write(&*store).await;
            });
        }
    }

    /// What all processes counted in the last hours, that which runs included, by task; of all tenants for `None`.
    pub(crate) async fn counted(
        &self,
        tenant: Option<Digest>,
        hours: u64,
    ) -> Result<HashMap<String, CacheStats>, CacheAway> {
        let store = &*self.dependencies.store;
        self.stats.write(store).await;
        let (whose, last) = (tenant.unwrap_or(self.stats.all), hour(self.now()));
        let wanted = (last.saturating_sub(hours.saturating_sub(1))..=last).map(|hour| async move {
            let bytes = store.value(whose, &name(hour)).await?;
            Ok::<_, CacheAway>(read(bytes.as_deref(), hour))
        });
        let mut sums = Tasks::new();
        for hour in futures_util::future::try_join_all(wanted).await? {
            for stats in hour.tasks {
                add(sums.entry(stats.task_type.clone()).or_default(), &stats);
            }
        }
        Ok(sums)
    }
}

fn take_in(stats: &mut CacheStats, seen: &Seen<'_>) {
    match seen {
        Seen::Judged { is_right } => {
            stats.audited += 1;
            stats.audited_wrong += u64::from(!is_right);
            return;
        }
        Seen::Bypassed(reason) => *stats.bypassed.entry((*reason).to_owned()).or_default() += 1,
        Seen::Missed("") => {}
        Seen::Missed("timeout") => stats.timeouts += 1,
        Seen::Missed("store" | "embedder" | "audit") => {}
        Seen::Missed(refused) => *stats.refused.entry((*refused).to_owned()).or_default() += 1,
        Seen::Served(effect) => sums::served(stats, effect),
    }
    stats.lookups += 1;
}

/// One more hit of its kind.
fn count_hit(stats: &mut CacheStats, outcome: Outcome) {
    match outcome {
        Outcome::ExactHit => stats.exact_hits += 1,
        Outcome::NormalizedHit => stats.normalized_hits += 1,
        Outcome::SemanticHit => stats.semantic_hits += 1,
        Outcome::Coalesced => stats.coalesced += 1,
        Outcome::Unspecified | Outcome::Miss | Outcome::Bypass => {}
    }
}

/// Adds to an hour in the store. Others may write at the same time.
async fn add_to(store: &dyn CacheStore, whose: Digest, hour: u64, tasks: &Tasks) -> Result<(), CacheAway> {
    let name = name(hour);
    let mut there = store.value(whose, &name).await?;
    for _ in 0..TRIES {
        let mut sum = read(there.as_deref(), hour);
        for (task_type, stats) in tasks {
            let at = match sum.tasks.iter().position(|held| held.task_type == *task_type) {
                Some(at) => at,
                None => {
                    sum.tasks.push(CacheStats { task_type: task_type.clone(), ..Default::default() });
                    sum.tasks.len() - 1
                }
            };
            add(&mut sum.tasks[at], stats);
        }
        let bytes = sum.encode_to_vec();
        let now_there = store.swap(whose, &name, there.as_deref(), Some(&bytes)).await?;
        if now_there.as_deref() == Some(&bytes) {
            return Ok(());
        }
        there = now_there;
    }
    Err(CacheAway("others write without end".to_owned()))
}

/// The counts in bytes, if they are of that hour: its place was another's a week before.
fn read(bytes: Option<&[u8]>, hour: u64) -> Hour {
    let stored = bytes.and_then(|bytes| Hour::decode(bytes).ok()).filter(|stored| stored.hour == hour);
    stored.unwrap_or(Hour { hour, tasks: Vec::new() })
}

fn name(hour: u64) -> String {
    format!("stats:{}", hour % HOURS)
}

fn hour(now: SystemTime) -> u64 {
    now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / 3_600
}
