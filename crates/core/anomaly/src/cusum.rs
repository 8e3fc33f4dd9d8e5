//! Notices within minutes that a value has become a multiple of what it was: evidence is summed up until it is enough.

use crate::scale::{Expectation, Reading};
use std::collections::VecDeque;

/// Evidence that is enough: the worse value explains what was seen sixty thousand times better. In the simulation 9 raises
/// a false alarm every twenty days, and this one every hundred, half a minute later.
const ENOUGH: f64 = 11.0;
/// Evidence is summed up no further, so that it is gone soon after the cause is.
const MOST: f64 = 1.5 * ENOUGH;
/// Evidence so weak that nothing is left of it.
const GONE: f64 = 1.0;
/// Minutes that what is observed is told from.
const RECENT: usize = 5;

/// A cumulative sum of evidence for "so many times what is expected".
#[derive(Debug, Clone, Default)]
pub(crate) struct Cusum {
    evidence: f64,
    /// Calls since the evidence began.
    calls: f64,
    recent: VecDeque<Reading>,
}

impl Cusum {
    /// Takes a minute in.
    pub(crate) fn step(&mut self, reading: Reading, expected: Expectation, ratio: f64) {
        let sum = self.evidence + expected.evidence(reading, ratio);
        // Not a number is no evidence.
        self.evidence = if sum > 0.0 { sum.min(MOST) } else { 0.0 };
        if self.evidence == 0.0 {
            self.calls = 0.0;
            self.recent.clear();
        } else {
            self.calls += reading.of;
        }
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(reading);
    }

    /// There is enough evidence, and from enough calls.
    pub(crate) fn is_breached(&self, least_calls: f64) -> bool {
        self.evidence >= ENOUGH && self.calls >= least_calls
    }

    /// Nothing is left of the evidence.
    pub(crate) fn is_calm(&self) -> bool {
        self.evidence < GONE
    }

    /// What the last minutes were, those before the evidence began left out.
    pub(crate) fn observed(&self) -> Option<f64> {
        let sum = self.recent.iter().fold(Reading::default(), |sum, reading| sum.and(*reading));
        (sum.of > 0.0).then(|| sum.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::Scale;

    const EXPECTED: Expectation = Expectation { scale: Scale::Share, level: 0.015, dispersion: 1.0 };

    fn after(minutes: &[(f64, f64)]) -> Cusum {
        let mut cusum = Cusum::default();
        minutes.iter().for_each(|(k, n)| cusum.step(Reading { sum: *k, of: *n }, EXPECTED, 3.0));
        cusum
    }

    #[test]
    fn a_minute_that_is_plainly_worse_is_enough_and_one_that_is_little_worse_is_not() {
        assert!(after(&[(1.0, 100.0), (20.0, 100.0)]).is_breached(20.0));
        assert!(!after(&[(1.0, 100.0), (4.0, 100.0)]).is_breached(20.0));
    }

    #[test]
    fn two_failures_of_three_are_no_breach_and_neither_are_nineteen_of_nineteen() {
        assert!(!after(&[(2.0, 3.0)]).is_breached(20.0));
        assert!(!after(&[(19.0, 19.0)]).is_breached(20.0));
        assert!(after(&[(30.0, 30.0)]).is_breached(20.0));
    }

    #[test]
    fn the_observed_value_is_that_of_the_minutes_that_are_evidence() {
        let cusum = after(&[(1.0, 100.0), (1.0, 100.0), (20.0, 100.0)]);
        let observed = cusum.observed().unwrap();
        // The minute that ended the last evidence is still in it.
        assert!((0.1..=0.2).contains(&observed), "{observed}");
    }

    #[test]
    fn evidence_is_gone_soon_after_its_cause() {
        let mut cusum = after(&[(100.0, 100.0); 60]);
        for _ in 0..12 {
            cusum.step(Reading { sum: 1.0, of: 100.0 }, EXPECTED, 3.0);
        }
        assert!(cusum.is_calm());
    }
}
