//! What operators see of the lane. No labels of tenants or jobs: there are many of them.

use prometheus::{IntCounterVec, IntGaugeVec};
use signalbox_batching::{Outcome, WindowState};
use signalbox_kit::telemetry::metrics;
use signalbox_ports::batches::Gauges;
use std::{sync::LazyLock, time::SystemTime};

static ITEMS: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_batch_items",
        "Items in the store that have not ended: waiting for a window to be handed over (queued), or at a vendor (running). \
         Every process with the role tells the same.",
        &["state"],
    )
});
static ENDED: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_batch_items_ended_total",
        "Items that this process has ended, by how.",
        &["outcome"],
    )
});
static WINDOWS: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_batch_windows",
        "Windows in the store that are not over, by how far they are and whom they are for.",
        &["state", "vendor"],
    )
});
static REFUSED: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_batch_windows_refused_total",
        "Windows that a vendor refused whole; their items went on to others, or failed.",
        &["vendor", "reason"],
    )
});
static OLDEST: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_batch_oldest_queued_seconds",
        "Age of the oldest window that was not handed over yet; 0 without any.",
        &[],
    )
});
static UNTOLD: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_batch_untold_events",
        "Accounts of ended items that budgets and the usage log have not been told yet.",
        &[],
    )
});
static LATE: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_batch_late_jobs",
        "Jobs that have not ended though four fifths of their completion window are over.",
        &[],
    )
});
static STORE_ERRORS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_batch_store_errors_total",
        "Times that the store of jobs did not do as it was asked.",
        &[],
    )
});

pub(crate) fn register() {
    metrics::from_zero(&ENDED, &Outcome::ALL.map(outcome));
    metrics::from_zero(&STORE_ERRORS, &[]);
    LazyLock::force(&REFUSED);
    for gauge in [&ITEMS, &WINDOWS, &OLDEST, &UNTOLD, &LATE] {
        LazyLock::force(gauge);
    }
}

pub(crate) fn ended(how: Outcome) {
    ENDED.with_label_values(&[outcome(how)]).inc();
}

pub(crate) fn window_refused(vendor: &str, reason: &str) {
    REFUSED.with_label_values(&[vendor, reason]).inc();
}

pub(crate) fn store_failed() {
    STORE_ERRORS.with_label_values::<&str>(&[]).inc();
}

pub(crate) fn show(gauges: &Gauges, now: SystemTime) {
    ITEMS.with_label_values(&["queued"]).set(figure(gauges.queued));
    ITEMS.with_label_values(&["running"]).set(figure(gauges.running));
    // What is gone must not be shown for ever.
    WINDOWS.reset();
    for (of, vendor, count) in &gauges.windows {
        WINDOWS.with_label_values(&[state(*of), vendor.as_str()]).set(figure(*count));
    }
    let age = gauges.oldest_queued.and_then(|oldest| now.duration_since(oldest).ok());
    OLDEST.with_label_values::<&str>(&[]).set(figure(age.unwrap_or_default().as_secs()));
    UNTOLD.with_label_values::<&str>(&[]).set(figure(gauges.untold));
    LATE.with_label_values::<&str>(&[]).set(figure(gauges.late_jobs));
}

fn figure(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn outcome(how: Outcome) -> &'static str {
    match how {
        Outcome::Succeeded => "succeeded",
        Outcome::Failed => "failed",
        Outcome::Cancelled => "cancelled",
        Outcome::Expired => "expired",
    }
}

fn state(of: WindowState) -> &'static str {
    match of {
        WindowState::Open => "open",
        WindowState::Handing => "handing",
        WindowState::Submitted => "submitted",
        WindowState::Ended => "ended",
        WindowState::Refused => "refused",
    }
}
