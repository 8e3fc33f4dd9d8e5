//! Ollama's own API.

mod ask;
mod embed;
mod errors;
mod models;
mod render;

use crate::answer;
use crate::call::{Call, check_key};
use crate::json::{self, list, present};
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use serde_json::{Value, json};

/// Ollama's answer.
pub(crate) fn answer(call: &Call<'_>) -> Reply {
    route(call).unwrap_or_else(|problem| errors::reply(call, &problem))
}

/// Ollama's refusal.
pub(crate) fn refuse(call: &Call<'_>, problem: &Problem) -> Reply {
    errors::reply(call, problem)
}

fn route(call: &Call<'_>) -> Result<Reply, Problem> {
    // A local server asks for no key; the cloud refuses a wrong one.
    if call.bearer().is_some() {
        check_key(call.bearer())?;
    }
    match (call.method.as_str(), call.path) {
        ("POST", "/api/chat") => chat(call),
        ("POST", "/api/embed") => embed::embed(call),
        ("POST", "/api/embeddings") => embed::embed_legacy(call),
        ("POST", "/api/show") => models::show(call),
        ("GET", "/api/tags") => Ok(Reply::json(200, &models::tags())),
        ("GET", "/api/ps") => Ok(Reply::json(200, &models::loaded())),
        ("GET", "/api/version") => Ok(Reply::json(200, &json!({"version": "0.14.0"}))),
        ("GET" | "HEAD", "" | "/") => Ok(Reply::whole(200, "text/plain; charset=utf-8", "Ollama is running")),
        _ => Err(Problem::new(Kind::NoPath)),
    }
}

/// The body of a request that must have one.
fn body<'a>(call: &'a Call<'_>) -> Result<&'a Value, Problem> {
    match &call.body {
        Ok(Value::Null) => Err(Problem::invalid("missing request body")),
        _ => call.json(),
    }
}

fn chat(call: &Call<'_>) -> Result<Reply, Problem> {
    let body = body(call)?;
    let abilities = models::find(&call.model)?;
    if !abilities.chats {
        return Err(Problem::invalid(format!("\"{}\" does not support chat", call.model)));
    }
    if list(body, "messages").is_empty() {
        let unloads = matches!(body.get("keep_alive"), Some(Value::Number(zero)) if zero.as_f64() == Some(0.0))
            || json::text(body, "keep_alive") == Some("0");
        return Ok(render::load(call, if unloads { "unload" } else { "load" }));
    }
    if !list(body, "tools").is_empty() && !abilities.tools {
        return Err(Problem::invalid(format!("{} does not support tools", call.model)));
    }
    let thinks = present(body, "think").is_some_and(|think| *think != Value::Bool(false));
    if thinks && !abilities.thinks {
        return Err(Problem::invalid(format!("\"{}\" does not support thinking", call.model)));
    }
    let ask = ask::read(call, body, thinks, abilities)?;
    let answer = answer::answer(&ask);
    Ok(if body.get("stream") == Some(&Value::Bool(false)) {
        render::whole(call, &answer)
    } else {
        render::stream(call, &answer)
    })
}
