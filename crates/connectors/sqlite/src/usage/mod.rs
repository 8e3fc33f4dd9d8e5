//! Usage in SQLite: every event, and sums by the hour, the day and the month.
//!
//! One transaction holds a batch: the events, by their `event_id`, and the sums of those of them that are new. So the
//! two never differ, whatever dies when.

mod events;
mod expire;
mod export;
mod insert;
mod level;
mod minutes;
mod months;
mod query;
mod requests;
mod roll_up;
mod series;
mod sketch;
mod source;
mod sums;

use crate::{Database, failure::store_failure};
use series::Known;
use signalbox_api::v1::UsageRow;
use signalbox_kit::Clock;
use signalbox_ports::usage_store::{
    Batch, Counted, Export, Exported, Inserted, Minute, Page, Query, Requests, StoreFailure, UsageStore,
    Window,
};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::sync::Mutex;

/// The usage that a database file holds.
#[derive(Debug)]
pub struct SqliteUsage {
    database: Arc<Database>,
    /// Tells when late events count.
    clock: Arc<dyn Clock>,
    /// How long events are kept; for ever where it is `None`.
    retention: Option<Duration>,
    /// Taken before the connection that writes.
    known: Mutex<Known>,
}

impl SqliteUsage {
    /// The usage in a file.
    pub fn new(database: Arc<Database>, clock: Arc<dyn Clock>) -> Self {
        Self { database, clock, retention: None, known: Mutex::default() }
    }

    /// The same, where events older than `retention` are removed whenever months are closed.
    #[must_use]
    pub fn keeping(self, retention: Option<Duration>) -> Self {
        Self { retention, ..self }
    }

    /// Removes events, and what minutes tell, that count before the hour in which `before` is. Their sums by the hour, the
    /// day and the month stay. How many events that were.
    ///
    /// # Errors
    /// See [`StoreFailure`]. Some may be removed then; the rest is when this is called again.
    pub async fn expire(&self, before: SystemTime) -> Result<u64, StoreFailure> {
        expire::expire(&self.database, level::nanos(before)).await.map_err(|error| self.failure(&error))
    }

    fn failure(&self, error: &sqlx::Error) -> StoreFailure {
        store_failure(self.database.path(), error)
    }
}

#[async_trait::async_trait]
impl UsageStore for SqliteUsage {
    async fn migrate(&self) -> Result<(), StoreFailure> {
        self.database.migrate().await.map_err(|error| StoreFailure::Refused(error.to_string()))
    }

    async fn insert(&self, batch: &Batch) -> Result<Inserted, StoreFailure> {
        insert::insert(self, batch).await.map_err(|error| self.failure(&error))
    }

    async fn query(&self, query: &Query) -> Result<Page<UsageRow>, StoreFailure> {
        query::query(self, query).await
    }

    async fn requests(&self, query: &Requests) -> Result<Page<Counted>, StoreFailure> {
        requests::requests(&self.database, query).await.map_err(|error| self.failure(&error))
    }

    async fn export(&self, export: &Export) -> Result<Exported, StoreFailure> {
        export::export(self, export).await
    }

    async fn close_months(&self, before: SystemTime) -> Result<Option<SystemTime>, StoreFailure> {
        let now = self.clock.now();
        let closed = months::close(&self.database, level::nanos(before), level::nanos(now)).await;
        let closed = closed.map_err(|error| self.failure(&error))?;
        if let Some(oldest) = self.retention.and_then(|retention| now.checked_sub(retention)) {
            self.expire(oldest).await?;
        }
        Ok(closed)
    }

    async fn minutes(&self, window: Window) -> Result<Vec<Minute>, StoreFailure> {
        minutes::minutes(&self.database, window).await.map_err(|error| self.failure(&error))
    }
}
