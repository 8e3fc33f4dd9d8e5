//! A whole message, and the parts that a stream shares with it.

use crate::answer::{Answer, Finish, Usage};
use crate::call::Call;
use crate::json::text;
use crate::reply::Reply;
use crate::seed;
use serde_json::{Value, json};

/// How every signature of the simulator starts.
pub(crate) const SIGNATURE: &str = "EqQBsimu";

/// Whether `signature` belongs to `thinking`; omitted thinking cannot be told.
pub(crate) fn signs(signature: &str, thinking: &str) -> bool {
    thinking.is_empty() || signature == seed::signature(SIGNATURE, thinking)
}

/// The response.
pub(crate) fn whole(call: &Call<'_>, answer: &Answer) -> Reply {
    let mut content = Vec::new();
    if !answer.reasoning.is_empty() {
        content.push(
            json!({"type": "thinking", "thinking": shown_thinking(call, answer), "signature": sign(answer)}),
        );
    }
    if !answer.text.is_empty() {
        content.push(json!({"type": "text", "text": answer.text}));
    }
    content.extend(answer.calls.iter().enumerate().map(|(n, made)| {
        json!({"type": "tool_use", "id": call.seed.id("toolu_", n), "name": made.name, "input": made.arguments})
    }));
    let mut body = message(call, content);
    let (reason, sequence) = stop(answer);
    body["stop_reason"] = json!(call.quirks.finish(reason));
    body["stop_sequence"] = json!(sequence);
    if !call.quirks.no_usage {
        body["usage"] = first_usage(call, answer.usage);
        body["usage"]["output_tokens"] = (answer.usage.visible + answer.usage.reasoning).into();
        if answer.usage.reasoning > 0 {
            body["usage"]["output_tokens_details"] = json!({"thinking_tokens": answer.usage.reasoning});
        }
    }
    Reply::json(200, &body)
}

/// A message without an end and without counts.
pub(crate) fn message(call: &Call<'_>, content: Vec<Value>) -> Value {
    json!({
        "id": call.seed.id("msg_", 0), "type": "message", "role": "assistant", "model": call.model, "content": content,
        "stop_reason": null, "stop_sequence": null, "stop_details": null,
    })
}

/// Thinking as it is shown: not at all with `display: omitted`.
pub(crate) fn shown_thinking<'a>(call: &Call<'_>, answer: &'a Answer) -> &'a str {
    let display = call.json().ok().and_then(|body| body.pointer("/thinking/display"));
    if display.and_then(Value::as_str) == Some("omitted") { "" } else { &answer.reasoning }
}

/// The signature of the thinking.
pub(crate) fn sign(answer: &Answer) -> String {
    seed::signature(SIGNATURE, &answer.reasoning)
}

/// Why the message ended, with the sequence that stopped it.
pub(crate) fn stop(answer: &Answer) -> (&'static str, Option<&str>) {
    match &answer.finish {
        Finish::Stop => ("end_turn", None),
        Finish::Sequence(sequence) => ("stop_sequence", Some(sequence)),
        Finish::Length => ("max_tokens", None),
        Finish::Tools => ("tool_use", None),
    }
}

/// Counts as the start of a stream has them: the whole input, and one token of output.
///
/// The cache only comes in where the request asks for it, and its tokens are not part of `input_tokens`.
pub(crate) fn first_usage(call: &Call<'_>, usage: Usage) -> Value {
    let lifetime = call.json().ok().and_then(cache_lifetime);
    let (cached, written) = if lifetime.is_some() { (usage.cached, usage.written) } else { (0, 0) };
    let hour = if lifetime == Some(Lifetime::Hour) { written } else { 0 };
    json!({
        "input_tokens": usage.prompt - cached - written,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": cached,
        "cache_creation": {"ephemeral_5m_input_tokens": written - hour, "ephemeral_1h_input_tokens": hour},
        "output_tokens": 1,
        "service_tier": if call.in_batch { "batch" } else { "standard" },
        "inference_geo": "global",
    })
}

/// How long the cache is to keep what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lifetime {
    FiveMinutes,
    Hour,
}

/// The lifetime that the first `cache_control` of a request asks for.
fn cache_lifetime(value: &Value) -> Option<Lifetime> {
    match value {
        Value::Object(members) => match members.get("cache_control") {
            Some(control) if text(control, "ttl") == Some("1h") => Some(Lifetime::Hour),
            Some(Value::Object(_)) => Some(Lifetime::FiveMinutes),
            _ => members.values().find_map(cache_lifetime),
        },
        Value::Array(items) => items.iter().find_map(cache_lifetime),
        _ => None,
    }
}
