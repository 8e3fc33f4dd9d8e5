//! OpenAI, and servers that speak its chat completions.

pub(crate) mod ask;
pub(crate) mod batches;
pub(crate) mod chat;
pub(crate) mod embeddings;
pub(crate) mod errors;
pub(crate) mod files;
pub(crate) mod models;
mod moderations;
pub(crate) mod responses;
mod responses_ask;
mod responses_stream;
pub(crate) mod results;
mod rules;
pub(crate) mod stream;
pub(crate) mod usage;

use crate::answer;
use crate::batches::{Plan, Shelf};
use crate::call::{Call, check_key};
use crate::json;
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use crate::rules::Place;
use crate::vendor::Vendor;
use http::Method;
use serde_json::json;

/// Whose variant of the format is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Openai,
    Compatible,
    Xai,
}

impl Dialect {
    /// Who speaks it.
    pub(crate) fn vendor(self) -> Vendor {
        match self {
            Self::Openai => Vendor::Openai,
            Self::Compatible => Vendor::Compatible,
            Self::Xai => Vendor::Xai,
        }
    }
}

/// What a request is, to OpenAI and to xAI.
pub(crate) fn place_of(method: &Method, path: &str) -> Place {
    let below = |root: &str| path.strip_prefix(root).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (below("/v1/files"), below("/v1/batches"), method == Method::POST) {
        (Some(_), _, true) => Place::Upload,
        (_, Some(rest), true) if rest.ends_with("cancel") => Place::Cancel,
        (_, Some(_), true) => Place::Create,
        (None, None, _) => Place::Call,
        _ => Place::Read,
    }
}

/// OpenAI's answer.
pub(crate) fn answer(call: &Call<'_>) -> Reply {
    let reply = route(call).unwrap_or_else(|problem| errors::reply(call, &problem));
    reply.headers(&[
        ("openai-version", "2020-10-01"),
        ("openai-processing-ms", "1"),
        ("x-request-id", &call.seed.id("req_", 0)),
        ("x-ratelimit-limit-requests", "500"),
        ("x-ratelimit-remaining-requests", &call.left_of(500)),
        ("x-ratelimit-limit-tokens", "30000"),
        ("x-ratelimit-remaining-tokens", &call.left_of(30_000)),
    ])
}

/// OpenAI's answer to what has to do with batches and files.
pub(crate) fn answer_batch(call: &Call<'_>, shelf: &mut Shelf, plan: Plan) -> Reply {
    let answer = check_key(call.bearer()).and_then(|()| {
        if call.path.starts_with("/v1/files") {
            files::answer(call, shelf, Dialect::Openai)
        } else {
            batches::answer(call, shelf, plan)
        }
    });
    let reply = answer.unwrap_or_else(|problem| errors::reply(call, &problem));
    reply.headers(&[
        ("openai-version", "2020-10-01"),
        ("openai-processing-ms", "1"),
        ("x-request-id", &call.seed.id("req_", 0)),
    ])
}

/// The answer of a compatible server: no key is needed, any model is served and nothing is refused by model.
pub(crate) fn answer_compatible(call: &Call<'_>) -> Reply {
    route_compatible(call).unwrap_or_else(|problem| errors::reply(call, &problem))
}

/// OpenAI's refusal.
pub(crate) fn refuse(call: &Call<'_>, problem: &Problem) -> Reply {
    errors::reply(call, problem)
}

fn route(call: &Call<'_>) -> Result<Reply, Problem> {
    check_key(call.bearer())?;
    match (call.method.as_str(), call.path) {
        ("POST", "/v1/chat/completions") => {
            rules::check_chat(call)?;
            complete(call, Dialect::Openai)
        }
        ("POST", "/v1/responses") => {
            rules::check_responses(call)?;
            responses::answer(call)
        }
        ("POST", "/v1/responses/input_tokens") => {
            let ask = responses_ask::read(call)?;
            Ok(Reply::json(
                200,
                &json!({"object": "response.input_tokens", "input_tokens": ask.prompt_tokens}),
            ))
        }
        ("POST", "/v1/embeddings") => embeddings::answer(call, models::embedding_dimensions(&call.model)),
        ("POST", "/v1/moderations") => moderations::answer(call),
        ("GET", "/v1/models") => Ok(Reply::json(200, &models::list())),
        ("GET", path) if path.starts_with("/v1/models/") => models::one(&path["/v1/models/".len()..]),
        _ => Err(unknown_path(call)),
    }
}

fn route_compatible(call: &Call<'_>) -> Result<Reply, Problem> {
    if call.bearer().is_some() {
        check_key(call.bearer())?;
    }
    match (call.method.as_str(), call.path) {
        ("POST", "/v1/chat/completions") => complete(call, Dialect::Compatible),
        ("POST", "/v1/embeddings") => embeddings::answer(call, Some(384)),
        ("GET", "/v1/models") => Ok(Reply::json(200, &models::list_compatible())),
        ("GET", "/health") => Ok(Reply::json(200, &json!({"status": "ok"}))),
        _ => Err(unknown_path(call)),
    }
}

/// A chat completion, whole or streamed.
pub(crate) fn complete(call: &Call<'_>, dialect: Dialect) -> Result<Reply, Problem> {
    let ask = ask::read(call, dialect)?;
    let answer = answer::answer(&ask);
    Ok(if json::flag(call.json()?, "stream") {
        stream::render(call, dialect, &answer)
    } else {
        chat::render(call, dialect, &answer)
    })
}

fn unknown_path(call: &Call<'_>) -> Problem {
    Problem::new(Kind::NoPath).saying(format!("Invalid URL ({} {})", call.method, call.path))
}
