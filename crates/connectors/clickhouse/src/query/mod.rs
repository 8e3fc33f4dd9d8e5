//! Sums over a window.

mod filter;
mod plan;
mod sums;

pub(crate) use filter::Conditions;

use crate::{
    limits::{self, bounded, seconds},
    time,
};
use clickhouse::{Client, Row};
use futures_util::future::try_join;
use serde::Deserialize;
use signalbox_api::v1::{Cost, LatencySummary, TokenUsage, UsageRow};
use signalbox_ports::{
    usage_facts::Certainty,
    usage_store::{Page, Query, StoreFailure},
};
use std::time::SystemTime;

/// A row of the answer.
#[derive(Debug, Row, Deserialize)]
struct Sums {
    /// Seconds; 0 where the window is the bucket.
    bucket: u32,
    group_values: Vec<String>,
    requests: u64,
    failed: u64,
    cancelled: u64,
    attempts: u64,
    fallbacks: u64,
    cache_hits: u64,
    input_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    cache_write_1h_tokens: u64,
    output_tokens: u64,
    reasoning_tokens: u64,
    certainty: u8,
    cost: i128,
    cost_unknown_requests: u64,
    saved: i128,
    saved_unknown_requests: u64,
    latency: Vec<f64>,
    first_token: Vec<f64>,
}

pub(crate) async fn query(client: &Client, query: &Query) -> Result<Page<UsageRow>, StoreFailure> {
    let conditions = Conditions::of(&query.filter);
    let statement = sums::statement(query, &conditions);
    if statement.times.is_empty() {
        return Ok(Page { rows: Vec::new(), more: false, rows_read: 0, newest: newest(client).await? });
    }
    let mut asked = conditions.bind(client.query(&statement.sql));
    for (name, time) in &statement.times {
        asked = asked.param(name, time);
    }
    let asked = asked.param("limit", query.limit + 1).param("offset", query.offset);
    let answer = bounded(limits::QUERY, read::<Sums>(asked));
    let ((mut sums, rows_read), newest) = try_join(answer, newest(client)).await?;
    let more = sums.len() > query.limit;
    sums.truncate(query.limit);
    let rows = sums.into_iter().map(|sums| row(sums, query.window.start)).collect();
    Ok(Page { rows, more, rows_read, newest })
}

/// All rows, and how many the server read for them, which it knows at the end only.
pub(crate) async fn read<T>(query: clickhouse::query::Query) -> clickhouse::error::Result<(Vec<T>, u64)>
where
    T: clickhouse::RowOwned + clickhouse::RowRead,
{
    let mut cursor = query
        .with_setting("wait_end_of_query", "1")
        .with_setting("max_execution_time", seconds(limits::QUERY))
        .with_setting("prefer_column_name_to_alias", "1")
        .fetch::<T>()?;
    let mut rows = Vec::new();
    while let Some(row) = cursor.next().await? {
        rows.push(row);
    }
    let rows_read = cursor.summary().and_then(|summary| summary.read_rows()).unwrap_or_default();
    Ok((rows, rows_read))
}

/// When the newest event that is stored counts: the server knows it of each file without reading it.
pub(crate) async fn newest(client: &Client) -> Result<Option<SystemTime>, StoreFailure> {
    let query = client.query("SELECT max(counted_at) FROM usage_events");
    let newest: i64 = bounded(limits::QUERY, query.fetch_one()).await?;
    Ok((newest > 0).then(|| time::system_time(newest)))
}

fn row(sums: Sums, window_start: SystemTime) -> UsageRow {
    let bucket = i64::from(sums.bucket) * 1_000_000;
    let start = if bucket == 0 { window_start } else { time::system_time(bucket) };
    UsageRow {
        start_time: Some(start.into()),
        requests: sums.requests,
        failed: sums.failed,
        cancelled: sums.cancelled,
        attempts: sums.attempts,
        fallbacks: sums.fallbacks,
        cache_hits: sums.cache_hits,
        usage: Some(usage(&sums)),
        cost: Some(cost(sums.cost, sums.cost_unknown_requests)),
        cost_unknown_requests: sums.cost_unknown_requests,
        saved: Some(cost(sums.saved, sums.saved_unknown_requests)),
        latency: summary(&sums.latency),
        time_to_first_token: summary(&sums.first_token),
        group: sums.group_values,
    }
}

fn usage(sums: &Sums) -> TokenUsage {
    TokenUsage {
        input_tokens: sums.input_tokens,
        cache_read_tokens: sums.cache_read_tokens,
        cache_write_tokens: sums.cache_write_tokens,
        cache_write_1h_tokens: sums.cache_write_1h_tokens,
        output_tokens: sums.output_tokens,
        reasoning_tokens: sums.reasoning_tokens,
        source: Certainty::from_number(sums.certainty.into()).source() as i32,
    }
}

fn cost(nano_eur: i128, unknown: u64) -> Cost {
    let nano_eur = i64::try_from(nano_eur).unwrap_or(if nano_eur < 0 { i64::MIN } else { i64::MAX });
    Cost { nano_eur, unknown: unknown > 0, ..Cost::default() }
}

/// None where there was nothing to summarise, of which quantiles are not numbers.
fn summary(micros: &[f64]) -> Option<LatencySummary> {
    let &[p50, p95, p99] = micros else { return None };
    let [p50, p95, p99] = [p50, p95, p99].map(duration);
    p50.is_some().then_some(LatencySummary { p50, p95, p99 })
}

fn duration(micros: f64) -> Option<prost_types::Duration> {
    let seconds = micros / 1e6;
    let duration = std::time::Duration::try_from_secs_f64(seconds).ok()?;
    let whole = std::time::Duration::from_micros(u64::try_from(duration.as_micros()).ok()?);
    whole.try_into().ok()
}
