//! How fast usage is stored and asked for: `EVENTS=10000000 cargo bench -p signalbox-sqlite`. The aims: 20,000 events a
//! second, and a month of 10 million of them asked for in less than a second.
//!
//! `DIR` says where the file is made. With `TAKE` only so many of the events are stored, as dense in time as all of
//! them; with `LEAN` they are without the record of how their model was chosen, which is half of their bytes.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "the figures are the output; a failure ends the measurement"
)]

use signalbox_api::v1::{UsageDimension, UsageEvent, UsageFilter, query_usage_request::Interval};
use signalbox_contracts::events;
use signalbox_kit::SystemClock;
use signalbox_ports::usage_store::{Batch, Query, Requests, UsageStore, Window};
use signalbox_sqlite::{Database, usage::SqliteUsage};
use std::{
    env, fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

const BATCH: usize = 1_000;
const REPEATS: usize = 11;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let count: u64 = env::var("EVENTS").map_or(200_000, |count| count.parse().unwrap());
    let dir = tempfile::tempdir_in(env::var("DIR").unwrap_or_else(|_| ".".to_owned())).unwrap();
    let path = dir.path().join("usage.db");
    let database = Arc::new(Database::open(&path).await.unwrap());
    let store = SqliteUsage::new(database, Arc::new(SystemClock));
    let take = env::var("TAKE").map_or(count, |take| take.parse().unwrap());
    fill(&store, count, take, &path).await;
    ask(&store).await;
}

async fn fill(store: &SqliteUsage, density: u64, count: u64, path: &Path) {
    let lean = env::var("LEAN").is_ok();
    let trimmed = |event: UsageEvent| UsageEvent { decision: event.decision.filter(|_| !lean), ..event };
    let mut all = events(1, density).take(count as usize).map(trimmed);
    let (mut spent, mut slowest) = (Duration::ZERO, Duration::ZERO);
    for number in 0..count.div_ceil(BATCH as u64) {
        let events: Vec<UsageEvent> = all.by_ref().take(BATCH).collect();
        let batch = Batch { token: number.to_string(), events, suspects: Vec::new() };
        let started = Instant::now();
        store.insert(&batch).await.unwrap();
        let took = started.elapsed();
        spent += took;
        slowest = slowest.max(took);
    }
    let rate = count as f64 / spent.as_secs_f64();
    let bytes = fs::metadata(path).unwrap().len() / count;
    println!("{count} events in batches of {BATCH}: {rate:.0} a second, the slowest batch {slowest:?}");
    println!("{bytes} bytes of file for an event");
}

async fn ask(store: &SqliteUsage) {
    use UsageDimension::{Model, Reference, Scene, TaskType, Tenant, Vendor};
    let month = window(0, 0, 31 * 24 * 60);
    let ragged = window(12, 17, 29 * 24 * 60);
    let hour = window(360, 0, 60);
    let one = UsageFilter { tenant_ids: vec!["acme".to_owned()], ..UsageFilter::default() };
    let all = UsageFilter::default;
    let article = UsageFilter { references: vec!["article-7".to_owned()], ..all() };
    report("a month by tenant", store, month, all(), &[Tenant], Interval::Month).await;
    report(
        "a month by five",
        store,
        month,
        all(),
        &[Tenant, Scene, TaskType, Vendor, Model],
        Interval::Month,
    )
    .await;
    report("a month, day by day, by tenant", store, month, all(), &[Tenant], Interval::Day).await;
    report(
        "29 days from 12:17 by tenant and model",
        store,
        ragged,
        all(),
        &[Tenant, Model],
        Interval::Unspecified,
    )
    .await;
    report("29 days from 12:17, one tenant by model", store, ragged, one, &[Model], Interval::Day).await;
    report("a month, hour by hour", store, month, all(), &[], Interval::Hour).await;
    report("an article in a month", store, month, article, &[Model], Interval::Unspecified).await;
    report("an hour by article", store, hour, all(), &[Reference], Interval::Unspecified).await;
    let listed = UsageFilter { tenant_ids: vec!["acme".to_owned()], ..all() };
    let newest =
        Requests { window: month, filter: listed, request_id: String::new(), limit: 100, after: None };
    time("the newest 100 requests of a tenant", async || store.requests(&newest).await.unwrap().rows_read)
        .await;
}

/// Minutes from an hour and a minute of March 2026 on.
fn window(hour: u64, minute: u64, minutes: u64) -> Window {
    let march = SystemTime::UNIX_EPOCH + Duration::from_secs(1_772_323_200);
    let start = march + Duration::from_secs(3_600 * hour + 60 * minute);
    Window { start, end: start + Duration::from_secs(60 * minutes) }
}

async fn report(
    case: &str,
    store: &SqliteUsage,
    window: Window,
    filter: UsageFilter,
    group_by: &[UsageDimension],
    interval: Interval,
) {
    let query = Query { window, filter, group_by: group_by.to_vec(), interval, limit: 100, offset: 0 };
    time(case, async || store.query(&query).await.unwrap().rows_read).await;
}

async fn time(case: &str, ask: impl AsyncFn() -> u64) {
    let mut times = Vec::new();
    let mut rows = 0;
    for _ in 0..REPEATS {
        let started = Instant::now();
        rows = ask().await;
        times.push(started.elapsed());
    }
    let first = times[0];
    times.sort();
    println!("{case}: {rows} rows read, first {first:?}, median {:?}", times[REPEATS / 2]);
}
