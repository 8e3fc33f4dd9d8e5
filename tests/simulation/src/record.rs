//! What came of a run.

use crate::{policies::Policy, scenario::Scenario, world::Second};
use signalbox_types::ErrorReason;
use std::{ops::Range, sync::Arc, time::Duration};

/// A request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// Which one; the first is 1.
    pub number: u64,
    /// When it came.
    pub at: Duration,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The request.
    pub ask: Ask,
    /// How long it took.
    pub latency: Duration,
    /// Who served it, or why nobody did.
    pub result: Result<Served, ErrorReason>,
}

/// A request that was served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// Index of the vendor.
    pub vendor: usize,
    /// What all its attempts cost.
    pub nano_eur: i64,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Who served.
    pub policy: Policy,
    /// Every request, in the order in which they came.
    pub outcomes: Vec<Outcome>,
    /// For each vendor, what it saw in every second.
    pub seconds: Vec<Vec<Second>>,
    /// For every second, the probability with which each vendor was drawn; empty for policies that draw nothing.
    pub targets: Vec<Vec<f64>>,
}

impl Record {
    /// The requests that came in a span of time.
    pub fn within(&self, span: Range<Duration>) -> &[Outcome] {
        let place = |moment| self.outcomes.partition_point(|outcome| outcome.ask.at < moment);
        let (from, to) = (place(span.start), place(span.end));
        self.outcomes.get(from..to.max(from)).unwrap_or_default()
    }

    /// Calls to a vendor that began in a span of whole seconds.
    pub fn calls(&self, vendor: usize, span: Range<u64>) -> u64 {
        self.sum(vendor, span, |second| second.calls)
    }

    /// The sum of what a vendor saw in a span of whole seconds.
    pub fn sum(&self, vendor: usize, span: Range<u64>, of: impl Fn(&Second) -> u64) -> u64 {
        let seconds = self.seconds.get(vendor).map(Vec::as_slice).unwrap_or_default();
        let at = |second: u64| usize::try_from(second).ok().and_then(|second| seconds.get(second));
        span.filter_map(at).map(of).sum()
    }

    /// The share of all calls in a span of whole seconds that went to a vendor.
    pub fn share(&self, vendor: usize, span: Range<u64>) -> f64 {
        let all: u64 = (0..self.seconds.len()).map(|vendor| self.calls(vendor, span.clone())).sum();
        self.calls(vendor, span) as f64 / all.max(1) as f64
    }

    /// The mean probability with which a vendor was drawn in a span of whole seconds.
    pub fn target(&self, vendor: usize, span: Range<usize>) -> f64 {
        let seconds = self.targets.get(span).unwrap_or_default();
        let sum: f64 = seconds.iter().filter_map(|targets| targets.get(vendor)).sum();
        sum / seconds.len().max(1) as f64
    }

    /// Calls to vendors for each request.
    pub fn calls_per_request(&self) -> f64 {
        let calls: u64 = self.seconds.iter().flatten().map(|second| second.calls).sum();
        calls as f64 / self.outcomes.len().max(1) as f64
    }
}

/// The share of requests that were served.
pub fn success(outcomes: &[Outcome]) -> f64 {
    let served = outcomes.iter().filter(|outcome| outcome.result.is_ok()).count();
    if outcomes.is_empty() { 1.0 } else { served as f64 / outcomes.len() as f64 }
}

/// The time that this share of the served requests took at most.
pub fn latency(outcomes: &[Outcome], share: f64) -> Duration {
    let served = outcomes.iter().filter(|outcome| outcome.result.is_ok());
    quantile(served.map(|outcome| outcome.latency).collect(), share)
}

/// As [`latency`], of what was added to the own time of the vendor that served: failures, waiting, its load, its
/// troubles.
pub fn added_latency(outcomes: &[Outcome], scenario: &Arc<Scenario>, share: f64) -> Duration {
    let added = |outcome: &Outcome| {
        let own = scenario.own_time(outcome.result.ok()?.vendor, outcome.ask.number);
        Some(outcome.latency.saturating_sub(own))
    };
    quantile(outcomes.iter().filter_map(added).collect(), share)
}

fn quantile(mut times: Vec<Duration>, share: f64) -> Duration {
    let last = times.len().saturating_sub(1);
    let place = ((share * last as f64).round() as usize).min(last);
    if times.is_empty() { Duration::ZERO } else { *times.select_nth_unstable(place).1 }
}

/// What a thousand served requests cost, in EUR.
pub fn cost_per_thousand(outcomes: &[Outcome]) -> f64 {
    let costs: Vec<_> = outcomes.iter().filter_map(|outcome| Some(outcome.result.ok()?.nano_eur)).collect();
    costs.iter().sum::<i64>() as f64 / 1e6 / costs.len().max(1) as f64
}
