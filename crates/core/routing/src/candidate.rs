//! What a request asks, and how things stand with each model that could serve it.

use crate::{
    Access, Exclusion, Latency, Needs, Offer, Refused, Standing, latency::Wish, number::within, offer::unfit,
};
use signalbox_types::{Money, Tier};
use std::{sync::Arc, time::Duration};

/// What a request asks of a plan.
#[derive(Debug, Clone, Copy)]
pub struct Demand<'a> {
    /// What a model must be able to do and hold.
    pub needs: Needs,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// Tokens that the answer is expected to have.
    pub expected_tokens: u32,
    /// How long an answer of this kind should take.
    pub target: Duration,
    /// Time left to the deadline, if there is one.
    pub time_left: Option<Duration>,
    /// How long the first useful output may take at the 99th percentile: the first token of a stream, else the whole
    /// answer. Slower candidates are left out as long as another remains that is no last resort.
    pub first_output_ceiling: Option<Duration>,
    /// What such a request usually costs; half the cost factor is lost there. `None` is the median of the eligible
    /// candidates, so that who else is eligible then changes the scores.
    pub reference_cost: Option<Money>,
    /// What the tenant may use.
    pub access: Access<'a>,
    /// What narrows that further, from elsewhere.
    pub narrower: Access<'a>,
    /// The tiers that the tenant may use; empty for any, also none.
    pub allowed_tiers: &'a [Tier],
    /// Leave out models whose price is unknown, whatever the budget.
    pub known_price: bool,
    /// The tiers that the budget leaves open; empty for any, also none.
    pub tiers: &'a [Tier],
    /// What the budget leaves for this request; `None` without a limit.
    pub allowance: Option<Money>,
}

impl Demand<'_> {
    /// A request that needs this and sets no limits: not streamed, 256 tokens expected within 10 s.
    pub fn new(needs: Needs) -> Self {
        Self {
            needs,
            stream: false,
            expected_tokens: 256,
            target: Duration::from_secs(10),
            time_left: None,
            first_output_ceiling: None,
            reference_cost: None,
            access: Access::default(),
            narrower: Access::default(),
            allowed_tiers: &[],
            known_price: false,
            tiers: &[],
            allowance: None,
        }
    }

    pub(crate) fn wish(&self) -> Wish {
        let tokens = f64::from(self.expected_tokens.max(1));
        Wish { stream: self.stream, tokens, target: self.target, time_left: self.time_left }
    }

    /// Why a candidate is left out, what lasts before what passes. `draw` decides for a recovering one.
    pub(crate) fn exclusion(
        &self,
        candidate: &Candidate<'_>,
        draw: &mut impl FnMut() -> f64,
    ) -> Option<Exclusion> {
        let offer = &candidate.offer;
        unfit(&self.needs, offer)
            .or_else(|| self.access.exclusion(offer.model, candidate.labels))
            .or_else(|| self.narrower.exclusion(offer.model, candidate.labels))
            .or_else(|| self.beyond_tenant(candidate))
            .or_else(|| self.beyond_budget(candidate))
            .or_else(|| offer.held_for.map(Exclusion::HeldBack))
            .or_else(|| candidate.refused.map(Exclusion::Refused))
            .or_else(|| candidate.breaker.exclusion(draw))
    }

    /// Why an eligible candidate is too slow for the ceiling on the first output of a stream. A last resort never is.
    pub(crate) fn too_slow(&self, candidate: &Candidate<'_>) -> Option<Exclusion> {
        let ceiling = self.first_output_ceiling?;
        let slowest = candidate.latency.observed.first_output_p99().filter(|_| self.stream)?;
        (slowest > ceiling && candidate.offer.standing != Standing::LastResort)
            .then_some(Exclusion::TooSlow { p99: slowest, ceiling })
    }

    fn beyond_tenant(&self, candidate: &Candidate<'_>) -> Option<Exclusion> {
        if !is_among(candidate.tier, self.allowed_tiers) {
            return Some(Exclusion::TierNotAllowed(candidate.tier));
        }
        (self.known_price && candidate.ceiling.is_none()).then_some(Exclusion::PriceUnknown)
    }

    fn beyond_budget(&self, candidate: &Candidate<'_>) -> Option<Exclusion> {
        if !is_among(candidate.tier, self.tiers) {
            return Some(Exclusion::TierClosed(candidate.tier));
        }
        match (candidate.ceiling, self.allowance?) {
            (Some(ceiling), allowance) if ceiling > allowance => {
                Some(Exclusion::TooDear { ceiling, allowance })
            }
            (Some(_), _) => None,
            (None, _) => Some(Exclusion::PriceUnknown),
        }
    }
}

/// Whether a tier is in a list, where an empty one has all, also no tier.
fn is_among(tier: Option<Tier>, tiers: &[Tier]) -> bool {
    tiers.is_empty() || tier.is_some_and(|tier| tiers.contains(&tier))
}

/// A model that could serve the request, and how things stand with it now.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// The model and what is known of it for good.
    pub offer: Offer<'a>,
    /// Its tier.
    pub tier: Option<Tier>,
    /// What it may be used for, as the tenants' data policies name it.
    pub labels: &'a [Arc<str>],
    /// What this request is expected to cost; `None` where its price is unknown.
    pub cost: Option<Money>,
    /// What this request costs at most.
    pub ceiling: Option<Money>,
    /// How fast it answers.
    pub latency: Latency,
    /// Calls of the last minutes that succeeded; a timeout is a failure, a 429 and a cancelled call are neither.
    pub health: Tally,
    /// How good its answers are for this task.
    pub quality: Quality,
    /// Share of its vendor's quota that is left, 0 to 1, of the scarcest kind; `None` where there is no quota.
    pub quota_left: Option<f64>,
    /// What its vendor refuses us until someone mends it.
    pub refused: Option<Refused>,
    /// Whether it is let through.
    pub breaker: Breaker,
    /// The operator's preference: a power of two on the score, -3 to 3.
    pub priority: f64,
    /// The tenant's, likewise.
    pub preference: f64,
    /// What rate limits and strikes leave of its score, 0 to 1.
    pub weight: f64,
    /// How busy it is.
    pub load: Load,
}

impl<'a> Candidate<'a> {
    /// The same without anything of how it did lately: as if all were well.
    #[must_use]
    pub fn as_if_well(self) -> Self {
        let offer = Offer { held_for: None, ..self.offer };
        let latency = Latency { prior: self.latency.prior, ..Latency::default() };
        let quality = Quality { prior: self.quality.prior, ..Quality::default() };
        let Self { tier, labels, cost, ceiling, priority, preference, .. } = self;
        Self { tier, labels, cost, ceiling, priority, preference, latency, quality, ..Self::new(offer) }
    }

    /// An offer of which nothing else is known.
    pub fn new(offer: Offer<'a>) -> Self {
        Self {
            offer,
            tier: None,
            labels: &[],
            cost: None,
            ceiling: None,
            latency: Latency::default(),
            health: Tally::default(),
            quality: Quality::default(),
            quota_left: None,
            refused: None,
            breaker: Breaker::Closed,
            priority: 0.0,
            preference: 0.0,
            weight: 1.0,
            load: Load::default(),
        }
    }
}

/// How many of how many; fractions where old ones fade.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tally {
    /// Went well.
    pub good: f64,
    /// All of them.
    pub all: f64,
}

impl Tally {
    /// The share that went well, as if `weight` more had been seen of which the share `prior` went well.
    pub(crate) fn share(self, prior: f64, weight: f64) -> f64 {
        let all = within(self.all, 0.0, 1e12);
        let good = within(self.good, 0.0, all);
        (good + weight * prior) / (all + weight)
    }
}

/// How good a model's answers are.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Quality {
    /// Share of good answers when it was evaluated; `None` where it was not.
    pub prior: Option<f64>,
    /// Answers since then that passed the quality gate.
    pub passed: Tally,
}

/// Whether calls to a model are let through.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Breaker {
    /// All.
    #[default]
    Closed,
    /// None, for this much longer.
    Open(Duration),
    /// This share of them, 0 to 1. What failed before is not held against it: the share limits the harm, and a
    /// vendor that is never drawn would never be seen to have recovered.
    HalfOpen(f64),
}

impl Breaker {
    fn exclusion(self, draw: &mut impl FnMut() -> f64) -> Option<Exclusion> {
        match self {
            Self::Closed => None,
            Self::Open(left) => Some(Exclusion::BreakerOpen(left)),
            Self::HalfOpen(share) if draw() < share => None,
            Self::HalfOpen(share) => Some(Exclusion::Recovering { percent: percent(share) }),
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100 by then")]
fn percent(share: f64) -> u8 {
    (within(share, 0.0, 1.0) * 100.0) as u8
}

/// A delay in seconds that nobody notices: of two answers within it neither is slow, however many times as slow.
const UNNOTICED: f64 = 0.1;

/// How busy a model is, as seen from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Load {
    /// Peak-sensitive moving average of the time per expected token; `None` before the first call.
    pub peak: Option<Duration>,
    /// Calls under way.
    pub in_flight: u32,
}

impl Load {
    /// How many times as slow as expected an answer of so many tokens is just now. To be faster says nothing, and
    /// neither does silence: 1.
    pub(crate) fn slowness(&self, expected_per_token: f64, tokens: f64) -> f64 {
        let peak = self.peak.map_or(0.0, |peak| peak.as_secs_f64());
        ((peak * tokens + UNNOTICED) / (expected_per_token * tokens + UNNOTICED)).clamp(1.0, 1e6)
    }
}
