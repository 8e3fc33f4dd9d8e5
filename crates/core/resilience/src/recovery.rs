//! How to come back after a 429: with a smaller share, and slowly.

use crate::holds::LONGEST;
use std::time::{Duration, Instant};

/// What a rate limit leaves of the weight. Chosen with `PER_SECOND` so that a single 429 is forgotten ten seconds
/// after its hold, and a run of them is not answered by the old flood.
const CUT: f64 = 0.8;
/// What comes back in a second, of the full weight.
const PER_SECOND: f64 = 0.02;
/// The least weight: at zero the vendor would never be tried again.
const LEAST: f64 = 0.05;
/// Calls under way when the limit was hit are all answered alike, so that a 429 without a hold counts once a second.
const SAME_NEWS: Duration = Duration::from_secs(1);

/// The weight of a vendor in the draw, which falls with each 429 and recovers after the hold.
#[derive(Debug, Clone, Copy)]
pub struct RecoveringWeight {
    /// As of `since`.
    weight: f64,
    since: Instant,
    /// How long after `since` nothing comes back.
    frozen: Duration,
}

impl RecoveringWeight {
    /// Full weight.
    pub fn new(now: Instant) -> Self {
        Self { weight: 1.0, since: now, frozen: Duration::ZERO }
    }

    /// The vendor held us back for this long (nothing, where it did not say).
    pub fn rate_limited(&mut self, hold: Duration, now: Instant) {
        let (hold, elapsed) = (hold.min(LONGEST), now.saturating_duration_since(self.since));
        if elapsed < self.frozen {
            self.frozen = self.frozen.max(elapsed.saturating_add(hold));
        } else {
            *self =
                Self { weight: (self.weight(now) * CUT).max(LEAST), since: now, frozen: hold.max(SAME_NEWS) };
        }
    }

    /// The weight now, above 0 and at most 1.
    pub fn weight(&self, now: Instant) -> f64 {
        let growing = now.saturating_duration_since(self.since).saturating_sub(self.frozen);
        (self.weight + PER_SECOND * growing.as_secs_f64()).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOLD: Duration = Duration::from_secs(20);

    #[test]
    fn a_rate_limit_costs_a_fifth_that_comes_back_in_ten_seconds_after_the_hold() {
        let start = Instant::now();
        let after = |seconds| start + HOLD + Duration::from_secs(seconds);
        let mut weight = RecoveringWeight::new(start);
        weight.rate_limited(HOLD, start);
        assert_eq!(weight.weight(start), 0.8);
        assert_eq!(weight.weight(after(0)), 0.8);
        assert!((weight.weight(after(5)) - 0.9).abs() < 1e-9);
        assert!((weight.weight(after(11)) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_calls_under_way_when_the_limit_was_hit_count_once() {
        let start = Instant::now();
        let mut weight = RecoveringWeight::new(start);
        for millis in 0..900 {
            weight.rate_limited(Duration::ZERO, start + Duration::from_millis(millis));
        }
        assert_eq!(weight.weight(start + Duration::from_millis(900)), 0.8);
    }

    #[test]
    fn a_longer_hold_puts_recovery_off_and_a_shorter_one_does_not_hasten_it() {
        let start = Instant::now();
        let mut weight = RecoveringWeight::new(start);
        weight.rate_limited(HOLD, start);
        weight.rate_limited(HOLD / 10, start + HOLD / 2);
        assert_eq!(weight.weight(start + HOLD), 0.8);
        weight.rate_limited(HOLD, start + HOLD / 2);
        assert_eq!(weight.weight(start + HOLD + HOLD / 2), 0.8);
    }

    #[test]
    fn a_vendor_that_keeps_refusing_keeps_a_little_weight() {
        let (mut now, mut weight) = (Instant::now(), RecoveringWeight::new(Instant::now()));
        for _ in 0..1000 {
            weight.rate_limited(Duration::ZERO, now);
            now += SAME_NEWS;
        }
        assert!(weight.weight(now) >= LEAST);
        assert!(weight.weight(now) < 0.1);
    }

    proptest! {
        #[test]
        fn the_weight_keeps_its_bounds_and_always_comes_back(
            events in prop::collection::vec((any::<u64>(), 0u64..100_000), 0..60),
        ) {
            let (mut now, mut weight) = (Instant::now(), RecoveringWeight::new(Instant::now()));
            for (hold, gap) in events {
                now += Duration::from_millis(gap);
                weight.rate_limited(Duration::from_millis(hold), now);
                prop_assert!((LEAST..=1.0).contains(&weight.weight(now)));
            }
            prop_assert_eq!(weight.weight(now + LONGEST + Duration::from_secs(50)), 1.0);
        }
    }
}
