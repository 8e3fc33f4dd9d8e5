//! How many of the last minutes' calls failed.

use crate::{Outcome, ticks::Ticks};
use std::time::{Duration, Instant};

/// Length of a slot. Twelve make a minute: the edge of the window is blurred by 1/12 and a record costs one slot.
const SLOT_SECONDS: u64 = 5;
/// Slots of the longest window.
const SLOTS: usize = 60;

/// Calls of a stretch of time. Sums over replicas are exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls that say something of the vendor's health.
    pub calls: u64,
    /// Of these, failed by the vendor's fault.
    pub failures: u64,
    /// Of these failures, timeouts.
    pub timeouts: u64,
}

impl Counts {
    /// Adds the counts of another replica, or of another stretch of time.
    pub fn merge(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.failures = self.failures.saturating_add(other.failures);
        self.timeouts = self.timeouts.saturating_add(other.timeouts);
    }

    /// Calls that the vendor served.
    pub fn served(self) -> u64 {
        self.calls.saturating_sub(self.failures)
    }

    /// The share of calls served, from 0 to 1, as the mean of a Beta(1, 1) posterior: one half without any call, and
    /// no verdict from a single one (Laplace's rule of succession).
    pub fn health(self) -> f64 {
        (self.served() as f64 + 1.0) / (self.calls as f64 + 2.0)
    }
}

/// A sliding window of calls in a ring of slots. A record neither allocates nor depends on how many came before.
#[derive(Debug, Clone)]
pub struct Window {
    ticks: Ticks,
    slots: [Counts; SLOTS],
}

impl Window {
    /// The longest span, and the one that health looks back on.
    pub const FIVE_MINUTES: Duration = Duration::from_secs(SLOT_SECONDS * SLOTS as u64);

    /// An empty window.
    pub fn new(now: Instant) -> Self {
        Self { ticks: Ticks::new(SLOT_SECONDS, now), slots: [Counts::default(); SLOTS] }
    }

    /// Counts a call that ended now. A neutral end is not counted.
    pub fn record(&mut self, outcome: Outcome, now: Instant) {
        if outcome == Outcome::Neutral {
            return;
        }
        for stale in self.ticks.advance(SLOTS, now) {
            self.slots[stale] = Counts::default();
        }
        self.slots[self.ticks.slot(SLOTS)].merge(Counts {
            calls: 1,
            failures: outcome.is_failure().into(),
            timeouts: (outcome == Outcome::Timeout).into(),
        });
    }

    /// The counts of the last `span`, at most five minutes, in whole slots with the present one.
    pub fn counts(&self, span: Duration, now: Instant) -> Counts {
        let steps = usize::try_from(span.as_secs().div_ceil(SLOT_SECONDS)).unwrap_or(SLOTS);
        let mut sum = Counts::default();
        for slot in self.ticks.latest(steps, SLOTS, now) {
            sum.merge(self.slots[slot]);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn calls_leave_the_minute_and_then_the_five_minutes() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut window = Window::new(start);
        window.record(Outcome::Success, start);
        window.record(Outcome::Timeout, start);
        window.record(Outcome::Failure, after(30));
        let all = Counts { calls: 3, failures: 2, timeouts: 1 };
        assert_eq!(window.counts(MINUTE, after(59)), all);
        assert_eq!(window.counts(MINUTE, after(61)), Counts { calls: 1, failures: 1, timeouts: 0 });
        assert_eq!(window.counts(Window::FIVE_MINUTES, after(299)), all);
        assert_eq!(window.counts(Window::FIVE_MINUTES, after(335)), Counts::default());
    }

    #[test]
    fn a_cancelled_call_is_not_a_call() {
        let now = Instant::now();
        let mut window = Window::new(now);
        window.record(Outcome::Neutral, now);
        assert_eq!(window.counts(MINUTE, now), Counts::default());
    }

    #[test]
    fn health_of_replicas_is_that_of_their_sum() {
        let mut fleet = Counts { calls: 10, failures: 0, timeouts: 0 };
        fleet.merge(Counts { calls: 8, failures: 8, timeouts: 3 });
        assert_eq!(fleet, Counts { calls: 18, failures: 8, timeouts: 3 });
        assert_eq!(fleet.health(), 11.0 / 20.0);
        assert_eq!(Counts::default().health(), 0.5);
    }

    #[test]
    fn a_span_beyond_the_ring_is_the_whole_ring() {
        let now = Instant::now();
        let mut window = Window::new(now);
        window.record(Outcome::Success, now);
        assert_eq!(window.counts(Duration::MAX, now).calls, 1);
        assert_eq!(window.counts(Duration::ZERO, now), Counts::default());
    }

    proptest! {
        #[test]
        fn a_window_counts_what_a_list_of_calls_would(gaps in prop::collection::vec((0u64..40, any::<bool>()), 0..80)) {
            let start = Instant::now();
            let (mut window, mut calls, mut at) = (Window::new(start), Vec::new(), 0);
            for (gap, failed) in gaps {
                at += gap;
                window.record(if failed { Outcome::Failure } else { Outcome::Success }, start + Duration::from_secs(at));
                calls.push((at, failed));
            }
            for (span, slots) in [(MINUTE, 12), (Window::FIVE_MINUTES, 60)] {
                let live = |&&(when, _): &&(u64, bool)| at / SLOT_SECONDS - when / SLOT_SECONDS < slots;
                let counts = window.counts(span, start + Duration::from_secs(at));
                prop_assert_eq!(counts.calls, calls.iter().filter(live).count() as u64);
                prop_assert_eq!(counts.failures, calls.iter().filter(live).filter(|call| call.1).count() as u64);
            }
        }
    }
}
