//! Sums over a window, in one statement.

use super::{
    SqliteUsage, expire,
    level::{SECOND, Segment, instant, levels, nanos, segments},
    roll_up,
    series::DIMENSIONS,
    sketch, source,
    sums::COUNTS,
};
use signalbox_api::v1::{
    Cost, TokenUsage, UsageDimension, UsageRow, query_usage_request::Interval, usage_event::Outcome,
};
use signalbox_ports::{
    usage_facts::Certainty,
    usage_store::{Page, Query, StoreFailure},
};
use sqlx::{QueryBuilder, Row, Sqlite, SqlitePool, sqlite::SqliteRow};
use std::time::SystemTime;

pub(super) async fn query(store: &SqliteUsage, query: &Query) -> Result<Page<UsageRow>, StoreFailure> {
    let readers = store.database.readers();
    let folded = roll_up::folded_until(readers).await.map_err(|error| store.failure(&error))?;
    let segments = segments_of(query, folded);
    expire::refuse_removed(store, &segments).await?;
    let page = page(readers, query, &segments).await;
    page.map_err(|error| store.failure(&error))
}

async fn page(readers: &SqlitePool, query: &Query, segments: &[Segment]) -> sqlx::Result<Page<UsageRow>> {
    let newest = newest(readers).await?;
    if segments.is_empty() {
        return Ok(Page { rows: Vec::new(), more: false, rows_read: 0, newest });
    }
    let rows = statement(query, segments).build().fetch_all(readers).await?;
    let more = rows.len() > query.limit;
    let rows_read = rows.first().map_or(Ok(0), |row| row.try_get::<i64, _>("rows_read"))?.unsigned_abs();
    let rows = rows.iter().take(query.limit).map(|row| usage_row(row, query)).collect::<sqlx::Result<_>>()?;
    Ok(Page { rows, more, rows_read, newest })
}

/// When the newest event counts.
pub(super) async fn newest(readers: &SqlitePool) -> sqlx::Result<Option<SystemTime>> {
    let newest: Option<i64> =
        sqlx::query_scalar("SELECT max(counted_at) FROM usage_events").fetch_one(readers).await?;
    Ok(newest.map(instant))
}

/// Roll-ups know no references: who asks for these is answered by the events.
fn segments_of(query: &Query, folded: Option<i64>) -> Vec<Segment> {
    let by_reference =
        !query.filter.references.is_empty() || query.group_by.contains(&UsageDimension::Reference);
    let levels = if by_reference { &[] } else { levels(query.interval) };
    segments(nanos(query.window.start), nanos(query.window.end), levels, folded)
}

fn statement(query: &Query, segments: &[Segment]) -> QueryBuilder<Sqlite> {
    let groups: Vec<String> = (0..query.group_by.len()).map(|number| format!("group_{number}")).collect();
    let mut sql = QueryBuilder::new("SELECT ");
    sql.push(bucket(query.interval)).push(" AS bucket");
    for (dimension, group) in query.group_by.iter().zip(&groups) {
        sql.push(format!(", {} AS {group}", column(*dimension)));
    }
    for count in COUNTS {
        sql.push(format!(", sum(r.{count}) AS {count}"));
    }
    for (outcome, name) in [(Outcome::Failed, "failed"), (Outcome::Cancelled, "cancelled")] {
        let outcome = outcome.as_str_name();
        sql.push(format!(", sum(r.requests) FILTER (WHERE s.outcome = '{outcome}') AS {name}"));
    }
    sql.push(", max(r.certainty) AS certainty, group_concat(r.latency, '') AS latency");
    sql.push(", group_concat(r.first_token, '') AS first_token, sum(count(*)) OVER () AS rows_read");
    source::push(&mut sql, segments, &query.filter);
    let groups: String = groups.iter().map(|group| format!(", {group}")).collect();
    sql.push(format!(" GROUP BY bucket{groups} ORDER BY bucket, cost_nano_eur DESC{groups}"));
    sql.push(" LIMIT ").push_bind(number(query.limit.saturating_add(1)));
    sql.push(" OFFSET ").push_bind(number(query.offset));
    sql
}

fn bucket(interval: Interval) -> &'static str {
    match interval {
        // Not a number, which would name a column.
        Interval::Unspecified => "abs(0)",
        Interval::Hour => "r.start - r.start % 3600",
        Interval::Day => "r.start - r.start % 86400",
        Interval::Month => "unixepoch(r.start, 'unixepoch', 'start of month')",
    }
}

fn column(dimension: UsageDimension) -> String {
    let known = DIMENSIONS.iter().find(|(known, _)| *known == dimension);
    match known {
        Some((_, column)) => format!("s.{column}"),
        None if dimension == UsageDimension::Reference => "r.reference".to_owned(),
        None => "''".to_owned(),
    }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn usage_row(row: &SqliteRow, query: &Query) -> sqlx::Result<UsageRow> {
    let count = |name| row.try_get::<Option<i64>, _>(name).map(|count| count.unwrap_or(0).unsigned_abs());
    let money = |nano_eur, unknown| {
        let unknown = count(unknown)? > 0;
        Ok::<_, sqlx::Error>(Cost { nano_eur: row.try_get(nano_eur)?, unknown, price_version: String::new() })
    };
    let times = |name| row.try_get::<Option<&str>, _>(name).map(|text| sketch::summary(text.unwrap_or("")));
    let start = match query.interval {
        Interval::Unspecified => query.window.start,
        _ => instant(row.try_get::<i64, _>("bucket")?.saturating_mul(SECOND)),
    };
    let group = (1..=query.group_by.len()).map(|column| row.try_get(column));
    Ok(UsageRow {
        start_time: Some(start.into()),
        group: group.collect::<sqlx::Result<_>>()?,
        requests: count("requests")?,
        failed: count("failed")?,
        cancelled: count("cancelled")?,
        attempts: count("attempts")?,
        fallbacks: count("fallbacks")?,
        cache_hits: count("cache_hits")?,
        usage: Some(TokenUsage {
            input_tokens: count("input_tokens")?,
            cache_read_tokens: count("cache_read_tokens")?,
            cache_write_tokens: count("cache_write_tokens")?,
            cache_write_1h_tokens: count("cache_write_1h_tokens")?,
            output_tokens: count("output_tokens")?,
            reasoning_tokens: count("reasoning_tokens")?,
            source: Certainty::from_number(row.try_get("certainty")?).source() as i32,
        }),
        cost: Some(money("cost_nano_eur", "cost_unknown")?),
        cost_unknown_requests: count("cost_unknown")?,
        saved: Some(money("saved_nano_eur", "saved_unknown")?),
        latency: times("latency")?,
        time_to_first_token: times("first_token")?,
    })
}
