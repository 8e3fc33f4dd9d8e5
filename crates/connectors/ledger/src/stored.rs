//! Values as they are stored.

use prost::Message;
use prost_types::Timestamp;
use serde::Serialize;
use signalbox_ports::ledger::AccountKey;
use sqlx::{Row, any::AnyRow};

pub(crate) use signalbox_sql::{json, most, nanos, time};

/// The time that many nanoseconds after 1970; unset for 0.
pub(crate) fn timestamp(nanos: i64) -> Option<Timestamp> {
    (nanos > 0).then(|| time(nanos).into())
}

/// A message that is stored in a column.
pub(crate) fn decoded<M: Message + Default>(row: &AnyRow, column: &str) -> sqlx::Result<M> {
    let bytes: Vec<u8> = row.try_get(column)?;
    M::decode(bytes.as_slice()).map_err(|error| sqlx::Error::Decode(Box::new(error)))
}

/// The account a row is about.
pub(crate) fn account_key(row: &AnyRow) -> sqlx::Result<AccountKey> {
    Ok(AccountKey {
        tenant_id: row.try_get("tenant_id")?,
        budget_id: row.try_get("budget_id")?,
        period_id: row.try_get("period_id")?,
    })
}

/// A key as columns.
#[derive(Debug, Serialize)]
#[serde(remote = "AccountKey")]
pub(crate) struct Key {
    tenant_id: String,
    budget_id: String,
    period_id: String,
}
