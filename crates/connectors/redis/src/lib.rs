//! Redis: rate limits and cached answers that all replicas share.
//!
//! [`Redis::connect`] returns at once and keeps the connection in the background, so that Redis being away stops
//! nothing: who asks meanwhile is told so. Each use of it is a module of its own.

mod cache;
mod circuit;
mod connect;
mod guarded;
mod link;
mod metrics;
mod rates;

pub use cache::{RedisCache, VectorSearch};
pub use connect::{ConnectError, Purpose, RedisOptions};
pub use guarded::{Guarded, Patience};
pub use link::Redis;
pub use rates::RedisRates;

/// Registers the metrics, so that they are known before they have anything to say.
pub fn register_metrics() {
    metrics::register();
}
