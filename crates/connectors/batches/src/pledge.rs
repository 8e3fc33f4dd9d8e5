//! Money that is being set aside for jobs that are not kept yet.
//!
//! A pledge's row is held by whoever keeps its job, and by whoever gives it up: so one of the two comes first, and the other
//! sees it.

use signalbox_ports::batches::Pledge;
use signalbox_sql::{Session, most, nanos, time};
use sqlx::{Row, any::AnyRow};
use std::time::SystemTime;

/// How a pledge stands for whoever wants to keep its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The transaction holds it.
    Held,
    /// There is none, or it was given up.
    Lost,
}

pub(crate) async fn make(session: &mut Session<'_>, pledge: &Pledge) -> sqlx::Result<()> {
    let query = session
        .query(
            "INSERT INTO batch_pledges (pledge_id, details, due_at, lost) VALUES ($1, $2, $3, 0) \
             ON CONFLICT (pledge_id) DO NOTHING",
        )
        .bind(pledge.pledge_id.clone())
        .bind(pledge.details.clone())
        .bind(nanos(pledge.due));
    query.execute(&mut *session.connection).await?;
    Ok(())
}

/// Holds a pledge whose job is to be kept.
pub(crate) async fn hold(session: &mut Session<'_>, pledge_id: &str) -> sqlx::Result<Standing> {
    let sql = format!(
        "SELECT t.pledge_id FROM batch_pledges t WHERE t.pledge_id = $1 AND t.lost = 0{}",
        session.engine.for_update()
    );
    let row = session.query(sql).bind(pledge_id.to_owned()).fetch_optional(&mut *session.connection).await?;
    Ok(row.map_or(Standing::Lost, |_| Standing::Held))
}

pub(crate) async fn give_up(session: &mut Session<'_>, pledge_id: &str, now: SystemTime) -> sqlx::Result<()> {
    let query = session.query("UPDATE batch_pledges SET lost = 1, due_at = $2 WHERE pledge_id = $1");
    query.bind(pledge_id.to_owned()).bind(nanos(now)).execute(&mut *session.connection).await?;
    Ok(())
}

/// Those that are due, oldest first; nobody else is given them before `again`.
pub(crate) async fn given_up(
    session: &mut Session<'_>,
    now: SystemTime,
    again: SystemTime,
    pledges: usize,
) -> sqlx::Result<Vec<Pledge>> {
    let sql = format!(
        "SELECT t.pledge_id, t.details, t.due_at FROM batch_pledges t WHERE t.due_at <= $1 \
         ORDER BY t.due_at, t.pledge_id LIMIT $2{}",
        session.engine.for_update_of_free()
    );
    let query = session.query(sql).bind(nanos(now)).bind(most(pledges));
    let rows = query.fetch_all(&mut *session.connection).await?;
    let due: Vec<Pledge> = rows.iter().map(read).collect::<sqlx::Result<_>>()?;
    for pledge in &due {
        give_up(session, &pledge.pledge_id, again).await?;
    }
    Ok(due)
}

pub(crate) async fn forget(session: &mut Session<'_>, pledge_id: &str) -> sqlx::Result<()> {
    let query = session.query("DELETE FROM batch_pledges WHERE pledge_id = $1");
    query.bind(pledge_id.to_owned()).execute(&mut *session.connection).await?;
    Ok(())
}

fn read(row: &AnyRow) -> sqlx::Result<Pledge> {
    Ok(Pledge {
        pledge_id: row.try_get("pledge_id")?,
        details: row.try_get("details")?,
        due: time(row.try_get("due_at")?),
    })
}
