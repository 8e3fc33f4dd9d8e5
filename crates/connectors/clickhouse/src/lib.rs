//! Accounts in ClickHouse: stored once each, summed by views, answered from the coarsest sums that are exact.
//!
//! | table | holds |
//! | --- | --- |
//! | `usage_events` | accounts of requests, whole |
//! | `provider_attempts` | model calls, by a view |
//! | `usage_hourly`, `usage_daily`, `usage_monthly` | sums by all dimensions but the reference, by views |
//! | `usage_daily_by_tenant`, `usage_monthly_by_tenant` | sums by tenant alone, by views |
//! | `usage_closings` | which months are closed |
//! | `schema_migrations` | versions of the above |

mod client;
mod export;
mod failure;
mod insert;
mod limits;
mod migrate;
mod minutes;
mod months;
mod query;
mod requests;
mod rows;
mod time;
mod trust;

pub use client::{Options, OptionsError};

use clickhouse::Client;
use insert::Inserter;
use signalbox_api::v1::UsageRow;
use signalbox_kit::clock::Clock;
use signalbox_ports::usage_store::{
    Batch, Counted, Export, Exported, Inserted, Minute, Page, Query, Requests, StoreFailure, UsageStore,
    Window,
};
use std::{sync::Arc, time::SystemTime};

/// A store of accounts in a ClickHouse database.
#[derive(Debug)]
pub struct ClickHouseStore {
    options: Options,
    /// Without a database, which may not be there yet.
    server: Client,
    client: Client,
    inserter: Inserter,
    clock: Arc<dyn Clock>,
}

impl ClickHouseStore {
    /// A store that connects when it is first asked.
    ///
    /// # Errors
    /// The options cannot be right, whatever the server.
    pub fn new(options: Options, clock: Arc<dyn Clock>) -> Result<Self, OptionsError> {
        let server = client::client(&options)?;
        let client = server.clone().with_database(&options.database);
        Ok(Self { options, server, client, inserter: Inserter::default(), clock })
    }
}

#[async_trait::async_trait]
impl UsageStore for ClickHouseStore {
    async fn migrate(&self) -> Result<(), StoreFailure> {
        migrate::migrate(&self.server, &self.options).await
    }

    async fn insert(&self, batch: &Batch) -> Result<Inserted, StoreFailure> {
        self.inserter.insert(&self.client, batch, self.clock.now()).await
    }

    async fn query(&self, query: &Query) -> Result<Page<UsageRow>, StoreFailure> {
        query::query(&self.client, query).await
    }

    async fn requests(&self, query: &Requests) -> Result<Page<Counted>, StoreFailure> {
        requests::requests(&self.client, query).await
    }

    async fn export(&self, query: &Export) -> Result<Exported, StoreFailure> {
        export::export(&self.client, query, self.clock.now()).await
    }

    async fn close_months(&self, before: SystemTime) -> Result<Option<SystemTime>, StoreFailure> {
        months::close(&self.client, before, self.clock.now(), self.options.closing_delay).await
    }

    async fn time(&self) -> Result<Option<SystemTime>, StoreFailure> {
        months::server_time(&self.client).await.map(Some)
    }

    async fn minutes(&self, window: Window) -> Result<Vec<Minute>, StoreFailure> {
        minutes::minutes(&self.client, window).await
    }
}
