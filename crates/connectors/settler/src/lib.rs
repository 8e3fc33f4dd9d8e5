//! Brings what requests really cost from the local log of accounts to the ledger of budgets.
//!
//! Every account that names budgets becomes a settlement with the account's own id, and is sent until it is booked: over
//! restarts, too, so that the ledger has what the usage store has. Each run of a process holds leases under an id of its
//! own; once all that an earlier run left behind is settled, its leases are ended, and what it did not spend is free.

mod metrics;
mod runs;
mod settler;
mod trouble;

pub use runs::Runs;
pub use settler::{Settler, SettlerOptions};

/// Registers the metrics, so that they are known before they have anything to say.
pub fn register_metrics() {
    metrics::register();
}
