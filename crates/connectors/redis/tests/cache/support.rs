//! Servers of each kind, and caches on them.

use signalbox_contracts::cache_store::Fresh;
use signalbox_ports::cache::{Digest, Entry, Partition, Scope};
use signalbox_redis::{Purpose, Redis, RedisCache, RedisOptions, VectorSearch};
use signalbox_testkit::RedisServer;
use std::{sync::Arc, time::Duration};

/// Generous: a busy machine is no failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
pub(crate) const HOUR: Duration = Duration::from_secs(3600);

pub(crate) fn connect(server: &RedisServer) -> Redis {
    let options =
        RedisOptions { patience: PATIENCE, purpose: Purpose::Cache, ..RedisOptions::new(server.url()) };
    Redis::connect(&options).unwrap()
}

pub(crate) fn cache(server: &RedisServer) -> RedisCache {
    RedisCache::new(connect(server))
}

/// A server on which vectors are searched in a way.
pub(crate) async fn server(way: VectorSearch) -> RedisServer {
    match way {
        VectorSearch::Module => RedisServer::searching().await,
        VectorSearch::Sets => RedisServer::start().await,
        // As one whose vector sets are not ours to use.
        VectorSearch::BruteForce => {
            RedisServer::with(&["--user", "default", "on", "nopass", "~*", "&*", "+@all", "-vcard"]).await
        }
    }
}

pub(crate) async fn fresh(way: VectorSearch) -> Fresh {
    let server = server(way).await;
    let store = cache(&server);
    assert_eq!(store.vector_search().await, Ok(way));
    Fresh { store: Arc::new(store), obeys_clock: false, keep: Box::new(server) }
}

pub(crate) fn digest(number: u64) -> Digest {
    let number = u128::from(number) + 1;
    Digest(number.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835).to_be_bytes())
}

pub(crate) fn partition() -> Partition {
    Partition { tenant: digest(1), task: digest(2), locale: digest(3), fingerprint: digest(4) }
}

pub(crate) fn entry(key: u64) -> Entry {
    Entry {
        key: digest(key),
        partition: partition(),
        epochs: vec![(Scope::Tenant, 0)],
        sealed: b"an answer".to_vec(),
        vector: Some(vec![1.0, key as f32]),
        worth: 1,
    }
}

/// Asks the server by itself.
pub(crate) async fn raw<T: redis::FromRedisValue>(server: &RedisServer, words: &[&str]) -> T {
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    redis::cmd(words[0]).arg(&words[1..]).query_async(&mut connection).await.unwrap()
}
