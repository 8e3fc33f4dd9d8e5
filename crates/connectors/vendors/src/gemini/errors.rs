//! Failures, by status or inside a stream.

use super::NAME;
use crate::codec::ResponseHead;
use crate::failures;
use crate::retry_after;
use serde::Deserialize;
use signalbox_types::{ErrorReason, Failure, FieldViolation};
use std::time::{Duration, SystemTime};

/// `{"error":{…}}`
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Envelope {
    error: Option<Error>,
}

/// The error object, a `google.rpc.Status` with the HTTP status as its code.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Error {
    code: u16,
    message: String,
    status: String,
    details: Vec<Detail>,
}

/// A `google.rpc` detail of any type: `ErrorInfo`, `RetryInfo`, `QuotaFailure` or `BadRequest`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Detail {
    reason: Option<String>,
    retry_delay: Option<String>,
    violations: Vec<Quota>,
    field_violations: Vec<Field>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Quota {
    quota_id: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Field {
    field: String,
    description: String,
}

/// Reads a failed response.
pub(super) fn failure(head: ResponseHead<'_>, body: &[u8]) -> Failure {
    let Some(error) = error(body) else {
        let message = failures::foreign_message(&head, body);
        let mut failure = failures::vendor_failure(failures::reason_of_status(head.status), NAME, &message);
        failure.vendor_status = Some(head.status);
        failure.retry_after = retry_after::retry_after(head.headers, head.now);
        return failure;
    };
    let mut failure = in_stream(error);
    failure.vendor_status = Some(head.status);
    if failure.reason == ErrorReason::VendorQuotaExhausted {
        // The delay sent along is that of the next minute's quota.
        failure.retry_after = until_pacific_midnight(head.now);
    }
    failure.retry_after = failure.retry_after.or_else(|| retry_after::retry_after(head.headers, head.now));
    failure
}

/// The error object as a failure.
pub(super) fn in_stream(error: Error) -> Failure {
    let mut failure = failures::vendor_failure(reason(&error), NAME, &error.message);
    failure.retry_after =
        error.details.iter().find_map(|detail| retry_after::duration(detail.retry_delay.as_deref()?));
    let info = error.details.iter().find_map(|detail| detail.reason.clone());
    let fields = error.details.into_iter().flat_map(|detail| detail.field_violations);
    failure.violations =
        fields.map(|field| FieldViolation { field: field.field, description: field.description }).collect();
    failure.vendor_code = info.unwrap_or(error.status);
    failure
}

/// What came of an item or a whole batch, told by a gRPC code.
pub(super) fn of_grpc(code: i32, message: &str) -> Failure {
    let reason = match failures::reason_of_grpc(code) {
        ErrorReason::InvalidRequest => {
            invalid_argument(&Error { message: message.to_owned(), ..Error::default() })
        }
        reason => reason,
    };
    Failure { vendor_code: code.to_string(), ..failures::vendor_failure(reason, NAME, message) }
}

/// An object, or an array of one where a stream was asked for.
fn error(body: &[u8]) -> Option<Error> {
    if body.trim_ascii_start().starts_with(b"[") {
        return serde_json::from_slice::<Vec<Envelope>>(body)
            .ok()?
            .into_iter()
            .find_map(|envelope| envelope.error);
    }
    serde_json::from_slice::<Envelope>(body).ok()?.error
}

fn reason(error: &Error) -> ErrorReason {
    match error.status.as_str() {
        "INVALID_ARGUMENT" => invalid_argument(error),
        "FAILED_PRECONDITION" | "PERMISSION_DENIED" => ErrorReason::VendorPermission,
        "UNAUTHENTICATED" => ErrorReason::VendorAuth,
        "NOT_FOUND" => ErrorReason::VendorModelNotFound,
        "RESOURCE_EXHAUSTED" if is_daily_quota(error) => ErrorReason::VendorQuotaExhausted,
        "RESOURCE_EXHAUSTED" => ErrorReason::VendorRateLimited,
        "UNAVAILABLE" => ErrorReason::VendorOverloaded,
        "DEADLINE_EXCEEDED" => ErrorReason::VendorTimeout,
        "INTERNAL" | "CANCELLED" => ErrorReason::VendorError,
        _ => failures::reason_of_status(error.code),
    }
}

fn invalid_argument(error: &Error) -> ErrorReason {
    if error.details.iter().any(|detail| detail.reason.as_deref() == Some("API_KEY_INVALID")) {
        ErrorReason::VendorAuth
    } else if error.message.contains("exceeds the maximum number of tokens allowed") {
        ErrorReason::ContextLengthExceeded
    } else if error.message.contains("is not enabled for this model") {
        ErrorReason::UnsupportedParameter
    } else {
        ErrorReason::InvalidRequest
    }
}

fn is_daily_quota(error: &Error) -> bool {
    error.details.iter().flat_map(|detail| &detail.violations).any(|quota| quota.quota_id.contains("PerDay"))
}

/// Daily quotas are whole again at midnight Pacific time: 08:00 UTC, and an hour earlier in summer, when this waits
/// an hour too long.
fn until_pacific_midnight(now: SystemTime) -> Option<Duration> {
    const DAY: u64 = 86_400;
    const MIDNIGHT: u64 = 8 * 3600;
    let since_epoch = now.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs();
    Some(Duration::from_secs(DAY - (since_epoch + DAY - MIDNIGHT) % DAY))
}
