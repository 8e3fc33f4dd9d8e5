//! OpenAI's errors.

use crate::call::Call;
use crate::problem::{Kind, Problem};
use crate::reply::{Reply, sse_data};
use bytes::Bytes;
use serde_json::{Value, json};

/// A refusal in OpenAI's shape.
pub(crate) fn reply(call: &Call<'_>, problem: &Problem) -> Reply {
    let (usual_status, kind, usual_code) = shape(problem.kind);
    let status = problem.status.unwrap_or(usual_status);
    if problem.kind == Kind::Html {
        return Reply::html(status);
    }
    let message = problem.message_or(|| usual_message(problem.kind, &call.model));
    let code = problem.code.or(usual_code);
    let usual_param = (problem.kind == Kind::Context).then_some("messages");
    let param = problem.param.as_deref().or(usual_param);
    let mut reply = Reply::json(status, &json!({"error": error(&message, kind, param, code)}));
    if problem.kind == Kind::Rate {
        reply = reply.headers(&RATE_HEADERS);
    }
    if problem.kind == Kind::Quota {
        reply = reply.header("x-should-retry", "false");
    }
    if let Some(seconds) = problem.retry_after {
        reply = reply.header("retry-after", &seconds.to_string());
        if problem.kind == Kind::Rate {
            reply = reply.header("retry-after-ms", &(seconds * 1000).to_string());
        }
    }
    reply
}

/// The error within a stream of chat completions.
pub(crate) fn in_stream(_: usize) -> Bytes {
    let (_, kind, code) = shape(Kind::Internal);
    sse_data(&json!({"error": error(&usual_message(Kind::Internal, ""), kind, None, code)})).into()
}

const RATE_HEADERS: [(&str, &str); 6] = [
    ("x-ratelimit-limit-requests", "500"),
    ("x-ratelimit-remaining-requests", "0"),
    ("x-ratelimit-reset-requests", "1s"),
    ("x-ratelimit-limit-tokens", "30000"),
    ("x-ratelimit-remaining-tokens", "29871"),
    ("x-ratelimit-reset-tokens", "258ms"),
];

fn error(message: &str, kind: &str, param: Option<&str>, code: Option<&str>) -> Value {
    json!({"message": message, "type": kind, "param": param, "code": code})
}

fn shape(kind: Kind) -> (u16, &'static str, Option<&'static str>) {
    const INVALID: &str = "invalid_request_error";
    match kind {
        Kind::Invalid => (400, INVALID, None),
        Kind::Context => (400, INVALID, Some("context_length_exceeded")),
        Kind::Policy => (400, INVALID, Some("content_policy_violation")),
        Kind::NoKey => (401, INVALID, None),
        Kind::BadKey => (401, INVALID, Some("invalid_api_key")),
        Kind::Billing => (402, "billing_error", Some("billing_not_active")),
        Kind::Permission => (403, "request_forbidden", Some("unsupported_country_region_territory")),
        Kind::NoModel => (404, INVALID, Some("model_not_found")),
        Kind::NoPath => (404, INVALID, None),
        Kind::TooLarge => (413, INVALID, Some("request_too_large")),
        Kind::Rate => (429, "requests", Some("rate_limit_exceeded")),
        Kind::SlowDown => (429, "rate_limit_error", Some("slow_down")),
        Kind::Quota => (429, "insufficient_quota", Some("insufficient_quota")),
        Kind::Internal => (500, "server_error", None),
        Kind::Html => (502, "", None),
        Kind::Overloaded => (503, "service_unavailable_error", Some("server_is_overloaded")),
        Kind::Timeout => (504, "server_error", None),
    }
}

fn usual_message(kind: Kind, model: &str) -> String {
    let fixed = match kind {
        Kind::Invalid => "The request is not valid.",
        Kind::Context => {
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 131207 tokens."
        }
        Kind::Policy => "Your request was rejected as a result of our safety system.",
        Kind::NoKey => {
            "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth."
        }
        Kind::BadKey => {
            "Incorrect API key provided: bad-***y. You can find your API key in your account page."
        }
        Kind::Billing => "Your account is not active, please check your billing details.",
        Kind::Permission => "Country, region, or territory not supported",
        Kind::NoModel => {
            return format!("The model `{model}` does not exist or you do not have access to it.");
        }
        Kind::NoPath => "Invalid URL",
        Kind::TooLarge => "The request body is too large.",
        Kind::Rate => {
            return format!(
                "Rate limit reached for {model} in organization org-x on requests per min (RPM): Limit 500, Used 500, \
                 Requested 1. Please try again in 1s."
            );
        }
        Kind::SlowDown => "Traffic grew too quickly.",
        Kind::Quota => "You exceeded your current quota, please check your plan and billing details.",
        Kind::Internal | Kind::Html => "The server had an error while processing your request.",
        Kind::Overloaded => "The requested model is overloaded.",
        Kind::Timeout => "The request timed out.",
    };
    fixed.to_owned()
}
