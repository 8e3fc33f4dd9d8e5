//! Answers that were given before: rather a miss than a wrong one.
//!
//! What counts is decided by `signalbox-caching` and `signalbox-guards`, which are pure. Here answers are sealed, kept
//! and found in time, requests wait for each other, and evidence is gathered. Any number of processes may serve it over
//! one store; what a process keeps for itself are vectors, epochs for a second, and who waits in it.

mod bounded;
mod cache;
mod effect;
mod evidence;
mod explain;
mod failure;
mod flights;
mod gate;
mod invalidate;
mod keep;
mod kept;
mod locale;
mod lookup;
mod metrics;
mod models;
mod near;
mod options;
mod policies;
mod question;
mod queue;
mod renew;
mod report;
mod seal;
mod service;
mod stats;
mod tell;
mod tenants;
mod token;
mod vectors;

#[cfg(test)]
mod tests;

pub use models::{EmbedderOverHop, HashedNgrams, VerifierOverHop};
pub use options::Options;
pub use policies::Policies;
pub use service::{CacheKeeping, Dependencies};

use signalbox_api::v1::cache_service_server::CacheServiceServer;

/// Registers the metrics, so that they are known before they have anything to say.
pub fn register_metrics() {
    metrics::register();
}

/// The cache as a gRPC server. `limit`: largest message taken or sent, in bytes.
pub fn server(dependencies: Dependencies, limit: usize) -> CacheServiceServer<CacheKeeping> {
    CacheServiceServer::new(CacheKeeping::new(dependencies))
        .max_decoding_message_size(limit)
        .max_encoding_message_size(limit)
}
