//! A month, in slices: the server sorts one at a time and sends it as it is read, so that nobody holds the month.

use crate::{
    failure::failure,
    limits::{self, bounded, seconds},
    months::Closings,
    requests::Account,
    time,
};
use clickhouse::{Client, Row, query::RowCursor};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use serde::Deserialize;
use signalbox_ports::usage_store::{Counted, Export, Exported, StoreFailure};
use std::time::SystemTime;

/// A slice ends with the minute that fills it.
const SLICE: u64 = 20_000;

/// Accounts that count in a minute.
#[derive(Row, Deserialize)]
struct Count {
    minute: u32,
    accounts: u64,
}

pub(crate) async fn export(
    client: &Client,
    asked: &Export,
    now: SystemTime,
) -> Result<Exported, StoreFailure> {
    let end = time::micros(asked.month.end);
    let closed_at = Closings::load(client).await?.closed_at(end, time::micros(now)).map(time::system_time);
    let counts = counts(client, asked).await?;
    let total = counts.iter().map(|count| count.accounts).sum();
    let (client, tenant) = (client.clone(), asked.tenant_id.clone());
    let slices = stream::iter(slices(&counts, end)).map(Ok);
    let events = slices.map_ok(move |slice| accounts(&client, &tenant, slice)).try_flatten();
    Ok(Exported { closed_at, total, events: events.boxed() })
}

async fn counts(client: &Client, asked: &Export) -> Result<Vec<Count>, StoreFailure> {
    let sql = format!(
        "SELECT toUnixTimestamp(toStartOfMinute(counted_at)) AS minute, count() AS accounts FROM usage_events
        WHERE {} GROUP BY minute ORDER BY minute",
        condition(&asked.tenant_id)
    );
    let (start, end) = (time::micros(asked.month.start), time::micros(asked.month.end));
    let query = bind(client.query(&sql), &asked.tenant_id, (start, end));
    bounded(limits::SLICE, query.fetch_all()).await
}

/// The accounts of a slice, in order, as they come.
fn accounts(
    client: &Client,
    tenant: &str,
    slice: (i64, i64),
) -> impl Stream<Item = Result<Counted, StoreFailure>> + use<> {
    let sql = format!(
        "SELECT event, counted_at FROM usage_events WHERE {} ORDER BY counted_at, event_id",
        condition(tenant)
    );
    let cursor = bind(client.query(&sql), tenant, slice).fetch::<Account>();
    let cursor = stream::once(async move { cursor.map_err(|error| failure(&error)) });
    cursor.map_ok(|cursor| stream::try_unfold(cursor, next)).try_flatten()
}

async fn next(mut cursor: RowCursor<Account>) -> Result<Option<(Counted, RowCursor<Account>)>, StoreFailure> {
    let Some(account) = bounded(limits::SLICE, cursor.next()).await? else { return Ok(None) };
    Ok(Some((account.counted()?, cursor)))
}

fn condition(tenant: &str) -> String {
    let tenant = if tenant.is_empty() { "" } else { " AND tenant_id = {tenant:String}" };
    format!(
        "counted_at >= fromUnixTimestamp64Micro({{start:Int64}}, 'UTC')
            AND counted_at < fromUnixTimestamp64Micro({{end:Int64}}, 'UTC'){tenant}"
    )
}

fn bind(query: clickhouse::query::Query, tenant: &str, (start, end): (i64, i64)) -> clickhouse::query::Query {
    let query = query
        .with_setting("max_execution_time", seconds(limits::SLICE))
        .param("start", start)
        .param("end", end);
    if tenant.is_empty() { query } else { query.param("tenant", tenant) }
}

/// Windows that cover all counted minutes, none much longer than [`SLICE`].
fn slices(counts: &[Count], end: i64) -> Vec<(i64, i64)> {
    let mut slices = Vec::new();
    let mut filled = SLICE;
    for count in counts {
        if filled >= SLICE {
            slices.push(i64::from(count.minute) * 1_000_000);
            filled = 0;
        }
        filled += count.accounts;
    }
    let ends = slices.iter().copied().skip(1).chain([end]).collect::<Vec<_>>();
    slices.into_iter().zip(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_follow_each_other_and_end_with_the_month() {
        let count = |minute, accounts| Count { minute, accounts };
        let slices = slices(&[count(60, 1), count(120, SLICE), count(180, 5), count(600, 5)], 1_000_000_000);
        assert_eq!(slices, [(60_000_000, 180_000_000), (180_000_000, 1_000_000_000)]);
        assert!(super::slices(&[], 5).is_empty());
    }
}
