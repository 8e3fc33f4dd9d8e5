//! Anthropic's Messages API.

mod ask;
pub(crate) mod batches;
mod errors;
mod models;
mod render;
mod rules;
mod stream;
mod turns;

use crate::answer;
use crate::batches::{Plan, Shelf};
use crate::call::{Call, check_key};
use crate::json;
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use serde_json::json;

/// The version without sampling parameters.
pub(crate) const NEW_VERSION: &str = "2026-10-21";
const OLD_VERSION: &str = "2023-06-01";

/// Anthropic's answer.
pub(crate) fn answer(call: &Call<'_>) -> Reply {
    let reply = route(call).unwrap_or_else(|problem| errors::reply(call, &problem));
    reply.headers(&[
        ("request-id", &errors::request_id(call)),
        ("anthropic-ratelimit-requests-limit", "1000"),
        ("anthropic-ratelimit-requests-remaining", &call.left_of(1000)),
        ("anthropic-ratelimit-input-tokens-limit", "80000"),
        ("anthropic-ratelimit-input-tokens-remaining", &call.left_of(80_000)),
        ("anthropic-ratelimit-output-tokens-limit", "16000"),
        ("anthropic-ratelimit-output-tokens-remaining", &call.left_of(16_000)),
        ("anthropic-ratelimit-tokens-limit", "96000"),
        ("anthropic-ratelimit-tokens-remaining", &call.left_of(96_000)),
    ])
}

/// Anthropic's answer to what has to do with batches.
pub(crate) fn answer_batch(call: &Call<'_>, shelf: &mut Shelf, plan: Plan) -> Reply {
    let allowed =
        check_key(call.header("x-api-key").or_else(|| call.bearer())).and_then(|()| check_version(call));
    let answer = allowed.and_then(|()| batches::answer(call, shelf, plan));
    let reply = answer.unwrap_or_else(|problem| errors::reply(call, &problem));
    reply.header("request-id", &errors::request_id(call))
}

/// Anthropic's refusal.
pub(crate) fn refuse(call: &Call<'_>, problem: &Problem) -> Reply {
    errors::reply(call, problem).header("request-id", &errors::request_id(call))
}

fn route(call: &Call<'_>) -> Result<Reply, Problem> {
    check_key(call.header("x-api-key").or_else(|| call.bearer()))?;
    check_version(call)?;
    match (call.method.as_str(), call.path) {
        ("POST", "/v1/messages") => {
            if call.in_batch {
                batches::check_params(call)?;
            }
            rules::check(call)?;
            let ask = ask::read(call)?;
            let answer = answer::answer(&ask);
            Ok(if json::flag(call.json()?, "stream") {
                stream::render(call, &answer)
            } else {
                render::whole(call, &answer)
            })
        }
        ("POST", "/v1/messages/count_tokens") => {
            rules::check_count(call)?;
            Ok(Reply::json(200, &json!({"input_tokens": ask::read(call)?.prompt_tokens})))
        }
        ("GET", "/v1/models") => Ok(Reply::json(200, &models::list(call))),
        ("GET", path) if path.starts_with("/v1/models/") => models::one(&path["/v1/models/".len()..]),
        _ => Err(Problem::new(Kind::NoPath)),
    }
}

fn check_version(call: &Call<'_>) -> Result<(), Problem> {
    match call.header("anthropic-version") {
        Some(NEW_VERSION | OLD_VERSION) => Ok(()),
        Some(other) => {
            Err(Problem::invalid(format!("anthropic-version: \"{other}\" is not a valid version")))
        }
        None => Err(Problem::invalid("anthropic-version: header is required")),
    }
}
