//! Sums by the hour, the day and the month: read, added to and written back, in the transaction of the events.

use super::{
    events::rows_of,
    insert::Line,
    level::{Level, SECOND},
    sums::{COUNTS, Sums},
};
use sqlx::{AssertSqlSafe, Row, SqliteConnection};
use std::collections::BTreeMap;

const ROWS: usize = 100;
const LAST: [&str; 3] = ["certainty", "latency", "first_token"];

/// Sums by the start of their bucket, in seconds, and their series: in the order of the table.
type Buckets = BTreeMap<(i64, i64), Sums>;

/// What a batch adds to the sums.
#[derive(Debug)]
pub(super) struct RollUp([(Level, Buckets); 3]);

impl RollUp {
    pub(super) fn of<'a>(lines: impl Iterator<Item = &'a Line<'a>>) -> Self {
        let mut hours = Buckets::new();
        for line in lines {
            let start = Level::Hour.floor(line.counted_at) / SECOND;
            hours.entry((start, line.series)).or_default().add(&line.single);
        }
        let days = coarser(&hours, Level::Day);
        let months = coarser(&days, Level::Month);
        Self([(Level::Hour, hours), (Level::Day, days), (Level::Month, months)])
    }

    pub(super) async fn write(mut self, connection: &mut SqliteConnection) -> sqlx::Result<()> {
        for (level, buckets) in &mut self.0 {
            add_existing(connection, *level, buckets).await?;
            replace(connection, *level, buckets).await?;
        }
        Ok(())
    }
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
