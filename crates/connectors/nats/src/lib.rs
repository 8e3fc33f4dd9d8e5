//! NATS: how processes tell each other what they have seen, and how accounts get to those that store them.
//!
//! [`Nats::connect`] returns at once and keeps the connection in the background, so that NATS being away stops nothing.
//! Each use of it is a module of its own.

mod alerts;
mod connect;
mod consume;
mod dead;
mod forward;
mod health;
mod metrics;
mod stream;
mod subjects;
mod tail;

pub use alerts::NatsAlerts;
pub use connect::{ConnectError, Nats, NatsOptions};
pub use consume::{ConsumerOptions, UsageConsumer};
pub use dead::NatsDeadLetters;
pub use forward::{Forwarder, ForwarderOptions};
pub use stream::{StreamError, StreamOptions};
pub use subjects::{ALERTS_STREAM, CONSUMER, DEAD_STREAM, USAGE_STREAM, tenant_token};
pub use tail::Heard;

/// Registers the metrics, so that they are known before they have anything to say.
pub fn register_metrics() {
    metrics::register();
}
