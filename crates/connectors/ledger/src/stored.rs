//! Values as they are stored.

use prost::Message;
use prost_types::Timestamp;
use serde::Serialize;
use signalbox_ports::ledger::AccountKey;
use sqlx::{Row, any::AnyRow};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Nanoseconds since 1970; times before and after what fits are its ends.
pub(crate) fn nanos(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// The time that many nanoseconds after 1970.
pub(crate) fn time(nanos: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_nanos(nanos.max(0).cast_unsigned())
}

/// The same, in a message; unset for 0.
pub(crate) fn timestamp(nanos: i64) -> Option<Timestamp> {
    (nanos > 0).then(|| time(nanos).into())
}

/// Rows for `Engine::given`.
pub(crate) fn json<T: Serialize>(rows: &[T]) -> sqlx::Result<String> {
    serde_json::to_string(rows).map_err(|error| sqlx::Error::Encode(Box::new(error)))
}

/// A message that is stored in a column.
pub(crate) fn decoded<M: Message + Default>(row: &AnyRow, column: &str) -> sqlx::Result<M> {
    let bytes: Vec<u8> = row.try_get(column)?;
    M::decode(bytes.as_slice()).map_err(|error| sqlx::Error::Decode(Box::new(error)))
}

/// A LIMIT.
pub(crate) fn most(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
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
