//! What operators see of Redis.

use crate::Purpose;
use prometheus::{IntCounterVec, IntGaugeVec};
use signalbox_kit::telemetry::metrics;
use std::sync::LazyLock;

static CONNECTED: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge("signalbox_rate_redis_connected", "1 while Redis answers and can be written, else 0.", &[])
});
static TAKEN: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_rate_slices_total",
        "Slices of rate limits asked of Redis, by how it ended: given, short, too_large or away.",
        &["outcome"],
    )
});

static CACHE_CONNECTED: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_cache_redis_connected",
        "1 while the cache's Redis answers and can be written, else 0.",
        &[],
    )
});
static CACHE_LEFT_ALONE: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_cache_store_left_alone",
        "1 while the cache's store fails or is slow and is not asked, else 0.",
        &[],
    )
});

static CACHE_SECRET_CHANGES: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_cache_secret_changes_total",
        "Times that this process found the cache's store in use with another secret, and began it anew.",
        &[],
    )
});

pub(crate) fn connected(purpose: Purpose, connected: bool) {
    let gauge = match purpose {
        Purpose::Rates => &CONNECTED,
        Purpose::Cache => &CACHE_CONNECTED,
    };
    gauge.with_label_values(&[] as &[&str]).set(connected.into());
}

pub(crate) fn cache_left_alone(left_alone: bool) {
    CACHE_LEFT_ALONE.with_label_values(&[] as &[&str]).set(left_alone.into());
}

pub(crate) fn cache_secret_changed() {
    CACHE_SECRET_CHANGES.with_label_values(&[] as &[&str]).inc();
}

pub(crate) fn asked(outcome: &str) {
    TAKEN.with_label_values(&[outcome]).inc();
}

pub(crate) fn register() {
    metrics::from_zero(&TAKEN, &["given", "short", "too_large", "away"]);
    metrics::from_zero(&CACHE_SECRET_CHANGES, &[]);
    for gauge in [&CONNECTED, &CACHE_CONNECTED, &CACHE_LEFT_ALONE] {
        LazyLock::force(gauge);
    }
}
