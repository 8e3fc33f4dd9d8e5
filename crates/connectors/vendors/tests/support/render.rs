//! What the codecs read, as JSON for people to compare. Fields that say nothing are left out.

use serde_json::{Map, Value, json};
use signalbox_ports::vendor_batch::{ItemOutcome, ItemResult, VendorBatch};
use signalbox_types::{
    EmbeddingAnswer, Failure, ModelAnswer, Part, StreamEvent, TokenUsage, UsageSource, VendorKind,
};

use super::Streamed;
use signalbox_vendors::ResultSource;
use std::time::SystemTime;

pub(crate) fn answer(answer: &ModelAnswer) -> Value {
    said([
        ("id", json!(answer.id)),
        ("model", json!(answer.model)),
        ("parts", answer.parts.iter().map(part).collect()),
        ("finish_reason", json!(format!("{:?}", answer.finish_reason))),
        ("vendor_finish_reason", json!(answer.vendor_finish_reason)),
        ("usage", usage(&answer.usage)),
    ])
}

pub(crate) fn streamed(streamed: &Streamed) -> Value {
    said([
        ("events", streamed.events.iter().map(event).collect()),
        ("failure", streamed.failure.as_ref().map(failure).unwrap_or_default()),
        ("usage_at_end", streamed.usage.as_ref().map(usage).unwrap_or_default()),
    ])
}

pub(crate) fn failure(failure: &Failure) -> Value {
    let violations: Vec<Value> = failure
        .violations
        .iter()
        .map(|violation| json!({ "field": violation.field, "description": violation.description }))
        .collect();
    said([
        ("reason", json!(failure.reason.name())),
        ("message", json!(failure.message)),
        ("retry_after_ms", json!(failure.retry_after.map(|wait| wait.as_millis() as u64))),
        ("violations", json!(violations)),
        ("vendor_status", json!(failure.vendor_status)),
        ("vendor_code", json!(failure.vendor_code)),
        ("vendor_request_id", json!(failure.vendor_request_id)),
    ])
}

pub(crate) fn embeddings(answer: &EmbeddingAnswer) -> Value {
    said([
        ("model", json!(answer.model)),
        ("embeddings", json!(answer.embeddings)),
        ("usage", usage(&answer.usage)),
    ])
}

pub(crate) fn batch(batch: &VendorBatch) -> Value {
    let count = |count: u64| json!((count > 0).then_some(count));
    said([
        ("id", json!(batch.id)),
        ("state", json!(format!("{:?}", batch.state))),
        ("total", count(batch.total)),
        ("succeeded", count(batch.succeeded)),
        ("failed", count(batch.failed)),
        ("created", time(batch.created)),
        ("expires", time(batch.expires)),
        ("ended", time(batch.ended)),
        ("refusal", batch.refusal.as_ref().map(failure).unwrap_or_default()),
    ])
}

pub(crate) fn sources(sources: &[ResultSource]) -> Value {
    let source = |source: &ResultSource| match source {
        ResultSource::Lines(path) => json!({ "lines": path }),
        ResultSource::Elements(path, key) => json!({ "elements": path, "key": key }),
    };
    sources.iter().map(source).collect()
}

pub(crate) fn result(result: &ItemResult) -> Value {
    let outcome = match &result.outcome {
        ItemOutcome::Answer(answer) => self::answer(answer),
        ItemOutcome::Vectors(vectors) => embeddings(vectors),
        ItemOutcome::Failed(failure) => json!({ "failed": self::failure(failure) }),
        ItemOutcome::Cancelled => json!("cancelled"),
        ItemOutcome::Expired => json!("expired"),
    };
    said([("key", json!(result.key)), ("request_id", json!(result.request_id)), ("outcome", outcome)])
}

fn time(time: Option<SystemTime>) -> Value {
    json!(time.map(|time| time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()))
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text { text, .. } => json!({ "text": text }),
        Part::Image(image) => json!({ "image": format!("{:?}", image.source) }),
        Part::ToolCall(call) => json!({ "tool_call": said([
            ("id", json!(call.id)),
            ("name", json!(call.name)),
            ("arguments", json!(call.arguments)),
            ("signature", json!(call.signature)),
        ]) }),
        Part::ToolResult(result) => json!({ "tool_result": result.content }),
        Part::Reasoning(reasoning) => json!({ "reasoning": said([
            ("text", json!(reasoning.text)),
            ("signature", json!(reasoning.signature)),
            ("redacted", json!(reasoning.redacted.then_some(true))),
            ("vendor", vendor(&reasoning.vendor)),
        ]) }),
    }
}

fn event(event: &StreamEvent) -> Value {
    match event {
        StreamEvent::Text(text) => json!({ "text": text }),
        StreamEvent::Reasoning(delta) => json!({ "reasoning": said([
            ("text", json!(delta.text)),
            ("signature", json!(delta.signature)),
            ("redacted", json!(delta.redacted.then_some(true))),
            ("vendor", vendor(&delta.vendor)),
        ]) }),
        StreamEvent::ToolCall(delta) => json!({ "tool_call": said([
            ("index", json!(delta.index)),
            ("id", json!(delta.id)),
            ("name", json!(delta.name)),
            ("arguments", json!(delta.arguments)),
            ("signature", json!(delta.signature)),
        ]) }),
        StreamEvent::Done(done) => json!({ "done": said([
            ("id", json!(done.id)),
            ("model", json!(done.model)),
            ("finish_reason", json!(format!("{:?}", done.finish_reason))),
            ("vendor_finish_reason", json!(done.vendor_finish_reason)),
            ("usage", usage(&done.usage)),
        ]) }),
    }
}

/// Reasoning goes back to its writer only, by this name.
fn vendor(name: &str) -> Value {
    assert!(VendorKind::ALL.iter().any(|kind| kind.name() == name), "`{name}` is no kind of vendor");
    json!(name)
}

fn usage(usage: &TokenUsage) -> Value {
    if usage.source == UsageSource::Unknown {
        return json!("unknown");
    }
    let count = |count: u64| json!((count > 0).then_some(count));
    said([
        ("input", json!(usage.input)),
        ("cache_read", count(usage.cache_read)),
        ("cache_write", count(usage.cache_write)),
        ("cache_write_1h", count(usage.cache_write_1h)),
        ("output", json!(usage.output)),
        ("reasoning", count(usage.reasoning)),
        ("source", json!(format!("{:?}", usage.source))),
        ("vendor_cost_usd_ticks", json!(usage.vendor_cost_usd_ticks)),
    ])
}

fn said<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let silent = |value: &Value| {
        value.is_null() || value.as_str() == Some("") || value.as_array().is_some_and(Vec::is_empty)
    };
    let fields = fields.into_iter().filter(|(_, value)| !silent(value));
    Value::Object(fields.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}
