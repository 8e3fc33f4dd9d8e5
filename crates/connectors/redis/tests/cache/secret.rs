//! A store that is used with another secret.

use crate::support::{HOUR, cache, digest, entry, partition, raw, server};
use signalbox_ports::cache::{CacheStore as _, Digest, Scope};
use signalbox_redis::{RedisCache, VectorSearch};
use signalbox_testkit::RedisServer;

const TENANT: Scope = Scope::Tenant;

fn under(server: &RedisServer, secret: u64) -> RedisCache {
    cache(server).under_secret(digest(secret))
}

async fn epoch(store: &RedisCache, tenant: Digest) -> u64 {
    store.epochs(tenant, &[TENANT]).await.unwrap()[0].1
}

#[tokio::test]
async fn a_secret_that_comes_back_finds_nothing_of_before() {
    let server = server(VectorSearch::Sets).await;
    let (old, new, tenant) = (under(&server, 101), under(&server, 102), digest(1));
    let before = epoch(&old, tenant).await;
    assert_eq!(epoch(&old, tenant).await, before);
    assert_eq!(epoch(&under(&server, 101), tenant).await, before, "another process of the same secret");
    // Under the new one the same tenant has another name, so that what it invalidates is not what the old one finds.
    new.raise(digest(2), TENANT).await.unwrap();
    let after = epoch(&old, tenant).await;
    assert!(after > before);
    assert_eq!(epoch(&old, tenant).await, after);
}

#[tokio::test]
async fn an_erasure_finds_what_lies_there_under_another_secret() {
    let server = server(VectorSearch::Sets).await;
    let (old, new, mine) = (under(&server, 101), under(&server, 102), digest(7));
    epoch(&old, partition().tenant).await;
    old.put(&entry(1), &[digest(50)], "an embedder", HOUR).await.unwrap();
    old.swap(partition().tenant, "data_key", None, Some(b"wrapped")).await.unwrap();
    let mut ours = entry(2);
    ours.partition.tenant = mine;
    epoch(&new, mine).await;
    new.put(&ours, &[], "an embedder", HOUR).await.unwrap();
    new.swap(mine, "data_key", None, Some(b"wrapped")).await.unwrap();
    new.swap(digest(8), "counts", None, Some(b"1")).await.unwrap();

    assert!(new.erase_strays().await.unwrap() >= 4, "entry, alias, vector and value");
    let left: Vec<String> = raw(&server, &["KEYS", "sb:v1:*:{t:*"]).await;
    let foreign = cache(&server).get(partition().tenant, &[digest(1), digest(50)]).await.unwrap();
    assert_eq!(foreign, None, "{left:?}");
    assert_eq!(old.value(partition().tenant, "data_key").await.unwrap(), None);
    assert!(new.get(mine, &[digest(2)]).await.unwrap().is_some());
    assert!(new.value(mine, "data_key").await.unwrap().is_some());
    assert!(new.value(digest(8), "counts").await.unwrap().is_some(), "counts of who never stored");
    assert_eq!(new.erase_strays().await.unwrap(), 0);
}
