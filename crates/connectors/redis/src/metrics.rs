//! What operators see of Redis.

use prometheus::{IntCounterVec, IntGaugeVec};
use signalbox_kit::telemetry::metrics;
use std::sync::LazyLock;

static CONNECTED: LazyLock<IntGaugeVec> =
    LazyLock::new(|| metrics::gauge("signalbox_rate_redis_connected", "1 while Redis answers, else 0.", &[]));
static TAKEN: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_rate_slices_total",
        "Slices of rate limits asked of Redis, by how it ended: given, short, too_large or away.",
        &["outcome"],
    )
});

pub(crate) fn connected(connected: bool) {
    CONNECTED.with_label_values(&[] as &[&str]).set(connected.into());
}

pub(crate) fn asked(outcome: &str) {
    TAKEN.with_label_values(&[outcome]).inc();
}
