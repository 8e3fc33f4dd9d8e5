//! Entries by the nearness of their vectors.

use super::{
    Fresh,
    support::{EMBEDDER, HOUR, World, bare, digest, near_entry, normal, partition},
};
use crate::random::Random;
use signalbox_kit::Clock;
use signalbox_ports::cache::{Digest, Entry, Partition};
use std::{sync::Arc, time::Duration};

/// With their similarities, and no more than were asked for.
pub async fn the_nearest_come_first(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let partition = partition(1);
    let vectors = [[1.0, 0.0, 0.0], [0.8, 0.6, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]];
    let entries: Vec<_> =
        vectors.iter().zip(0..).map(|(vector, key)| near_entry(partition, key, vector)).collect();
    for entry in entries.iter().rev() {
        world.put(entry, &[]).await;
    }
    let found = world.nearest(&partition, &[1.0, 0.0, 0.0], 10).await;
    assert_eq!(found.len(), 4);
    for ((near, entry), similarity) in found.iter().zip(&entries).zip([1.0, 0.8, 0.0, -1.0]) {
        assert_eq!(near.entry, bare(entry));
        assert!((near.similarity - similarity).abs() < 1e-5, "{} is not {similarity}", near.similarity);
    }
    assert_eq!(world.near(&partition, &[0.0, 0.9, -0.1], 2).await, [digest(2), digest(1)]);
    assert!(world.near(&partition, &[1.0, 0.0, 0.0], 0).await.is_empty());
}

/// For a few hundred in a partition, among others that are nearer and of other partitions.
pub async fn many_are_compared_as_by_hand(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let mut random = Random::new(7, 1);
    let mut vector = || normal(&(0..64).map(|_| random.below(2001) as f32 - 1000.0).collect::<Vec<_>>());
    let mut kept: Vec<(Digest, Vec<f32>)> = Vec::new();
    for key in 0..300 {
        let vector = vector();
        world.put(&near_entry(partition(1), key, &vector), &[]).await;
        world.put(&near_entry(partition(2), key, &vector), &[]).await;
        kept.push((digest(key), vector));
    }
    for gone in (0..300_u32).step_by(3).rev() {
        world.store.remove(partition(1).tenant, digest(gone.into())).await.unwrap();
        kept.swap_remove(gone as usize);
    }
    for _ in 0..20 {
        let asked = vector();
        let dot = |other: &[f32]| asked.iter().zip(other).map(|(a, b)| a * b).sum::<f32>();
        kept.sort_by(|a, b| dot(&b.1).total_cmp(&dot(&a.1)));
        let by_hand: Vec<_> = kept.iter().take(5).map(|(key, _)| *key).collect();
        assert_eq!(world.near(&partition(1), &asked, 5).await, by_hand);
    }
}

/// However like it is: each of its four parts keeps entries apart, down to a single bit.
pub async fn no_other_partition_is_searched(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let partition = partition(1);
    let mut others = Vec::new();
    for bit in [0, 1, 63, 100, 127] {
        let flip = |Digest(bytes): Digest| Digest((u128::from_be_bytes(bytes) ^ 1 << bit).to_be_bytes());
        let Partition { tenant, task, locale, fingerprint } = partition;
        others.push(Partition { tenant: flip(tenant), ..partition });
        others.push(Partition { task: flip(task), ..partition });
        others.push(Partition { locale: flip(locale), ..partition });
        others.push(Partition { fingerprint: flip(fingerprint), ..partition });
        others.push(Partition { task: locale, locale: task, ..partition });
    }
    for (key, other) in others.iter().enumerate() {
        world.put(&near_entry(*other, 100 + key as u64, &[1.0, 0.0]), &[]).await;
    }
    assert!(world.near(&partition, &[1.0, 0.0], 50).await.is_empty());
    world.put(&near_entry(partition, 1, &[0.0, 1.0]), &[]).await;
    assert_eq!(world.near(&partition, &[1.0, 0.0], 50).await, [digest(1)], "though all others are nearer");
}

/// Whatever their names are made of.
pub async fn vectors_of_other_embedders_are_not_compared(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let partition = partition(1);
    let long = "ж".repeat(5_000);
    let names = [
        "",
        "a",
        "a ",
        "a:b",
        "a}|@tenant:{b",
        "*",
        "\"'\\\r\n\0",
        "ollama/nomic-embed-text:v1.5",
        "模型",
        &long,
    ];
    for (key, name) in names.iter().enumerate() {
        let entry = near_entry(partition, key as u64, &[1.0, 0.0, 0.0]);
        world.store.put(&entry, &[], name, HOUR).await.unwrap();
    }
    for (key, name) in names.iter().enumerate() {
        let found = world.store.nearest(&partition, name, &[1.0, 0.0, 0.0], 50).await.unwrap();
        let keys: Vec<_> = found.iter().map(|near| near.entry.key).collect();
        assert_eq!(keys, [digest(key as u64)], "{name}");
    }
    let found = world.store.nearest(&partition, "nobody", &[1.0, 0.0, 0.0], 50).await.unwrap();
    assert!(found.is_empty());
}

/// Also where it has none, or one of another embedder, or in another partition.
pub async fn only_an_entrys_newest_vector_counts(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let (here, there) = (partition(1), Partition { fingerprint: digest(50), ..partition(1) });
    let (east, north) = ([1.0, 0.0], [0.0, 1.0]);
    world.put(&near_entry(here, 1, &east), &[]).await;
    world.put(&near_entry(here, 1, &north), &[]).await;
    let found = world.nearest(&here, &east, 5).await;
    assert_eq!(found.len(), 1);
    assert!(found[0].similarity.abs() < 1e-5);
    world.put(&near_entry(there, 1, &east), &[]).await;
    assert!(world.near(&here, &east, 5).await.is_empty(), "it has moved");
    assert_eq!(world.near(&there, &east, 5).await, [digest(1)]);
    world.store.put(&near_entry(there, 1, &east), &[], "another", HOUR).await.unwrap();
    assert!(world.near(&there, &east, 5).await.is_empty());
    assert_eq!(world.store.nearest(&there, "another", &east, 5).await.unwrap().len(), 1);
    world.put(&Entry { vector: None, ..near_entry(there, 1, &east) }, &[]).await;
    assert!(world.store.nearest(&there, "another", &east, 5).await.unwrap().is_empty());
    world.put(&near_entry(here, 2, &east), &[]).await;
    world.put(&near_entry(here, 3, &north), &[digest(2)]).await;
    assert_eq!(world.near(&here, &east, 5).await, [digest(3)], "what had its key has lost its vector too");
}

/// Those that have expired or were removed make room for what is behind them.
pub async fn the_nearest_that_are_gone_hide_no_others(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let partition = partition(1);
    for key in 0..20 {
        let entry = near_entry(partition, key, &[1.0, key as f32 / 100.0]);
        world.store.put(&entry, &[], EMBEDDER, Duration::from_millis(500)).await.unwrap();
    }
    for key in 20..30 {
        world.put(&near_entry(partition, key, &[1.0, 1.0 + key as f32 / 100.0]), &[]).await;
    }
    world.store.remove(partition.tenant, digest(20)).await.unwrap();
    let expected = [21, 22, 23, 24, 25].map(digest);
    let found = async || world.near(&partition, &[1.0, 0.0], 5).await == expected;
    world.until("only those that are left are found", found).await;
}

/// Their entries are found by their keys all the same, and the others by nearness.
pub async fn vectors_of_no_use_are_no_trouble(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let partition = partition(1);
    world.put(&near_entry(partition, 0, &[1.0, 0.0]), &[]).await;
    let useless: [&[f32]; 6] =
        [&[], &[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 0.0], &[1.0], &[1.0, 0.0, 0.0]];
    for (vector, key) in useless.into_iter().zip(1..) {
        let entry = Entry { vector: Some(vector.to_vec()), ..near_entry(partition, key, &[1.0]) };
        world.put(&entry, &[]).await;
        assert!(world.has(&entry, entry.key).await, "{vector:?}");
        let found = world.nearest(&partition, vector, 5).await;
        assert!(found.iter().all(|near| near.similarity.is_finite()), "{found:?}");
    }
    assert_eq!(world.near(&partition, &[1.0, 0.0], 5).await, [digest(0)]);
}
