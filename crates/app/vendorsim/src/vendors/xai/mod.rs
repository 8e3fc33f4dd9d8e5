//! xAI: OpenAI's formats with its own errors, rules and counts.

mod batches;

use super::openai::{Dialect, chat, complete, files, responses};
use crate::batches::{Plan, Shelf};
use crate::call::{Call, check_key};
use crate::json::{list, present, text};
use crate::problem::{Kind, Problem};
use crate::reply::{Reply, sse_data};
use crate::tokens;
use bytes::Bytes;
use serde_json::{Value, json};

/// Families that are served, by the start of their ids.
const SERVED: [&str; 5] = ["grok-4", "grok-3", "grok-build", "grok-code", "grok-2"];
const RETIRED: [&str; 1] = ["grok-code-fast-1"];
const LISTED: [&str; 7] = [
    "grok-4.7",
    "grok-4.6",
    "grok-4.5",
    "grok-4.3",
    "grok-4.20-0309-reasoning",
    "grok-4.20-0309-non-reasoning",
    "grok-build-0.1",
];

/// xAI's answer.
pub(crate) fn answer(call: &Call<'_>) -> Reply {
    let reply = route(call).unwrap_or_else(|problem| refuse(call, &problem));
    reply.headers(&[
        ("x-ratelimit-limit-requests", "37"),
        ("x-ratelimit-remaining-requests", &call.left_of(37)),
        ("x-ratelimit-limit-tokens", "100000"),
        ("x-ratelimit-remaining-tokens", &call.left_of(100_000)),
    ])
}

/// xAI's answer to what has to do with batches and files.
pub(crate) fn answer_batch(call: &Call<'_>, shelf: &mut Shelf, plan: Plan) -> Reply {
    let answer = check_key(call.bearer()).and_then(|()| {
        if call.path.starts_with("/v1/files") {
            files::answer(call, shelf, Dialect::Xai)
        } else {
            batches::answer(call, shelf, plan)
        }
    });
    answer.unwrap_or_else(|problem| refuse(call, &problem))
}

fn route(call: &Call<'_>) -> Result<Reply, Problem> {
    check_key(call.bearer())?;
    if call.in_batch {
        check_model(&call.model).and_then(|()| batches::check_model(&call.model))?;
    }
    match (call.method.as_str(), call.path) {
        ("POST", "/v1/chat/completions") => {
            check_chat(call)?;
            complete(call, Dialect::Xai)
        }
        ("POST", "/v1/responses") => {
            check_model(&call.model)?;
            responses::answer_in(call, Dialect::Xai)
        }
        ("POST", "/v1/tokenize-text") => tokenize(call),
        ("GET", "/v1/models") => {
            let entry =
                |id| json!({"id": id, "created": chat::CREATED, "object": "model", "owned_by": "xai"});
            Ok(Reply::json(200, &json!({"object": "list", "data": LISTED.map(entry)})))
        }
        ("GET", "/v1/language-models") => {
            Ok(Reply::json(200, &json!({"models": LISTED.map(language_model)})))
        }
        _ => Err(Problem::new(Kind::NoPath)),
    }
}

fn check_model(model: &str) -> Result<(), Problem> {
    let served = SERVED.iter().any(|family| model.starts_with(family)) && !RETIRED.contains(&model);
    if served { Ok(()) } else { Err(Problem::new(Kind::NoModel)) }
}

fn reasons(model: &str) -> bool {
    !model.contains("non-reasoning") && model != "grok-3" && !model.starts_with("grok-2")
}

fn check_chat(call: &Call<'_>) -> Result<(), Problem> {
    let body = call.json()?;
    let Some(messages) = present(body, "messages").and_then(Value::as_array) else {
        return Err(undeserializable("missing field `messages` at line 1 column 2"));
    };
    check_model(&call.model)?;
    if reasons(&call.model) {
        let refused = [
            ("stop", "stop"),
            ("presence_penalty", "presencePenalty"),
            ("frequency_penalty", "frequencyPenalty"),
        ];
        if let Some((_, name)) = refused.iter().find(|(field, _)| present(body, field).is_some()) {
            return Err(Problem::invalid(format!("Argument not supported on this model: {name}")));
        }
    }
    let fixed_effort = ["grok-3", "grok-4-0709", "grok-4-fast-reasoning"].contains(&call.model.as_str());
    if (fixed_effort || !reasons(&call.model)) && present(body, "reasoning_effort").is_some() {
        return Err(Problem::invalid("Argument not supported on this model: reasoningEffort"));
    }
    for (n, message) in messages.iter().enumerate() {
        check_message(n, message)?;
    }
    Ok(())
}

fn check_message(n: usize, message: &Value) -> Result<(), Problem> {
    let role = text(message, "role").unwrap_or_default();
    if !["system", "developer", "user", "assistant", "tool"].contains(&role) {
        return Err(undeserializable(&format!(
            "messages[{n}].role: unknown variant `{role}` at line 1 column 40"
        )));
    }
    for made in list(message, "tool_calls") {
        let arguments = made.pointer("/function/arguments").and_then(Value::as_str).unwrap_or_default();
        if serde_json::from_str::<Value>(arguments).is_err() {
            return Err(Problem::invalid(
                "Invalid arguments passed to the model: tool call arguments are not valid JSON",
            ));
        }
    }
    Ok(())
}

fn undeserializable(why: &str) -> Problem {
    let message = format!("Failed to deserialize the JSON body into the target type: {why}");
    Problem { status: Some(422), ..Problem::invalid(message) }
}

fn tokenize(call: &Call<'_>) -> Result<Reply, Problem> {
    check_model(&call.model)?;
    let text = text(call.json()?, "text").unwrap_or_default();
    let token = |piece: &str| {
        let id = crate::seed::hash(piece.as_bytes()) % 100_000;
        json!({"token_id": id, "string_token": piece, "token_bytes": piece.as_bytes()})
    };
    Ok(Reply::json(200, &json!({"token_ids": tokens::pieces(text).map(token).collect::<Vec<_>>()})))
}

fn language_model(id: &str) -> Value {
    json!({
        "id": id, "fingerprint": "fp_3a78812", "created": chat::CREATED, "object": "model", "owned_by": "xai",
        "version": "1", "input_modalities": ["text", "image"], "output_modalities": ["text"], "aliases": [],
    })
}

/// The error within a stream.
pub(crate) fn in_stream(_: usize) -> Bytes {
    sse_data(&json!({"code": code(Kind::Overloaded), "error": usual_message(Kind::Overloaded, "")})).into()
}

/// A refusal in xAI's flat shape. A bad key is a bad request to xAI, and a body that cannot be read gets plain text.
pub(crate) fn refuse(call: &Call<'_>, problem: &Problem) -> Reply {
    let status = problem.status.unwrap_or_else(|| usual_status(problem.kind));
    let message = problem.message_or(|| usual_message(problem.kind, &call.model));
    let mut reply = match (problem.kind, status) {
        (Kind::Html, _) => Reply::html(status),
        (_, 422) => Reply::whole(422, "text/plain; charset=utf-8", message),
        (_, 401) => Reply::json(401, &json!({"code": code(Kind::NoKey), "error": message})),
        (kind, _) => Reply::json(status, &json!({"code": code(kind), "error": message})),
    };
    if problem.kind == Kind::Rate {
        reply =
            reply.headers(&[("x-ratelimit-limit-requests", "37"), ("x-ratelimit-remaining-requests", "0")]);
    }
    match problem.retry_after {
        Some(seconds) => reply.header("retry-after", &seconds.to_string()),
        None => reply,
    }
}

fn usual_status(kind: Kind) -> u16 {
    match kind {
        Kind::Invalid | Kind::Context | Kind::Policy | Kind::BadKey => 400,
        Kind::NoKey => 401,
        Kind::Billing | Kind::Permission => 403,
        Kind::NoModel | Kind::NoPath => 404,
        Kind::TooLarge => 413,
        Kind::Rate | Kind::SlowDown | Kind::Quota => 429,
        Kind::Internal => 500,
        Kind::Html => 502,
        Kind::Overloaded => 503,
        Kind::Timeout => 504,
    }
}

fn code(kind: Kind) -> &'static str {
    match kind {
        Kind::Invalid | Kind::Context | Kind::Policy | Kind::BadKey | Kind::TooLarge => {
            "Client specified an invalid argument"
        }
        Kind::NoKey => "Unauthenticated",
        Kind::Billing | Kind::Permission => {
            "The caller does not have permission to execute the specified operation"
        }
        Kind::NoModel | Kind::NoPath => "Some requested entity was not found",
        Kind::Rate | Kind::SlowDown | Kind::Quota => "Some resource has been exhausted",
        Kind::Internal | Kind::Html => "Internal error",
        Kind::Overloaded => "The service is currently unavailable",
        Kind::Timeout => "Deadline expired before operation could complete",
    }
}

fn usual_message(kind: Kind, model: &str) -> String {
    let fixed = match kind {
        Kind::Invalid => "The request is not valid.",
        Kind::Context => {
            "This model's maximum prompt length is 500000 but the request contains 512044 tokens."
        }
        Kind::Policy => "Content violates usage guidelines.",
        Kind::NoKey => "No authorization header.",
        Kind::BadKey => "Incorrect API key provided: ba***. You can obtain an API key from the console.",
        Kind::Billing | Kind::Permission => "Your team does not have permission to use this model.",
        Kind::NoModel => {
            return format!("The model {model} does not exist or your team 0000 does not have access to it.");
        }
        Kind::NoPath => "The requested resource was not found.",
        Kind::TooLarge => "The request is too large.",
        Kind::Rate | Kind::SlowDown => return format!("Too many requests for team 0000 and model {model}."),
        Kind::Quota => {
            "Your team 0000 has either used all available credits or reached its monthly spending limit."
        }
        Kind::Internal | Kind::Html => "Internal error encountered.",
        Kind::Overloaded => "Model is at capacity. Please try again.",
        Kind::Timeout => "The request timed out.",
    };
    fixed.to_owned()
}
