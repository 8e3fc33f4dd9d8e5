//! Months that are closed.

use super::level::{Level, SECOND, instant};
use crate::{Database, database::begin};
use sqlx::{SqliteConnection, SqlitePool};
use std::time::SystemTime;

/// Closes the months that ended at or before an instant, unless they are closed. Until when they are, where that is new.
pub(super) async fn close(database: &Database, before: i64, now: i64) -> sqlx::Result<Option<SystemTime>> {
    let until = Level::Month.floor(before);
    let mut writer = database.writer().await?;
    let mut transaction = begin(&mut writer).await?;
    let is_new = closed_until(&mut transaction).await?.is_none_or(|closed| closed < until);
    if is_new {
        let insert = sqlx::query("INSERT INTO usage_closings (until, closed_at) VALUES (?, ?)");
        insert.bind(until / SECOND).bind(now).execute(&mut *transaction).await?;
    }
    transaction.commit().await?;
    Ok(is_new.then(|| instant(until)))
}

/// The end of the newest month that is closed, in nanoseconds.
pub(super) async fn closed_until(connection: &mut SqliteConnection) -> sqlx::Result<Option<i64>> {
    let until: Option<i64> =
        sqlx::query_scalar("SELECT max(until) FROM usage_closings").fetch_one(connection).await?;
    Ok(until.map(|until| until.saturating_mul(SECOND)))
}

/// When the month that ends at an instant was closed.
pub(super) async fn closed_at(readers: &SqlitePool, end: i64) -> sqlx::Result<Option<SystemTime>> {
    let closed_at: Option<i64> =
        sqlx::query_scalar("SELECT min(closed_at) FROM usage_closings WHERE until >= ?")
            .bind(end / SECOND)
            .fetch_one(readers)
            .await?;
    Ok(closed_at.map(instant))
}
