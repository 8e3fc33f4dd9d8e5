//! The router: which model serves a request, and what happens when it does not.

mod account;
mod admission;
mod attempts;
mod batch;
mod budget;
mod cache;
mod caller;
mod catalog_pages;
mod drills;
mod embed;
mod estimate;
mod fleet;
mod follow;
mod health;
mod holds;
mod metrics;
mod plan;
mod rates;
mod route;
mod service;
mod stream;
mod trace;
mod vendors;

pub use cache::{Cache, CacheOptions};
pub use drills::SharedDrills;
pub use follow::follow_health;
pub use health::SharedHealth;
pub use holds::SharedHolds;
pub use plan::UsualCosts;
pub use service::{Dependencies, Router};
pub use vendors::ConfiguredVendors;

use signalbox_api::v1::router_service_server::RouterServiceServer;

/// Registers the metrics, so that they are known before they have anything to say.
pub fn register_metrics() {
    metrics::register();
    cache::register_metrics();
    signalbox_kit::content::register_metrics();
}

/// The router as a gRPC service that takes and gives messages of up to `max_message_bytes`.
pub fn server(dependencies: Dependencies, max_message_bytes: usize) -> RouterServiceServer<Router> {
    RouterServiceServer::new(Router::new(dependencies, max_message_bytes))
        .max_decoding_message_size(max_message_bytes)
        .max_encoding_message_size(max_message_bytes)
}
