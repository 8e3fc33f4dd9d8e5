//! Values that cannot be meant, and those that are missing.

use super::SCHEMA_VERSION;
use prost_types::{Duration as ProtoDuration, Timestamp};
use signalbox_api::v1::{
    Cost, TokenUsage, UsageAttempt, UsageEvent,
    usage_event::{Operation, Outcome},
};
use std::time::{Duration, SystemTime};
use uuid::Uuid;

/// A day: clocks differ, and not by more.
const MOST_AHEAD: Duration = Duration::from_secs(24 * 60 * 60);
/// Two years: no spool waits longer.
const OLDEST: Duration = Duration::from_secs(2 * 366 * 24 * 60 * 60);
/// A year: no request takes longer.
const LONGEST: i64 = 366 * 24 * 60 * 60;
/// A million euros, for one request.
const DEAREST: i64 = 1_000_000 * 1_000_000_000;
/// Of each kind, for one request.
const MOST_TOKENS: u64 = 1_000_000_000;
const MOST_ATTEMPTS: usize = 1_000;
/// Bytes of a name or an id.
const LONGEST_NAME: usize = 1_024;

type Checked = Result<(), String>;

/// The first value at fault, named by its field.
pub(super) fn check(event: &UsageEvent, now: SystemTime) -> Checked {
    hold(event.schema_version == SCHEMA_VERSION, || "schema_version: is missing".to_owned())?;
    required(event)?;
    names(event)?;
    times(event, now)?;
    tokens(event.usage.as_ref(), "usage")?;
    cost(event.cost.as_ref(), "cost")?;
    cost(event.cache.as_ref().and_then(|cache| cache.saved.as_ref()), "cache.saved")?;
    tokens(event.cache.as_ref().and_then(|cache| cache.saved_usage.as_ref()), "cache.saved_usage")?;
    hold(event.attempts.len() <= MOST_ATTEMPTS, || {
        format!("attempts: has {}, at most {MOST_ATTEMPTS} are believed", event.attempts.len())
    })?;
    for (index, made) in event.attempts.iter().enumerate() {
        attempt(made).map_err(|detail| format!("attempts[{index}].{detail}"))?;
    }
    sums(event)
}

fn hold(holds: bool, otherwise: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn required(event: &UsageEvent) -> Checked {
    // Who pays may be empty: without authentication a request need not say.
    for (field, value) in [("event_id", &event.event_id), ("request_id", &event.request_id)] {
        hold(!value.is_empty(), || format!("{field}: is missing"))?;
    }
    hold(Uuid::try_parse(&event.event_id).is_ok(), || "event_id: is no UUID".to_owned())?;
    hold(event.operation() != Operation::Unspecified, || "operation: is missing".to_owned())?;
    hold(event.outcome() != Outcome::Unspecified, || "outcome: is missing".to_owned())
}

fn names(event: &UsageEvent) -> Checked {
    for (field, value) in [
        ("event_id", &event.event_id),
        ("request_id", &event.request_id),
        ("trace_id", &event.trace_id),
        ("tenant_id", &event.tenant_id),
        ("key_id", &event.key_id),
        ("scene", &event.scene),
        ("task_type", &event.task_type),
        ("locale", &event.locale),
        ("reference", &event.reference),
        ("prompt_template", &event.prompt_template),
        ("requested_model", &event.requested_model),
        ("vendor", &event.vendor),
        ("model", &event.model),
        ("error_reason", &event.error_reason),
    ] {
        hold(value.len() <= LONGEST_NAME, || {
            format!("{field}: has {} bytes, at most {LONGEST_NAME} are believed", value.len())
        })?;
    }
    Ok(())
}

fn times(event: &UsageEvent, now: SystemTime) -> Checked {
    let start = instant(event.start_time, "start_time")?;
    let end = instant(event.end_time, "end_time")?;
    for (field, time) in [("start_time", start), ("end_time", end)] {
        hold(time <= now + MOST_AHEAD, || format!("{field}: is more than a day ahead"))?;
        hold(time + OLDEST >= now, || format!("{field}: is more than two years ago"))?;
    }
    // What writes accounts reckons by a clock that is never set back.
    hold(end >= start, || "end_time: is before start_time".to_owned())?;
    span(event.latency.as_ref(), "latency")?;
    span(event.time_to_first_token.as_ref(), "time_to_first_token")
}

fn instant(time: Option<Timestamp>, field: &str) -> Result<SystemTime, String> {
    let time = time.ok_or_else(|| format!("{field}: is missing"))?;
    let whole = (0..1_000_000_000).contains(&time.nanos);
    let time = whole.then(|| SystemTime::try_from(time).ok()).flatten();
    // Far enough from the ends of what can be told to be reckoned with.
    let bounds = SystemTime::UNIX_EPOCH..SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 36);
    time.filter(|time| bounds.contains(time)).ok_or_else(|| format!("{field}: is not a time"))
}

fn span(span: Option<&ProtoDuration>, field: &str) -> Checked {
    let Some(span) = span else { return Ok(()) };
    let whole = (0..1_000_000_000).contains(&span.nanos);
    hold(whole && span.seconds >= 0, || format!("{field}: is negative or malformed"))?;
    hold(span.seconds <= LONGEST, || format!("{field}: is longer than a year"))
}

fn tokens(usage: Option<&TokenUsage>, field: &str) -> Checked {
    let Some(usage) = usage else { return Ok(()) };
    for (kind, count) in [
        ("input_tokens", usage.input_tokens),
        ("cache_read_tokens", usage.cache_read_tokens),
        ("cache_write_tokens", usage.cache_write_tokens),
        ("cache_write_1h_tokens", usage.cache_write_1h_tokens),
        ("output_tokens", usage.output_tokens),
        ("reasoning_tokens", usage.reasoning_tokens),
    ] {
        hold(count <= MOST_TOKENS, || {
            format!("{field}.{kind}: is {count}, at most {MOST_TOKENS} are believed")
        })?;
    }
    Ok(())
}

fn cost(cost: Option<&Cost>, field: &str) -> Checked {
    let Some(Cost { nano_eur, .. }) = cost else { return Ok(()) };
    hold(*nano_eur >= 0, || format!("{field}.nano_eur: is {nano_eur}, must not be negative"))?;
    hold(*nano_eur <= DEAREST, || format!("{field}.nano_eur: is {nano_eur}, more than a million euros"))
}

fn attempt(made: &UsageAttempt) -> Checked {
    let attempt = made.attempt.as_ref().ok_or_else(|| "attempt: is missing".to_owned())?;
    hold(!attempt.vendor.is_empty(), || "attempt.vendor: is missing".to_owned())?;
    hold(!attempt.model.is_empty(), || "attempt.model: is missing".to_owned())?;
    if made.start_time.is_some() {
        instant(made.start_time, "start_time")?;
    }
    span(made.time_to_first_token.as_ref(), "time_to_first_token")?;
    span(attempt.latency.as_ref(), "attempt.latency")?;
    tokens(attempt.usage.as_ref(), "attempt.usage")?;
    cost(attempt.cost.as_ref(), "attempt.cost")
}

/// The whole costs what its parts do, and is known where all of them are.
fn sums(event: &UsageEvent) -> Checked {
    let costs = || event.attempts.iter().filter_map(|made| made.attempt.as_ref()?.cost.as_ref());
    let sum = costs().try_fold(0_i64, |sum, cost| sum.checked_add(cost.nano_eur));
    let told = event.cost.as_ref().map_or(0, |cost| cost.nano_eur);
    hold(sum == Some(told), || {
        let sum = sum.map_or_else(|| "more than can be told".to_owned(), |sum| sum.to_string());
        format!("cost.nano_eur: is {told}, its attempts cost {sum}")
    })?;
    let (unknown, told) =
        (costs().any(|cost| cost.unknown), event.cost.as_ref().is_some_and(|cost| cost.unknown));
    hold(told || !unknown, || "cost.unknown: is false, though that of an attempt is unknown".to_owned())
}
