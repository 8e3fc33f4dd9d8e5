//! The alerts that are listed: those that stand, and the last ones that are over.

use super::convert::told;
use signalbox_anomaly::Alert;
use signalbox_api::v1;
use std::collections::VecDeque;

/// Alerts that are over and still listed.
const MOST_CLOSED: usize = 1_000;

/// The last alerts that are over, the newest last.
#[derive(Debug, Default)]
pub(super) struct Book(VecDeque<Alert>);

impl Book {
    /// An alert is over.
    pub(super) fn close(&mut self, alert: Alert) {
        if self.0.len() == MOST_CLOSED {
            self.0.pop_front();
        }
        self.0.push_back(alert);
    }

    /// Those that are over.
    pub(super) fn closed(&self) -> impl Iterator<Item = &Alert> {
        self.0.iter()
    }

    /// All alerts with those that stand, last opened first.
    pub(super) fn list<'a>(&'a self, standing: impl Iterator<Item = &'a Alert>) -> Vec<v1::Alert> {
        let mut all: Vec<&Alert> = standing.chain(&self.0).collect();
        all.sort_by(|one, other| other.opened.cmp(&one.opened).then_with(|| one.id.cmp(&other.id)));
        all.into_iter().map(told).collect()
    }
}
