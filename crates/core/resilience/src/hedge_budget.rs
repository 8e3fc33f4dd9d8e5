//! How many requests may be asked twice at once, so that hedging does not become the load it runs from.

use crate::unit::unit;

/// Hedges that may follow at once after a quiet time; the size of bucket in gRPC's own throttle of retries (gRFC A6).
const MOST: f64 = 10.0;

/// A bucket that requests fill and hedges empty. It starts empty and time brings nothing, so that never more than the
/// share of all requests are hedged.
#[derive(Debug, Clone, Default)]
pub struct HedgeBudget {
    tokens: f64,
}

impl HedgeBudget {
    /// A request came in of which `share` (from 0 to 1) may be hedged.
    pub fn on_request(&mut self, share: f64) {
        self.tokens = (self.tokens + unit(share)).min(MOST);
    }

    /// Takes one hedge from the budget; false if it is used up.
    pub fn try_spend(&mut self) -> bool {
        // Fifty fiftieths shall be one whole.
        let enough = self.tokens >= 1.0 - 1e-9;
        if enough {
            self.tokens = (self.tokens - 1.0).max(0.0);
        }
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_request_in_fifty_may_be_hedged_at_a_share_of_two_percent() {
        let mut budget = HedgeBudget::default();
        let hedged = (1..=1000).filter(|_| {
            budget.on_request(0.02);
            budget.try_spend()
        });
        assert_eq!(hedged.collect::<Vec<_>>(), (1..=20).map(|n| 50 * n).collect::<Vec<_>>());
    }

    #[test]
    fn savings_are_bounded() {
        let mut budget = HedgeBudget::default();
        (0..100_000).for_each(|_| budget.on_request(0.02));
        assert_eq!((0..100).filter(|_| budget.try_spend()).count(), 10);
    }

    #[test]
    fn a_senseless_share_allows_nothing() {
        let mut budget = HedgeBudget::default();
        for share in [f64::NAN, -1.0, 0.0] {
            budget.on_request(share);
            assert!(!budget.try_spend(), "{share}");
        }
    }
}
