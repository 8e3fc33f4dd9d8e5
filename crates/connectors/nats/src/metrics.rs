//! What operators see of accounts on their way.

use prometheus::{IntCounterVec, IntGaugeVec};
use signalbox_kit::telemetry::metrics;
use std::{sync::LazyLock, time::Duration};

static FORWARDED: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_usage_forwarded_total",
        "Accounts that the bus has taken; `repeat` for those that it had already.",
        &["kind"],
    )
});
static UNACKED: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_usage_forward_unacked",
        "Accounts sent to the bus that it has not confirmed yet.",
        &[],
    )
});
static FAILURES: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_usage_forward_failures_total",
        "Times that accounts could not be sent on: away, silence, stream, publish or spool.",
        &["reason"],
    )
});
static BEHIND: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_usage_forward_behind_seconds",
        "Age of the oldest account that the bus has not confirmed; 0 when it has all.",
        &[],
    )
});
static HELD_BACK: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_usage_held_back",
        "Accounts sent twice that wait until the first of them must have been stored.",
        &[],
    )
});
static CONNECTED: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge("signalbox_nats_connected", "1 while a NATS server is connected, else 0.", &[])
});

fn set(gauge: &IntGaugeVec, value: u64) {
    gauge.with_label_values::<&str>(&[]).set(i64::try_from(value).unwrap_or(i64::MAX));
}

pub(crate) fn forwarded(new: u64, repeats: u64) {
    FORWARDED.with_label_values(&["new"]).inc_by(new);
    FORWARDED.with_label_values(&["repeat"]).inc_by(repeats);
}

pub(crate) fn unacked(accounts: usize) {
    set(&UNACKED, accounts as u64);
}

pub(crate) fn failed(reason: &str) {
    FAILURES.with_label_values(&[reason]).inc();
}

pub(crate) fn behind(age: Duration) {
    set(&BEHIND, age.as_secs());
}

pub(crate) fn held_back(accounts: usize) {
    set(&HELD_BACK, accounts as u64);
}

pub(crate) fn connected(connected: bool) {
    set(&CONNECTED, connected.into());
}

pub(crate) fn register() {
    metrics::from_zero(&FORWARDED, &["new", "repeat"]);
    metrics::from_zero(&FAILURES, &["away", "silence", "stream", "publish", "spool"]);
    for gauge in [&UNACKED, &BEHIND, &HELD_BACK, &CONNECTED] {
        LazyLock::force(gauge);
    }
}
