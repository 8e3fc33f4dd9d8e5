//! How traffic leaves a vendor in trouble, and comes back.

use crate::{Incident, Record, Scenario};

/// How long after an incident its vendor counts as recovering: its capacity, the breaker's longest first opening and
/// the ramp.
const RECOVERY_SECONDS: u64 = 60;

/// What an incident did to a vendor's traffic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recovery {
    /// The vendor's share of calls in the half minute before.
    pub before: f64,
    /// Seconds from the beginning to the first second with less than half of it.
    pub left_after: Option<u64>,
    /// The share in the last ten seconds of the incident.
    pub during: f64,
    /// Seconds from the end to the first two seconds in a row with at least half of the share before.
    pub back_after: Option<u64>,
    /// Calls that the vendor failed in the minute after the end.
    pub failed: u64,
    /// The most calls in a second of that minute.
    pub peak: u64,
}

/// What an incident did to its vendor's traffic.
pub fn of(scenario: &Scenario, record: &Record, incident: &Incident) -> Recovery {
    let (vendor, from, until) = (incident.vendor, incident.from.as_secs(), incident.until.as_secs());
    let last = scenario.length.as_secs();
    let before = record.share(vendor, from.saturating_sub(30)..from);
    let half = |at: u64, span: u64| record.share(vendor, at..at + span) >= before / 2.0;
    let recovery = until..(until + RECOVERY_SECONDS).min(last);
    Recovery {
        before,
        left_after: (from..until).find(|at| !half(*at, 1)).map(|at| at - from),
        during: record.share(vendor, until.saturating_sub(10)..until),
        back_after: (until..last.saturating_sub(1)).find(|at| half(*at, 2)).map(|at| at - until),
        failed: record.sum(vendor, recovery.clone(), |second| second.failures),
        peak: recovery.map(|at| record.calls(vendor, at..at + 1)).max().unwrap_or_default(),
    }
}
