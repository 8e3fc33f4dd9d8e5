//! How much of the traffic may be second tries, so that failover does not become the storm.

use crate::unit::unit;
use std::time::{Duration, Instant};

/// How long unspent budget lasts, and so how many seconds of it may be spent at once: ten, as in Finagle's `RetryBudget`.
const MEMORY: Duration = Duration::from_secs(10);

/// How many retries and switches are allowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryRules {
    /// Share of the requests, from 0 to 1.
    pub share: f64,
    /// And this many a second, so that quiet traffic may fail over too.
    pub per_second: f64,
}

impl Default for RetryRules {
    /// A tenth and three a second. Finagle allows a fifth and ten a second, for calls that cost nothing but time.
    fn default() -> Self {
        Self { share: 0.1, per_second: 3.0 }
    }
}

/// A token bucket that requests and time fill, and retries and switches empty.
#[derive(Debug, Clone)]
pub struct RetryBudget {
    rules: RetryRules,
    tokens: f64,
    /// Requests, each forgotten exponentially: in steady traffic, as many as come in `MEMORY`.
    recent: f64,
    at: Instant,
}

impl RetryBudget {
    /// Starts with the reserve of ten seconds.
    pub fn new(rules: RetryRules, now: Instant) -> Self {
        let per_second = if rules.per_second.is_finite() { rules.per_second.max(0.0) } else { 0.0 };
        let rules = RetryRules { share: unit(rules.share), per_second };
        Self { rules, tokens: per_second * MEMORY.as_secs_f64(), recent: 0.0, at: now }
    }

    /// A request came in.
    pub fn on_request(&mut self, now: Instant) {
        self.pass(now);
        self.recent += 1.0;
        self.tokens += self.rules.share;
    }

    /// Takes one retry or switch from the budget; false if it is used up, and the failure stands.
    pub fn try_spend(&mut self, now: Instant) -> bool {
        self.pass(now);
        // Ten tenths shall be one whole.
        let enough = self.tokens >= 1.0 - 1e-9;
        if enough {
            self.tokens = (self.tokens - 1.0).max(0.0);
        }
        enough
    }

    /// The retries that could follow at once.
    pub fn left(&self) -> u64 {
        self.tokens as u64
    }

    fn pass(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.at).as_secs_f64();
        self.at = self.at.max(now);
        self.recent *= (-elapsed / MEMORY.as_secs_f64()).exp();
        self.tokens = (self.tokens + self.rules.per_second * elapsed).min(self.most());
    }

    /// What `MEMORY` would bring: older savings are lost, so that a quiet night does not pay for a morning's storm.
    fn most(&self) -> f64 {
        self.rules.per_second * MEMORY.as_secs_f64() + self.rules.share * self.recent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Retries granted when each of `rate` requests a second fails for `seconds`.
    fn granted(rate: u32, seconds: u32) -> u32 {
        let start = Instant::now();
        let mut budget = RetryBudget::new(RetryRules::default(), start);
        let mut granted = 0;
        for request in 0..rate * seconds {
            let now = start + Duration::from_secs(1) * request / rate;
            budget.on_request(now);
            granted += u32::from(budget.try_spend(now));
        }
        granted
    }

    #[test]
    fn in_an_outage_a_tenth_of_the_traffic_and_three_a_second_are_retried() {
        let (rate, seconds) = (1000, 60);
        let fair = rate * seconds / 10 + 3 * seconds;
        assert!((fair..=fair + 30).contains(&granted(rate, seconds)));
    }

    #[test]
    fn quiet_traffic_may_always_fail_over() {
        assert_eq!(granted(3, 100), 300);
    }

    #[test]
    fn busy_traffic_saves_for_a_burst_and_forgets_it_in_silence() {
        let start = Instant::now();
        let mut budget = RetryBudget::new(RetryRules::default(), start);
        let mut now = start;
        for _ in 0..60_000 {
            now += Duration::from_millis(1);
            budget.on_request(now);
        }
        // Ten seconds of a tenth of a thousand, and of three a second.
        assert!((1000..=1031).contains(&budget.left()));
        now += MEMORY * 10;
        budget.try_spend(now);
        assert!(budget.left() <= 30);
    }

    #[test]
    fn ten_requests_pay_for_one_retry() {
        let now = Instant::now();
        let mut budget = RetryBudget::new(RetryRules { share: 0.1, per_second: 0.0 }, now);
        for _ in 0..10 {
            assert!(!budget.try_spend(now));
            budget.on_request(now);
        }
        assert!(budget.try_spend(now));
        assert!(!budget.try_spend(now));
    }

    #[test]
    fn senseless_rules_allow_nothing() {
        let now = Instant::now();
        for rules in [
            RetryRules { share: f64::NAN, per_second: f64::NAN },
            RetryRules { share: -1.0, per_second: f64::INFINITY },
        ] {
            let mut budget = RetryBudget::new(rules, now);
            budget.on_request(now);
            assert!(!budget.try_spend(now));
        }
    }

    proptest! {
        #[test]
        fn no_order_of_events_gets_more_than_the_rules_allow(
            events in prop::collection::vec((any::<bool>(), 0u64..2000), 0..400),
        ) {
            let start = Instant::now();
            let (mut budget, mut now) = (RetryBudget::new(RetryRules::default(), start), start);
            let (mut requests, mut retries) = (0.0, 0.0);
            for (request, gap) in events {
                now += Duration::from_millis(gap);
                if request {
                    budget.on_request(now);
                    requests += 1.0;
                } else if budget.try_spend(now) {
                    retries += 1.0;
                }
                let allowed = 0.1 * requests + 3.0 * (now - start).as_secs_f64() + 30.0;
                prop_assert!(retries <= allowed + 1e-6, "{} of {}", retries, allowed);
            }
        }
    }
}
