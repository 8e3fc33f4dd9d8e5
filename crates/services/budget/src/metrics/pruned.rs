//! What the ledger was rid of, and how far back it goes.

use prometheus::{IntCounterVec, IntGaugeVec};
use signalbox_kit::telemetry::metrics;
use signalbox_ports::ledger::Pruned;
use std::{
    sync::LazyLock,
    time::{SystemTime, UNIX_EPOCH},
};

static PRUNED: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_budget_pruned_rows_total",
        "Rows of the ledger that this process deleted for their age, by table.",
        &["table"],
    )
});
static OLDEST: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_budget_oldest_entry_timestamp_seconds",
        "When the oldest movement in the ledger was made, limits aside, in seconds since the epoch; 0 where none is deleted for its age.",
        &[],
    )
});

pub(super) fn register() {
    metrics::from_zero(&PRUNED, &["entries", "operations", "leases", "reservations"]);
    OLDEST.with_label_values::<&str>(&[]).set(0);
}

pub(crate) fn pruned(pruned: &Pruned) {
    let Pruned { entries, operations, leases, reservations, oldest, more: _ } = *pruned;
    let rows = [
        ("entries", entries),
        ("operations", operations),
        ("leases", leases),
        ("reservations", reservations),
    ];
    for (table, rows) in rows {
        PRUNED.with_label_values(&[table]).inc_by(rows);
    }
    if let Some(oldest) = oldest {
        OLDEST.with_label_values::<&str>(&[]).set(seconds(oldest));
    }
}

fn seconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}
