//! Windows: claimed, kept, handed over, put back, closed.

use crate::{
    codes::{Code, count, maybe_time, time_of},
    pack::{self, Pack, Piece, packs},
};
use serde::Serialize;
use signalbox_ports::batches::{
    BatchStoreError, Claim, Handed, ItemKey, Lease, Level, Pause, Target, Window, WindowEnd, WindowKey,
    WindowState,
};
use signalbox_sql::{Session, json, nanos};
use sqlx::{Row, any::AnyRow};
use std::time::{Duration, SystemTime};

/// What may be refused for what is stored, rather than for the database.
pub(crate) type Checked<T> = sqlx::Result<Result<T, BatchStoreError>>;

/// Columns of a window, in a table called `t`.
pub(crate) const COLUMNS: &str = "t.window_id, t.vendor, t.model, t.lane, t.kind, t.state, t.items, t.bytes, t.live, \
    t.opened_at, t.due_at, t.handed_at, t.vendor_batch_id, t.submitted_at, t.expires_at, t.cancel_asked, t.ended_at, \
    t.error_reason, t.lease_no";

/// Whether a window called `t` has items that somebody waits for; `$1` is now.
const WANTED: &str = "EXISTS (SELECT 1 FROM batch_shares s JOIN batch_jobs j ON j.job_no = s.job_no \
    WHERE s.window_id = t.window_id AND s.live > 0 AND j.state = 0 AND j.complete_by > $1)";

/// When the time of the first of the jobs is over that have items in a window called `t`.
const SOONEST: &str = "SELECT COALESCE(MIN(j.complete_by), 0) FROM batch_shares s JOIN batch_jobs j \
    ON j.job_no = s.job_no WHERE s.window_id = t.window_id AND s.live > 0";

pub(crate) fn read(row: &AnyRow) -> sqlx::Result<Window> {
    let target = Target {
        vendor: row.try_get("vendor")?,
        model: row.try_get("model")?,
        lane: Code::read(row, "lane")?,
    };
    Ok(Window {
        window_id: row.try_get("window_id")?,
        key: WindowKey { target, kind: Code::read(row, "kind")? },
        state: Code::read(row, "state")?,
        level: Level { items: count(row, "items")?, bytes: count(row, "bytes")? },
        open_time: time_of(row, "opened_at")?,
        due: time_of(row, "due_at")?,
        hand_time: maybe_time(row, "handed_at")?,
        vendor_batch_id: row.try_get("vendor_batch_id")?,
        submit_time: maybe_time(row, "submitted_at")?,
        expire_time: maybe_time(row, "expires_at")?,
        cancel_asked: count(row, "cancel_asked")? > 0,
        end_time: maybe_time(row, "ended_at")?,
        error_reason: row.try_get("error_reason")?,
    })
}

/// A window that the transaction holds.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) window: Window,
    /// Items that neither ended nor went on.
    pub(crate) live: u64,
}

/// Holds a window for the owner of a lease.
pub(crate) async fn hold(session: &mut Session<'_>, lease: &Lease) -> Checked<Held> {
    let sql =
        format!("SELECT {COLUMNS} FROM batch_windows t WHERE window_id = $1{}", session.engine.for_update());
    let row =
        session.query(sql).bind(lease.window_id.clone()).fetch_optional(&mut *session.connection).await?;
    let Some(row) = row else { return Ok(Err(BatchStoreError::LeaseLost)) };
    if row.try_get::<i64, _>("lease_no")? != lease.number {
        return Ok(Err(BatchStoreError::LeaseLost));
    }
    Ok(Ok(Held { window: read(&row)?, live: count(&row, "live")? }))
}

/// Takes the window that has been due for longest.
pub(crate) async fn claim(
    session: &mut Session<'_>,
    owner: &str,
    now: SystemTime,
    lease: Duration,
) -> sqlx::Result<Option<Claim>> {
    let sql = format!(
        "SELECT {COLUMNS}, CASE WHEN {WANTED} THEN 1 ELSE 0 END AS wanted, ({SOONEST}) AS soonest \
         FROM batch_windows t \
         WHERE state < 3 AND due_at <= $1 AND lease_until <= $1 ORDER BY due_at, window_id LIMIT 1{}",
        session.engine.for_update_of_free()
    );
    let row = session.query(sql).bind(nanos(now)).fetch_optional(&mut *session.connection).await?;
    let Some(row) = row else { return Ok(None) };
    let mut window = read(&row)?;
    let lease_no = row.try_get::<i64, _>("lease_no")? + 1;
    let maybe_since = window.hand_time.filter(|_| window.state == WindowState::Handing);
    if window.state.may_become(WindowState::Handing) {
        window.state = WindowState::Handing;
    }
    if window.state == WindowState::Handing {
        window.hand_time = window.hand_time.or(Some(now));
    }
    let query = session
        .query(
            "UPDATE batch_windows SET state = $2, handed_at = $3, lease_owner = $4, lease_no = $5, lease_until = $6 \
             WHERE window_id = $1",
        )
        .bind(window.window_id.clone())
        .bind(window.state.code())
        .bind(window.hand_time.map_or(0, nanos))
        .bind(owner.to_owned())
        .bind(lease_no)
        .bind(nanos(now + lease));
    query.execute(&mut *session.connection).await?;
    let lease = Lease { window_id: window.window_id.clone(), number: lease_no };
    let unwanted = count(&row, "wanted")? == 0;
    let complete_by = maybe_time(&row, "soonest")?;
    Ok(Some(Claim { lease, window, maybe_since, unwanted, complete_by }))
}

/// Keeps a lease.
pub(crate) async fn keep(session: &mut Session<'_>, lease: &Lease, until: SystemTime) -> Checked<()> {
    let query = session
        .query(
            "UPDATE batch_windows SET lease_until = $3 WHERE window_id = $1 AND lease_no = $2 AND lease_until > 0 \
             AND state < 3",
        )
        .bind(lease.window_id.clone())
        .bind(lease.number)
        .bind(nanos(until));
    let kept = query.execute(&mut *session.connection).await?.rows_affected();
    Ok(if kept == 1 { Ok(()) } else { Err(BatchStoreError::LeaseLost) })
}

/// The vendor has it.
pub(crate) async fn handed(session: &mut Session<'_>, lease: &Lease, handed: &Handed) -> Checked<()> {
    let held = match hold(session, lease).await? {
        Ok(held) => held,
        Err(refused) => return Ok(Err(refused)),
    };
    if !held.window.state.may_become(WindowState::Submitted) {
        // Said again.
        let same = held.window.vendor_batch_id == handed.vendor_batch_id;
        return Ok(if same { Ok(()) } else { Err(BatchStoreError::LeaseLost) });
    }
    let query = session
        .query(
            "UPDATE batch_windows SET state = $2, vendor_batch_id = $3, submitted_at = $4, expires_at = $5, due_at = $6, \
             lease_until = 0 WHERE window_id = $1",
        )
        .bind(lease.window_id.clone())
        .bind(WindowState::Submitted.code())
        .bind(handed.vendor_batch_id.clone())
        .bind(nanos(handed.submit_time))
        .bind(handed.expire_time.map_or(0, nanos))
        .bind(nanos(handed.due));
    query.execute(&mut *session.connection).await?;
    note(session, &lease.window_id, &handed.notes).await.map(Ok)
}

async fn note(session: &mut Session<'_>, window_id: &str, notes: &[(ItemKey, Vec<u8>)]) -> sqlx::Result<()> {
    #[derive(Serialize)]
    struct Row {
        job_no: i64,
        item_no: i64,
        #[serde(flatten)]
        piece: Piece,
    }
    let row = |(key, _): &(ItemKey, Vec<u8>), piece| Row { job_no: key.job, item_no: key.item, piece };
    let columns = format!("job_no bigint, item_no bigint, {}", pack::COLUMNS);
    for Pack { rows, bytes } in packs(notes, |(_, note)| note, row) {
        let sql = format!(
            "UPDATE batch_items AS t SET note = {} FROM {} WHERE t.job_no = given.job_no \
             AND t.item_no = given.item_no AND t.window_id = $3",
            session.engine.slice("$2", "given.start", "given.size"),
            session.engine.given("$1", &columns)
        );
        let query = session.query(sql).bind(json(&rows)?).bind(bytes).bind(window_id.to_owned());
        query.execute(&mut *session.connection).await?;
    }
    Ok(())
}

/// It waits.
pub(crate) async fn put_back(session: &mut Session<'_>, lease: &Lease, pause: &Pause) -> Checked<()> {
    let held = match hold(session, lease).await? {
        Ok(held) if !held.window.state.is_over() => held,
        Ok(_) => return Ok(Err(BatchStoreError::LeaseLost)),
        Err(refused) => return Ok(Err(refused)),
    };
    let query = session
        .query(
            "UPDATE batch_windows SET due_at = $2, expires_at = $3, cancel_asked = $4, handed_at = $5, \
             lease_until = 0 WHERE window_id = $1",
        )
        .bind(lease.window_id.clone())
        .bind(nanos(pause.due))
        .bind(pause.expire_time.or(held.window.expire_time).map_or(0, nanos))
        .bind(i64::from(pause.cancel_asked || held.window.cancel_asked))
        .bind(held.window.hand_time.filter(|_| !pause.not_taken).map_or(0, nanos));
    query.execute(&mut *session.connection).await?;
    Ok(Ok(()))
}

/// It is over.
pub(crate) async fn close(session: &mut Session<'_>, lease: &Lease, end: &WindowEnd) -> Checked<()> {
    let state = if end.refused.is_some() { WindowState::Refused } else { WindowState::Ended };
    match hold(session, lease).await? {
        Err(refused) => return Ok(Err(refused)),
        Ok(held) if held.live > 0 => return Ok(Err(BatchStoreError::ItemsLeft(held.live))),
        // Said again.
        Ok(held) if !held.window.state.may_become(state) => return Ok(Ok(())),
        Ok(_) => {}
    }
    over(session, &lease.window_id, state, end).await.map(Ok)
}

/// The same of a window that the transaction holds and that holds nothing any more.
pub(crate) async fn over(
    session: &mut Session<'_>,
    window_id: &str,
    state: WindowState,
    end: &WindowEnd,
) -> sqlx::Result<()> {
    let query = session
        .query(
            "UPDATE batch_windows SET state = $2, ended_at = $3, error_reason = $4, lease_until = 0 \
             WHERE window_id = $1",
        )
        .bind(window_id.to_owned())
        .bind(state.code())
        .bind(nanos(end.end_time))
        .bind(end.refused.clone().unwrap_or_default());
    query.execute(&mut *session.connection).await?;
    Ok(())
}

/// Windows of a job at vendors that nobody wants any more are due at once; the transaction holds those of the job.
pub(crate) async fn hurry_unwanted(session: &mut Session<'_>, job: i64, now: SystemTime) -> sqlx::Result<()> {
    let sql = format!(
        "UPDATE batch_windows AS t SET due_at = $1 WHERE state = 2 AND due_at > $1 AND cancel_asked = 0 \
         AND window_id IN (SELECT window_id FROM batch_shares WHERE job_no = $2 AND live > 0) AND NOT {WANTED}"
    );
    session.query(sql).bind(nanos(now)).bind(job).execute(&mut *session.connection).await?;
    Ok(())
}

/// Holds the windows at vendors with items of a job.
pub(crate) async fn hold_of_job(session: &mut Session<'_>, job: i64) -> sqlx::Result<()> {
    let sql = format!(
        "SELECT t.window_id FROM batch_windows t WHERE t.state = 2 AND t.window_id IN \
         (SELECT window_id FROM batch_shares WHERE job_no = $1 AND live > 0) ORDER BY t.window_id{}",
        session.engine.for_update()
    );
    session.query(sql).bind(job).fetch_all(&mut *session.connection).await?;
    Ok(())
}
