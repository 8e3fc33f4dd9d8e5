//! What every implementation of a port must do, as tests that run against a real one.
//!
//! A connector's tests name how a fresh store is made and get all of them:
//!
//! ```text
//! async fn fresh(clock: Arc<dyn Clock>) -> Fresh { … }
//! signalbox_contracts::usage_store_tests!(fresh);
//! ```

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "these are tests: a panic is the failure's message"
)]

pub mod batch_store;
pub mod cache_store;
mod calendar;
mod clock;
mod events;
pub mod ledger;
mod random;
pub mod rate_limiter;
pub mod tenant_store;
pub mod usage_store;

pub use clock::SetClock;
pub use events::{Events, any_event, events};
