//! What operators see of admission. Labels are few: no tenant, key or budget is one.

use prometheus::{IntCounterVec, IntGaugeVec};
use signalbox_kit::telemetry::metrics;
use signalbox_types::ErrorReason;
use std::sync::LazyLock;

static CALLS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_budget_calls_total",
        "Calls to the budget service; none for a request while leases are warm.",
        &["method"],
    )
});
static ADMISSIONS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_budget_admissions_total",
        "Requests that asked to be admitted, by what came of it.",
        &["outcome"],
    )
});
static AWAY: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_budget_away",
        "1 while the budget service does not answer this process: only leases held are spent.",
        &[],
    )
});
static AUTH_FAILURES: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_auth_failures_total",
        "Callers who could not show who they are, by why.",
        &["reason"],
    )
});

pub(crate) fn called(method: &'static str) {
    CALLS.with_label_values(&[method]).inc();
}

pub(crate) fn away(away: bool) {
    AWAY.with_label_values::<&str>(&[]).set(away.into());
}

pub(crate) fn auth_failure(reason: &'static str) {
    AUTH_FAILURES.with_label_values(&[reason]).inc();
}

/// What came of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It falls under no budget and no rate.
    Unlimited,
    /// Taken from the slices held.
    Held,
    /// Taken after asking for more.
    Granted,
    /// Let through by the replica's own rates, as the tenant wants it while the service is away.
    Open,
    BudgetExhausted,
    RateLimited,
    /// Refused, since the service is away.
    Away,
    /// Refused for another reason.
    Refused,
}

impl Outcome {
    const ALL: [(Self, &'static str); 8] = [
        (Self::Unlimited, "unlimited"),
        (Self::Held, "held"),
        (Self::Granted, "granted"),
        (Self::Open, "open"),
        (Self::BudgetExhausted, "budget_exhausted"),
        (Self::RateLimited, "rate_limited"),
        (Self::Away, "away"),
        (Self::Refused, "refused"),
    ];
}

/// Looked up once: a request counts on its way.
static BY_OUTCOME: LazyLock<[prometheus::IntCounter; 8]> =
    LazyLock::new(|| Outcome::ALL.map(|(_, name)| ADMISSIONS.with_label_values(&[name])));

pub(crate) fn admission(outcome: Outcome) {
    if let Some(counter) = BY_OUTCOME.get(outcome as usize) {
        counter.inc();
    }
}

/// A request was refused.
pub(crate) fn refused(reason: ErrorReason) {
    admission(match reason {
        ErrorReason::BudgetExhausted => Outcome::BudgetExhausted,
        ErrorReason::RateLimited => Outcome::RateLimited,
        ErrorReason::Unavailable => Outcome::Away,
        _ => Outcome::Refused,
    });
}

pub(crate) fn register() {
    for counter in [&CALLS, &ADMISSIONS, &AUTH_FAILURES] {
        LazyLock::force(counter);
    }
    LazyLock::force(&AWAY);
}

/// Shows every metric from the start, as 0.
pub(crate) fn show() {
    away(false);
    LazyLock::force(&BY_OUTCOME);
}
