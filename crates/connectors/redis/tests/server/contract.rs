//! The contract of every rate limiter.

use crate::support::connect;
use signalbox_contracts::rate_limiter::Fresh;
use signalbox_kit::Clock;
use signalbox_redis::RedisRates;
use signalbox_testkit::RedisServer;
use std::sync::Arc;

async fn fresh(clock: Arc<dyn Clock>) -> Fresh {
    let server = RedisServer::start().await;
    let limiter = Arc::new(RedisRates::with_clock(connect(&server.url()), clock));
    Fresh { limiter, keep: Box::new(server) }
}

signalbox_contracts::rate_limiter_tests!(fresh);
