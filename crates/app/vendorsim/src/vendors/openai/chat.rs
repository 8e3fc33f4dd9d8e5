//! A whole chat completion.

use super::{Dialect, usage};
use crate::answer::{Answer, Finish};
use crate::call::Call;
use crate::json::text;
use crate::reply::Reply;
use serde_json::{Value, json};

/// All answers were given at this time.
pub(crate) const CREATED: u64 = 1_796_000_101;

/// The response.
pub(crate) fn render(call: &Call<'_>, dialect: Dialect, answer: &Answer) -> Reply {
    let mut body = json!({
        "id": id(call, dialect),
        "object": "chat.completion",
        "created": CREATED,
        "model": call.model,
        "choices": [choice(call, dialect, answer)],
        "system_fingerprint": fingerprint(dialect),
    });
    if !call.quirks.no_usage {
        body["usage"] = usage::chat(answer.usage, &call.model, dialect);
    }
    if dialect == Dialect::Openai {
        body["service_tier"] = "default".into();
    }
    Reply::json(200, &body)
}

fn choice(call: &Call<'_>, dialect: Dialect, answer: &Answer) -> Value {
    let finish = call.quirks.finish(finish_reason(call, answer));
    let mut choice = json!({"index": 0, "message": message(call, dialect, answer), "finish_reason": finish});
    if dialect != Dialect::Xai {
        choice["logprobs"] = Value::Null;
    }
    choice
}

fn message(call: &Call<'_>, dialect: Dialect, answer: &Answer) -> Value {
    let mut message = json!({"role": "assistant", "content": answer.text, "refusal": null});
    if dialect == Dialect::Openai {
        message["annotations"] = json!([]);
    } else if !answer.reasoning.is_empty() {
        message["reasoning_content"] = answer.reasoning.as_str().into();
    }
    if !answer.calls.is_empty() {
        if dialect != Dialect::Xai {
            message["content"] = Value::Null;
        }
        let calls = answer.calls.iter().enumerate().map(|(n, made)| {
            let function = json!({"name": made.name, "arguments": made.arguments_text});
            json!({"id": call_id(call, n), "type": "function", "function": function})
        });
        message["tool_calls"] = calls.collect();
    }
    message
}

/// Id of the completion.
pub(crate) fn id(call: &Call<'_>, dialect: Dialect) -> String {
    call.seed.id(if dialect == Dialect::Xai { "" } else { "chatcmpl-" }, 0)
}

/// Id of the `n`th tool call.
pub(crate) fn call_id(call: &Call<'_>, n: usize) -> Option<String> {
    (!call.quirks.no_ids).then(|| call.seed.id("call_", n))
}

/// The fingerprint that every answer carries.
pub(crate) fn fingerprint(dialect: Dialect) -> &'static str {
    if dialect == Dialect::Xai { "fp_3a78812" } else { "fp_51aa07c2d1" }
}

/// Why the completion ended. A call that was forced by name ends with `stop`.
pub(crate) fn finish_reason(call: &Call<'_>, answer: &Answer) -> &'static str {
    let forced = || {
        let choice = call.json().ok().and_then(|body| body.get("tool_choice"));
        choice.is_some_and(|choice| choice.is_object() && text(choice, "type") == Some("function"))
    };
    match answer.finish {
        Finish::Stop | Finish::Sequence(_) => "stop",
        Finish::Length => "length",
        Finish::Tools if forced() => "stop",
        Finish::Tools => "tool_calls",
    }
}
