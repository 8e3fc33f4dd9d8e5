//! How well a candidate suits a request: a weighted geometric mean, so that a factor near 0 vetoes.

use crate::{Breaker, Candidate, Demand, Quality, Standing, Tally, Weights, latency, number::within};
use signalbox_types::Money;
use std::f64::consts::LN_2;

/// An evaluation weighs as much as this many answers.
const QUALITY_PRIOR_WEIGHT: f64 = 50.0;
/// Quality of a model that was never evaluated.
const QUALITY_UNKNOWN: f64 = 0.5;
/// Quota matters once less than this share is left.
const QUOTA_SCARCE: f64 = 0.2;
/// No factor is smaller, so that vetoed candidates still differ by their other factors.
const LEAST_FACTOR: f64 = 1e-12;

/// The factors of a score, each 0 to 1, larger is better.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Factors {
    /// `1 / (1 + cost / reference)`.
    pub cost: f64,
    /// `exp(-latency / target)`, times the chance to be done in time.
    pub latency: f64,
    /// Square of `(successes + 1) / (calls + 2)`.
    pub health: f64,
    /// Expected share of good answers.
    pub quality: f64,
    /// 1 down to the last fifth of the quota, then straight to 0.
    pub quota: f64,
}

impl Factors {
    /// Each with its name, in the order of [`Weights::named`].
    pub fn named(&self) -> [(&'static str, f64); 5] {
        [
            ("cost", self.cost),
            ("latency", self.latency),
            ("health", self.health),
            ("quality", self.quality),
            ("quota", self.quota),
        ]
    }
}

/// How a candidate was judged.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rating {
    /// What went into the score.
    pub factors: Factors,
    /// What operator and tenant make of it: the score is multiplied by this, 1/64 to 64.
    pub preference: f64,
    /// What rate limits and strikes leave of it, 0 to 1.
    pub weight: f64,
    /// `preference x weight x product of factor ^ its weight`.
    pub score: f64,
    /// Probability of being drawn first, before the load decides between the two drawn.
    pub draw_probability: f64,
    /// Logarithm of the score: tells candidates apart whose score is too small for a float.
    pub(crate) ln_score: f64,
    /// How busy it is for its part of the traffic, for comparison.
    pub(crate) pressure: f64,
    /// How many times as high its pressure may be by chance.
    pub(crate) scatter: f64,
    /// Seconds that a token is expected to take.
    pub(crate) per_token: f64,
    /// How many times as slow as expected it is just now, at least 1.
    pub(crate) slowness: f64,
    /// Calls under way.
    pub(crate) in_flight: f64,
    /// Well enough to be explored.
    pub(crate) healthy: bool,
    /// When its turn comes.
    pub(crate) standing: Standing,
    /// Takes part in the draw: nobody's turn comes before its own.
    pub(crate) competes: bool,
}

/// Judges the candidates of one request.
#[derive(Debug)]
pub(crate) struct Scorer<'a> {
    demand: &'a Demand<'a>,
    weights: Weights,
    /// Cost in nano-EUR at which half the factor is lost.
    reference: f64,
    /// What an unknown price counts as: the dearest of the known, at least the reference.
    unknown: f64,
}

impl<'a> Scorer<'a> {
    /// `eligible` holds the indices of those who compete; their order is lost.
    pub(crate) fn new(
        demand: &'a Demand<'a>,
        weights: Weights,
        candidates: &[Candidate<'_>],
        eligible: &mut [usize],
    ) -> Self {
        let cost = |index: &usize| candidates.get(*index).and_then(|candidate| candidate.cost);
        let dearest = eligible.iter().filter_map(cost).max().map_or(0.0, nanos);
        let reference = demand.reference_cost.or_else(|| median(eligible, cost));
        let reference = reference.map_or(1.0, nanos).max(1.0);
        Self { demand, weights, reference, unknown: dearest.max(reference) }
    }

    pub(crate) fn rate(&self, candidate: &Candidate<'_>) -> Rating {
        let wish = self.demand.wish();
        let expected = latency::expect(&candidate.latency, &wish);
        let health = success_rate(candidate);
        let factors = Factors {
            cost: self.cost(candidate.cost),
            latency: expected.ln_factor.exp(),
            health: health * health,
            quality: quality(&candidate.quality),
            quota: candidate.quota_left.map_or(1.0, |left| within(left / QUOTA_SCARCE, 0.0, 1.0)),
        };
        let power = preference(candidate.priority) + preference(candidate.preference);
        let weight = if self.weights == Weights::NONE { 1.0 } else { what_is_left(candidate.weight) };
        let per_token = expected.seconds / wish.tokens;
        let ln_score = power * LN_2 + weight.ln() + self.ln_mean(&factors, expected.ln_factor);
        Rating {
            factors,
            preference: power.exp2(),
            weight,
            score: ln_score.exp(),
            draw_probability: 0.0,
            ln_score,
            pressure: 0.0,
            scatter: 0.0,
            per_token,
            slowness: candidate.load.slowness(per_token, wish.tokens),
            in_flight: f64::from(candidate.load.in_flight),
            healthy: health >= 0.5,
            standing: candidate.offer.standing,
            competes: false,
        }
    }

    fn cost(&self, cost: Option<Money>) -> f64 {
        self.reference / (self.reference + cost.map_or(self.unknown, nanos))
    }

    fn ln_mean(&self, factors: &Factors, ln_latency: f64) -> f64 {
        let ln = |factor: f64| factor.max(LEAST_FACTOR).ln();
        self.weights.cost * ln(factors.cost)
            + self.weights.latency * ln_latency
            + self.weights.health * ln(factors.health)
            + self.weights.quality * ln(factors.quality)
            + self.weights.quota * ln(factors.quota)
    }
}

/// The lower median of the known costs, by partial sorting in place.
fn median(eligible: &mut [usize], cost: impl Fn(&usize) -> Option<Money>) -> Option<Money> {
    let known = eligible.iter().filter(|index| cost(index).is_some()).count();
    // Unknown ones come first.
    let middle = eligible.len() - known + known.checked_sub(1)? / 2;
    let (_, index, _) = eligible.select_nth_unstable_by_key(middle, &cost);
    cost(index)
}

fn success_rate(candidate: &Candidate<'_>) -> f64 {
    let seen = match candidate.breaker {
        Breaker::HalfOpen(_) => Tally::default(),
        _ => candidate.health,
    };
    seen.share(0.5, 2.0)
}

fn quality(quality: &Quality) -> f64 {
    let prior = quality.prior.filter(|prior| !prior.is_nan()).unwrap_or(QUALITY_UNKNOWN);
    quality.passed.share(prior.clamp(0.0, 1.0), QUALITY_PRIOR_WEIGHT)
}

fn preference(power: f64) -> f64 {
    if power.is_nan() { 0.0 } else { power.clamp(-3.0, 3.0) }
}

fn what_is_left(weight: f64) -> f64 {
    if weight.is_nan() { 1.0 } else { weight.clamp(LEAST_FACTOR, 1.0) }
}

#[expect(clippy::cast_precision_loss, reason = "costs are compared, not added up")]
fn nanos(cost: Money) -> f64 {
    cost.nano_eur().max(0) as f64
}
