//! A job comes in.

use crate::{
    codes::{Code, stored},
    job,
    join::{Joiner, join},
    pack::{self, Pack, Piece, packs},
    pledge::{self, Standing},
    share::Changes,
    window::Checked,
};
use serde::Serialize;
use signalbox_ports::batches::{
    BatchStoreError, JobState, NewItem, NewJob, Rules, Submitted, Trail, WindowKey,
};
use signalbox_sql::{Session, json, nanos};
use sqlx::Row;

pub(crate) async fn submit(
    session: &mut Session<'_>,
    new: &NewJob,
    items: &[NewItem],
    rules: &Rules,
) -> Checked<Submitted> {
    let paid = new.pledge_id.is_empty() || pledge::hold(session, &new.pledge_id).await? == Standing::Held;
    let number = if paid { insert_job(session, new, items.len()).await? } else { None };
    let Some(number) = number else {
        let job = job::named(session, &new.tenant_id, &new.job_id).await?;
        return match job {
            Some(job) => Ok(Ok(Submitted::Exists(job))),
            None if paid => Err(sqlx::Error::RowNotFound),
            None => Ok(Err(BatchStoreError::PledgeLost)),
        };
    };
    let joiner = |item: &NewItem| Joiner {
        key: WindowKey { target: item.trail.target().clone(), kind: item.kind },
        bytes: item.request.len() as u64,
        complete_by: new.complete_by,
        not_before: None,
    };
    let joiners: Vec<Joiner> = items.iter().map(joiner).collect();
    let windows = join(session, &joiners, new.create_time, rules).await?;
    let mut changes = Changes::default();
    for window_id in &windows {
        changes.joins(window_id, number);
    }
    insert_items(session, number, items, &windows).await?;
    changes.save(session).await?;
    pledge::forget(session, &new.pledge_id).await?;
    let job = job::numbered(session, number).await?.ok_or(sqlx::Error::RowNotFound)?;
    Ok(Ok(Submitted::New(job)))
}

/// The number of the job, if the tenant has none of this id.
async fn insert_job(session: &mut Session<'_>, job: &NewJob, total: usize) -> sqlx::Result<Option<i64>> {
    let query = session
        .query(
            "INSERT INTO batch_jobs (tenant_id, job_id, details, state, total, left_items, succeeded, failed, cancelled, \
             expired, reserved, cost, cost_unknown, created_at, complete_by, ended_at, expires_at, settled) \
             VALUES ($1, $2, $3, $4, $5, $5, 0, 0, 0, 0, $6, 0, 0, $7, $8, 0, 0, 0) \
             ON CONFLICT (tenant_id, job_id) DO NOTHING RETURNING job_no",
        )
        .bind(job.tenant_id.clone())
        .bind(job.job_id.clone())
        .bind(job.details.clone())
        .bind(JobState::Running.code())
        .bind(stored(total as u64))
        .bind(job.reserved)
        .bind(nanos(job.create_time))
        .bind(nanos(job.complete_by));
    let row = query.fetch_optional(&mut *session.connection).await?;
    row.map(|row| row.try_get("job_no")).transpose()
}

#[derive(Serialize)]
struct ItemRow<'a> {
    item_no: usize,
    item_id: &'a str,
    window_id: &'a str,
    trail: &'a Trail,
    #[serde(flatten)]
    piece: Piece,
}

async fn insert_items(
    session: &mut Session<'_>,
    job: i64,
    items: &[NewItem],
    windows: &[String],
) -> sqlx::Result<()> {
    let columns = format!("item_no bigint, item_id text, window_id text, trail text, {}", pack::COLUMNS);
    let sql = format!(
        "INSERT INTO batch_items (job_no, item_no, item_id, window_id, bytes, trail, request, history, note) \
         SELECT $1, item_no, item_id, window_id, size, trail, {}, $4, $4 FROM {}",
        session.engine.slice("$3", "start", "size"),
        session.engine.given("$2", &columns)
    );
    let numbered: Vec<(usize, (&NewItem, &String))> = items.iter().zip(windows).enumerate().collect();
    let packs = packs(
        &numbered,
        |(_, (item, _))| &item.request,
        |(item_no, (item, window_id)), piece| ItemRow {
            item_no: *item_no,
            item_id: &item.item_id,
            window_id,
            trail: &item.trail,
            piece,
        },
    );
    for Pack { rows, bytes } in packs {
        let query =
            session.query(sql.clone()).bind(job).bind(json(&rows)?).bind(bytes).bind(Vec::<u8>::new());
        query.execute(&mut *session.connection).await?;
    }
    Ok(())
}
