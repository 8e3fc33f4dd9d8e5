//! A refused window is divided.

use crate::{
    codes::{Code, count, stored},
    item::key,
    share::Changes,
    window::{self, Checked, Held, hold},
};
use signalbox_batching::split::first_half;
use signalbox_ports::batches::{ItemKey, Lease, WindowEnd, WindowState};
use signalbox_sql::{Session, nanos};
use sqlx::Row;
use uuid::Uuid;

/// The two windows that it becomes, each with its items.
struct Halves {
    first: String,
    second: String,
    /// The last item of the first.
    pivot: ItemKey,
}

pub(crate) async fn split(session: &mut Session<'_>, lease: &Lease, end: &WindowEnd) -> Checked<bool> {
    let held = match hold(session, lease).await? {
        Ok(held) => held,
        Err(refused) => return Ok(Err(refused)),
    };
    if held.window.state.is_over() {
        // Said again.
        return Ok(Ok(true));
    }
    let root_id = root_of(session, &lease.window_id).await?;
    let refusals = refusals(session, &root_id).await?;
    let Some(first) = first_half(held.live, refusals) else { return Ok(Ok(false)) };
    let halves = Halves {
        first: Uuid::now_v7().to_string(),
        second: Uuid::now_v7().to_string(),
        pivot: pivot(session, &lease.window_id, first).await?,
    };
    for half in [&halves.first, &halves.second] {
        open(session, &held, half, &root_id, end).await?;
    }
    move_items(session, &lease.window_id, &halves).await?;
    fill(session, &lease.window_id, &halves).await?;
    window::over(session, &lease.window_id, WindowState::Refused, end).await?;
    Ok(Ok(true))
}

/// The window that this one was a part of before anything was refused.
async fn root_of(session: &mut Session<'_>, window_id: &str) -> sqlx::Result<String> {
    let query = session.query("SELECT root_id FROM batch_windows WHERE window_id = $1");
    let row = query.bind(window_id.to_owned()).fetch_one(&mut *session.connection).await?;
    let root_id: String = row.try_get("root_id")?;
    Ok(if root_id.is_empty() { window_id.to_owned() } else { root_id })
}

/// How often it, or a part of it, was refused until now.
async fn refusals(session: &mut Session<'_>, root_id: &str) -> sqlx::Result<u64> {
    let query = session.query(
        "SELECT COUNT(*) AS refusals FROM batch_windows WHERE (root_id = $1 OR window_id = $1) AND state = $2",
    );
    let query = query.bind(root_id.to_owned()).bind(WindowState::Refused.code());
    count(&query.fetch_one(&mut *session.connection).await?, "refusals")
}

/// The last of its first items.
async fn pivot(session: &mut Session<'_>, window_id: &str, first: u64) -> sqlx::Result<ItemKey> {
    let query = session.query(
        "SELECT job_no, item_no FROM batch_items WHERE window_id = $1 ORDER BY job_no, item_no LIMIT 1 OFFSET $2",
    );
    let query = query.bind(window_id.to_owned()).bind(stored(first.saturating_sub(1)));
    key(&query.fetch_one(&mut *session.connection).await?)
}

/// An empty window like the one that is divided, due at once.
async fn open(
    session: &mut Session<'_>,
    of: &Held,
    window_id: &str,
    root_id: &str,
    end: &WindowEnd,
) -> sqlx::Result<()> {
    let query = session
        .query(
            "INSERT INTO batch_windows (window_id, vendor, model, lane, kind, state, items, bytes, live, opened_at, \
             due_at, handed_at, vendor_batch_id, submitted_at, expires_at, cancel_asked, ended_at, error_reason, \
             lease_owner, lease_no, lease_until, root_id) SELECT $2, vendor, model, lane, kind, 0, 0, 0, 0, $3, $3, 0, '', \
             0, 0, 0, 0, '', '', 0, 0, $4 FROM batch_windows WHERE window_id = $1",
        )
        .bind(of.window.window_id.clone())
        .bind(window_id.to_owned())
        .bind(nanos(end.end_time))
        .bind(root_id.to_owned());
    query.execute(&mut *session.connection).await?;
    Ok(())
}

/// What was noted of them was of the hand-over that was refused.
async fn move_items(session: &mut Session<'_>, window_id: &str, halves: &Halves) -> sqlx::Result<()> {
    let sql = "UPDATE batch_items SET note = $5, window_id = CASE WHEN (job_no, item_no) <= ($1, $2) THEN $3 ELSE $4 END \
               WHERE window_id = $6";
    let query = session
        .query(sql)
        .bind(halves.pivot.job)
        .bind(halves.pivot.item)
        .bind(halves.first.clone())
        .bind(halves.second.clone())
        .bind(Vec::<u8>::new())
        .bind(window_id.to_owned());
    query.execute(&mut *session.connection).await?;
    Ok(())
}

/// Says of both windows, and of the jobs' shares in them, what they hold now.
async fn fill(session: &mut Session<'_>, from: &str, halves: &Halves) -> sqlx::Result<()> {
    let query = session.query(
        "SELECT window_id, job_no, COUNT(*) AS items FROM batch_items WHERE window_id IN ($1, $2) \
         GROUP BY window_id, job_no",
    );
    let query = query.bind(halves.first.clone()).bind(halves.second.clone());
    let mut changes = Changes::default();
    for row in query.fetch_all(&mut *session.connection).await? {
        let (to, job): (String, i64) = (row.try_get("window_id")?, row.try_get("job_no")?);
        changes.moves(from, &to, job, row.try_get("items")?);
    }
    changes.save(session).await?;
    let levels = "UPDATE batch_windows SET items = live, bytes = (SELECT CAST(COALESCE(SUM(i.bytes), 0) AS BIGINT) \
                  FROM batch_items i WHERE i.window_id = batch_windows.window_id) WHERE window_id IN ($1, $2)";
    let query = session.query(levels).bind(halves.first.clone()).bind(halves.second.clone());
    query.execute(&mut *session.connection).await?;
    Ok(())
}
