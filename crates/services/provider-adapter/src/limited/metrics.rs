//! What operators see of our own limits at vendors.

use prometheus::IntCounterVec;
use signalbox_kit::telemetry::metrics;
use std::sync::LazyLock;

static CALLS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_rate_vendor_calls_total",
        "Calls that `vendors.<name>.rate_limit` held back, and those let through unchecked since the limiter was away.",
        &["vendor", "outcome"],
    )
});

pub(super) fn register() {
    LazyLock::force(&CALLS);
}

pub(super) fn held_back(vendor: &str) {
    CALLS.with_label_values(&[vendor, "held_back"]).inc();
}

pub(super) fn unchecked(vendor: &str) {
    CALLS.with_label_values(&[vendor, "unchecked"]).inc();
}
