//! What is known of our key and account at one vendor.

use signalbox_resilience::DoublingHold;
use signalbox_routing::{Candidate, Refused};
use signalbox_types::ErrorReason;
use std::time::{Duration, Instant};

/// A refused key: its first hold, and the longest.
const KEY: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(600));
/// An empty account: its first hold, and the longest.
const ACCOUNT: (Duration, Duration) = (Duration::from_secs(300), Duration::from_secs(3600));

/// Holds that every model of a vendor shares.
#[derive(Debug)]
pub(super) struct VendorHolds {
    pub(super) key: DoublingHold,
    pub(super) account: DoublingHold,
}

impl Default for VendorHolds {
    fn default() -> Self {
        Self { key: DoublingHold::new(KEY.0, KEY.1), account: DoublingHold::new(ACCOUNT.0, ACCOUNT.1) }
    }
}

impl VendorHolds {
    pub(super) fn describe(&self, candidate: &mut Candidate<'_>, now: Instant) {
        let holds =
            [(ErrorReason::VendorQuotaExhausted, &self.account), (ErrorReason::VendorAuth, &self.key)];
        for (reason, hold) in holds {
            if let Some(left) = hold.left(now) {
                candidate.refused = Some(Refused { reason, left });
            }
        }
    }

    pub(super) fn is_held(&self, now: Instant) -> bool {
        self.key.left(now).is_some() || self.account.left(now).is_some()
    }

    /// The key and the account are good, or may be within `grace`.
    pub(super) fn relent(&mut self, grace: Duration, now: Instant) {
        self.key.relent(grace, now);
        self.account.relent(grace, now);
    }
}
