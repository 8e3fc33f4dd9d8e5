//! A store on an engine of its own.

use clickhouse::{Client, Row};
use serde::Deserialize;
use signalbox_api::v1::UsageEvent;
use signalbox_clickhouse::{ClickHouseStore, Options};
use signalbox_kit::{Clock, clock::FixedClock};
use signalbox_ports::usage_store::{Batch, UsageStore};
use signalbox_testkit::ClickHouseEngine;
use std::{
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

pub(crate) fn options(engine: &ClickHouseEngine) -> Options {
    Options {
        user: ClickHouseEngine::USER.to_owned(),
        password: ClickHouseEngine::PASSWORD.to_owned(),
        closing_delay: Duration::ZERO,
        ..Options::new(engine.url(), "usage")
    }
}

pub(crate) fn store(engine: &ClickHouseEngine, clock: Arc<dyn Clock>) -> ClickHouseStore {
    ClickHouseStore::new(options(engine), clock).unwrap()
}

/// The first of April 2026.
pub(crate) fn clock() -> Arc<dyn Clock> {
    Arc::new(FixedClock(UNIX_EPOCH + Duration::from_secs(1_775_001_600)))
}

/// A store with its tables.
pub(crate) async fn migrated(engine: &ClickHouseEngine) -> ClickHouseStore {
    let store = store(engine, clock());
    store.migrate().await.unwrap();
    store
}

/// A client that asks past the store.
pub(crate) fn client(engine: &ClickHouseEngine) -> Client {
    let client = Client::default().with_url(engine.url()).with_database("usage");
    client.with_user(ClickHouseEngine::USER).with_password(ClickHouseEngine::PASSWORD)
}

pub(crate) fn batch(token: &str, events: &[UsageEvent], suspects: &[UsageEvent]) -> Batch {
    let suspects = suspects.iter().map(|event| event.event_id.clone()).collect();
    Batch { token: token.to_owned(), events: events.to_vec(), suspects }
}

/// What a table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Row, Deserialize)]
pub(crate) struct Holds {
    pub(crate) requests: u64,
    pub(crate) attempts: u64,
    pub(crate) nano_eur: i128,
}

pub(crate) fn expected(events: &[UsageEvent]) -> Holds {
    Holds {
        requests: events.len() as u64,
        attempts: events.iter().map(|event| event.attempts.len() as u64).sum(),
        nano_eur: events.iter().map(|event| i128::from(event.cost.as_ref().unwrap().nano_eur)).sum(),
    }
}

/// Asserts that accounts, calls and all sums are those of these events, each once.
pub(crate) async fn assert_holds(engine: &ClickHouseEngine, events: &[UsageEvent]) {
    let expected = expected(events);
    let client = client(engine);
    let raw =
        "SELECT count() AS requests, sum(attempts_made) AS attempts, sum(cost) AS nano_eur FROM usage_events";
    assert_eq!(client.query(raw).fetch_one::<Holds>().await.unwrap(), expected, "usage_events");
    let tables =
        ["usage_hourly", "usage_daily", "usage_monthly", "usage_daily_by_tenant", "usage_monthly_by_tenant"];
    for table in tables {
        let sums = format!(
            "SELECT sum(t.requests) AS requests, sum(t.attempts) AS attempts, sum(t.cost) AS nano_eur FROM {table} AS t"
        );
        assert_eq!(client.query(&sums).fetch_one::<Holds>().await.unwrap(), expected, "{table}");
    }
    let calls = client.query("SELECT count() FROM provider_attempts").fetch_one::<u64>().await.unwrap();
    assert_eq!(calls, expected.attempts, "provider_attempts");
}
