//! What SQLite does beyond the contract.

use super::{open, usage};
use crate::usage::SqliteUsage;
use signalbox_api::v1::{UsageDimension, UsageFilter, query_usage_request::Interval};
use signalbox_contracts::{SetClock, events};
use signalbox_ports::usage_store::{Batch, Export, Query, StoreFailure, UsageStore, Window};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use tempfile::TempDir;

const EVENTS: u64 = 2_000;

async fn march() -> (SqliteUsage, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let store = usage(&open(&dir.path().join("usage.db")).await);
    let mut events: Vec<_> = events(1, EVENTS).collect();
    // The hours before it are whole, and so in the days and months.
    let mut later = signalbox_contracts::events(2, 1).next().unwrap();
    later.end_time = Some(days(1, 33).end.into());
    events.push(later);
    store.insert(&Batch { token: String::new(), events, suspects: Vec::new() }).await.unwrap();
    (store, dir)
}

/// Days of March 2026.
fn days(start: u64, end: u64) -> Window {
    let first = SystemTime::UNIX_EPOCH + Duration::from_secs(1_772_323_200);
    let day = |day: u64| first + Duration::from_secs(86_400 * (day - 1));
    Window { start: day(start), end: day(end) }
}

fn by_tenant(window: Window) -> Query {
    Query {
        window,
        filter: UsageFilter::default(),
        group_by: vec![UsageDimension::Tenant],
        interval: Interval::Day,
        limit: 10_000,
        offset: 0,
    }
}

#[tokio::test]
async fn sums_outlive_the_events_they_are_of() {
    let (store, _dir) = march().await;
    let before = store.query(&by_tenant(days(1, 32))).await.unwrap().rows;
    let tenth = days(10, 32).start;
    let removed = store.expire(tenth).await.unwrap();
    assert!(removed > EVENTS / 5 && removed < EVENTS / 2, "{removed}");
    assert_eq!(store.expire(tenth).await.unwrap(), 0);
    assert_eq!(store.query(&by_tenant(days(1, 32))).await.unwrap().rows, before);
}

#[tokio::test]
async fn events_older_than_the_retention_are_gone_once_months_are_closed() {
    let (_, dir) = march().await;
    let now = days(1, 32).end;
    let database = open(&dir.path().join("usage.db")).await;
    let kept = SqliteUsage::new(database, Arc::new(SetClock::at(now)));
    let kept = kept.keeping(Some(Duration::from_secs(86_400 * 20)));
    kept.close_months(days(1, 2).start).await.unwrap();
    assert_eq!(
        kept.expire(now - Duration::from_secs(86_400 * 20)).await.unwrap(),
        0,
        "nothing is left of them"
    );
    assert!(kept.expire(now).await.unwrap() > 0, "younger ones were still there");
}

#[tokio::test]
async fn what_only_removed_events_could_tell_is_refused_and_not_answered_in_part() {
    let (store, _dir) = march().await;
    store.expire(days(10, 32).start).await.unwrap();
    let ragged = Window { start: days(9, 32).start + Duration::from_secs(60), ..days(1, 32) };
    let by_reference = Query { group_by: vec![UsageDimension::Reference], ..by_tenant(days(1, 32)) };
    for query in [by_tenant(ragged), by_reference.clone()] {
        let Err(StoreFailure::Refused(message)) = store.query(&query).await else { panic!("it is answered") };
        assert!(message.contains("2026-03-10T00:00:00Z"), "{message}");
    }
    let export = Export { month: days(1, 32), tenant_id: String::new() };
    assert!(store.export(&export).await.is_err());
    store.query(&Query { window: days(10, 32), ..by_reference }).await.unwrap();
}

#[tokio::test]
async fn a_month_is_answered_from_few_rows() {
    let (store, _dir) = march().await;
    let query = Query { interval: Interval::Month, ..by_tenant(days(1, 32)) };
    let by_month = store.query(&query).await.unwrap();
    let by_day = store.query(&by_tenant(days(1, 32))).await.unwrap();
    assert!(by_month.rows_read < by_day.rows_read && by_day.rows_read <= EVENTS);
    assert_eq!(by_month.rows.iter().map(|row| row.requests).sum::<u64>(), EVENTS);
}
