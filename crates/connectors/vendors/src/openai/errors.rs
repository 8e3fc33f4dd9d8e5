//! What went wrong, in the words of OpenAI and of servers like it.

use super::dialect::Dialect;
use crate::codec::ResponseHead;
use crate::failures::{foreign_message, reason_of_status, vendor_failure};
use crate::rate_limits::{X_RATELIMIT, reset_after};
use crate::retry_after::retry_after;
use serde_json::Value;
use signalbox_types::{ErrorReason, Failure};

/// An error object, whatever its shape.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct VendorError {
    /// For people.
    pub(crate) message: String,
    /// OpenAI's `type`.
    pub(crate) kind: String,
    /// OpenAI's code; a whole sentence at xAI; often a status at others.
    pub(crate) code: String,
    /// Whether it names the parameter at fault.
    pub(crate) names_parameter: bool,
}

impl VendorError {
    /// Reads `{"error": {..}}`, `{"error": "..", "code": ".."}` (xAI), flat objects (responses stream, vLLM),
    /// `{"detail": ".."}` (servers built on FastAPI), and a list that holds one of them.
    fn read(body: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(body).ok()?;
        let value = value.get(0).unwrap_or(&value);
        match value.get("error") {
            Some(Value::Object(_)) => Some(Self::of_object(&value["error"])),
            Some(Value::String(message)) => Some(Self { message: message.clone(), ..Self::of_object(value) }),
            _ => Some(Self::of_object(value)).filter(|error| !error.message.is_empty()),
        }
    }

    fn of_object(value: &Value) -> Self {
        let message =
            [word(&value["message"]), word(&value["detail"])].into_iter().find(|text| !text.is_empty());
        Self {
            message: message.unwrap_or_default(),
            kind: word(&value["type"]),
            code: word(&value["code"]),
            names_parameter: value["param"].is_string(),
        }
    }
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// The failure of a response with a status other than 2xx.
pub(crate) fn of_response(dialect: &Dialect, head: ResponseHead<'_>, body: &[u8]) -> Failure {
    let error = VendorError::read(body).unwrap_or_else(|| foreign(&head, body));
    let mut failure = failure(dialect, Some(head.status), &error);
    failure.retry_after = retry_after(head.headers, head.now);
    if failure.reason == ErrorReason::VendorRateLimited && failure.retry_after.is_none() {
        failure.retry_after = reset_after(head.headers, &X_RATELIMIT, head.now);
    }
    failure.vendor_status = Some(head.status);
    let request_id = head.headers.get("x-request-id").and_then(|id| id.to_str().ok());
    failure.vendor_request_id = request_id.unwrap_or_default().to_owned();
    failure
}

/// The failure told inside an answer whose status was 200.
pub(super) fn in_band(dialect: &Dialect, data: &[u8]) -> Failure {
    failure(dialect, None, &VendorError::read(data).unwrap_or_default())
}

/// The failure in what a stream left behind outside its events, if it is one.
pub(super) fn left_behind(dialect: &Dialect, rest: &[u8]) -> Option<Failure> {
    VendorError::read(rest).map(|error| failure(dialect, None, &error))
}

/// A failed answer of the responses API.
pub(super) fn of_code(dialect: &Dialect, code: &str, message: &str) -> Failure {
    let error = VendorError { message: message.to_owned(), code: code.to_owned(), ..VendorError::default() };
    failure(dialect, None, &error)
}

/// Why a batch was refused whole: something in it is wrong, where nothing else is said.
pub(super) fn of_batch(dialect: &Dialect, code: &str, message: &str) -> Failure {
    // So much waits there already that this has to wait, or to go elsewhere.
    if code == "token_limit_exceeded" {
        let failure = vendor_failure(ErrorReason::VendorRateLimited, dialect.name, message);
        return Failure { vendor_code: code.to_owned(), ..failure };
    }
    let kind = "invalid_request_error".to_owned();
    failure(
        dialect,
        None,
        &VendorError { message: message.to_owned(), kind, code: code.to_owned(), names_parameter: false },
    )
}

fn failure(dialect: &Dialect, status: Option<u16>, error: &VendorError) -> Failure {
    let reason = (dialect.classify)(status, error);
    let message = match reason {
        // The vendor's words show a part of the key.
        ErrorReason::VendorAuth => "the API key was refused",
        _ if error.message.is_empty() => "an error without a message",
        _ => &error.message,
    };
    let code = if error.code.is_empty() { &error.kind } else { &error.code };
    Failure { vendor_code: code.clone(), ..vendor_failure(reason, dialect.name, message) }
}

fn foreign(head: &ResponseHead<'_>, body: &[u8]) -> VendorError {
    let message = match body.trim_ascii_start().first() {
        Some(b'<') => format!("status {}: a page instead of an answer", head.status),
        _ => foreign_message(head, body),
    };
    VendorError { message, ..VendorError::default() }
}

/// OpenAI's table; where it is silent, the ways of llama.cpp and vLLM, and the status.
pub(super) fn classify(status: Option<u16>, error: &VendorError) -> ErrorReason {
    by_code(&error.code)
        .or_else(|| by_message(error))
        .or_else(|| by_kind(&error.kind))
        .unwrap_or_else(|| by_status(status, error))
}

fn by_code(code: &str) -> Option<ErrorReason> {
    Some(match code {
        "context_length_exceeded" => ErrorReason::ContextLengthExceeded,
        "content_policy_violation" | "content_filter" | "invalid_prompt" | "bio_policy" => {
            ErrorReason::ContentPolicy
        }
        "unsupported_value" | "unsupported_parameter" => ErrorReason::UnsupportedParameter,
        "invalid_api_key" => ErrorReason::VendorAuth,
        "unsupported_country_region_territory" | "data_residency_mismatch" => ErrorReason::VendorPermission,
        "model_not_found" => ErrorReason::VendorModelNotFound,
        "rate_limit_exceeded" | "slow_down" => ErrorReason::VendorRateLimited,
        "insufficient_quota"
        | "credit_balance_exhausted"
        | "organization_spend_limit_exceeded"
        | "project_spend_limit_exceeded"
        | "organization_usage_limit_exceeded" => ErrorReason::VendorQuotaExhausted,
        "server_is_overloaded" => ErrorReason::VendorOverloaded,
        "server_error" | "vector_store_timeout" => ErrorReason::VendorError,
        _ => return None,
    })
}

fn by_kind(kind: &str) -> Option<ErrorReason> {
    Some(match kind {
        "insufficient_quota" => ErrorReason::VendorQuotaExhausted,
        "requests" | "tokens" | "rate_limit_error" => ErrorReason::VendorRateLimited,
        "service_unavailable_error" | "unavailable_error" | "overloaded_error" => {
            ErrorReason::VendorOverloaded
        }
        "server_error" => ErrorReason::VendorError,
        "request_forbidden" => ErrorReason::VendorPermission,
        "exceed_context_size_error" => ErrorReason::ContextLengthExceeded,
        _ => return None,
    })
}

fn by_message(error: &VendorError) -> Option<ErrorReason> {
    const TOO_LONG: [&str; 3] =
        ["maximum context length", "available context size", "exceeds the context length"];
    let message = error.message.to_ascii_lowercase();
    if TOO_LONG.iter().any(|phrase| message.contains(phrase)) {
        return Some(ErrorReason::ContextLengthExceeded);
    }
    let unsupported = error.names_parameter && message.contains("not supported");
    unsupported.then_some(ErrorReason::UnsupportedParameter)
}

/// By the status; inside a stream by a code that is one, as compatible servers send it.
fn by_status(status: Option<u16>, error: &VendorError) -> ErrorReason {
    match status.or_else(|| error.code.parse().ok()) {
        Some(520..=523) => ErrorReason::VendorUnreachable,
        Some(524) => ErrorReason::VendorTimeout,
        Some(status) => reason_of_status(status),
        None if error.kind == "invalid_request_error" || error.code.starts_with("image_") => {
            ErrorReason::InvalidRequest
        }
        None => ErrorReason::VendorError,
    }
}
