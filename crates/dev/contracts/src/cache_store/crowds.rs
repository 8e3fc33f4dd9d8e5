//! Many at once.

use super::{
    Fresh,
    support::{HOUR, World, digest, near_entry, partition},
};
use crate::random::Random;
use signalbox_kit::Clock;
use signalbox_ports::cache::{Digest, Entry};
use std::sync::Arc;
use tokio::task::JoinSet;

const TASKS: u64 = 32;
const CALLS: u64 = 100;
const KEYS: u64 = 8;

/// Nor is it torn: each says of itself under which key and where it was put.
pub async fn whatever_happens_at_once_no_answer_is_anothers(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let store = world.store.clone();
        tasks.spawn(async move {
            let mut random = Random::new(11, task);
            let mut found = 0;
            for _ in 0..CALLS {
                let (key, here) = (random.below(KEYS), partition(random.below(3)));
                let entry = told(near_entry(here, key, &[1.0, random.below(5) as f32]), &mut random);
                match random.below(10) {
                    0..4 => store.put(&entry, &[digest(100 + key)], "e", HOUR).await.unwrap(),
                    4 => drop(store.remove(here.tenant, entry.key).await.unwrap()),
                    5 => drop(store.erase(here.tenant, Some(signalbox_ports::cache::Scope::Tenant)).await),
                    6 | 7 => {
                        let got = store.get(here.tenant, &[digest(100 + key), entry.key]).await.unwrap();
                        found += u64::from(got.as_ref().is_some_and(|got| is_told(got, here.tenant)));
                        assert!(got.is_none_or(|got| got.key == entry.key));
                    }
                    _ => {
                        let near = store.nearest(&here, "e", &[1.0, 0.0], 5).await.unwrap();
                        for near in near {
                            assert!(is_told(&near.entry, here.tenant) && near.entry.partition == here);
                            found += 1;
                        }
                    }
                }
            }
            found
        });
    }
    let found: u64 = tasks.join_all().await.into_iter().sum();
    assert!(found > 100, "{found}");
}

/// The entry with all that is told of it in its answer, at some length.
fn told(mut entry: Entry, random: &mut Random) -> Entry {
    let Digest(key) = entry.key;
    let Digest(tenant) = entry.partition.tenant;
    entry.sealed = [key, tenant].concat().repeat(1 + random.below(200) as usize);
    entry
}

fn is_told(entry: &Entry, tenant: Digest) -> bool {
    let expected = [entry.key.0, tenant.0].concat();
    assert!(!entry.sealed.is_empty() && entry.sealed.chunks(32).all(|told| told == expected), "{entry:?}");
    assert_eq!(entry.partition.tenant, tenant);
    true
}
