//! What operators meet: wrong passwords, servers that stand still, upgrades, retention.

use crate::engine::{assert_holds, batch, client, clock, migrated, options};
use signalbox_api::v1::{UsageDimension, UsageEvent, UsageFilter, query_usage_request::Interval};
use signalbox_clickhouse::{ClickHouseStore, Options};
use signalbox_contracts::events;
use signalbox_ports::usage_store::{Query, Requests, StoreFailure, UsageStore, Window};
use signalbox_testkit::ClickHouseEngine;
use std::time::{Duration, Instant, UNIX_EPOCH};

fn some(count: u64) -> Vec<UsageEvent> {
    events(1, count).collect()
}

fn everything() -> Window {
    Window { start: UNIX_EPOCH, end: UNIX_EPOCH + Duration::from_secs(4_000_000_000) }
}

fn away(failure: StoreFailure) -> String {
    match failure {
        StoreFailure::Away(text) => text,
        StoreFailure::Refused(text) => panic!("refused: {text}"),
    }
}

#[tokio::test]
async fn a_wrong_password_is_told_and_nothing_is_set_aside_for_it() {
    let engine = ClickHouseEngine::start().await;
    let wrong = Options { password: "hunter2".to_owned(), ..options(&engine) };
    let store = ClickHouseStore::new(wrong, clock()).unwrap();
    for failure in [store.migrate().await.err(), store.insert(&batch("1", &some(1), &[])).await.err()] {
        let text = away(failure.unwrap());
        assert!(text.contains("Authentication failed") && !text.contains("hunter2"), "{text}");
    }
    assert!(!format!("{store:?}").contains("hunter2"));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_away_and_says_why() {
    let nowhere = ClickHouseStore::new(Options::new("http://127.0.0.1:1", "usage"), clock()).unwrap();
    let text = away(nowhere.migrate().await.unwrap_err());
    assert!(text.contains("refused"), "{text}");
}

#[tokio::test]
async fn a_server_that_stands_still_is_away_within_seconds() {
    let engine = ClickHouseEngine::start().await;
    let store = migrated(&engine).await;
    let events = some(10);
    engine.freeze();
    let began = Instant::now();
    away(store.insert(&batch("1-10", &events, &events)).await.unwrap_err());
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    engine.thaw();
    store.insert(&batch("1-10", &events, &[])).await.unwrap();
    assert_holds(&engine, &events).await;
}

#[tokio::test]
async fn tables_of_version_1_are_brought_to_this_programs_version_with_what_they_hold() {
    let engine = ClickHouseEngine::start().await;
    let client = client(&engine);
    client.clone().with_database("default").query("CREATE DATABASE usage").execute().await.unwrap();
    let first = include_str!("../../migrations/0001_usage.sql");
    let code: Vec<&str> = first.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
    for statement in code.join("\n").split(';').filter(|statement| !statement.trim().is_empty()) {
        client.query_raw(statement).execute().await.unwrap();
    }
    let store = crate::engine::store(&engine, clock());
    let events = some(60);
    store.insert(&batch("1-40", &events[..40], &[])).await.unwrap();
    store.migrate().await.unwrap();
    store.insert(&batch("41-60", &events[40..], &[])).await.unwrap();
    assert_holds(&engine, &events).await;
    let versions = client.query("SELECT version FROM schema_migrations FINAL ORDER BY version");
    assert_eq!(versions.fetch_all::<u32>().await.unwrap(), [1, 2]);
    let found = store.requests(&by_request_id(&events[7].request_id)).await.unwrap();
    assert_eq!(found.rows[0].event, events[7]);
}

#[tokio::test]
async fn ten_processes_may_migrate_at_once() {
    let engine = ClickHouseEngine::start().await;
    let stores: Vec<_> = (0..10).map(|_| crate::engine::store(&engine, clock())).collect();
    for migrated in futures_util::future::join_all(stores.iter().map(UsageStore::migrate)).await {
        migrated.unwrap();
    }
    stores[0].insert(&batch("1-5", &some(5), &[])).await.unwrap();
    assert_holds(&engine, &some(5)).await;
}

#[tokio::test]
async fn accounts_are_dropped_when_their_time_is_over_and_sums_stay() {
    let engine = ClickHouseEngine::start().await;
    let store = migrated(&engine).await;
    let mut events = some(50);
    for event in &mut events {
        // Half a century ago.
        event.end_time = Some((UNIX_EPOCH + Duration::from_secs(100_000_000)).into());
    }
    store.insert(&batch("1-50", &events, &[])).await.unwrap();
    let short = Options { retention_days: Some(30), ..options(&engine) };
    let short = ClickHouseStore::new(short, clock()).unwrap();
    short.migrate().await.unwrap();
    short.migrate().await.unwrap();
    let client = client(&engine);
    client.query("OPTIMIZE TABLE usage_events FINAL").execute().await.unwrap();
    assert_eq!(client.query("SELECT count() FROM usage_events").fetch_one::<u64>().await.unwrap(), 0);
    assert_eq!(client.query("SELECT sum(requests) FROM usage_monthly").fetch_one::<u64>().await.unwrap(), 50);

    store.migrate().await.unwrap();
    let ttl =
        "SELECT count() FROM system.tables WHERE database = 'usage' AND engine_full LIKE '%toIntervalDay(%'";
    assert_eq!(client.query(ttl).fetch_one::<u64>().await.unwrap(), 0, "kept for ever again");
}

fn by_request_id(request_id: &str) -> Requests {
    Requests {
        window: everything(),
        filter: UsageFilter::default(),
        request_id: request_id.to_owned(),
        limit: 10,
        after: None,
    }
}

#[tokio::test]
async fn what_users_filter_by_is_never_taken_for_sql() {
    let engine = ClickHouseEngine::start().await;
    let store = migrated(&engine).await;
    let nasty = ["' OR 1 = 1 --", "\\', 'x", "a\tb\nc\\", "{tenant_id:String}", "?", "\u{1F600} \"quoted\""];
    let mut events = some(nasty.len() as u64 + 1);
    for (event, text) in events.iter_mut().zip(nasty) {
        event.tenant_id = text.to_owned();
        event.reference = text.to_owned();
        event.request_id = text.to_owned();
    }
    store.insert(&batch("1", &events, &[])).await.unwrap();
    for (event, text) in events.iter().zip(nasty) {
        let found = store.requests(&by_request_id(text)).await.unwrap();
        assert_eq!(found.rows.len(), 1, "{text:?}");
        assert_eq!(&found.rows[0].event, event);
        let filter = UsageFilter {
            tenant_ids: vec![text.to_owned()],
            references: vec![text.to_owned(), "other".to_owned()],
            ..UsageFilter::default()
        };
        let group_by = Vec::new();
        let interval = Interval::Unspecified;
        let query = Query { window: everything(), filter, group_by, interval, limit: 10, offset: 0 };
        assert_eq!(store.query(&query).await.unwrap().rows[0].requests, 1, "{text:?}");
    }
}

#[tokio::test]
async fn a_monthly_question_reads_monthly_sums_alone_and_says_how_many() {
    let engine = ClickHouseEngine::start().await;
    let store = migrated(&engine).await;
    store.insert(&batch("1", &some(500), &[])).await.unwrap();
    let window = Window { start: UNIX_EPOCH, end: UNIX_EPOCH + Duration::from_secs(1_775_001_600) };
    for (group_by, most) in [(vec![UsageDimension::Tenant], 9), (vec![UsageDimension::Scene], 499)] {
        let (filter, interval) = (UsageFilter::default(), Interval::Month);
        let query = Query { window, filter, group_by, interval, limit: 100, offset: 0 };
        let page = store.query(&query).await.unwrap();
        assert_eq!(page.rows.iter().map(|row| row.requests).sum::<u64>(), 500);
        assert!((1..=most).contains(&page.rows_read), "{} rows read for {query:?}", page.rows_read);
    }
}
