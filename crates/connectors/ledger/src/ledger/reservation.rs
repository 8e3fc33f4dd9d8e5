//! Reservations: what one spender may spend of an account.

use super::account::{KEY, SAME_KEY};
use crate::stored::{Key, account_key, json};
use serde::Serialize;
use signalbox_ports::ledger::AccountKey;
use signalbox_sql::Session;
use sqlx::{Row, any::AnyRow};
use std::collections::BTreeMap;

const COLUMNS: &str = "t.reservation_id, t.tenant_id, t.budget_id, t.period_id, t.request_id, t.is_open, t.amount, \
                       t.settled, t.expires_at";

/// A part of a reservation: one for each of its accounts.
pub(super) type PartId = (String, AccountKey);

/// A reservation's hold on one account, as it is stored.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Reservation {
    pub(super) reservation_id: String,
    #[serde(flatten, with = "Key")]
    pub(super) account: AccountKey,
    pub(super) request_id: String,
    /// 0 once what was left is released.
    pub(super) is_open: i64,
    pub(super) amount: i64,
    pub(super) settled: i64,
    pub(super) expires_at: i64,
}

impl Reservation {
    pub(super) fn part(&self) -> PartId {
        (self.reservation_id.clone(), self.account.clone())
    }

    /// What it still holds.
    pub(super) fn outstanding(&self) -> i64 {
        if self.is_open == 1 { (self.amount - self.settled).max(0) } else { 0 }
    }

    fn read(row: &AnyRow) -> sqlx::Result<Self> {
        Ok(Self {
            reservation_id: row.try_get("reservation_id")?,
            account: account_key(row)?,
            request_id: row.try_get("request_id")?,
            is_open: row.try_get("is_open")?,
            amount: row.try_get("amount")?,
            settled: row.try_get("settled")?,
            expires_at: row.try_get("expires_at")?,
        })
    }
}

/// Which part is meant.
#[derive(Debug, Serialize)]
struct Named<'a> {
    reservation_id: &'a str,
    #[serde(flatten, with = "Key")]
    account: &'a AccountKey,
}

/// Parts of reservations. Whoever changes them has locked their accounts.
pub(super) async fn load(
    session: &mut Session<'_>,
    parts: impl Iterator<Item = (&str, &AccountKey)>,
) -> sqlx::Result<BTreeMap<PartId, Reservation>> {
    let named = |(reservation_id, account)| Named { reservation_id, account };
    let parts: Vec<Named<'_>> = parts.map(named).collect();
    if parts.is_empty() {
        return Ok(BTreeMap::new());
    }
    let given = session.engine.given("$1", &format!("reservation_id text, {KEY}"));
    let sql = format!(
        "SELECT {COLUMNS} FROM {given} JOIN reservations t ON t.reservation_id = given.reservation_id AND {SAME_KEY}"
    );
    let rows = session.query(sql).bind(json(&parts)?).fetch_all(&mut *session.connection).await?;
    rows.iter().map(|row| Reservation::read(row).map(|found| (found.part(), found))).collect()
}

/// Whose reservations are, by id.
pub(super) async fn tenants(
    session: &mut Session<'_>,
    reservation_ids: &[&str],
) -> sqlx::Result<BTreeMap<String, String>> {
    #[derive(Serialize)]
    struct Id<'a> {
        reservation_id: &'a str,
    }
    let ids: Vec<Id<'_>> = reservation_ids.iter().map(|reservation_id| Id { reservation_id }).collect();
    let given = session.engine.given("$1", "reservation_id text");
    let sql = format!(
        "SELECT DISTINCT t.reservation_id, t.tenant_id FROM {given} \
         JOIN reservations t ON t.reservation_id = given.reservation_id"
    );
    let rows = session.query(sql).bind(json(&ids)?).fetch_all(&mut *session.connection).await?;
    rows.iter().map(|row| Ok((row.try_get("reservation_id")?, row.try_get("tenant_id")?))).collect()
}

/// Open reservations that expired before `now`, the earliest first.
pub(super) async fn expired(
    session: &mut Session<'_>,
    now: i64,
    most: i64,
) -> sqlx::Result<Vec<Reservation>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM reservations t WHERE t.is_open = 1 AND t.expires_at < $1 \
         ORDER BY t.expires_at, t.reservation_id LIMIT $2"
    );
    let rows = session.query(sql).bind(now).bind(most).fetch_all(&mut *session.connection).await?;
    rows.iter().map(Reservation::read).collect()
}

/// Writes parts, new ones or of accounts that are locked.
pub(super) async fn save(session: &mut Session<'_>, parts: &[Reservation]) -> sqlx::Result<()> {
    let columns = "request_id text, is_open bigint, amount bigint, settled bigint, expires_at bigint";
    let given = session.engine.given("$1", &format!("reservation_id text, {KEY}, {columns}"));
    let sql = format!(
        "INSERT INTO reservations (reservation_id, tenant_id, budget_id, period_id, request_id, is_open, amount, \
         settled, expires_at) \
         SELECT reservation_id, tenant_id, budget_id, period_id, request_id, is_open, amount, settled, expires_at \
         FROM {given} WHERE true \
         ON CONFLICT (reservation_id, tenant_id, budget_id, period_id) DO UPDATE \
         SET is_open = excluded.is_open, settled = excluded.settled"
    );
    session.query(sql).bind(json(parts)?).execute(&mut *session.connection).await?;
    Ok(())
}
