//! What need not be kept goes.

use signalbox_sql::{Session, nanos};
use sqlx::Row;
use std::time::SystemTime;

/// Removes one job with everything of its, and windows that were over and held nothing else. Whether there was one.
pub(crate) async fn remove(session: &mut Session<'_>, now: SystemTime) -> sqlx::Result<bool> {
    let sql = format!(
        "SELECT t.job_no FROM batch_jobs t WHERE t.settled = 1 AND t.expires_at <= $1 ORDER BY t.expires_at LIMIT 1{}",
        session.engine.for_update_of_free()
    );
    let row = session.query(sql).bind(nanos(now)).fetch_optional(&mut *session.connection).await?;
    let Some(row) = row else { return Ok(false) };
    let job: i64 = row.try_get("job_no")?;
    for sql in [
        "DELETE FROM batch_windows WHERE state > 2 AND window_id IN (SELECT window_id FROM batch_shares \
         WHERE job_no = $1) AND NOT EXISTS (SELECT 1 FROM batch_shares s WHERE s.window_id = batch_windows.window_id \
         AND s.job_no <> $1)",
        "DELETE FROM batch_shares WHERE job_no = $1",
        "DELETE FROM batch_results WHERE job_no = $1",
        "DELETE FROM batch_jobs WHERE job_no = $1",
    ] {
        session.query(sql).bind(job).execute(&mut *session.connection).await?;
    }
    Ok(true)
}
