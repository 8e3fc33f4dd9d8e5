//! What the reports on one model amount to.

use super::{is_believed, report::Report};
use signalbox_resilience::{Counts, Sketch, Strike};
use signalbox_routing::{Candidate, Observed, Pace, Tally};
use std::time::{Duration, Instant};

/// The sum of all reports on a model, ready to be read by every request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Summary {
    /// When the last report came.
    heard_at: Instant,
    counts: Counts,
    observed: Observed,
    held_until: Option<Instant>,
    quota_left: Option<f64>,
    /// Since when the fleet asks it without being served.
    unserved_since: Option<Instant>,
}

impl Summary {
    /// The sum, unless there is nothing to add.
    pub(super) fn of<'a>(reports: impl Iterator<Item = &'a Report>) -> Option<Self> {
        let mut sum: Option<Sum> = None;
        for report in reports {
            sum.get_or_insert_with(|| Sum::new(report.heard_at)).add(report);
        }
        sum.map(Sum::summary)
    }

    pub(super) fn is_believed(&self, now: Instant) -> bool {
        is_believed(self.heard_at, now)
    }

    /// The share of calls that succeeded, as scores take it.
    pub(super) fn health(&self) -> f64 {
        self.counts.health()
    }

    /// Adds it to a candidate. `others_served_at`: when any model of the fleet last served.
    pub(super) fn describe(
        &self,
        candidate: &mut Candidate<'_>,
        others_served_at: Option<Instant>,
        now: Instant,
    ) {
        let ago = |at: Instant| now.saturating_duration_since(at);
        let counts = self.counts;
        candidate.health = Tally { good: to_f64(counts.served()), all: to_f64(counts.calls) };
        candidate.latency.observed = self.observed;
        candidate.weight *= Strike::weight(self.unserved_since.map(ago), others_served_at.map(ago));
        let held_for = self.held_until.map(|until| until.saturating_duration_since(now));
        let held_for = held_for.filter(|left| !left.is_zero());
        candidate.offer.held_for = candidate.offer.held_for.max(held_for);
        candidate.quota_left = least(candidate.quota_left, self.quota_left);
    }
}

/// Reports added up.
struct Sum {
    heard_at: Instant,
    counts: Counts,
    per_token: Sketch,
    first_token: Sketch,
    held_until: Option<Instant>,
    quota_left: Option<f64>,
    unserved_since: Option<Instant>,
    served_at: Option<Instant>,
}

impl Sum {
    fn new(heard_at: Instant) -> Self {
        Self {
            heard_at,
            counts: Counts::default(),
            per_token: Sketch::new(),
            first_token: Sketch::new(),
            held_until: None,
            quota_left: None,
            unserved_since: None,
            served_at: None,
        }
    }

    fn add(&mut self, report: &Report) {
        self.heard_at = self.heard_at.max(report.heard_at);
        self.counts.merge(report.counts);
        self.per_token.merge(&report.per_token);
        self.first_token.merge(&report.first_token);
        self.held_until = self.held_until.max(report.held_until);
        // All adapters use the same keys: the quota is one, and the least of what they saw is nearest to it.
        self.quota_left = least(self.quota_left, report.quota_left);
        self.unserved_since = [self.unserved_since, report.unserved_since].into_iter().flatten().min();
        self.served_at = self.served_at.max(report.served_at);
    }

    fn summary(self) -> Summary {
        Summary {
            heard_at: self.heard_at,
            counts: self.counts,
            observed: observed(&self.per_token, &self.first_token),
            held_until: self.held_until,
            quota_left: self.quota_left,
            // Whoever serves one adapter is not on strike because another had no luck.
            unserved_since: self.unserved_since.max(self.served_at.filter(|_| self.unserved_since.is_some())),
        }
    }
}

fn observed(per_token: &Sketch, first_token: &Sketch) -> Observed {
    let mut observed = Observed::default();
    if let Some(quantiles) = per_token.quantiles() {
        observed.p50 = quantiles.p50;
        observed.p95 = quantiles.p95;
        observed.p99 = quantiles.p99;
        observed.samples = to_f64(per_token.count());
        let first_token = first_token.quantile(0.5).unwrap_or(Duration::ZERO);
        observed.pace = Pace { first_token, between_tokens: quantiles.p50 };
    }
    observed.first_token_p99 = first_token.quantile(0.99).unwrap_or(Duration::ZERO);
    observed.streams = to_f64(first_token.count());
    observed
}

fn least(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::min)
}

#[expect(clippy::cast_precision_loss, reason = "counts of minutes are far below 2^52")]
fn to_f64(count: u64) -> f64 {
    count as f64
}
