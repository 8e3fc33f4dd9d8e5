//! The replica's side of budgets: who calls, and whether their requests may spend.
//!
//! A [`Replica`] holds slices of budgets and rates (leases) and spends from them without asking anybody, so that in the
//! steady state a request costs no call. What changes it hears on one stream from the budget service; when that
//! breaks, nothing that was cached is trusted while somebody can be asked, but what is leased is spent on.

mod alone;
mod ask;
mod calls;
mod desk;
mod desks;
mod flights;
mod keys;
mod metrics;
mod outbox;
mod rates;
mod replica;
mod reservation;
mod reserve;
mod standing;
mod upkeep;
mod views;
mod watch;

pub use replica::{Replica, Settings};

/// Registers the metrics, so that they are known before they have anything to say.
pub fn register_metrics() {
    metrics::register();
}
