//! Results are read.

use crate::codes::{Code, count, stored, time_of};
use signalbox_ports::batches::{JobState, Results, StoredResult};
use signalbox_sql::{Session, most};
use sqlx::{Row, any::AnyRow};

pub(crate) async fn after(
    session: &mut Session<'_>,
    (tenant_id, job_id): (&str, &str),
    after: u64,
    results: usize,
) -> sqlx::Result<Option<Results>> {
    // First: so that all results of a job that has ended are seen.
    let query = session.query("SELECT job_no, state FROM batch_jobs WHERE tenant_id = $1 AND job_id = $2");
    let query = query.bind(tenant_id.to_owned()).bind(job_id.to_owned());
    let Some(job) = query.fetch_optional(&mut *session.connection).await? else { return Ok(None) };
    let ended = JobState::read(&job, "state")? == JobState::Ended;
    let query = session
        .query(
            "SELECT seq, item_id, outcome, result, ended_at FROM batch_results WHERE job_no = $1 AND seq > $2 \
             ORDER BY seq LIMIT $3",
        )
        .bind(job.try_get::<i64, _>("job_no")?)
        .bind(stored(after))
        .bind(most(results));
    let rows = query.fetch_all(&mut *session.connection).await?;
    Ok(Some(Results { results: rows.iter().map(read).collect::<sqlx::Result<_>>()?, ended }))
}

fn read(row: &AnyRow) -> sqlx::Result<StoredResult> {
    Ok(StoredResult {
        sequence: count(row, "seq")?,
        item_id: row.try_get("item_id")?,
        outcome: Code::read(row, "outcome")?,
        result: row.try_get("result")?,
        end_time: time_of(row, "ended_at")?,
    })
}
