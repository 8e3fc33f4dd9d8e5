//! The provider adapter: one vendor call at a time, with its facts of tokens, cost and latency.
//!
//! It holds the vendors' keys and connections. It neither retries nor fails over; that is the router's.

mod batches;
mod call;
mod fault;
mod health;
mod heartbeat;
mod limited;
mod meter;
mod patience;
mod service;
mod stream;
mod trickle;

pub use health::CallHealth;
pub use heartbeat::{Heartbeat, OtherAdapters};
pub use limited::{LimitedVendor, VendorAccount};
pub use service::{Adapter, Dependencies, Vendors};

use signalbox_api::v1::provider_service_server::ProviderServiceServer;

/// Registers the metrics, so that they are known before they have anything to say.
pub fn register_metrics() {
    heartbeat::register_metrics();
    limited::register_metrics();
}

/// The adapter as a gRPC service that takes and gives messages of up to `max_message_bytes`.
pub fn server(dependencies: Dependencies, max_message_bytes: usize) -> ProviderServiceServer<Adapter> {
    ProviderServiceServer::new(Adapter::new(dependencies))
        .max_decoding_message_size(max_message_bytes)
        .max_encoding_message_size(max_message_bytes)
}
