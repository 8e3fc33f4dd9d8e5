//! Vendor calls as metrics.

use super::metrics;
use prometheus::{HistogramVec, IntCounterVec};
use signalbox_ports::{CallOutcome, CallRecord, CallSink};
use signalbox_types::{ErrorReason, UsageSource};
use std::sync::LazyLock;

static CALLS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_vendor_calls_total",
        "Vendor calls by outcome: ok, cancelled, or the error's reason.",
        &["vendor", "model", "outcome"],
    )
});
static LATENCY: LazyLock<HistogramVec> = LazyLock::new(|| {
    metrics::seconds(
        "signalbox_vendor_call_duration_seconds",
        "Time from the start of a vendor call to its end.",
        &["vendor", "model"],
    )
});
static FIRST_TOKEN: LazyLock<HistogramVec> = LazyLock::new(|| {
    metrics::seconds(
        "signalbox_vendor_first_token_seconds",
        "Time from the start of a streamed vendor call to its first content.",
        &["vendor", "model"],
    )
});
static TOKENS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_tokens_total",
        "Tokens by disjoint kind, and whether the vendor counted them or Signalbox estimated them.",
        &["vendor", "model", "kind", "source"],
    )
});
static COST: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_cost_nano_eur_total",
        "Cost of vendor calls in nano-EUR.",
        &["vendor", "model"],
    )
});
static COST_UNKNOWN: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_cost_unknown_total",
        "Vendor calls whose cost is not known.",
        &["vendor", "model"],
    )
});

pub(super) fn register() {
    for counter in [&CALLS, &TOKENS, &COST, &COST_UNKNOWN] {
        LazyLock::force(counter);
    }
    for histogram in [&LATENCY, &FIRST_TOKEN] {
        LazyLock::force(histogram);
    }
}

/// Counts every call.
#[derive(Debug, Clone, Copy, Default)]
pub struct CallMetrics;

impl CallSink for CallMetrics {
    fn record(&self, record: CallRecord) {
        let labels = [&*record.target.vendor, &*record.target.model];
        let outcome = match record.outcome {
            CallOutcome::Answered => "ok",
            CallOutcome::Cancelled => "cancelled",
            CallOutcome::Failed(reason) => reason.name(),
        };
        if let Some(latency) = record.latency {
            CALLS.with_label_values(&[labels[0], labels[1], outcome]).inc();
            LATENCY.with_label_values(&labels).observe(latency.as_secs_f64());
        }
        if let Some(first_token) = record.time_to_first_token {
            FIRST_TOKEN.with_label_values(&labels).observe(first_token.as_secs_f64());
        }
        count_tokens(&record, labels);
        match record.cost {
            Some(cost) => COST.with_label_values(&labels).inc_by(u64::try_from(cost.nano_eur()).unwrap_or(0)),
            None => COST_UNKNOWN.with_label_values(&labels).inc(),
        }
        log(&record);
    }
}

fn count_tokens(record: &CallRecord, [vendor, model]: [&str; 2]) {
    let source = match record.usage.source {
        UsageSource::Unknown => return,
        UsageSource::Vendor => "vendor",
        UsageSource::Estimated => "estimated",
    };
    let kinds = [
        ("input", record.usage.input),
        ("cache_read", record.usage.cache_read),
        ("cache_write", record.usage.cache_write.saturating_add(record.usage.cache_write_1h)),
        ("output", record.usage.output),
        ("reasoning", record.usage.reasoning),
    ];
    for (kind, tokens) in kinds.into_iter().filter(|(_, tokens)| *tokens > 0) {
        TOKENS.with_label_values(&[vendor, model, kind, source]).inc_by(tokens);
    }
}

fn log(record: &CallRecord) {
    let CallOutcome::Failed(reason) = record.outcome else { return };
    // Heartbeats tell themselves when a vendor stops to answer, once.
    let is_expected =
        record.probe || matches!(reason, ErrorReason::InvalidRequest | ErrorReason::DeadlineExceeded);
    let latency = record.latency.unwrap_or_default();
    let latency_ms = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX);
    let (request_id, reason) = (&record.request_id, reason.name());
    // Not as `target`, which is the name of an event's own module in JSON.
    let (vendor, model) = (&*record.target.vendor, &*record.target.model);
    if is_expected {
        tracing::debug!(request_id, vendor, model, reason, latency_ms, "vendor call failed");
    } else {
        tracing::warn!(request_id, vendor, model, reason, latency_ms, "vendor call failed");
    }
}
