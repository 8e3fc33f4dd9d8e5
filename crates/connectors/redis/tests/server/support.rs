//! A server, limiters on it, and what they are asked for.

use signalbox_api::v1::{RateLimit, rate_slice::Level};
use signalbox_ports::{NoRate, RateAsk, RateGrant, RateLimiter as _};
use signalbox_redis::{Redis, RedisOptions, RedisRates};
use std::time::Duration;

/// Generous: a busy machine is no failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn connect(url: &str) -> Redis {
    Redis::connect(&RedisOptions { patience: PATIENCE, ..RedisOptions::new(url) }).unwrap()
}

pub(crate) fn rates(url: &str) -> RedisRates {
    RedisRates::new(connect(url))
}

/// A tenant's limit, asked for by a replica.
pub(crate) fn ask(replica: &str, requests: u32, tokens: u64, concurrent: u32) -> RateAsk {
    RateAsk {
        tenant_id: "acme".to_owned(),
        level: Level::Tenant,
        name: String::new(),
        limit: RateLimit {
            requests_per_minute: requests,
            tokens_per_minute: tokens,
            concurrent_requests: concurrent,
        },
        priority: (0, 0),
        slice_id: replica.to_owned(),
        under_way: 0,
        ttl: Duration::from_secs(60),
    }
}

pub(crate) async fn take(rates: &RedisRates, ask: &RateAsk, tokens: u64) -> Result<RateGrant, NoRate> {
    Ok(rates.take(std::slice::from_ref(ask), tokens).await?[0])
}
