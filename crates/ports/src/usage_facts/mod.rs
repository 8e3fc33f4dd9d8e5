//! What an event means where it is counted: one definition, which every store and every reader shares.

mod calls;
mod dimensions;
mod measures;
mod sums;
#[cfg(test)]
mod tests;

pub use calls::{Call, calls};
pub use dimensions::{group_value, matches};
pub use measures::{Certainty, Measures};
pub use sums::{add_attempt, nothing, total};

use signalbox_api::v1::{
    Attempt, UsageAttempt, UsageEvent, attempt::Cause, cache_effect, usage_attempt::Kind,
    usage_event::Operation,
};

/// Why the call was made that served, in words; `after` is the reason of the failure that led to it, empty for none.
pub fn route_reason(cause: Cause, after: &str) -> String {
    match (cause, after.is_empty()) {
        (Cause::Unspecified | Cause::FirstChoice, _) => "first choice".to_owned(),
        (Cause::Retry, true) => "retry".to_owned(),
        (Cause::Retry, false) => format!("retry after {after}"),
        (Cause::Fallback, true) => "fallback past an open breaker".to_owned(),
        (Cause::Fallback, false) => format!("fallback after {after}"),
        (Cause::Hedge, _) => "hedge".to_owned(),
        (Cause::Quality, _) => format!("another model after {after}"),
    }
}

/// Whether it was answered from the cache or by an identical request under way.
pub fn is_cache_hit(event: &UsageEvent) -> bool {
    use cache_effect::Outcome::{Coalesced, ExactHit, NormalizedHit, SemanticHit};
    let outcome = event.cache.as_ref().map(|cache| cache.outcome());
    matches!(outcome, Some(ExactHit | NormalizedHit | SemanticHit | Coalesced))
}

/// Whether another candidate served than the one that was asked first.
pub fn is_fallback(event: &UsageEvent) -> bool {
    fell_back_from(event).is_some()
}

/// The candidate that was asked first, where another one served.
pub fn fell_back_from(event: &UsageEvent) -> Option<&Attempt> {
    let served = !event.vendor.is_empty() && !is_cache_hit(event);
    let first = answers(event).next()?.attempt.as_ref()?;
    (served && (first.vendor != event.vendor || first.model != event.model)).then_some(first)
}

/// Whether Signalbox itself asked.
pub fn is_probe(event: &UsageEvent) -> bool {
    event.operation() == Operation::Probe
}

/// Attempts to answer the request, which those for the cache and for moderation are not.
fn answers(event: &UsageEvent) -> impl Iterator<Item = &UsageAttempt> {
    event.attempts.iter().filter(|attempt| is_answer(attempt))
}

fn is_answer(attempt: &UsageAttempt) -> bool {
    matches!(attempt.kind(), Kind::Answer | Kind::Unspecified)
}
