//! Stores batches, each event once.
//!
//! What makes it once: a batch is one block of rows under a token, and the server forgets a block whose token it knows,
//! in `usage_events` and in all that the views feed. The block reaches `usage_events` first and the views after it; a
//! server that dies between leaves views that lack it. So an event that is found stored proves only that its batch
//! has reached `usage_events`: the batch is read back and inserted again under its token, which adds what the views
//! lack and nothing else. This holds while the server remembers the token, [`REMEMBERED`] batches long.

use crate::{
    limits::{self, bounded, seconds},
    months::Closings,
    rows::EventRow,
    time,
};
use bytes::Bytes;
use clickhouse::{Client, Row};
use prost::Message as _;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use signalbox_api::v1::UsageEvent;
use signalbox_ports::usage_store::{Batch, Inserted, StoreFailure};
use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

/// Half of the tables' `deduplication_window`: a batch that spans months is more than one block. Replicated ones also
/// forget after a week.
const REMEMBERED: u64 = 5000;
/// Tokens in doubt that are kept. A service retries the batch in hand, so that more than a few are left behind only by
/// batches that will never come again.
const MOST_DOUBTFUL: usize = 1000;

/// Inserts, and what it knows of those that failed.
#[derive(Debug, Default)]
pub(crate) struct Inserter {
    /// Tokens of batches of which nobody knows whether they are stored: all their events are suspects next time.
    doubtful: Mutex<HashSet<String>>,
}

/// An event that is stored.
#[derive(Debug, Row, Deserialize)]
struct Stored {
    event_id: String,
    batch: String,
    counted_at: i64,
    inserted_at: u32,
}

#[derive(Row, Deserialize)]
struct StoredEvent {
    event: Bytes,
    counted_at: i64,
}

impl Inserter {
    pub(crate) async fn insert(
        &self,
        client: &Client,
        batch: &Batch,
        now: SystemTime,
    ) -> Result<Inserted, StoreFailure> {
        let token = token(batch);
        // In doubt until it is known to be stored, whatever ends the try: an error, or the caller's patience.
        let tried_before = !self.put_in_doubt(&token);
        let done = try_insert(client, batch, &token, tried_before, now).await;
        if !matches!(done, Err(StoreFailure::Away(_))) {
            self.doubtful().remove(&token);
        }
        done
    }

    /// Whether it was not in doubt already.
    fn put_in_doubt(&self, token: &str) -> bool {
        let mut doubtful = self.doubtful();
        if doubtful.len() >= MOST_DOUBTFUL {
            doubtful.clear();
        }
        doubtful.insert(token.to_owned())
    }

    fn doubtful(&self) -> MutexGuard<'_, HashSet<String>> {
        self.doubtful.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn try_insert(
    client: &Client,
    batch: &Batch,
    token: &str,
    tried_before: bool,
    now: SystemTime,
) -> Result<Inserted, StoreFailure> {
    let stored = lookup(client, &suspects(batch, tried_before)).await?;
    let known = complete(client, &stored, token).await?;
    let closings = Closings::load(client).await?;
    let now = time::micros(now);
    let stored: HashMap<&str, &Stored> = stored.iter().map(|it| (it.event_id.as_str(), it)).collect();
    let mut rows = Vec::with_capacity(batch.events.len());
    for event in &batch.events {
        match stored.get(event.event_id.as_str()) {
            // Again, to the same place: for the views.
            Some(own) if own.batch == token && known => rows.push((event, own.counted_at)),
            Some(_) => {}
            None => rows.push((event, closings.counted_at(ended_at(event), now))),
        }
    }
    write(client, token, &rows).await?;
    let repeated = batch.events.iter().filter(|it| stored.contains_key(it.event_id.as_str())).count();
    Ok(Inserted { stored: batch.events.len() - repeated, repeated })
}

/// Those that may be stored. Of a batch that was tried before, all: that try may have stored them, and a late one counts
/// when it was stored first.
fn suspects(batch: &Batch, tried_before: bool) -> Vec<&UsageEvent> {
    let suspects: HashSet<&str> = batch.suspects.iter().map(String::as_str).collect();
    let suspected = |event: &&UsageEvent| tried_before || suspects.contains(event.event_id.as_str());
    batch.events.iter().filter(suspected).collect()
}

/// The batch's token with its content, as one short text: numbers of a stream begin anew when it is made anew, and
/// another batch of the same numbers must not be taken for a repeat.
fn token(batch: &Batch) -> String {
    let mut hash = Sha256::new();
    let ids = batch.events.iter().map(|event| event.event_id.as_str());
    for text in [batch.token.as_str()].into_iter().chain(ids) {
        hash.update(text);
        hash.update([0]);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn ended_at(event: &UsageEvent) -> i64 {
    time::of_timestamp(event.end_time.as_ref())
}

/// Those that are stored already. An event counts at its end or later, which spares the server most of the table.
async fn lookup(client: &Client, suspects: &[&UsageEvent]) -> Result<Vec<Stored>, StoreFailure> {
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

/// Inserts again the batches that events were found of, so that the views have them whole; not the batch in hand,
/// which is inserted again anyway. Whether that one's token is remembered.
async fn complete(client: &Client, stored: &[Stored], own: &str) -> Result<bool, StoreFailure> {
    let mut batches: HashMap<&str, u32> = HashMap::new();
    for event in stored {
        let since = batches.entry(&event.batch).or_insert(event.inserted_at);
        *since = event.inserted_at.min(*since);
    }
    let mut own_is_remembered = true;
    for (batch, since) in batches {
        let remembered = is_remembered(client, since).await?;
        if batch == own {
            own_is_remembered = remembered;
        } else if remembered {
            insert_again(client, batch, since).await?;
        }
        if !remembered {
            tracing::warn!(batch, "a batch came again so late that its sums cannot be checked any more");
        }
    }
    Ok(own_is_remembered)
}

/// Whether the server still knows the token of a batch that was inserted then.
async fn is_remembered(client: &Client, since: u32) -> Result<bool, StoreFailure> {
    let sql = "SELECT uniqExact(batch) < {most:UInt64} AND toDateTime({since:UInt32}, 'UTC') > now() - toIntervalDay(6)
        FROM usage_events WHERE inserted_at >= toDateTime({since:UInt32}, 'UTC')";
    let query = client.query(sql).param("most", REMEMBERED).param("since", since);
    Ok(bounded(limits::LOOKUP, query.fetch_one::<u8>()).await? == 1)
}

async fn insert_again(client: &Client, batch: &str, since: u32) -> Result<(), StoreFailure> {
    // One insert, so about one time: a minute beside it is more than it may take.
    let sql = "SELECT event, counted_at FROM usage_events WHERE batch = {batch:String}
        AND inserted_at BETWEEN toDateTime({since:UInt32}, 'UTC') - 60 AND toDateTime({since:UInt32}, 'UTC') + 60";
    let query = client.query(sql).param("batch", batch).param("since", since);
    let stored: Vec<StoredEvent> = bounded(limits::LOOKUP, query.fetch_all()).await?;
    let events: Result<Vec<(UsageEvent, i64)>, StoreFailure> =
        stored.into_iter().map(|row| Ok((decode(row.event)?, row.counted_at))).collect();
    let events = events?;
    let rows: Vec<(&UsageEvent, i64)> = events.iter().map(|(event, at)| (event, *at)).collect();
    write(client, batch, &rows).await
}

/// An account as it is stored.
pub(crate) fn decode(event: Bytes) -> Result<UsageEvent, StoreFailure> {
    UsageEvent::decode(event)
        .map_err(|error| StoreFailure::Refused(format!("a stored account cannot be read: {error}")))
}

async fn write(client: &Client, token: &str, rows: &[(&UsageEvent, i64)]) -> Result<(), StoreFailure> {
    if rows.is_empty() {
        return Ok(());
    }
    bounded(limits::INSERT, send(client, token, rows)).await
}

async fn send(client: &Client, token: &str, rows: &[(&UsageEvent, i64)]) -> clickhouse::error::Result<()> {
    let mut insert = client
        .insert::<EventRow<'_>>("usage_events")
        .await?
        .with_setting("insert_deduplication_token", token)
        .with_setting("deduplicate_blocks_in_dependent_materialized_views", "1")
        // Together with the token this must be one block: the server may not gather rows of several inserts.
        .with_setting("async_insert", "0")
        .with_setting("max_execution_time", seconds(limits::INSERT));
    for (event, counted_at) in rows {
        insert.write(&EventRow::new(event, *counted_at, token)).await?;
    }
    insert.end().await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(token: &str, ids: &[&str]) -> Batch {
        let events = ids.iter().map(|id| UsageEvent { event_id: (*id).to_owned(), ..UsageEvent::default() });
        Batch { token: token.to_owned(), events: events.collect(), suspects: Vec::new() }
    }

    #[test]
    fn another_batch_of_the_same_numbers_has_another_token() {
        assert_eq!(token(&batch("1-2", &["a", "b"])), token(&batch("1-2", &["a", "b"])));
        assert_ne!(token(&batch("1-2", &["a", "b"])), token(&batch("1-2", &["a", "c"])));
        assert_ne!(token(&batch("1-2", &["a", "b"])), token(&batch("1-3", &["a", "b"])));
    }
}
