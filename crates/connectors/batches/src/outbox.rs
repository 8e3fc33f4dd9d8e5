//! Accounts to be told, and jobs that are settled.

use serde::Serialize;
use signalbox_ports::batches::Untold;
use signalbox_sql::{Session, json, most};
use sqlx::Row;

/// Accounts that nobody has told yet, oldest first.
pub(crate) async fn untold(session: &mut Session<'_>, events: usize) -> sqlx::Result<Vec<Untold>> {
    let query = session.query("SELECT event_no, event FROM batch_events ORDER BY event_no LIMIT $1");
    let rows = query.bind(most(events)).fetch_all(&mut *session.connection).await?;
    rows.iter()
        .map(|row| Ok(Untold { number: row.try_get("event_no")?, event: row.try_get("event")? }))
        .collect()
}

/// These are told.
pub(crate) async fn told(session: &mut Session<'_>, numbers: &[i64]) -> sqlx::Result<()> {
    #[derive(Serialize)]
    struct Number {
        event_no: i64,
    }
    let numbers: Vec<Number> = numbers.iter().map(|event_no| Number { event_no: *event_no }).collect();
    let sql = format!(
        "DELETE FROM batch_events WHERE event_no IN (SELECT event_no FROM {})",
        session.engine.given("$1", "event_no bigint")
    );
    session.query(sql).bind(json(&numbers)?).execute(&mut *session.connection).await?;
    Ok(())
}

/// A job's reservation is closed.
pub(crate) async fn settled(session: &mut Session<'_>, job: i64) -> sqlx::Result<()> {
    let query = session.query("UPDATE batch_jobs SET settled = 1 WHERE job_no = $1 AND state = 2");
    query.bind(job).execute(&mut *session.connection).await?;
    Ok(())
}
