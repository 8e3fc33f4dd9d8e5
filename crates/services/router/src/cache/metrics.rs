//! What routers see of the cache. What it does inside it counts itself.

use prometheus::{HistogramVec, IntCounterVec};
use signalbox_api::v1::cache_effect::Outcome;
use signalbox_kit::telemetry::metrics;
use std::sync::LazyLock;
use tokio::time::Instant;

static REQUESTS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_router_cache_requests_total",
        "Requests by how they met the cache: exact_hit, normalized_hit, semantic_hit, coalesced, miss, bypass, or that it \
         did not answer: timeout, unavailable.",
        &["outcome"],
    )
});
static LOOKUPS: LazyLock<HistogramVec> = LazyLock::new(|| {
    metrics::seconds(
        "signalbox_router_cache_lookup_seconds",
        "Time that requests spent on lookups, without waiting for identical ones.",
        &[],
    )
});
static STORES: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_router_cache_stores_total",
        "Answers by whether they were kept: stored, refused by the cache, failed on the way to it, or dropped because too \
         many were under way.",
        &["result"],
    )
});
static UNFIT: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_router_cache_unfit_hits_total",
        "Answers that were found and not given: the tenant may not use their model any more, or a simulated vendor made \
         them and is real now.",
        &[],
    )
});

/// A request met the cache.
pub(super) fn met(outcome: Outcome) {
    let name = match outcome {
        Outcome::Unspecified => return,
        Outcome::Miss => "miss",
        Outcome::ExactHit => "exact_hit",
        Outcome::NormalizedHit => "normalized_hit",
        Outcome::SemanticHit => "semantic_hit",
        Outcome::Bypass => "bypass",
        Outcome::Coalesced => "coalesced",
    };
    REQUESTS.with_label_values(&[name]).inc();
}

/// The cache did not answer.
pub(super) fn silent(how: &str) {
    REQUESTS.with_label_values(&[how]).inc();
}

/// An answer was kept, or why not.
pub(super) fn stored(result: &str) {
    STORES.with_label_values(&[result]).inc();
}

/// An answer was found that must not be given.
pub(super) fn unfit() {
    UNFIT.with_label_values::<&str>(&[]).inc();
}

/// Times a lookup.
pub(super) struct LookupTimer(Instant);

impl LookupTimer {
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    pub(super) fn ended(self) {
        LOOKUPS.with_label_values::<&str>(&[]).observe(self.0.elapsed().as_secs_f64());
    }
}

pub(crate) fn register() {
    let outcomes = [
        "exact_hit",
        "normalized_hit",
        "semantic_hit",
        "coalesced",
        "miss",
        "bypass",
        "timeout",
        "unavailable",
    ];
    metrics::from_zero(&REQUESTS, &outcomes);
    metrics::from_zero(&STORES, &["stored", "refused", "failed", "dropped"]);
    metrics::from_zero(&UNFIT, &[]);
    LazyLock::force(&LOOKUPS);
}
