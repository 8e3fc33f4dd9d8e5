//! Logs, traces and metrics.

pub mod calls;
pub mod http;
pub mod logs;
pub mod metrics;
mod process;
pub mod trace;

/// Registers the metrics of every process, so that they are known before they have anything to say.
pub fn register_metrics() {
    process::register();
    calls::register();
    crate::readiness::register_metrics();
    crate::access::register_metrics();
    crate::tls::register_metrics();
}
