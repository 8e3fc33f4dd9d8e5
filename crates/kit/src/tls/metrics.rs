//! What is told of TLS.

use super::handshake::Problem;
use crate::telemetry::metrics;
use prometheus::{IntCounterVec, IntGaugeVec};
use std::{sync::LazyLock, time::Duration};

static EXPIRY: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_tls_certificate_expiry_timestamp_seconds",
        "When the certificate in use expires, or the first of those above it: towards clients (server) or roles (mtls).",
        &["use"],
    )
});
static LIFETIME: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_tls_certificate_lifetime_seconds",
        "How long the certificate that expires then is good in all, from its first day to its last.",
        &["use"],
    )
});
static RELOADS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_tls_reloads_total",
        "Changes of certificate files that were taken over (ok), or were not and left the old ones in use (failed).",
        &["use", "result"],
    )
});
static GOOD: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_tls_last_reload_success",
        "Whether what is in the certificate's files now is in use: 0 as long as it is refused.",
        &["use"],
    )
});
static FAILED_HANDSHAKES: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_tls_handshake_failures_total",
        "Connections that ended before anything was said over them: certificate, refused, clear, timeout, crowded, other.",
        &["use", "reason"],
    )
});

pub(crate) fn register() {
    LazyLock::force(&EXPIRY);
    LazyLock::force(&LIFETIME);
    LazyLock::force(&RELOADS);
    LazyLock::force(&GOOD);
    LazyLock::force(&FAILED_HANDSHAKES);
}

/// A certificate is in use from now on.
pub(super) fn in_use(purpose: &str, expires_at: Duration, lifetime: Duration) {
    let seconds = |time: Duration| i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    EXPIRY.with_label_values(&[purpose]).set(seconds(expires_at));
    LIFETIME.with_label_values(&[purpose]).set(seconds(lifetime));
    files_are_good(purpose, true);
    // So that they are there before the first one.
    RELOADS.with_label_values(&[purpose, "ok"]);
    RELOADS.with_label_values(&[purpose, "failed"]);
    for problem in Problem::ALL {
        FAILED_HANDSHAKES.with_label_values(&[purpose, problem.name()]);
    }
}

/// Whether the files have what is in use.
pub(super) fn files_are_good(purpose: &str, good: bool) {
    GOOD.with_label_values(&[purpose]).set(good.into());
}

pub(super) fn reloaded(purpose: &str, good: bool) {
    files_are_good(purpose, good);
    RELOADS.with_label_values(&[purpose, if good { "ok" } else { "failed" }]).inc();
}

pub(super) fn handshake_failed(purpose: &str, problem: Problem) {
    FAILED_HANDSHAKES.with_label_values(&[purpose, problem.name()]).inc();
}
