//! Redis: rate limits that all replicas share.
//!
//! [`Redis::connect`] returns at once and keeps the connection in the background, so that Redis being away stops
//! nothing: who asks meanwhile is told so. Each use of it is a module of its own.

mod connect;
mod link;
mod metrics;
mod rates;

pub use connect::{ConnectError, RedisOptions};
pub use link::Redis;
pub use rates::RedisRates;
