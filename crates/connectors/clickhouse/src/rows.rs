//! An account as a row of `usage_events`.

use crate::time;
use clickhouse::Row;
use prost::Message as _;
use serde::Serialize;
use signalbox_api::v1::{Attempt, CacheEffect, TokenUsage, UsageAttempt, UsageEvent, cache_effect::Outcome};
use signalbox_ports::usage_facts::{Call, Measures, calls};

/// The columns, in words and numbers of the account where nothing else is said.
#[derive(Debug, Row, Serialize)]
pub(crate) struct EventRow<'a> {
    event_id: &'a str,
    counted_at: i64,
    batch: &'a str,
    request_id: &'a str,
    trace_id: &'a str,
    tenant_id: &'a str,
    key_id: &'a str,
    scene: &'a str,
    task_type: &'a str,
    locale: &'a str,
    reference: &'a str,
    lane: &'static str,
    operation: &'static str,
    requested_model: &'a str,
    vendor: &'a str,
    model: &'a str,
    served_model: &'a str,
    route_reason: &'a str,
    outcome: &'static str,
    error_reason: &'a str,
    finish_reason: &'static str,
    cache_outcome: &'static str,
    simulated: bool,
    started_at: i64,
    ended_at: i64,
    latency_us: u64,
    first_token_us: u64,
    attempts_made: u32,
    fallback: bool,
    cache_hit: bool,
    input_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    cache_write_1h_tokens: u64,
    output_tokens: u64,
    reasoning_tokens: u64,
    certainty: u8,
    /// Whole nano-EUR are what a `Decimal(18, 9)` is on the wire.
    cost: i64,
    cost_unknown: bool,
    price_version: &'a str,
    saved: i64,
    saved_unknown: bool,
    #[serde(rename = "attempts.vendor")]
    attempt_vendor: Vec<&'a str>,
    #[serde(rename = "attempts.model")]
    attempt_model: Vec<&'a str>,
    #[serde(rename = "attempts.served_model")]
    attempt_served_model: Vec<&'a str>,
    #[serde(rename = "attempts.kind")]
    attempt_kind: Vec<&'static str>,
    #[serde(rename = "attempts.cause")]
    attempt_cause: Vec<&'static str>,
    #[serde(rename = "attempts.error_reason")]
    attempt_error_reason: Vec<&'a str>,
    #[serde(rename = "attempts.fallback_reason")]
    attempt_fallback_reason: Vec<&'a str>,
    #[serde(rename = "attempts.vendor_status")]
    attempt_vendor_status: Vec<u32>,
    #[serde(rename = "attempts.started_at")]
    attempt_started_at: Vec<i64>,
    #[serde(rename = "attempts.latency_us")]
    attempt_latency_us: Vec<u64>,
    #[serde(rename = "attempts.first_token_us")]
    attempt_first_token_us: Vec<u64>,
    #[serde(rename = "attempts.input_tokens")]
    attempt_input_tokens: Vec<u64>,
    #[serde(rename = "attempts.cache_read_tokens")]
    attempt_cache_read_tokens: Vec<u64>,
    #[serde(rename = "attempts.cache_write_tokens")]
    attempt_cache_write_tokens: Vec<u64>,
    #[serde(rename = "attempts.cache_write_1h_tokens")]
    attempt_cache_write_1h_tokens: Vec<u64>,
    #[serde(rename = "attempts.output_tokens")]
    attempt_output_tokens: Vec<u64>,
    #[serde(rename = "attempts.reasoning_tokens")]
    attempt_reasoning_tokens: Vec<u64>,
    #[serde(rename = "attempts.token_source")]
    attempt_token_source: Vec<&'static str>,
    #[serde(rename = "attempts.cost")]
    attempt_cost: Vec<i64>,
    #[serde(rename = "attempts.cost_unknown")]
    attempt_cost_unknown: Vec<bool>,
    #[serde(rename = "attempts.simulated")]
    attempt_simulated: Vec<bool>,
    #[serde(rename = "attempts.failed")]
    attempt_failed: Vec<bool>,
    #[serde(rename = "attempts.first_choice")]
    attempt_first_choice: Vec<bool>,
    #[serde(rename = "attempts.fell_back")]
    attempt_fell_back: Vec<bool>,
    #[serde(rename = "attempts.structured")]
    attempt_structured: Vec<bool>,
    #[serde(rename = "attempts.invalid")]
    attempt_invalid: Vec<bool>,
    #[serde(rename = "attempts.answered")]
    attempt_answered: Vec<bool>,
    #[serde(rename = "attempts.answer_tokens")]
    attempt_answer_tokens: Vec<u64>,
    #[serde(serialize_with = "as_bytes")]
    event: Vec<u8>,
}

fn as_bytes<S: serde::Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytes)
}

impl<'a> EventRow<'a> {
    pub(crate) fn new(event: &'a UsageEvent, counted_at: i64, batch: &'a str) -> Self {
        let measures = Measures::of(event);
        let made = Made::of(event);
        let usage = measures.usage;
        Self {
            event_id: &event.event_id,
            counted_at,
            batch,
            request_id: &event.request_id,
            trace_id: &event.trace_id,
            tenant_id: &event.tenant_id,
            key_id: &event.key_id,
            scene: &event.scene,
            task_type: &event.task_type,
            locale: &event.locale,
            reference: &event.reference,
            lane: event.lane().as_str_name(),
            operation: event.operation().as_str_name(),
            requested_model: &event.requested_model,
            vendor: &event.vendor,
            model: &event.model,
            served_model: &event.served_model,
            route_reason: &event.route_reason,
            outcome: event.outcome().as_str_name(),
            error_reason: &event.error_reason,
            finish_reason: event.finish_reason().as_str_name(),
            cache_outcome: cache_outcome(event).as_str_name(),
            simulated: event.simulated,
            started_at: time::of_timestamp(event.start_time.as_ref()),
            ended_at: time::of_timestamp(event.end_time.as_ref()),
            latency_us: time::of_duration(event.latency.as_ref()),
            first_token_us: time::of_duration(event.time_to_first_token.as_ref()),
            attempts_made: u32::try_from(measures.attempts).unwrap_or(u32::MAX),
            fallback: measures.fallback,
            cache_hit: measures.cache_hit,
            input_tokens: usage.input_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            cache_write_1h_tokens: usage.cache_write_1h_tokens,
            output_tokens: usage.output_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            certainty: measures.certainty as u8,
            cost: measures.cost_nano_eur,
            cost_unknown: measures.cost_unknown,
            price_version: event.cost.as_ref().map_or("", |cost| cost.price_version.as_str()),
            saved: measures.saved_nano_eur,
            saved_unknown: measures.saved_unknown,
            attempt_vendor: made.each(|made| made.attempt.vendor.as_str()),
            attempt_model: made.each(|made| made.attempt.model.as_str()),
            attempt_served_model: made.each(|made| made.outer.served_model.as_str()),
            attempt_kind: made.each(|made| made.outer.kind().as_str_name()),
            attempt_cause: made.each(|made| made.attempt.cause().as_str_name()),
            attempt_error_reason: made.each(|made| made.attempt.error_reason.as_str()),
            attempt_fallback_reason: made.each(|made| made.outer.fallback_reason.as_str()),
            attempt_vendor_status: made.each(|made| made.attempt.vendor_status),
            attempt_started_at: made.each(|made| time::of_timestamp(made.outer.start_time.as_ref())),
            attempt_latency_us: made.each(|made| time::of_duration(made.attempt.latency.as_ref())),
            attempt_first_token_us: made.each(|it| time::of_duration(it.outer.time_to_first_token.as_ref())),
            attempt_input_tokens: made.each(|made| made.usage.input_tokens),
            attempt_cache_read_tokens: made.each(|made| made.usage.cache_read_tokens),
            attempt_cache_write_tokens: made.each(|made| made.usage.cache_write_tokens),
            attempt_cache_write_1h_tokens: made.each(|made| made.usage.cache_write_1h_tokens),
            attempt_output_tokens: made.each(|made| made.usage.output_tokens),
            attempt_reasoning_tokens: made.each(|made| made.usage.reasoning_tokens),
            attempt_token_source: made.each(|made| made.usage.source().as_str_name()),
            attempt_cost: made.each(|made| made.call.cost_nano_eur.unwrap_or_default()),
            attempt_cost_unknown: made.each(|made| made.call.cost_nano_eur.is_none()),
            attempt_simulated: made.each(|made| made.outer.simulated),
            attempt_failed: made.each(|made| made.call.failed),
            attempt_first_choice: made.each(|made| made.call.first_choice),
            attempt_fell_back: made.each(|made| made.call.fell_back),
            attempt_structured: made.each(|made| made.call.structured),
            attempt_invalid: made.each(|made| made.call.invalid),
            attempt_answered: made.each(|made| made.call.output_tokens.is_some()),
            attempt_answer_tokens: made.each(|made| made.call.output_tokens.unwrap_or_default()),
            event: event.encode_to_vec(),
        }
    }
}

fn cache_outcome(event: &UsageEvent) -> Outcome {
    event.cache.as_ref().map_or(Outcome::Unspecified, CacheEffect::outcome)
}

/// One call of an account.
struct MadeCall<'a> {
    outer: &'a UsageAttempt,
    attempt: &'a Attempt,
    usage: TokenUsage,
    call: Call<'a>,
}

/// The calls of an account.
struct Made<'a>(Vec<MadeCall<'a>>);

impl<'a> Made<'a> {
    fn of(event: &'a UsageEvent) -> Self {
        let made = event.attempts.iter().filter_map(|outer| Some((outer, outer.attempt.as_ref()?)));
        let with_call = made.zip(calls(event)).map(|((outer, attempt), call)| {
            let usage = attempt.usage.unwrap_or_default();
            MadeCall { outer, attempt, usage, call }
        });
        Self(with_call.collect())
    }

    fn each<T>(&self, column: impl Fn(&MadeCall<'a>) -> T) -> Vec<T> {
        self.0.iter().map(column).collect()
    }
}
