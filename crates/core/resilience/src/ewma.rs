//! Who is the quicker one right now: a moving average that believes bad news at once.

use std::time::{Duration, Instant};

/// How fast good news is believed. Ten seconds is the usual decay of Finagle's and Tower's peak-EWMA balancers.
const DECAY: Duration = Duration::from_secs(10);
/// How fast a reading returns to the prior while no sample comes. Ours: slow enough that a model called twice a minute
/// keeps what it taught, quick enough that a punished one is tried again within minutes.
const FORGET: Duration = Duration::from_secs(60);

/// A peak-sensitive, exponentially weighted moving average of a latency: it jumps to a slower sample and comes down
/// slowly. Feed it the latency *per expected token*, or a vendor that writes long answers looks slow.
#[derive(Debug, Clone, Copy)]
pub struct PeakEwma {
    prior: f64,
    /// Seconds, as of the last sample.
    value: f64,
    at: Instant,
}

impl PeakEwma {
    /// Starts at the prior: what the catalogue expects of the model, or one second where it says nothing (Tower's default).
    pub fn new(prior: Duration, now: Instant) -> Self {
        let prior = prior.as_secs_f64();
        Self { prior, value: prior, at: now }
    }

    /// Takes a sample in.
    pub fn observe(&mut self, sample: Duration, now: Instant) {
        let (sample, weight) = (sample.as_secs_f64(), fading(self.silence(now), DECAY));
        // Against the last value, not against what a reading would say: else each sample would drag the average
        // towards the prior.
        self.value = if sample > self.value { sample } else { self.value * weight + sample * (1.0 - weight) };
        self.at = self.at.max(now);
    }

    /// The average now. Without samples it returns to the prior from either side, so that whoever was slow once is
    /// tried again.
    pub fn value(&self, now: Instant) -> Duration {
        self.value_towards(Duration::try_from_secs_f64(self.prior).unwrap_or(Duration::MAX), now)
    }

    /// As [`Self::value`], returning to what is known to be usual by now in place of the prior.
    pub fn value_towards(&self, usual: Duration, now: Instant) -> Duration {
        let usual = usual.as_secs_f64();
        let seconds = usual + (self.value - usual) * fading(self.silence(now), FORGET);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    fn silence(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.at)
    }
}

/// The weight that is left to a past of this age.
fn fading(age: Duration, decay: Duration) -> f64 {
    (-age.as_secs_f64() / decay.as_secs_f64()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_slow_sample_is_believed_at_once_and_a_quick_one_by_and_by() {
        let start = Instant::now();
        let mut ewma = PeakEwma::new(SECOND, start);
        ewma.observe(SECOND * 6, start);
        assert_eq!(ewma.value(start), SECOND * 6);
        let later = start + DECAY;
        ewma.observe(SECOND, later);
        let expected = 6.0 * (-1.0f64).exp() + (1.0 - (-1.0f64).exp());
        assert!((ewma.value(later).as_secs_f64() - expected).abs() < 1e-6);
    }

    #[test]
    fn whoever_was_slow_is_tried_again_though_nobody_called_it() {
        let start = Instant::now();
        let mut ewma = PeakEwma::new(SECOND, start);
        ewma.observe(SECOND * 60, start);
        assert!(ewma.value(start + FORGET) < SECOND * 30);
        assert!(ewma.value(start + FORGET * 10) < SECOND * 2);
    }

    #[test]
    fn frequent_samples_are_not_dragged_towards_the_prior() {
        let start = Instant::now();
        let mut ewma = PeakEwma::new(SECOND, start);
        let at = |step: u32| start + Duration::from_millis(100) * step;
        for step in 0..5000 {
            ewma.observe(Duration::from_millis(200), at(step));
        }
        assert!(ewma.value(at(5000)) < Duration::from_millis(205));
    }

    #[test]
    fn in_silence_it_returns_to_what_is_usual() {
        let start = Instant::now();
        let mut ewma = PeakEwma::new(SECOND, start);
        ewma.observe(SECOND * 2, start);
        let usual = SECOND / 10;
        assert_eq!(ewma.value_towards(usual, start), SECOND * 2);
        assert!(ewma.value_towards(usual, start + FORGET * 10) < usual * 2);
    }

    proptest! {
        #[test]
        fn the_average_stays_between_what_was_seen(
            prior in 0u64..100_000,
            samples in prop::collection::vec((0u64..100_000, 0u64..600_000), 1..50),
        ) {
            let start = Instant::now();
            let (mut ewma, mut now) = (PeakEwma::new(Duration::from_millis(prior), start), start);
            let (mut least, mut most) = (prior, prior);
            for (sample, gap) in samples {
                now += Duration::from_millis(gap);
                ewma.observe(Duration::from_millis(sample), now);
                (least, most) = (least.min(sample), most.max(sample));
                let value = ewma.value(now).as_secs_f64() * 1e3;
                prop_assert!(value >= least as f64 - 1e-3 && value <= most as f64 + 1e-3);
                prop_assert!(value >= sample as f64 - 1e-3, "never below the newest sample");
            }
        }
    }
}
