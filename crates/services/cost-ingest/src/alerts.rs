//! Models that behave unlike their own history: watched minute by minute, and told.
//!
//! Each process with the role watches by itself. Those that see the same minutes raise the same alerts under the same
//! ids, so that nothing has to be agreed on, and a restart finds them again in the minutes of the last days.

mod book;
mod convert;
mod courier;
mod metrics;
mod shared;
mod watcher;

#[cfg(test)]
mod tests;

pub use courier::Courier;
pub use shared::SharedAlerts;
pub use watcher::{AlertWatcher, WatchOptions};

pub(crate) fn register_metrics() {
    metrics::register();
}
