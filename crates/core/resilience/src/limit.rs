//! How many calls at once: a limit that feels for the vendor's capacity.

use std::time::{Duration, Instant};

/// Below two, a single slow answer would block the vendor.
const LEAST: f64 = 2.0;
/// What an overload leaves of the limit: the default backoff of Netflix's `concurrency-limits`.
const CUT: f64 = 0.9;
/// A limit that is not nearly used says nothing, so that it does not grow. Ours; Netflix asks for one half.
const NEARLY_FULL: f64 = 0.8;
/// The round trip before one was seen, as TCP's first retransmission timeout (RFC 6298, 2.1).
const FIRST_ROUND_TRIP: Duration = Duration::from_secs(1);
/// One part in so many of a new round trip goes into the usual one, as in TCP (RFC 6298, 2.3).
const SMOOTHING: u32 = 8;

/// A concurrency limit by additive increase and multiplicative decrease, as TCP's congestion window: one more for
/// each round of successes, a tenth less for each round with an overload.
///
/// Not by the gradient of latency: the round trip of a language model depends on the length of its answer.
#[derive(Debug, Clone)]
pub struct AimdLimit {
    limit: f64,
    max: f64,
    /// That of usual calls: a vendor that sheds load answers in milliseconds, and a burst of such answers is one piece
    /// of news.
    round_trip: Option<Duration>,
    cut_at: Option<Instant>,
}

impl AimdLimit {
    /// Starts at a limit, which never exceeds the configured maximum (itself at least one).
    pub fn new(initial: u32, max: u32) -> Self {
        let max = f64::from(max.max(1));
        Self { limit: f64::from(initial).max(LEAST).min(max), max, round_trip: None, cut_at: None }
    }

    /// The limit, rounded down.
    pub fn limit(&self) -> u32 {
        self.limit as u32
    }

    /// A call succeeded in this time while so many were under way, itself among them.
    pub fn on_success(&mut self, in_flight: u32, round_trip: Duration) {
        let usual = self.round_trip.unwrap_or(round_trip);
        self.round_trip = Some(usual - usual / SMOOTHING + round_trip / SMOOTHING);
        if f64::from(in_flight) >= NEARLY_FULL * self.limit {
            self.limit = (self.limit + 1.0 / self.limit).min(self.max);
        }
    }

    /// The vendor was overloaded or silent. Cuts the limit at most once per usual round trip, and says whether it did.
    pub fn on_overload(&mut self, now: Instant) -> bool {
        let round_trip = self.round_trip.unwrap_or(FIRST_ROUND_TRIP);
        if self.cut_at.is_some_and(|cut| now.saturating_duration_since(cut) < round_trip) {
            return false;
        }
        self.limit = (self.limit * CUT).max(LEAST).min(self.max);
        self.cut_at = Some(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ROUND_TRIP: Duration = Duration::from_secs(1);

    #[test]
    fn a_round_of_successes_at_a_full_limit_adds_one() {
        let mut limit = AimdLimit::new(10, 100);
        for _ in 0..11 {
            limit.on_success(10, ROUND_TRIP);
        }
        assert_eq!(limit.limit(), 11);
    }

    #[test]
    fn a_limit_that_is_not_used_does_not_grow() {
        let mut limit = AimdLimit::new(10, 100);
        for _ in 0..1000 {
            limit.on_success(7, ROUND_TRIP);
        }
        assert_eq!(limit.limit(), 10);
        limit.on_success(8, ROUND_TRIP);
        assert!(limit.limit > 10.0);
    }

    #[test]
    fn a_burst_of_overloads_cuts_once() {
        let (mut limit, start) = (AimdLimit::new(100, 100), Instant::now());
        for millis in 0..1000 {
            limit.on_overload(start + Duration::from_millis(millis));
        }
        assert_eq!(limit.limit(), 90);
        assert!(limit.on_overload(start + ROUND_TRIP));
        assert_eq!(limit.limit(), 81);
    }

    #[test]
    fn a_round_is_as_long_as_calls_usually_take() {
        let (mut limit, start) = (AimdLimit::new(100, 100), Instant::now());
        for _ in 0..100 {
            limit.on_success(1, 5 * ROUND_TRIP);
        }
        limit.on_success(1, Duration::from_millis(1));
        assert!(limit.on_overload(start));
        assert!(!limit.on_overload(start + 4 * ROUND_TRIP));
        assert!(limit.on_overload(start + 5 * ROUND_TRIP));
    }

    #[test]
    fn the_limit_stays_between_two_and_the_maximum() {
        let (mut limit, mut now) = (AimdLimit::new(50, 4), Instant::now());
        assert_eq!(limit.limit(), 4);
        for _ in 0..100 {
            limit.on_success(4, ROUND_TRIP);
        }
        assert_eq!(limit.limit(), 4);
        for _ in 0..100 {
            limit.on_overload(now);
            now += ROUND_TRIP;
        }
        assert_eq!(limit.limit(), 2);
    }

    #[test]
    fn a_maximum_of_one_is_obeyed_and_of_none_is_one() {
        for max in [0, 1] {
            let mut limit = AimdLimit::new(10, max);
            limit.on_overload(Instant::now());
            limit.on_success(1, ROUND_TRIP);
            assert_eq!(limit.limit(), 1);
        }
    }

    proptest! {
        #[test]
        fn whatever_happens_the_limit_keeps_its_bounds(
            initial: u32, max: u32, events in prop::collection::vec((any::<bool>(), any::<u32>(), 0u64..5000), 0..200),
        ) {
            let (mut limit, mut now) = (AimdLimit::new(initial, max), Instant::now());
            for (success, in_flight, gap) in events {
                now += Duration::from_millis(gap);
                if success { limit.on_success(in_flight, Duration::from_millis(gap)) } else { limit.on_overload(now); }
                prop_assert!(limit.limit() >= 2.min(max.max(1)) && limit.limit() <= max.max(1));
            }
        }
    }
}
