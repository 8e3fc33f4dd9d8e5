//! What operators see of an ingester.

use prometheus::{GaugeVec, HistogramTimer, HistogramVec, IntCounterVec, IntGaugeVec};
use signalbox_api::v1::dead_letter::Reason;
use signalbox_kit::telemetry::metrics;
use signalbox_ports::usage_store::Inserted;
use std::{sync::LazyLock, time::Duration};

static EVENTS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_usage_events_total",
        "Accounts that came to the store, by whether they were new (stored) or there before (repeated).",
        &["result"],
    )
});
static DEAD_LETTERS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_usage_dead_letters_total",
        "Accounts set aside since they cannot be stored, by reason.",
        &["reason"],
    )
});
static LETTERS_LEFT: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_usage_dead_letters_left",
        "Accounts that can neither be stored nor set aside: they stay on the bus and come again.",
        &[],
    )
});
static BATCH: LazyLock<IntGaugeVec> =
    LazyLock::new(|| metrics::gauge("signalbox_usage_batch_events", "Accounts stored together last.", &[]));
static INSERT: LazyLock<HistogramVec> = LazyLock::new(|| {
    metrics::seconds("signalbox_usage_insert_seconds", "Time that the store took for a batch.", &[])
});
static LAG: LazyLock<GaugeVec> = LazyLock::new(|| {
    metrics::number(
        "signalbox_usage_ingest_lag_seconds",
        "Age of the oldest account that waits for the store, or of the newest one that was stored; 0 while none waits.",
        &[],
    )
});
static BACKLOG: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge("signalbox_usage_backlog", "Accounts on the bus that are not acknowledged.", &[])
});

static STORE_AWAY: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_usage_store_away",
        "1 while the usage store does not answer this ingester: accounts wait, else 0.",
        &[],
    )
});

/// Why accounts are set aside.
const REASONS: [Reason; 5] = [
    Reason::Malformed,
    Reason::FutureVersion,
    Reason::UnknownEnum,
    Reason::InvalidValue,
    Reason::StoreRefused,
];

pub(crate) fn stored(inserted: Inserted, batch: usize) {
    EVENTS.with_label_values(&["stored"]).inc_by(inserted.stored as u64);
    repeated(inserted.repeated);
    BATCH.with_label_values::<&str>(&[]).set(i64::try_from(batch).unwrap_or(i64::MAX));
}

pub(crate) fn repeated(events: usize) {
    EVENTS.with_label_values(&["repeated"]).inc_by(events as u64);
}

pub(crate) fn dead_letter(reason: Reason) {
    DEAD_LETTERS.with_label_values(&[&*reason_name(reason)]).inc();
}

fn reason_name(reason: Reason) -> String {
    reason.as_str_name().trim_start_matches("REASON_").to_ascii_lowercase()
}

pub(crate) fn letters_left(letters: usize) {
    LETTERS_LEFT.with_label_values::<&str>(&[]).set(i64::try_from(letters).unwrap_or(i64::MAX));
}

/// Records the time until it is dropped.
pub(crate) fn insert_timer() -> HistogramTimer {
    INSERT.with_label_values::<&str>(&[]).start_timer()
}

pub(crate) fn lag(lag: Duration) {
    LAG.with_label_values::<&str>(&[]).set(lag.as_secs_f64());
}

pub(crate) fn backlog(events: u64) {
    BACKLOG.with_label_values::<&str>(&[]).set(i64::try_from(events).unwrap_or(i64::MAX));
}

/// The usage store does not answer, or does again.
pub(crate) fn store_away(away: bool) {
    STORE_AWAY.with_label_values::<&str>(&[]).set(away.into());
}

pub(crate) fn register() {
    metrics::from_zero(&EVENTS, &["stored", "repeated"]);
    let reasons = REASONS.map(reason_name);
    metrics::from_zero(&DEAD_LETTERS, &reasons.each_ref().map(String::as_str));
    for gauge in [&LETTERS_LEFT, &BATCH, &BACKLOG, &STORE_AWAY] {
        LazyLock::force(gauge);
    }
    LazyLock::force(&INSERT);
    LazyLock::force(&LAG);
}
