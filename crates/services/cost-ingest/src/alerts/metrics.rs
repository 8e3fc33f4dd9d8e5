//! Alerts as metrics.

use super::convert::state_name;
use prometheus::{IntCounterVec, IntGaugeVec};
use signalbox_anomaly::Alert;
use signalbox_kit::telemetry::metrics;
use std::{collections::BTreeSet, sync::LazyLock};

static OPEN: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_alert_open",
        "1 for each alert that is not closed, by rule, vendor, model (empty for the whole vendor) and state.",
        &["rule", "vendor", "model", "state"],
    )
});
static DELIVERIES: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_alert_deliveries_total",
        "Turns of alerts by channel (nats, webhook; queue where too many wait) and result (told, repeated, failed).",
        &["channel", "result"],
    )
});

/// The alerts that the gauge shows.
#[derive(Debug, Default)]
pub(super) struct Shown(BTreeSet<[String; 4]>);

impl Shown {
    /// These stand now, and no others.
    pub(super) fn set<'a>(&mut self, standing: impl Iterator<Item = &'a Alert>) {
        let now: BTreeSet<_> = standing.map(labels).collect();
        for over in self.0.difference(&now) {
            // One that is not there is as good.
            let _unset = OPEN.remove_label_values(&over.each_ref().map(String::as_str));
        }
        for labels in &now {
            OPEN.with_label_values(&labels.each_ref().map(String::as_str)).set(1);
        }
        self.0 = now;
    }
}

fn labels(alert: &Alert) -> [String; 4] {
    let subject = &alert.subject;
    [alert.rule, &subject.vendor, &subject.model, state_name(alert.state)].map(str::to_owned)
}

/// A turn was told, was told before, or could not be told.
pub(super) fn delivered(channel: &str, result: &str) {
    DELIVERIES.with_label_values(&[channel, result]).inc();
}

pub(super) fn register() {
    LazyLock::force(&OPEN);
    for (channel, results) in [
        ("nats", &["told", "repeated", "failed"][..]),
        ("webhook", &["told", "failed"]),
        ("queue", &["failed"]),
    ] {
        for result in results {
            DELIVERIES.with_label_values(&[channel, result]);
        }
    }
}
