//! Anthropic's errors.

use crate::call::Call;
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// Id of the request.
pub(crate) fn request_id(call: &Call<'_>) -> String {
    call.seed.id("req_011S", 0)
}

/// A refusal in Anthropic's shape.
pub(crate) fn reply(call: &Call<'_>, problem: &Problem) -> Reply {
    let (usual_status, name) = shape(problem.kind);
    let status = problem.status.unwrap_or(usual_status);
    if problem.kind == Kind::Html {
        return Reply::html(status);
    }
    let message = problem.message_or(|| usual_message(problem.kind, &call.model));
    let mut body = error(name, &message, &request_id(call));
    let code = match problem.kind {
        Kind::Quota => Some("enforced_spend_limit_reached"),
        Kind::SlowDown => Some("ramp_limit_exceeded"),
        _ => None,
    };
    if let Some(code) = code {
        body["error"]["details"] = json!({"error_code": code});
    }
    let mut reply = Reply::json(status, &body);
    if problem.kind == Kind::Rate {
        reply = rate_headers(reply, call, problem.retry_after.unwrap_or(1));
    }
    if problem.kind == Kind::Overloaded {
        reply = reply.header("x-should-retry", "true");
    }
    match problem.retry_after {
        Some(seconds) => reply.header("retry-after", &seconds.to_string()),
        None => reply,
    }
}

/// An error's body.
pub(crate) fn error(name: &str, message: &str, request_id: &str) -> Value {
    json!({"type": "error", "error": {"type": name, "message": message}, "request_id": request_id})
}

/// Limits of a request that exceeds the input tokens per minute; they reset in `seconds`.
fn rate_headers(reply: Reply, call: &Call<'_>, seconds: u64) -> Reply {
    let now = Timestamp::try_from(call.now).unwrap_or_default();
    let wait = SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(0));
    let reset = now.checked_add(wait).unwrap_or(now);
    let reset = format!("{reset:.0}");
    reply.headers(&[
        ("anthropic-ratelimit-requests-limit", "1000"),
        ("anthropic-ratelimit-requests-remaining", "0"),
        ("anthropic-ratelimit-requests-reset", &reset),
        ("anthropic-ratelimit-input-tokens-limit", "80000"),
        ("anthropic-ratelimit-input-tokens-remaining", "0"),
        ("anthropic-ratelimit-input-tokens-reset", &reset),
        ("anthropic-ratelimit-output-tokens-limit", "16000"),
        ("anthropic-ratelimit-output-tokens-remaining", "16000"),
        ("anthropic-ratelimit-output-tokens-reset", &reset),
        ("anthropic-ratelimit-tokens-limit", "96000"),
        ("anthropic-ratelimit-tokens-remaining", "16000"),
        ("anthropic-ratelimit-tokens-reset", &reset),
    ])
}

fn shape(kind: Kind) -> (u16, &'static str) {
    match kind {
        Kind::Invalid | Kind::Context | Kind::Policy => (400, "invalid_request_error"),
        Kind::NoKey | Kind::BadKey => (401, "authentication_error"),
        Kind::Billing => (402, "billing_error"),
        Kind::Permission => (403, "permission_error"),
        Kind::NoModel | Kind::NoPath => (404, "not_found_error"),
        Kind::TooLarge => (413, "request_too_large"),
        Kind::Rate | Kind::SlowDown | Kind::Quota => (429, "rate_limit_error"),
        Kind::Internal => (500, "api_error"),
        Kind::Html => (502, ""),
        Kind::Overloaded => (529, "overloaded_error"),
        Kind::Timeout => (504, "timeout_error"),
    }
}

fn usual_message(kind: Kind, model: &str) -> String {
    let fixed = match kind {
        Kind::Invalid => "The request is not valid.",
        Kind::Context => "prompt is too long: 212345 tokens > 200000 maximum",
        Kind::Policy => "Output blocked by content filtering policy",
        Kind::NoKey => "x-api-key header is required",
        Kind::BadKey => "invalid x-api-key",
        Kind::Billing => "A billing problem blocks this organization.",
        Kind::Permission => "Your API key does not have permission to use the specified resource.",
        Kind::NoModel => return format!("model: {model}"),
        Kind::NoPath => "Not found",
        Kind::TooLarge => "Request exceeds the maximum size",
        Kind::Rate => {
            "This request would exceed your organization’s rate limit of 80,000 input tokens per minute"
        }
        Kind::SlowDown => "Usage grew too fast.",
        Kind::Quota => "Monthly spend limit reached.",
        Kind::Internal | Kind::Html => "Internal server error",
        Kind::Overloaded => "Overloaded",
        Kind::Timeout => "The request timed out.",
    };
    fixed.to_owned()
}
