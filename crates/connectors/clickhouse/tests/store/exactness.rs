//! Every event once, in rows and in sums, whoever dies when.

use crate::engine::{assert_holds, batch, client, clock, migrated, options, store};
use futures_util::future::join_all;
use signalbox_api::v1::UsageEvent;
use signalbox_clickhouse::{ClickHouseStore, Options};
use signalbox_contracts::events;
use signalbox_ports::usage_store::{Batch, Inserted, StoreFailure, UsageStore};
use signalbox_testkit::ClickHouseEngine;
use std::time::Duration;
use tokio::sync::watch;

fn some(count: u64) -> Vec<UsageEvent> {
    events(1, count).collect()
}

/// As an ingester does: a store that is too busy to answer in time gets the same batch again.
async fn insert(store: &ClickHouseStore, batch: &Batch) {
    while let Err(failure) = store.insert(batch).await {
        assert!(matches!(failure, StoreFailure::Away(_)), "{failure}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_ingesters_at_once_count_every_event_once() {
    let engine = ClickHouseEngine::start().await;
    migrated(&engine).await;
    let events = some(2000);
    // Each gives every batch twice, as after a lost answer, and its last one is also its neighbour's first.
    let shares: Vec<&[UsageEvent]> = events.chunks(200).collect();
    let work = shares.iter().enumerate().map(|(number, share)| {
        let store = store(&engine, clock());
        async move {
            for (part, events) in share.chunks(50).enumerate() {
                let batch = batch(&format!("{number}-{part}"), events, &[]);
                futures_util::join!(insert(&store, &batch), insert(&store, &batch));
            }
        }
    });
    join_all(work).await;
    assert_holds(&engine, &events).await;
}

#[tokio::test]
async fn a_server_killed_between_an_insert_and_its_retry_counts_once() {
    let mut engine = ClickHouseEngine::start().await;
    let store = migrated(&engine).await;
    let events = some(300);
    let first = batch("1-200", &events[..200], &[]);
    store.insert(&first).await.unwrap();
    engine.kill().await;
    assert!(matches!(store.insert(&first).await, Err(StoreFailure::Away(_))));
    engine.restart().await;
    store.insert(&first).await.unwrap();
    assert_holds(&engine, &events[..200]).await;

    let other = batch("100-300", &events[100..], &events[100..200]);
    assert_eq!(store.insert(&other).await.unwrap(), Inserted { stored: 100, repeated: 100 });
    assert_holds(&engine, &events).await;
}

/// Gives all events to the store, whose server dies again and again: by turns the same batch is tried again, and another
/// process gets its events together with new ones. Says how far it is.
async fn ingest(options: Options, events: Vec<UsageEvent>, done: watch::Sender<usize>) {
    let open = || ClickHouseStore::new(options.clone(), clock()).unwrap();
    let (mut store, mut start, mut length, mut suspects, mut failures) = (open(), 0, 100, 0, 0);
    while start < events.len() {
        let end = events.len().min(start + length);
        let batch = batch(&format!("{start}-{end}"), &events[start..end], &events[start..start + suspects]);
        match store.insert(&batch).await {
            Ok(_) => {
                (start, length, suspects) = (end, 100, 0);
                done.send_replace(start);
            }
            Err(StoreFailure::Away(_)) if failures % 40 < 20 => failures += 1,
            Err(StoreFailure::Away(_)) => {
                (store, length, suspects) = (open(), end - start + 50, end - start);
                failures += 1;
            }
            Err(refused) => panic!("{refused}"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_again_and_again_while_it_stores_counts_once() {
    let mut engine = ClickHouseEngine::start().await;
    migrated(&engine).await;
    let events = some(3000);
    let (done, mut progress) = watch::channel(0);
    let ingesting = tokio::spawn(ingest(options(&engine), events.clone(), done));
    for kill in 1..=5 {
        progress.wait_for(|done| *done >= 400 * kill).await.unwrap();
        engine.kill().await;
        engine.restart().await;
    }
    ingesting.await.unwrap();
    assert_holds(&engine, &events).await;
}

/// As left by a server that dies after the first table and before the views: the daily sums cannot be written.
async fn break_daily_sums(engine: &ClickHouseEngine) -> String {
    let client = client(engine);
    let view = client.query("SHOW CREATE TABLE usage_daily_view").fetch_one::<String>().await.unwrap();
    client.query("DROP TABLE usage_daily_view").execute().await.unwrap();
    let broken = view.replacen("GROUP BY", "WHERE throwIf(event_id != '') = 0 GROUP BY", 1);
    assert_ne!(broken, view);
    client.query_raw(&broken).execute().await.unwrap();
    view
}

async fn count(engine: &ClickHouseEngine, sql: &str) -> u64 {
    client(engine).query(sql).fetch_one().await.unwrap()
}

async fn mend_daily_sums(engine: &ClickHouseEngine, view: &str) {
    let client = client(engine);
    client.query("DROP TABLE usage_daily_view").execute().await.unwrap();
    client.query_raw(view).execute().await.unwrap();
}

#[tokio::test]
async fn sums_that_lack_a_batch_get_it_when_it_is_tried_again() {
    let engine = ClickHouseEngine::start().await;
    let store = migrated(&engine).await;
    let events = some(100);
    let view = break_daily_sums(&engine).await;
    let batch = batch("1-100", &events, &[]);
    assert!(matches!(store.insert(&batch).await, Err(StoreFailure::Away(_))));
    // What exactness rests on: accounts are stored before the sums, so no sum has what the accounts have not.
    assert_eq!(count(&engine, "SELECT count() FROM usage_events").await, 100);
    assert_eq!(count(&engine, "SELECT count() FROM usage_daily").await, 0);
    mend_daily_sums(&engine, &view).await;
    store.insert(&batch).await.unwrap();
    assert_holds(&engine, &events).await;
}

#[tokio::test]
async fn sums_that_lack_a_batch_get_it_when_its_events_come_again_in_other_batches() {
    let engine = ClickHouseEngine::start().await;
    let events = some(100);
    let store = migrated(&engine).await;
    let view = break_daily_sums(&engine).await;
    assert!(matches!(store.insert(&batch("1-60", &events[..60], &[])).await, Err(StoreFailure::Away(_))));
    mend_daily_sums(&engine, &view).await;

    // Another process gets them, mixed with new ones.
    let store = crate::engine::store(&engine, clock());
    let inserted = store.insert(&batch("30-80", &events[30..80], &events[30..60])).await.unwrap();
    assert_eq!(inserted, Inserted { stored: 20, repeated: 30 });
    let inserted = store.insert(&batch("0-100", &events, &events[..80])).await.unwrap();
    assert_eq!(inserted, Inserted { stored: 20, repeated: 80 });
    assert_holds(&engine, &events).await;
}

#[tokio::test]
async fn numbers_of_a_stream_that_was_made_anew_lose_nothing() {
    let engine = ClickHouseEngine::start().await;
    let store = migrated(&engine).await;
    let events = some(40);
    store.insert(&batch("1-20", &events[..20], &[])).await.unwrap();
    store.insert(&batch("1-20", &events[20..], &[])).await.unwrap();
    assert_holds(&engine, &events).await;
}
