//! Items are read.

use crate::codes::{Code, time_of};
use serde::Serialize;
use signalbox_ports::batches::{Item, ItemKey, JobHead};
use signalbox_sql::{Session, json};
use sqlx::{Row, any::AnyRow};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Items that are looked at before it is known how many fit.
const GLANCE: i64 = 1000;

/// Columns of an item in a table called `t`, whose window is called `w`.
pub(crate) const COLUMNS: &str =
    "t.job_no, t.item_no, t.item_id, t.trail, t.request, t.history, t.note, w.kind";

/// A key, for rows that are given.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct KeyRow {
    job_no: i64,
    item_no: i64,
}

/// Its columns.
pub(crate) const KEY: &str = "job_no bigint, item_no bigint";

impl From<ItemKey> for KeyRow {
    fn from(key: ItemKey) -> Self {
        Self { job_no: key.job, item_no: key.item }
    }
}

pub(crate) fn key(row: &AnyRow) -> sqlx::Result<ItemKey> {
    Ok(ItemKey { job: row.try_get("job_no")?, item: row.try_get("item_no")? })
}

/// As many items of a window as fit.
pub(crate) async fn some(
    session: &mut Session<'_>,
    window_id: &str,
    after: Option<ItemKey>,
    bytes: u64,
) -> sqlx::Result<Vec<Item>> {
    let after = after.unwrap_or(ItemKey { job: -1, item: -1 });
    let query = session
        .query(
            "SELECT job_no, item_no, bytes FROM batch_items WHERE window_id = $1 AND (job_no, item_no) > ($2, $3) \
             ORDER BY job_no, item_no LIMIT $4",
        )
        .bind(window_id.to_owned())
        .bind(after.job)
        .bind(after.item)
        .bind(GLANCE);
    let rows = query.fetch_all(&mut *session.connection).await?;
    let mut left = i64::try_from(bytes).unwrap_or(i64::MAX);
    let mut last = None;
    for row in &rows {
        left = left.saturating_sub(row.try_get("bytes")?);
        if left < 0 && last.is_some() {
            break;
        }
        last = Some(key(row)?);
    }
    let Some(last) = last else { return Ok(Vec::new()) };
    let sql = format!(
        "SELECT {COLUMNS} FROM batch_items t JOIN batch_windows w ON w.window_id = t.window_id \
         WHERE t.window_id = $1 AND (t.job_no, t.item_no) > ($2, $3) AND (t.job_no, t.item_no) <= ($4, $5) \
         ORDER BY t.job_no, t.item_no"
    );
    let query = session
        .query(sql)
        .bind(window_id.to_owned())
        .bind(after.job)
        .bind(after.item)
        .bind(last.job)
        .bind(last.item);
    let rows = query.fetch_all(&mut *session.connection).await?;
    items(session, &rows).await
}

/// Those of the items that are in the window.
pub(crate) async fn find(
    session: &mut Session<'_>,
    window_id: &str,
    keys: &[ItemKey],
) -> sqlx::Result<Vec<Item>> {
    let keys: Vec<KeyRow> = keys.iter().copied().map(KeyRow::from).collect();
    let sql = format!(
        "SELECT {COLUMNS} FROM batch_items t JOIN batch_windows w ON w.window_id = t.window_id \
         WHERE t.window_id = $1 AND (t.job_no, t.item_no) IN (SELECT job_no, item_no FROM {}) \
         ORDER BY t.job_no, t.item_no",
        session.engine.given("$2", KEY)
    );
    let query = session.query(sql).bind(window_id.to_owned()).bind(json(&keys)?);
    let rows = query.fetch_all(&mut *session.connection).await?;
    items(session, &rows).await
}

/// What was noted of items of a window.
pub(crate) async fn notes(
    session: &mut Session<'_>,
    window_id: &str,
) -> sqlx::Result<Vec<(ItemKey, Vec<u8>)>> {
    let query = session.query(
        "SELECT job_no, item_no, note FROM batch_items WHERE window_id = $1 AND length(note) > 0 \
         ORDER BY job_no, item_no",
    );
    let rows = query.bind(window_id.to_owned()).fetch_all(&mut *session.connection).await?;
    rows.iter().map(|row| Ok((key(row)?, row.try_get("note")?))).collect()
}

/// Items with what is to be known of their jobs.
pub(crate) async fn items(session: &mut Session<'_>, rows: &[AnyRow]) -> sqlx::Result<Vec<Item>> {
    let keys: Vec<ItemKey> = rows.iter().map(key).collect::<sqlx::Result<_>>()?;
    let jobs = heads(session, keys.iter().map(|key| key.job).collect()).await?;
    let item = |(key, row): (ItemKey, &AnyRow)| {
        let job = jobs.get(&key.job).cloned().ok_or(sqlx::Error::RowNotFound)?;
        item(key, job, row)
    };
    keys.into_iter().zip(rows).map(item).collect()
}

fn item(key: ItemKey, job: Arc<JobHead>, row: &AnyRow) -> sqlx::Result<Item> {
    let trail: String = row.try_get("trail")?;
    Ok(Item {
        key,
        job,
        item_id: row.try_get("item_id")?,
        kind: Code::read(row, "kind")?,
        trail: serde_json::from_str(&trail).map_err(|error| sqlx::Error::Decode(Box::new(error)))?,
        request: row.try_get("request")?,
        history: row.try_get("history")?,
        note: row.try_get("note")?,
    })
}

async fn heads(session: &mut Session<'_>, jobs: BTreeSet<i64>) -> sqlx::Result<BTreeMap<i64, Arc<JobHead>>> {
    #[derive(Serialize)]
    struct Number {
        job_no: i64,
    }
    let jobs: Vec<Number> = jobs.into_iter().map(|job_no| Number { job_no }).collect();
    let sql = format!(
        "SELECT job_no, tenant_id, job_id, details, state, created_at, complete_by FROM batch_jobs \
         WHERE job_no IN (SELECT job_no FROM {})",
        session.engine.given("$1", "job_no bigint")
    );
    let rows = session.query(sql).bind(json(&jobs)?).fetch_all(&mut *session.connection).await?;
    let head = |row: &AnyRow| {
        let head = JobHead {
            number: row.try_get("job_no")?,
            tenant_id: row.try_get("tenant_id")?,
            job_id: row.try_get("job_id")?,
            details: row.try_get("details")?,
            state: Code::read(row, "state")?,
            create_time: time_of(row, "created_at")?,
            complete_by: time_of(row, "complete_by")?,
        };
        Ok((head.number, Arc::new(head)))
    };
    rows.iter().map(head).collect()
}
