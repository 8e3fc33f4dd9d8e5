//! Sums by the hour, the day and the month: read, added to and written back, in the transaction of the events.

use super::{
    events::rows_of,
    insert::Line,
    level::{Level, SECOND},
    sums::{COUNTS, Sums},
};
use sqlx::{AssertSqlSafe, Row, SqliteConnection, SqliteExecutor};
use std::collections::BTreeMap;

const ROWS: usize = 100;
const LAST: [&str; 3] = ["certainty", "latency", "first_token"];

/// Sums by the start of their bucket, in seconds, and their series: in the order of the table.
type Buckets = BTreeMap<(i64, i64), Sums>;

/// Adds new events to the sums. The hours get them now. Days and months get whole hours when a later one has begun, so
/// that their many and long rows are not written for each batch; late events at once.
pub(super) async fn add(connection: &mut SqliteConnection, new: &[&Line<'_>]) -> sqlx::Result<()> {
    let mut hours = Buckets::new();
    for line in new {
        let start = Level::Hour.floor(line.counted_at) / SECOND;
        hours.entry((start, line.series)).or_default().add(&line.single);
    }
    let Some((newest, _)) = hours.keys().next_back().copied() else { return Ok(()) };
    let folded = folded_until(&mut *connection).await?.map_or(i64::MIN, |until| until / SECOND);
    let late: Buckets = hours.range(..(folded, i64::MIN)).map(|(key, sums)| (*key, sums.clone())).collect();
    merge_into(connection, Level::Hour, hours).await?;
    fold(connection, late).await?;
    if newest > folded {
        let whole = read_hours(connection, folded, newest).await?;
        fold(connection, whole).await?;
        remember_folded(connection, newest).await?;
    }
    Ok(())
}

/// Hours before this, in nanoseconds, are in the days and months.
pub(super) async fn folded_until(executor: impl SqliteExecutor<'_>) -> sqlx::Result<Option<i64>> {
    let until: Option<i64> =
        sqlx::query_scalar("SELECT until FROM usage_folded").fetch_optional(executor).await?;
    Ok(until.map(|until| until.saturating_mul(SECOND)))
}

async fn remember_folded(connection: &mut SqliteConnection, until: i64) -> sqlx::Result<()> {
    let replace = sqlx::query("INSERT OR REPLACE INTO usage_folded (id, until) VALUES (1, ?)");
    replace.bind(until).execute(connection).await?;
    Ok(())
}

async fn fold(connection: &mut SqliteConnection, hours: Buckets) -> sqlx::Result<()> {
    let days = coarser(&hours, Level::Day);
    merge_into(connection, Level::Month, coarser(&days, Level::Month)).await?;
    merge_into(connection, Level::Day, days).await
}

async fn merge_into(
    connection: &mut SqliteConnection,
    level: Level,
    mut buckets: Buckets,
) -> sqlx::Result<()> {
    add_existing(connection, level, &mut buckets).await?;
    replace(connection, level, &buckets).await
}

/// The sums of the hours from `start` to before `end`.
async fn read_hours(connection: &mut SqliteConnection, start: i64, end: i64) -> sqlx::Result<Buckets> {
    let sql = format!(
        "SELECT start, series, {} FROM usage_hourly WHERE start >= ? AND start < ?",
        columns().join(", ")
    );
    let rows = sqlx::query(AssertSqlSafe(sql)).bind(start).bind(end).fetch_all(connection).await?;
    rows.iter().map(|row| Ok(((row.try_get(0)?, row.try_get(1)?), Sums::from_row(row, 2)?))).collect()
}

fn coarser(finer: &Buckets, level: Level) -> Buckets {
    let mut buckets = Buckets::new();
    for ((start, series), sums) in finer {
        let start = level.floor(start * SECOND) / SECOND;
        buckets.entry((start, *series)).or_default().merge(sums);
    }
    buckets
}

async fn add_existing(
    connection: &mut SqliteConnection,
    level: Level,
    buckets: &mut Buckets,
) -> sqlx::Result<()> {
    let keys: Vec<(i64, i64)> = buckets.keys().copied().collect();
    for chunk in keys.chunks(ROWS) {
        let sql = format!(
            "SELECT start, series, {} FROM {} WHERE (start, series) IN (VALUES {})",
            columns().join(", "),
            level.table(),
            rows_of(2, chunk.len())
        );
        let select = sqlx::query(AssertSqlSafe(sql)).persistent(chunk.len() == ROWS);
        let bound = chunk.iter().fold(select, |select, (start, series)| select.bind(start).bind(series));
        for row in bound.fetch_all(&mut *connection).await? {
            let key = (row.try_get(0)?, row.try_get(1)?);
            buckets.entry(key).or_default().merge(&Sums::from_row(&row, 2)?);
        }
    }
    Ok(())
}

async fn replace(connection: &mut SqliteConnection, level: Level, buckets: &Buckets) -> sqlx::Result<()> {
    let rows: Vec<(&(i64, i64), &Sums)> = buckets.iter().collect();
    let columns = columns();
    for chunk in rows.chunks(ROWS) {
        let sql = format!(
            "INSERT OR REPLACE INTO {} (start, series, {}) VALUES {}",
            level.table(),
            columns.join(", "),
            rows_of(2 + columns.len(), chunk.len())
        );
        let insert = sqlx::query(AssertSqlSafe(sql)).persistent(chunk.len() == ROWS);
        let bound = chunk.iter().fold(insert, |mut insert, ((start, series), sums)| {
            insert = insert.bind(start).bind(series);
            insert = sums.counts.iter().fold(insert, |insert, count| insert.bind(count));
            insert.bind(sums.certainty).bind(sums.latency.to_text()).bind(sums.first_token.to_text())
        });
        bound.execute(&mut *connection).await?;
    }
    Ok(())
}

fn columns() -> Vec<&'static str> {
    [&COUNTS[..], &LAST].concat()
}
