//! The batch lane: work that can wait, at the vendors' batch prices.
//!
//! What is decided is decided by `signalbox-batching`, which is pure; what is kept is kept by the port
//! [`BatchStore`](signalbox_ports::batches::BatchStore), which is the queue as well. Any number of processes may serve
//! the lane over one store: they take turns by leases on windows.

mod dependencies;
mod failure;
mod followers;
mod job;
mod jobs;
mod lane;
mod metrics;
mod pages;
mod results;
mod service;
mod stored;
mod submit;

#[cfg(test)]
mod tests;

pub use dependencies::{Dependencies, Options};
pub use followers::Followers;
pub use lane::Lane;
pub use service::BatchLane;

use signalbox_api::v1::batch_service_server::BatchServiceServer;

/// Registers the metrics, so that they are known before they have anything to say.
pub fn register_metrics() {
    metrics::register();
}

/// The lane's jobs as a gRPC server.
pub fn server(dependencies: Dependencies) -> BatchServiceServer<BatchLane> {
    let limit = dependencies.options.max_message_bytes;
    BatchServiceServer::new(BatchLane::new(dependencies))
        .max_decoding_message_size(limit)
        .max_encoding_message_size(limit)
}
