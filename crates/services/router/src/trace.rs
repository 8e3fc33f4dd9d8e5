//! What a request's span tells of its way. `gen_ai.*` is left to the spans of the model calls, so that nobody counts a
//! call twice.

use crate::{plan::compact, route::RouteLog};
use signalbox_api::v1;
use signalbox_kit::telemetry::trace::Span;

/// The request was served.
pub(crate) fn served(span: &Span, route: &v1::Route) {
    if span.is_recording() {
        span.set("signalbox.route.vendor", route.vendor.clone());
        span.set("signalbox.route.model", route.model.clone());
        way(span, route.attempts.iter(), route.decision.as_ref());
    }
}

/// The request failed after all attempts that were allowed.
pub(crate) fn failed(span: &Span, log: &RouteLog) {
    if span.is_recording() {
        let (decision, attempts) = log.way();
        way(span, attempts, decision);
    }
}

fn way<'a>(span: &Span, attempts: impl Iterator<Item = &'a v1::Attempt>, decision: Option<&v1::Decision>) {
    let attempts: Vec<_> = attempts.collect();
    span.set("signalbox.route.attempts", i64::try_from(attempts.len()).unwrap_or(i64::MAX));
    // Why the last attempt but the one that served was not enough.
    if let Some(failed) = attempts.iter().rev().find(|attempt| !attempt.error_reason.is_empty()) {
        span.set("signalbox.route.fallback_reason", failed.error_reason.clone());
    }
    if let Some(decision) = decision {
        span.set("signalbox.route.decision", compact(decision));
    }
}
