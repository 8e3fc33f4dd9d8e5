//! What is destroyed when somebody asks for it.

use super::{
    Fresh,
    support::{HOUR, World, digest, near_entry, partition},
};
use signalbox_kit::Clock;
use signalbox_ports::cache::{Digest, Entry, Lead, Partition, Scope};
use std::sync::Arc;

const REFERENCE: Scope = Scope::Reference(Digest(*b"an article's id "));

fn entries(partition: Partition) -> Vec<Entry> {
    let mut entries: Vec<_> = (0..6).map(|key| near_entry(partition, key, &[1.0, key as f32])).collect();
    entries[0].epochs.push((REFERENCE, 1));
    entries[1].epochs.push((REFERENCE, 0));
    entries[2].epochs.push((Scope::Template(digest(40)), 0));
    entries[3].epochs.push((Scope::Requested(digest(40)), 0));
    entries[4].partition.task = digest(41);
    entries[5].partition.locale = digest(42);
    entries
}

/// Alias and vector included.
pub async fn a_scope_is_erased_and_nothing_else(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    for (scope, gone) in [
        (REFERENCE, vec![0, 1]),
        (Scope::Template(digest(40)), vec![2]),
        (Scope::Requested(digest(40)), vec![3]),
        (Scope::Task(digest(41)), vec![4]),
        (Scope::Locale(digest(42)), vec![5]),
        (Scope::Reference(digest(40)), vec![]),
        (Scope::Tenant, vec![0, 1, 2, 3, 4, 5]),
    ] {
        let world = World::new(fresh).await;
        let (mine, anothers) = (entries(partition(1)), entries(partition(2)));
        for entry in mine.iter().chain(&anothers) {
            world.put(entry, &[alias(entry)]).await;
        }
        let tenant = partition(1).tenant;
        let value = world.store.swap(tenant, "key", None, Some(b"value")).await.unwrap();
        assert_eq!(world.store.erase(tenant, Some(scope)).await.unwrap(), gone.len() as u64, "{scope:?}");
        for (at, entry) in mine.iter().enumerate() {
            let left = !gone.contains(&at);
            assert_eq!(world.has(entry, entry.key).await, left, "{scope:?} {at}");
            assert_eq!(world.has(entry, alias(entry)).await, left, "{scope:?} {at}");
            let near = world.near(&entry.partition, &[1.0, 0.0], 10).await;
            assert_eq!(near.contains(&entry.key), left, "{scope:?} {at}");
        }
        for entry in &anothers {
            assert!(world.has(entry, entry.key).await && world.has(entry, alias(entry)).await);
        }
        assert_eq!(world.store.value(tenant, "key").await.unwrap(), value);
        assert_eq!(world.store.erase(tenant, Some(scope)).await.unwrap(), 0, "nothing is left");
    }
}

fn alias(entry: &Entry) -> Digest {
    let Digest(bytes) = entry.key;
    Digest(bytes.map(|byte| !byte))
}

/// Values and leads too.
pub async fn all_of_a_tenant_is_erased_and_nobody_elses(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let tenants = [partition(1), partition(2)];
    for partition in tenants {
        for entry in entries(partition) {
            world.put(&entry, &[alias(&entry)]).await;
        }
        world.store.swap(partition.tenant, "data key", None, Some(b"wrapped")).await.unwrap();
        world.store.lead(partition.tenant, digest(1), "somebody", HOUR).await.unwrap();
    }
    let [mine, anothers] = tenants.map(|partition| partition.tenant);
    assert_eq!(world.store.erase(mine, None).await.unwrap(), 6);
    for entry in entries(tenants[0]) {
        assert!(!world.has(&entry, entry.key).await && !world.has(&entry, alias(&entry)).await);
        assert!(world.near(&entry.partition, &[1.0, 0.0], 10).await.is_empty());
    }
    assert_eq!(world.store.value(mine, "data key").await.unwrap(), None);
    assert_eq!(world.store.lead(mine, digest(1), "me", HOUR).await.unwrap(), Lead::Mine);
    assert_eq!(world.store.held(mine).await.unwrap(), []);
    for entry in entries(tenants[1]) {
        assert!(world.has(&entry, entry.key).await && world.has(&entry, alias(&entry)).await);
        assert!(world.near(&entry.partition, &[1.0, 0.0], 10).await.contains(&entry.key));
    }
    assert!(world.store.value(anothers, "data key").await.unwrap().is_some());
    assert_eq!(world.store.lead(anothers, digest(1), "me", HOUR).await.unwrap(), Lead::Anothers);
    assert_eq!(world.store.erase(mine, None).await.unwrap(), 0);
}

/// Or what was under way while it was erased would be served.
pub async fn epochs_outlive_erasure(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let tenant = partition(1).tenant;
    let raised = world.store.raise(tenant, REFERENCE).await.unwrap();
    let scopes = [Scope::Tenant, REFERENCE];
    let before = world.store.epochs(tenant, &scopes).await.unwrap();
    assert_eq!(before[1].1, raised);
    world.store.erase(tenant, None).await.unwrap();
    assert_eq!(world.store.epochs(tenant, &scopes).await.unwrap(), before);
}
