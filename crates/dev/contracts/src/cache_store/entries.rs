//! Entries under their keys.

use super::{
    Fresh,
    support::{EMBEDDER, HOUR, World, bare, digest, entry, near_entry, partition},
};
use signalbox_kit::Clock;
use signalbox_ports::cache::{Digest, Entry, Scope};
use std::{sync::Arc, time::Duration};

/// All the same entry.
pub async fn an_entry_is_found_by_its_key_and_by_its_aliases(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let entry = entry(partition(1), 1);
    assert!(!world.has(&entry, entry.key).await);
    world.put(&entry, &[digest(2), digest(3), entry.key]).await;
    for key in [entry.key, digest(2), digest(3)] {
        assert!(world.has(&entry, key).await, "{key:?}");
    }
    assert!(!world.has(&entry, digest(4)).await);
    assert_eq!(world.get(entry.partition.tenant, &[]).await, None);
}

/// The first that leads anywhere decides.
pub async fn keys_are_tried_in_their_order(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let (first, second) = (entry(partition(1), 1), entry(partition(1), 2));
    let tenant = first.partition.tenant;
    world.put(&first, &[digest(11)]).await;
    world.put(&second, &[digest(12)]).await;
    for (keys, found) in
        [([1, 2], &first), ([2, 1], &second), ([9, 12], &second), ([11, 2], &first), ([9, 1], &first)]
    {
        assert_eq!(world.get(tenant, &keys.map(digest)).await, Some(bare(found)), "{keys:?}");
    }
}

/// And what led to the old one leads nowhere.
pub async fn an_entry_takes_the_place_of_one_with_its_key(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let old = entry(partition(1), 1);
    let new = Entry { sealed: b"another".to_vec(), worth: -5, ..old.clone() };
    world.put(&old, &[digest(2), digest(3)]).await;
    world.put(&new, &[digest(3)]).await;
    assert!(world.has(&new, new.key).await && world.has(&new, digest(3)).await);
    assert!(!world.has(&new, digest(2)).await, "it was put for another answer");
}

/// Be it an entry's own, or one that leads to it.
pub async fn what_was_put_last_has_the_key(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let (first, second, third) = (entry(partition(1), 1), entry(partition(1), 2), entry(partition(1), 3));
    world.put(&first, &[digest(9)]).await;
    world.put(&second, &[digest(9)]).await;
    assert!(world.has(&second, digest(9)).await);
    world.put(&third, &[second.key]).await;
    assert!(world.has(&third, second.key).await);
    assert_eq!(world.get(first.partition.tenant, &[digest(9)]).await, None, "what it led to is gone");
    world.put(&second, &[]).await;
    assert!(world.has(&second, second.key).await && world.has(&third, third.key).await);
}

/// To the byte.
pub async fn entries_of_all_sizes_come_back_as_they_were(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let partition = partition(1);
    let all_bytes: Vec<u8> = (0..=255).collect();
    let large = all_bytes.repeat(1024);
    let scopes = [
        Scope::Tenant,
        Scope::Task(digest(1)),
        Scope::Locale(digest(2)),
        Scope::Requested(Digest([0; 16])),
        Scope::Template(Digest([255; 16])),
        Scope::Reference(Digest(*b"\r\n\0{}:*?[]|@\t \"'")),
    ];
    let epochs: Vec<_> = scopes.into_iter().zip([0, 1, u64::MAX, 1 << 53, 7, 1_775_001_600_000]).collect();
    let sealed = [Vec::new(), vec![0], b"E\r\n$5\r\nA".to_vec(), all_bytes, large];
    for (number, sealed) in sealed.into_iter().enumerate() {
        for (epochs, worth) in [(epochs.clone(), i64::MIN), (Vec::new(), i64::MAX), (epochs.repeat(20), 0)] {
            let entry = Entry { epochs, worth, sealed: sealed.clone(), ..entry(partition, number as u64) };
            world.put(&entry, &[digest(1000)]).await;
            assert!(world.has(&entry, entry.key).await && world.has(&entry, digest(1000)).await);
        }
    }
    for key in
        [[0; 16], [255; 16], *b"{}{}{}{}{}{}{}{}", *b"****************", *b"\r\n\r\n\r\n\r\n\0\0\0\0\0\0\0\0"]
    {
        let entry = Entry { key: Digest(key), ..entry(partition, 1) };
        world.put(&entry, &[]).await;
        assert!(world.has(&entry, entry.key).await);
    }
}

/// Nor is what is near it hidden by it.
pub async fn a_removed_entry_is_found_by_nobody(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let entry = near_entry(partition(1), 1, &[1.0, 0.0]);
    let tenant = entry.partition.tenant;
    world.put(&entry, &[digest(2)]).await;
    assert!(!world.store.remove(digest(99), entry.key).await.unwrap(), "it is not that tenant's");
    assert!(world.store.remove(tenant, entry.key).await.unwrap());
    assert!(!world.store.remove(tenant, entry.key).await.unwrap(), "it is not there any more");
    assert!(!world.has(&entry, entry.key).await && !world.has(&entry, digest(2)).await);
    assert!(world.near(&entry.partition, &[1.0, 0.0], 5).await.is_empty());
    let back = Entry { vector: None, ..entry };
    world.put(&back, &[]).await;
    assert!(world.near(&back.partition, &[1.0, 0.0], 5).await.is_empty(), "its vector is gone");
    assert!(!world.has(&back, digest(2)).await, "and so is what led to it");
}

/// With all that led to it, and no sooner.
pub async fn an_entry_is_gone_when_its_time_is_over(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let (brief, lasting) =
        (near_entry(partition(1), 1, &[1.0, 0.0]), near_entry(partition(1), 2, &[0.0, 1.0]));
    let ttl = Duration::from_secs(2);
    world.store.put(&brief, &[digest(11)], EMBEDDER, ttl).await.unwrap();
    world.put(&lasting, &[digest(12)]).await;
    assert!(world.has(&brief, brief.key).await && world.has(&brief, digest(11)).await);
    assert_eq!(world.near(&brief.partition, &[1.0, 0.0], 5).await, [brief.key, lasting.key]);
    world.until("it is gone", async || !world.has(&brief, brief.key).await).await;
    assert!(!world.has(&brief, digest(11)).await);
    assert_eq!(world.near(&brief.partition, &[1.0, 0.0], 5).await, [lasting.key]);
    assert!(world.has(&lasting, lasting.key).await && world.has(&lasting, digest(12)).await);
    world.store.put(&brief, &[], EMBEDDER, HOUR).await.unwrap();
    assert!(world.has(&brief, brief.key).await, "it can be put again");
}

/// Whatever keys they ask for.
pub async fn tenants_never_find_each_others_entries(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let entries = [1, 2].map(|tenant| Entry { sealed: vec![tenant as u8], ..entry(partition(tenant), 7) });
    for entry in &entries {
        world.put(entry, &[digest(8)]).await;
    }
    for entry in &entries {
        assert!(world.has(entry, entry.key).await && world.has(entry, digest(8)).await);
    }
    let stranger = partition(3).tenant;
    assert_eq!(world.get(stranger, &[digest(7), digest(8)]).await, None);
    world.store.remove(entries[0].partition.tenant, digest(7)).await.unwrap();
    assert!(world.has(&entries[1], digest(7)).await);
}

/// About right is enough.
pub async fn what_is_held_is_told_by_task(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let (one, mut other) = (partition(1), partition(1));
    other.task = digest(77);
    for key in 0..30 {
        let partition = if key < 20 { one } else { other };
        world.put(&Entry { sealed: vec![1; 1000], ..entry(partition, key) }, &[digest(100 + key)]).await;
    }
    world.put(&entry(partition(2), 1), &[]).await;
    let mut held = world.store.held(one.tenant).await.unwrap();
    held.sort_by_key(|(_, held)| held.entries);
    assert_eq!(
        held.iter().map(|(task, held)| (*task, held.entries)).collect::<Vec<_>>(),
        [(other.task, 10), (one.task, 20)]
    );
    for (_, held) in held {
        assert!((1_000 * held.entries..3_000 * held.entries).contains(&held.bytes), "{held:?}");
    }
    assert_eq!(world.store.held(digest(99)).await.unwrap(), []);
}
