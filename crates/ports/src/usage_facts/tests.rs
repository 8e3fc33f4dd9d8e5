use super::*;
use signalbox_api::v1::{Attempt, CacheEffect, Cost, TokenUsage, token_usage::Source};

fn attempt(vendor: &str, error_reason: &str) -> UsageAttempt {
    let usage = TokenUsage { output_tokens: 7, source: Source::Vendor as i32, ..TokenUsage::default() };
    let attempt = Attempt {
        vendor: vendor.to_owned(),
        model: "m".to_owned(),
        error_reason: error_reason.to_owned(),
        usage: error_reason.is_empty().then_some(usage),
        cost: Some(Cost { nano_eur: 5, ..Cost::default() }),
        ..Attempt::default()
    };
    UsageAttempt { attempt: Some(attempt), kind: Kind::Answer as i32, ..UsageAttempt::default() }
}

fn served_by(vendor: &str, attempts: Vec<UsageAttempt>) -> UsageEvent {
    UsageEvent { vendor: vendor.to_owned(), model: "m".to_owned(), attempts, ..UsageEvent::default() }
}

#[test]
fn a_switch_counts_at_the_model_that_was_asked_first() {
    let event = served_by("b", vec![attempt("a", "VENDOR_TIMEOUT"), attempt("b", "")]);
    let calls = calls(&event);
    assert!(is_fallback(&event));
    assert!(calls[0].failed && calls[0].first_choice && calls[0].fell_back);
    assert!(!calls[1].failed && !calls[1].first_choice && !calls[1].fell_back);
    assert_eq!((calls[0].output_tokens, calls[1].output_tokens), (None, Some(7)));
}

#[test]
fn a_retry_at_the_same_model_is_no_fallback() {
    assert!(!is_fallback(&served_by("a", vec![attempt("a", "VENDOR_ERROR"), attempt("a", "")])));
}

#[test]
fn a_fault_of_the_caller_is_no_failure_of_the_vendor() {
    let event = served_by("", vec![attempt("a", "CANCELLED"), attempt("a", "INVALID_REQUEST")]);
    assert!(calls(&event).iter().all(|call| !call.failed));
}

#[test]
fn an_answer_that_is_not_the_json_asked_for_is_a_structured_one_that_is_invalid() {
    let event = UsageEvent {
        structured: true,
        ..served_by("b", vec![attempt("a", "OUTPUT_INVALID"), attempt("b", ""), attempt("c", "VENDOR_ERROR")])
    };
    let found: Vec<_> = calls(&event).iter().map(|call| (call.structured, call.invalid)).collect();
    assert_eq!(found, [(true, true), (true, false), (false, false)]);
}

#[test]
fn a_probe_is_a_call_and_nobodys_first_choice() {
    let event = UsageEvent { operation: Operation::Probe as i32, ..served_by("a", vec![attempt("a", "")]) };
    assert!(!calls(&event)[0].first_choice);
}

#[test]
fn a_cost_that_is_not_said_is_not_known_and_not_free() {
    assert!(Measures::of(&UsageEvent::default()).cost_unknown);
    let free = UsageEvent { cost: Some(Cost::default()), ..UsageEvent::default() };
    assert!(!Measures::of(&free).cost_unknown);
    assert_eq!(Measures::of(&free).certainty, Certainty::NothingUsed);
}

#[test]
fn a_hit_saves_and_a_miss_does_not() {
    let cache = |outcome: cache_effect::Outcome| CacheEffect {
        outcome: outcome as i32,
        saved: Some(Cost { nano_eur: 9, ..Cost::default() }),
        ..CacheEffect::default()
    };
    let saved = |outcome| {
        Measures::of(&UsageEvent { cache: Some(cache(outcome)), ..UsageEvent::default() }).saved_nano_eur
    };
    assert_eq!(saved(cache_effect::Outcome::SemanticHit), 9);
    assert_eq!(saved(cache_effect::Outcome::Miss), 0);
}
