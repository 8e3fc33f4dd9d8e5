//! How long the server may take: told to it, and waited for here.

use crate::failure::{failure, too_slow};
use clickhouse::error::Result;
use signalbox_ports::usage_store::StoreFailure;
use std::{future::Future, time::Duration};

/// An insert with all that belongs to it. The server may take as long again, from when it has the rows: one that was
/// given up here has landed 20 s after its beginning, or never will.
pub(crate) const INSERT: Duration = Duration::from_secs(10);
/// A look for what is stored already.
pub(crate) const LOOKUP: Duration = Duration::from_secs(5);
/// A question of a user.
pub(crate) const QUERY: Duration = Duration::from_secs(30);
/// A slice of an export.
pub(crate) const SLICE: Duration = Duration::from_secs(120);
/// A statement of a migration.
pub(crate) const MIGRATION: Duration = Duration::from_secs(120);

/// What comes of `work`, or that the server is away when it takes longer than `limit`.
pub(crate) async fn bounded<T>(
    limit: Duration,
    work: impl Future<Output = Result<T>>,
) -> Result<T, StoreFailure> {
    match tokio::time::timeout(limit, work).await {
        Ok(done) => done.map_err(|error| failure(&error)),
        Err(_) => Err(too_slow()),
    }
}

/// For the setting `max_execution_time`.
pub(crate) fn seconds(limit: Duration) -> String {
    limit.as_secs().to_string()
}
