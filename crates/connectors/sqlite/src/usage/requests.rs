//! Requests, newest first.

use super::{
    level::{instant, nanos},
    query, source,
};
use crate::Database;
use prost::Message;
use signalbox_api::v1::UsageEvent;
use signalbox_ports::usage_store::{Counted, Page, Requests};
use sqlx::{QueryBuilder, Row, Sqlite, sqlite::SqliteRow};

pub(super) async fn requests(database: &Database, query: &Requests) -> sqlx::Result<Page<Counted>> {
    let readers = database.readers();
    let newest = query::newest(readers).await?;
    let rows = statement(query).build().fetch_all(readers).await?;
    let more = rows.len() > query.limit;
    let rows_read = rows.len() as u64;
    let rows = rows.iter().take(query.limit).map(counted).collect::<sqlx::Result<_>>()?;
    Ok(Page { rows, more, rows_read, newest })
}

fn statement(query: &Requests) -> QueryBuilder<Sqlite> {
    let (start, end) = (nanos(query.window.start), nanos(query.window.end));
    let mut sql = QueryBuilder::new("SELECT e.counted_at, e.event FROM usage_events e");
    sql.push(" CROSS JOIN usage_series s ON s.id = e.series WHERE e.counted_at >= ").push_bind(start);
    sql.push(" AND e.counted_at < ").push_bind(end);
    if let Some((when, event_id)) = &query.after {
        let when = nanos(*when);
        sql.push(" AND e.counted_at <= ").push_bind(when);
        sql.push(" AND (e.counted_at, e.event_id) < (").push_bind(when);
        sql.push(", ").push_bind(event_id.clone()).push(")");
    }
    if !query.request_id.is_empty() {
        sql.push(" AND e.request_id = ").push_bind(query.request_id.clone());
    }
    source::push_references(&mut sql, &query.filter.references);
    source::push_filter(&mut sql, &query.filter);
    let most = i64::try_from(query.limit.saturating_add(1)).unwrap_or(i64::MAX);
    sql.push(" ORDER BY e.counted_at DESC, e.event_id DESC LIMIT ").push_bind(most);
    sql
}

/// An event from a row that begins with when it counts and its bytes.
pub(super) fn counted(row: &SqliteRow) -> sqlx::Result<Counted> {
    let event = UsageEvent::decode(row.try_get::<&[u8], _>(1)?);
    let event = event.map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
    Ok(Counted { when: instant(row.try_get(0)?), event })
}
