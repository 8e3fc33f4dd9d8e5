//! Values of enumerations that this version does not know.

use signalbox_api::v1::{
    Attempt, BudgetEffect, CacheEffect, Candidate, FinishReason, Lane, TokenUsage, UsageAttempt, UsageEvent,
    attempt::Cause,
    budget_effect, cache_effect,
    candidate::Standing,
    token_usage::Source,
    usage_attempt::Kind,
    usage_event::{Operation, Outcome},
};

/// The first unknown value, named by its field.
pub(super) fn check(event: &UsageEvent) -> Result<(), String> {
    known::<Lane>(event.lane, "lane")?;
    known::<Operation>(event.operation, "operation")?;
    known::<Outcome>(event.outcome, "outcome")?;
    known::<FinishReason>(event.finish_reason, "finish_reason")?;
    source(event.usage.as_ref(), "usage")?;
    event.cache.as_ref().map_or(Ok(()), cache)?;
    event.budget.as_ref().map_or(Ok(()), budget)?;
    for (index, made) in event.attempts.iter().enumerate() {
        attempt(made).map_err(|detail| format!("attempts[{index}].{detail}"))?;
    }
    let candidates = event.decision.iter().flat_map(|decision| &decision.candidates);
    for (index, Candidate { standing, .. }) in candidates.enumerate() {
        known::<Standing>(*standing, "standing")
            .map_err(|detail| format!("decision.candidates[{index}].{detail}"))?;
    }
    Ok(())
}

fn cache(cache: &CacheEffect) -> Result<(), String> {
    known::<cache_effect::Outcome>(cache.outcome, "cache.outcome")?;
    source(cache.saved_usage.as_ref(), "cache.saved_usage")
}

fn budget(budget: &BudgetEffect) -> Result<(), String> {
    known::<budget_effect::Outcome>(budget.outcome, "budget.outcome")
}

fn attempt(made: &UsageAttempt) -> Result<(), String> {
    known::<Kind>(made.kind, "kind")?;
    let Some(Attempt { cause, usage, .. }) = &made.attempt else { return Ok(()) };
    known::<Cause>(*cause, "attempt.cause")?;
    source(usage.as_ref(), "attempt.usage")
}

fn source(usage: Option<&TokenUsage>, field: &str) -> Result<(), String> {
    let source = usage.map_or(0, |usage| usage.source);
    known::<Source>(source, "source").map_err(|detail| format!("{field}.{detail}"))
}

fn known<E: TryFrom<i32>>(value: i32, field: &str) -> Result<(), String> {
    E::try_from(value).map(|_| ()).map_err(|_| format!("{field}: {value} is not a value this version knows"))
}
