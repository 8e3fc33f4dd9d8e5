//! What is left in the server, and what is not.

use crate::support::{HOUR, cache, digest, entry, partition, raw, server};
use signalbox_ports::cache::CacheStore as _;
use signalbox_redis::VectorSearch;
use signalbox_testkit::eventually;
use std::time::Duration;

const WAYS: [VectorSearch; 3] = [VectorSearch::Module, VectorSearch::Sets, VectorSearch::BruteForce];

#[tokio::test]
async fn all_keys_are_of_this_version_and_of_the_tenants_node() {
    for way in WAYS {
        let server = server(way).await;
        let cache = cache(&server);
        cache.put(&entry(1), &[digest(9)], "e", HOUR).await.unwrap();
        cache.lead(partition().tenant, digest(1), "me", HOUR).await.unwrap();
        cache.swap(partition().tenant, "{*}", None, Some(b"value")).await.unwrap();
        cache.raise(partition().tenant, signalbox_ports::cache::Scope::Tenant).await.unwrap();
        let keys: Vec<String> = raw(&server, &["KEYS", "*"]).await;
        let tag = keys[0].split_once('{').unwrap().1.split_once('}').unwrap().0.to_owned();
        assert!(tag.len() == 31 && tag.starts_with("t:") && tag.ends_with(":00"), "{tag}");
        for key in &keys {
            assert!(key.starts_with("sb:v1:") && key.contains(&format!(":{{{tag}}}")), "{key}");
            assert_eq!(key.matches('{').count(), 1);
        }
        assert_eq!(keys.len(), 8, "{keys:?}");
    }
}

#[tokio::test]
async fn what_has_expired_leaves_nothing_but_epochs_and_values() {
    for way in WAYS {
        let server = server(way).await;
        let cache = cache(&server);
        let tenant = partition().tenant;
        for key in 0..20 {
            cache.put(&entry(key), &[digest(100 + key)], "e", Duration::from_millis(300)).await.unwrap();
        }
        cache.raise(tenant, signalbox_ports::cache::Scope::Tenant).await.unwrap();
        cache.swap(tenant, "value", None, Some(b"value")).await.unwrap();
        eventually("the rest is gone", || async { raw::<u64>(&server, &["DBSIZE"]).await == 2 }).await;
    }
}

#[tokio::test]
async fn erasure_leaves_nothing_but_the_epochs_and_removal_no_vector() {
    for way in WAYS {
        let server = server(way).await;
        let cache = cache(&server);
        let tenant = partition().tenant;
        for key in 0..1200 {
            cache.put(&entry(key), &[digest(5000 + key)], "e", HOUR).await.unwrap();
        }
        for key in 0..1000 {
            assert!(cache.remove(tenant, digest(key)).await.unwrap());
        }
        let vectors: Vec<String> = raw(&server, &["KEYS", "sb:v1:[svb]:*"]).await;
        let vectors_left = match way {
            VectorSearch::Module => vectors.len(),
            VectorSearch::Sets => raw(&server, &["VCARD", &vectors[0]]).await,
            VectorSearch::BruteForce => raw(&server, &["HLEN", &vectors[0]]).await,
        };
        // By brute force a partition never has more than 1024.
        assert!(vectors_left <= 200 && vectors_left > 150, "{vectors_left}");
        cache.raise(tenant, signalbox_ports::cache::Scope::Tenant).await.unwrap();
        assert_eq!(cache.erase(tenant, None).await.unwrap(), 200);
        let left: Vec<String> = raw(&server, &["KEYS", "*"]).await;
        assert!(left.len() == 1 && left[0].starts_with("sb:v1:ep:"), "{left:?}");
    }
}

#[tokio::test]
async fn an_embedder_that_is_not_used_any_more_leaves_no_index() {
    let server = server(VectorSearch::Module).await;
    let cache = cache(&server);
    cache.put(&entry(1), &[], "old", HOUR).await.unwrap();
    cache.put(&entry(2), &[], "new", HOUR).await.unwrap();
    assert_eq!(raw::<Vec<String>>(&server, &["FT._LIST"]).await.len(), 2);
    assert_eq!(cache.nearest(&partition(), "old", &[1.0, 1.0], 5).await.unwrap().len(), 1);
    cache.remove(partition().tenant, digest(1)).await.unwrap();
    cache.put(&entry(3), &[], "newer", HOUR).await.unwrap();
    assert_eq!(raw::<Vec<String>>(&server, &["FT._LIST"]).await.len(), 2);
    cache.nearest(&partition(), "old", &[1.0, 1.0], 5).await.unwrap();
    cache.put(&entry(1), &[], "old", HOUR).await.unwrap();
    let found = || async { cache.nearest(&partition(), "old", &[1.0, 1.0], 5).await.unwrap().len() == 1 };
    eventually("it is made again where it is needed after all", found).await;
}

#[tokio::test]
async fn a_partition_without_a_module_has_a_thousand_vectors_at_most() {
    let server = server(VectorSearch::BruteForce).await;
    let cache = cache(&server);
    for key in 0..1100 {
        cache.put(&entry(key), &[], "e", HOUR).await.unwrap();
    }
    assert_eq!(cache.nearest(&partition(), "e", &[1.0, 1.0], 2000).await.unwrap().len(), 1024);
    assert!(
        cache.get(partition().tenant, &[digest(0)]).await.unwrap().is_some(),
        "all are found by their keys"
    );
}
