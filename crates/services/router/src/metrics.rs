//! Requests as metrics.

mod refusing;
mod tenants;

pub(crate) use refusing::refused as budget_refused;
pub(crate) use tenants::ended as tenants_request_ended;

use prometheus::{GaugeVec, HistogramVec, IntCounterVec, IntGaugeVec};
use signalbox_api::status::from_status;
use signalbox_kit::telemetry::metrics;
use signalbox_resilience::BreakerState;
use signalbox_types::ModelRef;
use std::{sync::LazyLock, time::Duration};
use tokio::time::Instant;
use tonic::Status;

static REQUESTS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_requests_total",
        "Requests by outcome: ok, cancelled, or the error's reason.",
        &["method", "outcome"],
    )
});
static LATENCY: LazyLock<HistogramVec> = LazyLock::new(|| {
    metrics::seconds(
        "signalbox_request_duration_seconds",
        "Time from a request's arrival to the end of its answer.",
        &["method"],
    )
});
static ATTEMPT_FAILURES: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_attempt_failures_total",
        "Attempts that failed, whether another followed or not, by vendor and reason.",
        &["vendor", "reason"],
    )
});
static HEDGES: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_hedges_total",
        "Second calls made beside a silent first one, by how they ended: won, lost, failed, or took over from a first \
         one that failed.",
        &["vendor", "outcome"],
    )
});

/// A hedge has ended.
pub(crate) fn hedge_ended(vendor: &str, outcome: &'static str) {
    HEDGES.with_label_values(&[vendor, outcome]).inc();
}

static FELL_BACK: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_fallbacks_total",
        "Requests that another candidate answered than the one asked first, by the first one's vendor and why it did not \
         serve; CANCELLED where a hedge was faster.",
        &["vendor", "reason"],
    )
});
static LEFT_OUT: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_candidates_left_out_total",
        "Candidates of requests that were not asked at all, by vendor and why: breaker_open, held_back, too_dear and so on.",
        &["vendor", "reason"],
    )
});

/// Another candidate served than the one asked first.
pub(crate) fn fell_back(vendor: &str, reason: &str) {
    FELL_BACK.with_label_values(&[vendor, reason]).inc();
}

/// A candidate was not asked at all.
pub(crate) fn left_out(vendor: &str, why: &str) {
    LEFT_OUT.with_label_values(&[vendor, why]).inc();
}

/// Counts a request when it ends, however it ends.
#[derive(Debug)]
pub(crate) struct RequestTimer {
    method: &'static str,
    started: Instant,
    outcome: &'static str,
}

impl RequestTimer {
    pub(crate) fn start(method: &'static str, started: Instant) -> Self {
        Self { method, started, outcome: "cancelled" }
    }

    /// The request was answered.
    pub(crate) fn answered(mut self) {
        self.outcome = "ok";
    }

    /// The request failed.
    pub(crate) fn failed(mut self, status: &Status) {
        self.outcome = from_status(status).reason.name();
    }
}

impl Drop for RequestTimer {
    fn drop(&mut self) {
        REQUESTS.with_label_values(&[self.method, self.outcome]).inc();
        LATENCY.with_label_values(&[self.method]).observe(self.started.elapsed().as_secs_f64());
    }
}

/// An attempt failed, whether or not another follows.
pub(crate) fn attempt_failed(vendor: &str, reason: &str) {
    ATTEMPT_FAILURES.with_label_values(&[vendor, reason]).inc();
}

static BREAKER: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_breaker_open",
        "1 while a model is left alone or recovering because it failed too often.",
        &["vendor", "model"],
    )
});

/// Tells in log and metrics when a breaker opens, lets a share through, or closes.
pub(crate) fn breaker_moved(model: &ModelRef, before: BreakerState, after: BreakerState) {
    let gauge = |open| BREAKER.with_label_values(&[&*model.vendor, &*model.model]).set(open);
    match (before, after) {
        (BreakerState::Open { .. }, _) => {}
        (_, BreakerState::Open { left }) => {
            gauge(1);
            let seconds = left.as_secs_f64();
            tracing::warn!(%model, "breaker open: failed too often, left alone for {seconds:.0} s");
        }
        (BreakerState::HalfOpen { .. }, BreakerState::Ramp { .. }) => {
            tracing::info!(%model, "breaker: the probe succeeded, a growing share of calls is let through");
        }
        (BreakerState::Ramp { .. }, BreakerState::Closed) => {
            gauge(0);
            tracing::info!(%model, "breaker closed: recovered");
        }
        _ => {}
    }
}

static HELD: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_vendor_held",
        "Models of a vendor that are left alone because of this; 1 for a refused key or an exhausted account.",
        &["vendor", "reason"],
    )
});

/// How many models are held.
pub(crate) fn held(vendor: &str, reason: &str, count: i64) {
    HELD.with_label_values(&[vendor, reason]).set(count);
}

/// Tells that a model is left alone until someone mends it, or its quota is whole again.
pub(crate) fn model_held(model: &ModelRef, why: &str, wait: Duration) {
    tracing::warn!(%model, "left alone for {:.0} s: {why}", wait.as_secs_f64());
}

/// Tells loudly that a whole vendor is left alone until someone mends it, where a new hold begins.
pub(crate) fn vendor_held(model: &ModelRef, why: &str, wait: Option<Duration>) {
    if let Some(wait) = wait {
        let vendor = &*model.vendor;
        tracing::error!(vendor, "all its models are left alone for {:.0} s: {why}", wait.as_secs_f64());
    }
}

static HEALTH: LazyLock<GaugeVec> = LazyLock::new(|| {
    metrics::number(
        "signalbox_model_health",
        "Share of a model's calls of the last five minutes that succeeded in the whole fleet, as scores take it.",
        &["vendor", "model"],
    )
});
static REPORTS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_health_reports_total",
        "Reports of adapters on the health of models, by result: taken or refused.",
        &["result"],
    )
});

/// How healthy the fleet sees a model.
pub(crate) fn model_health(model: &ModelRef, health: f64) {
    HEALTH.with_label_values(&[&*model.vendor, &*model.model]).set(health);
}

/// Nobody reports on a model any more.
pub(crate) fn model_unknown(model: &ModelRef) {
    // One that was never set is as good.
    let _unset = HEALTH.remove_label_values(&[&*model.vendor, &*model.model]);
}

/// A report came.
pub(crate) fn health_report(taken: bool) {
    REPORTS.with_label_values(&[if taken { "taken" } else { "refused" }]).inc();
}

static DRILLS: LazyLock<IntGaugeVec> =
    LazyLock::new(|| metrics::gauge("signalbox_drill_running", "Drills that inject faults now.", &[]));
static DRILL_HITS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_drill_calls_hit_total",
        "Vendor calls that a drill injected a fault into, by the vendor called.",
        &["vendor"],
    )
});

static THRIFT: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_budget_thrift_total",
        "Requests that a budget did not pay for as they were asked, by what was done: downgraded, free_only or refused.",
        &["done"],
    )
});

/// A budget does not pay for a request as it was asked.
pub(crate) fn thrift(done: &str) {
    THRIFT.with_label_values(&[done]).inc();
}

static UNACCOUNTED: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_requests_unaccounted_total",
        "Requests refused before any vendor call and left out of the accounts because the usage log was full.",
        &[],
    )
});

/// A request that was refused is left out of the accounts.
pub(crate) fn unaccounted() {
    UNACCOUNTED.with_label_values::<&str>(&[]).inc();
}

/// How many drills inject faults now.
pub(crate) fn drills_running(count: usize) {
    DRILLS.with_label_values::<&str>(&[]).set(i64::try_from(count).unwrap_or(i64::MAX));
}

/// A drill has hit a call.
pub(crate) fn drill_hit(vendor: &str) {
    DRILL_HITS.with_label_values(&[vendor]).inc();
}

pub(crate) fn register() {
    metrics::from_zero(&THRIFT, &["downgraded", "free_only", "refused"]);
    metrics::from_zero(&UNACCOUNTED, &[]);
    metrics::from_zero(&REPORTS, &["taken", "refused"]);
    for counter in [&REQUESTS, &ATTEMPT_FAILURES, &HEDGES, &FELL_BACK, &LEFT_OUT, &DRILL_HITS] {
        LazyLock::force(counter);
    }
    for gauge in [&BREAKER, &HELD, &DRILLS] {
        LazyLock::force(gauge);
    }
    LazyLock::force(&LATENCY);
    LazyLock::force(&HEALTH);
    refusing::register();
    tenants::register();
}
