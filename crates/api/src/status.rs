//! The one place that makes a [`Status`], and reads one back.

mod fit;

use prost::{Message, Name};
use prost_types::Any;
use signalbox_types::{ErrorReason, Failure, FieldViolation, Quota, QuotaViolation};
use std::time::Duration;
use tonic::{Code, Status};
use tonic_types::pb;

/// `google.rpc.ErrorInfo.domain` of every error.
pub const ERROR_DOMAIN: &str = "signalbox";

/// The gRPC code of a reason.
pub fn code(reason: ErrorReason) -> Code {
    match reason {
        ErrorReason::InvalidRequest
        | ErrorReason::RequestTooLarge
        | ErrorReason::ContextLengthExceeded
        | ErrorReason::ContentPolicy
        | ErrorReason::UnsupportedParameter => Code::InvalidArgument,
        ErrorReason::UnknownModel | ErrorReason::NotFound => Code::NotFound,
        ErrorReason::NoCapableModel | ErrorReason::MonthOpen => Code::FailedPrecondition,
        ErrorReason::AlreadyExists => Code::AlreadyExists,
        ErrorReason::Conflict => Code::Aborted,
        ErrorReason::Unauthenticated => Code::Unauthenticated,
        ErrorReason::PermissionDenied => Code::PermissionDenied,
        ErrorReason::BudgetExhausted | ErrorReason::RateLimited => Code::ResourceExhausted,
        ErrorReason::VendorAuth
        | ErrorReason::VendorPermission
        | ErrorReason::VendorModelNotFound
        | ErrorReason::VendorRateLimited
        | ErrorReason::VendorQuotaExhausted
        | ErrorReason::VendorOverloaded
        | ErrorReason::VendorTimeout
        | ErrorReason::VendorUnreachable
        | ErrorReason::VendorError
        | ErrorReason::VendorBadResponse
        | ErrorReason::StreamTruncated
        | ErrorReason::VendorBusy
        | ErrorReason::OutputInvalid
        | ErrorReason::Unavailable => Code::Unavailable,
        ErrorReason::DeadlineExceeded => Code::DeadlineExceeded,
        ErrorReason::Cancelled => Code::Cancelled,
        ErrorReason::Unimplemented => Code::Unimplemented,
        ErrorReason::Internal => Code::Internal,
    }
}

/// A failure as gRPC tells it: `ErrorInfo`, and `BadRequest`, `QuotaFailure` and `RetryInfo` where they apply.
pub fn to_status(failure: &Failure) -> Status {
    to_status_with(failure, Vec::new())
}

/// As [`to_status`], with further details made by [`any`]. Texts are cut, and further details shortened or left out,
/// until the whole fits into the 8 KiB that clients take.
pub fn to_status_with(failure: &Failure, further: Vec<Any>) -> Status {
    let code = code(failure.reason);
    let message = fit::message(&failure.message).into_owned();
    let details = fit::details(failure, &message, further);
    let status = pb::Status { code: code as i32, message, details };
    let encoded = status.encode_to_vec();
    Status::with_details(code, status.message, encoded.into())
}

fn error_info(failure: &Failure) -> pb::ErrorInfo {
    let mut info = pb::ErrorInfo {
        reason: failure.reason.name().to_owned(),
        domain: ERROR_DOMAIN.to_owned(),
        ..Default::default()
    };
    if let Some(status) = failure.vendor_status {
        info.metadata.insert("vendor_status".to_owned(), status.to_string());
    }
    for (key, value) in
        [("vendor_code", &failure.vendor_code), ("vendor_request_id", &failure.vendor_request_id)]
    {
        if !value.is_empty() {
            info.metadata.insert(key.to_owned(), fit::short(value));
        }
    }
    info.metadata.extend(fit::told(failure).into_iter().flat_map(fit::left));
    info
}

fn quota_failure(violations: impl Iterator<Item = QuotaViolation>) -> pb::QuotaFailure {
    let violations = violations
        .map(|QuotaViolation { subject, description }| pb::quota_failure::Violation {
            subject,
            description,
            ..Default::default()
        })
        .collect();
    pb::QuotaFailure { violations }
}

fn bad_request(violations: impl Iterator<Item = FieldViolation>) -> pb::BadRequest {
    let field_violations = violations
        .map(|FieldViolation { field, description }| pb::bad_request::FieldViolation {
            field,
            description,
            ..Default::default()
        })
        .collect();
    pb::BadRequest { field_violations }
}

/// A detail of ours, packed.
pub fn any<M: Message + Name>(message: &M) -> Any {
    any_of(&M::full_name(), message)
}

fn any_of(name: &str, message: &impl Message) -> Any {
    Any { type_url: format!("type.googleapis.com/{name}"), value: message.encode_to_vec() }
}

/// A detail of ours from a status, when it is there.
pub fn detail<M: Message + Name + Default>(status: &Status) -> Option<M> {
    detail_of(&details(status), &M::full_name())
}

fn details(status: &Status) -> Vec<Any> {
    pb::Status::decode(status.details()).map(|status| status.details).unwrap_or_default()
}

fn detail_of<M: Message + Default>(details: &[Any], name: &str) -> Option<M> {
    let found = details.iter().find(|any| any.type_url.rsplit('/').next() == Some(name))?;
    M::decode(found.value.as_slice()).ok()
}

/// The failure behind a status: exact when the other side is Signalbox, else the nearest reason for its code.
pub fn from_status(status: &Status) -> Failure {
    let details = details(status);
    let info = detail_of::<pb::ErrorInfo>(&details, "google.rpc.ErrorInfo")
        .filter(|info| info.domain == ERROR_DOMAIN);
    let known = info.as_ref().and_then(|info| ErrorReason::from_name(&info.reason));
    let mut failure = Failure::new(known.unwrap_or_else(|| reason_of(status.code())), status.message());
    if let Some(mut info) = info {
        failure.vendor_status = info.metadata.get("vendor_status").and_then(|status| status.parse().ok());
        failure.vendor_code = info.metadata.remove("vendor_code").unwrap_or_default();
        failure.vendor_request_id = info.metadata.remove("vendor_request_id").unwrap_or_default();
        failure.quota = quota(&details, info.metadata.into_iter().filter(|(key, _)| key != "vendor_status"));
    }
    failure.retry_after = detail_of::<pb::RetryInfo>(&details, "google.rpc.RetryInfo")
        .and_then(|retry| crate::convert::duration_from_proto(retry.retry_delay?));
    failure.violations = detail_of::<pb::BadRequest>(&details, "google.rpc.BadRequest")
        .map(|bad| bad.field_violations)
        .unwrap_or_default()
        .into_iter()
        .map(|violation| FieldViolation { field: violation.field, description: violation.description })
        .collect();
    failure
}

fn quota(details: &[Any], left: impl Iterator<Item = (String, String)>) -> Option<Box<Quota>> {
    let told = detail_of::<pb::QuotaFailure>(details, "google.rpc.QuotaFailure");
    let violations = told
        .map(|quota| quota.violations)
        .unwrap_or_default()
        .into_iter()
        .map(|violation| QuotaViolation { subject: violation.subject, description: violation.description })
        .collect();
    let quota = Quota { violations, left: left.collect() };
    (quota != Quota::default()).then(|| Box::new(quota))
}

fn reason_of(code: Code) -> ErrorReason {
    match code {
        Code::InvalidArgument | Code::OutOfRange => ErrorReason::InvalidRequest,
        Code::NotFound => ErrorReason::UnknownModel,
        Code::FailedPrecondition => ErrorReason::NoCapableModel,
        Code::AlreadyExists => ErrorReason::AlreadyExists,
        Code::Aborted => ErrorReason::Conflict,
        Code::Unauthenticated => ErrorReason::Unauthenticated,
        Code::PermissionDenied => ErrorReason::PermissionDenied,
        Code::ResourceExhausted => ErrorReason::RateLimited,
        Code::DeadlineExceeded => ErrorReason::DeadlineExceeded,
        Code::Cancelled => ErrorReason::Cancelled,
        Code::Unavailable => ErrorReason::Unavailable,
        Code::Unimplemented => ErrorReason::Unimplemented,
        _ => ErrorReason::Internal,
    }
}

/// How long the caller is willing to wait: the `grpc-timeout` header. `None` when absent or malformed.
pub fn grpc_timeout(headers: &http::HeaderMap) -> Option<Duration> {
    let text = headers.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 {
        return None;
    }
    let amount: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(amount * 3600)),
        "M" => Some(Duration::from_secs(amount * 60)),
        "S" => Some(Duration::from_secs(amount)),
        "m" => Some(Duration::from_millis(amount)),
        "u" => Some(Duration::from_micros(amount)),
        "n" => Some(Duration::from_nanos(amount)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v1;

    #[test]
    fn a_failure_survives_the_way_over_the_wire() {
        for reason in ErrorReason::ALL {
            let failure = Failure {
                retry_after: Some(Duration::from_millis(1500)),
                vendor_status: Some(429),
                vendor_code: "rate_limit_error".into(),
                vendor_request_id: "req_1".into(),
                quota: Some(Box::new(Quota {
                    violations: vec![QuotaViolation {
                        subject: "tenant/acme/budget/monthly".into(),
                        description: "€0.10 of €100.00 is left".into(),
                    }],
                    left: [("available_nano_eur".to_owned(), "100000000".to_owned())].into(),
                })),
                ..Failure::new(reason, "something happened")
            };
            let attempt = v1::CallFailure { vendor_status: 429, ..Default::default() };
            let status = to_status_with(&failure, vec![any(&attempt)]);
            assert_eq!(from_status(&status), failure);
            assert_eq!(detail::<v1::CallFailure>(&status), Some(attempt));
            let failure = Failure { reason, ..Failure::invalid("a[0].b", "is wrong") };
            assert_eq!(from_status(&to_status(&failure)), failure);
        }
    }

    #[test]
    fn every_reason_is_in_the_contract() {
        for reason in ErrorReason::ALL {
            let name = format!("ERROR_REASON_{}", reason.name());
            assert!(v1::ErrorReason::from_str_name(&name).is_some(), "{name} is missing in errors.proto");
        }
    }

    #[test]
    fn a_foreign_status_gets_the_nearest_reason() {
        let failure = from_status(&Status::unavailable("gone"));
        assert_eq!((failure.reason, failure.message.as_str()), (ErrorReason::Unavailable, "gone"));
    }

    #[test]
    fn timeouts_are_read_in_every_unit() {
        let read = |text: &str| {
            grpc_timeout(
                &[("grpc-timeout", text)]
                    .map(|(k, v)| (k.parse().unwrap(), v.parse().unwrap()))
                    .into_iter()
                    .collect(),
            )
        };
        assert_eq!(read("2H"), Some(Duration::from_hours(2)));
        assert_eq!(read("99999999u"), Some(Duration::from_micros(99_999_999)));
        assert_eq!(read("5m"), Some(Duration::from_millis(5)));
        for bad in ["", "m", "5", "5x", "-5S", "123456789S", "é"] {
            assert_eq!(
                grpc_timeout(
                    &[(
                        http::HeaderName::from_static("grpc-timeout"),
                        http::HeaderValue::from_bytes(bad.as_bytes()).unwrap()
                    )]
                    .into_iter()
                    .collect()
                ),
                None,
                "{bad}"
            );
        }
    }
}
