//! How long a model is expected to take.

use crate::number::within;
use std::time::Duration;

/// As many samples as the catalogue's word weighs.
const PRIOR_SAMPLES: f64 = 20.0;
/// Nothing is faster to answer than this, so a target below it would only overflow.
const SHORTEST_TARGET: f64 = 1e-3;
/// So many calls must be seen before their slowest say something.
const ENOUGH_SAMPLES: f64 = 20.0;
/// How far beyond the 99th percentile the slowest answers are, times.
const TAIL: f64 = 2.0;
/// The least chance to be in time: late is bad, but lateness should not hide every other difference.
const LEAST_CHANCE: f64 = 1e-12;

/// How fast a model answers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Latency {
    /// What was measured of late.
    pub observed: Observed,
    /// What the catalogue says; `None` where it says nothing, and the target stands in for it.
    pub prior: Option<Pace>,
}

/// What was measured of a model's calls.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Observed {
    /// Median time of whole answers, per expected token.
    pub p50: Duration,
    /// 95th percentile of the same.
    pub p95: Duration,
    /// 99th percentile of the same.
    pub p99: Duration,
    /// Median pace of streams.
    pub pace: Pace,
    /// How many calls that is; a fraction where old calls fade.
    pub samples: f64,
    /// 99th percentile of the time to the first token of streams.
    pub first_token_p99: Duration,
    /// How many streams that is; likewise.
    pub streams: f64,
}

impl Observed {
    /// How long the first output of a stream takes at the 99th percentile. `None` where too few were seen to say.
    pub(crate) fn first_output_p99(&self) -> Option<Duration> {
        (self.streams >= ENOUGH_SAMPLES).then_some(self.first_token_p99)
    }
}

/// How a stream flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pace {
    /// Time to the first token.
    pub first_token: Duration,
    /// Time between two tokens.
    pub between_tokens: Duration,
}

impl Pace {
    fn seconds(self, tokens: f64) -> f64 {
        self.first_token.as_secs_f64() + tokens * self.between_tokens.as_secs_f64()
    }
}

/// What a request asks in terms of time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish {
    pub(crate) stream: bool,
    pub(crate) tokens: f64,
    pub(crate) target: Duration,
    pub(crate) time_left: Option<Duration>,
}

/// What is expected of a model for one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    /// Effective seconds: the tail counts, too.
    pub(crate) seconds: f64,
    /// Logarithm of the latency factor; finite where the factor itself would vanish.
    pub(crate) ln_factor: f64,
}

/// Few samples are drawn towards the catalogue's word: `(n l_observed + n0 l_prior) / (n + n0)`. The factor is
/// `exp(-l / target)`, times the chance to be done in time where there is a deadline.
pub(crate) fn expect(latency: &Latency, wish: &Wish) -> Expected {
    let target = wish.target.as_secs_f64().max(SHORTEST_TARGET);
    let prior = latency.prior.map_or(target, |pace| pace.seconds(wish.tokens));
    let observed = &latency.observed;
    let samples = within(observed.samples, 0.0, 1e9);
    let shrunk = |seconds: f64| (samples * seconds + PRIOR_SAMPLES * prior) / (samples + PRIOR_SAMPLES);
    let [p50, p95, p99] = [observed.p50, observed.p95, observed.p99]
        .map(|per_token| shrunk(wish.tokens * per_token.as_secs_f64()));
    let seconds = if wish.stream {
        shrunk(observed.pace.seconds(wish.tokens))
    } else {
        0.5 * p50 + 0.35 * p95 + 0.15 * p99
    };
    let chance = wish.time_left.map_or(1.0, |left| done_within(left.as_secs_f64(), [p50, p95, p99]));
    Expected { seconds, ln_factor: chance.max(LEAST_CHANCE).ln() - seconds / target }
}

/// Chance that an answer takes at most `limit` seconds, between the known percentiles on a straight line.
fn done_within(limit: f64, [p50, p95, p99]: [f64; 3]) -> f64 {
    let points = [(p50, 0.5), (p95.max(p50), 0.95), (p99.max(p95).max(p50), 0.99)];
    let (mut from, mut below) = (0.0, 0.0);
    for (to, share) in points {
        if limit < to {
            return below + (share - below) * (limit - from) / (to - from);
        }
        (from, below) = (to, share);
    }
    if limit >= from * TAIL { 1.0 } else { below + (1.0 - below) * (limit - from) / (from * (TAIL - 1.0)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn measured(samples: f64) -> Latency {
        let pace = Pace { first_token: millis(400), between_tokens: millis(10) };
        let observed = Observed {
            p50: millis(20),
            p95: millis(40),
            p99: millis(80),
            pace,
            samples,
            ..Observed::default()
        };
        Latency { observed, prior: Some(Pace { first_token: millis(1_000), between_tokens: millis(30) }) }
    }

    const WISH: Wish = Wish { stream: false, tokens: 100.0, target: millis(4_000), time_left: None };

    fn seconds(latency: Latency, wish: Wish) -> f64 {
        (expect(&latency, &wish).seconds * 1e4).round() / 1e4
    }

    #[test]
    fn few_samples_are_drawn_towards_the_catalogue_and_many_are_not() {
        // Measured: 100 tokens x (0.5 x 20 + 0.35 x 40 + 0.15 x 80) ms = 3.6 s; the catalogue says 1 s + 3 s.
        assert_eq!(seconds(measured(0.0), WISH), 4.0);
        assert_eq!(seconds(measured(20.0), WISH), 3.8);
        assert_eq!(seconds(measured(1e12), WISH), 3.6);
        assert_eq!(seconds(Latency::default(), WISH), 4.0);
    }

    #[test]
    fn a_stream_is_judged_by_its_first_token_and_its_flow() {
        assert_eq!(seconds(measured(1e12), Wish { stream: true, ..WISH }), 1.4);
    }

    #[test]
    fn a_deadline_lowers_the_factor_by_the_chance_to_miss_it() {
        let chance = |left| {
            let wish = Wish { time_left: Some(left), ..WISH };
            (expect(&measured(1e12), &wish).ln_factor - expect(&measured(1e12), &WISH).ln_factor).exp()
        };
        for (left, expected) in [(0, 0.0), (1_000, 0.25), (2_000, 0.5), (4_000, 0.95), (16_000, 1.0)] {
            assert!((chance(millis(left)) - expected).abs() < 1e-3, "{left} ms: {}", chance(millis(left)));
        }
    }

    #[test]
    fn extreme_measurements_stay_finite() {
        let extreme =
            Observed { p50: Duration::MAX, p95: Duration::ZERO, ..measured(f64::INFINITY).observed };
        for samples in [f64::NAN, f64::INFINITY, -1.0] {
            let latency = Latency { observed: Observed { samples, ..extreme }, prior: None };
            for left in [Duration::ZERO, Duration::MAX] {
                let wish = Wish { time_left: Some(left), target: Duration::ZERO, tokens: 4e9, ..WISH };
                assert!(expect(&latency, &wish).ln_factor.is_finite());
            }
        }
    }
}
