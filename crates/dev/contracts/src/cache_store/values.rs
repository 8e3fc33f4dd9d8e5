//! Small values that outlive entries.

use super::{
    Fresh,
    support::{World, digest},
};
use signalbox_kit::Clock;
use std::sync::Arc;
use tokio::task::JoinSet;

/// And whoever was too late is told what is there.
pub async fn values_are_swapped_only_for_what_is_expected(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let swap = async |expected: Option<&str>, value: Option<&str>| {
        let [expected, value] = [expected, value].map(|value| value.map(str::as_bytes));
        let swapped = world.store.swap(digest(1), "key", expected, value).await.unwrap();
        assert_eq!(world.store.value(digest(1), "key").await.unwrap(), swapped);
        swapped.map(|value| String::from_utf8(value).unwrap())
    };
    assert_eq!(swap(Some("a"), Some("b")).await, None);
    assert_eq!(swap(None, None).await, None);
    assert_eq!(swap(None, Some("a")).await.as_deref(), Some("a"));
    assert_eq!(swap(None, Some("b")).await.as_deref(), Some("a"));
    assert_eq!(swap(Some("b"), Some("c")).await.as_deref(), Some("a"));
    assert_eq!(swap(Some("a"), Some("")).await.as_deref(), Some(""), "an empty one is one");
    assert_eq!(swap(None, Some("x")).await.as_deref(), Some(""));
    assert_eq!(swap(Some("x"), None).await.as_deref(), Some(""));
    assert_eq!(swap(Some(""), None).await, None);
    assert_eq!(swap(None, Some("again")).await.as_deref(), Some("again"));
}

/// And tenants.
pub async fn names_and_values_of_all_kinds_are_kept_apart(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let long = "n".repeat(10_000);
    let names = ["", "a", "A", "a:b", "{a}", "*", "a b", "\r\n\0", "ключ", "é", "e\u{301}", &long];
    let value = |tenant: usize, name: usize| {
        let mut value: Vec<u8> = (0..=255).collect();
        value.extend([tenant as u8, name as u8]);
        value
    };
    for tenant in 0..2 {
        for (at, name) in names.iter().enumerate() {
            let value = value(tenant, at);
            let swapped = world.store.swap(digest(tenant as u64), name, None, Some(&value)).await.unwrap();
            assert_eq!(swapped, Some(value), "{name}");
        }
    }
    for tenant in 0..2 {
        for (at, name) in names.iter().enumerate() {
            let found = world.store.value(digest(tenant as u64), name).await.unwrap();
            assert_eq!(found, Some(value(tenant, at)), "{name}");
        }
    }
}

/// As evidence that replicas count together. A mark in each value tells whose it is: who was too late is told what is
/// there, and that must not look like its own.
pub async fn swaps_at_once_lose_nothing(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let mut tasks = JoinSet::new();
    for task in 0..16_u8 {
        let store = world.store.clone();
        tasks.spawn(async move {
            let mut old = store.value(digest(1), "count").await.unwrap();
            for _ in 0..10 {
                loop {
                    let new = vec![old.as_ref().map_or(0, |old| old[0]) + 1, task];
                    let now = store.swap(digest(1), "count", old.as_deref(), Some(&new)).await.unwrap();
                    old = now;
                    if old.as_ref() == Some(&new) {
                        break;
                    }
                }
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(world.store.value(digest(1), "count").await.unwrap().unwrap()[0], 160);
}
