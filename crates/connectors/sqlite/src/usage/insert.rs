//! One transaction for a batch.

use super::{SqliteUsage, events, level::nanos, minutes::Minutes, months, roll_up, series, sums::Single};
use crate::database::begin;
use prost::Message;
use signalbox_api::v1::UsageEvent;
use signalbox_ports::{
    usage_facts::Measures,
    usage_store::{Batch, Inserted},
};
use std::{collections::HashSet, time::SystemTime};

/// An event as it is written.
pub(super) struct Line<'a> {
    pub(super) event: &'a UsageEvent,
    pub(super) counted_at: i64,
    pub(super) series: i64,
    pub(super) single: Single,
    pub(super) encoded: Vec<u8>,
}

pub(super) async fn insert(store: &SqliteUsage, batch: &Batch) -> sqlx::Result<Inserted> {
    if batch.events.is_empty() {
        return Ok(Inserted::default());
    }
    let keys: Vec<series::Key> = batch.events.iter().map(series::key).collect();
    let mut known = store.known.lock().await;
    let mut writer = store.database.writer().await?;
    let mut transaction = begin(&mut writer).await?;
    let numbers = known.numbers(&mut transaction, &keys).await?;
    let closed_until = months::closed_until(&mut transaction).await?;
    let now = nanos(store.clock.now());
    let lines = lines(&batch.events, &numbers, |end| when(end, closed_until, now));
    let new = events::insert(&mut transaction, &lines).await?;
    let is_new = |line: &&Line<'_>| new.as_ref().is_none_or(|new| new.contains(&line.event.event_id));
    let new: Vec<&Line<'_>> = lines.iter().filter(is_new).collect();
    roll_up::add(&mut transaction, &new).await?;
    Minutes::of(&new).write(&mut transaction).await?;
    transaction.commit().await?;
    let stored = new.len();
    known.remember(keys, &numbers);
    Ok(Inserted { stored, repeated: batch.events.len() - stored })
}

/// An event counts at its end; one of a closed month now, or when the first open month begins, should a month have been
/// closed before its time.
fn when(end: i64, closed_until: Option<i64>, now: i64) -> i64 {
    match closed_until {
        Some(closed) if end < closed => now.max(closed),
        _ => end,
    }
}

fn lines<'a>(events: &'a [UsageEvent], numbers: &[i64], when: impl Fn(i64) -> i64) -> Vec<Line<'a>> {
    let mut seen = HashSet::with_capacity(events.len());
    let once = events.iter().zip(numbers).filter(|(event, _)| seen.insert(&event.event_id));
    once.map(|(event, series)| Line {
        event,
        counted_at: when(end(event)),
        series: *series,
        single: Single::of(&Measures::of(event)),
        encoded: event.encode_to_vec(),
    })
    .collect()
}

/// Whoever gives events has checked that they have an end.
fn end(event: &UsageEvent) -> i64 {
    let end = event.end_time.and_then(|end| SystemTime::try_from(end).ok());
    nanos(end.unwrap_or(SystemTime::UNIX_EPOCH))
}
