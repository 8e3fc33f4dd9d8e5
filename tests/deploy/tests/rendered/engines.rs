//! What is outside of the cluster, under the names that the values give.

use signalbox_deploy::cluster::Cluster;
use signalbox_testkit::{ClickHouseEngine, NatsServer, PostgresServer, RedisServer, Vendorsim};
use std::time::Duration;

/// Stores and a bus; they end when this is dropped.
#[derive(Debug)]
pub(super) struct Engines {
    _postgres: PostgresServer,
    _redis: RedisServer,
    _cache: RedisServer,
    _clickhouse: ClickHouseEngine,
    _nats: NatsServer,
}

impl Engines {
    /// Starts all, where pods find them.
    pub(super) async fn start(cluster: &mut Cluster) -> Self {
        let (postgres, redis, cache, clickhouse, nats) = tokio::join!(
            PostgresServer::start(),
            RedisServer::start(),
            RedisServer::searching(),
            ClickHouseEngine::start(),
            NatsServer::start(),
        );
        postgres.database("signalbox").await;
        postgres.database("batch").await;
        cluster.external("postgres", 5432, postgres.port()).await;
        cluster.external("redis", 6379, redis.port()).await;
        cluster.external("cache", 6379, cache.port()).await;
        cluster.external("clickhouse", 8123, port(&clickhouse.url())).await;
        cluster.external("nats", 4222, port(&nats.url())).await;
        cluster.secret(
            "signalbox-postgresql",
            &[("password", PostgresServer::PASSWORD), ("batch", PostgresServer::PASSWORD)],
        );
        cluster.secret("signalbox-clickhouse", &[("password", ClickHouseEngine::PASSWORD)]);
        Self { _postgres: postgres, _redis: redis, _cache: cache, _clickhouse: clickhouse, _nats: nats }
    }
}

/// Starts simulated vendors, where pods find them.
pub(super) async fn vendors(cluster: &mut Cluster) -> Vendorsim {
    let vendors = Vendorsim::serve(Duration::from_millis(20)).await;
    cluster.external("vendors", 8080, vendors.address().port()).await;
    cluster.secret("vendors", &[("openai", "key-of-openai")]);
    vendors
}

fn port(url: &str) -> u16 {
    let port = url.trim_end_matches('/').rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    port.unwrap_or_else(|| panic!("no port in {url}"))
}
