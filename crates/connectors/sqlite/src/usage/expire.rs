//! Events that are too old to be kept. Their sums stay.

use super::{
    SqliteUsage,
    level::{Level, SECOND, Segment},
};
use crate::{Database, database::begin};
use signalbox_ports::usage_store::StoreFailure;
use sqlx::{SqliteConnection, SqlitePool};

/// Events removed at a time, so that those who insert need not wait long.
const CHUNK: i64 = 5_000;

/// Removes what counts before the hour of an instant. How many events that were.
pub(super) async fn expire(database: &Database, before: i64) -> sqlx::Result<u64> {
    let before = Level::Hour.floor(before);
    remember(&mut *database.writer().await?, before / SECOND).await?;
    let mut removed = 0;
    loop {
        let delete = sqlx::query(
            "DELETE FROM usage_events WHERE id IN (SELECT id FROM usage_events WHERE counted_at < ? LIMIT ?)",
        );
        let done =
            delete.bind(before).bind(CHUNK).execute(&mut *database.writer().await?).await?.rows_affected();
        removed += done;
        if done < CHUNK.unsigned_abs() {
            break;
        }
    }
    let minutes = sqlx::query("DELETE FROM usage_minutes WHERE start < ?").bind(before / SECOND);
    minutes.execute(&mut *database.writer().await?).await?;
    Ok(removed)
}

/// Told before the first is removed, so that no answer is ever short of some without saying so.
async fn remember(connection: &mut SqliteConnection, before: i64) -> sqlx::Result<()> {
    let mut transaction = begin(connection).await?;
    let upsert = sqlx::query(
        "INSERT INTO usage_expiry (id, before) VALUES (1, ?) \
         ON CONFLICT (id) DO UPDATE SET before = max(before, excluded.before)",
    );
    upsert.bind(before).execute(&mut *transaction).await?;
    transaction.commit().await
}

/// Refuses what only events could answer that were removed.
pub(super) async fn refuse_removed(store: &SqliteUsage, segments: &[Segment]) -> Result<(), StoreFailure> {
    let needed = segments.iter().filter(|segment| segment.level.is_none()).map(|segment| segment.start).min();
    let Some(needed) = needed else { return Ok(()) };
    let removed = removed_before(store.database.readers()).await.map_err(|error| store.failure(&error))?;
    match removed.filter(|removed| needed < *removed) {
        None => Ok(()),
        Some(removed) => Err(StoreFailure::Refused(format!(
            "events before {} were removed and only their sums are left: ask for whole hours, and not by reference",
            jiff::Timestamp::from_second(removed / SECOND).unwrap_or_default()
        ))),
    }
}

async fn removed_before(readers: &SqlitePool) -> sqlx::Result<Option<i64>> {
    let before: Option<i64> =
        sqlx::query_scalar("SELECT before FROM usage_expiry").fetch_optional(readers).await?;
    Ok(before.map(|before| before.saturating_mul(SECOND)))
}
