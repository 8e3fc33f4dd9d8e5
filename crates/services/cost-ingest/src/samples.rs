//! Accounts for tests.

use prost_types::{Duration, Timestamp};
use signalbox_api::v1::{
    Attempt, Cost, Lane, TokenUsage, UsageAttempt, UsageEvent,
    attempt::Cause,
    token_usage::Source,
    usage_attempt::Kind,
    usage_event::{Operation, Outcome},
};
use std::{
    sync::LazyLock,
    time::{self, SystemTime},
};

/// 2026-11-29T12:00:00Z.
const SECONDS: i64 = 1_795_953_600;

pub(crate) static NOW: LazyLock<SystemTime> =
    LazyLock::new(|| SystemTime::UNIX_EPOCH + time::Duration::from_secs(SECONDS.unsigned_abs()));

/// A request of the tenant `acme` that ended at [`NOW`] with one call, for 0.00025 EUR.
pub(crate) fn event(id: &str) -> UsageEvent {
    let usage = TokenUsage {
        input_tokens: 100,
        output_tokens: 20,
        source: Source::Vendor as i32,
        ..TokenUsage::default()
    };
    let cost = Cost { nano_eur: 250_000, unknown: false, price_version: "p1".to_owned() };
    let attempt = Attempt {
        vendor: "openai".to_owned(),
        model: "gpt-6-luna".to_owned(),
        cause: Cause::FirstChoice as i32,
        latency: Some(Duration { seconds: 1, nanos: 0 }),
        usage: Some(usage),
        cost: Some(cost.clone()),
        ..Attempt::default()
    };
    let made = UsageAttempt {
        attempt: Some(attempt),
        kind: Kind::Answer as i32,
        start_time: Some(Timestamp { seconds: SECONDS - 1, nanos: 0 }),
        ..UsageAttempt::default()
    };
    UsageEvent {
        schema_version: 1,
        event_id: id.to_owned(),
        request_id: format!("request-{id}"),
        tenant_id: "acme".to_owned(),
        scene: "web".to_owned(),
        task_type: "headline".to_owned(),
        lane: Lane::Interactive as i32,
        operation: Operation::Generate as i32,
        vendor: "openai".to_owned(),
        model: "gpt-6-luna".to_owned(),
        attempts: vec![made],
        usage: Some(usage),
        cost: Some(cost),
        outcome: Outcome::Succeeded as i32,
        start_time: Some(Timestamp { seconds: SECONDS - 1, nanos: 0 }),
        end_time: Some(Timestamp { seconds: SECONDS, nanos: 0 }),
        latency: Some(Duration { seconds: 1, nanos: 0 }),
        ..UsageEvent::default()
    }
}

/// The same with an id as it travels: a UUID, see [`id`].
pub(crate) fn sent(name: &str) -> UsageEvent {
    UsageEvent { event_id: id(name), ..event(name) }
}

/// The UUID of an event such as `e7`.
pub(crate) fn id(name: &str) -> String {
    let number: u64 = name.trim_start_matches('e').parse().unwrap_or_default();
    format!("00000000-0000-7000-8000-{number:012}")
}
