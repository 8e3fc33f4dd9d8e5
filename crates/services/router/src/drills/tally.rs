//! What a drill has counted.

use signalbox_resilience::Sketch;
use signalbox_types::ModelRef;
use std::{collections::BTreeMap, time::Duration};

/// Counts of one drill.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) calls_hit: u64,
    pub(super) requests_hit: u64,
    /// Of these, those that have ended: with an error, with an answer, or because the client went away.
    pub(super) client_errors: u64,
    pub(super) served_by: BTreeMap<String, u64>,
    pub(super) clients_gone: u64,
    /// Whole time of the requests hit that were answered.
    pub(super) hit: Sketch,
    /// Time of the calls that served meanwhile without being hit.
    pub(super) unhurt: Sketch,
}

impl Tally {
    /// A request that was hit has been answered.
    pub(super) fn answered(&mut self, by: &ModelRef, whole: Duration) {
        *self.served_by.entry(by.to_string()).or_default() += 1;
        self.hit.record(whole);
    }

    /// Requests hit whose end is still to come.
    pub(super) fn open(&self) -> u64 {
        let ended = self.client_errors + self.clients_gone + self.served_by.values().sum::<u64>();
        self.requests_hit.saturating_sub(ended)
    }
}
