//! What is too old to be of use is deleted, a little at a time.
//!
//! Entries are in the order of their time, so that those to delete are the next ones after where the last call ended:
//! no table is searched, and no index is kept for it. Accounts are neither locked nor changed.

mod chunk;
mod holds;

use super::{
    account::KEY,
    operation::{self, kind},
};
use crate::stored::{Key, json, time};
use chunk::{Bounds, Chunk};
use serde::Serialize;
use signalbox_ports::ledger::{AccountKey, Pruned};
use signalbox_sql::Session;
use sqlx::Row;

/// What to delete.
#[derive(Debug)]
pub(super) struct Ask {
    /// What is older than this.
    pub(super) before: i64,
    pub(super) now: i64,
    /// At most so many rows of each kind.
    pub(super) most: i64,
}

pub(super) async fn prune(session: &mut Session<'_>, ask: &Ask) -> sqlx::Result<Pruned> {
    let Some(position) = position(session).await? else { return Ok(Pruned::default()) };
    let chunk = read(session, position, ask).await?;
    delete(session, &chunk).await?;
    let mut operations = operation::forget(session, &chunk.operations()).await?;
    let leases = holds::leases(session, ask).await?;
    let reservations = holds::reservations(session, ask).await?;
    let reserved = reservations.iter().map(|part| (kind::RESERVE, part.reservation_id.as_str()));
    operations += operation::forget(session, &reserved.collect()).await?;
    let (entries, reservations) = (chunk.old.len() as u64, reservations.len() as u64);
    let is_full = |deleted: u64| i64::try_from(deleted).is_ok_and(|deleted| deleted >= ask.most);
    let more = chunk.more || is_full(leases) || is_full(reservations);
    Ok(Pruned { entries, operations, leases, reservations, oldest: chunk.oldest.map(time), more })
}

/// Where the last call ended; `None` while another process is at it.
async fn position(session: &mut Session<'_>) -> sqlx::Result<Option<i64>> {
    let sql = format!("SELECT t.entry_id FROM pruned t{}", session.engine.for_update_of_free());
    let row = session.query(sql).fetch_optional(&mut *session.connection).await?;
    row.map(|row| row.try_get("entry_id")).transpose()
}

async fn read(session: &mut Session<'_>, position: i64, ask: &Ask) -> sqlx::Result<Chunk> {
    let sql = "SELECT entry_id, tenant_id, budget_id, period_id, kind, amount, source_id, created_at FROM entries \
               WHERE entry_id > $1 ORDER BY entry_id LIMIT $2";
    let query = session.query(sql).bind(position).bind(ask.most);
    let rows = query.fetch_all(&mut *session.connection).await?;
    let entries = rows.iter().map(chunk::entry).collect::<sqlx::Result<Vec<_>>>()?;
    let is_full = i64::try_from(entries.len()).is_ok_and(|found| found == ask.most);
    Ok(Chunk::cut(entries, is_full, Bounds { before: ask.before, now: ask.now }))
}

/// Deletes the entries, and carries forward what they came to.
async fn delete(session: &mut Session<'_>, chunk: &Chunk) -> sqlx::Result<()> {
    let Some(position) = chunk.position else { return Ok(()) };
    carry(session, chunk).await?;
    let ids: Vec<Id> = chunk.old.iter().map(|entry| Id { entry_id: entry.entry_id }).collect();
    let given = session.engine.given("$1", "entry_id bigint");
    let sql = format!("DELETE FROM entries WHERE entry_id IN (SELECT entry_id FROM {given})");
    session.query(sql).bind(json(&ids)?).execute(&mut *session.connection).await?;
    let query = session.query("UPDATE pruned SET entry_id = $1").bind(position);
    query.execute(&mut *session.connection).await?;
    Ok(())
}

#[derive(Debug, Serialize)]
struct Id {
    entry_id: i64,
}

/// What entries of one kind came to in one account.
#[derive(Debug, Serialize)]
struct Carried<'a> {
    #[serde(flatten, with = "Key")]
    account: &'a AccountKey,
    kind: i64,
    entries: i64,
    amount: i64,
}

async fn carry(session: &mut Session<'_>, chunk: &Chunk) -> sqlx::Result<()> {
    let sums = chunk.sums();
    let carried = sums.iter().map(|((account, kind), sum)| Carried {
        account,
        kind: *kind,
        entries: sum.entries,
        amount: sum.amount,
    });
    let carried: Vec<Carried<'_>> = carried.collect();
    let given = session.engine.given("$1", &format!("{KEY}, kind bigint, entries bigint, amount bigint"));
    let sql = format!(
        "INSERT INTO carried (tenant_id, budget_id, period_id, kind, entries, amount) \
         SELECT tenant_id, budget_id, period_id, kind, entries, amount FROM {given} WHERE true \
         ON CONFLICT (tenant_id, budget_id, period_id, kind) DO UPDATE \
         SET entries = carried.entries + excluded.entries, amount = carried.amount + excluded.amount"
    );
    session.query(sql).bind(json(&carried)?).execute(&mut *session.connection).await?;
    Ok(())
}
