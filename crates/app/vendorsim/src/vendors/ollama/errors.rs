//! Ollama's errors: a sentence and a status.

use crate::call::Call;
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use serde_json::json;

/// A refusal in Ollama's shape.
pub(crate) fn reply(call: &Call<'_>, problem: &Problem) -> Reply {
    let (usual_status, usual_message) = shape(problem.kind, &call.model);
    let status = problem.status.unwrap_or(usual_status);
    if problem.kind == Kind::NoPath {
        return Reply::whole(404, "text/plain", "404 page not found");
    }
    let mut body = json!({"error": problem.message_or(|| usual_message)});
    if matches!(problem.kind, Kind::BadKey | Kind::NoKey) {
        body["signin_url"] = "https://ollama.com/connect?name=host&key=abc".into();
    }
    Reply::json(status, &body)
}

fn shape(kind: Kind, model: &str) -> (u16, String) {
    let (status, message) = match kind {
        Kind::Invalid | Kind::Policy => (400, "invalid request"),
        Kind::Context => (400, "the input length exceeds the context length"),
        Kind::NoKey | Kind::BadKey => (401, "unauthorized"),
        Kind::Billing => (402, "a subscription is required"),
        Kind::Permission => (403, "ollama cloud is disabled"),
        Kind::NoModel | Kind::NoPath => return (404, format!("model '{model}' not found")),
        Kind::TooLarge => (413, "request body too large"),
        Kind::Rate | Kind::SlowDown | Kind::Quota => (429, "you have reached your hourly usage limit"),
        Kind::Internal => (
            500,
            "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error",
        ),
        Kind::Html => (502, "remote model is unreachable"),
        Kind::Overloaded => (503, "server busy, please try again.  maximum pending requests exceeded"),
        Kind::Timeout => (504, "request timed out"),
    };
    (status, message.to_owned())
}
