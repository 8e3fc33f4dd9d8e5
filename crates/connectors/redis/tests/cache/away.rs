//! A server that is killed, stands still, or loses what it knew.

use crate::support::{HOUR, PATIENCE, cache, connect, digest, entry, partition, raw, server};
use signalbox_ports::cache::{CacheStore, Scope};
use signalbox_redis::{Guarded, Patience, RedisCache, VectorSearch};
use signalbox_testkit::{RedisServer, eventually};
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stands_still_costs_a_little_five_times_and_then_nothing() {
    let server = RedisServer::start().await;
    let patience = Patience { exact: Duration::from_millis(50), ..Patience::default() };
    let cache = Guarded::new(cache(&server), patience);
    let well = async || cache.get(partition().tenant, &[digest(1)]).await.is_ok();
    eventually("it answers", well).await;
    server.freeze();
    let begin = Instant::now();
    let (mut waited, mut calls) = (Vec::new(), 0);
    while !cache.is_open() {
        calls += 1;
        assert!(!well().await);
        waited.push(begin.elapsed());
    }
    assert!(calls <= 5 && begin.elapsed() < PATIENCE, "{calls} {waited:?}");
    let begin = Instant::now();
    for _ in 0..90 {
        assert!(!well().await);
    }
    assert!(begin.elapsed() < Duration::from_millis(50), "nobody waits: {:?}", begin.elapsed());
    server.thaw();
    eventually("it is used again", well).await;
    assert!(!cache.is_open());
}

#[tokio::test]
async fn who_gives_up_by_himself_is_counted_too() {
    let server = RedisServer::start().await;
    let cache = Guarded::new(cache(&server), Patience::default());
    eventually("it answers", || async { cache.epochs(digest(1), &[Scope::Tenant]).await.is_ok() }).await;
    server.freeze();
    for _ in 0..5 {
        let keys = [digest(1)];
        let given_up = tokio::time::timeout(Duration::from_millis(4), cache.get(digest(1), &keys));
        assert!(!matches!(given_up.await, Ok(Ok(_))));
    }
    assert!(cache.is_open());
}

#[tokio::test]
async fn a_server_that_was_killed_is_used_again_when_it_is_back_and_makes_its_index_anew() {
    let mut server = server(VectorSearch::Module).await;
    let cache = cache(&server);
    cache.put(&entry(1), &[], "e", HOUR).await.unwrap();
    server.kill().await;
    eventually("it is away", || async { cache.get(digest(1), &[digest(1)]).await.is_err() }).await;
    server.restart().await;
    eventually("it is back", || async { cache.put(&entry(1), &[], "e", HOUR).await.is_ok() }).await;
    let found =
        || async { cache.nearest(&partition(), "e", &[1.0, 1.0], 5).await.is_ok_and(|near| near.len() == 1) };
    eventually("it is found by its vector", found).await;
}

#[tokio::test]
async fn a_server_that_cannot_search_any_more_as_it_could_is_searched_as_it_can() {
    let server = server(VectorSearch::Module).await;
    let cache = cache(&server);
    cache.put(&entry(1), &[], "e", HOUR).await.unwrap();
    assert_eq!(cache.vector_search().await, Ok(VectorSearch::Module));
    let _: () = raw(&server, &["ACL", "SETUSER", "default", "-ft._list", "-ft.search"]).await;
    assert!(cache.nearest(&partition(), "e", &[1.0, 1.0], 5).await.is_err());
    assert_eq!(cache.vector_search().await, Ok(VectorSearch::Sets));
    assert!(cache.nearest(&partition(), "e", &[1.0, 1.0], 5).await.unwrap().is_empty());
    cache.put(&entry(1), &[], "e", HOUR).await.unwrap();
    assert_eq!(cache.nearest(&partition(), "e", &[1.0, 1.0], 5).await.unwrap().len(), 1);
}

#[tokio::test]
async fn epochs_that_were_lost_bring_nothing_back() {
    let server = RedisServer::start().await;
    let cache = cache(&server);
    let tenant = partition().tenant;
    let scopes = [Scope::Tenant, Scope::Task(digest(2))];
    let mut seen = vec![cache.epochs(tenant, &scopes).await.unwrap()];
    for _ in 0..3 {
        cache.raise(tenant, scopes[1]).await.unwrap();
        seen.push(cache.epochs(tenant, &scopes).await.unwrap());
    }
    let _: () = raw(&server, &["FLUSHALL"]).await;
    for _ in 0..3 {
        let now = cache.epochs(tenant, &scopes).await.unwrap();
        assert!(!seen.contains(&now), "{now:?} was there before: {seen:?}");
        cache.raise(tenant, scopes[1]).await.unwrap();
    }
}

#[tokio::test]
async fn two_that_share_a_server_share_everything() {
    let server = server(VectorSearch::Module).await;
    let [one, other] = [(); 2].map(|()| RedisCache::new(connect(&server)));
    one.put(&entry(1), &[digest(9)], "e", HOUR).await.unwrap();
    assert_eq!(other.vector_search().await, Ok(VectorSearch::Module));
    assert!(other.get(partition().tenant, &[digest(9)]).await.unwrap().is_some());
    assert_eq!(other.nearest(&partition(), "e", &[1.0, 1.0], 5).await.unwrap().len(), 1);
    let raised = one.raise(partition().tenant, Scope::Tenant).await.unwrap();
    let seen = other.epochs(partition().tenant, &[Scope::Tenant]).await.unwrap();
    assert_eq!(seen, [(Scope::Tenant, raised)]);
}
