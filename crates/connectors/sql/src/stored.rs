//! Values as they are stored.

use serde::Serialize;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Nanoseconds since 1970; times before and after what fits are its ends.
pub fn nanos(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// The time that many nanoseconds after 1970.
pub fn time(nanos: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_nanos(nanos.max(0).cast_unsigned())
}

/// Rows for [`Engine::given`](crate::Engine::given).
///
/// # Errors
/// Where a row cannot be said in JSON.
pub fn json<T: Serialize>(rows: &[T]) -> sqlx::Result<String> {
    serde_json::to_string(rows).map_err(|error| sqlx::Error::Encode(Box::new(error)))
}

/// A LIMIT.
pub fn most(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}
