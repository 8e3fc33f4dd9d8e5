//! Brings the account of every request from the bus to the store, and answers what was used.

mod alerts;
mod check;
mod export;
mod failure;
mod ingest;
mod metrics;
mod months;
mod outbox_bus;
mod own;
mod progress;
mod read;
mod service;
mod tail;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod world;

pub use alerts::{AlertWatcher, Courier, SharedAlerts, WatchOptions};
pub use ingest::{IngestOptions, Ingester};
pub use months::close_months;
pub use outbox_bus::OutboxBus;
pub use progress::Progress;
pub use service::{Dependencies, Usage};
pub use tail::Tail;

use signalbox_api::v1::usage_service_server::UsageServiceServer;

/// Registers the metrics, so that they are known before they have anything to say.
pub fn register_metrics() {
    metrics::register();
    alerts::register_metrics();
}

/// What was used, as a gRPC server. `limit`: largest message taken or sent, in bytes.
pub fn server(dependencies: Dependencies, limit: usize) -> UsageServiceServer<Usage> {
    UsageServiceServer::new(Usage::new(dependencies))
        .max_decoding_message_size(limit)
        .max_encoding_message_size(limit)
}
