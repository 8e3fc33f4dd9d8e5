//! Jobs are read, and cancelled.

use crate::{
    codes::{Code, count, maybe_time, time_of},
    window,
};
use signalbox_ports::batches::{Counts, Job, JobQuery, JobState, JobWindow, Spent, WindowState};
use signalbox_sql::{Session, most};
use sqlx::{Row, any::AnyRow};
use std::time::SystemTime;

/// Columns of a job in a table called `t`, `running` among them: items at vendors.
const COLUMNS: &str = "t.job_no, t.tenant_id, t.job_id, t.details, t.state, t.total, t.left_items, t.succeeded, t.failed, \
    t.cancelled, t.expired, t.reserved, t.cost, t.cost_unknown, t.created_at, t.complete_by, t.ended_at, t.expires_at, \
    (SELECT CAST(COALESCE(SUM(s.live), 0) AS BIGINT) FROM batch_shares s JOIN batch_windows w \
     ON w.window_id = s.window_id WHERE s.job_no = t.job_no AND s.live > 0 \
     AND (w.state > 1 OR (w.state = 1 AND w.lane = 1))) AS running";

fn read(row: &AnyRow) -> sqlx::Result<Job> {
    let running = count(row, "running")?;
    Ok(Job {
        number: row.try_get("job_no")?,
        tenant_id: row.try_get("tenant_id")?,
        job_id: row.try_get("job_id")?,
        details: row.try_get("details")?,
        state: Code::read(row, "state")?,
        counts: Counts {
            total: count(row, "total")?,
            queued: count(row, "left_items")?.saturating_sub(running),
            running,
            succeeded: count(row, "succeeded")?,
            failed: count(row, "failed")?,
            cancelled: count(row, "cancelled")?,
            expired: count(row, "expired")?,
        },
        reserved: row.try_get("reserved")?,
        cost: Spent { nano_eur: row.try_get("cost")?, unknown: count(row, "cost_unknown")? > 0 },
        create_time: time_of(row, "created_at")?,
        complete_by: time_of(row, "complete_by")?,
        end_time: maybe_time(row, "ended_at")?,
        expire_time: maybe_time(row, "expires_at")?,
    })
}

/// A tenant's job.
pub(crate) async fn named(
    session: &mut Session<'_>,
    tenant_id: &str,
    job_id: &str,
) -> sqlx::Result<Option<Job>> {
    let sql = format!("SELECT {COLUMNS} FROM batch_jobs t WHERE t.tenant_id = $1 AND t.job_id = $2");
    let query = session.query(sql).bind(tenant_id.to_owned()).bind(job_id.to_owned());
    query.fetch_optional(&mut *session.connection).await?.as_ref().map(read).transpose()
}

/// The job of a number.
pub(crate) async fn numbered(session: &mut Session<'_>, job: i64) -> sqlx::Result<Option<Job>> {
    let sql = format!("SELECT {COLUMNS} FROM batch_jobs t WHERE t.job_no = $1");
    let query = session.query(sql).bind(job);
    query.fetch_optional(&mut *session.connection).await?.as_ref().map(read).transpose()
}

/// A tenant's job with its windows. One that its items have left is told only where the vendor refused it: by that is seen
/// why they went elsewhere.
pub(crate) async fn with_windows(
    session: &mut Session<'_>,
    tenant_id: &str,
    job_id: &str,
) -> sqlx::Result<Option<(Job, Vec<JobWindow>)>> {
    let Some(job) = named(session, tenant_id, job_id).await? else { return Ok(None) };
    let sql = format!(
        "SELECT {}, s.joined FROM batch_windows t JOIN batch_shares s ON s.window_id = t.window_id \
         WHERE s.job_no = $1 AND (s.joined > 0 OR t.state = {}) ORDER BY t.opened_at, t.window_id",
        window::COLUMNS,
        WindowState::Refused.code()
    );
    let rows = session.query(sql).bind(job.number).fetch_all(&mut *session.connection).await?;
    let of_job = |row: &AnyRow| Ok(JobWindow { window: window::read(row)?, items: count(row, "joined")? });
    let windows = rows.iter().map(of_job).collect::<sqlx::Result<_>>()?;
    Ok(Some((job, windows)))
}

/// Jobs, newest first.
pub(crate) async fn list(session: &mut Session<'_>, query: &JobQuery) -> sqlx::Result<Vec<Job>> {
    let states: Vec<String> = query.states.iter().map(|state| state.code().to_string()).collect();
    let in_state =
        if states.is_empty() { String::new() } else { format!("AND t.state IN ({})", states.join(", ")) };
    let of_tenant = if query.tenant_id.is_some() { "t.tenant_id = $2" } else { "$2 = ''" };
    let sql = format!(
        "SELECT {COLUMNS} FROM batch_jobs t WHERE t.job_no < $1 AND {of_tenant} {in_state} \
         ORDER BY t.job_no DESC LIMIT $3"
    );
    let query = session
        .query(sql)
        .bind(query.before.unwrap_or(i64::MAX))
        .bind(query.tenant_id.clone().unwrap_or_default())
        .bind(most(query.most));
    query.fetch_all(&mut *session.connection).await?.iter().map(read).collect()
}

/// Ended jobs that are not settled and whose accounts are all told, oldest first.
pub(crate) async fn unsettled(session: &mut Session<'_>, jobs: usize) -> sqlx::Result<Vec<Job>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM batch_jobs t WHERE t.state = 2 AND t.settled = 0 \
         AND NOT EXISTS (SELECT 1 FROM batch_events e WHERE e.job_no = t.job_no) ORDER BY t.job_no LIMIT $1"
    );
    let query = session.query(sql).bind(most(jobs));
    query.fetch_all(&mut *session.connection).await?.iter().map(read).collect()
}

/// Stops a job.
pub(crate) async fn cancel(
    session: &mut Session<'_>,
    tenant_id: &str,
    job_id: &str,
    now: SystemTime,
) -> sqlx::Result<Option<Job>> {
    let query = session.query("SELECT job_no FROM batch_jobs WHERE tenant_id = $1 AND job_id = $2");
    let query = query.bind(tenant_id.to_owned()).bind(job_id.to_owned());
    let Some(row) = query.fetch_optional(&mut *session.connection).await? else { return Ok(None) };
    let number: i64 = row.try_get("job_no")?;
    window::hold_of_job(session, number).await?;
    let query = session.query("UPDATE batch_jobs SET state = $2 WHERE job_no = $1 AND state = $3");
    let query = query.bind(number).bind(JobState::Cancelling.code()).bind(JobState::Running.code());
    query.execute(&mut *session.connection).await?;
    window::hurry_unwanted(session, number, now).await?;
    numbered(session, number).await
}
