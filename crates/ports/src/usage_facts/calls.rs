//! What the calls of an event tell about the models that were called.

use super::{answers, is_answer, is_fallback, is_probe};
use signalbox_api::v1::{Attempt, TokenUsage, UsageAttempt, UsageEvent, token_usage::Source};
use signalbox_types::{ErrorReason, Fault};
use std::ptr;

/// What one call adds to its model's minute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call<'a> {
    /// Vendor entry.
    pub vendor: &'a str,
    /// Model.
    pub model: &'a str,
    /// It failed by the vendor's fault.
    pub failed: bool,
    /// The request was first sent here.
    pub first_choice: bool,
    /// The request was first sent here and served by another candidate.
    pub fell_back: bool,
    /// An answer that had to be JSON.
    pub structured: bool,
    /// And was not, or not as the schema has it.
    pub invalid: bool,
    /// Its cost, where known.
    pub cost_nano_eur: Option<i64>,
    /// Tokens of its answer, where it answered and they are known.
    pub output_tokens: Option<u64>,
}

/// The calls of an event. They count in the minute in which the event counts.
pub fn calls(event: &UsageEvent) -> Vec<Call<'_>> {
    let first = answers(event).next().filter(|_| !is_probe(event));
    let fell_back = is_fallback(event);
    let made = event.attempts.iter().filter_map(|made| Some((made, made.attempt.as_ref()?)));
    made.map(|(made, attempt)| {
        let first_choice = first.is_some_and(|first| ptr::eq(first, made));
        Call { first_choice, fell_back: first_choice && fell_back, ..call(event, made, attempt) }
    })
    .collect()
}

fn call<'a>(event: &UsageEvent, made: &UsageAttempt, attempt: &'a Attempt) -> Call<'a> {
    let reason = ErrorReason::from_name(&attempt.error_reason);
    let invalid = reason == Some(ErrorReason::OutputInvalid);
    let answered = is_answer(made) && (attempt.error_reason.is_empty() || invalid);
    Call {
        vendor: &attempt.vendor,
        model: &attempt.model,
        failed: reason.is_some_and(|reason| reason.fault() == Fault::Vendor),
        first_choice: false,
        fell_back: false,
        structured: answered && (event.structured || invalid),
        invalid: answered && invalid,
        cost_nano_eur: attempt.cost.as_ref().filter(|cost| !cost.unknown).map(|cost| cost.nano_eur),
        output_tokens: attempt.usage.filter(|_| answered).and_then(answer_tokens),
    }
}

fn answer_tokens(usage: TokenUsage) -> Option<u64> {
    let known = usage.source() != Source::Unspecified;
    known.then(|| usage.output_tokens.saturating_add(usage.reasoning_tokens))
}
