//! Who may spend how much: tenants, their API keys, their budgets, and the ledger of what was spent.
//!
//! The service is thin: what counts is decided by the ledger, in one transaction each, and by `signalbox-budgeting`,
//! which is pure. Any number of processes may serve it over the same stores.

mod accounts;
mod audit;
mod check;
mod failure;
mod feed;
mod keeper;
mod mask;
mod metrics;
mod operate;
mod pages;
mod pruner;
mod reconcile;
mod replicas;
mod service;

#[cfg(test)]
mod tests;

pub use feed::Feed;
pub use keeper::Keeper;
pub use metrics::store_away;
pub use reconcile::UsageOverHop;
pub use service::{BudgetKeeping, Dependencies, Options};

use signalbox_api::v1::budget_service_server::BudgetServiceServer;

/// Registers the metrics, so that they are known before they have anything to say.
pub fn register_metrics() {
    metrics::register();
}

/// Budgets as a gRPC server. `limit`: largest message taken or sent, in bytes.
pub fn server(dependencies: Dependencies, limit: usize) -> BudgetServiceServer<BudgetKeeping> {
    BudgetServiceServer::new(BudgetKeeping::new(dependencies))
        .max_decoding_message_size(limit)
        .max_encoding_message_size(limit)
}
