//! What the end of an item leaves: a result, an account to be told, a sum.

use crate::{
    codes::Code,
    item::{KEY, KeyRow},
    pack::{self, Pack, Piece, packs},
};
use serde::Serialize;
use signalbox_ports::batches::{ItemEnd, ItemKey, JobState, Outcome, Rules};
use signalbox_sql::{Session, json, nanos};
use sqlx::Row;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::SystemTime,
};

/// An item that has not ended, in a window that the transaction holds, and its end.
#[derive(Debug)]
pub(crate) struct Ending<'a> {
    pub(crate) key: ItemKey,
    pub(crate) item_id: String,
    pub(crate) end: &'a ItemEnd,
}

/// An ending with its place among the results of its job.
struct Result<'a> {
    seq: i64,
    ending: &'a Ending<'a>,
}

/// Ends items.
pub(crate) async fn end(
    session: &mut Session<'_>,
    endings: &[Ending<'_>],
    now: SystemTime,
    rules: &Rules,
) -> sqlx::Result<()> {
    if endings.is_empty() {
        return Ok(());
    }
    let mut last = hold_jobs(session, endings).await?;
    let numbered = endings.iter().filter_map(|ending| {
        let seq = last.get_mut(&ending.key.job)?;
        *seq += 1;
        Some(Result { seq: *seq, ending })
    });
    let results: Vec<Result<'_>> = numbered.collect();
    insert_results(session, &results, now).await?;
    insert_events(session, endings).await?;
    delete_items(session, endings).await?;
    count(session, endings, now, rules).await
}

/// Holds the jobs of the items; how many results each has.
async fn hold_jobs(session: &mut Session<'_>, endings: &[Ending<'_>]) -> sqlx::Result<BTreeMap<i64, i64>> {
    #[derive(Serialize)]
    struct Number {
        job_no: i64,
    }
    let jobs: BTreeSet<i64> = endings.iter().map(|ending| ending.key.job).collect();
    let jobs: Vec<Number> = jobs.into_iter().map(|job_no| Number { job_no }).collect();
    let sql = format!(
        "SELECT t.job_no, t.total - t.left_items AS results FROM batch_jobs t \
         WHERE t.job_no IN (SELECT job_no FROM {}) ORDER BY t.job_no{}",
        session.engine.given("$1", "job_no bigint"),
        session.engine.for_update()
    );
    let rows = session.query(sql).bind(json(&jobs)?).fetch_all(&mut *session.connection).await?;
    rows.iter().map(|row| Ok((row.try_get("job_no")?, row.try_get("results")?))).collect()
}

async fn insert_results(
    session: &mut Session<'_>,
    results: &[Result<'_>],
    now: SystemTime,
) -> sqlx::Result<()> {
    #[derive(Serialize)]
    struct Row<'a> {
        job_no: i64,
        seq: i64,
        item_id: &'a str,
        outcome: i64,
        #[serde(flatten)]
        piece: Piece,
    }
    let columns = format!("job_no bigint, seq bigint, item_id text, outcome bigint, {}", pack::COLUMNS);
    let sql = format!(
        "INSERT INTO batch_results (job_no, seq, item_id, outcome, result, ended_at) \
         SELECT job_no, seq, item_id, outcome, {}, $3 FROM {}",
        session.engine.slice("$2", "start", "size"),
        session.engine.given("$1", &columns)
    );
    let packs = packs(
        results,
        |result| &result.ending.end.result,
        |result, piece| Row {
            job_no: result.ending.key.job,
            seq: result.seq,
            item_id: &result.ending.item_id,
            outcome: result.ending.end.outcome.code(),
            piece,
        },
    );
    for Pack { rows, bytes } in packs {
        let query = session.query(sql.clone()).bind(json(&rows)?).bind(bytes).bind(nanos(now));
        query.execute(&mut *session.connection).await?;
    }
    Ok(())
}

async fn insert_events(session: &mut Session<'_>, endings: &[Ending<'_>]) -> sqlx::Result<()> {
    #[derive(Serialize)]
    struct Row {
        job_no: i64,
        #[serde(flatten)]
        piece: Piece,
    }
    let sql = format!(
        "INSERT INTO batch_events (job_no, event) SELECT job_no, {} FROM {} ORDER BY start",
        session.engine.slice("$2", "start", "size"),
        session.engine.given("$1", &format!("job_no bigint, {}", pack::COLUMNS))
    );
    let row = |ending: &Ending<'_>, piece| Row { job_no: ending.key.job, piece };
    for Pack { rows, bytes } in packs(endings, |ending| &ending.end.event, row) {
        let query = session.query(sql.clone()).bind(json(&rows)?).bind(bytes);
        query.execute(&mut *session.connection).await?;
    }
    Ok(())
}

/// With what was asked.
async fn delete_items(session: &mut Session<'_>, endings: &[Ending<'_>]) -> sqlx::Result<()> {
    let keys: Vec<KeyRow> = endings.iter().map(|ending| ending.key.into()).collect();
    let sql = format!(
        "DELETE FROM batch_items WHERE (job_no, item_no) IN (SELECT job_no, item_no FROM {})",
        session.engine.given("$1", KEY)
    );
    session.query(sql).bind(json(&keys)?).execute(&mut *session.connection).await?;
    Ok(())
}

/// What a job's sums change by.
#[derive(Debug, Default, Serialize)]
struct Sum {
    job_no: i64,
    ended: i64,
    succeeded: i64,
    failed: i64,
    cancelled: i64,
    expired: i64,
    cost: i64,
    cost_unknown: i64,
}

impl Sum {
    fn add(&mut self, end: &ItemEnd) {
        self.ended += 1;
        *match end.outcome {
            Outcome::Succeeded => &mut self.succeeded,
            Outcome::Failed => &mut self.failed,
            Outcome::Cancelled => &mut self.cancelled,
            Outcome::Expired => &mut self.expired,
        } += 1;
        self.cost = self.cost.saturating_add(end.cost.nano_eur);
        self.cost_unknown = self.cost_unknown.max(i64::from(end.cost.unknown));
    }
}

/// Adds them up, and ends the jobs that have no items left.
async fn count(
    session: &mut Session<'_>,
    endings: &[Ending<'_>],
    now: SystemTime,
    rules: &Rules,
) -> sqlx::Result<()> {
    let mut sums: BTreeMap<i64, Sum> = BTreeMap::new();
    for ending in endings {
        let job_no = ending.key.job;
        sums.entry(job_no).or_insert_with(|| Sum { job_no, ..Sum::default() }).add(ending.end);
    }
    let sums: Vec<Sum> = sums.into_values().collect();
    let columns = "job_no bigint, ended bigint, succeeded bigint, failed bigint, cancelled bigint, expired bigint, \
                   cost bigint, cost_unknown bigint";
    let sql = format!(
        "UPDATE batch_jobs AS t SET left_items = t.left_items - given.ended, \
         succeeded = t.succeeded + given.succeeded, failed = t.failed + given.failed, \
         cancelled = t.cancelled + given.cancelled, expired = t.expired + given.expired, cost = t.cost + given.cost, \
         cost_unknown = CASE WHEN given.cost_unknown > t.cost_unknown THEN given.cost_unknown ELSE t.cost_unknown END, \
         state = CASE WHEN t.left_items = given.ended THEN {} ELSE t.state END, \
         ended_at = CASE WHEN t.left_items = given.ended THEN $2 ELSE 0 END, \
         expires_at = CASE WHEN t.left_items = given.ended THEN $3 ELSE 0 END \
         FROM {} WHERE t.job_no = given.job_no",
        JobState::Ended.code(),
        session.engine.given("$1", columns)
    );
    let query = session.query(sql).bind(json(&sums)?).bind(nanos(now)).bind(nanos(now + rules.results_kept));
    query.execute(&mut *session.connection).await?;
    Ok(())
}
