//! Failures, for people and as JSON.

use super::{
    CommandError,
    connect::{KEY_VARIABLE, root},
    show,
};
use serde_json::{Map, Value, json};
use signalbox_api::{
    status::{code, detail, from_status},
    v1,
};
use signalbox_types::{ErrorReason, Failure};
use std::error::Error as _;
use tonic::{Code, Status};

/// A failed call, with everything that the server said about it.
pub(super) fn from_call(status: &Status) -> CommandError {
    if let Some(error) = status.source().filter(|source| source.is::<tonic::transport::Error>()) {
        let message =
            "the server has not answered: the connection broke; where it speaks TLS, write https://";
        return CommandError::new(message).with_details([root(error)]);
    }
    let failure = from_status(status);
    let message = match failure.message.as_str() {
        "" => "the server gave no message",
        message => message,
    };
    let message = format!("{} ({}): {message}", failure.reason.name(), code_name(status.code()));
    let tried = detail::<v1::RouteFailure>(status).map(|route| tried(&route)).unwrap_or_default();
    let key = (failure.reason == ErrorReason::Unauthenticated)
        .then(|| format!("the API key for commands is taken from the environment: {KEY_VARIABLE}"));
    CommandError::new(message).with_details(details(&failure)).with_details(key).with_details(tried)
}

/// A failure found here, before anyone was called.
pub(super) fn from_failure(failure: &Failure) -> CommandError {
    CommandError::new(failure.to_string()).with_details(details(failure))
}

fn details(failure: &Failure) -> Vec<String> {
    // Often the message is the only violation's; once is enough.
    let more = failure.violations.iter().filter(|at| !failure.message.contains(&at.description));
    let mut lines: Vec<String> = more.map(|at| format!("{}: {}", at.field, at.description)).collect();
    lines.extend(failure.retry_after.map(|wait| format!("try again in {}", show::time(wait))));
    lines
}

fn tried(route: &v1::RouteFailure) -> Vec<String> {
    let mut lines = show::attempts(&route.attempts);
    if let Some(cost) = route.total_cost.as_ref().filter(|cost| cost.unknown || cost.nano_eur != 0) {
        lines.push(format!("cost of all attempts: {}", show::cost(cost)));
    }
    if !route.request_id.is_empty() {
        lines.push(format!("request {}", route.request_id));
    }
    lines
}

/// A failure with the facts of its `google.rpc` details, in the manner of protobuf's JSON.
pub(super) fn to_json(failure: &Failure) -> Value {
    let violations = failure.violations.iter();
    let violations: Vec<Value> =
        violations.map(|at| json!({ "field": at.field, "description": at.description })).collect();
    let fields = [
        ("code", json!(code_name(code(failure.reason)))),
        ("reason", json!(failure.reason.name())),
        ("message", json!(failure.message)),
        ("retryDelay", json!(failure.retry_after.map(|wait| format!("{}s", wait.as_secs_f64())))),
        ("fieldViolations", json!(violations)),
        ("vendorStatus", json!(failure.vendor_status)),
        ("vendorCode", json!(failure.vendor_code)),
        ("vendorRequestId", json!(failure.vendor_request_id)),
    ];
    let said = |value: &Value| !value.is_null() && *value != json!("") && *value != json!([]);
    let fields = fields.into_iter().filter(|(_, value)| said(value));
    Value::Object(fields.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}

/// A code as the documentation of gRPC writes it, as in `INVALID_ARGUMENT`.
fn code_name(code: Code) -> String {
    let mut name = String::new();
    for letter in format!("{code:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use signalbox_api::status::{any, to_status_with};
    use signalbox_types::FieldViolation;
    use std::time::Duration;

    fn overloaded() -> Failure {
        Failure {
            retry_after: Some(Duration::from_millis(1500)),
            violations: vec![FieldViolation { field: "stop[0]".into(), description: "is empty".into() }],
            vendor_status: Some(529),
            ..Failure::new(ErrorReason::VendorOverloaded, "every candidate failed")
        }
    }

    #[test]
    fn a_failed_call_tells_code_reason_fields_and_every_attempt() {
        let attempt = v1::Attempt {
            vendor: "anthropic".into(),
            model: "claude".into(),
            error_reason: "VENDOR_OVERLOADED".into(),
            error_message: "overloaded".into(),
            vendor_status: 529,
            cause: v1::attempt::Cause::FirstChoice as i32,
            ..Default::default()
        };
        let route =
            v1::RouteFailure { request_id: "r-1".into(), attempts: vec![attempt], ..Default::default() };
        let status = to_status_with(&overloaded(), vec![any(&route)]);
        assert_eq!(
            from_call(&status).to_string(),
            "VENDOR_OVERLOADED (UNAVAILABLE): every candidate failed\n  stop[0]: is empty\n  \
             try again in 1.50 s\n  1. anthropic/claude (first choice) failed: VENDOR_OVERLOADED: overloaded \
             (status 529)\n  request r-1"
        );
    }

    #[test]
    fn a_field_that_the_message_names_is_not_named_twice() {
        let failure = Failure::invalid("model", "is unknown");
        assert_eq!(from_failure(&failure).to_string(), "INVALID_REQUEST: model: is unknown");
    }

    #[test]
    fn the_json_of_a_failure_leaves_out_what_nobody_said() {
        let json = to_json(&Failure::new(ErrorReason::InvalidRequest, "no")).to_string();
        assert_eq!(json, r#"{"code":"INVALID_ARGUMENT","message":"no","reason":"INVALID_REQUEST"}"#);
        let told = to_json(&overloaded());
        assert_eq!((told["retryDelay"].as_str(), told["vendorStatus"].as_u64()), (Some("1.5s"), Some(529)));
    }
}
