//! A month, event by event.

use super::{
    SqliteUsage, expire,
    level::{Level, nanos, segments},
    months,
    requests::counted,
    roll_up, source,
};
use crate::{Database, failure::store_failure};
use futures_util::{StreamExt, TryStreamExt, stream};
use signalbox_api::v1::UsageFilter;
use signalbox_ports::usage_store::{Counted, Export, Exported, StoreFailure};
use sqlx::{QueryBuilder, SqlitePool};
use std::sync::Arc;

/// Events read at a time: no reader is held while they are sent.
const PAGE: i64 = 1_000;

/// Where to go on: after this instant and `event_id`.
type Place = (i64, String);

pub(super) async fn export(store: &SqliteUsage, export: &Export) -> Result<Exported, StoreFailure> {
    let (start, end) = (nanos(export.month.start), nanos(export.month.end));
    expire::refuse_removed(store, &segments(start, end, &[], None)).await?;
    let readers = store.database.readers();
    let filter = filter(export);
    let closed_at = months::closed_at(readers, end).await.map_err(|error| store.failure(&error))?;
    let total = total(readers, start, end, &filter).await.map_err(|error| store.failure(&error))?;
    let database = store.database.clone();
    let pages = stream::try_unfold(Some((start, String::new())), move |place| {
        let (database, filter) = (database.clone(), filter.clone());
        async move { page(&database, place, end, &filter).await }
    });
    let events = pages.map_ok(|page| stream::iter(page.into_iter().map(Ok))).try_flatten().boxed();
    Ok(Exported { closed_at, total, events })
}

fn filter(export: &Export) -> UsageFilter {
    let tenant = Some(export.tenant_id.clone()).filter(|tenant| !tenant.is_empty());
    UsageFilter { tenant_ids: tenant.into_iter().collect(), ..UsageFilter::default() }
}

async fn total(readers: &SqlitePool, start: i64, end: i64, filter: &UsageFilter) -> sqlx::Result<u64> {
    let folded = roll_up::folded_until(readers).await?;
    let segments = segments(start, end, &Level::ALL, folded);
    if segments.is_empty() {
        return Ok(0);
    }
    let mut sql = QueryBuilder::new("SELECT coalesce(sum(r.requests), 0)");
    source::push(&mut sql, &segments, filter);
    let total: i64 = sql.build_query_scalar().fetch_one(readers).await?;
    Ok(total.unsigned_abs())
}

/// The next events, and where to go on after them; nothing at the end.
async fn page(
    database: &Arc<Database>,
    place: Option<Place>,
    end: i64,
    filter: &UsageFilter,
) -> Result<Option<(Vec<Counted>, Option<Place>)>, StoreFailure> {
    let Some((when, event_id)) = place else { return Ok(None) };
    let mut sql = QueryBuilder::new("SELECT e.counted_at, e.event FROM usage_events e");
    sql.push(" CROSS JOIN usage_series s ON s.id = e.series WHERE e.counted_at >= ").push_bind(when);
    sql.push(" AND e.counted_at < ").push_bind(end);
    sql.push(" AND (e.counted_at, e.event_id) > (").push_bind(when).push(", ").push_bind(event_id).push(")");
    source::push_filter(&mut sql, filter);
    sql.push(" ORDER BY e.counted_at, e.event_id LIMIT ").push_bind(PAGE);
    let rows = sql.build().fetch_all(database.readers()).await;
    let page = rows.and_then(|rows| rows.iter().map(counted).collect::<sqlx::Result<Vec<Counted>>>());
    let page = page.map_err(|error| store_failure(database.path(), &error))?;
    let next = page.last().map(|last| (nanos(last.when), last.event.event_id.clone()));
    Ok(Some((page, next)))
}
