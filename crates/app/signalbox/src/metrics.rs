//! All metrics of the program, brought together from those who count.

use signalbox_kit::telemetry;

/// Registers every metric of every role, whichever this process has: what can never be counted here stays 0 or unseen.
pub(crate) fn register() {
    telemetry::register_metrics();
    crate::serve::register_metrics();
    crate::vendors::register_metrics();
    signalbox_router::register_metrics();
    signalbox_provider_adapter::register_metrics();
    signalbox_cost_ingest::register_metrics();
    signalbox_budget::register_metrics();
    signalbox_cache::register_metrics();
    signalbox_batch::register_metrics();
    signalbox_admission::register_metrics();
    signalbox_nats::register_metrics();
    signalbox_redis::register_metrics();
    signalbox_settler::register_metrics();
    signalbox_spool::register_metrics();
}
