//! What operators see of the spool.

use prometheus::IntGaugeVec;
use signalbox_kit::telemetry::metrics;
use std::sync::LazyLock;

static WAITING: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_usage_spool_bytes",
        "Bytes of accounts that wait for the bus, or for the ledger of budgets where that is further behind.",
        &[],
    )
});
static MAX: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_usage_spool_max_bytes",
        "Bytes that may wait; beyond, no request is accepted.",
        &[],
    )
});
static REFUSED: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_usage_spool_refused",
        "Accounts that the disk refused, kept in memory until it takes them.",
        &[],
    )
});
static DAMAGES: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_usage_spool_damages",
        "Places at which the spool's files were damaged or entries were missing since the start: accounts are lost.",
        &[],
    )
});

fn set(gauge: &IntGaugeVec, value: u64) {
    gauge.with_label_values::<&str>(&[]).set(i64::try_from(value).unwrap_or(i64::MAX));
}

pub(crate) fn waiting(bytes: u64) {
    set(&WAITING, bytes);
}

pub(crate) fn max(bytes: u64) {
    set(&MAX, bytes);
}

pub(crate) fn refused(accounts: usize) {
    set(&REFUSED, accounts as u64);
}

pub(crate) fn damages(places: u64) {
    set(&DAMAGES, places);
}

pub(crate) fn register() {
    for gauge in [&WAITING, &MAX, &REFUSED, &DAMAGES] {
        LazyLock::force(gauge);
    }
}
