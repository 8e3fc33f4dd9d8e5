//! Gemini's errors.

use super::{streams, wants_sse};
use crate::call::Call;
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use serde_json::{Value, json};

/// A refusal in Gemini's shape; the endpoint that streams an array wraps it in one.
pub(crate) fn reply(call: &Call<'_>, problem: &Problem) -> Reply {
    let (usual_status, usual_name) = shape(problem.kind);
    let status = problem.status.unwrap_or(usual_status);
    let name = if status == 401 { "UNAUTHENTICATED" } else { usual_name };
    if problem.kind == Kind::Html || problem.kind == Kind::NoPath {
        return Reply::html(status);
    }
    let message = problem.message_or(|| usual_message(problem.kind, &call.model));
    let mut error = json!({"code": status, "message": message, "status": name});
    let details = if status == 401 { Vec::new() } else { details(call, problem, &message) };
    if !details.is_empty() {
        error["details"] = details.into();
    }
    let body = json!({"error": error});
    if streams(call) && !wants_sse(call) { Reply::json(status, &[body]) } else { Reply::json(status, &body) }
}

fn details(call: &Call<'_>, problem: &Problem, message: &str) -> Vec<Value> {
    match problem.kind {
        Kind::BadKey => vec![
            json!({
                "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com",
                "metadata": {"service": "generativelanguage.googleapis.com"},
            }),
            json!({"@type": "type.googleapis.com/google.rpc.LocalizedMessage", "locale": "en-US", "message": message}),
        ],
        Kind::Invalid => problem.param.iter().map(|field| violation(field, message)).collect(),
        Kind::Rate | Kind::SlowDown => {
            let quota =
                quota_failure(&call.model, "GenerateContentPaidTierInputTokensPerModelPerMinute", "2000000");
            std::iter::once(quota).chain(problem.retry_after.map(retry_info)).collect()
        }
        Kind::Quota => {
            let quota =
                quota_failure(&call.model, "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "250");
            vec![quota, retry_info(problem.retry_after.unwrap_or(12))]
        }
        _ => Vec::new(),
    }
}

fn violation(field: &str, message: &str) -> Value {
    let violation = json!({"field": field, "description": message});
    json!({"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]})
}

fn quota_failure(model: &str, id: &str, limit: &str) -> Value {
    json!({
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{
            "quotaMetric": "generativelanguage.googleapis.com/generate_content_requests", "quotaId": id,
            "quotaDimensions": {"location": "global", "model": model}, "quotaValue": limit,
        }],
    })
}

fn retry_info(seconds: u64) -> Value {
    json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s")})
}

fn shape(kind: Kind) -> (u16, &'static str) {
    match kind {
        Kind::Invalid | Kind::Context | Kind::Policy | Kind::BadKey | Kind::TooLarge => {
            (400, "INVALID_ARGUMENT")
        }
        Kind::Billing => (400, "FAILED_PRECONDITION"),
        Kind::NoKey | Kind::Permission => (403, "PERMISSION_DENIED"),
        Kind::NoModel | Kind::NoPath => (404, "NOT_FOUND"),
        Kind::Rate | Kind::SlowDown | Kind::Quota => (429, "RESOURCE_EXHAUSTED"),
        Kind::Internal => (500, "INTERNAL"),
        Kind::Html => (502, ""),
        Kind::Overloaded => (503, "UNAVAILABLE"),
        Kind::Timeout => (504, "DEADLINE_EXCEEDED"),
    }
}

fn usual_message(kind: Kind, model: &str) -> String {
    let fixed = match kind {
        Kind::Invalid => "Request contains an invalid argument.",
        Kind::Context => {
            "The input token count (1054016) exceeds the maximum number of tokens allowed (1048576)."
        }
        Kind::Policy => "The request was blocked by the content policy.",
        Kind::NoKey => {
            "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other \
             form of API consumer identity to call this API."
        }
        Kind::BadKey => "API key not valid. Please pass a valid API key.",
        Kind::Billing => "User location is not supported for the API use.",
        Kind::Permission => "The caller does not have permission",
        Kind::NoModel | Kind::NoPath => {
            return format!(
                "models/{model} is not found for API version v1beta, or is not supported for generateContent."
            );
        }
        Kind::TooLarge => "Request payload size exceeds the limit: 20971520 bytes.",
        Kind::Rate | Kind::SlowDown | Kind::Quota => {
            "You exceeded your current quota, please check your plan and billing details."
        }
        Kind::Internal | Kind::Html => "An internal error has occurred. Please retry.",
        Kind::Overloaded => "The model is overloaded. Please try again later.",
        Kind::Timeout => "Deadline expired before operation could complete.",
    };
    fixed.to_owned()
}
