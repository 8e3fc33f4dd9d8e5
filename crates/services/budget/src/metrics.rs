//! What operators see of budgets. No labels of tenants, for there are many of them, but where a budget is tight.

mod pruned;
mod tight;

pub(crate) use pruned::pruned;
pub(crate) use tight::{Name, Tight};

use prometheus::{IntCounterVec, IntGaugeVec};
use signalbox_api::v1::budget::Action;
use signalbox_kit::telemetry::metrics;
use std::sync::LazyLock;

static GRANTS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_budget_grants_total",
        "Answers to replicas that asked for leases, by whether the request falls under a budget (limited) or not (free).",
        &["kind"],
    )
});
static REFUSALS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_budget_refusals_total",
        "Leases and reservations refused, by what is short: budget, threshold or rate.",
        &["short"],
    )
});
static SETTLEMENTS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_budget_bookings_total",
        "Settlements that came to the ledger, by whether they are booked now or were before (booked), or cannot be (refused).",
        &["result"],
    )
});
static ORPHANED: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_budget_orphaned_nano_eur_total",
        "What leases of lost replicas held when they expired, until it is known what was spent.",
        &[],
    )
});
static WRITTEN_OFF: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_budget_written_off_nano_eur_total",
        "What was booked as spent by estimate, since its replica never told.",
        &[],
    )
});
static THRESHOLDS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_budget_thresholds_reached_total",
        "Thresholds that came into force, by what they do.",
        &["action"],
    )
});
static WATCHERS: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge("signalbox_budget_watchers", "Replicas that hear of changes from this process.", &[])
});
static STORE_AWAY: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_budget_store_away",
        "1 while the store of tenants, keys and budgets does not answer this process or cannot be written, else 0.",
        &[],
    )
});

/// The store of tenants, keys and budgets does not answer or cannot be written, or does again.
pub fn store_away(away: bool) {
    STORE_AWAY.with_label_values::<&str>(&[]).set(away.into());
}

pub(crate) fn register() {
    metrics::from_zero(&GRANTS, &["limited", "free"]);
    metrics::from_zero(&REFUSALS, &["budget", "threshold", "rate"]);
    metrics::from_zero(&SETTLEMENTS, &["booked", "refused"]);
    metrics::from_zero(&ORPHANED, &[]);
    metrics::from_zero(&WRITTEN_OFF, &[]);
    LazyLock::force(&THRESHOLDS);
    pruned::register();
    tight::register();
    for gauge in [&WATCHERS, &STORE_AWAY] {
        LazyLock::force(gauge);
    }
}

pub(crate) fn granted(limited: bool) {
    GRANTS.with_label_values(&[if limited { "limited" } else { "free" }]).inc();
}

pub(crate) fn refused(short: &str) {
    REFUSALS.with_label_values(&[short]).inc();
}

pub(crate) fn settled(booked: usize, refused: usize) {
    SETTLEMENTS.with_label_values(&["booked"]).inc_by(booked as u64);
    SETTLEMENTS.with_label_values(&["refused"]).inc_by(refused as u64);
}

pub(crate) fn orphaned(nano_eur: i64) {
    ORPHANED.with_label_values::<&str>(&[]).inc_by(u64::try_from(nano_eur).unwrap_or(0));
}

pub(crate) fn written_off(nano_eur: i64) {
    WRITTEN_OFF.with_label_values::<&str>(&[]).inc_by(u64::try_from(nano_eur).unwrap_or(0));
}

pub(crate) fn threshold(action: Action) {
    let name = action.as_str_name().trim_start_matches("ACTION_").to_ascii_lowercase();
    THRESHOLDS.with_label_values(&[&*name]).inc();
}

pub(crate) fn watchers(count: usize) {
    WATCHERS.with_label_values::<&str>(&[]).set(i64::try_from(count).unwrap_or(i64::MAX));
}
