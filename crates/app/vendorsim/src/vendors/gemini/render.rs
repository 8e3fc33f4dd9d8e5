//! Content, whole or streamed.

use super::{models, wants_sse};
use crate::answer::{Answer, Finish, Usage};
use crate::call::Call;
use crate::json;
use crate::reply::{Frame, Reply};
use crate::seed;
use crate::tokens;
use crate::vendors::image;
use bytes::Bytes;
use serde::Serialize as _;
use serde_json::ser::Serializer;
use serde_json::{Value, json};

/// The response.
pub(crate) fn whole(call: &Call<'_>, answer: &Answer, images: u64) -> Reply {
    let mut parts = Vec::new();
    if shows_thoughts(call) && !answer.reasoning.is_empty() {
        parts.push(json!({"text": answer.reasoning, "thought": true}));
    }
    if !answer.text.is_empty() {
        parts.push(json!({"text": answer.text}));
        if answer.calls.is_empty() {
            sign(call, parts.last_mut(), &answer.text);
        }
    }
    parts.extend(calls(call, answer));
    Reply::json(200, &chunk(call, parts, Some(finish(answer)), answer.usage, images))
        .header("content-type", "application/json; charset=UTF-8")
}

/// The response in chunks: as server-sent events, or as the elements of one JSON array.
pub(crate) fn stream(call: &Call<'_>, answer: &Answer, images: u64) -> Reply {
    let mut usage = Usage { visible: 0, ..answer.usage };
    let mut chunks = Vec::with_capacity(64);
    if shows_thoughts(call) && !answer.reasoning.is_empty() {
        let part = json!({"text": answer.reasoning, "thought": true});
        chunks.push((false, chunk(call, vec![part], None, usage, images)));
    }
    for piece in tokens::pieces(&answer.text) {
        usage.visible += 1;
        chunks.push((true, chunk(call, vec![json!({"text": piece})], None, usage, images)));
    }
    for part in calls(call, answer) {
        usage.visible = answer.usage.visible;
        chunks.push((true, chunk(call, vec![part], None, usage, images)));
    }
    let mut last = vec![json!({"text": ""})];
    if answer.calls.is_empty() {
        sign(call, last.last_mut(), &answer.text);
    }
    chunks.push((false, chunk(call, last, Some(finish(answer)), answer.usage, images)));
    if wants_sse(call) { as_events(&chunks) } else { as_array(&chunks) }
}

fn as_events(chunks: &[(bool, Value)]) -> Reply {
    let frames = chunks.iter().map(|(token, chunk)| {
        let mut bytes = b"data: ".to_vec();
        write_spaced(chunk, &mut bytes);
        bytes.extend_from_slice(b"\r\n\r\n");
        Frame { bytes: bytes.into(), token: *token }
    });
    Reply::stream("text/event-stream", frames.collect(), error_after_events)
        .header("content-disposition", "attachment")
}

fn as_array(chunks: &[(bool, Value)]) -> Reply {
    let mut frames: Vec<Frame> = Vec::with_capacity(chunks.len() + 1);
    for (n, (token, chunk)) in chunks.iter().enumerate() {
        let lead = if n == 0 { "[" } else { ",\n" };
        let text = serde_json::to_string_pretty(chunk).unwrap_or_default();
        frames.push(Frame { bytes: format!("{lead}{text}\n").into(), token: *token });
    }
    frames.push(Frame::plain("]\n"));
    Reply::stream("application/json; charset=UTF-8", frames, error_in_array)
}

/// After events the error comes bare and pretty-printed, without `data:`.
fn error_after_events(_: usize) -> Bytes {
    let text = serde_json::to_string_pretty(&overload()).unwrap_or_default();
    format!("{text}\n").into()
}

fn error_in_array(before: usize) -> Bytes {
    let lead = if before == 0 { "[" } else { ",\n" };
    format!("{lead}{}\n]\n", serde_json::to_string_pretty(&overload()).unwrap_or_default()).into()
}

fn overload() -> Value {
    let message = "This model is currently experiencing high demand.";
    json!({"error": {"code": 503, "message": message, "status": "UNAVAILABLE"}})
}

fn chunk(call: &Call<'_>, parts: Vec<Value>, finish: Option<&str>, usage: Usage, images: u64) -> Value {
    let mut candidate = json!({"content": {"role": "model"}, "index": 0});
    if !parts.is_empty() {
        candidate["content"]["parts"] = parts.into();
    }
    if let Some(reason) = finish.and_then(|reason| call.quirks.finish(reason)) {
        candidate["finishReason"] = reason.into();
    }
    let mut chunk = json!({
        "candidates": [candidate], "modelVersion": call.model, "responseId": call.seed.id("", 0),
    });
    if !call.quirks.no_usage {
        chunk["usageMetadata"] = counts(usage, images);
    }
    chunk
}

/// Thoughts are counted beside the candidates, cached tokens within the prompt; a count of 0 is left out.
fn counts(usage: Usage, images: u64) -> Value {
    let image_tokens = (images * image::TOKENS).min(usage.prompt);
    let mut details = vec![json!({"modality": "TEXT", "tokenCount": usage.prompt - image_tokens})];
    if images > 0 {
        details.push(json!({"modality": "IMAGE", "tokenCount": image_tokens}));
    }
    let mut counts = json!({
        "promptTokenCount": usage.prompt, "promptTokensDetails": details, "serviceTier": "standard",
        "totalTokenCount": usage.prompt + usage.visible + usage.reasoning,
    });
    let optional = [
        ("candidatesTokenCount", usage.visible),
        ("thoughtsTokenCount", usage.reasoning),
        ("cachedContentTokenCount", usage.cached),
    ];
    for (name, count) in optional.into_iter().filter(|(_, count)| *count > 0) {
        counts[name] = count.into();
    }
    if usage.cached > 0 {
        counts["cacheTokensDetails"] = json!([{"modality": "TEXT", "tokenCount": usage.cached}]);
    }
    counts
}

/// The calls as parts: newer models give them ids and sign the first.
fn calls(call: &Call<'_>, answer: &Answer) -> Vec<Value> {
    let made = answer.calls.iter().enumerate();
    let mut parts: Vec<Value> = made
        .map(|(n, made)| {
            let mut function = json!({"name": made.name, "args": made.arguments});
            if models::signs(&call.model) && !call.quirks.no_ids {
                function["id"] = call.seed.id("fc-", n).into();
            }
            json!({"functionCall": function})
        })
        .collect();
    let name = answer.calls.first().map_or("", |made| made.name.as_str());
    sign(call, parts.first_mut(), name);
    parts
}

fn sign(call: &Call<'_>, part: Option<&mut Value>, over: &str) {
    if let Some(part) = part.filter(|_| models::signs(&call.model)) {
        part["thoughtSignature"] = seed::signature("EpwIsimu", over).into();
    }
}

fn shows_thoughts(call: &Call<'_>) -> bool {
    let config = call.json().ok().and_then(|body| super::fields::get(body, "generationConfig"));
    let thinking = config.and_then(|config| super::fields::get(config, "thinkingConfig"));
    thinking.is_some_and(|thinking| {
        json::flag(thinking, "includeThoughts") || json::flag(thinking, "include_thoughts")
    })
}

/// Tool calls end with `STOP`, too.
fn finish(answer: &Answer) -> &'static str {
    if answer.finish == Finish::Length { "MAX_TOKENS" } else { "STOP" }
}

/// Writes JSON on one line with a blank after every colon and comma, as the vendor does.
fn write_spaced(value: &Value, bytes: &mut Vec<u8>) {
    // Writing JSON to memory fails only for maps with odd keys, and none are sent here.
    let _ = value.serialize(&mut Serializer::with_formatter(bytes, Spaced));
}

struct Spaced;

impl serde_json::ser::Formatter for Spaced {
    fn begin_array_value<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + std::io::Write>(&mut self, writer: &mut W) -> std::io::Result<()> {
        writer.write_all(b": ")
    }
}
