use crate::{
    status::{any, detail, from_status, to_status_with},
    v1,
};
use proptest::prelude::*;
use signalbox_types::{ErrorReason, Failure, FieldViolation, Quota, QuotaViolation};
use std::time::Duration;
use tonic::Status;

fn trailer_len(status: &Status) -> usize {
    let mut headers = http::HeaderMap::new();
    status.add_header(&mut headers).unwrap();
    // As HTTP/2 counts: 32 bytes for each header, beyond name and value.
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum()
}

fn route(attempts: usize, candidates: usize, text: &str) -> v1::RouteFailure {
    let attempt = v1::Attempt {
        vendor: "openai".into(),
        model: "gpt-6-luna".into(),
        error_reason: "VENDOR_ERROR".into(),
        error_message: text.into(),
        ..Default::default()
    };
    let candidate = v1::Candidate {
        vendor: "openai".into(),
        model: "gpt-6-luna".into(),
        excluded_reason: text.into(),
        factors: ["cost", "latency", "health", "quality"].map(|name| (name.to_owned(), 0.5)).into(),
        ..Default::default()
    };
    v1::RouteFailure {
        request_id: "r-1".into(),
        attempts: vec![attempt; attempts],
        decision: Some(v1::Decision { candidates: vec![candidate; candidates], ..Default::default() }),
        ..Default::default()
    }
}

fn texts() -> impl Strategy<Value = String> {
    let piece =
        prop_oneof![Just("a"), Just(" "), Just("%"), Just("д"), Just("語"), Just("\u{1f600}"), Just("\n")];
    (piece, 0..40_000_usize).prop_map(|(piece, length)| piece.repeat(length / piece.len()))
}

proptest! {
    #[test]
    fn whatever_failed_the_caller_can_read_it(
        reason in prop::sample::select(ErrorReason::ALL.to_vec()),
        message in texts(),
        text in texts(),
        violations in prop::collection::vec((texts(), texts()), 0..40),
        (attempts, candidates) in (0..60_usize, 0..60_usize),
    ) {
        let violation = |(field, description)| FieldViolation { field, description };
        let failure = Failure {
            violations: violations.into_iter().map(violation).collect(),
            retry_after: Some(Duration::from_secs(3)),
            vendor_status: Some(500),
            vendor_code: text.clone(),
            vendor_request_id: text.clone(),
            quota: Some(Box::new(Quota {
                violations: vec![QuotaViolation { subject: text.clone(), description: text.clone() }; 9],
                left: (0..20).map(|index| (format!("left_{index}"), text.clone())).collect(),
            })),
            ..Failure::new(reason, message.clone())
        };
        let usage = Some(v1::TokenUsage { output_tokens: 7, ..Default::default() });
        let call = v1::CallFailure { usage, vendor_code: text.clone(), ..Default::default() };
        let limited = Failure { violations: Vec::new(), ..failure.clone() };
        for (failure, further) in [
            (&failure, any(&route(attempts, candidates, &text))),
            (&failure, any(&call)),
            (&limited, any(&call)),
        ] {
            let status = to_status_with(failure, vec![further]);
            prop_assert!(trailer_len(&status) < 8 << 10, "{} bytes", trailer_len(&status));
            let read = from_status(&status);
            prop_assert_eq!(read.reason, reason);
            prop_assert_eq!(read.retry_after, failure.retry_after);
            prop_assert_eq!(read.violations.is_empty(), failure.violations.is_empty());
            prop_assert_eq!(read.quota.is_some(), read.violations.is_empty());
            let start = read.message.trim_end_matches('…');
            prop_assert!(message.starts_with(start) && (start.len() > 500 || start.len() == message.len()));
        }
        for failure in [failure, limited] {
            let status = to_status_with(&failure, vec![any(&call)]);
            let told = detail::<v1::CallFailure>(&status).unwrap();
            prop_assert_eq!(told.usage, usage, "what it cost is never lost");
        }
    }
}

#[test]
fn a_route_that_does_not_fit_loses_words_before_attempts() {
    let failure = Failure::new(ErrorReason::VendorError, "everyone failed");
    let told = |attempts, candidates, text: &str| {
        let status = to_status_with(&failure, vec![any(&route(attempts, candidates, text))]);
        detail::<v1::RouteFailure>(&status).unwrap()
    };
    assert_eq!(told(3, 3, "out of order"), route(3, 3, "out of order"));
    let shortened = told(12, 1, &"long ".repeat(100));
    assert!(shortened.attempts.iter().all(|attempt| (1..=200).contains(&attempt.error_message.len())));
    assert_eq!((shortened.attempts.len(), shortened.decision.is_some()), (12, true));
    let bare = told(60, 60, &"long ".repeat(100));
    assert_eq!((bare.attempts.len(), bare.decision), (60, None));
}
