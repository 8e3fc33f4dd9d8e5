//! Failures, by status or inside a stream.

use super::NAME;
use crate::codec::ResponseHead;
use crate::failures;
use crate::rate_limits::{self, ANTHROPIC_RATELIMIT};
use crate::retry_after;
use serde::Deserialize;
use signalbox_types::{ErrorReason, Failure};

/// `{"type":"error","error":{…},"request_id":…}`
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Envelope {
    error: Option<Error>,
    request_id: Option<String>,
}

/// The error object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Error {
    #[serde(rename = "type")]
    kind: String,
    message: String,
    details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    error_code: Option<String>,
}

/// Reads a failed response.
pub(super) fn failure(head: ResponseHead<'_>, body: &[u8]) -> Failure {
    let envelope = serde_json::from_slice::<Envelope>(body).unwrap_or_default();
    let mut failure = match envelope.error {
        Some(error) => in_stream(error, envelope.request_id, Some(head.status)),
        None => failures::vendor_failure(
            failures::reason_of_status(head.status),
            NAME,
            &failures::foreign_message(&head, body),
        ),
    };
    failure.vendor_status = Some(head.status);
    failure.retry_after = retry_after::retry_after(head.headers, head.now);
    if failure.reason == ErrorReason::VendorRateLimited && failure.retry_after.is_none() {
        failure.retry_after = rate_limits::reset_after(head.headers, &ANTHROPIC_RATELIMIT, head.now);
    }
    if let Some(id) = head.headers.get("request-id").and_then(|id| id.to_str().ok()) {
        failure.vendor_request_id = id.to_owned();
    }
    failure
}

/// What came of an item of a batch.
pub(super) fn of_item(body: &[u8]) -> Failure {
    let Envelope { error, request_id } = serde_json::from_slice(body).unwrap_or_default();
    in_stream(error.unwrap_or_default(), request_id, None)
}

/// An error object as a failure; `status` where it came with one of its own.
pub(super) fn in_stream(error: Error, request_id: Option<String>, status: Option<u16>) -> Failure {
    let code = error.details.and_then(|details| details.error_code).unwrap_or_default();
    let mut failure =
        failures::vendor_failure(reason(&error.kind, &code, &error.message, status), NAME, &error.message);
    failure.vendor_code = if code.is_empty() { error.kind } else { code };
    failure.vendor_request_id = request_id.unwrap_or_default();
    failure
}

fn reason(kind: &str, code: &str, message: &str, status: Option<u16>) -> ErrorReason {
    match kind {
        "invalid_request_error" => invalid_request(message),
        "authentication_error" => ErrorReason::VendorAuth,
        "billing_error" => ErrorReason::VendorQuotaExhausted,
        "permission_error" => ErrorReason::VendorPermission,
        "not_found_error" => ErrorReason::VendorModelNotFound,
        "request_too_large" => ErrorReason::RequestTooLarge,
        "rate_limit_error" if code.ends_with("spend_limit_reached") => ErrorReason::VendorQuotaExhausted,
        "rate_limit_error" => ErrorReason::VendorRateLimited,
        "timeout_error" => ErrorReason::VendorTimeout,
        "overloaded_error" => ErrorReason::VendorOverloaded,
        "api_error" | "conflict_error" => ErrorReason::VendorError,
        _ => status.map_or(ErrorReason::VendorError, failures::reason_of_status),
    }
}

/// One type for many faults, told apart by the text alone.
fn invalid_request(message: &str) -> ErrorReason {
    let says = |text: &str| message.contains(text);
    if says("prompt is too long") || says("exceed context limit") {
        ErrorReason::ContextLengthExceeded
    } else if says("credit balance is too low") {
        ErrorReason::VendorQuotaExhausted
    } else if says("content filtering policy") {
        ErrorReason::ContentPolicy
    } else if says("is deprecated for this model") || says("Extra inputs are not permitted") {
        ErrorReason::UnsupportedParameter
    } else {
        ErrorReason::InvalidRequest
    }
}
