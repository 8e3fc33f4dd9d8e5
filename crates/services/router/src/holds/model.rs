//! What is known of one model's limits.

use signalbox_resilience::{DoublingHold, Hold, RecoveringWeight, with_jitter};
use signalbox_routing::{Candidate, Refused};
use signalbox_types::ErrorReason;
use std::time::{Duration, Instant};

/// A rate limit without a word on when to come back. Ours: as long as the shortest `Retry-After` in seconds.
const UNSAID: Duration = Duration::from_secs(1);
/// The longest hold of a used-up quota: someone may buy more meanwhile.
const LONGEST_QUOTA: Duration = Duration::from_secs(3600);
/// What was said of the quota is forgotten after this: most are counted by the minute.
const QUOTA_MEMORY: Duration = Duration::from_secs(60);
/// A permission that is missing: its first hold, and the longest.
const NOT_PERMITTED: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(600));

/// Holds, weight and quota of one model.
#[derive(Debug)]
pub(super) struct ModelHolds {
    asked: Hold,
    permission: DoublingHold,
    weight: RecoveringWeight,
    quota_left: Option<(f64, Instant)>,
}

impl ModelHolds {
    pub(super) fn new(now: Instant) -> Self {
        let (first, longest) = NOT_PERMITTED;
        Self {
            asked: Hold::default(),
            permission: DoublingHold::new(first, longest),
            weight: RecoveringWeight::new(now),
            quota_left: None,
        }
    }

    pub(super) fn describe(&self, candidate: &mut Candidate<'_>, now: Instant) {
        candidate.offer.held_for = candidate.offer.held_for.max(self.asked.left(now));
        candidate.weight *= self.weight.weight(now);
        candidate.quota_left = self.quota_left(now).or(candidate.quota_left);
        if let Some(left) = self.permission.left(now) {
            candidate.refused = Some(Refused { reason: ErrorReason::VendorPermission, left });
        }
    }

    /// We were too fast.
    pub(super) fn rate_limited(&mut self, wait: Option<Duration>, random: f64, now: Instant) {
        let hold = with_jitter(wait.unwrap_or(UNSAID), Hold::LONGEST, random);
        self.asked.extend(hold, now);
        self.weight.rate_limited(hold, now);
        // The hold says it now, and what comes after it is another period's quota.
        self.quota_left = None;
    }

    /// The vendor asked for a rest.
    pub(super) fn overloaded(&mut self, wait: Duration, random: f64, now: Instant) {
        self.asked.extend(with_jitter(wait, Hold::LONGEST, random), now);
    }

    /// A quota of a day or longer is used up. Gives the hold.
    pub(super) fn quota_exhausted(&mut self, wait: Duration, random: f64, now: Instant) -> Duration {
        let hold = with_jitter(wait, LONGEST_QUOTA, random);
        self.asked.extend(hold, now);
        hold
    }

    /// Our key may not use the model. Gives the hold, where a new one begins.
    pub(super) fn refused(&mut self, random: f64, now: Instant) -> Option<Duration> {
        self.permission.refused(random, now)
    }

    /// The model answered.
    pub(super) fn served(&mut self, quota_left: Option<f64>, now: Instant) {
        self.permission.relent(Duration::ZERO, now);
        if let Some(left) = quota_left {
            self.quota_left = Some((left, now));
        }
    }

    /// What was refused may be permitted within `grace`.
    pub(super) fn relent(&mut self, grace: Duration, now: Instant) {
        self.permission.relent(grace, now);
    }

    pub(super) fn asked_to_wait(&self, now: Instant) -> Option<Duration> {
        self.asked.left(now)
    }

    pub(super) fn refused_for(&self, now: Instant) -> Option<Duration> {
        self.permission.left(now)
    }

    pub(super) fn is_held(&self, now: Instant) -> bool {
        self.asked.left(now).is_some() || self.permission.left(now).is_some()
    }

    fn quota_left(&self, now: Instant) -> Option<f64> {
        let (left, told) = self.quota_left?;
        (now.saturating_duration_since(told) < QUOTA_MEMORY).then_some(left)
    }

    /// Whether there is nothing to say.
    pub(super) fn is_blank(&self, now: Instant) -> bool {
        self.asked.left(now).is_none()
            && self.permission.is_clear(now)
            && self.weight.weight(now) >= 1.0
            && self.quota_left(now).is_none()
    }
}
