//! What operators see of settlements.

use prometheus::{IntCounterVec, IntGaugeVec};
use signalbox_kit::telemetry::metrics;
use std::{sync::LazyLock, time::Duration};

static UNSETTLED: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_budget_unsettled",
        "Accounts of requests that the ledger of budgets has not seen yet, those that no budget pays included.",
        &[],
    )
});
static AGE: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_budget_unsettled_age_seconds",
        "Age of the oldest account that the ledger of budgets has not seen; 0 when it has all.",
        &[],
    )
});
static SETTLEMENTS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_budget_settlements_total",
        "Settlements that the ledger of budgets has taken, by result: booked, also before, or refused for good.",
        &["result"],
    )
});
static FAILURES: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_budget_settle_failures_total",
        "Times that the ledger of budgets could not be told of settlements; they are sent again.",
        &[],
    )
});

pub(crate) fn unsettled(accounts: u64, age: Duration) {
    let gauge = |gauge: &IntGaugeVec, value: u64| {
        gauge.with_label_values::<&str>(&[]).set(i64::try_from(value).unwrap_or(i64::MAX));
    };
    gauge(&UNSETTLED, accounts);
    gauge(&AGE, age.as_secs());
}

pub(crate) fn settled(booked: usize, refused: usize) {
    SETTLEMENTS.with_label_values(&["booked"]).inc_by(booked as u64);
    SETTLEMENTS.with_label_values(&["refused"]).inc_by(refused as u64);
}

pub(crate) fn failed() {
    FAILURES.with_label_values::<&str>(&[]).inc();
}

pub(crate) fn register() {
    metrics::from_zero(&SETTLEMENTS, &["booked", "refused"]);
    metrics::from_zero(&FAILURES, &[]);
    LazyLock::force(&UNSETTLED);
    LazyLock::force(&AGE);
}
