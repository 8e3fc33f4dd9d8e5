//! Stores batches, each event once.
//!
//! What makes it once: a batch is one block of rows under a token, and the server forgets a block whose token it knows,
//! in `usage_events` and in all that the views feed. The block reaches `usage_events` first and the views after it; a
//! server that dies between leaves views that lack it. So an event that is found stored proves only that its batch
//! has reached `usage_events`: the batch is read back and inserted again under its token, which adds what the views
//! lack and nothing else. This holds while the server remembers the token.

mod memory;
mod stored;

use crate::{
    failure::{failure, too_slow},
    limits::{self, seconds},
    months::Closings,
    rows::EventRow,
    time,
};
use clickhouse::Client;
use memory::Memory;
use sha2::{Digest as _, Sha256};
use signalbox_api::v1::UsageEvent;
use signalbox_ports::usage_store::{Batch, Inserted, StoreFailure};
use std::{
    collections::{HashMap, HashSet},
    time::SystemTime,
};
use stored::Stored;

/// Inserts, and what it knows of what was inserted.
#[derive(Debug, Default)]
pub(crate) struct Inserter {
    memory: Memory,
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
        let tried_before = self.memory.begin(&token);
        let trying = self.try_insert(client, batch, &token, suspects(batch, tried_before), now);
        // The whole of it, so that the server has the rows by then or never gets them.
        let done = tokio::time::timeout(limits::INSERT, trying).await.unwrap_or_else(|_| Err(too_slow()));
        if done.is_ok() {
            self.memory.stored(&token);
        }
        done
    }

    async fn try_insert(
        &self,
        client: &Client,
        batch: &Batch,
        token: &str,
        suspects: Vec<&UsageEvent>,
        now: SystemTime,
    ) -> Result<Inserted, StoreFailure> {
        let stored = stored::lookup(client, &suspects).await?;
        let remembered = self.complete(client, &stored, token).await?;
        let closings = Closings::load(client).await?;
        let now = time::micros(now);
        let stored: HashMap<&str, &Stored> = stored.iter().map(|it| (it.event_id.as_str(), it)).collect();
        let mut rows = Vec::with_capacity(batch.events.len());
        for event in &batch.events {
            match stored.get(event.event_id.as_str()) {
                // Again, to the same place: for the views.
                Some(own) if own.batch == token && remembered => rows.push((event, own.counted_at)),
                Some(_) => {}
                None => rows.push((event, closings.counted_at(ended_at(event), now))),
            }
        }
        write(client, token, &rows).await?;
        let repeated = batch.events.iter().filter(|it| stored.contains_key(it.event_id.as_str())).count();
        Ok(Inserted { stored: batch.events.len() - repeated, repeated })
    }

    /// Inserts again the batches that events were found of, so that the views have them whole; not the batch in hand,
    /// which is inserted again anyway. Whether that one's token is remembered.
    async fn complete(&self, client: &Client, stored: &[Stored], own: &str) -> Result<bool, StoreFailure> {
        let mut own_is_remembered = true;
        for (batch, since) in batches(stored) {
            if batch != own && self.memory.is_whole(batch) {
                continue;
            }
            let remembered = stored::is_remembered(client, since).await?;
            if batch == own {
                own_is_remembered = remembered;
            } else if remembered {
                let accounts = stored::accounts(client, batch, since).await?;
                let rows: Vec<_> = accounts.iter().map(|it| (&it.event, time::micros(it.when))).collect();
                write(client, batch, &rows).await?;
                self.memory.stored(batch);
            }
            if !remembered {
                tracing::warn!(batch, "a batch came again so late that its sums cannot be checked any more");
            }
        }
        Ok(own_is_remembered)
    }
}

/// The batches of stored events, and when the first of each was inserted.
fn batches(stored: &[Stored]) -> HashMap<&str, u32> {
    let mut batches: HashMap<&str, u32> = HashMap::new();
    for event in stored {
        let since = batches.entry(&event.batch).or_insert(event.inserted_at);
        *since = event.inserted_at.min(*since);
    }
    batches
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

async fn write(client: &Client, token: &str, rows: &[(&UsageEvent, i64)]) -> Result<(), StoreFailure> {
    if rows.is_empty() {
        return Ok(());
    }
    send(client, token, rows).await.map_err(|error| failure(&error))
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
