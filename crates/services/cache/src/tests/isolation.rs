//! Whatever a store and an embedder do, an answer never leaves its partition.

use super::{
    redis,
    world::{Hands, World, effect, request},
};
use futures_util::{StreamExt as _, stream};
use signalbox_api::v1::{GenerateRequest, cache_effect::Outcome};
use signalbox_caching::Semantic;
use signalbox_ports::cache::{
    CacheAway, CacheStore, Digest, Embedded, Embedder, Entry, Epochs, Held, Lead, Near, NotEmbedded,
    Partition, Scope,
};
use signalbox_testkit::RedisServer;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

/// Finds everything near everything.
#[derive(Debug)]
struct Constant;

#[async_trait::async_trait]
impl Embedder for Constant {
    fn id(&self) -> &str {
        "constant"
    }

    fn is_local(&self) -> bool {
        true
    }

    async fn embed(&self, texts: &[String]) -> Result<Embedded, NotEmbedded> {
        Ok(Embedded { vectors: vec![vec![1.0, 0.0]; texts.len()], attempt: None })
    }
}

/// A store that has lost its mind: keys are two bits, tenants are all one, and everything is near.
#[derive(Debug, Default)]
struct Mad {
    entries: Mutex<HashMap<u8, Entry>>,
    values: Mutex<HashMap<(Digest, String), Vec<u8>>>,
}

fn two_bits(Digest(key): Digest) -> u8 {
    key[0] & 3
}

#[async_trait::async_trait]
impl CacheStore for Mad {
    async fn get(&self, _: Digest, keys: &[Digest]) -> Result<Option<Entry>, CacheAway> {
        let entries = self.entries.lock().unwrap();
        Ok(keys.iter().find_map(|key| entries.get(&two_bits(*key)).cloned()))
    }

    async fn nearest(&self, _: &Partition, _: &str, _: &[f32], _: usize) -> Result<Vec<Near>, CacheAway> {
        let entries = self.entries.lock().unwrap();
        Ok(entries.values().map(|entry| Near { entry: entry.clone(), similarity: 1.0 }).collect())
    }

    async fn put(&self, entry: &Entry, aliases: &[Digest], _: &str, _: Duration) -> Result<(), CacheAway> {
        for key in [entry.key].iter().chain(aliases) {
            self.entries.lock().unwrap().insert(two_bits(*key), entry.clone());
        }
        Ok(())
    }

    async fn remove(&self, _: Digest, key: Digest) -> Result<bool, CacheAway> {
        Ok(self.entries.lock().unwrap().remove(&two_bits(key)).is_some())
    }

    async fn epochs(&self, _: Digest, scopes: &[Scope]) -> Result<Epochs, CacheAway> {
        Ok(scopes.iter().map(|scope| (*scope, 0)).collect())
    }

    async fn raise(&self, _: Digest, _: Scope) -> Result<u64, CacheAway> {
        Ok(0)
    }

    async fn erase(&self, _: Digest, _: Option<Scope>) -> Result<u64, CacheAway> {
        Ok(0)
    }

    async fn lead(&self, _: Digest, _: Digest, _: &str, _: Duration) -> Result<Lead, CacheAway> {
        Ok(Lead::Mine)
    }

    async fn renew_lead(&self, _: Digest, _: Digest, _: &str, _: Duration) -> Result<bool, CacheAway> {
        Ok(true)
    }

    async fn release_lead(&self, _: Digest, _: Digest, _: &str) -> Result<(), CacheAway> {
        Ok(())
    }

    async fn swap(
        &self,
        tenant: Digest,
        name: &str,
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>, CacheAway> {
        let mut values = self.values.lock().unwrap();
        let key = (tenant, name.to_owned());
        if values.get(&key).map(Vec::as_slice) == expected {
            match value {
                Some(value) => values.insert(key.clone(), value.to_vec()),
                None => values.remove(&key),
            };
        }
        Ok(values.get(&key).cloned())
    }

    async fn value(&self, tenant: Digest, name: &str) -> Result<Option<Vec<u8>>, CacheAway> {
        Ok(self.values.lock().unwrap().get(&(tenant, name.to_owned())).cloned())
    }

    async fn held(&self, _: Digest) -> Result<Vec<(Digest, Held)>, CacheAway> {
        Ok(Vec::new())
    }
}

/// Names that are prefixes of each other, or look like part of a query, or alike.
const TENANTS: [&str; 8] = ["a", "ab", "a:b", "a|b", "{a}", "*", "а", "a} | @tenant:{b"];
const TASKS: [&str; 3] = ["classify", "classif", ""];
// Most are of languages that nobody reads, which is quicker.
const LOCALES: [&str; 4] = ["en", "xx", "x", ""];
const CONTENTS: [&str; 3] = ["Rain.", "Rain", "rain."];
const INSTRUCTIONS: [&str; 4] =
    ["Name the topic", " Name  the topic", "Name the topic of it", "Name no topic"];

/// The `n`th of them, spread over all.
fn asked(n: u64) -> GenerateRequest {
    // SplitMix64: chance that can be repeated.
    let mixed = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mut left = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 20;
    let mut pick = |from: &[&'static str]| {
        let picked = from[left as usize % from.len()];
        left /= from.len() as u64;
        picked
    };
    GenerateRequest {
        tenant_id: pick(&TENANTS).into(),
        task_type: pick(&TASKS).into(),
        locale: pick(&LOCALES).into(),
        request_id: n.to_string(),
        ..request(pick(&INSTRUCTIONS), pick(&CONTENTS))
    }
}

/// What must be equal for an answer to be shared.
fn place(request: &GenerateRequest) -> String {
    let content = &request.messages[0].content[1];
    format!("{} / {} / {} / {content:?}", request.tenant_id, request.task_type, request.locale)
}

/// So many lookups, some at a time, of which a third of those that find nothing are stored. How often they met what.
async fn met(world: &World, lookups: u64, at_once: usize) -> HashMap<Outcome, u32> {
    for task in TASKS {
        world.by_meaning(task, Semantic::On);
        for tenant in TENANTS {
            let tenant = world.service.cache.tenants.get(tenant);
            world.service.cache.seed(&tenant, task, 1.0, 1_000).await;
        }
    }
    let one = |n| async move {
        let request = asked(n);
        let looked = world.ask(&request).await;
        match &looked.answer {
            Some(answer) => assert_eq!(crate::kept::text(answer), place(&request)),
            None if n % 3 == 0 => drop(world.keep(&request, &place(&request), &looked.lookup_token).await),
            None => {}
        }
        effect(&looked).outcome()
    };
    let outcomes = stream::iter((0..lookups).map(one)).buffer_unordered(at_once);
    let add = |mut met: HashMap<_, _>, outcome| async move {
        *met.entry(outcome).or_default() += 1;
        met
    };
    outcomes.fold(HashMap::new(), add).await
}

fn in_all_ways(met: &HashMap<Outcome, u32>) -> bool {
    let ways = [Outcome::Miss, Outcome::ExactHit, Outcome::NormalizedHit, Outcome::SemanticHit];
    ways.iter().all(|outcome| met.get(outcome).is_some_and(|times| *times > 20))
}

#[tokio::test(start_paused = true)]
async fn of_a_hundred_thousand_lookups_none_is_answered_from_another_partition() {
    let world = World::over(Arc::new(Mad::default()), Arc::new(Hands::new()), Arc::new(Constant), None);
    let world = world.with_options(|options| options.single_flight = false);
    let met = met(&world, 100_000, 1).await;
    assert!(in_all_ways(&met), "{met:?}");
    assert!(crate::metrics::violations() > 10_000);
}

#[tokio::test]
async fn nor_is_one_of_ten_thousand_over_a_real_redis_which_never_gives_cause_to_doubt_it() {
    let server = RedisServer::searching().await;
    let world = World::over(redis::store(server.port()), Arc::new(Hands::new()), Arc::new(Constant), None);
    let world = redis::patient(world).with_options(|options| options.single_flight = false);
    let met = met(&world, 10_000, 16).await;
    assert!(in_all_ways(&met), "{met:?}");
    assert_eq!(crate::metrics::violations(), 0);
}
