//! Google Gemini's Developer API.

mod ask;
pub(crate) mod batches;
mod embed;
mod errors;
mod fields;
mod files;
mod models;
mod render;
mod rules;
mod turns;

use crate::answer;
use crate::batches::{Plan, Shelf};
use crate::call::{Call, check_key};
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use crate::rules::Place;
use http::Method;
use serde_json::{Value, json};

/// Gemini's answer.
pub(crate) fn answer(call: &Call<'_>) -> Reply {
    route(call).unwrap_or_else(|problem| errors::reply(call, &problem))
}

/// Gemini's refusal.
pub(crate) fn refuse(call: &Call<'_>, problem: &Problem) -> Reply {
    errors::reply(call, problem)
}

/// What a request is.
pub(crate) fn place_of(method: &Method, path: &str) -> Place {
    let action = path.rsplit_once(':').map_or("", |(_, action)| action);
    let version = path.trim_start_matches("/download").split('/').nth(2).unwrap_or_default();
    match (version.split(':').next().unwrap_or_default(), action) {
        _ if path.starts_with("/upload/") => Place::Upload,
        ("models", "batchGenerateContent" | "asyncBatchEmbedContent") => Place::Create,
        ("batches", "cancel") if method == Method::POST => Place::Cancel,
        ("batches" | "files", _) => Place::Read,
        _ => Place::Call,
    }
}

/// Gemini's answer to what has to do with batches and files.
pub(crate) fn answer_batch(call: &Call<'_>, shelf: &mut Shelf, plan: Plan) -> Reply {
    route_batch(call, shelf, plan).unwrap_or_else(|problem| errors::reply(call, &problem))
}

fn route_batch(call: &Call<'_>, shelf: &mut Shelf, plan: Plan) -> Result<Reply, Problem> {
    if call.path.starts_with("/upload/") {
        return files::upload(call, shelf);
    }
    check_key(call.header("x-goog-api-key").or_else(|| call.parameter("key")))?;
    if let Some((_, _, _, action)) = split_path(call.path) {
        return batches::create(call, shelf, action, plan);
    }
    let path = call.path.strip_prefix("/download").unwrap_or(call.path);
    let rest = path.strip_prefix("/v1beta/").or_else(|| path.strip_prefix("/v1/"));
    let rest = rest.ok_or_else(|| Problem::new(Kind::NoPath))?;
    match (rest.strip_prefix("files"), rest.strip_prefix("batches")) {
        (Some(rest), _) => files::answer(call, shelf, rest.trim_start_matches('/')),
        (_, Some(rest)) => batches::answer(call, shelf, rest.trim_start_matches('/'), plan),
        _ => Err(Problem::new(Kind::NoPath)),
    }
}

/// The model in a path like `/v1beta/models/{model}:generateContent`.
pub(crate) fn model_in_path(path: &str) -> String {
    let model = split_path(path).map_or("", |(_, _, model, _)| model);
    model.replace("%2C", ",").replace("%3D", "=").replace("%7E", "~")
}

/// Version, rest below `models`, model and action.
fn split_path(path: &str) -> Option<(&str, &str, &str, &str)> {
    let (version, rest) = path.strip_prefix('/')?.split_once('/')?;
    let named = rest.strip_prefix("models")?.trim_start_matches('/');
    let (model, action) = named.split_once(':').unwrap_or((named, ""));
    matches!(version, "v1" | "v1beta").then_some((version, named, model, action))
}

/// Whether the answer comes as server-sent events.
pub(crate) fn wants_sse(call: &Call<'_>) -> bool {
    call.parameter("alt") == Some("sse")
}

/// Whether this is the endpoint that streams.
pub(crate) fn streams(call: &Call<'_>) -> bool {
    call.path.ends_with(":streamGenerateContent")
}

fn route(call: &Call<'_>) -> Result<Reply, Problem> {
    check_key(call.header("x-goog-api-key").or_else(|| call.parameter("key")))?;
    let (version, _, model, action) = split_path(call.path).ok_or_else(|| Problem::new(Kind::NoPath))?;
    let known = model.is_empty() || models::find(&call.model).is_ok();
    if !known {
        let action = if action.is_empty() { "getModel" } else { action };
        return Err(Problem::new(Kind::NoModel).saying(format!(
            "models/{} is not found for API version {version}, or is not supported for {action}.",
            call.model
        )));
    }
    match (call.method.as_str(), action) {
        ("GET", "") if model.is_empty() => Ok(Reply::json(200, &models::list(call))),
        ("GET", "") => Ok(Reply::json(200, &models::entry(&call.model))),
        ("POST", "generateContent" | "streamGenerateContent") => generate(call),
        ("POST", "countTokens") => count_tokens(call),
        ("POST", "embedContent") => embed::one(call),
        ("POST", "batchEmbedContents") => embed::batch(call),
        _ => Err(Problem::new(Kind::NoPath)),
    }
}

fn generate(call: &Call<'_>) -> Result<Reply, Problem> {
    let body = call.json()?;
    rules::check(call, body)?;
    let ask = ask::read(call, body)?;
    let limit = models::CONTEXT;
    if ask.prompt_tokens > limit {
        return Err(Problem::new(Kind::Context).saying(format!(
            "The input token count ({}) exceeds the maximum number of tokens allowed ({limit}).",
            ask.prompt_tokens
        )));
    }
    let answer = answer::answer(&ask);
    let images = ask.images.len() as u64;
    Ok(if streams(call) {
        render::stream(call, &answer, images)
    } else {
        render::whole(call, &answer, images)
    })
}

fn count_tokens(call: &Call<'_>) -> Result<Reply, Problem> {
    let body = call.json()?;
    fields::check(body, "", &["contents", "generateContentRequest"])?;
    let request = fields::get(body, "generateContentRequest").unwrap_or(body);
    let total = ask::read(call, request)?.prompt_tokens;
    let details: Value = json!([{"modality": "TEXT", "tokenCount": total}]);
    Ok(Reply::json(200, &json!({"totalTokens": total, "promptTokensDetails": details})))
}
