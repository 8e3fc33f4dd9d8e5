//! Notices within an hour or so that a value has become somewhat worse and stays so: a moving average of scores.

use crate::scale::{Expectation, Reading, Scale};

/// Weight of the newest minute.
const LAMBDA: f64 = 0.05;
/// Standard deviations of the average that are too many.
const FAR: f64 = 4.0;
/// And those that are few again.
const NEAR: f64 = 3.0;
/// The average goes no further, so that it is back soon after the cause is gone.
const FURTHEST: f64 = 5.0;
/// A single minute says no more than this.
const LOUDEST: f64 = 6.0;

/// An exponentially weighted moving average of scores, and of what was seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Drift {
    score: f64,
    seen: Reading,
}

impl Drift {
    /// Takes a minute in.
    pub(crate) fn step(&mut self, reading: Reading, expected: Expectation) {
        let score = expected.score(reading);
        let score = if score.is_nan() { 0.0 } else { score.clamp(-LOUDEST, LOUDEST) };
        let furthest = FURTHEST * deviation();
        self.score = (self.score + LAMBDA * (score - self.score)).clamp(-furthest, furthest);
        self.seen = self.seen.times(1.0 - LAMBDA).and(reading);
    }

    /// It has drifted to where `ratio` lies, above what is expected or below, by enough calls.
    pub(crate) fn is_breached(&self, expected: Expectation, ratio: f64, least_calls: f64) -> bool {
        let Some(observed) = self.observed() else { return false };
        let threshold = Self::threshold(expected, ratio);
        let beyond = if ratio > 1.0 { observed >= threshold } else { observed <= threshold };
        self.away(ratio) > FAR && beyond && self.seen.of >= least_calls && self.is_rare(expected)
    }

    /// What was seen is rare as a whole: the average of many scores may be far off by a few failures among few calls.
    fn is_rare(&self, expected: Expectation) -> bool {
        // Of as many calls, an average with fading weights is this much surer than it counts.
        let surer = (2.0 - LAMBDA).sqrt();
        expected.scale == Scale::Ratio || expected.rarity(self.seen) * surer > FAR
    }

    /// It is where it was.
    pub(crate) fn is_calm(&self, ratio: f64) -> bool {
        self.away(ratio) < NEAR
    }

    /// In standard deviations of the average, towards where `ratio` lies.
    fn away(&self, ratio: f64) -> f64 {
        self.score * (ratio - 1.0).signum() / deviation()
    }

    /// What the last half hour was.
    pub(crate) fn observed(&self) -> Option<f64> {
        (self.seen.of > 0.0).then(|| self.seen.value())
    }

    /// The value beyond which a drift is worth telling, however sure it is.
    pub(crate) fn threshold(expected: Expectation, ratio: f64) -> f64 {
        expected.value() * ratio.cbrt()
    }
}

/// Of the average, where scores have one of 1.
fn deviation() -> f64 {
    (LAMBDA / (2.0 - LAMBDA)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPECTED: Expectation = Expectation { scale: Scale::Share, level: 0.015, dispersion: 1.0 };

    fn after(minutes: usize, k: f64) -> Drift {
        let mut drift = Drift::default();
        (0..minutes).for_each(|_| drift.step(Reading { sum: k, of: 200.0 }, EXPECTED));
        drift
    }

    #[test]
    fn an_hour_at_one_and_a_half_times_the_usual_is_a_drift() {
        assert!(!after(10, 5.0).is_breached(EXPECTED, 3.0, 20.0));
        assert!(after(60, 5.0).is_breached(EXPECTED, 3.0, 20.0));
    }

    #[test]
    fn what_is_usual_and_what_is_little_more_is_none_however_long() {
        assert!(after(10_000, 3.0).is_calm(3.0));
        assert!(!after(10_000, 4.0).is_breached(EXPECTED, 3.0, 20.0));
    }

    #[test]
    fn the_other_direction_is_not_looked_at() {
        let drift = after(10_000, 0.0);
        assert!(!drift.is_breached(EXPECTED, 3.0, 20.0));
        assert!(drift.is_calm(3.0));
    }
}
