//! Entries: every movement.

use super::account::KEY;
use crate::stored::{Key, json};
use serde::Serialize;
use signalbox_api::v1::ledger_entry::Kind;
use signalbox_ports::ledger::AccountKey;
use signalbox_sql::Session;

/// A new entry.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Entry {
    #[serde(flatten, with = "Key")]
    pub(super) account: AccountKey,
    pub(super) kind: i64,
    pub(super) amount: i64,
    pub(super) estimated: i64,
    pub(super) request_id: String,
    pub(super) hold_id: String,
    pub(super) source_id: String,
    pub(super) reason: String,
}

impl Entry {
    /// One that is for nothing in particular.
    pub(super) fn new(kind: Kind, account: AccountKey, amount: i64) -> Self {
        Self {
            account,
            kind: i64::from(i32::from(kind)),
            amount,
            estimated: 0,
            request_id: String::new(),
            hold_id: String::new(),
            source_id: String::new(),
            reason: String::new(),
        }
    }

    /// Of a lease or reservation.
    pub(super) fn of(self, hold_id: &str) -> Self {
        Self { hold_id: hold_id.to_owned(), ..self }
    }

    /// Booked for this.
    pub(super) fn source(self, source_id: &str) -> Self {
        Self { source_id: source_id.to_owned(), ..self }
    }

    /// For a request.
    pub(super) fn request(self, request_id: &str) -> Self {
        Self { request_id: request_id.to_owned(), ..self }
    }

    /// Whether the amount is an estimate.
    pub(super) fn estimated(self, estimated: bool) -> Self {
        Self { estimated: i64::from(estimated), ..self }
    }
}

/// Writes entries, in their order.
pub(super) async fn insert(session: &mut Session<'_>, entries: &[Entry], now: i64) -> sqlx::Result<()> {
    let columns = format!(
        "{KEY}, kind bigint, amount bigint, estimated bigint, request_id text, hold_id text, source_id text, \
         reason text"
    );
    let given = session.engine.given("$1", &columns);
    let sql = format!(
        "INSERT INTO entries (tenant_id, budget_id, period_id, kind, amount, estimated, request_id, hold_id, \
         source_id, reason, created_at) \
         SELECT tenant_id, budget_id, period_id, kind, amount, estimated, request_id, hold_id, source_id, reason, \
         $2 FROM {given}"
    );
    session.query(sql).bind(json(entries)?).bind(now).execute(&mut *session.connection).await?;
    Ok(())
}
