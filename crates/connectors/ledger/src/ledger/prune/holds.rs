//! Leases and reservations that hold nothing any more.
//!
//! Rows are picked first and deleted by their keys then: in one statement PostgreSQL would rather read the whole table.

use super::Ask;
use crate::{
    ledger::account::KEY,
    stored::{Key, account_key, json},
};
use serde::Serialize;
use signalbox_ports::ledger::AccountKey;
use signalbox_sql::Session;
use sqlx::Row;

#[derive(Debug, Serialize)]
struct Lease {
    lease_id: String,
}

/// Deletes leases; how many. One that a late settlement looks at is left for the next time.
pub(super) async fn leases(session: &mut Session<'_>, ask: &Ask) -> sqlx::Result<u64> {
    let sql = format!(
        "SELECT t.lease_id FROM leases t WHERE t.state >= 2 AND t.expires_at < $1 ORDER BY t.expires_at LIMIT $2{}",
        session.engine.for_update_of_free()
    );
    let query = session.query(sql).bind(ask.before).bind(ask.most);
    let rows = query.fetch_all(&mut *session.connection).await?;
    let leases = rows.iter().map(|row| Ok(Lease { lease_id: row.try_get("lease_id")? }));
    let leases = leases.collect::<sqlx::Result<Vec<_>>>()?;
    if leases.is_empty() {
        return Ok(0);
    }
    let given = session.engine.given("$1", "lease_id text");
    let sql = format!("DELETE FROM leases WHERE lease_id IN (SELECT lease_id FROM {given})");
    let query = session.query(sql).bind(json(&leases)?);
    Ok(query.execute(&mut *session.connection).await?.rows_affected())
}

/// A part of a reservation.
#[derive(Debug, Serialize)]
pub(super) struct Part {
    pub(super) reservation_id: String,
    #[serde(flatten, with = "Key")]
    account: AccountKey,
}

/// Deletes parts of reservations; which. A late settlement may write one again: it still holds nothing, and goes the
/// next time.
pub(super) async fn reservations(session: &mut Session<'_>, ask: &Ask) -> sqlx::Result<Vec<Part>> {
    let sql = format!(
        "SELECT t.reservation_id, t.tenant_id, t.budget_id, t.period_id FROM reservations t \
         WHERE t.is_open = 0 AND t.expires_at < $1 ORDER BY t.expires_at LIMIT $2{}",
        session.engine.for_update_of_free()
    );
    let query = session.query(sql).bind(ask.before).bind(ask.most);
    let rows = query.fetch_all(&mut *session.connection).await?;
    let parts = rows
        .iter()
        .map(|row| Ok(Part { reservation_id: row.try_get("reservation_id")?, account: account_key(row)? }));
    let parts = parts.collect::<sqlx::Result<Vec<_>>>()?;
    if !parts.is_empty() {
        let given = session.engine.given("$1", &format!("reservation_id text, {KEY}"));
        let sql = format!(
            "DELETE FROM reservations WHERE (reservation_id, tenant_id, budget_id, period_id) IN \
             (SELECT reservation_id, tenant_id, budget_id, period_id FROM {given})"
        );
        session.query(sql).bind(json(&parts)?).execute(&mut *session.connection).await?;
    }
    Ok(parts)
}
