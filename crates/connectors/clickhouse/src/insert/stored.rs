//! What is stored already.

use super::ended_at;
use crate::{
    limits::{self, bounded, seconds},
    requests::Account,
};
use clickhouse::{Client, Row};
use serde::Deserialize;
use signalbox_api::v1::UsageEvent;
use signalbox_ports::usage_store::{Counted, StoreFailure};
use std::collections::HashSet;

/// Half of the tables' `deduplication_window`: a batch that spans months is more than one block. Replicated ones also
/// forget after a week.
const REMEMBERED: u64 = 5000;

/// An event that is stored.
#[derive(Debug, Row, Deserialize)]
pub(super) struct Stored {
    pub(super) event_id: String,
    pub(super) batch: String,
    pub(super) counted_at: i64,
    pub(super) inserted_at: u32,
}

/// Those that are stored already. An event counts at its end or later, which spares the server most of the table.
pub(super) async fn lookup(client: &Client, suspects: &[&UsageEvent]) -> Result<Vec<Stored>, StoreFailure> {
    let Some(earliest) = suspects.iter().map(|event| ended_at(event)).min() else { return Ok(Vec::new()) };
    let tenants: HashSet<&str> = suspects.iter().map(|event| event.tenant_id.as_str()).collect();
    let ids: Vec<&str> = suspects.iter().map(|event| event.event_id.as_str()).collect();
    let sql = "SELECT event_id, batch, counted_at, inserted_at FROM usage_events
        WHERE tenant_id IN {tenants:Array(String)}
            AND counted_at >= fromUnixTimestamp64Micro({earliest:Int64}, 'UTC')
            AND event_id IN {ids:Array(String)}";
    let query = client
        .query(sql)
        .with_setting("max_execution_time", seconds(limits::LOOKUP))
        .param("tenants", tenants.into_iter().collect::<Vec<_>>())
        .param("earliest", earliest)
        .param("ids", ids);
    bounded(limits::LOOKUP, query.fetch_all()).await
}

/// Whether the server still knows the token of a batch that was inserted then.
pub(super) async fn is_remembered(client: &Client, since: u32) -> Result<bool, StoreFailure> {
    let sql = "SELECT uniqExact(batch) < {most:UInt64} AND toDateTime({since:UInt32}, 'UTC') > now() - toIntervalDay(6)
        FROM usage_events WHERE inserted_at >= toDateTime({since:UInt32}, 'UTC')";
    let query = client.query(sql).param("most", REMEMBERED).param("since", since);
    Ok(bounded(limits::LOOKUP, query.fetch_one::<u8>()).await? == 1)
}

/// The accounts of a batch.
pub(super) async fn accounts(client: &Client, batch: &str, since: u32) -> Result<Vec<Counted>, StoreFailure> {
    // One insert, so about one time: a minute beside it is more than it may take.
    let sql = "SELECT event, counted_at FROM usage_events WHERE batch = {batch:String}
        AND inserted_at BETWEEN toDateTime({since:UInt32}, 'UTC') - 60 AND toDateTime({since:UInt32}, 'UTC') + 60";
    let query = client.query(sql).param("batch", batch).param("since", since);
    let accounts: Vec<Account> = bounded(limits::LOOKUP, query.fetch_all()).await?;
    accounts.into_iter().map(Account::counted).collect()
}
