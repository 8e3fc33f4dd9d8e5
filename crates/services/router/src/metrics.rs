//! Requests as metrics.

use prometheus::{HistogramVec, IntCounterVec, IntGaugeVec};
use signalbox_api::status::from_status;
use signalbox_kit::telemetry::metrics;
use signalbox_resilience::BreakerState;
use signalbox_types::ModelRef;
use std::sync::LazyLock;
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
static FALLBACKS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_attempt_failures_total",
        "Attempts that failed and were followed by another, by vendor and reason.",
        &["vendor", "reason"],
    )
});

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

/// An attempt failed and another follows.
pub(crate) fn attempt_failed(vendor: &str, reason: &str) {
    FALLBACKS.with_label_values(&[vendor, reason]).inc();
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
